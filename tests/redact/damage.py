#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile files are redacted without a crash, and are as damaged afterwards.

Usage: damage.py STEPSCOPE. Every file of the hostile tests is copied with `redact`; where it loads,
its copy loads, with the same events in memory and the same oddities. Where the bytes themselves are
random, what is skipped may be counted in other pieces: what is read is the same there, too.
"""
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from hostile_input import cases, files  # noqa: E402
from hostile_input.making import CASES  # noqa: E402

STEPSCOPE = sys.argv[1]
# copies are compressed anew, which is told; texts are replaced, with the odd bytes in them
COMPRESSED = {"compressed-trailing", "compressed-cut", "compressed-corrupt"}
OTHERWISE = COMPRESSED | {"bad-utf8", "control-character", "unknown-phase", "no-phase",
                          "loose-json"}
# a stream that goes on behind its damage gives bytes at random
RANDOM = {"gzip, damaged at two thirds of a long file"}
UNREADABLE = "(other or unreadable)"
BYTES_MAX = 3_000_000
failures = []


def run(*words):
    return subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                          check=False, timeout=120)


def rows_of(path, view, *columns):
    """Rows of a view, these columns; what it says where it fails."""
    result = run(view, path, "--format", "csv")
    if result.returncode:
        return "cannot be read"
    rows = csv.DictReader(io.StringIO(result.stdout.decode()))
    return sorted(tuple(row[column] for column in columns) for row in rows)


def oddities(path):
    rows = rows_of(path, "quality", "oddity", "count")
    return rows if isinstance(rows, str) else [row for row in rows if row[0] not in OTHERWISE]


def flaws(path):
    rows = rows_of(path, "quality", "oddity")
    return [] if isinstance(rows, str) else rows


def events(path, is_random):
    """How many of each category; their names change."""
    rows = rows_of(path, "categories", "category", "events")
    return rows if isinstance(rows, str) else sorted(
        int(row[1]) for row in rows if not is_random or row[0] != UNREADABLE)


def kinds(rows, is_random):
    return [row[0] for row in rows] if is_random and not isinstance(rows, str) else rows


def check(test, work):
    path, copy = work / f"a{test.suffix}", work / "b.json"
    path.write_bytes(test.data)
    result = run("redact", path, "-o", copy, "--force")
    if result.returncode not in (0, 1) or (result.returncode == 1 and not result.stderr):
        failures.append(f"{test.name}: redact gives {result.returncode}")
    told = b"truncated or damaged" in result.stderr
    if not result.returncode and flaws(path) and told != any(
            row[0] in COMPRESSED - {"compressed-trailing"} for row in flaws(path)):
        failures.append(f"{test.name}: damage {'is' if told else 'is not'} told")
    if result.returncode:
        if not isinstance(oddities(path), str):
            failures.append(f"{test.name}: {result.stderr.decode()[:200]}")
        return
    is_random = test.name in RANDOM
    for before, after in ((kinds(oddities(path), is_random), kinds(oddities(copy), is_random)),
                          (events(path, is_random), events(copy, is_random))):
        if before != after:
            failures.append(f"{test.name}: {before} | {after}")


def main():
    make = [getattr(module, name) for module in (files, cases) for name in dir(module)
            if name.endswith("_cases")]
    for one in make:
        one()
    tried = [test for test in CASES if not test.giant and len(test.data) < BYTES_MAX]
    if not RANDOM <= {test.name for test in tried}:
        failures.append("a file of random bytes is missing")
    with tempfile.TemporaryDirectory() as name:
        for test in tried:
            check(test, pathlib.Path(name))
    for failure in failures:
        print("FAILED:", failure[:700])
    print(f"{len(tried)} files, {len(failures)} failures")
    return 1 if failures or len(tried) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
