# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/sql.md, from what `stepscope sql .tables` and `.schema` say."""
import json
import subprocess

BEGIN = "<!-- tables: made by tools/docs.py -->"
END = "<!-- end -->"


def ask(stepscope, what):
    command = [stepscope, "sql", what, "--format", "json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def blocks(stepscope):
    columns = ask(stepscope, ".schema")
    for table in ask(stepscope, ".tables"):
        yield f"### {table['table']}\n\n{table['about']}."
        if table["parameters"]:
            names = ", ".join(f"`{name}`" for name in table["parameters"].split(", "))
            yield f"Parameters: {names}."
        lines = ["| column | type | unit | what it is |", "|---|---|---|---|"]
        lines += [f"| `{c['column']}` | {c['type']} | {c['unit'] or ''} | {c['about']} |"
                  for c in columns if c["table"] == table["table"]]
        yield "\n".join(lines)


def page(stepscope, root):
    path = root / "docs/sql.md"
    head, rest = path.read_text().split(BEGIN, 1)
    text = "\n\n".join(blocks(stepscope))
    return path, head + BEGIN + "\n\n" + text + "\n\n" + END + rest.split(END, 1)[1]
