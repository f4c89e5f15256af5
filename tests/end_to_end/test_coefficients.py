"""`starling report RUN --coefficients`: estimates in the units of the data, and what is known of each."""

import csv
import io
import math
import random
import statistics

from harness import *

HEAD = ["client", "name", "level", "method", "estimate", "standard_error", "low", "high", "z", "p", "ratio", "ratio_low", "ratio_high", "noise_added",
        "reason"]
SCALES = {"age": (50, 15), "dose": (3, 0.5), "town": (0, 1)}


class Coefficients(TestCase):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        lines = ["age,dose,town,ill"]
        for _ in range(1200):
            age, dose, town = draw.gauss(50, 15), draw.gauss(3, 0.5), draw.random()
            odds = math.exp(-4 + 0.05 * age + 0.4 * dose)
            lines.append(f"{age:.1f},{dose:.3f},{town:.3f},{'yes' if draw.random() < odds / (1 + odds) else 'no'}")
        self.write("people.csv", "\n".join(lines) + "\n")
        self.write("codes.csv", "column,category,value\nill,yes,1\nill,no,0\n")
        self.write("scales.csv", "feature,mean,sd\n" + "".join(f"{name},{mean},{sd}\n" for name, (mean, sd) in SCALES.items()))
        self.source = ["--source", "people.csv", "--label", "ill", "--encode", "codes.csv", "--clients", 2, "--progress", "off"]

    def learn(self, *words):
        self.succeeded(self.run_alone([words[0], *self.source, *words[1:], "--output", "run"]))

    def table(self, run="run"):
        done = self.succeeded(self.run_alone(["report", run, "--coefficients", "csv"]))
        rows = list(csv.DictReader(io.StringIO(done.out)))
        self.assertEqual(list(rows[0]), HEAD)
        for row in rows:  # what is empty has a reason
            empty = [name for name in HEAD[4:-1] if not row[name] and not (name.startswith("ratio") and row["name"] == "intercept")]
            self.assertEqual(bool(row["reason"]), bool(empty), row)
        return {row["name"]: row for row in rows}

    def test_in_own_units(self):
        """Scores by the table are those of `predict`; the feature that the run leaves out is named."""
        self.learn("omd", "--intercept", "--standardise", "values:50/15,3/0.5/5,drop", "--mechanism", "gaussian", "--epsilon", 3, "--batch", 50)
        self.succeeded(self.run_alone(["predict", "run", "--source", "people.csv", "--label", "ill", "--output", "scores.csv"]))
        table = self.table()
        b = {name: float(row["estimate"] or 0) for name, row in table.items()}
        with open(self.folder / "people.csv") as people, open(self.folder / "scores.csv") as scores:
            for row, score in zip(csv.DictReader(people), csv.DictReader(scores), strict=True):
                ours = b["intercept"] + b["age"] * float(row["age"]) + b["dose"] * float(row["dose"])
                self.assertAlmostEqual(ours, float(score["score"]), delta=1e-9)
        self.assertIn("left out of the model", table["town"]["reason"])
        self.assertEqual(float(table["age"]["ratio"]), math.exp(b["age"]))
        # The noise of a parameter, by the scale of its feature.
        with open(self.folder / "run" / "summary.json") as file:
            noise = json.load(file)["added_noise"]["deviation"]
        self.assertAlmostEqual(float(table["dose"]["noise_added"]), noise / 0.5)
        self.assertAlmostEqual(float(table["intercept"]["noise_added"]), noise * math.hypot(1, 50 / 15, 3 / 0.5))
        text = self.succeeded(self.run_alone(["report", "run", "--coefficients"])).out
        self.assertIn("the odds of 'yes'", text)
        self.assertIn("takes 0 for their values: town.", text)
        self.assertNotIn("std. error", text)
        self.assertIn("Standard errors and tests: none, since starling omd estimates none", text)

    def test_errors_and_tests(self):
        """Of standardised features as of raw ones: standard errors of slopes go with their units, z and p do not change."""
        self.learn("renewable", "--loss", "logistic", "--mechanism", "none", "--batch", 200)
        raw = self.table()
        self.succeeded(self.run_alone(["renewable", *self.source, "--loss", "logistic", "--mechanism", "none", "--batch", 200, "--standardise", "scales.csv",
                                       "--output", "scaled"]))
        scaled = self.table("scaled")
        for name in SCALES:
            for column in ("estimate", "standard_error", "low", "high", "z", "p", "ratio", "ratio_high"):
                a, b = float(raw[name][column]), float(scaled[name][column])
                self.assertAlmostEqual(a, b, delta=0.02 * max(abs(a), 0.01), msg=f"{name} {column}")
            self.assertAlmostEqual(float(raw[name]["z"]), float(raw[name]["estimate"]) / float(raw[name]["standard_error"]))
            self.assertAlmostEqual(float(raw[name]["p"]), math.erfc(abs(float(raw[name]["z"])) / math.sqrt(2)), delta=1e-12)
            self.assertEqual(float(raw[name]["noise_added"]), 0)
        self.assertTrue(raw["intercept"]["z"])
        self.assertIn("covariances", scaled["intercept"]["reason"])

    def test_formats(self):
        self.learn("infer", "--loss", "logistic", "--mechanism", "none", "--intervals", "plug-in", "--standardise", "scales.csv")
        with open(self.folder / "run" / "summary.json") as file:
            own = json.load(file)["own_units"]
        for row, each in zip(self.table().values(), own, strict=True):
            self.assertEqual([float(row[name]) for name in ("estimate", "standard_error", "low", "high")],
                             [each[name] for name in ("estimate", "standard_error", "low", "high")])
        show = lambda *words: self.succeeded(self.run_alone(["report", "run", "--coefficients", *words])).out
        columns = ["coefficient", "estimate", "std. error", "low", "high"]
        self.assertEqual(show("latex").splitlines()[2].split(" & ")[:5], columns)
        self.assertTrue(show("markdown").startswith("| " + " | ".join(columns)))
        page = show("html")
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        for name in columns:
            self.assertRegex(page, f"<th[^>]*>{name}</th>")
        self.complains(self.run_alone(["report", "run", "--coefficients", "csv", "--json"]), 2, "--coefficients")

    def test_a_reference_category(self):
        """infer has a coefficient for each category but the first of the file; least squares finds the same."""
        draw = random.Random(8)
        effect = {"Ulm": 0.0, "Bonn": 1.0, "Kiel": -0.5}
        rows = [(draw.choice(list(effect)), draw.gauss(0, 1)) for _ in range(6000)]
        self.write("towns.csv", "\n".join(["town,x,y", *(f"{town},{x:.4f},{2 + effect[town] + 0.5 * x + draw.gauss(0, 0.3):.4f}" for town, x in rows)]) + "\n")
        self.write("towns-codes.csv", "column,category,value\ntown,Ulm,0\ntown,Bonn,1\ntown,Kiel,2\n")
        words = ["infer", "--source", "towns.csv", "--loss", "squared", "--mechanism", "none", "--clients", 2, "--intervals", "plug-in", "--progress", "off"]
        self.complains(self.run_alone([*words, "--encode", "onehot:towns-codes.csv"]), 2, "--encode reference:FILE")
        self.succeeded(self.run_alone([*words, "--encode", "reference:towns-codes.csv", "--output", "run"]))
        table = self.table()
        self.assertEqual(list(table), ["town=Bonn", "town=Kiel", "x", "intercept"])
        for name, true in (("town=Bonn", 1), ("town=Kiel", -0.5), ("x", 0.5), ("intercept", 2)):
            self.assertAlmostEqual(float(table[name]["estimate"]), true, delta=0.06)
        self.succeeded(self.run_alone(["predict", "run", "--source", "towns.csv", "--output", "p.csv"]))
        with open(self.folder / "p.csv") as file:
            for (town, x), row in zip(rows, csv.DictReader(file)):
                ours = sum(float(table[name]["estimate"]) * value for name, value in
                           (("intercept", 1), ("x", float(f"{x:.4f}")), (f"town={town}", 1)) if name in table)
                self.assertAlmostEqual(ours, float(row["prediction"]), delta=1e-6)
        done = self.succeeded(self.run_alone([*words, "--encode", "towns-codes.csv", "--output", "numbers"]))
        self.assertIn("texts become numbers, as if they had an order: 'town' (0 to 2)", done.out + done.err)

    def test_not_of_networks(self):
        self.learn("omd", "--model", "mlp:3-4-1", "--mechanism", "none", "--standardise", "scales.csv")
        self.complains(self.run_alone(["report", "run", "--coefficients"]), 2, "not linear")


class AddedNoise(TestCase):
    """A linear loss has the same gradients at all models, so that no step answers noise: it is all there at the end."""

    @needs_h5py
    def test_is_what_there_is(self):
        width, draw = 600, random.Random(5)
        rows = [",".join(f"{draw.uniform(-0.02, 0.02):.4f}" for _ in range(width)) + ",1" for _ in range(90)]
        self.write("data.csv", "\n".join(rows) + "\n")
        common = ["--source", "data.csv", "--loss", "linear", "--batch", 5, "--epochs", 2, "--clip", 1, "--progress", "off"]

        def learn(name, command, *words):
            self.succeeded(self.run_alone([command, *common, *words, "--output", name]))
            with h5py.File(self.folder / name / "model.h5") as file, open(self.folder / name / "summary.json") as summary:
                return list(file["parameters/weights"][0]), json.load(summary)["added_noise"]

        graph = ["--clients", 3]
        self.write("shares.csv", "record,client\n" + "".join(f"{i},{(i >= 50) + (i >= 80)}\n" for i in range(90)))
        for i, (command, words) in enumerate((("omd", [*graph, "--noise-correlation", "none"]), ("omd", [*graph, "--noise-correlation", "blt:2"]),
                               ("omd", [*graph, "--client-weights", "equal", "--partition", "file:shares.csv"]),
                               ("omd", [*graph, "--trust", "pairs"]), ("fedavg", ["--clients", 3, "--local-steps", 2]))):
            with self.subTest(command=command, words=words):
                noisy, added = learn(f"noisy-{i}", command, *words, "--mechanism", "gaussian", "--epsilon", 1, "--delta", "1e-5", "--noise-key", "seed")
                plain, none = learn(f"plain-{i}", command, *[word for word in words if word not in ("--noise-correlation", "none", "blt:2", "--trust", "pairs")],
                                    "--mechanism", "none")
                self.assertEqual(none, {"deviation": 0, "unknown": None})
                found = statistics.pstdev([a - b for a, b in zip(noisy, plain)], 0)
                self.assertAlmostEqual(found / added["deviation"], 1, delta=0.12, msg=f"{found} {added}")  # 4 deviations

    def test_is_unknown_where_steps_are_not_sums(self):
        self.write("data.csv", "\n".join(csv_rows(60)) + "\n")
        for words, why in ((["--average", "tail"], "mean over rounds"), (["--domain", "ball:1"], "projection")):
            self.succeeded(self.run_alone(["omd", "--source", "data.csv", "--clients", 2, "--mechanism", "gaussian", "--epsilon", 1, *words,
                                           "--progress", "off", "--output", why]))
            with open(self.folder / why / "summary.json") as summary:
                added = json.load(summary)["added_noise"]
            self.assertIsNone(added["deviation"])
            self.assertIn(why, added["unknown"])
            self.assertIn(why, self.succeeded(self.run_alone(["report", why, "--coefficients"])).out)

    @needs_h5py
    def test_the_start_of_a_stream_counts_by_its_records(self):
        """On any ranks: the mean of start and run, and so of the noise."""
        self.write("early.csv", "\n".join(csv_rows(40)) + "\n")
        self.write("late.csv", "\n".join(csv_rows(60)) + "\n")
        words = ["omd", "--clients", 2, "--mechanism", "gaussian", "--epsilon", 1, "--noise-key", "seed", "--seed", 4, "--intercept", "--progress", "off", "--json"]
        self.succeeded(self.run_alone([*words, "--source", "early.csv", "--output", "early"]))
        late = [*words, "--source", "late.csv", "--start", "early/model.h5"]
        plain = self.succeeded(self.run_alone([*late, "--output", "plain"])).summary()
        with h5py.File(self.folder / "early" / "model.h5") as file:
            start = numpy.append(file["parameters/weights"][()].ravel(), file["parameters/intercept"][()].ravel())
        for ranks in (1, 2):
            both = self.succeeded(self.run_command(ranks, [*late, "--start-records", 20, "--output", f"both-{ranks}"])).summary()
            numpy.testing.assert_allclose(both["final_model"], 0.25 * start + 0.75 * numpy.array(plain["final_model"]), rtol=1e-12)
            self.assertAlmostEqual(both["added_noise"]["deviation"] / plain["added_noise"]["deviation"], 0.75, places=9)
        halves = [self.succeeded(self.run_alone([*late, "--rounds", 15, *more, "--output", f"half-{len(more)}"])).summary() for more in ([], ["--start-records", 20])]
        numpy.testing.assert_allclose(halves[1]["final_model"], 0.4 * start + 0.6 * numpy.array(halves[0]["final_model"]), rtol=1e-12)
        self.write("zeros.csv", (",".join(["0"] * 6) + "\n") * 2)
        endless = [*words, "--source", "synthetic:drift", "--rounds", 3, "--start-records", 9, "--output", "endless", "--start"]
        self.complains(self.run_alone([*endless, "zeros.csv"]), 2, "source without end")
        self.complains(self.run_alone([*endless, "zero"]), 2, "--start-records with --start zero: nobody has learned that from records")


if __name__ == "__main__":
    unittest.main()
