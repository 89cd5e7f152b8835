# SPDX-License-Identifier: Apache-2.0
"""Writes a trace in a forked copy of the process, where the user asks for it.

The training thread then does not wait for the export, but fork has costs of its own: handlers of
pthread_atfork run in the training process (some of RDMA libraries end it), memory that NICs have
registered may change its place, and pages that both processes share are copied when training
writes to them. What keeps the child itself from harm:

- Locks that other threads hold at the fork are never released in it. It needs none of theirs: it
  calls Kineto's save, which formats events that are in memory, and writes files of its own. malloc,
  stdio and Python's locks are made usable by glibc and Python. If it hangs, its alarm ends it.
- It closes every file and socket of the parent: if the parent dies, its peers must see that at
  once, and its port must become free. It has no handlers of signals, which are the user's code.
- It runs no finalizers: garbage collection is off, and it ends by _exit.
"""

from __future__ import annotations

import gc
import os
import signal
import warnings
from collections.abc import Callable

from ._helper import DONE, FAILED, background, put, reason

WARNING = (
    "fork=True copies the training process to write: with RDMA (EFA, InfiniBand) that can end or"
    " hang the training; leave it out unless you know that your network is safe"
)

# Python warns that a child of a process with threads may hang: see above
warnings.filterwarnings("ignore", category=DeprecationWarning, module=__name__.replace(".", r"\."))


def start(
    make: Callable[[str], str], part: str, path: str, limit_s: float
) -> tuple[int, int] | None:
    """Forks a child that makes a file and puts it in its place: the child, and where it speaks.

    None where fork fails.
    """
    reader, writer = os.pipe()
    # handlers of signals must not run in the child
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        child = os.fork()
        if child == 0:
            _run_child(make, part, path, writer, limit_s)
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return child, reader


def _run_child(
    make: Callable[[str], str], part: str, path: str, words: int, limit_s: float
) -> None:
    """The child: never returns into the program of the user."""
    answer = "?"
    try:
        _leave_parent(words)
        background(limit_s)
        put(make(part), path)
        answer = DONE
    except BaseException as error:  # noqa: BLE001
        answer = reason(error)
    finally:
        try:
            os.write(words, answer.encode("utf-8", "replace")[:4000])
        finally:
            os._exit(0 if answer == DONE else FAILED)


def _leave_parent(words: int) -> None:
    gc.disable()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(3, words)
    os.closerange(words + 1, os.sysconf("SC_OPEN_MAX"))
