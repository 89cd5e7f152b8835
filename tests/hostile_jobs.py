#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs everything on hostile jobs of several ranks, and checks what must hold of any figure.

Usage: hostile_jobs.py STEPSCOPE EVERYTHING [--jobs N] [--seed N] [--maker FILE]

Each seed makes a job (hostile_input/jobs.py, or the function make(seed, folder) of FILE).
EVERYTHING (tests/everything.c) opens it once and runs all views in all groups, the verdict,
what-if, a comparison and routes of the viewer; STEPSCOPE runs one command more, which the seed
chooses. Nothing may crash, hang or be reported by a sanitizer; JSON is strict; the parts of steps,
budgets and the account of the verdict sum to their wholes; no duration is negative.

Without --seed, STEPSCOPE_SEED chooses the jobs.
"""
import argparse
import collections
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from hostile_input import jobs
from hostile_input.making import rows_of
from hostile_input.running import Failed, Runner, strict_json
from support.chosen import seed as chosen_seed

SECONDS_MAX = 60
PROGRESS = 500  # jobs between two lines
BREAKDOWN = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns",
             "dataloader_ns", "cpu_ns", "other_ns")
BUDGET = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
ACCOUNT = ("explained_ns", "compute_ns", "communication_ns", "copies_ns", "host_ns",
           "unexplained_ns")
BINARY = ("strips", "tiles", "path?")  # columns of numbers
OVERLAPS = "kernel_wait_ns"  # of the view streams: overlapping kernels count below zero
# moments, differences of clocks and changes have a sign
SIGNED = ("start", "end", "origin", "offset", "change", "first", "last", "at_", "base", "drift",
          "diff", "skew", "moment", "began")


def documents(out):
    """name: bytes or a sentence (str), of what everything.c prints."""
    found, at = {}, 0
    while at < len(out):
        end = out.index(b"\n", at)
        name, _, rest = out[at:end].decode(errors="replace").partition(" ")
        at = end + 1
        if rest.startswith("!"):
            found[name] = rest[2:]
            continue
        found[name] = out[at:at + int(rest)]
        at += int(rest) + 1
    return found


def run_everything(program, paths, slowness):
    try:
        ran = subprocess.run([program, *paths], stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=SECONDS_MAX * slowness, check=False)
    except subprocess.TimeoutExpired as hang:
        raise Failed(f"took more than {SECONDS_MAX * slowness} s after "
                     f"{last_of(hang.stdout)}") from hang
    said = ran.stderr.decode(errors="replace")
    if ran.returncode or said:
        lines = [line for line in said.splitlines() if "rror" in line or " #" in line]
        raise Failed(f"everything ended with {ran.returncode} after {last_of(ran.stdout)}: "
                     f"{' | '.join(lines[:8])}")
    return documents(ran.stdout)


def last_of(out):
    lines = (out or b"").split(b"\n")
    names = [line for line in lines if line.startswith((b"view/", b"compare", b"open"))]
    return names[-1].decode(errors="replace") if names else "nothing"


def sums(name, row, parts, whole):
    if sum(row[part] for part in parts) != row[whole]:
        raise Failed(f"{name}: {[row[part] for part in parts]} do not sum to {whole} {row[whole]}")


def check_signs(name, table):
    for column in table["columns"]:
        key = column["name"]
        if column["unit"] != "ns" or key == OVERLAPS or any(word in key for word in SIGNED):
            continue
        for row in rows_of(table):
            if isinstance(row[key], (int, float)) and row[key] < 0:
                raise Failed(f"{name}: {key} is {row[key]}")


def check_table(name, table):
    check_signs(name, table)
    rows = rows_of(table)
    if name == "view/breakdown?group=step":
        for row in rows:
            sums(name, row, BREAKDOWN, "dur_ns")
    if name == "view/budget?group=step":
        for row in rows:
            sums(name, row, BUDGET, "dur_ns")


def check_verdict(name, document):
    account = document["account"]
    if account:
        sums(name, account, ACCOUNT, "step_ns")
        if min(value for value in account.values() if isinstance(value, int)) < 0:
            raise Failed(f"{name}: {account}")
    if document["step_ns"] is None:
        if document["fixed_step_ns"] is not None or account:
            raise Failed(f"{name}: a fixed step without a step")
    elif min(document["step_ns"], document["fixed_step_ns"]) < 0:
        raise Failed(f"{name}: a step below 0")


def check_documents(found):
    for name, body in found.items():
        if isinstance(body, str):
            if not body.strip():
                raise Failed(f"{name}: refused without a sentence")
            continue
        if "format=" in name or name == "open":
            body.decode()
            continue
        if name.startswith(BINARY):
            continue
        try:
            document = strict_json(body)
        except Failed as problem:
            raise Failed(f"{name}: {problem}") from problem
        if name in ("view/diagnose", "view/what-if"):
            check_verdict(name, document)
        elif name.startswith("view/") and "columns" in document:
            check_table(name, document)


def one_command(runner, seed, job, scratch):
    """What everything.c does not call: commands that write, and text."""
    out, rank = str(scratch / "out"), str(min(pathlib.Path(job).iterdir()))
    commands = (
        ("diagnose", job), ("what-if", "--format", "json", job), ("diff", job, job),
        ("merge", "-o", out + ".json", job), ("pack", "-o", out, rank),
        ("report", "-o", out + ".html", job), ("overview", "--rank", "all", job),
        ("snapshot", job), ("ranks", "--format", "csv", job), ("info", "--format", "markdown", job),
    )
    words = commands[seed % len(commands)]
    ran = runner.run(*words, codes=(0, 1, 2))
    if ran.code == 0 and words[0] == "merge":
        strict_json(pathlib.Path(out + ".json").read_bytes())
    if ran.code == 0 and words[0] == "pack":
        runner.run("info", "--format", "json", out)
    return words[0]


def maker_of(path):
    if not path:
        return jobs.make
    spec = importlib.util.spec_from_file_location("maker", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("stepscope")
    parser.add_argument("everything")
    parser.add_argument("--jobs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=chosen_seed() * 1000)
    parser.add_argument("--maker")
    options = parser.parse_args()
    runner, make = Runner(options.stepscope), maker_of(options.maker)
    counts, failed, began, asked = collections.Counter(), 0, time.time(), 0
    for seed in range(options.seed, options.seed + options.jobs):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="hostile_jobs"))
        try:
            make(seed, str(scratch / "job"))
            found = run_everything(options.everything, [str(scratch / "job")], runner.slowness)
            check_documents(found)
            asked += len(found)
            counts["refused" if isinstance(found["open"], str) else "read"] += 1
            counts[one_command(runner, seed, str(scratch / "job"), scratch)] += 1
        except (Failed, UnicodeDecodeError) as problem:
            failed += 1
            print(f"FAILED seed {seed}: {problem}", flush=True)
        shutil.rmtree(scratch)
        if (seed + 1 - options.seed) % PROGRESS == 0:
            print(f"{seed + 1 - options.seed} jobs, {failed} failed", flush=True)
    print(f"hostile jobs: {options.jobs} from seed {options.seed}, {asked} answers, "
          f"{dict(counts)}, {failed} failed, {time.time() - began:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
