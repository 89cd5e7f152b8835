#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What belongs to a fuzz target is there: regressions, seeds, a row of fuzz/README.md; the scripts
are bash that parses, and find the targets that the build has.

Usage: fuzz_files.py ROOT
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def listed_targets(build_file):
    return re.findall(r"^  '(fuzz_[a-z_]*)',$", build_file.read_text(encoding="utf-8"), re.M)


def problems_of(fuzz, seeds, target):
    if not any((fuzz / "regressions" / target).glob("*")):
        yield f"{target} has no regression"
    if not any((seeds / target).glob("*")):
        yield f"make_corpus.py writes no seeds for {target}"
    if f"| `{target}` |" not in (fuzz / "README.md").read_text(encoding="utf-8"):
        yield f"{target} has no row in fuzz/README.md"


def problems(fuzz):
    targets = listed_targets(fuzz / "meson.build")
    sources = sorted(path.stem for path in fuzz.glob("fuzz_*.c"))
    if sorted(targets) != sources:
        yield f"fuzz/meson.build lists {sorted(targets)}, there are {sources}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, fuzz / "make_corpus.py", folder], check=True)
        for target in targets:
            yield from problems_of(fuzz, pathlib.Path(folder), target)
        for path in pathlib.Path(folder).iterdir():
            if path.name not in targets:
                yield f"make_corpus.py writes seeds for {path.name}, which is no target"
    for script in (*fuzz.glob("*.sh"), fuzz / "oss-fuzz" / "build.sh"):
        if subprocess.run(["bash", "-n", script], check=False).returncode:
            yield f"{script.name} does not parse"
        # the list that the scripts make must be the list that the build has
        for command in re.findall(r"< <\((sed -n \"s/.*? fuzz/meson\.build)\)", script.read_text()):
            found = subprocess.run(["bash", "-c", command], cwd=fuzz.parent, text=True,
                                   capture_output=True, check=True).stdout.split()
            if found != targets:
                yield f"{script.name} finds {found}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1]) / "fuzz"))
    for text in found:
        print(f"FAILED {text}")
    print(f"fuzz_files: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
