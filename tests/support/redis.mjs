// Real Redis servers for the tests of the shared tier: each a process with a folder of its own on a free port, that a
// scenario may hang, kill and start again.
import {execFile} from 'node:child_process';
import net from 'node:net';
import {join} from 'node:path';

import {temporary_folder} from './brink.mjs';
import {Program, program_path} from './process.mjs';
import {until, within} from './wait.mjs';

export function free_port() {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const {port} = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class Redis {
  // `options` are further arguments of redis-server; `access` the arguments with which redis-cli gets in; `config` is the
  // file of a sentinel.
  static async start(scope, {options = [], access = [], port, config, ready = /Ready to accept connections/} = {}) {
    const redis = new Redis();
    redis.folder = temporary_folder(scope);
    redis.port = port ?? await free_port();
    redis.options_ = options;
    redis.config_ = config;
    redis.access_ = access;
    redis.ready_ = ready;
    redis.url = `redis://127.0.0.1:${redis.port}`;
    scope.after(() => redis.kill());
    await redis.start_again();
    return redis;
  }

  get pid() {
    return this.program_.pid;
  }

  async start_again() {
    const common = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, ...this.options_];
    const args = this.config_ ? [this.config_, ...common, '--sentinel'] : [...common, '--save', ''];
    this.program_ = new Program('redis-server', args, {path: program_path('redis-server')});
    await this.program_.line(this.ready_, {stream: 'stdout'});
  }

  signal(name) {
    this.program_.signal(name);
  }

  // At once, hanging or not.
  async kill() {
    this.signal('SIGKILL');
    await within(this.program_.exited, 'redis-server to end');
  }

  // The answer as text, in the form redis-cli has for scripts.
  ask(...args) {
    const target = this.access_.includes('-s') ? [] : ['-h', '127.0.0.1', '-p', String(this.port)];
    return redis_cli([...target, ...this.access_, ...args]);
  }

  // Commands as lines of text.
  ask_all(lines) {
    return redis_cli(['-h', '127.0.0.1', '-p', String(this.port), ...this.access_], {input: lines.join('\n')});
  }

  async keys(pattern = '*') {
    return (await this.ask('--scan', '--pattern', pattern)).split('\n').filter((key) => key !== '');
  }

  // Stored answers, without what the nodes keep of purges.
  async answers() {
    const keys = await this.keys();
    const kinds = await Promise.all(keys.map((key) => this.ask('type', key)));
    return keys.filter((key, index) => kinds[index] === 'string');
  }

  // The tier is written behind the answer's back.
  holds(count) {
    return until(async () => (await this.answers()).length >= count, `${count} answers in Redis`);
  }
}

export function redis_cli(args, {input} = {}) {
  return new Promise((resolve, reject) => {
    const child = execFile('redis-cli', args, {timeout: 60_000}, (error, stdout, stderr) => {
      if (error)
        reject(new Error(`redis-cli ${args.join(' ')}: ${stdout}${stderr}`));
      else
        resolve(stdout.trimEnd());
    });
    child.stdin.end(input);
  });
}

// Three masters that share the slots.
export async function start_cluster(scope) {
  const folder = temporary_folder(scope);
  const nodes = [];
  for (let i = 0; i < 3; ++i) {
    const port = await free_port_with_bus();
    const options = ['--cluster-enabled', 'yes', '--cluster-config-file', join(folder, `nodes-${i}.conf`)];
    nodes.push(await Redis.start(scope, {options, port}));
  }
  await redis_cli(['--cluster', 'create', ...nodes.map(({port}) => `127.0.0.1:${port}`), '--cluster-yes']);
  const is_ready = async (node) => (await node.ask('cluster', 'info')).includes('cluster_state:ok');
  await until(async () => (await Promise.all(nodes.map(is_ready))).every(Boolean), 'the cluster');
  return nodes;
}

// Nodes of a cluster talk to each other on the port 10000 above.
async function free_port_with_bus() {
  for (;;) {
    const port = await free_port();
    if (port + 10_000 < 65_536) return port;
  }
}
