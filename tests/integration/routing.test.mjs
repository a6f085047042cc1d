// Which backend takes a request, and how the route changes it on the way.
import {strict as assert} from 'node:assert';
import {join} from 'node:path';

import {Brink, temporary_folder} from '../support/brink.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const clusters_of = (origins) =>
    Object.fromEntries(Object.entries(origins).map(([name, origin]) => [name, {endpoints: [{url: origin.url}]}]));

// One origin for each name, which answers with that name.
async function origins_of(scope, names) {
  const origins = {};
  for (const name of names)
    origins[name] = await Origin.start(scope, {keep_bytes: false, handler: () => ({body: name})});
  return origins;
}

const request = (path, {method = 'GET', host = 'api.test', fields = '', body} = {}) => {
  const framing = body === undefined ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${fields}${framing}\r\n${body ?? ''}`;
};

suite(
    'precedence',
    async (scope) => {
      const names = [
        'exact_host', 'wildcard', 'longer_wildcard', 'any_host', 'exact_path', 'long_prefix', 'method', 'header',
        'two_headers'
      ];
      const origins = await origins_of(scope, names);
      // From the least to the most specific, so that the order of the file alone would choose wrongly.
      const matches = [
        ['any_host', {path_prefix: '/'}],
        ['wildcard', {hosts: ['*.example.test'], path_prefix: '/'}],
        ['longer_wildcard', {hosts: ['*.eu.example.test'], path_prefix: '/'}],
        ['exact_host', {hosts: ['api.eu.example.test'], path_prefix: '/'}],
        ['long_prefix', {path_prefix: '/v1/chat'}],
        ['exact_path', {path: '/v1/chat/completions'}],
        ['method', {path_prefix: '/v1/chat', methods: ['DELETE']}],
        ['header', {path_prefix: '/v1/chat', headers: {'x-tier': 'gold'}}],
        ['two_headers', {path_prefix: '/v1/chat', headers: {'x-tier': 'gold', 'x-region': 'eu'}}],
      ];
      const edge = await Brink.start(scope, {
        clusters: clusters_of(origins),
        routes: matches.map(([name, match]) => ({name, match, cluster: name})),
      });
      return {edge};
    },
    (shared) => {
      const cases = [
        ['any_host', '/x', {}],
        ['wildcard', '/x', {host: 'api.example.test'}],
        ['wildcard', '/x', {host: 'API.Example.TEST:8080'}],
        ['any_host', '/x', {host: 'example.test'}],
        ['longer_wildcard', '/x', {host: 'a.b.eu.example.test'}],
        ['exact_host', '/x', {host: 'api.eu.example.test'}],
        ['exact_host', '/v1/chat/completions', {host: 'api.eu.example.test'}],
        ['long_prefix', '/v1/chat', {}],
        ['long_prefix', '/v1/chat/other?x=1', {}],
        ['any_host', '/v1/chatter', {}],
        ['exact_path', '/v1/chat/completions', {}],
        ['exact_path', '/v1/chat/completions?stream=1', {}],
        ['long_prefix', '/v1/chat/completions/', {}],
        ['method', '/v1/chat/1', {method: 'DELETE'}],
        ['method', '/v1/chat/1', {method: 'DELETE', fields: 'X-Tier: gold\r\n'}],
        ['header', '/v1/chat/1', {fields: 'X-Tier: gold\r\n'}],
        ['long_prefix', '/v1/chat/1', {fields: 'X-Tier: golden\r\n'}],
        ['two_headers', '/v1/chat/1', {fields: 'x-region: eu\r\nX-TIER: gold\r\n'}],
        ['exact_path', '/v1/chat/completions', {fields: 'X-Tier: gold\r\n'}],
      ];
      for (const [name, path, options] of cases) {
        scenario(
            `${options.method ?? 'GET'} ${options.host ?? ''}${path} ${JSON.stringify(options.fields ?? '')} goes to ${
                name}`,
            async () => {
              const response = await shared.edge.exchange(request(path, options), options.method);
              assert.equal(response.body.toString(), name);
            });
      }
    });

suite(
    'no route',
    async (scope) => {
      const {main} = await origins_of(scope, ['main']);
      const edge = await Brink.start(scope, {
        backend: main.url,
        routes: [
          {name: 'one', match: {path: '/one', methods: ['GET', 'POST']}, cluster: 'main'},
          {name: 'two', match: {path: '/one', methods: ['PUT']}, cluster: 'main'},
        ],
      });
      return {edge};
    },
    (shared) => {
      scenario('404 keeps the connection', async () => {
        const client = await shared.edge.connect();
        client.send('GET /none HTTP/1.1\r\nHost: a.test\r\n\r\nGET /one HTTP/1.1\r\nHost: a.test\r\n\r\n');
        const response = await client.read_response();
        assert.equal(response.status, 404);
        assert.equal(JSON.parse(response.body).error.code, 'no_route');
        assert.equal((await client.read_response()).body.toString(), 'main');
      });

      scenario('405 lists the methods of every route', async () => {
        const response = await shared.edge.exchange(request('/one', {method: 'DELETE'}), 'DELETE');
        assert.equal(response.status, 405);
        assert.deepEqual(response.get('allow').split(', ').sort(), ['GET', 'POST', 'PUT']);
      });
    });

suite(
    'by model',
    async (scope) => {
      const origins = await origins_of(scope, ['llama', 'exact', 'rest']);
      const match = (models) => ({path: '/v1/chat/completions', methods: ['POST'], ...(models && {models})});
      const edge = await Brink.start(scope, {
        clusters: clusters_of(origins),
        routes: [
          {name: 'llama', match: match(['llama-3*']), cluster: 'llama', limits: {body: '4MiB'}},
          {name: 'exact', match: match(['gpt-?', 'qwen']), cluster: 'exact', limits: {body: '4MiB'}},
          {name: 'rest', match: match(), cluster: 'rest', limits: {body: '4MiB'}},
        ],
      });
      return {edge, origins};
    },
    (shared) => {
      const post = (body) =>
          request('/v1/chat/completions', {method: 'POST', fields: 'Content-Type: application/json\r\n', body});
      const prompt = (size) => 'word \\"quoted\\" '.repeat(Math.ceil(size / 16));
      const cases = [
        ['llama', 'first', '{"model":"llama-3-8b","messages":[]}'],
        ['exact', 'a question mark', '{"model":"gpt-4"}'],
        ['rest', 'a question mark is one character', '{"model":"gpt-40"}'],
        ['exact', 'exact', '{ "messages" : [ {"role":"user"} ] , "model" : "qwen" }'],
        ['rest', 'another model', '{"model":"other"}'],
        ['rest', 'no model', '{"messages":[]}'],
        ['rest', 'no JSON', 'model=llama-3'],
        ['rest', 'a model that is no string', '{"model":3}'],
        ['rest', 'a nested model', '{"metadata":{"model":"llama-3-8b"},"model":"other"}'],
        ['llama', 'the text of a prompt does not count', '{"messages":"\\"model\\":\\"other\\"","model":"llama-3"}'],
        ['llama', 'escapes in the key and the value', '{"mod\\u0065l":"llam\\u0061-3"}'],
        ['llama', 'behind a prompt of 100 KB', `{"messages":"${prompt(100_000)}","model":"llama-3"}`],
        ['exact', 'behind a prompt of 1 MB', `{"messages":"${prompt(1_000_000)}","model":"qwen"}`],
        ['llama', 'in front of a prompt of 1 MB', `{"model":"llama-3","messages":"${prompt(1_000_000)}"}`],
      ];
      for (const [name, what, body] of cases) {
        scenario(`${what}: ${name}`, async () => {
          const {edge, origins} = shared;
          for (const origin of Object.values(origins)) origin.forget();
          const response = await edge.exchange(post(body), 'POST');
          assert.equal(response.body.toString(), name);
          const seen = await origins[name].next_request();
          assert.ok(seen.body.equals(Buffer.from(body)), 'the body arrives unchanged');
        });
      }

      scenario('in a chunked body, cut inside the value', async () => {
        const {edge, origins} = shared;
        origins.llama.forget();
        const client = await edge.connect();
        client.send('POST /v1/chat/completions HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n');
        for (const piece of ['{"messages":"hi","mo', 'del":"lla', 'ma-3', '-70b"', '}'])
          await client.send(chunk(piece));
        client.send(last_chunk);
        assert.equal((await client.read_response('POST')).body.toString(), 'llama');
        assert.equal((await origins.llama.next_request()).body.toString(), '{"messages":"hi","model":"llama-3-70b"}');
      });

      scenario('is found before the body is complete', async () => {
        const {edge, origins} = shared;
        for (const origin of Object.values(origins)) origin.forget();
        const client = await edge.connect();
        client.send(
            `POST /v1/chat/completions HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000\r\n\r\n{"model":"llama-3","x":"`);
        await until(() => origins.llama.connections.length > 0, 'the backend to be connected');
        client.close();
      });

      scenario('the access log names it', async () => {
        const {edge} = shared;
        await edge.exchange(post('{"model":"llama-3-logged"}'), 'POST');
        const line = await edge.log_line((entry) => entry.model === 'llama-3-logged');
        assert.equal(line.route, 'llama');
        assert.equal(line.cluster, 'llama');
      });

      scenario('a body past the limit is 413 while the model is still looked for', async () => {
        const response = await shared.edge.exchange(post(`{"messages":"${prompt(5_000_000)}","model":"qwen"}`), 'POST');
        assert.equal(response.status, 413);
      });
    });

suite(
    'rewrites',
    async (scope) => {
      const {main} = await origins_of(scope, ['main']);
      main.handler = (seen) => ({fields: {'X-Internal': 'secret', 'Server': 'engine'}, body: seen.body});
      const edge = await Brink.start(scope, {
        backend: main.url,
        env: {BRINK_TEST_KEY: 'sk-from-env'},
        routes: [
          {name: 'path', match: {path_prefix: '/old'}, cluster: 'main', rewrite: {path: '/new'}},
          {name: 'prefix', match: {path_prefix: '/openai/'}, cluster: 'main', rewrite: {path_prefix: '/v1/'}},
          {
            name: 'headers',
            match: {path: '/headers'},
            cluster: 'main',
            rewrite: {
              host: 'engine.internal',
              set_headers: {'authorization': 'Bearer ${env:BRINK_TEST_KEY}', 'x-new': '1'},
              remove_headers: ['cookie'],
              set_response_headers: {'server': 'edge'},
              remove_response_headers: ['x-internal'],
            },
          },
          {
            name: 'model',
            match: {path: '/model'},
            cluster: 'main',
            rewrite: {model: 'llama-3-8b-awq'},
            limits: {body: '4MiB'}
          },
        ],
      });
      return {origin: main, edge};
    },
    (shared) => {
      for (const [path, expected] of [
               ['/old?a=b', '/new?a=b'],
               ['/old/deeper', '/new'],
               ['/openai/chat?x=1', '/v1/chat?x=1'],
               ['/openai/', '/v1/'],
               ['/openai/a%2Fb', '/v1/a%2Fb'],
      ]) {
        scenario(`${path} becomes ${expected}`, async () => {
          shared.origin.forget();
          assert.equal((await shared.edge.exchange(request(path))).status, 200);
          assert.equal((await shared.origin.next_request()).target, expected);
        });
      }

      scenario('fields of the request and of the answer', async () => {
        const {origin, edge} = shared;
        origin.forget();
        const response = await edge.exchange(
            request('/headers', {fields: 'Authorization: Bearer mine\r\nCookie: a=b\r\nX-Stays: 1\r\n'}));
        const seen = await origin.next_request();
        assert.deepEqual(seen.all('authorization'), ['Bearer sk-from-env']);
        assert.equal(seen.get('x-new'), '1');
        assert.equal(seen.get('cookie'), undefined);
        assert.equal(seen.get('x-stays'), '1');
        assert.equal(seen.get('host'), 'engine.internal');
        assert.equal(seen.get('x-forwarded-host'), 'api.test');
        assert.deepEqual(response.all('server'), ['edge']);
        assert.equal(response.get('x-internal'), undefined);
      });

      const filler = 'x'.repeat(200_000);
      const bodies = [
        ['{"model":"a","n":1}', '{"model":"llama-3-8b-awq","n":1}'],
        ['{"model":"a much longer name than the new one","n":1}', '{"model":"llama-3-8b-awq","n":1}'],
        [
          `{"messages":"${filler}", "model" : "a" , "n":1}`,
          `{"messages":"${filler}", "model" : "llama-3-8b-awq" , "n":1}`
        ],
        [`{"model":"a","messages":"${filler}"}`, `{"model":"llama-3-8b-awq","messages":"${filler}"}`],
        ['{"messages":[]}', '{"messages":[]}'],
        ['no JSON', 'no JSON'],
      ];
      for (const [body, expected] of bodies) {
        scenario(`the model in ${body.slice(0, 40)}${body.length > 40 ? '…' : ''}`, async () => {
          const {origin, edge} = shared;
          origin.forget();
          const response = await edge.exchange(request('/model', {method: 'POST', body}), 'POST');
          assert.equal(response.status, 200);
          const seen = await origin.next_request();
          assert.ok(seen.body.toString() === expected, `got ${seen.body.toString().slice(0, 200)}`);
          if (seen.framing === 'length') assert.equal(seen.get('content-length'), String(expected.length));
        });
      }

      scenario('the model in a chunked body, byte by byte', async () => {
        const {origin, edge} = shared;
        origin.forget();
        const client = await edge.connect();
        client.send('POST /model HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n');
        for (const letter of '{"a":"b","model":"short","c":1}') await client.send(chunk(letter));
        client.send(last_chunk);
        assert.equal((await client.read_response('POST')).status, 200);
        assert.equal((await origin.next_request()).body.toString(), '{"a":"b","model":"llama-3-8b-awq","c":1}');
      });
    });

suite('where requests go', async () => ({}), () => {
  scenario('a split follows its weights', async (scope) => {
    const origins = await origins_of(scope, ['stable', 'canary', 'off']);
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
    const origins = await origins_of(scope, ['a', 'b', 'c']);
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
    const {main} = await origins_of(scope, ['main']);
    const edge = await Brink.start(scope, {backend: `http://localhost:${main.port}`});
    assert.equal((await edge.exchange(request('/'))).body.toString(), 'main');
  });

  scenario('a failed health check takes an endpoint out, a passed one brings it back', async (scope) => {
    const origins = await origins_of(scope, ['a', 'b']);
    let sick = true;
    const serve = (name) => (seen) => {
      if (seen.target !== '/health') return {body: name};
      return sick && name === 'a' ? {status: 500, reason: 'Sick'} : {body: 'fine'};
    };
    for (const name of ['a', 'b']) origins[name].handler = serve(name);
    const health_check = {path: '/health', interval: '300ms', timeout: '300ms', unhealthy_after: 2, healthy_after: 2};
    const edge = await Brink.start(scope, {
      backends: [origins.a.url, origins.b.url],
      cluster: {balance: 'weighted_round_robin', health_check},
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
