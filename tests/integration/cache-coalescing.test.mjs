// Identical requests at the same time share one call to the backend: everyone gets the answer as it comes, whoever
// leaves, and whatever happens to the call.
import {strict as assert} from 'node:assert';

import {cache_status, get, post_json, request} from '../support/cache_client.mjs';
import {chat} from '../support/chat_model.mjs';
import {
  ask,
  chunked_head,
  clients_of,
  send_all,
  start_shared,
  stream_head,
  waiting,
  word_event,
} from '../support/flights.mjs';
import {chunk, CutShort, last_chunk} from '../support/http1.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until, within} from '../support/wait.mjs';

suite('many at once', start_shared, (shared) => {
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
        await connection.send(chunk(word_event(n, n === events - 1)));
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
        Array.from({length: events}, (_, n) => word_event(n, n === events - 1)).join('') + 'data: [DONE]\n\n');
  });

  scenario('what is for the first client alone stays with it', async (scope) => {
    const {origin, edge} = shared;
    const hold = deferred();
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(stream_head.replace('\r\n\r\n', '\r\nSet-Cookie: s=1\r\nX-RateLimit-Remaining: 7\r\n\r\n'));
      await hold.promise;
      await connection.send(chunk(word_event(0, true)), chunk('data: [DONE]\n\n'), last_chunk);
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

suite('clients that leave', start_shared, (shared) => {
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

suite('calls that fail', start_shared, (shared) => {
  scenario('before the first byte: one of those who wait takes over, at most twice', async (scope) => {
    const {origin, edge} = shared;
    origin.forget();
    const hold = [deferred(), deferred(), deferred()];
    origin.handler = async (_, connection) => {
      await hold[origin.requests.length - 1].promise;
      connection.reset();
    };
    const clients = await clients_of(scope, edge, 20);
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
      await connection.send(stream_head, chunk(word_event(0, true)), chunk('data: [DONE]\n\n'), last_chunk);
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

suite('answers that cannot be shared', start_shared, (shared) => {
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

suite('validation', start_shared, (shared) => {
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
