#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Known work of the device in every real trace: how much of it, and at which rates.

Usage: real_work.py STEPSCOPE TRACES. Where sizes are recorded, bytes are known for 90 % of the time
of all operators that have a formula; no rate is above a peak of its device, by the program's table
and by a second one beside the traces (reference/peaks.csv); and nothing is said against kernels
that reach 80 % of what is reachable. Prints what is unknown. Exits 77 (skipped) where there are no
traces.
"""
import collections
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from chosen import share

SKIPPED = 77
LEAST_KNOWN = 0.9
GOOD_PERCENT = 80
# no formula: libraries of others, kernels of users, attention with pages or packed batches
WITHOUT = {"other", "attention"}
REACHED = re.compile(r"good kernels take about (\d+) % of it")


PEAKS_OF = {"fp64": ["fp64_tflops"], "fp32": ["fp32_tflops", "tf32_or_fp32matrix_tflops"],
            "bf16": ["bf16_tflops"], "fp16": ["fp16_tflops"], "fp8": ["fp8_tflops"]}


def rows_of(stepscope, path, view="roofline"):
    """The rows of a view as dictionaries; none where the file cannot be read."""
    words = ["--top", "0", path] if path else []
    done = subprocess.run([stepscope, view, "--json", *words], capture_output=True, text=True)
    if done.returncode:
        return []
    document = json.loads(done.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def has_types(path):
    """Whether the types of operands are recorded."""
    with gzip.open(path, "rb") as file:
        return re.search(rb'"Input type": ?\[ ?"', file.read()) is not None


def unknown_parts(rows):
    """How much time the operators with sizes take, and that of each whose bytes are unknown."""
    unknown = collections.Counter()
    for row in rows:
        if row["moved_bytes"] is None:
            unknown[row["name"]] += row["device_ns"]
    return sum(row["device_ns"] for row in rows), unknown


def peaks_of_device(name, table):
    """TFLOP/s by type, of the device with that name; {}: it is not in the table."""
    for row in table:
        if not re.search(rf"(?<!\w)(?:{row['torch_name_pattern']})(?!\w)", name):
            continue
        found = {dtype: [float(figure) for column in columns
                         for figure in re.findall(r"\d[\d.]*", row[column])]
                 for dtype, columns in PEAKS_OF.items()}
        return {dtype: max(figures) for dtype, figures in found.items() if figures}
    return {}


def check_rates(rows, peaks):
    """Rates are those of all calls, also of those that count for no share of the peak."""
    for row in rows:
        if (row["peak_percent"] or 0) > 100:
            yield f"{row['name']} is at {row['peak_percent']} % of the peak"
        if (row["tflop_per_s"] or 0) > peaks.get(row["dtype"], float("inf")):
            yield f"{row['name']} reaches {row['tflop_per_s']} of {peaks[row['dtype']]} TFLOP/s"


def check_known(path, rows):
    rows = [row for row in rows
            if row["device_ns"] and row["shapes"] and row["kind"] != "communication"]
    total, unknown = unknown_parts(rows)
    if not total:
        return
    known = 1 - sum(unknown.values()) / total
    listed = ", ".join(f"{name} {100 * ns / total:.1f} %" for name, ns in unknown.most_common(5))
    print(f"{path}: bytes of {100 * known:.1f} %" + (f"; unknown: {listed}" if listed else ""))
    total, unknown = unknown_parts([row for row in rows if row["kind"] not in WITHOUT])
    if total and has_types(path) and sum(unknown.values()) > (1 - LEAST_KNOWN) * total:
        yield f"work with a formula is unknown: {dict(unknown.most_common(3))}"


def check_advice(stepscope, path, rows, compares):
    """Rules that keep the work say what good kernels take, where that is known, and no others."""
    done = subprocess.run([stepscope, "diagnose", "--json", path], capture_output=True, text=True)
    known = {row["name"] for row in rows} - {row["name"] for row in rows
                                             if row["reach_percent"] is None}
    for finding in json.loads(done.stdout or "{}").get("findings", []):
        for text in (evidence["text"] for evidence in finding["evidence"]):
            reached = REACHED.search(text)
            if reached and finding["rule"] not in compares:
                yield f"{finding['rule']} compares kernels and does not declare that: {text}"
            if reached and int(reached[1]) > GOOD_PERCENT:
                yield f"{finding['rule']}: advice on kernels that reach {reached[1]} %"
            if not reached and finding["rule"] in compares and text.split()[0].rstrip(":") in known:
                yield f"{finding['rule']} does not say what good kernels take: {text}"


def main():
    stepscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    paths = [path for path in sorted(folder.rglob("*.json.gz"))
             if not path.relative_to(folder).parts[0].startswith(("cpu", "faults", "memory"))]
    if not paths:
        sys.exit(SKIPPED)
    source = folder / ".." / "reference" / "peaks.csv"
    table = list(csv.DictReader(source.open())) if source.exists() else []
    compares = {row["rule"] for row in rows_of(stepscope, None, "explain") if row["keeps_work"]}
    wrong, seen, compared = 0, 0, 0
    for path in share(paths):
        rows = rows_of(stepscope, path)
        if not any(row["device_ns"] and row["shapes"] for row in rows):
            continue
        seen += 1
        devices = [row["name"] for row in rows_of(stepscope, path, "devices") if row.get("name")]
        peaks = peaks_of_device(devices[0], table) if devices else {}
        compared += sum(row["dtype"] in peaks and row["tflop_per_s"] is not None for row in rows)
        for what in (*check_rates(rows, peaks), *check_known(path, rows),
                     *check_advice(stepscope, path, rows, compares)):
            print(f"{path}: {what}", file=sys.stderr)
            wrong += 1
    print(f"{seen} traces with sizes, {compared} rates compared with the second table, "
          f"{wrong} flaws")
    sys.exit(1 if wrong else 0)


main()
