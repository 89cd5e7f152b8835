# SPDX-License-Identifier: Apache-2.0
"""HTML for notebooks: plain elements that take the colours of the page, light or dark.

Names come from traces, which anybody may have written: what steers a terminal, or the direction of
the text around it, is shown as U+FFFD, as in the viewer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

_STRANGE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069]+")
_CELL = "padding:2px 8px;border-bottom:1px solid #8884;white-space:nowrap"
_TEXT_CELL = f"text-align:left;{_CELL}"
_NUMBER_CELL = f"text-align:right;font-variant-numeric:tabular-nums;{_CELL}"
_PALE = "opacity:.75;max-width:60em"
_CELL_MAX = 80  # names of kernels can have thousands of characters
_TITLE_MAX = 2000


def clean(words: str) -> str:
    """The words without characters that change what stands around them; line breaks stay."""
    return _STRANGE.sub("\ufffd", words).encode("utf-8", "replace").decode("utf-8")


def text(words: str) -> str:
    """The words as HTML, for elements and for attributes in double quotes."""
    return escape(clean(words))


def shortened(words: str, longest: int) -> str:
    """At most this many characters; "…" stands for the others."""
    return words if len(words) <= longest else words[: longest - 1] + "…"


def pre(words: str) -> str:
    """Text that is laid out already."""
    return f'<pre style="white-space:pre;overflow-x:auto">{text(words)}</pre>'


def lines(words: Sequence[str]) -> str:
    """Remarks, one below the other."""
    return "".join(f'<div style="{_PALE}">{text(line)}</div>' for line in words if line)


def head(words: Sequence[str]) -> str:
    """A sentence that makes the point, and remarks below it."""
    return f"<div><b>{text(words[0])}</b></div>{lines(words[1:])}" if words else ""


def _cell(words: str, is_number: bool) -> str:
    short = shortened(words, _CELL_MAX)
    title = f' title="{text(shortened(words, _TITLE_MAX))}"' if short != words else ""
    return f'<td style="{_NUMBER_CELL if is_number else _TEXT_CELL}"{title}>{text(short)}</td>'


def table(
    caption: str,
    heads: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    remarks: Sequence[str],
) -> str:
    """A table with its caption; a head has a name and a line about the column."""
    styles = [_NUMBER_CELL if number else _TEXT_CELL for number in numeric]
    head = "".join(
        f'<th scope="col" style="{style}" title="{text(about)}">{text(name)}</th>'
        for (name, about), style in zip(heads, styles)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, number) for cell, number in zip(row, numeric))}</tr>"
        for row in rows
    )
    return (
        '<div style="overflow-x:auto"><table>'
        f'<caption style="text-align:left;caption-side:top">{text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{lines(remarks)}"
    )


def finding(
    title: str, aside: Sequence[str], evidence: Sequence[str], fix: str, sure: str, color: str
) -> str:
    """One finding, in the order in which the command prints it."""
    items = "".join(f"<li>{text(line)}</li>" for line in evidence)
    code = f'<pre style="margin:4px 0;white-space:pre-wrap">{text(fix)}</pre>' if fix else ""
    beside = " · ".join(text(words) for words in aside if words)
    return (
        f'<div style="border-left:3px solid {color};padding:2px 10px;margin:8px 0">'
        f'<b><bdi>{text(title)}</bdi></b> <span style="{_PALE}">{beside}</span>'
        f'<ul style="margin:4px 0">{items}</ul>{code}{lines([sure])}</div>'
    )


def frame(page: str, height: int) -> str:
    """A page in a frame of its own, which cannot reach the notebook around it."""
    # links within the page would lead to the notebook: its address is the base of such frames
    page = page.replace("<head>", '<head><base href="about:srcdoc">', 1)
    return (
        f'<iframe title="stepscope viewer" style="width:100%;height:{height}px;border:0"'
        ' sandbox="allow-scripts allow-downloads allow-popups"'
        f' srcdoc="{escape(page)}"></iframe>'
    )


class Text(str):
    """A string that shows itself as it is laid out, in an interpreter and in a notebook."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return pre(self)
