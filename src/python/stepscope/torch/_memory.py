# SPDX-License-Identifier: Apache-2.0
"""Snapshots of GPU memory: on request, and when memory runs out."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from typing import Any

from ._safe import host_name, quiet, rank_and_size, warn
from ._write import Writer, usable

_EVENTS = 100_000
# a loop that tries smaller and smaller batches runs out of memory many times
_FAILURES = 3


def _snapshot_file(snapshot: Any) -> Callable[[str], str]:
    """Makes a pickle in a folder, as torch.cuda.memory._dump_snapshot does."""

    def make(folder: str) -> str:
        path = os.path.join(folder, "snapshot.pickle")
        with open(path, "wb") as out:
            pickle.dump(snapshot, out)
        return path

    return make


class MemoryHistory:
    """Records who allocates what, and writes it when that ends or memory runs out."""

    def __init__(
        self, folder: str, max_events: int = _EVENTS, stacks: str = "all", limit_s: float = 120
    ) -> None:
        self._folder = folder
        self._max_events, self._stacks, self._limit_s = max_events, stacks, limit_s
        self._is_on = False
        self._is_mine = False
        self._written = 0
        self._failures = 0
        self._process = os.getpid()

    @quiet
    def start(self, is_needed: bool = True) -> None:
        """Begins; where another part of the program records already, its settings stay."""
        import torch

        if self._is_on:
            return
        if not torch.cuda.is_available():
            if is_needed:
                warn("memory_snapshot: this process has no GPU, so nothing is recorded")
            return
        self._folder = usable(self._folder)
        self._is_mine = not torch._C._cuda_isHistoryEnabled()
        if self._is_mine:
            torch.cuda.memory._record_memory_history(
                max_entries=self._max_events, stacks=self._stacks
            )
        self._is_on = True
        torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory)

    def _out_of_memory(self, *about: Any) -> None:
        """PyTorch has no call to take an observer away: it lives on, and does nothing."""
        if self._is_on and self._failures < _FAILURES and os.getpid() == self._process:
            self._failures += 1
            self.write("oom")

    @quiet
    def write(self, why: str = "snapshot") -> str | None:
        """Writes a snapshot; the path that it will have when it is complete."""
        import torch

        if not self._is_on:
            warn("memory_snapshot: no snapshot was written, because nothing is recorded")
            return None
        rank, _ = rank_and_size()
        stamp = time.time_ns() // 1_000_000
        name = f"rank{rank}.{host_name()}.{os.getpid()}.{stamp}.{why}{self._written}.pickle"
        self._written += 1
        path = os.path.join(self._folder, name)
        self._writer = Writer(_snapshot_file(torch.cuda.memory._snapshot()), path)
        return path

    @quiet
    def stop(self) -> None:
        """Writes a last snapshot and waits for it, at most as long as the limit."""
        if not self._is_on or os.getpid() != self._process:
            return
        import torch

        if self.write() is not None:
            self._writer.ended.wait(self._limit_s)
        self._is_on = False
        if self._is_mine:
            torch.cuda.memory._record_memory_history(enabled=None)


def memory_snapshot(
    folder: str | os.PathLike[str] = "traces",
    *,
    max_events: int = _EVENTS,
    stacks: str = "all",
    limit_s: float = 120,
) -> MemoryHistory:
    """From now on records GPU memory; writes a snapshot when memory runs out.

    Call it before the model is created. The result has ``write()`` for a snapshot at any time, and
    ``stop()``. stacks: "python" leaves out C++ frames, which makes snapshots much faster and hides
    what backward allocates.
    """
    place = quiet(os.fsdecode)(folder)
    history = MemoryHistory(os.path.abspath(place or "traces"), max_events, stacks, limit_s)
    if place is not None:
        history.start()
    return history
