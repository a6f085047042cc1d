// A backend whose every byte is under the test's control: it records what it receives, raw and per connection, and
// answers with whatever the test wrote, well-formed or not.
import net from 'node:net';

import {encode_head} from './http1.mjs';
import {deferred, patience_ms, within} from './wait.mjs';
import {Wire} from './wire.mjs';

// A value that arrives later than it is asked for, or earlier.
class Inbox {
  constructor() {
    this.items_ = [];
    this.waiters_ = [];
  }

  put(item) {
    const waiter = this.waiters_.shift();
    if (waiter)
      waiter.resolve(item);
    else
      this.items_.push(item);
  }

  take(what, ms = patience_ms) {
    if (this.items_.length > 0) return Promise.resolve(this.items_.shift());
    const waiter = deferred();
    this.waiters_.push(waiter);
    return within(waiter.promise, what, ms).finally(() => {
      this.waiters_ = this.waiters_.filter((other) => other !== waiter);
    });
  }

  clear() {
    this.items_ = [];
  }
}

// `{status, reason, fields, body}` as bytes, with a content-length unless the fields frame the body themselves.
export function encode_response({status = 200, reason = 'OK', fields = {}, body = ''} = {}) {
  const list = Array.isArray(fields) ? [...fields] : Object.entries(fields);
  const framed = list.some(([name]) => ['content-length', 'transfer-encoding'].includes(name.toLowerCase()));
  const bytes = Buffer.from(body);
  if (!framed && status !== 204 && status !== 304) list.push(['content-length', bytes.length]);
  return Buffer.concat([Buffer.from(encode_head(`HTTP/1.1 ${status} ${reason}`, list), 'latin1'), bytes]);
}

export class Origin {
  // `handler(request, connection)` returns the answer, as bytes, text, or a description for encode_response; or
  // nothing, when it writes to `connection` (a Wire) itself. It runs once for each request; `request.body` is complete
  // unless `bodies` is 'manual', where the handler reads. `raw(connection)` takes over a whole connection instead.
  static async start(scope, {handler, raw, bodies = 'read', path, keep_bytes = true} = {}) {
    const origin = new Origin({handler, raw, bodies, keep_bytes});
    await new Promise((resolve, reject) => {
      origin.server_.once('error', reject).listen(path ? {path} : {port: 0, host: '127.0.0.1'}, resolve);
    });
    origin.path = path;
    origin.port = path ? undefined : origin.server_.address().port;
    origin.url = path ? `unix://${path}` : `http://127.0.0.1:${origin.port}`;
    origin.name = path ? `unix:${path}` : `127.0.0.1:${origin.port}`;
    scope.after(() => origin.stop());
    return origin;
  }

  constructor({handler, raw, bodies, keep_bytes}) {
    this.handler = handler ?? (() => ({body: 'ok'}));
    this.raw = raw;
    this.bodies_ = bodies;
    this.keep_bytes_ = keep_bytes;
    this.connections = [];  // all since the start or `forget`, oldest first
    this.requests = [];     // heads (with bodies) in order of arrival over all connections
    this.faults = [];       // what was wrong with what arrived; a test may look
    this.arrived_ = new Inbox();
    this.accepted_ = new Inbox();
    this.open_ = new Set();
    this.server_ = net.createServer({allowHalfOpen: true}, (socket) => this.accept_(socket));
  }

  // The next request that arrives, or has arrived and was not taken.
  next_request(what = 'a request at the origin') {
    return this.arrived_.take(what);
  }

  next_connection(what = 'a connection at the origin') {
    return this.accepted_.take(what);
  }

  // Everything received since the start or `forget`, on all connections, as latin1 text.
  received() {
    return this.connections.map((connection) => connection.received()).join('');
  }

  // Starts a new scenario: what was recorded is dropped; connections that the edge keeps open stay.
  forget() {
    this.connections = this.connections.filter((connection) => !connection.ended);
    for (const connection of this.connections) connection.record = [];
    this.requests = [];
    this.faults = [];
    this.arrived_.clear();
    this.accepted_.clear();
  }

  close_connections() {
    for (const connection of this.open_) connection.close();
  }

  stop() {
    this.close_connections();
    return new Promise((resolve) => this.server_.close(resolve));
  }

  accept_(socket) {
    const connection = new Wire(socket);
    connection.record = [];
    connection.received = () => Buffer.concat(connection.record).toString('latin1');
    if (this.keep_bytes_) connection.on_bytes = (data) => connection.record.push(data);
    connection.answered = 0;
    this.connections.push(connection);
    this.open_.add(connection);
    socket.on('close', () => this.open_.delete(connection));
    this.accepted_.put(connection);
    this.serve_(connection).catch((error) => {
      if (!error.ended) this.faults.push(error);
      connection.half_close();
    });
  }

  async serve_(connection) {
    if (this.raw) return this.raw(connection);
    while (await this.has_more_(connection)) {
      const request = this.bodies_ === 'read' ? await connection.read_request() : await connection.read_head();
      request.connection = connection;
      this.requests.push(request);
      this.arrived_.put(request);
      const answer = await this.handler(request, connection);
      if (answer !== undefined) {
        const is_bytes = typeof answer === 'string' || Buffer.isBuffer(answer);
        await connection.send(is_bytes ? answer : encode_response(answer));
      }
      connection.answered += 1;
      if (connection.tunnel) return undefined;
    }
    connection.half_close();
    return undefined;
  }

  // An idle kept connection waits for its next request without a deadline. False when the edge has closed it.
  async has_more_(connection) {
    while (connection.peek().length === 0) {
      if (connection.ended) return false;
      await new Promise((resolve) => {
        connection.socket.once('data', resolve);
        connection.closed.then(resolve);
      });
    }
    return true;
  }
}
