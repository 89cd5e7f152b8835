# SPDX-License-Identifier: Apache-2.0
"""What a diagnosis of a simulated job must say, worked out from its truth."""
import json
import subprocess
import tempfile

import job_truth

# cause that is planted -> rule that must find it; of several, any
RULE_OF = {
    "input-in-process": "input-stall",
    "input-few-workers": "input-stall",
    "sync-item": "sync-stall",
    "sync-print": "sync-stall",
    "sync-nonzero": "sync-stall",
    "exposed-comm": "exposed-communication",
    "straggler-work": "straggler",
    "straggler-host": "straggler",
    "straggler-link": "straggler",
    "pageable-copy": "pageable-copies",
    "fp32-matmul": "no-tensor-cores",
    "idle-checkpoint": "all-idle",
    "idle-logging": "all-idle",
    "idle-gc": "garbage-collection",
    "graph-break": "graph-breaks",
    "optimizer-loop": "optimizer-not-fused",
    "no-sync": "gradient-sync",
    "validation": "validation-in-loop",
    "tokenize": "input-stall",
    "host-tokenizer": "input-stall",
    "callbacks": "all-idle",
    "casts": ("undone-copies", "extra-copies"),
    # what waits for a core is launched late: without operators on the CPU nothing tells more
    "oversubscribed": ("oversubscribed-cores", "launch-bound", "unexplained-time"),
    "lone-pause": ("costly-place", "unexplained-time"),
    "first-launch": ("costly-kind", "unexplained-time"),
}
# must be found; what they cost in time is not worth a name
TIMELESS = ("memory-leak", "fragmentation")
# must be found; no fix is known, so there is no step after it to compare
UNFIXED = ("lone-pause", "first-launch")


def rules_of(cause):
    """The rules that may find it."""
    rule = RULE_OF.get(cause, cause)
    return rule if isinstance(rule, tuple) else (rule,)


def rules(stepscope):
    """Those that the program has."""
    return {row["rule"] for row in job_truth.table(stepscope, "explain")}


def ask(stepscope, *words):
    command = [stepscope, *words, "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {result.stderr.strip()}")
    return json.loads(result.stdout)


class Verdict:
    """What the program says about a preset, and what is true."""

    def __init__(self, stepscope, preset, words, known):
        self.preset = preset
        with tempfile.TemporaryDirectory() as folder:
            truth = job_truth.simulate(stepscope, folder, preset, *words)
            self.said = ask(stepscope, "diagnose", folder)
            self.step_ns = truth["mean_step_ns"]
            self.planted = {cause["name"]: cause for cause in truth["causes"]}
            self.findings = self.said["findings"]
            self.missing = {rules_of(n)[0] for n in self.planted if not known & {*rules_of(n)}}
            self.costs = list(self.costs_of(stepscope, folder, truth, known))
        self.warnings = [f for f in self.findings if f["level"] == "warning"]

    def rule_of(self, name):
        """The rule of a cause: of several, the first that found something."""
        found = [finding["rule"] for finding in self.findings]
        rules = rules_of(name)
        return min(rules, key=lambda rule: found.index(rule) if rule in found else len(found))

    def costs_of(self, stepscope, folder, truth, known):
        """(causes that are fixed, step as said, step as it truly is) of every set of fixes."""
        timed = [name for name in self.planted if name not in TIMELESS + UNFIXED]
        for subset in truth["subsets"]:
            fixed = [name for name in timed if name not in subset["causes"]]
            kept = [name for name in timed if name in subset["causes"]]
            names = {self.rule_of(name) for name in fixed}
            left = [name for name in self.planted if name not in timed]
            if not fixed or not names <= known or names & {self.rule_of(name) for name in kept}:
                continue
            if not set(left) <= set(subset["causes"]):
                continue
            answer = ask(stepscope, "what-if", "--fix", ",".join(sorted(names)), folder)
            yield fixed, answer["fixed_step_ns"], subset["mean_step_ns"]

    def is_found(self, name):
        """Whether the rule of a cause says it, and about the guilty rank."""
        for finding in self.findings:
            if finding["rule"] in rules_of(name):
                rank = self.planted[name]["rank"]
                if rank is None or rank in finding["ranks"]:
                    return True
        return False

    @property
    def first(self):
        """The rule of the first finding; where only timeless causes are planted: of those."""
        only_timeless = self.planted and all(name in TIMELESS for name in self.planted)
        for finding in self.findings:
            if not only_timeless or finding["cost_ns"] is None:
                return finding["rule"]
        return None

    @property
    def expected(self):
        """The rule that must stand first: that of the cause that costs most."""
        timed = [name for name in self.planted if name not in TIMELESS] or list(self.planted)
        return self.rule_of(max(timed, key=lambda name: self.planted[name]["cost_ns"] or 0))

    def errors(self):
        """Of every set of fixes: how far the step is off, in percent of the true one."""
        return [100 * abs(said - true) / true for _, said, true in self.costs]

    def cost_errors(self):
        """Of a single cause: (cost as said, as it is, how far off in percent of the latter)."""
        for fixed, said, true in self.costs:
            if len(fixed) == 1 and len(self.planted) == 1:
                cost, wanted = self.said["step_ns"] - said, self.step_ns - true
                yield cost, wanted, 100 * abs(cost - wanted) / wanted
