#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_snapshot.py - a memory snapshot of any size, as torch writes them.

    bench/make_snapshot.py FILE EVENTS

Writes the operations of a pickle (protocol 4) directly, one event at a time: steps of BLOCKS
activations, allocated in forward and freed in backward, with stacks of FRAMES frames that share
their dictionaries through the memo. Two of three events bring a list of frames of their own, as in
real files: about 200 bytes an event. Replaying the events gives the segment at the end.
"""
import struct
import sys

BLOCKS = 1000
FRAMES = 46
BLOCK_BYTES = 2 << 20
BASE = 0x7F2A00000000
BATCH = 1000


class Writer:
    """Operations, and the numbers of the memo."""

    def __init__(self, file):
        self.file = file
        self.memo = 0

    def raw(self, data):
        self.file.write(data)

    def remember(self):
        self.raw(b"\x94")
        self.memo += 1
        return self.memo - 1

    def text(self, text):
        data = text.encode()
        self.raw(b"\x8c" + bytes([len(data)]) + data)
        return self.remember()

    def container(self, operation):
        self.raw(operation)
        return self.remember()


def recall(index):
    return b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)


def integer(value):
    if value < 256:
        return b"K" + bytes([value])
    if value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def write_frames(writer, keys, count):
    """A list of all frames in a place that nobody reads: from there stacks recall them."""
    memos = []
    writer.container(b"]")
    writer.raw(b"(")
    for i in range(count):
        memos.append(writer.container(b"}"))
        writer.raw(b"(" + recall(keys["filename"]))
        writer.text(f"/home/user/project/model/layer_{i % 50}.py")
        writer.raw(recall(keys["line"]) + integer(i + 1) + recall(keys["name"]))
        writer.text(("forward", "_call_impl", "attention", "mlp")[i % 4] + f"_{i}")
        writer.raw(b"u")
    writer.raw(b"e")
    return memos


def write_segments(writer, keys, texts):
    fields = {"device": 0, "address": BASE, "total_size": BLOCKS * BLOCK_BYTES, "stream": 0}
    writer.container(b"]")
    writer.container(b"}")
    writer.raw(b"(")
    for name, value in fields.items():
        writer.raw(recall(keys[name]) + integer(value))
    writer.raw(recall(keys["segment_type"]) + recall(texts["large"]) + recall(keys["blocks"]))
    writer.container(b"]")
    writer.container(b"}")
    writer.raw(b"(" + recall(keys["address"]) + integer(BASE))
    writer.raw(recall(keys["size"]) + integer(BLOCKS * BLOCK_BYTES))
    writer.raw(recall(keys["state"]) + recall(texts["inactive"]) + b"uaua")


def write_events(writer, keys, texts, frames, count):
    stacks = [b"(" + b"".join(recall(frames[(i * 7 + k * 13) % len(frames)]) for k in range(FRAMES))
              + b"e" for i in range(BLOCKS)]  # fmt: skip
    heads = {name: b"}\x94(" + recall(keys["action"]) + recall(texts[name]) + recall(keys["addr"])
             for name in ("segment_alloc", "alloc", "free_requested", "free_completed")}
    after = {"size": recall(keys["size"]), "rest": recall(keys["stream"]) + b"K\x00"
             + recall(keys["time_us"])}
    tail = (recall(keys["compile_context"]) + recall(texts["N/A"]) + recall(keys["user_metadata"])
            + recall(texts[""]) + recall(keys["frames"]))
    written, time_us, last_list = 0, 1731600000000000, 0

    def event(name, block, size, own_list):
        nonlocal written, time_us, last_list
        if written % BATCH == 0:
            writer.raw(b"e(" if written else b"(")
        time_us += 7
        data = heads[name] + integer(BASE + block * BLOCK_BYTES) + after["size"] + integer(size)
        data += after["rest"] + integer(time_us) + tail
        writer.memo += 1
        if own_list:
            last_list = writer.memo
            writer.memo += 1
            data += b"]\x94" + stacks[block]
        else:
            data += recall(last_list)
        writer.raw(data + b"u")
        written += 1

    event("segment_alloc", 0, BLOCKS * BLOCK_BYTES, True)
    while written + 3 * BLOCKS <= count:
        for block in range(BLOCKS):
            event("alloc", block, BLOCK_BYTES, True)
        for block in reversed(range(BLOCKS)):
            event("free_requested", block, BLOCK_BYTES, True)
            event("free_completed", block, BLOCK_BYTES, False)
    writer.raw(b"e")
    return written


KEYS = ("action addr size stream time_us frames compile_context user_metadata filename line name"
        " device address total_size segment_type blocks state").split()  # fmt: skip
TEXTS = ["alloc", "free_requested", "free_completed", "segment_alloc", "large", "inactive", "N/A",
         ""]  # fmt: skip


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    with open(path, "wb", buffering=1 << 20) as file:
        writer = Writer(file)
        writer.raw(b"\x80\x04")
        writer.container(b"}")
        writer.raw(b"(")
        # the first keys hold what all others recall
        writer.text("words")
        writer.container(b"]")
        writer.raw(b"(")
        keys = {name: writer.text(name) for name in KEYS}
        texts = {name: writer.text(name) for name in TEXTS}
        writer.raw(b"e")
        writer.text("all_frames")
        frames = write_frames(writer, keys, 600)
        writer.text("segments")
        write_segments(writer, keys, texts)
        writer.text("device_traces")
        writer.container(b"]")
        writer.container(b"]")
        written = write_events(writer, keys, texts, frames, count)
        writer.raw(b"au.")
    print(f"{path}: {written} events")


if __name__ == "__main__":
    main()
