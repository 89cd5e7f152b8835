# SPDX-License-Identifier: Apache-2.0
"""changes.py - the program is killed while it writes, and files change while it reads.

A file that is cut, made longer, replaced or written over at the Nth read: the figures are those of
the old file or of the new one, or a sentence says what is wrong. A process that is killed at the
Nth call that writes leaves under each final name what was there, or the whole new file; what else
it leaves is called .stepscope.*.part, and is in nobody's way.
"""
import shutil

import inputs
import judge
from judge import Fault

CUT, LONGER, REPLACED, OVER = -1, -2, -3, -4
KILL = -9
WRITERS = ("report", "merge", "pack", "sim", "redact")
WRITES = ("write", "rename", "sync", "close", "open", "unlink")
# views that show each event, and what is odd
READERS = [["operators"], ["quality"], ["diagnose"], ["files"], ["merge", "-o", "out/new.json"],
           ["report", "--page", "page.html", "-o", "out/new.html"], ["pack", "-o", "out/packs"],
           ["ask", "view/steps"]]
CHANGED = ["changed", "changed/rank0.json", "changed/rank1.json.gz", "apart.stepscope"]


def restore(work):
    """The files that runs change, as they were."""
    folder = work / "changed"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    (work / "page.html").write_text(inputs.PAGE)
    for name in ("rank0.json", "rank1.json.gz"):
        shutil.copy(work / "job" / name, folder / name)
    shutil.copy(work / "packed" / "rank0.stepscope", work / "apart.stepscope")


def words_of(reader, path):
    command, *rest = reader
    return [command, *rest[:1], path] if command == "ask" else [command, path, *rest]


def says_so(result):
    """The output itself tells that something is missing."""
    text = result.out.lower() + result.err.encode().lower()
    return any(word in text for word in (b"lost", b"cut", b"could not be read", b"ends before",
                                         b"damaged", b"changed while", b"truncated", b"mended"))


def judge_change(result, reference, after, before):
    """What is wrong with a run whose file changed; None: nothing."""
    if result.code == "hang" or result.code < 0:
        return f"ends with {result.code}"
    if judge.is_equal(result, reference) or judge.is_equal(result, after):
        return None
    if judge.leftovers(result):
        return "a temporary was left behind"
    if result.code == 1:
        lines = [line for line in result.err.splitlines() if not judge.NOTE.match(line)]
        if not lines or not all(line.startswith("stepscope") for line in lines):
            return "no sentence"
        return None if judge.files_may_be(result, before, {**reference.files, **after.files}) \
            else "neither the old files nor the new ones"
    if result.code != 0:
        return f"exit code {result.code}"
    return None if says_so(result) else "another result"


def read_changed(torture, share):
    """Every reader while its file changes, at each read."""
    for reader, path in ((reader, path) for reader in READERS for path in CHANGED):
        words = words_of(reader, path) + ["--no-sandbox", "--threads", "1"]
        if reader[0] in ("pack", "merge") and path.endswith(".stepscope"):
            continue
        restore(torture.work)
        reference, before = torture.once(words)
        if reference.code:
            raise SystemExit(f"torture: {words} ends with {reference.code}: {reference.err}")
        count = reference.counts()["read"]
        with torture.program.copies(words) as copies:
            for kind in (CUT, LONGER, REPLACED, OVER):
                for number in torture.few(count, share):
                    fault = Fault("read", kind, number, False)
                    restore(torture.work)
                    inputs.prepare(torture.work, words)
                    result = copies.run(fault, inputs.found)
                    after, _ = torture.once(words)
                    wrong = judge_change(result, reference, after, before)
                    torture.tell(reader[0], words, fault, result,
                                 (None, wrong) if wrong else (judge.NOTED, None), "changed")


def judge_kill(torture, words, result, reference, before):
    """What is wrong after a kill; None: nothing."""
    if result.code not in (-9, 0):
        return f"ends with {result.code}"
    left = {path: data for path, data in result.files.items()
            if not judge.TEMPORARY.search(path)}
    kept = result.files
    result.files = left
    if not judge.files_may_be(result, before, reference.files):
        return "neither the old files nor the new ones"
    # the next one, with what was left there; packs that are whole already are replaced
    more = ["--force"] if words[0] == "pack" else []
    again = torture.program.run([*words, *more], inputs.found)
    rest = {path: data for path, data in again.files.items()
            if path not in kept or not judge.TEMPORARY.search(path)}
    return None if again.code == 0 and rest == reference.files else "the next run fails: " + \
        again.err


def killed(torture, share):
    """Every writer, killed at each call that writes."""
    for command, words in inputs.cases(torture.options.stepscope):
        if command not in WRITERS or not any("out" in word for word in words):
            continue
        reference, before = torture.reference(command, words)
        counts = reference.counts()
        with torture.program.copies(words) as copies:
            for family in WRITES:
                for number in torture.few(counts[family], share):
                    fault = Fault(family, KILL, number, False)
                    inputs.prepare(torture.work, words)
                    result = copies.run(fault, inputs.found)
                    wrong = judge_kill(torture, words, result, reference, before)
                    torture.tell(command, words, fault, result,
                                 (None, wrong) if wrong else (judge.SAME, None), "killed")
