#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots that are no snapshots: what would run something, what is cut, what is too much.

Usage: malicious.py STEPSCOPE TRACES. Every one ends in a report or in one sentence, never in a
signal, and nothing that a file asks for is run.
"""
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile

LIMIT = "64M"


class Call:
    """Python's pickle makes a REDUCE of it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.system, (f"touch {self.path}",))


class State:
    """And a BUILD, or what NEWOBJ makes, of an object with a state."""

    def __init__(self):
        self.value = 1


def calls(mark):
    """(name, bytes, part of the sentence): whatever could run something."""
    for protocol in range(6):
        snapshot = pickle.dumps({"segments": [], "device_traces": [[Call(mark)]]}, protocol)
        yield f"a call, protocol {protocol}", snapshot, "os.system|posix.system"
        yield f"an object, protocol {protocol}", pickle.dumps([State()], protocol), "refused"
    command = f"touch {mark}".encode()
    yield "INST", b"(S'" + command + b"'\nios\nsystem\n.", "INST"
    yield "OBJ", b"(cos\nsystem\nS'" + command + b"'\no.", "GLOBAL"
    keys = b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces"
    call = b"\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R"
    yield "a call behind a snapshot's keys", keys + call + b"u.", "os.system"
    yield "EXT2", b"\x80\x02\x83\x01\x00.", "EXT2"
    yield "PERSID", b"Pwhere\n.", "PERSID"
    for name, data in starts(command):
        yield name, data, "GLOBAL|INST"


def starts(command):
    """(name, bytes): calls before which no protocol, list or dictionary stands."""
    call = b"cos\nsystem\n(S'" + command + b"'\ntR."
    yield "GLOBAL first", call
    yield "INST first", b"ios\nsystem\n."
    yield "None first", b"N0" + call
    yield "a number first", b"I1\n0" + call
    yield "a text first", b"S'{}'\np0\n0" + call
    yield "an empty tuple first", b")0" + call


def bombs():
    """(name, bytes): a few bytes that would be gigabytes."""
    yield "a memo entry of 2^31", b"\x80\x02}r\xff\xff\xff\x7f."
    yield "a text of 2^63 bytes", b"\x80\x04\x8d" + struct.pack("<Q", 1 << 63) + b"."
    yield "a number of 4 GB", b"\x80\x04\x8b\xff\xff\xff\xff."
    yield "marks in marks", b"\x80\x02" + b"(" * 5_000_000
    yield "lists in lists", b"\x80\x02" + b"](" * 3_000_000
    yield "values without end", b"\x80\x02" + b"N" * 30_000_000
    yield "a memo without end", b"\x80\x04" + b"N\x94" * 15_000_000
    yield "a list that doubles", b"\x80\x02]q\x00" + b"(h\x00h\x00e" * 1_000_000 + b"."
    yield "a line without end", b"V" + b"x" * 30_000_000
    yield "dictionaries that nobody reads", b"\x80\x02](" + b"}(K\x01K\x02u" * 5_000_000 + b"e."


def run(stepscope, path, *words):
    command = [stepscope, "snapshot", str(path), *words, "--memory-limit", LIMIT]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def problem(result):
    if result.returncode not in (0, 1):
        return f"exit code {result.returncode}"
    lines = result.stderr.splitlines()
    if result.returncode == 1 and (len(lines) != 1 or not lines[0].startswith("stepscope")):
        return f"not one sentence: {result.stderr[:200]!r}"
    return None


def check_calls(stepscope, folder):
    mark = folder / "was_run"
    for name, data, says in calls(mark):
        path = folder / "call.pickle"
        path.write_bytes(data)
        result = run(stepscope, path)
        yield name, problem(result) or (result.returncode != 1 and "read") or (
            not any(part in result.stderr for part in says.split("|")) and result.stderr)
    yield "nothing was run", mark.exists() and "it was"


def check_starts(stepscope, folder):
    """The server and the report look at the first bytes; they have to say the same."""
    for name, data in starts(b"id"):
        path = folder / "start.pickle"
        path.write_bytes(data)
        command = [stepscope, "report", str(path), "-o", str(folder / "report.html")]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        said = "stepscope refused it and ran nothing" in result.stderr
        yield f"{name}, in a report", (not said or result.returncode != 1) and result.stderr
    for name, data in (("JSON", b" {}"), ("text", b"cannot open\nthe file\n"), ("nothing", b"")):
        path = folder / "start.json"
        path.write_bytes(data)
        command = [stepscope, "report", str(path), "-o", str(folder / "report.html")]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        yield f"{name} is no pickle", "pickle" in result.stderr.lower() and result.stderr


def check_bombs(stepscope, folder):
    for name, data in bombs():
        path = folder / "bomb.pickle"
        path.write_bytes(data)
        yield name, problem(run(stepscope, path))


def check_cuts(stepscope, folder, traces):
    for source in ("synthetic_no_history.p4", "synthetic_torch21_fields.p4", "synthetic_normal.p2"):
        original = traces / "memory" / f"{source}.pickle"
        if not original.exists():
            continue
        data = original.read_bytes()
        path = folder / "cut.pickle"
        whole = 0
        for length in range(0, len(data), max(1, len(data) // 60)):
            path.write_bytes(data[:length])
            result = run(stepscope, path, "findings")
            whole += result.returncode == 0 and "The file is truncated" in result.stdout
            yield f"{source} cut at {length}", problem(result)
        yield f"{source} is read as far as it goes", whole < 50 and f"{whole} of 60 cuts"


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    count, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for checks in (check_calls(stepscope, folder), check_starts(stepscope, folder),
                       check_bombs(stepscope, folder),
                       check_cuts(stepscope, folder, traces)):  # fmt: skip
            for what, wrong in checks:
                count += 1
                if wrong:
                    failed += 1
                    print(f"{what}: {wrong}")
    print(f"{count} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
