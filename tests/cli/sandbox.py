#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that read traces run behind locks, and answer the same as without them.

Usage: sandbox.py STEPSCOPE. What `version --json` offers is seen in /proc of a server that runs;
outputs appear where they should, and nowhere else.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:1500])


def run(*words, folder):
    result = subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                            check=False, timeout=300, cwd=folder)
    check(result.returncode == 0, words, "gives", result.returncode, result.stderr.decode())
    return result.stdout.decode()


def locks_of(process):
    lines = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return fields.get("NoNewPrivs"), fields.get("Seccomp")


def check_server(job, offer, *more):
    """The locks of a server that runs, and that it still answers."""
    with subprocess.Popen([STEPSCOPE, "serve", "--no-browser", *more, job],
                          stdout=subprocess.PIPE, text=True) as server:
        link = server.stdout.readline()
        privileges, filtered = locks_of(server.pid)
        server.terminate()
        server.wait(timeout=60)
    check(link.startswith("http://127.0.0.1:"), "the server's link:", link)
    is_open = "--no-sandbox" in more or not (offer["seccomp"] or offer["landlock_abi"])
    check(privileges == ("0" if is_open else "1"), more, "NoNewPrivs:", privileges)
    if offer["seccomp"]:
        # a machine may itself run everything behind a filter
        check(filtered == "2" or is_open, more, "Seccomp:", filtered)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        offer = json.loads(run("version", "--json", folder=folder))["sandbox"]
        has_locks = offer["seccomp"] or offer["landlock_abi"]
        words = "commands that read traces" if has_locks else "no sandbox: commands that read"
        check(offer["text"].startswith(words), offer)
        run("sim", "--preset", "ddp4-mi300-healthy", "-o", "job", folder=folder)
        for words in (["diagnose"], ["kernels"], ["ranks"], ["what-if"]):
            words = [*words, "--format", "json", "job"]
            check(run(*words, folder=folder) == run(*words, "--no-sandbox", folder=folder),
                  words, "differs behind the locks")
        run("report", "job", folder=folder)
        run("report", "job", "-o", folder / "page.html", folder=folder)
        run("merge", "job", "-o", "new.json", folder=folder)
        run("pack", "job", "-o", "packs", folder=folder)
        run("pack", "job", folder=folder)
        for name in ("report.html", "page.html", "new.json"):
            check((folder / name).is_file(), name, "was not written")
        (folder / "linked").mkdir()
        (folder / "link.html").symlink_to(folder / "linked" / "real.html")
        (folder / "linked" / "real.html").write_text("old", encoding="utf-8")
        run("report", "job", "-o", "link.html", folder=folder)
        for more in ([], ["--no-sandbox"]):
            check_server(str(folder / "job"), offer, *more)
    for failure in failures:
        print(failure)
    print(f"sandbox: {len(failures)} failed; {offer['text']}")
    return 1 if failures else 0


sys.exit(main())
