# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the training loop of Hugging Face transformers, written for this test.

Only the path and the names of its functions are those of the original, so that a recording has
frames as users have them.
"""
from torch.nn import functional as F
from transformers.trainer_callback import CallbackHandler


class Trainer:
    def __init__(self, model, optimizer, batch, callbacks):
        self.model, self.optimizer, self.batch = model, optimizer, batch
        self.callback_handler = CallbackHandler(callbacks, model, optimizer)

    def compute_loss(self, model, inputs):
        features, labels = inputs
        return F.cross_entropy(model(features), labels)

    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        loss.backward()
        return loss.detach()

    def inner_training_step(self, step):
        """One turn of the original's _inner_training_loop."""
        self.callback_handler.on_step_begin(step)
        loss = self.training_step(self.model, self.batch)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.callback_handler.on_step_end(step, loss)
