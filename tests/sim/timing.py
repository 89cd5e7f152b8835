#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the timing of simulated jobs from their events alone, to the nanosecond.

Usage: timing.py STEPSCOPE [PRESET...]. Without presets: few that have every layout and every cause;
STEPSCOPE_QUICK=1 takes an eighth of them.

Each preset is run with rows for synchronization and true clocks. Then, with the constants that
truth.json tells of the machine: every device row starts when the last of what it waits for is done;
blocking calls return when what they wait for is done; launches block when the queue is full; the
kernels of a collective end together; steps and their times follow from the rows; every subset of
the causes, run for itself, gives the step time that the truth claims. Then with wrong clocks.
"""
import json
import pathlib
import sys
import tempfile

import machine_rules
from trace_rows import Refused, Report, Trace, check_all, presets_of, rank_files, simulate

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

TRUE_CLOCK = ("--clock-offset-ms", "0", "--drift-ppm", "0")
WRONG_CLOCK = ("--clock-offset-ms", "40", "--drift-ppm", "20")
SYNC_ROWS = "--sync-rows"
TRUTH_SCHEMA = "stepscope.sim.truth/1"
# File time = base + epoch + true time, for a true clock.
BASE_NS = 1767189312000000000
EPOCH_NS = 3743411000000000
# A moment is rounded once when it is written, and once more when it is turned back.
CLOCK_TOLERANCE_NS = 2
# Columns of the list of presets that are to be covered.
COVERED = ("layout", "causes")


def load(folder):
    truth = json.loads((folder / "truth.json").read_text())
    ranks = []
    for path in rank_files(folder):
        trace = Trace(path)
        for row in trace.events:
            if "start" in row:
                row["start"] += trace.base - BASE_NS - EPOCH_NS
                row["end"] += trace.base - BASE_NS - EPOCH_NS
        ranks.append(trace)
    return truth, ranks


def check_truth(preset, truth, ranks, report):
    report.equal("truth", truth["schema"], TRUTH_SCHEMA, "schema")
    report.equal("truth", truth["preset"], preset, "preset")
    report.equal("truth", len(ranks), truth["ranks"], "files of ranks:")
    report.equal("truth", len(truth["steps"]), truth["steps_recorded"], "steps:")
    report.equal("truth", truth["healthy"], not truth["causes"], "healthy:")
    for cause in truth["causes"]:
        cost = truth["mean_step_ns"] - cause["mean_step_ns_without"]
        report.equal("truth", cause["cost_ns"], cost, f"cost of {cause['name']}:")
    for clock in truth["clocks"]:
        off = clock["offset_ns"], clock["drift_ppb"]
        report.equal("truth", off, (0, 0), f"clock of rank {clock['rank']}:")


def check_steps(truth, ranks, report):
    """Steps by the rule of the views: what the CPU launched in a step belongs to it."""
    durations = []
    for number, trace in enumerate(ranks):
        found = machine_rules.effective_steps(trace)
        told = [(step["name"], one["start_ns"], one["end_ns"]) for step in truth["steps"]
                for one in step["ranks"] if one["rank"] == number]
        for ours, theirs in zip(found, told):
            report.equal("steps", ours, theirs, f"rank {number}:")
        report.equal("steps", len(found), len(told), f"rank {number}: how many:")
        durations += [end - start for _, start, end in found]
    mean = sum(durations) // max(1, len(durations))
    report.equal("mean step", mean, truth["mean_step_ns"], "from the rows:")


def check_subsets(stepscope, preset, truth, report):
    """Runs the job again without some of its causes, for every subset that the truth lists."""
    names = [cause["name"] for cause in truth["causes"]]
    for subset in truth["subsets"]:
        left_out = [name for name in names if name not in subset["causes"]]
        options = ("--without", ",".join(left_out)) if left_out else ()
        what = f"with {subset['causes']}:"
        with tempfile.TemporaryDirectory() as folder:
            simulate(stepscope, preset, folder, *TRUE_CLOCK, *options)
            again = json.loads((pathlib.Path(folder) / "truth.json").read_text())
        report.equal("subsets", again["mean_step_ns"], subset["mean_step_ns"], what)
        present = [cause["name"] for cause in again["causes"]]
        report.equal("subsets", sorted(present), sorted(subset["causes"]), what)
    for cause in truth["causes"]:
        others = sorted(name for name in names if name != cause["name"])
        told = [s["mean_step_ns"] for s in truth["subsets"] if sorted(s["causes"]) == others]
        report.equal("subsets", told, [cause["mean_step_ns_without"]], f"without {cause['name']}:")


def true_time(shown, clock):
    """The moment at which a clock shows `shown`: shown = true + offset + true * drift."""
    billion = 10**9
    return (shown - clock["offset_ns"]) * billion // (billion + clock["drift_ppb"])


def check_clocks(stepscope, preset, truth, ranks, report):
    """Wrong clocks change what is written, not what happens."""
    with tempfile.TemporaryDirectory() as folder:
        simulate(stepscope, preset, folder, SYNC_ROWS, *WRONG_CLOCK)
        wrong_truth, wrong = load(pathlib.Path(folder))
    for part in ("steps", "collectives", "mean_step_ns"):
        if wrong_truth[part] != truth[part]:
            report.say("clocks", f"{part} of the truth depend on the clocks")
    clocks = {clock["rank"]: clock for clock in wrong_truth["clocks"]}
    hosts = {}
    for clock in clocks.values():
        hosts.setdefault(clock["host"], set()).add((clock["offset_ns"], clock["drift_ppb"]))
    for host, told in hosts.items():
        report.equal("clocks", len(told), 1, f"different clocks of host {host}:")
    if len(hosts) > 1 and all(told == {(0, 0)} for told in hosts.values()):
        report.say("clocks", "no host's clock is off")
    for number, (right, off) in enumerate(zip(ranks, wrong)):
        pairs = list(zip(right.events, off.events))
        report.equal("clocks", len(off.events), len(right.events), f"rank {number}: rows:")
        for one, other in pairs:
            if "start" not in one or one["ph"] == "M":
                continue
            for moment in ("start", "end"):
                error = true_time(other[moment], clocks[number]) - one[moment]
                if abs(error) > CLOCK_TOLERANCE_NS:
                    report.say("clocks", f"rank {number}: {moment} is off by {error} ns", other)


def check_preset(preset, stepscope):
    report = Report(preset)
    try:
        with tempfile.TemporaryDirectory() as folder:
            simulate(stepscope, preset, folder, SYNC_ROWS, *TRUE_CLOCK)
            truth, ranks = load(pathlib.Path(folder))
        check_truth(preset, truth, ranks, report)
        for number, trace in enumerate(ranks):
            machine_rules.check_rank(trace, number, truth, report)
        machine_rules.check_collectives(truth, ranks, report)
        check_steps(truth, ranks, report)
        check_clocks(stepscope, preset, truth, ranks, report)
        check_subsets(stepscope, preset, truth, report)
    except Refused as problem:
        report.say("runs", str(problem))
    return report


def words_of(value):
    """The names in "sync-item=0.600, straggler=0.200"."""
    return [word.split("=")[0].strip() for word in str(value or "").split(",") if word.strip()]


def covering(presets):
    """Few presets that have, together, every word of the columns that are to be covered."""
    tags = {row["preset"]: {(c, w) for c in COVERED for w in words_of(row.get(c))}
            for row in presets}
    left, chosen = set().union(*tags.values()), []
    while left:
        best = max(tags, key=lambda name: len(tags[name] & left))
        chosen.append(best)
        left -= tags[best]
    return chosen


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    stepscope = sys.argv[1]
    presets = sys.argv[2:] or share(covering(presets_of(stepscope)), 8)
    return check_all(check_preset, presets, stepscope)


if __name__ == "__main__":
    sys.exit(main())
