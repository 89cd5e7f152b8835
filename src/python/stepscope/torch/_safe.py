# SPDX-License-Identifier: Apache-2.0
"""What all of this folder needs: warnings instead of exceptions, and who this process is."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ._helper import reason

_HERE = os.path.dirname(__file__)
_Result = TypeVar("_Result")

# PyTorch has one profiler per process, and 2.14 does not refuse a second one: the first then has
# no events. Whoever records holds this.
turn = threading.Lock()
# training was slower after a recording: this process records no more
over = threading.Event()


def _line_of_user() -> tuple[str, int]:
    """Where the program of the user called this module; threads of ours have no such line."""
    frame = sys._getframe(1)
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or frame.f_code.co_filename == threading.__file__:
        return __package__, 0
    return frame.f_code.co_filename, frame.f_lineno


def warn(words: str) -> None:
    """A warning that cannot raise, also where warnings are errors or go to the user's code."""
    try:
        warnings.warn_explicit(f"stepscope: {words}", RuntimeWarning, *_line_of_user())
    except Exception:  # noqa: BLE001
        with contextlib.suppress(Exception):
            print(f"stepscope: {words}", file=sys.stderr)


def quiet(function: Callable[..., _Result]) -> Callable[..., _Result | None]:
    """The function with every exception of its own turned into a warning."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> _Result | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001
            warn(f"{function.__name__}: {reason(error)}")
            return None

    return guarded


def is_profiling() -> bool:
    """Whether a profiler of PyTorch records in this thread."""
    import torch

    return bool(torch.autograd._profiler_enabled())


def with_stacks(is_wanted: bool) -> bool:
    """Whether stacks are recorded: where that would end the program, they are not.

    PyTorch 2.5 to 2.7 can crash with Python 3.13 (github.com/pytorch/pytorch/issues/144094).
    """
    import torch

    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if not is_wanted or sys.version_info < (3, 13) or version >= (2, 8):
        return is_wanted
    warn(f"stacks are not recorded: PyTorch {torch.__version__} can crash with Python 3.13")
    return False


def rank_and_size() -> tuple[int, int]:
    """This process's rank and how many there are: of torch.distributed, or as launchers say."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    words = os.environ
    try:
        rank = int(words.get("RANK", words.get("SLURM_PROCID", "0")))
        size = int(words.get("WORLD_SIZE", words.get("SLURM_NTASKS", "1")))
    except ValueError:
        return 0, 1
    return (rank, size) if 0 <= rank < size else (0, 1)


def host_name() -> str:
    """The host as a part of a file name."""
    name = socket.gethostname().split(".")[0]
    return "".join(letter if letter.isalnum() else "-" for letter in name) or "host"
