# SPDX-License-Identifier: Apache-2.0
"""What the commands 'diagnose' and 'what-if' say, read in one place for the tests of both.

A change of their JSON is a change of this file only.
"""
import json
import subprocess

DIAGNOSE = "stepscope.diagnose/1"
WHAT_IF = "stepscope.what-if/1"
SECONDS_MAX = 300

RULES = frozenset("""
input-stall sync-stall launch-bound exposed-communication straggler all-idle garbage-collection
periodic-pause pageable-copies no-tensor-cores low-occupancy allocator-thrash fragmentation
memory-leak memory-headroom recompilation graph-breaks pipeline-bubble imbalance
optimizer-not-fused cpu-bound-ops profiler-overhead attention-not-fused decode-bandwidth
large-logits unfused-chain slow-attention slow-products slow-memory-work gpu-ceiling
data-parallel layout-conversion float64-work tf32-products training-mode extra-copies
undone-copies loop-indexing grad-zeroed conv-bias-before-norm
matmul-dims oversubscribed-cores tiny-operators validation-in-loop worker-restart
gradient-sync unused-parameters small-buckets communication-bound costly-kind costly-place
unexplained-time recomputed-activations exposed-copies fp8-products
""".split())


class Finding:
    """One finding of a diagnosis."""

    def __init__(self, row):
        self.rule = row["rule"]
        self.warning = row["level"] == "warning"
        self.cost_ns = row.get("cost_ns")
        self.share_percent = row.get("share_percent")
        self.lines = [piece["line"] for piece in row.get("evidence", []) if piece.get("line")]
        self.texts = [piece["text"] for piece in row.get("evidence", [])]

    def __str__(self):
        cost = "" if self.cost_ns is None else f" {self.cost_ns / 1e6:.3f} ms"
        return f"{self.rule} ({'warning' if self.warning else 'info'}{cost})"


def answer(stepscope, schema, *arguments):
    """The JSON that a command prints. RuntimeError with its words when it fails or says
    something else."""
    try:
        done = subprocess.run([stepscope, *arguments], capture_output=True, check=False,
                              timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"no answer in {SECONDS_MAX} s") from error
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(words[0] if words else f"exit status {done.returncode}")
    try:
        said = json.loads(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"no JSON: {error}") from error
    if said.get("schema") != schema:
        raise RuntimeError(f"schema {said.get('schema')}, expected {schema}")
    return said


def findings(stepscope, path):
    """The findings of a file or a job, the first first."""
    said = answer(stepscope, DIAGNOSE, "diagnose", "--format", "json", str(path))
    return [Finding(row) for row in said["findings"]]


def prediction(stepscope, path, fixes):
    """The step now, with the fixes, and its bounds (fast, slow), in nanoseconds."""
    said = answer(stepscope, WHAT_IF, "what-if", "--fix", ",".join(fixes), "--format", "json",
                  str(path))
    return said["step_ns"], said["fixed_step_ns"], (said["fixed_low_ns"], said["fixed_high_ns"])
