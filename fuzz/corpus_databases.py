# SPDX-License-Identifier: Apache-2.0
"""Seeds of traces in SQLite and in JSON of rocprofv3: what the tests make, whole and hostile."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/trace/sqlite"))
import made  # noqa: E402


def databases():
    """(name, bytes) of SQLite traces, good and bad ones; small pages make small files."""
    yield "nsys", made.nsys(4)
    yield "nsys_processes", made.nsys(2, processes=2)
    yield "nsys_v3", made.nsys(1, nvtx="NVTX_EVENTS_V3")
    yield "rocpd", made.rocpd(4)
    yield "rocpd_merged", made.rocpd(1, suffixes=("_a", "_b"))
    for name, data, _ in made.hostile():
        yield name.replace(" ", "_"), data


def rocprof():
    """(name, bytes) of JSON."""
    yield "whole", made.rocprof()
    yield "two", made.rocprof(processes=2)
