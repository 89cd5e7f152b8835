# SPDX-License-Identifier: Apache-2.0
"""Reads traces so that nothing of their text is lost, and runs the simulator."""
import concurrent.futures
import gzip
import json
import os
import pathlib
import subprocess
import traceback

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
NAMED = ("cpu_op", "user_annotation")
HOST = NAMED + CALLS + ("python_function",)


class Real(str):
    """A number with a point or an exponent, as its text."""


def nanoseconds(value):
    """The microseconds of `ts` and `dur` as exact nanoseconds; more digits are cut."""
    whole, _, part = str(value).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


class Trace:
    """A file: its head, and its events with their times in nanoseconds beside them."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        data = self.path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        self.head = json.loads(text.decode("utf-8", "replace"), parse_float=Real)
        self.events = self.head.pop("traceEvents")
        self.base = self.head.get("baseTimeNanoseconds", 0)
        self.calls, self.by_category, self.flows = {}, {}, []
        for event in self.events:
            phase, category = event.get("ph"), event.get("cat")
            if "ts" in event:
                event["start"] = nanoseconds(event["ts"])
                event["end"] = event["start"] + nanoseconds(event.get("dur", 0))
            if phase in "sf":
                self.flows.append(event)
            elif phase == "X" or (phase == "i" and category):
                self.by_category.setdefault(category, []).append(event)
        for call in self.of(*CALLS):
            self.calls.setdefault(call["args"].get("correlation"), call)

    def of(self, *categories):
        for category in categories:
            yield from self.by_category.get(category, ())

    def call_of(self, row):
        return self.calls.get(row["args"].get("correlation"))


def track(row):
    return row["pid"], row["tid"]


def shown(row, length=260):
    """A row in a line, without what was added here."""
    text = json.dumps({k: v for k, v in row.items() if k not in ("start", "end")})
    return text if len(text) <= length else text[:length] + "..."


def rank_files(folder):
    """The traces of a job, in order of rank."""
    files = [p for p in pathlib.Path(folder).glob("rank*.json*") if p.name != "truth.json"]
    return sorted(files, key=lambda p: int(p.name.split(".")[0].removeprefix("rank")))


class Refused(Exception):
    """The program did not do what it was asked."""


def run(stepscope, *words, seconds=600):
    command = [str(stepscope), *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    if ran.returncode != 0:
        said = (ran.stderr or ran.stdout).strip().splitlines()
        raise Refused(f"{' '.join(command[1:])}: exit {ran.returncode}: {said[-1:]}")
    return ran.stdout


def rows_of(stepscope, *words):
    """The rows of a command's JSON table, by column name."""
    table = json.loads(run(stepscope, *words, "--format", "json"))
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def presets_of(stepscope):
    return rows_of(stepscope, "sim", "--list")


def simulate(stepscope, preset, folder, *options):
    run(stepscope, "sim", "--preset", preset, "-o", folder, "--plain", *options)


class Report:
    """Deviations of one preset: how often each rule was broken, and the first time."""

    def __init__(self, name):
        self.name, self.broken = name, {}

    def say(self, rule, sentence, row=None):
        entry = self.broken.setdefault(rule, [0, sentence, row])
        entry[0] += 1

    def equal(self, rule, found, wanted, what="", row=None):
        if found != wanted:
            self.say(rule, f"{what}{' ' if what else ''}found {found}, wanted {wanted}", row)
        return found == wanted

    def lines(self):
        for rule, (count, sentence, row) in self.broken.items():
            times = f" ({count} times)" if count > 1 else ""
            yield f"{self.name}: {rule}{times}: {sentence}"
            if row is not None:
                yield f"    first: {shown(row)}"
        yield f"{self.name}: {'FAILED' if self.broken else 'passed'}"


def attempt(check, preset, *arguments):
    """A file so odd that a check stumbles is a deviation too."""
    try:
        return check(preset, *arguments)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as problem:
        report = Report(preset)
        report.say("reads", "".join(traceback.format_exception(problem)[-2:]).strip())
        return report


def check_all(check, presets, *arguments):
    """Runs check(preset, *arguments), which returns a report, for all; returns the exit status."""
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(attempt, check, preset, *arguments) for preset in presets]
        for one in running:
            report = one.result()
            failed += bool(report.broken)
            print("\n".join(report.lines()), flush=True)
    print(f"{len(presets) - failed} passed, {failed} failed")
    return 1 if failed or not presets else 0
