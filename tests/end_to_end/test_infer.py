"""starling infer: the path, its intervals and their files against a reference in a few lines, on any number of ranks, with
signals, and with input that is no good."""

import csv
import math
import os
import random
import signal
import statistics
import unittest

from harness import *

draw_pictures()

UNUSABLE, UNREADABLE, UNAFFORDABLE, STOPPED_SAFELY = 2, 3, 4, 75
OPEN = ["--mechanism", "none"]
NOISY = ["--mechanism", "gaussian", "--mu", "2", "--noise-key", "seed"]

RING_OF_4 = [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)]


def linear_rows(count, seed, features=3, deviation=0.5):
    """Lines x1,...,xp,y with y = 1 + x1 + ... + xp + noise."""
    generator = random.Random(seed)
    lines = []
    for _ in range(count):
        x = [generator.gauss(0, 1) for _ in range(features)]
        lines.append(",".join(map(repr, [*x, 1 + sum(x) + generator.gauss(0, deviation)])))
    return lines


class InferCase(MethodCase):
    command = "infer"

    def csv(self, name, lines, header=None):
        return self.write(name, "\n".join([*([header] if header else []), *lines]) + "\n")

    def table(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))


def of_method(intervals, method):
    return [interval for interval in intervals if interval["method"] == method]


def random_scaling_quantile(level):
    """q with P(|N| > q sqrt(I)) = 1 - level, where I is the integral of a squared Brownian bridge: E exp(-s I) is
    sqrt(r / sinh r), r = sqrt(2 s), and P(|N| > x) is the mean of exp(-x^2 / (2 sin^2 u)) over 0 < u < pi/2."""
    def tail(q):
        angles = [math.pi / 2 * (i + 0.5) / 400 for i in range(400)]
        scaled = [q / math.sin(u) for u in angles]
        return sum(math.sqrt(2 * r) * math.exp(-r / 2) / math.sqrt(-math.expm1(-2 * r)) for r in scaled) / len(scaled)

    low, high = 1.0, 50.0
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 1 - level else (low, middle)
    return low


class Reference:
    """The recursion as one reads it in the paper: theta_i = theta_{i-1} - i^-alpha * mean of -(y - x'theta) x."""

    ALPHA = 0.505

    def __init__(self, rows, intercept=False, batch=1, burn_in=0):
        table = numpy.array([[float(word) for word in row.split(",")] for row in rows])
        features, labels = table[:, :-1], table[:, -1]
        if intercept:
            features = numpy.column_stack([features, numpy.ones(len(features))])
        self.batch = batch
        theta = numpy.zeros(features.shape[1])
        path, products, squares = [], [], []
        for i in range(1, len(rows) // batch + 1):
            x = features[(i - 1) * batch:i * batch]
            y = labels[(i - 1) * batch:i * batch]
            gradients = -(y - x @ theta)[:, None] * x
            if i > burn_in:
                products.append(x.T @ x)
                squares.append(gradients.T @ gradients)
            theta = theta - i**-self.ALPHA * gradients.mean(axis=0)
            if i > burn_in:
                path.append(theta)
        self.path = numpy.array(path)
        self.n = len(path)
        self.estimate = self.path.mean(axis=0)
        self.curvature = sum(products) / (self.n * batch)
        self.moment = sum(squares) / (self.n * batch)

    def random_scaling(self):
        """n^-2 times the sum over b of (s_b - b theta_bar)^2, s_b the sum of the first b models."""
        sums = numpy.cumsum(self.path - self.estimate, axis=0)
        return numpy.sqrt((sums**2).sum(axis=0) / self.n**2 / self.n)

    def batch_means(self, batches):
        ends = [math.floor(((k + 1) / (batches + 1)) ** (1 / (1 - self.ALPHA)) * self.n + 0.5) for k in range(batches + 1)]
        kept = self.path[ends[0]:].mean(axis=0)
        between = sum((end - begin) * (self.path[begin:end].mean(axis=0) - kept) ** 2 for begin, end in zip(ends, ends[1:]))
        return numpy.sqrt(between / batches / self.n)

    def plug_in(self):
        inverse = numpy.linalg.inv(self.curvature)
        return numpy.sqrt(numpy.diag(inverse @ self.moment @ inverse) / self.batch / self.n)


@unittest.skipIf(numpy is None, "numpy is not installed")
class AgainstTheReference(InferCase):
    LEVELS = (0.8, 0.95)

    @classmethod
    def setUpClass(cls):
        cls.rows = linear_rows(5000, 1)

    def check(self, words, **settings):
        words = ["--source", self.csv("data.csv", self.rows, "a,b,c,y"), *OPEN, "--loss", "squared", "--start", "zero",
                 "--step", "1", "--step-power", "0.505", "--intervals", "random-scaling,batch-means:20,plug-in",
                 "--levels", "0.8,0.95", *words]
        summary = self.summary(words, "run")
        reference = Reference(self.rows, **settings)
        self.assertEqual(summary["rounds"], len(self.rows) // reference.batch)
        numpy.testing.assert_allclose(summary["final_model"], reference.estimate, rtol=1e-9)
        normal = [statistics.NormalDist().inv_cdf((1 + level) / 2) for level in self.LEVELS]
        scaled = [random_scaling_quantile(level) for level in self.LEVELS]
        self.assertAlmostEqual(scaled[0], 3.875, delta=0.001)
        self.assertAlmostEqual(scaled[1], 6.747, delta=0.001)
        for method, spread, quantiles in (("random-scaling", reference.random_scaling(), scaled),
                                          ("batch-means", reference.batch_means(20), normal),
                                          ("plug-in", reference.plug_in(), normal)):
            for level, quantile in zip(self.LEVELS, quantiles):
                with self.subTest(method=method, level=level):
                    found = [each for each in of_method(summary["intervals"], method) if each["level"] == level]
                    self.assertEqual([each["name"] for each in found],
                                     ["a", "b", "c", *(["intercept"] if settings.get("intercept") else [])])
                    for name, expected in (("estimate", reference.estimate), ("low", reference.estimate - quantile * spread),
                                           ("high", reference.estimate + quantile * spread)):
                        numpy.testing.assert_allclose([each[name] for each in found], expected, rtol=1e-9, err_msg=name)
                    for each, error in zip(found, spread):
                        if method == "random-scaling":  # what it divides by is no standard error
                            self.assertIsNone(each["standard_error"])
                        else:
                            self.assertAlmostEqual(each["standard_error"] / error, 1, delta=1e-9)

    def test_slopes_alone(self):
        self.check(["--intercept", "no"])

    def test_with_an_intercept(self):
        self.check([], intercept=True)

    def test_several_records_a_step(self):
        self.check(["--intercept", "no", "--batch", "5"], batch=5)

    def test_a_burn_in(self):
        self.check(["--intercept", "no", "--burn-in", "1000"], burn_in=1000)


class Ranks(InferCase):
    """840 records dealt out to seven clients: the same bits wherever they live."""

    PATHS = "random-scaling,batch-means:5"
    RING = sorted(edge for i in range(7) for edge in ((i, (i + 1) % 7), ((i + 1) % 7, i)))
    UNBALANCED = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0), (0, 3), (0, 4), (2, 0), (5, 1)]

    def check_equal(self, words, joint=("--joint",)):
        path = self.csv("data.csv", linear_rows(840, 2), "a,b,c,y")
        words = ["--source", path, "--clients", "7", *joint, *words]
        found = {}
        for ranks in layouts():
            summary = self.summary(words, f"run-{ranks}", ranks)
            self.assertEqual((summary["clients"], summary["ranks"], summary["rounds"]), (7, ranks, 120))
            self.assertEqual("joint" in summary, bool(joint))
            files = [(self.folder / f"run-{ranks}" / name).read_text() for name in ("coefficients.csv", "intervals.csv")]
            figures = [summary["final_model"], summary["intervals"], summary.get("joint"), summary["loss"]["mean"]]
            found[ranks] = [bits(figures), bits(summary.get("per_client")), *files]
        for ranks in layouts()[1:]:
            self.assertEqual(found[ranks], found[1], f"{ranks} ranks")
        return summary

    @slow
    def test_plug_in_local(self):
        summary = self.check_equal([*NOISY, "--intervals", self.PATHS + ",plug-in", "--trust", "local"])
        self.assertEqual(len(summary["intervals"]), 12)

    def test_overlapping_batches(self):
        """Along the way from the ninth batch on, alike on two ranks and after a kill."""
        words = ["--source", "synthetic:linear:p=1,n=8200", "--clients", "2", *NOISY, "--batch", "1", "--record-every", "50",
                 "--intervals", "random-scaling,overlapping-batches"]
        found = {}
        for ranks in (1, 2):
            found[ranks] = self.summary(words, f"over-{ranks}", ranks)["intervals"]
            with open(self.folder / f"over-{ranks}" / "intervals.csv", newline="") as file:
                steps = [int(row["steps"]) for row in csv.DictReader(file) if row["method"] == "overlapping-batches" and row["low"]]
            self.assertEqual(sorted(set(steps)), list(range(7850, 8201, 50)))
        self.assertEqual(bits(found[1]), bits(found[2]))
        scaled, batches = (of_method(found[1], method) for method in ("random-scaling", "overlapping-batches"))
        for one, other in zip(scaled, batches):
            self.assertEqual(one["estimate"], other["estimate"])
            self.assertGreater(other["standard_error"], 0)
            self.assertLess((other["high"] - other["low"]) / (one["high"] - one["low"]), 3)
        with interrupted("checkpoint:0"):
            self.play([*words, "--output", "cut", "--checkpoint-every", "7900"])
        resumed = self.run_command(1, ["infer", "--resume", "cut", "--json"])
        self.assertEqual(resumed.code, 0, resumed)
        self.assertEqual(bits(resumed.summary()["intervals"]), bits(found[1]))
        few = self.summary([*words, "--rounds", "100"], "few")
        self.assertIn("no overlapping-batches: 100 steps are fewer than nine batches", " ".join(few["notes"]))

    @slow
    def test_plug_in_central(self):
        summary = self.check_equal([*NOISY, "--intervals", self.PATHS + ",plug-in", "--trust", "central"])
        self.assertEqual(len(summary["intervals"]), 12)

    @fewer
    def test_the_bias_is_removed(self):
        clear = ["--mechanism", "gaussian", "--mu", "300", "--noise-key", "seed", "--intervals", self.PATHS]
        summary = self.check_equal([*clear, "--bias", "remove"], joint=())
        self.assertNotIn("NOT removed", " ".join(summary["notes"]))
        for method in ("random-scaling", "batch-means"):
            self.assertEqual([each["estimate"] for each in of_method(summary["intervals"], method)], summary["final_model"])
        plain = self.summary(["--source", "data.csv", "--clients", "7", *clear], "plain")
        self.assertNotEqual(plain["final_model"], summary["final_model"])

    def check_graph(self, edges):
        path = self.write("graph.topo", topology(7, [], everywhere=edges))
        summary = self.check_equal([*NOISY, "--intervals", self.PATHS, "--topology", path])
        self.assertEqual([each["client"] for each in summary["per_client"]], list(range(7)))
        self.assertEqual(len(summary["intervals"]), 7 * 8)
        estimates = {tuple(each["estimate"] for each in own["intervals"]) for own in summary["per_client"]}
        self.assertEqual(len(estimates), 7)

    @fewer
    def test_a_ring(self):
        self.check_graph(self.RING)

    @slow
    def test_a_directed_unbalanced_graph(self):
        self.check_graph(self.UNBALANCED)


class UnequalStreams(InferCase):
    @fewer
    def test_each_client_has_its_own_intervals(self):
        """Client 2 has fewer records, which are dealt into as many steps."""
        for client, count in enumerate((200, 200, 150, 200)):
            self.csv(f"{client}.csv", linear_rows(count, 20 + client), "a,b,c,y")
        edges = [(i, (i + 1) % 4) for i in range(4)]
        path = self.write("ring.topo", topology(4, [], everywhere=edges))
        words = ["--source", "{client}.csv", "--topology", path, "--clients", "4", *OPEN, "--intervals",
                 "random-scaling,batch-means:5"]
        found = {}
        for ranks in layouts((1, 4, 2)):
            found[ranks] = self.summary(words, f"run-{ranks}", ranks)["per_client"]
        for ranks in found:
            self.assertEqual(found[ranks], found[1], f"{ranks} ranks")
        for own in found[1]:
            batches, scaled = (of_method(own["intervals"], method) for method in ("batch-means", "random-scaling"))
            self.assertEqual((len(batches), len(scaled)), (4, 4))
            for each in batches:
                self.assertLess(each["low"], each["high"])
            for each, other in zip(batches, scaled):
                self.assertEqual(each["estimate"], other["estimate"])
                self.assertLess(other["low"], other["high"])

    @fewer
    def test_a_client_of_few_records_has_intervals_too(self):
        """The records of all count, whoever has the most."""
        for client, count in enumerate((50, 400, 120, 300)):
            self.csv(f"{client}.csv", linear_rows(count, 20 + client), "a,b,c,y")
        path = self.write("ring.topo", topology(4, [], everywhere=RING_OF_4))
        words = ["--source", "{client}.csv", "--topology", path, "--clients", "4", *OPEN, "--joint"]
        found = {ranks: self.summary(words, f"run-{ranks}", ranks) for ranks in layouts((1, 4, 2))}
        for summary in found.values():
            self.assertEqual((summary["interval_records"], "joint" in summary), (870, True))
            for own in summary["per_client"]:
                for each in own["intervals"]:
                    self.assertLess(each["low"], each["high"])
            self.assertEqual(bits(summary["per_client"]), bits(found[1]["per_client"]))

    def test_few_steps_that_a_budget_allows_give_no_intervals(self):
        words = ["--source", self.csv("data.csv", linear_rows(300, 5), "a,b,c,y"), *NOISY, "--tuning", "off", "--intervals",
                 "random-scaling,plug-in", "--budget"]
        few = self.summary([*words, "80"], "few")
        self.assertEqual({(each["method"], each["low"]) for each in few["intervals"]}, {("random-scaling", None), ("plug-in", None)})
        self.assertIn("fewer than 30 steps for each coefficient, 120 in all, mean nothing", " ".join(few["notes"]))
        more = self.summary([*words, "2000"], "more")
        self.assertTrue(all(each["low"] < each["high"] for each in of_method(more["intervals"], "random-scaling")))


class Results(InferCase):
    WORDS = [*NOISY, "--joint", "--levels", "0.95,0.5"]

    def source(self):
        return ["--source", self.csv("data.csv", linear_rows(2400, 3), "age,bmi,smoker,charges"), "--batch", "5"]

    def test_the_last_lines_name_the_table(self):
        result = self.run_alone(["infer", *self.source(), *NOISY, "--output", "named"])
        self.assertIn("Files      summary.json, coefficients.csv, model.h5, privacy.txt, history.csv", result.out, result)

    def check_tables(self, summary, clients):
        """The files say what the summary says."""
        intervals = summary["intervals"]
        self.assertEqual(list(dict.fromkeys(each["name"] for each in intervals)), ["age", "bmi", "smoker", "intercept"])
        rows = self.table("run/coefficients.csv")
        self.assertEqual(len(rows), len(intervals))
        columns = ["name", "estimate", "standard_error", "low", "high", "level", "method"]
        self.assertEqual(list(rows[0]), (["client"] if clients > 1 else []) + columns)
        for row, interval in zip(rows, intervals):
            for name in columns:
                value = interval[name]
                self.assertEqual(row[name], "" if value is None else value if isinstance(value, str) else row[name])
                if isinstance(value, float):
                    self.assertEqual(float(row[name]), value)
            self.assertEqual(row.get("client"), str(interval["client"]) if clients > 1 else None)
            self.assertEqual(interval["excludes_zero"], interval["low"] > 0 or interval["high"] < 0)

    def check_path(self, summary, clients):
        """intervals.csv ends with the run's intervals from the path, of client 0 where clients have their own."""
        rows = self.table("run/intervals.csv")
        steps = [int(row["steps"]) for row in rows]
        self.assertEqual(steps, sorted(steps))
        self.assertGreater(len(set(steps)), 20)
        self.assertEqual(steps[-1], summary["rounds"])
        for row in rows:
            self.assertEqual(float(row["records"]), int(row["steps"]) * 5 * clients)
        last = [row for row in rows if int(row["steps"]) == steps[-1]]
        expected = [each for each in summary["intervals"] if each["method"] != "plug-in" and each.get("client", 0) == 0]
        columns = ("estimate", "low", "high", "level")
        self.assertEqual([(row["name"], row["method"], *(float(row[name]) for name in columns)) for row in last],
                         [(each["name"], each["method"], *(each[name] for name in columns)) for each in expected])

    def check_printed(self, text, summary):
        """Whether intervals of the first level exclude 0 is marked at the end of the coefficient's row."""
        for method in ("random-scaling", "plug-in"):
            own = [each for each in of_method(summary["intervals"], method) if each["level"] == 0.95]
            if not own:
                continue
            block = re.search(rf"^  (?:client 0, )?{method} .*\n((?:  \S.*\n)+)", text, re.MULTILINE).group(1)
            marks = {line.split()[0]: re.findall(r"\* yes|\bno\b|not settled", line)[0] for line in block.splitlines()}
            self.assertEqual(marks, {each["name"]: "not settled" if not summary["settled"] else "* yes" if each["excludes_zero"] else "no"
                                     for each in own if each.get("client", 0) == 0})

    def check_report(self, summary):
        report = self.run_alone(["report", "run"])
        self.assertEqual((report.code, report.messages()), (0, []), report)
        self.check_printed(report.out, summary)
        self.assertIn("All but the intercept zero?", report.out)
        return report.out

    def test_aggregated(self):
        summary = self.summary([*self.source(), *self.WORDS, "--intervals", "random-scaling,batch-means:5,plug-in"], "run")
        self.assertEqual((summary["command"], summary["dimension"], summary["aggregated"]), ("infer", 4, True))
        self.assertIsInstance(summary["notes"], list)
        self.assertNotIn("per_client", summary)
        self.assertEqual(len(summary["intervals"]), 3 * 2 * 4)
        self.assertEqual(summary["joint"]["names"], ["age", "bmi", "smoker"])
        self.assertGreater(summary["joint"]["statistic"], summary["joint"]["critical"])
        self.check_tables(summary, 1)
        self.check_path(summary, 1)
        self.check_report(summary)
        if shutil.which("gnuplot"):
            self.assertIn("</svg>", (self.folder / "run" / "intervals.svg").read_text())

    def test_plug_in_along_the_way(self):
        """The rows after n steps are what a run of n steps ends with, on any number of ranks."""
        words = [*self.source(), "--clients", "2", "--intervals", "random-scaling,plug-in", "--plug-in-path"]
        for ranks in (1, 2):
            self.summary([*words, *NOISY], f"noisy-{ranks}", ranks)
        self.assertEqual(self.table("noisy-1/intervals.csv"), self.table("noisy-2/intervals.csv"))
        words += OPEN
        summary = self.summary(words, "run")
        rows = self.table("run/intervals.csv")
        steps = sorted({int(row["steps"]) for row in rows})
        middle = steps[-4]
        shorter = self.summary([*words, "--rounds", str(middle)], "shorter")
        for end, of in ((middle, shorter), (steps[-1], summary)):
            own = [row for row in rows if int(row["steps"]) == end and row["method"] == "plug-in"]
            expected = of_method(of["intervals"], "plug-in")
            self.assertEqual(len(own), len(expected))
            for row, each in zip(own, expected):
                for key in ("estimate", "low", "high"):
                    self.assertAlmostEqual(float(row[key]), each[key], delta=1e-9 * abs(each["estimate"]))
        refused = self.play([*words, "--trust", "central", "--output", "no"])
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("--trust", refused.err)

    def test_each_method_alone(self):
        """Says what it says beside the others; batch means and random scaling are of one path, matrices need none."""
        words = [*self.source(), *OPEN, "--intervals"]
        together = self.summary([*words, "random-scaling,batch-means:5,plug-in"], "together")
        for method in ("random-scaling", "batch-means:5", "plug-in"):
            with self.subTest(method):
                alone = self.summary([*words, method], "run-" + method.split(":")[0])["intervals"]
                self.assertEqual(len(alone), 4)
                self.assertEqual(bits(alone), bits(of_method(together["intervals"], method.split(":")[0])))
        none = self.summary([*words, "none"], "none")
        self.assertEqual((none["intervals"], bits(none["final_model"])), ([], bits(together["final_model"])))

    def test_records_that_count(self):
        """Three clients with 140, 60 and 10 records: who has none left does not count on."""
        for k, count in enumerate((140, 60, 10)):
            self.csv(f"part-{k}.csv", linear_rows(count, k))
        summary = self.summary(["--source", str(self.folder / "part-{client}.csv"), "--clients", "3", *OPEN], "run", 2)
        self.assertEqual((summary["rounds"], summary["interval_records"]), (140, 210))
        records = {int(row["steps"]): float(row["records"]) for row in self.table("run/intervals.csv")}
        self.assertEqual([records[steps] for steps in (1, 10, 140)], [3, 30, 210])

    def test_some_coefficients_are_zero(self):
        """x1 alone matters: what is printed of the others is not always that they exclude 0."""
        generator = random.Random(4)
        rows = [[generator.gauss(0, 1) for _ in range(3)] for _ in range(2000)]
        lines = [",".join(map(repr, [*x, 3 * x[0] + generator.gauss(0, 0.5)])) for x in rows]
        words = ["--source", self.csv("data.csv", lines, "age,bmi,smoker,charges"), *OPEN, "--levels", "0.95,0.5",
                 "--intervals", "random-scaling,plug-in"]
        summary = self.summary(words, "run")
        verdicts = {each["name"]: each["excludes_zero"] for each in summary["intervals"] if each["level"] == 0.95}
        self.assertEqual(verdicts["age"], True)
        self.assertIn(False, verdicts.values())
        self.check_printed(self.run_alone(["report", "run"]).out, summary)

    def test_every_client_its_own(self):
        graph = self.write("ring.topo", topology(4, [], everywhere=RING_OF_4))
        summary = self.summary([*self.source(), *self.WORDS, "--clients", "4", "--topology", graph], "run", 2)
        self.assertEqual(summary["aggregated"], False)
        self.assertEqual([each["client"] for each in summary["per_client"]], [0, 1, 2, 3])
        for own in summary["per_client"]:
            self.assertEqual(own["intervals"], [{name: value for name, value in each.items() if name != "client"}
                                                for each in summary["intervals"] if each["client"] == own["client"]])
        self.check_tables(summary, 4)
        self.check_path(summary, 4)
        self.check_report(summary)

    def test_squares_have_no_curvature_bias(self):
        """Features of 1e-8 leave slopes far from where they belong, but not for a curvature that changes with the model."""
        generator = random.Random(7)
        lines = [f"{generator.gauss(0, 1e-8)!r},{generator.gauss(1, 0.5)!r}" for _ in range(500)]
        words = ["--source", self.csv("tiny.csv", lines, "a,y"), *OPEN, "--loss", "squared", "--intervals", "random-scaling,plug-in"]
        summary = self.summary(words, "run")
        self.assertNotIn("curvature bias", " ".join(summary["notes"]))

    def test_what_it_costs(self):
        """Plug-in costs sqrt(3) mu, the path nothing beyond the steps; the ledger agrees, of those too with many records."""
        for name, words, price in (("path", [], 2), ("local", ["--intervals", "plug-in", "--trust", "local"], 2 * math.sqrt(3)),
                                   ("central", ["--intervals", "plug-in", "--trust", "central"], 2 * math.sqrt(3)),
                                   ("bias", ["--bias", "remove"], 2)):
            with self.subTest(name):
                summary = self.summary([*self.source(), "--clients", "2", *NOISY, *words], name)
                privacy = summary["privacy"]
                self.assertAlmostEqual(privacy["mu"], price, delta=1e-9)
                self.assertIn(f"mu = {price:.4g}", privacy["statement"])
                done = self.run_alone(["privacy", "ledger", f"{name}/private/0/ledger", "--json"])
                self.assertEqual((done.code, done.messages()), (0, []), done)
                ledger = done.summary()
                self.assertTrue(ledger["whole"])
                self.assertEqual([(loss["client"], loss.get("through")) for loss in ledger["losses"]], [(0, 1)])
                for loss in ledger["losses"]:
                    self.assertAlmostEqual(loss["record"]["mu"], price, delta=1e-9)
                    self.assertAlmostEqual(loss["one_per_batch"]["epsilon"] / privacy["one_per_batch_epsilon"], 1, delta=1e-9)
                    self.assertAlmostEqual(loss["client_total"]["epsilon"] / privacy["client_epsilon"], 1, delta=1e-9)

    def test_a_study_can_be_reported(self):
        self.summary(["--source", "synthetic:linear:n=200", *OPEN, "--replications", "2"], "run")
        report = self.run_alone(["report", "run"])
        self.assertEqual((report.code, report.messages()), (0, []), report)
        self.assertIn("Coverage in %", report.out)


@unittest.skipIf(numpy is None, "numpy is not installed")
class OwnUnits(InferCase):
    """Columns of other units, and what makes them alike: the coefficients in the units of the file are those of least
    squares."""

    CONSTANTS = "feature,mean,sd\nage,40,10\nbmi,30,5\ny,14000,3000\n"

    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(6)
        self.x = numpy.column_stack([generator.normal(40, 10, 20000), generator.normal(30, 5, 20000)])
        self.y = 1000 + self.x @ [250, 90] + generator.normal(0, 300, 20000)
        self.words = ["--source", self.csv("raw.csv", (",".join(map(repr, [*map(float, x), float(y)])) for x, y in zip(self.x, self.y)),
                                           "age,bmi,y")]
        self.standardised = [*self.words, "--standardise", self.write("constants.csv", self.CONSTANTS)]

    def least_squares(self):
        design = numpy.column_stack([self.x, numpy.ones(len(self.x))])
        inverse = numpy.linalg.inv(design.T @ design)
        estimate = inverse @ (design.T @ self.y)
        return estimate, numpy.sqrt(numpy.diag(inverse) * ((self.y - design @ estimate) ** 2).mean())

    def test_least_squares(self):
        estimate, error = self.least_squares()
        summary = self.summary([*self.standardised, *OPEN, "--intervals", "random-scaling,batch-means:10,plug-in"], "run")
        self.assertTrue(summary["settled"], summary["settling"])
        rows = self.table("run/coefficients-own-units.csv")
        for method in ("random-scaling", "batch-means", "plug-in"):
            own = of_method(summary["own_units"], method)
            self.assertEqual([each["name"] for each in own], ["age", "bmi", "intercept"])
            self.assertEqual([float(row["low"]) for row in rows if row["method"] == method], [each["low"] for each in own])
            for each, value, deviation in zip(own, estimate, error):
                self.assertLess(abs(each["estimate"] - value), 4 * deviation, (method, each))
        for each, deviation in zip(of_method(summary["own_units"], "plug-in"), error):
            self.assertAlmostEqual(each["standard_error"] / deviation, 1.1, delta=0.1)  # weights of rows cost efficiency
        report = self.run_alone(["report", "run"])
        self.assertIn("In the data's own units", report.out)
        self.assertIn("std. error", report.out)

    def test_slopes_are_scaled(self):
        """On a graph too, and whatever the method: the interval of a slope is that of the standardised one, times a constant."""
        graph = self.write("ring.topo", topology(2, [], everywhere=[(0, 1), (1, 0)]))
        summary = self.summary([*self.standardised, *NOISY, "--clients", "2", "--topology", graph], "run")
        factor = {"age": 300, "bmi": 600}
        self.assertEqual(len(summary["own_units"]), 6)
        for each, own in zip(summary["intervals"], summary["own_units"]):
            if each["name"] in factor:
                for name in ("estimate", "low", "high"):
                    self.assertAlmostEqual(own[name] / (factor[each["name"]] * each[name]), 1, delta=1e-9)
            else:
                slopes = [one["estimate"] for one in summary["intervals"] if one["client"] == each["client"]]
                expected = 14000 + 3000 * (slopes[2] - 4 * slopes[0] - 6 * slopes[1])
                self.assertAlmostEqual(own["estimate"] / expected, 1, delta=1e-9)

    def test_raw_units_do_not_settle(self):
        """Least squares has 250 for age, and the path is far from it: nothing is starred."""
        summary = self.summary([*self.words, *OPEN], "run")
        self.assertEqual((summary["settled"], "own_units" in summary), (False, False))
        self.assertLess(summary["settling"]["effective_steps"], summary["settling"]["least_effective_steps"])
        self.assertIn("not settled", " ".join(summary["notes"]))
        self.assertIn("--standardise", " ".join(summary["notes"]))
        out = self.run_alone(["report", "run"]).out
        self.assertIn("not settled", out)
        self.assertNotIn("* yes", out)

    @fewer
    def test_constants_of_the_data(self):
        """Without protection the run writes the constants that it wants, the same for any layout; with them it settles."""
        words = [*self.words, "--clients", "4"]
        texts = set()
        for ranks in layouts((1, 4, 2)):
            summary = self.summary([*words, *OPEN], f"run-{ranks}", ranks)
            self.assertIn("standardise.csv", " ".join(summary["notes"]))
            texts.add((self.folder / f"run-{ranks}" / "standardise.csv").read_text())
        text, = texts
        self.assertEqual(text.splitlines()[0], "feature,mean,sd")
        constants = {row["feature"]: row for row in csv.DictReader(text.splitlines())}
        for name, column in (("age", self.x[:, 0]), ("bmi", self.x[:, 1]), ("y", self.y)):
            self.assertAlmostEqual(float(constants[name]["mean"]) / column.mean(), 1, delta=1e-4)
            self.assertAlmostEqual(float(constants[name]["sd"]) / column.std(), 1, delta=1e-4)
        again = self.summary([*self.words, *OPEN, "--standardise", self.folder / "run-1" / "standardise.csv"], "again")
        self.assertEqual((again["settled"], (self.folder / "again" / "standardise.csv").exists()), (True, False))
        self.summary([*words, *NOISY], "private")
        self.assertFalse((self.folder / "private" / "standardise.csv").exists())
        said = "columns stay in the units of the table"
        for name, more in (("private", []), ("scaled", ["--standardise", self.folder / "run-1" / "standardise.csv"])):
            summary = self.summary([*words, *NOISY, *more], name + "-path")
            self.assertEqual(said in " ".join(summary["notes"]), not more)

    def test_constants_of_a_time_in_seconds(self):
        """Its deviation is a ten-millionth of its mean, and each client has its own quarter of the time."""
        time, other = 1.7e9 + numpy.arange(800) / 2, numpy.random.default_rng(3).normal(0, 1, 800)
        path = self.csv("time.csv", [",".join(map(repr, map(float, row))) for row in zip(time, other, other)], "time,other,y")
        self.summary(["--source", path, "--clients", "4", *OPEN], "time")
        row = self.table("time/standardise.csv")[0]
        self.assertAlmostEqual(float(row["mean"]), time.mean(), delta=time.std() / 100)
        self.assertAlmostEqual(float(row["sd"]) / time.std(), 1, delta=1e-4)


class ManyCoefficients(InferCase):
    def test_a_path_that_has_not_settled_is_found(self):
        """Steps of 1 are far too short for 141 coefficients, whatever the number of steps."""
        words = ["--source", "synthetic:linear:p=140,n=4300", *OPEN]
        summary = self.summary(words, "run")
        self.assertEqual(summary["settled"], False)
        self.assertIn("not settled", " ".join(summary["notes"]))


class BadInput(InferCase):
    def refused(self, code, words, *patterns):
        """One clear line and nothing else."""
        result = super().refused(code, words, *patterns)
        self.assertEqual((result.out, len(result.err.splitlines())), ("", 1), result)

    def setUp(self):
        super().setUp()
        self.rows = linear_rows(300, 5)
        self.good = ["--source", self.csv("good.csv", self.rows, "a,b,c,y")]

    def test_options(self):
        good = self.good
        graph = self.write("ring.topo", topology(2, [], everywhere=[(0, 1), (1, 0)]))
        cases = {
            "mu": ([*good, "--mechanism", "gaussian", "--mu", "0"], "--mu", "0"),
            "no mechanism": (good, "--mechanism"),
            "squared": ([*good, *NOISY, "--loss", "squared"], "squared", "gaussian"),
            "laplace": ([*good, "--mechanism", "laplace", "--epsilon", "1"], "laplace"),
            "power": ([*good, *OPEN, "--step-power", "0.5"], "--step-power 0.5"),
            "power 1": ([*good, *OPEN, "--step-power", "1"], "--step-power 1"),
            "level": ([*good, *OPEN, "--levels", "1"], "--levels 1"),
            "level 0": ([*good, *OPEN, "--levels", "0.9,0"], "--levels 0"),
            "a level twice": ([*good, *OPEN, "--levels", "0.95,0.95"], "--levels", "0.95"),
            "burn-in": ([*good, *OPEN, "--burn-in", "300"], "--burn-in 300", "300 steps"),
            "graph": ([*good, *NOISY, "--topology", graph, "--intervals", "plug-in"], "plug-in", "--topology"),
            "trust": ([*good, *NOISY, "--trust", "central"], "--trust", "plug-in"),
            "loss": ([*good, *OPEN, "--loss", "dwd:1"], "dwd", "huber"),
            "intervals": ([*good, *OPEN, "--intervals", "bootstrap"], "bootstrap", "random-scaling"),
            "one batch": ([*good, *OPEN, "--intervals", "batch-means:1"], "batch-means:1"),
            "study of a file": ([*good, *OPEN, "--replications", "2"], "--replications", "generator"),
            "study of no intervals": (["--source", "synthetic:linear:n=150", *OPEN, "--replications", "2", "--intervals", "none"],
                                      "--replications", "--intervals none"),
            "study with a test": (["--source", "synthetic:linear:n=150", *OPEN, "--replications", "2", "--test",
                                   "synthetic:linear:n=100"], "--test", "--replications"),
            "study without an intercept": (["--source", "synthetic:linear:n=150", *OPEN, "--replications", "2", "--intercept", "no"],
                                           "--intercept no"),
            "study without coefficients": (["--source", "synthetic:two-gaussians:n=2000", "--loss", "logistic", *OPEN,
                                            "--replications", "2"], "--replications", "coefficients"),
            "study of an expectile of a mean": (["--source", "synthetic:linear:n=150", *OPEN, "--replications", "2", "--loss",
                                                 "expectile:0.8,1"], "--replications", "squared or huber"),
            "study of a robust mean of classes": (["--source", "synthetic:logistic:n=150", *OPEN, "--replications", "2"],
                                                  "--replications", "--loss logistic"),
            "study of another expectile": (["--source", "synthetic:expectile:tau=0.6,c=2,n=150", *OPEN, "--replications", "2",
                                            "--loss", "expectile:0.6,1"], "--replications", "--loss expectile:0.6,2"),
        }
        for name, (words, *patterns) in cases.items():
            with self.subTest(name):
                self.refused(UNUSABLE, words, *patterns)

    def test_too_few_records(self):
        short = ["--source", self.csv("short.csv", self.rows[:30], "a,b,c,y"), *OPEN]
        self.refused(UNUSABLE, [*short, "--rounds", "31"], "--rounds 31", "30 rounds")
        self.refused(UNUSABLE, [*short, "--batch", "3", "--rounds", "11"], "--rounds 11", "10 rounds")
        self.refused(UNUSABLE, short, "30 steps for 4 coefficients", "120 in all", "--batch", "--intervals none")
        self.refused(UNUSABLE, [*short, "--intercept", "no"], "30 steps for 3 coefficients", "90 in all")
        self.refused(UNUSABLE, ["--source", "synthetic:linear:n=119", *OPEN, "--replications", "2"], "119 steps", "120 in all")
        self.refused(UNUSABLE, ["--source", "synthetic:linear:n=1000", *OPEN, "--burn-in", "881"], "119 steps after the burn-in")
        self.assertEqual(self.summary([*short, "--intervals", "none"], "none")["rounds"], 30)
        many = self.csv("many.csv", self.rows[:130], "a,b,c,y")
        self.refused(UNUSABLE, ["--source", many, *OPEN, "--intervals", "batch-means:40"], "batch-means:40", "130 steps",
                     "at least [0-9]+ steps")

    def test_so_many_steps_suffice_for_batch_means(self):
        """The number in the message is the least that goes."""
        words = ["--source", self.good[1], *OPEN, "--intervals", "batch-means:20", "--rounds"]
        result = self.play([*words, "130"])
        least = int(re.search(r"at least (\d+) steps", result.err).group(1))
        self.refused(UNUSABLE, [*words, least - 1], f"{least - 1} steps")
        self.summary([*words, least], "run")

    def test_constant_columns(self):
        one = ["--source", self.csv("one.csv", [f"7,{row}" for row in self.rows], "site,a,b,c,y"), *OPEN]
        two = ["--source", self.csv("two.csv", [f"7,0.5,{row}" for row in self.rows], "site,year,a,b,c,y"), *OPEN]
        self.refused(UNREADABLE, one, "'site'", "never varies", "--drop", "--intercept no")
        self.refused(UNREADABLE, two, "'site'", "'year'", "never var(y|ies)")
        self.assertEqual([each["name"] for each in self.summary([*one, "--intercept", "no"], "alone")["intervals"]], ["site", "a", "b", "c"])
        self.assertEqual(len(self.summary([*one, "--drop", "site"], "dropped")["intervals"]), 4)

    def test_data(self):
        classes = self.csv("classes.csv", [row.rsplit(",", 1)[0] + f",{i % 3}" for i, row in enumerate(self.rows)], "a,b,c,y")
        self.refused(UNREADABLE, ["--source", classes, "--loss", "logistic", *OPEN], r"classes\.csv", "row 4", "a label is outside")
        for what in ("nan", "inf", "oops"):
            path = self.csv("broken.csv", [*self.rows[:42], f"{what},1,1,1", *self.rows[42:]], "a,b,c,y")
            self.refused(UNREADABLE, ["--source", path, *OPEN], r"broken\.csv", r"row 44\b", "'a'")
        colours = self.csv("colours.csv", [("green," if i == 100 else "red,") + row for i, row in enumerate(self.rows)],
                           "colour,a,b,c,y")
        codes = self.write("codes.csv", "column,category,value\ncolour,red,0\ncolour,blue,1\n")
        self.refused(UNREADABLE, ["--source", colours, "--encode", codes, *OPEN], r"colours\.csv", "row 102", "a category never seen", "'blue'")

    def test_a_budget_too_small(self):
        self.refused(UNAFFORDABLE, [*self.good, *NOISY, "--budget", "0.01"], "--budget", "no client can afford")


class Studies(InferCase):
    def test_intervals_cover(self):
        """Of 20 replications on normal features a 95 % interval misses a coefficient more than 6 times with probability
        3.3e-5 (binomial), one of four coefficients by one of two methods with at most 2.7e-4. Plug-in intervals are
        2 * 1.96 * 0.5 / sqrt(n) long, and less than 3 % longer since models off the truth have larger residuals."""
        start = self.write("start.csv", "1,1,1,1\n")
        words = ["--source", "synthetic:linear:n=4000", *OPEN, "--loss", "squared", "--step", "0.2", "--start", start,
                 "--intervals", "random-scaling,plug-in", "--replications", "20"]
        summary = self.summary(words, "run")
        self.assertEqual([(cell["method"], cell["replications"], cell["unknown"], cell["steps"]) for cell in summary["study"]],
                         [("random-scaling", 20, 0, 4000), ("plug-in", 20, 0, 4000)])
        for cell in summary["study"]:
            for each in cell["coefficients"]:
                with self.subTest(cell["method"], coefficient=each["name"]):
                    self.assertGreaterEqual(each["coverage"], 14 / 20 - 1e-12)
        expected = 2 * 1.959964 * 0.5 / math.sqrt(4000)
        self.assertAlmostEqual(summary["study"][1]["length"] / expected, 1, delta=0.03)

    def test_an_expectile_is_studied_by_its_loss(self):
        words = ["--source", "synthetic:expectile:tau=0.6,c=2,n=150", *OPEN, "--loss", "expectile:0.6,2", "--replications", "1"]
        self.assertTrue(self.summary(words, "run")["study"])

    def test_replications_are_runs_with_the_next_seeds(self):
        words = ["--source", "synthetic:linear:n=300", "--clients", "2", *OPEN, "--intervals", "random-scaling,batch-means:4"]
        study = self.summary([*words, "--seed", "7", "--replications", "3"], "study")["study"]
        again = self.summary([*words, "--seed", "7", "--replications", "3"], "again", 2)["study"]
        self.assertEqual(bits(again), bits(study))
        runs = [self.summary([*words, "--seed", seed], f"run-{seed}")["intervals"] for seed in (7, 8, 9)]
        for cell in study:
            own = [of_method(run, cell["method"]) for run in runs]
            lengths = [[each["high"] - each["low"] for each in run] for run in own]
            self.assertAlmostEqual(cell["length"], statistics.fmean(map(statistics.fmean, lengths)), delta=1e-12)
            error = statistics.stdev(map(statistics.fmean, lengths)) / math.sqrt(3)
            self.assertAlmostEqual(cell["length_error"], error, delta=1e-12)
            for j, each in enumerate(cell["coefficients"]):
                self.assertEqual(each["name"], own[0][j]["name"])
                self.assertAlmostEqual(each["length"], statistics.fmean(run[j] for run in lengths), delta=1e-12)
                self.assertAlmostEqual(each["bias"], statistics.fmean(run[j]["estimate"] - 1 for run in own), delta=1e-12)
                self.assertAlmostEqual(each["coverage"], statistics.fmean(run[j]["low"] <= 1 <= run[j]["high"] for run in own))
        self.assertEqual({cell["not_settled"] for cell in study}, {3})  # 300 steps are too few
        rows = self.table("study/study.csv")
        self.assertEqual([(row["method"], row["coefficient"]) for row in rows],
                         [(cell["method"], name) for cell in study for name in ("", "x0", "x1", "x2", "intercept")])
        for row, cell in zip([row for row in rows if row["coefficient"] == ""], study):
            self.assertEqual((float(row["length"]), float(row["coverage"])), (cell["length"], cell["coverage"]))

    def test_the_first_replication_with_noise(self):
        """It has the seed of the command, and so the noise of the run without replications."""
        words = ["--source", "synthetic:linear:n=150", "--mechanism", "gaussian", "--mu", "50", "--noise-key", "seed",
                 "--intervals", "random-scaling,plug-in"]
        study = self.summary([*words, "--replications", "1"], "study")["study"]
        run = self.summary(words, "run")["intervals"]
        for cell in study:
            own = of_method(run, cell["method"])
            self.assertEqual([each["bias"] for each in cell["coefficients"]], [each["estimate"] - 1 for each in own])

    def test_noise_of_its_own(self):
        """Replications do not share their noise, which is eight times that of the records: else the bias would be some 50 of
        its standard errors. Five are exceeded by one of four coefficients with probability 5e-5 (t, 39 degrees)."""
        words = ["--source", "synthetic:linear:n=400", "--mechanism", "gaussian", "--mu", "1", "--noise-key", "seed",
                 "--step-offset", "50", "--start", self.write("start.csv", "1,1,1,1\n"), "--replications", "40"]
        cell = self.summary(words, "study")["study"][0]
        for each in cell["coefficients"]:
            self.assertLess(abs(each["bias"]), 5 * each["bias_error"], each["name"])


class Endings(InferCase):
    RUN = ["infer", "--clients", "3", "--source", "synthetic:linear", "--rounds", "50000000", *OPEN, "--intervals",
           "random-scaling,batch-means:5", "--record-every", "500", "--output", "run"]
    STUDY = ["infer", "--clients", "2", "--source", "synthetic:linear:n=500", *OPEN, "--replications", "10000000",
             "--progress", "on", "--output", "run"]

    def stop(self, words, begun, ranks, number):
        """Stops the run by a signal to its last rank, once it has begun."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        job = self._start([(ranks, words, [])], RANK_SCRIPT)
        pids = job.pids(ranks)
        wait_until(lambda: begun(job), "something is done")
        os.kill(pids[-1], number)
        result = job.finish(20)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * ranks, result)
        self.assertEqual(result.messages(), [], result)
        return self.summary_in("run")

    def recorded(self, job):
        history = self.folder / "run" / "history.csv"
        rows = history.read_text().splitlines() if history.exists() else []
        return len(rows) > 1 and int("0" + rows[-1].split(",")[0]) > 1000

    def replicated(self, job):
        job._err.flush()
        return b"replication 8 of" in os.pread(job._err.fileno(), 100_000, 0)

    def test_a_run(self):
        for ranks, number in ((1, signal.SIGINT), (2, signal.SIGUSR1)):
            with self.subTest(ranks=ranks):
                summary = self.stop(self.RUN, self.recorded, ranks, number)
                self.assertGreater(summary["rounds"], 500)
                self.assertLess(summary["rounds"], summary["rounds_planned"])
                self.assertIn("stopped by a signal", " ".join(summary["notes"]))
                # The last of the batches was not reached: they tell nothing.
                self.assertEqual([each["method"] for each in summary["intervals"]], ["random-scaling"] * 4)
                for each, estimate in zip(summary["intervals"], summary["final_model"]):
                    self.assertEqual(each["estimate"], estimate)
                    self.assertLess(each["low"], each["high"])
                self.assertEqual(len(self.table("run/coefficients.csv")), 4)
                self.assertEqual(int(self.table("run/intervals.csv")[-1]["steps"]), summary["rounds"])

    def test_a_run_without_an_aggregator(self):
        graph = self.write("ring.topo", topology(4, [], everywhere=RING_OF_4))
        words = [word if word != "3" else "4" for word in self.RUN]
        summary = self.stop([*words, "--topology", graph], self.recorded, 2, signal.SIGUSR1)
        self.assertLess(summary["rounds"], summary["rounds_planned"])
        self.assertEqual([(each["client"], each["method"]) for each in summary["intervals"]],
                         [(k, "random-scaling") for k in range(4) for _ in range(4)])
        self.assertTrue(all(each["low"] < each["high"] for each in summary["intervals"]))

    def test_sums_that_are_released_once_are_not_when_stopped(self):
        """They would be others when the run is taken up again, and a record has paid for one release of them."""
        words = [word if word != "none" else "gaussian" for word in self.RUN]
        words[words.index("--rounds") + 1] = "1000000"
        summary = self.stop([*words, "--mu", "5", "--noise-key", "seed", "--trust", "central", "--intervals",
                             "random-scaling,plug-in"], self.recorded, 1, signal.SIGUSR1)
        self.assertEqual({each["method"] for each in summary["intervals"]}, {"random-scaling"})
        self.assertIn("released once", " ".join(summary["notes"]))

    def test_a_stopped_run_is_a_short_run(self):
        summary = self.stop(self.RUN, self.recorded, 2, signal.SIGUSR1)
        words = [word if word != "50000000" else str(summary["rounds"]) for word in self.RUN[1:-2]]
        again = self.summary(["--json-models", *words], "again")
        self.assertEqual(bits(of_method(again["intervals"], "random-scaling")), bits(summary["intervals"]))

    def test_a_study(self):
        for ranks, number in ((1, signal.SIGUSR1), (2, signal.SIGINT)):
            with self.subTest(ranks=ranks):
                summary = self.stop(self.STUDY, self.replicated, ranks, number)
                cell, = summary["study"]
                self.assertGreaterEqual(cell["replications"], 8)
                self.assertIn(f"stopped by a signal after {cell['replications']} of", " ".join(summary["notes"]))
                self.assertEqual({int(row["replications"]) for row in self.table("run/study.csv")}, {cell["replications"]})


if __name__ == "__main__":
    unittest.main()
