# SPDX-License-Identifier: Apache-2.0
"""Four ranks with gloo: whatever happens to the recording, training ends with its own exit code."""

import gzip
import json
import re

import pytest

DONE = [0, 0, 0, 0]
ABORTED = [-6, -6, -6, -6]
ALL = {0, 1, 2, 3}
# how the ranks end, which of them have a file, and what is said
CASES = {
    "healthy": (DONE, ALL, "4 ranks · 3 steps"),
    "fork_ends_the_process": (DONE, ALL, "4 ranks · 3 steps"),
    "fork_asked_for": (ABORTED, set(), "with RDMA .* can end or hang the training"),
    "full_disk": (DONE, set(), "was not written: .*No space left on device"),
    "full_local_disk": (DONE, set(), "was not written: .*full or failing"),
    "read_only_folder": (DONE, set(), "nothing is recorded: .*Read-only file system"),
    "wrong_argument": (DONE, set(), "nothing is recorded: steps is 'three'"),
    "helper_killed": (DONE, {0, 1, 3}, "was ended by SIGKILL"),
    "rank_stopped": (DONE, ALL, "4 ranks · 3 steps"),
    "two_recorders": (DONE, ALL, "another recording is going on"),
    "second_profiler": (DONE, {0, 1, 3}, "another profiler of PyTorch has ended this one"),
    "exception": (None, ALL, "MyError was raised"),
    "exception_while_recording": (None, None, "MyError was raised"),
    "rank_killed": (None, None, "Connection closed by peer"),
}
# their ranks end as they do without a recorder
FAILING = ["exception", "exception_while_recording", "rank_killed"]


@pytest.fixture(scope="session")
def case(inside, tmp_path_factory):
    out = tmp_path_factory.mktemp("survives")
    done = inside(out, "survive.py", "healthy_off", *CASES, *(f"{name}_off" for name in FAILING))
    assert done.returncode == 0, done.stderr
    results = {each["case"]: each for each in map(json.loads, done.stdout.splitlines())}
    for name, each in results.items():
        each["folder"] = out / name / "traces"
    return results


def whole(path):
    """A file that has its name is a complete trace."""
    with gzip.open(path, "rt") as trace:
        events = json.load(trace)["traceEvents"]
    return len({event["name"] for event in events if "ProfilerStep#" in event["name"]}) > 0


@pytest.mark.parametrize("name", CASES)
def test_training_survives(case, name):
    codes, ranks, words = CASES[name]
    result = case[name]
    said = "\n".join(result["said"])
    assert result["codes"] == (codes or case[f"{name}_off"]["codes"]), said
    if codes == DONE:
        assert result["digests"] == case["healthy_off"]["digests"]
    assert re.search(words, said), said
    assert all(re.fullmatch(r"rank\d\..*\.cycle0\.json\.gz", file) for file in result["files"])
    assert all(whole(result["folder"] / file) for file in result["files"])
    if ranks is not None:
        assert {int(file[4]) for file in result["files"]} == ranks, said
    if codes != ABORTED and name != "rank_killed":  # who is ended removes nothing
        assert result["local"] == []


def test_said_before_the_first_step(case):
    """Kineto says when it starts: what is wrong was said before."""
    for name in ("read_only_folder", "wrong_argument"):
        assert all("profiler_start" not in said for said in case[name]["said"])


def test_a_stopped_rank_ends_a_little_later(case):
    assert 2 <= case["rank_stopped"]["took_s"] < case["healthy"]["took_s"] + 30
