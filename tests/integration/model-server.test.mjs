// brink-model: a GGUF file behind OpenAI's API. Most scenarios use a tiny model with random weights: what it says means
// nothing, but the same seed says the same.
import {strict as assert} from 'node:assert';
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {join} from 'node:path';
import {test} from 'node:test';

import OpenAI from 'openai';

import {temporary_folder} from '../support/brink.mjs';
import {broken_models, random_model, trained_model} from '../support/gguf.mjs';
import {model_binary, model_program, ModelServer, no_model_server} from '../support/model_server.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {until, within} from '../support/wait.mjs';

// An answer takes much longer than it takes to notice something.
const wide = ['--dim', '128', '--ff', '512', '--layers', '4', '--ctx', '4096'];
const messages = [{role: 'user', content: 'Say something.'}];
const greedy = {temperature: 0, ignore_eos: true};
const drawn = {temperature: 1, seed: 7, ignore_eos: true};

async function start(scope) {
  const file = random_model(temporary_folder(scope));
  return {file, server: await ModelServer.start(scope, file, {alias: 'tiny'})};
}

function chunks(events) {
  assert.equal(events.at(-1), '[DONE]');
  return events.slice(0, -1).map((event) => JSON.parse(event));
}

function answers() {
  suite('answers', start, (shared) => {
    scenario('a chat completion', async () => {
      const answer = await shared.server.client.chat.completions.create({model: 'any', messages, max_tokens: 12, ...drawn});
      assert.match(answer.id, /^chatcmpl-[0-9a-f]{24}$/);
      assert.equal(answer.object, 'chat.completion');
      assert.equal(answer.model, 'tiny', 'the model that answered, not the one that was asked for');
      assert.ok(Math.abs(answer.created - Date.now() / 1000) < 60);
      assert.equal(answer.choices.length, 1);
      const [choice] = answer.choices;
      assert.deepEqual(Object.keys(choice), ['index', 'message', 'logprobs', 'finish_reason']);
      assert.equal(choice.message.role, 'assistant');
      assert.ok(choice.message.content.length > 0);
      assert.equal(choice.finish_reason, 'length');
      const {prompt_tokens, completion_tokens, total_tokens} = answer.usage;
      assert.equal(completion_tokens, 12);
      assert.ok(prompt_tokens > 5);
      assert.equal(total_tokens, prompt_tokens + completion_tokens);
    });

    scenario('a streamed chat is the plain one in pieces, in the exact shapes', async () => {
      const request = {messages, max_tokens: 30, ...drawn};
      const plain = await shared.server.client.chat.completions.create({model: 'any', ...request});
      const events = await shared.server.events('chat/completions', {...request, stream_options: {include_usage: true}});
      assert.equal(events.headers['content-type'], 'text/event-stream');
      const all = chunks(events);
      for (const chunk of all) {
        assert.deepEqual(Object.keys(chunk), ['id', 'object', 'created', 'model', 'choices', 'usage']);
        assert.equal(chunk.object, 'chat.completion.chunk');
        assert.equal(chunk.id, all[0].id);
      }
      const usage = all.pop();
      assert.deepEqual(usage.choices, []);
      assert.equal(usage.usage.completion_tokens, 30);
      for (const chunk of all) assert.equal(chunk.usage, null);
      assert.deepEqual(all[0].choices[0].delta, {role: 'assistant', content: '', refusal: null});
      assert.deepEqual(all.at(-1).choices, [{index: 0, delta: {}, logprobs: null, finish_reason: 'length'}]);
      for (const chunk of all.slice(0, -1)) assert.equal(chunk.choices[0].finish_reason, null);
      const text = all.map((chunk) => chunk.choices[0].delta.content ?? '').join('');
      assert.equal(text, plain.choices[0].message.content);
    });

    scenario('the client library reads a stream without usage', async () => {
      const stream =
          await shared.server.client.chat.completions.create({model: 'any', messages, max_tokens: 9, stream: true, ...drawn});
      let last;
      let pieces = 0;
      for await (const chunk of stream) {
        assert.equal(chunk.usage, undefined);
        assert.equal(chunk.choices.length, 1);
        last = chunk;
        pieces += 1;
      }
      assert.equal(last.choices[0].finish_reason, 'length');
      assert.ok(pieces > 3, `${pieces} pieces`);
    });

    scenario('a text completion, plain and streamed', async () => {
      const request = {model: 'any', prompt: 'Once', max_tokens: 20, ...drawn};
      const plain = await shared.server.client.completions.create(request);
      assert.equal(plain.object, 'text_completion');
      assert.match(plain.id, /^cmpl-/);
      let text = '';
      for await (const chunk of await shared.server.client.completions.create({...request, stream: true}))
        text += chunk.choices[0].text;
      assert.equal(text, plain.choices[0].text);
      const by_default = await shared.server.client.completions.create({...request, max_tokens: undefined});
      assert.equal(by_default.usage.completion_tokens, 16);
    });

    scenario('tokens as a prompt', async () => {
      const {json} = await shared.server.post('completions', {prompt: [1, 100, 101], max_tokens: 4, ...greedy});
      assert.equal(json.usage.prompt_tokens, 3);
      const refused = await shared.server.post('completions', {prompt: [1, 99999], max_tokens: 4});
      assert.equal(refused.status, 400);
      assert.match(refused.json.error.message, /no token 99999/);
    });

    scenario('embeddings, as numbers and in base64', async () => {
      const create = (options) => shared.server.client.embeddings.create({model: 'any', ...options});
      const numbers = await create({input: ['one', 'two', 'one'], encoding_format: 'float'});
      assert.deepEqual(numbers.data.map((item) => item.index), [0, 1, 2]);
      const [one, two, again] = numbers.data.map((item) => item.embedding);
      assert.equal(one.length, 64);
      assert.deepEqual(one, again);
      assert.notDeepEqual(one, two);
      assert.ok(Math.abs(one.reduce((sum, x) => sum + x * x, 0) - 1) < 1e-4, 'of unit length');
      const packed = await create({input: 'one'});  // the client asks for base64 and unpacks it
      for (let i = 0; i < 64; ++i) assert.ok(Math.abs(packed.data[0].embedding[i] - one[i]) < 1e-6);
      assert.ok(numbers.usage.prompt_tokens >= 3);
      await assert.rejects(create({input: 'one', dimensions: 8}), {status: 400, param: 'dimensions'});
      await assert.rejects(create({input: 'x'.repeat(2000)}), {status: 400, code: 'context_length_exceeded'});
    });

    scenario('models, health and metrics', async () => {
      const list = await shared.server.client.models.list();
      assert.deepEqual(list.data.map((model) => model.id), ['tiny']);
      const health = await shared.server.get('/health');
      assert.equal(health.status, 200);
      assert.deepEqual(health.json, {status: 'ok'});
      const metrics = await shared.server.get('/metrics');
      assert.match(metrics.headers['content-type'], /^text\/plain/);
      for (const name of ['llamacpp:requests_processing', 'llamacpp:requests_deferred', 'llamacpp:kv_cache_usage_ratio'])
        assert.match(metrics.text, new RegExp(`^# TYPE ${name} gauge\n${name} [0-9.e-]+$`, 'm'));
    });

    scenario('the same seed gives the same, another gives another', async () => {
      const request = {prompt: 'seeds', max_tokens: 40, ...drawn};
      const first = await shared.server.text(request);
      assert.equal(await shared.server.text(request), first);
      assert.notEqual(await shared.server.text({...request, seed: 8}), first);
      const unseeded = {...request, seed: undefined};
      assert.notEqual(await shared.server.text(unseeded), await shared.server.text(unseeded));
    });

    scenario('sampling members act', async () => {
      const request = {prompt: 'sampling', max_tokens: 40, ignore_eos: true, seed: 3};
      const most_likely = await shared.server.text({...request, temperature: 0});
      for (const narrow of [{top_k: 1}, {top_p: 0}, {min_p: 1}])
        assert.equal(await shared.server.text({...request, ...narrow, temperature: 2}), most_likely, JSON.stringify(narrow));
      assert.notEqual(await shared.server.text({...request, temperature: 2}), most_likely);
      const distinct = (text) => new Set(text).size / text.length;
      const one_word = {grammar: 'root ::= [ab]+', prompt: 'x', max_tokens: 60, temperature: 0, ignore_eos: true};
      const repeated = await shared.server.text(one_word);
      const counts = (text) => Math.abs([...text].filter((c) => c === 'a').length - text.length / 2);
      const penalized = await shared.server.text({...one_word, frequency_penalty: 2});
      assert.ok(counts(penalized) <= counts(repeated), `${penalized} is not more even than ${repeated}`);
      assert.ok(counts(penalized) <= 8, penalized);
      assert.ok(distinct(penalized) > 0);
    });
  });
}

// Where a stop string of `size` characters would first end, from position `from` on.
function first_stop(text, from, size) {
  const stop = text.slice(from, from + size);
  return {stop, expected: text.slice(0, text.indexOf(stop))};
}

function texts() {
  suite('what the text is held to', start, (shared) => {
    scenario('stop strings end the text before them, wherever the tokens are cut', async () => {
      const request = {prompt: 'stops', max_tokens: 60, ...drawn};
      const text = await shared.server.text(request);
      for (const [from, size] of [[10, 1], [14, 2], [17, 3], [20, 6], [25, 12]]) {
        const {stop, expected} = first_stop(text, from, size);
        const plain = await shared.server.post('completions', {...request, stop});
        assert.equal(plain.json.choices[0].text, expected, JSON.stringify(stop));
        assert.equal(plain.json.choices[0].finish_reason, 'stop');
        const all = chunks(await shared.server.events('completions', {...request, stop: [stop, 'never said']}));
        assert.equal(all.map((chunk) => chunk.choices[0].text).join(''), expected);
        assert.equal(all.at(-1).choices[0].finish_reason, 'stop');
      }
    });

    scenario('the beginning of a stop string that does not come is given out', async () => {
      const request = {prompt: 'stops', max_tokens: 20, ...drawn};
      const text = await shared.server.text(request);
      const never = text.slice(-3) + '\u0000never';
      assert.equal(await shared.server.text({...request, stop: never}), text);
    });

    scenario('characters of several bytes come whole', async () => {
      const grammar = 'root ::= [\u00e9\u20ac\u{1f600}\u4e16]{20}';  // which this vocabulary can only write byte by byte
      const events =
          await shared.server.events('completions', {prompt: 'x', max_tokens: 90, grammar, temperature: 1, seed: 5});
      const pieces = chunks(events).map((chunk) => chunk.choices[0].text);
      for (const piece of pieces) assert.match(piece, /^[\u00e9\u20ac\u{1f600}\u4e16]*$/u);
      const letters = [...pieces.join('')];
      assert.equal(letters.length, 20, pieces.join(''));
      assert.ok(pieces.filter((piece) => piece).length === 20, 'each as soon as it is whole');
    });

    scenario('JSON is JSON', async () => {
      let whole = 0;
      for (let seed = 0; seed < 12; ++seed) {
        const {json} = await shared.server.post(
            'chat/completions', {messages, max_tokens: 450, seed, response_format: {type: 'json_object'}});
        const [choice] = json.choices;
        if (choice.finish_reason === 'length') continue;  // cut off, as OpenAI's would be
        const value = JSON.parse(choice.message.content);
        assert.ok(typeof value === 'object' && !Array.isArray(value) && value !== null);
        whole += 1;
      }
      assert.ok(whole > 0, 'none came to its end');
    });

    scenario('a schema is kept', async () => {
      const schema = {
        type: 'object',
        properties: {
          mood: {enum: ['good', 'bad', null]},
          count: {type: 'integer'},
          tags: {type: 'array', items: {type: 'string', maxLength: 5}, minItems: 1, maxItems: 3},
          inner: {anyOf: [{type: 'null'}, {$ref: '#/$defs/inner'}]},
          note: {type: 'string', maxLength: 4},
          kind: {const: 'a "b"'},
        },
        required: ['mood', 'count', 'tags', 'inner', 'kind'],
        additionalProperties: false,
        $defs: {inner: {type: 'object', properties: {yes: {type: 'boolean'}, x: {type: 'number'}}, required: ['yes']}},
      };
      const seen = {note: 0, no_note: 0, inner: 0};
      for (let seed = 0; seed < 15; ++seed) {
        const response_format = {type: 'json_schema', json_schema: {name: 'a', strict: true, schema}};
        const {json} = await shared.server.post('chat/completions', {messages, max_tokens: 450, seed, response_format});
        const [choice] = json.choices;
        assert.equal(choice.finish_reason, 'stop', choice.message.content);
        const value = JSON.parse(choice.message.content);
        assert.deepEqual(Object.keys(value).filter((key) => key !== 'note'), schema.required);
        assert.ok(['good', 'bad', null].includes(value.mood));
        assert.ok(Number.isInteger(value.count));
        assert.ok(value.tags.length >= 1 && value.tags.length <= 3);
        for (const tag of value.tags) assert.ok([...tag].length <= 5, tag);
        assert.equal(value.kind, 'a "b"');
        if (value.inner !== null) assert.equal(typeof value.inner.yes, 'boolean');
        seen.inner += value.inner ? 1 : 0;
        seen[value.note === undefined ? 'no_note' : 'note'] += 1;
      }
      assert.ok(seen.note && seen.no_note && seen.inner, JSON.stringify(seen));
    });

    scenario('a grammar is kept, and a broken one refused', async () => {
      const grammar = 'root ::= ("yes" | "no") ", " [0-9]{3}';
      assert.match(await shared.server.text({prompt: 'x', max_tokens: 30, seed: 1, grammar}), /^(yes|no), \d{3}$/);
      const broken = ['root ::= "a', 'no ::= "a"', 'root ::= root "a"', 'root ::= missing', 'root ::= [', 'a'];
      for (const bad of [...broken, `root ::= ${'('.repeat(30000)}`, 'root ::= "a"{9999999}']) {
        const {status, json} = await shared.server.post('completions', {prompt: 'x', grammar: bad});
        assert.equal(status, 400, bad.slice(0, 40));
        assert.equal(json.error.param, 'grammar');
      }
      assert.equal((await shared.server.get('/health')).status, 200);
    });

    scenario('a schema that cannot be kept is refused', async () => {
      const cases = [
        [{type: 'string', pattern: 'a+'}, 'pattern'], [{type: 'object', patternProperties: {}}, 'patternProperties'],
        [{allOf: []}, 'allOf'], [{type: 'integer', minimum: 3}, 'minimum'], [{type: 'thing'}, 'type'],
        [{$ref: 'https://example.com/a'}, '$ref'], [{enum: []}, 'enum'], [{type: 'array', minItems: 100000}, 'minItems'],
        [{type: 'object', properties: {a: {type: 'string', format: 'date'}}}, 'properties.a.format'],
        [{type: 'object', required: ['a']}, 'required']
      ];
      for (const [schema, where] of cases) {
        const response_format = {type: 'json_schema', json_schema: {name: 'a', schema}};
        const {status, json} = await shared.server.post('chat/completions', {messages, response_format});
        assert.equal(status, 400, JSON.stringify(schema));
        assert.equal(json.error.param, `response_format.json_schema.schema.${where}`);
      }
    });
  });
}

function refusals() {
  suite('refusals', start, (shared) => {
    scenario('what the model cannot do', async () => {
      const cases = {n: 2, logprobs: true, tools: [{type: 'function', function: {name: 'a'}}], logit_bias: {5: 1}, unknown: 1};
      for (const [name, value] of Object.entries(cases)) {
        await assert.rejects(
            shared.server.client.chat.completions.create({model: 'any', messages, [name]: value}),
            {status: 400, param: name, type: 'invalid_request_error'});
      }
    });

    scenario('a prompt that does not fit', async () => {
      const long = 'word '.repeat(400);
      await assert.rejects(
          shared.server.client.chat.completions.create({model: 'any', messages: [{role: 'user', content: long}]}),
          {status: 400, code: 'context_length_exceeded', param: 'messages'});
      await assert.rejects(
          shared.server.client.completions.create({model: 'any', prompt: 'x'.repeat(3_000_000)}),
          {status: 400, code: 'context_length_exceeded', param: 'prompt'});
    });

    scenario('an answer ends where the context ends', async () => {
      const {json} = await shared.server.post('completions', {prompt: 'word '.repeat(60), max_tokens: 5000, ...greedy});
      assert.equal(json.choices[0].finish_reason, 'length');
      // The last token needs no room: nothing comes after it.
      assert.equal(json.usage.total_tokens, 512 + 1);
    });

    scenario('bodies, paths and methods', async () => {
      const {server} = shared;
      assert.equal((await server.post('completions', '{"prompt":')).status, 400);
      assert.equal((await server.post('completions', 'x'.repeat(5 << 20))).status, 413);
      assert.equal((await server.get('/nothing')).status, 404);
      const wrong = await server.get('/v1/completions');
      assert.equal(wrong.status, 405);
      assert.equal(wrong.headers.allow, 'POST');
      assert.equal(wrong.json.error.code, 'method_not_allowed');
    });

    scenario('HTTP that is none', async () => {
      const cases = [
        ['GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', 400], ['\x16\x03\x01\x02', 400], ['GET / HTTP/2.0\r\n\r\n', 505],
        [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20000)}\r\n\r\n`, 431],
        ['POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n', 400],
        ['POST /v1/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 400],
        ['POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx', 415],
        ['POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n', 413]
      ];
      for (const [bytes, status] of cases) {
        const wire = await shared.server.connect();
        wire.send(bytes);
        const head = await wire.read_response('POST');
        assert.equal(head.status, status, bytes.slice(0, 60));
        assert.equal(head.get('connection'), 'close');
        await within(wire.closed, 'the connection to end');
        wire.close();
      }
    });

    scenario('a connection is used again, and requests sent ahead are answered in order', async () => {
      const wire = await shared.server.connect();
      const body = JSON.stringify({prompt: 'x', max_tokens: 3, ...greedy});
      const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      wire.send(
          'POST /v1/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n' + chunked +
          'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\nHEAD /health HTTP/1.1\r\nhost: a\r\n\r\n');
      const first = await wire.read_response('POST');
      assert.equal(JSON.parse(first.body).object, 'text_completion');
      assert.equal(JSON.parse((await wire.read_response('GET')).body).object, 'list');
      assert.equal((await wire.read_response('HEAD')).status, 405);
      wire.send(`POST /v1/completions HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`);
      assert.equal((await wire.read_head()).status, 100);
      wire.send(body);
      assert.equal((await wire.read_response('POST')).status, 200);
      wire.close();
    });
  });
}

function sharing() {
  suite('many requests', start, (shared) => {
    scenario('four streams grow together', async () => {
      const {server} = shared;
      const [steps, inputs] = [await server.metric('llamacpp:n_decode_total'), await server.metric('brink_model_step_tokens_total')];
      const order = [];
      await Promise.all([1, 2, 3, 4].map((number) => server.events('completions', {
        prompt: `stream ${number}`,
        max_tokens: 400,
        ...drawn,
        seed: number
      }, (events) => {
        order.push(number);
        return events.at(-1) === '[DONE]';
      })));
      const together = (await server.metric('brink_model_step_tokens_total') - inputs) /
          (await server.metric('llamacpp:n_decode_total') - steps);
      assert.ok(together > 2, `${together} tokens a step`);
      const changes = order.filter((number, i) => i > 0 && number !== order[i - 1]).length;
      assert.ok(changes > 20, `the streams took turns ${changes} times`);
    });

    scenario('neighbours do not change an answer', async () => {
      const {server} = shared;
      for (const how of [greedy, drawn]) {
        const request = {prompt: 'the story of a neighbour', max_tokens: 120, ...how};
        const alone = await server.text(request);
        const neighbour = (number) => server.text({prompt: 'n'.repeat(9 * number), max_tokens: 150, ...drawn, seed: number});
        const [among] = await Promise.all([server.text(request), neighbour(1), neighbour(2), neighbour(3)]);
        assert.equal(among, alone);
      }
    });

    scenario('a beginning that was evaluated before is not evaluated again', async () => {
      const {server} = shared;
      const beginning = 'A long beginning that all of these requests have in common. '.repeat(3);
      const ask = async (end) =>
          (await server.post('completions', {prompt: beginning + end, max_tokens: 8, ...greedy})).json;
      const first = await ask('One.');
      const second = await ask('Two.');
      const cached = second.usage.prompt_tokens_details.cached_tokens;
      assert.ok(cached > 100 && cached < second.usage.prompt_tokens, `${cached} of ${second.usage.prompt_tokens}`);
      const again = await ask('One.');
      assert.equal(again.choices[0].text, first.choices[0].text, 'the reuse shows only in the time');
      // An unrelated request takes another sequence, so that the long beginning stays.
      await server.text({prompt: 'Unrelated', max_tokens: 8});
      assert.ok((await ask('Three.')).usage.prompt_tokens_details.cached_tokens >= cached - 1);
    });
  });

  scenario('past the queue: 503, and a place is free again when a client goes', async (scope) => {
    const file = random_model(temporary_folder(scope));
    const server = await ModelServer.start(scope, file, {parallel: 1, queue: 1});
    const long = {prompt: 'x', max_tokens: 100000, ...drawn, grammar: 'root ::= [a-z]+'};
    // Answers as long as the context end too soon: started again until the test is done.
    let enough = false;
    const keep_busy = async () => {
      while (!enough) await server.events('completions', long, () => enough).catch(() => {});
    };
    const busy = [keep_busy(), keep_busy()];
    const refused = await until(async () => {
      const answer = await server.post('completions', {prompt: 'y', max_tokens: 1});
      return answer.status === 503 && answer;
    }, 'the queue to be full');
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal(refused.json.error.code, 'queue_full');
    assert.equal(refused.json.error.type, 'server_error');
    enough = true;
    await Promise.all(busy);
    await until(async () => (await server.metric('llamacpp:requests_processing')) === 0, 'the server to be idle');
    assert.equal((await server.post('completions', {prompt: 'y', max_tokens: 1})).status, 200);
    assert.ok(await server.metric('brink_model_requests_refused_total') >= 1);
  });

  scenario('a client that goes ends its work, running or waiting', async (scope) => {
    const file = random_model(temporary_folder(scope), 'wide.gguf', wide);
    const server = await ModelServer.start(scope, file, {parallel: 1, queue: 2});
    const long = {prompt: 'x', max_tokens: 4000, ...drawn};
    const waiting = await server.connect();
    const running = await server.events('completions', long, (events) => {
      if (events.length === 3) {
        const body = JSON.stringify(long);
        waiting.send(`POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      }
      return events.length > 60;
    });
    assert.ok(running.length < 1000);
    waiting.close();
    await until(async () => (await server.metric('brink_model_requests_cancelled_total')) === 2, 'both to be cancelled');
    assert.equal(await server.metric('llamacpp:requests_processing'), 0);
    assert.equal(await server.metric('llamacpp:requests_deferred'), 0);
    const tokens = await server.metric('llamacpp:tokens_predicted_total');
    assert.ok(tokens < 2000, `${tokens} tokens`);
  });
}

function process_scenarios() {
  scenario('a Unix socket, open to this user only, gone with the process', async (scope) => {
    const folder = temporary_folder(scope);
    const path = join(folder, 'model.sock');
    const file = random_model(folder);
    const first = await ModelServer.start(scope, file, {listen: `unix:${path}`});
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const answer = await new Promise((done, fail) => {
      http.get({socketPath: path, path: '/health', agent: false}, (response) => {
        response.resume().on('end', () => done(response.statusCode));
      }).on('error', fail);
    });
    assert.equal(answer, 200);
    const second = model_program(['--file', file, '--listen', `unix:${path}`]);
    await within(second.exited, 'the second to end');
    assert.match(second.stderr, /another process serves it/);
    assert.equal(second.result.code, 1);
    // One that was killed leaves its socket behind, which does not stop the next.
    first.program.signal('SIGKILL');
    await first.program.exited;
    first.program.stop = async () => {};
    assert.ok(existsSync(path));
    const third = await ModelServer.start(scope, file, {listen: `unix:${path}`});
    await third.program.stop();
    assert.ok(!existsSync(path));
    third.program.stop = async () => {};
  });

  scenario('SIGTERM ends it within a second, also in the middle of work', async (scope) => {
    const file = random_model(temporary_folder(scope), 'wide.gguf', wide);
    const server = await ModelServer.start(scope, file);
    const prompt = Array.from({length: 4000}, (_, i) => 3 + i % 250);
    const lost = [1, 2, 3, 4].map(() => server.post('completions', {prompt, max_tokens: 90}).catch(() => 'lost'));
    await until(async () => (await server.metric('llamacpp:requests_processing')) === 4, 'work');
    const begin = performance.now();
    server.program.signal('SIGTERM');
    await within(server.program.exited, 'the process to end', 3000);
    assert.ok(performance.now() - begin < 1000, `${performance.now() - begin} ms`);
    await Promise.all(lost);
  });

  scenario('the end of standard input ends it, when asked for', async (scope) => {
    const file = random_model(temporary_folder(scope));
    const child = spawn(model_binary, ['--file', file, '--listen', '127.0.0.1:0', '--end-with-stdin']);
    scope.after(() => child.kill('SIGKILL'));
    const ended = new Promise((done) => child.on('close', (code, signal) => done({code, signal})));
    await within(new Promise((done) => child.stderr.on('data', (text) => /ready/.test(text) && done())), 'ready');
    child.stdin.write('anything');
    child.stdin.end();
    assert.deepEqual(await within(ended, 'the process to end'), {code: 0, signal: null});
  });

  scenario('before the model is loaded: 503 loading', async (scope) => {
    // A file that takes as long as we wish: a pipe that nobody writes to.
    const folder = temporary_folder(scope);
    const pipe = join(folder, 'slow.gguf');
    execFileSync('mkfifo', [pipe]);
    const server = await ModelServer.start(scope, pipe, {ready: false, 'load-limit': 2});
    server.program.stop = async () => {};
    const health = await server.get('/health');
    assert.equal(health.status, 503);
    assert.deepEqual(health.json, {status: 'loading'});
    const answer = await server.post('chat/completions', {messages});
    assert.equal(answer.status, 503);
    assert.equal(answer.json.error.code, 'loading');
    assert.equal(answer.headers['retry-after'], '1');
    // And such a file does not keep the process for ever.
    await within(server.program.exited, 'the process to give up', 10_000);
    assert.equal(server.program.result.code, 3);
    assert.match(server.program.stderr, /slow\.gguf: it was not loaded within 2 s/);
  });

  scenario('a broken file: status 3 within 10 s, with its name and what is wrong', async (scope) => {
    const folder = temporary_folder(scope);
    const good = readFileSync(random_model(folder));
    const cases = broken_models(good);
    assert.ok(cases.length >= 30);
    const files = cases.map(([what, bytes], i) => {
      const file = join(folder, `broken-${i}.gguf`);
      writeFileSync(file, bytes);
      return [what, file];
    });
    for (const [what, file] of [...files, ['a folder', folder], ['no file', join(folder, 'none.gguf')]]) {
      const program = model_program(['--file', file, '--listen', '127.0.0.1:0', '--threads', '1']);
      const {code, signal} = await within(program.exited, `brink-model to refuse ${what}`, 10_000);
      assert.deepEqual({code, signal}, {code: 3, signal: null}, `${what}: ${program.stderr}`);
      const last = program.stderr.trimEnd().split('\n').at(-1);
      assert.ok(last.startsWith(`brink-model: ${file}: `), `${what}: ${last}`);
      assert.ok(last.length > file.length + 40, `${what}: ${last}`);
    }
  });

  scenario('a template that llama.cpp does not know has to be named', async (scope) => {
    const folder = temporary_folder(scope);
    const bytes = readFileSync(random_model(folder));
    bytes.write('<|xx_start|>', bytes.indexOf('<|im_start|>', bytes.indexOf('tokenizer.chat_template')));
    bytes.write('<|xx_start|>', bytes.lastIndexOf('<|im_start|>'));
    const file = join(folder, 'strange.gguf');
    writeFileSync(file, bytes);
    const program = model_program(['--file', file, '--listen', '127.0.0.1:0']);
    await within(program.exited, 'the process to end');
    assert.equal(program.result.code, 3);
    assert.match(program.stderr, /name one with --chat-template: plain .*chatml/);
    const [plain, named] = [
      await ModelServer.start(scope, file, {'chat-template': 'plain'}),
      await ModelServer.start(scope, file, {'chat-template': 'chatml'})
    ];
    const usage = async (server) => (await server.post('chat/completions', {messages, max_tokens: 1})).json.usage.prompt_tokens;
    assert.notEqual(await usage(plain), await usage(named));
  });

  scenario('bad usage: status 2', async () => {
    const usages = [
      [], ['--file', 'a'], ['--file', 'a', '--listen', '127.0.0.1:0', '--threads', '0'],
      ['--file', 'a', '--listen', '127.0.0.1:0', '--cpus', '3-1'],
      ['--file', 'a', '--listen', '127.0.0.1:0', '--memory-cap', 'much'], ['--surprise']
    ];
    for (const args of usages) {
      const program = model_program(args);
      await within(program.exited, 'the process to end');
      assert.equal(program.result.code, 2, args.join(' '));
    }
    const open = model_program(['--file', 'a', '--listen', '0.0.0.0:0']);
    await within(open.exited, 'the process to end');
    assert.equal(open.result.code, 1);
    assert.match(open.stderr, /only loopback addresses and Unix sockets/);
  });

  scenario('too little memory: status 3 with a hint', async (scope) => {
    const file = random_model(temporary_folder(scope));
    const program = model_program(['--file', file, '--listen', '127.0.0.1:0', '--memory-cap', '200MiB']);
    await within(program.exited, 'the process to end');
    // With a sanitizer the program needs terabytes of address space to begin with.
    if (/Sanitizer|Failed to mmap/.test(program.stderr)) return;
    assert.equal(program.result.code, 3);
    assert.match(program.stderr, /random\.gguf: cannot be used: .*--memory-cap may be too low/);
  });

  scenario('priority and CPUs are what was asked for', async (scope) => {
    const file = random_model(temporary_folder(scope));
    const server = await ModelServer.start(scope, file, {nice: 5, cpus: 0});
    const status = readFileSync(`/proc/${server.program.pid}/status`, 'utf8');
    assert.match(status, /^Cpus_allowed_list:\s+0$/m);
    const stat = readFileSync(`/proc/${server.program.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    assert.equal(stat[16], '5');
  });
}

function trained() {
  const file = trained_model();
  if (!file) {
    test('a trained model', {skip: 'there is no stories260K-q8_0.gguf; BRINK_TEST_GGUF names it'}, () => {});
    return;
  }
  suite('a trained model', async (scope) => ({server: await ModelServer.start(scope, file)}), (shared) => {
    scenario('writes English', async () => {
      const text = await shared.server.text({prompt: 'Once upon a time', max_tokens: 40, temperature: 0});
      assert.match(text, /^, there was a little/);
    });

    scenario('without a template of its own a conversation is a transcript that ends with the next turn', async () => {
      const chat = (stop) => shared.server.client.chat.completions.create(
          {model: 'any', messages: [{role: 'user', content: 'Tell me a story.'}], max_tokens: 60, temperature: 0, stop});
      const {usage, choices} = await chat();
      const same = await shared.server.post('completions', {
        prompt: 'User: Tell me a story.\nAssistant:',
        max_tokens: 60,
        temperature: 0,
        stop: '\nUser:'
      });
      assert.equal(choices[0].message.content, same.json.choices[0].text);
      assert.equal(usage.prompt_tokens, same.json.usage.prompt_tokens);
    });

    scenario('stop strings over the boundaries of its tokens', async () => {
      const request = {prompt: 'Once upon a time', max_tokens: 60, temperature: 0};
      const text = await shared.server.text(request);
      for (let from = 3; from < 40; from += 4) {
        const {stop, expected} = first_stop(text, from, 5);
        assert.equal(await shared.server.text({...request, stop}), expected, JSON.stringify(stop));
      }
    });
  });
}

if (no_model_server) {
  test('brink-model', {skip: no_model_server}, () => {});
} else {
  answers();
  texts();
  refusals();
  sharing();
  process_scenarios();
  trained();
}
