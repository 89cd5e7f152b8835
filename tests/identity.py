#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every output says which run it is about, as far as the files do.

Usage: identity.py STEPSCOPE. Keys of run id, host, command and commit in all spellings; the first
of the list counts. JSON of views, reports, verdicts, snapshots and comparisons, text, Markdown,
packs, the viewer's routes and copies by redact have them; without them JSON has null and text no
line.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

STEPSCOPE = sys.argv[1]
EVENTS = [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 1,
     "dur": 90},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 50},
    {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 12,
     "s": "t", "args": {"Device Type": 0, "Device Id": -1, "Addr": 64, "Bytes": 1024}},
]
START = {"baseTimeNanoseconds": 1719853884000000000}
FULL = {"run_id": "3fq1x7", "host_name": "node-17.corp", "command": "torchrun train.py --lr 1",
        "git_commit": "9f3c2ab0d1e2f3a4b5c6", **START}
TOLD = {"id": "3fq1x7", "start_ns": 1719853884000001000, "start": "2024-07-01T17:11:24Z",
        "host": "node-17.corp", "hosts": 1, "command": "torchrun train.py --lr 1",
        "commit": "9f3c2ab0d1e2f3a4b5c6"}
NOTHING = dict.fromkeys(TOLD)
SECRETS = ("3fq1x7", "node-17", "train.py", "9f3c2ab0")
# metadata, and what comes out of it
SPELLINGS = [
    ({"GIT COMMIT": "c1"}, {"commit": "c1"}),
    ({"gitCommit": "c1", "commit": "c2"}, {"commit": "c2"}),
    ({"commit": "c2", "gitCommit": "c1"}, {"commit": "c2"}),
    ({"commit": "", "GITHUB_SHA": "c3"}, {"commit": "c3"}),
    ({"slurm_job_id": 4711}, {"id": "4711"}),
    ({"SLURM_JOB_ID": "4711", "wandb_run_id": "w1"}, {"id": "w1"}),
    ({"PT_PROFILER_JOB_NAME": "j"}, {"id": "j"}),
    ({"sys.argv": ["train.py", "--lr", "0.1"]}, {"command": "train.py --lr 0.1"}),
    ({"cmdline": "a", "argv": ["b"]}, {"command": "a"}),
    ({"hostname": "h"}, {"host": "h", "hosts": 1}),
    ({"host_name": None}, {}),
    ({"run": {"id": "x"}, "command": {}}, {}),
    ({"trace_id": "T1"}, {"id": "T1"}),
    ({"trace_id": "T1", "run_name": "r"}, {"id": "r"}),
    ({"run_id": 'a "b" \t\u0007é'}, {"id": 'a "b"   é'}),
]


def run(*words, code=0):
    result = subprocess.run([STEPSCOPE, *map(str, words)], capture_output=True, timeout=60)
    assert result.returncode == code, f"{words}: {result.stderr.decode()}"
    return result.stdout.decode()


def document(*words):
    return json.loads(run(*words, "--format", "json"))


def write(path, metadata, rank=None):
    whole = {**metadata, "traceEvents": EVENTS}
    if rank is not None:
        whole["distributedInfo"] = {"rank": rank, "world_size": 2}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(whole))
    return path


def check_everywhere(path, told):
    for words in (["steps"], ["clocks"], ["critical-path"], ["overview"], ["info"], ["diagnose"],
                  ["what-if"], ["steps", "--rank", "all"]):
        assert document(*words, path)["run"] == told, words
    for words in (["snapshot", path], ["snapshot", path, "summary"]):
        assert document(*words)["run"] == told, words
    compared = document("diff", path, path)
    assert [side["identity"] for side in compared["runs"]] == [told, told]
    assert all("run" not in table for table in compared["tables"])
    assert json.loads(run("ask", "job", path))["run"] == told
    assert json.loads(run("ask", "view/steps", path))["run"] == told


def check_text(path):
    line = ("Run: 3fq1x7 · 2024-07-01 17:11:24 UTC · host node-17.corp · commit 9f3c2ab0d1 "
            "· torchrun")
    for words in (["steps", path], ["overview", path], ["diagnose", path], ["diff", path, path],
                  ["snapshot", path, "summary"]):
        for form in ("text", "markdown"):
            out = run(*words, "--format", form, "--width", "200")
            assert line in out.replace("\\", ""), (words, form, out[:400])
    lines = run("steps", path, "--width", "80").splitlines()
    narrow = [text for text in lines if text.startswith("Run:")]
    assert len(narrow) == 1 and len(narrow[0]) <= 80 and narrow[0].endswith("…"), narrow
    assert "3fq1x7" not in run("steps", path, "--format", "csv")


def check_files(path):
    table = document("files", path)
    row = dict(zip([column["name"] for column in table["columns"]], table["rows"][0]))
    assert row["run_id"] == TOLD["id"] and row["start_ns"] == TOLD["start_ns"]
    assert row["command"] == TOLD["command"] and row["commit"] == TOLD["commit"]


def check_ranks(folder):
    write(folder / "job/rank0.json", {**FULL, "trace_id": "T0"}, 0)
    write(folder / "job/rank1.json", {**FULL, "host_name": "node-18", "trace_id": "T1"}, 1)
    told = document("ranks", folder / "job")["run"]
    assert told == {**TOLD, "hosts": 2}, told
    assert document("steps", "--rank", "1", folder / "job")["run"]["host"] == "node-18"
    assert "· 2 hosts ·" in run("ranks", folder / "job", "--width", "200")
    write(folder / "ids/rank0.json", {"trace_id": "T0"}, 0)
    write(folder / "ids/rank1.json", {"trace_id": "T1"}, 1)
    assert document("ranks", folder / "ids")["run"]["id"] is None
    assert document("steps", "--rank", "1", folder / "ids")["run"]["id"] == "T1"


def check_copies(path, folder):
    run("pack", path, "--force")
    assert document("steps", path.with_suffix(".stepscope"))["run"] == TOLD
    copy = folder / "copy.json"
    run("redact", path, "-o", copy)
    told = document("steps", copy)["run"]
    assert told["start_ns"] == TOLD["start_ns"] and told["hosts"] == 1, told
    for key in ("id", "host", "command", "commit"):
        assert told[key] and told[key] != TOLD[key], (key, told)
    assert not [word for word in SECRETS if word in copy.read_text()]


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        path = write(folder / "trace.json", FULL)
        check_everywhere(path, TOLD)
        check_text(path)
        check_files(path)
        bare = write(folder / "bare.json", {})
        check_everywhere(bare, NOTHING)
        assert "Run:" not in run("steps", bare) + run("diagnose", bare)
        for metadata, expected in SPELLINGS:
            told = document("steps", write(folder / "spelt.json", metadata))["run"]
            assert told == {**NOTHING, **expected}, (metadata, told)
        long = document("steps", write(folder / "long.json", {"command": "é" * 100_000}))["run"]
        assert len(long["command"].encode()) < 2100 and long["command"].endswith("é…"), long
        check_ranks(folder)
        check_copies(path, folder)
        assert "run" not in document("explain")
    print(f"identity: {len(SPELLINGS)} spellings")


if __name__ == "__main__":
    main()
