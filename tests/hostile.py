#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds stepscope broken and hostile files, and checks what it makes of them.

Usage: hostile.py STEPSCOPE [NAME...]. With names, only the cases whose name contains one of them
(a folder, such as that of the traces, is no name and is ignored). STEPSCOPE_QUICK skips giants,
STEPSCOPE_EVERY=3 takes every third of the rest; STEPSCOPE_SEED chooses which.

Every case is a file and what must be said of it: the rows of the view "quality", the number of
entries and of events kept, or the sentence of an error. Rules for all of them:

  - it ends within 20 seconds of its own, not by a signal, and no sanitizer says a word;
  - JSON parses strictly, CSV has rows of one width, text stays within 80 columns;
  - one thread and three say the same;
  - the same events across the border of two blocks (1 MiB) are read in the same way.
"""
import concurrent.futures
import os
import sys

from hostile_input import cases, files
from hostile_input.making import CASES
from hostile_input.files import GROWING
from hostile_input.running import Failed, Runner, check_case
from hostile_input.scripts import SCRIPTS, check_growing, check_script
from support.chosen import seed


def make_cases():
    for make in (cases.number_cases, cases.text_cases, cases.quote_cases, cases.track_cases,
                 cases.event_cases, cases.relation_cases, cases.half_cases, files.syntax_cases,
                 files.stranger_cases, files.packed_cases, files.giant_cases):
        make()


def all_checks(quick):
    """(name, function of a runner) of every case, the long ones first."""
    for what in () if quick else GROWING:
        yield f"time grows with: {what[0]}", (lambda r, what=what: check_growing(r, what))
    for script in SCRIPTS:
        yield script.__doc__.strip(), (lambda r, script=script: check_script(r, script))
    for test in sorted(CASES, key=lambda test: not test.giant):
        if not (test.giant and quick):
            yield test.name, (lambda r, test=test: check_case(r, test))


def attempt(runner, name, check):
    try:
        check(runner)
    except (Failed, UnicodeDecodeError) as problem:
        return f"FAILED {name}\n       {problem}"
    return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    runner = Runner(sys.argv[1])
    wanted = [word for word in sys.argv[2:] if not os.path.isdir(word)]
    make_cases()
    checks = [c for c in all_checks(bool(os.environ.get("STEPSCOPE_QUICK")))
              if not wanted or any(word in c[0] for word in wanted)]
    every = int(os.environ.get("STEPSCOPE_EVERY", "1"))
    checks = checks[seed() % every::every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(attempt, runner, name, check) for name, check in checks]
        failed = 0
        for text in filter(None, (one.result() for one in running)):
            print(text, flush=True)
            failed += 1
    print(f"hostile: {len(checks)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
