# SPDX-License-Identifier: Apache-2.0
"""Real training with the helper: verdicts, loss, cost; servers, callbacks, other recorders."""

import gzip
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
from pathlib import Path

import pytest

STEPSCOPE = os.environ["STEPSCOPE"]
SNAPSHOT = "synthetic_leak_oom.p4.pickle"


def train(inside, out, plant, helper):
    out.mkdir()
    done = inside(out, "ddp.py", plant, helper)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    ranks = [json.loads(line) for line in lines if line.startswith("{")]
    digests = [each["digest"] for each in sorted(ranks, key=lambda each: each["rank"])]
    return "\n".join(line for line in lines if not line.startswith("{")), digests


@pytest.mark.parametrize(
    ("plant", "names"),
    [("rank", ["rank 2"]), ("input", ["waits for input", "read_from_slow_disk"])],
)
def test_verdict_names_what_was_planted(inside, tmp_path, plant, names):
    said, digests = train(inside, tmp_path / "on", plant, "on")
    traces = tmp_path / "on/traces"
    assert sorted(name.split(".")[0] for name in os.listdir(traces)) == [
        f"rank{rank}" for rank in range(4)
    ]
    first = said.split("\n  1  ")[1].split("high confidence")[0]
    assert "saves" in first and all(name in first for name in names), said
    _, without = train(inside, tmp_path / "off", plant, "off")
    assert len(digests) == 4 and digests == without


def test_cost_on_the_training_thread(inside, tmp_path):
    """No more than with PyTorch's own handler; bench/recording has the table."""
    done = inside(tmp_path, "overhead.py", 1)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    rows = [row for each in lines for row in each["rows"]]
    assert len(rows) == 4
    cpu = {name: statistics.median(sum(step[0] for step in row[name]) for row in rows)
           for name in rows[0]}
    print({name: f"{each:.0f} ms" for name, each in cpu.items()})
    assert cpu["ours"] < 1.1 * cpu["tensorboard"]  # the rest is noise of a busy machine
    assert cpu["ours"] < cpu["tensorboard_gzip"]


def test_a_slowdown_is_recorded_on_all_ranks(inside, tmp_path):
    """From step 1200 on rank 2 is slow: all ranks record the same three steps, the command reads
    rows and traces."""
    done = inside(tmp_path, "live.py", 1200, 1800, 5)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["asked_after_s"] > 0 and "instead of" in said["request"]["why"], said
    folder = tmp_path / "live"
    rows = sorted(path.name for path in folder.iterdir() if path.suffix == ".rows")
    assert [name.split(".")[1] for name in rows] == [f"rank0000{rank}" for rank in range(4)]
    first = said["request"]["first"]
    for path in folder.glob("*.rows"):
        data = path.read_bytes()
        steps = [struct.unpack_from("<Q11I", data, at) for at in range(136, len(data), 52)]
        assert [row[1] for row in steps] == list(range(2, 1801))
        recorded = [row[1] for row in steps if row[7] & 1]
        # the baseline and the slowdown, each with a step of warmup
        assert recorded[-4:] == list(range(first - 1, first + 3)), recorded
    traces = list((folder / "traces").iterdir())
    assert len(traces) == 8, traces  # two recordings
    table = subprocess.run([STEPSCOPE, "steps", folder / "traces", "--format", "csv"],
                           capture_output=True, text=True, check=True)
    # the newest recording, with the numbers of the live numbers
    marks = [f"ProfilerStep#{first + i}" for i in range(3)]
    assert re.findall(r"ProfilerStep#\d+", table.stdout) == 4 * marks, table.stdout
    table = subprocess.run([STEPSCOPE, "live-ranks", folder, "--format", "json"],
                           capture_output=True, text=True, check=True)
    assert len(json.loads(table.stdout)["rows"]) == 4


def test_requests_of_a_server(inside, tmp_path):
    done = inside(tmp_path, "served.py")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "plain": 2,
        "threads": 1,
        "coroutines": 4,
        "generators": 2,
        "asynchronous_generators": 1,
        "beside_a_profile": 1,
        "bad_arguments": 0,
    }
    for kind, count in (("coroutines", 4), ("generators", 2)):
        for path in (tmp_path / kind).iterdir():
            table = subprocess.run(
                [STEPSCOPE, "operators", path], capture_output=True, text=True, check=True
            )
            assert "aten::mul" in table.stdout, table.stdout
        assert len(list((tmp_path / kind).iterdir())) == count


def test_snippets_of_the_pages(inside, tmp_path):
    """What users copy runs, with the model and the loop that tests/snippets.py gives it."""
    root = Path(__file__).resolve().parents[3]
    sys.path.insert(0, str(root / "tests"))
    import snippets

    tasks = []
    for page in ("docs/recording.md", "docs/python/recording.md"):
        for block in snippets.BLOCK.finditer((root / page).read_text()):
            if block[2] == "python needs=stepscope.torch":
                folder = tmp_path / str(len(tasks))
                folder.mkdir()
                tasks.append([page, "recording", f"/mnt/out/{folder.name}", block[3]])
    assert len(tasks) == 6
    # each in a process of its own, as users run it
    for number, task in enumerate(tasks):
        program = tmp_path / f"snippet{number}.py"
        given = json.dumps(json.dumps([task]))
        around = f"import sys\nsys.argv[1:] = [{given}]\n{snippets.TORCH_RUN}"
        is_alone = "before init_process_group" in task[3]  # which the loop around calls
        program.write_text(f"{task[3]}\nprint([])\n" if is_alone else around)
        done = inside(tmp_path, f"../out/{program.name}")
        assert done.returncode == 0, done.stderr
        assert "[]" in done.stdout.splitlines(), done.stdout
        assert "stepscope: " not in done.stderr, done.stderr
        if '"traces") as prof' in task[3] or "trace_handler" in task[3]:
            assert "1 rank · 5 steps" in done.stdout
            assert len(list((tmp_path / str(number) / "traces").iterdir())) == 1


def test_callbacks(inside, tmp_path):
    done = inside(tmp_path, "callbacks.py")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said.pop("unknown_option_is_told")
    assert {name: len(files) for name, files in said.items()} == {
        "hugging_face": 1,
        "hugging_face_again": 1,
        "lightning": 1,
        "lightning_fails": 0,
        "lightning_after": 1,
    }
    # two batches make a step: two multiplications in each of the two steps that are recorded
    with gzip.open(tmp_path / "lightning" / said["lightning"][0], "rt") as trace:
        names = [event.get("name") for event in json.load(trace)["traceEvents"]]
    assert names.count("aten::mm") == 4
    assert len({name for name in names if name and name.startswith("ProfilerStep#")}) == 2


def test_flight_recorder_and_memory(inside, tmp_path):
    snapshot = Path(os.environ["STEPSCOPE_TRACES"]) / "memory" / SNAPSHOT
    if not snapshot.exists():
        pytest.skip(f"{snapshot} is not there")
    shutil.copy(snapshot, tmp_path)
    done = inside(tmp_path, "others.py", SNAPSHOT)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    flight = said["flight"]
    assert flight["settings"]["TORCH_FR_DUMP_TEMP_FILE"] == "/mnt/out/flight/nccl_trace_rank_"
    assert flight["settings"]["TORCH_NCCL_DUMP_ON_TIMEOUT"] == "1"
    assert "TORCH_FR_BUFFER_SIZE" not in flight["settings"]  # the user had set it already
    assert (flight["entries"], flight["late"], flight["bad"], flight["there"]) == (12, 2, 3, True)
    assert "has no GPU" in said["no_gpu"][0] and len(said["no_gpu"]) == 3
    assert said["simulated"]["calls"] == [
        {"max_entries": 1000, "stacks": "python"},
        {"enabled": None},
    ]
    files = said["simulated"]["files"]
    assert [name.split(".")[4] for name in files] == ["oom0", "oom1", "oom2", "snapshot3"]
    read = subprocess.run(
        [STEPSCOPE, "snapshot", tmp_path / "memory" / files[0]], capture_output=True, text=True
    )
    assert read.returncode == 0, read.stderr
