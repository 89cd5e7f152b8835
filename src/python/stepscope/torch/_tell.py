# SPDX-License-Identifier: Apache-2.0
"""The verdict after a recording, by rank 0: from the helper process, with a time limit."""

from __future__ import annotations

import contextlib
import os
import signal

from ._process import Helper
from ._safe import warn


class Teller:
    """Waits for the files of all ranks and prints the verdict."""

    def __init__(self, folder: str, since_ms: int, limit_s: float) -> None:
        self._folder = folder
        self._since_ms = since_ms
        self._limit_s = limit_s
        self._helper: Helper | None = None

    def tell(self, size: int, mark: str) -> None:
        """Half of the limit is for the other ranks' files, the rest for the verdict."""
        numbers = (str(self._since_ms), str(size), str(self._limit_s / 2))
        self._helper = Helper(self._limit_s, "verdict", self._folder, mark, *numbers)
        said, problem = self._helper.result()
        self._helper = None
        if problem:
            warn(f"no verdict: {problem}; run 'stepscope {self._folder}'")
        else:
            print(said, end="", flush=True)

    def stop(self) -> None:
        """Ends the process of the verdict: nobody waits for it any more."""
        helper = self._helper
        if helper is not None:
            with contextlib.suppress(OSError):
                os.kill(helper.pid, signal.SIGKILL)
