"""Runs without noise whose options say nothing of scales: clients that are unequal, few and skewed, columns in their own units."""

import random
import unittest

import numpy

from harness import *

SIZES = (500, 110, 30, 9, 1)  # records of the clients
NAMES = "a,b,c,d,y"


def columns(draw, records):
    """Four columns in units and with offsets of their own, and the same standardised."""
    values = numpy.array([[draw.gauss(0, 1) for _ in range(4)] for _ in range(records)])
    values[:, 3] = numpy.exp(1.2 * values[:, 3])  # a long tail
    own = values * [1, 1e5, 1e-4, 30] + [0, 1e6, 0, 300]
    return own, (own - own.mean(axis=0)) / own.std(axis=0)


class Case(TestCase):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(11)
        self.own, self.standard = columns(self.draw, sum(SIZES))

    def write_clients(self, labels, order):
        """A file for each client: the records in this order, and SIZES of them each; and all of them in one file."""
        rows = ["".join(f"{value!r}," for value in map(float, self.own[i])) + f"{float(labels[i])!r}\n" for i in order]
        self.write("all.csv", NAMES + "\n" + "".join(rows))
        at = 0
        for client, size in enumerate(SIZES):
            self.write(f"own-{client}.csv", NAMES + "\n" + "".join(rows[at:at + size]))
            at += size

    def learned(self, *words, ranks=1, name="run"):
        words = [*words, "--clients", 5, "--source", "own-{client}.csv", "--test", "all.csv", "--mechanism", "none", "--progress", "off", "--json",
                 "--output", name]
        return self.succeeded(self.started(words) if ranks == 1 else self.run_command(ranks, [*words, "--tuning", "auto"])).summary()

    def started(self, words):
        """A run on one rank whose words are all that it is told."""
        return self.run_alone(words, as_they_are=True)


class Flags(TestCase):
    """Columns of 0 and 1, few of which are 1."""

    def test_coefficients_hold_for_them(self):
        """Clipping at five deviations would shorten the 1 of a flag of 1.5 %, and no coefficient would say what it does."""
        draw = numpy.random.default_rng(4)
        age, flag = draw.normal(50, 10, 6000), draw.random(6000) < 0.015
        ill = draw.random(6000) < 1 / (1 + numpy.exp(0.5 - (age - 50) / 10 - 1.5 * flag))
        self.write("all.csv", "age,flag,y\n" + "".join(f"{a:.2f},{f:d},{2 * y - 1:d}\n" for a, f, y in zip(age, flag, ill)))
        self.write("two.csv", "age,flag\n50,0\n50,1\n60,0\n")
        for name, privacy in (("open", ["--mechanism", "none"]),
                              ("private", ["--mechanism", "gaussian", "--total-epsilon", 1, "--delta", 1e-5, "--noise-key", "seed"])):
            self.succeeded(self.run_alone(["omd", "--clients", 3, "--source", "all.csv", *privacy, "--progress", "off", "--output", name],
                                          as_they_are=True))
            done = self.succeeded(self.run_alone(["report", name, "--coefficients", "csv"]))
            table = {row.split(",")[1]: float(row.split(",")[4]) for row in done.out.splitlines()[1:]}
            scores = [float(line.split(",")[1]) for line in self.succeeded(self.run_alone(["predict", name, "--source", "two.csv"])).out.splitlines()[1:]]
            self.assertAlmostEqual(table["flag"], scores[1] - scores[0], delta=1e-9)
            self.assertAlmostEqual(10 * table["age"], scores[2] - scores[0], delta=1e-9)
            # Three of its standard errors; histograms see zeros alone of the flag, and noise moves scores by some units.
            self.assertAlmostEqual(table["flag"], 1.5, delta=0.75 if name == "open" else 6)

    def test_missing_values_are_left_out_of_means(self):
        draw = numpy.random.default_rng(5)
        age = draw.normal(50, 10, 3000)
        rows = [f"{'' if draw.random() < 0.3 else round(a, 2)},{2 * (a + 10 * draw.normal() > 50) - 1}" for a in age]
        self.write("all.csv", "age,y\n" + "\n".join(rows) + "\n")
        known = [float(row.split(",")[0]) for row in rows if row[0] != ","]
        for rule in ("zero", "indicator"):
            self.succeeded(self.run_alone(["omd", "--clients", 3, "--source", "all.csv", "--mechanism", "none", "--missing", rule, "--progress", "off",
                                           "--output", rule], as_they_are=True))
            config = (self.folder / rule / "config.ini").read_text()
            mean, deviation, *_ = config.split("standardise = values:")[1].split(",")[0].split("\n")[0].split("/")
            self.assertAlmostEqual(float(mean), numpy.mean(known), delta=0.05)
            self.assertAlmostEqual(float(deviation), numpy.std(known), delta=0.01)


class Numbers(Case):
    """Labels that are numbers."""

    def setUp(self):
        super().setUp()
        noise = numpy.array([self.draw.gauss(0, 0.5) for _ in range(sum(SIZES))])
        self.labels = 1e3 * (5 + self.standard @ [1, -0.5, 0.3, 0.8] + noise)

    def explained(self, weights=None):
        """The share of variance that the least-squares fit to all records explains."""
        rows = numpy.hstack([self.standard, numpy.ones((len(self.labels), 1))])
        root = numpy.sqrt(numpy.ones(len(rows)) if weights is None else weights)
        fitted = rows @ numpy.linalg.lstsq(rows * root[:, None], self.labels * root, rcond=None)[0]
        return 1 - numpy.mean((self.labels - fitted) ** 2) / numpy.var(self.labels)

    def test_the_model_is_the_fit_to_all_records(self):
        orders = {"as they come": list(range(len(self.labels))), "by label": sorted(range(len(self.labels)), key=lambda i: self.labels[i])}
        for name, order in orders.items():
            self.write_clients(self.labels, order)
            for command in ("omd", "fedavg"):
                with self.subTest(records=name, command=command):
                    summary = self.learned(command, "--loss", "squared", name=f"{command}-{name[:2]}")
                    self.assertAlmostEqual(summary["metrics"]["test"]["r2"], self.explained(), delta=1e-5)

    def test_the_model_is_the_fit_to_all_clients(self):
        self.write_clients(self.labels, range(len(self.labels)))
        weights = numpy.concatenate([numpy.full(size, 1 / size) for size in SIZES])
        for command in ("omd", "fedavg"):
            summary = self.learned(command, "--loss", "squared", "--client-weights", "equal", name=command)
            self.assertAlmostEqual(summary["metrics"]["test"]["r2"], self.explained(weights), delta=1e-3)

    def test_a_penalty_is_that_of_all_records(self):
        self.write_clients(self.labels, range(len(self.labels)))
        rows, labels = self.standard, self.labels - self.labels.mean()
        fitted = rows @ numpy.linalg.solve(rows.T @ rows / len(rows) + 0.5 * numpy.eye(4), rows.T @ labels / len(rows))
        ridge = 1 - numpy.mean((labels - fitted) ** 2) / numpy.var(labels)
        for command in ("omd", "fedavg"):
            summary = self.learned(command, "--loss", "squared", "--l2", 0.5, name=command)
            self.assertAlmostEqual(summary["metrics"]["test"]["r2"], ridge, delta=1e-3)

    def test_labels_may_be_far_from_zero(self):
        self.labels += 1e6
        self.write_clients(self.labels, range(len(self.labels)))
        for loss in ("huber:1000", "absolute", "expectile:0.5,1000"):
            with self.subTest(loss):
                summary = self.learned("omd", "--loss", loss, name=loss.partition(":")[0])
                self.assertAlmostEqual(summary["metrics"]["test"]["r2"], self.explained(), delta=0.01)

    def test_labels_may_have_one_value(self):
        self.write_clients(numpy.zeros(len(self.labels)), range(len(self.labels)))
        for loss in ("squared", "huber:1"):
            self.assertLess(max(map(abs, self.learned("omd", "--loss", loss, name=loss[:5])["final_model"])), 1e-9)

    def test_ranks_change_nothing_and_the_choices_repeat_the_run(self):
        self.write_clients(self.labels, range(len(self.labels)))
        alone = self.learned("omd", "--loss", "squared", name="one")
        for ranks in (2, 4):
            self.assertEqual(self.learned("omd", "--loss", "squared", ranks=ranks, name=f"on-{ranks}")["metrics"], alone["metrics"])
        again = self.started(["omd", "--config", "one/config.ini", "--json", "--progress", "off", "--output", "again"])
        self.assertEqual(self.succeeded(again).summary()["metrics"], alone["metrics"])
        self.assertEqual(self.started(["score", "again", "--source", "all.csv"]).code, 0)

    def test_a_model_that_keeps_its_metrics_leaves_features_as_they_are(self):
        self.write_clients(self.labels, range(len(self.labels)))
        result = self.started(["omd", "--clients", 5, "--source", "own-{client}.csv", "--mechanism", "none", "--metrics", "local",
                                      "--loss", "huber:1", "--output", "run"])
        self.assertIn("--metrics local keeps their means and deviations", result.out + result.err)
        self.assertNotIn("tuning: standardise", result.err)
        self.assertIn("steps of one length may suit badly: features may have units of their own", result.err)


class Classes(Case):
    """Labels that are classes."""

    def test_no_scale_costs_accuracy(self):
        chances = 1 / (1 + numpy.exp(-2 * (self.standard @ [1, -1, 1, 0.5] - 0.5)))
        labels = [int(self.draw.random() < chance) for chance in chances]
        self.write_clients(labels, sorted(range(len(labels)), key=lambda i: labels[i]))
        best = numpy.mean((chances > 0.5) == (numpy.array(labels) == 1))
        for command in ("omd", "fedavg"):
            summary = self.learned(command, name=command)
            self.assertGreater(summary["metrics"]["test_accuracy"], best - 0.015)

    def test_records_whose_regret_is_measured_are_played_once(self):
        self.write_clients([int(value > 0) for value in self.standard[:, 0]], range(sum(SIZES)))
        many, once = self.learned("omd", name="many"), self.learned("omd", "--regret", "static", name="once")
        passes = [[each["value"] for each in summary["tuning"]["chosen"] if each["option"] == "epochs"] for summary in (many, once)]
        self.assertEqual(passes, [["525"], []])

    def test_the_model_is_the_fit_with_the_penalty_of_one_record(self):
        """That of scikit-learn's logistic regression, whose constant has no penalty."""
        from sklearn.linear_model import LogisticRegression
        chances = 1 / (1 + numpy.exp(-2 * (self.standard @ [1, -1, 1, 0.5] - 0.5)))
        labels = numpy.array([int(self.draw.random() < chance) for chance in chances])
        self.write_clients(labels, sorted(range(len(labels)), key=lambda i: labels[i]))
        fit = LogisticRegression(tol=1e-9).fit(self.standard, labels)
        fitted = numpy.append(fit.coef_[0], fit.intercept_)
        for command in ("omd", "fedavg"):
            alone = self.learned(command, name=command)
            numpy.testing.assert_allclose(alone["final_model"], fitted, atol=0.03)
            self.assertEqual(self.learned(command, ranks=2, name=f"{command}-2")["final_model"], alone["final_model"])
        free = self.learned("omd", "--l2", 0, name="free")["final_model"]
        self.assertGreater(numpy.linalg.norm(free), numpy.linalg.norm(fitted))

    def test_a_network_learns_what_no_line_tells(self):
        labels = [int(a * b > 0) for a, b, *_ in self.standard]
        self.write_clients(labels, sorted(range(len(labels)), key=lambda i: labels[i]))
        for command in ("omd", "fedavg"):
            summary = self.learned(command, "--model", "mlp:4-16-1", name=command)
            self.assertGreater(summary["metrics"]["test_accuracy"], 0.9)

    def test_columns_of_one_value_are_dropped(self):
        self.own[:, 1] = 7e9
        self.write_clients([int(value > 0) for value in self.standard[:, 0]], range(sum(SIZES)))
        result = self.started(["omd", "--clients", 5, "--source", "own-{client}.csv", "--test", "all.csv", "--mechanism", "none", "--json",
                                      "--output", "run"])
        self.assertIn("or without a finite deviation, are dropped: b", result.err)
        self.assertGreater(self.succeeded(result).summary()["metrics"]["test_accuracy"], 0.97)


if __name__ == "__main__":
    unittest.main(verbosity=2)
