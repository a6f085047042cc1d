// The ways to a Redis: with a password, an ACL user, over a Unix socket, over TLS, in a cluster, behind sentinels.
import {strict as assert} from 'node:assert';
import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {Brink, temporary_folder} from '../support/brink.mjs';
import {get} from '../support/cache_client.mjs';
import {Origin} from '../support/origin.mjs';
import {free_port, Redis, start_cluster} from '../support/redis.mjs';
import {scenario, suite, with_programs} from '../support/scenario.mjs';
import {count, is_gone, is_hit, purge, routes, start_node, text_of} from '../support/shared_tier.mjs';
import {until} from '../support/wait.mjs';

// Two nodes with the same way to Redis share an answer and a purge.
async function shares(scope, tier, {more = {}, holds} = {}) {
  const origin = await Origin.start(scope);
  count(origin);
  const nodes = [];
  for (let i = 0; i < 2; ++i) nodes.push(await start_node(scope, origin, tier, more));
  const [a, b] = nodes;
  for (let number = 0; number < 8; ++number) await get(a, `/way/${number}`);
  await holds(8);
  for (let number = 0; number < 8; ++number) {
    const answer = await get(b, `/way/${number}`);
    assert.deepEqual([text_of(answer), is_hit(answer)], [`answer ${number + 1}`, true]);
  }
  await purge(b, {url: 'http://a.test/way/3'});
  await is_gone(a, '/way/3');
  assert.ok(is_hit(await get(a, '/way/4')));
  return {origin, a, b};
}

// An authority and a certificate of its own for 127.0.0.1.
function certificates(folder) {
  const openssl = (...args) => execFileSync('openssl', args, {cwd: folder, stdio: 'pipe'});
  const make_key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...make_key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test CA');
  openssl('req', ...make_key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=redis');
  writeFileSync(join(folder, 'names'), 'subjectAltName = IP:127.0.0.1, DNS:localhost\n');
  openssl('x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2',
          '-extfile', 'names', '-out', 'server.pem');
}

with_programs(['redis-server', 'redis-cli', 'openssl'], () => {
  suite('the way to Redis', () => ({}), () => {
    scenario('with a password', async (scope) => {
      const options = ['--requirepass', 'sec:ret@/'];
      const redis = await Redis.start(scope, {options, access: ['-a', 'sec:ret@/', '--no-auth-warning']});
      const url = `redis://:${'${env:REDIS_PASSWORD}'}@127.0.0.1:${redis.port}/2`;
      const holds = (number) => until(
          async () => (await redis.ask('-n', '2', 'dbsize')) === String(number + 1), 'the answers in database 2');
      const {a} = await shares(scope, {url}, {more: {env: {REDIS_PASSWORD: 'sec%3Aret%40%2F'}}, holds});
      const shown = (await a.admin('/config')).text;
      assert.ok(!/sec(%3A|:)ret/.test(shown), 'the password is shown');
      assert.ok(!a.program.stderr.includes('sec%3A') && !a.program.stderr.includes('sec:ret'));
    });

    scenario('as an ACL user who may do what the nodes need and no more', async (scope) => {
      const user = 'brink on >pass ~brink:* &brink:* -@all +get +set +del +publish +subscribe +ping +zadd +zcard ' +
          '+zrangebyscore +zremrangebyscore';
      const redis = await Redis.start(scope, {options: ['--user', ...user.split(' ')]});
      await shares(scope, {url: `redis://brink:pass@127.0.0.1:${redis.port}`}, {holds: (n) => redis.holds(n)});
    });

    scenario('a wrong password is told of, and everything else works', async (scope) => {
      const redis = await Redis.start(scope, {options: ['--requirepass', 'right']});
      const origin = await Origin.start(scope);
      count(origin);
      const cache = {memory: '64MiB', redis: {url: `redis://:wrong@127.0.0.1:${redis.port}`}};
      const node = await Brink.start(scope, {backend: origin.url, routes, cache});
      await node.program.line(/redis.*(WRONGPASS|invalid)/i);
      assert.ok(!node.program.stderr.includes('wrong@'));
      await get(node, '/wrong');
      assert.ok(is_hit(await get(node, '/wrong')));
    });

    scenario('over a Unix socket', async (scope) => {
      const folder = temporary_folder(scope);
      const path = join(folder, 'redis.sock');
      const options = ['--unixsocket', path];
      const redis = await Redis.start(scope, {options, port: 0, access: ['-s', path], ready: /server is now ready to accept.*\.sock/i});
      await shares(scope, {url: `unix://${path}`}, {holds: (n) => redis.holds(n)});
    });

    scenario('over TLS, with the authority that the configuration names', async (scope) => {
      const folder = temporary_folder(scope);
      certificates(folder);
      const file = (name) => join(folder, name);
      const port = await free_port();
      const options = ['--tls-port', String(port), '--tls-cert-file', file('server.pem'), '--tls-key-file',
                       file('server.key'), '--tls-ca-cert-file', file('ca.pem'), '--tls-auth-clients', 'no'];
      const redis = await Redis.start(scope, {options});
      const {origin} =
          await shares(scope, {url: `rediss://127.0.0.1:${port}`, ca: file('ca.pem'), timeout: '500ms'}, {holds: (n) => redis.holds(n)});
      // Without that authority the server is a stranger: not asked, and no request fails.
      const cache = {memory: '64MiB', redis: {url: `rediss://127.0.0.1:${port}`}};
      const stranger = await Brink.start(scope, {backend: origin.url, routes, cache});
      await stranger.program.line(/redis.*certificate/i);
      assert.equal(is_hit(await get(stranger, '/way/4')), false);
    });

    scenario('a cluster of three', async (scope) => {
      const nodes = await start_cluster(scope);
      const stored = async () => (await Promise.all(nodes.map((node) => node.answers()))).map((keys) => keys.length);
      const holds = (number) => until(
          async () => (await stored()).reduce((sum, keys) => sum + keys) >= number, `${number} answers in the cluster`);
      const hosts = nodes.slice(1).map((node) => `127.0.0.1:${node.port}`);
      const {a, b} = await shares(scope, {url: nodes[0].url, mode: 'cluster', nodes: hosts, timeout: '500ms'}, {holds});
      assert.ok((await stored()).filter((keys) => keys > 0).length > 1, `all in one node: ${await stored()}`);
      // The loss of a node costs its share of the answers, and no request.
      await nodes[2].kill();
      for (let number = 0; number < 30; ++number) {
        assert.equal((await get(number % 2 ? a : b, `/after/${number}`)).status, 200);
      }
    });

    scenario('sentinels name the master, and the next one', async (scope) => {
      const master = await Redis.start(scope);
      const replica = await Redis.start(scope, {options: ['--replicaof', '127.0.0.1', String(master.port)]});
      await until(async () => (await replica.ask('info', 'replication')).includes('master_link_status:up'), 'the replica');
      const folder = temporary_folder(scope);
      const file = join(folder, 'sentinel.conf');
      writeFileSync(file, [
        `sentinel monitor mine 127.0.0.1 ${master.port} 1`, 'sentinel down-after-milliseconds mine 500',
        'sentinel failover-timeout mine 3000', ''
      ].join('\n'));
      const sentinel = await Redis.start(scope, {config: file, ready: /monitor master mine/});
      await until(async () => (await sentinel.ask('sentinel', 'replicas', 'mine')).includes(String(replica.port)),
                  'the sentinel to know the replica');
      const tier = {url: sentinel.url, mode: 'sentinel', master: 'mine', timeout: '500ms'};
      const {a, b} = await shares(scope, tier, {holds: (n) => master.holds(n)});
      await master.kill();
      let number = 0;
      await until(async () => {
        const target = `/failover/${number++}`;
        assert.equal((await get(a, target)).status, 200);
        return (await replica.ask('info', 'replication')).includes('role:master') &&
            is_hit(await get(b, target, {'Cache-Control': 'only-if-cached'}));
      }, 'an answer through the new master');
    });
  });
});
