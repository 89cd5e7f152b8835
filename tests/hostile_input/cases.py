# SPDX-License-Identifier: Apache-2.0
"""Cases: one odd thing in an otherwise good file."""
import itertools

from hostile_input.making import (
    LOOSE, ORPHAN, arguments, both, case, category_has, event, has_track, kernel, launch,
    launched, named_thread, odd, op, trace, track_count,
)


def number_cases():
    """Things that stand where a number should."""
    for word in ("inf", "-inf", "Infinity", "-Infinity", "NaN", "nan", "N/A", '"inf"', '"N/A"'):
        occupancy = arguments(**{"est. achieved occupancy %": word})
        odd(f"occupancy is {word} (kineto#105, tb_plugin data.py)",
            *launched(kernel(args=occupancy)), rows={"odd-number": 1})
        bandwidth = arguments(**{"bytes": "4", "memory bandwidth (GB/s)": word})
        odd(f"memory bandwidth is {word} (kineto#105)",
            *launched(kernel(cat='"gpu_memcpy"', name='"Memcpy HtoD"', args=bandwidth)))
        odd(f"ts is {word}", event(ts=word), rows={"no-time": 1}, lost=1)
        odd(f"dur is {word}", event(dur=word), rows={"odd-number": 1})
        odd(f"bytes is {word}", *launched(kernel(
            cat='"gpu_memcpy"', name='"Memcpy HtoD"', args=arguments(bytes=word))),
            rows={"odd-number": 1})
    for word in ("null", "true", "{}", "[]", '""', '"x"', "0x10", "1e", "--1", "1.2.3", "."):
        odd(f"ts is {word}", event(ts=word), rows={"no-time": 1}, lost=1)
        odd(f"dur is {word}", event(dur=word), rows={"odd-number": 1})
    odd("numbers as strings (1.8, ROCm)",
        event(ts='"200.5"', dur='"2.25"', pid='"1"', tid='"1"'),
        also=both(track_count(1), has_track(pid="1", tid="1", events=4)))
    odd("correlation and stream as strings (MTIA)", *launched(kernel(
        args=arguments(correlation='"5"', stream='"7"', device='"0"'))),
        also=has_track(track="stream", pid="0", tid="7"))
    odd("bytes as a string (ROCm)", *launched(kernel(
        cat='"gpu_memcpy"', name='"Memcpy HtoD"', args=arguments(bytes='"4096"'))))
    odd("numbers with an exponent", event(ts="2e2", dur="2E+0"), event(ts="2.5e2", dur="20e-1"))
    odd("a number of 400 digits", event(ts="9" * 400), rows={"time-out-of-range": 1}, lost=1)
    odd("a fraction of 400 digits", event(ts="200." + "9" * 400))
    odd("zeros before the number", event(ts="0" * 300 + "200"))
    for ts in ("1e30", "1e300", "1e999999999999", "-1e300", "9223372036854775807", "1e18"):
        odd(f"ts {ts}", event(ts=ts), rows={"time-out-of-range": 1}, lost=1)
    odd("ts of a huge negative exponent is zero", event(ts="1e-999999999999"))
    odd("exponent of 100 digits", event(ts="1e" + "9" * 100), rows={"time-out-of-range": 1}, lost=1)
    odd("negative ts", event(ts="-200", dur="2"))
    for dur in ("691200000000", "9223372036854775807", "1e300", "1e999999999", '"691200000000"'):
        odd(f"dur {dur} (HTA 0.6.0 MAX_EVENT_DURATION_US)", event(dur=dur),
            rows={"absurd-duration": 1}, lost=1)
    odd("dur of exactly seven days", event(dur="604800000000"))
    for dur in ("-1", "-0.001", "-1e6", "-1e300", "-9223372036854775808"):
        odd(f"dur {dur}", event(dur=dur), rows={"negative-duration": 1})
    odd("dur -0", event(dur="-0"))
    odd("kernels at ts 0 with dur 0 (kineto#109)", *launched(
        kernel(), *[kernel(ts=0, dur="0", tid=str(i)) for i in range(20)]),
        rows={"untimed-device-event": 20}, lost=20)
    odd("an operator at ts 0 with dur 0 is one", event(ts="0", dur="0"))
    odd("a kernel at ts 0 that lasts is one", *launched(kernel(ts=0, dur="1")),
        rows={"kernel-before-launch": 1})


def text_cases():
    """Names that no JSON writer would write."""
    bad_bytes = {
        "a lone continuation": b"a\x80b", "latin-1": b"caf\xe9", "a cut sequence": b"x\xe2\x82",
        "overlong": b"\xc0\xaf", "a surrogate": b"\xed\xa0\x80", "0xff": b"\xff\xfe",
    }
    for what, name in bad_bytes.items():
        odd(f"name with {what} (pytorch#121219, kineto#988)", event(name=b'"' + name + b'"'),
            rows={"bad-utf8": 1})
    odd("thread name with a bad byte", *named_thread(b'"a\xffb"'), rows={"bad-utf8": 1}, kept=1,
        also=has_track(name="a\ufffdb"))
    for what, byte in (("newline", b"\n"), ("tab", b"\t"), ("0x01", b"\x01"), ("NUL", b"\0"),
                       ("return", b"\r"), ("ESC", b"\x1b[31m"), ("DEL", b"\x7f")):
        odd(f"name with a raw {what} (pytorch#130622)", event(name=b'"a' + byte + b'b"'),
            rows={"control-character": 1})
        odd(f"call stack with a raw {what} (pytorch#136180)",
            event(args=b'{"Call stack":"a' + byte + b'b"}'), rows={"control-character": 1})
        shown = "a" + " " + byte[1:].decode() + "b"
        odd(f"thread name with a raw {what}", *named_thread(b'"a' + byte + b'b"'),
            rows={"control-character": 1}, kept=1, also=has_track(name=shown))
    odd("escaped control characters", *named_thread(r'"a\n\t\u0000b"'), kept=1, rows=None,
        also=has_track(name="a   b"))
    odd("half a surrogate pair", *named_thread(r'"a\ud83dz"'), kept=1,
        also=has_track(name="a\ufffdz"))
    odd("surrogate pair", *named_thread(r'"a\ud83d\ude00z"'), kept=1,
        also=has_track(name="a\U0001f600z"))
    odd("unknown escapes", *named_thread(r'"a\qb\xc\u12"'), kept=1, rows=LOOSE,
        also=has_track(name=r"a\qb\xc\u12"))
    odd("wide characters", *named_thread('"' + "漢字" * 60 + '"'), kept=1,
        also=has_track(name="漢字" * 60))
    odd("a name of 300 bytes", *named_thread('"' + "abc" * 100 + '"'), kept=1)
    odd("a formula for spreadsheets", *named_thread('"=HYPERLINK(1)"'), kept=1)


def quote_cases():
    """Quotes and backslashes that nobody escaped."""
    names = {
        'f("a", "b")': 4, '"quoted"': 2, 'a "b" c': 2, '"': 1, '""': 2, 'x" y': 1,
        "<string>(1): \"x\"": 2, 'torch._dynamo "/a/b.py" 7': 2,
    }
    for name, quotes in names.items():
        odd(f"unescaped quotes: {name} (pytorch#146900)", event(name='"' + name + '"'),
            rows={"unescaped-quote": quotes})
    for name, quotes in names.items():
        odd(f"unescaped quotes in a thread's name: {name}", *named_thread('"' + name + '"'),
            rows={"unescaped-quote": quotes}, kept=1, also=has_track(name=name))
    odd("unescaped quotes, spaced layout", event(name='"f("a", "b")"').replace(b",", b", "),
        rows={"unescaped-quote": 4})
    odd("unescaped quotes in an argument", event(args='{"Call stack":"a "b" c","x":1}'),
        rows={"unescaped-quote": 2})
    odd("unescaped quotes in a skipped argument", event(args='{"y":["a "b" c"],"x":1}'),
        rows={"unescaped-quote": 2})
    odd("unescaped quotes in ten events alike", *[event(name='"a "b" c"') for _ in range(10)],
        rows={"unescaped-quote": 20})
    stacks = {
        "a Windows path": r"C:\Users\me\train.py(3): f", "an unknown escape": r"C:\a\d\q.py",
        "a path that ends in a backslash": "C:\\data\\", "\\u in a path": r"C:\users\u12\x.py",
        "two paths": r"C:\a\b.py(1): f;C:\a\c.py(2): g", "one backslash": "\\",
        "two backslashes": "\\\\",
    }
    for what, stack in stacks.items():
        rows = {} if what == "two backslashes" else LOOSE
        odd(f"unescaped backslashes, {what} (kineto#336)",
            event(args='{"Call stack":"' + stack + '","External id":3}'), rows=rows)
        odd(f"unescaped backslashes at the end of args, {what} (kineto#336)",
            event(args='{"External id":3,"Call stack":"' + stack + '"}'), rows=rows)
        odd(f"unescaped backslashes in a name, {what} (kineto#336)", event(name=f'"{stack}"'),
            rows=rows)
    odd("a thread's name is a Windows path (kineto#336)", *named_thread(
        r'"C:\Users\me\train.py"'), kept=1, rows=LOOSE,
        also=has_track(name=r"C:\Users\me\train.py"))
    odd("a name that ends in a backslash", *named_thread('"C:\\data\\"'), kept=1, rows=LOOSE,
        also=has_track(name="C:\\data\\"))
    odd("properly escaped", *named_thread(r'"a\"b\\c\/d"'), kept=1, also=has_track(name='a"b\\c/d'))


def track_cases():
    """Process and thread ids of all kinds."""
    plain = {
        "7": "7", "-1": "-1", "-1234567890": "-1234567890", '"12"': "12", "0": "0",
        "140737353971776": "140737353971776", "9223372036854775807": "9223372036854775807",
        '"main"': "main", '"Spans"': "Spans", '""': "", '"stream x"': "stream x", "7.0": "7",
        '"PyTorch Profiler"': "PyTorch Profiler", "null": "null", "true": "true",
    }
    for tid, shown in plain.items():
        wanted = {} if shown == "" else {"tid": shown}
        odd(f"tid {tid}", op(200, tid=tid), op(210, tid=tid),
            rows={"odd-number": 2} if tid in ("null", "true") else {},
            also=has_track(track="thread", events=2, **wanted))
    for tid in ('{"a":1}', "[1,2]", "1e400", '"a\\"b"', "7.5"):
        odd(f"tid {tid}", op(200, tid=tid, pid=tid), also=track_count(2),
            rows={"odd-number": 2} if tid in ("1e400", "7.5") else {})
    odd("tids 7.5 and 8 are two threads", op(200, tid="7.5"), op(210, tid="8"),
        rows={"odd-number": 1}, also=track_count(3))
    odd("tid missing", op(200, tid=None), rows={"no-track": 1}, also=track_count(2))
    odd("pid missing", op(200, pid=None), rows={"no-track": 1}, also=track_count(2))
    odd("pid missing and 0 are one process or two, but both are kept",
        op(200, pid=None), op(210, pid="0"), rows={"no-track": 1})
    odd('kernel on tid "stream 7" without args (1.8)', event(
        cat='"Kernel"', name='"gemm"', pid="0", tid='"stream 7"'), rows=ORPHAN,
        also=has_track(track="stream", pid="0", tid="7"))
    odd("kernel whose pid is not its device", *launched(kernel(pid="9", tid="3")),
        also=has_track(track="stream", pid="0", tid="7"))
    odd("kernel with device and stream that are no numbers",
        *launched(kernel(args=arguments(device='"x"', stream="null"))), rows={"odd-number": 1})
    odd("python_function on pid 0 and tid 0 (2.x)", *launched(kernel()), op(
        200, cat='"python_function"', pid="0", tid="0"), also=has_track(
            track="thread", pid="0", tid="0"))


def event_cases():
    """Events that lack something, or are of no known kind."""
    odd("name missing (HTA#16)", event(name=None), rows={"no-name": 1})
    odd("name null", event(name="null"))
    odd("name empty", event(name='""'), rows={"no-name": 1})
    odd("name a number", event(name="5"))
    odd("name an object", event(name='{"a":1}'))
    odd("kernel without a name (HTA#16)", *launched(kernel(name=None)), rows={"no-name": 1})
    odd("ph missing", event(ph=None), rows={"no-phase": 1}, lost=1)
    odd("ph null", event(ph="null"), rows={"no-phase": 1}, lost=1)
    odd("ph empty", event(ph='""'), rows={"no-phase": 1}, lost=1)
    odd("ph of two letters", event(ph='"XX"'), rows={"no-phase": 1}, lost=1)
    odd("ph a number", event(ph="5"), rows={"no-phase": 1}, lost=1)
    odd("ph unknown", event(ph='"Z"'), event(ph='"?"'), rows={"unknown-phase": 2}, lost=2)
    odd("ph is a byte above 127", event(ph=b'"\xe9"'), rows={"unknown-phase": 1}, lost=1,
        categories={"cpu_op": 3}, also=category_has("phase i", 0))
    odd("ts missing", event(ts=None), rows={"no-time": 1}, lost=1)
    odd("ts missing, ten alike", *[event(ts=None)] * 10, rows={"no-time": 10}, lost=10)
    odd("cat missing", event(cat=None), event(cat=None, args="{}"), event(cat=None),
        rows={"unknown-category": 3})
    odd("cat empty", event(cat='""'), event(cat='""', args="{}"), rows={"unknown-category": 2})
    odd("cat null, then a real one", event(cat="null"), event(cat="null"), kernel(cat='"kernel"'),
        rows={**ORPHAN, "unknown-category": 2})
    odd("a letter of a category is damaged", event(cat='"cpu_oq"'), rows={"unknown-category": 1})
    process = [event(ph='"M"', cat=None, ts="0", dur=None, name='"process_name"',
                     args='{"name":"python"}')]
    many = [op(200 + 2 * i) for i in range(300)]
    case("a digit of a time is damaged", trace(*many, op("90000000000")), rows={"far-event": 1},
         events=301)
    case("two recordings in one file", trace(*many, *[
        op(90000000000 + 2 * i) for i in range(99)]), rows={}, events=399)
    case("a digit of a pid is damaged", trace(*process, *many, op(900, pid="7")),
         rows={"unnamed-process": 1}, events=302)
    case("two processes, one named", trace(*process, *many, *[
        op(900 + 2 * i, pid="7") for i in range(99)]), rows={}, events=400)
    odd("dur missing", event(dur=None), rows={"no-duration": 1})
    odd("a letter of 'dur' is damaged", event().replace(b'"dur"', b'"dus"'),
        rows={"no-duration": 1})
    odd("a phase is damaged", event().replace(b'"ph":"X"', b'"ph":"P"'), lost=1,
        rows={"unknown-phase": 1})
    odd("a pid is damaged", op(200, pid="1x"), op(210, pid="1-1"), rows={"odd-number": 2})
    odd("a digit of a duration is damaged", event(dur="5.e2"), rows={"odd-number": 1})
    odd("shapes are damaged", *[event(args='{"Input Dims":%s,"Input type":["float"]}' % dims)
        for dims in ("[[3, 4], []]", "[[3 4], []]", "[[3, 4] []]", "[[3,, 4], []]")],
        rows={"loose-json": 3})
    odd("a launch configuration is damaged", *launched(kernel(args=arguments(
        grid="[3x2, 1, 1]", block="[32, 1]"))), rows={"odd-number": 2})
    odd("empty events", "{}", "{ }", rows={"no-phase": 2}, lost=2)
    odd("args missing, null, empty, no object", event(args=None), event(args="null"),
        event(args="{}"), event(args="[]"), event(args='"x"'), event(args="5"))
    for word in ("null", "[]", "5", '"x"', "{}"):
        calls = [op(190 + 5 * i, cat='"cuda_runtime"', name='"cudaLaunchKernel"', args=a)
                 for i, a in enumerate([word, '{"correlation":5}'])]
        odd(f"args {word} before args that count", *calls, kernel())
    odd("one of three categories longer than 40 bytes",
        *[event(cat=f'"{"long_" * 9}{i}"') for i in (1, 2, 2)], rows={"unknown-category": 3},
        categories={"cpu_op": 3, "long_" * 9 + "1": 1, "long_" * 9 + "2": 2})
    odd("categories that are numbers", *[event(cat=str(i)) for i in (1, 2, 2)],
        rows={"unknown-category": 3},
        categories={"cpu_op": 3, "1": 1, "2": 2})
    odd("categories of 100 bytes", *[event(cat=f'"{"c" * 100}{i}"') for i in (1, 2)],
        rows={"unknown-category": 2})
    odd("duplicate keys: the last counts", event().replace(b'"ts":200', b'"ts":"x","ts":200'),
        event().replace(b'"ph":"X"', b'"ph":"Z","ph":"X"'))
    twice = [b'{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,'
             b'"ts":%d,"dur":1,"args":{"correlation":%d},"args":{"cbid":3}}' % (190 + i, i + 4)
             for i in range(2)]
    odd("args twice: equal events are read equally", *twice, kernel(ts=250), rows=ORPHAN)
    odd("keys with escapes", event().replace(b'"ph"', rb'"\u0070h"'), rows={"no-phase": 1}, lost=1)
    odd("keys with escapes beside plain ones", event().replace(b'"dur"', rb'"\u0064ur"'),
        rows={"no-duration": 1})
    odd("deep but sane args", event(args='{"a":' + "[" * 200 + "]" * 200 + "}"))
    odd("old names and other case (1.8)", event(cat='"Operator"'), event(cat='"CPU_OP"'), op(
        190, cat='"Runtime"', name='"cudaLaunchKernel"', args='{"correlation":5}'),
        kernel(cat='"Kernel"'), kernel(ts=210, cat='"Memcpy"', name='"Memcpy HtoD"'),
        kernel(ts=220, cat='"Memset"', name='"Memset (Device)"'),
        categories={"cpu_op": 5, "cuda_runtime": 1, "kernel": 1, "gpu_memcpy": 1, "gpu_memset": 1})
    odd("negative, 64-bit and zero correlations", *itertools.chain.from_iterable(
        (launch(200 + 5 * i, c), kernel(201 + 5 * i, args=arguments(correlation=c)))
        for i, c in enumerate(["-5", "9223372036854775807", "18446744073709551615", "4294967301"])))
    odd("correlation that is no number", launch(correlation='"x"'),
        kernel(args=arguments(correlation='"x"')), rows={**ORPHAN, "odd-number": 2})
    odd("unknown top-level and args keys", event(foo='{"a":[1,{"b":"}]"}]}', args='{"z":"]}"}'))


def relation_cases():
    """Events that do not fit each other."""
    odd("kernel without a launch", kernel(), rows=ORPHAN)
    odd("kernel before its launch", launch(ts=210), kernel(ts=200),
        rows={"kernel-before-launch": 1})
    odd("launch after the kernel in the file", kernel(ts=200), launch(ts=190))
    odd("duplicate correlation", launch(190), launch(193), launch(196), kernel(200),
        rows={"duplicate-correlation": 1})
    odd("duplicate events", *launched(kernel(), kernel(), kernel()),
        rows={"duplicate-event": 2, "overlapping-kernel": 2})
    odd("overlapping kernels", launch(), *[kernel(200 + i, dur="10") for i in range(3)],
        rows={"overlapping-kernel": 2})
    odd("a kernel that swallows ten (TraceLens#669, #972)", launch(), kernel(200, dur="1000"),
        *[kernel(210 + 5 * i) for i in range(10)],
        rows={"overlapping-kernel": 10, "swallowing-kernel": 1})
    odd("partial overlap", op(200, dur="10"), op(205, dur="10"), rows={"partial-overlap": 1})
    odd("arrow without its other end", event(ph='"s"', cat='"fwdbwd"', id="3"), kept=0,
        rows={"flow-unmatched": 1})
    odd("arrow that ends nowhere", event(ph='"f"', cat='"fwdbwd"', id="3", bp='"e"'), kept=0,
        rows={"flow-unmatched": 1})


def half_cases():
    """Begins and ends, counters."""
    def mark(ph, ts, **fields):
        return op(ts, ph=f'"{ph}"', dur=None, **fields)

    def counter(args, **fields):
        base = {"ph": '"C"', "dur": None, "cat": None, "name": '"c"'}
        return event(**(base | fields), args=args)

    odd("B and E", mark("B", 200), mark("E", 210), kept=1)
    odd("B and E, nested", mark("B", 200), mark("B", 202), mark("E", 204), mark("E", 206), kept=2)
    odd("B and E, unsorted", mark("E", 210), mark("B", 200), kept=1)
    odd("B without E", mark("B", 200), rows={"begin-without-end": 1, "partial-overlap": 0})
    odd("E without B", mark("E", 200), rows={"end-without-begin": 1}, lost=1)
    odd("E of another thread", mark("B", 200), mark("E", 210, tid="8"), kept=1,
        rows={"begin-without-end": 1, "end-without-begin": 1})
    odd("B without a time", mark("B", "null"), mark("E", 210), kept=0,
        rows={"no-time": 1, "end-without-begin": 1})
    odd("E without a name", mark("B", 200), mark("E", 210, name=None, cat=None), kept=1)
    odd("b and e", mark("b", 200, id="1"), mark("b", 201, id="2"), mark("e", 205, id="1"),
        mark("e", 206, id="2"), kept=2)
    odd("b without e", mark("b", 200, id="1"), rows={"begin-without-end": 1})
    odd("e without b", mark("e", 200, id="1"), rows={"end-without-begin": 1}, lost=1)
    odd("b and e without an id", mark("b", 200), mark("e", 210), kept=1)
    odd("b and e with an id that is an object", mark("b", 200, id='{"a":1}'),
        mark("e", 210, id='{"a":1}'), kept=1)
    # the limit holds however an event is made; seven days themselves are allowed
    week = 7 * 24 * 3600 * 10**6
    for begin, end in ("BE", "be", "SF"):
        odd(f"{begin} and {end}, seven days apart", mark(begin, 200, id="1"),
            mark(end, 200 + week, id="1"), kept=1)
        odd(f"{begin} and {end}, more than seven days apart", mark(begin, 200, id="1"),
            mark(end, 200.001 + week, id="1"), rows={"absurd-duration": 1}, kept=0)
    odd("B without E, of a file that lasts longer than seven days", mark("B", 200),
        op(300 + week), rows={"begin-without-end": 1, "absurd-duration": 1}, kept=1)
    odd("counter", counter('{"a":1,"b":2.5}'), kept=2)
    odd("counter with the empty key (kineto PM sampling)", counter('{"":3}'))
    odd("counter with no numbers", counter('{"a":"x","b":null,"c":1}'), rows={"odd-number": 2})
    odd("counter of inf and NaN", counter('{"a":inf,"b":NaN,"c":N/A}'), kept=0,
        rows={"odd-number": 3})
    odd("counter of objects", counter('{"a":{"b":1},"c":[1]}'), kept=0, rows={"odd-number": 2})
    odd("counter without a time", counter('{"a":1}', ts=None), lost=1, rows={"no-time": 1})
    odd("counter with unescaped quotes", counter('{"a "x" b":1}'), rows={"unescaped-quote": 2})
    odd("instants of every letter", *[mark(p, 200 + i) for i, p in enumerate("iIR")])
    odd("phases that hold nothing", *[mark(p, 200, cat='"x"') for p in "tnNODvVcP()"], kept=0)
    odd("[memory] without numbers", mark("i", 200, name='"[memory]"', args='{"Bytes":"x"}'),
        rows={"odd-number": 1})
    odd("[memory] with an absurd device", mark(
        "i", 200, name='"[memory]"', args='{"Bytes":1e300,"Device Id":9e9,"Device Type":-7}'),
        rows=None)
