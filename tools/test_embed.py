#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_embed.py - what embed.py makes of pages: the policy, the bytes, refusals."""

import base64
import gzip
import hashlib
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EMBED = Path(__file__).resolve().parent / "embed.py"
PAGE = """<!doctype html><html><head><title>a?? "b" \\</title>
<style>p{content:"<script>"}</style><style>q{}</style>
<script type="application/json">{"no":"script"}</script></head>
<body><p style>&amp;</p><img src="data:image/gif;base64,R0"><a href="https://example.org">x</a>
<script type="module">if (1 < 2 && "<style>") document.title = "\u00e4&amp;";
</script></body></html>
"""


def embed(page, raw=None):
    """Exit code, stderr, policy and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "page.html", Path(folder) / "page.inc"
        words = [sys.executable, EMBED, out]
        if page is not None:
            source.write_bytes(raw or page.encode())
            words.append(source)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.returncode, done.stderr, "", b""
        text = out.read_text(encoding="ascii")
    arrays = dict(re.findall(r"static const char (\w+)\[\] =\n((?:\".*\"\n?)+);", text))
    plain = {name: b"".join(unescape(line) for line in body.splitlines())
             for name, body in arrays.items()}
    length = int(re.search(r"PAGE_LENGTH (\d+)", text)[1])
    assert len(plain["page_bytes"]) == length
    return 0, "", plain["page_policy"].decode(), plain["page_bytes"]


def unescape(line):
    """The bytes of one C string, whose escapes all have three digits."""
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), line[1:-1].encode())


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def served(page):
    """The page as a server gives it: it knows that there is a token."""
    return page.replace("<head>", '<head>\n\t\t<meta name="stepscope-served" content="yes" />', 1)


class Embed(unittest.TestCase):
    SCRIPT = 'if (1 < 2 && "<style>") document.title = "\u00e4&amp;";\n'

    def test_policy(self):
        code, _, policy, data = embed(PAGE)
        self.assertEqual(code, 0)
        self.assertEqual(gzip.decompress(data).decode(), served(PAGE))
        parts = dict(part.split(" ", 1) for part in policy.split("; "))
        self.assertEqual(parts["default-src"], "'none'")
        self.assertEqual(parts["script-src"], digest(self.SCRIPT) + " 'wasm-unsafe-eval'")
        self.assertEqual(parts["style-src"],
                         digest('p{content:"<script>"}') + " " + digest("q{}"))

    def test_line_ends(self):
        # browsers make line ends equal before they hash
        _, _, policy, data = embed(PAGE, PAGE.replace("\n", "\r\n").encode())
        self.assertEqual(gzip.decompress(data).decode(), served(PAGE))
        self.assertIn(digest(self.SCRIPT), policy)

    def test_same_output(self):
        self.assertEqual(embed(PAGE), embed(PAGE))

    def test_without_page(self):
        code, _, policy, data = embed(None)
        self.assertEqual((code, data), (0, b""))
        self.assertIn("script-src 'wasm-unsafe-eval'", policy)
        self.assertIn("style-src 'none'", policy)

    def test_refused(self):
        for tag in ('<script src="a.js"></script>', '<link rel="stylesheet" href="a.css">',
                    '<img src="https://example.org/a.png">', '<iframe src="/a"></iframe>'):
            code, text, _, _ = embed(PAGE.replace("<p style>", tag))
            self.assertEqual(code, 1, tag)
            self.assertIn("not self-contained", text)


class Seal(unittest.TestCase):
    def test_policy_stands_before_what_it_is_about(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text(PAGE, encoding="utf-8")
            subprocess.run([sys.executable, EMBED, "--seal", page], check=True)
            sealed = page.read_text(encoding="utf-8")
        meta = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)" />', sealed)
        self.assertLess(meta.start(), sealed.index("<style>"))
        header = embed(PAGE)[2]
        self.assertEqual(meta[1] + "; frame-ancestors 'none'", header)

    def test_page_without_a_head_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text("<p>x</p>", encoding="utf-8")
            done = subprocess.run([sys.executable, EMBED, "--seal", page], capture_output=True,
                                  check=False)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
