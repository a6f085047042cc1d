"""The llama architecture as llama.cpp evaluates it (RMS norm, rotary positions on neighbouring pairs, grouped-query
attention, gated feed-forward, one matrix for tokens in and out), for training on a CPU."""
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Shape:
    vocabulary: int
    context: int
    dim: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    feed_forward: int = 256  # a multiple of 32: the width of a quantised block
    epsilon: float = 1e-5
    rope_base: float = 10000.0


class Norm(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.dim))
        self.epsilon = shape.epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def matrix(inputs, outputs):
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=inputs ** -0.5)
    return layer


def rotate(x, turn):
    """x: batch, heads, length, size; turn: (cosines, sines) of batch, 1, length, size / 2."""
    cos, sin = turn
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape, size = shape, shape.dim // shape.heads
        self.attn_norm, self.ffn_norm = Norm(shape), Norm(shape)
        self.attn_q, self.attn_output = matrix(shape.dim, shape.dim), matrix(shape.dim, shape.dim)
        self.attn_k, self.attn_v = (matrix(shape.dim, size * shape.kv_heads) for _ in range(2))
        self.ffn_gate, self.ffn_up = (matrix(shape.dim, shape.feed_forward) for _ in range(2))
        self.ffn_down = matrix(shape.feed_forward, shape.dim)
        for last in (self.attn_output, self.ffn_down):
            last.weight.data *= (2 * shape.layers) ** -0.5

    def forward(self, x, turn, mask):
        batch, length, _ = x.shape
        size = self.shape.dim // self.shape.heads

        def heads(y):
            return y.view(batch, length, -1, size).transpose(1, 2)

        h = self.attn_norm(x)
        q, k, v = rotate(heads(self.attn_q(h)), turn), rotate(heads(self.attn_k(h)), turn), heads(self.attn_v(h))
        share = self.shape.heads // self.shape.kv_heads
        k, v = (y.repeat_interleave(share, 1).flatten(0, 1) for y in (k, v))
        weights = F.softmax(torch.baddbmm(mask, q.flatten(0, 1) / math.sqrt(size), k.transpose(-1, -2)), -1)
        together = torch.bmm(weights, v).view(batch, -1, length, size)
        x = x + self.attn_output(together.transpose(1, 2).reshape(batch, length, -1))
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Net(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocabulary, shape.dim)
        nn.init.normal_(self.token_embd.weight, std=shape.dim ** -0.5)
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = Norm(shape)

    def forward(self, tokens, positions, wanted):
        """Logits of the places where the bool tensor `wanted` is set. Padding is to stand on the right."""
        size, length = self.shape.dim // self.shape.heads, tokens.shape[1]
        speed = self.shape.rope_base ** (-torch.arange(0, size, 2) / size)
        angle = (positions.unsqueeze(-1) * speed).unsqueeze(1)
        mask = torch.full((length, length), -math.inf).triu(1)
        x = self.token_embd(tokens)
        for block in self.blk:
            x = block(x, (angle.cos(), angle.sin()), mask)
        return self.output_norm(x[wanted]) @ self.token_embd.weight.t()
