"""Two hosts on one machine: network namespaces with a name and an address each, joined by one link that can be cut. mpirun,
started on the first, reaches the second by a launch agent that enters its namespace, as it otherwise would by ssh."""

import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ("ip", "unshare", "mount")
NETWORK = "10.213.77"
STOP_PATIENCE = 10
COUNT = itertools.count()

# mpirun calls it as AGENT HOST COMMAND WORDS... and expects the words to go through a shell, as ssh does it.
AGENT = """#!/bin/sh
host=$1
shift
exec ip netns exec "{prefix}-${{host##*.}}" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "host-${{host##*.}}" "$*"
"""


def missing():
    """Why there can be no hosts here, or None."""
    if os.geteuid() != 0:
        return "not root (network namespaces need it)"
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking:
        return f"no {', '.join(lacking)} (jobs/setup.sh --tests installs iproute2)"
    name = f"starling-{os.getpid()}-try"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
        return "no network namespaces can be made (this may be a container)"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return None


class Hosts:
    """Namespaces PREFIX-1 and PREFIX-2 with addresses that end in 1 and 2; gone on exit, with all that runs in them."""

    names = (1, 2)
    settings = {}  # of Open MPI, beside those of mpirun()

    def __init__(self):
        self.prefix = f"starling-{os.getpid()}-{next(COUNT)}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="starling-hosts-"))
        self.agent = self.folder / "agent.sh"
        self.agent.write_text(AGENT.format(prefix=self.prefix))
        self.agent.chmod(0o755)

    def __enter__(self):
        try:
            for name in self.names:
                ip("netns", "add", f"{self.prefix}-{name}")
                ip("-n", f"{self.prefix}-{name}", "link", "set", "lo", "up")
            self.join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end_processes()
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", f"{self.prefix}-{name}"], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def join(self):
        self.link(1, 2)

    def link(self, one, other):
        """A link between two namespaces, in each of which it has the number of the host that it stands for, and its address."""
        ends = [(one, 1), (other, 2)]
        words = [["link-%d" % number, "netns", f"{self.prefix}-{name}"] for name, number in ends]
        ip("link", "add", *words[0], "type", "veth", "peer", "name", *words[1])
        for name, number in ends:
            ip("-n", f"{self.prefix}-{name}", "address", "add", f"{NETWORK}.{number}/24", "dev", f"link-{number}")
            ip("-n", f"{self.prefix}-{name}", "link", "set", f"link-{number}", "up")

    def slow(self, rate):
        """The link has this speed in each direction, as tc writes it: 10gbit."""
        for name in self.names:
            subprocess.run(["ip", "netns", "exec", f"{self.prefix}-{name}", "tc", "qdisc", "replace", "dev", f"link-{name}", "root", "tbf",
                            "rate", rate, "burst", "128kb", "latency", "10ms"], check=True)

    def launch(self, mpirun, slots):
        """The words before a program that start it on `slots` slots of each host."""
        hosts = ",".join(f"{NETWORK}.{number}:{slots}" for number in (1, 2))
        return [*self.mpirun(mpirun), "--host", hosts, "-n", str(2 * slots), "--map-by", "node"]

    def mpirun(self, mpirun):
        """mpirun on the first host, which reaches the other. The hosts share CPUs and do not know it, so ranks that wait must
        be told to give theirs away."""
        script = self.folder / "mpirun"
        settings = {"plm_rsh_agent": self.agent, "plm_rsh_no_tree_spawn": 1, "btl": "tcp,self", "btl_tcp_if_include": f"{NETWORK}.0/24",
                    "oob_tcp_if_include": f"{NETWORK}.0/24", "mpi_yield_when_idle": 1, **self.settings}
        words = " ".join(f"--mca {name} {value}" for name, value in settings.items())
        script.write_text(f"#!/bin/sh\nexec ip netns exec {self.prefix}-1 unshare --uts sh -c 'hostname host-1; exec \"$@\"' sh "
                          f"{mpirun} {words} --bind-to none \"$@\"\n")
        script.chmod(0o755)
        return [script]

    def file(self, slots):
        """A host file."""
        path = self.folder / "hosts"
        path.write_text("".join(f"{NETWORK}.{number} slots={slots}\n" for number in (1, 2)))
        return path

    def unplug(self):
        """The second host is off the network: its link is down at both ends."""
        ip("-n", f"{self.prefix}-2", "link", "set", "link-2", "down")

    def plug(self):
        ip("-n", f"{self.prefix}-2", "link", "set", "link-2", "up")

    def cut(self):
        """Nothing that is sent arrives any more, and nobody is told, as when a switch fails: packets go to an address that
        nobody has."""
        for number in (1, 2):
            ip("-n", f"{self.prefix}-{number}", "neighbour", "replace", f"{NETWORK}.{3 - number}", "lladdr",
               "02:00:00:00:00:ff", "dev", f"link-{number}", "nud", "permanent")

    def mend(self):
        for number in (1, 2):
            ip("-n", f"{self.prefix}-{number}", "neighbour", "delete", f"{NETWORK}.{3 - number}", "dev", f"link-{number}")

    def processes(self):
        """Ids of what runs on the hosts."""
        found = []
        for name in self.names:
            done = subprocess.run(["ip", "netns", "pids", f"{self.prefix}-{name}"], capture_output=True, text=True)
            found += [int(pid) for pid in done.stdout.split()]
        return found

    def end_processes(self):
        end = time.monotonic() + STOP_PATIENCE
        while (left := self.processes()) and time.monotonic() < end:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.05)


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
