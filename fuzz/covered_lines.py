#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""covered_lines.py - lines that were run, by folder and file; a part of coverage.sh.

    llvm-cov export -format=lcov ... | fuzz/covered_lines.py MISSED FOLDER...

With MISSED not empty the lines themselves that were not.
"""
import os
import sys
from collections import defaultdict


def read_lines(stream, folders):
    """{file: {line: runs}} of the files in these folders."""
    found, lines = defaultdict(dict), {}
    for text in stream:
        what, _, rest = text.strip().partition(":")
        if what == "SF":
            name = os.path.relpath(rest)
            lines = found[name] if os.path.dirname(name) in folders else {}
        elif what == "DA":
            number, runs = map(int, rest.split(",")[:2])
            lines[number] = max(runs, lines.get(number, 0))
    return found


def print_missed(found):
    for name in sorted(found):
        with open(name, encoding="utf-8") as file:
            texts = file.read().split("\n")
        for number in sorted(found[name]):
            if not found[name][number]:
                print(f"{name}:{number}:{texts[number - 1]}")


def print_shares(found):
    counts = defaultdict(lambda: [0, 0])
    for name, lines in found.items():
        for key in (name, os.path.dirname(name)):
            counts[key][0] += len(lines)
            counts[key][1] += sum(runs > 0 for runs in lines.values())
    # folders first
    for name in sorted(counts, key=lambda name: ("." in name, name)):
        count, covered = counts[name]
        if count:
            print(f"{name:36} {count:6} lines {100 * covered / count:6.1f} %")


if __name__ == "__main__":
    FOUND = read_lines(sys.stdin, sys.argv[2:])
    if sys.argv[1]:
        print_missed(FOUND)
    else:
        print_shares(FOUND)
