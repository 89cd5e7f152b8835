# SPDX-License-Identifier: Apache-2.0
"""Where the time of a training step goes, why, and what to change.

    import stepscope

    job = stepscope.open("traces/")
    print(job.verdict)
    job.operators(group="shapes").to_pandas()

A job holds the traces of one run: one file or one per rank. Tables hand their columns to pandas,
polars, pyarrow and DuckDB without a copy.
"""

from ._core import (
    Error,
    FileError,
    FormatError,
    LimitError,
    MissingError,
    StoppedError,
    UsageError,
    version as __version__,
)
from ._job import (
    Comparison,
    Frame,
    Job,
    Snapshot,
    demo,
    diff,
    explain,
    open,
    store_changes,
    views,
)
from ._table import Column, ColumnError, Table
from ._verdict import Evidence, Finding, Findings, Verdict, WhatIf

__all__ = [
    "Column",
    "ColumnError",
    "Comparison",
    "Error",
    "Evidence",
    "FileError",
    "Finding",
    "Findings",
    "FormatError",
    "Frame",
    "Job",
    "LimitError",
    "MissingError",
    "Snapshot",
    "StoppedError",
    "Table",
    "UsageError",
    "Verdict",
    "WhatIf",
    "__version__",
    "demo",
    "diff",
    "explain",
    "open",
    "store_changes",
    "views",
]
