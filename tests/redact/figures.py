#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No figure changes when a trace is redacted.

Usage: figures.py STEPSCOPE TRACES [PART OF A PATH]. Copies traces, jobs and snapshots with
`redact` and compares every view, the verdict and the views of memory before and after: the rows
as they are but for their texts, in any order. STEPSCOPE_QUICK=1 takes a 48th of the inputs.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

STEPSCOPE = sys.argv[1]
TRACES = pathlib.Path(sys.argv[2])
WANTED = sys.argv[3] if len(sys.argv) > 3 else None
# of the file itself, and of the machine
OTHER_COLUMNS = {"disk_bytes", "file_bytes", "load_seconds", "unpacked_bytes", "bytes_per_event"}
FOLDERS = ("jobs/*", "cpu/*", "cuda/two_ranks", "cpu_faults/*")
FILES = ("cuda/*.json.gz", "rocm/*.json.gz", "pairs/*.json.gz", "other/*.json.gz",
         "memory/*.json.gz")
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:1500])


def run(*words):
    return subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                          check=False, timeout=600)


def names_of_views():
    """Reports and views as help lists them; reports have no rows."""
    lines = run("help").stdout.decode().split("Reports and views:")[1].split("Other commands:")[0]
    return [line.split()[0] for line in lines.strip().split("\n")
            if line.split()[0] not in ("overview", "info", "hang", "live")]


def names_of_snapshot_views():
    text = run("help", "snapshot").stdout.decode()
    part = text.split("Views:")[1] if "Views:" in text else ""
    return [line.split()[0] for line in part.split("\n")
            if line[:2] == "  " and line[2:3].isalpha()]


def figures(cell):
    return "text" if isinstance(cell, str) else cell


def table(text):
    """The rows of a view without texts, counted; the reason where there are none."""
    try:
        found = json.loads(text)
    except ValueError:
        return "no rows"
    if "rows" not in found:
        return "no rows"
    kept = [i for i, column in enumerate(found["columns"]) if column["name"] not in OTHER_COLUMNS]
    return collections.Counter(tuple(figures(row[i]) for i in kept) for row in found["rows"])


def verdict(text):
    """Rules in their order, with their figures."""
    try:
        found = json.loads(text)
    except ValueError:
        return "no verdict"

    def plain(value, key=""):
        if isinstance(value, dict):
            return {k: plain(v, k) for k, v in value.items() if k not in OTHER_COLUMNS}
        if isinstance(value, list):
            return [plain(one) for one in value]
        if isinstance(value, str) and key not in ("rule", "confidence", "bottleneck"):
            return "text"
        return value
    return plain(found)


def difference(before, after):
    if isinstance(before, str) or isinstance(after, str):
        return f"{str(before)[:80]} | {str(after)[:80]}"
    return f"{list((before - after).items())[:3]} | {list((after - before).items())[:3]}"


def compare(path, copy, views):
    for view in views:
        before = table(run(view, path, "--format", "json").stdout)
        after = table(run(view, copy, "--format", "json").stdout)
        check(before == after, path, view, difference(before, after))
    before = verdict(run("diagnose", path, "--format", "json").stdout)
    after = verdict(run("diagnose", copy, "--format", "json").stdout)
    check(before == after, path, "diagnose", json.dumps(before)[:600], json.dumps(after)[:600])


def compare_snapshot(path, copy, views):
    for view in views:
        before = table(run("snapshot", path, view, "--format", "json").stdout)
        after = table(run("snapshot", copy, view, "--format", "json").stdout)
        check(before == after, path, "snapshot", view, difference(before, after))


def take_turns(found):
    """A part of them; all that have the wanted part."""
    found = sorted(set(found))
    if WANTED is not None:
        return [path for path in found if WANTED in str(path)]
    return share(found, 48)


def copy_of(path, work):
    out = work / path.name if path.is_dir() else work / f"copy.{path.name}"
    result = run("redact", path, "-o", out)
    check(result.returncode == 0, "redact", path, result.stderr.decode())
    return out


def main():
    if not TRACES.is_dir():
        print(f"skipped: no traces at {TRACES}")
        return 77
    inputs = [p for pattern in FOLDERS for p in TRACES.glob(pattern) if p.is_dir()]
    inputs += [p for pattern in FILES for p in TRACES.glob(pattern)]
    snapshots = list(TRACES.glob("memory/**/*.pickle"))
    views, memory_views = names_of_views(), names_of_snapshot_views()
    check(len(views) > 30, "views:", views)
    taken = take_turns(inputs)
    for path in taken:
        with tempfile.TemporaryDirectory() as work:
            compare(path, copy_of(path, pathlib.Path(work)), views)
    for path in take_turns(snapshots):
        with tempfile.TemporaryDirectory() as work:
            compare_snapshot(path, copy_of(path, pathlib.Path(work)), memory_views)
    print(f"{len(taken)} of {len(inputs)} inputs, {len(failures)} failures")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
