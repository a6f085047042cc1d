// The configuration changes while everything runs: nothing that is under way may notice, and a file with mistakes
// changes nothing at all.
import {strict as assert} from 'node:assert';

import {Backend} from '../support/backend.mjs';
import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {EchoSocket, EventStream, Requests} from '../support/traffic.mjs';
import {until, within} from '../support/wait.mjs';
import {Wire} from '../support/wire.mjs';

const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`;
const clusters = (url) => ({main: {endpoints: [{url}]}});
const all = {
  name: 'all',
  match: {path_prefix: '/'},
  cluster: 'main'
};

async function reload_ok(edge, options) {
  edge.write_config(options);
  const {status, text} = await edge.reload();
  assert.equal(status, 200, text);
}

suite(
    'under load',
    async (scope) => {
      const backends = [await Backend.start(scope), await Backend.start(scope)];
      const env = {ASAN_OPTIONS: 'quarantine_size_mb=1'};
      const edge =
          await Brink.start(scope, {clusters: clusters(backends[0].url), routes: [all], node: {workers: 2}, env});
      return {backends, edge};
    },
    (shared) => {
      // Routes, limits, endpoints and listeners differ from one generation to the next.
      function generation(n) {
        const endpoints = shared.backends.slice(0, 1 + (n % 2)).map(({url}) => ({url, weight: 1 + (n % 3)}));
        const extra = Array.from(
            {length: n % 5},
            (_, i) => ({name: `extra-${i}`, match: {path: `/extra/${n}/${i}`}, respond: {status: 204}}));
        return {
          clusters: {main: {endpoints, balance: ['score', 'least_requests', 'weighted_round_robin'][n % 3]}},
          routes: [...extra, {...all, timeouts: {idle: `${20 + n}s`}}],
          listeners: [{address: '127.0.0.1:0'}, ...(n % 4 === 0 ? [{address: '127.0.0.2:0'}] : [])],
          node: {workers: 2},
        };
      }

      scenario('50 reloads, 10 of them invalid, lose no request, no event and no message', async () => {
        const {backends, edge} = shared;
        const streams = await Promise.all(Array.from({length: 50}, () => EventStream.open(edge)));
        const sockets = await Promise.all(Array.from({length: 50}, () => EchoSocket.open(edge)));
        const requests = new Requests(edge, {connections: 30, rate: 300});
        let valid = 0;
        let warm_bytes = 0;
        for (let n = 0; n < 50; ++n) {
          const answered = requests.answered;
          if (n % 5 === 4) {
            edge.write_config(`routes: [{name: broken, match: {path: /x}, cluster: nowhere}]\n`);
            const {status, text} = await edge.reload();
            assert.ok(status >= 400, text);
            assert.match(text, /nowhere/);
          } else {
            await reload_ok(edge, generation(n));
            valid += 1;
          }
          if (n === 20) warm_bytes = edge.resident_bytes();
          await until(
              () => requests.answered >= answered + 30 || requests.failures.length > 0, 'requests between two reloads');
        }
        const grown = edge.resident_bytes() - warm_bytes;
        await requests.stop();
        for (const backend of backends) backend.end_streams();
        await Promise.all(streams.map((stream) => stream.done));
        await Promise.all(sockets.map((socket) => socket.close()));

        assert.deepEqual(requests.failures, []);
        assert.equal(requests.answered, requests.sent);
        assert.deepEqual(streams.map((stream) => stream.error).filter(Boolean), []);
        assert.deepEqual(sockets.map((socket) => socket.error).filter(Boolean), []);
        assert.ok(streams.every((stream) => stream.events > 10));
        assert.ok(sockets.every((socket) => socket.echoed === socket.sent && socket.sent > 10));
        assert.ok(grown < 8 * 1024 * 1024, `resident memory grew by ${grown} bytes over 30 reloads`);
        const metrics = await edge.metrics();
        assert.equal(metrics.sum('brink_config_reloads_total', {result: 'ok'}), valid + 1);
        assert.equal(metrics.sum('brink_config_reloads_total', {result: 'failed'}), 10);
      }, {timeout: 300_000});
    });

suite('what a reload changes', async () => ({}), () => {
  async function start(scope) {
    const origin = await Origin.start(scope, {handler: () => ({body: 'old'})});
    const edge = await Brink.start(scope, {backend: origin.url});
    return {origin, edge};
  }

  scenario('routes, by SIGHUP', async (scope) => {
    const {origin, edge} = await start(scope);
    edge.write_config({
      clusters: clusters(origin.url),
      routes: [{name: 'fixed', match: {path_prefix: '/'}, respond: {status: 200, body: 'new'}}]
    });
    edge.program.signal('SIGHUP');
    await edge.program.line(/reloaded/);
    assert.equal((await edge.exchange(get('/'))).body.toString(), 'new');
  });

  scenario('not an exchange that is under way: it ends as it began', async (scope) => {
    const {origin, edge} = await start(scope);
    origin.handler = () => undefined;
    const client = await edge.connect();
    client.send('GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\nGET /next HTTP/1.1\r\nHost: a.test\r\n\r\n');
    const {connection} = await origin.next_request();
    await reload_ok(
        edge,
        {clusters: {}, routes: [{name: 'fixed', match: {path_prefix: '/'}, respond: {status: 200, body: 'new'}}]});
    connection.send('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold');
    assert.equal((await client.read_response()).body.toString(), 'old');
    assert.equal(
        (await client.read_response()).body.toString(), 'new', 'the next request on the connection is the new one’s');
  });

  scenario('listeners: a new one is there at once, an old one goes but its connections stay', async (scope) => {
    const {origin, edge} = await start(scope);
    const kept = await edge.connect();
    kept.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await kept.read_response();
    const from = edge.program.stderr.length;
    await reload_ok(edge, {backend: origin.url, listeners: [{address: '127.0.0.2:0'}]});
    const [, port] = await edge.program.line(/listening on 127\.0\.0\.2:(\d+)/, {from});
    const fresh = await Wire.connect({host: '127.0.0.2', port: Number(port)});
    scope.after(() => fresh.close());
    fresh.send(get('/'));
    assert.equal((await fresh.read_response()).status, 200);
    await until(
        () => Wire.connect(edge.port).then((wire) => (wire.close(), false), (error) => error.code === 'ECONNREFUSED'),
        'the old listener to be closed');
    kept.send(get('/'));
    assert.equal((await kept.read_response()).status, 200);
  });

  scenario('limits of clients', async (scope) => {
    const {origin, edge} = await start(scope);
    assert.equal((await edge.exchange(get(`/${'a'.repeat(500)}`))).status, 200);
    await reload_ok(edge, {backend: origin.url, downstream: {limits: {target: '100B'}}});
    assert.equal((await edge.exchange(get(`/${'a'.repeat(500)}`))).status, 414);
  });

  scenario('not what is known of an endpoint', async (scope) => {
    const {origin, edge} = await start(scope);
    origin.handler = () => undefined;
    const client = await edge.connect();
    client.send(get('/held'));
    const {connection} = await origin.next_request();
    await reload_ok(edge, {backend: origin.url, route: {name: 'renamed'}});
    const load = async () => (await edge.metrics()).sum('brink_upstream_in_flight');
    assert.equal(await load(), 1);
    connection.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    assert.equal((await client.read_response()).status, 200);
    await until(async () => (await load()) === 0, 'the endpoint to be free');
  });
});

suite(
    'a file with mistakes',
    async (scope) => {
      const origin = await Origin.start(scope);
      const edge = await Brink.start(scope, {backend: origin.url});
      return {origin, edge};
    },
    (shared) => {
      for (const [what, text, expected] of [
               ['that is no YAML', 'routes: [\n', /brink\.yaml:\d+:\d+/],
               ['with an unknown key', 'listners: []\n', /brink\.yaml:1:1.*listeners/],
               ['that is empty', '', /./],
      ]) {
        scenario(`${what} changes nothing, and the reply, the log and the metric say so`, async () => {
          const {edge} = shared;
          const failed = async () => (await edge.metrics()).sum('brink_config_reloads_total', {result: 'failed'});
          const generation = async () => (await edge.metrics()).sum('brink_config_generation');
          const before = [await failed(), await generation()];
          const from = edge.program.stderr.length;
          edge.write_config(text);
          const reply = await edge.reload();
          assert.ok(reply.status >= 400 && reply.status < 500, reply.text);
          assert.match(reply.text, expected);
          await edge.program.line(/the configuration in use stays/, {from});
          assert.deepEqual([await failed(), await generation()], [before[0] + 1, before[1]]);
          assert.equal((await edge.exchange(get('/'))).status, 200);
        });
      }

      scenario('a listener that cannot be bound changes nothing', async (scope) => {
        const {origin, edge} = shared;
        const taken = await Origin.start(scope);
        edge.write_config({
          clusters: clusters(origin.url),
          routes: [{name: 'fixed', match: {path_prefix: '/'}, respond: {status: 418}}],
          listeners: [{address: '127.0.0.1:0'}, {address: `127.0.0.1:${taken.port}`}],
        });
        const reply = await edge.reload();
        assert.ok(reply.status >= 400);
        assert.match(reply.text, new RegExp(`127\\.0\\.0\\.1:${taken.port}`));
        assert.equal((await edge.exchange(get('/'))).status, 200);
      });

      scenario('the next good file is taken', async () => {
        const {edge} = shared;
        await reload_ok(
            edge, {clusters: {}, routes: [{name: 'fixed', match: {path_prefix: '/'}, respond: {status: 418}}]});
        assert.equal((await within(edge.exchange(get('/')), 'the answer')).status, 418);
      });
    });
