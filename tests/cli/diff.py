#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two simulated runs, one with a planted straggler: what diff says of them.

Usage: diff.py STEPSCOPE.
"""
import csv
import io
import json
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
failures = 0


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
        print(f"{what}: {found}")


def simulate(folder, *words):
    made = run("sim", "--ranks", "2", "--steps", "3", "--plain", "-o", folder, *words)
    check("sim", made.returncode == 0, made.stderr)


def table_of(document, index=0):
    table = document["tables"][index]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def step_of(folder):
    return json.loads(run("diagnose", "--format", "json", folder).stdout)["step_ns"]


def compare(slow, healthy):
    document = json.loads(run("diff", "--format", "json", slow, healthy).stdout)
    steps = [own["step_ns"] for own in document["runs"]]
    check("step of the slow run", abs(steps[0] - step_of(slow)) <= 2, steps)
    check("step of the healthy run", abs(steps[1] - step_of(healthy)) <= 2, steps)
    check("the straggler made it slower", steps[0] > 1.2 * steps[1], steps)
    parts = table_of(document)
    check("parts are named once", len({row["part"] for row in parts}) == len(parts), parts)
    for row in parts:
        if row["mean_a_ns"] is not None and row["mean_b_ns"] is not None:
            change = row["mean_b_ns"] - row["mean_a_ns"]
            check("change", row["mean_change_ns"] == change, row)
    sizes = [abs(row["mean_change_ns"]) for row in parts]
    check("the largest change first", sizes == sorted(sizes, reverse=True), sizes)
    check("kernels follow", document["tables"][1]["schema"] == "stepscope.kernels.diff/1")


def same(folder):
    for row in table_of(json.loads(run("diff", "--format", "json", folder, folder).stdout), 1):
        check("nothing changes against itself", row["total_change_ns"] == 0, row)
    out = run("diff", "--view", "operators", "--format", "csv", "--rank", "0", folder, folder)
    rows = list(csv.DictReader(io.StringIO(out.stdout)))
    check("csv has rows", len(rows) > 3, out.stderr)
    check("csv: nothing changes", all(row["host_self_change_ns"] == "0" for row in rows))
    text = run("diff", folder, folder).stdout
    check("text says so", "(+0.0 %)" in text, text[:200])


def refused(folder):
    cases = (
        (("diff", folder), 2, "expected two runs: two trace files or folders"),
        (("diff", folder, folder, folder), 2, "expected two runs: two trace files or folders"),
        (("diff", "--view", "nothing", folder, folder), 2, "no view called 'nothing'"),
        (("diff", "--view", "kernels", "--group", "x", folder, folder), 2, "has no group 'x'"),
        (("diff", "--sort", "calls", folder, folder), 2, "--sort applies to one view"),
        (("diff", "--rank", "7", folder, folder), 2, "no file for rank 7"),
        (("diff", folder, folder + "/nothing.json"), 1, "nothing.json"),
    )
    for words, code, sentence in cases:
        out = run(*words)
        check(" ".join(words), out.returncode == code and sentence in out.stderr,
              f"{out.returncode}: {out.stderr}")


def main():
    with tempfile.TemporaryDirectory() as place:
        slow, healthy = place + "/slow", place + "/healthy"
        simulate(slow, "--preset", "ddp8-straggler")
        simulate(healthy, "--preset", "ddp8-healthy")
        compare(slow, healthy)
        same(healthy)
        refused(healthy)
    print(f"{failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
