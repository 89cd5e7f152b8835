# SPDX-License-Identifier: Apache-2.0
"""One rank of one fault: measures the loops with and without it, then records both.

    rank.py probe                           prints versions and devices as JSON
    rank.py run FAULT FOLDER DEVICE STEPS   RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT are set

FOLDER gets fault/rank<N>.pt.trace.json.gz, twin/..., and measured.json: milliseconds per step of
each round, of the slowest rank. What fails is written to error<N>.txt.
"""
import gc
import json
import os
import pathlib
import platform
import sys
import time

import torch
from torch import distributed
from torch.profiler import ProfilerActivity, profile, schedule

WARM_STEPS = 5
ROUNDS = 8  # each of --steps steps with the fault and as many without
LOOPS = {"fault": True, "twin": False}


def probe():
    """Versions and devices. A build without CUDA has none of the functions that are asked."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_nccl = gpus and distributed.is_available() and distributed.is_nccl_available()
    return {
        "torch": torch.__version__, "python": platform.python_version(),
        "system": platform.system(), "machine": platform.machine(),
        "cuda": torch.version.cuda, "hip": torch.version.hip,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if has_nccl else None,
        "gpus": [torch.cuda.get_device_name(index) for index in range(gpus)],
        "capabilities": [list(torch.cuda.get_device_capability(index)) for index in range(gpus)],
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
    }


def wait_for(job):
    if job.on_gpu:
        torch.cuda.synchronize(job.device)
    if job.world > 1:
        distributed.barrier()


def free(job):
    gc.collect()
    if job.on_gpu:
        torch.cuda.empty_cache()


def timed_round(job, step, steps):
    """Milliseconds per step. The GPU is waited for once: steps queue up as in training."""
    wait_for(job)
    start = time.perf_counter()
    for _ in range(steps):
        step()
    if job.on_gpu:
        torch.cuda.synchronize(job.device)
    return (time.perf_counter() - start) * 1e3 / steps


def measure(job, make, steps):
    """Rounds with and without the fault by turns; each goes first in every second round."""
    loops = {name: make(job, bad) for name, bad in LOOPS.items()}
    for step in loops.values():
        for _ in range(WARM_STEPS):
            step()
    rounds = {name: [] for name in LOOPS}
    for number in range(ROUNDS):
        for name in sorted(LOOPS, reverse=number % 2 == 1):
            rounds[name].append(timed_round(job, loops[name], steps))
    if job.world == 1:
        return rounds
    ranks = [None] * job.world
    distributed.all_gather_object(ranks, rounds)
    return {name: [max(times) for times in zip(*(rank[name] for rank in ranks))]
            for name in LOOPS}


def record(job, step, steps, path):
    """With the flags that docs/recording.md recommends."""
    for _ in range(WARM_STEPS):
        step()
    wait_for(job)
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * job.on_gpu
    with profile(activities=activities, record_shapes=True, with_stack=True,
                 schedule=schedule(wait=1, warmup=2, active=steps, repeat=1),
                 on_trace_ready=lambda made: made.export_chrome_trace(str(path))) as profiler:
        for _ in range(3 + steps):
            step()
            profiler.step()
    wait_for(job)


def run(name, folder, device, steps):
    import faults  # needs torch.distributed, which probe() does not
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    on_gpu = device == "cuda"
    if on_gpu:
        torch.cuda.set_device(rank)
        torch.set_float32_matmul_precision("high")
    else:
        torch.set_num_threads(1)
    if world > 1:
        distributed.init_process_group("nccl" if on_gpu else "gloo")
    job = faults.Job(torch.device(device, rank) if on_gpu else torch.device(device), rank, world)
    make = getattr(faults, name)
    torch.manual_seed(0)
    measured = measure(job, make, steps)
    free(job)
    for loop, bad in LOOPS.items():
        (folder / loop).mkdir(exist_ok=True)
        record(job, make(job, bad), steps, folder / loop / f"rank{rank}.pt.trace.json.gz")
        free(job)
    if rank == 0:
        (folder / "measured.json").write_text(json.dumps(measured))
    if world > 1:
        distributed.destroy_process_group()


def main():
    if sys.argv[1] == "probe":
        print(json.dumps(probe()))
        return 0
    name, folder, device, steps = sys.argv[2:]
    try:
        run(name, pathlib.Path(folder), device, int(steps))
    except Exception as error:
        kind = "" if type(error).__name__ == "Unsupported" else f"{type(error).__name__}: "
        text = kind + (str(error).strip().splitlines() or [""])[0]
        (pathlib.Path(folder) / f"error{os.environ['RANK']}.txt").write_text(text)
        sys.stderr.write(text + "\n")
        os._exit(1)  # without waiting for the other ranks
    return 0


if __name__ == "__main__":
    sys.exit(main())
