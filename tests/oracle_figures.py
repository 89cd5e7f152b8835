# SPDX-License-Identifier: Apache-2.0
"""What the reference says about time, devices, operators, kernels, copies and memory.

Each function yields (what, ours, theirs, tolerance); oracle.py compares.
"""

# longer names are cut in the reference
NAME_MAX = 300
US = 1000
PERCENT = 0.01

PARTS = {
    "Kernel": "kernel_ns",
    "Memcpy": "memcpy_ns",
    "Memset": "memset_ns",
    "Communication": "communication_ns",
    "Runtime": "runtime_ns",
    "DataLoader": "dataloader_ns",
    "CPU Exec": "cpu_ns",
    "Other": "other_ns",
}
BUDGET = {
    "compute": "compute_ns",
    "exposed_comm": "exposed_comm_ns",
    "exposed_copy": "exposed_copy_ns",
    "idle": "idle_ns",
}


def breakdown(rows, oracle):
    theirs = oracle["breakdown"]["per_step_ns"]
    yield "breakdown: steps", len(rows), len(theirs), 0
    for number, (ours, step) in enumerate(zip(rows, theirs)):
        for part, column in PARTS.items():
            yield f"breakdown of step {number}: {part}", ours[column], step[part], US
        total = sum(ours[column] for column in PARTS.values())
        yield f"breakdown of step {number}: sum of the parts", total, ours["dur_ns"], 0


def budget(rows, oracle):
    for device, theirs in oracle["devices"].items():
        own = [row for row in rows if str(row["device"]) == device]
        yield f"budget of device {device}: steps", len(own), len(theirs["budget_per_step_ns"]), 0
        for number, (ours, step) in enumerate(zip(own, theirs["budget_per_step_ns"])):
            for part, column in BUDGET.items():
                what = f"budget of device {device}, step {number}: {part}"
                yield what, ours[column], step[part], US
            total = sum(ours[column] for column in BUDGET.values())
            yield f"budget of step {number}: sum of the parts", total, ours["dur_ns"], 0
        communication = theirs.get("communication_per_step_ns", [])
        for number, (ours, step) in enumerate(zip(own, communication)):
            what = f"communication of device {device}, step {number}"
            yield what, ours["comm_ns"], step["comm"], US
            if step["comm"]:
                yield what + ": overlap", ours["overlap_percent"], step["ratio_pct"], PERCENT


def utilization(rows, oracle):
    yield "devices", sorted(str(row["device"]) for row in rows), sorted(oracle["devices"]), None
    for row in rows:
        theirs = oracle["devices"].get(str(row["device"]))
        if not theirs:
            continue
        what = f"device {row['device']}: "
        yield what + "span", row["span_ns"], theirs["span_ns"], US
        yield what + "kernels", row["kernel_ns"], theirs["kernel_union_ns"], US
        yield what + "utilization", row["gpu_percent"], theirs["gpu_utilization_pct"], PERCENT
        yield what + "SMs", row["sm_percent"], theirs["est_sm_efficiency_pct"], PERCENT
        yield (
            what + "occupancy",
            row["occupancy_percent"],
            theirs["est_achieved_occupancy_pct"],
            PERCENT,
        )
        yield what + "busy", row["busy_ns"], theirs["busy_ns"], US
        yield what + "idle", row["idle_ns"], theirs["idle_ns"], US
        for part, column in BUDGET.items():
            yield what + part, row[column], theirs["budget_span_ns"][part], US


def operators(rows, oracle):
    theirs = oracle.get("operators")
    if not theirs:
        return
    own = {row["name"][:NAME_MAX]: row for row in rows}
    yield "operators: names", len(rows), theirs["names"], 0
    yield "operators: calls", sum(row["calls"] for row in rows), theirs["calls"], 0
    for figure in ("host_self", "device_self"):
        # nothing that an operator launched: null here, 0 in the reference
        total = sum(row[f"{figure}_ns"] or 0 for row in rows)
        yield f"operators: sum of {figure}", total, theirs[f"sum_{figure}"], US
    for row in theirs.get("top_by_device_self", []) + theirs.get("top_by_host_self", []):
        ours = own.get(row["name"], {})
        yield f"operator {row['name']}: calls", ours.get("calls"), row["calls"], 0
        for figure in ("host_self", "host_total", "device_self", "device_total"):
            ns = ours.get(f"{figure}_ns") or 0
            yield f"operator {row['name']}: {figure}", ns, row[figure], US


def kernels(rows, oracle):
    theirs = oracle.get("kernels")
    if not theirs:
        return
    own = {}
    for row in rows:
        # names that are equal as far as the reference has them are told apart by their totals
        own[row["name"][:NAME_MAX]] = row
        own[row["name"][:NAME_MAX], row["total_ns"]] = row
    yield "kernels: names", len(rows), theirs["names"], 0
    yield "kernels: calls", sum(row["calls"] for row in rows), theirs["calls"], 0
    yield "kernels: total", sum(row["total_ns"] for row in rows), theirs["sum_total"], US
    for row in theirs.get("top_by_total", []):
        ours = own.get((row["name"], row["total"])) or own.get(row["name"], {})
        what = f"kernel {row['name'][:60]}: "
        yield what + "calls", ours.get("calls"), row["calls"], 0
        for figure in ("total", "mean", "min", "max"):
            yield what + figure, ours.get(f"{figure}_ns"), row[figure], US
        occupancy = ours.get("occupancy_percent")
        if occupancy is not None or row["occupancy_pct"] != 0:  # 0 that cannot be is not known
            yield what + "occupancy", occupancy, row["occupancy_pct"], PERCENT
        blocks = ours.get("blocks_per_sm")
        blocks = None if blocks is None else float(blocks)
        yield what + "blocks per SM", blocks, row["blocks_per_sm"], PERCENT
        yield what + "comm", ours.get("kind") == "communication", row.get("comm", False), None


def copies(rows, oracle):
    theirs = oracle.get("memcpy_memset")
    if theirs is None:
        return
    own = {row["name"]: row for row in rows}
    yield "copies: kinds", sorted(own), sorted(theirs), None
    for name, row in theirs.items():
        ours = own.get(name, {})
        yield f"{name}: count", ours.get("calls"), row["count"], 0
        if not name.startswith("dma"):  # the reference does not read MTIA's sizes
            yield f"{name}: bytes", ours.get("moved_bytes") or 0, row["bytes"] or 0, 0
        yield f"{name}: total", ours.get("total_ns"), row["total_ns"], US


def memory(rows, oracle):
    theirs = oracle.get("memory")
    if theirs is None:
        return
    own = {row["device"]: row for row in rows}
    yield "memory: devices", sorted(own), sorted(theirs), None
    for device, row in theirs.items():
        ours = own.get(device, {})
        yield f"memory of {device}: events", ours.get("events"), row["events"], 0
        yield f"memory of {device}: net", ours.get("net_bytes"), row["sum_bytes"], 0
        peak = row.get("peak_allocated", row.get("integrated_peak"))
        yield f"memory of {device}: peak", ours.get("peak_allocated_bytes"), peak, 0
        if "peak_reserved" in row:
            reserved = ours["peak_reserved_bytes"]
            yield f"memory of {device}: reserved", reserved, row["peak_reserved"], 0
            yield f"memory of {device}: gap", ours["gap_bytes"], row["gap_at_allocated_peak"], 0


def streams(rows, oracle):
    for device, theirs in oracle["devices"].items():
        classes = theirs.get("whole_file", {}).get("hta_idle_per_stream_ns")
        if classes is None:
            continue
        own = {str(row["stream"]): row for row in rows if str(row["device"]) == device}
        yield f"streams of device {device}", sorted(own), sorted(classes), None
        for stream, waits in classes.items():
            ours = own.get(stream, {})
            what = f"stream {stream} of device {device}: "
            yield what + "events", ours.get("events"), waits["n"], 0
            for figure in ("host_wait", "kernel_wait", "other"):
                column = "other_wait_ns" if figure == "other" else f"{figure}_ns"
                yield what + figure, ours.get(column), waits[figure], US


def temporal(rows, oracle):
    for row in rows:
        theirs = oracle["devices"].get(str(row["device"]), {}).get("whole_file")
        if not theirs or "hta_temporal_ns" not in theirs:
            continue
        what = f"device {row['device']}, whole file: "
        hta = theirs["hta_temporal_ns"]
        yield what + "total", row["total_ns"], hta["kernel_time"], US
        yield what + "idle", row["idle_ns"], hta["idle"], US
        yield what + "compute", row["compute_ns"], hta["compute"], US
        rest = row["exposed_comm_ns"] + row["exposed_copy_ns"]
        yield what + "not compute", rest, hta["non_compute"], US
        yield what + "communication", row["comm_ns"], theirs["comm_ns"], US
        if theirs["comm_ns"]:
            yield what + "overlap", row["overlap_percent"], theirs["hta_overlap_pct"], PERCENT


VIEWS = {
    "breakdown": breakdown,
    "budget": budget,
    "utilization": utilization,
    "operators": operators,
    "kernels": kernels,
    "copies": copies,
    "memory": memory,
    "streams": streams,
    "temporal": temporal,
}


def differs(ours, theirs, tolerance):
    if tolerance is None or ours is None or theirs is None:
        return ours != theirs
    return abs(ours - theirs) > tolerance
