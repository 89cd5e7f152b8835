#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The views of a trace and the snapshot views of the same trace give the same answers.

Usage: same_answers.py STEPSCOPE TRACES. Counts, peaks, every allocation and the memory after each
event, against each other and against the events of the file; on simulated and on real traces.
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

PRESETS = ["gpu1-memory-leak", "gpu1-fragmentation"]
FILES = [
    "memory/cpu_leak.pt.trace.json.gz", "memory/cpu_normal.pt.trace.json.gz",
    "cuda/h100_qwen.json.gz", "cuda/h100_owlv2.json.gz", "cuda/ddp2_memory_events.json.gz",
    "cuda/resnet50_workers0.pt.trace.json.gz", "rocm/mi300_qwen.json.gz",
    "pairs/batch_size_2.json.gz", "pairs/batch_size_512.json.gz",
    "cpu/shapes_memory/rank0.pt.trace.json.gz", "cpu/stack_memory/rank0.pt.trace.json.gz",
]  # fmt: skip
# the snapshot view lists the most expensive ones of each device
SHOWN_MAX = 10000


def rows_of(stepscope, *words):
    command = [stepscope, *map(str, words), "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, f"{words}: {result.stderr}"
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    found = collections.defaultdict(list)
    for row in document["rows"]:
        row = dict(zip(names, row))
        # "CUDA:0" of a trace is "0" of a snapshot
        found[row["device"].lower().rpartition(":")[2]].append(row)
    return found


def ns_of(event):
    """Exactly: microseconds with a fraction do not fit a float."""
    whole, _, part = str(event["ts"]).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def raw_of(path):
    """Per device: (time from the first event, bytes) of each allocation and free."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        events = json.load(file, parse_float=str)["traceEvents"]
    origin = min(ns_of(e) for e in events if e.get("ph") in ("X", "i") and "ts" in e)
    found = collections.defaultdict(list)
    for event in events:
        if event.get("name") == "[memory]":
            args = event["args"]
            device = "cpu" if args["Device Type"] == 0 else str(args["Device Id"])
            found[device].append((ns_of(event) - origin, int(args["Bytes"])))
    return {device: sorted(moments) for device, moments in found.items()}


def check_counts(stepscope, path, raw):
    of_trace = rows_of(stepscope, "memory", path)
    of_snapshot = rows_of(stepscope, "snapshot", path, "summary")
    assert of_trace.keys() == of_snapshot.keys() == raw.keys(), path.name
    for device, (left,) in of_trace.items():
        (right,) = of_snapshot[device]
        sides = [
            (left["events"], right["events"]),
            (left["events"], len(raw[device])),
            (left["peak_allocated_bytes"], right["peak_active_bytes"]),
            (left["peak_at_ns"], right["peak_at_ns"]),
            # the CPU reserves nothing: files say 0, which snapshot views leave empty
            (left["peak_reserved_bytes"] or None, right["peak_reserved_bytes"]),
            (left["out_of_memory"], right["out_of_memory"]),
        ]
        assert all(a == b for a, b in sides), f"{path.name} {device}: {sides}"


def check_allocations(stepscope, path, raw):
    of_trace = rows_of(stepscope, "allocations", path)
    of_snapshot = rows_of(stepscope, "snapshot", path, "allocations")
    for device, rows in of_trace.items():
        sizes = sorted((row["at_ns"], row["size_bytes"]) for row in rows)
        assert sizes == [moment for moment in raw[device] if moment[1] > 0], (path.name, device)
        left = collections.Counter(
            (row["at_ns"], row["size_bytes"], row["address"], row["lifetime_ns"], row["step"])
            for row in rows
        )
        right = collections.Counter(
            (row["at_ns"], row["bytes"], row["address"], row["lifetime_ns"], row["step"])
            for row in of_snapshot[device]
        )
        assert sum(right.values()) == min(len(rows), SHOWN_MAX), (path.name, device)
        assert not right - left, f"{path.name} {device}: {list(right - left)[:3]}"


def check_curve(stepscope, path):
    of_trace = rows_of(stepscope, "memory-curve", path, "--group", "all")
    of_snapshot = rows_of(stepscope, "snapshot", path, "timeline", "--group", "all")
    for device, rows in of_trace.items():
        others = of_snapshot[device]
        assert len(rows) == len(others), (path.name, device, len(rows), len(others))
        before = others[0]["min_bytes"]
        for number, (left, right) in enumerate(zip(rows, others)):
            # a sample of a snapshot begins with what there was before its event
            now = left["max_bytes"]
            wanted = (left["at_ns"], number, min(before, now), max(before, now),
                      left["reserved_bytes"])  # fmt: skip
            found = (right["at_ns"], right["event"], right["min_bytes"], right["max_bytes"],
                     right["reserved_bytes"])  # fmt: skip
            assert number == 0 or found == wanted, f"{path.name} {device}: {found}, not {wanted}"
            before = now


def check(stepscope, path):
    raw = raw_of(path)
    check_counts(stepscope, path, raw)
    check_allocations(stepscope, path, raw)
    check_curve(stepscope, path)


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        for preset in PRESETS:
            folder = pathlib.Path(scratch) / preset
            subprocess.run([stepscope, "sim", "--preset", preset, "-o", str(folder)], check=True,
                           capture_output=True, timeout=60)  # fmt: skip
            check(stepscope, folder / "rank0.json.gz")
    paths = share([traces / name for name in FILES if (traces / name).exists()])
    for path in paths:
        check(stepscope, path)
    print(f"{len(PRESETS)} simulated and {len(paths)} real traces: the same answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
