#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command 'sql' as its users meet it: formats, outputs, errors, a prompt, hostile queries.

Usage: queries.py STEPSCOPE DUCKDB. Without DuckDB only what needs none is tried.
"""
import gzip
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STEPSCOPE, DUCKDB = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
# a sanitizer of C looks for the functions of C++ when the program starts, before DuckDB is loaded
if "STEPSCOPE_SLOW" in os.environ:
    os.environ["LD_PRELOAD"] = "libstdc++.so.6"
ENDLESS = "select sum(a.slice % 5 + b.slice % 3 + c.slice) as x from slices a, slices b, slices c"
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:1200])


def run(*words, typed=None, code=FINE, duckdb=DUCKDB, folder=None):
    environment = {key: value for key, value in os.environ.items() if key != "STEPSCOPE_DUCKDB"}
    if duckdb:
        environment["STEPSCOPE_DUCKDB"] = str(duckdb)
    result = subprocess.run([STEPSCOPE, "sql", *(str(word) for word in words)], cwd=folder,
                            input=typed or b"", capture_output=True, check=False, timeout=300,
                            env=environment)
    out, err = result.stdout.decode(), result.stderr.decode()
    check(result.returncode == code, words, "gives", result.returncode, "not", code, err)
    check("runtime error" not in err and "AddressSanitizer" not in err, words, err)
    return out, err


def fails(words, *parts, code=USAGE, **more):
    """One sentence on standard error, which has these parts; nothing on standard output."""
    out, err = run(*words, code=code, **more)
    lines = [line for line in err.splitlines() if line.startswith("stepscope sql: ")]
    check(not out and len(lines) == 1, words, "prints", out, err)
    for part in parts:
        check(part in err, words, "does not say", part, "but", err)


def rows_of(*words, **more):
    return json.loads(run(*words, "--json", **more)[0])["rows"]


def event(name, start, dur, cat="cpu_op", pid=1, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur,
            "args": args}


def write_trace(path, events, **more):
    with gzip.open(path, "wt") as file:
        json.dump({"traceEvents": events, **more}, file)
    return path


def check_without(folder):
    """What needs no DuckDB, and the sentence where it is missing."""
    check("slices" in run(".tables", duckdb=None)[0], "no table in .tables")
    check(rows_of(".schema", duckdb=None)[0][:3] == ["slices", "rank", "BIGINT"], ".schema")
    check("ENUM" in run(".schema slices", duckdb=None)[0], ".schema slices")
    check(run(".schema", "slices", duckdb=None) == run(".schema slices", duckdb=None), "words")
    fails([".schema slcies"], "did you mean 'slices'", duckdb=None)
    fails([".nothing"], ".tables", duckdb=None)
    fails([folder / "job", "select 1"], "get it with: ", "STEPSCOPE_DUCKDB", code=FAILED,
          duckdb="/nowhere/libduckdb.so")
    fails([folder / "job", "select 1"], "cannot load DuckDB", code=FAILED, duckdb=STEPSCOPE)
    fails([], "expected a trace and a query")
    fails(["select 1"], "expected a trace")


def check_formats(job):
    query = "select 1 as a, 'x,\"y' as b, null as c, 1.5 as d"
    check(run(job, query, "--format", "csv")[0] == 'a,b,c,d\r\n1,"x,""y",,1.500000\r\n', "csv")
    check(run(job, query, "--format", "ndjson")[0] ==
          '{"a":1,"b":"x,\\"y","c":null,"d":1.500000}\n', "ndjson")
    check("| 1" in run(job, query, "--format", "markdown")[0], "markdown")
    check(run(job, "select 2000000 as t_ns")[0].split() == ["t", "2.00", "ms"], "units")
    check(run(job, "select 1 as a; select 2 as b", "--format", "csv")[0] == "a\r\n1\r\nb\r\n2\r\n",
          "two queries")
    check(rows_of(job, "select date '2026-01-02' as d, [1, 2] as l, true as t, 'a' || chr(0) as z, "
                  "1::hugeint as h, 7::utinyint as u, interval 1 day as i, {'k': 1} as s") ==
          [["2026-01-02", "[1, 2]", "true", "a?", 1, 7, "1 day", "{'k': 1}"]], "types")
    check(run(job, "create table t as select 1 as a", "--json")[0] == "", "no rows")
    check("no rows" in run(job, "select 1 as a where false")[0], "empty result")
    plan = run(job, "explain select count(*) from slices")[0]
    check(plan.count("\n") > 5 and "explain" not in plan, "the plan as DuckDB draws it")
    check(run(job, "-", typed=b"select 3 as a;", )[0].split() == ["a", "3"], "standard input")
    check(run(job, typed=b"select 3 as a")[0].split() == ["a", "3"], "a pipe")
    wide = ", ".join(f"{i} as c{i}" for i in range(70))
    fails([job, f"select {wide}"], "70 columns", "--format")
    check(len(rows_of(job, f"select {wide}")[0]) == 70, "70 columns as JSON")
    tables = [row[0] for row in rows_of(".tables")]
    texts = run(job, "".join(f"select '{name}' as name, count(*) from {name};" for name in tables),
                "--format", "ndjson")[0].splitlines()
    check([json.loads(text)["name"] for text in texts] == tables, "not every table can be read")
    check(rows_of(job, "select count(*) from (show tables)") == [[len(tables)]], "show tables")


def check_outputs(folder, job):
    queries = folder / "queries.sql"
    queries.write_text("-- a comment; with a semicolon\nselect ';' as a, $$;$$ as b, 1 as \"c;\";\n"
                       "/* ; */ select 2 as d;;\n")
    check(run(job, "-f", queries, "--format", "ndjson")[0] ==
          '{"a":";","b":";","c;":1}\n{"d":2}\n', "a file of queries")
    parquet = folder / "it's.parquet"
    run(job, "from slices", "-o", parquet)
    check(rows_of(job, "--allow-files", "select count(*) - (select count(*) from slices) from "
                  "read_parquet('" + str(parquet).replace("'", "''") + "')") == [[0]], "parquet")
    before = queries.read_text()
    run(job, "-f", queries, "-o", queries, code=USAGE)
    check(queries.read_text() == before, "an input was overwritten")
    fails([job, "selct", "-o", folder / "none.parquet"], "valid SQL")
    check(sorted(path.name for path in folder.iterdir() if "none" in path.name or
                 ".part" in path.name) == [], "left behind", list(folder.iterdir()))
    run(job, "select 1 as a", "-o", folder / "one.csv", "--format", "csv")
    check((folder / "one.csv").read_bytes() == b"a\r\n1\r\n", "-o")


def check_errors(job, folder):
    fails([job, "selct 1"], "not valid SQL", "DuckDB: Parser Error")
    fails([job, "select * from slcies"], "no table called 'slcies'; did you mean 'slices'?")
    fails([job, "select * from qqqqqqqqqq"], "no table called", ".tables")
    fails([job, "select nme from slices"], "Candidate bindings", "name")
    fails([job, "from slices(rank := 99)"], "no file for rank 99")
    fails([job, "from kernels(rank := 99)"], "no file for rank 99")
    fails([job, "from operators(by := 'x')"], "has no group 'x'")
    fails([job, "from kernels(step := 'x')"], "no step 'x'")
    fails([job, "from kernels(rank := 'all')"], "'rank' is a number")
    fails([job, "select ?"], "parameter")
    fails([job, "select sum(9223372036854775807) from range(3)"], "64 bits")
    fails([job, "select error('mine')"], "mine")
    fails([folder / "nothing", "select 1"], "nothing", code=FAILED)
    fails([job, "-f", folder / "nothing.sql"], "cannot open", code=FAILED)
    fails([job, "select 1", "--memory-limit", "20M"], "--memory-limit", code=FAILED)
    fails([job, "select count(distinct a.slice * 100000 + b.slice) from slices a, slices b",
           "--memory-limit", "120M", "--threads", "1"], "more memory", code=FAILED)


def check_locks(job, folder):
    """Queries reach nothing outside."""
    secret = folder / "secret.csv"
    secret.write_text("a\n1\n")
    for query in (f"from read_csv('{secret}')", f"from '{secret}'",
                  f"copy (select 1) to '{folder}/x'", f"attach '{folder}/x.db' as x",
                  "install httpfs", "load httpfs",
                  "set enable_external_access = true", "set threads = 3", "reset memory_limit",
                  f"export database '{folder}/x'", "from glob('/etc/*')",
                  f"select content from read_text('{secret}')", "pragma enable_profiling = 'json'",
                  f"set profiling_output = '{folder}/x'", "set lock_configuration = false"):
        out, err = attempt(job, query)
        check("a\n1" not in out and err, query, out, err)
    check(not list(folder.glob("x*")), "a query wrote", list(folder.glob("x*")))
    check(rows_of(job, "--allow-files", f"from read_csv('{secret}')") == [[1]], "--allow-files")


def attempt(*words):
    result = subprocess.run([STEPSCOPE, "sql", *(str(word) for word in words)], check=False,
                            capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                            env=dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB)))
    check(result.returncode in (FAILED, USAGE), words, "gives", result.returncode)
    return result.stdout, result.stderr


def check_inputs(folder):
    """Traces that are odd: empty, cut, without a rank, with strange names."""
    empty = write_trace(folder / "empty.json.gz", [])
    check(rows_of(empty, "select count(*) from slices") == [[0]], "an empty trace")
    check(rows_of(empty, "from findings") == [] and rows_of(empty, "from account") == [], "empty")
    check(rows_of(empty, "select name from slices group by name") == [], "empty names")
    names = ["it's", 'a "quoted" name', "semi;colon", "nul\0byte", "tab\tand\nline", "\ud800",
             "日本語", "", "--", "'; drop table slices; --", "a" * 5000]
    odd = write_trace(folder / "odd.json.gz",
                      [event(name, i * 10, 5) for i, name in enumerate(names)])
    check(rows_of(odd, "select count(*), count(distinct name) from slices") == [[11, 11]], "names")
    check(rows_of(odd, "select dur_ns from slices where name = 'it''s'") == [[5000]], "a quote")
    check(rows_of(odd, "select length(name::varchar) from slices order by 1 desc limit 1") ==
          [[5000]], "a long name")
    check(rows_of(odd, "select rank from slices limit 1") == [[None]], "a file without a rank")
    check([row[0] for row in rows_of(odd, "select name from slices order by name")][1:4] ==
          ["'; drop table slices; --", "--", 'a "quoted" name'], "ENUM sorts as texts do")
    whole = gzip.decompress((folder / "job" / "rank1.json.gz").read_bytes())
    cut = folder / "cut.json"
    cut.write_bytes(whole[:len(whole) // 2])
    check(rows_of(cut, "select count(*) > 100 from slices") == [["true"]], "a cut file")
    missing = folder / "missing"
    missing.mkdir()
    for rank in (0, 3):
        os.link(folder / "job" / f"rank{rank}.json.gz", missing / f"rank{rank}.json.gz")
    check(rows_of(missing, "select distinct rank from slices order by rank") == [[0], [3]],
          "missing ranks")
    check(len(rows_of(missing, "select distinct rank from steps")) == 2, "missing ranks")


def check_streams(job):
    """Rows come while the query runs: memory does not grow with them, and a reader may leave."""
    out, _ = run(job, "select i from range(1000000) t(i)", "--format", "csv", "--memory-limit",
                 "200M")
    check(out.count("\n") == 1000001 and out.endswith("999999\r\n"), "a million rows")
    with subprocess.Popen([STEPSCOPE, "sql", job, "from range(100000000)", "--format", "csv"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB))) as endless:
        first = endless.stdout.read(4096)
        endless.stdout.close()
        endless.stderr.read()
        check(first.startswith(b"range\r\n0\r\n1\r\n") and endless.wait(timeout=60) != FINE, first)
    with subprocess.Popen([STEPSCOPE, "sql", job, ENDLESS], stderr=subprocess.PIPE,
                          env=dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB))) as endless:
        time.sleep(2)
        endless.send_signal(signal.SIGINT)
        check(b"stopped" in endless.stderr.read(), "Ctrl-C is not reported")
        check(endless.wait(timeout=60) == INTERRUPTED, "Ctrl-C gives", endless.returncode)


class Terminal:
    """The prompt on a terminal of its own."""

    def __init__(self, folder, *words):
        environment = dict(os.environ, STEPSCOPE_DUCKDB=str(DUCKDB), TERM="xterm",
                           XDG_STATE_HOME=str(folder / "state"),
                           ASAN_OPTIONS="detect_leaks=0")  # libedit keeps names of functions
        self.process, self.file = pty.fork()
        if not self.process:
            os.execve(STEPSCOPE, [STEPSCOPE, "sql", *(str(word) for word in words)], environment)

    def type(self, keys, until, seconds=60):
        """Sends keys and reads until the text comes."""
        os.write(self.file, keys)
        return self.read(until, seconds)

    def read(self, until, seconds=60):
        text, end = b"", time.monotonic() + seconds
        while until not in text and time.monotonic() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    text += os.read(self.file, 65536)
                except OSError:
                    break
        check(until in text, "the prompt does not answer", until, "but", text)
        return text

    def leave(self):
        """One Ctrl-D; a prompt that does not go is ended."""
        os.write(self.file, b"\x04")
        end, status = time.monotonic() + 60, None
        while status is None and time.monotonic() < end:
            time.sleep(0.1)
            gone, code = os.waitpid(self.process, os.WNOHANG)
            status = code if gone else None
        if status is None:
            os.kill(self.process, signal.SIGKILL)
            _, status = os.waitpid(self.process, 0)
        check(os.waitstatus_to_exitcode(status) == FINE, "the prompt ends with", status)
        os.close(self.file)


def check_prompt(folder, job):
    terminal = Terminal(folder, job)
    terminal.read(b"sql> ")
    terminal.type(b"select 41 +\n", b"...> ")
    terminal.type(b" 1 as answer;\n", b"42")
    terminal.type(b"select * from slcies;\n", b"did you mean 'slices'")
    terminal.type(b".schema account\n", b"share_percent")
    terminal.type(ENDLESS.encode() + b";\n", b"ces c;")
    time.sleep(1)
    terminal.type(b"\x03", b"stopped")
    terminal.type(b"select 6 * 7 + 1 as more;\n", b"43\r\nsql> ")
    time.sleep(1)
    terminal.type(b"select 'never", b"never")
    terminal.type(b"\x03", b"^C\r\nsql> ")
    terminal.leave()
    history = (folder / "state/stepscope/sql_history").read_text(encoding="utf-8")
    check("select 41 +\n 1 as answer;\n" in history and "never" not in history, history)
    check((folder / "state/stepscope/sql_history").stat().st_mode & 0o77 == 0, "others may read it")


def check_keys(folder, job):
    """What libedit adds; builds without it have a plain prompt."""
    terminal = Terminal(folder, job)
    terminal.read(b"sql> ")
    os.write(terminal.file, b"from acc\t")
    time.sleep(1)
    text = terminal.type(b";\n", b"sql> ")
    if b"unexplained" in text:
        terminal.type(b"\x1b[A\n", b"unexplained")
        terminal.type(b"select * from s\t", b"stragglers")
        terminal.type(b"\x03", b"^C\r\nsql> ")
    terminal.leave()


def sql_of_version(folder, **variables):
    """What `version --json` says of SQL, with these variables and no others."""
    done = subprocess.run([STEPSCOPE, "version", "--json"], cwd=folder, capture_output=True,
                          check=True, env=variables)
    return json.loads(done.stdout)["sql"]


def check_places(folder):
    """DuckDB is found where installers put it, by absolute paths; the last answer says the way."""
    for variable, place in (("HOME", ".local/lib"), ("CONDA_PREFIX", "lib"),
                            ("HOMEBREW_PREFIX", "lib")):
        library = folder / variable / place / "libduckdb.so"
        library.parent.mkdir(parents=True)
        library.symlink_to(DUCKDB)
        told = sql_of_version(folder, **{variable: str(folder / variable)})
        check(told["works"] and told["library"] == str(library) and told["version"], told)
        up = "../" * (place.count("/") + 1)
        here = sql_of_version(folder / variable / place, **{variable: up})
        check(not here["works"], "a relative path was taken:", here)
    here = folder / "HOME/.local/lib"
    for value in ("libduckdb.so", ".", "./libduckdb.so"):
        told = sql_of_version(here, STEPSCOPE_DUCKDB=value)
        check("not an absolute path" in told.get("problem", ""), value, told)
    (folder / "HOME/bin").mkdir()
    copy = folder / "HOME/bin/stepscope"
    shutil.copy(STEPSCOPE, copy)
    (folder / "HOME/lib").symlink_to(here)
    done = subprocess.run([copy, "version", "--json"], capture_output=True, check=True, env={})
    told = json.loads(done.stdout)["sql"]
    check(told["works"] and "/bin/../lib/" in told["library"], "beside the command:", told)
    library = here / "libduckdb.so"
    library.unlink()
    library.write_bytes(b"not a library")
    told = sql_of_version(folder, HOME=str(folder / "HOME"))
    check(not told["works"] and "cannot load" in told["problem"], told)
    for variable, way in (("HOME", "libduckdb-linux-"), ("CONDA_PREFIX", "conda install")):
        told = sql_of_version(folder, **{variable: "/nowhere"})
        check(told["works"] or way in told["problem"], way, told)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        job = folder / "job"
        subprocess.run([STEPSCOPE, "sim", "-p", "ddp8-slow", "--ranks", "4", "--steps", "1", "-o",
                        job], capture_output=True, check=True)
        check_without(folder)
        if DUCKDB.exists():
            check_formats(job / "rank1.json.gz")
            check_outputs(folder, job / "rank1.json.gz")
            check_errors(job / "rank1.json.gz", folder)
            check_locks(job / "rank1.json.gz", folder)
            check_inputs(folder)
            check_streams(job / "rank1.json.gz")
            check_prompt(folder, job / "rank1.json.gz")
            check_keys(folder, job / "rank1.json.gz")
            check_places(folder)
        else:
            print(f"no {DUCKDB}: most is left out")
    print(f"{len(failures)} failures")
    print("\n".join(failures))
    sys.exit(bool(failures))


main()
