// The tier that nodes share: what one node stored, another serves, and to nobody else than the first would have.
import {strict as assert} from 'node:assert';

import {cache_status, get} from '../support/cache_client.mjs';
import {Origin} from '../support/origin.mjs';
import {Redis} from '../support/redis.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';
import {ask_model, count, is_gone, is_hit, purge, start_node, text_of} from '../support/shared_tier.mjs';
import {until} from '../support/wait.mjs';

async function start(scope) {
  const redis = await Redis.start(scope);
  const origin = await Origin.start(scope);
  const [a, b] = await Promise.all([1, 2].map(() => start_node(scope, origin, {url: redis.url})));
  return {redis, origin, a, b};
}

// The one key that is there after `ask` and was not before.
async function key_of(redis, ask) {
  const before = new Set(await redis.answers());
  const answer = await ask();
  const key = await until(async () => (await redis.answers()).find((one) => !before.has(one)), 'a new key in Redis');
  return {answer, key};
}

with_programs(['redis-server', 'redis-cli'], () => {
  suite('two nodes on one Redis', start, (shared) => {
    scenario('share answers of mode http', async () => {
      const {redis, origin, a, b} = shared;
      count(origin, {'Cache-Control': 'max-age=60', 'X-Own': 'kept'});
      await key_of(redis, () => get(a, '/shared'));
      const other = await get(b, '/shared');
      assert.deepEqual([text_of(other), other.get('x-own'), is_hit(other)], ['answer 1', 'kept', true]);
      assert.ok(Number(cache_status(other).ttl) <= 60);
      assert.equal(origin.requests.length, 1);
      assert.equal((await b.metrics()).sum('brink_redis_hits_total'), 1);
      assert.ok(is_hit(await get(b, '/shared')));
      assert.equal((await b.metrics()).sum('brink_redis_hits_total'), 1, 'from memory the second time');
    });

    scenario('share answers of models', async () => {
      const {redis, origin, a, b} = shared;
      count(origin);
      const {answer} = await key_of(redis, () => ask_model(a, 'hello'));
      const other = await ask_model(b, 'hello');
      assert.ok(is_hit(other));
      assert.deepEqual(other.body, answer.body);
      assert.equal(origin.requests.length, 1);
    });

    scenario('share every variant', async () => {
      const {redis, origin, a, b} = shared;
      origin.forget();
      origin.handler = (request) => ({
        fields: {'Cache-Control': 'max-age=60', 'Vary': 'Accept-Language'},
        body: `in ${request.get('accept-language')}`,
      });
      for (const language of ['de', 'fr']) {
        await key_of(redis, () => get(a, '/vary', {'Accept-Language': language}));
      }
      await redis.holds(3);
      for (const language of ['de', 'fr']) {
        const other = await get(b, '/vary', {'Accept-Language': language});
        assert.deepEqual([text_of(other), is_hit(other)], [`in ${language}`, true]);
      }
      assert.equal(origin.requests.length, 2);
      assert.equal(text_of(await get(b, '/vary', {'Accept-Language': 'it'})), 'in it');
    });

    scenario('never give one credential\'s answer to another', async () => {
      const {redis, origin, a, b} = shared;
      count(origin);
      await key_of(redis, () => ask_model(a, 'secret', {credential: 'sk-one'}));
      for (const credential of ['sk-two', 'sk-on', 'sk-one ', 'SK-ONE', 'sk-one,sk-two']) {
        for (const node of [b, a]) {
          const before = origin.requests.length;
          const answer = await ask_model(node, 'secret', {credential: `${credential}${node === a ? 'a' : ''}`});
          if (credential.trim() === 'sk-one' && node === b) continue;  // white space around a value is none of it
          assert.equal(is_hit(answer), false, credential);
          assert.equal(origin.requests.length, before + 1, credential);
        }
      }
      assert.ok(is_hit(await ask_model(b, 'secret', {credential: 'sk-one'})));
    });

    scenario('keep an answer in Redis no longer than it is fresh', async () => {
      const {redis, origin, a} = shared;
      count(origin, {'Cache-Control': 'max-age=100', 'Age': '70'});
      const {key} = await key_of(redis, () => get(a, '/ttl'));
      const left = Number(await redis.ask('pttl', key));
      assert.ok(left > 0 && left <= 30_000, `${left} ms`);
      count(origin, {'Cache-Control': 'max-age=31536000'});
      const long = await key_of(redis, () => get(a, '/long'));
      const day_ms = 86_400_000;
      assert.ok(Number(await redis.ask('pttl', long.key)) <= day_ms, 'no longer than purges are remembered');
    });

    scenario('take what is corrupt or not theirs for a miss, and count it', async () => {
      const {redis, origin, a, b} = shared;
      count(origin);
      const {key: good} = await key_of(redis, () => get(a, '/good'));
      const values = [['set', ''], ['set', 'foreign'], ['setrange', '40', 'x'], ['lpush', 'x'], ['copy']];
      let unreadable = (await b.metrics()).sum('brink_redis_unreadable_total');
      const failed = (await b.metrics()).sum('brink_redis_errors_total');
      for (const [number, [command, ...rest]] of values.entries()) {
        const {key} = await key_of(redis, () => get(a, `/broken/${number}`));
        if (command === 'lpush') await redis.ask('del', key);
        if (command === 'copy')
          await redis.ask('copy', good, key, 'replace');
        else
          await redis.ask(command, key, ...rest);
        const before = origin.requests.length;
        const answer = await get(b, `/broken/${number}`);
        assert.deepEqual([answer.status, is_hit(answer)], [200, false], command);
        assert.equal(origin.requests.length, before + 1, command);
        if (command !== 'lpush') unreadable += 1;
      }
      const metrics = await b.metrics();
      assert.equal(metrics.sum('brink_redis_unreadable_total'), unreadable);
      assert.equal(metrics.sum('brink_redis_errors_total'), failed + 1, 'a key of another type is an error of Redis');
      assert.ok(is_hit(await get(b, '/good')));
    });
  });

  suite('purges between nodes', start, (shared) => {
    const fields = {'Cache-Control': 'max-age=60', 'Surrogate-Key': 'news sport'};
    let number = 0;

    // On both nodes and in Redis: one answer of mode http, one of a model.
    async function fill() {
      const {redis, origin, a, b} = shared;
      const page = `/page/${++number}`;
      const text = `question ${number}`;
      count(origin, fields);
      await redis.ask('flushdb');
      await get(a, page);
      await ask_model(a, text);
      await redis.holds(2);
      assert.ok(is_hit(await get(b, page)));
      assert.ok(is_hit(await ask_model(b, text)));
      assert.equal(origin.requests.length, 2);
      return {page, text};
    }

    const whats = [
      [(page) => ({url: `http://a.test${page}`}), true, false],
      [() => ({tag: 'sport'}), true, true],
      [() => ({route: 'web'}), true, false],
      [() => ({route: 'models'}), false, true],
      [() => ({model: 'm-1'}), false, true],
      [() => ({all: true}), true, true],
    ];
    for (const [what, has_page, has_text] of whats) {
      for (const soft of [false, true]) {
        scenario(`${JSON.stringify({...what('/page'), soft})} reaches the other node and Redis`, async () => {
          const {origin, a, b} = shared;
          const {page, text} = await fill();
          await purge(a, {...what(page), soft});
          if (has_page) await is_gone(b, page);
          const answer = await until(async () => {
            const got = await ask_model(b, text);
            return (is_hit(got) !== has_text || text_of(got).includes('answer 3')) && got;
          }, 'the purge at the other node');
          const again = await get(b, page);
          assert.equal(is_hit(again), !has_page);
          assert.equal(origin.requests.length, 2 + Number(has_page) + Number(has_text));
          if (soft) return;  // the first node has what it may validate, and asks for no other
          // What is fetched after the purge is shared again.
          const shares = async (ask, wanted) => text_of(await ask()) === wanted;
          await until(() => shares(() => get(a, page), text_of(again)), 'the new page at the first node');
          await until(() => shares(() => ask_model(a, text), text_of(answer)), 'the new answer at the first node');
        });
      }
    }

    scenario('a node that comes later does not revive what was purged', async (scope) => {
      const {redis, origin, a} = shared;
      const {page, text} = await fill();
      await purge(a, {url: `http://a.test${page}`});
      await until(async () => (await redis.ask('zrange', 'brink:purges', '0', '-1')).includes(page), 'the list');
      const late = await start_node(scope, origin, {url: redis.url});
      assert.equal(is_hit(await get(late, page)), false);
      assert.equal(is_hit(await ask_model(late, text)), false, 'the list is younger than the answer');
      await redis.holds(2);
      const later = await start_node(scope, origin, {url: redis.url});
      assert.ok(is_hit(await get(later, page)));
      assert.ok(is_hit(await ask_model(later, text)));
    });

    scenario('an unsafe request that changes a URL purges it everywhere', async () => {
      const {a, b} = shared;
      const {page} = await fill();
      const body = 'x=1';
      await a.exchange(`POST ${page} HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'POST');
      await is_gone(b, page);
    });
  });

  suite('prefixes', (scope) => Redis.start(scope).then((redis) => ({redis})), (shared) => {
    scenario('separate who shares what', async (scope) => {
      const {redis} = shared;
      const origin = await Origin.start(scope);
      count(origin);
      const a = await start_node(scope, origin, {url: redis.url, prefix: 'one:'});
      const b = await start_node(scope, origin, {url: redis.url, prefix: 'two:'});
      await get(a, '/prefix');
      await redis.holds(1);
      assert.equal(is_hit(await get(b, '/prefix')), false);
      await redis.holds(2);
      await purge(a, {all: true});
      await is_gone(a, '/prefix');
      assert.ok(is_hit(await get(b, '/prefix')));
    });
  });
});
