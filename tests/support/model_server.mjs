// brink-model under test: a model file behind OpenAI's API on a port the system chooses, stopped with a check of its exit
// status and of the sanitizers' findings.
import {existsSync} from 'node:fs';
import http from 'node:http';
import {dirname, join, resolve} from 'node:path';

import OpenAI from 'openai';

import {fetch_text} from './brink.mjs';
import {Program, repository} from './process.mjs';
import {Wire} from './wire.mjs';

export const model_binary =
    join(dirname(resolve(repository, process.env.BRINK_BIN ?? 'build/dev/bin/brink')), 'brink-model');

// Why the tests cannot run here, or false: without llama.cpp the program is not built.
export const no_model_server =
    existsSync(model_binary) ? false : `${model_binary} is not built: run deploy/get-llama.sh and configure again`;

export function model_program(args) {
  return new Program('brink-model', args, {path: model_binary});
}

export class ModelServer {
  // `options` as on the command line: {parallel: 2} is --parallel 2.
  static async start(scope, file, {listen = '127.0.0.1:0', ready = true, ...options} = {}) {
    const server = new ModelServer();
    const args = Object.entries({threads: 1, ...options}).flatMap(([key, value]) => [`--${key}`, String(value)]);
    server.program = model_program(['--file', file, '--listen', listen, ...args]);
    scope.after(() => server.program.stop());
    const [, address] = await server.program.line(/listening on (\S+)/);
    if (!address.startsWith('unix:')) server.port = Number(address.split(':')[1]);
    server.url = `http://${address}`;
    server.client = new OpenAI({baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0});
    if (ready) await server.program.line(/ready/);
    return server;
  }

  get(path) {
    return fetch_text({port: this.port, path});
  }

  // The answer's status, headers and JSON; `body` is JSON or text.
  post(path, body) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return fetch_text({port: this.port, path: `/v1/${path}`, method: 'POST', body: text});
  }

  async text(request) {
    const {status, json, text} = await this.post('completions', request);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return json.choices[0].text;
  }

  // The events of a stream, until its end or until `enough(events)`; then the client hangs up.
  events(path, body, enough = () => false) {
    return new Promise((done, fail) => {
      const events = [];
      let unread = '';
      const options = {port: this.port, path: `/v1/${path}`, method: 'POST', agent: false};
      const request = http.request({host: '127.0.0.1', ...options}, (response) => {
        events.headers = response.headers;
        response.setEncoding('utf8').on('error', fail).on('end', () => done(events)).on('data', (piece) => {
          const parts = (unread + piece).split('\n\n');
          unread = parts.pop();
          for (const part of parts) events.push(part.replace(/^data: /, ''));
          if (!enough(events)) return;
          response.removeAllListeners('error');
          response.on('error', () => {});
          request.destroy();
          done(events);
        });
      });
      request.on('error', fail).end(JSON.stringify({...body, stream: true}));
    });
  }

  connect() {
    return Wire.connect(this.port);
  }

  async metric(name) {
    const {text} = await this.get('/metrics');
    return Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))[1]);
  }
}
