# SPDX-License-Identifier: Apache-2.0
"""Makes hostile but readable jobs: training steps of several ranks in which anything is wrong.

make(seed, folder) writes the files of one job. A job is first planned as a healthy one (ranks,
steps, operators, launches, kernels, collectives, memory), then its plan is bent: clocks, numbers,
names, groups, links and steps that contradict each other. The same seed gives the same bytes.
"""
import gzip
import json
import pathlib
import random

# written as they stand: JSON that Python would not write
NUMBERS = ("0", "-0", "1", "-1", "0.0004", "0.001", "1e3", "1E-9", "2147483647", "2147483648",
           "-2147483649", "4294967295", "4294967296", "9007199254740993", "9223372036854775807",
           "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e19", "1e308",
           "1e400", "-1e400", "604799999999.999", "604800000001", "3.0e15", "-3.0e15", "NaN",
           "Infinity", "-inf", "N/A", "null", "true", "[]", "{}", "[[1], []]", '""', '"7"',
           '"stream 7"', '"0x7f"', "0." + "0" * 400 + "1", "9" * 400)
NAMES = ("", " ", "a", "\x00", "\t\r\n", "\x7f\x1b[31m", "\u202eabc", "\U0001f525", "\ud800", "]}",
         '"', "\\", "<b>&amp;</b>", "</script>", "=cmd()", "%n%s", "x" * 5000, "::" * 300,
         "ProfilerStep#", "ProfilerStep#0", "ProfilerStep#99999999999999999999", "step[1]",
         "train_step", "execute_context_2(64)_generation_8(8)", "Optimizer.step#SGD.step",
         "Optimizer.zero_grad#", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
         "[memory]", "[OutOfMemory]", "nn.Module: Net_0", "nn.Module: ", "train.py(12): step",
         "(0): ", "autograd::engine::evaluate_function: AddBackward0", "AddBackward0",
         "Torch-Compiled Region: 0/0", "triton_red_fused_add_0", "## Call CompiledFxGraph x ##",
         "aten::mm", "aten::convolution_backward", "aten::item", "nccl:all_reduce",
         "record_param_comms", "c10d::allreduce_", "void cutlass::Kernel<int, " + "<" * 400,
         "_ZN" + "3abc" * 200 + "Ev", "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)")
CATEGORIES = ("cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "user_annotation", "cuda_runtime",
              "cuda_driver", "cuda_sync", "python_function", "gpu_user_annotation", "overhead",
              "Trace", "xpu_runtime", "mtia_ccp_events", "collective_comm", "hpu_op", "", "other")
CALLS = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize",
         "cudaEventRecord", "cudaStreamWaitEvent", "cudaGraphLaunch", "hipLaunchKernel",
         "cudaMalloc")
KINDS = ("allreduce", "_allgather_base", "reduce_scatter", "all_to_allv", "broadcast", "send",
         "recv", "barrier", "never heard of")
PHASES = "XBEbenistfSTFpCMNODPRvV()Ic?"


class Raw(str):
    """JSON text as it stands."""


class Job:
    """A plan, and how it is bent."""

    def __init__(self, seed):
        self.chance = chance = random.Random(seed)
        pick = chance.choice
        self.world = pick((1, 1, 2, 2, 3, 5, 8))
        self.steps, self.ops = pick((0, 1, 2, 4, 12)), pick((0, 1, 5, 20))
        self.collectives, self.depth = pick((0, 1, 3)), pick((0, 2, 30))
        self.zero = pick((0, 1.5, -2e6, 1.7e15, 1e12, 2.9e15))
        self.pace = pick((50, 50, 50, 0, 0.001, 1e7, 2e11, -20))
        self.bends = pick((0, 2, 20, 200))
        self.members = pick((list(range(self.world)), [0, 0], [], [-1, 1 << 40], [7]))
        self.group = pick(("0", "dp", pick(NAMES)))
        self.wild = {what: chance.random() < 0.3 for what in
                     ("ranks", "world", "base", "skew", "lost", "loose", "shuffle", "memory",
                      "names", "groups", "sequence", "overlap", "same", "backward", "extras")}
        self.number = 0

    def odd(self):
        return Raw(self.chance.choice(NUMBERS))

    def some(self, what, good, bad):
        return bad() if self.wild[what] and self.chance.random() < 0.3 else good

    # --- events -----------------------------------------------------------------------------

    def event(self, category, name, at, lasts, pid, tid, **args):
        name = self.some("names", name, lambda: self.chance.choice(NAMES))
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": at,
                "dur": lasts, "args": {key.replace("__", " "): value
                                       for key, value in args.items()}}

    def operator(self, rank, at):
        """An operator with its launch, arrow, kernel and what else belongs to it."""
        chance, pid = self.chance, 100 + rank
        self.number += 1
        ids = {"External__id": self.number, "correlation": self.number}
        shape = chance.choice(("[[64, 128], [128, 64]]", "[]", "[[-1, 9223372036854775807]]",
                               "[[1,,2", "[[[[[[]]]]]]", '[[3, "a"]]'))
        made = [
            self.event("cpu_op", chance.choice(("aten::mm", "aten::add_", "aten::item")), at, 40,
                       pid, pid, External__id=self.number, **{
                           "Sequence__number": self.number % 7, "Fwd__thread__id": 1,
                           "Input__Dims": Raw(shape) if self.wild["loose"] else [[64, 128]],
                           "Input__type": ["float", "c10::Half"],
                           "Call__stack": "train.py(3): step;model.py(9): forward"}),
            self.event("cuda_runtime", chance.choice(CALLS), at + 5, 8, pid, pid, **ids),
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": pid, "tid": pid, "ts": at + 5,
             "id": self.number},
            self.event(chance.choice(("kernel", "kernel", "gpu_memcpy", "gpu_memset")),
                       chance.choice(("gemm", "Memcpy DtoH (Device -> Pinned)")), at + 20, 25,
                       rank % 8, 7, device=rank % 8, stream=chance.choice((7, 7, 7, 13)),
                       bytes=1 << chance.randrange(62), grid=[1, 2, 1 << 31],
                       block=[128, 1, 1], warps__per__SM=0.5, **ids),
        ]
        for level in range(self.depth if chance.random() < 0.3 else 0):
            made.append(self.event("python_function", f"train.py({level}): f{level % 3}",
                                   at + level / 100, 45 - level / 50, pid, pid))
        if self.wild["memory"]:
            made.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]",
                         "pid": pid, "tid": pid, "ts": at + 3,
                         "args": {"Addr": chance.choice((4096, 8192, 1 << 63)), "Device Type": 1,
                                  "Bytes": chance.choice((512, -512, 1 << 62, -(1 << 63), 0)),
                                  "Device Id": chance.choice((0, rank, -1, 40000)),
                                  "Total Allocated": chance.choice((0, -5, 1 << 62)),
                                  "Total Reserved": chance.choice((1 << 20, -1))}})
        if self.wild["backward"]:
            made.append(self.event("cpu_op", "autograd::engine::evaluate_function: MmBackward0",
                                   at + 41, 5, pid, pid + 1,
                                   **{"Sequence__number": self.number % 7,
                                      "Fwd__thread__id": 1}))
        return made

    def collective(self, rank, at, number):
        chance, pid = self.chance, 100 + rank
        self.number += 1
        kind = self.some("groups", "allreduce", lambda: chance.choice(KINDS))
        args = {"Collective name": kind, "dtype": chance.choice(("Float", "BFloat16", "?")),
                "In msg nelems": self.some("groups", 4096, self.odd), "Out msg nelems": 4096,
                "Group size": self.some("groups", self.world, self.odd),
                "Process Group Name": self.group, "Process Group Ranks": str(self.members),
                "Seq": self.some("sequence", number, self.odd), "Src Rank": rank, "Dst Rank": 0}
        made = [self.event("cpu_op", "record_param_comms", at, 15, pid, pid,
                           External__id=self.number),
                self.event("cuda_runtime", "cudaLaunchKernel", at + 2, 5, pid, pid,
                           correlation=self.number)]
        made[0]["args"].update(args)
        if not (self.wild["lost"] and chance.random() < 0.3):
            kernel = self.event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 10,
                                30 - rank, rank % 8, 20, device=rank % 8, stream=20,
                                correlation=self.number)
            kernel["args"].update(args)
            made.append(kernel)
        if chance.random() < 0.3:
            made.append(self.event("cuda_sync", chance.choice(("Stream Wait Event", "Event Sync")),
                                   at + 12, 4, rank % 8, 7, stream=7, wait_on_stream=20,
                                   correlation=self.number,
                                   wait_on_cuda_event_record_corr_id=self.some(
                                       "sequence", self.number, self.odd)))
        return made

    def events(self, rank):
        at, made, number = self.zero, [], 0
        if self.wild["skew"]:
            at += self.chance.choice((0, 1e6, -1e6, 3e9))
        for step in range(self.steps):
            began = at
            for _ in range(self.ops):
                made += self.operator(rank, at)
                at += self.pace
            for _ in range(self.collectives):
                number += 1
                made += self.collective(rank, at, number)
                at += self.pace
            name = "ProfilerStep#%d" % (1 if self.wild["same"] else step)
            made.append(self.event("user_annotation", name, began, at - began, 100 + rank,
                                   100 + rank))
            if self.wild["overlap"]:
                made.append(self.event("user_annotation", f"ProfilerStep#{step + 50}", began + 3,
                                       2 * (at - began), 100 + rank, 100 + rank))
        return made

    # --- bending ----------------------------------------------------------------------------

    def extra(self):
        """An event without any sense."""
        chance = self.chance
        made = {"ph": chance.choice(PHASES), "cat": chance.choice(CATEGORIES),
                "name": chance.choice(NAMES), "pid": self.odd(), "tid": self.odd(),
                "ts": self.odd(), "dur": self.odd(), "id": self.odd(),
                "args": {"name": chance.choice(NAMES), "correlation": self.odd(),
                         "device": self.odd(), "stream": self.odd(), "value": self.odd()}}
        for key in chance.sample(list(made), chance.randrange(4)):
            del made[key]
        return made

    def bend(self, events):
        chance = self.chance
        for _ in range(self.bends if events else 0):
            event, other = chance.choice(events), chance.choice(events)
            key = chance.choice(("ts", "dur", "pid", "tid", "ph", "cat", "name", "args", "args"))
            if key == "ph":
                event["ph"] = chance.choice(PHASES)
            elif key == "cat":
                event["cat"] = chance.choice(CATEGORIES)
            elif key == "name":
                event["name"] = chance.choice(NAMES)
            elif key != "args":
                event[key] = chance.choice((self.odd(), other.get(key, 0)))
            elif event.get("args") and other.get("args"):
                name = chance.choice(list(other["args"]))
                event["args"][name] = chance.choice((self.odd(), other["args"][name],
                                                     chance.choice(NAMES)))
        if self.wild["extras"]:
            events += [self.extra() for _ in range(chance.choice((1, 10, 60)))]
        if self.wild["shuffle"]:
            chance.shuffle(events)

    def document(self, rank):
        events = self.events(rank)
        self.bend(events)
        if self.chance.random() < 0.05:
            return events
        groups = [{"pg_name": self.group, "pg_desc": "default_pg", "ranks": self.members,
                   "pg_size": self.some("groups", self.world, self.odd)}]
        return {"schemaVersion": 1,
                "deviceProperties": [{"id": rank % 8, "name": "NVIDIA H100", "numSms": self.some(
                    "groups", 132, self.odd), "totalGlobalMem": 85 << 30}],
                "distributedInfo": {"backend": "nccl", "rank": self.some("ranks", rank, self.odd),
                                    "world_size": self.some("world", self.world, self.odd),
                                    "pg_count": 1, "pg_config": groups},
                "baseTimeNanoseconds": self.some("base", 1700000000000000000, self.odd),
                "traceEvents": events}


def text_of(value):
    """JSON, with raw texts as they stand."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{text_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    return json.dumps(value)


def make(seed, folder):
    job, folder = Job(seed), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(job.world):
        data = text_of(job.document(rank)).encode()
        if job.chance.random() < 0.05:
            data = data[:job.chance.randrange(len(data))]
        if job.chance.random() < 0.2:
            (folder / f"rank{rank}.json.gz").write_bytes(gzip.compress(data, 1, mtime=0))
        else:
            (folder / f"rank{rank}.json").write_bytes(data)
