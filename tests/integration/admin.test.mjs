// The admin API as an operator and a scraper use it.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const secret = 'sk-very-secret-1234';
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;

suite(
    'the admin listener',
    async (scope) => {
      const origin = await Origin.start(scope, {handler: () => ({body: 'hello'})});
      const edge = await Brink.start(scope, {
        clusters: {main: {endpoints: [{url: origin.url, weight: 3}]}},
        routes: [
          {
            name: 'api',
            match: {path_prefix: '/v1/'},
            cluster: 'main',
            rewrite: {set_headers: {authorization: 'Bearer ${env:BRINK_TEST_KEY}'}}
          },
          {name: 'fixed', match: {path: '/fixed'}, respond: {status: 204}},
        ],
        env: {BRINK_TEST_KEY: secret},
      });
      return {origin, edge};
    },
    (shared) => {
      for (const path of ['/healthz', '/readyz', '/clusters', '/routes', '/config']) {
        scenario(`${path} answers JSON`, async () => {
          const {status, json, headers} = await shared.edge.admin(path);
          assert.equal(status, 200);
          assert.match(headers['content-type'], /^application\/json/);
          assert.ok(json !== undefined);
        });

        scenario(`HEAD ${path}`, async () => {
          const {status, text, headers} = await shared.edge.admin(path, {method: 'HEAD'});
          assert.equal(status, 200);
          assert.equal(text, '');
          assert.ok(Number(headers['content-length']) > 0);
        });
      }

      scenario('/ is a page', async () => {
        const {status, headers} = await shared.edge.admin('/');
        assert.equal(status, 200);
        assert.match(headers['content-type'], /^text\/html/);
      });

      scenario('an unknown path lists the paths', async () => {
        const {status, text} = await shared.edge.admin('/nothing');
        assert.equal(status, 404);
        for (const path
                 of ['/healthz', '/readyz', '/metrics', '/config', '/clusters', '/routes', '/reload', '/drain']) {
          assert.ok(text.includes(path), path);
        }
      });

      scenario('a wrong method is 405 with the right one', async () => {
        const reload = await shared.edge.admin('/reload');
        assert.equal(reload.status, 405);
        assert.equal(reload.headers.allow, 'POST');
        const metrics = await shared.edge.admin('/metrics', {method: 'POST'});
        assert.equal(metrics.status, 405);
        assert.match(metrics.headers.allow, /GET/);
      });

      scenario('a page of another site can do nothing', async () => {
        const rebound = await shared.edge.admin('/clusters', {headers: {host: 'evil.test'}});
        assert.equal(rebound.status, 403);
        const forged = await shared.edge.admin('/reload', {method: 'POST', headers: {origin: 'https://evil.test'}});
        assert.equal(forged.status, 403);
      });

      scenario('/config has every default and no secret', async () => {
        const {json, text} = await shared.edge.admin('/config');
        assert.ok(!text.includes(secret));
        assert.ok(text.includes('${env:BRINK_TEST_KEY}'));
        assert.equal(json.node.id, 'test');
        assert.equal(json.routes[0].name, 'api');
        assert.ok(json.routes[0].timeouts.first_byte !== undefined);
        assert.ok(json.downstream.limits.head !== undefined);
      });

      scenario('a secret goes to the backend and nowhere else', async () => {
        const {edge, origin} = shared;
        origin.forget();
        assert.equal((await edge.exchange(get('/v1/secret'))).status, 200);
        assert.equal((await origin.next_request()).get('authorization'), `Bearer ${secret}`);
        await edge.log_line((line) => line.target === '/v1/secret');
        assert.ok(!JSON.stringify(edge.log_lines()).includes(secret));
        assert.ok(!edge.program.stderr.includes(secret));
        for (const path of ['/clusters', '/routes', '/metrics'])
          assert.ok(!(await edge.admin(path)).text.includes(secret));
      });

      scenario('/clusters and /routes name what is configured', async () => {
        const {edge, origin} = shared;
        const clusters = (await edge.admin('/clusters')).text;
        for (const word of ['main', origin.name, 'healthy', 'in_flight', 'weight'])
          assert.ok(clusters.includes(word), word);
        const routes = (await edge.admin('/routes')).text;
        for (const word of ['api', 'fixed', '/v1/', '/fixed', 'main']) assert.ok(routes.includes(word), word);
      });

      scenario('/metrics count what happened, by route, cluster, endpoint and status class', async () => {
        const {edge, origin} = shared;
        const route = {route: 'api'};
        const before = await edge.metrics();
        for (let i = 0; i < 3; ++i) assert.equal((await edge.exchange(get('/v1/x'))).status, 200);
        origin.handler = () => ({status: 500, reason: 'Oops', body: 'oops'});
        assert.equal((await edge.exchange(get('/v1/x'))).status, 500);
        origin.handler = () => ({body: 'hello'});
        assert.equal((await edge.exchange(get('/fixed'))).status, 204);
        const grown = (metrics, name, labels) => metrics.sum(name, labels) - before.sum(name, labels);
        const after = await until(async () => {
          const metrics = await edge.metrics();
          return grown(metrics, 'brink_requests_total', {route: 'fixed'}) === 1 && metrics;
        }, 'the last request to be counted');
        assert.equal(grown(after, 'brink_requests_total', {...route, class: '2xx'}), 3);
        assert.equal(grown(after, 'brink_requests_total', {...route, class: '5xx'}), 1);
        assert.equal(
            grown(after, 'brink_upstream_requests_total', {cluster: 'main', endpoint: origin.name, class: '2xx'}), 3);
        assert.equal(grown(after, 'brink_request_duration_seconds_count', route), 4);
        assert.equal(grown(after, 'brink_time_to_first_byte_seconds_count', route), 4);
        assert.equal(grown(after, 'brink_response_body_bytes_total', route), 3 * 'hello'.length + 'oops'.length);
        assert.equal(
            grown(after, 'brink_upstream_connects_total', {cluster: 'main'}) +
                grown(after, 'brink_upstream_reuses_total', {cluster: 'main'}),
            4);
        assert.equal(after.sum('brink_requests_in_flight'), 0);
      });

      scenario('/metrics is text that Prometheus reads', async () => {
        const {headers, text} = await shared.edge.admin('/metrics');
        assert.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
        const typed = [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)$/gm)].map(([, name]) => name);
        assert.equal(new Set(typed).size, typed.length, 'each metric is declared once');
        for (const name of (await shared.edge.metrics()).names()) {
          assert.ok(
              typed.includes(name) || typed.includes(name.replace(/_(bucket|sum|count)$/, '')), `${name} has no type`);
        }
      });
    });

suite(
    'the access log',
    async (scope) => {
      const origin = await Origin.start(scope, {handler: () => ({body: 'hello'})});
      const edge = await Brink.start(scope, {backend: origin.url});
      return {origin, edge};
    },
    (shared) => {
      scenario('has one line for each request, with all that is known of it', async () => {
        const {edge, origin} = shared;
        const body = 'question';
        const fields = `Content-Length: ${body.length}\r\nUser-Agent: test "agent"\r\n`;
        const response = await edge.exchange(`POST /a?b=c HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n${body}`, 'POST');
        const line = await edge.log_line((entry) => entry.request_id === response.get('x-request-id'));
        const expected = {
          client: '127.0.0.1',
          method: 'POST',
          host: 'a.test',
          target: '/a?b=c',
          route: 'all',
          cluster: 'main',
          endpoint: origin.name,
          status: 200,
          bytes_in: body.length,
          bytes_out: 5,
          attempts: 1,
          stop: 'finish',
          error: null,
          complete: true,
          user_agent: 'test "agent"',
        };
        for (const [key, value] of Object.entries(expected)) assert.equal(line[key], value, key);
        assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        assert.match(line.trace_id, /^[0-9a-f]{32}$/);
        for (const key of ['duration_ms', 'ttfb_ms']) assert.ok(line[key] >= 0, key);
        assert.equal(edge.log_lines().filter((entry) => entry.request_id === line.request_id).length, 1);
      });

      scenario('hides keys in the query', async () => {
        const {edge} = shared;
        await edge.exchange(get('/x?api_key=sk-hidden&model=m&access_token=also'));
        const line = await edge.log_line((entry) => entry.target.startsWith('/x?'));
        assert.ok(!line.target.includes('sk-hidden') && !line.target.includes('also'));
        assert.ok(line.target.includes('model=m'));
      });

      scenario('cannot be forged by what a client sends', async () => {
        const {edge} = shared;
        await edge.exchange(`GET /forged HTTP/1.1\r\nHost: a.test\r\nUser-Agent: "},{"forged":"1\xff\r\n\r\n`);
        const line = await edge.log_line((entry) => entry.target === '/forged');
        assert.equal(line.forged, undefined);
      });
    });
