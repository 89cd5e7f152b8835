# SPDX-License-Identifier: Apache-2.0
"""job.sql: rows of queries as tables."""

import os
import subprocess
import sys
import threading

import pytest
import stepscope

needs_duckdb = pytest.mark.skipif(
    not os.path.exists(os.environ.get("STEPSCOPE_DUCKDB", "")), reason="DuckDB is not there"
)


@needs_duckdb
def test_rows_equal_views(job):
    table = job.sql("select name, calls, total_ns from kernels(rank := 0) order by total_ns desc")
    kernels = job.kernels(rank=0)
    assert table.names == ("name", "calls", "total_ns")
    assert [tuple(row) for row in table] == list(
        zip(kernels["name"], kernels["calls"], kernels["total_ns"])
    )
    assert {column.name: column.unit for column in table.columns}["total_ns"] == "ns"


@needs_duckdb
def test_slices_equal_events(job):
    (row,) = job.sql("select count(*) as n, sum(dur_ns) as total_ns from slices")
    events = job.events()
    assert row.n == len(events)
    assert row.total_ns == sum(events["duration_ns"])


@needs_duckdb
def test_several_statements(job):
    table = job.sql("select 1 as a; select 2 as b;")
    assert table.to_dicts() == [{"b": 2}]
    assert job.sql("") is None


@needs_duckdb
@pytest.mark.parametrize(
    ("query", "words"),
    [("select * from slcies", "did you mean 'slices'"), ("selec 1", "syntax error")],
)
def test_errors_are_sentences(job, query, words):
    with pytest.raises(stepscope.UsageError, match=words):
        job.sql(query)


@needs_duckdb
def test_no_files_unless_allowed(job, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n7\n")
    query = f"select a from '{path}'"
    with pytest.raises(stepscope.Error):
        job.sql(query)
    assert job.sql(query, allow_files=True)["a"] == [7]


@needs_duckdb
def test_cancel_stops_a_query(slow):
    ends = threading.Timer(1, slow.cancel)
    ends.start()
    with pytest.raises(stepscope.StoppedError):
        slow.sql("select sum(a.dur_ns * b.dur_ns * c.slice) as x from slices a, slices b, slices c")


def test_without_duckdb(job_path):
    """In a process of its own: what is loaded once stays."""
    code = "import stepscope, sys; stepscope.open(sys.argv[1]).sql('select 1')"
    done = subprocess.run(
        [sys.executable, "-c", code, job_path],
        capture_output=True,
        text=True,
        env=dict(os.environ, STEPSCOPE_DUCKDB="/nonexistent/libduckdb.so"),
    )
    assert done.returncode == 1
    assert "stepscope." in done.stderr and "DuckDB" in done.stderr.splitlines()[-1]


@needs_duckdb
def test_the_package_of_python_is_taken(job_path, tmp_path):
    """A module _duckdb that exports the C interface, as that of the package duckdb does."""
    module = tmp_path / "_duckdb.so"
    module.symlink_to(os.path.realpath(os.environ["STEPSCOPE_DUCKDB"]))
    variables = {key: value for key, value in os.environ.items() if key != "STEPSCOPE_DUCKDB"}
    variables["PYTHONPATH"] = os.pathsep.join((str(tmp_path), *filter(None, sys.path)))
    code = "import stepscope, sys; print(stepscope.open(sys.argv[1]).sql('select 7 as a')['a'])"
    for words in (["-c", code, job_path], ["-m", "stepscope", "version", "--json"]):
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, env=variables, check=True
        )
        assert "[7]" in done.stdout or f'"library": "{module}"' in done.stdout, done.stdout


@needs_duckdb
def test_changes_of_running_jobs(tmp_path):
    """Steps of a store that became slower; a job of another name has none."""
    from stepscope.torch._rows import ROW, UNKNOWN, RowFile

    begin = 1_790_000_000 * 10**6
    file, now, rows = RowFile(str(tmp_path), (0, 1, "node", "slower", begin * 1000)), begin, []
    for step in range(1, 8001):
        took = 1_100_000 + step % 7 * 1000 if step > 4000 else 1_000_000 + step % 7 * 1000
        now += took
        rows.append(ROW.pack(now, step, took, 0, 0, 0, UNKNOWN, 0, 0, 0, 0, 0))
    file.add(rows)
    file.close()
    store = tmp_path / "store"
    variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    if "STEPSCOPE_SLOW" in variables:  # sanitizers look for C++ before DuckDB brings it
        variables["LD_PRELOAD"] = "libstdc++.so.6"
    words = [variables["STEPSCOPE"], "store", "add", store, tmp_path]
    subprocess.run(words, check=True, env=variables)
    table = stepscope.store_changes(store)
    assert list(table["job"]) == ["slower"] and abs(table["step"][0] - 4000) < 700
    assert len(stepscope.store_changes(store, "another")) == 0
    with pytest.raises(stepscope.FileError):
        stepscope.store_changes(tmp_path / "nowhere")
