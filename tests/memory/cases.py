#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py - runs whose memory is told by a simulated allocator: is stepscope right about them?

    tests/memory/cases.py STEPSCOPE

Programs run on allocator.py, which counts what is in use, free and reserved by itself. Of each a
snapshot is written, and findings and figures are compared with that truth.
"""
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile

from allocator import MIB, Allocator, OutOfMemory

# findings by what this test calls them
NAMES = {
    "memory-leak": "leak", "out-of-memory": "oom", "fragmentation": "fragmentation",
    "allocator-thrash": "thrash", "memory-headroom": "headroom",
}  # fmt: skip


def frame(text):
    file, line, name = text.split(":")
    return {"filename": file, "line": int(line), "name": name}


def stack(*frames):
    return [frame(text) for text in frames]


TORCH = "/usr/lib/python3/site-packages/torch/"
ENGINE = {"filename": "??", "line": 0, "name": "torch::autograd::Engine::thread_main"}
NODE = {"filename": "??", "line": 0, "name": "torch::autograd::generated::MmBackward0::apply"}
SETUP = stack(TORCH + "nn/modules/module.py:900:_apply", "train.py:5:main")
INPUT = stack("train.py:20:main")
FORWARD = stack("model.py:14:forward", "train.py:22:main")
HEAD = stack("model.py:31:forward", "train.py:22:main")
BACKWARD = [NODE, ENGINE]
UPDATE = stack(TORCH + "optim/adamw.py:220:step", "train.py:30:main")
KEEP = stack("train.py:26:main")
FEATURES = stack("features.py:9:collect", "train.py:40:main")
EMPTY = stack(TORCH + "cuda/memory.py:170:empty_cache", "train.py:33:main")
CACHE = stack("cache.py:8:append", "model.py:50:forward", "generate.py:12:main")
DECODE = stack("model.py:61:forward", "generate.py:12:main")
COPY = stack("prefetch.py:17:next", "train.py:19:main")


class Training:
    """A model and what trains it; sizes are in MiB."""

    def __init__(self, device=2048, expandable=False, layers=6, weights=16):
        self.memory = Allocator(device * MIB, expandable)
        self.layers, self.weights = layers, weights
        self.parameters = [self.take(weights, SETUP) for _ in range(layers)]
        self.moments = []

    def take(self, mib, frames, stream=0):
        # an odd size, so that blocks are larger than what was asked for
        return self.memory.malloc(int(mib * MIB) - 100, frames, stream)

    def drop(self, blocks, frames):
        for block in blocks:
            self.memory.free(block, frames)

    def forward(self, mib):
        batch = self.take(0.5, INPUT)
        kept = []
        for layer in range(self.layers):
            scratch = self.take(mib / 2, FORWARD)
            kept.append(self.take(mib, HEAD if layer + 1 == self.layers else FORWARD))
            self.drop([scratch], FORWARD)
        return [batch, *kept]

    def backward(self, kept):
        gradients = []
        for block in reversed(kept):
            gradients.append(self.take(self.weights, BACKWARD))
            self.drop([block], BACKWARD)
        return gradients

    def update(self, gradients):
        if not self.moments:
            self.moments = [self.take(self.weights, UPDATE) for _ in range(2 * self.layers)]
        self.drop([self.take(1, UPDATE)], UPDATE)
        self.drop(gradients, UPDATE)

    def step(self, mib):
        self.update(self.backward(self.forward(mib)))


def cut_up(program):
    """Features that are kept cut up the segments that larger batches need."""
    for _ in range(3):
        program.step(64)
    for _ in range(6):
        program.take(40, FEATURES)
    for _ in range(3):
        program.step(82)


def leaking(program):
    for _ in range(60):
        kept = program.forward(30)
        program.take(20, KEEP)
        program.update(program.backward(kept))


def too_large(program):
    program.step(30)
    program.step(400)


def emptying(program):
    for _ in range(6):
        program.step(40)
        program.memory.empty_cache(EMPTY)


def squeezed(program):
    """Batches grow: the segments of each have to go before those of the next one come."""
    for step in range(8):
        program.step(60 + 6 * step)


def squeezed_once(program):
    for step in range(8):
        program.step(60 if step < 4 else 96)


def warming_up(program):
    """The first steps try out workspaces, make the optimizer's state and keep a few buffers."""
    for step in range(10):
        kept = program.forward(40)
        if step < 2:
            program.drop([program.take(100 - 40 * step, FORWARD)], FORWARD)
            program.take(4, FORWARD)
        program.update(program.backward(kept))


def generating(program):
    """Keys and values of every token are kept on purpose, layer by layer."""
    for _ in range(100):
        for _ in range(program.layers):
            program.drop([program.take(8, DECODE)], DECODE)
            program.take(0.25, CACHE)


def training_long(program):
    for _ in range(12):
        program.step(40)


def prefetching(program):
    """Batches are copied on a second stream, which the first one still reads when they go."""
    pending = None
    for _ in range(6):
        batch = program.take(24, COPY, stream=7)
        program.step(40)
        if pending:
            program.memory.complete(pending, BACKWARD)
        program.memory.free(batch, UPDATE, still_used=True)
        pending = batch


# what runs on which device (MiB), and what must be found: warnings, notes, why it failed
CASES = {
    "fragments": (cut_up, {"device": 1200}, ["oom"], [], "fragmented into small blocks"),
    "fragments_expandable":
        (cut_up, {"device": 1200, "expandable": True}, [], ["fragmentation"], ""),
    # pages are given back in the middle of blocks, in vain
    "unmapped":
        (cut_up, {"device": 1000, "expandable": True}, ["oom"], [], "fragmented into small blocks"),
    # pieces are smaller than a page: expandable segments would keep them, too
    "small_pieces": (leaking, {"device": 420}, ["oom"], [], "fragmented into small blocks"),
    "leak": (leaking, {"device": 1200}, ["oom", "leak"], [], "kept by earlier steps exceeds"),
    "too_large": (too_large, {"device": 1200}, ["oom"], [], "needs more memory than the GPU has"),
    "empty_cache": (emptying, {}, ["thrash"], [], ""),
    "retries": (squeezed, {"device": 1100}, ["thrash"], [], ""),
    "retry": (squeezed_once, {"device": 1100}, [], [], ""),
    "warm_up": (warming_up, {}, [], [], ""),
    "kv_cache": (generating, {}, [], [], ""),
    # a few MiB are left of the device, and a segment takes 20
    "kv_cache_full":
        (generating, {"device": 200}, ["oom"], [], "needs more memory than the GPU has"),
    "ring": (training_long, {"entries": 150}, [], [], ""),
    "streams": (prefetching, {}, [], [], ""),
}


def ask(stepscope, path, *words):
    command = [stepscope, "snapshot", str(path), *words, "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def differences(row, truth):
    return [f"{name} is {row[name]}, not {value}" for name, value in truth.items()
            if row[name] != value]  # fmt: skip


def check_findings(stepscope, path, warnings, notes):
    found = {"warning": [], "note": []}
    for row in ask(stepscope, path, "findings"):
        found["warning" if row["severity"] == "warning" else "note"].append(NAMES[row["finding"]])
    if found != {"warning": warnings, "note": notes}:
        yield f"findings are {found}"


def check_figures(stepscope, path, memory, entries):
    rows = ask(stepscope, path, "summary")
    events = min(entries or len(memory.events), len(memory.events))
    truth = {**memory.end(), **memory.peaks(events), "events": events,
             "out_of_memory": len(memory.ooms), "replay": "exact"}  # fmt: skip
    yield from differences(rows[0], truth)
    if len(rows) != 1:
        yield f"{len(rows)} devices"


def check_ooms(stepscope, path, memory, why):
    rows = ask(stepscope, path, "oom")
    if len(rows) != len(memory.ooms):
        yield f"{len(rows)} allocations failed, not {len(memory.ooms)}"
    for row, oom in zip(rows, memory.ooms):
        yield from differences(row, oom)
        if why not in row["why"]:
            yield f"why: {row['why']}"


def advises_expandable(stepscope, path):
    return any("expandable" in (row["would_help"] or "") for row in ask(stepscope, path, "oom"))


def check_leaks(stepscope, path, leaks):
    rows = [row for row in ask(stepscope, path, "leaks") if row["grows"]]
    lines = [row["line"] for row in rows]
    if lines != (["train.py:26 (main)"] if leaks else []):
        yield f"lines that leak: {lines}"
    if leaks and rows and rows[0]["step_bytes"] != 20 * MIB - 100:
        yield f"a step leaks {rows[0]['step_bytes']}"


def check_case(stepscope, path, name):
    run, options, warnings, notes, why = CASES[name]
    entries = options.get("entries")
    program = Training(**{key: options[key] for key in options if key != "entries"})
    memory = program.memory
    try:
        run(program)
    except OutOfMemory:
        pass
    assert bool(memory.ooms) == ("oom" in warnings), f"{name}: {memory.ooms}"
    path.write_bytes(pickle.dumps(memory.snapshot(entries), 4))
    yield from check_findings(stepscope, path, warnings, notes)
    yield from check_figures(stepscope, path, memory, entries)
    yield from check_ooms(stepscope, path, memory, why)
    yield from check_leaks(stepscope, path, "leak" in warnings)
    # "fragments_expandable" is the proof that it would have helped
    if advises_expandable(stepscope, path) != (name == "fragments"):
        yield "expandable segments are advised, or not"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            problems = list(check_case(sys.argv[1], pathlib.Path(folder) / f"{name}.pickle", name))
            for problem in problems:
                print(f"FAIL {name}: {problem}")
            failed += bool(problems)
    print(f"{len(CASES)} runs, {failed} with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
