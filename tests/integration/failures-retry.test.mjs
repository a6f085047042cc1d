// What is tried again when an attempt fails before the client has seen a byte, and what is not.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {named_origins} from '../support/named_origins.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const get = (path = '/', fields = '') => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`;
const post = (body, path = '/') => `POST ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const wrr = {balance: 'weighted_round_robin', outlier: 'off'};

// Two origins, of which the first does what `handler` says; the cluster takes turns, so half of the requests meet it.
async function pair(scope, handler, {route = {}, cluster = {}, downstream} = {}) {
  const bad = await Origin.start(scope, {handler});
  const good = await Origin.start(scope, {handler: (seen) => ({body: `good ${seen.body.length}`})});
  const edge = await Brink.start(
      scope, {backends: [bad.url, good.url], route, cluster: {...wrr, ...cluster}, downstream});
  return {bad, good, edge};
}

const reset = (seen, connection) => void connection.socket.resetAndDestroy();
const refuse = (status, fields = {}) => () => ({status, reason: 'No', fields: {'x-own': 'yes', ...fields}, body: 'own'});

suite('another endpoint answers', async () => ({}), () => {
  for (const status of [429, 502, 503, 504]) {
    scenario(`after ${status}`, async (scope) => {
      const {bad, edge} = await pair(scope, refuse(status));
      for (let i = 0; i < 6; ++i) assert.equal((await edge.exchange(get(`/${i}`))).body.toString(), 'good 0');
      assert.equal(bad.requests.length > 0, true);
      const line = await edge.log_line((entry) => entry.attempts === 2);
      assert.equal(line.status, 200);
      assert.equal((await edge.metrics()).sum('brink_upstream_retry_reasons_total', {reason: String(status)}), bad.requests.length);
    });
  }

  for (const size of [10, 100_000, 1024 * 1024]) {
    scenario(`after a reset, with a POST body of ${size} bytes whole`, async (scope) => {
      const {bad, edge} = await pair(scope, reset);
      for (let i = 0; i < 2; ++i) {
        assert.equal((await edge.exchange(post('x'.repeat(size)), 'POST')).body.toString(), `good ${size}`);
      }
      assert.equal(bad.requests.length, 1);
      assert.equal(bad.requests[0].body.length, size);
    });
  }

  scenario('after a refused connection, with the body chunked', async (scope) => {
    const gone = await Origin.start(scope);
    await gone.stop();
    const good = await Origin.start(scope, {handler: (seen) => ({body: seen.body.toString()})});
    const edge = await Brink.start(scope, {backends: [gone.url, good.url], cluster: wrr});
    for (let i = 0; i < 4; ++i) {
      const response = await edge.exchange(
          'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n', 'POST');
      assert.equal(response.body.toString(), 'abcde');
    }
  });

  scenario('after no answer in time, if the route says so', async (scope) => {
    const retry = {on: ['timeout'], attempts: 1};
    const {edge} = await pair(scope, () => undefined, {route: {retry, timeouts: {first_byte: '200ms'}}});
    for (let i = 0; i < 2; ++i) assert.equal((await edge.exchange(get())).status, 200);
  });
});

suite('it is not tried again', async () => ({}), () => {
  const refused = async (edge, bytes = get(), method = 'GET') => {
    const answers = [];
    for (let i = 0; i < 2; ++i) answers.push(await edge.exchange(bytes, method));
    return answers.find((answer) => answer.status !== 200);
  };

  scenario('with retry: off', async (scope) => {
    const {edge} = await pair(scope, refuse(503), {route: {retry: 'off'}});
    assert.equal((await refused(edge)).status, 503);
  });

  for (const status of [400, 401, 404, 422, 500]) {
    scenario(`after ${status}`, async (scope) => {
      const {edge} = await pair(scope, refuse(status));
      const answer = await refused(edge);
      assert.equal(answer.status, status);
      assert.equal(answer.body.toString(), 'own');
    });
  }

  scenario('after no answer in time, by default', async (scope) => {
    const {edge} = await pair(scope, () => undefined, {route: {timeouts: {first_byte: '200ms'}}});
    assert.equal((await refused(edge)).status, 504);
  });

  scenario('a POST that was sent, with non_idempotent: false', async (scope) => {
    const {edge} = await pair(scope, reset, {route: {retry: {non_idempotent: false}}});
    assert.equal((await refused(edge, post('x'), 'POST')).status, 502);
    for (let i = 0; i < 2; ++i) assert.equal((await edge.exchange(get())).status, 200);
  });

  scenario('a body that is too large to be kept', async (scope) => {
    const {edge} = await pair(scope, reset);
    const answer = await refused(edge, post('x'.repeat(3 * 1024 * 1024)), 'POST');
    assert.equal(answer.status, 502);
  });

  scenario('when the answer has begun', async (scope) => {
    const {good, edge} = await pair(scope, async (seen, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin');
      connection.half_close();
    });
    const client = await edge.connect();
    client.send(get('/a'));
    await client.read_response().catch(() => undefined);
    const second = await edge.connect();
    second.send(get('/b'));
    await second.read_response().catch(() => undefined);
    assert.equal(good.requests.length, 1);
  });
});

suite('when the attempts are used up', async () => ({}), () => {
  scenario('the last answer reaches the client as it is', async (scope) => {
    const names = ['a', 'b', 'c', 'd'];
    const origins = [];
    for (const name of names) {
      origins.push(await Origin.start(scope, {handler: () => ({status: 503, reason: 'Busy', fields: {'x-own': name, 'retry-after': '7'}, body: `by ${name}`})}));
    }
    const edge = await Brink.start(scope, {backends: origins.map((origin) => origin.url), cluster: wrr});
    const answer = await edge.exchange(get());
    assert.equal(answer.status, 503);
    assert.equal(answer.get('retry-after'), '7');
    assert.equal(answer.body.toString(), `by ${answer.get('x-own')}`);
    assert.equal(origins.reduce((sum, origin) => sum + origin.requests.length, 0), 3);
    const asked = origins.filter((origin) => origin.requests.length > 0);
    assert.equal(asked.length, 3, 'each attempt went to another endpoint');
  });

  scenario('one endpoint that asks to be left alone is left alone', async (scope) => {
    const origin = await Origin.start(scope, {handler: refuse(429, {'retry-after': '30'})});
    const edge = await Brink.start(scope, {backend: origin.url});
    assert.equal((await edge.exchange(get())).status, 429);
    assert.equal(origin.requests.length, 1);
  });

  scenario('one endpoint that is briefly down is asked again', async (scope) => {
    let failures = 2;
    const origin = await Origin.start(scope, {handler: () => failures-- > 0 ? {status: 502, reason: 'Bad'} : {body: 'ok'}});
    const edge = await Brink.start(scope, {backend: origin.url});
    assert.equal((await edge.exchange(get())).body.toString(), 'ok');
    assert.equal(origin.requests.length, 3);
  });

  scenario('the budget bounds what a cluster that fails is asked', async (scope) => {
    const origin = await Origin.start(scope, {handler: refuse(502)});
    const edge = await Brink.start(
        scope, {backend: origin.url, route: {retry: {attempts: 5, budget: '10%', backoff: '0s', max_backoff: '0s'}}});
    const client = await edge.connect();
    for (let i = 0; i < 100; ++i) {
      client.send(get(`/${i}`));
      assert.equal((await client.read_response()).status, 502);
    }
    // A tenth, and 3 in each second that it took.
    assert.ok(origin.requests.length <= 100 + 10 + 3 * 20, `${origin.requests.length}`);
    assert.ok((await edge.metrics()).sum('brink_upstream_retry_budget_exhausted_total') > 10);
  });
});

suite('the time limit of a request', async () => ({}), () => {
  for (const [name, value] of [['x-request-timeout', '300'], ['x-request-timeout', '300ms'], ['grpc-timeout', '300m'], ['x-stainless-timeout', '0.3']]) {
    scenario(`${name}: ${value}`, async (scope) => {
      const origin = await Origin.start(scope, {handler: () => undefined});
      const edge = await Brink.start(scope, {backend: origin.url});
      const began = performance.now();
      const answer = await edge.exchange(get('/', `${name}: ${value}\r\n`));
      assert.ok(performance.now() - began < 5_000);
      assert.equal(answer.status, 504);
      assert.equal(answer.get('x-should-retry'), 'false');
      const {error} = JSON.parse(answer.body);
      assert.equal(error.code, 'deadline_exceeded');
      assert.match(error.message, /deadline/);
      const clusters = (await edge.admin('/clusters')).json.clusters;
      assert.equal(clusters[0].endpoints[0].failures, 0, 'no fault of the endpoint');
    });
  }

  scenario('no attempt begins past it', async (scope) => {
    const {edge, bad} = await pair(scope, () => undefined, {
      route: {retry: {on: ['timeout'], attempts: 5, backoff: '0s'}, timeouts: {first_byte: '400ms'}},
      cluster: {balance: 'least_requests'},
    });
    bad.handler = () => undefined;
    const answer = await edge.exchange(get('/', 'x-request-timeout: 200\r\n'));
    assert.ok(answer.status === 200 || JSON.parse(answer.body).error.code === 'deadline_exceeded');
  });

  scenario('x-stainless-timeout ends with the head: a stream may go on', async (scope) => {
    const origin = await Origin.start(scope, {
      handler: async (seen, connection) => {
        await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegin');
        setTimeout(() => connection.send('ended'), 700);
      },
    });
    const edge = await Brink.start(scope, {backend: origin.url});
    const answer = await edge.exchange(get('/', 'x-stainless-timeout: 0.3\r\n'));
    assert.equal(answer.body.toString(), 'beginended');
  });
});

suite('fallback', async () => ({}), () => {
  scenario('answers when every attempt was answered with an error', async (scope) => {
    const {bad, spare} = await named_origins(scope, ['bad', 'spare']);
    bad.handler = refuse(503);
    spare.handler = (seen) => ({body: `spare ${seen.body.length}`});
    const edge = await Brink.start(scope, {
      clusters: {main: {endpoints: [{url: bad.url}], fallback: 'spare'}, spare: {endpoints: [{url: spare.url}]}},
    });
    const answer = await edge.exchange(post('x'.repeat(5000)), 'POST');
    assert.equal(answer.body.toString(), 'spare 5000');
    assert.equal(answer.get('x-brink-fallback'), 'spare');
    assert.ok(bad.requests.length >= 1);
    await until(() => edge.log_lines().length === 1, 'the access line');
  });
});
