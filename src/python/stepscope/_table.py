# SPDX-License-Identifier: Apache-2.0
"""Tables: the columns of a view, and how they become rows, pandas and HTML."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _core, _html

if TYPE_CHECKING:
    import pandas

    from ._kept import Kept

SHOWN_ROWS = 30  # in a notebook and by print()
_PRINTED_CELL = 48  # characters
_NAMED_COLUMNS = 8  # of those without values
_PIECE = 4096  # rows that become objects at a time


@dataclass(frozen=True)
class Column:
    """One column of a table.

    name: as in JSON and CSV. unit: "ns", "bytes", "count", "percent" or "number"; "" for texts and
    for numbers that are names, such as ranks. about: one line that says what the column holds.
    """

    name: str
    unit: str
    about: str


class ColumnError(_core.Error, KeyError):
    """A table has no column of that name."""

    def __str__(self) -> str:
        return str(self.args[0])


@lru_cache(maxsize=256)
def _row_type(names: tuple[str, ...]) -> Any:
    row: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    # a class that is made while the program runs is not found by its name
    setattr(row, "__reduce__", lambda row: (_make_row, (names, tuple(row))))
    return row


def _make_row(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return _row_type(names)._make(values)


class Table:
    """The rows of a view.

    Iterate over it for named rows, take ``table["calls"]`` for the values of a column and
    ``table[0]`` or ``table[:10]`` for rows, call ``to_pandas()``, or hand it to polars, pyarrow or
    DuckDB: they read its columns without a copy through ``__arrow_c_stream__``. None stands for
    what was not recorded or does not apply. Times are whole nanoseconds. columns: names, units and
    meanings.
    """

    def __init__(self, core: _core.Table | Kept) -> None:
        self._core: Any = core
        self._metadata = core.metadata()
        self.columns: tuple[Column, ...] = tuple(
            Column(name, about.get("unit", ""), about.get("about", ""))
            for name, _, about in core.fields()
        )
        self._formats = [form for _, form, _ in core.fields()]

    @property
    def name(self) -> str:
        """The name of its view."""
        return self._metadata.get("view", "")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def row_count(self) -> int:
        """How many rows the view has, including those that ``top`` left out."""
        return int(self._metadata.get("row_count", len(self)))

    @property
    def notes(self) -> list[str]:
        """Remarks on the figures: what is missing, what they are based on."""
        notes: list[str] = json.loads(self._metadata.get("notes", "[]"))
        return notes

    @property
    def totals(self) -> dict[str, Any]:
        """Sums over all rows, for the columns that add up."""
        totals: dict[str, Any] = json.loads(self._metadata.get("totals", "{}"))
        return totals

    @property
    def empty(self) -> str | None:
        """Why there are no rows; None if there are some."""
        return self._metadata.get("empty")

    def __len__(self) -> int:
        return len(self._core)

    def __bool__(self) -> bool:
        return True

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._core.__arrow_c_schema__()

    def _index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise ColumnError(f"no column '{name}'; there are {', '.join(self.names)}") from None

    def _row_type(self) -> type[NamedTuple]:
        return _row_type(self.names)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        from ._kept import kept

        return (Table, (kept(self._core),))

    def _rows(self, start: int, stop: int, row: Any) -> Iterator[Any]:
        for begin in range(start, stop, _PIECE):
            end = min(begin + _PIECE, stop)
            pieces = (self._core.values(i, begin, end) for i in range(len(self.columns)))
            yield from map(row._make, zip(*pieces))

    def __iter__(self) -> Iterator[Any]:
        return self._rows(0, len(self), self._row_type())

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...

    def __getitem__(self, key: str | int | slice) -> Any:
        if isinstance(key, str):
            return self._core.values(self._index(key), 0, len(self))
        if isinstance(key, slice):
            chosen = range(*key.indices(len(self)))
            if chosen.step == 1:
                return list(self._rows(chosen.start, chosen.stop, self._row_type()))
            return [self[i] for i in chosen]
        row = key + len(self) if key < 0 else key
        if not 0 <= row < len(self):
            raise IndexError(f"row {key} of a table with {len(self)} rows")
        return next(self._rows(row, row + 1, self._row_type()))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        names = self.names
        return [dict(zip(names, row)) for row in self]

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame: times as timedeltas, texts as categories.

        Numbers are not copied, so they are read-only: take ``to_pandas().copy()`` to change them.
        """
        from ._pandas import frame

        return frame(self._core, self.names, self._formats)

    def _cell(self, value: Any, unit: str) -> str:
        if value is None:
            return ""
        if unit == "ns":
            return f"{value / 1e6:,.3f}"
        if isinstance(value, float):
            return f"{value:,.2f}"
        if isinstance(value, int):
            return f"{value:,}" if unit else str(value)
        return str(value)

    def _has_values(self, index: int) -> bool:
        known = self._core.column(index)[1]
        if known is None:
            return True
        bits = bytes(known)
        whole, rest = divmod(len(self), 8)
        return any(bits[:whole]) or (rest > 0 and bits[whole] & ((1 << rest) - 1) != 0)

    def _shown(self) -> tuple[list[int], list[str], list[list[str]]]:
        """Columns that have values, how they are called here, and the first rows as texts."""
        kept = [i for i in range(len(self.columns)) if self._has_values(i)]
        columns = [self.columns[i] for i in kept]
        heads = [
            column.name.removesuffix("_ns") + " [ms]" if column.unit == "ns" else column.name
            for column in columns
        ]
        rows = [
            [self._cell(row[i], column.unit) for i, column in zip(kept, columns)]
            for row in self[:SHOWN_ROWS]
        ]
        return kept, heads, rows

    def _caption(self) -> str:
        if not len(self):
            return f"{self.name}: {self.empty or 'no rows'}"
        shown, rows = min(len(self), SHOWN_ROWS), self.row_count
        part = f"the first {shown} of " if shown < rows else ""
        return f"{self.name}: {part}{rows:,} row{'' if rows == 1 else 's'}"

    def _remarks(self, kept: list[int]) -> list[str]:
        empty = [name for i, name in enumerate(self.names) if i not in kept]
        if len(empty) > _NAMED_COLUMNS:
            empty[_NAMED_COLUMNS:] = [f"and {len(empty) - _NAMED_COLUMNS} others"]
        without = [f"Columns without values: {', '.join(empty)}."] if empty else []
        return without + self.notes

    def __repr__(self) -> str:
        rows = len(self)
        return (
            f"<Table {self.name}: {rows:,} row{'' if rows == 1 else 's'},"
            f" {len(self.columns)} columns>"
        )

    def __str__(self) -> str:
        if not len(self):
            return "\n".join([self._caption(), *self.notes])
        kept, heads, rows = self._shown()
        short = [
            [_html.shortened(_html.clean(cell), _PRINTED_CELL).replace("\n", " ") for cell in row]
            for row in rows
        ]
        widths = [max(map(len, column)) for column in zip(heads, *short)]
        room, fitting = shutil.get_terminal_size((100, 24)).columns, 0
        for width in widths:
            room -= width + 2
            if room < -2 and fitting:
                break
            fitting += 1
        texts = [not self._is_number(i) for i in kept]
        printed = [
            "  ".join(
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(line[:fitting], widths, texts)
            ).rstrip()
            for line in [heads, *short]
        ]
        left = [f"Columns that do not fit: {', '.join(heads[fitting:])}"] if heads[fitting:] else []
        return "\n".join([self._caption(), *printed, *left, *self.notes])

    def _is_number(self, index: int) -> bool:
        return self._formats[index] != "text"

    def _repr_html_(self) -> str:
        if not len(self):
            return _html.lines([self._caption(), *self.notes])
        kept, heads, rows = self._shown()
        abouts = [f"{self.names[i]}: {self.columns[i].about}" for i in kept]
        return _html.table(
            self._caption(),
            list(zip(heads, abouts)),
            rows,
            [self._is_number(i) for i in kept],
            self._remarks(kept),
        )
