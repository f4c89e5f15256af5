"""--regret: its figures by hand, on every layout, in what is printed, and where it is refused."""

import os
import shutil
import threading
import unittest

from harness import *

draw_pictures()

QUIET = ["--progress", "off", "--mechanism", "none"]


class StaticRegret(TestCase):
    def regret(self, ranks, words):
        self.runs = getattr(self, "runs", 0) + 1
        return self.summary_of(ranks, [*QUIET, "--regret", "static", *words], f"run-{self.runs}")

    def test_it_is_what_a_hand_computes(self):
        # Five records of feature 1 for each of three clients, in rounds of 2, 2 and 1; nobody moves away from 0.
        labels = [1, 2, -1, 0.5, 3, 0, 0, 4, 1, -2, 2, 2, 2.5, -1, 1]
        self.write("ones.csv", "".join(f"1,{label}\n" for label in labels))
        words = ["--source", "ones.csv", "--clients", "3", "--loss", "squared", "--batch", "2", "--l2", "0.5", "--start", "zero",
                 "--step", "1e-300"]
        regret = self.regret(1, words)["regret"]
        played = sum(y * y for y in labels) / 4
        # The rounds have 15 of the 18 records for which there is room, and so much of the penalty.
        best = (sum(labels) / 2) / (len(labels) / 2 + 7.5 * 0.5)
        best_value = sum((best - y) ** 2 for y in labels) / 4 + 7.5 * 0.25 * best**2
        self.assertEqual(regret["client_rounds"], 9)
        self.assertAlmostEqual(regret["played"], played, places=12)
        self.assertAlmostEqual(regret["comparator"][0], best, places=3)
        self.assertAlmostEqual(regret["static"], played - best_value, places=6)
        self.assertAlmostEqual(regret["static_per_client_round"], regret["static"] / 9, places=12)
        self.assertTrue(regret["certificate"]["reached"])
        self.assertEqual(regret["certificate"]["kind"], "gap")

    def test_models_that_move_play_their_penalty_too(self):
        # One client, one record a round, x = 0 then 0 - 0.5 (0 - 1) = 0.5 (steps 0.5): losses 1/2 and 1/8 + 0.4/2 (1/4).
        self.write("two.csv", "1,1\n1,1\n")
        words = ["--source", "two.csv", "--loss", "squared", "--l2", "0.4", "--step", "0.5", "--start", "zero"]
        self.assertAlmostEqual(self.regret(1, words)["regret"]["played"], 0.5 + 0.125 + 0.05, places=12)

    @fewer
    def test_every_layout_has_the_same_bits(self):
        words = ["--clients", "5", "--rounds", "40", "--domain", "ball:2", "--l2", "0.01", "--batch", "3"]
        runs = [self.regret(ranks, words) for ranks in layouts()]
        for run in runs[1:]:
            self.assertEqual(bits(run["regret"]), bits(runs[0]["regret"]))
        self.assertGreater(runs[1]["traffic"]["evaluation_bytes"], runs[0]["traffic"]["evaluation_bytes"])

    def test_a_signal_during_the_evaluation_leaves_it_to_a_later_start(self):
        """With and without checkpoints of the run's own."""
        for every in ([], ["--checkpoint-every", "20"]):
            with self.subTest(every):
                shutil.rmtree(self.folder / "cut", ignore_errors=True)
                words = [*QUIET, "--clients", "2", "--rounds", "40", "--domain", "ball:2", "--l2", "0.01", "--regret", "static", *every]
                with interrupted("after rename /private/0/checkpoint-40:0", signal.SIGTERM):
                    result = self.run_ranks(2, [*words, "--output", "cut"])
                self.assertEqual(result.codes, [75, 75], result)
                self.assertIn("starling omd --resume cut evaluates again", " ".join(self.summary_in("cut")["notes"]))
                self.good(2, ["--resume", "cut"])
                regret = self.summary_in("cut")["regret"]
                self.assertTrue(regret["certificate"]["reached"])
                self.assertEqual(bits(regret), bits(self.regret(1, words)["regret"]))
                left = [path.name for path in (self.folder / "cut/private/0").iterdir()]
                self.assertEqual("checkpoint-40" in left, bool(every), left)

    def test_the_table_shows_it(self):
        result = self.good(1, [*QUIET, "--clients", "2", "--rounds", "20", "--regret", "static", "--output", "run"])
        self.assertIn("static regret ", result.out)
        self.assertIn("comparator ", result.out)
        quiet = self.good(1, [*QUIET, "--clients", "2", "--rounds", "20", "--output", "without"])
        self.assertNotIn("static regret", quiet.out)

    def test_separable_data_end_with_a_note(self):
        self.write("apart.csv", "1,1\n-1,-1\n2,1\n-3,-1\n")
        run = self.regret(1, ["--source", "apart.csv", "--clients", "2"])
        self.assertFalse(run["regret"]["certificate"]["reached"])
        self.assertTrue(any("separable" in note for note in run["notes"]), run["notes"])

    def test_it_is_named_among_what_is_shared(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        words = ["--source", "data.csv", "--mechanism", "laplace", "--metrics", "shared", "--regret", "static"]
        run = self.summary_of(1, words, "shared")
        self.assertIn("static regret", run["privacy"]["statement"])
        self.assertIn("the best one in hindsight", run["privacy"]["statement"])
        self.assertNotIn("the records of each round as they are", run["privacy"]["statement"])

    def test_every_number_is_named_with_who_gets_it(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        words = ["--source", "data.csv", "--mechanism", "laplace", "--metrics", "shared", "--regret", "both"]
        named = self.summary_of(1, words, "shared")["privacy"]["shared_metrics"]
        for text in ("sums over the run of each client's progressive losses", "from report to report", "accuracies of single clients", "models that were played",
                     "losses and gradients of all records at each model that is tried", "regrets of single clients",
                     "how many numbers", "the records of each round as they are (to: the rank that finds",
                     "the model that is best for each round's records", "each round's best model"):
            self.assertEqual(sum(text in each for each in named), 1, (text, named))
        self.assertEqual(len(named), 10, named)
        self.assertGreaterEqual(sum("from rank to rank" in each for each in named), 5)

    def refused(self, words):
        result = self.run_noted(1, [*words, "--regret", "static", "--output", "refused", "--progress", "off"])
        self.assertEqual(result.codes, [2], result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertFalse((self.folder / "refused").exists())
        return result.messages()[0]

    def test_private_records_stay_so(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        self.assertIn("--metrics shared", self.refused(["--source", "data.csv", "--mechanism", "laplace"]))

    def test_without_losses_there_is_none(self):
        self.write("start.csv", "1,2\n")
        self.assertIn("--loss none", self.refused(["--loss", "none", "--start", "start.csv", "--rounds", "2"]))

    def test_a_penalty_without_slope_has_none(self):
        self.assertIn("--mirror euclidean:l1=1", self.refused(["--source", "synthetic:linear:n=10", "--loss", "squared", "--mirror",
                                                               "euclidean:l1=1", "--mechanism", "none"]))

    def test_pipes_cannot_be_read_again(self):
        pipe = self.folder / "pipe.csv"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text("\n".join(csv_rows(20)) + "\n"), daemon=True)
        writer.start()
        self.assertIn("once", self.refused(["--source", "pipe.csv", "--mechanism", "none", "--rounds", "5"]))
        writer.join(10)


class DynamicRegret(TestCase):
    def regret(self, ranks, words, which="both"):
        self.runs = getattr(self, "runs", 0) + 1
        return self.summary_of(ranks, [*QUIET, "--regret", which, *words], f"run-{self.runs}")

    def test_it_is_what_a_hand_computes(self):
        # One record per client and round, x stays 0: the best model of a round is the mean of its three labels.
        labels = [[1, 2, -1, 0.5], [0, 0, 4, 1], [2, 1, 3, 0]]
        self.write("ones.csv", "".join(f"1,{label}\n" for client in labels for label in client))
        words = ["--source", "ones.csv", "--clients", "3", "--loss", "squared", "--start", "zero", "--step", "1e-300",
                 "--domain", "box:-9,9"]
        summary = self.regret(1, words, "dynamic")
        regret = summary["regret"]
        best = [sum(client[t] for client in labels) / 3 for t in range(4)]
        values = [[(best[t] - client[t]) ** 2 / 2 for t in range(4)] for client in labels]
        played = sum(label**2 / 2 for client in labels for label in client)
        self.assertAlmostEqual(regret["dynamic"], played - sum(map(sum, values)), places=9)
        self.assertAlmostEqual(regret["dynamic_per_client_round"], regret["dynamic"] / 12, places=12)
        self.assertAlmostEqual(regret["path_length"], sum(abs(a - b) for a, b in zip(best, best[1:])), places=4)
        self.assertIsNone(regret["static"])
        for client, label, value in zip(regret["per_client"], labels, values):
            self.assertEqual(client["rounds"], 4)
            self.assertAlmostEqual(client["dynamic"], sum(y * y / 2 for y in label) - sum(value), places=5)
        certificate = regret["dynamic_certificate"]
        self.assertTrue(certificate["reached"])
        self.assertEqual(certificate["kind"], "gap")
        self.assertLessEqual(certificate["value"], certificate["tolerance"])
        self.assertIn("records of each round", summary["privacy"]["statement"])

    @fewer
    def test_every_layout_has_the_same_bits(self):
        words = ["--clients", "5", "--rounds", "100", "--domain", "ball:2", "--batch", "3"]
        runs = [self.regret(ranks, words) for ranks in layouts()]
        curves = [(self.folder / f"run-{i + 1}" / "regret.csv").read_text() for i in range(len(runs))]
        for run, curve in zip(runs[1:], curves[1:]):
            self.assertEqual(bits(run["regret"]), bits(runs[0]["regret"]))
            self.assertEqual(curve, curves[0])
        without = self.summary_of(layouts()[1], [*QUIET, *words], "without")
        self.assertGreater(runs[1]["traffic"]["evaluation_bytes"], without["traffic"]["evaluation_bytes"])
        self.assertEqual(runs[1]["traffic"]["bytes"], without["traffic"]["bytes"])
        self.assertEqual(runs[1]["traffic"]["rank_bytes"], without["traffic"]["rank_bytes"])

    @fewer
    def test_clients_that_sit_rounds_out(self):
        # Who freezes when absent plays fewer rounds; the figures are those of the rounds that were played, anywhere.
        words = ["--clients", "4", "--rounds", "60", "--domain", "ball:2", "--dropout", "0.3", "--absent", "freeze"]
        runs = [self.regret(ranks, words) for ranks in layouts()]
        for run in runs[1:]:
            self.assertEqual(bits(run["regret"]), bits(runs[0]["regret"]))
        regret = runs[0]["regret"]
        self.assertEqual(regret["client_rounds"], sum(client["rounds"] for client in regret["per_client"]))
        self.assertLess(regret["client_rounds"], 4 * 60)
        self.assertGreater(regret["client_rounds"], 4 * 60 // 2)
        for kind in ("static", "dynamic"):
            self.assertAlmostEqual(sum(client[kind] for client in regret["per_client"]), regret[kind], places=8)

    def test_points_after_a_moving_target(self):
        words = ["--clients", "4", "--rounds", "300", "--model", "location", "--source", "synthetic:tracking:path=0.01",
                 "--step", "0.1", "--step-power", "0"]
        for loss in ("squared", "absolute"):
            for domain in ("free", "ball:4"):
                regret = self.regret(1, [*words, "--loss", loss, "--domain", domain], "dynamic")["regret"]
                self.assertAlmostEqual(regret["path_length"], 2.99, places=3)
                self.assertTrue(regret["dynamic_certificate"]["reached"])

    def test_curves_and_exponents(self):
        regret = self.regret(1, ["--clients", "4", "--rounds", "1000", "--domain", "ball:2", "--step", "0.3"])["regret"]
        lines = (self.folder / "run-1" / "regret.csv").read_text().splitlines()
        self.assertEqual(lines[0], "rounds,static,dynamic,path_length,static_fitted,dynamic_fitted")
        last = lines[-1].split(",")
        self.assertEqual(last[0], "1000")
        self.assertAlmostEqual(float(last[1]), regret["static"], places=6)
        self.assertAlmostEqual(float(last[2]), regret["dynamic"], places=6)
        self.assertAlmostEqual(float(last[3]), regret["path_length"], places=4)
        exponent = regret["exponent"]["dynamic"]
        # The best model of a single round is far better than any that could be known before: the sum grows with t.
        self.assertAlmostEqual(exponent["value"], 1, delta=0.1)
        self.assertGreater(exponent["standard_error"], 0)
        for name in ("regret.svg", "components.svg"):
            if shutil.which("gnuplot"):
                self.assertIn("</svg>", (self.folder / "run-1" / name).read_text())

    def test_the_table_shows_it(self):
        result = self.good(1, [*QUIET, "--clients", "2", "--rounds", "20", "--domain", "ball:1", "--regret", "both",
                               "--output", "run"])
        for name in ("static regret ", "dynamic regret ", "path length ", "comparators "):
            self.assertIn(name, result.out)
        again = self.run_alone(["report", str(self.folder / "run")])
        self.assertIn("dynamic regret ", again.out)

    def test_rounds_without_a_best_model_end_with_a_note(self):
        run = self.regret(1, ["--clients", "2", "--rounds", "5", "--loss", "linear", "--domain", "free"], "dynamic")
        self.assertIsNone(run["regret"]["dynamic"])
        self.assertTrue(any("fall without end" in note for note in run["notes"]), run["notes"])

    def test_private_records_stay_so(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        result = self.run_noted(1, ["--source", "data.csv", "--mechanism", "laplace", "--regret", "dynamic", "--output",
                                    "refused", "--progress", "off"])
        self.assertEqual(result.codes, [2], result)
        self.assertIn("--metrics shared", result.messages()[0])


if __name__ == "__main__":
    unittest.main()
