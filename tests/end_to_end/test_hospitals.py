"""From raw tables to a scored model: five hospitals learn and a sixth one is predicted; twelve people with a sensor on the
chest learn when somebody moves, and three others are predicted."""

import csv
import unittest

from harness import *

PATIENTS, EPSILON = 1500, 2  # of each hospital; in all, for a patient
COLUMNS = ["patient", "age", "pressure", "smokes", "visit", "readmitted"]


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


@needs_h5py
class Hospitals(TestCase):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(11)
        for site in range(6):
            self.hospital(f"site-{site + 1}.csv", site)
        self.write("encode.csv", "column,category,value\nsmokes,yes,1\nsmokes,no,-1\nreadmitted,yes,1\nreadmitted,no,0\n")
        self.write("standardise.csv", "feature,mean,sd\nage,60,15\npressure,130,20\nsmokes,0,1\n")

    def hospital(self, name, site):
        """Patients with 1 to 40 records; sick ones come more often, so that records lean to them."""
        rows = []
        for patient in range(PATIENTS):
            age, pressure = self.random.normal(60 + site, 15), self.random.normal(130, 20)
            smokes = self.random.random() < 0.3
            risk = sigmoid((age - 60) / 15 + (pressure - 130) / 20 + (1.5 if smokes else -0.5))
            sick = self.random.random() < risk
            for visit in range(self.random.integers(1, 41 if sick else 6)):
                rows.append([f"{site}-{patient}", f"{age + self.random.normal():.1f}", f"{pressure + self.random.normal(0, 5):.1f}",
                             "yes" if smokes else "no", visit, "yes" if sick else "no"])
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *(rows[i] for i in self.random.permutation(len(rows)))])

    def test_a_model_of_five_predicts_the_sixth(self):
        words = ["omd", "--source", "site-{client:1}.csv", "--label", "readmitted", "--encode", "encode.csv",
                 "--standardise", "standardise.csv", "--drop", "visit", "--intercept", "--unit", "person", "--person", "patient", "--mechanism", "gaussian", "--total-epsilon",
                 str(EPSILON), "--tuning", "auto", "--clients", "5", "--topology", str(SOURCE / "topologies" / "unbalanced-5.topo"),
                 "--progress", "off", "--output", "run", "--json"]
        result = self.succeeded(self.run_command(1, words))
        privacy = result.summary()["privacy"]
        self.assertEqual(privacy["unit"], "person")
        self.assertLessEqual(privacy["epsilon"], EPSILON)
        self.assertGreater(privacy["epsilon"], EPSILON * (1 - 1e-6))
        self.assertIn("person of one client", (self.folder / "run" / "privacy.txt").read_text())

        scored = self.succeeded(self.run_alone(["score", "run", "--source", "site-6.csv", "--by", "smokes", "--json"]))
        metrics = json.loads(scored.out)
        predicted = self.succeeded(self.run_alone(["predict", "run", "--source", "site-6.csv", "--id", "patient"]))
        rows = list(csv.DictReader(predicted.out.splitlines()))
        with open(self.folder / "site-6.csv", newline="") as file:
            truth = [row["readmitted"] for row in csv.DictReader(file)]
        self.assertEqual(len(rows), len(truth))
        accuracy = numpy.mean([row["class"] == label for row, label in zip(rows, truth)])
        self.assertAlmostEqual(accuracy, metrics["metrics"]["accuracy"], 12)
        self.assertEqual(sorted(group["value"] for group in metrics["groups"]), ["no", "yes"])
        # The labels are drawn: the true risk has an AUC of 0.83.
        self.assertGreater(metrics["metrics"]["auc"], 0.8)


@needs_h5py
@unittest.skipUnless((DATA / "har_chest_uci287").exists(), "the data set har_chest_uci287 is not beside the project")
class Movements(TestCase):
    """Seconds of acceleration. Three sites have four people each; the last three people are held out."""

    CONSTANTS = SOURCE / "jobs" / "renewable-har-windows.csv"

    def setUp(self):
        super().setUp()
        made = self.run_alone(["data", "convert", DATA / "har_chest_uci287" / "{client:1}.csv.gz", "--clients", "15", "--drop", "0",
                               "--positive", "2,4,5,6", "--ignore", "0", "--window", "52", "--output", "{client}.csv",
                               "--progress", "off"])
        self.assertEqual(made.code, 0, made)
        people = [(self.folder / f"{i}.csv").read_text().splitlines() for i in range(15)]
        for name, members in {**{f"site-{s}.csv": range(4 * s, 4 * s + 4) for s in range(3)}, "held-out.csv": range(12, 15)}.items():
            self.write(name, "\n".join(["person," + people[0][0], *(f"{p},{line}" for p in members for line in people[p][1:])]) + "\n")

    def learn(self, output, *words):
        result = self.run_command(3, ["omd", "--source", "site-{client}.csv", "--standardise", str(self.CONSTANTS), "--intercept",
                                      "--mechanism", "gaussian", "--total-epsilon", str(EPSILON), "--tuning", "auto", "--noise-key", "seed",
                                      "--seed", "3", "--progress", "off", "--json", "--output", output, *words])
        self.assertEqual(result.code, 0, result)
        return result.summary()["privacy"]

    def metrics(self, run):
        scored = self.succeeded(self.run_alone(["score", run, "--source", "held-out.csv", "--by", "person", "--json"]))
        found = json.loads(scored.out)
        self.assertEqual([group["value"] for group in found["groups"]], ["12", "13", "14"])
        return found["metrics"]

    def scores_by_hand(self, run):
        """Scores and labels of the held-out people, from the model file alone."""
        table = numpy.loadtxt(self.folder / "held-out.csv", delimiter=",", skiprows=1)
        with h5py.File(self.folder / run / "model.h5") as file:
            x = (table[:, 1:-1] - file["preparation/mean"][()]) / file["preparation/sd"][()]
            return x @ file["parameters/weights"][0] + file["parameters/intercept"][0, 0], table[:, -1]

    def test_people_who_were_held_out_are_predicted(self):
        for run, unit, words in (("seconds", "record", ["--drop", "person"]),
                                 ("people", "person", ["--unit", "person", "--person", "person"])):
            with self.subTest(unit):
                privacy = self.learn(run, *words)
                self.assertEqual(privacy["unit"], unit)
                self.assertLessEqual(privacy["epsilon"], EPSILON)
                self.assertGreater(privacy["epsilon"], EPSILON * (1 - 1e-6))
                scores, labels = self.scores_by_hand(run)
                predicted = self.run_alone(["predict", run, "--source", "held-out.csv", "--columns", "score"])
                rows = list(csv.DictReader(predicted.out.splitlines()))
                numpy.testing.assert_allclose([float(row["score"]) for row in rows], scores, rtol=1e-12, atol=1e-12)
                metrics = self.metrics(run)
                self.assertAlmostEqual(metrics["accuracy"], numpy.mean(numpy.sign(scores) == labels), 12)
                if unit == "record":  # noise of twelve people at epsilon = 2 leaves no more than chance
                    self.assertGreater(metrics["auc"], 0.85)


if __name__ == "__main__":
    unittest.main()
