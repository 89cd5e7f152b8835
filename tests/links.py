#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link, anchor and picture of the pages leads somewhere, in docs/ and on the built site.

Usage: links.py STEPSCOPE ROOT

In the sources: files and anchors of links and pictures, in the README and docs/. Then tools/site
builds the site, and every href and src of its pages must be a file of it, with the anchor; nothing
may come from another place. Without Node, marked or the viewer only the sources are checked.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.*?)\s*$", re.MULTILINE)
MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*]")
FOREIGN = re.compile(r"^[a-z]+:", re.IGNORECASE)
VIEWERS = ("demo-viewer.html", "own-traces.html")
# What a page draws or runs; links that a reader clicks may lead elsewhere.
LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src")}


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = MARKUP.sub(lambda found: found[1] or "", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(text):
    """All anchors of a page; the second heading of a name gets -1."""
    found, counts = set(), {}
    for heading in HEADING.findall(FENCE.sub("", COMMENT.sub("", text))):
        name = slug(heading)
        count = counts[name] = counts.get(name, -1) + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def source_problems(root):
    """(number of links, problems) of README.md and its neighbours, and of docs/."""
    pages = [*sorted(root.glob("*.md")), *sorted(root.glob("docs/**/*.md"))]
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in pages}
    known = {path: anchors(text) for path, text in texts.items()}
    count, problems = 0, []
    for path, text in texts.items():
        for link in LINK.findall(CODE.sub("", FENCE.sub("", COMMENT.sub("", text)))):
            if FOREIGN.match(link):
                continue
            count += 1
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            name = path.relative_to(root)
            if not target.exists():
                problems.append(f"{name}: no such file: {link}")
            elif anchor and target in known and anchor not in known[target]:
                problems.append(f"{name}: no such heading: {link}")
    return count, problems


class Page(html.parser.HTMLParser):
    """The ids of a page, what it loads, and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.doubled = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" and value in self.ids:
                self.doubled.append(value)
            if name == "id":
                self.ids.add(value)
            elif (tag, name) in LOADS:
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def way_problems(site, path, page, pages):
    """What is wrong with one page of the site."""
    yield from (f"two ids {name}" for name in page.doubled)
    for way in page.loads + page.links:
        if way.startswith("data:") or (FOREIGN.match(way) and way in page.links):
            continue
        if FOREIGN.match(way) or way.startswith("//"):
            yield f"it loads {way}"
            continue
        file, _, anchor = urllib.parse.unquote(way).partition("#")
        target = (path.parent / file).resolve() if file else path
        if site not in target.parents:
            yield f"{way} leads out of the site"
        elif not target.is_file():
            yield f"no such file: {way}"
        elif anchor and target in pages and anchor not in pages[target].ids:
            yield f"no such anchor: {way}"


def site_problems(site):
    """(number of pages, problems) of a built site. The demo is one file with all that it needs."""
    paths = [path for path in sorted(site.rglob("*.html")) if path.name not in VIEWERS]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    problems = [f"{path.relative_to(site)}: {problem}" for path, page in pages.items()
                for problem in way_problems(site, path, page, pages)]
    return len(pages), problems


def build(stepscope, root, site):
    """Builds the site; the reason if that is not possible here."""
    if not shutil.which("node") or not (root / "ui/node_modules/marked").exists():
        return "the site needs Node and marked (npm --prefix ui install)"
    result = subprocess.run([root / "tools/site", stepscope, site], capture_output=True, text=True)
    if "this build has no viewer" in result.stderr:
        return "the command has no viewer in it"
    if result.returncode:
        sys.exit(f"tools/site failed:\n{result.stderr}")
    return None


def check_self():
    """The check finds what it is for."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        (root / "docs").mkdir()
        (root / "README.md").write_text("# A `b` c\n[x](docs/x.md#one-two-1) [y](y.md) [z](#a-c)\n")
        (root / "docs/x.md").write_text("# One: two\n## One two\n```\n# no [x](gone.md)\n```\n")
        assert source_problems(root) == (3, ["README.md: no such file: y.md",
                                             "README.md: no such heading: #a-c"])
        (root / "a.html").write_text('<h1 id="a"></h1><img src="b.png"><a href="#a">x</a>'
                                     '<a href="#b">x</a><script src="https://x.org/y.js"></script>')
        assert site_problems(root) == (1, [
            "a.html: no such file: b.png", "a.html: it loads https://x.org/y.js",
            "a.html: no such anchor: #b"])


def main():
    stepscope, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    check_self()
    count, problems = source_problems(root)
    with tempfile.TemporaryDirectory() as name:
        site = pathlib.Path(os.path.realpath(name), "site")
        reason = build(stepscope, root, site)
        pages, wrong = (0, []) if reason else site_problems(site)
    print(*problems, *wrong, sep="\n", end="\n" if problems or wrong else "")
    print(f"{count} links of the sources; {reason or f'{pages} pages of the site'}; "
          f"{len(problems) + len(wrong)} wrong")
    return 1 if problems or wrong or count < 200 or (not reason and pages < 100) else 0


if __name__ == "__main__":
    sys.exit(main())
