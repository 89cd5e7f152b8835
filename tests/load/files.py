#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of a job: missing, broken, copied, mixed, named in any way.

Usage: files.py STEPSCOPE. What is wrong with one file must leave the others' figures and be said in
a sentence; the output must not depend on threads, order or names; memory must not grow with ranks.
STEPSCOPE_QUICK=1 leaves out the large jobs that memory is measured on.
"""
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SMALL = ("--preset", "ddp8-healthy", "--set", "layers=2", "--steps", "2", "--progress", "none")
RANKS = [0, 1, 2, 3]
VIEWS = ("ranks", "collectives", "clocks", "stragglers", "imbalance", "idle-together")
RSS_KB_MAX = 300 * 1024
# of 64 ranks to that of 16: what is kept of a rank is small beside the files that are being read
RSS_TIMES_MAX = 2.5
START_NS = 1767189312000000000
CYCLE_NS = 60000000000
NAMES = ("rank{}.json", "rank_{}.json", "rank-{}.json", "rank_file{}.json", "worker{}.trace.json")


# what the text of a view says of such a file
CUT = r"Data quality: one file is truncated, [1-9]\d* lost"


class Runs:
    """Runs the program and keeps what does not hold."""

    def __init__(self, stepscope):
        self.stepscope = stepscope
        self.checked = self.failed = 0

    def run(self, *words):
        command = [self.stepscope, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def simulate(self, folder, ranks, *words):
        result = self.run("sim", *SMALL, "--ranks", ranks, "-o", folder, *words)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        (folder / "truth.json").unlink()

    def expect(self, what, holds, found=""):
        self.checked += 1
        if not holds:
            self.failed += 1
            print(f"{what}: {found}")

    def rows(self, view, folder):
        document = json.loads(self.run(view, folder, "--format", "json").stdout)
        names = [column["name"] for column in document["columns"]]
        return [dict(zip(names, row)) for row in document["rows"]]

    def says(self, what, folder, ranks, *sentences):
        """The text has rows of these ranks and these sentences, on stdout or stderr."""
        result = self.run("ranks", folder, "--width", "200")
        text = result.stdout + result.stderr
        self.expect(f"{what}: exit code", result.returncode == 0, result.stderr)
        if result.returncode == 0:
            rows = [row["rank"] for row in self.rows("ranks", folder)]
            self.expect(f"{what}: ranks", rows == ranks, rows)
        for sentence in sentences:
            self.expect(f"{what}: '{sentence}'", re.search(sentence, text), text)


def rename(folder, names):
    for rank, name in zip(RANKS, names):
        (folder / f"rank{rank}.json").rename(folder / name)


def rewrite(path, *pairs):
    text = path.read_text()
    for old, new in pairs:
        text, count = re.subn(old, new, text, count=1)
        assert count == 1, old
    path.write_text(text)


def check_broken(runs, job, scratch):
    """One file is not what it should be; job is never changed."""
    others = [0, 1, 3]
    unreadable = r"1 file could not be read; 'stepscope files' says why"
    contents = {
        "empty": b"",
        "no trace": b'{"a": 1}',
        "garbage": random.Random(1).randbytes(50000),
        "a list of numbers": b"[1, 2, 3]",
        "cut before its events": (job / "rank2.json").read_bytes()[:2000],
    }
    for what, content in contents.items():
        folder = scratch / "broken"
        shutil.copytree(job, folder)
        (folder / "rank2.json").write_bytes(content)
        # other JSON lies beside traces and is passed over; the rank is missing all the same
        words = () if what in ("no trace", "a list of numbers") else (unreadable,)
        runs.says(what, folder, others, *words, r"Rank 2 of 4 is missing\.")
        shutil.rmtree(folder)
    folder = scratch / "cut"
    shutil.copytree(job, folder)
    whole = (job / "rank2.json").read_bytes()
    (folder / "rank2.json").write_bytes(whole[: len(whole) // 2])
    runs.says("cut amid its events", folder, RANKS, CUT)
    packed = gzip.compress(whole)
    (folder / "rank2.json").write_bytes(packed[: len(packed) // 2])
    runs.says("half of a gzip", folder, RANKS, CUT)
    (folder / "rank2.json").unlink()
    runs.says("missing", folder, others, r"Rank 2 of 4 is missing\.")
    (folder / "rank2.json").symlink_to(folder / "nowhere.json")
    runs.says("a link to nowhere", folder, others, r"Rank 2 of 4 is missing\.")
    (folder / "rank3.json").unlink()
    runs.says("two missing", folder, [0, 1], r"2 of 4 ranks are missing: 2, 3\.")


def check_figures_of_others(runs, job, scratch):
    """What a rank does by itself is the same whether another's file is broken or not."""
    folder = scratch / "others"
    shutil.copytree(job, folder)
    (folder / "rank2.json").write_bytes(b"")
    own = ("steps", "step_ns", "compute_ns", "comm_ns", "exposed_ns", "idle_ns")
    whole = {row["rank"]: [row[c] for c in own] for row in runs.rows("ranks", job)}
    rest = {row["rank"]: [row[c] for c in own] for row in runs.rows("ranks", folder)}
    del whole[2]
    runs.expect("figures of the others", whole == rest, (whole, rest))


def check_missing(runs, job, scratch):
    """A rank without a file is named by tables and by the verdict."""
    folder = scratch / "missing"
    shutil.copytree(job, folder)
    for gone, text in ((1, "rank 1 of 4 is missing"), (3, "2 of 4 ranks are missing: 1, 3")):
        (folder / f"rank{gone}.json").unlink()
        said = runs.run("diagnose", folder).stdout
        runs.expect(f"without rank {gone}", f"Data quality: {text}" in said, said)
        found = json.loads(runs.run("diagnose", folder, "--json").stdout)["missing_ranks"]
        runs.expect("missing_ranks", found == (1 if gone == 1 else 2), found)
    runs.says("missing ranks", folder, [0, 2], "2 of 4 ranks are missing: 1, 3")


def check_copies(runs, job, scratch):
    folder = scratch / "copies"
    shutil.copytree(job, folder)
    shutil.copy(folder / "rank1.json", folder / "again.json")
    runs.says("a copy", folder, RANKS, "rank 1 occurs twice")
    with_copy, without = (runs.rows("collectives", part) for part in (folder, job))
    runs.expect("a copy counts once", with_copy == without, with_copy)


def check_copies_of_cycles(runs, job, scratch):
    """Which of three recordings of a rank are copies does not depend on their names."""
    folder, _ = cycles(runs, job, scratch, "copied")
    shutil.copy(job / "rank1.json", folder / "zz.json")
    result = runs.run("ranks", folder, "--run", "1")
    runs.expect("a copy of a cycle", "rank 1 occurs twice" in result.stdout, result.stdout)


def check_mixed(runs, job, scratch):
    folder = scratch / "mixed"
    runs.simulate(folder, 2, "--plain", "--seed", "7")
    for rank in (0, 1):
        (folder / f"rank{rank}.json").rename(folder / f"other{rank}.json")
    for path in job.iterdir():
        shutil.copy(path, folder)
    runs.says("two jobs", folder, RANKS, "These files belong to 2 runs", r"--run 1: .*2 of 2 ranks")


def cycles(runs, job, scratch, name):
    """Two recordings of each rank, a minute apart, and how many collectives each has."""
    folder = scratch / name
    runs.simulate(folder, 4, "--plain", "--seed", "9")
    count = len(runs.rows("collectives", folder))
    for rank in RANKS:
        path = folder / f"rank{rank}.json"
        rewrite(path, (r'(?<="baseTimeNanoseconds": )\d+', str(START_NS + CYCLE_NS)))
        path.rename(folder / f"node0_{1000 + rank}.{START_NS + CYCLE_NS}.pt.trace.json")
        earlier = folder / f"node0_{1000 + rank}.{START_NS}.pt.trace.json"
        shutil.copy(job / f"rank{rank}.json", earlier)
    return folder, count


def check_cycles(runs, job, scratch):
    folder, _ = cycles(runs, job, scratch, "cycles")
    runs.says("two cycles", folder, RANKS, "This is run 2, the newest", r"--run 1: .*4 of 4 ranks")


def check_cycles_apart(runs, job, scratch):
    """Collectives match within each recording; a rank is in each of them once."""
    folder, count = cycles(runs, job, scratch, "apart")
    rows = runs.rows("collectives", folder)
    runs.expect("collectives of two cycles", len(rows) == count, f"{len(rows)} for {count}")
    members = {row["members"] for row in rows}
    runs.expect("members of two cycles", members == {4}, members)
    offsets = {row["offset_ns"] for row in runs.rows("clocks", folder)}
    runs.expect("one clock for both recordings of a rank", offsets <= {0, None}, offsets)


def check_names(runs, job, scratch):
    """Ranks come from the file; where it does not say them, from its name."""
    folder = scratch / "names"
    shutil.copytree(job, folder)
    handler = [f"host{rank}_77{9 - rank}.176718931200{rank}.pt.trace.json" for rank in RANKS]
    rename(folder, handler)
    for path in list(folder.iterdir()):
        with gzip.open(f"{path}.gz", "wb") as packed:
            packed.write(path.read_bytes())
        path.unlink()
    runs.says("names of the handler", folder, RANKS)
    wrong = scratch / "wrong"
    shutil.copytree(job, wrong)
    rename(wrong, ["rank3.x.json", "rank2.x.json", "rank1.x.json", "rank0.x.json"])
    wrong_rows, rows = runs.rows("ranks", wrong), runs.rows("ranks", job)
    runs.expect("what the file says goes first", wrong_rows == rows, (wrong_rows, rows))
    for shape in NAMES:
        bare = scratch / shape.partition("{")[0]
        shutil.copytree(job, bare)
        for path in bare.iterdir():
            rewrite(path, (r'"distributedInfo": .*\n', "\n"))
        rename(bare, [shape.format(rank) + "~" for rank in RANKS])
        for path in list(bare.iterdir()):
            path.rename(str(path)[:-1])
        rows = [row["rank"] for row in runs.rows("ranks", bare)]
        runs.expect(f"ranks from names like {shape}", rows == RANKS, rows)


def check_same_output(runs, job, scratch):
    """The same bytes for all threads, orders and names of the files."""
    alone = ("--format", "json", "--threads", "1")
    views = {view: runs.run(view, job, *alone).stdout for view in VIEWS}
    for view, expected in views.items():
        runs.expect(f"{view} says something", "rows" in expected, expected)
        for threads in ("2", "8"):
            found = runs.run(view, job, "--format", "json", "--threads", threads).stdout
            runs.expect(f"{view} with {threads} threads", found == expected, found)
        paths = [job / f"rank{rank}.json" for rank in (2, 0, 3, 1)]
        found = runs.run(view, *paths, "--format", "json").stdout
        runs.expect(f"{view} in another order", found == expected, found)
    for seed in range(3):
        folder = scratch / f"shuffled{seed}"
        chance = random.Random(seed)
        for path in job.iterdir():
            place = folder / f"d{chance.randrange(3)}"
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place / f"{chance.randrange(10**9)}.json")
        for view, expected in views.items():
            found = runs.run(view, folder, "--format", "json").stdout
            runs.expect(f"{view} under other names", found == expected, found)


def check_ends(runs, job, scratch):
    """Exit codes and sentences when there is no result."""
    (scratch / "nothing").mkdir()
    broken = scratch / "all_broken"
    broken.mkdir()
    for rank in RANKS:
        (broken / f"rank{rank}.json").write_bytes(b"")
    cases = {
        "no such folder": ([scratch / "absent"], 1, "cannot open"),
        "an empty folder": ([scratch / "nothing"], 1, "no trace files in"),
        "no file is readable": ([broken], 1, "none of the 4 files could be read"),
        "too little memory": ([job, "--memory-limit", "1M"], 1, "--memory-limit"),
        "an unknown option": ([job, "--bogus"], 2, "bogus"),
        "no path": ([], 2, ""),
    }
    for view in VIEWS:
        for what, (words, code, sentence) in cases.items():
            result = runs.run(view, *words)
            runs.expect(f"{view}, {what}: exit code", result.returncode == code, result.returncode)
            is_said = sentence in result.stderr and result.stderr.count("\n") <= 3
            runs.expect(f"{view}, {what}: sentence", is_said and not result.stdout, result.stderr)
        one = runs.run(view, job / "rank0.json", "--width", "200")
        told = "There is only one rank" in one.stdout
        runs.expect(f"{view}, one rank", one.returncode == 0 and told, one.stdout + one.stderr)


def peak_kb(stepscope, folder):
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen([stepscope, "ranks", folder, "--threads", "2"], stdout=nowhere)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss if child.returncode == 0 else 1 << 40


def check_memory(runs, scratch):
    """Traces are reduced as they are read: ranks add little."""
    peaks = {}
    for ranks in (16, 64):
        folder = scratch / f"ranks{ranks}"
        runs.simulate(folder, ranks, "--set", "layers=24", "--steps", "5")
        peaks[ranks] = peak_kb(runs.stepscope, folder)
        shutil.rmtree(folder)
    runs.expect("memory of 64 ranks", peaks[64] < RSS_KB_MAX, peaks)
    runs.expect("memory grows little", peaks[64] < RSS_TIMES_MAX * peaks[16], peaks)
    print(f"peak of ranks: {peaks[16]} KB for 16 ranks, {peaks[64]} KB for 64")


CHECKS = (
    check_broken,
    check_missing,
    check_figures_of_others,
    check_copies,
    check_mixed,
    check_cycles,
    check_names,
    check_same_output,
    check_ends,
    check_cycles_apart,
    check_copies_of_cycles,
)


def main():
    runs = Runs(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        job = scratch / "job"
        runs.simulate(job, 4, "--plain")
        for check in CHECKS:
            check(runs, job, scratch)
        if os.environ.get("STEPSCOPE_QUICK") != "1":
            check_memory(runs, scratch)
    print(f"{runs.checked} checks, {runs.failed} failed")
    return 1 if runs.failed or not runs.checked else 0


if __name__ == "__main__":
    sys.exit(main())
