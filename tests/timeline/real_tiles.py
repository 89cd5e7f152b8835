#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracks, tiles and curves of real traces: nothing vanishes, figures agree with each other.

    tests/timeline/real_tiles.py STEPSCOPE TRACES
"""

import array
import json
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from chosen import share

PIXELS = 1280


class Failure(Exception):
    """What is wrong with an answer."""


def ask(program, request, path):
    done = subprocess.run([program, "ask", request, path], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


class Tiles:
    """The answer to "tiles", taken apart as docs/formats/viewer.md says."""

    def __init__(self, body):
        self.body = body
        magic, tracks, self.count, labels = struct.unpack_from("<IIII", body, 0)
        if magic not in (0x31545353, 0x32545353):
            raise Failure(f"magic {magic:#x}")
        self.at = 32
        heads = self.column("I", 2 * tracks)
        self.tracks = list(zip(heads[::2], heads[1::2]))
        self.start, self.dur = self.column("d", self.count), self.column("d", self.count)
        self.row, self.counts = self.column("I", self.count), self.column("I", self.count)
        self.label, self.lane = self.column("I", self.count), self.column("H", self.count)
        self.color, self.fill = self.column("B", self.count), self.column("B", self.count)
        self.wait, self.cause = self.column("B", self.count), self.column("B", self.count)
        self.paint = self.column("B", self.count) if magic == 0x32545353 else None
        self.offsets = self.column("I", labels + 1)
        if self.at + self.offsets[-1] != len(body):
            raise Failure(f"{len(body)} bytes, {self.at + self.offsets[-1]} are told of")
        body[self.at:].decode("utf-8")

    def column(self, code, count):
        size = struct.calcsize(code)
        self.at = -(-self.at // size) * size
        values = array.array(code)
        values.frombytes(self.body[self.at:self.at + size * count])
        self.at += size * count
        return values


def check_track(track, tiles, entries):
    lanes = [tiles.lane[i] for i in entries]
    if sum(tiles.counts[i] for i in entries) != track["slices"]:
        raise Failure(f"track {track['track']}: not {track['slices']} slices")
    if lanes != sorted(lanes) or set(lanes) != set(range(track["lanes"])):
        raise Failure(f"track {track['track']}: lanes {sorted(set(lanes))}")
    if len(entries) > 3 * track["lanes"] * (PIXELS + 1):
        raise Failure(f"track {track['track']}: {len(entries)} entries")
    if min(tiles.start[i] for i in entries) != track["start_ns"]:
        raise Failure(f"track {track['track']}: begins too late")
    if max(tiles.start[i] + tiles.dur[i] for i in entries) != track["end_ns"]:
        raise Failure(f"track {track['track']}: ends too early")
    for i in entries:
        idle = track["kind"] == "idle"
        if (tiles.cause[i] < 10) != idle or (tiles.color[i] == 9) != idle or not tiles.fill[i]:
            raise Failure(f"track {track['track']}: an entry that is no {track['kind']}")


def check_paints(program, path, query, slices):
    """By phase, module and stream: every number is one that the legend has, or 9 of a gap."""
    for color in ("phase", "module", "stream"):
        tiles = Tiles(ask(program, f"{query}&color={color}", path) or bytes(32))
        legend = json.loads(ask(program, f"colors?color={color}", path))
        known = {one["number"] for one in legend["colors"]} | {9, 10}
        if sum(tiles.counts) != slices or not set(tiles.paint) <= known:
            raise Failure(f"colours by {color}: {sorted(set(tiles.paint) - known)}")


def check_curve(program, path, curve, window):
    device = "" if curve["device"] is None else f"&device={curve['device']}"
    body = ask(program, f"curve?file=0&curve={curve['curve']}{device}&{window}", path)
    if body is None or len(body) != 24 + 8 * PIXELS:
        raise Failure(f"no curve {curve['curve']}")
    values = array.array("f")
    values.frombytes(body[24:])
    known = [value for value in values if value == value]
    if not known or (curve["high"] is not None and max(known) > curve["high"] * 1.00001):
        raise Failure(f"curve {curve['curve']}: {max(known, default=None)}")


def check_file(program, path):
    """False: it has no tracks, or cannot be read."""
    listed = ask(program, "tracks?file=0", path)
    listed = listed and json.loads(listed)
    if not listed or not listed["tracks"]:
        return False
    tracks = listed["tracks"]
    begin = min(track["start_ns"] for track in tracks)
    end = max(max(track["end_ns"] for track in tracks), begin + 1)
    window = f"from={begin}&to={end}&pixels={PIXELS}"
    numbers = ",".join(str(track["track"]) for track in tracks)
    query = f"tiles?file=0&tracks={numbers}&{window}"
    tiles = Tiles(ask(program, query, path) or bytes(32))
    check_paints(program, path, query, sum(tiles.counts))
    first = 0
    for track, (number, count) in zip(tracks, tiles.tracks, strict=True):
        if number != track["track"]:
            raise Failure("tracks in another order")
        check_track(track, tiles, range(first, first + count))
        first += count
    for curve in listed["curves"][:6]:
        if curve["curve"] != "counter":
            check_curve(program, path, curve, window)
    return True


def main():
    program, traces = sys.argv[1], Path(sys.argv[2])
    checked = failures = 0
    # of the ranks of a job one is enough
    paths = [path for path in sorted(traces.rglob("*.json.gz"))
             if "truth" not in path.name and not any(f"rank{i}" in path.name for i in range(1, 9))]
    for path in share(paths, 3):
        try:
            checked += check_file(program, path)
        except Failure as failure:
            failures += 1
            print(f"{path}: {failure}", file=sys.stderr)
    if not paths:
        print(f"skipped: no traces in {traces}")
        return 77
    print(f"tiles of {checked} traces, {failures} wrong")
    return int(bool(failures) or not checked)


if __name__ == "__main__":
    sys.exit(main())
