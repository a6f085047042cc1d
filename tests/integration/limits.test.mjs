// What a client may not exceed, and the status that says so.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

async function refusal(edge, bytes, status, code) {
  const client = await edge.connect();
  client.send(bytes);
  const response = await client.read_response('POST');
  assert.equal(response.status, status);
  assert.equal(JSON.parse(response.body).error.code, code);
  assert.equal(response.get('connection'), 'close');
  await within(client.closed, 'the edge to close');
  client.close();
  return response;
}

suite(
    'sizes',
    async (scope) => {
      const origin = await Origin.start(scope);
      const edge = await Brink.start(scope, {
        backend: origin.url,
        route: {limits: {body: '1KiB'}},
        downstream: {limits: {head: '4KiB', fields: 20, target: '1KiB'}},
      });
      return {origin, edge};
    },
    (shared) => {
      const head = (fields, target = '/x') => `POST ${target} HTTP/1.1\r\nHost: a.test\r\n${fields}`;
      const framed = 'Content-Length: 0\r\n';
      const cases = [
        ['a head past its size is 431', head(`X-A: ${'a'.repeat(4096)}\r\n\r\n`), 431, 'head_too_large'],
        ['a head that never ends is 431', head(`X-A: ${'a'.repeat(100_000)}`), 431, 'head_too_large'],
        ['too many fields are 431', head('X-A: b\r\n'.repeat(20) + '\r\n'), 431, 'too_many_fields'],
        ['a long target is 414', head('\r\n', `/${'a'.repeat(1024)}`), 414, 'target_too_long'],
        ['a target that never ends is 414', `POST /${'a'.repeat(100_000)}`, 414, 'target_too_long'],
        [
          'a content-length past the limit is 413 before the body', head('Content-Length: 1025\r\n\r\n'), 413,
          'body_too_large'
        ],
        [
          'a chunked body past the limit is 413',
          head(`Transfer-Encoding: chunked\r\n\r\n401\r\n${'a'.repeat(1025)}\r\n`), 413, 'body_too_large'
        ],
      ];
      for (const [what, bytes, status, code] of cases) {
        scenario(what, async () => {
          const {origin, edge} = shared;
          origin.forget();
          await refusal(edge, bytes, status, code);
          assert.deepEqual(origin.requests, [], 'the backend saw no complete request');
          const line = await edge.log_line((entry) => entry.error === code);
          assert.equal(line.status, status);
          assert.ok((await edge.metrics())
                        .samples.some((item) => Object.values(item.labels).includes(code) && item.value > 0));
        });
      }

      for (const [what, bytes] of [
               ['fields', head('X-A: b\r\n'.repeat(18) + framed + '\r\n')],
               ['target', head(`${framed}\r\n`, `/${'a'.repeat(1023)}`)],
               ['body', head(`Content-Length: 1024\r\n\r\n${'a'.repeat(1024)}`)],
               ['chunked body', head(`Transfer-Encoding: chunked\r\n\r\n400\r\n${'a'.repeat(1024)}\r\n0\r\n\r\n`)],
               [
                 'head',
                 head(`X-A: ${'a'.repeat(4096 - head('').length - framed.length - 'X-A: \r\n\r\n'.length)}\r\n${
                     framed}\r\n`)
               ],
      ]) {
        scenario(`exactly at the limit of ${what} is fine`, async () => {
          assert.equal((await shared.edge.exchange(bytes, 'POST')).status, 200);
        });
      }
    });

suite(
    'times of a client',
    async (scope) => {
      const origin = await Origin.start(scope);
      const edge = await Brink.start(scope, {
        backend: origin.url,
        downstream: {timeouts: {head: '300ms', body: '300ms', keep_alive: '20s', write: '20s'}},
      });
      return {origin, edge};
    },
    (shared) => {
      scenario('a head that stops arriving is 408', async () => {
        await refusal(shared.edge, 'GET / HTTP/1.1\r\nHost: a.te', 408, 'head_timeout');
      });

      scenario('a head that trickles in is 408 all the same', async () => {
        const client = await shared.edge.connect();
        const response = client.read_response();
        let answered = false;
        response.finally(() => (answered = true));
        client.send('GET / HTTP/1.1\r\nX-A: ');
        const trickle = setInterval(() => client.send('a'), 20);
        try {
          assert.equal((await within(response, 'the answer')).status, 408);
        } finally {
          clearInterval(trickle);
        }
        assert.ok(answered);
      });

      scenario('a body that stops arriving is 408, and the backend is let go', async () => {
        const {origin, edge} = shared;
        origin.forget();
        await refusal(edge, 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nhello', 408, 'body_timeout');
        for (const connection of origin.connections) await within(connection.closed, 'the edge to close');
        assert.deepEqual(origin.requests, []);
      });

      scenario('a connection that never says anything is closed without a word', async (scope) => {
        const edge = await Brink.start(
            scope, {backend: shared.origin.url, downstream: {timeouts: {keep_alive: '300ms', head: '300ms'}}});
        const client = await edge.connect();
        await within(client.closed, 'the edge to close');
        assert.equal(client.peek().length, 0);
      });

      scenario('a client that takes no byte is closed after write', async (scope) => {
        const {origin} = shared;
        const edge = await Brink.start(scope, {backend: origin.url, downstream: {timeouts: {write: '300ms'}}});
        origin.handler = () => ({body: Buffer.alloc(64 * 1024 * 1024, 'x')});
        const client = await edge.connect();
        client.pause();
        client.send('GET /big HTTP/1.1\r\nHost: a.test\r\n\r\n');
        const line = await edge.log_line((entry) => entry.target === '/big');
        assert.equal(line.error, 'client_stalled');
        assert.equal(line.complete, false);
      });
    });
