// Endpoints that fail are left out for a while and come back with care; those that are busy are left alone.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {named_origins} from '../support/named_origins.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;
const wrr = {balance: 'weighted_round_robin'};
const outlier_of = async (edge, index) => (await edge.admin('/clusters')).json.clusters[0].endpoints[index].outlier;

async function start(scope, cluster) {
  const origins = await named_origins(scope, ['a', 'b']);
  const edge = await Brink.start(scope, {backends: [origins.a.url, origins.b.url], cluster: {...wrr, ...cluster}});
  return {...origins, edge};
}

suite('ejection', async () => ({}), () => {
  scenario('failures in a row take an endpoint out, a trial brings it back', async (scope) => {
    const {a, edge} = await start(scope, {outlier: {consecutive_failures: 3, eject_for: '700ms', slow_start: '500ms'}});
    let sick = true;
    a.handler = () => sick ? {status: 500, reason: 'Sick'} : {body: 'a'};
    await until(async () => {
      await edge.exchange(get());
      return (await edge.metrics()).sum('brink_upstream_ejected') === 1;
    }, 'the endpoint to be left out');
    assert.equal(a.requests.length, 3);
    const out = await outlier_of(edge, 0);
    assert.ok(out.out_for_s > 0 && out.out_for_s <= 0.7, JSON.stringify(out));
    assert.equal(out.share, 0);
    await edge.program.line(/endpoint 127.0.0.1:\d+ of cluster main failed too often in a row; left out for \d+ ms/);
    await until(async () => {
      assert.equal((await edge.exchange(get())).status === 200 || a.requests.length === 4, true);
      return a.requests.length === 4;
    }, 'the first trial');
    assert.equal((await edge.metrics()).sum('brink_upstream_ejections_total'), 2, 'the trial failed');
    sick = false;
    await until(async () => {
      await edge.exchange(get());
      return (await edge.metrics()).sum('brink_upstream_ejected') === 0;
    }, 'the endpoint to be back');
    await edge.program.line(/endpoint 127.0.0.1:\d+ of cluster main answers again/);
  });

  scenario('4xx, 429 and 503 eject nobody', async (scope) => {
    const {a, edge} = await start(scope, {outlier: {consecutive_failures: 1}});
    const statuses = [400, 404, 422, 429, 503];
    a.handler = (seen) => ({status: statuses[a.requests.length % statuses.length], reason: 'No'});
    for (let i = 0; i < 20; ++i) await edge.exchange(get());
    assert.equal((await edge.metrics()).sum('brink_upstream_ejections_total'), 0);
  });

  scenario('an endpoint that sent Retry-After is left alone for that time', async (scope) => {
    const {a, edge} = await start(scope, {});
    a.handler = () => a.requests.length === 1 ? {status: 503, reason: 'Busy', fields: {'retry-after': '1'}} : {body: 'a'};
    const began = performance.now();
    for (let i = 0; i < 10; ++i) assert.equal((await edge.exchange(get())).body.toString(), 'b');
    assert.equal(a.requests.length, 1);
    assert.equal((await edge.metrics()).sum('brink_upstream_paused'), 1);
    assert.ok((await outlier_of(edge, 0)).paused_for_s <= 1);
    await until(async () => (await edge.exchange(get())).body.toString() === 'a', 'its turn again');
    assert.ok(performance.now() - began >= 950);
  });

  scenario('with too few left all are used', async (scope) => {
    const origins = await named_origins(scope, ['a', 'b', 'c']);
    for (const name of ['a', 'b']) origins[name].handler = () => ({status: 500, reason: 'Sick'});
    const edge = await Brink.start(scope, {
      backends: ['a', 'b', 'c'].map((name) => origins[name].url),
      cluster: {...wrr, outlier: {consecutive_failures: 1, max_ejected: '100%', eject_for: '1m'}, panic_threshold: '50%'},
    });
    for (let i = 0; i < 12; ++i) await edge.exchange(get());
    assert.equal((await edge.metrics()).sum('brink_upstream_ejected'), 2);
    assert.ok(origins.a.requests.length > 1, 'in panic it is asked all the same');
  });
});

// `clients` at once send `each` requests; what they got, and how long they waited in ms, sorted.
async function load(edge, clients, each) {
  const body = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'Hello'}], max_tokens: 4});
  const request = 'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
  const times = [];
  const statuses = new Set();
  await Promise.all(Array.from({length: clients}, async () => {
    const client = await edge.connect();
    for (let i = 0; i < each; ++i) {
      const began = performance.now();
      client.send(request);
      statuses.add((await client.read_response('POST')).status);
      times.push(performance.now() - began);
    }
  }));
  return {times: times.sort((x, y) => x - y), statuses: [...statuses]};
}

suite('one engine slow, one failing, one hung', async () => ({}), () => {
  async function start_engines(scope, well, retry = {}) {
    const options = ['--model', 'm', '--speed', '20'];
    const good = [];
    for (let i = 0; i < well; ++i) good.push(await GpuSim.start(scope, options));
    const slow = await GpuSim.start(scope, [...options, '--slowness', '16']);
    const failing = await GpuSim.start(scope, options);
    const hung = await GpuSim.start(scope, options);
    await failing.set_faults([{fault: 'status=500', path: '/v1/'}]);
    await hung.set_faults([{fault: 'hang', path: '/v1/'}]);
    const edge = await Brink.start(scope, {
      backends: [...good, slow, failing, hung].map((sim) => sim.url),
      route: {
        retry: {on: ['connect', 'reset', 'timeout', '500', '502', '503', '504'], ...retry},
        timeouts: {first_byte: '1s'},
      },
    });
    return {edge, failing};
  }

  scenario('and three well: these carry the load', async (scope) => {
    const {edge, failing} = await start_engines(scope, 3);
    const {times, statuses} = await load(edge, 8, 40);
    assert.deepEqual(statuses, [200]);
    const late = times.filter((time) => time >= 1_000).length;
    assert.ok(late <= 16, `${late} of ${times.length} waited for the engine that hangs`);
    const failures = (await failing.stats()).requests.faulted;
    assert.ok(failures <= 12, `${failures} requests met the engine that fails`);
  });

  scenario('and no other: the slow one answers everybody', async (scope) => {
    const {edge} = await start_engines(scope, 0, {budget: '100%'});
    const {statuses} = await load(edge, 4, 20);
    assert.deepEqual(statuses, [200]);
  });
});
