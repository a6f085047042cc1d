// Mode `http`: which answers of an origin are stored, in whatever way their bytes come, and which never.
import {strict as assert} from 'node:assert';

import {cache_status, count, get, request, start_http} from '../support/cache_client.mjs';
import {chunk, CutShort, last_chunk} from '../support/http1.mjs';
import {encode_response} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until} from '../support/wait.mjs';

const http_date = (seconds_from_now) => new Date(Date.now() + seconds_from_now * 1000).toUTCString();

suite('what is not stored', (scope) => start_http(scope, {max_object: '64KiB'}), (shared) => {
  for (const control of ['no-store', 'private', 'private, max-age=60']) {
    scenario(`Cache-Control: ${control}`, async () => {
      const {origin, edge} = shared;
      count(origin, {'Cache-Control': control, 'Set-Cookie': 'a=1'});
      const path = `/never/${encodeURIComponent(control)}`;
      for (const number of [1, 2, 3]) {
        const answer = await get(edge, path);
        assert.deepEqual([answer.body.toString(), answer.get('set-cookie')], [`answer ${number}`, 'a=1']);
      }
    });
  }

  scenario('an answer to Authorization, unless it says that it is public', async () => {
    const {origin, edge} = shared;
    const key = {Authorization: 'Bearer a'};
    count(origin, {'Cache-Control': 'max-age=60'});
    await get(edge, '/auth', key);
    assert.equal((await get(edge, '/auth', key)).body.toString(), 'answer 2');
    count(origin, {'Cache-Control': 'public, max-age=60'});
    await get(edge, '/auth-public', key);
    assert.equal((await get(edge, '/auth-public', {Authorization: 'Bearer b'})).body.toString(), 'answer 1');
  });

  scenario('the fields that no-cache and private name', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60, no-cache="set-cookie"', 'Set-Cookie': 'a=1', 'X-Own': '1'});
    assert.equal((await get(edge, '/named')).get('set-cookie'), 'a=1', 'it was for the one who caused it');
    const stored = await get(edge, '/named');
    assert.ok(cache_status(stored).hit);
    assert.deepEqual([stored.get('set-cookie'), stored.get('x-own')], [undefined, '1']);
  });

  scenario('a message that was cut, which the client can tell', async () => {
    const {origin, edge} = shared;
    for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
      origin.forget();
      origin.handler = async (_, connection) => {
        await connection.send(
            `HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n${framing}\r\n\r\n`,
            framing.endsWith('chunked') ? chunk('half') : 'half');
        connection.half_close();
      };
      const path = `/cut/${framing.length}`;
      for (let i = 0; i < 2; ++i) {
        const client = await edge.connect();
        client.send(request('GET', path));
        // Broken off, or before its head was out an error.
        const answer = await client.read_response().catch((error) => error);
        assert.ok(answer instanceof CutShort || answer.status === 502, String(answer));
        client.close();
      }
      assert.equal(origin.requests.length, 2);
    }
  });

  scenario('a body beyond max_object: it goes through whole, at the speed of its reader', async () => {
    const {origin, edge} = shared;
    const size = 64 * 1024 * 1024;
    let sent = 0;
    origin.forget();
    origin.handler = async (_, connection) => {
      sent = 0;
      await connection.send('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n');
      const piece = chunk(Buffer.alloc(65536, 'x'));
      for (; sent < size; sent += 65536) await connection.send(piece);
      await connection.send(last_chunk);
    };
    const client = await edge.connect();
    client.pause();
    client.send(request('GET', '/large'));
    await origin.next_request();
    const before = edge.resident_bytes();
    let last = -1;
    await until(async () => {
      const held = sent === last && sent > 0;
      last = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return held && sent === last;
    }, 'the origin to be held up');
    assert.ok(sent < size / 2, `${sent} bytes went while nobody read`);
    assert.ok(edge.resident_bytes() - before < 8 * 1024 * 1024);
    client.resume();
    let received = 0;
    await client.read_response('GET', {
      keep: false,
      on_data: (piece) => {
        received += piece.length;
      }
    });
    assert.equal(received, size);
    client.close();
    origin.forget();
    origin.handler = () => ({body: 'small'});
    assert.equal((await get(edge, '/large')).body.toString(), 'small');
  });

  scenario('a part of something that is not stored comes from the origin', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () =>
        ({status: 206, reason: 'Partial Content', fields: {'Content-Range': 'bytes 0-1/4'}, body: 'ab'});
    const part = await get(edge, '/part', {Range: 'bytes=0-1'});
    assert.deepEqual([part.status, part.body.toString()], [206, 'ab']);
    assert.equal(origin.requests[0].get('range'), 'bytes=0-1');
  });
});

suite('messages', (scope) => start_http(scope), (shared) => {
  scenario('a chunked answer with trailers is passed on with them and stored', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n');
      await connection.send(chunk('one '), chunk('two'), '0\r\nX-Sum: 7\r\n\r\n');
    };
    const first = await get(edge, '/trailers', {TE: 'trailers', Connection: 'te'});
    assert.deepEqual([first.body.toString(), first.trailers], ['one two', [['X-Sum', '7']]]);
    const second = await get(edge, '/trailers');
    assert.ok(cache_status(second).hit);
    assert.deepEqual([second.body.toString(), second.get('content-length')], ['one two', '7']);
  });

  scenario('an answer ended by the close is stored', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nto the end');
      connection.half_close();
    };
    assert.equal((await get(edge, '/close')).body.toString(), 'to the end');
    assert.equal((await get(edge, '/close')).body.toString(), 'to the end');
    assert.equal(origin.requests.length, 1);
  });

  scenario('a stored answer without a body', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'Expires': http_date(60)}, () => '');
    for (const hit of [undefined, true]) {
      const answer = await get(edge, '/empty');
      assert.deepEqual([answer.status, answer.get('content-length'), cache_status(answer).hit], [200, '0', hit]);
    }
  });

  for (const status of [204, 301, 404]) {
    scenario(`a stored ${status}`, async () => {
      const {origin, edge} = shared;
      origin.forget();
      origin.handler = () => ({status, reason: 'Any', fields: {'Cache-Control': 'max-age=60', 'Location': '/x'}});
      const client = await edge.connect();
      for (const hit of [undefined, true]) {
        client.send(request('GET', `/status/${status}`));
        const answer = await client.read_response();
        assert.deepEqual([answer.status, answer.body.length, cache_status(answer).hit], [status, 0, hit]);
      }
      client.close();
    });
  }

  scenario('a GET with a body goes past the cache and the connection stays', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    const client = await edge.connect();
    for (const number of [1, 2]) {
      client.send(request('GET', '/body', {}, 'content'));
      const answer = await client.read_response();
      assert.deepEqual([answer.body.toString(), answer.get('connection')], [`answer ${number}`, undefined]);
    }
    client.close();
  });

  scenario('the access log says what the cache did', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    await get(edge, '/logged');
    await get(edge, '/logged');
    await edge.log_line((line) => line.target === '/logged' && line.cache === 'miss');
    const hit = await edge.log_line((line) => line.target === '/logged' && line.cache === 'hit');
    assert.equal(hit.status, 200);
  });

  scenario('coalesce: false stores all the same', async (scope) => {
    const {origin, edge} = await start_http(scope, {coalesce: false});
    count(origin, {'Cache-Control': 'max-age=60'});
    await get(edge, '/alone');
    assert.ok(cache_status(await get(edge, '/alone')).hit);
    assert.equal(origin.requests.length, 1);
  });

  scenario('a reload in the middle of a shared answer', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const hold = deferred();
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 8\r\n\r\nbef ');
      await hold.promise;
      await connection.send('aft ');
    };
    const answers = [get(edge, '/reload'), get(edge, '/reload')];
    await origin.next_request();
    assert.equal((await edge.reload()).status, 200);
    hold.resolve();
    for (const answer of await Promise.all(answers)) assert.equal(answer.body.toString(), 'bef aft ');
    assert.equal(origin.requests.length, 1);
    assert.ok(cache_status(await get(edge, '/reload')).hit);
  });

  scenario('an encoded answer is stored by its coding', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = (asked) => encode_response({
      fields: {
        'Cache-Control': 'max-age=60',
        'Vary': 'Accept-Encoding',
        ...(asked.get('accept-encoding') ? {'Content-Encoding': 'x-test'} : {})
      },
      body: asked.get('accept-encoding') ?? 'plain'
    });
    for (let i = 0; i < 2; ++i) {
      assert.equal((await get(edge, '/coded', {'Accept-Encoding': 'x-test'})).get('content-encoding'), 'x-test');
      assert.equal((await get(edge, '/coded')).get('content-encoding'), undefined);
    }
    assert.equal(origin.requests.length, 2);
  });
});
