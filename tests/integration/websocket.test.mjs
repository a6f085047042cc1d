// The npm package `ws` on both ends: it must see through the edge exactly what it sees when it connects directly.
import {strict as assert} from 'node:assert';
import {WebSocket} from 'ws';

import {Backend} from '../support/backend.mjs';
import {Brink} from '../support/brink.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until, within} from '../support/wait.mjs';

const mebibyte = 1024 * 1024;

// A client that keeps what it sees, in order.
class Client {
  constructor(url, {protocols = [], ...options} = {}) {
    this.trace = [];
    const opened = deferred();
    const closed = deferred();
    this.closed = closed.promise;
    this.socket = new WebSocket(url.replace('http', 'ws'), protocols, options);
    this.waiting_ = null;
    const note = (...event) => {
      this.trace.push(event);
      this.waiting_?.();
    };
    this.socket.on('open', () => opened.resolve(note('open', this.socket.protocol, this.socket.extensions)));
    this.socket.on('message', (data, is_binary) => note('message', is_binary, is_binary ? data : String(data)));
    this.socket.on('ping', (data) => note('ping', String(data)));
    this.socket.on('pong', (data) => note('pong', String(data)));
    this.socket.on('error', (error) => {
      note('error', error.code ?? error.message);
      opened.reject(error);
    });
    this.socket.on('close', (code, reason) => closed.resolve(note('close', code, String(reason))));
    this.opened = opened.promise;
    this.opened.catch(() => {});
  }

  static async open(url, options) {
    const client = new Client(url, options);
    await within(client.opened, 'the WebSocket to open');
    return client;
  }

  // Waits until `count` events of that kind were seen.
  async seen(kind, count = 1) {
    const enough = () => this.trace.filter(([name]) => name === kind).length >= count;
    while (!enough()) await within(new Promise((resolve) => (this.waiting_ = resolve)), `${count} ${kind}`);
  }

  end() {
    return within(this.closed, 'the WebSocket to close');
  }
}

// [what, options of the backend, what the client does]; the trace is compared with that of a direct connection.
const conversations = [
  ['text and binary messages', {}, async (client) => {
    client.socket.send('grüße');
    client.socket.send('');
    client.socket.send(Buffer.from([0, 1, 255]));
    await client.seen('message', 3);
    client.socket.close(1000, 'done');
  }],
  ['a fragmented message with a ping inside', {}, async (client) => {
    client.socket.send('one ', {fin: false});
    client.socket.ping('between');
    client.socket.send('two ', {fin: false});
    client.socket.send('', {fin: false});
    client.socket.send('three', {fin: true});
    await client.seen('message');
    client.socket.close(1000);
  }],
  ['a 16 MiB message', {}, async (client) => {
    client.socket.send(Buffer.alloc(16 * mebibyte, 'abc'));
    await client.seen('message');
    client.socket.close(1000);
  }],
  ['permessage-deflate', {sockets: {perMessageDeflate: {threshold: 0}}}, async (client) => {
    assert.match(client.socket.extensions, /permessage-deflate/);
    for (let i = 0; i < 20; ++i) client.socket.send('the same words again '.repeat(1000) + i);
    await client.seen('message', 20);
    client.socket.close(1000);
  }],
  ['pings of both sides', {on_socket: (socket) => {
    socket.ping('are you there');
    socket.on('pong', (data) => socket.send(`pong ${data}`));
    socket.on('message', () => socket.close(1000, 'bye'));
  }}, async (client) => {
    await client.seen('message');
    client.socket.ping('and you');
    await client.seen('pong');
    client.socket.send('end');
  }],
  ['a close code of the application', {}, (client) => client.socket.close(4321, 'because')],
  ['a close by the backend', {on_socket: (socket) => socket.close(1013, 'try again later')}, () => {}],
  ['a backend that vanishes', {on_socket: (socket) => socket.send('last', () => socket.terminate())}, () => {}],
  ['a message that the backend finds too big', {sockets: {maxPayload: 100}}, (client) => client.socket.send('x'.repeat(200))],
  ['a frame that is none', {on_socket: (socket) => socket._socket.write(Buffer.from([0xff, 0x7f, 0, 0]))}, () => {}],
  ['messages in the same packet as the 101', {on_socket: (socket) => {
    for (let i = 0; i < 10; ++i) socket.send(`early ${i}`);
    socket.close(1000);
  }}, () => {}],
  ['ten thousand small messages', {}, async (client) => {
    for (let i = 0; i < 10_000; ++i) client.socket.send(String(i));
    await client.seen('message', 10_000);
    client.socket.close(1000);
  }],
];

suite('through the edge a WebSocket is the same', async () => ({}), () => {
  for (const [what, options, talk] of conversations) {
    scenario(what, async (scope) => {
      const backend = await Backend.start(scope, options);
      const edge = await Brink.start(scope, {backend: backend.url});
      const traces = [];
      for (const url of [backend.url, edge.url]) {
        const client = await Client.open(url, {maxPayload: 64 * mebibyte});
        await talk(client);
        await client.end();
        traces.push(client.trace);
      }
      assert.deepEqual(traces[1], traces[0]);
    });
  }

  scenario('a client that vanishes is gone for the backend', async (scope) => {
    const closed = deferred();
    const backend =
        await Backend.start(scope, {on_socket: (socket) => socket.on('close', closed.resolve).on('error', () => {})});
    const edge = await Brink.start(scope, {backend: backend.url});
    const client = await Client.open(edge.url);
    client.socket.terminate();
    assert.equal(await within(closed.promise, 'the backend to see the close'), 1006);
  });
});

suite(
    'subprotocols',
    async (scope) => {
      const sim = await GpuSim.start(scope);
      const edge = await Brink.start(scope, {backend: sim.url});
      return {sim, edge};
    },
    (shared) => {
      scenario('a browser’s credentials reach the realtime API, which selects `realtime`', async () => {
        const client = await Client.open(`${shared.edge.url}/v1/realtime?model=sim`, {
          protocols: ['realtime', 'openai-insecure-api-key.sk-test'],
        });
        assert.equal(client.socket.protocol, 'realtime');
        client.socket.send('{"type":"session.update"}');
        await client.seen('message');
        client.socket.close(1000);
        await client.end();
        assert.deepEqual(client.trace.at(-1), ['close', 1000, '']);
      });
    });

suite(
    'an upgrade that is refused',
    async (scope) => {
      const backend = await Backend.start(scope);
      const gone = await Backend.start(scope);
      await gone.stop();
      const cluster = (url, limits = {}) => ({endpoints: [{url}], limits});
      const edge = await Brink.start(scope, {
        clusters: {
          main: cluster(backend.url),
          gone: cluster(gone.url),
          one: cluster(backend.url, {per_endpoint_requests: 1})
        },
        routes: [
          {name: 'main', match: {path_prefix: '/socket'}, cluster: 'main'},
          {name: 'gone', match: {path_prefix: '/gone'}, cluster: 'gone'},
          {name: 'one', match: {path_prefix: '/one'}, cluster: 'one'},
          {name: 'post', match: {path_prefix: '/post', methods: ['POST']}, cluster: 'main'},
        ],
      });
      return {backend, edge};
    },
    (shared) => {
      const fields = {
        'Host': 'a.test',
        'Connection': 'Upgrade',
        'Upgrade': 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      };
      const ask = (path, changes = {}, method = 'GET') => {
        const all = Object.entries({...fields, ...changes}).filter(([, value]) => value !== null);
        return shared.edge.exchange(
            `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
            method);
      };

      const cases = [
        ['without a key', '/socket', {'Sec-WebSocket-Key': null}, 400, 'bad_upgrade'],
        ['with a key that is too short', '/socket', {'Sec-WebSocket-Key': 'c2hvcnQ='}, 400, 'bad_upgrade'],
        [
          'with a key that is no base64', '/socket', {'Sec-WebSocket-Key': '!!!!!!!!!!!!!!!!!!!!!!=='}, 400,
          'bad_upgrade'
        ],
        ['without a version', '/socket', {'Sec-WebSocket-Version': null}, 400, 'bad_upgrade'],
        ['to a path without a route', '/none', {}, 404, 'no_route'],
        ['by a method that the route does not take', '/post', {}, 405, 'method_not_allowed'],
        ['of an old version', '/socket', {'Sec-WebSocket-Version': '8'}, 426, 'upgrade_required'],
        ['to a backend that is down', '/gone', {}, 502, 'connect_failed'],
      ];
      for (const [what, path, changes, status, code] of cases) {
        scenario(`${what} is ${status}`, async () => {
          const response = await ask(path, changes);
          assert.equal(response.status, status);
          assert.equal(JSON.parse(response.body).error.code, code);
          if (status === 426) assert.equal(response.get('sec-websocket-version'), '13');
        });
      }

      scenario('by POST is 400', async () => {
        assert.equal((await ask('/socket', {}, 'POST')).status, 400);
      });

      scenario('to a full endpoint is 503, and a tunnel counts until it ends', async () => {
        const first = await Client.open(`${shared.edge.url}/one`);
        const refused = await ask('/one');
        assert.equal(refused.status, 503);
        assert.match(refused.get('retry-after') ?? '', /^\d+$/);
        first.socket.close(1000);
        await first.end();
        const next = await until(async () => {
          const client = new Client(`${shared.edge.url}/one`);
          return client.opened.then(() => client, () => null);
        }, 'the endpoint to take a tunnel again');
        next.socket.close(1000);
        await next.end();
      });
    });

suite(
    'many tunnels',
    async (scope) => {
      const backend = await Backend.start(scope, {sockets: {perMessageDeflate: false}});
      const edge =
          await Brink.start(scope, {backend: backend.url, cluster: {limits: {connections: 4096, requests: 4096}}});
      return {backend, edge};
    },
    (shared) => {
      scenario('1,000 at once, each with its own messages', async () => {
        const {edge, backend} = shared;
        const clients = [];
        for (let at = 0; at < 1000; at += 50) {
          const batch = Array.from({length: 50}, () => Client.open(edge.url, {perMessageDeflate: false}));
          clients.push(...await Promise.all(batch));
        }
        assert.equal(backend.sockets.clients.size, 1000);
        assert.equal((await edge.metrics()).sum('brink_tunnels_open'), 1000);
        clients.forEach((client, i) => {
          for (let n = 0; n < 3; ++n) client.socket.send(`client ${i} message ${n}`);
        });
        await Promise.all(clients.map((client) => client.seen('message', 3)));
        clients.forEach((client, i) => {
          const messages = client.trace.filter(([kind]) => kind === 'message').map(([, , text]) => text);
          assert.deepEqual(messages, [0, 1, 2].map((n) => `client ${i} message ${n}`));
        });
        for (const client of clients) client.socket.close(1000);
        await Promise.all(clients.map((client) => client.end()));
        await until(async () => (await edge.metrics()).sum('brink_tunnels_open') === 0, 'every tunnel to be over');
        const {json} = await edge.admin('/clusters');
        assert.ok(JSON.stringify(json).includes('"in_flight":0'), JSON.stringify(json));
      });
    });
