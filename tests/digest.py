#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Digests say about a job what its traces say, byte by byte.

Usage: digest.py STEPSCOPE [TRACES [--all [JOBS]]]. Compares the verdict, what-if and every view of
the job in text and JSON, from traces and from digests; then damaged, missing and foreign digests,
--resume and --share. With --all: every real job, and JOBS simulated ones (60).
"""
import fcntl
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
LAUNCHERS = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             "PMI_RANK", "PMI_SIZE", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
             "SLURM_ARRAY_TASK_MIN", "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID",
             "SLURM_CPUS_ON_NODE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in LAUNCHERS} | {"COLUMNS": "100"}
VIEWS = ("ranks", "stragglers", "collectives", "imbalance", "idle-together", "clocks",
         "critical-path")
# the one figure that says how long reading took
SECONDS = re.compile(rb' in [\d.]+ s$|"(?:load_)?seconds":[\d.]+', re.M)
PRESETS = ("ddp8-healthy", "cnn8-healthy", "fsdp8-healthy", "tp4-healthy", "pp4-healthy",
           "serve4-healthy", "ddp8-unused-healthy")
CAUSES = ("input-in-process", "sync-item", "launch-bound", "exposed-comm", "straggler",
          "straggler-work", "straggler-host", "straggler-link", "pageable-copy", "fp32-matmul",
          "memory-leak", "idle-checkpoint", "idle-gc", "recompilation", "imbalance",
          "optimizer-loop")
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def run(*words, cwd=None, code=0, **environment):
    done = subprocess.run([STEPSCOPE, *map(str, words)], cwd=cwd, capture_output=True, check=False,
                          env=ENVIRONMENT | environment)
    if code is not None:
        check(done.returncode == code, f"exit {done.returncode}, not {code}: {words}: "
              f"{done.stderr.decode()[:300]}")
    return done


# --- traces and digests -------------------------------------------------------------------------


def requests(full):
    yield ("diagnose",)
    yield ("diagnose", "-v")
    yield ("diagnose", "--json")
    yield ("what-if", "--json")
    for view in VIEWS if full else ("stragglers", "collectives", "critical-path"):
        yield (view,)
        yield (view, "--json")
    if full:
        yield ("diagnose", "--format", "markdown")
        yield ("imbalance", "--group", "kernel", "--json")
        yield ("collectives", "--format", "csv", "--top", "0")


def fixes(folder):
    """One what-if for each finding."""
    said = run("diagnose", "--json", "job", cwd=folder, code=None)
    found = json.loads(said.stdout)["findings"] if said.returncode == 0 else []
    for rule in sorted({finding["rule"] for finding in found}):
        yield ("what-if", "--fix", rule)


def compare(name, folder, full=True):
    """The job lies in folder/traces/job: its digests get the same name elsewhere."""
    traces, digests = folder / "traces", folder / "digests"
    digests.mkdir()
    run("digest", "job", "-o", "../digests/job", cwd=traces)
    wanted = list(requests(full)) + (list(fixes(traces)) if full else [])
    for words in wanted:
        before = run(*words, "job", cwd=traces, code=None)
        after = run(*words, "job", cwd=digests, code=None)
        same = (before.returncode == after.returncode and before.stderr == after.stderr and
                SECONDS.sub(b"", before.stdout) == SECONDS.sub(b"", after.stdout))
        check(same, f"{name}: {' '.join(words)} differs")
        if not same and os.environ.get("SHOW"):
            (folder / "a").write_bytes(before.stdout + before.stderr)
            (folder / "b").write_bytes(after.stdout + after.stderr)
            subprocess.run(["diff", "a", "b"], cwd=folder, check=False)
    return len(wanted)


def ranks_of(folder):
    """What the head of the viewer's page shows of each rank."""
    files = json.loads(run("ask", "job", "job", cwd=folder).stdout)["files"]
    return [{key: one[key] for key in ("rank", "host", "device", "start_ns", "end_ns", "aligned",
                                       "clock_error_ns")} |
            {"steps": [(step["start_ns"], step["end_ns"]) for step in one["steps"]],
             "has_events": not one.get("digest", False)} for one in files]


def page(folder):
    """The page of a job of digests says the same of its ranks, and that events are missing."""
    before, after = ranks_of(folder / "traces"), ranks_of(folder / "digests")
    check(all(one["has_events"] and one["steps"] for one in before), "a trace without events")
    check(not any(one["has_events"] for one in after), "a digest with events")
    check(before == [one | {"has_events": True} for one in after], f"page: {before} {after}")


def page_of_one(folder):
    """A rank alone has nobody to be aligned with, whatever it was opened from."""
    alone = folder / "alone"
    (alone / "traces/job").mkdir(parents=True)
    shutil.copy(folder / "traces/job/rank0.json.gz", alone / "traces/job")
    (alone / "digests").mkdir()
    run("digest", "job", "-o", alone / "digests/job", cwd=alone / "traces")
    check(not any(one["aligned"] for one in ranks_of(alone / "traces")), "a rank is aligned alone")
    page(alone)


def real_jobs(traces, all_of_them):
    for folder in ("jobs", "cpu", "cpu_faults"):
        for job in sorted(path for path in (traces / folder).iterdir() if path.is_dir()):
            if all_of_them or job.name in ("tp2_tiny", "straggler"):
                yield job


def compare_real(job):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        shutil.copytree(job, folder / "traces/job")
        return compare(job.name, folder)


def simulate(number, to):
    draw = random.Random(number)
    preset = PRESETS[number % len(PRESETS)]
    words = ["--preset", preset, "--seed", number + 1, "--steps", draw.choice([2, 3, 4]),
             "--set", f"layers={draw.choice([2, 4])},stack={draw.randrange(2)}"]
    if number % 2:
        words += ["--sequence"]
    if number % 3:
        words += ["--clock-offset-ms", draw.choice([5, 500, 10000])]
    if number % 5 == 4:
        words += ["--lost-per-million", 2000]
    causes = draw.sample(CAUSES, draw.choice([0, 1, 2]))
    if causes:
        words += ["--cause", ",".join(f"{cause}={draw.uniform(0.2, 0.9):.2f}" for cause in causes)]
    return run("sim", *words, "-o", to, code=None).returncode == 0


def compare_simulated(number, full):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "traces").mkdir()
        while not simulate(number, folder / "traces/job"):
            number += 1000  # a cause that the layout does not have
        return compare(f"simulated {number}", folder, full)


# --- what can go wrong --------------------------------------------------------------------------


def damage(folder):
    """A digest that is missing or broken is named, and what is there is judged."""
    digests = folder / "digests/job"
    files = sorted(digests.iterdir())
    whole = files[1].read_bytes()
    for what, bytes_ in (("truncated", whole[:len(whole) // 2]), ("empty", b""),
                         ("changed", whole[:-9] + bytes(8) + whole[-1:]),
                         ("foreign", b"\x89SSDIGE\n" + bytes(88)), ("text", b"hello\n" * 20)):
        files[1].write_bytes(bytes_)
        said = run("diagnose", "--json", digests, code=None)
        text = (said.stdout + said.stderr).decode()
        check(said.returncode == 0, f"{what}: exit {said.returncode}")
        check("could not be read" in text or files[1].name in text, f"{what} digest is not named")
        if what in ("truncated", "empty"):
            text = run("files", "--json", digests).stdout.decode()
            check("the digest is damaged (it is truncated): make it again" in text,
                  f"{what}: no advice in {text}")
        check(json.loads(said.stdout)["ranks"] == len(files) - 1, f"{what}: ranks")
    files[1].unlink()
    text = run("ranks", digests).stdout.decode()
    check("rank 1" in text or "1 of" in text, f"missing digest is not named: {text}")
    files[1].write_bytes(whole)


def resume(folder):
    traces, digests = folder / "traces", folder / "digests/job"
    files = sorted(digests.iterdir())
    times = [path.stat().st_mtime_ns for path in files]
    words = ("digest", "job", "-o", digests)
    said = run(*words, cwd=traces, code=1)
    check(b"--resume" in said.stderr, "existing digests are not refused")
    said = run(*words, "--resume", cwd=traces)
    check(f"{len(files)} up to date".encode() in said.stdout, f"not up to date: {said.stdout}")
    check(times == [path.stat().st_mtime_ns for path in files], "--resume wrote what is there")
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:100])
    trace = sorted((traces / "job").glob("*.json*"))[2]
    os.utime(trace, ns=(1, 1))
    said = run(*words, "--resume", cwd=traces)
    check(b"3 digests written" in said.stdout, f"--resume: {said.stdout}")
    check(not [p for p in digests.iterdir() if p.suffix != ".digest"], "a partial file is left")


def sweep(folder):
    """What killed processes left goes, unless it is young or somebody still writes it."""
    traces, digests = folder / "traces", folder / "digests/job"
    parts = [digests / f".stepscope.{i:016x}.part" for i in range(3)]
    for path in parts:
        path.touch()
    other = digests / ".stepscope.mine.part"
    other.touch()
    with parts[1].open("ab") as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        for path in (*parts[:2], other):
            os.utime(path, (1, 1))
        said = run("digest", "job", "-o", digests, "--resume", cwd=traces)
    check(b"Removed in the folder: 1 unfinished file of" in said.stdout, f"swept: {said.stdout}")
    check([p.exists() for p in (*parts, other)] == [False, True, True, True],
          "the wrong temporary files are gone")
    for path in (*parts[1:], other):
        path.unlink()


def share(folder):
    traces = folder / "traces"
    whole = {p.name: p.read_bytes() for p in (folder / "digests/job").iterdir()}
    for i in range(3):
        run("digest", "job", "-o", folder / "shares", "--share", f"{i}/3", cwd=traces)
    for i in range(2):
        said = run("digest", "job", "-o", folder / "slurm", cwd=traces, SLURM_PROCID=str(i),
                   SLURM_STEP_NUM_TASKS="2")
        check(b"by SLURM_PROCID" in said.stdout, "the share of Slurm is not said")
        run("digest", "job", "-o", folder / "mpi", cwd=traces, OMPI_COMM_WORLD_RANK=str(i),
            OMPI_COMM_WORLD_SIZE="2", SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4")
        run("digest", "job", "-o", folder / "array", cwd=traces, SLURM_ARRAY_TASK_ID=str(i + 7),
            SLURM_ARRAY_TASK_COUNT="2", SLURM_ARRAY_TASK_MIN="7")
    # a batch script, which is no step
    run("digest", "job", "-o", folder / "batch", cwd=traces, SLURM_PROCID="0", SLURM_NTASKS="4")
    for name in ("shares", "slurm", "mpi", "array", "batch"):
        made = {p.name: p.read_bytes() for p in (folder / name).iterdir()}
        check(made == whole, f"{name}: other digests")
    for wrong in ("3/3", "1", "a/b", "-1/2", "1/0", "1/2x"):
        run("digest", "job", "-o", folder / "wrong", "--share=" + wrong, cwd=traces, code=2)
    check(not (folder / "wrong").exists(), "a folder is left")


def threads_of_tasks(folder):
    """Processes of a launcher that share a machine share its cores, bound to them or not."""
    def count(*words, **environment):
        said = run("digest", "job", "-o", folder / "tasks", "--force", *words,
                   cwd=folder / "traces", **environment).stdout.decode()
        return int(re.search(r" with (\d+) threads?: ", said)[1])

    if not hasattr(os, "sched_getaffinity"):
        return  # nothing binds processes to cores here
    own, cores = len(os.sched_getaffinity(0)), os.cpu_count()
    step = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "9"}
    mpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "9"}
    mpich = {"PMI_RANK": "1", "PMI_SIZE": "9"}
    for beside, environment in (
            (1, step), (cores, step | {"SLURM_STEP_TASKS_PER_NODE": str(cores)}),
            (1, step | {"SLURM_STEP_TASKS_PER_NODE": f"{cores}(x2),1", "SLURM_NODEID": "2"}),
            (cores, step | {"SLURM_STEP_TASKS_PER_NODE": f"1,{cores}(x2)", "SLURM_NODEID": "2"}),
            (1, step | {"SLURM_STEP_TASKS_PER_NODE": f"{cores},x", "SLURM_NODEID": "1"}),
            (2, mpi | {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}),
            (2 * cores, mpich | {"MPI_LOCALNRANKS": str(2 * cores)})):
        wanted = min(own, max(1, cores // beside), 64)
        check(count(**environment) == wanted, f"{beside} beside: not {wanted}: {environment}")
    granted = step | {"SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_CPUS_ON_NODE": "2"}
    check(count(**granted) == 1, "two CPUs for two tasks")
    check(count("--threads", 3, **granted) == 3, "--threads under a launcher")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    check(count(**step) == 1, "one core is its own")
    os.sched_setaffinity(0, before)


def threads(folder):
    """Files are read side by side; digests and lines are the same, in the order of the files."""
    traces = folder / "many"
    traces.mkdir()
    for i in range(40):
        shutil.copy(folder / "traces/job" / f"rank{i % 4}.json.gz", traces / f"rank{i:02}.json.gz")
    (traces / "rank07.json.gz").write_bytes(b"no trace")
    (traces / "other.json").write_text("{}", encoding="utf-8")
    said = {}
    for count in (1, 2, 7):
        to = folder / f"by{count}"
        done = run("digest", "many", "-o", to, "--threads", count, cwd=folder)
        said[count] = (done.stdout.replace(str(to).encode(), b""), done.stderr,
                       {path.name: path.read_bytes() for path in to.iterdir()})
    check(len(said[1][2]) == 40 and b"rank07" in said[1][0], f"40 digests: {said[1][:2]}")
    check(said[1] == said[2] == said[7], "threads make other digests or lines")
    limited = run("digest", "many", "-o", folder / "limited", "--memory-limit", "1g", cwd=folder)
    check(limited.stdout.replace(str(folder / "limited").encode(), b"") == said[1][0],
          "a limit makes other lines")


def open_to_write(path, seconds):
    """A pipe that somebody reads; None if nobody does for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody has opened it yet
            time.sleep(0.01)
    return None


def at_once(folder):
    """The second file is opened while the first one has not ended: the files are pipes."""
    trace = gzip.decompress((folder / "traces/job/rank0.json.gz").read_bytes())
    for count, seconds in ((2, 60), (1, 1)):
        own = folder / f"pipes{count}"
        own.mkdir()
        names = ("rank0.json", "rank1.json")
        for name in names:
            os.mkfifo(own / name)
        with subprocess.Popen([STEPSCOPE, "digest", *names, "-o", "out", "--threads", str(count)],
                              cwd=own, env=ENVIRONMENT, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            first = open_to_write(own / names[0], 60)
            second = open_to_write(own / names[1], seconds)
            check((second is not None) == (count > 1), f"{count} threads: at once: {second}")
            for pipe, name in ((first, names[0]), (second, names[1])):
                pipe = open_to_write(own / name, 60) if pipe is None else pipe
                os.set_blocking(pipe, True)
                with open(pipe, "wb") as to:
                    to.write(trace)
            said = process.communicate(timeout=60)
        check(process.returncode == 0 and b"2 digests written" in said[0], f"pipes: {said}")


def heed_interrupts():
    """What a shell starts in the background ignores Ctrl-C, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(folder):
    """Ctrl-C leaves what is done, and says what is not; nothing else is begun."""
    packed = (folder / "traces/job/rank0.json.gz").read_bytes()
    for count in ("1", "2"):
        own = folder / f"interrupted{count}"
        own.mkdir()
        names = [f"rank{i}.json.gz" for i in range(9)]
        for name in names:
            (own / name).write_bytes(packed)
        (own / names[1]).unlink()
        os.mkfifo(own / names[1])
        (own / names[2]).unlink()
        os.mkfifo(own / names[2])
        with subprocess.Popen([STEPSCOPE, "digest", *names, "-o", "out", "--threads", count],
                              cwd=own, env=ENVIRONMENT, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=heed_interrupts) as process:
            pipes = [open_to_write(own / name, 60) for name in names[1:1 + int(count)]]
            process.send_signal(signal.SIGINT)
            for pipe in pipes:
                os.close(pipe)
            said = process.communicate(timeout=60)
        check(process.returncode == 130, f"interrupted: exit {process.returncode}: {said}")
        check(re.search(rb"Not done: [678] files. Run the same command with --resume", said[0]),
              f"interrupted: {said}")
        check(not (own / "out/rank8.digest").exists(), "it went on")


def manners(folder):
    traces, digests = folder / "traces", folder / "digests"
    run("digest", "job", cwd=traces, code=2)
    run("digest", "nothing", "-o", "x", cwd=traces, code=1)
    (folder / "empty").mkdir()
    run("digest", folder / "empty", "-o", folder / "x", code=1)
    check(not (folder / "x").exists(), "a folder is left")
    # what needs events opens the trace, and says so when it is gone; see digest_views.py
    before = run("steps", "--json", "job", cwd=traces).stdout
    check(run("steps", "--json", "job", cwd=digests).stdout == before, "steps from digests")
    (traces / "job").rename(folder / "moved")
    said = run("syncs", "job", cwd=digests, code=1)
    check(b"a digest, which has no events" in said.stderr, f"moved trace: {said.stderr}")
    check(run("ranks", "job", cwd=digests).returncode == 0, "ranks without traces")
    # pages of the job need no traces; others say what is missing
    pages = ["view/" + name for name in (*VIEWS, "diagnose")]
    served = [SECONDS.sub(b"", run("ask", page, "job", cwd=digests).stdout) for page in pages]
    for request in ("view/syncs", "tracks?file=0"):
        said = run("ask", request, "job", cwd=digests, code=1)
        check(b"have no events" in said.stderr, f"{request} of digests: {said.stderr}")
    (folder / "moved").rename(traces / "job")
    for page, answer in zip(pages, served):
        said = run("ask", page, "job", cwd=traces).stdout
        check(SECONDS.sub(b"", said) == answer, f"{page} of the viewer differs")
    said = run("digest", "job", "-o", digests / "job", "--resume", cwd=traces)
    check(b"Skipped in the folder: 1 file" in said.stdout, f"other JSON: {said.stdout}")
    (folder / "mine").mkdir()
    (folder / "mine/rank0.digest").write_text("not ours")
    said = run("digest", "job", "-o", folder / "mine", "--force", cwd=traces, code=1)
    check(b"is not a digest" in said.stderr, f"what is not ours: {said.stderr}")
    check((folder / "mine/rank0.digest").read_text() == "not ours", "it was replaced")


def digests_given(folder):
    """Digests instead of traces are named as such, with what can be done; beside traces, too."""
    traces, digests = folder / "traces/job", folder / "digests/job"
    count = len(list(digests.iterdir()))
    one = sorted(digests.iterdir())[0]
    for given, says in ((digests, f"has {count} digests and no traces: 'stepscope {digests}' "),
                        (one, f"is a digest already: 'stepscope {one}' reads it")):
        said = run("digest", given, "-o", folder / "again", code=1)
        check(says in said.stderr.decode() and not said.stdout, f"digests alone: {said}")
        check(not (folder / "again").exists(), "a folder is left")
    mixed = folder / "mixed"
    mixed.mkdir()
    for path in sorted(traces.glob("*.json.gz"))[2:]:
        shutil.copy(path, mixed)
    for path in sorted(digests.iterdir())[:2]:
        shutil.copy(path, mixed)
    said = run("digest", mixed, "-o", folder / "rest").stdout.decode()
    check(f"Skipped: 2 files that are digests already; 'stepscope {folder / 'rest'} {mixed}' "
          "reads all." in said, f"digests beside traces: {said}")
    ranks = json.loads(run("diagnose", "--json", folder / "rest", mixed).stdout)["ranks"]
    check(ranks == count, f"{ranks} of {count} ranks from both folders")
    # into the folder itself: what an earlier run wrote there is no news
    for more in ((), ("--resume",)):
        said = run("digest", mixed, "-o", mixed, *more).stdout.decode()
        check(("Skipped" in said) is False, f"own digests: {said}")


def foreign(folder):
    """--resume keeps digests of other runs; traces that only moved are digested again."""
    small = ("--preset", "ddp8-healthy", "--ranks", 2, "--set", "layers=2")
    out = folder / "one"
    run("sim", *small, "--steps", 2, "-o", folder / "run1")
    run("sim", *small, "--steps", 3, "-o", folder / "run2")
    run("digest", folder / "run1", "-o", out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    said = run("digest", folder / "run2", "-o", out, "--resume", code=1)
    check(b"and 1 other are of traces in another folder" in said.stderr, f"foreign: {said}")
    check(before == {path.name: path.read_bytes() for path in out.iterdir()}, "they are gone")
    said = run("digest", folder / "run2", "-o", out, "--resume", "--force")
    check(b"2 digests written" in said.stdout, f"with --force: {said}")
    (folder / "run2").rename(folder / "run3")
    said = run("digest", folder / "run3", "-o", out, "--resume")
    check(b"2 digests written" in said.stdout, f"moved traces: {said}")
    # two of one name: said once, before anything is read
    said = run("digest", folder / "run1", folder / "run3", "-o", folder / "both", code=1)
    check(said.stderr.count(b"would get the same name") == 1 and not said.stdout, f"names: {said}")
    check(not (folder / "both").exists(), "a folder is left")


def no_room(folder):
    """The first digest that cannot be written ends the run; files are not read in vain."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    for threads_ in ("1", "3"):
        done = subprocess.run([STEPSCOPE, "digest", "job", "-o", folder / "full", "--threads",
                               threads_], cwd=folder / "traces", capture_output=True, check=False,
                              env=ENVIRONMENT, preexec_fn=limit)
        check(done.returncode == 1 and done.stderr.count(b"cannot write") == 1, f"full: {done}")
        check(re.search(rb"Not done: [45] files. Run the same command with --resume", done.stdout),
              f"what is left: {done.stdout}")
    (folder / "file").touch()
    said = run("digest", "job", "-o", folder / "file", cwd=folder / "traces", code=1)
    check(said.stderr.count(b"\n") == 1 and b"Not a directory" in said.stderr, f"file: {said}")
    said = run("digest", "-", "-o", folder / "x", code=1)
    check(b"save the trace to a file" in said.stderr, f"standard input: {said.stderr}")


def broken_trace(folder):
    """A trace that cannot be read is reported as it is without digests."""
    traces, digests = folder / "traces", folder / "digests"
    shutil.rmtree(digests)
    files = sorted((traces / "job").glob("*.json.gz"))
    files[0].write_bytes(b"\x1f\x8b" + bytes(50))
    files[1].write_bytes(files[1].read_bytes()[:-2000])
    compare("broken traces", folder, False)
    # told at the end, and by the command that is named there
    traces = folder / "text"
    traces.mkdir()
    shutil.copy(files[2], traces / "rank0.json.gz")
    (traces / "rank1.json").write_text("no trace")
    for words in ((), ("--force",)):  # digests below the traces may be written again
        said = run("digest", traces, "-o", traces / "digests", *words).stdout.decode()
        check("Could not be read: 1 trace" in said and "2 digests written" in said, said)
    said = run("files", "--json", traces / "digests").stdout.decode()
    check("it is text" in said, f"the reason is gone: {said}")


def traces_of(own, change):
    """Two ranks of three steps with a collective each; `change` is done to the first one."""
    job = own / "traces/job"
    job.mkdir(parents=True)
    for rank in range(2):
        events = []
        for i in range(3):
            begin = 1000 * (i + 1)
            events += [
                {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1,
                 "tid": 1, "ts": begin, "dur": 990},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                 "ts": begin + 100, "dur": 4, "args": {"correlation": i + 1}},
                {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                 "pid": 0, "tid": 7, "ts": begin + 150, "dur": 200,
                 "args": {"device": 0, "stream": 7, "correlation": i + 1, "dtype": "Float",
                          "Collective name": "allreduce", "In msg nelems": 9,
                          "Out msg nelems": 9, "Group size": 2, "Process Group Name": "0",
                          "Seq": i}}]
        trace = {"distributedInfo": {"rank": rank, "world_size": 2},
                 "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 8 << 30}],
                 "baseTimeNanoseconds": 1727740800000000000, "traceEvents": events}
        if not rank:
            change(trace, events)
        (job / f"rank{rank}.json").write_text(json.dumps(trace), encoding="utf-8")


def odd_figures(folder):
    """Clocks that were wrong once, and numbers that cannot be: what is written can be read."""
    def late_call(_, events):  # nothing is replayed
        events.append({"ph": "X", "cat": "python_function", "name": "main", "pid": 1, "tid": 1,
                       "dur": 9, "ts": 3e15})

    def late_kernel(_, events):  # a step of decades
        for one in events[-2:]:
            one["ts"] = 1.2e15

    def numbers(value):
        def change(trace, events):
            trace["distributedInfo"]["world_size"] = value
            trace["deviceProperties"][0]["totalGlobalMem"] = value
            for one in events[2::3]:
                one["args"] |= {"Seq": value, "In msg nelems": value, "Out msg nelems": value}
        return change

    def device(trace, events):
        trace["deviceProperties"][0]["id"] = -7
        for one in events[2::3]:
            one["args"]["device"] = -7

    def names(_, events):  # sentences with them are cut, most within a character
        for i in range(3):
            events.append({"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "dur": 500,
                           "ts": 1000 * (i + 1) + 400,
                           "name": "Optimizer.step#" + i * "a" + 999 * "\u8a13"})

    def rank(trace, _):
        trace["distributedInfo"]["rank"] = 1 << 61

    for name, change in (("late call", late_call), ("late kernel", late_kernel),
                         ("large numbers", numbers(1 << 61)), ("negative", numbers(-7)),
                         ("device", device), ("names", names), ("rank", rank)):
        own = folder / name
        traces_of(own, change)
        compare(name, own, False)
        said = run("ranks", "--json", "job", cwd=own / "digests")
        check(b"damaged" not in said.stdout + said.stderr, f"{name}: a digest is refused")


def main():
    traces = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    all_of_them = "--all" in sys.argv
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 60 if all_of_them else 2
    jobs = answers = 0
    for job in real_jobs(traces, all_of_them) if traces and (traces / "jobs").is_dir() else ():
        answers += compare_real(job)
        jobs += 1
    for number in range(count):
        answers += compare_simulated(number, all_of_them)
        jobs += 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "traces").mkdir()
        run("sim", "--preset", "ddp8-healthy", "--ranks", 4, "--steps", 2, "--set", "layers=2",
            "--cause", "straggler", "-o", folder / "traces/job")
        compare("four ranks", folder, False)
        page(folder)
        page_of_one(folder)
        for test in (damage, resume, sweep, share, threads_of_tasks, threads, at_once, interrupted,
                     manners, digests_given, foreign, no_room, broken_trace, odd_figures):
            test(folder)
    print(f"{jobs} jobs, {answers} answers compared, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
