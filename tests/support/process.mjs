// A program under test: started with its output kept, waited for by the lines it prints, and ended by its own pid, also
// when the test that started it fails.
import {spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {delimiter, dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

import {deferred, within} from './wait.mjs';

export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const brink_binary = resolve(repository, process.env.BRINK_BIN ?? 'build/dev/bin/brink');

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.signal('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const sanitizer_report = /ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: /;

// `brink` by BRINK_BIN; the other programs lie beside it.
export function binary(name) {
  const path = name === 'brink' ? brink_binary : join(dirname(brink_binary), name);
  if (!existsSync(path)) {
    throw new Error(
        `${path} does not exist: build it (cmake --preset dev && cmake --build --preset dev) or set BRINK_BIN`);
  }
  return path;
}

// Where a program of the system is; undefined if it is not installed.
export function program_path(name) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

export class Program {
  // `group`: signals go to all processes that it has started, too.
  constructor(name, args, {env = {}, cwd, path = binary(name), group = false} = {}) {
    this.name = name;
    this.group_ = group;
    this.stdout = '';
    this.stderr = '';
    this.waiters_ = new Set();
    const exited = deferred();
    this.exited = exited.promise;  // {code, signal}
    this.process_ = spawn(path, args, {env: {...process.env, ...env}, cwd, detached: group, stdio: ['ignore', 'pipe', 'pipe']});
    running.add(this);
    for (const stream of ['stdout', 'stderr']) {
      this.process_[stream].setEncoding('utf8').on('data', (text) => {
        this[stream] += text;
        this.wake_();
      });
    }
    this.process_.on('error', (error) => this.finish_(exited, {code: null, signal: null, error}));
    this.process_.on('close', (code, signal) => this.finish_(exited, {code, signal}));
  }

  get pid() {
    return this.process_.pid;
  }

  signal(name) {
    if (!running.has(this)) return;
    if (this.group_ && this.pid)
      process.kill(-this.pid, name);
    else
      this.process_.kill(name);
  }

  // The match of `pattern` in what was printed, now or later. Fails at once when the program ends without it.
  line(pattern, {stream = 'stderr', from = 0} = {}) {
    const found = deferred();
    const waiter = () => {
      const match = this[stream].slice(from).match(pattern);
      if (match) found.resolve(match);
      if (!match && this.result)
        found.reject(new Error(`${this.name} ended without printing ${pattern}\n${this.report()}`));
    };
    this.waiters_.add(waiter);
    waiter();
    return within(found.promise, `${this.name} to print ${pattern}, got:\n${this.stderr}`)
        .finally(() => this.waiters_.delete(waiter));
  }

  // Ends the program with SIGTERM and checks that it went well: status 0, nothing found by a sanitizer.
  async stop() {
    this.signal('SIGTERM');
    try {
      await within(this.exited, `${this.name} (pid ${this.pid}) to end after SIGTERM`);
    } catch (error) {
      this.signal('SIGABRT');
      await this.exited;
      throw new Error(`${error.message}\n${this.report()}`);
    }
    this.check();
  }

  check({code = 0} = {}) {
    if (sanitizer_report.test(this.stderr)) throw new Error(`a sanitizer reports:\n${this.stderr}`);
    if (this.result?.code !== code) throw new Error(`${this.name} ended wrongly\n${this.report()}`);
  }

  report() {
    const {code, signal, error} = this.result ?? {};
    return `${this.name}: status ${code}, signal ${signal}${error ? `, ${error.message}` : ''}, stderr:\n${
        this.stderr}`;
  }

  finish_(exited, result) {
    if (this.result) return;
    running.delete(this);
    this.result = result;
    exited.resolve(result);
    this.wake_();
  }

  wake_() {
    for (const waiter of [...this.waiters_]) waiter();
  }
}

// Runs a program to its end: {code, stdout, stderr}.
export async function run(name, args, options) {
  const program = new Program(name, args, options);
  const {code} = await within(program.exited, `${name} ${args.join(' ')} to end`);
  if (sanitizer_report.test(program.stderr)) throw new Error(`a sanitizer reports:\n${program.stderr}`);
  return {code, stdout: program.stdout, stderr: program.stderr};
}
