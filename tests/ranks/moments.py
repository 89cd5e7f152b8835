#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moments of the view collectives, put on the timeline by what the route `job` says.

Usage: moments.py STEPSCOPE. Collectives of simulated jobs, also with clocks that are apart, must
begin where one of their kernels begins on the timeline; where ranks did not meet nothing is said.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# The clock of the collectives and that of the timeline round a drift each for itself.
ROUNDING_NS = 2

JOBS = [
    ("ddp8-healthy", []),
    ("ddp8-healthy", ["--clock-offset-ms", "40", "--drift-ppm", "30"]),
    ("pp4-healthy", []),
]


def asked(stepscope, request, path):
    command = [stepscope, "ask", request, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def simulated(stepscope, preset, options, folder):
    small = ["--set", "layers=4", "--steps", "2"]
    command = [stepscope, "sim", "--preset", preset, *small, *options, "-o", str(folder)]
    subprocess.run(command, capture_output=True, check=True)


def check_job(stepscope, folder):
    """The collectives that begin where no kernel of theirs does."""
    zero = asked(stepscope, "job", folder)["collectives_ns"]
    table = asked(stepscope, "view/collectives", folder)
    at = [column["name"] for column in table["columns"]].index("at_ns")
    hits = asked(stepscope, "search?q=nccl&kind=kernel&limit=10000", folder)["hits"]
    slacks = range(-ROUNDING_NS, ROUNDING_NS + 1)
    starts = {hit["start_ns"] + slack for hit in hits for slack in slacks}
    moments = [zero + row[at] for row in table["rows"]]
    assert moments and hits, f"{folder.name}: no collectives"
    return [moment for moment in moments if moment not in starts]


def main():
    stepscope = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        for number, (preset, options) in enumerate(JOBS):
            folder = pathlib.Path(scratch) / f"{preset}{number}"
            simulated(stepscope, preset, options, folder)
            wrong = check_job(stepscope, folder)
            assert not wrong, f"{preset} {options}: nothing begins at {wrong[:5]} ns"
        alone = next(pathlib.Path(scratch).glob("ddp8-healthy0/*0.json.gz"))
        assert asked(stepscope, "job", alone)["collectives_ns"] is None, "one rank meets nobody"
    print(f"moments: {len(JOBS)} jobs")


if __name__ == "__main__":
    main()
