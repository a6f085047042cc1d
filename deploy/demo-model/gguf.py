"""Writes a llama-architecture GGUF file (version 3), matrices as Q8_0. ggml's docs/gguf.md describes the format."""
import struct

import numpy as np

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # enum gguf_type
TENSOR_F32, TENSOR_Q8_0 = 0, 8                          # enum ggml_type
FILE_TYPE_Q8_0 = 7                                      # enum llama_ftype
ALIGNMENT = 32


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(kind, item):
    if kind == STRING:
        return string(item)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], item)


def pair(key, kind, item):
    if isinstance(item, list):
        body = struct.pack("<IQ", kind, len(item)) + b"".join(value(kind, each) for each in item)
        return string(key) + struct.pack("<I", ARRAY) + body
    return string(key) + struct.pack("<I", kind) + value(kind, item)


def q8_0(matrix):
    """Blocks of 32 along a row: a half-precision scale and 32 signed bytes."""
    blocks = matrix.reshape(-1, 32)
    scale = np.abs(blocks).max(1, keepdims=True) / 127
    whole = np.rint(blocks / np.where(scale == 0, 1, scale)).astype(np.int8)
    return np.concatenate((scale.astype("<f2").view(np.int8).reshape(-1, 2), whole), 1).tobytes()


def write(path, shape, tokenizer, special, tensors, about):
    """`tensors`: name to float32 array, as torch names and lays them out. `special`: key's middle to token id. `about`:
    name, license, template."""
    pairs = [
        ("general.architecture", STRING, "llama"), ("general.name", STRING, about["name"]),
        ("general.license", STRING, about["license"]), ("general.file_type", U32, FILE_TYPE_Q8_0),
        ("general.quantization_version", U32, 2), ("llama.vocab_size", U32, shape.vocabulary),
        ("llama.context_length", U32, shape.context), ("llama.embedding_length", U32, shape.dim),
        ("llama.block_count", U32, shape.layers), ("llama.feed_forward_length", U32, shape.feed_forward),
        ("llama.attention.head_count", U32, shape.heads), ("llama.attention.head_count_kv", U32, shape.kv_heads),
        ("llama.attention.layer_norm_rms_epsilon", F32, shape.epsilon),
        ("llama.rope.dimension_count", U32, shape.dim // shape.heads), ("llama.rope.freq_base", F32, shape.rope_base),
        ("tokenizer.ggml.model", STRING, "llama"), ("tokenizer.ggml.tokens", STRING, tokenizer.tokens),
        ("tokenizer.ggml.scores", F32, tokenizer.scores), ("tokenizer.ggml.token_type", I32, tokenizer.types),
        ("tokenizer.ggml.add_bos_token", BOOL, False), ("tokenizer.ggml.add_eos_token", BOOL, False),
        ("tokenizer.ggml.add_space_prefix", BOOL, False), ("tokenizer.chat_template", STRING, about["template"]),
    ] + [(f"tokenizer.ggml.{name}_token_id", U32, token) for name, token in special.items()]
    infos, data = b"", b""
    for name, array in tensors.items():
        kind, raw = (TENSOR_Q8_0, q8_0(array)) if array.ndim == 2 else (TENSOR_F32, array.astype("<f4").tobytes())
        sizes = array.shape[::-1]
        infos += string(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, len(data))
        data += raw + bytes(-len(raw) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pair(*each) for each in pairs) + infos
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT) + data)
