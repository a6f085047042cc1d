// Identical requests at the same time share one call to the backend: everyone gets the answer as it comes, whoever
// leaves, and whatever happens to the call.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {cache_status, get, post_json, request} from '../support/cache_client.mjs';
import {chunk, CutShort, last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until, until_still, within} from '../support/wait.mjs';

const mebibyte = 1024 * 1024;
const chat = '/v1/chat/completions';
const chunked_head = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n';
const stream_head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const ask = (text) => ({model: 'm', temperature: 0, stream: true, messages: [{role: 'user', content: text}]});

function event(number, last = false) {
  const choice = {index: 0, delta: {content: `word ${number} `}, finish_reason: last ? 'stop' : null};
  return `data: ${
      JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice]})}\n\n`;
}

async function start(scope, {
  http = {},
  exact = {},
  node = {
    workers: 2
  },
  memory = '64MiB',
  timeouts
} = {}) {
  const origin = await Origin.start(scope);
  const routes = [
    {name: 'models', match: {path_prefix: '/v1/'}, cluster: 'main', cache: {mode: 'exact', ...exact}},
    {name: 'web', match: {path_prefix: '/'}, cluster: 'main', cache: {mode: 'http', ...http}},
  ];
  if (timeouts) routes.forEach((route) => Object.assign(route, {timeouts}));
  const edge = await Brink.start(scope, {backend: origin.url, cache: {memory}, node, routes});
  return {origin, edge};
}

// Clients with a connection each, on whichever worker takes it.
async function clients_of(scope, edge, count) {
  const clients = await Promise.all(Array.from({length: count}, () => edge.connect()));
  scope.after(() => clients.forEach((client) => client.close()));
  return clients;
}

const send_all = (clients, bytes) => clients.forEach((client) => client.send(bytes));

// Nobody tells that a request waits for another's call: they are sent, and the edge's own page shows them in progress.
async function waiting(edge, count) {
  await until(
      async () => (await edge.metrics()).sum('brink_requests_in_flight') >= count, `${count} requests in progress`);
}

suite('many at once', start, (shared) => {
  scenario('100 misses make one call and get one answer', async (scope) => {
    const {origin, edge} = shared;
    const hold = deferred();
    origin.forget();
    origin.handler = async () => {
      await hold.promise;
      return {fields: {'Cache-Control': 'max-age=60'}, body: 'the answer'};
    };
    const clients = await clients_of(scope, edge, 100);
    send_all(clients, request('GET', '/hundred'));
    await origin.next_request();
    await waiting(edge, 100);
    hold.resolve();
    const answers = await Promise.all(clients.map((client) => client.read_response()));
    for (const answer of answers) assert.deepEqual([answer.status, answer.body.toString()], [200, 'the answer']);
    assert.equal(answers.filter((answer) => cache_status(answer).collapsed).length, 99);
    assert.equal(origin.requests.length, 1);
    assert.ok(cache_status(await get(edge, '/hundred')).hit);
  });

  scenario('however they fall together, a call is made once', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => ({fields: {'Cache-Control': 'max-age=60'}, body: 'quick'});
    const clients = await clients_of(scope, edge, 24);
    const rounds = 40;
    for (let round = 0; round < rounds; ++round) {
      send_all(clients, request('GET', `/round/${round}`));
      await Promise.all(clients.map((client) => client.read_response()));
    }
    assert.equal(origin.requests.length, rounds);
  });

  scenario('those who follow have the first bytes while the answer is being made', async (scope) => {
    const {origin, edge} = shared;
    const hold = deferred();
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(chunked_head, chunk('first '));
      await hold.promise;
      await connection.send(chunk('last'), last_chunk);
    };
    const clients = await clients_of(scope, edge, 20);
    send_all(clients, request('GET', '/first-bytes'));
    await Promise.all(clients.map((client) => client.read_until('first ')));
    const late = (await clients_of(scope, edge, 1))[0];
    late.send(request('GET', '/first-bytes'));
    await late.read_until('first ');
    hold.resolve();
    await Promise.all([...clients, late].map((client) => client.read_until('last')));
    assert.equal(origin.requests.length, 1);
  });

  scenario('an event stream goes to 20 followers event by event', async (scope) => {
    const {origin, edge} = shared;
    const events = 10;
    const clients = await clients_of(scope, edge, 21);
    const everywhere = Array.from({length: events}, () => deferred());
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(stream_head);
      for (let n = 0; n < events; ++n) {
        await connection.send(chunk(event(n, n === events - 1)));
        await everywhere[n].promise;
      }
      await connection.send(chunk('data: [DONE]\n\n'), last_chunk);
    };
    const body = JSON.stringify(ask('events'));
    send_all(clients, request('POST', chat, {'Content-Type': 'application/json'}, body));
    for (let n = 0; n < events; ++n) {
      await Promise.all(clients.map((client) => client.read_until(`word ${n} `)));
      everywhere[n].resolve();
    }
    await Promise.all(clients.map((client) => client.read_until('data: [DONE]\n\n')));
    assert.equal(origin.requests.length, 1);
    const again = await post_json(edge, chat, ask('events'));
    assert.ok(cache_status(again).hit);
    assert.equal(
        again.body.toString(),
        Array.from({length: events}, (_, n) => event(n, n === events - 1)).join('') + 'data: [DONE]\n\n');
  });

  scenario('what is for the first client alone stays with it', async (scope) => {
    const {origin, edge} = shared;
    const hold = deferred();
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(stream_head.replace('\r\n\r\n', '\r\nSet-Cookie: s=1\r\nX-RateLimit-Remaining: 7\r\n\r\n'));
      await hold.promise;
      await connection.send(chunk(event(0, true)), chunk('data: [DONE]\n\n'), last_chunk);
    };
    const clients = await clients_of(scope, edge, 5);
    send_all(clients, request('POST', chat, {'Content-Type': 'application/json'}, JSON.stringify(ask('alone'))));
    await origin.next_request();
    await waiting(edge, 5);
    hold.resolve();
    const answers = await Promise.all(clients.map((client) => client.read_response('POST')));
    const cookies = answers.filter((answer) => answer.get('set-cookie') === 's=1');
    assert.equal(cookies.length, 1);
    assert.equal(cookies[0].get('x-ratelimit-remaining'), '7');
    assert.equal(cache_status(cookies[0]).collapsed, undefined);
    for (const answer of answers) {
      if (answer !== cookies[0]) assert.equal(answer.get('x-ratelimit-remaining'), undefined);
    }
    assert.equal(new Set(answers.map((answer) => answer.get('x-request-id'))).size, 5);
  });
});

suite('clients that leave', start, (shared) => {
  scenario('the one who caused the call leaves: the others get everything', async (scope) => {
    const {origin, edge} = shared;
    const hold = deferred();
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(chunked_head, chunk('before '));
      await hold.promise;
      await connection.send(chunk('after'), last_chunk);
    };
    const [leader] = await clients_of(scope, edge, 1);
    leader.send(request('GET', '/leader-leaves'));
    await leader.read_until('before ');
    const others = await clients_of(scope, edge, 6);
    send_all(others, request('GET', '/leader-leaves'));
    await Promise.all(others.map((client) => client.read_until('before ')));
    leader.reset();
    await until(async () => (await edge.metrics()).sum('brink_requests_in_flight') === 6, 'the first to be gone');
    hold.resolve();
    await Promise.all(others.map((client) => client.read_until('after\r\n0\r\n\r\n')));
    assert.ok(cache_status(await get(edge, '/leader-leaves')).hit);
    assert.equal(origin.requests.length, 1);
  });

  for (const when of ['before its first byte', 'in the middle']) {
    scenario(`all leave ${when}: the call ends at once`, async (scope) => {
      const {origin, edge} = shared;
      const path = `/all-leave/${when.length}`;
      origin.forget();
      origin.handler = async (_, connection) => {
        if (when === 'in the middle') await connection.send(chunked_head, chunk('begun '));
        await connection.closed;
      };
      const clients = await clients_of(scope, edge, 6);
      send_all(clients, request('GET', path));
      const asked = await origin.next_request();
      await waiting(edge, 6);
      if (when === 'in the middle') await Promise.all(clients.map((client) => client.read_until('begun ')));
      clients.slice(0, 3).forEach((client) => client.reset());
      await until(async () => (await edge.metrics()).sum('brink_requests_in_flight') === 3, 'three to be gone');
      assert.equal(asked.connection.ended, null, 'three still wait');
      clients.slice(3).forEach((client) => client.half_close());
      await within(asked.connection.closed, 'the call to end');
      origin.handler = () => ({body: 'fresh start'});
      assert.equal((await get(edge, path)).body.toString(), 'fresh start');
    });
  }
});

suite('calls that fail', start, (shared) => {
  scenario('before the first byte: one of those who wait takes over, at most twice', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    const hold = [deferred(), deferred(), deferred()];
    origin.handler = async (_, connection) => {
      await hold[origin.requests.length - 1].promise;
      connection.reset();
    };
    const clients = await clients_of(scope, edge, 20);
    // A POST is not sent twice by itself.
    send_all(clients, request('POST', chat, {'Content-Type': 'application/json'}, JSON.stringify(ask('fails'))));
    await origin.next_request();
    await waiting(edge, 20);
    hold.forEach((each) => each.resolve());
    for (const client of clients) assert.equal((await client.read_response('POST')).status, 502);
    assert.equal(origin.requests.length, 3);
  });

  scenario('the one who takes over has an answer for all', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    const hold = deferred();
    origin.handler = async (_, connection) => {
      await hold.promise;
      if (origin.requests.length === 1) return connection.reset();
      await connection.send(stream_head, chunk(event(0, true)), chunk('data: [DONE]\n\n'), last_chunk);
    };
    const clients = await clients_of(scope, edge, 20);
    send_all(clients, request('POST', chat, {'Content-Type': 'application/json'}, JSON.stringify(ask('taken over'))));
    await origin.next_request();
    await waiting(edge, 20);
    hold.resolve();
    const answers = await Promise.all(clients.map((client) => client.read_response('POST')));
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [...Array(19).fill(200), 502]);
    assert.equal(origin.requests.length, 2);
  });

  scenario('in the middle: everyone sees that the answer is broken, and it is not stored', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    const hold = deferred();
    origin.handler = async (_, connection) => {
      await connection.send(chunked_head, chunk('half '));
      await hold.promise;
      connection.reset();
    };
    const clients = await clients_of(scope, edge, 8);
    send_all(clients, request('GET', '/breaks'));
    await Promise.all(clients.map((client) => until(() => client.bytes_read > 0, 'the first bytes')));
    hold.resolve();
    for (const client of clients) await assert.rejects(client.read_response(), CutShort);
    origin.handler = () => ({body: 'whole'});
    assert.equal((await get(edge, '/breaks')).body.toString(), 'whole');
  });
});

suite('answers that cannot be shared', start, (shared) => {
  scenario('all go on their own at once, and so do those who come soon after', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    const all_there = deferred();
    origin.handler = async () => {
      const number = origin.requests.length;
      // The first is answered alone; the others are answered once they are all here, so they do not queue.
      if (number === 11) all_there.resolve();
      if (number > 1) await all_there.promise;
      return {fields: {'Cache-Control': 'private', 'Set-Cookie': `n=${number}`}, body: `for ${number}`};
    };
    const clients = await clients_of(scope, edge, 10);
    send_all(clients, request('GET', '/private'));
    await until(() => origin.requests.length === 10, 'all to be at the origin');
    const [late] = await clients_of(scope, edge, 1);
    late.send(request('GET', '/private'));
    const answers = await Promise.all([...clients, late].map((client) => client.read_response()));
    assert.equal(new Set(answers.map((answer) => answer.body.toString())).size, 11);
    for (const answer of answers) assert.equal(answer.get('set-cookie').slice(2), answer.body.toString().slice(4));
  });

  scenario('a variant for others is not for those who ask otherwise', async (scope) => {
    const {origin, edge} = shared;
    const both = deferred();
    origin.forget();
    origin.handler = async (asked) => {
      if (origin.requests.length === 1) await both.promise;
      return {fields: {'Cache-Control': 'max-age=60', 'Vary': 'X-Who'}, body: asked.get('x-who')};
    };
    const clients = await clients_of(scope, edge, 6);
    clients.forEach((client, i) => client.send(request('GET', '/who', {'X-Who': i % 2 ? 'odd' : 'even'})));
    await origin.next_request();
    await waiting(edge, 6);
    both.resolve();
    for (const [i, client] of clients.entries()) {
      assert.equal((await client.read_response()).body.toString(), i % 2 ? 'odd' : 'even');
    }
  });
});

suite('validation', start, (shared) => {
  scenario('of one variant is not shared by those who want another', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    let vary = 'X-B';
    const hold = deferred();
    origin.handler = async (asked) => {
      if (asked.get('x-a') === '1') await hold.promise;
      const fields = {'Cache-Control': 'max-age=1', 'Age': '5', 'ETag': `"${asked.get('x-b')}"`, 'Vary': vary};
      const holds = asked.get('if-none-match') !== undefined;
      return holds ? {status: 304, reason: 'Not Modified', fields} : {fields, body: `b is ${asked.get('x-b')}`};
    };
    await get(edge, '/lists', {'X-A': '0', 'X-B': '1'});
    vary = 'X-A';  // from here on it says otherwise
    await get(edge, '/lists', {'X-A': '9', 'X-B': '9'});
    const clients = await clients_of(scope, edge, 4);
    clients.forEach((client, i) => client.send(request('GET', '/lists', {'X-A': '1', 'X-B': String(i % 2 + 1)})));
    await until(() => origin.requests.length === 4, 'a call for each variant');
    await waiting(edge, 4);
    hold.resolve();
    for (const [i, client] of clients.entries()) {
      assert.equal((await client.read_response()).body.toString(), `b is ${i % 2 + 1}`);
    }
  });
});

suite('limits', (scope) => start(scope, {http: {followers: 3, max_object: '1MiB'}}), (shared) => {
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
    const {origin, edge} = await start(scope, {http: {max_object: '32MiB'}, memory: '256MiB'});
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
    const {origin, edge} = await start(scope, {http: {max_object: '16MiB'}, memory: '8MiB'});
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

suite('in disorder', (scope) => start(scope, {http: {max_object: '256KiB'}, memory: '2MiB'}), (shared) => {
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

suite('the end of the process', start, () => {
  scenario('a drain waits for those who share an answer', async (scope) => {
    const {origin, edge} = await start(scope);
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
    const {origin, edge} = await start(scope, {node: {workers: 2, drain_timeout: '1s'}});
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
