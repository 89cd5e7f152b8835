#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every view with every filter, on real traces: never a crash, and parts that sum to the whole.

Usage: filters.py STEPSCOPE TRACES. Views and groups are those that the program lists. What is
wrong with an option is said in one sentence with exit code 2. A step alone has the figures that it
has in the whole file, byte for byte; kernels of all steps, devices and streams sum to the whole;
--sort, --top and --name choose and order rows and do not change them. STEPSCOPE_QUICK=1 takes
every eighth trace.
"""
import concurrent.futures
import gzip
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

FINE, USAGE = 0, 2
STEPSCOPE = sys.argv[1]
TRACES = pathlib.Path(sys.argv[2])
FORMATS = ("text", "json", "csv", "markdown")

# small ones of many kinds: steps and none, two streams, ROCm, CPU only, GPU only, graphs, arrays
NAMES = (
    "cuda/triton.json.gz",
    "cuda/sync_records_event_multi_stream.json.gz",
    "cuda/runtime_but_no_gpu.json.gz",
    "cuda/oldest_array.pt.trace.json.gz",
    "rocm/mi250_minitoy.json.gz",
    "rocm/mi210_gpu_only.json.gz",
    "rocm/vllm_decode_graph.json.gz",
    "other/cpu_only_gloo.json.gz",
    "other/nsys_to_chrome_array.json.gz",
    "other/mtia_inference.json.gz",
    "jobs/tp2_tiny",
)
# these have many columns to sort
SORTED = ("sync_records_event_multi_stream.json.gz", "mi250_minitoy.json.gz")

# words that ask for what is not there, or for nothing
WRONG = (
    ("--step", "5-3"), ("--step", "-1"), ("--step", "99999999999999999999"), ("--step", ""),
    ("--step", "0-"), ("--step", "0x0"), ("--step", "4294967296"), ("--step", "no such step"),
    ("--device", "-3"), ("--device", ""), ("--device", "cuda:0"), ("--device", "99999"),
    ("--device", "18446744073709551616"), ("--stream", "-1"), ("--stream", "x"),
    ("--stream", "99999"), ("--group", ""), ("--group", "no such group"), ("--sort", ""),
    ("--sort", "-"), ("--sort", "no such column"), ("--sort", "x" * 5000), ("--step", "x" * 5000),
    ("--group", "\u00e9" * 3000),
)
# words that may find nothing, or that a view may not know
ODD = (("--name", ""), ("--name", "*"), ("--name", "?" * 300), ("--name", "*a" * 100),
       ("--name", "\u00e9"), ("--name", "[("), ("--step", "0-999999999999999999"), ("--top", "0"))

EVENT = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}'
SMALL = "[%s]" % ",".join((
    EVENT % ("user_annotation", "ProfilerStep#1", 9, 9, 0, 50, ""),
    EVENT % ("cpu_op", "aten::mm", 9, 9, 1, 20, ""),
    EVENT % ("cuda_runtime", "cudaLaunchKernel", 9, 9, 2, 3, '"correlation":1'),
    EVENT % ("kernel", "gemm", 0, 7, 10, 30, '"device":0,"stream":7,"correlation":1'),
))


class Wrong(Exception):
    """A rule does not hold."""


def check(holds, *what):
    if not holds:
        raise Wrong(" ".join(str(word) for word in what)[:3000])


def run(*words):
    command = [STEPSCOPE, *(str(word) for word in words), "--progress", "none", "--threads", "1"]
    result = subprocess.run(command, capture_output=True, check=False, timeout=120)
    error = result.stderr.decode("utf-8", "replace")
    check(result.returncode in (FINE, USAGE), words, "ends with", result.returncode, error)
    check("runtime error" not in error and "(null)" not in error, words, error)
    if result.returncode == USAGE:
        check(error.count("\n") == 1 and not result.stdout, words, "is not one sentence:", error)
        check(error.startswith("stepscope ") and len(error) > 20, words, error)
    return result.returncode, result.stdout, error


def csv_lines(*words):
    code, out, error = run(*words, "--format", "csv")
    check(code == FINE, words, error)
    return out.split(b"\r\n")[:-1]


def table(*words):
    """The rows of a view, by column name."""
    code, out, error = run(*words, "--format", "json")
    check(code == FINE, words, error)
    document = json.loads(out)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def offers():
    """Reports and views, each with its groups."""
    lines = run_plain("help").split("Reports and views:\n")[1].split("\n\n")[0].splitlines()
    found = {}
    for name in (line.split()[0] for line in lines):
        groups = [line for line in run_plain("help", name).splitlines() if "Groups: " in line]
        found[name] = groups[0].removeprefix("Groups: ").split(", ") if groups else []
    check("gaps" in found and len(found["gaps"]) > 1 and not found["info"], found)
    return found


def run_plain(*words):
    return subprocess.run([STEPSCOPE, *words], capture_output=True, text=True, check=True).stdout


# --- rules: each takes a file and what there is in it ---------------------------------------------


def every_view(views, path, places):
    """With every filter it is fine, or one sentence says why not."""
    steps = ["--step", "0"], ["--step", "0-99999"]
    parts = [["--device", device] for device, _ in places[:1]] + [
        ["--stream", stream] for _, stream in places[:1]]
    rest = ["--name", "a"], ["--sort", "-rank", "--top", "2"]
    both = [[*steps[0], *part, "--name", "*e*", "--sort", "rank"] for part in parts[:1]]
    form = itertools.cycle(FORMATS)
    for view, groups in views.items():
        for group in groups or [None]:
            for words in (*steps, *parts, *rest, *both):
                words = [*words, "--group", group] if group else words
                run(view, path, *words, "--format", next(form), "--width", "60")
    for view in ("info", "overview"):
        check(run(view, path, "--sort", "rank")[0] == USAGE, view, "--sort")
        check(run(view, path, "--group", "step")[0] == USAGE, view, "--group")


def steps_alone(_, path, __):
    """A step alone has the rows that it has in the whole."""
    numbers = sorted({row["step"] for row in table("steps", path) if not row["dropped"]})
    for view in ("breakdown", "budget"):
        whole = csv_lines(view, path)
        at = whole[0].split(b",").index(b"step")
        for step in numbers[:30]:
            own = [line for line in whole[1:] if line.split(b",")[at] == b"%d" % step]
            alone = csv_lines(view, path, "--step", step)
            check(alone[1:] == own, path, view, "step", step, alone[1:], own)
    gaps = table("gaps", path, "--group", "gap")
    for step in numbers[:30]:
        own = [(row["at_ns"], row["idle_ns"], row["cause"]) for row in gaps if row["step"] == step]
        alone = [(row["at_ns"], row["idle_ns"], row["cause"])
                 for row in table("gaps", path, "--group", "gap", "--step", step)]
        check(alone == own, path, "gaps of step", step, alone[:5], own[:5])
    for row in table("steps", path):
        alone = table("steps", path, "--step", row["step"])
        check({one["step"] for one in alone} == {row["step"]}, path, "steps", alone)


def sums(rows):
    """Calls and time by name."""
    found = {}
    for row in rows:
        calls, total = found.get(row["name"], (0, 0))
        found[row["name"]] = (calls + row["calls"], total + row["total_ns"])
    return found


def parts_of_kernels(_, path, places):
    """Steps, devices and streams sum to the whole."""
    numbers = sorted({row["step"] for row in table("steps", path)})
    if numbers and len(numbers) < 30:
        alone = [row for step in numbers for row in table("kernels", path, "--step", step)]
        together = table("kernels", path, "--step", f"0-{len(numbers)}")
        check(sums(alone) == sums(together), path, "kernels of steps")
    whole = sums(table("kernels", path))
    devices = sorted({device for device, _ in places})
    by_device = [row for device in devices for row in table("kernels", path, "--device", device)]
    check(sums(by_device) == whole, path, "kernels of devices")
    if len(places) < 30:
        by_stream = [row for device, stream in places for row in
                     table("kernels", path, "--device", device, "--stream", stream)]
        check(sums(by_stream) == whole, path, "kernels of streams")
    if devices:
        ours = sum(row["device_self_ns"] or 0 for device in devices
                   for row in table("operators", path, "--device", device))
        theirs = sum(row["device_self_ns"] or 0 for row in table("operators", path))
        check(ours == theirs, path, "device time of operators", ours, theirs)


def launched_in_steps(_, path, __):
    """Kernels of each step, counted from the file itself."""
    if path.is_dir():
        return
    with gzip.open(path) as file:
        document = json.load(file, strict=False)
    events = document if isinstance(document, list) else document["traceEvents"]
    events = [event for event in events if event.get("ph") == "X"]
    steps = [event for event in events if event.get("cat") == "user_annotation"
             and event["name"].startswith("ProfilerStep#")]
    launches = {}
    for event in events:
        if event.get("cat") in ("cuda_runtime", "cuda_driver"):
            launches.setdefault(event.get("args", {}).get("correlation"), []).append(event)
    kernels = [event for event in events if event.get("cat") == "kernel"]
    owners = [launches.get(event.get("args", {}).get("correlation"), []) for event in kernels]
    if not steps or any(len(owner) != 1 for owner in owners):
        return
    steps.sort(key=lambda event: float(event["ts"]))
    for number, step in enumerate(steps):
        start, end = float(step["ts"]), float(step["ts"]) + float(step["dur"])
        ours = sum(start <= float(owner[0]["ts"]) < end for owner in owners)
        rows = table("kernels", path, "--step", number)
        check(sum(row["calls"] for row in rows) == ours, path, "kernels of step", number, ours)
        rows = table("kernels", path, "--step", step["name"])
        check(sum(row["calls"] for row in rows) == ours, path, "kernels of", step["name"], ours)


def order(rows, column, turned):
    """As --sort should have it: Python's sort is stable, too."""
    known = [row for row in rows if row[column] is not None]
    is_text = bool(known) and isinstance(known[0][column], str)
    if is_text:
        known.sort(key=lambda row: row[column].encode(), reverse=turned)
    else:
        known.sort(key=lambda row: row[column], reverse=not turned)
    return known + [row for row in rows if row[column] is None]


def orders_and_names(views, path, _):
    """--sort, --top and --name, on every column and on a name that is there."""
    if path.name not in SORTED:
        return
    for view in views:
        document = json.loads(run(view, path, "--format", "json")[1])
        if "columns" not in document:
            continue
        rows = table(view, path)
        for index, column in enumerate(column["name"] for column in document["columns"]):
            words = ["--sort", "-" * (index % 2) + column]
            found = table(view, path, *words)
            # fractions have six digits here and all of them there: rows that look the same differ
            if any(isinstance(row[column], float) for row in rows):
                keys = [row[column] for row in found if row[column] is not None]
                check(keys == sorted(keys, reverse=index % 2 == 0), path, view, *words)
                continue
            check(found == order(rows, column, index % 2 == 1), path, view, *words)
            if index < 3:
                check(table(view, path, *words, "--top", "3") == found[:3], path, view, *words)
        names_that_are_there(view, path, rows)


def names_that_are_there(view, path, rows):
    texts = [value for row in rows for value in row.values() if isinstance(value, str)]
    part = texts[len(texts) // 2][:6] if texts else "*"
    code, out, _ = run(view, path, "--name", part, "--format", "json")
    if code == FINE and part.isascii() and "*" not in part and "?" not in part:
        known = [list(row.values()) for row in rows]
        for row in json.loads(out)["rows"]:
            check(row in known, path, view, "--name", part, row)
            check(any(part.lower() in str(cell).lower() for cell in row), path, view, part, row)


RULES = (every_view, steps_alone, parts_of_kernels, launched_in_steps, orders_and_names)


def check_small(views, folder):
    """Wrong and odd words; a rank whose file cannot be read."""
    path = folder / "small.json"
    path.write_text(SMALL, encoding="utf-8")
    for index, view in enumerate(views):
        # all of them for some views, a few for each
        some = 1 if view in ("info", "kernels", "gaps") else 7
        for words in WRONG[index % some::some]:
            check(run(view, path, *words)[0] == USAGE, view, words, "is taken")
        for words in ODD[index % some::some]:
            run(view, path, *words)
    job = folder / "job"
    job.mkdir()
    (job / "rank0.json").write_text(SMALL, encoding="utf-8")
    (job / "rank1.json").write_text("{}", encoding="utf-8")
    for words in (["--device", "0"], ["--stream", "7"], ["--step", "0"], ["--step", "x"]):
        code, _, error = run_job("kernels", job, "--rank", "1", *words)
        check(code == USAGE and "(null)" not in error, words, error)
        code, _, error = run_job("kernels", job, *words)
        check(code == (USAGE if "x" in words else FINE), words, error)


def run_job(*words):
    """As run(), of a job in which a file cannot be read: that is told, too."""
    result = subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                            text=True, check=False, timeout=120)
    return result.returncode, result.stdout, result.stderr


def check_trace(views, path):
    places = [(row["device"], row["stream"]) for row in table("streams", path)]
    places = sorted({place for place in places if min(place) >= 0})
    for rule in RULES:
        rule(views, path, places)
    return path


def main():
    views = offers()
    with tempfile.TemporaryDirectory() as folder:
        check_small(views, pathlib.Path(folder))
    paths = [TRACES / name for name in NAMES if (TRACES / name).exists()]
    paths = share(paths, 8)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in pool.map(lambda path: check_trace(views, path), paths):
            print("ok", path.name)
    print(f"filters: {len(views)} views and reports, {len(paths)} traces of {len(NAMES)}")


if __name__ == "__main__":
    main()
