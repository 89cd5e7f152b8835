#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stores: what is in them against the views, the same run twice, many writers, refusals.

Usage: store.py STEPSCOPE DUCKDB [PART...]. Without DuckDB only its absence is tried. The part
"compete" alone can have its store on a shared file system: STEPSCOPE_STORE_VIEWS names folders,
such as two mounts of one folder by NFS (nosharecache), which its processes take by turns.
"""
import gzip
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import duck

STEPSCOPE, DUCKDB = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
FINE, FAILED, USAGE = 0, 1, 2
TABLES = ("runs", "findings", "rank_steps", "kernels", "collectives")
PARTS = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu", "other")
ODD = {"team": "o'neil", "quote": 'a"b', "lines": "a\nb\tc", "words": "größe 🚀 = x,y", "empty": "",
       "it's": "'); drop table this_run; --"}
# a sanitizer of C looks for the functions of C++ when the program starts, before DuckDB is loaded
ENVIRONMENT = dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB))
if "STEPSCOPE_SLOW" in os.environ:
    ENVIRONMENT["LD_PRELOAD"] = "libstdc++.so.6"
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:1500])


def start(*words):
    return subprocess.Popen([STEPSCOPE, *map(str, words)], env=ENVIRONMENT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*words, code=FINE):
    process = start(*words)
    out, err = process.communicate(timeout=300)
    check(process.returncode == code, words, "gives", process.returncode, "not", code, out, err)
    check("runtime error" not in err and "AddressSanitizer" not in err, words, err)
    return out, err


def refused(part, *words, code=USAGE):
    out, err = run(*words, code=code)
    lines = err.splitlines()
    check(part in err and lines[-1:] and lines[0].startswith("stepscope "), words, "says", out, err)


def view(name, folder, *options):
    table = json.loads(run(name, folder, "--json", *options)[0])
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def sql(folder, query):
    return view_of(run("sql", folder, query, "--json")[0])


def view_of(text):
    table = json.loads(text)
    return [dict(zip([column["name"] for column in table["columns"]], row))
            for row in table["rows"]]


def simulate(folder, preset, *options):
    run("sim", "-p", preset, "-o", folder, "--steps", 3, *options)
    return folder


class Store:
    def __init__(self, path):
        self.path, self.duck = path, duck.Duck(DUCKDB)

    def ask(self, query):
        """Names of tables in braces are their files."""
        for table in (*TABLES, "job_steps"):
            if "{" + table + "}" in query:
                query = query.replace("{" + table + "}", self.duck.table(self.path, table))
        return self.duck.ask(query)

    def rows(self):
        return {table: self.ask(f"select * from {{{table}}} order by all") for table in TABLES}

    def files(self):
        """Those of runs: job_steps stays when runs go."""
        return sorted(str(file.relative_to(self.path)) for table in TABLES
                      for file in (self.path / table).rglob("*.parquet"))


def near(a, b, what, least=1):
    """Figures that were rounded once more."""
    check(abs(float(a) - float(b)) <= max(least, 1e-6 * abs(float(b))), what, a, "is not", b)


def compare_runs(store, job):
    row, = store.ask("select *, epoch_ns(started) as started_ns from {runs} where job = 'a''b'")
    steps = [step["dur_ns"] for step in view("steps", job) if step["dropped"] is None]
    files, account = view("files", job), sql(job, "from account")
    finding, *_ = sql(job, "from findings")
    check(int(row["ranks"]) == len(files) and row["hosts"] == "1", "ranks and hosts", row)
    check(row["device"] == files[0]["device"], "device", row["device"])
    near(row["started_ns"], min(file["start_ns"] for file in files), "started", 1000)
    near(row["step_median_ns"], statistics.median(steps), "median")
    check(min(steps) <= int(row["step_p95_ns"]) <= max(steps), "p95", row["step_p95_ns"])
    for part in account:
        check(int(row[part["part"] + "_ns"]) == part["time_ns"], part, row)
    check(int(row["step_mean_ns"]) == sum(part["time_ns"] for part in account), "account", row)
    check((row["cause"], int(row["lost_ns"])) == (finding["rule"], finding["cost_ns"]),
          "first finding", row, finding)
    flops = [(step["mfu_percent"] * step["dur_ns"], step["dur_ns"])
             for step in view("roofline", job, "--group", "step") if step["mfu_percent"]]
    near(row["mfu_percent"], sum(a for a, _ in flops) / sum(b for _, b in flops), "MFU", 1e-5)
    check(row["damaged_files"] == "0" and row["commit"] == "1a2b3c", row)


def compare_findings(store, job):
    rows = store.ask("select f.* from {findings} f join {runs} r using (run_id) where r.job = "
                     "'a''b' order by position")
    expected = sql(job, "from findings")
    check(len(rows) == len(expected) > 0, "findings", rows)
    for number, (row, other) in enumerate(zip(rows, expected), 1):
        check(row["position"] == str(number) and row["rule"] == other["rule"] and
              row["title"] == other["title"] and row["ranks"] == other["ranks"] and
              (row["lost_ns"] and int(row["lost_ns"])) == other["cost_ns"], row, other)
        place = f"{row['file']}({row['line']})" if row["file"] else None
        check(place is None or other["line"].startswith(place), row, other)


def compare_rank_steps(store, job):
    rows = store.ask("select s.* from {rank_steps} s join {runs} r using (run_id) where r.job = "
                     "'a''b' order by rank, step")
    breakdown = sorted(view("breakdown", job), key=lambda row: (row["rank"], row["step"]))
    late = {(row["rank"], row["step"]): row["lateness_ns"]
            for row in view("ranks", job, "--group", "step")}
    check(len(rows) == len(breakdown) == 24, "rank_steps", len(rows))
    for row, other in zip(rows, breakdown):
        parts = [int(row[part + "_ns"]) for part in PARTS]
        check(parts == [other[part + "_ns"] or 0 for part in PARTS], row, other)
        check(sum(parts) == int(row["step_ns"]) == other["dur_ns"], "parts of", row)
        lateness = late[int(row["rank"]), int(row["step"])]
        check((row["late_ns"] and int(row["late_ns"])) == lateness, row, lateness)
        check(row["host"] and row["device_index"] is not None, row)


def compare_sums(store, job):
    by_name, groups = {}, {}
    for row in view("kernels", job):
        by_name[row["name"]] = by_name.get(row["name"], 0) + row["total_ns"]
    rows = store.ask("select k.* from {kernels} k join {runs} r using (run_id) where r.job = "
                     "'a''b' order by total_ns desc")
    check(len(rows) == min(100, len(by_name)), "kernels", len(rows))
    for row in rows:
        near(row["total_ns"], by_name[row["name"]] / 24, row["name"])
    for row in view("communication", job):
        kind = {"allreduce": "all-reduce"}[row["collective"]]
        sums = groups.setdefault((kind, row["group_size"]), [0, 0, 0, 0])
        for i, figure in enumerate((row["calls"], row["calls"] * row["message_bytes"],
                                    row["total_ns"], row["exposed_ns"])):
            sums[i] += figure
    rows = store.ask("select c.* from {collectives} c join {runs} r using (run_id) where r.job = "
                     "'a''b'")
    check(len(rows) == len(groups), "collectives", rows)
    for row in rows:
        sums = groups[row["kind"], int(row["group_size"])]
        for name, figure in zip(("count", "bytes", "total_ns", "exposed_ns"), sums):
            near(row[name], figure / 24, name)
    waits = sum(row["wait_ns"] for row in view("collectives", job))
    near(sum(int(row["wait_ns"]) for row in rows), waits / 24, "wait_ns", len(rows))


def compare(folder):
    """A store has the figures of the views, and labels as they were given."""
    store, job = Store(folder / "it's a store"), simulate(folder / "job", "ddp8-straggler")
    labels = [word for key, value in ODD.items() for word in ("--label", f"{key}={value}")]
    out, _ = run("store", "add", store.path, job, "--job", "a'b", "--commit", "1a2b3c",
                 "--label", "team=other", *labels)
    check("added run" in out, out)
    compare_runs(store, job)
    compare_findings(store, job)
    compare_rank_steps(store, job)
    compare_sums(store, job)
    row, = store.ask("select to_json(labels) as labels, source from {runs}")
    check(json.loads(row["labels"]) == ODD, "labels", row)
    check(row["source"] == str(job), "source", row)
    # the same run again, elsewhere, unpacked, packed: nothing changes
    before = store.files()
    shutil.copytree(job, folder / "copy")
    (folder / "plain").mkdir()
    for file in job.glob("rank*.gz"):
        (folder / "plain" / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
    run("pack", job, "-o", folder / "packs")
    for place in ("job", "copy", "plain", "packs"):
        out, _ = run("store", "add", store.path, folder / place)
        check("is in the store already" in out, place, out)
    check(store.files() == before and len(before) == len(TABLES), "files", store.files())
    # compact: the same rows, and the run is still known
    simulate(folder / "second", "gpu1-healthy")
    run("store", "add", store.path, folder / "second", "--source", "s3://bucket/second.stepscope")
    rows = store.rows()
    run("store", "compact", store.path)
    check(len(store.files()) == 3 * len(TABLES), "readers still find", store.files())
    check(store.rows() == rows, "compact changes rows")
    run("store", "compact", store.path, "--grace", 0)
    check(len(store.files()) == len(TABLES), "compact leaves", store.files())
    check(store.rows() == rows, "deleting changes rows")
    out, _ = run("store", "add", store.path, job)
    check("is in the store already" in out, "after compact", out)
    listed, = view_of(run("store", "list", store.path, "--json")[0])
    check((listed["runs"], listed["files"]) == (2, len(TABLES)), "list", listed)
    run("store", "drop", store.path, "--before", listed["date"])
    check(len(store.files()) == len(TABLES), "dropped the day itself")
    run("store", "drop", store.path, "--before", "9999-01-01")
    check("no runs" in run("store", "list", store.path)[0] and store.files(), "not dropped")
    run("store", "drop", store.path, "--before", "9999-01-01", "--grace", 0)
    check(not store.files() and "no runs" in run("store", "list", store.path)[0], "not dropped")
    run("store", "add", store.path, job)
    check(len(store.files()) == len(TABLES), "added again", store.files())


def from_digests(folder):
    """Digests without their traces give the same run and the same rows as traces."""
    jobs = [simulate(folder / "seen", "ddp8-straggler", "--ranks", 4),
            simulate(folder / "long", "gpu1-healthy", "--steps", 150)]
    stores = [Store(folder / "of-traces"), Store(folder / "of-digests")]
    (folder / "digests").mkdir()
    for job in jobs:
        run("digest", job, "-o", folder / "digests" / job.name)
        run("store", "add", stores[0].path, job)
        job.rename(folder / (job.name + "-away"))
        out, _ = run("store", "add", stores[1].path, folder / "digests" / job.name)
        check("added run" in out, "digests", out)
    for table in TABLES:
        columns = "* exclude (added, source)" if table == "runs" else "*"
        a, b = (store.ask(f"select {columns} from {{{table}}} order by all") for store in stores)
        check(a == b and a, "digests give other", table, a[:2], b[:2])
    rows = stores[1].ask("select steps from {runs} order by steps")
    check([row["steps"] for row in rows] == ["3", "150"], "steps", rows)
    out, _ = run("store", "add", stores[0].path, folder / "digests/seen")
    check("is in the store already" in out, "a run that was added from its traces", out)


def steps_of_runs(folder):
    """Recordings alone fill the steps of a job, from digests as from traces; changes are found."""
    stores = [Store(folder / "steps-traces"), Store(folder / "steps-digests")]
    for number in range(16):
        slow = ("--cause", "input-in-process=1") if number >= 8 else ()
        job = simulate(folder / f"steps{number}", "gpu1-healthy", "--seed", number + 1, *slow)
        trace, = job.glob("rank*.gz")
        text = gzip.decompress(trace.read_bytes()).decode()
        base = text.split('"baseTimeNanoseconds": ')[1].split(",")[0]
        trace.write_bytes(gzip.compress(text.replace(
            base, str(int(base) + number * 1800 * 10**9)).encode()))
        run("digest", job, "-o", folder / f"steps-digest{number}")
        run("store", "add", stores[0].path, job, "--job", "pretrain")
        run("store", "add", stores[1].path, folder / f"steps-digest{number}", "--job", "pretrain")
    rows = [store.ask("select * from {job_steps} order by all") for store in stores]
    check(rows[0] == rows[1] and len(rows[0]) == 48, "job steps of digests", rows[1][:2])
    steps = [int(row["step_us"]) for row in rows[0]]
    expected = [int(row["us"]) for row in stores[0].ask(
        "select step_ns // 1000 as us from {rank_steps} s join {runs} r using (run_id) "
        "order by started, step")]
    check(sorted(steps) == sorted(expected), "job steps are those of the rank", steps, expected)
    changes = view_of(run("store", "changes", stores[1].path, "--json")[0])
    check(len(changes) == 1 and changes[0]["change_percent"] > 3, "changes of recordings", changes)


def compete(folder, name="shared", runs=8):
    """Writers at once, of the same and of other runs, while one compacts and others read."""
    views = os.environ.get("STEPSCOPE_STORE_VIEWS")
    views = [pathlib.Path(view) for view in views.split(":")] if views else [folder]
    store = Store(views[0] / name)
    paths = [simulate(folder / f"run{i}", "gpu1-healthy", "--seed", i + 1) for i in range(runs)]
    writers = [start("store", "add", views[i % len(views)] / name, paths[i], paths[0], paths[i - 1])
               for i in range(runs)]
    seen, compacted = set(), 0
    while any(writer.poll() is None for writer in writers) or not compacted:
        if not list(store.path.glob("manifest/*.csv")):
            time.sleep(0.01)
            continue
        compact = start("store", "compact", views[-1] / name)
        while compact.poll() is None:
            counts = store.ask("select run_id, count(*) as n from {runs} group by all")
            now = {row["run_id"] for row in counts}
            check({row["n"] for row in counts} == {"1"} and seen <= now, "a reader sees", counts)
            steps = store.ask("select run_id, count(*) as n from {rank_steps} group by all")
            check({row["n"] for row in steps} == {"3"}, "a reader sees steps", steps)
            seen = now
        out, err = compact.communicate()
        check(compact.returncode == FINE, "compact", out, err)
        compacted += "compacted" in out
    added = 0
    for writer in writers:
        out, err = writer.communicate()
        check(writer.returncode == FINE, "a writer", out, err)
        added += out.count("added run")
    rows = store.ask("select run_id, count(*) as n from {runs} group by all")
    check(len(rows) == added == runs and {row["n"] for row in rows} == {"1"}, "at last", rows)
    steps = store.ask("select count(*) as n from {rank_steps} group by run_id")
    check([row["n"] for row in steps] == ["3"] * runs, "steps after all writers", steps)
    run("store", "compact", store.path, "--grace", 0)
    check(len(store.files()) == len(TABLES), "left behind", store.files())


def watch(folder):
    """Runs that arrive: single files, folders of ranks, broken files; Ctrl-C; a restart."""
    store, arriving = Store(folder / "arriving/store"), folder / "arriving"
    job, one = folder / "job", simulate(folder / "one", "gpu1-healthy", "--seed", 9)
    arriving.mkdir()
    (arriving / "rank0").mkdir()
    watcher = start("watch", arriving, "--store", store.path, "--settle", 1)
    trace, = one.glob("rank*.gz")
    (arriving / "broken.json").write_text("no trace")
    # it grows for longer than it takes to settle
    data = trace.read_bytes()
    with open(arriving / "trace.json.gz", "wb") as file:
        for at in range(0, len(data), len(data) // 4 + 1):
            file.write(data[at:at + len(data) // 4 + 1])
            file.flush()
            time.sleep(0.4)
    for rank in job.glob("rank*.gz"):
        place = arriving / "job" / rank.name.split(".")[0]
        place.mkdir(parents=True)
        shutil.copy(rank, place / "trace.json.gz")
    deadline = time.monotonic() + 60
    # a file that no manifest names yet is no run
    while time.monotonic() < deadline and len(list(store.path.glob("manifest/*.csv"))) < 2:
        time.sleep(0.1)
    watcher.send_signal(signal.SIGINT)
    out, err = watcher.communicate(timeout=60)
    check(watcher.returncode == FINE, "Ctrl-C", watcher.returncode, out, err)
    check("broken.json" in err and "Traceback" not in err, "the broken file", err)
    rows = store.ask("select source, ranks, damaged_files from {runs} order by source")
    check([(pathlib.Path(row["source"]).name, row["ranks"], row["damaged_files"]) for row in rows]
          == [("job", "8", "0"), ("trace.json.gz", "1", "0")], "watched", rows)
    # a restart reads nothing again
    out, _ = run("watch", arriving, "--store", store.path, "--settle", 0, "--once")
    check("added" not in out and "already" not in out, "restart", out)
    # without the list the ids still keep runs from being added twice
    for file in store.path.glob(".watched*"):
        file.unlink()
    out, _ = run("watch", arriving, "--store", store.path, "--settle", 0, "--once")
    check("added" not in out and out.count("already") == 2, "without the list", out)


NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
int flock(int file, int kind) { errno = ENOLCK; return -1; }
static int ask(const char *name, int file, int what, void *word)
{
	int (*next)(int, int, ...) = dlsym(RTLD_NEXT, name);
	if (what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK)
	{ errno = ENOLCK; return -1; }
	return next(file, what, word);
}
#define WRAP(name) int name(int file, int what, ...) { va_list words; va_start(words, what); \\
	return ask(#name, file, what, va_arg(words, void *)); }
WRAP(fcntl)
WRAP(fcntl64)
"""


def without_locks(folder):
    """Some network file systems have no locks."""
    if "LD_PRELOAD" in ENVIRONMENT or not shutil.which("cc"):
        return
    shim = folder / "locks.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim], check=True, text=True,
                   input=NO_LOCKS)
    ENVIRONMENT["LD_PRELOAD"] = str(shim)
    compete(folder, "without-locks", 4)
    del ENVIRONMENT["LD_PRELOAD"]


def first_layout(folder):
    """Stores of layout 1 are read as they are; the first change makes the first manifest."""
    store = Store(folder / "of-layout-1")
    for name in ("job", "one"):
        run("store", "add", store.path, folder / name)
    rows, names = store.rows(), store.files()
    for name in names:  # as layout 1 had them
        run_id = name.split("/")[-1].split("-")[0]
        (store.path / name).rename((store.path / name).with_name(f"{run_id}.parquet"))
    shutil.rmtree(store.path / "manifest")
    (store.path / "stepscope.json").write_text('{"schema": "stepscope.store", "layout": 1}')
    orphan = next(store.path.glob("kernels/*/*.parquet"))
    shutil.copy(orphan, orphan.with_name("0123456789abcdef.parquet"))
    listed = view_of(run("store", "list", store.path, "--json")[0])
    check(sum(row["runs"] for row in listed) == 2, "layout 1 is listed", listed)
    check("already" in run("store", "add", store.path, folder / "job")[0], "a run of layout 1")
    check(not (store.path / "manifest").exists(), "reading changes nothing")
    run("store", "compact", store.path)
    check(store.rows() == rows, "layout 1 is converted")
    check('"layout": 2' in (store.path / "stepscope.json").read_text(), "layout 2")


def refuse(folder):
    store, trace = folder / "refusing", next((folder / "one").glob("rank*.gz"))
    run("store", "add", store, trace)
    refused("has other files", "store", "add", folder / "job", trace)
    refused("is not a store", "store", "list", folder / "job")
    refused("KEY=VALUE", "store", "add", store, trace, "--label", "team")
    refused("KEY=VALUE", "store", "add", store, trace, "--label", "=x")
    refused("does not apply", "store", "add", store, trace, "--before", "2026-01-01")
    refused("does not apply", "store", "list", store, "--label", "a=b")
    refused("--before", "store", "drop", store)
    refused("takes a date", "store", "drop", store, "--before", "yesterday")
    refused("no action", "store", "ad", store)
    refused("expected", "store", "add", store)
    refused("expected", "watch", folder)
    refused("cannot open", "store", "add", store, folder / "missing", code=FAILED)
    refused("cannot open", "watch", folder / "missing", "--store", store, code=FAILED)
    (folder / "text.json").write_text("{}")
    refused("not a profiler trace", "store", "add", store, folder / "text.json", code=FAILED)
    description = store / "stepscope.json"
    description.write_text('{"schema": "stepscope.store", "layout": 3}')
    refused("use a newer stepscope", "store", "add", store, trace, code=FAILED)
    description.write_text("{}")
    refused("does not describe a store", "store", "list", store, code=FAILED)


def main():
    if not DUCKDB.exists():
        ENVIRONMENT["STEPSCOPE_DUCKDB"] = "/nowhere"
        refused("needs DuckDB", "store", "add", "x", "y", code=FAILED)
        print("store: skipped: no DuckDB")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for part in (compare, from_digests, steps_of_runs, compete, watch, without_locks,
                     first_layout, refuse):
            if sys.argv[3:] and part.__name__ not in sys.argv[3:]:
                continue
            began = time.monotonic()
            part(folder)
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s")
    for failure in failures:
        print(failure)
    print(f"store: {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
