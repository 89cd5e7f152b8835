# SPDX-License-Identifier: Apache-2.0
"""Four ranks that are recorded while something goes wrong: survive.py CASE...

Each rank is a process of its own, which ends with its own exit code. For each case a line of JSON
has the codes, the digests of the losses, what the ranks said, and the files. A case whose name ends
with _off is the same without a recorder.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import disk
import torch
import torch._dynamo  # noqa: F401 - before the fork, once for all
import training

OUT = "/mnt/out"
WORLD = 4
STEPS = 14
LAST = 7  # the step whose end hands the trace over: steps 5 to 7 are recorded
OPTIONS = {"wait": 4, "warmup": 1, "steps": 3, "limit_s": 20}
ODD = 2  # the rank to which something happens


class MyError(Exception):
    """What the loop of the user raises."""


def helpers():
    """The helper processes of this one."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as there:
            found += map(int, there.read().split())
    return found


def kill_helper(rank, step):
    if rank == ODD and step == LAST:
        while not (there := helpers()):
            time.sleep(0.001)
        os.kill(there[0], signal.SIGKILL)


def stop_rank(rank, step):
    """Two seconds of nothing, just after the trace was handed over."""
    if rank == ODD and step == LAST:
        subprocess.Popen(["sh", "-c", f"sleep 2; kill -CONT {os.getpid()}"])
        os.kill(os.getpid(), signal.SIGSTOP)


def raise_error(rank, step):
    if rank == ODD and step == LAST + 2:
        raise MyError("mine")


def raise_while_recording(rank, step):
    if rank == ODD and step == LAST - 1:
        raise MyError("mine")


def end_rank(rank, step):
    """As a scheduler does it to one rank while its trace is being written."""
    if rank == ODD and step == LAST:
        os.kill(os.getpid(), signal.SIGKILL)


def second_profiler(rank, step):
    if rank == ODD and step == LAST - 1:
        with torch.profiler.profile():
            pass


EACH = {
    "helper_killed": kill_helper,
    "rank_stopped": stop_rank,
    "exception": raise_error,
    "exception_while_recording": raise_while_recording,
    "rank_killed": end_rank,
    "second_profiler": second_profiler,
}


def prepare(case, traces, local):
    """Before the ranks start: disks."""
    os.makedirs(traces)
    os.makedirs(local)
    if case == "full_disk":
        disk.mount_small(traces, "24k")
    elif case == "full_local_disk":
        disk.mount_small(local, "64k")
    elif case == "read_only_folder":
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "t", traces], check=True)


def forbid_fork():
    """What libfabric's EFA provider does: prov/efa/src/efa_fork_support.c."""
    libc = ctypes.CDLL(None)
    libc.__register_atfork(ctypes.cast(libc.abort, ctypes.c_void_p), None, None, None)


def train(rank, case, traces):
    import torch.distributed as dist
    from stepscope.torch import profile

    if case.startswith("fork"):
        forbid_fork()
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    network = torch.nn.parallel.DistributedDataParallel(training.model())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    data = training.Numbers(8 * STEPS * WORLD)
    sampler = torch.utils.data.DistributedSampler(data, WORLD, rank, shuffle=False)
    digest = hashlib.sha256()
    inner = None
    options = {**OPTIONS, "enabled": not case.endswith("_off"), "fork": case == "fork_asked_for"}
    if case == "wrong_argument":
        options["steps"] = "three"
    each = EACH.get(case.removesuffix("_off"), lambda rank, step: None)
    with profile(traces, **options) as prof:
        if case == "two_recorders":
            inner = profile(f"{traces}.inner", **OPTIONS)
            inner.start()
        loader = torch.utils.data.DataLoader(data, batch_size=8, sampler=sampler)
        for step, (numbers, labels) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(network(numbers), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            digest.update(loss.detach().numpy().tobytes())
            prof.step()
            if inner is not None:
                inner.step()
            each(rank, step)
    print(json.dumps({"rank": rank, "digest": digest.hexdigest()}), flush=True)
    dist.destroy_process_group()


def run_rank(rank, case, folder):
    file = os.open(f"{folder}/rank{rank}.said", os.O_RDWR | os.O_CREAT, 0o666)
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        train(rank, case, f"{folder}/traces")
    except MyError:
        print("MyError was raised", flush=True)
        sys.exit(5)
    except Exception:  # peers of a rank that has ended
        traceback.print_exc()
        sys.exit(6)
    sys.exit(0)


def run(case, number):
    folder = f"{OUT}/{case}"
    traces, local = f"{folder}/traces", f"{folder}/local"
    prepare(case, traces, local)
    port = 20000 + (os.getpid() + number) % 20000
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TMPDIR=local)
    tempfile.tempdir = None
    begin = time.monotonic()
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            run_rank(rank, case, folder)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    took_s = time.monotonic() - begin
    end = time.monotonic() + 20  # a helper outlives a rank that was ended
    while time.monotonic() < end and (os.listdir(local) or any(
        name.startswith(".") for name in os.listdir(traces)
    )):
        time.sleep(0.1)
    said = [open(f"{folder}/rank{rank}.said").read() for rank in range(WORLD)]
    digests = [json.loads(line)["digest"] for each in said for line in each.splitlines()
               if line.startswith("{")]
    return {"case": case, "codes": codes, "digests": digests, "said": said, "took_s": took_s,
            "files": sorted(os.listdir(traces)), "local": os.listdir(local)}


def main():
    for number, case in enumerate(sys.argv[1:]):
        print(json.dumps(run(case, number)), flush=True)


main()
