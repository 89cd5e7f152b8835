# SPDX-License-Identifier: Apache-2.0
"""Where steps begin to take another time, for good.

Steps are taken in blocks, and only the median of a block counts: checkpoints, logging and other
steps that come at times do not move it. A block of long steps has fewer, so that a change is not
told a quarter of an hour late. The level has changed when every block of the last seconds
is beyond what was usual, on the same side, by more than a share of it and by more than the usual
noise. `stepscope live` and `watch` find the same changes in the rows (src/live/changes.c).
"""

from __future__ import annotations

from collections import deque
from statistics import median

BLOCK = 32
LEAST, BLOCK_S = 12, 10.0  # with this many steps a block is complete when it covers this
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
        self._block_s = 0.0
        self._usual: deque[float] = deque(maxlen=_KEPT)
        self._odd: list[float] = []
        self._odd_s, self._side = 0.0, 0

    def step(self, seconds: float) -> tuple[float, float] | None:
        """Seconds of a usual step, and of one now, when that has changed."""
        if self._skip:
            self._skip -= 1
            return None
        self._block.append(seconds)
        self._block_s += seconds
        if len(self._block) < (LEAST if self._block_s >= BLOCK_S else BLOCK):
            return None
        level, spent = median(self._block), self._block_s
        self._block, self._block_s = [], 0.0
        return self._judge(level, spent)

    def _side_of(self, level: float) -> int:
        """1: slower than usual, -1: faster, 0: as usual, or that is not known yet."""
        if len(self._usual) < LEARN_BLOCKS:
            return 0
        usual = median(self._usual)
        most = usual * SHARE + NOISE * median(abs(one - usual) for one in self._usual)
        return (level > usual + most) - (level < usual - most)

    def _judge(self, level: float, spent: float) -> tuple[float, float] | None:
        side = self._side_of(level)
        if side != self._side:
            self._odd, self._odd_s, self._side = [], 0.0, side
        if not side:
            self._usual.append(level)
            return None
        self._odd.append(level)
        self._odd_s += spent
        if len(self._odd) < SURE_BLOCKS or self._odd_s < SURE_S:
            return None
        before, after = median(self._usual), median(self._odd)
        # from now on the new level is the usual one
        self._usual = deque(self._odd, maxlen=_KEPT)
        self._odd, self._odd_s, self._side = [], 0.0, 0
        return before, after
