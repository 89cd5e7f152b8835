#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a build has as C, so that `stepscope version --json` can print it.

Usage: about.py OUTPUT PARTS COMPILER WORD...

PARTS is third_party/parts.json, which has the licences. A word is a library with its version
(libzstd=1.5.4) or, after a plus, a feature (+serve=true).
"""
import json
import pathlib
import sys

# where a part is, in the words of the answer
PLACES = {"page": "the viewer", "core": "the core in the viewer"}


def features(words):
    for word in words:
        name, value = word.split("=", 1)
        yield name, {"true": True, "false": False}.get(value, value)


def libraries(words, parts):
    licences = {part["name"]: part["licence"] for part in parts}
    for word in words:
        name, version = word.split("=", 1)
        yield {"name": name, "version": version, "licence": licences[name]}


def viewer_parts(parts):
    for part in parts:
        if part["in"] in PLACES:
            yield {"name": part["name"], "version": part["version"], "licence": part["licence"],
                   "in": PLACES[part["in"]]}


def main(output, parts_file, compiler, *words):
    parts = json.loads(pathlib.Path(parts_file).read_text(encoding="utf-8"))
    offered = dict(features(word[1:] for word in words if word.startswith("+")))
    used = list(libraries((word for word in words if not word.startswith("+")), parts))
    if offered["viewer"]:
        used += viewer_parts(parts)
    text = json.dumps({"licence": "Apache-2.0", "compiler": compiler, "features": offered,
                       "libraries": used})
    # a line per library: C promises room for 4095 bytes only, and compilers have more
    literal = json.dumps(text[1:-1]).replace('}, {\\"name\\"', '}, "\n\t"{\\"name\\"')
    pathlib.Path(output).write_text(f"static const char about[] =\n\t{literal};\n",
                                    encoding="utf-8")


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
