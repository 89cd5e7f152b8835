# SPDX-License-Identifier: Apache-2.0
"""Reads Arrow's C stream interface with ctypes, and refuses whatever the specification forbids.

The structs and rules are those of Arrow's "C data interface", "C stream interface" and "Columnar
format" pages; nothing is shared with the code that makes the streams. Formats that no table has
are refused, too: int64, float64, duration in ns, and texts as int32 indices of large_utf8.
"""
import ctypes as c

ALIGN = 64


class Schema(c.Structure):
    pass


class Array(c.Structure):
    pass


class Stream(c.Structure):
    pass


Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_void_p), ("flags", c.c_int64),
    ("n_children", c.c_int64), ("children", c.POINTER(c.POINTER(Schema))),
    ("dictionary", c.POINTER(Schema)), ("release", c.CFUNCTYPE(None, c.POINTER(Schema))),
    ("private_data", c.c_void_p)]
Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64),
    ("n_buffers", c.c_int64), ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.POINTER(c.POINTER(Array))), ("dictionary", c.POINTER(Array)),
    ("release", c.CFUNCTYPE(None, c.POINTER(Array))), ("private_data", c.c_void_p)]
Stream._fields_ = [
    ("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))),
    ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))),
    ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(Stream))),
    ("release", c.CFUNCTYPE(None, c.POINTER(Stream))), ("private_data", c.c_void_p)]


class Broken(Exception):
    """A rule of the specification does not hold."""


def demand(holds, text):
    if not holds:
        raise Broken(text)


def read_metadata(address):
    """The pairs of a schema: a number, then lengths and bytes."""
    if not address:
        return {}
    at = address

    def number():
        nonlocal at
        value = c.c_int32.from_address(at).value
        at += 4
        demand(value >= 0, f"metadata has a length of {value}")
        return value

    def text():
        nonlocal at
        length = number()
        value = c.string_at(at, length).decode()
        at += length
        return value

    pairs = [(text(), text()) for _ in range(number())]
    found = dict(pairs)
    demand(len(found) == len(pairs), "a key of the metadata is there twice")
    return found


class Column:
    """Name, format and metadata of a field."""

    def __init__(self, schema):
        self.name = schema.name.decode()
        self.format = schema.format.decode()
        self.metadata = read_metadata(schema.metadata)
        demand(schema.release, f"{self.name}: a child without release")
        demand(schema.n_children == 0, f"{self.name}: a column with children")
        demand(schema.flags == 2, f"{self.name}: flags {schema.flags}, not nullable")
        if self.format == "i":
            texts = schema.dictionary
            demand(texts and texts.contents.release, f"{self.name}: indices without texts")
            demand(texts.contents.format == b"U", f"{self.name}: texts are no large_utf8")
            demand(not texts.contents.dictionary, f"{self.name}: a dictionary of a dictionary")
        else:
            demand(self.format in ("l", "g", "tDn"), f"{self.name}: format {self.format}")
            demand(not schema.dictionary, f"{self.name}: a dictionary of figures")


def buffer(array, index, what):
    address = array.buffers[index]
    demand(not address or address % ALIGN == 0, f"{what}: buffer {index} is not aligned")
    return address


def read_validity(array, what):
    """True for each cell that is known."""
    address = buffer(array, 0, what)
    if not address:
        demand(array.null_count == 0, f"{what}: {array.null_count} nulls and no bitmap")
        return [True] * array.length
    raw = c.string_at(address, (array.length + 7) // 8)
    known = [bool(raw[i >> 3] >> (i & 7) & 1) for i in range(array.length)]
    demand(array.null_count == known.count(False),
           f"{what}: {array.null_count} nulls, the bitmap has {known.count(False)}")
    return known


def read_values(array, what, kind):
    address = buffer(array, 1, what)
    demand(address or not array.length, f"{what}: no values")
    return list((kind * array.length).from_address(address)) if array.length else []


def read_texts(array, what):
    demand(array.n_buffers == 3 and array.n_children == 0, f"{what}: texts have 3 buffers")
    demand(array.offset == 0 and array.length >= 0, f"{what}: offset of texts")
    demand(not buffer(array, 0, what) and array.null_count == 0, f"{what}: a text is null")
    address, data = buffer(array, 1, what), buffer(array, 2, what)
    demand(address and data, f"{what}: texts without buffers")
    offsets = list((c.c_int64 * (array.length + 1)).from_address(address))
    demand(offsets[0] == 0 and offsets == sorted(offsets), f"{what}: offsets do not grow")
    texts = [c.string_at(data + start, end - start).decode()
             for start, end in zip(offsets, offsets[1:])]
    demand(len(set(texts)) == len(texts), f"{what}: a text is there twice")
    return texts


def read_column(array, column, rows):
    what = column.name
    demand(array.release, f"{what}: a child without release")
    demand(array.length == rows and array.offset == 0, f"{what}: {array.length} of {rows} rows")
    demand(array.n_buffers == 2 and array.n_children == 0, f"{what}: buffers")
    demand(bool(array.dictionary) == (column.format == "i"), f"{what}: dictionary")
    known = read_validity(array, what)
    kinds = {"i": c.c_int32, "g": c.c_double}
    values = read_values(array, what, kinds.get(column.format, c.c_int64))
    if column.format == "i":
        demand(array.dictionary.contents.release, f"{what}: texts without release")
        texts = read_texts(array.dictionary.contents, what)
        demand(all(0 <= id < len(texts) for id, is_known in zip(values, known) if is_known),
               f"{what}: an index is beyond the texts")
        return [texts[id] if is_known else None for id, is_known in zip(values, known)]
    return [value if is_known else None for value, is_known in zip(values, known)]


class Table:
    """What was in a stream, which is released."""

    def __init__(self, stream):
        self.columns, self.metadata = self._schema(stream)
        self.cells = [[] for _ in self.columns]
        self.rows = 0
        while self._batch(stream):
            pass
        stream.release(stream)
        demand(not stream.release, "the stream still has its release")

    def _schema(self, stream):
        schemas = []
        for _ in range(2):  # it may be asked for again
            schema = Schema()
            demand(stream.get_schema(stream, schema) == 0, "get_schema failed")
            demand(schema.release and schema.format == b"+s", "a batch is a struct")
            columns = [Column(schema.children[i].contents) for i in range(schema.n_children)]
            schemas.append((columns, read_metadata(schema.metadata)))
            schema.release(schema)
            demand(not schema.release, "a released schema still has its release")
        demand([vars(column) for column in schemas[0][0]] ==
               [vars(column) for column in schemas[1][0]] and schemas[0][1] == schemas[1][1],
               "the schema is another one when it is asked for again")
        return schemas[0]

    def _batch(self, stream):
        array = Array()
        demand(stream.get_next(stream, array) == 0, "get_next failed")
        if not array.release:
            return False
        demand(array.n_buffers == 1 and not array.buffers[0] and array.null_count == 0 and
               array.offset == 0, "a batch has no nulls of its own")
        demand(array.n_children == len(self.columns), "a batch has other columns")
        for i, column in enumerate(self.columns):
            self.cells[i] += read_column(array.children[i].contents, column, array.length)
        self.rows += array.length
        # one child goes its own way before the batch is released
        if array.n_children:
            moved = Array()
            c.memmove(c.byref(moved), array.children[0], c.sizeof(Array))
            array.children[0].contents.release = type(moved.release)()
            array.release(array)
            read_column(moved, self.columns[0], moved.length)
            moved.release(moved)
        else:
            array.release(array)
        demand(not array.release, "a released batch still has its release")
        return True
