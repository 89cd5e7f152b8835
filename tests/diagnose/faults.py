#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 'diagnose' says of real programs with one planted fault each, and of the same programs
without it.

Usage: faults.py STEPSCOPE FOLDER [WORD]. FOLDER has FAULT/, FAULT_fixed/ and
FAULT.{bad,fixed}.measured.json, as tests/torch/record.py writes them; faults.json beside this file
has what is expected and says what its fields mean. WORD takes only the faults whose name has it.
Prints one row per fault and the counts. Exits 77 (skipped) where there are no recordings.

How good a predicted gain must be: it may differ by a quarter of the measured gain, or by 5 points
of the step where that is more. The steps of one recording differ by several percent of their mean,
and so do two measurements of one program: 2 points more or less say nothing. The recordings and the
measurements are of a busy machine. Where ranks wait for each other CPU time leaves out the waiting,
and wall time depends on what else ran: there a prediction between both figures is right ("both").
"""
import json
import pathlib
import sys

import report

SKIPPED = 77
SLACK = 0.25  # how far a predicted gain may be from the measured one, as a part of it
SLACK_POINTS = 0.05  # or as a part of the step
SMALL_PERCENT = 2  # a finding below it is no alarm
REST = "unexplained-time"  # may be about anything: only with its line it is about the fault
# The first that a measurement has is taken; older recordings have fewer figures.
FIGURES = {"cpu": ("cpu_ms", "cpu_ms_a_step"), "wall": ("steady_ms", "mean_ms")}
COLUMNS = ("fault", "first finding", "line", "gain", "predicted", "measured", "by", "fixed twin")


def figure(path, sound):
    measured = json.loads(path.read_text())
    return next(measured[name] for name in FIGURES[sound] if name in measured)


def measured_gains(folder, expected):
    """How much of the step the fix takes away, without a profiler: 0 to 1, least and most."""
    gains = []
    for sound in FIGURES if expected["sound"] == "both" else [expected["sound"]]:
        bad, fixed = (figure(folder / f"{expected['fault']}.{how}.measured.json", sound)
                      for how in ("bad", "fixed"))
        gains.append((bad - fixed) / bad)
    return min(gains), max(gains)


def is_close(predicted, gains):
    least, most = gains
    return (least - max(SLACK * least, SLACK_POINTS) <= predicted
            <= most + max(SLACK * most, SLACK_POINTS))


def gain_text(gains):
    least, most = (f"{gain:.0%}" for gain in gains)
    return least if least == most else f"{least} to {most}"


def names_line(finding, parts):
    """Whether the evidence of a finding names one of the functions."""
    return any(part in text for part in parts for text in finding.lines + finding.texts)


def is_alarm(finding):
    known = finding.share_percent is not None and finding.cost_ns
    return finding.warning or not known or finding.share_percent >= SMALL_PERCENT


def judge_bad(expected, found, gains):
    """The verdict on the program with the fault: (row without fault and twin, sentences)."""
    first = found[0] if found else None
    wanted = " or ".join(expected["first"])
    if first is None:
        return ["nothing", "", "", "", gain_text(gains)], [f"expected first {wanted}, got nothing"]
    wrong = []
    line = close = ""
    predicted = (first.share_percent or 0) / 100
    if first.rule not in expected["first"] or not first.warning:
        wrong.append(f"expected first {wanted}, got {first}")
    else:
        if "line" in expected:
            line = "yes" if names_line(first, expected["line"]) else "no"
        if line == "no":
            wrong.append(f"expected {' or '.join(expected['line'])} in the evidence, got "
                         + (", ".join(first.lines) or "no line"))
        close = "yes" if is_close(predicted, gains) else "no"
        # A gain that is not predicted yet must differ: its reason is taken out when it agrees.
        if close == "yes" and "gain_not_yet" in expected:
            wrong.append(f"expected a gain that differs yet, got {predicted:.1%}")
        if close == "no" and "gain_not_yet" not in expected:
            wrong.append(f"expected a gain of {gain_text(gains)}, got {predicted:.1%}")
    return [first.rule, line, close, f"{predicted:.0%}", gain_text(gains)], wrong


def judge_fixed(expected, found):
    """The verdict on the program without the fault: (cell, sentences)."""
    again = [finding for finding in found
             if finding.rule in expected["first"] and is_alarm(finding)
             and (finding.rule != REST or names_line(finding, expected.get("line", ["?"])))]
    others = [finding.rule for finding in found if finding.warning and finding not in again]
    if again:
        return str(again[0]), [f"the fixed twin: expected silence, got {again[0]}"]
    return "silent" + (f" ({', '.join(others)})" if others else ""), []


def look(stepscope, folder, expected):
    """The row of one fault, and what is wrong."""
    fault = expected["fault"]
    gains = measured_gains(folder, expected)
    try:
        bad = report.findings(stepscope, folder / fault)
        fixed = report.findings(stepscope, folder / f"{fault}_fixed")
    except RuntimeError as error:
        return [fault, "failed", "", "", "", gain_text(gains), expected["sound"], ""], [str(error)]
    cells, wrong = judge_bad(expected, bad, gains)
    twin, wrong_twin = judge_fixed(expected, fixed)
    return [fault, *cells, expected["sound"], twin], wrong + wrong_twin


def print_table(rows):
    widths = [max(len(row[i]) for row in rows + [COLUMNS]) for i in range(len(COLUMNS))]
    for row in [COLUMNS] + rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    stepscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    here = pathlib.Path(__file__).resolve().parent
    faults = [expected for expected in json.loads((here / "faults.json").read_text())["faults"]
              if word in expected["fault"] and (folder / expected["fault"]).is_dir()]
    if not faults:
        print(f"skipped: no recordings at {folder}")
        return SKIPPED
    rows, failed = [], 0
    for expected in faults:
        row, wrong = look(stepscope, folder, expected)
        # A fault that is not found yet must differ: its reason is taken out when it agrees.
        if "not_yet" in expected:
            wrong = [] if wrong else ["expected not to agree yet, got what was wanted"]
        failed += bool(wrong)
        rows.append(row)
        for sentence in wrong:
            print(f"{expected['fault']}: {sentence}")
    print_table(rows)
    named = sum(row[3] != "" for row in rows)
    print(f"{len(rows)} faults: {named} named first, {sum(row[2] == 'no' for row in rows)} without "
          f"their line, {sum(row[3] == 'yes' for row in rows)} with a gain that agrees, "
          f"{sum(row[7].startswith('silent') for row in rows)} fixed twins silent, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
