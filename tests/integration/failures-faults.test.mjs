// Sixteen ways in which an engine fails, as OpenAI's own client sees them through the edge: the faults of the public
// Failover Bench. Before the first byte another engine answers; afterwards the failure is told and never hidden.
import {strict as assert} from 'node:assert';
import OpenAI from 'openai';

import {Brink} from '../support/brink.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until} from '../support/wait.mjs';

const model = 'm';
const messages = [{role: 'user', content: 'Say something about edges.'}];
const options = ['--model', model, '--speed', '5'];
const v1 = (fault, count) => ({fault, path: '/v1/', ...(count ? {count} : {})});

// The first engine has the faults; the second is well. Requests take turns, so two of them meet the first.
async function start(scope) {
  const first = await GpuSim.start(scope, [...options, '--name', 'first']);
  const second = await GpuSim.start(scope, [...options, '--name', 'second']);
  const edge = await Brink.start(scope, {
    clusters: {
      pair: {balance: 'weighted_round_robin', outlier: 'off', endpoints: [{url: first.url}, {url: second.url}]},
      alone: {endpoints: [{url: first.url}], fallback: 'spare'},
      single: {endpoints: [{url: first.url}], outlier: 'off'},
      spare: {endpoints: [{url: second.url}]},
    },
    routes: [
      {name: 'pair', match: {path_prefix: '/'}, cluster: 'pair',
        retry: {on: ['connect', 'reset', 'timeout', '429', '502', '503', '504']},
        timeouts: {first_byte: '1s', idle: '400ms'}},
      {name: 'alone', match: {path_prefix: '/alone/'}, cluster: 'alone', rewrite: {path_prefix: '/'}, timeouts: {idle: '400ms'}},
      {name: 'single', match: {path_prefix: '/single/'}, cluster: 'single', rewrite: {path_prefix: '/'}},
    ],
  });
  const client = (path = '', more = {}) =>
      new OpenAI({baseURL: `${edge.url}${path}/v1`, apiKey: 'sk-test', maxRetries: 0, ...more});
  return {first, second, edge, client};
}

const ask = (client, more = {}) => client.chat.completions.create({model, messages, max_tokens: 4, ...more});

async function tokens_of(stream, tokens = []) {
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta?.content) tokens.push(chunk.choices[0].delta.content);
  }
  return tokens;
}

// Each with an edge of its own: what one fault taught the picker must not hide the next.
suite('before the first byte another engine answers', async () => ({}), () => {
  const faults = [
    ['S01 429 with Retry-After, once', v1('status=429;retry-after=1', 1)],
    ['S04 503, persistent', v1('status=503')],
    ['S05 a reset before the head', v1('reset')],
    ['S06 no answer', v1('hang')],
  ];
  for (const [name, fault] of faults) {
    scenario(name, async (scope) => {
      const {first, client} = await start(scope);
      await first.set_faults([fault]);
      for (let i = 0; i < 4; ++i) assert.equal((await ask(client())).usage.completion_tokens, 4);
      const {faulted, aborted} = (await first.stats()).requests;
      assert.ok(faulted + aborted >= 1, 'the first was asked');
    });
  }

  scenario('S15 down, then well again', async (scope) => {
    const [sick, well] = [await GpuSim.start(scope, options), await GpuSim.start(scope, options)];
    const edge = await Brink.start(scope, {
      backends: [sick.url, well.url],
      cluster: {balance: 'weighted_round_robin', outlier: {consecutive_failures: 2, eject_for: '400ms', slow_start: '300ms'}},
    });
    const client = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk-test', maxRetries: 0});
    await sick.set_faults([v1('reset')]);
    for (let i = 0; i < 8; ++i) assert.ok(await ask(client));
    assert.equal((await edge.metrics()).sum('brink_upstream_ejected'), 1);
    await sick.reset();
    await until(async () => {
      await ask(client);
      return (await sick.stats()).requests.finished >= 2;
    }, 'the engine to serve again');
    assert.equal((await edge.metrics()).sum('brink_upstream_ejected'), 0);
  });

  scenario('S16 the fallback says who answered, with its model and usage', async (scope) => {
    const {first, client} = await start(scope);
    await first.set_faults([v1('status=503')]);
    const {data, response} = await ask(client('/alone')).withResponse();
    assert.equal(response.headers.get('x-brink-fallback'), 'spare');
    assert.equal(response.headers.get('x-sim-node'), 'second');
    assert.equal(data.model, model);
    assert.equal(data.usage.completion_tokens, 4);
  });
});

suite('what the client must decide reaches it unchanged', start, (shared) => {
  scenario('S02 429, persistent everywhere', async () => {
    const {first, second, client} = shared;
    for (const sim of [first, second]) await sim.set_faults([v1('status=429;retry-after=7')]);
    await assert.rejects(ask(client()), (error) => {
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.equal(error.headers.get('retry-after'), '7');
      return true;
    });
    for (const sim of [first, second]) await sim.reset();
  });

  scenario('S03 500, once: the client tries again and succeeds', async () => {
    const {first, client} = shared;
    await first.reset();
    await first.set_faults([v1('status=500', 1)]);
    assert.ok(await ask(client('/single', {maxRetries: 1})));
  });

  const errors = [
    ['S12 the context is too long', {code: 'context_length_exceeded', type: 'invalid_request_error'}],
    ['S13 the content filter', {code: 'content_filter', type: 'invalid_request_error'}],
  ];
  for (const [name, error] of errors) {
    scenario(name, async (scope) => {
      const body = JSON.stringify({error: {message: 'no', param: null, ...error}});
      const handler = () => ({status: 400, reason: 'Bad Request', fields: {'content-type': 'application/json'}, body});
      const origins = [await Origin.start(scope, {handler}), await Origin.start(scope, {handler})];
      const edge = await Brink.start(scope, {backends: origins.map((origin) => origin.url)});
      const client = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk-test'});
      await assert.rejects(ask(client), (seen) => {
        assert.ok(seen instanceof OpenAI.BadRequestError);
        assert.equal(seen.code, error.code);
        return true;
      });
      assert.equal(origins[0].requests.length + origins[1].requests.length, 1, 'asked once');
    });
  }
});

suite('after the first byte the failure is told', start, (shared) => {
  const stream_of = async (path, fault, more = {}) =>
      shared.client(path).chat.completions.create({model, messages, max_tokens: 60, stream: true, ...more}, {headers: {'x-sim-fault': fault}});

  scenario('S07 the first token comes late', async () => {
    assert.ok((await tokens_of(await stream_of('/single', 'late-first-token=1500ms'))).length > 10);
  });

  const broken = [
    ['S08 cut after 40 of 60 tokens', 'cut=40', 'upstream_truncated', 40],
    ['S09 a stall', 'stall=5', 'idle_timeout', 5],
    ['S10 a malformed chunk', 'malformed-chunk=5', 'upstream_malformed', 5],
  ];
  for (const [name, fault, code, most] of broken) {
    scenario(name, async () => {
      const tokens = [];
      await assert.rejects(async () => tokens_of(await stream_of('', fault), tokens), (error) => {
        assert.ok(error instanceof OpenAI.APIError, `${error.constructor.name}: ${error.message}`);
        assert.equal(error.code, code);
        return true;
      });
      // What came in one piece with bytes that are no chunk is not passed on.
      const least = code === 'upstream_malformed' ? 0 : 1;
      assert.ok(tokens.length >= least && tokens.length <= most, `${tokens.length} tokens`);
    });
  }

  scenario('S11 an end without [DONE] is passed on as it is', async () => {
    assert.ok((await tokens_of(await stream_of('', 'no-done'))).length > 10);
  });

  scenario('S14 a cut answer is not continued by the fallback', async () => {
    const {second} = shared;
    await second.reset();
    await assert.rejects(async () => tokens_of(await stream_of('/alone', 'cut=5')), OpenAI.APIError);
    assert.equal((await second.stats()).requests.started, 0);
  });
});
