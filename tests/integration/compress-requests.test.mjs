// Request bodies with a content coding: taken off where the route says so, passed through untouched elsewhere.
import {strict as assert} from 'node:assert';
import zlib from 'node:zlib';

import {Brink} from '../support/brink.mjs';
import {cache_status} from '../support/cache_client.mjs';
import {encode} from '../support/codings.mjs';
import {chunk, encode_head, last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';

const kibibyte = 1024;
const chat = (model, size = 2000) =>
    JSON.stringify({messages: [{role: 'user', content: 'words '.repeat(size / 6)}], temperature: 0, model});

async function start(scope) {
  const origin = await Origin.start(scope);
  const prefix = (name, path, more) => ({name, match: {path_prefix: path}, cluster: 'main', ...more});
  const by_model = (model) => ({
    name: model, match: {path_prefix: '/models', models: [model]}, cluster: 'main', decompress_requests: true,
    rewrite: {set_headers: {'X-Model-Route': model}},
  });
  const routes = [
    prefix('decoded', '/decoded', {decompress_requests: true, limits: {body: '64KiB'}}),
    prefix('cached', '/v1/', {decompress_requests: true, cache: {mode: 'exact'}}),
    prefix('raw', '/raw', {limits: {body: '64KiB'}}),
    by_model('small'),
    by_model('large'),
  ];
  const edge = await Brink.start(scope, {backend: origin.url, routes, cache: {memory: '16MiB'}});
  return {origin, edge};
}

// Sends `bytes` under these codings, by length or in chunks of `chunks` bytes.
function post(edge, target, bytes, coding, {chunks, fields = []} = {}) {
  const list = [['Host', 'a.test'], ['Content-Type', 'application/json'], ...fields];
  if (coding !== undefined) list.push(['Content-Encoding', coding]);
  list.push(chunks ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', bytes.length]);
  const parts = [Buffer.from(encode_head(`POST ${target} HTTP/1.1`, list))];
  if (!chunks) parts.push(bytes);
  for (let at = 0; chunks && at < bytes.length; at += chunks) parts.push(chunk(bytes.subarray(at, at + chunks)));
  if (chunks) parts.push(Buffer.from(last_chunk));
  return edge.exchange(Buffer.concat(parts), 'POST');
}

const both = (text) => encode.zstd(encode.gzip(text));
const codings = [['zstd', encode.zstd], ['gzip', encode.gzip], ['x-gzip', encode.gzip], ['gzip, zstd', both], ['identity, GZIP', encode.gzip]];

with_programs(['zstd'], () => {
  suite('request bodies', start, (shared) => {
    for (const [coding, apply] of codings) {
      for (const chunks of [undefined, 1, 700]) {
        scenario(`${coding}${chunks ? ` in chunks of ${chunks}` : ''} reaches the backend decoded`, async () => {
          const {origin, edge} = shared;
          origin.forget();
          const text = chat('m');
          assert.equal((await post(edge, '/decoded', apply(text), coding, {chunks})).status, 200);
          const [got] = origin.requests;
          assert.equal(got.body.toString(), text);
          assert.equal(got.get('content-encoding'), undefined);
          assert.equal(got.get('content-type'), 'application/json');
        });
      }
    }

    scenario('without a coding go on as they are, length and all', async () => {
      const {origin, edge} = shared;
      for (const coding of [undefined, 'identity']) {
        origin.forget();
        await post(edge, '/decoded', Buffer.from(chat('m')), coding);
        assert.equal(origin.requests[0].body.toString(), chat('m'));
        assert.equal(origin.requests[0].get('content-length'), String(chat('m').length));
      }
    });

    scenario('are routed by the model inside', async () => {
      const {origin, edge} = shared;
      for (const model of ['small', 'large']) {
        for (const [coding, apply] of codings) {
          for (const chunks of [undefined, 50]) {
            origin.forget();
            const text = chat(model, 30_000);
            assert.equal((await post(edge, '/models', apply(text), coding, {chunks})).status, 200);
            assert.equal(origin.requests[0].get('x-model-route'), model);
            assert.equal(origin.requests[0].body.toString(), text);
          }
        }
      }
      assert.equal((await post(edge, '/models', encode.zstd(chat('unknown')), 'zstd')).status, 404);
    });

    scenario('share one stored answer, however they were encoded', async () => {
      const {origin, edge} = shared;
      origin.forget();
      origin.handler = () => {
        const choices = [{index: 0, message: {role: 'assistant', content: 'hi'}, finish_reason: 'stop'}];
        const body = JSON.stringify({id: 'c', object: 'chat.completion', created: 1, model: 'm', choices});
        return {fields: {'Content-Type': 'application/json'}, body};
      };
      const target = '/v1/chat/completions';
      assert.equal((await post(edge, target, encode.zstd(chat('m')), 'zstd')).status, 200);
      assert.equal(origin.requests[0].body.toString(), chat('m'));
      for (const [coding, apply] of [...codings, [undefined, Buffer.from]]) {
        assert.ok(cache_status(await post(edge, target, apply(chat('m')), coding)).hit, coding);
      }
      assert.equal(origin.requests.length, 1);
      origin.handler = () => ({body: 'ok'});
    });

    const zeros = (size) => Buffer.alloc(size);
    const refused = [
      ['a bomb in zstd', encode.zstd(zeros(64 * kibibyte * kibibyte)), 'zstd', 413],
      ['a bomb in gzip', encode.gzip(zeros(64 * kibibyte * kibibyte)), 'gzip', 413],
      ['a bomb in a bomb', both(zeros(64 * kibibyte * kibibyte)), 'gzip, zstd', 413],
      ['one byte above the limit', encode.zstd(zeros(64 * kibibyte + 1)), 'zstd', 413],
      ['garbage as zstd', Buffer.from('this is not zstd at all'), 'zstd', 400],
      ['garbage as gzip', Buffer.from('this is not gzip at all'), 'gzip', 400],
      ['one coding named as the other', encode.gzip('text'), 'zstd', 400],
      ['zstd cut short', encode.zstd(chat('m')).subarray(0, -3), 'zstd', 400],
      ['gzip cut short', encode.gzip(chat('m')).subarray(0, -3), 'gzip', 400],
      ['a wrong checksum', Buffer.concat([encode.gzip(chat('m')).subarray(0, -8), zeros(8)]), 'gzip', 400],
      ['bytes after the end', Buffer.concat([encode.gzip(chat('m')), Buffer.from('more')]), 'gzip', 400],
      ['nothing at all, in chunks', Buffer.alloc(0), 'zstd', 400, {chunks: 1}],
      ['brotli', zlib.brotliCompressSync(chat('m')), 'br', 415],
      ['deflate', zlib.deflateSync(chat('m')), 'deflate', 415],
      ['three codings', encode.gzip(both(chat('m'))), 'gzip, zstd, gzip', 415],
    ];
    for (const [name, bytes, coding, status, options = {}] of refused) {
      for (const chunks of options.chunks ? [options.chunks] : [undefined, 9]) {
        scenario(`${name}${chunks ? ', in chunks' : ''}: ${status}`, async () => {
          const {origin, edge} = shared;
          origin.forget();
          const before = edge.resident_bytes();
          const response = await post(edge, '/decoded', bytes, coding, {chunks});
          assert.equal(response.status, status, response.body.toString());
          assert.ok(JSON.parse(response.body).error.message, 'it says why');
          assert.deepEqual(origin.requests.filter((got) => got.body?.length > 0 && status !== 413), []);
          assert.ok(edge.resident_bytes() - before < 24 * kibibyte * kibibyte);
        });
      }
    }

    scenario('exactly of the limit\'s size are taken', async () => {
      assert.equal((await post(shared.edge, '/decoded', encode.zstd(zeros(64 * kibibyte)), 'zstd')).status, 200);
    });

    scenario('that are wrong spoil nothing for the next request', async () => {
      const {origin, edge} = shared;
      const wire = await edge.connect();
      for (let round = 0; round < 5; ++round) {
        const good = encode.gzip(chat('m'));
        const head = (length) => encode_head('POST /decoded HTTP/1.1', [
          ['Host', 'a.test'], ['Content-Encoding', 'gzip'], ['Content-Length', length],
        ]);
        wire.send(head(good.length), good, head(good.length), good);  // pipelined
        origin.forget();
        for (let i = 0; i < 2; ++i) assert.equal((await wire.read_response('POST')).status, 200);
        for (const got of origin.requests) assert.equal(got.body.toString(), chat('m'));
      }
    });

    scenario('pass untouched where the route does not say so', async () => {
      const {origin, edge} = shared;
      const garbage = Buffer.from('no coding that anybody knows');
      for (const [coding, bytes] of [['zstd', encode.zstd(chat('m'))], ['gzip', garbage], ['br', garbage], ['gzip, zstd', garbage]]) {
        for (const chunks of [undefined, 9]) {
          origin.forget();
          assert.equal((await post(edge, '/raw', bytes, coding, {chunks})).status, 200);
          const [got] = origin.requests;
          assert.deepEqual([got.get('content-encoding'), Buffer.compare(got.body, bytes)], [coding, 0]);
        }
      }
    });
  });
});
