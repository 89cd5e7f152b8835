# SPDX-License-Identifier: Apache-2.0
"""What can go wrong around a recording, each in a process of its own; one line of JSON for each.

scenarios.py [NAME...]
"""

import contextlib
import ctypes
import importlib
import inspect
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

import disk
import torch
import training
from stepscope.torch import profile, trace_handler
from training import OPTIONS, train

OUT = "/mnt/out"
NOBODY = 65534


def plain(folder):
    return train()


def recorded(folder):
    with profile(folder, **OPTIONS) as prof:
        return train(prof)


def verdict(folder):
    with profile(folder, **{**OPTIONS, "verdict": True}) as prof:
        return train(prof)


def memory(folder):
    with profile(folder, memory=True, **OPTIONS) as prof:
        return train(prof)


def repeated(folder):
    with profile(folder, repeat=2, **{**OPTIONS, "wait": 0}) as prof:
        return train(prof)


def same_folder_again(folder):
    for _ in range(2):
        with profile(folder, **{**OPTIONS, "verdict": True}) as prof:
            loss = train(prof)
    return loss


def handler(folder):
    with torch.profiler.profile(
        schedule=torch.profiler.schedule(wait=2, warmup=1, active=2, repeat=1),
        on_trace_ready=trace_handler(folder, verdict=False),
    ) as prof:
        return train(prof)


def not_enabled(folder):
    with profile(folder, enabled=False) as prof:
        return train(prof)


# disks


def folder_is_a_file(folder):
    with open(folder, "w") as out:
        out.write("mine")
    return recorded(folder)


def folder_below_a_file(folder):
    with open(folder, "w") as out:
        out.write("mine")
    return recorded(f"{folder}/deep")


def folder_vanishes(folder):
    os.makedirs(folder)
    with profile(folder, **OPTIONS) as prof:
        return train(prof, lambda step: step == 3 and shutil.rmtree(folder))


def no_permission(folder):
    os.makedirs(folder, mode=0o700)
    os.setuid(NOBODY)
    return recorded(folder)


def disk_fails(folder):
    server = disk.mount_failing(folder)
    loss = recorded(folder)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    return loss


def disk_hangs(folder):
    server = disk.mount_failing(folder, answers=False)
    loss = recorded(folder)
    os.kill(server, signal.SIGKILL)  # lets go of who waits for the disk
    os.waitpid(server, 0)
    return loss


def disk_begins_to_hang(folder):
    servers = []

    def each(step):
        if step == 3:
            servers.append(disk.mount_failing(folder, answers=False))

    begin = time.monotonic()
    with profile(folder, **{**OPTIONS, "limit_s": 2}) as prof:
        loss = train(prof, each)
        trained_s = time.monotonic() - begin
    print(json.dumps({"trained_s": trained_s, "all_s": time.monotonic() - begin}))
    os.kill(servers[0], signal.SIGKILL)
    os.waitpid(servers[0], 0)
    return loss


def disk_is_full(folder):
    disk.mount_small(folder, "4k")
    with open(f"{folder}/mine", "w") as out:
        out.write("x" * 4096)
    loss = recorded(folder)
    os.unlink(f"{folder}/mine")
    return loss


def disk_becomes_full(folder):
    """The compressed trace does not fit, by one page."""
    with profile(f"{OUT}/measured", **OPTIONS) as prof:
        train(prof)
    size = os.path.getsize(f"{OUT}/measured/{os.listdir(f'{OUT}/measured')[0]}")
    disk.mount_small(folder, (size - 2048) // 4096 * 4096)
    return recorded(folder)


def local_disk_is_full(folder):
    disk.mount_small(f"{OUT}/local", "16k")
    tempfile.tempdir = f"{OUT}/local"
    loss = recorded(folder)
    assert os.listdir(f"{OUT}/local") == []
    return loss


def no_local_disk(folder):
    tempfile.tempdir = "/dev/null/x"
    return recorded(folder)


def disk_becomes_read_only(folder):
    disk.mount_small(folder, "4m")

    def each(step):
        if step == 3:
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)

    with profile(folder, **OPTIONS) as prof:
        return train(prof, each)


# signals and processes


def group_gets_signals(folder):
    """As a terminal and Slurm do; the user's handlers let training go on."""
    got = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, lambda number, frame: got.append(number))

    def each(step):
        if step == 4:  # the trace is being written
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
                os.killpg(0, number)

    with profile(folder, **OPTIONS) as prof:
        loss = train(prof, each)
    assert len(got) == 4, got
    return loss


def ended_by_sigterm(folder):
    def each(step):
        if step == 4:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)

    with profile(folder, **OPTIONS) as prof:
        train(prof, each)


def writer_is_killed(folder):
    """The kernel chooses it when memory runs out."""

    def each(step):
        if step == 4:
            while not (there := children()):
                time.sleep(0.001)
            os.kill(int(there[0]), signal.SIGKILL)

    with profile(folder, **OPTIONS) as prof:
        return train(prof, each)


def fork_in_the_loop(folder):
    def each(step):
        child = os.fork()
        if child == 0:
            sys.exit(0)  # through the with statement
        assert os.waitpid(child, 0)[1] == 0

    with profile(folder, **OPTIONS) as prof:
        return train(prof, each)


def forked_child_steps(folder):
    with profile(folder, **OPTIONS) as prof:
        def each(step):
            if step == 3:
                child = os.fork()
                if child == 0:
                    for _ in range(20):
                        prof.step()
                    prof.stop()
                    os._exit(7)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

        return train(prof, each)


def workers(folder):
    with profile(folder, **OPTIONS) as prof:
        return train(prof, workers=2)


def multiprocessing_fork(folder):
    import multiprocessing

    context = multiprocessing.get_context("fork")

    def each(step):
        with context.Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]

    with profile(folder, **OPTIONS) as prof:
        return train(prof, lambda step: step in (2, 4) and each(step))


def handler_waits_for_children(folder):
    def reap(number, frame):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    signal.signal(signal.SIGCHLD, reap)
    return recorded(folder)


def children_are_ignored(folder):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return recorded(folder)


def no_more_processes(folder):
    os.makedirs(folder, mode=0o777)
    os.chmod(folder, 0o777)
    os.setuid(NOBODY)
    with profile(folder, **OPTIONS) as prof:
        return train(
            prof, lambda step: step == 3 and resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        )


def many_files(folder):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(1500)]
    loss = recorded(folder)
    for number in kept:
        os.close(number)
    return loss


# how it is called


def interrupted(folder):
    begin = time.monotonic()
    try:
        with profile(folder, **OPTIONS) as prof:
            train(prof, lambda step: step == 3 and os.kill(os.getpid(), signal.SIGINT))
    except KeyboardInterrupt:
        print(json.dumps({"took_s": time.monotonic() - begin}))
        return train()


def loop_fails(folder):
    problem = ValueError("mine")

    def each(step):
        if step == 6:
            raise problem

    try:
        with profile(folder, **OPTIONS) as prof:
            train(prof, each)
    except ValueError as error:
        assert error is problem and error.__context__ is None and error.__cause__ is None
        return train()


def nested(folder):
    with profile(folder, **OPTIONS) as prof, profile(f"{folder}.inner", **OPTIONS) as inner:
        return train(prof, lambda step: inner.step())


def twice(folder):
    prof = profile(folder, **OPTIONS)
    for _ in range(2):
        with prof:
            loss = train(prof)
    return loss


def started_twice(folder):
    with profile(folder, **OPTIONS) as prof:
        prof.start()
        loss = train(prof)
        prof.stop()
    prof.stop()
    return loss


def other_profiler_outside(folder):
    with torch.profiler.profile() as outer:
        with profile(folder, **OPTIONS) as prof:
            loss = train(prof)
    assert len(outer.events()) > 100, len(outer.events())
    return loss


def other_profiler_inside(folder):
    def each(step):
        if step == 3:
            with torch.profiler.profile():
                pass

    with profile(folder, **OPTIONS) as prof:
        return train(prof, each)


def never_stepped(folder):
    with profile(folder, **OPTIONS):
        return train()


def too_few_steps(folder):
    with profile(folder, **{**OPTIONS, "wait": 100}) as prof:
        return train(prof)


def ends_while_recording(folder):
    with profile(folder, **{**OPTIONS, "steps": 100}) as prof:
        return train(prof)


def step_in_a_thread(folder):
    with profile(folder, **OPTIONS) as prof:
        def each(step):
            other = threading.Thread(target=prof.step)
            other.start()
            other.join()

        return train(None, each)


def threads(folder):
    """Threads that compute, fork nothing and hold locks while the trace is handed over."""
    stop, lock = threading.Event(), threading.Lock()

    def work():
        while not stop.is_set():
            with lock:
                torch.ones(64, 64) @ torch.ones(64, 64)
            warnings.warn("busy", stacklevel=1)

    others = [threading.Thread(target=work) for _ in range(4)]
    for other in others:
        other.start()
    loss = recorded(folder)
    stop.set()
    for other in others:
        other.join()
    return loss


def bad_arguments(folder):
    for options in (
        {"steps": "x"}, {"steps": 0}, {"wait": -1}, {"limit_s": "x"}, {"repeat": None},
    ):
        with profile(folder, **options) as prof:
            loss = train(prof)
    for bad in (None, 3.5, "\0", ""):
        with profile(bad, **OPTIONS) as prof:
            assert train(prof) == loss
        trace_handler(bad, verdict=False)(None)
    return loss


def warnings_are_errors(folder):
    warnings.simplefilter("error")
    with open(folder, "w"):
        return recorded(folder)


def no_standard_files(folder):
    sys.stdout = sys.stderr = None
    with profile(folder, **{**OPTIONS, "verdict": True}) as prof:
        loss = train(prof)
    sys.stdout = sys.__stdout__
    return loss


def in_a_coroutine(folder):
    import asyncio

    async def main():
        with profile(folder, **OPTIONS) as prof:
            loss = train(prof)
            await asyncio.sleep(0)
            return loss

    return asyncio.run(main())


def in_a_generator(folder):
    def epochs():
        with profile(folder, **OPTIONS) as prof:
            yield train(prof)
            yield None

    return next(epochs())  # closed by Python when nobody needs it


def forked(folder):
    with profile(folder, fork=True, **OPTIONS) as prof:
        return train(prof)


def fork_ends_the_process(folder):
    """A library that does not allow fork, as libfabric's EFA provider may: nothing forks."""
    libc = ctypes.CDLL(None)
    libc.__register_atfork(ctypes.cast(libc.abort, ctypes.c_void_p), None, None, None)
    with profile(folder, **{**OPTIONS, "verdict": True}) as prof:
        return train(prof)


def slower_afterwards(folder):
    """As if CUPTI had stayed: the steps after the recording take longer."""
    options = {**OPTIONS, "wait": 26, "repeat": 2}

    def each(step):
        time.sleep(0.02 if step < 29 else 0.04)

    with profile(folder, **options) as prof:
        train(prof, each, steps=70)
    return recorded(f"{folder}.again")


def not_slower_afterwards(folder):
    with profile(folder, **{**OPTIONS, "wait": 8}) as prof:
        train(prof, lambda step: time.sleep(0.02), steps=40)
    return recorded(folder)


def children():
    """The children of all threads of this process."""
    numbers = []
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as there:
            numbers += there.read().split()
    return numbers


def dead_children():
    """Children that have ended and that nobody waits for, after a moment in which they may be."""
    for _ in range(20):
        dead = []
        for child in children():
            with contextlib.suppress(OSError), open(f"/proc/{child}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    dead.append(child)
        if not dead:
            break
        time.sleep(0.05)
    return dead


def run(name, function):
    """In a process of its own, whose words go to a file."""
    folder, said, local = f"{OUT}/{name}", f"{OUT}/{name}.said", f"{OUT}/{name}.tmp"
    os.mkdir(local)
    os.chmod(local, 0o777)
    tempfile.tempdir = local
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        me = os.getpid()
        file = os.open(said, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.umask(0)
        code = 1
        try:
            loss = function(folder)
            zombies = len(dead_children())
            print(json.dumps({"loss": loss, "zombies": zombies}), file=sys.__stdout__, flush=True)
            code = 0
        except BaseException as error:
            if os.getpid() != me:
                # a process that the scenario forked; PyTorch hangs in the normal end of such a one
                os._exit(0 if isinstance(error, SystemExit) else 1)
            traceback.print_exc()
        if code == 0:
            sys.exit(0)
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    end = time.monotonic() + 10
    while time.monotonic() < end and any(
        entry.startswith("stepscope.") for entry in os.listdir(local)
    ):
        time.sleep(0.1)  # a helper outlives a process that was ended
    words = open(said).read()
    facts = {}
    for line in words.splitlines():
        if line.startswith("{"):
            facts.update(json.loads(line))
    try:
        files = sorted(os.listdir(folder))
    except OSError:
        files = []
    return {"name": name, "exit": code, "said": words, "files": files, **facts}


def main():
    names = {
        name: function
        for name, function in globals().items()
        if inspect.isfunction(function)
        and list(inspect.signature(function).parameters) == ["folder"]
    }
    with contextlib.suppress(ImportError):  # optimizers import it; here once for all processes
        importlib.import_module("torch._dynamo")

    torch.set_num_threads(1)
    for name in sys.argv[1:] or names:
        print(json.dumps(run(name, names[name])), flush=True)


if __name__ == "__main__":
    main()
