#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The holder of the link is served however many connections others open and leave half open.

Usage: crowd.py STEPSCOPE [CONNECTIONS]. Opens 10,000 connections without the token, of five kinds,
keeps as many of them open as the system allows, and asks meanwhile.
"""
import http.client
import json
import pathlib
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
CONNECTIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
EVERY = 250  # connections between two requests of the holder
# within which each must be answered: so long, or so many times as long as without the crowd
SECONDS, TIMES = 5, 20
HALF = b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: aaaa"
PAGE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"
WRONG = b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Stepscope-Token: 0\r\n\r\n"
# nothing, half a head, the page without reading it, a refusal, a body that does not come
KINDS = (b"", HALF, PAGE * 20, WRONG,
         b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")


def ask(port, token, path):
    """Status and seconds of a request on a connection of its own."""
    begin = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"X-Stepscope-Token": token,
                                             "Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, time.monotonic() - begin


def crowd(port, token):
    """Failures, and the longest answer in seconds."""
    limit = max(SECONDS, TIMES * max(ask(port, token, "/")[1] for _ in range(5)))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    held, failures, longest = [], [], 0.0
    for number in range(CONNECTIONS):
        line = socket.create_connection(("127.0.0.1", port), timeout=60)
        line.setblocking(False)
        try:
            line.send(KINDS[number % len(KINDS)])
        except OSError:
            pass
        held.append(line)
        if len(held) > most - 100:
            held.pop(0).close()
        if number % EVERY:
            continue
        for path in ("/", "/api/state", "/api/ask/job"):
            status, took = ask(port, token, path)
            longest = max(longest, took)
            if status != 200 or took > limit:
                failures.append(f"{path} beside {number} connections: {status}, {took:.1f} s")
    for line in held:
        line.close()
    return failures, longest


def main():
    with tempfile.TemporaryDirectory() as scratch:
        trace = pathlib.Path(scratch) / "one.json"
        trace.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1,
             "dur": 1}]}), encoding="utf-8")
        with subprocess.Popen([STEPSCOPE, "serve", "--no-browser", "--port", "0", trace],
                              stdout=subprocess.PIPE, text=True) as server:
            link = re.search(r":(\d+)/#token=([0-9a-f]+)", server.stdout.readline())
            try:
                while ask(int(link[1]), link[2], "/api/ask/job")[0] == 503:
                    time.sleep(0.1)
                failures, longest = crowd(int(link[1]), link[2])
            finally:
                server.terminate()
                server.wait(timeout=60)
    for failure in failures:
        print(failure)
    print(f"crowd: {CONNECTIONS} connections, the slowest answer took {longest:.2f} s, "
          f"{len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
