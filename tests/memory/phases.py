#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory by phase against a slow reading of the same files.

Usage: phases.py STEPSCOPE TRACES. Snapshots: the phase of every event is told from its frames
again, as simply as can be; what is active after it is what `snapshot timeline --group all` says.
Traces: steps against the view memory-steps. Everywhere net_bytes sums to what memory grew by, and
the highest of the phases is the peak. Files that are not there are skipped.
"""
import json
import pathlib
import pickle
import subprocess
import sys

SNAPSHOTS = [
    "memory/synthetic_normal.p4.pickle", "memory/synthetic_leak.p4.pickle",
    "memory/synthetic_leak_oom.p4.pickle", "memory/gpu/medium_512_training.pickle",
    "memory/gpu/medium_512_inference.pickle",
]  # fmt: skip
TRACES = [
    "memory/cpu_leak.pt.trace.json.gz", "memory/cpu_normal.pt.trace.json.gz",
    "cpu/stack_memory/rank0.pt.trace.json.gz",
]  # fmt: skip


class DataOnly(pickle.Unpickler):
    """Python's reader, for files that call nothing."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")


def table(stepscope, *words):
    command = [stepscope, *map(str, words), "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, f"{words}: {result.stderr}"
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def phase_of(frames):
    """None: the stack says nothing."""
    if not frames:
        return None
    files = [str(frame.get("filename", "")) for frame in frames]
    names = [str(frame.get("name", "")) for frame in frames]
    if any("/optim/" in file or file.endswith("/optimizer.py") for file in files):
        return "optimizer"
    if any("autograd::Engine::" in name or name == "backward" for name in names):
        return "backward"
    if any(name in ("_apply", "load_state_dict", "__init__") and "/nn/" in file
           for name, file in zip(names, files)):  # fmt: skip
        return "setup"
    if any(name in ("forward", "_call_impl") for name in names):
        return "forward"
    return "other"


def slow_phases(events, active):
    """(step, phase) -> [peak, its event, net]; a step begins with an allocation after the
    optimizer that is not the optimizer's own."""
    found, phase, step, updated, before = {}, "other", 0, False, active[0]["before"]
    for number, event in enumerate(events):
        told = phase_of(event.get("frames"))
        if told == "optimizer":
            updated = True
        elif updated and told not in (None, "setup") and event["action"] == "alloc":
            step, updated = step + 1, False
        phase = told or phase
        now = active[number]["now"]
        row = found.setdefault((step, phase), [None, None, 0])
        if row[0] is None or now > row[0]:
            row[:2] = [now, number]
        row[2] += now - before
        before = now
    return found


def check_snapshot(stepscope, path):
    with open(path, "rb") as file:
        data = DataOnly(file).load()
    (device,) = [i for i, events in enumerate(data["device_traces"]) if events]
    curve = table(stepscope, "snapshot", path, "timeline", "--group", "all")
    assert len(curve) == len(data["device_traces"][device])
    # a row of one event has the state before it and the one after it
    active = []
    for row in curve:
        before = active[-1]["now"] if active else None
        low, high = row["min_bytes"], row["max_bytes"]
        if before is None:
            action = data["device_traces"][device][0]["action"]
            before = low if action == "alloc" else high
        active.append({"before": before, "now": high if before == low else low})
    slow = slow_phases(data["device_traces"][device], active)
    rows = table(stepscope, "snapshot", path, "phases", "--group", "step")
    ours = {(row["step"] or 0, row["phase"]): [row["peak_bytes"], row["event"], row["net_bytes"]]
            for row in rows}  # fmt: skip
    assert ours == slow, f"{path.name}: {ours} instead of {slow}"
    sums(stepscope, path, rows, active[-1]["now"] - active[0]["before"])
    steps = {step for step, _ in slow}
    for step in steps:
        highest = max((row for row in rows if (row["step"] or 0) == step),
                      key=lambda row: (row["peak_bytes"], -row["event"]))  # fmt: skip
        trained = any((step, phase) in slow for phase in ("backward", "optimizer"))
        assert highest["peaks"] in (int(trained), None), f"{path.name}: step {step}"


def sums(stepscope, path, rows, grown):
    """All steps together are what the steps are, and phases what memory did."""
    whole = table(stepscope, "snapshot", path, "phases")
    for device in {row["device"] for row in whole}:
        of = [row for row in whole if row["device"] == device]
        each = [row for row in rows if row["device"] == device]
        (summary,) = [row for row in table(stepscope, "snapshot", path, "summary")
                      if row["device"] == device]  # fmt: skip
        assert max(row["peak_bytes"] for row in of) == summary["peak_active_bytes"], path.name
        for row in of:
            parts = [part for part in each if part["phase"] == row["phase"]]
            assert row["peak_bytes"] == max(part["peak_bytes"] for part in parts)
            assert row["rise_bytes"] == max(part["rise_bytes"] for part in parts)
            assert row["net_bytes"] == sum(part["net_bytes"] for part in parts)
            if row["steps"] is not None:
                assert row["steps"] == sum(part["steps"] for part in parts)
                assert row["peaks"] == sum(part["peaks"] for part in parts)
        if grown is not None:
            assert sum(row["net_bytes"] for row in of) == grown, path.name


def check_trace(stepscope, path):
    rows = table(stepscope, "snapshot", path, "phases", "--group", "step")
    sums(stepscope, path, rows, None)
    steps = table(stepscope, "memory-steps", path)
    assert steps, path.name
    for step in steps:
        of = [row for row in rows if row["step"] == step["step"]]
        assert sum(row["net_bytes"] for row in of) == step["net_bytes"], f"{path.name}: {step}"
        assert max(row["peak_bytes"] for row in of) == step["peak_bytes"], f"{path.name}: {step}"
        assert sum(row["peaks"] for row in of) == 1, f"{path.name}: {step}"


def main(stepscope, traces):
    checked = 0
    for names, check in ((SNAPSHOTS, check_snapshot), (TRACES, check_trace)):
        for name in names:
            path = pathlib.Path(traces) / name
            if path.exists():
                check(stepscope, path)
                checked += 1
    print(f"{checked} files")
    return 0 if checked else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
