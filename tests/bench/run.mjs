// The benchmark's runner, started by run.sh: rounds over workloads over contestants (A B C A B C ...), then the report.
import {execFileSync} from 'node:child_process';
import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism, tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {parseArgs} from 'node:util';

import {repository} from '../support/process.mjs';

import {memory_bytes, Meter} from './measure.mjs';
import {contestants, start_origin} from './peers.mjs';
import {report} from './report.mjs';
import {workloads} from './workloads.mjs';

const usage = `usage: tests/bench/run.sh [options]
  --quick            a fast pass: one short round, fewer connections
  --only w1,w2       these workloads (w1 w2 w3 w3r w3p w4 w220k hit hit256k latency first_byte idle
                     streams)
  --peers nginx      these peers (nginx, nginx+log, haproxy, varnish)
  --no-brink         the peers alone
  --rounds N         rounds (5; with --quick 1)
  --seconds S        of each measurement (2; with --quick 1)
  --bin DIR          take brink, bench-origin and bench-load from there instead of building them
  --note TEXT        a line for the report: what else the reader must know of this run
  --out FILE         where the report goes; a full run writes docs/benchmarks.md, a partial one only prints
`;

class UsageError extends Error {}

function options() {
  let values;
  try {
    const flag = {type: 'boolean'};
    const text = {type: 'string'};
    const known = {only: text, peers: text, rounds: text, seconds: text, bin: text, note: text, out: text};
    values = parseArgs({options: {...known, help: flag, quick: flag, 'no-brink': flag}}).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (values.help) return {help: true};
  const number = (name, otherwise) => {
    const value = Number(values[name] ?? otherwise);
    if (!(value > 0 && value <= 1000)) throw new UsageError(`--${name} must be a number from 1 to 1000`);
    return value;
  };
  const full = !values.quick && !values.only && !values.peers && !values['no-brink'];
  return {
    rounds: Math.ceil(number('rounds', values.quick ? 1 : 5)),
    seconds: number('seconds', values.quick ? 1 : 2),
    warm_up: values.quick ? 0.3 : 0.5,
    idle: values.quick ? 1000 : 10_000,
    streams: values.quick ? {connections: 200, events: 20, gap_ms: 100} : {connections: 1000, events: 100, gap_ms: 100},
    only: values.only?.split(','),
    peers: values.peers?.split(','),
    brink: !values['no-brink'],
    note: values.note,
    revision: revision(!values.bin),
    bin: resolve(values.bin ?? join(repository, 'build/release/bin')),
    out: values.out ?? (full ? join(repository, 'docs/benchmarks.md') : null),
  };
}

function chosen(all, names, what) {
  const unknown = names?.find((name) => !(name in all));
  if (unknown !== undefined) {
    throw new UsageError(`there is no ${what} '${unknown}'; there are ${Object.keys(all).join(', ')}`);
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names || names.includes(name)));
}

// The contestants that are here, with their versions. A peer that is missing is an error that says how to get it.
function choose_contestants({bin, brink, peers}) {
  const {brink: ours, ...others} = contestants(bin);
  const result = {...(brink && {brink: ours}), ...chosen(others, peers, 'peer')};
  for (const [name, contestant] of Object.entries(result)) {
    contestant.version = contestant.find();
    if (contestant.version) continue;
    if (name === 'brink') throw new UsageError(`${join(bin, name)} does not run: build it, or use --no-brink`);
    throw new UsageError(
        `${name} is not installed: deploy/install-deps.sh --bench installs it ` +
        `(Debian package ${contestant.package}), or leave it out with --peers`);
  }
  return result;
}

// What the numbers are of, asked before the run: the repository may move on during it.
function revision(own_build) {
  const describe = ['-C', repository, 'describe', '--always', '--dirty', '--exclude', '*'];
  const name = execFileSync('git', describe, {encoding: 'utf8'}).trim();
  return own_build ? `revision ${name}` : `programs built elsewhere (--bin), the repository at ${name}`;
}

// Connections that a proxy must allow: its clients', and to the origin for those that ask at the same time.
function connections_needed(settings, list) {
  return Math.max(2 * settings.streams.connections, list.idle ? settings.idle : 0) + 1024;
}

function open_files(needed) {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], {encoding: 'utf8'}));
  if (limit >= needed) return limit;
  throw new UsageError(
      `the limit of open files is ${limit}, ${needed} are needed: raise it with ulimit -n, or use --quick`);
}

const say = (text) => process.stderr.write(`${text}\n`);

// Each of these starts with a proxy that has served nothing. What nginx sets aside for connections to come is memory of
// those connections, so the memory without them is that of a proxy that allows few.
async function measure_fresh(meter, name, settings, start, what) {
  let few;
  if (name === 'idle') {
    const {program} = await start({connections: 64});
    few = memory_bytes(program.pid);
    await program.stop();
  }
  const {program, port} = await start({});
  const target = {port, pid: program.pid, what};
  const values = name === 'idle' ? await meter.idle({...target, before: few, connections: settings.idle}) :
                                   await meter.streams({...target, ...settings.streams});
  await program.stop();
  return values;
}

async function run(settings, dir) {
  const list = chosen(workloads(dir), settings.only, 'workload');
  const field = choose_contestants(settings);
  const connections = connections_needed(settings, list);
  const files = open_files(connections + 64);
  const cpus = availableParallelism();
  const [proxy_cpu, load_cpu] = cpus > 1 ? [0, 1] : [0, 0];
  const spin = cpus > 1;
  if (!spin) say('one CPU only: the proxy shares it with the load, take the latencies lightly');

  const origin = await start_origin(settings.bin, load_cpu, spin);
  const meter = new Meter({bin: settings.bin, cpu: load_cpu, origin: origin.program.pid, cpus, spin});
  let starts = 0;
  const start = (name, changed) => field[name].start(
      {dir: join(dir, `${name}-${++starts}`), origin: origin.port, connections, files, cpu: proxy_cpu, ...changed});
  const standing = {};
  for (const name of Object.keys(field)) standing[name] = await start(name);

  const results = [];  // {round, workload, contestant, values}
  for (let round = 1; round <= settings.rounds; ++round) {
    for (const [workload, {args, among, direct, fresh}] of Object.entries(list)) {
      if (fresh && round > 1) continue;  // memory does not vary
      const taking_part = Object.keys(field).filter(
          (name) => (field[name].only?.includes(workload) ?? true) && (among?.includes(name) ?? true));
      for (const contestant of [...(direct ? ['direct'] : []), ...taking_part]) {
        const what = `round ${round}, ${workload}, ${contestant}`;
        let values;
        if (fresh) {
          values = await measure_fresh(meter, workload, settings, (changed) => start(contestant, changed), what);
        } else {
          const {program, port} = standing[contestant] ?? {port: origin.port};
          const {seconds, warm_up} = settings;
          values = await meter.closed_loop({port, pid: program?.pid, args, seconds, warm_up, what});
        }
        results.push({round, workload, contestant, values});
        const shown = Object.entries(values).map(([key, value]) => `${key} ${Math.round(value * 10) / 10}`);
        say(`${what}: ${shown.join(', ')}`);
      }
    }
  }
  for (const {program} of Object.values(standing)) await program.stop();
  await origin.program.stop();
  return report({results, list, field, settings, disturbance: meter.disturbance});
}

async function main() {
  const settings = options();
  if (settings.help) return process.stdout.write(usage);
  const dir = mkdtempSync(join(tmpdir(), 'brink-bench-'));
  chmodSync(dir, 0o755);
  process.on('exit', () => rmSync(dir, {recursive: true, force: true}));
  const text = await run(settings, dir);
  process.stdout.write(text);
  if (settings.out) writeFileSync(settings.out, text);
  say(settings.out ? `written to ${settings.out}` : 'a partial run: nothing written (--out FILE writes it)');
}

main().catch((error) => {
  if (error instanceof UsageError) say(usage);
  say(`run.sh: ${error instanceof UsageError ? error.message : error.stack}`);
  process.exit(error instanceof UsageError ? 2 : 1);
});
