#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pyarrow reads the Arrow streams of all views, and finds what JSON has.

Usage: with_pyarrow.py LIBRARY TABLES STEPSCOPE TRACES, as same_as_json.py. Skipped where there is
no pyarrow: Debian 12 has none, testing and sid have python3-pyarrow, so that a folder made by
debootstrap is enough. pyarrow checks each table (validate(full=True)); times are compared to the
nanosecond.
"""
import ctypes as c
import sys
import tempfile

import same_as_json

try:
    import pyarrow
except ImportError:
    print("no pyarrow")
    sys.exit(77)

PARTS = 4
UNITS = {"ns": pyarrow.duration("ns"), "percent": pyarrow.float64(), "number": pyarrow.float64()}


def cells_of(column):
    """The cells of a column as JSON has them."""
    if pyarrow.types.is_duration(column.type):
        return column.cast(pyarrow.int64()).to_pylist()
    return column.to_pylist()


def compare(table, document):
    table.validate(full=True)
    names = [column["name"] for column in document["columns"]]
    if table.column_names != names:
        yield f"columns {table.column_names}, JSON {names}"
        return
    for i, column in enumerate(document["columns"]):
        wanted = [row[i] for row in document["rows"]]
        if column["unit"] in UNITS and table.schema.field(i).type != UNITS[column["unit"]]:
            yield f"{column['name']} is {table.schema.field(i).type}"
        found = cells_of(table.column(i))
        if len(found) != len(wanted) or not all(map(same_as_json.same_cell, found, wanted)):
            yield f"{column['name']}: other cells"


def check_file(library, path, counts):
    session = library.open(path)
    if not session:
        return
    for view, group in library.wanted():
        problem, document = library.json(session, view, group, 0)
        refused, stream = library.arrow(session, view, group, 0)
        if problem or refused:
            continue
        table = pyarrow.RecordBatchReader._import_from_c(c.addressof(stream)).read_all()
        counts["tables"] += 1
        counts["cells"] += table.num_rows * table.num_columns
        for trouble in compare(table, document):
            yield f"{path}: {view.decode()}: {trouble}"
    library.close(session)


def main():
    library_path, tables, stepscope, traces = sys.argv[1:5]
    library, counts = same_as_json.Library(library_path, tables), {"tables": 0, "cells": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths = same_as_json.find_inputs(stepscope, traces, folder, PARTS)
        problems = [problem for path in paths for problem in check_file(library, path, counts)]
    print(f"pyarrow {pyarrow.__version__}: {len(paths)} inputs, {counts['tables']} tables, "
          f"{counts['cells']} cells")
    for problem in problems[:20]:
        print(problem)
    sys.exit(bool(problems) or not counts["cells"])


main()
