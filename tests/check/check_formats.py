# SPDX-License-Identifier: Apache-2.0
"""What `stepscope check` writes and how it ends: read back as those do who read it."""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

SUMMARY_BYTES_MAX = 1024 * 1024


class Job:
    def __init__(self, stepscope, folder):
        self.stepscope, self.folder = os.path.abspath(stepscope), folder

    def run(self, *words, **environment):
        return subprocess.run(
            [self.stepscope, *words],
            cwd=self.folder, capture_output=True, text=True, check=False,
            env={**os.environ, **environment},
        )  # fmt: skip

    def simulate(self, name, *words):
        made = self.run("sim", *words, "-o", name)
        assert made.returncode == 0, made.stderr

    def check(self, code, *words, **environment):
        result = self.run("check", *words, **environment)
        assert result.returncode == code, (words, result.returncode, result.stdout, result.stderr)
        return result

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return file.read()


def has(thing, /, **members):
    """Requires members of an object, with their types."""
    for name, kind in members.items():
        assert isinstance(thing.get(name), kind), (name, thing)


def junit(job):
    job.check(3, "slow", "--against", "fast", "--fail-if", "ranks < 1", "--fail-if",
              "steps.dur_ns > 1ms", "--junit", "check.xml", "--name", "a<b&\"c\"")  # fmt: skip
    root = xml.etree.ElementTree.fromstring(job.read("check.xml"))
    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    assert root.tag == "testsuites" and len(cases) == 3 == int(suite.get("tests"))
    assert [case.find("failure") is not None for case in cases] == [True, False, True]
    assert int(suite.get("failures")) == 2 and int(suite.get("skipped")) == 0
    assert cases[0].get("classname") == 'stepscope.a<b&"c"' and float(cases[0].get("time")) > 0
    assert "Cause: " in cases[0].find("failure").text
    job.check(4, "two", "--against", "fast", "--junit", "check.xml")
    suite = xml.etree.ElementTree.fromstring(job.read("check.xml")).find("testsuite")
    assert suite.get("skipped") == "1" and suite.find("testcase/skipped") is not None


def sarif(job):
    job.check(3, "slow", "--against", "fast", "--sarif", "check.sarif")
    document = json.loads(job.read("check.sarif"))
    assert document["version"] == "2.1.0" and "sarif-2.1.0" in document["$schema"]
    (run,) = document["runs"]
    has(run["tool"]["driver"], name=str, version=str, rules=list)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert run["results"], "the planted host sync has a line of code"
    for result in run["results"]:
        has(result, ruleId=str, level=str, message=dict, locations=list)
        assert result["ruleId"] in rules and result["level"] in ("error", "warning", "note")
        has(result["message"], text=str)
        place = result["locations"][0]["physicalLocation"]
        has(place, artifactLocation=dict, region=dict)
        assert place["region"]["startLine"] >= 1
        uri = place["artifactLocation"]["uri"]
        assert urllib.parse.quote(urllib.parse.unquote(uri), safe="/:~") == uri
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert (first["ruleId"], place["artifactLocation"]["uri"]) == ("sync-stall", "train.py")
    assert place["region"]["startLine"] == 55


def series(job):
    job.check(3, "slow", "--against", "fast", "--bencher", "bmf.json", "--benchmark", "gab.json",
              "--name", "my job")  # fmt: skip
    (name,), (measures,) = zip(*json.loads(job.read("bmf.json")).items())
    assert name == "my job" and {"step-time", "exposed-communication"} <= set(measures)
    for metric in measures.values():
        has(metric, value=float)
        assert set(metric) <= {"value", "lower_value", "upper_value"}
    step = measures["step-time"]
    assert step["lower_value"] <= step["value"] <= step["upper_value"]
    items = json.loads(job.read("gab.json"))
    for item in items:
        has(item, name=str, unit=str, value=float)
        assert set(item) <= {"name", "unit", "value", "range", "extra"}
    assert items[0]["value"] == step["value"] and items[0]["name"].startswith("my job")


def github(job):
    with open(f"{job.folder}/summary.md", "w", encoding="utf-8") as file:
        file.write("before\n")
    said = job.check(3, "slow", "--against", "fast", "--github", "--fail-if", "warnings > 0",
                     GITHUB_STEP_SUMMARY=f"{job.folder}/summary.md").stdout  # fmt: skip
    lines = [line for line in said.splitlines() if line.startswith("::")]
    form = re.compile(r"^::(error|warning|notice) ((?:\w+=[^,:]*)(?:,\w+=[^,:]*)*)::(.+)$")
    assert lines and all(form.match(line) for line in lines), lines
    assert lines[0].startswith("::error file=train.py,line=55,title=stepscope check::Regression: ")
    assert "%0A" in lines[0] and "warnings > 0 is true" in lines[1]
    summary = job.read("summary.md")
    assert summary.startswith("before\n### Regression: ") and len(summary) < SUMMARY_BYTES_MAX
    assert "| finding |" in summary and "train.py:55" in summary


def conditions(job):
    for code, condition in (
        (0, "exposed_communication_percent > 90"),
        (3, "step_ns > 1ms"),
        (3, "change_percent > 2%"),
        (3, "findings.share_percent > 5"),
        (3, "diagnose.cost_ns > 1ms"),
        (0, "kernels.calls < 1"),
        (3, "sync_stall_cost_percent >= 3"),
    ):
        baseline = ("--against", "fast", "--threshold", "99%") if "change" in condition else ()
        result = job.check(code, "slow", *baseline, "--fail-if", condition, "--json")
        said = json.loads(result.stdout)
        assert said["conditions"][0]["holds"] == (code == 3), said
        assert said["verdict"] == ("fail" if code else "pass"), said["verdict"]
    # without a baseline nobody knows what changed
    said = job.check(4, "slow", "--fail-if", "change_percent > 2").stdout
    assert "the traces do not show it" in said, said
    job.check(0, "slow", "--fail-if", "change_percent > 2", "--allow-inconclusive")
    for condition, word in (
        ("exposed_comunication_percent > 1", "did you mean 'exposed_communication_percent'?"),
        ("step.dur_ns > 1", "did you mean 'steps'?"),
        ("steps.durns > 1", "did you mean 'dur_ns'?"),
        ("step_ns > 1%", "is no unit"),
        ("step_ns", "is no condition"),
    ):
        said = job.check(2, "missing", "--fail-if", condition).stderr
        assert word in said, said


def runs(job):
    """A folder of several runs is a baseline of several; the run itself does not count."""
    said = json.loads(job.check(0, "many/r1", "--against", "many", "--json").stdout)
    assert said["noise"]["baseline_runs"] == 2, said["noise"]
    both = json.loads(job.check(0, "many/r1", "--against", "many/r2", "--against", "many/r3",
                                "--json").stdout)  # fmt: skip
    assert both["noise"]["mean"] == said["noise"]["mean"]
    assert "pass" == said["verdict"] and said["noise"]["run_deviation_percent"] > 0


def verdicts(job):
    said = job.check(3, "slow", "--against", "fast").stdout
    assert said.startswith("Regression: the mean step takes ") and "sync-stall" in said
    assert "Noise: ±" in said and "98 % confidence" in said
    assert "can see changes of" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80
    assert job.check(0, "fast", "--against", "slow").stdout.startswith("Improvement: ")
    assert "ranks" in job.check(4, "two", "--against", "fast").stdout
    assert "complete step" in job.check(4, "short", "--against", "fast").stdout
    assert "the run used NVIDIA A100" in job.check(4, "device", "--against", "fast").stdout
    assert "expected a baseline" in job.check(2, "slow").stderr
    said = job.check(2, "slow", "--against", "fast", "--threshold", "x").stderr
    assert "--threshold takes" in said, said
    assert job.check(1, "slow", "--against", "nowhere").stdout == ""
    assert "exposed_communication_percent" in job.check(0, "--list").stdout
    job.check(3, "slow", "--against", "fast", "-o", "check.md", "--format", "markdown")
    assert job.read("check.md").startswith("### Regression: ")


def main():
    with tempfile.TemporaryDirectory() as folder:
        job = Job(sys.argv[1], folder)
        small = ("--preset", "ddp8-sync-item", "--steps", "5", "--set", "layers=4", "--plain")
        healthy = (*small, "--without", "sync-item")
        job.simulate("slow", *small, "--ranks", "2", "--seed", "1")
        job.simulate("fast", *healthy, "--ranks", "2", "--seed", "2")
        job.simulate("two", *healthy, "--ranks", "3", "--seed", "3")
        job.simulate("short", *healthy, "--ranks", "2", "--steps", "2", "--seed", "3")
        job.simulate("device", *healthy, "--ranks", "2", "--device", "a100")
        os.mkdir(f"{folder}/many")
        for seed in (1, 2, 3):
            job.simulate(f"many/r{seed}", *healthy, "--ranks", "2", "--seed", str(seed))
        for part in (verdicts, conditions, runs, junit, sarif, series, github):
            part(job)


if __name__ == "__main__":
    main()
