#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Views of one rank from digests whose traces are gone: kept rows and sums are those of the traces.

Usage: digest_views.py STEPSCOPE [TRACES]. Compares every view that a digest keeps, then what is
cut, what is refused, strips of the timeline, and digests with names of kilobytes.
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
REST = "(the rest)"
# view, group, column of the largest rows, rows at most
KEPT = (("breakdown", "step", "dur_ns", 1024), ("breakdown", "part", "mean_ns", 32),
        ("breakdown", "piece", "dur_ns", 128), ("budget", "step", "dur_ns", 128),
        ("budget", "part", "mean_ns", 32), ("phases", None, "device_ns", 32),
        ("gaps", None, "idle_ns", 32), ("utilization", None, "busy_ns", 32),
        ("devices", None, "kernels", 32), ("kernels", None, "total_ns", 100),
        ("operators", None, "device_self_ns", 40), ("communication", None, "total_ns", 32),
        ("steps", None, "dur_ns", 1024), ("places", None, "time_ns", 64),
        ("roofline", "step", "device_ns", 1024), ("files", None, "events", 1))
TREES = ("places",)
TABLES_MAX = 128 << 10
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def run(*words, cwd=None, code=0):
    done = subprocess.run([STEPSCOPE, *map(str, words)], cwd=cwd, capture_output=True, check=False)
    check(done.returncode == code, f"exit {done.returncode}, not {code}: {words}: "
          f"{done.stderr.decode()[:300]}")
    return done


def table(folder, view, group, *more):
    words = [view, "--json", *(("--group", group) if group else ()), *more]
    said = json.loads(run(*words, "job", cwd=folder).stdout)
    said["names"] = [column["name"] for column in said["columns"]]
    return said


def same_number(a, b):
    return a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-9))


def by_rank(rows):
    ranks = {}
    for row in rows:
        ranks.setdefault(row[0], []).append(row)
    return ranks


def kept_rows(what, before, after, weight, most):
    """The rows of a rank: all, or the largest in their order and the sum of the others."""
    at = before["names"].index(weight)
    tree = what.split()[1] in TREES
    cut = 0
    ranks = by_rank(after["rows"])
    check(list(ranks) == list(by_rank(before["rows"])), f"{what}: other ranks")
    for rank, rows in by_rank(before["rows"]).items():
        own = ranks.get(rank, [])
        if len(rows) <= most:
            check(own == rows, f"{what}: rank {rank}: not all rows")
            continue
        cut += 1
        check(len(own) == most, f"{what}: {len(own)} rows, not {most}")
        own, rest = (own, None) if tree else (own[:-1], own[-1])
        left = iter(rows)
        check(all(row in left for row in own), f"{what}: rows are not those of the trace")
        least = min(row[at] or 0 for row in own)
        check(sum((row[at] or 0) > least for row in rows) <= len(own), f"{what}: not the largest")
        check(tree or REST in rest, f"{what}: no row of the rest")
    return cut


def same_sums(what, before, after):
    for name, a, b in zip(before["names"], before.get("totals") or [],
                          after.get("totals") or []):
        check(same_number(a, b), f"{what}: sum of {name}: {a}, from digests {b}")
    check(("totals" in before) == ("totals" in after), f"{what}: totals")


def tree_is_whole(what, after):
    """No place without the one around it."""
    depth = after["names"].index("depth")
    for rows in by_rank(after["rows"]).values():
        last = 0
        for row in rows:
            check(row[depth] <= last + 1, f"{what}: a place without its parent")
            last = row[depth]


def strips(folder, span, files):
    words = f"strips?files={','.join(map(str, range(files)))}&from=0&to={span}&pixels=64"
    said = run("ask", words, "job", cwd=folder).stdout
    return [said[16 + i * 64:80 + i * 64] for i in range(3 * files)]


def compare(name, folder):
    """The job lies in folder/traces/job; it is away while its digests are asked."""
    traces, digests = folder / "traces", folder / "digests"
    digests.mkdir()
    run("digest", "job", "-o", "../digests/job", cwd=traces)
    before = {(view, group): table(traces, view, group) for view, group, _, _ in KEPT}
    report = run("overview", "job", cwd=traces).stdout.decode().splitlines()
    files = json.loads(run("ask", "job", "job", cwd=traces).stdout)["files"]
    span = max(one["end_ns"] for one in files)
    drawn = strips(traces, span, len(files))
    from_trace = table(digests, "kernels", None)
    check(from_trace == before["kernels", None], f"{name}: the trace is there, but not read")
    (traces / "job").rename(folder / "away")
    cut = 0
    for view, group, weight, most in KEPT:
        what = f"{name}: {view} {group or ''}"
        after = table(digests, view, group)
        cut += kept_rows(what, before[view, group], after, weight, most)
        same_sums(what, before[view, group], after)
        check(after["rows"] == [] or "digest" in after["basis"], f"{what}: basis: {after['basis']}")
        if view in TREES:
            tree_is_whole(what, after)
        said = run(view, *(("--group", group) if group else ()), "job", cwd=digests)
        check(said.stdout.decode().splitlines()[0].startswith("From "), f"{what}: first line")
        if view == "kernels":
            said = run(view, "--rank", "all", "job", cwd=digests)
            check(said.stdout.startswith(b"From "), f"{what}: first line of all ranks")
        served = json.loads(run("ask", f"view/{view}" + (f"?group={group}" if group else ""), "job",
                                cwd=digests).stdout)
        check(served["rows"] == after["rows"], f"{what}: the viewer gets other rows")
    said = run("overview", "job", cwd=digests).stdout.decode().splitlines()
    check(said[0] == "From digests: the largest rows of each table.", f"{name}: {said[0]}")
    check(said[1] == report[0], f"{name}: overview: {said[1]}, not {report[0]}")
    # pieces also count communication of the host, and copies before it
    for before_, after_ in zip(drawn, strips(digests, span, len(files))):
        check(abs(sum(before_) - sum(after_)) <= 64 * 255 // 50,
              f"{name}: strip: {sum(before_)}, from digests {sum(after_)}")
    refused(name, digests)
    (folder / "away").rename(traces / "job")
    return cut


def refused(name, digests):
    """What a digest does not have is said, with where it is."""
    for words in (("syncs",), ("kernels", "--step", "0"), ("kernels", "--group", "op")):
        said = run(*words, "job", cwd=digests, code=1)
        check(b"has no events, and its trace '" in said.stderr,
              f"{name}: {words}: {said.stderr}")


def long_names(folder):
    """Names of kilobytes: fewer rows, never more bytes; sums stay."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
               "ts": 0, "dur": 9000}]
    for i in range(300):
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                    "tid": 1, "ts": 20 * i, "dur": 4, "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": f"{i:04}" + 4000 * chr(97 + i % 26),
                    "pid": 0, "tid": 7, "ts": 25 * i + 10, "dur": 1 + i % 17,
                    "args": {"device": 0, "stream": 7, "correlation": i + 1}}]
    job = folder / "traces/job"
    job.mkdir(parents=True)
    (job / "rank0.json").write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    (folder / "digests").mkdir()
    run("digest", "job", "-o", "../digests/job", cwd=folder / "traces")
    size = (folder / "digests/job/rank0.digest").stat().st_size
    before = table(folder / "traces", "kernels", None)
    (job / "rank0.json").unlink()
    after = table(folder / "digests", "kernels", None)
    check(1 < len(after["rows"]) < 40, f"long names: {len(after['rows'])} rows")
    same_sums("long names", before, after)
    check(size < 2 * TABLES_MAX, f"long names: {size} bytes")
    said = run("kernels", "job", "--width", 200, cwd=folder / "digests").stdout
    said = said.decode().splitlines()[0]
    check(said == f"From a digest: the {len(after['rows']) - 1} largest of 300 rows; "
          f"\"{REST}\" is the sum of the others.", said)


def main():
    traces = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    jobs = cut = 0
    for job in ("megatron_tp2", "tp2_tiny"):
        if not traces or not (traces / "jobs" / job).is_dir():
            continue
        with tempfile.TemporaryDirectory() as temporary:
            shutil.copytree(traces / "jobs" / job, pathlib.Path(temporary) / "traces/job")
            cut += compare(job, pathlib.Path(temporary))
        jobs += 1
    for words in (("--ranks", 3, "--steps", 3),
                  ("--ranks", 2, "--steps", 140, "--set", "layers=1,stack=0")):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "traces").mkdir()
            run("sim", "--preset", "ddp8-healthy", *words, "-o", folder / "traces/job")
            cut += compare(f"simulated {words[1]}", folder)
        jobs += 1
    check(cut, "no table was cut")
    with tempfile.TemporaryDirectory() as temporary:
        long_names(pathlib.Path(temporary))
    print(f"{jobs} jobs, {cut} tables cut, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
