#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares stepscope with reference figures of an independent program, on real traces.

Usage: oracle.py STEPSCOPE TRACES ORACLE. For every reference file: events, phases, categories,
device events by kind, orphans, overlapping kernels, duplicate correlations, communication kernels,
and the steps with their names, effective starts and ends. All must be equal. Exits 77 (skipped)
when the traces are not there.
"""
import json
import pathlib
import subprocess
import sys

import oracle_figures

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

from chosen import share

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(stepscope, what, path):
    """The tables of a view or report, each a list of rows by column name."""
    command = [stepscope, what, "--format", "json", path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    document = json.loads(result.stdout)
    tables = {}
    for table in document.get("tables", [document]):
        names = [column["name"] for column in table["columns"]]
        view = table["schema"].removeprefix("stepscope.").split("/")[0]
        tables[view] = [dict(zip(names, row)) for row in table["rows"]]
    return tables


def categories_of(rows):
    counts = {r["category"]: r["events"] for r in rows}
    complete = {k: v for k, v in counts.items() if not k.startswith(("phase ", "("))}
    phases = {k[6]: v for k, v in counts.items() if k.startswith("phase ")}
    phases["X"] = sum(complete.values())
    return complete, phases


def steps_of(rows):
    kept = [
        (r["name"] or "0", r["file_start_ns"], r["file_end_ns"], r["device_events"])
        for r in rows
        if r["dropped"] is None
    ]
    dropped = [r["name"] for r in rows if r["dropped"] is not None]
    return kept, dropped, rows[0]["anchor"] if rows else None


def compare(stepscope, path, oracle):
    """Yields (what, ours, theirs) for every figure that the reference has."""
    quality = oracle["quality"]
    tables = run(stepscope, "info", path)
    complete, phases = categories_of(tables["categories"])
    odd = {row["oddity"]: row["count"] for row in tables["quality"]}
    devices = tables["devices"]
    files = tables["files"][0]
    kinds = {
        "kernel": sum(d["kernels"] for d in devices),
        "memcpy": sum(d["memcpys"] for d in devices),
        "memset": sum(d["memsets"] for d in devices),
    }
    yield "events", files["events"], quality["events"]
    yield "phases", phases, quality["by_phase"]
    yield "categories", complete, quality["complete_by_category"]
    yield "device events", files["device_events"], quality["device_events"]
    yield "device events by kind", {k: v for k, v in kinds.items() if v}, quality["device_by_kind"]
    yield "communication kernels", sum(d["comm_kernels"] for d in devices), quality["comm_kernels"]
    yield "orphans", odd.get("orphan-device-event", 0), quality["orphans"]
    overlapping = quality["kernels_overlapping_on_a_stream"]
    yield "overlapping kernels", odd.get("overlapping-kernel", 0), overlapping
    duplicates = quality["duplicate_correlations"]
    yield "duplicate correlations", odd.get("duplicate-correlation", 0), duplicates
    steps = oracle["steps"]
    kept, dropped, anchor = steps_of(run(stepscope, "steps", path)["steps"])
    theirs = [(s["name"], s["start"], s["end"], s["device_events"]) for s in steps["list"]]
    # the reference does not look for periods: where we find one, ours are finer than its span
    if not (steps["anchor"].startswith("span") and anchor.startswith("period")):
        yield "steps", kept, theirs
    yield "dropped steps", dropped, [s["name"] for s in steps["dropped"]]
    # what depends on steps only where both found them in the same way
    if not (steps["anchor"].startswith("span") and anchor.startswith("period")):
        yield from times(stepscope, path, oracle)


def times(stepscope, path, oracle):
    """The figures of all views: those that differ, and one entry for all that do not."""
    equal = 0
    for view, figures in oracle_figures.VIEWS.items():
        rows = run(stepscope, view, path)[view]
        for what, ours, theirs, tolerance in figures(rows, oracle):
            if oracle_figures.differs(ours, theirs, tolerance):
                yield what, ours, theirs
            else:
                equal += 1
    yield from [("times", True, True)] * equal


def trace_files(oracle_path, oracle, traces):
    """Pairs of trace and reference of one reference file: a single trace, or a job's ranks."""
    if "files" not in oracle:
        yield traces / oracle["trace"], oracle
        return
    listed = oracle["traces"]
    for rank, part in oracle["files"].items():
        path = listed[rank] if isinstance(listed, dict) else listed[int(rank)]
        yield traces / path, part


def readme_problems(oracles):
    """How many files the README says to be compared, here or in a clone."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    listed = [json.loads(path.read_text()) for path in oracles.glob("*.json")]
    count = sum(len(oracle.get("files", [oracle])) for oracle in listed)
    is_clone = ROOT / "tests" in oracles.resolve().parents
    claim = f"A clone has [{count} of them]" if is_clone else f"on {count} real trace files"
    return [] if claim in readme else [f"README.md does not say: {claim}"]


def main():
    stepscope, traces, oracles = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if not traces.is_dir() or not oracles.is_dir():
        print(f"skipped: no traces at {traces}")
        return SKIPPED
    problems = readme_problems(oracles)
    print(*problems, sep="\n")
    checked, failed = len(problems), len(problems)
    for oracle_path in share(sorted(oracles.glob("*.json")), 4):
        oracle = json.loads(oracle_path.read_text())
        for path, part in trace_files(oracle_path, oracle, traces):
            try:
                figures = list(compare(stepscope, str(path), part))
            except RuntimeError as error:
                figures = [("loads", str(error), "yes")]
            for what, ours, theirs in figures:
                checked += 1
                if ours != theirs:
                    failed += 1
                    print(f"{path.relative_to(traces)}: {what}: ours {ours}, reference {theirs}")
    print(f"{checked} figures compared, {failed} differ")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
