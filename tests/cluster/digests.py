#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Digests made by real launchers on four nodes give the answers of the traces.

Usage: digests.py STEPSCOPE [RANKS [LAUNCHER...]]. Slurm (a step of 16 tasks, an array, a node that
dies, a job that is requeued), OpenMPI's mpirun and GNU parallel over ssh each write the digests of
one simulated job of RANKS ranks (256); its verdict and tables must be those of the traces, byte by
byte. Skipped where the launchers are not installed or namespaces are not allowed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import nodes

STEPSCOPE = str(pathlib.Path(sys.argv[1]).resolve())
RANKS = int(sys.argv[2]) if len(sys.argv) > 2 else 256
NODES, TASKS, SKIPPED = 4, 16, 77
ASKED = (("diagnose",), ("diagnose", "--json"), ("stragglers", "--json"), ("collectives", "--json"),
         ("clocks", "--json"), ("what-if", "--json"))
SECONDS = re.compile(rb' in [\d.]+ s$|"(?:load_)?seconds":[\d.]+', re.M)
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(part) for part in what))
        print("FAILED:", failures[-1])


def ask(folder, *words):
    return subprocess.run([STEPSCOPE, *words, "job"], cwd=folder, capture_output=True, check=False)


def answers(folder):
    return [SECONDS.sub(b"", ask(folder, *words).stdout) for words in ASKED]


class Scene:
    """A job, what its traces say, and a folder for the digests of each launcher."""

    def __init__(self, folder, cluster):
        self.folder, self.cluster, self.ssh = folder, cluster, None
        self.place = folder / "traces"
        self.place.mkdir()
        subprocess.run([STEPSCOPE, "sim", "-p", "ddp8-healthy", "--ranks", str(RANKS), "--steps",
                        "2", "--cause", "straggler=0.5", "--clock-offset-ms", "5000", "--set",
                        "layers=2,stack=0", "-o", self.place / "job"], check=True,
                       capture_output=True)
        self.wanted = answers(self.place)

    def digest(self, name, *more):
        """The words of the command, for a folder of that name. Digests keep the names of their
        traces as they were given: launchers run where the traces are asked.
        """
        (self.folder / name).mkdir(exist_ok=True)
        return [STEPSCOPE, "digest", "job", "-o", str(self.folder / name / "job"), *more]

    def count(self, name):
        return len(list((self.folder / name / "job").glob("*.digest")))

    def compare(self, name, is_killed=False):
        """Same answers; only a process that was killed may leave its unfinished file."""
        check(self.count(name) == RANKS, name, "has", self.count(name), "digests of", RANKS)
        found = answers(self.folder / name)
        for words, before, after in zip(ASKED, self.wanted, found):
            check(before == after, f"{name}: {' '.join(words)} differs from that of the traces")
        left = [path.name for path in (self.folder / name / "job").iterdir()
                if path.suffix != ".digest"]
        check(not left or (is_killed and all(one.endswith(".part") for one in left)), name,
              "leaves", left)

    def agent(self):
        if self.ssh is None:
            self.ssh = self.cluster.start_ssh()
        return self.ssh


def check_threads(name, text):
    """Tasks on one node share its cores: nothing binds them here."""
    found = [int(count) for count in re.findall(r" with (\d+) threads?: ", text)]
    wanted = max(1, os.cpu_count() // (TASKS // NODES))
    check(found == TASKS * [wanted], name, "has threads", found, "not", wanted, "each")
    print(f"{name}: {wanted} of {os.cpu_count()} cores for each of {TASKS // NODES} per node")


def slurm_step(scene):
    done = scene.cluster.slurm("srun", f"-N{NODES}", f"-n{TASKS}", "-D", scene.place,
                               *scene.digest("slurm_step"))
    shares = re.findall(r"(\d+) digests? written", done.stdout)
    check(len(shares) == TASKS and sum(map(int, shares)) == RANKS, "shares", shares)
    check_threads("slurm_step", done.stdout)
    print("balance of the step:\n" + "".join(
        f"  {line}\n" for line in sorted(done.stdout.splitlines()) if "written" in line), end="")
    scene.compare("slurm_step")


def slurm_array(scene):
    script = scene.folder / "array.sh"
    words = " ".join(scene.digest("slurm_array"))
    script.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
    job = scene.cluster.slurm("sbatch", "--parsable", f"--array=1-{TASKS}", "-D", scene.place, "-o",
                              scene.folder / "array.%a.txt", script).stdout.strip()
    scene.cluster.wait_for_job(job)
    sums = [re.search(r"(\d+) digests? written", path.read_text(encoding="utf-8"))
            for path in scene.folder.glob("array.*.txt")]
    check(sum(int(found[1]) for found in sums if found) == RANKS, "the array did work twice", sums)
    scene.compare("slurm_array")


def slurm_death(scene):
    """A node dies in the middle; --resume on the others does what is left."""
    cluster, name = scene.cluster, "slurm_death"
    step = subprocess.Popen(  # pylint: disable=consider-using-with
        ["srun", f"-N{NODES}", f"-n{TASKS}", "-D", str(scene.place), *scene.digest(name)],
        env=cluster.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    cluster.until(lambda: scene.count(name) >= RANKS // 8, "some digests")
    cluster.kill_node("ssn2")
    error = step.communicate(timeout=300)[1].decode()
    there = scene.count(name)
    check("ssn2" in error, "the dead node is not reported", error[-300:])
    check(there < RANKS, "the node died too late to be missed")
    said = ask(scene.folder / name, "diagnose")
    text = (said.stdout + said.stderr).decode()
    check(f"{RANKS - there} of {RANKS} ranks are missing" in text, "not counted in", text[:600])
    print(f"a node died: {there} of {RANKS} digests, judged with exit {said.returncode}")
    cluster.start_node("ssn2")
    cluster.until(lambda: cluster.idle() == NODES, "the node is back")
    done = cluster.slurm("srun", f"-N{NODES}", f"-n{TASKS}", "-D", scene.place,
                         *scene.digest(name, "--resume"))
    written = sum(map(int, re.findall(r"(\d+) digests? written", done.stdout)))
    check(written == RANKS - there, "--resume wrote", written, "of", RANKS - there)
    scene.compare(name, is_killed=True)


def slurm_requeue(scene):
    """A batch job whose node dies is put back into the queue and goes on from what is there."""
    cluster, name = scene.cluster, "slurm_requeue"
    script = scene.folder / "requeue.sh"
    words = " ".join(scene.digest(name, "--resume"))
    script.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
    job = cluster.slurm("sbatch", "--parsable", "--requeue", "-N1", "-n4", "-w", "ssn3", "-D",
                        scene.place, "-o",
                        scene.folder / "requeue.txt", "--open-mode=append", script).stdout.strip()
    cluster.until(lambda: scene.count(name) >= RANKS // 8, "some digests")
    cluster.kill_node("ssn3")
    cluster.until(lambda: cluster.state_of(job) == "PD", "the job is requeued", 120)
    there = scene.count(name)
    cluster.start_node("ssn3")
    # first the order to end the job that the dead node missed: it would end the new one
    cluster.until(lambda: cluster.idle() == NODES and not cluster.orders_left(), "the node is back")
    cluster.slurm("scontrol", "update", f"JobId={job}", "StartTime=now")
    cluster.wait_for_job(job)
    print(f"requeued with {there} of {RANKS} digests")
    check(there < RANKS, "the node died too late to be missed")
    if scene.count(name) < RANKS:
        print((scene.folder / "requeue.txt").read_text(encoding="utf-8")[-2000:])
    scene.compare(name, is_killed=True)


def mpirun(scene):
    ssh = scene.agent()
    hosts = scene.folder / "hosts"
    hosts.write_text("".join(f"{scene.cluster.address(name)} slots={TASKS // NODES}\n"
                             for name in scene.cluster.names), encoding="utf-8")
    words = ["mpirun", "-wdir", str(scene.place), "--allow-run-as-root", "--oversubscribe",
             "--mca", "plm_rsh_agent", " ".join(ssh), "--mca", "oob_tcp_if_include",
             nodes.NET + ".0/24", "--mca", "btl_tcp_if_include", nodes.NET + ".0/24",
             "--hostfile", str(hosts), "-n", str(TASKS), *scene.digest("mpirun")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    check(done.returncode == 0, "mpirun ends with", done.returncode, done.stderr[-500:])
    shares = re.findall(r"(\d+) digests? written", done.stdout)
    check(len(shares) == TASKS and sum(map(int, shares)) == RANKS, "shares of mpirun", shares)
    check_threads("mpirun", done.stdout)
    scene.compare("mpirun")


def parallel(scene):
    ssh = scene.agent()
    logins = ",".join(f"4/{' '.join(ssh)} {scene.cluster.address(name)}"
                      for name in scene.cluster.names)
    words = ["parallel", "--will-cite", "--wd", str(scene.place), "-S", logins, " ".join(
        scene.digest("parallel", "--share", "{}/" + str(TASKS))), ":::", *map(str, range(TASKS))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    check(done.returncode == 0, "parallel ends with", done.returncode, done.stderr[-500:])
    scene.compare("parallel")


LAUNCHERS = (slurm_step, slurm_array, slurm_death, slurm_requeue, mpirun, parallel)


def main():
    reason = nodes.missing()
    if reason:
        print("skipped:", reason)
        return SKIPPED
    chosen = [one for one in LAUNCHERS if one.__name__ in sys.argv[3:] or len(sys.argv) < 4]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cluster"))
    try:
        with nodes.Cluster(folder, NODES) as cluster:
            scene = Scene(folder, cluster)
            for launcher in chosen:
                launcher(scene)
                print(launcher.__name__, "done")
    finally:
        shutil.rmtree(folder)
    print(f"{len(chosen)} launchers, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
