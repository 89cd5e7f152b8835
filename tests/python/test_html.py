# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: tables, verdicts and the viewer, with names that attack the page."""

import gzip
import html
import json
import os
import re
from html.parser import HTMLParser

import pytest
import stepscope
from stepscope import _core

# Names of an attacker, and what must not be left of them.
NAMES = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</td></table></pre><iframe srcdoc=x>",
    "javascript:alert(1)",
    "a\u202egnp.exe\u2066\u200f\u061c",
    "esc\x1b[31m bell\x07 nul\x00 tab\t",
    "&lt;b&gt; &amp; \\| ** `x` | 7 | x |",
    "x" * 5000,
    "\ud800 lone",
]
TAGS = set("div b bdi span ul li pre table caption thead tbody tr th td".split())
ATTRIBUTES = {"style", "title", "scope"}
STRANGE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069]")


class Reader(HTMLParser):
    """Fails at elements and attributes that are not ours, and at elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.tags = [], [], []
        assert not STRANGE.search(text), repr(STRANGE.search(text))
        text.encode("utf-8")
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def hostile(folder):
    """A simulated trace with these names where rules do not look for others."""
    stepscope.demo(folder / "job", "gpu1-sync-print").close()
    line = "<script>alert(1)<b>" + NAMES[1] + NAMES[4] + NAMES[5]
    for path in (folder / "job").glob("rank*"):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        for i, event in enumerate(trace["traceEvents"]):
            if event.get("cat") == "python_function":
                event["name"] = event["name"].replace(".py(", f"{line}.py(")
            elif event.get("cat") == "kernel":
                event["name"] = NAMES[i % len(NAMES)] + event["name"]
        path.write_bytes(gzip.compress(json.dumps(trace).encode(), 1))
    (folder / "job").rename(folder / "<b>job")
    return folder / "<b>job"


def test_hostile_names(tmp_path):
    with stepscope.open(hostile(tmp_path)) as job:
        assert any(name.startswith("<script>") for name in job.kernels()["name"])
        assert any("<script>" in (item.line or "") for item in job.findings[0].evidence)
        shown = [job, job.verdict, job.findings, job.what_if(), job.kernels(), job.stacks()]
        shown += [job.snapshot, stepscope.diff(job, job), job.text("kernels")]
        shown += [job.kernels(name="no such kernel"), *job.findings]
        for one in shown:
            Reader(one._repr_html_())
            assert repr(one)
        assert "&lt;script&gt;alert" in job._repr_html_()
        assert "&lt;script&gt;alert" in job.kernels()._repr_html_()
        assert "&lt;b&gt;job" in job._repr_html_()
        assert not STRANGE.search(str(job.kernels()))


def test_long_tables_are_shortened(slow):
    table = slow.operators()
    assert len(table) > 100
    reader = Reader(table._repr_html_())
    rows = [tag for tag, _ in reader.tags].count("tr")
    assert rows == 31
    assert f"operators: the first 30 of {len(table):,} rows" in reader.words
    short = slow.steps(rank=0)
    assert f"steps: {len(short)} rows" in Reader(short._repr_html_()).words
    assert "<caption" in short._repr_html_()


def test_columns_say_what_they_are(slow):
    table = slow.operators(rank=0, top=3)
    reader = Reader(table._repr_html_())
    heads = [attributes for tag, attributes in reader.tags if tag == "th"]
    assert all(head["scope"] == "col" for head in heads)
    titles = {head["title"].partition(": ")[0]: head["title"] for head in heads}
    assert "time on the CPU without the operators" in titles["host_self_ns"]
    assert "host_self [ms]" in reader.words and "shapes" not in reader.words
    cells = [attributes for tag, attributes in reader.tags if tag == "td"]
    assert "text-align:right" in cells[0]["style"] and "text-align:left" in cells[1]["style"]
    value = table["device_self_ns"][0]
    assert f"{value / 1e6:,.3f}" in reader.words
    assert any(word.startswith("Columns without values:") for word in reader.words)


def test_no_colours_of_a_theme(slow):
    """Text has the colour of the page: it is readable in light and dark notebooks."""
    for one in (slow, slow.operators(), stepscope.diff(slow, slow)):
        assert not re.search(r"[;\"](color|background)", one._repr_html_())


def test_verdict_has_the_words_of_the_command(slow):
    words = " ".join(Reader(slow._repr_html_()).words)
    printed = " ".join(str(slow.verdict).split())
    for finding in slow.findings:
        assert finding.title in words and finding.saving in words and finding.who in words
        assert finding.title in printed and finding.saving in printed
        assert finding.evidence[0].text in words
    assert str(slow.verdict).splitlines()[2] in words


def test_snapshot_job(tmp_path):
    import pickle

    path = tmp_path / "memory.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": []}))
    with stepscope.open(path) as job:
        assert "snapshots only" in repr(job)
        Reader(job._repr_html_())
        Reader(job.snapshot._repr_html_())
        with pytest.raises(stepscope.UsageError, match="belongs to the job"):
            job.report(path)


needs_viewer = pytest.mark.skipif(_core.viewer() is None, reason="this build has no viewer")


@needs_viewer
def test_show_is_one_sandboxed_frame(slow):
    frame = slow.show(height=333)
    shown = frame._repr_html_()
    found = re.fullmatch(r'<iframe ([^<>]*?) srcdoc="([^"]*)"></iframe>', shown, re.DOTALL)
    assert found
    attributes, page = found[1], html.unescape(found[2])
    assert "height:333px" in attributes and 'title="stepscope viewer"' in attributes
    rights = re.search(r'sandbox="([^"]*)"', attributes)[1].split()
    assert "allow-scripts" in rights and "allow-same-origin" not in rights
    assert page.replace('<base href="about:srcdoc">', "") == slow.html().decode()
    assert "MB" in repr(frame) and len(repr(frame)) < 200


@needs_viewer
def test_show_has_a_limit(slow):
    with pytest.raises(stepscope.LimitError, match=r"job\.report\('report.html'\)"):
        slow.show(max_bytes=1 << 20)


@needs_viewer
def test_report_replaces_no_file_of_the_job(tmp_path):
    folder = tmp_path / "job"
    with stepscope.demo(folder, "gpu1-healthy") as job:
        (folder / "notes.txt").write_text("mine")
        for name in os.listdir(folder):
            with pytest.raises(stepscope.UsageError, match="belongs to the job"):
                job.report(folder / name)
        with pytest.raises(stepscope.UsageError, match="folder"):
            job.report(tmp_path)
        with pytest.raises(stepscope.FileError, match="cannot write"):
            job.report(tmp_path / "missing" / "report.html")
        for _ in range(2):  # its own report may be replaced
            job.report(folder / "report.html")
        assert (folder / "report.html").read_bytes() == job.html()


def test_demo_leaves_nothing():
    job = stepscope.demo(preset="gpu1-healthy")
    folder = os.fsdecode(job._paths[0])
    assert os.path.isdir(folder)
    job.close()
    assert not os.path.exists(folder) and "closed" in repr(job)
