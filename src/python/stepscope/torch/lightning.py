# SPDX-License-Identifier: Apache-2.0
"""A callback for Lightning: ``Trainer(callbacks=[StepscopeCallback("traces")])``."""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from ._loop import TrainingLoop


class StepscopeCallback(Callback):  # type: ignore[misc]
    """Records optimizer steps; the options are those of ``stepscope.torch.profile``."""

    def __init__(self, folder: str = "traces", **options: Any) -> None:
        super().__init__()
        self._loop = TrainingLoop(folder, options)
        self._optimizer_steps = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._optimizer_steps = trainer.global_step
        self._loop.begin()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        # a batch whose gradients are only accumulated is a part of a step
        if trainer.global_step != self._optimizer_steps:
            self._optimizer_steps = trainer.global_step
            self._loop.step()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._loop.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._loop.end(has_failed=True)
