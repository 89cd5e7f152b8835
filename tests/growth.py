#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that grow: the time of every view and route has to grow in step, and memory is bounded.

Usage: growth.py ANSWER_COSTS [--all] [--long] [WORD...]. ANSWER_COSTS is bench/answer_costs, which
opens files once and tells what each answer costs. With words, only the shapes whose name contains
one. Without, seven of them, which STEPSCOPE_SEED chooses; --all:
all of them. --long: files of 100,000 instead of 24,000.

Each shape has much of one thing that views loop over. A file of it is made twice, the second four
times as long. Every view with its groups and formats, every route, comparison and output is asked
for (growing/asking.py). Four times the file may take up to nine times the time: quadratic time
would be sixteen times. Times below a hundredth of a second say nothing and count as one; what is
too slow is asked for again, and the best of three counts. Memory, of all that was
asked so far together, is at most 40 times the files and 64 MB.
"""
import argparse
import os
import sys
import tempfile

from growing.asking import Opened, Slow, requests_of
from growing.folders import FOLDERS
from growing.shapes import SHAPES, write_trace
from support.chosen import seed

TIMES = 4
TIMES_MOST = 9.0
LEAST_S = 0.01
BYTES_PER_BYTE = 40
BYTES_MORE = 64 << 20

# Enough for a quadratic loop to take seconds, and few enough for the others to take milliseconds.
COUNT = 6000
LONG_COUNT = 25000
# A request that takes longer has failed; a shape of all requests takes a few seconds.
SECONDS_MOST = 20
# After so many such requests the rest of a shape is left out.
SLOW_MOST = 3
# Shapes of a run, unless all are wanted: about 20 s of CPU time.
SHAPES_SHORT = 7
# Parameters of requests that are other numbers in other files.
GROWING = ("tracks", "track", "rows", "row", "files", "file", "event", "device")


class Made:
    """The files of a shape, made with n of what it is about."""

    def __init__(self, shape, count, folder):
        self.folder = folder
        if shape in SHAPES:
            write_trace(os.path.join(folder, "trace.json"), shape(count))
        else:
            shape(folder, count)
        self.bytes = sum(entry.stat().st_size for entry in os.scandir(folder))

    def open(self, tool):
        # a run is compared with itself, so it is open twice
        return Opened(tool, [self.folder], [self.folder], SECONDS_MOST,
                      self.limit() * 2 + (4 << 30))

    def limit(self):
        return BYTES_PER_BYTE * 2 * self.bytes + BYTES_MORE


class Costs:
    """What the requests cost on one file."""

    def __init__(self, tool, made):
        self.tool, self.made = tool, made
        self.opened = made.open(tool)
        self.slow = 0
        self.by_request = {"load": self.opened.load}

    def ask(self, request):
        try:
            costs = self.opened.ask(request)
        except Slow as slow:
            costs = {"cpu_s": float("inf"), "peak_kb": 0, "bytes": 0, "status": -1,
                     "problem": str(slow)}
            self.slow += 1
            self.opened = self.made.open(self.tool) if self.slow < SLOW_MOST else None
        self.by_request[request] = costs
        return costs

    def again(self, request):
        """The time of a request in a process of its own."""
        opened = self.made.open(self.tool)
        try:
            return opened.load if request == "load" else opened.ask(request)
        except Slow:
            return {"cpu_s": float("inf")}
        finally:
            opened.close()


def general(request):
    """A request without the numbers that grow with the file."""
    route, _, words = request.partition("?")
    # windows of snapshots are numbers of events
    growing = GROWING + ("to",) if route in ("memory", "bands") else GROWING
    return f"{route}?" + "&".join(
        word.partition("=")[0] if word.partition("=")[0] in growing else word[:60]
        for word in words.split("&"))


def ratio(small, large):
    return large["cpu_s"] / max(small["cpu_s"], LEAST_S)


def is_slow(before, request, small, large):
    """Whether the ratio is above what is right, also when it is asked for again."""
    found = ratio(small.by_request[before], large.by_request[request])
    for _ in range(2):
        if found <= TIMES_MOST:
            return False
        found = min(found, ratio(small.again(before), large.again(request)))
    return found > TIMES_MOST


def check_shape(tool, shape, count, folder):
    """Sentences about the requests that take too much, and the worst ones."""
    costs = []
    for n in (count, TIMES * count):
        made = Made(shape, n, tempfile.mkdtemp(dir=folder))
        costs.append(Costs(tool, made))
        try:
            requests, missing = requests_of(costs[-1].opened)
        except Slow as slow:
            return [f"{n}: tracks, job or snapshots: {slow}"], set()
        for request in requests:
            if costs[-1].opened:
                costs[-1].ask(request)
        if costs[-1].opened:
            costs[-1].opened.close()
    return judge(shape, *costs), missing


def judge(shape, small, large):
    found, worst, most = [], (0, ""), (0, "")
    places = {general(request): request for request in small.by_request}
    for request, costs in large.by_request.items():
        word, before = general(request), places.get(general(request))
        if before is None:
            continue
        told = small.by_request[before]
        if costs["status"] == -1:
            found.append(f"{word}: {costs['problem']}")
            worst = (float("inf"), word)
            continue
        if costs["status"] != told["status"]:
            found.append(f"{word}: {costs['problem'] or 'answers'}, the smaller file: "
                         f"{told['problem'] or 'answers'}")
        times = ratio(told, costs)
        if is_slow(before, request, small, large):
            found.append(f"{word} takes {told['cpu_s']:.3f} and {costs['cpu_s']:.3f} s, "
                         f"{times:.1f} times: at most {TIMES_MOST:.0f} times is right")
        worst = max(worst, (times, word))
        most = max(most, (costs["peak_kb"], word))
        if costs["peak_kb"] << 10 > large.made.limit():
            found.append(f"{word} takes {costs['peak_kb'] >> 10} MB of memory for "
                         f"2 x {large.made.bytes / 1e6:.1f} MB, {costs['bytes'] >> 20} MB of them "
                         "the answer")
    print(f"{shape.__name__:<24} {worst[0]:6.1f} {worst[1][:44]:<44} {most[0] >> 10:6} MB "
          f"{most[0] * 1024 / 2 / large.made.bytes:6.1f} {most[1][:40]}", flush=True)
    return found


def chosen(args):
    shapes = SHAPES + FOLDERS
    if args.words:
        return [shape for shape in shapes if any(word in shape.__name__ for word in args.words)]
    first = seed() * SHAPES_SHORT % len(shapes)
    return shapes if args.all else (shapes[first:] + shapes[:first])[:SHAPES_SHORT]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--long", action="store_true")
    args = parser.parse_intermixed_args()
    failed, done, missing = 0, 0, None
    for shape in chosen(args):
        with tempfile.TemporaryDirectory() as folder:
            found, unasked = check_shape(args.tool, shape, LONG_COUNT if args.long else COUNT,
                                         folder)
        missing = unasked if missing is None else missing & unasked
        for sentence in found:
            print(f"FAILED {shape.__name__}: {sentence}", flush=True)
        failed += len(found)
        done += 1
    if args.all and missing:
        print(f"FAILED no request for {sorted(missing)}")
        failed += 1
    print(f"growth: {done} shapes, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
