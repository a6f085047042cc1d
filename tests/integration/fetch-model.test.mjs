// deploy/fetch-model.sh against a server on loopback: what it takes for the file that was asked for, and what it says
// otherwise.
import {strict as assert} from 'node:assert';
import {createHash} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {join} from 'node:path';

import {temporary_folder} from '../support/brink.mjs';
import {Program, repository} from '../support/process.mjs';
import {scenario, with_programs} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

const bytes = Buffer.from(
    'GGUF' +
    'model '.repeat(50_000));
const sha256 = (data) => createHash('sha256').update(data).digest('hex');

// Serves `bytes` from where it is asked to; `answer` may do something else. Notes the ranges asked for.
async function serve(scope, answer = send) {
  const ranges = [];
  const server = http.createServer((request, response) => {
    ranges.push(request.headers.range);
    answer(request, response, ranges.length);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  scope.after(() => new Promise((done) => {
                server.close(done);
                server.closeAllConnections?.();
              }));
  return {url: `http://127.0.0.1:${server.address().port}/small.gguf`, ranges};
}

function send(request, response) {
  const from = Number(request.headers.range?.match(/^bytes=(\d+)-$/)[1] ?? 0);
  const range = {'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`};
  response.writeHead(from > 0 ? 206 : 200, {'content-length': bytes.length - from, ...(from > 0 ? range : {})});
  return response.end(bytes.subarray(from));
}

async function fetch_model(...args) {
  const path = join(repository, 'deploy/fetch-model.sh');
  const program = new Program('fetch-model.sh', args, {path, env: {http_proxy: '', no_proxy: '*'}});
  const {code} = await within(program.exited, 'fetch-model.sh to end');
  return {code, stdout: program.stdout, stderr: program.stderr};
}

with_programs(['curl', 'sha256sum'], () => {
  scenario('a file with the right hash is kept, and not fetched twice', async (scope) => {
    const folder = temporary_folder(scope);
    const {url, ranges} = await serve(scope);
    const args = ['--url', url, '--sha256', sha256(bytes), '--folder', folder];
    const first = await fetch_model(...args);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /local_model:\n {2}file: .*small\.gguf/);
    assert.deepEqual(readFileSync(join(folder, 'small.gguf')), bytes);
    assert.equal((await fetch_model(...args)).code, 0);
    assert.equal(ranges.length, 1);
  });

  scenario('an interrupted download goes on where it stopped', async (scope) => {
    const folder = temporary_folder(scope);
    const {url, ranges} = await serve(scope, (request, response, count) => {
      if (count > 1) return send(request, response);
      response.writeHead(200, {'content-length': bytes.length});
      return response.write(bytes.subarray(0, 100_000), () => response.destroy());
    });
    const args = ['--url', url, '--sha256', sha256(bytes), '--folder', folder];
    const first = await fetch_model(...args);
    if (first.code !== 0) {
      assert.match(first.stderr, /in the middle of the file|could not be reached/);
      assert.ok(!existsSync(join(folder, 'small.gguf')));
      assert.equal((await fetch_model(...args)).code, 0);
    }
    assert.deepEqual(readFileSync(join(folder, 'small.gguf')), bytes);
    assert.match(ranges.at(-1), /^bytes=[1-9]\d*-$/);
  });

  scenario('a whole file that was not named yet is named', async (scope) => {
    const folder = temporary_folder(scope);
    const {url, ranges} = await serve(scope);
    writeFileSync(join(folder, 'small.gguf.part'), bytes);
    assert.equal((await fetch_model('--url', url, '--sha256', sha256(bytes), '--folder', folder)).code, 0);
    assert.deepEqual(readFileSync(join(folder, 'small.gguf')), bytes);
    assert.equal(ranges.length, 0);
  });

  scenario('another file is refused and removed', async (scope) => {
    const folder = temporary_folder(scope);
    const {url} = await serve(scope);
    const {code, stderr} = await fetch_model('--url', url, '--sha256', sha256('other'), '--folder', folder);
    assert.equal(code, 1);
    assert.match(stderr, /not the file that was asked for/);
    assert.ok(stderr.includes(sha256(bytes)) && stderr.includes(sha256('other')));
    assert.ok(!existsSync(join(folder, 'small.gguf')) && !existsSync(join(folder, 'small.gguf.part')));
  });

  scenario('a file of that name that is another is left alone', async (scope) => {
    const folder = temporary_folder(scope);
    const {url, ranges} = await serve(scope);
    writeFileSync(join(folder, 'small.gguf'), 'mine');
    const {code, stderr} = await fetch_model('--url', url, '--sha256', sha256(bytes), '--folder', folder);
    assert.equal(code, 1);
    assert.match(stderr, /is not the file that was asked for/);
    assert.equal(readFileSync(join(folder, 'small.gguf'), 'utf8'), 'mine');
    assert.equal(ranges.length, 0);
  });

  scenario('a server without the file', async (scope) => {
    const {url} = await serve(scope, (request, response) => response.writeHead(404).end());
    const {code, stderr} =
        await fetch_model('--url', url, '--sha256', sha256(bytes), '--folder', temporary_folder(scope));
    assert.equal(code, 1);
    assert.match(stderr, /does not give out this file/);
  });

  scenario('no network', async (scope) => {
    const {code, stderr} = await fetch_model(
        '--url', 'http://127.0.0.1:1/small.gguf', '--sha256', sha256(bytes), '--folder', temporary_folder(scope));
    assert.equal(code, 1);
    assert.match(stderr, /could not be reached[^]*Nothing was downloaded[^]*brink-demo\.gguf/);
  });

  scenario('another URL needs a hash, and a hash is one', async (scope) => {
    const folder = temporary_folder(scope);
    const without = await fetch_model('--url', 'http://127.0.0.1:1/small.gguf', '--folder', folder);
    assert.equal(without.code, 1);
    assert.match(without.stderr, /--url needs --sha256/);
    const wrong = await fetch_model('--url', 'http://127.0.0.1:1/small.gguf', '--sha256', 'abc', '--folder', folder);
    assert.match(wrong.stderr, /64 hexadecimal digits/);
    assert.equal((await fetch_model('--url')).code, 2);
    assert.equal((await fetch_model('--frobnicate')).code, 2);
  });
});
