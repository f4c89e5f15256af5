"""`--tuning auto`: what it chooses, what it leaves alone, and that tuned runs repeat, resume and keep their bits."""

import math
import random
import unittest

import numpy

from harness import *
from harness import bits

PRIVATE = ["--mechanism", "gaussian", "--epsilon", "2", "--noise-key", "seed", "--partition", "iid", "--scale-share", "0",
           "--feature-share", "0.0", "--score-share", "0.0", "--tuning", "auto"]


def chosen(summary):
    return {each["option"]: each["value"] for each in summary.get("tuning", {"chosen": []})["chosen"]}


class SlowGraphs(TestCase):
    """A graph that mixes slowly takes more exchanges, and not accuracy. Five classes, independent noise, fixed seeds."""

    def accuracy(self, name, *words):
        drawn = random.Random(5)
        rows = []
        for _ in range(3200):
            x = [drawn.gauss(0, 1) for _ in range(10)]
            rows.append(",".join(f"{v:.4f}" for v in x) + f",{max(range(5), key=lambda k: x[k] + x[k + 5] + drawn.gauss(0, 0.3))}")
        source = self.write("five.csv", "a,b,c,d,e,f,g,h,i,j,y\n" + "\n".join(rows) + "\n")
        test = self.write("test.csv", "a,b,c,d,e,f,g,h,i,j,y\n" + "\n".join(rows[:1600]) + "\n")
        return self.summary_of(1, ["--source", source, "--test", test, "--clients", "16", "--loss", "softmax:5", "--mechanism", "gaussian",
                                   "--total-epsilon", "0.5", "--delta", "1e-5", "--noise-key", "seed", "--feature-share", "0", "--tuning", "auto", *words], name)["accuracy"]

    def test_take_as_many_exchanges_as_they_need(self):
        self.write("ring.topo", "generate directed-ring clients=16\n")
        ring = ["--topology", str(self.folder / "ring.topo")]
        slow = self.accuracy("slow", *ring)
        self.assertGreater(slow, self.accuracy("four", *ring, "--gossip-steps", "4") + 0.04)
        self.assertGreater(slow, self.accuracy("fast") - 0.05)


class Tuning(TestCase):
    def setUp(self):
        super().setUp()
        self.source = self.write("x.csv", "a,b,c,y\n" + "\n".join(csv_rows(520)) + "\n")
        self.words = ["--source", self.source, "--clients", "4", *PRIVATE]

    def test_chooses_from_public_numbers_and_says_why(self):
        result = self.good(1, [*self.words, "--output", "r", "--json", "--epochs", "2"])
        summary = result.summary()
        values = chosen(summary)
        self.assertEqual(set(values), {"intercept", "batch", "clip", "step", "step-decay", "step-cap", "gossip-steps", "noise-correlation"})
        self.assertEqual(values["batch"], "2")  # 130 records of a client in 128 rounds of each of two passes
        self.assertEqual(values["clip"], "1.604")  # of a norm of 2; wider, since there is little noise
        self.assertEqual(values["noise-correlation"], "blt:2")
        self.assertEqual(summary["rounds"], 130)
        for option, value in values.items():
            self.assertIn(f"tuning: {option} {value}: ", result.err)
        self.assertIn("signal to noise", result.err)
        written = configuration(self.folder / "r")
        for option, value in values.items():
            self.assertEqual(written[option], value)
        self.assertEqual(written["tuning"], "off")

    def test_no_choice_leaves_the_range_of_its_option(self):
        result = self.good(1, [*self.words, "--norm", "1e-9", "--output", "r", "--json"])
        self.assertEqual(chosen(result.summary())["step"], "1000000000000")
        self.assertRegex(result.err, r"tuning: step 1000000000000: the most that can be, in place of \d")

    def test_follows_what_is_given(self):
        given = {"intercept": "no", "batch": "5", "clip": "0.25", "step": "0.125", "step-decay": "power", "gossip-steps": "2",
                 "noise-correlation": "none"}
        for option, value in given.items():
            with self.subTest(option):
                summary = self.summary_of(1, [*self.words, f"--{option}", value], option)
                self.assertNotIn(option, chosen(summary))
                self.assertEqual(configuration(self.folder / option)[option], value)
        # Noise that cannot cancel wants fewer rounds.
        self.assertLess(self.summary_of(1, [*self.words, "--noise-correlation", "none"], "few")["rounds"], 130)
        # A power or an offset leaves nothing to choose of how steps fall.
        steps = self.summary_of(1, [*self.words, "--step-power", "0.9"], "power")
        self.assertNotIn("step-decay", chosen(steps))
        self.assertEqual(configuration(self.folder / "power")["step-decay"], "power")
        everything = [word for option, value in given.items() for word in (f"--{option}", value)]
        result = self.good(1, [*self.words, *everything, "--step-cap", "3", "--output", "all", "--json"])
        self.assertEqual(chosen(result.summary()), {})
        # Values that are defaults, too, are those of a repeated run.
        batch = self.summary_of(1, [*self.words, *everything, "--step-cap", "3", "--batch", "1"], "one")
        again = self.summary_of(1, ["--config", str(self.folder / "one" / "config.ini")], "again")
        self.assertEqual(bits(again["models"]), bits(batch["models"]))

    def test_automatic_noise_is_chosen_as_if_nothing_were_said(self):
        silent = self.summary_of(1, self.words, "silent")
        said = self.summary_of(1, [*self.words, "--noise-correlation", "auto"], "said")
        self.assertEqual(chosen(said), chosen(silent))
        self.assertEqual(bits(said["models"]), bits(silent["models"]))

    def test_a_file_that_states_a_default_has_given_it(self):
        self.write("given.ini", "batch = 1\nstep = 1\n")
        values = chosen(self.summary_of(1, [*self.words, "--config", "given.ini"], "given"))
        self.assertNotIn("batch", values)
        self.assertNotIn("step", values)
        printed = self.run_alone(["omd", *self.words, "--print-config"]).out
        self.assertNotRegex(printed, r"(?m)^(batch|step|epochs|noise-correlation) =")
        self.assertRegex(printed, r"(?m)^step-power = 0.5$")
        self.write("printed.ini", printed)
        repeated = self.summary_of(1, ["--config", "printed.ini"], "repeated")
        self.assertEqual(bits(repeated["models"]), bits(self.summary_of(1, self.words, "first")["models"]))

    def test_clients_with_few_records_cost_no_accuracy(self):
        generator = numpy.random.default_rng(1)
        weights = generator.normal(0, 1, 10)

        def table(name, count):
            x = generator.normal(0, 1, (count, 10))
            y = x @ weights + generator.normal(0, 1, count) > 0
            self.write(name, "".join(",".join(f"{v:.4f}" for v in row) + f",{int(label)}\n" for row, label in zip(x, y)))

        for k, count in enumerate((3000, 2000, 100, 1000)):
            table(f"{k}.csv", count)
        table("test.csv", 2000)
        words = ["--source", "{client}.csv", "--clients", "4", "--test", "test.csv", "--mechanism", "gaussian", "--noise-key", "seed",
                 "--total-epsilon", "0.3", "--tuning", "auto"]
        summary = self.summary_of(1, words, "few")
        self.assertEqual(chosen(summary)["noise-correlation"], "blt:2")
        self.assertGreater(summary["accuracy"], 0.83)

    def test_rounds_by_hand_use_all_records(self):
        summary = self.summary_of(1, [*self.words, "--rounds", "10"], "r")
        self.assertEqual((summary["rounds"], chosen(summary)["batch"]), (10, "13"))

    def test_norm_sets_clip_and_step(self):
        one = chosen(self.summary_of(1, [*self.words, "--norm", "1"], "one"))
        four = chosen(self.summary_of(1, [*self.words, "--norm", "4"], "four"))
        self.assertAlmostEqual(float(four["clip"]) / float(one["clip"]), 4, delta=1e-3)
        self.assertTrue(0.5 <= float(one["clip"]) <= 1, one)
        self.assertLess(float(four["step"]), float(one["step"]))
        result = self.run_ranks(1, [*self.words, "--norm", "1,2,3"])
        self.assertEqual(result.code, 2, result)

    @fewer
    def test_same_bits_on_any_number_of_ranks(self):
        for more in ([], ["--dropout", "0.3"], ["--topology", self.write("t.topo", topology(4, [
                (1, [(0, 1), (1, 2), (2, 3), (3, 0)]), (2, [(0, 2), (2, 0), (1, 3), (3, 1)])]))]):
            with self.subTest(more):
                name = "with" + "".join(word.strip("-/")[:7] for word in more[:1])
                runs = [self.summary_of(ranks, [*self.words, *more], f"{name}-{ranks}") for ranks in layouts((1, 4, 2))]
                for run in runs[1:]:
                    self.assertEqual(bits(run["models"]), bits(runs[0]["models"]))
                    self.assertEqual(chosen(run), chosen(runs[0]))

    def test_a_repeated_run_has_the_same_bits(self):
        first = self.summary_of(1, self.words, "first")
        again = self.summary_of(1, ["--config", str(self.folder / "first" / "config.ini")], "again")
        self.assertEqual(bits(again["models"]), bits(first["models"]))
        self.assertEqual(chosen(again), {})

    def test_a_stopped_run_goes_on_with_its_noise(self):
        words = [*self.words, "--epochs", "4", "--batch", "1"]
        whole = self.summary_of(1, words, "whole")
        with interrupted("checkpoint:0"):
            self.run_ranks(1, [*words, "--output", "cut", "--checkpoint-every", "200"])
        self.assertEqual(checkpoints_in(self.folder / "cut" / "private" / "0"), [200])
        resumed = self.succeeded(self.run_command(1, ["omd", "--resume", "cut", "--json-models"]))
        self.assertEqual(bits(resumed.summary()["models"]), bits(whole["models"]))
        self.assertEqual(resumed.summary()["tuning"], whole["tuning"])
        # Steps fall to zero at the planned end: there is no going on after it.
        more = self.run_command(1, ["omd", "--resume", "cut", "--rounds", "6000"])
        self.assertEqual(more.code, 2, more)

    def test_learns_better_than_the_defaults(self):
        words = ["--source", self.write("big.csv", "a,b,c,y\n" + "\n".join(csv_rows(6000)) + "\n"),
                 "--test", self.write("test.csv", "a,b,c,y\n" + "\n".join(csv_rows(2000, seed=7)) + "\n"), "--clients", "4",
                 "--mechanism", "gaussian", "--epsilon", "0.5", "--noise-key", "seed", "--partition", "iid"]
        tuned = self.summary_of(1, [*words, "--tuning", "auto"], "tuned")
        default = self.summary_of(1, [*words, "--tuning", "off"], "default")
        self.assertGreater(tuned["accuracy"], 0.93)
        self.assertGreater(tuned["accuracy"], default["accuracy"] + 0.02)
        self.assertAlmostEqual(tuned["metrics"]["larger_class"], 0.5, delta=0.03)

    def test_is_the_default_but_for_generators_without_noise(self):
        auto = self.summary_of(1, [*self.words[:-2], "--tuning=auto"], "auto")
        self.assertTrue(chosen(auto))
        result = self.run_alone(["omd", "--source", self.source, "--clients", "4", *PRIVATE[:-2], "--output", "plain", "--json"],
                                as_they_are=True)
        self.assertEqual(chosen(result.summary()), chosen(auto))
        bare = self.run_alone(["omd", "--source", self.source, "--clients", "4", "--mechanism", "none", "--output", "bare",
                               "--json"], as_they_are=True)
        self.assertIn("step", chosen(bare.summary()))
        self.assertNotIn("clip", chosen(bare.summary()))
        made = self.run_alone(["omd", "--source", "synthetic:linear", "--loss", "squared", "--rounds", "5", "--clients", "4", "--mechanism", "none", "--output", "made",
                               "--json"], as_they_are=True)
        self.assertEqual(chosen(made.summary()), {})

    def test_says_where_no_rule_is_known(self):
        for words, what in ((["--model", "location", "--loss", "huber"], "the model location"), (["--model", "mlp:3-4-1", "--domain", "ball:5"], "networks in bounded domains"),
                            (["--loss", "linear"], "the loss linear"), (["--unit", "component"], "--unit component")):
            with self.subTest(what):
                name = what.replace(" ", "")
                result = self.good(1, [*self.words, *words, "--output", name, "--json-models"])
                self.assertIn(f"no rule is known for {what}", result.err)
                self.assertEqual(chosen(result.summary()), {})
                off = self.summary_of(1, [*self.words[:-2], *words, "--tuning", "off"], name + "-off")
                self.assertEqual(bits(result.summary()["models"]), bits(off["models"]))

    def test_networks_have_a_norm_that_noise_sees(self):
        words = [*self.words, "--model", "mlp:3-8-1"]
        linear, network = chosen(self.summary_of(1, self.words, "linear")), self.summary_of(1, words, "network")
        self.assertEqual({*chosen(network), "intercept"}, set(linear))
        self.assertEqual(chosen(network)["batch"], linear["batch"])
        self.assertGreater(float(chosen(network)["clip"]), float(linear["clip"]))
        self.assertLess(float(chosen(network)["step"]), float(linear["step"]))
        self.assertIn("noise moves scores as those of a linear model at records with a norm of",
                      self.good(1, [*words, "--output", "told"]).err)
        for ranks, other in ((2, words), (1, ["--config", str(self.folder / "network" / "config.ini")])):
            self.assertEqual(bits(self.summary_of(ranks, other, f"again-{ranks}")["models"]), bits(network["models"]))
        result = self.good(1, [*words, "--mechanism", "laplace", "--output", "laplace"])
        self.assertRegex(result.err, r"no rule is known for networks under other than Gaussian noise.*--mechanism gaussian --delta 1e-5")

    def test_networks_learn_what_no_line_tells(self):
        draw = random.Random(3)
        rows = [(draw.uniform(-2, 2), draw.uniform(-2, 2)) for _ in range(8000)]
        source = self.write("q.csv", "a,b,y\n" + "".join(f"{a},{b},{int(a * b > 0)}\n" for a, b in rows))
        words = ["--source", source, "--clients", "4", "--mechanism", "gaussian", "--total-epsilon", "8", "--noise-key", "seed",
                 "--partition", "iid", "--loss", "softmax:2", "--model", "mlp:2-16-2"]
        tuned = self.summary_of(1, [*words, "--tuning", "auto"], "tuned")
        default = self.summary_of(1, [*words, "--tuning", "off"], "default")
        self.assertGreater(tuned["accuracy"], 0.8)
        self.assertGreater(tuned["accuracy"], default["accuracy"] + 0.05)

    @fewer
    def test_learns_numbers_of_any_size(self):
        """Labels a thousand times as large: the released size, clip and model are so too, and as much is explained."""
        draw = random.Random(8)
        rows = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(6000)]
        labels = [2 * a - b + draw.gauss(0, 1) for a, b in rows]
        common = ["--clients", "4", "--label", "y", "--intercept", "--mechanism", "gaussian", "--epsilon", "1", "--noise-key", "seed",
                  "--partition", "iid", "--tuning", "auto", "--feature-share", "0"]
        for loss in ("squared", "huber:c=3", "expectile:tau=0.7,c=3", "absolute") if SLOW else ("squared", "absolute"):
            explained, chosen_of = [], []
            for size in (1, 1000):
                lines = [f"{a:.5f},{b:.5f},{size * label:.5f}" for (a, b), label in zip(rows, labels)]
                words = [*common, "--source", self.write("n.csv", "a,b,y\n" + "\n".join(lines[:5000]) + "\n"),
                         "--test", self.write("t.csv", "a,b,y\n" + "\n".join(lines[5000:]) + "\n"), "--loss", loss]
                name = f"{loss.split(':')[0]}-{size}"
                summary = self.summary_of(1, words, name)
                explained.append(summary["metrics"]["test"]["r2"])
                chosen_of.append(chosen(summary))
                self.assertEqual(configuration(self.folder / name)["label-size"], chosen_of[-1]["label-size"])
                again = self.summary_of(1, ["--config", str(self.folder / name / "config.ini")], name + "-again")
                self.assertEqual(bits(again["models"]), bits(summary["models"]))
                self.assertAlmostEqual(summary["privacy"]["epsilon"], 1, delta=1e-6)
            self.assertGreater(min(explained), 0.75, loss)  # 0.83 can be explained
            sizes = [float(values["label-size"]) for values in chosen_of]
            self.assertIn(sizes[0], (2, 4))  # the median magnitude is 1.65
            self.assertAlmostEqual(sizes[1] / sizes[0], 1024, delta=512)
            if loss == "squared":
                self.assertAlmostEqual(float(chosen_of[1]["clip"]) / float(chosen_of[0]["clip"]), sizes[1] / sizes[0], delta=1)
        told = self.summary_of(1, [*words, "--label-size", "3000"], "told")
        self.assertNotIn("label-size", chosen(told))
        self.assertEqual(configuration(self.folder / "told")["label-size"], "3000")
        both = self.good(1, [*words, "--label-size", "3000", "--norm", "1", "--output", "both", "--json"])
        self.assertNotIn("norm", chosen(both.summary()))
        self.assertIsNone(both.summary()["privacy"]["norms"])
        classes = self.run_ranks(1, [*self.words, "--label-size", "3"])
        self.assertEqual(classes.code, 2, classes)
        one = self.summary_of(1, [*words, "--norm", "1"], "one")
        self.assertEqual((configuration(self.folder / "one")["norm"], chosen(one).get("norm")), ("1", None))
        self.assertIn("label-size", chosen(one))
        self.assertIn("and of the sizes of their labels", one["privacy"]["statement"])

    @fewer
    def test_learns_in_bounded_domains(self):
        draw = random.Random(4)
        rows = [[draw.gauss(0, 1) for _ in range(8)] for _ in range(8000)]
        lines = [",".join(f"{value:.4f}" for value in row) + f",{1 if 2 * row[0] + row[1] + 0.3 * draw.gauss(0, 1) > 0 else -1}" for row in rows]
        header = ",".join(f"x{k}" for k in range(8)) + ",y\n"
        words = ["--source", self.write("d.csv", header + "\n".join(lines[:7000]) + "\n"),
                 "--test", self.write("t.csv", header + "\n".join(lines[7000:]) + "\n"), "--clients", "4", "--mechanism", "gaussian",
                 "--epsilon", "1", "--noise-key", "seed", "--partition", "iid", "--norm", "2.8"]
        cases = [(["--mirror", "entropic-signed", "--domain", "l1ball:5"], "none"), (["--domain", "ball:100"], "blt:2"),
                 (["--domain", "box:-1,2"], "none")]
        if SLOW:
            cases += [(["--mirror", "entropic", "--domain", "simplex:5"], "none"), (["--domain", "simplex:5"], "none"),
                      (["--domain", "ball:1"], "none"), (["--domain", "box:-9,9"], "blt:2")]
        for more, correlation in cases:
            with self.subTest(more):
                name = "-".join(word.strip("-") for word in more)
                tuned = self.summary_of(1, [*words, *more, "--tuning", "auto"], name)
                self.assertEqual(chosen(tuned)["noise-correlation"], correlation)
                self.assertGreater(tuned["metrics"]["test_accuracy"], 0.88)
                again = self.summary_of(1, ["--config", str(self.folder / name / "config.ini")], name + "-again")
                self.assertEqual(bits(again["models"]), bits(tuned["models"]))
        forced = self.summary_of(1, [*words, "--domain", "ball:1", "--tuning", "auto", "--noise-correlation", "blt:2"], "forced")
        self.assertEqual(configuration(self.folder / "forced")["noise-correlation"], "blt:2")
        self.assertNotIn("noise-correlation", chosen(forced))

    def test_takes_independent_noise_for_a_budget_of_clients(self):
        budget = [*self.words, "--budget", "1e6"]
        self.assertEqual(chosen(self.summary_of(1, budget, "client"))["noise-correlation"], "none")
        self.assertEqual(chosen(self.summary_of(1, [*budget, "--budget-unit", "record"], "record"))["noise-correlation"], "blt:2")

    def test_a_total_price_is_what_a_record_pays_in_all(self):
        total = [word if word != "--epsilon" else "--total-epsilon" for word in self.words]
        for name, words, passes in (("gaussian", [], 16), ("twice", ["--epochs", "2"], 2), ("norms", ["--scale-share", "0.01"], 16),
                                    ("laplace", ["--mechanism", "laplace"], 1), ("pure-twice", ["--mechanism", "laplace", "--epochs", "2"], 2)):
            with self.subTest(name):
                summary = self.summary_of(1, [*total, *words], name)
                privacy = summary["privacy"]
                self.assertEqual(privacy["participations"], passes)
                self.assertLessEqual(privacy["epsilon"], 2)
                self.assertAlmostEqual(privacy["epsilon"], 2, delta=1e-6)
                self.assertEqual(chosen(summary).get("epochs"), None if "--epochs" in words or passes == 1 else str(passes))
                again = self.summary_of(1, ["--config", str(self.folder / name / "config.ini")], name + "-again")
                self.assertEqual(bits(again["models"]), bits(summary["models"]))
        off = self.summary_of(1, [*total, "--tuning", "off", "--epochs", "3"], "off")
        self.assertAlmostEqual(off["privacy"]["epsilon"], 2, delta=1e-6)
        for words in (["--epsilon", "1"], ["--total-epsilon", "schedule:from=0.1,to=0.2"]):
            refused = self.run_ranks(1, [*total, *words])
            self.assertEqual(refused.code, 2, refused)

    def test_releases_nothing_before_all_input_is_found_good(self):
        keyless = [word for word in self.words if word not in ("--noise-key", "seed")]
        for name, words in (("test", ["--test", self.write("t.csv", "a,b,y\n1,2,1\n")]), ("start", ["--start", "none.csv"]),
                            ("regret", ["--regret", "static", "--metrics", "local"]), ("keys", ["--noise-key", "none-{client}"]),
                            ("rounds", ["--rounds", "500", "--batch", "10"]), ("audit", ["--audit", "--rounds", "5"])):
            with self.subTest(name):
                common = keyless if name == "keys" else self.words
                result = self.run_ranks(1, [*common, *words, "--scale-share", "0.01", "--output", name])
                self.assertIn(result.code, (2, 3), result)
                self.assertFalse((self.folder / name).exists(), result)
        self.good(1, [*self.words, "--scale-share", "0.01", "--output", "good"])
        self.assertIn(":norms", (self.folder / "good" / "private" / "0" / "ledger").read_text())

    def test_refuses_correlation_where_it_has_no_meaning(self):
        laplace = self.run_ranks(1, ["--source", self.source, "--mechanism", "laplace", "--noise-correlation", "blt:2"])
        self.assertEqual(laplace.code, 2, laplace)
        self.assertIn("no other noise can be correlated", laplace.err)
        falling = self.run_ranks(1, [*self.words, "--tuning", "off", "--noise-correlation", "blt:2", "--epsilon",
                                     "schedule:harmonic:1"])
        self.assertEqual(falling.code, 2, falling)


class Intercept(TestCase):
    """A constant that the rule adds to the features of a table."""

    WORDS = ["--clients", "4", "--mechanism", "gaussian", "--total-epsilon", "4", "--noise-key", "seed", "--tuning", "auto"]

    def table(self, name, size=1.0, at_least=1.0):
        """Two features of deviation `size`; one class where their sum is at least so many deviations of one."""
        draw = random.Random(5)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(4000)]
        lines = [f"{a * size!r},{b * size!r},{1 if a + b >= at_least else -1}" for a, b in rows]
        return ["--partition", "iid", "--source", self.write(name, "a,b,y\n" + "\n".join(lines) + "\n")]

    def learn(self, command, words, output):
        return self.run_command(1, [command, *words, *self.WORDS, "--output", output, "--json"])

    def test_classes_of_unequal_size_are_told_apart(self):
        words = [*self.table("unequal.csv"), "--test", "unequal.csv"]
        for command in ("omd", "fedavg"):
            with self.subTest(command):
                result, without = self.learn(command, words, command), self.learn(command, [*words, "--intercept=no"], f"{command}-no")
                self.assertIn("tuning: intercept yes: ", result.err)
                self.assertEqual(configuration(self.folder / command)["intercept"], "yes")
                self.assertEqual((len(result.summary()["final_model"]), len(without.summary()["final_model"])), (3, 2))
                self.assertNotIn("tuning: intercept", without.err)
                larger, accuracy, less = (result.summary()["metrics"]["larger_class"], result.summary()["metrics"]["test_accuracy"],
                                          without.summary()["metrics"]["test_accuracy"])
                self.assertGreater(larger, 0.7)
                self.assertGreater(accuracy, larger + 0.15)
                self.assertLess(less, larger + 0.02)
                again = self.run_command(1, [command, "--config", str(self.folder / command / "config.ini"), "--output", f"{command}-again",
                                             "--json"])
                self.assertEqual(bits(again.summary()["final_model"]), bits(result.summary()["final_model"]))

    def test_small_features_are_not_drowned(self):
        words = [*self.table("small.csv", size=0.01, at_least=0), "--test", "small.csv", "--feature-share", "0"]
        result = self.learn("omd", words, "small")
        self.assertIn("tuning: intercept no: features are too small beside a constant of 1", result.err)
        self.assertEqual(len(result.summary()["final_model"]), 2)
        self.assertGreater(result.summary()["metrics"]["test_accuracy"], 0.93)

    def test_features_below_all_bins_leave_it(self):
        """Nothing can be learned of them: the constant that is left answers the larger class."""
        words = [*self.table("tiny.csv", size=1e-9), "--test", "tiny.csv", "--feature-share", "0"]
        result = self.learn("omd", words, "tiny")
        self.assertIn("tuning: intercept yes", result.err)
        metrics = result.summary()["metrics"]
        self.assertAlmostEqual(metrics["test_accuracy"], metrics["larger_class"], delta=1e-9)

    def test_its_one_counts_as_a_feature_where_scales_are_compared(self):
        for size, expected in ((1, "none"), (100, "values:"), (0.01, "values:")):
            result = self.learn("omd", [*self.table("sized.csv", size=size), "--feature-share", "0.1"], f"sized-{size}")
            self.assertIn(f"tuning: standardise {expected}", result.err)
            self.assertIn("tuning: intercept yes", result.err)
        result = self.learn("omd", [*self.table("sized.csv", size=100), "--intercept", "no", "--feature-share", "0.1"], "without")
        self.assertIn("tuning: standardise none", result.err)

    def test_the_norm_of_records_has_it(self):
        words = [*self.table("norm.csv"), "--feature-share", "0"]
        alone, beside = (float(chosen(self.learn("omd", [*words, *more], name).summary())["norm"])
                         for name, more in (("alone", ["--intercept=no"]), ("beside", [])))
        self.assertEqual(beside, float(f"{math.hypot(alone, 1):.4g}"))

    def test_a_model_without_noise_has_one_too(self):
        words = ["--clients", "4", "--mechanism", "none", *self.table("plain.csv")]

        def learn(command, more, output):
            result = self.run_alone([command, *more, "--output", output, "--json"], as_they_are=True).summary()
            notes = [note for note in result.get("notes", []) if "the model has " in note]
            return len(result["final_model"]), " ".join(notes).partition(" intercept")[0], bits(result["final_model"])

        for command in ("omd", "fedavg"):
            for more, expected in (([], (3, "")), (["--intercept", "no"], (2, "")), (["--intercept"], (3, "")),
                                   (["--tuning", "off"], (2, "")), (["--loss", "squared"], (3, ""))):
                with self.subTest((command, more)):
                    self.assertEqual(learn(command, [*words, *more], f"{command}{''.join(more)}")[:2], expected)
            no_rule = [*self.table("plain.csv"), "--clients", "4", "--mechanism", "laplace", "--epsilon", "1", "--unit", "component"]
            self.assertEqual(learn(command, no_rule, f"{command}-no-rule")[:2], (2, "the model has no"))
            again = learn(command, ["--config", str(self.folder / command / "config.ini")], f"{command}-again")
            self.assertEqual(again[2], learn(command, [*words, "--intercept"], f"{command}-asked")[2])

    def test_where_numbers_have_a_meaning_of_their_own_there_is_none(self):
        table = self.table("plain.csv")
        self.write("start.csv", "0.5,0.5\n" * 4)
        for name, words in (("generator", ["--source", "synthetic:drift:n=500"]), ("ball", [*table, "--domain", "ball:5"]),
                            ("start", [*table, "--start", "start.csv"]), ("network", [*table, "--model", "mlp:2-3-1"])):
            with self.subTest(name):
                result = self.learn("omd", words, name)
                self.assertEqual(result.code, 0, result)
                self.assertNotIn("tuning: intercept", result.err)
                self.assertNotIn("intercept = yes", (self.folder / name / "config.ini").read_text())


class Averaging(TestCase):
    """The same of `starling fedavg`."""

    def setUp(self):
        super().setUp()
        self.source = self.write("x.csv", "a,b,c,y\n" + "\n".join(csv_rows(520)) + "\n")
        self.words = ["--source", self.source, "--clients", "4", *PRIVATE]

    def run_fedavg(self, words, output, ranks=1):
        return self.succeeded(self.run_command(ranks, ["fedavg", "--progress", "off", *words, "--output", output, "--json"]))

    def averaged(self, words, output, ranks=1):
        return self.run_fedavg(words, output, ranks).summary()

    def test_chooses_from_public_numbers_and_says_why(self):
        result = self.run_fedavg([*self.words, "--epochs", "2", "--local-steps", "4"], "r")
        summary = result.summary()
        values = chosen(summary)
        self.assertEqual(set(values), {"intercept", "batch", "clip", "step", "step-decay", "noise-correlation"})
        self.assertEqual((values["batch"], values["clip"], values["noise-correlation"]), ("2", "1.604", "blt:2"))
        self.assertIn("130 records of the client with most, in 65 local steps a pass of 2", result.err)
        self.assertIn("signal to noise", result.err)
        self.assertEqual((summary["rounds"], summary["privacy"]["releases"]), (33, 130))
        self.assertGreater(summary["tuning"]["signal_to_noise"], 0)
        written = configuration(self.folder / "r")
        for option, value in values.items():
            self.assertIn(f"tuning: {option} {value}: ", result.err)
            self.assertEqual(written[option], value)
        self.assertEqual(written["tuning"], "off")
        again = self.averaged(["--config", str(self.folder / "r" / "config.ini")], "again")
        self.assertEqual(bits(again["final_model"]), bits(summary["final_model"]))
        self.assertEqual(chosen(again), {})

    def test_one_local_step_is_the_rule_of_omd(self):
        """Where clients mix with the mean, and count alike, both commands have one step, and nearly one model."""
        ours = self.averaged([*self.words, "--client-weights", "equal"], "fedavg")
        theirs = self.summary_of(1, [*self.words, "--topology", self.write("all.topo", topology(4, [
            (1, [(i, j) for i in range(4) for j in range(4) if i != j])]))], "omd")
        for option in ("batch", "clip", "step", "noise-correlation"):
            self.assertEqual(chosen(ours)[option], chosen(theirs)[option], option)
        for one, other in zip(ours["final_model"], theirs["final_model"]):
            self.assertAlmostEqual(one, other, delta=1e-6 * (1 + abs(other)))

    def test_rounds_by_hand_count_local_steps(self):
        summary = self.averaged([*self.words, "--rounds", "5", "--local-steps", "2"], "r")
        self.assertEqual((summary["rounds"], chosen(summary)["batch"]), (5, "13"))

    def test_unequal_weights_are_fewer_clients(self):
        for k, count in enumerate((400, 40, 40, 40)):
            self.write(f"{k}.csv", "a,b,c,y\n" + "\n".join(csv_rows(count, seed=k)) + "\n")
        words = ["--source", "{client}.csv", "--clients", "4", *PRIVATE[:6], "--scale-share", "0", "--tuning", "auto", "--epsilon", "0.1"]
        step = {}  # over what little signal leaves of it
        for weights in ("equal", "records"):
            summary = self.averaged([*words, "--client-weights", weights], weights)
            step[weights] = float(chosen(summary)["step"]) / min(max(summary["tuning"]["signal_to_noise"] / 6, 0.5), 1)
        records = 4 * (520 / 4)**2 / 400**2  # of n clients by records n N_mean^2/N^2, else n^2/sum (N/N_k)^2
        equal = 4**2 / (1 + 3 * (400 / 40)**2)
        self.assertAlmostEqual(step["records"] / step["equal"], math.sqrt(records / equal), delta=2e-3)

    @fewer
    def test_same_bits_on_any_number_of_ranks(self):
        words = [word for word in self.words if word not in ("--scale-share", "0")]
        runs = [self.averaged([*words, "--local-steps", "3"], f"ranks-{ranks}", ranks) for ranks in layouts((1, 4, 2))]
        for run in runs[1:]:
            self.assertEqual(bits(run["final_model"]), bits(runs[0]["final_model"]))
            self.assertEqual(chosen(run), chosen(runs[0]))
        self.assertIn("norm", chosen(runs[0]))

    def test_a_stopped_run_goes_on_with_its_noise(self):
        words = [*self.words, "--epochs", "40", "--batch", "1", "--local-steps", "3"]
        whole = self.averaged(words, "whole")
        self.assertEqual(configuration(self.folder / "whole")["noise-correlation"], "blt:2")
        with interrupted("checkpoint:0"):
            self.run_command(1, ["fedavg", *words, "--output", "cut", "--checkpoint-every", "100"])
        self.assertEqual(checkpoints_in(self.folder / "cut" / "private" / "0"), [100])
        resumed = self.succeeded(self.run_command(1, ["fedavg", "--resume", "cut", "--json"]))
        self.assertEqual(bits(resumed.summary()["final_model"]), bits(whole["final_model"]))
        self.assertEqual(resumed.summary()["tuning"], whole["tuning"])
        more = self.run_command(1, ["fedavg", "--resume", "cut", "--rounds", "6000"])
        self.assertEqual(more.code, 2, more)

    def test_a_ledger_charges_a_chain_as_one(self):
        """A record pays its price in all, under either noise; a whole client pays more where noise is taken back."""
        words = [*self.words, "--noise-key", "random", "--epochs", "2", "--local-steps", "3"]
        paid = {}
        for noise in ("blt:2", "none"):
            ledger = noise[:3] + "-{client}"
            privacy = self.averaged([*words, "--ledger", ledger, "--noise-correlation", noise, "--batch", "2"], noise[:3])["privacy"]
            self.succeeded(self.run_alone(["privacy", "ledger", ledger.replace("{client}", "0"), "--verify", "--json"]))
            paid[noise] = (privacy["mu"], privacy["client_epsilon"])
        self.assertAlmostEqual(paid["blt:2"][0], paid["none"][0], delta=1e-3 * paid["none"][0])
        self.assertGreater(paid["blt:2"][1], 1.5 * paid["none"][1])

    def test_a_total_price_is_what_a_record_pays_in_all(self):
        total = [word if word != "--epsilon" else "--total-epsilon" for word in self.words]
        for name, words, passes in (("gaussian", [], 16), ("norms", ["--scale-share", "0.01", "--local-steps", "5"], 16),
                                    ("laplace", ["--mechanism", "laplace"], 1)):
            with self.subTest(name):
                summary = self.averaged([*total, *words], name)
                self.assertEqual(summary["privacy"]["participations"], passes)
                self.assertAlmostEqual(summary["privacy"]["epsilon"], 2, delta=1e-6)
                again = self.averaged(["--config", str(self.folder / name / "config.ini")], name + "-again")
                self.assertEqual(bits(again["final_model"]), bits(summary["final_model"]))

    def test_learns_better_than_the_defaults(self):
        words = ["--source", self.write("big.csv", "a,b,c,y\n" + "\n".join(csv_rows(6000)) + "\n"),
                 "--test", self.write("test.csv", "a,b,c,y\n" + "\n".join(csv_rows(2000, seed=7)) + "\n"), "--clients", "4",
                 "--mechanism", "gaussian", "--epsilon", "0.1", "--noise-key", "seed", "--partition", "iid", "--intercept", "no"]
        tuned = self.averaged([*words, "--tuning", "auto"], "tuned")
        default = self.averaged([*words, "--tuning", "off"], "default")
        self.assertGreater(tuned["metrics"]["test_accuracy"], 0.93)
        self.assertGreater(tuned["metrics"]["test_accuracy"], default["metrics"]["test_accuracy"] + 0.02)

    def test_says_where_no_rule_is_known(self):
        result = self.run_fedavg([*self.words, "--unit", "component"], "component")
        self.assertIn("no rule is known for --unit component", result.err)
        self.assertEqual(chosen(result.summary()), {})
        off = self.averaged([*self.words[:-2], "--unit", "component", "--tuning", "off"], "off")
        self.assertEqual(bits(result.summary()["final_model"]), bits(off["final_model"]))


if __name__ == "__main__":
    unittest.main()
