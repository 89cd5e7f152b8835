#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_corpus.py - small inputs from which the fuzzer starts.

    fuzz/make_corpus.py FOLDER

Writes FOLDER/<target>/*: events of every phase and category that writers are known to use, alone,
together, and broken in the ways that real files are. Same files each time.
"""

import gzip
import json
import pathlib
import pickle
import shutil
import struct
import subprocess
import sys

from corpus_databases import databases, rocprof
from corpus_pickles import OLD, STARTS, pickles, snapshot
from corpus_requests import messages, requests


def event(ph, cat, name, pid=10, tid=10, ts=1000.0, dur=None, args=None, **more):
    """One event as a dict, in the order in which Kineto writes the keys."""
    fields = {"ph": ph, "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts}
    if dur is not None:
        fields["dur"] = dur
    if args is not None:
        fields["args"] = args
    return {**fields, **more}


def complete(cat, name, ts, dur, args=None, **more):
    return event("X", cat, name, ts=ts, dur=dur, args=args or {}, **more)


def on_device(cat, name, ts, dur, correlation, **args):
    known = {"device": 0, "stream": 7, "correlation": correlation, "External id": correlation}
    return complete(cat, name, ts, dur, {**known, **args}, pid=0, tid=7)


COMM = {
    "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1024,
    "Out msg nelems": 1024, "In split size": "[]", "Out split size": "[]", "Group size": 8,
    "Process Group Name": "0", "Process Group Description": "default_pg",
    "Process Group Ranks": "[0, 1, ..., 7]", "Seq": 3, "Src Rank": 0, "Dst Rank": 1,
}  # fmt: skip

KERNEL = {
    "registers per thread": 32, "shared memory": 4096, "blocks per SM": 1.5, "warps per SM": 12,
    "grid": [128, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 37, "graph id": 2,
    "graph node id": 77,
}  # fmt: skip

MEMORY = {
    "Device Type": 1, "Device Id": 0, "Addr": 140234567890, "Bytes": 512, "Total Allocated": 2048,
    "Total Reserved": 4096, "Ev Idx": 5,
}  # fmt: skip


def host_events():
    yield complete("cpu_op", "aten::linear", 1000.125, 50.5, {
        "External id": 3, "Record function id": 0, "Sequence number": 7, "Fwd thread id": 0,
        "Input Dims": [[32, 3], [], [[1], [2]]], "Input type": ["float", "Scalar", "TensorList"],
        "Input Strides": [[3, 1], []], "Concrete Inputs": ["", "1", "[1, 2]"], "Ev Idx": 4})
    yield complete("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1100, 40, {
        "External id": 9, "Sequence number": 7, "Fwd thread id": 1})
    yield complete("cpu_op", "record_param_comms", 1150, 10, {"External id": 12, **COMM})
    yield complete("Operator", "aten::add", 990, 3, {
        "Call stack": "train.py(10): f;<string>(1): g", "Module Hierarchy": "Net.fc"})
    yield complete("user_annotation", "ProfilerStep#3", 990, 500, {"External id": 1})
    yield complete("user_annotation", "ProfilerStep#4", 1490, 500)
    yield complete("user_annotation", "Optimizer.step#SGD.step", 1300, 90)
    yield complete("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                   995, 4)
    yield complete("python_function", "nn.Module: Linear_3", 999, 60, {
        "Python id": 4, "Python parent id": None, "Python module id": 0}, pid=0, tid=0)
    yield complete("python", "/home/u/train.py(12): step", 998, 70)
    yield complete("Trace", "PyTorch Profiler (0)", 900, 2000, {"Op count": 9},
                   pid="Spans", tid="PyTorch Profiler")
    yield complete("overhead", "Lazy Function Loading", 1010, 2, {"overhead cost": 3}, pid=-1)
    yield complete("user_annotation", "compile_inner (dynamo_timed)", 1190, 8)
    yield complete("cpu_op", "Torch-Compiled Region: 0/0", 1195, 20)
    yield complete("cpu_op", "triton_poi_fused_add_0", 1200, 9, {
        "kernel_file": "/tmp/k.py", "kernel_kwargs": "BLOCK=64", "grid": "grid(256,)",
        "stream": 7})


def device_events():
    yield complete("cuda_runtime", "cudaLaunchKernel", 1005, 4, {
        "cbid": 211, "correlation": 55, "External id": 3})
    yield complete("cuda_driver", "cuLaunchKernelEx", 1006, 4, {"correlation": 56})
    yield complete("Runtime", "cudaGraphLaunch", 1007, 4, {"correlation": 57, "external id": "3"})
    yield complete("cuda_runtime", "hipLaunchKernel", 1007, 4, {
        "correlation": 58, "grid": [1, 2, 3], "block": [64, 1, 1], "bytes": "16", "stream": "0x7"})
    yield complete("cuda_runtime", "cudaStreamSynchronize", 1050, 40, {"correlation": 59})
    yield on_device("kernel", "void gemm<float, 4>(int)", 1020, 30.001, 55, **KERNEL)
    yield on_device("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1040, 90, 56,
                    **KERNEL, **COMM)
    yield on_device("Kernel", "Kernel", 1045, 10, 57, occupancy={"activeBlocks": 1})
    yield on_device("kernel", "x", 1046, 10, 57, **{"blocks per SM": "inf", "warps per SM": "nan"})
    yield on_device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1130, 8, 60, bytes=4096,
                    **{"memory bandwidth (GB/s)": 1.25})
    yield on_device("gpu_memset", "Memset (Device)", 1140, 2, 61, bytes=512)
    yield on_device("gpu_user_annotation", "ProfilerStep#3", 1019.999, 140, 0)
    yield on_device("cuda_sync", "Stream Wait Event", 1141, 5, 62, wait_on_stream=20,
                    wait_on_cuda_event_record_corr_id=59, wait_on_cuda_event_id=1)
    yield on_device("cuda_event", "event", 1142, 0, 62, event_id=1)
    yield on_device("graph_event_node", "EventRecord", 1142, 0, 57, context=1)
    yield on_device("graph_host_node", "HostNode", 1143, 5, 57, **{"host thread": 12})
    yield complete("mtia_ccp_events", "dma_copy", 1000, 4, {
        "stream": "3", "column": "1", "direction": "in"}, pid=1, tid="sqid 3")
    yield complete("mtia_runtime", "run", 1000, 4, {"stream_id": "3", "mem size": "4 bytes"})
    yield complete("xpu_runtime", "urEnqueueKernelLaunch", 1000, 4, {"correlation": 90})
    yield complete("collective_comm", "xccl::allreduce", 1000, 4, COMM)
    yield complete("privateuse1_runtime", "x", 1000, 4)
    yield complete("hpu_op", "gemm", 1000, 4)
    yield complete("cuda_profiler_range", "range", 1000, 4, {"sm__cycles": 5})
    yield complete("something_new", "x", 1000, 4)


def other_events():
    yield event("i", "cpu_instant_event", "[memory]", ts=1003, args=MEMORY, s="t")
    yield event("i", "cpu_instant_event", "[memory]", ts=1009, args={**MEMORY, "Bytes": -512})
    yield event("i", "cpu_instant_event", "[OutOfMemory]", ts=1011, args=MEMORY, s="t")
    yield {"ph": "i", "name": "[memory]", "pid": 10, "tid": "10", "ts": 5, "s": "t",
           "args": {"Device Type": 0, "Device Id": -1, "Bytes": 8}}
    yield {"ph": "M", "name": "process_name", "pid": 10, "tid": 0, "ts": 0, "args": {"name": "py"}}
    yield {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}}
    yield {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}}
    yield {"ph": "M", "name": "process_sort_index", "pid": 0, "args": {"sort_index": 5000000}}
    yield event("s", "fwdbwd", "fwdbwd", ts=1000.125, id=1)
    yield event("f", "fwdbwd", "fwdbwd", ts=1100, id=1, bp="e")
    yield event("s", "ac2g", "ac2g", ts=1005, id=55)
    yield event("f", "ac2g", "ac2g", pid=0, tid=7, ts=1020, id=55, bp="e")
    yield event("s", "async", "launch", tid="stream 7", ts=1005, id="55")
    yield event("C", "hardware_counters", "sm", pid="GPU 0 Counters", ts=1000, args={"": 0.5})
    yield event("s", "ac2g", "ac2g", pid=0, tid=7, ts=1055, id=1 << 40)
    yield event("f", "ac2g", "ac2g", pid=0, tid=9, ts=1056, id=1 << 40, bp="e")
    yield event("C", None, "SM Clock (MHz)", pid="GPU 0 Counters", ts=1002, args={"": 1410.0})
    yield event("C", "", "mem", ts=1001, args={"a": 1, "b": 2.5, "c": "x"})
    yield event("B", "cpu_op", "outer", ts=2000)
    yield event("B", "cpu_op", "inner", ts=2001)
    yield event("E", "cpu_op", "inner", ts=2005)
    yield event("E", "cpu_op", "outer", ts=2009)
    yield event("b", "job", "a", ts=2000, id="0x1")
    yield event("n", "job", "a", ts=2001, id="0x1")
    yield event("e", "job", "a", ts=2003, id="0x1")
    yield event("S", "job", "old", ts=2000, id=4)
    yield event("F", "job", "old", ts=2004, id=4)
    yield event("i", None, "Iteration Start: PyTorch Profiler", pid="Traces", tid="Trace", s="g")
    yield {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 9999.5}
    yield event("R", "mark", "x")
    yield event("?", "mark", "x")


def half_events():
    """Begins and ends: of two threads and one id, nested, out of order, alone, far apart."""
    week_us = 7 * 24 * 3600 * 10**6
    yield event("E", "cpu_op", "aten::mm", ts=2)
    for tid in (10, 11):
        yield event("B", "user_annotation", "ProfilerStep#1", tid=tid, ts=0)
        yield event("B", "user_annotation", "Optimizer.step#SGD.step", tid=tid, ts=tid)
        yield event("E", "user_annotation", "Optimizer.step#SGD.step", tid=tid, ts=40 - tid)
        yield event("B", "cpu_op", "aten::mm", tid=tid, ts=50, args={"External id": tid})
        yield event("E", None, None, tid=tid, ts=50 + week_us)
        yield event("E", None, None, tid=tid, ts=3 * 10**15)
    yield event("B", "kernel", "gemm", pid=0, tid=7, ts=60, args={"correlation": 5, "stream": 7})
    yield event("E", "kernel", "gemm", pid=0, tid=7, ts=3 * 10**15)
    yield event("B", "cuda_runtime", "cudaLaunchKernel", ts=55, args={"correlation": 5})
    for ph, ts in (("b", -3 * 10**15), ("b", 1), ("e", 3 * 10**15), ("e", week_us), ("S", 5),
                   ("F", 9.5), ("F", 1e15)):
        yield event(ph, "nccl", "wait", ts=ts, id=3)


HEAD = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85899345920,
                          "computeMajor": 9, "computeMinor": 0, "numSms": 132, "warpSize": 32,
                          "maxThreadsPerMultiprocessor": 2048}],
    "cuda_driver_version": 12040,
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 1,
                        "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 8,
                                       "backend_config": "cuda:nccl", "ranks": [0, 1]}],
                        "nccl_version": "2.21.5"},
    "record_shapes": 1, "with_stack": 1, "profile_memory": "1",
    "displayTimeUnit": "ms", "baseTimeNanoseconds": 1727740800000000000,
}  # fmt: skip
TAIL = {
    "traceName": "/tmp/t.json", "WARNING": ["lost 3 \"records\"", "x"], "INFO": ["y"],
    "odd": {"a": [1]},
}  # fmt: skip

# Text that is broken as real files are: (name, bytes)
BROKEN = (
    ("empty", b""),
    ("white", b" \n"),
    ("array", b'[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}, 5, "x", {}]'),
    ("open_array", b'[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1},'),
    ("quotes", b'{"traceEvents":[{"ph":"X","name":"say "hi", you","ts":1},{"ph":"X","ts":2}]}'),
    ("windows", b'{"traceEvents":[{"ph":"X","name":"C:\\","ts":1,"pid":1},{"ph":"X","ts":2}]}'),
    ("words", b'{"traceEvents":[{"ph":"X","ts":1,"dur":N/A,"args":{"a":NaN,"b":-Infinity}}]}'),
    ("bytes", b'{"traceEvents":[{"ph":"X","name":"\xff\xfe\x00\x01\xc3","ts":1.0005,"dur":-1}]}'),
    ("escapes", rb'{"traceEvents":[{"ph":"X","name":"\u00e9\ud83d\ude00\ud800\n\x","ts":1}]}'),
    ("mark", b'\xef\xbb\xbf{"traceEvents":[]}'),
    ("after", b'{"traceEvents":[]} and more {"traceEvents":[{"ph":"X"}]}'),
    ("broken_head", b'{"a":1 2,"b" "traceEvents":[{"ph":"X","name":"a","ts":1}]}'),
    ("twice", b'{"traceEvents":[{"ph":"X","ts":1}],"traceEvents":[{"ph":"X","ts":0}]}'),
    ("deep", b'{"x":' + b"[" * 200 + b"]" * 200 + b',"traceEvents":[{"args":{"a":{"b":{}}}}]}'),
    ("inner", b'{"traceEvents":[{"ph":"X","args":{"x":[{"ph":"X","ts":1},{"name":"b"}]},"ts":}]}'),
    ("far", b'{"traceEvents":[{"ph":"X","ts":9e18,"dur":1},{"ph":"X","dur":9e11,"ts":-5}]}'),
    ("nothing", b'{"a":[1,2,{"b":"c"}]}'),
    ("commas", b'{,"traceEvents":[,{"ph":"X","ts":1},,{"ph":"X","ts":2},],}'),
    ("perfetto", b"\x0a\x30\x40\x01\x02"),
)  # fmt: skip

NUMBERS = (
    "0", "-0", "1", "12.0", "1727743122342.667", "1727743122342667", "1e3", "1.5e-3", "-2.5", ".5",
    "5.", "+7", "1e", "e5", "-", "0.0005", "0.00049", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "-9223372036854775808", "4611686018427387.903",
    "4611686018427387.904", "1e308", "1e400", "1e-400", "123456789012345678901234567890e-20",
    "00000000000000000001.5", "1e99999999999", "0.1e-99999", "NaN", "0x10", "1,5", "",
)  # fmt: skip

VALUES = (
    '"plain",', '"with \\" escape"}', '"open " quote", "k":1', '"\\u00e9\\ud83d\\ude00"]',
    '"a\\\\",', '{"a":[1,{"b":"}"}],"c":null}', "[[],{},[[1]]]", "true,", "nul", '"key" : 5',
    ',"key":5', ", }", "]", ', "x", "y": 1', '"C:\\",\n"next":1', '"a\x00b",',
)  # fmt: skip


def dump(value, layout):
    if layout == "kineto":
        return json.dumps(value, indent=2)
    return json.dumps(value, separators=(",", ":") if layout == "tight" else None)


def traces():
    """(name, bytes) of whole files."""
    groups = {"host": host_events, "device": device_events, "other": other_events,
              "half": half_events}
    for name, make in groups.items():
        yield name, dump({"traceEvents": list(make())}, "tight").encode()
        for index, item in enumerate(make()):
            yield f"{name}_{index}", dump({"traceEvents": [item]}, "spaced").encode()
    every = [item for make in groups.values() for item in make()]
    for layout in ("tight", "spaced", "kineto"):
        text = dump({**HEAD, "traceEvents": every, **TAIL}, layout)
        yield f"all_{layout}", text.encode()
        yield f"cut_{layout}", text[: len(text) * 2 // 3].encode()
    yield "metadata_last", dump({"traceEvents": every[:3], **HEAD, **TAIL}, "spaced").encode()
    loop = [complete("cuda_runtime", "cudaLaunchKernel", 10 * i, 3, {"correlation": i + 1})
            for i in range(40)]
    loop += [on_device("kernel", f"k{i % 4}", 10 * i + 5, 4, i + 1) for i in range(40)]
    yield "periods", dump({"traceEvents": loop}, "tight").encode()
    yield "rank", rank_file(1, 2, late=50)
    yield "rank_halves", rank_file(1, 2, halves=True)
    # a file that ends in the middle has steps whose events are lost
    yield "rank_cut", rank_file(0, 2, steps=4, ops=12, sorts=True)[:-9000]
    yield "large", rank_file(0, 2, steps=20, ops=6)
    yield "large_halves", rank_file(0, 2, steps=12, ops=5, halves=True)
    yield from BROKEN


def rank_step(rank, number, start, options):
    """One training step of a rank: input, forward, backward, collectives, optimizer."""
    pid, device, late = 100 + rank, rank, options.get("late", 0) * (rank == 1)
    ts, first = start, 1000 * number
    yield complete("user_annotation", f"ProfilerStep#{number}", ts, 980 + late, pid=pid, tid=pid)
    yield complete("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                   ts + 1, 40, pid=pid, tid=pid)
    for index in range(options.get("ops", 4)):
        at, link = ts + 50 + 60 * index, first + index
        yield complete("python_function", f"nn.Module: Linear_{index}", at - 1, 58,
                       {"Python id": link, "Python parent id": None}, pid=pid, tid=pid)
        yield complete("cpu_op", "aten::mm", at, 50, {
            "External id": link, "Sequence number": link, "Fwd thread id": 0,
            "Input Dims": [[64, 128], [128, 256]], "Input type": ["float", "float"]},
            pid=pid, tid=pid)
        yield complete("cuda_runtime", "cudaLaunchKernel", at + 5, 4, {
            "correlation": link, "External id": link}, pid=pid, tid=pid)
        yield complete("kernel", "gemm", at + 20, 45, {
            "device": device, "stream": 7, "correlation": link, "External id": link,
            "grid": [64, 1, 1], "block": [128, 1, 1]}, pid=device, tid=7)
        yield event("i", "cpu_instant_event", "[memory]", pid=pid, tid=pid, ts=at + 2, s="t",
                    args={**MEMORY, "Device Id": device, "Addr": 4096 * index + 4096 * number,
                          "Bytes": 4096 if number % 2 else -4096})
    ts += 60 + 60 * options.get("ops", 4)
    yield complete("cpu_op", "autograd::engine::evaluate_function: MmBackward0", ts, 60 + late, {
        "Sequence number": first, "Fwd thread id": 1}, pid=pid, tid=pid + 1)
    for index, kind in enumerate(options.get("kinds", ("allreduce", "allreduce"))):
        at, link = ts + 80 + 90 * index + late, first + 500 + index
        about = {**COMM, "Collective name": kind, "Group size": 2, "Process Group Ranks": "[0, 1]",
                 "Src Rank": 0, "Dst Rank": 1}
        about.pop("Seq")
        if options.get("seq"):
            about["Seq"] = 2 * number + index
        yield complete("cpu_op", "record_param_comms", at, 20, {"External id": link, **about},
                       pid=pid, tid=pid)
        yield complete("cuda_runtime", "cudaLaunchKernelExC", at + 2, 5, {
            "correlation": link, "External id": link}, pid=pid, tid=pid)
        yield complete("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 10,
                       60 + options.get("late", 0) - late, {
                           "device": device, "stream": 20, "correlation": link,
                           "External id": link, **about}, pid=device, tid=20)
        yield complete("cuda_sync", "Stream Wait Event", at + 12, 1, {
            "stream": 7, "correlation": link, "device": device, "wait_on_stream": 20,
            "wait_on_cuda_event_record_corr_id": link, "wait_on_cuda_event_id": 1},
            pid=device, tid=7)
    yield complete("cuda_runtime", "cudaStreamSynchronize", ts + 300 + late, 60, {
        "correlation": first + 900}, pid=pid, tid=pid)
    yield complete("user_annotation", "Optimizer.step#SGD.step", ts + 380 + late, 50,
                   pid=pid, tid=pid)


def halves(events):
    """What the host did, written as begins and ends."""
    for item in events:
        if item["ph"] != "X" or item["cat"] == "kernel":
            yield item
            continue
        begin = {**item, "ph": "B"}
        dur = begin.pop("dur")
        yield begin
        yield {"ph": "E", "pid": item["pid"], "tid": item["tid"], "ts": item["ts"] + dur}


def rank_file(rank, ranks, **options):
    """The trace of one rank of a job."""
    offset = options.get("offset", 0) * rank
    events = [item for number in range(options.get("steps", 3))
              for item in rank_step(rank, number, 10**6 + offset + 1000 * number, options)]
    if options.get("halves"):
        events = list(halves(events))
    if options.get("sorts"):  # writers put events of one sort together
        first = ("user_annotation", "kernel", "cuda_runtime")
        events.sort(key=lambda item: item["cat"] not in first)
    head = {**HEAD, "distributedInfo": {**HEAD["distributedInfo"], "rank": rank,
                                        "world_size": ranks}}
    return dump({**head, "traceEvents": events}, "tight").encode()


def job(*files):
    """Files as fuzz_job takes them: (name, bytes)."""
    return b"\n".join(f"=== {name}\n".encode() + data for name, data in files)


def jobs():
    """(name, bytes) of jobs: ranks, late ones, clocks apart, snapshots beside traces."""
    kinds = {
        "plain": {}, "seq": {"seq": True}, "late": {"late": 200, "seq": True},
        "clocks": {"offset": 12345.678}, "far": {"offset": 10**9}, "halves": {"halves": True},
        "short": {"steps": 1, "ops": 1}, "pairs": {"kinds": ("send", "recv")},
        "sharded": {"kinds": ("_allgather_base", "_reduce_scatter_base", "barrier")},
        "straggler": {"steps": 6, "ops": 2, "late": 400, "seq": True},
        "large": {"steps": 8, "ops": 5, "late": 30},
    }  # fmt: skip
    for name, options in kinds.items():
        ranks = [(f"rank{rank}.json", rank_file(rank, 2, **options)) for rank in range(2)]
        yield name, job(*ranks)
        if name in ("late", "clocks"):
            yield f"{name}_snapshot", job(*ranks, ("rank1.pickle", pickle.dumps(snapshot(4), 4)),
                                          ("rank0.pickle", pickle.dumps(OLD, 2)))
            yield f"{name}_lost", job(ranks[0], (ranks[1][0], ranks[1][1][:-3000]))
            yield f"{name}_cut", job(ranks[0], (ranks[1][0], ranks[1][1][: 4000]))
            yield f"{name}_twice", job(*ranks, *((f"b/{file}", data) for file, data in ranks))
    yield "four", job(*((f"rank{rank}.json", rank_file(rank, 4, steps=2, ops=2))
                        for rank in range(4)))
    yield "one", rank_file(0, 1)
    files = graphs(["gemm", "norm", "gemm", "softmax"], 3)
    yield "graphs", job(*files[:2])
    yield "graphs_both", job(files[2])
    yield "beside", job(("rank0.json", rank_file(0, 1)),
                        ("rank0.pickle", pickle.dumps(snapshot(3), 4)))
    yield "same", job(*((f"rank{rank}.json", rank_file(0, 2)) for rank in range(2)))
    for number, data in enumerate(STARTS):
        yield f"start_{number}", job(("rank0.json", rank_file(0, 1, steps=1, ops=1)), ("x", data))
    yield "nothing", job(("rank0.json", b"nothing"), ("rank1.json", rank_file(1, 2, steps=2)))


def graphs(names, replays):
    """Files of a capture and of its replays."""
    captured = [complete("cuda_runtime", "hipStreamBeginCapture", 1000, 2, {"correlation": 1}),
                complete("python_function", "nn.Module: Block_0", 1010, 900)]
    for i, name in enumerate(names):
        captured.append(complete("cpu_op", f"aten::op{i}", 1020 + 10 * i, 9,
                                 {"Input Dims": [[4, 4]], "Input type": ["float"]}))
        captured.append(complete("cuda_runtime", "hipLaunchKernel", 1021 + 10 * i, 2,
                                 {"correlation": 10 + i, "kernel": name}))
    captured.append(complete("cuda_runtime", "hipStreamEndCapture", 2000, 2, {"correlation": 2}))
    played = []
    for r in range(replays):
        at = 5000 + 500 * r
        played.append(complete("user_annotation", f"execute_{r}_context_0", at - 1, 40))
        played.append(complete("cuda_runtime", "hipGraphLaunch", at, 30, {"correlation": 90 + r}))
        played += [on_device("kernel", name, at + 40 + 5 * i, 4, 90 + r)
                   for i, name in enumerate(names[r % 2:] + ["other"])]
    files = (("capture.json", captured), ("replay.json", played), ("both.json", captured + played))
    return [(name, json.dumps({"traceEvents": events}).encode()) for name, events in files]


def packed(text):
    """(name, bytes) of ways to compress a file, and to damage it."""
    whole = gzip.compress(text, mtime=0)
    half = len(text) // 2
    yield "gzip", whole
    yield "gzip_members", gzip.compress(text[:half], mtime=0) + gzip.compress(text[half:], mtime=0)
    yield "gzip_cut", whole[: len(whole) // 2]
    yield "gzip_trailing", whole + b"\0\0\0garbage"
    yield "gzip_stored", gzip.compress(text, compresslevel=0, mtime=0)
    yield "gzip_corrupt", whole[:30] + bytes([whole[30] ^ 0x55]) + whole[31:]
    if shutil.which("zstd"):
        command = ["zstd", "-q", "-c"]
        frame = subprocess.run(command, input=text, capture_output=True, check=True).stdout
        yield "zstd", frame
        yield "zstd_frames", frame + frame
        yield "zstd_cut", frame[: len(frame) // 2]


def dumps():
    """(name, bytes) of dumps of the flight recorder that ranks wrote."""
    recorded = pathlib.Path(__file__).resolve().parent.parent / "tests/hang/recorded"
    for folder in sorted(recorded.iterdir()):
        files = sorted(path for path in folder.iterdir() if path.is_file())
        yield folder.name, job(*((path.name, path.read_bytes()) for path in files))


QUERIES = (
    "select * from steps", "select name, sum(total_ns) from kernels group by all order by 2 desc",
    "select * from slices(rank := 1) where dur_ns > 1000 limit 3;select 1", "from findings",
    "with a as (select rank, count(*) n from slices group by 1) select * from a join steps using "
    "(rank)", "create table t as select * from operators; select * from t", "show tables",
    "describe slices", "select '\\x41'::blob, 1e300, -0.5::float, null, true, [1, 2], {'a': 1}, "
    "interval 3 days, date '2026-01-01', 170141183460469231731687303715884105727",
    "select * from read_csv('canary')", "copy (select 1) to 'out.csv'", "install httpfs",
    "set enable_external_access = true", "attach 'a.db'", "load 'x'", "export database 'd'",
    "select getenv('HOME')", "select * from 'canary'", "pragma database_list", "-- a\n;;/* /* */",
    "select $$;$$, $a$ ; $a$, e'\\';', \"a;b\" from (select 1 as \"a;b\")", "select 'open",
    "select * from roofline(\"by\" := 'step')", "explain analyze select * from links",
    "select * from range(1000000000)", "select repeat('a', 100000)", "update steps set rank = 1",
    "prepare p as select ?; execute p(3)", "begin; drop view steps; commit", "checkpoint",
    "select lst.u from (select unnest([1, 2, 3]) u) lst", "select * from memory_curve, counters",
)
FIXES = ("", "fix=straggler", "fix=straggler=1", "fix=launch-bound,input-stall=0\nverbose",
         "fix=straggler=99999999999999999999", "fix=,,=,", "fix=no-such-rule\nrank=0\nformat=text",
         "rank=all\nformat=markdown\ntop=3", "step=1-2\nformat=csv", "fix=straggler,straggler=-1",
         "verbose=1\nfix=" + "straggler," * 40, "device=0", "rank=-1\nformat=json\nfix=host-sync")


def stores():
    """(name, bytes) of folders that are stores, or nearly."""
    head = ("stepscope.json", b'{"schema": "stepscope.store", "layout": 1}\n')
    day, run = "date=2026-06-01", "0123456789abcdef.parquet"
    yield "empty", job(head)
    yield "layouts", job(("stepscope.json", b'{"layout": 99999999999999999999}'))
    yield "other", job(("stepscope.json", b"{}"), ("a/b", b""))
    yield "days", job(head, *((f"{table}/{day}/{run}", b"PAR1") for table in (
        "findings", "kernels", "runs")), ("runs/date=2026-13-77/x.parquet", b""))
    yield "compact", job(head, (f"runs/{day}/compact-0123456789abcdef.parquet", b"PAR1...PAR1"),
                         (".dropping", b"2026-06-02\n"), (f"runs/{day}", b""))
    file = f"runs/{day}/0123456789abcdef-0123456789abcdef.parquet"
    rows = f"file,bytes,gone\nmanifest/0000000001.csv,0,1\n{file},4,0\n".encode()
    more = f"file,bytes,gone\nmanifest/0000000001.csv,0,1\n{file},4,1795000000\n".encode()
    yield "manifest", job(head, (file, b"PAR1"), ("manifest/0000000001.csv", rows),
                          ("manifest/0000000002.csv", more))
    yield "left", job(head, (".stepscope.0a1b2c.part/runs", b"PAR1"), (".watched-00", b"00\n"))


def live_file(rank, steps, room, slow=0):
    """Live numbers of a rank: see src/live/rows.c."""
    head = struct.pack("<8sIIIIiiIIQ40s40sQ", b"STEPLIVE", 1, 136, 52, room, rank, 4, 77, 0,
                       1_790_000_000 * 10**9, b"node", b"job", steps)
    rows, now = [b""] * min(room, steps), 1_790_000_000 * 10**6
    for step in range(1, steps + 1):
        us = 20_000 + step % 7 * 10 + (slow if step > steps // 2 else 0)
        now += us
        rows[(step - 1) % room] = struct.pack(
            "<Q11I", now, step, us, 100 + (slow if step > steps // 2 else 0), step % 50 // 49 * 900,
            300, 0xFFFFFFFF, step == 40, 0, 0, 0, 0)
    return head + b"".join(rows)


def lives():
    """(name, bytes) of folders of live numbers."""
    yield "healthy", job(*((f"live.rank0000{i}.rows", live_file(i, 300, 512)) for i in range(3)))
    yield "slower", job(("a.rows", live_file(0, 400, 512)),
                        ("b.rows", live_file(1, 400, 512, 8000)))
    yield "rings", job(("a.rows", live_file(0, 90, 64)), ("b.rows", live_file(0, 70, 64)[:-60]))
    yield "short", job(("a.rows", live_file(-1, 3, 4)), ("b.rows", live_file(2, 0, 4)[:140]))


def tables():
    """(name, bytes) of tables of all types of columns, for Arrow."""
    cells = b"\x01" + bytes(range(8)) + b"\x0dabc" + b"\x00" + b"\x15h\xc3\xa9llo"
    for columns in (b"\0", b"\1", b"\0\1\2\3\4\5\6", b"\6\6", b"\0\0\0"):
        for rows in (0, 1, 9, 70):
            yield f"{columns.hex()}_{rows}", columns + b"\xff" + cells * rows


def inputs():
    """(target, name, bytes) of everything."""
    for name, data in pickles():
        yield "fuzz_pickle", name, data
        yield "fuzz_redact", name, data
    for name, data in dumps():
        yield "fuzz_flight", name, data
    for name, data in lives():
        yield "fuzz_live", name, data
    for name, data in databases():
        yield "fuzz_sqlite", name, data
    for name, data in rocprof():
        yield "fuzz_rocprof", name, data
    for name, data in jobs():
        yield "fuzz_job", name, data
        yield "fuzz_digest", name, data
    for number, (name, data) in enumerate(traces()):
        yield "fuzz_kineto", name, data
        yield "fuzz_redact", name, data
        yield "fuzz_rewrite", name, data
        yield "fuzz_pack", name, data
        # threads, then the size of blocks: large ones for long files
        sizes = ((1, 37, 0x10), (0, 200, 0), (4, 0, 0)) if len(data) < 4000 else ((0, 255, 3),)
        for head in sizes:
            yield "fuzz_blocks", f"{name}_{head[0]}_{head[1]}", bytes(head) + data
        if number % 16 == 0 or len(data) < 200:
            yield "fuzz_gzip", name, data
    short = dump({**HEAD, "traceEvents": [*host_events()][:3]}, "tight").encode()
    long = dump({"traceEvents": [*device_events()] * 40}, "spaced").encode()
    for name, text in (("short", short), ("long", long)):
        for how, data in packed(text):
            yield "fuzz_gzip", f"{name}_{how}", data
    for name, data in requests():
        yield "fuzz_serve", name, data
    for number, text in enumerate(QUERIES):
        yield "fuzz_sql", f"query_{number}", text.encode()
    for number, text in enumerate(FIXES):
        yield "fuzz_what_if", f"fixes_{number}", text.encode()
    for name, data in stores():
        yield "fuzz_store", name, data
    for name, data in tables():
        yield "fuzz_arrow", name, data
    for name, lines in messages():
        texts = [json.dumps({"jsonrpc": "2.0", **line}) for line in lines]
        yield "fuzz_mcp", name, "\n".join(texts).encode()
    for index, text in enumerate(NUMBERS + VALUES):
        yield "fuzz_number_json", f"text_{index}", text.encode()


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, name, data in inputs():
        (folder / target).mkdir(parents=True, exist_ok=True)
        (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
