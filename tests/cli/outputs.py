#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands write: whole or not at all, never over what is read, nothing left behind.

Usage: outputs.py STEPSCOPE. Every command that writes is stopped by signals and by a full disk,
written twice at once, sent through links, into folders that may not be written, and onto its own
input. What was there before must be there afterwards, byte by byte, and the sentence must name
the reason. Where a small file system cannot be mounted, a limit on the size of files takes its
place.
"""
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
PAGE = "<html><body><p>viewer</p></body></html>"
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OLD = b"what was there before"
# a job that takes no time: it is written hundreds of times
SMALL = ("sim", "-p", "ddp8-slow", "--set", "layers=2", "--steps", "2")
LARGE = ("sim", "-p", "ddp8-slow", "--steps", "2")
checks = 0


def check(holds, *what):
    global checks
    checks += 1
    if not holds:
        raise SystemExit("outputs: " + " ".join(str(word) for word in what)[:2000])


def run(*words, code=FINE, program=STEPSCOPE, **more):
    result = subprocess.run([program, *(str(word) for word in words)], capture_output=True,
                            check=False, timeout=300, **more)
    check(b"runtime error" not in result.stderr, result.stderr)
    check(code is None or result.returncode == code, words, result.returncode, result.stderr)
    return result


def names(folder):
    """All of them: what is unfinished has a dot before its name."""
    return sorted(os.listdir(folder))


def simulate(folder, *more):
    run(*SMALL, "--ranks", 2, "-o", folder, *more)
    return folder


def writers(work, job):
    """(name, words but -o, output) of each command that writes a file; its folder is empty."""
    page = work / "page.html"
    page.write_text(PAGE)
    (work / "key").write_text("0123456789abcdef" * 2)
    for name, words, output in (
        ("report", ("report", job, "--page", page), "out.html"),
        ("merge", ("merge", job), "out.json.gz"),
        ("merge plain", ("merge", job), "out.json"),
        # with one key the copy is the same each time
        ("redact", ("redact", job / "rank0.json.gz", "--force", "--key", work / "key"),
         "out.json.gz"),
    ):
        folder = work / name.replace(" ", "_")
        folder.mkdir()
        yield name, words, folder / output


def is_whole(path):
    data = path.read_bytes()
    if path.suffix == ".html":
        return data.startswith(PAGE[:10].encode()) and data.endswith(b"</body></html>")
    return bool(json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)["traceEvents"])


# --- where it may be written ------------------------------------------------------------------


def places(words, out):
    folder = out.parent
    run(*words, "-o", out)
    check(names(folder) == [out.name] and is_whole(out), names(folder))
    umask = os.umask(0)
    os.umask(umask)
    check(stat.S_IMODE(out.stat().st_mode) == 0o666 & ~umask, "mode", oct(out.stat().st_mode))
    whole = out.read_bytes()
    # the mode of what is replaced stays, also while it is written
    for mode in (0o600, 0o640, 0o755):
        out.write_bytes(OLD)
        out.chmod(mode)
        run(*words, "-o", out)
        check(stat.S_IMODE(out.stat().st_mode) == mode, oct(mode), oct(out.stat().st_mode))
        check(out.read_bytes() == whole, "another file the second time")
    # a link is followed, to what is there and to what is not
    (folder / "into").mkdir()
    for target in ("into/there", "into/new", str(folder / "into" / "far")):
        link = folder / f"link{out.suffix}"
        (folder / "into" / "there").write_bytes(OLD)
        link.symlink_to(target + out.suffix)
        run(*words, "-o", link)
        check(link.is_symlink() and is_whole(folder / (target + out.suffix)), target)
        link.unlink()
    loop = folder / "loop"
    loop.symlink_to("loop")
    check(b"cannot write" in run(*words, "-o", loop, code=FAILED).stderr, "a loop of links")
    loop.unlink()
    # a second name of the old file keeps the old bytes
    out.write_bytes(OLD)
    os.link(out, folder / "other")
    run(*words, "-o", out)
    check((folder / "other").read_bytes() == OLD and out.read_bytes() == whole, "a hard link")
    (folder / "other").unlink()
    # long names have no room for an ending
    longest = folder / ("x" * (250 - len(out.suffix)) + out.suffix)
    run(*words, "-o", longest)
    check(is_whole(longest), "a long name")
    longest.unlink()
    check(names(folder) == ["into", out.name], names(folder))


def streams(words, out):
    """Pipes and devices have no other name to be written under."""
    folder, whole = out.parent, out.read_bytes()
    for name in ("-", "/dev/stdout"):
        if out.suffix == ".gz":
            continue  # by its name it would not be compressed
        result = run(*words, "-o", name)
        check(result.stdout == whole, name, "differs", len(result.stdout), len(whole))
        said = b"opens in any browser" in result.stderr or b"open it at" in result.stderr
        check(said, "nothing was said", result.stderr)
        # behind what is there, as the shell has it
        with open(folder / "shell", "wb") as file:
            file.write(b"before ")
            file.flush()
            subprocess.run([STEPSCOPE, *map(str, words), "-o", name], stdout=file, check=True,
                           stderr=subprocess.DEVNULL)
            file.seek(0, os.SEEK_END)
            file.write(b" after")
        check((folder / "shell").read_bytes() == b"before " + whole + b" after", "not in place")
        (folder / "shell").unlink()
    run(*words, "-o", "/dev/null")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is gone")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    run(*words, "-o", pipe)
    reader.join(20)
    check(got and len(got[0]) > 100 and stat.S_ISFIFO(pipe.stat().st_mode), "a pipe")
    pipe.unlink()
    if pathlib.Path("/dev/full").exists():
        result = run(*words, "-o", "/dev/full", code=FAILED)
        check(b"No space left on device" in result.stderr, result.stderr)


def refused_places(words, out):
    folder = out.parent
    if words[0] != "redact":  # into folders it writes
        result = run(*words, "-o", folder, code=FAILED)
        check(b"cannot write" in result.stderr and b"directory" in result.stderr, result.stderr)
    run(*words, "-o", folder / "no" / "such", code=FAILED)
    run(*words, "-o", "", code=USAGE if words[0] == "redact" else FAILED)
    run(*words, "-o", folder / ("x" * 5000), code=USAGE)
    check(names(folder) == ["into", out.name], names(folder))


def read_only(words, out):
    """As somebody who may not do everything: root is asked to be nobody."""
    folder = out.parent
    before = out.read_bytes()
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    # the build can be where nobody may look
    nobody["program"] = shutil.copy(STEPSCOPE, folder.parent)
    folder.chmod(0o555)
    result = run(*words, "-o", out, code=FAILED, **nobody)
    check(b"cannot write" in result.stderr and b"ermission denied" in result.stderr,
          result.stderr)
    folder.chmod(0o777)
    out.chmod(0o444)
    result = run(*words, "-o", out, code=FAILED, **nobody)
    check(b"ermission denied" in result.stderr, "a file that may not be written", result.stderr)
    out.chmod(0o644)
    check(out.read_bytes() == before and names(folder) == ["into", out.name], names(folder))


# --- what is read is not written ----------------------------------------------------------------


def inputs(work):
    job = simulate(work / "inputs", "--plain")
    page = work / "own.html"
    page.write_text(PAGE)
    trace = job / "rank0.json"
    before = trace.read_bytes()
    (work / "soft.json").symlink_to(trace)
    os.link(trace, work / "hard.json")
    (work / "folder").symlink_to(job)
    for name in ("report", "merge"):
        more = ("--page", page) if name == "report" else ()
        for given, out in (
            (trace, trace), (job, trace), (trace, work / "soft.json"), (trace, work / "hard.json"),
            (job, work / "hard.json"), (work / "soft.json", trace), (work / "folder", trace),
            (work / "folder", work / "hard.json"), (job, work / "folder" / "rank1.json"),
        ):
            result = run(name, given, *more, "-o", out, code=USAGE)
            check(b"is also an input" in result.stderr, given, out,
                  result.stderr)
    result = run("report", job, "--page", page, "-o", page, code=USAGE)
    check(b"is also an input" in result.stderr and page.read_text() == PAGE, result.stderr)
    other = simulate(work / "compared", "--plain")
    run("report", job, "--compare", other, "--page", page, "-o", other / "rank1.json", code=USAGE)
    with open(trace, "rb") as file:
        run("report", "-", "--page", page, "-o", trace, code=USAGE, stdin=file)
    # a pack that would go over its own trace, or over what is no pack
    for make in (os.link, os.symlink):
        make(trace, job / "rank0.stepscope")
        run("pack", job, "--force", code=FAILED)
        check((job / "rank0.stepscope").read_bytes() == before, "a trace was packed over")
        (job / "rank0.stepscope").unlink()
        (job / "rank1.stepscope").unlink()
    (job / "rank0.stepscope").write_bytes(OLD)
    result = run("pack", job, "--force", code=FAILED)
    check(b"is not a pack" in result.stderr, result.stderr)
    check((job / "rank0.stepscope").read_bytes() == OLD, "what is no pack was replaced")
    # sim: traces that it has not made
    (work / "mine").mkdir()
    (work / "mine" / "rank0.json").write_bytes(OLD)
    run("sim", "-p", "gpu1-healthy", "-o", work / "mine", code=USAGE)
    run("sim", "-p", "gpu1-healthy", "-o", trace, code=USAGE)
    check(names(work / "mine") == ["rank0.json"], names(work / "mine"))
    check(trace.read_bytes() == before, "the input was changed")


# --- full disks -------------------------------------------------------------------------------


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def full(work, job):
    """The size of files is limited: writes fail in the middle, whoever they are of."""
    folder = work / "limited"
    folder.mkdir()
    (folder / "page.html").write_text(PAGE)
    for words, out in (
        (("report", job, "--page", folder / "page.html"), "out.html"),
        (("merge", job), "out.json"), (("merge", job), "out.json.gz"),
        (("redact", job / "rank0.json.gz", "--force"), "out.json"),
    ):
        for there in (False, True):
            if there:
                (folder / out).write_bytes(OLD)
            before = names(folder)
            result = run(*words, "-o", folder / out, code=FAILED, preexec_fn=limit_files)
            check(b"cannot write" in result.stderr and b"File too large" in result.stderr
                  and out.encode() in result.stderr, result.stderr)
            check(names(folder) == before, "left behind", names(folder))
            check(not there or (folder / out).read_bytes() == OLD, "the old file is another")
        (folder / out).unlink()
    before = names(folder)
    for words in (("pack", job, "-o", folder / "packs"),
                  ("redact", job, "-o", folder / "copies"),
                  ("sim", "-p", "gpu1-healthy", "-o", folder / "sim"),
                  ("demo", "-o", folder / "demo")):
        result = run(*words, code=FAILED, preexec_fn=limit_files)
        check(b"File too large" in result.stderr and b".part" not in result.stderr,
              result.stderr)
        check(names(folder) == before, words[0], "left", names(folder))
    simulate(folder / "sim")
    whole = {path.name: path.read_bytes() for path in (folder / "sim").iterdir()}
    run("sim", "-p", "gpu1-healthy", "-o", folder / "sim", code=FAILED, preexec_fn=limit_files)
    check({path.name: path.read_bytes() for path in (folder / "sim").iterdir()} == whole,
          "a job that failed changed the one that was there")


def mounted(work, job):
    """A disk of 64 kB, where one may be mounted; True then."""
    disk = work / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)],
                           capture_output=True, check=False)
    if mount.returncode:
        return False
    try:
        (disk / "out.html").write_bytes(OLD)
        (work / "page.html").write_text(PAGE)
        for words in (("report", job, "--page", work / "page.html", "-o", disk / "out.html"),
                      ("merge", job, "-o", disk / "out.json"), ("pack", job, "-o", disk / "p"),
                      ("sim", "-p", "ddp8-slow", "--ranks", 2, "-o", disk / "sim")):
            result = run(*words, code=FAILED)
            check(b"No space left on device" in result.stderr, result.stderr)
            check(names(disk) == ["out.html"], words[0], "left", names(disk))
        check((disk / "out.html").read_bytes() == OLD, "the old file is another")
    finally:
        subprocess.run(["umount", str(disk)], check=False)
    return True


# --- signals ------------------------------------------------------------------------------------


def feed(path, goes_on, is_read):
    """A trace that never ends, into a pipe. A reader that is stopped before it opens the pipe
    never comes: waiting for it would be waiting for ever. `is_read` is set when more than a
    pipe holds was taken: the load has begun."""
    event = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1},\n'
    pipe = None
    while goes_on.is_set() and pipe is None:
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            time.sleep(0.005)
    if pipe is None:
        return
    os.set_blocking(pipe, True)
    try:
        os.write(pipe, b'{"traceEvents":[\n')
        os.write(pipe, event * (2 ** 20 // len(event)))
        is_read.set()
        while goes_on.is_set():
            os.write(pipe, event * 20)
            time.sleep(0.01)
    except BrokenPipeError:
        pass
    os.close(pipe)


def wait_for(holds, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.005)
    return False


def unfinished(folder):
    return [name for name in names(folder) if name.endswith(".part")]


def stop_while_reading(work, ends):
    """The output is open, the input goes on for ever."""
    folder = work / f"stop{ends}"
    folder.mkdir()
    (folder / "page.html").write_text(PAGE)
    pipe = folder / "in.json"
    os.mkfifo(pipe)
    for words in (("report", pipe, "--page", folder / "page.html", "-o", folder / "out"),
                  ("merge", pipe, "-o", folder / "out"),
                  ("redact", pipe, "--force", "-o", folder / "out")):
        (folder / "out").write_bytes(OLD)
        before = names(folder)
        goes_on, is_read = threading.Event(), threading.Event()
        goes_on.set()
        # of a check that fails nothing may be left that keeps the test from ending
        feeder = threading.Thread(target=feed, args=(pipe, goes_on, is_read), daemon=True)
        feeder.start()
        progress = () if words[0] == "redact" else ("--progress", "none")
        process = subprocess.Popen([STEPSCOPE, *map(str, words), *progress],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(wait_for(lambda: unfinished(folder)), "no file appears")
        check(is_read.wait(60), words[0], "nothing is read")
        process.send_signal(ends)
        code = process.wait(60)
        goes_on.clear()
        feeder.join(20)
        check(not feeder.is_alive(), words[0], ends, "the pipe is still written")
        # views are asked to stop by the first one
        asks = ends == signal.SIGINT and words[0] != "redact"
        check(code == (INTERRUPTED if asks else -ends), words[0], ends, "ended with", code)
        check(names(folder) == before, words[0], ends, "left", names(folder))
        check((folder / "out").read_bytes() == OLD, "the old file is another")


def stop_while_writing(work, job, ends):
    """The output is a pipe's neighbour: a pack of a large file, a report, a folder of a job."""
    for number, words in enumerate((
        ("sim", "-p", "ddp8-healthy", "--ranks", 64, "--steps", 40, "-o"),
        ("merge", job, "-o"), ("pack", job, "-o"),
    )):
        for delay in (0, 0.01, 0.05):
            folder = work / f"write{ends}_{number}_{delay}"
            folder.mkdir()
            process = subprocess.Popen([STEPSCOPE, *map(str, words), str(folder / "out")],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

            def begun():
                inner = folder / "out" if words[0] == "pack" else folder
                return process.poll() is not None or \
                    (inner.is_dir() and unfinished(inner))

            check(wait_for(begun), "no file appears")
            time.sleep(delay)
            process.send_signal(ends)
            code = process.wait(60)
            left = names(folder)
            # it may have been done before the signal came
            check(code in (FINE, FAILED, INTERRUPTED, -ends), words[0], code)
            check(not unfinished(folder), words[0], "left", left)
            if code == FINE:
                check(left == ["out"], left)
            elif words[0] == "pack":
                # those that were whole by then stay, an empty folder does not
                packs = names(folder / "out") if left else ["none"]
                check(packs and not any(name.endswith(".part") for name in packs), packs)
            else:
                check(not left or left == ["out"], words[0], "left", left)


def stop_over_old(work):
    """A job is simulated over another one and stopped: the old one is whole."""
    folder = work / "again"
    folder.mkdir()
    job = simulate(folder / "job")
    whole = {path.name: path.read_bytes() for path in job.iterdir()}
    for ends in ENDS:
        process = subprocess.Popen([STEPSCOPE, "sim", "-p", "ddp8-healthy", "--ranks", "64",
                                    "--steps", "40", "-o", str(job)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(wait_for(lambda: unfinished(job)), "no folder appears")
        for _ in range(3):  # an impatient user
            process.send_signal(ends)
            time.sleep(0.001)
        code = process.wait(60)
        check(code == INTERRUPTED if ends == signal.SIGINT else code == -ends, "ended with", code)
        check({path.name: path.read_bytes() for path in job.iterdir()} == whole,
              "the old job is another", names(job))


def nohup(work, job):
    """A signal that was turned off stays so."""
    process = subprocess.Popen(
        [STEPSCOPE, "merge", str(job), "-o", str(work / "hup.json")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.01)
    check(process.returncode == FINE and is_whole(work / "hup.json"), process.returncode)


def killed(work, job):
    """What cannot be caught leaves the old file, or the new one."""
    folder = work / "killed"
    folder.mkdir()
    out = folder / "out.json"
    run("merge", job, "-o", out)
    whole = out.read_bytes()
    for wait_ms in range(0, 120, 6):
        process = subprocess.Popen([STEPSCOPE, "merge", str(job), "-o", str(out)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait_ms / 1000)
        process.kill()
        process.wait()
        check(out.read_bytes() == whole, "killed after", wait_ms, "ms")
    # what it left is in nobody's way: neither read nor in the next one's
    run("merge", job, "-o", out)
    check(out.read_bytes() == whole, "after a kill")


# --- two at once --------------------------------------------------------------------------------


def two_writers(work):
    one = simulate(work / "one", "--seed", 1)
    two = simulate(work / "two", "--seed", 2)
    folder = work / "both"
    folder.mkdir()
    out = folder / "out.json"
    wanted = set()
    for job in (one, two):
        run("merge", job, "-o", out)
        wanted.add(out.read_bytes())
    check(len(wanted) == 2, "the two jobs do not differ")
    for _ in range(5):
        both = [subprocess.Popen([STEPSCOPE, "merge", str(job), "-o", str(out)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for job in (one, two, one, two)]
        for process in both:
            errors = process.communicate()[1]
            check(process.returncode == FINE, errors)
        check(out.read_bytes() in wanted and names(folder) == ["out.json"], names(folder))
    # jobs of different sizes into one folder, new and old
    jobs = {ranks: {path.name: path.read_bytes() for path in
                    simulate(work / f"of{ranks}", "--ranks", ranks).iterdir()}
            for ranks in (2, 5)}
    for _ in range(4):
        both = [subprocess.Popen([STEPSCOPE, *SMALL, "--ranks", str(ranks), "-o",
                                  str(folder / "sim")],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for ranks in (2, 5, 2, 5)]
        for process in both:
            errors = process.communicate()[1]
            check(process.returncode == FINE, errors)
        left = {path.name: path.read_bytes() for path in (folder / "sim").iterdir()}
        check(left in jobs.values(), "a mixture", sorted(left))
        check(names(folder) == ["out.json", "sim"], names(folder))


def folders(work):
    """Other files of the folder stay, slashes at the end and links do not matter."""
    job = simulate(work / "kept")
    (job / "notes.txt").write_bytes(OLD)
    simulate(str(job) + "//", "--ranks", 3, "--plain")
    check(names(job) == ["notes.txt", "rank0.json", "rank1.json", "rank2.json", "truth.json"],
          names(job))
    (work / "empty").mkdir(mode=0o700)
    (work / "to_empty").symlink_to("empty")
    simulate(work / "to_empty")
    check(names(work / "empty") == ["rank0.json.gz", "rank1.json.gz", "truth.json"], "a link")
    check(stat.S_IMODE((work / "empty").stat().st_mode) == 0o700, "the folder's mode")
    run("sim", "-p", "gpu1-healthy", "-o", ".", cwd=simulate(work / "here"))
    check(names(work / "here") == ["rank0.json.gz", "truth.json"], names(work / "here"))


def main():
    os.umask(0o022)
    for ends in ENDS:  # what the shell turned off, as nohup does, would stay so
        signal.signal(ends, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        work.chmod(0o755)
        job = simulate(work / "job")
        for what, words, out in share(writers(work, job)):
            places(words, out)
            streams(words, out)
            refused_places(words, out)
            read_only(words, out)
            print("ok", what)
        inputs(work)
        # each of its files is larger than what there is room for
        large = work / "large"
        run(*LARGE, "--ranks", 2, "-o", large)
        full(work, large)
        has_disk = mounted(work, large)
        for ends in share(ENDS):
            stop_while_reading(work, ends)
            stop_while_writing(work, job, ends)
        stop_over_old(work)
        nohup(work, job)
        killed(work, job)
        two_writers(work)
        folders(work)
    print(f"outputs: {checks} checks" + ("" if has_disk else ", no disk could be mounted"))


if __name__ == "__main__":
    main()
