#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every snippet of the README and of docs/ works, or says what it needs.

Usage: snippets.py STEPSCOPE ROOT TRACES

A fence has a language, and after it what the snippet needs: ```python needs=torch. Commands of
stepscope run against a simulated job, those in tables and sentences, too; shown.py compares their
outputs. Shell runs as a whole; with `needs` only its commands of stepscope do. JSON is parsed, C
compiled against the public header. Python runs; with needs=torch where PyTorch is present (its CPU
build is enough), and stepscope opens the traces that it writes. `part` marks Python with arguments
left out, which is only compiled, as is Python with other needs. STEPSCOPE_PYTHON="chroot /x python"
and STEPSCOPE_PYTHON_ROOT=/x name a Python with PyTorch elsewhere.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import chosen

BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(stepscope [^`\n]+)`")
COMMAND = re.compile(r"^(stepscope .*)$", re.MULTILINE)
SHOWN = re.compile(r"^\$ (stepscope .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
ELIDED = re.compile(r",? *(?<!\")\.\.\.(?!\")")
LANGUAGES = ("bash", "c", "html", "json", "python", "sh", "sql", "text", "yaml")
DUCKDB = "ui/node_modules/@duckdb/node-bindings-linux-x64"
# What a reader would put there, and what it is here.
PLACEHOLDERS = {
    "PATH": "traces", "PATH...": "traces", "FOLDER": "traces", "BEFORE": "before", "AFTER": "after",
    "A": "before", "B": "after", "RULE": "straggler", "COMMAND": "diagnose", "VIEW": "gaps",
    "N": "0", "LINK": "#/gaps", "$TRACES": "traces", "/tmp/traces": "traces",
    "outputs/profiling/traces/": "traces", "traces/rank0.stepscope": "packed/rank0.stepscope",
    "run.sqlite": "traces", "results.db": "traces",
}
SNAPSHOTS = {"memory.pickle": "synthetic_leak_oom.p4.pickle", "before.pickle":
             "synthetic_leak.p4.pickle", "after.pickle": "synthetic_leak_oom.p4.pickle"}
# These run until somebody stops them, or simulate a thousand ranks.
ENDLESS = ("serve", "demo")
LARGE = "--ranks 1024"
PYTHON_AROUND = "indices, lengths, rank = range(4), [4, 2, 3, 1], 0\n" \
    "world_size, loader = 2, range(3)\n"
C_AROUND = """#include <stepscope_arrow.h>
void fail(const char *text);
void snippet(struct ss_session *session, struct ss_error err);
void snippet(struct ss_session *session, struct ss_error err)
{
%s
}
"""
# Runs snippets one after the other, each with the names that the pages take for granted: a small
# model, its data and its loop, as one rank. What fails is printed as JSON.
TORCH_RUN = """
import concurrent.futures, contextlib, itertools, json, os, sys, traceback
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.profiler import profile, record_function, schedule, tensorboard_trace_handler

def names(page):
    rank, step, size, device, inputs, outputs, losses, total = 0, 100, (4, 8), "cpu", 3, 8, [], 0
    plain = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    model = plain if page in ("small-buckets", "unused-parameters") else DDP(plain)
    loader = micro_batches = val_loader = [torch.randn(4, 8) for _ in range(24)]
    batch = x = loader[0]
    a = b = torch.ones(4, 8)
    values = [1.0]
    optimizer = torch.optim.AdamW(model.parameters())
    loss = model(batch).sum()

    def f(x): return x * 2
    def log(step, values): return None
    def loss_fn(out): return out.sum()
    def validate(model, batches): return [model(batch) for batch in batches]
    def train_step(batch):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
    return {**globals(), **locals()}

torch.distributed.init_process_group(
    "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
wrong = []
for place, page, folder, text in json.loads(sys.argv[1]):
    os.chdir(folder)
    try:
        exec(compile(text, place, "exec"), names(page))
    except Exception:
        wrong.append(f"{place}: {traceback.format_exc(limit=-2)}")
print(json.dumps(wrong))
"""


class Checker:
    def __init__(self, stepscope, root, traces, folder):
        self.stepscope, self.root, self.traces = stepscope, root, traces
        self.folder = folder
        self.python = shlex.split(os.environ.get("STEPSCOPE_PYTHON", sys.executable))
        self.has_torch = self.torch()
        self.has_duckdb = (root / DUCKDB).exists()
        self.wrong, self.ran, self.skipped = [], 0, {}
        self.of_torch = []  # places and texts: they run together at the end

    def torch(self):
        return subprocess.run([*self.python, "-c", "import torch.profiler"],
                              capture_output=True).returncode == 0

    def lay_out(self):
        """What the commands of the pages read: two jobs, a folder with both, a file, snapshots."""
        for name, preset in ("traces", "ddp8-slow"), ("after", "ddp8-healthy"):
            subprocess.run([self.stepscope, "sim", "--preset", preset, "-o", self.folder / name],
                           check=True, capture_output=True)
        shutil.copytree(self.folder / "traces", self.folder / "before")
        for name in "traces", "after":
            shutil.copytree(self.folder / name, self.folder / "runs" / name)
        for name in "trace.json.gz", "before.json.gz", "after.json.gz", "train.json":
            shutil.copy(self.folder / "traces" / "rank0.json.gz", self.folder / name)
        shutil.copytree(self.folder / "traces", self.folder / "slow")
        (self.folder / "queries.sql").write_text("from findings;", encoding="utf-8")
        (self.folder / "packed").mkdir()
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "stepscope").symlink_to(self.stepscope)
        for name, real in SNAPSHOTS.items():
            if (self.traces / "memory" / real).exists():
                (self.folder / name).symlink_to(self.traces / "memory" / real)
        dumps = pathlib.Path(__file__).resolve().parent / "hang/recorded/missing_rank"
        (self.folder / "dumps").symlink_to(dumps)

    def skip(self, why):
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def run(self, place, words, **options):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "TRACES": "traces",
                       "STEPSCOPE_DUCKDB": str(self.root / DUCKDB)}
        if "STEPSCOPE_SLOW" in os.environ:  # see tests/sql/queries.py
            environment["LD_PRELOAD"] = "libstdc++.so.6"
        result = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=120,
                                env=environment, **options)
        self.ran += 1
        if result.returncode:
            said = (result.stderr or result.stdout).decode(errors="replace").strip()
            self.wrong.append(f"{place}: {said[-600:]}")
        return result.returncode == 0

    # --- commands of stepscope --------------------------------------------------------------------

    def command(self, place, text, is_form=False):
        """Runs a command of a page; `is_form`: it may be the form of one, which is not run."""
        text = re.split(r" > | \| ?", text)[0]
        words = [PLACEHOLDERS.get(word, PLACEHOLDERS.get(word.strip("'\""), word))
                 for word in shlex.split(text, comments=True)]
        odd = [word for word in words if re.search(r"[\[\]]|\.\.\.$|^[A-Z]+$", word)]
        if len(words) < 2 or words[1] in ENDLESS or LARGE in text or (odd and is_form):
            return self.skip("forms, servers and large simulations")
        alone = not any((self.folder / word).exists() for word in words[1:])
        if is_form and alone and words[1] not in ("explain", "help", "--version"):
            return self.skip("forms, servers and large simulations")
        if words[1] == "sql" and not self.has_duckdb:
            return self.skip("queries without DuckDB")
        if {"oom", "leaks"} & set(words) and "--rank" not in words:
            words = ["memory.pickle" if word == "traces" else word for word in words]
        if set(words) & set(SNAPSHOTS) and not (self.folder / "memory.pickle").exists():
            return self.skip("memory snapshots that are not here")
        words = [word.replace("NAME", "steps") for word in words]
        if words[1] == "digest" and "-o" in words:  # another page may have written there
            shutil.rmtree(self.folder / words[words.index("-o") + 1], ignore_errors=True)
        self.run(f"{place}: {text}", words)
        for pack in (self.folder / "traces").glob("*.stepscope"):
            pack.rename(self.folder / "packed" / pack.name)

    # --- blocks -----------------------------------------------------------------------------------

    def shell(self, place, text, needs):
        if text.startswith("$ "):
            return self.session(place, text)
        if subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True).returncode:
            self.wrong.append(f"{place}: bash does not understand it")
        elif "stepscope sql" in text and not self.has_duckdb:
            self.skip("queries without DuckDB")
        elif not needs:
            self.run(place, ["bash", "-eu", "-c", text])
        else:
            self.skip(f"shell that needs {needs}")
            for line in COMMAND.findall(text):
                self.command(place, line)

    def session(self, place, text):
        """Commands with their outputs, which shown.py compares; those without output are run."""
        pairs = SHOWN.findall(text)
        if all(output.strip() for _, output in pairs):
            return
        for line, output in pairs:
            before = len(self.wrong)
            self.command(place, line)
            if output.strip():
                del self.wrong[before:]

    def python_block(self, place, text, needs, is_part):
        try:
            compile(text, place, "exec")
        except SyntaxError as error:
            self.wrong.append(f"{place}: {error}")
            return
        if is_part or needs not in ("", "torch"):
            self.skip("Python with arguments left out" if is_part else f"Python that needs {needs}")
        elif needs == "torch" and not self.has_torch:
            self.skip("Python that needs torch, which is not here")
        elif needs:
            self.of_torch.append((place, text))
        else:
            self.run(place, [sys.executable, "-c", PYTHON_AROUND + text])

    def run_torch(self):
        if not self.of_torch:
            return
        base = os.environ.get("STEPSCOPE_PYTHON_ROOT", "")
        with tempfile.TemporaryDirectory(dir=f"{base}/tmp" if base else None) as work:
            tasks = []
            for number, (place, text) in enumerate(self.of_torch):
                pathlib.Path(work, str(number)).mkdir()
                page = pathlib.Path(place.split(":")[0]).stem
                tasks.append((place, page, f"{work[len(base):]}/{number}", text))
            result = subprocess.run([*self.python, "-c", TORCH_RUN, json.dumps(tasks)],
                                    capture_output=True, timeout=300)
            lines = result.stdout.decode().splitlines()
            self.wrong += json.loads(lines[-1]) if result.returncode == 0 else \
                [f"PyTorch: {result.stderr.decode()[-600:]}"]
            self.ran += len(tasks)
            for number, (place, _) in enumerate(self.of_torch):
                if pathlib.Path(work, str(number), "traces").exists():
                    self.open_trace(place, pathlib.Path(work, str(number), "traces"))

    def open_trace(self, place, traces):
        """What the guide records has its five steps, and stepscope finds no warning about them."""
        answer = subprocess.run([self.stepscope, "diagnose", "--format", "json", traces],
                                capture_output=True)
        steps = json.loads(answer.stdout)["steps"] if answer.returncode == 0 else None
        if steps not in (4, 5):
            self.wrong.append(f"{place}: stepscope finds {steps} steps in what it recorded: "
                              f"{answer.stderr.decode()}")

    def json_block(self, place, text):
        try:
            json.loads(ELIDED.sub("", text))
            self.ran += 1
        except ValueError as error:
            self.wrong.append(f"{place}: not JSON: {error}")

    def c_block(self, place, text):
        self.run(place, ["cc", "-std=c17", "-fsyntax-only", "-Werror", "-Wall", "-I",
                         self.root / "include", "-x", "c", "-"], input=(C_AROUND % text).encode())

    def block(self, place, info, text):
        language, *marks = info.split() or [""]
        needs = next((mark[6:] for mark in marks if mark.startswith("needs=")), "")
        if not language and text.startswith(("$ stepscope", "stepscope ")):
            language = "sh"
        if not language and text.startswith("{"):
            language = "json"
        if language not in LANGUAGES or set(marks) - {"part", f"needs={needs}"}:
            self.wrong.append(f"{place}: the fence '{info}' says no language that is checked")
        elif language in ("sh", "bash"):
            self.shell(place, text, needs)
        elif language == "python":
            self.python_block(place, text, needs, "part" in marks)
        elif language == "json":
            self.json_block(place, text)
        elif language == "c":
            self.c_block(place, text)
        else:
            self.skip(f"{language} blocks")  # tests/sql/questions.py runs those of sql

    def page(self, path):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(self.root)
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            body = "\n".join(row[len(found[1]):] for row in found[3].split("\n"))
            self.block(f"{name}:{line}", found[2].strip(), body)
        return {command: name for command in INLINE.findall(BLOCK.sub("", text))}


def main():
    stepscope, root, traces = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(stepscope, root, traces, pathlib.Path(folder))
        checker.lay_out()
        commands = {}
        roots = [root / "README.md", root / "CONTRIBUTING.md"]
        for path in [*roots, *sorted(root.glob("docs/**/*.md"))]:
            commands |= checker.page(path)
        checker.run_torch()
        for command in chosen.share(sorted(commands), 3):
            checker.command(str(commands[command]), command, is_form=True)
    print(*checker.wrong, sep="\n", end="\n" if checker.wrong else "")
    for why, count in sorted(checker.skipped.items()):
        print(f"not run: {count} {why}")
    print(f"{checker.ran} snippets and commands, {len(checker.wrong)} wrong")
    return 1 if checker.wrong or checker.ran < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
