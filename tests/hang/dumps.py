#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dumps.py - flight recorder dumps through the whole program.

    dumps.py STEPSCOPE [RECORDED]

Made dumps (make_dumps.py): every planted kind is named with its rank and group, by `hang`, the
plain command, JSON and SQL; 4,096 ranks take about four times as long as 1,024. Recorded
dumps (tests/hang/recorded and those of RECORDED): the cause is that of truth.json. Newer versions,
and dumps that were written after a timeout, have the same cause. Damaged and hostile files end in a
sentence.
"""

import json
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from make_dumps import KINDS, PLANTED, make

RANKS = 16
# A rank alone; which gloo aborts is not in its dump.
TRUTH = {
    "healthy": None,
    "slow_not_hung": None,
    "p2p_deadlock": None,  # gloo records no point-to-point calls
    "missing_rank": ("did-not-come", "2", "group 2 [2, 3]"),
    "crashed_rank": ("left-no-dump", "3", "default_pg"),
    "wrong_op": ("other-operation", "1", "default_pg"),
    "wrong_size": ("left-no-dump", "1", "default_pg"),
    "wrong_dtype": ("other-type", "2", "default_pg"),
    "order_of_groups": ("group-order", "1", "group 4"),
    "extra_collective": ("one-more", "0", "default_pg"),
    "early_end": ("did-not-come", "3", "group 2 [2, 3]"),
    "dropped_records": ("did-not-come", "1", "group 1 [0, 1]"),
    "stuck_group": ("did-not-come", "5", "group 3 [4, 5]"),
}
EXPECTED = {
    "did-not-come": ("5", "mesh_tp"),
    "left-no-dump": ("5", "default_pg"),
    "other-operation": ("5", "default_pg"),
    "other-size": ("5", "default_pg"),
    "other-type": ("5", "default_pg"),
    "group-order": ("5, 0", "default_pg"),
    "not-finished": (None, "default_pg"),
    "not-started": ("5", "default_pg"),
    "watchdog-stuck": ("5", None),
}
stepscope = sys.argv[1]
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)
        print("FAILED:", what)


def run(*arguments):
    done = subprocess.run([stepscope, *map(str, arguments)], capture_output=True, text=True,
                          timeout=60)  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def causes(folder):
    """The rows of the view hang-causes as dictionaries."""
    code, out = run("hang-causes", folder, "--format", "json")
    check(code == 0, f"{folder}: hang-causes ends with {code}: {out[:200]}")
    table = json.loads(out)
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def no_word(folder):
    """Nothing waits, and no output says otherwise."""
    for command in ("hang", "diagnose"):
        code, out = run(command, folder)
        check(code == 0, f"{folder}: {command} ends with {code}")
        check("No rank waits for another" in out, f"{folder}: {command} says\n{out}")
        check("did not come" not in out and "left no dump" not in out, f"{folder}: {out}")
        check(" hang" not in out.replace("stepscope hang", ""), f"{folder}: {out}")


def check_made(folder):
    for kind in KINDS:
        path = folder / kind
        make(path, kind, RANKS)
        if kind == "healthy":
            no_word(path)
            continue
        ranks, group = EXPECTED[kind]
        rows = [row for row in causes(path) if row["cause"] == kind]
        check(len(rows) == 1, f"{kind}: {causes(path)}")
        if not rows:
            continue
        check(rows[0]["ranks"] == ranks, f"{kind}: ranks are {rows[0]['ranks']}")
        check(not group or rows[0]["process_group"].startswith(group), f"{kind}: {rows[0]}")
        code, out = run(path)
        check(code == 0 and rows[0]["sentence"] in " ".join(out.split()), f"{kind}: {out}")
        head = run("hang", path)[1].partition("\n\n")[0].splitlines()
        fix = [line[:3] for line in head[[line[:3] for line in head].index("-> "):]]
        check(max(map(len, head)) <= 80 and set(fix[1:]) <= {"   "}, f"{kind}: {head}")
        found = json.loads(run("diagnose", path, "--format", "json")[1])["findings"]
        check([f["rule"] for f in found] == ["hang"] * len(causes(path)), f"{kind}: {found}")
    rows = causes(folder / "other-operation")
    check(rows[0]["line"] == "step (train.py:84)", f"the line is {rows[0]['line']}")


def check_recorded(folder):
    for name, truth in TRUTH.items():
        path = folder / name
        if not path.is_dir():
            continue
        for form in [form for form in ("pickle", "json") if (path / form).is_dir()] or ["."]:
            if not truth:
                no_word(path / form)
                continue
            kind, rank, group = truth
            rows = causes(path / form)
            check(rows and rows[0]["cause"] == kind, f"{path}/{form}: {rows[:1]}")
            check(rows and rows[0]["ranks"].split(",")[0] == rank, f"{path}/{form}: {rows[:1]}")
            check(rows and rows[0]["process_group"].startswith(group), f"{path}: {rows[:1]}")


def check_left_out(folder):
    """A file without a rank and a second file of a rank are two things."""
    job, older = folder / "left-out", folder / "older"
    make(job, "did-not-come", RANKS)
    unnamed = folder / "dump"
    shutil.copy(job / "nccl_trace_rank_0", unnamed)
    without = "1 dump is left out: its file name has no rank."
    twin = "1 dump is left out: another dump of its rank counts."
    out = " ".join(run("hang", job, unnamed)[1].split())
    check(without in out and "counts." not in out, f"no rank in the name: {out}")
    shutil.copy(job / "nccl_trace_rank_0", job / "nccl_trace_rank_00")
    out = " ".join(run("hang", job, unnamed)[1].split())
    check(without in out and twin in out, f"two dumps of a rank: {out}")
    make(older, "healthy", RANKS)
    out = " ".join(run("hang", older, folder / "did-not-come")[1].split())
    check(f"{RANKS} dumps are left out: other dumps of their ranks count." in out, f"twins: {out}")
    check("no rank." not in out, f"twins have ranks: {out}")


def check_far_apart(folder):
    """Times that add up to more than fits, and numbers of groups that no rank has."""
    folder.mkdir()
    for rank, time in enumerate((1, 2**63 - 1)):
        entries = [{
            "record_id": i, "pg_id": (0, 2**32, -1, 2**63 - 1)[i % 4],
            "process_group": ["0", "default_pg"], "collective_seq_id": i + 1,
            "profiling_name": "nccl:all_reduce", "time_created_ns": time, "input_sizes": [[4]],
            "input_dtypes": ["Float"], "state": "completed", "retired": True, "is_p2p": False,
        } for i in range(8)]  # fmt: skip
        config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
        (folder / f"nccl_trace_rank_{rank}").write_text(json.dumps(
            {"version": "2.10", "pg_config": config, "entries": entries}))  # fmt: skip
    out = run("hang", folder)[1]
    check("Rank 1 comes last to 8 of 8" in " ".join(out.split()), f"far apart: {out}")


def change(folder, to, how):
    """Copies dumps, each after `how` changed it."""
    to.mkdir()
    for path in folder.iterdir():
        dump = pickle.loads(path.read_bytes())
        how(dump)
        (to / path.name).write_bytes(pickle.dumps(dump, 4))
    return to


def newer(dump):
    """Version 2.11 adds the split sizes of all-to-alls; later ones will add more."""
    dump["version"] = "2.11"
    dump["something_new"] = {"a": [1, {"b": None}]}
    for entry in dump["entries"]:
        entry["input_split_sizes"] = entry["output_split_sizes"] = [[1024, 3072], [2048, 2048]]
        entry["something_new"] = ("x", [1.5])


def timed_out(dump):
    """As gloo leaves it after a timeout: no states, everything is retired, no lists of ranks."""
    dump["pg_config"] = {"": {"name": "", "desc": "", "ranks": "[]"}}
    dump["pg_status"] = {}
    for entry in dump["entries"]:
        entry["profiling_name"] = entry["profiling_name"].replace("nccl:", "gloo:")
        entry.update(state="scheduled", retired=True, time_discovered_started_ns=None,
                     time_discovered_completed_ns=None)  # fmt: skip


def check_changed(folder):
    for kind in ("did-not-come", "other-operation", "other-size"):
        path = change(folder / kind, folder / f"{kind}-newer", newer)
        check(causes(path) == causes(folder / kind), f"{kind} of version 2.11: {causes(path)}")
        path = change(folder / kind, folder / f"{kind}-late", timed_out)
        rows = causes(path)
        check(rows and rows[0]["cause"] == kind, f"{kind} after the timeout: {rows[:1]}")
        check(rows and rows[0]["ranks"] == EXPECTED[kind][0], f"{kind} after it: {rows[:1]}")
    no_word(change(folder / "healthy", folder / "healthy-late", timed_out))
    # each rank ends in a group of its own: whether these have the same ranks is not recorded
    path = change(folder / "healthy", folder / "ends", timed_out)
    for number, file in enumerate(sorted(path.iterdir())):
        dump = pickle.loads(file.read_bytes())
        last = {**dump["entries"][-1], "record_id": dump["entries"][-1]["record_id"] + 1,
                "collective_seq_id": 1, "process_group": (f"new{number % 2}", "undefined")}
        dump["entries"].append(last)
        file.write_bytes(pickle.dumps(dump, 4))
    no_word(path)
    text = " ".join(run("hang", path)[1].split())
    check("no dump lists the ranks" in text, "what cannot be known is not said")
    check("has finished" not in text, "calls that ended in different groups are called finished")


class Evil:
    def __reduce__(self):
        return (print, ("executed",))


def check_hostile(folder):
    folder.mkdir()
    whole = (folder.parent / "other-size" / "nccl_trace_rank_0").read_bytes()
    files = {
        "empty": b"",
        "imports": pickle.dumps({"version": "2.10", "pg_config": {}, "entries": [Evil()]}),
        "only_a_start": whole[:64],
        "cut": whole[: len(whole) // 2],
        "deep": b'{"entries":[' + b"[" * 100000,
        "numbers": b'{"comm_lib_version":"","entries":[{"record_id":1e400,"profiling_name":'
        b'"nccl:x","collective_seq_id":99999999999999999999,"input_sizes":[[-1,'
        b'9223372036854775807,9223372036854775807]],"pg_id":-5}]}',
        "ranks": b'{"pg_config":{"0":{"ranks":"[0, 99999999999, -1, 5000000]"}},"entries":[]}',
    }
    for name, data in files.items():
        path = folder / f"{name}_rank_0"
        path.write_bytes(data)
        code, out = run("hang", path)
        check(code in (0, 1), f"{name}: ends with {code}: {out}")
        check("executed" not in out, f"{name}: a pickle was executed")
        check(code == 0 or out.count("\n") <= 2, f"{name}: not a sentence: {out}")
    check("truncated" in run("hang", folder / "cut_rank_0")[1], "a cut dump is not reported")


def check_traced(folder):
    """With traces of as many ranks: how often the rank came last, as in the view collectives."""
    traces, dumps = folder / "traced", folder / "dumps8"
    code, out = run("sim", "--preset", "ddp8-straggler", "--steps", 3, "-o", traces)
    check(code == 0, out)
    make(dumps, "did-not-come", 8)
    table = json.loads(run("collectives", traces, "--top", 0, "--format", "json")[1])
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    met = [row for row in rows if row["wait_ns"] is not None]
    last = sum(row["last"] == 5 for row in met)
    said = f"in the traces rank 5 comes last to {last} of {len(met)} collectives"
    text = " ".join(run("diagnose", traces, dumps, "--verbose")[1].split())
    check(len(met) >= 8 and said in text, f"not said: {said}: {text[:1500]}")
    alone = run("diagnose", traces / "rank0.json.gz", dumps, "--verbose")[1]
    check("did not come" in alone and "in the traces" not in alone, f"one rank: {alone[:400]}")


def check_sql(folder):
    code, out = run("sql", folder / "did-not-come",
                    "SELECT cause, ranks FROM hang_causes")  # fmt: skip
    if "DuckDB" in out and code:
        print("no DuckDB: SQL is not tested")
    else:
        check("did-not-come" in out, f"SQL: {out}")


def seconds_of(folder, ranks):
    """CPU time of `hang` on this many dumps, and what it prints."""
    make(folder / str(ranks), "did-not-come", ranks, 16)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, out = run(folder / str(ranks))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(code == 0 and "Rank 5 did not come" in out, f"{ranks} ranks: {out[:300]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def check_many(folder):
    few, _ = seconds_of(folder, 1024)
    many, out = seconds_of(folder, 4096)
    print(f"1,024 ranks: {few:.2f} s of CPU time, 4,096: {many:.2f}")
    # four times as many: what grows faster than that would show at once
    check(many < 8 * few + 0.5, f"4,096 ranks take {many:.2f} s, 1,024 {few:.2f}")
    check(len(out.splitlines()) < 60, f"4,096 ranks: {len(out.splitlines())} lines")


def main():
    folder = Path(tempfile.mkdtemp())
    try:
        check_made(folder)
        check_recorded(Path(__file__).parent / "recorded")
        if len(sys.argv) > 2 and Path(sys.argv[2]).is_dir():
            check_recorded(Path(sys.argv[2]))
        check_left_out(folder)
        check_far_apart(folder / "far")
        check_changed(folder)
        check_hostile(folder / "hostile")
        check_traced(folder)
        check_sql(folder)
        check_many(folder / "many")
    finally:
        shutil.rmtree(folder)
    return 1 if problems else 0


sys.exit(main())
