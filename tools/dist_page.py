#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the built page into a source archive, so that building from it needs no Node.

meson dist calls it; MESON_DIST_ROOT is the folder that becomes the archive.
"""

import os
import pathlib
import shutil
import sys

PAGE = "ui/dist/index.html"


def main():
    page = pathlib.Path(os.environ["MESON_SOURCE_ROOT"]) / PAGE
    if not page.is_file():
        sys.exit(f"dist: there is no {PAGE}; build it first: tools/viewer")
    target = pathlib.Path(os.environ["MESON_DIST_ROOT"]) / PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(page, target)


if __name__ == "__main__":
    main()
