# SPDX-License-Identifier: Apache-2.0
"""mcp_client.py - starts `stepscope mcp` and calls its tools, for the tests beside it."""
import json
import subprocess

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {}}
# text of an answer, with the line that says how to go on
ANSWER_MAX = 8192


class Client:
    """One server. Requests are of 2026-07-28 unless `meta` is None."""

    def __init__(self, stepscope, *options, meta=MODERN):
        self.process = subprocess.Popen([stepscope, "mcp", *map(str, options)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.meta, self.count, self.calls, self.bytes = meta, 0, 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        told = self.process.stderr.read()
        assert code == 0 and "runtime error" not in told, (code, told)

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def ask(self, method, **params):
        """The answer to a request: a result, or an error."""
        self.count += 1
        if self.meta:
            params["_meta"] = self.meta
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method,
                              "params": params}))
        answer = self.read()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.count, answer
        return answer

    def call(self, tool, **arguments):
        """The text of a tool's answer, and whether it is an error; calls again while it loads."""
        while True:
            result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
            [part] = result["content"]
            size = len(part["text"].encode())
            assert part["type"] == "text" and size <= ANSWER_MAX, size
            assert not self.meta or result["resultType"] == "complete", result
            self.calls += 1
            self.bytes += size
            if not part["text"].startswith("state: loading"):
                return part["text"], result["isError"]

    def text(self, tool, **arguments):
        text, is_error = self.call(tool, **arguments)
        assert not is_error, text
        return text

    def refusal(self, tool, **arguments):
        text, is_error = self.call(tool, **arguments)
        assert is_error and text.strip(), text
        return text
