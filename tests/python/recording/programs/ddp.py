# SPDX-License-Identifier: Apache-2.0
"""Four ranks with DistributedDataParallel: ddp.py PLANT HELPER, with PLANT none, rank or input.

Each rank prints a line of JSON with the digest of its losses; rank 0 also prints the verdict.
"""

import hashlib
import json
import os
import sys
import time

import torch
import torch._dynamo  # noqa: F401 - before the fork, once for all
import training

WORLD = 4
SLOW_RANK = 2
SLOW_S = 0.15
STEPS = 16


def prepare_extra_labels():
    time.sleep(SLOW_S)


def read_from_slow_disk():
    time.sleep(SLOW_S / 8)


def work(rank, plant, is_recorded):
    import torch.distributed as dist
    from stepscope.torch import profile

    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    network = torch.nn.parallel.DistributedDataParallel(training.model())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    data = training.Numbers(8 * STEPS * WORLD, read_from_slow_disk if plant == "input" else None)
    sampler = torch.utils.data.DistributedSampler(data, WORLD, rank, shuffle=False)
    loader = torch.utils.data.DataLoader(data, batch_size=8, sampler=sampler)
    digest = hashlib.sha256()
    with profile("/mnt/out/traces", wait=6, warmup=2, steps=5, enabled=is_recorded) as prof:
        for numbers, labels in loader:
            if plant == "rank" and rank == SLOW_RANK:
                prepare_extra_labels()
            loss = torch.nn.functional.cross_entropy(network(numbers), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            digest.update(loss.detach().numpy().tobytes())
            prof.step()
    for parameter in network.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    print(json.dumps({"rank": rank, "digest": digest.hexdigest()}), flush=True)
    dist.destroy_process_group()


def main():
    plant, helper = sys.argv[1:]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000))
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(rank, plant, helper == "on")
                code = 0
            finally:
                sys.stdout.flush()
                os._exit(code)
        children.append(child)
    sys.exit(any([os.waitpid(child, 0)[1] for child in children]))


main()
