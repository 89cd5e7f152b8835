# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/fleet.md, from what `stepscope store columns` says."""
import json
import subprocess

BEGIN = "<!-- tables: made by tools/docs.py -->"
END = "<!-- end -->"


def blocks(stepscope):
    command = [stepscope, "store", "columns", "--format", "json"]
    rows = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["rows"]
    for table in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == table]
        lines = ["| column | type | what it is |", "|---|---|---|"]
        lines += [f"| `{name}` | {kind} | {about} |" for _, name, kind, about, _ in own]
        yield f"### {table}\n\n{own[0][4]}."
        yield "\n".join(lines)


def page(stepscope, root):
    path = root / "docs/fleet.md"
    head, rest = path.read_text().split(BEGIN, 1)
    text = "\n\n".join(blocks(stepscope))
    return path, head + BEGIN + "\n\n" + text + "\n\n" + END + rest.split(END, 1)[1]
