# SPDX-License-Identifier: Apache-2.0
"""Writes a file without harm to the training process.

PyTorch exports a trace with Python's lock held: wherever that happens, the training thread waits.
So it exports itself, plain, to the local disk: compressing would take twelve times as long. A
helper process (_process.py) compresses the file and moves it to the user's folder, which may be
slow, full or hanging. Nothing here forks, unless the user asks for it (_fork.py).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from . import _fork
from ._helper import DONE, part_of, put, reason
from ._process import Helper, meet
from ._safe import warn

WRITE_LIMIT_S = 900
CHECK_LIMIT_S = 10


def trace_file(export_to: Callable[[str], Any]) -> Callable[[str], str]:
    """Makes a trace in a folder: the JSON that PyTorch writes."""

    def make(folder: str) -> str:
        plain = os.path.join(folder, "trace.json")
        export_to(plain)
        return plain

    return make


def usable(folder: str | os.PathLike[str]) -> str:
    """The whole name of a folder; raises if no file can be written there, or to the local disk."""
    name = os.fsdecode(folder)
    if not name or "\0" in name:
        raise ValueError(f"{name!r} is no folder")
    place = os.path.abspath(name)
    try:
        helper = Helper(CHECK_LIMIT_S, "check", place, tempfile.gettempdir())
    except Exception:  # noqa: BLE001
        return place  # no process can be started: files will be written without one
    said, problem = helper.result()
    if said.strip() == DONE:
        return place
    if not said:
        raise OSError(f"cannot look at '{place}': {problem or 'the helper process was ended'}")
    raise OSError(said.strip().splitlines()[-1])


class Writer:
    """A file on its way to disk. is_written is valid when ended is set."""

    def __init__(
        self,
        make: Callable[[str], str],
        path: str,
        limit_s: float = WRITE_LIMIT_S,
        fork: bool = False,
    ) -> None:
        self.path = os.path.abspath(path)
        self.is_written = False
        self.ended = threading.Event()
        self._limit_s = limit_s
        self._part = ""
        try:
            self._part = tempfile.mkdtemp(prefix="stepscope.")
            child = _fork.start(make, self._part, self.path, limit_s) if fork else None
            if child is not None:
                pid, reader = child
                self._beside(lambda: meet(pid, reader, limit_s))
            else:
                self._beside(self._move(make(self._part)))
        except Exception as error:  # noqa: BLE001
            self._end(reason(error))

    def _beside(self, task: Callable[[], tuple[str, str]]) -> None:
        """Does the rest in a thread; where none can be started, here."""

        def run() -> None:
            try:
                said, problem = task()
                if said.strip() == DONE:
                    problem = ""
                else:
                    problem = problem or said.strip() or "the helper process was ended"
            except Exception as error:  # noqa: BLE001
                problem = reason(error)
            self._end(problem)

        try:
            threading.Thread(target=run, name="stepscope-writer", daemon=True).start()
        except RuntimeError:
            run()

    def _move(self, source: str) -> Callable[[], tuple[str, str]]:
        """Starts the helper; what remains to be done."""
        try:
            return Helper(self._limit_s, "write", source, self.path).result
        except Exception:  # noqa: BLE001
            return lambda: self._move_here(source)

    def _move_here(self, source: str) -> tuple[str, str]:
        put(source, self.path)
        return DONE, ""

    def _end(self, problem: str) -> None:
        self.is_written = not problem
        shutil.rmtree(self._part, ignore_errors=True)
        if problem:
            warn(f"'{self.path}' was not written: {problem}")
        self.ended.set()
        if problem:  # a disk that hangs may hold this thread now: nobody waits for it
            with contextlib.suppress(OSError):
                os.unlink(part_of(self.path))
