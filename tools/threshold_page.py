# SPDX-License-Identifier: Apache-2.0
"""docs/thresholds.md: the numbers that rules decide by, from the constants in their sources."""
import pathlib
import re

HEAD = """# Thresholds

The numbers that rules decide by, and why they are what they are. From which share of a step a rule
reports and warns is in the [list of rules](rules/README.md). Made by `tools/docs.py` from the
constants in `src/diagnose/` and `src/attribute/`.
"""
# what several rules use: under the rule that reports it, or under a heading of its own
SHARED = {
    "straggler": ["src/diagnose/stragglers"],
    "costly-place": ["src/diagnose/evidence/costly.h", "src/diagnose/evidence/costly.c",
                     "src/diagnose/evidence/costly_judge.c", "src/attribute"],
    "exposed-communication": ["src/diagnose/evidence/possible_overlap.c",
                              "src/diagnose/evidence/small_collectives.c"],
    "sync-stall": ["src/diagnose/evidence/needed_waits.c"],
    "several rules": ["src/diagnose/evidence/cpu_rows.c", "src/diagnose/evidence/gradients.c",
                      "src/diagnose/work/slow_work.h", "src/diagnose/work/speedup.c",
                      "src/diagnose/work/speedup.h"],
}
# how far a search goes, how long a list or a name gets, numbers of other programs: not decided by
LIMITS = {"AROUND_MAX", "BIAS", "CALLS_MAX", "CHAIN_MAX", "CUDA", "DEPTH_MAX", "DEVICES_MAX",
          "FIGURE_ON_CPU", "FUNCTIONS_MAX", "INDENT_MAX", "LABEL_MAX", "LEAKS_MAX", "LEAK_LINES",
          "LISTED", "LONGEST", "MAP_TYPE_BYTES", "MICRO_MAX", "NAMED_MAX", "NEVER_WARN",
          "OWNERS_MAX", "PIECES_MAX", "SIZES_MAX", "SLOW_FLOPS_MIN", "SS_SPEEDUP_SIZES"}
CONSTANT = re.compile(r"^#define (\w+) +(\S.*?)(?: */\* (.*) \*/)?$")
NUMBER = re.compile(r"[-+*/() .\d]+(?:<< *\d+\)?|e\d+)?$")


def value_of(text):
    """The number that a constant stands for; None: it is something else."""
    text = re.sub(r"INT64_C\((\w+)\)", r"\1", text)
    if not NUMBER.match(text) or not re.search(r"\d", text):
        return None
    return eval(text, {"__builtins__": {}})  # digits and operators only


def in_units(name, value):
    """The value as people say it; the end of the name is its unit."""
    words = name.split("_")
    if "NS" in words and "PER" not in words:
        for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
            if value >= size:
                return f"{value / size:g} {unit}"
    if words[-1] == "BYTES":
        for unit, size in (("MB", 1e6), ("MB", 1 << 20), ("KB", 1 << 10)):
            if value >= size and (size != 1e6 or value % size == 0):
                return f"{value / size:g} {unit}"
    if "PERCENT" in words:
        return f"{value:g} %"
    if "SHARE" in words or "PART" in words:
        return f"{value * 100:.3g} %" if value < 1 else f"1/{value}"
    return f"{value:,.4g}" if value < 10000 else f"{value:,.0f}"


def constants(path):
    """Yields (names, values, comment): constants below one comment belong together."""
    comment, rows, is_open = "", [], False
    for line in path.read_text().splitlines() + [""]:
        found = CONSTANT.match(line)
        value = value_of(found[2]) if found else None
        if value is not None and found[1] not in LIMITS:
            if found[3]:
                yield [(found[1], value)], found[3]
            else:
                rows.append((found[1], value))
            continue
        if rows:
            yield rows, comment
        rows = []
        if line.startswith("/*"):
            comment, is_open = "", True
        if is_open:
            comment = f"{comment} {line.strip(' /*')}".strip()
            is_open = not line.endswith("*/")
        elif not found:
            comment = ""


def table(root, names):
    paths = [path for name in names for path in (sorted((root / name).glob("*.c"))
                                                if (root / name).is_dir() else [root / name])]
    lines = []
    for path in paths:
        for rows, comment in constants(path):
            values = ", ".join(in_units(name, value) for name, value in rows)
            lines.append(f"| {values} | {comment} |")
    return lines


def page(root):
    rules = [path.stem.replace("_", "-")
             for path in sorted((root / "src/diagnose/rules").glob("*.c"))]
    parts = []
    for rule in [*rules, *(name for name in SHARED if name not in rules)]:
        own = [f"src/diagnose/rules/{rule.replace('-', '_')}.c"] if rule in rules else []
        lines = table(root, own + SHARED.get(rule, []))
        if lines:
            parts.append(f"\n## {rule}\n\n| value | what and why |\n|---:|---|\n"
                         + "\n".join(lines) + "\n")
    return root / "docs/thresholds.md", HEAD + "".join(parts)
