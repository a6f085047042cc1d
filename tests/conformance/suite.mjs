// The suite of cache-tests.fyi as a library: its tests, its origin server, and its own way of judging results.
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {getResults, runTests} from 'http-cache-tests/client/runner.mjs';
import {determineTestResult} from 'http-cache-tests/lib/display.mjs';
import suites from 'http-cache-tests/tests/index.mjs';
import fetch from 'node-fetch';

import {temporary_folder} from '../support/brink.mjs';
import {Program} from '../support/process.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const suite_folder = dirname(createRequire(import.meta.url).resolve('http-cache-tests/cli.mjs'));

// Each test's id, name, kind (required, optimal or check); without those for the caches of browsers.
export const tests = suites.flatMap((suite) => suite.tests)
                         .filter((test) => !test.browser_only)
                         .map((test) => ({id: test.id, name: test.name, kind: test.kind ?? 'required'}));

// The suite shows its results as these signs. A test whose dependency fails proves nothing, so it counts as not passed.
const outcomes = {
  '✅': 'pass',
  'Y': 'pass',
  '⛔️': 'fail',
  '⚠️': 'fail',
  'N': 'fail',
  '🔹': 'setup failed',
  '⁉️': 'harness failed',
  '⚪️': 'dependency failed',
  '↻': 'retried',
  '-': 'not run',
};

// Starts the origin; `port` 0: the system chooses. Its log is the program's stdout.
export async function start_origin(scope, port = 0) {
  const program = new Program('origin', ['--require', join(here, 'loopback.cjs'), join(suite_folder, 'server/server.mjs')], {
    path: process.execPath,
    cwd: suite_folder,
    env: {
      npm_config_protocol: 'http',
      npm_config_port: String(port),
      npm_config_pidfile: join(temporary_folder(scope), 'pid'),
    },
  });
  scope.after(async () => {
    program.signal('SIGTERM');
    await program.exited;
  });
  const [, bound] = await program.line(/Listening on \S+:(\d+)\//, {stream: 'stdout'});
  return {program, url: `http://127.0.0.1:${bound}`};
}

// Runs all tests, or the one of that id with its messages on stdout. Results: [{id, name, kind, outcome, why}].
export async function run_suite(base, id) {
  const chosen = suites.map((suite) => ({...suite, tests: suite.tests.filter((test) => !id || test.id === id)}));
  if (id) chosen.forEach((suite) => suite.tests.forEach((test) => test.dump = true));
  await runTests(chosen, fetch, false, base);
  const results = getResults();
  return tests.filter((test) => !id || test.id === id).map((test) => {
    const sign = determineTestResult(suites, test.id, results, !id)[2];
    const result = results[test.id];
    return {...test, outcome: outcomes[sign], why: Array.isArray(result) ? result.join(': ') : ''};
  });
}
