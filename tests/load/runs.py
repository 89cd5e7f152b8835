#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that lie in one folder are told apart; one is judged, the others are listed.

Usage: runs.py STEPSCOPE. Half of the cases demand that files stay together.
"""
import json
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile

SMALL = ("--set", "layers=2", "--steps", "3", "--plain", "--progress", "none")
MINUTE = 60_000_000_000
HOUR = 60 * MINUTE


class Checks:
    """Runs the program and keeps what does not hold."""

    def __init__(self, stepscope):
        self.stepscope = stepscope
        self.checked = self.failed = 0

    def run(self, *words):
        command = [self.stepscope, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def simulate(self, folder, ranks, *words, preset="ddp8-healthy"):
        size = ("--ranks", ranks) if ranks else ()
        result = self.run("sim", "--preset", preset, *SMALL, *size, "-o", folder, *words)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        (folder / "truth.json").unlink()
        return folder

    def expect(self, what, holds, found=""):
        self.checked += 1
        if not holds:
            self.failed += 1
            print(f"{what}: {found}")

    def diagnose(self, *words):
        result = self.run("diagnose", "--format", "json", "--progress", "none", *words)
        return json.loads(result.stdout) if result.returncode == 0 else {"error": result.stderr}

    def runs(self, what, folder, expected, chosen, *words):
        """`expected`: ranks of each run by time; `chosen`: the number of the one that is judged."""
        document = self.diagnose(folder, *words)
        listed = document.get("runs", [])
        found = [run["ranks"] for run in listed]
        self.expect(f"{what}: runs", found == expected, document.get("error", listed))
        marked = [run["number"] for run in listed if run["chosen"]]
        self.expect(f"{what}: chosen", marked == [chosen], listed)
        if marked and chosen <= len(found):
            judged = document["ranks"]
            self.expect(f"{what}: ranks", judged == found[chosen - 1], judged)
        text = self.run(folder, *words)
        self.expect(f"{what}: no rank below 0", "ank -1" not in text.stdout, text.stdout)
        lists = f"These files belong to {len(expected)} runs" in text.stdout
        self.expect(f"{what}: told", lists == (len(expected) > 1), text.stdout)
        return document


def move(path, by_ns, steps=0):
    """Records a file at another time, with other numbers of steps."""
    text = path.read_text()
    base = r'(?<="baseTimeNanoseconds": )\d+'
    text, count = re.subn(base, lambda found: str(int(found[0]) + by_ns), text)
    assert count == 1, path
    if steps:
        text = re.sub(r"(?<=ProfilerStep#)\d+", lambda m: str(int(m[0]) + steps), text)
    path.write_text(text)


def forget(path):
    """The file does not say its rank."""
    text, count = re.subn(r'"distributedInfo": .*\n', "\n", path.read_text())
    assert count == 1, path
    path.write_text(text)


def copy(job, folder, names, by_ns=0, steps=0):
    """The ranks of a job under other names, recorded at another time."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, name in enumerate(names):
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(job / f"rank{rank}.json", folder / name)
            move(folder / name, by_ns, steps)
    return folder


def names(count, pattern="rank{}.json", **more):
    return [pattern.format(rank, **more) for rank in range(count)]


def check_together(checks, job, scratch):
    checks.runs("one run", job, [4], 1)
    folder = copy(job, scratch / "skewed", names(4))
    move(folder / "rank2.json", 9_000_000_000)
    move(folder / "rank3.json", -200_000_000_000)
    checks.runs("clocks that nobody set", folder, [4], 1)
    folder = copy(job, scratch / "hosts", names(4, "host{0}/t.json"))
    checks.runs("a folder for each host", folder, [4], 1)
    folder = copy(job, scratch / "missing", ["rank0.json", "", "rank2.json", ""])
    checks.runs("half of the ranks", folder, [2], 1)
    folder = copy(job, scratch / "copied", names(4))
    shutil.copy(folder / "rank1.json", folder / "again.json")
    checks.runs("a copy of a file", folder, [4], 1)
    folder = copy(job, scratch / "steps", names(4))
    move(folder / "rank1.json", 0, steps=1)
    checks.runs("one rank begins a step later", folder, [4], 1)


def check_apart(checks, job, scratch):
    folder = copy(job, scratch / "two", names(4, "a{}.json"))
    copy(job, folder, names(4, "b{}.json"), HOUR)
    checks.runs("the same ranks an hour later", folder, [4, 4], 2)
    folder = copy(job, scratch / "same_time", names(4, "run_a/rank{}.json"))
    copy(job, folder, names(4, "run_b/rank{}.json"))
    for path in (folder / "run_b").iterdir():
        # another recording, not a copy
        move(path, 1000)
    document = checks.runs("two folders, one time", folder, [4, 4], 2)
    listed = [run["name"] for run in document["runs"]]
    checks.expect("runs are called after their folders", listed == ["run_a", "run_b"], listed)
    pattern = "node0_10{}.{time}.pt.trace.json"
    folder = copy(job, scratch / "cycles", names(4, pattern, time=1767189312000000000))
    copy(job, folder, names(4, pattern, time=1767189372000000000), MINUTE, steps=5)
    checks.runs("two cycles of a schedule", folder, [4, 4], 2)
    for rank in (2, 3):
        for path in folder.glob(f"node0_10{rank}.*"):
            move(path, 5 * MINUTE // 2)
    checks.runs("cycles and clocks that nobody set", folder, [4, 4], 2)
    board = "plugins/profile/2026_01_0{day}/rank{}.json"
    folder = copy(job, scratch / "board", names(4, board, day=1))
    copy(job, folder, names(4, board, day=2), 1000)
    document = checks.runs("TensorBoard", folder, [4, 4], 2)
    listed = [run["name"] for run in document["runs"]]
    checks.expect("TensorBoard: names", listed == ["2026_01_01", "2026_01_02"], listed)


def check_choice(checks, job, scratch):
    folder = copy(job, scratch / "newest", ["a0.json", "a1.json", "a2.json", "a3.json"])
    copy(job, folder, ["b0.json", "b1.json", "b2.json", ""], HOUR)
    checks.runs("the newest lacks a rank", folder, [4, 3], 1)
    checks.runs("asked for", folder, [4, 3], 2, "--run", "2")
    copy(job, folder, ["c0.json", "c1.json", "c2.json", "c3.json"], 2 * HOUR)
    checks.runs("three", folder, [4, 3, 4], 3)
    whole = (folder / "c2.json").read_bytes()
    (folder / "c2.json").write_bytes(whole[: len(whole) * 7 // 10])
    document = checks.runs("the newest is cut", folder, [4, 3, 4], 1)
    checks.expect("a cut run", document["runs"][2]["cut_files"] == 1, document["runs"])
    document = checks.runs("the cut one", folder, [4, 3, 4], 3, "--run", "c2.json")
    told = [warning["what"] for warning in document["warnings"]]
    checks.expect("the cut one: warning", told == ["cut"], document["warnings"])
    said = document["warnings"][0]["text"]
    checks.expect("the cut one: words", said.startswith("1 of 4 files is truncated"), said)
    # the rank that the first run lacks begins before all others of the second
    folder = copy(job, scratch / "early", ["a0.json", "a1.json", "", "a3.json"])
    copy(job, folder, ["b0.json", "b1.json", "b2.json", "b3.json"], 5 * MINUTE)
    move(folder / "b2.json", -5_000_000)
    checks.runs("a rank of the second comes first", folder, [3, 4], 2)


def check_unrelated(checks, job, scratch):
    folder = copy(job, scratch / "worlds", names(4))
    checks.simulate(scratch / "two_ranks", 2, "--seed", "7")
    for rank in (0, 1):
        shutil.copy(scratch / "two_ranks" / f"rank{rank}.json", folder / f"other{rank}.json")
    checks.runs("jobs of two sizes", folder, sizes(checks, folder), 2)
    folder = checks.simulate(scratch / "alone", 0, preset="small1-healthy")
    (folder / "rank0.json").rename(folder / "model_a.json")
    shutil.copy(folder / "model_a.json", folder / "model_b.json")
    move(folder / "model_b.json", 1000)
    checks.runs("two files without ranks and collectives", folder, [1, 1], 2)


def check_folders(checks, job, scratch):
    """Folders with a rank in common are of different runs, whatever the clocks say."""
    folder = copy(job, scratch / "folders", names(4, "a/rank{}.json"))
    copy(job, folder, ["b/rank0.json", "", "b/rank2.json", ""], 1000)
    alone = checks.simulate(scratch / "alone1", 0, preset="small1-healthy")
    (folder / "c").mkdir()
    shutil.copy(alone / "rank0.json", folder / "c")
    found = {run["name"]: run["ranks"] for run in checks.diagnose(folder).get("runs", [])}
    checks.expect("folders with a rank in common", found == {"a": 4, "b": 2, "c": 1}, found)
    folder = copy(job, scratch / "in_it", names(4))
    copy(job, folder, ["", "", "old/rank2.json", "old/rank3.json"], 1000)
    found = sorted(run["ranks"] for run in checks.diagnose(folder).get("runs", []))
    checks.expect("a folder inside of the run's", found == [2, 4], found)
    shown = checks.run("files", scratch / "folders", "--run", "a").stdout
    checks.expect("files: the folder", "folder: a" in shown, shown)
    # cycles of a schedule, a folder for each host
    folder = copy(job, scratch / "host_cycles", ["h0/a0.json", "h0/a1.json", "h1/a2.json",
                                                 "h1/a3.json"])
    copy(job, folder, ["h0/b0.json", "h0/b1.json", "h1/b2.json", "h1/b3.json"], HOUR)
    checks.runs("cycles in folders of hosts", folder, [4, 4], 2)


def check_machines(checks, job, scratch):
    folder = copy(job, scratch / "machines", names(4))
    for rank in (2, 3):
        path = folder / f"rank{rank}.json"
        text = path.read_text()
        model = re.search(r'"deviceProperties".*?"name": "([^"]*)"', text, re.DOTALL)[1]
        path.write_text(text.replace(model, "Another GPU"))
    found = sorted(run["ranks"] for run in checks.diagnose(folder).get("runs", []))
    checks.expect("GPUs of two models", found == [2, 2], found)


def sizes(checks, folder):
    """Two jobs of one time: which comes first is not laid down, but that they are two is."""
    found = [run["ranks"] for run in checks.diagnose(folder).get("runs", [])]
    checks.expect("jobs of two sizes: apart", sorted(found) == [2, 4], found)
    return found


def check_ranks(checks, job, scratch):
    shapes = ("rank_{}/trace.json", "rank{}/deep/trace.json", "TP-{}/trace.json", "x_r{}.json",
              "1700-TP-{}.trace.json", "t-TP-{}-PP-0-DP-0.json", "WORKER-{}/t.json")
    for number, shape in enumerate(shapes):
        folder = copy(job, scratch / f"shape{number}", names(4, shape))
        for path in folder.rglob("*.json"):
            forget(path)
        document = checks.runs(f"ranks of {shape}", folder, [4], 1)
        checks.expect(f"{shape}: no warning", document["warnings"] == [], document["warnings"])
    folder = copy(job, scratch / "letters", ["d.json", "c.json", "b.json", "a.json"])
    for path in folder.iterdir():
        forget(path)
    document = checks.runs("ranks by order", folder, [4], 1)
    told = [warning["what"] for warning in document["warnings"]]
    checks.expect("ranks by order: warning", told == ["ranks-by-order"], document["warnings"])
    table = json.loads(checks.run("ranks", folder, "--format", "json").stdout)
    listed = [row[0] for row in table["rows"]]
    checks.expect("ranks by order: numbers", listed == [0, 1, 2, 3], listed)


def check_commands(checks, job, scratch):
    """Every command that loads takes --run."""
    folder = copy(job, scratch / "commands", names(4, "one/rank{}.json"))
    copy(checks.simulate(scratch / "slow", 4, "--cause", "straggler=0.5"), folder,
         names(4, "two/rank{}.json"), HOUR)
    out = scratch / "out"
    for words in (("steps",), ("ranks",), ("what-if",), ("overview",), ("files",),
                  ("merge", "-o", out), ("ask", "job")):
        # how long it took differs from time to time
        first, second, part = (
            re.sub(r'"seconds":[0-9.]+', "", checks.run(*words, folder, *choice).stdout)
            for choice in (("--run", "1"), ("--run", "two"), ()))
        checks.expect(f"{words[0]}: --run", first and first != second or words[0] == "merge", first)
        checks.expect(f"{words[0]}: newest", second == part or words[0] == "what-if", part)
    result = checks.run("diff", folder, "--run", "1,2")
    checks.expect("diff of two runs of a folder", result.returncode == 0, result.stderr)
    checks.expect("diff: steps differ", re.search(r"Step: .* -> ", result.stdout), result.stdout)
    result = checks.run("diagnose", folder, "--run", "three")
    checks.expect("no such run", result.returncode == 2 and "1 (one), 2 (two)" in result.stderr,
                  result.stderr)
    result = checks.run("diagnose", folder, "--run", "rank")
    checks.expect("several runs", result.returncode == 2 and "several" in result.stderr,
                  result.stderr)
    result = checks.run("diagnose", job, "--run", "2")
    checks.expect("one run only", result.returncode == 2, result.stdout)


def check_snapshots(checks, job, scratch):
    """A memory snapshot belongs to the run whose traces are nearest to it."""
    folder = scratch / "snapshots"
    for number, run in enumerate("ab"):
        copy(job, folder, names(4, f"{run}/rank{{}}.json"), number * HOUR)
    for place in ("a", "a/memory", "b"):
        (folder / place).mkdir(exist_ok=True)
        with open(folder / place / "memory.pickle", "wb") as file:
            pickle.dump({"segments": [], "device_traces": [[]]}, file)
    for number, wanted in ((1, "2 memory snapshots"), (2, "1 memory snapshot ")):
        text = checks.run(folder, "--run", number).stdout
        checks.expect(f"snapshots of run {number}", wanted in text, text)


def main():
    checks = Checks(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        job = checks.simulate(scratch / "job", 4)
        for check in (check_together, check_apart, check_choice, check_unrelated, check_folders,
                      check_machines, check_ranks, check_commands, check_snapshots):
            check(checks, job, scratch)
    print(f"{checks.checked} checks, {checks.failed} failed")
    return 1 if checks.failed or not checks.checked else 0


if __name__ == "__main__":
    sys.exit(main())
