#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks everything that the viewer's timeline asks, of broken and hostile files.

    tests/hostile_ask.py STEPSCOPE [TRACES]

The small files of hostile.py, and real traces that are cut, are opened by a server, many at a
time and each set twice, as two runs. Of every file that can be read all routes of the timeline
must answer, and what they say must be well-formed and agree: tiles of all time stand for as many
slices as the tracks have. Of a file that cannot be read, and of rows, tracks and windows that do
not exist, there is a sentence. A few files are asked about by `stepscope ask` alone as well.
"""

import gzip
import http.client
import json
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

from hostile import make_cases
from hostile_input.making import CASES
from hostile_input.running import Failed, strict_json
from timeline.real_tiles import Failure, Tiles

FILES_AT_ONCE = 60
REAL_FILES = 6
REAL_BYTES = 60_000  # compressed; larger ones take long and show nothing else
ALONE_EVERY = 40
MOST_NS = 1 << 53


class Server:
    """stepscope serve of two folders."""

    def __init__(self, program, folder, other):
        words = [program, "serve", "--no-browser", "--progress", "none", folder,
                 "--compare", other]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.errors)
        link = self.process.stdout.readline().decode().strip()
        if not link:
            self.fail("the server said no link")
        place, _, self.token = link.partition("#token=")
        host = urllib.parse.urlsplit(place).netloc
        self.connection = http.client.HTTPConnection(host, timeout=60)

    def fail(self, what):
        self.errors.seek(0)
        raise Failed(f"{what}: {self.errors.read()[:3000].decode(errors='replace')}")

    def get(self, path):
        try:
            self.connection.request("GET", path, headers={"X-Stepscope-Token": self.token})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as problem:
            return self.fail(f"{path[:200]}: {problem}")

    def wait(self):
        while strict_json(self.get("/api/state")[1])["state"] != "ready":
            time.sleep(0.005)

    def ask(self, request):
        """The answer, or None where there is a sentence."""
        status, body = self.get("/api/ask/" + request)
        if status == 200:
            return body
        if not 400 <= status < 500 or not sentence_of(body):
            raise Failed(f"{request[:200]}: {status} {body[:200]!r}")
        return None

    def end(self):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(60) != 0:
            self.fail(f"the server ended with {self.process.returncode}")
        self.errors.seek(0)
        for line in self.errors.read().decode(errors="replace").splitlines():
            if "could not be read; the viewer shows why" not in line:
                self.fail("the server said more than it should")


class Alone:
    """stepscope ask, a process for each request."""

    def __init__(self, program, path):
        self.program, self.path = program, path

    def ask(self, request):
        ran = subprocess.run([self.program, "ask", request, self.path], capture_output=True,
                             timeout=60, check=False)
        if ran.returncode not in (0, 1, 2) or len(ran.stderr.splitlines()) != bool(ran.returncode):
            said = ran.stderr[:2000].decode(errors="replace")
            raise Failed(f"ask {request[:200]}: exit code {ran.returncode}: {said}")
        return ran.stdout if ran.returncode == 0 else None


def sentence_of(body):
    try:
        return json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return body.decode().strip()


# --- one file ---------------------------------------------------------------------------------


class File:
    """A file that can be read, asked about through `way`."""

    def __init__(self, way, number):
        self.way, self.number = way, number
        listed = self.object("tracks?")
        self.tracks, self.curves = listed["tracks"], listed["curves"]

    def body(self, request):
        words = request + ("" if request.endswith("?") else "&") + f"file={self.number}"
        body = self.way.ask(words)
        if body is None:
            raise Failed(f"{words[:200]} is refused")
        return body

    def object(self, request):
        return strict_json(self.body(request))

    def tiles(self, begin, end, pixels):
        """Slices that they stand for, and the first and the last entry of each track."""
        numbers = ",".join(str(track["track"]) for track in self.tracks[:1000])
        tiles = Tiles(self.body(f"tiles?tracks={numbers}&from={begin}&to={end}&pixels={pixels}"))
        rows, first = {}, 0
        for number, count in tiles.tracks:
            if count:
                rows[number] = sorted({tiles.row[first], tiles.row[first + count - 1]})
            first += count
        if tiles.count and (min(tiles.fill) == 0 or min(tiles.dur) < 0 or max(tiles.color) > 10):
            raise Failed("an entry of a tile is none")
        return sum(tiles.counts), rows

    def check_paints(self, begin, end, slices):
        """Other colours: the same slices, and only numbers that have a meaning."""
        numbers = ",".join(str(track["track"]) for track in self.tracks[:1000])
        for color in ("phase", "module", "stream"):
            query = f"tiles?tracks={numbers}&from={begin}&to={end}&pixels=200&color={color}"
            tiles = Tiles(self.body(query))
            strict_json(self.way.ask(f"colors?color={color}") or b"")
            if sum(tiles.counts) != slices or (tiles.count and max(tiles.paint) > 19):
                raise Failed(f"tiles by {color} are others")

    def check_tiles(self):
        begin = min((track["start_ns"] for track in self.tracks), default=0) - 1
        end = max((track["end_ns"] for track in self.tracks), default=0) + 1
        if begin < -MOST_NS or end > MOST_NS:
            begin, end = -MOST_NS, MOST_NS
        slices, rows = self.tiles(begin, end, 200)
        wanted = sum(track["slices"] for track in self.tracks[:1000])
        if slices != wanted:
            raise Failed(f"tiles stand for {slices} slices, not for {wanted}")
        self.check_paints(begin, end, slices)
        self.tiles((begin + end) // 2, (begin + end) // 2 + 1, 1)
        self.tiles(begin, begin + 1 + (end - begin) // 7, 16384)
        return begin, end, rows

    def check_rows(self, rows):
        for track in self.tracks[:6]:
            for row in rows.get(track["track"], ()):
                if track["kind"] == "idle":
                    gap = self.object(f"gap?track={track['track']}&gap={row}")
                    where = f"track={track['track']}&gap={row}"
                    if sum(cause["ns"] for cause in gap["causes"]) != gap["dur_ns"]:
                        raise Failed(f"the causes of gap {row} are not all of it")
                else:
                    gap = self.object(f"slice?row={row}")
                    where = f"row={row}"
                for go in ("next", "previous"):
                    near = self.object(f"near?{where}&go={go}")
                    if near and near["track"] != track["track"]:
                        raise Failed(f"near {where} is on track {near['track']}")

    def check_curves(self, begin, end):
        for curve in self.curves[:8]:
            device = "" if curve["device"] is None else f"&device={curve['device']}"
            name = urllib.parse.quote(curve["name"], safe="")
            body = self.body(f"curve?curve={curve['curve']}{device}&name={name}"
                             f"&from={begin}&to={end}&pixels=40")
            values = struct.unpack_from("<80f", body, 24)
            if len(body) != 24 + 320 or any(low > high for low, high in zip(values, values[40:])):
                raise Failed(f"curve {curve['curve']} is none")

    def check(self):
        begin, end, rows = self.check_tiles()
        self.check_rows(rows)
        self.check_curves(begin, end)
        number = f"files={self.number}"
        for words in (f"range?{number}&from={begin}&to={end}", f"search?q=a&{number}",
                      f"search?q=*&{number}&longest=1&limit=5"):
            strict_json(self.way.ask(words) or b"")
        strips = self.way.ask(f"strips?{number}&from={begin}&to={end}&pixels=50")
        if not strips or len(strips) != 16 + 150:
            raise Failed("strips are none")


# What does not exist is refused: of any file, whatever is in it.
REFUSED = (
    "tiles?file={0}&tracks=4294967295&from=0&to=1&pixels=1", "slice?file={0}&row=4294967295",
    "tiles?file={0}&tracks=0&from=5&to=5&pixels=1", "near?file={0}&row=4294967295&go=next",
    "gap?file={0}&track=4294967295&gap=0", "gap?file={0}&track=0&gap=4294967295",
    "curve?file={0}&curve=none&from=0&to=1&pixels=1",
    "strips?files=4294967295&from=0&to=1&pixels=1",
    "tiles?file={0}&tracks=0&from=-9223372036854775808&to=9223372036854775807&pixels=1",
)


def check_whole(way, span_ns):
    window = f"from=0&to={min(max(span_ns, 1), MOST_NS)}"
    for words in ("flags", f"path?{window}&pixels=100", f"range?{window}", "search?q=e&limit=20"):
        strict_json(way.ask(words) or b"")


def check_files(way, names):
    """All files of a run."""
    job = strict_json(way.ask("job"))
    failed = []
    check_whole(way, job["span_ns"])
    for file in job["files"]:
        name = names.get(pathlib.Path(file["path"]).name, file["path"])
        try:
            for words in REFUSED:
                if way.ask(words.format(file["file"])) is not None:
                    raise Failed(f"{words} is answered")
            if file["problem"] is None:
                File(way, file["file"]).check()
            elif way.ask(f"tracks?file={file['file']}") is not None:
                raise Failed("tracks of a file that could not be read")
        except (Failed, Failure, KeyError) as problem:
            failed.append(f"FAILED {name}\n       {problem!r}")
    return failed


# --- all of them ------------------------------------------------------------------------------


def real_files(traces):
    """(name, bytes, ending) of real traces, each cut in another way."""
    found = sorted((path.stat().st_size, path) for path in traces.rglob("*.json.gz"))
    small = [path for size, path in found if size < REAL_BYTES]
    for index, path in enumerate(small[::max(len(small) // REAL_FILES, 1)][:REAL_FILES]):
        packed = path.read_bytes()
        text = gzip.decompress(packed)
        yield f"{path.name}, cut when it was compressed", packed[: len(packed) * 2 // 3], ".json.gz"
        yield f"{path.name}, cut", text[: len(text) * (index + 1) // (REAL_FILES + 1)], ".json"


def hostile_files():
    make_cases()
    for case in CASES:
        if not case.giant and not callable(case.data) and len(case.data) < 1 << 20:
            yield case.name, case.data, case.suffix


def check_set(program, files):
    """Writes a few files and asks about them."""
    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        names = {}
        for number, (name, data, ending) in enumerate(files):
            path = pathlib.Path(folder, f"rank{number}{ending}")
            path.write_bytes(data)
            names[path.name] = name
        server = Server(program, folder, str(path) if len(files) == 1 else folder)
        server.wait()
        failed = check_files(server, names)
        for words in ("compare/kernels", "compare/steps", "job?run=1"):
            server.ask(words)
        server.end()
    return failed


def check_alone(program, name, data, ending):
    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        path = pathlib.Path(folder, "rank0" + ending)
        path.write_bytes(data)
        way = Alone(program, str(path))
        if way.ask("job") is None:
            return []
        return check_files(way, {path.name: name})


def main():
    program = sys.argv[1]
    files = list(hostile_files())
    if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).is_dir():
        files += real_files(pathlib.Path(sys.argv[2]))
    failed = []
    for first in range(0, len(files), FILES_AT_ONCE):
        failed += check_set(program, files[first:first + FILES_AT_ONCE])
    for name, data, ending in files[::ALONE_EVERY]:
        failed += check_alone(program, name, data, ending)
    for text in failed:
        print(text)
    print(f"hostile_ask: {len(files)} files, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
