// Waiting without sleeping: for a promise, or for a condition of another process that tells nobody when it changes.
// Every wait has a deadline and says what it waited for.

// Sanitizers and a busy machine are slow; a wait that expires is a failure, so it is generous.
export const patience_ms = Number(process.env.BRINK_TEST_PATIENCE_MS ?? 30_000);

export class WaitError extends Error {}

// The promise's value; rejects with `waited ... for <what>` after `ms`.
export function within(promise, what, ms = patience_ms) {
  let timer;
  const expiry = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new WaitError(`waited ${ms} ms for ${what}`)), ms);
  });
  return Promise.race([promise, expiry]).finally(() => clearTimeout(timer));
}

// Calls `check` until it returns something truthy, and returns that.
export async function until(check, what, ms = patience_ms) {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (performance.now() > deadline) throw new WaitError(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

// Waits until a number that grows stands still: the only sign that a sender is held up. Returns it.
export async function until_still(number, what) {
  const still_ms = 300;
  let last = 0;
  return until(async () => {
    const before = last;
    last = number();
    await new Promise((resolve) => setTimeout(resolve, still_ms));
    return last > 0 && last === before && last;
  }, what);
}

// A promise with its `resolve` and `reject` at hand.
export function deferred() {
  const result = {};
  result.promise = new Promise((resolve, reject) => Object.assign(result, {resolve, reject}));
  return result;
}
