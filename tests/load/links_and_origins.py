#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links in folders change no figure, and a digest's trace is opened only if it is a file.

Usage: links_and_origins.py STEPSCOPE DUCKDB. Trainers link `latest` to the last run; links also
form circles.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "torture"))
import inputs  # pylint: disable=wrong-import-position

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
DUCKDB = sys.argv[2]
failures, checks = [], 0

# Links that are followed never end; a busy machine takes many times as long as an idle one.
PATIENCE = 200


def check(holds, *what):
    global checks
    checks += 1
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:1000])


def run(folder, *words):
    result = subprocess.run([STEPSCOPE, *words], cwd=folder, capture_output=True, text=True,
                            check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                            env=dict(os.environ, STEPSCOPE_DUCKDB=DUCKDB))
    return result.returncode, result.stdout, result.stderr


def link_shapes(folder):
    """Each links something that is there already."""
    yield "latest", lambda: (folder / "latest").symlink_to("run1")
    yield "a link to a link", lambda: (folder / "newest").symlink_to("latest")
    yield "circles", lambda: [(folder / "run1" / name).symlink_to(target)
                              for name, target in (("a", "."), ("b", ".."), ("c", "../run1"))]
    yield "links to files", lambda: [(folder / name).symlink_to(target) for name, target in (
        ("rank0.json", "run1/rank0.json"), ("best.json", "rank0.json"))]
    yield "a hard link", lambda: os.link(folder / "run1" / "rank0.json", folder / "run1" / "z.json")


def check_links(work):
    folder = work / "runs"
    folder.mkdir()
    shutil.copytree(work / "job", folder / "run1")
    calls = [[name, "runs", "--format", "json"] for name in
             ("steps", "operators", "kernels", "ranks", "files", "diagnose", "collectives")]
    calls += [["merge", "runs", "-o", "-"]]
    if pathlib.Path(DUCKDB).is_file():
        calls.append(["sql", "runs", "select count(*), sum(dur_ns) from slices"])
    before = [run(work, *words) for words in calls]
    for words, (code, _, text) in zip(calls, before):
        check(code == 0, words, code, text)
    for what, make in link_shapes(folder):
        make()
        for words, expected in zip(calls, before):
            check(run(work, *words) == expected, what, words, "answers differ")
    for command in ("digest", "pack", "redact"):
        more = ["--key", "key"] if command == "redact" else []
        code, _, text = run(work, command, "runs", "-o", f"out-{command}", *more)
        made = [path for path in (work / f"out-{command}").rglob("*") if path.is_file()]
        check(code == 0 and len(made) == 4, command, code, text, made)
    # what is only behind links is found, under the name that was passed
    (work / "there").mkdir()
    (work / "there" / "run").symlink_to(folder / "run1")
    check(run(work, "steps", "there", "--format", "csv")[1].count("\n") ==
          run(work, "steps", "job", "--format", "csv")[1].count("\n"), "only behind a link")
    check(run(work, "steps", "runs/latest", "runs", "--format", "json")[1] ==
          run(work, "steps", "runs", "--format", "json")[1].replace("runs/run1", "runs/latest"),
          "passed twice")


def check_depth(work):
    deep = work / "deep"
    for _ in range(70):
        deep = deep / "d"
    deep.mkdir(parents=True)
    shutil.copy(work / "one.json", deep)
    code, _, text = run(work, "steps", "deep")
    check(code == 1 and "folders deep" in text, "too deep", code, text)
    # two ways at each level: 2^40 paths, and as many steps for those who follow them
    maze = work / "maze"
    for i in range(40):
        (maze / f"l{i}").mkdir(parents=True)
        (maze / f"l{i}" / "x").symlink_to(f"../l{i + 1}")
        (maze / f"l{i}" / "y").symlink_to(f"../l{i + 1}")
    shutil.copy(work / "one.json", maze)
    check(run(work, "steps", "maze")[0] == 0, "a maze of links")


def check_origins(work):
    trace = work / "t" / "one.json"
    trace.parent.mkdir()
    shutil.copy(work / "one.json", trace)
    check(run(work, "digest", "t", "-o", "d")[0] == 0, "digest")
    (work / "t" / "secret.json").write_bytes(trace.read_bytes())

    def put(make):
        trace.unlink(missing_ok=True)
        make()
        return run(work, "launches", "d")  # which a digest does not have

    check(put(lambda: shutil.copy(work / "one.json", trace))[0] == 0, "the trace itself")
    for what, make, reason in (
            ("missing", lambda: None, "cannot be read"),
            ("a pipe", lambda: os.mkfifo(trace), "it is not a file"),
            ("a device", lambda: trace.symlink_to("/dev/zero"), "cannot be read"),
            ("a link", lambda: trace.symlink_to("secret.json"), "cannot be read"),
            ("changed", lambda: trace.write_text("{}"), "was changed")):
        code, _, text = put(make)
        check(code == 1 and reason in text, what, code, text)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        inputs.make(work, STEPSCOPE)
        check_links(work)
        check_depth(work)
        check_origins(work)
    for failure in failures:
        print(failure)
    print(f"links_and_origins: {checks} checks, {len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
