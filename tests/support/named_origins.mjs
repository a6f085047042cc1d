// Backends that answer with their own name, for scenarios about who gets a request.
import {Origin} from './origin.mjs';

export async function named_origins(scope, names) {
  const origins = {};
  for (const name of names) {
    origins[name] = await Origin.start(scope, {keep_bytes: false, handler: () => ({body: name})});
  }
  return origins;
}

// A cluster of one endpoint for each.
export function clusters_of(origins) {
  return Object.fromEntries(Object.entries(origins).map(([name, {url}]) => [name, {endpoints: [{url}]}]));
}

// A raw request on a connection that closes after it.
export function request(path, {method = 'GET', host = 'api.test', fields = '', body} = {}) {
  const framing = body === undefined ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${fields}${framing}\r\n${body ?? ''}`;
}
