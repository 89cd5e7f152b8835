# SPDX-License-Identifier: Apache-2.0
"""Traces of a server: every Nth request, and not too many per minute."""

from __future__ import annotations

import functools
import inspect
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from ._helper import reason
from ._record import Recording, traces_in
from ._safe import is_profiling, over, quiet, turn, warn, with_stacks

_PLAIN, _COROUTINE, _GENERATOR = "plain", "coroutine", "generator"
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Turns:
    """Which requests are recorded: one at a time, because PyTorch has one profiler."""

    def __init__(self, every: int, per_minute: float) -> None:
        self._every = max(1, int(every))
        self._per_minute = float(per_minute)
        self._lock = threading.Lock()
        self._count = 0
        self._begun: deque[float] = deque()

    def take(self) -> bool:
        """Whether this request is recorded; then the process's turn is taken."""
        with self._lock:
            self._count += 1
            if self._count % self._every or over.is_set():
                return False
            now = time.monotonic()
            while self._begun and now - self._begun[0] >= 60:
                self._begun.popleft()
            if len(self._begun) >= self._per_minute or not turn.acquire(blocking=False):
                return False
            self._begun.append(now)
            return True


class _Request:
    """The profiler around one request.

    A coroutine computes in other threads, and a generator may go on in another one: then the
    profiler must be one of all threads. Older versions of PyTorch have none.
    """

    def __init__(self, recording: Recording, stacks: bool, kind: str) -> None:
        self._recording = recording
        self._stacks = stacks
        self._kind = kind
        self._thread = threading.get_ident()
        self._is_of_all_threads = False
        self._profiler: Any = None

    def _config(self) -> Any:
        """The option for all threads; none where it is not needed or does not exist."""
        import torch

        if self._kind == _PLAIN:
            return None
        try:
            config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        except TypeError:
            if self._kind == _GENERATOR:
                raise RuntimeError(
                    f"PyTorch {torch.__version__} cannot record a generator"
                ) from None
            return None
        self._is_of_all_threads = True
        return config

    def __enter__(self) -> None:
        try:
            import torch

            if is_profiling():
                raise RuntimeError("another profiler of PyTorch is recording")
            profiler = torch.profiler.profile(
                record_shapes=True,
                with_stack=with_stacks(self._stacks),
                experimental_config=self._config(),
            )
            profiler.start()
            self._profiler = profiler
        except Exception as error:  # noqa: BLE001
            warn(f"the request is not recorded: {reason(error)}")

    def __exit__(self, *about: object) -> None:
        try:
            if self._profiler is None:
                return
            if not self._is_of_all_threads and threading.get_ident() != self._thread:
                raise RuntimeError("it ended in another thread than it began")
            self._profiler.stop()
            self._recording.write(self._profiler)
        except Exception as error:  # noqa: BLE001
            warn(f"the request is not recorded: {reason(error)}")
        finally:
            turn.release()


def _wrapped(
    function: Callable[..., Any], around: Callable[[str], AbstractContextManager[None]]
) -> Callable[..., Any]:
    """A function of the same kind: plain, coroutine, generator, or asynchronous generator."""

    @functools.wraps(function)
    def answer(*args: Any, **kwargs: Any) -> Any:
        with around(_PLAIN):
            return function(*args, **kwargs)

    @functools.wraps(function)
    async def answer_later(*args: Any, **kwargs: Any) -> Any:
        with around(_COROUTINE):
            return await function(*args, **kwargs)

    @functools.wraps(function)
    def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with around(_GENERATOR):
            return (yield from function(*args, **kwargs))

    @functools.wraps(function)
    async def stream_later(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with around(_COROUTINE):
            items, sent = function(*args, **kwargs), None
            try:
                while True:
                    sent = yield await items.asend(sent)
            except StopAsyncIteration:
                return
            finally:
                await items.aclose()

    # of an object that can be called, what counts is its method
    kind: Any = function if inspect.isroutine(function) else type(function).__call__
    if isinstance(function, functools.partial):
        kind = function.func
    if inspect.isasyncgenfunction(kind):
        return stream_later
    if inspect.iscoroutinefunction(kind):
        return answer_later
    return stream if inspect.isgeneratorfunction(kind) else answer


def profile_requests(
    folder: str | os.PathLike[str] = "traces",
    *,
    every: int = 100,
    per_minute: float = 1,
    stacks: bool = False,
    limit_s: float = 120,
    fork: bool = False,
) -> Callable[[_Function], _Function]:
    """A decorator for what handles a request: records every Nth, at most M per minute.

    It takes plain functions, coroutines and generators of both kinds.
    """
    turns = quiet(_Turns)(every, per_minute)
    recording = None if turns is None else traces_in(folder, False, limit_s, fork)

    def around(kind: str) -> AbstractContextManager[None]:
        if recording is None or turns is None or not turns.take():
            return nullcontext()
        return _Request(recording, stacks, kind)

    def decorate(function: _Function) -> _Function:
        return _wrapped(function, around)  # type: ignore[return-value]

    return decorate
