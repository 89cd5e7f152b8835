# SPDX-License-Identifier: Apache-2.0
"""What the helper costs the training thread beyond PyTorch's own profiler, within one run.

cost.py PAIRS: recordings with torch.profiler and a handler that does nothing alternate with those
of stepscope.torch.profile, with the same schedule (the helper's own) and flags; each goes on for
AFTER steps, beside the process that writes. Prints JSON with a row per step: CPU time of the
training thread, wall time, page faults, and, exactly, the CPU time of the helper's own code: that
of its step() without that of PyTorch's, and of its handler.
"""

import json
import resource
import sys
import time

import torch
from stepscope.torch import profile

SCHEDULE = {"wait": 10, "warmup": 3}
ACTIVE = 5
AFTER = 6
BATCH = 640


class Clock:
    """The CPU time that a function takes in the training thread."""

    def __init__(self, function):
        self.function = function
        self.total = 0.0

    def __call__(self, *args):
        begin = time.thread_time()
        result = self.function(*args)
        self.total += time.thread_time() - begin
        return result


def faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        *[layer for _ in range(8) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU())]
    )
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001)
    numbers = torch.randn(BATCH, 512)

    def train(prof, own):
        rows = []
        for _ in range(sum(SCHEDULE.values()) + ACTIVE + AFTER):
            cpu, wall, fault, before = time.thread_time(), time.perf_counter(), faults(), own()
            loss = network(numbers).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            prof.step()
            times = (time.thread_time() - cpu, time.perf_counter() - wall)
            rows.append((*times, faults() - fault, own() - before))
        return rows

    def ours():
        with profile("/mnt/out/cost", steps=ACTIVE, verdict=False, **SCHEDULE) as prof:
            inner, outer = prof._profiler, Clock(prof.step)
            handler = inner.on_trace_ready = Clock(inner.on_trace_ready)
            step = inner.step = Clock(inner.step)
            prof.step = outer
            return train(prof, lambda: outer.total - step.total + handler.total)

    def plain():
        with torch.profiler.profile(
            schedule=torch.profiler.schedule(active=ACTIVE, repeat=1, **SCHEDULE),
            record_shapes=True,
            with_stack=True,
            on_trace_ready=lambda prof: None,
        ) as prof:
            return train(prof, lambda: 0.0)

    plain()  # starts the profiler up
    rows = [{"plain": plain(), "ours": ours()} for _ in range(int(sys.argv[1]))]
    with open("/proc/self/status") as status:
        host = [int(line.split()[1]) for line in status if line.startswith("RssAnon")]
    print(json.dumps({"rows": rows, "host_kb": host[0]}))


main()
