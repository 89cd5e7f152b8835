#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on real snapshots of memory, alone and beside the traces of the same run.

Usage: snapshots.py STEPSCOPE TRACES. Files that are not there are skipped.
"""
import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

MEMORY_RULES = {
    "memory-leak", "fragmentation", "allocator-thrash", "memory-headroom", "out-of-memory",
}  # fmt: skip
# file -> what is found, in order; all others are healthy or say nothing
LABELS = {
    "synthetic_leak": ["memory-leak"],
    "synthetic_leak_oom": ["out-of-memory", "memory-leak"],
    "synthetic_fragmentation": ["fragmentation", "memory-leak"],
    "synthetic_fragmentation_fixed_expandable": ["memory-leak"],
    "cpu_leak": ["memory-leak"],
}


def run(stepscope, *words):
    command = [stepscope, *map(str, words)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, f"{words}: {result.stderr}"
    return result.stdout


def diagnose(stepscope, *words):
    return json.loads(run(stepscope, "diagnose", "--format", "json", *words))


def of_memory(told):
    return [one for one in told["findings"] if one["rule"] in MEMORY_RULES]


def check_alone(stepscope, path):
    told = diagnose(stepscope, path)
    found = [one["rule"] for one in told["findings"]]
    assert found == LABELS.get(path.name.split(".")[0], []), (path.name, found)
    assert told["ranks"] == 0 and told["step_ns"] is None and told["snapshots"] == 1, told
    for one in told["findings"]:
        assert one["cost_ns"] is None and one["share_percent"] is None, one
        assert one["bytes"] > 0 and one["bytes_are"] and one["fix"], one
        assert all(fact["snapshot"] == 0 for fact in one["evidence"]), one
    # what the view of the snapshot tells is the same
    view = json.loads(run(stepscope, "snapshot", path, "findings", "--format", "json"))
    names = [column["name"] for column in view["columns"]]
    rows = [dict(zip(names, row)) for row in view["rows"]]
    rows = [row for row in rows if row["severity"] != "note"]
    assert [(row["finding"], row["bytes"]) for row in rows] == [
        (one["rule"], one["bytes"]) for one in told["findings"]
    ], path.name
    text = run(stepscope, "diagnose", path)
    assert " ms" not in text and "A step takes" not in text, text
    # commands to paste are as long as the path
    lines = [line for line in text.splitlines() if not line.startswith("  stepscope ")]
    assert max(map(len, lines)) <= 80, text
    if not found:
        assert "Nothing stands out" in text or "no allocator events" in text, text
    rows = list(csv.DictReader(io.StringIO(run(stepscope, "diagnose", path, "--format", "csv"))))
    assert [row["rule"] for row in rows] == found and all(row["bytes"] for row in rows)
    page = run(stepscope, "diagnose", path, "--format", "markdown")
    assert page.count("\n| ") == (len(found) + 1 if found else 0), page
    assert "saving" not in page and "Data quality" not in page, page
    assert "no steps to measure" in " ".join(run(stepscope, "what-if", path).split())


def check_pair(stepscope, memory, folder):
    trace, snapshot = memory / "cpu_leak.pt.trace.json.gz", memory / "cpu_leak.p4.pickle"
    told = diagnose(stepscope, trace, snapshot)
    (leak,) = of_memory(told)
    assert leak["rule"] == "memory-leak" and leak["level"] == "warning", leak
    texts = [fact["text"] for fact in leak["evidence"] if "snapshot" not in fact]
    assert texts and texts[0].startswith("Host memory grows by 13 MB"), texts
    lines = {fact["line"] for fact in leak["evidence"] if "snapshot" in fact} - {None}
    assert lines == {"train.py:37 (forward)", "train.py:48 (forward)", "memory_real.py:14 (step)"}
    # figures of steps are those of the trace alone
    alone = diagnose(stepscope, trace)
    for key in ("step_ns", "fixed_step_ns", "steps", "ranks", "next"):
        assert told[key] == alone[key], key
    # the same from a folder, under names that tell ranks
    shutil.copy(trace, folder / "rank0.json.gz")
    shutil.copy(snapshot, folder / "rank0.pickle")
    (again,) = of_memory(diagnose(stepscope, folder))
    assert again["ranks"] == [0] and again["evidence"] == leak["evidence"]
    shutil.copy(trace, folder / "rank1.json.gz")
    shutil.copy(memory / "cpu_normal.p4.pickle", folder / "rank1.pickle")
    (both,) = of_memory(diagnose(stepscope, folder))
    assert both["ranks"] == [0, 1], both["ranks"]
    marked = [fact["text"] for fact in both["evidence"] if "snapshot" in fact]
    assert marked and all(text.startswith("rank0.pickle: ") for text in marked), marked


def check_cut(stepscope, path, folder):
    """Half of a snapshot: said, and nothing that is untrue of the whole."""
    part = folder / "cut.pickle"
    data = path.read_bytes()
    for length in (len(data) // 100, len(data) // 2):
        part.write_bytes(data[:length])
        text = " ".join(run(stepscope, "diagnose", part).split())
        assert "1 memory snapshot (truncated)" in text, text
        assert "_record_memory_history() before the run" not in text, text
    shutil.copy(path, folder / "whole.pickle")
    text = run(stepscope, "diagnose", folder)
    assert "2 memory snapshots (1 of them truncated)" in text, text


def main():
    stepscope, memory = sys.argv[1], pathlib.Path(sys.argv[2]) / "memory"
    files = sorted([*memory.glob("*.pickle"), *memory.glob("gpu/*.pickle")])
    if not files:
        print(f"skipped: no snapshots in {memory}")
        return 77
    for path in files:
        check_alone(stepscope, path)
    if (memory / "gpu/fp32.pickle").exists():
        with tempfile.TemporaryDirectory() as folder:
            check_cut(stepscope, memory / "gpu/fp32.pickle", pathlib.Path(folder))
    if (memory / "cpu_leak.p4.pickle").exists():
        with tempfile.TemporaryDirectory() as folder:
            check_pair(stepscope, memory, pathlib.Path(folder))
        pair = memory / "cpu_normal.pt.trace.json.gz", memory / "cpu_normal.p4.pickle"
        assert of_memory(diagnose(stepscope, *pair)) == [], "a healthy pair"
    print(f"{len(files)} snapshots")
    return 0


if __name__ == "__main__":
    sys.exit(main())
