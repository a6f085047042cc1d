// What is measured: the arguments of bench-load for each workload, and the bodies it sends.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';

// A chat request of exactly `bytes`. `model` stands last, as the Python client writes it, so that it is found only by
// reading the whole prompt.
function chat_request(bytes) {
  const head = '{"messages":[{"role":"user","content":"';
  const tail = '"}],"stream":false,"model":"bench-model"}';
  const words = 'The quick brown fox jumps over the lazy dog and goes on its way. ';
  const room = bytes - head.length - tail.length;
  return head + words.repeat(Math.ceil(room / words.length)).slice(0, room) + tail;
}

// `must` and `goal` are Brink's ratio to the better of the peers.
export function workloads(dir) {
  const body = (name, bytes) => {
    const path = join(dir, name);
    writeFileSync(path, chat_request(bytes));
    return path;
  };
  const events = (path) => ['--path', path, '--expect-events', 64];
  const prompt = ['--path', '/w220k', '--body', body('prompt.json', 220 * 1024), '--expect-bytes', 1024];
  return {
    w1: {
      title: 'W1: GET, 128 B answer',
      must: 0.8,
      goal: 0.65,
      args: ['-c', 64, '--path', '/w1', '--expect-bytes', 128]
    },
    w2: {
      title: 'W2: POST 2 KB, 1 KB JSON answer',
      must: 0.8,
      goal: 0.65,
      args: ['-c', 64, '--path', '/w2', '--body', body('w2.json', 2048), '--expect-bytes', 1024],
    },
    w3: {title: 'W3: SSE, 64 events', must: 1, goal: 0.8, args: ['-c', 64, ...events('/w3')]},
    w3r: {title: 'W3r: SSE, events in random small writes', must: 1, goal: 0.8, args: ['-c', 64, ...events('/w3r')]},
    w3p: {title: 'W3p: SSE, 64 events 2 ms apart', must: 1, goal: 0.8, args: ['-c', 64, ...events('/w3?gap=2000')]},
    w4: {title: 'W4: 256 KB answer', must: 1, goal: 0.9, args: ['-c', 64, '--path', '/w4', '--expect-bytes', 262144]},
    w220k: {title: '220 KB prompt, 8 connections', must: 1.1, goal: 1, against: 'nginx', args: ['-c', 8, ...prompt]},
    hit: {
      title: 'hit in the cache, 128 B',
      must: 0.6,
      goal: 0.4,
      among: ['brink', 'nginx', 'varnish'],
      args: ['-c', 64, '--path', '/hit', '--expect-bytes', 128]
    },
    hit256k: {
      title: 'hit in the cache, 256 KB',
      must: 0.6,
      goal: 0.4,
      among: ['brink', 'nginx', 'varnish'],
      args: ['-c', 64, '--path', '/hit256k', '--expect-bytes', 262144]
    },
    latency: {title: 'W1, one connection', direct: true, args: ['-c', 1, '--path', '/w1', '--expect-bytes', 128]},
    first_byte: {title: '220 KB prompt, one connection', direct: true, args: ['-c', 1, ...prompt]},
    idle: {title: 'idle connections', fresh: true},
    streams: {title: 'event streams', fresh: true},
  };
}
