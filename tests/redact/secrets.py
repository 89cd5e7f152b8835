#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Secrets that were planted in every text of every input do not survive a redaction.

Usage: secrets.py STEPSCOPE SOURCE_ROOT [DUCKDB]. A secret of its own, in three dozen shapes, stands
in each field of events of all categories, in arguments and keys, known and unknown ones, in
metadata, in names of files and folders, in memory timelines, and in snapshots of all protocols.
Some have no word that is not public: users and machines are called adam and turing, too. None may
be found in what redact writes, nor, with --redact, in what report, pack, merge, digest, store and
watch write, nor in a check against that: unpacked, decoded and unescaped. Without --redact they are
found: the search works. STEPSCOPE_SEED chooses other secrets.
"""
import base64
import gzip
import html
import json
import os
import pathlib
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import uuid

FINE = 0
STEPSCOPE = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
DUCKDB = sys.argv[3] if len(sys.argv) > 3 and os.path.exists(sys.argv[3]) else None
ENVIRONMENT = {"STEPSCOPE_DUCKDB": DUCKDB} if DUCKDB else {}
# a sanitizer of C looks for the functions of C++ when the program starts, before DuckDB is loaded
if DUCKDB and "STEPSCOPE_SLOW" in os.environ:
    ENVIRONMENT["LD_PRELOAD"] = "libstdc++.so.6"
PAGE = "<!doctype html><html><body></body></html>\n"
ELEMENT = re.compile(rb'<script type="application/x-stepscope"[^>]*>([A-Za-z0-9+/=]*)</script>')
CATEGORIES = [
    "cpu_op", "user_annotation", "python_function", "cpu_instant_event", "cuda_runtime",
    "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync",
    "overhead", "Trace", "Operator", "Runtime", "xpu_runtime", "collective_comm", "nvtx",
    "ac2g", "fwdbwd",
]
# people and machines that are called as public software is
PUBLIC = ("adam", "turing", "hopper", "pascal", "volta", "lamb", "root", "host", "triton", "model")
ZSTD = shutil.which("zstd")
# these get a secret in every argument
FULL = ("cpu_op", "kernel", "python_function")
random.seed(int(os.environ.get("STEPSCOPE_SEED", "17")))
failures = []
planted = set()


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:600])


def run(*words, code=FINE):
    result = subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                            check=False, timeout=300,
                            env=os.environ | ENVIRONMENT)
    check(result.returncode == code, words, "gives", result.returncode, result.stderr[-400:])
    return result


# --- secrets ------------------------------------------------------------------------------------


class Secrets:
    """Texts with something in them that must not be found, and what that is."""

    def __init__(self):
        self.needles = set()
        self.count = 0

    def word(self):
        """Consonants and vowels in turn: no word of any language, and never the same twice."""
        while True:
            word = "".join(random.choice(letters) for letters in ("zvkgr", "uoi") * 4)
            if word not in self.needles:
                return self.keep(word)

    def public(self):
        return random.choice(PUBLIC)

    def keep(self, text):
        self.needles.add(text.lower())
        planted.add(text.lower())
        return text

    def next(self):
        shapes = [
            lambda: self.word(),
            lambda: self.word().capitalize() + self.word().capitalize(),
            lambda: f"/home/{self.word()}/{self.word()}/train.py(12): {self.word()}",
            lambda: f"C:\\Users\\{self.word()}\\{self.word()}.py",
            lambda: f"gpu-{self.word()}-03.{self.word()}.corp",
            lambda: self.keep(f"{self.word()}.model@torch.data.com"),
            lambda: f"{self.word().upper()}_TOKEN={self.word()}",
            lambda: self.identifier(),
            lambda: self.keep("%032x" % random.getrandbits(128)),
            lambda: self.keep("10.%d.%d.%d" % tuple(random.randrange(100, 255) for _ in "abc")),
            lambda: self.keep("fe80::%04x:b2ff:fe%02x:%04x" % (
                random.randrange(4096, 65536), random.randrange(16, 256),
                random.randrange(4096, 65536))),
            lambda: self.keep("Жю" + random.choice("абвгд") * 3 + self.word()),
            lambda: self.keep("企業" + chr(0x4E00 + random.randrange(5000))),
            lambda: self.keep("u" + str(random.randrange(10**15, 10**16))),
            lambda: f"ProfilerStep#{self.word()}",
            lambda: f"nn.Module: {self.word().capitalize()}_0",
            lambda: f"void {self.word()}::gemm_kernel<{self.word()}>(float*)",
            lambda: f"line\n{self.word()}\t\"{self.word()}\"\\{self.word()}",
            lambda: f"[{self.word()}, 1, True]",
            lambda: f"nccl:{self.word()}",
            lambda: f"/{self.keep('home/' + self.public())}/data/run.py(3): step",
            lambda: "C:\\" + self.keep("Users\\" + self.public()) + "\\model",
            lambda: f"~{self.keep(self.public() + '/train')}.py",
            lambda: self.keep(f"{self.public()}@{self.public()}"),
            lambda: "https" + self.keep("://" + self.public()) + ":8080/data",
            lambda: "s3" + self.keep("://" + self.public()) + "/data",
            lambda: "\\" + self.keep("\\" + self.public() + "\\model"),
            lambda: self.keep(f"{self.public()}.{self.public()}.com"),
            lambda: self.keep(self.public() + ":/data"),
            lambda: "ip-" + self.keep("10-%d-%d-%d" % tuple(
                random.randrange(1, 255) for _ in "abc")),
            lambda: "".join(f"%{ord(letter):02x}" for letter in self.word()),
            lambda: "%2Fdata%2F" + self.word(),
            lambda: "".join(f"\\u{ord(letter):04x}" for letter in self.word()),
            lambda: repr("".join(f"\\x{ord(letter):02x}" for letter in self.word())),
            lambda: "".join(f"&#{ord(letter)};" for letter in self.word()),
            lambda: json.dumps({self.word(): self.keep(
                "企" + chr(0x4E00 + random.randrange(5000)))}),
            lambda: self.keep("K" + "".join(letter + random.choice("23579")
                                            for letter in random.sample("zvgrmtpwh", 7))),
        ]
        self.count += 1
        return shapes[self.count % len(shapes)]()

    def identifier(self):
        text = str(uuid.UUID(int=random.getrandbits(128), version=4))
        for part in text.split("-"):
            if len(part) >= 8 and re.search("[a-f]", part) and re.search("[0-9]", part):
                self.keep(part)
        return text


def unescape(data):
    """With the escapes of JSON, pickles, links and pages resolved, however deep."""
    text = data.decode("utf-8", "replace")
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\{2,}", r"\\", text)
    return urllib.parse.unquote(html.unescape(text))


WORDS = re.compile("(?:[zvkgr][uoi]){4,}")
OTHERS = re.compile(r"[0-9a-f]{32}|[0-9a-f]{12}|[0-9a-f]{8}|u\d{16}|10\.\d+\.\d+\.\d+|"
                    r"fe80::[0-9a-f:]+|[а-яё]+[a-z]+|[\u4e00-\u9fff]+|[a-z]+\.model@[a-z.]+|"
                    r"k(?:[a-z][23579]){7}|10-\d+-\d+-\d+")
# what is left where only the place tells that it is a secret
PLACES = re.compile(r"(?=(home/[a-z]+|users\\[a-z]+|[a-z]+/train|[a-z]+@[a-z]+|://[a-z]+|"
                    r"\\[a-z]+\\model|[a-z]+\.[a-z]+\.com|[a-z]+:/data|[a-z]+_4321))")


def found_in(needles, *texts):
    """The needles in one of the texts, by the forms that needles have."""
    candidates = set()
    for text in texts:
        text = text.lower()
        candidates.update(OTHERS.findall(text))
        candidates.update(PLACES.findall(text))
        for run_of in set(WORDS.findall(text)):
            candidates.update(run_of[i:i + 8] for i in range(0, len(run_of) - 7, 2))
    return sorted(candidates & needles)


def unpacked(data):
    if data[:4] == b"\x28\xb5\x2f\xfd" and ZSTD:
        return subprocess.run([ZSTD, "-qdc"], input=data, stdout=subprocess.PIPE,
                              check=True).stdout
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def forms(data):
    """All that can be read in an output."""
    data = unpacked(data)
    parts = [data] + [unpacked(base64.b64decode(part)) for part in ELEMENT.findall(data)]
    for part in parts:
        yield part.decode("latin-1")
        yield unescape(part)


# --- inputs ---------------------------------------------------------------------------------------


def known_keys():
    text = (SOURCE / "src/redact/keys.c").read_text()
    return re.findall(r'\{ "([^"]+)", SS_(?:REDACT|RUN)_\w+ \}', text)


def event(number, **fields):
    return {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1,
            "ts": 1000 + 10 * number, "dur": 5, "args": {"External id": number}} | fields


def events(secrets):
    number = 0
    for category in CATEGORIES:
        for _ in range(20):
            number += 1
            yield event(number, cat=category, name=secrets.next())
        for field in ("cat", "ph", "pid", "tid", "id", "ts", "dur", "bp", "s", secrets.next()):
            number += 1
            yield event(number, **({"cat": category} | {field: secrets.next()}))
        for key in known_keys() if category in FULL else ():
            number += 1
            yield event(number, cat=category, args={key: secrets.next()})
            yield event(number, cat=category, args={key: [secrets.next(), [secrets.next()], {
                secrets.next(): secrets.next()}]})
        yield event(number, cat=category, args={secrets.next(): secrets.next() for _ in range(40)})
        yield event(number, cat=category, args=secrets.next())
        yield event(number, cat=category, args={"Concrete Inputs": [
            secrets.next() for _ in range(20)] + ["1e-05", "[1, 1]", "True"]})
    for name in ("process_name", "thread_name", "process_labels", secrets.next()):
        for key in ("name", "labels", secrets.next()):
            yield {"ph": "M", "name": name, "pid": 1, "tid": 1, "args": {key: secrets.next()}}


def trace(secrets):
    whole = {"schemaVersion": 1}
    for key in known_keys():
        if key not in ("traceEvents", "schemaVersion"):
            whole[key] = secrets.next()
    whole["deviceProperties"] = [{"id": 0, "name": secrets.next(), "uuid": secrets.next(),
                                  secrets.next(): secrets.next()}]
    whole["distributedInfo"] = {
        "rank": 0, "world_size": 1, "backend": secrets.next(), "nccl_version": secrets.next(),
        secrets.next(): [secrets.next()], "pg_config": [
            {"pg_name": secrets.next(), "pg_desc": secrets.next(), "ranks": [0],
             "backend_config": secrets.next(), "uid": secrets.next()}]}
    whole["env"] = {secrets.next(): secrets.next() for _ in range(20)}
    whole["INFO"] = [secrets.next() for _ in range(20)]
    whole["WARNING"] = [secrets.next() for _ in range(20)]
    whole[secrets.next()] = {secrets.next(): [[{secrets.next(): secrets.next()}]]}
    # in what is not known a key is as good a place as any, and a known one tells nothing
    for key in set(known_keys()) - {"traceEvents"}:
        whole[secrets.word()] = {key: {secrets.next(): secrets.next()}}
    whole["traceEvents"] = [event(n, name="aten::mm") for n in range(50)] + list(events(secrets))
    return whole


def hide(text):
    """Every letter of texts and keys that we do not know as an escape."""
    plain = set(known_keys()) | set(CATEGORIES) | {"X", "M", "aten::mm", "aten::add"}
    plain |= {"process_name", "thread_name"}

    def escape(match):
        inside = json.loads(match[0])
        if inside in plain:
            return match[0]
        return '"' + "".join(f"\\u{ord(c):04x}" for c in inside) + '"'
    return re.sub(r'"((?:[^"\\]|\\.)*)"', escape, text)


def damaged(text):
    """Without some quotes and brackets, with others that are too many, bare words, a cut."""
    lines = text.split("\n")
    for i in range(0, len(lines), 7):
        at = random.randrange(len(lines[i]) + 1)
        what = random.choice(['"', "", "{", "}", "]", "\\", "\0", "NaN", '","'])
        lines[i] = lines[i][:at] + what + lines[i][at + (what == ""):]
    return "\n".join(lines)[:-random.randrange(1, 200)]


def snapshot(secrets, protocol):
    frames = [{"filename": secrets.next(), "name": secrets.next(), "line": 3} for _ in range(30)]
    entry = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1,
             "frames": frames, "compile_context": secrets.next(),
             "user_metadata": secrets.next(), secrets.next(): secrets.next()}
    block = {"address": 4096, "size": 512, "requested_size": 512, "state": "active_allocated",
             "frames": frames[:3]}
    segment = {"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 512,
               "active_size": 512, "stream": 0, "segment_type": "small", "blocks": [block],
               "frames": frames, "note": secrets.next()}
    return {"segments": [segment], "device_traces": [[entry]],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": secrets.next(),
                                   secrets.next(): secrets.next()},
            "external_annotations": [{"name": secrets.next(), "stage": "START", "device": 0,
                                      "time_us": 2}],
            secrets.next(): [secrets.next() for _ in range(20)],
            # older protocols call a function to make them
            "bytes": secrets.next().encode() if protocol > 2 else ""}


# --- outputs --------------------------------------------------------------------------------------


def search(needles, path, control):
    """Files and their names, below a folder or one alone."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    texts = [str(p.relative_to(path.parent)) for p in files]
    for file in files:
        texts += forms(file.read_bytes())
    found = found_in(needles, *texts)
    if control:
        check(len(found) > 100, path.name, "control:", len(found), len(needles))
    else:
        check(not found, path.name, len(found), "secrets of", len(needles), found[:8])


def write_job(folder, secrets, make):
    job = folder / secrets.word()
    job.mkdir()
    text = json.dumps(trace(secrets), indent=None, separators=(", ", ": "))
    text = make(text.replace("}, {", "},\n{"))
    name = f"{secrets.word()}_{secrets.word()}.rank0"
    (job / f"{name}.json").write_bytes(text.encode())
    (job / f"{name}.json.gz".replace("rank0", "rank1")).write_bytes(gzip.compress(
        text.replace('"rank": 0', '"rank": 1').encode()))
    if ZSTD:
        (job / f"{name}.json.zst".replace("rank0", "rank2")).write_bytes(subprocess.run(
            [ZSTD, "-q", "-c"], input=text.replace('"rank": 0', '"rank": 2').encode(),
            stdout=subprocess.PIPE, check=True).stdout)
    # as torch.profiler names files, after machine and process
    other = secrets.keep(secrets.public() + "_4321")
    (job / f"{other}.1699999999999.pt.trace.json").write_bytes(
        text.replace('"rank": 0', '"rank": 3').encode())
    return job


def traces(work, name, make):
    secrets = Secrets()
    folder = work / name
    folder.mkdir()
    job = write_job(folder, secrets, make)
    page = folder / "page.html"
    page.write_text(PAGE)
    (folder / "out").mkdir()
    out = folder / "out"
    run("redact", job, "-o", out / "copies")
    run("report", job, "--redact", "--page", page, "-o", out / "report.html")
    # not compressed: what is searched is what is in it
    run("pack", job, "--redact", "--plain", "-o", out / "packs")
    run("merge", job, "--redact", "-o", out / "merged.json")
    run("export", job, "--redact", "--perfetto", out / "job.pftrace")
    run("export", job, "--redact", "--folded", out / "job.folded")
    search(secrets.needles, out, False)
    # nor where it was made
    for path in out.rglob("*"):
        check(path.is_dir() or not any(work.name in text for text in forms(path.read_bytes())),
              path, "tells its folder")
    run("pack", job, "--plain", "-o", folder / "control")
    search(secrets.needles, folder / "control", True)


TABLES = ("runs", "findings", "kernels", "collectives", "rank_steps")


def stored(store, trace_file, out):
    """The rows of a store, as its files are compressed."""
    for table in TABLES:
        query = f"select * from read_parquet('{store}/{table}/*/*.parquet')"
        (out / f"{table}.json").write_bytes(run(
            "sql", trace_file, "--allow-files", "--format", "json", query).stdout)


def kept_runs(work):
    """Digests, stores and what a check with them writes, and the files of the store itself."""
    secrets = Secrets()
    folder = work / "runs"
    folder.mkdir()
    job = write_job(folder, secrets, lambda text: text)
    empty = folder / "empty.json"
    empty.write_text('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]}')
    key = ("--key", folder / "key")
    for name, more in (("out", ("--redact", *key)), ("control", ())):
        out = folder / name
        out.mkdir()
        run("digest", job, *more, "-o", out / "digests")
        if DUCKDB:
            run("store", "add", out / "store", job, *more)
            run("store", "compact", out / "store")
            run("watch", job, "--once", "--settle", "0", "--store", out / "watched", *more)
            stored(out / "store", empty, out)
    checks(folder, job, key)
    search(secrets.needles, folder / "out", False)
    for path in (folder / "out").rglob("*"):
        check(path.is_dir() or not any(work.name in text for text in forms(path.read_bytes())),
              path, "tells its folder")
    search(secrets.needles, folder / "control" / "digests", True)
    if DUCKDB:
        found = found_in(secrets.needles, *(path.read_text() for path in (
            folder / "control").glob("*.json")))
        check(len(found) > 20, "control of the store:", len(found))
    again(folder, job, key)


def checks(folder, job, key):
    """A redacted run against baselines that were redacted with the same key."""
    out = folder / "out"
    run("redact", job, "-o", folder / "copies", *key)
    baselines = [out / "digests"] + ([out / "store"] if DUCKDB else [])
    for number, baseline in enumerate(baselines):
        name = out / f"check{number}"
        # the store has no other run: a sentence says so
        run("check", folder / "copies", "--against", baseline, "--allow-inconclusive",
            "--format", "json", "-o", f"{name}.json", "--junit", f"{name}.xml",
            "--sarif", f"{name}.sarif", code=1 if number else FINE)
    # paths are shown as they were passed
    for path in out.glob("check0.*"):
        path.write_text(path.read_text().replace(str(folder), ""))


def again(folder, job, key):
    """With the key nothing is made twice; without it, several processes do not agree."""
    digests = folder / "out" / "digests"
    before = {path.name: path.read_bytes() for path in digests.iterdir()}
    run("digest", job, "--redact", *key, "--resume", "-o", digests)
    check(before == {path.name: path.read_bytes() for path in digests.iterdir()}, "resumed")
    for more in (("--resume",), ("--share", "0/2")):
        result = run("digest", job, "--redact", *more, "-o", folder / "none", code=2)
        check(b"--key" in result.stderr and not (folder / "none").exists(), more, result.stderr)
    if DUCKDB:
        told = run("store", "add", folder / "out" / "store", job, "--redact", *key).stdout
        check(b"already" in told, "added twice:", told)
    # what digests with other names say of the job is what the traces say
    for view in ("ranks", "steps", "breakdown"):
        rows = [json.loads(run(view, path, "--format", "json").stdout)["rows"] for path in (
            folder / "control" / "digests", digests)]
        check(len(rows[0]) == len(rows[1]) > 0, view, len(rows[0]), len(rows[1]))
    # a second redaction is refused: there is no original
    run("digest", digests, "--redact", "-o", folder / "twice", code=1)


def snapshots(work):
    secrets = Secrets()
    folder = work / "snapshots"
    folder.mkdir()
    (folder / "out").mkdir()
    for protocol in range(6):
        path = folder / f"p{protocol}.pickle"
        path.write_bytes(pickle.dumps(snapshot(secrets, protocol), protocol=protocol))
        search(secrets.needles, path, True)
        run("redact", path, "-o", folder / "out" / path.name)
        run("snapshot", folder / "out" / path.name)
        with open(folder / "out" / path.name, "rb") as file:
            check(pickle.load(file)["segments"][0]["total_size"] == 2097152, path)
    (folder / "page.html").write_text(PAGE)
    run("report", folder / "p4.pickle", "--redact", "--page", folder / "page.html", "-o",
        folder / "out" / "report.html")
    search(secrets.needles, folder / "out", False)


def kept(work):
    """What is kept on demand keeps no addresses, hosts and users."""
    secrets = Secrets()
    names = [f"/{secrets.keep('home/adam')}/zorg/train.py(3): zorg", "nn.Module: Zorg_0",
             f"https{secrets.keep('://turing')}/zorg", "zorg/" + secrets.keep("10.1.2.133"),
             "nn.Module: " + secrets.keep("adam@turing")]
    groups = [{"pg_name": name, "pg_desc": "zorg", "ranks": [0]} for name in names]
    (work / "kept.json").write_text(json.dumps(
        {"distributedInfo": {"rank": 0, "pg_config": groups},
         "traceEvents": [event(i, name=name) for i, name in enumerate(names)]}))
    copy = work / "kept_copy.json"
    run("redact", work / "kept.json", "-o", copy, "--keep", "modules,groups", "--keep", "paths")
    search(secrets.needles, copy, False)
    check(copy.read_text().lower().count("zorg") == 15, "kept:", copy.read_text())


def timelines(work):
    """Memory timelines have numbers only; a text in one is none of theirs."""
    secrets = Secrets()
    sums = [[0, 1, 2, 3, 4, 5, 6, 7]] * 2
    (work / "timeline.json").write_text(json.dumps([[1, 2], sums, secrets.next(), {
        secrets.next(): [secrets.next() for _ in range(40)]}]))
    copy = work / "timeline_copy.json"
    run("redact", work / "timeline.json", "-o", copy)
    search(secrets.needles, copy, False)
    check(json.loads(copy.read_text())[:2] == [[1, 2], sums], "figures of a timeline")


def keys(work):
    """One key, one pseudonym; another key, another one; the key is in no output."""
    secrets = Secrets()
    text = json.dumps(trace(secrets)).encode()
    (work / "a.json").write_bytes(text)
    (work / "b.json").write_bytes(text)
    copies = []
    for file, key in (("a", "key1"), ("b", "key1"), ("a", "key2"), ("a", None)):
        more = ["--key", work / key] if key else []
        run("redact", work / f"{file}.json", "-o", work / "copy.json", "--force", *more)
        copies.append((work / "copy.json").read_bytes())
    check(copies[0] == copies[1], "one key gives two results")
    check(copies[0] != copies[2] != copies[3] != copies[0], "keys make no difference")
    key = (work / "key1").read_text().strip()
    check(len(key) == 32 and key.encode() not in copies[0], "key", key)
    check((work / "key1").stat().st_mode & 0o77 == 0, "others can read the key")
    told = json.loads(run("redact", work / "a.json", "-o", work / "copy.json", "--force",
                          "--format", "json", "--list", work / "list.jsonl").stdout)
    listed = [json.loads(line) for line in (work / "list.jsonl").read_text().splitlines()]
    check(sum(row["distinct"] for row in told["changed"]) == len(listed) > 1000, len(listed))
    originals = set()
    for row in listed:
        check(row["stands_for_it"] and row["stands_for_it"] != row["text"], row)
        originals.add(row["text"])
    # every text of the file is in the copy, or in the list with what stands there instead
    copy = json.loads((work / "copy.json").read_text())
    pairs = set(zip(texts_of(json.loads(text)), texts_of(copy)))
    stands_for = {(row["text"], row["stands_for_it"]) for row in listed}
    missing = [pair for pair in pairs if pair[0] != pair[1] and pair not in stands_for]
    check(not missing, "not in the list:", missing[:3])
    check((work / "list.jsonl").stat().st_mode & 0o77 == 0, "others can read the list")
    private(work)


def texts_of(value):
    """Keys and values, in the order of the file."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
    elif isinstance(value, str):
        yield value


def private(work):
    """Neither the key nor the list replaces an input, or goes where the copies are."""
    trace_file = work / "a.json"
    before = trace_file.read_bytes()
    for words in (("--list", trace_file), ("--list", work / "out" / "list"),
                  ("--key", work / "out" / "key"), ("--key", work / "k", "--list", work / "k")):
        run("redact", trace_file, "-o", work / "out", *words, code=2)
    run("report", trace_file, "--redact", "-o", work / "r.html", "--list", work / "r.html", code=2)
    check(trace_file.read_bytes() == before and not (work / "out").exists(), "private")
    # a long text is told as a whole, and bytes that are no text do not break the list
    long = "zorg " * 8000
    (work / "long.json").write_bytes(json.dumps({"env": {"a": long}, "b": "?"}).encode().replace(
        b"?", b"\xff\xfe"))
    run("redact", work / "long.json", "-o", work / "long_copy.json", "--list", work / "long.jsonl")
    listed = {row["text"]: row["stands_for_it"] for row in map(
        json.loads, (work / "long.jsonl").read_text().splitlines())}
    copy = json.loads((work / "long_copy.json").read_text())
    check(long in listed and list(copy["env"].values()) == [listed[long]], "a long text")
    # ranks that are redacted side by side agree on the key that one of them makes
    both = [subprocess.Popen([STEPSCOPE, "redact", str(trace_file), "-o",
                              str(work / f"side{i}.json"), "--key", str(work / "side")],
                             stdout=subprocess.DEVNULL) for i in range(6)]
    check([process.wait() for process in both] == [0] * 6, "side by side")
    check(len({(work / f"side{i}.json").read_bytes() for i in range(6)}) == 1, "several keys")
    # beside its inputs `pack` may write also where something else is written elsewhere
    with tempfile.TemporaryDirectory(dir=work.parent) as elsewhere:
        (work / "beside").mkdir()
        shutil.copy(work / "kept.json", work / "beside" / "kept.json")
        run("pack", work / "beside", "--redact", "--list", pathlib.Path(elsewhere) / "list")


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        traces(work, "plain", lambda text: text)
        traces(work, "hidden", hide)
        traces(work, "damaged", damaged)
        kept_runs(work)
        snapshots(work)
        timelines(work)
        kept(work)
        keys(work)
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(planted)} secrets were planted, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
