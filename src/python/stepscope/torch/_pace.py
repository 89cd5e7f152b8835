# SPDX-License-Identifier: Apache-2.0
"""Whether training is slower after a recording than before.

CUPTI, through which PyTorch records a GPU, has been reported to leave training 10 to 20 % slower
(github.com/pytorch/pytorch/issues/144455). Steps without a profiler before and after a recording
are compared; if they are slower, this process records no more.
"""

from __future__ import annotations

import os
from collections import deque
from statistics import median
from typing import Any

SLOWER = 0.02
# steps that are compared; the first ones after a recording still have its files and caches
_BEFORE_MIN, _BEFORE_MAX = 5, 50
_AFTER, _SKIPPED = 20, 2
_WINDOWS = 64


class Pace:
    """The seconds of steps before and after a recording."""

    def __init__(self) -> None:
        self._before: deque[float] = deque(maxlen=_BEFORE_MAX)
        self._after: list[float] = []
        # medians of as many steps each as are compared: how much they differ by chance
        self._usual: deque[float] = deque(maxlen=_WINDOWS)
        self._window: list[float] = []
        self._skip = 0

    def recorded(self) -> None:
        """A recording has ended: the steps that follow are compared."""
        if self.is_done():
            self._after.clear()
        self._skip = _SKIPPED

    def is_done(self) -> bool:
        """Whether all steps are there that are compared."""
        return len(self._after) == _AFTER

    def step(self, seconds: float, has_recorded: bool) -> str:
        """A step without a profiler has ended; what there is to say, if it is too slow now."""
        if not has_recorded or self.is_done():
            # also behind a recording: what changes later is not its doing
            self._before.append(seconds)
            self._window.append(seconds)
            if len(self._window) == _AFTER:
                self._usual.append(median(self._window))
                self._window.clear()
        elif self._skip:
            self._skip -= 1
        else:
            self._after.append(seconds)
            if self.is_done() and len(self._before) >= _BEFORE_MIN:
                return self._judge()
        return ""

    def _judge(self) -> str:
        """Noise is no slowdown: nine of ten steps must take longer than the median before.

        On a busy machine that happens by chance, too: where many steps are known, as many in a row
        must never have taken as long.
        """
        before, after = median(self._before), median(self._after)
        surely = sorted(self._after)[_AFTER // 10]
        least = max([before * (1 + SLOWER), *self._usual])
        if after <= least or surely <= before:
            return ""
        return (
            f"steps are {after / before - 1:.1%} slower since the recording (median"
            f" {after * 1e3:.3g} ms, {before * 1e3:.3g} ms before); the recording or another"
            " program may be the cause: this process records no more"
        )


def let_cupti_go(torch: Any) -> None:
    """Asks Kineto to detach CUPTI after a recording.

    Before CUDA 12.6 that can crash programs with CUDA graphs, and whether there are any cannot be
    known. PyTorch itself takes it back where its compiler makes such graphs; the user's own setting
    stays.
    """
    cuda = getattr(torch.version, "cuda", None)
    if cuda and tuple(int(part) for part in cuda.split(".")[:2]) >= (12, 6):
        os.environ.setdefault("TEARDOWN_CUPTI", "1")
