# SPDX-License-Identifier: Apache-2.0
"""When things happen on the simulated machine, computed from the rows of the traces."""
import bisect
import collections
import re

from trace_rows import CALLS, DEVICE

LATENCY, KERNEL_GAP, GRAPH_GAP = "launch_latency_ns", "kernel_gap_ns", "graph_gap_ns"
COPY_GAP, EVENT_GAP = "copy_gap_ns", "event_gap_ns"
QUEUE_DEPTH, SYNC_RETURN = "queue_depth", "sync_return_ns"

STREAM_WAIT, STREAM_SYNC = "Stream Wait Event", "Stream Sync"
EVENT_SYNC, CONTEXT_SYNC = "Event Sync", "Context Sync"
WAITS_ON, RECORDED_BY = "wait_on_stream", "wait_on_cuda_event_record_corr_id"
DIRECTION = re.compile(r"Memcpy (HtoD|DtoH)")
# Calls that block by their nature; ROCm has no rows for synchronization.
WAIT_FOR_DEVICE = ("cudaDeviceSynchronize", "hipDeviceSynchronize", "cudaFree", "hipFree")
# A call takes longer than this only to load its kernel, with this cause, or as the queue is full.
LOADS, LOADED_NS = "first-launch", 100_000
BLOCKING_COPIES = ("hipMemcpyWithStream",)
PAGEABLE = re.compile(r"Memcpy (HtoD|DtoH) .*Pageable")


class Device:
    """The streams of a rank: their tasks and their waits, in the order of the calls."""

    def __init__(self, trace, loads):
        self.trace, self.loads = trace, loads
        self.tasks, self.launches = collections.defaultdict(list), {}
        for row in trace.of(*DEVICE):
            if trace.call_of(row):
                self.tasks[row["tid"]].append(row)
        for stream, tasks in self.tasks.items():
            tasks.sort(key=lambda t: (trace.call_of(t)["start"], t["start"]))
            self.launches[stream] = [trace.call_of(t)["start"] for t in tasks]
        # stream -> [(moment of the wait, source stream, moment of the record or None)]
        self.waits = collections.defaultdict(list)
        for row in trace.of("cuda_sync"):
            if row["name"] == STREAM_WAIT:
                record = trace.calls.get(row["args"].get(RECORDED_BY))
                self.waits[row["args"]["stream"]].append((
                    trace.call_of(row)["start"], row["args"][WAITS_ON], record and record["start"]))
        self.wait_moments = {}
        for stream, waits in self.waits.items():
            waits.sort(key=lambda wait: wait[0])
            self.wait_moments[stream] = [wait[0] for wait in waits]
        self.copies = self.copies_before()

    def copies_before(self):
        """Task -> the copy of the same direction that was launched before it."""
        copies = [row for row in self.trace.of("gpu_memcpy") if self.trace.call_of(row)]
        copies.sort(key=lambda row: (self.trace.call_of(row)["start"], row["start"]))
        last, before = {}, {}
        for row in copies:
            direction = DIRECTION.match(row["name"])
            if direction:
                before[id(row)] = last.get(direction.group(1))
                last[direction.group(1)] = row
        return before

    def waits_between(self, stream, after, before):
        moments = self.wait_moments.get(stream, [])
        first = bisect.bisect_right(moments, after)
        return self.waits[stream][first : bisect.bisect_left(moments, before)] if moments else []

    def done(self, stream, moment):
        """When all that was in the stream at the moment is done, and whether all of it is recorded.

        That is its last task, and the events that it was told to wait for after that.
        """
        launches = self.launches.get(stream, [])
        place = bisect.bisect_left(launches, moment)
        end = self.tasks[stream][place - 1]["end"] if place else 0
        known = place > 0
        for _, source, record in self.waits_between(stream, launches[place - 1] if place else 0,
                                                    moment):
            covered, recorded = self.done(source, record) if record is not None else (0, False)
            end, known = max(end, covered), known and recorded
        return end, known

    def reasons(self, stream, place, machine):
        """What a task waits for, {what: moment}, and whether all of it is recorded."""
        task, launch = self.tasks[stream][place], self.launches[stream][place]
        call = self.trace.call_of(task)
        loaded = self.loads and call["end"] - launch > LOADED_NS and task["cat"] == "kernel"
        reasons, known = {"launch": call["end"] if loaded else launch + machine[LATENCY]}, place > 0
        after = 0
        if place:
            previous, after = self.tasks[stream][place - 1], self.launches[stream][place - 1]
            same = previous["args"]["correlation"] == task["args"]["correlation"]
            reasons["task before"] = previous["end"] + machine[GRAPH_GAP if same else KERNEL_GAP]
        for _, source, record in self.waits_between(stream, after, launch):
            covered, recorded = self.done(source, record) if record is not None else (0, False)
            what = f"event of stream {source}"
            reasons[what] = max(covered + machine[EVENT_GAP], reasons.get(what, 0))
            known = known and recorded
        if id(task) in self.copies:
            copy = self.copies[id(task)]
            known = known and copy is not None
            if copy:
                reasons["copy before"] = copy["end"] + machine[COPY_GAP]
        return reasons, known


def check_starts(device, number, machine, report):
    """A task starts at the last of what it waits for; when that is not all recorded, not before."""
    trace = device.trace
    # rows of waits are CUDA's: elsewhere any end on another stream may be what is waited for
    told = any(row["name"] == STREAM_WAIT for row in trace.of("cuda_sync"))
    ends = {row["end"] for row in trace.of(*DEVICE)} if not told else set()
    for stream, tasks in device.tasks.items():
        for place, task in enumerate(tasks):
            reasons, known = device.reasons(stream, place, machine)
            wanted = max(reasons.values())
            late = task["start"] - wanted
            if late < 0 or (late > 0 and known and task["start"] - machine[EVENT_GAP] not in ends):
                why = {what: moment - wanted for what, moment in reasons.items()}
                report.say("start of device rows", f"rank {number}, stream {stream}: {late:+} ns "
                           f"against the last of what it waits for: {why}", task)


def check_queue(trace, number, machine, report):
    """A launch returns when at most queue_depth tasks wait for their start."""
    first = {}
    for row in trace.of(*DEVICE):
        correlation = row["args"]["correlation"]
        if correlation in trace.calls:
            first[correlation] = min(first.get(correlation, row["start"]), row["start"])
    launches = sorted((trace.calls[c]["start"], c) for c in first)
    depth = machine[QUEUE_DEPTH]
    for place in range(depth, len(launches)):
        call = trace.calls[launches[place][1]]
        begun = first[launches[place - depth][1]]
        if call["end"] < begun:
            report.say("queue depth", f"rank {number}: returns {begun - call['end']} ns before the "
                       f"launch {depth} before it has begun", call)


def check_return(call, done, number, machine, report):
    """Returns after what it waits for, and soon."""
    if call["end"] < done:
        early = done - call["end"]
        report.say("blocking calls", f"rank {number}: returns {early} ns too early", call)
    elif call["end"] > done + machine[SYNC_RETURN] and call["start"] <= done:
        late = call["end"] - done
        report.say("blocking calls", f"rank {number}: returns {late} ns after what it waits for, "
                   f"at most {machine[SYNC_RETURN]}", call)


def check_blocking(device, number, machine, report):
    trace = device.trace
    for row in trace.of("cuda_sync"):
        call = trace.call_of(row)
        if call is None:
            report.say("sync rows", f"rank {number}: no call has its correlation", row)
            continue
        if row["name"] == STREAM_SYNC:
            sources = [(row["args"]["stream"], call["start"])]
        elif row["name"] == CONTEXT_SYNC:
            sources = [(stream, call["start"]) for stream in list(device.tasks)]
        elif row["name"] == EVENT_SYNC:
            record = trace.calls.get(row["args"].get(RECORDED_BY))
            sources = [(row["args"][WAITS_ON], record["start"])] if record else []
        else:
            continue
        moments = [device.done(stream, moment)[0] for stream, moment in sources]
        check_return(call, max(moments, default=0), number, machine, report)
    for row in trace.of("gpu_memcpy"):
        call = trace.call_of(row)
        if call and (PAGEABLE.match(row["name"]) or call["name"] in BLOCKING_COPIES):
            check_return(call, row["end"], number, machine, report)
    for call in trace.of(*CALLS):
        if call["name"] in WAIT_FOR_DEVICE:
            moments = [device.done(stream, call["start"])[0] for stream in list(device.tasks)]
            check_return(call, max(moments, default=0), number, machine, report)


def check_rank(trace, number, truth, report):
    machine = truth["machine"]
    for row in trace.of(*DEVICE):
        if trace.call_of(row) is None:
            report.say("launches", f"rank {number}: a device row without a call", row)
    device = Device(trace, any(cause["name"] == LOADS for cause in truth["causes"]))
    check_starts(device, number, machine, report)
    check_queue(trace, number, machine, report)
    check_blocking(device, number, machine, report)


def check_collectives(truth, ranks, report):
    """Members' kernels end together, the transfer after the last of them has begun."""
    kernels = []
    for trace in ranks:
        found = {}
        for row in trace.of("kernel"):
            if "Collective name" in row["args"]:
                found.setdefault((row["args"]["Process Group Name"], row["end"]), []).append(row)
        kernels.append(found)
    listed = {group["name"]: group["ranks"] for group in truth["groups"]}
    last = {}
    for entry in truth["collectives"]:
        what = f"{entry['kind']} {entry['index']} of group {entry['group']}:"
        latest = max(entry["arrival_ns"])
        report.equal("collective ends", entry["end_ns"], latest + entry["transfer_ns"], what)
        waits = [latest - arrival for arrival in entry["arrival_ns"]]
        report.equal("collective waits", entry["wait_ns"], waits, what)
        if not set(entry["ranks"]) <= set(listed.get(entry["group"], [])):
            report.say("collective ranks", f"{what} {entry['ranks']} are not of its group")
        channel = entry["group"], tuple(entry["ranks"])
        if last.get(channel, -1) >= entry["index"]:
            report.say("collective order", f"{what} comes after {last[channel]}")
        last[channel] = entry["index"]
        for rank, arrival in zip(entry["ranks"], entry["arrival_ns"]):
            rows = kernels[rank].get((entry["group"], entry["end_ns"]), [])
            row = next((r for r in rows if r["start"] == arrival), None)
            if row is None:
                begun = [r["start"] for r in rows]
                report.say("collective kernels", f"{what} rank {rank} has no kernel from {arrival} "
                           f"to {entry['end_ns']}; those with that end began at {begun}")
            else:
                rows.remove(row)
    for rank, found in enumerate(kernels):
        for rows in found.values():
            for row in rows:
                report.say("collective kernels", f"rank {rank}: the truth does not list it", row)


def effective_steps(trace):
    """[(name, start, end)]: from the end of the one before to the last end of what it launched."""
    steps = [r for r in trace.of("user_annotation") if r["name"].startswith("ProfilerStep#")]
    steps.sort(key=lambda r: r["start"])
    starts = [step["start"] for step in steps]
    ends = [step["end"] for step in steps]
    firsts, outside = [], []
    for row in trace.of(*DEVICE):
        call = trace.call_of(row)
        place = bisect.bisect_right(starts, call["start"]) - 1 if call else -1
        if place >= 0 and call["start"] <= steps[place]["end"]:
            ends[place] = max(ends[place], row["end"])
            firsts.append(row["start"])
        else:
            outside.append(row["end"])
    begun = min(firsts, default=0)
    before = max((end for end in outside if end <= begun), default=None)
    found = []
    for step, end in zip(steps, ends):
        start = step["start"] if before is None else max(before, step["start"])
        before = max(end, start)
        found.append((step["name"], start, before))
    return found
