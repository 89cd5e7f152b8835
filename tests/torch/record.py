#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures and records the faults of faults.py.

    record.py OUT [FAULT ...] [--tries N] [--only measure|profile|index]

For each fault: first its loops with and without the fault run in turn, without a profiler, and
OUT/FAULT.{bad,fixed}.measured.json get wall and CPU time per step; then each is profiled, and
OUT/FAULT/rank<N>.pt.trace.json.gz and OUT/FAULT_fixed/... are written. --tries profiles so often
and keeps the recording with the shortest steps: the one that other programs disturbed least.
OUT/INDEX.md is a table of everything that is in OUT.
"""
import argparse
import gzip
import inspect
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import sys
import time
import traceback

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / "standin")]

import torch
from torch import distributed
from torch.profiler import ProfilerActivity, profile, schedule

import faults
import models

WARM_STEPS = 6
ROUND_STEPS = 6  # faults come back after 1, 2 or 3 steps: a round has all of them equally often
ROUNDS = 6
SECONDS_MAX = 900
QUIET_TRIES = 20


def steady(times):
    """The mean over a round of the medians over all rounds: a disturbed step does not count, a
    fault of every 2nd or 3rd step does."""
    return statistics.mean(statistics.median(times[i::ROUND_STEPS]) for i in range(ROUND_STEPS))


def figures(walls, cpus, load, world):
    """What is written of one loop. CPU time is that of the busiest rank: the others wait for it."""
    ranks_cpu = [steady(cpus)]
    if world > 1:
        own, ranks_cpu = ranks_cpu[0], [None] * world
        distributed.all_gather_object(ranks_cpu, own)
    return {"steps": len(walls), "steady_ms": steady(walls), "median_ms": statistics.median(walls),
            "mean_ms": statistics.mean(walls), "cpu_ms": max(ranks_cpu), "ranks_cpu_ms": ranks_cpu,
            "load": load}


def wait_for_quiet(rank, world):
    """Waits for a moment in which few other programs run, a few seconds at most."""
    if rank == 0:
        quiet = 0
        for _ in range(QUIET_TRIES):
            running = int(pathlib.Path("/proc/loadavg").read_text().split()[3].split("/")[0])
            quiet = quiet + 1 if running <= world + 1 else 0
            if quiet == 3:
                break
            time.sleep(0.05)
    if world > 1:
        distributed.barrier()


def measure(fault, rank, world, out):
    """Runs the loops with and without the fault in turn, a round each."""
    walls, cpus = {True: [], False: []}, {True: [], False: []}
    steps = {}
    for bad in (True, False):
        torch.manual_seed(0)
        steps[bad] = fault.make(bad, rank, world)
        for index in range(WARM_STEPS):
            steps[bad](index)
    load = os.getloadavg()[0]
    for _ in range(ROUNDS):
        wait_for_quiet(rank, world)
        for bad in (True, False):
            for index in range(ROUND_STEPS):
                wall, cpu = time.perf_counter_ns(), time.process_time_ns()
                steps[bad](index)
                cpus[bad].append((time.process_time_ns() - cpu) / 1e6)
                walls[bad].append((time.perf_counter_ns() - wall) / 1e6)
    for bad, how in ((True, "bad"), (False, "fixed")):
        measured = figures(walls[bad], cpus[bad], load, world)
        if rank == 0:
            path = out / f"{fault.make.__name__}.{how}.measured.json"
            path.write_text(json.dumps(measured) + "\n")


def pack(path):
    with open(path, "rb") as source, gzip.GzipFile(f"{path}.gz", "wb", 9, mtime=0) as packed:
        shutil.copyfileobj(source, packed)
    path.unlink()


def record(fault, bad, rank, world, folder):
    """Profiles one of the two loops; leaves the time of its steps beside the recording."""
    torch.manual_seed(0)
    step = fault.make(bad, rank, world)
    for index in range(WARM_STEPS):
        step(index)
    path = folder / f"rank{rank}.pt.trace.json"
    walls = []
    wait_for_quiet(rank, world)
    with profile(activities=[ProfilerActivity.CPU],
                 schedule=schedule(wait=1, warmup=1, active=fault.steps, repeat=1),
                 on_trace_ready=lambda recorded: recorded.export_chrome_trace(str(path)),
                 **fault.flags) as profiler:
        for index in range(2 + fault.steps):
            wall = time.perf_counter_ns()
            step(index)
            walls.append((time.perf_counter_ns() - wall) / 1e6)
            profiler.step()
    pack(path)
    if rank == 0:
        (folder / "wall_ms").write_text(str(statistics.mean(walls[2:])))


def run_rank(mode, name, rank, world, out):
    """What one process does: mode is measure, bad or fixed."""
    fault = faults.FAULTS[name]
    torch.set_num_threads(1)
    if world > 1:
        distributed.init_process_group("gloo")
    if mode == "measure":
        measure(fault, rank, world, out)
    else:
        record(fault, mode == "bad", rank, world, out)
    if world > 1:
        distributed.barrier()
        distributed.destroy_process_group()


def start(mode, name, ranks, out):
    """Forks the processes of a job, which saves importing torch in each, and waits for them."""
    os.environ.update(WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", USE_LIBUV="0",
                      MASTER_PORT=str(random.randrange(20000, 60000)), GLOO_SOCKET_IFNAME="lo")
    processes = []
    for rank in range(ranks):
        process = os.fork()
        if process == 0:
            status = 1
            try:
                os.environ["RANK"] = str(rank)
                signal.alarm(SECONDS_MAX)
                run_rank(mode, name, rank, ranks, out)
                status = 0
            except BaseException:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(status)  # without waiting for the workers of a loader
        processes.append(process)
    if any([os.waitpid(process, 0)[1] for process in processes]):
        raise SystemExit(f"{name}: {mode} failed")


def keep_best(mode, name, ranks, target, tries):
    """Profiles several times and keeps the shortest."""
    best = None
    for number in range(tries):
        folder = target.with_name(f".{target.name}.{number}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        start(mode, name, ranks, folder)
        wall = float((folder / "wall_ms").read_text())
        (folder / "wall_ms").unlink()
        if best is None or wall < best:
            best = wall
            shutil.rmtree(target, ignore_errors=True)
            folder.rename(target)
        else:
            shutil.rmtree(folder)
    return best


def place(name):
    """File, line and name of a function or a class."""
    for module in (faults, models):
        for found in [module] + list(vars(module).values()):
            thing = getattr(found, name, None)
            if inspect.isfunction(thing) and thing.__module__ == module.__name__:
                line = inspect.getsourcelines(thing)[1]
                return f"`{name}` {module.__name__}.py({line})"
    return f"`{name}`"


def index_row(out, name, fault):
    bad, fixed = (json.loads((out / f"{name}.{how}.measured.json").read_text())
                  for how in ("bad", "fixed"))
    arrows = [f"{bad[key]:.1f} > {fixed[key]:.1f}"
              for key in ("steady_ms", "median_ms", "mean_ms", "cpu_ms")]
    key = "cpu_ms" if fault.sound == "cpu" else "steady_ms"
    gain = f"{(bad[key] - fixed[key]) / bad[key]:.0%} ({fault.sound})"
    flags = ", ".join(fault.flags) or "none"
    where = ", ".join(place(part) for part in fault.blame)
    planted = fault.planted + (f": {where}" if where else "")
    return [name, str(fault.ranks), flags, planted, fault.fix, *arrows, gain, f"{bad['load']:.0f}"]


def write_index(out):
    rows = [["fault", "ranks", "flags", "planted", "fix", "wall steady ms, bad > fixed", "median",
             "mean", "CPU ms per step", "gain (by)", "load"]]
    rows.append(["---"] * len(rows[0]))
    rows += [index_row(out, name, fault) for name, fault in faults.FAULTS.items()
             if (out / name).is_dir() and (out / f"{name}_fixed").is_dir()]
    text = "# Recorded faults\n\nThe columns: ../README.md, \"How they were measured\".\n\n"
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    (out / "INDEX.md").write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("faults", nargs="*")
    parser.add_argument("--tries", type=int, default=2)
    parser.add_argument("--only", choices=("measure", "profile", "index"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in [] if options.only == "index" else options.faults or faults.FAULTS:
        ranks = faults.FAULTS[name].ranks
        if options.only != "profile":
            start("measure", name, ranks, options.out)
        if options.only != "measure":
            for mode, folder in (("bad", name), ("fixed", f"{name}_fixed")):
                keep_best(mode, name, ranks, options.out / folder, options.tries)
        measured = [json.loads((options.out / f"{name}.{how}.measured.json").read_text())
                    for how in ("bad", "fixed")]
        print(name, " ".join(f"{field} {measured[0][field]:.1f} > {measured[1][field]:.1f}"
                             for field in ("steady_ms", "mean_ms", "cpu_ms")), flush=True)
    write_index(options.out)


if __name__ == "__main__":
    main()
