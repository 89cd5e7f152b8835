# SPDX-License-Identifier: Apache-2.0
"""docs/python: snippets print what the pages say, and pages name the members of their classes.

STEPSCOPE_WRITE_PAGES=1 writes the outputs into the pages instead of comparing them.
"""

import contextlib
import inspect
import io
import os
import re
from pathlib import Path

import pytest
import stepscope
from stepscope import _core

PAGES = Path(__file__).resolve().parents[2] / "docs/python"
BLOCK = re.compile(
    r"^```python needs=(stepscope(?:,\S+)?)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
RUN_TIME = re.compile(r" in \d+\.\d\d s$", re.MULTILINE)
TEMPORARY = re.compile(r"/\S*/stepscope-\w+")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the snippets open."""
    place = tmp_path_factory.mktemp("pages")
    for name, preset in ("traces", "ddp8-slow"), ("after", "ddp8-healthy"):
        stepscope.demo(place / name, preset).close()
    (place / "before").symlink_to("traces")
    return place


def printed(code, place, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, place, "exec"), names)
    text = RUN_TIME.sub("", TEMPORARY.sub("/tmp/stepscope-demo", out.getvalue()))
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_snippets_print_what_pages_say(path, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    text, names = path.read_text(), {}
    for found in list(BLOCK.finditer(text)):
        needs, code, shown = found.groups()
        if "report(" in code and _core.viewer() is None:
            pytest.skip("this build has no viewer")
        for need in needs.split(",")[1:]:
            pytest.importorskip(need)
        now = printed(code, str(path), names)
        if shown is None:
            continue
        if os.environ.get("STEPSCOPE_WRITE_PAGES"):
            text = text.replace(found[0], found[0][: -len(shown) - 3] + now + "```")
            path.write_text(text)
        else:
            assert shown == now


def own_members(thing):
    """What a user of the object sees; the methods of views have pages of their own."""
    views = {name.replace("-", "_") for name, *_ in _core.offers() + _core.snapshot_offers()}
    shared = set() if not isinstance(thing, (stepscope.Job, stepscope.Snapshot)) else views
    if isinstance(thing, stepscope.Job):
        shared -= {"findings", "snapshot"}
    return {name for name in dir(thing) if not name.startswith("_")} - shared


CLASSES = {
    "job": lambda job: job,
    "table": lambda job: job.steps(),
    "column": lambda job: job.steps().columns[0],
    "verdict": lambda job: job.verdict,
    "finding": lambda job: job.findings[0],
    "what-if": lambda job: job.what_if(),
    "comparison": lambda job: stepscope.diff(job, job),
    "snapshot": lambda job: job.snapshot,
}


@pytest.mark.parametrize("name", CLASSES)
def test_pages_name_all_members(slow, name):
    thing = CLASSES[name](slow)
    members = (PAGES / f"{name}.md").read_text().partition("## Members")[2].partition("\n## ")[0]
    rows = dict(ROW.findall(members))
    assert set(rows) == own_members(thing)
    for member, words in rows.items():
        found = inspect.getattr_static(type(thing), member, None)
        told = inspect.getdoc(found) if isinstance(found, property) or callable(found) else None
        if told:
            assert words == told.split("\n")[0], member
        else:
            docs = " ".join(inspect.getdoc(kind) or "" for kind in type(thing).__mro__[:-1])
            assert re.search(rf"\b{member}\b", docs), f"no docstring names {member}"


def test_pages_name_evidence_and_functions(slow):
    text = (PAGES / "finding.md").read_text()
    rows = dict(ROW.findall(text.partition("## Members of Evidence")[2]))
    assert set(rows) == own_members(slow.findings[0].evidence[0])
    text = (PAGES / "README.md").read_text()
    row = r"^\| `(\w+)\(.*?\)` \| (.*?) ?(?:\[\w+\]\(.*?\) )?\|$"
    named = dict(re.findall(row, text, re.MULTILINE))
    functions = {name for name in stepscope.__all__ if inspect.isfunction(getattr(stepscope, name))}
    assert set(named) == functions
    for name, words in named.items():
        assert words == inspect.getdoc(getattr(stepscope, name)).split("\n")[0], name


def test_errors_are_named():
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", (PAGES / "errors.md").read_text(), re.MULTILINE)
    kinds = {
        name: getattr(stepscope, name)
        for name in stepscope.__all__
        if inspect.isclass(getattr(stepscope, name))
        and issubclass(getattr(stepscope, name), Exception)
    }
    assert set(dict(rows)) == set(kinds)
    for name, also in rows:
        assert also in [base.__name__ for base in kinds[name].__mro__]


def test_every_class_has_a_page():
    index = (PAGES / "README.md").read_text()
    pages = "".join(path.read_text() for path in PAGES.glob("*.md"))
    for path in PAGES.glob("*.md"):
        assert path.name == "README.md" or f"({path.name})" in index
    for name in stepscope.__all__:
        if inspect.isclass(getattr(stepscope, name)):
            assert re.search(rf"\b{name}s?\b", pages), name
