#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of memory against what is known of them.

Usage: truth.py STEPSCOPE TRACES. Every file of TRACES/memory: sums against a slow reading of the
same file with Python's unpickler (which may load nothing here), figures against the truth files,
findings against the labels. Files that are not there are skipped.
"""
import collections
import gzip
import io
import json
import pathlib
import pickle
import subprocess
import sys

# file -> what must be found, in order; notes are not listed
LABELS = {
    "synthetic_normal": [], "synthetic_torch21_fields": [], "synthetic_no_history": [],
    "synthetic_history_cut": [], "synthetic_device3_of_8": [],
    "synthetic_leak": ["memory-leak"], "synthetic_leak_oom": ["out-of-memory", "memory-leak"],
    # the running buffers of this load are never freed, either
    "synthetic_fragmentation": ["fragmentation", "memory-leak"],
    "synthetic_fragmentation_fixed_expandable": ["memory-leak"],
    "cpu_leak": ["memory-leak"], "cpu_normal": [],
}  # fmt: skip
# INDEX.md, in MiB
GPU = {"medium_512_training": (12074, 6521, 22332)}


class DataOnly(pickle.Unpickler):
    """Python's reader, for files that call nothing."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")


def run(stepscope, path, *words):
    command = [stepscope, "snapshot", str(path), *words, "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, f"{path.name}: {result.stderr}"
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]], document["notes"]


def device_blocks(data, device):
    for segment in data["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            at = block.get("address", address)
            address = at + block["size"]
            if segment["device"] == device:
                yield at, block


def slow_peak(data, device):
    """The peak as memory_viz has it: sizes as asked for, from the state before the events."""
    events = data["device_traces"][device] if device < len(data["device_traces"]) else []
    live, before, now, peak = {}, 0, 0, 0
    for event in events:
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"]
            now += event["size"]
        elif event["action"] == "free_completed":
            if live.pop(event["addr"], None) is None:
                before += event["size"]
            now -= event["size"]
        peak = max(peak, now)
    for at, block in device_blocks(data, device):
        if block["state"].startswith("active") and at not in live:
            before += block.get("requested_size", block["size"])
    return before + peak if events else None


def check_sums(rows, data):
    devices = {segment["device"] for segment in data["segments"]}
    assert {int(row["device"]) for row in rows} >= devices
    for row in rows:
        blocks = [block for _, block in device_blocks(data, int(row["device"]))]
        sizes = collections.Counter()
        for block in blocks:
            sizes[block["state"]] += block["size"]
        free = [block["size"] for block in blocks if block["state"] == "inactive"]
        reserved = sum(s["total_size"] for s in data["segments"]
                       if s["device"] == int(row["device"]))  # fmt: skip
        active = sum(sizes.values()) - sizes["inactive"]
        assert row["reserved_bytes"] == reserved, row
        assert row["allocated_bytes"] == sizes["active_allocated"], row
        assert row["active_bytes"] == active, row
        assert row["largest_free_bytes"] == max(free, default=0), row
        if free and reserved == sum(sizes.values()):
            parts = row["active_bytes"] + row["external_bytes"] + row["releasable_bytes"]
            assert parts == reserved, row
        assert row["peak_requested_bytes"] == slow_peak(data, int(row["device"])), row
        events = data["device_traces"][int(row["device"])]
        assert row["events"] == len(events), row


def check_truth(stepscope, path, row, truth, whole):
    assert row["reserved_bytes"] == truth["reserved"]
    assert row["allocated_bytes"] == truth["allocated"]
    assert row["requested_bytes"] == truth["requested"]
    assert row["largest_free_bytes"] == truth["largest_free_block"]
    assert row["segments"] == truth["segments"] and row["blocks"] == truth["blocks"]
    assert row["external_bytes"] + row["releasable_bytes"] == truth["inactive"]
    assert row["events"] == sum(truth["actions"].values())
    if whole:
        assert row["replay"] == "exact", row["replay"]
        assert row["peak_active_bytes"] == truth["peak_active"], row["peak_active_bytes"]
        assert row["peak_reserved_bytes"] == truth["peak_reserved"]
    if truth.get("oom_bytes"):
        ooms, _ = run(stepscope, path, "oom")
        assert ooms[-1]["asked_bytes"] == truth["oom_bytes"], ooms
    if "leaked_bytes_per_step" in truth:
        leaks, _ = run(stepscope, path, "leaks")
        grows = [leak for leak in leaks if leak["grows"]]
        assert sum(leak["step_bytes"] for leak in grows) == truth["leaked_bytes_per_step"]
        lines = {leak["line"].split(" ")[0] for leak in grows}
        assert lines == {"train.py:43", "model.py:14"}, lines


def check_parts(stepscope, path, row):
    """What is held at the peak, by line and by category, and the timeline: sums of one whole."""
    if row["peak_active_bytes"] is None:
        return
    for group in ("line", "stack", "category"):
        rows, _ = run(stepscope, path, "holders", "--group", group, "--device", row["device"])
        assert sum(r["peak_bytes"] for r in rows) == row["peak_active_bytes"], (group, path.name)
        assert sum(r["end_bytes"] for r in rows) == row["active_bytes"], (group, path.name)
    for group in ("coarse", "all"):
        rows, _ = run(stepscope, path, "timeline", "--group", group, "--device", row["device"])
        assert max(r["max_bytes"] for r in rows) == row["peak_active_bytes"]
        kinds = [name for name in rows[0] if name.endswith("_bytes") and name not in
                 ("min_bytes", "max_bytes", "reserved_bytes")]  # fmt: skip
        kinds = [kind for kind in kinds if kind != "line_bytes"]
        for part in rows:
            assert sum(part[kind] for kind in kinds) == part["max_bytes"], part
    rows, _ = run(stepscope, path, "timeline", "--group", "line", "--device", row["device"])
    sums, whole = collections.Counter(), {}
    for part in rows:
        sums[part["event"]] += part["line_bytes"]
        whole[part["event"]] = part["max_bytes"]
    assert dict(sums) == whole, path.name
    assert max(whole.values()) == row["peak_active_bytes"], path.name


def check_file(stepscope, path, truths):
    data = DataOnly(io.BytesIO(path.read_bytes())).load()
    rows, notes = run(stepscope, path, "summary")
    assert rows, "no devices"
    check_sums(rows, data)
    name = path.name.split(".")[0]
    truth = truths.get(name.removeprefix("synthetic_"))
    cut = "history_cut" in name
    if truth and name.startswith("synthetic_"):
        check_truth(stepscope, path, rows[0], truth, truth["actions"] and not cut)
    for row in rows:
        check_parts(stepscope, path, row)
        assert row["replay"] != "differs", row
    if rows[0]["events"] == 0:
        assert any("no events were recorded" in note for note in notes), notes
    findings, _ = run(stepscope, path, "findings")
    found = [finding["finding"] for finding in findings if finding["severity"] == "warning"]
    assert found == LABELS.get(name, []), found
    if "expandable" in name:
        assert [f["finding"] for f in findings if f["severity"] == "note"] == ["fragmentation"]
        assert findings[-1]["severity"] == "note", "notes come last"
    if name in GPU:
        reserved, allocated, events = GPU[name]
        assert rows[0]["reserved_bytes"] >> 20 == reserved and rows[0]["events"] == events
        assert rows[0]["allocated_bytes"] >> 20 == allocated, rows[0]["allocated_bytes"]


def check_timeline(stepscope, path):
    """Both JSON forms of export_memory_timeline()."""
    with gzip.open(path) as file:
        data = json.load(file)
    if ".raw." in path.name:
        now, sums = 0, []
        for _, _, change, _ in data:
            now += change
            sums.append(now)
    else:
        sums = [sum(row) for row in data[1]]
    rows, notes = run(stepscope, path, "summary")
    assert rows[0]["peak_active_bytes"] == max(sums) and rows[0]["events"] == len(sums), rows
    assert any("memory timeline" in note for note in notes), notes
    rows, _ = run(stepscope, path, "timeline")
    assert max(row["max_bytes"] for row in rows) == max(sums)
    assert sum(row["events"] for row in rows) == len(sums)
    rows, _ = run(stepscope, path, "timeline", "--group", "all")
    assert [row["max_bytes"] for row in rows] == sums
    assert run(stepscope, path, "findings")[0] == []


def main():
    stepscope, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "memory"
    truths, failed = {}, 0
    if (folder / "synthetic_truth.json").exists():
        truths = json.loads((folder / "synthetic_truth.json").read_text())
    files = sorted(folder.glob("*.pickle")) + sorted(folder.glob("gpu/*.pickle"))
    timelines = sorted(folder.glob("*.memory_timeline*.json.gz"))
    for path in files + timelines:
        try:
            if path in timelines:
                check_timeline(stepscope, path)
            else:
                check_file(stepscope, path, truths)
        except (AssertionError, KeyError, IndexError) as error:
            failed += 1
            print(f"{path.name}: {error!r}"[:600])
    if not files + timelines:
        print(f"skipped: no snapshots in {folder}")
        return 77
    print(f"{len(files)} snapshots, {len(timelines)} timelines, {failed} with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
