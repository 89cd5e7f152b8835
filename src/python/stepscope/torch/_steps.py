# SPDX-License-Identifier: Apache-2.0
"""Where steps end and what they waited for, from hooks that PyTorch and Python have.

No collective, no synchronization, no file here: a hook takes clocks and adds a tuple to a queue.
Between two steps the code of a hook leaves the processor's caches, so what it costs is how much
code and data it touches: units, bounds and medians are the business of the thread that takes rows.
"""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from ._helper import reason
from ._rows import IS_RECORDED, UNKNOWN, clip

# GPU times are read when they are there, at most this many steps later
_GPU_STEPS = 4
# a thread that no longer takes rows must not fill memory
_QUEUE_MAX = 1 << 16


class Steps:
    """Counts steps and measures them.

    `session`, if there is one, is asked at the end of each step, in its thread, whether the step
    was recorded.
    """

    def __init__(self, on_problem: Callable[[str], None]) -> None:
        # end and length of a step, its waiting, gc, optimizer: ns; its number; flags; GPU: us
        self._measured: deque[tuple[int, ...]] = deque(maxlen=_QUEUE_MAX)
        self.count = 0
        self.session: Callable[[int], bool] | None = None
        self._on_problem = on_problem
        self._counts: dict[int, int] = {}
        self._is_by_hand = False
        self._has_gpu = False
        self._thread = 0
        self._ended_ns = 0
        self._data_ns = self._gc_ns = self._gc_began_ns = 0
        self._optimizer_ns = self._optimizer_began_ns = 0
        self._pending: deque[tuple[Any, list[int]]] = deque()
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Adds the hooks; raises where this PyTorch has none."""
        from torch import cuda
        from torch.optim import optimizer
        from torch.utils.data import dataloader

        self._has_gpu = cuda._is_compiled()
        before = optimizer.register_optimizer_step_pre_hook(self._optimizer_begins)
        self._undo.append(before.remove)
        after = optimizer.register_optimizer_step_post_hook(self._optimizer_ends)
        self._undo.append(after.remove)
        iterator = dataloader._BaseDataLoaderIter
        plain = iterator.__next__

        def timed(batches: Any) -> Any:
            began = perf_counter_ns()
            try:
                return plain(batches)
            finally:
                if get_ident() == self._thread:
                    self._data_ns += perf_counter_ns() - began

        iterator.__next__ = timed

        def give_back() -> None:
            # whoever wrapped it after this keeps its wrapper, and this one inside
            if iterator.__next__ is timed:
                iterator.__next__ = plain

        self._undo.append(give_back)
        gc.callbacks.append(self._collected)
        self._undo.append(lambda: gc.callbacks.remove(self._collected))

    def remove(self) -> None:
        """Takes the hooks away; a hook that is gone already is no problem."""
        while self._undo:
            try:
                self._undo.pop()()
            except Exception:  # noqa: BLE001, S110
                pass

    def take(self) -> list[tuple[int, ...]]:
        """The rows that are there, as they stand in the file but for the sums of a minute."""
        measured = self._measured
        rows: list[tuple[int, ...]] = []
        since_1970 = time.time_ns() - perf_counter_ns()
        while measured:
            end, took, data, collected, optimizer, count, flags, gpu_us = measured.popleft()
            rows.append((
                (end + since_1970) // 1000, count & UNKNOWN, clip(took // 1000), clip(data // 1000),
                clip(collected // 1000), clip(optimizer // 1000), gpu_us, flags,
            ))  # fmt: skip
        return rows

    def _collected(self, phase: str, _about: dict[str, int]) -> None:
        now = perf_counter_ns()
        if phase == "start":
            self._gc_began_ns = now
        elif self._gc_began_ns:
            self._gc_ns += now - self._gc_began_ns

    def _optimizer_begins(self, *_about: Any) -> None:
        self._optimizer_began_ns = perf_counter_ns()

    def _optimizer_ends(self, optimizer: Any, *_about: Any) -> None:
        """Several optimizers: a step ends when one of them is ahead of all steps so far."""
        now = perf_counter_ns()
        self._optimizer_ns += now - self._optimizer_began_ns
        count = self._counts.get(id(optimizer), 0) + 1
        self._counts[id(optimizer)] = count
        if count > self.count and not self._is_by_hand:
            self._end(now)

    def step(self) -> None:
        """The user says where a step ends: then optimizers do not."""
        self._is_by_hand = True
        self._end(perf_counter_ns())

    def _end(self, now: int) -> None:
        """Nothing may leave: it is called by a hook."""
        try:
            began, self._ended_ns = self._ended_ns, now
            count = self.count = self.count + 1
            flags = 0
            if self.session is not None and began:
                flags = IS_RECORDED if self.session(count) else 0
                self._ended_ns = perf_counter_ns()  # the profiler's start is no part of a step
            if not began:  # of the first step only the end is known
                self._thread = get_ident()
            elif not self._has_gpu:
                self._measured.append((
                    now, now - began, self._data_ns, self._gc_ns, self._optimizer_ns, count, flags,
                    UNKNOWN,
                ))  # fmt: skip
            else:
                self._wait_for_gpu([
                    now, now - began, self._data_ns, self._gc_ns, self._optimizer_ns, count, flags,
                    UNKNOWN,
                ])  # fmt: skip
            self._data_ns = self._gc_ns = self._optimizer_ns = 0
        except Exception as error:  # noqa: BLE001
            self._on_problem(reason(error))

    def _wait_for_gpu(self, row: list[int]) -> None:
        """A row with its GPU time, as soon as that is there; nothing waits for it."""
        event = _mark()
        if event is None and not self._pending:
            self._measured.append(tuple(row))
            return
        self._pending.append((event, row))
        while len(self._pending) > 1:
            (first, _), (second, ready) = self._pending[0], self._pending[1]
            is_there = first is not None and second is not None and second.query()
            if not is_there and len(self._pending) <= _GPU_STEPS:
                return
            if is_there:
                ready[7] = clip(int(first.elapsed_time(second) * 1000))
            self._measured.append(tuple(self._pending.popleft()[1]))


def _mark() -> Any:
    """A moment on the GPU's own clock; None without a GPU, or while a graph is captured."""
    import torch

    if not torch.cuda.is_initialized() or torch.cuda.is_current_stream_capturing():
        return None
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event
