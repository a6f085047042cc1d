// GGUF files for the tests: a tiny model with random weights, written by mkgguf.py, and the ways in which a file can be
// broken.
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join, resolve} from 'node:path';

import {repository} from './process.mjs';

// Q8_0, 168 KB, a byte vocabulary, context of 512 tokens, ChatML template.
export function random_model(folder, name = 'random.gguf', options = []) {
  const file = join(folder, name);
  execFileSync('python3', [join(repository, 'tests/support/mkgguf.py'), 'random', file, ...options]);
  return file;
}

// A trained model: writes simple English. Not part of the repository.
export function trained_model() {
  const file = process.env.BRINK_TEST_GGUF ?? resolve(repository, '../shared/data/stories260K-q8_0.gguf');
  return existsSync(file) ? file : undefined;
}

// Where the value of a metadata key begins, behind its type.
function value_at(bytes, key) {
  const at = bytes.indexOf(key);
  if (at < 0) throw new Error(`there is no ${key}`);
  return at + key.length + 4;
}

// [name, broken bytes] from the bytes of random_model().
export function broken_models(good) {
  const cut = (size) => good.subarray(0, size);
  const patched = (patch) => {
    const bytes = Buffer.from(good);
    patch(bytes);
    return bytes;
  };
  const u32 = (key, value) => patched((bytes) => bytes.writeUInt32LE(value, value_at(bytes, key)));
  const type_of = (key, type) => patched((bytes) => bytes.writeUInt32LE(type, value_at(bytes, key) - 4));
  // A tensor's record: name, number of dimensions (u32), the dimensions (u64), type (u32), offset (u64).
  const tensor = (name, patch) => patched((bytes) => patch(bytes, bytes.indexOf(name) + name.length));
  const renamed = (from, to) => patched((bytes) => bytes.write(to, bytes.indexOf(from)));
  const data_begin = good.length - 100_000;
  const garbage = Buffer.alloc(4096);
  for (let i = 0, x = 12345; i < garbage.length; ++i) garbage[i] = (x = (x * 1103515245 + 12345) & 0x7fffffff) >> 16;
  return [
    ['nothing', cut(0)],
    ['three bytes', cut(3)],
    ['the magic alone', cut(4)],
    ['cut in the header', cut(20)],
    ['cut in the metadata', cut(300)],
    ['cut in the vocabulary', cut(3000)],
    ['cut in the weights', cut(data_begin)],
    ['the last block missing', cut(good.length - 64)],
    ['garbage', garbage],
    ['text', Buffer.from('This is no model.\n'.repeat(100))],
    ['another magic', patched((bytes) => bytes.write('GGML', 0))],
    ['version 0', patched((bytes) => bytes.writeUInt32LE(0, 4))],
    ['version 99', patched((bytes) => bytes.writeUInt32LE(99, 4))],
    ['the other byte order', patched((bytes) => bytes.writeUInt32BE(3, 4))],
    ['far too many tensors', patched((bytes) => bytes.writeBigUInt64LE(1n << 60n, 8))],
    ['one tensor too many', patched((bytes) => bytes.writeBigUInt64LE(bytes.readBigUInt64LE(8) + 1n, 8))],
    ['one tensor too few', patched((bytes) => bytes.writeBigUInt64LE(bytes.readBigUInt64LE(8) - 1n, 8))],
    ['far too much metadata', patched((bytes) => bytes.writeBigUInt64LE(1n << 60n, 16))],
    ['a key of 2^60 bytes', patched((bytes) => bytes.writeBigUInt64LE(1n << 60n, 24))],
    ['an unknown type of metadata', type_of('llama.block_count', 77)],
    ['text for a number', type_of('llama.block_count', 8)],
    ['an unknown architecture', patched((bytes) => bytes.write('lxama', value_at(bytes, 'general.architecture') + 8))],
    ['no architecture', renamed('general.architecture', 'general.architectuxx')],
    ['far too many layers', u32('llama.block_count', 0x7fffffff)],
    ['one layer too many', u32('llama.block_count', 3)],
    ['another width', u32('llama.embedding_length', 96)],
    ['no heads', u32('llama.attention.head_count', 0)],
    ['heads that do not divide', u32('llama.attention.head_count', 7)],
    ['a vocabulary of 2^60', patched((b) => b.writeBigUInt64LE(1n << 60n, value_at(b, 'tokenizer.ggml.tokens') + 4))],
    ['an unknown tokenizer', patched((b) => b.write('lxama', value_at(b, 'tokenizer.ggml.model') + 8))],
    ['no vocabulary', renamed('tokenizer.ggml.tokens', 'tokenizer.ggml.tokexx')],
    ['a tensor of 99 dimensions', tensor('output_norm.weight', (bytes, at) => bytes.writeUInt32LE(99, at))],
    ['a tensor of 2^62 elements', tensor('output_norm.weight', (b, at) => b.writeBigUInt64LE(1n << 62n, at + 4))],
    ['a tensor without elements', tensor('output_norm.weight', (b, at) => b.writeBigUInt64LE(0n, at + 4))],
    ['an unknown type of tensor', tensor('output_norm.weight', (bytes, at) => bytes.writeUInt32LE(999, at + 12))],
    ['a tensor beyond the end', tensor('output_norm.weight', (b, at) => b.writeBigUInt64LE(1n << 50n, at + 16))],
    ['a missing tensor', renamed('blk.1.attn_q.weight', 'blk.1.attn_x.weight')],
    ['weights that are no numbers', patched((bytes) => bytes.fill(0xff, data_begin, data_begin + 4096))],
  ];
}
