// Makes the report of a run: medians over the rounds, and Brink's ratio to the better of the peers.
import {cpus, release} from 'node:os';

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const absent = '–';
const digits = (value) => value.toFixed(Math.abs(value) < 100 ? 1 : 0);
const kib = (bytes) => `${digits(bytes / 1024)} KiB`;
const mib = (bytes) => `${digits(bytes / 1024 / 1024)} MiB`;

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`;
  return [head, head.map((_, i) => (i ? '---:' : '---')), ...rows].map(line).join('');
}

class Results {
  constructor(results, field) {
    this.results = results;
    this.names = Object.keys(field);
    this.peers = this.names.filter((name) => name !== 'brink');
  }

  all(workload, contestant, key) {
    return this.results.filter((entry) => entry.workload === workload && entry.contestant === contestant)
        .map(({values}) => values[key]);
  }

  // Undefined when the contestant did not take part.
  median(workload, contestant, key) {
    const values = this.all(workload, contestant, key);
    return values.length ? median(values) : undefined;
  }

  // Brink's ratio to the better of the peers, or to the peer `against`; null without one of the two. What slows the
  // machine slows whole rounds, so each round has its ratio and the median of these counts. `base` is a contestant that
  // is subtracted from both sides.
  ratio(workload, key, {against, base} = {}) {
    const own = this.all(workload, 'brink', key);
    const floor = base ? this.all(workload, base, key) : own.map(() => 0);
    const ratios = this.peers.filter((name) => !against || name === against)
                       .map((name) => this.all(workload, name, key))
                       .filter((values) => values.length && own.length)
                       .map((values) => median(own.map((value, i) => (value - floor[i]) / (values[i] - floor[i]))));
    return ratios.length ? Math.max(...ratios) : null;
  }

  cell(workload, contestant, key, show = digits) {
    const values = this.all(workload, contestant, key);
    if (!values.length) return absent;
    const spread = values.length > 1 ? ` (${show(Math.min(...values))}–${show(Math.max(...values))})` : '';
    return show(median(values)) + spread;
  }
}

function ratio_cells(ratio, must, goal) {
  const verdict = ratio === null ? absent : ratio <= must ? (ratio <= goal ? 'goal met' : 'met') : '**missed**';
  return [ratio === null ? absent : ratio.toFixed(2), `≤ ${must.toFixed(2)}`, verdict];
}

function processor_time(data, list) {
  const workloads = Object.entries(list).filter(([, {must}]) => must !== undefined);
  if (!workloads.length) return '';
  const rows = workloads.map(([key, {title, must, goal, against}]) => {
    const ratio = data.ratio(key, 'cpu', {against});
    return [title, ...data.names.map((name) => data.cell(key, name, 'cpu')), ...ratio_cells(ratio, must, goal)];
  });
  return '## Processor time, µs a request\n\n' +
      'The ratio is to the better of the peers; for the prompt, to nginx, which does not look into it.\n\n' +
      table(['workload', ...data.names, 'ratio', 'must', ''], rows);
}

function throughput(data, list) {
  const keys = Object.keys(list).filter((key) => list[key].must !== undefined);
  if (!keys.length) return '';
  const rate = (key, name) => data.median(key, name, 'rate')?.toFixed(0) ?? absent;
  const rows = keys.map((key) => [list[key].title, ...data.names.map((name) => rate(key, name))]);
  return '## Requests a second (the proxy has one CPU; origin and load share the other, and are often the limit)\n\n' +
      table(['workload', ...data.names], rows);
}

// What a proxy adds to the time that the same request takes without one.
function added_time(data, list, key, columns, title, against) {
  if (!list[key]) return '';
  const rows = columns.map(([column, label, must, goal]) => {
    const direct = data.median(key, 'direct', column);
    const added = (name) => {
      const value = data.median(key, name, column);
      return value === undefined ? absent : `+${digits(value - direct)}`;
    };
    const ratio = data.ratio(key, column, {against, base: 'direct'});
    return [label, digits(direct), ...data.names.map(added), ...ratio_cells(ratio, must, goal)];
  });
  return `## ${title}\n\n` + table(['µs', 'direct', ...data.names, 'ratio', 'must', ''], rows);
}

function idle_memory(data, list, settings) {
  if (!list.idle) return '';
  const row = (label, key, show, limits) => {
    const ratio = data.ratio('idle', key);
    const cells = data.names.map((name) => data.cell('idle', name, key, show));
    return [label, ...cells, ...(limits ? ratio_cells(ratio, ...limits) : ['', '', ''])];
  };
  return `## Memory of ${settings.idle} idle connections\n\n` +
      'Each has had one request, is held, and answers another at the end. ' +
      'The process without them is a fresh one that allows 64 connections.\n\n' +
      table(['', ...data.names, 'ratio', 'must', ''], [
           row('one connection', 'each', kib, [1, 0.5]),
           row('the process with them', 'during', mib),
           row('the process without', 'before', mib),
         ]);
}

function streams(data, list, settings) {
  if (!list.streams) return '';
  const {connections, events, gap_ms} = settings.streams;
  const row = (label, key, show) => [label, ...data.names.map((name) => data.cell('streams', name, key, show))];
  return `## ${connections} event streams at the same time, ${events} events each, ${gap_ms} ms apart\n\n` +
      table(['', ...data.names], [
           row('events lost', 'lost', String),
           row('events received', 'received', String),
           row('streams at the same time', 'most_open', String),
           row('memory with all open', 'during', mib),
           row('processor time, µs an event', 'cpu', digits),
         ]);
}

function others_share(disturbance) {
  if (!disturbance.length) return '';
  const percent = (share) => `${Math.round(share * 100)} %`;
  return `- Other programs used ${percent(median(disturbance))} of the machine's processor time during a measurement ` +
      `(median; at most ${percent(Math.max(...disturbance))}).\n`;
}

function method(field, {rounds, seconds, warm_up, note, revision}, disturbance) {
  const versions = [...new Set(Object.values(field).map(({version}) => version))];
  const date = new Date().toISOString().slice(0, 10);
  return `## Machine and method

- ${date}, ${revision}; ${cpus().length} × ${cpus()[0].model.trim()}, Linux ${release()}.
- ${versions.join('; ')}.
- Each proxy is pinned to CPU 0, \`bench-origin\` and \`bench-load\` to CPU 1, all over loopback. Brink runs as shipped:
  metrics and access log on. The peers run on their documented best settings (\`tests/bench/conf/\`): one worker,
  upstream connections reused, streams not buffered, \`option http-no-delay\` for them.
- Neither of the two ever sleeps (\`--spin\`): a send over loopback wakes a sleeping receiver at the sender's expense,
  which no network card does, and which would fall on whichever proxy the load happens to outrun.
- Rounds: ${rounds}, interleaved (A B C A B C), measurements of ${seconds} s after ${warm_up} s of warming up. The
  numbers are medians, in brackets the smallest and the largest; a ratio is the median of the ratios of the rounds.
  Memory and streams are measured once. Every answer is checked: status, length, number and order of the events.
- Processor time is user + system time of all of a proxy's processes, from the kernel, divided by the requests. Memory
  is PSS.
- Absolute values move with the machine; the ratios are what counts. \`tests/bench/run.sh\` repeats all of it.
${others_share(disturbance)}${note ? `- ${note}\n` : ''}`;
}

export function report({results, list, field, settings, disturbance}) {
  const data = new Results(results, field);
  const added = [['p50', 'p50', 1, 0.8], ['p99', 'p99', 1, 0.8]];
  const prompt = [['first_byte_p50', 'p50', 1.1, 1], ['first_byte_p99', 'p99', 1.1, 1]];
  return [
    '# Benchmarks\n', processor_time(data, list),
    added_time(data, list, 'latency', added, 'Latency added at one connection (W1)'),
    added_time(data, list, 'first_byte', prompt, 'Time to first byte added to a 220 KB prompt', 'nginx'),
    idle_memory(data, list, settings), streams(data, list, settings), throughput(data, list),
    method(field, settings, disturbance)
  ].filter(Boolean)
      .join('\n');
}
