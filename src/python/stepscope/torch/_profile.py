# SPDX-License-Identifier: Apache-2.0
"""A profiler with the schedule and flags that the verdict needs."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ._memory import MemoryHistory
from ._record import Recording, traces_in
from ._safe import is_profiling, quiet, reason, turn, warn, with_stacks

_BUSY = "another profiler of PyTorch is recording"


def trace_handler(
    folder: str | os.PathLike[str] = "traces", *, verdict: bool = True, limit_s: float = 120
) -> Callable[[Any], None]:
    """For ``on_trace_ready`` of torch.profiler.profile: one .json.gz file per rank.

    The file is written beside the training loop. Rank 0 prints the verdict when all ranks have
    written theirs, at most ``limit_s`` seconds later.
    """
    recording = traces_in(folder, verdict, limit_s)
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
    ) -> None:
        self._folder, self._verdict, self._limit_s = folder, verdict, limit_s
        self._schedule = {"wait": wait, "warmup": warmup, "active": steps, "repeat": repeat}
        self._flags = {"with_stack": stacks, "record_shapes": shapes, "profile_memory": memory}
        self._enabled = enabled
        self._steps_done = 0
        self._owner = (0, 0)
        self._profiler: Any = None
        self._recording: Recording | None = None
        self._memory: MemoryHistory | None = None
        self._has_failed = False
        self._has_turn = False

    def start(self) -> None:
        """Begins; the with statement does this."""
        if not self._enabled:
            return
        if self._recording is not None:
            warn("this profile has been started already")
            return
        if not turn.acquire(blocking=False):
            warn("another recording is going on in this process: this one does nothing")
            return
        self._owner = (os.getpid(), threading.get_ident())
        self._steps_done, self._has_failed, self._has_turn = 0, False, True
        try:
            self._recording = traces_in(self._folder, self._verdict, self._limit_s)
            if self._recording is None:
                self._let_go()
                return
            self._profiler = self._make(self._recording)
            self._profiler.start()
            if self._flags["profile_memory"]:
                self._memory = MemoryHistory(self._recording.folder)
                self._memory.start(is_needed=False)
        except Exception as error:  # noqa: BLE001
            self._fail(error)

    def _make(self, recording: Recording) -> Any:
        import torch

        if not self._schedule["wait"] and is_profiling():
            raise RuntimeError(_BUSY)
        if not torch.profiler.kineto_available():
            warn(f"PyTorch {torch.__version__} is built without Kineto: its traces have no steps")
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

    def _fail(self, error: Exception) -> None:
        """Gives up, and leaves no profiler on."""
        warn(f"recording stopped: {reason(error)}")
        profiler, self._has_failed = self._profiler, True
        self._let_go()
        if profiler is not None:
            profiler.on_trace_ready = None
            try:
                profiler.stop()
            except Exception:  # noqa: BLE001, S110 - it has failed already
                pass

    def step(self) -> None:
        """One training step has ended."""
        self._steps_done += 1
        if self._profiler is None or not self._is_mine("step"):
            return
        try:
            self._step()
        except Exception as error:  # noqa: BLE001
            self._fail(error)

    def _step(self) -> None:
        profiler = self._profiler
        if profiler.current_action.name == "NONE":
            if profiler.schedule(profiler.step_num + 1).name != "NONE" and is_profiling():
                raise RuntimeError(_BUSY)
        profiler.step()
        assert self._recording is not None
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
        self._recording = None
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
