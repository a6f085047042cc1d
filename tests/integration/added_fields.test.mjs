// The fields that the edge adds: where a request came from, through whom, and under which identifiers.
import {strict as assert} from 'node:assert';

import {Brink} from '../support/brink.mjs';
import {Origin} from '../support/origin.mjs';
import {scenario, suite} from '../support/scenario.mjs';

const get = (fields) => `GET / HTTP/1.1\r\nHost: api.a.test:8080\r\n${fields}\r\n`;
const trace = 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n';

async function seen_by_backend({origin, edge}, fields) {
  origin.forget();
  const response = await edge.exchange(get(fields));
  assert.equal(response.status, 200);
  return {seen: await origin.next_request(), response};
}

const start = (options) => async (scope) => {
  const origin = await Origin.start(scope);
  const edge = await Brink.start(scope, {backend: origin.url, ...options});
  return {origin, edge};
};

suite('x-forwarded fields of a client that is not trusted', start({}), (shared) => {
  scenario('are replaced', async () => {
    const {seen} = await seen_by_backend(
        shared,
        'X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: bank.test\r\nForwarded: for=203.0.113.7\r\n');
    assert.equal(seen.get('x-forwarded-for'), '127.0.0.1');
    assert.equal(seen.get('x-forwarded-proto'), 'http');
    assert.equal(seen.get('x-forwarded-host'), 'api.a.test:8080');
  });
});

suite('x-forwarded fields of a trusted proxy', start({downstream: {trusted_proxies: ['127.0.0.0/8']}}), (shared) => {
  scenario('are extended and kept', async () => {
    const {seen, response} = await seen_by_backend(
        shared, 'X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: bank.test\r\n');
    assert.equal(seen.get('x-forwarded-for'), '203.0.113.7, 127.0.0.1');
    assert.equal(seen.get('x-forwarded-proto'), 'https');
    assert.equal(seen.get('x-forwarded-host'), 'bank.test');
    assert.ok(response.get('x-request-id'));
  });

  scenario('are added when it sent none', async () => {
    const {seen} = await seen_by_backend(shared, '');
    assert.equal(seen.get('x-forwarded-for'), '127.0.0.1');
    assert.equal(seen.get('x-forwarded-proto'), 'http');
  });
});

suite('identifiers', start({}), (shared) => {
  scenario('via is added on both sides and keeps what was there', async () => {
    const {seen, response} = await seen_by_backend(shared, 'Via: 1.0 fred\r\n');
    assert.equal(seen.all('via').join(', '), '1.0 fred, 1.1 brink');
    assert.equal(response.get('via'), '1.1 brink');
  });

  scenario('a sane x-request-id is kept, to the backend, the client and the log', async () => {
    const {seen, response} = await seen_by_backend(shared, 'X-Request-Id: req_0123-abc.DEF\r\n');
    assert.equal(seen.get('x-request-id'), 'req_0123-abc.DEF');
    assert.equal(response.get('x-request-id'), 'req_0123-abc.DEF');
    await shared.edge.log_line((line) => line.request_id === 'req_0123-abc.DEF');
  });

  for (const [what, id] of [['too long', 'a'.repeat(1000)], ['with spaces and quotes', 'a "b" c'], ['empty', '']]) {
    scenario(`an x-request-id that is ${what} is replaced`, async () => {
      const {seen, response} = await seen_by_backend(shared, `X-Request-Id: ${id}\r\n`);
      assert.notEqual(seen.get('x-request-id'), id);
      assert.match(seen.get('x-request-id'), /^[\w.-]{8,128}$/);
      assert.equal(response.get('x-request-id'), seen.get('x-request-id'));
    });
  }

  scenario('each request without an id gets its own', async () => {
    const first = await seen_by_backend(shared, '');
    const second = await seen_by_backend(shared, '');
    assert.notEqual(first.seen.get('x-request-id'), second.seen.get('x-request-id'));
  });

  scenario('a valid traceparent goes on in its trace', async () => {
    const {seen} = await seen_by_backend(shared, trace);
    assert.match(seen.get('traceparent'), /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
    const id = seen.get('x-request-id');
    const line = await shared.edge.log_line((entry) => entry.request_id === id);
    assert.equal(line.trace_id, '4bf92f3577b34da6a3ce929d0e0e4736');
  });

  for (const bad
           of ['00-00000000000000000000000000000000-00f067aa0ba902b7-01',
               'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'x']) {
    scenario(`a traceparent ${bad} is replaced`, async () => {
      const {seen} = await seen_by_backend(shared, `traceparent: ${bad}\r\n`);
      assert.match(seen.get('traceparent'), /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
      assert.notEqual(seen.get('traceparent'), bad);
    });
  }

  scenario('x-brink-endpoint names the backend that answered', async () => {
    const {response} = await seen_by_backend(shared, 'X-Brink-Endpoint: forged\r\n');
    assert.equal(response.get('x-brink-endpoint'), shared.origin.name);
  });
});
