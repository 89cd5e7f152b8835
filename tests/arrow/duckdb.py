#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DuckDB reads the Arrow streams of all views, and finds what JSON has.

Usage: duckdb.py LIBRARY TABLES STEPSCOPE TRACES DUCKDB. DUCKDB is its shared library (npm has it as
@duckdb/node-bindings-linux-x64); where it is not there the test is skipped. It is a reader that
knows nothing of ours. Its intervals count microseconds, so that is how far times are compared; the
reader of same_as_json.py compares every nanosecond.
"""
import ctypes as c
import pathlib
import sys
import tempfile

import c_stream
import same_as_json

SKIPPED = 77
PARTS = 10  # of the files: DuckDB is asked cell by cell


class Result(c.Structure):
    _fields_ = [(name, c.c_uint64) for name in ("columns", "rows", "changed")] + [
        ("data", c.c_void_p), ("problem", c.c_char_p), ("internal", c.c_void_p)]


class Database:
    def __init__(self, path):
        self.duckdb = c.CDLL(path)
        self.duckdb.duckdb_result_error.restype = c.c_char_p
        self.duckdb.duckdb_value_varchar.restype = c.c_void_p
        self.duckdb.duckdb_row_count.restype = c.c_uint64
        self.database, self.connection = c.c_void_p(), c.c_void_p()
        c_stream.demand(self.duckdb.duckdb_open(None, c.byref(self.database)) == 0, "cannot open")
        c_stream.demand(self.duckdb.duckdb_connect(self.database, c.byref(self.connection)) == 0,
                        "cannot connect")
        self.count = 0

    def ask(self, stream, columns):
        """The rows of a stream, each cell as text."""
        self.count += 1
        name = f"t{self.count}"
        c_stream.demand(self.duckdb.duckdb_arrow_scan(
            self.connection, name.encode(), c.byref(stream)) == 0, "DuckDB refuses the stream")
        result = Result()
        query = f"SELECT {', '.join(map(shown, columns))} FROM {name}"
        failed = self.duckdb.duckdb_query(self.connection, query.encode(), c.byref(result))
        c_stream.demand(not failed, self.duckdb.duckdb_result_error(c.byref(result)))
        rows = [[self.cell(result, row, i) for i in range(len(columns))]
                for row in range(self.duckdb.duckdb_row_count(c.byref(result)))]
        self.duckdb.duckdb_destroy_result(c.byref(result))
        if stream.release:
            stream.release(stream)
        return rows

    def cell(self, result, row, column):
        address = self.duckdb.duckdb_value_varchar(c.byref(result), c.c_uint64(column),
                                                   c.c_uint64(row))
        if not address:
            return None
        text = c.string_at(address).decode()
        self.duckdb.duckdb_free(c.c_void_p(address))
        return text


def shown(column):
    name = '"' + column["name"] + '"'
    if column["unit"] == "ns":
        return f"epoch_us({name})"
    return f"format('{{:.6f}}', {name})" if column["unit"] in ("percent", "number") else name


def expected(column, cell):
    """The cell of JSON as the query gives it."""
    if cell is None:
        return None
    if column["unit"] == "ns":
        return str(abs(cell) // 1000 * (-1 if cell < 0 else 1))
    return f"{cell:.6f}" if column["unit"] in ("percent", "number") else str(cell)


def check_file(library, database, path, counts):
    session = library.open(path)
    if not session:
        return
    for view, group in library.wanted():
        problem, document = library.json(session, view, group, 200)
        refused, stream = library.arrow(session, view, group, 200)
        if problem or refused:
            continue
        columns = document["columns"]
        rows = database.ask(stream, columns)
        wanted = [[expected(column, cell) for column, cell in zip(columns, row)]
                  for row in document["rows"]]
        counts["cells"] += len(rows) * len(columns)
        if rows != wanted:
            first = next((pair for pair in zip(rows, wanted) if pair[0] != pair[1]),
                         (len(rows), len(wanted)))
            yield f"{path}: {view.decode()}: DuckDB {first[0]}, JSON {first[1]}"
    library.close(session)


def main():
    library_path, tables, stepscope, traces, duckdb = sys.argv[1:6]
    if not pathlib.Path(duckdb).exists():
        print(f"no {duckdb}")
        sys.exit(SKIPPED)
    library, database = same_as_json.Library(library_path, tables), Database(duckdb)
    counts = {"cells": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths = same_as_json.find_inputs(stepscope, traces, folder, PARTS)
        problems = [problem for path in paths
                    for problem in check_file(library, database, path, counts)]
    print(f"{len(paths)} inputs, {counts['cells']} cells")
    for problem in problems[:20]:
        print(problem)
    sys.exit(bool(problems) or not counts["cells"])


main()
