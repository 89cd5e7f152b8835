#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a file does not record is null in every view, never 0.

Usage: nulls.py STEPSCOPE. One kind of information after the other is taken out of a simulated job.
The columns that depend on it are null in all rows then; with it they have figures. A table without
rows says nothing, so what must have rows is listed as well. Verdicts have null for steps that are
not there.
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

STEPSCOPE = sys.argv[1]
SHAPES = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
SIZES = ("bytes", "memory bandwidth (GB/s)", "In msg nelems", "Out msg nelems", "dtype")
OCCUPANCY = ("est. achieved occupancy %", "warps per SM", "blocks per SM", "grid", "block")
LINKS = ("correlation", "External id")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
CALLS = ("cuda_runtime", "cuda_driver")


def without_args(*keys):
    def change(event):
        args = {k: v for k, v in event.get("args", {}).items() if k not in keys}
        return {**event, "args": args} if "args" in event else event
    return change


def without_category(*categories):
    return lambda event: None if event.get("cat") in categories else event


def without_name(name):
    return lambda event: None if event.get("name") == name else event


# what is taken out, and the columns that depend on it, by view and group
WAYS = {
    "shapes": (without_args(*SHAPES), {
        "roofline": "gflop moved_bytes flop_per_byte", "operators/shapes": "shapes gflop"}),
    "sizes": (without_args(*SIZES), {
        "copies": "moved_bytes gb_per_s", "communication": "message_bytes algbw busbw"}),
    "occupancy": (without_args(*OCCUPANCY), {
        "kernels": "occupancy_percent", "utilization": "sm_percent occupancy_percent"}),
    "links": (without_args(*LINKS), {
        "launches": "device_events delay_median_ns", "launches/step": "queue_mean queue_max",
        "syncs": "idle_ns idle_percent", "operators": "device_self_ns device_total_ns"}),
    "calls": (without_category(*CALLS), {"operators": "device_self_ns device_total_ns"}),
    "device": (without_category(*DEVICE), {
        "launches": "device_events", "ranks": "idle_ns exposed_ns", "operators": "device_self_ns"}),
    "operators": (without_category("cpu_op"), {"modules": "operators operators_ns"}),
    "stacks": (without_category("python_function"), {
        "operators/line": "line", "gaps/line": "line"}),
    "memory": (without_name("[memory]"), {"memory": "", "memory-steps": "", "allocations": "",
                                    "operators": "allocated_bytes"}),
}


def run(*words):
    command = [STEPSCOPE, *map(str, words), "--progress", "none"]
    result = subprocess.run(command, capture_output=True, timeout=120)
    assert result.returncode == 0, f"{words}: {result.stderr.decode()}"
    return result.stdout


def rows(what, path):
    view, _, group = what.partition("/")
    words = [view, "--format", "ndjson", *(["--group", group] if group else []), path]
    return [json.loads(line) for line in run(*words).splitlines()]


def write(folder, documents, change):
    folder.mkdir()
    for name, document in documents.items():
        events = [change(event) for event in document["traceEvents"]]
        kept = [event for event in events if event]
        (folder / name).write_text(json.dumps({**document, "traceEvents": kept}))
    return folder


def problems(columns, whole, stripped):
    """Figures before, null after; a view without columns here has no rows after."""
    if not whole or bool(stripped) != bool(columns):
        yield f"{len(whole)} rows with it, {len(stripped)} without"
    for column in columns.split():
        if all(row[column] is None for row in whole):
            yield f"{column} is null anyway"
        left = [row[column] for row in stripped if row[column] is not None]
        if left:
            yield f"{column} is {left[:3]} without it"


def check_single(folder, documents):
    """Of one rank nothing can be compared."""
    name = sorted(documents)[0]
    folder.mkdir()
    (folder / name).write_text(json.dumps(documents[name]))
    for what, columns in {"clocks": "offset_ns error_ns drift_ppb violations",
                          "ranks": "wait_ns lateness_ns last"}.items():
        for row in rows(what, folder):
            for column in columns.split():
                assert row[column] is None, (what, column, row)


def check_empty(folder):
    """No steps: no time of a step."""
    path = folder / "empty.json"
    path.write_text('{"traceEvents":[]}')
    verdict = json.loads(run("diagnose", "--format", "json", path))
    for key in ("step_ns", "fixed_step_ns", "fixed_low_ns", "fixed_high_ns", "ceiling_ns",
                "replay_error_percent", "account", "spread"):
        assert verdict[key] is None, key
    assert all(value is None for value in verdict["run"].values()), verdict["run"]


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        run("sim", "--preset", "ddp8-straggler", "--ranks", "2", "--steps", "2", "--set",
            "memory=1", "-o", folder / "job")
        documents = {path.name.removesuffix(".gz"): json.loads(gzip.decompress(path.read_bytes()))
                     for path in (folder / "job").glob("rank*.json.gz")}
        whole = write(folder / "whole", documents, lambda event: event)
        checked, failed = 0, []
        for way, (change, views) in WAYS.items():
            stripped = write(folder / way, documents, change)
            for what, columns in views.items():
                found = problems(columns, rows(what, whole), rows(what, stripped))
                failed += [f"{way}, {what}: {problem}" for problem in found]
                checked += max(1, len(columns.split()))
        assert not failed, "\n".join(failed)
        check_single(folder / "single", documents)
        check_empty(folder)
    print(f"nulls: {len(WAYS)} kinds of information, {checked} columns")


if __name__ == "__main__":
    main()
