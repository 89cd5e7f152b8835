#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""corpus_requests.py - what browsers and agents send, for make_corpus.py."""

TOKEN = "0123456789abcdef0123456789abcdef"
HEADS = (
    "Host: 127.0.0.1:8080", "Host: localhost:8080", "Host: [::1]:8080", "Host: evil.example:8080",
    "Host: 127.0.0.1:8080\r\nHost: evil.example", "Host: node12:1",
    "Host: localhost:8080\r\nOrigin: http://localhost:8080\r\nSec-Fetch-Site: same-origin",
    "Host: localhost:8080\r\nOrigin: https://evil.example\r\nSec-Fetch-Site: cross-site",
    "Host: 127.0.0.1\r\nAccept-Encoding: br;q=1, gzip;q=0.5\r\nIf-None-Match: \"0123\"",
    "Host: 127.0.0.1\r\nContent-Length: 5", "Host: 127.0.0.1\r\nTransfer-Encoding: chunked",
)
SNAPSHOT_VIEWS = ("summary", "findings", "holders", "phases", "leaks", "oom", "segments",
                  "allocations", "timeline", "settings", "diff")
ASKED = (
    "job", "job?run=1", "offers", "explain", "explain/straggler", "view/steps?rank=0&top=5",
    "view/operators?group=name&sort=-calls&name=a*&format=csv", "view/diagnose?format=text",
    "view/what-if?fix=straggler", "view/kernels?device=0&stream=7&step=0-1", "compare/kernels",
    "tracks?file=0", "tiles?file=0&tracks=0,1,2&from=0&to=100000000&pixels=200",
    "strips?files=0,1&from=0&to=90000000&pixels=100",
    "curve?file=0&curve=memory&device=0&from=0&to=9999999&pixels=50", "slice?file=0&row=7",
    "gap?file=0&track=9&gap=0", "near?file=0&row=5&go=next", "search?q=gemm&files=0,1&limit=9",
    "words?rank=1&step=1&limit=4", "words?from=0&to=9000000&run=1",
    "range?files=0&from=0&to=50000000&limit=5", "path?from=0&to=90000000&pixels=100", "flags",
    "tracks?file=0&run=1", "tracks?file=1&run=1", "tracks?file=2&run=1",
    "tiles?file=0&tracks=0,1,2&from=0&to=100000000&pixels=200&color=module",
    "tiles?file=1&tracks=0,1&from=0&to=100000000&pixels=99&color=stream", "colors?color=phase",
    "tiles?file=1&run=1&tracks=0,1,2,3,4,5,6&from=-1&to=1000000&pixels=300",
    "tiles?file=0&run=1&tracks=0,1,2,3,4,5,6&from=0&to=300000&pixels=9000",
    "strips?run=1&files=0,1,2&from=0&to=1000000&pixels=30",
    "curve?file=1&run=1&curve=memory&from=0&to=999999&pixels=50",
    "curve?file=1&run=1&curve=reserved&device=0&from=0&to=999999&pixels=50",
    "curve?file=1&run=1&curve=queue&from=0&to=999999&pixels=50",
    "curve?file=0&curve=queue&from=0&to=9999999&pixels=50",
    "curve?file=0&curve=utilization&from=0&to=9999999&pixels=50",
    "curve?file=1&run=1&curve=counter&name=sm%20%26%20%3d%25&from=0&to=999999&pixels=50",
    *(f"slice?file=1&run=1&row={row}" for row in range(8)), "slice?file=0&row=300",
    "gap?file=1&run=1&track=4&gap=0", "gap?file=0&track=5&gap=3", "gap?file=0&track=6&gap=1",
    "near?file=0&track=6&gap=1&go=next", "near?file=0&track=5&gap=1&go=previous",
    "near?file=1&run=1&row=2&go=previous", "search?run=1&q=*&longest=1&kind=kernel",
    "search?q=a*m&step=0&offset=3", "range?run=1&from=0&to=999999",
    "range?rows=0-0-1-6&from=0&to=9000000&limit=3", "range?files=1&run=1&from=9&to=90000",
    "path?run=1&from=0&to=900000&pixels=100", "flags?run=1", "compare/steps",
    "compare/operators?top=3", "compare/diagnose", "view/diagnose?run=1&rank=1",
    *(f"memory?snapshot=0&device=0&group={group}&axis={axis}&from=-1&to=40000&pixels=90"
      for group in ("category", "line", "stack") for axis in ("event", "time")),
    *(f"memory?run=1&snapshot={number}&from=0&to=60&pixels=70" for number in range(3)),
    "memory?run=1&device=1&group=stack&axis=time&from=0&to=9000&pixels=9", "memory?device=host",
    *(f"bands?snapshot=0&device=0&axis={axis}&from=-1&to=60&pixels=50&most={most}"
      for axis in ("event", "time") for most in (3, 4000)),
    "bands?run=1&snapshot=0&device=1&group=line&from=0&to=9&pixels=9", "bands?run=1&snapshot=2",
    "event?snapshot=0&device=0&event=3", "event?run=1&snapshot=0&device=1&event=0",
    "event?device=host&event=1", "stacks?snapshot=0&device=0&line=model.py:14%20(forward)",
    "stacks?run=1&snapshot=1&line=x", "snapshot?snapshot=0", "snapshot?run=1&snapshot=3",
    "blocks", "blocks?snapshot=0&device=0&event=9", "blocks?run=1&snapshot=0&device=1&event=2",
    "blocks?run=1&snapshot=1", "blocks?run=1&snapshot=2", "blocks?device=host&event=0",
    "stack?snapshot=0&device=0&stack=1", "stack?run=1&snapshot=0&device=1&stack=3",
    "stack?run=1&snapshot=2&stack=0", "stack?stack=2&device=2", "view/snapshot",
    "view/snapshot?run=1&snapshot=2&format=text", "view/snapshot-diff?run=1&snapshot=1&before=0",
    "view/snapshot-diff?before=2&group=stack", "view/snapshot-holders?group=category&top=3",
    "view/snapshot-leaks?run=1&sort=-bytes&name=train*", "view/snapshot-oom?device=0&format=csv",
    *(f"view/snapshot-{name}?snapshot=0" for name in SNAPSHOT_VIEWS),
    *(f"view/snapshot-{name}?run=1&snapshot=2" for name in SNAPSHOT_VIEWS),
    "job?run=%31", "view/%2e%2e/%2e%2e/etc/passwd", "view/steps?rank=%", "?&=&=", "j%6fb",
)


def requests():
    """(name, bytes) of what browsers, scripts and attackers send."""
    for number, path in enumerate(("/", "/api/state", "/api/ask/job", "/../../etc/passwd",
                                   "http://evil.example/", "/api/ask/view/steps?rank=0")):
        for index, head in enumerate(HEADS):
            token = f"\r\nX-Stepscope-Token: {TOKEN}" if index % 2 else \
                f"\r\nAuthorization: Bearer {TOKEN}"
            text = f"GET {path} HTTP/1.1\r\n{head}{token}\r\n\r\n"
            yield f"head_{number}_{index}", text.encode()
    yield "post", b"POST /api/ask/job HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
    for number, request in enumerate(ASKED):
        yield f"ask_{number}", f"?{request}".encode()


def messages():
    """Lines of a client of the Model Context Protocol, of both eras."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    calls = (("verdict", {}), ("verdict", {"rank": 1, "offset": 300}),
             ("explain", {"topic": "straggler"}), ("view", {"view": "steps", "step": "1-2"}),
             ("view", {"view": "kernels", "top": 3, "format": "csv"}),
             ("timeline_words", {"from": 1, "to": 2.5}),
             ("timeline_words", {"step": 1, "limit": 3}), ("what_if", {"fix": "straggler"}),
             ("compare", {"other": "job"}), ("sql", {"query": "select 1"}),
             ("slice", {"output": "x.json", "step": "1"}))
    for number, (tool, arguments) in enumerate(calls):
        params = {"name": tool, "arguments": {"path": "job", **arguments}, "_meta": meta}
        yield f"call_{number}", [{"id": number, "method": "tools/call", "params": params}]
    version = {"protocolVersion": "2025-06-18"}
    yield "legacy", [{"id": "a", "method": "initialize", "params": version},
                     {"method": "notifications/initialized"}, {"id": 1, "method": "ping"},
                     {"id": 2, "method": "tools/list"},
                     {"id": 3, "method": "server/discover", "params": {"_meta": meta}}]
    params = {"name": "verdict", "arguments": {"path": "job"}}
    yield "cancel", [{"id": 9, "method": "tools/call", "params": params},
                     {"method": "notifications/cancelled", "params": {"requestId": 9}}]
