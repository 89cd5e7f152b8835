#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a build makes does not depend on where it was built.

Usage: any_folder.py BUILD ROOT FILE... - a build that is ready, its source, what it ships. No file
that ships holds the path of the source or of the build, and a few of its objects come out the same,
byte for byte, from a copy of the source elsewhere with its build folder at another depth.
any_folder.py --all makes all objects there and compares them and the files: minutes, not seconds.
"""
import base64
import configparser
import filecmp
import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# made in a second each: as many as a test may take
SAMPLE = 6
# paths below the root that no build reads
LEFT_OUT = re.compile(r"build[^/]*|\..*|bench/work|docs/pictures|fuzz/crashes|ui/node_modules")


def contents_of(path):
    """The bytes of a file; of the page also those of the core that is in it, packed."""
    data = path.read_bytes()
    core = re.search(rb'id="stepscope-core">([^<]+)<', data)
    return data + gzip.decompress(base64.b64decode(core[1])) if core else data


def paths_within(shipped, folders):
    """Names of files that hold a folder's path, which ends where a name cannot go on."""
    anywhere = b"|".join(re.escape(bytes(folder)) for folder in folders)
    pattern = re.compile(b"(?:" + anywhere + rb")(?![\w.-])")
    return [path.name for path in shipped if pattern.search(contents_of(path))]


def objects_of(build):
    """Objects of what ships, by their path in the build folder, with the compiler's command."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {entry["output"]: entry["command"] for entry in commands
            if entry["output"].startswith("src/") and entry["output"].endswith(".o")}


def sample_of(objects):
    """A few that are spread over the folders, and the one that holds the page."""
    names = sorted(objects)
    return names[:: max(1, len(names) // SAMPLE)] + [n for n in names if n.endswith("page.c.o")]


def setup(build, root, elsewhere, command):
    """The same build, with the same options and compiler, of a copy; returns its folder."""
    given = configparser.ConfigParser(interpolation=None)
    given.read(build / "meson-private/cmd_line.txt")
    source = elsewhere / "a copy" / "stepscope"
    shutil.copytree(root, source, ignore=lambda folder, names: [
        name for name in names
        if LEFT_OUT.fullmatch(str((pathlib.Path(folder) / name).relative_to(root)))])
    other = source / "deep" / "er" / "build"
    words = shlex.split(command)
    compiler = words[:next(i for i, word in enumerate(words) if word.startswith("-"))]
    options = [f"-D{key}={value}" for key, value in given["options"].items()]
    environment = {**os.environ, "CC": shlex.join(compiler)}
    subprocess.run(["meson", "setup", other, source, *options], env=environment, check=True,
                   capture_output=True)
    return other


def main():
    everything = "--all" in sys.argv
    words = [pathlib.Path(word).resolve() for word in sys.argv[1:] if word != "--all"]
    build, root, shipped = words[0], words[1], words[2:]
    holders = paths_within(shipped, (root, build))
    for name in holders:
        print(f"{name}: holds the path of the folder that it was built in")
    objects = objects_of(build)
    with tempfile.TemporaryDirectory() as folder:
        other = setup(build, root, pathlib.Path(folder), next(iter(objects.values())))
        chosen = list(objects) if everything else sample_of(objects)
        if everything:
            chosen += [str(path.relative_to(build)) for path in shipped
                       if path.is_relative_to(build)]
        # a cache would hand out what it made in the first folder
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        subprocess.run(["ninja", "-C", other, *chosen], env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        differ = [name for name in chosen
                  if not filecmp.cmp(build / name, other / name, shallow=False)]
    for name in differ:
        print(f"{name}: differs when it is built elsewhere")
    print(f"{len(shipped)} files without a path, {len(chosen)} the same elsewhere: "
          f"{len(holders) + len(differ)} failed")
    return 1 if holders or differ or not shipped or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
