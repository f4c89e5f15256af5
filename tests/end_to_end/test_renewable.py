"""Renewable estimation: right answers on any number of ranks, and clear errors."""

import csv
import hashlib
import math
import os
import random
import re
import signal
import threading
import unittest

import numpy

from harness import *

UNUSABLE, UNREADABLE, STOPPED_SAFELY = 2, 3, 75
OPEN = ["--mechanism", "none"]
GAUSSIAN = ["--mechanism", "gaussian", "--epsilon", "4", "--delta", "1e-5", "--noise-key", "seed"]
STREAM = ["--clients", "3", "--source", "synthetic:two-gaussians:p=4,mu=0.5,n=60", "--batch", "10"]
VARIANTS = {
    "online": OPEN,
    "online from zero": [*OPEN, "--start", "zero", "--l2", "0.1"],
    "online, forgetting": [*OPEN, "--forget", "0.9"],
    "online, float32": [*OPEN, "--curvature", "float32"],
    "online, quantised": [*OPEN, "--curvature", "bits:10"],
    "online logistic": [*OPEN, "--loss", "logistic"],
    "offline": ["--variant", "offline", *OPEN],
    "offline-one-step": ["--variant", "offline-one-step", *OPEN, "--l2", "0.1"],
    "private-paper": ["--variant", "private-paper", *GAUSSIAN, "--l2", "0.1"],
    "private central": ["--variant", "private", "--trust", "central", *GAUSSIAN, "--l2", "0.1"],
    "private local": ["--variant", "private", "--trust", "local", *GAUSSIAN, "--l2", "0.1"],
    "private masked": ["--variant", "private", "--trust", "masked", *GAUSSIAN, "--l2", "0.1"],
    "released curvature": ["--variant", "private", "--trust", "central", *GAUSSIAN, "--l2", "0.1", "--curvature-model",
                           "released:0.5"],
}


def gaussian_rows(count, dimension, seed, mu=1.0):
    """Lines x1,...,xd,label of two Gaussian classes."""
    generator = random.Random(seed)
    lines = []
    for _ in range(count):
        label = generator.choice((-1, 1))
        lines.append(",".join(f"{generator.gauss(mu * label, 1):.9f}" for _ in range(dimension)) + f",{label}")
    return lines


def numbers(lines):
    """Rows of features with a one at the end, and labels."""
    table = [[float(word) for word in line.split(",")] for line in lines]
    return [[*row[:-1], 1.0] for row in table], [row[-1] for row in table]


def accuracy(model, lines):
    rows, labels = numbers(lines)
    right = [label * sum(a * b for a, b in zip(model, row)) > 0 for row, label in zip(rows, labels)]
    return sum(right) / len(right)


class RenewableCase(MethodCase):
    command = "renewable"

    def csv(self, name, lines):
        return self.write(name, "\n".join(lines) + "\n")


class Variants(RenewableCase):
    @slow
    def test_equal_bits_on_any_number_of_ranks(self):
        for name, words in VARIANTS.items():
            with self.subTest(name):
                found = {}
                for ranks in layouts((1, 4, 2)):  # with four ranks one hosts nobody
                    summary = self.summary([*STREAM, *words], f"{name}-{ranks}".replace(" ", "-"), ranks)
                    found[ranks] = bits([summary["final_model"], summary["metrics"], summary["loss"]["mean"]])
                    self.assertEqual((summary["command"], summary["clients"], summary["dimension"]), ("renewable", 3, 5))
                self.assertEqual(found[1], found[2])
                self.assertEqual(found[1], found[4])

    def test_they_learn(self):
        test = ["--test", "synthetic:two-gaussians:p=4,mu=0.5,n=4000"]
        best = 0.8413  # Phi(mu sqrt(p))
        for name, words in VARIANTS.items():
            with self.subTest(name):
                stream = ["--clients", "3", "--source", "synthetic:two-gaussians:p=4,mu=0.5,n=3000", "--batch", "100", *test]
                metrics = self.summary([*stream, *words], name.replace(" ", "-"))["metrics"]
                self.assertEqual(metrics["accuracy"], metrics["test_accuracy"])
                self.assertGreater(metrics["accuracy"], best - 0.02)
                self.assertLess(metrics["accuracy"], best + 0.02)
                self.assertAlmostEqual(metrics["balanced_accuracy"], (metrics["recall"] + metrics["specificity"]) / 2, places=12)
                harmonic = 2 * metrics["precision"] * metrics["recall"] / (metrics["precision"] + metrics["recall"])
                self.assertAlmostEqual(metrics["f1"], harmonic, places=12)

    SIZES = ["# client,round,records", "0,0,10", "0,2,20", "1,0,30", "2,0,5", "2,1,15"]  # rounds of 60 records: 4, 2 and 5

    @fewer
    def test_batches_by_client_and_round(self):
        self.csv("sizes.csv", self.SIZES)
        words = [*STREAM[:-1], "file:sizes.csv"]
        for name in ("online", "private central", "private masked", "private-paper"):
            with self.subTest(name):
                found = {}
                for ranks in layouts():
                    summary = self.summary([*words, *VARIANTS[name]], f"{name}-{ranks}".replace(" ", "-"), ranks)
                    self.assertEqual(summary["rounds"], 5)
                    found[ranks] = bits([summary["final_model"], summary["metrics"], summary["loss"]["mean"]])
                self.assertEqual(list(found.values()), [found[1]] * len(found))

    def test_batches_of_all_sizes_take_every_record_once(self):
        """Least squares by renewal are those of all records at once, however these are dealt to batches."""
        self.csv("sizes.csv", self.SIZES)
        self.csv("data.csv", ["a,b,c,d,y", *gaussian_rows(180, 4, 3, 0.4)])
        words = ["--clients", "3", "--source", "data.csv", "--loss", "squared", *OPEN]
        batches = self.summary([*words, "--batch", "file:sizes.csv"], "sizes")["final_model"]
        once = self.summary([*words, "--batch", "60"], "once")["final_model"]
        for ours, theirs in zip(batches, once):
            self.assertAlmostEqual(ours, theirs, places=9)

    def test_batches_of_a_file_go_on(self):
        self.csv("sizes.csv", self.SIZES)
        words = [*STREAM[:-1], "file:sizes.csv", *VARIANTS["private local"], "--noise-correlation", "none"]
        whole = self.summary(words, "whole", 2)["final_model"]
        self.summary([*words, "--rounds", "3", "--checkpoint-every", "2"], "run", 2)
        self.csv("sizes.csv", [*self.SIZES, "2,4,1"])
        self.complains(self.run_command(3, ["renewable", "--resume", "run", "--rounds", "5"]), UNUSABLE, "not those that the run began with")
        self.csv("sizes.csv", self.SIZES)
        resumed = self.run_command(3, ["renewable", "--resume", "run", "--rounds", "5", "--json"])
        self.assertEqual(resumed.code, 0, resumed)
        self.assertEqual(bits(resumed.summary()["final_model"]), bits(whole))

    def test_files_of_batches_that_cannot_be(self):
        for rows, text in ((["0,0,10", "1,0,10"], "no batch sizes of client 2"), ([*self.SIZES, "3,0,1"], "sizes of client 3: there are 3"),
                           (["0,1,10"], "client 0, round 1: rounds of a client ascend"), (["0,0,0"], "row 1: a batch of no record"),
                           (["0,0"], "client, round and records"), (["0,0,1.5"], "whole numbers"), (["# nothing"], "holds no numbers")):
            with self.subTest(text):
                self.csv("sizes.csv", rows)
                self.fails(UNUSABLE, [*STREAM[:-1], "file:sizes.csv", *OPEN], text)

    def test_noise_that_a_variant_cannot_add(self):
        self.fails(UNUSABLE, [*STREAM, "--mechanism", "laplace", "--epsilon", "1"], "Choose --variant private with gaussian, or --mechanism none")
        # infer has none for counts either
        self.fails(UNUSABLE, [*STREAM, "--variant", "private", *GAUSSIAN, "--loss", "poisson"], "Choose starling omd\\.")

    def test_masked_is_as_accurate_as_central(self):
        """At a price where noise tells: single runs scatter by some 2 points, the mean of eight by less than one."""
        source = ["--clients", "5", "--source", "synthetic:two-gaussians:p=10,mu=0.2,n=400", "--batch", "20", "--test",
                  "synthetic:two-gaussians:p=10,mu=0.2,n=4000", "--l2", "0.1", "--mechanism", "gaussian", "--epsilon", "1",
                  "--delta", "1e-5", "--noise-key", "seed", "--variant", "private", "--noise-correlation", "none"]
        means = {}
        for trust in ("central", "masked"):
            found = [self.summary([*source, "--trust", trust, "--seed", seed], f"{trust}-{seed}")["metrics"]["accuracy"]
                     for seed in range(1, 9)]
            means[trust] = sum(found) / len(found)
        self.assertAlmostEqual(means["masked"], means["central"], delta=0.03)
        self.assertGreater(means["central"], 0.66)  # of 73.6 % without noise

    def test_a_given_curvature(self):
        """One batch, the same noise: n (H + lambda I) theta is the same vector for the average c I and for any other H."""
        private = ["--variant", "private", *GAUSSIAN, "--l2", "0.1", "--loss", "logistic", "--clip", "1", "--rounds", "1"]
        average = self.summary([*STREAM, *private], "average")["final_model"]
        rows = [[0.3 if i == j else 0.02 * (i + j) for j in range(5)] for i in range(5)]
        self.csv("h.csv", ["# of a record", *(",".join(map(str, row)) for row in rows)])
        for trust in ("local", "masked"):
            same = self.summary([*STREAM, *private, "--trust", trust], f"average-{trust}")["final_model"]
            given = self.summary([*STREAM, *private, "--trust", trust, "--curvature-model", "file:h.csv"], trust)["final_model"]
            c = 0.25 / 2 / 5
            for i in range(5):
                self.assertAlmostEqual(sum(h * x for h, x in zip(rows[i], given)) + 0.1 * given[i], (c + 0.1) * same[i], places=9)
        self.assertNotEqual(average, given)
        self.csv("few.csv", ["1,0", "0,1"])
        self.csv("lopsided.csv", [",".join("1" if i <= j else "0" for j in range(5)) for i in range(5)])
        self.csv("negative.csv", [",".join(str(-(i == j)) for j in range(5)) for i in range(5)])
        for name, why in (("few", "2 rows of 2 numbers.*takes 5"), ("lopsided", "symmetric"), ("negative", "matrix is not positive definite, not even with --l2 0.1"),
                          ("none", "none.csv")):
            with self.subTest(name):
                result = self.play([*STREAM, *private, "--curvature-model", f"file:{name}.csv", "--output", f"bad-{name}"])
                self.assertIn(result.code, (UNUSABLE, UNREADABLE), result)
                self.assertRegex(result.messages()[0], why)

    def test_fingerprints_of_mask_keys(self):
        """What each rank's clients received is said, stored in their own folders, and told by rank 0 in the summary."""
        words = [*STREAM, *VARIANTS["private masked"]]
        pattern = r"note: (clients? \S+) received mask keys with the fingerprint ((?:[0-9a-f]{4}-){9}[0-9a-f]{4}) "
        seen = []
        for output in ("one", "two"):
            result = self.succeeded(self.play([*words, "--json", "--output", output], 2))
            said = re.findall(pattern, result.err)
            self.assertEqual(sorted(who for who, _ in said), ["client 2", "clients 0–1"], result.err)
            lists = {(self.folder / output / "private" / str(rank) / "mask-keys").read_text() for rank in range(2)}
            self.assertEqual((len({key for _, key in said}), len(lists)), (1, 1))
            keys = result.summary()["privacy"]["mask_keys"]
            rows = [line.split(",") for line in lists.pop().splitlines()[3:]]
            self.assertEqual([row[1] for row in rows], keys["clients"])
            self.assertEqual(keys["fingerprint"], said[0][1])
            raw = [bytes.fromhex(row[2]) for row in rows]
            for key, shown in zip([*raw, b"".join(raw)], [*keys["clients"], keys["fingerprint"]]):
                digits = shown.replace("-", "")
                self.assertEqual(digits, hashlib.sha256(key).hexdigest()[:len(digits)])
                self.assertGreaterEqual(4 * len(digits), 80)
            seen.append(keys["fingerprint"])
        self.assertNotEqual(*seen)  # keys are made anew by every process
        self.assertIsNone(self.summary([*STREAM, *VARIANTS["private central"]], "central")["privacy"]["mask_keys"])

    def test_three_classes_in_one_message(self):
        generator = random.Random(5)
        corners = [(3, 0), (0, 3), (-3, -3)]
        lines = []
        for _ in range(600):
            k = generator.randrange(3)
            lines.append(",".join(f"{generator.gauss(c, 1):.6f}" for c in corners[k]) + f",{k}")
        path = self.csv("corners.csv", lines)
        models = [self.summary(["--source", path, "--clients", "2", "--batch", "50", "--classes", "one-vs-rest:3", "--l2", "0.01",
                                *OPEN, "--test", path], f"corners-{ranks}", ranks) for ranks in (1, 2)]
        self.assertEqual(len(models[0]["final_model"]), 9)
        self.assertEqual(bits(models[0]["final_model"]), bits(models[1]["final_model"]))
        self.assertGreater(models[0]["metrics"]["accuracy"], 0.95)


class CorrelatedNoise(RenewableCase):
    """What noise is taken back; protocol/renewable compares with a plain recursion, and test_other_ranks.py kills such runs."""
    SUMS = ["--variant", "private", *GAUSSIAN]
    CHAIN = ["--noise-correlation", "blt:2"]

    @fewer
    def test_equal_bits_on_any_number_of_ranks(self):
        for trust in ("local", "central"):
            words = [*STREAM, *self.SUMS, "--trust", trust, "--epochs", "2", *self.CHAIN]
            found = [self.summary(words, f"{trust}-{ranks}", ranks) for ranks in layouts((1, 4, 2))]
            for summary in found[1:]:
                self.assertEqual(bits(summary["final_model"]), bits(found[0]["final_model"]), trust)

    def test_it_is_the_default_where_it_helps(self):
        def model(name, *words):
            return bits(self.summary([*STREAM, *self.SUMS, *words], name)["final_model"])

        for name, words, correlated in (("local", [], True), ("central", ["--trust", "central"], True),
                                        ("matrix", ["--curvature-model", "file:h.csv"], True),
                                        ("records", ["--budget", "9", "--budget-unit", "record"], True),
                                        ("clients", ["--budget", "1e6"], False), ("forgetting", ["--forget", "0.9"], False),
                                        ("masked", ["--trust", "masked"], False), ("one", ["--rounds", "1"], False),
                                        ("released", ["--curvature-model", "released:0.5"], False)):
            with self.subTest(name):
                self.csv("h.csv", [",".join("2" if i == j else "0" for j in range(5)) for i in range(5)])
                default = model(name, *words)
                independent = model(f"{name}-none", *words, "--noise-correlation", "none")
                self.assertEqual(default != independent, correlated)
                if correlated:
                    self.assertEqual(default, model(f"{name}-blt", *words, *self.CHAIN))

    def test_the_statement_has_what_it_costs(self):
        """A record pays what it pays under independent noise; a client whose records are in every batch pays more."""
        found = {how: self.summary([*STREAM, *self.SUMS, "--noise-correlation", how], how[:3])["privacy"] for how in ("none", "blt:2")}
        for key in ("epsilon", "mu", "participations", "releases"):
            self.assertEqual(found["blt:2"][key], found["none"][key])
        self.assertGreater(found["blt:2"]["client_epsilon"], found["none"]["client_epsilon"])
        statement = (self.folder / "blt" / "privacy.txt").read_text()
        self.assertIn("takes back a part of the noise of earlier", " ".join(statement.split()))
        ledger = (self.folder / "blt" / "private" / "0" / "ledger").read_text()
        self.assertRegex(ledger, r"correlation: omega=\S+ theta=\S+ uses=1")

    def test_forgetting_may_have_it(self):
        words = [*STREAM, *self.SUMS, "--forget", "0.99"]
        found = [self.summary([*words, "--noise-correlation", how], how[:3])["final_model"] for how in ("none", "blt:2")]
        self.assertNotEqual(bits(found[0]), bits(found[1]))

    def test_a_run_may_be_given_more_batches(self):
        """They cost nothing more, and noise goes on as it began."""
        words = [*STREAM, *self.SUMS, "--epochs", "4", *self.CHAIN]
        self.summary([*words, "--rounds", "8", "--checkpoint-every", "4"], "run")
        self.succeeded(self.run_command(1, ["renewable", "--resume", "run", "--rounds", "12"]))
        whole = self.summary([*words, "--rounds", "12"], "whole")
        summary = self.summary_in("run")
        self.assertEqual(summary["rounds"], 12)
        self.assertEqual(summary["privacy"]["mu"], whole["privacy"]["mu"])

    def test_where_it_has_no_meaning(self):
        for words, text in ((["--variant", "online", *OPEN], "--mechanism gaussian"), (["--variant", "private-paper", *GAUSSIAN], "--variant"),
                            ([*self.SUMS, "--trust", "masked"], "--trust masked"),
                            ([*self.SUMS, "--curvature-model", "released:0.5"], "released curvature"),
                            ([*self.SUMS, "--rounds", "1"], "one batch"),
                            (["--variant", "private", "--mechanism", "gaussian", "--mu", "schedule:from=1,to=2"], "change over the rounds")):
            with self.subTest(text):
                self.fails(UNUSABLE, [*STREAM, *words, *self.CHAIN], "--noise-correlation", text)


REFERENCE = DATA / "dwd_reference"


@unittest.skipUnless(REFERENCE.exists(), "the reference solutions are not beside the project")
class ReferenceSolutions(RenewableCase):
    """kerndwd's solutions on BUPA; its penalty is lambda |b|^2, so that its lambda is half of ours."""

    def scaled(self):
        with gzip.open(REFERENCE / "bupa.csv.gz", "rt") as file:
            rows = [[float(word) for word in row] for row in list(csv.reader(file))[1:]]
        columns = list(zip(*rows))
        for k in range(6):
            centre = math.fsum(columns[k]) / len(rows)
            spread = math.sqrt(math.fsum((x - centre) ** 2 for x in columns[k]) / (len(rows) - 1))
            columns[k] = [(x - centre) / spread for x in columns[k]]
        return [list(row) for row in zip(*columns)]

    @staticmethod
    def objective(model, rows, q, l2):
        """mean V_q + l2/2 |b|^2."""
        edge = q / (q + 1)
        total = []
        for row in rows:
            u = row[-1] * (math.fsum(a * b for a, b in zip(model, row[:-1])) + model[-1])
            total.append(1 - u if u <= edge else (edge / u) ** q / (q + 1))
        return math.fsum(total) / len(rows) + l2 / 2 * math.fsum(b * b for b in model[:-1])

    def test_every_q_and_lambda(self):
        rows = self.scaled()
        path = self.csv("scaled.csv", [",".join(repr(x) for x in row) for row in rows])
        with open(REFERENCE / "bupa_kerndwd_solutions.csv", newline="") as file:
            cases = list(csv.DictReader(file))
        self.assertEqual(len(cases), 15)
        for i, case in enumerate(cases):
            with self.subTest(q=case["q"], l2=case["lambda"]):
                l2 = 2 * float(case["lambda"])
                summary = self.summary(["--source", path, "--clients", "3", "--batch", "20", "--variant", "offline", "--loss",
                                        f"dwd:{case['q']}", "--smoothing", "0", "--l2", repr(l2), "--penalty", "slopes", *OPEN],
                                       f"run-{i}")
                model = summary["final_model"]
                expected = [float(case[f"b{k}"]) for k in range(1, 7)] + [float(case["intercept"])]
                self.assertAlmostEqual(self.objective(model, rows, float(case["q"]), l2), float(case["objective"]), delta=1e-9)
                for ours, theirs in zip(model, expected):
                    self.assertAlmostEqual(ours, theirs, delta=1e-6)


@unittest.skipIf(numpy is None, "numpy is not installed")
def errors_of(summary):
    return numpy.array([interval["standard_error"] for interval in summary["intervals"]])


class Regression(RenewableCase):
    def test_logistic_regression_is_renewed(self):
        """After ten batches of 1000 within 10 % of a standard error of pooled maximum likelihood."""
        generator = numpy.random.default_rng(11)
        true = numpy.array([0.5, -0.5, 0.25, 0, 1, -0.3])
        x = numpy.column_stack([generator.standard_normal((10_000, 5)), numpy.ones(10_000)])
        y = numpy.where(generator.random(10_000) < 1 / (1 + numpy.exp(-x @ true)), 1, -1)
        path = self.csv("logistic.csv", [",".join(f"{value!r}" for value in map(float, row[:-1])) + f",{label}"
                                         for row, label in zip(x, y)])
        words = ["--source", path, "--clients", "5", "--batch", "200", "--partition", "round-robin", "--loss", "logistic", *OPEN]
        summary = self.summary([*words, "--l2", "0"], "run")
        model = numpy.array(summary["final_model"])
        best = numpy.zeros(6)
        for _ in range(30):
            share = 1 / (1 + numpy.exp(y * (x @ best)))
            information = (x * (share * (1 - share))[:, None]).T @ x
            best += numpy.linalg.solve(information, x.T @ (y * share))
        error = numpy.sqrt(numpy.diag(numpy.linalg.inv(information)))
        self.assertLess(numpy.abs((model - best) / error).max(), 0.1)
        # Standard errors: of the model, of the sandwich (the model is true), and with a free intercept under --l2.
        self.assertLess(numpy.abs(errors_of(summary) / error - 1).max(), 0.03)
        sandwich = self.summary([*words, "--standard-errors", "sandwich"], "sandwich")
        self.assertLess(numpy.abs(errors_of(sandwich) / error - 1).max(), 0.05)
        slopes = self.summary([*words, "--l2", "0.1", "--penalty", "slopes"], "slopes")
        self.assertLess(abs(errors_of(slopes)[5] / error[5] - 1), 0.1)
        self.assertLess(errors_of(slopes)[0] / error[0], 0.9)
        again = self.summary([*words, "--epochs", "2"], "again")
        self.assertEqual(again["intervals"], [])
        self.fails(UNUSABLE, [*words, "--epochs", "2", "--standard-errors", "model"], "--epochs 2")
        self.fails(UNUSABLE, [*STREAM, *OPEN, "--level", "0.9"], "--level", "--standard-errors")

    NOISY = {"central": ["--variant", "private", "--trust", "central", "--curvature-model", "released:0.3", "--mu", "1", "--clip", "2"],
             "local": ["--variant", "private", "--trust", "local", "--curvature-model", "released:0.3", "--mu", "4", "--clip", "2"],
             "paper": ["--variant", "private-paper", "--epsilon", "0.8", "--l2", "0.1"]}
    # The minimum of the penalised logistic objective, features first, of rows scaled to 2 and as they are, to 0.001 (jobs/renewable-intervals.py).
    RIGHT = {2: [0.1902] * 4 + [0.2267], None: [0.3710] * 4 + [0.4318]}

    def test_intervals_under_noise(self):
        """Alike on any number of ranks and after a kill; of 20 intervals, no more than six miss (one in 10^4 otherwise)."""
        words = ["--source", "synthetic:two-gaussians:p=4,mu=0.3,ratio=2/1,n=2500", "--clients", "4", "--batch", "50", "--mechanism",
                 "gaussian", "--loss", "logistic", "--noise-key", "seed", "--standard-errors", "sandwich"]
        for name, variant in self.NOISY.items():
            with self.subTest(name):
                missed, right = 0, self.RIGHT[None if name == "paper" else 2]
                for seed in range(1, 5):
                    run = self.summary([*words, *variant, "--seed", str(seed)], f"{name}-{seed}")
                    self.assertEqual({interval["method"] for interval in run["intervals"]}, {"batch-sandwich"})
                    self.assertEqual([interval["estimate"] for interval in run["intervals"]], run["final_model"])
                    missed += sum(not interval["low"] <= value <= interval["high"] for interval, value in zip(run["intervals"], right))
                self.assertLessEqual(missed, 6)
                whole = self.summary_in(f"{name}-1")
                ranks = self.summary([*words, *variant], f"{name}-ranks", 2)
                self.assertEqual(bits(ranks["intervals"]), bits(whole["intervals"]))
                with interrupted("checkpoint:0"):
                    self.play([*words, *variant, "--output", f"{name}-cut", "--checkpoint-every", "30"])
                resumed = self.run_command(1, ["renewable", "--resume", f"{name}-cut", "--json"])
                self.assertEqual(resumed.code, 0, resumed)
                self.assertEqual(bits(resumed.summary()["intervals"]), bits(whole["intervals"]))
        few = self.summary([*words, *self.NOISY["central"], "--batch", "250"], "few")
        self.assertEqual(few["intervals"], [])
        self.assertIn("7 batches after the first quarter", " ".join(few["notes"]))
        self.fails(UNUSABLE, [*words, "--variant", "private", "--mu", "1"], "--curvature-model released:0.3")
        self.fails(UNUSABLE, [*words, *self.NOISY["central"], "--standard-errors", "model"], "Use sandwich")

    def test_notes_on_intervals(self):
        """Under a penalty they are of other coefficients, and a model that is worse than none has no intervals."""
        words = [*STREAM, *OPEN, "--loss", "logistic"]
        for l2, noted in (("0", False), ("0.1", True)):
            summary = self.summary([*words, "--l2", l2], f"l2-{l2}")
            self.assertEqual(len(summary["intervals"]), 5)
            self.assertEqual("under the penalty" in " ".join(summary["notes"]), noted)
        far = self.csv("far.csv", ["30,30,30,-30,0"])
        lost = self.summary([*words, "--start", far], "lost")
        self.assertEqual(lost["intervals"], [])
        self.assertIn("gives no intervals. Take --start safe", " ".join(lost["notes"]))
        self.assertNotIn("--step", " ".join(lost["notes"]))
        self.assertNotIn("--domain", " ".join(lost["notes"]))

    @fewer
    def test_least_squares_is_exact_and_clients_may_be_short(self):
        """Squared loss renews exactly, whoever has no records left in a round."""
        generator = numpy.random.default_rng(12)
        parts = []
        for client, count in enumerate((90, 35, 10)):
            x = generator.standard_normal((count, 3))
            y = x @ [1, -2, 0.5] + 0.3 + 0.1 * generator.standard_normal(count)
            parts.append((x, y))
            self.csv(f"part-{client}.csv", [",".join(map(repr, map(float, [*row, label]))) for row, label in zip(x, y)])
        x = numpy.column_stack([numpy.vstack([x for x, _ in parts]), numpy.ones(135)])
        y = numpy.concatenate([y for _, y in parts])
        best = numpy.linalg.lstsq(x, y, rcond=None)[0]
        for ranks in layouts((1, 4, 2)):
            summary = self.summary(["--source", "part-{client}.csv", "--clients", "3", "--batch", "10", "--loss", "squared",
                                    "--l2", "0", *OPEN], f"run-{ranks}", ranks)
            self.assertLess(numpy.abs(summary["final_model"] - best).max(), 1e-10)
            spread = ((y - x @ best) ** 2).sum() / (135 - 4)
            error = numpy.sqrt(spread * numpy.diag(numpy.linalg.inv(x.T @ x)))
            self.assertLess(numpy.abs(errors_of(summary) / error - 1).max(), 1e-8)

    def test_a_penalty_is_no_residual(self):
        """The dispersion is the mean square of residuals at the penalised estimate, from whatever start."""
        generator = numpy.random.default_rng(13)
        x = numpy.column_stack([generator.standard_normal((120, 2)), numpy.ones(120)])
        y = x @ [2, -1, 3] + 0.5 * generator.standard_normal(120)
        self.csv("data.csv", [",".join(map(repr, map(float, [*row[:-1], label]))) for row, label in zip(x, y)])
        for start, penalty, batch in (("zero", "full", 120), ("zero", "slopes", 30), ("safe", "slopes", 30)):
            with self.subTest(start=start, penalty=penalty):
                summary = self.summary(["--source", "data.csv", "--clients", "1", "--batch", batch, "--loss", "squared", "--l2", "0.2",
                                        "--penalty", penalty, "--start", start, *OPEN], f"{start}-{penalty}")
                curvature = x.T @ x + 24 * numpy.diag([1, 1, penalty == "full"])
                best = numpy.linalg.solve(curvature, x.T @ y)
                numpy.testing.assert_allclose(summary["final_model"], best, rtol=1e-10)
                spread = ((y - x @ best) ** 2).sum() / (120 - 3)
                error = numpy.sqrt(spread * numpy.diag(numpy.linalg.inv(curvature)))
                numpy.testing.assert_allclose(errors_of(summary), error, rtol=1e-9)


class BadInput(RenewableCase):
    """A right answer or a clear error, never a silent wrong one."""

    def test_first_batch_of_one_class(self):
        for first in (-1, 1):
            lines = sorted(gaussian_rows(400, 3, 1), key=lambda line: not line.endswith(f",{first}"))
            alike = [line for line in lines if line.endswith(f",{first}")][:40]
            rest = [line for line in gaussian_rows(400, 3, 2)]
            path = self.csv("data.csv", [*alike, *rest])
            source = ["--source", path, "--clients", "1", "--batch", "40", *OPEN]
            for words in (["--l2", "0.01"], ["--l2", "0.01", "--penalty", "slopes"], ["--l2", "0.0001", "--penalty", "slopes"],
                          ["--l2", "0.1", "--start", "zero"], ["--l2", "0.01", "--loss", "logistic"]):
                with self.subTest(first=first, words=words):
                    model = self.summary([*source, *words], f"run{first}{''.join(words)}")["final_model"]
                    self.assertGreater(accuracy(model, rest), 0.85)
            for loss in ("dwd:1", "logistic"):  # without a penalty the start has a prior
                model = self.summary([*source, "--loss", loss], f"free{first}{loss[:3]}")["final_model"]
                self.assertGreater(accuracy(model, rest), 0.85)

    def test_rare_classes_without_a_penalty(self):
        """Batches of fifty of which few have two records of the rare class end near maximum likelihood, in any units of features; sorted
        labels say that the estimate has not settled."""
        generator = numpy.random.default_rng(4)
        x = generator.normal(size=(4000, 3))
        y = (generator.random(4000) < 1 / (1 + numpy.exp(4 - x @ [1, -1, 1]))).astype(int)
        design = numpy.c_[x, numpy.ones(4000)]
        best = numpy.zeros(4)
        for _ in range(30):
            p = 1 / (1 + numpy.exp(-design @ best))
            curvature = (design * (p * (1 - p))[:, None]).T @ design
            best += numpy.linalg.solve(curvature, design.T @ (y - p))
        errors = numpy.sqrt(numpy.diag(numpy.linalg.inv(curvature)))
        models = {}
        for name, scale, order in (("plain", 1, slice(None)), ("small", 1e-3, slice(None)), ("sorted", 1, numpy.argsort(y, kind="stable"))):
            rows = [",".join([*map(repr, map(float, scale * row)), str(label)]) for row, label in zip(x[order], y[order])]
            summary = self.summary(["--source", self.csv(f"{name}.csv", rows), "--clients", "1", "--batch", "50", "--loss", "logistic", *OPEN], name)
            notes = " ".join(summary["notes"])
            self.assertEqual("has not settled" in notes, name == "sorted", notes)
            models[name] = numpy.array(summary["final_model"]) * [scale, scale, scale, 1]
        self.assertLess(max(abs(models["plain"] - best) / errors), 0.8)
        self.assertLess(max(abs(models["small"] - models["plain"])), 1e-6)
        one = self.csv("one.csv", [f"{i % 7 - 3.5},1" for i in range(50)])
        self.fails(UNREADABLE, ["--source", one, "--clients", "1", "--variant", "offline", "--loss", "logistic", *OPEN], "no minimum", "one class", "--l2")

    def test_no_minimum_over_one_class(self):
        """A free intercept grows without end. A search over all data says so, where flat parts of a loss have minima."""
        one = self.csv("one.csv", [line for line in gaussian_rows(80, 2, 1) if line.endswith(",1")])
        two = self.csv("two.csv", [f"{x},{y}" for x in (0.2, -0.1) for y in (-1, 1)])
        missing = self.csv("missing.csv", [f"{x},{i % 2}" for i, x in enumerate((0.2, -0.1, 0.3, 0.4))])
        words = ["--clients", "1", "--batch", "20", "--variant", "offline", "--l2", "0.5", *OPEN]
        for source, loss, classes in ((one, "dwd:1", "binary"), (one, "dwd:100", "binary"), (one, "logistic", "binary"),
                                      (missing, "logistic", "one-vs-rest:3")):
            with self.subTest(source=source, loss=loss):
                case = [*words, "--source", source, "--loss", loss, "--classes", classes]
                self.fails(UNREADABLE, [*case, "--penalty", "slopes"], "no minimum", "a class has no records", "--penalty full")
                self.assertIn("NOT converged", " ".join(self.summary_in("refused")["notes"]))
                self.assertIn("converged after", " ".join(self.summary(case, f"{source}-{loss}".replace(":", "-"))["notes"]))
        for loss in ("dwd:1", "logistic"):
            case = [*words, "--source", two, "--loss", loss, "--penalty", "slopes"]
            self.assertIn("converged after", " ".join(self.summary(case, f"two-{loss}".replace(":", "-"))["notes"]))

    def test_batches_of_one_class_later(self):
        lines = gaussian_rows(200, 3, 3)
        later = sorted(gaussian_rows(400, 3, 4), key=lambda line: line.endswith(",1"))
        path = self.csv("data.csv", [*lines, *later])
        model = self.summary(["--source", path, "--clients", "1", "--batch", "40", *OPEN], "run")["final_model"]
        self.assertGreater(accuracy(model, later), 0.9)

    def test_constant_columns(self):
        lines = gaussian_rows(300, 2, 5)
        path = self.csv("data.csv", [f"7,0,{line}" for line in lines])
        words = ["--source", path, "--clients", "2", "--batch", "30", *OPEN]
        model = self.summary([*words, "--l2", "0.01"], "run")["final_model"]
        self.assertTrue(all(math.isfinite(value) for value in model))
        self.assertEqual(model[1], 0)
        self.assertGreater(accuracy(model, [f"7,0,{line}" for line in lines]), 0.85)
        # Without a penalty nothing determines the weights of such columns.
        self.fails(UNREADABLE, [*words, "--l2", "0"], "eigenvalues", "constant", "--l2")

    def test_more_features_than_records_in_the_first_batch(self):
        path = self.csv("data.csv", gaussian_rows(300, 30, 6, 0.4))
        words = ["--source", path, "--clients", "1", "--batch", "10", *OPEN]
        model = self.summary([*words, "--l2", "0.1"], "run")["final_model"]
        self.assertGreater(accuracy(model, gaussian_rows(500, 30, 7, 0.4)), 0.9)
        self.fails(UNREADABLE, [*words, "--l2", "0"], "not positive definite|no minimum", "--l2")
        words[words.index("10")] = "1"
        self.fails(UNREADABLE, [*words, "--l2", "0"], "not positive definite", "--batch of several times the 31 coefficients")

    def test_the_default_batch_determines_the_model(self):
        """Fifty records of all clients for each coefficient, ten of regressions, from public numbers alone."""
        for name, words, batch in (
                ("drift", [], 300), ("gaussians", ["--source", "synthetic:two-gaussians:n=6000"], 2550),
                ("logistic", ["--source", "synthetic:logistic:n=1000", "--loss", "logistic", "--clients", "3"], 67),
                ("linear", ["--source", "synthetic:linear:n=1000", "--loss", "squared"], 40),
                ("expectile", ["--source", "synthetic:expectile:n=1000", "--loss", "expectile:0.7"], 40)):
            with self.subTest(name):
                more = ["--rounds", "20"] if name == "drift" else []
                result = self.play([*OPEN, *words, *more, "--output", name])
                self.assertEqual(result.code, 0, result)
                self.assertIn(f"tuning: batch {batch}: the first batch of ", result.err)
                self.assertIn(f"\nbatch = {batch}\n", (self.folder / name / "config.ini").read_text())
        again = self.summary([*OPEN, "--source", "synthetic:logistic:n=1000", "--loss", "logistic", "--clients", "3", "--batch", "67"], "again")
        self.assertEqual(again["final_model"], json.loads((self.folder / "logistic/summary.json").read_text())["final_model"])

    def test_the_default_batch_is_chosen_once(self):
        words = ["--source", "synthetic:logistic:n=3000", "--loss", "logistic", *OPEN]
        whole = self.summary(words, "whole")
        self.summary([*words, "--rounds", "6", "--checkpoint-every", "5"], "run")
        resumed = self.run_command(1, ["renewable", "--resume", "run", "--rounds", str(whole["rounds"]), "--json"])
        self.assertEqual(resumed.code, 0, resumed)
        self.assertEqual(resumed.summary()["final_model"], whole["final_model"])

    @fewer
    def test_the_default_batch_of_pipes_and_of_any_number_of_ranks(self):
        lines = gaussian_rows(900, 3, 21, 0.6)
        for k in range(3):
            self.csv(f"data-{k}.csv", lines[k::3])
        words = ["--source", "data-{client}.csv", "--clients", "3", "--loss", "logistic", *OPEN]
        of_files = [self.summary(words, f"files-{ranks}", ranks)["final_model"] for ranks in layouts()]
        self.assertEqual(of_files, [of_files[0]] * len(of_files))
        for k in range(3):
            text = (self.folder / f"data-{k}.csv").read_text()
            (self.folder / f"data-{k}.csv").unlink()
            os.mkfifo(self.folder / f"data-{k}.csv")
            threading.Thread(target=(self.folder / f"data-{k}.csv").write_text, args=(text,), daemon=True).start()
        self.assertEqual(self.summary([*words, "--rounds", "5"], "pipes", 3)["final_model"], of_files[0])

    def test_separable_without_a_penalty(self):
        lines = [line for line in gaussian_rows(300, 2, 8, 3) if line.count("-") in (0, 3)]
        words = ["--source", self.csv("data.csv", lines), "--clients", "1", "--batch", "50", "--l2", "0", *OPEN]
        for loss in ("logistic", "dwd:1"):
            with self.subTest(loss):
                summary = self.summary([*words, "--loss", loss], loss[:3])
                if loss == "logistic":
                    self.assertIn("the classes can be separated", " ".join(summary["notes"]))
                self.assertFalse(summary.get("intervals"))
                self.assertGreater(accuracy(summary["final_model"], lines), 0.99)
                self.fails(UNREADABLE, [*words, "--variant", "offline", "--loss", loss], "can be separated", "--l2")

    def test_a_few_records_that_can_be_separated(self):
        """x1 tells records apart where it is not 0, and no record with x1 = 1 is ever of class 0: its weight has no optimum."""
        lines = [line.rsplit(",", 1) for line in gaussian_rows(400, 1, 12, 0.5)]
        lines = [f"{x},{1 if y.startswith('1') and i % 10 == 0 else 0},{y}" for i, (x, y) in enumerate(lines)]
        words = ["--source", self.csv("quasi.csv", lines), "--clients", "1", "--batch", "100", "--variant", "offline", *OPEN]
        for loss in ("logistic", "dwd:1"):
            self.fails(UNREADABLE, [*words, "--loss", loss], "can be separated", "--l2")

    def test_units_do_not_matter(self):
        lines = gaussian_rows(400, 2, 13, 0.5)
        scaled = [",".join([f"{1e9 * float(line.split(',')[0]):.17g}", *line.split(",")[1:]]) for line in lines]
        models = [self.summary(["--source", self.csv(f"{name}.csv", rows), "--clients", "1", "--batch", "100", "--loss", "logistic",
                                *OPEN], name)["final_model"] for name, rows in (("plain", lines), ("scaled", scaled))]
        numpy.testing.assert_allclose(models[1], [models[0][0] / 1e9, *models[0][1:]], rtol=1e-6)

    def test_not_a_number(self):
        lines = gaussian_rows(100, 2, 9)
        for what in ("nan", "inf", "oops"):
            path = self.csv("data.csv", [*lines[:42], f"{what},1,1", *lines[42:]])
            self.fails(UNREADABLE, ["--source", path, "--clients", "2", "--batch", "10", *OPEN], r"data\.csv", r"43\b", ranks=2)

    def test_unknown_names(self):
        self.fails(UNUSABLE, ["--variant", "offlin", *OPEN], "offlin", "offline-one-step", "private-paper")
        self.fails(UNUSABLE, ["--loss", "softmax:3", *OPEN], "softmax", "dwd", "logistic", "huber")
        self.fails(UNUSABLE, ["--trust", "nobody", "--variant", "private", *GAUSSIAN], "nobody", "central", "masked")
        self.fails(UNUSABLE, ["--curvature", "bits:99", *OPEN], "takes 1 to 16")
        self.fails(UNUSABLE, ["--l2", "schedule:from=1,to=0", *OPEN], "Keep it above 0")
        self.fails(UNUSABLE, ["--l2", "schedule:from=1,to=0.1", *OPEN, "--variant", "offline"], "one objective")
        self.fails(UNUSABLE, ["--loss", "dwd:0", *OPEN], "q")

    def test_the_private_variant_has_a_penalty_by_default(self):
        for more, same in ((["--variant", "private", *GAUSSIAN], "0.1"), (["--variant", "private", *GAUSSIAN, "--clip", "2"], "0.4"),
                           (["--variant", "online", *OPEN], "0")):
            found = []
            for number, words in enumerate(([], ["--l2", same])):
                result = self.succeeded(self.run_command(1, ["renewable", *STREAM, *more, *words, "--json-models", "--output", f"{same}-{number}"]))
                found.append(result.summary()["models"])
            self.assertEqual(found[0], found[1], more)

    def test_options_without_meaning(self):
        cases = {
            "--c2": [["--variant", "online", *OPEN, "--c2", "1"], ["--variant", "private", *GAUSSIAN, "--c2", "1"]],
            "--trust": [["--variant", "online", *OPEN, "--trust", "central"],
                        ["--variant", "private-paper", *GAUSSIAN, "--trust", "local"]],
            "--forget": [["--variant", "offline", *OPEN, "--forget", "0.9"]],
            "--curvature-model": [["--variant", "online", *OPEN, "--curvature-model", "average"]],
            "--mechanism": [["--variant", "online", *GAUSSIAN], ["--variant", "private", *OPEN]],
            "--smoothing": [["--loss", "logistic", "--smoothing", "0", *OPEN]],
            "--l2": [["--variant", "private", *GAUSSIAN, "--curvature-model", "released:0.5", "--l2", "0"]],
            "--curvature": [["--variant", "private", *GAUSSIAN, "--trust", "central", "--curvature-model", "released:0.5", "--l2",
                             "0.1", "--curvature", "float32"]],
            "--epsilon": [["--variant", "online", *OPEN, "--epsilon", "1"]],
            "slopes of at most 1": [["--variant", "private-paper", *GAUSSIAN, "--loss", "squared"]],
            "--start": [["--variant", "private", *GAUSSIAN, "--start", "safe"]],
        }
        for option, calls in cases.items():
            for words in calls:
                with self.subTest(" ".join(words)):
                    self.fails(UNUSABLE, [*STREAM, *words], option)


class Endings(RenewableCase):
    ENDLESS = ["renewable", "--clients", "3", "--source", "synthetic:two-gaussians:p=4,mu=0.5,n=1000000000", "--rounds", "50000000",
               "--batch", "20", *OPEN, "--record-every", "500", "--output", "run"]

    def begun(self, ranks, *more, script=NOTE_SCRIPT):
        job = self._start([(ranks, [*self.ENDLESS, *more], [])], script)
        pids = job.pids(ranks)
        history = self.folder / "run" / "history.csv"
        wait_until(lambda: history.exists() and history.read_text().count("\n") > 3, "something is on record")
        return job, pids

    def test_a_signal(self):
        job, pids = self.begun(2, script=RANK_SCRIPT)
        os.kill(pids[1], signal.SIGUSR1)
        result = job.finish(20)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
        summary = self.summary_in("run")
        self.assertLess(summary["rounds"], summary["rounds_planned"])
        self.assertIn("stopped by a signal", " ".join(summary["notes"]))

    @slow
    def test_a_killed_rank_ends_the_others(self):
        for victim in (0, 1):
            with self.subTest(victim):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job, pids = self.begun(3)
                os.kill(pids[victim], signal.SIGKILL)
                self.assertNotEqual(job.finish(20).code, 0)
                self.check_gone(pids)

    @slow
    def test_a_silent_rank_is_named(self):
        job, _ = self.begun(3, "--watchdog", "2", script=RANK_SCRIPT)
        self.silence(job, 3, 1)


if __name__ == "__main__":
    unittest.main()
