#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the README and the pages of docs/ show as output is what comes out.

Usage: shown.py STEPSCOPE ROOT TRACES. A block of a page that begins with `$ stepscope` shows
commands, each with its output below it; a command with nothing below it is not run. Its inputs are
what the page made before, or the one path below TRACES that ends so; blocks whose inputs are not
there are counted. A line `...` stands for any lines. UPDATE_GOLDEN=1 rewrites the outputs. The
README counts rules and presets as the program does, and links between pages lead somewhere.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import chosen

BLOCK = re.compile(r"^```\w*\n(\$ stepscope .*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (stepscope .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
COUNTED_RULES = re.compile(r"\[(\d+) rules\]")
COUNTED_PRESETS = re.compile(r"has \[(\d+) more\]")
# how long something took is nobody's business here
TIME_TAKEN = re.compile(r"in \d+\.\d+ s\b( \(\d+\.\d+ M events/s\))?")
# what a reader would have, and which of the traces it is
CALLED = {
    "memory.pickle": "memory/synthetic_leak_oom.p4.pickle",
    "leak.pickle": "memory/synthetic_leak.p4.pickle",
}


def lay_out(words, folder, paths):
    """Puts links to a command's inputs into the folder; False when one of them is missing."""
    options = [i for i, word in enumerate(words) if word.startswith("-")]
    for i, word in enumerate(words):
        if i < 1 or i in options or (folder / word).exists():
            continue
        ends = "/" + CALLED.get(word, word).rstrip("/")
        found = [path for path in paths if str(path).endswith(ends)]
        if len(found) != 1 and re.search(r"[/.]", word) and words[i - 1] not in ("-o", "--output"):
            return False
        if len(found) != 1:
            continue
        (folder / word).parent.mkdir(parents=True, exist_ok=True)
        (folder / word).symlink_to(found[0].resolve())
    return True


def output_of(stepscope, words, folder):
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    result = subprocess.run([stepscope, *words[1:]], cwd=folder, capture_output=True,
                            env=environment, timeout=120)
    return (result.stdout + result.stderr).decode()


def is_shown(shown, found):
    """Whether the lines of a page are the output, apart from times and what `...` stands for."""
    parts = [re.escape(TIME_TAKEN.sub("in 0 s", part))
             for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), TIME_TAKEN.sub("in 0 s", found))


def counts_wrong(stepscope, readme):
    """Sentences of the README whose number is not that of the program's list."""
    text = readme.read_text(encoding="utf-8")
    wrong = []
    for pattern, words in (COUNTED_RULES, ["explain"]), (COUNTED_PRESETS, ["sim", "--list"]):
        answer = subprocess.run([stepscope, *words, "--format", "json"], capture_output=True,
                                check=True).stdout
        found, wanted = pattern.search(text), json.loads(answer)["row_count"]
        if not found or int(found[1]) != wanted:
            wrong.append(f"README.md: `stepscope {' '.join(words)}` lists {wanted}, "
                         f"the page says {found[1] if found else 'nothing'}")
    return wrong


def links_wrong(root, pages):
    """Links of pages to files that are not there."""
    return [f"{path.relative_to(root)}: no such file: {link}" for path in pages
            for link in LINK.findall(path.read_text(encoding="utf-8"))
            if not (path.parent / link).exists()]


class Checker:
    def __init__(self, stepscope, paths):
        self.stepscope, self.paths = stepscope, paths
        self.update = os.environ.get("UPDATE_GOLDEN") == "1"
        self.checked = self.failed = self.without_input = 0

    def page(self, page, text):
        """Returns the page as it should be. Its blocks share a folder, as those of a reader do."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            return BLOCK.sub(lambda found: found[0].replace(
                found[1], COMMAND.sub(lambda one: self.command(page, one, folder), found[1])), text)

    def command(self, page, match, folder):
        line, shown = match[1], match[2]
        words = shlex.split(line, comments=True)
        if not shown.strip():
            return match[0]
        if not lay_out(words, folder, self.paths):
            self.without_input += 1
            return match[0]
        found = output_of(self.stepscope, words, folder)
        if "No such file" in found:
            self.without_input += 1
            return match[0]
        self.checked += 1
        if is_shown(shown, found):
            return match[0]
        self.failed += not self.update
        print(f"{page}: $ {line}\n{found}" if not self.update else f"{page}: written")
        return match[0] if re.search(r"^\.\.\.$", shown, re.MULTILINE) else f"$ {line}\n{found}"


def main():
    stepscope, root, traces = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    checker = Checker(str(stepscope), sorted(traces.rglob("*")))
    pages = [path for path in sorted(root.glob("docs/**/*.md"))
             if BLOCK.search(path.read_text(encoding="utf-8"))]
    for path in [root / "README.md", *chosen.share(pages)]:
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root)
        new = checker.page(name, text)
        if checker.update and new != text:
            path.write_text(new, encoding="utf-8")
    wrong = counts_wrong(checker.stepscope, root / "README.md")
    wrong += links_wrong(root, [*root.glob("*.md"), *root.glob("docs/**/*.md")])
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{checker.checked} outputs, {checker.failed + len(wrong)} differ; "
          f"{checker.without_input} without their input")
    if checker.failed:
        print("if intended: UPDATE_GOLDEN=1 tests/shown.py STEPSCOPE . TRACES; read the diff")
    return 1 if checker.failed or wrong or not checker.checked else 0


if __name__ == "__main__":
    sys.exit(main())
