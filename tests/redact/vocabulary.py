#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every text that figures depend on stays as it is in a redacted trace.

Usage: vocabulary.py STEPSCOPE SOURCE_ROOT. Takes the patterns out of the sources that look at
names, writes a trace with an event of each of them, and demands that its redacted copy has the same
names. The list of words must be in order, without anything twice.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

STEPSCOPE = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2]) / "src"
# files whose texts are patterns, beside a few sentences
PATTERNS = (
    "trace/names.c", "trace/kinds.c", "memory/load/dicts.c", "memory/stack_places.c",
    "analyze/kernel/category.c", "analyze/kernel/short_name.c", "analyze/kernel/message.c",
    "analyze/host/op_category.c", "analyze/host/places.c", "analyze/host/step_phase.c",
    "analyze/host/ops.c", "analyze/inference_steps.c", "analyze/time/roles.c",
    "analyze/work/formulas_*.c", "analyze/work/operands.c", "analyze/work/peaks.c",
    "diagnose/evidence/checkpoints_and_logging.c", "diagnose/rules/*.c",
    "load/files/rank_names.c", "ranks/collective_kind.c",
)
# texts for people, and of a conversion
SENTENCES = {"asked for", "finds nothing", "hang", "the casts", "the recording", "them",
             "trains nothing", "0123456789"}
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def patterns():
    for form in PATTERNS:
        paths = sorted(SOURCE.glob(form))
        if not paths:
            sys.exit(f"no file of src is called {form}")
        for path in paths:
            # comments, headers, and the views that a rule names
            text = re.sub(r"/\*.*?\*/|^#include.*?$|\.(memory_)?views = .*?$", "", path.read_text(),
                          flags=re.S | re.M)
            for found in TEXT.findall(text):
                # sentences and formats are for people
                if found.count(" ") < 2 and "%" not in found and "\\" not in found and found and \
                        found not in SENTENCES:
                    yield found


def copy_of(names):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        events = [{"ph": "X", "name": name, "ts": i, "dur": 1} for i, name in enumerate(names)]
        (work / "a.json").write_text(json.dumps({"traceEvents": events}))
        subprocess.run([STEPSCOPE, "redact", str(work / "a.json"), "-o", str(work / "b.json")],
                       check=True, capture_output=True)
        return [event["name"] for event in json.loads((work / "b.json").read_text())["traceEvents"]]


def lists():
    """The lists of words.c."""
    text = (SOURCE / "redact/words.c").read_text()
    for name, body in re.findall(r"(ss_words_\w+)\[\] = \{(.*?)\};", text, re.S):
        yield name, "".join(TEXT.findall(body)).split(" ")[:-1]


def main():
    names = sorted(set(patterns()))
    failures = [f"'{name}' becomes '{copy}'" for name, copy in zip(names, copy_of(names))
                if name != copy]
    if len(names) < 500:
        failures.append(f"only {len(names)} patterns were found")
    for name, words in lists():
        if words != sorted(set(words)):
            failures.append(f"{name} is not in order")
        failures += [f"{name}: '{word}'" for word in words if not re.fullmatch("[a-z]{2,}", word)]
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(names)} patterns, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
