#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that were planted to be late are named with their cause, and nobody else is.

Usage: verdicts.py STEPSCOPE [PRESET...]. Every preset of several ranks is simulated; where the
truth has a straggler, its rank must be named, and what the program says must have the words below.
Where it has none, nobody may be named, unless ranks are late by chance. Presets with a straggler
are simulated again with clocks that are far apart and with lost events, those without one with
other seeds.
STEPSCOPE_QUICK=1 takes an eighth of the presets, once.
"""
import os
import re
import pathlib
import sys
import tempfile

import job_truth

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

# cause that is planted -> what the verdict must say
WORDS = {
    "straggler": "a slower GPU",
    "straggler-work": "more work",
    "straggler-host": "its host",
    "straggler-link": "link",
}
# any rank may be late by chance, in most of so few steps
BY_CHANCE = ("oversubscribed",)
# these run on a slow network: that all links are slow is true
SLOW_NETWORK = ("no-sync", "small-buckets")
HARD = ("--clock-offset-ms", "10000", "--drift-ppm", "50", "--lost-per-million", "2000")
SEEDS = ("1", "2", "3")


def names(row, guilty):
    """A link has two ends, and who is at its other end cannot always be told."""
    ends = re.search(r"link of rank (\d+) or (\d+)", row["cause"])
    return row["rank"] == guilty or (ends and str(guilty) in ends.groups())


def check(stepscope, preset, words):
    """What does not hold, or None."""
    with tempfile.TemporaryDirectory() as folder:
        truth = job_truth.simulate(stepscope, folder, preset, *words)
        rows = job_truth.table(stepscope, "stragglers", folder)
    said = [(row["rank"], row["pattern"], row["cause"]) for row in rows]
    planted = {cause["name"]: cause["rank"] for cause in truth["causes"]}
    if any(name in planted for name in BY_CHANCE + SLOW_NETWORK):
        return None
    if "imbalance" in planted:
        fits = [row["pattern"] == "rotating" for row in rows]
    else:
        expected = [(WORDS[cause], rank) for cause, rank in planted.items() if cause in WORDS]
        if len(rows) != len(expected):
            return f"planted {expected}, named {said}"
        fits = [
            any(word in row["cause"] and names(row, rank) for row in rows)
            for word, rank in expected
        ]
        if not expected:
            return None
    if not fits or not all(fits):
        return f"planted {planted}, named {said}"
    return None


def cases_of(presets, is_quick):
    for row in presets:
        causes = row["causes"] or ""
        yield row["preset"], ()
        if is_quick:
            continue
        if "straggler" in causes or "imbalance" in causes:
            yield row["preset"], HARD
        else:
            for seed in SEEDS:
                yield row["preset"], ("--seed", seed)


def main():
    stepscope = sys.argv[1]
    is_quick = os.environ.get("STEPSCOPE_QUICK") == "1"
    presets = [row for row in job_truth.presets(stepscope) if row["ranks"] > 1]
    if sys.argv[2:]:
        presets = [row for row in presets if row["preset"] in sys.argv[2:]]
    else:
        presets = share(presets, 8)
    cases = list(cases_of(presets, is_quick))
    failed = 0
    for preset, words in cases:
        problem = check(stepscope, preset, words)
        if problem:
            failed += 1
            print(f"{preset} {' '.join(words)}: {problem}", flush=True)
    print(f"{len(cases)} jobs, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
