#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes pages of docs/ as C, so that `stepscope explain` can print them.

Usage: pages.py OUTPUT PAGE...
"""
import pathlib
import sys

HEAD = """static const struct {
	const char *name, *text;
} pages[] = {
"""


def main():
    output, pages = pathlib.Path(sys.argv[1]), [pathlib.Path(word) for word in sys.argv[2:]]
    lines = []
    for number, page in enumerate(pages):
        # numbers: a text may not be longer than 4095 bytes in C
        codes = ",".join(map(str, (page.read_bytes() + b"\0")))
        lines.append(f"static const unsigned char page_{number}[] = {{{codes}}};\n")
    lines.append(HEAD)
    for number, page in enumerate(pages):
        lines.append(f'\t{{ "{page.stem}", (const char *)page_{number} }},\n')
    lines.append("};\n")
    output.write_text("".join(lines))


if __name__ == "__main__":
    main()
