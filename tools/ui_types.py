#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ui/src/core/tables.ts, the types of the tables, from the program's own declarations.

Usage: ui_types.py STEPSCOPE [ROOT] [--check]. The program is asked what it offers, with an empty
trace. With --check nothing is written, and types that are out of date are an error.
"""
import json
import pathlib
import subprocess
import sys
import textwrap

EMPTY = '{"traceEvents":[]}'
PATH = "ui/src/core/tables.ts"

HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.ts - the views of the core, their columns and what they hold. Made by
 * tools/ui_types.py from the declarations in C; a test fails when they differ.
 */
export const VIEWS = {
"""

TYPES = """\
} as const;

export type ViewName = keyof typeof VIEWS;

type CellOf<Type> = Type extends "text" ? string | null : number | null;

/* A row of a view, by the names of its columns. */
export type RowOf<View extends ViewName> = {
	[Column in keyof (typeof VIEWS)[View]]: CellOf<(typeof VIEWS)[View][Column]>;
};
"""

# The page's lines end at column 100, where a tab takes 8; columns stand two tabs deep.
WIDTH = 100 - 16


def offers_of(stepscope):
    command = [stepscope, "ask", "offers", "-"]
    result = subprocess.run(command, input=EMPTY, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["views"]


def key(name):
    return name if name.isidentifier() else f'"{name}"'


def interface_name(view):
    return "".join(word.capitalize() for word in view.split("-")) + "Row"


def columns_of(view):
    """The columns as members of an object, folded between two members, never inside of one."""
    members = [f'{key(c["name"])}:_"{c["type"]}",' for c in view["columns"]]
    folded = textwrap.wrap(" ".join(members), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"\t\t{line.replace('_' + chr(34), ' ' + chr(34))}" for line in folded]


def types_of(views):
    lines = []
    for view in views:
        lines += [f"\t{key(view['name'])}: {{", *columns_of(view), "\t},"]
    text = HEAD + "\n".join(lines) + "\n" + TYPES
    for view in views:
        name = view["name"]
        text += f'\nexport interface {interface_name(name)} extends RowOf<"{name}"> {{}}'
    return text + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if not words:
        sys.exit(__doc__)
    path = pathlib.Path(words[1] if len(words) > 1 else ".") / PATH
    text = types_of(offers_of(words[0]))
    if "--check" not in sys.argv:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        sys.exit(f"{path}: out of date; run tools/generate BUILD")


if __name__ == "__main__":
    main()
