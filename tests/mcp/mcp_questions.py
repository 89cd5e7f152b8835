#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mcp_questions.py - 40 questions about simulated and real traces, asked through the tools.

Usage: mcp_questions.py STEPSCOPE TRACES. The script goes the way of
skills/stepscope/SKILL.md: the verdict, then explain, what_if, views. What is right comes from
elsewhere: the truth of the simulator, verdicts that experts signed (tests/diagnose/real.json), and
the JSON of the traces. Prints each question with its answer, the number of calls and the bytes that
were read. Without TRACES only simulated jobs are asked about; a slow build asks a third.
"""
import collections
import csv
import gzip
import io
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from mcp_client import Client

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sim"))

from diagnosis_truth import rules_of

STEPSCOPE = sys.argv[1]
TRACES = pathlib.Path(sys.argv[2])
PRESETS = ("ddp8-slow", "gpu1-sync-print", "cnn1-input-in-process", "ddp8-straggler",
           "mi300-pageable-copy", "small8-launch-bound")
UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9}
# of a mean over steps that is rounded to three digits, and of a replay
STEP_ERROR, REPLAY_ERROR = 0.02, 0.06


def duration(text, before):
    """The time behind these words, in ns."""
    found = re.search(before + r" ([\d.,]+) (us|ms|s)\b", text)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def near(got, wanted, error):
    return got is not None and abs(got - wanted) <= error * wanted


def first_rule(text):
    found = re.search(r"(?m)^Rules?: (?:1 )?([a-z-]+)", text)
    return found[1] if found else None


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text.split("\n[")[0])))


class Simulated:
    """Questions about a job whose causes are known."""

    def __init__(self, folder, preset):
        command = [STEPSCOPE, "sim", "--preset", preset, "-o", folder, "--progress", "none",
                   "--steps", "4"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.exists = done.returncode == 0
        if not self.exists:
            return
        self.path, self.preset = str(folder), preset
        self.truth = json.loads((folder / "truth.json").read_text())
        (folder / "truth.json").unlink()
        self.cause = max(self.truth["causes"], key=lambda cause: cause["cost_ns"])

    def first(self, client):
        """What should be fixed first?"""
        rule = first_rule(client.text("verdict", path=self.path))
        return rule, self.cause["name"], rule in rules_of(self.cause["name"])

    def step(self, client):
        """How long does a step take?"""
        got = duration(client.text("verdict", path=self.path), "A step takes")
        # the first step of a recording can be much longer
        wanted = statistics.median(step["ranks"][0]["end_ns"] - step["ranks"][0]["start_ns"]
                                   for step in self.truth["steps"])
        return got, wanted, near(got, wanted, STEP_ERROR)

    def fixed(self, client):
        """Which share of the time would be left with the first problem fixed?"""
        verdict = client.text("verdict", path=self.path)
        text = client.text("what_if", path=self.path, fix=first_rule(verdict))
        got = duration(text, "it would take") / duration(verdict, "A step takes")
        wanted = self.cause["mean_step_ns_without"] / self.truth["mean_step_ns"]
        return round(got, 3), round(wanted, 3), near(got, wanted, REPLAY_ERROR)

    def where(self, client):
        """Where is it: at which line, or on which rank?"""
        rule = first_rule(client.text("verdict", path=self.path))
        text = client.text("explain", path=self.path, topic=rule)
        if self.cause["line"]:
            wanted = "{}({})".format(*self.cause["line"].split(":"))
        elif self.cause["rank"] is not None:
            wanted = f"rank {self.cause['rank']}"
        else:
            wanted = self.cause["op"]
        return wanted if wanted.lower() in text.lower() else text[:80], wanted, \
            wanted.lower() in text.lower()

    def questions(self):
        return [(self.preset, ask) for ask in (self.first, self.step, self.fixed, self.where)]


class Real:
    """Questions about a recorded trace."""

    def __init__(self, path, first):
        self.path, self.expert = TRACES / path, first

    def events(self):
        if self.path.is_dir():
            return None
        opened = gzip.open(self.path) if self.path.suffix == ".gz" else open(self.path, "rb")
        with opened as file:
            document = json.loads(file.read().decode("utf-8", "replace"), strict=False)
        return document if isinstance(document, list) else document["traceEvents"]

    def first(self, client):
        """What should be fixed first?"""
        rule = first_rule(client.text("verdict", path=str(self.path)))
        return rule, self.expert, rule in self.expert

    def kernel(self, client):
        """Which kernel runs most often, and how often?"""
        counts = collections.Counter(event["name"] for event in self.events()
                                     if event.get("cat") == "kernel" and event.get("ph") == "X")
        rows = rows_of(client.text("view", path=str(self.path), view="kernels", sort="calls",
                                   top=5, format="csv"))
        got = int(rows[0]["calls"])
        return got, counts.most_common(1)[0][1], got == counts.most_common(1)[0][1]

    def questions(self):
        events = self.events() if self.path.exists() else None
        yield self.path.name, self.first
        if events and any(event.get("cat") == "kernel" for event in events):
            yield self.path.name, self.kernel


def real_traces():
    document = json.loads((HERE.parent / "diagnose" / "real.json").read_text())
    for verdict in document["verdicts"] if isinstance(document, dict) else document:
        is_settled = verdict.get("first") and not verdict.get("not_yet")
        if is_settled and (TRACES / verdict["path"]).exists():
            yield Real(verdict["path"], verdict["first"])


def main():
    with tempfile.TemporaryDirectory() as made:
        asked = []
        for preset in PRESETS:
            job = Simulated(pathlib.Path(made) / preset, preset)
            asked += job.questions() if job.exists else []
        for trace in real_traces():
            asked += trace.questions()
        asked = asked[:40:3] if os.environ.get("STEPSCOPE_SLOW") else asked[:40]
        right = calls = size = 0
        for subject, ask in asked:
            with Client(STEPSCOPE) as client:
                got, wanted, is_right = ask(client)
                right += is_right
                calls += client.calls
                size += client.bytes
                print(f"{'right' if is_right else 'WRONG'}  {subject}: {ask.__doc__} {got} "
                      f"({wanted}); {client.calls} calls, {client.bytes} bytes")
        print(f"mcp: {right} of {len(asked)} answers are right; {calls / len(asked):.1f} calls and "
              f"{size / len(asked):.0f} bytes per answer")
        assert right == len(asked), "answers are wrong"


main()
