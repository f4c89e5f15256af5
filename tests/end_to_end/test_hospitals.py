"""From tables of patients to a scored model: five hospitals learn, and a sixth one is predicted."""

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
        result = self.run_command(1, words)
        self.assertEqual(result.code, 0, result)
        privacy = result.summary()["privacy"]
        self.assertEqual(privacy["unit"], "person")
        self.assertLessEqual(privacy["epsilon"], EPSILON)
        self.assertGreater(privacy["epsilon"], EPSILON * (1 - 1e-6))
        self.assertIn("person of one client", (self.folder / "run" / "privacy.txt").read_text())

        scored = self.run_alone(["score", "run", "--source", "site-6.csv", "--by", "smokes", "--json"])
        self.assertEqual(scored.code, 0, scored)
        metrics = json.loads(scored.out)
        predicted = self.run_alone(["predict", "run", "--source", "site-6.csv", "--id", "patient"])
        self.assertEqual(predicted.code, 0, predicted)
        rows = list(csv.DictReader(predicted.out.splitlines()))
        with open(self.folder / "site-6.csv", newline="") as file:
            truth = [row["readmitted"] for row in csv.DictReader(file)]
        self.assertEqual(len(rows), len(truth))
        accuracy = numpy.mean([row["class"] == label for row, label in zip(rows, truth)])
        self.assertAlmostEqual(accuracy, metrics["metrics"]["accuracy"], 12)
        self.assertEqual(sorted(group["value"] for group in metrics["groups"]), ["no", "yes"])
        # The labels are drawn: the true risk has an AUC of 0.83.
        self.assertGreater(metrics["metrics"]["auc"], 0.8)


if __name__ == "__main__":
    unittest.main()
