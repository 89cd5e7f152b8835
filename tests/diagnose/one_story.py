#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verdict, stragglers and gaps of a job name the same culprit, verdict and roofline the same MFU.

Usage: one_story.py STEPSCOPE TRACES. Exits 77 (skipped) where the jobs are not there.
"""
import json
import pathlib
import subprocess
import sys

SKIPPED = 77


def run(stepscope, *args):
    """The JSON of a command."""
    done = subprocess.run([stepscope, *args, "--format", "json"], capture_output=True, check=True)
    return json.loads(done.stdout)


def rows(stepscope, *args):
    """The rows of a view, by column."""
    table = run(stepscope, *args)
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def evidence(finding):
    """Title and evidence of a finding in one text."""
    return finding["title"] + " " + json.dumps(finding["evidence"])


def late_host(stepscope, job):
    """One rank is late because of what its host does: yields what does not agree."""
    first = run(stepscope, "diagnose", job)["findings"][0]
    late = rows(stepscope, "stragglers", job)[0]
    gap = rows(stepscope, "gaps", job, "--group", "gap", "--rank", str(late["rank"]))[0]
    cause = rows(stepscope, "gaps", job, "--rank", str(late["rank"]))[0]
    if first["rule"] != "straggler" or first["rank"] != late["rank"]:
        yield f"the verdict is {first['title']}, stragglers has rank {late['rank']}"
    for what, text in (("title", first["title"]), ("evidence", evidence(first)),
                       ("stragglers", late["cause"]), ("gaps by cause", cause["op"])):
        if gap["host"] not in text:
            yield f"{what} does not name {gap['host']}: {text}"
    if not 80 < gap["step_percent"] <= 100:
        yield f"the gap is {gap['step_percent']} % of its own step"


def all_hosts(stepscope, job):
    """All hosts are slow, one arrives last: the verdict says how both are true."""
    first = run(stepscope, "diagnose", job)["findings"][0]
    late = rows(stepscope, "stragglers", job)[0]
    if first["rule"] != "launch-bound" or first["rank"] is not None:
        yield f"the verdict is {first['title']}"
    if f"rank {late['rank']} arrives last" not in evidence(first):
        yield f"the verdict does not name rank {late['rank']}: {evidence(first)}"


def input_line(stepscope, trace):
    """The line of the input is the same in the verdict and in the gaps."""
    first = run(stepscope, "diagnose", trace)["findings"][0]
    lines = {row["line"] for group in ("cause", "gap", "line")
             for row in rows(stepscope, "gaps", trace, "--group", group) if row["cause"] == "input"}
    if first["rule"] != "input-stall" or len(lines) != 1:
        yield f"{first['title']}; lines of the gaps: {lines}"
    elif str(lines.pop()) not in evidence(first):
        yield f"the verdict has another line: {evidence(first)}"


def utilization(stepscope, job):
    """MFU of the verdict is that of the view roofline, over all ranks, or has a reason."""
    gpu = run(stepscope, "diagnose", job)["gpu"]
    steps = [row for row in rows(stepscope, "roofline", job, "--group", "run")
             if row["mfu_percent"] is not None]
    if not steps and (gpu["mfu_percent"] is not None or not gpu["mfu_unknown"]):
        yield f"roofline has no MFU, the verdict {gpu['mfu_percent']}, {gpu['mfu_unknown']}"
    for name in ("mfu_percent", "hfu_percent") if steps else ():
        mean = (sum(row[name] * row["dur_ns"] for row in steps) /
                sum(row["dur_ns"] for row in steps))
        if gpu[name] is None or abs(gpu[name] - mean) > 1e-3 * mean:
            yield f"{name}: {gpu[name]} in the verdict, {mean} in roofline"
    if steps and gpu["mfu_percent"] > gpu["hfu_percent"]:
        yield f"MFU {gpu['mfu_percent']} is above HFU {gpu['hfu_percent']}"


STORIES = (
    ("jobs/h100x8_nanogpt", utilization),
    ("cuda/resnet50_workers4.pt.trace.json.gz", utilization),
    ("unseen/deepseek_train.json.gz", utilization),
    ("jobs/torchrec_straggler", late_host),
    ("jobs/h100x8_nanogpt", all_hosts),
    ("cuda/resnet50_workers0.pt.trace.json.gz", input_line),
)


def main(stepscope, traces):
    """Tells each job's story from all sides."""
    found = [(pathlib.Path(traces) / name, tell) for name, tell in STORIES]
    found = [(path, tell) for path, tell in found if path.exists()]
    if not found:
        print("the jobs are not here")
        return SKIPPED
    differ = [f"{path.name}: {sentence}" for path, tell in found
              for sentence in tell(stepscope, str(path))]
    print("\n".join(differ) or f"{len(found)} stories, each told once")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
