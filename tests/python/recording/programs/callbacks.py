# SPDX-License-Identifier: Apache-2.0
"""The callbacks, driven in the order in which the trainers call them.

Neither trainer can be installed where this runs. The base classes here have the methods and the
arguments of transformers/trainer_callback.py and lightning/pytorch/callbacks/callback.py, and the
loops call what Trainer.train and Trainer.fit call: what a real trainer does besides is not tested.
"""

import json
import os
import pickle
import sys
import types

import torch

OUT = "/mnt/out"
OPTIONS = {"wait": 1, "warmup": 1, "steps": 2, "verdict": False}


class TrainerCallback:
    def on_train_begin(self, args, state, control, **kwargs):
        pass

    on_train_end = on_step_begin = on_substep_end = on_step_end = on_train_begin


class Callback:
    def on_train_start(self, trainer, pl_module):
        pass

    on_train_end = on_train_start

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pass

    def on_exception(self, trainer, pl_module, exception):
        pass


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


module("transformers", TrainerCallback=TrainerCallback)
module("lightning")
module("lightning.pytorch")
module("lightning.pytorch.callbacks", Callback=Callback)

from stepscope.torch import huggingface, lightning  # noqa: E402


def compute():
    torch.ones(8, 8) @ torch.ones(8, 8)


def hugging_face(folder, steps=6, fails_at=None):
    callback = huggingface.StepscopeCallback(folder, **OPTIONS)
    about = {"model": None, "processing_class": None, "optimizer": None, "lr_scheduler": None,
             "train_dataloader": None, "eval_dataloader": None}
    state = types.SimpleNamespace(global_step=0)
    for attempt in range(2 if fails_at is not None else 1):
        assert callback.on_train_begin("args", state, "control", **about) is None
        try:
            for step in range(steps):
                callback.on_step_begin("args", state, "control", **about)
                compute()
                callback.on_substep_end("args", state, "control", **about)
                compute()
                if step == fails_at and attempt == 0:
                    raise RuntimeError("mine")  # Trainer.train has no event for this
                state.global_step += 1
                assert callback.on_step_end("args", state, "control", **about) is None
            assert callback.on_train_end("args", state, "control", **about) is None
        except RuntimeError:
            pass
    return sorted(os.listdir(folder))


def lightning_fit(folder, batches=12, accumulated=2, fails_at=None):
    callback = pickle.loads(pickle.dumps(lightning.StepscopeCallback(folder, **OPTIONS)))
    trainer = types.SimpleNamespace(global_step=0)
    callback.on_train_start(trainer, "module")
    try:
        for batch in range(batches):
            compute()
            if batch == fails_at:
                raise RuntimeError("mine")
            trainer.global_step += (batch + 1) % accumulated == 0
            callback.on_train_batch_end(trainer, "module", None, None, batch)
        callback.on_train_end(trainer, "module")
    except RuntimeError as error:
        callback.on_exception(trainer, "module", error)
        callback._loop.step()  # nothing is left to step
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


try:
    huggingface.StepscopeCallback(OUT, step=3)
    is_told = False
except TypeError:
    is_told = True
print(json.dumps({
    "hugging_face": hugging_face(f"{OUT}/hf"),
    "hugging_face_again": hugging_face(f"{OUT}/hf_again", fails_at=1),
    "lightning": lightning_fit(f"{OUT}/lightning"),
    "lightning_fails": lightning_fit(f"{OUT}/lightning_fails", fails_at=2),
    "lightning_after": lightning_fit(f"{OUT}/lightning_after"),
    "unknown_option_is_told": is_told,
}))
