# SPDX-License-Identifier: Apache-2.0
"""Real files to damage: traces, jobs, snapshots and timelines of memory, and their forms."""
import gzip
import pathlib
import zlib

from hostile_input.files import compress_zstd
from hostile_input.making import ZSTD

SMALL_BYTES = 70_000  # compressed: a second of all views
LARGE_BYTES = 400_000


class Real:
    """A file as it was recorded: its name, its bytes unpacked, the ranks that lie beside it."""

    def __init__(self, path):
        self.path, self.name = path, path.name
        data = path.read_bytes()
        self.data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        self.is_memory = ".pickle" in self.name or "memory_timeline" in self.name
        ranks = sorted(path.resolve().parent.glob("*rank*.json.gz"))[:4]
        self.ranks = ranks if path.resolve() in ranks and len(ranks) > 1 else []


def real_files(folders, bytes_max):
    """The paths of all traces and snapshots of these folders that are not too large."""
    found = []
    for folder in map(pathlib.Path, folders):
        for path in sorted(folder.rglob("*")):
            is_trace = path.name.endswith((".json.gz", ".pickle"))
            if is_trace and path.is_file() and path.stat().st_size <= bytes_max:
                found.append(path)
    return found


def compress_gzip(data, level=1):
    return gzip.compress(data, level, mtime=0)


def flushed_gzip(data, pieces):
    """One member whose stream is flushed between the pieces, as servers write it."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    size = len(data) // pieces + 1
    parts = [packer.compress(data[i:i + size]) + packer.flush(zlib.Z_FULL_FLUSH)
             for i in range(0, len(data), size)]
    return b"".join([*parts, packer.flush()])


def in_parts(data, compress, pieces):
    """Several members or frames; by where one ends: how much of the file they hold up to it."""
    size, out, ends = len(data) // pieces + 1, b"", {}
    for i in range(0, len(data), size):
        out += compress(data[i:i + size])
        ends[len(out)] = i + size
    return out, ends


def forms(chance, data, is_pickle):
    """(suffix, bytes, ends of parts) of one file in one of the forms in which files come."""
    ending = ".pickle" if is_pickle else ".json"
    made = [
        lambda: (ending, data, {}),
        lambda: (ending + ".gz", compress_gzip(data), {}),
        lambda: (ending + ".gz", flushed_gzip(data, chance.randrange(2, 6)), {}),
        lambda: (ending + ".gz", *in_parts(data, compress_gzip, chance.randrange(2, 6))),
    ]
    if ZSTD:
        made += [
            lambda: (ending + ".zst", compress_zstd(data), {}),
            lambda: (ending + ".zst", *in_parts(data, compress_zstd, chance.randrange(2, 6))),
        ]
    return chance.choice([made[0], *made])()
