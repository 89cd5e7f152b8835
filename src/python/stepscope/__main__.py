# SPDX-License-Identifier: Apache-2.0
"""``python -m stepscope`` is the command."""

import os
import sys

from . import _core
from ._duckdb import find_duckdb

# commands that load DuckDB; the others start sooner without a look for it
USES_SQL = frozenset(("sql", "store", "watch", "serve", "check", "version"))


def main() -> None:
    """Runs the command with the arguments of the process, which ends with its exit code."""
    words = ("stepscope", *sys.argv[1:])
    library = find_duckdb() if USES_SQL.intersection(words[1:2]) else None
    if library:
        os.environ["STEPSCOPE_DUCKDB"] = library
    code = _core.command(tuple(os.fsencode(word) for word in words))
    # the command has restricted what this process may do: Python's own end may need more
    os._exit(code)


if __name__ == "__main__":
    main()
