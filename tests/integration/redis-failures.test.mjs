// Whatever becomes of Redis, no request fails and none waits longer than the timeout says.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {get, request} from '../support/cache_client.mjs';
import {Origin} from '../support/origin.mjs';
import {Redis} from '../support/redis.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';
import {count, is_hit, routes, start_node} from '../support/shared_tier.mjs';
import {patience_ms, until, within} from '../support/wait.mjs';

const timeout_ms = 50;
const rate = 300;
const trouble_ms = 2000;
// How slow the machine may be: with the usual patience, forty timeouts. Who waited for a hung Redis would wait for ever.
const longest_ms = 40 * timeout_ms * Math.max(1, patience_ms / 30_000);

// GETs at a steady rate, each of a target that nobody asked for, so that each looks into Redis and stores there.
class Misses {
  constructor(node, name, connections = 20) {
    this.times = [];
    this.failures = [];
    this.stopped_ = false;
    this.loops_ = Array.from({length: connections}, (_, i) => this.loop_(node, name, i, connections));
  }

  async loop_(node, name, client, connections) {
    const wire = await node.connect();
    const period_ms = (1000 * connections) / rate;
    let due = performance.now() + (client * period_ms) / connections;
    for (let number = 0; !this.stopped_; ++number) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      due += period_ms;
      const begin = performance.now();
      try {
        wire.send(request('GET', `/${name}/${client}/${number}`));
        const response = await wire.read_response();
        if (response.status !== 200) this.failures.push(`status ${response.status}`);
        this.times.push(performance.now() - begin);
      } catch (error) {
        this.failures.push(error.message);
        return;
      }
    }
    wire.close();
  }

  // True once so many were answered from now on.
  more(number) {
    const wanted = this.times.length + number;
    return until(() => this.times.length >= wanted || this.failures.length > 0, `${number} more answers`);
  }

  async end() {
    this.stopped_ = true;
    await within(Promise.all(this.loops_), 'the requests under way');
    assert.deepEqual(this.failures, []);
    const sorted = this.times.sort((a, b) => a - b);
    const p99 = sorted[Math.floor(sorted.length * 0.99)];
    assert.ok(p99 < longest_ms, `99 % within ${p99} ms of ${sorted.length}`);
    return sorted.length;
  }
}

async function start(scope, options = []) {
  const redis = await Redis.start(scope, {options});
  const origin = await Origin.start(scope, {keep_bytes: false});
  const tier = {url: redis.url, timeout: `${timeout_ms}ms`};
  const node = await start_node(scope, origin, tier, {node: {workers: 2}, cache: {memory: '64MiB', redis: tier}});
  count(origin, {'Cache-Control': 'max-age=600'});
  return {redis, origin, node};
}

const requests_in = (ms) => Math.floor((rate * ms) / 1000 / 2);  // half of what should come: machines are slow

// Redis is used again: an answer is written there, and a value of there is found.
async function is_in_use(node, redis) {
  const before = (await node.metrics()).sum('brink_redis_misses_total');
  let number = 0;
  await until(async () => {
    await get(node, `/again/${number++}`);
    return (await node.metrics()).sum('brink_redis_misses_total') > before && (await redis.answers()).length > 0;
  }, 'Redis to be in use again');
}

with_programs(['redis-server', 'redis-cli'], () => {
  suite('while requests come', () => ({}), () => {
    scenario('Redis is killed and comes back', async (scope) => {
      const {redis, node} = await start(scope);
      const misses = new Misses(node, 'killed');
      await misses.more(100);
      await redis.kill();
      await misses.more(requests_in(trouble_ms));
      assert.ok((await node.metrics()).sum('brink_redis_errors_total') > 0);
      await redis.start_again();
      await is_in_use(node, redis);
      await misses.more(100);
      await misses.end();
    });

    scenario('Redis hangs and goes on', async (scope) => {
      const {redis, node} = await start(scope);
      const misses = new Misses(node, 'hung');
      await misses.more(100);
      redis.signal('SIGSTOP');
      await misses.more(requests_in(trouble_ms));
      assert.ok((await node.metrics()).sum('brink_redis_timeouts_total') > 0);
      redis.signal('SIGCONT');
      await is_in_use(node, redis);
      await misses.more(100);
      await misses.end();
    });

    scenario('Redis hangs from before the first request', async (scope) => {
      const {redis, origin} = await start(scope);
      redis.signal('SIGSTOP');
      scope.after(() => redis.signal('SIGCONT'));
      const tier = {url: redis.url, timeout: `${timeout_ms}ms`};
      const node = await Brink.start(scope, {backend: origin.url, routes, cache: {memory: '64MiB', redis: tier}});
      const misses = new Misses(node, 'deaf');
      await misses.more(requests_in(trouble_ms));
      await misses.end();
    });

    scenario('Redis is full', async (scope) => {
      const {redis, node, origin} = await start(scope, ['--maxmemory', '3mb', '--maxmemory-policy', 'noeviction']);
      const filler = 'x'.repeat(20_000);
      origin.handler = () => ({fields: {'Cache-Control': 'max-age=600'}, body: Math.random() + filler});
      await redis.ask('set', 'filler', 'x'.repeat(100_000));
      await redis.ask('config', 'set', 'maxmemory', '1mb');
      const misses = new Misses(node, 'full');
      await misses.more(requests_in(trouble_ms));
      assert.ok((await node.metrics()).sum('brink_redis_errors_total') > 0);
      await misses.end();
      const [first, second] = [await get(node, '/full/own'), await get(node, '/full/own')];
      assert.deepEqual([first.status, is_hit(second)], [200, true], 'the memory of the node still works');
    });

    scenario('Redis is restarted again and again', async (scope) => {
      const {redis, node} = await start(scope);
      const misses = new Misses(node, 'restarted');
      for (let round = 0; round < 3; ++round) {
        await misses.more(requests_in(500));
        await redis.kill();
        await redis.start_again();
      }
      await is_in_use(node, redis);
      await misses.end();
    });

    scenario('the redis block is added, changed and removed by reloads', async (scope) => {
      const {redis, origin, node} = await start(scope);
      const second = await Redis.start(scope);
      const misses = new Misses(node, 'reloaded');
      const tiers = [
        undefined,
        {url: second.url, timeout: `${timeout_ms}ms`},
        {url: redis.url, timeout: `${timeout_ms}ms`, prefix: 'other:'},
        {url: 'redis://127.0.0.1:1', timeout: `${timeout_ms}ms`},
        undefined,
        {url: redis.url, timeout: `${timeout_ms}ms`},
      ];
      for (const tier of tiers) {
        await misses.more(30);
        const cache = {memory: '64MiB', ...(tier && {redis: tier})};
        node.write_config({backend: origin.url, routes, node: {workers: 2}, cache});
        assert.equal((await node.reload()).status, 200);
        if (tier?.url === second.url) await second.holds(1);
        if (tier?.prefix) await until(async () => (await redis.keys('other:*')).length > 2, 'the other prefix');
      }
      await is_in_use(node, redis);
      await misses.end();
    });
  });
});
