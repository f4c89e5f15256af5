"""Runs that wait for nobody: all mass is there at the end, what was mixed when is on record, and nothing hangs."""

import signal
import time
import unittest

from harness import *

STOPPED_SAFELY = 75
USAGE = 2
LEARN = ["--source", "synthetic:drift:informative=1", "--mechanism", "none", "--domain", "ball:3"]


def edges_of(path):
    """(from, to) of a topology file with plain edge lines."""
    return {tuple(map(int, line.split()[1:3])) for line in path.read_text().splitlines() if line.startswith("edge")}


class Asynchronous(TestCase):
    graph = SOURCE / "topologies" / "unbalanced-5.topo"

    def run_of(self, ranks, *words, output="run"):
        return self.summary_of(ranks, [*LEARN, "--topology", self.graph, "--clients", "5", *words], output)

    def test_all_mass_is_there_at_the_end(self):
        for words in (["--async"], ["--deadline", "0.0005"], ["--async", "--dropout", "0.3"],
                      ["--deadline", "0.0005", "--dropout", ".1,.6,.3,.5,.1", "--dropout-model", "markov"],
                      ["--async", "--link-loss", "0.2", "--link-loss-model", "unacknowledged"]):
            for ranks in (1, 2, 3):
                with self.subTest(words=words, ranks=ranks):
                    shutil.rmtree(self.folder / "run", ignore_errors=True)
                    summary = self.run_of(ranks, "--rounds", "2000", *words)
                    self.assertAlmostEqual(summary["mass"], 5, delta=1e-9)
                    self.assertEqual(summary["mass_in_flight"], 0)
                    self.assertEqual(summary["rounds"], 2000)
                    self.assertEqual(summary["pace"]["most_rounds"], 2000)
                    self.assertGreater(summary["pace"]["least_rounds"], 0)
                    self.assertFalse(summary["pace"]["reproducible"])
                    self.assertEqual(summary["pace"]["mode"], "asynchronous" if "--async" in words else "deadline")
                    self.assertLess(summary["consensus_error"], 1)

    def test_in_step_is_reproducible_and_says_so(self):
        first = self.run_of(2, "--rounds", "300", "--dropout", "0.4", output="one")
        again = self.run_of(5, "--rounds", "300", "--dropout", "0.4", output="two")
        self.assertEqual(first["pace"], {"mode": "synchronous", "deadline": None, "reproducible": True,
                                         "least_rounds": 300, "most_rounds": 300})
        self.assertEqual(bits(first["models"]), bits(again["models"]))

    @needs_h5py
    def test_models_stay_in_the_domain(self):
        """However long nothing comes from a rank that does not get a CPU, no mass falls to nothing."""
        for mirror, domain in (("entropic", "simplex"), ("euclidean", "ball:0.5")):
            with self.subTest(mirror):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                words = ["--source", "synthetic:drift:informative=1", "--mechanism", "none", "--clients", "8",
                         "--mirror", mirror, "--domain", domain, "--rounds", "20000", "--async"]
                self.assertAlmostEqual(self.summary_of(2, words, "run")["mass"], 8, delta=1e-9)
                with h5py.File(self.folder / "run" / "run.h5") as file:
                    models = file["model"][()]
                    masses = file["mass"][()]
                self.assertTrue(numpy.isfinite(models).all())
                self.assertGreater(masses.min(), 1e-5)
                if domain == "simplex":
                    self.assertLess(abs(models.sum(axis=2) - 1).max(), 1e-9)
                    self.assertGreaterEqual(models.min(), 0)
                else:
                    self.assertLess(numpy.linalg.norm(models, axis=2).max(), 0.5 + 1e-9)

    @needs_h5py
    def test_what_was_mixed_when_is_on_record(self):
        summary = self.run_of(2, "--rounds", "500", "--async", "--record-every", "50")
        edges = edges_of(self.graph)
        seen = set()
        for rank in range(2):
            with h5py.File(self.folder / "run" / "clients" / f"{rank}.h5") as file:
                mixed = file["mixed"][()]
                clients = file["clients"][()]
                self.assertEqual(file["rounds"][()].tolist(), list(range(0, 501, 50)))
            self.assertEqual(mixed.shape[1], 4)
            self.assertTrue(numpy.isin(mixed[:, 0], clients).all())
            self.assertTrue((mixed[:, 3] >= 1).all() and (mixed[:, 3] <= 500).all())
            for client in clients:
                rounds = mixed[mixed[:, 0] == client, 1]
                self.assertTrue((numpy.diff(rounds) >= 0).all())
            seen |= {(int(row[2]), int(row[0])) for row in mixed}
        self.assertEqual(seen, {edge for edge in edges if edge[0] != edge[1]})
        with h5py.File(self.folder / "run" / "run.h5") as file:
            self.assertEqual(file["model"].shape, (11, 5, 5))
            self.assertEqual(file["presence"].shape, (11, 5))
        self.assertGreater(summary["traffic"]["messages"], 0)

    def test_the_table_says_that_it_is_not_reproducible(self):
        result = self.good(2, [*LEARN, "--rounds", "200", "--deadline", "0.001", "--output", "run", "--progress", "off"])
        self.assertIn("not reproducible", result.out)

    def test_losses_keep_falling(self):
        """The models are as good as those of a run in step, within a tenth."""
        in_step = self.run_of(2, "--rounds", "4000", output="step")
        for number, words in enumerate((["--async"], ["--deadline", "0.001"])):
            summary = self.run_of(2, "--rounds", "4000", *words, output=f"run-{number}")
            self.assertLess(summary["loss"]["last"], 1.1 * in_step["loss"]["last"], words)

    def test_bad_words(self):
        for words, expected in ((["--async", "--deadline", "1"], "exclude each other"),
                                (["--async", "--mixing", "plain"], "push-sum"),
                                (["--async", "--regret", "static"], "different ones"),
                                (["--async", "--constraint", "energy:budget=0.5"], "in step"),
                                (["--link-loss-model", "unacknowledged"], "nothing is lost"),
                                (["--absent", "freeze"], "nobody is ever absent"),
                                (["--deadline", "-1"], "out of range"),
                                (["--deadline", "soon"], "soon")):
            with self.subTest(words=words):
                result = self.run_noted(2, [*LEARN, "--rounds", "10", *words])
                self.assertEqual(result.codes, [USAGE] * 2, result)
                self.assertEqual(len(result.messages()), 1, result)
                self.assertIn(expected, result.messages()[0])


class AsynchronousEnds(TestCase):
    words = [*LEARN, "--rounds", "1e9", "--async", "--record-every", "1000", "--output", "run", "--watchdog", "3"]

    def started(self, ranks):
        job = self.start(ranks, self.words)
        pids = job.pids(ranks)
        history = self.folder / "run" / "history.csv"
        wait_until(lambda: history.exists() and len(history.read_text().splitlines()) > 5, "something is on record")
        return job, pids

    def test_a_signal_stops_all_with_all_mass(self):
        for number in (signal.SIGUSR1, signal.SIGTERM):
            with self.subTest(number.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job, pids = self.started(3)
                os.kill(pids[1], number)
                result = job.finish(20)
                self.assertEqual(result.codes, [STOPPED_SAFELY] * 3, result)
                summary = json.loads((self.folder / "run" / "summary.json").read_text())
                self.assertAlmostEqual(summary["mass"], 3, delta=1e-9)
                self.assertIn("stopped by a signal", " ".join(summary["notes"]))

    def test_a_rank_that_stands_still_is_named_by_those_that_have_ended(self):
        """The others go on without it; once they have ended, they wait for it in vain."""
        job = self.start(3, [*LEARN, "--rounds", "200000", "--async", "--output", "run", "--watchdog", "3"])
        pids = job.pids(3)
        history = self.folder / "run" / "history.csv"
        wait_until(lambda: history.exists() and len(history.read_text().splitlines()) > 5, "something is on record")
        os.kill(pids[1], signal.SIGSTOP)
        self.addCleanup(lambda: self.wake(pids[1]))
        wait_until(lambda: len(list(job.log.glob("code.*"))) == 2, "the two others have ended", 80)
        self.wake(pids[1], signal.SIGKILL)
        result = job.finish(20)
        self.assertEqual([code for code in result.codes if code == FAILURE], [FAILURE] * 2, result)
        self.assertTrue(any("rank 1" in message for message in result.messages()), result)

    @staticmethod
    def wake(pid, number=signal.SIGCONT):
        try:
            os.kill(pid, number)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def test_bad_data_on_one_rank_ends_all(self):
        for client in range(3):
            self.write(f"p-{client}.csv", "\n".join(csv_rows(40)) + "\n")
        self.write("p-2.csv", "\n".join(csv_rows(20)) + "\n1,2,x,1\n")
        result = self.run_noted(3, ["--source", "p-{client}.csv", "--mechanism", "none", "--async"])
        self.assertEqual(result.codes, [3] * 3, result)


if __name__ == "__main__":
    unittest.main()
