#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the commit of these sources, ten digits; "+" after it: there are changes.

Usage: commit.py [OUTPUT]. OUTPUT is a file of C that gets it, if it has another one. In a source
archive the line below has the commit: `git archive` fills it in (.gitattributes), for `meson dist`
tools/dist_page.py does. Without both the answer is empty.
"""

import pathlib
import subprocess
import sys

ARCHIVED = "$Format:%H$"


def find_commit():
    root = pathlib.Path(__file__).resolve().parent.parent
    if not ARCHIVED.startswith("$"):
        return ARCHIVED[:10]
    if not (root / ".git").exists():
        return ""
    try:  # packages are often built by another user than the owner
        done = subprocess.run(
            ["git", "-c", f"safe.directory={root}", "-C", root, "describe", "--always",
             "--dirty=+", "--abbrev=10", "--exclude=*"],
            capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def main(output=None):
    commit = find_commit()
    if output is None:
        print(commit)
        return
    path = pathlib.Path(output)
    text = f'static const char commit[] = "{commit}";\n'
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


main(*sys.argv[1:])
