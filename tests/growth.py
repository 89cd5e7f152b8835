#!/usr/bin/env python3
"""Files that grow, and the time of every view on them, which has to grow in step.

Usage: growth.py VIEW_COSTS [WORD...]. VIEW_COSTS is bench/view_costs, which loads a file once and
tells the CPU time of each view and group. With words, only the shapes whose name contains one.

Each shape has much of one thing that views loop over. A file of it is made three times, each twice
as long as the one before. Twice the events may take up to three times the time, from the smallest
file to the largest: quadratic time would be four times. Times below a hundredth of a second say
nothing and count as one.
"""
import json
import os
import subprocess
import sys
import tempfile

STEPS = 3
TIMES_MOST = 3.0
LEAST_S = 0.01


def event(cat, name, start_ns, dur_ns, tid, pid=1, args=""):
    return (f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},'
            f'"ts":{start_ns / 1000:.3f},"dur":{dur_ns / 1000:.3f},"args":{{{args}}}}}')


def op(name, start_ns, dur_ns, tid=1, args=""):
    return event("cpu_op", name, start_ns, dur_ns, tid, args=args)


def call(name, start_ns, dur_ns, number, tid=1):
    return event("cuda_runtime", name, start_ns, dur_ns, tid, args=f'"correlation":{number}')


def kernel(name, start_ns, dur_ns, number, device=0, stream=7):
    return event("kernel", name, start_ns, dur_ns, stream, device,
                 f'"device":{device},"stream":{stream},"correlation":{number}')


def step(number, start_ns, dur_ns):
    return event("user_annotation", f"ProfilerStep#{number}", start_ns, dur_ns, 1)


def memory(start_ns, address, size, total):
    return (f'{{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,'
            f'"ts":{start_ns / 1000:.3f},"args":{{"Total Reserved":{total},"Total Allocated":'
            f'{total},"Bytes":{size},"Addr":{address},"Device Id":0,"Device Type":1}}}}')


def launched(number, start_ns, device=0, stream=7, name="k"):
    """An operator of 8 us, its launch, and its kernel of 3 us that starts 5 us later."""
    return [op("aten::add", start_ns, 8000),
            call("cudaLaunchKernel", start_ns + 1000, 2000, number),
            kernel(name, start_ns + 6000, 3000, number, device, stream)]


# Each gives the events of a file with n of what it is about.


def one_step(n):
    yield step(1, 0, 20000 * (n + 2))


def plain(n):
    yield from one_step(n)
    for i in range(n):
        yield from launched(i + 1, 10000 * (i + 1))


def many_steps(n):
    for i in range(n):
        yield step(i, 20000 * i, 20000)
        yield from launched(i + 1, 20000 * i + 5000)


def devices(n):
    yield from one_step(n)
    for i in range(n):
        yield from launched(i + 1, 10000 * (i + 1), device=i)


def named_devices(n):
    yield from one_step(n)
    for i in range(n):
        yield call("cudaLaunchKernel", 10000 * i, 2000, i + 1)
        yield event("kernel", "k", 10000 * i + 6000, 3000, 7, f'"GPU {i}"',
                    f'"correlation":{i + 1}')


def streams(n):
    yield from one_step(n)
    for i in range(n):
        yield from launched(i + 1, 10000 * (i + 1), stream=i)


def threads(n):
    yield from one_step(n)
    for i in range(n):
        yield op("aten::add", 10000 * i, 8000, tid=i + 2)
        yield call("cudaLaunchKernel", 10000 * i + 1000, 2000, i + 1, tid=i + 2)
        yield kernel("k", 10000 * i + 6000, 3000, i + 1)


def names(n):
    yield from one_step(n)
    for i in range(n):
        yield op(f"aten::op{i}", 10000 * i, 8000, args=f'"Input Dims":[[{i},3],[3,{i}]]')
        yield call("cudaLaunchKernel", 10000 * i + 1000, 2000, i + 1)
        yield kernel(f"k{i}", 10000 * i + 6000, 3000, i + 1)


def deep(n):
    """Operators inside of each other, 10,000 deep at most, with a launch in each."""
    yield from one_step(n)
    for i in range(n):
        round_, depth = divmod(i, 10000)
        start_ns = round_ * 10**9 + depth * 10000
        yield op(f"aten::op{depth % 7}", start_ns, 8 * 10**8 - 20000 * depth)
        yield call("cudaLaunchKernel", start_ns + 1000, 2000, i + 1)
        yield kernel("k", start_ns + 4000, 3000, i + 1)


def frames(n):
    """Python frames and modules inside of each other."""
    yield from one_step(n)
    for i in range(n):
        round_, depth = divmod(i, 5000)
        start_ns = round_ * 10**9 + depth * 10000
        name = f"nn.Module: Block_{depth}" if depth % 2 else f"train.py({depth}): f"
        yield event("python_function", name, start_ns, 8 * 10**8 - 20000 * depth, 1,
                    args=f'"Python id":{i + 1}')
        yield op("aten::add", start_ns + 500, 8000)
        yield call("cudaLaunchKernel", start_ns + 1000, 2000, i + 1)
        yield kernel("k", start_ns + 4000, 3000, i + 1)


def staircase(n):
    """Each range starts in the one before and outlives it."""
    yield from one_step(n)
    for i in range(n):
        yield op(f"aten::op{i % 5}", 1000 * i, 1500)
        yield event("user_annotation", f"range {i % 3}", 1000 * i + 100, 10**7, 1)
        yield call("cudaLaunchKernel", 1000 * i + 200, 100, i + 1)
        yield kernel("k", 1000 * i + 700, 200, i + 1)


def staircase_and_after(n):
    """The same, and then as many rows in what is still open."""
    yield from one_step(n)
    for i in range(n):
        yield op(f"aten::op{i % 5}", 1000 * i, 1500)
        yield event("user_annotation", f"range {i % 3}", 1000 * i + 100, 10**9, 1)
    for i in range(n):
        start_ns = 1000 * n + 1000 * i
        yield call("cudaLaunchKernel", start_ns, 100, i + 1)
        yield kernel("k", start_ns + 500, 200, i + 1)
        yield memory(start_ns + 10, 4096 * (i + 1), 512, 512 * (i + 1))


def gap_over_steps(n):
    """One gap through all steps, behind it a launch that comes after many rows."""
    yield kernel("k", 0, 10, 1)
    for i in range(n):
        yield step(i, 10000 * i, 10000)
        yield op("aten::add", 10000 * i + 100, 500)
    yield from launched(2, 10000 * n - 9000)


def early_kernels(n):
    """Kernels that start before their one launch: it ends every gap."""
    yield from one_step(n)
    for i in range(n):
        yield op("aten::add", 10000 * i, 500)
        yield kernel("k", 10000 * i, 3000, 1)
    yield call("cudaGraphLaunch", 10000 * n, 2000, 1)


def waits(n):
    """Waits one after the other, and kernels whose launches come behind all of them."""
    yield from one_step(n)
    for i in range(n):
        yield call("cudaStreamSynchronize", 10000 * i, 500, n + i + 1)
        yield kernel("k", 10000 * i, 3000, i + 1)
    for i in range(n):
        yield call("cudaLaunchKernel", 10000 * n + i, 1, i + 1)


def overheads(n):
    yield from one_step(n)
    for i in range(n):
        yield event("overhead", "CUPTI", 10000 * i, 500, -1, pid=-1)
        yield from launched(i + 1, 10000 * i + 1000)


def allocations(n):
    yield from one_step(n)
    for i in range(n):
        yield op("aten::empty", 10000 * i, 8000)
        yield memory(10000 * i + 100, 4096 * (i + 1), 512 + i, 512 * (i + 1))
        if i % 2:
            yield memory(10000 * i + 200, 4096 * i, -(511 + i), 512 * i)


def backward(n):
    """Forward operators and the backward ones that belong to them."""
    yield from one_step(2 * n)
    for i in range(n):
        yield op("aten::mm", 10000 * i, 8000,
                 args=f'"Sequence number":{i},"Fwd thread id":0')
        name = "autograd::engine::evaluate_function: MmBackward0"
        yield op(name, 10000 * (2 * n - i), 8000, tid=2,
                 args=f'"Sequence number":{i},"Fwd thread id":1')
        yield call("cudaLaunchKernel", 10000 * (2 * n - i) + 100, 500, i + 1, tid=2)
        yield kernel("k", 10000 * (2 * n - i) + 700, 500, i + 1)


def collectives(n):
    yield from one_step(n)
    for i in range(n):
        yield call("cudaLaunchKernel", 10000 * i, 2000, i + 1)
        yield event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 10000 * i + 3000, 4000,
                    20, 0, f'"device":0,"stream":20,"correlation":{i + 1},"Collective name":'
                    f'"allreduce","In msg nelems":{i + 1},"Out msg nelems":{i + 1},"Group size":8,'
                    f'"dtype":"Float","Process Group Name":"{i}"')
        yield from launched(n + i + 1, 10000 * i + 1000)


SHAPES = [plain, many_steps, devices, named_devices, streams, threads, names, deep, frames,
          staircase, staircase_and_after, gap_over_steps, early_kernels, waits, overheads,
          allocations, backward, collectives]

# Enough for a quadratic loop to take seconds, and few enough for the others to take milliseconds.
COUNT = 6000


def write_file(path, shape, count):
    with open(path, "w", encoding="ascii") as out:
        out.write('{"traceEvents":[\n')
        out.write(",\n".join(shape(count)))
        out.write("\n]}\n")


def measure(tool, path):
    """CPU seconds of each view and group; None: it did not end in time."""
    try:
        done = subprocess.run([tool, path], capture_output=True, text=True, check=False,
                              timeout=100)
    except subprocess.TimeoutExpired as late:
        told = (late.stdout or b"").decode().splitlines()
        return None, f"not done after {told[-1] if told else 'nothing'}"
    if done.returncode:
        return None, done.stderr.strip()
    rows = map(json.loads, done.stdout.splitlines())
    return {f"{row['view']}/{row['group']}".strip("/"): row["cpu_s"] for row in rows}, ""


def check_shape(tool, shape, folder):
    """Sentences about the views whose time grows too fast."""
    found = []
    for i in range(STEPS):
        path = os.path.join(folder, f"{shape.__name__}.json")
        write_file(path, shape, COUNT << i)
        costs, problem = measure(tool, path)
        os.unlink(path)
        if costs is None:
            return [f"{shape.__name__}, {COUNT << i}: {problem}"]
        found.append(costs)
    most = TIMES_MOST ** (STEPS - 1)
    return [f"{shape.__name__}: {view or 'loading'} takes "
            f"{' '.join(f'{costs[view]:.3f}' for costs in found)} s for files of 1, 2, 4: at most "
            f"{most:.0f} times is right"
            for view in found[0]
            if found[-1][view] > most * max(found[0][view], LEAST_S)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    failed = 0
    shapes = [shape for shape in SHAPES
              if len(sys.argv) == 2 or any(word in shape.__name__ for word in sys.argv[2:])]
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            for sentence in check_shape(sys.argv[1], shape, folder):
                print(f"FAILED {sentence}", flush=True)
                failed += 1
    print(f"growth: {len(shapes)} shapes, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
