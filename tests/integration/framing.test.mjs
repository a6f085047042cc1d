// Requests whose end two parsers could see in different places, sent as raw bytes. Each must be refused with the right
// status and a close, and no byte of it, nor of the request hidden behind it, may reach the backend as a request.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';
import {within} from '../support/wait.mjs';

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';
const get = (fields) => `GET /first HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`;
const post = (fields, body = 'hello') => `POST /first HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n${body}`;
const chunked = (body) => post('Transfer-Encoding: chunked\r\n', body);

// [rule, bytes, statuses if not 400]
const heads = [
  // RFC 9112 section 6.1 and 6.3
  ['content-length before transfer-encoding', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
  ['transfer-encoding before content-length', post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n')],
  ['an unknown transfer coding', post('Transfer-Encoding: gzip\r\n', ''), [501]],
  ['an unknown transfer coding with a length', post('Transfer-Encoding: gzip\r\nContent-Length: 5\r\n'), [400, 501]],
  ['a coding before chunked', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), [501]],
  ['a coding after chunked', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'), [400, 501]],
  ['identity alone', post('Transfer-Encoding: identity\r\n', ''), [400, 501]],
  ['a coding that ends in chunked', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), [501]],
  ['chunked twice', post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n')],
  ['chunked in two fields', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
  ['a list that starts with a comma', post('Transfer-Encoding: ,chunked\r\n', '0\r\n\r\n')],
  ['an empty transfer-encoding', post('Transfer-Encoding: \r\n', '')],
  ['chunked with a parameter', post('Transfer-Encoding: chunked;q=1\r\n', '0\r\n\r\n'), [400, 501]],
  ['chunked behind a vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'), [400, 501]],
  ['transfer-encoding in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['an empty content-length', post('Content-Length: \r\n', '')],
  ['an empty content-length before a second one', post('Content-Length: \r\nContent-Length: 5\r\n')],
  ['a content-length with a sign', post('Content-Length: +5\r\n')],
  ['a negative content-length', post('Content-Length: -5\r\n')],
  ['a hexadecimal content-length', post('Content-Length: 0x5\r\n')],
  ['a content-length with an underscore', post('Content-Length: +1_0\r\n')],
  ['a content-length with trailing junk', post('Content-Length: 1Z\r\n')],
  ['a content-length with a space inside', post('Content-Length: 5 5\r\n')],
  ['a content-length list', post('Content-Length: 5, 5\r\n')],
  ['a repeated equal content-length', post('Content-Length: 5\r\nContent-Length: 5\r\n')],
  ['differing content-lengths', post('Content-Length: 5\r\nContent-Length: 50\r\n')],
  ['a content-length past 64 bits', post('Content-Length: 18446744073709551621\r\n')],
  // RFC 9112 section 2.2 and 5
  ['a line that ends in LF', 'GET /first HTTP/1.1\r\nHost: a.test\nX-A: b\r\n\r\n'],
  ['a request line that ends in LF', 'GET /first HTTP/1.1\nHost: a.test\r\n\r\n'],
  ['a head that ends in LF LF', 'GET /first HTTP/1.1\r\nHost: a.test\r\nX-A: b\n\n'],
  ['a bare CR in a value', get('X-A: b\rX-B: c\r\n')],
  ['a folded line', get('X-A: b\r\n c\r\n')],
  ['a NUL in a value', get('X-A: v\x00w\r\n')],
  ['LF NUL CR in a value', get('X-A: v\n\x00\rw\r\n')],
  ['a control byte in a value', get('X-A: v\x01w\r\n')],
  ['a DEL in a value', get('X-A: v\x7fw\r\n')],
  ['an empty field name', get(': value\r\n')],
  ['a space in a field name', get('X A: b\r\n')],
  ['a byte past ASCII in a field name', get('Content-Length\x85: 10\r\n')],
  ['a space before the colon', get('X-A : b\r\n')],
  ['a tab before the colon', post('Content-Length\t: 5\r\n')],
  ['a line without a colon', get('X-A\r\n')],
  ['a space before the first field', 'GET /first HTTP/1.1\r\n Host: a.test\r\n\r\n'],
  ['a tab before the first field', 'GET /first HTTP/1.1\r\n\tContent-Length: 1\r\nHost: a.test\r\n\r\n'],
  // RFC 9112 section 3
  ['no host', 'GET /first HTTP/1.1\r\nX-A: b\r\n\r\n'],
  ['two hosts', get('Host: a.test\r\n')],
  ['two different hosts', get('Host: b.test\r\n')],
  ['a NUL in the host', 'GET /first HTTP/1.1\r\nHost: a\x00.b\r\n\r\n'],
  ['a space in the host', 'GET /first HTTP/1.1\r\nHost: a b\r\n\r\n'],
  ['user information in the host', 'GET /first HTTP/1.1\r\nHost: user@a.test\r\n\r\n'],
  ['a path in the host', 'GET /first HTTP/1.1\r\nHost: a.test/x\r\n\r\n'],
  ['a port that is no number', 'GET /first HTTP/1.1\r\nHost: a.test:8x\r\n\r\n'],
  ['an absolute target of another host', 'GET http://b.test/first HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['an absolute target of another scheme', 'GET ftp://a.test/first HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a target without a slash', 'GET first HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a space in the target', 'GET /fir st HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a control byte in the target', 'GET /fir\x01st HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a byte past ASCII in the target', 'GET /fir\xffst HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a fragment in the target', 'GET /first#part HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['an asterisk with GET', 'GET * HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['CONNECT', 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n', [400, 405, 501]],
  ['a method that is no token', 'G(T /first HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['two spaces in the request line', 'GET  /first HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a tab in the request line', 'GET\t/first HTTP/1.1\r\nHost: a.test\r\n\r\n'],
  ['a minor version of two digits', 'GET / HTTP/1.32\r\nHost: a.test\r\n\r\n'],
  ['an unknown minor version', 'GET / HTTP/1.2\r\nHost: a.test\r\n\r\n', [400, 505]],
  ['a lower-case version', 'GET / http/1.1\r\nHost: a.test\r\n\r\n'],
  ['no version', 'GET /first\r\nHost: a.test\r\n\r\n'],
  ['HTTP/2.0 in text', 'GET / HTTP/2.0\r\nHost: a.test\r\n\r\n', [505]],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 505]],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
];

// RFC 9112 section 7.1. The head is in order, so the backend may have seen it; it never sees the end of a message.
const bodies = [
  ['an underscore in a chunk size', chunked('0_2e\r\nab\r\n0\r\n\r\n')],
  ['a hexadecimal prefix in a chunk size', chunked('0x2\r\nab\r\n0\r\n\r\n')],
  ['an empty chunk size', chunked('\r\nab\r\n0\r\n\r\n')],
  ['a sign in a chunk size', chunked('+2\r\nab\r\n0\r\n\r\n')],
  ['a negative chunk size', chunked('-2\r\nab\r\n0\r\n\r\n')],
  ['a space before a chunk size', chunked(' 2\r\nab\r\n0\r\n\r\n')],
  ['a chunk size that is no number', chunked('zz\r\nab\r\n0\r\n\r\n')],
  ['a chunk size past 64 bits', chunked('10000000000000002\r\nab\r\n0\r\n\r\n')],
  ['CR CR in a chunk line', chunked('1\r\r;ext\r\na\r\n0\r\n\r\n')],
  ['a chunk line that ends in LF', chunked('2\nab\r\n0\r\n\r\n')],
  ['a chunk line with LF in its extension', chunked('2;a\nb\r\nab\r\n0\r\n\r\n')],
  ['a NUL in a chunk extension', chunked('2;a=\x00\r\nab\r\n0\r\n\r\n')],
  ['an endless chunk extension', chunked(`2;${'a'.repeat(20_000)}\r\nab\r\n0\r\n\r\n`)],
  ['LF after chunk data', chunked('2\r\nab\n0\r\n\r\n')],
  ['no line end after chunk data', chunked('2\r\nab0\r\n\r\n')],
  ['more data than the chunk size says', chunked('2\r\nabc\r\n0\r\n\r\n')],
  ['a content-length trailer', chunked('2\r\nab\r\n0\r\nContent-Length: 5\r\n\r\n')],
  ['a transfer-encoding trailer', chunked('2\r\nab\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n')],
  ['a host trailer', chunked('2\r\nab\r\n0\r\nHost: b.test\r\n\r\n')],
  ['a folded trailer', chunked('2\r\nab\r\n0\r\nX-A: b\r\n c\r\n\r\n')],
  ['a trailer that is no field', chunked('2\r\nab\r\n0\r\nGET /smuggled HTTP/1.1\r\n\r\n')],
  ['a trailer section that ends in LF', chunked('2\r\nab\r\n0\r\n\n')],
  ['endless trailers', chunked(`2\r\nab\r\n0\r\n${'X-A: b\r\n'.repeat(5000)}\r\n`)],
];

async function start(scope) {
  const origin = await Origin.start(scope);
  const edge = await Brink.start(scope, {backend: origin.url});
  return {origin, edge};
}

// What a complete request sent afterwards leaves at the backend must be all that is there.
async function only_a_sentinel_arrives({origin, edge}) {
  const sentinel = await edge.exchange('GET /sentinel HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
  assert.equal(sentinel.status, 200);
  assert.deepEqual(origin.requests.map((request) => request.target), ['/sentinel']);
  assert.ok(!origin.received().includes('smuggled'), `the backend received:\n${origin.received()}`);
}

async function is_refused({origin, edge}, bytes, statuses = [400]) {
  origin.forget();
  const client = await edge.connect();
  client.send(bytes, smuggled);
  const response = await client.read_response();
  assert.ok(statuses.includes(response.status), `status ${response.status}, not ${statuses.join(' or ')}`);
  assert.equal(response.get('connection'), 'close');
  await within(client.closed, 'the edge to close');
  assert.equal(client.peek().toString('latin1'), '', 'nothing may follow the refusal');
  client.close();
  return response;
}

suite('a head that could be read in two ways is refused', start, (shared) => {
  for (const [rule, bytes, statuses] of heads) {
    scenario(rule, async () => {
      await is_refused(shared, bytes, statuses);
      await only_a_sentinel_arrives(shared);
      assert.ok(!shared.origin.received().includes('/first'), 'the backend saw the refused request');
    });
  }

  // Closing with bytes unread would send a reset, which overtakes the refusal (RFC 9112 section 9.6).
  scenario('the refusal reaches a client that goes on sending', async () => {
    const client = await shared.edge.connect();
    client.pause();
    client.send('GET /goes-on HTTP/1.1\r\nHost: a.test\r\nX A: b\r\n\r\n');
    await shared.edge.log_line((entry) => entry.target === '/goes-on');
    for (let i = 0; i < 10; ++i) await client.send(smuggled);
    assert.equal((await client.read_response()).status, 400);
  });

  scenario('the refusal has the shape of an API error and says why', async () => {
    const response = await is_refused(shared, post('Content-Length: 5, 5\r\n'));
    const {error} = JSON.parse(response.body);
    assert.equal(error.code, 'malformed_request');
    assert.equal(error.type, 'invalid_request_error');
    assert.match(error.message, /length/i);
    const line = await shared.edge.log_line((entry) => entry.request_id === response.get('x-request-id'));
    assert.equal(line.error, 'malformed_request');
    assert.equal(line.status, 400);
  });
});

suite('a chunked body that could be read in two ways is refused', start, (shared) => {
  for (const [rule, bytes] of bodies) {
    scenario(rule, async () => {
      await is_refused(shared, bytes);
      for (const connection of shared.origin.connections.filter((used) => used.received().includes('/first'))) {
        await within(connection.closed, 'the edge to close its connection to the backend');
      }
      await only_a_sentinel_arrives(shared);
    });
  }
});

suite('requests that only look odd are accepted', start, (shared) => {
  scenario('a content-length with a leading zero is decimal', async () => {
    shared.origin.forget();
    const response = await shared.edge.exchange(post('Content-Length: 010\r\n', '0123456789'), 'POST');
    assert.equal(response.status, 200);
    const request = await shared.origin.next_request();
    assert.equal(request.body.toString(), '0123456789');
    assert.equal(request.get('content-length'), '10');
  });

  scenario('an empty line before the request', async () => {
    assert.equal((await shared.edge.exchange(`\r\n${get('')}`)).status, 200);
  });

  scenario('Chunked in capitals, with an extension and upper-case sizes', async () => {
    shared.origin.forget();
    const body = `A;note="x"\r\n0123456789\r\n00\r\n\r\n`;
    const response = await shared.edge.exchange(post('Transfer-Encoding: Chunked\r\n', body), 'POST');
    assert.equal(response.status, 200);
    const request = await shared.origin.next_request();
    assert.equal(request.body.toString(), '0123456789');
    assert.ok(!request.raw.includes('note'), 'chunk extensions end here');
  });

  scenario('bytes past ASCII in a field value pass unchanged', async () => {
    shared.origin.forget();
    assert.equal((await shared.edge.exchange(get('X-Name: caf\xe9\r\n'))).status, 200);
    assert.equal((await shared.origin.next_request()).get('x-name'), 'caf\xe9');
  });

  scenario('one byte at a time', async () => {
    shared.origin.forget();
    const client = await shared.edge.connect();
    for (const byte of chunked('3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n')) await client.send(byte);
    assert.equal((await client.read_response('POST')).status, 200);
    assert.equal((await shared.origin.next_request()).body.toString(), 'abc');
  });
});

suite(
    'a body that the edge does not need is no second request',
    async (scope) => {
      const origin = await Origin.start(scope);
      const edge = await Brink.start(scope, {
        clusters: {main: {endpoints: [{url: origin.url}]}},
        routes: [
          {name: 'fixed', match: {path: '/fixed'}, respond: {status: 200, body: 'fixed\n'}},
          {name: 'small', match: {path: '/small'}, cluster: 'main', limits: {body: '8B'}},
          {name: 'rest', match: {path_prefix: '/x'}, cluster: 'main'},
        ],
      });
      return {origin, edge};
    },
    (shared) => {
      for (const [what, path, status] of [
               ['a fixed reply', '/fixed', 200], ['no route', '/none', 404], ['too large', '/small', 413]]) {
        scenario(`${what}: the hidden request is not answered`, async () => {
          shared.origin.forget();
          const hidden = 'GET /x/smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';
          const client = await shared.edge.connect();
          client.send(`POST ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`);
          assert.equal((await client.read_response('POST')).status, status);
          // Either the edge closed, or the connection is at the next request exactly.
          client.send('GET /x/next HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
          await within(client.closed, 'the edge to close');
          const rest = client.peek().toString('latin1');
          assert.ok((rest.match(/HTTP\/1\.1/g) ?? []).length <= 1, `more than one more response:\n${rest}`);
          assert.ok(!shared.origin.received().includes('smuggled'));
        });
      }
    });

suite(
    'bytes behind an upgrade request',
    async (scope) => {
      const origin = await Origin.start(scope, {handler: () => undefined});
      const edge = await Brink.start(scope, {backend: origin.url});
      return {origin, edge};
    },
    (shared) => {
      const upgrade = 'GET /socket HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

      scenario('are no raw bytes for a backend that answers 200 instead of 101', async () => {
        const {origin, edge} = shared;
        const client = await edge.connect();
        client.send(upgrade, smuggled);
        const {connection} = await origin.next_request();
        await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno');
        assert.equal((await client.read_response()).status, 200);
        // What follows is an ordinary request, or the edge closed; in no case were its bytes passed through.
        client.close();
        const seen = origin.received();
        const second = seen.slice(seen.indexOf('\r\n\r\n') + 4);
        assert.ok(second === '' || /\r\nvia: 1\.1 brink\r\n/i.test(second), `passed through:\n${second}`);
      });
    });
