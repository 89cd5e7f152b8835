#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables as Arrow hold what they hold as JSON, cell by cell.

Usage: same_as_json.py LIBRARY TABLES STEPSCOPE TRACES. Every view and group of 20 traces and a job
under TRACES or, when there are none, of a simulated job, through ss_session_table(), read by
c_stream.py, which refuses whatever Arrow's specification forbids. Numbers with a fraction are equal
to the six places that JSON has. Also: reports are refused in words, the findings of a diagnosis are
a table, and a stream outlives its session. LIBRARY is the shared library, TABLES the helper that
calls it. STEPSCOPE_QUICK=1 takes a fourth of the files.
"""
import ctypes as c
import json
import pathlib
import subprocess
import sys
import tempfile

import c_stream

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

import chosen

FILES = 20
PARTS = 4
FILE_BYTES = 1_000_000  # larger ones take Python too long
JOB = "jobs/dlrm_v100x8"
FORMATS = {"": ("l", "i"), "count": ("l",), "ns": ("tDn",), "bytes": ("l",), "percent": ("g",),
           "number": ("g",)}
ROOM = 600


class Text(c.Structure):
    _fields_ = [("data", c.c_void_p), ("length", c.c_size_t), ("capacity", c.c_size_t)]


class Library:
    """The library through its helper."""

    def __init__(self, library, tables):
        self.library = c.CDLL(library, mode=c.RTLD_GLOBAL)
        self.tables = c.CDLL(tables)
        self.tables.tables_open.restype = c.c_void_p
        self.tables.tables_close.argtypes = [c.c_void_p]
        self.tables.tables_view.restype = c.c_char_p
        self.library.ss_group_at.restype = c.c_char_p
        self.problem = c.create_string_buffer(ROOM)

    def open(self, path):
        session = self.tables.tables_open(str(path).encode(), self.problem, c.c_size_t(ROOM))
        return c.c_void_p(session) if session else None

    def close(self, session):
        self.tables.tables_close(session)

    def wanted(self):
        """All views with all of their groups."""
        index = 0
        while (view := self.tables.tables_view(c.c_size_t(index))) is not None:
            group = 0
            while view and (name := self.library.ss_group_at(view, c.c_size_t(group))):
                yield view, name
                group += 1
            if view and not group:
                yield view, None
            index += 1

    def call(self, function, session, view, group, top, out):
        status = function(session, view, group, c.c_uint32(top), c.byref(out), self.problem,
                          c.c_size_t(ROOM))
        return self.problem.value.decode() if status else None

    def json(self, session, view, group, top=0):
        text = Text()
        problem = self.call(self.tables.tables_json, session, view, group, top, text)
        raw = c.string_at(text.data, text.length) if text.data else b""
        self.library.ss_text_release(c.byref(text))
        return problem, None if problem else json.loads(raw)

    def arrow(self, session, view, group, top=0):
        stream = c_stream.Stream()
        problem = self.call(self.tables.tables_arrow, session, view, group, top, stream)
        if problem:
            c_stream.demand(not stream.release, "a stream of what failed has a release")
        return problem, None if problem else stream


def same_cell(a, b):
    return a == b or (isinstance(a, float) and b is not None and f"{a:.6f}" == f"{b:.6f}")


def compare(table, document):
    """Everything in which they differ, in words."""
    meta = table.metadata
    for key in ("schema", "group", "basis"):
        if meta.get(key) != document.get(key):
            yield f"{key}: {meta.get(key)!r}, JSON {document.get(key)!r}"
    for key in ("notes", "quality", "row_count", "totals"):
        own = json.loads(meta[key]) if key in meta else None
        if own != document.get(key):
            yield f"{key}: {own!r}, JSON {document.get(key)!r}"
    if bool(meta.get("empty")) != (table.rows == 0):
        yield f"{table.rows} rows, and the sentence {meta.get('empty')!r}"
    fields = [(column["name"], column["unit"], column["about"]) for column in document["columns"]]
    own = [(column.name, column.metadata.get("unit", ""), column.metadata.get("about", ""))
           for column in table.columns]
    if own != fields:
        yield f"columns {own}, JSON {fields}"
        return
    for column in table.columns:
        if column.format not in FORMATS[column.metadata.get("unit", "")]:
            yield f"{column.name} has format {column.format}"
        if "moment" in column.metadata.get("roles", "").split() and not column.metadata["zero"]:
            yield f"{column.name} is a moment without a beginning"
    if table.rows != len(document["rows"]):
        yield f"{table.rows} rows, JSON {len(document['rows'])}"
    for row, cells in enumerate(document["rows"]):
        for i, cell in enumerate(cells):
            if not same_cell(table.cells[i][row], cell):
                yield f"row {row}, {fields[i][0]}: {table.cells[i][row]!r}, JSON {cell!r}"
                return


def check_file(library, path, counts):
    session = library.open(path)
    if not session:
        return
    for view, group in library.wanted():
        name = f"{path}: {view.decode()}/{group.decode() if group else ''}"
        for top in (0, 3):
            problem, document = library.json(session, view, group, top)
            refused, stream = library.arrow(session, view, group, top)
            if problem or refused:
                if bool(problem) != bool(refused):
                    yield f"{name}: '{problem}' as JSON, '{refused}' as Arrow"
                continue
            try:
                table = c_stream.Table(stream)
            except c_stream.Broken as broken:
                yield f"{name}: {broken}"
                continue
            counts["tables"] += 1
            counts["cells"] += table.rows * len(table.columns)
            for difference in compare(table, document):
                yield f"{name}, top {top}: {difference}"
    problem, _ = library.arrow(session, b"info", None)
    if not problem or "files" not in problem or "several tables" not in problem:
        yield f"{path}: the report info gives '{problem}'"
    problem, stream = library.arrow(session, b"diagnose", None)
    # the last stream is read when its session is gone
    library.close(session)
    if problem:
        yield f"{path}: diagnose: {problem}"
    else:
        table = c_stream.Table(stream)
        counts["findings"] += table.rows
        if "cost_ns" not in [column.name for column in table.columns]:
            yield f"{path}: findings without a cost"


def find_inputs(stepscope, traces, folder, parts):
    files = sorted(path for path in pathlib.Path(traces).glob("**/*.json.gz")
                   if path.stat().st_size < FILE_BYTES) if traces else []
    if not files:
        out = pathlib.Path(folder, "job")
        subprocess.run([stepscope, "sim", "--preset", "ddp8-slow", "--steps", "2", "--output", out],
                       check=True, capture_output=True)
        return [out]
    step = max(1, len(files) // FILES)
    return chosen.share(files[::step][:FILES], parts) + chosen.share([pathlib.Path(traces, JOB)])


def main():
    library_path, tables, stepscope, traces = (sys.argv[1:] + [""])[:4]
    library = Library(library_path, tables)
    counts = {"tables": 0, "cells": 0, "findings": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths = find_inputs(stepscope, traces, folder, PARTS)
        problems = [problem for path in paths for problem in check_file(library, path, counts)]
    print(f"{len(paths)} inputs, {counts['tables']} tables, {counts['cells']} cells, "
          f"{counts['findings']} findings")
    for problem in problems[:20]:
        print(problem)
    sys.exit(bool(problems) or not counts["cells"])


if __name__ == "__main__":
    main()
