#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fix of a finding fits the job: trained or not, compiled, served, with a DataLoader.

Usage: fixes.py STEPSCOPE. Traces are written by hand: six steps of 10 ms each.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

STEPS, STEP_US = 6, 10000


def event(category, name, start, dur, tid=1, **args):
    pid = 0 if category in ("kernel", "gpu_memcpy") else 7
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
            "dur": dur, "args": args}


class Step:
    """Events of one step; times are us from its start."""

    def __init__(self, number):
        self.start, self.calls = number * STEP_US, number * 1000
        self.events = [event("user_annotation", f"ProfilerStep#{number}", self.start, STEP_US)]

    def add(self, category, name, at, dur, **args):
        self.events.append(event(category, name, self.start + at, dur, **args))

    def device(self, call, name, at, dur, work="kernel", call_us=5, **args):
        """A call, and the work that it launches: begins 5 us later."""
        self.calls += 1
        self.add("cuda_runtime", call, at, call_us, correlation=self.calls)
        self.events.append(event(work, name, self.start + at + 5, dur, tid=7, stream=7, device=0,
                                 correlation=self.calls, **args))

    def trains(self):
        self.add("cpu_op", "aten::mm", 20, 8, **{"Sequence number": 1, "Fwd thread id": 0})
        self.add("cpu_op", "MmBackward0", 40, 8)
        self.add("user_annotation", "Optimizer.step#SGD.step", 9950, 20)

    def infers(self):
        self.add("cpu_op", "aten::mm", 20, 8)

    def loads(self):
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        self.add("user_annotation", name, 0, 5)

    def reads(self, op="aten::item"):
        """Three numbers are read, the host launches late after each."""
        for at in (1000, 4000, 7000):
            self.device("cudaLaunchKernel", "k", at, 1000)
            self.add("cpu_op", op, at + 10, 1000)
            self.add("cuda_runtime", "cudaStreamSynchronize", at + 11, 998)

    def copies(self):
        """A batch from pageable memory, which the host waits for."""
        self.add("cpu_op", "aten::copy_", 90, 4030)
        self.device("cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", 100, 4000,
                    work="gpu_memcpy", call_us=4005, bytes=25000000)
        self.device("cudaLaunchKernel", "k", 4200, 3000)

    def allocates(self, each):
        """Twelve tensors: each is freed when it dies, or all of them at the end."""
        for i in range(12):
            self.add("cuda_runtime", "cudaMalloc", 500 * i + 100, 100)
            self.device("cudaLaunchKernel", "k", 500 * i + 250, 100)
            at = 500 * i + 400 if each else 7000 + 110 * i
            self.add("cuda_runtime", "cudaFree", at, 80)

    def sleeps(self):
        self.device("cudaLaunchKernel", "k", 100, 1000)
        self.add("python_function", "train.py(7): pace", 2000, 6000, **{"Python id": 1})
        self.add("python_function", "<built-in function sleep>", 2010, 5900, **{"Python id": 2})


# what, calls of each step, rule, words that the fix has, words that it has not
CASES = [
    ("a training loop that reads numbers", ["trains", "reads"], "sync-stall", ["loss.detach"], []),
    ("inference that reads numbers", ["infers", "reads"], "sync-stall", ["tolist()"], ["loss"]),
    ("a batch of a DataLoader", ["trains", "loads", "copies"], "pageable-copies",
     ["DataLoader(..., pin_memory=True)"], []),
    ("a batch without a DataLoader", ["trains", "copies"], "pageable-copies", ["x.pin_memory()"],
     ["DataLoader"]),
    ("the cache is emptied", ["trains", ("allocates", False)], "allocator-thrash",
     ["empty_cache()"], ["NO_CUDA_MEMORY_CACHING"]),
    ("the cache is off", ["trains", ("allocates", True)], "allocator-thrash",
     ["NO_CUDA_MEMORY_CACHING"], ["empty_cache()"]),
    ("a sleep is no logging", ["trains", "sleeps"], "all-idle", ["remove the sleep"],
     ["log", "save"]),
]


def check(stepscope, case, path):
    """Yields what differs."""
    _, calls, rule, wanted, unwanted = case
    events = []
    for number in range(1, STEPS + 1):
        step = Step(number)
        for call in calls:
            name, *words = call if isinstance(call, tuple) else (call,)
            getattr(step, name)(*words)
        events += step.events
    device = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0}
    path.write_text(json.dumps({"deviceProperties": [device], "traceEvents": events}))
    words = [stepscope, "diagnose", path, "--progress", "none", "--format", "json"]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        yield made.stderr
        return
    findings = json.loads(made.stdout)["findings"]
    fixes = [row["fix"] + row["title"] for row in findings if row["rule"] == rule]
    if not fixes:
        yield f"no finding of {rule}, but {[row['rule'] for row in findings]}"
    for fix in fixes:
        yield from (f"the fix lacks {word!r}: {fix}" for word in wanted if word not in fix)
        yield from (f"the fix has {word!r}: {fix}" for word in unwanted if word in fix)


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
