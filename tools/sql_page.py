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


def view_page(root, table):
    """The page that has the columns of a table: a view's, or None."""
    kind, name = "views", table.replace("_", "-")
    if name.startswith("snapshot-"):
        kind, name = "snapshot", name.removeprefix("snapshot-")
    path = f"{kind}/{name}.md"
    return path if (root / "docs" / path).exists() else None


def list_of_views(tables):
    """One line per view: its page has the columns, which are the same."""
    lines = ["| table | what it has | parameters |", "|---|---|---|"]
    for table, path in tables:
        names = ", ".join(f"`{name}`" for name in table["parameters"].split(", ") if name)
        lines.append(f"| [{table['table']}]({path}) | {table['about']} | {names} |")
    return "\n".join(lines)


def blocks(stepscope, root):
    columns = ask(stepscope, ".schema")
    tables = [(table, view_page(root, table["table"])) for table in ask(stepscope, ".tables")]
    yield ("Every view is a table. Its page has the columns; `.schema TABLE` prints them with "
           "their types (`BIGINT`, `DOUBLE`, `VARCHAR`).")
    yield list_of_views([(table, path) for table, path in tables if path])
    yield "These tables are no views:"
    for table in (table for table, path in tables if not path):
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
    text = "\n\n".join(blocks(stepscope, root))
    return path, head + BEGIN + "\n\n" + text + "\n\n" + END + rest.split(END, 1)[1]
