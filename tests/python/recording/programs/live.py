# SPDX-License-Identifier: Apache-2.0
"""Four ranks with live numbers: live.py SLOW_AT STEPS HURRY. From step SLOW_AT on rank 2 is slow.

HURRY divides the times that the recorder takes to be sure. Rank 0 prints a line of JSON: the
seconds from the first slow step to the request, and the request.
"""

import json
import os
import sys
import time

import torch
import torch._dynamo  # noqa: F401 - before the fork, once for all
import training

WORLD = 4
OUT = "/mnt/out/live"
STEP_S, SLOW_S = 0.01, 0.1


def request():
    try:
        with open(f"{OUT}/.request.json", encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        return {}


def work(rank, slow_at, steps, hurry):
    import torch.distributed as dist
    from stepscope.torch import _detect, _live, live

    _detect.SURE_S /= hurry
    _live.AHEAD_S /= hurry
    _live._BASELINE_STEP = int(500 / hurry)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    network = torch.nn.parallel.DistributedDataParallel(training.model())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    numbers, labels = torch.randn(8, 32), torch.arange(8)
    recorder = live(OUT, job="test", between_s=0)
    began = asked_after = 0.0
    for step in range(1, steps + 1):
        time.sleep(STEP_S)
        if step >= slow_at and rank == 2:
            time.sleep(SLOW_S)
        if step == slow_at:
            began = time.monotonic()
        loss = torch.nn.functional.cross_entropy(network(numbers), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and began and not asked_after and step % 20 == 0:
            if request().get("why", "baseline") != "baseline":
                asked_after = time.monotonic() - began
    recorder.stop()
    if rank == 0:
        print(json.dumps({"asked_after_s": asked_after, "request": request()}), flush=True)
    dist.destroy_process_group()


def main():
    slow_at, steps, hurry = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000))
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(rank, slow_at, steps, hurry)
                code = 0
            finally:
                sys.stdout.flush()
                # the helper processes complete their files
                time.sleep(3)
                os._exit(code)
        children.append(child)
    sys.exit(any([os.waitpid(child, 0)[1] for child in children]))


main()
