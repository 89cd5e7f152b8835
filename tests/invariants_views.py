# SPDX-License-Identifier: Apache-2.0
"""What must hold within and between views: sums that agree. Used by invariants.py.

Each rule takes a trace (trace(view, group) gives rows by column name) and yields
(what, holds, numbers).
"""
from collections import Counter

from invariants_tables import ROUNDING


def total(rows, name):
    """The sum of a column; what is not recorded is nothing."""
    return sum(row[name] or 0 for row in rows)


def sums_by(rows, key, name):
    """A column summed by another, without what sums to nothing."""
    found = Counter()
    for row in rows:
        found[row[key]] += row[name] or 0
    return {value: found[value] for value in found if found[value]}


def equal(what, ours, theirs):
    yield what, ours == theirs, (ours, theirs)


def at_most(what, ours, theirs):
    """Both or none is recorded."""
    known = (ours is None) == (theirs is None)
    yield what, known and (ours is None or ours <= theirs), (ours, theirs)


def same_in_groups(trace, view, groups, names):
    """The sums of columns are equal in all these groups."""
    first = {name: total(trace(view, groups[0]), name) for name in names}
    for group in groups[1:]:
        ours = {name: total(trace(view, group), name) for name in names}
        yield from equal(f"{view}: sums of {group} and {groups[0]}", ours, first)


def shares(trace, view, group, name):
    """Shares of all rows are the whole, where there is one."""
    known = [row[name] for row in trace(view, group) if row[name] is not None]
    off = abs(sum(known) - 100)
    yield f"{view}/{group}: {name} sums to 100", not known or off < ROUNDING * len(known), off


def kept_steps(trace):
    return [row for row in trace("steps") if not row["dropped"] and row["dur_ns"]]


def device_ns(trace):
    """All kernels, copies and memsets."""
    return total(trace("kernels", "kernel"), "total_ns") + total(trace("copies", "kind"),
                                                                 "total_ns")


# --- steps ---------------------------------------------------------------------------------------


def part_rules(trace, view, columns, own):
    """Rows of parts are the columns of the steps, summed."""
    parts, steps = own(trace(view, "part")), own(trace(view, "step"))
    sums = {part: total(steps, column) for part, column in columns.items()}
    found = sums_by(parts, "part", "total_ns")
    ours = {part: found.get(part, 0) for part in columns}
    yield from equal(f"{view}/part: total_ns as in the steps", ours, sums)
    yield from equal(f"{view}/part: total_ns sums to the steps", sum(found.values()),
                     total(steps, "dur_ns"))
    count = len(steps)
    for row in parts:
        mean = row["total_ns"] / count
        yield (f"{view}/part: mean_ns of {row['part']}", abs(row["mean_ns"] - mean) <= 1,
               (row["mean_ns"], mean))


BREAKDOWN_PARTS = {name: f"{name}_ns" for name in (
    "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu", "other")}
BUDGET_PARTS = {"compute": "compute_ns", "exposed communication": "exposed_comm_ns",
                "exposed copies": "exposed_copy_ns"}


def parts(trace):
    yield from part_rules(trace, "breakdown", BREAKDOWN_PARTS, lambda rows: rows)
    causes = trace("gaps", "cause")
    for device in sorted({row["device"] for row in trace("budget", "step")}):
        def own(rows, device=device):
            return [row for row in rows if row["device"] == device]
        yield from part_rules(trace, "budget", BUDGET_PARTS, own)
        idle = {part.removeprefix("idle: "): ns
                for part, ns in sums_by(own(trace("budget", "part")), "part", "total_ns").items()
                if part not in BUDGET_PARTS}
        gaps = sums_by(own(causes), "cause", "idle_ns")
        yield from equal(f"budget/part, device {device}: idle time as in gaps", idle, gaps)


def gaps(trace):
    """Each nanosecond of idle time has one cause, whatever the rows are about."""
    idle = sums_by(trace("budget", "step"), "device", "idle_ns")
    for group in ("cause", "gap", "op", "line"):
        ours = sums_by(trace("gaps", group), "device", "idle_ns")
        yield from equal(f"gaps/{group}: idle_ns by device as in budget", ours, idle)
    causes = sums_by(trace("gaps", "cause"), "cause", "idle_ns")
    for group in ("op", "line"):
        ours = sums_by(trace("gaps", group), "cause", "idle_ns")
        yield from equal(f"gaps/{group}: idle_ns by cause", ours, causes)
    for row in trace("gaps", "cause"):
        yield from at_most(f"gaps: longest_ns of {row['cause']}", row["longest_ns"], row["idle_ns"])
    by_step = sums_by(trace("gaps", "gap"), "step", "idle_ns")
    yield from equal("gaps/gap: idle_ns by step as in budget", by_step,
                     sums_by(trace("budget", "step"), "step", "idle_ns"))


def syncs(trace):
    """Idle time of waits is the part "sync" of the gaps, all of it."""
    idle = total([row for row in trace("gaps", "cause") if row["cause"] == "sync"], "idle_ns")
    for group in ("site", "line", "op", "call", "step"):
        yield from equal(f"syncs/{group}: idle_ns as in gaps", total(trace("syncs", group),
                                                                    "idle_ns"), idle)
    yield from same_in_groups(trace, "syncs", ("site", "line", "op", "call"),
                              ("calls", "blocked_ns"))
    yield from at_most("syncs/step: calls", total(trace("syncs", "step"), "calls"),
                       total(trace("syncs", "site"), "calls"))
    for row in trace("syncs", "site"):
        yield from at_most("syncs: longest_ns", row["longest_ns"] or 0, row["blocked_ns"])


def phases(trace):
    """Host parts sum to the steps on the CPU, device parts with idle to the steps."""
    steps = kept_steps(trace)
    whole, idle = trace("phases", "all"), sums_by(trace("budget", "step"), "device", "idle_ns")
    for group in ("all", "step"):
        rows = trace("phases", group)
        for device in sorted({row["device"] for row in rows}, key=str):
            own = [row for row in rows if row["device"] == device]
            what = f"phases/{group}, device {device}"
            if any(row["host_ns"] is not None for row in own):
                yield from equal(f"{what}: host_ns", total(own, "host_ns"),
                                 total(steps, "host_dur_ns"))
            if device is None:
                continue
            yield from equal(f"{what}: device_ns", total(own, "device_ns"), total(steps, "dur_ns"))
            nothing = [row for row in own if row["phase"] == "idle"]
            yield from equal(f"{what}: idle as in budget", total(nothing, "device_ns"),
                             idle.get(device, 0))
            for name in ("host_ns", "device_ns"):
                theirs = [row for row in whole if row["device"] == device]
                yield from equal(f"{what}: {name} by phase", sums_by(own, "phase", name),
                                 sums_by(theirs, "phase", name))


# --- operators and kernels -----------------------------------------------------------------------


def operators(trace):
    groups = ("name", "shapes", "line", "module", "category")
    yield from same_in_groups(trace, "operators", groups, (
        "calls", "host_self_ns", "host_total_ns", "device_self_ns", "device_total_ns",
        "allocated_bytes", "host_allocated_bytes"))
    for group in groups:
        yield from shares(trace, "operators", group, "device_percent")
    for row in trace("operators", "name"):
        for name in ("host", "device"):
            yield from at_most(f"operators: {name} self <= total of {row['name']}",
                               row[f"{name}_self_ns"], row[f"{name}_total_ns"])
    ours = total(trace("operators", "name"), "device_self_ns")
    yield from at_most("operators: device_self_ns <= all device time", ours, device_ns(trace))
    rooflines = {group: total(trace("roofline", group), "device_ns")
                 for group in ("op", "name", "kind")}
    if any(row["device_ns"] is not None for row in trace("roofline", "op")):
        for group, found in rooflines.items():
            yield from equal(f"roofline/{group}: device_ns as in operators", found, ours)
    yield from at_most("roofline/step: device_ns", total(trace("roofline", "step"), "device_ns"),
                       rooflines["op"])
    yield from same_in_groups(trace, "roofline", ("op", "name", "kind"), ("calls", "host_ns"))


def kernels(trace):
    groups = ("kernel", "op", "category", "stream", "launch")
    yield from same_in_groups(trace, "kernels", groups, ("calls", "total_ns"))
    all_of = {name: total(trace("kernels", "kernel"), name) for name in ("calls", "total_ns")}
    for group in ("all", "category"):
        ours = {name: total(trace("durations", group), name) for name in all_of}
        yield from equal(f"durations/{group}: sums as in kernels", ours, all_of)
    by_category = {name: sums_by(trace("kernels", "category"), "kernel", name) for name in all_of}
    for name, wanted in by_category.items():
        yield from equal(f"durations/category: {name} as in kernels/category",
                         sums_by(trace("durations", "category"), "category", name), wanted)
        yield from equal(f"kernels: {name} by category",
                         sums_by(trace("kernels", "kernel"), "category", name), wanted)
    for group in groups:
        for row in trace("kernels", group):
            ordered = row["min_ns"] <= row["mean_ns"] <= row["max_ns"] <= row["total_ns"]
            yield f"kernels/{group}: min <= mean <= max of {row['kernel']}", ordered, row
        yield from shares(trace, "kernels", group, "share_percent")
    for group in ("all", "category"):
        for name in ("calls_percent", "time_percent"):
            yield from shares(trace, "durations", group, name)
    for row in trace("durations", "all"):
        until = row["to_ns"] if row["to_ns"] is not None else float("inf")
        fits = row["from_ns"] * row["calls"] <= row["total_ns"] <= until * row["calls"]
        yield f"durations: total_ns fits into {row['bucket']}", fits or not row["calls"], row
    sequences = trace("sequences")
    yield from at_most("sequences: calls of kernels", sum(
        row["calls"] * row["kernels"] for row in sequences), all_of["calls"])
    yield from at_most("sequences: total_ns", total(sequences, "total_ns"), all_of["total_ns"])
    for row in sequences:
        yield from at_most("sequences: gap_ns of the span", row["gap_ns"], row["span_ns"])
        yield from at_most("sequences: span_ns without gaps", row["span_ns"] - row["gap_ns"],
                           row["total_ns"])


def devices(trace):
    """The views that list everything on the devices agree about how much that is."""
    rows, streams = trace("devices"), trace("streams")
    all_ns, events = device_ns(trace), sum(
        total(rows, name) for name in ("kernels", "memcpys", "memsets"))
    yield from equal("devices: kernels", total(rows, "kernels"),
                     total(trace("kernels", "kernel"), "calls"))
    yield from equal("devices: copies and memsets", total(rows, "memcpys") + total(rows, "memsets"),
                     total(trace("copies", "kind"), "calls"))
    yield from equal("files: device_events", total(trace("files"), "device_events"), events)
    yield from equal("streams: events", total(streams, "events"), events)
    yield from equal("streams: busy_ns", total(streams, "busy_ns"), all_ns)
    yield from at_most("steps: device_events", total(trace("steps"), "device_events"),
                       events - total(rows, "orphans"))
    for row in trace("temporal"):
        names = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
        yield from equal("temporal: parts sum to total_ns", sum(row[name] for name in names),
                         row["total_ns"])
        yield from at_most("temporal: exposed_comm_ns", row["exposed_comm_ns"], row["comm_ns"])
    yield from same_in_groups(trace, "copies", ("kind", "op", "line"), (
        "calls", "moved_bytes", "total_ns", "blocked_ns", "host_ns"))
    for row in trace("copies", "kind"):
        yield from at_most(f"copies: blocked_ns of {row['name']}", row["blocked_ns"] or 0,
                           row["host_ns"] or 0)


def communication(trace):
    groups = ("collective", "kind", "group")
    yield from same_in_groups(trace, "communication", groups, ("calls", "total_ns", "exposed_ns"))
    for group in groups:
        for row in trace("communication", group):
            yield from at_most("communication: exposed_ns", row["exposed_ns"] or 0, row["total_ns"])
    rows, temporal = trace("communication", "collective"), trace("temporal")
    on_device = [row for row in rows if row["where"] == "device"]
    yield from equal("communication: calls on devices", total(on_device, "calls"),
                     total(trace("devices"), "comm_kernels"))
    yield from equal("communication: total_ns on devices", total(on_device, "total_ns"), total(
        [row for row in trace("kernels", "kernel") if row["kind"] == "communication"], "total_ns"))
    hidden = total(trace("communication", "hidden-by"), "hidden_ns")
    yield from shares(trace, "communication", "hidden-by", "share_percent")
    if on_device:
        overlap = total(temporal, "comm_ns") - total(temporal, "exposed_comm_ns")
        yield from equal("communication/hidden-by: hidden_ns is the overlap", hidden, overlap)
        yield from at_most("communication: exposed_ns at least that of temporal",
                           total(temporal, "exposed_comm_ns"), total(on_device, "exposed_ns"))


def launches(trace):
    """A call and what it started is one work; orphans have no call."""
    rows = trace("devices")
    launched = sum(total(rows, name) for name in ("kernels", "memcpys", "memsets")) - total(
        rows, "orphans")
    for group in ("call", "stream", "thread", "op"):
        yield from equal(f"launches/{group}: device_events", total(trace("launches", group),
                                                                  "device_events"), launched)
    yield from same_in_groups(trace, "launches", ("call", "thread", "op"), ("calls", "call_ns"))
    whole = total(trace("launches", "call"), "queue_mean")
    for group in ("stream", "thread", "op"):
        queue = total(trace("launches", group), "queue_mean")
        near = abs(queue - whole) <= 1e-6 * (len(trace("launches", group)) + whole + 1)
        yield f"launches/{group}: queue_mean", near, (queue, whole)
    for group in ("stream", "step", "graph"):
        for name in ("calls", "call_ns", "device_events"):
            yield from at_most(f"launches/{group}: {name}", total(trace("launches", group), name),
                               total(trace("launches", "call"), name))


# --- stacks, modules, compiled code --------------------------------------------------------------


def tree_rules(view, rows, weight, own):
    """Depth first: what is below a row and its own time are no more than its time."""
    above, below = [], [0] * len(rows)
    for number, row in enumerate(rows):
        del above[row["depth"]:]
        yield f"{view}: a row stands below another", len(above) == row["depth"], row
        if above:
            below[above[-1]] += row[weight] or 0
        above.append(number)
    for row, inside in zip(rows, below):
        yield from at_most(f"{view}: rows below {str(row['path'])[-100:]}",
                           inside + (row[own] or 0), row[weight] or 0)
    last = {}
    for row in rows:
        for depth in [depth for depth in last if depth > row["depth"]]:
            del last[depth]
        share = row["share_percent"] or 0
        if row["path"]:  # what sums small ones stands last
            yield from at_most(f"{view}: rows beside each other", share,
                               last.get(row["depth"], share))
        last[row["depth"]] = share


def stacks(trace):
    all_ns, grown = device_ns(trace), trace("stacks", "tree")
    own = total(trace("stacks", "device"), "time_ns")
    if all_ns:
        yield from equal("stacks/device: time_ns is all device time", own, all_ns)
    else:
        yield from equal("stacks/device: as host where no device worked", own,
                         total(trace("stacks", "host"), "time_ns"))
    yield from equal("stacks/tree: self_ns", total(grown, "self_ns"), own)
    roots = [row for row in grown if row["depth"] == 0]
    yield from equal("stacks/tree: time_ns of the roots", total(roots, "time_ns"), own)
    yield from tree_rules("stacks/tree", grown, "time_ns", "self_ns")
    threads = [row for row in trace("tracks") if row["track"] == "thread"]
    yield from equal("stacks/host: time_ns is that of the threads",
                     total(trace("stacks", "host"), "time_ns"), total(threads, "busy_ns"))
    for group in ("device", "host"):
        yield from shares(trace, "stacks", group, "share_percent")


def modules(trace):
    names = ("device_self_ns", "backward_self_ns")
    if not trace("modules", "tree"):
        return
    all_ns = device_ns(trace)
    for group in ("tree", "class", "instance"):
        rows = trace("modules", group)
        ours = sum(total(rows, name) for name in names)
        yield from equal(f"modules/{group}: own times are all device time", ours, all_ns)
    yield from same_in_groups(trace, "modules", ("tree", "class", "instance"), (
        *names, "calls", "host_self_ns", "operators"))
    yield from tree_rules("modules/tree", [
        row for row in trace("modules", "tree") if row["depth"] is not None],
        "device_total_ns", "device_self_ns")


def compiled(trace):
    kernel_ns = total(trace("kernels", "kernel"), "total_ns")
    for group in ("region", "step"):
        rows = trace("compile", group)
        yield from at_most(f"compile/{group}: device time", total(rows, "device_ns") +
                           total(rows, "eager_ns"), kernel_ns)
        yield from at_most(f"compile/{group}: kernels", total(rows, "kernels") +
                           total(rows, "eager_kernels"), total(trace("devices"), "kernels"))
    for group in ("region", "compile"):
        for row in trace("compile", group):
            yield from at_most(f"compile/{group}: host_ns of {row['name']}", row["host_ns"] or 0,
                               row["host_total_ns"] or 0)


def inference(trace):
    steps, kinds = trace("inference", "step"), trace("inference", "kind")
    for row in steps:
        yield from equal("inference: busy and idle", (row["busy_ns"] or 0) + (row["idle_ns"] or 0),
                         row["dur_ns"] if row["busy_ns"] is not None else 0)
    yield from equal("inference: steps", total(kinds, "steps"), len(steps))
    yield from equal("inference: time by kind", sums_by(kinds, "kind", "total_ns"),
                     sums_by(steps, "kind", "dur_ns"))
    for name in ("tokens", "context_tokens", "generated_tokens", "busy_ns", "idle_ns",
                 "gap_before_ns", "kernels", "graph_launches"):
        yield from equal(f"inference: {name} by kind", sums_by(kinds, "kind", name),
                         sums_by(steps, "kind", name))
    for row in kinds:
        ordered = row["median_ns"] <= row["p99_ns"] <= row["total_ns"]
        yield f"inference: percentiles of {row['kind']}", ordered, row


# --- memory --------------------------------------------------------------------------------------


def memory(trace):
    pools = {row["device"]: row for row in trace("memory")}
    made = Counter(row["device"] for row in trace("allocations", "each"))
    sizes = sums_by(trace("allocations", "each"), "device", "size_bytes")
    by_size = trace("allocations", "size")
    yield from equal("allocations/size: counts", sums_by(by_size, "device", "allocations"), made)
    yield from equal("allocations/size: bytes", sums_by(by_size, "device", "size_bytes"), sizes)
    for device, count in made.items():
        yield from at_most(f"allocations of {device}: events", count, pools[device]["events"])
    for row in trace("memory-steps"):
        pool, what = pools[row["device"]], f"memory-steps, step {row['step']}"
        ordered = row["min_bytes"] <= min(row["start_bytes"], row["end_bytes"])
        yield f"{what}: min_bytes is least", ordered, row
        yield from at_most(f"{what}: start and end below the peak", max(
            row["start_bytes"], row["end_bytes"]), row["peak_bytes"])
        yield from at_most(f"{what}: peak_bytes", row["peak_bytes"], pool["peak_allocated_bytes"])
        yield from at_most(f"{what}: peak_reserved_bytes", row["peak_reserved_bytes"] or 0,
                           pool["peak_reserved_bytes"] or 0)
    steps = sums_by(trace("memory-steps"), "device", "allocations")
    for device, count in steps.items():
        yield from at_most(f"memory-steps of {device}: allocations", count, made[device])
    yield from memory_ops(trace, pools, made, sizes)
    for group in ("coarse", "fine", "all"):
        rows = trace("memory-curve", group)
        for device in {row["device"] for row in rows}:
            own, pool = [row for row in rows if row["device"] == device], pools[device]
            what = f"memory-curve/{group} of {device}"
            most = max(row["max_bytes"] for row in own)
            yield from equal(f"{what}: most is the peak", max(most, 0),
                             pool["peak_allocated_bytes"])
            yield from equal(f"{what}: events", total(own, "events") if group != "all"
                             else len(own), pool["events"])


def memory_ops(trace, pools, made, sizes):
    for group in ("op", "line", "module"):
        rows = trace("memory-ops", group)
        self_ = "self_" if group == "op" else ""  # totals of operators hold those inside
        for device in {row["device"] for row in rows}:
            own, pool = [row for row in rows if row["device"] == device], pools[device]
            what = f"memory-ops/{group} of {device}"
            yield from equal(f"{what}: allocations", total(own, f"{self_}allocations"),
                             made[device])
            yield from equal(f"{what}: bytes", total(own, f"{self_}allocated_bytes"),
                             sizes.get(device, 0))
            if pool["totals"] == "recorded" and own[0]["at_peak_bytes"] is not None:
                yield from equal(f"{what}: at_peak_bytes", total(own, "at_peak_bytes"),
                                 pool["peak_allocated_bytes"])


# --- files ---------------------------------------------------------------------------------------


def entries(trace):
    rows, files = trace("categories"), trace("files")
    yield from equal("categories: events", total(rows, "events"), total(files, "events"))
    shares = total(rows, "share_percent")
    yield "categories: shares", not rows or abs(shares - 100) < ROUNDING * len(rows), shares
    yield from at_most("tracks: events", total(trace("tracks"), "events"),
                       total(files, "kept_events"))
    events = trace("events")
    yield from equal("events: rows", len(events), total(trace("tracks"), "events"))
    yield from equal("events: parents", [], [
        row for row in events
        if row["parent"] is not None and events[row["parent"]]["tid"] != row["tid"]])
    for row in trace("tracks"):
        yield from at_most("tracks: busy_ns", row["busy_ns"], row["last_ns"] - row["first_ns"])
    yield from equal("files: steps", total(files, "steps"), len(
        [row for row in trace("steps") if not row["dropped"]]))


RULES = (parts, gaps, syncs, phases, operators, kernels, devices, communication, launches, stacks,
         modules, compiled, inference, memory, entries)
