# SPDX-License-Identifier: Apache-2.0
"""The pages of the simulator's presets, from the program's lists and the manifest."""
import json
import subprocess

HEAD = "<!-- made by tools/docs.py from the preset's declaration and tests/sim/manifest.json -->"


def listed(stepscope, option):
    command = [stepscope, "sim", option, "--format", "json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def milliseconds(ns):
    return f"{ns / 1e6:.3f} ms"


def planted_part(entry, causes):
    if not entry["causes"]:
        return [
            "Nothing is planted: this job is healthy, and a diagnosis has to stay silent.",
            "",
            f"A step takes {milliseconds(entry['mean_step_ns'])}.",
        ]
    lines = [
        f"A step takes {milliseconds(entry['mean_step_ns'])}; with everything fixed it would take "
        f"{milliseconds(entry['healthy_step_ns'])}.",
        "",
        "| planted | severity | where | costs a step | what is wrong | what to change |",
        "|---|---|---|---|---|---|",
    ]
    for planted in entry["causes"]:
        cause = causes[planted["name"]]
        where = f"rank {planted['rank']}" if planted["rank"] is not None else "all ranks"
        where += f", {cause['line']}" if cause["line"] else ""
        where += f", `{cause['op']}`"
        lines.append(
            f"| `{planted['name']}` | {planted['severity']:g} | {where} "
            f"| {milliseconds(planted['cost_ns'])} | {cause['summary']} | `{cause['fix']}` |"
        )
    if len(entry["causes"]) > 1:
        lines += ["", "Each cost is with the others there; they do not add up."]
    return lines


def page(entry, layout, causes):
    ranks = "one rank" if entry["ranks"] == 1 else f"{entry['ranks']} ranks"
    lines = [HEAD, f"# {entry['preset']}", ""]
    lines += [f"{ranks.capitalize()} on {entry['device']}: {layout}.", ""]
    lines += planted_part(entry, causes)
    command = f"stepscope sim --preset {entry['preset']} -o {entry['preset']}/"
    lines += ["", "```", command, "```", ""]
    lines += [f"Seed {entry['seed']}. [All presets](README.md), [sim](../commands/sim.md)."]
    return "\n".join(lines) + "\n"


def index(entries):
    healthy = sum(not entry["causes"] for entry in entries)
    lines = [
        HEAD,
        "# Presets of the simulator",
        "",
        f"{len(entries)} jobs with known truth, {healthy} of them healthy. "
        "`stepscope sim --preset NAME -o FOLDER` writes one; the same name gives the same bytes. "
        "Every cause stands in two layouts, severe and mild (0.6 and 0.2 of the step, where the "
        "size of a cause can be chosen).",
        "",
        "| preset | layout | device | ranks | step | planted, with its cost a step |",
        "|---|---|---|---|---|---|",
    ]
    for entry in entries:
        planted = ", ".join(f"{c['name']} {milliseconds(c['cost_ns'])}" for c in entry["causes"])
        lines.append(
            f"| [{entry['preset']}]({entry['preset']}.md) | {entry['layout']} | {entry['device']} "
            f"| {entry['ranks']} | {milliseconds(entry['mean_step_ns'])} | {planted or 'healthy'} |"
        )
    return "\n".join(lines) + "\n"


def pages(stepscope, root):
    """Yields (path, text) of every page."""
    entries = json.loads((root / "tests/sim/manifest.json").read_text())
    causes = {cause["cause"]: cause for cause in listed(stepscope, "--list-causes")}
    layouts = {row["preset"]: row["layout_about"] for row in listed(stepscope, "--list")}
    folder = root / "docs/presets"
    yield folder / "README.md", index(entries)
    for entry in entries:
        yield folder / f"{entry['preset']}.md", page(entry, layouts[entry['preset']], causes)
