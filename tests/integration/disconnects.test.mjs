// A client that goes away must not keep a backend busy: its connection there is closed at once, whatever stage the
// exchange was in, and nothing of it counts as load any more.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until, until_still, within} from '../support/wait.mjs';

const at_once_ms = 2_000;  // microseconds on an idle machine; far below every timeout of the edge
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;

async function start(scope) {
  const origin =
      await Origin.start(scope, {bodies: 'manual', handler: (_, connection) => void (connection.tunnel = true)});
  const edge = await Brink.start(scope, {backend: origin.url});
  return {origin, edge};
}

async function is_let_go(edge, connection, path) {
  await within(connection.closed, 'the edge to close the connection to the backend', at_once_ms);
  const line = await edge.log_line((entry) => entry.target === path);
  assert.equal(line.error, 'client_gone');
  assert.equal(line.complete, false);
  await until(async () => {
    const {json} = await edge.admin('/clusters');
    return JSON.stringify(json).includes('"in_flight":0');
  }, 'the endpoint to be free');
}

// [stage, path, what happens before the client goes]
const stages = [
  [
    'before the first byte', '/waiting',
    async (client, origin) => {
      client.send(get('/waiting'));
      return (await origin.next_request()).connection;
    }
  ],
  [
    'after the head', '/head',
    async (client, origin) => {
      client.send(get('/head'));
      const {connection} = await origin.next_request();
      connection.send('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
      await client.read_head();
      return connection;
    }
  ],
  [
    'in the middle of a stream', '/stream',
    async (client, origin) => {
      client.send(get('/stream'));
      const {connection} = await origin.next_request();
      connection.send(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
          chunk('data: 1\n\n'));
      await client.read_until('data: 1\n\n');
      return connection;
    }
  ],
  [
    'while uploading', '/upload',
    async (client, origin) => {
      client.send('POST /upload HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000\r\n\r\nhalf');
      const {connection} = await origin.next_request();
      await connection.read_until('half');
      return connection;
    }
  ],
  [
    'with a pipelined request waiting', '/first',
    async (client, origin) => {
      client.send(get('/first'), get('/second'));
      return (await origin.next_request()).connection;
    }
  ],
  [
    'while it does not read', '/deaf',
    async (client, origin) => {
      client.send(get('/deaf'));
      const {connection} = await origin.next_request();
      connection.send('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
      await client.read_head();
      client.pause();
      for (let full = false; !full;) {
        const taken = connection.send(Buffer.alloc(1024 * 1024)).then(() => true);
        full = !(await Promise.race([taken, new Promise((resolve) => setTimeout(resolve, 500, false))]));
      }
      return connection;
    }
  ],
];

for (const how of ['close', 'reset']) {
  suite(`a client that goes by ${how}`, start, (shared) => {
    for (const [stage, path, reach] of stages) {
      scenario(stage, async () => {
        const {origin, edge} = shared;
        origin.forget();
        const client = await edge.connect();
        const connection = await reach(client, origin);
        client[how]();
        await is_let_go(edge, connection, path);
        assert.ok(!origin.received().includes('/second'), 'nothing more is sent for a client that is gone');
      });
    }
  });
}

suite('a client that is reset while the backend does not read its upload', start, (shared) => {
  scenario('frees the backend too', async () => {
    const {origin, edge} = shared;
    const client = await edge.connect();
    client.send('POST /stuck HTTP/1.1\r\nHost: a.test\r\nContent-Length: 16000000\r\n\r\n');
    let sent = 0;
    for (let i = 0; i < 15; ++i) client.send(Buffer.alloc(1_000_000)).then(() => (sent += 1));
    const {connection} = await origin.next_request();
    connection.pause();
    await until_still(() => sent, 'the upload to be held up');
    client.reset();
    await edge.log_line((entry) => entry.target === '/stuck', 'the edge to notice', at_once_ms);
    connection.close();
  });
});

suite('after many aborted requests', start, (shared) => {
  scenario('nothing is left of them', async () => {
    const {origin, edge} = shared;
    for (let i = 0; i < 200; ++i) {
      const client = await edge.connect();
      client.send(get('/abort'));
      const {connection} = await origin.next_request();
      client.close();
      await within(connection.closed, 'the edge to close the connection to the backend');
    }
    const {json} = await edge.admin('/clusters');
    assert.ok(JSON.stringify(json).includes('"in_flight":0'), JSON.stringify(json));
    assert.equal((await edge.metrics()).sum('brink_requests_in_flight'), 0);
  });
});
