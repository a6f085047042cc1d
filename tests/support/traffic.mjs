// Steady traffic that notices every failure: plain requests at a rate, event streams whose events are counted,
// WebSockets whose echoes are. For the scenarios in which the edge changes under load.
import {strict as assert} from 'node:assert';
import {WebSocket} from 'ws';

import {deferred, until, within} from './wait.mjs';

// `connections` clients on kept connections that together send `rate` requests a second.
export class Requests {
  constructor(edge, {connections = 30, rate = 300} = {}) {
    this.edge_ = edge;
    this.period_ms_ = (1000 * connections) / rate;
    this.step_ms_ = 1000 / rate;
    this.stopped_ = false;
    this.sent = 0;
    this.answered = 0;
    this.refused = 0;  // connections that the kernel refused: nobody listened any more
    this.failures = [];
    this.loops_ = Array.from({length: connections}, (_, i) => this.loop_(i));
  }

  async stop() {
    this.stopped_ = true;
    await within(Promise.all(this.loops_), 'the requests under way to be answered');
  }

  // All clients have stopped because the edge takes no connection any more.
  ended() {
    return within(Promise.all(this.loops_), 'every client to notice that the edge is gone');
  }

  async loop_(client) {
    let wire = null;
    let due = performance.now() + client * this.step_ms_;
    while (!this.stopped_) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      due += this.period_ms_;
      try {
        if (!wire || wire.ended) {
          wire?.close();
          wire = await this.edge_.connect();
        }
      } catch (error) {
        if (error.code === 'ECONNREFUSED')
          this.refused += 1;
        else
          this.failures.push(`connecting: ${error.message}`);
        return;
      }
      if (await this.request_(wire, client)) continue;
      wire.close();
      wire = null;
    }
    wire?.close();
  }

  // True if the connection may be used again.
  async request_(wire, client) {
    const body = `client ${client} request ${this.sent++}`;
    wire.send(`POST /plain HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    try {
      const response = await wire.read_response('POST');
      assert.equal(response.status, 200, response.body.toString());
      assert.equal(response.body.toString(), 'plain');
      this.answered += 1;
      return response.get('connection') !== 'close';
    } catch (error) {
      this.failures.push(`${body}: ${error.message}`);
      return false;
    }
  }
}

// An event stream whose numbers must come without a gap. `done` has the number of events once it ended with [DONE].
export class EventStream {
  static async open(edge) {
    const stream = new EventStream();
    stream.events = 0;
    stream.error = null;
    const wire = await edge.connect();
    wire.send('GET /stream HTTP/1.1\r\nHost: a.test\r\n\r\n');
    stream.done = stream.read_(wire).catch((error) => {
      stream.error = error;
      return stream.events;
    });
    await until(() => stream.events > 0 || stream.error, 'the first event');
    return stream;
  }

  async read_(wire) {
    const head = await wire.read_head();
    assert.equal(head.status, 200);
    for (let text = '';;) {
      const size = parseInt((await wire.read_until('\r\n')).toString(), 16);
      text += await wire.read_exactly(size);
      await wire.read_exactly(2);
      if (size === 0) {
        assert.equal(text, '', 'the stream ended inside an event');
        assert.ok(this.said_done, 'the stream ended before it was done');
        wire.close();
        return this.events;
      }
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) this.take_(event);
    }
  }

  take_(event) {
    if (event === 'data: [DONE]')
      this.said_done = true;
    else
      assert.equal(event, `data: ${this.events++}`);
  }
}

// A WebSocket that sends a numbered message every 50 ms and expects it back, in order.
export class EchoSocket {
  static async open(edge) {
    const client = new EchoSocket();
    const opened = deferred();
    client.socket_ = new WebSocket(edge.url.replace('http', 'ws'));
    client.sent = 0;
    client.echoed = 0;
    client.error = null;
    const fail = (error) => {
      client.error ??= error;
      opened.reject(error);
    };
    client.socket_.on('error', fail).on('open', opened.resolve).on('message', (data) => {
      if (String(data) !== `message ${client.echoed++}`) fail(new Error(`out of order: ${data}`));
    });
    client.socket_.on('close', (code) => {
      clearInterval(client.timer_);
      if (code !== 1000) fail(new Error(`closed with ${code} after ${client.echoed} of ${client.sent} messages`));
    });
    await within(opened.promise, 'a WebSocket to open');
    client.timer_ = setInterval(() => client.socket_.send(`message ${client.sent++}`), 50);
    return client;
  }

  // Waits for every echo, then closes in the orderly way.
  async close() {
    clearInterval(this.timer_);
    if (!this.error) await until(() => this.error || this.echoed === this.sent, 'the last echoes');
    const closed = new Promise((resolve) => this.socket_.once('close', resolve));
    if (this.socket_.readyState !== WebSocket.CLOSED) {
      this.socket_.close(1000);
      await within(closed, 'a WebSocket to close');
    }
  }
}
