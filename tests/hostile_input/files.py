# SPDX-License-Identifier: Apache-2.0
"""Cases: files whose syntax, packing or size is hostile."""
import gzip
import json
import random
import subprocess

from hostile_input.making import (
    AFTER, ANY, BEFORE, HEAD, TAIL, ZSTD, arguments, as_bytes, both, case, category_has,
    event, fails, has_file, join, kernel, launch, odd, op, trace,
)


def syntax_cases():
    """JSON with a dialect."""
    good = (*BEFORE, *AFTER)
    odd("numbers in traceEvents", "1", "2.5", "-3", rows={"not-an-event": 3}, lost=3)
    odd("strings in traceEvents", '"a"', '"{"', '"]"', rows={"not-an-event": 3}, lost=3)
    odd("arrays in traceEvents", "[]", "[1,[2]]", rows={"not-an-event": 2}, lost=2)
    odd("stray brackets around an event", "[" + event().decode() + "]", rows={"bad-event": 2},
        entries=2)
    odd("null, true and words in traceEvents", "null", "true", "NaN", "undefined",
        rows={"not-an-event": 4}, lost=4)
    odd("two commas", op(200) + b",,,", op(210), kept=2)
    odd("a missing comma between events", op(200) + b"\n" + op(210), entries=2, kept=2)
    odd("a trailing comma in an event", event()[:-1] + b",}",
        rows={"loose-json": 1})
    odd("a trailing comma in args", event(args='{"a":1,}'), rows={"loose-json": 1})
    odd("a missing comma in an event", event().replace(b',"ts"', b'"ts"'),
        rows={"loose-json": 1})
    odd("a missing comma in args", event(args='{"a":1 "b":2}'), rows={"loose-json": 1})
    odd("single quotes", event().replace(b'"', b"'"), rows={"bad-event": 1}, lost=1)
    odd("keys without quotes", "{ph:'X',ts:1}", rows={"bad-event": 1}, lost=1)
    odd("a colon is missing", event().replace(b'"pid":', b'"pid" '), rows={"bad-event": 1},
        lost=1)
    odd("a value is missing", event(pid=""), rows={"bad-event": 1}, lost=1)
    odd("a bracket closes what a brace opened", event(args='{"a":[1}'), rows={"bad-event": 1},
        lost=1)
    odd("an event is cut by the next", event()[:40] + b"\n", op(210), rows={"bad-event": 1},
        entries=2, kept=1)
    odd("a line comment", b"// note\n" + op(200), rows=None, entries=ANY,
        also=says("bad-event", "not-an-event"))
    odd("a block comment", b"/* note */" + op(200), rows=None, entries=ANY,
        also=says("bad-event", "not-an-event"))
    odd("Python's words", event(args='{"a":None,"b":True}'))
    odd("a NUL between events", op(200) + b"\0", op(210), rows=None, entries=ANY, kept=2,
        also=says("bad-event"))
    odd("a NUL block (sparse file after a crash)", op(200) + b"\0" * 5000, op(210), rows=None,
        entries=ANY, kept=2,
        also=says("bad-event"))
    case("a trailing comma in traceEvents", trace(*good, tail=",\n]}"), rows={}, events=3, kept=3)
    case("a byte order mark", b"\xef\xbb\xbf" + trace(*good), rows={}, events=3, kept=3)
    case("Windows line ends", trace(*good).replace(b"\n", b"\r\n"), rows={}, events=3, kept=3)
    case("a bare array (oldest form)", trace(*good, head="[", tail="]"), rows={}, events=3, kept=3)
    case("a bare array that is not closed (chrome allows it)", trace(*good, head="[", tail=",\n"),
         rows={"truncated": 1}, events=3, kept=3)
    case("one line", trace(*good).replace(b"\n", b""), rows={}, events=3, kept=3)
    case("white space everywhere", trace(*good).replace(b",", b" ,\t").replace(b'":', b'" \n: '),
         rows={}, events=3, kept=3)
    case("no events", trace(), rows={}, events=0, kept=0)
    case("an empty array", b"[]", rows={}, events=0, kept=0)
    case("two traceEvents", trace(*BEFORE, tail=b'],"traceEvents":[' + join(AFTER) + b"]}"),
         rows={}, events=3, kept=3)
    case("traceEvents null, then real", b'{"traceEvents":null,' + trace(*good)[1:],
         rows={}, events=3, kept=3)
    for garbage in (b"garbage", b"}", b"]", b"{}", b"\0\0", trace(*good)):
        case(f"after the end: {garbage[:8]!r}", trace(*good) + garbage, rows={"after-end": 1},
             events=3, kept=3)
    case("white space after the end", trace(*good) + b" \n\t\r\n" * 9, rows={}, events=3, kept=3)
    case("metadata after the events (TraceLens)", trace(
        *good, head='{"traceEvents":[', tail='],"distributedInfo":{"rank":3,"world_size":8}}'),
        rows={"no-rank": 0}, events=3, also=has_file(rank=3, world_size=8))
    case("distributedInfo with only a backend (HTA#107)", trace(
        *good, head='{"distributedInfo":{"backend":"nccl"},"traceEvents":['),
        rows={"no-rank": 1}, events=3, also=has_file(rank=None, backend="nccl"))
    case("no distributedInfo (HTA#148, HTA#233)", trace(*good, head='{"traceEvents":['),
         rows={"no-rank": 1}, events=3)
    for value in ("null", "5", '"x"', "[]", '{"rank":"x"}', '{"rank":null}', '{"rank":-1}'):
        case(f"distributedInfo is {value}", trace(
            *good, head='{"distributedInfo":%s,"traceEvents":[' % value),
            rows={"no-rank": 1, "odd-number": int(value == '{"rank":"x"}')}, events=3, kept=3)
    case("rank as a string", trace(*good, head='{"distributedInfo":{"rank":"3"},"traceEvents":['),
         rows={"no-rank": 0}, events=3, also=has_file(rank=3))
    case("deviceProperties of all sorts", trace(*good, head=(
        '{"deviceProperties":[null,5,{},{"id":"x","name":7,"totalGlobalMem":inf},[{}]],'
        '"traceEvents":[')), rows=None, events=3, kept=3)
    case("unescaped quotes in metadata", trace(
        *good, head='{"host_name":"a "b" c","note":"x "y" z","traceEvents":['), rows=None,
        events=3, kept=3)
    case("control characters in metadata", trace(
        *good, head='{"host_name":"a\nb","traceEvents":['), rows={"control-character": 1},
        events=3, kept=3, also=has_file(host="a b"))
    case("bare words in metadata (tb_plugin)", trace(
        *good, head='{"a":N/A,"cuda_driver_version":NaN,"b":-Infinity,"traceEvents":['),
        rows={"odd-number": 1}, events=3, kept=3)
    case("nothing where a value should be", trace(
        *good, head='{"a":,"schemaVersion":,"traceEvents":['), rows=None, events=3, kept=3)
    case("garbage between top-level keys", trace(*good, head='{"a":1 ### "b":2,;"traceEvents":['),
         rows=None, events=3, kept=3)
    case("garbage in place of a key", trace(*good, head='{###,"traceEvents":['),
         rows={"bad-metadata": 1}, events=3, kept=3)
    case("garbage in place of a key after the events", trace(
        *good, tail='],###,"distributedInfo":{}}'), rows={"bad-metadata": 1}, events=3, kept=3)
    case("the word traceEvents in a value", trace(
        *good, head='{"note":"traceEvents","a":{"traceEvents":[1,2]},"traceEvents":['),
        rows={}, events=3, kept=3)
    case("warnings of the writer", trace(*good, tail='],"WARNING":["a","b"],"ERROR":["c"]}'),
         rows={"writer-warning": 3}, events=3)


def stranger_cases():
    """No traces at all: one sentence, exit code 1."""
    fails("an empty file", b"", "empty")
    fails("white space only", b" \n\t\r\n" * 100, "empty")
    fails("a byte order mark only", b"\xef\xbb\xbf", "empty")
    for text in (b"null", b'"x"', b"5", b"true", b"x", b"\0", b"\0" * 4096, b"}", b"]", b","):
        fails(f"{text[:8]!r} of {len(text)}", text, "not a profiler trace")
    fails("{}", b"{}", 'has no "traceEvents"')
    fails("{ and the end", b"{", 'has no "traceEvents"')
    fails("an object of something else", b'{"a":[1,2,{"b":"c"}]}', 'has no "traceEvents"')
    for value in (b"null", b"{}", b'"x"', b"5", b"true"):
        fails(f"traceEvents is {value.decode()}", b'{"traceEvents":' + value + b"}", "traceEvents")
    fails("an array of numbers", b"[1,2,3]", "the JSON array contains no events")
    fails("an array of strings", b'["a","b"]', "the JSON array contains no events")
    fails("an array of other objects", b'[{"id":1},{"id":2}]', "the JSON array contains no events")
    fails("a PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "an image")
    for version in (2, 3, 4, 5):
        fails(f"a pickle, protocol {version}", b"\x80" + bytes([version]) + b"}q\0.", "pickle")
    fails("a Perfetto protobuf", b"\x0a\x8c\x01\x08\x01" + b"\x12" * 200, "Perfetto")
    fails("a Perfetto protobuf with a short packet", b"\x0a\x10\x50\x01\x78\x02" + b"\x08" * 200)
    fails("a zip", b"PK\x03\x04\x14\0\0\0", "zip")
    fails("an HTML page", b"<!DOCTYPE html>\n<html></html>", "HTML page")
    fails("a Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
          "git lfs pull")
    fails("UTF-16", "\ufeff".encode("utf-16-le") + trace(*AFTER).decode().encode("utf-16-le"))
    fails("random bytes", random.Random(7).randbytes(100000))
    fails("half of gzip's magic", b"\x1f")
    fails("gzip's magic only", b"\x1f\x8b", suffix=".json.gz")
    fails("gzip of nothing", gzip.compress(b""), "empty", suffix=".json.gz")
    fails("gzip of garbage", gzip.compress(b"garbage"), "not a profiler trace", suffix=".json.gz")
    fails("gzip's magic, then garbage", b"\x1f\x8b\x08" + b"\xff" * 200, suffix=".json.gz")
    fails("zstd's magic, then garbage", b"\x28\xb5\x2f\xfd" + b"\xff" * 200, suffix=".json.zst")
    fails("gzip inside of gzip", gzip.compress(gzip.compress(trace(*AFTER))), suffix=".json.gz")


def packed_cases():
    """Compressed files that are damaged."""
    events = [op(100 + 2 * i, name=f'"op {i * 7919 % 1000}"') for i in range(400)]
    data = trace(*events)
    packed = gzip.compress(data, mtime=0)
    suffix = {"suffix": ".json.gz"}
    case("gzip", packed, rows={}, events=400, kept=400, **suffix)
    case("gzip of many members", b"".join(
        gzip.compress(data[i:i + 1000]) for i in range(0, len(data), 1000)),
        rows={}, events=400, kept=400, **suffix)
    case("gzip with empty members", gzip.compress(b"") + packed + gzip.compress(b""),
         rows={}, events=400, kept=400, **suffix)
    case("gzip with garbage behind it", packed + b"garbage", rows={"compressed-trailing": 1},
         events=400, **suffix)
    case("gzip with zeros behind it (tape, dd)", packed + b"\0" * 512,
         rows={"compressed-trailing": 1}, events=400, **suffix)
    case("gzip with one byte behind it", packed + b"\x1f", rows={"compressed-trailing": 1},
         events=400, **suffix)
    case("gzip with half a member behind it", packed + packed[:5], rows=None, events=400, **suffix)
    case("gzip without its check sum", packed[:-8], rows={"compressed-cut": 1}, events=400,
         **suffix)
    case("gzip with half its check sum", packed[:-4], rows={"compressed-cut": 1}, events=400,
         **suffix)
    case("gzip with a wrong check sum", packed[:-8] + b"\0" * 8, rows={"compressed-corrupt": 1},
         events=400, **suffix)
    case("gzip, damaged at two thirds of a long file", damaged(gzip.compress(trace(
        *[op(100 + 2 * i, name=f'"op {i * 7919 % 100003}"') for i in range(30000)]))),
        rows=None, also=both(says("compressed-corrupt"), keeps(15000)), **suffix)
    case("gzip with a name that says it is plain", packed, rows={}, events=400)
    case("plain with a name that says it is gzip", data, rows={}, events=400, **suffix)
    if ZSTD:
        squeezed = compress_zstd(data)
        suffix = {"suffix": ".json.zst"}
        case("zstd", squeezed, rows={}, events=400, kept=400, **suffix)
        case("zstd, two frames", compress_zstd(data[:500]) + compress_zstd(data[500:]), rows={},
             events=400, **suffix)
        case("zstd with garbage behind it", squeezed + b"garbage", rows={"compressed-trailing": 1},
             events=400, **suffix)
        case("zstd, the last byte missing", squeezed[:-1], rows=None, events=None, **suffix,
             also=says("compressed-cut"))
        case("zstd, damaged at two thirds of a long file", damaged(compress_zstd(trace(
            *[op(100 + 2 * i, name=f'"op {i * 7919 % 100003}"') for i in range(30000)]))),
            rows=None, also=both(says("compressed-corrupt"), keeps(15000)), **suffix)
        case("zstd with a wrong check sum", squeezed[:-4] + b"\0\0\0\0",
             rows={"compressed-corrupt": 1}, events=400, **suffix)


def says(*oddities):
    """Is at least one of these in the view quality?"""
    def check(views):
        found = {row["oddity"] for row in views["quality"]}
        return None if found & set(oddities) else f"none of {oddities} in {sorted(found)}"
    return check


def keeps(at_least):
    def check(views):
        kept = views["files"][0]["kept_events"]
        return None if kept >= at_least else f"only {kept} events kept, not {at_least}"
    return check


def damaged(data):
    """Sixteen bytes changed at two thirds of it."""
    at = len(data) * 2 // 3
    return data[:at] + bytes(byte ^ 0x55 for byte in data[at:at + 16]) + data[at + 16:]


def compress_zstd(data):
    return subprocess.run([ZSTD, "-q", "-c", "--check"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def many(count, make, head=HEAD, tail=TAIL):
    """A file of `count` events, made while it is written; `make` has %d for an event's number."""
    if isinstance(make, bytes):
        template, holes = make, make.count(b"%d")
        make = lambda i: template % ((i,) * holes)  # noqa: E731

    def write(file):
        file.write(as_bytes(head))
        for start in range(0, count, 10000):
            numbers = range(start, min(start + 10000, count))
            file.write(b",\n" * bool(start) + b",\n".join(make(i) for i in numbers))
        file.write(as_bytes(tail))
    return write


def pieces(*parts):
    """A file of (bytes, times) parts."""
    def write(file):
        for text, times in parts:
            text = as_bytes(text)
            at_once = max(1, (1 << 20) // max(1, len(text)))
            for _ in range(times // at_once):
                file.write(text * at_once)
            file.write(text * (times % at_once))
    return write


def giant_cases():
    """Long, deep and many."""
    head, tail = HEAD + join(BEFORE) + b",\n", b",\n" + join(AFTER) + TAIL
    name = b'{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":200,"dur":2,"name":"'
    big = {"giant": True}
    million = 1000 * 1000

    def inside(what, *parts, **expected):
        """Parts between two good events."""
        case(what, pieces((head, 1), *parts, (tail, 1)), **(big | expected))

    inside("a name of 5 MB", (name, 1), ("x", 5 * million), ('"}', 1), rows={}, events=4, kept=4)
    inside("call stack of 5 MB", (name + b'a","args":{"Call stack":"', 1), ("x.py;", million),
           ('"}}', 1), rows={}, events=4, kept=4)
    inside("skipped argument of 5 MB", (name + b'a","args":{"x":"', 1), ("x", 5 * million),
           ('"}}', 1), rows={}, events=4, kept=4)
    for limit in (None, "64M"):
        inside(f"a name of 100 MB, memory limit {limit}", (name, 1), ("x", 100 * million),
               ('"}', 1), error="", options=["--memory-limit", limit] if limit else [],
               rss_mb=128 if limit else 400)
    inside("10 million quotes in a name", (name, 1), ('"', 10 * million), ('"}', 1), rows=None,
           also=says("unescaped-quote", "bad-event"), seconds=5)
    inside("10 million backslashes in a name", (name, 1), ("\\", 10 * million), ('"}', 1),
           rows=None, events=4, seconds=5)
    inside("10 million escaped quotes in a name", (name, 1), ('\\"', 10 * million), ('"}', 1),
           rows={}, events=4, seconds=5)
    inside("a million times quote and comma in a name", (name, 1), ('",', million), ('"}', 1),
           rows=None, seconds=5)
    inside("10 million [ in args", (name + b'a","args":{"x":', 1), ("[", 10 * million),
           rows=None, also=says("truncated", "bad-event"), seconds=5)
    inside("10 million [ and ] in args", (name + b'a","args":{"x":', 1), ("[", 10 * million),
           ("]", 10 * million), ("}}", 1), rows={}, events=4, seconds=5)
    inside("a million { among the events", ("{", million), rows=None, seconds=5,
           also=says("truncated", "bad-event"))
    inside("a million { and } among the events", ("{", million), ("}", million), rows=None,
           seconds=5, also=says("bad-event"))
    inside("half a million beginnings of events", ('{"ph":', million // 2), rows=None, seconds=5,
           also=says("truncated", "bad-event"))
    inside("half a million broken events", ('{"ph":,', million // 2), rows=None, seconds=5,
           also=says("truncated", "bad-event"))
    inside("half a million broken events that close", ('{"ph":,},', million // 2), rows=None,
           seconds=5, also=says("bad-event"))
    inside("half a million events cut short", (event()[:-1] + b",\n", million // 2), rows=None,
           seconds=10, also=says("truncated", "bad-event"))
    inside("a million commas", (",", million), rows=None, events=3, kept=3, seconds=5)
    inside("a million strings", ('"a",', million), rows={"not-an-event": million},
           events=3 + million, seconds=5)
    inside("100 MB of spaces among the events", (" ", 100 * million), ("{}", 1),
           rows={"no-phase": 1}, events=4, seconds=5)
    case("200 MB of spaces", pieces((" ", 200 * million)), error="empty", seconds=5, **big)
    case("100 MB of spaces before the events", pieces((" ", 100 * million), (trace(*AFTER), 1)),
         rows={}, events=2, kept=2, **big)
    case("100 MB of spaces before the closing brace", pieces(
        (trace(*AFTER, tail="]"), 1), (" ", 100 * million), ("}", 1)), rows={}, events=2, kept=2,
        **big)
    case("100 MB of spaces before a top-level key", pieces(
        ("{", 1), (" ", 100 * million), (trace(*AFTER)[1:], 1)), rows={}, events=2, kept=2, **big)
    case("100 MB of spaces after the end", pieces((trace(*AFTER), 1), (" ", 100 * million)),
         rows={}, events=2, kept=2, **big)
    case("10 million {\"a\": at the top", pieces(('{"a":', 10 * million)), error="", seconds=5,
         **big)
    case("10 million [ at the top", pieces(("[", 10 * million)), rows=None, seconds=5,
         also=says("truncated"), **big)
    case("10 million [ in an unknown key", pieces(
        ('{"a":', 1), ("[", 10 * million), ("]", 10 * million), (",", 1), (trace(*AFTER)[1:], 1)),
        rows={}, events=2, kept=2, seconds=5, **big)
    case("30 MB of distributedInfo", pieces(
        ('{"distributedInfo":{"a":"', 1), ("x", 30 * million), ('"},', 1), (trace(*AFTER)[1:], 1)),
        rows=None, events=2, kept=2, seconds=5, **big)
    case("a string of 100 MB in an unknown key", pieces(
        ('{"a":"', 1), ("x", 100 * million), ('",', 1), (trace(*AFTER)[1:], 1)),
        rows={}, events=2, kept=2, seconds=5, rss_mb=64, **big)
    case("a million quotes in an unknown key", pieces(
        ('{"a":"', 1), ('"', million), ('",', 1), (trace(*AFTER)[1:], 1)),
        rows=None, events=2, kept=2, seconds=5, **big)
    case("a key of 100 MB", pieces(
        ('{"', 1), ("x", 100 * million), ('":1,', 1), (trace(*AFTER)[1:], 1)),
        rows=None, events=None, kept=None, also=None, error="", **big)
    case("garbage of 20 MB in place of a key", pieces(
        ('{"a":1,', 1), ('#"b', 5 * million), (",", 1), (trace(*AFTER)[1:], 1)),
        rows={"bad-metadata": 1}, events=2, kept=2, seconds=5, **big)
    cats = 300
    case("300 categories", many(60000, lambda i: event(cat=f'"c{i * 7 % cats}"', ts=str(i))),
         rows=None, events=60000, kept=60000, also=categories_add_up, **big)
    case("300 categories and then kernels", many(60000, lambda i: (
        event(cat=f'"c{i % cats}"', ts=str(i)) if i < 1000 else kernel(i, dur="0"))),
        rows=None, events=60000, kept=60000,
        also=both(categories_add_up, category_has("kernel", 59000)), **big)


def categories_add_up(views):
    """Many categories with equally many events, and none counted for another."""
    counts = {row["category"]: row["events"] for row in views["categories"]}
    each = {v for k, v in counts.items() if k[0] == "c" and k[1:].isdigit()}
    if len(counts) < 200:
        return f"only {len(counts)} categories"
    if max(each) > 2 * min(each):
        return f"events per category differ: {sorted(each)}"
    return None


# Files whose time must grow in step with their size: name, events, and the event number i.
GROWING = [
    ("distinct tids", 1000000, op("%d", tid="%d")),
    ("distinct string tids", 200000, op("%d", tid='"t%d"')),
    ("distinct names", 1000000, op("%d", name='"n%d"')),
    ("distinct call stacks", 200000, op("%d", args='{"Call stack":"s%d"}')),
    ("process_name events", 1000000,
     b'{"ph":"M","name":"process_name","pid":%d,"tid":0,"args":{"name":"p%d"}}'),
    ("equal correlations of calls", 60000, launch("%d")),
    ("equal correlations of calls and kernels", 60000,
     launch("%d") + b"," + kernel("%d", dur="0")),
    ("begins without ends", 200000, op("%d", ph='"B"', dur=None)),
    ("async begins of one id", 200000, op("%d", ph='"b"', dur=None, id="1")),
    ("events inside of each other", 100000, lambda i: op(i, dur=str(1000000 - 2 * i))),
    ("events that outlast each other", 200000, op("%d", dur="1000000")),
    ("kernels that overlap", 100000, kernel("%d", dur="100000")),
    ("streams", 100000, kernel("%d", args=arguments(stream="%d"))),
    ("devices", 100000, kernel("%d", args=arguments(device="%d"))),
    ("equal times", 200000, op("100")),
    ("falling times", 100000, lambda i: op(1000000 - i)),
    ("shapes of events", 60000, lambda i: op(i, args='{"k%d":1,"j%d":2}' % (i % 5000, i % 77))),
    ("unescaped quotes", 100000, op("%d", name='"a "b", "c" d"')),
    ("events that cannot be read", 100000, op("%d", pid="")),
    ("events that do not close", 100000, op("%d")[:-1]),
    ("names that end in a backslash", 100000, op("%d", name='"C:\\"')),
    ("steps", 60000, op("%d", cat='"user_annotation"', name='"ProfilerStep#%d"', dur="1")),
    ("steps inside of each other", 60000,
     op("%d", cat='"user_annotation"', name='"ProfilerStep#%d"', dur="100000")),
    ("sequence numbers", 60000,
     lambda i: op(i, args='{"Sequence number":3,"Fwd thread id":%d}' % (i % 2))),
    ("arrows of one id", 60000,
     lambda i: op(100, ph='"s"' if i % 2 else '"f"', cat='"fwdbwd"', id="3", dur=None)),
    ("series of counters", 200000, op("%d", ph='"C"', dur=None, args='{"a%d":1}')),
]
