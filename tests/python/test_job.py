# SPDX-License-Identifier: Apache-2.0
"""Jobs: the same answers as the command, and errors with its sentences."""

import os
import shutil

import pytest
import stepscope
from conftest import command, trace
from stepscope import _core


def same(ours, theirs):
    if isinstance(theirs, float) and ours is not None:
        return abs(ours - theirs) <= 1e-6 * max(1.0, abs(theirs))
    return ours == theirs


def test_views_equal_json(job, job_path):
    compared = 0
    for name, _, is_report, _ in _core.offers():
        if is_report:
            continue
        table = job.view(name)
        theirs = command(name, job_path)
        columns = [column["name"] for column in theirs["columns"]]
        assert list(table.names) == columns, name
        assert len(table) == len(theirs["rows"]), name
        for ours, row in zip(table, theirs["rows"]):
            assert all(map(same, ours, row)), (name, ours, row)
        compared += 1
    assert compared >= 35


def test_methods_equal_names(job):
    assert job.operators(group="shapes", rank=0, top=3).to_dicts() == (
        job.view("operators", group="shapes", rank=0, top=3).to_dicts()
    )
    told = job.operators.__doc__ or ""
    assert "group: what each row stands for: name, shapes, line" in told
    assert all(f"{column.name}" in told for column in job.operators(top=1).columns)
    assert "before" in job.snapshot.diff.__doc__ and "step" not in job.snapshot.holders.__doc__
    names = {name.replace("-", "_") for name, _, is_report, _ in _core.offers() if not is_report}
    assert names <= set(dir(job))


def test_verdict_equals_command(slow):
    path = os.fsdecode(slow._paths[0])
    theirs = command("diagnose", path)
    verdict = slow.verdict
    assert verdict.raw["step_ns"] == theirs["step_ns"] == verdict.step_ns
    assert [finding.rule for finding in verdict.findings] == [
        finding["rule"] for finding in theirs["findings"]
    ]
    assert verdict.findings and verdict.findings[0].saving_ns == theirs["findings"][0]["cost_ns"]
    assert verdict.speedup == pytest.approx(theirs["step_ns"] / theirs["fixed_step_ns"])
    assert verdict.findings[0].title in str(verdict).replace("\n", " ") or len(str(verdict)) > 200


def test_what_if(slow):
    rule = slow.findings[0].rule
    answer = slow.what_if(rule)
    assert {finding.rule for finding in answer.findings} == {rule}
    assert slow.what_if().fixed_step_ns <= answer.fixed_step_ns < slow.verdict.step_ns
    assert slow.what_if(slow.findings[0]).fixed_step_ns == answer.fixed_step_ns
    assert "1 finding fixed" in repr(answer)


def test_diff(job):
    compared = stepscope.diff(job, job)
    table = compared.view("kernels")
    assert len(table) and table.name == "kernels.diff"
    assert compared.raw["runs"][0]["step_ns"] == compared.raw["runs"][1]["step_ns"]
    assert "Step:" in str(compared) and "->" in repr(compared)
    assert compared.step_ns == (job.verdict.step_ns,) * 2


def test_memory():
    path = trace("memory")
    pickles = sorted(name for name in os.listdir(path) if name.endswith(".pickle"))
    if not pickles:
        pytest.skip("no snapshot among the traces")
    whole = os.path.join(path, pickles[0])
    with stepscope.open(whole) as job:
        for name, _, is_report, _ in _core.snapshot_offers():
            if is_report or name == "diff":
                continue
            theirs = command("snapshot", whole, name)
            table = job.snapshot.view(name)
            assert len(table) == len(theirs["rows"]), name
            for ours, row in zip(table, theirs["rows"]):
                assert all(map(same, ours, row)), (name, ours, row)
        assert len(job.snapshot.text()) > 100


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda job: job.view("operatorz"), ValueError, "did you mean 'operators'"),
        (lambda job: job.view("xyzzy"), ValueError, "there are overview, info"),
        (lambda job: job.snapshot.view("holderz"), ValueError, "did you mean 'holders'"),
        (lambda job: job.operators(grup="x"), ValueError, "did you mean 'group'"),
        (lambda job: job.operators(before="x"), ValueError, "there are device, stream, name"),
        (lambda job: job.operators(top=-1), ValueError, "not -1"),
        (lambda job: job.operators()["call"], KeyError, "^no column 'call'; there are rank"),
        (lambda job: job.operators(group="zz"), ValueError, "its groups are"),
        (lambda job: job.operators(rank=99), stepscope.Error, "99"),
        (lambda job: job.view("overview"), ValueError, "several tables"),
        (lambda job: stepscope.open("/nonexistent/x"), OSError, "/nonexistent/x"),
        (lambda job: stepscope.open([]), ValueError, "no files"),
        (lambda job: stepscope.open("a\0b"), ValueError, "NUL"),
        (lambda job: stepscope.explain("no-such-rule"), stepscope.Error, "no-such-rule"),
    ],
)
def test_errors_are_sentences(job, ask, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ask(job)
    assert isinstance(caught.value, stepscope.Error)


def test_not_a_trace(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2")
    with pytest.raises(stepscope.Error):
        stepscope.open(tmp_path / "x.json")


def test_closed(job_path):
    job = stepscope.open(trace("jobs/h100x8_nanogpt/rank0.json.gz"))
    table = job.steps()
    job.close()
    job.close()
    with pytest.raises(ValueError, match="closed"):
        job.steps()
    assert len(table["rank"]) == len(table)  # tables stay


def test_progress_and_stop(job_path):
    seen = []
    stepscope.open(job_path, progress=lambda words, share: seen.append((words, share))).close()
    assert seen and all(0 <= share <= 1 for _, share in seen)
    with pytest.raises(stepscope.StoppedError):
        stepscope.open(job_path, progress=lambda words, share: False)
    with pytest.raises(ZeroDivisionError):
        stepscope.open(job_path, progress=lambda words, share: 1 / 0)


def test_report_spares_inputs(tmp_path):
    path = tmp_path / "rank0.json.gz"
    shutil.copy(trace("jobs/h100x8_nanogpt/rank0.json.gz"), path)
    before = path.read_bytes()
    link = tmp_path / "link.html"
    link.symlink_to(path)
    with stepscope.open(path) as job:
        for target in (path, link, tmp_path):
            with pytest.raises(stepscope.UsageError):
                job.report(target)
        if _core.viewer() is not None:
            job.report(tmp_path / "report.html")
            assert (tmp_path / "report.html").read_bytes().startswith(b"<!doctype html>")
            assert "srcdoc" in job.show()._repr_html_()
    assert path.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
