// Runs the HTTP cache tests against Brink, or against any cache, and holds the result to a floor. Usage: README.md.
import {parseArgs} from 'node:util';

import {Brink} from '../support/brink.mjs';
import {Scope} from '../support/scenario.mjs';
import {run_suite, start_origin, tests} from './suite.mjs';

// Required tests that are not to be had, and why. They are counted and listed like all others.
const out_of_reach = {
  'age-parse-prefix': 'wants "0,7200" read as 0, where five others want two ages to mean stale',
  'headers-store-Transfer-Encoding': 'wants a transfer coding taken that nobody knows; framing is strict',
  'stale-close-must-revalidate': 'wants a header of the origin in the answer to a request that the origin hung up on',
  'stale-close-proxy-revalidate': 'as stale-close-must-revalidate',
  'stale-close-no-cache': 'as stale-close-must-revalidate',
  'stale-close-s-maxage=2': 'as stale-close-must-revalidate',
};

// How many tests the suite has; another number is a failure, for the floor is then of another suite.
const total = {
  required: 157,
  optimal: 86,
};

// What Brink must reach.
const floor = {
  required: total.required - Object.keys(out_of_reach).length,
  optimal: 78,
};

const usage = 'usage: node tests/conformance/run.mjs [--id TEST] [--base URL --origin-port PORT]';

function read_arguments() {
  const {values} = parseArgs({
    options: {id: {type: 'string'}, base: {type: 'string'}, 'origin-port': {type: 'string', default: '0'}},
  });
  if (values.id && !tests.some((test) => test.id === values.id)) throw new Error(`there is no test ${values.id}`);
  return {id: values.id, base: values.base?.replace(/\/$/, ''), port: Number(values['origin-port'])};
}

// One line for each test that counts and did not pass, checks by id alone, then the counts. True: the floor is held.
function report(results) {
  for (const {kind, outcome, id, why} of results) {
    if (kind === 'check' || outcome === 'pass') continue;
    console.log(`${kind} ${outcome}: ${id}: ${out_of_reach[id] ? `out of reach, ${out_of_reach[id]}` : why}`);
  }
  const of_kind = (kind) => results.filter((result) => result.kind === kind);
  const passed = (kind) => of_kind(kind).filter((result) => result.outcome === 'pass').length;
  const checks = of_kind('check').filter((result) => result.outcome !== 'pass').map((result) => result.id);
  console.log(`checks answered with no: ${checks.join(' ')}`);
  for (const kind of ['required', 'optimal', 'check']) {
    console.log(`${kind}: ${passed(kind)} of ${of_kind(kind).length}${kind in floor ? `, floor ${floor[kind]}` : ''}`);
  }
  return Object.keys(floor).every(
      (kind) => passed(kind) >= floor[kind] && of_kind(kind).length === total[kind]);
}

async function main(scope) {
  const {id, base, port} = read_arguments();
  const origin = await start_origin(scope, port);
  const route = {cache: {mode: 'http'}, retry: 'off'};  // the suite counts the requests at its origin
  const edge = base ? {url: base} : await Brink.start(scope, {backend: origin.url, route});
  const results = await run_suite(edge.url, id);
  if (!id) return report(results);
  console.log(origin.program.stdout);
  console.log(`${id} [${results[0].kind}] ${results[0].outcome} ${results[0].why}`);
  return results[0].outcome === 'pass';
}

const scope = new Scope();
let held = false;
try {
  held = await main(scope);
} catch (error) {
  console.error(`${error.message}\n${usage}`);
}
await scope.close().catch((error) => {
  held = false;
  console.error(error.message);
});
process.exitCode = held ? 0 : 1;
