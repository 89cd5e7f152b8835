#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the terms of docs/glossary.md as C, for the tips of the viewer and `stepscope explain`.

Usage: glossary.py OUTPUT PAGE

The page is the only source: a table with a term, one sentence and links per row. Links become the
commands that they lead to. A row that is not one sentence stops the build.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| (?!term \|)([^|]+?) \| ([^|]+?) \| ([^|]+?) \|$", re.MULTILINE)
LINK = re.compile(r"\]\((\w+)/([\w-]+)\.md")
# A second sentence: a stop, and a capital letter after it.
SECOND = re.compile(r"[.!?] +[A-Z]")
# What to run to see more, by the folder of the page.
COMMANDS = {
    "views": "stepscope {} PATH",
    "rules": "stepscope explain {}",
    "commands": "stepscope help {}",
    "snapshot": "stepscope snapshot PATH {}",
}


def is_sentence(text):
    return text.endswith(".") and text[0].isupper() and not SECOND.search(text)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def entries(page):
    """(term, sentence, commands) of each row; "prefill, decode" are two terms."""
    found = []
    for terms, text, links in ROW.findall(page):
        if not is_sentence(text):
            sys.exit(f"glossary.py: '{terms}' needs exactly one sentence: {text}")
        commands = [f"`{COMMANDS[folder].format(name)}`"
                    for folder, name in LINK.findall(links) if folder in COMMANDS]
        found += [(term, text, ", ".join(commands)) for term in terms.split(", ")]
    names = [term.lower() for term, _, _ in found]
    if len(names) != len(set(names)):
        sys.exit("glossary.py: a term is in the page twice")
    return found


def main():
    output, page = (pathlib.Path(word) for word in sys.argv[1:3])
    lines = [f"\t{{ {', '.join(map(quoted, entry))} }},\n"
             for entry in entries(page.read_text(encoding="utf-8"))]
    output.write_text("static const struct ss_term terms[] = {\n" + "".join(lines) + "};\n",
                      encoding="utf-8")


if __name__ == "__main__":
    main()
