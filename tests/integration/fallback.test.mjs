// When a cluster has no answer, another one has, or the model on the node; the answer says who gave it.
import {strict as assert} from 'node:assert';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import OpenAI from 'openai';

import {Brink, temporary_folder} from '../support/brink.mjs';
import {random_model} from '../support/gguf.mjs';
import {model_binary, no_model_server} from '../support/model_server.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const nobody = 'http://127.0.0.1:1';  // a port that refuses
const routes = [{name: 'all', match: {path_prefix: '/'}, cluster: 'first', retry: {attempts: 0}}];

function post(edge, body = '{"model":"any"}') {
  return edge.exchange(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      'POST');
}

suite('another cluster', async () => ({}), () => {
  scenario('answers when no connection can be made, with the whole body', async (scope) => {
    const second = await Origin.start(scope);
    const edge = await Brink.start(scope, {
      clusters: {first: {endpoints: [{url: nobody}], fallback: 'second'}, second: {endpoints: [{url: second.url}]}},
      routes,
    });
    second.handler = ({body}) => ({body: `second has ${body.length}`});
    const answer = await post(edge, 'x'.repeat(50_000));
    assert.deepEqual([answer.status, answer.body.toString()], [200, 'second has 50000']);
    assert.equal(answer.get('x-brink-fallback'), 'second');
    assert.equal(answer.get('x-brink-endpoint'), second.url.replace('http://', ''));
    assert.equal((await edge.metrics()).sum('brink_fallbacks_total'), 1);
  });

  scenario('answers when the backend hangs up before a byte, and its own answers say nothing of a fallback', async (scope) => {
    const first = await Origin.start(scope);
    const second = await Origin.start(scope);
    const edge = await Brink.start(scope, {
      clusters: {first: {endpoints: [{url: first.url}], fallback: 'second'}, second: {endpoints: [{url: second.url}]}},
      routes,
    });
    first.handler = () => ({body: 'first'});
    second.handler = () => ({body: 'second'});
    const good = await post(edge);
    assert.deepEqual([good.body.toString(), good.get('x-brink-fallback')], ['first', undefined]);
    first.handler = ({wire}) => wire.reset();
    const saved = await post(edge);
    assert.deepEqual([saved.body.toString(), saved.get('x-brink-fallback')], ['second', 'second']);
  });

  scenario('a chain ends with 503 and Retry-After when nobody is left', async (scope) => {
    const edge = await Brink.start(scope, {
      clusters: {
        first: {endpoints: [{url: nobody}], fallback: 'second'},
        second: {endpoints: [{url: nobody}], fallback: 'third'},
        third: {endpoints: [{url: nobody}]},
      },
      routes,
    });
    const answer = await post(edge);
    assert.equal(answer.status, 503);
    assert.ok(Number(answer.get('retry-after')) >= 1);
    assert.equal((await edge.metrics()).sum('brink_fallbacks_total'), 2);
  });

  scenario('the answer of a fallback is not stored', async (scope) => {
    const second = await Origin.start(scope);
    const edge = await Brink.start(scope, {
      clusters: {first: {endpoints: [{url: nobody}], fallback: 'second'}, second: {endpoints: [{url: second.url}]}},
      routes: [{...routes[0], cache: {mode: 'http'}}],
    });
    second.handler = () => ({fields: {'Cache-Control': 'max-age=60'}, body: 'for now'});
    for (let i = 0; i < 2; ++i) {
      const answer = await edge.exchange('GET /page HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.deepEqual([answer.status, answer.get('x-brink-fallback')], [200, 'second']);
    }
    assert.equal(second.requests.length, 2);
  });
});

async function with_model(scope, {cluster = {}, ...local_model} = {}) {
  const file = local_model.file ?? random_model(temporary_folder(scope));
  const edge = await Brink.start(scope, {
    local_model: {file, threads: 1, parallel: 2, context: 256, program: model_binary, ...local_model},
    clusters: {first: {endpoints: [{url: nobody}], fallback: 'local_model', ...cluster}},
    routes,
  });
  const client = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'none', maxRetries: 0});
  const ask = (more) => client.chat.completions.create(
      {model: 'any', messages: [{role: 'user', content: 'Hello'}], max_tokens: 8, temperature: 0, ...more});
  const pid = () => Number(edge.program.stderr.match(/.*\(pid (\d+)\)/gs)?.at(-1).match(/\(pid (\d+)\)$/)[1]);
  return {edge, ask, pid};
}

const healthy = (edge) => edge.program.line(/endpoint local-model of cluster local_model is healthy/);

async function answered(ask) {
  return until(async () => ask().catch((error) => {
    assert.equal(error.status, 503, error.message);
    return null;
  }), 'the local model to answer');
}

if (no_model_server) {
  test('the local model', {skip: no_model_server}, () => {});
} else {
  suite('the local model', async () => ({}), () => {
    scenario('answers plain and streamed when no backend can, under its own name', async (scope) => {
      const {edge, ask} = await with_model(scope);
      await healthy(edge);
      const plain = await ask().asResponse();
      assert.equal(plain.headers.get('x-brink-fallback'), 'local_model');
      assert.equal(plain.headers.get('x-brink-endpoint'), 'local-model');
      const {model, usage} = await plain.json();
      assert.equal(model, 'random');
      assert.ok(usage.completion_tokens > 0);
      let events = 0;
      for await (const event of await ask({stream: true})) events += event.choices.length;
      assert.ok(events > 1);
    });

    scenario('a killed model is started again and answers', async (scope) => {
      const {edge, ask, pid} = await with_model(scope);
      await healthy(edge);
      const first = pid();
      process.kill(first, 'SIGKILL');
      await edge.program.line(/local model: killed by signal/);
      assert.equal((await answered(ask)).model, 'random');
      assert.notEqual(pid(), first);
    });

    scenario('a model that hangs is killed; who waits for it sees a broken stream, the next one an answer', async (scope) => {
      const {edge, ask, pid} = await with_model(scope, {context: 4096});
      await healthy(edge);
      const stream = await ask({stream: true, max_tokens: 4000, temperature: 1, seed: 1});
      const events = stream[Symbol.asyncIterator]();
      await events.next();
      process.kill(pid(), 'SIGSTOP');
      await assert.rejects(async () => {
        while (!(await events.next()).done) {
        }
      });
      assert.match(edge.program.stderr, /does not answer: killed/);
      assert.equal((await answered(ask)).model, 'random');
    });

    scenario('a file that is no model never takes the proxy down, and is named', async (scope) => {
      const file = join(temporary_folder(scope), 'broken.gguf');
      writeFileSync(file, 'this is no model\n'.repeat(100));
      const {edge, ask} = await with_model(scope, {file});
      await edge.program.line(/exit status 3: the model cannot be used/);
      assert.match(edge.program.stderr, /broken\.gguf/);
      await assert.rejects(ask(), {status: 503});
      assert.equal((await edge.admin('/healthz')).status, 200);
    });

    scenario('traffic is back on the backends when they are', async (scope) => {
      const origin = await Origin.start(scope);
      const port = origin.port;
      const {edge, ask} = await with_model(scope, {
        cluster: {
          endpoints: [{url: `http://127.0.0.1:${port}`}],
          health_check: {path: '/health', interval: '200ms', timeout: '150ms', unhealthy_after: 1, healthy_after: 1},
        },
      });
      origin.handler = () => ({status: 500, body: '{}'});
      await healthy(edge);
      await edge.program.line(/endpoint 127\.0\.0\.1:\d+ of cluster first is unhealthy/);
      assert.equal((await ask()).model, 'random');
      origin.handler = () => ({fields: {'Content-Type': 'application/json'}, body: '{"model":"the real one","choices":[]}'});
      await edge.program.line(/endpoint 127\.0\.0\.1:\d+ of cluster first is healthy/);
      assert.equal((await ask()).model, 'the real one');
    });

    scenario('it ends with the proxy, however that ends', async (scope) => {
      const {edge, pid} = await with_model(scope);
      await healthy(edge);
      const model = pid();
      process.kill(edge.pid, 'SIGKILL');
      await until(() => {
        try {
          process.kill(model, 0);
          return false;
        } catch {
          return true;
        }
      }, 'the model\'s process to be gone');
      await assert.rejects(edge.stop());
      edge.stop = async () => {};
    });
  });
}
