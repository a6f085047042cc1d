// What the scenarios of the cache share: an edge with mode `http`, requests as bytes, and the words of Cache-Status.
import {Brink} from './brink.mjs';
import {Origin} from './origin.mjs';

// `fields` is an object or a list of pairs; a value of undefined leaves the field out.
export function request(method, target, fields = {}, body = '') {
  const list = (Array.isArray(fields) ? fields : Object.entries(fields)).filter(([, value]) => value !== undefined);
  const bytes = Buffer.from(body);
  if (bytes.length > 0) list.push(['Content-Length', bytes.length]);
  const head = `${method} ${target} HTTP/1.1\r\nHost: a.test\r\n${list.map(([n, v]) => `${n}: ${v}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

// The response to one request on a connection of its own.
export function get(edge, target, fields) {
  return edge.exchange(request('GET', target, fields));
}

export function post_json(edge, target, value, fields = {}) {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  return edge.exchange(request('POST', target, {'Content-Type': 'application/json', ...fields}, body), 'POST');
}

// {hit, fwd, stored, collapsed, ttl, detail}: the one member of Cache-Status (RFC 9211) that Brink adds.
export function cache_status(response) {
  const value = response.get('cache-status');
  if (value === undefined) return undefined;
  const result = {};
  for (const parameter of value.split(';').slice(1)) {
    const [name, text] = parameter.trim().split('=');
    result[name] = text === undefined ? true : text;
  }
  return result;
}

// `cache` are further keys of the route's cache.
export async function start_http(scope, cache = {}) {
  const origin = await Origin.start(scope);
  const route = {cache: {mode: 'http', ...cache}};
  const edge = await Brink.start(scope, {backend: origin.url, cache: {memory: '64MiB'}, route});
  return {origin, edge};
}

// The origin answers every request with the number it has among them.
export function count(origin, fields, body = (number) => `answer ${number}`) {
  origin.forget();
  origin.handler = () => ({fields, body: body(origin.requests.length)});
}
