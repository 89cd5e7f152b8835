# SPDX-License-Identifier: Apache-2.0
"""A cluster on one machine: nodes are network namespaces with names of their own.

All share the file system, as nodes of real clusters share a parallel one. Slurm, munge and sshd run
from a folder that is thrown away; nothing of the machine's own setup is read or written but
/run/munge and /run/sshd, which these programs insist on.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

NET = "10.77.9"
NEEDED = ("slurmctld", "slurmd", "munged", "mpirun", "parallel", "sshd", "ip", "nsenter", "unshare")
CPUS = 64  # claimed by each node, so that hundreds of tasks fit


def missing():
    """What a cluster needs and is not here, as a sentence; None when all is."""
    path = os.environ["PATH"] + ":/sbin:/usr/sbin"
    absent = [name for name in NEEDED if not shutil.which(name, path=path)]
    if absent:
        return f"no {', '.join(absent)} here"
    if os.geteuid() != 0:
        return "namespaces want root"
    made = subprocess.run(["ip", "netns", "add", "sstry"], capture_output=True, check=False)
    if made.returncode:
        return "namespaces are not allowed here"
    subprocess.run(["ip", "netns", "delete", "sstry"], check=True)
    return None


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          **options)


class Cluster:
    """Nodes ssn1, ssn2, ...; a context that leaves nothing behind."""

    def __init__(self, folder, count):
        self.folder, self.count = pathlib.Path(folder), count
        self.names = [f"ssn{i + 1}" for i in range(count)]
        self.daemons, self.of_node, self.undo = [], {}, []
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        self.environment["PATH"] += ":/sbin:/usr/sbin"

    def __enter__(self):
        try:
            self.make_nodes()
            self.start_munge()
            self.start_slurm()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for daemon in reversed(self.daemons):
            if daemon.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(daemon.pid, signal.SIGTERM)
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()
        for words in reversed(self.undo):
            subprocess.run(words, capture_output=True, check=False)

    def make_nodes(self):
        def do(words, undo=None):
            run(*words.split())
            if undo:
                self.undo.append(undo.split())

        do("ip link add ssbr type bridge", "ip link delete ssbr")
        do(f"ip addr add {NET}.254/24 dev ssbr")
        do("ip link set ssbr up")
        for i, name in enumerate(self.names, 1):
            do(f"ip netns add {name}", f"ip netns delete {name}")
            do(f"ip link add ssv{i} type veth peer name eth0 netns {name}")
            do(f"ip link set ssv{i} master ssbr up")
            do(f"ip -n {name} addr add {NET}.{i}/24 dev eth0")
            do(f"ip -n {name} link set eth0 up")
            do(f"ip -n {name} link set lo up")

    def address(self, name):
        return f"{NET}.{self.names.index(name) + 1}"

    def start(self, name, *words, node=None):
        """A daemon, on a node or on the machine itself; its output goes to a file."""
        if node:
            words = self.words_on(node, words)
        log = open(self.folder / f"{name}.log", "ab")  # pylint: disable=consider-using-with
        with log:
            daemon = subprocess.Popen(  # pylint: disable=consider-using-with
                [str(word) for word in words], stdout=log, stderr=log, env=self.environment,
                start_new_session=True)
        self.daemons.append(daemon)
        if node:
            self.of_node.setdefault(node, []).append(daemon)
        return daemon

    def words_on(self, node, words):
        """The words that run these on a node. A node's processes live in a process namespace of
        their own, so that all of them end when the node dies."""
        return ("nsenter", f"--net=/run/netns/{node}", "unshare", "--uts", "--pid", "--fork",
                "--mount-proc", "--kill-child", "sh", "-c", f'hostname {node}; exec "$@"', "sh",
                *words)

    def start_munge(self):
        home = self.folder / "munge"
        home.mkdir()
        (home / "key").write_bytes(os.urandom(1024))
        pathlib.Path("/run/munge").mkdir(exist_ok=True)
        for path in (home, home / "key", "/run/munge"):
            shutil.chown(path, "munge", "munge")
        home.chmod(0o700)
        (home / "key").chmod(0o400)
        os.chmod("/run/munge", 0o755)
        self.folder.chmod(0o755)
        self.start("munged", "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups",
                   "munged", "--foreground", "--force", "--num-threads", "4", "--key-file",
                   home / "key", "--log-file", home / "log", "--pid-file", home / "pid",
                   "--seed-file", home / "seed", "--syslog")
        self.until(lambda: subprocess.run(["munge", "-n"], capture_output=True,
                                          check=False).returncode == 0, "munge answers")

    def start_slurm(self):
        (self.folder / "state").mkdir()
        for name in self.names:
            (self.folder / f"tmp.{name}").mkdir()
        lines = [
            "ClusterName=stepscope", "SlurmctldHost=ssmaster(" + NET + ".254)", "SlurmUser=root",
            "SlurmdUser=root", f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool.%n", f"TmpFS={self.folder}/tmp.%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/slurmd.%n.pid", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none", "SlurmdParameters=config_overrides",
            "MpiDefault=none", "ReturnToService=2", "SlurmdTimeout=10", "InactiveLimit=0",
            "SchedulerType=sched/builtin", "SelectType=select/linear",
            "SwitchType=switch/none", "JobRequeue=1",
        ]
        for name in self.names:
            lines.append(f"NodeName={name} NodeAddr={self.address(name)} CPUs={CPUS} State=UNKNOWN")
        lines.append(f"PartitionName=all Nodes={','.join(self.names)} Default=YES MaxTime=INFINITE "
                     "State=UP OverSubscribe=NO")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.start("slurmctld", "unshare", "--uts", "sh", "-c",
                   "hostname ssmaster; exec slurmctld -D")
        for name in self.names:
            self.start_node(name)
        self.until(lambda: self.idle() == self.count, "all nodes are idle")

    def start_node(self, name):
        self.start(f"slurmd.{name}", "slurmd", "-D", "-N", name, node=name)

    def kill_node(self, name):
        """As a machine that loses power: all its processes are gone at once."""
        for daemon in self.of_node.pop(name, ()):
            os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()

    def idle(self):
        return self.slurm("sinfo", "-h", "-N", "-o", "%t").stdout.split().count("idle")

    def orders_left(self):
        """How many messages the controller has yet to deliver to nodes."""
        said = self.slurm("sdiag").stdout
        return sum(int(count) for count in re.findall(r"^Agent (?:queue size|count): +(\d+)$", said,
                                                      re.M))

    def slurm(self, *words, check=True, timeout=300):
        return subprocess.run([str(word) for word in words], check=check, capture_output=True,
                              text=True, env=self.environment, timeout=timeout)

    def until(self, is_so, what, seconds=60):
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                logs = "".join(f"{log.name}:\n" + log.read_text(errors="replace")[-1500:]
                               for log in self.folder.glob("*.log"))
                raise RuntimeError(f"never seen: {what}\n{logs}")
            time.sleep(0.2)

    def wait_for_job(self, job, seconds=300):
        self.until(lambda: self.state_of(job) is None, f"job {job} ends", seconds)

    def state_of(self, job):
        """As in squeue, R for instance; None when the queue no longer has it."""
        done = self.slurm("squeue", "-h", "-o", "%A %t", check=False)
        if done.returncode:
            return "?"  # the controller was busy
        queue = done.stdout.split("\n")
        return dict(line.split() for line in queue if line).get(job)

    def start_ssh(self):
        """An sshd on each node; returns the words of ssh that reach them."""
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / "key")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / "host")
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        for name in self.names:
            config = self.folder / f"sshd.{name}"
            config.write_text(
                f"ListenAddress {self.address(name)}\nHostKey {self.folder}/host\n"
                f"AuthorizedKeysFile {self.folder}/key.pub\nStrictModes no\nUsePAM no\n"
                f"PidFile {config}.pid\nPermitRootLogin prohibit-password\nMaxStartups 200\n",
                encoding="utf-8")
            self.start(f"sshd.{name}", shutil.which("sshd", path="/usr/sbin:/sbin"), "-D", "-e",
                       "-f", config, node=name)
        words = ["ssh", "-i", str(self.folder / "key"), "-o", "StrictHostKeyChecking=no", "-o",
                 "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
        for name in self.names:
            self.until(lambda n=name: subprocess.run(
                [*words, self.address(n), "true"], capture_output=True,
                check=False).returncode == 0, f"ssh to {name}")
        return words
