#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stepscope merge`: one trace of all ranks, on one clock.

Usage: merge.py STEPSCOPE TRACES. Real jobs (where they are there) and a simulated one whose clocks
are seconds apart are merged: the result is JSON with the events of all files, nothing of one rank
meets another, arrows connect what they did, collectives end together, and it loads again with the
same kernels. What cannot be merged is said in one sentence, and nothing is left behind.
"""
import bisect
import collections
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import chosen

FINE, FAILED, USAGE = 0, 1, 2
STEPSCOPE = sys.argv[1]
TRACES = pathlib.Path(sys.argv[2])
JOBS = ("jobs/megatron_tp8", "jobs/torchrec_straggler", "cpu/healthy", "cpu/straggler")
# ends of one collective on different ranks, after the clocks were compared
TOGETHER_US = 60
PIDS = 100000  # of each file


class Wrong(Exception):
    """A rule does not hold."""


def check(holds, *what):
    if not holds:
        raise Wrong(" ".join(str(word) for word in what)[:2000])


def run(*words, stdin=None):
    result = subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                            text=True, check=False, timeout=600, stdin=stdin)
    check("runtime error" not in result.stderr and "(null)" not in result.stderr, result.stderr)
    return result


def load(path):
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        document = json.loads(file.read().decode("utf-8", "replace"), strict=False)
    return document if isinstance(document, list) else document.get("traceEvents", [])


def strict(path):
    """The events of a result, read without good will."""
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        text = file.read().decode("utf-8")

    def refuse(word):
        raise Wrong(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)["traceEvents"]


def merged(paths, folder, name="merged.json.gz"):
    out = folder / name
    result = run("merge", *paths, "-o", out, "--progress", "none")
    check(result.returncode == FINE, paths, result.stderr)
    check(not list(folder.glob("*.part")), "something is left behind")
    with open(out, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    check(is_gzip == name.endswith(".gz"), name, "is compressed" if is_gzip else "is not")
    return out, result.stdout


def fields(event):
    """What must be the same: everything but process, time and id."""
    rest = {key: value for key, value in event.items() if key not in ("pid", "ts", "id")}
    if event.get("name") == "process_name" and isinstance(event.get("args"), dict):
        rest["args"] = {key: re.sub(r"^(rank|file) \d+: ", "", value) if key == "name" else value
                        for key, value in event["args"].items()}
    return rest


def check_rank(number, ours, theirs):
    """The events of a file and what became of them."""
    pids, shifts = {}, []
    for mine, its in zip(ours, theirs):
        check(fields(mine) == fields(its), number, mine, its)
        check(("pid" in mine) == ("pid" in its), number, mine, its)
        if "pid" in its:
            check(pids.setdefault(str(its["pid"]), mine["pid"]) == mine["pid"], "pid of", mine)
        if "ts" in its and its.get("ph") == "X":
            shifts.append(float(mine["ts"]) - float(its["ts"]))
    check(len(set(pids.values())) == len(pids), number, "processes met", pids)
    # the clock of a rank moves by one amount, and by a drift; doubles of 10^15 us have quarters
    check(not shifts or max(shifts) - min(shifts) < 2000, number, "moved by", min(shifts),
          max(shifts))
    return set(pids.values())


def arrows(events):
    """How many arrows of each name have both ends, by rank: ids pair within a rank."""
    ends = collections.defaultdict(set)
    for event in events:
        if event.get("ph") in ("s", "f", "b", "e"):
            key = (event.get("cat"), event.get("name"), str(event["id"]))
            ends[key].add((event["ph"], event["pid"] // PIDS))
    for key, found in ends.items():
        check(len({rank for _, rank in found}) == 1, "an arrow between ranks", key, found)
    return sum(len(found) == 2 for found in ends.values())


def pairs(events):
    ends = collections.defaultdict(set)
    for event in events:
        if event.get("ph") in ("s", "f", "b", "e"):
            ends[(event.get("cat"), event.get("name"), str(event["id"]))].add(event["ph"])
    return sum(len(found) == 2 for found in ends.values())


def kernels(path):
    result = run("kernels", path, "--format", "json", "--progress", "none")
    check(result.returncode == FINE, path, result.stderr)
    document = json.loads(result.stdout)
    at = [column["name"] for column in document["columns"]].index("calls")
    return sum(row[at] for row in document["rows"])


def ends_by_rank(events):
    ends = collections.defaultdict(list)
    for event in events:
        name = event.get("name", "")
        if event.get("ph") == "X" and name.startswith(("ncclDev", "ncclKernel")):
            ends[event["pid"] // PIDS].append(float(event["ts"]) + float(event["dur"]))
    return [sorted(own) for own in ends.values()]


def check_together(events):
    """
    Each end has one on the first rank beside it; files need not hold all of them. On hosts alone
    threads that wait for a core leave milliseconds apart: nothing is said of those.
    """
    first, *others = ends_by_rank(events) or [[]]
    if not first:
        return "no collectives on devices"
    apart = []
    for own in others:
        for end in own:
            at = bisect.bisect_left(first, end)
            apart.append(min(abs(end - other) for other in first[max(at - 1, 0):at + 1]))
    middle = sorted(apart)[len(apart) // 2]
    check(middle < TOGETHER_US, "collectives end", middle, "us apart")
    return f"{len(apart)} ends of collectives, {middle:.1f} us apart (median)"


def check_job(folder, into):
    """A folder of one job, one file a rank."""
    out, said = merged([folder], into)
    events = strict(out)
    order = {path.name: load(path) for path in sorted(folder.iterdir())
             if re.search(r"rank.*\.json(\.gz)?$", path.name) and "truth" not in path.name}
    total = sum(len(part) for part in order.values())
    check(len(events) == total, folder, len(events), "events of", total)
    check(f"{total:,} events" in said and f"{len(order)} ranks" in said, said)
    # ranks stand one after the other; whose they are, the numbers of events and fields say
    by_rank = collections.defaultdict(list)
    owner = None
    for event in events:
        owner = event["pid"] // PIDS if "pid" in event else owner
        by_rank[owner].append(event)
    check(len(by_rank) == len(order), folder, sorted(by_rank))
    seen = set()
    for number, ours in by_rank.items():
        match = [name for name, part in order.items()
                 if len(part) == len(ours) and fields(part[0]) == fields(ours[0])
                 and fields(part[-1]) == fields(ours[-1])
                 and fields(part[len(part) // 2]) == fields(ours[len(ours) // 2])]
        check(match, folder, "no file of rank", number)
        pids = check_rank(match[0], ours, order[match[0]])
        check(not pids & seen, folder, "ranks share processes")
        seen |= pids
    check(arrows(events) == sum(pairs(part) for part in order.values()), folder, "arrows")
    check(kernels(out) == kernels(folder), folder, "kernels", kernels(out), kernels(folder))
    print("ok", folder.name, total, "events,", check_together(events))


def check_simulated(into):
    """Clocks that are 10 s apart."""
    folder = into / "sim"
    result = run("sim", "--preset", "ddp16-healthy", "--steps", 2, "--sequence", "-o", folder,
                 "--clock-offset-ms", 10000, "--progress", "none")
    check(result.returncode == FINE, result.stderr)
    apart = [min(float(event["ts"]) for event in load(path) if event.get("ph") == "X")
             for path in folder.glob("rank*.json.gz")]
    check(max(apart) - min(apart) > 1e6, "clocks are not apart", apart)
    return folder


def check_again(folder):
    """A second run in the same folder leaves the output of the first one out, and says so."""
    for name in ("merged.json.gz", "again.json"):
        out, text = merged([folder], folder, name)
        first = out.read_bytes()
        check("Left out" not in text, text)
        out, again = merged([folder], folder, name)
        check(out.read_bytes() == first, "the second run of", name, "is another")
        check(f"Left out: '{out}' of an earlier run." in again, again)
        check(again.replace(again[again.index("Left out"):].split("\n")[0] + "\n", "") == text,
              text, again)
        # the folder under another name
        (folder / "linked").symlink_to(folder, target_is_directory=True)
        again = run("merge", folder / "linked", "-o", out, "--progress", "none")
        check(again.returncode == FINE and out.read_bytes() == first, again.stderr)
        # a trace that has its name was not written by it
        saved = folder / "rank0.json.gz"
        text = said(run("merge", folder, "-o", saved), USAGE)
        check("is also an input" in text, text)
        # who names it as an input means it
        text = said(run("merge", out, "-o", out), USAGE)
        check("is also an input" in text, text)
        (folder / "linked").unlink()
        out.unlink()


def figures(trace):
    """What several views say about a merged trace, apart from its name."""
    out = []
    for view in ("operators", "kernels", "communication", "launches", "gaps", "memory"):
        result = run(view, trace, "--format", "csv")
        check(result.returncode == FINE and result.stdout, view, result.stderr)
        out.append(sorted(result.stdout.splitlines()))
    return out


def check_packs(folder):
    """Packs are merged as the JSON beside them, which is never the output."""
    out, text = merged([folder], folder.parent, "whole.json")
    whole = out.read_bytes()
    check(run("pack", folder).returncode == FINE, "no packs")
    packs = sorted(folder.glob("*.stepscope"))
    check(len(packs) > 1, packs)
    for paths in ([folder], packs):
        again, said_of_packs = merged(paths, folder.parent, "whole.json")
        check(again.read_bytes() == whole, "packs are merged as something else")
        check(text in said_of_packs or paths == [folder], said_of_packs, text)
    for paths in ([folder], packs, packs[:1]):
        saved = folder / "rank0.json.gz"
        text = said(run("merge", *paths, "-o", saved), USAGE)
        check("is also an input" in text, text)
    # the JSON has changed: the packs say what it was, and lead to the same figures
    before = figures(out)
    moved = folder / "rank0.moved"
    saved.rename(moved)
    shutil.copy(folder / "rank1.json.gz", saved)
    with open(saved, "ab") as file:
        file.write(b"\0")
    again, _ = merged(packs, folder.parent, "packs.json")
    check(again.read_bytes() != whole, "the JSON was read")
    for now, was in zip(figures(again), before):
        check(now == was, "packs lead elsewhere:", set(now) ^ set(was))
    again.unlink()
    moved.rename(saved)
    for pack in packs:
        pack.unlink()
    out.unlink()


def said(result, code):
    check(result.returncode == code, result.returncode, result.stderr, result.stdout)
    check(result.stderr.startswith("stepscope merge: ") and result.stderr.count("\n") == 1,
          result.stderr)
    return result.stderr


def check_refusals(folder):
    """What cannot be done is one sentence, and leaves nothing behind."""
    (folder / "none").mkdir()
    (folder / "none" / "config.json").write_text("{}", encoding="utf-8")
    trace = folder / "rank0.json"
    trace.write_text('[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]', encoding="utf-8")
    made = folder / "made"
    made.mkdir()
    check(run("pack", trace, "-o", made).returncode == FINE, "no pack")
    check(run("digest", trace, "-o", made).returncode == FINE, "no digest")
    before = sorted(folder.rglob("*"))
    text = said(run("merge", made / "rank0.digest", "-o", folder / "x.json"), USAGE)
    check(f"cannot merge the digest of '{trace}': pass the trace" in text, text)
    check("folder" in said(run("merge"), USAGE), "no paths")
    said(run("merge", folder / "none", "-o", folder / "x.json"), FAILED)
    said(run("merge", folder / "no such file", "-o", folder / "x.json"), FAILED)
    check("cannot write" in said(run("merge", trace, "-o", folder / "no" / "x.json"), FAILED), "")
    # before anything is loaded
    text = said(run("merge", folder / "no such file", "-o", folder / "no" / "x.json"), FAILED)
    check("cannot write" in text, text)
    # a folder is where the file should go
    check("cannot write" in said(run("merge", trace, "-o", folder / "none"), FAILED), "a folder")
    with open(trace, encoding="utf-8") as file:
        text = said(run("merge", "-", "-o", folder / "x.json", stdin=file), USAGE)
    check("standard input" in text, text)
    said(run("merge", trace, "-o", folder / ("x" * 5000)), USAGE)
    check(sorted(folder.rglob("*")) == before, "something is left behind")


def check_small(folder):
    """Files by hand: one, two of no rank, one that is broken, one that is not there."""
    event = '{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%s,"dur":1}'
    (folder / "a.json").write_text("[%s]" % (event % ("a", "5.5")), encoding="utf-8")
    (folder / "b.json").write_text("[%s" % (event % ('x"y', "7")), encoding="utf-8")
    (folder / "c.json").write_text("nothing", encoding="utf-8")
    out, text = merged([folder / "a.json"], folder, "one.json")
    found = strict(out)
    check([(row["name"], row["ts"], row["pid"] // PIDS) for row in found] == [("a", 0.0, 1)], found)
    check("1 ranks" in text or "1 rank," in text, text)
    for rank, name in enumerate("ab"):
        shutil.copy(folder / f"{name}.json", folder / f"rank{rank}.json")
    out, _ = merged([folder / "rank0.json", folder / "rank1.json"], folder, "two.json")
    check([row["name"] for row in strict(out)] == ["a", 'x"y'], strict(out))
    # times that cannot be meant are no reason to stop
    for base in (2**63 - 1, -2**63, 3 * 10**18):
        far = '{"baseTimeNanoseconds":%d,"traceEvents":[%s,%s]}'
        far = far % (base, event % ("a", "3000000000000000"), event % ("b", "-3000000000000000"))
        (folder / "rank2.json").write_text(far, encoding="utf-8")
        out, _ = merged([folder / "rank0.json", folder / "rank2.json"], folder, "far.json.gz")
        check(len(strict(out)) == 3, base, strict(out))
    # over itself it is written as a whole
    again, _ = merged([folder / "a.json"], folder, "two.json")
    check(len(strict(again)) == 1, "the old file is still there")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("refused", "small", "out"):
            (folder / part).mkdir()
        check_refusals(folder / "refused")
        check_small(folder / "small")
        simulated = check_simulated(folder)
        check_job(simulated, folder / "out")
        check_again(simulated)
        check_packs(simulated)
        jobs = chosen.share(TRACES / job for job in JOBS if (TRACES / job).is_dir())
        for job in jobs:
            check_job(job, folder / "out")
        print(f"merge: {len(jobs)} real jobs of {len(JOBS)}")


if __name__ == "__main__":
    main()
