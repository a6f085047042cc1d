// Nodes that share a Redis, in front of one origin: what the scenarios of the shared tier begin with.
import {strict as assert} from 'node:assert';
import {request as http_request} from 'node:http';

import {Brink} from './brink.mjs';
import {cache_status, get, post_json} from './cache_client.mjs';
import {until} from './wait.mjs';

export const chat = '/v1/chat/completions';
const heard = /purges of other nodes are heard/;

// The configuration's routes: models by mode exact, everything else by RFC 9111.
export const routes = [
  {name: 'models', match: {path_prefix: '/v1/'}, cluster: 'main', cache: {mode: 'exact'}},
  {name: 'web', match: {path_prefix: '/'}, cluster: 'main', cache: {mode: 'http'}},
];

// A node whose purge channel is up. `redis` are the keys of cache.redis.
export async function start_node(scope, origin, redis, more = {}) {
  const tier = {timeout: '200ms', ...redis};
  const node = await Brink.start(scope, {backend: origin.url, routes, cache: {memory: '64MiB', redis: tier}, ...more});
  await node.program.line(heard);
  return node;
}

// Waits until the node says again that it hears purges, after what it has printed by now.
export function hears_again(node) {
  return node.program.line(heard, {from: node.program.stderr.length});
}

// The origin answers with the number of the request; the answers of models are whole and of the asked model.
export function count(origin, fields = {'Cache-Control': 'max-age=60'}) {
  origin.forget();
  origin.handler = (request) => {
    const number = origin.requests.length;
    if (!request.target.startsWith('/v1/')) return {fields, body: `answer ${number}`};
    const {model} = JSON.parse(request.body);
    const choices = [{index: 0, message: {role: 'assistant', content: `answer ${number}`}, finish_reason: 'stop'}];
    const body = JSON.stringify({id: `chat-${number}`, object: 'chat.completion', created: 1, model, choices});
    return {fields: {'Content-Type': 'application/json', ...fields}, body};
  };
}

export function ask_model(node, text, {model = 'm-1', credential = 'sk-one'} = {}) {
  const body = {model, temperature: 0, messages: [{role: 'user', content: text}]};
  return post_json(node, chat, body, {Authorization: `Bearer ${credential}`});
}

export const is_hit = (response) => cache_status(response)?.hit === true;
export const text_of = (response) => response.body.toString();

// POST /cache/purge of the admin API: how many entries it found on this node.
export async function purge(node, what) {
  const body = JSON.stringify(what);
  const {status, text} = await new Promise((resolve, reject) => {
    const headers = {'content-type': 'application/json', 'content-length': Buffer.byteLength(body)};
    const options = {host: '127.0.0.1', port: node.admin_port, path: '/cache/purge', method: 'POST', headers};
    http_request({...options, agent: false}, async (response) => {
      let all = '';
      for await (const piece of response) all += piece;
      resolve({status: response.statusCode, text: all});
    }).on('error', reject).end(body);
  });
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

// Until the node has no fresh answer of the target any more; asks without touching the origin.
export function is_gone(node, target, fields = {}) {
  const only = {'Cache-Control': 'only-if-cached', ...fields};
  return until(async () => (await get(node, target, only)).status === 504, `${target} to be gone`);
}
