#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file is reported before the verdict; steps that differ have a spread.

Usage: doubts.py STEPSCOPE. Traces are written by hand; half of the cases demand silence.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

KERNELS = 12  # of a step, each with its launch


def event(category, name, start, dur, tid=1, **args):
    pid = 0 if category in ("kernel", "gpu_memcpy") else 7
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
            "dur": dur, "args": args}


def step(number, start, dur, late=0):
    """A step: launches and kernels back to back; `late` us the host waits for input first."""
    yield event("user_annotation", f"ProfilerStep#{number}", start, dur)
    if late:
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        yield event("user_annotation", name, start, late)
    each = (dur - late - 100) / KERNELS
    for i in range(KERNELS):
        at, number_of_call = start + late + 10 + i * each, number * 100 + i + 1
        yield event("cpu_op", "aten::mm", at, 8)
        yield event("cuda_runtime", "cudaLaunchKernel", at + 1, 5, correlation=number_of_call)
        yield event("kernel", "gemm", at + 10, each - 2, tid=7, stream=7, device=0,
                    correlation=number_of_call)


def trace(durations, late=None, device=True):
    """A document with steps of these lengths in us; late: waits for input by step."""
    events, start = [], 1000
    for number, dur in enumerate(durations):
        events += step(number, start, dur, (late or {}).get(number, 0))
        start += dur
    head = {"deviceProperties": [{"id": 0, "name": "D"}]} if device else {}
    return {**head, "baseTimeNanoseconds": 1770000000000000000, "traceEvents": events}


def without(document, *categories):
    kept = [row for row in document["traceEvents"] if row["cat"] not in categories]
    return {**document, "traceEvents": kept}


def renamed(document, category, name):
    rows = [{**row, "name": name} if row["cat"] == category else row
            for row in document["traceEvents"]]
    return {**document, "traceEvents": rows}


def with_memory(document, device_type):
    args = {"Device Type": device_type, "Device Id": 0, "Addr": 4096, "Bytes": 512}
    row = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1,
           "ts": document["traceEvents"][0]["ts"] + 1, "args": args}
    return {**document, "traceEvents": [*document["traceEvents"], row]}


def legacy(name):
    """As the autograd profiler without Kineto writes it: an array without categories."""
    return [{"name": name, "ph": "X", "ts": 1000 * i, "dur": 900, "tid": 1, "pid": "CPU functions",
             "args": {}} for i in range(4)]


EVEN = [10000] * 6
LATE = [10000, 10000, 10000, 30000, 10000, 10000]
CPU = ("kernel", "cuda_runtime")

def blocked(document):
    """The host spins in an operator until its kernels are done: no sync is recorded."""
    rows = document["traceEvents"]
    spins = [event("cpu_op", "wait", row["ts"] + 20, row["dur"] - 40) for row in rows
             if row["name"].startswith("ProfilerStep")]
    kept = [row for row in rows if row["cat"] == "user_annotation"]
    for number, row in enumerate(list(kept), 1):
        kept.append(event("cuda_runtime", "cudaLaunchKernel", row["ts"] + 1, 5, correlation=number))
        kept.append(event("kernel", "gemm", row["ts"] + 8, row["dur"] - 30, tid=7, stream=7,
                          device=0, correlation=number))
    return {**document, "traceEvents": kept + spins}


# name, document, how much of the text is kept, warnings, uneven, outliers with causes
CASES = [
    ("a whole trace", trace(EVEN), 1, [], False, []),
    ("steps that differ a little", trace([10000, 11000, 10000, 10500, 9900, 10100]), 1, [], False,
     []),
    ("two steps have no spread", trace([10000, 30000]), 1, [], None, []),
    ("the host waits, and no sync is recorded", blocked(trace(EVEN)), 1, [], False, []),
    ("a run on CPUs", without(trace(EVEN, device=False), *CPU), 1, [], False, []),
    ("one step waits for input", trace(LATE, {3: 20000}), 1, [], True, [(3, "waiting for input")]),
    ("one step computes longer", trace(LATE), 1, [], True, [(3, "computing")]),
    ("the first step is the long one", trace([30000] + [10000] * 5), 1, [], True,
     [(0, "computing")]),
    ("every second step is long", trace([10000, 20000] * 3 + [10000]), 1, [], True,
     [(1, "computing"), (3, "computing"), (5, "computing")]),
    ("cut", trace(EVEN), 0.7, ["cut"], False, []),
    ("cut and no steps are lost but the last", trace(EVEN), 0.9, ["cut"], False, []),
    ("no device events, but calls", without(trace(EVEN, device=False), "kernel"), 1,
     ["no-device-events"], False, []),
    ("a device that is only listed", without(trace(EVEN), *CPU), 1, [], False, []),
    ("a device that is only asked", renamed(without(trace(EVEN), "kernel"), "cuda_runtime",
                                            "cudaGetDeviceProperties"), 1, [], False, []),
    ("operators of a device's library", renamed(without(trace(EVEN, device=False), *CPU), "cpu_op",
                                                "aten::cudnn_convolution"), 1,
     ["no-device-events"], False, []),
    ("memory of a device", with_memory(without(trace(EVEN, device=False), *CPU), 1), 1,
     ["no-device-events"], False, []),
    ("memory of the host", with_memory(without(trace(EVEN), *CPU), 0), 1, [], False, []),
    ("no categories: operators by their process", legacy("aten::mm"), 1, [], None, []),
    ("the same of a device's library", legacy("aten::cudnn_convolution"), 1, ["no-device-events"],
     None, []),
    ("no calls", without(trace(EVEN), "cuda_runtime"), 1, ["no-runtime-calls"], False, []),
]


def check(stepscope, case, path):
    """Yields what differs."""
    what, document, share, warnings, uneven, outliers = case
    text = json.dumps(document)
    path.write_text(text[: int(len(text) * share)])
    words = [stepscope, "diagnose", path, "--progress", "none"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    made = subprocess.run([*words, "--format", "json"], capture_output=True, text=True, check=False)
    if told.returncode or made.returncode:
        yield told.stderr
        return
    found = json.loads(made.stdout)
    kinds = [warning["what"] for warning in found["warnings"]]
    if kinds != warnings:
        yield f"warnings {kinds}, not {warnings}"
    if "100 %) unexplained" in told.stdout:
        yield f"operators are not accounted for: {told.stdout}"
    if ("No step is marked" in told.stdout) == ("ProfilerStep#" in text):
        yield f"how the steps were found: {told.stdout}"
    if found["gpu"] and found["gpu"]["busy_percent"] > 90 and "he host limits" in told.stdout:
        yield f"the host limits a GPU that is always busy: {told.stdout}"
    head = told.stdout.split("A step takes")[0]
    if head.count("Warning: ") != len(warnings):
        yield f"{len(warnings)} warnings before the verdict: {told.stdout}"
    spread = found["spread"]
    if (spread["uneven"] if spread else None) != uneven:
        yield f"spread {spread}"
    listed = {(row["step"], row["cause"]) for row in spread["outliers"]} if spread else set()
    if listed != set(outliers):
        yield f"outliers {listed}, not {outliers}"
    if bool(uneven) != ("on average (median" in told.stdout):
        yield f"a spread in the headline: {told.stdout}"
    sure = [row["rule"] for row in found["findings"] if row["confidence"] == "high"]
    if warnings and sure:
        yield f"sure of {sure}"
    if share < 1 and not 1 <= found["steps"] < len(EVEN):
        yield f"{found['steps']} steps count"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            for difference in check(sys.argv[1], case, pathlib.Path(scratch) / "trace.json"):
                failed += 1
                print(f"{case[0]}: {difference}")
    print(f"{len(CASES)} cases, {failed} differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
