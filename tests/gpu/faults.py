# SPDX-License-Identifier: Apache-2.0
"""Twelve training loops with one fault each, and the same loops without it.

Each function NAME(job, bad) returns a function that runs one step; bad=True plants the fault.
The list of them, with the function in which each fault stands, is FAULTS in catalog.py.
"""
import bisect
import copy
import itertools
import random

import numpy
import torch
from torch import distributed
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, Sampler

import models


class Unsupported(Exception):
    """This machine cannot show the fault; the text says why."""


class Job:
    """The device and the ranks that a loop runs on."""

    def __init__(self, device, rank, world):
        self.device, self.rank, self.world = device, rank, world
        self.on_gpu = device.type == "cuda"
        self.size = models.GPU if self.on_gpu else models.CPU

    def choose(self, gpu, cpu):
        return gpu if self.on_gpu else cpu

    def batch(self):
        size = self.size
        ids = torch.randint(size.vocabulary, (size.batch, size.length + 1), device=self.device)
        return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()

    def spread(self, model):
        model = model.to(self.device)
        if self.world == 1:
            return model
        return DDP(model, device_ids=[self.device.index] if self.on_gpu else None)


def token_loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Training:
    """A model, its optimizer and one step."""

    def __init__(self, job, after_block=None, optimizer=None):
        self.module = models.Gpt(job.size, after_block)
        self.model = job.spread(self.module)
        self.ids, self.targets = job.batch()
        make = optimizer or (lambda parameters: torch.optim.SGD(parameters, 0.01))
        self.optimizer = make(list(self.model.parameters()))

    def train_step(self, ids=None, targets=None):
        self.optimizer.zero_grad()
        logits = self.model(self.ids if ids is None else ids)
        loss = token_loss(logits, self.targets if targets is None else targets)
        loss.backward()
        self.optimizer.step()
        return logits.detach()


# ---- the host waits for the GPU


def limit_outliers(x):
    """Reads statistics of parts of every row back, to decide in Python."""
    for row in x.detach():
        for part in row.chunk(8, -1):
            limit = part.mean().item() + 100 * part.std().item()
            if part.abs().max().item() > limit:
                x = x.clamp(-limit, limit)
    return x


def clamp_outliers(x):
    return x.clamp(-1e4, 1e4)


def item_each_layer(job, bad):
    training = Training(job, limit_outliers if bad else clamp_outliers)
    return lambda: training.train_step()


def count_errors(logits, targets, classes):
    """Hits, misses and false alarms of every class, counted on the host."""
    guesses, truth = logits.cpu().numpy().argmax(-1), targets.cpu().numpy()
    counts = numpy.zeros((classes, 3), numpy.int64)
    for index in range(classes):
        guessed, true = guesses == index, truth == index
        hits = (guessed & true).sum()
        counts[index] = hits, true.sum() - hits, guessed.sum() - hits
    return counts


def count_errors_on_device(logits, targets, classes):
    guesses, truth = logits.argmax(-1).flatten(), targets.flatten()
    counts = torch.zeros(3, logits.shape[-1], dtype=torch.int64, device=logits.device)
    hit = (guesses == truth).long()
    counts[0].scatter_add_(0, truth, hit)
    counts[1].scatter_add_(0, truth, 1 - hit)
    counts[2].scatter_add_(0, guesses, 1 - hit)
    return counts[:, :classes]


def host_metrics(job, bad):
    training = Training(job)
    total = [0]
    count = count_errors if bad else count_errors_on_device

    def step():
        total[0] = total[0] + count(training.train_step(), training.targets, job.choose(1024, 512))
    return step


# ---- input


def move_batch(features, device):
    return features.to(device, torch.float32)


def move_pinned(features, device):
    return features.to(device, torch.float32, non_blocking=True)


def pageable_copies(job, bad):
    """On a GPU: a batch in pageable memory, or in pinned memory. On a CPU: a batch that is
    converted in each step, or before training."""
    training = Training(job)
    kind = torch.float64 if bad and not job.on_gpu else torch.float32
    features = torch.randn(job.choose(64 << 20, 4 << 20), dtype=kind)
    if job.on_gpu and not bad:
        features = features.pin_memory()
    move = move_batch if bad else move_pinned

    def step():
        training.train_step()
        return move(features, job.device).mean()
    return step


class WeightedSampler(Sampler):
    """Draws rows by weight. The fault: it sums the weights for every row."""

    def __init__(self, weights, bad):
        self.weights = weights
        self.sums = None if bad else list(itertools.accumulate(weights))

    def draw_index(self):
        sums = self.sums or list(itertools.accumulate(self.weights))
        return bisect.bisect(sums, random.random() * sums[-1])

    def __iter__(self):
        while True:
            yield self.draw_index()


class Rows(Dataset):
    def __init__(self, size, count):
        self.size, self.count = size, count
        self.rows = torch.randint(size.vocabulary, (64, size.length + 1))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.rows[index % len(self.rows)]


def slow_sampler(job, bad):
    training = Training(job)
    rows = Rows(job.size, job.choose(100_000, 20_000))
    sampler = WeightedSampler([1 + index % 7 for index in range(len(rows))], bad)
    batches = iter(DataLoader(rows, job.size.batch, sampler=sampler))

    def step():
        ids = next(batches).to(job.device)
        training.train_step(ids[:, :-1], ids[:, 1:])
    return step


# ---- chores of every step


def update_averages(averages, module):
    for decay, average in averages.items():
        for name, value in module.state_dict().items():
            average[name] = average[name] * decay + value * (1 - decay)


def update_at_once(averages, module):
    values = list(module.state_dict().values())
    for decay, average in averages.items():
        torch._foreach_lerp_(list(average.values()), values, 1 - decay)


def ema_loop(job, bad):
    training = Training(job)
    averages = {decay: {name: value.clone() for name, value in training.module.state_dict().items()}
                for decay in (0.9, 0.99, 0.999, 0.9999)}
    update = update_averages if bad else update_at_once

    def step():
        training.train_step()
        update(averages, training.module)
    return step


class HandmadeAdam:
    """Adam as in the paper, an operator for each term and parameter."""

    def __init__(self, parameters):
        self.parameters = parameters
        self.first = [torch.zeros_like(parameter) for parameter in parameters]
        self.second = [torch.zeros_like(parameter) for parameter in parameters]
        self.count = 0

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self):
        self.count += 1
        for parameter, first, second in zip(self.parameters, self.first, self.second):
            self.apply_update(parameter, parameter.grad, first, second)

    def apply_update(self, parameter, gradient, first, second):
        first.copy_(0.9 * first + 0.1 * gradient)
        second.copy_(0.999 * second + 0.001 * gradient * gradient)
        corrected = first / (1 - 0.9 ** self.count)
        spread = torch.sqrt(second / (1 - 0.999 ** self.count)) + 1e-8
        parameter.sub_(1e-4 * corrected / spread + 1e-6 * parameter)


def unfused_optimizer(job, bad):
    def fused(parameters):
        return torch.optim.AdamW(parameters, 1e-4, fused=True)
    training = Training(job, optimizer=HandmadeAdam if bad else fused)
    return lambda: training.train_step()


def keep_state(kept, training):
    kept["model"] = copy.deepcopy(training.module.state_dict())
    kept["optimizer"] = copy.deepcopy(training.optimizer.state_dict())


def deepcopy_state(job, bad):
    training = Training(job, optimizer=lambda all_: torch.optim.Adam(all_, 1e-4, foreach=True))
    kept = {}
    steps = itertools.count()

    def step():
        training.train_step()
        if bad or next(steps) % 1000 == 0:
            keep_state(kept, training)
    return step


def push_rows(queue, rows):
    """The newest rows of all, as a copy of the whole queue."""
    return torch.cat([queue, rows])[-len(queue):].clone()


def cat_queue(job, bad):
    training = Training(job)
    rows = torch.randn(64, 256, device=job.device)
    queue = [torch.randn(job.choose(1 << 20, 1 << 13), 256, device=job.device)]
    turn = itertools.count()

    def step():
        training.train_step()
        if bad:
            queue[0] = push_rows(queue[0], rows)
        else:
            start = next(turn) * len(rows) % len(queue[0])
            queue[0][start:start + len(rows)] = rows
    return step


# ---- precision


def run_tower(x, weights):
    for weight in weights:
        x = torch.relu(x @ weight)
    return x


def full_precision(job, bad):
    """On a GPU: float32 without and with TF32. On a CPU: float64 and float32."""
    if job.on_gpu and (torch.version.hip or torch.cuda.get_device_capability(job.device)[0] < 8):
        raise Unsupported("this GPU has no TF32")
    training = Training(job)
    kind = torch.float64 if bad and not job.on_gpu else torch.float32
    width = job.choose(4096, 384)
    weights = [torch.randn(width, width, dtype=kind, device=job.device) / width ** 0.5
               for _ in range(4)]
    x = torch.randn(job.choose(4096, 384), width, dtype=kind, device=job.device)
    precision = torch.get_float32_matmul_precision()

    def step():
        training.train_step()
        torch.set_float32_matmul_precision("highest" if bad else precision)
        with torch.no_grad():
            run_tower(x, weights)
        torch.set_float32_matmul_precision(precision)
    return step


# ---- several ranks


def share_buffers(buffers):
    for buffer in buffers:
        distributed.broadcast(buffer, 0)


def buffer_broadcast(job, bad):
    training = Training(job)
    buffers = [torch.zeros(job.choose(1 << 20, 1 << 14), device=job.device)
               for _ in range(job.choose(64, 24))]

    def step():
        if bad:
            share_buffers(buffers)
        training.train_step()
    return step


def pack_documents(count):
    """Packs texts into rows, one word after the other, in Python."""
    rows = [[]]
    for index in range(count):
        word = f"w{index % 997}"
        if len(rows[-1]) + len(word) > 512:
            rows.append([])
        rows[-1].extend(word)
    return rows


def straggler_rank(job, bad):
    training = Training(job)

    def step():
        if bad and job.rank == job.world - 1:
            pack_documents(job.choose(150_000, 60_000))
        training.train_step()
    return step


def gather_stats(logits, world):
    """What every rank saw, as Python objects."""
    rows = logits.flatten(0, 1)[:512, :32].tolist()
    stats = [None] * world
    distributed.all_gather_object(stats, [{"logits": row, "top": max(row)} for row in rows])
    return max(row["top"] for part in stats for row in part)


def reduce_stats(logits):
    top = logits.flatten(0, 1)[:512, :32].max()
    distributed.all_reduce(top, distributed.ReduceOp.MAX)
    return top


def object_collective(job, bad):
    training = Training(job)

    def step():
        logits = training.train_step()
        return gather_stats(logits, job.world) if bad else reduce_stats(logits)
    return step
