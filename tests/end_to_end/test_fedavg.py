"""Federated averaging: it learns, on any number of ranks alike, says what it costs, and refuses what makes no sense."""

import csv
import os
import signal
import subprocess
import time
import unittest

from harness import *

draw_pictures()

UNUSABLE, UNREADABLE, STOPPED_SAFELY = 2, 3, 75
GAUSSIAN = ["--mechanism", "gaussian", "--epsilon", "4", "--delta", "1e-5", "--noise-key", "seed"]
# Three clients with ten batches each.
STREAM = ["--clients", "3", "--source", "synthetic:two-gaussians:p=4,mu=0.5,n=100", "--batch", "10"]
SUMMARY = """command command_line clients ranks rounds rounds_planned dimension average aggregated loss accuracy metrics privacy
    traffic time final_model withheld notes""".split()


class FedAvgCase(MethodCase):
    command = "fedavg"


def digits(count, seed):
    """Ten classes of 28 x 28 pixels: a class lights its own pixels, and others at random. Lines of numbers and a label."""
    generator = numpy.random.default_rng(seed)
    own = numpy.random.default_rng(1).random((10, 784)) < 0.15
    labels = generator.integers(0, 10, count)
    pixels = numpy.where(own[labels], 0.7, 0.1) * generator.random((count, 784))
    return [",".join(f"{value:.3f}" for value in row) + f",{label}" for row, label in zip(pixels, labels)]


class Runs(FedAvgCase):
    @fewer
    def test_equal_bits_on_any_number_of_ranks(self):
        for name, words in {"plain": ["--mechanism", "none"], "noisy": GAUSSIAN, "in few bits": [*GAUSSIAN, "--message-precision", "bits:5", "--local-update", "proximal:0.5"],
                            "with controls": [*GAUSSIAN, "--local-update", "scaffold"]}.items():
            found = {}
            for ranks in layouts():  # some ranks host nobody
                summary = self.summary([*STREAM, *words, "--local-steps", "3", "--average", "tail"], f"{name}-{ranks}", ranks)
                found[ranks] = bits([summary["final_model"], summary["loss"]["mean"], summary["accuracy"]])
            for ranks in layouts()[1:]:
                self.assertEqual(found[ranks], found[1], name)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_it_learns_pictures_of_ten_classes(self):
        self.write("train.csv", "\n".join(digits(1200, 2)) + "\n")
        self.write("test.csv", "\n".join(digits(300, 3)) + "\n")
        words = ["--clients", "4", "--source", "train.csv", "--test", "test.csv", "--loss", "softmax:10", "--partition", "shards:3",
                 "--batch", "20", "--local-steps", "5", "--step", "0.5", "--mechanism", "none"]
        summary = self.summary(words, "run", 2)
        for key in SUMMARY:
            self.assertIn(key, summary)
        self.assertEqual((summary["command"], summary["clients"], summary["ranks"]), ("fedavg", 4, 2))
        self.assertEqual((summary["rounds"], summary["dimension"]), (3, 7840))
        self.assertTrue(summary["aggregated"])
        with open(self.folder / "run" / "history.csv", newline="") as file:
            history = list(csv.DictReader(file))
        self.assertLess(float(history[0]["test_accuracy"]), 0.3)
        self.assertGreater(summary["accuracy"], 0.9)
        self.assertEqual((self.folder / "run" / "loss.svg").exists(), shutil.which("gnuplot") is not None)
        again = self.succeeded(self.run_alone(["report", "run"]))
        self.assertIn("fedavg", again.out)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_networks(self):
        """They learn from values of their own; with noise they have the same bits on two ranks as on one."""
        self.write("train.csv", "\n".join(digits(1200, 2)) + "\n")
        self.write("test.csv", "\n".join(digits(300, 3)) + "\n")
        words = ["--clients", "4", "--source", "train.csv", "--test", "test.csv", "--loss", "softmax:10", "--batch", "20",
                 "--local-steps", "5", "--step", "0.5", "--step-power", "0", "--model", "mlp:784-16-10"]
        plain = self.summary([*words, "--mechanism", "none", "--epochs", "4"], "plain")
        self.assertEqual(plain["dimension"], 785 * 16 + 17 * 10)
        self.assertGreater(plain["accuracy"], 0.9)
        noisy = [self.summary([*words, *GAUSSIAN], f"noisy-{ranks}", ranks) for ranks in (1, 2)]
        self.assertEqual(bits(noisy[0]["final_model"]), bits(noisy[1]["final_model"]))
        self.assertNotEqual(noisy[0]["final_model"], plain["final_model"])

    @unittest.skipUnless((DATA / "mnist").exists(), "the data set mnist is not beside the project")
    def test_the_preset(self):
        images, labels = "images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"
        folder = DATA / "mnist"
        summary = self.summary(["--config", SOURCE / "jobs/fedavg.ini", "--source", f"{folder}/train-{images},{folder}/train-{labels}",
                                "--test", f"{folder}/t10k-{images},{folder}/t10k-{labels}", "--rounds", "20"], "run")
        self.assertEqual((summary["dimension"], summary["rounds"], summary["privacy"]["releases"]), (7850, 20, 100))
        self.assertGreater(summary["accuracy"], 0.75)

    def test_local_steps_save_messages(self):
        """A round has the same traffic whatever it learns: a model from each client but rank 0's own, and one back."""
        traffic = {}
        for steps in (1, 5):
            summary = self.summary([*STREAM, "--mechanism", "none", "--local-steps", steps], f"run-{steps}")
            self.assertEqual(summary["rounds"], 10 // steps)
            traffic[steps] = summary["traffic"]["bytes"]
        self.assertEqual(traffic[1], 5 * traffic[5])

    def test_weights_are_those_of_the_records(self):
        """One client with thirty records and one with ten; a batch holds all, so that one step is by hand."""
        rows = [(0.5 * i, 1 - 0.1 * i) for i in range(40)]
        self.write("0.csv", "".join(f"{x},{y}\n" for x, y in rows[:30]))
        self.write("1.csv", "".join(f"{x},{y}\n" for x, y in rows[30:]))
        words = ["--clients", "2", "--source", "{client}.csv", "--batch", "30", "--loss", "squared", "--mechanism", "none",
                 "--step", "0.01"]
        models = [0.01 * sum(x * y for x, y in part) / len(part) for part in (rows[:30], rows[30:])]
        found = self.summary(words, "records")["final_model"][0]
        self.assertAlmostEqual(found, (30 * models[0] + 10 * models[1]) / 40, places=12)
        found = self.summary([*words, "--client-weights", "equal"], "equal")["final_model"][0]
        self.assertAlmostEqual(found, (models[0] + models[1]) / 2, places=12)

    def test_averages(self):
        found = {average: self.summary([*STREAM, "--mechanism", "none", "--average", average, "--record-every", "1"], average)
                 for average in ("none", "tail", "all")}
        for average, summary in found.items():
            self.assertEqual(summary["average"], average)
        if h5py is None:
            self.skipTest("h5py is not installed")
        path = self.record("none")["model"][:, 0]
        for average, rounds in (("tail", path[6:]), ("all", path[1:])):
            for ours, theirs in zip(found[average]["final_model"], rounds.mean(axis=0)):
                self.assertAlmostEqual(ours, theirs, places=12)

    def test_a_start_may_be_given(self):
        self.write("start.csv", "1,2,3,4\n")
        found = self.summary([*STREAM, "--mechanism", "none", "--start", "start.csv", "--step", "1e-12"], "run")["final_model"]
        for ours, theirs in zip(found, (1, 2, 3, 4)):
            self.assertAlmostEqual(ours, theirs, places=9)

    def test_a_signal_leaves_results_whole(self):
        log_words = ["fedavg", "--progress", "off", "--clients", "3", "--source", "synthetic:drift", "--client-weights", "equal", "--rounds",
                     "100000000", "--mechanism", "none", "--output", "run"]
        job = self._start([(2, log_words, [])], RANK_SCRIPT)
        pids = job.pids(2)
        wait_until(lambda: (self.folder / "run" / "history.csv").exists(), "rounds are played")
        time.sleep(0.5)
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
        result = job.finish(30)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
        summary = self.summary_in("run")
        self.assertLess(summary["rounds"], 100000000)
        self.assertTrue(any("stopped by a signal" in note for note in summary["notes"]), summary["notes"])


class Privacy(FedAvgCase):
    def test_releases_are_counted_by_local_step(self):
        """Three local steps a round over two passes of ten batches: seven rounds, and no record is charged more than twice."""
        words = [*STREAM, "--epochs", "2", "--local-steps", "3", *GAUSSIAN]
        summary = self.summary(words, "run")
        privacy = summary["privacy"]
        self.assertEqual(summary["rounds"], 7)
        self.assertEqual((privacy["participations"], privacy["releases"]), (2, 20))
        one = self.run_alone(["privacy", "spend", "--mechanism", "gaussian", "--epsilon", "4", "--delta", "1e-5", "--releases", "2",
                              "--json"])
        self.assertEqual(one.code, 0, one)
        self.assertAlmostEqual(privacy["epsilon"], one.summary()["epsilon"], places=6)
        # As many releases of the same batches as without rounds of several steps.
        single = self.summary([*STREAM, "--epochs", "2", *GAUSSIAN], "single")["privacy"]
        for key in ("epsilon", "mu", "participations", "releases", "client_epsilon"):
            self.assertEqual(privacy[key], single[key])

    def test_the_ledger_holds_every_local_step(self):
        words = [*STREAM, "--local-steps", "4", *GAUSSIAN, "--noise-key", "random", "--ledger", "ledger-{client}"]
        summary = self.summary(words, "run")
        self.assertEqual(summary["privacy"]["participations"], 1)
        self.succeeded(self.run_alone(["privacy", "ledger", "ledger-0", "--verify", "--json"]))
        rows = [json.loads(line) for line in (self.folder / "ledger-0").read_text().splitlines()]
        reserved = [row for row in rows if row["kind"] == "reserve"]
        self.assertEqual(sum(charge["count"] for row in reserved for charge in row["charges"]), 10)
        self.assertEqual(reserved[-1]["last"], 9)
        self.assertEqual(rows[-1]["rounds"], 10)

    def test_a_budget_ends_within_a_round(self):
        """It pays for some of ten local steps; what the client learned in them counts."""
        words = [*STREAM, "--local-steps", "4", "--mechanism", "gaussian", "--mu", "0.1", "--delta", "1e-5",
                 "--ledger", "ledger-{client}", "--budget", "12", "--budget-unit", "client"]
        privacy = self.summary(words, "run")["privacy"]
        self.assertLess(privacy["releases"], 10)
        self.assertGreater(privacy["releases"], 1)
        self.assertNotEqual(privacy["releases"] % 4, 0)
        self.assertLessEqual(privacy["client_epsilon"], 12)

    def test_the_statement_says_who_sees_what(self):
        noisy = self.summary([*STREAM, "--local-steps", "3", *GAUSSIAN, "--noise-key", "random"], "noisy")["privacy"]
        self.assertIn("at most 10 release(s)", noisy["statement"])
        self.assertIn("sent what it computed from them (its model) to rank 0 with noise", noisy["statement"])
        self.assertIn("every client gets the models that rank 0 makes of it", noisy["statement"])
        plain = self.summary([*STREAM, "--mechanism", "none"], "plain")["privacy"]
        self.assertIn("(its model) to whoever operates rank 0, without noise", plain["statement"])

    def test_metrics_of_private_records_stay_private(self):
        self.write("data.csv", "\n".join(csv_rows(60)) + "\n")
        summary = self.summary(["--clients", "2", "--source", "data.csv", "--batch", "10", "--mechanism", "laplace", "--epsilon", "1"],
                               "run", 2)
        self.assertIsNone(summary["loss"]["mean"])
        self.assertIn("loss.mean", summary["withheld"])
        for rank in range(2):
            self.assertTrue((self.folder / "run" / "private" / str(rank) / "metrics.csv").exists())


class BadInput(FedAvgCase):
    def test_options_that_make_no_sense(self):
        none = ["--mechanism", "none"]
        for words, *patterns in (
            ([*STREAM, *none, "--local-steps", "0"], "local-steps", "0"),
            ([*STREAM, *none, "--local-steps", "many"], "local-steps", "many"),
            ([*STREAM, *none, "--client-weights", "loud"], "client-weights", "loud", "records", "equal"),
            (["--clients", "3", "--source", "synthetic:drift", *none], "--client-weights equal", "synthetic:drift"),
            ([*STREAM, *none, "--local-steps", "4", "--rounds", "4"], "--rounds 4", "3 rounds", "--epochs"),
            ([*STREAM, *none, "--local-steps", "1000000", "--rounds", "900000000000000"], "--rounds", "--local-steps"),
            ([*STREAM], "--mechanism"),
            ([*STREAM, *GAUSSIAN, "--audit"], "--audit"),
            ([*STREAM, *none, "--start", "nowhere.csv"], "nowhere.csv"),
            ([*STREAM, *none, "--topology", "ring.topo"], "topology"),
        ):
            with self.subTest(words=words):
                self.refused(UNUSABLE, words, *patterns)

    def test_weights_by_records_on_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        writer = subprocess.Popen(["sh", "-c", f"printf '1,2,1\\n3,4,-1\\n' > {pipe}"])
        self.addCleanup(writer.wait)
        self.refused(UNUSABLE, ["--source", str(pipe), "--rounds", "3", "--mechanism", "none"], "--client-weights records",
                     "nobody knows", "--client-weights equal")

    def test_bad_records(self):
        self.write("data.csv", "1,2,1\n1,x,-1\n")
        self.refused(UNREADABLE, ["--clients", "2", "--source", "data.csv", "--mechanism", "none"], "data.csv", "2", ranks=2)

    def test_a_model_that_runs_away(self):
        self.write("data.csv", "".join(f"{i % 7 - 3},{i % 5}\n" for i in range(400)))
        result = self.play(["--source", "data.csv", "--loss", "squared", "--step", "1e9", "--step-power", "0", "--mechanism",
                               "none", "--output", "run"])
        self.assertEqual(result.code, UNREADABLE, result)
        self.assertRegex(result.messages()[0], "round [0-9]+: the model is not finite .*--local-steps")


if __name__ == "__main__":
    unittest.main()
