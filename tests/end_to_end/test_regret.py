"""--regret static: its figure by hand, on every layout, in what is printed, and where it is refused."""

import os
import threading
import unittest

from harness import *

QUIET = ["--progress", "off", "--mechanism", "none"]


class StaticRegret(TestCase):
    def regret(self, ranks, words):
        self.runs = getattr(self, "runs", 0) + 1
        return self.summary_of(ranks, [*QUIET, "--regret", "static", *words], f"run-{self.runs}")

    def test_it_is_what_a_hand_computes(self):
        # Five records of feature 1 for each of three clients, in rounds of 2, 2 and 1; nobody moves away from 0.
        labels = [1, 2, -1, 0.5, 3, 0, 0, 4, 1, -2, 2, 2, 2.5, -1, 1]
        self.write("ones.csv", "".join(f"1,{label}\n" for label in labels))
        words = ["--source", "ones.csv", "--loss", "squared", "--batch", "2", "--l2", "0.5", "--start", "zero",
                 "--step", "1e-300"]
        regret = self.regret(3, words)["regret"]
        played = sum(y * y for y in labels) / 4
        best = (sum(labels) / 2) / (len(labels) / 2 + 9 * 0.5)
        best_value = sum((best - y) ** 2 for y in labels) / 4 + 9 * 0.25 * best**2
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

    def test_every_layout_has_the_same_bits(self):
        words = ["--clients", "5", "--rounds", "40", "--domain", "ball:2", "--l2", "0.01", "--batch", "3"]
        runs = [self.regret(ranks, words) for ranks in LAYOUTS]
        for run in runs[1:]:
            self.assertEqual(bits(run["regret"]), bits(runs[0]["regret"]))
        self.assertGreater(runs[1]["traffic"]["evaluation_bytes"], runs[0]["traffic"]["evaluation_bytes"])

    def test_the_table_shows_it(self):
        result = self.good(1, [*QUIET, "--clients", "2", "--rounds", "20", "--regret", "static", "--output", "run"])
        self.assertIn("static regret ", result.out)
        self.assertIn("comparator ", result.out)
        quiet = self.good(1, [*QUIET, "--clients", "2", "--rounds", "20", "--output", "without"])
        self.assertNotIn("static regret", quiet.out)

    def test_separable_data_end_with_a_note(self):
        self.write("apart.csv", "1,1\n-1,-1\n2,1\n-3,-1\n")
        run = self.regret(2, ["--source", "apart.csv"])
        self.assertFalse(run["regret"]["certificate"]["reached"])
        self.assertTrue(any("separable" in note for note in run["notes"]), run["notes"])

    def test_it_is_named_among_what_is_shared(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        words = ["--source", "data.csv", "--mechanism", "laplace", "--metrics", "shared", "--regret", "static"]
        run = self.summary_of(2, words, "shared")
        self.assertIn("static regret", run["privacy"]["statement"])
        self.assertIn("best in hindsight", run["privacy"]["statement"])

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

    def test_pipes_cannot_be_read_again(self):
        pipe = self.folder / "pipe.csv"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text("\n".join(csv_rows(20)) + "\n"), daemon=True)
        writer.start()
        self.assertIn("once", self.refused(["--source", "pipe.csv", "--mechanism", "none", "--rounds", "5"]))
        writer.join(10)


if __name__ == "__main__":
    unittest.main()
