# SPDX-License-Identifier: Apache-2.0
"""Whatever happens around a recording: training goes on, with the same loss and exit code."""

import gzip
import json
import re

import pytest

ONE = r"rank0\.[\w-]+\.\d+\.\d{13}\.cycle0\.json\.gz"
# what each scenario leaves in the folder, and a part of what is said
WRITTEN = {
    "recorded": 1,
    "verdict": 1,
    "memory": 1,
    "repeated": 2,
    "same_folder_again": 2,
    "handler": 1,
    "folder_vanishes": 1,
    "group_gets_signals": 1,
    "fork_in_the_loop": 1,
    "forked_child_steps": 1,
    "workers": 1,
    "multiprocessing_fork": 1,
    "handler_waits_for_children": 1,
    "children_are_ignored": 1,
    "no_more_processes": 1,
    "many_files": 1,
    "interrupted": 1,
    "loop_fails": 1,
    "nested": 1,
    "twice": 2,
    "started_twice": 1,
    "ends_while_recording": 1,
    "threads": 1,
    "no_standard_files": 1,
    "in_a_coroutine": 1,
    "in_a_generator": 1,
    "forked": 1,
    "fork_ends_the_process": 1,
    "slower_afterwards": 1,
    "not_slower_afterwards": 2,
}
SAID = {
    "folder_is_a_file": "nothing is recorded: cannot write to '/mnt/out/.*': File exists",
    "folder_below_a_file": "nothing is recorded: .*Not a directory",
    "no_permission": "nothing is recorded: .*Permission denied",
    "disk_fails": "nothing is recorded: .*Input/output error",
    "disk_hangs": "nothing is recorded: cannot look at .*: that took longer than 10 s",
    "disk_begins_to_hang": "is still being written",
    "disk_is_full": "nothing is recorded: .*No space left on device",
    "disk_becomes_full": "was not written: .*No space left on device",
    "disk_becomes_read_only": "was not written: .*Read-only file system",
    "local_disk_is_full": "was not written: .*is '/mnt/out/local' full or failing",
    "no_local_disk": "nothing is recorded: cannot write to '/dev/null/x'",
    "forked": "fork=True copies the training process",
    "fork_ends_the_process": "1 rank · 2 steps",
    "slower_afterwards": "slower since the recording(.|\n)*nothing is recorded: training was",
    "writer_is_killed": "was ended by SIGKILL",
    "nested": "another recording is going on",
    "started_twice": "has been started already",
    "other_profiler_outside": "another profiler of PyTorch is recording",
    "other_profiler_inside": "was not written: another profiler of PyTorch has ended this one",
    "never_stepped": "0 steps were done, and the first recording ends after 5",
    "too_few_steps": "9 steps were done, and the first recording ends after 103",
    "step_in_a_thread": r"step\(\) has no effect in another thread",
    "bad_arguments": "steps is 'x', and must be a number of 1 or more(.|\n)*is no folder",
    "warnings_are_errors": "^stepscope: nothing is recorded",
    "verdict": "1 rank · 2 steps",
    "same_folder_again": "This is run 2, the newest complete one",
}
QUIET = {"plain", "not_enabled"}


def test_every_scenario_is_judged(scenario):
    assert set(scenario.names) == {*WRITTEN, *SAID, *QUIET, "ended_by_sigterm"}


@pytest.mark.parametrize("name", sorted({*WRITTEN, *SAID, *QUIET}))
def test_training_goes_on(scenario, name):
    result = scenario(name)
    assert result["exit"] == 0, result["said"]
    assert result["loss"] == scenario("plain")["loss"]
    assert result["zombies"] == 0
    assert len(result["files"]) == WRITTEN.get(name, 0), result["files"]
    assert all(re.fullmatch(r"rank0\..*\.cycle\d\.json\.gz", file) for file in result["files"])
    if name in SAID:
        assert re.search(SAID[name], result["said"], re.MULTILINE), result["said"]
    else:
        assert "stepscope: " not in result["said"]


def test_names_and_flags(scenario):
    result = scenario("recorded")
    assert re.fullmatch(ONE, result["files"][0])
    with gzip.open(scenario.out / "recorded" / result["files"][0], "rt") as trace:
        flags = json.load(trace)
    assert (flags["record_shapes"], flags["with_stack"]) == (1, 1)
    steps = {event["name"] for event in flags["traceEvents"] if "ProfilerStep#" in event["name"]}
    assert steps == {"ProfilerStep#3", "ProfilerStep#4"}


def test_ended_by_sigterm(scenario):
    """The signal ends training as it does without the helper; the file is completed."""
    result = scenario("ended_by_sigterm")
    assert result["exit"] == -15 and len(result["files"]) == 1
    assert re.fullmatch(ONE, result["files"][0])


def test_a_disk_that_hangs_costs_the_limit(scenario):
    """Training does not notice it; the end waits for the two seconds that it was given."""
    result = scenario("disk_begins_to_hang")
    assert 2 <= result["all_s"] - result["trained_s"] < result["trained_s"] + 20


def test_an_interrupt_is_not_held_up(scenario):
    """The with statement does not wait for files (limit: 20 s) when the loop has failed."""
    assert scenario("interrupted")["took_s"] < 15
