// The memory tier keeps to its budget, by its own count and by what the process takes from the system.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {cache_status, get, request} from '../support/cache_client.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const mebibyte = 1024 * 1024;
const budget = 8 * mebibyte;
// Buffers and bodies of requests under way, and blocks that the allocator keeps.
const allowance = 24 * mebibyte;

async function start(scope) {
  const origin = await Origin.start(scope, {keep_bytes: false});
  origin.handler = (asked) => {
    const size = Number(asked.target.match(/^\/(\d+)\//)[1]);
    origin.forget();
    return {fields: {'Cache-Control': 'max-age=600'}, body: Buffer.alloc(size, 'm')};
  };
  const edge = await Brink.start(scope, {
    backend: origin.url,
    cache: {memory: '8MiB'},
    node: {workers: 2},
    route: {cache: {mode: 'http'}},
    env: {ASAN_OPTIONS: 'quarantine_size_mb=1'},
  });
  return {origin, edge};
}

// Asks for `count` different objects over eight connections.
async function flood(edge, size, count, from = 0) {
  let next = from;
  const one = async () => {
    const client = await edge.connect();
    while (next < from + count) {
      client.send(request('GET', `/${size}/${next++}`));
      const answer = await client.read_response('GET', {keep: false});
      assert.equal(answer.status, 200);
    }
    client.close();
  };
  await Promise.all(Array.from({length: 8}, one));
}

async function in_memory(edge) {
  const metrics = await edge.metrics();
  return {bytes: metrics.sum('brink_cache_memory_bytes'), kept: metrics.sum('brink_cache_flights_bytes')};
}

suite('a budget of 8 MiB', start, (shared) => {
  for (const [size, count] of [[400 * 1024, 400], [100 * 1024, 1500], [700, 8000]]) {
    scenario(`${count} objects of ${size} bytes`, async () => {
      const {edge} = shared;
      await flood(edge, size, 40);
      const before = edge.resident_bytes();
      for (let from = 40; from < count; from += Math.ceil(count / 5)) {
        await flood(edge, size, Math.ceil(count / 5), from);
        const {bytes} = await in_memory(edge);
        assert.ok(bytes <= budget, `${bytes} bytes`);
      }
      const {bytes, kept} = await in_memory(edge);
      assert.ok(bytes > budget / 2, `${bytes} bytes: the tier is put to use`);
      assert.equal(kept, 0, 'nothing is under way');
      const grown = edge.resident_bytes() - before;
      assert.ok(grown < budget * 1.1 + allowance, `${grown} bytes more resident`);
    });
  }

  scenario('an object larger than a sixteenth of it goes through and is not kept', async () => {
    const {edge} = shared;
    for (let i = 0; i < 2; ++i) {
      const answer = await get(edge, `/${mebibyte}/large`);
      assert.equal(answer.body.length, mebibyte);
      assert.equal(cache_status(answer).hit, undefined);
    }
  });

  scenario('what is used often outlives a flood', async () => {
    const {edge} = shared;
    const popular = `/${10 * 1024}/popular`;
    for (let i = 0; i < 4; ++i) await get(edge, popular);
    await flood(edge, 100 * 1024, 300, 100_000);
    assert.ok(cache_status(await get(edge, popular)).hit);
  });

  scenario('no memory at all: everything goes through', async (scope) => {
    const {origin} = shared;
    const edge = await Brink.start(scope, {backend: origin.url, cache: {memory: '0B'}, route: {cache: {mode: 'http'}}});
    for (let i = 0; i < 2; ++i) {
      const answer = await get(edge, '/1000/nothing');
      assert.deepEqual([answer.body.length, cache_status(answer).hit], [1000, undefined]);
    }
  });
});
