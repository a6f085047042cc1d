// Starts and ends what the benchmark measures and what it measures with, each pinned to its CPU. Only processes started
// here are ended, by their own pid, also when the runner fails.
import {spawn, spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {until} from '../support/wait.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

// A running program: `output` is all it printed, `exited` the status or null.
export class Program {
  constructor(cpu, file, args) {
    this.name = file;
    this.output = '';
    this.exited = null;
    this.process = spawn('taskset', ['-c', String(cpu), file, ...args], {stdio: ['pipe', 'pipe', 'pipe']});
    running.add(this.process);
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (this.output = (this.output + text).slice(-65536)));
    }
    this.process.stdin.on('error', () => {});  // a program that has ended: `done` tells
    const ended = new Promise((resolve) => {
      this.process.on('error', (error) => resolve({code: -1, error}));
      this.process.on('close', (code) => resolve({code}));
    });
    this.done = ended.then(({code, error}) => {
      running.delete(this.process);
      if (error) this.output += error.message;
      return (this.exited = code ?? -1);
    });
  }

  get pid() {
    return this.process.pid;
  }

  // The match of `pattern` in the output, as soon as it is there.
  line(pattern) {
    return until(() => {
      const match = this.output.match(pattern);
      if (!match) this.require_running();
      return match;
    }, `${this.name} to print ${pattern}; it printed:\n${this.output}`);
  }

  require_running() {
    if (this.exited !== null) throw new Error(`${this.name} ended with status ${this.exited}:\n${this.output}`);
  }

  async stop() {
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 10_000);
    await this.done;
    clearTimeout(timer);
  }
}

async function free_port() {
  const server = createServer();
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const {port} = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// Ready when it answers through to the origin.
async function answers(program, port) {
  await until(async () => {
    program.require_running();
    const reply = await fetch(`http://127.0.0.1:${port}/w1`).catch(() => null);
    return reply?.status === 200 && (await reply.text()).length === 128;
  }, `${program.name} to answer on port ${port}; it printed:\n${program.output}`);
}

function configuration(template, dir, values) {
  mkdirSync(dir, {recursive: true});
  chmodSync(dir, 0o755);  // nginx's worker is another user
  const text = readFileSync(join(here, 'conf', template), 'utf8').replace(/@([A-Z_]+)@/g, (_, name) => {
    if (name === 'DIR') return dir;
    if (!(name in values)) throw new Error(`conf/${template} asks for @${name}@, which peers.mjs does not know`);
    return String(values[name]);
  });
  const path = join(dir, template);
  writeFileSync(path, text);
  return path;
}

function version(file, args) {
  const {stdout, stderr, status} = spawnSync(file, args, {encoding: 'utf8'});
  return status !== 0 ? null : `${stdout}${stderr}`.split('\n')[0].trim();
}

// The contestants by name. `find` tells the version, or null when it is not installed; `start` gives {program, port};
// `only` are the workloads it takes part in, none: all.
export function contestants(bin) {
  const nginx = (access_log) => async ({dir, origin, connections, cpu}) => {
    const port = await free_port();
    const values = {ORIGIN: origin, PORT: port, CONNECTIONS: connections, ACCESS_LOG: access_log(dir)};
    const program = new Program(cpu, 'nginx', ['-e', 'stderr', '-c', configuration('nginx.conf', dir, values)]);
    await answers(program, port);
    return {program, port};
  };
  return {
    brink: {
      find: () => version(join(bin, 'brink'), ['version']),
      start: async ({dir, origin, cpu}) => {
        const file = configuration('brink.yaml', dir, {ORIGIN: origin});
        const program = new Program(cpu, join(bin, 'brink'), ['run', '-c', file]);
        const port = Number((await program.line(/listening on 127\.0\.0\.1:(\d+)/))[1]);
        await answers(program, port);
        return {program, port};
      },
    },
    nginx: {package: 'nginx-light', find: () => version('nginx', ['-v']), start: nginx(() => 'off')},
    'nginx+log': {
      package: 'nginx-light',
      only: ['w1', 'w2'],
      find: () => version('nginx', ['-v']),
      start: nginx((dir) => `${dir}/nginx-access.log combined buffer=64k flush=1s`),
    },
    varnish: {
      package: 'varnish',
      only: ['hit', 'hit256k'],
      find: () => version('varnishd', ['-V']),
      start: async ({dir, origin, cpu}) => {
        const port = await free_port();
        const file = configuration('varnish.vcl', dir, {ORIGIN: origin});
        const program = new Program(cpu, 'varnishd', [
          '-F', '-n', join(dir, 'varnish'), '-a', `127.0.0.1:${port}`, '-f', file, '-s', 'malloc,256m', '-T', 'none', '-p',
          'thread_pools=1'
        ]);
        await answers(program, port);
        return {program, port};
      },
    },
    haproxy: {
      package: 'haproxy',
      find: () => version('haproxy', ['-v']),
      start: async ({dir, origin, connections, files, cpu}) => {
        const port = await free_port();
        const values = {ORIGIN: origin, PORT: port, CONNECTIONS: connections, FILES: files};
        const program = new Program(cpu, 'haproxy', ['-db', '-f', configuration('haproxy.cfg', dir, values)]);
        await answers(program, port);
        return {program, port};
      },
    },
  };
}

export async function start_origin(bin, cpu, spin) {
  const program = new Program(cpu, join(bin, 'bench-origin'), spin ? ['--spin'] : []);
  return {program, port: Number((await program.line(/listening on 127\.0\.0\.1:(\d+)/))[1])};
}
