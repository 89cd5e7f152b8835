#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of traces against a slow reading of the same files.

Usage: from_trace.py STEPSCOPE TRACES. Peaks, ends, reserved memory, what was never freed and, where
Python was recorded, what each line allocated; a leak that was planted, and silence where there is
none; a trace against the snapshot of the same run. Files that are not there are skipped.
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

FILES = [
    "cuda/h100_qwen.json.gz", "cuda/h100_owlv2.json.gz", "cuda/ddp2_memory_events.json.gz",
    "cuda/resnet50_workers0.pt.trace.json.gz", "cuda/resnet50_workers4.pt.trace.json.gz",
    "rocm/mi300_qwen.json.gz", "pairs/batch_size_2.json.gz", "pairs/batch_size_512.json.gz",
    "cpu/shapes_memory/rank0.pt.trace.json.gz", "cpu/stack_memory/rank0.pt.trace.json.gz",
    "cpu/stack_memory/rank3.pt.trace.json.gz", "memory/cpu_leak.pt.trace.json.gz",
    "memory/cpu_normal.pt.trace.json.gz",
]  # fmt: skip
LEAKS = {
    "cpu_leak": ["train.py:37 (forward)", "train.py:48 (forward)", "memory_real.py:14 (step)"]
}


def run(stepscope, path, *words):
    command = [stepscope, "snapshot", str(path), *words, "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, f"{path.name}: {result.stderr}"
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]], document["notes"]


def moment(event):
    """In ns, exactly: microseconds with a fraction do not fit a float."""
    whole, _, part = str(event["ts"]).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def devices_of(events):
    found = collections.defaultdict(list)
    for event in sorted((e for e in events if e.get("name") == "[memory]"), key=moment):
        args = event["args"]
        kind = "cpu" if args["Device Type"] == 0 else str(args["Device Id"])
        found[kind].append(event)
    return found


def slow_figures(name, events):
    """What the events of a device say."""
    total = reserved = 0
    peak = first = events[0]["args"].get("Total Allocated", 0) - events[0]["args"]["Bytes"]
    if "Total Allocated" not in events[0]["args"]:
        peak = first = 0
    total, live, reserves = first, {}, []
    for event in events:
        args = event["args"]
        total += args["Bytes"]
        assert args.get("Total Allocated", total) == total, "a total that no event explains"
        peak = max(peak, total)
        if "Total Reserved" in args and name != "cpu":
            reserved = args["Total Reserved"]
            reserves.append(reserved)
        if not args.get("Addr"):
            continue
        if args["Bytes"] > 0:
            live[args["Addr"]] = args["Bytes"]
        else:
            live.pop(args["Addr"], None)
    return {
        "peak_active_bytes": peak, "allocated_bytes": total, "active_bytes": total,
        "peak_reserved_bytes": max(reserves) if reserves else None,
        "reserved_bytes": reserves[-1] if reserves else None, "events": len(events),
        "allocations": sum(e["args"]["Bytes"] > 0 for e in events),
        "out_of_memory": 0, "segments": None,
    }, live  # fmt: skip


def own_line(name):
    """A frame of the user's own as a line, or None."""
    file, found, rest = name.partition(".py(")
    if not found or file.startswith(("torch/", "contextlib", "threading", "site-packages")):
        return None
    if "site-packages/" in file or "/torch/" in file or "lib/python" in file:
        return None
    line, _, function = rest.partition("): ")
    return f"{file.split('/')[-1]}.py:{line} ({function})"


def slow_lines(events, memory):
    """Bytes that each line of the user's own allocated, by walking every thread."""
    frames, wanted, sums = collections.defaultdict(list), collections.defaultdict(list), {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") == "python_function":
            end = moment(event) + moment({"ts": event["dur"]})
            frames[event["tid"]].append((moment(event), -end, event["name"]))
    for event in memory:
        if event["args"]["Bytes"] > 0:
            wanted[event["tid"]].append((moment(event), event["args"]["Bytes"]))
    for tid, allocations in wanted.items():
        stack, rows, at = [], sorted(frames[tid]), 0
        for now, size in sorted(allocations):
            while at < len(rows) and rows[at][0] <= now:
                while stack and -stack[-1][1] < rows[at][0]:
                    stack.pop()
                stack.append(rows[at])
                at += 1
            while stack and -stack[-1][1] < now:
                stack.pop()
            lines = [own_line(name) for _, _, name in reversed(stack)]
            line = next((line for line in lines if line), None)
            sums[line] = sums.get(line, 0) + size
    return sums


def check_file(stepscope, path):
    events = json.load(gzip.open(path, "rt"))["traceEvents"]
    rows, notes = run(stepscope, path, "summary")
    found = devices_of(events)
    order = sorted((name for name in found if name != "cpu"), key=int)
    assert [row["device"] for row in rows] == order + ["cpu"] * ("cpu" in found), rows
    kept, _ = run(stepscope, path, "leaks")
    for row in rows:
        name, memory = row["device"], found[row["device"]]
        figures, live = slow_figures(name, memory)
        for key, value in figures.items():
            assert row[key] == value, f"{path.name} {name}: {key} {row[key]}, not {value}"
        own = [line for line in kept if line["device"] == name]
        assert sum(line["kept_bytes"] for line in own) == sum(live.values()), (path.name, name)
        assert sum(line["kept_blocks"] for line in own) == len(live), (path.name, name)
    has_addresses = any("Addr" in event["args"] for group in found.values() for event in group)
    assert has_addresses != any("addresses are not recorded" in note for note in notes), notes
    has_totals = any("Total Allocated" in e["args"] for group in found.values() for e in group)
    assert has_totals != any("totals are not recorded" in note for note in notes), notes
    grown = [line["line"] for line in kept if line["grows"]]
    assert grown == LEAKS.get(path.name.split(".")[0], []), f"{path.name}: {grown}"
    check_parts(stepscope, path)
    if path.parent.name in ("memory", "stack_memory"):
        wanted = slow_lines(events, found["cpu"])
        sums = {row["line"]: row["bytes"]
                for row in run(stepscope, path, "allocations", "--group", "line")[0]}  # fmt: skip
        assert sums == wanted, f"{path.name}: {sums}, not {wanted}"


def check_parts(stepscope, path):
    """Categories and lines sum to what is in use, at every moment; holders to the peak."""
    rows, _ = run(stepscope, path, "timeline", "--group", "all")
    parts = [key for key in rows[0] if key.endswith("_bytes")]
    parts = [key for key in parts if key.split("_")[0] not in ("min", "max", "reserved", "line")]
    for row in rows:
        assert sum(row[key] for key in parts) == row["max_bytes"], row
        assert all(row[key] >= 0 for key in parts), row
    peaks = collections.Counter()
    for row in run(stepscope, path, "holders")[0]:
        peaks[row["device"]] += row["peak_bytes"]
    for row in run(stepscope, path, "summary")[0]:
        assert peaks[row["device"]] == row["peak_active_bytes"], (path.name, row["device"])


def check_same_run(stepscope, traces):
    """A trace and a snapshot of the same run tell the same leak."""
    trace, snapshot = traces / "cpu_leak.pt.trace.json.gz", traces / "cpu_leak.p4.pickle"
    if not trace.exists() or not snapshot.exists():
        return
    sides = [{row["line"]: row["step_bytes"] for row in run(stepscope, path, "leaks")[0]
              if row["grows"]} for path in (trace, snapshot)]  # fmt: skip
    assert sides[0] and sides[0].keys() == sides[1].keys(), sides
    # the snapshot does not have one number a step that the profiler sees
    assert all(0 <= sides[0][line] - sides[1][line] < 64 for line in sides[0]), sides
    truth = json.loads((traces / "cpu_truth.json").read_text())["leak"]
    row = run(stepscope, trace, "summary")[0][0]
    # the truth is less what was there when it began: a few tensors of one number
    assert 0 <= row["peak_active_bytes"] - truth["peak_delta_bytes"] < 64, row
    assert 0 <= row["allocated_bytes"] - truth["end_delta_bytes"] < 64, row


def check_refusals(stepscope, traces):
    """What cannot be chosen or is not there ends in a sentence that helps."""
    folder, bare = traces / "cpu/stack_memory", traces / "cuda/b200_eager.json.gz"
    wanted = [([folder], 2, "choose one with --rank"), ([folder, "--rank", "9"], 1, "for rank 9"),
              ([bare], 1, "use profile(profile_memory=True)")]  # fmt: skip
    for words, code, sentence in wanted:
        if not words[0].exists():
            continue
        command = [stepscope, "snapshot", *map(str, words)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert result.returncode == code and sentence in result.stderr, (words, result)
    if bare.exists():
        with tempfile.TemporaryDirectory() as scratch:
            cut = pathlib.Path(scratch) / "cut.json"
            cut.write_bytes(gzip.decompress(bare.read_bytes())[:100_000])
            command = [stepscope, "snapshot", str(cut)]
            result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and "is truncated" in result.stderr, result
    if folder.exists():
        one, _ = run(stepscope, folder, "summary", "--rank", "1")
        named, _ = run(stepscope, folder / "rank1.pt.trace.json.gz", "summary")
        assert one == named


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    paths = [traces / name for name in FILES if (traces / name).exists()]
    if not paths:
        print("no traces: nothing checked")
        return 77
    paths = share(paths)
    for path in paths:
        check_file(stepscope, path)
    check_same_run(stepscope, traces / "memory")
    check_refusals(stepscope, traces)
    print(f"{len(paths)} traces with memory agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
