"""Runs that wait for nobody: all mass is there at the end, what was mixed when is on record, and nothing hangs."""

import fcntl
import math
import signal
import struct
import termios
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
                                (["--link-loss-model", "unacknowledged"], "no message is lost"),
                                (["--absent", "freeze"], "nobody is ever absent"),
                                (["--deadline", "-1"], "out of range"),
                                (["--deadline", "soon"], "soon")):
            with self.subTest(words=words):
                result = self.run_alone(["omd", *LEARN, "--rounds", "10", *words])
                self.assertEqual(result.code, USAGE, result)
                self.assertEqual(len(result.messages()), 1, result)
                self.assertIn(expected, result.messages()[0])


class LateClients(TestCase):
    """Client 0 has its optimum at 0, client 1 at 10. Both read pipes, and what these give decides how far they come."""
    rounds = 4000

    def pipe(self, name):
        path = self.folder / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR)
        self.addCleanup(os.close, pipe)
        return pipe

    @staticmethod
    def unread(pipe):
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"    "))[0]

    def feed(self, pipe, row, count):
        """Writes rows. Returns once the reader has fetched the last one, which it does when it has used all others."""
        for part in (row * (count - 1), row):
            os.write(pipe, part.encode())
            wait_until(lambda: self.unread(pipe) == 0, "the rows are read")

    def end_of(self, first):
        """The summary where client 1 reads `first` rows, then none until client 0 is in its last round. What comes of a client that
        is back before depends on when it hears of the other, so protocol/late_clients plays that."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        pipes = [self.pipe(f"p-{client}.csv") for client in range(2)]
        job = self.start(2, ["--source", "p-{client}.csv", "--header", "no", "--loss", "squared", "--mechanism", "none",
                             "--clip", "1000", "--rounds", self.rounds, "--async", "--json-models", "--output", "run"])
        rows = ("1,0\n", "1,10\n")
        for pipe, row in zip(pipes, rows):
            os.write(pipe, row.encode())  # before the first round all wait for all
        for pipe, row in zip(pipes, rows):
            self.feed(pipe, row, first - 1)
        self.feed(pipes[0], rows[0], self.rounds - first)
        os.write(pipes[1], (rows[1] * self.rounds).encode())
        result = job.finish(60)
        self.assertEqual(result.codes, [0, 0], result)
        return self.summary_in("run")

    def test_a_late_client_has_not_the_last_word_and_is_named(self):
        for first in (3000, 3900, 400):
            with self.subTest(first=first):
                summary = self.end_of(first)
                for model in summary["models"]:
                    self.assertTrue(0 <= model[0] < 6.5, summary["models"])
                self.assertEqual(summary["rounds"], self.rounds)
                self.assertAlmostEqual(summary["mass"], 2, delta=1e-9)
                weights = summary["effective_weight"]
                notes = " ".join(summary["notes"])
                missed = 1 - math.sqrt(first / self.rounds)  # steps fall as 1/sqrt(t)
                self.assertAlmostEqual(weights[0], 1, delta=1e-9)
                self.assertAlmostEqual(weights[1], 1 - missed, delta=0.03)
                self.assertEqual("client 1 counted for" in notes, weights[1] < 0.95, notes)
                self.assertIn("late at the end: client 1 had", notes)


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
                summary = self.summary_in("run")
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
