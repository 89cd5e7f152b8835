#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`what-if --gpu`: the simulator records the same job on two GPUs, and the range has the truth.

Usage: other_gpu.py STEPSCOPE [--table]. The simulator's rates are not those of the table of GPUs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

NAMES = {"a100": "A100-SXM4-80GB", "h100": "H100 80GB HBM3", "b200": "B200", "mi300x": "MI300X"}
SIZES = "batch=4,sequence=1024,hidden=2048,layers=4,heads=16"
JOBS = (
    ("gpu1-healthy", ("--set", SIZES)),
    ("gpu1-healthy", ("--set", "batch=8,sequence=512,hidden=1024,layers=8,heads=16")),
    ("gpu1-healthy", ("--set", SIZES, "--cause", "unfused-chain=0.3")),
    ("gpu1-healthy", ("--set", SIZES, "--cause", "fp32-matmul=0.3")),
    ("ddp8-healthy", ("--ranks", "4", "--set", SIZES)),
    ("small1-healthy", ("--set", "batch=4,sequence=1024")),  # the host limits: nothing is gained
)
PAIRS = (("a100", "h100"), ("h100", "a100"), ("h100", "b200"), ("b200", "h100"),
         ("h100", "mi300x"), ("a100", "b200"))


def run(*words):
    """What a command prints."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def truth(stepscope, folder, number, device):
    """The folder of a job on this GPU, and its step."""
    path = folder / f"{number}-{device}"
    preset, words = JOBS[number]
    if not path.exists():
        run(stepscope, "sim", "--preset", preset, "--device", device, "--steps", "3", "--seed", "7",
            "-o", str(path), *words)
    return str(path), json.loads(run(stepscope, "diagnose", "--json", str(path)))["step_ns"]


def problems(stepscope, folder, is_table):
    """What is wrong with each prediction."""
    for number, (preset, words) in enumerate(JOBS):
        for here, there in PAIRS:
            path, step = truth(stepscope, folder, number, here)
            measured = truth(stepscope, folder, number, there)[1]
            told = json.loads(run(stepscope, "what-if", "--gpu", NAMES[there], "--json", path))
            other = told["other_gpu"]
            low, then, high = other["low_ns"], other["step_ns"], other["high_ns"]
            if is_table:
                print(f"{preset} {words[-1]:60} {here:>6} {there:>6} {step / 1e6:8.2f} "
                      f"{then / 1e6:8.2f} ({low / 1e6:.2f} to {high / 1e6:.2f}) "
                      f"{measured / 1e6:8.2f} {100 * then / measured - 100:+.0f} %")
            # steps are measured to a few microseconds
            if not 0.99 * low <= measured <= 1.01 * high:
                yield f"{preset} {words} {here} {there}: {measured} is not in {low} to {high}"
            for part in other["work"]:
                if not part["low_ns"] <= part["then_ns"] <= part["high_ns"]:
                    yield f"{preset}: {part}"


def main(stepscope, *words):
    """Compares predictions with simulations."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(problems(stepscope, pathlib.Path(folder), "--table" in words))
    for line in found:
        print(line)
    count = len(JOBS) * len(PAIRS)
    print(f"{count} predictions, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
