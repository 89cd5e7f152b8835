#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graph_capture.py - a capture of a graph and its replay, joined.

    graph_capture.py STEPSCOPE [RECORDED]

Made pairs: operators, modules and counts of replayed kernels are those of the capture; kernels that
were not captured are counted; names decide, and without names the number of kernels. Recorded pairs
(folders of RECORDED with capture_traces): the device time of each operator is what this file finds
by its own join, at least 95 % of the kernels of replays are joined, and the device time of each
operator is within 2 % of what TraceLens found.
"""

import csv
import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

stepscope = sys.argv[1]
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)
        print("FAILED:", what)


def table(view, *paths, options=()):
    run = [stepscope, view, "--format", "json", "--top", "0", *options, *map(str, paths)]
    done = subprocess.run(run, capture_output=True, text=True)
    check(done.returncode == 0, f"{view} {paths}: {done.stderr.strip()}")
    if done.returncode:
        return []
    found = json.loads(done.stdout)
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


def device_times(*paths):
    times = defaultdict(int)
    for row in table("operators", *paths):
        times[row["name"]] += row["device_self_ns"] or 0
    return {name: ns for name, ns in times.items() if ns}


def odd(name, *paths):
    return sum(row["count"] for row in table("quality", *paths) if row["oddity"] == name)


# --- made pairs ------------------------------------------------------------------------------


def slice_of(cat, name, ts, dur, tid=1, pid=1, **args):
    place = {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    return {"cat": cat, "name": name, **place, "args": args}


def call(name, ts, dur, correlation, **args):
    return slice_of("cuda_runtime", name, ts, dur, correlation=correlation, **args)


def kernel(name, ts, dur, correlation, stream=7, **args):
    args |= {"device": 0, "stream": stream, "correlation": correlation}
    return slice_of("kernel", name, ts, dur, stream, 0, **args)


def captured(kernels, named=True):
    """Two launches per operator, in a module; launches in a capture start nothing."""
    events = [call("cudaStreamBeginCapture_v10000", 100, 2, 1)]
    events.append(slice_of("python_function", "nn.Module: Block_0", 110, 1000 * len(kernels)))
    for i, name in enumerate(kernels):
        at = 200 + 100 * i
        shapes = {"Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"]}
        events.append(slice_of("cpu_op", f"aten::op{i // 2}", at, 50, **shapes))
        note = {"kernel": name} if named else {}
        events.append(call("cudaLaunchKernel", at + 10, 5, 10 + i, **note))
    events.append(call("cudaStreamEndCapture_v10000", 200 + 100 * len(kernels), 2, 2))
    return {"traceEvents": events, "baseTimeNanoseconds": 1700000000000000000}


def replayed(kernels, replays=3, **first):
    events = []
    for r in range(replays):
        at = 10000 + 2000 * r
        events.append(slice_of("user_annotation", f"ProfilerStep#{r}", at, 2000))
        events.append(call("cudaGraphLaunch_v10000", at + 10, 30, 500 + r))
        for i, name in enumerate(kernels):
            extra = {"graph node id": first["node"](i)} if "node" in first else {}
            events.append(kernel(name, at + 100 + 20 * i, 10 + i, 500 + r, **extra))
    return {"traceEvents": events, "baseTimeNanoseconds": 1700000100000000000}


def write(folder, **traces):
    for name, trace in traces.items():
        (folder / f"{name}.json").write_text(json.dumps(trace))
    return folder


def check_made(folder):
    names = ["gemm", "norm", "gemm", "norm", "softmax", "gemm"]
    whole = write(folder / "whole", capture=captured(names), replay=replayed(names))
    rows = {row["name"]: row for row in table("operators", whole)}
    check(sorted(rows) == ["aten::op0", "aten::op1", "aten::op2"], f"operators are {sorted(rows)}")
    for i in range(3):
        row = rows.get(f"aten::op{i}", {})
        check(row.get("device_self_ns") == 3 * 1000 * (21 + 4 * i), f"op{i} has {row}")
        check(row.get("calls") == 6, f"op{i} is called {row.get('calls')} times")
    check(odd("graph-joined", whole) == 18, "not all are joined")
    check(odd("graph-unjoined", whole) == 0, "some are not joined")
    modules = {row["module"]: row for row in table("modules", whole)}
    check(any("Block" in name for name in modules), f"modules are {list(modules)}")
    launches = sum(row["calls"] or 0 for row in table("launches", whole))
    check(launches == 3, f"{launches} launches, not 3")

    # one file with both, and the same from a pipe, which cannot be read twice
    both = captured(names)
    both["traceEvents"] += replayed(names)["traceEvents"]
    one = write(folder / "one", both=both) / "both.json"
    check(odd("graph-joined", one) == 18, "a file does not know its own capture")

    # a kernel in the middle that was not captured, and one that was not replayed
    other = names[:2] + ["memory_pool"] + names[2:-1]
    some = write(folder / "some", capture=captured(names), replay=replayed(other))
    check(odd("graph-joined", some) == 15, f"{odd('graph-joined', some)} are joined, not 15")
    check(odd("graph-unjoined", some) == 3, "what was not captured is not counted")
    check(device_times(some).get("aten::op2") == 3 * 1000 * 15, "a kernel went to another operator")

    # without names: only if the numbers are equal; the order is that of the nodes
    bare = write(folder / "bare", capture=captured(names, named=False), replay=replayed(names))
    check(odd("graph-joined", bare) == 18, "equal numbers are not joined")
    short = replayed(names[:-1])
    fewer = write(folder / "fewer", capture=captured(names, named=False), replay=short)
    check(odd("graph-joined", fewer) == 0, "different numbers are joined without names")
    turned = replayed(names[::-1], node=lambda i: 100 - i)
    back = write(folder / "back", capture=captured(names, named=False), replay=turned)
    check(device_times(back).get("aten::op2") == 3 * 1000 * 21, "nodes are not in their order")

    # another graph
    strange = write(folder / "strange", capture=captured(names), replay=replayed(["a", "b", "c"]))
    check(odd("graph-joined", strange) == 0, "another graph is joined")


# --- recorded pairs --------------------------------------------------------------------------


def read(path):
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    return sorted((e for e in events if e.get("ph") == "X"), key=lambda e: (e["ts"], -e["dur"]))


WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def operators_of_launches(events):
    """The innermost operator around each call, by correlation, and calls with no device event."""
    around, open_ops = {}, defaultdict(list)
    calls = {}
    for event in events:
        if event["cat"] not in ("cpu_op", "cuda_runtime", "cuda_driver"):
            continue
        stack = open_ops[event["tid"]]
        while stack and stack[-1]["ts"] + stack[-1]["dur"] <= event["ts"]:
            stack.pop()
        if event["cat"] == "cpu_op":
            stack.append(event)
        elif "correlation" in event["args"]:
            around[event["args"]["correlation"]] = stack[-1]["name"] if stack else None
            calls[event["args"]["correlation"]] = event
    return around, calls


def own_join(capture, replay):
    """Device ns per operator, kernels of replays, and how many of them are joined."""
    around, calls = operators_of_launches(capture)
    ran = {e["args"]["correlation"] for e in capture if e["cat"] in WORK}
    begin = next(e["ts"] for e in capture if "BeginCapture" in e["name"])
    end = next(e["ts"] for e in capture if "EndCapture" in e["name"])
    nodes = [
        (call["args"]["kernel"], around[number])
        for number, call in calls.items()
        if begin < call["ts"] < end and "kernel" in call["args"] and number not in ran
    ]
    times, all_kernels, joined = defaultdict(int), 0, 0
    own, calls = operators_of_launches(replay)
    by_call = defaultdict(list)
    for event in replay:
        if event["cat"] in WORK:
            by_call[event["args"]["correlation"]].append(event)
    for number, works in by_call.items():
        is_graph = number in calls and "GraphLaunch" in calls[number]["name"]
        at = 0
        for work in works:
            operator = own.get(number)
            if is_graph:
                all_kernels += 1
                later = range(at, len(nodes))
                ahead = next((k for k in later if nodes[k][0] == work["name"]), None)
                operator = None if ahead is None else nodes[ahead][1]
                joined += ahead is not None
                at = at if ahead is None else ahead + 1
            if operator:
                times[operator] += round(work["dur"] * 1000)
    return times, all_kernels, joined


def check_recorded(folder):
    reference = defaultdict(float)
    replay = next(folder.glob("*.json.gz"))
    capture = next((folder / "capture_traces").glob("*.json.gz"))
    own, kernels, own_joined = own_join(read(capture), read(replay))
    found = device_times(folder)
    joined, unjoined = odd("graph-joined", folder), odd("graph-unjoined", folder)
    check(joined + unjoined == kernels, f"{folder.name}: {joined} + {unjoined} of {kernels}")
    check(joined >= 0.95 * kernels, f"{folder.name}: {joined} of {kernels} kernels are joined")
    check(joined == own_joined, f"{folder.name}: {joined} joined, {own_joined} by the other way")
    for name in own.keys() | found.keys():
        check(abs(own[name] - found.get(name, 0)) <= 1000 + own[name] / 1000,
              f"{folder.name}: {name} {found.get(name)} ns, by the other way {own[name]}")
    with open(folder / "tracelens_reference/ops_summary.csv") as file:
        for row in csv.DictReader(file):
            reference[row["name"]] += 1000 * float(row["total_direct_kernel_time_sum"])
    for name, ns in reference.items():
        check(abs(found.get(name, 0) - ns) <= 0.02 * ns,
              f"{folder.name}: {name} {found.get(name)} ns, by TraceLens {ns:.0f}")
    print(f"{folder.name}: {joined} of {kernels} joined, {len(reference)} operators")


with tempfile.TemporaryDirectory() as made:
    for name in ("whole", "one", "some", "bare", "fewer", "back", "strange"):
        (Path(made) / name).mkdir()
    check_made(Path(made))
for pair in sorted(Path(sys.argv[2]).glob("*/capture_traces")) if len(sys.argv) > 2 else []:
    check_recorded(pair.parent)
sys.exit(1 if problems else 0)
