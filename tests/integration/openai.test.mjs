// OpenAI's own client for Node.js, unchanged but for its base URL, in front of simulated engines.
import {strict as assert} from 'node:assert';
import OpenAI from 'openai';

import {Brink} from '../support/brink.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, within} from '../support/wait.mjs';

const model = 'sim-8b';
const messages = [{role: 'user', content: 'Say something about edges.'}];
const fault = (text) => ({headers: {'x-sim-fault': text}});

async function start(scope, speed = 5) {
  const sim = await GpuSim.start(
      scope, ['--model', model, '--speed', String(speed), '--kv-blocks', '262144', '--max-batch', '64']);
  const edge =
      await Brink.start(scope, {backend: sim.url, route: {match: {path_prefix: '/v1/'}, limits: {body: '16MiB'}}});
  const client = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk-test', maxRetries: 0});
  return {sim, edge, client};
}

suite('answers', start, (shared) => {
  scenario('a chat completion', async () => {
    const {client, sim} = shared;
    const {data, response, request_id} =
        await client.chat.completions.create({model, messages, max_tokens: 12}).withResponse();
    assert.equal(data.model, model);
    assert.equal(data.choices.length, 1);
    assert.ok(data.choices[0].message.content.length > 0);
    assert.equal(data.usage.completion_tokens, 12);
    assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + 12);
    assert.equal(response.headers.get('x-brink-endpoint'), `127.0.0.1:${sim.port}`);
    assert.ok(request_id, 'the client finds the request id');
    const line = await shared.edge.log_line((entry) => entry.request_id === request_id);
    assert.equal(line.status, 200);
  });

  scenario('a streamed chat completion, with usage', async () => {
    const stream = await shared.client.chat.completions.create(
        {model, messages, max_tokens: 20, stream: true, stream_options: {include_usage: true}});
    let tokens = 0;
    let finish_reason;
    let usage;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta?.content) tokens += 1;
      finish_reason = chunk.choices[0]?.finish_reason ?? finish_reason;
      usage = chunk.usage ?? usage;
    }
    assert.ok(tokens > 10, `${tokens} pieces`);
    assert.equal(finish_reason, 'length');
    assert.equal(usage.completion_tokens, 20);
  });

  scenario('a streamed answer is the plain answer in pieces', async () => {
    const {client} = shared;
    const plain = await client.chat.completions.create({model, messages, max_tokens: 30});
    const stream = await client.chat.completions.create({model, messages, max_tokens: 30, stream: true});
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
    assert.equal(text, plain.choices[0].message.content);
  });

  scenario('a text completion', async () => {
    const {choices} = await shared.client.completions.create({model, prompt: 'Once', max_tokens: 5});
    assert.ok(choices[0].text.length > 0);
  });

  scenario('embeddings', async () => {
    const {data} = await shared.client.embeddings.create({model, input: ['one', 'two', 'one']});
    assert.equal(data.length, 3);
    assert.ok(data[0].embedding.every((number) => Number.isFinite(number)));
    assert.deepEqual(data[0].embedding, data[2].embedding);
    assert.notDeepEqual(data[0].embedding, data[1].embedding);
  });

  scenario('the list of models', async () => {
    const names = [];
    for await (const entry of shared.client.models.list()) names.push(entry.id);
    assert.deepEqual(names, [model]);
  });

  scenario('a prompt of one megabyte', async () => {
    const content = 'edge '.repeat(200_000);
    const {usage} =
        await shared.client.chat.completions.create({model, messages: [{role: 'user', content}], max_tokens: 1});
    assert.ok(usage.prompt_tokens > 100_000);
  });
});

suite('errors have the right class', start, (shared) => {
  const classes = [
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ];
  for (const [status, error_class] of classes) {
    scenario(`${status} of the backend`, async () => {
      await assert.rejects(
          shared.client.chat.completions.create({model, messages}, fault(`status=${status}`)), (error) => {
            assert.ok(error instanceof error_class, `${error.constructor.name}: ${error.message}`);
            assert.equal(error.status, status);
            return true;
          });
    });
  }

  scenario('a Retry-After of the backend reaches the client, which then succeeds', async () => {
    const {sim, edge} = shared;
    await sim.set_faults([{fault: 'status=429;retry-after=1', count: 1}]);
    const patient = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk-test', maxRetries: 1});
    const began = performance.now();
    const {choices} = await patient.chat.completions.create({model, messages, max_tokens: 1});
    assert.equal(choices.length, 1);
    assert.ok(performance.now() - began >= 950, 'the client waited as told');
  });

  scenario('a path without a route', async () => {
    const client = new OpenAI({baseURL: `${shared.edge.url}/v2`, apiKey: 'sk-test', maxRetries: 0});
    await assert.rejects(client.models.list(), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'no_route');
      assert.equal(error.type, 'invalid_request_error');
      return true;
    });
  });

  scenario('a backend that resets the connection', async () => {
    await assert.rejects(shared.client.chat.completions.create({model, messages}, fault('reset')), (error) => {
      assert.ok(error instanceof OpenAI.InternalServerError);
      assert.equal(error.status, 502);
      assert.equal(error.code, 'upstream_reset');
      return true;
    });
  });

  scenario('a stream that the backend cuts is an error, not an end', async () => {
    const stream =
        await shared.client.chat.completions.create({model, messages, max_tokens: 50, stream: true}, fault('cut=5'));
    let pieces = 0;
    const read = async () => {
      for await (const chunk of stream) pieces += chunk.choices[0]?.delta?.content ? 1 : 0;
    };
    await assert.rejects(read(), (error) => {
      assert.ok(error instanceof OpenAI.APIError, `${error.constructor.name}: ${error.message}`);
      assert.equal(error.code, 'upstream_truncated');
      return true;
    });
    assert.ok(pieces > 0 && pieces <= 5, `${pieces} pieces`);
  });

  scenario('a malformed chunk in a stream is an error, not an end', async () => {
    const stream = await shared.client.chat.completions.create(
        {model, messages, max_tokens: 50, stream: true}, fault('malformed-chunk=5'));
    await assert.rejects(async () => {
      for await (const _ of stream) void _;
    }, OpenAI.APIError);
  });
});

// At a pace that leaves the client time to read fifty streams.
suite('an aborted call ends at the engine', (scope) => start(scope, 0.2), (shared) => {
  const one_aborted = (stats) => stats.requests.aborted === 1 && stats.requests.active === 0;

  scenario('in the middle of a stream', async () => {
    const {client, sim} = shared;
    await sim.reset();
    const stream = await client.chat.completions.create({model, messages, max_tokens: 60_000, stream: true});
    let pieces = 0;
    for await (const _ of stream) {
      void _;
      if (++pieces === 3) stream.controller.abort();
    }
    await sim.settled(one_aborted, 'the engine to drop the request');
  });

  for (const stream of [false, true]) {
    scenario(`before the first byte, ${stream ? 'streamed' : 'plain'}`, async () => {
      const {client, sim} = shared;
      await sim.reset();
      const controller = new AbortController();
      const call =
          client.chat.completions.create({model, messages, stream}, {signal: controller.signal, ...fault('hang')});
      const rejected = assert.rejects(call, OpenAI.APIUserAbortError);
      await sim.settled((stats) => stats.requests.started === 1, 'the engine to have the request');
      controller.abort();
      await rejected;
      await sim.settled(one_aborted, 'the engine to drop the request');
    });
  }

  scenario('fifty at once', async () => {
    const {client, sim} = shared;
    await sim.reset();
    const begun = deferred();
    let waiting = 50;
    const calls = Array.from({length: waiting}, async () => {
      const stream = await client.chat.completions.create({model, messages, max_tokens: 60_000, stream: true});
      let pieces = 0;
      for await (const _ of stream) {
        void _;
        if (++pieces > 1) continue;
        if (--waiting === 0) begun.resolve();
        begun.promise.then(() => stream.controller.abort());
      }
    });
    await within(Promise.all(calls), 'every stream to end');
    await sim.settled(
        (stats) => stats.requests.aborted === 50 && stats.requests.active === 0, 'the engine to drop all');
  });
});
