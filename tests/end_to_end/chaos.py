"""Runs under jobs/launch.py that are struck again and again, and must end by themselves as if nothing had happened.

    python3 chaos.py [--minutes M] [--seed S]      prints a table; exit code 1 if a run did not, 77 where there can be no hosts

Four ranks are on two hosts, which are network namespaces, and their directory is on a small disk. A rank is killed, or stopped for
good; a host's link goes down for some seconds; a checkpoint is cut short, and a rank killed; the disk is full for a moment; a host's
clock is set (shifted_clock.cpp, built as STARLING_SHIFTED_CLOCK). The next blow falls once the run has got on. The run must end with exit code 0, with masses that add up to the number of clients, the bits of
a run on one rank, valid ledgers with the same charges, and no process left. The launcher asks hosts after 3 s without a trace, in
place of 15, and waits 5 s for their answer, in place of 30. Every second run has private folders of each host (--private).
"""

import argparse
import random
import statistics
import struct
import subprocess
import sys
from pathlib import Path

import test_other_ranks as other_ranks
from harness import *
import launch_parts

sys.path.insert(0, str(Path(__file__).parents[1] / "hosts"))
import hosts  # noqa: E402

SKIPPED = 77
WATCHDOG, EVERY, CLIENTS = 4, 200, 5
LONGEST_STANDSTILL = 120  # seconds, on a busy machine: watchdog, launcher and start of the ranks
WORDS = ["--clients", str(CLIENTS), "--topology", str(SOURCE / "topologies/unbalanced-5.topo"), "--source", "synthetic:logistic:p=100",
         "--loss", "logistic", "--batch", "64", "--mechanism", "laplace", "--epsilon", "4", "--tuning", "off", "--noise-key", "seed",
         "--metrics", "shared", "--record-every", "50", "--checkpoint-every", str(EVERY), "--progress", "off", "--rounds", "12000"]
LAUNCH = """import sys
sys.path.insert(0, sys.argv.pop(1))
import launch, launch_parts
launch.QUIET, launch_parts.PROBE_SECONDS = 3, 5
sys.exit(launch.main())
"""


class Night(TestCase):
    """Runs on two hosts, and what falls on them."""

    def runTest(self):
        """None of its own."""

    def prepare(self, randomness):
        self.randomness = randomness
        self.hosts = hosts.Hosts()
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "starling-chaos", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], capture_output=True)
        self.trial = other_ranks.Trial()
        self.trial.folder = self.folder
        self.good(1, [*WORDS, "--output", "whole"])
        self.whole = self.trial.results("whole")
        self.blows = {"rank killed": self.kill, "rank stopped": self.stop, "link down": self.unplug,
                      "checkpoint cut short, rank killed": self.cut_short, "disk full": self.fill, "clock set": self.set_clock}
        for host in ("host-1", "host-2"):
            self.set_clock(host, 0)
        self.seconds = {name: [] for name in self.blows}

    def ranks(self):
        found = []
        for pid in self.hosts.processes():
            try:
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(STARLING):
                    found.append(pid)
            except OSError:
                pass
        return found

    def signal(self, number):
        for pid in self.randomness.sample(self.ranks(), 1):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        self.signal(signal.SIGKILL)

    def stop(self):
        self.signal(signal.SIGSTOP)

    def unplug(self):
        self.hosts.unplug()
        time.sleep(self.randomness.uniform(1, 20))
        self.hosts.plug()

    def cut_short(self):
        folder = self.randomness.choice(self.run.private_folders())
        newest = max((path for path in folder.glob("checkpoint-*") if path.name[11:].isdigit()), key=lambda path: int(path.name[11:]))
        try:
            os.truncate(newest, self.randomness.randrange(newest.stat().st_size))
        except FileNotFoundError:
            pass  # it was removed just then
        self.kill()

    def fill(self):
        filler = self.disk / "filler"
        try:
            with open(filler, "wb", buffering=0) as file:
                while file.write(b"\0" * 65536) == 65536:
                    pass
        except OSError:
            pass
        time.sleep(self.randomness.uniform(0.2, 1))
        filler.unlink()

    def set_clock(self, host=None, seconds=None):
        """A host's time of day, by up to a day or a year either way."""
        if seconds is None:
            seconds = self.randomness.uniform(-1, 1) * self.randomness.choice([10, 86400, 365 * 86400])
        with open(self.folder / f"shift.{host or self.randomness.choice(['host-1', 'host-2'])}", "r+b" if host is None else "w+b") as file:
            file.write(struct.pack("d", seconds))

    def round_now(self):
        return self.run.newest_checkpoint()[0]

    def gets_on(self, job, after):
        wait_until(lambda: self.round_now() > after or job.process.poll() is not None, f"the run gets on after round {after}",
                   LONGEST_STANDSTILL)

    def play(self, number, end):
        """One run, struck until the time is over."""
        output = f"disk/run-{number}"
        self.run = launch_parts.RunFolder(self.folder / output)
        own = ["--private", f"disk/private-{number}/{{host}}"] if number % 2 == 1 else []
        # Of what comes through the launcher, the program alone is told to look at the clock.
        clocks = ["-x", f"LD_PRELOAD={os.environ['STARLING_SHIFTED_CLOCK']}", "-x", f"CLOCK_SHIFT={self.folder}/shift"]
        job = Job([sys.executable, "-B", "-c", LAUNCH, str(SOURCE / "jobs"), "--backoff", "2", "--restarts", "1000", "--hosts",
                   str(self.hosts.file(2)), "--", *map(str, self.hosts.mpirun(MPIRUN)), *clocks, "-n", "4", STARLING, "omd", *WORDS, *own, "--watchdog",
                   str(WATCHDOG), "--output", output], self.folder, None)
        self.addCleanup(job.close)
        try:
            self.gets_on(job, EVERY)
            while job.process.poll() is None and time.monotonic() < end:
                name = self.randomness.choice(list(self.blows))
                time.sleep(self.randomness.uniform(0, 2))
                before = self.round_now()
                began = time.monotonic()
                if self.ranks():
                    self.blows[name]()
                    # Three checkpoints further on, no damaged one is among those that are kept.
                    self.gets_on(job, before + 3 * EVERY)
                    self.seconds[name].append(time.monotonic() - began)
            result = job.finish(LONGEST_STANDSTILL)
        except (AssertionError, ValueError):
            job.end()
            print(job._text(job._err), file=sys.stderr)
            raise
        self.assertEqual(result.code, 0, result)
        self.check(output)
        wait_until(lambda: not self.hosts.processes(), "no process is left", 30)
        story = json.loads((self.run.path / "launch.json").read_text())
        shutil.rmtree(self.run.path)
        shutil.rmtree(self.disk / f"private-{number}", ignore_errors=True)
        return story

    def check(self, output):
        summary = self.summary_in(output)
        self.assertAlmostEqual(summary["mass"], CLIENTS, delta=1e-9)
        if (self.run.path / "private-folders").exists():
            self.assertFalse((self.run.path / "private").exists())
            for rank, folder in enumerate(self.run.private_folders()):
                shutil.copytree(folder, self.run.path / "private" / str(rank))
        results = self.trial.results(output)
        self.trial.compare(*({**each, "summary.json": re.sub(r'"path": "[^"]*/<rank>/ledger"', "", each["summary.json"])}
                             for each in (self.whole, results)))
        self.assertEqual(json.loads((self.run.path / "launch.json").read_text())["privacy"],
                         {"charged": CLIENTS * 12000, "released": CLIENTS * 12000})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if (reason := hosts.missing()) is not None or h5py is None:
        print(f"no hosts: {reason or 'h5py is not installed'}", file=sys.stderr)
        return SKIPPED
    night = Night()
    night.setUp()
    runs = restarts = replayed = 0
    try:
        night.prepare(random.Random(options.seed))
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end:
            story = night.play(runs, end)
            runs, restarts, replayed = runs + 1, restarts + story["restarts"], replayed + story["rounds_replayed"]
    finally:
        night.doCleanups()
    print(f"{runs} runs of 12000 rounds, {restarts} restarts, at least {replayed} rounds replayed, 0 different\n")
    print("| blow | times | seconds until three checkpoints further, median | longest |\n| --- | ---: | ---: | ---: |")
    for name, seconds in night.seconds.items():
        if seconds:
            print(f"| {name} | {len(seconds)} | {statistics.median(seconds):.1f} | {max(seconds):.1f} |")
    return 0 if runs > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
