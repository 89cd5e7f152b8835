#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes packs, mends their checksums, and runs everything on what comes out.

Usage: mended_packs.py STEPSCOPE EVERYTHING [TRACES...] [--packs N] [--seed N]

Packs of small real traces and of a simulated job get other values in their parts and in their
table of parts; all checksums are right again, so nothing but the checks of the reader stands
between them and the views. A changed pack is read, and all views answer with strict JSON, or it is
refused with a sentence; beside the file that it was made of it is never an obstacle: the file is
read then. Nothing may crash, hang or be reported by a sanitizer.

Without --seed, STEPSCOPE_SEED chooses the packs and changes.
"""
import argparse
import collections
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import time

from damage_input.real import real_files
from hostile_input.running import Failed, Runner
from hostile_jobs import check_documents, run_everything
from support import chosen

WORD = (1 << 64) - 1
SEED, FACTOR = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93  # docs/formats/pack.md
HEADER, ENTRY, BLOCK = 64, 32, 64
PARTS_AT, SUM_AT = 12, 40  # in the header
SOURCES, SOURCE_BYTES = 12, 12_000
EDGES = (0, 1, 2, 3, 127, 128, 255, 256, 65535, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 2,
         (1 << 32) - 1, 1 << 32, 1 << 53, 10**15, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, WORD - 1,
         WORD)


def mix(a, b):
    product = ((a ^ b) * FACTOR) & WORD
    return product ^ product >> 32


def checksum(data):
    """Eight lanes, each of every eighth word; zeros fill up the last block."""
    filled = data + bytes(-len(data) % BLOCK)
    words = struct.unpack(f"<{len(filled) // 8}Q", filled)
    whole = (len(data) * FACTOR) & WORD
    for lane in range(8):
        value = (SEED * (lane + 1)) & WORD
        for word in words[lane::8]:
            value = mix(value, word)
        whole = mix(whole, value)
    return whole


class Pack:
    """The bytes of a pack, and its table."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.count = struct.unpack_from("<I", data, PARTS_AT)[0]

    def part(self, number):
        """(length of an item, offset, length) as the table has them."""
        return struct.unpack_from("<IQQ", self.data, HEADER + ENTRY * number + 4)

    def mend(self, parts):
        for number in parts:
            if HEADER + ENTRY * (number + 1) > len(self.data):
                continue
            _, offset, length = self.part(number)
            if offset + length <= len(self.data):
                struct.pack_into("<Q", self.data, HEADER + ENTRY * number + 24,
                                 checksum(bytes(self.data[offset:offset + length])))
        count = struct.unpack_from("<I", self.data, PARTS_AT)[0]
        end = min(HEADER + ENTRY * count, len(self.data))
        struct.pack_into("<Q", self.data, SUM_AT, 0)
        struct.pack_into("<Q", self.data, SUM_AT, checksum(bytes(self.data[:end])))

    def write(self, at, width, value):
        if at + width <= len(self.data):
            self.data[at:at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")

    def change_part(self, chance):
        """Another value for one item of a part."""
        filled = [n for n in range(self.count) if self.part(n)[2]]
        number = chance.choice(filled or [0])
        item, offset, length = self.part(number)
        width = item if item in (1, 2, 4, 8) else chance.choice((1, 4, 8))
        at = offset + width * chance.randrange(max(1, length // width))
        now = int.from_bytes(self.data[at:at + width], "little")
        other = offset + width * chance.randrange(max(1, length // width))
        self.write(at, width, chance.choice((
            chance.choice(EDGES), now + chance.choice((-256, -1, 1, 2)),
            now ^ 1 << chance.randrange(8 * width), chance.getrandbits(8 * width),
            int.from_bytes(self.data[other:other + width], "little"))))
        return number

    def change_table(self, chance):
        """Another offset, length or width of a part, or two that change places."""
        number, way = chance.randrange(self.count), chance.randrange(5)
        at = HEADER + ENTRY * number
        item, offset, length = self.part(number)
        if way == 0:
            self.write(at + 8, 8, chance.choice((chance.choice(EDGES), offset + 64, offset - 64)))
        elif way == 1:
            self.write(at + 16, 8, chance.choice((chance.choice(EDGES), length + item,
                                                  length - item, length + 1, 0)))
        elif way == 2:
            self.write(at + chance.choice((0, 4)), 4, chance.choice(EDGES))
        elif way == 3:
            other = HEADER + ENTRY * chance.randrange(self.count)
            one, two = self.data[at:at + ENTRY], self.data[other:other + ENTRY]
            self.data[at:at + ENTRY], self.data[other:other + ENTRY] = two, one
        else:
            self.write(chance.choice((PARTS_AT, 24, 32)), 4, chance.choice(EDGES))
        return number

    def change(self, chance):
        changed = set()
        for _ in range(chance.choice((1, 1, 2, 4, 12))):
            changed.add(self.change_table(chance) if chance.random() < 0.15
                        else self.change_part(chance))
        if chance.random() < 0.03:
            del self.data[chance.randrange(HEADER, len(self.data)):]
        self.mend(range(self.count) if len(changed) > 4 else changed)
        return bytes(self.data)


def make_sources(runner, traces, folder, chance):
    """(file, pack) of small traces."""
    folder.mkdir()
    job = folder / "sim"
    runner.run("sim", "--preset", "ddp8-slow", "--ranks", "2", "--steps", "3", "-o", str(job))
    files = sorted(job.glob("*.json*"))[:1]
    small = real_files(filter(pathlib.Path.is_dir, traces), SOURCE_BYTES)
    small = [path for path in small if path.name.endswith(".json.gz")
             and "memory_timeline" not in path.name]
    files += chance.sample(small, min(len(small), SOURCES))
    made = []
    for i, path in enumerate(files):
        out = folder / str(i)
        form = ("--plain",) if i % 3 else ()  # what is changed in a compressed part is its frame
        if runner.run("pack", *form, "-o", str(out), str(path)).code == 0:
            pack = next(out.iterdir())
            data = pack.read_bytes()
            again = Pack(data)
            again.mend(range(again.count))
            if bytes(again.data) != data:
                raise Failed("the checksums of an unchanged pack are others than ours")
            made.append((path, pack))
    return made


def check_pack(options, runner, chance, source, folder):
    path, pack = source
    changed = Pack(pack.read_bytes()).change(chance)
    folder.mkdir()
    (folder / pack.name).write_bytes(changed)
    beside = chance.randrange(4) == 0
    if beside:
        (folder / path.name).write_bytes(path.read_bytes())
    target = str(folder if beside else folder / pack.name)
    found = run_everything(options.everything, [target], runner.slowness)
    check_documents(found)
    if beside and isinstance(found["open"], str):
        raise Failed(f"the file beside its pack was not read: {found['open']}")
    return "refused" if isinstance(found["open"], str) else "read"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("stepscope")
    parser.add_argument("everything")
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    parser.add_argument("--packs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=chosen.seed())
    parser.add_argument("--keep", help="folder for packs that failed")
    options = parser.parse_args()
    runner, chance = Runner(options.stepscope), random.Random(options.seed)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="mended_packs"))
    counts, failed, began = collections.Counter(), 0, time.time()
    sources = make_sources(runner, options.traces, scratch / "sources", chance)
    for number in range(options.packs):
        folder = scratch / str(number)
        try:
            counts[check_pack(options, runner, chance, chance.choice(sources), folder)] += 1
        except (Failed, UnicodeDecodeError) as problem:
            failed += 1
            print(f"FAILED pack {number} of seed {options.seed}: {problem}", flush=True)
            if options.keep:
                shutil.copytree(folder, pathlib.Path(options.keep) / str(number))
        shutil.rmtree(folder)
    shutil.rmtree(scratch)
    print(f"mended packs: {options.packs} of {len(sources)} files, {dict(counts)}, "
          f"{failed} failed, {time.time() - began:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
