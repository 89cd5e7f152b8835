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


def planted_text(planted):
    where = "" if planted["rank"] is None else f" on rank {planted['rank']}"
    return f"{planted['name']}={planted['severity']:g}{where}"


def names_text(entries):
    """Each also with -mild at its end, which is not named."""
    names = [entry["preset"] for entry in entries]
    return ", ".join(f"`{name}`" for name in names if not name.endswith("-mild"))


def cause_lines(causes, entries):
    lines = ["| fault | what is wrong | jobs |", "|---|---|---|"]
    for cause in causes:
        jobs = [entry for entry in entries if entry["causes"][0]["name"] == cause["cause"]]
        lines.append(f"| {cause['cause']} | {cause['summary']} | {names_text(jobs)} |")
    return lines


def several_lines(entries):
    lines = ["| job | planted |", "|---|---|"]
    for entry in entries:
        planted = "; ".join(map(planted_text, entry["causes"]))
        lines.append(f"| `{entry['preset']}` | {planted} |")
    return lines


def page(stepscope, root):
    """Returns (path, text)."""
    entries = json.loads((root / "tests/sim/manifest.json").read_text())
    single = [entry for entry in entries if len(entry["causes"]) == 1]
    mild = {entry["preset"] for entry in single if entry["preset"].endswith("-mild")}
    assert {f"{e['preset']}-mild" for e in single} >= mild and 2 * len(mild) == len(single)
    lines = [
        HEAD,
        "# Presets of the simulator",
        "",
        f"{len(entries)} jobs with known truth. `stepscope sim --preset NAME -o FOLDER` writes "
        "one; the same name gives the same bytes ([sim](commands/sim.md)). The first word of a "
        "name is the layout or the model, and the number of ranks. `stepscope sim --list` "
        "adds the GPU and the rank of each fault, `--list-causes` the line of each fault and its "
        "fix, and the `truth.json` of a job what each costs.",
        "",
        "## One fault",
        "",
        "Each of these jobs is also there as `NAME-mild`: 0.2 instead of 0.6 of the step, where "
        "the size of a fault can be chosen.",
        "",
        *cause_lines(listed(stepscope, "--list-causes"), single),
        "",
        "## Several faults",
        "",
        *several_lines([entry for entry in entries if len(entry["causes"]) > 1]),
        "",
        "## No fault",
        "",
        "A diagnosis has to stay silent: "
        + names_text([entry for entry in entries if not entry["causes"]])
        + ".",
        "",
        "## Layouts",
        "",
        *layout_lines(listed(stepscope, "--list")),
    ]
    return root / "docs/presets.md", "\n".join(lines) + "\n"
