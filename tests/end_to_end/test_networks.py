"""--model mlp and cnn: networks learned by clients that mix their parameters."""

import random
import unittest

from harness import *

QUIET = ["--progress", "off", "--clients", "4"]
OPEN = [*QUIET, "--mechanism", "none"]
NOISED = [*QUIET, "--mechanism", "gaussian", "--mu", "4", "--clip", "2", "--noise-key", "seed"]


def write(path, rows):
    path.write_text("".join(",".join(f"{entry:.6g}" for entry in row) + "\n" for row in rows))
    return str(path)


def quadrants(count, seed):
    """Two coordinates, and as the label whether their signs agree: no line tells that."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        x, y = draw.uniform(-1, 1), draw.uniform(-1, 1)
        rows.append((x, y, int(x * y > 0)))
    return rows


def bars(count, seed, side=16):
    """Images of noise with a bar at a random place: across (0), down (1), or none (2)."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        image = [[draw.gauss(0, 0.1) for _ in range(side)] for _ in range(side)]
        label, at = draw.randrange(3), draw.randrange(side)
        for i in range(side):
            if label == 0:
                image[at][i] += 1
            if label == 1:
                image[i][at] += 1
        rows.append((*(pixel for row in image for pixel in row), label))
    return rows


class Networks(TestCase):
    def quadrants(self, count=8000):
        return ["--source", write(self.folder / "quadrants.csv", quadrants(count, 1)), "--test",
                write(self.folder / "test.csv", quadrants(1000, 2)), "--loss", "softmax:2", "--batch", "20"]

    def test_a_network_learns_what_no_line_tells(self):
        words = [*OPEN, *self.quadrants(), "--step", "0.5", "--step-power", "0", "--epochs", "10"]
        straight = self.summary_of(1, [*words, "--intercept"], "linear")
        network = self.summary_of(1, [*words, "--model", "mlp:2-16-2"], "mlp")
        self.assertLess(straight["accuracy"], 0.6)
        self.assertGreater(network["accuracy"], 0.95)
        self.assertEqual(network["dimension"], 3 * 16 + 17 * 2)

    @slow
    def test_every_layout_has_the_same_bits(self):
        for name, words in (("open", [*OPEN, "--step", "0.5"]), ("noised", [*NOISED, "--step", "0.2"]),
                            ("double", [*NOISED, "--precision", "double"]),
                            ("laplace", [*QUIET, "--mechanism", "laplace", "--epsilon", "5", "--noise-key", "seed"]),
                            ("component", [*NOISED, "--unit", "component"])):
            words = [*words, *self.quadrants(800), "--model", "mlp:2-9-2", "--average", "tail"]
            first = self.summary_of(1, words, f"{name}-1")
            for ranks in (2, 4):
                other = self.summary_of(ranks, words, f"{name}-{ranks}")
                for key in ("models", "final_model", "accuracy"):
                    self.assertEqual(bits(other[key]), bits(first[key]), (name, ranks, key))
                self.assertEqual(bits(other["loss"]["mean"]), bits(first["loss"]["mean"]), (name, ranks))

    def test_images_are_told_apart(self):
        words = [*OPEN, "--source", write(self.folder / "bars.csv", bars(2000, 3)), "--test",
                 write(self.folder / "test.csv", bars(300, 4)), "--loss", "softmax:3", "--batch", "10", "--step", "0.05",
                 "--step-power", "0", "--model", "cnn:4-6-12"]
        found = self.summary_of(1, [*words, "--epochs", "4"], "cnn")
        self.assertGreater(found["accuracy"], 0.95)
        self.assertEqual(found["dimension"], 26 * 4 + 101 * 6 + 7 * 12 + 13 * 3)

    def test_starts_are_the_seeds_and_all_clients_own(self):
        words = [*OPEN, *self.quadrants(80), "--model", "mlp:2-8-2", "--rounds", "1", "--step", "1e-12"]
        found = [self.summary_of(2, [*words, "--seed", seed], f"seed-{seed}")["models"] for seed in ("1", "2")]
        again = self.summary_of(1, [*words, "--seed", "1"], "again")["models"]
        self.assertEqual(bits(found[0]), bits(again))
        self.assertNotEqual(found[0], found[1])
        for model in found[0]:
            self.assertLess(max(abs(a - b) for a, b in zip(model, found[0][0])), 1e-9)
            self.assertLess(max(map(abs, model[:24])), 2 ** -0.5)
            self.assertGreater(max(map(abs, model[:24])), 0.3)
        start = [[0.1 * k] * len(found[0][0]) for k in range(4)]
        write(self.folder / "start.csv", start)
        given = self.summary_of(1, [*words, "--start", "start.csv"], "given")["final_model"]
        for entry in given:
            self.assertAlmostEqual(entry, 0.15, places=9)

    def test_what_makes_no_sense_is_refused(self):
        source = write(self.folder / "two.csv", quadrants(80, 5))
        for words, expected in ((["--model", "mlp:3-8-2"], "3 inputs and the data have 2 features"),
                                (["--model", "mlp:2-8-3"], "3 outputs and the loss takes 2 scores"),
                                (["--model", "mlp:2-8-2", "--loss", "logistic"], "2 outputs and the loss takes 1 score"),
                                (["--model", "mlp:2"], "1 size"),
                                (["--model", "mlp"], "sizes"),
                                (["--model", "mlp:2--2"], "no size of a layer"),
                                (["--model", "mlp:2-0-2"], "size 0"),
                                (["--model", "mlp:2-x-2"], "'x' is no size"),
                                (["--model", "cnn:4-8"], "must be square"),
                                (["--model", "cnn:4"], "1 size"),
                                (["--model", "tree:4"], "linear, location, mlp, cnn"),
                                (["--model", "mlp:2-8-2", "--intercept"], "--intercept"),
                                (["--model", "mlp:2-8-2", "--regret", "static"], "not convex"),
                                (["--model", "mlp:2-8-2", "--mirror", "entropic"], "outside the domain"),
                                (["--model", "mlp:2-10000000-10000000-2"], "at most 200000000"),
                                (["--model", "mlp:2-8-2", "--clip", "1e-12"], "--precision double"),
                                (["--model", "mlp:2-8-2", "--ignore", "1", "--batch", "129", "--mechanism", "gaussian", "--epsilon", "1"],
                                 "--ignore with a network of floats and --batch 129"),
                                (["--model", "mlp:2-8-2", "--precision", "half"], "float, double"),
                                (["--precision", "double"], "without --model mlp or cnn"),
                                (["--model", "mlp:2-8-2", "--loss", "none"], "--loss none"),
                                (["--model", "mlp:2-8-2", "--constraint", "data:column=0,max=1"], "--constraint data")):
            loss = [] if "--loss" in words else ["--loss", "softmax:2"]
            result = self.run_ranks(1, [*OPEN, "--source", source, "--rounds", "5", *loss, *words, "--output", "refused"])
            self.assertEqual(result.code, 2, (words, result))
            self.assertEqual(len(result.messages()), 1, result)
            self.assertIn(expected, result.messages()[0])
            self.assertFalse((self.folder / "refused").exists())

    def test_a_record_beyond_floats_adds_nothing(self):
        rows = quadrants(80, 6)
        rows[41] = (1e39, 0.5, 1)
        words = [*OPEN, "--source", write(self.folder / "huge.csv", rows), "--loss", "softmax:2", "--model", "mlp:2-9-2"]
        summary = self.summary_of(1, words, "single")
        self.assertEqual(summary["rounds"], 20)
        self.assertTrue(any("1 times a record was out of range" in note for note in summary["notes"]), summary["notes"])
        self.assertEqual(self.summary_of(1, [*words, "--precision", "double", "--step", "1e-90"], "double")["rounds"], 20)


if __name__ == "__main__":
    unittest.main()
