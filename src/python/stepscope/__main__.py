# SPDX-License-Identifier: Apache-2.0
"""``python -m stepscope`` is the command."""

import os
import sys

from . import _core


def main() -> None:
    """Runs the command with the arguments of the process, which ends with its exit code."""
    words = ("stepscope", *sys.argv[1:])
    code = _core.command(tuple(os.fsencode(word) for word in words))
    # the command has restricted what this process may do: Python's own end may need more
    os._exit(code)


if __name__ == "__main__":
    main()
