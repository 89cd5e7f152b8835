# SPDX-License-Identifier: Apache-2.0
"""DuckDB by its library alone: reads stores as any other program would."""
import ctypes as c


class Result(c.Structure):
    _fields_ = [(name, c.c_uint64) for name in ("columns", "rows", "changed")] + [
        ("data", c.c_void_p), ("problem", c.c_char_p), ("internal", c.c_void_p)]


class Problem(Exception):
    """What DuckDB said."""


class Duck:
    def __init__(self, path):
        self.library = c.CDLL(str(path))
        for name, kind in (("result_error", c.c_char_p), ("value_varchar", c.c_void_p),
                           ("row_count", c.c_uint64), ("column_count", c.c_uint64),
                           ("column_name", c.c_char_p)):
            getattr(self.library, "duckdb_" + name).restype = kind
        self.database, self.connection = c.c_void_p(), c.c_void_p()
        if self.library.duckdb_open(None, c.byref(self.database)) or \
                self.library.duckdb_connect(self.database, c.byref(self.connection)):
            raise Problem("DuckDB does not start")

    def ask(self, query):
        """The rows as dictionaries of texts."""
        result = Result()
        failed = self.library.duckdb_query(self.connection, query.encode(), c.byref(result))
        if failed:
            text = self.library.duckdb_result_error(c.byref(result)).decode(errors="replace")
            self.library.duckdb_destroy_result(c.byref(result))
            raise Problem(text)
        names = [self.library.duckdb_column_name(c.byref(result), c.c_uint64(i)).decode()
                 for i in range(self.library.duckdb_column_count(c.byref(result)))]
        rows = [{name: self.cell(result, row, i) for i, name in enumerate(names)}
                for row in range(self.library.duckdb_row_count(c.byref(result)))]
        self.library.duckdb_destroy_result(c.byref(result))
        return rows

    def table(self, store, table):
        """What to read the table from: the files that count, as docs/fleet.md asks for them."""
        place = str(store).replace("'", "''")
        rows = self.ask("select file from read_csv("
                        f"'{place}/manifest/*.csv', filename = true) group by file "
                        f"having arg_max(gone, filename) = 0 and file like '{table}/%'")
        files = ", ".join(f"'{place}/{row['file']}'" for row in rows)
        return f"read_parquet([{files}], union_by_name = true, hive_partitioning = true)"

    def cell(self, result, row, column):
        address = self.library.duckdb_value_varchar(c.byref(result), c.c_uint64(column),
                                                    c.c_uint64(row))
        if not address:
            return None
        text = c.string_at(address).decode()
        self.library.duckdb_free(c.c_void_p(address))
        return text
