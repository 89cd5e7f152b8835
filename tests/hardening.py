#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler and the linker were asked for is in the program.

Usage: hardening.py FILE... - programs and shared libraries of a build that is not sanitized.
"""
import re
import subprocess
import sys

# a function that checks the length of what it writes to, and the guard of the stack
CALLED = ("__stack_chk_fail", re.compile(r"__\w+_chk"))


def read(*words):
    return subprocess.run(["readelf", "-W", *words], capture_output=True, text=True,
                          check=True).stdout


def problems_of(path):
    headers, dynamic, symbols = read("-lh", path), read("-d", path), read("--dyn-syms", path)
    names = set(re.findall(r" UND (\w+)", symbols))
    stack = re.search(r"GNU_STACK .* (\w+) +0x", headers)
    checks = {
        "position independent": "DYN (" in headers,
        "the stack is no code": bool(stack) and "E" not in stack[1],
        "relocations become read-only": "GNU_RELRO" in headers and "NOW" in dynamic,
        "no segment is written and run": not re.search(r"LOAD .* RWE ", headers),
        "guarded stack": CALLED[0] in names,
        "fortified functions": any(CALLED[1].fullmatch(name) and name != CALLED[0]
                                   for name in names),
    }
    if "X86-64" in headers:
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True,
                              text=True, check=True).stdout
        checks["jumps land on marks"] = code.count("endbr64") > 1000
    return [what for what, holds in checks.items() if not holds]


def main(paths):
    failed = 0
    for path in paths:
        problems = problems_of(path)
        failed += len(problems)
        print(f"{path}: {'; '.join(problems) + ': missing' if problems else 'hardened'}")
    return 1 if failed or not paths else 0


sys.exit(main(sys.argv[1:]))
