#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The 25 queries of docs/sql.md give what was computed without DuckDB.

Usage: questions.py STEPSCOPE ROOT TRACES DUCKDB. Queries about events are compared with the events
as Python reads them from the file, queries about views with the JSON of the view. Every number of a
question has one function here; one that is missing is an error.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict

import raw_trace

SKIPPED = 77
KERNEL = "kernel"
REAL = ("cuda/nccl_args.json.gz", "cuda/resnet50_workers0.pt.trace.json.gz")


class Case:
    """One input: its events, and its views when they are asked for."""

    def __init__(self, stepscope, path):
        self.stepscope, self.path = stepscope, path
        self.traces = raw_trace.traces_of(path)
        self.slices = [one for trace in self.traces for one in trace.slices]

    def of(self, *kinds):
        return [one for one in self.slices if one.kind in kinds]

    def view(self, name):
        result = subprocess.run([self.stepscope, name, "--json", self.path], capture_output=True,
                                text=True, check=True)
        document = json.loads(result.stdout)
        if "columns" not in document:
            return document
        names = [column["name"] for column in document["columns"]]
        return [dict(zip(names, row)) for row in document["rows"]]


def rank_order(rank):
    return -1 if rank is None else rank


def grouped(items, key, *figures):
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return [(*(name if isinstance(name, tuple) else (name,)), *(figure(rows) for figure in figures))
            for name, rows in groups.items()]


def total(rows):
    return sum(row.dur for row in rows)


def by_figure(rows, column, top=None):
    return sorted(rows, key=lambda row: (-row[column], row[0]))[:top]


def near(a, b):
    return abs(a - b) <= 1e-6 + 1e-6 * abs(b)


def is_quantile(values, quantile, value):
    below = sum(one < value for one in values)
    up_to = sum(one <= value for one in values)
    return value in values and below <= quantile * len(values) <= up_to + 1


def q1(case):
    return by_figure(grouped(case.of(KERNEL), lambda one: one.name, len, total), 2, 10)


def q2(case):
    return by_figure(grouped(case.slices, lambda one: one.category, len, total), 1)


def q3(case, rows):
    expected = dict(grouped(case.of(KERNEL), lambda one: one.rank,
                            lambda ones: max(one.dur for one in ones)))
    ran = {(one.rank, one.name, one.dur) for one in case.of(KERNEL)}
    return {row[0]: row[2] for row in rows} == expected and all(tuple(row) in ran for row in rows)


def q4(case, rows):
    durations = [one.dur for one in case.of(KERNEL)]
    (count, median, high, longest), = rows
    return (count, longest) == (len(durations), max(durations)) and \
        is_quantile(durations, .5, median) and is_quantile(durations, .99, high)


def q5(case):
    durations = [one.dur for one in case.of(KERNEL)]
    short = sum(one < 10000 for one in durations)
    return [(short, len(durations), 100 * short / len(durations))]


def covered(slices):
    """The union of the intervals."""
    busy, last = 0, None
    for one in sorted(slices, key=lambda slice_: slice_.start):
        if last is None or one.end > last:
            busy += one.end - (one.start if last is None else max(one.start, last))
            last = one.end
    return busy


def q6(case):
    rows = grouped(case.of(*raw_trace.ON_DEVICE), lambda one: (one.rank, one.device, one.stream),
                   covered)
    return sorted(rows, key=lambda row: (rank_order(row[0]), row[1:]))


def q7(case, rows):
    gaps = []
    for _, *ones in grouped(case.of(*raw_trace.ON_DEVICE), lambda one: (one.rank, one.device),
                            list):
        last = None
        for one in sorted(ones[-1], key=lambda slice_: (slice_.start, slice_.end)):
            if last is not None and one.start > last:
                gaps.append((one.rank, one.device, last, one.start - last))
            last = one.end if last is None else max(last, one.end)
    gaps.sort(key=lambda gap: (-gap[3], rank_order(gap[0]), gap[2]))
    return [tuple(row[:4]) for row in rows] == gaps[:10]


def q8(case, rows):
    delays = {name: values for name, values in grouped(
        (one for one in case.of(KERNEL) if one.launch), lambda one: one.rank,
        lambda ones: [one.start - one.launch.start for one in ones])}
    return len(rows) == len(delays) and all(
        (count, longest) == (len(delays[rank]), max(delays[rank])) and
        is_quantile(delays[rank], .5, median) for rank, count, median, longest in rows)


def q9(case):
    launched = [one for one in case.of(KERNEL) if one.launch and one.launch.parent and
                one.launch.parent.kind == "operator"]
    return by_figure(grouped(launched, lambda one: one.launch.parent.name, len, total), 1, 10)


def q10(case):
    children = defaultdict(int)
    for one in case.slices:
        children[id(one.parent)] += one.dur
    return by_figure(grouped(case.of("operator"), lambda one: one.name, len,
                             lambda ones: sum(one.dur - children[id(one)] for one in ones)), 2, 10)


def counted_steps(case):
    return [row for row in case.view("steps") if row["dropped"] is None]


def q11(case, rows):
    expected = grouped(counted_steps(case), lambda row: row["rank"], len,
                       lambda ones: sum(one["dur_ns"] for one in ones) / len(ones),
                       lambda ones: min(one["dur_ns"] for one in ones),
                       lambda ones: max(one["dur_ns"] for one in ones))
    expected.sort(key=lambda row: rank_order(row[0]))
    return len(rows) == len(expected) and all(
        abs(row[2] - other[2]) <= 1 and row[:2] + row[3:] == list(other[:2] + other[3:])
        for row, other in zip(rows, expected))


def q12(case):
    steps = counted_steps(case)
    median = statistics.median(row["dur_ns"] for row in steps)
    steps.sort(key=lambda row: (-row["dur_ns"], rank_order(row["rank"]), row["step"]))
    return [(row["rank"], row["step"], row["dur_ns"], row["dur_ns"] / median) for row in steps[:5]]


def q13(case):
    rows = []
    for step in case.view("steps"):
        inside = [one for one in case.of(KERNEL) if one.rank == step["rank"] and
                  step["start_ns"] <= one.start < step["end_ns"]]
        if inside:
            rows.append((step["rank"], step["step"], len(inside), total(inside)))
    return sorted(rows, key=lambda row: (rank_order(row[0]), row[1]))


def q14(case):
    rows = sorted(case.view("ranks"), key=lambda row: (row["lateness_ns"] is None,
                                                       -(row["lateness_ns"] or 0), row["rank"]))
    return [(row["rank"], row["lateness_ns"], row["wait_ns"], None if row["wait_ns"] is None else
             100 * row["wait_ns"] / row["step_ns"]) for row in rows]


def added(name):
    def add(rows):
        known = [row[name] for row in rows if row[name] is not None]
        return sum(known) if known else None
    return add


def q15(case):
    rows = grouped(case.view("communication"), lambda row: row["collective"], added("calls"),
                   added("total_ns"), added("exposed_ns"))
    return sorted(rows, key=lambda row: (row[3] is None, -(row[3] or 0), row[0]))


def q16(case):
    rows = [row for row in case.view("collectives") if row["last"] is not None]
    return by_figure(grouped(rows, lambda row: row["last"], len, added("wait_ns")), 1)


def q17(case):
    calls = [one for one in case.of("runtime") if "Synchronize" in one.name]
    return by_figure(grouped(calls, lambda one: one.name, len, total), 2)


def q18(case):
    return by_figure(grouped(case.of("memcpy", "memset"), lambda one: one.name, len, total,
                             lambda ones: max(one.dur for one in ones)), 2)


def q19(case):
    return by_figure(grouped(case.of("python"), lambda one: one.name, len, total), 2, 10)


def q20(case, rows):
    """Which kernels communicate is known from the view alone."""
    communicate = {row["name"] for row in case.view("kernels") if row["kind"] == "communication"}
    totals = grouped((one for one in case.of(KERNEL) if one.name not in communicate),
                     lambda one: (one.name, one.rank), total)
    expected = [(name, low, high, high - low) for name, low, high in grouped(
        totals, lambda row: row[0], lambda ones: min(one[2] for one in ones),
        lambda ones: max(one[2] for one in ones))]
    return [tuple(row) for row in rows] == by_figure(expected, 3, 10)


def q21(case, rows):
    expected = {(row["rank"], row["device"]): row["peak_allocated_bytes"]
                for row in case.view("memory") if row["totals"] == "recorded"}
    return {tuple(row[:2]): row[2] for row in rows} == expected


def q22(case, rows):
    count = sum(len(trace.memory) for trace in case.traces)
    changed = sum(int(args["Bytes"]) for trace in case.traces for args in trace.memory)
    view = {(row["rank"], row["device"]): row["net_bytes"] for row in case.view("memory")}
    return sum(row[2] for row in rows) == count and sum(row[3] for row in rows) == changed and \
        {tuple(row[:2]): row[3] for row in rows} == view


def q23(case, rows):
    findings = case.view("diagnose")["findings"]
    return [row[0] for row in rows] == [finding["rule"] for finding in findings] and \
        [row[2] for row in rows] == [finding["title"] for finding in findings]


def q24(case, rows):
    verdict = case.view("diagnose")
    account = verdict.get("account") or {}
    account = account | account.get("of_explained", {})
    parts = {key[:-len("_ns")]: value for key, value in account.items() if key.endswith("_ns")}
    return all(parts[part] == time for part, time, _ in rows) and \
        sum(time for _, time, _ in rows) == (parts.get("step") or 0) and \
        len(rows) == (7 if parts.get("step") else 0)


def q25(case, rows):
    inside = [one for one in case.slices if one.start < 2000000 and
              (one.end > 1000000 or one.start >= 1000000)]
    cut = sum(min(one.end, 2000000) - max(one.start, 1000000) for one in inside)
    return sum(row[1] for row in rows) == len(inside) and sum(row[2] for row in rows) == cut


def questions_of(root):
    text = (root / "docs/sql.md").read_text(encoding="utf-8")
    found = re.findall(r"^### (\d+)\. ([^\n]+)\n\n```sql\n(.*?)```", text, re.M | re.S)
    return [(int(number), title, query) for number, title, query in found]


def answers_of(stepscope, path, queries):
    """All queries in one call: the traces are loaded once."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write("\n".join(queries))
        file.flush()
        result = subprocess.run([stepscope, "sql", path, "-f", file.name, "--json"],
                                capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{path}: {result.stderr}")
    decoder, at, rows = json.JSONDecoder(), 0, []
    while at < len(result.stdout):
        document, at = decoder.raw_decode(result.stdout, at)
        rows.append(document["rows"])
        while at < len(result.stdout) and result.stdout[at].isspace():
            at += 1
    return rows


def is_same(rows, expected):
    def same(a, b):
        return near(a, b) if isinstance(b, float) and a is not None else a == b
    return len(rows) == len(expected) and all(
        len(row) == len(other) and all(map(same, row, other))
        for row, other in zip(rows, expected))


def check(case, number, rows):
    function = globals()[f"q{number}"]
    if function.__code__.co_argcount == 2:
        return function(case, rows), ""
    expected = function(case)
    return is_same(rows, expected), f"expected {str(expected)[:600]}"


def main():
    stepscope, root, traces, duckdb = sys.argv[1:5]
    if not pathlib.Path(duckdb).exists():
        print(f"no {duckdb}")
        sys.exit(SKIPPED)
    os.environ["STEPSCOPE_DUCKDB"] = duckdb
    if "STEPSCOPE_SLOW" in os.environ:  # see queries.py
        os.environ["LD_PRELOAD"] = "libstdc++.so.6"
    questions = questions_of(pathlib.Path(root))
    failures, filled = [], set()
    if [number for number, _, _ in questions] != list(range(1, 26)):
        failures.append("docs/sql.md does not have questions 1 to 25")
    with tempfile.TemporaryDirectory() as folder:
        job = f"{folder}/job"
        subprocess.run([stepscope, "sim", "-p", "ddp8-slow", "--ranks", "4", "--steps", "3", "-o",
                        job], capture_output=True, check=True)
        paths = [job] + [str(path) for path in (pathlib.Path(traces) / name for name in REAL)
                         if path.exists()]
        for path in paths:
            case = Case(stepscope, path)
            answers = answers_of(stepscope, path, [query for _, _, query in questions])
            for (number, title, _), rows in zip(questions, answers):
                filled |= {number} if rows else set()
                is_right, more = check(case, number, rows)
                if not is_right:
                    failures.append(f"{pathlib.Path(path).name}: {number}. {title}\n"
                                    f"  rows {str(rows)[:600]}\n  {more}")
    failures += [f"question {number} has no rows on any input" for number, _, _ in questions
                 if number not in filled]
    print(f"{len(questions)} questions, {len(paths)} inputs, {len(failures)} failures")
    print("\n".join(failures))
    sys.exit(bool(failures))


main()
