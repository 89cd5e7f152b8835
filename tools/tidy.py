#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py - the rules of the house that a compiler cannot hold.

    tools/tidy.py [ROOT] [--library build/src/libstepscope.so]

Prints one `path:line: rule: sentence` per problem and exits 1 when there are
some. A rule is one function that yields (line, sentence) for a file, or
(path, line, sentence) for the tree, and one row in the tables at the bottom.
"""

import argparse
import os
import re
import sys
from collections import Counter
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath

import tidy_names
import tidy_symbols
from c_source import Source

FILE_LINES_MAX = 600
SPDX = "SPDX-License-Identifier: Apache-2.0"
PUBLIC = ("stepscope.h", "stepscope_types.h", "stepscope_arrow.h")
FUNCTION_LINES_MAX = 70
# Sources of a folder of src/; more only where all are of one kind, one file each.
FOLDER_SOURCES_MAX = 25
ONE_KIND = ("views", "rules", "causes", "routes", "commands", "layouts")
# A folder with more files says in README.md what lives there.
FOLDER_FILES_MAX = 10
COLUMNS_MAX = 100
TAB_COLUMNS = 8
# Elements of a page stand deeper in each other than blocks of C.
PAGE_TAB_COLUMNS = 4
PAGE_SUFFIXES = (".ts", ".tsx", ".mjs", ".css", ".html")

# A layer may include itself and what stands before it.
LAYERS = (
    "base", "read", "redact", "trace", "table", "view", "analyze", "memory", "ranks",
    "hang", "live", "load", "replay", "attribute", "diagnose", "timeline", "check", "render", "api",
)  # fmt: skip
# The rooms of a layer, likewise; "" is the folder itself. In other layers rooms know each other.
ROOMS = {
    "analyze": ("time", "kernel", "host", "work", "", "views"),
    "memory": ("events", "load", "history", "", "holders", "area", "views", "trace_views"),
    "ranks": ("", "views"),
    "hang": ("load", "", "views"),
    "live": ("", "views"),
    "load": ("files", ""),
    "diagnose": ("", "summary", "evidence", "work", "stragglers", "rules"),
}
# The surfaces stand on all layers and do not know each other; the command starts the server.
SURFACES = ("sql", "store", "serve", "mcp", "sandbox", "cli", "wasm", "python")
STARTS = {
    "store": ("sql",),
    "cli": ("serve", "mcp", "sandbox", "sql", "store"),
    "python": ("cli", "serve", "sql", "store"),
}
# A library that is loaded at run time calls back without a word about who loaded it.
STATEFUL = ("src/sql/engine.c",)
# The simulator knows only the text of traces; surfaces reach it through api/simulator.h.
SIM_INCLUDES = ("base", "read")
SIM_INCLUDERS = ("api",)
FOLDERS = LAYERS + SURFACES + ("sim",)

# Foreign library -> the headers that only one .c file of src/ may include.
FOREIGN = {
    "zlib": ("zlib.h",),
    "ISA-L": ("isa-l.h", "isa-l/*", "igzip_lib.h"),
    "zstd": ("zstd.h", "zstd_errors.h", "zdict.h"),
    "sqlite": ("sqlite3.h",),
    "yyjson": ("yyjson.h",),
    "DuckDB": ("duckdb.h",),
    "libedit": ("editline/*", "histedit.h"),
    "dlopen": ("dlfcn.h",),
    "MPI": ("mpi.h",),
    "libmicrohttpd": ("microhttpd.h",),
    "libseccomp": ("seccomp.h",),
    "pthread": ("pthread.h",),
    "Python": ("Python.h",),
}

# Libraries that a whole folder is about, its headers too.
FOREIGN_FOLDERS = {"Python": "python"}
# What Python wants to be declared so, and does not change or changes once.
PYTHON_TABLES = re.compile(r"\b(PyMethodDef|PyType_S\w+|PyModuleDef\w*)\b")

# (calls, folders that may make them, what to do instead)
BANNED = (
    (
        "printf vprintf fprintf vfprintf puts putchar perror exit _exit _Exit quick_exit abort"
        " getenv secure_getenv setenv unsetenv putenv system popen",
        ("cli", "wasm"),
        "the library never prints, exits or reads the environment",
    ),
    (
        "strcpy strcat sprintf vsprintf gets strtok atoi atol atoll atof strtod strtof strtold"
        " scanf fscanf sscanf vscanf vfscanf vsscanf alloca",
        (),
        "it knows no limit, hides errors or follows the locale",
    ),
    (
        "malloc calloc realloc reallocarray aligned_alloc posix_memalign strdup strndup asprintf"
        " vasprintf free",
        ("base", "cli", "wasm"),
        "memory comes from an arena",
    ),
)

VAGUE_STEMS = ("util", "utils", "common")
VAGUE_NAME = re.compile(r"(?:^|_)(?:get|do|handle|process)_|_(?:impl|v\d|\d)$")

# In pieces, so that this file passes its own rules.
UNFINISHED = re.compile(r"\b(?:%s)\b" % "|".join(("TO" "DO", "FIX" "ME", "X" "XX")))
MACHINE_PATH = re.compile(r"(?<![\w.})*~-])/(?:%s)/" % "|".join(("work", "root")))
DATE = re.compile(r"\b(?:date\.today|datetime\.now|time\.(?:localtime|gmtime))\(|\$\(date ")
REGISTRY_HOST = re.compile(
    r"(?<![\w-])(?:%s)(?![\w-])"
    % "|".join(
        name.replace(" ", r"\.")
        for name in (
            "(?:registry )?npmjs org", "registry yarnpkg com", "(?:test )?pypi org",
            "pythonhosted org", "(?:deb|security|ftp|snapshot) debian org",
            "(?:static |index )?crates io", "(?:index )?rubygems org", "conda anaconda org",
            "proxy golang org", "repo1? maven apache org", "archive ubuntu com",
        )
    )
)  # fmt: skip

# What does not hold yet, by rule; it only shrinks.
EXCEPTIONS = "tools/tidy_exceptions.txt"
HOUSE = ("src", "include", "tests", "fuzz", "bench", "tools", "ui", ".ci")
C_SUFFIXES = (".c", ".h", ".inc")
CODE_SUFFIXES = C_SUFFIXES + (".py", ".sh", ".ts", ".tsx", ".js", ".mjs", ".css", ".html", ".build")
TEXT_SUFFIXES = CODE_SUFFIXES + (
    ".md", ".json", ".toml", ".ini", ".cfg", ".yml", ".yaml", ".wrap", ".in", ".lock",
)  # fmt: skip
SKIPPED_FOLDERS = (".git", "node_modules", "__pycache__", "dist", "subprojects")
SKIPPED_PATHS = ("bench/work",)


class File:
    """One text file, by its path from the root of the tree."""

    def __init__(self, path, text):
        self.path = PurePosixPath(path)
        self.text = text
        self.is_script = not self.path.suffix and text.startswith("#!")

    @cached_property
    def lines(self):
        return self.text.split("\n")[: None if not self.text.endswith("\n") else -1]

    @cached_property
    def c(self):
        return Source(self.text)

    @property
    def folder(self):
        return self.path.parts[0] if len(self.path.parts) > 1 else ""

    @property
    def layer(self):
        """X of src/X/..., or "" elsewhere."""
        return self.path.parts[1] if self.folder == "src" and len(self.path.parts) > 2 else ""


# Which files a rule looks at.


def is_text(file):
    return file.path.suffix in TEXT_SUFFIXES or file.is_script


def is_prose_or_code(file):
    return file.path.suffix in CODE_SUFFIXES + (".md",) or file.is_script


def is_code(file):
    is_ours = file.folder in HOUSE and ".gen." not in file.path.name
    return is_ours and (file.path.suffix in CODE_SUFFIXES or file.is_script)


def is_c(file):
    return file.folder in HOUSE and file.path.suffix in C_SUFFIXES


def is_header(file):
    return is_c(file) and file.path.suffix == ".h"


def is_public(file):
    return is_header(file) and file.folder == "include"


def is_src(file):
    return is_c(file) and file.folder == "src"


def is_product(file):
    return is_c(file) and file.folder in ("src", "include")


def is_gate(file):
    return file.folder == "tests" and is_text(file) or str(file.path) == ".ci/run"


# Rules over one file of any language.


def file_length(file):
    count = len(file.lines) - 1  # the licence line does not count
    if count > FILE_LINES_MAX:
        yield len(file.lines), f"{count} lines, at most {FILE_LINES_MAX}"


def licence(file):
    if not any(line.strip("<!->/*# ") == SPDX for line in file.lines[:2]):
        yield 1, f"the first line, or the one after '#!', says '{SPDX}'"


def line_width(file):
    tab = PAGE_TAB_COLUMNS if file.path.suffix in PAGE_SUFFIXES else TAB_COLUMNS
    for number, line in enumerate(file.lines, 1):
        width = len(line.expandtabs(tab))
        if width > COLUMNS_MAX:
            yield number, f"{width} columns, at most {COLUMNS_MAX}"


def trailing_space(file):
    for number, line in enumerate(file.lines, 1):
        if line != line.rstrip():
            yield number, "white space at the end of the line"


def final_newline(file):
    if file.text and (not file.text.endswith("\n") or file.text.endswith("\n\n")):
        yield len(file.lines), "the file ends with one line break"


def unfinished(file):
    for number, line in enumerate(file.lines, 1):
        for match in UNFINISHED.finditer(line):
            yield number, f"'{match.group()}': finish it, or open an issue"


def machine_path(file):
    for number, line in enumerate(file.lines, 1):
        for match in MACHINE_PATH.finditer(line):
            yield number, f"'{match.group()}' is a path of one machine"


def registry_host(file):
    for number, line in enumerate(file.lines, 1):
        for match in REGISTRY_HOST.finditer(line):
            yield number, f"'{match.group()}': the user's settings choose the package registry"


def drawn_by_date(file):
    for number, line in enumerate(file.lines, 1):
        for match in DATE.finditer(line):
            yield number, f"'{match.group()}': ask tests/support/chosen.py"


def file_name(file):
    if file.path.stem in VAGUE_STEMS:
        yield 1, f"'{file.path.name}' says nothing: name what it holds"


# Rules over one C file.


def function_length(file):
    for function in file.c.functions:
        first, last = file.c.line_at(function.start), file.c.line_at(function.end - 1)
        if last - first + 1 > FUNCTION_LINES_MAX:
            lines = last - first + 1
            yield first, f"'{function.name}' has {lines} lines, at most {FUNCTION_LINES_MAX}"


def tab_indent(file):
    depth = 0
    for number, line in enumerate(file.c.body.split("\n"), 1):
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() and (" " * TAB_COLUMNS in indent or (depth and indent[:1] == " ")):
            yield number, "indent with tabs"
        depth = max(0, depth + line.count("{") - line.count("}"))


def typedef_struct(file):
    for match in re.finditer(r"\btypedef\s+(struct|union)\b", file.c.code):
        yield file.c.line_at(match.start()), f"say '{match.group(1)} ss_x', without a typedef"


def header_guard(file):
    guard = guard_name(file.path.with_suffix("").parts)
    directives = re.findall(r"^[ \t]*#[ \t]*(\w+)[ \t]*(\w*)", file.c.code, re.M)
    if directives[:2] != [("ifndef", guard), ("define", guard)] or directives[-1][0] != "endif":
        yield 1, f"guard the header with {guard}"


def guard_name(parts):
    """SS_<FOLDER>_<FILE>_H; the public header guards with its own name."""
    if parts[0] == "include":
        parts = parts[1:]
    else:
        parts = ("SS",) + (parts[1:] if parts[0] == "src" else parts)
    return re.sub(r"\W", "_", "_".join(parts)).upper() + "_H"


def opening_comment(file):
    wanted = f" * {file.path.name} - "
    if file.lines[1:2] != ["/*"] or not "".join(file.lines[2:3]).startswith(wanted):
        yield 1, f"begin with a block comment whose first line is '{wanted}...'"


def function_name(file):
    for item in file.c.functions + file.c.prototypes:
        if VAGUE_NAME.search(item.name):
            yield file.c.line_at(item.start), f"'{item.name}': use a verb of the style guide"


PUBLIC_ITEM = re.compile(r"^(SS_API\b[^;]*?\b(ss_\w+)\(|struct (ss_\w+) \{|typedef \w+ (ss_\w+)\()",
                         re.M)
SINCE = re.compile(r"\bSince \d+\.\d+\. (Stable|May change)\b")


def public_since(file):
    """Whoever calls the library wants to know since when it can, and how long."""
    for match in PUBLIC_ITEM.finditer(file.text):
        before = file.text[:match.start()].rstrip()
        comment = before[before.rfind("/*"):] if before.endswith("*/") else ""
        words = " ".join(comment.replace("*", " ").split())
        if not SINCE.search(words):
            name = next(filter(None, match.groups()[1:]))
            line = file.text.count("\n", 0, match.start()) + 1
            yield line, f"'{name}': its comment says 'Since 0.x. Stable.' or 'May change.'"


# Rules over one file of src/.


def folder(file):
    if file.layer not in FOLDERS:
        yield 1, f"'{file.path.parent}' is no layer: {' '.join(FOLDERS)}"
    elif file.layer in ROOMS and room_of(file.path.parts[1:]) not in ROOMS[file.layer]:
        yield 1, f"'{file.path.parent}' is no room of '{file.layer}': see ROOMS"


def allowed_layers(layer):
    """The folders whose headers a file of this layer may include."""
    if layer == "sim":
        return SIM_INCLUDES + ("sim",)
    below = LAYERS[: LAYERS.index(layer) + 1] if layer in LAYERS else LAYERS + (layer,)
    below += STARTS.get(layer, ())
    return below + (("sim",) if layer in SIM_INCLUDERS else ())


def foreign_library(header):
    """The foreign library that a header belongs to, or None."""
    for library, patterns in FOREIGN.items():
        if any(fnmatch(header, pattern) for pattern in patterns):
            return library
    return None


def layers(file):
    for include in file.c.includes:
        parts = PurePosixPath(include.name).parts
        if ".." in parts:
            yield include.line, f"'{include.name}': write the path from src/"
        elif len(parts) > 1 and parts[0] in FOLDERS:
            if file.layer in FOLDERS and parts[0] not in allowed_layers(file.layer):
                yield include.line, f"{file.layer} may not include '{include.name}'"
            elif parts[0] == file.layer and is_above(file, parts):
                yield include.line, f"'{file.path.parent}' may not include '{include.name}'"
        elif include.quoted and include.name not in PUBLIC and not is_found(include.name):
            yield include.line, f"'{include.name}': write the path from src/, folder first"


def room_of(parts):
    """Y of X/Y/file, or "" for the file of a layer itself."""
    return "/".join(parts[1:-1])


def is_above(file, parts):
    """Whether a header of the same layer is in a room above the file's."""
    rooms = ROOMS.get(file.layer, ())
    here, there = room_of(file.path.parts[1:]), room_of(parts)
    return here in rooms and there in rooms and rooms.index(there) > rooms.index(here)


def is_found(header):
    """True when a quoted include needs no folder: foreign, or generated by the build."""
    return foreign_library(header) is not None or header.endswith(".inc")


def banned_call(file):
    for calls, folders, why in BANNED:
        if file.layer in folders:
            continue
        pattern = r"(?<![\w.])(?<!->)(%s)\s*\(" % "|".join(calls.split())
        for match in re.finditer(pattern, file.c.code):
            yield file.c.line_at(match.start()), f"no {match.group(1)}() here: {why}"


def standard_stream(file):
    if file.layer in ("cli", "wasm"):
        return
    for match in re.finditer(r"\b(stdout|stderr)\b", file.c.code):
        yield file.c.line_at(match.start()), f"no {match.group()} here: the library never prints"


def is_constant(declaration):
    """True when the declared object itself, not what it points to, is const."""
    left = declaration.split("=")[0]
    if PYTHON_TABLES.search(left):
        return True
    left = re.sub(r"\[[^\]]*\]", "", left)
    function_pointer = re.search(r"\(\s*\*([^)]*)\)", left)
    if function_pointer:
        left = function_pointer.group(1)
    return re.search(r"\bconst\b", left[left.rfind("*") + 1 :]) is not None


def mutable_state(file):
    if file.layer == "cli" or str(file.path) in STATEFUL:
        return
    sentence = "state lives in structs that the caller owns: make it const"
    for item in file.c.items:
        if item.kind == "object" and not is_constant(item.head):
            yield file.c.line_at(item.start), sentence
        for match in re.finditer(r"(?<!\[)\bstatic\b[^;={]*", body_of(file, item)):
            if not is_constant(match.group()):
                yield file.c.line_at(item.body_start + match.start()), sentence


def body_of(file, item):
    return file.c.body[item.body_start : item.end] if item.kind == "function" else ""


# Rules over the tree.


def folder_size(files, library_path):
    sources, others, told = Counter(), Counter(), set()
    for file in files:
        if file.folder == "src":
            counts = sources if is_c(file) else others
            counts[file.path.parent] += 1
            told |= {file.path.parent} if file.path.name == "README.md" else set()
    for path, count in sorted(sources.items()):
        if count > FOLDER_SOURCES_MAX and path.name not in ONE_KIND:
            yield path, 1, f"'{path}' {count} sources, at most {FOLDER_SOURCES_MAX}"
        if count + others[path] > FOLDER_FILES_MAX and path not in told:
            yield path, 1, "README.md is missing: what lives here, what does not, where to begin"


def readme_name(files, library_path):
    """Sources and folders that a README of src/ names exist: beside it, in src/ or in the tree."""
    known = {path for file in files for path in (file.path, *file.path.parents)}
    for file in files:
        if file.folder != "src" or file.path.name != "README.md":
            continue
        for number, line in enumerate(file.lines, 1):
            for name in re.findall(r"`([\w./-]+(?:\.[ch]|/))`", line):
                places = (file.path.parent, PurePosixPath("src"), PurePosixPath())
                found = {PurePosixPath(os.path.normpath(place / name)) for place in places}
                # notebooks are not among the files, and X stands for any name
                if not found & known and "X" not in name and "notebooks" not in name:
                    yield file.path, number, f"names '{name}', which does not exist"


def one_includer(files, library_path):
    first = {}
    for file in filter(is_src, files):
        for include in file.c.includes:
            library = foreign_library(include.name)
            if library is None or file.path.parts[1] == FOREIGN_FOLDERS.get(library):
                continue
            if file.path.suffix != ".c":
                yield file.path, include.line, f"a header may not include {library}"
            elif first.setdefault(library, file.path) != file.path:
                owner = first[library]
                yield file.path, include.line, f"{library} is included by {owner} alone"


def surface_door(files, library_path):
    yield from tidy_names.surface_door(files, library_path, SURFACES, STARTS)


# (name, files it looks at, rule)
FILE_RULES = (
    ("file-length", is_code, file_length),
    ("licence", is_code, licence),
    ("line-width", is_code, line_width),
    ("trailing-space", is_code, trailing_space),
    ("final-newline", is_code, final_newline),
    ("unfinished", is_code, unfinished),
    ("machine-path", is_prose_or_code, machine_path),
    ("registry-host", is_text, registry_host),
    ("drawn-by-date", is_gate, drawn_by_date),
    ("file-name", is_code, file_name),
    ("function-length", is_c, function_length),
    ("tab-indent", is_c, tab_indent),
    ("typedef-struct", is_c, typedef_struct),
    ("header-guard", is_header, header_guard),
    ("opening-comment", is_product, opening_comment),
    ("public-since", is_public, public_since),
    ("function-name", is_product, function_name),
    ("folder", is_src, folder),
    ("layers", is_src, layers),
    ("banned-call", is_src, banned_call),
    ("standard-stream", is_src, standard_stream),
    ("mutable-state", is_src, mutable_state),
)

# (name, rule)
TREE_RULES = (
    ("folder-size", folder_size),
    ("readme-name", readme_name),
    ("one-includer", one_includer),
    ("global-function", tidy_symbols.global_function),
    ("exported-symbol", tidy_symbols.exported_symbol),
    ("shared-function", tidy_names.shared_function),
    ("shared-tag", tidy_names.shared_tag),
    ("room-prefix", tidy_names.room_prefix),
    ("surface-door", surface_door),
)


def is_skipped(path):
    name = path.name
    is_build = len(path.parts) == 1 and name.startswith("build")
    is_hidden = name.startswith(".") and name not in (".ci", ".github")
    return is_build or is_hidden or name in SKIPPED_FOLDERS or str(path) in SKIPPED_PATHS


def read_tree(root):
    """Every text file under the root, sorted by path."""
    found = []
    for parent, folders, names in os.walk(root):
        here = PurePosixPath(Path(parent).relative_to(root).as_posix())
        folders[:] = [name for name in folders if not is_skipped(here / name)]
        for name in names:
            if PurePosixPath(name).suffix in TEXT_SUFFIXES + ("",):
                text = (Path(parent) / name).read_text(encoding="utf-8", errors="replace")
                found.append(File(here / name, text))
    return sorted(filter(is_text, found), key=lambda file: file.path)


def check(files, library_path=None):
    """All problems of the tree, as (path, line, rule, sentence)."""
    problems = []
    for name, looks_at, rule in FILE_RULES:
        for file in filter(looks_at, files):
            problems += [(str(file.path), line, name, text) for line, text in rule(file)]
    for name, rule in TREE_RULES:
        for path, line, text in rule(files, library_path):
            problems.append((str(path), line, name, text))
    return sorted(problems)


def main():
    parser = argparse.ArgumentParser(description="checks the rules of the house")
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--library", help="also compare its symbols with include/stepscope.h")
    arguments = parser.parse_args()
    files = read_tree(Path(arguments.root))
    problems = check(files, arguments.library)
    listed = Path(arguments.root) / EXCEPTIONS
    if listed.exists():
        exceptions = tidy_names.read_exceptions(listed.read_text(encoding="utf-8"))
        problems = tidy_names.without_exceptions(problems, exceptions, EXCEPTIONS)
    for path, line, rule, sentence in problems:
        print(f"{path}:{line}: {rule}: {sentence}")
    print(f"tidy: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
