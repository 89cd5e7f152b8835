#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole commands and their whole output.

Usage: golden.py STEPSCOPE [TRACES]. Every tests/golden/NAME/COMMAND.txt holds the command line in
its first line, with {trace} for the input of that folder, and below it exactly what must come out;
no line of text has more columns than asked for (--width, else 80). The input is trace.json or the
folder traces there, or the file `input` says in one line where it is to be had:

    traces PATH     a real trace, below TRACES; without it the folder is left out, and that is said
    recorded NAME   recorded with PyTorch on a CPU, below tests/torch/recorded
    sim OPTIONS     `stepscope sim OPTIONS` makes it

UPDATE_GOLDEN=1 rewrites the outputs; read the diff.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent
WIDEST = 80
# how long loading took is nobody's business here
LOAD_TIME = re.compile(r"in \d+\.\d+ s\b")


def run(stepscope, words, folder):
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run([stepscope, *words], cwd=folder, capture_output=True, env=environment,
                          timeout=60)


def input_of(stepscope, folder, traces, made):
    """Where to stand and what to name there, so that no machine's paths get into the output."""
    if (folder / "trace.json").exists():
        return folder, "trace.json"
    if not (folder / "input").exists():
        return folder, "traces"
    kind, *rest = shlex.split((folder / "input").read_text())
    if kind == "sim":
        assert run(stepscope, ["sim", *rest, "-o", "traces"], made).returncode == 0, folder
        return made, "traces"
    root = {"traces": traces, "recorded": ROOT / "torch/recorded"}[kind]
    return root, rest[0]


def output_of(stepscope, command, place, trace):
    words = shlex.split(command.replace("{trace}", trace))
    assert words[0] == "stepscope", command
    result = run(stepscope, words[1:], place)
    text = (result.stdout + result.stderr).decode().replace("\r\n", "\n")
    if result.returncode:
        text += f"[exit code {result.returncode}]\n"
    return LOAD_TIME.sub("in 0.00 s", text)


def first_difference(found, wanted):
    pairs = zip(found.splitlines() + ["(end)"], wanted.splitlines() + ["(end)"])
    return next(((a, b) for a, b in pairs if a != b), ("(same lines)", "(same lines)"))


def problem_of(command, found, wanted):
    """What is wrong with an output, or None."""
    if found != wanted:
        ours, theirs = first_difference(found, wanted)
        return f"\n  found:  {ours}\n  wanted: {theirs}"
    width = re.search(r"--width (\d+)", command)
    widest = int(width[1]) if width else WIDEST
    wide = [line for line in found.splitlines() if len(line) > widest]
    if wide and "--format" not in command:
        return f"\n  {len(wide[0])} columns: {wide[0]}"
    return None


def check_folder(stepscope, folder, traces, update):
    """Returns how many commands were run, how many failed; (0, 0) without the input."""
    checked = failed = 0
    with tempfile.TemporaryDirectory() as made:
        place, trace = input_of(stepscope, folder, traces, pathlib.Path(made))
        if not (place / trace).exists():
            print(f"{folder.name}: left out, {trace} is not there")
            return 0, 0
        for path in sorted(folder.glob("*.txt")):
            command, _, wanted = path.read_text().partition("\n")
            found = output_of(stepscope, command, place, trace)
            if update:
                path.write_text(f"{command}\n{found}")
                wanted = found
            problem = problem_of(command, found, wanted)
            checked += 1
            failed += problem is not None
            if problem:
                print(f"{folder.name}/{path.name}: {command}{problem}")
    return checked, failed


def main():
    stepscope = str(pathlib.Path(sys.argv[1]).resolve())
    traces = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT.parent / "../shared/traces")
    update = os.environ.get("UPDATE_GOLDEN") == "1"
    folders = sorted(path for path in (ROOT / "golden").iterdir() if path.is_dir())
    counts = [check_folder(stepscope, folder, traces, update) for folder in folders]
    checked, failed = (sum(column) for column in zip(*counts))
    print(f"{checked} commands, {failed} failed")
    if failed:
        print("if intended: UPDATE_GOLDEN=1 tests/golden.py STEPSCOPE; read the diff")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
