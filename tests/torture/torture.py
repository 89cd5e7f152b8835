#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torture.py - every command while memory, files, threads and the network fail.

Usage: torture.py STEPSCOPE FAULTS [--faults K] [--seed S] [--only COMMAND,...]
                  [--family NAME,...] [--minutes M] [--long] [--replay FAULT WORD...]

FAULTS is the library of faults.c. Each command, as `stepscope help` lists it, runs once without a
fault, which tells how many calls of each family it makes, and then with a fault at chosen ones of
them: the Nth call fails, or all from there on. What may come out is said in judge.py. K is how many
faults are tried in all, chosen by the seed (default: STEPSCOPE_SEED); `--faults 0` tries every call
of every family of every command. A table is printed at the end, or after M minutes, and every
defect with the words that repeat it.
"""
import argparse
import collections
import itertools
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import changes
import chosen
import inputs
import judge
import served
from judge import Fault

FAULTS_SHORT = 700
CASES_SHORT = 80
CPU_SECONDS_SHORT = 25
CHANGES_SHARE = 0.02
SERVED_SHARE = 3  # each way to start a server stands for many ways to ask it

# Where a fault of each sort was found to do harm: these are tried at every call, every time.
EVERY_TIME = [
    (["explain"], ["memory"]),  # ended as if the words were wrong
    (["version"], ["memory"]),  # ended without a word
    (["steps", "one.json", "--no-sandbox"], ["memory", "shrink", "read", "open", "stat"]),
    (["info", "single", "--no-sandbox"], ["shrink", "folder", "stat", "open", "close"]),
    (["files", "single/one.json.zst", "--no-sandbox"], ["memory"]),  # was called damaged
    (["devices", "one.json", "--no-sandbox"], ["memory"]),  # had no rows
    (["budget", "packed", "--no-sandbox"], ["open", "stat", "folder"]),  # counted twice
    (["merge", "job", "-o", "-"], ["stat", "write"]),  # words about the output were in it
    (["merge", "job", "-o", inputs.OLD], ["open", "stat", "rename", "sync", "close", "folder"]),
    (["report", "beside", "--page", "page.html", "-o", "out/new.html"], ["read", "open", "thread"]),
    (["pack", "one.json", "-o", "out"], ["open", "rename", "sync", "unlink"]),
    (["sim", *inputs.SMALL, "--ranks", "2", "--plain", "-o", "out/old_sim"],
     ["folder", "open", "rename", "unlink", "read"]),
]


def choices(counts, families):
    """All faults that a run with so many calls can have, by family."""
    for family, count in counts.items():
        if families and family not in families:
            continue
        for kind, ever in itertools.product(judge.KINDS[family], (False, True)):
            # a call that is interrupted for ever is no fault of who repeats it
            if not (ever and kind == judge.EINTR):
                yield family, kind, ever, count


def sample(counts, families, wanted, chance):
    """About so many faults of a run: few of each sort, more of those with many calls."""
    sorts = list(choices(counts, families))
    if not wanted:  # once, everywhere; for ever comes by chance
        return [Fault(family, kind, number, ever) for family, kind, ever, count in sorts
                for number in range(1, count + 1) if not ever or chance.random() < 0.1]
    chosen = []
    # memory is asked for in hundreds of places, a file is opened in some
    weights = [min(count, 400 if family == "memory" else 12) for family, _, _, count in sorts]
    for (family, kind, ever, count), weight in zip(sorts, weights):
        share = wanted * weight / max(1, sum(weights))
        number = min(count, int(share) + (chance.random() < share % 1))
        chosen += [Fault(family, kind, one, ever)
                   for one in chance.sample(range(1, count + 1), number)]
    return chosen


class Torture:
    """All runs, and what came of them."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.program = judge.Program(options.stepscope, options.faults_library, work)
        self.chance = random.Random(options.seed)
        self.table = collections.defaultdict(collections.Counter)
        self.defects = []
        self.tried = 0
        self.start = time.monotonic()

    def is_over(self):
        """Whether the time that was given is over; the short form has some of a processor."""
        if self.options.minutes:
            return time.monotonic() > self.start + 60 * self.options.minutes
        return not self.options.long and sum(os.times()[:4]) > CPU_SECONDS_SHORT

    def once(self, words, **how):
        inputs.prepare(self.work, words)
        before = inputs.found(self.work)
        return self.program.run(words, inputs.found, **how), before

    def reference(self, command, words):
        result, before = self.once(words)
        again, _ = self.once(words)
        result.command = command
        if result.code != 0 or not result.counts():
            raise SystemExit(f"torture: {' '.join(words)} ends with {result.code}: {result.err}")
        if not judge.is_equal(result, again):
            raise SystemExit(f"torture: {' '.join(words)} gives two results without any fault")
        return result, before

    def variants(self, words, reference, fault, kept):
        """Results with one or more files that cannot be opened, made when they are asked for."""
        made = [os.path.relpath(path, self.work) for path in reference.files
                if reference.command == "demo" and "rank" in path]
        names = sorted(str(path.relative_to(self.work)) for word in words
                       for path in [self.work / word] + sorted((self.work / word).glob("*"))
                       if path.is_file() and "out" not in path.parts)
        names += sorted(made)
        # packs are opened twice, first to see what they are of
        names += ["+" + name for name in names if name.endswith(".stepscope")]
        sets = [few for count in range(1, len(names) + 1)
                for few in itertools.combinations(names, count)][:300]
        for few in sets:
            key = fault.kind, few
            if key not in kept:
                kept[key] = self.once(words, refuse=key)[0]
            yield kept[key]

    def case(self, command, words, wanted, families=None):
        reference, before = self.reference(command, words)
        kept = {}
        faults = sample(reference.counts(), families or self.options.family, wanted, self.chance)
        with self.program.copies(words) as copies:
            for fault in faults:
                if self.is_over():
                    return
                inputs.prepare(self.work, words)
                result = copies.run(fault, inputs.found)
                self.tell(command, words, fault, result, judge.judge(
                    result, reference, fault, before,
                    lambda one=fault: self.variants(words, reference, one, kept)))

    def serve(self, words, wanted):
        answers, result = served.reference(self.program, words)
        for fault in sample(result.counts(), self.options.family, wanted, self.chance):
            if self.is_over():
                return
            result, verdict = served.try_fault(self.program, words, answers, fault)
            self.tell("serve", words, fault, result, verdict)

    def few(self, count, share):
        """Some of the numbers from 1 to the count, all with share 1."""
        return [number for number in range(1, count + 1) if self.chance.random() < share]

    def tell(self, command, words, fault, result, verdict, group=None):
        what, wrong = verdict
        row = self.table[command, group or fault.family]
        if not result.hit() and not wrong:
            return
        self.tried += 1
        row["tried"] += 1
        row[what or "defects"] += 1
        if wrong:
            self.defects.append((wrong, result.hit(), str(fault), " ".join(words)))
            if self.options.verbose:
                print(f"DEFECT {wrong} ({result.hit()}): --replay {fault} {' '.join(words)}\n"
                      f"   exit {result.code}; {result.err[:300]!r}", flush=True)

    def print_table(self):
        columns = ("tried", judge.SAME, judge.NOTED, judge.FAILED, "defects")
        print(f"{'command':16}{'family':10}" + "".join(f"{name:>10}" for name in columns))
        sums = collections.defaultdict(collections.Counter)
        for (command, family), row in sorted(self.table.items()):
            sums[family].update(row)
            if self.options.long:
                print(f"{command:16}{family:10}" + "".join(f"{row[name]:10}" for name in columns))
        for family, row in sums.items():
            print(f"{'all commands':16}{family:10}" +
                  "".join(f"{row[name]:10}" for name in columns))


def replay(torture, fault, words):
    family, kind, number = fault.split(":")
    one = Fault(family, int(kind), int(number.rstrip("+")), number.endswith("+"))
    if words[0] == "serve":
        inputs.prepare(torture.work, words)
        answers, _ = served.reference(torture.program, words)
        result, verdict = served.try_fault(torture.program, words, answers, one)
        print(f"{one}: {verdict}, hit {result.hit()}, exit {result.code}\n{result.err}")
        return
    reference, before = torture.reference(words[0], words)
    result, _ = torture.once(words, fault=one)
    verdict = judge.judge(result, reference, one, before,
                          lambda: torture.variants(words, reference, one, {}))
    print(f"{one}: {verdict}, hit {result.hit()}, exit {result.code}")
    sys.stdout.write(result.raw.decode(errors="replace")[:4000])
    sys.stdout.write(result.err)
    print("without the fault:")
    sys.stdout.write(reference.raw.decode(errors="replace")[:4000] + reference.err)
    for path, data in result.files.items():
        print(path, data if data is None else len(data), data == reference.files.get(path))


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepscope")
    parser.add_argument("faults_library")
    parser.add_argument("--faults", type=int, default=FAULTS_SHORT)
    parser.add_argument("--seed", type=int, default=chosen.seed())
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--family", type=lambda text: text.split(","), default=[])
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--long", action="store_true", help="a row a command")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--replay", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.stepscope = str(pathlib.Path(options.stepscope).resolve())
    options.faults_library = str(pathlib.Path(options.faults_library).resolve())
    return options


def main():
    options = read_options()
    start = time.monotonic()
    # in memory, where there is such a place: what is brought to the disk thousands of times lasts
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        work = pathlib.Path(name)
        inputs.make(work, options.stepscope)
        torture = Torture(options, work)
        if options.replay:
            replay(torture, options.replay[0], options.replay[1:])
            return
        cases = [(command, words) for command, words in inputs.cases(options.stepscope)
                 if not options.only or command in options.only]
        if not options.only and not options.family:
            for words, families in EVERY_TIME:
                torture.case(words[0], words, 0, families)
        if not options.only or "changes" in options.only:
            share = 1 if options.long else CHANGES_SHARE
            changes.read_changed(torture, share)
            changes.killed(torture, share)
        # each costs two runs without a fault, so that a short form takes some
        few = len(cases) if options.long else min(len(cases), CASES_SHORT)
        for command, words in random.Random(options.seed).sample(cases, few):
            if torture.is_over():
                break
            wanted = options.faults / few
            if command == "serve":
                torture.serve(words, wanted * SERVED_SHARE)
            else:
                torture.case(command, words, wanted)
        torture.print_table()
    counted = collections.Counter((wrong, hit) for wrong, hit, _, _ in torture.defects)
    for (wrong, hit), count in counted.most_common():
        example = next(one for one in torture.defects if one[:2] == (wrong, hit))
        print(f"{count} x {wrong} ({hit}), as in: --replay {example[2]} {example[3]}")
    print(f"torture: {torture.tried} faults in {len(cases)} runs, seed {options.seed}, "
          f"{len(torture.defects)} defects, {time.monotonic() - start:.0f} s")
    sys.exit(bool(torture.defects))


if __name__ == "__main__":
    main()
