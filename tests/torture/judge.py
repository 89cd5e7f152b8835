# SPDX-License-Identifier: Apache-2.0
"""judge.py - runs the program with one fault, and says whether what came out may be.

A run with a fault gives the same as one without, or what it gives is right and a sentence says
what is missing, or it fails with one sentence that names the reason. Nothing else: no signal, no
silence, no other figure, no part of a file under a final name, nothing left behind.
"""
import errno
import os
import re
import select
import signal
import subprocess

SAME, NOTED, FAILED = "same", "noted", "sentence"
ENOMEM, EINTR, EIO, ENOSPC = errno.ENOMEM, errno.EINTR, errno.EIO, errno.ENOSPC
SHORT = 0
# what calls of a family can fail with
KINDS = {
    "memory": (ENOMEM,), "shrink": (ENOMEM,), "map": (ENOMEM,), "thread": (errno.EAGAIN,),
    "read": (SHORT, EINTR, EIO), "write": (SHORT, EINTR, EIO, ENOSPC),
    "open": (errno.EMFILE, errno.EACCES, EIO), "stat": (errno.EACCES, EIO),
    "folder": (errno.EMFILE, EIO), "rename": (errno.EACCES, EIO, ENOSPC),
    "unlink": (errno.EACCES, EIO), "sync": (EINTR, EIO, ENOSPC), "close": (EINTR, EIO),
    "random": (errno.ENOSYS, EIO), "net": (EINTR, errno.EMFILE, errno.EACCES),
    "transfer": (SHORT, EINTR, errno.ECONNRESET),
}  # fmt: skip
CPU_SECONDS = 6
WALL_SECONDS = 240  # of a busy machine; a run takes milliseconds
# seconds that were measured, and what follows from them
TIMED = re.compile(rb"\d+\.\d+ s\b|\(\d+\.\d+ M events/s\)|\"load_seconds\":[0-9.]+"
                   rb"|\bin \d+\.\d+ m?s\b|\"seconds\":[0-9.]+")


class Fault:
    """One fault: `number` of the family's calls fails with `kind`, or all from there on."""

    def __init__(self, family, kind, number, ever):
        self.family, self.kind, self.number, self.ever = family, kind, number, ever

    def __str__(self):
        return f"{self.family}:{self.kind}:{self.number}{'+' if self.ever else ''}"

    def is_harmless(self):
        """The kernel does this to programs in good order, which must not show."""
        return (self.kind in (SHORT, EINTR) or self.family == "thread") and \
            self.family not in ("net", "random")

    def words(self):
        return "memory" if self.kind == ENOMEM else os.strerror(self.kind)


class Result:
    """What one run left."""

    def __init__(self, code, out, err, files, log):
        self.code, self.err, self.files = code, err.decode(errors="replace"), files
        self.raw, self.out, self.log = out, TIMED.sub(b"T", out), log

    def hit(self):
        found = re.search(r"^hit (\w+)$", self.log, re.MULTILINE)
        return found[1] if found else None

    def counts(self):
        return {name: int(count) for name, count in re.findall(r"calls (\w+) (\d+)", self.log)}


class Program:
    """The program with the library before it."""

    def __init__(self, stepscope, library, work):
        self.stepscope, self.library, self.work = stepscope, library, work
        self.log = work / "log"

    def environment(self, fault=None, refuse=None):
        # memory that was freed or never filled holds rubbish
        extra = {"LD_PRELOAD": self.library, "STEPSCOPE_FAULT_LOG": str(self.log),
                 "STEPSCOPE_FAULT_SECONDS": str(CPU_SECONDS), "MALLOC_PERTURB_": "165",
                 "LC_ALL": "C"}
        if fault:
            extra["STEPSCOPE_FAULT"] = str(fault)
        if refuse:
            extra["STEPSCOPE_FAULT_OPEN"] = f"{refuse[0]}:" + ",".join(refuse[1])
        return {**{name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
                **extra}

    def copies(self, words):
        return Copies(self, words)

    def run(self, words, find, **how):
        self.log.write_text("")
        with subprocess.Popen([self.stepscope, *words], cwd=self.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(**how)) as process:
            try:
                out, err = process.communicate(timeout=WALL_SECONDS)
                code = process.returncode
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                code = "hang"
        return Result(code, out, err, find(self.work), self.log.read_text())


class Copies:
    """The program, loaded once; each run is a copy of the process (see faults.c)."""

    def __init__(self, program, words):
        self.work = program.work
        self.paths = [program.work / name for name in ("copy.out", "copy.err", "copy.log")]
        environment = program.environment()
        environment["STEPSCOPE_FAULT_SERVER"] = ",".join(map(str, self.paths))
        self.process = subprocess.Popen([program.stepscope, *words], cwd=program.work,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                        env=environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def line(self):
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], WALL_SECONDS)[0]:
                return None
            text += self.process.stdout.read(1)
        return int(text)

    def run(self, fault, find):
        self.process.stdin.write(f"{fault}\n".encode())
        copy = self.line()
        code = self.line()
        if code is None:
            os.kill(copy, signal.SIGKILL)
            self.line()
            code = "hang"
        out, err, log = (path.read_bytes() for path in self.paths)
        return Result(code, out, err, find(self.work), log.decode())


def new_lines(result, reference):
    """What a run says on stderr that the reference does not."""
    known = reference.err.splitlines()
    return [line for line in result.err.splitlines() if line not in known]


NOTE = re.compile(r"stepscope: \d+ (files?|packs?) could not be read")
LEFT_OUT = re.compile(r"could not be read|[1-9]\d* of \d+ files unreadable")
TEMPORARY = re.compile(r"\.stepscope\.[0-9a-f]{16}\.part")


def leftovers(result):
    return [path for path in result.files if TEMPORARY.search(path)]


def files_may_be(result, before, after):
    """Each file is as it was before, or as it is to be; no name is new."""
    for path in set(result.files) | set(before):
        has = result.files.get(path, "none")
        if has != before.get(path, "none") and has != after.get(path, "none"):
            return False
    return True


def judge_failure(result, reference, fault, before):
    """What is wrong with a run that failed; None: nothing."""
    lines = [line for line in new_lines(result, reference) if not NOTE.match(line)]
    # one that fails does not stop the others
    several = reference.command in ("pack", "redact", "digest")
    if not lines:
        return "no sentence"
    if len(lines) > 1 and not several:
        return "more than one sentence"
    for line in lines:
        if not re.match(r"stepscope( [a-z-]+)?: \S", line):
            return "not a sentence of ours"
        if fault.words() not in line:
            return "the reason is not named"
    if leftovers(result) and fault.family != "unlink":
        return "a temporary was left behind"
    if fault.family == "unlink":
        result.files = {path: data for path, data in result.files.items()
                        if not TEMPORARY.search(path)}
    if not files_may_be(result, before, reference.files):
        return "neither the old files nor the new ones"
    return None


def is_equal(result, reference):
    return result.code == reference.code and result.out == reference.out and \
        result.files == reference.files


def says_the_same(result, reference):
    """What is said about an output goes to stderr where it is not known that stdout is another."""
    def lines(one):
        return sorted(one.out.decode(errors="replace").splitlines() + one.err.splitlines())
    return result.code == reference.code and result.files == reference.files and \
        lines(result) == lines(reference)


def judge(result, reference, fault, before, variants):
    """(kind of result, None) or (None, what is wrong). `variants` makes the results that are
    right when some of the files cannot be read."""
    if result.code == "hang":
        return None, "hang"
    if result.code < 0:
        return None, f"signal {-result.code}"
    if "Sanitizer" in result.err or "runtime error" in result.err or "Assertion" in result.err:
        return None, "a report of a sanitizer"
    if fault.family == "unlink" and result.code == 0:  # what cannot be removed stays
        result.files = {path: data for path, data in result.files.items()
                        if not TEMPORARY.search(path)}
    if fault.family == "stat" and says_the_same(result, reference):
        return NOTED, None
    if is_equal(result, reference):
        if fault.is_harmless() and new_lines(result, reference):
            return None, "words about a fault that is none"
        return (NOTED if new_lines(result, reference) else SAME), None
    if fault.is_harmless():
        return None, "another result"
    if result.code == 1:
        wrong = judge_failure(result, reference, fault, before)
        return (None, wrong) if wrong else (FAILED, None)
    if result.code != reference.code:
        return None, f"exit code {result.code}"
    if not LEFT_OUT.search(result.err) and not LEFT_OUT.search(result.out.decode(errors="replace")):
        return None, "another result"
    if any(is_equal(result, variant) and result.err == variant.err for variant in variants()):
        return NOTED, None
    return None, "another result" + (" with a note" if new_lines(result, reference) else "")
