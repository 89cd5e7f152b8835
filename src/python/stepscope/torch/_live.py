# SPDX-License-Identifier: Apache-2.0
"""Numbers of every step while a job runs, and a short recording when steps become slower."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
from statistics import median
from types import TracebackType
from typing import Any

from ._asked import (
    AHEAD_S,
    BETWEEN_S,
    DISK_BYTES,
    PER_DAY,
    Limits,
    Requests,
    Session,
    ask,
    no_room,
)
from ._detect import Detector
from ._helper import reason
from ._pace import Pace
from ._record import traces_in
from ._rows import IS_MINUTE, IS_RECORDED, ROW, RowFile, clip
from ._safe import host_name, over, quiet, rank_and_size, warn
from ._steps import Steps

_LOOK_S = 2.0
_SLOW_WRITE_S = 5.0
_BASELINE_STEP = 500
_BASELINE = "baseline"
_STEPS = 3
_RECENT = 64


def _sums_of_collectives(seen: int) -> tuple[int, int, int]:
    """Collectives since the number that was seen: the newest number, how many, their bytes.

    Only where the flight recorder is on; its JSON takes 32 ms for 2,000 records.
    """
    import torch

    dump = getattr(torch._C._distributed_c10d, "_dump_fr_trace_json", None)
    if dump is None or not (
        os.environ.get("TORCH_FR_BUFFER_SIZE") or os.environ.get("TORCH_NCCL_TRACE_BUFFER_SIZE")
    ):
        return seen, 0, 0
    newest, count, size = seen, 0, 0
    for entry in json.loads(dump(True, False)).get("entries", []):
        number = int(entry.get("record_id", entry.get("id", 0))) + 1
        if number > seen:
            newest, count = max(newest, number), count + 1
            for sizes in entry.get("input_sizes", []):
                elements = 4  # bytes; dtypes narrower than float make this an upper bound
                for length in sizes:
                    elements *= int(length)
                size += elements
    return newest, count, size


class Live:
    """What ``live()`` gives: ``step()`` for loops without an optimizer, ``stop()`` to end it."""

    def __init__(
        self, folders: tuple[str, str, str], job: str, record: bool, limits: Limits, disk: int
    ) -> None:
        self._folder, self._shared, self._traces = folders
        self._job, self._record, self._limits, self._disk = job, record, limits, disk
        self._has_no_room = False
        self._begin_ns = time.time_ns()
        self._pid = os.getpid()
        self._steps = Steps(self._give_up)
        self._file: RowFile | None = None
        self._session: Session | None = None
        self._detector = Detector()
        self._pace = Pace()
        self._has_recorded = self._is_recording = False
        self._problem = ""
        self._slow_writes = 0
        self._minute = time.monotonic()
        self._seen_collectives = 0
        self._recent: list[int] = []
        self._has_baseline = False
        self._wanted = ""
        self._end = threading.Event()
        self._is_done = False
        self._thread = threading.Thread(target=self._watch, name="stepscope-live", daemon=True)

    def start(self) -> None:
        self._steps.install()
        self._thread.start()
        atexit.register(self._exit)

    def step(self) -> None:
        """A step has ended; needed only where no optimizer of PyTorch steps."""
        if not self._end.is_set() and os.getpid() == self._pid:
            self._steps.step()

    def stop(self) -> None:
        """Takes the hooks away, writes what is left, and that no step follows."""
        self._stop(is_done=True)

    def _stop(self, is_done: bool) -> None:
        if os.getpid() == self._pid and not self._end.is_set():
            self._is_done = is_done
            self._end.set()
            self._steps.remove()
            self._thread.join(_SLOW_WRITE_S)
            atexit.unregister(self._exit)

    def _exit(self) -> None:
        """A program that an exception ends is not through: somebody is to hear of it."""
        self._stop(is_done=getattr(sys, "last_value", None) is None)

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop(is_done=error is None)

    # --- in the training thread ---------------------------------------------------------------

    def _in_session(self, count: int) -> bool:
        """Whether the step that has ended was recorded. Nothing may leave: a hook calls it."""
        session, is_recorded = self._session, False
        try:
            if session is not None:
                is_recorded = session.step(count)
                if not session.is_over:
                    return is_recorded
        except Exception as error:  # noqa: BLE001
            warn(f"steps are not recorded: {reason(error)}")
        self._session = self._steps.session = None
        return is_recorded

    def _give_up(self, problem: str) -> None:
        self._end.set()
        self._steps.remove()
        warn(f"live numbers have ended: {problem}")

    # --- in a thread of its own ---------------------------------------------------------------

    def _watch(self) -> None:
        try:
            requests = Requests(self._shared) if self._record else None
            is_last = False
            while not is_last:
                is_last = self._end.wait(_LOOK_S)
                self._write()
                if requests is not None and not is_last and not over.is_set():
                    self._answer(requests)
            if self._is_done and self._file is not None:
                self._file.end()
        except Exception as error:  # noqa: BLE001
            self._give_up(f"'{self._folder}': {reason(error)}")

    def _write(self) -> None:
        rows = self._take_rows()
        if not rows:
            return
        began = time.monotonic()
        if self._file is None:
            rank, size = rank_and_size()
            who = (rank, size, host_name(), self._job, self._begin_ns)
            self._file = RowFile(self._folder, who)
        self._file.add(rows)
        self._slow_writes = self._slow_writes + 1 if time.monotonic() - began > _SLOW_WRITE_S else 0
        if self._slow_writes > 1:
            raise OSError(f"writing takes more than {_SLOW_WRITE_S:.0f} seconds")

    def _take_rows(self) -> list[bytes]:
        rows = []
        is_first_rank = rank_and_size()[0] == 0
        for row in self._steps.take():
            self._recent.append(row[2])
            is_recorded = bool(row[7] & IS_RECORDED)
            self._compare(row[2] / 1e6, is_recorded)
            if is_first_rank and not is_recorded:
                self._notice(row[2] / 1e6)
            minute = (0, 0, 0, 0)
            if time.monotonic() - self._minute >= 60:
                self._minute = time.monotonic()
                minute = quiet(self._sums)() or minute
                row = (*row[:7], row[7] | IS_MINUTE)
            rows.append(ROW.pack(*row, *minute))
        del self._recent[:-_RECENT]
        if self._wanted and self._record and not over.is_set():
            if quiet(self._ask)() is None:  # it cannot be asked: one warning is enough
                self._wanted = ""
        return rows

    def _sums(self) -> tuple[int, int, int, int]:
        import torch

        peak = retries = 0
        if torch.cuda.is_initialized():
            stats = torch.cuda.memory_stats()
            peak = int(stats.get("reserved_bytes.all.peak", 0))
            retries = int(stats.get("num_alloc_retries", 0))
        self._seen_collectives, count, size = _sums_of_collectives(self._seen_collectives)
        return clip(peak >> 20), clip(retries), clip(count), clip(size >> 20)

    def _compare(self, seconds: float, is_recorded: bool) -> None:
        """Whether a recording has left steps slower."""
        if is_recorded:
            self._has_recorded = self._is_recording = True
            return
        if self._is_recording:
            self._is_recording = False
            self._pace.recorded()
        self._problem = self._problem or self._pace.step(seconds, self._has_recorded)

    def _notice(self, seconds: float) -> None:
        """Rank 0 only: all ranks are to record when steps have become slower."""
        before, after = self._detector.step(seconds) or (0.0, 0.0)
        if after > before:
            self._wanted = f"steps take {after * 1e3:.4g} ms instead of {before * 1e3:.4g} ms"
        elif not self._has_baseline and self._steps.count >= _BASELINE_STEP:
            self._has_baseline = True
            self._wanted = self._wanted or _BASELINE

    def _ask(self) -> bool:
        """A change that comes too early for the limits is recorded later, a baseline is not.

        Ranks that wait for the step of a request, or record, take no other. After a recording CUPTI
        is torn down in the next call of CUDA, long before the step of the next request.
        """
        if self._session is not None:
            return True
        is_baseline = self._wanted == _BASELINE
        if not self._is_full() and self._limits.take(is_baseline):
            step_s = max(1e-6, median(self._recent) / 1e6)
            first = self._steps.count + max(3, int(AHEAD_S / step_s) + 1)
            ask(self._shared, first, _STEPS, self._wanted)
            is_baseline = True
        if is_baseline:
            self._wanted = ""
        return True

    def _is_full(self) -> bool:
        """Whether the traces of this node leave no room for more; said once."""
        why = no_room(self._traces, self._disk)
        if why and not self._has_no_room:
            warn(f"nothing more is recorded: {why}")
        self._has_no_room = bool(why)
        return self._has_no_room

    def _answer(self, requests: Requests) -> None:
        if self._problem:
            over.set()
            warn(self._problem)
            return
        request = requests.look()
        if request is None or self._session is not None or self._is_full():
            return
        recording = traces_in(self._traces, False, 120, False)
        if recording is not None:
            self._session = Session(recording, request, self._job)
            self._steps.session = self._in_session


def live(
    folder: str | os.PathLike[str] = "live",
    *,
    shared: str | os.PathLike[str] | None = None,
    job: str = "",
    record: bool = True,
    per_day: int = PER_DAY,
    between_s: float = BETWEEN_S,
    traces: str | os.PathLike[str] | None = None,
    disk_bytes: int = DISK_BYTES,
) -> Live | None:
    """Writes a row of 52 bytes per step, and records three steps when they become slower.

    folder: where the rows go, best on a disk of the node; one file per rank.
    shared: where requests go, the same for all ranks; by default ``folder``.
    traces: where traces go, by default ``shared/traces``; nothing is recorded while these take
    ``disk_bytes`` or more.
    job: a name for this run, by default the one that the scheduler gave.
    record: whether requests are answered and made; at most ``per_day`` a day, ``between_s`` apart.

    A step ends when an optimizer has stepped; call ``step()`` of the result where there is none.
    ``STEPSCOPE_LIVE=0`` switches it off: then, and where it cannot work, the result is None.
    """
    if os.environ.get("STEPSCOPE_LIVE", "1") == "0":
        return None
    try:
        place = os.path.abspath(os.fsdecode(folder))
        common = place if shared is None else os.path.abspath(os.fsdecode(shared))
        kept = os.path.join(common, "traces") if traces is None else os.fsdecode(traces)
        for path in (place, common):
            os.makedirs(path, exist_ok=True)
        name = job or os.environ.get("SLURM_JOB_ID") or os.environ.get("TORCHELASTIC_RUN_ID") or ""
        limits = Limits(common, int(per_day), float(between_s))
        folders = (place, common, os.path.abspath(kept))
        made = Live(folders, str(name), record, limits, int(disk_bytes))
        made.start()
        return made
    except Exception as error:  # noqa: BLE001
        warn(f"there are no live numbers: {reason(error)}")
        return None
