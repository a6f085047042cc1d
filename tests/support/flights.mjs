// What the scenarios of coalescing share: two workers in front of an origin, many clients with the same request.
import {Brink} from './brink.mjs';
import {Origin} from './origin.mjs';
import {until} from './wait.mjs';

export const mebibyte = 1024 * 1024;
export const chunked_head = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n';
export const stream_head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
export const ask = (text) => ({model: 'm', temperature: 0, stream: true, messages: [{role: 'user', content: text}]});

export function word_event(number, last = false) {
  const choice = {index: 0, delta: {content: `word ${number} `}, finish_reason: last ? 'stop' : null};
  return `data: ${
      JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice]})}\n\n`;
}

export async function start_shared(scope, {http, node = {workers: 2}, memory = '64MiB'} = {}) {
  const origin = await Origin.start(scope);
  // Without retries, so that what is counted at the origin are the calls of the cache.
  const shared = {cluster: 'main', retry: 'off'};
  const routes = [
    {name: 'models', match: {path_prefix: '/v1/'}, ...shared, cache: {mode: 'exact'}},
    {name: 'web', match: {path_prefix: '/'}, ...shared, cache: {mode: 'http', ...http}},
  ];
  const env = {ASAN_OPTIONS: 'quarantine_size_mb=1'};  // what is freed is to count as free
  const edge = await Brink.start(scope, {backend: origin.url, cache: {memory}, node, routes, env});
  return {origin, edge};
}

// Clients with a connection each, on whichever worker takes it.
export async function clients_of(scope, edge, count) {
  const clients = await Promise.all(Array.from({length: count}, () => edge.connect()));
  scope.after(() => clients.forEach((client) => client.close()));
  return clients;
}

export const send_all = (clients, bytes) => clients.forEach((client) => client.send(bytes));

// Nobody tells that a request waits for another's call: they are sent, and the edge's own page shows them in progress.
export async function waiting(edge, count) {
  await until(
      async () => (await edge.metrics()).sum('brink_requests_in_flight') >= count, `${count} requests in progress`);
}
