// The bytes of a tunnel after the 101: both directions on their own, back-pressure, half-close, the idle limit, and
// what a backend may not do to get there.
import {strict as assert} from 'node:assert';
import {createHash} from 'node:crypto';

import {Brink} from '../support/brink.mjs';
import {pieces_of} from '../support/hash.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until, until_still, within} from '../support/wait.mjs';

const mebibyte = 1024 * 1024;
const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
const upgrade = (path = '/socket') => `GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\n` +
    `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;
const switching = (value = accept, fields = 'Connection: Upgrade\r\nUpgrade: websocket\r\n') =>
    `HTTP/1.1 101 Switching Protocols\r\n${fields}Sec-WebSocket-Accept: ${value}\r\n\r\n`;

async function start(scope, options = {}) {
  const origin = await Origin.start(scope, {
    keep_bytes: false,
    handler: (_, connection) => {
      connection.tunnel = true;
      return switching();
    },
  });
  const edge = await Brink.start(scope, {backend: origin.url, ...options});
  return {origin, edge};
}

const load_of = async (edge) => (await edge.metrics()).sum('brink_upstream_in_flight');

// Whatever became of it, a tunnel is nothing on either side once both have closed.
async function open({origin, edge}, scope) {
  const client = await edge.connect();
  client.send(upgrade());
  const response = await client.read_response();
  assert.equal(response.status, 101);
  assert.equal(response.get('sec-websocket-accept'), accept);
  const {connection} = await origin.next_request();
  scope.after(async () => {
    client.close();
    connection.close();
    await until(async () => (await load_of(edge)) === 0, 'the endpoint to be free');
  });
  return {client, connection};
}

suite('a tunnel', start, (shared) => {
  scenario('carries any bytes both ways', async (scope) => {
    const {client, connection} = await open(shared, scope);
    const bytes = Buffer.from(Array.from({length: 256}, (_, i) => i));
    client.send(bytes);
    assert.deepEqual(await connection.read_exactly(256), bytes);
    connection.send(bytes);
    assert.deepEqual(await client.read_exactly(256), bytes);
    client.close();
    await within(connection.closed, 'the edge to close the connection to the backend');
  });

  scenario('passes the handshake’s fields and adds its own', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const client = await edge.connect();
    client.send(upgrade('/socket?model=m')
                    .replace('\r\n\r\n', '\r\nSec-WebSocket-Protocol: a, b\r\nOrigin: https://a.test\r\n\r\n'));
    await client.read_response();
    const seen = await origin.next_request();
    assert.equal(seen.target, '/socket?model=m');
    assert.equal(seen.get('sec-websocket-protocol'), 'a, b');
    assert.equal(seen.get('sec-websocket-key'), key);
    assert.equal(seen.get('origin'), 'https://a.test');
    assert.match(seen.get('connection'), /^upgrade$/i);
    assert.equal(seen.get('upgrade'), 'websocket');
    assert.equal(seen.get('via'), '1.1 brink');
    client.close();
    seen.connection.close();
  });

  scenario('delivers what the client sent with its upgrade, after the 101 only', async (scope) => {
    const {origin, edge} = shared;
    const answer = origin.handler;
    scope.after(() => (origin.handler = answer));
    let answered;
    origin.handler = (_, connection) => {
      answered = connection.bytes_read;
      return answer(_, connection);
    };
    const early = 'early '.repeat(10_000);
    const client = await edge.connect();
    client.send(upgrade(), early);
    assert.equal((await client.read_response()).status, 101);
    const seen = await origin.next_request();
    assert.equal(answered, seen.raw.length, 'nothing but the head came before the 101');
    assert.equal((await seen.connection.read_exactly(early.length)).toString(), early);
    client.close();
    seen.connection.close();
  });

  scenario('stays half open when the client has ended its side', async (scope) => {
    const {client, connection} = await open(shared, scope);
    client.send('last words');
    client.half_close();
    assert.equal((await connection.read_exactly(10)).toString(), 'last words');
    assert.equal(await within(connection.closed, 'the end of the client’s side'), 'end');
    connection.send('still here');
    assert.equal((await client.read_exactly(10)).toString(), 'still here');
    connection.half_close();
    assert.equal(await within(client.closed, 'the end of the backend’s side'), 'end');
  });

  scenario('stays half open when the backend has ended its side', async (scope) => {
    const {client, connection} = await open(shared, scope);
    connection.send('last words');
    connection.half_close();
    assert.equal((await client.read_exactly(10)).toString(), 'last words');
    assert.equal(await within(client.closed, 'the end of the backend’s side'), 'end');
    client.send('still here');
    assert.equal((await connection.read_exactly(10)).toString(), 'still here');
    client.half_close();
    assert.equal(await within(connection.closed, 'the end of the client’s side'), 'end');
  });

  for (const [from, to] of [['client', 'connection'], ['connection', 'client']]) {
    scenario(`holds up the ${from} while the other side does not read`, async (scope) => {
      const sides = await open(shared, scope);
      const before = shared.edge.resident_bytes();
      sides[to].pause();
      let sent = 0;
      const flood = (async () => {
        for (const piece of pieces_of(256 * mebibyte)) {
          await sides[from].send(piece);
          if (sides[from].socket.destroyed) return;
          sent += piece.length;
        }
      })();
      await until_still(() => sent, 'the sender to be held up');
      assert.ok(sent < 64 * mebibyte, `${sent} bytes went out while nobody read`);
      assert.ok(shared.edge.resident_bytes() - before < 16 * mebibyte);
      // The other direction goes on.
      sides[to].send('hello');
      assert.equal((await sides[from].read_exactly(5)).toString(), 'hello');
      sides.client.close();
      sides.connection.close();
      await flood;
    });
  }

  scenario('counts as load on its endpoint, and is logged when it ends', async (scope) => {
    const {edge} = shared;
    const {client, connection} = await open(shared, scope);
    assert.equal(await load_of(edge), 1);
    client.send('12345');
    await connection.read_exactly(5);
    client.close();
    connection.half_close();
    await until(async () => (await load_of(edge)) === 0, 'the endpoint to be free');
    const line = await edge.log_line((entry) => entry.status === 101 && entry.bytes_in === 5);
    assert.equal(line.route, 'all');
  });

  // Both ends vanish while the one has more to send than the other takes.
  for (const first of ['client', 'connection']) {
    scenario(`is over when both ends vanish in full flow, the ${first} first`, async (scope) => {
      const sides = await open(shared, scope);
      sides.connection.pause();
      let sent = 0;
      for (const piece of pieces_of(64 * mebibyte)) sides.client.send(piece).then(() => (sent += piece.length));
      await until_still(() => sent, 'the client to be held up');
      sides[first].reset();
      sides[first === 'client' ? 'connection' : 'client'].reset();
    });
  }
});

suite('the idle limit of a tunnel', (scope) => start(scope, {route: {timeouts: {tunnel: '400ms'}}}), (shared) => {
  scenario('closes it when no byte goes either way', async (scope) => {
    const {client, connection} = await open(shared, scope);
    await within(Promise.all([client.closed, connection.closed]), 'both sides to be closed');
    const line = await shared.edge.log_line((entry) => entry.status === 101);
    assert.equal(line.error, 'tunnel_timeout');
  });

  scenario('does not close it while bytes go one way', async (scope) => {
    const {client, connection} = await open(shared, scope);
    for (let i = 0; i < 10; ++i) {
      connection.send('tick');
      await client.read_exactly(4);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    client.send('tock');
    await connection.read_exactly(4);
    client.close();
  });
});

suite('a backend that answers an upgrade wrongly', start, (shared) => {
  const wrong = [
    ['with another accept value', switching('AAAAAAAAAAAAAAAAAAAAAAAAAAA=')],
    [
      'without an accept value', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    ],
    ['for another protocol', switching(accept, 'Connection: Upgrade\r\nUpgrade: h2c\r\n')],
    ['without Connection: upgrade', switching(accept, 'Upgrade: websocket\r\n')],
  ];
  for (const [what, answer] of wrong) {
    scenario(`${what} is 502`, async () => {
      const {origin, edge} = shared;
      let connection;
      origin.handler = (_, used) => {
        connection = used;
        used.tunnel = true;
        return answer;
      };
      const response = await edge.exchange(upgrade());
      assert.equal(response.status, 502);
      assert.match(JSON.parse(response.body).error.code, /^(upgrade_refused|upstream_malformed)$/);
      await within(connection.closed, 'the edge to close the connection to the backend');
    });
  }

  scenario('with a refusal of its own is passed on', async () => {
    const {origin, edge} = shared;
    origin.handler = () =>
        ({status: 401, reason: 'Unauthorized', fields: {'WWW-Authenticate': 'Bearer'}, body: 'who are you'});
    const response = await edge.exchange(upgrade());
    assert.equal(response.status, 401);
    assert.equal(response.get('www-authenticate'), 'Bearer');
    assert.equal(response.body.toString(), 'who are you');
  });
});
