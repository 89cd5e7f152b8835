# SPDX-License-Identifier: Apache-2.0
"""What is asked of each file: every view and group, every route, everything that is written.

Names come from `offers`: a route that is not known here fails the test.
"""
import json
import os
import resource
import select
import subprocess
import urllib.parse

FORMATS = ("text", "csv", "markdown")
REPORTS = ("info", "overview", "hang", "live")
VERDICTS = ("diagnose", "what-if")
WRITERS = ("!pack", "!report", "!merge")

# Longer than any step: a request takes the whole file.
WHOLE = "from=0&to=1000000000000000"
# As long as requests may be.
NEEDLE = urllib.parse.quote("abcdefghij" * 1500 + "!")
TRACKS_MAX = 1500


class Slow(Exception):
    """An answer did not come in time, or the process ended."""


class Opened:
    """Runs that are open in a process of answer_costs."""

    def __init__(self, tool, paths, compared, seconds, limit_bytes):
        words = [tool, *paths, *(["--", *compared] if compared else [])]
        self.seconds = seconds
        # not to take the machine down with us: the real bound is checked by what was used
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            bufsize=0, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                             (limit_bytes, limit_bytes)))
        self.buffer = b""
        self.load = self.line()

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def more(self, until):
        # CPU time: others may have the machine
        while not select.select([self.process.stdout], [], [], 0.5)[0]:
            if self.cpu_s() > until:
                self.close()
                raise Slow(f"not done after {self.seconds} s of CPU time")
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            said = self.process.stderr.read().decode(errors="replace").strip()
            self.close()
            raise Slow(f"ended with {self.process.returncode}: {said}")
        self.buffer += data

    def line(self):
        until = self.cpu_s() + self.seconds
        while b"\n" not in self.buffer:
            self.more(until)
        text, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(text)

    def ask(self, request):
        """The costs of a request."""
        self.process.stdin.write(request.encode() + b"\n")
        return self.line()

    def answer(self, request):
        """What the request is answered with, as JSON; None: it was refused."""
        costs = self.ask("+" + request)
        if costs["status"]:
            return None
        pieces = [self.buffer]
        until = self.cpu_s() + self.seconds
        while sum(map(len, pieces)) < costs["bytes"]:
            self.buffer = b""
            self.more(until)
            pieces.append(self.buffer)
        data = b"".join(pieces)
        self.buffer = data[costs["bytes"]:]
        return json.loads(data[:costs["bytes"]])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


def of_views(offers, job):
    for view in offers["views"]:
        name = view["name"]
        if view["of_snapshot"] and not job["snapshots"]:
            continue
        yield f"view/{name}"
        for group in view["groups"][1:]:
            yield f"view/{name}?group={group}"
        for form in FORMATS:
            yield f"view/{name}?format={form}"
        if not view["of_snapshot"]:
            yield f"compare/{name}"
            yield f"view/{name}?rank=all"
        if not view["of_snapshot"] and not view["of_job"]:
            yield f"view/{name}?step=0-1000000&top=20&format=text"
            yield f"view/{name}?name=a&top=20&format=text"
    yield "compare"
    for name in VERDICTS + REPORTS + (("snapshot",) if job["snapshots"] else ()):
        yield f"view/{name}"
        yield f"view/{name}?format=text"
        yield f"view/{name}?format=markdown"


def of_files(opened, job):
    """What is asked about the first and the last file."""
    count = len(job["files"])
    for file in sorted({0, count - 1} if count else ()):
        slices = job["files"][file].get("slices") or 0
        told = opened.answer(f"tracks?file={file}")
        tracks = [track["track"] for track in told["tracks"]]
        idle = [track["track"] for track in told["tracks"] if track["kind"] == "idle"]
        yield f"tracks?file={file}"
        for color in ("category", "phase", "module", "stream"):
            yield f"colors?color={color}"
            yield (f"tiles?file={file}&tracks={','.join(map(str, tracks[:TRACKS_MAX]))}&{WHOLE}"
                   f"&pixels=1000&color={color}")
        yield (f"tiles?file={file}&tracks={','.join(map(str, tracks[:TRACKS_MAX]))}"
               "&from=0&to=100000&pixels=16384")
        for curve in [*told["curves"][:6], *told["curves"][-2:]]:
            name = urllib.parse.quote(curve["name"])
            which = f"&name={name}" if curve["curve"] == "counter" else ""
            yield f"curve?file={file}&curve={curve['curve']}{which}&{WHOLE}&pixels=1000"
        for row in sorted({0, 1, slices // 2, slices - 2, slices - 1}):
            if 0 <= row < slices:
                yield f"slice?file={file}&row={row}"
                yield f"near?file={file}&row={row}&go=next"
                yield f"near?file={file}&row={row}&go=previous"
        if idle:  # gaps are numbered through all devices, which have tracks in their order
            yield f"gap?file={file}&track={min(idle)}&gap=0"
            yield f"near?file={file}&track={min(idle)}&gap=0&go=next"
        yield f"range?rows={file}-{'-'.join(map(str, tracks[:TRACKS_MAX]))}&{WHOLE}"


def of_timeline(opened, job):
    yield from of_files(opened, job)
    files = ",".join(str(file["file"]) for file in job["files"])
    yield f"strips?files={files}&{WHOLE}&pixels=1000"
    yield f"range?{WHOLE}"
    yield f"range?{WHOLE}&limit=10000"
    yield "range?from=1000000&to=2000000"
    for words in ("", "&limit=10000", "&longest=1", "&pixels=1000&from=0", "&step=1",
                  "&kind=kernel", "&limit=10&offset=1000"):
        yield f"search?q=a{words}"
    yield "search?q="
    yield f"search?q={NEEDLE}"
    yield f"search?q={NEEDLE[:-10]}"
    yield "search?q=*a*b*c*d*e*f*g*h*i*j*%21"
    yield f"path?{WHOLE}&pixels=1000"
    yield f"path?{WHOLE}&pixels=16384"
    yield "flags"


def of_snapshots(opened, job):
    count = len(job["snapshots"])
    for number in sorted({0, count - 1} if count else ()):
        told = opened.answer(f"snapshot?snapshot={number}")
        yield f"snapshot?snapshot={number}"
        devices = (told["entry"]["devices"] or []) if told else []
        for device in [*devices[:1], *devices[1:][-1:]]:
            where = f"snapshot={number}&device={device['device']}"
            events = device["events"]
            for group in ("category", "line", "stack"):
                yield f"memory?{where}&group={group}&from=0&to={max(events, 1)}&pixels=1000"
                yield f"bands?{where}&group={group}&from=0&to={max(events, 1)}&pixels=1000"
            yield f"memory?{where}&axis=time&{WHOLE}&pixels=1000"
            yield f"blocks?{where}"
            yield f"blocks?{where}&event={max(events // 2, 0)}"
            yield f"stack?{where}&stack=1"
            yield f"stacks?{where}"
            for way in ("", "&go=next", "&go=previous", "&go=next-peak", "&go=previous-peak"):
                yield f"event?{where}&event={events // 2}{way}"


def requests_of(opened):
    """All requests for the runs that are open, and what was asked to know them."""
    offers, job = opened.answer("offers"), opened.answer("job")
    found = ["job", "offers", "explain", *of_timeline(opened, job), *of_snapshots(opened, job),
             *of_views(offers, job), *WRITERS]
    asked = {request.partition("?")[0].partition("/")[0] for request in found}
    missing = {route["name"] for route in offers["routes"]} - asked
    return list(dict.fromkeys(found)), missing
