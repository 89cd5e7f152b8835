# SPDX-License-Identifier: Apache-2.0
"""Writes a file without holding up the training thread.

PyTorch exports a trace with Python's lock held, so a thread would stop the training loop for as
long as that takes, and for ever on a disk that hangs. A forked child has a copy of the trace that
nobody changes: it exports and compresses it at the lowest priority, and nothing that the training
thread does touches the disk.

What is safe in the child, which has one thread and a copy of everything else:
- Locks that other threads (autograd, gloo, NCCL, the DataLoader's) hold at the fork are never
  released in it. It needs none of theirs: it calls Kineto's save, which formats events that are in
  memory, and reads and writes files of its own. malloc, stdio and Python's own locks are made
  usable by glibc and Python. If it hangs after all, an alarm of its own ends it (WRITE_LIMIT_S).
- It makes no CUDA call, which would fail. Kineto asks the driver for the properties of the GPUs at
  the first export and keeps them: remember_devices() lets it do that in the parent.
- It closes every file and socket of the parent: if the parent dies, its peers must see that at
  once, and its port must become free. Standard output and error go to /dev/null.
- Handlers of signals are the user's code: it has none. It ignores SIGTERM, SIGINT and SIGHUP, which
  a whole process group gets, so that the file is completed.
- It runs no finalizers: garbage collection is off, and it ends by _exit.
- If memory runs out, the kernel ends this process and not the training.

Memory: the child shares the parent's pages. Those that the parent changes while the child lives
exist twice, so host memory grows by at most what training writes to in that time; GPU memory does
not. Where fork fails, the file is written in the training thread, as PyTorch's own handler does.
"""

from __future__ import annotations

import contextlib
import gc
import gzip
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from ._safe import reason, warn

WRITE_LIMIT_S = 900
CHILD_FAILED = 3
_COPIED = 1 << 20
_TAIL = 1 << 14
_DONE = b"done"

# Python warns that a child of a process with threads may hang: see above
warnings.filterwarnings("ignore", category=DeprecationWarning, module=__name__.replace(".", r"\."))


def trace_file(export_to: Callable[[str], Any]) -> Callable[[str], str]:
    """Makes a compressed trace in a folder, out of the JSON that torch writes."""

    def make(folder: str) -> str:
        plain = os.path.join(folder, "trace.json")
        packed = f"{plain}.gz"
        export_to(plain)
        _check(plain)
        with open(plain, "rb") as source, open(packed, "wb") as out:
            with gzip.GzipFile("", "wb", compresslevel=1, fileobj=out) as stream:
                shutil.copyfileobj(source, stream, _COPIED)
            out.flush()
            os.fsync(out.fileno())
        return packed

    return make


def _check(plain: str) -> None:
    """Kineto reports no error of the disk: what it wrote may be missing, empty or cut."""
    size = os.path.getsize(plain) if os.path.exists(plain) else 0
    with contextlib.suppress(FileNotFoundError), open(plain, "rb") as source:
        source.seek(max(0, size - _TAIL))
        tail = source.read().rstrip()
        if tail.endswith(b"]") or (tail.endswith(b"}") and b'"traceName"' in tail):
            return
    raise OSError(f"PyTorch wrote no complete trace ({size:,} bytes): is the disk full or failing?")


def part_of(path: str) -> str:
    """The folder in which a file is made; stepscope does not read hidden ones."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.part")


def put(make: Callable[[str], str], path: str) -> None:
    """Makes a file at its place: the name appears when the file is complete."""
    part = part_of(path)
    os.makedirs(part, exist_ok=True)
    try:
        os.replace(make(part), path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


class Writer:
    """A file on its way to disk."""

    def __init__(
        self, make: Callable[[str], str], path: str, limit_s: float = WRITE_LIMIT_S
    ) -> None:
        self.path = path
        self.is_written = False
        self.ended = threading.Event()
        self._limit_s = limit_s
        self._child = 0
        self._fork(make)

    def _fork(self, make: Callable[[str], str]) -> None:
        reader, writer = os.pipe()
        # handlers of signals must not run in the child, nor between the fork and the thread
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._child = os.fork()
            if self._child == 0:
                _run_child(make, self.path, writer, self._limit_s)
            os.close(writer)
            threading.Thread(
                target=self._wait, args=(reader,), name="stepscope-writer", daemon=True
            ).start()
        except (OSError, RuntimeError) as error:
            if self._child:
                os.kill(self._child, signal.SIGKILL)
                self._end(f"no thread can wait for it: {reason(error)}")
                return
            os.close(reader)
            os.close(writer)
            self._end(_write_here(make, self.path))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _end(self, problem: str) -> None:
        self.is_written = not problem
        if problem:
            warn(f"'{self.path}' was not written: {problem}")
        self.ended.set()

    def _wait(self, reader: int) -> None:
        try:
            problem, is_gone = self._meet_child(reader)
        except Exception as error:  # noqa: BLE001
            problem, is_gone = reason(error), False
        self._end(problem)
        if problem and is_gone:  # a disk that hangs may hold this thread now: nobody waits for it
            shutil.rmtree(part_of(self.path), ignore_errors=True)

    def _meet_child(self, reader: int) -> tuple[str, bool]:
        """Waits for the child; why there is no file, and whether the child has ended.

        A handler of SIGCHLD may have waited for it before: then the pipe alone tells.
        """
        end = time.monotonic() + self._limit_s + 5
        pause, status = 0.01, 0
        while True:
            try:
                pid, status = os.waitpid(self._child, os.WNOHANG)
            except ChildProcessError:
                break
            if pid:
                break
            if time.monotonic() > end:
                os.kill(self._child, signal.SIGKILL)
                os.close(reader)
                return f"that took longer than {self._limit_s:.0f} s", False
            time.sleep(pause)
            pause = min(0.2, pause * 1.5)
        os.set_blocking(reader, False)
        try:
            words = os.read(reader, 4096)
        except BlockingIOError:
            words = b""
        os.close(reader)
        if words == _DONE:
            return "", True
        if words:
            return words.decode("utf-8", "replace"), True
        return _how_it_ended(status, self._limit_s), True


def _how_it_ended(status: int, limit_s: float) -> str:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return f"that took longer than {limit_s:.0f} s"
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return f"the process that writes it was ended by {name}"
    return "the process that writes it failed"


def _write_here(make: Callable[[str], str], path: str) -> str:
    try:
        put(make, path)
    except Exception as error:  # noqa: BLE001
        return reason(error)
    return ""


def _run_child(make: Callable[[str], str], path: str, words: int, limit_s: float) -> None:
    """The child: never returns into the program of the user."""
    answer = b"?"
    try:
        _leave_parent(words, limit_s)
        put(make, path)
        answer = _DONE
    except BaseException as error:  # noqa: BLE001
        answer = reason(error).encode("utf-8", "replace")[:4000]
    finally:
        try:
            os.write(words, answer)
        finally:
            os._exit(0 if answer == _DONE else CHILD_FAILED)


def _leave_parent(words: int, limit_s: float) -> None:
    gc.disable()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    try:
        files = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        files = list(range(3, 1024))
    for file in files:
        if file > 2 and file != words:
            with contextlib.suppress(OSError):
                os.close(file)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    os.nice(19)


def remember_devices() -> None:
    """Lets Kineto ask the driver about the GPUs, which a forked child cannot."""
    import torch

    if not torch.cuda.is_available() or torch.autograd._profiler_enabled():
        return
    export_nothing()


def export_nothing() -> None:
    """Records and exports an empty trace."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as empty:
            pass
        empty.export_chrome_trace(os.path.join(folder, "empty.json"))
