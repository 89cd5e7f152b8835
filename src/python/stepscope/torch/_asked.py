# SPDX-License-Identifier: Apache-2.0
"""Recording some steps when somebody asks, on all ranks at the same step.

Whoever asks writes `.request.json` into the folder of the job, with a step in the future; every
rank looks for it every two seconds. So all ranks record the same steps, and none waits for
another. A rank that reads it too late records nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from typing import Any

from ._helper import part_of, reason
from ._record import Recording
from ._safe import is_profiling, over, quiet, turn, warn

REQUEST = ".request.json"
_ASKED = ".asked.json"
AHEAD_S = 20.0  # ranks look every two seconds, some through slow file systems
STEPS_MAX = 20
PER_DAY = 6
BETWEEN_S = 1800.0
DISK_BYTES = 2 << 30
_BETWEEN_LEAST_S = 300.0
_DAY_S = 86400.0
_REQUEST_BYTES_MAX = 4096
# a recording of three steps has tens of megabytes; the disk keeps this for the training
_FREE_BYTES_MIN = 1 << 30


def _put(path: str, value: Any) -> None:
    """Writes JSON; it appears whole, or not at all."""
    part = part_of(f"{path}.{os.getpid()}")  # one that was killed is in nobody's way
    try:
        with open(part, "x", encoding="utf-8") as file:
            json.dump(value, file)
            file.write("\n")
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def ask(folder: str, first: int, steps: int, why: str) -> None:
    """Writes a request."""
    name = f"{time.time_ns()}.{os.getpid()}"
    request = {"id": name, "first": first, "steps": steps, "why": why}
    _put(os.path.join(folder, REQUEST), request)


def no_room(folder: str, most: int) -> str:
    """Why no more traces may go into a folder; empty if they may."""
    try:
        free = shutil.disk_usage(folder).free
        used = sum(one.stat().st_size for one in os.scandir(folder) if one.is_file())
    except FileNotFoundError:
        return ""  # it is made when the first trace comes
    except OSError as error:
        return reason(error)
    if used >= most:
        return f"'{folder}' has {used / 1e9:.2g} GB, and may have {most / 1e9:.2g} GB"
    return f"the disk of '{folder}' is almost full" if free < _FREE_BYTES_MIN else ""


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

    def __init__(self, recording: Recording, request: dict[str, Any], job: str) -> None:
        self._job = job
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
        if self._job and count == self.first - 1:
            quiet(self._profiler.add_metadata)("job_name", self._job)
        if count >= self.first + self.steps - 1:
            self.stop()
        return True

    def _begin(self) -> None:
        import torch

        if over.is_set() or is_profiling() or not turn.acquire(blocking=False):
            self.is_over = True
            warn("steps were to be recorded, but another profiler is on, or was too expensive")
            return
        warmup = self.first - 1
        plan = torch.profiler.schedule(wait=0, warmup=1, active=self.steps, repeat=1)
        try:
            self._profiler = torch.profiler.profile(
                schedule=lambda step: plan(max(0, step - warmup)),
                on_trace_ready=self._recording.write,
                record_shapes=True,
            )
            self._profiler.step_num = warmup  # so marks have the numbers of the live numbers
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
    """How often a job may ask by itself; a file of the job remembers it, for restarts."""

    def __init__(self, folder: str, per_day: int, between_s: float) -> None:
        self._path = os.path.join(folder, _ASKED)
        least = _BETWEEN_LEAST_S if between_s else 0
        self._per_day, self._between_s = per_day, max(between_s, least)

    def _asked(self, now: float) -> list[tuple[float, bool]]:
        """Times of the last day, and whether it was for the baseline."""
        try:
            with open(self._path, encoding="utf-8") as file:
                entries = json.loads(file.read(_REQUEST_BYTES_MAX))
        except (OSError, ValueError, RecursionError):
            return []
        asked = []
        for entry in entries if isinstance(entries, list) else []:
            is_entry = isinstance(entry, list) and len(entry) == 2
            if is_entry and isinstance(entry[0], (int, float)) and abs(now - entry[0]) < _DAY_S:
                asked.append((float(entry[0]), bool(entry[1])))
        return asked

    def take(self, is_baseline: bool = False) -> bool:
        """Whether it may ask now; then that counts. Raises where that cannot be remembered.

        These limits are about changes, one after the other. A baseline is expected, and holds up no
        change; changes and earlier baselines hold up a baseline.
        """
        now = time.time()
        asked = self._asked(now)
        counted = [at for at, was_baseline in asked if is_baseline or not was_baseline]
        if len(counted) >= self._per_day or any(now - at < self._between_s for at in counted):
            return False
        _put(self._path, [*asked, (round(now, 3), is_baseline)])
        return True
