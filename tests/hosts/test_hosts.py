"""Runs over two hosts: the same bits as on one, also where hosts share no disk. A link that is cut in mid-run ends all ranks
clearly, and the run can be taken up when it is mended. A host that is cut off for good does not stop a run under
jobs/launch.py."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))

import hosts  # noqa: E402
import test_other_ranks as other_ranks  # noqa: E402
from harness import *  # noqa: E402, F403
import launch_parts  # noqa: E402

REASON = hosts.missing()
FAILURE = 5
WATCHDOG = 3
WORDS = ["--clients", "5", "--topology", SOURCE / "topologies/unbalanced-5.topo", "--source",
         "synthetic:drift:informative=1", "--mechanism", "laplace", "--epsilon", "4", "--tuning", "off", "--noise-key", "seed",
         "--record-every", "50", "--progress", "off"]

IDENTIFIED = ["--source", "p-{client}.csv", "--clients", "4", "--mechanism", "laplace", "--epsilon", "4", "--tuning", "off", "--noise-key", "seed",
              "--progress", "off", "--identity", "{client}.key", "--members", "members"]

# Writes every frame of the host's link to a file.
LISTENER = """
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
link.bind(("link-1", 0))
print("listening", flush=True)
with open(sys.argv[1], "wb", buffering=0) as file:
    while True:
        file.write(link.recv(100_000))
"""

# Notes how each rank ended and what it said: over a link that is cut, mpirun cannot tell.
RANK_SCRIPT = """#!/bin/sh
log=$1
shift
hostname > "$log/host.$OMPI_COMM_WORLD_RANK"
"$@" 2> "$log/err.$OMPI_COMM_WORLD_RANK"
echo $? > "$log/new.$OMPI_COMM_WORLD_RANK"
mv "$log/new.$OMPI_COMM_WORLD_RANK" "$log/code.$OMPI_COMM_WORLD_RANK"
"""


# The same, where the second host sees an empty folder `results` of its own.
APART_SCRIPT = RANK_SCRIPT.replace('"$@" 2>', """unshare --mount sh -c '[ $(hostname) = host-1 ] || mount -t tmpfs none results
exec "$@"' sh "$@" 2>""")


def resumable():
    done = subprocess.run([STARLING, "omd", "--help=all"], env=environment(), capture_output=True, text=True)
    return "--resume" in done.stdout


@unittest.skipIf(REASON is not None, f"no hosts: {REASON}")
@needs_h5py
class TwoHosts(TestCase):
    def setUp(self):
        super().setUp()
        self.hosts = hosts.Hosts()
        self.hosts.__enter__()
        self.addCleanup(self.hosts.__exit__)

    def launch(self, *words, script=RANK_SCRIPT):
        """Two ranks on each host; the job, and the folder where each of them notes how it ends."""
        log, wrapper = self._wrapper(script)
        job = Job([*self.hosts.launch(MPIRUN, 2), *wrapper, STARLING, "omd", *map(str, words)], self.folder, log)
        self.addCleanup(job.close)
        return job, log

    def notes(self, log, what):
        return [path.read_text().strip() for path in sorted(log.glob(f"{what}.*"))]

    def recorded(self):
        try:
            with h5py.File(self.folder / "run" / "run.h5") as file:
                return file["rounds"][()].tolist()
        except (OSError, KeyError, RuntimeError):
            return []

    def check_same(self, one, other):
        ours, theirs = self.record(one), self.record(other)
        self.assertGreater(len(ours), 3)
        self.assertEqual(ours.keys(), theirs.keys())
        for name in ours:
            # Losses are summed by rank: all else is the same in every layout.
            if name not in ("loss", "accuracy"):
                self.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)

    def test_the_same_bits_as_on_one_host(self):
        self.good(1, [*WORDS, "--rounds", "1000", "--output", "whole"])
        for way in ("messages", "windows"):  # windows on each host, messages between the two
            with self.subTest(way):
                job, log = self.launch(*WORDS, "--rounds", "1000", "--exchange", way, "--output", way)
                job.finish()
                self.assertEqual(self.notes(log, "code"), ["0"] * 4, self.notes(log, "err"))
                self.assertEqual(sorted(self.notes(log, "host")), ["host-1", "host-1", "host-2", "host-2"])
                self.check_same(way, "whole")

    def seen_on_the_link(self, seal):
        """All frames that reach the first host in a run, whose members have proved who they are."""
        frames = self.folder / f"frames-{seal}"
        listener = subprocess.Popen(["ip", "netns", "exec", f"{self.hosts.prefix}-1", sys.executable, "-c", LISTENER, frames], stdout=subprocess.PIPE)
        listener.stdout.readline()
        job, log = self.launch(*IDENTIFIED, "--seal", seal, "--output", f"run-{seal}")
        try:
            job.finish()
        finally:
            listener.terminate()
            listener.wait()
            listener.stdout.close()
        self.assertEqual(self.notes(log, "code"), ["0"] * 4, self.notes(log, "err"))
        return frames.read_bytes()

    def test_messages_between_hosts_are_sealed(self):
        """Names of columns are in messages between ranks before the rounds: on the link they are seen of a run without seals alone."""
        for client in range(4):
            self.write(f"p-{client}.csv", "bloodpressure,weight,y\n" + "".join(f"{k % 7 - client},{k % 3},{k % 2}\n" for k in range(30)))
            self.assertEqual(self.run_alone(["keys", "make", client]).code, 0)
        self.write("members", "".join((self.folder / f"{client}.pub").read_text() for client in range(4)))
        self.good(1, [*IDENTIFIED, "--output", "whole"])
        frames = {seal: self.seen_on_the_link(seal) for seal in ("on", "off")}
        self.assertEqual([name for name in frames if b"bloodpressure" in frames[name]], ["off"])
        self.assertGreater(len(frames["on"]), 10_000)
        for seal, said in (("on", "between hosts"), ("off", "off")):
            self.check_same(f"run-{seal}", "whole")
            self.assertEqual(self.summary_in(f"run-{seal}")["members"]["sealed"], said)
        self.assertEqual(self.summary_in("whole")["members"]["sealed"], "one host")

    def test_hosts_that_share_no_disk(self):
        self.good(1, [*WORDS, "--rounds", "1000", "--output", "whole"])
        (self.folder / "results").mkdir()
        apart = [*WORDS, "--rounds", "1000", "--output", "results/run"]
        job, log = self.launch(*apart, script=APART_SCRIPT)
        job.finish()
        self.assertEqual(set(self.notes(log, "code")), {"2"}, self.notes(log, "err"))
        said = "".join(self.notes(log, "err"))
        self.assertRegex(said, r"starling: rank \d on host-2: the run directory .* of rank 0 on host-1 is not seen from here .*--private DIR")
        job, log = self.launch(*apart, "--private", "private/{host}", script=APART_SCRIPT)
        job.finish()
        self.assertEqual(self.notes(log, "code"), ["0"] * 4, self.notes(log, "err"))
        self.check_same("results/run", "whole")
        self.assertEqual(sorted(path.name for path in (self.folder / "private").iterdir()), ["host-1", "host-2"])
        self.assertEqual(list((self.folder / "private").rglob("released")), [])

    def test_a_link_is_cut_in_mid_run(self):
        words = [*WORDS, "--rounds", "3000"]
        more = ["--checkpoint-every", "100"] if resumable() else []
        _, log = self.launch(*words, *more, "--watchdog", WATCHDOG, "--output", "run")
        wait_until(lambda: len(self.recorded()) > 12, "something is on record", 60)
        self.hosts.cut()
        before = self.recorded()
        began = time.monotonic()
        wait_until(lambda: len(self.notes(log, "code")) == 4, "all ranks have ended", 60)
        self.assertLess(time.monotonic() - began, 10 * WATCHDOG)
        self.assertEqual(self.notes(log, "code"), [str(FAILURE)] * 4, self.notes(log, "err"))
        # Each side says for itself what it has waited for: a round, and a rank of the other side or one that waits for it.
        said = dict(zip(self.notes(log, "host"), self.notes(log, "err")))
        for host in ("host-1", "host-2"):
            texts = [text for name, text in zip(self.notes(log, "host"), self.notes(log, "err")) if name == host]
            self.assertRegex("\n".join(texts), r"starling: .*round \d+.* rank \d\b.* for [0-9.]+ s", said)
        self.assertEqual(self.recorded()[: len(before)], before)
        self.hosts.end_processes()

        if not resumable():
            return
        self.hosts.mend()
        job, log = self.launch("--resume", "run")
        job.finish()
        self.assertEqual(self.notes(log, "code"), ["0"] * 4, self.notes(log, "err"))
        self.good(1, [*words, "--output", "whole"])
        self.check_same("run", "whole")

    def test_a_host_that_is_cut_off_for_good(self):
        """Nobody touches the run: it gets on within twice the interval of checkpoints and a start, on the ranks of the host that
        is left, and ends with the bits of one host."""
        interval, start = 30, 10
        words = last_given([*map(str, WORDS), "--source", "synthetic:logistic:p=200", "--loss", "logistic", "--batch", "64", "--metrics",
                            "shared", "--checkpoint-every", f"{interval}s", "--rounds", "30000"])
        job = Job([sys.executable, "-B", SOURCE / "jobs/launch.py", "--backoff", "0.1", "--hosts", self.hosts.file(2), "--",
                   *self.hosts.mpirun(MPIRUN), "-n", "4", STARLING, "omd", *words, "--watchdog", "20", "--output", "run"], self.folder,
                  None)
        self.addCleanup(job.close)
        run = launch_parts.RunFolder(self.folder / "run")
        wait_until(lambda: run.newest_checkpoint()[0] > 0, "there is a checkpoint", 2 * interval)
        self.hosts.unplug()
        began, reached = time.monotonic(), run.last_recorded()
        wait_until(lambda: run.last_recorded() > reached + 50 or job.process.poll() is not None, "the run gets on",
                   2 * interval + start)
        print(f"cut off after round {reached}; it got on after {time.monotonic() - began:.1f} s", file=sys.stderr)
        result = job.finish(300)
        self.assertEqual(result.code, 0, result)
        self.assertIn(f"10.213.77.2 do not answer: the ranks are ended", result.err)
        self.assertRegex(result.err, r"launch: done; 1 restarts, .*hosts gone: 10.213.77.2, 2 ranks after 4, 150000 releases charged")
        story = json.loads((self.folder / "run/launch.json").read_text())
        self.assertEqual([each["ranks"] for each in story["attempts"]], [4, 2])
        self.assertGreater(story["attempts"][1]["from_round"], 0)
        self.good(1, [*words, "--output", "whole"])
        trial = other_ranks.Trial()
        trial.folder = self.folder
        trial.compare(trial.results("whole"), trial.results("run"))


if __name__ == "__main__":
    unittest.main()
