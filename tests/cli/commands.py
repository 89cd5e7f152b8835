#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as people type it: exit codes, sentences on stderr, colours, Ctrl-C.

Usage: commands.py STEPSCOPE. Every check is a row of CASES or a function below.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

STEPSCOPE = sys.argv[1]
FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

EVENT = '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5}'
TRACE = '{"traceEvents":[%s]}' % EVENT
# a name that text would colour or break
BROKEN = '{"traceEvents":[%s,{"ph":"X","name":"no time"}' % EVENT

# (words, exit code, a piece of stdout, a piece of stderr); {trace} is a good file, {folder} an
# empty folder, {broken} a file that was cut, {config} JSON that is no trace
CASES = (
    (["{trace}"], FINE, "1 rank", ""),
    (["diagnose", "{trace}"], FINE, "A step takes", ""),
    (["{trace}", "--format", "json"], FINE, '"schema":"stepscope.diagnose/1"', ""),
    (["diagnose", "--format=json", "{trace}"], FINE, '"recorded_waits":0,"inferred_waits":0', ""),
    (["diagnose", "--format=csv", "{trace}"], FINE, "rank,rule,level", ""),
    (["diagnose", "--format=markdown", "{trace}"], FINE, "A step takes 5.00 us", ""),
    (["diagnose", "--step", "0", "{trace}"], USAGE, "", "--step does not apply"),
    (["diagnose", "--rank", "7", "{trace}"], USAGE, "", "no file for rank 7"),
    (["diagnoze", "{trace}"], USAGE, "", "did you mean 'diagnose'"),
    (["what-if", "--fix", "sync-stall", "{trace}"], FINE, "Not found in these files", ""),
    (["what-if", "--fix", "sync-stall", "--fix=input-stall", "{trace}"], FINE, "input-stall", ""),
    # cut in the middle of a letter
    (["what-if", "--fix", "straggler=a" + "é" * 99, "--json", "{trace}"], FINE, "straggler=aé", ""),
    (["what-if", "{trace}"], FINE, "A step takes", ""),
    (["what-if", "--fix", "nothing", "{trace}"], USAGE, "", "no rule called 'nothing'"),
    (["what-if", "--fix", "pipeline-buble=3", "{trace}"], USAGE, "",
     "no rule called 'pipeline-buble'; did you mean 'pipeline-bubble'?"),
    (["explain"], FINE, "input-stall", ""),
    (["explain", "sync-stall"], FINE, "sync-stall\n\nThe host waits", ""),
    (["explain", "sync-stall", "--format", "markdown"], FINE, "# sync-stall\n\n**The", ""),
    (["explain", "--format", "json"], FINE, '"warn_percent"', ""),
    (["explain", "nothing"], USAGE, "", "no rule or term called 'nothing'"),
    (["explain", "input"], FINE, "input-stall\n", ""),
    (["explain", "memory"], FINE, "memory\n\n", ""),
    (["explain", "memor"], USAGE, "", "no rule, view or command called 'memor'"),
    (["what-if", "--fix", "input,sync", "{trace}"], FINE, "Not found in these files: input", ""),
    (["info", "{trace}"], FINE, "1 file", ""),
    (["steps", "{trace}"], FINE, "span of the CPU ops", ""),
    (["steps", "--format", "json", "{trace}"], FINE, '"schema":"stepscope.steps/1"', ""),
    (["steps", "--format=csv", "{trace}"], FINE, "rank,step,name", ""),
    (["steps", "{trace}", "--format", "markdown"], FINE, "| step |", ""),
    (["steps", "--", "{trace}"], FINE, "span", ""),
    (["quality", "{broken}"], FINE, "truncated", ""),
    (["files", "{trace}", "{config}"], FINE, "config.json", "1 file could not be read"),
    (["--version"], FINE, "stepscope ", ""),
    (["version"], FINE, "stepscope ", ""),
    (["help"], FINE, "Reports and views:", ""),
    (["--help"], FINE, "Usage:", ""),
    (["-h"], FINE, "Usage:", ""),
    (["help", "steps"], FINE, "--format", ""),
    ([], USAGE, "Usage:", ""),
    (["stpes", "{trace}"], USAGE, "", "did you mean 'steps'"),
    (["hlep"], USAGE, "", "did you mean 'help'"),
    (["help", "trakcs"], USAGE, "", "did you mean 'tracks'"),
    (["qqqqqqqqqqqqqqq"], FAILED, "", "no file, folder or command"),
    (["steps"], USAGE, "", "expected a trace file or a folder"),
    (["merge"], USAGE, "", "expected a trace file or a folder"),
    (["report"], USAGE, "", "expected a trace file or a folder"),
    (["pack"], USAGE, "", "expected a trace file or a folder"),
    (["merge", "x", "--progress", "loud"], USAGE, "", "--progress takes"),
    (["steps", "--nothing", "{trace}"], USAGE, "", "no option called '--nothing'"),
    (["steps", "-x", "{trace}"], USAGE, "", "no option called '-x'"),
    (["steps", "{trace}", "--format"], USAGE, "", "missing value after '--format'"),
    (["steps", "{trace}", "--format", "xml"], USAGE, "", "--format takes"),
    (["steps", "{trace}", "--top", "x"], USAGE, "", "--top takes"),
    (["steps", "{trace}", "--top", "-1"], USAGE, "", "--top takes"),
    (["steps", "{trace}", "--top="], USAGE, "", "--top takes"),
    (["steps", "{trace}", "--top", "99999999999999999999999"], USAGE, "", "--top takes"),
    (["steps", "{trace}", "--memory-limit", "1.5G"], USAGE, "", "--memory-limit takes"),
    (["steps", "{trace}", "--memory-limit", "5X"], USAGE, "", "--memory-limit takes"),
    (["steps", "{trace}", "--rank", "first"], USAGE, "", "--rank takes"),
    (["steps", "{trace}", "--rank", "7"], USAGE, "", "no file for rank 7"),
    (["steps", "{trace}", "--rank", "all"], FINE, "span", ""),
    (["steps", "{trace}", "--color", "red"], USAGE, "", "--color takes"),
    (["steps", "{trace}", "--progress", "loud"], USAGE, "", "--progress takes"),
    (["steps", "{trace}", "--memory-limit", "1k"], FAILED, "", "not enough memory for"),
    (["steps", "{trace}", "--memory-limit", "1GiB"], FINE, "span", ""),
    (["steps", "{trace}", "--threads", "1000"], FINE, "span", ""),
    (["steps", "/nonexistent.json"], FAILED, "", "cannot open '/nonexistent.json'"),
    (["steps", "{folder}"], FAILED, "", "no trace files in"),
    (["steps", "{config}"], FAILED, "", 'the JSON has no "traceEvents"'),
)


def run(words, stdin=subprocess.DEVNULL, **changes):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm", **changes}
    command = [STEPSCOPE, *words]
    return subprocess.run(
        command, stdin=stdin, capture_output=True, text=True, env=environment, timeout=30
    )


def check_case(words, places, code, out, err):
    result = run([word.format(**places) for word in words])
    assert result.returncode == code, f"exit code {result.returncode}, not {code}: {result.stderr}"
    assert out in result.stdout, f"no '{out}' in: {result.stdout}"
    assert err in result.stderr, f"no '{err}' in: {result.stderr}"
    # a failure says something, on stderr only; what is fine says nothing there
    if code == FAILED:
        assert result.stderr and not result.stdout, f"stdout: {result.stdout}"
    if code == FINE and not err:
        assert not result.stderr, f"stderr: {result.stderr}"


def check_help_of_every_command(places):
    lines = run(["help"]).stdout.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert len(names) > 5
    for name in names:
        for words in ([name, "--help"], [name, "-h"], ["help", name]):
            result = run(words)
            assert result.returncode == FINE and name in result.stdout, words
            assert max(map(len, result.stdout.splitlines())) <= 100, words


def check_colors(places):
    plain = run(["quality", places["trace"]]).stdout
    assert "\033" not in plain
    always = run(["quality", "--color", "always", places["trace"]]).stdout
    assert "\033[" in always and always != plain
    assert "\033" not in run(["quality", "--color", "never", places["trace"]]).stdout
    # asked for by name: stronger than the environment
    assert "\033[" in run(["quality", "--color", "always", places["trace"]], NO_COLOR="1").stdout


def check_colors_on_a_terminal(places):
    for changes, colored in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        main, other = os.openpty()
        environment = {**os.environ, "TERM": "xterm", **changes}
        command = [STEPSCOPE, "quality", places["trace"]]
        subprocess.run(command, stdout=other, env=environment, check=True)
        os.close(other)
        found = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            found += part
        os.close(main)
        assert (b"\033[" in found) == colored, changes


def check_full_disk(places):
    if not os.path.exists("/dev/full"):
        return
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [STEPSCOPE, "steps", places["trace"]], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == FAILED, result.returncode
    assert "cannot write the output" in result.stderr, result.stderr


def check_stdin(places):
    with open(places["trace"]) as file:
        result = run(["steps", "-"], stdin=file)
    assert result.returncode == FINE and "span" in result.stdout, result.stderr
    result = run(["steps", "-"])
    assert result.returncode == FAILED and "empty" in result.stderr, result.stderr


def check_interrupt(places):
    """Ctrl-C while a pipe delivers: ends with a sentence, not with the signal."""
    process = subprocess.Popen(
        [STEPSCOPE, "steps", "--threads", "2", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    piece = (EVENT + ",\n").encode() * 20000
    process.stdin.write(b'{"traceEvents":[' + piece)
    process.stdin.flush()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        for _ in range(200):
            process.stdin.write(piece)
        process.stdin.close()
    except BrokenPipeError:
        pass
    process.stdin = None
    out, err = process.communicate(timeout=20)
    assert process.returncode == INTERRUPTED, process.returncode
    assert b"stopped" in err and not out, err


def check_progress(places):
    result = run(["steps", "--progress", "json", places["trace"]])
    assert result.returncode == FINE
    result = run(["steps", "--progress", "none", places["trace"]])
    assert result.returncode == FINE and not result.stderr


CHECKS = (
    check_help_of_every_command,
    check_colors,
    check_colors_on_a_terminal,
    check_full_disk,
    check_stdin,
    check_interrupt,
    check_progress,
)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "trace.json").write_text(TRACE)
        (root / "broken.json").write_text(BROKEN)
        (root / "config.json").write_text('{"a": 1}')
        (root / "empty").mkdir()
        places = {name: str(root / f"{name}.json") for name in ("trace", "broken", "config")}
        places["folder"] = str(root / "empty")
        checks = [
            (" ".join(["stepscope", *words]), check_case, (words, places, *wanted))
            for words, *wanted in CASES
        ]
        checks += [(check.__name__, check, (places,)) for check in CHECKS]
        for name, check, arguments in checks:
            try:
                check(*arguments)
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{name}: {error}")
    print(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
