#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills add, compact, drop and watch at random moments, and before each call that changes a file:
no half file, nothing lost, nothing twice.

Usage: kills.py STEPSCOPE DUCKDB [KILLS [SEED [STRIDE]]]. After every kill the store is read as it
is. STRIDE: of the calls before which add and compact are killed, every STRIDE-th; 1: all.
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
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 8
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 32)
STRIDE = int(sys.argv[5]) if len(sys.argv) > 5 else 60
SKIPPED, RUNS = 77, 10
TABLES = ("runs", "findings", "rank_steps", "kernels", "collectives")
ENVIRONMENT = dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB))
if "STEPSCOPE_SLOW" in os.environ:
    ENVIRONMENT["LD_PRELOAD"] = "libstdc++.so.6"

# kills the process before the call with the number KILL_BEFORE
CALLS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static atomic_int calls;
static void count(void)
{
	const char *last = getenv("KILL_BEFORE");
	if (++calls == (last ? atoi(last) : 0))
		raise(SIGKILL);
}
#define NEXT(name) count(); static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)
ssize_t write(int f, const void *b, size_t n) { NEXT(write); return next(f, b, n); }
int mkdir(const char *p, mode_t m) { NEXT(mkdir); return next(p, m); }
int rename(const char *a, const char *b) { NEXT(rename); return next(a, b); }
int renameat2(int f, const char *a, int g, const char *b, unsigned k)
{ NEXT(renameat2); return next(f, a, g, b, k); }
int link(const char *a, const char *b) { NEXT(link); return next(a, b); }
int unlink(const char *p) { NEXT(unlink); return next(p); }
int fsync(int f) { NEXT(fsync); return next(f); }
int close(int f) { NEXT(close); return next(f); }
#define OPEN(name) int name(const char *p, int k, ...) \
{ va_list words; va_start(words, k); NEXT(name); return next(p, k, va_arg(words, mode_t)); }
OPEN(open)
OPEN(open64)
"""


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
        if not list(store.glob("manifest/*.csv")) or "[]" in self.duck.table(store, table):
            return {}
        rows = self.duck.ask("select run_id, count(*) as n from "
                             f"{self.duck.table(store, table)} group by all")
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
        for table in TABLES:
            assert set(counts[table]) <= there, (after, table, "has runs that are not there")
        assert self.certain <= there, (after, "lost", self.certain - there)
        self.certain = there

    def strike(self, what, *words):
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

    def strike_each(self):
        """Kills add and compact before each of their calls, of a store of each layout."""
        shim = self.folder / "calls.so"
        if "LD_PRELOAD" in ENVIRONMENT or not shutil.which("cc"):
            return
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim], check=True,
                       text=True, input=CALLS)
        old, count = self.folder / "old", 0
        run("store", "add", old, *self.runs[:2])
        for file in old.rglob("*.parquet"):
            file.rename(file.with_name(file.name.split("-")[0] + ".parquet"))
        shutil.rmtree(old / "manifest")
        (old / "stepscope.json").write_text('{"schema": "stepscope.store", "layout": 1}')
        for words in (("add", self.runs[2]), ("compact", "--grace", "0")):
            last, number = 1 << 30, self.random.randrange(1, STRIDE + 1)
            while number <= last:
                self.store = self.folder / "struck"
                shutil.rmtree(self.store, ignore_errors=True)
                shutil.copytree(old, self.store)
                self.certain = set()
                ENVIRONMENT.update(LD_PRELOAD=str(shim), KILL_BEFORE=str(number))
                process = start("store", words[0], self.store, *words[1:])
                out, err = process.communicate(timeout=300)
                del ENVIRONMENT["LD_PRELOAD"]
                assert process.returncode in (0, -9), (words, out, err)
                last = number if process.returncode == 0 else last
                self.certain = set(list(self.ids)[:2])
                if "added run " in out:
                    self.certain.add(out.split("added run ")[1].split()[0])
                if list(self.store.glob("manifest/*.csv")):
                    self.inspect((words, number))
                listed = run("store", "add", self.store, *self.runs[:3])
                assert listed.count("already") >= len(self.certain), (words, number, listed)
                self.inspect((words, number, "again"))
                assert len(self.certain) == 3, (words, number, self.certain)
                number, count = number + STRIDE, count + 1
            print(f"{words[0]}: struck before {count} calls", flush=True)
        self.store, self.certain = self.folder / "store", set()

    def strike_events(self):
        """Kills `watch --events` before each of its calls: the next process tells what is due."""
        shim, inbox = self.folder / "calls.so", self.folder / "told"
        if not shim.exists():
            return
        inbox.mkdir()
        run("sim", "-p", "ddp8-slow", "--ranks", 2, "--steps", 3, "-o", inbox / "run")
        (inbox / "run/truth.json").unlink()
        last, number, told = 1 << 30, 1, []
        while number <= last:
            store = self.folder / "struck"
            shutil.rmtree(store, ignore_errors=True)
            words = ("watch", inbox, "--store", store, "--events", "--once", "--settle", "0")
            ENVIRONMENT.update(LD_PRELOAD=str(shim), KILL_BEFORE=str(number))
            process = start(*words)
            first, err = process.communicate(timeout=300)
            del ENVIRONMENT["LD_PRELOAD"]
            assert process.returncode in (0, -9), (number, first, err)
            last = number if process.returncode == 0 else last
            both = first + run(*words)
            told.append(both.count("\n") / len(set(both.splitlines())) if both else 0)
            assert set(both.splitlines()) and told[-1] in (1, 2), (number, both)
            assert not run(*words), number
            number += STRIDE // 4 + 1
        # killed between an event and the note that it is told
        assert told.count(2) <= 1, told
        print(f"events: struck before {len(told)} calls", flush=True)

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
        for file in self.store.rglob("*.parquet"):
            os.utime(file, (1, 1))  # what killed writers left is old enough to be deleted
        run("store", "compact", self.store, "--grace", "0")
        self.inspect("the end")
        assert self.certain == set(self.expected), (self.certain, self.expected)
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
        kills.strike_each()
        kills.strike_events()
        while sum(kills.killed.values()) < KILLS:
            kills.go_on()
        kills.finish()
        print("killed:", ", ".join(f"{what} {count} times"
                                   for what, count in sorted(kills.killed.items())))
    return 0


sys.exit(main())
