# SPDX-License-Identifier: Apache-2.0
"""Events of a trace as Python reads them: a second opinion on what the tables of SQL have."""
import gzip
import json
import pathlib
from collections import defaultdict

KINDS = {"cpu_op": "operator", "user_annotation": "annotation", "python_function": "python",
         "cuda_runtime": "runtime", "kernel": "kernel", "gpu_memcpy": "memcpy",
         "gpu_memset": "memset"}
# names that writers used before
OLD = {"operator": "cpu_op", "runtime": "cuda_runtime", "memcpy": "gpu_memcpy",
       "memset": "gpu_memset"}
ON_DEVICE = ("kernel", "memcpy", "memset")


def nanoseconds(text):
    """Exact, as floats are not: "1234.567" microseconds."""
    whole, _, part = str(text).partition(".")
    sign = -1 if whole.startswith("-") else 1
    return int(whole) * 1000 + sign * int((part + "000")[:3])


class Slice:
    def __init__(self, rank, event, origin):
        args = event.get("args", {})
        category = event["cat"].lower()
        self.rank, self.name = rank, event["name"]
        self.category = OLD.get(category, category)
        self.kind = KINDS.get(self.category)
        if category == "operator" and "#" in self.name:
            self.kind = "annotation"  # old writers had no category for ranges
        self.start = nanoseconds(event["ts"]) - origin
        self.dur = nanoseconds(event.get("dur", 0))
        self.end = self.start + self.dur
        self.place = (event["pid"], event["tid"])
        self.correlation = args.get("correlation")
        self.device, self.stream = args.get("device"), args.get("stream")
        self.parent = None


def events_of(path):
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        document = json.loads(file.read(), parse_float=str)
    return document["traceEvents"], document.get("distributedInfo", {}).get("rank")


def has_time(event):
    return event["ph"] == "X" or (event["ph"] == "i" and event.get("name") == "[memory]")


def nest(slices):
    """Gives every slice of a thread the innermost one that holds its start."""
    threads = defaultdict(list)
    for one in slices:
        if one.kind not in ON_DEVICE:
            threads[one.place].append(one)
    for thread in threads.values():
        around = []
        for one in sorted(thread, key=lambda slice_: (slice_.start, -slice_.dur)):
            while around and around[-1].end <= one.start:
                around.pop()
            one.parent = around[-1] if around else None
            around.append(one)


class Trace:
    def __init__(self, path):
        events, self.rank = events_of(path)
        self.origin = min(nanoseconds(event["ts"]) for event in events if has_time(event))
        self.slices = [Slice(self.rank, event, self.origin) for event in events
                       if event["ph"] == "X"]
        self.memory = [event["args"] for event in events if event.get("name") == "[memory]"]
        calls = {one.correlation: one for one in self.slices if one.kind == "runtime"}
        for one in self.slices:
            one.launch = calls.get(one.correlation) if one.kind in ON_DEVICE else None
        nest(self.slices)


def traces_of(path):
    path = pathlib.Path(path)
    files = sorted(path.glob("*.json.gz")) if path.is_dir() else [path]
    return [Trace(file) for file in files]
