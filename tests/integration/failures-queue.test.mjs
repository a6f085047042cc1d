// Requests wait while every endpoint is at its limits, the most urgent first, and for no longer than they may.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const get = (path, fields = '') => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`;

// An origin that answers when told to, in the order of arrival.
async function start(scope, {queue, limits = {requests: 1}, workers = 1, cluster = {}, downstream}) {
  const held = [];
  const origin = await Origin.start(scope, {handler: (seen) => new Promise((resolve) => held.push({seen, resolve}))});
  const edge = await Brink.start(
      scope, {backend: origin.url, node: {workers}, cluster: {limits, queue, ...cluster}, downstream});
  const answer = async () => {
    await until(() => held.length > 0, 'a request at the origin');
    const {seen, resolve} = held.shift();
    resolve({body: seen.target});
    return seen.target;
  };
  const send = async (path, fields) => {
    const client = await edge.connect();
    client.send(get(path, fields));
    return client;
  };
  const waiting = async (count) =>
      until(async () => (await edge.metrics()).sum('brink_queue_waiting') === count, `${count} requests to wait`);
  return {origin, edge, held, answer, send, waiting};
}

suite('the queue', async () => ({}), () => {
  for (const limits of [{requests: 1}, {per_endpoint_requests: 1}]) {
    scenario(`is first in, first out, by ${JSON.stringify(limits)}`, async (scope) => {
      const {answer, send, waiting, held, edge} = await start(scope, {queue: {size: 10, timeout: '20s'}, limits});
      const first = await send('/0');
      await until(() => held.length === 1, 'the first at the origin');
      const clients = [];
      for (let i = 1; i <= 4; ++i) {
        clients.push(await send(`/${i}`));
        await waiting(i);
      }
      assert.equal(held.length, 1);
      for (let i = 0; i <= 4; ++i) assert.equal(await answer(), `/${i}`);
      for (const [i, client] of [first, ...clients].entries()) {
        assert.equal((await client.read_response()).body.toString(), `/${i}`);
      }
      const metrics = await edge.metrics();
      assert.equal(metrics.sum('brink_queue_waited_total'), 4);
      assert.equal(metrics.sum('brink_queue_waiting'), 0);
    });
  }

  scenario('lets the urgent pass, if who says so is trusted', async (scope) => {
    for (const trusted of [true, false]) {
      const downstream = trusted ? {trusted_proxies: ['127.0.0.0/8']} : undefined;
      const {answer, send, waiting, held} = await start(scope, {queue: {size: 10, timeout: '20s'}, downstream});
      await send('/first');
      await until(() => held.length === 1, 'the first at the origin');
      await send('/late', 'x-brink-priority: 9\r\n');
      await waiting(1);
      await send('/plain');
      await waiting(2);
      await send('/urgent', 'x-brink-priority: 0\r\n');
      await waiting(3);
      const order = [];
      for (let i = 0; i < 4; ++i) order.push(await answer());
      assert.deepEqual(order, trusted ? ['/first', '/urgent', '/plain', '/late'] : ['/first', '/late', '/plain', '/urgent']);
    }
  });

  scenario('refuses what it has no room for, and ends what waits too long', async (scope) => {
    const {edge, send, waiting, held} = await start(scope, {queue: {size: 1, timeout: '3s'}});
    await send('/first');
    await until(() => held.length === 1, 'the first at the origin');
    const second = await send('/second');
    await waiting(1);
    const full = await edge.exchange(get('/third'));
    assert.equal(full.status, 503);
    assert.equal(JSON.parse(full.body).error.code, 'cluster_full');
    assert.equal(full.get('retry-after'), '1');
    assert.equal(full.get('x-should-retry'), 'true');
    const late = await second.read_response();
    assert.equal(late.status, 503);
    assert.equal(JSON.parse(late.body).error.code, 'queue_timeout');
    assert.equal(late.get('retry-after'), '1');
    const metrics = await edge.metrics();
    assert.equal(metrics.sum('brink_queue_refused_total'), 1);
    assert.equal(metrics.sum('brink_queue_expired_total'), 1);
    await waiting(0);
  });

  scenario('forgets a client that leaves', async (scope) => {
    const {send, waiting, held, answer} = await start(scope, {queue: {size: 5, timeout: '20s'}});
    await send('/first');
    await until(() => held.length === 1, 'the first at the origin');
    const gone = await send('/gone');
    await waiting(1);
    await send('/stays');
    await waiting(2);
    gone.close();
    await waiting(1);
    assert.equal(await answer(), '/first');
    assert.equal(await answer(), '/stays');
  });

  scenario('is woken by the end of a request on another worker', async (scope) => {
    const {edge, answer, send, waiting} = await start(scope, {queue: {size: 200, timeout: '20s'}, workers: 4});
    const clients = [];
    for (let i = 0; i < 60; ++i) clients.push(await send(`/${i}`));
    await waiting(59);
    const began = performance.now();
    for (let i = 0; i < 60; ++i) await answer();
    for (const client of clients) assert.equal((await client.read_response()).status, 200);
    assert.ok(performance.now() - began < 15_000);
    await waiting(0);
    const clusters = (await edge.admin('/clusters')).json.clusters;
    assert.equal(clusters[0].endpoints[0].in_flight, 0);
  });

  scenario('moves on with the tokens of max_qps', async (scope) => {
    const origin = await Origin.start(scope, {handler: () => ({body: 'ok'})});
    const edge = await Brink.start(scope, {
      clusters: {main: {endpoints: [{url: origin.url, max_qps: '10/s'}], queue: {size: 20, timeout: '20s'}}},
    });
    const answers = await Promise.all(Array.from({length: 8}, (_, i) => edge.exchange(get(`/${i}`))));
    assert.deepEqual(answers.map((answer) => answer.status), Array(8).fill(200));
  });
});
