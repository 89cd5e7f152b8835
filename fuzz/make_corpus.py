#!/usr/bin/env python3
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
import subprocess
import sys


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
    yield from BROKEN


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


TOKEN = "0123456789abcdef0123456789abcdef"
HEADS = (
    "Host: 127.0.0.1:8080", "Host: localhost:8080", "Host: [::1]:8080", "Host: evil.example:8080",
    "Host: 127.0.0.1:8080\r\nHost: evil.example", "Host: node12:1",
    "Host: localhost:8080\r\nOrigin: http://localhost:8080\r\nSec-Fetch-Site: same-origin",
    "Host: localhost:8080\r\nOrigin: https://evil.example\r\nSec-Fetch-Site: cross-site",
    "Host: 127.0.0.1\r\nAccept-Encoding: br;q=1, gzip;q=0.5\r\nIf-None-Match: \"0123\"",
    "Host: 127.0.0.1\r\nContent-Length: 5", "Host: 127.0.0.1\r\nTransfer-Encoding: chunked",
)
SNAPSHOT_VIEWS = ("summary", "findings", "holders", "leaks", "oom", "segments", "allocations",
                  "timeline", "settings", "diff")
ASKED = (
    "job", "job?run=1", "offers", "explain", "explain/straggler", "view/steps?rank=0&top=5",
    "view/operators?group=name&sort=-calls&name=a*&format=csv", "view/diagnose?format=text",
    "view/what-if?fix=straggler", "view/kernels?device=0&stream=7&step=0-1", "compare/kernels",
    "tracks?file=0", "tiles?file=0&tracks=0,1,2&from=0&to=100000000&pixels=200",
    "strips?files=0,1&from=0&to=90000000&pixels=100",
    "curve?file=0&curve=memory&device=0&from=0&to=9999999&pixels=50", "slice?file=0&row=7",
    "gap?file=0&track=9&gap=0", "near?file=0&row=5&go=next", "search?q=gemm&files=0,1&limit=9",
    "range?files=0&from=0&to=50000000&limit=5", "path?from=0&to=90000000&pixels=100", "flags",
    "tracks?file=0&run=1", "tracks?file=1&run=1", "tracks?file=2&run=1",
    "tiles?file=0&tracks=0,1,2&from=0&to=100000000&pixels=200&color=module",
    "tiles?file=1&tracks=0,1&from=0&to=100000000&pixels=99&color=stream", "colors?color=phase",
    "tiles?file=1&run=1&tracks=0,1,2,3,4,5,6&from=-1&to=1000000&pixels=300",
    "tiles?file=0&run=1&tracks=0,1,2,3,4,5,6&from=0&to=300000&pixels=9000",
    "strips?run=1&files=0,1,2&from=0&to=1000000&pixels=30",
    "curve?file=1&run=1&curve=memory&from=0&to=999999&pixels=50",
    "curve?file=1&run=1&curve=reserved&device=0&from=0&to=999999&pixels=50",
    "curve?file=1&run=1&curve=queue&from=0&to=999999&pixels=50",
    "curve?file=0&curve=queue&from=0&to=9999999&pixels=50",
    "curve?file=0&curve=utilization&from=0&to=9999999&pixels=50",
    "curve?file=1&run=1&curve=counter&name=sm%20%26%20%3d%25&from=0&to=999999&pixels=50",
    *(f"slice?file=1&run=1&row={row}" for row in range(8)), "slice?file=0&row=300",
    "gap?file=1&run=1&track=4&gap=0", "gap?file=0&track=5&gap=3", "gap?file=0&track=6&gap=1",
    "near?file=0&track=6&gap=1&go=next", "near?file=0&track=5&gap=1&go=previous",
    "near?file=1&run=1&row=2&go=previous", "search?run=1&q=*&longest=1&kind=kernel",
    "search?q=a*m&step=0&offset=3", "range?run=1&from=0&to=999999",
    "range?rows=0-0-1-6&from=0&to=9000000&limit=3", "range?files=1&run=1&from=9&to=90000",
    "path?run=1&from=0&to=900000&pixels=100", "flags?run=1", "compare/steps",
    "compare/operators?top=3", "compare/diagnose", "view/diagnose?run=1&rank=1",
    *(f"memory?snapshot=0&device=0&group={group}&axis={axis}&from=-1&to=40000&pixels=90"
      for group in ("category", "line", "stack") for axis in ("event", "time")),
    *(f"memory?run=1&snapshot={number}&from=0&to=60&pixels=70" for number in range(3)),
    "memory?run=1&device=1&group=stack&axis=time&from=0&to=9000&pixels=9", "memory?device=host",
    "event?snapshot=0&device=0&event=3", "event?run=1&snapshot=0&device=1&event=0",
    "event?device=host&event=1", "stacks?snapshot=0&device=0&line=model.py:14%20(forward)",
    "stacks?run=1&snapshot=1&line=x", "snapshot?snapshot=0", "snapshot?run=1&snapshot=3",
    "blocks", "blocks?snapshot=0&device=0&event=9", "blocks?run=1&snapshot=0&device=1&event=2",
    "blocks?run=1&snapshot=1", "blocks?run=1&snapshot=2", "blocks?device=host&event=0",
    "stack?snapshot=0&device=0&stack=1", "stack?run=1&snapshot=0&device=1&stack=3",
    "stack?run=1&snapshot=2&stack=0", "stack?stack=2&device=2", "view/snapshot",
    "view/snapshot?run=1&snapshot=2&format=text", "view/snapshot-diff?run=1&snapshot=1&before=0",
    "view/snapshot-diff?before=2&group=stack", "view/snapshot-holders?group=category&top=3",
    "view/snapshot-leaks?run=1&sort=-bytes&name=train*", "view/snapshot-oom?device=0&format=csv",
    *(f"view/snapshot-{name}?snapshot=0" for name in SNAPSHOT_VIEWS),
    *(f"view/snapshot-{name}?run=1&snapshot=2" for name in SNAPSHOT_VIEWS),
    "job?run=%31", "view/%2e%2e/%2e%2e/etc/passwd", "view/steps?rank=%", "?&=&=", "j%6fb",
)


def requests():
    """(name, bytes) of what browsers, scripts and attackers send."""
    for number, path in enumerate(("/", "/api/state", "/api/ask/job", "/../../etc/passwd",
                                   "http://evil.example/", "/api/ask/view/steps?rank=0")):
        for index, head in enumerate(HEADS):
            token = f"\r\nX-Stepscope-Token: {TOKEN}" if index % 2 else \
                f"\r\nAuthorization: Bearer {TOKEN}"
            text = f"GET {path} HTTP/1.1\r\n{head}{token}\r\n\r\n"
            yield f"head_{number}_{index}", text.encode()
    yield "post", b"POST /api/ask/job HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
    for number, request in enumerate(ASKED):
        yield f"ask_{number}", f"?{request}".encode()


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


FORWARD = [frame("empty_generic", "??", 0), frame("forward", "model.py", 14),
           frame("train_step", "train.py", 41)]
BACKWARD = [frame("torch::autograd::generated::MmBackward0::apply", "??", 0),
            frame("torch::autograd::Engine::thread_main", "??", 0)]
UPDATE = [frame("step", "/lib/torch/optim/adamw.py", 220), frame("main", "train.py", 47)]
BASE = 0x7F2A00000000


def allocator_event(action, at, size, time_us, frames=None):
    fields = {"action": action, "addr": BASE + at, "size": size, "stream": 0, "time_us": time_us}
    return {**fields, "frames": frames or []}


def allocator_events(steps):
    """Training steps that leave a block behind each."""
    yield allocator_event("segment_alloc", 0, 1 << 21, 1, FORWARD)
    at, time_us = 0, 2
    for _ in range(steps):
        yield allocator_event("alloc", at, 1000, time_us, FORWARD)
        for name, size, frames in (("a", 700, FORWARD), ("b", 600, BACKWARD), ("c", 5, UPDATE)):
            for action in ("alloc", "free_requested", "free_completed"):
                time_us += 1
                yield allocator_event(action, at + 1024, size, time_us, frames)
        at += 1024
    yield {"action": "oom", "device_free": 512, "size": 1 << 22, "stream": 0, "time_us": time_us,
           "frames": BACKWARD}
    yield {"action": "snapshot", "addr": 0, "size": at, "stream": 0, "time_us": time_us}


def snapshot(steps):
    blocks = [{"address": BASE + 1024 * i, "size": 1024, "requested_size": 1000,
               "state": "active_allocated", "frames": FORWARD} for i in range(steps)]
    blocks.append({"address": BASE + 1024 * steps, "size": (1 << 21) - 1024 * steps,
                   "requested_size": 0, "state": "inactive", "frames": []})
    segment = {"device": 0, "address": BASE, "total_size": 1 << 21, "stream": 0,
               "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False,
               "frames": FORWARD, "blocks": blocks}
    pages = {"device": 1, "address": BASE * 2, "total_size": 1 << 21, "is_expandable": True,
             "blocks": [{"size": 1 << 21, "state": "active_pending_free"}]}
    mapped = [allocator_event("segment_map", BASE, 1 << 20, 5),
              allocator_event("segment_map", BASE + (1 << 20), 1 << 20, 6),
              allocator_event("alloc", BASE, 1 << 21, 7), allocator_event("alloc", 7, 2**70, 8)]
    settings = {"max_split_size": -1, "expandable_segments": False,
                "garbage_collection_threshold": 0.5, "roundup_power2_divisions": {"1": 0, "2": 4}}
    marks = [{"stage": "START", "name": "step", "device": 0, "time_us": 3}]
    return {"segments": [segment, pages],
            "device_traces": [list(allocator_events(steps)), mapped, []],
            "allocator_settings": settings, "external_annotations": marks}


def holes():
    """Pages of an expandable segment that go from inside of a free block, and come again."""
    page = 1 << 21
    segments = [{"device": 0, "address": BASE + at * page, "total_size": page, "stream": 0,
                 "is_expandable": True, "blocks": [{"size": page, "state": "inactive"}]}
                for at in (0, 2)]  # fmt: skip
    events = [allocator_event("segment_map", 0, 3 * page, 1),
              allocator_event("segment_unmap", page, page, 2),
              allocator_event("segment_map", page, page, 3),
              {"action": "oom", "device_free": 1, "size": 4 * page, "stream": 0, "time_us": 4},
              allocator_event("segment_unmap", page, page, 5)]  # fmt: skip
    return {"segments": segments, "device_traces": [events],
            "allocator_settings": {"expandable_segments": True}}


OLD_BLOCK = {"size": 512, "state": "active_allocated",
             "history": [{"addr": BASE, "real_size": 500, "frames": FORWARD}]}
OLD = [{"device": 0, "address": BASE, "total_size": 1024, "allocated_size": 512,
        "active_size": 512, "stream": 0, "segment_type": "small",
        "blocks": [OLD_BLOCK, {"size": 512, "state": "inactive"}]}]
CALLS = {
    "global": b"cos\nsystem\n(S'id'\ntR.", "inst": b"(S'id'\nios\nsystem\n.",
    "build": b"\x80\x02}}b.", "memo": b"\x80\x02}r\xff\xff\xff\x7f.",
    "deep": b"\x80\x02" + b"](" * 99,
    "long": b"\x80\x04\x8d" + b"\xff" * 8,
}


def pickles():
    """(name, bytes): all protocols, old forms, cut ones, and those that would call something."""
    for protocol in range(6):
        whole = pickle.dumps(snapshot(4), protocol)
        yield f"protocol_{protocol}", whole
        yield f"protocol_{protocol}_cut", whole[: len(whole) * 2 // 3]
        yield f"old_{protocol}", pickle.dumps(OLD, protocol)
    yield "holes", pickle.dumps(holes(), 4)
    yield "host", pickle.dumps({"host_segments": OLD, "host_traces": [[]]}, 4)
    yield from CALLS.items()
    yield "timeline", b"[[1, 2], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4, 5, 6, 7, 9]]]"
    yield "timeline_raw", b"[[-1, 1, 4160, 2], [5, 2, 9, 3], [6, 4, -9, 3]]"


def inputs():
    """(target, name, bytes) of everything."""
    for name, data in pickles():
        yield "fuzz_pickle", name, data
        yield "fuzz_redact", name, data
    for number, (name, data) in enumerate(traces()):
        yield "fuzz_kineto", name, data
        yield "fuzz_redact", name, data
        yield "fuzz_rewrite", name, data
        yield "fuzz_pack", name, data
        # threads, then the size of blocks: large ones for long files
        sizes = ((1, 37, 0x10), (2, 200, 0), (0, 0, 0)) if len(data) < 4000 else ((2, 255, 3),)
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
    for index, text in enumerate(NUMBERS + VALUES):
        yield "fuzz_number_json", f"text_{index}", text.encode()


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, name, data in inputs():
        (folder / target).mkdir(parents=True, exist_ok=True)
        (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
