"""jobs/learning.py and jobs/scales.py on small data: tables and pictures are there, what is missing is named, and bad data end them."""

import gzip
import random
import subprocess
import sys
from types import SimpleNamespace

from experiment_case import Experiment
from harness import *

sys.path.insert(0, str(SOURCE / "jobs"))
import experiment  # noqa: E402
import learning  # noqa: E402
import tables  # noqa: E402
from learning_sets import SETS, DataSet  # noqa: E402


def row(variant, epsilon, found, least=None, expected=None, larger=76.4):
    """A line of learning.csv."""
    return {"data": "a9a", "variant": variant, "epsilon": epsilon, "epsilon_paid": epsilon, "runs": 1 if least is None else 5,
            "mean": found, "least": found if least is None else least, "expected_mean": expected and expected[0],
            "expected_least": expected and expected[1], "larger_class": larger, "norm": 3.9}


class Learning(Experiment):
    def start(self, *words):
        return subprocess.run([sys.executable, "-B", SOURCE / "jobs" / "learning.py", "--starling", STARLING, "--data",
                               self.folder, "--output", self.folder / "out", "--quick", *map(str, words)],
                              cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=300)

    def write_a9a(self, label=lambda score: "+1" if score > 0 else "-1"):
        """Small files in the form of a9a: three of 123 features are 1."""
        draw = random.Random(1)
        (self.folder / "a9a").mkdir()
        for name, count in (("a9a.gz", 800), ("a9a.t.gz", 200)):
            with gzip.open(self.folder / "a9a" / name, "wt") as file:
                for _ in range(count):
                    there = sorted(draw.sample(range(1, 124), 3))
                    file.write(" ".join([label(62 - there[1]), *(f"{k}:1" for k in there)]) + "\n")

    def test_a_made_set(self):
        printed = self.run_script("learning.py", "--quick", "--only", "isotropic-20,rule,passes")
        lines = {(line["variant"], line["epsilon"]): line for line in self.rows("learning.csv")}
        self.assertEqual(set(lines), {(variant, epsilon) for variant in ("rule", "passes") for epsilon in ("1", "")})
        for (variant, epsilon), line in lines.items():
            accuracy = float(line["mean"])
            self.assertGreater(accuracy, 75 if epsilon == "" else 55, (variant, epsilon))
            self.assertIn(f"{accuracy:.1f}", printed)
            # The total is what was asked for, whatever a pass costs.
            if epsilon:
                self.assertAlmostEqual(float(line["epsilon_paid"]), 1, places=6)
        self.assertAlmostEqual(float(lines["rule", "1"]["norm"]), 21 ** 0.5, delta=0.2)
        table = (self.folder / "out" / "learning.md").read_text()
        self.assertIn("| data | variant | 1 | none |", table)
        self.assertIn(learning.TITLES["passes"], table)
        self.expect_pictures("learning")

    def test_models_in_few_bits(self):
        self.write_a9a()
        printed = self.run_script("precision.py", "--data", self.folder, "--only", "a9a", "--runs", "1", "--clients", "4")
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("| a9a")]
        self.assertEqual([row[1] for row in rows], 6 * ["omd"] + 6 * ["fedavg"])
        for row in rows:
            fewer_bytes = {"double": 1, "float32": 2, "float16": 3.8, "bits:8": 6.9, "bits:6": 8.9, "bits:4": 12.5}[row[2]]
            self.assertAlmostEqual(float(row[3]), fewer_bytes, delta=0.06 * fewer_bytes)
            self.assertGreater(float(row[4]), 45)

    def test_a_set_of_numbers(self):
        self.run_script("learning.py", "--quick", "--only", "linear-20,passes")
        lines = {line["epsilon"]: line for line in self.rows("learning.csv")}
        self.assertEqual(set(lines), {"1", ""})
        self.assertGreater(float(lines[""]["mean"]), 45)  # of 50 % that can be explained
        self.assertEqual(float(lines[""]["larger_class"]), 0)
        self.assertNotIn("larger class", (self.folder / "out" / "learning.md").read_text())

    def test_files_are_read_and_missing_ones_are_named(self):
        self.write_a9a()
        done = self.start("--only", "a9a,elec2,pairs,alone")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({(line["variant"], line["epsilon"]) for line in self.rows("learning.csv")}, {("pairs", "1"), ("alone", "")})
        self.assertIn("left out: elec2, since there is no ", done.stderr)
        self.assertIn("elec2_data.dat.gz", done.stderr)
        self.assertEqual({line["data"] for line in self.rows("learning.csv")}, {"a9a"})

    def test_nothing_there(self):
        done = self.start("--only", "a9a,elec2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("left out: a9a", done.stderr)
        self.assertIn("nothing to run", done.stderr)

    def test_bad_data_are_refused(self):
        self.write_a9a(label=lambda score: "many")
        done = self.start("--only", "a9a,rule")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'many' where a number should stand", done.stderr)
        (self.folder / "a9a" / "a9a.gz").write_bytes(b"no gzip file")
        done = self.start("--only", "a9a,rule")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a9a.gz cannot be read", done.stderr)

    def test_unknown_words_are_named(self):
        done = self.start("--only", "a9a,iris")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--only iris: unknown (sets: a9a, ", done.stderr)


class Tables(TestCase):
    def test_every_expectation_is_of_a_case_that_runs(self):
        for name, variant in learning.EXPECTED:
            self.assertIn(name, SETS)
            self.assertIn(variant, learning.TITLES)
        for name in SETS:
            self.assertLessEqual(set(learning.variants_of(name)), set(learning.TITLES))

    def test_norms_and_the_larger_class(self):
        data = DataSet(["--intercept"], [[3, 4], [0, 0], [1, -1]], [1, -1, -1, -1])
        self.assertAlmostEqual(data.norm, 3 ** 0.5)
        self.assertAlmostEqual(data.norm_l1, 3)
        self.assertEqual(data.larger_class, 75)

    def test_cells(self):
        lines = [row("rule", 1, 84.02, least=83.7, expected=(84.2, 83.8)), row("rule", None, 85), row("laplace", 1, 82.7)]
        table = list(learning.table(lines, (1, None)))
        self.assertEqual(table[0], "| data | variant | 1 | none |")
        self.assertEqual(table[2], "| a9a, 5 clients (larger class 76.4, norm 3.9) | the rule, one pass "
                                   "| 84.0/83.7 (84.2/83.8) | 85.0 |")
        self.assertEqual(table[3], "|  | the rule, Laplace (pure) | 82.7 |  |")

    def test_disappointments(self):
        lines = [row("rule", 1, 83.6, expected=(84.2, 83.8)), row("rule", 3, 84.5, expected=(84.8, 84.6)),
                 row("passes", 0.1, 70), row("0.1.0", 1, 50, expected=(68.4, 63.3))]
        self.assertEqual(list(learning.disappointments(lines)),
                         ["a9a, the rule, one pass, epsilon 1: 83.6, 0.6 below what was expected",
                          "a9a, the rule, 16 passes, epsilon 0.1: 70.0, no better than the larger class (76.4)"])


class Scales(Experiment):
    def test_a_made_set(self):
        printed = self.run_script("scales.py", "--quick", "--only", "units")
        found = {line["variant"]: float(line["mean"]) for line in self.rows("scales.csv")}
        self.assertEqual(list(found), ["as-is", "rms", "sd", "released", "public"])
        self.assertGreater(found["public"], found["as-is"])
        self.assertIn(f"| {found['public']:.1f} |", printed)

    def test_nothing_there(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / "scales.py", "--starling", STARLING, "--data", self.folder,
                               "--tables", self.folder, "--only", "elec2,fair"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        for missing in ("left out: elec2", "left out: fair", "fair.csv", "nothing to run"):
            self.assertIn(missing, done.stderr)


class SmallTables(TestCase):
    @staticmethod
    def cell(table, epsilon, found, allowed, kind="two", enough=True):
        return {"table": table, "epsilon": epsilon, "mean": found, "allowed": allowed, "kind": kind, "enough": enough, "runs": 3, "warned": 2}

    def test_runs_without_noise_have_nothing_to_share(self):
        options = SimpleNamespace(feature_share=0.2, score_share=0, trust="pairs")
        self.assertEqual(tables.price_of(options, None), ["--mechanism", "none", "--score-share", 0])
        self.assertEqual(tables.price_of(options, 1)[6:], ["--trust", "pairs", "--feature-share", 0.2, "--score-share", 0])

    def test_cells_beside_their_bracket(self):
        lines = [self.cell("pima", 1, 68, 73), self.cell("wine", 1, 30, 80, enough=False), self.cell("ames", 1, 73, 82.5, "numbers"),
                 self.cell("pima", 3, 70.9, 74), self.cell("iris", 3, 90, 80), self.cell("pima", 0.3, 10, 80)]
        released = list(tables.beside_the_bracket(lines, "released"))
        self.assertIn("6 points of the bracket, or 10 of explained variance, at epsilon 1, of 2 cells: 2 are", released[0])
        self.assertTrue(released[1].endswith("at epsilon 3, of 2 cells: 1 are. Not pima 71 [74]"), released[1])
        self.assertEqual(released[2], "cells whose constants cannot be paid for: 1, of whose 3 runs 2 named --ranges before they began")
        given = list(tables.beside_the_bracket(lines, "ranges"))
        self.assertTrue(given[0].endswith("of 3 cells: 0 are. Not pima 68 [73], wine 30 [80], ames 73 [82]"), given[0])
        self.assertEqual(len(given), 2)


class Prices(TestCase):
    def test_prices(self):
        mu = experiment.privacy(STARLING, "calibrate", epsilon=1, delta=1e-5)["mu"]
        self.assertAlmostEqual(mu, 0.268051, delta=1e-6)
        self.assertAlmostEqual(experiment.privacy(STARLING, "spend", mu=mu, delta=1e-5)["epsilon"], 1, delta=1e-9)
        with self.assertRaisesRegex(RuntimeError, "--delta"):
            experiment.privacy(STARLING, "spend", mu=mu, delta=2)


if __name__ == "__main__":
    unittest.main()
