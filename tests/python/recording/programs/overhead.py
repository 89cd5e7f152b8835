# SPDX-License-Identifier: Apache-2.0
"""What recording costs the training thread: four ranks with gloo, by turns.

overhead.py ROUNDS: in each round the same 30 steps run without a profiler, with torch.profiler
whose handler does nothing, with its TensorBoard handler (plain and gzip), and with
stepscope.torch.profile; flags and schedule are the same. Each round begins with another of them.
Prints a line of JSON per rank: for each turn the CPU time of the training thread and the wall time
of every step, in ms.
"""

import gc
import json
import os
import sys
import time

import torch
import torch._dynamo  # noqa: F401 - before the fork, once for all

OUT = "/mnt/out"
WORLD = 4
SCHEDULE = {"wait": 10, "warmup": 3}
ACTIVE, AFTER = 5, 12
FLAGS = {"record_shapes": True, "with_stack": True}
LAYERS, WIDTH, BATCH = 24, 192, 64


class Nothing:
    """No profiler."""

    def __enter__(self):
        return self

    def __exit__(self, *about):
        pass

    def step(self):
        pass


def bare(on_trace_ready):
    return torch.profiler.profile(
        schedule=torch.profiler.schedule(active=ACTIVE, repeat=1, **SCHEDULE),
        on_trace_ready=on_trace_ready,
        **FLAGS,
    )


def tensorboard(folder, use_gzip):
    return bare(torch.profiler.tensorboard_trace_handler(folder, use_gzip=use_gzip))


def ours(folder):
    from stepscope.torch import profile

    return profile(folder, steps=ACTIVE, verdict=False, **SCHEDULE)


TURNS = {
    "none": lambda folder: Nothing(),
    "bare": lambda folder: bare(lambda prof: None),
    "tensorboard": lambda folder: tensorboard(folder, False),
    "tensorboard_gzip": lambda folder: tensorboard(folder, True),
    "ours": ours,
}


def work(rank, rounds):
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    nn = torch.nn
    layers = [part for _ in range(LAYERS)
              for part in (nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU())]
    network = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.001, foreach=False)
    numbers = torch.randn(BATCH, WIDTH)

    def train(prof):
        steps = []
        with prof:
            for _ in range(sum(SCHEDULE.values()) + ACTIVE + AFTER):
                cpu, wall = time.thread_time(), time.perf_counter()
                optimizer.zero_grad()
                network(numbers).square().mean().backward()
                optimizer.step()
                prof.step()
                steps.append([1e3 * (time.thread_time() - cpu),
                              1e3 * (time.perf_counter() - wall)])
        return steps

    train(TURNS["bare"](""))  # starts PyTorch's profiler up
    rows = []
    names = list(TURNS)
    for number in range(rounds):
        first = number % len(names)
        row = {}
        for name in names[first:] + names[:first]:
            folder = f"{OUT}/{name}"
            dist.barrier()
            row[name] = train(TURNS[name](folder))
            gc.collect()
        rows.append(row)
    print(json.dumps({"rank": rank, "rows": rows}), flush=True)
    dist.destroy_process_group()


def main():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000))
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            work(rank, int(sys.argv[1]))
            sys.exit(0)
        children.append(child)
    sys.exit(any([os.waitpid(child, 0)[1] for child in children]))


main()
