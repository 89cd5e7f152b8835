#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is on the disk after the power fails while a command writes.

Usage: power_loss.py STEPSCOPE LIBPOWER DUCKDB [--states N] [--seed N]

power.c writes down what a command does to its files. A power loss is then tried after every
operation: what was synced is there; of the operations that were not, all, none, each alone, or all
but one have reached the disk, and writes may be torn or leave zeros. Afterwards each output is the
old file, the new one, not there, or refused with a sentence; a store lists the old or the new runs.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import chosen
import inputs

PART = ".stepscope."  # how names of unfinished files begin


class Disk:
    """Files and folders below the root, in memory."""

    def __init__(self, root):
        self.root, self.names, self.bytes = root, {}, {}
        for folder, _, files in os.walk(root):
            self.names[folder] = None
            for name in files:
                path = os.path.join(folder, name)
                number = str(os.stat(path).st_ino)
                self.names[path] = number
                self.bytes[number] = pathlib.Path(path).read_bytes()

    def copy(self):
        other = Disk.__new__(Disk)
        other.root, other.names, other.bytes = self.root, dict(self.names), dict(self.bytes)
        return other

    def below(self, path):
        return [name for name in self.names if name == path or name.startswith(path + "/")]

    def move(self, moves):
        """Renames whole trees at once."""
        taken = {old: {name[len(old):]: self.names[name] for name in self.below(old)}
                 for old, _ in moves}
        for old, new in moves:
            for name in self.below(old) + self.below(new):
                self.names.pop(name, None)
        for old, new in moves:
            for rest, number in taken[old].items():
                self.names[new + rest] = number

    def apply(self, operation, form="whole"):
        """What cannot be, as its file or folder was lost before, does nothing."""
        kind, *words = operation
        if kind in ("create", "mkdir"):
            if os.path.dirname(words[-1]) in self.names:
                self.names[words[-1]] = words[0] if kind == "create" else None
        elif kind in ("unlink", "rmdir"):
            if len(self.below(words[0])) == 1:
                del self.names[words[0]]
        elif kind == "rename":
            if words[0] in self.names and os.path.dirname(words[1]) in self.names:
                self.move([words])
        elif kind == "link":
            if words[0] in self.names and os.path.dirname(words[1]) in self.names:
                self.names[words[1]] = self.names[words[0]]
        elif kind in ("write", "cut"):
            self.change(words[0], int(words[1]), words[2:], form)

    def change(self, number, at, data, form):
        before = self.bytes.get(number, b"")
        if not data:
            self.bytes[number] = before[:at].ljust(at, b"\0")
            return
        new = bytes.fromhex(data[0])
        if form == "torn":
            new = new[:len(new) // 2]
        elif form == "zeros":
            new = bytes(len(new))
        self.bytes[number] = before[:at].ljust(at, b"\0") + new + before[at + len(new):]

    def tree(self):
        """Path below the root to bytes; folders have none."""
        return {os.path.relpath(name, self.root): None if number is None else
                self.bytes.get(number, b"") for name, number in self.names.items()
                if name != self.root}

    def write(self, folder):
        for name, data in sorted(self.tree().items()):
            path = pathlib.Path(folder, name)
            if data is None:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.write_bytes(data)


def numbered(operations):
    """The same with a number of its own for each file: the system gives numbers again."""
    result, numbers = [], {}
    for i, operation in enumerate(operations):
        if operation[0] == "create":
            numbers[operation[1]] = f"new {i}"
        if operation[0] in ("create", "write", "cut", "sync"):
            operation[1] = numbers.get(operation[1], operation[1])
        result.append(operation)
    return result


def parents(operation):
    """Folders that must be synced so that a change of names lasts."""
    return {os.path.dirname(word) for word in operation[1:] if word.startswith("/")}


def is_durable(operation, after):
    """Whether syncs that follow make it last."""
    synced = [words for words in after if words[0] == "sync"]
    if operation[0] in ("write", "cut"):
        return any(words[1] == operation[1] for words in synced)
    return parents(operation) <= {words[2] for words in synced}


def losses(operations, chance, most):
    """Lists of (operation, form) that reached the disk, for every moment."""
    for end in range(len(operations) + 1):
        done = operations[:end]
        pending = [i for i, operation in enumerate(done) if operation[0] != "sync" and
                   not is_durable(operation, done[i + 1:])]
        forms = {i: "whole" for i, operation in enumerate(done) if operation[0] != "sync"}
        variants = [{}, {i: None for i in pending}]
        for i in pending:
            variants.append({i: None})
            variants.append({k: None for k in pending if k != i})
            if done[i][0] == "write":
                variants += [{i: "torn"}, {i: "zeros"}]
        if len(pending) > 2:
            for _ in range(4):
                variants.append({i: None for i in pending if chance.random() < 0.5})
        if len(variants) > most:
            variants = variants[:2] + chance.sample(variants[2:], most - 2)
        for variant in variants:
            yield [(done[i], variant.get(i, form)) for i, form in forms.items()
                   if variant.get(i, form)]


class Tries:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.chance = random.Random(options.seed)
        self.states = self.losses = self.refused = 0
        self.lists = []
        self.failures = []

    def run(self, *words, **more):
        environment = dict(os.environ, STEPSCOPE_DUCKDB=self.options.duckdb, **more)
        return subprocess.run([self.options.stepscope, *words], cwd=self.work, check=False,
                              capture_output=True, text=True, timeout=120, env=environment)

    def record(self, words):
        """Runs a command on out/: (disk before, operations, files after)."""
        root, log = self.work / "out", self.work / "log"
        log.unlink(missing_ok=True)
        before = Disk(str(root.resolve()))
        result = self.run(*words, LD_PRELOAD=self.options.power, STEPSCOPE_POWER_LOG=str(log),
                          STEPSCOPE_POWER_ROOT=str(root))
        if result.returncode:
            self.failures.append(f"{words}: {result.stderr}")
        operations = numbered(line.split("\t") for line in log.read_text().splitlines())
        return before, operations, Disk(str(root.resolve())).tree()

    def try_all(self, words, judge):
        before, operations, new = self.record(words)
        replayed, old, seen = before.copy(), before.tree(), set()
        for operation in operations:
            replayed.apply(operation)
        if replayed.tree() != new:
            self.failures.append(f"{words}: the log does not lead to what is there")
            return
        if not any(operation[0] == "sync" for operation in operations):
            self.failures.append(f"{words}: nothing was synced")
        for lost in losses(operations, self.chance, self.options.states):
            disk = before.copy()
            for operation, form in lost:
                disk.apply(operation, form)
            tree = disk.tree()
            key = frozenset(tree.items())
            self.losses += 1
            if key in seen:
                continue
            seen.add(key)
            self.states += 1
            problem = judge(disk, tree, old, new)
            if problem:
                self.failures.append(f"{words}: {problem}")
        print(f"{' '.join(words)[:60]:60} {len(operations):4} operations, {len(seen):4} states")

    def judge_files(self, disk, tree, old, new):
        for name, data in tree.items():
            if data is None or os.path.basename(name).startswith(PART) or \
                    data in (old.get(name), new.get(name)):
                continue
            with tempfile.TemporaryDirectory() as folder:
                disk.write(folder)
                result = self.run("files", os.path.join(folder, name), "--format", "json")
            if result.returncode == 0:
                return f"{name} is neither the old nor the new file, and is read"
        for name, data in old.items():
            if data is not None and name in new and name not in tree:
                return f"{name} is gone"
        return None

    def judge_store(self, disk, _tree, _old, _new):
        with tempfile.TemporaryDirectory() as folder:
            disk.write(folder)
            listed = self.listed(os.path.join(folder, "store"))
        self.refused += listed is None
        if listed is None or listed in self.lists:
            return None
        return f"the store lists {listed}, not one of {self.lists}"

    def listed(self, store):
        """Ids of the runs; None: it is refused, or is not there."""
        result = self.run("store", "list", store, "--format", "csv")
        if result.returncode:
            if not result.stderr.startswith("stepscope store: "):
                return result.stderr
            return None
        return tuple(sorted(line.split(",")[0] for line in result.stdout.splitlines()[1:]))

    def try_store(self, words):
        before = self.listed("out/store")
        copy = self.work / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        if (self.work / "out" / "store").exists():
            shutil.copytree(self.work / "out" / "store", copy)
        self.run(*[word.replace("out/store", "copy") for word in words])
        self.lists = [before or (), self.listed("copy")]
        self.try_all(words, self.judge_store)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepscope")
    parser.add_argument("power")
    parser.add_argument("duckdb")
    parser.add_argument("--states", type=int, default=4, help="variants of a moment")
    parser.add_argument("--seed", type=int, default=chosen.seed())
    options = parser.parse_args()
    options.stepscope = str(pathlib.Path(options.stepscope).resolve())
    options.power = str(pathlib.Path(options.power).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        inputs.make(work, options.stepscope)
        tries = Tries(options, work)
        for words in (["pack", "job", "-o", "out/packs"], ["pack", "one.json", "-o", "out/packs"],
                      ["digest", "job", "-o", "out/digests"],
                      ["report", "job", "--page", "page.html", "-o", inputs.OLD],
                      ["merge", "job", "-o", inputs.OLD],
                      ["check", "job", "--fail-if", "gpu_busy_percent < 0", "--format", "json",
                       "-o", inputs.OLD],
                      ["redact", "job", "-o", "out/copies", "--key", "key"],
                      ["steps", "job", "--format", "json", "-o", inputs.OLD]):
            inputs.prepare(work, words)
            tries.try_all(words, tries.judge_files)
        if pathlib.Path(options.duckdb).is_file():
            inputs.prepare(work, [])
            for words in (["add", "out/store", "job"], ["add", "out/store", "packed"],
                          ["compact", "out/store"],
                          ["drop", "out/store", "--before", "2100-01-01"]):
                tries.try_store(["store", *words])
    for failure in tries.failures[:20]:
        print(failure)
    print(f"power_loss: seed {options.seed}, {tries.losses} losses, {tries.states} states, "
          f"{tries.refused} of them refused, {len(tries.failures)} failed")
    return 1 if tries.failures else 0


sys.exit(main())
