# SPDX-License-Identifier: Apache-2.0
"""Figures computed here, from the file's own text, and small files that lack things.

Used by invariants.py. Times are decimal texts of microseconds; they become integers of nanoseconds
without a double in between.
"""
import decimal
import gzip
import json
import pathlib
import re
import subprocess
from collections import Counter, defaultdict

DEVICE = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "copy", "memcpy": "copy",
          "memset": "copy", "cuda": "kernel"}
OPERATORS = ("cpu_op", "operator")
CALLS = ("cuda_runtime", "cuda_driver", "runtime", "cuda_api")
# ranges that old writers, and some new ones, call operators
RANGES = re.compile(r"ProfilerStep|enumerate\(Data|Optimizer\.|nccl:|gloo:|mpi:|DistributedDataPar")


def events_of(path):
    """Complete events of a file with times in ns; None when a reader has to decide something."""
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        document = json.loads(data, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    except ValueError:
        return None
    events = document["traceEvents"] if isinstance(document, dict) else document
    events = [event for event in events if isinstance(event, dict) and event.get("ph") == "X"]
    for event in events:
        event["cat"] = str(event.get("cat")).lower()
        event["start"] = ns_of(event.get("ts"))
        event["length"] = ns_of(event.get("dur", decimal.Decimal(0)))
        if event["start"] is None or event["length"] is None or event["length"] < 0:
            return None
    return events


def ns_of(value):
    """None: not a whole number of nanoseconds."""
    if not isinstance(value, decimal.Decimal) or not value.is_finite():
        return None
    ns = value * 1000
    return int(ns) if ns == ns.to_integral_value() else None


def covered(events):
    """The length of the union."""
    length = until = 0
    for start, end in sorted((e["start"], e["start"] + e["length"]) for e in events):
        if not length or start > until:
            until = start
        length += max(end - until, 0)
        until = max(end, until)
    return length


def device_rules(trace, events):
    counts, sums, own = Counter(), Counter(), defaultdict(list)
    for event in events:
        kind = DEVICE.get(event["cat"])
        if not kind:
            continue
        counts[kind] += 1
        sums[kind] += event["length"]
        own[str(event.get("args", {}).get("device", event.get("pid")))].append(event)
    for kind, view, group in (("kernel", "kernels", "kernel"), ("copy", "copies", "kind")):
        rows = trace(view, group)
        ours = (sum(row["calls"] for row in rows), sum(row["total_ns"] for row in rows))
        theirs = (counts[kind], sums[kind])
        yield f"{view}: calls and total_ns of the file", ours == theirs, (ours, theirs)
    ours = sorted(row["total_ns"] - row["idle_ns"] for row in trace("temporal"))
    theirs = sorted(covered(rows) for rows in own.values())
    yield "temporal: busy time of the file", ours == theirs, (ours, theirs)


class Odd(Exception):
    """Rows of a thread that are not in each other: a reader has to decide something."""


def count_thread(rows):
    """Calls and own time of the operators of a thread.

    Own time is the operators' durations less those of the outermost operators and calls inside;
    an operator that is the only one in one of its own name is part of it.
    """
    open_rows, operators, own = [], [], 0
    for row in sorted(rows, key=lambda row: (row["start"], -row["length"], row["is_call"])):
        while open_rows and open_rows[-1]["start"] + open_rows[-1]["length"] <= row["start"]:
            open_rows.pop()
        above = open_rows[-1] if open_rows else None
        if above and (row["start"] + row["length"] > above["start"] + above["length"] or
                      (above["is_call"] and not row["is_call"])):
            raise Odd
        if not row["is_call"]:
            own += row["length"]
            row["above"], row["children"] = above, 0
            operators.append(row)
            if above:
                above["children"] += 1
        if above and not above["is_call"]:
            own -= row["length"]
        if row["length"]:
            open_rows.append(row)
    merged = sum(1 for row in operators if row["above"] and row["above"]["children"] == 1 and
                 row["above"]["name"] == row["name"])
    return len(operators) - merged, own


def operator_rules(trace, events):
    threads = defaultdict(list)
    for event in events:
        event["is_call"] = event["cat"] in CALLS
        if event["is_call"] or (event["cat"] in OPERATORS and not RANGES.match(event["name"])):
            threads[str(event.get("pid")), str(event.get("tid"))].append(event)
    try:
        counts = [count_thread(rows) for rows in threads.values()]
    except Odd:
        return
    rows = trace("operators", "name")
    ours = (sum(row["calls"] for row in rows), sum(row["host_self_ns"] for row in rows))
    theirs = (sum(calls for calls, _ in counts), sum(own for _, own in counts))
    yield "operators: calls and host_self_ns of the file", ours == theirs, (ours, theirs)


def rules(trace):
    odd = [row["oddity"] for row in trace("quality") if row["severity"] in ("lost", "mended")]
    events = None if odd else events_of(trace.path)
    if events:
        yield from device_rules(trace, events)
        yield from operator_rules(trace, events)


# --- files that lack things ----------------------------------------------------------------------


def without(document, drop=lambda event: False, drop_args=()):
    """A copy of a trace without some events, and without some of the others' arguments."""
    events = [
        {**event, "args": {name: value for name, value in event.get("args", {}).items()
                           if name not in drop_args}}
        for event in document["traceEvents"] if not drop(event)]
    return {**document, "traceEvents": events}


def poor_files(stepscope, folder):
    """A small simulated job, and the same without devices, operators, steps, shapes, stacks."""
    folder = pathlib.Path(folder, "poor")
    command = [stepscope, "sim", "--preset", "small1-healthy", "--steps", "3", "--plain",
               "--set", "layers=1", "-o", folder]
    subprocess.run(command, capture_output=True, check=True)
    rich = json.loads((folder / "rank0.json").read_text())
    device = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
    shapes = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
    files = {
        "rich": rich,
        "no_device": without(rich, lambda event: event.get("cat") in device),
        "no_operators": without(rich, lambda event: event.get("cat") == "cpu_op"),
        "no_host": without(rich, lambda event: event.get("cat") not in device),
        "no_steps": without(rich, lambda event: event["name"].startswith("ProfilerStep")),
        "no_shapes": without(rich, drop_args=shapes),
        "no_stacks": without(rich, lambda event: event.get("cat") == "python_function"),
        "no_calls": without(rich, lambda event: event.get("cat") == "cuda_runtime"),
        "empty_object": {"traceEvents": []},
        "empty_array": [],
    }
    for name, document in files.items():
        path = folder / f"{name}.json.gz"
        path.write_bytes(gzip.compress(json.dumps(document).encode(), 1))
        yield path
