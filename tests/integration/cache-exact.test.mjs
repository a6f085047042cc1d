// Mode `exact`: the same JSON request to a model gets the same answer, streamed or plain, and nobody else's.
import {strict as assert} from 'node:assert';
import OpenAI from 'openai';

import {Brink} from '../support/brink.mjs';
import {cache_status, post_json, request} from '../support/cache_client.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const chat = '/v1/chat/completions';
const done = 'data: [DONE]\n\n';

function event(delta, finish_reason = null, more = {}) {
  const choices = [{index: 0, delta, finish_reason}];
  const value = {id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more};
  return `data: ${JSON.stringify(value)}\n\n`;
}

const usage = {
  prompt_tokens: 1,
  completion_tokens: 2,
  total_tokens: 3
};
const usage_event = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [],
  usage,
})}\n\n`;

const whole_stream = (text, with_usage = false) =>
    [event({role: 'assistant', content: ''}), event({content: text}), event({}, 'stop'),
     ...(with_usage ? [usage_event] : []), done];

function plain_answer(text) {
  const choices = [{index: 0, message: {role: 'assistant', content: text}, finish_reason: 'stop'}];
  return JSON.stringify({id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage});
}

// A model that answers the n-th request with `answer n`, in the form that is asked for.
function model(origin, fields = []) {
  origin.forget();
  origin.handler = async (asked, connection) => {
    const text = `answer ${origin.requests.length}`;
    if (!JSON.parse(asked.body).stream) {
      return {fields: [['Content-Type', 'application/json'], ...fields], body: plain_answer(text)};
    }
    const lines = [['Content-Type', 'text/event-stream'], ['Transfer-Encoding', 'chunked'], ...fields];
    await connection.send(`HTTP/1.1 200 OK\r\n${lines.map(([n, v]) => `${n}: ${v}\r\n`).join('')}\r\n`);
    const with_usage = JSON.parse(asked.body).stream_options?.include_usage;
    for (const each of whole_stream(text, with_usage)) await connection.send(chunk(each));
    return last_chunk;
  };
}

const question = (content, more = {}) => ({model: 'm', temperature: 0, messages: [{role: 'user', content}], ...more});
const content_of = (answer) => JSON.parse(answer.body).choices[0].message.content;
const text_of = (answer) => answer.body.toString()
                                .split('\n\n')
                                .filter((line) => line.startsWith('data: {'))
                                .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? '')
                                .join('');
const word = (answer) => (cache_status(answer) === undefined ? 'past' : cache_status(answer).hit ? 'hit' : 'miss');

async function start(scope, cache = {}, route = {}) {
  const origin = await Origin.start(scope);
  const routes = [{
    name: 'models',
    match: {path_prefix: '/'},
    cluster: 'main',
    limits: {body: '16MiB'},
    cache: {mode: 'exact', ...cache},
    ...route,
  }];
  const edge = await Brink.start(scope, {backend: origin.url, cache: {memory: '64MiB'}, routes});
  return {origin, edge};
}

suite('the same request', start, (shared) => {
  scenario('has one answer', async () => {
    const {origin, edge} = shared;
    model(origin);
    const first = await post_json(edge, chat, question('one'));
    const second = await post_json(edge, chat, question('one'));
    assert.deepEqual([word(first), word(second)], ['miss', 'hit']);
    assert.equal(first.body.toString(), second.body.toString());
    assert.equal(second.get('content-type'), 'application/json');
    assert.ok(Number(second.get('age')) >= 0);
    assert.equal(origin.requests.length, 1);
  });

  scenario('is the same in another order and with other white space', async () => {
    const {origin, edge} = shared;
    model(origin);
    await post_json(edge, chat, '{"model":"m","temperature":0,"messages":[{"role":"user","content":"a b"}]}');
    const other = '{ "messages" : [ {"content":"a b" , "role":"user"} ],\n "temperature":0.0, "model":"\\u006d" }';
    assert.equal(word(await post_json(edge, chat, other)), 'hit');
    assert.equal(word(await post_json(edge, chat, other.replace('a b', 'a  b'))), 'miss');
  });

  for (const [name, more] of Object.entries({
         'another temperature': {temperature: 0.5, seed: 1},
         'another seed': {seed: 2},
         'another model': {model: 'n'},
         'another limit': {max_tokens: 7},
         'a field nobody knows': {surprise: true},
       })) {
    scenario(`${name} makes it another one`, async () => {
      const {origin, edge} = shared;
      model(origin);
      await post_json(edge, chat, question(name));
      assert.equal(word(await post_json(edge, chat, question(name, more))), 'miss');
      assert.equal(word(await post_json(edge, chat, question(name))), 'hit');
      assert.equal(origin.requests.length, 2);
    });
  }

  scenario('goes past the cache when it may be answered otherwise each time', async () => {
    const {origin, edge} = shared;
    model(origin);
    for (let i = 0; i < 2; ++i) {
      assert.equal(word(await post_json(edge, chat, question('any', {temperature: undefined}))), 'past');
    }
    assert.equal(origin.requests.length, 2);
    const seeded = question('any', {temperature: 0.7, seed: 42});
    await post_json(edge, chat, seeded);
    assert.equal(word(await post_json(edge, chat, seeded)), 'hit');
  });

  scenario('goes past the cache when it is no JSON, or to no model', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => ({body: 'x'});
    const client = await edge.connect();
    for (const body of ['{"model":', 'no json', '[]', '{"a":1,"a":2}', '']) {
      client.send(request('POST', chat, {}, body));
      assert.equal(word(await client.read_response('POST')), 'past', body);
    }
    client.send(request('GET', '/v1/models'), request('POST', '/v1/other', {}, '{"temperature":0}'));
    for (const method of ['GET', 'POST']) assert.equal(word(await client.read_response(method)), 'past');
    assert.equal(origin.requests.length, 7);
    client.close();
  });

  scenario('is known by its body, however that comes', async () => {
    const {origin, edge} = shared;
    model(origin);
    const text = JSON.stringify(question('in pieces '.repeat(40)));
    assert.equal(word(await post_json(edge, chat, text)), 'miss');
    const client = await edge.connect();
    client.send(`POST ${chat} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n`);
    for (const letter of text) await client.send(chunk(letter));
    client.send(last_chunk);
    assert.equal(word(await client.read_response('POST')), 'hit');
    // What follows on the connection is the next request.
    const half = request('POST', chat, {Expect: '100-continue'}, text);
    client.send(half.subarray(0, half.length - text.length));
    assert.equal((await client.read_head()).status, 100);
    client.send(text);
    assert.equal(word(await client.read_response('POST')), 'hit');
    client.close();
    assert.equal(origin.requests.length, 1);
  });

  scenario('with a prompt of 220 KB', async () => {
    const {origin, edge} = shared;
    model(origin);
    const long = question('edge '.repeat(44_000));
    assert.equal(word(await post_json(edge, chat, long)), 'miss');
    assert.deepEqual(JSON.parse(origin.requests[0].body), long);
    assert.equal(word(await post_json(edge, chat, long)), 'hit');
    long.messages[0].content += '.';
    assert.equal(word(await post_json(edge, chat, long)), 'miss');
  });

  scenario('from a client of HTTP/1.0', async () => {
    const {origin, edge} = shared;
    model(origin);
    const text = JSON.stringify(question('old', {stream: true}));
    for (const expected of ['miss', 'hit']) {
      const answer =
          await edge.exchange(`POST ${chat} HTTP/1.0\r\nContent-Length: ${text.length}\r\n\r\n${text}`, 'POST');
      assert.equal(word(answer), expected);
      assert.equal(answer.body.toString(), whole_stream('answer 1').join(''));
    }
  });

  scenario('is answered afresh when the client wants that', async () => {
    const {origin, edge} = shared;
    model(origin);
    const ask = (control) => post_json(edge, chat, question('afresh'), {'Cache-Control': control});
    assert.equal((await ask('only-if-cached')).status, 504);
    await post_json(edge, chat, question('afresh'));
    assert.equal(content_of(await ask('only-if-cached')), 'answer 1');
    assert.equal(content_of(await ask('no-store')), 'answer 2');
    assert.equal(content_of(await ask('max-age=60')), 'answer 1', 'no-store changed nothing');
    assert.equal(content_of(await ask('no-cache')), 'answer 3');
    assert.equal(
        content_of(await post_json(edge, chat, question('afresh'))), 'answer 3', 'no-cache stored the new one');
    assert.equal(content_of(await ask('max-age=0')), 'answer 4');
  });

  scenario('from embeddings', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => ({
      fields: {'Content-Type': 'application/json'},
      body: JSON.stringify({
        object: 'list',
        model: 'e',
        data: [{object: 'embedding', index: 0, embedding: [0.5]}],
        usage: {prompt_tokens: 1, total_tokens: 1}
      })
    });
    const input = {model: 'e', input: 'text'};
    assert.equal(word(await post_json(edge, '/v1/embeddings', input)), 'miss');
    assert.equal(word(await post_json(edge, '/v1/embeddings', input)), 'hit');
  });
});

suite('when: always', (scope) => start(scope, {when: 'always'}), (shared) => {
  scenario('also what may be answered otherwise each time', async () => {
    const {origin, edge} = shared;
    model(origin);
    const free = question('always', {temperature: undefined});
    assert.equal(word(await post_json(edge, chat, free)), 'miss');
    assert.equal(word(await post_json(edge, chat, free)), 'hit');
  });
});

suite('an answer belongs to those with the same credential', start, (shared) => {
  const credentials = [
    {},
    {Authorization: 'Bearer a'},
    {Authorization: 'Bearer b'},
    {Authorization: 'bearer a'},
    {Authorization: 'Bearer a '.trim() + '\tx'},
    {Authorization: 'Basic a'},
    {'X-Api-Key': 'a'},
    {'X-Api-Key': 'Bearer a'},
    {'Api-Key': 'a'},
    {'X-Goog-Api-Key': 'a'},
    {'Ocp-Apim-Subscription-Key': 'a'},
    {Cookie: 'session=a'},
    {Cookie: 'session=b'},
    {Authorization: 'Bearer a', Cookie: 'session=a'},
    {Authorization: 'Bearer a', 'X-Api-Key': 'a'},
    {Authorization: 'Bearer a', 'OpenAI-Organization': 'o'},
    {Authorization: 'Bearer a', 'OpenAI-Project': 'o'},
    [['Authorization', 'Bearer a'], ['Authorization', 'Bearer b']],
    [['Authorization', 'Bearer b'], ['Authorization', 'Bearer a']],
    [['X-Api-Key', 'a'], ['Authorization', 'Bearer a'], ['Cookie', 'session=a']],
  ];

  scenario('no two of them share, one after the other', async () => {
    const {origin, edge} = shared;
    model(origin);
    const seen = new Map();
    for (const fields of credentials) {
      const list = Array.isArray(fields) ? fields : Object.entries(fields);
      const answer = await edge.exchange(
          request('POST', chat, [['Content-Type', 'application/json'], ...list], JSON.stringify(question('whose'))),
          'POST');
      if (answer.status === 400) continue;  // two of a field that may stand once
      const content = content_of(answer);
      assert.equal(seen.get(content), undefined, `${JSON.stringify(fields)} got the answer to ${seen.get(content)}`);
      seen.set(content, JSON.stringify(fields));
    }
    assert.ok(seen.size >= credentials.length - 2, `${seen.size}`);
    const again = await post_json(edge, chat, question('whose'), {Authorization: 'Bearer b'});
    assert.equal(seen.get(content_of(again)), JSON.stringify(credentials[2]));
  });

  scenario('nor do they when they ask at the same time', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = async (asked) =>
        ({fields: {'Content-Type': 'application/json'}, body: plain_answer(asked.get('authorization'))});
    const keys = Array.from({length: 40}, (_, i) => `Bearer ${i % 10}`);
    const answers =
        await Promise.all(keys.map((key) => post_json(edge, chat, question('at once'), {Authorization: key})));
    answers.forEach((answer, i) => assert.equal(content_of(answer), keys[i]));
    assert.equal(origin.requests.length, 10);
  });

  scenario('unless the scope is public', async (scope) => {
    const {origin, edge} = await start(scope, {scope: 'public'});
    model(origin, [['Set-Cookie', 'who=first']]);
    const first = await post_json(edge, chat, question('for all'), {Authorization: 'Bearer a'});
    assert.equal(first.get('set-cookie'), 'who=first');
    const second = await post_json(edge, chat, question('for all'), {Authorization: 'Bearer b'});
    assert.deepEqual([word(second), second.get('set-cookie')], ['hit', undefined]);
    model(origin, [['Cache-Control', 'private']]);
    await post_json(edge, chat, question('private'), {Authorization: 'Bearer a'});
    assert.equal(word(await post_json(edge, chat, question('private'), {Authorization: 'Bearer b'})), 'miss');
  });
});

suite('streams', start, (shared) => {
  scenario('are replayed byte for byte', async () => {
    const {origin, edge} = shared;
    model(origin);
    const asked = question('bytes', {stream: true});
    const first = await post_json(edge, chat, asked);
    const second = await post_json(edge, chat, asked);
    assert.deepEqual([word(first), word(second)], ['miss', 'hit']);
    assert.equal(first.body.toString(), whole_stream('answer 1').join(''));
    assert.deepEqual(second.body, first.body);
    assert.equal(second.get('content-type'), 'text/event-stream');
  });

  scenario('serve a plain request, if they tell the usage that belongs into it', async () => {
    const {origin, edge} = shared;
    model(origin);
    await post_json(edge, chat, question('to plain', {stream: true, stream_options: {include_usage: true}}));
    const plain = await post_json(edge, chat, question('to plain'));
    assert.equal(word(plain), 'hit');
    assert.equal(JSON.parse(plain.body).usage.total_tokens, 3);
    assert.equal(plain.get('content-type'), 'application/json');
    assert.equal(content_of(plain), 'answer 1');
    assert.equal(JSON.parse(plain.body).object, 'chat.completion');
    const without = await post_json(edge, chat, question('to plain', {stream: true}));
    assert.equal(word(without), 'hit');
    assert.doesNotMatch(without.body.toString(), /usage/);

    await post_json(edge, chat, question('no usage', {stream: true}));
    assert.equal(word(await post_json(edge, chat, question('no usage'))), 'miss');
  });

  scenario('are made of a plain answer, with its usage if that is wanted', async () => {
    const {origin, edge} = shared;
    model(origin);
    await post_json(edge, chat, question('to stream'));
    const stream = await post_json(edge, chat, question('to stream', {stream: true}));
    assert.equal(word(stream), 'hit');
    assert.equal(stream.get('content-type'), 'text/event-stream');
    assert.equal(text_of(stream), 'answer 1');
    assert.ok(stream.body.toString().endsWith(done));
    const told =
        await post_json(edge, chat, question('to stream', {stream: true, stream_options: {include_usage: true}}));
    assert.equal(word(told), 'hit');
    assert.match(told.body.toString(), /"total_tokens":3/);
    assert.equal(origin.requests.length, 1);
  });

  const broken = {
    'without [DONE]': whole_stream('x').slice(0, -1),
    'with an error event': [event({content: 'x'}), 'data: {"error":{"message":"out of memory"}}\n\n', done],
    'that never finish a choice': [event({content: 'x'}), done],
    'with an event that is no JSON': [event({content: 'x'}), 'data: {"cho\n\n', event({}, 'stop'), done],
    'that go on after their end': [...whole_stream('x'), event({content: 'more'})],
  };
  for (const [name, pieces] of Object.entries(broken)) {
    scenario(`${name} go through and are not stored`, async () => {
      const {origin, edge} = shared;
      origin.forget();
      origin.handler = async (_, connection) => {
        await connection.send(
            'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
        for (const piece of pieces) await connection.send(chunk(piece));
        return last_chunk;
      };
      for (let i = 0; i < 2; ++i) {
        const answer = await post_json(edge, chat, question(name, {stream: true}));
        assert.deepEqual([word(answer), answer.body.toString()], ['miss', pieces.join('')]);
      }
      assert.equal(word(await post_json(edge, chat, question(name))), 'miss');
    });
  }

  scenario('that are cut are not stored', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (const piece of whole_stream('x')) await connection.send(chunk(piece));
      connection.half_close();  // all but the last chunk
    };
    for (let i = 0; i < 2; ++i) {
      // The edge tells the reader of a stream, then breaks off; or answers 502 if nothing was sent yet.
      const answer = await post_json(edge, chat, question('cut', {stream: true})).catch((error) => error);
      if (answer instanceof Error) {
        assert.match(answer.partial.toString(), /upstream_truncated/);
      } else {
        assert.equal(answer.status, 502);
      }
    }
    assert.equal(origin.requests.length, 2);
  });
});

suite('what is not kept', start, (shared) => {
  const refused = {
    'an error': {status: 500, reason: 'Internal Server Error', body: '{"error":{"message":"no"}}'},
    'a refusal to work': {status: 429, reason: 'Too Many Requests', body: '{"error":{"message":"later"}}'},
    'what is no JSON': {fields: {'Content-Type': 'application/json'}, body: '{"choices":['},
    'an error that says 200': {fields: {'Content-Type': 'application/json'}, body: '{"error":{"message":"no"}}'},
    'a web page': {fields: {'Content-Type': 'text/html'}, body: '<p>captive portal'},
    'what the model says is not to be':
        {fields: {'Content-Type': 'application/json', 'Cache-Control': 'no-store'}, body: plain_answer('x')},
    'an unfinished answer':
        {fields: {'Content-Type': 'application/json'}, body: plain_answer('x').replace('"stop"', 'null')},
  };
  for (const [name, answer] of Object.entries(refused)) {
    scenario(name, async () => {
      const {origin, edge} = shared;
      origin.forget();
      origin.handler = () => ({fields: {'Content-Type': 'application/json'}, ...answer});
      for (let i = 0; i < 2; ++i) {
        const got = await post_json(edge, chat, question(name));
        assert.deepEqual([got.status, got.body.toString(), word(got)], [answer.status ?? 200, answer.body, 'miss']);
      }
      assert.equal(origin.requests.length, 2);
    });
  }

  scenario('what was said of one call only', async () => {
    const {origin, edge} = shared;
    const fields = {
      'X-Request-Id': 'from-the-model',
      'X-RateLimit-Remaining-Requests': '59',
      'Set-Cookie': '__cf=1',
      'OpenAI-Processing-Ms': '12',
      'Retry-After': '1',
    };
    model(origin, [...Object.entries(fields), ['OpenAI-Version', '2020-10-01']]);
    const first = await post_json(edge, chat, question('one call'), {'X-Request-Id': 'mine-1'});
    assert.equal(first.get('x-request-id'), 'mine-1');
    assert.equal(first.get('x-ratelimit-remaining-requests'), '59', 'the call was this one');
    assert.equal(first.get('set-cookie'), '__cf=1');
    const second = await post_json(edge, chat, question('one call'), {'X-Request-Id': 'mine-2'});
    assert.equal(word(second), 'hit');
    assert.equal(second.get('x-request-id'), 'mine-2');
    assert.equal(second.get('openai-version'), '2020-10-01');
    for (const name of Object.keys(fields).slice(1)) assert.equal(second.get(name.toLowerCase()), undefined, name);
  });
});

suite('a model that is rewritten', (scope) => start(scope, {}, {rewrite: {model: 'real-model'}}), (shared) => {
  scenario('is the effective one', async () => {
    const {origin, edge} = shared;
    model(origin);
    assert.equal(word(await post_json(edge, chat, question('x', {model: 'alias-1'}))), 'miss');
    assert.equal(JSON.parse(origin.requests[0].body).model, 'real-model');
    assert.equal(word(await post_json(edge, chat, question('x', {model: 'another-alias'}))), 'hit');
    assert.equal(word(await post_json(edge, chat, question('y', {model: 'alias-1'}))), 'miss');
    assert.equal(origin.requests.length, 2);
  });
});

async function start_openai(scope) {
  const sim = await GpuSim.start(scope, ['--model', 'sim-8b', '--speed', '5']);
  const edge = await Brink.start(scope, {
    backend: sim.url,
    cache: {memory: '64MiB'},
    route: {match: {path_prefix: '/v1/'}, cache: {mode: 'exact'}},
  });
  return {sim, edge, client: new OpenAI({baseURL: `${edge.url}/v1`, apiKey: 'sk-test', maxRetries: 0})};
}

suite('OpenAI\'s client', start_openai, (shared) => {
  const messages = [{role: 'user', content: 'Say something about edges.'}];
  const asked = {model: 'sim-8b', messages, max_tokens: 20, temperature: 0};
  const started = async () => (await shared.sim.stats()).requests.started;

  scenario('has plain answers', async () => {
    const before = await started();
    const first = await shared.client.chat.completions.create(asked).withResponse();
    const second = await shared.client.chat.completions.create(asked).withResponse();
    assert.deepEqual(second.data, first.data);
    assert.match(second.response.headers.get('cache-status'), /; hit/);
    assert.notEqual(second.request_id, first.request_id);
    assert.equal(await started(), before + 1);
  });

  scenario('has streams', async () => {
    const before = await started();
    const read = async () => {
      const stream = await shared.client.chat.completions.create(
          {...asked, max_tokens: 21, stream: true, stream_options: {include_usage: true}});
      const chunks = [];
      for await (const each of stream) chunks.push(each);
      return chunks;
    };
    const first = await read();
    assert.equal(first.at(-1).usage.completion_tokens, 21);
    assert.deepEqual(await read(), first);
    assert.equal(await started(), before + 1);
    const plain = await shared.client.chat.completions.create({...asked, max_tokens: 21});
    assert.equal(plain.choices[0].message.content, first.map((each) => each.choices[0]?.delta?.content ?? '').join(''));
    assert.equal(plain.usage.completion_tokens, 21);
    assert.equal(await started(), before + 1);
  });
});
