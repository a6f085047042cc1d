// What becomes of purges when Redis or the way to it fails: late they may be, lost they are not, and what cannot be known
// to be valid any more is not used.
import {strict as assert} from 'node:assert';
import net from 'node:net';

import {get} from '../support/cache_client.mjs';
import {Origin} from '../support/origin.mjs';
import {Redis} from '../support/redis.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';
import {count, hears_again, is_gone, is_hit, purge, start_node} from '../support/shared_tier.mjs';
import {until} from '../support/wait.mjs';

const list = 'brink:purges';

// A way to Redis that can be cut for one node alone.
async function start_way(scope, to) {
  const open = new Set();
  const way = {cut: false};
  const server = net.createServer((near) => {
    if (way.cut) return near.destroy();
    const far = net.connect(to, '127.0.0.1');
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.on('error', () => {}).pipe(other);
    }
    return undefined;
  });
  way.close = () => {
    way.cut = true;
    for (const socket of open) socket.destroy();
  };
  scope.after(() => {
    way.close();
    return new Promise((resolve) => server.close(resolve));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  way.url = `redis://127.0.0.1:${server.address().port}`;
  return way;
}

async function start(scope, options = []) {
  const redis = await Redis.start(scope, {options});
  const origin = await Origin.start(scope);
  count(origin);
  const a = await start_node(scope, origin, {url: redis.url});
  const way = await start_way(scope, redis.port);
  const b = await start_node(scope, origin, {url: way.url});
  return {redis, origin, way, a, b};
}

const has_lost = (node) => node.program.line(/purges of other nodes are not heard/);
const in_list = (redis, text) =>
    until(async () => (await redis.ask('zrange', list, '0', '-1')).includes(text), `${text} in the list`);

with_programs(['redis-server', 'redis-cli'], () => {
  suite('purges', () => ({}), () => {
    scenario('a node that was cut off reads in the list what it has missed', async (scope) => {
      const {redis, way, a, b} = await start(scope);
      await get(b, '/missed');
      await get(b, '/kept');
      way.close();
      await has_lost(b);
      await purge(a, {url: 'http://a.test/missed'});
      await in_list(redis, '/missed');
      assert.ok(is_hit(await get(b, '/missed')), 'nobody could tell it');
      const again = hears_again(b);
      way.cut = false;
      await again;
      await is_gone(b, '/missed');
      assert.ok(is_hit(await get(b, '/kept')));
    });

    scenario('a purge made while Redis is away is told when it is back', async (scope) => {
      const {redis, way, a, b} = await start(scope);
      await get(a, '/told');
      way.close();
      await has_lost(b);
      await get(b, '/told');
      await purge(b, {url: 'http://a.test/told'});
      assert.ok(is_hit(await get(a, '/told')));
      way.cut = false;
      await is_gone(a, '/told');
      await in_list(redis, '/told');
    });

    scenario('a node that is cut off takes what it has for stale after a while', async (scope) => {
      const {way, b} = await start(scope);
      await get(b, '/blind');
      way.close();
      await b.program.line(/may have been missed: 1 entries of the memory cache count as stale/);
      await is_gone(b, '/blind');
    });

    scenario('a Redis that came back empty makes nodes drop what they have', async (scope) => {
      const {redis, a, b} = await start(scope);
      await get(a, '/lost');
      await get(b, '/lost');
      await redis.kill();
      await Promise.all([a, b].map(has_lost));
      const again = [a, b].map(hears_again);
      await redis.start_again();
      await Promise.all(again);
      for (const node of [a, b]) {
        await node.program.line(/redis has lost the list of purges: dropped all/);
        await is_gone(node, '/lost');
      }
    });

    scenario('a list that was lost alone revives nothing', async (scope) => {
      const {redis, way, origin, a, b} = await start(scope);
      await get(a, '/evicted');
      await redis.holds(1);
      assert.ok(is_hit(await get(b, '/evicted')));
      way.close();
      await has_lost(b);
      await purge(a, {url: 'http://a.test/evicted'});
      await in_list(redis, '/evicted');
      await redis.ask('del', list);
      const late = await start_node(scope, origin, {url: redis.url});
      const again = hears_again(b);
      way.cut = false;
      await again;
      for (const node of [late, b]) assert.ok((await get(node, '/evicted', {'Cache-Control': 'only-if-cached'})).status === 504);
    });

    scenario('a full Redis still tells of purges, and lists them when it has room', async (scope) => {
      const {redis, a, b} = await start(scope);
      await get(a, '/full/1');
      await get(b, '/full/1');
      await redis.holds(1);
      await redis.ask('config', 'set', 'maxmemory', '1');
      for (const number of [1, 2, 3]) await purge(a, {url: `http://a.test/full/${number}`});
      await is_gone(b, '/full/1');
      assert.equal(await redis.ask('zcard', list), '1', 'nothing but when the list was begun');
      await redis.ask('config', 'set', 'maxmemory', '0');
      for (const number of [1, 2, 3]) await in_list(redis, `/full/${number}`);
    });

    scenario('a long list is read to its end', async (scope) => {
      const {redis, origin, a} = await start(scope);
      const soon = Date.now() + 60_000;
      const pairs = Array.from({length: 1700}, (_, i) => `zadd ${list} ${soon + i} "brink-purge/1 tag hard ${soon + i} tag-${i}"`);
      await redis.ask_all(pairs);
      count(origin, {'Cache-Control': 'max-age=60', 'Surrogate-Key': 'tag-1699'});
      await redis.ask('zadd', list, 'xx', String(1e15), 'begun');  // as long ago as it gets
      await get(a, '/long');
      await redis.holds(1);
      const late = await start_node(scope, origin, {url: redis.url});
      assert.equal(is_hit(await get(late, '/long')), false);
    });

    scenario('a message that is no purge is told of and changes nothing', async (scope) => {
      const {redis, a, b} = await start(scope);
      await get(b, '/noise');
      for (const text of ['', 'noise', 'brink-purge/9 all hard 1 ', 'brink-purge/1 url hard -1 x', 'x'.repeat(70_000)]) {
        await redis.ask('publish', 'brink:purge', text);
      }
      await b.program.line(/a purge that cannot be read/);
      await purge(a, {url: 'http://a.test/other'});
      assert.ok(is_hit(await get(b, '/noise')));
    });
  });
});
