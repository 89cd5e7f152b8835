#!/usr/bin/env python3
"""What must hold for the figures of every trace, whatever is in it.

Usage: invariants.py STEPSCOPE TRACES. For every trace under TRACES or, when there are none, for
some simulated jobs: the parts of breakdown and budget sum to the step, to the nanosecond; what a
device did fits into its span; no figure is below zero and no share above its base; the views agree
about the steps and about each other's sums. Prints the first file and figure that does not hold.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PRESETS = ("gpu1-healthy", "ddp8-slow", "pp4-healthy", "serve1-healthy", "mi300-four",
           "cnn8-healthy")
NO_TRACE = "not a profiler trace"
ROUNDING = 1e-6  # of a share in percent

BREAKDOWN = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns",
             "dataloader_ns", "cpu_ns", "other_ns")
EXPOSED = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns")
BUDGET = EXPOSED + ("idle_ns",)


class Refused(Exception):
    """The program did not answer."""


class NoTrace(Refused):
    """The file is something else."""


def table(stepscope, view, path):
    """The rows of a view, by column name."""
    command = [stepscope, view, "--format", "json", "--threads", "1", path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 1 and result.stderr.strip().endswith(NO_TRACE):
        raise NoTrace(result.stderr.strip())
    if result.returncode != 0:
        raise Refused(f"{view}: status {result.returncode}: {result.stderr.strip()[:2000]}")
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


# --- rules: each yields (what, holds, numbers) ---------------------------------------------------


def bounds(what, row):
    for name, value in row.items():
        if name.endswith("_ns"):
            yield f"{what}: {name} >= 0", value >= 0, value
        elif name.endswith("_percent") and value is not None:
            yield f"{what}: {name} of 0 to 100", -ROUNDING <= value <= 100 + ROUNDING, value


def adds_up(what, row, parts, whole):
    numbers = [row[part] for part in parts]
    yield f"{what}: {' + '.join(parts)} = {whole}", sum(numbers) == row[whole], (
        *numbers, sum(numbers), row[whole])


def share(what, row, name, part, whole):
    """A share is null without a base, else part of it."""
    if not whole:
        yield f"{what}: {name} without a base", row[name] is None, row[name]
        return
    wanted = 100 * part / whole
    holds = row[name] is not None and abs(row[name] - wanted) < ROUNDING
    yield f"{what}: {name}", holds, (row[name], wanted)


def step_rules(steps, breakdown):
    """The steps that count and last, in their order, with their length."""
    kept = [(row["step"], row["dur_ns"]) for row in steps if not row["dropped"] and row["dur_ns"]]
    ours = [(row["step"], row["dur_ns"]) for row in breakdown]
    yield "breakdown: steps and dur_ns as in the view steps", ours == kept, (ours, kept)
    for row in breakdown:
        what = f"breakdown, step {row['step']}"
        yield from bounds(what, row)
        yield from adds_up(what, row, BREAKDOWN, "dur_ns")


def device_rules(row):
    what = f"utilization, device {row['device']}"
    yield from bounds(what, row)
    order = ("compute_ns", "kernel_ns", "busy_ns", "span_ns")
    numbers = [row[name] for name in order]
    yield f"{what}: {' <= '.join(order)}", numbers == sorted(numbers), numbers
    yield from adds_up(what, row, ("busy_ns", "idle_ns"), "span_ns")
    yield from adds_up(what, row, ("compute_ns", "exposed_comm_ns"), "kernel_ns")
    yield from adds_up(what, row, EXPOSED, "busy_ns")
    yield from share(what, row, "gpu_percent", row["kernel_ns"], row["span_ns"])
    if row["sm_percent"] is not None:
        holds = row["sm_percent"] <= row["gpu_percent"] + ROUNDING
        yield f"{what}: sm_percent <= gpu_percent", holds, (row["sm_percent"], row["gpu_percent"])


def budget_rules(row):
    what = f"budget, device {row['device']}, step {row['step']}"
    yield from bounds(what, row)
    yield from adds_up(what, row, BUDGET, "dur_ns")
    hidden = row["comm_ns"] - row["exposed_comm_ns"]
    yield f"{what}: 0 <= hidden communication <= compute_ns", 0 <= hidden <= row["compute_ns"], (
        hidden, row["compute_ns"])
    yield from share(what, row, "overlap_percent", hidden, row["comm_ns"])


def agreement_rules(breakdown, budget, utilization):
    """Steps lie within the span, and a file's compute is no less than that of a device."""
    lengths = {row["step"]: row["dur_ns"] for row in breakdown}
    for device in utilization:
        number = device["device"]
        own = [row for row in budget if row["device"] == number]
        what = f"budget, device {number}"
        ours = {row["step"]: row["dur_ns"] for row in own}
        yield f"{what}: steps and dur_ns as in breakdown", ours == lengths, (ours, lengths)
        for name in BUDGET:
            total = sum(row[name] for row in own)
            holds = total <= device[name]
            yield f"{what}: {name} of the steps <= that of the span", holds, (total, device[name])
    devices = {row["device"] for row in utilization}
    strangers = {row["device"] for row in budget} - devices
    yield "budget: devices as in utilization", not utilization or not strangers, strangers
    for row in breakdown:
        compute = [b["compute_ns"] for b in budget if b["step"] == row["step"]]
        holds = max(compute, default=0) <= row["kernel_ns"] <= sum(compute)
        yield (f"step {row['step']}: breakdown's kernel_ns between the most and the sum of "
               "budget's compute_ns", holds, (row["kernel_ns"], compute))


def rules(stepscope, path):
    steps, breakdown, budget, utilization = (
        table(stepscope, view, path) for view in ("steps", "breakdown", "budget", "utilization"))
    yield from step_rules(steps, breakdown)
    for row in utilization:
        yield from device_rules(row)
    for row in budget:
        yield from budget_rules(row)
    yield from agreement_rules(breakdown, budget, utilization)


# --- files ---------------------------------------------------------------------------------------


def check(stepscope, path):
    """How many rules were looked at, and those that do not hold; None for no trace."""
    count, failed = 0, []
    try:
        for what, holds, numbers in rules(stepscope, path):
            count += 1
            if not holds:
                failed.append(f"{what}: {numbers}")
    except NoTrace:
        return None
    except Refused as reason:
        return count + 1, [*failed, str(reason)]
    return count, failed


def traces_in(folder):
    return sorted(p for p in pathlib.Path(folder).rglob("*.json*")
                  if p.is_file() and p.name.endswith((".json", ".json.gz", ".json.zst")))


def simulated(stepscope, folder):
    for preset in PRESETS:
        output = pathlib.Path(folder, preset)
        command = [stepscope, "sim", "--preset", preset, "-o", output]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{preset} cannot be simulated: {result.stderr.strip()}")
    return [path for path in traces_in(folder) if path.name != "truth.json"]


def check_all(stepscope, paths):
    files = checks = failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for path, found in zip(paths, pool.map(lambda p: check(stepscope, p), paths)):
            if found is None:
                continue
            files += 1
            checks += found[0]
            if found[1] and not failed:
                print(f"{path}: {found[1][0]}")
            failed += len(found[1])
    print(f"{files} files, {checks} checks, {failed} failed")
    return files and checks and not failed


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stepscope, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        paths = traces_in(folder) or simulated(stepscope, scratch)
        sys.exit(0 if check_all(stepscope, paths) else 1)


if __name__ == "__main__":
    main()
