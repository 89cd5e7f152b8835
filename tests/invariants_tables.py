# SPDX-License-Identifier: Apache-2.0
"""What every table of every view and group must have: its columns, whole rows, figures within
their bounds, the documented order. Used by invariants.py.
"""
import json

ROUNDING = 1e-6  # of a share in percent

# differences and offsets: below zero by design
SIGNED = {
    ("streams", "kernel_wait_ns"),  # kernels that overlap, as HTA counts them
    ("steps", "file_start_ns"), ("steps", "file_end_ns"),  # the file's own clock
    # moments may lie before all else
    ("tracks", "first_ns"), ("tracks", "last_ns"), ("events", "start_ns"),
    ("memory", "net_bytes"), ("memory", "gap_bytes"),
    ("memory-steps", "growth_bytes"), ("memory-steps", "net_bytes"),
    ("memory-ops", "size_increase_bytes"), ("memory-ops", "self_increase_bytes"),
    # where totals are not recorded these are sums from the beginning of the file
    ("memory-steps", "min_bytes"), ("memory-steps", "peak_bytes"),
    ("memory-steps", "start_bytes"), ("memory-steps", "end_bytes"),
    ("memory-curve", "min_bytes"), ("memory-curve", "max_bytes"),
}
# shares that may be more than their base
ABOVE = {
    ("roofline", "peak_percent"), ("roofline", "reach_percent"),
    ("roofline", "mfu_percent"), ("roofline", "hfu_percent"),  # caches, Winograd
}

# Order of rows: columns, "-" for the greatest first; rows with equal `within` stand together.
ORDER = {
    "gaps": (("device",), ("-idle_ns",)),
    "syncs": ((), ("-idle_ns", "-blocked_ns")),
    "syncs/step": ((), ("step",)),
    "launches": ((), ("-call_ns",)),
    "operators": ((), ("-device_self_ns", "-host_self_ns")),
    "compile/step": ((), ("step",)),
    "compile/compile": ((), ("-host_ns",)),
    "stacks/device": ((), ("-time_ns",)),
    "stacks/host": ((), ("-time_ns",)),
    "kernels": ((), ("-total_ns",)),
    "durations": (("category",), ("from_ns",)),
    "sequences": ((), ("-total_ns",)),
    "roofline": ((), ("-device_ns", "-host_ns")),
    "roofline/step": ((), ("step",)),
    "copies": ((), ("-total_ns",)),
    "communication": ((), ("-total_ns",)),
    "communication/hidden-by": ((), ("-hidden_ns",)),
    "inference/step": ((), ("start_ns",)),
    "memory-steps": (("device",), ("step",)),
    "memory-ops": (("device",), ("-at_peak_bytes", "-allocated_bytes")),
    "allocations/each": ((), ("-size_bytes",)),
    "memory-curve": (("device",), ("at_ns",)),
    "budget/step": (("device",), ("step",)),
    "breakdown/step": ((), ("step",)),
    "phases/step": (("device",), ("step",)),
    "steps": ((), ("step",)),
    "events": ((), ("row",)),
    "streams": ((), ("device",)),
    "temporal": ((), ("device",)),
    "utilization": ((), ("device",)),
}
# the last steps of a file have rows only where something was launched in them
NO_ORDER = {"launches/step"}


def rows_of(document):
    """The rows of a table, by column name."""
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def shape_rules(what, document, columns):
    """As the view declares it: `columns` are those of an empty file."""
    names = [column["name"] for column in document["columns"]]
    yield f"{what}: columns as declared", names == columns, (names, columns)
    widths = {len(row) for row in document["rows"]}
    yield f"{what}: every row has every column", widths <= {len(columns)}, widths
    count = len(document["rows"])
    yield f"{what}: row_count", document["row_count"] == count, (document["row_count"], count)


def bad_value(view, column, value):
    """What is wrong with a cell of a column with a unit."""
    name, unit = column["name"], column["unit"]
    if value is None or unit == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "a number"
    if unit in ("ns", "bytes", "count") and not isinstance(value, int):
        return "an integer"
    if unit == "percent":
        if value < -ROUNDING:
            return ">= 0"
        return "<= 100" if value > 100 + ROUNDING and (view, name) not in ABOVE else None
    return ">= 0" if value < 0 and (view, name) not in SIGNED else None


def bound_rules(what, view, document):
    for index, column in enumerate(document["columns"]):
        bad = None
        for number, row in enumerate(document["rows"]):
            problem = bad_value(view, column, row[index])
            if problem:
                bad = f"{column['name']} of row {number} is {row[index]}, not {problem}"
                break
        yield f"{what}: bounds of {column['name']}", not bad, bad


def place(row, names):
    """What rows are sorted by; what is not recorded comes last."""
    found = []
    for name in names:
        value = row[name.lstrip("-")]
        value = -value if value is not None and name.startswith("-") else value
        found.append((value is None, value or 0))
    return found


def order_rules(what, view, group, rows):
    key = f"{view}/{group}"
    within, names = ORDER.get(key) or ORDER.get(view) or ((), ())
    if key in NO_ORDER or not names:
        return
    done, last, bad = set(), None, None
    for number, row in enumerate(rows):
        mine = tuple(row[name] for name in within)
        if last is None or mine != last[0]:
            if mine in done:
                bad = f"row {number}: {mine} comes again"
                break
            done.add(mine)
        elif place(row, names) < last[1]:
            bad = f"row {number}: {place(row, names)} after {last[1]}"
            break
        last = (mine, place(row, names))
    yield f"{what}: sorted by {', '.join(names)}", not bad, bad


def table_rules(view, group, document, columns):
    what = f"{view} --group {group}" if group else view
    yield from shape_rules(what, document, columns)
    yield from bound_rules(what, view, document)
    yield from order_rules(what, view, group, rows_of(document))
    named = document.get("group")
    yield f"{what}: group as asked", named == group, (named, group)


def text_rules(what, text, width):
    longest = max(text.splitlines(), key=len, default="")
    yield f"{what}: lines of at most {width} columns", len(longest) <= width, (
        len(longest), longest[:200])
    yield f"{what}: says something", bool(text.strip()), text


def parse(text):
    """Only what the standard allows: no NaN, no infinity."""
    def refuse(word):
        raise ValueError(f"JSON has no {word}")
    return json.loads(text, parse_constant=refuse)
