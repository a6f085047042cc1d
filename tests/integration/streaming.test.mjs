// Bodies flow: any size both ways, each piece as soon as it is there, at the speed of the slower side and with no more
// memory than a few buffers.
import {strict as assert} from 'node:assert';
import {createHash} from 'node:crypto';

import {Brink} from '../support/brink.mjs';
import {hash_of, pieces_of} from '../support/hash.mjs';
import {chunk, CutShort, last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until_still, within} from '../support/wait.mjs';

const mebibyte = 1024 * 1024;
const size = 64 * mebibyte;
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`;
const stream_head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

// ASan keeps freed memory for a while; resident memory should show what is in use.
const start = async (scope) => {
  const origin = await Origin.start(scope, {keep_bytes: false});
  const env = {ASAN_OPTIONS: 'quarantine_size_mb=1'};
  const edge = await Brink.start(scope, {backend: origin.url, route: {limits: {body: '1GiB'}}, env});
  return {origin, edge};
};

async function send_pieces(wire, total, encode = (piece) => piece) {
  for (const piece of pieces_of(total)) await wire.send(encode(piece));
}

suite('large bodies', start, (shared) => {
  const expected = hash_of(pieces_of(size));

  for (const framing of ['Content-Length', 'Transfer-Encoding', 'close']) {
    scenario(`64 MiB to the client, by ${framing}`, async () => {
      const {origin, edge} = shared;
      origin.handler = async (_, connection) => {
        const field = {
          'Content-Length': `Content-Length: ${size}\r\n`,
          'Transfer-Encoding': 'Transfer-Encoding: chunked\r\n',
          'close': ''
        };
        await connection.send(`HTTP/1.1 200 OK\r\n${field[framing]}\r\n`);
        await send_pieces(connection, size, framing === 'Transfer-Encoding' ? chunk : undefined);
        if (framing === 'Transfer-Encoding') await connection.send(last_chunk);
        if (framing === 'close') connection.half_close();
      };
      const hash = createHash('sha1');
      const client = await edge.connect();
      client.send(get('/big'));
      await client.read_response('GET', {keep: false, on_data: (piece) => hash.update(piece)});
      assert.equal(hash.digest('hex'), expected);
      client.close();
    });
  }

  for (const framing of ['Content-Length', 'Transfer-Encoding']) {
    scenario(`64 MiB to the backend, by ${framing}`, async (scope) => {
      const hash = createHash('sha1');
      const {edge} = shared;
      const {origin} = shared;
      origin.handler = (request) => ({body: String(request.body.length)});
      const client = await edge.connect();
      const field = framing === 'Content-Length' ? `Content-Length: ${size}` : 'Transfer-Encoding: chunked';
      client.send(`POST /big HTTP/1.1\r\nHost: a.test\r\n${field}\r\n\r\n`);
      await send_pieces(client, size, framing === 'Content-Length' ? undefined : chunk);
      if (framing !== 'Content-Length') client.send(last_chunk);
      assert.equal((await client.read_response('POST')).body.toString(), String(size));
      hash.update(origin.requests.at(-1).body);
      origin.requests = [];
      assert.equal(hash.digest('hex'), expected);
      client.close();
      scope.after(() => origin.forget());
    });
  }
});

suite('back-pressure', start, (shared) => {
  scenario('a client that reads nothing holds a few buffers, not the body', async () => {
    const {origin, edge} = shared;
    const total = 512 * mebibyte;
    let sent = 0;
    origin.handler = async (_, connection) => {
      await connection.send(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
      for (const piece of pieces_of(total)) {
        await connection.send(piece);
        sent += piece.length;
        if (connection.socket.destroyed) return;
      }
    };
    const before = edge.resident_bytes();
    const client = await edge.connect();
    client.pause();
    client.send(get('/big'));
    // The backend stands still once every buffer on the way is full.
    await until_still(() => sent, 'the backend to be held up');
    assert.ok(sent < 64 * mebibyte, `${sent} bytes went out while nobody read`);
    const grown = edge.resident_bytes() - before;
    assert.ok(grown < 16 * mebibyte, `resident memory grew by ${grown}`);
    // Another client is not held up by it.
    origin.handler = () => ({body: 'quick'});
    assert.equal((await edge.exchange(get('/quick'))).body.toString(), 'quick');
    client.close();
  });

  scenario('a backend that reads nothing holds a few buffers, not the upload', async (scope) => {
    const origin = await Origin.start(scope, {raw: (connection) => connection.pause()});
    const edge = await Brink.start(
        scope, {backend: origin.url, route: {limits: {body: '1GiB'}}, env: {ASAN_OPTIONS: 'quarantine_size_mb=1'}});
    const total = 512 * mebibyte;
    const before = edge.resident_bytes();
    const client = await edge.connect();
    client.send(`POST /big HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${total}\r\n\r\n`);
    let sent = 0;
    const upload = (async () => {
      for (const piece of pieces_of(total)) {
        await client.send(piece);
        sent += piece.length;
        if (client.socket.destroyed) return;
      }
    })();
    await until_still(() => sent, 'the client to be held up');
    assert.ok(sent < 64 * mebibyte, `${sent} bytes went out while nobody read`);
    const grown = edge.resident_bytes() - before;
    assert.ok(grown < 16 * mebibyte, `resident memory grew by ${grown}`);
    client.close();
    await upload;
  });
});

suite('nothing waits for more', start, (shared) => {
  // Each event is sent only after the one before it was seen by the client.
  for (const [what, head, encode] of [
           ['chunked', stream_head, chunk],
           ['close-delimited', 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n', Buffer.from],
           ['with a length', `HTTP/1.1 200 OK\r\nContent-Length: ${100 * 'data: 000\n\n'.length}\r\n\r\n`, Buffer.from],
  ]) {
    scenario(`events, ${what}`, async () => {
      const {origin, edge} = shared;
      origin.handler = (_, connection) => {
        connection.send(head);
      };
      origin.forget();
      const client = await edge.connect();
      client.send(get('/events'));
      assert.equal((await client.read_head()).status, 200, 'the head comes before any event');
      const {connection} = await origin.next_request();
      for (let i = 0; i < 100; ++i) {
        const event = `data: ${String(i).padStart(3, '0')}\n\n`;
        connection.send(encode(event));
        assert.ok((await client.read_until('\n\n')).includes(event));
      }
      client.close();
    });
  }

  scenario('half an event', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = (_, connection) => {
      connection.send(stream_head);
    };
    const client = await edge.connect();
    client.send(get('/events'));
    await client.read_head();
    const {connection} = await origin.next_request();
    for (const letter of 'data: slowly\n\n') {
      connection.send(chunk(letter));
      await client.read_until(`1\r\n${letter}\r\n`);
    }
    client.close();
  });

  scenario('pieces of an upload', async (scope) => {
    const origin =
        await Origin.start(scope, {bodies: 'manual', handler: (_, connection) => void (connection.tunnel = true)});
    const edge = await Brink.start(scope, {backend: origin.url});
    const client = await edge.connect();
    client.send('POST /up HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n');
    let connection;
    for (let i = 0; i < 20; ++i) {
      client.send(chunk(`piece-${i}.`));
      connection ??= (await origin.next_request()).connection;
      await connection.read_until(`piece-${i}.`);
    }
    client.send(last_chunk);
    await connection.read_until(last_chunk);
    connection.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    assert.equal((await client.read_response('POST')).body.toString(), 'ok');
  });

  scenario('an answer that comes before the upload is complete', async (scope) => {
    const origin = await Origin.start(scope, {
      bodies: 'manual',
      handler: () => 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno',
    });
    const edge = await Brink.start(scope, {backend: origin.url});
    const client = await edge.connect();
    client.send('POST /up HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\nbegin');
    const response = await client.read_response('POST');
    assert.equal(response.status, 403);
    assert.equal(response.body.toString(), 'no');
  });

  scenario('100 streams at once lose no event', async () => {
    const {origin, edge} = shared;
    const events = 50;
    origin.handler = async (request, connection) => {
      await connection.send(stream_head);
      for (let i = 0; i < events; ++i) await connection.send(chunk(`data: ${request.target} ${i}\n\n`));
      connection.send(last_chunk);
    };
    await Promise.all(Array.from({length: 100}, async (_, n) => {
      const response = await edge.exchange(get(`/stream/${n}`));
      const expected = Array.from({length: events}, (__, i) => `data: /stream/${n} ${i}\n\n`).join('');
      assert.equal(response.body.toString(), expected);
    }));
  });
});

suite('an event stream that is cut', start, (shared) => {
  for (const how of ['half_close', 'reset']) {
    scenario(`by ${how} ends with an error event and no last chunk`, async () => {
      const {origin, edge} = shared;
      const seen_first = deferred();
      origin.handler = async (_, connection) => {
        await connection.send(stream_head, chunk('data: one\n\n'));
        await seen_first.promise;
        connection[how]();
      };
      const client = await edge.connect();
      client.send(get(`/cut/${how}`));
      let text = '';
      const body = client.read_response('GET', {
        on_data: (piece) => {
          text += piece;
          if (text.includes('one')) seen_first.resolve();
        },
      });
      await assert.rejects(within(body, 'the end of the stream'), CutShort);
      const events = text.split('\n\n').filter((event) => event !== '');
      assert.equal(events[0], 'data: one');
      assert.equal(events.length, 2);
      const {error} = JSON.parse(events[1].match(/^data: (.*)$/m)[1]);
      assert.equal(error.code, 'upstream_truncated');
      assert.equal(error.type, 'server_error');
      const line = await edge.log_line((entry) => entry.target === `/cut/${how}`);
      assert.equal(line.error, 'upstream_truncated');
      assert.equal(line.complete, false);
    });
  }
});
