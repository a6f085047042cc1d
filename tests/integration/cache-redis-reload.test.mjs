// A request that waits for a Redis which goes out of use meanwhile.
import {strict as assert} from 'node:assert';

import {get} from '../support/cache_client.mjs';
import {Origin} from '../support/origin.mjs';
import {Redis} from '../support/redis.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {count, start_node, text_of} from '../support/shared_tier.mjs';
import {until} from '../support/wait.mjs';

suite('Redis goes with a reload', () => ({}), () => {
  scenario('and those who wait for it ask the origin', async (scope) => {
    const redis = await Redis.start(scope);
    const origin = await Origin.start(scope);
    const edge = await start_node(scope, origin, {url: redis.url, timeout: '60s'});
    count(origin);
    redis.signal('SIGSTOP');
    scope.after(() => redis.signal('SIGCONT'));
    const answers = Promise.all(Array.from({length: 8}, (_, i) => get(edge, `/waits/${i % 2}`)));
    await until(async () => (await edge.metrics()).sum('brink_requests_in_flight') === 8, 'all to wait for Redis');
    assert.equal(origin.requests.length, 0);
    edge.write_config({...edge.options, cache: {memory: '64MiB'}});
    assert.equal((await edge.reload()).status, 200);
    for (const answer of await answers) assert.match(text_of(answer), /^answer [12]$/);
    assert.equal(origin.requests.length, 2);
  });
});
