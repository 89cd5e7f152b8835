#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that people pass by mistake: each gets a sentence that says what it is and leads on.

Usage: wrong_inputs.py STEPSCOPE. The files are made here: real ones of their kind, only small.
Each is tried under its own name, under a name that says nothing, compressed, and in a pipe.
"""
import gzip
import io
import os
import pathlib
import pickle
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

STEPSCOPE = sys.argv[1]
FAILED = 1
TRACE = b'{"traceEvents":[]}'

# (what, name, how its sentence begins, a piece of what leads on)
ZIPPED = "a checkpoint of torch.save()"
TABLE = """-------------------------------------------------------  ------------  ------------
                                                   Name    Self CPU %      Self CPU
-------------------------------------------------------  ------------  ------------
                                               aten::mm        41.00%       1.234ms
"""
CATAPULT = "<!DOCTYPE html>\n<html>\n<head i18n-values=\"dir:textdirection;\">\n" \
    "<title>trace.html</title>\n<template id=\"tr-ui-trace-viewer\">catapult</template>"


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, TRACE)
    return buffer.getvalue()


def tarred():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("traces/rank0.json")
        entry.size = len(TRACE)
        archive.addfile(entry, io.BytesIO(TRACE))
    return buffer.getvalue()


def database(script):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.commit()
        connection.close()
        return path.read_bytes()


def event_file():
    event = b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"
    return struct.pack("<QI", len(event), 0xdeadbeef) + event + b"\0\0\0\0"


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def safetensors():
    head = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    return struct.pack("<Q", len(head)) + head + b"\0\0\0\0"


def old_checkpoint():
    return b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."


def npy():
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"\0" * 8


# name, bytes, what the sentence says, what leads on; by_name: only its name tells
KINDS = (
    ("run.nsys-rep", b"\x07\x01nsys\0\xff" * 40, "Nsight Systems", "nsys export --type sqlite",
     True),
    ("run.qdrep", b"\x07\x01\0\xff" * 40, "Nsight Systems", "nsys export --type sqlite", True),
    ("gemm.ncu-rep", b"NVR\0\x10\0\0\0" + b"\x08\x01" * 40, "Nsight Compute", "torch.profiler"),
    ("run.sqlite", database("create table own (a int)"), "SQLite database", "nsys export"),
    ("old.rpd", database("create table rocpd_api (a int); create table rocpd_op (a int)"),
     "rocmProfileData", "rocprofv3"),
    ("events.out.tfevents.1700000000.host.1.0", event_file(), "TensorBoard event file",
     "*.pt.trace.json"),
    ("page.html", b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "HTML page",
     "download the JSON file itself"),
    ("upper.html", b"\n<HTML><HEAD></HEAD></HTML>", "HTML page", "download"),
    ("trace.html", CATAPULT.encode(), "Chrome's trace viewer", "JSON trace from which"),
    ("report.html", b"<!doctype html>\n<html><head><title>stepscope</title>", "report of stepscope",
     "open it in a browser"),
    ("traces.tar", tarred(), "tar archive", "'tar -xf'"),
    ("traces.zip", zipped("traces/rank0.json"), "zip archive", "'unzip'"),
    ("pointer.json", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
     "Git LFS pointer", "'git lfs pull'"),
    ("annexed.json", b"/annex/objects/SHA256E-s1234--00.json\n", "git-annex pointer",
     "'git annex get'"),
    ("ui.pftrace", b"\x0a\x8c\x01\x08\x01" + b"\x12" * 200, "Perfetto protobuf",
     "export_chrome_trace"),
    ("short.pftrace", b"\x0a\x10\x50\x01\x78\x02" + b"\x08" * 200, "Perfetto protobuf",
     "export_chrome_trace", True),
    ("host.xplane.pb", b"\x0a\x10\x08\x01\x12\x02" + b"\x08" * 99, "XPlane profile",
     "xprof", True),
    ("screen.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "a video", "export_chrome_trace"),
    ("screen.webm", b"\x1aE\xdf\xa3\x9fB\x86\x81\x01webm", "a video", "export_chrome_trace"),
    ("plot.png", png(), "an image", "export_chrome_trace"),
    ("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01", "an image", "export_chrome_trace"),
    ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3", "PDF document", "export_chrome_trace"),
    ("model.pt", zipped("archive/data.pkl", "archive/version"), ZIPPED, "export_chrome_trace"),
    ("old.pth", old_checkpoint(), ZIPPED, "export_chrome_trace"),
    ("model.safetensors", safetensors(), "file of tensors", "export_chrome_trace"),
    ("a.npy", npy(), "NumPy array", "export_chrome_trace"),
    ("a.npz", zipped("x.npy"), "NumPy array", "export_chrome_trace"),
    ("weights.h5", b"\x89HDF\r\n\x1a\n\0\0\0\0", "file of tensors", "export_chrome_trace"),
    ("trace.json.bz2", b"BZh91AY&SY\x00\x00", "bzip2", "'bunzip2'"),
    ("trace.json.xz", b"\xfd7zXZ\0\0\x04", "xz", "'unxz'"),
    ("trace.json.lz4", b"\x04\x22\x4d\x18\x64\x40", "lz4", "'unlz4'"),
    ("table.txt", TABLE.encode(), "table that the profiler printed", "export_chrome_trace"),
    ("train.log", b"2026-01-01 12:00:00 INFO step 1 loss 2.31\n", "it is text", "export_chrome"),
    ("colour.log", b"\033[32mINFO\033[0m step 1 loss 2.31\n", "it is text", "export_chrome"),
    ("newline.log", b"\nepoch 1: loss 2.3\n", "it is text", "export_chrome"),
    ("train.py", b"import torch\n\ndef main():\n    pass\n", "it is text", "export_chrome"),
    ("wide.json", "\ufeff{\"traceEvents\":[]}".encode("utf-16-le"), "UTF-16", "iconv"),
    ("picture.svg", b"<?xml version=\"1.0\"?><svg></svg>", "XML file", "export_chrome_trace"),
    ("a.out", b"\x7fELF\x02\x01\x01\0" + b"\0" * 40, "executable", "export_chrome_trace"),
    ("rows.parquet", b"PAR1\x15\x04\x15\x10", "Parquet", "export_chrome_trace"),
    ("empty.json", b"", "the file is empty", "when the recording ends"),
    ("config.json", b'{"lr": 0.1}', "not a profiler trace", "export_chrome_trace"),
    ("numbers.pickle", pickle.dumps({"lr": 0.1}), "not a memory snapshot", "_dump_snapshot"),
)

# of paths that are no files; {0} is the folder
PATHS = (
    ("https://host/trace.json", "it is a URL", "'curl -LO'"),
    ("http://host/trace.json", "it is a URL", "stepscope -'"),
    ("s3://bucket/trace.json", "it is a URL", "'aws s3 cp'"),
    ("gs://bucket/trace.json", "it is a URL", "'gcloud storage cp'"),
    ("hdfs://host/trace.json", "it is a URL", "download it first"),
    ("file:///tmp/trace.json", "it is a URL", "without 'file://'"),
    ("{0}/missing.json", "cannot open", "No such file or directory"),
    ("{0}/missing", "cannot open", "No such file or directory"),
    ("{0}/missing/", "cannot open", "No such file or directory"),
    ("missing.json", "cannot open 'missing.json'", "No such file or directory"),
    ("missing_folder", "cannot open 'missing_folder'", "no file, folder or command"),
    ("{0}/annexed_link.json", "git-annex", "'git annex get'"),
    ("{0}/empty", "is empty", "tensorboard_trace_handler()"),
    ("{0}/source", "no trace files", "2 other files, such as 'a.c'"),
    ("{0}/scalars", "no trace files", "it is a TensorBoard event file"),
    ("{0}/reports", "no trace files", "it is a report of Nsight Systems"),
)


def run(words, stdin=b""):
    result = subprocess.run([STEPSCOPE, *words], input=stdin, capture_output=True, timeout=60)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def check(words, says, leads, stdin=b""):
    code, out, err = run(words, stdin)
    place = " ".join(map(str, words))
    assert code == FAILED, f"{place}: exit code {code}: {err}"
    assert not out, f"{place}: stdout has {out}"
    assert says in err and leads in err, f"{place}: no '{says}' with '{leads}' in: {err}"
    assert err.count("\n") <= 2, f"{place}: {err}"


def check_kind(folder, name, data, says, leads, by_name=False):
    (folder / name).write_bytes(data)
    for command in ([], ["steps"], ["merge", "-o", folder / "out.json"]):
        # pickles are told to go elsewhere where only traces are taken
        if name.endswith(".pickle") and command:
            check([*command, folder / name], "Python pickle", "'stepscope snapshot'")
        else:
            check([*command, folder / name], says, leads)
    if not name.endswith(".gz") and data:
        packed = folder / f"{name}.gz"
        packed.write_bytes(gzip.compress(data))
        if not by_name and not name.endswith(".pickle"):
            check([packed], says, leads)
        packed.unlink()
    if by_name or name.endswith(".pickle"):
        return
    (folder / "unnamed").write_bytes(data)
    check(["diagnose", folder / "unnamed"], says, leads)
    check(["-"], says, leads, stdin=data)


def make_folders(folder):
    for name in ("empty", "source/deep", "scalars", "reports"):
        (folder / name).mkdir(parents=True)
    (folder / "source/a.c").write_text("int main(void) {}\n")
    (folder / "source/deep/b.c").write_text("\n")
    (folder / "scalars/events.out.tfevents.1.host").write_bytes(event_file())
    (folder / "scalars/a.txt").write_text("x\n")
    (folder / "reports/run.nsys-rep").write_bytes(b"\1\2")
    os.symlink("../.git/annex/objects/Xx/yY/SHA256E-s1--0/SHA256E-s1--0",
               folder / "annexed_link.json")


def check_traces_stay_traces(folder):
    """A trace is one under any name; what begins as JSON is never a stranger."""
    for name in ("trace.pt", "trace.html", "trace.log", "x.nsys-rep", "trace.tar"):
        for data in (TRACE, b"\n  " + TRACE, b"\xef\xbb\xbf" + TRACE, gzip.compress(TRACE)):
            (folder / name).write_bytes(data)
            code, _, err = run(["steps", folder / name])
            assert code == 0, f"{name}: {err}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_folders(folder)
        for kind in KINDS:
            check_kind(folder, *kind)
        for path, says, leads in PATHS:
            check([path.format(folder)], says, leads)
        check_traces_stay_traces(folder)
    print(f"{len(KINDS)} kinds of files, {len(PATHS)} paths: each has its sentence")


if __name__ == "__main__":
    main()
