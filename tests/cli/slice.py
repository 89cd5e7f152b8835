#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stepscope slice`: a part of a trace gives the same figures as the whole one.

Usage: slice.py STEPSCOPE TRACES [STEPS]. Steps of real traces and of a simulated job are sliced:
all views of a slice equal those of the whole trace for that step, row by row; the slice is JSON
without tolerance, and not much larger than the step's share of the events. Ranges of time,
findings, members of collectives and redaction are tried; what cannot be sliced is said in one
sentence.
"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

FINE, FAILED, USAGE = 0, 1, 2
STEPSCOPE = sys.argv[1]
TRACES = pathlib.Path(sys.argv[2])
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
SHARE_MAX = 1.2
# about the file, whatever the step
OF_FILE = {"files", "devices", "quality", "categories"}
# where in the file something is, and the number of the step
PLACES = {"step", "steps", "row", "start_ns", "first_ns", "last_ns", "end_ns", "at_ns",
          "host_start_ns", "host_end_ns"}


class Wrong(Exception):
    """A rule does not hold."""


def check(holds, *what):
    if not holds:
        raise Wrong(" ".join(str(word) for word in what)[:2000])


def run(*words):
    result = subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                            text=True, check=False, timeout=600)
    check("runtime error" not in result.stderr and "(null)" not in result.stderr, result.stderr)
    return result


def answer(*words):
    result = run(*words, "--format", "json")
    return json.loads(result.stdout) if result.returncode == FINE else {"failed": result.stderr}


def views():
    """Views of one rank that can be asked for a step."""
    text = run("ask", "offers", SAMPLE).stdout
    return [view["name"] for view in json.loads(text)["views"]
            if not view["of_job"] and not view["of_snapshot"] and view["name"] not in OF_FILE]


def tables(document):
    if "columns" in document:
        yield document
    for value in document.values():
        for item in value if isinstance(value, list) else []:
            if isinstance(item, dict):
                yield from tables(item)


def figures(document):
    """The rows without the columns that say where something is."""
    out = []
    for table in tables(document):
        kept = [i for i, column in enumerate(table["columns"]) if column["name"] not in PLACES]
        names = [table["columns"][i]["name"] for i in kept]
        out.append((names, [[row[i] for i in kept] for row in table["rows"]]))
    return out


def strict(path):
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        text = file.read().decode("utf-8")

    def refuse(word):
        raise Wrong(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def events_of(path):
    """Of the whole file, for the step's share."""
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        document = json.loads(file.read().decode("utf-8", "replace"), strict=False)
    return document if isinstance(document, list) else document["traceEvents"]


def length(event):
    return len(json.dumps(event, separators=(",", ":")))


def share_of(events, begin_ns, end_ns):
    """The bytes of the events that overlap the step, and of names, which every slice needs."""
    begin, end = begin_ns / 1e3, end_ns / 1e3
    total = 0
    for event in events:
        if not isinstance(event, dict):
            continue
        start, lasts = (float(event.get(key) or 0) for key in ("ts", "dur"))
        if event.get("ph") == "M" or (start < end and start + lasts > begin):
            total += length(event)
    return total


def compare(path, number, out, names):
    """Views that differ between the slice and the step of the whole file."""
    different = []
    for name in names:
        whole = answer(name, path, "--step", number)
        part = answer(name, out, "--step", 0)
        if "failed" in whole:
            continue
        if "failed" in part or figures(whole) != figures(part):
            different.append(name)
    return different


def compare_packed(path, number, folder, out, names):
    """Views that differ between the slice and one of a pack without its file beside it."""
    again, packs = folder / "again.json", folder / "packs"
    shutil.rmtree(packs, ignore_errors=True)
    check(run("pack", path, "-o", packs).returncode == FINE, "no pack of", path)
    result = run("slice", packs, "--step", number, "-o", again, "--progress", "none")
    check(result.returncode == FINE, path, result.stderr)
    strict(again)
    return [name for name in names
            if rows_as_set(answer(name, out)) != rows_as_set(answer(name, again))]


def rows_as_set(document):
    """Names have other numbers, by which equal rows are sorted."""
    return [(names, sorted(json.dumps(row) for row in rows)) for names, rows in figures(document)]


def steps_of(path):
    document = answer("steps", path)
    names = [column["name"] for column in document.get("columns", [])]
    return [dict(zip(names, row)) for row in document.get("rows", [])]


def real_files():
    found = sorted(path for kind in ("cuda", "rocm", "jobs", "cpu", "other", "unseen")
                   for path in (TRACES / kind).glob("**/*") if path.is_file() and
                   (path.name.endswith(".json") or path.name.endswith(".json.gz")))
    return [path for path in found if path.stat().st_size < 4_000_000]


def test_steps(folder, paths, count):
    names, tried, shares, wrong = views(), 0, [], []
    for path in paths:
        if tried == count:
            break
        steps = [step for step in steps_of(path)]
        if len(steps) < 2:
            continue
        number = len(steps) // 2
        out = folder / "small.json"
        result = run("slice", path, "--step", number, "-o", out, "--progress", "none")
        if result.returncode == USAGE and "several ranks" in result.stderr:
            continue
        check(result.returncode == FINE, path, result.stderr)
        document = strict(out)
        size = sum(length(event) for event in document["traceEvents"])
        times = document["stepscope_steps"]
        shares.append(size / share_of(events_of(path), min(times[1], times[3]),
                                      max(times[2], times[4])))
        different = compare(path, number, out, names)
        if tried % 3 == 0:
            different += compare_packed(path, number, folder, out, names)
        if different:
            wrong.append((path, number, different))
        tried += 1
    for row in wrong:
        print("differs:", *row)
    print(f"slice: {tried} steps, {len(names)} views each, {len(wrong)} with a difference; size "
          f"{max(shares):.2f} times the step's share at most")
    check(tried and not wrong, wrong)
    check(max(shares) <= SHARE_MAX, "a slice is too large:", max(shares))


def test_job(folder, job):
    """Several ranks: a folder; members of collectives; a finding; a range of time; redaction."""
    out = folder / "ranks"
    result = run("slice", job, "--step", 2, "-o", out, "--progress", "none")
    check(result.returncode == FINE, result.stderr)
    check(len(list(out.iterdir())) == 4, list(out.iterdir()))
    check(figures(answer("collectives", out))[0][1], "collectives are matched in slices")
    one = folder / "one.json.gz"
    check(run("slice", job, "--step", 1, "-o", one).returncode == USAGE, "several ranks")
    check(not one.exists(), "nothing is left behind")
    check(run("slice", job, "--rank", 1, "--step", 1, "-o", one).returncode == FINE, "one rank")
    members = folder / "members"
    result = run("slice", job, "--rank", 1, "--step", 1, "--members", "-o", members)
    check(result.returncode == FINE, result.stderr)
    check(len(list(members.iterdir())) == 4, "all ranks meet in collectives")
    found = folder / "found.json"
    result = run("slice", job, "--around", "finding 1", "-o", found)
    check(result.returncode == FINE and len(strict(found)["traceEvents"]) > 100, result.stderr)
    verdict = answer("diagnose", job)
    rule = verdict["findings"][0]["rule"]
    again = run("slice", job, "--around", rule, "-o", folder / "rule.json")
    check(again.returncode == FINE, again.stderr)
    check((folder / "rule.json").read_bytes() == found.read_bytes(), "number and rule are one")
    ranged = folder / "range.json"
    result = run("slice", job, "--rank", 0, "--from", "1ms", "--to", "0.03s", "-o", ranged)
    check(result.returncode == FINE, result.stderr)
    check(strict(ranged)["traceEvents"], "a range has events")
    hidden = folder / "hidden.json"
    result = run("slice", job, "--rank", 0, "--step", 1, "--redact", "-o", hidden)
    check(result.returncode == FINE, result.stderr)
    check(steps_of(hidden)[0]["dur_ns"] == steps_of(job)[1]["dur_ns"], "times stay as they are")


def test_errors(folder, job):
    trace = sorted(job.glob("*.json*"))[0]
    cases = (
        (("slice", trace), USAGE, "needs one of"),
        (("slice", trace, "--step", "1", "--from", "1ms"), USAGE, "needs one of"),
        (("slice", trace, "--step", "99"), USAGE, "no step '99'"),
        (("slice", trace, "--from", "2 weeks"), USAGE, "take a time"),
        (("slice", trace, "--around", "finding 99"), USAGE, "no finding"),
        (("slice", job, "--rank", "77", "--step", "1"), USAGE, "no file for rank 77"),
        (("slice", folder / "none", "--step", "1"), FAILED, ""),
    )
    for words, code, text in cases:
        result = run(*words, "-o", folder / "x.json")
        check(result.returncode == code and text in result.stderr, words, result.returncode,
              result.stderr)
        check(not (folder / "x.json").exists(), words, "left a file")
    before = trace.read_bytes()
    result = run("slice", trace, "--step", "1", "-o", trace)
    check(result.returncode != FINE and trace.read_bytes() == before, "an input is never replaced")
    result = run("slice", job, "--step", "1", "-o", job)
    check(trace.read_bytes() == before, "an input is never replaced")
    new = folder / "new"
    check(run("slice", trace, "--step", "99", "-o", new).returncode == USAGE, "no such step")
    check(run("slice", folder / "none", "--step", "1", "-o", new).returncode == FAILED, "no file")
    check(not new.exists(), "an empty folder is left")
    new.mkdir()
    (new / "rank0.json.gz").write_text("mine")
    result = run("slice", trace, "--step", "1", "-o", new)
    check(result.returncode == USAGE and "exists already" in result.stderr, result.stderr)
    check((new / "rank0.json.gz").read_text() == "mine", "a file that was not named is replaced")
    # a damaged pack is read from the file beside it, which is then an input
    beside = folder / "beside"
    beside.mkdir()
    whole = beside / trace.name
    whole.write_bytes(trace.read_bytes())
    check(run("pack", whole).returncode == FINE, "pack")
    [pack] = beside.glob("*.stepscope")
    pack.write_bytes(pack.read_bytes()[:-1] + b"?")
    result = run("slice", pack, "--step", "1", "-o", whole)
    check(result.returncode == USAGE and whole.read_bytes() == before, result.stderr)


with tempfile.TemporaryDirectory() as made:
    base = pathlib.Path(made)
    JOB = base / "job"
    simulated = run("sim", "--preset", "ddp8-slow", "--ranks", 4, "--steps", 4, "-o", JOB)
    check(simulated.returncode == FINE, simulated.stderr)
    SAMPLE = sorted(JOB.glob("*.json*"))[0]
    test_steps(base, [SAMPLE, *real_files()], STEPS)
    test_job(base, JOB)
    test_errors(base, JOB)
