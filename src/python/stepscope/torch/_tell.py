# SPDX-License-Identifier: Apache-2.0
"""The verdict after a recording, by rank 0: a process of its own, with a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from ._safe import warn

_LOOK_S = 0.2


def ranks_there(folder: str, mark: str, since_ms: int) -> int:
    """How many ranks have written their file of this cycle since then.

    The time in the name keeps files of an earlier run in the same folder apart. Each rank writes
    its own clock into it, and the cycle lies between: clocks may differ by as much.
    """
    ranks = set()
    for name in os.listdir(folder):
        parts = name.split(".")
        if name.endswith(f".{mark}.json.gz") and len(parts) == 7 and parts[3].isdigit():
            if int(parts[3]) >= since_ms:
                ranks.add(parts[0])
    return len(ranks)


class Teller:
    """Waits for the files of all ranks and prints the verdict."""

    def __init__(self, folder: str, since_ms: int, limit_s: float) -> None:
        self._folder = folder
        self._since_ms = since_ms
        self._limit_s = limit_s
        self._process: subprocess.Popen[str] | None = None

    def tell(self, size: int, mark: str) -> None:
        """Half of the limit is for the other ranks' files, the rest for the verdict."""
        end = time.monotonic() + self._limit_s
        while (there := ranks_there(self._folder, mark, self._since_ms)) < size:
            if time.monotonic() > end - self._limit_s / 2:
                warn(f"only {there} of {size} ranks have written to '{self._folder}' in time")
                break
            time.sleep(_LOOK_S)
        self._run(end)

    def stop(self) -> None:
        """Ends the process of the verdict: nobody waits for it any more."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def _run(self, end: float) -> None:
        words = [sys.executable, "-m", "stepscope", "diagnose", self._folder]
        if shutil.which("nice"):
            words = ["nice", "-n", "19", *words]
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        try:
            said, problem = self._process.communicate(timeout=max(1.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop()
            self._process.communicate()
            warn(
                f"the verdict took longer than {self._limit_s:.0f} s;"
                f" run 'stepscope {self._folder}'"
            )
            return
        if self._process.returncode:
            warn(f"no verdict: {problem.strip() or self._process.returncode}")
            return
        print(said, end="", flush=True)
