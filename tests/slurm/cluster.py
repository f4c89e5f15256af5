#!/usr/bin/env python3
"""A throw-away SLURM cluster of one node, or of several on this machine: munged, slurmctld and slurmd on loopback, with a key, ports, spool and state of
their own below a temporary directory. It ends what it started, and nothing else.

    python3 tests/slurm/cluster.py                      a shell in which sbatch, squeue and srun speak to this cluster
    python3 tests/slurm/cluster.py sbatch --wait job    one command, whose exit code it returns

It needs root (slurmd starts jobs as their users) and the packages slurm-wlm and munge; `missing()` says what is not there.
"""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel", "sinfo")
# What the node claims to have: more than most machines, whose CPUs the ranks then share.
CPUS = 8
MEGABYTES = 65536
# Open MPI names shared memory after job and step, and so would mix up jobs of two clusters that have the same number.
LARGEST_FIRST_JOB = 60_000_000
START_PATIENCE = 30
STOP_PATIENCE = 20

# KillWait is long enough for a run to write what it has and short enough for a test. A job that was put back waits for
# cred_expire seconds, of which 5 are the fewest, before it starts again. Below TmpFS a step has a folder for PMIx, named
# after its number: one that a killed step left in /tmp would let the first step of the next cluster fail.
CONFIGURATION = """\
ClusterName=starling
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmdPidFile={folder}/slurmd-%n.pid
TmpFS={folder}/tmp
SlurmctldPidFile={folder}/slurmctld.pid
MailProg=/bin/true
SwitchType=switch/none
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
PriorityType=priority/basic
JobRequeue=1
ReturnToService=2
KillWait=10
FirstJobId={first_job}
MinJobAge=300
BatchStartTimeout=10
MessageTimeout=10
SlurmctldTimeout=60
SlurmdTimeout=60
InactiveLimit=0
SlurmdParameters=config_overrides
{nodes}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO PriorityTier=1 GraceTime=20
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=NO PriorityTier=2
"""


def missing():
    """Why there can be no cluster here, or None."""
    if os.geteuid() != 0:
        return "not root (slurmd must be)"
    lacking = [name for name in PROGRAMS if where(name) is None]
    return f"no {', '.join(lacking)} (jobs/setup.sh --tests installs slurm-wlm and munge)" if lacking else None


def where(name):
    """The daemons live in sbin, which is not on everybody's PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")


def free_ports(count):
    """Ports that nobody listens on at the moment."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]


def processes_of(folder):
    """Ids of what was started with this cluster's configuration: daemons, and jobs, which slurmd sets free."""
    mark = f"SLURM_CONF={folder}/slurm.conf".encode()
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def guard(folder):
    """Waits until the other end of standard input is gone, then ends all that is left of the cluster, and its folder."""
    sys.stdin.read()
    while left := processes_of(folder):
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """Starts on entry, ends on exit. `environment` makes SLURM's commands speak to it."""

    def __init__(self, nodes=1):
        self.nodes = [self._host()] if nodes == 1 else [f"node-{k}" for k in range(1, nodes + 1)]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="starling-slurm-"))
        self.environment = {**outside(os.environ), "SLURM_CONF": str(self.folder / "slurm.conf")}
        self._daemons = []
        # In a session of its own and nobody's child, so that it outlives whoever kills this process and its children.
        self._guard = subprocess.Popen(["setsid", "--fork", sys.executable, "-B", __file__, "--guard", self.folder],
                                       env=outside(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        try:
            self._configure()
            self._launch("munged", "--foreground", f"--key-file={self.folder}/munge.key",
                         f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                         f"--seed-file={self.folder}/munged.seed")
            self._await("munged listens", (self.folder / "munge.socket").exists)
            self._launch("slurmctld", "-D", "-i")
            for node in self.nodes:
                self._launch("slurmd", "-D", "-N", node, log=f"slurmd-{node}", before=self._own_disk(node))
            self._await("all nodes are idle", lambda: self.ask("sinfo", "-h", "-N", "-p", "test", "-o", "%t").split() == ["idle"] * len(self.nodes))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._daemons:
            self._end_jobs()
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(STOP_PATIENCE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()
        self._guard.communicate()

    def run(self, *words, cwd=None, **variables):
        """Runs one of SLURM's commands, or any other that shall find this cluster; the finished process."""
        return subprocess.run(list(map(str, words)), env={**self.environment, **variables}, cwd=cwd,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def ask(self, *words):
        """What the command prints; empty if it fails."""
        done = self.run(*words)
        return done.stdout if done.returncode == 0 else ""

    def logs(self):
        """The last lines of each daemon's log, for a failure's message."""
        texts = []
        for path in sorted(self.folder.glob("*.log")):
            texts.append(f"{path.name}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-25:]))
        return "\n".join(texts)

    @staticmethod
    def _host():
        return socket.gethostname().split(".")[0]

    def _configure(self):
        # Others may pass through (munged insists that clients can reach its socket), but not look around.
        self.folder.chmod(0o711)
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        for name in ("state", "spool", "tmp"):
            (self.folder / name).mkdir(0o755)
        controller_port, *node_ports = free_ports(1 + len(self.nodes))
        lines = [f"NodeName={node} NodeHostname={self._host()} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} RealMemory={MEGABYTES} "
                 "State=UNKNOWN" for node, port in zip(self.nodes, node_ports)]
        for node in self.nodes:
            (self.folder / "spool" / node).mkdir(0o755)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=self._host(), folder=self.folder, controller_port=controller_port, nodes="\n".join(lines), first_job=secrets.randbelow(LARGEST_FIRST_JOB) + 1))

    def _own_disk(self, node):
        """Words before a daemon that give a node of several its own name and its own folder for PMIx: folders there, and shared
        memory of Open MPI, are named after these and the step."""
        if len(self.nodes) == 1:
            return []
        own = self.folder / f"tmp-{node}"
        own.mkdir()
        return ["unshare", "--mount", "--uts", "sh", "-c", 'mount --bind "$0" "$1"; hostname "$2"; shift 2; exec "$@"', own,
                self.folder / "tmp", node]

    def _launch(self, name, *words, log=None, before=()):
        with (self.folder / f"{log or name}.log").open("w") as out:
            self._daemons.append(subprocess.Popen([*before, where(name), *words], env=self.environment, cwd=self.folder,
                                                  stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                                  start_new_session=True))

    def _await(self, what, condition):
        end = time.monotonic() + START_PATIENCE
        while time.monotonic() < end:
            if condition():
                return
            for daemon in self._daemons:
                if daemon.poll() is not None:
                    raise RuntimeError(f"{daemon.args[0]} ended with {daemon.returncode}\n{self.logs()}")
            time.sleep(0.1)
        raise RuntimeError(f"waited {START_PATIENCE} s in vain until {what}\n{self.logs()}")

    def _end_jobs(self):
        """Ends what still runs: slurmd would leave a job's processes alive."""
        end = time.monotonic() + STOP_PATIENCE
        while (jobs := self.ask("squeue", "-h", "-o", "%A").split()) and time.monotonic() < end:
            self.run("scancel", "--quiet", *set(jobs))
            time.sleep(0.2)


def outside(variables):
    """Variables without those of a job or of an MPI launcher that this may run in, which srun would obey."""
    return {name: value for name, value in variables.items()
            if not name.startswith(("SLURM_", "SBATCH_", "PMIX_", "PMI_", "OMPI_COMM_", "OMPI_MCA_orte", "OMPI_MCA_ess"))}


def main():
    if sys.argv[1:2] == ["--guard"]:
        guard(sys.argv[2])
        return 0
    reason = missing()
    if reason is not None:
        print(f"cluster.py: no cluster: {reason}", file=sys.stderr)
        return 2
    with Cluster() as cluster:
        command = sys.argv[1:] or [os.environ.get("SHELL", "/bin/bash")]
        return subprocess.run(command, env=cluster.environment).returncode


if __name__ == "__main__":
    sys.exit(main())
