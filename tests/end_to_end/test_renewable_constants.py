"""Constants that clients of `starling renewable --variant private` release before their batches: columns in their own units are learned
from, by clients of any size; which costs what was asked for, is the same on any number of ranks, and is released once."""

import csv
import math
import random
import unittest

import h5py

from histogram_case import *

SLOPES = {"rate": (5e-3, 1e-3, 1), "price": (900, 40, 0.8), "income": (5e4, 2e4, 0.6), "year": (1990, 10, -0.7)}
SIZES = (7, 150, 900, 1500)


def table(records, seed, numbers=False, sort=False, more=lambda draw: ""):
    """Columns of sizes 1e-3 to 1e4, all far from 0, that tell labels by scores of a deviation near 1.6."""
    draw = random.Random(seed)
    lines = []
    for _ in range(records):
        plain = [draw.gauss(0, 1) for _ in SLOPES]
        score = sum(slope * each for (_, _, slope), each in zip(SLOPES.values(), plain))
        label = 2000 + 300 * (score + draw.gauss(0, 0.5)) if numbers else int(draw.random() < 1 / (1 + math.exp(-2 * score)))
        row = ",".join(f"{mean + sd * each:.9g}" for (mean, sd, _), each in zip(SLOPES.values(), plain))
        lines.append((label, f"{row}{more(draw)},{label:.9g}\n"))
    return "".join(line for _, line in (sorted(lines) if sort else lines))


class RenewableConstants(ConstantsCase):
    command = "renewable"

    def write_sites(self, sizes=SIZES, columns=",".join(SLOPES), **how):
        for client, records in enumerate(sizes):
            self.write(f"site-{client}.csv", columns + ",y\n" + table(records, client + 1, **how))
        self.write("held-out.csv", columns + ",y\n" + table(2000, 99, **how))
        return ["renewable", "--tuning", "auto", "--source", "site-{client}.csv", "--clients", len(sizes), "--label", "y", "--variant", "private",
                "--batch", 20, "--progress", "off", "--mechanism", "gaussian",
                *(["--loss", "huber:1.345"] if how.get("numbers") else ["--loss", "logistic"])]

    def scores(self, output):
        """Of records in their own units."""
        result = self.succeeded(self.run_alone(["score", output, "--source", "held-out.csv", "--label", "y", "--json"]))
        return json.loads(result.out)["metrics"]

    def test_clients_of_any_size_learn_and_any_number_of_ranks_has_the_same_bits(self):
        words = [*self.write_sites(), "--total-epsilon", 3, "--delta", 1e-5, "--noise-key", "seed"]
        self.check_ranks(words)
        self.assertNotIn("taken to be standardised", " ".join(self.summary_in("run-1")["notes"]))
        own_units = [*words, "--feature-share", 0]
        self.assertIn("taken to be standardised", " ".join(self.learned(own_units, "own-units")["notes"]))
        right, lost = self.scores("run-1")["accuracy"], self.scores("own-units")["accuracy"]
        self.assertGreater(right, 0.8)
        self.assertLess(lost, 0.65)  # a constant has a half

    def test_any_trust_learns(self):
        words = [*self.write_sites((600, 600, 600, 600)), "--total-epsilon", 3, "--delta", 1e-5, "--noise-key", "seed"]
        for trust in ("central", "masked", "pairs"):
            summary = self.learned([*words, "--trust", trust], trust)
            self.assertGreater(self.scores(trust)["accuracy"], 0.8, trust)
            self.assertAlmostEqual(summary["privacy"]["features"]["share"], 0.1, delta=0.05)

    def test_batches_are_large_unless_asked_otherwise(self):
        """Batches of one record leave models whose noise later ones hardly forget."""
        words = self.write_sites((1000, 1000, 1000, 1000))
        words[words.index("--batch"):words.index("--batch") + 2] = ["--loss", "dwd"]
        words = [*last_given(words), "--total-epsilon", 1, "--delta", 1e-5, "--noise-key", "seed"]
        self.check_ranks(words)
        self.assertEqual((self.config("run-1")["batch"], self.summary_in("run-1")["rounds"]), ("63", 16))
        self.assertGreater(self.scores("run-1")["auc"], 0.75)
        few = [*words, "--source", "few-{client}.csv"]
        for client in range(4):
            self.write(f"few-{client}.csv", "".join((self.folder / f"site-{client}.csv").read_text().splitlines(True)[:61]))
        self.learned(last_given(few), "few")
        self.assertEqual(self.config("few")["batch"], "6", "ten batches at least")

    def test_labels_that_are_numbers_and_sorted_ones(self):
        words = [*self.write_sites((800, 800, 800), numbers=True), "--mu", 2, "--noise-key", "seed"]
        summary = self.learned(words, "numbers")
        self.assertIn("labels are standardised", " ".join(summary["notes"]))
        self.assertGreater(self.scores("numbers")["r2"], 0.5)
        words = [*self.write_sites((800, 800, 800), sort=True), "--mu", 2, "--noise-key", "seed"]
        self.learned(words, "sorted")
        self.assertGreater(self.scores("sorted")["accuracy"], 0.7)

    def test_a_run_that_is_killed_goes_on_and_releases_nothing_again(self):
        self.check_kills(self.write_sites(), (0, 20))

    def test_a_record_pays_what_was_asked_for(self):
        words = self.write_sites()
        for name, price in (("mu", ["--mu", 2]), ("total", ["--total-epsilon", 8, "--delta", 1e-5])):
            summary = self.learned([*words, *price, "--noise-correlation", "none", "--ledger", f"of-{name}-{{client}}"], name)
            privacy = summary["privacy"]
            whole, features = privacy["mu"], privacy["features"]
            self.assertLessEqual(privacy["mu"] if name == "mu" else privacy["epsilon"], 2 if name == "mu" else 8)
            self.assertAlmostEqual(privacy["mu"] if name == "mu" else privacy["epsilon"], 2 if name == "mu" else 8, delta=1e-6)
            self.assertAlmostEqual(features["mu"], whole * math.sqrt(features["share"]), delta=1e-9)
            within = privacy["norms"]
            self.assertAlmostEqual(within["mu"], whole * math.sqrt((1 - features["share"]) * within["share"]), delta=1e-9)
            self.assertAlmostEqual(math.hypot(privacy["mu_per_release"], features["mu"], within["mu"]), whole, delta=1e-9)
            self.assertIn("histograms of columns of all its records within the ranges that earlier releases had shown, or both", privacy["statement"])
            losses = json.loads(self.run_alone(["privacy", "ledger", f"of-{name}-3", "--json"]).out)["losses"]
            self.assertAlmostEqual(losses[0]["record"]["mu"], whole, delta=1e-9)

    def test_a_start_speaks_of_the_constants_of_its_run(self):
        words = [*self.write_sites((600, 600, 600)), "--total-epsilon", 3, "--delta", 1e-5, "--noise-key", "seed"]
        self.learned(words, "first")
        on = [*words, "--start", "first/model.h5"]
        notes = " ".join(self.learned(on, "units")["notes"])
        self.assertIn("mean something else here. Give these options as config.ini of its run has them", notes)
        self.assertIn("--start speaks of the units of its run. Say how large columns are by --standardise, as config.ini of that run has it", notes)
        notes = " ".join(self.learned([*on, "--standardise", self.config("first")["standardise"]], "again")["notes"])
        self.assertNotIn("units", notes)
        self.assertNotIn("config.ini of", notes)
        self.assertGreater(self.scores("again")["accuracy"], 0.8)

    def test_a_budget_ends_what_it_does_not_allow(self):
        words = [*self.write_sites(), "--total-epsilon", 2, "--delta", 1e-5, "--budget-unit", "record", "--ledger", "owner-{client}"]
        self.learned([*words, "--budget", 2], "first")
        second = self.run_command(1, [*words, "--budget", 2, "--output", "second"])
        self.assertEqual(second.code, 4, second.err)
        for client in range(len(SIZES)):
            losses = json.loads(self.run_alone(["privacy", "ledger", f"owner-{client}", "--json", "--delta", 1e-5]).out)["losses"]
            self.assertLessEqual(losses[0]["record"]["epsilon"], 2 + 1e-9)

    def test_records_that_are_too_few_answer_a_constant(self):
        words = [*self.write_sites((20, 20, 20)), "--mu", 0.1, "--noise-key", "seed"]
        notes = " ".join(self.learned(words, "run")["notes"])
        self.assertIn("no feature is learned from", notes)

    def test_columns_that_nothing_shows_have_no_interval(self):
        """One is scattered over sixty octaves."""
        words = self.write_sites((1300, 1300, 1300), columns=",".join([*SLOPES, "scattered"]),
                                 more=lambda draw: f",{draw.choice([-1, 1]) * 2.0 ** draw.uniform(-20, 43):.5g}")
        words += ["--mu", 0.3, "--noise-key", "seed", "--curvature-model", "released:0.3", "--standard-errors", "sandwich"]
        result = self.succeeded(self.run_command(1, [*words, "--output", "run"]))
        self.assertIn("1 of 5 features are dropped (scattered)", result.err)
        with open(self.folder / "run/coefficients.csv") as file:
            rows = {row["name"]: row for row in csv.DictReader(file)}
        self.assertEqual({name for name, row in rows.items() if row["method"] == "dropped"}, {"scattered"})
        self.assertEqual(rows["scattered"]["low"], "")
        with h5py.File(self.folder / "run/model.h5") as file:
            self.assertEqual(list(file["preparation/clip"])[-1], 0)
        self.assertGreater(self.scores("run")["accuracy"], 0.6)

    def test_columns_of_one_scale_stay_at_the_price_of_their_norms(self):
        rows = random.Random(7)
        for client in range(3):
            self.write(f"site-{client}.csv", "a,b,c,y\n" + "".join(
                ",".join(f"{label + rows.gauss(0, 1):.6f}" for _ in range(3)) + f",{label}\n"
                for label in (rows.choice((-1, 1)) for _ in range(300))))
        words = ["renewable", "--tuning", "auto", "--source", "site-{client}.csv", "--clients", 3, "--label", "y", "--variant", "private", "--batch", 20,
                 "--mechanism", "gaussian", "--mu", 0.3, "--noise-key", "seed"]
        summary = self.learned(words, "run")
        self.assertIsNone(summary["privacy"]["features"])
        self.assertAlmostEqual(summary["privacy"]["norms"]["share"], 0.01, delta=1e-12)
        self.assertAlmostEqual(math.hypot(summary["privacy"]["mu_per_release"], summary["privacy"]["norms"]["mu"]), 0.3, delta=1e-9)

    def test_nothing_is_released_where_units_are_known_or_stay(self):
        words = [*self.write_sites(), "--mu", 1, "--noise-correlation", "none"]
        self.write("constants.csv", "feature,mean,sd\n" + "".join(f"{name},{mean},{sd}\n" for name, (mean, sd, _) in SLOPES.items()))
        self.write("curvature.csv", "".join(",".join(str(0.1 * (i == j)) for j in range(5)) + "\n" for i in range(5)))
        self.write("sizes.csv", "".join(f"{client},0,20\n" for client in range(len(SIZES))))
        for name, more in (("constants", ["--standardise", "constants.csv"]), ("share", ["--feature-share", 0, "--scale-share", 0]),
                           ("clip", ["--clip", 1]), ("curvature", ["--curvature-model", "file:curvature.csv"]), ("prices", ["--mu", "schedule:from=1,to=1.1,shape=linear"])):
            used = words[:-4] + words[-2:] if name == "prices" else words
            summary = self.learned([*used, *more], name)
            self.assertIsNone(summary["privacy"]["features"], name)
            self.assertIsNone(summary["privacy"]["norms"], name)
        asked = self.succeeded(self.run_command(1, [*words, "--clip", 1, "--feature-share", 0.2, "--output", "asked"]))
        self.assertIn("features are left as they are: --clip speaks of their own units", asked.err)


if __name__ == "__main__":
    unittest.main()
