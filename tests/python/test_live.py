# SPDX-License-Identifier: Apache-2.0
"""Live numbers without PyTorch: when a change is told, the file of rows, requests from outside."""

import json
import random
import struct
import time

import pytest
from stepscope.torch import _asked, _live, _rows
from stepscope.torch._detect import BLOCK, SURE_S, Detector


def series(seed, level, noise, length, pause_every=0):
    """Seconds of steps: a level with noise, a long tail, and a pause now and then."""
    draw = random.Random(seed)
    for i in range(length):
        seconds = level * (1 + draw.gauss(0, noise))
        if draw.random() < 0.02:
            seconds *= draw.uniform(1, 4)
        if pause_every and i % pause_every == pause_every - 1:
            seconds += 30 * level
        yield max(1e-4, seconds)


def changes(*parts):
    detector, found, now = Detector(), [], 0.0
    for part in parts:
        for seconds in part:
            now += seconds
            changed = detector.step(seconds)
            if changed:
                found.append((now, *changed))
    return found


@pytest.mark.parametrize("noise", [0.002, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("pause_every", [0, 100, 37])
def test_healthy_jobs_are_silent(noise, pause_every):
    for seed in range(4):
        assert not changes(series(seed, 0.1, noise, 20_000, pause_every))


@pytest.mark.parametrize(("noise", "factor"), [(0.002, 1.1), (0.01, 1.1), (0.05, 1.2), (0.2, 1.5)])
def test_slowdowns_are_told_once_and_soon(noise, factor):
    for seed in range(8):
        before = list(series(seed, 0.1, noise, 5_000, 100))
        after = series(seed + 100, 0.1 * factor, noise, 5_000, 100)
        found = changes(before, after)
        assert len(found) == 1, found
        when, was, now = found[0]
        assert was == pytest.approx(0.1, rel=0.05) and now == pytest.approx(0.1 * factor, rel=0.08)
        waited = when - sum(before)
        assert 0 < waited < SURE_S + 5 * BLOCK * 0.1 * factor * 2


@pytest.mark.parametrize("level", [0.5, 1, 5, 20])
def test_long_steps_are_not_told_late(level):
    """Three blocks of twelve steps, and the one in which the change lies."""
    for seed in range(8):
        for noise, factor in ((0.01, 1.1), (0.05, 1.3)):
            before = list(series(seed, level, noise, 2_000, 100))
            found = changes(before, series(seed + 100, level * factor, noise, 300, 100))
            assert len(found) == 1, found
            waited = found[0][0] - sum(before)
            assert waited < max(45, 4 * 12 * level * factor + 2 * 30 * level), (seed, waited)


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("level", [0.5, 1, 5, 20])
def test_healthy_jobs_with_long_steps_are_silent(level, noise):
    told = [changes(series(seed, level, noise, 10_000, 100)) for seed in range(30, 34)]
    assert not any(told), told


def test_steps_that_become_faster_are_told():
    found = changes(series(1, 0.1, 0.01, 5_000), series(2, 0.05, 0.01, 5_000))
    assert len(found) == 1 and found[0][1] > found[0][2], found


def test_rows_wrap_around(tmp_path):
    file = _rows.RowFile(str(tmp_path), (3, 8, "node1", "job é", time.time_ns()), rows=10)
    for first in range(0, 25, 5):
        file.add([_rows.ROW.pack(first + i, *range(11)) for i in range(5)])
    file.close()
    data = (tmp_path / file.path).read_bytes()
    head = _rows.HEADER.unpack_from(data)
    assert head[0] == _rows.MAGIC and head[2:8] == (136, 52, 10, 3, 8, head[7])
    assert head[10].rstrip(b"\0").decode() == "node1"
    assert struct.unpack_from("<Q", data, 128) == (25,)
    times = [_rows.ROW.unpack_from(data, 136 + 52 * i)[0] for i in range(10)]
    assert times == [20, 21, 22, 23, 24, 15, 16, 17, 18, 19] and len(data) == 136 + 520


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "[" * 5000, '{"first": 5}', '{"first": true, "steps": 3}',
     '{"first": -1, "steps": 3}', '{"first": 5, "steps": 1000}', '{"first": 1e3, "steps": 3}'],
)
def test_requests_that_make_no_sense(tmp_path, text):
    requests = _asked.Requests(str(tmp_path))
    (tmp_path / ".request.json").write_text(text)
    assert requests.look() is None and requests.look() is None


def test_requests_are_answered_once(tmp_path):
    _asked.ask(str(tmp_path), 10, 3, "before")
    requests = _asked.Requests(str(tmp_path))
    assert requests.look() is None  # asked before this process began
    _asked.ask(str(tmp_path), 20, 3, "why")
    request = requests.look()
    assert request["first"] == 20 and request["why"] == "why" and requests.look() is None
    assert json.loads((tmp_path / ".request.json").read_text())["steps"] == 3
    assert [path.name for path in tmp_path.iterdir()] == [".request.json"]


def test_limits(tmp_path, monkeypatch):
    """They are the job's: a process that starts again has asked already."""
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    taken = []
    for _ in range(200):
        taken.append(_asked.Limits(str(tmp_path), 3, 1800).take())
        now[0] += 600
    assert sum(taken[:144]) == 3 and not any(taken[1:3]) and taken[3]
    assert sum(taken) == 6
    assert [path.name for path in tmp_path.iterdir()] == [".asked.json"]


def test_a_baseline_holds_up_no_change(tmp_path, monkeypatch):
    """The limits are about changes one after the other, and about baselines of restarts."""
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    limits = _asked.Limits(str(tmp_path), 2, 1800)
    assert limits.take(is_baseline=True)
    now[0] += 60
    assert not limits.take(is_baseline=True) and limits.take()
    now[0] += 1700
    assert not limits.take() and not limits.take(is_baseline=True)
    now[0] += 200
    assert not limits.take(is_baseline=True) and limits.take()  # two of a day: one was the baseline
    now[0] += 2000
    assert not limits.take()


class Recorder:
    """live() of rank 0 without PyTorch: steps go in, requests come out."""

    def __init__(self, folder):
        limits = _asked.Limits(str(folder), _asked.PER_DAY, _asked.BETWEEN_S)
        self.live = _live.Live((str(folder),) * 3, "", True, limits, _asked.DISK_BYTES)
        self.path = folder / ".request.json"
        self.now, self.requests = 1e9, []

    def steps(self, seconds, steps):
        """Looks as the thread does; ranks have recorded once the step of a request is over."""
        for _ in range(steps):
            self.live._steps.count += 1
            self.now += seconds
            count = self.live._steps.count
            self.live._steps._measured.append((0, int(seconds * 1e9), 0, 0, 0, count, 0, 0))
            if count % max(1, round(_live._LOOK_S / seconds)) == 0:
                self.live._take_rows()
            asked = json.loads(self.path.read_text()) if self.path.exists() else None
            if asked and asked not in self.requests:
                self.requests.append(asked)
                self.live._session = asked
            if asked and count >= asked["first"] + asked["steps"]:
                self.live._session = None


@pytest.mark.parametrize(
    ("seconds", "change_at"),
    [(0.02, 5000), (0.1, 5000), (0.02, 2000), (0.02, 600), (1.0, 510), (5.0, 540)],
)
def test_a_change_soon_after_the_baseline_is_recorded(tmp_path, monkeypatch, seconds, change_at):
    recorder = Recorder(tmp_path)
    monkeypatch.setattr(time, "time", lambda: recorder.now)
    recorder.steps(seconds, change_at - 1)
    assert [asked["why"] for asked in recorder.requests] == ["baseline"]
    began = recorder.now
    while len(recorder.requests) < 2 and recorder.now < began + 600:
        recorder.steps(seconds * 1.5, 1)
    baseline, asked = recorder.requests
    assert "instead of" in asked["why"] and asked["first"] > baseline["first"] + baseline["steps"]
    # three blocks of twelve steps, the one in which the change lies, and a recording that is on
    assert recorder.now - began < max(30, 4 * 12 * 1.5 * seconds) + 40, recorder.now - began
    recorder.steps(seconds * 2.5, int(1500 / (seconds * 2.5)))
    assert len(recorder.requests) == 2  # two changes in a row: the second one waits


@pytest.mark.parametrize(
    "text", ["", "{", "3", '["a", null, 1e99, [], [1], [1e99, 1], ["a", 0]]', "[" * 5000]
)
def test_limits_that_cannot_be_read(tmp_path, text):
    (tmp_path / ".asked.json").write_text(text)
    assert _asked.Limits(str(tmp_path), 1, 0).take()
    assert not _asked.Limits(str(tmp_path), 1, 0).take()


def test_room_for_traces(tmp_path):
    traces = tmp_path / "traces"
    assert _asked.no_room(str(traces), 100) == ""  # nothing there yet
    traces.mkdir()
    (traces / "one").write_bytes(bytes(99))
    assert _asked.no_room(str(traces), 100) == ""
    (traces / "two").write_bytes(b"x")
    assert "may have" in _asked.no_room(str(traces), 100)
    assert "Not a directory" in _asked.no_room(str(traces / "two"), 100)
