# SPDX-License-Identifier: Apache-2.0
"""Starts the helper, and waits for it.

posix_spawn does not copy the process, as fork does: handlers of pthread_atfork do not run (some of
RDMA libraries end the process), no page is written twice, and its cost does not grow with memory.
subprocess would call fork where vfork fails. The helper gets a session of its own and ignores what
a whole process group gets, so that it completes its file.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import threading
import time

from . import _helper

_NICE = shutil.which("nice")
_KEPT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_MS = 100
_GRACE_S = 1.0


class Helper:
    """A process that does one thing for this one."""

    def __init__(self, limit_s: float, *words: str) -> None:
        self._limit_s = limit_s
        # the command looks for its module where the user's Python does; nothing else needs that
        options = ["-I"] if words[0] == "verdict" else ["-I", "-S"]
        command = [sys.executable, *options, _helper.__file__, str(limit_s), *words]
        if not sys.executable:
            raise OSError("this Python does not know its program")
        if _NICE:  # other ranks of this machine may still export: also its start must not hold them
            command = [_NICE, "-n", "19", *command]
        self._reader, writer = os.pipe()
        try:
            self.pid = os.posix_spawn(
                command[0],
                command,
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, writer, 1),
                    (os.POSIX_SPAWN_DUP2, writer, 2),
                ],
                setsid=True,
                setsigmask=_KEPT,
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
        except BaseException:
            os.close(self._reader)
            raise
        finally:
            os.close(writer)

    def result(self) -> tuple[str, str]:
        """Waits for its end: what it said, and the problem if there was one."""
        return meet(self.pid, self._reader, self._limit_s)


def meet(pid: int, reader: int, limit_s: float) -> tuple[str, str]:
    """Waits for a process and reads what it says: that, and the problem if there was one.

    Another thread may have forked while the pipe was open, so its end alone does not tell that the
    process is gone. A handler of SIGCHLD may have waited for the process before: then how it ended
    is unknown, and no problem.
    """
    end = time.monotonic() + limit_s + _GRACE_S
    said, is_late = b"", False
    os.set_blocking(reader, False)
    watch = select.poll()
    watch.register(reader, select.POLLIN)
    try:
        while True:
            is_gone, status = _has_ended(pid)
            with contextlib.suppress(BlockingIOError):
                while block := os.read(reader, 1 << 16):
                    said += block
            if is_gone or (is_late and time.monotonic() > end):  # a disk that hangs may hold it
                if not is_gone:
                    threading.Thread(target=_bury, args=(pid,), daemon=True).start()
                text = said.decode("utf-8", "replace")
                return text, _problem(text, status if is_gone else signal.SIGALRM, limit_s)
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                is_late, end = True, end + _GRACE_S
            if any(event & select.POLLHUP for _, event in watch.poll(_LOOK_MS)):
                time.sleep(0.01)
    finally:
        os.close(reader)


def _bury(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.waitpid(pid, 0)


def _has_ended(pid: int) -> tuple[bool, int]:
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True, 0
    return ended != 0, status


def _problem(text: str, status: int, limit_s: float) -> str:
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) == signal.SIGALRM:
            return f"that took longer than {limit_s:g} s"
        return f"the helper process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    if os.WEXITSTATUS(status):
        return (text.strip().splitlines() or ["the helper process failed"])[-1]
    return ""
