#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stepscope export`: what protoc decodes equals what stepscope's own tables say.

Usage: perfetto.py STEPSCOPE TRACES DUCKDB [FILES]. A simulated job and small real traces are
written for Perfetto and decoded with protoc against perfetto.proto, as a reader of Perfetto does:
by time, each track a stack. Slices, arrows, counters and names are those of the tables `slices`,
`links`, `counters` and `memory_events`; processes stand in the order of ranks; nothing is left
open. Folded stacks sum to the view `stacks`.
"""
import collections
import csv
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import chosen

STEPSCOPE, TRACES, DUCKDB = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
FILES = int(sys.argv[4]) if len(sys.argv) > 4 else 6
PROTO = pathlib.Path(__file__).resolve().parent / "perfetto.proto"
# larger ones take minutes as text
BYTES_MAX = 600_000
BEGIN, END, COUNTER = "TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_COUNTER"


class Wrong(Exception):
    """A rule does not hold."""


def check(holds, *what):
    if not holds:
        raise Wrong(" ".join(str(word) for word in what)[:2000])


def run(*words, code=0):
    result = subprocess.run([STEPSCOPE, *map(str, words)], capture_output=True, text=True,
                            check=False, env={**os.environ, "STEPSCOPE_DUCKDB": DUCKDB})
    check(result.returncode == code, words, result.returncode, result.stderr)
    return result


def query(path, text):
    rows = run("sql", path, text, "--format", "csv").stdout
    return list(csv.DictReader(io.StringIO(rows, newline="")))


def plain(text):
    """A string of protoc's text format."""
    text = re.sub(r'\\([0-7]{3}|.)', lambda found: {
        "n": "\n", "t": "\t", "r": "\r"}.get(found[1]) or (
            chr(int(found[1], 8)) if len(found[1]) == 3 else found[1]), text)
    return text.encode("latin-1").decode("utf-8", "replace")


def messages(lines):
    """Messages of protoc's text format: field to values."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        if line.endswith(" {"):
            message[line[:-2]].append(messages(lines))
            continue
        field, _, value = line.partition(": ")
        message[field].append(plain(value[1:-1]) if value.startswith('"') else
                              value if value.startswith("TYPE_") else
                              float(value) if "." in value or "e" in value or "n" in value else
                              int(value))
    return message


def decode(path):
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        data = file.read()
    text = subprocess.run(["protoc", f"-I{PROTO.parent}", "--decode=Trace", PROTO.name],
                          input=data, capture_output=True, check=True).stdout.decode()
    check(not re.search(r"^ *\d+[:{ ]", text, re.M), "a field that the format does not have")
    return messages(iter(text.splitlines()))["packet"]


class Decoded:
    """Processes, tracks, slices, arrows and samples of a file."""

    def __init__(self, path):
        self.tracks, self.names, self.categories = {}, {}, {}
        self.slices, self.samples = [], []
        self.sources, self.targets = {}, {}
        events, started = [], set()
        for packet in decode(path):
            sequence = packet["trusted_packet_sequence_id"][0]
            flags = (packet["sequence_flags"] or [0])[0]
            if flags & 1:
                check(sequence not in started, "a sequence begins twice")
                started.add(sequence)
            check(sequence in started or not flags & 2, "a sequence without a beginning")
            for data in packet["interned_data"]:
                for kind, known in (("event_names", self.names),
                                    ("event_categories", self.categories)):
                    for entry in data[kind]:
                        known[sequence, entry["iid"][0]] = (entry["name"] or [""])[0]
            for track in packet["track_descriptor"]:
                uuid = track["uuid"][0]
                check(uuid not in self.tracks, "a track is described twice")
                check(all(parent in self.tracks for parent in track["parent_uuid"]), track)
                self.tracks[uuid] = track
            for clocks in packet["clock_snapshot"]:
                self.clocks = {clock["clock_id"][0]: clock["timestamp"][0]
                               for clock in clocks["clocks"]}
            for event in packet["track_event"]:
                check(event["track_uuid"][0] in self.tracks, "a track that is not described")
                # BOOT, at the moment where the timeline begins
                events.append((packet["timestamp"][0] - self.clocks[6], sequence, event))
        self.replay(sorted(events, key=lambda item: item[0]))

    def process(self, uuid):
        track = self.tracks[uuid]
        while track["parent_uuid"] and not track["process"]:
            track = self.tracks[track["parent_uuid"][0]]
        if track["thread"]:
            pid = track["thread"][0]["pid"][0]
            return next(other["process"][0] for other in self.tracks.values()
                        if other["process"] and other["process"][0]["pid"][0] == pid)
        return track["process"][0]

    def title(self, uuid):
        track = self.tracks[uuid]
        return (track["name"] or track["thread"][0]["thread_name"])[0]

    def replay(self, events):
        stacks = collections.defaultdict(list)
        for at, sequence, event in events:
            track, [kind] = event["track_uuid"][0], event["type"]
            if kind == COUNTER:
                values = event["counter_value"] or event["double_counter_value"]
                self.samples.append((track, at, values[0]))
            elif kind == BEGIN:
                name = event["name"] or [self.names[sequence, iid] for iid in event["name_iid"]]
                found = {"track": track, "at": at, "name": name[0], "event": event}
                stacks[track].append(found)
                self.slices.append(found)
                for flow in event["flow_ids"]:
                    check(flow not in self.sources, "an arrow begins twice")
                    self.sources[flow] = found
                for flow in event["terminating_flow_ids"]:
                    check(flow not in self.targets, "an arrow ends twice")
                    self.targets[flow] = found
            else:
                check(kind == END and stacks[track], "an end without a begin")
                found = stacks[track].pop()
                found["dur"] = at - found["at"]
        check(not any(stacks.values()), "slices stay open")
        check(self.sources.keys() == self.targets.keys(), "arrows with one end")

    def of_rank(self, name):
        """Slices of a process without the steps, which are our own."""
        return [found for found in self.slices
                if self.process(found["track"])["process_name"][0] == name and
                self.title(found["track"]) != "Steps"]


def same(what, ours, theirs):
    ours, theirs = collections.Counter(ours), collections.Counter(theirs)
    check(ours == theirs, what, "missing", list((ours - theirs).items())[:3], "too many",
          list((theirs - ours).items())[:3])
    return sum(ours.values())


def compare(path, folder, exact=True):
    """Counts of what was compared. `exact`: one rank, whose clock is that of the export."""
    out = folder / "out.pftrace"
    run("export", path, "--perfetto", out)
    decoded = Decoded(out)
    slices = query(path, "select rank, slice, name, start_ns, dur_ns, category from slices")
    ranks = sorted({row["rank"] for row in slices}, key=lambda rank: int(rank or -1))
    processes = sorted((track["process"][0]["pid"][0], track["process"][0]["process_name"][0])
                       for track in decoded.tracks.values() if track["process"])
    check([name for _, name in processes][:1] == ["stepscope"], processes)
    names = [name for _, name in processes][1:]
    check(len(set(pid for pid, _ in processes)) == len(processes), "pids are unique")
    if len(ranks) > 1:
        check(names == [f"rank {rank}" for rank in ranks], names, ranks)
    counts = [0, 0, 0]
    for rank, name in zip(ranks, names):
        rows = [row for row in slices if row["rank"] == rank]
        found = decoded.of_rank(name)
        at = (lambda row: int(row["start_ns"])) if exact else (lambda row: 0)
        theirs = [(item["name"], item["at"] if exact else 0, item["dur"]) for item in found]
        counts[0] += same("slices", [(row["name"], at(row), int(row["dur_ns"])) for row in rows],
                          theirs) if exact else same(
                              "slices", [row["name"] for row in rows], [row[0] for row in theirs])
    known = {(row["rank"], row["slice"]): row for row in slices}
    links = [(known[row["rank"], row["from_slice"]], known[row["rank"], row["to_slice"]])
             for row in query(path, "select * from links where from_slice is not null")]
    ends = (lambda row: (row["name"], int(row["start_ns"]))) if exact else (
        lambda row: (row["name"], 0))
    mine = [(*((item["name"], item["at"] if exact else 0) for item in
               (decoded.sources[flow], decoded.targets[flow])),) for flow in decoded.sources]
    counts[1] = same("arrows", [(ends(a), ends(b)) for a, b in links], mine)
    counters = query(path, "select * from counters")
    memory = query(path, "select * from memory_events")
    samples = [(" ".join(filter(None, (row["name"], row["series"]))), int(row["at_ns"]),
                float(row["value"])) for row in counters]
    for row in memory:
        device = row["device"]
        for column, word in (("allocated_bytes", "allocated"), ("reserved_bytes", "reserved")):
            if row[column] and (device != "CPU" or word == "allocated"):
                samples.append((f"{device} memory {word}", int(row["at_ns"]), float(row[column])))
    theirs = [(decoded.title(track), at, float(value)) for track, at, value in decoded.samples]
    counts[2] = same("samples", *([row if exact else (row[0], row[2]) for row in rows]
                                  for rows in (samples, theirs)))
    return counts, decoded


def test_job(folder):
    job = folder / "job"
    run("sim", "--preset", "ddp8-slow", "--ranks", 3, "--steps", 3, "-o", job)
    counts, decoded = compare(job, folder, exact=False)
    check(counts[0] > 10000 and counts[1] > 1000, counts)
    check(decoded.clocks.keys() == {1, 6} and decoded.clocks[1] > 10 ** 18, decoded.clocks)
    titles = {decoded.title(uuid): track for uuid, track in decoded.tracks.items()
              if track["name"] or track["thread"]}
    check("1 input-stall" in titles and "DataLoader" in
          titles["1 input-stall"]["description"][0], titles.keys())
    path = [item for item in decoded.slices if decoded.title(item["track"]) == "Critical path"]
    check(sum(item["dur"] for item in path) > 0, "the critical path has a length")
    gemm = next(item for item in decoded.slices if "gemm" in item["name"])
    arguments = {entry["name"][0] for entry in gemm["event"]["debug_annotations"]}
    check({"grid", "block", "correlation"} <= arguments, arguments)
    # compressed, it is the same
    small = folder / "job.pftrace.gz"
    said = run("export", job, "--perfetto", small).stdout
    check("3 ranks" in said and "ui.perfetto.dev" in said, said)
    check(gzip.decompress(small.read_bytes()) == (folder / "out.pftrace").read_bytes(), "gzip")
    hidden = folder / "hidden.pftrace"
    run("export", job, "--perfetto", hidden, "--redact")
    check(b"train_epoch" not in hidden.read_bytes(), "private names")


def test_folded(folder):
    job, out = folder / "job", folder / "stacks.folded"
    run("export", job, "--folded", out)
    sums = collections.Counter()
    phases = set()
    for line in out.read_text().splitlines():
        stack, _, value = line.rpartition(" ")
        rank, where, phase = stack.split(";")[:3]
        sums[rank, where] += int(value)
        phases.add(phase)
    check({"forward", "backward", "optimizer"} <= phases, phases)
    for group, where in (("device", "GPU"), ("host", "host")):
        rows = csv.DictReader(io.StringIO(run("stacks", job, "--group", group, "--top", 0,
                                              "--format", "csv").stdout, newline=""))
        wanted = collections.Counter()
        for row in rows:
            wanted[f"rank {row['rank']}", where] += int(row["time_ns"])
        check(all(sums[key] == value for key, value in wanted.items()), wanted, sums)


def test_range(folder):
    """What the viewer hands to Perfetto: a range of time of one rank, slices whole."""
    job, out = folder / "job", folder / "range.pftrace"
    rows = query(job, "select rank, name, start_ns, dur_ns from slices where rank = 1")
    moments = sorted(int(row["start_ns"]) for row in rows)
    # rank 0 is first on the common clock by as much as rank 1 begins later
    whole = Decoded(folder / "out.pftrace").of_rank("rank 1")
    shift = min(item["at"] for item in whole) - moments[0]
    begin, end = (moments[len(moments) * part // 8] + shift for part in (3, 4))
    request = f"perfetto?files=1&from={begin}&to={end}"
    done = subprocess.run([STEPSCOPE, "ask", request, job], capture_output=True, check=True)
    out.write_bytes(done.stdout)
    decoded = Decoded(out)
    count = same("slices of a range", [
        (item["name"], item["at"], item["dur"]) for item in whole
        if item["at"] < end and (item["at"] + item["dur"] > begin or item["at"] >= begin)], [
        (item["name"], item["at"], item["dur"]) for item in decoded.of_rank("rank 1")])
    check(1000 < count < len(whole) / 2 and decoded.sources, count)
    check(not decoded.of_rank("rank 0"), "another rank")
    steps = [item for item in decoded.slices if decoded.title(item["track"]) == "Steps"]
    check(0 < len(steps) <= 2, steps)
    run("ask", "perfetto?from=5&to=5", job, code=2)


def test_before_the_first_slice(folder):
    """Times have no sign: what lies before the beginning moves the zero of the clock."""
    trace = folder / "early.json"
    kernel = {"ph": "X", "pid": 1, "tid": 2, "cat": "cpu_op", "name": "aten::mm", "dur": 5}
    trace.write_text(json.dumps({"traceEvents": [
        {**kernel, "ts": 100}, {**kernel, "ts": 110},
        {"ph": "i", "pid": 1, "tid": 2, "name": "early", "ts": 40, "s": "t"}]}))
    counts, decoded = compare(trace, folder)
    check(counts[0] == 3, counts)
    check(min(item["at"] for item in decoded.slices) == -60000 == -decoded.clocks[6],
          decoded.clocks)


def test_errors(folder):
    job = folder / "job"
    for words, said in ((("export", job), "--perfetto"),
                        (("export", job, "--perfetto", "a", "--folded", "b"), "--perfetto")):
        check(said in run(*words, code=2).stderr, words)
    trace = sorted(job.iterdir())[0]
    before = trace.read_bytes()
    check("also an input" in run("export", trace, "--perfetto", trace, code=2).stderr, "input")
    check(trace.read_bytes() == before, "an input is replaced")
    cut = folder / "cut.json"
    cut.write_bytes(before[:len(before) * 2 // 3])
    said = run("export", cut, "--perfetto", folder / "cut.pftrace")
    check("truncated or damaged" in said.stdout + said.stderr, said)


def main():
    if not shutil.which("protoc") or not pathlib.Path(DUCKDB).exists():
        print("perfetto: protoc (protobuf-compiler) or DuckDB is missing")
        return 77
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        test_job(folder)
        test_folded(folder)
        test_range(folder)
        test_before_the_first_slice(folder)
        test_errors(folder)
        files = sorted((path for pattern in ("*.json", "*.json.gz")
                        for path in TRACES.rglob(pattern) if path.stat().st_size < BYTES_MAX and
                        path.name.count("expected") == 0), key=lambda path: path.stat().st_size)
        done, totals = 0, collections.Counter()
        for path in chosen.share(files[::max(1, len(files) // FILES)] if FILES else []):
            if subprocess.run([STEPSCOPE, "steps", path], capture_output=True,
                              check=False).returncode:
                continue
            counts, _ = compare(path, folder)
            totals.update(dict(zip(("slices", "arrows", "samples"), counts)))
            done += 1
        print(f"perfetto: {done} real files, " +
              ", ".join(f"{count} {what}" for what, count in totals.items()))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"perfetto: {wrong}")
        sys.exit(1)
