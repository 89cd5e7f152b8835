#!/usr/bin/env python3
"""Damaged and hostile files are redacted without a crash, and are as damaged afterwards.

Usage: damage.py STEPSCOPE. Every file of the hostile tests is copied with `redact`; where it loads,
its copy loads, with the same events in memory and the same oddities.
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
OTHERWISE = COMPRESSED | {"bad-utf8", "control-character", "unknown-phase", "no-phase"}
# bytes at random: what is a text there is anybody's guess
SKIPPED = {"gzip, damaged at two thirds of a long file"}
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


def check(test, work):
    path, copy = work / f"a{test.suffix}", work / "b.json"
    path.write_bytes(test.data)
    result = run("redact", path, "-o", copy, "--force")
    if result.returncode not in (0, 1) or (result.returncode == 1 and not result.stderr):
        failures.append(f"{test.name}: redact gives {result.returncode}")
    told = b"cut or damaged" in result.stderr
    if not result.returncode and flaws(path) and told != any(
            row[0] in COMPRESSED - {"compressed-trailing"} for row in flaws(path)):
        failures.append(f"{test.name}: damage {'is' if told else 'is not'} told")
    if result.returncode:
        if not isinstance(oddities(path), str):
            failures.append(f"{test.name}: {result.stderr.decode()[:200]}")
        return
    for before, after in ((oddities(path), oddities(copy)),
                          (rows_of(path, "categories", "events"),
                           rows_of(copy, "categories", "events"))):
        if before != after:
            failures.append(f"{test.name}: {before} | {after}")


def main():
    make = [getattr(module, name) for module in (files, cases) for name in dir(module)
            if name.endswith("_cases")]
    for one in make:
        one()
    tried = [test for test in CASES if not test.giant and len(test.data) < BYTES_MAX
             and test.name not in SKIPPED]
    with tempfile.TemporaryDirectory() as name:
        for test in tried:
            check(test, pathlib.Path(name))
    for failure in failures:
        print("FAILED:", failure[:700])
    print(f"{len(tried)} files, {len(failures)} failures")
    return 1 if failures or len(tried) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
