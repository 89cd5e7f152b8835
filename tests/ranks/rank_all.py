#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables over all ranks (--rank all) against the tables of the single ranks.

Usage: rank_all.py STEPSCOPE TRACES. For every view that compares ranks and every group of it, on
real jobs: the rows of a rank alone are its rows in the table of each rank; rows that are about the
same make one row, in which least, median, most and the rank with the most are of exactly these
rows; nothing is merged or lost, so what two ranks have sums to what each of them has; rows stand
in the order that the view declares.
"""
import collections
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

JOBS = ["jobs/dlrm_v100x8", "jobs/megatron_tp8", "jobs/torchrec_straggler", "jobs/tp2_tiny",
        "jobs/megatron_tp2", "cpu/stack_memory", "cpu/straggler"]
UNITS = ("_ns", "_bytes", "_percent")


class Server:
    """Answers of one job: it is read once."""

    def __init__(self, stepscope, folder):
        command = [stepscope, "serve", "--no-browser", str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            found = re.search(r"(http://[^/]+)/\S*token=([\w-]+)", line)
            if found:
                self.host, self.token = found.groups()
                self.wait()
                return
        raise AssertionError("serve gave no link")

    def wait(self):
        while self.get("/api/state")["state"] == "loading":
            time.sleep(0.05)

    def ask(self, request):
        return self.get(f"/api/ask/{request}")

    def get(self, path):
        headers = {"Authorization": f"Bearer {self.token}"}
        target = urllib.request.Request(self.host + path, headers=headers)
        with urllib.request.urlopen(target) as answer:
            return json.load(answer)

    def table(self, view, group, rank=None):
        words = ["top=0", group and f"group={group}", rank is not None and f"rank={rank}"]
        return self.ask(f"view/{view}?" + "&".join(word for word in words if word))

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def columns(table):
    return [column["name"] for column in table["columns"]]


def split(name):
    unit = next((unit for unit in UNITS if name.endswith(unit)), "")
    return name[: len(name) - len(unit)], unit


def figures_of(offer, names):
    """Columns of one rank that are compared, with their columns over all ranks."""
    found = {}
    for column in offer["columns"][1:]:
        stem, unit = split(column["name"])
        parts = [f"{stem}_{part}{unit}" for part in ("min", "median", "max")]
        if column["type"] not in ("text", "id") and all(part in names for part in parts):
            worst = f"{column['name']}_worst"
            found[column["name"]] = parts + [worst if worst in names else f"{stem}_worst"]
    return found


def expected(each, keys, figures):
    """Rows over all ranks as the rows of the ranks make them: a list for each key."""
    names = columns(each)
    at = {name: i for i, name in enumerate(names)}
    seen = collections.Counter()
    groups = {}
    for row in each["rows"]:
        key = tuple(row[at[name]] for name in keys)
        nth = seen[row[0], key]
        seen[row[0], key] += 1
        groups.setdefault((key, nth), []).append(row)
    out = collections.defaultdict(list)
    for (key, _), rows in groups.items():
        cells, most = {"ranks": len(rows)}, {}
        for name, parts in figures.items():
            known = [(row[at[name]], row[0]) for row in rows if row[at[name]] is not None]
            values = sorted(value for value, _ in known)
            if not known:
                cells.update(dict.fromkeys(parts[:3]))
                most[parts[3]] = {None}
                continue
            cells.update(zip(parts, (values[0], values[(len(values) - 1) // 2], values[-1])))
            # fractions are told with a few digits: several may have the most of them
            most[parts[3]] = {rank for value, rank in known if value == values[-1]}
        out[key].append((cells, most))
    return out


def take(wanted, cells):
    """Takes the row that is meant by the cells out of the wanted ones; False: there is none."""
    for row in wanted:
        own, most = row
        if all(cells[name] == value for name, value in own.items()) and all(
            cells[name] in ranks for name, ranks in most.items()
        ):
            wanted.remove(row)
            return True
    return False


def check_sums(what, each, table, figures):
    """What two ranks have: the least and the most of a row are all of it."""
    names, own = columns(table), columns(each)
    ranks = names.index("ranks")
    for name, (least, _, most, _) in figures.items():
        if any(row[own.index(name)] is None for row in each["rows"]):
            continue
        low, high = names.index(least), names.index(most)
        total = sum(row[own.index(name)] for row in each["rows"])
        both = sum(row[low] + row[high] for row in table["rows"] if row[ranks] == 2)
        one = sum(row[low] for row in table["rows"] if row[ranks] == 1)
        assert abs(total - both - one) <= 1e-6 * abs(total), f"{what}: {name} sums to another total"


def check_order(what, offer, group, table):
    ordered = offer["order"] and (group or "") not in offer["own_order"]
    names = columns(table)
    by = []
    for name in offer["order"] if ordered else []:
        stem, unit = split(name)
        by.append(names.index(f"{stem}_median{unit}"))
    keys = [tuple(-1 if row[i] is None else row[i] for i in by) for row in table["rows"]]
    assert keys == sorted(keys, reverse=True), f"{what}: not in the order of {offer['order']}"


def check_table(server, offer, group, ranks):
    what = f"{offer['name']} {group or ''}".strip()
    each = server.table(offer["name"], group)
    table = server.table(offer["name"], group, "all")
    names = columns(table)
    # a rank alone is read anew: the first and the last will do
    for rank in {ranks[0], ranks[-1]}:
        alone = server.table(offer["name"], group, rank)
        own = [row for row in each["rows"] if row[0] == rank]
        assert alone["rows"] == own, f"{what}: rank {rank} alone has other rows"
    figures = figures_of(offer, names)
    parts = {part for four in figures.values() for part in four} | {"ranks"}
    keys = [name for name in names if name not in parts]
    wanted = expected(each, keys, figures)
    for row in table["rows"]:
        cells = dict(zip(names, row))
        key = tuple(cells[name] for name in keys)
        assert take(wanted[key], cells), f"{what}: {cells} is not {wanted[key][:2]}"
    lost = [key for key, rows in wanted.items() if rows]
    assert not lost, f"{what}: no rows about {lost[:3]}"
    total = sum(row[names.index("ranks")] for row in table["rows"])
    assert total == len(each["rows"]), f"{what}: {total} of {len(each['rows'])} rows"
    if len(ranks) == 2:
        check_sums(what, each, table, figures)
    check_order(what, offer, group, table)
    return len(table["rows"])


def check_job(stepscope, folder):
    server = Server(stepscope, folder)
    try:
        ranks = [file["rank"] for file in server.ask("job")["files"]]
        tables = rows = 0
        for offer in server.ask("offers")["views"]:
            if offer["of_job"] or offer["of_snapshot"]:
                continue
            for group in offer["groups"] or [None]:
                if group in offer["events"]:
                    continue
                rows += check_table(server, offer, group, ranks)
                tables += 1
        return tables, rows
    finally:
        server.close()


def main():
    stepscope, traces = sys.argv[1], pathlib.Path(sys.argv[2])
    jobs = [traces / job for job in JOBS if (traces / job).is_dir()]
    if not jobs:
        print("rank_all: no traces here")
        sys.exit(77)
    for job in share(jobs):
        tables, rows = check_job(stepscope, job)
        assert tables > 50 and rows > 50, f"{job.name}: {tables} tables, {rows} rows"
        print(f"{job.name}: {tables} tables, {rows} rows over all ranks")


if __name__ == "__main__":
    main()
