// Content codings as other programs have them: gzip by node.js, whole bodies in zstd by its own tool, streams by fzstd.
import {Decompress} from 'fzstd';
import {execFileSync} from 'node:child_process';
import zlib from 'node:zlib';

import {within} from './wait.mjs';

const zstd = (args, input) =>
    execFileSync('zstd', ['-q', '-c', ...args], {input, maxBuffer: 256 * 1024 * 1024, stdio: ['pipe', 'pipe', 'pipe']});

export const encode = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  zstd: (bytes) => zstd(['-3', '--stream-size', String(Buffer.byteLength(bytes))], bytes),
};

// Both fail on a body that is cut short or followed by anything.
export const decode = {
  gzip: (bytes) => zlib.gunzipSync(bytes),
  zstd: (bytes) => zstd(['-d'], bytes),
  identity: (bytes) => bytes,
};

// Decodes what it is given as it comes; `text` grows as soon as the bytes say so.
export class StreamDecoder {
  constructor(coding) {
    this.text = '';
    this.waiters_ = new Set();
    const take = (piece) => {
      this.text += Buffer.from(piece).toString('latin1');
      for (const wake of this.waiters_) wake();
    };
    if (coding === 'gzip') {
      const gunzip = zlib.createGunzip().on('data', take);
      this.feed = (bytes) => gunzip.write(bytes);
    } else {
      const decompress = new Decompress(take);
      this.feed = (bytes) => decompress.push(new Uint8Array(bytes));
    }
  }

  // Until `wanted` is among what was decoded.
  async has(wanted) {
    let wake;
    const found = new Promise((resolve) => {
      wake = () => this.text.includes(wanted) && resolve();
      this.waiters_.add(wake);
      wake();
    });
    await within(found, `${JSON.stringify(wanted)} to be decoded from what has arrived, got: ${this.text.slice(-300)}`)
        .finally(() => this.waiters_.delete(wake));
  }
}
