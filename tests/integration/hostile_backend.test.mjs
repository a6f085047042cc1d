// A backend's answers are held to the same framing rules as a client's requests: what could be read in two ways never
// reaches the client, and what follows a message is never taken for the answer to somebody else's request.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {CutShort} from '../support/http1.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

const ok = (fields, body = 'hello') => `HTTP/1.1 200 OK\r\n${fields}\r\n${body}`;

const answers = [
  ['both framings', ok('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
  ['both framings, the other order', ok('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n')],
  ['an unknown transfer coding', ok('Transfer-Encoding: gzip\r\n')],
  ['a coding before chunked', ok('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n')],
  ['chunked twice', ok('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n')],
  ['transfer-encoding in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['an empty content-length', ok('Content-Length: \r\n')],
  ['a content-length with a sign', ok('Content-Length: +5\r\n')],
  ['a hexadecimal content-length', ok('Content-Length: 0x5\r\n')],
  ['a content-length list', ok('Content-Length: 5, 5\r\n')],
  ['differing content-lengths', ok('Content-Length: 5\r\nContent-Length: 6\r\n')],
  ['a content-length past 64 bits', ok('Content-Length: 18446744073709551621\r\n')],
  ['a line that ends in LF', 'HTTP/1.1 200 OK\r\nX-A: b\nContent-Length: 0\r\n\r\n'],
  ['a bare CR in a value', ok('X-A: b\rc\r\nContent-Length: 5\r\n')],
  ['a folded line', ok('X-A: b\r\n c\r\nContent-Length: 5\r\n')],
  ['a NUL in a value', ok('X-A: v\x00w\r\nContent-Length: 5\r\n')],
  ['an empty field name', ok(': v\r\nContent-Length: 5\r\n')],
  ['a space before the colon', ok('Content-Length : 5\r\n')],
  ['a line without a colon', ok('X-A\r\nContent-Length: 5\r\n')],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
  ['a status past 599', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 Odd\r\nContent-Length: 0\r\n\r\n'],
  ['a status that is no number', 'HTTP/1.1 2x0 Odd\r\nContent-Length: 0\r\n\r\n'],
  ['another protocol version', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['something that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['an endless head', `HTTP/1.1 200 OK\r\n${`X-A: ${'b'.repeat(1000)}\r\n`.repeat(2000)}\r\n`],
  [
    'a 101 that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'
  ],
  ['endless interim answers', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000)],
  ['transfer-encoding on a 204', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
];

const request = (path, fields = '') => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`;

async function start(scope) {
  const origin = await Origin.start(scope, {keep_bytes: false});
  const edge = await Brink.start(scope, {backend: origin.url});
  return {origin, edge};
}

suite('a malformed head becomes 502', start, (shared) => {
  for (const [what, bytes] of answers) {
    scenario(what, async () => {
      const {origin, edge} = shared;
      let bad;
      origin.handler = (_, connection) => {
        bad = connection;
        return bytes;
      };
      const response = await edge.exchange(request('/bad'));
      assert.equal(response.status, 502);
      assert.match(JSON.parse(response.body).error.code, /^upstream_malformed$|^upgrade_refused$/);
      assert.ok(!response.raw.includes('X-A'), 'nothing of the answer passes');
      await within(bad.closed, 'the edge to close the connection to the backend');
      origin.handler = () => ({body: 'fine'});
      assert.equal((await edge.exchange(request('/good'))).body.toString(), 'fine');
    });
  }
});

suite('a malformed body breaks the message', start, (shared) => {
  const bad_chunks = [
    '0x2\r\nab\r\n', '\r\nab\r\n', '2\nab\r\n', '2\r\nab\n0\r\n\r\n', '2\r\nabc\r\n', '-1\r\n', '2;a=\x00\r\nab\r\n'
  ];
  for (const bad of bad_chunks) {
    scenario(`chunk ${JSON.stringify(bad)}`, async () => {
      const {origin, edge} = shared;
      origin.handler = async (_, connection) => {
        await connection.send(ok('Transfer-Encoding: chunked\r\n', '3\r\none\r\n'));
        await passed;
        connection.send(bad, '0\r\n\r\n');
      };
      let pass;
      const passed = new Promise((resolve) => (pass = resolve));
      const client = await edge.connect();
      client.send(request('/bad'));
      const response = await client.read_head();
      assert.equal(response.status, 200);
      assert.equal((await client.read_until('one\r\n')).toString(), '3\r\none\r\n');
      pass();
      await within(client.closed, 'the edge to break the message');
      assert.ok(!client.peek().toString().includes('0\r\n\r\n'), 'no clean end');
    });
  }
});

suite('bytes after a message belong to nobody', start, (shared) => {
  const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
  const cases = [
    ['after a content-length body', 'GET', ok('Content-Length: 2\r\n', 'ok')],
    ['after a chunked body', 'GET', ok('Transfer-Encoding: chunked\r\n', '2\r\nok\r\n0\r\n\r\n')],
    ['after a 204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['after a 304', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n'],
    ['after the answer to a HEAD', 'HEAD', ok('Content-Length: 2\r\n', '')],
    ['as the body of an answer to a HEAD', 'HEAD', ok('Content-Length: 2\r\n', 'ok')],
  ];
  for (const [what, method, answer] of cases) {
    scenario(what, async () => {
      const {origin, edge} = shared;
      let first;
      origin.handler = (_, connection) => {
        first = connection;
        return answer + poison;
      };
      const client = await edge.connect();
      client.send(`${method} /first HTTP/1.1\r\nHost: a.test\r\n\r\n`);
      const response = await client.read_response(method);
      assert.ok(!response.body.includes('poison'));
      await within(first.closed, 'the edge to give up that connection');
      origin.handler = () => ({body: 'mine'});
      client.send(request('/second'));
      assert.equal((await client.read_response()).body.toString(), 'mine');
    });
  }

  scenario('an answer that comes before the request is not used', async () => {
    const {origin, edge} = shared;
    let idle;
    origin.handler = (_, connection) => {
      idle = connection;
      return {body: 'one'};
    };
    assert.equal((await edge.exchange(request('/first'))).body.toString(), 'one');
    await idle.send(poison);
    await within(idle.closed, 'the edge to give up that connection');
    origin.handler = () => ({body: 'two'});
    assert.equal((await edge.exchange(request('/second'))).body.toString(), 'two');
  });
});

suite('an answer that is cut short', start, (shared) => {
  const cases = [
    ['inside a content-length body', ok('Content-Length: 50\r\n', 'hello')],
    ['inside a chunk', ok('Transfer-Encoding: chunked\r\n', '50\r\nhello')],
    ['before the last chunk', ok('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n')],
    ['inside the trailers', ok('Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\nX-A: b')],
  ];
  for (const [index, [what, bytes]] of cases.entries()) {
    scenario(`${what} never ends cleanly`, async () => {
      const {origin, edge} = shared;
      origin.handler = async (_, connection) => {
        await connection.send(bytes);
        connection.half_close();
      };
      const client = await edge.connect();
      client.send(request(`/cut/${index}`));
      let response;
      try {
        response = await client.read_response();
      } catch (error) {
        assert.ok(error instanceof CutShort, error);
        assert.ok(Buffer.from('hello').includes(error.partial), 'only what the backend sent');
      }
      // The whole answer may have failed before its head was passed on; then it is an error of its own.
      if (response) assert.equal(response.status, 502);
      const line =
          await edge.log_line((entry) => entry.target === `/cut/${index}` && entry.error === 'upstream_truncated');
      assert.equal(line.complete, Boolean(response));
    });
  }

  scenario('before its head becomes 502', async () => {
    const {origin, edge} = shared;
    origin.handler = (_, connection) => {
      connection.send('HTTP/1.1 200 OK\r\nContent-Le');
      connection.half_close();
    };
    const response = await edge.exchange(`POST /cut HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx`, 'POST');
    assert.equal(response.status, 502);
    assert.match(JSON.parse(response.body).error.code, /^upstream_(reset|truncated|malformed)$/);
  });
});
