#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the form of simulated traces with that of real ones, and checks that rows fit together.

Usage: format.py STEPSCOPE TRACES [PRESET...]. Without presets: all, or with STEPSCOPE_QUICK=1 a
48th of them. A folder in place of a preset is checked as it is. The rules are
taken from the real traces: which keys and arguments each class of rows has, of which types, which
calls have arrows, what the head says. Exits 77 (skipped) when the traces are not there.
"""
import json
import pathlib
import sys
import tempfile

import trace_forms
import trace_relations
from trace_rows import (
    Refused, Report, Trace, check_all, presets_of, rank_files, rows_of, simulate,
)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

SKIPPED = 77
# Ranks that are looked at: the first and the last ones of larger jobs.
FIRST_RANKS, LAST_RANKS = 2, 1


def learn(traces):
    """The forms of both vendors, or None when a trace is missing."""
    both = []
    for models in (trace_forms.CUDA_MODELS, trace_forms.ROCM_MODELS):
        forms = trace_forms.Forms()
        for path in [path for path, _ in models] + list(trace_forms.NEWER_HEADS):
            if not (traces / path).exists():
                print(f"skipped: no {path} in {traces}")
                return None
        for path, classes in models:
            forms.learn(Trace(traces / path), classes)
        for path in trace_forms.NEWER_HEADS:
            forms.learn_newer_head(Trace(traces / path))
        both.append(forms)
    return both


def check_file(path, both, truth, report):
    try:
        trace = Trace(path)
    except (ValueError, KeyError) as problem:
        report.say("loads", f"{path.name}: {problem}")
        return
    if truth:
        check_identity(trace, truth, report)
    forms = both[trace_forms.is_rocm(trace)]
    trace_forms.check_head(trace, forms, report)
    trace_forms.check_switches(trace, report)
    trace_forms.check_rows(trace, forms, report)
    elsewhere = trace_forms.check_calls(trace, forms, report)
    trace_relations.check_relations(trace, elsewhere, report)


def check_identity(trace, truth, report):
    """The head names the rank, the job and the groups that the truth has."""
    rank = int(trace.path.name.split(".")[0].removeprefix("rank"))
    info = trace.head.get("distributedInfo")
    if info is None:
        report.equal("distributedInfo", truth["ranks"], 1, "there is none, ranks:")
        return
    report.equal("distributedInfo", info["rank"], rank, "rank:")
    report.equal("distributedInfo", info["world_size"], truth["ranks"], "world size:")
    report.equal("distributedInfo", info["pg_count"], len(info["pg_config"]), "groups:")
    found = {(g["pg_name"], g["pg_desc"], g["pg_size"], tuple(g["ranks"]))
             for g in info["pg_config"]}
    told = {(g["name"], g["description"], len(g["ranks"]), tuple(g["ranks"]))
            for g in truth["groups"] if rank in g["ranks"]}
    report.equal("distributedInfo", sorted(found), sorted(told), "groups:")


def check_views(stepscope, folder, ranks, truth, report):
    """What the program itself says of the files."""
    planted = {cause["name"] for cause in truth["causes"]} if truth else set()
    for row in rows_of(stepscope, "quality", folder):
        # check_switches() has seen to what is absent; what was planted is no fault
        if row["severity"] != "absent" and row["oddity"] not in planted:
            report.say(f"quality: {row['oddity']}", f"rank {row['rank']}: {row['count']} times: "
                       f"{row['meaning']}")
    if not truth:
        return
    report.equal("ranks", ranks, truth["ranks"], "files:")
    kept = {}
    for row in rows_of(stepscope, "steps", folder):
        if row["dropped"] is None:
            kept[row["rank"]] = kept.get(row["rank"], 0) + 1
        else:
            report.say("steps", f"rank {row['rank']}: {row['name']} is dropped: {row['dropped']}")
    wanted = {rank: truth["steps_recorded"] for rank in range(ranks)}
    report.equal("steps", kept, wanted, "kept of each rank:")


def check_preset(preset, stepscope, both):
    report = Report(preset)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        try:
            if pathlib.Path(preset).is_dir():
                folder = pathlib.Path(preset)
            else:
                simulate(stepscope, preset, folder)
            files = rank_files(folder)
            if not files:
                report.say("files", "there are none")
            truth_path = folder / "truth.json"
            truth = json.loads(truth_path.read_text()) if truth_path.exists() else None
            chosen = files
            if len(files) > FIRST_RANKS + LAST_RANKS:
                chosen = files[:FIRST_RANKS] + files[-LAST_RANKS:]
            for path in chosen:
                check_file(path, both, truth, report)
            check_views(stepscope, folder, len(files), truth, report)
        except Refused as problem:
            report.say("runs", str(problem))
    return report


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    if not traces.is_dir():
        print(f"skipped: no traces at {traces}")
        return SKIPPED
    both = learn(traces)
    if both is None:
        return SKIPPED
    presets = sys.argv[3:] or share((row["preset"] for row in presets_of(stepscope)), 48)
    return check_all(check_preset, presets, stepscope, both)


if __name__ == "__main__":
    sys.exit(main())
