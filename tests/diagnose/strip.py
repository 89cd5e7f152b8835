#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on real traces that information was taken out of claim nothing that is no longer there.

Usage: strip.py STEPSCOPE TRACES [WORD]. STEPSCOPE_QUICK=1 takes half of the smaller ones, WORD
those whose path has it. Exits 77 (skipped) where there are no traces.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

SKIPPED = 77
TAKE_OUT = pathlib.Path(__file__).resolve().parents[1] / "support/take_out.py"
WAYS = ("python", "steps", "flow", "runtime", "ops", "one-percent", "shift", "half-ranks", "cut")
OF_MANY = {"shift", "half-ranks"}
# packed; what Python takes apart nine times in a test
BYTES_MAX, BYTES_QUICK = 3_000_000, 300_000
# rules whose evidence are calls of the runtime
OF_CALLS = {"launch-bound", "sync-stall", "allocator-thrash", "pageable-copies"}
UNEXPLAINED_MAX = 0.1


class Checks:
    """Runs the program and keeps what does not hold."""

    def __init__(self, stepscope):
        self.stepscope = stepscope
        self.checked = self.failed = 0

    def expect(self, what, holds, found=""):
        self.checked += 1
        if not holds:
            self.failed += 1
            print(f"{what}: {found}")

    def run(self, *words):
        command = [self.stepscope, *map(str, words), "--progress", "none"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def verdict(self, what, folder):
        """The document and the text of a verdict; None: it failed."""
        result = self.run("diagnose", "--format", "json", folder)
        self.expect(f"{what}: exit code", result.returncode == 0, result.stderr)
        text = self.run("diagnose", folder).stdout
        return (json.loads(result.stdout), text) if result.returncode == 0 else None

    def take_out(self, way, folder, paths):
        command = [sys.executable, TAKE_OUT, way, folder, *paths]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def texts(document):
    """All sentences of a verdict."""
    for finding in document["findings"]:
        yield finding["title"]
        yield from (evidence["text"] for evidence in finding["evidence"])


def lines(document):
    return {evidence["line"] for finding in document["findings"]
            for evidence in finding["evidence"] if evidence["line"]}


def check_all(checks, what, document, text):
    """What holds of every verdict."""
    checks.expect(f"{what}: no rank below 0", "ank -1" not in text, text)
    account = document.get("account")
    if account and account["step_ns"]:
        share = account["unexplained_ns"] / account["step_ns"]
        says = "Nothing was found" in text
        checks.expect(f"{what}: nothing with {share:.0%} unexplained",
                      not says or share < UNEXPLAINED_MAX, text)


def check_cut(checks, what, folder, document, text):
    told = [warning["what"] for warning in document["warnings"]]
    checks.expect(f"{what}: reported", "cut" in told, told)
    first = " ".join(" ".join(text.split("\n")[:4]).split())
    checks.expect(f"{what}: in the first lines",
                  "truncated: the last events are lost" in first, text)
    sure = [finding["rule"] for finding in document["findings"] if finding["confidence"] == "high"]
    checks.expect(f"{what}: confidence", not sure, sure)
    for words in (("what-if", folder), ("diff", folder, folder)):
        said = " ".join(checks.run(*words).stdout.split())
        checks.expect(f"{what}: {words[0]} reports it",
                      "truncated: the last events are lost" in said, said)


def check_way(checks, what, way, folder, base, found):
    document, text = found
    rules = {finding["rule"] for finding in document["findings"]}
    check_all(checks, what, document, text)
    if way == "python":
        has_stacks = any('"Call stack"' in path.read_text(errors="replace")
                         for path in folder.iterdir())
        checks.expect(f"{what}: lines", has_stacks or not lines(document), lines(document))
    elif way == "steps":
        checks.expect(f"{what}: steps by name", "ProfilerStep#" not in " ".join(texts(document)),
                      list(texts(document)))
    elif way == "runtime" and any(w["what"] == "no-runtime-calls" for w in document["warnings"]):
        checks.expect(f"{what}: rules of calls", not rules & OF_CALLS, rules & OF_CALLS)
        sure = [f["rule"] for f in document["findings"] if f["confidence"] == "high"]
        checks.expect(f"{what}: confidence", not sure, sure)
    elif way == "ops":
        named = [sentence for sentence in texts(document) if "aten::" in sentence]
        checks.expect(f"{what}: operators", not named, named)
    elif way == "shift":
        checks.expect(f"{what}: one run", document["ranks"] == base["ranks"], document["runs"])
    elif way == "half-ranks":
        half = (base["ranks"] + 1) // 2
        checks.expect(f"{what}: ranks", document["ranks"] == half, document["ranks"])
    elif way == "cut":
        check_cut(checks, what, folder, document, text)


def check_trace(checks, name, paths):
    with tempfile.TemporaryDirectory() as scratch:
        whole = pathlib.Path(scratch) / "whole"
        whole.mkdir()
        for path in paths:
            (whole / path.name).symlink_to(path)
        base = checks.verdict(name, whole)
        if not base:
            return
        check_all(checks, name, *base)
        for way in WAYS:
            folder = pathlib.Path(scratch) / way
            if (way in OF_MANY and len(paths) < 2) or not checks.take_out(way, folder, paths):
                continue
            found = checks.verdict(f"{name} {way}", folder)
            if found:
                check_way(checks, f"{name} {way}", way, folder, base[0], found)


def all_traces(traces):
    """Names and files: single traces, and folders of jobs."""
    for folder in ("cuda", "rocm", "other", "pairs"):
        for path in sorted((traces / folder).glob("*.json.gz")):
            yield f"{folder}/{path.name}", [path]
    for folder in ("jobs", "cpu", "cpu_faults"):
        for job in sorted((traces / folder).glob("*/")):
            paths = [path for path in sorted(job.glob("*.json.gz")) if ".et." not in path.name]
            if paths:
                yield f"{folder}/{job.name}", paths


def main():
    traces = pathlib.Path(sys.argv[2])
    if not traces.is_dir():
        print("no traces")
        return SKIPPED
    checks = Checks(sys.argv[1])
    most = BYTES_QUICK if os.environ.get("STEPSCOPE_QUICK") == "1" else BYTES_MAX
    word = sys.argv[3] if len(sys.argv) > 3 else None
    tried = share(((name, paths) for name, paths in all_traces(traces)
                   if sum(path.stat().st_size for path in paths) <= most), 2)
    if word:
        tried = [(name, paths) for name, paths in all_traces(traces) if word in name]
    for name, paths in tried:
        check_trace(checks, name, [path.resolve() for path in paths])
    print(f"{len(tried)} traces, {checks.checked} checks, {checks.failed} failed")
    return 1 if checks.failed or not checks.checked else 0


if __name__ == "__main__":
    sys.exit(main())
