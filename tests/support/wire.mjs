// One TCP or Unix-socket connection, read as bytes: the raw client of the tests, and each connection of a test origin.
import net from 'node:net';

import {Head, read_body} from './http1.mjs';
import {deferred, within} from './wait.mjs';

export class Wire {
  // `pause_above`: bytes held unread before the socket is paused, so that a test can be a slow reader.
  constructor(socket, {pause_above = Infinity} = {}) {
    this.socket = socket;
    this.pause_above_ = pause_above;
    this.unread_ = [];
    this.unread_size_ = 0;
    this.ended = null;  // how the peer ended: 'end' (FIN) or 'reset'
    this.bytes_read = 0;
    this.waiter_ = null;
    const closed = deferred();
    this.closed = closed.promise;  // 'end' or 'reset', when nothing more can come
    const end = (how) => {
      if (this.ended) return;
      this.ended = how;
      closed.resolve(how);
      this.waiter_?.resolve();
    };
    socket.setNoDelay?.(true);
    socket.on('data', (data) => this.take_(data));
    socket.on('end', () => end('end'));
    socket.on('error', () => end('reset'));
    socket.on('close', () => end('reset'));
  }

  // `where` is a port, a {port, host} or a {path}.
  static async connect(where, options = {}) {
    const target = typeof where === 'number' ? {port: where, host: '127.0.0.1'} : where;
    const socket = net.connect({...target, allowHalfOpen: true});
    const wire = new Wire(socket, options);
    await within(
        new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject)), 'a connection');
    return wire;
  }

  take_(data) {
    this.unread_.push(data);
    this.unread_size_ += data.length;
    this.bytes_read += data.length;
    this.on_bytes?.(data);
    if (this.unread_size_ > this.pause_above_) this.socket.pause();
    this.waiter_?.resolve();
  }

  // Resolves when the kernel has taken the bytes, or the connection is gone: what became of them is for the test to
  // see.
  send(...parts) {
    const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
    return new Promise((resolve) => {
      if (this.socket.destroyed || this.socket.writableEnded) return resolve();
      this.socket.write(bytes, () => resolve());
    });
  }

  half_close() {
    this.socket.end();
  }

  close() {
    this.socket.destroy();
  }

  // Ends with RST instead of FIN.
  reset() {
    if (this.socket.resetAndDestroy)
      this.socket.resetAndDestroy();
    else
      this.socket.destroy();
  }

  pause() {
    this.pause_above_ = -1;
    this.socket.pause();
  }

  resume() {
    this.pause_above_ = Infinity;
    this.socket.resume();
  }

  async more_(what) {
    if (this.ended)
      throw Object.assign(new Error(`connection ended (${this.ended}) while reading ${what}`), {ended: this.ended});
    if (this.socket.isPaused() && this.unread_size_ <= Math.max(this.pause_above_, 0)) this.socket.resume();
    this.waiter_ = deferred();
    try {
      await within(
          this.waiter_.promise, `${what} (unread: ${JSON.stringify(this.peek().toString('latin1').slice(0, 300))})`);
    } finally {
      this.waiter_ = null;
    }
  }

  // What has arrived and was not read, in one piece.
  peek() {
    if (this.unread_.length > 1) this.unread_ = [Buffer.concat(this.unread_)];
    return this.unread_[0] ?? Buffer.alloc(0);
  }

  consume_(size) {
    const all = this.peek();
    this.unread_ = size < all.length ? [all.subarray(size)] : [];
    this.unread_size_ -= size;
    return all.subarray(0, size);
  }

  async read_until(delimiter) {
    for (let seen = 0;;) {
      const at = this.peek().indexOf(delimiter, Math.max(0, seen - delimiter.length));
      if (at >= 0) return this.consume_(at + delimiter.length);
      seen = this.unread_size_;
      await this.more_(JSON.stringify(delimiter));
    }
  }

  async read_exactly(size) {
    while (this.unread_size_ < size) await this.more_(`${size} bytes`);
    return this.consume_(size);
  }

  // Hands on `size` bytes as they come; Infinity reads to an orderly end.
  async read_in_pieces(size, on_data) {
    for (let left = size; left > 0;) {
      if (this.unread_size_ === 0) {
        if (size === Infinity && this.ended === 'end') return;
        try {
          await this.more_(`${left} bytes of a body`);
        } catch (error) {
          if (size === Infinity && error.ended === 'end') return;
          throw error;
        }
        continue;
      }
      const piece = this.consume_(Math.min(left, this.unread_size_));
      left -= piece.length;
      on_data(piece);
    }
  }

  async read_head() {
    return new Head(await this.read_until('\r\n\r\n'));
  }

  // The next final response: 1xx heads before it are collected in `.interim`.
  async read_response(request_method = 'GET', options = {}) {
    const interim = [];
    for (;;) {
      const head = await this.read_head();
      if (head.status >= 200 || head.status === 101) {
        head.interim = interim;
        return read_body(this, head, {...options, request_method});
      }
      interim.push(head);
    }
  }

  async read_request(options = {}) {
    return read_body(this, await this.read_head(), options);
  }
}
