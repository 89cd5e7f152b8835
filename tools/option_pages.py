# SPDX-License-Identifier: Apache-2.0
"""docs/options.md: every option with what takes it, from the help of all commands."""
import json
import re
import subprocess

HEAD = """# Options

Made by `tools/docs.py` from the declarations in `src/api/request/options.c`: options of several
commands, then [those of one](#options-of-one-command), which its page describes. `stepscope help
COMMAND` has all. Where an option means different things, there is a row for each.

Requests of the library (`struct ss_request`) and of the viewer (`view/NAME`) take
%s. What a view
does not take is refused there as it is here.

| option | value | what it does | taken by |
|---|---|---|---|
"""
OPTION = re.compile(r"^  (?:-\w, )?--([\w-]+)(?: (\S+))?(?:\s+(\S.*))?$")


def run(stepscope, *words):
    result = subprocess.run([stepscope, *words], capture_output=True, text=True, check=True)
    return result.stdout


def names_in(part):
    return [line.split()[0] for line in part.splitlines() if re.match(r"  \S", line)]


def options_of(stepscope, command):
    """(name, value, meaning) of each option, in the order of help."""
    found = []
    lines = run(stepscope, "help", command).partition("Options:\n")[2].split("\n\n")[0].splitlines()
    for line in lines:
        option = OPTION.match(line)
        if option:
            found.append([option[1], option[2] or "", option[3] or ""])
        elif found:
            found[-1][2] = f"{found[-1][2]} {line.strip()}".strip()
    return [tuple(option) for option in found]


def takers(commands, views):
    """The commands in words: views are many."""
    own = [name for name in views if name in commands]
    others = [f"`{name}`" for name in commands if name not in views]
    if len(own) == len(views):
        return ", ".join(["all views", *others])
    if len(own) > len(views) / 2:
        without = ", ".join(f"`{name}`" for name in views if name not in own)
        return ", ".join([*others, f"views but {without}"])
    return ", ".join([*others, *(f"`{name}`" for name in own)])


def parameters(stepscope):
    """Of the route that has them all, without those that choose a snapshot."""
    command = [stepscope, "ask", "offers", "-"]
    result = subprocess.run(command, input='{"traceEvents":[]}', capture_output=True, text=True,
                            check=True)
    routes = {route["name"]: route for route in json.loads(result.stdout)["routes"]}
    names = routes["view"]["parameters"].split()
    return [name for name in names if name not in ("snapshot", "before")]


def page_of(root, command):
    """Of a command, or of a view that is one."""
    path = root / f"docs/commands/{command}.md"
    return path if path.exists() else root / f"docs/views/{command}.md"


def page(stepscope, root):
    text = run(stepscope, "help")
    views = names_in(text.split("Reports and views:")[1].split("Other commands:")[0])
    rows = {}
    for command in names_in(text):
        for option in options_of(stepscope, command):
            rows.setdefault(option, []).append(command)
    lines, own = [], {}
    for name, value, about in sorted(rows):
        taker = rows[name, value, about][0]
        if len(rows[name, value, about]) == 1 and f"--{name}" in page_of(root, taker).read_text():
            own.setdefault(taker, []).append(name)
            continue
        cells = [f"`--{name}`", f"`{value}`" if value else "", about]
        cells.append(takers(rows[name, value, about], views))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "## Options of one command", "", "| command | options |", "|---|---|"]
    for command in sorted(own):
        path = page_of(root, command).relative_to(root / "docs")
        names = ", ".join(f"`--{name}`" for name in own[command])
        lines.append(f"| [{command}]({path}) | {names} |")
    head = HEAD % ", ".join(f"`{name}`" for name in parameters(stepscope))
    return root / "docs/options.md", head + "\n".join(lines) + "\n"
