# SPDX-License-Identifier: Apache-2.0
"""Tables: rows, columns without a copy, pandas, HTML."""

import json
import pickle

import pytest
import stepscope


def test_rows(job):
    table = job.operators(rank=0)
    rows = list(table)
    assert len(rows) == len(table) > 5
    assert rows[0].name == table["name"][0] == table[0].name
    assert rows[-1] == table[-1] and table[:2] == rows[:2]
    assert table.to_dicts()[0]["calls"] == rows[0].calls
    with pytest.raises(KeyError, match="there are"):
        table["nonsense"]
    with pytest.raises(IndexError):
        table[len(table)]


def test_pickle(slow):
    for name in ("kernels", "operators", "ranks", "files", "gaps"):
        table = slow.view(name)
        again = pickle.loads(pickle.dumps(table))
        assert again.to_dicts() == table.to_dicts() and str(again) == str(table), name
        assert again.notes == table.notes and again.totals == table.totals
        assert pickle.loads(pickle.dumps(again)).names == table.names
        row = pickle.loads(pickle.dumps(table[0]))
        assert row == table[0] and row.rank == table[0].rank


def test_frames_are_copied_to_be_changed(slow):
    pytest.importorskip("pandas")
    frame = slow.kernels(rank=0).to_pandas().copy()
    frame.loc[0, "calls"] = 7
    assert frame["calls"][0] == 7


def test_tables_print_themselves(job):
    table = job.operators(rank=0, top=3)
    lines = str(table).splitlines()
    assert lines[0].startswith("operators: the first 3 of ")
    assert lines[1].split()[:2] == ["rank", "name"]
    assert table[0].name in lines[2] and f"{table[0].calls:,}" in lines[2]
    assert max(map(len, lines[1:5])) <= 100
    assert list(table[::2]) == [table[0], table[2]]


def test_empty_tables_say_why(job):
    table = job.operators(name="no operator is called like this")
    assert len(table) == 0 and list(table) == []
    assert table._repr_html_()


def test_pandas_equals_rows(job):
    pytest.importorskip("pandas")
    import pandas

    for name in ("operators", "kernels", "steps", "gaps", "ranks", "files"):
        table = job.view(name)
        frame = table.to_pandas()
        assert list(frame.columns) == list(table.names) and len(frame) == len(table)
        for column in table.columns:
            ours = [None if pandas.isna(value) else value for value in frame[column.name]]
            if column.unit == "ns":
                ours = [None if value is None else value.value for value in ours]
            # the second for numbers alone: older versions of pytest take no text
            assert ours == table[column.name] or ours == pytest.approx(
                table[column.name], nan_ok=True
            ), (name, column.name)


def test_numbers_are_not_copied(job):
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("pandas", "1.3")  # older ones copy
    table = job.view("kernels", rank=0)
    index = table.names.index("calls")
    address = numpy.frombuffer(table._core.column(index)[0], "i8").ctypes.data
    again = numpy.frombuffer(table._core.column(index)[0], "i8").ctypes.data
    assert address == again
    frame = table.to_pandas()
    assert frame["calls"].to_numpy().ctypes.data == address
    assert address % 64 == 0


def test_columns_outlive_their_table(job):
    numpy = pytest.importorskip("numpy")
    table = job.view("kernels", rank=0)
    calls = table["calls"]
    array = numpy.frombuffer(table._core.column(table.names.index("calls"))[0], "i8")
    del table
    assert array.tolist() == calls
    with pytest.raises((TypeError, ValueError, BufferError)):
        array[0] = 1


def test_arrow_streams_can_be_read_again(job):
    pyarrow = pytest.importorskip("pyarrow")
    table = job.view("kernels", rank=0)
    first, second = (pyarrow.table(table) for _ in range(2))
    assert first.equals(second) and first.num_rows == len(table)
    column = first.column("calls").chunk(0)
    buffer = memoryview(table._core.column(table.names.index("calls"))[0])
    import numpy

    assert column.buffers()[1].address == numpy.frombuffer(buffer, "i8").ctypes.data


def test_hostile_names_in_html(tmp_path):
    name = "<script>alert(1)</script>&\"'"
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": i * 10, "dur": 5}
        for i in range(5)
    ]
    path = tmp_path / "rank0.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with stepscope.open(path) as job:
        table = job.operators()
        assert name in table["name"]
        html = table._repr_html_()
        assert "<script>" not in html and "&lt;script&gt;" in html
        assert "<script>" not in job._repr_html_()
