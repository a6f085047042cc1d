// A second endpoint is asked when the first is late; the first good head wins and the other connection is closed.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

const body = 'x'.repeat(50_000);
const post = (path) => `POST ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

// Both have answered often enough to be known, at once. Then `late` says what happens to a request for /late at the
// endpoint that gets it first; `second` at the other one.
async function start(scope, {late, second = () => ({body: 'second'}), hedge = {}}) {
  const met = [];
  const handler = (name) => (seen, connection) => {
    assert.equal(seen.body.length, body.length);
    if (seen.target !== '/late') return {body: name};
    met.push({name, connection});
    return met.length === 1 ? late(connection) : second(connection);
  };
  const origins = [await Origin.start(scope, {handler: handler('a')}), await Origin.start(scope, {handler: handler('b')})];
  const edge = await Brink.start(scope, {
    backends: origins.map((origin) => origin.url),
    cluster: {balance: 'weighted_round_robin'},
    route: {hedge: {least: '100ms', budget: '100%', ...hedge}},
  });
  const client = await edge.connect();
  for (let i = 0; i < 44; ++i) {
    client.send(post('/warm'));
    await client.read_response('POST');
  }
  return {met, edge};
}

const later = (ms, answer) => () => new Promise((resolve) => setTimeout(() => resolve(answer), ms));

suite('a late answer', async () => ({}), () => {
  scenario('is overtaken by another endpoint, and the first connection closed', async (scope) => {
    const {met, edge} = await start(scope, {late: () => undefined});
    const answer = await edge.exchange(post('/late'), 'POST');
    assert.equal(answer.body.toString(), 'second');
    assert.equal(met.length, 2);
    assert.notEqual(met[0].name, met[1].name);
    await within(met[0].connection.closed, 'the edge to close the connection that lost');
    const metrics = await edge.metrics();
    assert.equal(metrics.sum('brink_upstream_hedges_total'), 1);
    assert.equal(metrics.sum('brink_upstream_hedges_won_total'), 1);
    const line = await edge.log_line((entry) => entry.target === '/late');
    assert.equal(line.attempts, 2);
    assert.equal(metrics.sum('brink_upstream_in_flight'), 0);
  });

  scenario('that comes before the second one is taken', async (scope) => {
    const {met, edge} = await start(scope, {late: later(400, {body: 'first'}), second: () => undefined});
    const answer = await edge.exchange(post('/late'), 'POST');
    assert.equal(answer.body.toString(), 'first');
    await within(met[1].connection.closed, 'the edge to close the connection that lost');
    assert.equal((await edge.metrics()).sum('brink_upstream_hedges_won_total'), 0);
    assert.equal((await edge.metrics()).sum('brink_upstream_in_flight'), 0);
  });

  for (const [name, second] of [
         ['refuses', () => ({status: 503, reason: 'Busy'})],
         ['resets', (connection) => void connection.socket.resetAndDestroy()],
         ['is malformed', () => 'nonsense\r\n\r\n'],
  ]) {
    scenario(`is waited for when the second ${name}`, async (scope) => {
      const {met, edge} = await start(scope, {late: later(700, {body: 'first'}), second});
      assert.equal((await edge.exchange(post('/late'), 'POST')).body.toString(), 'first');
      assert.ok(met.length >= 2);  // a kept connection that resets is followed by a fresh one
    });
  }

  scenario('is left to the second when the first resets', async (scope) => {
    const {edge} = await start(scope, {
      late: (connection) => void setTimeout(() => connection.socket.resetAndDestroy(), 400),
      second: later(800, {body: 'second'}),
    });
    const answer = await edge.exchange(post('/late'), 'POST');
    assert.equal(answer.status, 200);
  });

  scenario('asks nobody before the least time', async (scope) => {
    const {met, edge} = await start(scope, {late: later(400, {body: 'first'}), hedge: {least: '10s'}});
    assert.equal((await edge.exchange(post('/late'), 'POST')).body.toString(), 'first');
    assert.equal(met.length, 1);
  });
});
