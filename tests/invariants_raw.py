"""Figures computed here, from the file's own text, and small files that lack things.

Used by invariants.py. Times are decimal texts of microseconds; they become integers of nanoseconds
without a double in between.
"""
import decimal
import gzip
import json
import pathlib

DEVICE = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "copy", "Kernel": "kernel",
          "Memcpy": "copy", "Memset": "copy"}
OPERATOR = ("cpu_op", "Operator")


def events_of(path):
    """Complete events of a file; None when they are not plain."""
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        document = json.loads(data, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    except ValueError:
        return None
    events = document["traceEvents"] if isinstance(document, dict) else document
    return [event for event in events if isinstance(event, dict) and event.get("ph") == "X"]


def ns_of(value):
    """None: not a whole number of nanoseconds."""
    if not isinstance(value, decimal.Decimal) or not value.is_finite():
        return None
    ns = value * 1000
    return int(ns) if ns == ns.to_integral_value() else None


def rules(trace):
    events = events_of(trace.path)
    if events is None:
        return
    times = [(ns_of(event.get("ts")), ns_of(event.get("dur", decimal.Decimal(0))))
             for event in events]
    odd = {row["oddity"] for row in trace("quality") if row["severity"] in ("lost", "mended")}
    if odd or any(ts is None or dur is None or dur < 0 for ts, dur in times):
        return  # the reader had to decide something
    sums, counts, calls = {"kernel": 0, "copy": 0}, {"kernel": 0, "copy": 0}, 0
    for event, (_, dur) in zip(events, times):
        kind = DEVICE.get(event.get("cat"))
        if kind:
            sums[kind] += dur
            counts[kind] += 1
        calls += event.get("cat") in OPERATOR
    for kind, view, group in (("kernel", "kernels", "kernel"), ("copy", "copies", "kind")):
        rows = trace(view, group)
        ours = (sum(row["calls"] for row in rows), sum(row["total_ns"] for row in rows))
        theirs = (counts[kind], sums[kind])
        yield f"{view}: calls and total_ns of the file", ours == theirs, (ours, theirs)


def poor_files(folder):
    return []
