#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live numbers in a store: added while they grow, compacted, dropped; changes and culprits.

Usage: live_tables.py STEPSCOPE DUCKDB
"""
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import duck

STEPSCOPE, DUCKDB = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN_S = 1_790_000_400 // 60 * 60
STEPS = 6 * 3600
SLOW = 3 * 3600 + 1234  # rank 5 waits for data from this step on
ENVIRONMENT = dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB))
if "STEPSCOPE_SLOW" in os.environ:
    ENVIRONMENT["LD_PRELOAD"] = "libstdc++.so.6"
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(map(str, what))[:1500])


def run(*words, code=0):
    done = subprocess.run([STEPSCOPE, *map(str, words)], env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=300, check=False)
    check(done.returncode == code, words, "gives", done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def start(*words):
    return subprocess.Popen([STEPSCOPE, *map(str, words)], env=ENVIRONMENT,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rows_module():
    path = ROOT / "src/python/stepscope/torch/_rows.py"
    spec = importlib.util.spec_from_file_location("rows", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROWS = rows_module()


def write(folder, rank, last, job="pretrain", slow=SLOW):
    """The first `last` steps of a rank: one second, 10 % longer from `slow` on; checkpoints."""
    folder.mkdir(parents=True, exist_ok=True)
    chance, now, rows = random.Random(rank), BEGIN_S * 10**6, []
    file = ROWS.RowFile(str(folder), (rank, 8, f"node{rank // 4}", job, BEGIN_S * 10**9),
                        rows=1 << 15)
    for step in range(1, last + 1):
        late = 100_000 if slow and step >= slow else 0
        now += 1_000_000 + late
        length = 1_000_000 + late + chance.randrange(-9000, 9000)
        length += 4_000_000 if step % 900 == 0 else 0
        rows.append(ROWS.ROW.pack(now, step, length, 500 + (late if rank == 5 else 0), 0, 900,
                                  ROWS.UNKNOWN, 0, 0, 0, 0, 0))
    file.add(rows)
    file.close()
    os.rename(file.path, folder / f"live.rank{rank:05d}.node{rank // 4}.77.rows")


def rows_of(store, table, columns="*"):
    reader = duck.Duck(DUCKDB)
    return reader.ask(f"select {columns} from {reader.table(store, table)}")


def added(text):
    words = text.split()
    if "rank-minutes" not in words:
        check(False, "added says", text)
        return 0, 0
    return int(words[words.index("steps") - 1]), int(words[words.index("rank-minutes") - 1])


def again(folder):
    """Rings that are added while they grow, of two nodes: each row once."""
    store, nodes = folder / "store", [folder / "node0", folder / "node1"]
    for last in (5000, 5000, 12000, STEPS):
        for number, node in enumerate(nodes):
            for rank in range(4 * number, 4 * number + 4):
                write(node, rank, last)
        counts = [added(run("store", "add", store, node)) for node in nodes]
        check(counts[1][0] == 0, "steps are those of the node with rank 0", counts)
    check(added(run("store", "add", store, nodes[0])) == (0, 0), "nothing is new")
    steps = rows_of(store, "job_steps", "count(*) as n, count(distinct step) as steps, "
                    "min(step) as first, max(step) as last, min(ranks) as ranks")[0]
    check(steps == {"n": str(STEPS - 1), "steps": str(STEPS - 1), "first": "1",
                    "last": str(STEPS - 1), "ranks": "4"}, "each step once", steps)
    minutes = rows_of(store, "rank_minutes", "count(*) as n, count(distinct (rank, minute)) as "
                      "minutes, count(distinct rank) as ranks, sum(steps) as steps")[0]
    check(minutes["n"] == minutes["minutes"] and minutes["ranks"] == "8", minutes)
    check(STEPS - 200 <= int(minutes["steps"]) / 8 < STEPS, "minutes have all steps", minutes)
    before = [rows_of(store, table, "count(*) as n, sum(step_us) as us")
              for table in ("job_steps", "rank_minutes")]
    check("compacted" in run("store", "compact", store, "--grace", 0), "compacts")
    check(before == [rows_of(store, table, "count(*) as n, sum(step_us) as us")
                     for table in ("job_steps", "rank_minutes")], "compacting changes rows")
    days = len(list((store / "job_steps").iterdir()))
    check(len(list(store.rglob("*.parquet"))) == 2 * days, "one file per table and day")
    check(added(run("store", "add", store, nodes[1])) == (0, 0), "known after compacting")
    return store


def changes(store):
    table = json.loads(run("store", "changes", store, "--json"))
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def find(folder, store):
    found = changes(store)
    check(len(found) == 1, "one change", found)
    for row in found:
        check(abs(row["step"] - SLOW) <= 600 and abs(row["change_percent"] - 10) < 0.5, row)
        check((row["part"], row["rank"], row["host"]) == ("data", 5, "node1"), "culprit", row)
        check(row["part_after_ns"] - row["part_before_ns"] == 100_000_000, "its wait", row)
    # a job that keeps its level, and one whose name needs quotes
    for rank in range(2):
        write(folder / "healthy", rank, STEPS, job="it's", slow=0)
    run("store", "add", store, folder / "healthy")
    check(changes(store) == found, "a healthy job has none")
    run("store", "changes", store, "--job", "it's")
    # without the minutes of ranks nobody is named
    day = rows_of(store, "job_steps", "strftime(max(time) + interval 1 day, '%Y-%m-%d') as day")
    steps = rows_of(store, "job_steps", "count(*) as n")
    check("removed" in run("store", "drop", store, "rank_minutes", "--before", day[0]["day"],
                           "--grace", 0), "")
    check(not list((store / "rank_minutes").rglob("*.parquet")), "rank_minutes are dropped")
    check(rows_of(store, "job_steps", "count(*) as n") == steps, "job_steps are not")
    check([row["rank"] for row in changes(store)] == [None], "no culprit")
    run("store", "drop", store, "--before", "2999-01-01")
    check(rows_of(store, "job_steps", "count(*) as n") == steps, "dropping runs drops no steps")
    check("not of 'runs'" in run("store", "drop", store, "runs", "--before", "2999-01-01", code=2),
          "another table")
    run("store", "drop", store, "job_steps", "--before", "2999-01-01")
    check(not changes(store), "no steps, no changes")
    said = run("store", "add", store, folder / "node0", "--redact", "--key", folder / "key", code=1)
    check("cannot be redacted" in said, said)


def watched(folder):
    """`watch` adds live numbers by itself, of each job; with --digests on each node, too."""
    store, nodes = folder / "store", [folder / "node0", folder / "node1"]
    for rank in range(8):
        write(nodes[rank // 4], rank, 3000)
    write(nodes[0] / "other", 0, 700, job="other")
    (nodes[1] / "traces").mkdir()
    (nodes[1] / "traces/rank0.json").write_text('{"traceEvents": [')
    for _ in range(2):
        said = [run("watch", nodes[0], "--store", store, "--once"),
                run("watch", nodes[1], "--digests", folder / "digests", "--store", store, "--once")]
    check(added(run("store", "add", store, nodes[1])) == (0, 0), "the traces beside are left out")
    check(said[0] == "", "the second time nothing is new", said)
    reader = duck.Duck(DUCKDB)
    steps = reader.ask(f"select job, count(*) as n from {reader.table(store, 'job_steps')} "
                       "group by job order by job")
    check(steps == [{"job": "other", "n": "699"}, {"job": "pretrain", "n": "2999"}], steps)
    ranks = rows_of(store, "rank_minutes", "count(distinct (job, rank)) as n")[0]
    check(ranks == {"n": "9"}, ranks)


def compete(folder):
    """Two nodes add while they grow, others compact, some are killed: no row is lost or twice."""
    store, chance = folder / "shared", random.Random(4)
    nodes = [folder / "node0", folder / "node1"]
    for last in range(2000, 10001, 2000):
        for number, node in enumerate(nodes):
            for rank in range(4 * number, 4 * number + 4):
                write(node, rank, last)
        started = [start("store", "add", store, node) for node in nodes]
        if last > 2000:
            started.append(start("store", "compact", store))
        time.sleep(chance.uniform(0, 0.4))
        started[chance.randrange(len(started))].kill()
        for process in started:
            process.communicate()
        for node in nodes:
            run("store", "add", store, node)
    for file in store.rglob("*.parquet"):
        os.utime(file, (1, 1))  # what killed writers left is old enough to be deleted
    run("store", "compact", store, "--grace", 0)
    steps = rows_of(store, "job_steps", "count(*) as n, count(distinct step) as steps")[0]
    check(steps == {"n": "9999", "steps": "9999"}, "each step once, after kills", steps)
    minutes = rows_of(store, "rank_minutes", "count(*) as n, count(distinct (rank, minute)) as m, "
                      "sum(steps) as steps")[0]
    check(minutes["n"] == minutes["m"] and int(minutes["steps"]) > 8 * 9700, minutes)
    days = len(list((store / "job_steps").iterdir()))
    check(len(list(store.rglob("*.parquet"))) == 2 * days, "one file per table and day")


def main():
    if not DUCKDB.exists():
        print("live_tables: skipped: no DuckDB")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        find(folder, again(folder))
        watched(folder / "watched")
        compete(folder / "compete")
    for failure in failures:
        print(failure)
    print(f"live_tables: {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
