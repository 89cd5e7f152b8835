# SPDX-License-Identifier: Apache-2.0
"""Records traces in a training loop or a server, and prints the verdict.

    from stepscope.torch import profile

    with profile("traces", steps=5) as prof:
        for batch in loader:
            train(batch)
            prof.step()

Nothing here raises in the loop: what goes wrong becomes a warning, and training goes on.
"""

from ._flight import flight_recorder
from ._live import live
from ._memory import memory_snapshot
from ._profile import profile, trace_handler
from ._requests import profile_requests

__all__ = [
    "flight_recorder",
    "live",
    "memory_snapshot",
    "profile",
    "profile_requests",
    "trace_handler",
]
