# SPDX-License-Identifier: Apache-2.0
"""The helper: a program of its own that touches the user's folder for the training process.

    _helper.py LIMIT_S check FOLDER...          can files be written there?
    _helper.py LIMIT_S write SOURCE PATH        compresses and moves a file, removes its folder
    _helper.py LIMIT_S verdict FOLDER MARK SINCE_MS RANKS WAIT_S

A disk that hangs holds the helper, not the training. It imports only what Python brings along, and
answers on its standard output: "done", the verdict, or why not.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import signal
import sys
import tempfile
import time

DONE = "done"
FAILED = 3
_BLOCK = 1 << 20
_TAIL = 1 << 14
_LOOK_S = 0.2


def reason(error: BaseException) -> str:
    """What an exception says, without the number of the system; its kind if it says nothing."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": '{error.filename}'" if error.filename else "")
    return str(error).strip() or type(error).__name__


def background(limit_s: float) -> None:
    """Lowest priority, first to go if memory runs out, and an end after the limit."""
    signal.setitimer(signal.ITIMER_REAL, max(limit_s, 0.01))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    os.nice(19)


def check(folder: str) -> None:
    """Makes the folder and writes into it, without leaving a file behind."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as out:
            out.write(b"stepscope")
    except OSError as error:
        raise OSError(f"cannot write to '{folder}': {error.strerror}") from error


def _check_trace(path: str) -> None:
    """Kineto reports no error of the disk: what it wrote may be missing, empty or cut."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as source:
        source.seek(max(0, size - _TAIL))
        tail = source.read().rstrip()
        if tail.endswith(b"]") or (tail.endswith(b"}") and b'"traceName"' in tail):
            return
    raise OSError(
        f"PyTorch wrote no complete trace ({size:,} bytes):"
        f" is '{os.path.dirname(os.path.dirname(path))}' full or failing?"
    )


def part_of(path: str) -> str:
    """The name of a file until it is complete; stepscope does not read hidden files."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.part")


def put(source: str, path: str) -> None:
    """Moves a file to its place, compressed if its name says so; it appears when it is complete."""
    if source.endswith(".json"):
        _check_trace(source)
    part = part_of(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(source, "rb") as plain, open(part, "wb") as out:
            if path.endswith(".gz"):
                with gzip.GzipFile("", "wb", compresslevel=1, fileobj=out) as packed:
                    shutil.copyfileobj(plain, packed, _BLOCK)
            else:
                shutil.copyfileobj(plain, out, _BLOCK)
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def ranks_there(folder: str, mark: str, since_ms: int) -> int:
    """How many ranks have written their file of this cycle since then.

    The time in the name keeps files of an earlier run in the same folder apart. Each rank writes
    its own clock into it, and the cycle lies between: clocks may differ by as much.
    """
    ranks = set()
    for name in os.listdir(folder):
        parts = name.split(".")
        if name.endswith(f".{mark}.json.gz") and len(parts) == 7 and parts[3].isdigit():
            if int(parts[3]) >= since_ms:
                ranks.add(parts[0])
    return len(ranks)


def verdict(folder: str, mark: str, since_ms: int, ranks: int, wait_s: float) -> None:
    """Waits for the files of the other ranks, then becomes the command."""
    end = time.monotonic() + wait_s
    while (there := ranks_there(folder, mark, since_ms)) < ranks:
        if time.monotonic() > end:
            print(f"Only {there} of {ranks} ranks wrote to '{folder}' in time.", flush=True)
            break
        time.sleep(_LOOK_S)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    from stepscope.__main__ import main as command

    sys.argv = ["stepscope", "diagnose", folder]
    command()


def main() -> int:
    """Leaves the training process's files and connections, and does one thing."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    limit_s, what, *words = sys.argv[1:]
    try:
        background(float(limit_s))
        if what == "check":
            for folder in words:
                check(folder)
        elif what == "write":
            try:
                put(*words)
            finally:  # the training process may be gone
                shutil.rmtree(os.path.dirname(words[0]), ignore_errors=True)
        else:
            folder, mark, *numbers = words
            verdict(folder, mark, int(numbers[0]), int(numbers[1]), float(numbers[2]))
    except Exception as error:  # noqa: BLE001
        print(reason(error), flush=True)
        return FAILED
    print(DONE, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
