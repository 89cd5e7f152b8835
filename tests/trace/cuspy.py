#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuspy.py - files of torch's new backend (torch.profiler.CuspyConfig), made as torch 2.14 does.

    cuspy.py STEPSCOPE

Counters of clocks, power and temperature are those of their GPU; a rank whose kernels are all
longer is throttled if its clock is lower, and not if it is the same. Nodes of graphs that run
nothing are known, and edges of graphs are matched (tests/replay/recorded.c says what waits for
what). Perfetto's own format ends in a sentence.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

stepscope = sys.argv[1]
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)
        print("FAILED:", what)


def run(*arguments):
    done = subprocess.run([stepscope, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def table(view, path):
    found = json.loads(run(view, "--format", "json", "--top", "0", path)[1])
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


def counters(device, first, last, clock):
    """Samples as monitor_trace.py writes them: a process per GPU, one series without a name."""
    values = {"Power (W)": 412.5, "Temperature (C)": 71.0, "SM Clock (MHz)": clock,
              "Memory Clock (MHz)": 2619.0}
    for i in range(20):
        at = first + (last - first) * i / 20
        for name, value in values.items():
            yield {"ph": "C", "name": name, "pid": f"GPU {device} Counters", "ts": at,
                   "args": {"": value}}


def check_clocks(folder):
    run("sim", "--preset", "ddp8-healthy", "--cause", "straggler=0.8", "--plain", "-o", folder)
    files = sorted(folder.glob("*.json"))
    files = [file for file in files if "traceEvents" in file.read_text()[:100000]]
    bare = run(folder)[1]
    check("more slowly" in bare and "throttled" not in bare.split("nvidia-smi")[0],
          f"without clocks: {bare[:300]}")
    slow = next((rank for rank in range(8) if f"Rank {rank} computes" in bare), None)
    check(slow is not None, "no rank is slow")
    wholes = {file: json.loads(file.read_text()) for file in files}
    for lowered in (True, False):
        for file, trace in wholes.items():
            rank = trace["distributedInfo"]["rank"]
            works = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
            device, other = works[0]["args"]["device"], works[0]["args"]["device"] + 1
            first, last = works[0]["ts"], works[-1]["ts"]
            clock = 1215.0 if lowered and rank == slow else 1980.0
            more = [*counters(device, first, last, clock), *counters(other, first, last, 345.0)]
            file.write_text(json.dumps({**trace, "traceEvents": trace["traceEvents"] + more}))
        said = run(folder)[1]
        if lowered:
            check(f"Rank {slow} is throttled, and all wait for it" in said, said[:400])
            more = run("--verbose", folder)[1]
            check("its SM clock is 1215 MHz, that of the median rank 1980 MHz" in more, more[:600])
        else:
            check(f"Rank {slow} computes more slowly" in said, said[:400])
            check("is throttled" not in said, "equal clocks are called throttled")
            check("a lower clock is not the reason" in run("--verbose", folder)[1], said[:600])


def graph():
    """A graph on two streams, with an edge, and nodes that run nothing."""

    def on_device(cat, name, stream, ts, dur, **args):
        place = {"device": 0, "context": 1, "stream": stream, "correlation": 70}
        return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
                "args": {**place, **args}}

    flow = {"id": 1 << 40, "cat": "ac2g", "name": "ac2g", "pid": 0}
    return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1,
             "ts": 100, "dur": 20, "args": {"correlation": 70}},
            on_device("kernel", "a", 7, 200, 300, **{"graph id": 1, "graph node id": 4}),
            on_device("kernel", "b", 8, 500.5, 100, **{"graph id": 1, "graph node id": 5}),
            on_device("graph_event_node", "EventRecord", 7, 500, 0),
            on_device("graph_host_node", "HostNode", 8, 700, 40),
            {"ph": "s", "tid": 7, "ts": 500, **flow},
            {"ph": "f", "bp": "e", "tid": 8, "ts": 500.5, **flow}]


def check_nodes(folder):
    file = folder / "graph.json"
    file.write_text(json.dumps({"traceEvents": graph()}))
    odd = {row["oddity"] for row in table("quality", file)}
    check("unknown-category" not in odd, f"categories are not known: {odd}")
    check("flow-unmatched" not in odd, "an edge is not matched")
    check(sum(row["calls"] for row in table("kernels", file)) == 2, "nodes count as kernels")
    packs = folder / "packs"
    check(run("pack", "-o", packs, file)[0] == 0 and table("kernels", packs), "cannot be packed")


with tempfile.TemporaryDirectory() as made:
    check_clocks(Path(made) / "clocks")
    check_nodes(Path(made))
    perfetto = Path(made) / "trace.pftrace"
    perfetto.write_bytes(b"\x0a\x10" + bytes(16) + b"\x0a\x10" + bytes(16))
    code, said = run(perfetto)
    check(code == 1 and "does not read" in said and ".json" in said, said)
sys.exit(1 if problems else 0)
