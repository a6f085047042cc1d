// The cache as an operator sees it, and what a purge takes out of it.
import {strict as assert} from 'node:assert';

import {Brink, fetch_text} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const password = 'pw-very-secret';

// Every answer differs, so that one from the cache can be told.
function make_handler() {
  let answers = 0;
  return (request) => {
    const fields = {'cache-control': 'max-age=100', 'surrogate-key': 'all-pages page-' + request.target.slice(-1)};
    answers += 1;
    if (request.method === 'POST') {
      const {model} = JSON.parse(request.body);
      const message = {role: 'assistant', content: `answer ${answers}`};
      const choices = [{index: 0, message, finish_reason: 'stop'}];
      return {fields: {'content-type': 'application/json'}, body: JSON.stringify({id: 'x', model, choices})};
    }
    return {fields: request.target.startsWith('/own') ? {...fields, vary: 'x-kind'} : fields, body: `answer ${answers}`};
  };
}

async function start(scope, options = {}) {
  const origin = await Origin.start(scope, {handler: make_handler()});
  const edge = await Brink.start(scope, {
    backend: origin.url,
    routes: [
      {name: 'web', match: {path_prefix: '/'}, cluster: 'main', cache: {mode: 'http'}},
      {name: 'chat', match: {path_prefix: '/v1'}, cluster: 'main', cache: {mode: 'exact'}},
      {name: 'plain', match: {path_prefix: '/plain'}, cluster: 'main'},
    ],
    ...options,
  });
  return {origin, edge};
}

const get = async (edge, path, fields = {}) =>
    (await fetch_text({port: edge.port, path, headers: {host: 'a.test', ...fields}})).text;

async function chat(edge, model) {
  const body = JSON.stringify({model, messages: [{role: 'user', content: 'hi'}], temperature: 0});
  const headers = {host: 'a.test', 'content-type': 'application/json'};
  const {json} = await fetch_text({port: edge.port, path: '/v1/chat/completions', method: 'POST', headers, body});
  return json.choices[0].message.content;
}

const post_purge = (edge, body, headers = {}) => fetch_text({
  port: edge.admin_port,
  path: '/cache/purge',
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

async function purge(edge, body) {
  const {status, json} = await post_purge(edge, body);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

suite('what is purged is fetched again, all else stays', start, (shared) => {
  const forget = () => purge(shared.edge, {all: true});

  scenario('by URL, in each of its variants', async () => {
    const {edge} = shared;
    await forget();
    const [one, two] = [await get(edge, '/own?a', {'x-kind': '1'}), await get(edge, '/own?a', {'x-kind': '2'})];
    const other = await get(edge, '/own?b');
    assert.equal(await get(edge, '/own?a', {'x-kind': '1'}), one);
    const {purged} = await purge(edge, {url: 'http://A.test:80/own?a'});
    assert.equal(purged, 3, 'two variants, and the list of them');
    assert.notEqual(await get(edge, '/own?a', {'x-kind': '1'}), one);
    assert.notEqual(await get(edge, '/own?a', {'x-kind': '2'}), two);
    assert.equal(await get(edge, '/own?b'), other);
  });

  scenario('by the URL that clients of a TLS end in front know', async () => {
    const {edge} = shared;
    await forget();
    const one = await get(edge, '/x');
    assert.deepEqual(await purge(edge, {url: 'https://a.test/x'}), {purged: 1, soft: false});
    assert.notEqual(await get(edge, '/x'), one);
  });

  scenario('by tag', async () => {
    const {edge} = shared;
    await forget();
    const [one, two] = [await get(edge, '/1'), await get(edge, '/2')];
    assert.equal((await purge(edge, {tag: 'page-1'})).purged, 1);
    assert.notEqual(await get(edge, '/1'), one);
    assert.equal(await get(edge, '/2'), two);
    assert.equal((await purge(edge, {tag: 'all-pages'})).purged, 2);
    assert.notEqual(await get(edge, '/2'), two);
  });

  scenario('by route, and by model', async () => {
    const {edge} = shared;
    await forget();
    const page = await get(edge, '/1');
    const [one, two] = [await chat(edge, 'm-1'), await chat(edge, 'm-2')];
    assert.equal(await chat(edge, 'm-1'), one);
    assert.equal((await purge(edge, {model: 'm-1'})).purged, 1);
    assert.notEqual(await chat(edge, 'm-1'), one);
    assert.equal(await chat(edge, 'm-2'), two);
    assert.equal((await purge(edge, {route: 'chat'})).purged, 2);
    assert.notEqual(await chat(edge, 'm-2'), two);
    assert.equal(await get(edge, '/1'), page);
    assert.equal((await purge(edge, {route: 'no-such-route'})).purged, 0);
  });

  scenario('softly: it answers still, once its backend does not', async () => {
    const {edge, origin} = shared;
    await forget();
    const one = await get(edge, '/1');
    assert.deepEqual(await purge(edge, {tag: 'page-1', soft: true}), {purged: 1, soft: true});
    const {handler} = origin;
    origin.handler = (_, connection) => {
      connection.close();
    };
    const kept = await fetch_text({port: edge.port, path: '/1', headers: {host: 'a.test'}});
    origin.handler = handler;
    assert.equal(kept.text, one);
    assert.match(kept.headers['cache-status'], /stale-if-error/);
    assert.notEqual(await get(edge, '/1'), one);
  });
});

suite('what a purge refuses', start, (shared) => {
  const refused = async (body, status, message, headers) => {
    const reply = await post_purge(shared.edge, body, headers);
    assert.equal(reply.status, status, reply.text);
    assert.match(reply.text, message);
  };

  scenario('a body that names nothing, more than one thing, or something else', async () => {
    await refused('', 400, /the body is JSON/);
    await refused('tag=x', 400, /the body is JSON/);
    await refused({}, 400, /the body is JSON/);
    await refused({tag: 'x', url: 'http://a.test/'}, 400, /exclude each other/);
    await refused({tags: 'x'}, 400, /unknown member `tags`/);
    await refused({all: false}, 400, /`all` can only be true/);
    await refused({url: '/x'}, 400, /must be whole/);
    await refused({tag: 'x', soft: 'yes'}, 400, /`soft`/);
  });

  scenario('a page of another site, before it reads the body', async () => {
    const page = await get(shared.edge, '/1');
    await refused({all: true}, 403, /Origin/, {origin: 'https://evil.test'});
    await refused({all: true}, 403, /Host/, {host: 'evil.test'});
    assert.equal(await get(shared.edge, '/1'), page);
  });

  scenario('a body past 64 KiB, announced or in chunks', async () => {
    const long = JSON.stringify({tag: 'x'.repeat(70 * 1024)});
    await refused(long, 413, /too_large/, {'content-length': long.length});
    await refused(long, 413, /too_large/, {'transfer-encoding': 'chunked'});
  });

  scenario('another method', async () => {
    const {status, headers} = await shared.edge.admin('/cache/purge');
    assert.equal(status, 405);
    assert.equal(headers.allow, 'POST');
  });

  scenario('nothing that comes in pieces', async () => {
    const {edge} = shared;
    await get(edge, '/1');
    const purged = await post_purge(edge, {all: true}, {'transfer-encoding': 'chunked'});
    assert.equal(purged.status, 200);
    assert.equal(purged.json.purged, 1);
  });
});

suite('what the cache reports', (scope) => start(scope, {cache: {memory: '32MiB'}}), (shared) => {
  scenario('in /cache, the metrics and the access log', async () => {
    const {edge} = shared;
    await get(edge, '/1');
    await get(edge, '/1');
    await get(edge, '/plain/x');
    await fetch_text({port: edge.port, path: '/2', method: 'DELETE', headers: {host: 'a.test'}});
    await edge.log_line((line) => line.method === 'DELETE');
    assert.deepEqual(edge.log_lines().map((line) => line.cache), ['miss', 'hit', null, 'bypass']);

    const {json} = await edge.admin('/cache');
    assert.deepEqual(json.requests, {hit: 1, stale: 0, revalidated: 0, collapsed: 0, miss: 1, bypass: 1});
    assert.equal(json.hit_ratio, 0.5);
    assert.equal(json.memory.entries, 1);
    assert.equal(json.memory.budget, 32 * 1024 * 1024);
    assert.ok(json.memory.bytes > 0);
    assert.deepEqual(json.flights, {count: 0, bytes: 0});
    assert.equal(json.redis, null);

    const metrics = await edge.metrics();
    assert.equal(metrics.sum('brink_cache_requests_total', {route: 'web', result: 'hit'}), 1);
    assert.equal(metrics.sum('brink_cache_requests_total', {route: 'web', result: 'bypass'}), 1);
    assert.equal(metrics.sum('brink_cache_requests_total', {route: 'plain'}), 0);
    assert.equal(metrics.sum('brink_cache_memory_entries'), 1);
    assert.equal(metrics.sum('brink_cache_memory_budget_bytes'), 32 * 1024 * 1024);
  });

  scenario('a Redis that cannot be reached, without its password', async (scope) => {
    const gone = await Origin.start(scope);
    await gone.stop();
    const {edge} = await start(scope, {cache: {redis: {url: `redis://u:${password}@127.0.0.1:${gone.port}/0`}}});
    const {json, text} = await edge.admin('/cache');
    assert.equal(json.redis.url, `redis://u:***@127.0.0.1:${gone.port}/0`);
    assert.equal(json.redis.mode, 'single');
    assert.equal(json.redis.in_use, false);
    const page = await get(edge, '/1');
    assert.equal(await get(edge, '/1'), page);
    for (const shown of [text, (await edge.admin('/config')).text, edge.program.stderr])
      assert.ok(!shown.includes(password));
  });
});
