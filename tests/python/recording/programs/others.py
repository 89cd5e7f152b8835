# SPDX-License-Identifier: Apache-2.0
"""The flight recorder with gloo, and memory snapshots without and with a simulated GPU.

Without a GPU and NCCL nothing dumps by itself: that PyTorch takes the size of its record from the
environment is shown with gloo; that NCCL's watchdog writes to the prefix is not. Of memory
snapshots the calls into PyTorch are simulated (SNAPSHOT is a real one); names, files and limits
are real.
"""

import json
import os
import pickle
import sys
import warnings

import torch
import torch.distributed as dist
from stepscope.torch import flight_recorder, memory_snapshot

OUT = "/mnt/out"


def flight():
    os.environ["TORCH_NCCL_TRACE_BUFFER_SIZE"] = "12"  # the user's own, by its old name
    flight_recorder(f"{OUT}/flight", events=99)
    settings = {name: value for name, value in os.environ.items() if "TORCH_" in name}
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000))
    dist.init_process_group("gloo", rank=0, world_size=1)
    for _ in range(40):
        dist.all_reduce(torch.ones(4))
    entries = pickle.loads(torch._C._distributed_c10d._dump_fr_trace())["entries"]
    with warnings.catch_warnings(record=True) as late:
        warnings.simplefilter("always")
        flight_recorder(f"{OUT}/flight")
        flight_recorder("/dev/null/x")
    dist.destroy_process_group()
    with warnings.catch_warnings(record=True) as bad:
        warnings.simplefilter("always")
        for folder, events in (("/dev/null/x", 5), (None, 5), (f"{OUT}/flight", "x")):
            flight_recorder(folder, events=events)
    return {
        "settings": settings,
        "entries": len(entries),
        "late": len(late),
        "bad": len(bad),
        "there": os.path.isdir(f"{OUT}/flight"),
    }


def memory_without_gpu():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        history = memory_snapshot(f"{OUT}/memory")
        history.write()
        history.stop()
        memory_snapshot(None)
    return [str(each.message) for each in said]


def memory_with_simulated_gpu(snapshot):
    calls, observers = [], []
    torch.cuda.is_available = lambda: True
    torch._C._cuda_isHistoryEnabled = lambda: False
    torch.cuda.memory._record_memory_history = lambda *a, **k: calls.append(k)
    torch.cuda.memory._snapshot = lambda: snapshot
    torch._C._cuda_attach_out_of_memory_observer = observers.append
    history = memory_snapshot(f"{OUT}/memory", max_events=1000, stacks="python")
    for _ in range(5):
        observers[0](0, 1 << 30, 1 << 34, 1 << 20)
        history._writer.ended.wait(60)
    history.stop()
    observers[0](0, 1 << 30, 1 << 34, 1 << 20)
    return {"calls": calls, "files": sorted(os.listdir(f"{OUT}/memory"))}


with open(f"{OUT}/{sys.argv[1]}", "rb") as source:
    real = pickle.load(source)
print(json.dumps({
    "flight": flight(),
    "no_gpu": memory_without_gpu(),
    "simulated": memory_with_simulated_gpu(real),
}))
