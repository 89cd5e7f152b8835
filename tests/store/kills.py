#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills add, compact, drop and watch at random moments: no half file, nothing lost, nothing twice.

Usage: kills.py STEPSCOPE DUCKDB [KILLS [SEED]]. After every kill the store is read as it is.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import duck

STEPSCOPE, DUCKDB = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 32)
SKIPPED, RUNS = 77, 10
TABLES = ("runs", "findings", "rank_steps", "kernels", "collectives")
ENVIRONMENT = dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB))
if "STEPSCOPE_SLOW" in os.environ:
    ENVIRONMENT["LD_PRELOAD"] = "libstdc++.so.6"


def start(*words):
    return subprocess.Popen([STEPSCOPE, *map(str, words)], env=ENVIRONMENT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*words):
    process = start(*words)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, (words, process.returncode, out, err)
    return out


class Kills:
    def __init__(self, folder):
        self.folder, self.store, self.inbox = folder, folder / "store", folder / "inbox"
        self.duck, self.random = duck.Duck(DUCKDB), random.Random(SEED)
        self.runs = []  # their folders
        self.expected = {}  # run -> rows per table
        self.certain = set()  # runs that a process said it has added
        self.ids, self.seconds, self.killed = {}, {}, {}
        for i in range(RUNS):
            path = folder / f"run{i}"
            run("sim", "-p", "gpu1-healthy", "--steps", 2, "--seed", i + 1, "-o", path)
            self.runs.append(path)

    def count(self, store, table):
        if not list(store.glob(f"{table}/*/*.parquet")):
            return {}
        rows = self.duck.ask(f"select run_id, count(*) as n from read_parquet('{store}/{table}/*/"
                             "*.parquet') group by all")
        return {row["run_id"]: int(row["n"]) for row in rows}

    def learn(self):
        """What the store has when nobody is killed, and how long everything takes."""
        whole = self.folder / "whole"
        for path in self.runs:
            begin = time.monotonic()
            out = run("store", "add", whole, path)
            self.seconds["add"] = time.monotonic() - begin
            self.ids[out.split("added run ")[1].split()[0]] = path
        begin = time.monotonic()
        counts = {table: self.count(whole, table) for table in TABLES}
        self.expected = {key: [counts[table].get(key, 0) for table in TABLES] for key in self.ids}
        run("store", "compact", whole)
        self.seconds["compact"] = self.seconds["drop"] = time.monotonic() - begin
        self.seconds["watch"] = 2 * self.seconds["add"] + 0.3

    def inspect(self, after):
        """Every file that readers see is whole; every run is there once, or not at all."""
        counts = {table: self.count(self.store, table) for table in TABLES}
        there = set(counts["runs"])
        for key in there:
            found = [counts[table].get(key, 0) for table in TABLES]
            assert found == self.expected[key], (after, key, found, self.expected[key])
        for i, table in enumerate(TABLES):
            for key, rows in counts[table].items():
                assert rows <= self.expected[key][i], (after, table, key, rows)
        assert self.certain <= there, (after, "lost", self.certain - there)
        self.certain = there

    def strike(self, what, *words):
        if self.store.joinpath(".dropping").exists():
            self.certain = set()  # whoever comes next finishes what a killed drop began
        process = start(*words)
        time.sleep(self.random.uniform(0, 1.1 * self.seconds[what]))
        was_alive = process.poll() is None
        process.kill()
        out, err = process.communicate()
        assert was_alive or process.returncode == 0, (words, process.returncode, out, err)
        self.killed[what] = self.killed.get(what, 0) + was_alive
        for line in out.splitlines():
            if "added run " in line and what != "drop":
                self.certain.add(line.split("added run ")[1].split()[0])
        if what == "drop":
            self.certain = set()  # of those that are left each is whole
        self.inspect(words)

    def arrive(self):
        """Another run in the watched folder."""
        path = self.random.choice(self.runs)
        shutil.rmtree(self.inbox, ignore_errors=True)
        shutil.copytree(path, self.inbox / path.name,
                        ignore=shutil.ignore_patterns("truth.json"))

    def go_on(self):
        what = self.random.choice(("add", "add", "compact", "compact", "watch", "watch", "drop"))
        if what == "add":
            self.strike(what, "store", "add", self.store, self.random.choice(self.runs))
        elif what == "watch":
            self.arrive()
            self.strike(what, "watch", self.inbox, "--store", self.store, "--settle", "0", "--once")
        elif not self.store.joinpath("stepscope.json").exists():
            return
        elif what == "compact":
            self.strike(what, "store", "compact", self.store)
        elif self.random.random() < 0.3:
            self.strike(what, "store", "drop", self.store, "--before", "9999-01-01")

    def finish(self):
        """Once nobody is killed any more, all is there, once."""
        self.arrive()
        run("watch", self.inbox, "--store", self.store, "--settle", "0", "--once")
        run("store", "add", self.store, *self.runs)
        run("store", "compact", self.store)
        self.inspect("the end")
        assert self.certain == set(self.expected), (self.certain, self.expected)
        left = [name for name in os.listdir(self.store) if name.endswith(".part")]
        assert not left, ("left behind", left)
        files = list(self.store.rglob("*.parquet"))
        assert len(files) == len(TABLES), files


def main():
    if not DUCKDB.exists():
        print("kills: skipped: no DuckDB")
        return SKIPPED
    print(f"seed {SEED}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        kills = Kills(pathlib.Path(name).resolve())
        kills.learn()
        while sum(kills.killed.values()) < KILLS:
            kills.go_on()
        kills.finish()
        print("killed:", ", ".join(f"{what} {count} times"
                                   for what, count in sorted(kills.killed.items())))
    return 0


sys.exit(main())
