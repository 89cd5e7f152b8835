#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a new user stumbled over: narrow terminals, one rank of many, names of files and of rules.

Usage: traps.py STEPSCOPE. Every function check_* is one trap; `job` is a simulated job of eight
ranks, of which rank 2 is late, `work` an empty folder.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
PRESET = "ddp8-straggler-host"


def run(*words, code=0):
    result = subprocess.run([STEPSCOPE, *map(str, words)], capture_output=True, text=True,
                            check=False, timeout=120)
    assert result.returncode == code, f"{words}: {result.returncode}: {result.stderr}"
    return result.stdout if code == 0 else result.stderr


def check_narrow_breakdown(job, work):
    for width in (20, 30, 40, 60):
        text = " ".join(run("--width", width, job).split())
        parts = re.search(r"Breakdown: (.*?%)(?! ·)", text)[1].split(" · ")
        assert len(parts) > 1 and parts[0].startswith("fixable"), parts


def check_stragglers_of_a_part(job, work):
    assert "rank 2" in run("diagnose", job)
    for words in (["--rank", 3, job], [job / "rank3.json.gz"]):
        text = run("stragglers", *words)
        assert "no rank delays" not in text, text
    assert "other ranks have 1" in run("stragglers", "--rank", 3, job)
    assert "only one rank of the job is here" in run("stragglers", job / "rank3.json.gz")


def check_flags(job, work):
    assert "with_stack" in run("files", job) and "with_stack" in run("files", job / "rank0.json.gz")


def check_top_of_ranks(job, work):
    text = run("kernels", "--top", 2, job)
    assert "(at most 2 rows of each rank; --rank all compares" in text, text
    assert "of each rank" not in run("kernels", "--top", 2, "--rank", 0, job)
    assert "of each rank" not in run("kernels", job)


def check_ending_of_output(job, work):
    starts = {"csv": "rank,kernel,", "json": "{", "ndjson": "{", "jsonl": "{", "md": "| ",
              "txt": "Run: "}
    for ending, start in starts.items():
        run("kernels", "--rank", 0, job, "-o", work / f"out.{ending}")
        text = (work / f"out.{ending}").read_text()
        assert text.lstrip("#").startswith(start) or ending == "md" and "\n| " in text, (ending,
                                                                                        text[:80])
    # what is asked for counts
    run("kernels", "--rank", 0, job, "--format", "json", "-o", work / "other.csv")
    assert json.loads((work / "other.csv").read_text())["rows"]


def check_sums_have_a_base(job, work):
    assert "figures: sum over the whole file (5 steps), 8 ranks\n" in run("kernels", job)
    assert "figures: per step, mean of 5 steps\n" in run("ranks", job)


def check_lines_of_digests(job, work):
    """What a view of digests says above its table fits the screen, and says it once."""
    shutil.copytree(job, work / "job")
    run("digest", work / "job", "-o", work / "digests")
    shutil.rmtree(work / "job")
    head = run("kernels", work / "digests").partition("\nrank ")[0]
    assert max(map(len, head.splitlines())) <= 80 and head.count("digest") == 1, head
    assert "figures: sum over the whole file" in head, head


def check_rule_names(job, work):
    assert re.search(r"^Rules: 1 straggler$", run(job), re.M)
    error = run("what-if", "--fix", "no-such-thing-at-all", job, code=2)
    assert "'stepscope explain' lists all" in error, error


def check_bounds(job, work):
    told = json.loads(run("--format", "json", job))
    assert told["fixed_low_ns"] <= told["fixed_step_ns"] <= told["fixed_high_ns"], told
    for finding in told["findings"]:
        assert finding["cost_low_ns"] <= finding["cost_high_ns"], finding


def check_empty_trace(job, work):
    (work / "empty.json").write_text('{"traceEvents":[]}')
    text = run(work / "empty.json")
    assert "The trace is empty: it has no events." in text and "on the CPU" not in text, text


def check_start_up_is_no_saving(job, work):
    run("sim", "--preset", "small1-first-launch", "-o", work / "first")
    text = " ".join(run(work / "first").split())
    assert "is start-up, which a steady step does not have." in text, text
    # what else is found may save something, but is small
    assert "would save" not in text and "1 First calls" in text, text
    told = json.loads(run("--format", "json", work / "first"))
    assert told["fixed_step_ns"] == told["step_ns"], told


def check_query_comes_last(job, work):
    done = subprocess.run([STEPSCOPE, "sql", "select 1", job], capture_output=True, text=True,
                          check=False)
    if "SQL needs DuckDB" not in done.stderr:
        assert done.returncode == 2 and "after the paths" in done.stderr, done.stderr


def check_demo(job, work):
    text = run("demo", "-o", work / "demo")
    assert "costs" not in text.partition("What stepscope finds")[0], text
    assert text.count("fixed alone, saves") == 3 and "Faults hide each other" in text, text


def main():
    checks = [(name, check) for name, check in globals().items() if name.startswith("check_")]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder) / "job"
        run("sim", "--preset", PRESET, "-o", job)
        for name, check in checks:
            work = pathlib.Path(folder) / name
            work.mkdir()
            try:
                check(job, work)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{name}: {error}")
    print(f"{len(checks)} traps, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
