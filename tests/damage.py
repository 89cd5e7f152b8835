#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages real files, and checks that nothing is lost or changed without a word.

Usage: damage.py STEPSCOPE TRACES [--cuts N] [--bytes N] [--seed N] [--large]

--cuts: files that end in the middle, plain, compressed, in several parts, among whole ranks, and
snapshots and timelines of memory. quality, diagnose, what-if, diff, views, report, pack and merge
must say so, or refuse the file with a sentence; whole files must not be called cut.

--bytes: bytes that are changed, inserted, removed or repeated. Where a figure of any view changes,
quality must say something that it did not say before, unless the damaged file is as good a trace
as the whole one: a digit of a number, a letter of a text (docs/views/quality.md). In a compressed
file every change must be reported.

Without --seed, STEPSCOPE_SEED chooses the files and places.
"""
import argparse
import collections
import pathlib
import random
import sys
import tempfile
import time

from damage_input import changes, cuts
from damage_input.real import LARGE_BYTES, SMALL_BYTES, Real, real_files
from hostile_input.running import Failed, Runner
from support import chosen


EACH = 6  # damages of one file, where there are many files


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("stepscope")
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--bytes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=chosen.seed())
    parser.add_argument("--large", action="store_true", help="larger files, too")
    parser.add_argument("--verbose", action="store_true", help="list what cannot be seen")
    return parser.parse_args()


def repeat(name, count, seed, paths, check):
    """Runs `check` so often, each file as often as the others; returns how many failed."""
    chance, outcomes, failed, began = random.Random(seed), collections.Counter(), 0, time.time()
    # a short run looks at few files, each several times
    order = chance.sample(paths, min(len(paths), count // EACH + 1))
    with tempfile.TemporaryDirectory(prefix="damage") as scratch:
        for i, path in enumerate(order):
            real, folder = Real(path), pathlib.Path(scratch) / str(i)
            folder.mkdir()
            for _ in range(count // len(order) + (i < count % len(order))):
                try:
                    outcomes[check(folder, real, chance)] += 1
                except Failed as problem:
                    failed += 1
                    print(f"FAILED {name}: {problem}", flush=True)
    said = ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items()))
    print(f"{name}: {sum(outcomes.values()) + failed} of {len(order)} files, {said}, "
          f"{failed} failed, {time.time() - began:.0f} s", flush=True)
    return failed


def main():
    options = arguments()
    runner = Runner(options.stepscope)
    paths = real_files(filter(pathlib.Path.is_dir, options.traces),
                       LARGE_BYTES if options.large else SMALL_BYTES)
    if not paths:
        print("no traces here")
        return 77
    traces = [path for path in paths if path.name.endswith(".json.gz")
              and "memory_timeline" not in path.name]
    failed = repeat("cut", options.cuts, options.seed, paths,
                    lambda folder, real, chance: cuts.check_cut(runner, folder, real, chance))
    failed += repeat("changed", options.bytes, options.seed, traces,
                     lambda folder, real, chance: changes.check_change(
                         runner, folder, real, chance, options.verbose))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
