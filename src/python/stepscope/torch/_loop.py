# SPDX-License-Identifier: Apache-2.0
"""A profile in a training loop of somebody else, which says when it begins, steps and ends."""

from __future__ import annotations

from typing import Any

from ._profile import profile
from ._safe import quiet


class TrainingLoop:
    """What the callbacks share. Without a profile it can be copied and sent to a process."""

    def __init__(self, folder: str, options: dict[str, Any]) -> None:
        profile(folder, **options)  # names of options that do not exist are told here
        self._folder, self._options = folder, options
        self._profile: profile | None = None

    @quiet
    def begin(self) -> None:
        """Training begins; one before that did not end is given up."""
        self.end(has_failed=True)
        self._profile = profile(self._folder, **self._options)
        self._profile.start()

    def step(self) -> None:
        """An optimizer step has ended."""
        if self._profile is not None:
            self._profile.step()

    @quiet
    def end(self, has_failed: bool = False) -> None:
        """Training ends; a failure does not wait for the verdict."""
        recorded, self._profile = self._profile, None
        if recorded is not None:
            recorded.stop(wait=not has_failed)
