// Which endpoint of which cluster a routed request goes to, and when none can take it.
import {strict as assert} from 'node:assert';
import {join} from 'node:path';

import {Brink, temporary_folder} from '../support/brink.mjs';
import {clusters_of, named_origins, request} from '../support/named_origins.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

suite('where requests go', async () => ({}), () => {
  scenario('a split follows its weights', async (scope) => {
    const origins = await named_origins(scope, ['stable', 'canary', 'off']);
    const split = [{cluster: 'stable', weight: 90}, {cluster: 'canary', weight: 10}, {cluster: 'off', weight: 0}];
    const edge = await Brink.start(
        scope, {clusters: clusters_of(origins), routes: [{name: 'split', match: {path_prefix: '/'}, split}]});
    const client = await edge.connect();
    const counts = {stable: 0, canary: 0, off: 0};
    const total = 1000;
    for (let i = 0; i < total; ++i) {
      client.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
      counts[(await client.read_response()).body.toString()] += 1;
    }
    // Five standard deviations of a binomial with p = 0.1.
    const slack = 5 * Math.sqrt(total * 0.1 * 0.9);
    assert.ok(Math.abs(counts.canary - total * 0.1) < slack, JSON.stringify(counts));
    assert.equal(counts.off, 0);
  });

  scenario('weighted_round_robin is exact', async (scope) => {
    const origins = await named_origins(scope, ['a', 'b', 'c']);
    const endpoints =
        [{url: origins.a.url, weight: 5}, {url: origins.b.url, weight: 1}, {url: origins.c.url, weight: 1}];
    const edge = await Brink.start(scope, {
      clusters: {main: {balance: 'weighted_round_robin', endpoints}},
      routes: [{name: 'all', match: {path_prefix: '/'}, cluster: 'main'}],
    });
    const client = await edge.connect();
    let order = '';
    for (let i = 0; i < 14; ++i) {
      client.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
      order += (await client.read_response()).body.toString();
    }
    assert.equal(order, 'aabacaaaabacaa');
  });

  scenario('a fixed answer needs no backend', async (scope) => {
    const respond = {status: 451, headers: {'content-type': 'text/plain', 'x-why': 'law'}, body: 'unavailable\n'};
    const edge =
        await Brink.start(scope, {clusters: {}, routes: [{name: 'fixed', match: {path_prefix: '/'}, respond}]});
    const client = await edge.connect();
    client.send('GET /x HTTP/1.1\r\nHost: a.test\r\n\r\nHEAD /x HTTP/1.1\r\nHost: a.test\r\n\r\n');
    const response = await client.read_response();
    assert.equal(response.status, 451);
    assert.equal(response.get('x-why'), 'law');
    assert.equal(response.body.toString(), 'unavailable\n');
    assert.equal((await client.read_response('HEAD')).get('content-length'), String('unavailable\n'.length));
  });

  scenario('a Unix socket is an endpoint', async (scope) => {
    const path = join(temporary_folder(scope), 'engine.sock');
    const origin = await Origin.start(scope, {path, handler: () => ({body: 'by socket'})});
    const edge = await Brink.start(scope, {backend: origin.url});
    const response = await edge.exchange(request('/'));
    assert.equal(response.body.toString(), 'by socket');
    assert.equal(response.get('x-brink-endpoint'), `unix:${path}`);
  });

  scenario('a name is resolved', async (scope) => {
    const {main} = await named_origins(scope, ['main']);
    const edge = await Brink.start(scope, {backend: `http://localhost:${main.port}`});
    assert.equal((await edge.exchange(request('/'))).body.toString(), 'main');
  });

  scenario('a failed health check takes an endpoint out, a passed one brings it back', async (scope) => {
    const origins = await named_origins(scope, ['a', 'b']);
    let sick = true;
    const serve = (name) => (seen) => {
      if (seen.target !== '/health') return {body: name};
      return sick && name === 'a' ? {status: 500, reason: 'Sick'} : {body: 'fine'};
    };
    for (const name of ['a', 'b']) origins[name].handler = serve(name);
    const health_check = {path: '/health', interval: '300ms', timeout: '300ms', unhealthy_after: 2, healthy_after: 2};
    const edge = await Brink.start(scope, {
      backends: [origins.a.url, origins.b.url],
      cluster: {balance: 'weighted_round_robin', health_check, outlier: {slow_start: '0s'}},
    });
    const healthy = async () => (await edge.metrics()).sum('brink_upstream_healthy');
    await until(async () => (await healthy()) === 1, 'the sick endpoint to be noticed');
    for (let i = 0; i < 6; ++i) assert.equal((await edge.exchange(request('/'))).body.toString(), 'b');
    sick = false;
    await until(async () => (await healthy()) === 2, 'the endpoint to be back');
    const seen = new Set();
    for (let i = 0; i < 6; ++i) seen.add((await edge.exchange(request('/'))).body.toString());
    assert.deepEqual([...seen].sort(), ['a', 'b']);
  });

  scenario('a full cluster is 503 with Retry-After', async (scope) => {
    const origin = await Origin.start(scope, {handler: () => undefined});
    const edge = await Brink.start(scope, {backend: origin.url, cluster: {limits: {requests: 2}}});
    for (let i = 0; i < 2; ++i) (await edge.connect()).send(request('/held'));
    await origin.next_request();
    await origin.next_request();
    const response = await edge.exchange(request('/third'));
    assert.equal(response.status, 503);
    assert.equal(JSON.parse(response.body).error.code, 'cluster_full');
    assert.ok(response.get('retry-after'));
  });
});
