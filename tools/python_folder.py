#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints where modules are installed so that this Python finds them.

Usage: python_folder.py PREFIX FOLDER. FOLDER is what Meson takes; with a PREFIX such as /usr/local
Debian's Python looks elsewhere. Where it looks nowhere in PREFIX, FOLDER stays.
"""

import os
import site
import sys


def main(prefix, folder):
    places = [*site.getsitepackages(), site.getusersitepackages()]
    # PREFIX/lib/python3.11/dist-packages
    inside = [place for place in places if place.split(os.sep)[:-3] == prefix.split(os.sep)]
    wanted = os.path.join(prefix, folder)
    print(folder if wanted in places or not inside else inside[0])


main(*sys.argv[1:])
