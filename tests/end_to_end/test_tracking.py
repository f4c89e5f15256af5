"""--model location, and the source whose target moves."""

import math
import unittest

from harness import *

QUIET = ["--progress", "off", "--mechanism", "none"]
POINT = [*QUIET, "--model", "location", "--metrics", "shared"]


def mean(vectors):
    return [sum(entries) / len(vectors) for entries in zip(*vectors)]


class Tracking(TestCase):
    def records(self, spec, clients, rounds, seed=1):
        """Of each client, in order, as `data make` writes them."""
        result = self.run_command(1, ["data", "make", f"tracking:{spec}", "--clients", clients, "--records", rounds,
                                      "--seed", seed, "--output", "made.csv"])
        self.assertEqual(result.code, 0, result)
        rows = [[float(entry) for entry in row.split(",")]
                for row in (self.folder / "made.csv").read_text().splitlines()[1:]]
        self.assertEqual({row[-1] for row in rows}, {0})
        points = [row[:-1] for row in rows]
        return [points[u * rounds:(u + 1) * rounds] for u in range(clients)]

    def test_a_run_on_the_file_is_the_run_on_the_source(self):
        self.records("d=4,period=6", 3, 20, seed=9)
        words = [*POINT, "--clients", "3", "--seed", "9", "--loss", "absolute"]
        found = [self.summary_of(1, [*words, "--source", source], f"run-{k}")
                 for k, source in enumerate(("synthetic:tracking:d=4,period=6,n=20", "made.csv"))]
        for key in ("rounds", "final_model", "models", "loss", "consensus_error"):
            self.assertEqual(bits(found[0][key]), bits(found[1][key]), key)
        self.assertIsNone(found[0]["accuracy"])

    def test_the_file_moves_as_it_should(self):
        clients = self.records("path=0.3,period=2,spread=2", 5, 40)
        targets = [mean([points[t] for points in clients]) for t in range(40)]
        for before, now in zip(targets, targets[1:]):
            self.assertAlmostEqual(math.dist(before, now), 0.3, places=12)

    def test_a_target_that_stands_still_is_found(self):
        target = mean([points[0] for points in self.records("path=0", 6, 1)])
        for loss, near in (("squared", 1e-3), ("huber:10", 1e-3)):
            words = [*POINT, "--source", "synthetic:tracking:path=0", "--clients", "6", "--rounds", "4000", "--loss",
                     loss, "--step", "1", "--step-power", "1"]
            self.assertLess(math.dist(self.summary_of(1, words, loss.replace(":", "-"))["final_model"], target), near)

    def test_a_moving_target_is_followed_at_the_distance_that_a_hand_computes(self):
        # On a balanced graph the mean model makes steps of its own: x <- x + 0.2 (theta - x).
        rounds = 500
        clients = self.records("path=0.05", 4, rounds)
        x = [0.0] * 5
        for t in range(rounds):
            target = mean([points[t] for points in clients])
            x = [a + 0.2 * (b - a) for a, b in zip(x, target)]
        words = [*POINT, "--source", "synthetic:tracking:path=0.05", "--clients", "4", "--rounds", rounds, "--step", "0.2",
                 "--step-power", "0", "--start", "zero"]
        found = self.summary_of(1, [*words, "--loss", "squared"], "squared")
        self.assertLess(math.dist(found["final_model"], x), 1e-12)
        self.assertAlmostEqual(math.dist(x, target), 0.05 / 0.2, delta=0.06)
        straight = self.summary_of(1, [*words, "--loss", "absolute"], "absolute")
        self.assertLess(math.dist(straight["final_model"], target), 0.4)

    @fewer
    def test_every_layout_has_the_same_bits(self):
        for loss in ("squared", "absolute"):
            words = ["--progress", "off", "--model", "location", "--loss", loss, "--source",
                     "synthetic:tracking:period=7,path=0.1", "--clients", "7", "--rounds", "60", "--mechanism", "laplace",
                     "--epsilon", "3", "--clip", "0.5", "--noise-key", "seed", "--batch", "2"]
            expected = bits(self.summary_of(1, words, f"{loss}-1")["models"])
            for ranks in layouts()[1:]:
                self.assertEqual(bits(self.summary_of(ranks, words, f"{loss}-{ranks}")["models"]), expected)

    def test_its_best_model_in_hindsight_is_the_mean_record(self):
        clients = self.records("path=0.1", 3, 50)
        words = [*POINT, "--source", "synthetic:tracking:path=0.1", "--clients", "3", "--rounds", "50", "--loss", "squared",
                 "--regret", "static"]
        found = self.summary_of(1, words, "static")["regret"]
        self.assertLess(math.dist(found["comparator"], mean([point for points in clients for point in points])), 1e-3)

    def test_a_test_set_is_the_path_of_the_target(self):
        targets = [mean(points) for points in zip(*self.records("path=0.2", 4, 30))]
        words = [*POINT, "--source", "synthetic:tracking:path=0.2", "--clients", "4", "--rounds", "30", "--loss", "absolute",
                 "--test", "synthetic:tracking:path=0.2,n=30"]
        found = self.summary_of(1, words, "scored")
        expected = sum(math.dist(model, target) for model in found["models"] for target in targets) / (30 * 4)
        self.assertAlmostEqual(found["metrics"]["test_loss"], expected, places=12)

    def test_what_makes_no_sense_is_refused(self):
        for words, expected in ((["--loss", "logistic"], "a loss of classes"),
                                (["--loss", "squared", "--intercept"], "--intercept"),
                                (["--loss", "none"], "--loss none"),
                                (["--model", "cube"], "linear, location")):
            result = self.run_ranks(1, [*QUIET, "--model", "location", "--rounds", "5", *words, "--output", "refused"])
            self.assertIn(expected, self.message_of(result, 2))
            self.assertFalse((self.folder / "refused").exists())


if __name__ == "__main__":
    unittest.main()
