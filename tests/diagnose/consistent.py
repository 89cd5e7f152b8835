#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No sentence of a verdict contradicts another one, the account, or the file.

Usage: consistent.py STEPSCOPE TRACES [NAME...]: all traces and jobs below TRACES, or those whose
path has one of the names. A quick run takes an eighth of them.

The file itself is read here once more, as text: which names it has, and how long the events with a
name last. Against it are checked: what a sentence says of a function or call, what the GPU is said
to wait for, and whether the fix fits the job (trained or not, compiled, on GPUs, with a
DataLoader).
"""
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

PARTS = (
    "explained_ns", "compute_ns", "communication_ns", "copies_ns", "host_ns", "unexplained_ns",
)
SLACK = 1.02  # figures of sentences are rounded to three digits

# Sentences with a time that the events of the name must have.
NAMED = (
    r"(?P<name>.+)(?<! with its backward) takes [\d.,]+ m?s (of it )?per step(?! outside)",
    r"(?P<name>.+) blocks the training thread for",
    r"(?P<name>.+) is called .* and blocks the thread for",
    r"(?P<name>.+) computes on the CPU",
    r"(?P<name>.+) runs .* and launches nothing for",
    r"the GPU is idle for .* while the host is in (?P<name>.+)",
)

TRAINS = re.compile(rb'"[^"]*(Backward|backward|autograd::engine|Optimizer\.step#)')
COMPILED = re.compile(rb'"[^"]*(Torch-Compiled Region|CompiledFunction|CompiledFxGraph)')
LOADS = re.compile(rb'"enumerate\(DataLoader\)#')
DEVICE = re.compile(rb'"cat": ?"(kernel|gpu_memcpy|gpu_memset|Kernel|Memcpy|Memset)"')
OPERATOR = re.compile(rb'"cat": ?"(cpu_op|Operator)"')

# What rules say that is not right yet: parts of the problems below.
NOT_YET = {
    "input-stall": ("called training", "advice for a GPU"),
    "memory-leak": ("advice for training",),
    "unexplained-time": ("called training", "its events last"),
}


def jobs(traces):
    for folder in ("cuda", "rocm", "other", "pairs", "unseen"):
        yield from sorted((traces / folder).glob("*.gz"))
    for folder in ("jobs", "cpu", "cpu_faults", "unseen"):
        yield from sorted(path for path in (traces / folder).glob("*") if path.is_dir())
    yield from sorted(path for path in (traces / "faults3").glob("*/*") if path.is_dir())


class File:
    """What the files of a job have, without the program's help."""

    def __init__(self, path):
        files = [path] if path.is_file() else sorted(path.rglob("*.json*"))
        self.texts = [self.read(file) for file in files]
        self.totals = None

    @staticmethod
    def read(file):
        data = file.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data

    def has(self, pattern):
        return any(pattern.search(text) for text in self.texts)

    def total_ns(self, name):
        """The longest total of all events with the name in one file; None: there is none."""
        if self.totals is None:
            self.totals = [self.totals_of(text) for text in self.texts]
        return max((totals[name] for totals in self.totals if name in totals), default=None)

    @staticmethod
    def totals_of(text):
        totals = {}
        document = json.loads(text, strict=False)
        events = document.get("traceEvents", []) if isinstance(document, dict) else document
        for event in events:
            if event.get("ph") == "X" and "dur" in event and isinstance(event.get("name"), str):
                name = event["name"]
                totals[name] = totals.get(name, 0) + 1000 * float(event["dur"])
        return totals


def figures(verdict):
    """Figures that must fit each other."""
    step, fixed, account = verdict["step_ns"], verdict["fixed_step_ns"], verdict["account"]
    if not step:
        return
    if sum(account[part] for part in PARTS) != step:
        yield "account", "its parts do not sum to the step"
    if not 0 <= fixed <= step:
        yield "header", f"a step of {step} ns becomes {fixed} ns"
    told = -verdict["start_up_ns"]
    for finding in verdict["findings"]:
        rule, cost = finding["rule"], finding["cost_ns"]
        if cost is None:
            continue
        if not 0 <= finding["cost_low_ns"] <= cost <= finding["cost_high_ns"] <= step:
            yield rule, "its range does not hold its cost, or is longer than the step"
        if abs(finding["share_percent"] - 100 * cost / step) > 0.01:
            yield rule, f"{finding['share_percent']} % is not {cost} of {step} ns"
        if finding["level"] == "warning":
            told += cost
    if told > step - fixed + 1 + step / 1000:
        yield "header", f"warnings save {told} ns, all together {step - fixed} ns"
    gpu = verdict["gpu"]
    if gpu and gpu["busy_percent"] is not None:
        parts = (gpu["compute_percent"], gpu["exposed_communication_percent"],
                 gpu["exposed_copies_percent"])
        if None not in parts and abs(sum(parts) - gpu["busy_percent"]) > 0.1:
            yield "header", f"the parts of a busy GPU sum to {sum(parts)} %"


def sentences(verdict, file):
    """What sentences say of events, against the events."""
    for finding in verdict["findings"]:
        for row in finding["evidence"]:
            for form in NAMED:
                found = re.match(form, row["text"])
                if not found:
                    continue
                total = file.total_ns(found["name"].split(" (")[0])
                if total and row["weight_ns"] * verdict["steps"] > SLACK * total:
                    yield finding["rule"], (
                        f"'{row['text']}': {row['weight_ns'] / 1e6:.3f} ms per step, but its "
                        f"events last {total / verdict['steps'] / 1e6:.3f} ms")
                break


def fits(verdict, file):
    """Whether fixes and sentences fit the kind of the job."""
    has_device, compiled = verdict["gpu"] or file.has(DEVICE), file.has(COMPILED)
    infers = not file.has(TRAINS) and file.has(OPERATOR)
    has_loader = file.has(LOADS)
    for finding in verdict["findings"]:
        rule, fix = finding["rule"], finding["fix"] or ""
        said = " ".join([finding["title"], *(row["text"] for row in finding["evidence"])])
        if not has_device and re.search(r"pin_memory|non_blocking|torch\.cuda|CUDA graph", fix):
            yield rule, f"advice for a GPU where none works: {fix!r}"
        if infers and re.search(r"\bloss\b|backward\(|optimizer|GradScaler|dataset\.map", fix):
            yield rule, f"advice for training where nothing is trained: {fix!r}"
        if infers and re.search(r"\btraining\b", said):
            yield rule, f"called training where nothing is trained: {said!r}"
        if not has_loader and "DataLoader(" in fix and rule not in ("memory-leak", "input-stall"):
            yield rule, f"advice for a DataLoader where there is none: {fix!r}"
        for line in fix.splitlines():
            call = re.search(r"torch\.compile\((.*)\)", line)
            if compiled and call and "=" not in call[1]:
                yield rule, f"torch.compile for a compiled model: {line!r}"


def answers(verdict):
    """One answer to one question."""
    rest = [f for f in verdict["findings"] if f["rule"] == "unexplained-time"]
    for row in (row for finding in rest for row in finding["evidence"]):
        late = re.match(r".* of it for rank (\d+), the last to reach", row["text"])
        named = late and [f["rule"] for f in verdict["findings"] if f["rank"] == int(late[1])
                          and (f["cost_high_ns"] or 0) >= row["weight_ns"]]
        if named and "no rule explains" in rest[0]["title"]:
            yield "unexplained-time", f"{rest[0]['title']!r}, but {named[0]} names the rank"
    idle = verdict["gpu"] and "busy at least" not in verdict["gpu_text"]
    if idle and any("before" in f["title"] for f in rest):
        yield "header", f"{verdict['gpu_text']!r}, but {rest[0]['title']!r}"
    kernels = verdict["gpu"] and verdict["gpu"]["kernels"]
    if kernels and abs(sum(kind["percent"] for kind in kernels) - 100) > 0.01:
        yield "header", f"kinds of kernels do not sum to 100 %: {kernels}"


def problems(stepscope, path):
    words = [stepscope, "diagnose", "--format", "json", "--progress", "none", path]
    out = subprocess.run(words, capture_output=True, text=True, check=False)
    if out.returncode:
        return [("command", f"exit code {out.returncode}: {out.stderr.strip()}")]
    verdict, file = json.loads(out.stdout), File(path)
    return [*figures(verdict), *sentences(verdict, file), *fits(verdict, file), *answers(verdict)]


def main():
    traces = pathlib.Path(sys.argv[2])
    paths = list(jobs(traces))
    if not paths:
        print(f"no traces in {traces}")
        return 77
    if len(sys.argv) > 3:
        paths = [path for path in paths if any(name in str(path) for name in sys.argv[3:])]
    else:
        paths = share(paths, 8)
    failed = later = 0
    for path in paths:
        for rule, problem in problems(os.path.abspath(sys.argv[1]), path):
            if any(part in problem for part in NOT_YET.get(rule, ())):
                later += 1
                continue
            failed += 1
            print(f"{path.relative_to(traces)}: {rule}: {problem}")
    print(f"{len(paths)} verdicts, {later} sentences not yet right, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
