#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every view and report must keep, seen from outside.

Usage: contract.py STEPSCOPE ROOT. JSON parses and has the documented shape, CSV has the same
columns and rows, and the page of a view names every one of its columns.
"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

SMALL = (
    '{"distributedInfo":{"rank":0},"traceEvents":['
    '{"ph":"X","cat":"cpu_op","name":"a \\"quoted\\", one","pid":1,"tid":1,"ts":1,"dur":50},'
    '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":5,'
    '"args":{"correlation":1}},'
    '{"ph":"X","cat":"kernel","name":"k|<b>","pid":0,"tid":7,"ts":9,"dur":5,'
    '"args":{"correlation":1,"stream":7,"device":0}},{"ph":"X","name":"no time"}]}'
)
QUALITY = {"files", "unreadable_files", "lost", "mended", "notes", "absent"}


def run(stepscope, *words):
    result = subprocess.run([stepscope, *words], capture_output=True, timeout=30)
    assert result.returncode == 0, f"{words}: {result.stderr.decode()}"
    return result.stdout.decode("utf-8")


def offers(stepscope):
    """Names of reports and views, from help."""
    lines = run(stepscope, "help").split("Reports and views:")[1].split("Other commands:")[0]
    return [line.split()[0] for line in lines.splitlines() if line.strip()]


def check_table(table, name):
    assert table["schema"].startswith("stepscope.") and table["schema"].endswith("/1"), name
    names = [column["name"] for column in table["columns"]]
    assert names[0] == "rank" and len(set(names)) == len(names), names
    for column in table["columns"]:
        assert set(column) == {"name", "unit", "about"} and column["about"], column
        if column["unit"] in ("ns", "bytes", "percent"):
            assert column["name"].endswith("_" + column["unit"]), column
    for row in table["rows"]:
        assert len(row) == len(names), row
    assert table["row_count"] == len(table["rows"])
    return names


def check_csv(stepscope, name, path, table):
    rows = list(csv.reader(io.StringIO(run(stepscope, name, "--format", "csv", path), newline="")))
    assert rows[0] == [column["name"] for column in table["columns"]], rows[0]
    assert len(rows) == len(table["rows"]) + 1
    for ours, theirs in zip(rows[1:], table["rows"]):
        for cell, value in zip(ours, theirs):
            assert (cell == "") == (value is None), (cell, value)


def check_view(stepscope, name, path, root, missing):
    document = json.loads(run(stepscope, name, "--format", "json", path))
    assert set(document["quality"]) == QUALITY, document["quality"]
    if "tables" in document:
        for table in document["tables"]:
            check_table(table, name)
        return
    names = check_table(document, name)
    check_csv(stepscope, name, path, document)
    page = (root / "docs" / "views" / f"{name}.md").read_text()
    missing += [f"{name}.{column}" for column in names if column not in page]


def main():
    stepscope, root = sys.argv[1], pathlib.Path(sys.argv[2])
    failed, missing = 0, []
    names = offers(stepscope)
    assert len(names) > 5, names
    with tempfile.TemporaryDirectory() as folder:
        for text in (SMALL, "[]"):
            path = pathlib.Path(folder) / "rank0.json"
            path.write_text(text)
            for name in names:
                try:
                    check_view(stepscope, name, str(path), root, missing)
                except (AssertionError, ValueError, KeyError) as error:
                    failed += 1
                    print(f"{name}: {error!r}")
    for column in sorted(set(missing)):
        failed += 1
        print(f"docs/views/{column.replace('.', '.md: no word about ')}")
    print(f"{len(names)} views and reports, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
