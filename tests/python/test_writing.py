# SPDX-License-Identifier: Apache-2.0
"""Writing traces beside a training loop: what fails is a warning, and the loop goes on.

These need no PyTorch; torch/ has those with it.
"""

import gzip
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings

import pytest
from stepscope.torch import profile
from stepscope.torch._requests import _Turns
from stepscope.torch._safe import quiet, rank_and_size, turn, warn
from stepscope.torch._tell import ranks_there
from stepscope.torch._write import Writer, trace_file

TRACE = '{"traceEvents": [], "traceName": "x"}'


def writes(text):
    def export_to(path):
        with open(path, "w") as out:
            out.write(text)

    return trace_file(export_to)


def waits_for(path):
    """Makes a file when the other one is there."""

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


def test_file_appears_complete(tmp_path, said):
    path = tmp_path / "deep/traces/rank0.json.gz"
    assert result_of(Writer(writes("[" + "x" * 1_000_000 + "]"), str(path)))
    assert len(gzip.open(path).read()) == 1_000_002
    assert os.listdir(path.parent) == ["rank0.json.gz"]
    assert not said()


def test_the_caller_does_not_wait(tmp_path, said):
    writer = Writer(waits_for(tmp_path / "go"), str(tmp_path / "rank0.json.gz"))
    assert not writer.ended.is_set()  # it came back, and the other process cannot go on
    (tmp_path / "go").touch()
    assert result_of(writer) and not said()


@pytest.mark.parametrize("text", ["", "{", '{"traceEvents": [{"name": "a"}', '{"a": 1}'])
def test_cut_traces_are_refused(tmp_path, said, text):
    """Kineto does not report that a disk was full: the end of its file is missing."""
    assert not result_of(Writer(writes(text), str(tmp_path / "rank0.json.gz")))
    assert "is the disk full" in said() and os.listdir(tmp_path) == []


@pytest.mark.parametrize("folder", ["file", "file/deep"])
def test_failing_disk(tmp_path, said, folder):
    (tmp_path / "file").write_text("")
    assert not result_of(Writer(writes(TRACE), str(tmp_path / folder / "rank0.json.gz")))
    assert "Not a directory" in said() or "File exists" in said()


def test_full_disk(tmp_path, said):
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount a small disk")
    try:
        assert not result_of(Writer(writes("x" * 1_000_000), str(place / "rank0.json.gz")))
        assert "No space left" in said() and os.listdir(place) == []
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_signals_of_the_group(tmp_path, said):
    """SIGTERM, SIGINT and SIGHUP do not reach the file; SIGKILL does, and nothing is left."""
    started = tmp_path / "started"

    def make(folder):
        started.write_text(str(os.getpid()))
        return waits_for(tmp_path / "go")(folder)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        started.unlink(missing_ok=True)
        (tmp_path / "go").unlink(missing_ok=True)
        writer = Writer(make, str(tmp_path / "traces/rank0.json.gz"))
        while not started.exists() or not started.read_text():
            time.sleep(0.01)
        os.kill(int(started.read_text()), number)
        (tmp_path / "go").touch()
        assert result_of(writer) or number == signal.SIGKILL
    for _ in range(100):
        if os.listdir(tmp_path / "traces") == ["rank0.json.gz"]:
            break
        time.sleep(0.05)  # the parts of the last one go after it was reported
    assert os.listdir(tmp_path / "traces") == ["rank0.json.gz"]


def test_time_limit(tmp_path, said):
    writer = Writer(lambda folder: time.sleep(60), str(tmp_path / "rank0.json.gz"), 0.2)
    assert not result_of(writer) and "took longer than" in said()


def test_peers_and_ports_are_let_go(tmp_path, said):
    """If this process died now, its peers would see that, and its port would be free."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        peer = socket.create_connection(("127.0.0.1", port))
        mine, _ = server.accept()
        started = tmp_path / "started"

        def make(folder):
            started.touch()
            return waits_for(tmp_path / "go")(folder)

        writer = Writer(make, str(tmp_path / "rank0.json.gz"))
        while not started.exists():
            time.sleep(0.01)
        mine.close()
    peer.settimeout(20)
    assert peer.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    peer.close()
    (tmp_path / "go").touch()
    assert result_of(writer)


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
