// Routes by the `model` in a JSON body, wherever in the body it stands.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {clusters_of, named_origins, request} from '../support/named_origins.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

suite(
    'by model',
    async (scope) => {
      const origins = await named_origins(scope, ['llama', 'exact', 'rest']);
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
