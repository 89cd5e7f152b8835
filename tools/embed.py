#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py - makes C of the viewer's page, for src/serve/page.c.

    tools/embed.py OUTPUT [PAGE]
    tools/embed.py --seal PAGE

PAGE is one HTML file that needs no other: its scripts and styles stand in it. It is compressed,
and the policy that goes with it (Content-Security-Policy) allows these scripts and styles alone,
by their hashes. Without PAGE the program has no viewer. --seal writes the policy into the page
itself, for those that are opened from a disk: a browser lets it ask nobody for anything.
"""

import base64
import gzip
import hashlib
import sys
from html.parser import HTMLParser
from pathlib import Path

# Bytes a line of the output: compilers read long string literals quickly when they are in pieces.
LINE_BYTES = 512
# Of <script type=...>: what browsers run. Others are data, which no policy concerns.
SCRIPT_TYPES = ("", "module", "text/javascript", "application/javascript")

# By it a page without a token knows that a server has one.
SERVED = '<meta name="stepscope-served" content="yes" />'


class Inline(HTMLParser):
    """Gathers the texts of scripts and styles, and what would be fetched from elsewhere."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.texts = {"script": [], "style": []}
        self.fetched = []
        self.open = None

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.open = tag if tag in self.texts else None
        if tag == "script" and (values.get("type") or "") not in SCRIPT_TYPES:
            self.open = None
        elif self.open:
            self.texts[tag].append("")
        for name in ("src", "href"):
            link = values.get(name) or ""
            if tag in ("script", "link", "img", "iframe") and link and not link.startswith("data:"):
                self.fetched.append(link)

    def handle_data(self, data):
        if self.open:
            self.texts[self.open][-1] += data

    def handle_endtag(self, tag):
        self.open = None


def hashes(texts):
    return [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'"
            for t in texts]


def rules(html):
    """What the page may do; everything that is not listed is forbidden."""
    page = Inline()
    page.feed(html)
    page.close()
    if page.fetched:
        sys.exit(f"embed.py: the page is not self-contained: it fetches {page.fetched[0][:200]}")
    return (
        "default-src 'none'",
        "connect-src 'self'",
        " ".join(["script-src", *hashes(page.texts["script"]), "'wasm-unsafe-eval'"]),
        " ".join(["style-src", *(hashes(page.texts["style"]) or ["'none'"])]),
        "img-src data: blob:",
        "font-src data:",
        "worker-src blob: data:",
        "base-uri 'none'",
        "form-action 'none'",
    )


def policy(html):
    """As a header, which may also say who may frame the page."""
    return "; ".join((*rules(html), "frame-ancestors 'none'"))


def seal(path):
    """Puts the policy before everything that it is about."""
    html = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules(html))}" />'
    if html.count("<head>") != 1:
        sys.exit(f"embed.py: {path} has no head")
    path.write_text(html.replace("<head>", f"<head>\n\t\t{meta}"), encoding="utf-8")


def c_string(data):
    """A string literal in pieces; octal escapes of three digits never run into what follows."""
    kept = {b: chr(b) for b in range(0x20, 0x7F) if chr(b) not in '"\\?'}
    cells = [kept.get(b, f"\\{b:03o}") for b in data]
    lines = ("".join(cells[i:i + LINE_BYTES]) for i in range(0, len(cells), LINE_BYTES))
    return "\n".join(f'"{line}"' for line in lines) or '""'


def main():
    if sys.argv[1] == "--seal":
        seal(Path(sys.argv[2]))
        return
    # browsers hash a script as it is after line breaks were made equal
    html = ""
    if len(sys.argv) > 2:
        html = Path(sys.argv[2]).read_text(encoding="utf-8").replace("\r\n", "\n")
        html = html.replace("<head>", f"<head>\n\t\t{SERVED}", 1)
    packed = gzip.compress(html.encode(), 9, mtime=0) if html else b""
    tag = hashlib.sha256(packed).hexdigest()[:32]
    text = (f"/* made by tools/embed.py */\n#define PAGE_LENGTH {len(packed)}\n"
            f"#define PAGE_PLAIN_LENGTH {len(html.encode())}\n"
            f"static const char page_policy[] =\n{c_string(policy(html).encode())};\n"
            f'#define PAGE_TAG "\\"{tag}\\""\n'
            f"static const char page_bytes[] =\n{c_string(packed)};\n")
    Path(sys.argv[1]).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
