#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Idle time that was planted is found, and charged to what was planted.

Usage: gaps.py STEPSCOPE [PRESET...]. Each preset with one cause of idle time is simulated with it
and without it. Of the idle time that it adds, at least 99 % must be charged to the causes named
below; and the causes of all gaps must sum to the idle time of the budget exactly.
STEPSCOPE_QUICK=1 takes a fifth of the presets.
"""
import collections
import json
import subprocess
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

SHARE = 0.99
# Planted cause -> what gaps may call it. More kernels have more latencies between them; decode
# waits for its tokens in each step, so launching late behind that wait is charged to the wait.
CAUSES = {
    "input-in-process": ("input",),
    "input-few-workers": ("input",),
    "sync-item": ("sync", "launch latency"),
    "sync-print": ("sync", "launch latency"),
    "sync-nonzero": ("sync", "launch latency"),
    "launch-bound": ("launch-bound", "launch latency", "sync"),
    "allocator-thrash": ("allocator",),
    "idle-gc": ("garbage collection",),
    "idle-logging": ("sync",),
    "profiler-overhead": ("profiler",),
    "recompilation": ("compile",),
}


def rows(stepscope, *words):
    command = [stepscope, *words, "--format", "json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def idle_of(stepscope, preset, *words):
    """Idle time by cause over all ranks, and that of the budget."""
    with tempfile.TemporaryDirectory() as folder:
        command = [stepscope, "sim", "--preset", preset, "-o", folder, *words]
        subprocess.run(command, capture_output=True, check=True)
        causes = collections.Counter()
        for row in rows(stepscope, "gaps", folder):
            causes[row["cause"]] += row["idle_ns"]
        return causes, sum(row["idle_ns"] for row in rows(stepscope, "budget", folder))


def check(stepscope, preset, cause):
    """What does not hold, or None."""
    found, idle = idle_of(stepscope, preset)
    base, base_idle = idle_of(stepscope, preset, "--without", cause)
    if sum(found.values()) != idle or sum(base.values()) != base_idle:
        return f"causes sum to {sum(found.values())}, idle time is {idle}"
    added = idle - base_idle
    charged = sum(found[name] - base[name] for name in CAUSES[cause])
    if charged < SHARE * added:
        return f"{added} ns of idle time were added, {charged} are charged to {CAUSES[cause]}"
    return None


def main():
    stepscope = sys.argv[1]
    presets = [
        (row["preset"], row["causes"].split("=")[0])
        for row in rows(stepscope, "sim", "--list")
        if row["causes"] and "," not in row["causes"]
    ]
    presets = [pair for pair in presets if pair[1] in CAUSES]
    if sys.argv[2:]:
        presets = [pair for pair in presets if pair[0] in sys.argv[2:]]
    else:
        presets = share(presets, 5)
    failed = 0
    for preset, cause in presets:
        problem = check(stepscope, preset, cause)
        if problem:
            failed += 1
            print(f"{preset}: {problem}")
    print(f"{len(presets)} presets, {failed} failed")
    return 1 if failed or not presets else 0


if __name__ == "__main__":
    sys.exit(main())
