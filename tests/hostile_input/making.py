# SPDX-License-Identifier: Apache-2.0
"""Files for the hostile input tests, and what a case is."""
import shutil

SECONDS_MAX = 20
# what runs beside it may take nearly all of the processor: a run that waits is not slow
PATIENCE = 10
BLOCK_BYTES = 1 << 20
BORDERS = 4  # places of the border inside of the odd events
ZSTD = shutil.which("zstd")


# --- making files -----------------------------------------------------------------------------


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def event(**fields):
    """One event; every value is JSON text as it stands in the file, None leaves the key out."""
    values = {
        "ph": '"X"', "cat": '"cpu_op"', "name": '"aten::add"',
        "pid": "1", "tid": "1", "ts": "200", "dur": "2",
    } | fields
    pairs = [b'"%s":%s' % (as_bytes(k), as_bytes(v)) for k, v in values.items() if v is not None]
    return b"{" + b",".join(pairs) + b"}"


def op(ts, **fields):
    return event(ts=str(ts), **fields)


def arguments(**values):
    """The args of a device event or a call, a few of them replaced."""
    values = {"device": "0", "stream": "7", "correlation": "5"} | values
    return "{" + ",".join(f'"{k}":{v}' for k, v in values.items() if v is not None) + "}"


def kernel(ts=200, args=None, **fields):
    base = {"cat": '"kernel"', "name": '"gemm"', "pid": "0", "tid": "7"}
    return op(ts, **(base | fields), args=args or arguments())


def launch(ts=190, correlation="5", **fields):
    base = {"cat": '"cuda_runtime"', "name": '"cudaLaunchKernel"'}
    return op(ts, **(base | fields), args='{"correlation":%s}' % correlation)


def launched(*kernels):
    return (launch(), *kernels)


def named_thread(name):
    """A thread that has this name (JSON text), on which one event lies."""
    meta = event(ph='"M"', name='"thread_name"', cat=None, dur=None, tid="9",
                 args=b'{"name":' + as_bytes(name) + b"}")
    return meta, op(200, tid="9")


# What surrounds the odd events: if these three are kept, the damage stayed local.
BEFORE = (op(100),)
AFTER = (op(300), op(310))
HEAD = b'{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":[\n'
TAIL = b'\n],"traceName":"x"}\n'


def join(events, separator=b",\n"):
    return separator.join(as_bytes(e) for e in events)


def trace(*events, head=HEAD, tail=TAIL):
    return as_bytes(head) + join(events) + as_bytes(tail)


# --- cases ------------------------------------------------------------------------------------


class Case:
    """A file and what must come of it; None means: not looked at.

    rows     oddity -> count: all rows that are not "absent", and those absent ones named here
    events   entries of traceEvents; kept: events in memory
    error    the load must fail, with this in its sentence ("" any); events etc. then do not matter
    also     a function of the views, returns what is wrong
    """

    def __init__(self, name, data, rows=None, events=None, kept=None, error=None, categories=None,
                 also=None, odd=None, giant=False, suffix=".json", options=(), seconds=SECONDS_MAX,
                 rss_mb=None):
        self.name, self.data, self.rows = name, data, rows
        self.events, self.kept, self.error = events, kept, error
        self.categories, self.also, self.odd = categories, also, odd
        self.giant, self.suffix, self.options = giant, suffix, list(options)
        self.seconds, self.rss_mb = seconds, rss_mb


CASES = []


def case(name, data, **expected):
    CASES.append(Case(name, data, **expected))


NOTHING = {}
ANY = -1


def odd(name, *events, rows=NOTHING, lost=0, entries=None, kept=None, **expected):
    """Odd events among three good ones, of which `lost` are not kept."""
    entries = len(events) if entries is None else entries
    kept = len(events) - lost if kept is None else kept
    case(name, trace(*BEFORE, *events, *AFTER), rows=rows,
         events=None if entries is ANY else 3 + entries, kept=None if kept is ANY else 3 + kept,
         odd=events, **expected)


def fails(name, data, error="", **expected):
    case(name, data, error=error, **expected)


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def has_track(**wanted):
    """Is there a track with these columns?"""
    def check(views):
        if any(wanted.items() <= row.items() for row in views["tracks"]):
            return None
        return f"no track {wanted} in {views['tracks']}"
    return check


def track_count(count):
    def check(views):
        found = len(views["tracks"])
        return None if found == count else f"{found} tracks, not {count}: {views['tracks']}"
    return check


def has_file(**wanted):
    def check(views):
        row = views["files"][0]
        return None if wanted.items() <= row.items() else f"files has {row}, not {wanted}"
    return check


def both(*checks):
    return lambda views: next(filter(None, (check(views) for check in checks)), None)


ORPHAN = {"orphan-device-event": 1}
LOOSE = {"loose-json": 1}


def category_has(name, count):
    def check(views):
        found = {row["category"]: row["events"] for row in views["categories"]}.get(name, 0)
        return None if found == count else f"{found} events of category {name}, not {count}"
    return check
