// A chat model as the origin, in front of it an edge with mode `exact`, and how the scenarios ask and read.
import {Brink} from './brink.mjs';
import {cache_status} from './cache_client.mjs';
import {chunk, last_chunk} from './http1.mjs';
import {Origin} from './origin.mjs';

export const chat = '/v1/chat/completions';
export const done = 'data: [DONE]\n\n';

export function event(delta, finish_reason = null, more = {}) {
  const choices = [{index: 0, delta, finish_reason}];
  const value = {id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more};
  return `data: ${JSON.stringify(value)}\n\n`;
}

const usage = {
  prompt_tokens: 1,
  completion_tokens: 2,
  total_tokens: 3
};
const usage_event = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [],
  usage,
})}\n\n`;

export const whole_stream = (text, with_usage = false) =>
    [event({role: 'assistant', content: ''}), event({content: text}), event({}, 'stop'),
     ...(with_usage ? [usage_event] : []), done];

export function plain_answer(text) {
  const choices = [{index: 0, message: {role: 'assistant', content: text}, finish_reason: 'stop'}];
  return JSON.stringify({id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage});
}

// A model that answers the n-th request with `answer n`, in the form that is asked for.
export function model(origin, fields = []) {
  origin.forget();
  origin.handler = async (asked, connection) => {
    const text = `answer ${origin.requests.length}`;
    if (!JSON.parse(asked.body).stream) {
      return {fields: [['Content-Type', 'application/json'], ...fields], body: plain_answer(text)};
    }
    const lines = [['Content-Type', 'text/event-stream'], ['Transfer-Encoding', 'chunked'], ...fields];
    await connection.send(`HTTP/1.1 200 OK\r\n${lines.map(([n, v]) => `${n}: ${v}\r\n`).join('')}\r\n`);
    const with_usage = JSON.parse(asked.body).stream_options?.include_usage;
    for (const each of whole_stream(text, with_usage)) await connection.send(chunk(each));
    return last_chunk;
  };
}

export const question = (content, more = {}) =>
    ({model: 'm', temperature: 0, messages: [{role: 'user', content}], ...more});
export const content_of = (answer) => JSON.parse(answer.body).choices[0].message.content;
export const text_of = (answer) => answer.body.toString()
                                       .split('\n\n')
                                       .filter((line) => line.startsWith('data: {'))
                                       .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? '')
                                       .join('');
export const word = (answer) =>
    (cache_status(answer) === undefined ? 'past' :
         cache_status(answer).hit       ? 'hit' :
                                          'miss');

export async function start_exact(scope, cache = {}, route = {}) {
  const origin = await Origin.start(scope);
  const routes = [{
    name: 'models',
    match: {path_prefix: '/'},
    cluster: 'main',
    limits: {body: '16MiB'},
    cache: {mode: 'exact', ...cache},
    retry: 'off',  // the calls at the origin are counted
    ...route,
  }];
  const edge = await Brink.start(scope, {backend: origin.url, cache: {memory: '64MiB'}, routes});
  return {origin, edge};
}
