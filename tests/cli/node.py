#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`watch` on the node of the ranks: digests for all traces, full traces of a few.

    tests/cli/node.py STEPSCOPE DUCKDB
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STEPSCOPE, DUCKDB = sys.argv[1:3]
# a sanitizer of C looks for the functions of C++ when the program starts, before DuckDB is loaded
ENVIRONMENT = dict(os.environ, STEPSCOPE_DUCKDB=DUCKDB)
if "STEPSCOPE_SLOW" in os.environ:
    ENVIRONMENT["LD_PRELOAD"] = "libstdc++.so.6"
failed = 0


def check(holds, what):
    global failed
    failed += not holds
    if not holds:
        print(f"node: {what}")


def run(*arguments, code=0):
    done = subprocess.run([STEPSCOPE, *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=300, env=ENVIRONMENT)
    check(done.returncode == code, f"{arguments} ends with {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def watch(node, *options, **more):
    return run("watch", node / "in", "--digests", node / "out", "--once", "--settle", "1",
               *options, **more)  # fmt: skip


def record(folder, seed=1):
    """Rank 2 of four is slow; beside the traces lies other JSON."""
    folder.mkdir(parents=True)
    made = folder.parent / f"made-{seed}"
    run("sim", "--preset", "ddp8-healthy", "--ranks", "4", "--steps", "3", "--seed", seed,
        "--set", "layers=4", "--cause", "straggler=0.8", "-o", made)  # fmt: skip
    for path in made.glob("rank*"):
        shutil.move(path, folder / path.name)
    shutil.rmtree(made)


def traces(node):
    return sorted(path.name for path in (node / "in").rglob("rank*"))


def digests(node):
    return sorted(path for path in (node / "out").rglob("*.digest"))


def check_digests(node):
    """Without --delete-traces nothing is removed, and the digests give the verdict."""
    out, err = watch(node)
    check(out.count("4 digests in ") == 1 and not err, out + err)
    check(len(traces(node)) == 4 and len(digests(node)) == 4, digests(node))
    verdicts = [json.loads(run(node / part / "job/traces", "--format", "json")[0])
                for part in ("in", "out")]  # fmt: skip
    check(verdicts[0]["findings"] == verdicts[1]["findings"], "the digests say something else")
    blamed = [one["rank"] for one in verdicts[0]["findings"] if one["rule"].startswith("straggler")]
    # again: nothing to do
    before = [(path, path.stat().st_mtime_ns) for path in digests(node)]
    out, err = watch(node)
    check(not out and not err, f"a second time: {out}{err}")
    check(before == [(path, path.stat().st_mtime_ns) for path in digests(node)], "written again")
    return blamed[0]


def check_suspects(node, blamed):
    """The suspect and one other stay; a recording that comes later is chosen among alone."""
    shutil.rmtree(node / "out")
    out, err = watch(node, "--delete-traces")
    check("removed" in out and not err, out + err)
    kept = traces(node)
    check(len(kept) == 2 and f"rank{blamed}.json.gz" in kept and len(digests(node)) == 4, kept)
    out, err = watch(node, "--delete-traces")
    check(not out and not err and traces(node) == kept, f"{out}{err}{traces(node)}")
    # a folder of digests is whole, whatever became of the traces
    out, _ = run(node / "out/job/traces", "--format", "json")
    check(json.loads(out)["ranks"] == 4, out)
    # no room for anything that stays
    out, err = watch(node, "--delete-traces", "--keep-limit", "1")
    check(traces(node) == kept, "what was handled is looked at again")
    record(node / "in/late/traces", seed=7)
    # of the same moment, as files are that ranks write together
    for path in (node / "in").rglob("rank*"):
        os.utime(path, ns=(10**18, 10**18))
    watch(node, "--delete-traces", "--keep-limit", "1")
    check(traces(node) == [], traces(node))


def follow(*words):
    """A watcher that would wait for an hour, were it not clear that nothing is missing."""
    return subprocess.Popen([STEPSCOPE, "watch", *map(str, words), "--settle", "3600"],
                            env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)  # fmt: skip


def until(is_so, seconds=60):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    return is_so()


def check_early(place):
    """What is whole does not wait: digests of whole traces, runs with all of their ranks."""
    node = place / "early"
    record(node / "made/job/traces")
    (node / "in/job/traces").mkdir(parents=True)
    watchers = [follow(node / "in", "--digests", node / "out", "--delete-traces")]
    until((node / "out").exists)
    watchers.append(follow(node / "out", "--store", node / "store", "--events"))
    *others, last = sorted((node / "made/job/traces").iterdir())
    for path in others:
        os.rename(path, node / "in/job/traces" / path.name)
    data = last.read_bytes()
    (node / "in/job/traces" / last.name).write_bytes(data[:len(data) // 2])
    (node / "in/job/traces/config.json").write_text("{}")
    check(until(lambda: len(digests(node)) == 3), digests(node))
    time.sleep(3)
    check(len(digests(node)) == 3 and not list(node.glob("store/manifest/*.csv")), "too early")
    os.rename(last, node / "in/job/traces" / last.name)
    check(until(lambda: list(node.glob("store/manifest/*.csv"))), "what is whole waits")
    time.sleep(1)
    said = []
    for watcher in watchers:
        watcher.send_signal(signal.SIGINT)
        said.append(watcher.communicate(timeout=60))
        check("could not" not in said[-1][1] and "config" not in said[-1][1], said)
    check(len(digests(node)) == 4 and len(traces(node)) == 4, "a trace was removed early")
    check({json.loads(line)["event"] for line in said[1][0].splitlines()} == {"finding"}, said)
    # none of it is done again
    out, err = run("watch", node / "out", "--store", node / "store", "--once", "--settle", "1")
    check(not out and not err, out + err)


def check_foreign(node):
    """JSON that is no trace is named once, also if it changes and after a restart."""
    other = node / "in/job/traces/config.json"
    said = []
    for number in range(3):
        other.write_text(json.dumps({"number": list(range(number))}))
        said.append(watch(node, "--delete-traces")[1])
    check("config.json" in said[0] and said[1:] == ["", ""], said)
    check(other.exists(), "what is no trace was removed")


def check_two(place):
    """Of two processes that watch a folder one handles each run."""
    node = place / "two"
    for number in range(6):
        record(node / f"in/{number}", seed=number)
    command = [STEPSCOPE, "watch", node / "in", "--digests", node / "out", "--once", "--settle",
               "1"]  # fmt: skip
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]  # fmt: skip
    said = [one.communicate(timeout=300) for one in both]
    check([one.returncode for one in both] == [0, 0] and not said[0][1] + said[1][1], said)
    check(sum(out.count("4 digests") for out, _ in said) == 6, said)
    check(len(digests(node)) == 24, digests(node))


def check_alone(place):
    """Nobody adds runs of a folder from which another process removes traces."""
    adds, removes = ["--store", place / "store"], ["--digests", place / "out", "--delete-traces"]
    (place / "in").mkdir(parents=True)
    for first, other in ((adds, removes), (removes, adds), (removes, removes)):
        holds = subprocess.Popen([STEPSCOPE, "watch", place / "in", *first], env=ENVIRONMENT)
        begin = time.monotonic()
        while not list(place.glob("*/.watched-*")) and time.monotonic() - begin < 60:
            time.sleep(0.1)
        _, err = run("watch", place / "in", *other, "--once", code=1)
        check("another process" in err and err.count("\n") == 1, err)
        # a folder of digests would lack what is removed meanwhile
        run("watch", place / "in", "--digests", place / "more", "--once", code=first is removes)
        holds.send_signal(signal.SIGINT)
        holds.wait(60)
        for path in place.glob("*/.watched-*"):
            path.unlink()
    run("watch", place / "in", *removes, "--once")


def check_kills(place):
    """Killed at any moment, it leaves no half digest, and never a rank without both files."""
    chance = random.Random(5)
    node = place / "kills"
    for number in range(3):
        record(node / f"in/{number}", seed=number)
    names = [path.relative_to(node / "in") for path in (node / "in").rglob("rank*")]
    command = [STEPSCOPE, "watch", node / "in", "--digests", node / "out", "--once", "--settle",
               "1", "--delete-traces"]  # fmt: skip
    for _ in range(12):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(1 + chance.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = {path.name.split("-", 1)[1].split(".")[0] + str(path.parent.name)
                 for path in digests(node)}  # fmt: skip
        for name in names:
            check((node / "in" / name).exists() or
                  name.name.split(".")[0] + str(name.parent) in there, f"{name} is lost")
    watch(node, "--delete-traces")
    check(len(digests(node)) == 12 and len(traces(node)) == 6, traces(node))


def check_full_disk(place):
    """A full disk: no trace is removed, no half digest is there; with room it goes on."""
    if os.geteuid() != 0:
        return
    node = place / "full"
    record(node / "in/job")
    (node / "out").mkdir()
    script = ('mount -t tmpfs -o size=48k tmpfs "$1/out" || exit 77; shift; "$@"; code=$?; '
              'find "$0/out" -name "*.digest" -size 0; exit $code')  # fmt: skip
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, node, node, STEPSCOPE, "watch",
                           node / "in", "--digests", node / "out", "--once", "--settle", "1",
                           "--delete-traces"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode == 77:
        return
    check(done.returncode == 1 and "No space left" in done.stderr, done)
    check(".digest\n" not in done.stdout, f"half a digest: {done}")
    check(len(traces(node)) == 4, f"traces are gone: {traces(node)}")
    watch(node, "--delete-traces")
    check(len(traces(node)) == 2 and len(digests(node)) == 4, traces(node))


def check_by_path(place):
    """Each run has the job and the labels of its folders; the user's word goes first."""
    for name in ("nlp/pretrain", "vision/vit", "loose"):
        record(place / "by" / name, seed=len(name))
    out, _ = run("watch", place / "by", "--store", place / "store", "--once", "--settle", "1",
                 "--events", "--label", "where=here", "--by-path", "{team}/{job}")  # fmt: skip
    jobs = {json.loads(line)["job"] for line in out.splitlines()}
    check(jobs == {"pretrain", "vit", ""}, jobs)
    query = "select job, labels['team'] as team, labels['where'] as place from runs order by job"
    out, _ = run("sql", "--allow-files", "--format", "csv", next((place / "by/loose").iterdir()),
                 query.replace("runs", f"'{place}/store/runs/*/*.parquet'"))  # fmt: skip
    check(out.splitlines()[1:] == ["pretrain,nlp,here", "vit,vision,here", ",,here"], out)
    for rule in ("{job", "job", "{a}/", "/{a}", "a{b}", "", "{}", "/".join(["{a}"] * 9)):
        run("watch", place, "--store", place / "store", "--by-path", rule, code=2)
    [trace, *_] = (place / "by/loose").iterdir()
    _, err = run("watch", trace, "--digests", place / "d", code=2)
    check("is a file: pass the folder" in err and not (place / "d").exists(), err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        node = place / "node"
        record(node / "in/job/traces")
        blamed = check_digests(node)
        check_suspects(node, blamed)
        check_foreign(node)
        check_early(place)
        check_two(place)
        check_alone(place / "alone")
        check_kills(place)
        check_full_disk(place)
        check_by_path(place)
    print(f"node: {failed} failed")
    sys.exit(failed > 0)


main()
