# SPDX-License-Identifier: Apache-2.0
"""How the rows of a trace belong together: arrows, ids, nesting, order on streams."""
import collections
import math
import re
import struct

from trace_rows import CALLS, DEVICE, HOST, NAMED, Real, track

DECIMALS = 3
# Kineto draws an annotation of the device this much around its kernels, so that it contains them.
MARGIN_NS = 1
# Written with all digits of a double.
RATE_TOLERANCE = 1e-9


def check_number_format(trace, report):
    for row in trace.events:
        for key in ("ts", "dur"):
            value = row.get(key)
            if key in row and not (isinstance(value, Real) and
                                   re.fullmatch(rf"\d+\.\d{{{DECIMALS}}}", value)):
                report.say(f"format of {key}", f"{value!r}: digits and {DECIMALS} decimals", row)


def check_launch_arrows(trace, elsewhere, report):
    """Tails of ac2g are at calls; heads that are not are at device or sync rows, one each."""
    places = collections.Counter()
    for flow in elsewhere:
        if flow["ph"] == "s":
            report.say("ac2g tails", "lies at no call of its id", flow)
        else:
            places[flow["id"], track(flow), flow["start"]] += 1
    for row in trace.of(*DEVICE, "cuda_sync"):
        place = row["args"]["correlation"], track(row), row["start"]
        if places[place] < 1:
            report.say(f"ac2g heads of {row['cat']}", "no arrow ends at the row", row)
        places[place] -= 1
    for place, count in places.items():
        if count > 0:
            report.say("ac2g heads", f"{count} too many at (id, track, ns) {place}")


def check_backward_arrows(trace, report):
    ends = collections.defaultdict(lambda: ([], []))
    for flow in trace.flows:
        if flow["cat"] == "fwdbwd":
            ends[flow["id"]][flow["ph"] == "f"].append(flow)
    at = collections.defaultdict(list)
    for row in trace.of("cpu_op"):
        at[track(row), row["start"]].append(row["args"].get("Sequence number"))
    heads = collections.Counter()
    for number, (tails, tips) in ends.items():
        if (len(tails), len(tips)) != (1, 1):
            report.say("fwdbwd pairs", f"id {number}: {len(tails)} tails, {len(tips)} heads",
                       (tails + tips)[0])
            continue
        tail, head = tails[0], tips[0]
        forward, backward = at[track(tail), tail["start"]], at[track(head), head["start"]]
        common = {s for s in forward if s is not None} & set(backward)
        if not common:
            report.say("fwdbwd sequence", f"tail's ops have {forward}, head's {backward}", tail)
        if tail["start"] > head["start"]:
            early = tail["start"] - head["start"]
            report.say("fwdbwd order", f"the head is {early} ns before the tail", tail)
        heads.update(common)
    for sequence, count in heads.items():
        if count > 1:
            report.say("fwdbwd twice", f"sequence number {sequence} has {count} arrows")


def check_unique(trace, report):
    for what, rows, key in (
        ("correlation of calls", trace.of(*CALLS), "correlation"),
        ("External id", trace.of(*NAMED), "External id"),
        ("Ev Idx", trace.of(*NAMED, "python_function", "cpu_instant_event"), "Ev Idx"),
        ("Python id", trace.of("python_function"), "Python id"),
    ):
        seen = set()
        for row in rows:
            if row["args"].get(key) in seen:
                report.say(f"unique {what}", f"{row['args'].get(key)} again", row)
            seen.add(row["args"].get(key))


def parents_of(rows, outer):
    """(row, innermost row of `outer` that contains its start) for rows of one thread."""
    both = sorted([(r["start"], -r["end"], 0, i, r) for i, r in enumerate(outer)] +
                  [(r["start"], -r["end"], 1, i, r) for i, r in enumerate(rows)],
                  key=lambda entry: entry[:4])
    stack = []
    for start, _, inner, _, row in both:
        while stack and stack[-1]["end"] < start:
            stack.pop()
        if inner:
            holder = next((r for r in reversed(stack) if r["end"] >= row["end"]), None)
            yield row, holder
        else:
            stack.append(row)


def by_track(rows):
    tracks = collections.defaultdict(list)
    for row in rows:
        tracks[track(row)].append(row)
    return tracks


def check_external_ids(trace, report):
    """A call has the id of the innermost op around it, if any; a device row that of its call."""
    outer = by_track(trace.of("cpu_op"))
    for place, calls in by_track(trace.of(*CALLS)).items():
        for call, holder in parents_of(calls, outer.get(place, [])):
            found = call["args"].get("External id")
            wanted = holder["args"]["External id"] if holder else None
            if found != wanted:
                report.say("External id of calls", f"{found}, the innermost op has {wanted}", call)
    for row in trace.of(*DEVICE, "cuda_sync"):
        call = trace.call_of(row)
        if call is None:
            report.say("launch of device rows", "no call has its correlation", row)
        elif row["args"].get("External id") != call["args"].get("External id"):
            report.say("External id of device rows",
                       f"its call has {call['args'].get('External id')}", row)


def check_device_order(trace, report):
    for rows in by_track(trace.of(*DEVICE)).values():
        rows.sort(key=lambda r: (r["start"], r["end"]))
        for before, row in zip(rows, rows[1:]):
            if row["start"] < before["end"]:
                report.say("order on a stream", f"begins {before['end'] - row['start']} ns before "
                           "the end of the row before it", row)
    for row in trace.of(*DEVICE):
        call = trace.call_of(row)
        if call and row["start"] < call["start"]:
            report.say("launch before start", f"{call['start'] - row['start']} ns too early", row)
        if row["args"].get("stream") != row["tid"] or row["args"].get("device") != row["pid"]:
            report.say("track of device rows", "pid and tid are not its device and stream", row)


def check_nesting(trace, report):
    for rows in by_track(trace.of(*HOST)).values():
        stack = []
        for row in sorted(rows, key=lambda r: (r["start"], -r["end"])):
            while stack and stack[-1]["end"] <= row["start"]:
                stack.pop()
            if stack and row["end"] > stack[-1]["end"]:
                report.say(f"nesting of {row['cat']} in {stack[-1]['cat']}",
                           f"ends {row['end'] - stack[-1]['end']} ns after '{stack[-1]['name']}'",
                           row)
            else:
                stack.append(row)


def check_python(trace, report):
    frames = {row["args"]["Python id"]: row for row in trace.of("python_function")}
    for row in frames.values():
        parent = row["args"]["Python parent id"]
        holder = frames.get(parent)
        if parent is not None and holder is None:
            report.say("python parents", f"no frame has the id {parent}", row)
        elif holder and track(holder) == track(row) and (
                holder["start"] > row["start"] or holder["end"] < row["end"]):
            report.say("python parents", f"'{holder['name']}' does not contain it", row)
        if ("Python module id" in row["args"]) != row["name"].startswith("nn.Module: "):
            report.say("python modules", "nn.Module and Python module id go together", row)


def check_annotations(trace, report):
    """An annotation of the device covers the rows launched directly in it, on their stream."""
    outer = by_track(trace.of("user_annotation"))
    holders = {}
    for place, calls in by_track(trace.of(*CALLS)).items():
        for call, holder in parents_of(calls, outer.get(place, [])):
            holders[call["args"]["correlation"]] = holder
    wanted = {}
    for row in trace.of(*DEVICE):
        holder = holders.get(row["args"]["correlation"])
        if holder:
            key = holder["args"]["External id"], track(row)
            start, end, _ = wanted.get(key, (row["start"], row["end"], None))
            wanted[key] = min(start, row["start"]), max(end, row["end"]), holder["name"]
    for row in trace.of("gpu_user_annotation"):
        found = row["start"] + MARGIN_NS, row["end"] - MARGIN_NS, row["name"]
        told = wanted.pop((row["args"].get("External id"), track(row)), None)
        if told is None:
            report.say("gpu_user_annotation", "nothing was launched in it", row)
        else:
            report.equal("gpu_user_annotation", found, told, "rows inside:", row)
    for (number, place), (_, _, name) in wanted.items():
        report.say("gpu_user_annotation", f"'{name}' (External id {number}) has none on {place}")


def check_names(trace, report):
    """Every track has a name, but threads that only made runtime calls, as the profiler has it."""
    names = {track(e): e["args"]["name"] for e in trace.events
             if e["ph"] == "M" and e["name"] == "thread_name"}
    sorts = {track(e) for e in trace.events if e["ph"] == "M" and e["name"] == "thread_sort_index"}
    kinds = [(NAMED + ("python_function",), r"thread {} \(.+\)")]
    kinds.append((DEVICE + ("gpu_user_annotation",), "stream {} "))
    for categories, pattern in kinds:
        for place in by_track(trace.of(*categories)):
            if place not in sorts or place not in names:
                report.say("names of tracks", f"{place} has no name or sort index")
            elif not re.fullmatch(pattern.format(re.escape(str(place[1]))), names[place]):
                report.say("names of tracks", f"{place} is called '{names[place]}'")


def check_memory(trace, report):
    """Totals are the sums of what was allocated; sizes of what is freed are those it had."""
    rows = [r for r in trace.of("cpu_instant_event") if r["name"] == "[memory]"]
    rows.sort(key=lambda r: (r["start"], r["args"]["Ev Idx"]))
    totals, sizes = {}, {}
    for row in rows:
        arguments = row["args"]
        device = arguments["Device Type"], arguments["Device Id"]
        bytes_, total = arguments["Bytes"], arguments["Total Allocated"]
        if device in totals and totals[device] + bytes_ != total:
            report.say("memory totals", f"{totals[device]} before it", row)
        totals[device] = total
        if arguments["Total Reserved"] < total and device[1] >= 0:
            report.say("memory reserved", "less than what is allocated", row)
        place = device, arguments["Addr"]
        if bytes_ < 0 and place in sizes and sizes.pop(place) != -bytes_:
            report.say("memory freed", "another size than was allocated there", row)
        elif bytes_ > 0:
            if place in sizes:
                report.say("memory allocated", "the address is in use", row)
            sizes[place] = bytes_


def single(number):
    """As a 32-bit float holds it."""
    return struct.unpack("f", struct.pack("f", number))[0]


def check_computed(trace, report):
    """Arguments that the profiler computes from others, in 32-bit floats."""
    device = trace.head["deviceProperties"][0]
    for row in trace.of("kernel"):
        arguments = row["args"]
        if "blocks per SM" in arguments:
            blocks, threads = math.prod(arguments["grid"]), math.prod(arguments["block"])
            blocks = single(single(blocks) / device["numSms"])
            warps = single(single(blocks * threads) / device["warpSize"])
            found = arguments["blocks per SM"], arguments["warps per SM"]
            report.equal("blocks and warps per SM", found, (f"{blocks:.6f}", f"{warps:.6f}"), "",
                         row)
    for row in trace.of("gpu_memcpy", "gpu_memset"):
        found = row["args"].get("memory bandwidth (GB/s)")
        took = row["end"] - row["start"]
        # ROCm takes a nanosecond more than it writes
        wanted = [row["args"]["bytes"] / ns for ns in (took, took + 1) if ns] if found else []
        if wanted and min(abs(float(found) - rate) / rate for rate in wanted) > RATE_TOLERANCE:
            report.say("memory bandwidth", f"{found}, bytes over time are {wanted[0]}", row)


def check_collective_arguments(trace, report):
    """A collective's kernel repeats what its record_param_comms says."""
    ops = {row["args"]["External id"]: row["args"] for row in trace.of("cpu_op")
           if row["name"] == "record_param_comms"}
    for row in trace.of("kernel"):
        if "Collective name" not in row["args"]:
            continue
        op = ops.get(row["args"].get("External id"))
        if op is None:
            report.say("collective kernels", "not launched in record_param_comms", row)
            continue
        named = list(row["args"])
        for name in named[named.index("Collective name"):]:
            if name != "Collective name" and name not in op:
                report.say("collective kernels", f"its op has no {name}", row)
            else:
                report.equal("collective kernels", row["args"][name], op[name], f"{name}:", row)


def check_relations(trace, elsewhere, report):
    check_number_format(trace, report)
    check_launch_arrows(trace, elsewhere, report)
    for check in (check_backward_arrows, check_unique, check_external_ids, check_device_order,
                  check_nesting, check_python, check_annotations, check_names, check_memory,
                  check_computed, check_collective_arguments):
        check(trace, report)
