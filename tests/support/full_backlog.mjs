// A port that neither accepts nor refuses: its listener's queue is full and nobody takes from it, so the kernel drops
// further connection attempts and they hang.
import net from 'node:net';

import {Program} from './process.mjs';
import {until} from './wait.mjs';

const listener = `
  const server = require('node:net').createServer().listen({port: 0, host: '127.0.0.1', backlog: 1}, () => {
    require('node:fs').writeSync(1, 'port ' + server.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);  // never returns to the loop that would accept
  });`;

function fill(port, fillers) {
  const socket = net.connect({port, host: '127.0.0.1'}).on('error', () => {});
  fillers.add(socket);
  return socket;
}

// The port; everything ends with the scope.
export async function full_backlog(scope) {
  const program = new Program('listener', ['-e', listener], {path: process.execPath});
  const fillers = new Set();
  scope.after(async () => {
    for (const socket of fillers) socket.destroy();
    program.signal('SIGKILL');
    await program.exited;
  });
  const port = Number((await program.line(/port (\d+)/, {stream: 'stdout'}))[1]);
  // Full is when an attempt on loopback, which takes microseconds, is still waiting after 200 ms.
  await until(async () => {
    const socket = fill(port, fillers);
    const connected = await Promise.race([
      new Promise((resolve) => socket.once('connect', () => resolve(true))),
      new Promise((resolve) => setTimeout(resolve, 200, false)),
    ]);
    return !connected;
  }, 'the backlog to fill');
  return port;
}
