#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 'diagnose' says about kernels in tiny traces of single operators.

Usage: units.py STEPSCOPE FOLDER. units.json beside this file has the answers and says what its
fields mean. Exits 77 (skipped) where there are no such traces.
"""
import json
import pathlib
import subprocess
import sys

SKIPPED = 77
ABOUT_KERNELS = {"slow-products", "slow-attention", "slow-memory-work", "matmul-dims",
                 "attention-not-fused", "unfused-chain", "no-tensor-cores", "tf32-products",
                 "layout-conversion", "float64-work", "large-logits", "low-occupancy"}


def main():
    stepscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    truth = json.loads((pathlib.Path(__file__).parent / "units.json").read_text())
    if not folder.is_dir():
        sys.exit(SKIPPED)
    wrong = 0
    for unit in truth["units"]:
        path = folder / f"{unit['file']}.json.gz"
        done = subprocess.run([stepscope, "diagnose", "--json", path], capture_output=True,
                              text=True, check=True)
        found = {finding["rule"] for finding in json.loads(done.stdout)["findings"]}
        if found & ABOUT_KERNELS != set(unit["rules"]):
            print(f"{unit['file']}: expected {unit['rules']}, got {sorted(found)}",
                  file=sys.stderr)
            wrong += 1
    unknown = {path.name for path in folder.glob("*.json.gz")} - {
        f"{unit['file']}.json.gz" for unit in truth["units"]}
    for name in sorted(unknown):
        print(f"{name}: no answer is written down", file=sys.stderr)
    print(f"{len(truth['units'])} units, {wrong + len(unknown)} differ")
    sys.exit(1 if wrong or unknown else 0)


main()
