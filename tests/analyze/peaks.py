#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rates of devices, compared with a second table that was collected apart from ours.

Usage: peaks.py STEPSCOPE TRACES. The table is reference/peaks.csv beside the traces. Each of its
devices gets a trace with one product of each type and one copy; the view roofline says which part
of the peak they reach, hence the peak. A cell with several figures allows each of them, and an
unknown rate. Exits 77 (skipped) where there is no table.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
TOLERANCE = 0.01
SIZE = 4096
# column: type of the operands, operator, kernel
COLUMNS = {
    "fp64_tflops": ("double", "aten::mm", "dgemm"),
    "fp32_tflops": ("float", "aten::mm", "sgemm"),
    "tf32_or_fp32matrix_tflops": ("float", "aten::addmm", "s1688gemm"),
    "bf16_tflops": ("c10::BFloat16", "aten::mm", "h884gemm"),
    "fp16_tflops": ("c10::Half", "aten::mm", "h884gemm"),
    "fp8_tflops": ("c10::Float8_e4m3fn", "aten::mm", "h884gemm"),
    "fp4_tflops": ("c10::Float4_e2m1fn_x2", "aten::mm", "h884gemm"),
    "int8_tops": ("signed char", "aten::mm", "i8816gemm"),
    "mem_gb_s": ("float", "aten::copy_", "copy"),
}
DTYPES = {"double": "fp64", "float": "fp32", "c10::BFloat16": "bf16", "c10::Half": "fp16",
          "c10::Float8_e4m3fn": "fp8", "c10::Float4_e2m1fn_x2": "fp4", "signed char": "int8"}
OTHER_DEVICES = "not in table"
# FP32 with shortened operands on AMD's matrix cores: marked in the column of FP32
XF32 = "xf32"
COLUMNS[XF32] = ("float", "aten::addmm", "Cijk_Alik_Bljk_S_MX_B_MT128x128x32_MI16x16x1")
XF32_FIGURE = re.compile(r"(\d[\d.]*) \(TF32\)")


def event(cat, name, start, dur, args, on_device):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if on_device else 1,
            "tid": 7 if on_device else 1, "ts": start, "dur": dur, "args": args}


def trace_of(device, figures):
    """Each piece of work takes twice as long as at the figure of the table."""
    events = []
    for number, (column, figure) in enumerate(figures.items()):
        dtype, operator, kernel = COLUMNS[column]
        shape = [SIZE, SIZE]
        dims = [[SIZE], shape, shape] if operator == "aten::addmm" else [shape, shape]
        dims[-1] = [SIZE, SIZE // 2] if column == XF32 else shape
        amount = (2 * SIZE * SIZE * 4 if operator == "aten::copy_" else 2 * SIZE ** 3) / 1e3
        amount *= 2 if "Float4" in dtype else 0.5 if column == XF32 else 1
        dur = 2 * amount / figure / (1 if operator == "aten::copy_" else 1e3)
        start = 1e6 * (number + 1)
        launch = {"correlation": number + 1}
        events += [
            event("cpu_op", operator, start, 9, {"Input Dims": dims,
                                                 "Input type": [dtype] * len(dims)}, False),
            event("cuda_runtime", "cudaLaunchKernel", start + 1, 1, launch, False),
            event("kernel", kernel, start + 20, dur, {"device": 0, "stream": 7, **launch}, True)]
    return {"deviceProperties": [{"id": 0, "name": device}], "traceEvents": events}


def names_of(pattern):
    """All names that a pattern with alternatives stands for."""
    found = re.search(r"\(([^)]*\|[^)]*)\)", pattern)
    if not found:
        return [pattern]
    return [pattern.replace(found[0], part) for part in found[1].split("|")]


def peaks_of(stepscope, folder, device, figures):
    """What the view takes for the peaks, by column; None: unknown."""
    path = folder / "trace.json"
    path.write_text(json.dumps(trace_of(device, figures)))
    done = subprocess.run([stepscope, "roofline", "--json", "--top", "0", path],
                          capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    keys = [column["name"] for column in document["columns"]]
    rows = [dict(zip(keys, row)) for row in document["rows"]]
    peaks = {}
    for column, figure in figures.items():
        dtype, operator, _ = COLUMNS[column]
        row = next(row for row in rows if row["name"] == operator and
                   row["dtype"] == DTYPES[dtype] and
                   row["shapes"].endswith(str(SIZE // 2)) == (column == XF32))
        share = row["peak_percent"]
        # products also wait for memory, so only a share that computing decides counts
        peaks[column] = figure / (2 * share / 100) if share else None
    return peaks


def check_device(stepscope, folder, device, row):
    matrix = "tf32_or_fp32matrix_tflops"
    row = {**row, XF32: " ".join(XF32_FIGURE.findall(row[matrix])),
           matrix: XF32_FIGURE.sub("", row[matrix])}
    cells = {column: [float(figure) for figure in re.findall(r"\d+(?:\.\d+)?", row[column])]
             for column in COLUMNS}
    cells = {column: figures for column, figures in cells.items() if figures}
    if not cells:
        return 0
    peaks = peaks_of(stepscope, folder, device, {column: max(figures)
                                                 for column, figures in cells.items()})
    wrong = 0
    for column, figures in cells.items():
        peak = peaks[column]
        if peak is None and len(figures) > 1:
            continue
        if peak is None or all(abs(peak / figure - 1) > TOLERANCE for figure in figures):
            print(f"{device}: {column} is {peak}, the table says {row[column]}", file=sys.stderr)
            wrong += 1
    return wrong


def main():
    stepscope, table = sys.argv[1], pathlib.Path(sys.argv[2]) / ".." / "reference" / "peaks.csv"
    if not table.exists():
        sys.exit(SKIPPED)
    wrong, seen = 0, 0
    with table.open() as file, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(file):
            if row["difference_to_peaks_c"] == OTHER_DEVICES:
                continue
            for device in names_of(row["torch_name_pattern"]):
                seen += 1
                wrong += check_device(stepscope, pathlib.Path(folder), device, row)
    print(f"{seen} names, {wrong} rates that differ")
    sys.exit(1 if wrong or not seen else 0)


main()
