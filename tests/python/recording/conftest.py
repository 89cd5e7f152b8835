# SPDX-License-Identifier: Apache-2.0
"""Runs programs with real PyTorch, in the folder of tools/torch_folder.

Everything that is mounted lives in a namespace of its own and is gone when the program ends.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# only a single core each: several ranks share the machine
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin",
    "HOME": "/tmp",
    "PYTHONPATH": "/mnt/module",
    "PYTHONDONTWRITEBYTECODE": "1",
    "USE_LIBUV": "0",
    "GLOO_SOCKET_IFNAME": "lo",
    "GLOO_LOG_LEVEL": "ERROR",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "KINETO_LOG_LEVEL": "5",
}
MOUNT = """
set -e
folder=$1 module=$2 programs=$3 out=$4
shift 4
mount --bind /proc "$folder/proc"
mount --bind /dev "$folder/dev"
mount -t tmpfs tmpfs "$folder/mnt"
mkdir "$folder/mnt/module" "$folder/mnt/programs" "$folder/mnt/out"
mount --bind "$module" "$folder/mnt/module"
mount --bind "$programs" "$folder/mnt/programs"
mount --bind "$out" "$folder/mnt/out"
exec nice chroot "$folder" "$@"
"""


@pytest.fixture(scope="session")
def torch_folder():
    found = subprocess.run(
        [ROOT / "tools/torch_folder", "--find"], capture_output=True, text=True
    )
    if found.returncode:
        pytest.skip(found.stderr.strip())
    if os.geteuid() != 0:
        pytest.skip("chroot and mount need root")
    return found.stdout.strip()


@pytest.fixture(scope="session")
def inside(torch_folder):
    """Runs a program in the folder; /mnt/out is the given folder."""
    module = os.environ["PYTHONPATH"].split(os.pathsep)[0]

    def run(out, program, *words, python=(), timeout=800, **environment):
        command = ["unshare", "--mount", "--fork", "sh", "-c", MOUNT, "inside", torch_folder]
        command += [module, str(HERE / "programs"), str(out), "python3", *python]
        command += [f"/mnt/programs/{program}", *map(str, words)]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**ENVIRONMENT, **environment},
        )

    return run


@pytest.fixture(scope="session")
def scenario(inside, tmp_path_factory):
    """What became of one scenario of programs/scenarios.py; all run in one process, on demand."""
    out = tmp_path_factory.mktemp("scenarios")
    out.chmod(0o755)  # one of them runs without root
    done = inside(out, "scenarios.py")
    assert done.returncode == 0, done.stderr
    results = {each["name"]: each for each in map(json.loads, done.stdout.splitlines())}

    def get(name):
        return results[name]

    get.names = sorted(results)
    get.out = out
    return get


def pytest_sessionfinish(session, exitstatus):
    """Meson takes 77 for a skipped test: all were."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter and not reporter.stats.get("passed"):
        session.exitstatus = 77
