# SPDX-License-Identifier: Apache-2.0
"""The page of the simulator's presets, from the program's lists and the manifest."""
import json
import subprocess

HEAD = "<!-- made by tools/docs.py from the presets' declarations and tests/sim/manifest.json -->"


def listed(stepscope, option):
    command = [stepscope, "sim", option, "--format", "json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def layout_lines(presets):
    lines = ["| layout | what it is |", "|---|---|"]
    layouts = dict((row["layout"], row["layout_about"]) for row in presets)
    return lines + [f"| {layout} | {about} |" for layout, about in layouts.items()]


def cause_lines(causes):
    lines = ["| planted | what is wrong | where it shows | what to change |", "|---|---|---|---|"]
    for cause in causes:
        where = f"`{cause['op']}`" + (f", {cause['line']}" if cause["line"] else "")
        lines.append(f"| {cause['cause']} | {cause['summary']} | {where} | `{cause['fix']}` |")
    return lines


def planted_text(planted):
    where = "" if planted["rank"] is None else f" on rank {planted['rank']}"
    return f"{planted['name']}={planted['severity']:g}{where}"


def preset_lines(entries):
    lines = ["| preset | layout | device | ranks | planted |", "|---|---|---|---:|---|"]
    for entry in entries:
        planted = "; ".join(map(planted_text, entry["causes"]))
        lines.append(
            f"| {entry['preset']} | {entry['layout']} | {entry['device']} | {entry['ranks']} "
            f"| {planted} |"
        )
    return lines


def page(stepscope, root):
    """Returns (path, text)."""
    entries = json.loads((root / "tests/sim/manifest.json").read_text())
    healthy = sum(not entry["causes"] for entry in entries)
    lines = [
        HEAD,
        "# Presets of the simulator",
        "",
        f"{len(entries)} jobs with known truth. `stepscope sim --preset NAME -o FOLDER` writes "
        "one; the same name gives the same bytes ([sim](commands/sim.md)). Every cause stands in "
        "two layouts, severe and mild (0.6 and 0.2 of the step, where the size of a cause can be "
        f"chosen). Nothing is planted in {healthy} of them: a diagnosis has to stay silent.",
        "",
        "A cause is on all ranks unless one is named. What each costs, and the step without it, "
        "is in the `truth.json` of the job.",
        "",
        *preset_lines(entries),
        "",
        "## Layouts",
        "",
        *layout_lines(listed(stepscope, "--list")),
        "",
        "## What is planted",
        "",
        *cause_lines(listed(stepscope, "--list-causes")),
    ]
    return root / "docs/presets.md", "\n".join(lines) + "\n"
