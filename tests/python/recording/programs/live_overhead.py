# SPDX-License-Identifier: Apache-2.0
"""What live numbers cost the training thread: four ranks with gloo, by turns.

live_overhead.py ROUNDS: in each round the same steps of about 20 ms run without anything, with
live(), and with live() and a recording of three steps. Prints a line of JSON per rank: for each
turn the CPU time of the training thread and the wall time of every step, in ms.
"""

import json
import os
import sys
import time

import torch
import torch._dynamo  # noqa: F401 - before the fork, once for all
import training

OUT = "/mnt/out"
WORLD = 4
STEP_S, STEPS, AHEAD = 0.016, 200, 150
NAMES = ("none", "live", "recorded")


def train(network, optimizer, steps):
    numbers, labels = torch.randn(8, 32), torch.arange(8)
    times = []
    for _ in range(steps):
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        time.sleep(STEP_S)
        loss = torch.nn.functional.cross_entropy(network(numbers), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append([(time.thread_time_ns() - cpu) / 1e6, (time.perf_counter_ns() - wall) / 1e6])
    return times


def turn(rank, name, folder, network, optimizer):
    import torch.distributed as dist
    from stepscope.torch import _asked, live

    recorder = None
    if name != "none":
        recorder = live(folder, record=name == "recorded", between_s=0, per_day=0)
    dist.barrier()
    time.sleep(0.1)  # the thread has looked for requests for the first time
    if name == "recorded" and rank == 0:
        _asked.ask(folder, AHEAD, 3, "measured")
    times = train(network, optimizer, STEPS)
    if recorder is not None:
        recorder.stop()
    dist.barrier()
    return times


def work(rank, rounds):
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    network = torch.nn.parallel.DistributedDataParallel(training.model())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    train(network, optimizer, 20)
    rows = []
    for number in range(-1, rounds):  # the first round starts PyTorch's profiler up
        first = number % len(NAMES)
        row = {}
        for name in NAMES[first:] + NAMES[:first]:
            row[name] = turn(rank, name, f"{OUT}/{name}{number}", network, optimizer)
        if number >= 0:
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
