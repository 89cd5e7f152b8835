#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command `live` on rows that the recorder's own writer wrote.

    tests/cli/live.py STEPSCOPE
"""

import importlib.util
import json
import os
import pathlib
import pty
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

STEPSCOPE = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN_NS = 1_790_000_000 * 10**9
failed = 0


def check(holds, what):
    global failed
    failed += not holds
    if not holds:
        print(f"live: {what}")


def recorder_module(name):
    """A part of the recorder, without PyTorch."""
    path = ROOT / f"src/python/stepscope/torch/_{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROWS, DETECT = recorder_module("rows"), recorder_module("detect")


def write(folder, rank, steps, slow_from=0, waits=False, ends=False):
    """A rank whose steps are 6 ms longer from a step on; `waits`: for data."""
    chance = random.Random(rank)
    file = ROWS.RowFile(str(folder), (rank, 4, "node1", "nightly", BEGIN_NS), rows=4096)
    now, rows = BEGIN_NS // 1000, []
    for step in range(1, steps + 1):
        slow = 6000 if slow_from and step >= slow_from else 0
        length = 20_000 + chance.randrange(400) + slow + (800_000 if step % 500 == 0 else 0)
        now += length
        rows.append(ROWS.ROW.pack(now, step, length, 100 + slow * waits, 0, 900, ROWS.UNKNOWN,
                                  0, 0, 0, 0, 0))  # fmt: skip
    file.add(rows)
    if ends:
        file.end()
    file.close()
    # several files of one process have one name
    os.rename(file.path, folder / f"live.rank{rank:05d}.node1.77.rows")


def run(*arguments):
    done = subprocess.run([STEPSCOPE, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check_change(folder):
    for rank in range(4):
        write(folder, rank, 6000, slow_from=3000, waits=rank == 2)
    # a trace beside the rows is not read
    (folder / "rank0.json").write_text('{"traceEvents": [')
    code, out, err = run("live", folder)
    check(code == 0 and not err, f"it ends with {code}: {err}")
    words = " ".join(out.split())
    check("Job nightly: 4 ranks at step 6000" in words, out)
    check("The last step ended at 2026-09-21" in words, out)
    check("waiting for data takes 6.1 ms instead of 0.1 ms on rank 2." in words, out)
    code, out, _ = run("live-changes", folder, "--format", "json")
    (change,) = json.loads(out)["rows"]
    names = [column["name"] for column in json.loads(out)["columns"]]
    change = dict(zip(names, change)) if isinstance(change, list) else change
    check(change["rank"] == 2 and abs(change["step"] - 3000) <= 32, change)
    code, out, _ = run("live-steps", folder, "--group", "rank", "--format", "csv")
    check(code == 0 and len(out.splitlines()) == 1 + 4 * 2, out)


def levels_of(chance):
    """Microseconds of the steps of a job: levels for a while, noise, pauses, a long tail."""
    base, noise = chance.uniform(2e4, 5e5), chance.choice((0.002, 0.01, 0.05))
    for _ in range(chance.randrange(1, 6)):
        level = base * chance.choice((1, 1, 1.03, 1.08, 1.2, 0.9, 1.5))
        for i in range(chance.randrange(40, 3000)):
            length = level * (1 + chance.gauss(0, noise)) + (30 * level if i % 97 == 96 else 0)
            yield max(1, int(length * (chance.uniform(1, 4) if chance.random() < 0.02 else 1)))


def check_same_changes(folder):
    """The recorder decides while the job runs what the command finds in the rows."""
    slower = faster = 0
    for seed in range(40):
        place, detector = folder / str(seed), DETECT.Detector()
        place.mkdir()
        file = ROWS.RowFile(str(place), (0, 1, "node1", "", BEGIN_NS), rows=1 << 14)
        now, expected, rows = BEGIN_NS // 1000, [], []
        for step, length in enumerate(levels_of(random.Random(seed)), 1):
            now += length
            rows.append(ROWS.ROW.pack(now, step, length, *[ROWS.UNKNOWN] * 4, 0, 0, 0, 0, 0))
            change = detector.step(length / 1e6)
            if change:
                expected.append([round(seconds * 1e6) for seconds in change])
        file.add(rows)
        file.close()
        table = json.loads(run("live-changes", place, "--json")[1])
        names = [column["name"] for column in table["columns"]]
        found = [dict(zip(names, row)) for row in table["rows"]]
        found = [[row["before_ns"] / 1000, row["after_ns"] / 1000] for row in found]
        check(len(found) == len(expected) and all(
            abs(a - b) <= 1 for one, other in zip(found, expected) for a, b in zip(one, other)),
            f"seed {seed}: the command finds {found}, the recorder {expected}")  # fmt: skip
        slower += sum(before < after for before, after in expected)
        faster += sum(before > after for before, after in expected)
    check(slower > 10 and faster > 10, f"{slower} slower and {faster} faster are too few")


def check_healthy(folder):
    for rank in range(2):
        write(folder, rank, 9000)
    code, out, _ = run("live-changes", folder)
    check(code == 0 and "The step time has not changed." in out, out)
    # the plain command names the one that reads them
    code, out, err = run(folder)
    check(code == 1 and "only live numbers; use 'stepscope live'" in err, out + err)
    code, out, err = run("live", folder / "live.rank00001.node1.77.rows")
    check(code == 0 and "3 more without a file here" in " ".join(out.split()), out + err)


def check_empty(folder):
    code, _, err = run("live", folder)
    check(code == 1 and err.count("\n") == 1, err)


def check_end(folder):
    """A job is through when all its ranks have said so."""
    for rank in range(2):
        write(folder, rank, 300, ends=True)
    check("2 ranks have ended with step 300" in run("live", folder)[1], "the end is not told")
    write(folder, 2, 300)
    text = json.loads(run("live", folder, "--format", "json")[1])["text"]
    check("3 ranks at step 300" in text, text)


def check_growing(folder):
    """A rank writes all the time while its file is read."""
    file = ROWS.RowFile(str(folder), (0, 1, "node1", "", BEGIN_NS), rows=1 << 16)
    ends = threading.Event()

    def grow():
        now = BEGIN_NS // 1000
        for step in range(1, 1 << 16, 10):
            file.add([ROWS.ROW.pack(now + 1000 * (step + i), step + i, 1000, 0, 0, 0, ROWS.UNKNOWN,
                                    0, 0, 0, 0, 0) for i in range(10)])  # fmt: skip
            if ends.wait(0.0005):
                return

    writer = threading.Thread(target=grow)
    writer.start()
    time.sleep(0.2)
    for _ in range(5):
        code, _, err = run("live", folder)
        check(code == 0 and not err, f"while it grows: {code} {err}")
    ends.set()
    writer.join()


def check_follow(folder):
    """On a terminal it is shown again, until Ctrl-C ends it without an error."""
    write(folder, 0, 300)
    master, slave = pty.openpty()
    shown = subprocess.Popen([STEPSCOPE, "live", folder, "--follow"], stdout=slave, stderr=slave)
    os.close(slave)
    seen, begin = b"", time.monotonic()
    while seen.count(b"\033[2J") < 2 and time.monotonic() - begin < 100:
        seen += os.read(master, 4096)
    shown.send_signal(signal.SIGINT)
    check(shown.wait(60) in (0, 130), f"it ends with {shown.returncode}")
    check(seen.count(b"at step 300") >= 1, seen)
    os.close(master)


def check_record(folder):
    """The request is what ranks look for: a step 20 seconds ahead."""
    write(folder, 0, 300)
    shared = folder / "shared"
    shared.mkdir()
    code, out, err = run("record", folder, shared, "--steps", "2")
    check(code == 0 and "will be recorded" in out, out + err)
    request = json.loads((shared / ".request.json").read_text())
    check(request["steps"] == 2 and 1200 < request["first"] < 1320 and request["id"], request)
    check([path.name for path in shared.iterdir()] == [".request.json"], "only the request")
    code, out, err = run("record", shared)
    check(code == 1 and "has no live numbers" in err, out + err)
    check(run("record", folder, "--steps", "21")[0] == 2, "too many steps")


def dynolog(answer, seen):
    """A stand-in for the daemon: one connection, which gets the bytes of the answer."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listening, listening.accept()[0] as connection:
            length = struct.unpack("=i", connection.recv(4, socket.MSG_WAITALL))[0]
            seen.append(json.loads(connection.recv(length, socket.MSG_WAITALL)))
            connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return f"127.0.0.1:{listening.getsockname()[1]}"


def framed(value):
    text = json.dumps(value).encode()
    return struct.pack("=i", len(text)) + text


def check_dynolog(folder):
    """dynolog gets the same step; of several daemons each is asked, whatever the others say."""
    write(folder, 0, 300)
    two = {"processesMatched": [71, 72], "activityProfilersTriggered": [71, 72]}
    seen = []
    hosts = dynolog(framed(two), seen) + "," + dynolog(framed(two), seen)
    code, out, err = run("record", folder, "/tmp/traces", "--dynolog", hosts, "--job-id", "7")
    check(code == 0 and out.count("2 processes will record steps") == 2, out + err)
    check([one["job_id"] for one in seen] == [7, 7] and seen[0]["pids"] == [0], seen)
    lines = dict(line.split("=") for line in seen[0]["config"].split())
    check(lines["ACTIVITIES_ITERATIONS"] == "3", lines)
    check(1200 < int(lines["PROFILE_START_ITERATION"]) < 1320, lines)
    check(lines["ACTIVITIES_LOG_FILE"] == "/tmp/traces/trace.json", lines)
    check(not (folder / ".request.json").exists(), "the recorder is asked, too")
    none = {"processesMatched": [], "activityProfilersTriggered": []}
    busy = {"processesMatched": [71, 72], "activityProfilersTriggered": [71]}
    for answer, words in ((framed(none), "KINETO_USE_DAEMON=1"), (framed(busy), "1 of 2 processes"),
                          (framed({}), "not one of dynolog"), (b"", "no answer"),
                          (b"HTTP/1.1 400", "not one of dynolog"), (b"\5\0\0\0{", "no answer"),
                          (struct.pack("=i", 3) + b"[[[", "not one of dynolog")):  # fmt: skip
        hosts = dynolog(answer, seen) + "," + dynolog(framed(two), seen)
        code, out, err = run("record", folder, "--dynolog", hosts)
        check(code == 1 and words in err and "2 processes" in out, (words, out, err))
    code, _, err = run("record", folder, "--dynolog", "127.0.0.1:1")
    check(code == 1 and "cannot connect" in err, err)


def documented_members():
    """Of each event, as docs/commands/watch.md lists them."""
    members = {"finding": set(), "change": set()}
    page = (ROOT / "docs/commands/watch.md").read_text(encoding="utf-8")
    table = page.split("| member | of |")[1].split("\n\n")[0]
    for names, of in re.findall(r"^\| (`.*?`) \| (finding|change|both) \|", table, re.M):
        for event, known in members.items():
            if of in (event, "both"):
                known.update(re.findall("`(.*?)`", names))
    return members


def check_members(events):
    documented = documented_members()
    for event in events:
        check(set(event) == documented[event["event"]], f"{event}: not as documented")
        ranks = "all ranks" if event["rank"] is None else f"rank {event['rank']}"
        check(event["ranks"] == ranks and event["sentence"].endswith("."), event)
        check(event["step"] > 0 and event["host"] or event["rank"] is None, event)
        check((event["run"] is None) == (event["event"] == "change"), event)


def check_told_once(rows, store):
    """A restart tells nothing again; the job that starts again has changes of its own."""
    words = ("watch", rows, "--store", store, "--job", 'a"b', "--events", "--once", "--settle", "1")
    code, out, err = run(*words)
    check(code == 0 and not out, f"{code}: {out}{err}")
    for path in rows.glob("*.rows"):
        data = bytearray(path.read_bytes())
        data[40:48] = struct.pack("<Q", BEGIN_NS + 1)  # where its begin stands
        path.write_bytes(data)
    code, out, err = run(*words)
    check(code == 0 and [json.loads(line)["event"] for line in out.splitlines()] == ["change"],
          f"{code}: {out}{err}")  # fmt: skip


def check_watch(folder):
    """Gauges and events of live numbers and of a run that is added."""
    if not os.environ.get("STEPSCOPE_DUCKDB"):
        return
    rows, gauges = folder / "in", folder / "stepscope.prom"
    rows.mkdir()
    for rank in range(3):
        write(rows, rank, 4000, slow_from=2000, waits=rank == 1, ends=True)
    run("sim", "--preset", "ddp8-slow", "--ranks", "2", "-o", rows / "run")
    code, out, err = run("watch", rows, "--store", folder / "store", "--job", 'a"b', "--events",
                         "--metrics", gauges, "--once", "--settle", "1")  # fmt: skip
    check(code == 0, f"watch ends with {code}: {err}")
    events = [json.loads(line) for line in out.splitlines()]
    check_members(events)
    _, steps, _ = run("steps", rows / "run", "--format", "csv")
    first = min(map(int, re.findall(r"ProfilerStep#(\d+)", steps)))
    check({event["step"] for event in events if event["event"] == "finding"} == {first}, events)
    changes = [event for event in events if event["event"] == "change"]
    check([(change["rank"], change["host"], change["part"]) for change in changes] ==
          [(1, "node1", "waiting for data")], changes)  # fmt: skip
    check({event["job"] for event in events} == {'a"b'}, events)
    check(any(event["event"] == "finding" and event["saves_ns"] > 0 for event in events), events)
    check_told_once(rows, folder / "store")
    lines = gauges.read_text().splitlines()
    series = [line for line in lines if not line.startswith("#")]
    check(len(series) <= 100 and len(set(line.split(" ")[0] for line in series)) == len(series),
          series)  # fmt: skip
    check(all(line.startswith("stepscope_") and 'job="a\\"b"' in line for line in series), series)
    waits = [line for line in series if line.startswith("stepscope_rank_data_wait_seconds")]
    check(len(waits) == 3 and float(waits[1].split()[-1]) == 0.0061, waits)
    check([line for line in series if "finding_share" in line], series)
    check([line for line in series if line.startswith("stepscope_ended") and line.endswith(" 1")],
          series)  # fmt: skip


for test in (check_change, check_same_changes, check_healthy, check_empty, check_end,
             check_growing, check_follow, check_record, check_dynolog, check_watch):
    with tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
print(f"live: {failed} failed")
sys.exit(failed > 0)
