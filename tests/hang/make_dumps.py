#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_dumps.py - writes flight recorder dumps of simulated jobs that hang.

    make_dumps.py FOLDER KIND [RANKS [STEPS]]

Ranks are in tensor groups of 8, data groups across them, and the default group. Each step has
collectives of all three; in the last step the planted rank does something else. The dumps are
pickles of version 2.10 as NCCL's, with states, times and stacks.
"""

import pickle
import sys
from pathlib import Path

KINDS = (
    "healthy", "did-not-come", "left-no-dump", "other-operation", "other-size", "other-type",
    "group-order", "not-finished", "not-started", "watchdog-stuck",
)  # fmt: skip
TENSOR = 8
START_NS = 1_790_000_000_000_000_000
PLANTED = 5


def frames(function, line):
    torch = "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"
    return [
        {"name": "all_reduce", "filename": torch, "line": 3906},
        {"name": function, "filename": "/job/train.py", "line": line},
        {"name": "main", "filename": "/job/train.py", "line": 200},
    ]


class Dump:
    def __init__(self, rank, ranks, config):
        self.entries, self.rank, self.now = [], rank, START_NS + rank
        self.sequences, self.config, self.ranks = {}, config, ranks

    def call(self, group, stack, name="all_reduce", size=4096, dtype="Float", state="completed",
             retired=None):
        number = self.sequences[group] = self.sequences.get(group, 0) + 1
        self.now += 1_000_000
        done = state == "completed"
        self.entries.append({
            "frames": stack, "record_id": len(self.entries),
            "pg_id": list(self.config).index(group),
            "process_group": (group, self.config[group]["desc"]), "collective_seq_id": number,
            "p2p_seq_id": 0, "op_id": number, "profiling_name": "nccl:" + name,
            "time_created_ns": self.now, "input_sizes": [[size]], "input_dtypes": [dtype],
            "output_sizes": [[size]], "output_dtypes": [dtype], "state": state,
            "time_discovered_started_ns": self.now if state != "scheduled" else None,
            "time_discovered_completed_ns": self.now if done else None,
            "retired": done if retired is None else retired, "timeout_ms": 600000,
            "is_p2p": False,
        })  # fmt: skip

    def write(self, path):
        root = {
            "version": "2.10",
            "pg_config": self.config,
            "comm_lib_version": "2.27.3",
            "pg_status": {},
            "entries": self.entries,
        }
        path.write_bytes(pickle.dumps(root, protocol=2))


def last_step(dump, kind, world, tensor, stacks):
    """The calls of the step in which the job stops."""
    planted = dump.rank == PLANTED
    mate = dump.rank // TENSOR == PLANTED // TENSOR
    if kind == "did-not-come":
        if not planted:
            dump.call(tensor, stacks[0], state="started" if mate else "completed")
            if not mate:
                dump.call(world, stacks[2], state="started")
    elif kind == "group-order":
        groups = [(tensor, stacks[0]), (world, stacks[2])]
        if planted:
            groups.reverse()
        dump.call(*groups[0], state="started" if mate else "completed")
        if not mate:
            dump.call(*groups[1], state="started")
    else:
        dump.call(tensor, stacks[0])
        different = {
            "other-operation": {"name": "all_gather"},
            "other-size": {"size": 1024},
            "other-type": {"dtype": "Double"},
            "not-started": {"state": "scheduled"},
        }.get(kind, {}) if planted else {}  # fmt: skip
        dump.call(world, stacks[2], **{"state": "started", **different})


def make(folder, kind, ranks=16, steps=10):
    """Writes the dumps; the folder must not exist."""
    folder.mkdir(parents=True)
    everyone = str(list(range(ranks)))
    stacks = [frames("forward", 40), frames("backward", 60), frames("step", 84)]
    for rank in range(ranks):
        if kind == "left-no-dump" and rank == PLANTED:
            continue
        first = rank // TENSOR * TENSOR
        tensor, data = f"t{rank // TENSOR}", f"d{rank % TENSOR}"
        config = {
            "0": {"name": "0", "desc": "default_pg", "ranks": everyone},
            tensor: {"name": tensor, "desc": "mesh_tp",
                     "ranks": str(list(range(first, min(first + TENSOR, ranks))))},
            data: {"name": data, "desc": "mesh_dp",
                   "ranks": str(list(range(rank % TENSOR, ranks, TENSOR)))},
        }  # fmt: skip
        dump = Dump(rank, ranks, config)
        for step in range(steps):
            late = kind == "watchdog-stuck" and rank == PLANTED and step == 0
            dump.call(tensor, stacks[0], retired=False if late else None)
            dump.call(data, stacks[1])
            dump.call("0", stacks[2])
            if kind == "watchdog-stuck":
                dump.now += 20_000_000_000
        if kind != "healthy":
            last_step(dump, kind, "0", tensor, stacks)
        dump.write(folder / f"nccl_trace_rank_{rank}")


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
