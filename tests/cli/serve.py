#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stepscope serve` as browsers, scripts and attackers meet it.

Usage: serve.py STEPSCOPE. A small simulated job is served on a free port. Answers are those of
`stepscope ask`; what comes without the token, under another name, from another site, or too long is
refused in a sentence; many connections, slow ones and ones that break off do no harm; Ctrl-C ends
it. The standard library is all that is needed.
"""
import concurrent.futures
import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
STEPSCOPE = sys.argv[1]
# seconds; a sanitizer on a busy machine is slow
PATIENCE = 120
CONNECTIONS = 200


class Wrong(Exception):
    """A rule does not hold."""


def check(holds, *what):
    if not holds:
        raise Wrong(" ".join(str(word) for word in what)[:2000])


class Server:
    """One `stepscope serve`; ends with the block, and must end well."""

    def __init__(self, *words, stdin=None):
        self.process = subprocess.Popen([STEPSCOPE, "serve", *map(str, words)], text=True,
                                        stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.link = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://([^/]+):(\d+)/#token=([0-9a-f]{32})", self.link)
        if not found:
            raise Wrong("no link:", self.link, self.process.communicate()[1])
        self.host, self.port, self.token = found[1], int(found[2]), found[3]
        self.words = [self.link]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            code, errors = self.stop(signal.SIGINT)
            if not kind:
                check(code == FINE, "exit code", code, errors)
        self.process.stdout.close()
        self.process.stderr.close()

    def stop(self, number):
        """Exit code and what was said on stderr."""
        self.process.send_signal(number)
        try:
            _, errors = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Wrong("does not end after a signal") from None
        check("runtime error" not in errors and "Sanitizer" not in errors, errors)
        return self.process.returncode, errors

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path, method="GET", token=True, connection=None, body=None, **lines):
        """Status, head and body of one answer; x_y=... is the line X-Y."""
        lines = {name.replace("_", "-"): value for name, value in lines.items()}
        if token:
            lines["X-Stepscope-Token"] = self.token if token is True else token
        if path == "/":
            lines.setdefault("Accept-Encoding", "gzip")
        own = connection or self.connect()
        own.request(method, path, body=body, headers=lines)
        answer = own.getresponse()
        data = answer.read()
        if not connection:
            own.close()
        return answer.status, answer.headers, data

    def wait(self):
        """Until the files are read."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status, _, body = self.ask("/api/state")
            check(status == 200, status, body)
            state = json.loads(body)
            if state["state"] == "ready":
                return state
            check(state["state"] == "loading" and "done_bytes" in state, state)
            time.sleep(0.05)
        raise Wrong("does not get ready")

    def raw(self, data, wait=True):
        """What comes back for these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            parts = []
            try:
                line.sendall(data)
                while wait and (part := line.recv(65536)):
                    parts.append(part)
            except ConnectionError:
                pass
            return b"".join(parts)


def run(*words):
    return subprocess.run([STEPSCOPE, *map(str, words)], capture_output=True, check=False,
                          timeout=PATIENCE)


def refused(server, status, path, **how):
    found, head, body = server.ask(path, **how)
    check(found == status, path, how, "gives", found, body)
    check(head["Content-Type"] == "application/json", head)
    if how.get("method") != "HEAD":
        check(json.loads(body)["error"], body)


def check_answers(server, job):
    requests = ["job", "offers", "explain", "explain/straggler", "view/steps?rank=0&top=2",
                "view/operators?rank=1&top=3&format=csv", "view/diagnose",
                "view/diagnose?format=text", "view/what-if?fix=straggler",
                "view/kernels?name=*gemm*&top=5"]
    for request in requests:
        status, head, body = server.ask("/api/ask/" + request)
        check(status == 200, request, status, body)
        asked = run("ask", request, job)
        check(asked.returncode == FINE, request, asked.stderr)
        # the time that the load took differs, and the routes that only a server has
        seconds = (rb'"seconds":[0-9.]+|B in [0-9.]+ s|'
                   rb',\n {"name":"(?:sql(?:-\w+)?|live)","summary".*?}')
        same = re.sub(seconds, b"", body) == re.sub(seconds, b"", asked.stdout)
        check(same, request, "is not what 'ask' says")
        check(head["Cache-Control"] == "no-store", head)
    for request, status in (("view/nothing", 400), ("view/steps?nothing=1", 400),
                            ("view/steps?rank=77", 400), ("view/steps?rank=%", 400),
                            ("job?run=1", 400), ("explain/nothing", 400), ("nothing", 404),
                            ("job/more", 404), ("view/steps?name=%ff%fe%22&sort=%ff", 400)):
        refused(server, status, "/api/ask/" + request)


def check_heads(server):
    status, head, body = server.ask("/", token=False, Accept_Encoding="gzip")
    check(status == 200 and head["Content-Type"].startswith("text/html"), status, head)
    policy = head["Content-Security-Policy"]
    for part in ("default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'",
                 "base-uri 'none'", "form-action 'none'"):
        check(part in policy, part, policy)
    check("unsafe-inline" not in policy and "'unsafe-eval'" not in policy, policy)
    page = gzip.decompress(body) if head["Content-Encoding"] == "gzip" else body
    check(b"<title>" in page and server.token.encode() not in page, page[:200])
    if head["ETag"]:
        again = server.ask("/", token=False, Accept_Encoding="gzip", If_None_Match=head["ETag"])
        check(again[0] == 304 and not again[2], again)
        refused(server, 406, "/", token=False, Accept_Encoding="br")
    for path in ("/", "/api/state", "/api/ask/job", "/nothing"):
        head = server.ask(path)[1]
        for name, value in (("X-Content-Type-Options", "nosniff"),
                            ("Referrer-Policy", "no-referrer"),
                            ("Cross-Origin-Opener-Policy", "same-origin-allow-popups"),
                            ("Cross-Origin-Resource-Policy", "same-origin")):
            check(head[name] == value, path, name, head[name])
        check("Access-Control-Allow-Origin" not in head, path, head)
        plain, bare = server.ask(path), server.ask(path, method="HEAD")
        check(bare[0] == plain[0] and bare[2] == b"", path, bare)
        check(bare[1]["Content-Length"] == plain[1]["Content-Length"], path, bare[1])
    plain = server.ask("/api/ask/offers")
    packed = server.ask("/api/ask/offers", Accept_Encoding="gzip")
    check(len(plain[2]) > 65536 and packed[1]["Content-Encoding"] == "gzip", packed[1])
    check(gzip.decompress(packed[2]) == plain[2] and not plain[1]["Content-Encoding"], "differ")


def check_doors(server):
    own = f"127.0.0.1:{server.port}"
    for token in (False, "0" * 32, server.token[:-1], server.token + "0", " ", "*"):
        for path in ("/api/state", "/api/ask/job", f"/api/ask/job?token={server.token}"):
            refused(server, 403, path, token=token)
    check(server.ask("/api/state", token=False, Authorization=f"Bearer {server.token}")[0] == 200,
          "the token as a bearer's")
    refused(server, 403, "/api/state", token=False, Authorization=f"Basic {server.token}")
    for name in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example",
                 f"127.0.0.2:{server.port}", "[::2]", f"{own}@evil.example", ""):
        for path in ("/", "/api/state", "/api/ask/job"):
            refused(server, 403, path, Host=name)
    for name in (own, f"localhost:{server.port}", f"[::1]:{server.port}", "localhost:9999"):
        check(server.ask("/api/state", Host=name)[0] == 200, name)
        check(server.ask("/api/state", Host=name, Origin=f"http://{name}")[0] == 200, name)
    for origin in ("http://evil.example", f"https://{own}", "null", "http://127.0.0.1:1",
                   f"http://localhost:{server.port}", f"http://{own}.evil.example"):
        refused(server, 403, "/api/state", Origin=origin)
    for site in ("cross-site", "same-site", "other"):
        refused(server, 403, "/api/state", Sec_Fetch_Site=site)
    check(server.ask("/", token=False, Sec_Fetch_Site="cross-site",
                     Sec_Fetch_Mode="navigate")[0] == 200, "a link to the page")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        refused(server, 405, "/api/ask/job", method=method)
        refused(server, 405, "/api/ask/job", method=method, body=b"x" * 100)
    refused(server, 413, "/api/ask/job", body=b"x" * 100000)


def check_paths(server):
    for path in ("/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc",
                 "/%252e%252e/etc/passwd", "/..\\..\\etc\\passwd", "//etc/passwd", "/etc/passwd",
                 "/./etc/passwd", "/%c0%ae%c0%ae/etc/passwd", "/api/ask/../../etc/passwd",
                 "/api/ask/..%2f..%2fetc%2fpasswd", "/api/../etc/passwd", "/api/ask//job",
                 "/api/ask/j%6fb", "/index.html", "/favicon.ico", "/%00", "/api/state/", "/api"):
        refused(server, 404, path)
    for path in ("view/../../../etc/passwd", "view/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                 "explain/../../etc/passwd", "explain/%2fetc%2fpasswd", "view/steps%00.html"):
        status, _, body = server.ask("/api/ask/" + path)
        check(status in (400, 404) and b"root:" not in body, path, status, body)
    for line in (b"GET http://evil.example/ HTTP/1.1", b"GET * HTTP/1.1", b"GET etc HTTP/1.1"):
        found = server.raw(line + b"\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        check(found.startswith(b"HTTP/1.1 400"), line, found[:300])


def check_sizes(server):
    own = f"Host: 127.0.0.1\r\nX-Stepscope-Token: {server.token}\r\n".encode()
    for target, status in ((16300, b"404"), (20000, b"414"), (200000, b"414"), (5000000, b"414")):
        # what does not fit into the library's own buffer may also end without a word
        found = server.raw(b"GET /" + b"a" * target + b" HTTP/1.1\r\n" + own +
                           b"Connection: close\r\n\r\n")
        check(found[9:12] == status or (target > 60000 and not found), target, found[:300])
    for length, status in ((10000, b"200"), (20000, b"431"), (3000000, b"431")):
        found = server.raw(b"GET /api/state HTTP/1.1\r\n" + own + b"X-Long: " + b"a" * length +
                           b"\r\nConnection: close\r\n\r\n")
        check(found[9:12] == status or (length > 60000 and not found), length, found[:300])
    lines = b"".join(b"X-%d: 1\r\n" % number for number in range(3000))
    found = server.raw(b"GET / HTTP/1.1\r\n" + own + lines + b"Connection: close\r\n\r\n")
    check(not found or found[9:12] == b"431", found[:300])
    own = b"Host: localhost\r\n"
    for text in (b"", b"\r\n", b"\0" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                 b"\xff" * 5000, b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n",
                 b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                 b"GET / HTTP/1.1\r\nContent-Length: -1\r\n" + own + b"\r\n",
                 b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + own + b"\r\nffffffff\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
            line.sendall(text)
            line.shutdown(socket.SHUT_WR)
            try:
                found = line.recv(65536)
            except ConnectionError:
                found = b""
            check(not found or found[9:10] in b"45" and found[9:12] != b"500", text, found)
    check(server.ask("/api/state")[0] == 200, "lives after bad requests")


def check_many(server):
    # one connection serves several requests
    connection = server.connect()
    for _ in range(20):
        check(server.ask("/api/ask/job", connection=connection)[0] == 200, "kept alive")
        line = connection.sock
        refused(server, 404, "/nothing", connection=connection)
        check(connection.sock is line, "a refusal ends the connection")
    connection.close()
    # held open, and asked all at once
    held = [server.connect() for _ in range(CONNECTIONS)]
    for connection in held:
        connection.connect()
    check(server.ask("/api/state")[0] == 200, "one more beside", CONNECTIONS)
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        paths = ["/api/ask/job", "/api/ask/view/steps", "/api/state", "/", "/nothing"]
        jobs = [pool.submit(server.ask, paths[i % len(paths)], connection=connection)
                for i, connection in enumerate(held)]
        codes = [job.result()[0] for job in jobs]
    check(codes == [404 if i % len(paths) == 4 else 200 for i in range(CONNECTIONS)], codes)
    for connection in held:
        connection.close()
    # far more than it takes: they wait or are refused, and it comes back at once
    crowd = []
    for _ in range(400):
        try:
            crowd.append(socket.create_connection(("127.0.0.1", server.port), timeout=5))
        except OSError:
            break
    for line in crowd:
        line.close()
    begin = time.monotonic()
    while True:
        try:
            check(server.ask("/api/state")[0] == 200, "lives after a crowd")
            break
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
        check(time.monotonic() - begin < PATIENCE, "does not come back after a crowd")
    # the library could sleep until its timeout of 30 s
    check(time.monotonic() - begin < 20, "comes back late after a crowd")


def check_broken_off(server):
    """Clients that go away while their answer is made or sent."""
    lines = f"Host: 127.0.0.1\r\nX-Stepscope-Token: {server.token}\r\n\r\n".encode()
    for request in ("view/diagnose", "view/operators", "view/what-if", "offers", "job") * 8:
        server.raw(b"GET /api/ask/" + request.encode() + b" HTTP/1.1\r\n" + lines, wait=False)
    # one that never reads its answers
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.setblocking(False)
        try:
            for _ in range(2000):
                line.send(b"GET /api/ask/offers HTTP/1.1\r\n" + lines)
        except BlockingIOError:
            pass
        check(server.ask("/api/ask/job")[0] == 200, "lives beside one who does not read")
    check(server.ask("/api/ask/job")[0] == 200, "lives after answers that nobody took")


def check_slow(server):
    """One byte now and then: others are served meanwhile, and it ends before a minute is over."""
    begin = time.monotonic()
    slow = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            for _ in range(100)]
    text = b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: " + b"a" * 1000
    ended, at = set(), 0
    while len(ended) < len(slow) and time.monotonic() - begin < 60 and at < len(text):
        for line in slow:
            if line not in ended:
                try:
                    line.sendall(text[at:at + 1])
                except OSError:
                    ended.add(line)
        check(server.ask("/api/state")[0] == 200, "served beside slow ones")
        at += 1
        time.sleep(0.5)
    for line in slow:
        line.close()
    check(len(ended) == len(slow), len(slow) - len(ended), "slow connections were not ended")


def check_ends(job, folder):
    with Server(job, "--progress", "none") as server:
        server.wait()
        again = run("serve", job, "--port", server.port)
        check(again.returncode == FAILED and b"is in use" in again.stderr, again.stderr)
        code, errors = server.stop(signal.SIGTERM)
        check(code == FINE and not errors, code, errors)
    # Ctrl-C while requests are on their way, and connections open
    with Server(job) as server:
        server.wait()
        lines = f"Host: 127.0.0.1\r\nX-Stepscope-Token: {server.token}\r\n\r\n".encode()
        open_lines = []
        for request in (b"view/diagnose", b"view/what-if", b"job", b"offers") * 5:
            line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            line.sendall(b"GET /api/ask/" + request + b" HTTP/1.1\r\n" + lines)
            open_lines.append(line)
        code, errors = server.stop(signal.SIGINT)
        check(code == FINE and not errors, code, errors)
        for line in open_lines:
            line.close()
    # while a load goes on that never ends: its file is a pipe that nobody closes
    reading, writing = os.pipe()
    with subprocess.Popen([STEPSCOPE, "serve", "-", job], stdin=reading, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        os.close(reading)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)  # else a busy machine may read all of it before it sees the signal
        os.write(writing, b'{"traceEvents":[\n' + b'{"ph":"X","ts":1,"dur":1,"name":"a"},\n' * 1000)
        os.close(writing)
        check(process.wait(PATIENCE) == INTERRUPTED, process.returncode, process.stderr.read())
    for words, code, sentence in (
            ([], USAGE, b"expected a trace file or a folder"),
            ([folder / "nothing"], FAILED, b"nothing"),
            ([job, "--port", "65536"], USAGE, b"--port"), ([job, "--port", "x"], USAGE, b"--port"),
            ([job, "--host", "evil.example"], USAGE, b"is not an address of this machine"),
            ([job, "--host", "192.0.2.1"], FAILED, b"cannot listen"),
            ([job, "--compare", folder / "nothing"], FAILED, b"nothing")):
        done = run("serve", *words)
        check(done.returncode == code and sentence in done.stderr, words, done)
        check(done.stdout == b"", "a link to what ends at once", words, done)


def pour(feed, stop):
    """Writes events until it shall stop, then the end of the document."""
    event = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":%d,"dur":1},\n'
    count = 0
    with os.fdopen(feed, "wb", buffering=0) as file:
        file.write(b'{"traceEvents":[\n')
        while not stop:
            file.write(b"".join(event % (10 * (count + i)) for i in range(1000)))
            count += 1000
            time.sleep(0.005)
        file.write(event[:-2] % (10 * count) + b"]}")


def check_loading(job):
    """The page and the state are there while the files are read."""
    reading, writing = os.pipe()
    stop = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done = pool.submit(pour, writing, stop)
        try:
            with Server("-", "--compare", job, stdin=reading) as server:
                state = json.loads(server.ask("/api/state")[2])
                check(state["state"] == "loading" and state["runs"] == 2, state)
                check(server.ask("/", token=False)[0] == 200, "the page while it loads")
                refused(server, 503, "/api/ask/job")
                stop.append(True)
                check(server.wait()["runs"] == 2, "two runs")
                done.result()
                for number in (0, 1):
                    found = json.loads(server.ask(f"/api/ask/job?run={number}")[2])
                    check(found["runs"] == 2 and len(found["files"]) == (1, 2)[number], found)
        finally:
            stop.append(True)
            os.close(reading)


def check_wide(job):
    with Server(job, "--host", "0.0.0.0") as server:
        server.wait()
        check(server.ask("/api/state", Host="192.0.2.9")[0] == 200, "an address")
        refused(server, 403, "/api/state", Host="evil.example")
        code, errors = server.stop(signal.SIGINT)
        check(code == FINE and "not encrypted" in errors, errors)


def check_digests(job, folder):
    """The trace of a digest is opened as long as it is the one that the digest was made of."""
    traces, digests = folder / "traces", folder / "digests"
    shutil.copytree(job, traces)
    made = run("digest", traces, "-o", digests)
    check(made.returncode == FINE, made.stderr)
    first = sorted(traces.iterdir())[0]
    with Server(digests) as server:
        server.wait()
        first.write_bytes(first.read_bytes() + b" ")
        problem = json.loads(server.ask(f"/api/ask/open?id={1:016x}")[2])["error"]
        check(problem is None, problem)
        problem = json.loads(server.ask(f"/api/ask/open?id={0:016x}")[2])["error"]
        check(problem and "was changed since" in problem, problem)


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4096), hard), hard))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        job = folder / "job"
        made = run("sim", "--layout", "ddp", "--device", "h100", "--ranks", 2, "--steps", 3,
                   "--cause", "straggler", "--set", "layers=2", "-o", job)
        check(made.returncode == FINE, made.stderr)
        if b"has no server" in run("serve", job, "--host", "192.0.2.1").stderr:
            print("serve: not built in")
            return 77
        with Server(job) as server:
            server.wait()
            check_answers(server, job)
            check_heads(server)
            check_doors(server)
            check_paths(server)
            check_sizes(server)
            check_many(server)
            check_broken_off(server)
            check_slow(server)
        check_loading(job)
        check_ends(job, folder)
        check_wide(job)
        check_digests(job, folder)
    print("serve: answers, doors, paths, sizes, connections and ends are as they should be")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"serve: {wrong}")
        sys.exit(1)
