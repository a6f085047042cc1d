// What Chromium makes of zstd through Brink: it decodes an answer and, as it comes, an event stream.
import {strict as assert} from 'node:assert';

import {Brink, temporary_folder} from '../support/brink.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {Program, program_path} from '../support/process.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';
import {deferred, within} from '../support/wait.mjs';

const browser = ['chromium-headless-shell', 'chromium'].find((name) => program_path(name)) ?? 'chromium-headless-shell';
const said = 'words that come again and again, '.repeat(100);

// Each event tells the origin that it arrived; only then the next one is sent.
const page = `<!doctype html><title>test</title><pre id="out"></pre><script>
const result = {};
const told = (what) => fetch('/told/' + what, {method: 'POST'});
async function main() {
  result.text = await (await fetch('/answer')).text();
  const events = [];
  await new Promise((resolve) => {
    const source = new EventSource('/events');
    source.onmessage = (event) => {
      events.push(event.data);
      if (event.data === 'last') { source.close(); resolve(); } else told(event.data);
    };
    source.onerror = () => { events.push('error'); source.close(); resolve(); };
  });
  result.events = events;
}
main().catch((error) => { result.error = String(error); }).then(() => told(encodeURIComponent(JSON.stringify(result))));
</script>`;

with_programs([browser], () => {
  suite('Chromium', () => ({}), () => {
    scenario('decodes an answer and each event as it comes', async (scope) => {
      const result = deferred();
      const codings = new Map();
      let told = deferred();
      const origin = await Origin.start(scope, {
        handler: async (head, connection) => {
          codings.set(head.target, head.get('accept-encoding'));
          if (head.target.startsWith('/told/')) {
            const what = decodeURIComponent(head.target.slice('/told/'.length));
            if (what.startsWith('{')) result.resolve(JSON.parse(what));
            told.resolve(what);
            return {status: 204};
          }
          if (head.target === '/answer') return {fields: {'Content-Type': 'text/plain'}, body: said};
          if (head.target !== '/events') return {fields: {'Content-Type': 'text/html'}, body: page};
          connection.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
          for (let number = 0; number < 10; ++number) {
            told = deferred();
            connection.send(chunk(`data: event-${number}\n\n`));
            assert.equal(await within(told.promise, `event ${number} in the browser`), `event-${number}`);
          }
          return Buffer.concat([chunk('data: last\n\n'), Buffer.from(last_chunk)]);
        },
      });
      const edge = await Brink.start(scope, {backend: origin.url, route: {compress: {encodings: ['zstd']}}});
      const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-proxy-server',
                    `--user-data-dir=${temporary_folder(scope)}`, '--remote-debugging-port=0', `${edge.url}/page`];
      const chromium = new Program(browser, args, {path: program_path(browser), group: true});
      scope.after(async () => {
        chromium.signal('SIGKILL');
        await chromium.exited;
      });
      const got = await within(result.promise, 'the browser\'s report').catch((error) => {
        throw new Error(`${error.message}; asked for: ${origin.requests.map((head) => head.target)}\n${chromium.report()}`);
      });
      assert.equal(got.error, undefined);
      assert.equal(got.text, said);
      assert.deepEqual(got.events, [...Array.from({length: 10}, (_, number) => `event-${number}`), 'last']);
      for (const target of ['/answer', '/events']) assert.match(codings.get(target) ?? '', /zstd/, 'it asks for zstd');
      assert.deepEqual(origin.faults, []);
    });
  });
});
