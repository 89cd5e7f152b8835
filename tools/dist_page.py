#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the built page and the commit into a source archive: a build needs no Node and no git.

meson dist calls it; MESON_DIST_ROOT is the folder that becomes the archive.
"""

import os
import pathlib
import shutil
import subprocess
import sys

PAGE = "ui/dist/index.html"


def main():
    source = pathlib.Path(os.environ["MESON_SOURCE_ROOT"])
    page = source / PAGE
    if not page.is_file():
        sys.exit(f"dist: there is no {PAGE}; build it first: tools/viewer")
    target = pathlib.Path(os.environ["MESON_DIST_ROOT"]) / PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(page, target)
    commit = pathlib.Path(os.environ["MESON_DIST_ROOT"]) / "tools/commit.py"
    told = subprocess.run([sys.executable, source / "tools/commit.py"], capture_output=True,
                          text=True, check=True).stdout.strip()
    commit.write_text(commit.read_text().replace("$Format:%H$", told))


if __name__ == "__main__":
    main()
