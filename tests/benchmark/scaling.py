#!/usr/bin/env python3
"""Weak and strong scaling of whole private rounds, beside what `starling doctor --predict` says of them.

    cmake --preset release && cmake --build --preset release --target starling
    python3 tests/benchmark/scaling.py build/release [--turns 3] [--only ranks|hosts]

`ranks`: one and two ranks of this machine, the same clients on both (strong) or the same for each (weak). `hosts`: two
network namespaces of this machine, one rank on each, joined by a link with a delay and a rate, as root may make it: by
`tc netem` where the kernel has it, else by a small relay that holds packets back (which needs some of a CPU itself). The
latency that a prediction is given is that of a doctor's row of edges over the same link, as docs/cluster.md has it.

A round is the difference of two runs, of few and of many rounds, over the rounds between them: starting, reading and writing
cancel. Figures are medians over turns.
"""
import argparse
import ctypes
import fcntl
import heapq
import json
import os
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))
import hosts  # noqa: E402

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
BATCH = 32
# clients of a rank, dimension, topology
RANK_CASES = [(1000, 10, "exponential"), (1000, 10, "random-circles:degree=8"), (200, 100, "random-circles:degree=8"),
              (20, 1000, "ring"), (20000, 10, "random-circles:degree=8"),
              (10, 10000, "ring")]  # the last is read in place (windows)
# delay in seconds, bytes a second, clients, dimension, topology
HOST_CASES = [(0.001, 12.5e6, 2, 10, "ring"), (0.001, 12.5e6, 2, 10000, "ring"), (0.001, 12.5e6, 2000, 10, "exponential"),
              (0.005, 12.5e6, 200, 10, "ring"), (0.005, 2.5e6, 200, 100, "exponential")]


def run(command):
    done = subprocess.run(list(map(str, command)), env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def mpirun(ranks):
    return ["mpirun", "--oversubscribe", "-n", ranks]


class Program:
    def __init__(self, starling, folder):
        self.starling, self.folder = starling, Path(folder)

    def records(self, clients, dimension):
        """A batch for each client, which it reads again and again: a file in memory costs rounds nothing."""
        path = self.folder / f"records-{clients}-{dimension}.h5"
        if not path.exists():
            run([self.starling, "data", "make", f"drift:d={dimension}", "--clients", clients, "--records",
                 BATCH, "--output", path])
        return path

    def topology(self, spec, clients):
        path = self.folder / f"{spec.replace(':', '-')}-{clients}.topo"
        family, _, parameters = spec.partition(":")
        path.write_text(f"generate {family} clients={clients} {parameters.replace(',', ' ')}\n")
        return path

    def seconds(self, launch, clients, dimension, spec, rounds):
        with tempfile.TemporaryDirectory(dir=self.folder) as output:
            began = time.perf_counter()
            run([*launch, self.starling, "omd", "--tuning", "off", "--clients", clients, "--topology", self.topology(spec, clients), "--source",
                 self.records(clients, dimension), "--batch", BATCH, "--epochs", rounds, "--rounds", rounds, "--mirror",
                 "entropic", "--step", "0.05", "--mechanism", "laplace", "--epsilon", "1", "--noise-key", "seed", "--metrics", "local",
                 "--record-every", 10 ** 6, "--record-clients", "1", "--memory", 4000, "--progress", "off", "--output",
                 Path(output) / "run"])
            return time.perf_counter() - began

    def round(self, launch, clients, dimension, spec, expected):
        """Seconds of a round, measured."""
        few = 20
        many = few + max(20, min(20_000, round(2 / expected)))
        return (self.seconds(launch, clients, dimension, spec, many)
                - self.seconds(launch, clients, dimension, spec, few)) / (many - few)

    def predicted(self, launched, **spec):
        words = ",".join(f"{key}={value}" for key, value in spec.items())
        return json.loads(run([*mpirun(launched), self.starling, "doctor", "--predict", words, "--json"]))["prediction"]


def with_time(seconds):
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"


def compare(program, turns, ranks, launch, clients, dimension, spec, **more):
    """A line's end: what was predicted and measured, and their ratio."""
    predictions, measured = [], []
    for _ in range(turns):
        family, _, parameters = spec.partition(":")
        topology = family + ("," + parameters if parameters else "")
        predictions.append(program.predicted(2 if ranks > 1 else 1, clients=clients, dimension=dimension, batch=BATCH,
                                             ranks=ranks, topology=topology, **more))
        measured.append(program.round(launch, clients, dimension, spec, predictions[-1]["seconds"]))
    ratio = statistics.median(p["seconds"] / m for p, m in zip(predictions, measured))
    predicted, found = statistics.median(p["seconds"] for p in predictions), statistics.median(measured)
    parts = " / ".join(f"{100 * statistics.median(p[part] / p['seconds'] for p in predictions):.0f}"
                       for part in ("learning", "exchange", "mixing"))
    return found, f"{with_time(predicted)} | {with_time(found)} | {ratio:.2f} | {parts} % |"


def on_ranks(program, turns):
    print("\n## Ranks of one machine\n")
    print("| | ranks | clients | d | graph | predicted | measured | ratio | learning / exchange / mixing | efficiency |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- | ---: |")
    for of_rank, dimension, spec in RANK_CASES:
        alone, line = compare(program, turns, 1, mpirun(1), of_rank, dimension, spec)
        print(f"| | 1 | {of_rank} | {dimension} | {spec} | {line} |", flush=True)
        for kind, clients in (("strong", of_rank), ("weak", 2 * of_rank)):
            both, line = compare(program, turns, 2, mpirun(2), clients, dimension, spec)
            efficiency = alone / both / (2 if kind == "strong" else 1)
            print(f"| {kind} | 2 | {clients} | {dimension} | {spec} | {line} {efficiency:.2f} |", flush=True)


# ---- two hosts -------------------------------------------------------------------------------------------------------


def has_netem():
    name = f"starling-{os.getpid()}-tc"
    hosts.ip("netns", "add", name)
    try:
        hosts.ip("-n", name, "link", "set", "lo", "up")
        return subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"],
                              capture_output=True).returncode == 0
    finally:
        hosts.ip("netns", "delete", name)


class SlowHosts(hosts.Hosts):
    """Two hosts whose link has a delay each way and a rate."""

    def __init__(self, delay, rate, netem):
        super().__init__()
        self.delay, self.rate, self.netem, self.relay = delay, rate, netem, None

    def __enter__(self):
        if not self.netem:
            return self.join_by_relay()
        super().__enter__()
        for number in (1, 2):
            run(["ip", "netns", "exec", f"{self.prefix}-{number}", "tc", "qdisc", "add", "dev", f"link-{number}", "root",
                 "netem", "delay", f"{1e6 * self.delay:.0f}us", "rate", f"{8 * self.rate:.0f}bit", "limit", "100000"])
        return self

    def join_by_relay(self):
        try:
            for number in (1, 2):
                hosts.ip("netns", "add", f"{self.prefix}-{number}")
            names = [f"{self.prefix}-{number}" for number in (1, 2)]
            self.relay = subprocess.Popen([sys.executable, __file__, "--relay", *names, str(self.delay), str(self.rate)],
                                          stdout=subprocess.PIPE)
            self.relay.stdout.readline()  # both ends are there
            for number in (1, 2):
                hosts.ip("-n", f"{self.prefix}-{number}", "address", "add", f"{hosts.NETWORK}.{number}/24", "dev",
                         f"link-{number}")
                hosts.ip("-n", f"{self.prefix}-{number}", "link", "set", "lo", "up")
                hosts.ip("-n", f"{self.prefix}-{number}", "link", "set", f"link-{number}", "mtu", "9000", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.relay is not None:
            self.relay.kill()
            self.relay.wait()
            self.relay.stdout.close()
        super().__exit__()


def open_end(namespace, name):
    """The end of a network device of another namespace that packets are read from and written to."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/var/run/netns/{namespace}") as there, open("/proc/self/ns/net") as here:
        if libc.setns(there.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), namespace)
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        tun, bare = 1, 0x1000
        fcntl.ioctl(end, 0x400454ca, struct.pack("16sH", name.encode(), tun | bare))
        libc.setns(here.fileno(), 0)
    return end


def relay(first, second, delay, rate):
    """Passes packets on, each way by itself: a packet has passed when those before it have and its own bytes, and comes
    out `delay` later."""
    ends = [open_end(first, "link-1"), open_end(second, "link-2")]
    print("joined", flush=True)
    others = {ends[0]: ends[1], ends[1]: ends[0]}
    passed = {end: 0.0 for end in ends}
    waiting, number = [], 0
    while True:
        # A sleep is late by up to a tenth of a millisecond: the last bit is waited for awake.
        patience = waiting[0][0] - time.perf_counter() - 1e-4 if waiting else None
        for end in select.select(ends, [], [], patience if patience is None else max(0, patience))[0]:
            try:
                while True:
                    packet = os.read(end, 65536)
                    passed[end] = max(passed[end], time.perf_counter()) + len(packet) / rate
                    number += 1
                    heapq.heappush(waiting, (passed[end] + delay, number, others[end], packet))
            except BlockingIOError:
                pass
            except OSError:  # the device is not up yet
                time.sleep(0.01)
        while waiting and waiting[0][0] <= time.perf_counter():
            _, _, end, packet = heapq.heappop(waiting)
            try:
                os.write(end, packet)
            except OSError:
                pass  # like a packet that a network drops


def on_hosts(program, turns):
    reason = hosts.missing()
    if reason:
        print(f"\nno hosts: {reason}")
        return
    netem = has_netem()
    print(f"\n## Two hosts, a rank on each ({'tc netem' if netem else 'a relay: this kernel has no netem'})\n")
    print("| delay | rate | latency found | clients | d | graph | predicted | measured | ratio | learning / exchange / mixing |")
    print("| ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- |")
    for delay, rate, clients, dimension, spec in HOST_CASES:
        with SlowHosts(delay, rate, netem) as pair:
            launch = pair.launch("mpirun", 1)
            looked = json.loads(run([*launch, program.starling, "doctor", "--dimension", 1, "--json", "--output",
                                     program.folder]))
            latency = statistics.median(way["seconds"] for way in looked["edges"])
            _, line = compare(program, turns, 2, launch, clients, dimension, spec, hosts=2, cpus=1,
                              latency=f"{1e6 * latency:.3f}us", bandwidth=f"{rate / 1e6}MB")
        print(f"| {with_time(delay)} | {rate / 1e6:g} MB/s | {with_time(latency)} | {clients} | {dimension} | {spec} | {line}",
              flush=True)


def main():
    if sys.argv[1:2] == ["--relay"]:
        relay(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder of a release build")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", choices=("ranks", "hosts"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="starling-scaling-") as folder:
        program = Program(options.build.resolve() / "starling", folder)
        for name, part in {"ranks": on_ranks, "hosts": on_hosts}.items():
            if options.only in (None, name):
                part(program, options.turns)


main()
