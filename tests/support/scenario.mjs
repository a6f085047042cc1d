// How the tests are written: a scenario starts what it needs in its scope, and whatever happens the scope ends all of
// it, in reverse order. node:test's own hooks at file level wait for servers and children that they should stop, so
// every file wraps its scenarios in a suite.
import {after, before, describe, test} from 'node:test';

import {program_path} from './process.mjs';

const scenario_timeout_ms = 120_000;

export class Scope {
  constructor() {
    this.ends_ = [];
  }

  after(end) {
    this.ends_.push(end);
  }

  // Runs every end, also when one fails, and then reports what failed.
  async close() {
    const errors = [];
    for (const end of this.ends_.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, errors.map((error) => error.message).join('\n'));
  }
}

// One test. `body(scope)` runs, then its scope closes; a failure of the body is the one that is reported.
export function scenario(name, body, {timeout = scenario_timeout_ms} = {}) {
  test(name, {timeout}, async () => {
    const scope = new Scope();
    try {
      await body(scope);
    } catch (error) {
      await scope.close().catch((other) => console.error(`while ending "${name}": ${other.message}`));
      throw error;
    }
    await scope.close();
  });
}

// Scenarios that share what `setup(scope)` returns; `scenarios(shared)` declares them and reads `shared` when they run.
export function suite(name, setup, scenarios) {
  describe(name, () => {
    const scope = new Scope();
    const shared = {};
    before(async () => Object.assign(shared, await setup(scope)), {timeout: scenario_timeout_ms});
    after(() => scope.close(), {timeout: scenario_timeout_ms});
    scenarios(shared);
  });
}

// Declares scenarios that need programs of the system; without them, one that is skipped and says so.
export function with_programs(names, scenarios) {
  const missing = names.filter((name) => program_path(name) === undefined);
  if (missing.length === 0)
    scenarios();
  else
    test(`with ${names.join(', ')}`, {skip: `not installed: ${missing.join(', ')}`}, () => {});
}
