// Which route takes a request: the precedence of the Gateway API, whatever the order in the file.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {clusters_of, named_origins, request} from '../support/named_origins.mjs';
import {scenario, suite} from '../support/scenario.mjs';

suite(
    'precedence',
    async (scope) => {
      const names = [
        'exact_host', 'wildcard', 'longer_wildcard', 'any_host', 'exact_path', 'long_prefix', 'method', 'header',
        'two_headers'
      ];
      const origins = await named_origins(scope, names);
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
      const {main} = await named_origins(scope, ['main']);
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
