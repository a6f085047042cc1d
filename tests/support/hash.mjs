// Large bodies without keeping them: made from a seed, compared by hash.
import {createHash} from 'node:crypto';

// Pieces of pseudo-random bytes that sum up to `size`, different at every offset, the same for the same size.
export function* pieces_of(size, piece_size = 256 * 1024) {
  const block = Buffer.alloc(piece_size);
  for (let i = 0, x = 0x2545f491; i + 4 <= piece_size; i += 4) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    block.writeInt32LE(x | 0, i);
  }
  for (let at = 0, n = 0; at < size; ++n) {
    const piece = Buffer.from(block.subarray(0, Math.min(piece_size, size - at)));
    if (piece.length >= 4) piece.writeUInt32LE(n, 0);
    at += piece.length;
    yield piece;
  }
}

export function hash_of(pieces) {
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
