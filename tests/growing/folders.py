# SPDX-License-Identifier: Apache-2.0
"""Jobs of many ranks, and snapshots of memory: what is more than one trace."""
import os
import pickle

from growing.shapes import call, event, launched, step, write_trace


def rank_events(rank, ranks, steps):
    numbers = ", ".join(map(str, range(ranks)))
    for i in range(steps):
        start_ns = 10**6 * i
        yield step(i, start_ns, 10**6)
        for k in range(4):
            number = 100 * i + 10 * k + 1
            yield from launched(number, start_ns + 100000 * k)
            yield call("cudaLaunchKernel", start_ns + 100000 * k + 20000, 2000, number + 1)
            yield event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                        start_ns + 100000 * k + 30000 + 10 * rank, 50000 - 10 * rank, 20, 0,
                        f'"device":0,"stream":20,"correlation":{number + 1},"Collective name":'
                        f'"allreduce","In msg nelems":8,"Out msg nelems":8,"Group size":{ranks},'
                        f'"dtype":"Float","Process Group Name":"0",'
                        f'"Process Group Ranks":"[{numbers}]"')


def write_rank(path, rank, ranks, events):
    write_trace(path, events, f'"distributedInfo":{{"backend":"nccl","rank":{rank},'
                f'"world_size":{ranks}}},')


def many_ranks(folder, n):
    """256 ranks at most, a few steps each, one group of all."""
    ranks = max(n // 100, 2)
    for rank in range(ranks):
        write_rank(os.path.join(folder, f"rank{rank}.json"), rank, ranks,
                   rank_events(rank, min(ranks, 8), 4))


def pairs(rank, ranks, count):
    """Sends to every other rank, each in a group of two."""
    yield step(1, 0, 10000 * (count + 2))
    for i in range(count):
        other = (rank + 1 + i) % ranks
        low, high = sorted((rank, other))
        yield call("cudaLaunchKernel", 10000 * i, 2000, i + 1)
        yield event("kernel", "ncclDevKernel_SendRecv(x)", 10000 * i + 3000, 4000, 20, 0,
                    f'"device":0,"stream":20,"correlation":{i + 1},"Collective name":"send",'
                    f'"In msg nelems":8,"Group size":2,"dtype":"Float",'
                    f'"Process Group Name":"{low}-{high}",'
                    f'"Process Group Ranks":"[{low}, {high}]"')


def pairs_of_ranks(folder, n):
    """Ranks that each meet 32 others in a group of its own."""
    ranks = max(n // 200, 4)
    for rank in range(ranks):
        write_rank(os.path.join(folder, f"rank{rank}.json"), rank, ranks,
                   pairs(rank, ranks, min(32, ranks - 1)))


def long_ranks(folder, n):
    """Four ranks with many steps and collectives."""
    for rank in range(4):
        write_rank(os.path.join(folder, f"rank{rank}.json"), rank, 4,
                   rank_events(rank, 4, max(n // 20, 1)))


def uneven_ranks(folder, n):
    """Four ranks, each with collectives of other kinds and sizes, in no order."""
    for rank in range(4):
        def events(rank=rank):
            yield step(1, 0, 10000 * (n + 2))
            for i in range(n // 2):
                size = (i * 7919 + rank * 104729) % 97
                yield call("cudaLaunchKernel", 10000 * i, 2000, i + 1)
                yield event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                            10000 * i + 3000, 4000 + 10 * size, 20, 0,
                            f'"device":0,"stream":20,"correlation":{i + 1},"Collective name":'
                            f'"allreduce","In msg nelems":{size},"Out msg nelems":{size},'
                            f'"Group size":4,"dtype":"Float","Process Group Name":"{i % 3}"')
        write_rank(os.path.join(folder, f"rank{rank}.json"), rank, 4, events())


def frame(name, line):
    return {"filename": f"/home/me/{name}.py", "line": line, "name": name}


def entry(action, address, size, moment, frames):
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": moment,
            "frames": frames}


def segment(address, blocks, device=0):
    size = sum(block["size"] for block in blocks)
    used = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
    return {"device": device, "address": address, "total_size": size, "allocated_size": used,
            "active_size": used, "requested_size": used, "stream": 0, "segment_type": "large",
            "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}


def block(address, size, state, frames):
    return {"address": address, "size": size, "requested_size": size, "state": state,
            "frames": frames}


def write_snapshot(folder, segments, traces, **more):
    with open(os.path.join(folder, "memory.pickle"), "wb") as file:
        pickle.dump({"segments": segments, "device_traces": traces, "allocator_settings": {},
                     **more}, file, protocol=4)


BASE = 0x7F0000000000


def snapshot_events(folder, n):
    """Blocks that are allocated and freed, with 50 stacks, in one segment."""
    stacks = [[frame(f"f{i}", i), frame("main", 1)] for i in range(50)]
    count = n // 3
    events = [entry("segment_alloc", BASE, 1536 * count, 0, stacks[0])]
    for i in range(3 * count):
        events.append(entry("alloc", BASE + 512 * i, 512, i + 1, stacks[i % 50]))
        if i % 3:
            events.append(entry("free_requested", BASE + 512 * i, 512, i + 1, stacks[0]))
            events.append(entry("free_completed", BASE + 512 * i, 512, i + 1, stacks[0]))
    blocks = []
    for i in range(count):  # what is free side by side is one block
        at = BASE + 1536 * i
        blocks.append(block(at, 512, "active_allocated", stacks[3 * i % 50]))
        blocks.append(block(at + 512, 1024, "inactive", []))
    write_snapshot(folder, [segment(BASE, blocks)], [events])


def snapshot_segments(folder, n):
    """Segments with a block each, and a stack of its own for every block."""
    stacks = [[frame(f"f{i}", i), frame(f"g{i % 7}", 2), frame("main", 1)] for i in range(n)]
    events = []
    for i in range(n):
        address = BASE + (i << 21)
        events.append(entry("segment_alloc", address, 1 << 21, 2 * i, stacks[i]))
        events.append(entry("alloc", address, 1 << 20, 2 * i + 1, stacks[i]))
    write_snapshot(folder, [segment(BASE + (i << 21), [
        block(BASE + (i << 21), 1 << 20, "active_allocated", stacks[i]),
        block(BASE + (i << 21) + (1 << 20), 1 << 20, "inactive", [])]) for i in range(n)], [events])


def snapshot_devices(folder, n):
    """As many devices as allocations."""
    stack = [frame("main", 1)]
    write_snapshot(folder,
                   [segment(BASE + (i << 21), [block(BASE + (i << 21), 1 << 21, "active_allocated",
                                                     stack)], device=i) for i in range(n)],
                   [[entry("segment_alloc", BASE + (i << 21), 1 << 21, i, stack),
                     entry("alloc", BASE + (i << 21), 1 << 21, i, stack)] for i in range(n)])


def snapshot_stacks(folder, n):
    """Deep stacks: all frames are shared, each stack is a frame longer than the one before."""
    frames = [frame(f"f{i}", i) for i in range(n // 8)]  # 16,000 are refused
    deep = frames[::-1]
    events = [entry("segment_alloc", BASE, 512 * 64, 0, deep)]
    for i in range(64):
        events.append(entry("alloc", BASE + 512 * i, 512, i + 1, deep[i:]))
    write_snapshot(folder, [segment(BASE, [block(BASE + 512 * i, 512, "active_allocated", deep[i:])
                                           for i in range(64)])], [events])


def snapshot_names(folder, n):
    """Names of functions and files of a megabyte, held by many blocks."""
    stacks = [[frame("a" * 10**6 + str(i), i), frame("main", 1)] for i in range(max(n // 6000, 1))]
    events = [entry("segment_alloc", BASE, 512 * n, 0, stacks[0])]
    for i in range(n):
        events.append(entry("alloc", BASE + 512 * i, 512, i + 1, stacks[i % len(stacks)]))
    write_snapshot(folder, [segment(BASE, [block(BASE + 512 * i, 512, "active_allocated",
                                                 stacks[i % len(stacks)]) for i in range(n)])],
                   [events])


def snapshot_failures(folder, n):
    """Every second allocation fails."""
    stack = [frame("main", 1)]
    events = [entry("segment_alloc", BASE, 512 * n, 0, stack)]
    for i in range(n):
        events.append(entry("alloc", BASE + 512 * i, 512, 2 * i + 1, stack))
        events.append({"action": "oom", "device_free": 1 << 20, "size": 1 << 30, "stream": 0,
                       "time_us": 2 * i + 2, "frames": stack})
    write_snapshot(folder, [segment(BASE, [block(BASE + 512 * i, 512, "active_allocated", stack)
                                           for i in range(n)])], [events])


def trace_and_snapshot(folder, n):
    """A trace with a snapshot beside it."""
    snapshot_events(folder, n // 2)
    write_rank(os.path.join(folder, "rank0.json"), 0, 1, rank_events(0, 1, max(n // 20, 1)))


FOLDERS = [many_ranks, pairs_of_ranks, long_ranks, uneven_ranks, snapshot_events,
           snapshot_segments, snapshot_devices, snapshot_stacks, snapshot_names,
           snapshot_failures, trace_and_snapshot]
