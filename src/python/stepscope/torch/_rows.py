# SPDX-License-Identifier: Apache-2.0
"""The file of live numbers: a header, then rows of 52 bytes; the oldest are overwritten.

One file per rank, `live.rank00003.HOST.PID.rows`, little-endian. `stepscope live` reads it while it
grows: rows are written first, then the number of rows that there have been.
"""

from __future__ import annotations

import os
import struct

MAGIC = b"STEPLIVE"
VERSION = 1
# magic, version, bytes of this header, bytes of a row, rows that fit, rank, ranks, process, whether
# the program has ended, begin in ns since 1970, host, job
HEADER = struct.Struct("<8sIIIIiiIIQ40s40s")
END_AT, END = 36, struct.pack("<I", 1)
COUNT = struct.Struct("<Q")
HEADER_BYTES = HEADER.size + COUNT.size
# end in us since 1970, step; us of: the step, waiting for data, collecting garbage, the optimizer,
# the GPU; flags; once a minute: peak of memory in MB, retries of the allocator, collectives and
# their MB since the minute before
ROW = struct.Struct("<Q11I")
ROWS = 1 << 18  # three days at one step per second, 13.6 MB
UNKNOWN = 0xFFFFFFFF

IS_RECORDED = 1  # the profiler was on in this step
IS_MINUTE = 2  # the row has the sums of a minute


def clip(value: int) -> int:
    """A number that fits into a column; the largest one stands for `not known`."""
    return min(max(0, int(value)), UNKNOWN - 1)


class RowFile:
    """Writes rows; everything may raise OSError."""

    def __init__(self, folder: str, who: tuple[int, int, str, str, int], rows: int = ROWS) -> None:
        rank, size, host, job, begin_ns = who
        os.makedirs(folder, exist_ok=True)
        pid = os.getpid()
        self.path = os.path.join(folder, f"live.rank{rank:05d}.{host}.{pid}.rows")
        self._rows = rows
        self._count = 0
        self._file = os.open(
            self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644
        )
        head = HEADER.pack(
            MAGIC, VERSION, HEADER_BYTES, ROW.size, rows, rank, size, pid, 0, begin_ns,
            host.encode()[:39], job.encode("utf-8", "replace")[:39],
        )  # fmt: skip
        os.pwrite(self._file, head + COUNT.pack(0), 0)

    def add(self, rows: list[bytes]) -> None:
        """Appends rows, in at most two writes, then says how many there are."""
        at = 0
        while at < len(rows):
            place = self._count % self._rows
            part = rows[at : at + self._rows - place]
            os.pwrite(self._file, b"".join(part), HEADER_BYTES + place * ROW.size)
            self._count += len(part)
            at += len(part)
        os.pwrite(self._file, COUNT.pack(self._count), HEADER.size)

    def end(self) -> None:
        """Says that no step follows."""
        os.pwrite(self._file, END, END_AT)

    def close(self) -> None:
        os.close(self._file)
