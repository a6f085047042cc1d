// Brink under test: started with a configuration made for the scenario, on ports the system chooses, and stopped with a
// check of its exit status and of the sanitizers' findings.
import {strict as assert} from 'node:assert';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

import {parse_metrics} from './metrics.mjs';
import {Program} from './process.mjs';
import {patience_ms, until} from './wait.mjs';
import {Wire} from './wire.mjs';

// A folder that goes when the scope ends.
export function temporary_folder(scope) {
  const folder = mkdtempSync(join(tmpdir(), 'brink-test-'));
  scope.after(() => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

// JSON is YAML 1.2 in flow style, so a configuration is written as an object. `backend` is short for a cluster `main`
// of that one endpoint with a route for everything.
export function make_config({backend, backends, route = {}, cluster = {}, log_file, ...rest}) {
  const urls = backends ?? (backend ? [backend] : []);
  const config = {
    node: {id: 'test', workers: 1, drain_timeout: '3s', ...rest.node},
    listeners: rest.listeners ?? [{address: '127.0.0.1:0'}],
    admin: {address: '127.0.0.1:0'},
    access_log: log_file ? {file: log_file, format: 'json'} : 'off',
    clusters: rest.clusters ?? {main: {endpoints: urls.map((url) => ({url})), ...cluster}},
    routes: rest.routes ?? [{name: 'all', match: {path_prefix: '/'}, cluster: 'main', ...route}],
  };
  if (rest.downstream) config.downstream = rest.downstream;
  if (rest.cache) config.cache = rest.cache;
  if (rest.local_model) config.local_model = rest.local_model;
  return config;
}

export class Brink {
  // `options` as for make_config. `scope` is of support/scenario.
  static async start(scope, options) {
    const edge = new Brink(temporary_folder(scope), options);
    scope.after(() => edge.stop());
    await edge.program.line(/\bready\b/);
    const [, host, port] = await edge.program.line(/listening on (\S+):(\d+)/);
    const [, , admin_port] = await edge.program.line(/admin on (\S+):(\d+)/);
    Object.assign(edge, {host, port: Number(port), admin_port: Number(admin_port), url: `http://127.0.0.1:${port}`});
    return edge;
  }

  constructor(folder, options) {
    this.folder = folder;
    this.options = options;
    this.log_file = join(folder, 'access.log');
    this.config_file = join(folder, 'brink.yaml');
    this.write_config(options);
    this.clients_ = new Set();
    this.program = new Program('brink', ['run', '-c', this.config_file], {env: options.env});
  }

  get pid() {
    return this.program.pid;
  }

  // Replaces the file; the running process notices with `reload` only.
  write_config(options) {
    writeFileSync(this.config_file, typeof options === 'string' ? options : this.config_text(options));
  }

  config_text(options) {
    return JSON.stringify(make_config({log_file: this.log_file, ...options}), null, 2) + '\n';
  }

  async reload() {
    return this.admin('/reload', {method: 'POST'});
  }

  // A raw client connection, closed with the edge.
  async connect(options) {
    const wire = await Wire.connect(this.port, options);
    this.clients_.add(wire);
    wire.socket.on('close', () => this.clients_.delete(wire));
    return wire;
  }

  // One raw request on a connection of its own: the response, with `closed` telling whether the edge then closed.
  async exchange(bytes, method = 'GET') {
    const wire = await this.connect();
    wire.send(bytes);
    try {
      return await wire.read_response(method);
    } finally {
      wire.close();
    }
  }

  // {status, headers, text, json}; over node's own client, without keep-alive.
  admin(path, {method = 'GET', headers = {}} = {}) {
    return fetch_text({port: this.admin_port, path, method, headers});
  }

  async metrics() {
    const {status, text} = await this.admin('/metrics');
    assert.equal(status, 200);
    return parse_metrics(text);
  }

  log_lines() {
    let text = '';
    try {
      text = readFileSync(this.log_file, 'utf8');
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
    return text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  // The access line that `wanted` accepts, once it is written (the edge writes in batches).
  log_line(wanted, what = 'an access log line', ms = patience_ms) {
    return until(() => this.log_lines().find(wanted), what, ms);
  }

  resident_bytes() {
    const pages = Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1]);
    return pages * 4096;
  }

  async stop() {
    for (const client of this.clients_) client.close();
    await this.program.stop();
  }
}

export function fetch_text({body, ...options}) {
  return new Promise((resolve, reject) => {
    const request = http.request({host: '127.0.0.1', agent: false, ...options}, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece)).on('error', reject).on('end', () => {
        const text = Buffer.concat(pieces).toString();
        const is_json = /json/.test(response.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: response.statusCode,
          headers: response.headers,
          text,
          json: is_json ? JSON.parse(text) : undefined
        });
      });
    });
    request.on('error', reject).end(body);
  });
}
