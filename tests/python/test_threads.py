# SPDX-License-Identifier: Apache-2.0
"""Threads, Ctrl-C and leaks."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import stepscope
from conftest import trace


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_eight_sessions_in_eight_threads():
    path = trace("jobs/h100x8_nanogpt/rank0.json.gz")
    answers, problems = [], []

    def work():
        try:
            with stepscope.open(path, threads=1) as job:
                answers.append((job.verdict.step_ns, job.kernels()["calls"]))
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(answers) == 8 and all(answer == answers[0] for answer in answers)


def test_one_session_in_eight_threads():
    answers = []
    with stepscope.open(trace("jobs/h100x8_nanogpt/rank0.json.gz")) as job:
        threads = [
            threading.Thread(target=lambda: answers.append(job.operators()["calls"]))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 8 and all(answer == answers[0] for answer in answers)


def test_python_runs_beside_a_load(job_path):
    beats = [time.monotonic()]
    done = threading.Event()

    def beat():
        while not done.is_set():
            beats.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=beat)
    thread.start()
    begin = time.monotonic()
    stepscope.open(job_path).close()
    took = time.monotonic() - begin
    done.set()
    thread.join()
    assert sum(begin <= beat <= begin + took for beat in beats) >= 3


def test_interrupt_stops_a_load(tmp_path):
    """A pipe that never ends is a load that never ends."""
    fifo = tmp_path / "rank0.json"
    os.mkfifo(fifo)
    code = (
        "import stepscope, sys\n"
        "print('begin', flush=True)\n"
        "try:\n    stepscope.open(sys.argv[1])\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(fifo)], stdout=subprocess.PIPE, text=True
    )
    ended = threading.Event()

    def feed():
        event = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1},\n'
        try:
            with open(fifo, "wb", buffering=0) as out:
                out.write(b'{"traceEvents":[\n')
                while not ended.is_set():
                    out.write(event * 100)
                    time.sleep(0.01)
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    assert child.stdout.readline() == "begin\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=30)[0] == "stopped\n"
    finally:
        ended.set()
        child.kill()


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers keep what was freed")
@pytest.mark.parametrize(
    ("name", "count"),
    [("cuda/sync_records_simple_add.json.gz", 1000), ("jobs/h100x8_nanogpt/rank0.json.gz", 24)],
)
def test_no_leak(name, count):
    path = trace(name)

    def some(times):
        for _ in range(times):
            with stepscope.open(path, threads=1) as job:
                job.steps().to_dicts()
                assert job.verdict.step_ns

    some(count // 4)
    before = resident()
    some(count)
    assert resident() - before < 8 << 20
