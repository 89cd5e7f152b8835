# SPDX-License-Identifier: Apache-2.0
"""A server's requests under the decorator: one line of JSON with what was recorded."""

import asyncio
import inspect
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from stepscope.torch import profile, profile_requests

OUT = "/mnt/out"


def compute(number):
    return float((torch.ones(16, 16) * number).sum())


def files(folder, expected):
    """The files in a folder, when there are as many as expected or time is over."""
    for _ in range(100):
        there = os.listdir(folder) if os.path.isdir(folder) else []
        if len(there) >= expected and not any(name.startswith(".") for name in there):
            return len(there)
        time.sleep(0.1)
    return len(there)


def plain():
    @profile_requests(f"{OUT}/plain", every=3, per_minute=2)
    def answer(number):
        """Says."""
        if number == 5:
            raise KeyError("mine")
        return compute(number)

    answers, raised = [], 0
    for number in range(12):
        try:
            answers.append(answer(number))
        except KeyError:
            raised += 1
    assert (answer.__name__, answer.__doc__) == ("answer", "Says.")
    assert raised == 1 and answers == [256.0 * n for n in range(12) if n != 5]
    return files(f"{OUT}/plain", 2)  # the 3rd and the 6th, which raises


def threads():
    busy = threading.Barrier(8)

    @profile_requests(f"{OUT}/threads", every=1, per_minute=1000)
    def answer(number):
        busy.wait()
        return compute(number)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answer, range(8))) == [256.0 * n for n in range(8)]
    return files(f"{OUT}/threads", 1)  # one at a time


def coroutines():
    @profile_requests(f"{OUT}/coroutines", every=4, per_minute=1000)
    async def answer(number):
        await asyncio.sleep(0.01)
        return await asyncio.get_running_loop().run_in_executor(None, compute, number)

    async def main():
        for begin in range(0, 16, 4):
            got = await asyncio.gather(*[answer(n) for n in range(begin, begin + 4)])
            assert got == [256.0 * n for n in range(begin, begin + 4)]
            await asyncio.sleep(0.5)

    assert inspect.iscoroutinefunction(answer)
    asyncio.run(main())
    return files(f"{OUT}/coroutines", 4)


def generators():
    @profile_requests(f"{OUT}/generators", every=1, per_minute=2)
    def stream(count):
        total = 0.0
        for number in range(count):
            sent = yield compute(number)
            total += sent or 0
        return total

    assert list(stream(3)) == [0.0, 256.0, 512.0]
    # begun in one thread and ended in another, as thread pools do
    going = stream(3)
    first = []
    other = threading.Thread(target=lambda: first.append(next(going)))
    other.start()
    other.join()
    assert first == [0.0] and list(going) == [256.0, 512.0]
    return files(f"{OUT}/generators", 2)


def asynchronous_generators():
    @profile_requests(f"{OUT}/asynchronous", every=1, per_minute=1)
    async def stream(count):
        for number in range(count):
            yield compute(number)

    async def main():
        assert [item async for item in stream(3)] == [0.0, 256.0, 512.0]
        async for item in stream(3):  # left in the middle
            break

    asyncio.run(main())
    return files(f"{OUT}/asynchronous", 1)


def beside_a_profile():
    """A training that is being recorded is left alone."""

    @profile_requests(f"{OUT}/beside", every=1, per_minute=1000)
    def answer(number):
        return compute(number)

    with profile(f"{OUT}/training", wait=0, warmup=1, steps=2, verdict=False) as prof:
        for number in range(4):
            assert answer(number) == 256.0 * number
            prof.step()
    assert files(f"{OUT}/training", 1) == 1
    return files(f"{OUT}/beside", 1)  # the last, when the recording had ended


def bad_arguments():
    for options in ({"every": "x"}, {"per_minute": None}, {"folder": None}):
        assert profile_requests(**{"folder": f"{OUT}/bad", **options})(compute)(2) == 512.0
    assert profile_requests(f"{OUT}/none", every=1, per_minute=0)(compute)(2) == 512.0
    assert profile_requests("/dev/null/x", every=0)(compute)(2) == 512.0
    assert not os.path.exists(f"{OUT}/bad")
    return len(os.listdir(f"{OUT}/none"))  # the folder is made and checked at once


checks = (plain, threads, coroutines, generators, asynchronous_generators, beside_a_profile)
print(json.dumps({check.__name__: check() for check in (*checks, bad_arguments)}))
