#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same trace gives the same bytes, however it is read.

Usage: same_output.py STEPSCOPE [TRACES]. Compares the JSON of info, steps, tracks and quality for
1, 2 and 8 threads; plain, gzip (one member and many) and zstd; from a file, a pipe, and a pipe
that is fed a few bytes at a time; files named in any order, and the folder that holds them. What
names the file is left out. Exits 77 (skipped) when nothing could be compared.
"""
import gzip
import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77
VIEWS = ("info", "steps", "tracks", "quality")
THREADS = ("1", "2", "8")
# disk_bytes: the same text is packed in other ways
NAMES_OF_FILES = {"file", "folder", "path", "problem", "disk_bytes"}
ZSTD = shutil.which("zstd")
SLOW_BYTES_MAX = 4000  # longer files are not fed byte by byte
SECONDS_MAX = 300  # a run that hangs; others may take the processor

REAL = [
    "cuda/resnet50_workers0.pt.trace.json.gz", "cuda/oldest_array.pt.trace.json.gz",
    "cuda/ns_resolution.pt.trace.json.gz", "cuda/b200_eager.json.gz", "cuda/nccl_args.json.gz",
    "cuda/rank_missing.json.gz", "rocm/vllm_decode_graph.json.gz", "rocm/mi300_qwen.json.gz",
    "other/mtia_inference.json.gz", "other/nsys_to_chrome_array.json.gz",
    "other/cpu_only_gloo.json.gz", "cuda/sync_records_alexnet.json.gz",
]
JOB = "jobs/tp2_tiny"


# --- files --------------------------------------------------------------------------------------


def event(ts, **fields):
    return {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": ts,
            "dur": 2} | fields


def launches(count):
    """Operators that launch kernels, in steps of a hundred."""
    for i in range(count):
        if i % 100 == 0:
            yield event(i * 10, cat="user_annotation", name=f"ProfilerStep#{i // 100}", dur=999)
        yield event(i * 10, name=f"aten::op{i % 37}", dur=8, args={
            "External id": i, "Input Dims": [[i % 7, 3], []], "Input type": ["float", ""]})
        yield event(i * 10 + 1, cat="cuda_runtime", name="cudaLaunchKernel", dur=3,
                    args={"correlation": i, "cbid": 211})
        yield event(i * 10 + 4.125, cat="kernel", name=f"gemm<{i % 11}>", pid=0, tid=7, dur=5,
                    args={"device": 0, "stream": 7, "correlation": i, "grid": [i % 5, 1, 1],
                          "block": [128, 1, 1], "est. achieved occupancy %": i % 100})


def mixed():
    """Every phase, and things that are odd but well-formed JSON."""
    yield {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}
    yield from launches(4)
    yield event(50, ph="B")
    yield event(60, ph="C", args={"": 3, "b": "x"})
    yield event(70, ph="i", name="[memory]", args={"Bytes": 4, "Device Id": 0})
    yield event(80, ph="b", id=3)
    yield event(90, ph="s", cat="fwdbwd", id=9)
    yield event("inf", dur=-1)
    yield event(95, name="a\u0001 \ud83d\ude00 \"q\"", tid="main", dur=-5)
    yield event(99, ph="Z")
    yield 7


def text_of(events, **keys):
    rows = ",\n".join(json.dumps(one) for one in events)
    head = "".join(f"{json.dumps(k)}:{json.dumps(v)}," for k, v in keys.items())
    return ("{" + head + '"traceEvents":[\n' + rows + '\n],"traceName":"x"}\n').encode()


def broken(data):
    """What real files suffer from, all over a file of several blocks."""
    step = len(data) // 23
    damage = itertools.cycle([b'"', b"\\", b"}", b"{", b"inf", b"\xff", b"\0", b"]", b',{"ph":'])
    parts = [data[i:i + step] for i in range(0, len(data), step)]
    return parts[0] + b"".join(next(damage) + part for part in parts[1:])


def synthetic_files():
    rank = {"distributedInfo": {"rank": 0, "world_size": 1}}
    long = text_of(launches(12000), **rank)
    small = text_of(mixed(), **rank)
    quoted = long.replace(b"aten::op3", b'f("a", "b")').replace(b"gemm<5>", b"C:\\q\\")
    return {
        "small": small,
        "small, cut": small[:len(small) * 2 // 3],
        "long": long,
        "long, cut": long[:len(long) - 3456],
        "long, without rank": text_of(launches(12000)),
        "long, array": b"[" + long.partition(b"[\n")[2].rpartition(b"],")[0] + b"]",
        "long, quotes and backslashes": quoted,
        "long, damaged": broken(long),
        "long, metadata last": long.replace(b'"traceName":"x"', b'"deviceProperties":[{"id":0}]'),
    }


def real_files(traces):
    for name in REAL:
        path = pathlib.Path(traces, name)
        if path.exists():
            yield name, gzip.decompress(path.read_bytes())


# --- running ------------------------------------------------------------------------------------


class Failed(Exception):
    """Outputs differ, or there is none."""


def nameless(table):
    """A table without the columns that name the file."""
    keep = [i for i, c in enumerate(table["columns"]) if c["name"] not in NAMES_OF_FILES]
    table["columns"] = [table["columns"][i] for i in keep]
    table["rows"] = [[row[i] for i in keep] for row in table["rows"]]


def normal(data):
    """The output's bytes; a report with files is taken apart to strip their names."""
    if b'"path"' not in data:
        return data
    report = json.loads(data)
    for table in report.get("tables", [report]):
        nameless(table)
    return json.dumps(report).encode()


def feed(pipe, data, piece):
    """Writes in small pieces; the reader may have gone."""
    try:
        for at in range(0, len(data), piece):
            pipe.write(data[at:at + piece])
            pipe.flush()
        pipe.close()
    except BrokenPipeError:
        pass


def output(stepscope, view, threads, paths, data=None, piece=1 << 20):
    command = [stepscope, view, "--format", "json", "--threads", threads, *map(str, paths)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    timer = threading.Timer(SECONDS_MAX, process.kill)
    timer.start()
    feeder = threading.Thread(target=feed, args=(process.stdin, data or b"", piece))
    feeder.start()
    errors = []
    listener = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    listener.start()
    out = process.stdout.read()
    for helper in (feeder, listener):
        helper.join()
    process.wait()
    timer.cancel()
    if process.returncode:
        text = errors[0].decode(errors="replace").strip()
        raise Failed(f"{view}, {threads} threads: exit code {process.returncode}: {text[-400:]}")
    return normal(out)


def difference(a, b):
    if a == b:
        return None
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, at - 80):at + 80]!r} / {b[max(0, at - 80):at + 80]!r}"


def must_be_same(what, wanted, found):
    text = difference(wanted, found)
    if text:
        raise Failed(f"{what}: {text}")


# --- what is compared ---------------------------------------------------------------------------


def packed_forms(data, folder):
    """(what, path) of the same text, packed in all ways."""
    third = len(data) // 3
    forms = {
        "gzip": ("t.json.gz", gzip.compress(data, 1)),
        "gzip of three members": ("m.json.gz", b"".join(
            gzip.compress(part, 6) for part in (data[:third], data[third:-third], data[-third:]))),
        "gzip named as plain": ("g.json", gzip.compress(data, 1)),
    }
    if ZSTD:
        squeezed = subprocess.run([ZSTD, "-q", "-c"], input=data, stdout=subprocess.PIPE,
                                  check=True).stdout
        forms["zstd"] = ("t.json.zst", squeezed)
    for what, (name, packed) in forms.items():
        path = folder / name
        path.write_bytes(packed)
        yield what, path


def compare_file(stepscope, data, folder):
    """One trace by all ways; returns the number of comparisons."""
    plain = folder / "t.json"
    plain.write_bytes(data)
    base = {view: output(stepscope, view, "1", [plain]) for view in VIEWS}
    count = 0
    for view, threads in itertools.product(VIEWS, THREADS[1:]):
        must_be_same(f"{view}, 1 and {threads} threads", base[view],
                     output(stepscope, view, threads, [plain]))
        count += 1
    for what, path in packed_forms(data, folder):
        for view, threads in (("info", "1"), ("info", "8"), ("steps", "2")):
            must_be_same(f"{view}, plain and {what}, {threads} threads", base[view],
                         output(stepscope, view, threads, [path]))
            count += 1
    for threads in ("1", "8"):
        must_be_same(f"info, file and pipe, {threads} threads", base["info"],
                     output(stepscope, "info", threads, ["-"], data))
        count += 1
    for piece in (1, 7) if len(data) <= SLOW_BYTES_MAX else ():
        for form in (data, gzip.compress(data)):
            must_be_same(f"info, file and pipe fed by {piece} bytes", base["info"],
                         output(stepscope, "info", "2", ["-"], form, piece))
            count += 1
    return count


def compare_job(stepscope, paths, folder):
    """Files in any order, and their folder."""
    orders = list(itertools.permutations(paths))[:6]
    count = 0
    for view in VIEWS:
        wanted = output(stepscope, view, "2", [folder])
        for order in orders:
            must_be_same(f"{view}, folder and files in order {[p.name for p in order]}", wanted,
                         output(stepscope, view, "2", order))
            count += 1
    return count


def jobs(traces, folder):
    """(what, folder) of small jobs; one has a rank in the name only, one has none at all."""
    for what, name in (("ranks inside", "x{}.json"), ("ranks by name", "rank{}.json"),
                       ("no ranks", "t{}.json")):
        home = folder / what.replace(" ", "_")
        home.mkdir()
        for i in (0, 2, 10):
            keys = {"distributedInfo": {"rank": i}} if what == "ranks inside" else {}
            (home / name.format(i)).write_bytes(text_of(launches(150 + i), **keys))
        yield what, home
    if traces and pathlib.Path(traces, JOB).is_dir():
        home = folder / "real"
        home.mkdir()
        for path in pathlib.Path(traces, JOB).glob("*.json*"):
            shutil.copy(path, home)
        yield JOB, home


def all_comparisons(stepscope, traces, folder):
    """(name, function that returns the number of comparisons)."""
    files = itertools.chain(synthetic_files().items(), real_files(traces) if traces else ())
    for name, data in files:
        home = folder / str(abs(hash(name)))
        home.mkdir()
        yield name, lambda data=data, home=home: compare_file(stepscope, data, home)
    for name, home in jobs(traces, folder):
        paths = sorted(home.iterdir())
        yield f"job: {name}", lambda p=paths, h=home: compare_job(stepscope, p, h)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    stepscope, traces = sys.argv[1], (sys.argv[2:] or [None])[0]
    count = failed = 0
    with tempfile.TemporaryDirectory(prefix="same") as folder:
        for name, compare in all_comparisons(stepscope, traces, pathlib.Path(folder)):
            try:
                count += compare()
            except Failed as problem:
                failed += 1
                print(f"FAILED {name}\n       {problem}")
    if not count and not failed:
        print("same_output: nothing could be compared")
        return SKIPPED
    print(f"same_output: {count} comparisons, {failed} files failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
