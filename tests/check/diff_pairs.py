# SPDX-License-Identifier: Apache-2.0
"""Compares pairs of simulated runs with 'diff': equal ones, and every cause switched on and off.

diff_pairs.py STEPSCOPE [--long] [--seed N]: prints a table of causes and lines of counts. Of equal
runs nothing may be reported. A cause that costs 3 % of the step must be the first finding that
came when it is switched on, and that went when it is switched off; what its fix was predicted to
save is compared with what it saved. The short form takes a few pairs of each.
"""
import argparse
import collections
import json
import random
import sys
import tempfile

import check_pairs

SHORT_EQUAL, SHORT_CAUSES, LONG_EQUAL = 6, 6, 60
# of what it saves: how far a prediction may be off
RIGHT = 0.1


class Diffs(check_pairs.Pairs):
    """Asks 'diff' instead of 'check', in both directions."""

    def diff(self, folder, before, after):
        result = self.ask("diff", f"{folder}/{before}", f"{folder}/{after}", "--json")
        if result.returncode:
            raise RuntimeError(result.stderr)
        change = json.loads(result.stdout)["change"]
        names = [column["name"] for column in change["findings"]["columns"]]
        change["rows"] = [dict(zip(names, row)) for row in change["findings"]["rows"]]
        return change

    def both(self, before, after):
        """(truth of the second, first to second, second to first); None: they are not equal."""
        with tempfile.TemporaryDirectory() as folder:
            first = self.simulate(folder, "before", before)
            truth = self.simulate(folder, "after", after)
            there = self.diff(folder, "before", "after")
            return first, truth, there, self.diff(folder, "after", "before")

    def equal_pairs(self, draws, count):
        while count:
            preset = draws.choice(self.presets)
            words = self.words(preset, draws.choice([5, 8, 10]))
            words = [[*words, "--seed", draws.randrange(1, 10**6)] for _ in range(2)]
            first, truth, *said = self.both(*words)
            # the seed chooses the rank that is slow: another one is another job
            if [c["rank"] for c in first["causes"]] != [c["rank"] for c in truth["causes"]]:
                continue
            count -= 1
            yield preset["preset"], words, said

    def caused_pairs(self, draws, count):
        chosen = [p for p in self.presets if p["causes"] and "," not in p["causes"]]
        if count:
            chosen = draws.sample([p for p in chosen if p["layout"] != "pipeline"], count)
        for preset in chosen:
            cause = preset["causes"].split("=")[0]
            off, on = ([*self.words(preset, 8), "--seed", draws.randrange(1, 10**6)]
                       for _ in range(2))
            _, truth, *said = self.both([*off, "--without", cause], on)
            cost = sum(planted["cost_ns"] for planted in truth["causes"])
            if cost >= check_pairs.WORTH * truth["mean_step_ns"]:
                yield cause, on, said


def reported(change):
    return change["rows"] or change["verdict"] in ("regression", "improvement")


def first_of(change, words):
    """The rule of the first finding, if it came or went as it should."""
    first = change["rows"][0] if change["rows"] else {"change": "", "rule": "nothing"}
    return first["rule"] if first["change"] in words else f"{first['change']} {first['rule']}"


def count_equal(pairs, draws, count):
    quiet = 0
    for name, words, said in pairs.equal_pairs(draws, count):
        wrong = [change for change in said if reported(change)]
        quiet += not wrong
        for change in wrong:
            print("equal, but:", name, change["verdict"], change["text"], change["rows"], words)
    print(f"equal runs: nothing reported in {quiet} of {count}")
    return quiet


def count_causes(pairs, draws, count):
    """(pairs, first when it came, first when it went, predictions, right ones), and the table."""
    table = collections.defaultdict(lambda: [0] * 5)
    for cause, words, (on, off) in pairs.caused_pairs(draws, count):
        rules, row = check_pairs.rules_of(cause), table[cause]
        came, went = first_of(on, ("new", "more")), first_of(off, ("gone", "less"))
        predicted, saved = off["predicted_ns"], off["saved_ns"]
        within = predicted is not None and (
            abs(predicted - saved) <= RIGHT * saved
            or off["predicted_low_ns"] <= saved <= off["predicted_high_ns"])
        for at, good in enumerate((1, came in rules, went in rules, predicted is not None, within)):
            row[at] += good
        if came not in rules or went not in rules:
            print(f"{cause}: on: {came}, off: {went};", *words, off["text"], flush=True)
        elif not within:
            print(f"{cause}:", off["text"].splitlines()[-1], *words, flush=True)
    print(f"{'cause':20} {'pairs':>6} {'came first':>11} {'went first':>11}"
          f" {'predicted':>10} {'right':>6}")
    sums = [sum(column) for column in zip(*table.values())]
    for cause, row in [*sorted(table.items()), ("all", sums)]:
        print(f"{cause:20} {row[0]:6} {row[1]:11} {row[2]:11} {row[3]:10} {row[4]:6}")
    return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepscope")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=40)
    options = parser.parse_args()
    draws, pairs = random.Random(options.seed), Diffs(options.stepscope, 1)
    equal = LONG_EQUAL if options.long else SHORT_EQUAL
    quiet = count_equal(pairs, draws, equal)
    total, came, went, *_ = count_causes(pairs, draws, 0 if options.long else SHORT_CAUSES)
    is_fine = quiet >= equal * (1 - check_pairs.FALSE_MAX)
    is_fine = is_fine and total and min(came, went) >= total * check_pairs.FOUND_MIN
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
