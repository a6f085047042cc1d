// The command line: what it prints, where, and its exit status.
import {strict as assert} from 'node:assert';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {temporary_folder} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {repository, run} from '../support/process.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const good = `
listeners: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
clusters:
  chat: {endpoints: [{url: "http://127.0.0.1:9101"}]}
  canary: {endpoints: [{url: "http://127.0.0.1:9102"}]}
routes:
  - name: chat
    match: {hosts: [api.example.com], path: /v1/chat/completions, methods: [POST], models: ["llama-3*"]}
    cluster: chat
  - name: rest
    match: {path_prefix: /v1/}
    split: [{cluster: chat, weight: 95}, {cluster: canary, weight: 5}]
  - name: teapot
    match: {path: /teapot}
    respond: {status: 418, body: short and stout}
`;

function file_of(scope, text, name = 'brink.yaml') {
  const path = join(temporary_folder(scope), name);
  writeFileSync(path, text);
  return path;
}

suite('brink check', async () => ({}), () => {
  scenario('is quiet about a good file', async (scope) => {
    const {code, stdout, stderr} = await run('brink', ['check', '-c', file_of(scope, good)]);
    assert.equal(stderr, '');
    assert.equal(code, 0);
    assert.notEqual(stdout, '');
  });

  scenario('names five mistakes at once, each with its place, and exits with 2', async (scope) => {
    const path = file_of(scope, `listeners:
  - address: 127.0.0.1:99999
admin: {address: "127.0.0.1:0"}
clusters:
  chat:
    ballance: score
    endpoints: [{url: "http://127.0.0.1:9101"}]
routes:
  - name: chat
    match: {path_prefix: /v1/}
    cluster: chatt
    timeouts: {first_byte: 60}
  - name: broken
    match: {path_prefix: /v2/}
    cluster: chat
    limits: {body: many}
`);
    const {code, stderr} = await run('brink', ['check', '-c', path]);
    assert.equal(code, 2);
    const located = stderr.split('\n').filter((line) => line.startsWith(`${path}:`));
    assert.equal(located.length, 5, stderr);
    const places = [[2, /port|99999/], [6, /ballance.*balance/], [11, /chatt.*chat/], [12, /60.*s|unit/], [16, /many/]];
    places.forEach(([line, message], i) => {
      assert.match(located[i], new RegExp(`^${path.replaceAll('.', '\\.')}:${line}:\\d+: `), stderr);
      assert.match(located[i], message);
    });
  });

  scenario('finds mistakes in included files', async (scope) => {
    const folder = temporary_folder(scope);
    mkdirSync(join(folder, 'routes.d'));
    writeFileSync(join(folder, 'brink.yaml'), `${good}include: [routes.d/*.yaml]\n`);
    const included = join(folder, 'routes.d', 'more.yaml');
    writeFileSync(included, 'routes:\n  - name: more\n    match: {path: /more}\n    cluster: nowhere\n');
    const {code, stderr} = await run('brink', ['check', '-c', join(folder, 'brink.yaml')]);
    assert.equal(code, 2);
    assert.match(stderr, /routes\.d\/more\.yaml:4:\d+: .*nowhere/);
  });

  scenario('says which file is missing', async () => {
    const {code, stderr} = await run('brink', ['check', '-c', '/nonexistent/brink.yaml']);
    assert.equal(code, 2);
    assert.match(stderr, /\/nonexistent\/brink\.yaml/);
  });

  scenario('does not print a secret', async (scope) => {
    const text = good.replace(
        'cluster: chat\n', 'cluster: chat\n    rewrite: {set_headers: {"bad name": "${env:BRINK_TEST_KEY}"}}\n');
    const {code, stdout, stderr} =
        await run('brink', ['check', '-c', file_of(scope, text)], {env: {BRINK_TEST_KEY: 'sk-hidden'}});
    assert.equal(code, 2);
    assert.ok(!(stdout + stderr).includes('sk-hidden'));
  });

  for (const name of ['brink.yaml', 'quickstart.yaml']) {
    scenario(`accepts conf/${name}`, async () => {
      const {code, stderr} = await run('brink', ['check', '-c', join(repository, 'conf', name)]);
      assert.equal(code, 0, stderr);
    });
  }
});

suite('brink explain', async () => ({}), () => {
  const explain = (scope, ...args) => run('brink', ['explain', '-c', file_of(scope, good), ...args]);

  scenario('tells route, cluster and why, with the model of a body', async (scope) => {
    const body = file_of(scope, '{"messages":[],"model":"llama-3-8b"}', 'body.json');
    const {code, stdout} = await explain(scope, 'POST', 'http://api.example.com/v1/chat/completions', '--body', body);
    assert.equal(code, 0);
    for (const word of ['chat', 'llama-3-8b', '127.0.0.1:9101', 'first_byte'])
      assert.ok(stdout.includes(word), `${word}:\n${stdout}`);
  });

  scenario('tells why the first route does not match, and the weights of a split', async (scope) => {
    const {code, stdout} = await explain(scope, 'POST', 'http://api.example.com/v1/chat/completions', '-H', 'x-a: b');
    assert.equal(code, 0);
    assert.match(stdout, /rest/);
    assert.match(stdout, /95/);
    assert.match(stdout, /model/);
  });

  const cached = `
listeners: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
clusters:
  chat: {endpoints: [{url: "http://127.0.0.1:9101"}]}
routes:
  - name: chat
    match: {path_prefix: /openai/v1}
    cluster: chat
    rewrite: {path_prefix: /v1, model: real}
    cache: {mode: exact}
    compress: {encodings: [zstd]}
  - name: web
    match: {path_prefix: /}
    cluster: chat
    cache: {mode: http, coalesce: false}
`;
  const explain_cached = async (scope, ...args) => {
    const {code, stdout} = await run('brink', ['explain', '-c', file_of(scope, cached), ...args]);
    assert.equal(code, 0);
    return stdout;
  };
  const key_of = async (scope, json) => {
    const body = file_of(scope, json, 'body.json');
    const stdout = await explain_cached(scope, 'POST', '/openai/v1/chat/completions', '--body', body);
    const found = /^key +([0-9a-f]{64}): eligible/m.exec(stdout);
    assert.ok(found, stdout);
    return found[1];
  };

  scenario('the policy of a cache, and the URL that an answer is known by', async (scope) => {
    const stdout = await explain_cached(scope, 'GET', 'http://A.test:80/x?y');
    assert.match(stdout, /^cache +mode http, .*coalesce off$/m);
    assert.match(stdout, /^key +http:\/\/a\.test\/x\?y,/m);
  });

  scenario('why a request goes past the cache', async (scope) => {
    assert.match(await explain_cached(scope, 'POST', '/x'), /goes past it: only GET and HEAD/);
    assert.match(await explain_cached(scope, 'GET', '/x', '-H', 'cache-control: no-store'), /goes past it: .*no-store/);
    const body = file_of(scope, '{"messages":[]}', 'body.json');
    const stdout = await explain_cached(scope, 'POST', '/openai/v1/chat/completions', '--body', body);
    assert.match(stdout, /^cache +mode exact, .*scope credential.*when repeatable/m);
    assert.match(stdout, /goes past it: .*not repeatable/);
    assert.match(stdout, /^compress +zstd, level 3/m);
  });

  scenario('the key of a JSON request is that of its meaning, after rewrites', async (scope) => {
    const key = await key_of(scope, '{"model":"a","messages":[],"temperature":0}');
    assert.equal(await key_of(scope, '{ "temperature": 0.0, "messages": [], "model": "b", "stream": true}'), key);
    assert.notEqual(await key_of(scope, '{"model":"a","messages":[],"temperature":0,"top_p":0.5}'), key);
  });

  scenario('a fixed answer', async (scope) => {
    const {code, stdout} = await explain(scope, 'GET', '/teapot');
    assert.equal(code, 0);
    assert.match(stdout, /418/);
  });

  scenario('no route', async (scope) => {
    const {code, stdout} = await explain(scope, 'GET', '/none');
    assert.equal(code, 1);
    assert.match(stdout, /404/);
  });
});

suite('brink', async () => ({}), () => {
  scenario('alone prints help', async () => {
    const {code, stdout} = await run('brink', []);
    assert.equal(code, 0);
    for (const command of ['run', 'check', 'explain', 'version']) assert.ok(stdout.includes(command), command);
  });

  scenario('version', async () => {
    const {code, stdout} = await run('brink', ['version']);
    assert.equal(code, 0);
    assert.match(stdout, /^brink \d+\.\d+\.\d+/);
  });

  for (const args of [['nonsense'], ['run'], ['check'], ['check', '--nonsense'], ['explain', '-c', 'x']]) {
    scenario(`${args.join(' ')} is wrong usage`, async () => {
      const {code, stderr} = await run('brink', args);
      assert.equal(code, 2);
      assert.notEqual(stderr, '');
    });
  }

  scenario('run with a wrong file does not start', async (scope) => {
    const {code, stderr} = await run('brink', ['run', '-c', file_of(scope, 'nonsense: 1\n')]);
    assert.equal(code, 2);
    assert.match(stderr, /brink\.yaml:1:1/);
  });

  scenario('run on a port that is taken fails and names it', async (scope) => {
    const taken = await Origin.start(scope);
    const {code, stderr} = await run('brink', ['run', '-c', file_of(scope, good.replace('127.0.0.1:0', taken.name))]);
    assert.equal(code, 1);
    assert.ok(stderr.includes(taken.name), stderr);
  });
});
