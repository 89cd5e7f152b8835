#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/cluster.md as it stands, on four nodes with a rank each: live numbers, digests, events.

Usage: live.py STEPSCOPE DUCKDB MODULE. MODULE is the folder of the Python module. Needs root and
the folder of tools/torch_folder; skipped where namespaces are not allowed. Takes five minutes.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import nodes

STEPSCOPE, DUCKDB, MODULE = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
HERE = pathlib.Path(__file__).resolve().parent
SLOW_AT, STEPS, SKIPPED = 2000, 3400, 77
FOLDERS = ("local", "shared", "fleet", "var/lib/node_exporter")
failures = []

# a node has disks of its own, and what all nodes share; the last words run in PyTorch's folder
ENTER = """
set -e
folder=$1 node=$2; shift 2
for name in shared fleet; do mount --bind "$folder/$name" "/$name"; done
mount --bind "$folder/$node/local" /local
mount --bind "$folder/$node/exporter" /var/lib/node_exporter
exec "$@"
"""
CHROOT = """
set -e
torch=$1 module=$2 here=$3; shift 3
mkdir -p "$torch/local" "$torch/shared"
mount --bind /local "$torch/local"; mount --bind /shared "$torch/shared"
mount --bind /proc "$torch/proc"; mount --bind /dev "$torch/dev"
mount -t tmpfs tmpfs "$torch/mnt"; mkdir "$torch/mnt/module" "$torch/mnt/here"
mount --bind "$module" "$torch/mnt/module"; mount --bind "$here" "$torch/mnt/here"
exec chroot "$torch" "$@"
"""


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(part) for part in what))
        print("FAILED:", failures[-1])


class Nodes(nodes.Cluster):
    """Only the network; no Slurm."""

    def __init__(self, folder, torch):
        super().__init__(folder, 4)
        self.torch, self.began = torch, time.monotonic()
        self.environment["STEPSCOPE_DUCKDB"] = DUCKDB
        for name in ("shared/runs/pretrain", "fleet"):
            (self.folder / name).mkdir(parents=True)
        for name in self.names:
            for part in ("local/live", "exporter"):
                (self.folder / name / part).mkdir(parents=True)

    def __enter__(self):
        for name in FOLDERS:
            path = pathlib.Path("/", name)
            if not path.exists():
                path.mkdir(parents=True)
                self.undo.append(["rmdir", str(path)])
        try:
            self.make_nodes()
        except BaseException:
            self.close()
            raise
        return self

    def words_on(self, node, words):
        return ("unshare", "--mount", "sh", "-c", ENTER, "sh", str(self.folder), node,
                *super().words_on(node, words))

    def on(self, node, *words):
        return subprocess.run(self.words_on(node, [STEPSCOPE, *words]), capture_output=True,
                              text=True, check=False, env=self.environment, timeout=120)

    def train(self, rank):
        return self.start(
            f"rank{rank}", "sh", "-c", CHROOT, "sh", self.torch, MODULE, HERE, "env",
            "PYTHONPATH=/mnt/module", "USE_LIBUV=0", "GLOO_SOCKET_IFNAME=eth0", f"RANK={rank}",
            "OMP_NUM_THREADS=1", "WORLD_SIZE=4", f"MASTER_ADDR={self.address(self.names[0])}",
            "MASTER_PORT=29500", "PYTHONDONTWRITEBYTECODE=1", "python3", "/mnt/here/train.py",
            SLOW_AT, STEPS, node=self.names[rank])

    def say(self, what):
        print(f"{time.monotonic() - self.began:6.1f} s  {what}", flush=True)

    def events(self):
        log = self.folder / "events.log"
        return [json.loads(line) for line in log.read_text().splitlines()
                if line.startswith("{")] if log.exists() else []


def follow(cluster):
    ranks = [cluster.train(rank) for rank in range(4)]
    for name in cluster.names:
        cluster.start(f"watch.{name}", STEPSCOPE, "watch", "/local/live", "--digests",
                      "/shared/digests", "--delete-traces", "--store", "/fleet", "--metrics",
                      "/var/lib/node_exporter/stepscope.prom", node=name)
    cluster.until((cluster.folder / "shared/digests").exists, "the folder of digests")
    cluster.start("events", STEPSCOPE, "watch", "/shared/digests", "--store", "/fleet", "--events",
                  node=cluster.names[0])
    cluster.say("job, watch on each node, events")
    gauges = cluster.folder / "ssn3/exporter/stepscope.prom"
    cluster.until(lambda: gauges.exists() and "stepscope_rank_step{" in gauges.read_text(),
                  "gauges", 120)
    cluster.say("first gauges")
    judged = cluster.folder / "events.log"
    cluster.until(lambda: "added run" in judged.read_text(), "the baseline in the store", 240)
    time.sleep(1)
    titles = [event.get("title", "") for event in cluster.events()]
    cluster.say(f"baseline judged: {', '.join(titles) or 'nothing to warn of'}")
    log = cluster.folder / "rank0.log"
    cluster.until(lambda: "slow " in log.read_text(errors="replace"), "the slow step", 300)
    cluster.say(f"step {SLOW_AT}: rank 2 becomes slower")
    cluster.until(lambda: 2 in [event["rank"] for event in cluster.events()], "rank 2", 240)
    [event, *_] = [event for event in cluster.events() if event["rank"] == 2]
    cluster.say(f"event: {event['sentence']}")
    done = cluster.on("ssn1", "live", "/local/live")
    check("From step" in done.stdout, done.stdout + done.stderr)
    cluster.say(" ".join(done.stdout.split("From step")[-1].split("\n\n")[0].split()))
    before = len(cluster.events())
    done = cluster.on("ssn1", "record", "/local/live", "/shared/runs/pretrain")
    check("will be recorded" in done.stdout, done.stdout + done.stderr)
    cluster.say(done.stdout.strip())
    cluster.until(lambda: len(cluster.events()) > before, "the recording in the store", 120)
    events = cluster.events()[before:]
    cluster.say(f"events: {json.dumps(events)}")
    check(events and {event["job"] for event in events} == {"pretrain"}, events)
    check("ssn3" in [event["host"] for event in events], events)
    verdict = cluster.on("ssn1", "/shared/digests/traces")
    check("4 ranks" in verdict.stdout and "4 of 4 ranks" in verdict.stdout, verdict.stdout)
    for rank in ranks:
        check(rank.wait(timeout=300) == 0, "a rank failed")
    for name in cluster.names:
        lines = (cluster.folder / name / "exporter/stepscope.prom").read_text().splitlines()
        check(any("stepscope_rank_step{" in line and f'host="{name}"' in line for line in lines),
              lines)
        done = cluster.on(name, "live", "/local/live")
        check("1 rank has ended" in done.stdout, done.stdout + done.stderr)
        done = cluster.on(name, "store", "add", "/fleet", "/local/live")
        check("rank-minutes of job pretrain" in done.stdout, done.stdout + done.stderr)
        cluster.say(done.stdout.strip())
    done = cluster.on(cluster.names[0], "store", "changes", "/fleet", "--format", "csv")
    check(done.returncode == 0, done.stderr)


def main():
    why = nodes.missing() if os.geteuid() != 0 else None
    torch = subprocess.run([HERE.parents[1] / "tools/torch_folder", "--find"], capture_output=True,
                           text=True, check=False)
    if why or torch.returncode:
        print(why or torch.stderr.strip())
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        with Nodes(folder, torch.stdout.strip()) as cluster:
            follow(cluster)
    sys.exit(bool(failures))


main()
