#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manners of the command: help, short options, widths, long tables, exit codes.

Usage: manners.py STEPSCOPE. Every function check_* is one rule; `work` is an empty folder.
"""
import fcntl
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
COLUMNS = 80
TERMINAL_ROWS = 30

EVENT = '{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":1,"ts":%d,"dur":5}'


def trace(count):
    return '{"traceEvents":[%s]}' % ",".join(EVENT % (i, 10 * i) for i in range(count))


def run(*words, code=FINE, stdin=None, env=None):
    result = subprocess.run([STEPSCOPE, *map(str, words)], capture_output=True, text=True,
                            input=stdin, stdin=None if stdin else subprocess.DEVNULL,
                            env={**os.environ, "COLUMNS": "", **(env or {})}, timeout=60)
    assert result.returncode == code, f"{words}: {result.returncode}: {result.stderr}"
    return result.stdout, result.stderr


def run_on_terminal(*words, columns=0, env=None):
    """What a person sees: standard output is a terminal of so many columns."""
    main, other = os.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([STEPSCOPE, *map(str, words)], stdout=other,
                               stderr=subprocess.PIPE,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "", **(env or {})})
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
    error = process.communicate(timeout=60)[1].decode()
    assert process.returncode == FINE, f"{words}: {error}"
    return re.sub(r"\033\[[0-9;]*m", "", found.decode()).replace("\r\n", "\n")


def widest(text):
    return max(map(len, text.splitlines()), default=0)


def names_in(text):
    return [line.split()[0] for line in text.splitlines() if re.match(r"  \S", line)]


def untimed(text):
    """Without how long loading took."""
    return re.sub(r" in [\d.]+ s|\"load\w*\":[\d.]+", "", text)


def rows_of(text):
    return sum("aten::op" in line for line in text.splitlines())


def check_help_width(work):
    """Help of everything fits 80 columns, and both ways to ask for it agree."""
    text, _ = run("help")
    commands = names_in(text)
    assert len(commands) > 50 and widest(text) <= COLUMNS, widest(text)
    assert run("--help")[0] == run("-h")[0] == text
    for command in commands:
        own, _ = run("help", command)
        assert widest(own) <= COLUMNS, f"help {command}: {widest(own)} columns"
        assert own == run(command, "--help")[0] == run(command, "-h")[0], command
    topics = names_in(run("help", "help")[0].partition("Topics:")[2])
    assert "exit-codes" in topics, topics
    for topic in topics:
        assert widest(run("help", topic)[0]) <= COLUMNS, topic
    assert "did you mean 'exit-codes'" in run("help", "exit-code", code=USAGE)[1]


def check_short_options(work):
    (work / "trace.json").write_text(trace(3))
    version = run("version")[0]
    assert version.startswith("stepscope ") and run("-V")[0] == run("--version")[0] == version
    for words in (["steps"], ["diagnose"], ["operators"], ["overview"]):
        short = run(*words, "--json", work / "trace.json")[0]
        assert short == run(*words, "--format", "json", work / "trace.json")[0], words
        json.loads(short)
    # the last one counts, as for every option
    out = run("steps", "--json", "--format", "csv", work / "trace.json")[0]
    assert out.startswith("rank,"), out
    json.loads(run("explain", "--json")[0])
    json.loads(run("sim", "--list", "--json")[0])
    assert "unexpected value" in run("steps", "--json=1", work / "trace.json", code=USAGE)[1]
    assert "does not apply" in run("serve", "--json", work / "trace.json", code=USAGE)[1]


def check_output_file(work):
    """-o writes what would be printed; never over an input; nothing is left after a failure."""
    source, target = work / "trace.json", work / "out.txt"
    source.write_text(trace(40))
    before = source.read_bytes()
    for words in (["operators"], ["diagnose"], ["overview", "--json"], ["steps", "--format=csv"]):
        printed = untimed(run(*words, source)[0])
        assert run(*words, source, "-o", target) == ("", ""), words
        assert untimed(target.read_text()) == printed, words
        assert untimed(run(*words, source, "--output=-")[0]) == printed, words
    run("explain", "sync-stall", "-o", target)
    assert target.read_text() == run("explain", "sync-stall")[0]
    run("ask", "job", source, "-o", target)
    json.loads(target.read_text())
    run("diff", source, source, "-o", target)
    target.unlink()
    for words in (["steps", source], ["diff", source, source], ["ask", "job", source]):
        os.symlink(source, work / "link")
        for name in (source, work / "link"):
            error = run(*words, "-o", name, code=USAGE)[1]
            assert "is also an input" in error, error
        (work / "link").unlink()
        assert source.read_bytes() == before, words
    run("steps", work / "missing.json", "-o", target, code=FAILED)
    run("steps", source, "-o", work / "no" / "folder.txt", code=FAILED)
    assert sorted(path.name for path in work.iterdir()) == ["trace.json"]
    # a file is not a terminal: all rows, 80 columns, no colours
    run_on_terminal("operators", source, "-o", target, columns=120)
    text = target.read_text()
    assert rows_of(text) == 40 and "\033" not in text and widest(text) <= COLUMNS


def check_width(work):
    """--width, else COLUMNS, else the terminal, else 80."""
    path = work / "trace.json"
    path.write_text(trace(3).replace("aten::op", "aten::" + "long_name_" * 20))

    def width(text):
        return max(len(line) for line in text.splitlines() if "long_name" in line)

    words = ("operators", path, "--progress", "none")
    assert 60 < width(run(*words)[0]) <= 80
    assert 100 < width(run(*words, env={"COLUMNS": "120"})[0]) <= 120
    assert 100 < width(run_on_terminal(*words, columns=120)) <= 120
    assert width(run_on_terminal(*words, columns=120, env={"COLUMNS": "60"})) <= 60
    assert width(run(*words, "--width", "70", env={"COLUMNS": "120"})[0]) <= 70
    for odd in ("0", "-5", "x", "", "99999999999999999999", "7"):
        assert 60 < width(run(*words, env={"COLUMNS": odd})[0]) <= 80, odd


def check_long_tables(work):
    """A terminal shows 30 rows and how to get all; a pipe and a file get all."""
    path = work / "trace.json"
    path.write_text(trace(1234))
    words = ("operators", path)
    text = run_on_terminal(*words)
    assert rows_of(text) == TERMINAL_ROWS, rows_of(text)
    assert "(30 of 1,234 rows; --top 0 shows all)" in text, text[-300:]
    assert rows_of(run_on_terminal(*words, "--top", "0")) == 1234
    assert rows_of(run_on_terminal(*words, "--top", "50")) == 50
    assert rows_of(run_on_terminal(*words, "--format", "csv")) == 1234
    assert rows_of(run_on_terminal(*words, "--format", "markdown")) == 1234
    assert len(json.loads(run_on_terminal(*words, "--json"))["rows"]) == 1234
    assert rows_of(run(*words)[0]) == 1234
    path.write_text(trace(TERMINAL_ROWS))
    text = run_on_terminal(*words)
    assert rows_of(text) == TERMINAL_ROWS and "--top" not in text
    # lists are not tables of a trace
    assert len(run_on_terminal("explain").splitlines()) > 40


def check_no_match(work):
    path = work / "trace.json"
    path.write_text(trace(7))
    out = run("operators", path, "--name", "nothing")[0]
    assert "No row matches 'nothing'; without it there are 7 rows." in out, out
    assert rows_of(run("operators", path, "--name", "op3")[0]) == 1
    path.write_text('{"traceEvents":[]}')
    assert "No row matches" not in run("operators", path, "--name", "x")[0]


def check_suggestions(work):
    path = work / "trace.json"
    path.write_text(trace(1))
    for words, meant in ((["diff", "--view", "kernles", path, path], "kernels"),
                         (["diff", "--view", "gasp", path, path], "gaps"),
                         (["stpes", path], "steps"), (["hlep"], "help")):
        assert f"did you mean '{meant}'?" in run(*words, code=USAGE)[1], words
    for words in (["diff", "--view", "nonsense", path, path], ["diagnose", "--kep", path],
                  ["diff", "--view", "nonsense", "/missing", "/missing"]):
        error = run(*words, code=USAGE)[1]
        assert "did you mean" not in error and "stepscope " in error, error
    error = run("diff", "--view", "nonsense", path, path, code=USAGE)[1]
    assert "no view called 'nonsense'" in error and "'stepscope help'" in error, error


def check_redact(work):
    """A file that was cut is reported, compressed or not; summaries fit the terminal."""
    private = '{"ph":"X","cat":"user_annotation","name":"secret%d of me","pid":1,"tid":1,"ts":1,' \
        '"dur":5,"args":{"path":"/home/me/secret%d.py","host":"machine%d"}}'
    whole = '{"traceEvents":[%s]}' % ",".join(private % (i, i, i) for i in range(200))
    (work / "whole.json").write_text(whole)
    (work / "cut.json").write_text(whole[:-20])
    out, error = run("redact", work / "whole.json", "-o", work / "a")
    assert not error and "Replaced: " in out, (out, error)
    told = out[out.index("Replaced: "):]
    assert widest(told) <= COLUMNS, told
    assert "truncated" in run("redact", work / "cut.json", "-o", work / "b")[1]
    assert "truncated" not in run("redact", work / "whole.json", "-o", work / "c")[1]
    told = run("merge", work / "whole.json", "-o", work / "merged.json")[0]
    assert "Contains private names" in told
    assert widest(told[told.index("Contains"):]) <= COLUMNS, told


def check_exit_codes(work):
    """The table is complete, and what happens is in it."""
    text = run("help", "exit-codes")[0]
    codes = [int(code) for code in re.findall(r"^ +(\d+)  \w", text, re.M)]
    assert codes == [0, 1, 2, 3, 4, 130], codes
    path = work / "trace.json"
    path.write_text(trace(1))
    (work / "bad.json").write_text("nothing")
    for command in ("diagnose", "steps", "overview", "what-if", "merge", "report", "pack", "serve"):
        for wrong in (work / "missing.json", work / "missing", work / "bad.json"):
            run(command, wrong, code=FAILED)
        run(command, code=USAGE)
        run(command, path, "--nothing", code=USAGE)
    missing = {re.sub(r"'.*?'", "''", run("diagnose", work / name, code=FAILED)[1])
               for name in ("missing.json", "missing", "missing/")}
    assert len(missing) == 1, missing
    run("missing_folder", code=FAILED)
    run("missing.json", code=FAILED)
    run("snapshot", path, code=FAILED)
    run("snapshot", code=USAGE)
    run("redact", path, code=USAGE)
    run("explain", "nothing", code=USAGE)
    run("help", "nothing", code=USAGE)
    run("steps", path, "--rank", "7", code=USAGE)
    run("steps", path, "--memory-limit", "1k", code=FAILED)
    with open("/dev/full", "w") as full:
        result = subprocess.run([STEPSCOPE, "help"], stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == FAILED, result.returncode


def check_pages(work):
    """Pages are text for a terminal, Markdown only when asked for; all but code fits."""
    names = [row[0] for row in json.loads(run("explain", "--json")[0])["rows"]]
    names += [name for name in names_in(run("help")[0]) if name not in names]
    assert len(names) > 80, names
    for name in names:
        source = run("explain", name, "--format", "markdown")[0]
        assert source.startswith("# "), name
        prose = re.sub(r"^```.*?^```", "", source, flags=re.M | re.S)
        text = run("explain", name)[0]
        # what is left of Markdown would be in the prose
        for mark in ("**", "](", "<!--", "|---"):
            assert mark not in text or mark not in prose, (name, mark)
        code = {line.strip() for line in source.splitlines()} - set(prose.splitlines())
        # a word that is longer than a line stays whole
        wide = [line for line in text.splitlines() if len(line) > COLUMNS and " " in line.strip()]
        assert all(line.strip() in code for line in wide), (name, wide)
    assert "\033[1m" in run("explain", "gaps", "--color", "always")[0]
    assert "\033" not in run("explain", "gaps")[0]
    assert widest(run("explain", "gaps", "--width", "60")[0].partition("$ stepscope")[0]) <= 60
    for name, meant in (("syncstall", "sync-stall"), ("kernles", "kernels")):
        assert f"did you mean '{meant}'?" in run("explain", name, code=USAGE)[1]
    assert "text or markdown" in run("explain", "gaps", "--json", code=USAGE)[1]


def interrupt(words, ready, wanted):
    """Ends the command with Ctrl-C once `ready` says that it is at work."""
    process = subprocess.Popen([STEPSCOPE, *map(str, words)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        ready(process)
        process.send_signal(signal.SIGINT)
        # a read that waits for bytes asks only when some arrive
        process.stdin.write(b" " * (1 << 21))
        process.stdin.close()
    except BrokenPipeError:
        pass
    process.stdin = None
    _, error = process.communicate(timeout=60)
    assert process.returncode == wanted, f"{words}: {process.returncode}: {error.decode()}"


def feed(process):
    """It is in the middle of a load from a pipe."""
    process.stdin.write(trace(1000)[:-2].encode() + b"," + b" " * (1 << 21))
    process.stdin.flush()
    time.sleep(0.3)


def link_of(process):
    """It serves."""
    while b"Ctrl-C" not in process.stdout.readline():
        pass
    time.sleep(0.5)


def check_interrupts(work):
    path = work / "trace.json"
    path.write_text(trace(10))
    for words in (["diagnose", "-"], ["steps", "-", "-o", work / "out"],
                  ["merge", "-", "-o", work / "out"], ["serve", "--no-browser", "-"]):
        interrupt(words, feed, INTERRUPTED)
        assert not (work / "out").exists(), words
    # the way to end it, as it says itself
    interrupt(["serve", "--no-browser", path], link_of, FINE)


def main():
    checks = [(name, check) for name, check in globals().items() if name.startswith("check_")]
    failed = 0
    for name, check in checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder))
            except (AssertionError, subprocess.SubprocessError, ValueError) as error:
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}")
    print(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
