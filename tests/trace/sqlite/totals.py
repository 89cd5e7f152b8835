#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQLite traces and JSON of rocprofv3: figures against readers that are not ours.

Usage: totals.py STEPSCOPE INPUTS. Kernels, copies, memsets and calls: count and time equal sums of
SQL (Python's sqlite3) on the file, exactly; JSON is summed by Python's json. INPUTS has real files
and may be missing; made files (made.py) are always tried.
"""
import collections
import gzip
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import made

STEPSCOPE, INPUTS = sys.argv[1], pathlib.Path(sys.argv[2])
CUPTI = "CUPTI_ACTIVITY_KIND_"
KINDS = {"gpu_memcpy": "memcpy", "gpu_memset": "memset", "cuda_runtime": "call",
         "cuda_driver": "call"}


def run(*arguments, ok=True):
    done = subprocess.run([STEPSCOPE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0 or not ok, f"{arguments}: {done.stderr}"
    return done


def events(path):
    """{kind: [count, ns]} of all ranks."""
    found = collections.defaultdict(lambda: [0, 0])
    answer = json.loads(run("events", path, "--top", 0, "--format", "json").stdout)
    for table in answer["tables"] if "tables" in answer else [answer]:
        names = [column["name"] for column in table["columns"]]
        for row in table["rows"]:
            item = dict(zip(names, row))
            kind = KINDS.get(item["category"], item["category"])
            found[kind][0] += 1
            found[kind][1] += item["duration_ns"]
    return found


def expect(path, wanted):
    found = events(path)
    for kind, (count, total) in wanted.items():
        assert found[kind] == [count, total], f"{path}: {kind} {found[kind]}, SQL {count, total}"


def sums(connection, tables):
    """Count and sum of durations of the tables that exist."""
    count = total = 0
    for table in tables:
        if connection.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone():
            row = connection.execute(
                f'select count(*), coalesce(sum("end" - start), 0) from "{table}"').fetchone()
            count, total = count + row[0], total + row[1]
    return count, total


def check_nsys(path):
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    expect(path, {"kernel": sums(connection, [CUPTI + "KERNEL"]),
                  "memcpy": sums(connection, [CUPTI + "MEMCPY"]),
                  "memset": sums(connection, [CUPTI + "MEMSET"]),
                  "call": sums(connection, [CUPTI + "RUNTIME"])})
    connection.close()


def check_rocpd(path):
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    names = [row[0] for row in connection.execute(
        "select name from sqlite_master where type = 'table'")]
    expect(path, {kind: sums(connection, [name for name in names if name.startswith(table)])
                  for kind, table in (("kernel", "rocpd_kernel_dispatch"),
                                      ("memcpy", "rocpd_memory_copy"), ("call", "rocpd_region"))})
    connection.close()


def check_json(path):
    data = path.read_bytes()
    tools = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    wanted = {}
    for kind, name in (("kernel", "kernel_dispatch"), ("memcpy", "memory_copy"),
                       ("call", "hip_api")):
        rows = [row for tool in tools["rocprofiler-sdk-tool"]
                for row in tool["buffer_records"][name]]
        wanted[kind] = (len(rows), sum(row["end_timestamp"] - row["start_timestamp"]
                                       for row in rows))
    expect(path, wanted)
    return wanted["kernel"][0]


def check_words(path):
    """No text asks for settings of torch.profiler, nor doubts the clock of one file."""
    for command in ("diagnose", "quality", "modules", "copies", "kernels", "stacks", "operators",
                    "memory-ops", "clocks", "syncs"):
        done = run(command, path)
        text = " ".join(done.stdout.split())
        for word in ("ProfilerActivity", "profile(", "prof.step", "with_stack", "profile_memory",
                     "be compared", "no collective in common"):
            assert word not in text, f"{command} {path}: {word} in {text}"


def check_real():
    if not INPUTS.is_dir():
        return "no real files"
    for path in sorted((INPUTS / "nsys").glob("*.sqlite")):
        check_nsys(path)
        check_words(path)
    healthy = json.loads(run(INPUTS / "nsys/healthy_1pct.sqlite", "--format", "json").stdout)
    levels = [finding["level"] for finding in healthy["findings"]]
    assert "warning" not in levels and "problem" not in levels, levels
    count = sum(map(check_json, sorted((INPUTS / "rocprof").glob("*.json.gz"))))
    verdict = run(INPUTS / "rocprof/rocprofv3_908_results.json.gz").stdout
    assert "rocprofv3 --runtime-trace" in " ".join(verdict.split()), verdict
    assert count == 43915, count
    for path, says in (("rocprof/matmul_result.rpd", "rocmProfileData"),
                       ("rocprof/matmul_result_large.rpd", "rocmProfileData"),
                       ("xplane/tpu_inference_2.xplane.pb", "xprof"),
                       ("xplane/jax_conv_mi300.xplane.pb", "xprof")):
        done = run(INPUTS / path, ok=False)
        assert done.returncode == 1 and says in done.stderr, f"{path}: {done.stderr}"
    return "real files"


def check_made(folder):
    for name, data, check in (
            ("plain.sqlite", made.nsys(), check_nsys),
            ("v3.sqlite", made.nsys(nvtx="NVTX_EVENTS_V3"), check_nsys),
            ("two.sqlite", made.nsys(processes=2), check_nsys),
            ("300.db", made.rocpd(version="3.0.0"), check_rocpd),
            ("305.db", made.rocpd(version="3.0.5"), check_rocpd),
            ("rocprof.json", made.rocprof(), check_json),
            ("both.json", made.rocprof(processes=2), check_json),
            ("merged.db", made.rocpd(suffixes=("_a", "_b")), check_rocpd)):
        (folder / name).write_bytes(data)
        check(folder / name)
        check_words(folder / name)
    (folder / "zipped.sqlite.gz").write_bytes(gzip.compress(made.nsys()))
    assert events(folder / "zipped.sqlite.gz") == events(folder / "plain.sqlite")
    # steps by ranges that repeat, in every file; several processes are several ranks
    steps = json.loads(run("steps", folder / "plain.sqlite", "--format", "json").stdout)
    assert len(steps["rows"]) == 5, steps["rows"]
    ranks = json.loads(run("files", folder / "two.sqlite", "--format", "json").stdout)
    sizes = [row[[c["name"] for c in ranks["columns"]].index("disk_bytes")]
             for row in ranks["rows"]]
    assert sizes == [(folder / "two.sqlite").stat().st_size, None], sizes
    run("pack", folder / "plain.sqlite")
    check_words(next(folder.glob("plain*.stepscope")))
    text = run("communication", folder / "plain.sqlite", "--format", "json").stdout
    assert "allreduce" in text and f"{made.COMMUNICATOR:#x}" in text, text
    operators = run("operators", folder / "plain.sqlite", "--format", "json").stdout
    assert "aten::mm" in operators and "op_id" not in operators, operators
    for command in ("info", "files", "events", "diagnose"):
        for name in ("300.db", "rocprof.json"):
            assert made.SECRET not in run(command, folder / name, "--format", "json").stdout


def check_hostile(folder):
    count = 0
    for name, data, is_trace in made.hostile():
        path = folder / "hostile.sqlite"
        path.write_bytes(data)
        done = run("info", path, ok=False)
        assert done.returncode in (0, 1), f"{name}: {done.returncode} {done.stderr}"
        assert done.returncode == 0 or done.stderr.count("\n") == 1, f"{name}: {done.stderr}"
        assert (done.returncode == 0) == is_trace, f"{name}: {done.stderr}"
        assert sorted(p.name for p in folder.glob("hostile*")) == ["hostile.sqlite"], name
        assert path.read_bytes() == data, f"{name}: the file was changed"
        count += 1
    return count


def main():
    features = json.loads(run("version", "--json").stdout)["features"]
    if not features["sqlite"]:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_made(folder)
        hostile = check_hostile(folder)
    print(f"made files and {check_real()}: equal to SQL and Python; {hostile} hostile files")


if __name__ == "__main__":
    main()
