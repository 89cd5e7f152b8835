# SPDX-License-Identifier: Apache-2.0
"""inputs.py - small files of every kind, and how each command is called with them.

Runs are judged by the thousand, so files have some dozen events: a job of 4 ranks (plain, gzip,
zstd and plain), the same with packs, a file of each format, a snapshot of memory, and a simulated
and a recorded trace, which are larger.
"""
import gzip
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE.parent / "torch" / "recorded" / "validation_in_loop_fixed"
PAGE = "<html><body><p>viewer</p></body></html>"
# the smallest job that the simulator makes of this preset
SMALL = ("-p", "ddp8-slow", "--steps", "2", "--set",
         "layers=1,hidden=8,heads=1,vocabulary=8,sequence=16,batch=1,stack=0,shapes=0")


def slice_of(name, cat, pid, tid, start, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur,
            "args": args}


def step_of(rank, number):
    """A step of 1 ms: a batch, forward, a collective that all leave together, optimizer."""
    at, late, ids = 1000.0 * number, 40.0 * (rank == 2), 100 * number
    host = [
        slice_of(f"ProfilerStep#{number}", "user_annotation", 10, 10, at, 990),
        slice_of("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                 "user_annotation", 10, 10, at + 5, 200 + late),
        slice_of("train.py(33): next_batch", "python_function", 10, 10, at + 4, 203 + late,
                 **{"Python id": ids + 1}),
        slice_of("Optimizer.step#SGD.step", "user_annotation", 10, 10, at + 800, 100),
        slice_of("cudaDeviceSynchronize", "cuda_runtime", 10, 10, at + 920, 50,
                 correlation=ids + 90),
    ]
    device = []
    for i, (op, start, dur, kernel) in enumerate((
            ("aten::mm", 260 + late, 30, "sm80_xmma_gemm_f32f32_tn"),
            ("aten::relu", 300 + late, 20, "void at::native::vectorized_elementwise_kernel<4>"),
            ("aten::mm", 330 + late, 30, "sm80_xmma_gemm_f32f32_nn"),
            ("aten::copy_", 370 + late, 20, "Memcpy HtoD (Pinned -> Device)"),
            ("c10d::allreduce_", 420 + late, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
            ("aten::add_", 810, 20, "void at::native::multi_tensor_apply_kernel<4>"))):
        correlation = ids + i
        is_nccl, is_copy = kernel.startswith("nccl"), kernel.startswith("Memcpy")
        begin, end = start + 15, start + 75
        if is_nccl:
            end = 600
        host.append(slice_of(op, "cpu_op", 10, 10, at + start, dur, **{
            "External id": correlation, "Input Dims": [[64, 64], [64, 64]],
            "Input type": ["float", "float"], "Sequence number": i}))
        host.append(slice_of("cudaMemcpyAsync" if is_copy else "cudaLaunchKernel",
                             "cuda_runtime", 10, 10, at + start + 5, 8, correlation=correlation,
                             **{"External id": correlation}))
        args = {"device": rank, "stream": 20 if is_nccl else 7, "correlation": correlation,
                "External id": correlation, "grid": [8, 1, 1], "block": [128, 1, 1],
                "registers per thread": 32, "est. achieved occupancy %": 40}
        if is_nccl:
            args.update({"Collective name": "allreduce", "In msg nelems": 4096,
                         "Out msg nelems": 4096, "dtype": "Float", "Group size": 4,
                         "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"})
        if is_copy:
            args.update({"bytes": 65536, "memory bandwidth (GB/s)": 1.5})
        device.append(slice_of(kernel, "gpu_memcpy" if is_copy else "kernel", rank,
                               20 if is_nccl else 7, at + begin, end - begin, **args))
    for i, size in enumerate((4096, 8192, -4096)):
        host.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
                     "pid": 10, "tid": 10, "ts": at + 265 + 30 * i, "args": {
                         "Device Type": 1, "Device Id": rank, "Addr": 1000 + 100 * number + i % 2,
                         "Bytes": size, "Total Allocated": 8192 * number,
                         "Total Reserved": 1 << 20}})
    return host + device


def trace_of(rank):
    """What torch.profiler writes, of a rank that is one of four."""
    events = [{"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "ts": 0,
               "args": {"name": "python"}}]
    for number in (1, 2, 3):
        events += step_of(rank, number)
    return {
        "schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000,
        "deviceProperties": [{"id": rank, "name": "NVIDIA H100 80GB HBM3", "numSms": 132,
                              "totalGlobalMem": 85899345920, "maxThreadsPerMultiprocessor": 2048,
                              "warpSize": 32, "computeMajor": 9, "computeMinor": 0}],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 4, "pg_count": 1,
                            "pg_config": [{"pg_name": "0", "ranks": [0, 1, 2, 3]}],
                            "nccl_version": "2.21.5"},
        "with_stack": 1, "record_shapes": 1, "profile_memory": 1, "traceName": f"rank{rank}.json",
        "traceEvents": events,
    }


def write(path, text):
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True,
                              check=True).stdout
    path.write_bytes(data)


def snapshot_bytes(leaks):
    """A snapshot of a training loop; the simulated allocator writes what torch would."""
    sys.path.insert(0, str(HERE.parent / "memory"))
    from allocator import MIB, Allocator  # pylint: disable=import-outside-toplevel

    allocator = Allocator(256 * MIB)
    for step in range(4):
        frames = [{"name": "step", "filename": "train.py", "line": 10 + step % 2}]
        blocks = [allocator.malloc(size * MIB // 4, frames) for size in (3, 9, 50)]
        for block in blocks[leaks:]:
            allocator.free(block, frames)
    return pickle.dumps(allocator.snapshot(), protocol=4)


def make(work, stepscope):
    """Fills the folder; all paths in cases are relative to it."""
    endings = [".json", ".json.gz", ".json.zst" if shutil.which("zstd") else ".json.gz", ".json"]
    for folder in ("job", "packed", "beside", "single"):
        (work / folder).mkdir()
    for rank, ending in enumerate(endings):
        write(work / "job" / f"rank{rank}{ending}", json.dumps(trace_of(rank)))
    for rank in (0, 1):
        write(work / "packed" / f"rank{rank}.json", json.dumps(trace_of(rank)))
        write(work / "beside" / f"rank{rank}.json.gz", json.dumps(trace_of(rank)))
    for ending in set(endings):
        write(work / "single" / f"one{ending}", json.dumps(trace_of(0)))
    (work / "single" / "one.json").replace(work / "one.json")
    (work / "one.pickle").write_bytes(snapshot_bytes(1))
    (work / "two.pickle").write_bytes(snapshot_bytes(2))
    (work / "beside" / "snapshot.pickle").write_bytes(snapshot_bytes(1))
    (work / "page.html").write_text(PAGE)
    for words in (("pack", "packed"), ("sim", *SMALL, "--ranks", "2", "-o", "simulated"),
                  ("redact", "one.json", "-o", "copies", "--key", "key")):
        subprocess.run([stepscope, *words], cwd=work, check=True, capture_output=True)
    shutil.copy(next(RECORDED.glob("*.json.gz")), work / "recorded.json.gz")


def commands(stepscope):
    """All that help lists: a new command is called without being named here."""
    text = subprocess.run([stepscope, "help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z][a-z-]*)  +\S", text, re.MULTILINE)


OLD = "out/old.json"  # what is there before a run that replaces it

# Commands that are not called with one path; each list is one way to call it.
SPECIAL = {
    "what-if": [["job"], ["job", "--fix", "launch-bound"], ["simulated", "--format", "json"]],
    "diff": [["job", "packed"], ["one.json", "recorded.json.gz", "--view", "operators"],
             ["simulated", "job", "--format", "json"]],
    "explain": [[], ["straggler"], ["--format", "json"], ["straggler", "--format", "markdown"]],
    "ask": [["view/diagnose", "job"], ["search?q=mm", "job"], ["job", "beside"],
            ["tiles?file=0&tracks=0,1&from=0&to=3000000&pixels=100", "job"],
            ["strips?files=0,1&from=0&to=3000000&pixels=50", "job"],
            ["tracks?file=0", "packed"], ["slice?file=0&row=3", "one.json"],
            ["range?files=0&from=0&to=3000000", "one.json"], ["snapshot", "beside"],
            ["offers", "one.json"]],
    "report": [["job", "--page", "page.html", "-o", "out/new.html"],
               ["beside", "--page", "page.html", "-o", OLD], ["packed", "-o", "out/new.html"],
               ["job", "--compare", "packed", "--page", "page.html", "-o", "-"]],
    "merge": [["job", "-o", "out/new.json"], ["job", "-o", OLD],
              ["job", "-o", "out/new.json.gz", "--no-sandbox"],
              ["job", "-o", "-"]],
    "slice": [["job", "--rank", "0", "--step", "0", "-o", "out/new.json"],
              ["one.json", "--step", "0", "-o", OLD]],
    "export": [["job", "--perfetto", "out/new.pftrace"], ["packed", "--perfetto", OLD],
               ["one.json", "--folded", "out/new.folded.gz", "--no-sandbox"]],
    "mcp": [],  # its calls come over standard input: tests/mcp
    "pack": [["job", "-o", "out/packs"], ["one.json", "-o", "out"], ["beside", "-o", "out/packs"]],
    # not of packs: it names what it read, and that is the trace where a pack cannot be opened
    "digest": [["job", "-o", "out/digests"], ["one.json", "-o", "out", "--no-sandbox"]],
    "check": [["job", "--fail-if", "gpu_busy_percent < 0"],
              ["simulated", "--fail-if", "gpu_busy_percent < 0", "--format", "json"], ["--list"]],
    # with a key, so that the same comes out each time
    "redact": [["one.json", "-o", "out/copy.json", "--key", "key", "--force", "--no-sandbox"],
               ["beside", "-o", "out/copies", "--key", "key", "--force"],
               ["job", "-o", "out/copies", "--key", "key", "--list", "out/list", "--force"]],
    "snapshot": [["one.pickle"], ["one.pickle", "holders"], ["one.pickle", "two.pickle"],
                 ["one.pickle", "timeline", "--format", "json"], ["one.json", "allocations"],
                 ["beside/snapshot.pickle", "summary"]],
    "sim": [[*SMALL, "--ranks", "2", "-o", "out/sim"],
            [*SMALL, "--ranks", "2", "--plain", "-o", "out/old_sim"],
            ["--list"], ["--list-causes", "--format", "json"]],
    "demo": [["-o", "out/demo"]],
    "help": [[], ["diagnose"]],
    "manual": [[]],
    # what needs no DuckDB: faults inside of it are not ours
    "sql": [[".tables"], [".schema", "slices", "--format", "json"], [".schema"]],
    "store": [["columns"], ["columns", "--json"]],
    "watch": [],
    "record": [],  # needs live numbers: tests/cli/live.py
    "completion": [["bash"], ["zsh"], ["fish"]],
    "schema": [[], ["steps"]],
    "version": [[], ["--json"]],
}

# How a command is called that is not among them.
COMMON = [["job"], ["job", "--format", "json", "--no-sandbox"], ["packed", "--threads", "1"],
          ["one.json", "--no-sandbox"], ["single", "--format", "csv", "--no-sandbox"],
          ["recorded.json.gz", "--top", "3", "--no-sandbox"],
          ["beside", "--format", "markdown"]]
REPORTS = ("overview", "info", "hang", "live")  # several tables, hence no CSV
SERVED = [["beside", "--no-browser", "--port", "0"],
          ["packed", "--no-browser", "--port", "0", "--no-sandbox"]]


def cases(stepscope):
    """(command, words) of all runs."""
    for command in commands(stepscope):
        for words in SERVED if command == "serve" else SPECIAL.get(command, COMMON):
            if command in REPORTS and "csv" in words:
                continue
            yield command, [command, *words]


def prepare(work, words):
    """Empties out/, and puts there what the run is to replace."""
    out = work / "out"
    if out.exists():
        shutil.rmtree(out)
    out.mkdir()
    if OLD in words:
        (work / OLD).write_text("what was there before")
    if "out/old_sim" in words:
        old = out / "old_sim"
        old.mkdir()
        (old / "truth.json").write_text('{"schema":"stepscope.sim.truth/1"}')
        (old / "rank7.json").write_text("of a job of more ranks")
        (old / "notes.txt").write_text("not ours")


def found(work):
    """Path to bytes of what is in out/; folders have none."""
    result = {}
    for folder, folders, files in os.walk(work / "out"):
        for name in folders:
            result[os.path.join(folder, name)] = None
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                result[os.path.join(folder, name)] = file.read()
    return result
