# SPDX-License-Identifier: Apache-2.0
"""tidy_symbols.py - rules of tidy.py about functions that other files or programs call."""

import re
import subprocess
from collections import Counter, defaultdict

# Called from outside of C, hence declared in no header.
CALLED_FROM_OUTSIDE = re.compile(r"\bmain\b|\bPyInit_\w+|\bexport_name\b|\b\w*EXPORT\w*\b")
C_SUFFIXES = (".c", ".h", ".inc")
C_FOLDERS = ("src", "include", "tests", "fuzz", "bench", "tools")


def is_c(file):
    return file.folder in C_FOLDERS and file.path.suffix in C_SUFFIXES


def is_header(file):
    return is_c(file) and file.path.suffix == ".h"


def is_src(file):
    return is_c(file) and file.folder == "src"


def public_functions(files):
    """Functions that the public header declares with SS_API."""
    for file in files:
        if file.folder == "include" and is_header(file):
            for item in file.c.prototypes:
                if "SS_API" in item.head.split():
                    yield file, item


def files_that_use(files):
    """For each name, the files that do more than declare it."""
    users = defaultdict(list)
    for file in files:
        declared = Counter(item.name for item in file.c.prototypes) if is_header(file) else {}
        for name, count in file.c.words.items():
            if count > declared.get(name, 0):
                users[name].append(file)
    return users


def global_function(files, library_path):
    c_files = list(filter(is_c, files))
    declared = {item.name for file in filter(is_header, c_files) for item in file.c.prototypes}
    public = {item.name for _, item in public_functions(c_files)}
    users = files_that_use(c_files)
    for file in filter(is_src, c_files):
        for item in file.c.functions:
            if item.is_static or item.name in public or CALLED_FROM_OUTSIDE.search(item.head):
                continue
            line = file.c.line_at(item.start)
            if all(user is file for user in users[item.name]):
                yield file.path, line, f"no other file uses '{item.name}': make it static"
            elif item.name not in declared:
                yield file.path, line, f"'{item.name}' is declared in no header"


def exported_names(library_path):
    """What a shared library exports, without the names reserved for the compiler."""
    command = ["nm", "-D", "--defined-only", library_path]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = (line.split()[-1].split("@")[0] for line in output.splitlines())
    return {name for name in names if not name.startswith("_")}


def exported_symbol(files, library_path):
    if library_path is None:
        return
    try:
        exported = exported_names(library_path)
    except (OSError, subprocess.CalledProcessError) as error:
        yield library_path, 1, f"cannot list its symbols: {error}"
        return
    declared = {item.name: (file, item) for file, item in public_functions(files)}
    for name in sorted(exported - declared.keys()):
        yield library_path, 1, f"exports '{name}', which include/stepscope.h does not declare"
    for name in sorted(declared.keys() - exported):
        file, item = declared[name]
        yield file.path, file.c.line_at(item.start), f"'{name}' is not exported by the library"
