#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The account of every verdict: its parts sum to the step, and nothing large is passed over.

account.py STEPSCOPE TRACES: all traces and jobs below TRACES, and a few simulated jobs. Of each:
the parts are not negative and sum to the step exactly; from 10 % unexplained on there is a
finding, and the text does not say that nothing was found. All fixes together save no more than
the sum of what each saves at most, and no host limits a GPU that is always busy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

PARTS = (
    "explained_ns", "compute_ns", "communication_ns", "copies_ns", "host_ns", "unexplained_ns",
)
SIMULATED = (
    ["--preset", "gpu1-healthy"],
    ["--preset", "ddp8-healthy", "--ranks", "4", "--cause", "straggler=0.5"],
    ["--preset", "fsdp8-healthy", "--ranks", "4", "--cause", "exposed-comm=0.6,sync-item=0.4"],
    ["--preset", "pp4-healthy", "--cause", "pipeline-bubble=0.5"],
    ["--preset", "serve1-healthy", "--cause", "launch-bound=0.7"],
)


def jobs(traces):
    for folder in ("cuda", "rocm", "other", "pairs", "unseen"):
        yield from sorted((traces / folder).glob("*.gz"))
    for folder in ("jobs", "cpu", "cpu_faults", "unseen"):
        yield from sorted(path for path in (traces / folder).glob("*") if path.is_dir())


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def problems(stepscope, path):
    out = run(stepscope, "diagnose", "--format", "json", path)
    if out.returncode:
        return [f"exit code {out.returncode}: {out.stderr.strip()}"]
    verdict = json.loads(out.stdout)
    account, step = verdict["account"], verdict["step_ns"]
    if not step:
        return [] if account is None else ["an account without steps"]
    found = []
    total = sum(account[part] for part in PARTS)
    if total != step or account["step_ns"] != step:
        found.append(f"the parts sum to {total}, the step takes {step} ns")
    if min(account[part] for part in PARTS) < 0:
        found.append("a part is below 0")
    if (verdict["ceiling_ns"] or 0) > verdict["fixed_step_ns"] + step // 1000:
        found.append(f"the ceiling is {verdict['ceiling_ns']} ns, above the fixed step")
    if sum(account["of_explained"].values()) != account["explained_ns"]:
        found.append("what is explained does not sum")
    if sum(account["of_communication"].values()) != account["communication_ns"]:
        found.append("communication does not sum")
    if sum(account["of_unexplained"].values()) != account["unexplained_ns"]:
        found.append("what is unexplained does not sum")
    shown = sum(row["cost_high_ns"] or 0 for row in verdict["findings"])
    if verdict["only_bounds"] and step - verdict["fixed_low_ns"] > shown:
        found.append(f"the headline saves {step - verdict['fixed_low_ns']}, findings {shown} ns")
    is_busy = verdict["gpu"] and verdict["gpu"]["busy_percent"] > 95
    if is_busy and verdict["fixed_step_ns"] == step and (verdict["next"] or "").startswith("host"):
        found.append(f"the GPU is busy, and {verdict['next']}")
    says_nothing = "Nothing was found" in run(stepscope, path).stdout or not verdict["findings"]
    if account["unexplained_ns"] >= 0.1 * step and says_nothing:
        found.append("silent about what is unexplained")
    return found


def check_pipeline(stepscope, folder):
    """Healthy pipelines: waiting of stages is not unexplained, and compute is as recorded."""
    settings = "stack=0,micro-batches=4,pipe=4"
    for name, words in (("pp", ["pp4-healthy"]), ("mixed", ["tp2pp2dp2-healthy", "--ranks", "16"])):
        words += ["--set", settings]
        path = os.path.join(folder, name)
        run(stepscope, "sim", "--preset", *words, "--steps", "3", "-o", path)
        verdict = json.loads(run(stepscope, "diagnose", "--format", "json", path).stdout)
        account, step = verdict["account"], verdict["step_ns"]
        stages = account["of_communication"]["waiting_for_stages_ns"]
        bubble = 3 / 7  # of four stages with four micro-batches
        told = " ".join(run(stepscope, path).stdout.split())
        if not 0.3 * bubble * step < stages + account["explained_ns"] < 1.5 * bubble * step:
            yield f"{name}: stages wait {stages / step:.0%} of the step"
        if account["unexplained_ns"] > 0.1 * step:
            yield f"{name}: {account['unexplained_ns'] / step:.0%} is unexplained"
        if stages > 0.1 * step and "4 stages, 4 micro-batches per step." not in told:
            yield f"{name}: no word about the stages"
        compute = verdict["gpu"]["compute_percent"]
        if abs(100 * account["compute_ns"] / step - compute) > 5:
            yield f"{name}: compute is {account['compute_ns'] / step:.0%}, recorded {compute} %"


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = share(jobs(traces)) if traces.is_dir() else []
        for number, words in enumerate(SIMULATED):
            out = os.path.join(folder, f"job{number}")
            run(stepscope, "sim", *words, "--steps", "4", "-o", out)
            paths.append(pathlib.Path(out))
        for path in paths:
            count += 1
            for problem in problems(stepscope, path):
                print(f"{path}: {problem}")
                failed += 1
        for problem in check_pipeline(stepscope, folder):
            print(problem)
            failed += 1
    print(f"{count} accounts, {failed} problems")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
