# SPDX-License-Identifier: Apache-2.0
"""Sums of times that do not fit into 64 bits: every view on weeks and on moments far apart."""
import json
import os
import pathlib

from hostile_input.running import Failed, strict_json

WEEK_US = 7 * 24 * 3600 * 10**6
# 15,251 weeks are more nanoseconds than fit
WEEKS = 16000
# columns that may be negative: moments, differences
SIGNED = ("start", "end", "offset", "error", "drift", "at_ns", "gain", "change", "difference",
          "kernel_wait")


def complete(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def group(rank):
    return {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1 << 40,
            "Out msg nelems": 1 << 40, "Group size": 2, "Process Group Name": "0",
            "Process Group Ranks": "[0, 1]", "Rank": rank}


def on_device(cat, name, i, number, **args):
    stream, device = 7 + i % 5, i % 2
    return complete(cat, name, device, stream, i + 1, WEEK_US, correlation=number, device=device,
                    stream=stream, **{"External id": i + 1}, **args)


def weeks(rank):
    """Slices of a week each, of every kind, all at once; one file has as many as overflow."""
    for i in range(WEEKS if rank == 0 else 50):
        thread, number = 1 + i % 7, 10 * i + 1
        yield complete("cpu_op", "aten::mm", 1, thread, i, WEEK_US, **{
            "External id": i + 1, "Sequence number": i, "Input Dims": [[64, 64], [64, 64]],
            "Input type": ["float", "float"], "Call stack": "a.py(1): f;b.py(2): g"})
        for more, call in enumerate(("cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync",
                                     "cudaStreamSynchronize")):
            yield complete("cuda_runtime", call, 1, thread, i + 0.1, WEEK_US - 1,
                           correlation=number + more, **{"External id": i + 1})
        yield on_device("kernel", "gemm", i, number, **{
            "est. achieved occupancy %": 50, "blocks per SM": 1.5, "grid": [128, 1, 1],
            "block": [256, 1, 1]})
        yield on_device("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", i, number + 1,
                        Seq=i, **group(rank))
        yield on_device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", i, number + 2,
                        bytes=1 << 40)
        yield complete("python_function", "nn.Module: Linear_0", 1, thread, i - 0.2, WEEK_US, **{
            "Python id": i + 1, "Python parent id": i or None, "Python module id": 0})
        yield complete("overhead", "Lazy Function Loading", -1, thread, i, WEEK_US)
    for i in range(4):
        yield complete("user_annotation", f"ProfilerStep#{i}", 1, 1, i * WEEK_US / 4,
                       WEEK_US / 4)


def far_apart(rank):
    """Few short slices, decades apart, on many devices: idle time is what does not fit."""
    for i, ts in enumerate((-3 * 10**15, 0, 1000, 3 * 10**15)):
        for device in range(6):
            number = 6 * i + device + 1
            yield complete("cpu_op", "aten::mm", 1, device, ts, 100, **{"External id": number})
            yield complete("cuda_runtime", "cudaLaunchKernel", 1, device, ts + 10, 10,
                           correlation=number)
            yield complete("kernel", "gemm", device, 7, ts + 30, 50, correlation=number,
                           device=device, stream=7)
            yield complete("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", device, 20,
                           ts + 90 + rank, 50, correlation=1000 + number, device=device,
                           stream=20, Seq=number, **group(rank))
            yield {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1,
                   "tid": device, "ts": ts + 5, "s": "t",
                   "args": {"Device Type": 1, "Device Id": device, "Addr": 4096 * number,
                            "Bytes": 1 << 62, "Total Allocated": 1 << 62,
                            "Total Reserved": 1 << 62}}
        yield complete("user_annotation", f"ProfilerStep#{i}", 1, 0, ts, 500)


def negative(table, where):
    for column, info in enumerate(table.get("columns", ())):
        if info["unit"] != "ns" or any(word in info["name"] for word in SIGNED):
            continue
        for row in table["rows"]:
            if isinstance(row[column], int) and row[column] < 0:
                raise Failed(f"{where}: {info['name']} is {row[column]}")


def tables(value):
    if isinstance(value, dict):
        if "columns" in value:
            yield value
        for inner in value.values():
            yield from tables(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from tables(inner)


def check_sums(runner, folder, make):
    for rank in range(2):
        document = {"distributedInfo": {"rank": rank, "world_size": 2},
                    "traceEvents": list(make(rank))}
        pathlib.Path(folder, f"rank{rank}.json").write_text(json.dumps(document))
    # packs hold the same and are read in no time
    runner.run("pack", folder, "-o", os.path.join(folder, "packs"))
    folder = os.path.join(folder, "packs")
    one = os.path.join(folder, next(name for name in os.listdir(folder) if "rank0" in name))
    offers = strict_json(runner.run("ask", "offers", folder).out)
    views = [view["name"] for view in offers["views"] if not view["of_snapshot"]]
    if len(views) < 30:
        raise Failed(f"only {len(views)} views: {views}")
    for view in [*views, "overview", "diagnose", "what-if"]:
        for path in (one, folder):
            ran = runner.run(view, "--format", "json", "--top", "50", path)
            if ran.code:
                continue  # a sentence
            for table in tables(strict_json(ran.out)):
                negative(table, f"{view} of {os.path.basename(path)}")
    for route in ("tracks?file=0", "range?files=0&from=0&to=9007199254740992&limit=5",
                  "search?q=gemm&files=0&limit=5", "flags", "path?from=0&to=1000000000&pixels=50",
                  "tiles?file=0&tracks=0,1,2,3,4,5,6,7,8&from=0&to=604800000000000&pixels=300",
                  "strips?files=0,1&from=0&to=604800000000000&pixels=100"):
        runner.run("ask", route, folder)


def sums_of_weeks(runner, folder):
    """Sums of more weeks than fit stop at what fits, in every view."""
    check_sums(runner, folder, weeks)


def sums_of_gaps(runner, folder):
    """The same of the time between slices, which is decades on every device."""
    check_sums(runner, folder, far_apart)
