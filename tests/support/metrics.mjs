// Prometheus text exposition, read strictly enough that a malformed line fails the test.
import {strict as assert} from 'node:assert';

const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([0-9.eE+-]+|\+Inf|NaN)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/g;

export class Metrics {
  constructor(samples) {
    this.samples = samples;  // {name, labels, value}
  }

  find(name, labels = {}) {
    const wanted = Object.entries(labels);
    return this.samples.filter(
        (item) => item.name === name && wanted.every(([key, value]) => item.labels[key] === value));
  }

  // The sum over all samples of that name with at least these labels.
  sum(name, labels = {}) {
    return this.find(name, labels).reduce((total, item) => total + item.value, 0);
  }

  names() {
    return [...new Set(this.samples.map((item) => item.name))];
  }
}

export function parse_metrics(text) {
  const samples = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = line.match(sample);
    assert.ok(match, `not a sample line: ${line}`);
    const labels = Object.fromEntries([...(match[2] ?? '').matchAll(label)].map(([, key, value]) => [key, value]));
    samples.push({name: match[1], labels, value: match[3] === '+Inf' ? Infinity : Number(match[3])});
  }
  return new Metrics(samples);
}
