"""Vectors that ranks of a host read where they are made: the same bits as by messages, and the same ends."""

import unittest

from harness import *
import kills

STOPPED_SAFELY, USAGE = 75, 2
DRIFT = ["--source", "synthetic:drift:informative=1,n=200", "--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed",
         "--seed", "5"]
SLOW = ["--source", "synthetic:logistic:p=100", "--loss", "logistic", "--batch", "64", "--mechanism", "laplace", "--epsilon", "2",
        "--noise-key", "seed", "--progress", "off"]


class Windows(TestCase):
    def figures(self, ranks, words, way):
        """All that must not depend on the way: summary but for times and names, records."""
        output = f"by-{way}"
        shutil.rmtree(self.folder / output, ignore_errors=True)
        summary = self.summary_of(ranks, [*words, "--exchange", way], output)
        self.assertNotIn("messages", " ".join(summary["notes"]), "the system gives no windows")
        for name in ("time", "output", "command_line", "notes"):
            summary.pop(name)
        summary["traffic"].pop("evaluation_bytes")  # ranks compare configurations, in which the way is named
        summary["privacy"].pop("run_id", None)
        summary["privacy"].pop("ledger", None)
        return bits(summary), {name: array.tobytes() for name, array in self.record(output).items()} if h5py else None

    def is_under_way(self):
        history = self.folder / "run/history.csv"
        return history.exists() and len(history.read_text().splitlines()) > 5

    def same(self, ranks, words, ways=("messages", "windows", "auto")):
        first = self.figures(ranks, words, ways[0])
        self.assertGreater(first[0]["traffic"]["rank_bytes"], 0)
        for way in ways[1:]:
            self.assertEqual(self.figures(ranks, words, way), first, way)

    def test_same_results_and_traffic(self):
        topologies = SOURCE / "topologies"
        for ranks, words in (
                (4, ["--topology", topologies / "one-peer-exponential-8.topo", "--clients", "8"]),
                (3, ["--topology", topologies / "unbalanced-5.topo", "--clients", "5", "--dropout", "0.3", "--gossip-steps", "2"]),
                (2, ["--topology", topologies / "erdos-renyi-20.topo", "--clients", "20", "--link-loss", "0.2"])):
            with self.subTest(ranks=ranks):
                self.same(ranks, [*DRIFT, *words])

    def test_long_vectors(self):
        words = ["--source", "synthetic:logistic:p=5000", "--loss", "logistic", "--rounds", "40", "--record-every", "10",
                 "--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed"]
        self.same(3, words)

    def test_a_run_goes_on_the_other_way(self):
        words = [*SLOW, "--rounds", "4000", "--checkpoint-every", "100"]
        self.good(2, [*words, "--exchange", "windows", "--output", "whole"])
        job = self.start(2, [*words, "--exchange", "windows", "--output", "run"])
        pids = job.pids(2)
        wait_until(lambda: checkpoints_in(self.folder / "run/private/1") or job.process.poll() is not None,
                   "checkpoints are there")
        os.kill(pids[1], signal.SIGUSR1)
        result = job.finish()
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
        self.good(2, ["--resume", "run", "--exchange", "messages"])
        trial = kills.Trial()
        trial.folder = self.folder
        whole, resumed = trial.results("whole"), trial.results("run")
        for name, content in whole.items():
            self.assertEqual(resumed[name], content, name)

    def test_a_silent_rank_ends_the_others(self):
        """Neighbours of a stopped process look at counters that stand still; the watchdog names it."""
        job = self.start(3, [*SLOW, "--rounds", "1e9", "--exchange", "windows", "--watchdog", "2", "--output", "run"])
        wait_until(self.is_under_way, "rounds are on record")
        self.silence(job, 3, 1)

    def test_a_killed_rank_ends_the_others(self):
        job = self.start(3, [*SLOW, "--rounds", "1e9", "--exchange", "windows", "--output", "run"], False)
        pids = job.pids(3)
        wait_until(self.is_under_way, "rounds are on record")
        os.kill(pids[1], signal.SIGKILL)
        self.assertNotEqual(job.finish(20).code, 0)
        self.check_gone(pids)

    def test_where_there_are_none(self):
        for words, expected in (
                (["omd", *DRIFT, "--async"], "--exchange windows with --async"),
                (["omd", *DRIFT, "--deadline", "0.1"], "--exchange windows with --deadline"),
                (["omd", *DRIFT, "--link-loss", "0.1", "--link-loss-model", "unacknowledged"],
                 "--exchange windows with --link-loss-model unacknowledged"),
                (["infer", "--mechanism", "none"], "--exchange without --topology")):
            with self.subTest(expected):
                result = self.run_command(2, [*words, "--exchange", "windows", "--output", "run"])
                self.assertIn(expected, self.message_of(result, USAGE))
                self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main()
