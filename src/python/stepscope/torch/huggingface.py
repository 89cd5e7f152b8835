# SPDX-License-Identifier: Apache-2.0
"""A callback for Hugging Face: ``Trainer(callbacks=[StepscopeCallback("traces")])``."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from ._loop import TrainingLoop


class StepscopeCallback(TrainerCallback):  # type: ignore[misc]
    """Records optimizer steps; the options are those of ``stepscope.torch.profile``."""

    def __init__(self, folder: str = "traces", **options: Any) -> None:
        self._loop = TrainingLoop(folder, options)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._loop.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._loop.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._loop.end()
