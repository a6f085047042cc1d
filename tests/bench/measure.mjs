// One measurement: asks a proxy with bench-load and takes its processor time and memory from the kernel's own accounts.
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

import {Program} from './peers.mjs';

const tick_us = 10_000;  // /proc counts in USER_HZ, which is 100 on Linux

// [pid, parent, utime + stime] of /proc/PID/stat; null when the process has gone.
function account(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');  // from the state, field 3
    return [Number(pid), Number(fields[1]), Number(fields[11]) + Number(fields[12])];
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}

// A process and all it started, as accounts.
function family(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(account).filter(Boolean);
  const members = all.filter((entry) => entry[0] === pid);
  for (let i = 0; i < members.length; ++i) members.push(...all.filter((entry) => entry[1] === members[i][0]));
  return members;
}

export const cpu_us = (pid) => family(pid).reduce((sum, [, , ticks]) => sum + ticks * tick_us, 0);

// Memory held in RAM, pages shared with other processes counted in equal parts (PSS).
export function memory_bytes(pid) {
  return family(pid).reduce((sum, [member]) => {
    const match = readFileSync(`/proc/${member}/smaps_rollup`, 'utf8').match(/^Pss:\s+(\d+) kB$/m);
    return sum + Number(match[1]) * 1024;
  }, 0);
}

// Processor time that anybody used on this machine, stolen time included.
function machine_us() {
  const [user, nice, system, , , irq, softirq, steal] =
      readFileSync('/proc/stat', 'utf8').match(/^cpu +(.*)$/m)[1].split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) * tick_us;
}

export class Meter {
  constructor({bin, cpu, origin, cpus, spin}) {
    Object.assign(this, {bin, cpu, origin, cpus, spin});
    this.disturbance = [];  // of each measurement, the share of the machine's CPUs that others used
  }

  load(args) {
    return new Program(this.cpu, join(this.bin, 'bench-load'), args);
  }

  // Waits for bench-load to end and returns its report. A single wrong answer ends the benchmark, as wrong answers can
  // be cheap; `may_fail` is for what reports them itself.
  async report(program, what, {may_fail = false} = {}) {
    const code = await program.done;
    const line = program.output.trim().split('\n').at(-1);
    if (code === 0 || (may_fail && line.startsWith('{'))) return JSON.parse(line);
    throw new Error(`${what}: bench-load ended with status ${code}: ${program.output}`);
  }

  // A closed loop of `seconds` against `port`. `pid` is the proxy's, none for the origin itself.
  async closed_loop({port, pid, args, seconds, warm_up, what}) {
    const all = ['load', '--port', port, ...args, ...(this.spin ? ['--spin'] : [])].map(String);
    await this.report(this.load([...all, '-d', String(warm_up)]), `${what}, warming up`);
    const before = {proxy: pid ? cpu_us(pid) : 0, machine: machine_us(), ours: this.ours(), at: performance.now()};
    const report = await this.report(this.load([...all, '-d', String(seconds)]), what);
    const proxy = pid ? cpu_us(pid) - before.proxy : 0;
    const others = machine_us() - before.machine - proxy - (this.ours() - before.ours) - report.cpu_seconds * 1e6;
    this.disturbance.push(Math.max(0, others / ((performance.now() - before.at) * 1000 * this.cpus)));
    return {
      cpu: proxy / report.requests,
      rate: report.requests_per_second,
      p50: report.latency_us.p50,
      p99: report.latency_us.p99,
      first_byte_p50: report.first_byte_us.p50,
      first_byte_p99: report.first_byte_us.p99,
    };
  }

  ours() {
    return cpu_us(this.origin) + Object.values(process.cpuUsage()).reduce((a, b) => a + b);
  }

  // Memory of a fresh proxy while it holds idle connections, each of which is used again at the end; `before` is that
  // without connections.
  async idle({port, pid, before, connections, what}) {
    const program = this.load(['idle', '--port', port, '-c', connections, '--expect-bytes', 128].map(String));
    await program.line(/^open \d+$/m);
    const during = memory_bytes(pid);
    program.process.stdin.end();
    await this.report(program, what);
    return {before, during, each: (during - before) / connections};
  }

  // Many event streams at the same time, each event accounted for.
  async streams({port, pid, connections, events, gap_ms, what}) {
    const before = {memory: memory_bytes(pid), cpu: cpu_us(pid)};
    const path = `/stream?events=${events}&gap=${gap_ms}`;
    const args = ['streams', '--port', port, '-c', connections, '--path', path, '--expect-events', events];
    const program = this.load(args.map(String));
    await program.line(/^open \d+$/m);
    const during = memory_bytes(pid);
    const report = await this.report(program, what, {may_fail: true});
    const {events_lost: lost, most_open, events: received} = report;
    return {before: before.memory, during, lost, most_open, received, cpu: (cpu_us(pid) - before.cpu) / received};
  }
}
