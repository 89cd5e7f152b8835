# SPDX-License-Identifier: Apache-2.0
"""Whether steps take longer now than before, for good.

Steps are taken in blocks, and only the median of a block counts: checkpoints, logging and other
steps that come at times do not move it. A change is told when every block of the last seconds is
slower than what was usual, by more than a share of it and by more than the usual noise.
"""

from __future__ import annotations

from collections import deque
from statistics import median

BLOCK = 32
SURE_S = 20.0  # blocks that confirm a change cover at least this
SURE_BLOCKS = 3
LEARN_BLOCKS = 4  # before that nothing is told
SHARE = 0.05
NOISE = 6.0  # median absolute deviations of blocks
_KEPT = 64  # blocks that say what is usual
_SKIPPED = 20  # first steps: caches, compilers, memory pools


class Detector:
    """Takes seconds of steps; tells the level before and after a change."""

    def __init__(self) -> None:
        self._skip = _SKIPPED
        self._block: list[float] = []
        self._usual: deque[float] = deque(maxlen=_KEPT)
        self._slow: list[float] = []
        self._slow_s = 0.0

    def step(self, seconds: float) -> tuple[float, float] | None:
        """Seconds of a usual step, and of one now, when that has changed."""
        if self._skip:
            self._skip -= 1
            return None
        self._block.append(seconds)
        if len(self._block) < BLOCK:
            return None
        level, spent = median(self._block), sum(self._block)
        self._block = []
        return self._judge(level, spent)

    def _limit(self) -> float:
        level = median(self._usual)
        noise = median(abs(one - level) for one in self._usual)
        return level * (1 + SHARE) + NOISE * noise

    def _judge(self, level: float, spent: float) -> tuple[float, float] | None:
        if len(self._usual) < LEARN_BLOCKS or level <= self._limit():
            self._slow, self._slow_s = [], 0.0
            self._usual.append(level)
            return None
        self._slow.append(level)
        self._slow_s += spent
        if len(self._slow) < SURE_BLOCKS or self._slow_s < SURE_S:
            return None
        before, after = median(self._usual), median(self._slow)
        # from now on the new level is the usual one
        self._usual = deque(self._slow, maxlen=_KEPT)
        self._slow, self._slow_s = [], 0.0
        return before, after
