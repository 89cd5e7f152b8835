#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JSON and NDJSON are what docs/schema says, and say the same.

Usage: schema.py STEPSCOPE ROOT TRACES. Every view in every group, reports, verdicts, comparisons
and snapshot views of a simulated job, of small files with hostile texts and of recorded traces
validate against the schemas; no member is printed that no schema declares. NDJSON has the cells of
JSON. CSV and NDJSON refuse what has several tables, and name the views.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("schema: python3-jsonschema is not installed (tools/setup installs it)")
    sys.exit(77)

STEPSCOPE = sys.argv[1]
ROOT = pathlib.Path(sys.argv[2])
TRACES = pathlib.Path(sys.argv[3])
FILES = (ROOT / "docs/schema").glob("*.json")
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in FILES}
# control characters, quotes, what is no UTF-8, lone surrogates, line separators, a very long name
HOSTILE = [rb'"a \" b\\ \u0007\u0000 \ud800 \u2028"', b'"\xff\xfe\x80 \xc3("', b'"tab\tnew\nline"',
           b'"' + b"n" * 40000 + b'"', '"é 中 \U0001f600"'.encode()]
REPORTS = ("overview", "info", "hang", "live")


def run(*words, code=0):
    result = subprocess.run([STEPSCOPE, *map(str, words)], capture_output=True, timeout=120)
    assert result.returncode == code, f"{words}: {result.returncode}, {result.stderr.decode()}"
    return result.stdout if code == 0 else result.stderr.decode()


def strict(raw):
    """JSON as the standard has it."""
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")
    return json.loads(raw.decode("utf-8"), parse_constant=refuse)


def undeclared(value, schema, root, at=""):
    """Yields members that the schema does not name."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in schema.get("properties", {}):
                yield f"{at}/{key}"
            else:
                yield from undeclared(inner, schema["properties"][key], root, f"{at}/{key}")
    elif isinstance(value, list) and "items" in schema:
        for inner in value:
            yield from undeclared(inner, schema["items"], root, at)


def check(document, name, what):
    schema = SCHEMAS[name]
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        raise AssertionError(f"{what}: {list(error.path)}: {error.message[:300]}")
    unknown = sorted(set(undeclared(document, schema, schema)))
    assert not unknown, f"{what}: not declared: {unknown}"
    for table in document.get("tables", []):
        view = table["schema"].split(".", 1)[1].split("/")[0]
        if view in SCHEMAS:
            check_rows(table, view, what)


def check_rows(table, view, what):
    """Rows by the names of their columns; the columns are those of the schema, in any order."""
    row_schema = SCHEMAS[view]["$defs"]["row"]
    names = [column["name"] for column in table["columns"]]
    assert set(names) == set(row_schema["properties"]), f"{what}: other columns"
    validator = jsonschema.Draft202012Validator(row_schema)
    rows = [dict(zip(names, cells)) for cells in table["rows"]]
    distinct = {tuple((key, type(value)) for key, value in row.items()): row for row in rows}
    for row in distinct.values():
        for error in validator.iter_errors(row):
            raise AssertionError(f"{what}: {list(error.path)}: {error.message[:300]}")
    return rows


def check_table(words, name):
    """One view: the document, and NDJSON with the same cells."""
    document = strict(run(*words, "--format", "json"))
    check(document, name, words)
    assert set(document["run"]) == set(SCHEMAS[name]["properties"]["run"]["properties"]), words
    rows = check_rows(document, name, words)
    check_lines(run(*words, "--format", "ndjson"), rows, words)
    return len(rows)


def check_lines(raw, rows, what):
    lines = raw.split(b"\n")
    assert lines.pop() == b"", f"{what}: the last line has no end"
    assert [strict(line) for line in lines] == rows, f"{what}: NDJSON differs from JSON"


def views():
    """(name, groups) of all views of traces, from the program itself."""
    listed = run("help").decode().split("Reports and views:")[1].split("Other commands:")[0]
    for name in (line.split()[0] for line in listed.splitlines() if line.strip()):
        if name not in REPORTS:
            properties = SCHEMAS[name]["properties"]
            yield name, properties.get("group", {}).get("enum", [None])


def check_trace(path, all_groups):
    rows = 0
    for name, groups in views():
        for group in groups if all_groups else groups[:1]:
            rows += check_table([name, *(["--group", group] if group else []), path], name)
    for name in REPORTS:
        check(strict(run(name, "--format", "json", path)), name, (name, path))
    for name in ("diagnose", "what-if"):
        document = strict(run(name, "--format", "json", path))
        check(document, name, (name, path))
        lines = [strict(line) for line in run(name, "--format", "ndjson", path).splitlines()]
        assert [line["rule"] for line in lines] == [found["rule"] for found in document["findings"]]
        for line in lines:
            jsonschema.Draft202012Validator(SCHEMAS[name]["$defs"]["row"]).validate(line)
    return rows


def check_snapshot(path):
    rows = 0
    for name in (name for name in SCHEMAS if name.startswith("snapshot-")):
        view = name.removeprefix("snapshot-")
        files = [path, path] if view == "diff" else [path]
        rows += check_table(["snapshot", *files, view], name)
    check(strict(run("snapshot", path, "--format", "json")), "snapshot", path)
    return rows


def check_derived(path, other):
    """Tables with columns of their own: across ranks, compared, lists."""
    for words in (["kernels", "--rank", "all", path], ["explain"], ["sim", "--list"]):
        document = strict(run(*words, "--format", "json"))
        check(document, "table", words)
        names = [column["name"] for column in document["columns"]]
        rows = [dict(zip(names, cells)) for cells in document["rows"]]
        assert rows, words
        check_lines(run(*words, "--format", "ndjson"), rows, words)
    for view in ([], ["--view", "operators"]):
        document = strict(run("diff", *view, "--format", "json", path, other))
        check(document, "compare", ("diff", view))
    table = document["tables"][0]
    names = [column["name"] for column in table["columns"]]
    check_lines(run("diff", "--view", "operators", "--format", "ndjson", path, other),
                [dict(zip(names, cells)) for cells in table["rows"]], "diff")


def check_refused(path, snapshot):
    cases = [(["overview", path], "budget, gaps"), (["info", path], "files, devices"),
             (["diff", path, path], "--view"), (["snapshot", snapshot], "findings, summary")]
    for form in ("csv", "ndjson"):
        for words, said in cases:
            problem = run(*words, "--format", form, code=2)
            assert said in problem and form in problem, problem
        assert run("diff", "--view", "operators", "--format", form, path, path)


def write_hostile(path):
    """A trace with every hostile text as a name and in its metadata."""
    events = []
    for i, name in enumerate(HOSTILE):
        at = str(100 * i).encode()
        events.append(b'{"ph":"X","cat":"cpu_op","name":' + name + b',"pid":1,"tid":1,"ts":' + at +
                      b',"dur":50,"args":{"External id":' + str(i).encode() + b"}}")
        events.append(b'{"ph":"X","cat":"kernel","name":' + name + b',"pid":0,"tid":7,"ts":' + at +
                      b',"dur":9,"args":{"stream":7,"device":0,"External id":' + str(i).encode() +
                      b"}}")
    head = b'{"run_id":' + HOSTILE[0] + b',"command":' + HOSTILE[1] + b',"git_commit":' + HOSTILE[3]
    path.write_bytes(head + b',"traceEvents":[' + b",".join(events) + b"]}")


def main():
    assert list(undeclared({"a": [{"b": 1}]}, {"properties": {"a": {"items": {}}}}, {})) == ["/a/b"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        run("sim", "--preset", "ddp8-straggler", "--ranks", "2", "--steps", "2", "-o",
            folder / "job")
        write_hostile(folder / "hostile.json")
        (folder / "empty.json").write_text('{"traceEvents":[]}')
        # sanitized programs are slow: a group of each view will do, and traces made here
        slow = "STEPSCOPE_SLOW" in os.environ
        rows = check_trace(folder / "job", all_groups=not slow)
        rows += check_trace(folder / "hostile.json", all_groups=False)
        rows += check_trace(folder / "empty.json", all_groups=False)
        check_derived(folder / "job", folder / "job")
        recorded = ROOT / "tests/torch/recorded"
        snapshot = next(recorded.rglob("*.pickle"), None)
        for path in ("cuda/sync_records_simple_add.json.gz", "rocm/mi210_gpu_only.json.gz"):
            if not slow and (TRACES / path).exists():
                rows += check_trace(TRACES / path, all_groups=False)
        for path in ("memory/synthetic_leak_oom.p4.pickle", "memory/cpu_leak.pt.trace.json.gz"):
            if (TRACES / path).exists():
                snapshot = snapshot or TRACES / path
                rows += check_snapshot(TRACES / path)
        if snapshot:
            check_refused(folder / "job", snapshot)
    print(f"schema: {len(SCHEMAS)} schemas, {rows} rows as JSON and NDJSON")


if __name__ == "__main__":
    main()
