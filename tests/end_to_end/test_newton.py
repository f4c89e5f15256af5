"""starling infer by Newton's rounds: the estimate and intervals against a plain solution, on any number of ranks, after a kill,
with clients that are unequal, few and skewed, with noise of clients and of pairs, and where the records do not suffice."""

import csv
import math
import random
import signal
import unittest

import numpy

from harness import *

UNUSABLE, UNREADABLE, UNAFFORDABLE = 2, 3, 4
SIZES = (500, 110, 30, 9, 1)
NAMES = "a,b,c,y"
CLEAR = ["--mechanism", "none"]
NOISY = ["--mechanism", "gaussian", "--noise-key", "seed"]


def solution(rows, labels, loss, bend=1.345):
    """(estimate, standard errors) of a minimum by Newton's method with halved steps, and HC1."""
    x = numpy.hstack([rows, numpy.ones((len(rows), 1))])
    scale = numpy.sqrt((x**2).mean(axis=0))
    x = x / scale
    n, d = x.shape

    def parts(theta):
        scores = x @ theta
        if loss == "logistic":
            chances = 1 / (1 + numpy.exp(-scores))
            return chances - labels, chances * (1 - chances)
        errors = scores - labels
        if loss == "squared":
            return errors, numpy.ones(n)
        return numpy.clip(errors, -bend, bend), (abs(errors) < bend) * 1.0

    theta = numpy.zeros(d) if loss == "logistic" else numpy.linalg.lstsq(x, labels, rcond=None)[0]
    for _ in range(100 if loss == "huber" else 0):  # weighted least squares cannot run away
        weights = numpy.minimum(1, bend / numpy.maximum(abs(x @ theta - labels), 1e-12))
        theta = numpy.linalg.solve((x.T * weights) @ x, (x.T * weights) @ labels)
    for _ in range(200):
        slopes, curvatures = parts(theta)
        step = numpy.linalg.solve((x.T * curvatures) @ x, x.T @ slopes)
        length = numpy.linalg.norm(x.T @ slopes)
        factor = 1.0
        while numpy.linalg.norm(x.T @ parts(theta - factor * step)[0]) > length * (1 + 1e-12) and factor > 1e-6:
            factor /= 2
        theta = theta - factor * step
        if numpy.linalg.norm(step) < 1e-13 * (1 + numpy.linalg.norm(theta)):
            break
    slopes, curvatures = parts(theta)
    bread = numpy.linalg.inv((x.T * curvatures) @ x)
    covariance = bread @ ((x.T * slopes**2) @ x) @ bread * n / (n - d)
    return theta / scale, numpy.sqrt(numpy.diag(covariance)) / scale


class Case(MethodCase):
    command = "infer"

    def clients(self, rows, labels, sizes=SIZES, order=None):
        """A file for each client: so many records in this order."""
        order = list(range(len(labels))) if order is None else order
        at = 0
        for client, size in enumerate(sizes):
            lines = ["".join(f"{float(value)!r}," for value in rows[i]) + f"{float(labels[i])!r}\n" for i in order[at:at + size]]
            self.write(f"own-{client}.csv", NAMES + "\n" + "".join(lines))
            at += size
        return ["--clients", len(sizes), "--source", "own-{client}.csv"]

    def estimated(self, words, output="run", ranks=1, tuning="auto"):
        return self.summary([*words, "--tuning", tuning], output, ranks)

    def spreads(self, summary):
        intervals = summary["intervals"]
        self.assertEqual({each["method"] for each in intervals}, {"plug-in"})
        return [each["estimate"] for each in intervals], [each["standard_error"] for each in intervals]


def columns(seed, count=sum(SIZES)):
    """Three columns in units of their own, and their standardised scores."""
    draw = numpy.random.default_rng(seed)
    plain = draw.normal(size=(count, 3))
    return plain * [1, 1e5, 1e-4] + [0, 2e5, 1e-3], plain, draw


class WithoutNoise(Case):
    """The usual estimate with robust standard errors, whatever the units and however records lie."""

    def check_near(self, summary, rows, labels, loss, tolerance=1e-6):
        estimate, errors = solution(rows, labels, loss)
        own, of_own = self.spreads(summary)
        numpy.testing.assert_allclose(own, estimate, rtol=tolerance, atol=tolerance * errors.max())
        numpy.testing.assert_allclose(of_own, errors, rtol=1e-4)
        self.assertIs(summary["settled"], True)

    def test_classes(self):
        rows, plain, draw = columns(1)
        labels = (draw.random(len(rows)) < 1 / (1 + numpy.exp(-plain @ [1, -0.5, 0.3] + 1))) * 1.0
        for name, order in (("drawn", None), ("sorted", sorted(range(len(labels)), key=lambda i: labels[i]))):
            summary = self.estimated([*self.clients(rows, labels, order=order), "--loss", "logistic", *CLEAR], name)
            self.check_near(summary, rows, labels, "logistic")

    def test_numbers(self):
        rows, plain, draw = columns(2)
        labels = 3 + plain @ [1, -0.5, 0.3] + draw.standard_t(3, size=len(rows))
        for loss, word in (("squared", "squared"), ("huber", "huber:1.345")):
            with self.subTest(loss=loss):
                summary = self.estimated([*self.clients(rows, labels), "--loss", word, *CLEAR], loss)
                self.check_near(summary, rows, labels, loss)

    def test_a_bend_that_is_far_too_small_gives_no_interval_and_no_nonsense(self):
        """Labels in dollars by the default bend of 1.345: nearly no record lies within it."""
        rows, plain, draw = columns(6)
        labels = 20000 + plain @ [3000, -500, 100] + 3000 * draw.normal(size=len(rows))
        summary = self.estimated([*self.clients(rows, labels), *CLEAR])
        self.assertIs(summary["settled"], False)
        self.assertTrue(all(each["low"] is None for each in summary["intervals"]))
        self.assertIn("--loss huber:C", " ".join(summary["notes"]))
        fitted = numpy.hstack([rows, numpy.ones((len(rows), 1))]) @ [each["estimate"] for each in summary["intervals"]]
        self.assertLess(numpy.median(abs(fitted - labels)), 1.1 * numpy.median(abs(labels - 20000 - plain @ [3000, -500, 100])))

    def test_columns_whose_squares_differ_by_forty_powers_of_ten(self):
        rows, plain, draw = columns(9)
        labels = 3 + plain @ [1, -0.5, 0.3] + draw.normal(size=len(rows))
        rows = plain * [1, 3e11, 1e-9] + [0, 1.5e12, 0]
        for loss, own in (("squared", labels), ("logistic", (labels > 3) * 1.0)):
            with self.subTest(loss=loss):
                self.check_near(self.estimated([*self.clients(rows, own), "--loss", loss, *CLEAR], loss), rows, own, loss, 1e-5)

    def test_labels_without_errors_are_named(self):
        rows, plain, draw = columns(10)
        labels = 3 + plain @ [1, -0.5, 0.3]
        for name, own, given in (("copy", rows[:, 1], True), ("same", labels * 0 + 5, True), ("combined", labels, True), ("errors", labels + 1e-6 * draw.normal(size=len(rows)), False)):
            with self.subTest(name=name):
                summary = self.estimated([*self.clients(rows, own), "--loss", "squared", *CLEAR], name)
                self.assertIs("a copy of the label" in " ".join(summary["notes"]), given)

    def test_one_label_that_is_far_off_moves_nothing(self):
        rows, plain, draw = columns(7)
        labels = 3 + plain @ [1, -0.5, 0.3] + draw.normal(size=len(rows))
        labels[5] = 1e7
        summary = self.estimated([*self.clients(rows, labels), *CLEAR])
        self.check_near(summary, rows, labels, "huber")

    def test_records_that_are_hardly_more_than_coefficients(self):
        rows, plain, draw = columns(8, 5)
        labels = 3 + plain @ [1, -0.5, 0.3] + draw.normal(size=5)
        summary = self.estimated([*self.clients(rows, labels, (3, 2)), "--loss", "squared", *CLEAR])
        self.assertTrue(all(each["low"] is None for each in summary["intervals"]))

    def test_the_joint_test_is_walds(self):
        rows, plain, draw = columns(3)
        labels = 3 + plain @ [0.1, 0, 0] + draw.normal(size=len(rows))
        summary = self.estimated([*self.clients(rows, labels), "--loss", "squared", "--joint", *CLEAR])
        x = numpy.hstack([plain, numpy.ones((len(plain), 1))])
        bread = numpy.linalg.inv(x.T @ x)
        theta = bread @ x.T @ labels
        meat = (x.T * (labels - x @ theta) ** 2) @ x * len(x) / (len(x) - 4)
        covariance = (bread @ meat @ bread)[:3, :3]
        self.assertAlmostEqual(summary["joint"]["statistic"], theta[:3] @ numpy.linalg.solve(covariance, theta[:3]), delta=1e-3)
        self.assertAlmostEqual(summary["joint"]["critical"], 7.814727903251179, delta=1e-9)

    def test_classes_that_can_be_separated_are_not_settled(self):
        rows, plain, _ = columns(4)
        labels = (plain[:, 0] > 0) * 1.0
        summary = self.estimated([*self.clients(rows, labels), "--loss", "logistic", *CLEAR])
        self.assertIs(summary["settled"], False)
        self.assertIn("not settled", " ".join(summary["notes"]))

    def test_a_column_twice_has_no_interval(self):
        rows, plain, draw = columns(5)
        rows[:, 2] = rows[:, 1]
        labels = 3 + plain @ [1, -0.5, 0] + draw.normal(size=len(rows))
        summary = self.estimated([*self.clients(rows, labels), "--loss", "squared", *CLEAR])
        self.assertEqual([each["standard_error"] is None for each in summary["intervals"]], [False, True, True, False])
        self.assertEqual(summary["settling"]["undetermined"], ["b", "c"])
        self.assertIn("b, c determine each other: no interval there. What helps: drop one (--drop)", " ".join(summary["notes"]))

    def test_standardised_features_have_a_table_in_own_units(self):
        """That of features as they are."""
        rows, plain, draw = columns(9)
        labels = 3 + plain @ [1, -0.5, 0.3] + draw.normal(size=len(rows))
        self.write("scales.csv", "feature,mean,sd\na,0,2\nb,200000,100000\nc,0.001,0.0001\n")
        words = [*self.clients(rows, labels), "--loss", "squared", *CLEAR]
        raw, _ = self.spreads(self.estimated(words, "raw"))
        self.estimated([*words, "--standardise", "scales.csv"], "scaled")
        with open(self.folder / "scaled" / "coefficients-own-units.csv") as file:
            table = list(csv.DictReader(file))
        numpy.testing.assert_allclose([float(row["estimate"]) for row in table], raw, rtol=1e-6)


class Layouts(Case):
    WORDS = ["--clients", "7", "--source", "synthetic:logistic:n=300", "--loss", "logistic", *NOISY, "--mu", "2"]

    def figures(self, summary, output):
        return [bits(summary["final_model"]), bits(summary["intervals"]), summary["settling"], (self.folder / output / "coefficients.csv").read_text()]

    def test_the_same_bits_on_any_number_of_ranks(self):
        for name, more in (("local", []), ("pairs", ["--trust", "pairs"]), ("equal", ["--client-weights", "equal"])):
            found = {ranks: self.figures(self.estimated([*self.WORDS, *more], f"{name}-{ranks}", ranks), f"{name}-{ranks}") for ranks in layouts()}
            for ranks in layouts()[1:]:
                self.assertEqual(found[ranks], found[1], f"{name}, {ranks} ranks")

    def test_the_configuration_repeats_the_run(self):
        first = self.figures(self.estimated(self.WORDS, "first"), "first")
        again = self.summary(["--config", "first/config.ini"], "second")
        self.assertEqual(self.figures(again, "second"), first)

    def test_a_run_that_is_killed_goes_on(self):
        whole = self.figures(self.estimated(self.WORDS, "whole", 2), "whole")
        words = ["infer", *self.WORDS, "--tuning", "auto", "--checkpoint-every", "1", "--output", "cut", "--progress", "off"]
        for after in (1, 3, 5):
            with self.subTest(rounds=after):
                shutil.rmtree(self.folder / "cut", ignore_errors=True)
                with interrupted(f"checkpoint:{after}"):
                    killed = self.run_command(2, words)
                self.assertNotEqual(killed.code, 0)
                self.succeeded(self.play(["--resume", "cut"]))
                self.assertEqual(self.figures(self.summary_in("cut"), "cut"), whole)


class Prices(Case):
    WORDS = ["--clients", "3", "--source", "synthetic:linear:n=2000", *NOISY, "--mu", "2"]

    def test_all_rounds_together_cost_what_was_asked_for(self):
        summary = self.estimated(self.WORDS)
        self.assertEqual(summary["rounds"], 6)
        self.assertAlmostEqual(summary["privacy"]["mu"], 2, delta=1e-9)
        self.assertLessEqual(summary["privacy"]["mu"], 2)

    def test_a_budget_that_ends_before_the_rounds_that_count(self):
        rows, plain, draw = columns(6)
        labels = 3 + plain @ [1, -0.5, 0.3] + draw.normal(size=len(rows))
        words = [*self.clients(plain, labels), "--mechanism", "gaussian", "--mu", "2", "--budget", "6", "--budget-unit", "record", "--ledger", "ledger-{rank}", "--metrics", "shared"]
        result = self.play([*words, "--tuning", "auto", "--output", "run"])
        self.succeeded(result)
        summary = self.summary_in("run")
        self.assertEqual(summary["intervals"], [])
        self.assertIn("no intervals", " ".join(summary["notes"]))


class Coverage(Case):
    def test_intervals_hold_the_truth(self):
        """95 % of 4 x 150 intervals, whose share has a standard error of about 1.1 points: less than 91 % or more than 98.5
        happens by chance in fewer than one of a thousand seeds. Residuals of 0.02 are far below the noise on their squares."""
        settings = [(["--source", "synthetic:logistic:n=1500", "--loss", "logistic", "--mu", "1"]),
                    (["--source", "synthetic:logistic:n=3000,intercept=-3", "--loss", "logistic", "--mu", "8"]),
                    (["--source", "synthetic:logistic:n=3000,intercept=-5", "--loss", "logistic", "--mu", "8"]),
                    (["--source", "synthetic:linear:n=1500,sd=0.02", "--mu", "8"]),
                    (["--source", "synthetic:linear:n=1500,flag=0.06", "--mu", "4"]),
                    (["--source", "synthetic:linear:n=1500,freedom=3", "--mu", "2", "--client-weights", "equal"]),
                    (["--source", "synthetic:linear:n=1500,apart=1", "--mu", "1", "--trust", "pairs"])]
        for k, words in enumerate(settings):
            with self.subTest(words=words):
                summary = self.estimated(["--clients", "5", *words, *NOISY, "--replications", "150"], f"study-{k}")
                (cell,) = summary["study"]
                self.assertEqual((cell["method"], cell["not_settled"]), ("plug-in", 0))
                self.assertGreater(cell["coverage"], 0.91)
                self.assertLess(cell["coverage"], 0.985 if "sd=0.02" not in words[1] else 1.01)


class Refusals(Case):
    def test_what_belongs_to_a_path(self):
        base = ["--source", "synthetic:linear:n=500", "--clients", "2", *NOISY, "--mu", "1", "--estimator", "newton"]
        self.refused(UNUSABLE, [*base, "--batch", "5"], "--batch with --estimator newton")
        self.refused(UNUSABLE, [*base, "--batch", "5", "--intervals", "plug-in"], "--batch with --estimator newton")
        self.refused(UNUSABLE, [*base, "--intervals", "plug-in", "--plug-in-path"], "--plug-in-path with --estimator newton")
        self.refused(UNUSABLE, [*base, "--intervals", "batch-means:5"], "--intervals with --estimator newton")
        self.refused(UNUSABLE, [*base, "--epochs", "2"], "--epochs 2 with --estimator newton")
        self.refused(UNUSABLE, [*base, "--topology", "ring"], "--estimator newton")

    def test_a_stream_without_an_end(self):
        self.fails(UNUSABLE, ["--source", "synthetic:linear", "--rounds", "50", *CLEAR, "--estimator", "newton"], "newton")

    def test_a_path_where_something_asks_for_one(self):
        summary = self.estimated(["--source", "synthetic:linear:n=3000", *NOISY, "--mu", "2", "--intervals", "random-scaling"])
        chosen = {each["option"]: each["value"] for each in summary["tuning"]["chosen"]}
        self.assertEqual(chosen["estimator"], "path")

    def test_noise_that_hides_the_curvature(self):
        """Too few records for so many features at this price: no interval, and the run says so."""
        summary = self.estimated(["--source", "synthetic:logistic:p=10,n=300", "--loss", "logistic", *NOISY, "--mu", "1", "--estimator", "newton"])
        self.assertIs(summary["settled"], False)
        self.assertTrue(summary["settling"]["undetermined"])
        self.assertTrue(any(each["low"] is None for each in summary["intervals"]))

    def test_what_noise_hides_is_said_beforehand(self):
        """And is so: no coefficient has an interval at such a price, and each of these has one at another."""
        words = ["infer", "--source", "synthetic:linear:p=4,n=6000", "--clients", "4", *NOISY, "--tuning", "auto", "--json"]
        for price, hides in ((0.005, True), (2, False)):
            done = self.succeeded(self.run_command(1, [*words, "--mu", price, "--output", f"mu-{price}"]))
            self.assertIs("tuning: expect no interval" in done.err, hides)
            self.assertIs("tuning: intervals are likely, and not promised: a column far from 0" in done.err, not hides)
            self.assertEqual({each["low"] is None for each in done.summary()["intervals"]}, {hides})


if __name__ == "__main__":
    unittest.main()
