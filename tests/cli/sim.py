#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sim and demo as their users meet them: lists, typos, folders, Ctrl-C.

Usage: sim.py STEPSCOPE.
"""
import json
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

checks = failures = 0


def check(what, holds, found=""):
    global checks, failures
    checks += 1
    if not holds:
        failures += 1
        print(f"{what}: does not hold: {found!r}")


def run(stepscope, *words, folder=None):
    return subprocess.run([stepscope, *words], capture_output=True, text=True, cwd=folder)


def lists(stepscope):
    presets = json.loads(run(stepscope, "sim", "--list", "--format", "json").stdout)
    names = [row[0] for row in presets["rows"]]
    check("presets are unique", len(set(names)) == len(names) >= 60, len(names))
    check("healthy ones", sum(name.endswith("-healthy") for name in names) >= 15, names)
    causes = json.loads(run(stepscope, "sim", "--list-causes", "--format", "json").stdout)
    planted = " ".join(str(row) for row in presets["rows"])
    for row in causes["rows"]:
        check(f"{row[0]} is planted somewhere", f"{row[0]}=" in planted)
    text = run(stepscope, "sim", "--list", "--width", "80").stdout
    check("lines fit 80 columns", max(map(len, text.splitlines())) <= 80)


def wrong_usage(stepscope):
    wanted = {
        ("sim",): "--list",
        ("sim", "--preset", "ddp8-stragler"): "did you mean 'ddp8-straggler'",
        ("sim", "--preset", "nothing-like-it"): "--list",
        ("sim", "trace.json"): "--preset",
        ("sim", "--layout", "ddp"): "--output",
        ("sim", "-p", "gpu1-healthy", "--cause", "straggler", "-o", "x"): "cannot have",
        ("sim", "-p", "gpu1-healthy", "--cause", "sync-item=7", "-o", "x"): "0.001 to 1",
        ("sim", "-p", "gpu1-healthy", "--set", "colour=1", "-o", "x"): "--list-settings",
        ("sim", "-p", "gpu1-healthy", "--drift-ppm", "9999", "-o", "x"): "1000",
        ("demo", "trace.json"): "takes no paths",
    }
    for words, sentence in wanted.items():
        result = run(stepscope, *words)
        check(f"{words}: exit code", result.returncode == 2, result.returncode)
        check(f"{words}: sentence", sentence in result.stderr, result.stderr)


def folders(stepscope, root):
    job = root / "job"
    run(stepscope, "sim", "-p", "ddp8-healthy", "--ranks", "4", "--steps", "1", "-o", str(job))
    check("four ranks", len(list(job.glob("rank*.json.gz"))) == 4)
    (job / "rank9.json.gz.tmp").write_text("left over")
    run(stepscope, "sim", "-p", "gpu1-healthy", "--steps", "1", "-o", str(job), "--plain")
    names = sorted(path.name for path in job.iterdir())
    check("only the new job is there", names == ["rank0.json", "truth.json"], names)
    own = root / "own"
    own.mkdir()
    (own / "rank3.json").write_text("mine")
    result = run(stepscope, "sim", "-p", "gpu1-healthy", "-o", str(own))
    check("traces of others are refused", result.returncode == 2, result.stderr)
    check("and kept", (own / "rank3.json").read_text() == "mine")
    result = run(stepscope, "sim", "-p", "gpu1-healthy", "-o", str(root / "no" / "such"))
    check("no folder to make it in", result.returncode == 1, result.stderr)


def ctrl_c(stepscope, root):
    """A job that would take minutes, stopped after its first rank."""
    job = root / "stopped"
    command = [stepscope, "sim", "-p", "ddp8-healthy", "--ranks", "512", "--steps", "40"]
    process = subprocess.Popen([*command, "-o", str(job)], stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if any(root.glob(".stepscope.*.part/rank*.json.gz")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1]
    check("stopped", process.returncode == 130 and "stopped" in error, error)
    check("nothing is left of it", not job.exists() and not list(root.glob(".stepscope*")))


def demo(stepscope, root):
    result = run(stepscope, "demo", "-o", "a job", folder=root)
    check("demo", result.returncode == 0, result.stderr)
    check("demo tells what is planted", "sync-item" in result.stdout, result.stdout[:200])
    verdict = result.stdout.split("What stepscope finds in its traces")[1]
    for cause in ("waits for input", "Rank 0", "aten::item"):
        check(f"and finds it again: {cause}", cause in verdict, verdict)
    check("its lines fit 80 columns", max(map(len, result.stdout.splitlines())) <= 80)
    lines = result.stdout.split("Try next")[1].splitlines()
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("  stepscope ")]
    check("and the viewer", ["serve", "a job"] in commands, lines)
    for words in commands:
        if words[0] != "serve":
            result = run(stepscope, *words, folder=root)
            check(f"a line that can be pasted: {words}", result.returncode == 0, result.stderr)


def main():
    stepscope = str(pathlib.Path(sys.argv[1]).resolve())
    lists(stepscope)
    wrong_usage(stepscope)
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        folders(stepscope, root)
        ctrl_c(stepscope, root)
        demo(stepscope, root)
    print(f"{checks} checks, {failures} failed")
    return 1 if failures or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
