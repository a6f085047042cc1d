// The end of a process: what runs is finished, what is new goes elsewhere, and the exit status says that all went well.
import {strict as assert} from 'node:assert';

import {Backend} from '../support/backend.mjs';
import {Brink} from '../support/brink.mjs';
import {CutShort} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {EchoSocket, EventStream, Requests} from '../support/traffic.mjs';
import {until, within} from '../support/wait.mjs';
import {Wire} from '../support/wire.mjs';

const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;

async function has_ended(edge) {
  const {code} = await within(edge.program.exited, 'the edge to end');
  assert.equal(code, 0, edge.program.report());
}

suite('SIGTERM', async () => ({}), () => {
  async function start(scope, options = {}) {
    const origin = await Origin.start(scope, {handler: () => undefined});
    const edge = await Brink.start(scope, {backend: origin.url, ...options});
    return {origin, edge};
  }

  scenario('under load fails no request, ends no stream and no WebSocket early', async (scope) => {
    const backend = await Backend.start(scope);
    const edge = await Brink.start(scope, {backend: backend.url, node: {workers: 2, drain_timeout: '20s'}});
    const streams = await Promise.all(Array.from({length: 50}, () => EventStream.open(edge)));
    const sockets = await Promise.all(Array.from({length: 50}, () => EchoSocket.open(edge)));
    const requests = new Requests(edge, {connections: 50, rate: 300});
    await until(() => requests.answered > 200, 'traffic to flow');

    edge.program.signal('SIGTERM');
    await edge.program.line(/draining/);
    const echoed = sockets.map((socket) => socket.echoed);
    const events = streams.map((stream) => stream.events);
    await requests.ended();
    await until(
        () => sockets.every((socket, i) => socket.error || socket.echoed > echoed[i] + 5), 'WebSockets to go on');
    await until(() => streams.every((stream, i) => stream.error || stream.events > events[i] + 5), 'streams to go on');
    backend.end_streams();
    await Promise.all(streams.map((stream) => stream.done));
    await Promise.all(sockets.map((socket) => socket.close()));
    await has_ended(edge);

    assert.deepEqual(requests.failures, []);
    assert.equal(requests.answered, requests.sent);
    assert.deepEqual(streams.map((stream) => stream.error).filter(Boolean), []);
    assert.deepEqual(sockets.map((socket) => socket.error).filter(Boolean), []);
  });

  scenario(
      'refuses new connections, is not ready, and lets the answer under way say Connection: close', async (scope) => {
        const {origin, edge} = await start(scope);
        const client = await edge.connect();
        client.send(get('/slow'));
        const {connection} = await origin.next_request();
        edge.program.signal('SIGTERM');
        await edge.program.line(/draining/);
        await until(
            async () =>
                Wire.connect(edge.port).then((wire) => (wire.close(), false), (error) => error.code === 'ECONNREFUSED'),
            'the listener to be closed');
        const ready = await edge.admin('/readyz');
        assert.equal(ready.status, 503);
        assert.match(ready.text, /drain/);
        assert.equal((await edge.admin('/healthz')).status, 200);
        connection.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        const response = await client.read_response();
        assert.equal(response.body.toString(), 'ok');
        assert.equal(response.get('connection'), 'close');
        await has_ended(edge);
      });

  scenario('with nothing under way ends at once', async (scope) => {
    const {edge} = await start(scope, {node: {drain_timeout: '60s'}});
    const idle = await edge.connect();
    idle.send('GET /never HTTP/1.1\r\n');  // half a head is no request
    const began = performance.now();
    edge.program.signal('SIGTERM');
    idle.close();
    await has_ended(edge);
    assert.ok(performance.now() - began < 10_000);
  });

  scenario('cuts what is not finished within drain_timeout, never cleanly', async (scope) => {
    const {origin, edge} = await start(scope, {node: {drain_timeout: '500ms'}});
    const client = await edge.connect();
    client.send(get('/endless'));
    const {connection} = await origin.next_request();
    connection.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n');
    await client.read_until('begin\r\n');
    edge.program.signal('SIGTERM');
    await within(client.closed, 'the edge to cut the answer');
    assert.ok(!client.peek().toString().includes('0\r\n\r\n'), 'no clean end');
    await within(connection.closed, 'the edge to close the connection to the backend');
    await has_ended(edge);
  });

  scenario('twice ends at once', async (scope) => {
    const {origin, edge} = await start(scope, {node: {drain_timeout: '60s'}});
    const client = await edge.connect();
    client.send(get('/endless'));
    await origin.next_request();
    edge.program.signal('SIGTERM');
    await edge.program.line(/draining/);
    edge.program.signal('SIGTERM');
    await within(client.closed, 'the edge to end');
    await has_ended(edge);
    await assert.rejects(client.read_response(), (error) => error instanceof CutShort || error.ended !== undefined);
  });

  scenario('writes the last access lines', async (scope) => {
    const {origin, edge} = await start(scope);
    origin.handler = () => ({body: 'ok'});
    const client = await edge.connect();
    client.send(get('/last'));
    await client.read_response();
    edge.program.signal('SIGTERM');
    await has_ended(edge);
    assert.ok(edge.log_lines().some((line) => line.target === '/last'));
  });
});

suite('POST /drain', async () => ({}), () => {
  scenario('is the same without a signal', async (scope) => {
    const origin = await Origin.start(scope);
    const edge = await Brink.start(scope, {backend: origin.url});
    const {status} = await edge.admin('/drain', {method: 'POST'});
    assert.ok(status === 200 || status === 202);
    await has_ended(edge);
  });
});
