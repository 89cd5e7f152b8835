# SPDX-License-Identifier: Apache-2.0
"""Real files that end in the middle: every command says so, or refuses the file."""
import pathlib
import shutil

from damage_input.real import forms
from hostile_input.making import rows_of
from hostile_input.running import Failed, strict_json

CUT_ROWS = {"truncated", "compressed-cut", "compressed-corrupt"}
DOUBTS = {"cut", "damaged", "snapshot-cut"}
SAID = b"truncated"
VIEWS = ("overview", "operators", "kernels", "gaps", "steps", "files", "tracks", "ranks",
         "collectives", "critical-path", "memory")


def place_of_cut(chance, data, ends, length):
    """Where to cut: anywhere, near the end, or where a part of the compressed stream ends."""
    way = chance.randrange(5)
    if ends and way == 0:
        return max(0, min(length - 1, chance.choice(list(ends)) + chance.choice((0, 0, 0, -1, 1))))
    if way == 1:
        return max(0, length - 1 - chance.randrange(min(length, 40)))
    if way == 2:
        return max(0, length - 1 - chance.randrange(min(length, 4000)))
    if way == 3 and length == len(data):
        last = data.rfind(b"}", 0, max(data.rfind(b'"ph"'), 0) + 4000) + 1
        return max(0, min(length - 1, last + chance.randrange(-3, 30)))
    return chance.randrange(length)


def is_lost(data, packed, ends, at):
    """Whether what is cut off held anything."""
    if packed is data:
        return bool(data[at:].strip())
    if at in ends:
        return bool(data[ends[at]:].strip())
    return True


class Cut:
    """One file that is cut, and what the commands say of it."""

    def __init__(self, runner, folder, real, what):
        self.runner, self.folder, self.real, self.what = runner, folder, real, what
        self.path = None

    def json(self, *words):
        """The document, or None where there is a sentence."""
        ran = self.runner.run(*words, "--format", "json")
        return None if ran.code else strict_json(ran.out)

    def must(self, holds, said):
        if not holds:
            raise Failed(f"{self.what}: {said}")

    def told(self, *words):
        """Commands that write: what they print."""
        ran = self.runner.run(*words)
        self.must(ran.code or SAID in ran.out + ran.err, f"{words[0]} does not say it: "
                  f"{(ran.out + ran.err)[:300]!r}")
        return ran.code == 0

    def warns(self, document, *words):
        if document is not None:
            kinds = [warning["what"] for warning in document["warnings"]]
            self.must(DOUBTS & set(kinds), f"{' '.join(words)} warns of {kinds}")

    def check_trace(self, whole, lost, view):
        path = str(self.path)
        table = self.json("quality", path)
        if table is None:
            return "refused"
        found = {row["oddity"] for row in rows_of(table)} & CUT_ROWS
        self.must(bool(found) == lost, f"quality has {sorted(found)}, lost: {lost}")
        if not lost:
            return "nothing lost"
        self.warns(self.json("diagnose", path), "diagnose")
        self.warns(self.json("what-if", path), "what-if")
        compared = self.json("diff", whole, path)
        self.must(compared is None or compared["runs"][1]["warnings"], "diff does not warn")
        document = self.json(view, path)
        self.must(document is None or document["quality"]["lost"], f"{view} does not say it")
        self.check_writers(table)
        return "said"

    def check_writers(self, table):
        path, packs = str(self.path), self.folder / "packs"
        page, merged = self.folder / "report.html", self.folder / "merged.json"
        self.told("report", "-o", str(page), path)
        if self.told("merge", "-o", str(merged), path):
            found = self.json("quality", str(merged))
            self.must(found and found["quality"]["lost"], "the merged trace does not say it")
        if self.told("pack", "-o", str(packs), path):
            packed = self.json("quality", str(packs))
            self.must(packed and rows_of(packed) == rows_of(table), "the pack says something else")
        for file in (page, merged):
            file.unlink(missing_ok=True)
        shutil.rmtree(packs, ignore_errors=True)

    def check_memory(self, lost):
        path = str(self.path)
        table = self.json("snapshot", path, "summary")
        if table is None:
            return "refused"
        said = any(SAID.decode() in note for note in table["notes"])
        self.must(said == lost == bool(table["quality"]["lost"]), f"snapshot notes "
                  f"{table['notes']}, lost: {lost}")
        if not lost:
            return "nothing lost"
        self.warns(self.json("diagnose", path), "diagnose")
        self.told("diagnose", path)
        self.told("snapshot", path)
        self.told("report", "-o", str(self.folder / "report.html"), path)
        return "said"

    def check_rank(self, ranks, packed, suffix):
        """The same file among the whole ones of its job."""
        job = self.folder / "job"
        shutil.rmtree(job, ignore_errors=True)
        job.mkdir()
        for path in ranks:
            (job / path.name).symlink_to(path)
        place = job / self.real.name
        place.unlink(missing_ok=True)
        (job / (self.real.name.split(".")[0] + suffix)).write_bytes(packed)
        for words in (("diagnose",), ("what-if",)):
            document = self.json(*words, str(job))
            if document is None:
                continue
            # a rank of which too little is left can be refused, or be taken for another run
            left_out = document["quality"]["unreadable_files"] or len(document["runs"]) > 1
            if not left_out:
                self.warns(document, *words, "of a folder")
        shutil.rmtree(job)


def whole_of(folder, real):
    """The whole file, unpacked, to compare with."""
    path = folder / ("whole-" + real.name.removesuffix(".gz"))
    if not path.exists():
        path.write_bytes(real.data)
    return str(path)


def check_cut(runner, folder, real, chance):
    """Cuts one file once; returns what became of it."""
    suffix, packed, ends = forms(chance, real.data, ".pickle" in real.name)
    at = place_of_cut(chance, real.data, ends, len(packed))
    lost = is_lost(real.data, packed, ends, at)
    cut = Cut(runner, folder, real, f"{real.path} as {suffix}, {at} of {len(packed)} bytes"
              f"{' (end of a part)' if at in ends else ''}")
    cut.path = pathlib.Path(folder / ("cut" + suffix))
    cut.path.write_bytes(packed[:at])
    try:
        if real.is_memory:
            return cut.check_memory(lost)
        outcome = cut.check_trace(whole_of(folder, real), lost, chance.choice(VIEWS))
        if outcome == "said" and real.ranks and chance.randrange(4) == 0:
            cut.check_rank(real.ranks, packed[:at], suffix)
        return outcome
    finally:
        cut.path.unlink()
