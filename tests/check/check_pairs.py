# SPDX-License-Identifier: Apache-2.0
"""Checks pairs of simulated runs: equal ones must pass, every planted cause must be a regression.

check_pairs.py STEPSCOPE [--long] [--planted] [--even]: prints what is wrong and a line of counts.
The short form takes a few pairs of each; the long one 200 equal pairs and every preset with one
cause. Thresholds were tuned on even seeds, so the tests use odd ones.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "sim"))
import diagnosis_truth  # noqa: E402

SHORT_EQUAL, SHORT_CAUSES, LONG_EQUAL = 6, 8, 200
# of the step: what a cause costs at least to be told
WORTH = 0.03
# what an equal pair may be called, and how often a cause must be found: of all
FALSE_MAX, FOUND_MIN = 0.01, 0.95
# fragmented memory costs time because cudaMalloc and cudaFree are called: that is what grows
NAMES = {"fragmentation": ("fragmentation", "allocator-thrash")}


class Pairs:
    def __init__(self, stepscope, parity):
        self.stepscope, self.parity = stepscope, parity
        listed = json.loads(self.ask("sim", "--list", "--json").stdout)
        names = [column["name"] for column in listed["columns"]]
        rows = [dict(zip(names, row)) for row in listed["rows"]]
        # eight ranks of this one take a hundred times as long as the others
        self.presets = [row for row in rows if not row["preset"].startswith("tp2pp2")]

    def ask(self, *words):
        command = [self.stepscope, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def words(self, preset, steps):
        """The job, small enough to simulate many."""
        words = ["--preset", preset["preset"], "--steps", steps]
        if preset["layout"] not in ("single", "inference"):
            words += ["--ranks", 4]
        if preset["layout"] == "pipeline":
            words += ["--set", "layers=4"]
        return words

    def simulate(self, folder, name, words):
        result = self.ask("sim", *words, "-o", f"{folder}/{name}")
        if result.returncode:
            raise RuntimeError(result.stderr)
        with open(f"{folder}/{name}/truth.json", encoding="utf-8") as file:
            return json.load(file)

    def check(self, before, after):
        """(what the check says, truth of the run), of two jobs; None: they are not equal."""
        with tempfile.TemporaryDirectory() as folder:
            first = self.simulate(folder, "before", before)
            truth = self.simulate(folder, "after", after)
            result = self.ask("check", f"{folder}/after", "--against", f"{folder}/before", "--json")
            said = json.loads(result.stdout)
            code = {"regression": 3, "inconclusive": 4}.get(said["verdict"], 0)
            assert result.returncode == code, (result.returncode, said["verdict"])
            return said, first, truth

    def equal(self, count):
        """Yields (words, verdict) of pairs that differ in their seeds alone."""
        draws = random.Random(77 + self.parity)
        healthy = [preset for preset in self.presets if not preset["causes"]]
        while count:
            preset = draws.choice(healthy if count % 2 else self.presets)
            words = self.words(preset, draws.choice([5, 8, 10]))
            seed = 2 * draws.randrange(1, 10**6) + self.parity
            said, first, truth = self.check(
                [*words, "--seed", seed], [*words, "--seed", seed + 1000]
            )
            # the seed chooses the rank that is slow: another one is another job
            if [c["rank"] for c in first["causes"]] != [c["rank"] for c in truth["causes"]]:
                continue
            count -= 1
            yield [*words, "--seed", seed], said

    def planted(self, count):
        """Yields (cause, words, what the check says) of each preset with one cause."""
        chosen = [p for p in self.presets if p["causes"] and "," not in p["causes"]]
        if count:
            chosen = random.Random(5).sample(
                [p for p in chosen if p["layout"] != "pipeline"], count
            )
        for number, preset in enumerate(chosen):
            cause = preset["causes"].split("=")[0]
            words, seed = self.words(preset, 8), 2 * (700 + number) + self.parity
            said, _, truth = self.check(
                [*words, "--without", cause, "--seed", seed], [*words, "--seed", seed + 1000]
            )
            cost = sum(planted["cost_ns"] for planted in truth["causes"])
            if cost >= WORTH * truth["mean_step_ns"]:
                yield cause, [*words, "--seed", seed], said


def rules_of(cause):
    return NAMES.get(cause, diagnosis_truth.rules_of(cause))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepscope")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--planted", action="store_true", help="without the equal pairs")
    parser.add_argument("--even", action="store_true")
    options = parser.parse_args()
    pairs = Pairs(options.stepscope, 0 if options.even else 1)
    verdicts, found, named, causes = {}, 0, 0, 0
    equal = 0 if options.planted else LONG_EQUAL if options.long else SHORT_EQUAL
    for words, said in pairs.equal(equal):
        verdicts[said["verdict"]] = verdicts.get(said["verdict"], 0) + 1
        if said["verdict"] == "regression":
            print("equal, but:", said["text"], *words, flush=True)
    for cause, words, said in pairs.planted(0 if options.long else SHORT_CAUSES):
        first = said["changes"][0]["name"] if said["changes"] else None
        causes += 1
        found += said["verdict"] == "regression"
        named += said["verdict"] == "regression" and first in rules_of(cause)
        if said["verdict"] != "regression" or first not in rules_of(cause):
            print(f"{cause}: {said['text']} First: {first}", *words, flush=True)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"equal: {counts}; planted: {causes}, {found} regressions, {named} named first")
    is_fine = verdicts.get("regression", 0) <= FALSE_MAX * equal
    is_fine = is_fine and causes and named >= FOUND_MIN * causes
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
