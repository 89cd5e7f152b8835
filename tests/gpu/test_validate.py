#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/validate with a stand-in for PyTorch: rows, table, redaction, faults that fail.

    test_validate.py STEPSCOPE                    the tests
    test_validate.py validate ARGUMENTS           validate with the stand-in
    test_validate.py record probe|run ...         the stand-in: copies recordings of tests/torch,
                                                  or fails in the way that the fault is called
"""
import ast
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE.parent / "torch" / "recorded"
SELF = str(pathlib.Path(__file__).resolve())
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import catalog  # noqa: E402
import results  # noqa: E402

# Of a person and a machine that nobody has; the stand-in writes them wherever texts come from.
SECRETS = {"USER": "zebulon", "HOSTNAME": "gpu-node-17.acme.example"}
SECRET_TEXTS = ("zebulon", "gpu-node-17", "acme", "/data", "10.20.30.40")
SECRET_ERROR = ("OutOfMemoryError: no room for zebulon on gpu-node-17.acme.example (10.20.30.40): "
                "'/data/acme/my model.pt', /data/acme/run.py, acme/tool.py(3)")
DEVICE = "NVIDIA Stand-in 80GB"


def stand_in_faults():
    fault = catalog.Fault
    return (fault("straggler_python", "count_words", "copied", "copied", ranks=2),
            fault("out_of_memory", "f", "one rank fails, the other waits for it", ""),
            fault("crash", "f", "one rank crashes, the other meets the echo", ""),
            fault("no_trace", "f", "nothing is recorded", ""),
            fault("three_ranks", "f", "more ranks than there are", "", ranks=3),
            fault("hang", "f", "ranks that do not end", ""))


def load_validate():
    loader = importlib.machinery.SourceFileLoader("validate", str(HERE / "validate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
    loader.exec_module(module)
    return module


def run_validate(arguments):
    validate = load_validate()
    validate.RECORDER = [sys.executable, SELF, "record"]
    validate.GRACE_SECONDS = 0.5
    catalog.FAULTS = stand_in_faults()
    return validate.main(arguments)


def record(arguments):
    """What rank.py does, without PyTorch."""
    if arguments[0] == "probe":
        gpus = [DEVICE] * int(os.environ.get("STAND_IN_GPUS", "2"))
        print(json.dumps({"torch": "2.14.1", "gpus": gpus, "about": SECRET_ERROR}))
        return 0
    name, folder, rank = arguments[1], pathlib.Path(arguments[2]), int(os.environ["RANK"])
    (folder / f"pid{rank}").write_text(str(os.getpid()))
    if name == "hang" or name == "out_of_memory" and rank == 0:
        time.sleep(600)
    if name == "out_of_memory":
        (folder / f"error{rank}.txt").write_text(SECRET_ERROR)
        return 1
    if name == "crash" and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "crash":
        other = folder / "pid1"
        while not other.exists() or is_running(other.read_text() or os.getpid()):
            time.sleep(0.05)
        (folder / "error0.txt").write_text("RuntimeError: connection closed by peer")
        return 1
    for loop, suffix in (("fault", ""), ("twin", "_fixed")):
        (folder / loop).mkdir(exist_ok=True)
        if name != "no_trace":
            trace = f"rank{rank}.pt.trace.json.gz"
            shutil.copy(RECORDED / (name + suffix) / trace, folder / loop / trace)
    (folder / "measured.json").write_text(
        json.dumps({"fault": [10, 12, 10, 90], "twin": [5, 6, 5, 5]}))
    return 0


def start(arguments, folder, **more):
    environment = dict(os.environ, **SECRETS, TMPDIR=str(folder), **more)
    return subprocess.Popen([sys.executable, SELF, "validate", "--out", str(folder / "out.json"),
                             *arguments], env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def is_running(process):
    """Whether a process is there and has not ended."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Runs(unittest.TestCase):
    stepscope = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_it(self, *arguments, **more):
        process = start(["--stepscope", self.stepscope, *arguments], self.folder, **more)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def result(self):
        return json.loads((self.folder / "out.json").read_text())

    def test_rows(self):
        names = [fault.name for fault in stand_in_faults() if fault.name != "hang"]
        status, out, err = self.run_it(*(part for name in names for part in ("--only", name)))
        self.assertEqual(status, 1, err)  # some rows have a reason
        rows = {row["name"]: row for row in self.result()["faults"]}
        self.assertEqual(list(rows), names)
        self.check_good_row(rows["straggler_python"], out)
        for name, reason in (("out_of_memory", "OutOfMemoryError: no room"),
                             ("crash", "ended by SIGKILL"), ("no_trace", "stepscope: "),
                             ("three_ranks", "needs 3 ranks")):
            self.assertIn(reason, rows[name]["reason"])
            line = next(line for line in out.splitlines() if line.startswith(name))
            self.assertIn(f"not run: {rows[name]['reason']}", line)
            self.assertNotIn("fault", rows[name])
        self.check_secrets(out)

    def check_good_row(self, row, out):
        first = row["fault"]["findings"][0]
        self.assertEqual((first["rule"], first["level"], first["names_place"]),
                         ("straggler", "warning", True))
        self.assertLessEqual(first["low_percent"], first["high_percent"])
        self.assertEqual(row["measured"]["gain_percent"], 50)  # the disturbed round does not count
        head, line = out.splitlines()[:2]
        self.assertEqual([head.index(column) for column in results.COLUMNS],
                         sorted(head.index(column) for column in results.COLUMNS))
        for column, cell in (("planted place", "faults.py:count_words "), ("named", "yes "),
                             ("first finding", "straggler "), ("measured", "50 % (")):
            self.assertTrue(line[head.index(column):].startswith(cell), line)

    def check_secrets(self, out):
        text = (self.folder / "out.json").read_text()
        for secret in (*SECRET_TEXTS, str(self.folder), str(HERE)):
            self.assertNotIn(secret, text)
            self.assertNotIn(secret, out.rpartition("Please send back")[0])
        self.assertEqual(self.result()["machine"]["gpus"], [DEVICE] * 2)
        self.assertEqual(self.result()["machine"]["torch"], "2.14.1")

    def test_interrupt(self):
        for number, name in ((signal.SIGINT, "first"), (signal.SIGTERM, "second")):
            process = start(["--stepscope", self.stepscope, "--only", "three_ranks", "--only",
                             "hang", "--keep", str(self.folder / name)], self.folder)
            pids = [self.folder / name / "hang" / f"pid{rank}" for rank in range(2)]
            until = time.monotonic() + 60
            while not all(pid.exists() and pid.read_text() for pid in pids):
                self.assertLess(time.monotonic(), until, "the ranks did not start")
                time.sleep(0.05)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertEqual([row["reason"] for row in self.result()["faults"]],
                             ["needs 3 ranks", "interrupted"])
            self.assertIn("not run: interrupted", out)
            self.assertFalse(any(is_running(pid.read_text()) for pid in pids))

    def test_refusals(self):
        for arguments, gpus, status, words in (
                ([], "0", 1, "--device cpu"),
                (["--ranks", "4"], "2", 1, "PyTorch finds 2"),
                (["--only", "nonsense"], "2", 2, "no fault called 'nonsense'"),
                (["--ranks", "9"], "2", 2, "1 to 8"),
                (["--stepscope", "/nonexistent/stepscope"], "2", 1, "--stepscope PATH")):
            got, _out, err = self.run_it(*arguments, STAND_IN_GPUS=gpus)
            self.assertEqual(got, status, err)
            self.assertIn(words, err)
            self.assertFalse((self.folder / "out.json").exists())


class Parts(unittest.TestCase):
    def test_catalog(self):
        """Every fault has its loop and its place in faults.py."""
        tree = ast.parse((HERE / "faults.py").read_text())
        top = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        everywhere = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.assertEqual(len({fault.name for fault in catalog.FAULTS}), 12)
        for fault in catalog.FAULTS:
            self.assertIn(fault.name, top)
            self.assertEqual(everywhere.count(fault.function), 1, fault.function)

    def test_list(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(load_validate().main(["--list"]), 0)
        self.assertEqual([line.split()[:2] for line in out.getvalue().splitlines()],
                         [[fault.name, fault.place] for fault in catalog.FAULTS])

    def test_redact(self):
        for text, wanted in (
                ("/home/x/site-packages/torch/nn/a.py(3): f", "torch/nn/a.py(3): f"),
                ("/opt/conda/lib/python3.12/copy.py(128): g", "copy.py(128): g"),
                ("/home/x/tests/gpu/faults.py(7): h", "faults.py(7): h"),
                (r"C:\Users\x\run.py ended", "PATH ended"),
                ("private/run.py(3): f, ~/private", "PATH(3): f, PATH"),
                ("'/home/x y/a b.json' is missing", "'PATH' is missing"),
                ("fe80::1 and 10.0.0.1:29500", "ADDRESS and ADDRESS:29500"),
                ("Node1 of node1.lan, node10", "NAME of NAME.lan, node10"),
                ("12.5 GB/s of c10::Error, gather/scatter", None)):
            self.assertEqual(results.redact([{"text": text}], {"node1"}),
                             [{"text": wanted or text}])

    def test_place(self):
        fault = catalog.Fault("x", "move", "", "")
        for text, is_named in (("faults.py(3): move takes 2 ms", True), ("faults.py:3 move", True),
                               ("faults.py(3): move_batch", False), ("models.py(3): move", False),
                               ("my_faults.py(3): move", False)):
            finding = {"rule": "r", "evidence": [{"text": "t", "line": text}]}
            self.assertEqual(results.names_place(finding, fault), is_named, text)
        self.assertFalse(results.names_place({"fix": "faults.py(3): move"}, fault))


if __name__ == "__main__":
    if sys.argv[1] == "validate":
        sys.exit(run_validate(sys.argv[2:]))
    if sys.argv[1] == "record":
        sys.exit(record(sys.argv[2:]))
    Runs.stepscope = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
