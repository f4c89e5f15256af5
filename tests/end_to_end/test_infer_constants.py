"""Constants that clients of `starling infer` release before Newton rounds: columns in their own units, with offsets and of any size,
have intervals; which hold the truth, cost what was asked for, are the same on any number of ranks, and are released once."""

import csv
import math
import random
import unittest

import h5py

from histogram_case import *

SLOPES = (1000, -0.5, 0.02, 3e-5, 0.06, 0.7)  # of a unit of each column
COLUMNS = "rate,score,price,income,year,flag"


def table(records, seed, loss, sort=False, more=lambda draw: ""):
    """Columns of sizes 1e-3 to 1e4, all but one far from 0, and labels that they tell by scores of a deviation near 2."""
    draw = random.Random(seed)
    lines = []
    for _ in range(records):
        rate, score, price = draw.gauss(5e-3, 1e-3), draw.gauss(0, 1), draw.gauss(900, 40)
        income, year, flag = draw.gauss(5e4, 2e4), draw.gauss(1990, 10), float(draw.random() < 0.3)
        row = (rate, score, price, income, year, flag)
        value = sum(slope * each for slope, each in zip(SLOPES, row)) + INTERCEPT
        label = 200 * (value + draw.gauss(0, 1)) if loss == "huber" else float(draw.random() < 1 / (1 + math.exp(-value)))
        lines.append((label, ",".join(f"{each:.9g}" for each in row) + more(draw) + f",{label:.9g}\n"))
    return "".join(line for _, line in (sorted(lines) if sort else lines))


INTERCEPT = -144.5  # so that scores are near 0


class InferConstants(ConstantsCase):
    command = "infer"

    def write_table(self, loss="huber", records=4000, seed=1, name="data.csv", columns=COLUMNS, **more):
        self.write(name, columns + ",y\n" + table(records, seed, loss, **more))
        return ["infer", "--source", name, "--clients", CLIENTS, "--partition", "iid", "--tuning", "auto", "--progress", "off",
                *(["--loss", "logistic"] if loss == "logistic" else []), "--mechanism", "gaussian"]

    def test_intervals_in_own_units_hold_the_truth(self):
        """95 % of 168 intervals, whose share has a standard error of 1.7 points: fewer than 89.5 % happen by chance in fewer than one
        of a thousand seeds."""
        held = []
        for loss in ("huber", "logistic"):
            scale = 200 if loss == "huber" else 1
            truth = [scale * each for each in (*SLOPES, INTERCEPT)]
            for seed in range(12):
                words = self.write_table(loss, 2500 if loss == "huber" else 4000, seed)
                summary = self.learned([*words, "--mu", 2, "--seed", seed + 1, "--noise-key", "seed"], f"{loss}-{seed}")
                self.assertIs(summary["settled"], True, summary["settling"])
                for each, true in zip(summary["own_units"], truth):
                    held.append(each["low"] <= true <= each["high"])
                    self.assertLess(each["standard_error"], abs(true), each)
        self.assertGreater(sum(held), 0.895 * len(held))

    def test_the_same_bits_on_any_number_of_ranks(self):
        self.check_ranks([*self.write_table(), "--mu", 2, "--noise-key", "seed"])

    def test_a_run_that_is_killed_goes_on_and_releases_nothing_again(self):
        self.check_kills(self.write_table("logistic"), (0, 4))

    def test_a_record_pays_what_was_asked_for(self):
        words = self.write_table()
        for price in (["--mu", 2], ["--total-epsilon", 8, "--delta", 1e-5]):
            summary = self.learned([*words, *price, "--ledger", f"of{price[0]}-{{client}}"], price[0][2:])
            privacy = summary["privacy"]
            if price[0] == "--mu":
                self.assertAlmostEqual(privacy["mu"], 2, delta=1e-9)
                self.assertLessEqual(privacy["mu"], 2)
            else:
                self.assertAlmostEqual(privacy["epsilon"], 8, delta=1e-6)
                self.assertLessEqual(privacy["epsilon"], 8)
            whole = privacy["mu"]
            features, within = privacy["features"], privacy["norms"]
            self.assertAlmostEqual(features["mu"], whole * math.sqrt(features["share"]), delta=1e-9)
            self.assertAlmostEqual(within["mu"], whole * math.sqrt((1 - features["share"]) * within["share"]), delta=1e-9)
            rounds = 6 * privacy["mu_per_release"] ** 2
            self.assertAlmostEqual(math.sqrt(rounds + features["mu"] ** 2 + within["mu"] ** 2), whole, delta=1e-9)
            self.assertIn("histograms of columns of all its records within the ranges that earlier releases had shown", privacy["statement"])
            losses = json.loads(self.run_alone(["privacy", "ledger", f"of{price[0]}-0", "--json"]).out)["losses"]
            self.assertAlmostEqual(losses[0]["record"]["mu"], whole, delta=1e-9)

    def test_columns_that_nothing_shows_have_no_coefficient(self):
        """One is scattered over sixty octaves. The others are estimated as without it, since it tells nothing."""
        words = self.write_table(columns=COLUMNS + ",scattered",
                                 more=lambda draw: f",{draw.choice([-1, 1]) * 2.0 ** draw.uniform(-20, 43):.5g}")
        words += ["--mu", 0.6, "--noise-key", "seed", "--joint"]
        result = self.succeeded(self.run_command(1, [*words, "--output", "run"]))
        self.assertIn("tuning: 1 of 7 columns are dropped, of which nothing shows the size; intervals are likely", result.err)
        self.assertIn("1 of 7 features are dropped (scattered)", result.err)
        summary = self.summary_in("run")
        self.assertIs(summary["settled"], True)
        self.assertEqual(summary["joint"]["names"], COLUMNS.split(","))
        for name in ("coefficients.csv", "coefficients-own-units.csv"):
            with open(self.folder / "run" / name) as file:
                rows = {row["name"]: row for row in csv.DictReader(file)}
            self.assertEqual({name for name, row in rows.items() if row["method"] == "dropped"}, {"scattered"})
            self.assertEqual((rows["scattered"]["estimate"], rows["scattered"]["low"]), ("", ""))
        for name, slope in zip(COLUMNS.split(","), SLOPES):
            self.assertAlmostEqual(float(rows[name]["estimate"]), 200 * slope, delta=4 * float(rows[name]["standard_error"]))
        with h5py.File(self.folder / "run/model.h5") as file:
            self.assertEqual(list(file["preparation/clip"])[6:], [0])
        self.assertIn("scattered", self.succeeded(self.run_alone(["report", "run", "--coefficients", "text"])).out)
        scored = self.succeeded(self.run_alone(["score", "run", "--source", "data.csv", "--json"]))
        self.assertGreater(json.loads(scored.out)["metrics"]["r2"], 0.6)
        self.learned(words, "run-2", 2)
        self.assertEqual(self.figures("run-2"), self.figures("run"))

    def test_records_that_are_too_few_are_told_so_before(self):
        words = [*self.write_table(records=60), "--mu", 0.1, "--noise-key", "seed"]
        result = self.succeeded(self.run_command(1, [*words, "--output", "run"]))
        self.assertIn("tuning: expect no coefficient: records are too few at this price", result.err)
        self.assertEqual({each["method"] for each in self.summary_in("run")["own_units"]} - {"plug-in"}, {"dropped"})

    def test_order_and_missing_values_change_little(self):
        """Labels that are sorted are dealt to clients in their order; a missing value counts as the mean."""
        words = [*self.write_table(sort=True), "--mu", 4, "--noise-key", "seed"]
        words[words.index("iid")] = "contiguous"
        for name, more in (("sorted", []), ("missing", ["--missing", "zero"])):
            if more:
                lines = (self.folder / "data.csv").read_text().splitlines()
                draw = random.Random(5)
                lines[1:] = [line if draw.random() < 0.97 else "," + line.split(",", 1)[1] for line in lines[1:]]
                self.write("data.csv", "\n".join(lines) + "\n")
            summary = self.learned([*words, *more], name)
            self.assertIs(summary["settled"], True)
            for each, slope in zip(summary["own_units"][1:], SLOPES[1:]):
                self.assertAlmostEqual(each["estimate"], 200 * slope, delta=5 * each["standard_error"], msg=each)

    def test_nothing_is_released_where_units_are_known_or_stay(self):
        words = [*self.write_table("logistic", 1000), "--mu", 1]
        self.write("ranges.csv", "feature,low,high\nrate,0,0.01\nscore,-4,4\nprice,700,1100\nincome,-3e4,13e4\nyear,1940,2040\nflag,0,1\n")
        self.write("constants.csv", "feature,mean,sd\n" + "".join(f"{name},0,1\n" for name in COLUMNS.split(",")))
        for name, more in (("ranges", ["--ranges", "ranges.csv"]), ("constants", ["--standardise", "constants.csv"]),
                           ("share", ["--feature-share", 0]), ("without", ["--intercept", "no"]), ("path", ["--estimator", "path"])):
            summary = self.learned([*words, *more], name)
            self.assertIsNone(summary["privacy"]["features"], name)
            self.assertAlmostEqual(summary["privacy"]["mu"], 1, delta=1e-9, msg=name)
        asked = self.succeeded(self.run_command(1, [*words, "--intercept", "no", "--feature-share", 0.2, "--output", "asked"]))
        self.assertIn("features are left as they are: without an intercept no column can be shifted", asked.err)
        for share in ("--feature-share", "--scale-share"):
            path = self.succeeded(self.run_command(1, [*words, "--estimator", "path", share, 0.2, "--output", "path" + share]))
            self.assertIn("features are left as they are: a path takes them so (it was asked for)", path.err)
            refused = self.run_command(1, [*words[:-3], "none", share, 0.2, "--output", "none"])
            self.complains(refused, 2, f"{share} without --mechanism gaussian: columns stay as they are without noise")

    def test_ranges_of_some_columns_stand_beside_what_is_released(self):
        words = [*self.write_table(), "--mu", 2, "--noise-key", "seed"]
        self.write("ranges.csv", "feature,low,high\nrate,0,0.01\n" + "".join(f"{name},-1,1\n" for name in ()) +
                   "".join(f"{name},-1e6,1e6\n" for name in COLUMNS.split(",")[1:]))
        summary = self.learned([*words, "--ranges", "ranges.csv"], "run")
        self.assertNotIn("ranges", self.config("run"))
        self.assertIs(summary["settled"], True)
        for each, slope in zip(summary["own_units"], SLOPES):
            self.assertAlmostEqual(each["estimate"], 200 * slope, delta=5 * each["standard_error"], msg=each)


if __name__ == "__main__":
    unittest.main()
