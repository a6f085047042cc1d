// What every HTTP/1.1 client and server expects of a proxy between them: methods, bodies in every framing, interim
// answers, pipelining, and what of it is kept for the next request.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {last_chunk} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {deferred, within} from '../support/wait.mjs';

async function start(scope) {
  const origin = await Origin.start(scope);
  const edge = await Brink.start(scope, {backend: origin.url});
  return {origin, edge};
}

const request = (method, path, fields = '', body = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n${body}`;

suite('methods and bodies', start, (shared) => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PURGE']) {
    scenario(`${method} passes with its target, fields and body unchanged`, async () => {
      const {origin, edge} = shared;
      origin.forget();
      origin.handler = () => ({status: 207, reason: 'Multi-Status', fields: {'X-Kept': 'as it was'}, body: 'answer'});
      const body = method === 'GET' || method === 'OPTIONS' ? '' : 'question';
      const framing = body && `Content-Length: ${body.length}\r\n`;
      const response =
          await edge.exchange(request(method, '/a%20b/c?d=e&f=%2F', `X-Mine: 1, 2\r\n${framing}`, body), method);
      assert.equal(response.start_line, 'HTTP/1.1 207 Multi-Status');
      assert.equal(response.get('x-kept'), 'as it was');
      assert.equal(response.body.toString(), 'answer');
      const seen = await origin.next_request();
      assert.equal(seen.start_line, `${method} /a%20b/c?d=e&f=%2F HTTP/1.1`);
      assert.equal(seen.get('host'), 'a.test');
      assert.equal(seen.get('x-mine'), '1, 2');
      assert.equal(seen.body.toString(), body);
    });
  }

  scenario('HEAD has the fields of the answer and no body', async () => {
    const {origin, edge} = shared;
    origin.handler = (seen) =>
        seen.method === 'HEAD' ? 'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n' : {body: 'next'};
    const client = await edge.connect();
    client.send(request('HEAD', '/'), request('GET', '/'));
    assert.equal((await client.read_response('HEAD')).get('content-length'), '1234');
    assert.equal((await client.read_response()).body.toString(), 'next');
  });

  for (const answer
           of ['HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n',
               'HTTP/1.1 304 Not Modified\r\nX-A: b\r\nETag: "1"\r\n\r\n']) {
    scenario(`${answer.slice(9, 12)} has no body and no framing of one`, async () => {
      const {origin, edge} = shared;
      origin.handler = (seen) => seen.target === '/empty' ? answer : {body: 'next'};
      const client = await edge.connect();
      client.send(request('GET', '/empty'), request('GET', '/'));
      const response = await client.read_response();
      assert.equal(response.start_line, answer.split('\r\n')[0]);
      assert.equal(response.get('x-a'), 'b');
      assert.equal(response.get('transfer-encoding'), undefined);
      assert.equal(response.get('content-length'), undefined);
      assert.equal((await client.read_response()).body.toString(), 'next');
    });
  }

  scenario('HEAD of a chunked answer says so and has no chunks', async () => {
    const {origin, edge} = shared;
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n';
    origin.handler = (seen) => seen.method === 'HEAD' ? head : {body: 'next'};
    const client = await edge.connect();
    client.send(request('HEAD', '/'), request('GET', '/'));
    assert.equal((await client.read_response('HEAD')).get('x-a'), 'b');
    assert.equal((await client.read_response()).body.toString(), 'next');
  });

  scenario('an answer without a date gets one, another keeps its own', async () => {
    const {origin, edge} = shared;
    origin.handler = () => ({body: 'undated'});  // RFC 9110 section 6.6.1
    assert.match((await edge.exchange(request('GET', '/'))).get('date') ?? '', / GMT$/);
    origin.handler = () => ({fields: {Date: 'Sun, 06 Nov 1994 08:49:37 GMT'}});
    assert.equal((await edge.exchange(request('GET', '/'))).get('date'), 'Sun, 06 Nov 1994 08:49:37 GMT');
  });

  scenario('repeated fields keep their order', async () => {
    const {origin, edge} = shared;
    origin.handler = () => ({fields: [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2; Path=/']]});
    const response = await edge.exchange(request('GET', '/'));
    assert.deepEqual(response.all('set-cookie'), ['a=1', 'b=2; Path=/']);
  });
});

suite('framings', start, (shared) => {
  scenario('chunked with trailers, both ways', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Out\r\n\r\n' +
        '3\r\none\r\n5\r\n two \r\n0\r\nX-Out: 2\r\n\r\n';
    const client = await edge.connect();
    const fields = 'Transfer-Encoding: chunked\r\nTrailer: X-In\r\nTE: trailers\r\n';
    client.send(request('POST', '/', fields, '4\r\nhell\r\n1\r\no\r\n0\r\nX-In: 1\r\n\r\n'));
    const response = await client.read_response('POST');
    assert.equal(response.body.toString(), 'one two ');
    assert.deepEqual(response.trailers, [['X-Out', '2']]);
    const seen = await origin.next_request();
    assert.equal(seen.body.toString(), 'hello');
    assert.deepEqual(seen.trailers, [['X-In', '1']]);
  });

  scenario('an empty chunked body', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${last_chunk}`;
    const response = await edge.exchange(request('POST', '/', 'Transfer-Encoding: chunked\r\n', last_chunk), 'POST');
    assert.equal(response.status, 200);
    assert.equal(response.body.length, 0);
    assert.equal((await origin.next_request()).body.length, 0);
  });

  scenario('a body that ends with the connection gets a framing of its own', async () => {
    const {origin, edge} = shared;
    origin.handler = async (seen, connection) => {
      if (seen.target !== '/close') return {body: 'next'};
      await connection.send('HTTP/1.1 200 OK\r\n\r\nuntil the ', 'end');
      connection.half_close();
    };
    const client = await edge.connect();
    client.send(request('GET', '/close'), request('GET', '/'));
    const response = await client.read_response();
    assert.equal(response.framing, 'chunked');
    assert.equal(response.body.toString(), 'until the end');
    assert.equal((await client.read_response()).body.toString(), 'next');
  });
});

suite('HTTP/1.0', start, (shared) => {
  const old = (fields = '') => `GET /old HTTP/1.0\r\nHost: a.test\r\n${fields}\r\n`;

  scenario('a client of HTTP/1.0 gets no chunks, and a close', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
    const response = await edge.exchange(old());
    assert.equal(response.framing, 'close');
    assert.equal(response.body.toString(), 'hello');
    assert.equal((await origin.next_request()).version, 'HTTP/1.1');
  });

  scenario('a client of HTTP/1.0 without Host is served', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => ({body: 'hello'});
    const response = await edge.exchange('GET /old HTTP/1.0\r\n\r\n');
    assert.equal(response.body.toString(), 'hello');
    assert.equal((await origin.next_request()).all('host').length, 1, 'HTTP/1.1 needs a Host');
  });

  scenario('a client of HTTP/1.0 gets no interim answers', async () => {
    const {origin, edge} = shared;
    origin.handler = () =>
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    const response = await edge.exchange(old());
    assert.equal(response.status, 200);
    assert.deepEqual(response.interim, []);
  });

  scenario('keep-alive works when the client of HTTP/1.0 asks for it', async () => {
    const {origin, edge} = shared;
    origin.handler = () => ({body: 'ok'});
    const client = await edge.connect();
    client.send(old('Connection: keep-alive\r\n'));
    const response = await client.read_response();
    assert.match(response.get('connection') ?? '', /keep-alive/i);
    client.send(old());
    assert.equal((await client.read_response()).body.toString(), 'ok');
    assert.equal(await within(client.closed, 'the edge to close'), 'end');
  });

  scenario('a backend of HTTP/1.0 is served from, and not kept', async () => {
    const {origin, edge} = shared;
    const used = [];
    origin.handler = (_, connection) => {
      used.push(connection);
      return 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok';
    };
    for (let i = 0; i < 2; ++i) assert.equal((await edge.exchange(request('GET', '/'))).start_line, 'HTTP/1.1 200 OK');
    assert.notEqual(used[0], used[1]);
  });
});

suite('targets', start, (shared) => {
  scenario('absolute form reaches the backend in origin form', async () => {
    const {origin, edge} = shared;
    origin.forget();
    const response = await edge.exchange('GET http://A.test:80/x?y=1 HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.equal(response.status, 200);
    assert.equal((await origin.next_request()).target, '/x?y=1');
  });

  scenario('absolute form without a path is /', async () => {
    const {origin, edge} = shared;
    origin.forget();
    assert.equal((await edge.exchange('GET http://a.test HTTP/1.1\r\nHost: a.test\r\n\r\n')).status, 200);
    assert.equal((await origin.next_request()).target, '/');
  });

  scenario('OPTIONS * is answered and the connection stays', async () => {
    const client = await shared.edge.connect();
    client.send('OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n', request('GET', '/'));
    assert.ok([200, 204].includes((await client.read_response('OPTIONS')).status));
    assert.equal((await client.read_response()).status, 200);
  });
});

suite('interim answers', start, (shared) => {
  scenario('100-continue comes before the body is sent', async () => {
    const {origin, edge} = shared;
    origin.forget();
    origin.handler = () => ({body: 'done'});
    const client = await edge.connect();
    client.send(request('POST', '/', 'Content-Length: 5\r\nExpect: 100-continue\r\n'));
    assert.equal((await client.read_head()).status, 100);
    client.send('hello');
    assert.equal((await client.read_response('POST')).body.toString(), 'done');
    assert.equal((await origin.next_request()).body.toString(), 'hello');
  });

  scenario('a body that may not come is refused without a 100', async () => {
    const response = await shared.edge.exchange(
        request('POST', '/', 'Content-Length: 999999999999\r\nExpect: 100-continue\r\n'), 'POST');
    assert.equal(response.status, 413);
    assert.deepEqual(response.interim, []);
  });

  scenario('another expectation is 417', async () => {
    assert.equal((await shared.edge.exchange(request('GET', '/', 'Expect: the-unexpected\r\n'))).status, 417);
  });

  scenario('103 early hints pass at once', async () => {
    const {origin, edge} = shared;
    const hinted = deferred();
    origin.handler = async (_, connection) => {
      await connection.send('HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n');
      await hinted.promise;
      return {body: 'page'};
    };
    const client = await edge.connect();
    client.send(request('GET', '/'));
    const hints = await client.read_head();
    assert.equal(hints.status, 103);
    assert.equal(hints.get('link'), '</style.css>; rel=preload');
    hinted.resolve();
    assert.equal((await client.read_response()).body.toString(), 'page');
  });

  scenario('several interim answers, one of them a 100 that nobody waits for', async () => {
    const {origin, edge} = shared;
    origin.handler = () => 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' +
        'HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    const response = await edge.exchange(request('GET', '/'));
    assert.equal(response.body.toString(), 'ok');
    const hints = response.interim.filter((head) => head.status === 103);
    assert.deepEqual(hints.map((head) => head.get('link')), ['</a>', '</b>']);
  });
});
