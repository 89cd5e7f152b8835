#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two simulated runs, one with a planted straggler: what diff says of them, and of a fix.

Usage: diff.py STEPSCOPE.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
failures = 0


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
        print(f"{what}: {found}")


def simulate(folder, *words):
    for name, value in (("--ranks", "2"), ("--steps", "3")):
        if name not in words:
            words += (name, value)
    made = run("sim", "--plain", "-o", folder, *words)
    check("sim", made.returncode == 0, made.stderr)


def table_of(document, index=0):
    table = document["tables"][index]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def step_of(folder):
    return json.loads(run("diagnose", "--format", "json", folder).stdout)["step_ns"]


def compare(slow, healthy):
    document = json.loads(run("diff", "--format", "json", slow, healthy).stdout)
    steps = [own["step_ns"] for own in document["runs"]]
    check("step of the slow run", abs(steps[0] - step_of(slow)) <= 2, steps)
    check("step of the healthy run", abs(steps[1] - step_of(healthy)) <= 2, steps)
    check("the straggler made it slower", steps[0] > 1.2 * steps[1], steps)
    parts = table_of(document)
    check("parts are named once", len({row["part"] for row in parts}) == len(parts), parts)
    for row in parts:
        if row["mean_a_ns"] is not None and row["mean_b_ns"] is not None:
            change = row["mean_b_ns"] - row["mean_a_ns"]
            check("change", row["mean_change_ns"] == change, row)
    sizes = [abs(row["mean_change_ns"]) for row in parts]
    check("the largest change first", sizes == sorted(sizes, reverse=True), sizes)
    check("kernels follow", document["tables"][1]["schema"] == "stepscope.kernels.diff/1")


def loop(slow, healthy):
    """What the fix of the straggler was predicted to save, and what it saved."""
    change = json.loads(run("diff", "--format", "json", slow, healthy).stdout)["change"]
    names = [column["name"] for column in change["findings"]["columns"]]
    rows = [dict(zip(names, row)) for row in change["findings"]["rows"]]
    check("the straggler went", [(row["change"], row["rule"]) for row in rows][:1]
          == [("gone", "straggler")], rows)
    fixes = change["fixed"]
    check("it names the rank", fixes.startswith("straggler="), fixes)
    what_if = json.loads(run("what-if", "--fix", fixes, "--format", "json", slow).stdout)
    predicted = what_if["step_ns"] - what_if["fixed_step_ns"]
    check("predicted as what-if does", change["predicted_ns"] == predicted, (change, predicted))
    saved = step_of(slow) - step_of(healthy)
    check("saved is measured", abs(change["saved_ns"] - saved) <= 4, (change, saved))
    text = run("diff", slow, healthy).stdout
    check("text", f"Fixed {fixes}: predicted to save " in text, text[:600])
    text = run("diff", healthy, slow).stdout
    check("it came", "for straggler, which is new." in text, text[:600])
    for words in (("--rank", "0"), ("--step", "0"), ("--view", "budget")):
        part = json.loads(run("diff", *words, "--format", "json", slow, healthy).stdout)
        check("a verdict is on everything", part["change"] is None, words)


def unchanged(place):
    """The text lists kernels that changed; JSON has all of them."""
    fast, synced = place + "/fast", place + "/synced"
    job = ("--preset", "gpu1-sync-print", "--steps", "3", "--ranks", "1")
    simulate(synced, *job)
    simulate(fast, *job, "--without", "sync-print")
    rows = table_of(json.loads(run("diff", "--format", "json", synced, fast).stdout), 1)
    changed = [row for row in rows if row["total_change_ns"]]
    check("kernels in JSON", len(rows) > 5 and not changed, rows)
    text = run("diff", synced, fast).stdout
    check("no kernels in the text", "Kernels by name" not in text and "idle: sync" in text, text)
    simulate(fast, *job, "--device", "b200")
    lines = run("diff", synced, fast).stdout.split("Kernels by name")[1].splitlines()
    check("kernels that changed", len(lines) > 5 and not any(line.endswith(" 0 ns")
                                                             for line in lines), lines)


def digests(place, slow, healthy):
    """The same without the traces: digests are enough."""
    sides = {}
    for name, folder in (("slow", slow), ("healthy", healthy)):
        sides[name] = f"{place}/{name}_digests"
        made = run("digest", folder, "-o", sides[name])
        check("digest", made.returncode == 0, made.stderr)
    whole = run("diff", "--format", "json", slow, healthy).stdout
    for folder in (slow, healthy):
        os.rename(folder, folder + "_away")
    out = run("diff", "--format", "json", sides["slow"], sides["healthy"])
    for folder in (slow, healthy):
        os.rename(folder + "_away", folder)
    check("diff of digests", out.returncode == 0, out.stderr)
    before, after = json.loads(whole)["change"], json.loads(out.stdout or "{}")
    for key in ("verdict", "text", "fixed", "predicted_ns", "saved_ns"):
        check(key, before[key] == after.get("change", {}).get(key), (before, after.get("change")))


def mended(place):
    """A fix that leaves a part of its finding: the sentence says how much."""
    few, many = place + "/few", place + "/many"
    job = ("--preset", "ddp8-healthy", "--steps", "6")
    simulate(few, *job, "--cause", "input-in-process=0.2")
    simulate(many, *job, "--cause", "input-in-process=0.9")
    change = json.loads(run("diff", "--format", "json", many, few).stdout)["change"]
    with open(few + "/truth.json", encoding="utf-8") as file:
        left = json.load(file)["causes"][0]["cost_ns"]
    check("less than predicted", change["predicted_ns"] > 1.1 * change["saved_ns"], change)
    found = re.search(r": ([0-9.]+) ms of input-stall is left\.", change["text"])
    check("where the difference went", found and abs(float(found[1]) * 1e6 - left) < 0.1 * left,
          (change["text"], left))


def others(place, healthy):
    """Runs that are not of one job, and those that are not like for like."""
    cases = (
        (("--ranks", "4"), "cannot be compared: the run has 4 ranks and the baseline 2", False),
        (("--device", "b200"), "cannot be compared: the run used NVIDIA B200 and", False),
        (("--device", "b200"), "Other versions: CUDA ", False),
        (("--set", "batch=2"), "Other sizes: aten::mm, which does most FLOPs, works on ", True),
        (("--seed", "99"), "No change beyond the noise (", True),
    )
    for number, (words, sentence, comparable) in enumerate(cases):
        other = f"{place}/other{number}"
        simulate(other, "--preset", "ddp8-healthy", *words)
        text = " ".join(run("diff", healthy, other).stdout.split())
        check(" ".join(words), sentence in text, text[:600])
        change = json.loads(run("diff", "--format", "json", healthy, other).stdout)["change"]
        check("comparable", change["comparable"] is comparable, (words, change))
        check("no finding", not change["findings"]["rows"], (words, change["findings"]["rows"]))
        check("other versions or sizes only where they are",
              (change["notes"] is None) == (words[0] in ("--ranks", "--seed")), change["notes"])


def same(folder):
    for row in table_of(json.loads(run("diff", "--format", "json", folder, folder).stdout), 1):
        check("nothing changes against itself", row["total_change_ns"] == 0, row)
    out = run("diff", "--view", "operators", "--format", "csv", "--rank", "0", folder, folder)
    rows = list(csv.DictReader(io.StringIO(out.stdout)))
    check("csv has rows", len(rows) > 3, out.stderr)
    check("csv: nothing changes", all(row["host_self_change_ns"] == "0" for row in rows))
    text = run("diff", folder, folder).stdout
    check("text says so", "(+0.0 %)" in text, text[:200])


def growth(place):
    """Two batch sizes say what a third takes; too few steps and another model do not."""
    for name, sizes, steps in (("b2", "batch=2", "4"), ("b4", "batch=4", "4"),
                               ("b8", "batch=8", "4"), ("one", "batch=4", "1"),
                               ("deep", "batch=4,layers=20", "4")):
        simulate(f"{place}/{name}", "--preset", "small1-healthy", "--ranks", "1", "--device",
                 "a100", "--steps", steps, "--set", f"sequence=1024,{sizes}")
    said = run("diff", "--width", "999", f"{place}/b2", f"{place}/b4").stdout
    told = re.search(r"b does 2 times the FLOPs of a.*twice the work of b would take about "
                     r"([0-9.]+) ms", said)
    step = json.loads(run("diagnose", "--json", f"{place}/b8").stdout)["step_ns"] / 1e6
    check("a larger batch", told and abs(float(told[1]) - step) < 0.03 * step, f"{step}: {said}")
    for name in ("one", "deep"):
        said = run("diff", "--width", "999", f"{place}/b2", f"{place}/{name}").stdout
        check(name, "what a larger batch brings is unknown" in said, said)


def refused(folder):
    cases = (
        (("diff", folder), 2, "expected two runs: two trace files or folders"),
        (("diff", folder, folder, folder), 2, "expected two runs: two trace files or folders"),
        (("diff", "--view", "nothing", folder, folder), 2, "no view called 'nothing'"),
        (("diff", "--view", "kernels", "--group", "x", folder, folder), 2, "has no group 'x'"),
        (("diff", "--sort", "calls", folder, folder), 2, "--sort applies to one view"),
        (("diff", "--rank", "7", folder, folder), 2, "no file for rank 7"),
        (("diff", folder, folder + "/nothing.json"), 1, "nothing.json"),
    )
    for words, code, sentence in cases:
        out = run(*words)
        check(" ".join(words), out.returncode == code and sentence in out.stderr,
              f"{out.returncode}: {out.stderr}")


def main():
    with tempfile.TemporaryDirectory() as place:
        slow, healthy = place + "/slow", place + "/healthy"
        simulate(slow, "--preset", "ddp8-straggler")
        simulate(healthy, "--preset", "ddp8-healthy")
        compare(slow, healthy)
        loop(slow, healthy)
        unchanged(place)
        digests(place, slow, healthy)
        mended(place)
        others(place, healthy)
        same(healthy)
        growth(place)
        refused(healthy)
    print(f"{failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
