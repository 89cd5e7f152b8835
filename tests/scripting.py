#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/scripting.md run, and print something.

Usage: scripting.py STEPSCOPE ROOT. Blocks marked as sh and python are run as they stand, in a
folder with the inputs that the page names, simulated.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
JOB = ["--ranks", "2", "--steps", "4", "--progress", "none"]


def simulate(stepscope, preset, folder):
    subprocess.run([stepscope, "sim", "--preset", preset, *JOB, "-o", folder], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    stepscope, page = sys.argv[1], pathlib.Path(sys.argv[2]) / "docs/scripting.md"
    if not shutil.which("jq"):
        print("scripting: jq is not installed (tools/setup installs it)")
        return 77
    blocks = BLOCK.findall(page.read_text())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "bin").mkdir()
        (folder / "bin/stepscope").symlink_to(pathlib.Path(stepscope).resolve())
        simulate(stepscope, "ddp8-straggler", folder / "traces")
        for name in ("before", "after"):
            simulate(stepscope, "ddp8-healthy", folder / name)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        for language, text in blocks:
            command = ["bash", "-euo", "pipefail", "-c", text]
            if language == "python":
                command = [sys.executable, "-c", text]
            result = subprocess.run(command, cwd=folder, env=environment, capture_output=True,
                                    text=True, timeout=60)
            assert result.returncode == 0, f"{text}\n{result.stdout}{result.stderr}"
            assert result.stdout.strip() or "select(.dur_ns" in text, f"{text}\nprints nothing"
    assert len(blocks) > 7, len(blocks)
    print(f"scripting: {len(blocks)} examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
