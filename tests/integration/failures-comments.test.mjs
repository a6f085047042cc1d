// An event stream that is silent gets comments, which no reader takes for events.
import {strict as assert} from 'node:assert';
import OpenAI from 'openai';

import {Brink} from '../support/brink.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const get = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n';
const head = (type) => `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`;

async function answer_of(scope, {type = 'text/event-stream', pieces, gap_ms = 700, route = {}}) {
  const origin = await Origin.start(scope, {
    handler: async (seen, connection) => {
      await connection.send(head(type));
      for (const piece of pieces) {
        await connection.send(piece);
        await new Promise((resolve) => setTimeout(resolve, gap_ms));
      }
      connection.half_close();
    },
  });
  const edge = await Brink.start(scope, {backend: origin.url, route: {keep_alive_comments: '200ms', ...route}});
  return (await edge.exchange(get)).body.toString();
}

suite('comments', async () => ({}), () => {
  scenario('come between two events', async (scope) => {
    const text = await answer_of(scope, {pieces: ['data: 1\n\n', 'data: 2\r\n\r\n']});
    assert.match(text, /^data: 1\n\n(:\n){2,3}data: 2\r\n\r\n(:\n){2,3}$/);
  });

  scenario('come before the first one', async (scope) => {
    assert.match(await answer_of(scope, {pieces: ['', 'data: 1\n\n']}), /^(:\n){2,3}data: 1\n\n(:\n)+$/);
  });

  scenario('never come within one', async (scope) => {
    assert.equal(await answer_of(scope, {pieces: ['data: 1\n', '\ndata:']}), 'data: 1\n\ndata:');
  });

  scenario('never come in what is no event stream', async (scope) => {
    assert.equal(await answer_of(scope, {type: 'text/plain', pieces: ['a\n\n', 'b\n\n']}), 'a\n\nb\n\n');
  });

  scenario('do not extend the limit of the backend', async (scope) => {
    const origin = await Origin.start(scope, {handler: (seen, connection) => void connection.send(head('text/event-stream'))});
    const edge = await Brink.start(
        scope, {backend: origin.url, route: {keep_alive_comments: '100ms', timeouts: {idle: '600ms'}}});
    const client = await edge.connect();
    client.send(get);
    await client.read_response().catch(() => undefined);
    const line = await edge.log_line((entry) => entry.error === 'idle_timeout');
    assert.ok(line.duration_ms < 5_000);
  });

  scenario('do not disturb the OpenAI client', async (scope) => {
    const sim = await GpuSim.start(scope, ['--model', 'm', '--early-head']);
    const edge = await Brink.start(scope, {backend: sim.url, route: {keep_alive_comments: '100ms'}});
    const client = new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk-test', maxRetries: 0});
    const stream = await client.chat.completions.create(
        {model: 'm', messages: [{role: 'user', content: 'Hello'}], max_tokens: 10, stream: true},
        {headers: {'x-sim-fault': 'stall=3;for=1s'}});
    let tokens = 0;
    for await (const chunk of stream) tokens += chunk.choices[0]?.delta?.content ? 1 : 0;
    assert.ok(tokens >= 9, `${tokens}`);
  });
});
