#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of columns and oddities into docs/, from the program's own declarations.

Usage: docs.py STEPSCOPE [ROOT] [--check]. Pages under docs/views/ and docs/snapshot/ have a block
between two marker lines; what stands between them is made here. docs/presets.md,
docs/options.md, docs/exit-codes.md, docs/thresholds.md and docs/schema/*.json are made here as a
whole; docs/sql.md and docs/fleet.md have a block of tables; in README.md the counts of rules and of
simulated jobs are made here. With --check nothing is written and a page that is out of date is an
error.
"""
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

import exit_code_page
import option_pages
import preset_page
import sql_page
import store_page
import threshold_page

RULES_BEGIN = "<!-- rules: made by tools/docs.py -->"
BEGIN = "<!-- columns: made by tools/docs.py -->"
END = "<!-- end -->"
EMPTY = '{"traceEvents":[]}'
EMPTY_SNAPSHOT = {"segments": [], "device_traces": []}


def columns_of(stepscope, view):
    """Every view answers for an empty trace, with all of its columns."""
    command = [stepscope, view, "--format", "json", "-"]
    result = subprocess.run(command, input=EMPTY, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["columns"]


def snapshot_columns_of(stepscope, view):
    """The same for views of snapshots; diff wants two of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "empty.pickle"
        path.write_bytes(pickle.dumps(EMPTY_SNAPSHOT))
        files = [path, path] if view == "diff" else [path]
        command = [stepscope, "snapshot", *files, view, "--format", "json"]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["columns"]


def columns_table(columns):
    lines = ["| column | unit | what it is |", "|---|---|---|"]
    lines += [f"| `{c['name']}` | {c['unit']} | {c['about']} |" for c in columns]
    return "\n".join(lines)


def oddities_table(root):
    """The oddities are declared in one C table of strings; they are read from there."""
    text = (root / "src/trace/quality.c").read_text()
    entry = re.compile(r'\[SS_ODD_\w+\] = \{\s*"([^"]+)",\s*SS_SEVERITY_(\w+),\s*((?:"[^"]*"\s*)+)')
    words = dict(re.findall(r'\[SS_SEVERITY_(\w+)\] = "(\w+)"', text))
    lines = ["| oddity | severity | what it means |", "|---|---|---|"]
    for name, severity, strings in entry.findall(text):
        meaning = "".join(re.findall(r'"([^"]*)"', strings)).replace("|", "\\|")
        lines.append(f"| `{name}` | {words[severity]} | {meaning} |")
    return "\n".join(lines)


def filled(page, block, begin=BEGIN):
    """The page with this block; a new page of a view gets it below "## Columns"."""
    if begin not in page and "\n## Columns\n" in page:
        page = page.replace("\n## Columns\n", f"\n## Columns\n\n{begin}\n{END}\n", 1)
    if begin not in page:
        sys.exit(f"the page {page.splitlines()[0]!r} lacks its line {begin!r}")
    head, rest = page.split(begin, 1)
    return head + begin + "\n" + block + "\n" + END + rest.split(END, 1)[1]


def rule_list(stepscope, root):
    """The page that lists the rules, from what the program says of them."""
    command = [stepscope, "explain", "--format", "json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [column["name"] for column in document["columns"]]
    lines = ["| rule | what it looks for | warns from | silent below |", "|---|---|---:|---:|"]
    for row in (dict(zip(names, cells)) for cells in document["rows"]):
        shares = [row["warn_percent"], row["silent_percent"]]
        cells = ["" if share is None else f"{share:g} %" for share in shares]
        link = f"[{row['rule']}]({row['rule']}.md)"
        lines.append(f"| {link} | {row['summary']} | {' | '.join(cells)} |")
    path = root / "docs/rules/README.md"
    return path, filled(path.read_text(), "\n".join(lines), RULES_BEGIN)


def readme(stepscope, root, rules_page):
    """The README with as many rules and simulated jobs as there are."""
    rules = rules_page.count("\n| [")
    jobs = len(preset_page.listed(stepscope, "--list"))
    path = root / "README.md"
    text = re.sub(r"\[\d+ rules\]", f"[{rules} rules]", path.read_text())
    return path, re.sub(r"\[\d+ more\](?=\(docs/presets)", f"[{jobs} more]", text)


def view_pages(stepscope, root):
    """Yields (path, text) of every page of a view."""
    for path in sorted((root / "docs/views").glob("*.md")):
        block = columns_table(columns_of(stepscope, path.stem))
        if path.stem == "quality":
            block += "\n\n" + oddities_table(root)
        yield path, filled(path.read_text(), block)
    for path in sorted((root / "docs/snapshot").glob("*.md")):
        block = columns_table(snapshot_columns_of(stepscope, path.stem))
        yield path, filled(path.read_text(), block)


def schemas(stepscope, root):
    """Yields (path, text) of the JSON Schema of every output."""
    command = [stepscope, "schema"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        result = subprocess.run([*command, name], capture_output=True, text=True, check=True)
        yield root / "docs/schema" / f"{name}.json", result.stdout


def main():
    check = "--check" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--check"]
    root = pathlib.Path(words[1] if len(words) > 1 else ".")
    wanted = dict(view_pages(words[0], root))
    rules = rule_list(words[0], root)
    wanted.update([rules, readme(words[0], root, rules[1]), option_pages.page(words[0], root)])
    wanted.update([preset_page.page(words[0], root), exit_code_page.page(words[0], root)])
    wanted.update([sql_page.page(words[0], root), store_page.page(words[0], root)])
    wanted.update([threshold_page.page(root)])
    wanted.update(schemas(words[0], root))
    left = set((root / "docs/schema").glob("*.json")) - set(wanted)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path}: out of date; run tools/generate BUILD")
        else:
            path.write_text(wanted[path])
    for path in left:
        print(f"{path}: no output is described by it; remove it")
    print(f"docs: {len(wanted)} pages, {len(stale)} {'out of date' if check else 'written'}")
    return 1 if check and (stale or left) else 0


if __name__ == "__main__":
    sys.exit(main())
