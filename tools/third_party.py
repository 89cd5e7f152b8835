#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""third_party.py - what ships with stepscope, and under which licence.

    tools/third_party.py ROOT                      takes over texts and versions, writes the tables
    tools/third_party.py ROOT --check [--map MAP]  fails where they differ

third_party/parts.json lists the parts; texts come from the packages themselves: LICENSE of npm
packages, Debian's copyright files and the common licences that these name. A check tells, and does
not compare, packages that are not installed or of another upstream version. MAP is the link map of
the core: every object of others in it belongs to a listed package, or is the object that was built
of its source (tools/wasm_zstd).
"""
import json
import pathlib
import re
import subprocess
import sys

COMMON = pathlib.Path("/usr/share/common-licenses")
# the text of our own licence is in the root
OWN = "Apache-2.0"
TITLES = {"page": "the page", "core": "the core in the page"}


def debian_version(package):
    command = ["dpkg-query", "-W", "-f=${Version}", package]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return result.stdout if result.returncode == 0 and result.stdout else None


def locked(root):
    """The npm packages of the page and its tools, by their path."""
    return json.loads((root / "ui/package-lock.json").read_text(encoding="utf-8"))["packages"]


def texts_of(root, part):
    """Names and texts of a part's licences, from its package; empty when it is not there."""
    if "npm" in part:
        path = root / "ui/node_modules" / part["npm"] / "LICENSE"
        return {f"{part['name']}.txt": path.read_text(encoding="utf-8")} if path.exists() else {}
    path = pathlib.Path("/usr/share/doc") / part["debian"] / "copyright"
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    texts = {f"{part['name']}.txt": text}
    for name in sorted(set(re.findall(r"common-licenses/([\w.-]*\w)", text)) - {OWN}):
        texts[f"{name}.txt"] = (COMMON / name).read_text(encoding="utf-8")
    return texts


def upstream(version):
    return version.rpartition("-")[0]


def current(root, part, is_check):
    """The part as its package has it, its texts, and why it is not compared (then no texts)."""
    texts = texts_of(root, part)
    if "npm" in part:
        package = locked(root)[f"node_modules/{part['npm']}"]
        found = {**part, "version": package["version"], "licence": package["license"]}
    else:
        found = {**part, "version": debian_version(part["debian"])}
    if not texts or not found["version"]:
        return part, {}, f"{part['name']} is not installed"
    if is_check and "debian" in part and upstream(found["version"]) != upstream(part["version"]):
        return part, {}, f"{part['debian']} {found['version']} is not {part['version']}"
    if is_check and "debian" in part:
        found["version"] = part["version"]  # a new revision with the same text will do
    return {**found, "texts": sorted(texts)}, texts, ""


def shipped_table(parts):
    lines = ["| part | version | in | licence | text |", "|---|---|---|---|---|"]
    for part in parts:
        texts = ", ".join(f"[{name}](third_party/{name})" for name in part["texts"])
        lines.append(f"| {part['name']} | {part['version']} | {TITLES[part['in']]} "
                     f"| {part['licence']} | {texts} |")
    return "\n".join(lines)


def loaded_table(parts):
    lines = ["| library | licence |", "|---|---|"]
    return "\n".join(lines + [f"| {part['name']} | {part['licence']} |" for part in parts])


def filled(page, mark, block):
    begin = f"<!-- {mark}: made by tools/third_party.py -->"
    head, rest = page.split(begin, 1)
    return head + begin + "\n" + block + "\n<!-- end -->" + rest.split("<!-- end -->", 1)[1]


def wanted_files(root, is_check):
    """What the files must hold: {path: text}; and what could not be looked at."""
    folder = root / "third_party"
    parts = json.loads((folder / "parts.json").read_text(encoding="utf-8"))
    files, notes = {}, []
    for i, part in enumerate(parts):
        if part["in"] == "loaded":
            continue
        parts[i], texts, why = current(root, part, is_check)
        notes += [why] if why else []
        files.update({folder / name: text for name, text in texts.items()})
    rows = ",\n".join(" " + json.dumps(part, ensure_ascii=False) for part in parts)
    files[folder / "parts.json"] = f"[\n{rows}\n]\n"
    page = (root / "THIRD_PARTY.md").read_text(encoding="utf-8")
    page = filled(page, "shipped", shipped_table([p for p in parts if p["in"] != "loaded"]))
    page = filled(page, "loaded", loaded_table([p for p in parts if p["in"] == "loaded"]))
    files[root / "THIRD_PARTY.md"] = page
    return files, notes


def text_problems(root, files):
    """Files that are out of date, missing or nobody's."""
    for path, text in files.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield f"{path.relative_to(root)}: out of date; run tools/third_party.py ROOT"
    parts = json.loads(files[root / "third_party/parts.json"])
    named = {name for part in parts for name in part.get("texts", [])}
    here = {path.name for path in (root / "third_party").glob("*.txt")}
    for name in sorted(named ^ here):
        yield f"third_party/{name}: {'nobody names it' if name in here else 'missing'}"


def page_problems(root, parts):
    """The page is built from what the lock has beside tools and what tests take where it is there:
    the build looks at the rest."""
    used = {path.removeprefix("node_modules/") for path, package in locked(root).items()
            if path and not package.get("dev") and not package.get("optional")}
    for name in sorted(used - {part.get("npm") for part in parts}):
        yield f"ui/package-lock.json: '{name}' is not in third_party/parts.json"


def map_problems(path, parts):
    """Objects in the core that are neither ours nor of a listed package."""
    text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    files = set(re.findall(r"(?<!\S)(\S+?\.(?:a|o))(?=[(:\s])", text))
    files = sorted(file for file in files if not file.startswith("src/"))
    listed = {part.get("debian") for part in parts if part["in"] == "core"}
    built = {part["object"]: part["debian"] for part in parts if "object" in part}
    owners = set()
    for file in files:
        found = subprocess.run(["dpkg-query", "-S", str(pathlib.Path(file).resolve())],
                               capture_output=True, text=True, check=False).stdout
        owner = found.split(":")[0] or built.get(pathlib.Path(file).name) or file
        owners.add(owner)
        if owner not in listed:
            yield f"{path}: '{file}' of {owner} is not in third_party/parts.json"
    for package in sorted(listed - owners):
        yield f"{path}: nothing of {package} is in it"


def main():
    words = sys.argv[1:]
    root = pathlib.Path(words[0])
    files, notes = wanted_files(root, "--check" in words)
    if "--check" not in words:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    parts = json.loads(files[root / "third_party/parts.json"])
    problems = [*text_problems(root, files), *page_problems(root, parts)]
    if "--map" in words:
        problems += map_problems(words[words.index("--map") + 1], parts)
    print(*notes, *problems, sep="\n", end="\n" if notes or problems else "")
    print(f"third party: {len(parts)} parts, {len(notes)} not compared, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
