# SPDX-License-Identifier: Apache-2.0
"""What is planted where. Needs no PyTorch; the loops themselves are in faults.py."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """name: the function of faults.py that makes the loop. function: where the fault stands."""

    name: str
    function: str
    planted: str
    fix: str
    ranks: int = 1
    file: str = "faults.py"

    @property
    def place(self):
        return f"{self.file}:{self.function}"


FAULTS = (
    Fault("item_each_layer", "limit_outliers",
          "every layer reads statistics of all rows with .item()", "clamp on the device"),
    Fault("host_metrics", "count_errors",
          "logits go to the host, and numpy counts errors class by class", "count on the device"),
    Fault("pageable_copies", "move_batch",
          "a large batch is copied from pageable memory (CPU: converted from float64)",
          "pinned memory and non_blocking=True (CPU: convert before training)"),
    Fault("slow_sampler", "draw_index",
          "a sampler in the training process sums all weights for every index", "sum them once"),
    Fault("ema_loop", "update_averages",
          "Python loops over all parameters keep four averages of the weights",
          "torch._foreach_lerp_"),
    Fault("unfused_optimizer", "apply_update",
          "Adam by hand, an operator for each term and parameter", "AdamW(fused=True)"),
    Fault("deepcopy_state", "keep_state",
          "the states of model and optimizer are deep-copied in each step", "every 1000th step"),
    Fault("cat_queue", "push_rows",
          "a queue of features is built anew with torch.cat in each step", "overwrite rows"),
    Fault("full_precision", "run_tower",
          "float32 matmuls without TF32 (CPU: float64)", "TF32 (CPU: float32)"),
    Fault("buffer_broadcast", "share_buffers",
          "all buffers are broadcast in each step", "not in each step", ranks=2),
    Fault("straggler_rank", "pack_documents",
          "the last rank packs documents in Python before its step", "pack beforehand", ranks=2),
    Fault("object_collective", "gather_stats",
          "all_gather_object in each step", "all_reduce of one tensor", ranks=2),
)
