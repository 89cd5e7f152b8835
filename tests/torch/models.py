# SPDX-License-Identifier: Apache-2.0
"""Small models and data of the recorded faults: text, images, vectors, sequences."""
import re
import unicodedata
import zlib

import numpy
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset

WORDS = 512
TOKENS = 64
WIDTH = 128
IMAGE = 32
STORED_IMAGE = 112
CLASSES = 10
VOCABULARY = {f"word{i}": i for i in range(WORDS)}
PATTERN = re.compile(r"\w+|[^\w\s]")


class Block(nn.Module):
    """Attention and a feed-forward part, as in GPT-2."""

    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.norm_1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm_1(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attention = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attention.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class Gpt(nn.Module):
    def __init__(self, layers=2, width=WIDTH, words=WORDS):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.zeros(TOKENS, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.embedding(ids) + self.position[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Cnn(nn.Module):
    def __init__(self, channels=(3, 24, 48, 64)):
        super().__init__()
        layers = []
        for before, after in zip(channels, channels[1:]):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
                       nn.MaxPool2d(2)]
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(channels[-1] * (IMAGE // 8) ** 2, CLASSES)

    def forward(self, images):
        return self.head(self.features(images).flatten(1))


class Mlp(nn.Module):
    def __init__(self, layers=4, width=256):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.head(x)


class Lstm(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, WORDS)

    def forward(self, ids):
        return self.head(self.lstm(self.embedding(ids))[0])


def tokenize_text(text):
    """Splits a whole document into words and looks up each; keeps the first TOKENS + 1."""
    text = unicodedata.normalize("NFKC", text).lower()
    ids = [VOCABULARY[word] for word in PATTERN.findall(text)]
    return ids[:TOKENS + 1]


def documents(count, words):
    """Texts of so many words, always the same."""
    random = numpy.random.default_rng(1)
    names = list(VOCABULARY)
    return [" ".join(names[i].title() for i in random.integers(0, WORDS, words))
            for _ in range(count)]


class Texts(Dataset):
    """Documents as text, or as ids where the tokenizer ran beforehand."""

    def __init__(self, words, tokenized):
        texts = documents(64, words)
        self.rows = [tokenize_text(text) for text in texts] if tokenized else texts

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        return self.rows[index % len(self.rows)]


def decode_image(stored):
    """Unpacks a stored image: 8-bit pixels to floats between -1 and 1."""
    pixels = numpy.frombuffer(zlib.decompress(stored), numpy.uint8)
    return pixels.reshape(3, STORED_IMAGE, STORED_IMAGE).astype(numpy.float32) / 127.5 - 1


def augment_image(image, random):
    """Noise, a blur, a random crop, at times mirrored."""
    image = image + random.normal(0, 0.05, image.shape).astype(numpy.float32)
    image = (image + numpy.roll(image, 1, 1) + numpy.roll(image, 1, 2)) / 3
    top, left = random.integers(0, STORED_IMAGE - IMAGE, 2)
    image = image[:, top:top + IMAGE, left:left + IMAGE]
    return numpy.ascontiguousarray(image[:, :, ::-1] if random.random() < 0.5 else image)


class Images(Dataset):
    """Compressed images, decoded and augmented when asked for, or beforehand."""

    def __init__(self, prepared):
        self.random = numpy.random.default_rng(1)
        size = (3, STORED_IMAGE, STORED_IMAGE)
        self.stored = [zlib.compress(self.random.integers(0, 64, size, numpy.uint8).tobytes(), 1)
                       for _ in range(64)]
        self.rows = [self.make(i) for i in range(64)] if prepared else None

    def make(self, index):
        return torch.from_numpy(augment_image(decode_image(self.stored[index]), self.random))

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        index %= 64
        image = self.rows[index] if self.rows else self.make(index)
        return image, index % CLASSES


class Vectors(Dataset):
    def __init__(self, count, width=256):
        self.rows = torch.randn(64, width)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.rows[index % 64], index % CLASSES


def text_batch(batch):
    ids = torch.randint(0, WORDS, (batch, TOKENS + 1))
    return ids[:, :-1], ids[:, 1:]


def image_batch(batch):
    return torch.randn(batch, 3, IMAGE, IMAGE), torch.randint(0, CLASSES, (batch,))


def vector_batch(batch, width=256):
    return torch.randn(batch, width), torch.randint(0, CLASSES, (batch,))


def token_loss(logits, ids):
    return F.cross_entropy(logits.flatten(0, 1), ids.flatten())
