# SPDX-License-Identifier: Apache-2.0
"""Which part of a long list a test looks at today.

Tests that take minutes look at a part of their files in a quick run (STEPSCOPE_QUICK=1, as all
runs by Meson are), at another one each day, so that all are seen within days. Sanitized builds are
slow and look at a part of that (STEPSCOPE_SLOW=8: an eighth). STEPSCOPE_DAY=N looks at what is
looked at on day N; without STEPSCOPE_QUICK a test looks at everything.
"""
import datetime
import os


def share(items, parts=1):
    """Today's of the items, every one of `parts`; all of them in a run that is not quick."""
    items = list(items)
    if os.environ.get("STEPSCOPE_QUICK") != "1" or not items:
        return items
    parts = min(parts * int(os.environ.get("STEPSCOPE_SLOW", "1")), len(items))
    day = int(os.environ.get("STEPSCOPE_DAY", datetime.date.today().toordinal()))
    return items[day % parts :: parts]
