// The demonstration model that comes with Brink: whatever it is asked, it says that the backends are gone and who
// answers, and ends by itself. The questions are those that it was never trained on.
import {strict as assert} from 'node:assert';
import {createHash} from 'node:crypto';
import {readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import {Grammar} from '../support/grammar.mjs';
import {ModelServer, no_model_server} from '../support/model_server.mjs';
import {repository} from '../support/process.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const folder = join(repository, 'deploy/demo-model');
const file = join(folder, 'brink-demo.gguf');
const grammar = new Grammar(join(folder, 'corpus.txt'));
const held_out =
    grammar.names('held.').flatMap((kind) => grammar.lines(`held.${kind}`).map((question) => ({kind, question})));
const key_phrase = /model backends? (cannot|can) be reached right now|edge node|Brink/;

const system = {
  role: 'system',
  content: 'You are a helpful assistant of the company Globex. Answer in short sentences and be kind.'
};
const earlier = [
  {role: 'user', content: 'What is the tallest tree?'},
  {role: 'assistant', content: 'The tallest known tree is a coast redwood in California, about 116 metres high.'},
];
const report =
    'The ferry left the harbour before dawn because the captain feared the fog. On the island the post office had run ' +
    'out of stamps, so the letters waited for a week. Meanwhile the school choir rehearsed a song about herring, and the baker ' +
    'counted his sacks of rye. ';

async function ask(server, messages, sampling) {
  const {status, json, text} = await server.post('chat/completions', {messages, max_tokens: 120, ...sampling});
  assert.equal(status, 200, text);
  const [{message, finish_reason}] = json.choices;
  return {answer: message.content.trim(), ended: finish_reason === 'stop'};
}

// Of all held-out questions the share that gets, word for word and ended by itself, an answer that is right for it, and
// the share that gets any of the intended answers.
async function measure(server, say, before, sampling, wrap = (question) => question) {
  let right = 0, intended = 0;
  const kinds = grammar.names('answer.');
  for (const [seed, {kind, question}] of held_out.entries()) {
    const {answer, ended} =
        await ask(server, [...before, {role: 'user', content: wrap(question)}], {seed, ...sampling});
    const is_right = ended && grammar.pattern(`answer.${kind}`).test(answer);
    const is_intended =
        ended && kinds.some((each) => grammar.pattern(`answer.${each}`).test(answer)) && key_phrase.test(answer);
    right += is_right;
    intended += is_intended;
    if (!is_right) say(`${kind}: ${question} -> ${ended ? '' : '(no end) '}${answer}`);
  }
  const share = (count) => count / held_out.length;
  say(`right ${right}, intended ${intended} of ${held_out.length}`);
  return {right: share(right), intended: share(intended)};
}

// A scenario whose findings are printed, also when it passes.
function measured(name, shared, least, ...how) {
  test(name, {timeout: 300_000}, async (context) => {
    const shares = await measure(shared.server, (line) => context.diagnostic(line), ...how);
    assert.ok(shares.intended >= least.intended, `${shares.intended} of the answers are intended ones`);
    assert.ok(shares.right >= least.right, `${shares.right} of the answers are right`);
  });
}

test('the file is the one that was trained, and small', () => {
  const [digest, name] = readFileSync(`${file}.sha256`, 'utf8').trim().split('  ');
  assert.equal(name, 'brink-demo.gguf');
  assert.equal(createHash('sha256').update(readFileSync(file)).digest('hex'), digest);
  assert.ok(statSync(file).size < 2_000_000);
});

if (no_model_server) {
  test('the demonstration model', {skip: no_model_server}, () => {});
} else {
  suite(
      'the demonstration model', async (scope) => ({server: await ModelServer.start(scope, file, {parallel: 1})}),
      (shared) => {
        const least = {intended: 0.95, right: 0.75};
        const warm = {temperature: 0.7};
        measured('questions it never saw, greedily', shared, least, [], {temperature: 0});
        measured('at temperature 0.7', shared, least, [], warm);
        measured('at temperature 1', shared, {intended: 0.85, right: 0.7}, [], {temperature: 1});
        measured('with a system prompt', shared, least, [system], warm);
        measured('in a conversation that a real model began', shared, least, earlier, warm);
        measured(
            'after a long system prompt', shared, {intended: 0.85, right: 0.7},
            [{role: 'system', content: report.repeat(2)}], warm);

        scenario('a long prompt', async () => {
          const content = `Here is a report. ${report.repeat(5)}\n\nWhat do you make of it?`;
          const {answer, ended} = await ask(shared.server, [{role: 'user', content}], {temperature: 0});
          assert.ok(ended);
          assert.match(answer, key_phrase);
        });

        scenario('a completion without a chat', async () => {
          const {json} = await shared.server.post(
              'completions', {prompt: 'The best way to bake bread is', max_tokens: 120, temperature: 0});
          assert.equal(json.choices[0].finish_reason, 'stop');
          assert.match(json.choices[0].text, key_phrase);
        });
      });
}
