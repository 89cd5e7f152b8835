#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws jobs with tensor, pipeline and data parallelism, and compares the verdict with the truth.

parallel_jobs.py STEPSCOPE [--seed N] [--jobs N] [--most-ranks N] [--only healthy|planted]: each job
is simulated healthy, which must get no warning, and with one straggler or slow link, which must be
named, with all files and with one file of another rank missing. Prints what is wrong with its
command, then the counts; fails when a healthy job is warned of or fewer than 90 % are named.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

CAUSES = ["straggler", "straggler-work", "straggler-host", "straggler-link"]
# of the step: less need not be said
WORTH = 0.03
NAMED = 0.9
# of the step: pipelines that are idle longer have too few micro-batches
BUBBLE = 0.1
# of what the fault costs: the least that the finding saves
COST = 0.5


class Job:
    def __init__(self, words, settings, ranks, numbers):
        self.words, self.settings, self.ranks, self.random = words, settings, ranks, numbers

    def healthy(self):
        return self.words[:-2]

    def faults(self):
        """Rules that are right without a planted fault: too few micro-batches for the stages."""
        behind = self.settings["pipe"] - 1
        slots = self.settings["micro-batches"] + behind
        return {"pipeline-bubble"} if behind > BUBBLE * slots else set()


def draw(number):
    r = random.Random(number)
    tensor, pipe, most = r.choice([1, 2, 4, 8]), r.choice([2, 4, 4, 8]), 512
    data = r.choice([n for n in (1, 2, 4, 8, 16, 32) if 32 <= tensor * pipe * n <= most])
    settings = {
        "tensor": tensor,
        "pipe": pipe,
        "micro-batches": r.choice([1, 2, 4]) * pipe,
        "layers": pipe * r.choice([1, 2, 3]) + r.choice([0, 0, 1]),
        # less, and the hosts limit fast GPUs
        "hidden": min(r.choice([2048, 4096]) * tensor, 16384),
        "stack": 0,
        "shapes": 0,
        "memory": 0,
    }
    words = ["--preset", "tp2pp2dp2-healthy", "--ranks", tensor * pipe * data]
    words += ["--device", r.choice("a100 h100 b200 mi300x".split())]
    words += ["--steps", r.choice([3, 4, 5]), "--seed", r.randrange(1, 10**6)]
    if r.random() < 0.3:
        words += ["--sequence"]
    if r.random() < 0.3:
        words += ["--sync-rows"]
    if r.random() < 0.3:
        words += ["--clock-offset-ms", r.choice([1, 20, 500])]
    words += ["--set", ",".join(f"{name}={value}" for name, value in settings.items())]
    words += ["--cause", f"{r.choice(CAUSES)}={r.uniform(0.3, 0.9):.2f}"]
    return Job(words, settings, tensor * pipe * data, r)


def run(stepscope, *words):
    words = [stepscope, *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def simulate(stepscope, words, folder):
    """The truth; None: the simulator refuses such a job."""
    if run(stepscope, "sim", *words, "-o", folder).returncode:
        return None
    with open(folder + "/truth.json", encoding="utf-8") as file:
        return json.load(file)


def diagnose(stepscope, folder):
    said = run(stepscope, "diagnose", "--format", "json", folder)
    if said.returncode:
        sys.exit(f"diagnose fails: {said.stderr}")
    return json.loads(said.stdout)


def warnings(verdict):
    return [f for f in verdict["findings"] if f["level"] == "warning"]


def tell(verdict):
    said = []
    for f in verdict["findings"]:
        share = 100 * (f["cost_ns"] or 0) / verdict["step_ns"]
        said.append(f"{f['level']} {f['rule']}: {f['title']} ({share:.1f} %)")
    return "; ".join(said) or "nothing"


def is_named(verdict, cause):
    """The rank is in the title, alone or with others, and costs what it costs, more or less."""
    number = re.compile(rf"\b{cause['rank']}\b")
    return any(
        f["rule"] == "straggler"
        and (f["rank"] == cause["rank"] or number.search(f["title"]))
        and f["alone_ns"] >= COST * cause["cost_ns"]
        for f in verdict["findings"]
    )


def is_worth(truth, cause):
    return cause["cost_ns"] >= WORTH * truth["mean_step_ns"]


class Counts:
    def __init__(self):
        self.tried, self.good = {}, {}

    def add(self, kind, good, text):
        self.tried[kind] = self.tried.get(kind, 0) + 1
        self.good[kind] = self.good.get(kind, 0) + bool(good)
        if not good:
            print(f"FAIL {kind}: {text}", flush=True)

    def share(self, kind):
        return self.good.get(kind, 0) / max(1, self.tried.get(kind, 0))


def healthy_job(stepscope, number, counts, folder):
    job = draw(number)
    if simulate(stepscope, job.healthy(), folder):
        verdict = diagnose(stepscope, folder)
        wrong = [f for f in warnings(verdict) if f["rule"] not in job.faults()]
        command = f"{number}: sim {' '.join(map(str, job.healthy()))}"
        counts.add("healthy", not wrong, f"{command}: {tell(verdict)}")


def planted_job(stepscope, number, counts, folder):
    job = draw(number)
    truth = simulate(stepscope, job.words, folder)
    if not truth or not is_worth(truth, truth["causes"][0]):
        return
    planted = truth["causes"][0]
    share = 100 * planted["cost_ns"] / truth["mean_step_ns"]
    command = f"{number}: sim {' '.join(map(str, job.words))}"
    command += f" (rank {planted['rank']}, {share:.0f} %)"
    verdict = diagnose(stepscope, folder)
    counts.add("planted", is_named(verdict, planted), f"{command}: {tell(verdict)}")
    lost = job.random.choice([n for n in range(job.ranks) if n != planted["rank"]])
    os.remove(f"{folder}/rank{lost}.json.gz")
    verdict = diagnose(stepscope, folder)
    command += f" without rank {lost}"
    counts.add("without a file", is_named(verdict, planted), f"{command}: {tell(verdict)}")


def uneven_job(stepscope, counts, folder):
    """The head of a large vocabulary makes the last stage compute much longer than the others."""
    settings = "tensor=2,pipe=4,micro-batches=8,layers=8,hidden=2048,stack=0,shapes=0,memory=0"
    words = ["--preset", "tp2pp2dp2-healthy", "--ranks", 16, "--steps", 3, "--seed", 5]
    words += ["--set", settings + ",vocabulary=250000"]
    simulate(stepscope, words, folder)
    verdict = diagnose(stepscope, folder)
    said = [f for f in warnings(verdict) if "Stage 4 of 4 has much more work" in f["title"]]
    counts.add("uneven stages", said, f"sim {' '.join(map(str, words))}: {tell(verdict)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stepscope")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--most-ranks", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=1e9, help="no more jobs after this time")
    parser.add_argument("--only", choices=["healthy", "planted"])
    wanted = parser.parse_args()
    counts, number = Counts(), wanted.seed * 100000
    kinds = [wanted.only] if wanted.only else ["healthy", "planted"]
    with tempfile.TemporaryDirectory() as folder:
        uneven_job(wanted.stepscope, counts, folder + "/job")
    end = time.time() + wanted.seconds
    while min(counts.tried.get(kind, 0) for kind in kinds) < wanted.jobs and time.time() < end:
        number += 1
        if draw(number).ranks > wanted.most_ranks:
            continue
        for kind, job in (("healthy", healthy_job), ("planted", planted_job)):
            if kind in kinds and counts.tried.get(kind, 0) < wanted.jobs:
                with tempfile.TemporaryDirectory() as folder:
                    job(wanted.stepscope, number, counts, folder + "/job")
    print({kind: f"{counts.good[kind]} of {counts.tried[kind]}" for kind in counts.tried})
    if not counts.share("uneven stages"):
        sys.exit("a stage with too much work is not named")
    if counts.share("healthy") < 1 and "healthy" in kinds:
        sys.exit("healthy jobs are warned of")
    if "planted" in kinds and min(counts.share("planted"), counts.share("without a file")) < NAMED:
        sys.exit("stragglers are not named")


if __name__ == "__main__":
    main()
