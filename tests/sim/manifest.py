#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every preset gives the bytes and the figures that the manifest has.

Usage: manifest.py STEPSCOPE [PRESET...]. tests/sim/manifest.json holds for each preset its job, its
seed, what is planted and what that costs, and a hash of all of its files: other compilers, machines
and numbers of threads must give the same. STEPSCOPE_QUICK=1 takes a twelfth of the presets.
UPDATE_MANIFEST=1 rewrites it (and tools/docs.py the pages); read the diff.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

MANIFEST = pathlib.Path(__file__).parent / "manifest.json"


def listed(stepscope):
    """What the program says that it has."""
    command = [stepscope, "sim", "--list", "--format", "json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def hash_of(folder):
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:32]


def simulated(stepscope, preset, threads):
    """The manifest's entry of a preset, from its files."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "job"
        command = [stepscope, "sim", "--preset", preset["preset"], "-o", str(folder), "--plain"]
        command += ["--threads", str(threads), "--progress", "none"]
        subprocess.run(command, capture_output=True, check=True)
        truth = json.loads((folder / "truth.json").read_text())
        digest = hash_of(folder)
    causes = [
        {key: cause[key] for key in ("name", "severity", "rank", "line", "cost_ns")}
        for cause in truth["causes"]
    ]
    return {
        "preset": preset["preset"],
        "layout": truth["layout"],
        "device": preset["device"],
        "ranks": truth["ranks"],
        "seed": truth["seed"],
        "mean_step_ns": truth["mean_step_ns"],
        "healthy_step_ns": truth["subsets"][0]["mean_step_ns"],
        "causes": causes,
        "hash": digest,
    }


def first_difference(found, wanted):
    for key in sorted(set(found) | set(wanted)):
        if found.get(key) != wanted.get(key):
            return f"{key} is {found.get(key)}, the manifest has {wanted.get(key)}"
    return None


def main():
    stepscope = sys.argv[1]
    presets = listed(stepscope)
    update = os.environ.get("UPDATE_MANIFEST") == "1"
    if update:
        entries = [simulated(stepscope, preset, 2) for preset in presets]
        MANIFEST.write_text(json.dumps(entries, indent=1) + "\n")
        print(f"{len(entries)} presets written")
        return 0
    wanted = {entry["preset"]: entry for entry in json.loads(MANIFEST.read_text())}
    failed = 0
    if set(wanted) != {preset["preset"] for preset in presets}:
        failed += 1
        print("the program and the manifest do not have the same presets")
    if sys.argv[2:]:
        presets = [preset for preset in presets if preset["preset"] in sys.argv[2:]]
    else:
        presets = share(presets, 12)
    for number, preset in enumerate(presets):
        found = simulated(stepscope, preset, 1 + number % 3)
        problem = first_difference(found, wanted.get(preset["preset"], {}))
        if problem:
            failed += 1
            print(f"{preset['preset']}: {problem}")
    print(f"{len(presets)} presets, {failed} differ")
    if failed:
        print("if intended: UPDATE_MANIFEST=1 tests/sim/manifest.py STEPSCOPE; read the diff")
    return 1 if failed or not presets else 0


if __name__ == "__main__":
    sys.exit(main())
