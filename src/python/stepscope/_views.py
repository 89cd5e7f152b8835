# SPDX-License-Identifier: Apache-2.0
"""Each view as a method, made from the declarations of the library; _views.pyi has their types.

_views.json has what only an open session knows: groups and columns, for the help of the methods.
"""

from __future__ import annotations

import inspect
import json
import os
import textwrap
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from . import _core

# Options that are about printing, or that view() has as parameters of its own.
_NOT_OFFERED = {"format", "top", "rank", "step", "width", "color", "before"}
_HELP_COLUMNS = 88
_SHARED = {
    "rank": 'a number, or "all" for minimum, median and maximum across ranks',
    "step": '3, "3-5", or the name of a step',
    "top": "at most this many rows per rank; 0: all",
    "before": "the job to compare with",
}


def offered(view: str) -> list[tuple[str, str | None, str]]:
    """The options of a view: name in Python, how help calls the value, and a line about it."""
    return [
        (name.replace("-", "_"), value, about)
        for name, value, about in _core.options_of(view)
        if name not in _NOT_OFFERED
    ]


def unknown(kind: str, name: str, known: list[str]) -> _core.UsageError:
    """An error that names what was probably meant, or else what there is."""
    near = get_close_matches(name, known, 1)
    there = f"there are {', '.join(known)}" if known else "it has none"
    return _core.UsageError(
        f"no {kind} called '{name}'; " + (f"did you mean '{near[0]}'?" if near else there)
    )


def check(prefix: str, view: str, options: dict[str, object]) -> None:
    """Raises UsageError for a view or an option that does not exist."""
    if not isinstance(view, str):
        raise TypeError(f"a view is a name, such as 'operators', not {type(view).__name__}")
    offers = _core.snapshot_offers() if prefix else _core.offers()
    names = [name.replace("-", "_") for name, _, _, _ in offers]
    if view.replace("-", "_") not in names:
        raise unknown("view of memory" if prefix else "view", view, names)
    own = [option for option, _, _ in offered(prefix + view.replace("_", "-"))]
    for option in options:
        if option not in own:
            raise unknown(f"option of {view}", option, own)


def _wrapped(line: str, indent: str) -> list[str]:
    if len(line) <= _HELP_COLUMNS:  # most of them, and each import makes hundreds
        return [line]
    return textwrap.wrap(line, _HELP_COLUMNS, subsequent_indent=indent)


def _help(summary: str, words: list[str], own: dict[str, str], key: str) -> str:
    known = _KNOWN.get(key, {"groups": [], "columns": []})
    lines = [f"{summary}.", ""]
    for word in words:
        about = own.get(word, _SHARED.get(word, ""))
        if word == "group" and known["groups"]:
            about = f"{about}: {', '.join(known['groups'])}"
        lines += _wrapped(f"{word}: {about}", "    ")
    lines += ["", "Columns:"] if known["columns"] else []
    for name, unit, about in known["columns"]:
        of = f" [{unit}]" if unit else ""
        lines += _wrapped(f"  {name}{of}: {about}", "      ")
    return "\n".join(lines)


def _method(owner: str, prefix: str, name: str, summary: str) -> Any:
    def ask(self: Any, **options: Any) -> Any:
        return self.view(name, **options)

    own = {option: about for option, _, about in offered(prefix + name)}
    words = ["rank", *([] if prefix else ["step"]), "top", *own]
    words += ["before"] if prefix and name == "diff" else []
    keyword = inspect.Parameter.KEYWORD_ONLY
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    others = [
        inspect.Parameter(word, keyword, default=0 if word == "top" else None) for word in words
    ]
    ask.__name__ = name.replace("-", "_")
    ask.__qualname__ = f"{owner}.{ask.__name__}"
    ask.__doc__ = _help(summary, words, own, prefix + name)
    ask.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
    return ask


def _methods(
    owner: str, prefix: str, offers: list[tuple[str, str, bool, bool]]
) -> dict[str, Callable[..., Any]]:
    made = [
        _method(owner, prefix, name, summary)
        for name, summary, is_report, _ in offers
        if not is_report
    ]
    return {method.__name__: method for method in made}


with open(os.path.join(os.path.dirname(__file__), "_views.json"), encoding="utf-8") as _file:
    _KNOWN = json.load(_file)
Views = type("Views", (), _methods("Job", "", _core.offers()))
SnapshotViews = type(
    "SnapshotViews", (), _methods("Snapshot", "snapshot-", _core.snapshot_offers())
)
