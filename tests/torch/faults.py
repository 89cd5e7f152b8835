# SPDX-License-Identifier: Apache-2.0
"""Training loops with one fault each, and the same loops without it.

Every function marked with @fault(...) makes a model, its data and an optimizer and returns a
function that runs one step. bad=True plants the fault. record.py measures and records them.
"""
import contextlib
import gc
import hashlib
import json
import pathlib
import tempfile
import time
from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers.trainer import Trainer
from transformers.trainer_callback import TrainerCallback

import models

FAULTS = {}
SHAPES = {"record_shapes": True}
STACKS = {"with_stack": True}
PLAIN = {}


@dataclass
class Fault:
    """What was planted. blame: the functions that hold it. sound: the figure that shows its cost;
    CPU time of the busiest rank unless the program sleeps or waits for workers."""

    make: Callable
    planted: str
    fix: str
    rules: list
    blame: list = field(default_factory=list)
    flags: dict = field(default_factory=dict)
    ranks: int = 1
    steps: int = 6
    sound: str = "cpu"


def fault(**about):
    def keep(make):
        FAULTS[make.__name__] = Fault(make, **about)
        return make
    return keep


def trainer(model, batch, loss_of=F.cross_entropy, rate=0.01):
    """A function that trains a model by one step on a batch."""
    optimizer = torch.optim.SGD(model.parameters(), rate)

    def train_step(_index=0):
        features, labels = batch
        optimizer.zero_grad()
        loss = loss_of(model(features), labels)
        loss.backward()
        optimizer.step()
        return loss
    return train_step


# ---- input


def collate_documents(texts):
    ids = torch.tensor([models.tokenize_text(text) for text in texts])
    return ids[:, :-1], ids[:, 1:]


def collate_ids(rows):
    ids = torch.tensor(rows)
    return ids[:, :-1], ids[:, 1:]


@fault(planted="collate_fn tokenizes whole documents in the training process",
       fix="tokenize before training", rules=["input-stall"], flags=STACKS,
       blame=["tokenize_text", "collate_documents"])
def collate_tokenizer(bad, _rank, _world):
    loader = DataLoader(models.Texts(16000, tokenized=not bad), batch_size=8,
                        collate_fn=collate_documents if bad else collate_ids)
    batches = iter(loader)
    model = models.Gpt(layers=1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step(_index):
        ids, targets = next(batches)
        optimizer.zero_grad()
        models.token_loss(model(ids), targets).backward()
        optimizer.step()
    return step


@fault(planted="__getitem__ unpacks and augments each image with numpy, num_workers=0",
       fix="images prepared beforehand", rules=["input-stall"], flags=STACKS,
       blame=["augment_image", "decode_image"])
def decode_in_getitem(bad, _rank, _world):
    batches = iter(DataLoader(models.Images(prepared=not bad), batch_size=12))
    model = models.Cnn()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step(_index):
        images, labels = next(batches)
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return step


@fault(planted="epochs of 3 batches, persistent_workers=False: 2 workers start in every epoch",
       fix="persistent_workers=True", rules=["worker-restart"], sound="wall")
def worker_restart(bad, _rank, _world):
    loader = DataLoader(models.Vectors(3 * 256), batch_size=256, num_workers=2,
                        multiprocessing_context="fork", persistent_workers=not bad)
    model = models.Mlp(layers=4, width=256)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    epoch = []

    def step(_index):
        if not epoch:
            epoch.append(iter(loader))
        try:
            features, labels = next(epoch[0])
        except StopIteration:
            epoch[0] = iter(loader)
            features, labels = next(epoch[0])
        optimizer.zero_grad()
        F.cross_entropy(model(features), labels).backward()
        optimizer.step()
    return step


@fault(planted="each request is tokenized in Python before generate()",
       fix="requests arrive as ids", rules=["input-stall", "all-idle", "unexplained-time"],
       flags=STACKS, blame=["tokenize_text"])
def tokenize_before_generate(bad, _rank, _world):
    model = models.Gpt(layers=1).eval()
    texts = models.documents(4, 40000)
    requests = [models.tokenize_text(text)[:16] for text in texts]

    def generate(ids, count):
        for _ in range(count):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
        return ids

    def answer_request(index):
        ids = models.tokenize_text(texts[index % 4])[:16] if bad else requests[index % 4]
        with torch.no_grad():
            return generate(torch.tensor([ids] * 8), 4)
    return answer_request


# ---- pauses and chores of the host


def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        for images, labels in batches:
            F.cross_entropy(model(images), labels)
    model.train()


@fault(planted="every 3rd step ends with evaluate(): 8 batches of forward under no_grad",
       fix="evaluate once per epoch", rules=["validation-in-loop"], flags=SHAPES)
def validation_in_loop(bad, _rank, _world):
    model = models.Cnn()
    train_step = trainer(model, models.image_batch(16))
    held_out = [models.image_batch(16) for _ in range(8)]

    def step(index):
        train_step()
        if bad and index % 3 == 2:
            evaluate(model, held_out)
    return step


def save_checkpoint(model, folder):
    torch.save(model.state_dict(), pathlib.Path(folder.name) / "checkpoint.pt")


@fault(planted="every 2nd step writes the weights (torch.save, 33 MB) inside train_step",
       fix="save once per epoch", rules=["all-idle", "periodic-pause", "unexplained-time"],
       flags=STACKS, blame=["save_checkpoint"], sound="wall")
def checkpoint_in_step(bad, _rank, _world):
    model = models.Mlp(layers=3, width=512)
    model.register_buffer("averaged_weights", torch.randn(8 << 20))
    train = trainer(model, models.vector_batch(128, 512))
    folder = tempfile.TemporaryDirectory()

    def train_step(index):
        train()
        if bad and index % 2 == 1:
            save_checkpoint(model, folder)
    return train_step


def log_norms(model, loss):
    """Reads norm, maximum and deviation of each gradient back, as a careless logger does."""
    row = {"loss": loss.item()}
    for name, weight in model.named_parameters():
        row[name] = [weight.grad.norm().item(), weight.grad.abs().max().item(),
                     weight.grad.std().item(), torch.histc(weight.grad, 32).tolist()]
    return json.dumps(row)


@fault(planted="log_norms() reads norms and a histogram of every gradient after each step",
       fix="log every 100th step", rules=["all-idle", "sync-stall", "unexplained-time"],
       flags=STACKS, blame=["log_norms"])
def logging_each_step(bad, _rank, _world):
    model = models.Lstm(width=192)
    train_step = trainer(model, models.text_batch(2), models.token_loss)

    def step(_index):
        loss = train_step()
        if bad:
            log_norms(model, loss)
    return step


class FingerprintCallback(TrainerCallback):
    """Keeps a hash of all weights, to notice a run that diverges."""

    def on_step_end(self, step, model=None, **_kwargs):
        digest = hashlib.sha256()
        for weight in model.parameters():
            digest.update(weight.detach().numpy().tobytes())
        self.last = (step, digest.hexdigest())


@fault(planted="a Trainer callback hashes all weights in on_step_end",
       fix="hash every 500th step", rules=["all-idle", "unexplained-time"], flags=STACKS,
       blame=["on_step_end"])
def trainer_callback(bad, _rank, _world):
    model = models.Mlp(layers=6, width=512)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loop = Trainer(model, optimizer, models.vector_batch(24, 512),
                   [FingerprintCallback() if bad else TrainerCallback()])
    return loop.inner_training_step


def free_memory():
    gc.collect()


@fault(planted="gc.collect() after each step", fix="gc.freeze(), no gc.collect() in the loop",
       rules=["garbage-collection", "all-idle"], flags=STACKS, blame=["free_memory"])
def collect_each_step(bad, _rank, _world):
    train_step = trainer(models.Lstm(), models.text_batch(32), models.token_loss)

    def step(_index):
        train_step()
        if bad:
            free_memory()
    return step


def refresh_settings():
    time.sleep(0.06)  # stands for a request to a slow server


@fault(planted="every 3rd step waits 60 ms for settings from a server", fix="ask in a thread",
       rules=["all-idle", "periodic-pause", "unexplained-time"], flags=STACKS,
       blame=["refresh_settings"], sound="wall")
def remote_settings(bad, _rank, _world):
    train_step = trainer(models.Cnn(), models.image_batch(8))

    def step(index):
        train_step()
        if bad and index % 3 == 1:
            refresh_settings()
    return step


# ---- several ranks


@fault(planted="find_unused_parameters=True although all are used",
       fix="find_unused_parameters=False", rules=["unused-parameters"], ranks=2, steps=5)
def find_unused(bad, _rank, _world):
    model = DDP(models.Mlp(layers=12, width=64), find_unused_parameters=bad)
    return trainer(model, models.vector_batch(64, 64))


@fault(planted="4 micro-batches per step, gradients are all-reduced after each",
       fix="model.no_sync() in all but the last", rules=["gradient-sync"],
       flags=SHAPES, ranks=3, steps=4)
def accumulate_synced(bad, _rank, _world):
    model = DDP(models.Mlp(layers=2, width=512))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    batch = models.vector_batch(16, 512)

    def step(_index):
        optimizer.zero_grad()
        for part in range(4):
            with contextlib.nullcontext() if bad or part == 3 else model.no_sync():
                (F.cross_entropy(model(batch[0]), batch[1]) / 4).backward()
        optimizer.step()
    return step


@fault(planted="bucket_cap_mb=0.01: one all-reduce per weight", fix="bucket_cap_mb=25",
       rules=["small-buckets", "exposed-communication"], ranks=2, steps=5)
def small_buckets(bad, _rank, _world):
    model = DDP(models.Mlp(layers=12, width=64), bucket_cap_mb=0.01 if bad else 25)
    return trainer(model, models.vector_batch(64, 64))


def count_words(rounds):
    """Python work of one rank alone: a table of word lengths."""
    total = 0
    for number in range(rounds):
        total += number % 7
    return total


def straggling(bad, rank, slow_rank, rounds):
    model = DDP(models.Cnn())
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    images, labels = models.image_batch(8)

    def step(_index):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        if bad and rank == slow_rank:
            count_words(rounds)
        loss.backward()
        optimizer.step()
    return step


@fault(planted="rank 1 counts words in Python before backward", fix="no such work",
       rules=["straggler"], ranks=2, steps=5, flags=STACKS, blame=["count_words"])
def straggler_python(bad, rank, _world):
    return straggling(bad, rank, 1, 1_000_000)


@fault(planted="rank 2 of 4 counts words in Python before backward", fix="no such work",
       rules=["straggler"], ranks=4, steps=4)
def straggler_python_of_4(bad, rank, _world):
    return straggling(bad, rank, 2, 2_000_000)


@fault(planted="rank 1 has batches of 64 images, ranks 0 and 2 of 8", fix="27, 27, 26 images",
       rules=["straggler", "imbalance"], ranks=3, steps=4, flags=SHAPES)
def straggler_data(bad, rank, _world):
    sizes = (8, 64, 8) if bad else (27, 27, 26)
    return trainer(DDP(models.Cnn()), models.image_batch(sizes[rank]))


@fault(planted="8 threads in each of 2 processes on 2 cores", fix="set_num_threads(1)",
       rules=["oversubscribed-cores"], ranks=2, steps=5)
def oversubscribed_8(bad, _rank, _world):
    train_step = trainer(DDP(models.Cnn()), models.image_batch(16))

    def step(_index):
        torch.set_num_threads(8 if bad else 1)
        train_step()
    return step


# ---- operators


def loss_by_position(logits, ids):
    """One cross_entropy per position, summed in Python."""
    total = 0
    for position in range(ids.shape[1]):
        total = total + F.cross_entropy(logits[:, position], ids[:, position])
    return total / ids.shape[1]


@fault(planted="the loss is computed per position in a Python loop",
       fix="one cross_entropy for all positions", rules=["tiny-operators", "loop-indexing"])
def loop_over_positions(bad, _rank, _world):
    batch = [ids[:, :24] for ids in models.text_batch(4)]
    return trainer(models.Lstm(width=64), batch, loss_by_position if bad else models.token_loss)


class HandmadeAdam:
    """Adam as in a text book: nine operators per weight."""

    def __init__(self, weights):
        self.weights = list(weights)
        self.means = [torch.zeros_like(weight) for weight in self.weights]
        self.squares = [torch.zeros_like(weight) for weight in self.weights]
        self.count = 0

    @torch.no_grad()
    def step(self):
        self.count += 1
        for weight, mean, square in zip(self.weights, self.means, self.squares):
            mean.mul_(0.9).add_(weight.grad, alpha=0.1)
            square.mul_(0.999).addcmul_(weight.grad, weight.grad, value=0.001)
            spread = (square / (1 - 0.999 ** self.count)).sqrt_().add_(1e-8)
            weight.addcdiv_(mean / (1 - 0.9 ** self.count), spread, value=-1e-4)

    def zero_grad(self):
        for weight in self.weights:
            weight.grad = None


@fault(planted="a handmade Adam: nine operators for each of 34 small tensors",
       fix="torch.optim.Adam(fused=True)", rules=["optimizer-not-fused"], flags=SHAPES, steps=4,
       blame=["HandmadeAdam"])
def handmade_optimizer(bad, _rank, _world):
    model = models.Mlp(layers=16, width=64)
    features, labels = models.vector_batch(8, 64)
    if bad:
        optimizer = HandmadeAdam(model.parameters())
    else:
        optimizer = torch.optim.Adam(model.parameters(), 1e-4, fused=True)

    def step(_index):
        optimizer.zero_grad()
        F.cross_entropy(model(features), labels).backward()
        optimizer.step()
    return step


class CheckedGpt(models.Gpt):
    """Looks at the values after each block: each look ends the compiled graph."""

    def forward(self, ids):
        x = self.embedding(ids) + self.position[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
            if x.abs().max().item() > 1e4:
                x = x / 100
        return self.head(self.norm(x))


@fault(planted="torch.compile, and .item() with a branch after each of 3 blocks",
       fix="no such check", rules=["graph-breaks"], flags=STACKS, blame=["forward"], steps=3)
def graph_breaks(bad, _rank, _world):
    model = (CheckedGpt if bad else models.Gpt)(layers=3, width=64)
    return trainer(torch.compile(model), models.text_batch(2), models.token_loss)


class CastingMlp(models.Mlp):
    """Goes to double and back around each layer."""

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x.double().float()).double().float())
        return self.head(x)


@fault(planted="activations are cast to double and back before and after each layer",
       fix="no casts", rules=["extra-copies"], flags=STACKS, blame=["forward"])
def casts_back_and_forth(bad, _rank, _world):
    model = (CastingMlp if bad else models.Mlp)(layers=4, width=256)
    return trainer(model, models.vector_batch(1024))


class Mixer(nn.Module):
    """Layers over (batch, time, width)."""

    def __init__(self, width=64, copies=False):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.copies = copies

    def forward(self, x):
        for layer in self.layers:
            if self.copies:
                x = x.transpose(0, 1).contiguous()
            x = F.relu(layer(x))
            if self.copies:
                x = x.transpose(0, 1).contiguous()
        return x.mean(1)


@fault(planted="each layer transposes and copies its input and output, which it need not",
       fix="no transposes", rules=["extra-copies"], flags=PLAIN)
def needless_contiguous(bad, _rank, _world):
    features = torch.randn(64, 128, 64)
    labels = torch.randint(0, 64, (64,))
    return trainer(Mixer(copies=bad), (features, labels))
