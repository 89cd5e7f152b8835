#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 'diagnose' says of every real trace, against what an expert wrote down before.

Usage: real.py STEPSCOPE TRACES [WORD]. real.json beside this file has the verdicts and says what
its fields mean; WORD takes only those whose path has it. Prints one line per difference: path,
expected, got. A verdict with "not_yet" (why the program does not say it) must differ: it is taken
out when it agrees. Exits 77 (skipped) where there are no traces.
"""
import json
import pathlib
import sys

import report

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

SKIPPED = 77
SMALL_PERCENT = 2  # information below it is no alarm
FIELDS = {"path", "first", "also", "never", "must", "level", "cost_ms", "line", "sure", "why",
          "not_yet"}


def flaws(verdict):
    """What is wrong with a verdict itself: yields sentences."""
    rules = [rule for field in ("first", "also", "never", "must")
             for rule in verdict.get(field) or []]
    for rule in sorted(set(rules) - report.RULES):
        yield f"there is no rule {rule}"
    for field in sorted(set(verdict) - FIELDS):
        yield f"there is no field {field}"
    allowed = set(verdict["first"] or []) | set(verdict["also"])
    for rule in sorted(allowed & set(verdict["never"])):
        yield f"{rule} is both true and never"


def alarm(finding):
    """Whether its owner would act on a finding."""
    known = finding.share_percent is not None and finding.cost_ns
    return finding.warning or not known or finding.share_percent >= SMALL_PERCENT


def first_differs(verdict, first):
    """How the first finding differs from a verdict that names one: yields (expected, got)."""
    expected = "first " + " or ".join(verdict["first"])
    if first is None:
        yield expected, "nothing"
        return
    if first.rule not in verdict["first"]:
        yield expected, str(first)
        return
    if not first.warning and verdict.get("level") != "any":
        yield f"{first.rule} as a warning", str(first)
    if "cost_ms" in verdict:
        low, high = verdict["cost_ms"]
        if first.cost_ns is None or not low * 1e6 <= first.cost_ns <= high * 1e6:
            yield f"{first.rule} of {low} to {high} ms", str(first)
    if "line" in verdict and not any(part in line for part in verdict["line"]
                                     for line in first.lines):
        yield f"{first.rule} at {' or '.join(verdict['line'])}", ", ".join(first.lines) or "no line"


def differences(verdict, found):
    """How findings differ from a verdict: yields (expected, got)."""
    if verdict["first"]:
        yield from first_differs(verdict, found[0] if found else None)
    allowed = set(verdict["first"] or []) | set(verdict["also"])
    # the first finding has had its line above
    others = found[1:] if verdict["first"] else found
    for finding in others:
        if finding.warning and finding.rule not in allowed:
            yield "no other warning" if verdict["first"] else "no warning", str(finding)
    for finding in found:
        if finding.rule in verdict["never"] and alarm(finding):
            yield f"never {finding.rule}", str(finding)
    for rule in verdict.get("must", []):
        if all(finding.rule != rule for finding in found):
            yield f"{rule} among the findings", ", ".join(map(str, found)) or "nothing"


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    if not traces.is_dir():
        print(f"skipped: no traces at {traces}")
        return SKIPPED
    table = pathlib.Path(__file__).resolve().with_name("real.json")
    verdicts = json.loads(table.read_text())["verdicts"]
    checked = differ = not_yet = 0
    verdicts = [verdict for verdict in verdicts if word in verdict["path"]]
    here = [verdict for verdict in verdicts if (traces / verdict["path"]).exists()]
    if len(here) < len(verdicts):
        print(f"left out: {len(verdicts) - len(here)} verdicts on files that are not there")
    verdicts = here
    for verdict in verdicts if word else share(verdicts):
        path = verdict["path"]
        checked += 1
        lines = [f"real.json: {flaw}" for flaw in flaws(verdict)]
        try:
            found = report.findings(stepscope, traces / path)
            lines += [f"expected {expected}, got {got}"
                      for expected, got in differences(verdict, found)]
        except RuntimeError as error:
            lines.append(f"expected a diagnosis, got: {error}")
        if "not_yet" in verdict:
            not_yet += 1
            lines = [] if lines else ["expected not to agree yet, got what was wanted"]
        for line in lines:
            print(f"{path}: {line}")
        differ += bool(lines)
    print(f"{checked} verdicts, {not_yet} not yet said, {differ} differ")
    return 1 if differ or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
