# SPDX-License-Identifier: Apache-2.0
"""The traces that a profiler hands over, cycle after cycle."""

from __future__ import annotations

import atexit
import os
import threading
import time
from typing import Any

from ._fork import WARNING
from ._helper import reason
from ._safe import host_name, quiet, rank_and_size, warn
from ._tell import Teller
from ._write import Writer, trace_file, usable

# a disk that is slower than the recording must not gather processes
_WRITERS = 2


def has_trace(prof: Any) -> bool:
    """Whether a profiler still has its events: PyTorch 2.14 crashes where it exports none.

    A second profiler of the same thread takes them away from the first.
    """
    results = getattr(getattr(prof, "profiler", None), "kineto_results", None)
    start = getattr(results, "trace_start_ns", None)
    return start is None or start() != 0


class Recording:
    """Writes each cycle to a file of its own; rank 0 prints the verdict of each."""

    def __init__(self, folder: str, verdict: bool, limit_s: float, fork: bool) -> None:
        self.folder = folder
        self.cycles = 0
        self._verdict = verdict
        self._limit_s = limit_s
        self._fork = fork
        self._process = os.getpid()
        self._begin_ms = time.time_ns() // 1_000_000
        self._host = host_name()
        self._writers: list[Writer] = []
        self._tellers: list[tuple[threading.Thread, Teller]] = []
        self._one_verdict = threading.Lock()

    def write(self, prof: Any) -> None:
        """Starts to write what the profiler has recorded."""
        if os.getpid() != self._process:
            return
        rank, size = rank_and_size()
        mark = f"cycle{self.cycles}"
        self.cycles += 1
        if not has_trace(prof):
            warn(f"{mark} was not written: another profiler of PyTorch has ended this one")
            return
        self._writers = [writer for writer in self._writers if not writer.ended.is_set()]
        if len(self._writers) >= _WRITERS:
            warn(f"{mark} was left out: {_WRITERS} earlier traces are still being written")
            return
        stamp = time.time_ns() // 1_000_000
        name = f"rank{rank}.{self._host}.{self._process}.{stamp}.{mark}.json.gz"
        if self.cycles == 1:
            atexit.register(quiet(self._wait_for_files))
        path = os.path.join(self.folder, name)
        writer = Writer(trace_file(prof.export_chrome_trace), path, fork=self._fork)
        self._writers.append(writer)
        if self._verdict and rank == 0:
            teller = Teller(self.folder, self._begin_ms, self._limit_s)
            thread = threading.Thread(
                target=quiet(self._tell),
                args=(writer, teller, size, mark),
                name="stepscope-verdict",
                daemon=True,
            )
            self._tellers.append((thread, teller))
            thread.start()

    def _tell(self, writer: Writer, teller: Teller, size: int, mark: str) -> None:
        writer.ended.wait()
        if writer.is_written:
            with self._one_verdict:
                teller.tell(size, mark)

    def is_writing(self) -> bool:
        """Whether a file is still on its way."""
        return not all(writer.ended.is_set() for writer in self._writers)

    def _wait_for_files(self) -> None:
        """A process that was forked has nothing to wait for."""
        if os.getpid() != self._process:
            return
        end = time.monotonic() + self._limit_s
        for writer in self._writers:
            if not writer.ended.wait(max(0.0, end - time.monotonic())):
                warn(f"'{writer.path}' is still being written; another process completes it")

    def finish(self) -> None:
        """Waits for files and verdicts, at most as long as the limit."""
        end = time.monotonic() + self._limit_s
        self._wait_for_files()
        for thread, teller in self._tellers:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                teller.stop()
        self._tellers.clear()


def traces_in(
    folder: str | os.PathLike[str], verdict: bool, limit_s: float, fork: bool
) -> Recording | None:
    """A recording to a folder, as the user names it; None, and a warning, if that cannot be."""
    try:
        seconds = float(limit_s)
        if not 0 <= seconds < float("inf"):
            raise ValueError(f"limit_s is {limit_s}, and must be 0 or more")
        recording = Recording(usable(folder), verdict, seconds, fork)
    except Exception as error:  # noqa: BLE001
        warn(f"nothing is recorded: {reason(error)}")
        return None
    if fork:
        warn(WARNING)
    return recording
