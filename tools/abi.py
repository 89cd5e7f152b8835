#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi.py - compares the interface of the library with the one that is kept in tests/abi.

Usage: abi.py BUILD [--update]

BUILD is a folder of Meson, configured with gcc. Files that define public functions are compiled
once more with debug information, which is all that abidw reads; abidiff compares. After a change
that is meant, --update writes the new interface: read the diff, and where abidiff calls it
incompatible raise `soversion` in src/meson.build.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests/abi/stepscope.abi"
PUBLIC = re.compile(r"^SS_API\b[^;]*?\b(ss_\w+)\(", re.M)
# how a build is optimised and hardened is no part of the interface
DROPPED = re.compile(r"-O.|-g.*|-f(stack|cf|sanitize).*|-[UD]_FORTIFY_SOURCE.*|-M[DQF]|-Werror")
INCOMPATIBLE = 8  # of abidiff's exit code


def public_names():
    texts = [path.read_text() for path in sorted((ROOT / "include").glob("*.h"))]
    return {name for text in texts for name in PUBLIC.findall(text)}


def defines_one(path, names):
    """True when the file defines one of the functions: its name after a type, at a line's start."""
    found = re.findall(r"^\w[\w \*]*?\b(ss_\w+)\(", path.read_text(), re.M)
    return not names.isdisjoint(found)


def commands(build, names):
    """(folder, words) of each file that defines a public function."""
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if "libstepscope-core" in entry["output"] and defines_one(path, names):
            words = shlex.split(entry["command"])
            for option in ("-MQ", "-MF", "-o"):
                at = words.index(option)
                del words[at:at + 2]
            yield entry["directory"], path, [word for word in words if not DROPPED.fullmatch(word)]


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"abi: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def build_library(build, names, folder):
    objects = []
    for place, path, words in commands(build, names):
        objects.append(folder / f"{len(objects)}.o")
        run(*words, "-O0", "-g", "-gdwarf-4", "-o", objects[-1], cwd=place)
    library = folder / "libstepscope.so"
    run("gcc", "-shared", "-Wl,-soname,libstepscope.so", "-o", library, *objects)
    listed = run("nm", "-D", "--defined-only", library).splitlines()
    exported = {line.split()[-1] for line in listed} & names
    if exported != names:
        sys.exit(f"abi: no file defines {', '.join(sorted(names - exported))}")
    return library


def dump(library, out):
    run("abidw", "--headers-dir", ROOT / "include", "--drop-private-types", "--no-corpus-path",
        "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-architecture",
        "--no-parameter-names", "--exported-interfaces-only", "--drop-undefined-syms",
        "--out-file", out, library)


def compare(out):
    done = subprocess.run(["abidiff", "--no-show-locs", KEPT, out], capture_output=True, text=True)
    if done.returncode == 0:
        print(f"abi: as in {KEPT.relative_to(ROOT)}")
        return 0
    print(done.stdout + done.stderr)
    print("abi: programs that were compiled before do not run any more: raise soversion, then"
          if done.returncode & INCOMPATIBLE else
          "abi: the interface is another one. Where that is meant:")
    print("     tools/abi.py BUILD --update")
    return 1


def main():
    parser = argparse.ArgumentParser(description="compares the library's interface")
    parser.add_argument("build", type=Path)
    parser.add_argument("--update", action="store_true", help="writes the interface")
    arguments = parser.parse_args()
    if not shutil.which("abidw"):
        sys.exit("abi: no abidw here: tools/setup installs abigail-tools")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "new.abi"
        dump(build_library(arguments.build.resolve(), public_names(), folder), out)
        if arguments.update:
            KEPT.parent.mkdir(exist_ok=True)
            shutil.copy(out, KEPT)
            print(f"abi: wrote {KEPT.relative_to(ROOT)}")
            return 0
        return compare(out)


sys.exit(main())
