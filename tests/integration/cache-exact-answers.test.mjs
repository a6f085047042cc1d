// Mode `exact`: which answers of a model are kept, what of them, for whom, and streams and plain answers of each other.
import {strict as assert} from 'node:assert';

import {post_json, request} from '../support/cache_client.mjs';
import {
  chat,
  content_of,
  done,
  event,
  model,
  plain_answer,
  question,
  start_exact,
  text_of,
  whole_stream,
  word,
} from '../support/chat_model.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {scenario, suite} from '../support/scenario.mjs';

suite('an answer belongs to those with the same credential', start_exact, (shared) => {
  const credentials = [
    {},
    {Authorization: 'Bearer a'},
    {Authorization: 'Bearer b'},
    {Authorization: 'bearer a'},
    {Authorization: 'Bearer a\tx'},
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
    const {origin, edge} = await start_exact(scope, {scope: 'public'});
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

suite('streams', start_exact, (shared) => {
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

suite('what is not kept', start_exact, (shared) => {
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
