# SPDX-License-Identifier: Apache-2.0
"""Where DuckDB is, for ``job.sql`` and for the commands that use SQL."""

from __future__ import annotations

import ctypes
import importlib.util
import os


def find_duckdb() -> str | None:
    """A library with DuckDB's C interface; None: the C part looks where installers put it.

    The package ``duckdb`` has the interface in its own module since 1.5.3; earlier ones hide it.
    The module needs Python's symbols: no process but one of Python can load it.
    """
    asked = os.environ.get("STEPSCOPE_DUCKDB")
    if asked:
        return asked
    spec = importlib.util.find_spec("_duckdb")
    if spec is None or not spec.origin:
        return None
    try:
        has_interface = hasattr(ctypes.CDLL(spec.origin), "duckdb_open_ext")
    except OSError:
        return None
    return os.path.abspath(spec.origin) if has_interface else None
