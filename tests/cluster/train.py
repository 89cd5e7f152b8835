# SPDX-License-Identifier: Apache-2.0
"""A rank of a job, for live.py beside this file: train.py SLOW_AT STEPS. Rank 2 becomes slow."""

import os
import sys
import time

import torch
import torch.distributed as dist
from stepscope.torch import live


def main():
    slow_at, steps = int(sys.argv[1]), int(sys.argv[2])
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    recorder = live("/local/live", shared="/shared/runs/pretrain", traces="/local/live/traces",
                    job="pretrain")  # fmt: skip
    network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 32))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for step in range(1, steps + 1):
        time.sleep(0.12 if rank == 2 and step >= slow_at else 0.02)
        if step == slow_at and rank == 0:
            print("slow", time.time(), flush=True)
        optimizer.zero_grad()
        network(torch.randn(8, 32)).square().mean().backward()
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()
    recorder.stop()
    time.sleep(3)  # the helper processes complete their files
    os._exit(0)


main()
