// Mode `exact`: which requests to a model are the same one, however they come.
import {strict as assert} from 'node:assert';
import OpenAI from 'openai';

import {Brink} from '../support/brink.mjs';
import {post_json, request} from '../support/cache_client.mjs';
import {chat, content_of, model, question, start_exact, whole_stream, word} from '../support/chat_model.mjs';
import {GpuSim} from '../support/gpu_sim.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {scenario, suite} from '../support/scenario.mjs';

suite('the same request', start_exact, (shared) => {
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

suite('when: always', (scope) => start_exact(scope, {when: 'always'}), (shared) => {
  scenario('also what may be answered otherwise each time', async () => {
    const {origin, edge} = shared;
    model(origin);
    const free = question('always', {temperature: undefined});
    assert.equal(word(await post_json(edge, chat, free)), 'miss');
    assert.equal(word(await post_json(edge, chat, free)), 'hit');
  });
});

suite('a model that is rewritten', (scope) => start_exact(scope, {}, {rewrite: {model: 'real-model'}}), (shared) => {
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
