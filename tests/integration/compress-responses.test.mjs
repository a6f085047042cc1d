// What a route with `compress` does to answers, and what it leaves alone.
import {strict as assert} from 'node:assert';
import {randomBytes} from 'node:crypto';
import OpenAI from 'openai';

import {Brink} from '../support/brink.mjs';
import {request} from '../support/cache_client.mjs';
import {decode} from '../support/codings.mjs';
import {CutShort} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {program_path, run} from '../support/process.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';
import {until_still} from '../support/wait.mjs';

const json = JSON.stringify(Array.from({length: 60}, (_, id) => ({id, name: `model-${id}`, owned_by: 'edge'})));
const json_type = {'Content-Type': 'application/json'};

async function start(scope, {route = {}, ...more} = {}) {
  const origin = await Origin.start(scope, {keep_bytes: false});
  const edge = await Brink.start(scope, {backend: origin.url, route: {compress: {}, ...route}, ...more});
  return {origin, edge};
}

function ask(edge, {target = '/', accept = 'zstd, gzip', method = 'GET', fields = {}} = {}) {
  return edge.exchange(request(method, target, {'Accept-Encoding': accept, ...fields}), method);
}

const coding_of = (response) => response.get('content-encoding') ?? 'identity';
const plain = (response) => decode[coding_of(response)](response.body).toString();
// The head's fields but for those that differ from one answer to the next.
const own_fields = (response) =>
    response.fields.filter(([name]) => !/^(x-request-id|date|x-brink-|transfer-encoding|age|cache-status)/i.test(name))
        .map(([name, value]) => `${name.toLowerCase()}: ${value}`).sort();

with_programs(['zstd', 'curl'], () => {
  suite('answers', start, (shared) => {
    const choices = [
      ['zstd, gzip', 'zstd'], ['gzip, zstd', 'zstd'], ['gzip', 'gzip'], ['x-gzip', 'gzip'], ['GZIP', 'gzip'],
      ['zstd;q=0.5, gzip', 'gzip'], ['zstd;q=0, *', 'gzip'], ['*', 'zstd'], ['br', 'identity'], ['', 'identity'],
      [undefined, 'identity'], ['identity;q=1, zstd;q=0.5', 'identity'], ['*;q=0', 'identity'],
      ['gzip;q=nonsense', 'identity'], ['gzip, deflate, br, zstd', 'zstd'],
    ];
    for (const [accept, wanted] of choices) {
      scenario(`Accept-Encoding ${JSON.stringify(accept)} gets ${wanted}`, async () => {
        shared.origin.handler = () => ({fields: json_type, body: json});
        const response = await ask(shared.edge, {accept, fields: {'Accept-Encoding': accept}});
        assert.equal(coding_of(response), wanted);
        assert.equal(plain(response), json);
        assert.equal(response.get('vary'), 'accept-encoding');
        if (wanted !== 'identity') assert.ok(response.body.length < json.length / 3);
      });
    }

    scenario('lose what spoke of the other bytes, and have a weak tag', async () => {
      const fields = {...json_type, 'ETag': '"strong"', 'Accept-Ranges': 'bytes', 'Content-MD5': 'x', 'Digest': 'x',
                      'Repr-Digest': 'x', 'Content-Digest': 'x', 'Vary': 'Origin'};
      shared.origin.handler = () => ({fields, body: json});
      const response = await ask(shared.edge);
      assert.equal(response.get('etag'), 'W/"strong"');
      for (const name of ['accept-ranges', 'content-md5', 'digest', 'repr-digest', 'content-digest', 'content-length']) {
        assert.equal(response.get(name), undefined, name);
      }
      assert.deepEqual(response.all('vary').join(', ').toLowerCase(), 'origin, accept-encoding');
    });

    for (const coding of ['zstd', 'gzip', 'identity']) {
      scenario(`HEAD has the head of GET (${coding})`, async () => {
        shared.origin.handler = (head) => ({
          fields: {...json_type, 'ETag': '"e"', 'Content-Length': json.length},
          body: head.method === 'HEAD' ? '' : json,
        });
        const get = await ask(shared.edge, {accept: coding});
        const head = await ask(shared.edge, {accept: coding, method: 'HEAD'});
        assert.deepEqual(own_fields(head), own_fields(get));
      });
    }

    const big = 'words and words and words. '.repeat(40);
    const untouched = [
      ['204', {status: 204}],
      ['304', {status: 304, fields: {ETag: '"e"'}}],
      ['a part', {status: 206, fields: {...json_type, 'Content-Range': 'bytes 0-9/100'}, body: big}],
      ['no-transform', {fields: {...json_type, 'Cache-Control': 'public, no-transform'}, body: big}],
      ['what has a coding', {fields: {...json_type, 'Content-Encoding': 'br'}, body: big}],
      ['tiny', {fields: json_type, body: '{}'}],
      ['pictures', {fields: {'Content-Type': 'image/png'}, body: big}],
      ['no type', {body: big}],
    ];
    for (const [name, answer] of untouched) {
      scenario(`leaves alone: ${name}`, async () => {
        shared.origin.handler = () => answer;
        const response = await ask(shared.edge);
        assert.equal(response.status, answer.status ?? 200);
        assert.equal(response.get('content-encoding'), answer.fields?.['Content-Encoding']);
        assert.equal(response.body.toString(), answer.body ?? '');
        if (answer.body) assert.equal(response.get('content-length'), String(answer.body.length));
      });
    }

    scenario('a request for a range, or that forbids transforming, gets bytes as they are', async () => {
      shared.origin.handler = () => ({fields: json_type, body: json});
      for (const fields of [{Range: 'bytes=0-1'}, {'Cache-Control': 'no-transform'}]) {
        assert.equal((await ask(shared.edge, {fields})).body.toString(), json);
      }
    });

    scenario('to HTTP/1.0 end with the connection, and are whole', async () => {
      shared.origin.handler = () => ({fields: json_type, body: json});
      const response = await shared.edge.exchange('GET / HTTP/1.0\r\nHost: a.test\r\nAccept-Encoding: zstd\r\n\r\n');
      assert.equal(response.framing, 'close');
      assert.equal(decode.zstd(response.body).toString(), json);
    });

    scenario('of many sizes are the same once decoded', async () => {
      let seed = 7;
      const random = () => (seed = (seed * 48271) % 2147483647);
      for (const size of [256, 1000, 16_384, 65_536, 65_537, 300_000, 3_000_000]) {
        const body = Array.from({length: size / 8 + 1}, () => (random() % 100_000).toString(36).padEnd(8)).join('').slice(0, size);
        shared.origin.handler = () => ({fields: {'Content-Type': 'text/plain'}, body});
        for (const accept of ['zstd', 'gzip']) {
          const response = await ask(shared.edge, {accept});
          assert.equal(coding_of(response), accept);
          assert.ok(plain(response) === body, `${accept} of ${size}`);
        }
      }
    });

    scenario('that the backend cuts short are broken for the client', async () => {
      for (const accept of ['zstd', 'gzip']) {
        shared.origin.handler = (head, connection) => {
          connection.send('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n' + 'x'.repeat(5000));
          connection.half_close();
        };
        await assert.rejects(ask(shared.edge, {accept}), (error) => {
          if (!(error instanceof CutShort)) return /502/.test(error.message);
          assert.throws(() => decode[accept](error.partial), 'it must not look whole');
          return true;
        });
        // node.js takes the reset for an orderly end.
        const args = ['--http1.0', '-sS', '-o', '/dev/null', '-H', `Accept-Encoding: ${accept}`, shared.edge.url];
        const curl = await run('curl', args, {path: program_path('curl')});
        assert.match(curl.stderr, /reset by peer/, 'HTTP/1.0 hears of it as well');
      }
    });

    scenario('to a slow reader are held up, not held', async (scope) => {
      const size = 64 * 1024 * 1024;
      let sent = 0;
      shared.origin.handler = async (head, connection) => {
        await connection.send(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${size}\r\n\r\n`);
        while (sent < size && !connection.ended) {
          const piece = randomBytes(Math.min(32_768, (size - sent) / 2)).toString('hex');  // shrinks by half
          await connection.send(piece);
          sent += piece.length;
        }
      };
      const before = shared.edge.resident_bytes();
      const wire = await shared.edge.connect({pause_above: 4096});
      scope.after(() => wire.close());
      wire.send(request('GET', '/', {'Accept-Encoding': 'zstd'}));
      const held = await until_still(() => sent, 'the origin to be held up');
      assert.ok(held < size, `${held} bytes were taken`);
      const grown = shared.edge.resident_bytes() - before;
      assert.ok(grown < 24 * 1024 * 1024, `${grown} bytes more`);
    });
  });

  suite('of the cache', (scope) => start(scope, {route: {cache: {mode: 'http'}}, cache: {memory: '64MiB'}}), (shared) => {
    scenario('an answer is compressed once, and every client gets its form', async () => {
      const {origin, edge} = shared;
      const seen = [];
      origin.handler = (head) => {
        seen.push(head.get('accept-encoding'));
        return {fields: {...json_type, 'Cache-Control': 'max-age=60', 'ETag': '"v1"'}, body: json};
      };
      assert.equal(plain(await ask(edge, {target: '/stored'})), json);
      const stored = await ask(edge, {target: '/stored'});
      assert.deepEqual([coding_of(stored), stored.framing], ['zstd', 'length']);
      assert.equal(stored.get('content-length'), String(stored.body.length));
      assert.equal(plain(stored), json);
      assert.deepEqual((await ask(edge, {target: '/stored'})).body, stored.body);
      for (const accept of ['gzip', 'identity']) {
        const other = await ask(edge, {target: '/stored', accept});
        assert.deepEqual([coding_of(other), plain(other)], [accept, json]);
        assert.match(other.get('cache-status'), /hit/);
        assert.equal(other.get('vary'), 'accept-encoding');
      }
      const same = await ask(edge, {target: '/stored', fields: {'If-None-Match': 'W/"v1"'}});
      assert.deepEqual([same.status, same.get('etag')], [304, 'W/"v1"']);
      const part = await ask(edge, {target: '/stored', fields: {Range: 'bytes=1-4'}});
      assert.deepEqual([part.status, part.body.toString(), coding_of(part)], [206, json.slice(1, 5), 'identity']);
      const head = await ask(edge, {target: '/stored', method: 'HEAD'});
      assert.equal(coding_of(head), 'zstd');
      assert.equal(seen.length, 1);
    });
  });

  suite('OpenAI\'s client', start, (shared) => {
    scenario('understands a compressed answer and a compressed stream', async () => {
      const {origin, edge} = shared;
      const said = 'words that come again and again, '.repeat(20);
      origin.handler = (head) => {
        if (!JSON.parse(head.body).stream) {
          const choices = [{index: 0, message: {role: 'assistant', content: said}, finish_reason: 'stop'}];
          return {fields: json_type, body: JSON.stringify({id: 'c', object: 'chat.completion', created: 1, model: 'm', choices})};
        }
        const event = (delta, finish_reason = null) => `data: ${JSON.stringify(
            {id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{index: 0, delta, finish_reason}]})}\n\n`;
        const body = event({content: said}) + event({content: said}) + event({}, 'stop') + 'data: [DONE]\n\n';
        return {fields: {'Content-Type': 'text/event-stream'}, body};
      };
      const defaultHeaders = {'accept-encoding': 'gzip'};
      const client = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk', maxRetries: 0, defaultHeaders});
      const ask_it = {model: 'm', messages: [{role: 'user', content: 'hi'}]};
      const {data, response} = await client.chat.completions.create(ask_it).withResponse();
      assert.equal(data.choices[0].message.content, said);
      assert.equal(response.headers.get('content-encoding'), 'gzip');
      let text = '';
      for await (const chunk of await client.chat.completions.create({...ask_it, stream: true})) {
        text += chunk.choices[0]?.delta?.content ?? '';
      }
      assert.equal(text, said + said);
    });
  });
});
