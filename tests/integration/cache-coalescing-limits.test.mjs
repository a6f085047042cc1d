// Shared calls under load: limits, slow readers, disorder, and the end of the process.
import {strict as assert} from 'node:assert';

import {cache_status, get, request} from '../support/cache_client.mjs';
import {chunked_head, clients_of, mebibyte, send_all, start_shared, waiting} from '../support/flights.mjs';
import {chunk, last_chunk} from '../support/http1.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until, until_still, within} from '../support/wait.mjs';

suite('limits', (scope) => start_shared(scope, {http: {followers: 3, max_object: '1MiB'}}), (shared) => {
  scenario('followers: the next one goes on its own', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    const hold = deferred();
    origin.handler = async () => {
      await hold.promise;
      return {fields: {'Cache-Control': 'max-age=60'}, body: 'x'};
    };
    const clients = await clients_of(scope, edge, 6);
    send_all(clients, request('GET', '/followers'));
    await until(() => origin.requests.length === 3, 'the two above the limit at the origin');
    await waiting(edge, 6);
    hold.resolve();
    const answers = await Promise.all(clients.map((client) => client.read_response()));
    assert.equal(answers.filter((answer) => cache_status(answer)?.collapsed).length, 3);
    assert.equal(origin.requests.length, 3);
  });

  scenario('a slow reader does not hold up the others while the answer is being stored', async (scope) => {
    const {origin, edge} = await start_shared(scope, {http: {max_object: '32MiB'}, memory: '256MiB'});
    const size = 16 * mebibyte;
    origin.handler = async (_, connection) => {
      await connection.send(`HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: ${size}\r\n\r\n`);
      await connection.send(Buffer.alloc(size, 'z'));
    };
    const [slow, ...others] = await clients_of(scope, edge, 4);
    slow.pause();
    send_all([slow, ...others], request('GET', '/slow'));
    for (const client of others) assert.equal((await client.read_response()).body.length, size);
    slow.resume();
    assert.equal((await slow.read_response()).body.length, size);
    assert.equal(origin.requests.length, 1);
  });

  scenario('a slow reader of an endless answer holds the origin up, in bounded memory', async (scope) => {
    const {origin, edge} = shared;
    let sent = 0;
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(chunked_head);
      const piece = chunk(Buffer.alloc(65536, 'e'));
      for (sent = 0; !connection.ended; sent += 65536) await connection.send(piece);
    };
    const clients = await clients_of(scope, edge, 2);
    const before = edge.resident_bytes();
    clients.forEach((client) => client.pause());
    send_all(clients, request('GET', '/endless'));
    await until_still(() => sent, 'the origin to be held up');
    assert.ok(sent < 32 * mebibyte, `${sent} bytes went`);
    assert.ok(edge.resident_bytes() - before < 12 * mebibyte);
    // One reads on; the other's pace is the pace of both.
    const held = sent;
    clients[0].resume();
    await until_still(() => sent, 'the origin to be held up again');
    assert.ok(sent < held + 16 * mebibyte, `${sent - held} bytes more went past a reader that stands still`);
    // With it gone the rest flows.
    clients[1].reset();
    await until(() => sent > held + 32 * mebibyte, 'the answer to go on');
    clients[0].reset();
    await within(origin.connections.at(-1).closed, 'the call to end');
  });

  scenario('slow readers of many answers that turn out too large: bounded memory', async (scope) => {
    const {origin, edge} = await start_shared(scope, {http: {max_object: '16MiB'}, memory: '8MiB'});
    origin.handler = async (_, connection) => {
      await connection.send(chunked_head);
      const piece = chunk(Buffer.alloc(65536, 'e'));
      while (!connection.ended) await connection.send(piece);
    };
    const clients = await clients_of(scope, edge, 24);
    const before = edge.resident_bytes();
    clients.forEach((client, i) => {
      client.pause();
      client.send(request('GET', `/many/${i}`));
    });
    await until(() => origin.requests.length === 24, 'all to be at the origin');
    const received = () => origin.connections.reduce((sum, connection) => sum + connection.socket.bytesWritten, 0);
    await until_still(received, 'the origin to be held up');
    // 64 MiB for answers that may be stored, and for each of the others the backlog and a few buffers.
    const bound = (64 + 24 * 1.5) * mebibyte;
    const grown = edge.resident_bytes() - before;
    assert.ok(grown < bound, `${grown} bytes more in memory, ${bound} allowed`);
  });
});

// Numbers that are the same in every run (Lehmer).
function random_of(seed) {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

suite('in disorder', (scope) => start_shared(scope, {http: {max_object: '256KiB'}, memory: '2MiB'}), (shared) => {
  // What each path does at the origin is in its name; which of the clients leave when is a matter of chance.
  const kinds = ['small', 'large', 'beyond', 'private', 'reset', 'cut', 'stale', 'vary'];

  async function answer_by_name({target}, connection, random) {
    const kind = target.split('/')[1];
    const size = {large: 200_000, beyond: 2_000_000}[kind] ?? 500;
    const control = {private: 'private', stale: 'max-age=1, stale-while-revalidate=9\r\nAge: 3'}[kind] ?? 'max-age=60';
    if (kind === 'reset' && random(2) === 0) return connection.reset();
    const vary = kind === 'vary' ? 'Vary: X-Who\r\n' : '';
    await connection.send(`HTTP/1.1 200 OK\r\nCache-Control: ${control}\r\n${vary}Transfer-Encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent < size && !connection.ended; sent += 50_000) {
      if (kind === 'cut' && sent === 0 && random(2) === 0) {
        await connection.send('ff\r\nhalf');
        return connection.reset();
      }
      await connection.send(chunk(target.repeat(Math.ceil(Math.min(size, 50_000) / target.length))));
    }
    return last_chunk;
  }

  scenario('nobody gets what is another\'s, and nothing is left over', async (scope) => {
    const {origin, edge} = shared;
    const random = random_of(7);
    origin.handler = (asked, connection) => answer_by_name(asked, connection, random);
    const one = async () => {
      const client = await edge.connect();
      const target = `/${kinds[random(kinds.length)]}/${random(3)}`;
      client.send(request('GET', target, {'X-Who': String(random(3)), 'Range': random(9) ? undefined : 'bytes=0-3'}));
      const leaves = random(4);
      if (leaves === 0) client.reset();
      if (leaves === 1) setTimeout(() => client.reset(), random(20));
      const answer = await client.read_response().catch((error) => error);
      client.close();
      if (answer instanceof Error || ![200, 206].includes(answer.status)) return;
      const text = answer.body.toString();
      assert.ok(text === target.repeat(text.length / target.length) || target.startsWith(text), `${target}: ${text}`);
    };
    for (let round = 0; round < 25; ++round) await Promise.all(Array.from({length: 24}, one));
    await until(async () => {
      const metrics = await edge.metrics();
      const left = ['brink_requests_in_flight', 'brink_cache_flights', 'brink_cache_flights_bytes'];
      return left.every((name) => metrics.sum(name) === 0);
    }, 'everything to be over');
  });
});

suite('the end of the process', start_shared, () => {
  scenario('a drain waits for those who share an answer', async (scope) => {
    const {origin, edge} = await start_shared(scope);
    const hold = deferred();
    origin.handler = async (_, connection) => {
      await connection.send(chunked_head, chunk('before '));
      await hold.promise;
      await connection.send(chunk('after'), last_chunk);
    };
    const clients = await clients_of(scope, edge, 8);
    send_all(clients, request('GET', '/drain'));
    await Promise.all(clients.map((client) => client.read_until('before ')));
    edge.program.signal('SIGTERM');
    await edge.program.line(/draining/);
    hold.resolve();
    await Promise.all(clients.map((client) => client.read_until('after\r\n0\r\n\r\n')));
    assert.deepEqual(await within(edge.program.exited, 'the end'), {code: 0, signal: null});
  });

  scenario('its time up, it ends calls that are shared and those in the background', async (scope) => {
    const {origin, edge} = await start_shared(scope, {node: {workers: 2, drain_timeout: '1s'}});
    origin.handler = () =>
        ({fields: {'Cache-Control': 'max-age=1, stale-while-revalidate=60', 'Age': '5'}, body: 'old'});
    await get(edge, '/background');
    origin.forget();
    origin.handler = (_, connection) => connection.closed.then(() => undefined);
    assert.equal((await get(edge, '/background')).body.toString(), 'old');
    const clients = await clients_of(scope, edge, 8);
    send_all(clients, request('GET', '/never'));
    await until(() => origin.requests.length === 2, 'both calls at the origin');
    await waiting(edge, 8);
    edge.program.signal('SIGTERM');
    assert.deepEqual(await within(edge.program.exited, 'the end'), {code: 0, signal: null});
  });
});
