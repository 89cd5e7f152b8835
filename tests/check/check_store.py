# SPDX-License-Identifier: Apache-2.0
"""Checks against a store: earlier runs are the baseline, from the last change of their level on."""
import json
import os
import subprocess
import sys
import tempfile

SMALL = ("--preset", "ddp8-healthy", "--ranks", "2", "--steps", "5", "--set", "layers=4")


def main():
    stepscope, duckdb = map(os.path.abspath, sys.argv[1:])
    if not os.path.exists(duckdb):
        print("skipped: DuckDB is not there")
        return 77
    environment = {**os.environ, "STEPSCOPE_DUCKDB": duckdb}
    if "STEPSCOPE_SLOW" in os.environ:  # sanitized: see tests/sql/queries.py
        environment["LD_PRELOAD"] = "libstdc++.so.6"
    with tempfile.TemporaryDirectory() as folder:

        def run(code, *words):
            result = subprocess.run(
                [stepscope, *words],
                cwd=folder, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert result.returncode == code, (words, result.stdout, result.stderr)
            return result

        for seed in range(1, 9):
            slower = ("--cause", "callbacks=0.4") if seed > 4 else ()
            run(0, "sim", *SMALL, *slower, "--seed", str(seed), "-o", f"r{seed}")
            run(0, "store", "add", "store", f"r{seed}", "--job", "a", "--label", "team=x")
        run(0, "sim", *SMALL[:3], "4", *SMALL[4:], "-o", "other")
        run(0, "store", "add", "store", "other", "--job", "b")
        # the run itself and those before the change are left out; so are jobs with other ranks
        for words in ("store:team=x", "store:job=a", "store"):
            said = json.loads(run(0, "check", "r8", "--against", words, "--json").stdout)
            assert said["verdict"] == "pass" and said["noise"]["baseline_runs"] == 3, said["noise"]
            assert "the 4 earlier runs are left out" in said["level_text"], said["level_text"]
        slower = ("--cause", "callbacks=0.4,fp32-matmul=0.3")
        run(0, "sim", *SMALL, *slower, "--seed", "9", "-o", "new")
        said = json.loads(run(3, "check", "new", "--against", "store:job=a", "--json").stdout)
        assert said["changes"][0]["name"] == "no-tensor-cores", said["changes"]
        assert said["noise"]["baseline_runs"] == 4
        assert "callbacks" not in said["cause_text"]
        said = run(1, "check", "r1", "--against", "store:team=y").stderr
        assert "no other run with these labels" in said, said
        assert "is no label" in run(2, "check", "r1", "--against", "store:team").stderr
        run(0, "store", "compact", "store")
        said = json.loads(run(3, "check", "new", "--against", "store:job=a", "--json").stdout)
        assert said["noise"]["baseline_runs"] == 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
