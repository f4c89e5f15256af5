"""The experiments on renewable estimation run to their end; small ones find what they are known to find."""

import csv
import random
import subprocess
import sys
import unittest

from experiment_case import Experiment
from harness import *


class Tables(Experiment):
    def test_each_runs_from_its_file(self):
        expected = {1: (10, 51, 0.90), 2: (50, 21, 0.79), 3: (50, 21, 0.70)}
        for table, (clients, dimension, least) in expected.items():
            with self.subTest(table):
                result = self.run_alone(["renewable", "--config", f"jobs/renewable-table{table}.ini", "--output",
                                         self.folder / f"run-{table}", "--json", "--progress", "off"], cwd=SOURCE)
                self.assertEqual(result.code, 0, result)
                summary = result.summary()
                self.assertEqual((summary["clients"], summary["rounds"], summary["dimension"]), (clients, 100, dimension))
                self.assertGreater(summary["metrics"]["balanced_accuracy"], least)

    def test_the_quick_columns(self):
        """Balanced cells have next to no spread: three runs tell."""
        printed = self.run_script("renewable.py", "--tables", "2", "--replications", 3)
        rows = {(row["setting"], row["ratio"], row["variant"]): row for row in self.rows("cells.csv")}
        self.assertEqual(len(rows), 24)
        for (setting, ratio, variant), row in rows.items():
            self.assertIn(row["ours"], printed)
            # At 4:1 a run's accuracy scatters by up to 0.3 points: three of them by 0.17.
            self.assertLess(abs(float(row["gap"])), 0.3 if ratio == "1/1" else 0.6, (setting, ratio, variant))
        self.expect_pictures("accuracy")

    def test_all_sections_in_few_batches(self):
        printed = self.run_script("renewable.py", "--batches", 3, "--replications", 1, "--test-records", 200)
        rows = self.rows("cells.csv")
        self.assertEqual([sum(row["table"] == name for row in rows) for name in ("1", "2", "3", "private", "safe", "penalty", "noise")],
                         [24, 24, 24, 24, 4, 16, 40])
        self.assertIn("masked - central", printed)
        self.assertIn("mu 0..0.3, sigma 0.1..1, 1/1, OnWP: printed 81.2, runs from", printed)

    def test_figures_in_few_batches(self):
        printed = self.run_script("renewable-figures.py", "--figures", "fig3,fig7,fig9", "--replications", 1, "--batches", 5,
                                  "--test-records", 2000)
        points = {(row["figure"], row["axis"], row["value"], row["method"]): float(row["accuracy"]) for row in self.rows("points.csv")}
        self.assertEqual(len(points), 4 * 4 * 5)
        for ratio in ("4", "8"):  # a free intercept follows the larger class
            self.assertGreater(points["fig7", "ratio", ratio, "OffWP"], points["fig7", "ratio", ratio, "OffNP"] + 1)
        self.assertEqual(len(self.rows("claims.csv")), 2 + 3 + 3)
        self.assertIn("OnWDP does not depend on delta", printed)
        self.expect_pictures("fig3-accuracy", "fig7-time", "fig9-epsilon-accuracy", "fig9-delta-time")

    def test_readings_of_its_tables(self):
        """In few batches; tables 1 and 2 have classes of one mean, so that one step is nearly the printed one all the same."""
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / "renewable-readings.py", "--output", self.folder / "out", "--replications", "2",
                               "--batches", "20", "--only", "one step;OnWP, from zero, lambda 0.1, full"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("OffWP: no reading fits tables 1 to 3 together", done.stdout)
        figures = {row["figure"]: float(row["mean"]) for row in self.rows("figures.csv")}
        self.assertAlmostEqual(figures["OffWP, one step of (16) from zero, p 20"], 76.5, delta=1)
        self.assertAlmostEqual(figures["OnWP, from zero, lambda 0.1, full, p 20"], 74.2, delta=1)
        self.assertEqual({row["reading"] for row in self.rows("readings.csv") if row["classifier"] == "OffWP"},
                         {f"one step of (16) from zero{u}{test}" for u in ("", ", U of the variance") for test in ("", ", test set 4:1")})

    def test_coverage_under_noise(self):
        """Few runs: all six cells are there, and cover more than 80 % together, where three standard errors are 12 points."""
        self.run_script("renewable-intervals.py", "--replications", 4)
        rows = self.rows("figures.csv")
        self.assertEqual(len(rows), 6)
        self.assertGreater(sum(float(row["mean"]) for row in rows) / 6, 80)

    def test_unknown_sections_are_named(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / "renewable.py", "--tables", "1,7"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("7 (known: 1, 2, 3, private, safe, penalty, noise)", done.stderr)


@unittest.skipUnless((DATA / "har_chest_uci287").exists(), "the data set har_chest_uci287 is not beside the project")
class MotionOrRest(Experiment):
    def test_windows(self):
        printed = self.run_script("renewable-har.py", "--kinds", "windows", "--seeds", 1)
        rows = {(row["q"], row["variant"]): row for row in self.rows("har.csv")}
        self.assertEqual(len(rows), 24)
        for q in ("0.01", "1", "100"):
            for variant in ("offline", "online"):
                row = rows[q, variant]
                self.assertGreater(float(row["accuracy"]), 87, (q, variant))
                self.assertGreater(float(row["recall"]), 65, (q, variant))
        self.assertIn("OnWDP", printed)
        self.expect_pictures("bars-windows")

    def test_raw_channels_tell_nothing(self):
        printed = self.run_script("renewable-har.py", "--kinds", "raw", "--seeds", 1, "--records", 2000)
        rows = {(row["q"], row["variant"]): row for row in self.rows("har.csv")}
        self.assertLess(float(rows["1", "offline"]["accuracy"]), 76)
        self.assertIn("always rest", printed)
        self.expect_pictures("bars-raw")

    def test_the_file_runs_as_it_is(self):
        result = self.run_alone(["renewable", "--config", "jobs/renewable-table4.ini", "--output", self.folder / "run", "--json",
                                 "--progress", "off"], cwd=SOURCE)
        self.assertEqual(result.code, 0, result)
        self.assertEqual((result.summary()["clients"], result.summary()["dimension"]), (15, 4))

    def test_missing_data_are_named(self):
        self.expect_missing_data("renewable-har.py")


class Harth(Experiment):
    """Made-up files with the columns, the rate and the labels of the public ones."""

    def test_own_copy(self):
        generator = random.Random(5)
        channels = [f"{sensor}_{axis}" for sensor in ("back", "thigh") for axis in "xyz"]
        data = self.folder / "harth"
        data.mkdir()
        for k, name in enumerate(("S006", "S008", "S029")):
            with open(data / f"{name}.csv", "w", newline="") as file:
                rows = csv.writer(file)
                rows.writerow([*([""] if k == 1 else []), "timestamp", *channels, "label"])
                for i, label in enumerate([1, 6, 7, 130, 8, 14, 7, 3] * 4):
                    spread = 0.6 if label in (1, 3, 14) else 0.05
                    for j in range(100):
                        values = [f"{generator.gauss(-0.9, spread):.4f}" for _ in channels]
                        rows.writerow([*([j] if k == 1 else []), "2019-01-12 00:00:00.000", *values, label])
        self.run_script("renewable-har.py", "--harth", data, "--seeds", 1)
        rows = {(row["q"], row["variant"]): row for row in self.rows("har.csv")}
        self.assertEqual({row["kind"] for row in rows.values()}, {"harth"})
        self.assertGreater(float(rows["1", "offline"]["accuracy"]), 95)
        self.assertEqual(rows["1", "online"]["paper_accuracy"], "91.9")

    def test_missing_data_are_named(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / "renewable-har.py", "--starling", STARLING, "--harth", self.folder],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--harth FOLDER", done.stderr)


@unittest.skipUnless((DATA / "elec2").exists(), "the data set elec2 is not beside the project")
class DriftingStream(Experiment):
    def test_forgetting_helps(self):
        self.run_script("renewable-elec2.py")
        found = {(row["loss"], row["rho"]): float(row["progressive_accuracy"]) for row in self.rows("elec2.csv")}
        self.assertAlmostEqual(found["the larger class", ""], 57.55, places=2)
        for loss in ("dwd:1", "logistic"):
            self.assertGreater(found[loss, "1"], 61)
            self.assertGreater(found[loss, "0.9"], found[loss, "1"] + 2)
        self.expect_pictures("progressive")

    def test_missing_data_are_named(self):
        self.expect_missing_data("renewable-elec2.py")


class Cost(Experiment):
    def figures(self):
        self.run_script("renewable-cost.py", "--batches", 30000, "--repetitions", 1)
        return {(row["figure"], row["case"]): float(row["ours"]) for row in self.rows("cost.csv")}

    def test_time_and_memory(self):
        # Growth with b would make this tens each time; a busy machine not often.
        for _ in range(3):
            rows = self.figures()
            growth = rows["time per batch, last tenth / first tenth", "b = 30000"]
            if growth < 10:
                break
        self.assertLess(growth, 10)
        few, many = (rows["bytes beyond the program's own", f"p = 500, b = {b}"] for b in (10, 100))
        self.assertLess(many, 2 * few + 4e6)
        self.expect_pictures("batches")


if __name__ == "__main__":
    unittest.main()
