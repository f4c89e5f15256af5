"""The R example: it reads a run, predicts what `starling predict` does, and fits beside it."""

import csv
import shutil
import subprocess
import unittest

from harness import *

SCRIPT = SOURCE / "examples" / "r" / "read_run.R"
RSCRIPT = shutil.which("Rscript")


def has_rhdf5():
    return RSCRIPT is not None and subprocess.run([RSCRIPT, "-e", "library(rhdf5)"], capture_output=True).returncode == 0


@unittest.skipUnless(has_rhdf5(), "R or its package rhdf5 is not installed")
class ReadRun(TestCase):
    def numbers(self, name, column):
        with open(self.folder / name) as file:
            return [float(row[column]) for row in csv.DictReader(file)]

    def learn(self, run, words):
        self.good(1, ["--source", "data.csv", "--clients", 4, "--intercept", *words, "--mechanism", "gaussian", "--epsilon", 2, "--output", run])

    def script(self, run):
        return subprocess.run([RSCRIPT, str(SCRIPT), run, "data.csv", "y"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)

    def test_predicts_what_the_program_predicts(self):
        self.write("data.csv", "\n".join(["a,blood pressure,c,y", *csv_rows(400)]) + "\n")
        self.write("constants.csv", "feature,mean,sd\na,0.1,0.6\nblood pressure,0,0.7\nc,0,0.7\n")
        self.write("ranges.csv", "feature,low,high\na,-0.5,0.6\nblood pressure,-0.3,0.7\nc,0,0.7\n")
        for run, words in (("standardised", ["--standardise", "constants.csv"]), ("clipped", ["--ranges", "ranges.csv"]), ("scaled", ["--scale", "0.5"])):
            with self.subTest(run):
                self.learn(run, words)
                done = self.script(run)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(self.run_alone(["predict", run, "--source", "data.csv", "--output", f"{run}.csv"]).code, 0)
                for column, ours in (("score", "score"), ("probability", "probability_1")):
                    for a, b in zip(self.numbers(f"{run}/predictions-r.csv", column), self.numbers(f"{run}.csv", ours), strict=True):
                        self.assertAlmostEqual(a, b, delta=1e-12)
                self.assertIn("without_privacy", done.stdout)

    def test_stops_on_what_it_does_not_prepare(self):
        self.write("data.csv", "\n".join(["a,b,c,y", *csv_rows(400)]) + "\n")
        self.learn("gaps", ["--missing", "zero"])
        done = self.script("gaps")
        self.assertNotEqual(done.returncode, 0, done)
        self.assertIn("missing values (--missing): not handled here", done.stderr)
        self.assertFalse((self.folder / "gaps/predictions-r.csv").exists())

    def test_shows_intervals(self):
        self.write("data.csv", "\n".join(["a,b,c,y", *csv_rows(800)]) + "\n")
        self.assertEqual(self.run_alone(["infer", "--source", "data.csv", "--loss", "logistic", "--clients", 2, "--mechanism", "none",
                                         "--progress", "off", "--output", "run"]).code, 0)
        done = self.script("run")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("random-scaling", done.stdout)


if __name__ == "__main__":
    unittest.main()
