# SPDX-License-Identifier: Apache-2.0
"""Dumps of NCCL's flight recorder when a collective hangs."""

from __future__ import annotations

import os
import sys

from ._safe import quiet, warn


@quiet
def flight_recorder(folder: str | os.PathLike[str] = "traces", *, events: int = 2000) -> None:
    """Sets up dumps on hangs: call it before ``init_process_group``.

    Each rank keeps its last ``events`` collectives and writes them to the folder when one of them
    times out. What the environment sets already stays.
    """
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        warn("flight_recorder has no effect after init_process_group")
        return
    if int(events) < 1:
        raise ValueError(f"events is {events}, and must be 1 or more")
    place = os.path.abspath(os.fsdecode(folder))
    os.makedirs(place, exist_ok=True)
    prefix = os.path.join(place, "nccl_trace_rank_")
    # what one is called now and was called before: the user's choice counts under either name
    for names, value in (
        (("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"), str(int(events))),
        (("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"), prefix),
        (("TORCH_NCCL_DUMP_ON_TIMEOUT",), "1"),
    ):
        if not any(name in os.environ for name in names):
            os.environ.update(dict.fromkeys(names, value))
