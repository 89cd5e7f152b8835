#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the list of example queries for the viewer from docs/sql.md.

Usage: questions.py OUTPUT docs/sql.md. Every question is a heading with its number, followed by one
block of SQL.
"""
import json
import pathlib
import re
import sys

QUESTION = re.compile(r"^### \d+\. (.+?)\n.*?^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)


def quoted(text):
    """A string of C: what JSON escapes, C reads likewise, as long as it is ASCII."""
    if not text.isascii():
        sys.exit(f"questions.py: not ASCII: {text}")
    return json.dumps(text)


def main(output, page):
    found = QUESTION.findall(pathlib.Path(page).read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"questions.py: no questions in {page}")
    lines = [f"SS_QUESTION({quoted(title)}, {quoted(query.rstrip())})\n" for title, query in found]
    pathlib.Path(output).write_text("".join(lines), encoding="utf-8")


main(*sys.argv[1:])
