// Event streams through a route with `compress`: each event can be decoded as soon as the backend has sent it.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {request} from '../support/cache_client.mjs';
import {StreamDecoder} from '../support/codings.mjs';
import {chunk, CutShort, last_chunk, read_body} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const events = 40;
const stream_head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const event = (number) => `data: {"id":"chat-1","choices":[{"delta":{"content":"word ${number}"}}]}\n\n`;

async function start(scope) {
  const origin = await Origin.start(scope, {keep_bytes: false});
  const edge = await Brink.start(scope, {backend: origin.url, route: {compress: {}}});
  return {origin, edge};
}

// The client's side: the response's head, a decoder that is fed as bytes come, and `done` when the message is over.
async function open(edge, coding, version = '1.1') {
  const wire = await edge.connect();
  const decoder = new StreamDecoder(coding);
  wire.send(`GET /stream HTTP/${version}\r\nHost: a.test\r\nAccept-Encoding: ${coding}\r\n\r\n`);
  const head = await wire.read_head();
  assert.equal(head.get('content-encoding'), coding);
  const done = read_body(wire, head, {request_method: 'GET', on_data: (piece) => decoder.feed(piece)});
  done.catch(() => {});
  return {head, decoder, done};
}

  suite('event streams', start, (shared) => {
    for (const coding of ['zstd', 'gzip']) {
      for (const version of ['1.1', '1.0']) {
        scenario(`${coding} over HTTP/${version}: no event waits for the next`, async () => {
          const {origin, edge} = shared;
          origin.handler = (head, connection) => connection.send(stream_head);
          origin.forget();
          const opening = open(edge, coding, version);
          const {connection} = await origin.next_request();
          const {decoder, done} = await opening;  // the head does not wait for an event
          let sent = 0;
          for (let number = 0; number < events; ++number) {
            sent += event(number).length;
            connection.send(chunk(event(number)));
            await decoder.has(event(number));
          }
          connection.send(last_chunk);
          const {body} = await done;
          assert.equal(decoder.text, Array.from({length: events}, (_, number) => event(number)).join(''));
          assert.ok(body.length < sent / 2, `${body.length} of ${sent} bytes`);
        });
      }

      scenario(`${coding}: an event in pieces comes in pieces`, async () => {
        const {origin, edge} = shared;
        origin.handler = (head, connection) => connection.send(stream_head);
        origin.forget();
        const opening = open(edge, coding);
        const {connection} = await origin.next_request();
        const {decoder, done} = await opening;
        for (const piece of ['data: fir', 'st half, ', 'second half\n', '\n']) {
          connection.send(chunk(piece));
          await decoder.has(piece);
        }
        connection.send(last_chunk);
        await done;
        await decoder.has('\n\n');
        assert.equal(decoder.text, 'data: first half, second half\n\n');
      });

      scenario(`${coding}: the error event of a backend that went can be decoded, and the message is broken`, async () => {
        const {origin, edge} = shared;
        origin.handler = (head, connection) => connection.send(stream_head);
        origin.forget();
        const opening = open(edge, coding);
        const {connection} = await origin.next_request();
        const {decoder, done} = await opening;
        connection.send(chunk(event(1)));
        await decoder.has(event(1));
        connection.half_close();
        await decoder.has('"error"');
        await assert.rejects(done, CutShort);
        assert.match(decoder.text.slice(event(1).length), /^data: \{.*"error".*\}\n+$/);
      });

      scenario(`${coding}: many streams at once stay apart`, async () => {
        const {origin, edge} = shared;
        origin.handler = async (head, connection) => {
          const name = head.target;
          await connection.send(stream_head);
          for (let number = 0; number < 30; ++number) await connection.send(chunk(`data: ${name} ${number}\n\n`));
          await connection.send(last_chunk);
        };
        await Promise.all(Array.from({length: 20}, async (_, stream) => {
          const wire = await edge.connect();
          const decoder = new StreamDecoder(coding);
          wire.send(request('GET', `/stream/${stream}`, {'Accept-Encoding': coding}));
          const head = await wire.read_head();
          await read_body(wire, head, {request_method: 'GET', on_data: (piece) => decoder.feed(piece)});
          await decoder.has(`data: /stream/${stream} 29\n\n`);
          assert.equal(decoder.text.split('\n\n').filter((text) => text.startsWith(`data: /stream/${stream} `)).length, 30);
        }));
      });
    }
  });
