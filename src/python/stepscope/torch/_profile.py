# SPDX-License-Identifier: Apache-2.0
"""A profiler with the schedule and flags that the verdict needs."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from numbers import Integral
from types import TracebackType
from typing import Any

from ._helper import reason
from ._memory import MemoryHistory
from ._pace import Pace, let_cupti_go
from ._record import Recording, traces_in
from ._safe import is_profiling, over, quiet, turn, warn, with_stacks

_BUSY = "another profiler of PyTorch is recording"


def trace_handler(
    folder: str | os.PathLike[str] = "traces",
    *,
    verdict: bool = True,
    limit_s: float = 120,
    fork: bool = False,
) -> Callable[[Any], None]:
    """For ``on_trace_ready`` of torch.profiler.profile: one .json.gz file per rank.

    The training thread exports to the local disk, a helper process compresses and moves the file.
    Rank 0 prints the verdict when all ranks have written, at most ``limit_s`` seconds later.
    """
    recording = traces_in(folder, verdict, limit_s, fork)
    if recording is None:
        return lambda prof: None
    atexit.register(quiet(recording.finish))
    return quiet(recording.write)


class profile:
    """Records ``steps`` training steps and prints the verdict.

    folder: where the traces go, one file per rank; all ranks name the same one.
    steps: how many are recorded, after ``wait`` steps without and ``warmup`` steps with a profiler
    whose events are discarded. repeat: how often that is done; 0 is until the end.
    stacks: lines of the program and modules (the costliest flag); shapes: of the inputs of
    operators; memory: allocations in the trace and, on a GPU, a snapshot of memory.
    verdict: rank 0 prints it; the end of the recording waits for it ``limit_s`` seconds at most.
    fork: a copy of the process exports the trace, not the training thread; unsafe with RDMA.

    Call ``step()`` after each step. With ``enabled=False`` nothing is done at all.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] = "traces",
        *,
        steps: int = 5,
        wait: int = 10,
        warmup: int = 3,
        repeat: int = 1,
        stacks: bool = True,
        shapes: bool = True,
        memory: bool = False,
        verdict: bool = True,
        limit_s: float = 120,
        enabled: bool = True,
        fork: bool = False,
    ) -> None:
        self._folder, self._verdict, self._limit_s, self._fork = folder, verdict, limit_s, fork
        self._schedule = {"wait": wait, "warmup": warmup, "active": steps, "repeat": repeat}
        self._flags = {"with_stack": stacks, "record_shapes": shapes, "profile_memory": memory}
        self._enabled = enabled
        self._steps_done = 0
        self._owner = (0, 0)
        self._profiler: Any = None
        self._recording: Recording | None = None
        self._memory: MemoryHistory | None = None
        self._pace: Pace | None = None
        self._step_began = 0.0
        self._has_failed = False
        self._has_turn = False

    def start(self) -> None:
        """Begins; the with statement does this."""
        if not self._enabled:
            return
        if self._recording is not None:
            warn("this profile has been started already")
            return
        if over.is_set():
            warn("nothing is recorded: training was slower after an earlier recording")
            return
        if not turn.acquire(blocking=False):
            warn("another recording is going on in this process: this one does nothing")
            return
        self._owner = (os.getpid(), threading.get_ident())
        self._steps_done, self._has_failed, self._has_turn = 0, False, True
        try:
            self._check_numbers()
            self._recording = traces_in(self._folder, self._verdict, self._limit_s, self._fork)
            if self._recording is None:
                self._let_go()
                return
            self._profiler = self._make(self._recording)
            self._profiler.start()
            self._pace, self._step_began = Pace(), 0.0
            if self._flags["profile_memory"]:
                self._memory = MemoryHistory(self._recording.folder)
                self._memory.start(is_needed=False)
        except Exception as error:  # noqa: BLE001
            self._fail(error, "nothing is recorded")

    def _check_numbers(self) -> None:
        for name, value in self._schedule.items():
            shown, least = ("steps", 1) if name == "active" else (name, 0)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{shown} is {value!r}, and must be a number of {least} or more")

    def _make(self, recording: Recording) -> Any:
        import torch

        if not self._schedule["wait"] and is_profiling():
            raise RuntimeError(_BUSY)
        if not torch.profiler.kineto_available():
            warn(f"PyTorch {torch.__version__} is built without Kineto: its traces have no steps")
        let_cupti_go(torch)
        # without activities PyTorch takes all that this machine has
        return torch.profiler.profile(
            schedule=torch.profiler.schedule(**self._schedule),
            on_trace_ready=quiet(recording.write),
            **{**self._flags, "with_stack": with_stacks(self._flags["with_stack"])},
        )

    def _is_mine(self, name: str) -> bool:
        """A forked process and another thread cannot go on with a profiler."""
        if self._owner == (os.getpid(), threading.get_ident()):
            return True
        if self._owner[0] == os.getpid() and not self._has_failed:
            self._has_failed = True
            warn(f"{name}() has no effect in another thread than start()")
        return False

    def _let_go(self) -> None:
        self._profiler = None
        if self._has_turn:
            self._has_turn = False
            turn.release()

    def _fail(self, error: Exception, what: str = "recording stopped") -> None:
        """Gives up, and leaves no profiler on."""
        warn(f"{what}: {reason(error)}")
        self._has_failed = True
        self._give_up()

    def _give_up(self) -> None:
        profiler, self._pace = self._profiler, None
        self._let_go()
        if profiler is not None:
            profiler.on_trace_ready = None
            try:
                profiler.stop()
            except Exception:  # noqa: BLE001, S110 - it has failed already
                pass

    def step(self) -> None:
        """One training step has ended."""
        now = time.perf_counter()
        self._steps_done += 1
        if self._pace is None or not self._is_mine("step"):
            return
        try:
            self._watch(now, self._pace)
            if self._profiler is not None:
                self._step(self._profiler, self._pace)
        except Exception as error:  # noqa: BLE001
            self._fail(error)
        self._step_began = time.perf_counter()

    def _watch(self, now: float, pace: Pace) -> None:
        """Ends recording if steps without a profiler are slower than before the first one."""
        recording, profiler = self._recording, self._profiler
        if recording is None or not self._step_began or recording.is_writing():
            return
        if profiler is not None and profiler.current_action.name != "NONE":
            return
        problem = pace.step(now - self._step_began, recording.cycles > 0)
        if problem:
            over.set()
            warn(problem)
            self._give_up()
        elif profiler is None and pace.is_done():
            self._pace = None

    def _step(self, profiler: Any, pace: Pace) -> None:
        assert self._recording is not None
        cycles = self._recording.cycles
        if profiler.current_action.name == "NONE":
            if profiler.schedule(profiler.step_num + 1).name != "NONE" and is_profiling():
                raise RuntimeError(_BUSY)
        profiler.step()
        if self._recording.cycles != cycles:
            pace.recorded()
        if self._schedule["repeat"] and self._recording.cycles >= self._schedule["repeat"]:
            profiler.stop()
            self._let_go()

    def stop(self, wait: bool = True) -> None:
        """Ends: waits for the files and the verdict, at most as long as the limit.

        Without ``wait`` the end of the process waits for the files.
        """
        if self._recording is None or not self._is_mine("stop"):
            return
        recording, profiler = self._recording, self._profiler
        self._recording = self._pace = None
        try:
            if profiler is not None:
                profiler.stop()
                self._let_go()
            if self._memory is not None:
                self._memory.stop()
            if not wait:
                return
            recording.finish()
            if not recording.cycles and not self._has_failed:
                needed = sum(self._schedule[name] for name in ("wait", "warmup", "active"))
                warn(
                    f"no trace was written: {self._steps_done} steps were done, and the first"
                    f" recording ends after {needed}; set wait and steps lower"
                )
        except Exception as error:  # noqa: BLE001
            self._fail(error)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # an error of the loop is not held up; files are waited for at the end of the process
        self.stop(wait=error is None)
