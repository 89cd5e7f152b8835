#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grown_structs.py - programs of an older and of a newer header run with this library.

Usage: grown_structs.py LIBRARY SOURCE_ROOT. Each public struct that begins with its size loses its
last field in a copy of the header, then gets one more; grown_structs.c is compiled with that header
and must print what it prints with today's.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

STRUCT = re.compile(r"^struct (ss_\w+) \{\n\tsize_t size;(.*?)^\};\n", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def without_last(body):
    """The fields without the last one: of `uint32_t a, b;` only b goes."""
    fields = [field for field in COMMENT.sub("", body).split(";") if field.strip()]
    names = re.sub(r"\([^()]*\)", "", fields[-1]).split(",")
    if len(names) > 1:
        fields[-1] = fields[-1][:fields[-1].rindex(",")]
    else:
        del fields[-1]
    return "".join(field + ";" for field in fields) + "\n"


def with_more(body):
    return body + "\tuint64_t later;\n"


def grown(header, name, change):
    """The header with another struct."""
    def replace(match):
        if match[1] != name:
            return match[0]
        return f"struct {name} {{\n\tsize_t size;{change(match[2])}}};\n"
    text = STRUCT.sub(replace, header)
    assert text != header, name
    return text


class Scene:
    def __init__(self, library, source, folder):
        self.library, self.source, self.folder = library, source, folder
        self.header = (source / "include/stepscope.h").read_text()
        include = folder / "include"
        include.mkdir()
        for path in (source / "include").glob("*.h"):
            shutil.copy(path, include)

    def output(self, header, label):
        """What the program prints when it was compiled with the header."""
        (self.folder / "include/stepscope.h").write_text(header)
        program, job = self.folder / "program", self.folder / "job"
        command = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", self.folder / "include",
                   self.source / "tests/api/grown_structs.c", "-o", program, self.library,
                   f"-Wl,-rpath,{self.library.parent}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{label}: {done.stderr}"
        done = subprocess.run([program, job], capture_output=True, text=True)
        shutil.rmtree(job, ignore_errors=True)
        assert done.returncode == 0, f"{label}: exit {done.returncode}: {done.stdout[-500:]}"
        return done.stdout


def main():
    library, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        scene = Scene(library, source, Path(name))
        wanted = scene.output(scene.header, "today's header")
        assert "planted" in wanted and "merged 2 ranks" in wanted, wanted
        structs = [match[1] for match in STRUCT.finditer(scene.header)]
        assert len(structs) >= 12, structs
        for struct in structs:
            for label, change in (("less", without_last), ("more", with_more)):
                header = grown(scene.header, struct, change)
                found = scene.output(header, f"struct {struct}, a field {label}")
                assert found == wanted, f"struct {struct}, a field {label}: {found}"
            print(f"struct {struct}: runs with a field less and a field more")


main()
