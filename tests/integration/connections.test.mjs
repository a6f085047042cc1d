// Connections on both sides: what is kept, what is closed, who may speak when, and which fields belong to one hop only.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

const request = (path, fields = '', method = 'GET', body = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n${body}`;

async function start(scope) {
  const origin = await Origin.start(scope);
  const edge = await Brink.start(scope, {backend: origin.url});
  return {origin, edge};
}

suite('client connections', start, (shared) => {
  scenario('pipelined requests are answered in order, bodies and all', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = (seen) => ({body: `${seen.target} ${seen.body}`});
    const client = await edge.connect();
    client.send(
        request('/1'), request('/2', 'Content-Length: 4\r\n', 'POST', 'body'),
        request('/3', 'Transfer-Encoding: chunked\r\n', 'POST', '2\r\nok\r\n0\r\n\r\n'), request('/4'));
    for (const expected of ['/1 ', '/2 body', '/3 ok', '/4 ']) {
      assert.equal((await client.read_response()).body.toString(), expected);
    }
    assert.deepEqual(origin.requests.map((seen) => seen.target), ['/1', '/2', '/3', '/4']);
  });

  scenario('1,000 pipelined requests in one write', async () => {
    const {origin, edge} = shared;
    origin.handler = (seen) => ({body: seen.target});
    const client = await edge.connect();
    client.send(Array.from({length: 1000}, (_, i) => request(`/${i}`)).join(''));
    for (let i = 0; i < 1000; ++i) assert.equal((await client.read_response()).body.toString(), `/${i}`);
  });

  scenario('Connection: close ends the connection after the answer', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const client = await edge.connect();
    client.send(request('/last', 'Connection: close\r\n'), request('/never'));
    const response = await client.read_response();
    assert.equal(response.status, 200);
    assert.equal(response.get('connection'), 'close');
    await within(client.closed, 'the edge to close');
    assert.equal(client.peek().length, 0);
    assert.deepEqual(origin.requests.map((seen) => seen.target), ['/last']);
  });

  scenario('a connection without a request is closed after keep_alive', async (scope) => {
    const {origin} = shared;
    const edge = await Brink.start(scope, {backend: origin.url, downstream: {timeouts: {keep_alive: '300ms'}}});
    const client = await edge.connect();
    client.send(request('/one'));
    await client.read_response();
    assert.equal(await within(client.closed, 'the edge to close'), 'end');
    assert.equal(client.peek().length, 0, 'an idle close says nothing');
  });

  scenario('connections past the limit are closed, those before it live', async (scope) => {
    const {origin} = shared;
    const edge = await Brink.start(scope, {backend: origin.url, downstream: {limits: {connections: 2}}});
    const kept = [await edge.connect(), await edge.connect()];
    for (const client of kept) {
      client.send(request('/kept'));
      assert.equal((await client.read_response()).status, 200);
    }
    const third = await edge.connect();
    await within(third.closed, 'the edge to close');
    kept[0].send(request('/again'));
    assert.equal((await kept[0].read_response()).status, 200);
  });
});

suite('backend connections', start, (shared) => {
  scenario('are reused, also for other clients', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const before = origin.connections.length;
    origin.handler = () => ({body: 'ok'});
    for (let i = 0; i < 5; ++i) assert.equal((await edge.exchange(request('/'))).status, 200);
    assert.ok(
        origin.connections.length <= Math.max(1, before), `${origin.connections.length} connections for 5 requests`);
    const metrics = await edge.metrics();
    assert.ok(metrics.names().some((name) => /^brink_upstream_.*reuse/.test(name)), metrics.names().join(' '));
  });

  scenario('are not reused when the backend says Connection: close', async () => {
    const {origin, edge} = shared;
    const used = [];
    origin.handler = (_, connection) => {
      used.push(connection);
      return {fields: {Connection: 'close'}, body: 'ok'};
    };
    for (let i = 0; i < 2; ++i) {
      const client = await edge.connect();
      client.send(request('/'));
      const response = await client.read_response();
      assert.notEqual(response.get('connection'), 'close', 'the backend’s close is not the client’s');
      client.close();
    }
    assert.notEqual(used[0], used[1]);
  });

  scenario('closed by the backend while idle are never handed out', async () => {
    const {origin, edge} = shared;
    origin.handler = () => ({body: 'ok'});
    for (let i = 0; i < 20; ++i) {
      const response = await edge.exchange(request('/', 'Content-Length: 1\r\n', 'POST', 'x'), 'POST');
      assert.equal(response.status, 200, response.body.toString());
      await Promise.all(origin.connections.filter((connection) => !connection.ended).map((connection) => {
        connection.half_close();
        return within(connection.closed, 'the edge to close its idle connection');
      }));
    }
  });

  scenario('a request that meets a close on a reused connection is sent once more', async () => {
    const {origin, edge} = shared;
    origin.handler = () => ({body: 'warm'});
    assert.equal((await edge.exchange(request('/warm'))).status, 200);
    origin.forget();
    origin.handler = (_, connection) => {
      if (origin.requests.length > 1) return {body: 'second try'};
      connection.close();
    };
    const response = await edge.exchange(request('/again'));
    assert.equal(response.body.toString(), 'second try');
    assert.equal(origin.requests.length, 2);
  });

  scenario('a request that meets a close on a fresh connection is not repeated with retry: off', async (scope) => {
    const origin = await Origin.start(scope);
    const edge = await Brink.start(scope, {backend: origin.url, route: {retry: 'off'}});
    origin.handler = (_, connection) => connection.close();
    const response = await edge.exchange(request('/once', 'Content-Length: 1\r\n', 'POST', 'x'), 'POST');
    assert.equal(response.status, 502);
    assert.equal(JSON.parse(response.body).error.code, 'upstream_reset');
    assert.equal(origin.requests.length, 1);
  });

  scenario('nobody listens: 502 names it', async (scope) => {
    const gone = await Origin.start(scope);
    await gone.stop();
    const edge = await Brink.start(scope, {backend: gone.url});
    const response = await edge.exchange(request('/'));
    assert.equal(response.status, 502);
    assert.equal(JSON.parse(response.body).error.code, 'connect_failed');
    const line = await edge.log_line((entry) => entry.error === 'connect_failed');
    assert.equal(line.endpoint, gone.name);
  });
});

suite('fields of one hop', start, (shared) => {
  scenario('a request’s hop-by-hop and nominated fields stop here', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const fields =
        'Connection: keep-alive, X-Secret\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n' +
        'TE: gzip\r\nUpgrade: h2c\r\nX-Stays: 1\r\n';
    assert.equal((await edge.exchange(request('/', fields))).status, 200);
    const seen = await origin.next_request();
    for (const name of ['x-secret', 'keep-alive', 'proxy-connection', 'te', 'upgrade']) {
      assert.deepEqual(seen.all(name), [], name);
    }
    assert.equal(seen.get('x-stays'), '1');
  });

  scenario('an answer’s hop-by-hop and nominated fields stop here', async () => {
    const {origin, edge} = shared;
    origin.handler = () => ({
      fields: {
        'Connection': 'keep-alive, X-Secret',
        'X-Secret': '1',
        'Keep-Alive': 'timeout=5',
        'Proxy-Connection': 'x',
        'X-Stays': '1'
      },
    });
    const response = await edge.exchange(request('/'));
    for (const name of ['x-secret', 'keep-alive', 'proxy-connection']) assert.deepEqual(response.all(name), [], name);
    assert.equal(response.get('x-stays'), '1');
    assert.doesNotMatch(response.get('connection') ?? '', /x-secret/i);
  });

  // A client that nominates what the backend relies on tries to strip it (CVE-2021-32813): refused, or without effect.
  for (const name
           of ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Via', 'X-Request-Id', 'Traceparent',
               'Host']) {
    scenario(`a client cannot nominate away ${name}`, async () => {
      const {origin, edge} = shared;
      origin.forget();
      const response = await edge.exchange(request('/', `Connection: close, ${name}\r\n`));
      if (response.status === 400) return assert.deepEqual(origin.requests, []);
      assert.equal(response.status, 200);
      return assert.equal((await origin.next_request()).all(name.toLowerCase()).length, 1);
    });
  }

  scenario('a client cannot nominate away the framing', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const response = await edge.exchange(
        request('/', 'Connection: close, Content-Length\r\nContent-Length: 2\r\n', 'POST', 'ok'), 'POST');
    if (response.status === 400) return assert.deepEqual(origin.requests, []);
    return assert.equal((await origin.next_request()).body.toString(), 'ok');
  });
});
