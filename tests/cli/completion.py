#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completion of shells: made from the declarations, and working.

Usage: completion.py STEPSCOPE. Shells and readers of manuals that are not installed are left out,
and named; bash is always tried.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
left_out = []

# what is typed, and some of what must be offered; "!x" must not be
CASES = (
    (["diagn"], ["diagnose"]), (["st"], ["steps", "stragglers", "!diagnose"]),
    (["--ver"], ["--version"]),
    (["steps", "--fo"], ["--format"]), (["steps", "--"], ["--top", "--json", "--output", "!--fix"]),
    (["steps", "--format", ""], ["text", "json", "csv", "markdown", "!--top"]),
    (["steps", "--format", "c"], ["csv", "!text"]),
    (["gaps", "--group", ""], ["cause", "gap", "line"]),
    (["what-if", "--fix", "sync"], ["sync-stall"]),
    (["diff", "--view", "ker"], ["kernels"]),
    (["sim", "--preset", "ddp8-he"], ["ddp8-healthy"]),
    (["explain", "sync"], ["sync-stall", "syncs"]),
    (["explain", "ga"], ["gaps", "garbage-collection"]),
    (["help", "exit"], ["exit-codes"]), (["completion", ""], ["bash", "zsh", "fish"]),
    (["snapshot", "hol"], ["holders"]), (["redact", "--keep", "mod"], ["modules"]),
    (["some.json", "--ra"], ["--rank"]),
    (["steps", "tra"], ["trace.json"]), (["tra"], ["trace.json", "tracks"]),
    (["steps", "-o", "tra"], ["trace.json"]),
)

BASH = """
source "$1"
shift
COMP_WORDS=(stepscope "$@")
COMP_CWORD=$#
_stepscope
printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **more)


def printed(*words):
    result = run(STEPSCOPE, *words)
    assert result.returncode == 0 and not result.stderr, (words, result.stderr)
    return result.stdout


def has(tool):
    if shutil.which(tool):
        return True
    left_out.append(tool)
    return False


def commands():
    return [line.split()[0] for line in printed("help").splitlines() if re.match(r"  \S", line)]


def options_of(command):
    return re.findall(r"^  (?:-\w, )?--([\w-]+)", printed("help", command), re.M)


def check_offers(shell, complete, cases=CASES):
    """Each case, and all commands as the first word."""
    for words, wanted in cases:
        offered = complete(words)
        for word in wanted:
            assert (word.lstrip("!") in offered) != word.startswith("!"), (shell, words, offered)
    names = set(complete([""]))
    assert set(commands()) <= names, (shell, set(commands()) - names)


def check_bash(folder):
    script = folder / "script.bash"
    script.write_text(printed("completion", "bash"))
    result = run("bash", "-n", str(script))
    assert result.returncode == 0 and not result.stderr, result.stderr

    def complete(words):
        result = run("bash", "--norc", "-c", BASH, "bash", str(script), *words, cwd=folder)
        assert result.returncode == 0 and not result.stderr, result.stderr
        return [line for line in result.stdout.splitlines() if line]

    check_offers("bash", complete)
    for command in commands():
        wanted = {"--" + name for name in options_of(command)} | {"--help"}
        assert set(complete([command, "--"])) == wanted, command
    # as bash splits --format=json
    assert complete(["steps", "--format", "=", "j"]) == ["json"]
    assert "json" in complete(["steps", "--format", "="])
    assert complete(["steps", "--top", "1"]) == []


def check_zsh(folder):
    script = folder / "_stepscope"
    script.write_text(printed("completion", "zsh"))
    result = run("zsh", "-n", str(script))
    assert result.returncode == 0 and not result.stderr, result.stderr
    text = script.read_text()
    assert text.startswith("#compdef stepscope\n")
    # both ways to have it: sourced, and found by compinit in a folder of functions
    for load in (f"compinit -u -D; source {script}", f"fpath=({folder} $fpath); compinit -u -D"):
        result = run("zsh", "-fc", f"autoload -U compinit; {load}; print $_comps[stepscope]")
        assert result.stdout.strip() == "_stepscope" and not result.stderr, result
    for command in commands():
        part = re.search(rf"^\t{re.escape(command)}\)\n(.*?)^\t\t;;", text, re.M | re.S)
        if not part:
            assert command == "diagnose" and "\t*)\n" in text, command
            continue
        own = set(re.findall(r"--([\w-]+)=?(?:\}'\[|\[)", part[1])) - {"help"}
        assert own == set(options_of(command)), (command, own ^ set(options_of(command)))


def check_fish(folder):
    script = folder / "stepscope.fish"
    script.write_text(printed("completion", "fish"))
    result = run("fish", "-n", str(script))
    assert result.returncode == 0 and not result.stderr, result.stderr

    # one shell for all: fish takes a while to begin
    lines = ["stepscope " + " ".join(words) for words, _ in CASES] + ["stepscope "]
    asks = "\n".join(f"echo '@@'; complete -C '{line}'" for line in lines)
    result = run("fish", "--no-config", "-c", f"source {script}\n{asks}", cwd=folder,
                 env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    answers = [[line.split("\t")[0] for line in part.splitlines() if line]
               for part in result.stdout.split("@@\n")[1:]]
    offered = dict(zip(lines, answers))

    def complete(words):
        return offered["stepscope " + " ".join(words)]

    # fish offers options where the first word is a command
    check_offers("fish", complete, [case for case in CASES if case[0][0] != "some.json"])


def check_manual(folder):
    page = folder / "stepscope.1"
    page.write_text(printed("manual"))
    if has("mandoc"):
        result = run("mandoc", "-Tlint", "-Wwarning", str(page))
        # a date would differ between builds of one source
        found = [line for line in result.stdout.splitlines() if line and "missing date" not in line]
        assert not found, found
    shown = None
    if has("groff"):
        result = run("groff", "-man", "-Tutf8", "-ww", "-P-cbou", str(page))
        assert not result.stderr, result.stderr
        shown = result.stdout
    if shown is None and shutil.which("mandoc"):
        shown = run("mandoc", "-Tutf8", str(page)).stdout
        shown = re.sub(".\b", "", shown)
    if shown is None:
        return
    for name in commands():
        assert re.search(rf"^       {re.escape(name)}\b", shown, re.M), name
    options = {option for name in commands() for option in options_of(name)}
    for option in options | {"help", "version"}:
        assert f"--{option}" in shown, option
    for title in ("NAME", "SYNOPSIS", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT"):
        assert f"\n{title}\n" in "\n" + shown, title


def main():
    for name in ("tcsh", ""):
        result = run(STEPSCOPE, "completion", *([name] if name else []))
        assert result.returncode == 2 and "bash, zsh or fish" in result.stderr, result
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "trace.json").write_text("{}")
        check_manual(folder)
        check_bash(folder)
        if has("zsh"):
            check_zsh(folder)
        if has("fish"):
            check_fish(folder)
    print("manual and completion hold" + (f"; not here: {', '.join(left_out)}" if left_out else ""))


if __name__ == "__main__":
    main()
