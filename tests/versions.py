#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""versions.py - every file that names the version of stepscope names that of meson.build.

Usage: versions.py STEPSCOPE SOURCE_ROOT. Also: `version --json` is complete, every library that it
names has a licence, Debian's list of symbols is that of the library (else no package is built), and
the README claims the accuracy that docs/accuracy.md measured.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# file, and the pattern around its version
PLACES = [
    ("debian/changelog", r"\Astepscope \(([\d.]+)-\d+\)"),
    ("CHANGELOG.md", r"(?m)^## (\d+\.\d+\.\d+)"),
    ("ui/package.json", r'"version": "([\d.]+)"'),
    ("ui/package-lock.json", r'"version": "([\d.]+)"'),
    ("packaging/npm/package.json", r'"version": "([\d.]+)"'),
    ("packaging/mcpb/manifest.json", r'"version": "([\d.]+)"'),
    ("server.json", r'"version": "([\d.]+)"'),
    ("packaging/conda/meta.yaml", r'set version = "([\d.]+)"'),
    ("packaging/homebrew/stepscope.rb", r"stepscope-([\d.]+)\.tar\.xz"),
    ("packaging/spack/package.py", r'version\("([\d.]+)"'),
    ("packaging/nix/flake.nix", r'version = "([\d.]+)"'),
    ("docs/commands/version.md", r"`stepscope ([\d.]+)`"),
]


def header_version(root):
    text = (root / "include/stepscope.h").read_text()
    return ".".join(re.search(rf"#define SS_VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def check_about(stepscope):
    done = subprocess.run([stepscope, "version", "--json"], capture_output=True, text=True,
                          check=True)
    about = json.loads(done.stdout)
    missing = {"version", "licence", "compiler", "features", "libraries", "sandbox", "sql",
               "commit"} - about.keys()
    assert not missing, missing
    for library in about["libraries"]:
        assert library["name"] and library["version"] and library["licence"], library
    assert about["features"]["viewer"] == any("in" in part for part in about["libraries"])
    return about["version"]


def check_symbols(root):
    """What the library exports, as tools/abi.py keeps it, is what Debian's list names."""
    text = (root / "tests/abi/stepscope.abi").read_text(encoding="utf-8")
    exported = set(re.findall(r"<elf-symbol name='(\w+)'", text))
    listed = set(re.findall(r"(?m)^ (\w+)@", (root / "debian/libstepscope1.symbols").read_text()))
    assert exported, "tests/abi/stepscope.abi names no symbol"
    assert exported == listed, f"debian/libstepscope1.symbols: {sorted(exported ^ listed)}"


def check_claims(root):
    """The README claims what docs/accuracy.md measured, the worse measurement first."""
    measured = (root / "docs/accuracy.md").read_text(encoding="utf-8")
    readme = " ".join((root / "README.md").read_text(encoding="utf-8").split())

    def percent(row):
        pairs = re.findall(r"(\d+) of (\d+)", re.search(rf"(?m)^\| {row} \|.*$", measured)[0])
        return round(100 * sum(int(a) for a, _ in pairs) / sum(int(b) for _, b in pairs))

    def count(row):
        return re.search(rf"(?m)^\| {row}[^|]*\| (\d+) of 22 \|$", measured)[1]

    blind = re.search(r"(?m)^\| place and kind in the first finding \|(.*)\|$", measured)[1]
    sets = re.search(r"(?m)^\| \| set of (\d+).*set of (\d+).*set of (\d+).*$", measured)
    older = [round(float(text)) for text in re.findall(r"in (\d+\.\d) %", measured)]
    bench = json.loads((root / "bench/figures.json").read_text(encoding="utf-8"))
    verdict = next(row for row in bench["rows"] if row["name"] == "stepscope diagnose, 1 thread")
    seconds = verdict["cpu_s"] * 1e9 / bench["bytes"]
    megabytes = -(-verdict["rss_mb"] // 10) * 10
    for claim in (
        f"26 kinds of causes | every planted one in {older[0]} % of the jobs | "
        f"step time within 5 % in {older[2]} % of the jobs |",
        "38 kinds of causes | every planted one in "
        f"{percent('every planted cause found')} % of the jobs | step time within 5 % in "
        f"{percent('predicted step after all fixes within 5 %')} % of the jobs |",
        f"PyTorch | {count('the fault is the first finding')} named first | "
        f"{count('predicted saving')} of 22 |",
        f"{sum(map(int, sets.groups()))} faults of kinds without a rule | "
        f"{sum(map(int, blind.split('|')[::2]))} at first sight |",
        f"The verdict on 1 GB of JSON takes about {seconds:.1f} seconds of one core and "
        f"{megabytes:.0f} MB of memory",
    ):
        assert claim in readme, f"README.md does not say: {claim}"


def main(stepscope, root):
    root = Path(root)
    check_symbols(root)
    check_claims(root)
    wanted = re.search(r"version: '([\d.]+)'", (root / "meson.build").read_text())[1]
    found = {"include/stepscope.h": header_version(root), "the command": check_about(stepscope)}
    for name, pattern in PLACES:
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"))
        found[name] = match[1] if match else "none"
    assert '"version"' in re.search(r"dynamic = \[.*\]", (root / "pyproject.toml").read_text())[0]
    wrong = {name: version for name, version in found.items() if version != wanted}
    print(f"{len(found)} places name {wanted}; others: {wrong}")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
