# SPDX-License-Identifier: Apache-2.0
"""served.py - `stepscope serve` while memory, files, threads and the network fail.

A server that starts goes on: after a single fault it gives the answers that it gives without one. A
request that the fault meets gets its answer, or a status with a sentence, or (where there is no
memory for a connection) none. A server that cannot start says why and ends.
"""
import errno
import gzip
import http.client
import json
import os
import re
import select
import signal
import subprocess
import time

import judge

ROUTES = ("/", "/api/state", "/api/ask/job", "/api/ask/tracks?file=0", "/api/ask/view/diagnose",
          "/api/ask/view/steps?rank=1", "/api/ask/search?q=mm", "/api/ask/slice?file=0&row=3",
          "/api/ask/tiles?file=0&tracks=0,1&from=0&to=3000000&pixels=100", "/api/ask/snapshot",
          "/api/ask/range?files=0&from=0&to=3000000")
LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})")
# a trace is read where its pack cannot be opened
SIZE = re.compile(rb'"bytes":\d+')
ENDING = re.compile(rb"(?<=rank\d)\.(stepscope|json(\.gz|\.zst)?)")
ANSWER_SECONDS = 60
# libmicrohttpd asks again and again for a list of connections while there is no memory for it
CPU_SECONDS = 120
START_SECONDS = 60
WAIT_SECONDS = 2


class Server:
    """One server; `link` is None when it ended before it printed one."""

    def __init__(self, program, words, fault=None):
        self.program = program
        program.log.write_text("")
        self.process = subprocess.Popen(
            [program.stepscope, *words], cwd=program.work, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**program.environment(fault), "STEPSCOPE_FAULT_SECONDS": str(CPU_SECONDS)})
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline().decode() if ready else "hang"
        self.is_hung = line == "hang"
        found = LINK.match(line)
        self.port, self.token = (int(found[1]), found[2]) if found else (None, None)

    def ask(self, path, seconds=ANSWER_SECONDS):
        """(status, body) of an answer; None: the connection ended without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", path, headers={"X-Stepscope-Token": self.token,
                                                     "Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            body = judge.TIMED.sub(b"T", plain(answer, answer.read()))
            return answer.status, ENDING.sub(b"", SIZE.sub(b"S", body))
        except TimeoutError:
            return "hang", b""
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def wait(self, seconds=START_SECONDS):
        """Until the files are read, or the server ends."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            answer = self.ask("/api/state", seconds)
            if answer and answer[0] == 200 and b'"ready"' in answer[1]:
                return True
            time.sleep(0.01)
        return False

    def stop(self):
        """Exit code and what was said on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            _, err = self.process.communicate(timeout=ANSWER_SECONDS)
            code = self.process.returncode
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, err = self.process.communicate()
            code = "hang"
        return judge.Result(code, b"", err, {}, self.program.log.read_text())


def plain(answer, body):
    if answer.headers.get("Content-Encoding") != "gzip":
        return body
    return gzip.decompress(body)


def reference(program, words):
    """The answers without a fault, and how many calls there were."""
    server = Server(program, words)
    if not server.port or not server.wait():
        raise SystemExit(f"torture: {' '.join(words)} does not start: {server.stop().err}")
    answers = {path: server.ask(path) for path in ROUTES}
    for path, (status, body) in answers.items():
        if status != 200:
            raise SystemExit(f"torture: {path} gives {status}: {body}")
    result = server.stop()
    if result.code != 0:
        raise SystemExit(f"torture: the server ends with {result.code}: {result.err}")
    return answers, result


def is_answer(path, answer, wanted, fault):
    """Whether one answer may be."""
    if answer is None or answer == wanted or path == "/api/state":
        return answer is None or answer[0] != "hang"
    status, body = answer
    if status in (None, "hang", 200):
        return False
    try:
        sentence = json.loads(body)["error"]
    except (ValueError, KeyError):
        return not body  # a head of the library itself, without memory for a sentence
    return fault.words() in sentence or status == 503


def judge_start(server, fault):
    """A server that gave no link, or does not get ready."""
    result = server.stop()
    lines = result.err.splitlines()
    if server.is_hung or result.code == "hang":
        return result, (None, "hang at the start")
    # a thread needs memory, too, and the C library does not say that it was that
    words = [fault.words()]
    if fault.family == "memory":
        words += ["cannot start a thread", os.strerror(errno.EAGAIN)]
    if result.code in (0, 1) and lines and lines[-1].startswith("stepscope serve: ") and \
            any(word in result.err for word in words):
        return result, (judge.FAILED, None)
    return result, (None, f"ends at the start with {result.code}: {result.err[:200]}")


def try_fault(program, words, answers, fault):
    """(result, verdict) of one server with one fault."""
    server = Server(program, words, fault)
    if not server.port:
        return judge_start(server, fault)
    # one that gets no memory for ever cannot say that it is ready
    if not server.wait(WAIT_SECONDS if fault.ever else START_SECONDS):
        if not fault.ever or server.process.poll() is not None:
            return judge_start(server, fault)
        result = server.stop()
        return result, ((judge.NOTED, None) if result.code in (0, 1) else
                        (None, f"ends with {result.code}: {result.err[:200]}"))
    wrong, is_changed = None, False
    for path in ROUTES:
        answer = server.ask(path, WAIT_SECONDS if fault.ever else ANSWER_SECONDS)
        # a server that gets no memory for ever cannot take the connection
        if fault.ever and answer and answer[0] == "hang":
            answer = None
        is_changed |= answer != answers[path] and path != "/api/state"
        if not is_answer(path, answer, answers[path], fault):
            wrong = f"{path} gives {str(answer)[:150]}"
        if answer is None and fault.ever:
            break
    # one fault must not change what comes after it
    for path in ROUTES[2:]:
        answer = server.ask(path) if not fault.ever else answers[path]
        if answer != answers[path] and program.log.read_text().startswith("hit"):
            again = server.ask(path)  # the fault may have met just this one
            if again != answers[path]:
                wrong = wrong or f"{path} does not recover: {str(again)[:150]}"
    result = server.stop()
    if result.code != 0 or "Sanitizer" in result.err or "Assertion" in result.err:
        return result, (None, f"ends with {result.code}: {result.err[:200]}")
    # a file that is missing changes answers, and is told at the start and by the route "job"
    if wrong and not judge.LEFT_OUT.search(result.err):
        return result, (None, wrong)
    if is_changed and fault.is_harmless() and fault.family != "thread":
        return result, (None, "another answer")
    return result, (judge.NOTED if is_changed else judge.SAME, None)
