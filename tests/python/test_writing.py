# SPDX-License-Identifier: Apache-2.0
"""Writing traces beside a training loop: what fails is a warning, and the loop goes on.

These need no PyTorch; torch/ has those with it.
"""

import contextlib
import gzip
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings

import pytest
from stepscope.torch import profile
from stepscope.torch._helper import ranks_there
from stepscope.torch._pace import Pace, let_cupti_go
from stepscope.torch._requests import _Turns
from stepscope.torch._safe import quiet, rank_and_size, turn, warn
from stepscope.torch._write import Writer, trace_file, usable

TRACE = '{"traceEvents": [], "traceName": "x"}'


def writes(text):
    def export_to(path):
        with open(path, "w") as out:
            out.write(text)

    return trace_file(export_to)


class Held:
    """A file that the helper can read only when it is let go."""

    def __init__(self):
        self.pipe = None

    def __call__(self, folder):
        self.pipe = os.path.join(folder, "trace")
        os.mkfifo(self.pipe)
        return self.pipe

    def let_go(self):
        with open(self.pipe, "w") as out:
            out.write(TRACE)


def helper_of_this_process():
    """The process that was started last; it comes from a thread."""
    while True:
        for task in os.listdir("/proc/self/task"):
            with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as list_:
                for child in list_.read().split():
                    with open(f"/proc/{child}/cmdline") as words:
                        if "_helper.py\0" in words.read():
                            return int(child)
        time.sleep(0.01)


def waits_for(path):
    """Makes a file when the other one is there: for a forked child."""

    def make(folder):
        while not path.exists():
            time.sleep(0.01)
        return writes(TRACE)(folder)

    return make


def result_of(writer):
    """Whether the file was written."""
    assert writer.ended.wait(60)
    return writer.is_written


@pytest.fixture
def said():
    with warnings.catch_warnings(record=True) as all_said:
        warnings.simplefilter("always")
        yield lambda: " ".join(str(each.message) for each in all_said)


@pytest.fixture(params=[False, True], ids=["helper", "fork"])
def fork(request):
    return request.param


def test_file_appears_complete(tmp_path, said, fork):
    path = tmp_path / "deep/traces/rank0.json.gz"
    assert result_of(Writer(writes("[" + "x" * 1_000_000 + "]"), str(path), fork=fork))
    assert len(gzip.open(path).read()) == 1_000_002
    assert os.listdir(path.parent) == ["rank0.json.gz"]
    assert not said()


def test_the_caller_does_not_wait(tmp_path, said):
    held = Held()
    writer = Writer(held, str(tmp_path / "rank0.json.gz"))
    assert not writer.ended.is_set()  # it came back, and the other process cannot go on
    held.let_go()
    assert result_of(writer) and not said()
    assert not os.path.exists(os.path.dirname(held.pipe))
    writer = Writer(waits_for(tmp_path / "go"), str(tmp_path / "rank1.json.gz"), fork=True)
    assert not writer.ended.is_set()
    (tmp_path / "go").touch()
    assert result_of(writer) and not said()


@pytest.mark.parametrize("text", ["", "{", '{"traceEvents": [{"name": "a"}', '{"a": 1}'])
def test_cut_traces_are_refused(tmp_path, said, text, fork):
    """Kineto does not report that a disk was full: the end of its file is missing."""
    assert not result_of(Writer(writes(text), str(tmp_path / "rank0.json.gz"), fork=fork))
    assert "full or failing" in said() and os.listdir(tmp_path) == []


@pytest.mark.parametrize("folder", ["file", "file/deep"])
def test_failing_disk(tmp_path, said, folder, fork):
    (tmp_path / "file").write_text("")
    assert not result_of(
        Writer(writes(TRACE), str(tmp_path / folder / "rank0.json.gz"), fork=fork)
    )
    assert "Not a directory" in said() or "File exists" in said()


def test_an_export_that_fails(tmp_path, said):
    writer = Writer(lambda folder: 1 / 0, str(tmp_path / "rank0.json.gz"))
    assert not result_of(writer) and "division by zero" in said()


@pytest.mark.parametrize("folder", ["file", "file/deep", "", "\0", None, 3.5])
def test_wrong_folders_are_found_at_once(tmp_path, folder):
    (tmp_path / "file").write_text("")
    with pytest.raises((OSError, ValueError, TypeError)):
        usable(tmp_path / folder if folder and "file" in str(folder) else folder)


def test_a_good_folder_stays_empty(tmp_path):
    assert usable(tmp_path / "new/traces") == str(tmp_path / "new/traces")
    assert os.listdir(tmp_path / "new/traces") == []


def test_without_processes_and_threads(tmp_path, said, monkeypatch):
    """The last resort: the file is written here."""
    monkeypatch.setattr(sys, "executable", "")
    assert result_of(Writer(writes(TRACE), str(tmp_path / "rank0.json.gz")))
    assert usable(tmp_path) == str(tmp_path)

    def fails(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    assert result_of(Writer(writes(TRACE), str(tmp_path / "rank1.json.gz")))
    assert sorted(os.listdir(tmp_path)) == ["rank0.json.gz", "rank1.json.gz"] and not said()


def test_full_disk(tmp_path, said, monkeypatch):
    """The user's disk is full, then the local one."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount a small disk")
    noise = "[" + os.urandom(500_000).hex() + "]"
    try:
        assert not result_of(Writer(writes(noise), str(place / "rank0.json.gz")))
        assert "No space left" in said() and os.listdir(place) == []
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        assert not result_of(Writer(writes(noise), str(tmp_path / "rank1.json.gz")))
        assert said().count("No space left") == 2 and os.listdir(place) == []
        assert os.listdir(tmp_path) == ["small"]
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_signals_of_the_group(tmp_path, said):
    """SIGTERM, SIGINT and SIGHUP do not reach the file; SIGKILL does, and nothing is left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        held = Held()
        writer = Writer(held, str(tmp_path / f"traces/{number.name}.json.gz"))
        os.kill(helper_of_this_process(), number)
        if number != signal.SIGKILL:
            held.let_go()
        assert result_of(writer) == (number != signal.SIGKILL), said()
        assert not os.path.exists(os.path.dirname(held.pipe))
    assert "was ended by SIGKILL" in said()
    for _ in range(100):
        if not os.path.exists(tmp_path / "traces/.SIGKILL.json.gz.part"):
            break
        time.sleep(0.05)  # the part goes after it was reported
    assert sorted(os.listdir(tmp_path / "traces")) == [
        "SIGHUP.json.gz", "SIGINT.json.gz", "SIGTERM.json.gz"
    ]


def test_time_limit(tmp_path, said):
    assert not result_of(Writer(Held(), str(tmp_path / "rank0.json.gz"), 0.2))
    assert "took longer than 0.2 s" in said()
    writer = Writer(lambda folder: time.sleep(60), str(tmp_path / "x"), 0.2, fork=True)
    assert not result_of(writer) and said().count("took longer than") == 2


def test_a_stopped_helper_is_given_up(tmp_path, said):
    held = Held()
    writer = Writer(held, str(tmp_path / "rank0.json.gz"), 1)
    os.kill(helper_of_this_process(), signal.SIGSTOP)
    assert not result_of(writer)


def test_peers_and_ports_are_let_go(tmp_path, said):
    """If this process died now, its peers would see that, and its port would be free."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        peer = socket.create_connection(("127.0.0.1", port))
        mine, _ = server.accept()
        for each in (server, mine):  # as C++ libraries make them
            each.set_inheritable(True)
        held = Held()
        writer = Writer(held, str(tmp_path / "rank0.json.gz"))
        while len(os.listdir(f"/proc/{helper_of_this_process()}/fd")) != 3:
            time.sleep(0.01)  # it waits to open the file
        mine.close()
    peer.settimeout(20)
    assert peer.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    peer.close()
    held.let_go()
    assert result_of(writer)


ABORTS = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.__register_atfork(ctypes.cast(libc.abort, ctypes.c_void_p), None, None, None)
from stepscope.torch._write import Writer, usable
def make(folder):
    with open(folder + "/t", "w") as out:
        out.write("x")
    return folder + "/t"
usable(os.path.dirname(sys.argv[1]))
writer = Writer(make, sys.argv[1], fork=sys.argv[2] == "True")
assert writer.ended.wait(60) and writer.is_written
"""


def test_a_handler_that_ends_processes_that_fork(tmp_path, fork):
    """As libfabric's EFA provider does: prov/efa/src/efa_fork_support.c."""
    done = subprocess.run([sys.executable, "-c", ABORTS, tmp_path / "file", str(fork)])
    assert done.returncode == (-signal.SIGABRT if fork else 0)
    assert os.listdir(tmp_path) == ([] if fork else ["file"])


def test_steps_between_recordings_count_together():
    pace = Pace()
    steps_of(pace, *[1.0] * 10, has_recorded=False)
    said = []
    for _ in range(4):
        pace.recorded()
        said += steps_of(pace, *[1.2] * 7, has_recorded=True)
    assert sum(map(bool, said)) == 1


def steps_of(pace, *seconds, has_recorded):
    return [pace.step(each, has_recorded) for each in seconds]


@pytest.mark.parametrize(
    ("before", "after", "is_slower"),
    [
        ([1.0] * 10, [1.03] * 22, True),
        ([1.0] * 10, [1.015] * 22, False),
        ([1.0] * 10, [1.0] * 8 + [1.5] * 14, False),  # not nine of ten
        ([9.0, 5.0] + [1.0] * 8, [9.0, 9.0] + [1.1] * 20, True),  # the first ones do not count
        ([1.0] * 4, [2.0] * 22, False),  # too few to compare
        ([1.0] * 10, [2.0] * 21, False),
        ([1.0, 1.4] * 5, [1.3] * 22, True),
        ([1.0, 1.4] * 5, [1.4, 1.1] * 11, False),  # noise
        ([1.06] * 40 + [1.0] * 60, [1.05] * 22, False),  # as long as some steps before
        ([1.06] * 40 + [1.0] * 60, [1.07] * 22, True),
    ],
)
def test_slower_after_a_recording(before, after, is_slower):
    pace = Pace()
    assert not any(steps_of(pace, *before, has_recorded=False))
    pace.recorded()
    said = [each for each in steps_of(pace, *after, has_recorded=True) if each]
    assert len(said) == is_slower
    assert not said or "slower since the recording" in said[0]


def test_what_becomes_slow_later_is_not_blamed_on_the_next_recording():
    pace = Pace()
    steps_of(pace, *[1.0] * 60, has_recorded=False)
    pace.recorded()
    said = steps_of(pace, *[1.0] * 60, *[2.0] * 60, has_recorded=True)
    pace.recorded()
    said += steps_of(pace, *[2.0] * 60, has_recorded=True)
    assert not any(said)
    pace.recorded()
    assert sum(map(bool, steps_of(pace, *[2.2] * 60, has_recorded=True))) == 1


@pytest.mark.parametrize(
    ("cuda", "is_set", "expected"),
    [("12.6", None, "1"), ("13.0", None, "1"), ("12.4", None, None), (None, None, None),
     ("12.8", "0", "0")],
)
def test_cupti_is_let_go(monkeypatch, cuda, is_set, expected):
    monkeypatch.setattr(os, "environ", {} if is_set is None else {"TEARDOWN_CUPTI": is_set})
    let_cupti_go(types.SimpleNamespace(version=types.SimpleNamespace(cuda=cuda)))
    assert os.environ.get("TEARDOWN_CUPTI") == expected


def test_without_torch(tmp_path):
    """Where torch is missing the loop runs as without the helper."""
    code = f"""
import sys
sys.modules["torch"] = None
from stepscope.torch import *
import stepscope.torch as all
with all.profile({str(tmp_path)!r}) as prof:
    for _ in range(30):
        prof.step()
all.memory_snapshot({str(tmp_path)!r}).stop()
all.flight_recorder({str(tmp_path)!r})
assert all.profile_requests({str(tmp_path)!r}, every=1)(abs)(-1) == 1
assert all.trace_handler({str(tmp_path)!r})(None) is None
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
    assert done.stderr.count("stepscope: ") >= 2 and os.listdir(tmp_path) == []


def test_files_of_an_earlier_run_do_not_count(tmp_path):
    for rank, stamp in ((0, 2000), (1, 1000), (2, 2500)):
        (tmp_path / f"rank{rank}.host.77.{stamp}.cycle0.json.gz").touch()
    (tmp_path / "rank3.host.77.2500.cycle1.json.gz").touch()
    (tmp_path / "notes.txt").touch()
    assert ranks_there(str(tmp_path), "cycle0", 1500) == 2


def test_disabled_profile_does_nothing(tmp_path, said):
    with profile(tmp_path, enabled=False) as prof:
        prof.step()
    assert not said() and os.listdir(tmp_path) == []


def test_warnings_do_not_raise():
    code = "from stepscope.torch._safe import warn; warn('x'); print('fine')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert done.stdout == "fine\n" and "stepscope: x" in done.stderr

    @quiet
    def fails():
        raise RuntimeError("no")

    with pytest.warns(RuntimeWarning, match="fails: no"):
        assert fails() is None
    with pytest.warns(RuntimeWarning):
        warn("y")


@pytest.mark.parametrize(
    ("rank", "size", "expected"),
    [("3", "8", (3, 8)), ("x", "8", (0, 1)), ("9", "8", (0, 1)), (None, None, (0, 1))],
)
def test_rank_of_the_environment(monkeypatch, rank, size, expected):
    for name, value in (("RANK", rank), ("WORLD_SIZE", size)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert rank_and_size() == expected


def test_turns_of_requests():
    turns = _Turns(every=3, per_minute=2)
    taken = []
    for _ in range(12):
        taken.append(turns.take())
        if taken[-1]:
            turn.release()
    assert [i for i, was in enumerate(taken) if was] == [2, 5]
    busy = _Turns(every=1, per_minute=10)
    assert busy.take() and not busy.take()
    turn.release()
    results = []
    free = _Turns(every=1, per_minute=100)
    threads = [threading.Thread(target=lambda: results.append(free.take())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turn.release()
    assert sum(results) == 1
