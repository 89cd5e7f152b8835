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

CAUSES = ["straggler", "straggler-work", "straggler-host", "straggler-link"]
# of the step: less need not be said
WORTH = 0.03
NAMED = 0.9
# of what the fault costs: the least that the finding saves
COST = 0.5


def draw(number):
    """The words of a job, without its fault."""
    r = random.Random(number)
    tensor, pipe, most = r.choice([1, 2, 4, 8]), r.choice([2, 4, 4, 8]), 512
    data = r.choice([n for n in (1, 2, 4, 8, 16, 32) if 32 <= tensor * pipe * n <= most])
    settings = {
        "tensor": tensor,
        "pipe": pipe,
        "micro-batches": r.choice([1, 2, 4]) * pipe,
        "layers": pipe * r.choice([1, 2, 3]) + r.choice([0, 0, 1]),
        # less, and the hosts limit fast GPUs
        "hidden": r.choice([1024, 2048, 4096]) * max(1, tensor // 2),
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
    return words, f"{r.choice(CAUSES)}={r.uniform(0.3, 0.9):.2f}", tensor * pipe * data, r


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
        and f["cost_ns"] >= COST * cause["cost_ns"]
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
    words = draw(number)[0]
    if simulate(stepscope, words, folder):
        verdict = diagnose(stepscope, folder)
        command = f"{number}: sim {' '.join(map(str, words))}"
        counts.add("healthy", not warnings(verdict), f"{command}: {tell(verdict)}")


def planted_job(stepscope, number, counts, folder):
    words, cause, ranks, r = draw(number)
    truth = simulate(stepscope, words + ["--cause", cause], folder)
    if not truth or not is_worth(truth, truth["causes"][0]):
        return
    planted = truth["causes"][0]
    share = 100 * planted["cost_ns"] / truth["mean_step_ns"]
    command = f"{number}: sim {' '.join(map(str, words))} --cause {cause}"
    command += f" (rank {planted['rank']}, {share:.0f} %)"
    verdict = diagnose(stepscope, folder)
    counts.add("planted", is_named(verdict, planted), f"{command}: {tell(verdict)}")
    lost = r.choice([n for n in range(ranks) if n != planted["rank"]])
    os.remove(f"{folder}/rank{lost}.json.gz")
    verdict = diagnose(stepscope, folder)
    command += f" without rank {lost}"
    counts.add("without a file", is_named(verdict, planted), f"{command}: {tell(verdict)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stepscope")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--most-ranks", type=int, default=512)
    parser.add_argument("--only", choices=["healthy", "planted"])
    wanted = parser.parse_args()
    counts, number = Counts(), wanted.seed * 100000
    kinds = [wanted.only] if wanted.only else ["healthy", "planted"]
    while any(counts.tried.get(kind, 0) < wanted.jobs for kind in kinds):
        number += 1
        if draw(number)[2] > wanted.most_ranks:
            continue
        for kind, job in (("healthy", healthy_job), ("planted", planted_job)):
            if kind in kinds and counts.tried.get(kind, 0) < wanted.jobs:
                with tempfile.TemporaryDirectory() as folder:
                    job(wanted.stepscope, number, counts, folder + "/job")
    print({kind: f"{counts.good[kind]} of {counts.tried[kind]}" for kind in counts.tried})
    if counts.share("healthy") < 1 and "healthy" in kinds:
        sys.exit("healthy jobs are warned of")
    if "planted" in kinds and min(counts.share("planted"), counts.share("without a file")) < NAMED:
        sys.exit("stragglers are not named")


if __name__ == "__main__":
    main()
