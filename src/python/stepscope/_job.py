# SPDX-License-Identifier: Apache-2.0
"""Jobs: open traces, ask views, compare runs, look at memory, show the viewer."""

from __future__ import annotations

import gzip
import json
import operator
import os
import tempfile
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TypeVar, Union

from . import _core, _html
from ._duckdb import find_duckdb
from ._html import Text
from ._table import Table
from ._verdict import Finding, Findings, Verdict, WhatIf
from ._views import SnapshotViews, Views, check

Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[str, float], object]
_Kind = TypeVar("_Kind", bound=Verdict)
_SHOWN_BYTES = 64 << 20  # a notebook with more than this in a cell is hard to open


def _asked(
    what: str | None,
    format: str | None = None,
    *,
    rank: int | str | None = None,
    step: int | str | None = None,
    top: int | None = 0,
    width: int = 0,
    options: dict[str, object] | None = None,
) -> tuple[Any, ...]:
    """A request as the C part takes it; options that are None are left out."""
    rows = operator.index(top or 0)
    if rows < 0:
        raise _core.UsageError(f"top is a number of rows, 0 for all, not {rows}")
    words = []
    for name, value in (options or {}).items():
        if value is None or value is False:
            continue
        text = "1" if value is True else str(value)
        words.append(f"{name.replace('_', '-')}={text}")
    return (
        None if what is None else what.replace("_", "-"),
        format,
        None if rank is None else str(rank),
        None if step is None else str(step),
        rows,
        width,
        False,
        tuple(words),
    )


def _paths(path: Path | Iterable[Path]) -> tuple[bytes, ...]:
    if isinstance(path, (str, bytes, os.PathLike)):
        path = [path]
    elif not isinstance(path, Iterable):
        raise TypeError(f"open() takes a path or several, not {type(path).__name__}")
    paths = tuple(os.fsencode(os.path.expanduser(os.fspath(one))) for one in path)
    for one in paths:
        if b"\0" in one:
            raise _core.UsageError(f"a path cannot contain a NUL character: {one!r}")
    if not paths:
        raise _core.UsageError("no files were given: pass a trace, a folder, or a list of them")
    return paths


class Snapshot(SnapshotViews):
    """The memory of a job; made by ``job.snapshot``.

    It comes from the snapshots among the files of the job, or from traces that were recorded with
    profile_memory=True. Each view is a method (``job.snapshot.holders()``) and can be asked for
    by its name. If several files have memory, ``rank`` chooses one.
    """

    def __init__(self, session: _core.Session) -> None:
        self._session = session

    def view(
        self,
        view: str,
        /,
        *,
        rank: int | str | None = None,
        top: int | None = 0,
        before: Job | None = None,
        **options: object,
    ) -> Table:
        """One view of memory as a table.

        before: the job that the view "diff" compares with; options as the method of the view has
        them: ``help(job.snapshot.holders)``.
        """
        check("snapshot-", view, options)
        asked = _asked(view, rank=rank, top=top, options=options)
        other = None if before is None else before._session
        return Table(self._session.memory_table(other, *asked))

    def text(
        self,
        view: str | None = None,
        /,
        *,
        rank: int | str | None = None,
        top: int | None = 0,
        width: int = 80,
        **options: object,
    ) -> str:
        """A view, or without a name the most important ones, as the command prints it."""
        if view is not None:
            check("snapshot-", view, options)
        asked = _asked(view, "text", rank=rank, top=top, width=width, options=options)
        return Text(self._session.memory(None, *asked))

    def __repr__(self) -> str:
        names = ", ".join(name.replace("-", "_") for name, *_ in _core.snapshot_offers())
        return f"<Snapshot: {names}>"

    def _repr_html_(self) -> str:
        try:
            return _html.pre(self.text())
        except _core.Error as error:  # several files, or none with memory: a sentence says it
            return _html.lines([str(error)])


class Job(Views):
    """The traces and memory snapshots of one run; made by ``stepscope.open``.

    Each view is a method (``job.operators(group="shapes")``) and can be asked for by its name
    (``job.view("operators")``); ``stepscope.views()`` lists them, ``help(job.operators)`` has the
    options and columns of one. A job can be used in a with statement, which frees the traces at
    its end. Several threads may use it: one waits for the other.
    """

    def __init__(
        self,
        session: _core.Session,
        paths: tuple[bytes, ...],
        folder: tempfile.TemporaryDirectory[str] | None = None,
        threads: int = 0,
        memory_limit: int = 0,
    ) -> None:
        self._session = session
        self._paths = paths
        self._folder = folder  # removed with the job
        self._threads, self._memory_limit = threads, memory_limit
        self._verdict: Verdict | None = None

    @property
    def verdict(self) -> Verdict:
        """What slows the steps down, what it costs, and how to fix it."""
        if self._verdict is None:
            self._verdict = self._judge(Verdict, "diagnose", {})
        return self._verdict

    @property
    def findings(self) -> Findings:
        """The findings of the verdict, the one that saves most first."""
        return self.verdict.findings

    def what_if(self, *fixes: str | Finding) -> WhatIf:
        """How long a step would take with these findings fixed.

        A fix is a finding of this job, or the name of its rule: "sync-stall", or "straggler=3" for
        rank 3 alone. Without any, all findings are fixed.
        """
        names = [fix.rule if isinstance(fix, Finding) else fix for fix in fixes]
        options: dict[str, object] = {"fix": ",".join(names)} if names else {}
        return self._judge(WhatIf, "what-if", options)

    def _judge(self, kind: type[_Kind], what: str, options: dict[str, object]) -> _Kind:
        raw = json.loads(self._session.run(*_asked(what, "json", options=options)))
        text = self._session.run(*_asked(what, "text", width=80, options=options))
        markdown = self._session.run(*_asked(what, "markdown", options=options))
        return kind(raw, text, markdown)

    def view(
        self,
        view: str,
        /,
        *,
        rank: int | str | None = None,
        step: int | str | None = None,
        top: int | None = 0,
        **options: object,
    ) -> Table:
        """One view as a table.

        rank: a number, or "all" for minimum, median and maximum across ranks. step: 3, "3-5", or
        the name of a step. top: at most this many rows per rank; 0: all. Options as the method of
        the view has them: ``group="shapes"``, ``sort="calls"``, ``name="aten::mm"``.
        """
        check("", view, options)
        asked = _asked(view, rank=rank, step=step, top=top, options=options)
        return Table(self._session.table(*asked))

    def sql(self, statements: str, /, *, allow_files: bool = False) -> Table | None:
        """The rows of a SQL query, by DuckDB: ``job.sql("select name, sum(dur_ns) ...")``.

        Tables are the views and the raw columns: ``slices``, ``links``, ``findings`` and so on. Of
        several statements the last one with rows counts; None: no statement has rows. Queries
        reach no files, unless ``allow_files`` is true. DuckDB comes from STEPSCOPE_DUCKDB, from the
        package ``duckdb`` (``pip install 'duckdb>=1.5.3'``), or from the system.
        """
        library = find_duckdb()
        table = self._session.sql(
            statements, library, allow_files, self._threads, self._memory_limit
        )
        return None if table is None else Table(table)

    def text(
        self,
        view: str,
        /,
        *,
        rank: int | str | None = None,
        step: int | str | None = None,
        top: int | None = 0,
        width: int = 80,
        **options: object,
    ) -> str:
        """A view or report ("overview", "info") as the command prints it."""
        check("", view, options)
        asked = _asked(view, "text", rank=rank, step=step, top=top, width=width, options=options)
        return Text(self._session.run(*asked))

    @property
    def snapshot(self) -> Snapshot:
        """The memory of the job."""
        return Snapshot(self._session)

    def html(self, *, max_bytes: int = 0) -> bytes:
        """One HTML page: the viewer with the traces in it. It needs no server.

        max_bytes: raises LimitError if the page would be larger; 0: no limit.
        """
        page = _core.viewer()
        if page is None:
            raise _core.MissingError("this build of stepscope has no viewer")
        return self._session.report(None, gzip.decompress(page), max_bytes)

    def report(self, path: Path) -> None:
        """Writes the page of ``html()`` to a file. It never replaces a file of the job."""
        target = os.fspath(path)
        if os.path.realpath(os.fsencode(target)) in self._inputs():
            raise _core.UsageError(f"'{target}' belongs to the job: choose another file")
        if os.path.isdir(target):
            raise _core.UsageError(f"'{target}' is a folder: name the file, such as report.html")
        page = self.html()
        unfinished = f"{target}.{os.getpid()}.part"
        try:
            with _builtin_open(unfinished, "wb") as out:
                out.write(page)
            os.replace(unfinished, target)
        except BaseException as error:
            if os.path.exists(unfinished):
                os.unlink(unfinished)
            if isinstance(error, OSError):
                raise _core.FileError(f"cannot write '{target}': {error.strerror}") from None
            raise

    def _inputs(self) -> set[bytes]:
        """All files that were read, or stand in a folder that was: none of them is replaced."""
        files = set()
        for path in self._paths:
            names = os.listdir(path) if os.path.isdir(path) else []
            files |= {os.path.join(path, name) for name in names if not name.endswith(b".html")}
            files.add(path)
        try:
            files |= {os.fsencode(str(path)) for path in self.view("files")["path"]}
        except _core.MissingError:  # snapshots only
            pass
        return {os.path.realpath(path) for path in files}

    def show(self, *, height: int = 720, max_bytes: int = _SHOWN_BYTES) -> Frame:
        """The viewer, for the last line of a notebook's cell: a frame that needs no server.

        height: of the frame in pixels. max_bytes: raises LimitError if the page would be larger,
        as a notebook of that size is slow to open and to save.
        """
        try:
            page = self.html(max_bytes=max_bytes)
        except _core.LimitError:
            raise _core.LimitError(
                f"the viewer with these traces has more than {max_bytes / 1e6:.3g} MB, too much for"
                " a notebook: write a file with job.report('report.html') and open it in a browser,"
                " or open fewer ranks"
            ) from None
        return Frame(page.decode("utf-8", "replace"), height)

    def close(self) -> None:
        """Frees the traces. Tables and verdicts stay."""
        self._session.close()
        if self._folder is not None:
            self._folder.cleanup()

    def cancel(self) -> None:
        """Stops what another thread asks for: StoppedError is raised there."""
        self._session.cancel()

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            files, failed, cut = self._session.counts()
        except ValueError:
            return f"<Job {os.fsdecode(self._paths[0])}: closed>"
        words = [f"{files} trace{'' if files == 1 else 's'}"]
        if failed:
            words.append(f"{failed} could not be read")
        if cut:
            words.append(f"{cut} truncated")
        if not files:
            words = ["memory snapshots only"]
        return f"<Job {os.fsdecode(self._paths[0])}: {', '.join(words)}>"

    def _repr_html_(self) -> str:
        path = os.fsdecode(self._paths[0])
        return f"{self.verdict._repr_html_()}{_html.lines([path])}"


class Frame:
    """The viewer with the traces of a job, as a notebook shows it; made by ``job.show()``."""

    def __init__(self, page: str, height: int) -> None:
        self._page, self._height = page, height

    def __repr__(self) -> str:
        size = len(self._page) / 1e6
        return (
            f"<stepscope viewer, {size:.1f} MB: a notebook shows it;"
            " job.report('report.html') writes it to a file>"
        )

    def _repr_html_(self) -> str:
        return _html.frame(self._page, self._height)


class Comparison:
    """Two runs side by side; made by ``stepscope.diff``.

    ``print(comparison)`` shows what changed. before, after: the two jobs.
    """

    def __init__(self, before: Job, after: Job) -> None:
        self.before, self.after = before, after

    def view(
        self,
        view: str,
        /,
        *,
        rank: int | str | None = None,
        step: int | str | None = None,
        top: int | None = 0,
        **options: object,
    ) -> Table:
        """A view of both runs: what is about the same thing stands in one row.

        Columns that differ have the ends _a, _b and _change.
        """
        check("", view, options)
        asked = _asked(view, rank=rank, step=step, top=top, options=options)
        return Table(self.before._session.compare_table(self.after._session, *asked))

    def text(self, view: str | None = None, /, *, width: int = 80) -> str:
        """What changed, as the command prints it; of one view, or without a name of the run."""
        if view is not None:
            check("", view, {})
        asked = _asked(view, "text", width=width)
        return Text(self.before._session.compare(self.after._session, *asked))

    @property
    def raw(self) -> dict[str, Any]:
        """The comparison as JSON: both runs with their step times, and the tables."""
        asked = _asked(None, "json")
        answer: dict[str, Any] = json.loads(
            self.before._session.compare(self.after._session, *asked)
        )
        return answer

    @property
    def step_ns(self) -> tuple[int | None, int | None]:
        """The mean step of both runs; None without a complete step."""
        before, after = self.raw["runs"]
        return before["step_ns"], after["step_ns"]

    def __repr__(self) -> str:
        times = self.text().partition("Step: ")[2].partition("\n")[0]
        return f"<Comparison: step {times or 'unknown'}>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        head, _, tables = self.text(width=100).partition("\n\n")
        lines = sorted(head.splitlines(), key=lambda line: not line.startswith("Step: "))
        return _html.head(lines) + _html.pre(tables)


_builtin_open = open


def open(  # noqa: A001
    path: Path | Iterable[Path],
    *,
    threads: int = 0,
    memory_limit: int = 0,
    run: str | int | None = None,
    reduce: bool = False,
    progress: Progress | None = None,
) -> Job:
    """Opens traces and memory snapshots: a file, a folder, or several of both.

    threads: how many read; 0: one per core. memory_limit: in bytes, LimitError beyond it; 0: none.
    run: its number or name if a folder has several; default: the newest complete one. reduce: keeps
    only what the verdict and the views of the whole job need, for jobs of many ranks. progress:
    called with what is being done and the share that is done; if it returns False, the load stops.
    """
    paths = _paths(path)
    wanted = None if run is None else str(run)
    session = _core.Session(paths, threads, memory_limit, wanted, reduce, progress)
    return Job(session, paths, threads=threads, memory_limit=memory_limit)


def diff(before: Job | Path, after: Job | Path) -> Comparison:
    """Compares two runs: jobs, or paths to open."""
    jobs = [one if isinstance(one, Job) else open(one) for one in (before, after)]
    return Comparison(*jobs)


def demo(folder: Path | None = None, preset: str = "ddp8-slow", *, seed: int = 0) -> Job:
    """Simulates a job and opens it: eight ranks with a slow input, a slow GPU and host syncs.

    folder: where the traces go; default: a temporary folder, removed when the job is closed.
    preset: another job, such as "ddp8-healthy" or "gpu1-memory-leak"; ``python -m stepscope sim
    --list`` lists them. seed: of the noise.
    """
    temporary = None if folder is not None else tempfile.TemporaryDirectory(prefix="stepscope-")
    where = temporary.name if temporary is not None else folder
    assert where is not None
    _core.simulate(os.fsencode(where), preset, seed)
    paths = _paths(where)
    return Job(_core.Session(paths), paths, temporary)


def store_changes(store: Path, job: str | None = None) -> Table:
    """Where steps of running jobs began to take longer, or less, for good, over weeks.

    store: a folder that ``stepscope watch`` or ``stepscope store add`` fills with live numbers.
    job: this one alone.
    """
    return Table(_core.store_changes(os.fsencode(store), job, find_duckdb()))


def explain(rule: str | None = None, *, format: str = "text") -> str:
    """What a rule looks for and how to fix it; without a name, the list of all rules.

    format: "text" or "markdown".
    """
    return Text(_core.explain(*_asked(rule, format, width=80)))


def views() -> dict[str, str]:
    """The views and reports, with a line about each."""
    return {name: summary for name, summary, _, _ in _core.offers()}
