#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py - examples/ are compiled with what is installed, run, and say what the command says.

Usage: examples.py STEPSCOPE SOURCE_ROOT BUILD_ROOT. The example at the top of the header is
examples/steps.c, line by line. All ranks of a job appear, and a file that does not say its rank.
"""

import csv
import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(build, folder):
    """Returns what programs are compiled with, as pkg-config of the installed library says."""
    meson = shutil.which("meson")
    run(meson, "install", "-C", build, "--no-rebuild", "--destdir", folder)
    places = [str(path.parent) for path in folder.rglob("stepscope.pc")]
    assert len(places) == 1, places
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=places[0],
                       PKG_CONFIG_SYSROOT_DIR=str(folder))
    flags = run("pkg-config", "--cflags", "--libs", "stepscope", env=environment).split()
    libraries = [flag[2:] for flag in flags if flag.startswith("-L")]
    assert libraries, flags
    return flags + [f"-Wl,-rpath,{place}" for place in libraries]


def header_example(folder):
    """The indented lines of the header's first comment."""
    [header] = folder.rglob("stepscope.h")
    comment = header.read_text().split("*/")[1]
    lines = [line for line in comment.splitlines() if line.startswith(" *     ") or line == " *"]
    first = next(i for i, line in enumerate(lines) if "#include" in line)
    last = max(i for i, line in enumerate(lines) if line.startswith(" *     "))
    return "".join(line[7:] + "\n" for line in lines[first:last + 1])


def check_header(source, folder):
    example = (source / "examples/steps.c").read_text().splitlines(keepends=True)
    wanted = "".join(example[2:])
    found = header_example(folder)
    assert found == wanted, f"the header's example is not examples/steps.c:\n{found}"
    print("the header's example: the same as examples/steps.c")


def compile_all(source, folder, flags):
    programs = {}
    for path in sorted((source / "examples").iterdir()):
        if path.suffix not in (".c", ".cpp"):
            continue
        compiler = ["cc", "-std=c17", "-D_POSIX_C_SOURCE=200809L"]
        if path.suffix == ".cpp":
            compiler = ["c++", "-std=c++17"]
        if not shutil.which(compiler[0]):
            sys.exit(f"no {compiler[0]} here: tools/setup installs it")
        programs[path.stem] = str(folder / path.stem)
        run(*compiler, *FLAGS, path, "-o", programs[path.stem], *flags)
    print("compiled:", *programs)
    return programs


def make_job(stepscope, folder):
    """Eight ranks, and one of them as a file that does not say which it is."""
    job, alone = folder / "job", folder / "alone.json"
    run(stepscope, "sim", "--preset", "ddp8-slow", "--steps", "6", "--output", job)
    trace = json.loads(gzip.decompress((job / "rank3.json.gz").read_bytes()))
    trace.pop("distributedInfo", None)
    alone.write_text(json.dumps(trace))
    return job, alone


def ranks_of(text):
    return {row["rank"] for row in csv.DictReader(io.StringIO(text))}


def check_steps(stepscope, program, job, alone):
    out = run(program, job)
    assert ranks_of(out) == {str(rank) for rank in range(8)}, out
    assert out == run(stepscope, "steps", "--format", "csv", job)
    out = run(program, alone)
    assert len(out.splitlines()) > 2 and ranks_of(out) == {""}, out
    failed = subprocess.run([program, "/nothing/here"], capture_output=True, text=True)
    assert failed.returncode == 1 and "/nothing/here" in failed.stderr, failed
    print("steps: 8 ranks, and a file without one")


def timeless(text):
    """Without how long the load took."""
    return re.sub(r" in [\d.]+ m?s\b", "", text)


def check_others(stepscope, programs, job, alone):
    verdict = timeless(run(stepscope, "diagnose", "--width", "80", job))
    assert timeless(run(programs["verdict"], job)) == verdict
    assert timeless(run(programs["progress"], job)) == verdict
    assert "No steps" not in run(programs["verdict"], alone)
    wanted = run(stepscope, "diff", "--width", "80", job, job / "rank3.json.gz")
    assert run(programs["compare"], job, job / "rank3.json.gz") == wanted
    with open(job / "rank0.json.gz", "rb") as trace:
        out = run(programs["from_memory"], stdin=trace)
    assert out.splitlines()[3:] and "nccl" in out, out
    print("verdict, progress, compare, from_memory: as the command says")


def check_cancel(stepscope, program, folder):
    """Ctrl-C while files are read ends it in order."""
    job = folder / "long"
    run(stepscope, "sim", "--preset", "ddp8-slow", "--steps", "40", "--output", job)
    with subprocess.Popen([program, job], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130 and not out and "stopped" in err, (process.returncode, err)
    print("progress: Ctrl-C ends it")


def main():
    stepscope, source, build = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = install(build, folder / "installed")
        check_header(source, folder / "installed")
        programs = compile_all(source, folder, flags)
        job, alone = make_job(stepscope, folder)
        check_steps(stepscope, programs["steps"], job, alone)
        check_others(stepscope, programs, job, alone)
        check_cancel(stepscope, programs["progress"], folder)


main()
