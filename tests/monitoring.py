#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The alerts and the dashboard use gauges that there are, and promtool accepts them, if it is here.

    tests/monitoring.py ROOT
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDER = ROOT / "packaging/monitoring"
failed = 0


def check(holds, what):
    global failed
    failed += not holds
    if not holds:
        print(f"monitoring: {what}")


def gauges():
    """The names that metrics.c writes."""
    text = (ROOT / "src/api/write/metrics.c").read_text()
    calls = re.findall(r'metric_begin\(out, "(\w+)"', text)
    listed = re.findall(r'\{ "(\w+)",', text)
    return {f"stepscope_{name}" for name in (*calls, *listed)}


def panels_overlap(panels):
    taken = set()
    for place in (panel["gridPos"] for panel in panels):
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if x >= 24 or (x, y) in taken:
                    return True
                taken.add((x, y))
    return False


def main():
    there = gauges()
    check(len(there) >= 10, f"only {sorted(there)} were found in metrics.c")
    rules, board = ((FOLDER / name).read_text() for name in ("rules.yml", "dashboard.json"))
    for name, text in (("rules.yml", rules), ("dashboard.json", board)):
        used = set(re.findall(r"stepscope_\w+", text))
        check(used and used <= there, f"{name} uses {sorted(used - there)}, which nothing writes")
    dashboard = json.loads(board)
    panels = dashboard["panels"]
    check(len({panel["id"] for panel in panels}) == len(panels), "two panels have one id")
    check(not panels_overlap(panels), "panels overlap")
    check(all(target["expr"] for panel in panels for target in panel["targets"]), "no query")
    if shutil.which("promtool"):
        for words in (["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"]):
            done = subprocess.run(["promtool", *words], cwd=FOLDER, capture_output=True, text=True,
                                  check=False)
            check(done.returncode == 0, done.stdout + done.stderr)
    else:
        print("monitoring: promtool is not here: the rules were not run")
    print(f"monitoring: {len(there)} gauges, {failed} failed")
    sys.exit(failed > 0)


main()
