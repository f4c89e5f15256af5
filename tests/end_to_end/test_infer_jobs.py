"""The experiments on inference run to their end; small ones find what they are known to find."""

import subprocess
import sys
import unittest

from experiment_case import Experiment
from harness import *


class Files(Experiment):
    """Each file of settings, with few steps and replications."""

    def run_file(self, name, *words):
        result = self.run_alone(["infer", "--config", f"jobs/{name}.ini", "--output", self.folder / name, "--json", "--progress", "off",
                                 *words], cwd=SOURCE)
        self.assertEqual(result.code, 0, result)
        return result.summary()

    def test_studies(self):
        expected = {"infer-table1": (1, 4, {"random-scaling", "batch-means", "plug-in"}),
                    "infer-nonprivate": (1, 4, {"random-scaling", "batch-means", "plug-in"}),
                    "ldp-sgd-table1": (1, 3, {"random-scaling", "plug-in"}),
                    "infer-clients": (10, 4, {"random-scaling", "plug-in"}),
                    "infer-ring": (8, 4, {"random-scaling"}),
                    "infer-logistic": (1, 4, {"random-scaling"})}
        for name, (clients, dimension, methods) in expected.items():
            with self.subTest(name):
                summary = self.run_file(name, "--rounds", 1000, "--replications", 2, "--burn-in", 0)
                self.assertEqual((summary["clients"], summary["rounds"], summary["dimension"]), (clients, 1000, dimension))
                last = [cell for cell in summary["study"] if cell["steps"] == 1000]
                self.assertEqual({cell["method"] for cell in last}, methods)
                for cell in last:
                    self.assertEqual((cell["replications"], cell["level"]), (2, 0.95))
                    self.assertEqual(cell["records"], 1000 * clients * (10 if name == "infer-logistic" else 1))
                    self.assertGreater(cell["length"], 0)

    def test_the_paper_is_charged_what_its_noise_costs(self):
        notes = " ".join(self.run_file("ldp-sgd-table1", "--rounds", 1000, "--replications", 2)["notes"])
        # sqrt(2) for the gradients; with the matrices of plug-in intervals sqrt(3) times that.
        self.assertIn("mu = 2.44949 for a record in all", notes)

    def test_insurance(self):
        summary = self.run_file("infer-insurance", "--rounds", 20000)
        self.assertEqual((summary["rounds"], summary["dimension"]), (20000, 11))
        self.assertEqual([interval["name"] for interval in summary["intervals"]][:2], ["age", "gender"])


class Figures(Experiment):
    def test_all_in_few_steps(self):
        self.run_script("infer-figures.py", "--steps", 10000, "--replications", 4)
        self.assertEqual([row["figure"] for row in self.rows("claims.csv")], ["fig1"] + ["fig2"] * 3 + ["fig3"] * 4)
        self.assertEqual(len(self.rows("estimates.csv")), 2 * 4 * 4)
        self.assertEqual(len(self.rows("coverage.csv")), 2 * 2 * 10)
        steps = {int(row["steps"]) for row in self.rows("fig2.csv") if row["method"] == "plug-in"}
        self.assertGreater(len(steps), 50)
        self.expect_pictures("fig1", "fig1-boxes", "fig3")


class Tables(Experiment):
    def test_without_privacy(self):
        """Plug-in lengths hardly vary: a few replications tell."""
        printed = self.run_script("infer.py", "--tables", "paper", "--replications", 3, "--steps", 40000)
        rows = {(row["setting"], row["method"]): row for row in self.rows("cells.csv")}
        self.assertEqual(len(self.rows("cells.csv")), 45)
        self.assertIn("sqrt(2) mu-GDP", printed)
        # At 40,000 records (all rows, here): 1.09, 11.35 and 4.97.
        for setting, length in (("non-private", 1.09), ("paper's mu 1", 11.35), ("paper's mu 2", 4.97)):
            self.assertLess(abs(float(rows[setting, "plug-in"]["length"]) / length - 1), 0.03, setting)
        self.expect_pictures("coverage", "paper")

    def test_all_sections_in_few_steps(self):
        printed = self.run_script("infer.py", "--steps", 500, "--replications", 4)
        rows = self.rows("cells.csv")
        self.assertEqual([sum(row["table"] == name for row in rows) for name in ("table1", "paper", "clients", "pairs", "logistic")],
                         [18, 45, 9, 4, 4])
        self.assertTrue(all(row["replications"] == "4" for row in rows))
        for row in rows:
            self.assertIn(row["setting"], printed)
        self.expect_pictures("coverage")

    def test_equal_arguments_give_equal_figures(self):
        first, second = [], []
        for rows in (first, second):
            self.run_script("infer.py", "--tables", "clients", "--steps", 300, "--replications", 4)
            rows += self.rows("cells.csv")
        self.assertEqual(first, second)

    def test_unknown_sections_are_named(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / "infer.py", "--tables", "table1,7"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("7 (known: table1, paper, clients, pairs, logistic)", done.stderr)


class Intervals(Experiment):
    def test_few_steps_are_flagged(self):
        """700 steps from 0 to 1 are too few for 20 features, and for 3 under noise: nearly all runs say so."""
        for words in ([], ["--graph"]):
            printed = self.run_script("intervals.py", "--steps", 700, "--replications", 4, *words)
            self.assertIn("\n4 replications: ", "\n" + printed)
            rows = self.rows("intervals.csv")
            self.assertEqual(len(rows), 32)
            for row in rows:
                self.assertEqual((row["steps"], row["replications"], row["clients"]), ("700", "4", "8" if words else "1"))
                if row["features"] == "20" or row["condition"] == "1000":
                    self.assertEqual((row["not_settled"], row["verdict"]), ("4", "holds"), row)


class Regressions(Experiment):
    def test_premiums(self):
        printed = self.run_script("infer-real.py", "--data", self.folder, "--records", 50000)
        rows = {row["name"]: row for row in self.rows("insurance.csv")}
        self.assertEqual(len(rows), 12)
        # What least squares finds has a standard error of some 0.001 at this size, and the paper's are of 800,000.
        for name in ("age", "smoker", "medical_history", "coverage_level"):
            self.assertLess(abs(float(rows[name]["offline"]) - float(rows[name]["paper_offline"])), 0.005, name)
        self.assertLess(abs(float(rows["mean_squared_error"]["offline"]) - 0.0607), 0.003)
        self.assertIn("Incomes are left out", printed)
        rides = {(row["method"], row["name"]): row for row in self.rows("rides.csv")}
        self.assertEqual(len(rides), 2 * 7)
        for method in ("random-scaling", "plug-in"):
            self.assertGreater(float(rides[method, "distance"]["low"]), 0)
        self.expect_pictures("insurance", "insurance-plug-in")
        self.assertEqual(len(self.rows("insurance-plug-in.csv")), 11)

    @needs_a9a
    def test_incomes(self):
        self.run_script("infer-real.py", "--data", DATA / "a9a", "--records", 20000, "--seeds", 2)
        rows = self.rows("income.csv")
        self.assertEqual(len(rows), 2 * 2 * 5)
        self.assertEqual({row["name"] for row in rows},
                         {"married", "education_top", "capital_gain", "age_lowest", "intercept"})
        for row in rows:
            self.assertLess(float(row["low"]), float(row["high"]))
            if row["name"] == "married":
                self.assertGreater(float(row["estimate"]), 0.5)
        self.expect_pictures("income")


if __name__ == "__main__":
    unittest.main()
