// Mode `http`: how a shared cache uses what it has stored (RFC 9111), seen from a client and from the origin.
import {strict as assert} from 'node:assert';

import {cache_status, count, get, request, start_http} from '../support/cache_client.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {scenario, suite} from '../support/scenario.mjs';

suite('a stored answer', (scope) => start_http(scope), (shared) => {
  scenario('is used again, with its age', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'Age': '7', 'X-Own': 'kept'});
    const first = await get(edge, '/hit');
    assert.deepEqual([first.status, first.body.toString(), first.get('age')], [200, 'answer 1', '7']);
    assert.equal(cache_status(first).fwd, 'uri-miss');
    const second = await get(edge, '/hit');
    assert.deepEqual([second.status, second.body.toString(), second.get('x-own')], [200, 'answer 1', 'kept']);
    const status = cache_status(second);
    assert.ok(status.hit, second.get('cache-status'));
    assert.ok(Number(status.ttl) <= 53 && Number(status.ttl) > 40, status.ttl);
    assert.ok(Number(second.get('age')) >= 7 && Number(second.get('age')) < 20, second.get('age'));
    assert.equal(origin.requests.length, 1);
  });

  scenario('belongs to its URL, query and all', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    assert.equal((await get(edge, '/url?a=1')).body.toString(), 'answer 1');
    assert.equal((await get(edge, '/url?a=2')).body.toString(), 'answer 2');
    assert.equal((await get(edge, '/url?a=1')).body.toString(), 'answer 1');
  });

  scenario('answers If-None-Match with 304', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v1"'});
    await get(edge, '/etag');
    const same = await get(edge, '/etag', {'If-None-Match': '"v0", "v1"'});
    assert.deepEqual([same.status, same.body.length, same.get('etag')], [304, 0, '"v1"']);
    assert.equal((await get(edge, '/etag', {'If-None-Match': '"v2"'})).status, 200);
    assert.equal(origin.requests.length, 1);
  });

  scenario('is fetched whole for a conditional request, which gets its 304', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v1"'});
    assert.equal((await get(edge, '/fill', {'If-None-Match': '"v1"'})).status, 304);
    assert.equal(origin.requests[0].get('if-none-match'), undefined);
    assert.equal((await get(edge, '/fill')).body.toString(), 'answer 1');
    assert.equal(origin.requests.length, 1);
  });

  scenario('gives its parts to ranges', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v1"'}, () => '0123456789');
    await get(edge, '/range');
    const middle = await get(edge, '/range', {Range: 'bytes=2-4'});
    assert.deepEqual(
        [middle.status, middle.body.toString(), middle.get('content-range')], [206, '234', 'bytes 2-4/10']);
    const tail = await get(edge, '/range', {Range: 'bytes=-3'});
    assert.deepEqual([tail.status, tail.body.toString()], [206, '789']);
    const beyond = await get(edge, '/range', {Range: 'bytes=10-'});
    assert.deepEqual([beyond.status, beyond.get('content-range')], [416, 'bytes */10']);
    const other = await get(edge, '/range', {Range: 'bytes=2-4', 'If-Range': '"v2"'});
    assert.deepEqual([other.status, other.body.toString()], [200, '0123456789']);
    assert.equal(origin.requests.length, 1);
  });

  scenario('answers HEAD', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'X-Own': 'kept'});
    await get(edge, '/head');
    const head = await edge.exchange(request('HEAD', '/head'), 'HEAD');
    assert.deepEqual([head.status, head.get('content-length'), head.get('x-own')], [200, '8', 'kept']);
    assert.ok(cache_status(head).hit);
    assert.equal(origin.requests.length, 1);
  });

  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    scenario(`is dropped after a successful ${method}`, async () => {
      const {origin, edge} = shared;
      count(origin, {'Cache-Control': 'max-age=60'});
      const path = `/unsafe/${method}`;
      await get(edge, path);
      assert.equal((await edge.exchange(request(method, path, {}, 'x'), method)).status, 200);
      assert.equal((await get(edge, path)).body.toString(), 'answer 3');
    });
  }

  scenario('stays after an unsafe request that failed', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    await get(edge, '/refused');
    origin.handler = () => ({status: 409, reason: 'Conflict'});
    await edge.exchange(request('POST', '/refused', {}, 'x'), 'POST');
    assert.equal((await get(edge, '/refused')).body.toString(), 'answer 1');
  });

  scenario('is chosen by the fields that Vary names', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = (asked) => ({
      fields: {'Cache-Control': 'max-age=60', 'Vary': 'Accept-Language'},
      body: asked.get('accept-language') ?? '-'
    });
    const ask = async (language) => {
      const answer = await get(edge, '/vary', {'Accept-Language': language});
      return [answer.body.toString(), cache_status(answer).hit ? 'hit' : cache_status(answer).fwd];
    };
    assert.deepEqual(await ask('de'), ['de', 'uri-miss']);
    assert.deepEqual(await ask('fr'), ['fr', 'vary-miss']);
    assert.deepEqual(await ask('de'), ['de', 'hit']);
    assert.deepEqual(await ask('fr'), ['fr', 'hit']);
    assert.deepEqual(await ask(undefined), ['-', 'vary-miss']);
    assert.equal(origin.requests.length, 3);
  });

  scenario('comes to HTTP/1.0 clients, with and without Host', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(
          'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n', chunk('old'),
          last_chunk);
    };
    for (const host of ['Host: a.test\r\n', '']) {
      for (const expected of ['miss', 'hit']) {
        const answer = await edge.exchange(`GET /old${host.length} HTTP/1.0\r\n${host}\r\n`);
        assert.deepEqual([answer.status, answer.body.toString()], [200, 'old'], answer.body.toString());
        assert.equal(cache_status(answer).hit ? 'hit' : 'miss', expected);
        assert.equal(answer.get('transfer-encoding'), undefined);
      }
    }
  });

  scenario('answers requests that were sent without waiting', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'}, () => 'p'.repeat(1000));
    const client = await edge.connect();
    client.send(...Array.from({length: 40}, (_, i) => request('GET', `/pipelined/${i % 2}`)));
    for (let i = 0; i < 40; ++i) assert.equal((await client.read_response()).body.length, 1000);
    client.close();
    assert.equal(origin.requests.length, 2);
  });

  scenario('is made of a request without odd values too', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'X-Empty': ''});
    const fields = [['X-Empty', ''], ['X-Hop', '1'], ['Connection', 'x-hop'], ['X-Kept', 'yes']];
    assert.equal((await get(edge, '/odd', fields)).status, 200);
    assert.equal(origin.requests[0].get('x-hop'), undefined);
    assert.equal(origin.requests[0].get('x-kept'), 'yes');
    assert.ok(cache_status(await get(edge, '/odd', fields)).hit);
    const absolute = await edge.exchange('GET http://a.test/odd HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.ok(cache_status(absolute).hit);
  });
});
