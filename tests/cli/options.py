#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help lists what a command takes, and nothing else: every command with every option.

Usage: options.py STEPSCOPE. The options are those that the help of any command lists. Each command
and view is given each of them: what its help lists is taken, what it does not list is refused in
one sentence, before anything is read. The same holds for the parameters of the viewer's views.
"""
import concurrent.futures
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

import chosen

STEPSCOPE = sys.argv[1]
FINE, FAILED, USAGE = 0, 1, 2

EVENT = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}'
DEVICE = '"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB"}]'
TRACE = '{"distributedInfo":{"rank":0},' + DEVICE + ',"traceEvents":[%s]}' % ",".join((
    EVENT % ("user_annotation", "ProfilerStep#1", 9, 9, 0, 50, ""),
    EVENT % ("cpu_op", "aten::mm", 9, 9, 1, 20, ""),
    EVENT % ("cuda_runtime", "cudaLaunchKernel", 9, 9, 2, 3, '"correlation":1'),
    EVENT % ("kernel", "gemm", 0, 7, 10, 30, '"device":0,"stream":7,"correlation":1'),
))
SNAPSHOT = {"segments": [], "device_traces": [[
    {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1, "frames": []}]]}

# a value of each option for what shows traces; commands that write or serve do not get so far
VALUES = {
    "rank": "0", "step": "0", "device": "0", "stream": "7", "name": "e", "top": "1", "sort": "rank",
    "format": "json", "color": "never", "width": "60", "run": "1", "threads": "1", "share": "0/1",
    "memory-limit": "1G", "progress": "none", "fix": "straggler", "gpu": "H200", "view": "kernels",
    "label": "team=x", "by-path": "{team}", "fail-if": "ranks > 9", "threshold": "1%",
}
FIELDS = ("format", "rank", "step", "device", "stream", "name", "group", "sort", "top", "fix")


def run(*words):
    result = subprocess.run([STEPSCOPE, *words], capture_output=True, text=True, timeout=60)
    assert "runtime error" not in result.stderr, (words, result.stderr)
    return result.returncode, result.stdout, result.stderr


def names_in(part):
    return [line.split()[0] for line in part.splitlines() if re.match(r"  \S", line)]


def options_of(command):
    """Name and placeholder of the options that its help lists, and its groups."""
    code, out, _ = run("help", command)
    assert code == FINE, command
    assert run(command, "--help")[1] == out, f"help {command} and {command} --help differ"
    assert max(map(len, out.splitlines()), default=0) <= 80, f"help {command} is too wide"
    found = re.findall(r"^  (?:-\w, )?--([\w-]+)(?: (\S+))?", out, re.M)
    groups = re.search(r"^Groups: (.*)", out, re.M)
    return dict(found), groups.group(1).split(", ") if groups else []


class Tree:
    """The commands, their options, and files to try them on."""

    def __init__(self, folder):
        code, out, _ = run("help")
        assert code == FINE
        self.views = names_in(out.split("Reports and views:")[1].split("Other commands:")[0])
        self.commands = names_in(out)
        self.options, self.groups = {}, {}
        for command in self.commands:
            self.options[command], self.groups[command] = options_of(command)
        self.all = {name: value for own in self.options.values() for name, value in own.items()}
        self.trace, self.snapshot = str(folder / "rank0.json"), str(folder / "rank0.pickle")
        self.missing = str(folder / "missing")
        pathlib.Path(self.trace).write_text(TRACE)
        pathlib.Path(self.snapshot).write_bytes(pickle.dumps(SNAPSHOT))

    def words(self, command, option):
        """What is typed beside the option, and the exit code of that."""
        if command in self.views or command in ("diagnose", "what-if"):
            return [self.trace], FINE
        if command == "diff":
            one = ["--view", "gaps"] if option in ("group", "sort") else []
            return [self.trace, self.trace, *one], FINE
        if command == "check":
            given = [] if option == "fail-if" else ["--fail-if", "ranks > 9"]
            return [] if option == "list" else [*given, self.missing], (
                FINE if option == "list" else FAILED
            )
        if command == "snapshot":
            return [self.snapshot, "holders"], FINE
        if command in ("explain", "version"):
            return [], FINE
        if command == "sim":
            return [] if option.startswith("list") else ["--list"], FINE
        # these write or serve, and read first: a path that is not there ends them
        more = {"redact": ["-o", self.missing + "-copies"], "ask": ["job"],
                "digest": ["-o", self.missing + "-digests"]}.get(command, [])
        if command == "export" and option not in ("perfetto", "folded"):
            more = ["--perfetto", self.missing + "-export"]
        if option in ("keep", "key", "list") and command != "redact":
            more = [*more, "--redact"]
        if command == "store":
            actions = {"before": ["drop"], "grace": ["compact"], "format": ["list"],
                       "json": ["list"]}
            more = actions.get(option, ["add", self.missing + "-store"])
        if command == "serve" and option == "store":
            return [], FAILED
        if command == "watch" and option != "digests":  # either is where runs go
            more = ["--store", self.missing + "-store"]
        if command in ("demo", "mcp"):
            return ["a-path"], USAGE
        return [*more, self.missing], FAILED

    def value(self, command, option):
        """None: the option takes no value."""
        argument = self.options[command].get(option, self.all[option])
        if not argument:
            return None
        if option == "group":
            return (self.groups[command] or {"diff": ["cause"], "snapshot": ["line"]}.get(
                command, ["step"]))[0]
        if option == "sort" and command in ("snapshot", "diff"):
            return "device" if command == "snapshot" else "cause"
        if "|" in argument and option not in VALUES:
            return argument.split("|")[0]
        kinds = {"N": "0", "SIZE": "1M", "NAME": "x", "ADDRESS": "127.0.0.1"}
        return VALUES.get(option, kinds.get(argument, self.missing + "-" + option))


def check_pair(tree, command, option):
    listed = option in tree.options[command]
    value = tree.value(command, option)
    words, wanted = tree.words(command, option)
    typed = ["--" + option] + ([] if value is None else [value])
    code, _, error = run(command, *typed, *words)
    if not listed:
        sentence = f"--{option} does not apply to '{command}'"
        assert code == USAGE and sentence in error and error.count("\n") == 1, error
        return
    refused = re.search(r"does not apply|no option|takes ", error)
    assert code == wanted and (wanted == USAGE or not refused), f"{code}: {error}"


def check_parameter(tree, view, option):
    """The viewer's parameter of the same name."""
    value = tree.value(view, option)
    code, _, error = run("ask", f"view/{view}?{option}={value}", tree.trace)
    if option in tree.options[view]:
        assert code == FINE, error
    else:
        assert code == USAGE and f"'{option}' does not apply to '{view}'" in error, error


def check_typos():
    for words, meant in ((["report", "--kep", "x"], "--keep"), (["sim", "--prest"], "--preset"),
                         (["steps", "--frmat=json"], "--format"),
                         (["serve", "--no-browsr"], "--no-browser"),
                         (["store", "lst", "x"], "list"),
                         (["steps", "--fromat", "json"], "--format")):
        code, _, error = run(*words)
        assert code == USAGE and f"did you mean '{meant}'?" in error, (words, error)
    for words in (["diagnose", "--kep"], ["steps", "--qqqqqq"], ["steps", "--"], ["steps", "-q"],
                  ["steps", "---"]):
        code, _, error = run(*words, "/nonexistent")
        assert code != FINE and "did you mean" not in error, (words, error)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(pathlib.Path(folder))
        assert len(tree.all) > 40 and len(tree.commands) > 50, (tree.all, tree.commands)
        checks = [(check_pair, command, option) for command in tree.commands
                  for option in tree.all]
        checks += [(check_parameter, view, option) for view in tree.views for option in FIELDS]
        checks = chosen.share(checks, 2)

        def attempt(check):
            try:
                check[0](tree, *check[1:])
            except (AssertionError, subprocess.SubprocessError) as error:
                return f"{check[0].__name__} {check[1:]}: {error}"
            return None

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for problem in filter(None, pool.map(attempt, checks)):
                failed += 1
                print(problem)
        check_typos()
        # the key is made before anything is read
        # and what is shown goes to the file of -o
        left = {path.name for path in pathlib.Path(folder).iterdir()}
        left -= {"missing-key", "missing-output"}
        assert left == {"rank0.json", "rank0.pickle"}, left
    print(f"{len(tree.commands)} commands, {len(tree.all)} options, {len(checks)} pairs, "
          f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
