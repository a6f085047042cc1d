// Mode `http`: answers that are stale, and requests that say how fresh they want theirs (RFC 9111, RFC 5861).
import {strict as assert} from 'node:assert';

import {cache_status, count, get, request, start_http} from '../support/cache_client.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until, within} from '../support/wait.mjs';

suite('an answer that is not fresh', (scope) => start_http(scope), (shared) => {
  const stale_now = {'Cache-Control': 'max-age=1', 'Age': '5', 'ETag': '"v1"'};

  scenario('is validated with one conditional request', async () => {
    const {origin, edge} = shared;
    count(origin, stale_now);
    await get(edge, '/validate');
    origin.handler = () =>
        ({status: 304, reason: 'Not Modified', fields: {'Cache-Control': 'max-age=60', 'X-New': '1'}});
    const validated = await get(edge, '/validate');
    assert.deepEqual([validated.status, validated.body.toString(), validated.get('x-new')], [200, 'answer 1', '1']);
    assert.equal(cache_status(validated).fwd, 'stale');
    assert.equal(origin.requests.length, 2);
    assert.equal(origin.requests[1].get('if-none-match'), '"v1"');
    assert.ok(cache_status(await get(edge, '/validate')).hit, 'the 304 made it fresh');
    assert.equal(origin.requests.length, 2);
  });

  scenario('gives way to a new one', async () => {
    const {origin, edge} = shared;
    count(origin, stale_now);
    await get(edge, '/changed');
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v2"'}, () => 'new');
    assert.equal((await get(edge, '/changed')).body.toString(), 'new');
    const again = await get(edge, '/changed');
    assert.equal(again.body.toString(), 'new');
    assert.ok(cache_status(again).hit);
  });

  scenario('is validated once for many, each of whom gets what it asked for', async () => {
    const {origin, edge} = shared;
    count(origin, stale_now);
    await get(edge, '/many');
    const hold = deferred();
    origin.forget();
    origin.handler = async () => {
      await hold.promise;
      return {status: 304, reason: 'Not Modified', fields: {'Cache-Control': 'max-age=60'}};
    };
    const plain = Array.from({length: 5}, () => get(edge, '/many'));
    const conditional = Array.from({length: 5}, () => get(edge, '/many', {'If-None-Match': '"v1"'}));
    await origin.next_request();
    hold.resolve();
    for (const answer of await Promise.all(plain)) assert.equal(answer.body.toString(), 'answer 1');
    for (const answer of await Promise.all(conditional)) assert.equal(answer.status, 304);
    assert.equal(origin.requests.length, 1);
  });

  scenario('is used while one call in the background replaces it', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=1, stale-while-revalidate=60', 'Age': '5'});
    await get(edge, '/swr');
    const hold = deferred();
    origin.forget();
    origin.handler = async () => {
      await hold.promise;
      return {fields: {'Cache-Control': 'max-age=60'}, body: 'new'};
    };
    for (let i = 0; i < 5; ++i) {
      const stale = await get(edge, '/swr');
      assert.equal(stale.body.toString(), 'answer 1', 'at once, while the origin keeps still');
      assert.ok(cache_status(stale).hit);
      assert.ok(Number(cache_status(stale).ttl) < 0);
    }
    await origin.next_request();
    hold.resolve();
    await until(async () => (await get(edge, '/swr')).body.toString() === 'new', 'the new answer');
    assert.equal(origin.requests.length, 1);
  });

  scenario('whose replacement may not be stored does not hold up the background', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=1, stale-while-revalidate=60', 'Age': '5'});
    await get(edge, '/swr-huge');
    origin.forget();
    // Endless, and for nobody: the call must end.
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 100000000000\r\n\r\n');
      while (!connection.ended) await connection.send(Buffer.alloc(65536));
    };
    assert.equal((await get(edge, '/swr-huge')).body.toString(), 'answer 1');
    const asked = await origin.next_request();
    await within(asked.connection.closed, 'the call in the background to end');
  });

  scenario('covers an error of the origin', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=1, stale-if-error=60', 'Age': '5'});
    await get(edge, '/sie');
    origin.handler = () => ({status: 503, reason: 'Service Unavailable', body: 'down'});
    const covered = await get(edge, '/sie');
    assert.deepEqual([covered.status, covered.body.toString()], [200, 'answer 1']);
    assert.equal(cache_status(covered).detail, 'stale-if-error');
    origin.handler = () => ({status: 404, reason: 'Not Found', body: 'gone'});
    assert.equal((await get(edge, '/sie')).status, 404, 'not an error of the server');
  });

  scenario('covers an origin that cannot be reached', async (scope) => {
    const {origin, edge} = await start_http(scope);
    count(origin, {'Cache-Control': 'max-age=1, stale-if-error=60', 'Age': '5'});
    await get(edge, '/dead');
    await origin.stop();
    const covered = await get(edge, '/dead');
    assert.deepEqual([covered.status, covered.body.toString()], [200, 'answer 1']);
    assert.equal((await get(edge, '/never-seen')).status, 502);
  });

  scenario('is never used past must-revalidate', async (scope) => {
    const {origin, edge} = await start_http(scope);
    count(origin, {'Cache-Control': 'max-age=1, must-revalidate, stale-if-error=60', 'Age': '5', 'ETag': '"v1"'});
    await get(edge, '/must');
    await origin.stop();
    assert.equal((await get(edge, '/must')).status, 502);
  });
});

suite('requests that say what they want of a cache', (scope) => start_http(scope), (shared) => {
  scenario('only-if-cached: what is stored, or 504', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    assert.equal((await get(edge, '/only', {'Cache-Control': 'only-if-cached'})).status, 504);
    await get(edge, '/only');
    assert.equal((await get(edge, '/only', {'Cache-Control': 'only-if-cached'})).body.toString(), 'answer 1');
    assert.equal(origin.requests.length, 1);
  });

  scenario('no-store is not stored, and does not drop what is', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    const without = {'Cache-Control': 'no-store'};
    assert.equal((await get(edge, '/ns', without)).body.toString(), 'answer 1');
    assert.equal((await get(edge, '/ns')).body.toString(), 'answer 2');
    assert.equal((await get(edge, '/ns', without)).body.toString(), 'answer 3');
    assert.equal((await get(edge, '/ns')).body.toString(), 'answer 2');
  });

  for (const fields of [{'Cache-Control': 'no-cache'}, {'Cache-Control': 'max-age=0'}, {'Pragma': 'no-cache'}]) {
    scenario(`${Object.entries(fields)[0].join(': ')} asks the origin`, async () => {
      const {origin, edge} = shared;
      const path = `/nc/${Object.values(fields)[0]}/${Object.keys(fields)[0]}`;
      count(origin, {'Cache-Control': 'max-age=60'});
      await get(edge, path);
      assert.equal((await get(edge, path, fields)).body.toString(), 'answer 2');
      assert.equal((await get(edge, path)).body.toString(), 'answer 2', 'the newer one is stored');
    });
  }
});
