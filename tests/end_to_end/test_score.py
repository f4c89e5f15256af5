"""Metrics of models on labelled records, as NumPy has them from the predictions of the same model."""

import unittest

from model_file_case import *

draw_pictures()


def area(scores, y):
    """The area under the ROC curve and DeLong's standard error, over all pairs."""
    larger, smaller = scores[y == 1], scores[y == 0]
    won = (larger[:, None] > smaller) + 0.5 * (larger[:, None] == smaller)
    variance = won.mean(axis=1).var(ddof=1) / len(larger) + won.mean(axis=0).var(ddof=1) / len(smaller)
    return won.mean(), variance ** 0.5


def share(part, whole):
    return part.sum() / whole.sum() if whole.any() else None


def of_class(predicted, y, k):
    precision, recall = share((predicted == k) & (y == k), predicted == k), share((predicted == k) & (y == k), y == k)
    f1 = 2 * ((predicted == k) & (y == k)).sum() / ((predicted == k).sum() + (y == k).sum())
    return precision, recall, f1, share((predicted != k) & (y != k), y != k)


def calibrated(p, happened):
    tenth = numpy.minimum((10 * p).astype(int), 9)
    return [(int((tenth == i).sum()), p[tenth == i].mean() if (tenth == i).any() else None,
             happened[tenth == i].mean() if (tenth == i).any() else None) for i in range(10)]


class ScoreCase(ModelFileCase):
    command = "score"
    seed = 11

    def learn(self, command, words, output="run", ranks=1):
        return self.run_quietly(command, [*words, "--json"], output, ranks).summary()

    def score(self, words):
        result = self.succeeded(self.run_alone(["score", *words, "--json"]))
        return json.loads(result.out)

    def scores(self, words, columns):
        rows = self.predict(words)
        return numpy.array([[float(row[column]) for column in columns] for row in rows])

    def near(self, found, expected, name=""):
        if expected is None:
            self.assertIsNone(found, name)
        else:
            self.assertAlmostEqual(found, expected, delta=1e-12, msg=name)

    def check_two_classes(self, found, scores, y):
        predicted = (scores > 0).astype(int)
        self.assertEqual(found["records"], len(y))
        self.near(found["accuracy"], (predicted == y).mean())
        for name, expected in zip(("precision", "recall", "f1", "specificity"), of_class(predicted, y, 1)):
            self.near(found[name], expected, name)
        recalls = [of_class(predicted, y, k)[1] for k in (0, 1)]
        self.near(found["balanced_accuracy"], numpy.mean(recalls))
        auc, error = area(scores, y)
        self.near(found["auc"], auc)
        self.near(found["auc_standard_error"], error)
        self.assertEqual(found["confusion"]["counts"], [[int(((y == i) & (predicted == j)).sum()) for j in (0, 1)] for i in (0, 1)])

    def check_probabilities(self, found, p, y):
        self.near(found["log_loss"], -numpy.log(numpy.where(y == 1, p, 1 - p)).mean())
        self.near(found["brier"], ((p - y) ** 2).mean())
        self.check_calibration(found, p, y)

    def check_calibration(self, found, p, happened):
        self.assertEqual([each["from"] for each in found["calibration"]], [i / 10 for i in range(10)])
        for each, (count, mean, frequency) in zip(found["calibration"], calibrated(p, happened), strict=True):
            self.assertEqual(each["records"], count)
            self.near(each["probability"], mean)
            self.near(each["frequency"], frequency)


class Classes(ScoreCase):
    def setUp(self):
        super().setUp()
        x = self.random.normal(0, 1, (900, 3)).round(1)  # with ties
        y = (x[:, 0] - x[:, 1] + self.random.normal(0, 1, 900) > 0).astype(int)
        site = self.random.choice(["north", "south", "a, b"], 900)
        self.table("train.csv", ["a", "b", "c", "y"], zip(*x[:300].T, y[:300]))
        self.table("test.csv", ["c", "site", "a", "b", "y"], zip(x[300:, 2], site[300:], x[300:, 0], x[300:, 1], y[300:]))
        self.y, self.site, self.x = y[300:], site[300:], x[300:]

    def test_two_classes_and_groups(self):
        self.learn("omd", ["--source", "train.csv", "--clients", 3, "--intercept"], ranks=2)
        found = self.score(["run", "--source", "test.csv", "--by", "site"])
        scores = self.scores(["run", "--source", "test.csv", "--label", "y"], ["score"])[:, 0]
        p = 1 / (1 + numpy.exp(-scores))
        self.check_two_classes(found["metrics"], scores, self.y)
        self.check_probabilities(found["metrics"], p, self.y)
        self.assertEqual((found["model"], found["client"], found["source"], found["by"]), ("run", None, "test.csv", "site"))
        self.assertEqual([group["value"] for group in found["groups"]], ["a, b", "north", "south"])
        for group in found["groups"]:
            mine = self.site == group["value"]
            self.check_two_classes(group["metrics"], scores[mine], self.y[mine])
            self.check_probabilities(group["metrics"], p[mine], self.y[mine])

    def test_records_from_which_the_run_has_learned(self):
        """They are known by name or content, and are not called new; where the run's folder is elsewhere nobody knows."""
        self.learn("omd", ["--source", "train.csv", "--clients", 3])
        (self.folder / "copy.csv").write_bytes((self.folder / "train.csv").read_bytes())
        (self.folder / "alone.h5").write_bytes((self.folder / "run/model.h5").read_bytes())
        for model, source, known in (("run", "train.csv", True), ("run/model.h5", "copy.csv", True), ("run", "test.csv", False), ("alone.h5", "copy.csv", None)):
            self.assertIs(self.score([model, "--source", source])["learned_from"], known, (model, source))
        said = self.run_alone(["score", "run", "--source", "copy.csv"])
        self.assertIn("has learned from copy.csv", said.err)
        self.assertNotIn("has learned from", self.run_alone(["score", "run", "--source", "test.csv"]).err)
        (self.folder / "train.csv").unlink()
        self.assertIsNone(self.score(["run", "--source", "copy.csv"])["learned_from"])

    def test_labels_that_the_run_ignored_are_left_out(self):
        y = numpy.where(self.random.random(600) < 0.2, 7, self.y)
        self.table("more.csv", ["a", "b", "c", "y"], zip(*self.x.T, y))
        run = self.learn("omd", ["--source", "train.csv", "--clients", 3, "--ignore", 7, "--test", "more.csv"])
        found = self.score(["run", "--source", "more.csv"])["metrics"]
        self.assertEqual(found["records"], int((y != 7).sum()))
        self.assertEqual(found["accuracy"], run["metrics"]["test"]["accuracy"])
        self.assertEqual(len(self.scores(["run", "--source", "more.csv"], ["score"])), 600)

    def test_groups_by_a_feature_of_the_model(self):
        self.learn("omd", ["--source", "train.csv", "--clients", 1])
        lines = (self.folder / "test.csv").read_text().splitlines()
        self.write("few.csv", "\n".join(lines[:80]) + "\n")
        found = self.score(["run", "--source", "few.csv", "--by", "c"])
        self.assertEqual(found["metrics"], self.score(["run", "--source", "few.csv"])["metrics"])
        self.assertEqual(sum(group["metrics"]["records"] for group in found["groups"]), 79)
        self.assertEqual({float(group["value"]) for group in found["groups"]}, set(self.x[:79, 2]))

    def test_margins_have_no_probabilities(self):
        self.learn("omd", ["--source", "train.csv", "--clients", 1, "--loss", "hinge"])
        found = self.score(["run", "--source", "test.csv"])["metrics"]
        self.check_two_classes(found, self.scores(["run", "--source", "test.csv", "--label", "y"], ["score"])[:, 0], self.y)
        for name in ("log_loss", "brier", "calibration", "r2"):
            self.assertNotIn(name, found)

    def test_the_model_of_one_client(self):
        self.learn("omd", ["--source", "train.csv", "--clients", 3])
        found = self.score(["run", "--source", "test.csv", "--client", 2])
        scores = self.scores(["run", "--source", "test.csv", "--label", "y", "--client", 2], ["score"])[:, 0]
        self.assertEqual(found["client"], 2)
        self.check_two_classes(found["metrics"], scores, self.y)

    def test_several_classes(self):
        y = self.x.argmax(axis=1)
        self.table("three.csv", ["a", "b", "c", "y"], zip(*self.x.T, y))
        self.learn("fedavg", ["--source", "three.csv", "--clients", 2, "--loss", "softmax:3", "--batch", 5])
        found = self.score(["run", "--source", "three.csv"])["metrics"]
        scores = self.scores(["run", "--source", "three.csv"], ["score_0", "score_1", "score_2"])
        p = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        predicted = scores.argmax(axis=1)
        truth = numpy.eye(3)[y]
        self.near(found["accuracy"], (predicted == y).mean())
        self.near(found["log_loss"], -numpy.log(p[truth == 1]).mean())
        self.near(found["brier"], ((p - truth) ** 2).sum(axis=1).mean())
        self.check_calibration(found, p.max(axis=1), predicted == y)
        self.assertNotIn("auc", found)
        for k, each in enumerate(found["classes"]):
            self.assertEqual((each["class"], each["records"], each["predicted"]), (k, (y == k).sum(), (predicted == k).sum()))
            for name, expected in zip(("precision", "recall", "f1", "specificity"), of_class(predicted, y, k)):
                self.near(each[name], expected, name)
        self.near(found["f1"], numpy.mean([of_class(predicted, y, k)[2] for k in range(3)]))


class Numbers(ScoreCase):
    def test_a_standardised_regression_in_own_units(self):
        x = self.random.normal(5, 2, (300, 2))
        y = 100 + 30 * x[:, 0] + self.random.normal(0, 20, 300)
        self.table("train.csv", ["a", "b", "cost"], zip(*x.T, y))
        self.write("constants.csv", "feature,mean,sd\na,5,2\nb,5,2\ncost,250,60\n")
        words = ["--source", "train.csv", "--label", "cost", "--loss", "squared", "--intercept", "--standardise", "constants.csv",
                 "--clients", 1, "--epochs", 5, "--test", "train.csv"]
        summary = self.learn("omd", words)
        found = self.score(["run", "--source", "train.csv"])["metrics"]
        predicted = self.scores(["run", "--source", "train.csv"], ["prediction"])[:, 0]
        self.near(found["r2"], 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())
        numpy.testing.assert_allclose(found["rmse"], ((y - predicted) ** 2).mean() ** 0.5, rtol=1e-12)
        numpy.testing.assert_allclose(found["mae"], abs(y - predicted).mean(), rtol=1e-12)
        self.assertEqual(set(found), {"records", "r2", "rmse", "mae"})
        self.assertEqual(summary["metrics"]["test"], found)


class Runs(ScoreCase):
    """The metrics of --test are those of the model file."""

    SOURCE = "synthetic:two-gaussians:p=3,n=40"

    @fewer
    def test_summaries_have_the_same_metrics(self):
        x = self.random.normal(0, 1, (400, 3))
        y = numpy.where(x[:, 0] - x[:, 1] + self.random.normal(0, 1, 400) > 0, 1, -1)
        self.table("data.csv", ["a", "b", "c", "y"], zip(*x.T, y))
        kinds = {"omd": ["omd", "--clients", 5], "fedavg": ["fedavg", "--clients", 5, "--batch", 4],
                 "renewable": ["renewable", "--clients", 5, "--batch", 20],
                 "noisy": ["omd", "--clients", 4, "--mechanism", "gaussian", "--epsilon", 5, "--noise-key", "seed"],
                 "network": ["omd", "--clients", 2, "--loss", "softmax:2", "--model", "mlp:3-4-2", "--source", "zero.csv",
                             "--test", "zero.csv"]}
        self.table("zero.csv", ["a", "b", "c", "y"], zip(*x.T, (y + 1) // 2))
        for name, (command, *words) in kinds.items():
            with self.subTest(name):
                data = [] if "--source" in words else ["--source", "data.csv", "--test", "data.csv"]
                found = {ranks: self.learn(command, [*data, *words], f"{name}-{ranks}", ranks)["metrics"] for ranks in layouts()}
                for ranks in layouts()[1:]:
                    self.assertEqual(found[ranks], found[1], ranks)
                source = "zero.csv" if name == "network" else "data.csv"
                self.assertEqual(self.score([f"{name}-1", "--source", source])["metrics"], found[1]["test"])
                for key in ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "specificity", "confusion"):
                    self.assertEqual(found[1][key], found[1]["test"][key])

    def test_the_table_has_them(self):
        result = self.run_alone(["omd", *QUIET, "--source", self.SOURCE, "--clients", 1, "--test", self.SOURCE, "--output", "run"])
        for row in ("balanced accuracy  ", "AUC  ", "log-loss  "):
            self.assertIn(row, result.out)
        self.assertEqual(self.run_alone(["report", "run"]).out.count("AUC  "), 1)

    def test_a_model_without_labels_has_none(self):
        x = self.random.normal(3, 1, (50, 2))
        self.table("train.csv", ["a", "b", "y"], [[*row, 0] for row in x])
        summary = self.learn("omd", ["--source", "train.csv", "--loss", "huber", "--model", "location", "--clients", 1, "--test",
                                     "train.csv"])
        self.assertEqual(set(summary["metrics"]), {"test_loss"})
        self.refused(UNUSABLE, ["run", "--source", "train.csv"], "predicts no label")


class Command(ScoreCase):
    def setUp(self):
        super().setUp()
        x = self.random.normal(0, 1, (150, 2))
        self.table("data.csv", ["a", "b", "y"], zip(*x.T, (x[:, 0] > 0).astype(int)))
        self.learn("omd", ["--source", "data.csv", "--clients", 1])

    def test_tables_for_people_and_files(self):
        result = self.succeeded(self.run_alone(["score", "run", "--source", "data.csv", "--output", "out"]))
        for row in ("accuracy  ", "AUC  ", "class  ", "probability  ", "0.9 to 1.0 "):
            self.assertIn(row, result.out)
        found = json.loads((self.folder / "out" / "score.json").read_text())
        self.assertEqual(found, self.score(["run/model.h5", "--source", "data.csv"]) | {"model": "run"})
        if shutil.which("gnuplot"):
            self.assertIn("observed frequency", (self.folder / "out" / "calibration.svg").read_text())

    def test_classes_have_the_texts_of_the_label(self):
        self.write("encode.csv", "column,category,value\ny,ja,1\ny,nein,0\n")
        rows = [[a, b, "ja" if a > 0 else "nein"] for a, b in self.random.normal(0, 1, (150, 2))]
        self.table("texts.csv", ["a", "b", "y"], rows)
        self.learn("omd", ["--source", "texts.csv", "--encode", "encode.csv", "--clients", 1], "texts")
        shown = self.run_alone(["score", "texts", "--source", "texts.csv"]).out
        negative = sum(row[2] == "nein" for row in rows)
        self.assertRegex(shown, rf"(?m)^  nein \(-1\) +{negative} .*\n  ja \(1\) +{150 - negative} ")
        self.assertEqual(self.score(["texts", "--source", "texts.csv"])["class_texts"],
                         [{"class": -1, "text": "nein"}, {"class": 1, "text": "ja"}])

    def test_what_cannot_be_scored(self):
        self.refused(UNREADABLE, ["run", "--source", "data.csv", "--by", "a"], "--by a: the column has more than 100 values")
        self.refused(UNUSABLE, ["run", "--source", "data.csv", "--by", "town"], "no column 'town'.*--by")
        self.refused(UNUSABLE, ["run"], "--source")
        self.write("empty.csv", "a,b,y\n")
        self.refused(UNREADABLE, ["run", "--source", "empty.csv"], "no records|empty")
        self.write("unlabelled.csv", "a,b\n1,2\n")
        self.refused(UNUSABLE, ["run", "--source", "unlabelled.csv", "--label", "y"], "no column 'y'")
        self.write("other.csv", "a,b,y\n1,2,7\n")
        self.refused(UNREADABLE, ["run", "--source", "other.csv"], "other.csv: row 2")


if __name__ == "__main__":
    unittest.main()
