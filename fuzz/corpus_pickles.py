# SPDX-License-Identifier: Apache-2.0
"""corpus_pickles.py - snapshots of memory for make_corpus.py: whole, old, cut, and hostile."""
import pickle


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


FORWARD = [frame("empty_generic", "??", 0), frame("forward", "model.py", 14),
           frame("train_step", "train.py", 41)]
BACKWARD = [frame("torch::autograd::generated::MmBackward0::apply", "??", 0),
            frame("torch::autograd::Engine::thread_main", "??", 0)]
UPDATE = [frame("step", "/lib/torch/optim/adamw.py", 220), frame("main", "train.py", 47)]
BASE = 0x7F2A00000000


def allocator_event(action, at, size, time_us, frames=None):
    fields = {"action": action, "addr": BASE + at, "size": size, "stream": 0, "time_us": time_us}
    return {**fields, "frames": frames or []}


def allocator_events(steps):
    """Training steps that leave a block behind each."""
    yield allocator_event("segment_alloc", 0, 1 << 21, 1, FORWARD)
    at, time_us = 0, 2
    for _ in range(steps):
        yield allocator_event("alloc", at, 1000, time_us, FORWARD)
        for name, size, frames in (("a", 700, FORWARD), ("b", 600, BACKWARD), ("c", 5, UPDATE)):
            for action in ("alloc", "free_requested", "free_completed"):
                time_us += 1
                yield allocator_event(action, at + 1024, size, time_us, frames)
        at += 1024
    yield {"action": "oom", "device_free": 512, "size": 1 << 22, "stream": 0, "time_us": time_us,
           "frames": BACKWARD}
    yield {"action": "snapshot", "addr": 0, "size": at, "stream": 0, "time_us": time_us}


def snapshot(steps):
    blocks = [{"address": BASE + 1024 * i, "size": 1024, "requested_size": 1000,
               "state": "active_allocated", "frames": FORWARD} for i in range(steps)]
    blocks.append({"address": BASE + 1024 * steps, "size": (1 << 21) - 1024 * steps,
                   "requested_size": 0, "state": "inactive", "frames": []})
    segment = {"device": 0, "address": BASE, "total_size": 1 << 21, "stream": 0,
               "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False,
               "frames": FORWARD, "blocks": blocks}
    pages = {"device": 1, "address": BASE * 2, "total_size": 1 << 21, "is_expandable": True,
             "blocks": [{"size": 1 << 21, "state": "active_pending_free"}]}
    mapped = [allocator_event("segment_map", BASE, 1 << 20, 5),
              allocator_event("segment_map", BASE + (1 << 20), 1 << 20, 6),
              allocator_event("alloc", BASE, 1 << 21, 7), allocator_event("alloc", 7, 2**70, 8)]
    settings = {"max_split_size": -1, "expandable_segments": False,
                "garbage_collection_threshold": 0.5, "roundup_power2_divisions": {"1": 0, "2": 4}}
    marks = [{"stage": "START", "name": "step", "device": 0, "time_us": 3}]
    return {"segments": [segment, pages],
            "device_traces": [list(allocator_events(steps)), mapped, []],
            "allocator_settings": settings, "external_annotations": marks}


def holes():
    """Pages of an expandable segment that go from inside of a free block, and come again."""
    page = 1 << 21
    segments = [{"device": 0, "address": BASE + at * page, "total_size": page, "stream": 0,
                 "is_expandable": True, "blocks": [{"size": page, "state": "inactive"}]}
                for at in (0, 2)]  # fmt: skip
    events = [allocator_event("segment_map", 0, 3 * page, 1),
              allocator_event("segment_unmap", page, page, 2),
              allocator_event("segment_map", page, page, 3),
              {"action": "oom", "device_free": 1, "size": 4 * page, "stream": 0, "time_us": 4},
              allocator_event("segment_unmap", page, page, 5)]  # fmt: skip
    return {"segments": segments, "device_traces": [events],
            "allocator_settings": {"expandable_segments": True}}


def many_stacks(count):
    """Allocations of as many lines."""
    return [allocator_event("alloc", 512 * i, 512, i, [frame("f", "train.py", i)])
            for i in range(count)]


ODD_SETTINGS = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64", "a": 2**64 - 1, "b": -(2**70),
                "c": None, "d": [1], "e": 1.5}
OLD_BLOCK = {"size": 512, "state": "active_allocated",
             "history": [{"addr": BASE, "real_size": 500, "frames": FORWARD}]}
OLD = [{"device": 0, "address": BASE, "total_size": 1024, "allocated_size": 512,
        "active_size": 512, "stream": 0, "segment_type": "small",
        "blocks": [OLD_BLOCK, {"size": 512, "state": "inactive"}]}]
CALLS = {
    "global": b"cos\nsystem\n(S'id'\ntR.", "inst": b"(S'id'\nios\nsystem\n.",
    "build": b"\x80\x02}}b.", "memo": b"\x80\x02}r\xff\xff\xff\x7f.",
    "deep": b"\x80\x02" + b"](" * 99,
    "long": b"\x80\x04\x8d" + b"\xff" * 8,
}

PLACE = 123456789  # a size that stands for others
# One value of each instruction that makes one.
VALUE_CODES = (
    b"K\x01", b"M\x01\x02", b"J\xff\xff\xff\x7f", b"\x8a\x02\x00\x80", b"\x8a\x00",
    b"\x8a\x09" + b"\xff" * 8 + b"\x00", b"\x8b\x01\x00\x00\x00\x05", b"G\x3f\xf8" + b"\x00" * 6,
    b"G\x7f\xf8" + b"\x00" * 6, b"N", b"\x88", b"\x89", b"X\x01\x00\x00\x00a",
    b"\x8d\x01" + b"\x00" * 7 + b"a", b"B\x01\x00\x00\x00a", b"C\x01a", b"U\x01a",
    b"T\x01\x00\x00\x00a", b"\x8e\x01" + b"\x00" * 7 + b"a", b"\x96\x01" + b"\x00" * 7 + b"a",
    b")", b"]", b"}", b"\x8f", b"\x8f(K\x01\x90", b"(K\x01\x91", b"(K\x01K\x02t", b"K\x01\x85",
    b"K\x01K\x02\x86", b"K\x01K\x02K\x03\x87", b"(K\x01l", b"(K\x01K\x02d", b"I01\n", b"I00\n",
    b"I5\n", b"L5L\n", b"L18446744073709551615L\n", b"L-99999999999999999999L\n", b"F1.5\n",
    b"Fnan\n", b"S'a\\x41\\n'\n", b'S"b"\n', b"Va\\u00e9\n", b"K\x01K\x022000K\x05",
    b"(K\x011K\x06", b"]K\x01a", b"](K\x01K\x02e", b"}K\x01K\x02s", b"K\x01q\x05", b"h\x05",
    b"K\x01r\x06\x00\x00\x00", b"j\x06\x00\x00\x00", b"K\x01\x94", b"K\x01p7\n", b"g7\n",
    b"\x95" + b"\x00" * 8 + b"N", b"S'open\n", b"Iabc\n", b"h\x99", b"\xc3",
    b"\x8b\xff\xff\xff\xff", b"X\xff\xff\xff\x7f",
)  # fmt: skip
# What a pickle without a protocol can begin with: is it data, a program, or no pickle?
STARTS = (
    b"N.", b"I1\n.", b"S'a'\n.", b"Va\n.", b"L1L\n.", b"F1\n.", b"K\x01.", b"M\x01\x01.",
    b"Jabcd.", b"Gabcdefgh.", b"U\x01a.", b"T\x01\x00\x00\x00a.", b"X\x01\x00\x00\x00a.", b").",
    b"N0(lp0\n.", b"Nq\x01r\x01\x00\x00\x00p1\n.", b"K\x05cos\nsystem\n.", b"ios\nsystem\n.",
    b"Pid\n.", b"l.", b"d.", b"}q\x00.", b"]q\x00.", b"(dp0\n.", b"(lp0\n.", b"U\xff.",
    b"X\xff\xff\xff\xff", b"c\n", b"Sx",
)


def pickles():
    """(name, bytes): all protocols, old forms, cut ones, and those that would call something."""
    for protocol in range(6):
        whole = pickle.dumps(snapshot(4), protocol)
        yield f"protocol_{protocol}", whole
        yield f"protocol_{protocol}_cut", whole[: len(whole) * 2 // 3]
        yield f"old_{protocol}", pickle.dumps(OLD, protocol)
    yield "large", pickle.dumps(snapshot(400), 4)
    yield "stacks", pickle.dumps({"segments": [], "device_traces": [many_stacks(300)]}, 4)
    yield "flat", pickle.dumps({"segments": OLD, "device_traces": many_stacks(3),
                                "allocator_settings": ODD_SETTINGS}, 4)
    yield "holes", pickle.dumps(holes(), 4)
    yield "host", pickle.dumps({"host_segments": OLD, "host_traces": [[]]}, 4)
    yield from CALLS.items()
    events = [allocator_event("alloc", 0, PLACE, 5), allocator_event("alloc", 9, 512, 6)]
    whole = pickle.dumps({"segments": [], "device_traces": [events]}, 4)
    for number, code in enumerate(VALUE_CODES):
        yield f"value_{number}", b"\x80\x04}\x8c\x01k" + code + b"s."
        # in the place of what the key says, and of what it does not
        yield f"size_{number}", whole.replace(b"J" + PLACE.to_bytes(4, "little"), code)
    for number, data in enumerate(STARTS):
        yield f"start_{number}", data
    yield "deep_list", b"\x80\x02" + b"]" * 300 + b"a" * 299 + b"."
    yield "timeline", b"[[1, 2], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4, 5, 6, 7, 9]]]"
    yield "timeline_raw", b"[[-1, 1, 4160, 2], [5, 2, 9, 3], [6, 4, -9, 3]]"
