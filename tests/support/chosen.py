# SPDX-License-Identifier: Apache-2.0
"""Which part of a long list a test looks at.

Tests that take minutes look at a part of their files in a quick run (STEPSCOPE_QUICK=1, as all
runs by Meson are). The seed chooses the part: 0 unless STEPSCOPE_SEED says otherwise, so that two
runs of one commit look at the same files. .ci/nightly takes the date as seed and prints it: all
parts are seen within days. Sanitized builds are slow and look at a part of that (STEPSCOPE_SLOW=8:
an eighth). Without STEPSCOPE_QUICK a test looks at everything.
"""
import os


def seed():
    """The number that chooses files, jobs and damage of this run."""
    return int(os.environ.get("STEPSCOPE_SEED", "0"))


def share(items, parts=1):
    """The seed's part of the items, one of `parts`; all of them in a run that is not quick."""
    items = list(items)
    if os.environ.get("STEPSCOPE_QUICK") != "1" or not items:
        return items
    parts = min(parts * int(os.environ.get("STEPSCOPE_SLOW", "1")), len(items))
    return items[seed() % parts :: parts]
