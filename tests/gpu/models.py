# SPDX-License-Identifier: Apache-2.0
"""The model that all faults are planted around, in two sizes: for a GPU and for a CPU."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Size:
    """A step takes about 10 to 200 ms with it, from the newest GPU to a T4, or on a core."""

    layers: int
    width: int
    heads: int
    length: int
    batch: int
    vocabulary: int


GPU = Size(layers=8, width=768, heads=12, length=512, batch=8, vocabulary=8192)
CPU = Size(layers=3, width=64, heads=4, length=32, batch=8, vocabulary=512)


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.heads = size.heads
        self.norm_in, self.norm_out = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.mix = nn.Linear(size.width, 3 * size.width)
        self.join = nn.Linear(size.width, size.width)
        self.up = nn.Linear(size.width, 4 * size.width)
        self.down = nn.Linear(4 * size.width, size.width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.mix(self.norm_in(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.join(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm_out(x))))


class Gpt(nn.Module):
    """after_block: called with what each block returns."""

    def __init__(self, size, after_block=None):
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.places = nn.Parameter(torch.zeros(size.length, size.width))
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm, self.head = nn.LayerNorm(size.width), nn.Linear(size.width, size.vocabulary)
        self.after_block = after_block

    def forward(self, ids):
        x = self.tokens(ids) + self.places
        for block in self.blocks:
            x = block(x)
            if self.after_block:
                x = self.after_block(x)
        return self.head(self.norm(x))
