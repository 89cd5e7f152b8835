#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes types of the page from the program's own declarations, in ui/src/core: tables.ts, the
tables; diagnosis.ts, the verdict; types.ts, the answers of routes.

Usage: ui_types.py STEPSCOPE [ROOT] [--check]. The program is asked what it offers, with an empty
trace, and for the JSON Schemas of the verdict and of tables. With --check nothing is written, and
types that are out of date are an error.
"""
import json
import pathlib
import re
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

DIAGNOSIS = "ui/src/core/diagnosis.ts"

DIAGNOSIS_HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.ts - the verdict, as `stepscope schema diagnose` describes it. Made by
 * tools/ui_types.py; a test fails when they differ.
 */
"""

ANSWERS = "ui/src/core/types.ts"

ANSWERS_HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.ts - tables as `stepscope schema table` describes them, and the answers of routes as each
 * route declares its own. Made by tools/ui_types.py; a test fails when they differ.
 */
import type { Quality, Run, RunOfFiles } from "./diagnosis";

export type * from "./diagnosis";

export type Unit = "" | "ns" | "bytes" | "percent" | "count" | "number";

export type Cell = string | number | null;
"""

# What the objects inside are called.
NAMES = {"warnings": "Doubt", "runs": "RunOfFiles", "spread": "Spread", "account": "Account",
         "gpu": "GpuUse", "findings": "Finding", "evidence": "Evidence", "run": "Run",
         "quality": "Quality", "outliers": "Outlier", "other_gpu": "OtherGpu", "work": "GpuWork",
         "columns": "Column"}
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean",
         "null": "null"}

# The page's lines end at column 100, where a tab takes 8; columns stand two tabs deep.
WIDTH = 100 - 16


def offers_of(stepscope):
    command = [stepscope, "ask", "offers", "-"]
    result = subprocess.run(command, input=EMPTY, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


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


def type_of(schema, name, found):
    """The type of a value; objects inside with a name become interfaces of their own in `found`."""
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(json.dumps(value) for value in values)
    if name == "unit":
        return "Unit"
    kinds = schema.get("type", "string" if "pattern" in schema else [])
    texts = []
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "array":
            inner = type_of(schema["items"], name, found)
            texts.append(f"({inner})[]" if "|" in inner else f"{inner}[]")
        elif kind == "object" and "properties" in schema:
            texts.append(object_of(schema, name, found))
        else:
            texts.append(PLAIN.get(kind, "unknown"))
    return " | ".join(texts) or "unknown"


def object_of(schema, name, found):
    members = []
    for key_name, inner in schema["properties"].items():
        mark = "" if key_name in schema.get("required", []) else "?"
        members.append((key(key_name) + mark, type_of(inner, key_name, found),
                        inner.get("description", "")))
    if name not in NAMES:
        return "{ " + "; ".join(f"{left}: {right}" for left, right, _ in members) + " }"
    found[NAMES[name]] = members
    return NAMES[name]


def schema_text(stepscope, schema, top, known=()):
    """The interfaces of a JSON Schema but for those that are known; `top` is the document's."""
    command = [stepscope, "schema", schema]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found = {}
    NAMES[""] = top
    object_of(json.loads(result.stdout), "", found)
    text = ""
    for name, members in sorted(item for item in found.items() if item[0] not in known):
        text += f"\nexport interface {name} {{\n"
        for left, right, about in members:
            if about:
                text += "".join(f"\t{line}\n" for line in textwrap.wrap(
                    f"/* {about} */", 88, subsequent_indent=" * "))
            text += f"\t{left}: {right};\n"
        text += "}\n"
    return text


def declared(form):
    """Declarations of a route, a member a line."""
    text = ""
    for line in form.strip().split("\n"):
        head, body = re.fullmatch(r"(interface [^{]+|type \w+ = )(.*)", line).groups()
        if head.startswith("interface"):
            # members end at a semicolon outside of inner braces
            parts = re.split(r"; (?![^{}]*\})", body[1:-1].strip())
            members = "".join(folded(f"{part};", 1) for part in parts)
            text += f"\nexport {head}{{\n{members}}}\n"
        else:
            text += "\n" + folded(f"export {head}{body};", 0)
    return text


def folded(text, depth):
    """The line, folded where it is too long; each tab takes 8."""
    tabs = "\t" * depth
    lines = textwrap.wrap(text, 92 - 8 * depth, break_long_words=False, break_on_hyphens=False)
    return tabs + f"\n{tabs}\t".join(lines) + "\n"


def answers_text(stepscope, routes):
    """Types of tables and of all answers that routes declare, and which route gives which."""
    text = ANSWERS_HEAD + schema_text(stepscope, "table", "TableDocument", ("Quality", "Run"))
    answers = "\n/* What routes answer. */\nexport interface Answers {\n"
    for route in (route for route in routes if route["answer"]):
        text += declared(route["answer"])
        last = re.findall(r"^export \w+ (\w+)", text, re.MULTILINE)[-1]
        answers += f"\t{key(route['name'])}: {last};\n"
    return text + answers + "}\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if not words:
        sys.exit(__doc__)
    root = pathlib.Path(words[1] if len(words) > 1 else ".")
    offers = offers_of(words[0])
    texts = {PATH: types_of(offers["views"]),
             DIAGNOSIS: DIAGNOSIS_HEAD + schema_text(words[0], "diagnose", "Diagnosis"),
             ANSWERS: answers_text(words[0], offers["routes"])}
    for name, text in texts.items():
        path = root / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path}: out of date; run tools/generate BUILD")


if __name__ == "__main__":
    main()
