#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mcp_protocol.py - `stepscope mcp` as a client sees it, without any library.

Usage: mcp_protocol.py STEPSCOPE. Both eras, all tools, parts of long answers, wrong and hostile
arguments, lines that are not JSON, cancelled calls, two clients, an end in the middle of a load,
the folder of --root with links that lead out of it, and slices, which are the only files that are
written.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from mcp_client import MODERN, Client

STEPSCOPE = sys.argv[1]
PATIENCE = 100  # seconds: what these wait for ends at once, or with the query, in days
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
TOOLS = ["verdict", "explain", "view", "timeline_words", "what_if", "compare", "sql", "slice"]


def simulate(folder, *words):
    subprocess.run([STEPSCOPE, "sim", "-o", folder, "--progress", "none", *map(str, words)],
                   check=True, capture_output=True)
    return folder


def test_modern(job):
    with Client(STEPSCOPE) as client:
        found = client.ask("server/discover")["result"]
        assert found["supportedVersions"][0] == "2026-07-28", found
        assert set(LEGACY) < set(found["supportedVersions"]), found
        assert found["capabilities"] == {"tools": {}} and found["instructions"], found
        assert found["resultType"] == "complete" and found["ttlMs"] > 0, found
        listed = client.ask("tools/list")["result"]
        assert (listed["resultType"], listed["cacheScope"]) == ("complete", "public"), listed.keys()
        assert listed == client.ask("tools/list")["result"], "the list is stable"
        names = [tool["name"] for tool in listed["tools"]]
        assert names == TOOLS, names
        for tool in listed["tools"]:
            schema, hints = tool["inputSchema"], tool["annotations"]
            assert "path" in schema["required"] and not schema["additionalProperties"], tool
            assert hints["readOnlyHint"] == (tool["name"] != "slice"), tool
            assert hints["openWorldHint"] is False and hints["destructiveHint"] is False, tool
        print("mcp: list of tools", len(json.dumps(listed)), "bytes")
        # methods of the old era, and a version that does not exist
        for method in ("ping", "initialize", "resources/list"):
            assert client.ask(method)["error"]["code"] == -32601, method
        client.meta = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
        error = client.ask("tools/list")["error"]
        assert error["code"] == -32022 and "2026-07-28" in error["data"]["supported"], error
        client.meta = MODERN
        assert client.ask("tools/call", name="nothing", arguments={})["error"]["code"] == -32602
        assert "saves" in client.text("verdict", path=str(job))


def test_legacy(job):
    for version in (*LEGACY, "1999-01-01"):
        with Client(STEPSCOPE, meta=None) as client:
            found = client.ask("initialize", protocolVersion=version, capabilities={},
                               clientInfo={"name": "test", "version": "1"})["result"]
            assert found["protocolVersion"] == (version if version in LEGACY else LEGACY[0]), found
            assert found["serverInfo"]["name"] == "stepscope", found
            client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
            assert client.ask("ping")["result"] == {}
            listed = client.ask("tools/list")["result"]["tools"]
            assert [tool["name"] for tool in listed] == TOOLS, listed
    with Client(STEPSCOPE, meta=None) as client:
        # Claude Code: discover, then initialize
        assert client.ask("server/discover", _meta=MODERN)["result"]["supportedVersions"]
        assert client.ask("initialize", protocolVersion=LEGACY[0])["result"]
        assert "saves" in client.text("verdict", path=str(job))


def test_tools(job, other, folder):
    path = str(job)
    with Client(STEPSCOPE, "--output", folder) as client:
        text = client.text("verdict", path=path)
        assert "saves" in text, text
        assert "Rules: 1 input-stall" in text, text
        rule = "input-stall"
        text = client.text("explain", path=path, topic=rule)
        assert "DataLoader" in text and "# input-stall" in text.lower(), text[:500]
        assert "kernel" in client.text("explain", path=path, topic="kernel launch").lower()
        assert client.text("view", path=path, view="steps", rank=0).count("ProfilerStep") >= 3
        text = client.text("view", path=path, view="steps", format="csv", rank="0")
        assert text.startswith("rank,"), text
        text = client.text("timeline_words", path=path, rank=1, step="1")
        assert "Rank 1" in text and "busy" in text and "On the host" in text, text
        text = client.text("timeline_words", path=path, **{"from": 10, "to": 20.5})
        assert "(10.5 ms)" in text, text
        assert "what-if" not in client.text("what_if", path=path, fix=rule).split("\n")[0]
        assert "%" in client.text("compare", path=path, other=str(other))
        text, is_error = client.call("sql", path=path, query="select count(*) as n from slices")
        assert is_error and "DuckDB" in text or text.startswith("n\n"), text
        text = client.text("slice", path=path, rank=0, step=1, output="small.json.gz")
        small = folder / "small.json.gz"
        assert small.exists() and str(small) in text, text
        whole = client.text("view", path=path, view="kernels", rank=0, step=1)
        part = client.text("view", path=str(small), view="kernels", rank=0, step=0)
        assert [line.split()[:4] for line in whole.splitlines()[3:8]] == \
            [line.split()[:4] for line in part.splitlines()[3:8]], (whole, part)
        client.refusal("slice", path=path, rank=0, step=1, output="small.json.gz")
        text = client.text("slice", path=path, rank=0, output="rest.json", **{"from": 5})
        assert json.loads((folder / "rest.json").read_text())["traceEvents"], text
        (folder / "rest.json").unlink()
        for name in ("../x.json", "/tmp/x.json", ".x.json", "x.txt", "a/b.json", "",
                     "x" * 300 + ".json"):
            client.refusal("slice", path=path, rank=0, step=1, output=name)
        assert sorted(file.name for file in folder.iterdir()) == ["small.json.gz"]
    with Client(STEPSCOPE) as client:
        text = client.refusal("slice", path=path, rank=0, step=1, output="small2.json")
        assert "--output" in text, text


def test_parts(job):
    """A long answer comes in parts that join to the whole."""
    with Client(STEPSCOPE) as client:
        parts, offset = [], 0
        while True:
            text = client.text("view", path=str(job), view="kernels", format="csv", top=100,
                               offset=offset)
            body, _, more = text.partition("\n[")
            parts.append(body)
            if "offset=" not in more:
                break
            assert int(more.split("offset=")[1].split(".")[0]) > offset, more
            offset = int(more.split("offset=")[1].split(".")[0])
        whole = subprocess.run([STEPSCOPE, "kernels", job, "--format", "csv", "--top", "100"],
                               capture_output=True, text=True, check=True).stdout
        joined = "".join(parts)
        assert len(parts) > 1 and joined == whole, (len(parts), len(joined), len(whole))
        assert "no more" in client.text("view", path=str(job), view="kernels", offset=10 ** 9)


def test_wrong(job):
    path = str(job)
    with Client(STEPSCOPE) as client:
        for tool, arguments, said in (
                ("verdict", {}, "path"),
                ("verdict", {"path": ""}, "path"),
                ("verdict", {"path": "-"}, "-"),
                ("verdict", {"path": "/no/such/folder"}, "/no/such/folder"),
                ("verdict", {"path": path, "color": "red"}, "no argument 'color'"),
                ("verdict", {"path": [path]}, "'path'"),
                ("verdict", {"path": path, "rank": "x"}, "rank"),
                ("verdict", {"path": path, "rank": 99}, "99"),
                ("verdict", {"path": path, "rank": -1}, "rank"),
                ("view", {"path": path}, "view"),
                ("view", {"path": path, "view": "kernel"}, "kernels"),
                ("view", {"path": path, "view": "../kernels"}, ""),
                ("view", {"path": path, "view": "kernels?rank=0"}, ""),
                ("view", {"path": path, "view": "steps", "step": "99"}, "99"),
                ("view", {"path": path, "view": "kernels", "group": "colour"}, "group"),
                ("view", {"path": path, "view": "kernels", "top": 1e300}, "top"),
                ("explain", {"path": path, "topic": "nothing-at-all"}, ""),
                ("what_if", {"path": path, "fix": "nothing-at-all"}, "nothing-at-all"),
                ("compare", {"path": path, "other": path}, "same"),
                ("timeline_words", {"path": path, "from": 20, "to": 10}, "to"),
                ("sql", {"path": path}, "query")):
            text = client.refusal(tool, **arguments)
            assert said in text and len(text) < 1500, (tool, arguments, text)
        for line in ("", "   ", "{", "[]", "null", "42", '"x"', "{}", '{"jsonrpc":"2.0","id":1}',
                     '{"id":{},"method":"ping"}', '{"id":[1],"method":"ping"}',
                     '{"id":NaN,"method":"ping"}', '{"id":1,"method":5}',
                     '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
                     '{"jsonrpc":"2.0","id":1,"method":"ping"} x', "\x00\x01", "{" * 5000,
                     '{"a":' * 3000, "x" * 2_000_000,
                     '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}',
                     '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["view"]}}'):
            client.send(line)
        marker = {"jsonrpc": "2.0", "id": "end", "method": "ping"}
        client.send(json.dumps(marker))
        answers = [client.read()]
        while answers[-1].get("id") != "end":
            answers.append(client.read())
        assert all("error" in answer for answer in answers[:-1]), answers
        assert len(answers) > 14, len(answers)


def test_random(job):
    """Lines made of pieces of valid ones: always a valid answer, never an end."""
    source = random.Random(7)
    line = json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
                       "params": {"name": "view", "arguments": {"path": str(job), "view": "steps"},
                                  "_meta": MODERN}})
    with Client(STEPSCOPE) as client:
        for _ in range(300):
            text = list(line)
            for _ in range(source.randrange(1, 6)):
                place = source.randrange(len(text))
                pieces = source.choices('{}[]",:\\u0aé1eE-', k=source.randrange(4))
                text[place:place + source.randrange(4)] = pieces
            client.send("".join(text).replace("\n", " "))
        client.send('{"jsonrpc":"2.0","id":"end","method":"ping"}')
        while client.read().get("id") != "end":
            pass


def test_cancel(job):
    with Client(STEPSCOPE) as client:
        for number in range(3):
            client.send(json.dumps({"jsonrpc": "2.0", "id": f"call{number}", "method": "tools/call",
                                    "params": {"name": "verdict", "arguments": {"path": str(job)},
                                               "_meta": MODERN}}))
        for number in range(3):
            client.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                                    "params": {"requestId": f"call{number}"}}))
        # nothing is sent after a call was cancelled; the same call works afterwards
        client.send('{"jsonrpc":"2.0","id":"end","method":"ping"}')
        answers = [client.read()["id"]]
        while answers[-1] != "end":
            answers.append(client.read()["id"])
        assert len(set(answers)) == len(answers), answers
        assert "saves" in client.text("verdict", path=str(job))


def test_end(job):
    """The input ends while a call is at work: the server ends soon, without an answer or a word."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "verdict", "arguments": {"path": str(job)}, "_meta": MODERN}}
    begin = time.monotonic()
    with Client(STEPSCOPE) as client:
        client.send(json.dumps(call))
    assert time.monotonic() - begin < PATIENCE, "the end comes soon"
    # nobody reads
    client = Client(STEPSCOPE)
    client.process.stdout.close()
    client.send(json.dumps(call))
    time.sleep(0.2)
    client.process.stdin.close()
    assert client.process.wait(timeout=30) == 0
    # two at the same time
    with Client(STEPSCOPE) as one, Client(STEPSCOPE, meta=None) as two:
        texts = [client.text("verdict", path=str(job)) for client in (one, two)]
        assert texts[0].split("A step")[1] == texts[1].split("A step")[1], texts


def test_root(job, folder):
    outside, root = folder / "outside", folder / "root"
    root.mkdir()
    trace = sorted(job.glob("*.json*"))[0]
    outside.mkdir()
    (outside / trace.name).write_bytes(trace.read_bytes())
    (root / trace.name).write_bytes(trace.read_bytes())
    (root / "sub").mkdir()
    os.symlink(outside / trace.name, root / "sub" / trace.name)
    os.symlink(outside, root / "link")
    with Client(STEPSCOPE, "--root", root) as client:
        assert "step" in client.text("verdict", path=str(root / trace.name))
        for path in (outside / trace.name, root / ".." / "outside" / trace.name, root / "sub",
                     root / "link", root / "sub" / trace.name, "/etc/passwd", "/no/such/file", "/"):
            text = client.refusal("verdict", path=str(path))
            assert "--root" in text and "No such" not in text, text
        text = client.refusal("compare", path=str(root / trace.name),
                              other=str(outside / trace.name))
        assert "--root" in text, text


def test_root_sources(job, folder):
    """A damaged pack leads to the file beside it, a digest names its trace: neither leads out."""
    outside, root = folder / "traces", folder / "packs"
    outside.mkdir()
    root.mkdir()
    trace = sorted(job.glob("*.json*"))[0]
    whole = outside / trace.name
    whole.write_bytes(trace.read_bytes())
    subprocess.run([STEPSCOPE, "pack", whole, "-o", root], check=True, capture_output=True)
    subprocess.run([STEPSCOPE, "digest", outside, "-o", root / "digests"], check=True,
                   capture_output=True)
    [pack] = root.glob("*.stepscope")
    os.symlink(whole, root / trace.name)
    with Client(STEPSCOPE, "--root", root) as client:
        assert "step" in client.text("verdict", path=str(root / "digests"))
        assert "step" in client.text("verdict", path=str(pack))
    good = pack.read_bytes()
    # most columns are unpacked later, when they are first needed
    for place in range(4096, len(good), len(good) // 12):
        pack.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1:])
        with Client(STEPSCOPE, "--root", root) as client:
            text, is_error = client.call("view", path=str(pack), view="operators")
            assert is_error and ("--root" in text or "damaged" in text), (place, text)


def test_long_lines(job):
    """What follows in a line that is too long is no message of its own."""
    del job
    with Client(STEPSCOPE, meta=None) as client:
        for pad in (1 << 20, (1 << 20) + 1, (1 << 20) + 2, 3_000_000):
            client.send("x" * pad + '{"jsonrpc":"2.0","id":"tail","method":"ping"}')
            assert client.read()["error"]["code"] in (-32600, -32700)
            assert client.ask("ping")["result"] == {}


def test_queries(job):
    """A query ends when nobody waits for it."""
    query = {"jsonrpc": "2.0", "id": "long", "method": "tools/call",
             "params": {"name": "sql", "_meta": MODERN, "arguments": {
                 "path": str(job), "query": "select sum(a.range * b.range) from "
                                            "range(10000000) a, range(10000000) b"}}}
    with Client(STEPSCOPE) as client:
        if "DuckDB" in client.call("sql", path=str(job), query="select 1 as n")[0]:
            print("mcp: no DuckDB, queries are not tried")
            return
        client.send(json.dumps(query))
        time.sleep(1)
        begin = time.monotonic()
        client.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                                "params": {"requestId": "long"}}))
        assert "step" in client.text("verdict", path=str(job))
        assert time.monotonic() - begin < PATIENCE, "cancelled"
        client.send(json.dumps(query))
        time.sleep(1)
        begin = time.monotonic()
    assert time.monotonic() - begin < PATIENCE, "the end of the input"


def test_changed(job, folder):
    """A file that changes is read again."""
    trace = folder / "one.json"
    first, second = sorted(job.glob("*.json*"))[:2]
    with Client(STEPSCOPE) as client:
        trace.write_bytes(first.read_bytes())
        assert "Rank 0" in client.text("timeline_words", path=str(trace))
        trace.write_bytes(second.read_bytes())
        assert "Rank 1" in client.text("timeline_words", path=str(trace))


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        job = simulate(folder / "job", "--preset", "ddp8-slow", "--ranks", 2, "--steps", 4)
        other = simulate(folder / "other", "--preset", "ddp8-slow", "--ranks", 2, "--steps", 4,
                         "--without", "input-in-process")
        written = folder / "written"
        written.mkdir()
        test_modern(job)
        test_legacy(job)
        test_tools(job, other, written)
        test_parts(job)
        test_wrong(job)
        test_random(job)
        test_cancel(job)
        test_end(job)
        test_root(job, folder)
        test_root_sources(job, folder)
        test_long_lines(job)
        test_queries(job)
        test_changed(job, folder)


main()
