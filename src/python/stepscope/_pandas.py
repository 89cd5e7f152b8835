# SPDX-License-Identifier: Apache-2.0
"""Columns as pandas has them: numpy arrays over the buffers of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from . import _core


def _known(bits: Any, count: int) -> Any:
    import numpy

    return numpy.unpackbits(numpy.frombuffer(bits, "u1"), bitorder="little", count=count) == 0


def _series(core: _core.Table, index: int, form: str) -> Any:
    import numpy
    import pandas

    values, bits, texts = core.column(index)
    array = numpy.frombuffer(values, "i4" if texts is not None else "f8" if form == "g" else "i8")
    missing = None if bits is None else _known(bits, len(array))
    if texts is not None:
        codes = array if missing is None else numpy.where(missing, -1, array)
        return pandas.Categorical.from_codes(codes, categories=texts)
    if form == "g":
        return array if missing is None else numpy.where(missing, numpy.nan, array)
    if form == "tDn":
        if missing is not None:
            array = numpy.where(missing, numpy.iinfo("i8").min, array)
        return array.view("timedelta64[ns]")
    if missing is None:
        return array
    return pandas.arrays.IntegerArray(array, missing)


def frame(core: _core.Table, names: tuple[str, ...], formats: list[str]) -> pandas.DataFrame:
    """All columns; numbers share their memory with the table."""
    import pandas

    series = {
        name: pandas.Series(_series(core, i, form), copy=False)
        for i, (name, form) in enumerate(zip(names, formats))
    }
    return pandas.concat(series, axis=1, copy=False) if series else pandas.DataFrame()
