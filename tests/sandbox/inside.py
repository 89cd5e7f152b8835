#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What code inside of the sandbox may do, for every command and the server.

Usage: inside.py STEPSCOPE PROBE. The probe (probe.c) is loaded into each command and tries all
system calls; what passes is compared with allowed.txt. UPDATE_GOLDEN=1 writes that list anew.
"""
import ctypes
import ctypes.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "torture"))
import inputs  # pylint: disable=wrong-import-position

STEPSCOPE, PROBE = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
GOLDEN = HERE / "allowed.txt"
HERE_TOO = "deed write a file in the working folder"
HEAD = """# What the sandbox allows, found by tests/sandbox/inside.py from the inside.
# Calls by their names; of calls that are allowed in part, the arguments that pass.
"""


def names():
    """System calls of this machine by their numbers."""
    library = ctypes.CDLL(ctypes.util.find_library("seccomp") or "libseccomp.so.2")
    resolve = library.seccomp_syscall_resolve_num_arch
    resolve.restype = ctypes.c_char_p
    found = {}
    for number in range(600):
        name = resolve(library.seccomp_arch_native(), number)
        if name:
            found[number] = name.decode()
    return found


def parse(text, known):
    """Sets of what passed, one for each time that the probe ran."""
    runs = []
    for line in text.splitlines():
        if line.startswith("when "):
            runs.append(set())
        elif line.startswith("call "):
            number = int(line[5:])
            runs[-1].add(known.get(number, f"call {number}"))
        elif line != "end":
            runs[-1].add(line)
    return runs


def environment(work, report):
    return dict(os.environ, LD_PRELOAD=PROBE, STEPSCOPE_PROBE=str(report),
                STEPSCOPE_PROBE_ELSEWHERE=str(work.parent / "elsewhere"))


def run_served(words, work, report):
    """The server, until it took a connection."""
    with subprocess.Popen([STEPSCOPE, *words], cwd=work, env=environment(work, report),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        link = server.stdout.readline()
        port = re.search(r":(\d+)/#token=([0-9a-f]+)", link)
        request = urllib.request.Request(f"http://127.0.0.1:{port[1]}/api/state",
                                         headers={"X-Stepscope-Token": port[2]})
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
        server.terminate()
        server.wait(timeout=60)


def measure(work, known):
    """{kind of process: what passes}, and {command: its kind}."""
    elsewhere = work.parent / "elsewhere"
    elsewhere.mkdir()
    allowed, commands, failures = {}, {}, []
    for command, words in inputs.cases(STEPSCOPE):
        # two ways to call a view; all of those that write
        if "--no-sandbox" in words or (len(commands.get(command, [])) > 1 and "-o" not in words):
            continue
        inputs.prepare(work, words)
        report = work / "report"
        report.unlink(missing_ok=True)
        if command == "serve":
            run_served(words, work, report)
        else:
            subprocess.run([STEPSCOPE, *words], cwd=work, env=environment(work, report),
                           capture_output=True, check=False, timeout=300)
        kind = "none"
        for found in parse(report.read_text() if report.exists() else "", known):
            # its key lies there
            if command == "redact":
                found.discard(HERE_TOO)
            kind = ("server" if "accept4" in found else
                    "writer" if "rename" in found or "renameat2" in found else "reader")
            first = allowed.setdefault(kind, found)
            if found != first:
                failures.append(f"{words}: other than another {kind}: {sorted(found ^ first)}")
        commands.setdefault(command, []).append(kind)
        if any(elsewhere.iterdir()):
            failures.append(f"{words}: wrote elsewhere")
    return allowed, commands, failures


def as_text(allowed, commands):
    reader = allowed.get("reader", set())
    text = HEAD
    for kind, what in (("reader", "All commands that read traces"),
                       ("writer", "More for commands with an output"),
                       ("server", "More for the server")):
        more = allowed.get(kind, set()) - (reader if kind != "reader" else set())
        text += f"\n## {what}\n" + "".join(f"{line}\n" for line in sorted(more))
    for kind, what in (("none", "Commands without a sandbox: they read no traces"),
                       ("writer", "Commands with an output")):
        text += f"\n## {what}\n" + "".join(
            f"{name}\n" for name, kinds in sorted(commands.items()) if kind in kinds)
    return text


def main():
    known = names()
    if not known or os.uname().machine != "x86_64":
        print("the list is of x86_64: skipped")
        return 77
    offer = subprocess.run([STEPSCOPE, "version", "--json"], capture_output=True, text=True,
                           check=True).stdout
    if '"seccomp":true' not in offer.replace(" ", "") or '"landlock_abi":0' in offer:
        print("no sandbox on this machine: skipped")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch) / "work"
        work.mkdir()
        inputs.make(work, STEPSCOPE)
        allowed, commands, failures = measure(work, known)
    text = as_text(allowed, commands)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    expected = GOLDEN.read_text(encoding="utf-8")
    for line in sorted(set(text.splitlines()) ^ set(expected.splitlines())):
        failures.append(f"{'now allowed' if line in text.splitlines() else 'no more'}: {line}")
    for failure in failures:
        print(failure)
    print(f"inside: {len(commands)} commands, {sum(map(len, allowed.values()))} things allowed, "
          f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
