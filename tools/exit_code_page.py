# SPDX-License-Identifier: Apache-2.0
"""docs/exit-codes.md: how the command ends, from its own help."""
import re
import subprocess

HEAD = """# Exit codes

Made by `tools/docs.py` from the table in `src/cli/help.c`; `stepscope help exit-codes`
prints it.

| code | name | when |
|---:|---|---|
"""
TAIL = """
Errors are one sentence on standard error; standard output has the result only. A second Ctrl-C,
SIGTERM or SIGHUP ends the program by that signal: a shell then reports 128 and the number of the
signal.
"""
ROW = re.compile(r"^ +(\d+)  (\w+) +(\S.*)$")


def page(stepscope, root):
    command = [stepscope, "help", "exit-codes"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = []
    for line in text.splitlines()[2:]:
        row = ROW.match(line)
        if row:
            rows.append(list(row.groups()))
        else:
            rows[-1][2] += " " + line.strip()
    lines = [f"| {code} | {name} | {about} |" for code, name, about in rows]
    return root / "docs/exit-codes.md", HEAD + "\n".join(lines) + "\n" + TAIL
