#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of parts names every library that the program asks the loader for.

Usage: sbom.py PROGRAM LIST. Nothing more and nothing less, apart from the C library itself.
"""
import json
import pathlib
import re
import subprocess
import sys

OF_THE_SYSTEM = ("c", "m", "gcc_s", "pthread")
FILE_OF = {"zlib": "z"}  # libz.so


def main(program, path):
    dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True,
                             check=True).stdout
    asked = {name for name in re.findall(r"NEEDED.*\[lib([\w-]+)\.so", dynamic)
             if name not in OF_THE_SYSTEM}
    told = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    names = {FILE_OF.get(part["name"], part["name"].removeprefix("lib"))
             for part in told["components"] if part["purl"].startswith("pkg:generic/")}
    if names != asked:
        print(f"the loader is asked for {sorted(asked)}, the list has {sorted(names)}")
        return 1
    pages = [part for part in told["components"] if part["purl"].startswith("pkg:npm/")]
    bad = [part["name"] for part in pages if not part.get("hashes")]
    print(f"{len(names)} libraries, {len(pages)} packages of the page; without a hash: {bad}")
    return 1 if bad or not pages else 0


sys.exit(main(*sys.argv[1:]))
