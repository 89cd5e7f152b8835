# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the callbacks of Hugging Face transformers, written for this test."""


class TrainerCallback:
    def on_step_begin(self, step, **kwargs):
        pass

    def on_step_end(self, step, **kwargs):
        pass


class CallbackHandler(TrainerCallback):
    """Calls one callback after the other."""

    def __init__(self, callbacks, model, optimizer):
        self.callbacks, self.model, self.optimizer = callbacks, model, optimizer

    def on_step_begin(self, step, **kwargs):
        self.call_event("on_step_begin", step, **kwargs)

    def on_step_end(self, step, loss=None, **kwargs):
        self.call_event("on_step_end", step, loss=loss, **kwargs)

    def call_event(self, event, step, **kwargs):
        for callback in self.callbacks:
            getattr(callback, event)(step, model=self.model, optimizer=self.optimizer, **kwargs)
