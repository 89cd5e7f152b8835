# SPDX-License-Identifier: Apache-2.0
"""Columns of a table that was pickled: its bytes, without the job that they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _core

_Column = tuple[bytes, "bytes | None", "tuple[str, ...] | None"]


@dataclass(frozen=True)
class Kept:
    """What Table asks of _core.Table, out of bytes."""

    _fields: list[Any]
    _metadata: dict[str, str]
    _columns: list[_Column]
    _count: int

    def fields(self) -> list[Any]:
        return self._fields

    def metadata(self) -> dict[str, str]:
        return self._metadata

    def column(self, index: int) -> _Column:
        return self._columns[index]

    def __len__(self) -> int:
        return self._count

    def values(self, index: int, begin: int, end: int) -> list[Any]:
        data, bits, texts = self._columns[index]
        form = "i" if texts is not None else "d" if self._fields[index][1] == "g" else "q"
        values = memoryview(data).cast(form)[begin:end].tolist()
        known = [bits is None or bits[i // 8] >> (i % 8) & 1 for i in range(begin, end)]
        if texts is not None:
            return [texts[code] if is_known else None for code, is_known in zip(values, known)]
        return [value if is_known else None for value, is_known in zip(values, known)]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow  # type: ignore[import]

        names = [name for name, _, _ in self._fields]
        columns = [self.values(i, 0, self._count) for i in range(len(names))]
        return pyarrow.table(dict(zip(names, columns))).__arrow_c_stream__(requested_schema)


def kept(core: _core.Table | Kept) -> Kept:
    """A copy of the columns; a table that was unpickled is its own."""
    if isinstance(core, Kept):
        return core
    columns: list[_Column] = []
    for i in range(len(core.fields())):
        values, bits, texts = core.column(i)
        columns.append((bytes(values), None if bits is None else bytes(bits),
                        None if texts is None else tuple(texts)))
    return Kept(list(core.fields()), dict(core.metadata()), columns, len(core))
