#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No text of stepscope has words that its readers stumble over.

Usage: words.py ROOT

Looks at the pages of docs/ and of the root, at all strings and comments of the library, the command
and the viewer. Each pattern comes with the words to use instead. Names that programs read (keys of
JSON, severities) are exempt where they are written as such.
"""
import pathlib
import re
import sys

# A word that the text must have, what to look for, and what to write instead. A space stands for
# any gap, such as that between two lines of a comment or two pieces of a string.
PATTERNS = [
    ("mend", r"mend(ed|s|ing)?", "repair, fix"),
    ("foret", r"foret(old|ells?|elling)", "predicted"),
    ("said", r"(is|are|was|were|be|been) said", "is reported; say who says it"),
    ("told", r"(is|are|was|were|be|been) told(?! apart)", "is reported; say who says it"),
    ("without", r"without being asked", "by default"),
    ("many", r"so many", "N; as many as; the number"),
    ("idle", r"stands? idle", "is idle"),
    ("again", r"again and again", "in every step; repeatedly"),
    ("had", r"(cannot|can not|could not) be had", "could not load; is missing"),
    ("surer", r"(it|them|is|are|be) surer", "more certain"),
    ("launched", r"launched and not started", "queued kernels"),
    ("count", r"steps? that counts?", "measured steps"),
    ("middle", r"ends? in the middle", "is truncated"),
    ("taken", r"(is|are) taken to do", "we assume that the fix ..."),
    ("pieces", r"free in pieces", "free but fragmented"),
    ("waits", r"waits of the host", "host syncs"),
    ("one", r"one row an? \w+", "one row per ..."),
    ("is", r"is no command", "no command called ..."),
    ("called", r"(is|are) not called so", "unknown ..."),
    ("a step", r"(ms|us|µs|\d s|[kmgt]b|%|time\}|times|\d+x?) a step", "per step"),
    ("dry", r"run dry", "run out of work"),
]
# Labels, which begin with a capital letter.
LABELS = [
    ("Who", r"Who (held|holds) it", "Holders"),
    ("What", r"What it is not", "When this rule stays quiet"),
]
# In sentences, which code is not: "1601x" is "1,601 times" or "1,601 ×".
PROSE = [("x", r"[1-9]\d*(\.\d+)?x", "N times; N ×"), ("fx", r"%\.\df?x", "N times; N ×")]

# Names that programs read: the severity and the count of repaired events.
EXEMPT = re.compile(r"[\"`]mended\\?[\"`]|\| mended \||mended: |(->|\.|\b(uint64_t|_) \w+, )mended|"
                    r"lost, mended, notes|mended_packs|\bmended: number")
GAP = r"(?:\s|\*|//|\"|#)+"
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def compiled(patterns):
    return [(word, re.compile(r"(?<![\w.-])" + words.replace(" ", GAP) + r"(?![\w-])"), better)
            for word, words, better in patterns]


WORDS, WITH_CAPITALS, FIGURES = compiled(PATTERNS), compiled(LABELS), compiled(PROSE)


def strings_only(text):
    """The text with all that is no string blanked, so that places stay the same."""
    kept = [" " if c != "\n" else c for c in text]
    for found in STRING.finditer(text):
        kept[found.start():found.end()] = found[0]
    return "".join(kept)


def look(path, text):
    """(line, words, better) of each place."""
    text = EXEMPT.sub(lambda found: " " * len(found[0]), text)
    prose = text if path.suffix == ".md" else strings_only(text)
    for patterns, where in (WORDS, text.lower()), (WITH_CAPITALS, text), (FIGURES, prose):
        for word, pattern, better in patterns:
            for found in pattern.finditer(where) if word in where else ():
                yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), better


def sources(root):
    yield from sorted(root.glob("*.md"))
    yield from sorted(root.glob("docs/**/*.md"))
    yield from sorted(root.glob("src/**/*.md"))
    for folder, suffixes in ("src", "c h"), ("include", "h"), ("examples", "c h cpp"), \
            ("ui/src", "ts tsx css"):
        for suffix in suffixes.split():
            yield from sorted((root / folder).rglob(f"*.{suffix}"))


def check_self():
    """The patterns find what they are for, and leave alone what is exempt."""
    bad = ['"it is\n\t" "mended now"', "/* at most so\n * many rows */", "a warning is told",
           "The Device Stands Idle", "83.6 ms a step", "it was 814x", 'f("%.2fx")', "Who held it"]
    good = ['"mended"', "`mended`", "are told apart", "who holds it", "takes a step", "is idle",
            "so much", "0x89", "recommended", "commend", "1280x800 pixels"]
    wrong = [text for text in bad if not list(look(pathlib.Path("x.md"), text))]
    wrong += [text for text in good if list(look(pathlib.Path("x.md"), text))]
    return [f"the test itself is wrong about: {text!r}" for text in wrong]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    wrong, count = check_self(), 0
    for path in sources(root):
        count += 1
        wrong += [f"{path.relative_to(root)}:{line}: '{words}': write: {better}"
                  for line, words, better in look(path, path.read_text(encoding="utf-8"))]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{count} files, {len(wrong)} places with words that readers stumble over")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
