// HTTP/1.1 messages as the tests see them: strictly what is on the wire, nothing repaired. Reads from a Wire.
import {strict as assert} from 'node:assert';

export class Head {
  constructor(bytes) {
    this.raw = bytes;
    const lines = bytes.toString('latin1').slice(0, -4).split('\r\n');
    this.start_line = lines[0];
    this.fields = lines.slice(1).map((line) => {
      const colon = line.indexOf(':');
      assert.ok(colon > 0, `not a field line: ${JSON.stringify(line)}`);
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    if (this.start_line.startsWith('HTTP/')) {
      const [, version, status, reason] = this.start_line.match(/^(HTTP\/1\.[01]) (\d{3}) (.*)$/) ?? [];
      assert.ok(status, `not a status line: ${JSON.stringify(this.start_line)}`);
      Object.assign(this, {version, status: Number(status), reason});
    } else {
      const [, method, target, version] = this.start_line.match(/^(\S+) (\S+) (HTTP\/1\.[01])$/) ?? [];
      assert.ok(method, `not a request line: ${JSON.stringify(this.start_line)}`);
      Object.assign(this, {version, method, target});
    }
  }

  // How a failed comparison shows it.
  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `<${this.start_line}>`;
  }

  // All values of a field, in order.
  all(name) {
    return this.fields.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
  }

  // The only value of a field; undefined without one, and an error with several.
  get(name) {
    const values = this.all(name);
    assert.ok(values.length <= 1, `${name} occurs ${values.length} times`);
    return values[0];
  }
}

// What a message that ended before its framing said so throws; `partial` is what came of the body.
export class CutShort extends Error {
  constructor(what, partial) {
    super(what);
    this.partial = partial;
  }
}

// How the body after `head` is delimited (RFC 9112 section 6.3); `request_method` is given for responses.
function framing_of(head, request_method) {
  const is_response = head.status !== undefined;
  if (is_response && (request_method === 'HEAD' || head.status < 200 || head.status === 204 || head.status === 304))
    return 'none';
  if (head.get('transfer-encoding') !== undefined) {
    assert.equal(head.get('transfer-encoding'), 'chunked');
    assert.equal(head.get('content-length'), undefined, 'both framings in one message');
    return 'chunked';
  }
  if (head.get('content-length') !== undefined) return 'length';
  return is_response ? 'close' : 'none';
}

async function read_chunked(wire, message, on_data) {
  for (;;) {
    const line = (await wire.read_until('\r\n')).toString('latin1');
    assert.match(line, /^[0-9a-fA-F]+(;.*)?\r\n$/, 'chunk-size line');
    const size = parseInt(line, 16);
    if (size === 0) break;
    on_data(await wire.read_exactly(size));
    assert.equal((await wire.read_exactly(2)).toString(), '\r\n', 'CRLF after chunk data');
    message.chunks += 1;
  }
  message.trailers = [];
  for (;;) {
    const line = (await wire.read_until('\r\n')).toString('latin1').slice(0, -2);
    if (line === '') return;
    const colon = line.indexOf(':');
    message.trailers.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
  }
}

// Reads the body that follows `head` and fills head.body, head.framing, head.trailers, head.chunks. Without `keep` the
// pieces go to `on_data` only. Throws CutShort when the connection ends inside it.
export async function read_body(wire, head, {request_method, on_data, keep = true} = {}) {
  const pieces = [];
  const take = (piece) => {
    if (keep) pieces.push(piece);
    on_data?.(piece);
  };
  head.framing = framing_of(head, request_method);
  head.chunks = 0;
  try {
    if (head.framing === 'chunked') await read_chunked(wire, head, take);
    if (head.framing === 'length') await wire.read_in_pieces(Number(head.get('content-length')), take);
    if (head.framing === 'close') await wire.read_in_pieces(Infinity, take);
  } catch (error) {
    if (!error.ended) throw error;
    throw new CutShort(`the message was cut short: ${error.message}`, Buffer.concat(pieces));
  }
  head.body = Buffer.concat(pieces);
  return head;
}

// `fields` is an object or a list of pairs.
export function encode_head(start_line, fields = []) {
  const list = Array.isArray(fields) ? fields : Object.entries(fields);
  return `${start_line}\r\n${list.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

export function chunk(data) {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const last_chunk = '0\r\n\r\n';
