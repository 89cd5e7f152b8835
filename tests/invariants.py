#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must hold for the figures of every trace, whatever is in it.

Usage: invariants.py STEPSCOPE TRACES. For every trace under TRACES or, when there are none, for
some simulated jobs: the parts of breakdown and budget sum to the step, to the nanosecond; what a
device did fits into its span; no figure is below zero and no share above its base; the views agree
about the steps and about each other's sums. Prints the first figures of each file that do not hold.

The rules of steps and devices (here) are looked at for every file. Those between views
(invariants_views.py), of every table of every group (invariants_tables.py), of sums from the file
itself (invariants_raw.py) and of the width of text are looked at for every file alone of its kind
and for the first rank of each job (sums from the file up to 300 kB packed, text of all groups up to
500 kB); the other ranks have every third of the rules between views, each rank others, and of the
tables those that these look at. Small files without devices, operators, steps, shapes, stacks or
anything go through all of it, too. STEPSCOPE_QUICK=1 takes a 48th of the traces, others each
day.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

import invariants_raw
import invariants_tables
import invariants_views
from invariants_tables import ROUNDING

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

import chosen

# those that have most in them, and one of each layout
PRESETS = ("gpu1-healthy", "ddp8-slow", "pp4-healthy", "serve1-healthy", "mi300-four",
           "cnn8-healthy", "fsdp8-memory-leak", "tp4-sync-print", "small1-graph-break")
NO_TRACE = "not a profiler trace"
WIDTH = 80  # columns of text
STRIDE = 3  # every so manyth rule between views for ranks like others
RAW_BYTES = 300_000  # larger files take Python too long
TEXT_BYTES = 500_000  # of larger files the text of the first groups will do
PRINTED = 5  # rules of a file that do not hold
REPORTS = ("overview", "info", "hang", "live")  # several tables

BREAKDOWN = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns",
             "dataloader_ns", "cpu_ns", "other_ns")
EXPOSED = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns")
BUDGET = EXPOSED + ("idle_ns",)


class Refused(Exception):
    """The program did not answer."""


class NoTrace(Refused):
    """The file is something else."""


class Trace:
    """A file, and what the program says of it."""

    def __init__(self, stepscope, offers, path):
        self.stepscope, self.offers, self.path = stepscope, offers, path
        self.documents, self.rows = {}, {}

    def run(self, view, group, *words):
        command = [self.stepscope, view, "--threads", "1", *words, self.path]
        if group:
            command[2:2] = ["--group", group]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode == 1 and NO_TRACE in result.stderr:
            raise NoTrace(result.stderr.strip())
        if result.returncode != 0:
            raise Refused(f"{view} {group}: status {result.returncode}: "
                          f"{result.stderr.strip()[:2000]}")
        return result.stdout

    def document(self, view, group):
        if (view, group) not in self.documents:
            self.documents[view, group] = invariants_tables.parse(
                self.run(view, group, "--format", "json"))
        return self.documents[view, group]

    def __call__(self, view, group=None):
        """The rows of a view, by column name."""
        group = group or (self.offers[view]["groups"] or [None])[0]
        if (view, group) not in self.rows:
            self.rows[view, group] = invariants_tables.rows_of(self.document(view, group))
        return self.rows[view, group]


def offers_of(stepscope):
    """Views and reports, with their groups and columns (those of an empty file)."""
    def run(*words, text=None):
        return subprocess.run([stepscope, *words], input=text, capture_output=True, text=True,
                              check=True).stdout
    lines = run("help").split("Reports and views:\n")[1].split("\n\n")[0].splitlines()
    found = {}
    for name in (line.split()[0] for line in lines):
        groups = re.findall("^Groups: (.*)$", run("help", name), re.MULTILINE)
        empty = json.loads(run(name, "--format", "json", "-", text='{"traceEvents":[]}'))
        found[name] = {"groups": groups[0].split(", ") if groups else [],
                       "columns": [column["name"] for column in empty.get("columns", [])]}
    return found


# --- rules: each yields (what, holds, numbers) ---------------------------------------------------


def adds_up(what, row, parts, whole):
    numbers = [row[part] for part in parts]
    yield f"{what}: {' + '.join(parts)} = {whole}", sum(numbers) == row[whole], (
        *numbers, sum(numbers), row[whole])


def share(what, row, name, part, whole):
    """A share is null without a base, else part of it."""
    if not whole:
        yield f"{what}: {name} without a base", row[name] is None, row[name]
        return
    wanted = 100 * part / whole
    holds = row[name] is not None and abs(row[name] - wanted) < ROUNDING
    yield f"{what}: {name}", holds, (row[name], wanted)


def step_rules(steps, breakdown):
    """The steps that count and last, in their order, with their length."""
    kept = [(row["step"], row["dur_ns"]) for row in steps if not row["dropped"] and row["dur_ns"]]
    ours = [(row["step"], row["dur_ns"]) for row in breakdown]
    yield "breakdown: steps and dur_ns as in the view steps", ours == kept, (ours, kept)
    for row in breakdown:
        what = f"breakdown, step {row['step']}"
        yield from adds_up(what, row, BREAKDOWN, "dur_ns")


def device_rules(row):
    what = f"utilization, device {row['device']}"
    order = ("compute_ns", "kernel_ns", "busy_ns", "span_ns")
    numbers = [row[name] for name in order]
    yield f"{what}: {' <= '.join(order)}", numbers == sorted(numbers), numbers
    yield from adds_up(what, row, ("busy_ns", "idle_ns"), "span_ns")
    yield from adds_up(what, row, ("compute_ns", "exposed_comm_ns"), "kernel_ns")
    yield from adds_up(what, row, EXPOSED, "busy_ns")
    yield from share(what, row, "gpu_percent", row["kernel_ns"], row["span_ns"])
    if row["sm_percent"] is not None:
        holds = row["sm_percent"] <= row["gpu_percent"] + ROUNDING
        yield f"{what}: sm_percent <= gpu_percent", holds, (row["sm_percent"], row["gpu_percent"])


def budget_rules(row):
    what = f"budget, device {row['device']}, step {row['step']}"
    yield from adds_up(what, row, BUDGET, "dur_ns")
    hidden = row["comm_ns"] - row["exposed_comm_ns"]
    yield f"{what}: 0 <= hidden communication <= compute_ns", 0 <= hidden <= row["compute_ns"], (
        hidden, row["compute_ns"])
    yield from share(what, row, "overlap_percent", hidden, row["comm_ns"])


def agreement_rules(breakdown, budget, utilization):
    """Steps lie within the span, and a file's compute is no less than that of a device."""
    lengths = {row["step"]: row["dur_ns"] for row in breakdown}
    for device in utilization:
        number = device["device"]
        own = [row for row in budget if row["device"] == number]
        what = f"budget, device {number}"
        ours = {row["step"]: row["dur_ns"] for row in own}
        yield f"{what}: steps and dur_ns as in breakdown", ours == lengths, (ours, lengths)
        for name in BUDGET:
            total = sum(row[name] for row in own)
            holds = total <= device[name]
            yield f"{what}: {name} of the steps <= that of the span", holds, (total, device[name])
    devices = {row["device"] for row in utilization}
    strangers = {row["device"] for row in budget} - devices
    yield "budget: devices as in utilization", not utilization or not strangers, strangers
    for row in breakdown:
        compute = [b["compute_ns"] for b in budget if b["step"] == row["step"]]
        holds = max(compute, default=0) <= row["kernel_ns"] <= sum(compute)
        yield (f"step {row['step']}: breakdown's kernel_ns between the most and the sum of "
               "budget's compute_ns", holds, (row["kernel_ns"], compute))


def step_and_device_rules(trace):
    steps, breakdown, budget, utilization = (
        trace(view) for view in ("steps", "breakdown", "budget", "utilization"))
    yield from step_rules(steps, breakdown)
    for row in utilization:
        yield from device_rules(row)
    for row in budget:
        yield from budget_rules(row)
    yield from agreement_rules(breakdown, budget, utilization)


def text_rules(trace):
    some = 1 if os.path.getsize(trace.path) > TEXT_BYTES else None
    for view, offer in trace.offers.items():
        for group in (offer["groups"] or [None])[:some]:
            text = trace.run(view, group, "--width", str(WIDTH))
            yield from invariants_tables.text_rules(f"{view} {group or ''}", text, WIDTH)


def rules(trace, whole, turn):
    """All of them for a file that is looked at as a whole, else every third, `turn` says which."""
    yield from step_and_device_rules(trace)
    for number, rule in enumerate(invariants_views.RULES):
        if whole or number % STRIDE == turn % STRIDE:
            yield from rule(trace)
    if whole:
        yield from text_rules(trace)
        for view in trace.offers:
            for group in trace.offers[view]["groups"] or [None]:
                trace.document(view, group)
        if os.path.getsize(trace.path) <= RAW_BYTES:
            yield from invariants_raw.rules(trace)
    for (view, group), document in trace.documents.items():
        if view not in REPORTS:
            yield from invariants_tables.table_rules(view, group, document,
                                                     trace.offers[view]["columns"])


# --- files ---------------------------------------------------------------------------------------


def check(stepscope, offers, job):
    """How many rules were looked at, and those that do not hold; None for no trace."""
    path, whole, turn = job
    count, failed = 0, []
    try:
        for what, holds, numbers in rules(Trace(stepscope, offers, path), whole, turn):
            count += 1
            if not holds:
                failed.append(f"{what}: {str(numbers)[:2000]}")
    except NoTrace:
        return None
    except (Refused, ArithmeticError, LookupError, TypeError, ValueError) as reason:
        where = traceback.extract_tb(reason.__traceback__)[-1]
        return count + 1, [*failed, f"{where.name}, line {where.lineno}: {reason!r}"]
    return count, failed


def traces_in(folder):
    return sorted(p for p in pathlib.Path(folder).rglob("*.json*")
                  if p.is_file() and p.name.endswith((".json", ".json.gz", ".json.zst")))


def simulated(stepscope, folder):
    for preset in PRESETS:
        output = pathlib.Path(folder, preset)
        command = [stepscope, "sim", "--preset", preset, "-o", output]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{preset} cannot be simulated: {result.stderr.strip()}")
    return [path for path in traces_in(folder) if path.name != "truth.json"]


def jobs_of(paths):
    """(path, whole, turn): the first rank of a job as a whole, those like it in turn."""
    seen = {}
    for path in paths:
        kind = re.sub(r"(rank|rank_file|worker|node)[\d_.]+", "", str(path))
        turn = seen[kind] = seen.get(kind, -1) + 1
        yield path, turn == 0, turn


def check_all(stepscope, offers, jobs):
    files = checks = failed = 0
    # the largest first, so that no worker is left alone with one
    jobs = sorted(jobs, key=lambda job: (-job[1] * os.path.getsize(job[0]), job[0]))
    with concurrent.futures.ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        results = pool.map(functools.partial(check, stepscope, offers), jobs)
        for (path, _, _), found in zip(jobs, results):
            if found is None:
                continue
            files += 1
            checks += found[0]
            for line in found[1][:PRINTED]:
                print(f"{path}: {line}")
            failed += len(found[1])
    print(f"{files} files, {checks} checks, {failed} failed")
    return files and checks and not failed


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stepscope, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        paths = chosen.share(traces_in(folder) or simulated(stepscope, scratch), 48)
        jobs = [*jobs_of(paths),
                *((path, True, 0) for path in invariants_raw.poor_files(stepscope, scratch))]
        sys.exit(0 if check_all(stepscope, offers_of(stepscope), jobs) else 1)


if __name__ == "__main__":
    main()
