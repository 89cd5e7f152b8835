#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 'what-if' predicts for a slow run, against the run after the fix, measured.

Usage: pairs.py STEPSCOPE TRACES. pairs.json beside this file has the pairs and says what its fields
mean. Predictions and measurements are compared as shares of the slow step, so it does not matter
whether the tool takes the mean or the median of the steps. Prints one line per pair that differs:
path, fixes, expected, got. Exits 77 (skipped) where there are no traces.
"""
import json
import pathlib
import sys

import report

SKIPPED = 77


def expected_range(pair):
    """Between which step times, in nanoseconds, the prediction must lie."""
    if "range_ns" in pair:
        return tuple(pair["range_ns"])
    target = pair["after_step_ns"] * pair["scale"]
    slack = target * pair["tolerance_percent"] / 100
    return target - slack, target + slack


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    if not traces.is_dir():
        print(f"skipped: no traces at {traces}")
        return SKIPPED
    here = pathlib.Path(__file__).resolve().parent
    pairs = json.loads((here / "pairs.json").read_text())["pairs"]
    differ = 0
    pairs = [pair for pair in pairs if (traces / pair["before"]).exists()]
    for pair in pairs:
        low, high = expected_range(pair)
        expected = f"{low / 1e6:.3f} to {high / 1e6:.3f} ms"
        for rule in sorted(set(pair["fix"]) - report.RULES):
            print(f"pairs.json: there is no rule {rule}")
            differ += 1
        try:
            step_ns, fixed_ns, bounds = report.prediction(stepscope, traces / pair["before"],
                                                          pair["fix"])
            if step_ns <= 0:
                raise RuntimeError(f"a step of {step_ns} ns")
            scale = pair["before_step_ns"] / step_ns
            if pair.get("bounds"):
                fast, slow = (bound * scale for bound in bounds)
                holds = fast <= pair["after_step_ns"] * pair["scale"] <= slow
                got = None if holds else f"{fast / 1e6:.3f} to {slow / 1e6:.3f} ms"
            else:
                predicted = fixed_ns * scale
                got = None if low <= predicted <= high else f"{predicted / 1e6:.3f} ms"
        except RuntimeError as error:
            got = str(error)
        if got:
            differ += 1
            print(f"{pair['before']}: {', '.join(pair['fix'])}: expected {expected}, got {got}")
    print(f"{len(pairs)} pairs, {differ} differ")
    return 1 if differ or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
