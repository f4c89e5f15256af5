"""Checks at the end of runs (docs/reference/summary.md, "Checks at the end"): runs whose results are wrong say so, and the same runs
on data or graphs that suit them say nothing."""

import math
import random
import unittest

from harness import *

draw_pictures()

AVERAGES = ["--model", "location", "--label", "y", "--loss", "squared", "--mechanism", "none", "--start", "zero", "--step", 0.5, "--step-power",
            0.5]


def cliques(bridge):
    """Two cliques of four clients, with a bridge."""
    edges = [(4 * side + i, 4 * side + j, 0.25 - (bridge if i == j == 0 else 0)) for side in (0, 1) for i in range(4) for j in range(4)]
    return explicit(8, [*edges, (0, 4, bridge), (4, 0, bridge)])


def explicit(clients, edges):
    return f"clients {clients}\nweights explicit\n" + "".join(f"edge {a} {b} {weight}\n" for a, b, weight in edges)


class EndChecks(TestCase):
    def notes(self, command, words):
        """The notes of a run, which its table shows as well."""
        result = self.succeeded(self.run_alone([command, *words, "--output", "run"]))
        notes = self.summary_in("run")["notes"]
        for note in notes:
            self.assertIn(note, result.out)
        shutil.rmtree(self.folder / "run")
        return notes

    def test_graphs_that_do_not_mix_within_the_run(self):
        self.write("starts.csv", "0\n" * 4 + "100\n" * 4)
        for client in range(8):
            self.write(f"c{client}.csv", "x,y\n" + f"{100 * (client // 4)},0\n" * 100)
        average = ["--topology", "g.topo", "--clients", 8, "--loss", "none", "--start", "starts.csv", "--rounds", 100]
        learn = ["--topology", "g.topo", "--clients", 8, "--source", "c{client}.csv", *AVERAGES, "--step-power", 1]
        for bridge, wrong in ((1e-4, True), (0.2, False)):
            self.write("g.topo", cliques(bridge))
            with self.subTest(bridge=bridge):
                for words, says in ((average, "not averaged"), (learn, "clients do not agree")):
                    text = "\n".join(self.notes("omd", words))
                    self.assertEqual("the graph is slow for so few rounds" in text, wrong, text)
                    self.assertEqual(says in text, wrong, text)

    def test_clients_whose_weights_are_not_alike_because_they_do_not_mix(self):
        """A line with a back edge of .001: five optima, of which the mean is 20."""
        line = [(i, i, 0.5) for i in range(4)] + [(i, i + 1, 0.5) for i in range(4)] + [(4, 4, 0.999), (4, 0, 0.001)]
        self.write("g.topo", explicit(5, line))
        for client in range(5):
            self.write(f"c{client}.csv", "x,y\n" + f"{10 * client},0\n" * 400)
        notes = self.notes("omd", ["--topology", "g.topo", "--clients", 5, "--source", "c{client}.csv", *AVERAGES, "--step", 1, "--step-power", 1])
        self.assertIn("clients do not agree", "\n".join(notes))

    def test_regressions_below_a_constant(self):
        draw = random.Random(3)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(400)]
        self.write("t.csv", "x,y\n" + "".join(f"{x},{1000 + 5 * x + e}\n" for x, e in rows))
        words = ["--clients", 2, "--source", "t.csv", "--label", "y", "--loss", "huber:1", "--mechanism", "none", "--test", "t.csv"]
        text = "\n".join(self.notes("fedavg", words))
        self.assertIn("no better on --test than a constant answer, the mean of its labels", text)
        self.write("s.csv", "feature,mean,sd\nx,0,1\ny,1000,5\n")
        self.assertNotIn("constant answer", "\n".join(self.notes("fedavg", [*words, "--standardise", "s.csv"])))

    def test_private_renewable_in_own_units(self):
        """One column is beside the other as nothing, so that the model learns little: said beforehand, and seen on the test set."""
        draw = random.Random(5)
        def table(count, scale):
            rows = [(draw.gauss(0, 1), draw.gauss(5, 1)) for _ in range(count)]
            return "x,z,y\n" + "".join(f"{x:.6f},{scale * z:.6f},{int(2 * x + draw.gauss(0, 1) > 0)}\n" for x, z in rows)
        self.write("s.csv", "feature,mean,sd\nx,0,1\nz,50000,10000\n")
        self.write("raw.csv", table(4000, 1e4))
        self.write("held-out.csv", table(1000, 1e4))
        words = ["--clients", 2, "--source", "raw.csv", "--test", "held-out.csv", "--variant", "private", "--loss", "logistic", "--batch", 20,
                 "--mechanism", "gaussian", "--total-epsilon", 3, "--delta", "1e-5", "--noise-key", "seed"]
        text = "\n".join(self.notes("renewable", words))
        self.assertIn("columns are taken to be standardised, and nothing shows that they are", text)
        self.assertRegex(text, "(no|hardly) better on --test than a constant answer")
        text = "\n".join(self.notes("renewable", [*words, "--standardise", "s.csv"]))
        self.assertNotIn("taken to be standardised", text)
        self.assertNotIn("constant answer", text)

    def test_zeros_for_what_is_missing_in_own_units(self):
        self.write("gaps.csv", "x,z,y\n" + "".join(f"{'' if i % 5 == 0 else 100 + i % 7},{i % 3},{i % 2}\n" for i in range(400)))
        self.write("s.csv", "feature,mean,sd\nx,103,2\nz,1,1\n")
        words = ["--clients", 2, "--source", "gaps.csv", "--loss", "logistic", "--mechanism", "none"]
        said = "missing features are 0 in the units of their columns"
        self.assertIn(said, "\n".join(self.notes("renewable", [*words, "--missing", "zero"])))
        self.assertNotIn(said, "\n".join(self.notes("renewable", [*words, "--missing", "indicator", "--l2", 1])))
        self.assertNotIn(said, "\n".join(self.notes("renewable", [*words, "--missing", "zero", "--standardise", "s.csv"])))

    def test_private_regressions_in_own_units(self):
        """Their losses are withheld, so that nothing shows how far they are off."""
        self.write("t.csv", "x,y\n" + "".join(f"{i % 7},{1000 + i % 11}\n" for i in range(400)))
        self.write("held-out.csv", "x,y\n" + "".join(f"{i % 7}.5,{1000 + i % 11}\n" for i in range(50)))
        self.write("s.csv", "feature,mean,sd\nx,3,2\ny,1005,3\n")
        words = ["--clients", 2, "--source", "t.csv", "--label", "y", "--loss", "huber:1", "--mechanism", "gaussian", "--mu", 1]
        for more, unseen in (([], True), (["--standardise", "s.csv"], False), (["--test", "held-out.csv"], False)):
            with self.subTest(more):
                self.assertEqual("nothing shows whether" in "\n".join(self.notes("omd", [*words, *more])), unseen)

    def test_scores_of_zero(self):
        """A flag that is hardly ever 1, and no constant: most scores are 0, which predicts no class."""
        draw = random.Random(5)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(400)]
        self.write("flag.csv", "flag,y\n" + "".join(f"{int(x > 2)},{int(x + noise > 0)}\n" for x, noise in rows))
        words = ["--clients", 1, "--source", "flag.csv", "--test", "flag.csv", "--mechanism", "none", "--tuning", "off"]
        for more, says in (([], True), (["--intercept"], False)):
            text = "\n".join(self.notes("omd", [*words, *more]))
            self.assertEqual("their scores are 0 or on the wrong side of it" in text, says, text)
            self.assertNotIn("one class is rare", text)
        self.write("zeros.csv", "zero,y\n" + "".join(f"0,{int(i % 3 > 0)}\n" for i in range(300)))
        words = ["--clients", 1, "--source", "zeros.csv", "--test", "zeros.csv", "--mechanism", "none", "--tuning", "off"]
        for more, says in (([], True), (["--intercept"], False)):
            text = "\n".join(self.notes("omd", [*words, *more]))
            self.assertEqual("the scores of all records of --test are 0, which answers no class" in text, says, text)

    def test_batches_of_renewable_estimation(self):
        draw = random.Random(4)

        def table(name, intercept, order=False):
            rows = []
            for _ in range(4000):
                x = draw.gauss(0, 1)
                rows.append((int(draw.random() < 1 / (1 + math.exp(-intercept - x))), x))
            self.write(name, "x,y\n" + "".join(f"{x:.5f},{y}\n" for y, x in (sorted(rows) if order else rows)))
            return ["--source", name, "--clients", 1, "--batch", 200, "--loss", "logistic", "--label", "y", "--mechanism", "none", "--l2", 1e-4,
                    "--penalty", "slopes"]

        for name, words, says in (("rare", table("rare.csv", -6.5), ["a batch tells"]), ("even", table("even.csv", 0), []),
                                  ("sorted", table("sorted.csv", 0, order=True), ["a batch tells", "the estimate has not settled"])):
            with self.subTest(name):
                text = "\n".join(self.notes("renewable", words))
                for each in ("a batch tells", "the estimate has not settled"):
                    self.assertEqual(each in text, each in says, text)

    def test_outliers_that_widen_the_range_of_a_quantiser(self):
        draw = random.Random(5)
        for name, far, size in (("outliers.csv", range(0, 1500, 50), 100), ("one.csv", [700], 1000), ("clean.csv", [], 1)):
            rows = []
            for i in range(1500):
                x = [draw.gauss(0, 1) for _ in range(4)]
                label = int(draw.random() < 1 / (1 + math.exp(-1.5 * (x[0] + x[2]))))
                x[1] *= size if i in far else 1
                rows.append(",".join(f"{value:.4f}" for value in x) + f",{label}\n")
            self.write(name, "a,b,c,d,y\n" + "".join(rows))
            words = ["--source", name, "--label", "y", "--clients", 2, "--columns", "0-1/2-3", "--batch", 50, "--loss", "softmax", "--head",
                     "d-8-2", "--mechanism", "none", "--quantiser", "scalar:1"]
            with self.subTest(name):
                text = "\n".join(self.notes("vertical", words))
                self.assertEqual("the quantiser hides the embeddings" in text, name == "outliers.csv", text)
                self.assertEqual("a single batch may have spoilt the model" in text, name == "one.csv", text)

    def test_squared_losses_from_a_start_that_diverge(self):
        """They end some 60 times worse than they began, where the domain ends."""
        draw = random.Random(6)
        self.write("t.csv", "x,y\n" + "".join(f"{x},{2 * x + draw.gauss(0, 1)}\n" for x in (draw.gauss(0, 1) for _ in range(400))))
        self.write("start.csv", "2\n")
        words = ["--clients", 1, "--source", "t.csv", "--label", "y", "--loss", "squared", "--mechanism", "none", "--intercept", "no", "--start",
                 "start.csv", "--batch", 10, "--step-power", 0, "--domain", "ball:8"]
        self.assertIn("above the", "\n".join(self.notes("omd", [*words, "--step", 4])))
        self.assertEqual(self.notes("omd", [*words, "--step", 0.1]), [])


    def test_steps_that_are_too_short_to_arrive(self):
        """Of one regression, and of classes: the same run with longer steps, or under noise that hides where it goes, says nothing."""
        draw = random.Random(8)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(4000)]
        self.write("t.csv", "x,y\n" + "".join(f"{x:.5f},{2 * x + 1 + e:.5f}\n" for x, e in rows))
        self.write("c.csv", "x,y\n" + "".join(f"{x:.5f},{int(x + e > 0)}\n" for x, e in rows))
        common = ["--clients", 2, "--label", "y", "--batch", 10]
        line = ["--source", "t.csv", "--loss", "huber:5", "--standardise", "s.csv", *common]
        self.write("s.csv", "feature,mean,sd\nx,0,1\n")
        for command in ("omd", "fedavg"):
            for decay in ("power", "linear"):
                for step, mechanism, says in ((0.3, ["none"], False), (0.001, ["none"], True), (0.001, ["gaussian", "--mu", 0.01, "--noise-key", "seed"], False)):
                    with self.subTest(command, step=step, mechanism=mechanism, decay=decay):
                        text = "\n".join(self.notes(command, [*line, "--step-decay", decay, "--step", step, "--mechanism", *mechanism]))
                        self.assertEqual("the model has not arrived" in text, says, text)
        self.assertNotIn("has not arrived", "\n".join(self.notes("omd", ["--source", "c.csv", *common, "--loss", "logistic", "--mechanism", "none"])))

    def test_a_stated_curvature_that_is_too_high_to_arrive(self):
        """Features of a fifth of the scale of the clip: the run ends at a quarter of the slope."""
        for name, scale in (("short.csv", 0.2), ("long.csv", 1)):
            draw = random.Random(1)
            rows = [draw.gauss(0, 1) for _ in range(26000)]
            self.write(name, "x,y\n" + "".join(f"{scale * x:.6f},{int(x + draw.gauss(0, 1) > 0)}\n" for x in rows))
            text = "\n".join(self.notes("renewable", ["--variant", "private", "--source", name, "--clients", 1, "--label", "y", "--batch", 400, "--loss",
                                                       "logistic", "--mechanism", "gaussian", "--mu", 20, "--l2", 0]))
            with self.subTest(name):
                self.assertEqual("the model has not arrived" in text, name == "short.csv", text)

    def test_regressions_of_renewable_estimation_in_some_order(self):
        draw = random.Random(10)
        rows = [(y + draw.gauss(0, 1), y) for y in (draw.gauss(5, 1) for _ in range(4000))]
        for order in (False, True):
            self.write("t.csv", "x,y\n" + "".join(f"{x:.5f},{y:.5f}\n" for x, y in (sorted(rows, key=lambda row: row[1]) if order else rows)))
            for loss, more in (("squared", []), ("huber:1.345", ["--standard-errors", "sandwich"])):
                with self.subTest(loss, order=order):
                    text = "\n".join(self.notes("renewable", ["--source", "t.csv", "--clients", 1, "--batch", 200, "--loss", loss, "--label", "y",
                                                               "--mechanism", "none", *more]))
                    self.assertEqual("the estimate has not settled" in text, order, text)


class UnknownScales(TestCase):
    """`starling infer` by defaults on columns in their own units: age, a lognormal income and a flag."""

    TRUTH = {"age": 0.05, "income": 0.00002, "flag": 1, "intercept": -2.5}

    def setUp(self):
        super().setUp()
        self.write("ranges.csv", "feature,low,high\nage,0,100\nincome,0,100000\nflag,0,1\n")

    def run_on(self, seed, *more, records=20000):
        draw = random.Random(seed)
        rows = []
        for _ in range(records):
            age, income, flag = draw.gauss(45, 12), draw.lognormvariate(10, 0.6), float(draw.random() < 0.1)
            label = 0.05 * age + 0.00002 * income + flag - 2.5 + draw.gauss(0, 1)
            rows.append(f"{age:.2f},{income:.2f},{flag:.0f},{label:.5f}\n")
        self.write("t.csv", "age,income,flag,y\n" + "".join(rows))
        words = ["infer", "--source", "t.csv", "--label", "y", "--clients", 5, "--mechanism", "gaussian", "--mu", 2, "--tuning", "auto",
                 "--noise-key", "seed", "--seed", seed, *more, "--output", "run"]
        result = self.succeeded(self.run_alone(words))
        summary = self.summary_in("run")
        shutil.rmtree(self.folder / "run")
        return summary, result.out

    def test_a_run_whose_warm_up_finds_no_scales_has_not_settled(self):
        for more in (("--estimator", "path"), ("--warmup-share", 0), ("--estimator", "newton", "--feature-share", 0)):
            with self.subTest(more):
                summary, table = self.run_on(7, *more)  # whose path seems to have settled
                self.assertIs(summary["settled"], False)
                if "newton" in more:
                    self.assertIn("income", summary["settling"]["undetermined"])
                else:
                    self.assertIs(summary["settling"]["knows_scales"], False)
                note, = [note for note in summary["notes"] if note.startswith("not settled")]
                self.assertIn("--ranges", note)
                if "newton" in more:
                    self.assertTrue(all(each["low"] is None for each in summary["intervals"]))
                else:
                    self.assertEqual(table.count(" not settled\n"), 4)

    def test_ranges_let_it_settle(self):
        for estimator in ("path", "newton"):
            self.assertTrue(self.run_on(7, "--ranges", "ranges.csv", "--estimator", estimator)[0]["settled"])
        self.assertTrue(self.run_on(7)[0]["settled"], "by constants that Newton's rounds have released")

    @slow
    def test_runs_that_are_not_flagged_cover(self):
        """No run of the design is settled without constants of columns: of 40 paths there were three to fifteen, which covered a quarter to a half. By
        ranges nine of ten settle, and they cover."""
        for estimator, without in (("path", []), ("newton", ["--feature-share", 0])):
            held, settled = 0, 0
            for seed in range(30):
                self.assertFalse(self.run_on(seed, "--estimator", estimator, *without)[0]["settled"])
                summary, _ = self.run_on(seed, "--ranges", "ranges.csv", "--estimator", estimator)
                if not summary["settled"]:
                    continue
                settled += 1
                held += sum(each["low"] <= self.TRUTH[each["name"]] <= each["high"] for each in summary["own_units"])
            self.assertGreaterEqual(settled, 20)
            self.assertGreaterEqual(held / settled / 4, 0.9)


if __name__ == "__main__":
    unittest.main()
