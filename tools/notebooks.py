#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks of examples/notebooks and writes their outputs into them.

    tools/notebooks.py BUILD [--check] [NAME...]

BUILD is a build folder with the Python module. With --check nothing is written: the exit code is 1
if an output is not the one that is stored, with the lines that differ. What is stored has no times
of a run, no paths of a machine, and not the viewer, which has megabytes. Exit code 77: no Jupyter.
"""

import difflib
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "examples/notebooks"
TAKES_SECONDS = 120  # at most, per cell


def environment(build):
    """Kernels import the module of the build; what they print has one width everywhere."""
    os.environ["PYTHONPATH"] = str(build / "src/python")
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.environ["COLUMNS"] = "100"
    os.environ.pop("TRACES", None)


def plain(text):
    """A text without what differs from run to run, or from build to build."""
    text = "".join(text) if isinstance(text, list) else text
    folder = re.escape(tempfile.gettempdir())
    text = re.sub(rf"{folder}/stepscope-\w+", "/tmp/stepscope-demo", text)
    text = re.sub(r"(stepscope viewer), \d+\.\d MB", r"\1", text)  # grows with the core
    return re.sub(r"([kMG]?B) in \d+\.\d\d s", r"\1", text)


def stored(output):
    """An output as it is stored."""
    output.pop("execution_count", None)
    output.pop("metadata", None)
    if output["output_type"] == "stream":
        return {"output_type": "stream", "name": output["name"], "text": plain(output["text"])}
    data = {
        kind: plain(text)
        for kind, text in output.get("data", {}).items()
        if kind in ("text/plain", "text/html") and "<iframe" not in text
    }
    return {"output_type": output["output_type"], "data": data, "metadata": {}}


def outputs(notebook):
    return [
        [stored(output) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def run(path, extra=None):
    """The notebook after a run of its own kernel, in an empty folder."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    os.environ.update(extra or {})
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = nbclient.NotebookClient(notebook, timeout=TAKES_SECONDS, resources=resources)
        client.execute()
    return notebook


def write(path, notebook):
    import nbformat

    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, (cell, shown) in enumerate(zip(codes, outputs(notebook)), 1):
        cell.execution_count = number
        cell.outputs = [
            nbformat.from_dict(
                {**one, "execution_count": number}
                if one["output_type"] == "execute_result"
                else one
            )
            for one in shown
        ]
    for cell in notebook.cells:
        cell.metadata = {}
        cell.pop("id", None)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat_minor = 4
    nbformat.write(notebook, path)


def lines_of(notebook):
    """All outputs as lines; tables of pandas as text only, their HTML is not ours."""
    lines = []
    for number, shown in enumerate(outputs(notebook), 1):
        for output in shown:
            texts = output.get("data", {"text": output.get("text", "")})
            for kind, text in sorted(texts.items()):
                if 'class="dataframe"' not in text:
                    lines += [f"[{number}] {kind}: {line}" for line in text.splitlines()]
    return lines


def check(path):
    """What differs from the stored outputs."""
    import nbformat

    before = lines_of(nbformat.read(path, as_version=4))
    return list(difflib.unified_diff(before, lines_of(run(path)), path.name, "now", "", "", 0, ""))


def main():
    try:
        import nbclient  # noqa: F401
        import nbformat  # noqa: F401
    except ImportError:
        print("no Jupyter here: install python3-nbclient and python3-ipykernel")
        return 77
    words = [word for word in sys.argv[1:] if word != "--check"]
    environment(Path(words[0]).resolve())
    paths = [path for path in sorted(NOTEBOOKS.glob("*.ipynb"))
             if not words[1:] or path.stem in words[1:]]
    differ = 0
    for path in paths:
        if "--check" not in sys.argv:
            write(path, run(path))
            continue
        lines = check(path)
        differ += bool(lines)
        print(f"{path.name}: {'differs' if lines else 'as stored'}", *lines[:60], sep="\n")
    return 1 if differ or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
