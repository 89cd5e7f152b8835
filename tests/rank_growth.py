#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that grow: a verdict takes as long per rank of a large job as per rank of a small one.

Usage: rank_growth.py STEPSCOPE RANK_COSTS [--long] [LAYOUT...]. Without --long, jobs of 96 and 384
ranks; without names of layouts, a pipeline and another one that STEPSCOPE_SEED chooses. With
--long, jobs of 256, 1,024 and 4,096 ranks in all layouts (3 GB of disk for a while, half an hour).

All layouts have names of hosts, clocks that are up to 10 s apart and a rank that is late. CPU time
of one thread, compared within one run; what is too slow is measured again, and the best counts.
"""
import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support.chosen import seed

SMALL = "stack=0,memory=0,shapes=0,layers=4,hidden=1024"
LAYOUTS = {
    "ddp": ("ddp8-healthy", SMALL),
    "fsdp": ("fsdp16-healthy", SMALL),
    "tensor": ("tp8-healthy", SMALL),
    "pipeline": ("pp4-healthy", SMALL + ",micro-batches=4"),
    "mixed": ("tp2pp2dp2-healthy", SMALL + ",tensor=4,pipe=4,micro-batches=4"),
}
SHORT, LONG = (96, 384), (256, 1024, 4096)
# Small jobs fit into the cache: what grows with the square of the ranks shows less there.
MOST_SHORT, MOST_LONG = 1.25, 1.1
TRIES = 3


def simulate(stepscope, layout, ranks, folder):
    """Packs of a job: reading JSON would hide what comes then."""
    preset, settings = LAYOUTS[layout]
    job, packs = folder / "job", folder / f"{layout}{ranks}"
    subprocess.run([stepscope, "sim", "--preset", preset, "--ranks", str(ranks), "--steps", "3",
                    "--set", settings, "--cause", "straggler=0.6", "--clock-offset-ms", "10000",
                    "-o", job, "--progress", "none"], check=True, stdout=subprocess.DEVNULL)
    packs.mkdir()
    subprocess.run([stepscope, "pack", job, "-o", packs, "--progress", "none"], check=True,
                   stdout=subprocess.DEVNULL)
    shutil.rmtree(job)
    return packs


def cost(tool, packs):
    out = subprocess.run([tool, "--one", "diagnose", packs], check=True, stdout=subprocess.PIPE)
    costs = json.loads(out.stdout)
    return costs["join_cpu_s"] + costs["load_cpu_s"]


def check_layout(args, layout, folder):
    """The power with which the time grows from the smallest job to the largest."""
    sizes, most = (LONG, MOST_LONG) if args.long else (SHORT, MOST_SHORT)
    packs = [simulate(args.stepscope, layout, ranks, folder) for ranks in sizes]
    best = [math.inf] * len(sizes)
    for _ in range(TRIES):
        best = [min(old, cost(args.tool, job)) for old, job in zip(best, packs)]
        power = math.log(best[-1] / best[0]) / math.log(sizes[-1] / sizes[0])
        if power <= most:
            break
    for job in packs:
        shutil.rmtree(job)
    figures = ", ".join(f"{ranks} ranks {1000 * time:.0f} ms" for ranks, time in zip(sizes, best))
    print(f"{layout:<10} {figures}: power {power:.2f}", flush=True)
    return [] if power <= most else [f"{layout} grows with the power of {power:.2f}, "
                                     f"at most {most} is right"]


def chosen(args):
    others = [layout for layout in LAYOUTS if layout != "pipeline"]
    if args.layouts or args.long:
        return args.layouts or list(LAYOUTS)
    return ["pipeline", others[seed() % len(others)]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepscope")
    parser.add_argument("tool")
    parser.add_argument("layouts", nargs="*")
    parser.add_argument("--long", action="store_true")
    args = parser.parse_intermixed_args()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for layout in chosen(args):
            failed += check_layout(args, layout, Path(folder))
    for sentence in failed:
        print(f"FAILED {sentence}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
