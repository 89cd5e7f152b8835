# SPDX-License-Identifier: Apache-2.0
"""Runs stepscope on a case and checks what it says."""
import csv
import io
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata

from hostile_input.making import (
    AFTER, BEFORE, BLOCK_BYTES, BORDERS, HEAD, PATIENCE, SECONDS_MAX, TAIL, case, join,
    odd, rows_of,
)
from hostile_input.files import says


# --- running ----------------------------------------------------------------------------------


class Ran:
    """What a run left."""

    def __init__(self, code, out, err, seconds, cpu_seconds):
        self.code, self.out, self.err = code, out, err
        self.seconds, self.cpu_seconds = seconds, cpu_seconds


PEAK = """
import os, sys
nowhere = os.open(os.devnull, os.O_RDWR)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
                     file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, n) for n in (0, 1, 2)])
print(os.wait4(pid, 0)[2].ru_maxrss)
"""


class Failed(Exception):
    """A rule was broken."""


class Runner:
    def __init__(self, stepscope):
        self.stepscope = stepscope
        binary = pathlib.Path(stepscope).read_bytes()
        self.sanitized = b"__asan_init" in binary or b"__tsan_init" in binary
        self.slowness = 6 if self.sanitized else 1

    def run(self, *words, seconds=SECONDS_MAX, codes=(0, 1)):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = time.monotonic()
            process = subprocess.Popen([self.stepscope, *words], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err)
            timer = threading.Timer(PATIENCE * SECONDS_MAX * self.slowness, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            took = time.monotonic() - started
            out.seek(0)
            err.seek(0)
            ran = Ran(process.returncode, out.read(), err.read(), took,
                      usage.ru_utime + usage.ru_stime)
        self.check(words, ran, seconds, codes)
        return ran

    def peak_mb(self, *words):
        """The most memory that a run takes. A new process counts what its parent held before
        exec: 100 MB of a case here. So a small process starts the run and measures it."""
        ran = subprocess.run([sys.executable, "-S", "-c", PEAK, self.stepscope, *words],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                             timeout=PATIENCE * SECONDS_MAX)
        return int(ran.stdout) / 1024

    def check(self, words, ran, seconds, codes=(0, 1)):
        what = " ".join(words[:-1])
        for word in (b"Sanitizer", b"runtime error"):
            if word in ran.err or word in ran.out:
                text = ran.err.decode(errors="replace")
                lines = [x for x in text.splitlines() if "error" in x.lower() or "#0" in x]
                raise Failed(f"{what}: {'; '.join(lines[:3])}")
        if ran.code < 0:
            raise Failed(f"{what}: ended by signal {-ran.code} after {ran.seconds:.1f} s")
        # several run at a time: what another one took does not count
        if min(ran.seconds, ran.cpu_seconds) > seconds * self.slowness:
            raise Failed(f"{what}: took {ran.seconds:.1f} s, more than {seconds} s")
        if ran.code not in codes:
            raise Failed(f"{what}: exit code {ran.code}")
        lines = ran.err.decode(errors="replace").splitlines()
        if ran.code == 1 and (len(lines) != 1 or ran.out):
            raise Failed(f"{what}: wanted one sentence and no output, got {lines[:5]}")


def strict_json(data):
    def refuse(word):
        raise Failed(f"JSON holds {word}")
    try:
        return json.loads(data.decode(), parse_constant=refuse)
    except ValueError as error:
        raise Failed(f"output is no JSON: {error}") from error


def columns_of(line):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide - sum(unicodedata.combining(c) != 0 for c in line)


def check_text(data):
    for line in data.decode().split("\n"):
        if columns_of(line) > 80:
            raise Failed(f"text has a line of {columns_of(line)} columns: {line[:90]!r}")
        if any(ord(c) < 32 or ord(c) == 127 for c in line):
            raise Failed(f"text holds a control character: {line[:90]!r}")


def check_csv(data):
    for table in data.decode().split("\r\n\r\n"):
        rows = list(csv.reader(io.StringIO(table, newline=""), strict=True))
        widths = {len(row) for row in rows if row}
        if len(widths) != 1:
            raise Failed(f"CSV has rows of {sorted(widths)} cells: {rows[:2]}")


def check_markdown(data):
    lines = data.decode().split("\n")
    if any(ord(c) < 32 or ord(c) == 127 for line in lines for c in line):
        raise Failed("markdown holds a control character")


def check_ndjson(data):
    for line in data.decode().split("\n")[:-1]:
        if not isinstance(strict_json(line.encode()), dict):
            raise Failed("a line of ndjson is no object")


FORMATS = {"json": strict_json, "text": check_text, "csv": check_csv, "markdown": check_markdown,
           "ndjson": check_ndjson}
# a report is several tables, which CSV and ndjson are not
OUTPUTS = [("info", "json"), ("info", "text"), ("info", "markdown"), ("tracks", "csv"),
           ("tracks", "ndjson"), ("steps", "json"), ("steps", "text")]
GIANT_OUTPUTS = [("info", "json"), ("info", "text")]


def without_seconds(data):
    """The first line of text tells how long the load took."""
    first, _, rest = data.partition(b"\n")
    return first.rpartition(b" in ")[0] + rest if b" in " in first else data


def tables_of(report):
    return {table["schema"].split(".")[1].split("/")[0]: rows_of(table)
            for table in report["tables"]}


def check_formats(runner, test, path):
    """Every format, with one thread and with three; the tables of the report info."""
    views = None
    for view, name in GIANT_OUTPUTS if test.giant else OUTPUTS:
        outputs = []
        for threads in ("1", "3"):
            ran = runner.run(view, "--format", name, "--width", "80", "--threads", threads,
                             *test.options, path, seconds=test.seconds)
            if ran.code != 0:
                raise Failed(f"{view} {name}: {ran.err.decode(errors='replace').strip()}")
            outputs.append(without_seconds(ran.out) if name in ("text", "markdown") else ran.out)
        if outputs[0] != outputs[1]:
            raise Failed(f"{view} {name}: 1 and 3 threads differ: {difference(*outputs)}")
        parsed = FORMATS[name](outputs[0])
        if name == "json" and view == "info":
            views = tables_of(parsed)
    return views


def difference(a, b):
    for x, y in itertools.zip_longest(a.split(b"\n"), b.split(b"\n"), fillvalue=b""):
        if x != y:
            return f"{x[:300].decode(errors='replace')!r} / {y[:300].decode(errors='replace')!r}"
    return "nothing"


def quality_problem(test, views):
    found = {row["oddity"]: row for row in views["quality"]}
    counts = {k: row["count"] for k, row in found.items()
              if row["severity"] != "absent" or k in test.rows}
    wanted = {k: v for k, v in test.rows.items() if v}
    return None if counts == wanted else f"quality has {counts}, not {wanted}"


def problem_of(test, views):
    """What the views say that they should not, or None."""
    row = views["files"][0]
    complete = {r["category"]: r["events"] for r in views["categories"]
                if not r["category"].startswith(("phase ", "("))}
    problems = [
        quality_problem(test, views) if test.rows is not None else None,
        f"{row['events']} entries, not {test.events}"
        if test.events not in (None, row["events"]) else None,
        f"{row['kept_events']} events kept, not {test.kept}"
        if test.kept not in (None, row["kept_events"]) else None,
        f"categories are {complete}, not {test.categories}"
        if test.categories not in (None, complete) else None,
        test.also(views) if test.also else None,
    ]
    return "; ".join(filter(None, problems)) or None


def check_error(runner, test, path):
    for threads in ("1", "3"):
        ran = runner.run("info", "--format", "json", "--threads", threads, *test.options, path,
                         seconds=test.seconds)
        text = ran.err.decode(errors="replace").strip()
        if ran.code != 1:
            raise Failed(f"exit code {ran.code}, wanted 1 and a sentence with '{test.error}'")
        if test.error not in text or os.path.basename(path) not in text:
            raise Failed(f"wanted '{test.error}' and the file's name in the sentence: {text}")
    check_memory(runner, test, "info", path)


def check_memory(runner, test, view, path):
    if not test.rss_mb or runner.sanitized:
        return
    peak_mb = runner.peak_mb(view, "--threads", "1", *test.options, path)
    if peak_mb > test.rss_mb:
        raise Failed(f"took {peak_mb:.0f} MB of memory, more than {test.rss_mb}")


def at_border(test, where):
    """The case's file, with spaces so that byte `where` of the odd events is a block's first."""
    front = HEAD + join(BEFORE) + b",\n"
    middle = join(test.odd)
    spaces = BLOCK_BYTES - len(front) - where
    return front + b" " * spaces + middle + b",\n" + join(AFTER) + TAIL


def check_borders(runner, test, folder):
    """The odd events in two blocks: the same rows, with one thread and with three."""
    length = len(join(test.odd))
    places = sorted({length * i // BORDERS for i in range(BORDERS)} | {1, max(length - 1, 0)})
    for where, threads in itertools.product(places, ("1", "3")):
        path = os.path.join(folder, "border.json")
        pathlib.Path(path).write_bytes(at_border(test, where))
        ran = runner.run("info", "--format", "json", "--threads", threads, path)
        if ran.code != 0:
            raise Failed(f"cut at byte {where} by a block's border: {ran.err.decode().strip()}")
        problem = problem_of(test, tables_of(strict_json(ran.out)))
        if problem:
            raise Failed(f"cut at byte {where} by a block's border, {threads} threads: {problem}")


def check_case(runner, test):
    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        path = os.path.join(folder, "t" + test.suffix)
        with open(path, "wb") as file:
            if callable(test.data):
                test.data(file)
            else:
                file.write(test.data)
        if test.error is not None:
            check_error(runner, test, path)
            return
        views = check_formats(runner, test, path)
        problem = problem_of(test, views)
        if problem:
            raise Failed(problem)
        check_memory(runner, test, "quality", path)
        if test.odd:
            check_borders(runner, test, folder)
