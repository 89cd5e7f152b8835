# SPDX-License-Identifier: Apache-2.0
"""Bytes of real files that are changed: where a figure changes, `quality` says something new."""
import functools
import json
import pathlib

from damage_input.real import forms
from hostile_input.making import rows_of
from hostile_input.running import Failed, strict_json

# what a file is called and how large it is may differ; how long it took does
OWN_COLUMNS = {"path", "file", "load_seconds", "load_ns", "bytes", "disk_bytes", "unpacked_bytes",
               "first_byte"}
ODD_BYTES = b'"\\{}[],:\0\xff\n 09.-eax'


@functools.cache
def views_of(runner):
    """All views and reports, as help lists them."""
    text = runner.run("help").out.decode()
    part = text.split("Reports and views:")[1].split("Other commands:")[0]
    return [line.split()[0] for line in part.splitlines() if line.startswith("  ")]


def figures(document):
    """A table without what two files with the same figures may differ in."""
    if "tables" in document:
        return [figures(table) for table in document["tables"]]
    rows = [{k: v for k, v in row.items() if k not in OWN_COLUMNS} for row in rows_of(document)]
    return json.dumps([rows, document.get("notes")])


class Looked:
    """What the views say of one file; the file is at the same place for all of its damages."""

    def __init__(self, runner, path):
        self.runner, self.path, self.known = runner, str(path), {}

    def document(self, view):
        ran = self.runner.run(view, "--format", "json", self.path)
        return None if ran.code else strict_json(ran.out)

    def view(self, name):
        if name not in self.known:
            document = self.document(name)
            self.known[name] = document and figures(document)
        return self.known[name]


def some_bytes(chance, length):
    return bytes(chance.randrange(256) for _ in range(length))


def damaged(chance, data):
    """(what was done, where, the bytes) for one damage of a random kind."""
    at, way = chance.randrange(len(data)), chance.randrange(9)
    long = min(chance.choice((2, 8, 64, 512, 4096)), max(1, len(data) // 4))
    if way == 0:
        return "bit", at, data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:]
    if way == 1:
        return "byte", at, data[:at] + some_bytes(chance, 1) + data[at + 1:]
    if way == 2:
        return "odd byte", at, data[:at] + bytes([chance.choice(ODD_BYTES)]) + data[at + 1:]
    if way == 3:
        return "inserted", at, data[:at] + bytes([chance.choice(ODD_BYTES)]) + data[at:]
    if way == 4:
        return "removed", at, data[:at] + data[at + 1:]
    if way == 5:
        return "burst", at, data[:at] + some_bytes(chance, long) + data[at + long:]
    if way == 6:
        return "zeros", at, data[:at] + bytes(long) + data[at + long:]
    if way == 7:
        return "piece removed", at, data[:at] + data[at + long:]
    return "piece twice", at, data[:at + long] + data[at:]


def is_good_json(data):
    """Whether another reader takes it: then nothing about its form is wrong."""
    try:
        json.loads(data.decode(), parse_constant=float)
    except ValueError:
        return False
    return True


def whole_of(runner, folder, real):
    """What is said of the whole file; its views are run when they are asked for."""
    if not hasattr(real, "looked"):
        path = folder / "whole.json"
        path.write_bytes(real.data)
        real.looked = Looked(runner, path)
    return real.looked


def check_change(runner, folder, real, chance, verbose):
    """Damages one file once; returns what became of it."""
    plain = (".json", real.data, {})  # compressed streams have checks: most are left plain
    suffix, whole, _ = plain if chance.randrange(4) else forms(chance, real.data, False)
    what, at, data = damaged(chance, whole)
    before, views = whole_of(runner, folder, real), views_of(runner)
    path = pathlib.Path(folder / ("t" + suffix))
    path.write_bytes(data)
    after = Looked(runner, path)
    if after.view("quality") is None:
        return "refused"
    if after.view("quality") != before.view("quality"):
        after.view(chance.choice(views))
        return "said"
    changed = [view for view in views if after.view(view) != before.view(view)]
    if not changed:
        return "without effect"
    place = (f"{real.path} as {suffix}, {what} at {at} of {len(whole)}: "
             f"{whole[max(0, at - 60):at + 40]!r} is {data[max(0, at - 60):at + 40]!r}: {changed}")
    if suffix == ".json" and is_good_json(data):
        if verbose:
            print("NOT SEEN", place, flush=True)
        return "as good as the whole"
    raise Failed(f"nothing said of {place}")
