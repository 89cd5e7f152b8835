# SPDX-License-Identifier: Apache-2.0
"""Cases that are more than one file: cuts, flips, splices."""
import gzip
import json
import os
import pathlib
import random
import tempfile
import time

from hostile_input.making import (
    AFTER, BLOCK_BYTES, HEAD, ZSTD, event, join, kernel, launch, op, rows_of, trace,
)
from hostile_input.files import compress_zstd, keeps, many, says
from hostile_input.running import FORMATS, Failed, strict_json, tables_of
from hostile_input.sums import sums_of_gaps, sums_of_weeks


# --- cases that are more than one file ----------------------------------------------------------


def load_views(runner, path, threads="1"):
    """The tables of info, or None and the sentence."""
    ran = runner.run("info", "--format", "json", "--threads", threads, path)
    if ran.code:
        return None, ran.err.decode(errors="replace").strip()
    return tables_of(strict_json(ran.out)), ""


def counts_of(views):
    return {row["oddity"]: row["count"] for row in views["quality"]
            if row["severity"] in ("lost", "mended", "note")}


SMALL = [op(100), event(name='"a{b}[c],\\"d\\""'), kernel(210, tid="7"), launch(205),
         event(ph='"M"', name='"process_name"', args='{"name":"{x}, {"}'), op(300)]


def whole_before(data, cut):
    """How many of SMALL's events end at or before the cut."""
    at, count = len(HEAD), 0
    for text in SMALL:
        at += len(text) + (2 if count else 0)
        if at > cut:
            break
        count += 1
    return count


def cut_everywhere(runner, folder):
    """chakra#192: a file cut at every byte keeps its whole events and says that it is cut."""
    data = trace(*SMALL)
    opened = data.index(b'"traceEvents":[') + len(b'"traceEvents":[')
    end = data.rindex(b"}") + 1
    path = os.path.join(folder, "t.json")
    for cut in range(len(data)):
        pathlib.Path(path).write_bytes(data[:cut])
        views, sentence = load_views(runner, path, "1" if cut % 2 else "3")
        if cut < opened:
            if views:
                raise Failed(f"cut at {cut}, before the events: wanted a sentence")
            continue
        if not views:
            raise Failed(f"cut at {cut}: {sentence}")
        wanted = ({"truncated": 1} if cut < end else {}, whole_before(data, cut))
        counts = {k: v for k, v in counts_of(views).items() if k != "orphan-device-event"}
        found = (counts, views["files"][0]["events"])
        if found != wanted:
            raise Failed(f"cut at byte {cut}, {data[:cut][-20:]!r}: {found}, not {wanted}")


def cut_packed(runner, folder, pack, suffix):
    """The same for a compressed file: never more than there was, and always said."""
    data = trace(*[op(100 + 2 * i, name=f'"op {i * 7919 % 1000}"') for i in range(60)])
    packed = pack(data)
    path = os.path.join(folder, "t" + suffix)
    for cut in range(len(packed)):
        pathlib.Path(path).write_bytes(packed[:cut])
        views, _ = load_views(runner, path, "1" if cut % 2 else "3")
        if views is None:
            continue
        counts = counts_of(views)
        if set(counts) not in ({"compressed-cut"}, {"compressed-cut", "truncated"}):
            raise Failed(f"cut at byte {cut} of {len(packed)}: {counts}")
        if views["files"][0]["events"] > 60:
            raise Failed(f"cut at byte {cut}: {views['files'][0]['events']} events of 60")
    if views is None or views["files"][0]["events"] != 60:
        raise Failed("the last byte is missing and events are lost")


def cut_gzip(runner, folder):
    """A gzip file cut at every byte."""
    cut_packed(runner, folder, lambda data: gzip.compress(data, 1, mtime=0), ".json.gz")


def cut_zstd(runner, folder):
    """A zstd file cut at every byte."""
    if ZSTD:
        cut_packed(runner, folder, compress_zstd, ".json.zst")


def flip_gzip(runner, folder):
    """Bit flips in gzip: whatever comes out, damage is said or it is a sentence."""
    data = trace(*[op(100 + 2 * i, name=f'"op {i * 7919 % 1000}"') for i in range(200)])
    packed = gzip.compress(data, mtime=0)
    chance = random.Random(11)
    path = os.path.join(folder, "t.json.gz")
    for _ in range(150):
        at, bit = chance.randrange(10, len(packed)), chance.randrange(8)
        flipped = bytearray(packed)
        flipped[at] ^= 1 << bit
        pathlib.Path(path).write_bytes(flipped)
        views, _ = load_views(runner, path, chance.choice("13"))
        if views and not {"compressed-corrupt", "compressed-cut"} & set(counts_of(views)):
            raise Failed(f"bit {bit} of byte {at} flipped: {counts_of(views)}")


def flip_plain(runner, folder):
    """One byte of a plain file changed: at most few events are lost, and that is said."""
    events = [op(100 + 5 * i, name=f'"op {i}"', args='{"External id":%d}' % i) for i in range(40)]
    data = trace(*events)
    first, last = data.index(b"\n"), data.rindex(b"\n]")
    chance = random.Random(5)
    path = os.path.join(folder, "t.json")
    for _ in range(600):
        at = chance.randrange(first, last)
        byte = chance.choice(b'"\\{}[],:\0\xff 0a')
        changed = bytearray(data)
        changed[at] = byte
        pathlib.Path(path).write_bytes(changed)
        views, sentence = load_views(runner, path, chance.choice("13"))
        where = f"byte {at} {data[at - 10:at + 10]!r} is {bytes([byte])!r}"
        if views is None:
            raise Failed(f"{where}: {sentence}")
        kept, counts = views["files"][0]["kept_events"], counts_of(views)
        if kept < 37:
            raise Failed(f"{where}: {kept} of 40 events kept, {counts}")
        if kept < 40 and not counts:
            raise Failed(f"{where}: {kept} of 40 events kept and nothing said")


def interleave(runner, folder):
    """TensorRT-LLM PR#13536: several processes write one path."""
    one = [op(100 + 5 * i, name=f'"one {i}"') for i in range(200)]
    two = [op(102 + 5 * i, name=f'"two {i}"', tid="2") for i in range(200)]
    a, b = trace(*one), trace(*two)
    chance = random.Random(3)
    path = os.path.join(folder, "t.json")
    for _ in range(60):
        at, other, length = (chance.randrange(500, 15000), chance.randrange(500, 9000),
                             chance.randrange(1, 5000))
        spliced = a[:at] + b[other:other + length] + a[at:]
        pathlib.Path(path).write_bytes(spliced)
        views, sentence = load_views(runner, path, chance.choice("13"))
        where = f"{length} bytes of the other file at {at}"
        if views is None:
            raise Failed(f"{where}: {sentence}")
        kept = views["files"][0]["kept_events"]
        if kept < 196:
            raise Failed(f"{where}: only {kept} events of 200 kept: {counts_of(views)}")


def overwrite(runner, folder):
    """The same, one process overwriting the other's bytes, a few kB at a time."""
    one = trace(*[op(100 + 5 * i, name=f'"one {i}"') for i in range(400)])
    two = trace(*[op(102 + 5 * i, name=f'"second {i}"', tid="2") for i in range(400)])
    path = os.path.join(folder, "t.json")
    for size in (64, 333, 1000, 4096):
        chunks = [(one if i % 2 else two)[i * size:(i + 1) * size]
                  for i in range(len(two) // size + 1)]
        pathlib.Path(path).write_bytes(b"".join(chunks))
        views, sentence = load_views(runner, path)
        if views is None:
            raise Failed(f"pieces of {size} bytes: {sentence}")
        counts = counts_of(views)
        if not {"bad-event", "truncated", "no-time", "no-phase"} & set(counts):
            raise Failed(f"pieces of {size} bytes: nothing lost? {counts}")
        if size >= 333 and views["files"][0]["kept_events"] < 250:
            raise Failed(f"pieces of {size} bytes: {views['files'][0]['kept_events']} kept")


def block_lengths(runner, folder):
    """Files that end at the border of a block, whole and cut."""
    path = os.path.join(folder, "t.json")
    for length in range(BLOCK_BYTES - 3, BLOCK_BYTES + 4):
        for tail, wanted in ((b"]}", {}), (b"", {"truncated": 1})):
            body = HEAD + join(AFTER)
            spaces = b" " * (length - len(body) - len(tail))
            pathlib.Path(path).write_bytes(body + spaces + tail)
            for threads in ("1", "3"):
                views, sentence = load_views(runner, path, threads)
                found = counts_of(views) if views else sentence
                if found != wanted or views["files"][0]["events"] != 2:
                    raise Failed(f"{length} bytes, {threads} threads: {found}, not {wanted}")


def cut_at_border(runner, folder):
    """A cut file whose last event lies across the border of two blocks."""
    path = os.path.join(folder, "t.json")
    last = event(name='"x {"', args='{"a":"},{","name":"b"}')
    for where in range(0, len(last), 5):
        body = HEAD + join(AFTER) + b",\n"
        body += b" " * (BLOCK_BYTES - len(body) - where) + last
        for keep in (len(body) - 1, len(body) - 9, len(body)):
            pathlib.Path(path).write_bytes(body[:keep])
            wanted = 3 if keep == len(body) else 2
            for threads in ("1", "3"):
                views, sentence = load_views(runner, path, threads)
                found = (counts_of(views), views["files"][0]["events"]) if views else sentence
                if found != ({"truncated": 1}, wanted):
                    raise Failed(f"border at {where}, {threads} threads: {found}")


def other_files(runner, folder):
    """One bad file does not stop the others; the view files says why."""
    good = os.path.join(folder, "rank1.json")
    pathlib.Path(good).write_bytes(trace(*AFTER))
    pathlib.Path(folder, "rank0.json").write_bytes(b"\x89PNG")
    pathlib.Path(folder, "rank2.json").write_bytes(b"")
    bad = [os.path.join(folder, f"rank{i}.json") for i in (0, 2)]
    ran = runner.run("files", "--format", "json", bad[0], good, bad[1])
    rows = rows_of(strict_json(ran.out))
    problems = [row["problem"] for row in rows]
    if ran.code != 0 or len(rows) != 3 or sum(p is None for p in problems) != 1:
        raise Failed(f"one good file and two bad ones: {problems}")


def odd_paths(runner, folder):
    """A path with control characters or bytes that are no UTF-8 is shown like any such text."""
    for name in (b"n\n\x1b[31m\".json", b"\xff\xfe.json"):
        path = os.fsdecode(os.fsencode(folder) + b"/" + name)
        pathlib.Path(path).write_bytes(trace(*AFTER))
        for name, check in FORMATS.items():
            check(runner.run("files", "--format", name, "--width", "80", path).out)


SCRIPTS = [cut_everywhere, cut_gzip, cut_zstd, flip_gzip, flip_plain, interleave, overwrite,
           block_lengths, cut_at_border, other_files, odd_paths, sums_of_weeks, sums_of_gaps]


def check_script(runner, script):
    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        script(runner, folder)


def check_growing(runner, what):
    """Twice the events may take a little more than twice the time; four times is quadratic."""
    name, count, make = what
    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        path = os.path.join(folder, "t.json")
        times = []
        for events in (count // 2, count):
            with open(path, "wb") as file:
                many(events, make)(file)
            best = []
            for _ in range(3):  # the least disturbed of three: machines are shared
                ran = runner.run("info", "--top", "10", "--threads", "1", path)
                if ran.code != 0:
                    raise Failed(ran.err.decode(errors="replace").strip())
                best.append(ran.cpu_seconds)
            times.append(min(best))
        if times[1] > 3.2 * max(times[0], 0.1):
            raise Failed(f"{count // 2} events: {times[0]:.2f} s, {count}: {times[1]:.2f} s")
        runner.run("steps", "--top", "10", path)
