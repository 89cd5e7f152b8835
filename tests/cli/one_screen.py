#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict as a person reads it, on all sample traces.

Usage: one_screen.py STEPSCOPE [TRACES]. Without TRACES only simulated jobs are read. Each verdict
must fit 80 columns, state how busy the GPU is, have at most three lines of evidence and one line of
confidence per finding; its fixes must be pasteable (Python compiles, comments stay comments), its
commands must run, and --verbose must show what was left out.
"""
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
WIDEST, EVIDENCE_MAX, COMMANDS_MIN, COMMANDS_MAX = 80, 3, 2, 4
LINES_MAX, FINDINGS_USUAL = 53, 4
PRESETS = ("small1-healthy", "small1-profiler-overhead", "gpu1-sync-print-mild",
           "ddp8-straggler-host")

GPU = re.compile(r"^The GPUs? (is|are) busy (less than |at least )?\d+(\.\d)? % of the step\b"
                 r"|^GPU use is unknown: |^No GPU in this trace: ", re.M)
TITLE = re.compile(r"^ *(\d+|-)  \S")
CONFIDENCE = re.compile(r"^     (high|medium|low) confidence(: |$)")
# what a shell runs; the rest of a fix is Python
SHELL = re.compile(r"^(export|cat|dmesg|nvidia-smi|numactl|rocm-smi|stepscope|torchrun|[A-Z_]+=)\b")
NORMAL = ("off by 0.0 %", "0 recorded", " 1 times", "(null)", "0 ns")
UNITS = re.compile(r"\d (ns|us|ms|s)\b")


def run(*words, folder=None):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


def findings_of(text):
    """Title, evidence, fix and confidence of each finding that is more than a title."""
    found, part = [], None
    for line in text.splitlines():
        if TITLE.match(line):
            part = {"title": [line], "evidence": [], "fix": [], "confidence": []}
            continue
        if part is None or not line.startswith("     "):
            part = None
        elif CONFIDENCE.match(line) or part["confidence"]:
            if not part["confidence"]:
                found.append(part)
            part["confidence"].append(line)
        elif line.startswith("     -> ") or part["fix"]:
            part["fix"].append(line[8:])
        elif line.startswith(" " * 20) and not part["evidence"]:
            part["title"].append(line)
        else:
            part["evidence"].append(line)
    return found


def check_fix(fix):
    """What is wrong with a fix that somebody pastes, or None."""
    code = [line for line in fix if line.strip() and not line.lstrip().startswith("#")]
    if not fix:
        return "no fix"
    if any(SHELL.match(line.strip()) for line in code):
        bad = [line for line in code if not SHELL.match(line.strip())]
        return f"a shell would not take {bad[0]!r}" if bad else None
    try:
        compile("\n".join(fix) + "\n", "fix", "exec")
    except SyntaxError as err:
        return f"Python does not take {err.text!r}"
    return None


def check_finding(finding):
    title = finding["title"][0].strip()
    if not 1 <= len(finding["evidence"]) <= EVIDENCE_MAX:
        yield f"{title}: {len(finding['evidence'])} lines of evidence"
    if len(finding["confidence"]) != 1:
        yield f"{title}: the confidence takes {len(finding['confidence'])} lines"
    if problem := check_fix(finding["fix"]):
        yield f"{title}: {problem}"
    units = set(UNITS.findall(" ".join(finding["title"] + finding["evidence"])))
    if len(units) > 1:
        yield f"{title}: times in {sorted(units)}"


def commands_of(text):
    part = text.partition("\nMore")[2]
    return [line.strip() for line in part.splitlines()[1:]]


def check_commands(commands, folder):
    if not COMMANDS_MIN <= len(commands) <= COMMANDS_MAX:
        yield f"{len(commands)} commands: {commands}"
    for command in commands:
        words = shlex.split(command)
        if words[0] != "stepscope":
            yield f"not a command: {command}"
            continue
        result = run(STEPSCOPE, *words[1:], folder=folder)
        if result.returncode:
            yield f"{command}: exit code {result.returncode}: {result.stderr.strip()}"


def check_verdict(text):
    """Problems that the text alone shows."""
    lines = text.splitlines()
    for line in lines:
        if len(line) > WIDEST and not line.startswith("  stepscope "):
            yield f"{len(line)} columns: {line}"
    if not GPU.search(text):
        yield "no word about how busy the GPU is"
    for words in NORMAL:
        if re.search(r"(?<![\d.])" + re.escape(words), text):
            yield f"it says {words!r}"
    for finding in findings_of(text):
        yield from check_finding(finding)
    account = [i for i, line in enumerate(lines) if line.startswith("Breakdown: ")]
    if account and lines[account[0] + 1].startswith("  "):
        yield "the account takes two lines"


def check(path, folder=None):
    """All problems of one file or folder, each with its name."""
    result = run(STEPSCOPE, "--width", "80", path, folder=folder)
    if result.returncode:
        return [f"{path}: exit code {result.returncode}: {result.stderr.strip()}"]
    text = result.stdout
    problems = list(check_verdict(text))
    if len(text.splitlines()) > LINES_MAX:
        problems.append(f"{len(text.splitlines())} lines")
    if len(findings_of(text)) > FINDINGS_USUAL:
        problems.append(f"{len(findings_of(text))} findings are more than a title")
    problems += check_commands(commands_of(text), folder)
    whole = json.loads(run(STEPSCOPE, "--format", "json", path, folder=folder).stdout)
    if whole["gpu"]:
        problems += check_use(path, whole["gpu"], folder)
    verbose = run(STEPSCOPE, "--verbose", "--width", "1000", path, folder=folder).stdout
    for finding in whole["findings"]:
        has_lines = any(row["line"] and "snapshot" not in row for row in finding["evidence"])
        if has_lines and "with_stack" in (finding["surer"] or ""):
            problems.append(f"{finding['rule']} asks for stacks that are there")
        for words in [finding["reason"], *(row["text"] for row in finding["evidence"])]:
            if words and words not in verbose:
                problems.append(f"--verbose lacks {words!r}")
    return [f"{path}: {problem}" for problem in problems]


def check_use(path, gpu, folder):
    """The share of the GPU in use must be what the view ranks says: 1 - idle / step."""
    table = json.loads(run(STEPSCOPE, "ranks", "--format", "json", path, folder=folder).stdout)
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    shares = [100 - 100 * row["idle_ns"] / row["step_ns"] for row in rows if row["step_ns"]]
    # the view rounds means to nanoseconds
    if abs(sum(shares) / len(shares) - gpu["busy_percent"]) > 0.01:
        yield f"the GPU is busy {gpu['busy_percent']} %, by the ranks {sum(shares) / len(shares)}"
    if not gpu["busy_min_percent"] <= gpu["busy_percent"] <= gpu["busy_max_percent"] + 1e-6:
        yield f"GPU use out of its own range: {gpu}"


def inputs(traces):
    for part in ("cuda", "rocm", "jobs", "other", "cpu", "cpu_faults", "pairs", "memory"):
        for path in sorted((traces / part).glob("*")):
            name = path.name
            if path.is_dir() and name != "gpu" or name.endswith((".pickle", "trace.json.gz")):
                yield path
            elif name.endswith(".json.gz") and part != "memory":
                yield path


def check_cut(made):
    """Of a file that ends before its GPU events, nobody knows that there is no GPU."""
    host = b'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":%d,"dur":90}'
    events = b",".join(host % (100 * i) for i in range(50))
    for name, end, words in (("whole", b"]}", "No GPU in this trace"),
                             ("cut", b',{"ph":"X","ca', "GPU use is unknown: GPU events may be")):
        (made / f"{name}.json").write_bytes(b'{"traceEvents":[' + events + end)
        told = run(STEPSCOPE, f"{name}.json", folder=made).stdout
        assert words in told, (name, told)
        assert ("limits the step" in told) == (name == "whole"), (name, told)
    # between two operators may be what is lost
    gap = events + b"," + host % 900000
    for name, end, is_pause in (("pause", b"]}", True), ("lost", b',{"ph":"X","ca', False)):
        (made / f"{name}.json").write_bytes(b'{"traceEvents":[' + gap + end)
        told = run(STEPSCOPE, f"{name}.json", folder=made).stdout
        assert ("more than normal" in told) == is_pause, (name, told)


def check_quoting(made):
    """Paths that a shell would take apart, a name like an option, a rank that was asked for."""
    source = made / "small1-healthy"
    names = ("two words", "it's", "-dash", "$(touch x)", "semi;colon", "wörter", "new\nline")
    for name in names:
        (made / name).symlink_to(source)
        path = name if name != "-dash" else "./-dash"
        text = run(STEPSCOPE, "--rank", "0", path, folder=made).stdout
        commands = commands_of(text)
        assert commands, name
        for command in commands:
            result = run("bash", "-c", command.replace("stepscope", shlex.quote(STEPSCOPE), 1),
                         folder=made)
            assert result.returncode == 0, (name, command, result.stderr)
            assert "explain" in command or "--rank 0" in command, command
    assert not (made / "x").exists()
    piped = subprocess.run([STEPSCOPE, "-"], input=next(source.glob("*.json*")).read_bytes(),
                           capture_output=True, timeout=120)
    assert piped.returncode == 0 and b" -\n" in piped.stdout, piped.stdout[-300:]


def main():
    with tempfile.TemporaryDirectory() as name:
        made = pathlib.Path(name)
        problems = []
        for preset in PRESETS:
            assert run(STEPSCOPE, "sim", "--preset", preset, "-o", preset,
                       folder=made).returncode == 0, preset
            problems += check(preset, made)
        check_quoting(made)
        check_cut(made)
        traces = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
        paths = share(inputs(traces), 3) if traces and traces.is_dir() else []
        if not paths:
            print("no sample traces: only simulated jobs are read")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for found in pool.map(lambda path: check(str(path)), paths):
                problems += found
    print("\n".join(problems))
    print(f"{len(PRESETS) + len(paths)} verdicts, {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
