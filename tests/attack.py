#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attack.py - a round of attacks on the program, as large as one asks for, by a seed.

Usage: attack.py STEPSCOPE [--seed N] [--parts NAME,...] [--faults LIBFAULTS] [--duckdb LIBDUCKDB]
                 [--inputs N] [--kills N] [--disks N] [--allocations N] [--minutes M]

    inputs       damaged traces, packs, digests, dumps of the flight recorder, snapshots, databases
                 of other profilers and live numbers, each to a command that the seed chooses: an
                 answer or a sentence. A sanitized STEPSCOPE says more
    kills        commands that write are killed at a random moment: the old file or the new one
    disks        the same commands on a disk that is full after some bytes
    allocations  torture.py, memory alone
    secrets      redact/secrets.py with other secrets
    requests     what strangers send to `serve`: nothing is answered without the token
    sql          statements that try to reach files, programs or settings

The table says how many of each there were. What fails is printed with what repeats it.
"""
import argparse
import json
import os
import pathlib
import pickle
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "hang"), str(HERE.parent / "fuzz"), str(HERE / "support")]

import chosen
from corpus_databases import databases, rocprof
from corpus_pickles import pickles
from make_corpus import live_file
from make_dumps import KINDS, make as make_dumps

SECONDS = 120  # of a sanitized program on a busy machine
WORDS = re.compile(rb"Sanitizer|runtime error|Assertion|Traceback")
# numbers at the borders of types and formats, and what is none
NUMBERS = [b"0", b"-0", b"-1", b"1e309", b"-1e309", b"NaN", b"1e-400", b"9223372036854775807",
           b"9223372036854775808", b"-9223372036854775808", b"18446744073709551616", b"4294967295",
           b"4294967296", b"2147483648", b"0.0000000001", b"604800000000.001", b"01", b"1.", b"+1",
           b"null", b"true", b"[]", b"{}", b'""', b'"1"', b"[1,2]", b"1" * 400, b"0." + b"3" * 400]
SMALL = ("-p", "ddp8-slow", "--ranks", "2", "--steps", "2", "--plain", "--set",
         "layers=1,hidden=8,heads=1,vocabulary=8,sequence=16,batch=1")
VIEW_WORDS = re.compile(r"^  ([a-z-]+)  ", re.M)
OTHERS = {"serve", "store", "watch", "ask", "sim", "demo", "schema", "completion", "manual", "help",
          "version", "explain", "sql", "diff", "check", "report"}


class Attack:
    def __init__(self, options, work):
        self.options, self.work, self.random = options, work, random.Random(options.seed)
        self.program, self.rows, self.findings = options.stepscope, {}, 0
        self.environment = dict(os.environ, STEPSCOPE_DUCKDB=options.duckdb or "")

    def find(self, part, *what):
        self.findings += 1
        print(f"FINDING in {part}:", *(str(word)[:500] for word in what), flush=True)

    def run(self, *words, **more):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, check=False,
                              timeout=SECONDS, env=self.environment, **more)

    def made(self, *words):
        done = self.run(*words)
        if done.returncode:
            raise SystemExit(f"attack: {words} ends with {done.returncode}: {done.stderr}")
        return done


# --- damaged inputs -------------------------------------------------------------------------------


def make_bases(attack):
    """{kind: [[path, ...] of a job, ...]} of whole files."""
    base = attack.work / "base"
    base.mkdir()
    attack.made("sim", *SMALL, "-o", base / "job")
    attack.made("pack", base / "job", "--plain", "-o", base / "packs")
    attack.made("digest", base / "job", "-o", base / "digests")
    kinds = {"json": [base / "job"], "pack": [base / "packs"], "digest": [base / "digests"],
             "dumps": [], "pickle": []}
    # what a digest has behind its compression
    if shutil.which("zstd"):
        (base / "plain").mkdir()
        for path in (base / "digests").iterdir():
            (base / "plain" / path.name).write_bytes(subprocess.run(
                ["zstd", "-qdc", path], stdout=subprocess.PIPE, check=True).stdout)
        kinds["digest"].append(base / "plain")
    for kind in KINDS:
        make_dumps(base / kind, kind, 4, 3)
        kinds["dumps"].append(base / kind)
    for folder in sorted((HERE / "hang" / "recorded").iterdir()):
        kinds["dumps"].append(folder)
    for name, data in list(pickles())[:24]:
        (base / f"snapshot_{name}").mkdir()
        (base / f"snapshot_{name}" / "a.pickle").write_bytes(data)
        kinds["pickle"].append(base / f"snapshot_{name}")
    foreign = [("database", f"{name}.sqlite", data) for name, data in databases()]
    foreign += [("rocprof", f"{name}.json", data) for name, data in rocprof()]
    foreign += [("live", f"{rank}.rows", live_file(rank, 300, 256, 4000 * rank))
                for rank in range(2)]
    for kind, name, data in foreign:
        folder = base / kind / (name if kind == "database" else "all")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        if folder not in kinds.setdefault(kind, []):
            kinds[kind].append(folder)
    return kinds


def damage(data, chance):
    """The bytes after one to fifty changes of some sort."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 10, 50))):
        if not data:
            break
        at, kind = chance.randrange(len(data)), chance.randrange(8)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[at:at + chance.choice((1, 4, 100, 5000))]
        elif kind == 3:
            other = chance.randrange(len(data))
            data[at:at] = data[other:other + chance.choice((1, 8, 200))]
        elif kind == 4:
            data[at:at + 8] = chance.choice((b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7,
                                             b"\0" * 7 + b"\x80"))
        elif kind == 5 and chance.random() < 0.2:
            del data[at:]
        else:  # a number of a text
            number = re.compile(rb"-?\d+(?:\.\d+)?").search(data, at)
            if number:
                data[number.start():number.end()] = chance.choice(NUMBERS)
    return bytes(data)


def damaged_dump(data, chance):
    """Of a pickle mostly the values: bytes alone end at the first opcode."""
    if chance.random() < 0.4 or not data.startswith(b"\x80"):
        return damage(data, chance)
    root = pickle.loads(data)
    odd = (None, -1, 0, 2**31, 2**32, 2**63 - 1, -2**63, 2**70, 1.5, "", "0", "x" * 70000, [], {},
           [[]], [2**62, 2**62], (), True, b"\xff", "[0, 1, 99999999]", {"a": {}})
    for _ in range(chance.choice((1, 5, 40))):
        entries = root.get("entries") or [{}]
        target = chance.choice((root, *(entries if isinstance(entries, list) else ())))
        if isinstance(target, dict) and target:
            target[chance.choice(list(target))] = chance.choice(odd)
        if isinstance(entries, list) and entries and chance.random() < 0.3:
            chance.choice((entries.pop, lambda: entries.extend(entries[:500])))()
    return pickle.dumps(root, chance.choice((2, 4, 5)))


def damaged_inputs(attack, count):
    kinds = make_bases(attack)
    commands = [word for word in VIEW_WORDS.findall(attack.made("help").stdout.decode())
                if word not in OTHERS]
    seen = set()
    for number in range(count):
        chance = random.Random(f"{attack.options.seed} {number}")
        kind = chance.choice(("json", "json", "pack", "digest", "dumps", "dumps", "pickle",
                              "database", "rocprof", "live"))
        folder = attack.work / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(chance.choice(kinds[kind]), folder, ignore=lambda *_: {"pickle", "json"})
        files = sorted(path for path in folder.iterdir() if path.is_file() and
                       "truth" not in path.name)
        for path in chance.sample(files, min(len(files), chance.choice((1, 1, 2)))):
            make = damaged_dump if kind == "dumps" else damage
            path.write_bytes(make(path.read_bytes(), chance))
        command = chance.choice(
            ("hang", "hang-ranks", "hang-causes", "diagnose", "files") if kind == "dumps" else
            ("snapshot", "files", "diagnose", "redact") if kind == "pickle" else
            ("live", "live-changes", "live-ranks", "live-steps", "files") if kind == "live" else
            commands)
        out = attack.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        more = ["-o", out] if command in ("pack", "digest", "redact", "merge") else \
            ["--format", chance.choice(("text", "json", "csv"))] if command != "hang" else []
        seen.add(command)
        repeat = f"seed {attack.options.seed}, input {number}: {command} of {kind}"
        try:
            done = attack.run(command, folder, *more)
        except subprocess.TimeoutExpired:
            attack.find("inputs", repeat, "takes too long")
            continue
        if done.returncode not in (0, 1, 2, 4) or WORDS.search(done.stderr):
            attack.find("inputs", repeat, "ends with", done.returncode, done.stderr[-3000:])
            shutil.copytree(folder, attack.work.parent / f"attack_{attack.options.seed}_{number}",
                            dirs_exist_ok=True)
        elif done.returncode and not done.stderr.strip():
            attack.find("inputs", repeat, "ends without a sentence")
        elif not done.returncode and more[-1:] == ["json"]:
            json.loads(done.stdout, parse_constant=lambda word: attack.find("inputs", repeat, word))
    return f"{count}, to {len(seen)} commands"


# --- killed, and without space --------------------------------------------------------------------


def writers(attack):
    """(words, output) of commands that write; the output may be a folder."""
    job, out = attack.work / "write" / "job", attack.work / "write" / "out"
    if not job.exists():
        job.parent.mkdir()
        attack.made("sim", *SMALL, "-o", job)
    page = attack.work / "write" / "page.html"
    page.write_text("<!doctype html><html><body></body></html>\n")
    key = attack.work / "write" / "key"
    return [(("pack", job, "--force", "-o", out), out),
            (("digest", job, "--force", "-o", out), out),
            (("digest", job, "--force", "--redact", "--key", key, "-o", out), out),
            (("redact", job, "--force", "--key", key, "-o", out), out),
            (("merge", job, "-o", out / "m.json"), out),
            (("report", job, "--page", page, "-o", out / "r.html"), out),
            (("events", job, "--format", "csv", "-o", out / "e.csv"), out),
            (("check", job, "--against", job, "--allow-inconclusive", "--format", "json", "-o",
              out / "c.json"), out)]


def contents(folder):
    """{name: bytes}, without what nothing reads."""
    return {path.name: path.read_bytes() for path in folder.iterdir()
            if path.is_file() and not path.name.startswith(".stepscope.")}


def interrupted(attack, part, count, interrupt):
    """Each output afterwards is what was there before, or what a whole run writes."""
    kinds = writers(attack)
    whole, seconds = {}, {}
    for number in range(count):
        index = attack.random.randrange(len(kinds))
        words, out = kinds[index]
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        if index not in whole:
            begin = time.monotonic()
            attack.made(*words)
            seconds[index] = time.monotonic() - begin
            whole[index] = contents(out)
            shutil.rmtree(out)
            out.mkdir()
        has_old = attack.random.random() < 0.5
        old = {name: b"old " + name.encode() for name in whole[index]} if has_old and \
            words[0] not in ("pack", "digest") else {}
        for name, data in old.items():
            (out / name).write_bytes(data)
        told = interrupt(attack, words, seconds[index], whole[index])
        for name, data in contents(out).items():
            if data not in (old.get(name), whole[index].get(name)) and \
                    not same_but_moments(data, whole[index].get(name)):
                attack.find(part, f"seed {attack.options.seed}, number {number}:", words, name,
                            "is neither old nor new", told)
    return str(count)


def same_but_moments(a, b):
    """Reports and checks say when they were made and how long it took."""
    def plain(data):
        return re.sub(rb"\d+", b"0", data or b"")
    return plain(a) == plain(b)


def kill(attack, words, seconds, _):
    process = subprocess.Popen([attack.program, *map(str, words)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=attack.environment)
    time.sleep(attack.random.random() * seconds * 1.1)
    process.kill()
    process.wait()
    return "after a kill"


def fill_disk(attack, words, _, whole):
    size = attack.random.randrange(1 + max(map(len, whole.values())))

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    done = attack.run(*words, preexec_fn=limit)
    if done.returncode == 0 and size < min(map(len, whole.values())):
        attack.find("disks", words, size, "bytes are enough?", done.stdout)
    if done.returncode not in (0, 1) or (done.returncode and not done.stderr.strip()):
        attack.find("disks", words, size, "bytes:", done.returncode, done.stderr)
    return f"with {size} bytes of space: {done.stderr[-300:]}"


def kills(attack, count):
    """Half of them of stores, where there is DuckDB."""
    stored = count // 2 if attack.options.duckdb else 0
    if stored:
        script(attack, "kills", HERE / "store" / "kills.py", attack.program, attack.options.duckdb,
               stored, attack.options.seed)
    return f"{interrupted(attack, 'kills', count - stored, kill)}, {stored} of stores"


def disks(attack, count):
    return interrupted(attack, "disks", count, fill_disk)


# --- what other tests do, with another seed -------------------------------------------------------


def script(attack, part, *words):
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True,
                          check=False, env=dict(attack.environment,
                                                STEPSCOPE_SEED=str(attack.options.seed)))
    if done.returncode:
        attack.find(part, "ends with", done.returncode, (done.stdout + done.stderr)[-3000:])
    return done.stdout


def allocations(attack, count):
    if not attack.options.faults:
        return "0: no --faults"
    out = script(attack, "allocations", HERE / "torture" / "torture.py", attack.program,
                 attack.options.faults, "--family", "memory", "--faults", count, "--seed",
                 attack.options.seed, "--long", "--minutes", attack.options.minutes)
    return " ".join(out.splitlines()[-1:])


def secrets(attack, _):
    out = script(attack, "secrets", HERE / "redact" / "secrets.py", attack.program, HERE.parent,
                 attack.options.duckdb or "")
    return " ".join(out.splitlines()[-1:])


# --- requests -------------------------------------------------------------------------------------


def strangers():
    """Requests without a token that counts."""
    for path in ("/api/state", "/api/ask/job", "/api/ask/view/steps", "/api/ask/../../etc/passwd",
                 "/api/ask/job?token=0", "//api/ask/job", "/%61pi/ask/job", "/api/ask/job/"):
        for head in ("", "X-Stepscope-Token: 0\r\n", "Authorization: Bearer\r\n"):
            yield f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n".encode()
    for line in (b"GET  HTTP/1.1", b"\0\0\0\0", b"POST /api/ask/job HTTP/1.1", b"GET / HTTP/9.9",
                 b"TRACE / HTTP/1.1", b"GET /" + b"a" * 70000 + b" HTTP/1.1", b"PRI * HTTP/2.0",
                 b"CONNECT 127.0.0.1:22 HTTP/1.1"):
        yield line + b"\r\nHost: evil.example\r\nContent-Length: 99999999999999999999\r\n\r\n"


def requests(attack, _):
    job, count = attack.work / "served", 0
    attack.made("sim", *SMALL, "-o", job)
    server = subprocess.Popen([attack.program, "serve", job, "--no-browser"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    link = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
    for request in strangers() if link else ():
        count += 1
        with socket.create_connection(("127.0.0.1", int(link[1])), timeout=20) as wire:
            try:
                wire.sendall(request)
                wire.shutdown(socket.SHUT_WR)
                answer = wire.recv(65536)
            except OSError:
                answer = b""
        if answer.startswith(b"HTTP/1.1 200") and b"<html" not in answer:
            attack.find("requests", request[:200], "is answered:", answer[:300])
    if not link or server.poll() is not None:
        attack.find("requests", "the server ends", server.stderr.read())
    server.terminate()
    _, err = server.communicate(timeout=60)
    if WORDS.search(err.encode()):
        attack.find("requests", err)
    return str(count)


# --- SQL ------------------------------------------------------------------------------------------

ESCAPES = (
    "select * from read_csv('{f}')", "select * from read_text('{f}')", "select * from '{f}'",
    "select * from read_blob('{f}')", "select * from read_json('{f}')", "from glob('{d}/*')",
    "select * from read_parquet('{f}')", "select * from parquet_metadata('{f}')",
    "select * from sniff_csv('{f}')", "copy (select 1) to '{d}/new'", "copy slices to '{d}/new'",
    "attach '{d}/new.db'", "attach '{f}' (readonly)", "install httpfs", "load '{f}'",
    "export database '{d}/new'", "import database '{d}'", "create secret (type s3)",
    "set enable_external_access = true; select * from read_text('{f}')",
    "set lock_configuration = false; set allowed_paths = ['{f}']; from read_text('{f}')",
    "set temp_directory = '{d}/new'; select * from range(9)", "pragma enable_profiling='json'; "
    "set profiling_output = '{d}/new'; select 1", "set log_query_path = '{d}/new'; select 2",
    "select getenv('CANARY')", "set extension_directory = '{d}/new'; install json",
    "create function f() as table from read_text('{f}'); from f()",
    "prepare p as from read_text(?); execute p('{f}')", "checkpoint; use memory; from '{f}'",
)


def sql(attack, _):
    if not attack.options.duckdb:
        return "0: no --duckdb"
    folder = attack.work / "canary"
    folder.mkdir()
    (folder / "bird").write_text("kanarienvogel\n")
    attack.environment["CANARY"] = "kanarienvogel"
    job = attack.work / "queried"
    attack.made("sim", *SMALL, "-o", job)
    for text in ESCAPES:
        done = attack.run("sql", job, text.format(f=folder / "bird", d=folder))
        there = [path.name for path in folder.iterdir()]
        if b"kanarien" in done.stdout + done.stderr or there != ["bird"]:
            attack.find("sql", text, done.returncode, done.stdout, done.stderr)
        elif done.returncode not in (0, 1, 2) or WORDS.search(done.stderr):
            attack.find("sql", text, done.returncode, done.stderr)
    return str(len(ESCAPES))


PARTS = {"inputs": damaged_inputs, "kills": kills, "disks": disks, "allocations": allocations,
         "secrets": secrets, "requests": requests, "sql": sql}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepscope", type=os.path.realpath)
    parser.add_argument("--seed", type=int, default=chosen.seed())
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--faults", type=os.path.realpath)
    parser.add_argument("--duckdb", type=os.path.realpath)
    parser.add_argument("--inputs", type=int, default=2260)
    parser.add_argument("--kills", type=int, default=188)
    parser.add_argument("--disks", type=int, default=49)
    parser.add_argument("--allocations", type=int, default=1456)
    parser.add_argument("--minutes", type=float, default=60, help="of allocations, at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        attack = Attack(options, pathlib.Path(name) / "work")
        attack.work.mkdir()
        for part in options.parts:
            begin = time.monotonic()
            attack.rows[part] = PARTS[part](attack, getattr(options, part, 0))
            print(f"{part:12} {attack.rows[part]} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"attack: seed {options.seed}, {attack.findings} findings")
    return 1 if attack.findings else 0


if __name__ == "__main__":
    sys.exit(main())
