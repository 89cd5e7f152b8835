# SPDX-License-Identifier: Apache-2.0
"""Traces with much of one thing that views loop over: each gives the events of one with n."""


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


def memory(start_ns, address, size, total, device=0):
    return (f'{{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,'
            f'"ts":{start_ns / 1000:.3f},"args":{{"Total Reserved":{total},"Total Allocated":'
            f'{total},"Bytes":{size},"Addr":{address},"Device Id":{device},"Device Type":1}}}}')


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


def processes(n):
    yield from one_step(n)
    for i in range(n):
        yield event("cpu_op", "aten::add", 10000 * i, 8000, i + 2, pid=i + 2)
        yield (f'{{"ph":"M","name":"process_name","pid":{i + 2},"tid":0,'
               f'"args":{{"name":"worker {i}"}}}}')


def modules(n):
    """Modules beside each other, each of a class of its own."""
    yield from one_step(n)
    for i in range(n):
        yield event("python_function", f"nn.Module: Block{i}_{i}", 10000 * i, 9000, 1,
                    args=f'"Python id":{i + 1},"Python module id":{i}')
        yield from launched(i + 1, 10000 * i + 100)


def counters(n):
    """Counters of names of their own, one value each, and one counter of many values."""
    yield from one_step(n)
    for i in range(n):
        yield (f'{{"ph":"C","name":"counter {i}","pid":1,"tid":1,"ts":{10 * i},'
               f'"args":{{"value":{i}}}}}')
        yield (f'{{"ph":"C","name":"used","pid":1,"tid":1,"ts":{10 * i + 1},'
               f'"args":{{"bytes":{i}}}}}')
        yield from launched(i + 1, 10000 * i)


def flows(n):
    """Arrows from operators to operators and from calls to kernels."""
    yield from one_step(2 * n)
    for i in range(n):
        yield from launched(i + 1, 10000 * i)
        yield op("MmBackward0", 10000 * (n + i), 8000, tid=2)
        for phase, cat, moment, tid in (("s", "fwdbwd", 10 * i, 1),
                                        ("f", "fwdbwd", 10 * (n + i), 2),
                                        ("s", "ac2g", 10 * i + 1, 1)):
            yield (f'{{"ph":"{phase}","id":{i + 1},"cat":"{cat}","name":"{cat}","pid":1,'
                   f'"tid":{tid},"ts":{moment},"bp":"e"}}')
        yield (f'{{"ph":"f","id":{i + 1},"cat":"ac2g","name":"ac2g","pid":0,"tid":7,'
               f'"ts":{10 * i + 6},"bp":"e"}}')


def memory_devices(n):
    yield from one_step(n)
    for i in range(n):
        yield op("aten::empty", 10000 * i, 8000)
        yield memory(10000 * i + 100, 4096 * (i + 1), 512, 512, device=i)


def everything(number, start_ns, tid=1):
    """One of each that views look at from the inside out: 10 us, correlations number to + 2."""
    yield op("aten::mm", start_ns, 9000, tid)
    yield call("cudaLaunchKernel", start_ns + 100, 500, number, tid)
    yield kernel("k", start_ns + 2500, 500, number)
    yield call("cudaStreamSynchronize", start_ns + 700, 900, 10**8 + number, tid)
    yield call("cudaLaunchKernel", start_ns + 1700, 300, number + 1, tid)
    yield event("kernel", "ncclDevKernel_SendRecv(x)", start_ns + 4000, 1000, 20, 0,
                f'"device":0,"stream":20,"correlation":{number + 1}')
    yield call("cudaMemcpyAsync", start_ns + 2100, 200, number + 2, tid)
    yield event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", start_ns + 5200, 200, 7, 0,
                f'"device":0,"stream":7,"correlation":{number + 2},"bytes":4096')
    yield memory(start_ns + 3000, 4096 * (number + 1), 512, 512 * (number + 1))
    yield call("cudaMalloc", start_ns + 3100, 200, 2 * 10**8 + number, tid)


def well(n, wall):
    """Rows inside of each other, n deep, and as many others on the ground."""
    yield from one_step(2 * n)
    for i in range(n):
        yield wall(i, 10 * i, 20000 * n - 20 * i)
    for i in range(n // 3):
        yield from everything(3 * i + 1, 20 * n + 10000 * i)
    yield kernel("k", 20000 * n + 10**6, 10, 10**7)


def well_of_ops(n):
    yield from well(n, lambda i, start_ns, dur_ns: op(f"aten::op{i % 7}", start_ns, dur_ns))


def well_of_ranges(n):
    yield from well(n, lambda i, start_ns, dur_ns: event("user_annotation", f"range {i % 7}",
                                                         start_ns, dur_ns, 1))


def well_of_frames(n):
    yield from well(n, lambda i, start_ns, dur_ns: event(
        "python_function", f"train.py({i % 7}): f", start_ns, dur_ns, 1,
        args=f'"Python id":{i + 1}'))


def well_of_modules(n):
    yield from well(n, lambda i, start_ns, dur_ns: event(
        "python_function", f"nn.Module: Block_{i}", start_ns, dur_ns, 1,
        args=f'"Python id":{i + 1}'))


def well_of_backward(n):
    """A deep forward, and a backward that belongs to its innermost operator."""
    yield from one_step(4 * n)
    for i in range(n):
        yield op(f"aten::op{i % 7}", 10 * i, 20000 * n - 20 * i,
                 args='"Sequence number":1,"Fwd thread id":0')
    for i in range(n // 3):
        start_ns = 20000 * n + 10000 * i
        yield op("autograd::engine::evaluate_function: MmBackward0", start_ns, 9500, tid=2,
                 args='"Sequence number":1,"Fwd thread id":1')
        yield from everything(3 * i + 1, start_ns + 100, tid=2)


def ladder(n):
    """Rows inside of each other, n deep, with one of each kind on every rung."""
    yield from one_step(2 * n)
    for i in range(n // 3):
        start_ns = 10000 * i
        yield op("aten::rung", start_ns, 20000 * n - 20000 * i)
        yield event("python_function", f"train.py({i % 7}): f", start_ns + 10,
                    20000 * n - 20000 * i - 20, 1, args=f'"Python id":{i + 1}')
        yield from everything(3 * i + 1, start_ns + 100)


MEGABYTE = 10**6


def long_names(n):
    """Names of a megabyte in every place that has names."""
    yield from one_step(n)
    for i in range(max(n // 6000, 1)):
        name = f"{i}" + "abcdefghij" * (MEGABYTE // 10)
        yield event("user_annotation", "range " + name, 10**6 * i, 900000, 1)
        yield event("python_function", "nn.Module: Block" + name + "_0", 10**6 * i + 10, 890000, 1,
                    args=f'"Python id":{i + 1}')
        yield event("python_function", "train.py(3): " + name, 10**6 * i + 20, 880000, 1,
                    args=f'"Python id":{i + 10**6}')
        yield op("aten::" + name, 10**6 * i + 100, 800000)
        yield call("cudaLaunchKernel", 10**6 * i + 1000, 2000, i + 1)
        yield kernel("k" + name, 10**6 * i + 6000, 3000, i + 1)


def long_name_of_many(n):
    """One operator with a name of a megabyte, a module and a line too, and all others in it."""
    yield from one_step(n)
    name = "abcdefghij" * (MEGABYTE // 10)
    length_ns = 10000 * n + 10**6
    yield event("python_function", "train.py(3): " + name, 1, length_ns, 1, args='"Python id":1')
    yield event("python_function", "nn.Module: Block" + name + "_0", 2, length_ns - 2, 1,
                args='"Python id":2')
    yield op("aten::" + name, 3, length_ns - 4,
             args=f'"Input Dims":[[{",".join(["1"] * (MEGABYTE // 4))}]]')
    for i in range(n // 3):
        start_ns = 30000 * i + 10
        yield call("cudaLaunchKernel", start_ns, 500, 3 * i + 1)
        yield kernel("k", start_ns + 2500, 500, 3 * i + 1)
        yield from everything(3 * i + 2, start_ns + 10000)


def long_arguments(n):
    """Lists of numbers, texts and keys as long as the file has rows."""
    yield from one_step(n)
    numbers = ",".join(map(str, range(n)))
    yield op("aten::mm", 100, 800, args=f'"Input Dims":[[{numbers}],[]],"Input type":["float"],'
             f'"Concrete Inputs":["{numbers}"],"Input Strides":[[{numbers}]]')
    yield op("aten::add", 1000, 800, args=",".join(f'"key {i}":{i}' for i in range(n)))
    stack = ";".join(f"f.py({i}): g" for i in range(n))
    yield op("aten::add", 2000, 800, args=f'"Call stack":"{stack}"')
    for i in range(n):
        yield from launched(i + 1, 10000 * (i + 1))
    yield event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 3000, 4000, 20, 0,
                f'"device":0,"stream":20,"correlation":{10**8},"Collective name":"allreduce",'
                f'"In msg nelems":8,"Group size":{n},"dtype":"Float","Process Group Name":"a",'
                f'"Process Group Ranks":"[{numbers}]"')


def stack_texts(n):
    """Stacks of old profilers: 30 frames as a text, different in every operator."""
    yield from one_step(n)
    for i in range(n):
        stack = ";".join(f"f{(i >> depth) % 97}.py({depth}): g" for depth in range(30))
        yield op("aten::add", 10000 * i, 8000, args=f'"Call stack":"{stack}"')
        yield call("cudaLaunchKernel", 10000 * i + 1000, 2000, i + 1)
        yield kernel("k", 10000 * i + 6000, 3000, i + 1)


def trees_of_frames(n):
    """Stacks of 40 frames that share no call with each other but the outermost ones."""
    yield from one_step(4 * n)
    for i in range(n // 40):
        for depth in range(40):
            yield event("python_function", f"f{i if depth > 20 else 0}.py({depth}): g",
                        400000 * i + 1000 * depth, 390000 - 3000 * depth, 1,
                        args=f'"Python id":{40 * i + depth + 1}')
        yield from launched(i + 1, 400000 * i + 50000)


def overlapping(n):
    """Kernels of many streams that all run at once."""
    yield from one_step(n)
    for i in range(n):
        yield call("cudaLaunchKernel", 100 * i, 50, i + 1)
        yield kernel(f"k{i % 9}", 100 * i + 60, 100 * n, i + 1, stream=i % 50)


def async_rows(n):
    """Asynchronous ranges that are all open at once."""
    yield from one_step(n)
    for i in range(n):
        for phase, moment in (("b", i), ("e", 10 * n + i)):
            yield (f'{{"ph":"{phase}","cat":"request","name":"r{i}","id":{i},"pid":1,"tid":1,'
                   f'"ts":{moment}}}')
        yield from launched(i + 1, 10000 * i)


def compiled(n):
    """Regions of torch.compile, each with a kernel of its own name, and compilations."""
    yield from one_step(n)
    for i in range(n):
        yield op(f"Torch-Compiled Region: {i}/0", 10000 * i, 9000)
        yield op(f"CallFxGraph_{i}", 10000 * i + 100, 8000)
        yield op(f"triton_poi_fused_add_{i}", 10000 * i + 200, 7000)
        yield call("cuLaunchKernel", 10000 * i + 300, 2000, i + 1)
        yield kernel(f"triton_poi_fused_add_{i}", 10000 * i + 4000, 3000, i + 1)
        if i % 2:
            yield event("user_annotation", "_compile.compile_inner (dynamo_timed)",
                        10000 * i + 9100, 500, 1)


def many_steps_and_devices(n):
    """As many devices as steps: nothing may be made for every pair of them."""
    for i in range(n):
        yield step(i, 20000 * i, 20000)
        yield from launched(i + 1, 20000 * i + 5000, device=i)


def steps_collectives_groups(n):
    """As many groups as steps, with a collective of each in every step's time."""
    for i in range(n):
        yield step(i, 20000 * i, 20000)
        yield call("cudaLaunchKernel", 20000 * i + 100, 2000, i + 1)
        yield event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20000 * i + 3000, 4000,
                    20, 0, f'"device":0,"stream":20,"correlation":{i + 1},"Collective name":'
                    f'"allreduce","In msg nelems":{i + 1},"Out msg nelems":{i + 1},"Group size":2,'
                    f'"dtype":"Float","Process Group Name":"{i}","Process Group Ranks":"[0, {i}]",'
                    f'"Seq":{i}')


SHAPES = [plain, many_steps, devices, named_devices, streams, threads, processes, names, modules,
          deep, frames, ladder, well_of_ops, well_of_ranges, well_of_frames, well_of_modules,
          well_of_backward, staircase, staircase_and_after, gap_over_steps, early_kernels, waits,
          overheads, allocations, memory_devices, backward, flows, counters, collectives,
          long_names, long_name_of_many, long_arguments, stack_texts, trees_of_frames,
          overlapping, async_rows, compiled, many_steps_and_devices, steps_collectives_groups]


def write_trace(path, events, head=""):
    with open(path, "w", encoding="ascii") as out:
        out.write(f'{{{head}"traceEvents":[\n')
        for number, text in enumerate(events):
            out.write((",\n" if number else "") + text)
        out.write("\n]}\n")
