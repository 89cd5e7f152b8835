# SPDX-License-Identifier: Apache-2.0
"""The form of trace rows, taken from real traces: keys, arguments, types, flows, codes of calls."""
import collections

from trace_rows import CALLS, DEVICE, Real, track

# Files, and the classes of rows that they stand for; None: all of them. Old ones write whole
# microseconds and fewer arguments, so they stand only for what newer ones do not have.
CUDA_MODELS = (
    ("jobs/h100x8_nanogpt/rank0.json.gz", None),
    ("jobs/h100x8_nanogpt/rank3.json.gz", None),
    ("cuda/h100_qwen.json.gz", None),
    ("cuda/h100_owlv2.json.gz", None),
    ("cuda/nccl_args.json.gz", None),
    ("cuda/sync_records_alexnet.json.gz", ("cuda_sync",)),
    ("cuda/sync_records_simple_add.json.gz", ("cuda_sync",)),
    ("cuda/sync_records_event_multi_stream.json.gz", ("cuda_sync",)),
    ("pairs/sam_after_rewrite.json.gz", ("graph",)),
)
ROCM_MODELS = (
    ("rocm/mi300_resnet_ddp8_rank0.json.gz", None),
    ("rocm/mi300_qwen.json.gz", None),
    ("rocm/vllm_decode_graph.json.gz", ("kernel", "python_function") + CALLS),
)
# A newer profiler writes more into the head, with or without a GPU: only its keys count.
NEWER_HEADS = ("cpu/healthy/rank0.pt.trace.json.gz",)
# Old enough to have less in the head.
OLD_HEADS = ("nccl_args",)
# Written again by another program: numbers have lost their zeros.
REWRITTEN = ("h100_qwen", "h100_owlv2", "mi300_qwen", "vllm_decode_graph")

SHAPES = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"}
# Switches of the profiler: in the head where they are on.
SWITCHES = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
# Written by some versions, into all rows of a file or into none.
VERSIONED = "finished"
# No real trace at hand has these two; torch names the peer of each.
PEERS = {"send": ("Dst Rank", "int"), "recv": ("Src Rank", "int")}
# Calls that no real trace at hand has: of HIP as of CUDA.
WITHOUT_MODEL = ("hipMalloc", "hipFree")
# A number of decimals is a rule when that many rows have no other.
ROWS_OF_A_RULE = 50


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, Real):
        return "float"
    return {bool: "bool", int: "int", str: "str", list: "list", dict: "object"}[type(value)]


def types_of_head(trace):
    return {key: type_of(value) for key, value in trace.head.items()}


def is_rocm(trace):
    return "hip_runtime_version" in trace.head or "roctracer_version" in trace.head


def call_kind(name):
    if "GraphLaunch" in name:
        return "graph"
    for word in ("Launch", "Memcpy", "Memset"):
        if word in name:
            return word.lower()
    return "other"


def class_of(row, trace):
    """Rows of one class have the same form: (phase or category, kind)."""
    phase, category = row["ph"], row.get("cat")
    if phase != "X":
        return f"phase {phase}", category or row["name"]
    if category in CALLS:
        return category, call_kind(row["name"])
    if category == "cuda_sync":
        return category, row["name"]
    if category == "cpu_op":
        return category, "collective" if row["name"] == "record_param_comms" else "op"
    if category in DEVICE:
        call = trace.call_of(row)
        if call is None:
            return category, "orphan"
        if "Collective name" in row["args"]:
            return category, "collective"
        return category, "graph" if call_kind(call["name"]) == "graph" else "launched"
    return category, ""


def keys_of(row):
    added = ("start", "end", "ts", "dur", "args")
    form = {(k, type_of(v)) for k, v in row.items() if k not in added}
    form |= {(k, "object" if k == "args" else "time") for k in added[2:] if k in row}
    return frozenset(form)


def arguments_of(row):
    left = {VERSIONED}
    # calls outside of ops have no External id, nor what they launch: trace_relations sees to it
    if row.get("cat") in DEVICE + CALLS + ("cuda_sync",):
        left.add("External id")
    return frozenset((k, type_of(v)) for k, v in row.get("args", {}).items() if k not in left)


def decimals_of(value):
    return len(value.partition(".")[2])


def flow_marks(trace):
    """(call's correlation -> [tails at it, heads at it]), and the flows that lie at no call."""
    marks = {correlation: [0, 0] for correlation in trace.calls}
    elsewhere = []
    for flow in trace.flows:
        if flow["cat"] != "ac2g":
            continue
        call = trace.calls.get(flow["id"])
        if call and (track(flow), flow["start"]) == (track(call), call["start"]):
            marks[flow["id"]][flow["ph"] == "f"] += 1
        else:
            elsewhere.append(flow)
    return marks, elsewhere


def metadata_counts(trace):
    rows = (e for e in trace.events if e["ph"] == "M" and e["name"].startswith("process_"))
    return collections.Counter(e["name"] for e in rows)


class Forms:
    """What the models of one vendor look like."""

    def __init__(self):
        self.keys = collections.defaultdict(set)
        self.arguments = collections.defaultdict(set)  # (with shapes?, form)
        self.decimals = collections.defaultdict(collections.Counter)
        self.codes = collections.defaultdict(set)
        self.marks = collections.defaultdict(set)
        self.heads, self.newer_heads, self.counts = [], [], set()
        self.properties, self.distributed, self.groups = set(), set(), set()

    def learn(self, trace, classes):
        for row in trace.events:
            kind = class_of(row, trace)
            if classes is None or kind[0] in classes or kind[1] in classes:
                self.keys[kind].add(keys_of(row))
                shapes = trace.head.get("record_shapes") == 1
                self.arguments[kind].add((shapes, arguments_of(row)))
        for call in trace.of(*CALLS):
            self.codes[call["name"]].add(call["args"].get("cbid", call["args"].get("cid")))
        marks, _ = flow_marks(trace)
        for correlation, mark in marks.items():
            self.marks[trace.calls[correlation]["name"]].add(tuple(mark))
        if classes is None:
            if not any(word in str(trace.path) for word in OLD_HEADS):
                self.learn_head(trace)
            if not any(word in str(trace.path) for word in REWRITTEN):
                self.learn_decimals(trace)

    def learn_newer_head(self, trace):
        self.newer_heads.append(types_of_head(trace))

    def learn_head(self, trace):
        self.heads.append(types_of_head(trace))
        self.counts.add(frozenset(metadata_counts(trace).items()))
        for device in trace.head.get("deviceProperties", ()):
            self.properties.add(frozenset((k, type_of(v)) for k, v in device.items()))
        distributed = trace.head.get("distributedInfo")
        if distributed:
            self.distributed.add(frozenset((k, type_of(v)) for k, v in distributed.items()))
            for group in distributed["pg_config"]:
                self.groups.add(frozenset((k, type_of(v)) for k, v in group.items()))

    def learn_decimals(self, trace):
        for row in trace.events:
            for name, value in row.get("args", {}).items():
                if isinstance(value, Real):
                    self.decimals[row["cat"], name][decimals_of(value)] += 1

    def wanted_decimals(self, category, name):
        counts = self.decimals.get((category, name), {})
        if len(counts) == 1 and sum(counts.values()) >= ROWS_OF_A_RULE:
            return next(iter(counts))
        return None

    def forms_of_arguments(self, kind, shapes):
        forms = {form for had, form in self.arguments.get(kind, ()) if had == shapes}
        if not shapes:
            every = (form for _, form in self.arguments.get(kind, ()))
            forms |= {frozenset(a for a in form if a[0] not in SHAPES) for form in every}
        return forms or {form for _, form in self.arguments.get(kind, ())}


def nearest(form, forms):
    """What is too much and what is missing, against the most similar of the forms."""
    other = min(forms, key=lambda f: len(f ^ form))
    told = [f"+{name} ({kind})" for name, kind in sorted(form - other)]
    return " ".join(told + [f"-{name} ({kind})" for name, kind in sorted(other - form)])


def check_rows(trace, forms, report):
    """Keys and arguments of every row against the forms of its class."""
    shapes = trace.head.get("record_shapes") == 1
    seen = set()
    versions = {VERSIONED in row["args"] for row in trace.of("cpu_op", "cpu_instant_event")}
    if len(versions) > 1:
        report.say(f"argument {VERSIONED}", "on some rows only")
    for row in trace.events:
        kind = class_of(row, trace)
        label = " ".join(filter(None, kind))
        keys, arguments = keys_of(row), arguments_of(row)
        if (kind, keys, arguments) not in seen:
            seen.add((kind, keys, arguments))
            if kind not in forms.keys:
                report.say(f"class {label}", "no real trace has such rows", row)
                continue
            if keys not in forms.keys[kind]:
                report.say(f"keys of {label}", nearest(keys, forms.keys[kind]), row)
            known = forms.forms_of_arguments(kind, shapes)
            peer = PEERS.get(row.get("args", {}).get("Collective name"))
            if peer:
                known = {form | {peer} for form in known}
            if arguments not in known:
                report.say(f"arguments of {label}", nearest(arguments, known), row)
        for name, value in row.get("args", {}).items():
            if isinstance(value, Real):
                wanted = forms.wanted_decimals(row.get("cat"), name)
                if wanted is not None and decimals_of(value) != wanted:
                    report.say(f"decimals of {name}", f"{value}: real ones have {wanted}", row)


def check_head(trace, forms, report):
    found = types_of_head(trace)
    always = set.intersection(*(set(head) for head in forms.heads)) - set(SWITCHES)
    for key in sorted(always - set(found)):
        report.say("head", f"no {key}: real traces always have it")
    for key, kind in found.items():
        kinds = {head[key] for head in forms.heads + forms.newer_heads if key in head}
        if kind not in kinds:
            report.say("head", f"{key} is {kind}, in real traces {sorted(kinds) or 'never'}")
    for switch in SWITCHES:
        if trace.head.get(switch, 1) != 1:
            report.say("head", f"{switch} is {trace.head[switch]}: it is 1 or not there")
    parts = [("deviceProperties", d, forms.properties) for d in trace.head["deviceProperties"]]
    if "distributedInfo" in trace.head:
        info = trace.head["distributedInfo"]
        parts.append(("distributedInfo", info, forms.distributed))
        parts += [("pg_config", group, forms.groups) for group in info.get("pg_config", ())]
    for what, part, known in parts:
        form = frozenset((k, type_of(v)) for k, v in part.items())
        if form not in known:
            report.say(f"{what}", nearest(form, known))
    counts = metadata_counts(trace)
    if frozenset(counts.items()) not in forms.counts:
        wanted = [sorted(c) for c in forms.counts]
        report.say("metadata rows", f"found {sorted(counts.items())}, real ones {wanted}")


def check_switches(trace, report):
    """What was recorded is what the head says."""
    shaped = any("Input Dims" in row["args"] for row in trace.of("cpu_op"))
    found = {"record_shapes": shaped, "with_stack": bool(trace.by_category.get("python_function")),
             "profile_memory": bool(trace.by_category.get("cpu_instant_event"))}
    for switch, there in found.items():
        report.equal("switches", there, trace.head.get(switch) == 1, f"rows of {switch}:")


def check_calls(trace, forms, report):
    """Calls have the code of their name, and arrows where real calls have them."""
    for call in trace.of(*CALLS):
        code = call["args"].get("cbid", call["args"].get("cid"))
        known = forms.codes.get(call["name"])
        if known is None and call["name"] not in WITHOUT_MODEL:
            report.say(f"call {call['name']}", "no real trace has it", call)
        elif known and code not in known:
            report.say(f"code of {call['name']}", f"{code}, in real traces {sorted(known)}", call)
    marks, elsewhere = flow_marks(trace)
    for correlation, mark in marks.items():
        call = trace.calls[correlation]
        known = forms.marks.get(call["name"])
        if known and tuple(mark) not in known:
            report.say(f"arrows at {call['name']}", f"{mark[0]} tails, {mark[1]} heads; "
                       f"in real traces {sorted(known)}", call)
    return elsewhere
