# SPDX-License-Identifier: Apache-2.0
"""The verdict: what slows the steps down, what it costs, and how to fix it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _html

_CELLS = re.compile(r"(?<!\\)\|")
_SHOWN_EVIDENCE = 3
_COLORS = {"problem": "#d33", "warning": "#d80", "note": "#888"}


def _time(nanoseconds: int) -> str:
    """Three digits, in the unit that fits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(nanoseconds) >= size:
            value = nanoseconds / size
            digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
            return f"{value:,.{digits}f} {unit}"
    return f"{nanoseconds} ns"


@dataclass(frozen=True)
class Evidence:
    """One observation behind a finding.

    text: what was seen. line: where in the program; None if not recorded. weight_ns: the time per
    step that it is about; None if it is not about time.
    """

    text: str
    line: str | None
    weight_ns: int | None

    def __str__(self) -> str:
        is_named = not self.line or self.line in self.text
        return self.text if is_named else f"{self.text} ({self.line})"


@dataclass(frozen=True, repr=False)
class Finding:
    """One cause of lost time or memory.

    rule: its name for ``explain`` and ``what_if``. level: "problem", "warning" or "note". title:
    what is wrong. ranks: the ranks that have it. saving_ns: what its fix saves per step if the
    fixes before it are in place, between saving_low_ns and saving_high_ns, and share_percent of
    the step; None if not known. saving: the same in words, or the memory that it is about. who:
    the ranks in words, empty if the job has only one. bytes: the memory that it is about; None if
    it is about time. confidence: "high", "medium" or "low", with its reason. evidence: what was
    seen. fix: what to change. raw: the finding as JSON.
    """

    rule: str
    level: str
    title: str
    ranks: tuple[int, ...]
    saving_ns: int | None
    saving_low_ns: int | None
    saving_high_ns: int | None
    share_percent: float | None
    saving: str
    who: str
    bytes: int | None
    confidence: str
    reason: str
    evidence: tuple[Evidence, ...]
    fix: str
    raw: Mapping[str, Any] = field(compare=False)

    def __str__(self) -> str:
        return ", ".join(text for text in (self.title, self.saving, self.who) if text)

    def __repr__(self) -> str:
        return f"<Finding {self.rule}: {self}>"

    def _repr_html_(self) -> str:
        return _html.finding(
            self.title,
            [self.saving, self.who],
            [str(item) for item in self.evidence[:_SHOWN_EVIDENCE]],
            self.fix,
            f"{self.confidence} confidence: {self.reason}" if self.reason else "",
            _COLORS.get(self.level, "#888"),
        )


class Findings(tuple[Finding, ...]):
    """Findings, the one that saves most first: a tuple that shows one below the other."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no findings"

    def _repr_html_(self) -> str:
        return "".join(item._repr_html_() for item in self) or _html.lines(["No findings."])


def _finding(raw: Mapping[str, Any], saving: str, who: str) -> Finding:
    return Finding(
        rule=raw["rule"],
        level=raw["level"],
        title=raw["title"],
        ranks=tuple(raw["ranks"]),
        saving_ns=raw["cost_ns"],
        saving_low_ns=raw["cost_low_ns"],
        saving_high_ns=raw["cost_high_ns"],
        share_percent=raw["share_percent"],
        saving=saving,
        who=who,
        bytes=raw.get("bytes"),
        confidence=raw["confidence"],
        reason=raw["reason"] or "",
        evidence=tuple(
            Evidence(item["text"], item["line"], item["weight_ns"]) for item in raw["evidence"]
        ),
        fix=raw["fix"] or "",
        raw=raw,
    )


def _plain(markdown: str) -> str:
    return re.sub(r"\\(.)", r"\1", markdown.strip())


def _words(markdown: str, count: int) -> tuple[list[str], list[tuple[str, str]]]:
    """What the library writes above the findings, and of each one what it saves and its ranks."""
    head, _, _ = markdown.partition("\n|")
    rows = re.findall(r"^\| \d+ \|.*", markdown, re.MULTILINE)
    words = []
    for row in (rows + [""] * count)[:count]:
        saving, who, *_ = [_plain(cell) for cell in _CELLS.split(row)[3:-2]] + ["", ""]
        words.append((saving, who))
    return [_plain(line.removeprefix("###")) for line in head.splitlines() if line], words


class Verdict:
    """What a job's steps are spent on, and the findings, the one that saves most first.

    ``print(verdict)`` shows what the command shows. step_ns: the mean step; fixed_step_ns: the same
    with all findings fixed; None without a complete step. account: what the step is spent on, in
    nanoseconds. warnings: what to know before trusting the figures. raw: all of it as JSON.
    """

    def __init__(self, raw: Mapping[str, Any], text: str, markdown: str) -> None:
        self.raw = raw
        self._text = text
        self._head, words = _words(markdown, len(raw["findings"]))
        self.step_ns: int | None = raw["step_ns"]
        self.fixed_step_ns: int | None = raw["fixed_step_ns"]
        self.account: Mapping[str, Any] = raw["account"] or {}
        self.findings: Findings = Findings(
            _finding(item, *words[i]) for i, item in enumerate(raw["findings"])
        )
        self.warnings: tuple[str, ...] = tuple(_text_of(item) for item in raw["warnings"])

    @property
    def speedup(self) -> float:
        """How many times as fast a step is with all findings fixed; 1.0 if that is not known."""
        if not self.step_ns or not self.fixed_step_ns:
            return 1.0
        return self.step_ns / self.fixed_step_ns

    def __str__(self) -> str:
        return self._text

    def _counted(self) -> str:
        count = len(self.findings)
        return f"{count or 'no'} finding{'' if count == 1 else 's'}"

    def _faster(self) -> str:
        return f", {self.speedup:.2f}× faster with all fixes" if self.speedup >= 1.005 else ""

    def __repr__(self) -> str:
        step = _time(self.step_ns) if self.step_ns else "unknown"
        return f"<{type(self).__name__}: step {step}, {self._counted()}{self._faster()}>"

    def _repr_html_(self) -> str:
        findings = "".join(item._repr_html_() for item in self.findings)
        return f"{_html.head(self._head)}{findings}"


def _text_of(item: Any) -> str:
    return str(item["text"] if isinstance(item, Mapping) else item)


class WhatIf(Verdict):
    """How long a step would take with some of the findings fixed: ``fixed_step_ns``, ``speedup``.

    findings: those that are assumed to be fixed.
    """

    def _faster(self) -> str:
        after = _time(self.fixed_step_ns) if self.fixed_step_ns else "unknown"
        return f" fixed: {after}, {self.speedup:.2f}× faster"
