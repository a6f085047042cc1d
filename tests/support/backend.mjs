// An ordinary node.js server as the backend: plain answers, endless event streams and WebSockets, as an application
// would have them. Where bytes matter, use Origin.
import http from 'node:http';
import {WebSocketServer} from 'ws';

const event_every_ms = 50;

export class Backend {
  // `sockets` are options for WebSocketServer. A message is echoed unless `on_socket(socket, request)` does otherwise.
  static async start(scope, {sockets = {}, on_socket = echo, answer = 'plain', path} = {}) {
    const backend = new Backend();
    backend.answer = answer;
    backend.streams_ = new Set();
    backend.server_ = http.createServer((request, response) => backend.serve_(request, response));
    backend.server_.keepAliveTimeout = 30_000;
    backend.sockets = new WebSocketServer({server: backend.server_, maxPayload: 64 * 1024 * 1024, ...sockets});
    backend.sockets.on('connection', on_socket);
    await new Promise(
        (resolve) => backend.server_.listen(path ? {path} : {port: 0, host: '127.0.0.1', backlog: 2048}, resolve));
    backend.port = path ? undefined : backend.server_.address().port;
    backend.url = path ? `unix://${path}` : `http://127.0.0.1:${backend.port}`;
    scope.after(() => backend.stop());
    return backend;
  }

  serve_(request, response) {
    if (!request.url.startsWith('/stream')) {
      request.resume().on('end', () => response.end(this.answer));
      return;
    }
    // Numbered events until `end_streams`.
    response.writeHead(200, {'content-type': 'text/event-stream'});
    let number = 0;
    const send = () => response.write(`data: ${number++}\n\n`);
    const stream = {timer: setInterval(send, event_every_ms), response};
    this.streams_.add(stream);
    send();
    response.on('close', () => {
      clearInterval(stream.timer);
      this.streams_.delete(stream);
    });
  }

  get open_streams() {
    return this.streams_.size;
  }

  // Ends every stream in the orderly way, after a last event that says so.
  end_streams() {
    for (const {timer, response} of this.streams_) {
      clearInterval(timer);
      response.end('data: [DONE]\n\n');
    }
  }

  stop() {
    for (const socket of this.sockets.clients) socket.terminate();
    this.sockets.close();
    this.server_.closeAllConnections();
    return new Promise((resolve) => this.server_.close(resolve));
  }
}

export function echo(socket) {
  socket.on('message', (data, is_binary) => socket.send(data, {binary: is_binary}));
  socket.on('error', () => {});
}
