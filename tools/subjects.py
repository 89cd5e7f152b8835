#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""subjects.py - subjects of commits: `folder: what changes`, below 65 characters.

    tools/subjects.py [REVISIONS]

REVISIONS is what `git log` takes (main..HEAD); without it the newest 20 commits are read. Merges
have the subjects that git gives them.
"""
import re
import subprocess
import sys

MOST = 64
FORM = re.compile(r"[a-z_.*/{}][\w .,*/{}-]*: \S.*[^.\s]")


def problem_of(subject):
    if len(subject) > MOST:
        return f"{len(subject)} characters, at most {MOST}"
    if not FORM.fullmatch(subject):
        return "not 'folder: what changes', without a full stop"
    return None


def main():
    # a checkout may belong to another user: CI runs in a container
    command = ["git", "-c", "safe.directory=*", "log", "--no-merges", "--format=%h %s"]
    result = subprocess.run([*command, *(sys.argv[1:] or ["-20"])], capture_output=True, text=True,
                            check=False)
    if result.returncode:
        sys.exit(f"subjects.py: {result.stderr.strip()}")
    lines = [line.split(" ", 1) for line in result.stdout.splitlines()]
    wrong = [(commit, subject) for commit, subject in lines if problem_of(subject)]
    for commit, subject in wrong:
        print(f"{commit} {subject}: {problem_of(subject)}")
    print(f"subjects: {len(lines)} commits, {len(wrong)} to reword")
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
