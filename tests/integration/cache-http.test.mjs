// Mode `http`: what RFC 9111 lets a shared cache do, seen from a client and from the origin.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {cache_status, get, request} from '../support/cache_client.mjs';
import {chunk, CutShort, last_chunk} from '../support/http1.mjs';
import {encode_response, Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, until, within} from '../support/wait.mjs';

async function start(scope, cache = {}, more = {}) {
  const origin = await Origin.start(scope);
  const route = {cache: {mode: 'http', ...cache}, ...more.route};
  const edge = await Brink.start(scope, {backend: origin.url, cache: {memory: '64MiB'}, ...more, route});
  return {origin, edge};
}

// The origin answers every request with the number it has among them.
function count(origin, fields, body = (number) => `answer ${number}`) {
  origin.forget();
  origin.handler = () => ({fields, body: body(origin.requests.length)});
}

const http_date = (seconds_from_now) => new Date(Date.now() + seconds_from_now * 1000).toUTCString();

suite('a stored answer', (scope) => start(scope), (shared) => {
  scenario('is used again, with its age', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'Age': '7', 'X-Own': 'kept'});
    const first = await get(edge, '/hit');
    assert.deepEqual([first.status, first.body.toString(), first.get('age')], [200, 'answer 1', '7']);
    assert.equal(cache_status(first).fwd, 'uri-miss');
    const second = await get(edge, '/hit');
    assert.deepEqual([second.status, second.body.toString(), second.get('x-own')], [200, 'answer 1', 'kept']);
    const status = cache_status(second);
    assert.ok(status.hit, second.get('cache-status'));
    assert.ok(Number(status.ttl) <= 53 && Number(status.ttl) > 40, status.ttl);
    assert.ok(Number(second.get('age')) >= 7 && Number(second.get('age')) < 20, second.get('age'));
    assert.equal(origin.requests.length, 1);
  });

  scenario('belongs to its URL, query and all', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    assert.equal((await get(edge, '/url?a=1')).body.toString(), 'answer 1');
    assert.equal((await get(edge, '/url?a=2')).body.toString(), 'answer 2');
    assert.equal((await get(edge, '/url?a=1')).body.toString(), 'answer 1');
  });

  scenario('answers If-None-Match with 304', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v1"'});
    await get(edge, '/etag');
    const same = await get(edge, '/etag', {'If-None-Match': '"v0", "v1"'});
    assert.deepEqual([same.status, same.body.length, same.get('etag')], [304, 0, '"v1"']);
    assert.equal((await get(edge, '/etag', {'If-None-Match': '"v2"'})).status, 200);
    assert.equal(origin.requests.length, 1);
  });

  scenario('is fetched whole for a conditional request, which gets its 304', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v1"'});
    assert.equal((await get(edge, '/fill', {'If-None-Match': '"v1"'})).status, 304);
    assert.equal(origin.requests[0].get('if-none-match'), undefined);
    assert.equal((await get(edge, '/fill')).body.toString(), 'answer 1');
    assert.equal(origin.requests.length, 1);
  });

  scenario('gives its parts to ranges', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v1"'}, () => '0123456789');
    await get(edge, '/range');
    const middle = await get(edge, '/range', {Range: 'bytes=2-4'});
    assert.deepEqual(
        [middle.status, middle.body.toString(), middle.get('content-range')], [206, '234', 'bytes 2-4/10']);
    const tail = await get(edge, '/range', {Range: 'bytes=-3'});
    assert.deepEqual([tail.status, tail.body.toString()], [206, '789']);
    const beyond = await get(edge, '/range', {Range: 'bytes=10-'});
    assert.deepEqual([beyond.status, beyond.get('content-range')], [416, 'bytes */10']);
    const other = await get(edge, '/range', {Range: 'bytes=2-4', 'If-Range': '"v2"'});
    assert.deepEqual([other.status, other.body.toString()], [200, '0123456789']);
    assert.equal(origin.requests.length, 1);
  });

  scenario('answers HEAD', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'X-Own': 'kept'});
    await get(edge, '/head');
    const head = await edge.exchange(request('HEAD', '/head'), 'HEAD');
    assert.deepEqual([head.status, head.get('content-length'), head.get('x-own')], [200, '8', 'kept']);
    assert.ok(cache_status(head).hit);
    assert.equal(origin.requests.length, 1);
  });

  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    scenario(`is dropped after a successful ${method}`, async () => {
      const {origin, edge} = shared;
      count(origin, {'Cache-Control': 'max-age=60'});
      const path = `/unsafe/${method}`;
      await get(edge, path);
      assert.equal((await edge.exchange(request(method, path, {}, 'x'), method)).status, 200);
      assert.equal((await get(edge, path)).body.toString(), 'answer 3');
    });
  }

  scenario('stays after an unsafe request that failed', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    await get(edge, '/refused');
    origin.handler = () => ({status: 409, reason: 'Conflict'});
    await edge.exchange(request('POST', '/refused', {}, 'x'), 'POST');
    assert.equal((await get(edge, '/refused')).body.toString(), 'answer 1');
  });

  scenario('is chosen by the fields that Vary names', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = (asked) => ({
      fields: {'Cache-Control': 'max-age=60', 'Vary': 'Accept-Language'},
      body: asked.get('accept-language') ?? '-'
    });
    const ask = async (language) => {
      const answer = await get(edge, '/vary', {'Accept-Language': language});
      return [answer.body.toString(), cache_status(answer).hit ? 'hit' : cache_status(answer).fwd];
    };
    assert.deepEqual(await ask('de'), ['de', 'uri-miss']);
    assert.deepEqual(await ask('fr'), ['fr', 'vary-miss']);
    assert.deepEqual(await ask('de'), ['de', 'hit']);
    assert.deepEqual(await ask('fr'), ['fr', 'hit']);
    assert.deepEqual(await ask(undefined), ['-', 'vary-miss']);
    assert.equal(origin.requests.length, 3);
  });

  scenario('comes to HTTP/1.0 clients, with and without Host', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = async (_, connection) => {
      await connection.send(
          'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n', chunk('old'),
          last_chunk);
    };
    for (const host of ['Host: a.test\r\n', '']) {
      for (const expected of ['miss', 'hit']) {
        const answer = await edge.exchange(`GET /old${host.length} HTTP/1.0\r\n${host}\r\n`);
        assert.deepEqual([answer.status, answer.body.toString()], [200, 'old'], answer.body.toString());
        assert.equal(cache_status(answer).hit ? 'hit' : 'miss', expected);
        assert.equal(answer.get('transfer-encoding'), undefined);
      }
    }
  });

  scenario('answers requests that were sent without waiting', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'}, () => 'p'.repeat(1000));
    const client = await edge.connect();
    client.send(...Array.from({length: 40}, (_, i) => request('GET', `/pipelined/${i % 2}`)));
    for (let i = 0; i < 40; ++i) assert.equal((await client.read_response()).body.length, 1000);
    client.close();
    assert.equal(origin.requests.length, 2);
  });

  scenario('is made of a request without odd values too', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60', 'X-Empty': ''});
    const fields = [['X-Empty', ''], ['X-Hop', '1'], ['Connection', 'x-hop'], ['X-Kept', 'yes']];
    assert.equal((await get(edge, '/odd', fields)).status, 200);
    assert.equal(origin.requests[0].get('x-hop'), undefined);
    assert.equal(origin.requests[0].get('x-kept'), 'yes');
    assert.ok(cache_status(await get(edge, '/odd', fields)).hit);
    const absolute = await edge.exchange('GET http://a.test/odd HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.ok(cache_status(absolute).hit);
  });
});

suite('an answer that is not fresh', (scope) => start(scope), (shared) => {
  const stale_now = {'Cache-Control': 'max-age=1', 'Age': '5', 'ETag': '"v1"'};

  scenario('is validated with one conditional request', async () => {
    const {origin, edge} = shared;
    count(origin, stale_now);
    await get(edge, '/validate');
    origin.handler = () =>
        ({status: 304, reason: 'Not Modified', fields: {'Cache-Control': 'max-age=60', 'X-New': '1'}});
    const validated = await get(edge, '/validate');
    assert.deepEqual([validated.status, validated.body.toString(), validated.get('x-new')], [200, 'answer 1', '1']);
    assert.equal(cache_status(validated).fwd, 'stale');
    assert.equal(origin.requests.length, 2);
    assert.equal(origin.requests[1].get('if-none-match'), '"v1"');
    assert.ok(cache_status(await get(edge, '/validate')).hit, 'the 304 made it fresh');
    assert.equal(origin.requests.length, 2);
  });

  scenario('gives way to a new one', async () => {
    const {origin, edge} = shared;
    count(origin, stale_now);
    await get(edge, '/changed');
    count(origin, {'Cache-Control': 'max-age=60', 'ETag': '"v2"'}, () => 'new');
    assert.equal((await get(edge, '/changed')).body.toString(), 'new');
    const again = await get(edge, '/changed');
    assert.equal(again.body.toString(), 'new');
    assert.ok(cache_status(again).hit);
  });

  scenario('is validated once for many, each of whom gets what it asked for', async () => {
    const {origin, edge} = shared;
    count(origin, stale_now);
    await get(edge, '/many');
    const hold = deferred();
    origin.forget();
    origin.handler = async () => {
      await hold.promise;
      return {status: 304, reason: 'Not Modified', fields: {'Cache-Control': 'max-age=60'}};
    };
    const plain = Array.from({length: 5}, () => get(edge, '/many'));
    const conditional = Array.from({length: 5}, () => get(edge, '/many', {'If-None-Match': '"v1"'}));
    await origin.next_request();
    hold.resolve();
    for (const answer of await Promise.all(plain)) assert.equal(answer.body.toString(), 'answer 1');
    for (const answer of await Promise.all(conditional)) assert.equal(answer.status, 304);
    assert.equal(origin.requests.length, 1);
  });

  scenario('is used while one call in the background replaces it', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=1, stale-while-revalidate=60', 'Age': '5'});
    await get(edge, '/swr');
    const hold = deferred();
    origin.forget();
    origin.handler = async () => {
      await hold.promise;
      return {fields: {'Cache-Control': 'max-age=60'}, body: 'new'};
    };
    for (let i = 0; i < 5; ++i) {
      const stale = await get(edge, '/swr');
      assert.equal(stale.body.toString(), 'answer 1', 'at once, while the origin keeps still');
      assert.ok(cache_status(stale).hit);
      assert.ok(Number(cache_status(stale).ttl) < 0);
    }
    await origin.next_request();
    hold.resolve();
    await until(async () => (await get(edge, '/swr')).body.toString() === 'new', 'the new answer');
    assert.equal(origin.requests.length, 1);
  });

  scenario('whose replacement may not be stored does not hold up the background', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=1, stale-while-revalidate=60', 'Age': '5'});
    await get(edge, '/swr-huge');
    origin.forget();
    // Endless, and for nobody: the call must end.
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 100000000000\r\n\r\n');
      while (!connection.ended) await connection.send(Buffer.alloc(65536));
    };
    assert.equal((await get(edge, '/swr-huge')).body.toString(), 'answer 1');
    const asked = await origin.next_request();
    await within(asked.connection.closed, 'the call in the background to end');
  });

  scenario('covers an error of the origin', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=1, stale-if-error=60', 'Age': '5'});
    await get(edge, '/sie');
    origin.handler = () => ({status: 503, reason: 'Service Unavailable', body: 'down'});
    const covered = await get(edge, '/sie');
    assert.deepEqual([covered.status, covered.body.toString()], [200, 'answer 1']);
    assert.equal(cache_status(covered).detail, 'stale-if-error');
    origin.handler = () => ({status: 404, reason: 'Not Found', body: 'gone'});
    assert.equal((await get(edge, '/sie')).status, 404, 'not an error of the server');
  });

  scenario('covers an origin that cannot be reached', async (scope) => {
    const {origin, edge} = await start(scope);
    count(origin, {'Cache-Control': 'max-age=1, stale-if-error=60', 'Age': '5'});
    await get(edge, '/dead');
    await origin.stop();
    const covered = await get(edge, '/dead');
    assert.deepEqual([covered.status, covered.body.toString()], [200, 'answer 1']);
    assert.equal((await get(edge, '/never-seen')).status, 502);
  });

  scenario('is never used past must-revalidate', async (scope) => {
    const {origin, edge} = await start(scope);
    count(origin, {'Cache-Control': 'max-age=1, must-revalidate, stale-if-error=60', 'Age': '5', 'ETag': '"v1"'});
    await get(edge, '/must');
    await origin.stop();
    assert.equal((await get(edge, '/must')).status, 502);
  });
});

suite('requests that say what they want of a cache', (scope) => start(scope), (shared) => {
  scenario('only-if-cached: what is stored, or 504', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    assert.equal((await get(edge, '/only', {'Cache-Control': 'only-if-cached'})).status, 504);
    await get(edge, '/only');
    assert.equal((await get(edge, '/only', {'Cache-Control': 'only-if-cached'})).body.toString(), 'answer 1');
    assert.equal(origin.requests.length, 1);
  });

  scenario('no-store is not stored, and does not drop what is', async () => {
    const {origin, edge} = shared;
    count(origin, {'Cache-Control': 'max-age=60'});
    const without = {'Cache-Control': 'no-store'};
    assert.equal((await get(edge, '/ns', without)).body.toString(), 'answer 1');
    assert.equal((await get(edge, '/ns')).body.toString(), 'answer 2');
    assert.equal((await get(edge, '/ns', without)).body.toString(), 'answer 3');
    assert.equal((await get(edge, '/ns')).body.toString(), 'answer 2');
  });

  for (const fields of [{'Cache-Control': 'no-cache'}, {'Cache-Control': 'max-age=0'}, {'Pragma': 'no-cache'}]) {
    scenario(`${Object.entries(fields)[0].join(': ')} asks the origin`, async () => {
      const {origin, edge} = shared;
      const path = `/nc/${Object.values(fields)[0]}/${Object.keys(fields)[0]}`;
      count(origin, {'Cache-Control': 'max-age=60'});
      await get(edge, path);
      assert.equal((await get(edge, path, fields)).body.toString(), 'answer 2');
      assert.equal((await get(edge, path)).body.toString(), 'answer 2', 'the newer one is stored');
    });
  }
});

suite('what is not stored', (scope) => start(scope, {max_object: '64KiB'}), (shared) => {
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

suite('messages', (scope) => start(scope), (shared) => {
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
    const {origin, edge} = await start(scope, {coalesce: false});
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
