// The four limits on a backend's time. Each expiry names itself in the reply, the access log and the metrics, and the
// connection to the backend is closed.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {full_backlog} from '../support/full_backlog.mjs';
import {CutShort} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;

async function start(scope, timeouts) {
  const origin = await Origin.start(scope);
  const edge =
      await Brink.start(scope, {backend: origin.url, route: {timeouts: {idle: '10s', total: '20s', ...timeouts}}});
  return {origin, edge};
}

async function is_named(edge, path, code, status) {
  const line = await edge.log_line((entry) => entry.target === path);
  assert.equal(line.error, code);
  assert.equal(line.status, status);
  const metrics = await edge.metrics();
  assert.ok(
      metrics.samples.some((item) => Object.values(item.labels).includes(code) && item.value > 0),
      `no metric names ${code}`);
}

suite('a limit that expires before the answer began is 504', async () => ({}), () => {
  scenario('first_byte', async (scope) => {
    const {origin, edge} = await start(scope, {first_byte: '200ms'});
    origin.handler = () => undefined;
    const response = await edge.exchange(get('/slow'));
    assert.equal(response.status, 504);
    const {error} = JSON.parse(response.body);
    assert.equal(error.code, 'first_byte_timeout');
    assert.match(error.message, /first_byte/);
    const seen = await origin.next_request();
    await within(seen.connection.closed, 'the edge to close the connection to the backend');
    await is_named(edge, '/slow', 'first_byte_timeout', 504);
  });

  scenario('first_byte starts when the request is sent, not when it begins', async (scope) => {
    const {origin, edge} = await start(scope, {first_byte: '500ms'});
    origin.handler = () => ({body: 'ok'});
    const client = await edge.connect();
    const pieces = 8;
    client.send(`POST /upload HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${pieces}\r\n\r\n`);
    const began = performance.now();
    for (let i = 0; i < pieces; ++i) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      client.send('x');
    }
    assert.ok(performance.now() - began > 500);
    assert.equal((await client.read_response('POST')).status, 200);
  });

  // The upload never ends, so neither first_byte nor idle has begun to count.
  scenario('total', async (scope) => {
    const {edge} = await start(scope, {total: '300ms', idle: '300ms', first_byte: '300ms'});
    const response =
        await edge.exchange('POST /long HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nbegin', 'POST');
    assert.equal(response.status, 504);
    assert.equal(JSON.parse(response.body).error.code, 'total_timeout');
    await is_named(edge, '/long', 'total_timeout', 504);
  });
});

suite('a limit that expires inside the answer breaks it', async () => ({}), () => {
  async function is_broken(edge, path) {
    const client = await edge.connect();
    client.send(get(path));
    await assert.rejects(
        client.read_response(), (error) => error instanceof CutShort && error.partial.toString() === 'begin');
    client.close();
  }

  scenario('idle', async (scope) => {
    const {origin, edge} = await start(scope, {idle: '300ms'});
    origin.handler = (_, connection) => {
      connection.send('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nbegin');
    };
    await is_broken(edge, '/idle');
    const seen = await origin.next_request();
    await within(seen.connection.closed, 'the edge to close the connection to the backend');
    await is_named(edge, '/idle', 'idle_timeout', 200);
  });

  scenario('total, though bytes keep coming', async (scope) => {
    const {origin, edge} = await start(scope, {total: '500ms', idle: '400ms', first_byte: '400ms'});
    origin.handler = (_, connection) => {
      connection.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const ticks = setInterval(() => connection.send('1\r\nx\r\n'), 50);
      connection.closed.then(() => clearInterval(ticks));
    };
    const client = await edge.connect();
    client.send(get('/total'));
    await assert.rejects(client.read_response(), CutShort);
    await is_named(edge, '/total', 'total_timeout', 200);
  });

  scenario('idle does not expire while bytes keep coming', async (scope) => {
    const {origin, edge} = await start(scope, {idle: '400ms'});
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n');
      for (let i = 0; i < 10; ++i) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        await connection.send('x');
      }
    };
    assert.equal((await edge.exchange(get('/steady'))).body.length, 10);
  });

  scenario('idle does not expire because the client is slow', async (scope) => {
    const {origin, edge} = await start(scope, {idle: '300ms'});
    const size = 32 * 1024 * 1024;
    origin.handler = () => ({body: Buffer.alloc(size, 'x')});
    const client = await edge.connect();
    client.pause();
    client.send(get('/slow-client'));
    await new Promise((resolve) => setTimeout(resolve, 1200));
    assert.equal((await client.read_response()).body.length, size);
  });
});

suite('connect', async () => ({}), () => {
  scenario('expires with its own name', async (scope) => {
    const port = await full_backlog(scope);
    const edge = await Brink.start(scope, {backend: `http://127.0.0.1:${port}`, route: {timeouts: {connect: '300ms'}}});
    const response = await edge.exchange(get('/connect'));
    assert.equal(response.status, 504);
    const {error} = JSON.parse(response.body);
    assert.equal(error.code, 'connect_timeout');
    assert.match(error.message, /connect/);
    await is_named(edge, '/connect', 'connect_timeout', 504);
  });
});
