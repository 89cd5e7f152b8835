# SPDX-License-Identifier: Apache-2.0
"""Recording some steps when somebody asks, on all ranks at the same step.

Whoever asks writes `.request.json` into the folder of the job, with a step in the future; every
rank looks for it every two seconds. So all ranks record the same steps, and none waits for
another. A rank that reads it too late records nothing.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ._helper import part_of, reason
from ._record import Recording
from ._safe import is_profiling, over, turn, warn

REQUEST = ".request.json"
AHEAD_S = 20.0  # ranks look every two seconds, some through slow file systems
STEPS_MAX = 20
PER_DAY = 6
BETWEEN_S = 1800.0
_REST_S = 300.0  # CUPTI is torn down meanwhile
_REQUEST_BYTES_MAX = 4096


def ask(folder: str, first: int, steps: int, why: str) -> None:
    """Writes a request; it appears whole, or not at all."""
    path = os.path.join(folder, REQUEST)
    part = part_of(path)
    request = {"id": f"{time.time_ns()}.{os.getpid()}", "first": first, "steps": steps, "why": why}
    with open(part, "x", encoding="utf-8") as file:
        json.dump(request, file)
        file.write("\n")
    os.replace(part, path)


def _is_number(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


class Requests:
    """The newest request of a folder that this rank has not seen; looked at in a thread."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, REQUEST)
        self._seen = self._mark()  # what was asked before this process began is not for it

    def _mark(self) -> tuple[int, int, int]:
        try:
            status = os.stat(self._path)
        except OSError:
            return 0, 0, 0
        return status.st_ino, status.st_mtime_ns, status.st_size

    def look(self) -> dict[str, Any] | None:
        """A new request that makes sense; others are told of once."""
        mark = self._mark()
        if mark in (self._seen, (0, 0, 0)):
            return None
        self._seen = mark
        try:
            with open(self._path, encoding="utf-8") as file:
                request = json.loads(file.read(_REQUEST_BYTES_MAX))
        except (OSError, ValueError, RecursionError) as error:
            warn(f"a request to record cannot be read: {reason(error)}")
            return None
        if (
            not isinstance(request, dict)
            or not _is_number(request.get("first"), 1, 1 << 53)
            or not _is_number(request.get("steps"), 1, STEPS_MAX)
        ):
            warn("a request to record has no step, or too many steps")
            return None
        return request


class Session:
    """Some steps with the profiler on: prepared in a thread, driven by the training thread."""

    def __init__(self, recording: Recording, request: dict[str, Any]) -> None:
        self.first, self.steps = int(request["first"]), int(request["steps"])
        self.is_over = False
        self._recording = recording
        self._profiler: Any = None

    def step(self, count: int) -> bool:
        """A step has ended. Whether the profiler was on in it."""
        if self._profiler is None:
            # one step of warmup: the step after the next is the first that is recorded
            if count == self.first - 2:
                self._begin()
            elif count > self.first - 2:
                self.is_over = True
                warn(f"step {self.first} was to be recorded, and is over: nothing is recorded")
            return False
        self._profiler.step()
        if count >= self.first + self.steps - 1:
            self.stop()
        return True

    def _begin(self) -> None:
        import torch

        if over.is_set() or is_profiling() or not turn.acquire(blocking=False):
            self.is_over = True
            warn("steps were to be recorded, but another profiler is on, or was too expensive")
            return
        try:
            self._profiler = torch.profiler.profile(
                schedule=torch.profiler.schedule(wait=0, warmup=1, active=self.steps, repeat=1),
                on_trace_ready=self._recording.write,
                record_shapes=True,
            )
            self._profiler.start()
        except BaseException:
            self._profiler, self.is_over = None, True
            turn.release()
            raise

    def stop(self) -> None:
        """Ends; a session that did not record all of its steps writes what it has."""
        profiler, self._profiler, self.is_over = self._profiler, None, True
        if profiler is not None:
            try:
                profiler.stop()
            finally:
                turn.release()


class Limits:
    """How often this process may ask by itself."""

    def __init__(self, per_day: int, between_s: float) -> None:
        self._per_day, self._between_s = per_day, max(between_s, _REST_S if between_s else 0)
        self._asked: list[float] = []

    def take(self) -> bool:
        """Whether it may ask now; then that counts."""
        now = time.monotonic()
        self._asked = [one for one in self._asked if now - one < 86400]
        if len(self._asked) >= self._per_day:
            return False
        if self._asked and now - self._asked[-1] < self._between_s:
            return False
        self._asked.append(now)
        return True
