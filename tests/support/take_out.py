#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes information out of traces, to see whether a verdict stays right or says what is missing.

    take_out.py WAY OUT FILE...

WAY is python, steps, flow, runtime, ops, one-percent, shift, half-ranks or cut. python, flow,
runtime, ops: no such events. steps: no ProfilerStep. one-percent: each event is lost with that
probability. shift: the second file's clock is 3 s off. half-ranks: every second file. cut: the
last 30 % of the text.
"""
import gzip
import json
import pathlib
import random
import sys

CATEGORIES = {
    "python": {"python_function"},
    "runtime": {"cuda_runtime", "Runtime", "cuda_driver", "hip_runtime"},
    "ops": {"cpu_op", "Operator"},
}


def keep(way, event, dice):
    name = str(event.get("name", ""))
    if way == "ops" and name.startswith(("ProfilerStep", "enumerate(")):
        return True
    if way in CATEGORIES:
        return event.get("cat") not in CATEGORIES[way]
    if way == "steps":
        return not name.startswith("ProfilerStep")
    if way == "flow":
        return event.get("ph") not in ("s", "t", "f")
    if way == "one-percent":
        return event.get("ph") == "M" or dice.random() > 0.01
    return True


def main():
    way, out, paths = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    for index, path in enumerate(paths):
        if way == "half-ranks" and index % 2:
            continue
        raw = pathlib.Path(path).read_bytes()
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        name = pathlib.Path(path).name.removesuffix(".gz")
        if way == "cut":
            (out / name).write_bytes(text[: len(text) * 7 // 10])
            continue
        document = json.loads(text, strict=False)
        events = document["traceEvents"] if isinstance(document, dict) else document
        dice = random.Random(index + 7)
        events[:] = [event for event in events
                     if not isinstance(event, dict) or keep(way, event, dice)]
        if way == "shift" and index == 1:
            for event in events:
                if "ts" in event and event.get("ph") != "M":
                    event["ts"] = float(event["ts"]) + 3e6
        (out / name).write_text(json.dumps(document))


if __name__ == "__main__":
    main()
