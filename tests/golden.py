#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole commands and their whole output.

Usage: golden.py STEPSCOPE [FOLDER]. Every tests/golden/NAME/COMMAND.txt holds the command line in
its first line, with {trace} for the trace of that folder (trace.json, or the folder traces), and
below it exactly what must come out. UPDATE_GOLDEN=1 rewrites them; read the diff.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

# how long loading took is nobody's business here
LOAD_TIME = re.compile(r"in \d+\.\d+ s\b")


def output_of(stepscope, command, folder):
    # relative, so that no machine's paths get into the output
    trace = "trace.json" if (folder / "trace.json").exists() else "traces"
    words = shlex.split(command.replace("{trace}", trace))
    assert words[0] == "stepscope", command
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        [stepscope, *words[1:]], cwd=folder, capture_output=True, env=environment, timeout=30
    )
    text = (result.stdout + result.stderr).decode().replace("\r\n", "\n")
    if result.returncode:
        text += f"[exit code {result.returncode}]\n"
    return LOAD_TIME.sub("in 0.00 s", text)


def first_difference(found, wanted):
    pairs = zip(found.splitlines() + ["(end)"], wanted.splitlines() + ["(end)"])
    return next(((a, b) for a, b in pairs if a != b), ("(same lines)", "(same lines)"))


def main():
    stepscope = str(pathlib.Path(sys.argv[1]).resolve())
    root = pathlib.Path(__file__).parent / "golden"
    if len(sys.argv) > 2:
        root = pathlib.Path(sys.argv[2])
    update = os.environ.get("UPDATE_GOLDEN") == "1"
    checked = failed = 0
    for path in sorted(root.glob("*/*.txt")):
        command, _, wanted = path.read_text().partition("\n")
        found = output_of(stepscope, command, path.parent)
        checked += 1
        if update:
            path.write_text(f"{command}\n{found}")
        elif found != wanted:
            failed += 1
            ours, theirs = first_difference(found, wanted)
            print(f"{path.relative_to(root)}: {command}\n  found:  {ours}\n  wanted: {theirs}")
    print(f"{checked} commands, {failed} differ")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
