"""Survival as discrete hazards: records of intervals, hazard ratios beside Cox's, survival curves with bands, privacy of persons."""

import csv
import io
import math
import shutil
import subprocess
import sys

import numpy as np

from harness import *

draw_pictures()

TRUE = {"age": 0.03, "treated": -0.5, "marker": 0.4}
ENDS = [1, 2, 3, 4, 6, 8, 10, 12, 15, 20]


def cox(x, time, event):
    """The maximum of the partial likelihood (Cox 1972; ties by Breslow), by Newton steps."""
    order = np.argsort(-time, kind="stable")
    x, time, event = x[order], time[order], event[order]
    last = np.searchsorted(-time, -time, side="right") - 1  # of those with the same time, who all are at risk
    theta = np.zeros(x.shape[1])
    for _ in range(30):
        risk = np.exp(x @ theta)
        s0 = np.cumsum(risk)[last]
        s1 = np.cumsum(risk[:, None] * x, axis=0)[last]
        s2 = np.cumsum(risk[:, None, None] * x[:, :, None] * x[:, None, :], axis=0)[last]
        mean = s1 / s0[:, None]
        gradient = (event[:, None] * (x - mean)).sum(0)
        information = (event[:, None, None] * (s2 / s0[:, None, None] - mean[:, :, None] * mean[:, None, :])).sum(0)
        theta = theta + np.linalg.solve(information, gradient)
    return theta, np.sqrt(np.diag(np.linalg.inv(information)))


class Survival(TestCase):
    CLIENTS = 4

    def setUp(self):
        super().setUp()
        draw = np.random.default_rng(7)
        n = 3000
        self.x = np.column_stack([draw.normal(60, 10, n).round(2), draw.integers(0, 2, n), draw.normal(0, 1, n).round(3)])
        score = (self.x - [60, 0.5, 0]) @ list(TRUE.values())
        own = 10 * (draw.exponential(1, n) / np.exp(score)) ** (1 / 1.3)
        end = draw.uniform(2, 30, n)
        self.time, self.event = np.minimum(own, end).round(3), (own <= end).astype(int)
        for k in range(self.CLIENTS):
            with open(self.folder / f"site-{k}.csv", "w") as file:
                lines = csv.writer(file)
                lines.writerow([*TRUE, "years", "died"])
                lines.writerows([*row, time, event] for row, time, event in
                                zip(self.x[k::self.CLIENTS], self.time[k::self.CLIENTS], self.event[k::self.CLIENTS]))
        self.write("ends.txt", "\n".join(map(str, ENDS)) + "\n")

    def convert(self):
        return self.succeeded(self.run_alone(["data", "convert", "site-{client}.csv", "--clients", self.CLIENTS, "--survival", "years,died", "--intervals",
                                              "ends.txt", "--output", "rows-{client}.csv"]))

    def learn(self, command, *words):
        return self.succeeded(self.run_alone([command, "--clients", self.CLIENTS, "--source", "rows-{client}.csv", "--loss", "hazard", *words,
                                              "--progress", "off", "--output", "run"]))

    def table(self):
        done = self.succeeded(self.run_alone(["report", "run", "--coefficients", "csv"]))
        return {row["name"]: row for row in csv.DictReader(io.StringIO(done.out))}

    def curve(self, profile):
        text = self.succeeded(self.run_alone(["report", "run", "--survival", profile])).out
        rows = [line.split() for line in text.splitlines() if line[:3] == "  " + line[2:3] and line[2:3].isdigit()]
        return text, np.array(rows, float)

    def test_hazard_ratios_and_curve(self):
        """Hazard ratios are Cox's within 5 % and have its errors; bands hold the true curve of a person."""
        done = self.convert()
        self.assertIn(f"persons: {len(self.time)} with", done.out)
        self.learn("renewable", "--drop", "person", "--mechanism", "none", "--batch", 300)
        table = self.table()
        fit, errors = cox(self.x, self.time, self.event)
        for name, theta, error in zip(TRUE, fit, errors):
            self.assertLess(abs(float(table[name]["ratio"]) / math.exp(theta) - 1), 0.05, name)
            self.assertLess(abs(float(table[name]["estimate"]) - theta), error, name)
            self.assertLess(abs(float(table[name]["standard_error"]) / error - 1), 0.1, name)
        self.assertIn("hazard ratio", self.succeeded(self.run_alone(["report", "run", "--coefficients"])).out)
        text, rows = self.curve("age=60,treated=1,marker=0.5")
        self.assertIn("age=60, treated=1, marker=0.5", text)
        self.assertEqual(list(rows[:, 0]), ENDS)
        scores = [float(table["intercept"]["estimate"]) + 60 * float(table["age"]["estimate"]) + float(table["treated"]["estimate"]) +
                  0.5 * float(table["marker"]["estimate"]) +
                  (float(table[f"years:{ENDS[j - 1]}..{ENDS[j]}"]["estimate"]) if j else 0) for j in range(len(ENDS))]
        survival = np.exp(-np.cumsum(math.log(2) * np.exp(scores)))
        np.testing.assert_allclose(rows[:, 2], survival, atol=6e-5)
        np.testing.assert_allclose(rows[:, 1], 1 - np.exp(-math.log(2) * np.exp(scores)), atol=6e-5)
        true = np.exp(-(np.array(ENDS) / 10) ** 1.3 * math.exp(-0.25 + 0.2))
        self.assertTrue(np.all(rows[:, 3] < rows[:, 2]) and np.all(rows[:, 2] < rows[:, 4]))
        self.assertGreater(np.mean((rows[:, 3] <= true + 0.01) & (true - 0.01 <= rows[:, 4])), 0.8)
        self.assertLess(np.max(rows[:, 4] - rows[:, 3]), 0.12)
        if shutil.which("gnuplot"):
            self.assertIn("probability of no event", (self.folder / "run" / "survival.svg").read_text())

    def test_probabilities(self):
        """Untuned runs learn hazards; predictions are probabilities of an event in the interval, and metrics are of them."""
        self.convert()
        self.learn("omd", "--drop", "person", "--mechanism", "none", "--test", "rows-0.csv", "--tuning", "auto")
        table = self.table()
        fit, _ = cox(self.x, self.time, self.event)
        for name, theta in zip(TRUE, fit):
            self.assertLess(abs(float(table[name]["ratio"]) / math.exp(theta) - 1), 0.1, name)
        with open(self.folder / "rows-0.csv") as file:
            rows = list(csv.DictReader(file))
        scores = np.array([float(table["intercept"]["estimate"]) + sum(float(table[name]["estimate"]) * float(row[name]) for name in table
                                                                       if name != "intercept") for row in rows])
        event = np.array([float(row["y"]) for row in rows])
        probability = 1 - np.exp(-math.log(2) * np.exp(scores))
        predicted = self.succeeded(self.run_alone(["predict", "run", "--source", "rows-0.csv"])).out
        ours = [float(row["probability_1"]) for row in csv.DictReader(io.StringIO(predicted))]
        np.testing.assert_allclose(ours, probability, rtol=1e-6)
        with open(self.folder / "run" / "summary.json") as file:
            metrics = json.load(file)["metrics"]["test"]
        self.assertAlmostEqual(metrics["log_loss"], -np.mean(np.where(event == 1, np.log(probability), np.log1p(-probability))), delta=1e-6)
        self.assertAlmostEqual(metrics["brier"], np.mean((event - probability) ** 2), delta=1e-6)
        self.assertIn("Bands: none", self.curve("baseline")[0])

    def test_persons(self):
        """Persons are protected as a whole: a batch is of persons, and the sum of a person's gradients is clipped."""
        self.convert()
        private = ["--mechanism", "gaussian", "--delta", 1e-5, "--noise-key", "seed", "--unit", "person", "--person", "person"]
        words = ["omd", "--clients", self.CLIENTS, "--source", "rows-{client}.csv", "--loss", "hazard", *private]
        self.complains(self.run_alone([*words, "--epsilon", 1]), 2, "--person-gradient sum")
        self.learn("omd", *private, "--person-gradient", "sum", "--total-epsilon", 8, "--tuning", "auto")
        table = self.table()
        self.assertNotIn("person", table)
        self.assertGreater(float(table["age"]["estimate"]), 0.01)
        self.assertLess(float(table["treated"]["estimate"]), 0)
        _, rows = self.curve("baseline")
        self.assertTrue(np.all(np.diff(rows[:, 2]) < 0))

    def release(self, output, *words, client=0):
        return self.run_alone(["data", "convert", f"site-{client}.csv", "--survival", "years,died", "--intervals", "quantiles-released", "--epsilon", 1,
                               "--longest-time", 32, "--interval-count", 4, "--output", output, *words])

    def test_released_intervals(self):
        """Ends are quantiles of the times of events; their price stands in the ledger, and later runs count it."""
        done = self.succeeded(self.release("rows-2.csv", "--ledger", "ledger-2", "--ledger-client", 2, "--write-intervals", "ends.txt", "--force", client=2))
        self.assertIn("price: epsilon 1 a person", done.out)
        ends = [float(end) for end in (self.folder / "ends.txt").read_text().split(",")]
        self.assertEqual(len(ends), 4)
        own = self.time[2::self.CLIENTS][self.event[2::self.CLIENTS] == 1]
        for j, end in enumerate(ends):  # a deviation of half the noise of all, 11 of some 550 events, is 2 % of them; 5 deviations here
            self.assertLess(abs(np.mean(own <= end) - 0.95 * (j + 1) / 4), 0.1 + 0.05, ends)
        spent = json.loads(self.succeeded(self.run_alone(["privacy", "ledger", "ledger-2", "--json"])).out)
        self.assertEqual([(each["unit"], each["mechanism"], each["finished"]) for each in spent["runs"]], [("person", "laplace", True)])
        self.assertAlmostEqual(spent["losses"][0]["person"]["epsilon"], 1, delta=1e-6)
        self.assertEqual(spent["losses"][0]["client"], 2)
        self.complains(self.release("again.csv", "--ledger", "ledger-2", "--write-intervals", "ends.txt"), 2, "costs as much again")
        self.convert_rest("ends.txt")
        words = ["omd", "--clients", self.CLIENTS, "--source", "rows-{client}.csv", "--loss", "hazard", "--mechanism", "gaussian", "--delta", 1e-5, "--unit",
                 "person", "--person", "person", "--person-gradient", "sum", "--ledger", "ledger-{client}", "--budget", 2, "--budget-unit", "record", "--batch", 250]
        self.complains(self.run_alone([*words, "--total-epsilon", 1.5, "--output", "dear"]), 4, "earlier releases in the ledger have spent")
        self.succeeded(self.run_alone([*words, "--total-epsilon", 0.9, "--output", "run"]))

    def convert_rest(self, ends):
        for k in set(range(self.CLIENTS)) - {2}:
            self.succeeded(self.run_alone(["data", "convert", f"site-{k}.csv", "--survival", "years,died", "--intervals", ends, "--output", f"rows-{k}.csv"]))

    def test_releases_that_are_refused(self):
        write = ["--write-intervals", "ends-2.txt"]
        self.complains(self.release("x.csv", *write), 2, "--ledger")
        self.complains(self.release("x.csv", "--ledger", "ledger"), 2, "--write-intervals")
        self.complains(self.release("x.csv", *write, "--ledger", "ledger-{client}"), 2, "one file")
        self.complains(self.release("x.csv", *write, "--ledger", "ledger", "--noise-key", "seed"), 2, "--noise-key seed")
        self.complains(self.run_alone(["data", "convert", "site-0.csv", "--survival", "years,died", "--intervals", "ends.txt", "--epsilon", 1, "--output",
                                       "x.csv"]), 2, "nothing is released")
        self.complains(self.release("x.csv", *write, "--ledger", "ledger", "--epsilon", 0.01), 2, "nothing was released")
        self.write("site-0.csv", "age,years,died\n" + "\n".join(f"50,{t},{t % 2}" for t in range(500)) + "\n50,-1,1\n")
        self.complains(self.release("x.csv", *write, "--ledger", "ledger"), 3, "below 0")
        self.assertFalse((self.folder / "ledger").exists(), "nothing is paid where nothing was released")
        self.assertFalse((self.folder / "x.csv").exists())

    def test_a_missing_time_is_refused_and_missing_features_are_not(self):
        self.write("ends.txt", "2,4\n")
        for time, code in (("5", 0), ("", 3)):
            self.write("site-0.csv", f"age,years,died\n50,3,1\n,{time},0\n")
            for missing in ("zero", "indicator"):
                done = self.run_alone(["data", "convert", "site-0.csv", "--survival", "years,died", "--intervals", "ends.txt", "--missing", missing, "--output",
                                       f"rows{code}-{missing}.csv"])
                self.assertEqual(done.code, code, done)
                if code:
                    self.assertIn("or missing", done.err)
        self.assertIn("\n1,0,0,0", (self.folder / "rows0-zero.csv").read_text(), "the age is 0")

    def test_layouts(self):
        """The same models on any ranks, under noise."""
        self.convert()
        words = ["omd", "--clients", self.CLIENTS, "--source", "rows-{client}.csv", "--loss", "hazard", "--drop", "person", "--mechanism", "gaussian", "--epsilon", 1,
                 "--delta", 1e-5, "--noise-key", "seed", "--batch", 500, "--clip", 1, "--step", 0.1, "--progress", "off", "--json-models"]
        runs = [self.succeeded(self.run_command(ranks, [*words, "--output", f"run-{ranks}"])) for ranks in layouts((1, 4, 2))]
        self.assertIn("a record for each interval, and one of them is protected", runs[0].err)
        models = [run.summary()["models"] for run in runs]
        for other in models[1:]:
            self.assertEqual(models[0], other)

    def test_the_job(self):
        """jobs/survival.py counts coverage; here it is run with few persons."""
        done = subprocess.run([sys.executable, SOURCE / "jobs" / "survival.py", "--starling", STARLING, "--runs", "2", "--persons", "1500"], capture_output=True,
                              text=True, cwd=self.folder, env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        for method in ("renewable", "infer"):
            self.assertRegex(done.stdout, rf"{method} +coverage (100|\d\d)\.\d %")

    def test_refusals(self):
        convert = ["data", "convert", "site-0.csv", "--output", "x.csv"]
        self.complains(self.run_alone([*convert, "--survival", "years,died"]), 2, "--intervals")
        self.complains(self.run_alone([*convert, "--survival", "years", "--intervals", "ends.txt"]), 2, "TIME,EVENT")
        self.complains(self.run_alone([*convert, "--survival", "days,died", "--intervals", "ends.txt"]), 2, "no column has this name")
        self.write("ends.txt", "3,2\n")
        self.complains(self.run_alone([*convert, "--survival", "years,died", "--intervals", "ends.txt"]), 2, "must ascend")
        self.write("ends.txt", "1,2,5\n")
        for words in (["--scale", "1/100"], ["--standardise", "values:0/1"], ["--ranges", "r.csv"]):  # they would change the times
            self.complains(self.run_alone([*convert, "--survival", "years,died", "--intervals", "ends.txt", *words]), 2, "times would change")
        self.convert()
        for command in ("omd", "renewable"):  # a number of a person is no feature
            self.complains(self.run_alone([command, "--clients", self.CLIENTS, "--source", "rows-{client}.csv", "--loss", "hazard", "--mechanism", "none",
                                           "--output", "numbers"]), 2, "'person' as a feature.*--drop person")
        self.complains(self.run_alone(["infer", "--clients", self.CLIENTS, "--source", "rows-{client}.csv", "--loss", "hazard", "--drop", "person",
                                       "--mechanism", "gaussian", "--epsilon", 1]), 2, "steps with noise")
        self.learn("omd", "--drop", "person", "--mechanism", "none", "--tuning", "off", "--step", 0.1)
        self.complains(self.run_alone(["report", "run", "--survival", "height=2"]), 2, "height")
        self.complains(self.run_alone(["report", "run", "--survival", "age"]), 2, "NAME=VALUE")
        self.succeeded(self.run_alone(["omd", "--clients", self.CLIENTS, "--source", "site-{client}.csv", "--loss", "logistic", "--mechanism", "none",
                                       "--progress", "off", "--output", "other"]))
        self.complains(self.run_alone(["report", "other", "--survival", "baseline"]), 2, "no indicators of intervals")


if __name__ == "__main__":
    unittest.main()
