// What a route changes on the way: path, fields, and the model inside the body.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {named_origins, request} from '../support/named_origins.mjs';
import {scenario, suite} from '../support/scenario.mjs';

suite(
    'rewrites',
    async (scope) => {
      const {main} = await named_origins(scope, ['main']);
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
