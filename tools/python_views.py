#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes _views.pyi and _views.json of src/python/stepscope: types and help of the view methods.

    tools/python_views.py BUILD [--check]

BUILD is a build folder with the Python module. With --check nothing is written: the exit code is 1
if a file is not what would be written.
"""

import ctypes
import json
import pickle
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src/python/stepscope"

HEAD = """# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_views.py from the declarations of the library: do not edit.
from . import _core
from ._table import Table

_Text = int | str | None

def offered(view: str) -> list[tuple[str, str | None, str]]: ...
def unknown(kind: str, name: str, known: list[str]) -> _core.UsageError: ...
def check(prefix: str, view: str, options: dict[str, object]) -> None: ...
"""


def method(offered, prefix, name, summary):
    parameters = ["self", "*", "rank: _Text = None"]
    parameters += [] if prefix else ["step: _Text = None"]
    parameters.append("top: int = 0")
    for option, value, _ in offered(prefix + name):
        parameters.append(f"{option}: _Text = None" if value else f"{option}: bool = False")
    if name == "diff":
        parameters.append("before: object = None")
    lines = textwrap.wrap(", ".join(parameters), 88, break_long_words=False)
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"    def {name.replace('-', '_')}(\n{body},\n    ) -> Table:\n"
        f'        """{summary}."""\n'
    )


def written(views, core):
    parts = [HEAD]
    for kind, offers, prefix in (
        ("Views", core.offers(), ""),
        ("SnapshotViews", core.snapshot_offers(), "snapshot-"),
    ):
        parts.append(f"\nclass {kind}:\n")
        parts += [
            method(views.offered, prefix, name, summary)
            for name, summary, is_report, _ in offers
            if not is_report
        ]
    return "".join(parts)


def groups(library, prefix, view):
    """The groups of a view, the default first; a view with only one has no choice."""
    at = library.ss_snapshots_group_at if prefix else library.ss_group_at
    at.restype, at.argtypes = ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_size_t]
    found = []
    while name := at(view.encode(), len(found)):
        found.append(name.decode())
    return found if len(found) > 1 else []


def known(stepscope, core, library):
    """Groups and columns of all views; every view answers for an empty trace or snapshot."""
    about = {}
    with tempfile.TemporaryDirectory() as folder:
        trace, pickled = Path(folder, "trace.json"), Path(folder, "empty.pickle")
        trace.write_text('{"traceEvents":[]}')
        pickled.write_bytes(pickle.dumps({"segments": [], "device_traces": []}))
        jobs = {"": stepscope.open(trace), "snapshot-": stepscope.open(pickled)}
        for prefix, job in jobs.items():
            for name, _, is_report, _ in core.snapshot_offers() if prefix else core.offers():
                if is_report:
                    continue
                before = {"before": job} if prefix and name == "diff" else {}
                table = (job.snapshot if prefix else job).view(name, **before)
                columns = [[column.name, column.unit, column.about] for column in table.columns]
                about[prefix + name] = {
                    "groups": groups(library, prefix, name), "columns": columns
                }
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in about.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main():
    build = Path(sys.argv[1])
    sys.path.insert(0, str(build / "src/python"))
    import stepscope
    from stepscope import _core, _views

    library = ctypes.CDLL(str((build / "src/libstepscope.so").resolve()))
    texts = {"_views.pyi": written(_views, _core), "_views.json": known(stepscope, _core, library)}
    for name, text in texts.items():
        path = PACKAGE / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            return f"{path}: out of date; run tools/generate BUILD"
    return 0


if __name__ == "__main__":
    sys.exit(main())
