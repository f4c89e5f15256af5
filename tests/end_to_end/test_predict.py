"""Models are kept in one file, and the program applies them to new records as NumPy does from that file alone."""

import csv
import os
import subprocess
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from model_file_case import *


def attributes(path):
    with h5py.File(path) as file:
        return {key: value.decode() if isinstance(value, bytes) else value for key, value in file.attrs.items()}


def blocks(path):
    """The parameters by their names."""
    found = {}
    with h5py.File(path) as file:
        file["parameters"].visititems(lambda name, each: found.update({name: each[()]}) if hasattr(each, "shape") else None)
    return found


def linear_scores(path, x):
    found = blocks(path)
    scores = x @ found["weights"].T
    return scores + found["intercept"].T if "intercept" in found else scores


def convolved(x, weights, bias):
    """Records × height × width × channels, by kernels of 5 × 5."""
    records, height, width, channels = x.shape
    result = numpy.zeros((records, height - 4, width - 4, weights.shape[1])) + bias[0]
    kernel = weights.reshape(5, 5, channels, -1)
    for i in range(5):
        for j in range(5):
            result += x[:, i:i + height - 4, j:j + width - 4] @ kernel[i, j]
    return result


def pooled(x):
    records, height, width, channels = x.shape
    return x[:, :height // 2 * 2, :width // 2 * 2].reshape(records, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


def network_scores(path, x):
    found = blocks(path)
    with h5py.File(path) as file:
        layers = [each.decode() for each in file["layers"][()]]
        shape = [int(size) for size in file["input"][()]]
    x = x.reshape(len(x), *shape) if shape[0] > 1 else x
    number = 0
    for layer in layers:
        if layer == "relu":
            x = numpy.maximum(x, 0)
        elif layer == "max-pool":
            x = pooled(x)
        else:
            number += 1
            kind = layer.split()[0]
            weights, bias = found[f"{number}-{kind}/weights"], found[f"{number}-{kind}/bias"]
            x = convolved(x, weights, bias) if kind == "convolution" else x.reshape(len(x), -1) @ weights + bias[0]
    return x


def probabilities(scores):
    powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class PredictCase(ModelFileCase):
    command = "predict"

    def learn(self, command, words, output="run", ranks=1):
        self.run_quietly(command, words, output, ranks)
        return self.folder / output / "model.h5"

    def same(self, rows, column, expected):
        found = numpy.array([float(row[column]) for row in rows])
        numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


class Kinds(PredictCase):
    def test_two_classes_of_text_with_constants(self):
        n = 300
        age, sex = self.random.normal(50, 10, n), self.random.choice(["m", "f"], n)
        ill = numpy.where((age - 50) / 10 + (sex == "m") + self.random.normal(0, 1, n) > 0.5, "yes", "no")
        self.table("train.csv", ["id", "age", "sex", "ill"], zip(range(n), age, sex, ill))
        self.write("encode.csv", "column,category,value\nsex,m,1\nsex,f,-1\nill,yes,1\nill,no,0\n")
        self.write("standardise.csv", "feature,mean,sd\nage,50,10\nsex,0.25,1\n")
        model = self.learn("omd", ["--source", "train.csv", "--label", "ill", "--id", "id", "--intercept", "--encode", "encode.csv",
                                   "--standardise", "standardise.csv", "--clients", "1"])
        self.table("new.csv", ["sex", "town", "age"], zip(sex, ["here"] * n, age))
        rows = self.predict(["run", "--source", "new.csv"])
        with h5py.File(model) as file:
            mean, sd = file["preparation/mean"][()], file["preparation/sd"][()]
            codes = dict(zip([text.decode() for text in file["preparation/categories/0/text"]],
                             file["preparation/categories/0/value"][()]))
        x = (numpy.column_stack([age, [codes[each] for each in sex]]) - mean) / sd
        scores = linear_scores(model, x)[:, 0]
        self.same(rows, "score", scores)
        self.same(rows, "probability_yes", 1 / (1 + numpy.exp(-scores)))
        self.assertEqual([row["class"] for row in rows], ["yes" if score > 0 else "no" for score in scores])
        self.assertEqual([row["record"] for row in rows], [str(i + 1) for i in range(n)])

    def two_classes(self, low, high, name):
        """A table whose labels are these two numbers; its features, and whether a label is the second."""
        random = numpy.random.default_rng(3)
        x = random.normal(0, 1, (200, 2))
        second = x[:, 0] - x[:, 1] + 0.3 * random.normal(0, 1, 200) > 0
        self.table(name, ["a", "b", "kind"], zip(*x.T, numpy.where(second, high, low)))
        return x, second

    def test_declared_labels_of_two_classes(self):
        words = ["--label", "kind", "--intercept", "--clients", "2", "--partition", "iid", "--epochs", "3"]
        self.two_classes(-1, 1, "signs.csv")
        plain = self.learn("omd", ["--source", "signs.csv", *words], "plain")
        for low, high in ((0, 1), (1, 2), (2.5, -3)):
            with self.subTest(low=low, high=high):
                name = f"run{low}{high}"
                x, second = self.two_classes(low, high, "train.csv")
                model = self.learn("omd", ["--source", "train.csv", *words, f"--class-labels={low},{high}"], name)
                self.assertEqual({each: blocks(model)[each].tolist() for each in blocks(model)},
                                 {each: blocks(plain)[each].tolist() for each in blocks(plain)})
                with h5py.File(model) as file:
                    self.assertEqual(file["preparation/class_labels"][()].tolist(), [low, high])
                result = self.run_alone(["predict", name, "--source", "train.csv"])
                self.assertEqual((result.code, result.err), (0, ""), result)
                rows = list(csv.DictReader(result.out.splitlines()))
                scores = linear_scores(model, x)[:, 0]
                self.same(rows, f"probability_{high}", 1 / (1 + numpy.exp(-scores)))
                self.assertEqual([row["class"] for row in rows], [str(high if score > 0 else low) for score in scores])
                scored = self.run_alone(["score", name, "--source", "train.csv"])
                self.assertEqual((scored.code, "has learned from train.csv" in scored.err), (0, True), scored)
                told = json.loads(self.run_alone(["score", name, "--source", "train.csv", "--json"]).out)
                self.assertEqual({each["class"]: each["text"] for each in told["class_texts"]}, {-1: str(low), 1: str(high)})
                self.assertEqual(told["metrics"]["accuracy"], ((scores > 0) == second).mean())

    def test_labels_that_were_not_declared(self):
        words = ["--label", "kind", "--clients", "1"]
        self.two_classes(0, 1, "train.csv")
        said = "note: classes are -1 and 1: 1 is the label 1, and -1 the label 0 or -1, of the records that the model learned from."
        self.learn("omd", ["--source", "train.csv", *words])
        self.two_classes(-1, 1, "signs.csv")
        self.table("unlabelled.csv", ["a", "b"], [(1, 2)])
        self.learn("omd", ["--source", "train.csv", *words, "--positive", "0"], "positive")
        for command in ("predict", "score"):
            with self.subTest(command):
                result = self.run_alone([command, "run", "--source", "train.csv"])
                self.assertEqual(result.code, 0, result)
                self.assertIn(said, result.err)
                self.assertEqual(self.run_alone([command, "run", "--source", "signs.csv"]).err, "")
                self.assertIn("1 is the label 0 (--positive), and -1 any other", self.run_alone([command, "positive", "--source", "train.csv"]).err)
        self.assertEqual(self.run_alone(["predict", "run", "--source", "unlabelled.csv"]).err, "")

    def test_labels_that_cannot_be_declared(self):
        self.two_classes(0, 1, "train.csv")
        words = ["omd", *QUIET, "--source", "train.csv", "--label", "kind", "--clients", "1", "--output", "run"]
        for more, code, pattern in ((["1,2"], UNREADABLE, "row 5: a label is none of 1, 2 (--class-labels)"),
                                    (["0"], UNUSABLE, "--class-labels names 1 labels, and --loss logistic tells 2 classes apart"),
                                    (["1,1"], UNUSABLE, "--class-labels 1,1: it takes different numbers, a label for each class"),
                                    (["0,1", "--ignore", "1"], UNUSABLE, "label 1 stands in --class-labels and in --ignore"),
                                    (["0,1", "--positive", "1"], UNUSABLE, "--positive"),
                                    (["0,1", "--loss", "squared"], UNUSABLE, "--class-labels with --loss squared"),
                                    (["0,1,2"], UNUSABLE, "--class-labels names 3 labels, and --loss logistic tells 2 classes apart. Name one"),
                                    (["0,1,2", "--loss", "softmax:4"], UNUSABLE, "names 3 labels, and --loss softmax:4 tells 4 classes apart"),
                                    (["0,1", "--loss", "softmax:2"], UNUSABLE, "--class-labels with --loss softmax:2")):
            with self.subTest(more):
                self.complains(self.run_alone([*words, "--class-labels", *more]), code, re.escape(pattern))
                self.assertFalse((self.folder / "run").exists())
        self.complains(self.run_alone(["renewable", *QUIET, "--source", "train.csv", "--label", "kind", "--l2", "1", "--classes", "one-vs-rest:2",
                                       "--class-labels", "0,1", "--output", "run"]), UNUSABLE, "--class-labels with --classes one-vs-rest:2")
        # A label that nobody declared ends no prediction, and other commands take declared labels too.
        self.learn("renewable", ["--source", "train.csv", "--label", "kind", "--l2", "1", "--batch", "20", "--class-labels", "0,1"], "renewed")
        self.table("other.csv", ["a", "b", "kind"], [(5, -5, 7), (-5, 5, 0)])
        self.assertEqual([row["class"] for row in self.predict(["renewed", "--source", "other.csv"])], ["1", "0"])
        self.complains(self.run_alone(["score", "renewed", "--source", "other.csv"]), UNREADABLE, "label 7 is none of 0, 1")

    def test_a_standardised_regression_in_own_units(self):
        x = self.random.normal(5, 2, (200, 3))
        y = 100 + 30 * x[:, 0] + self.random.normal(0, 1, 200)
        self.table("train.csv", ["a", "b", "c", "cost"], numpy.column_stack([x, y]))
        self.write("constants.csv", "feature,mean,sd\na,5,2\nb,5,2\nc,5,2\ncost,250,60\n")
        model = self.learn("omd", ["--source", "train.csv", "--label", "cost", "--loss", "squared", "--intercept", "--standardise",
                                   "constants.csv", "--clients", "1", "--epochs", "20", "--step", "0.1"])
        rows = self.predict(["run", "--source", "train.csv"])
        expected = linear_scores(model, (x - 5) / 2)[:, 0] * 60 + 250
        self.same(rows, "prediction", expected)
        self.assertLess(numpy.abs(expected - y).mean(), 10)

    def test_several_classes_dense_and_sparse(self):
        x = self.random.normal(0, 1, (120, 4))
        y = x[:, :3].argmax(axis=1)
        self.table("train.csv", ["a", "b", "c", "d", "y"], zip(*x.T, y))
        model = self.learn("omd", ["--source", "train.csv", "--loss", "softmax:3", "--clients", "1", "--epochs", "5"])
        scores = linear_scores(model, x)
        rows = self.predict(["run", "--source", "train.csv"])
        for k in range(3):
            self.same(rows, f"score_{k}", scores[:, k])
            self.same(rows, f"probability_{k}", probabilities(scores)[:, k])
        self.assertEqual([int(row["class"]) for row in rows], list(scores.argmax(axis=1)))
        self.write("new.svm", "".join(f"{label} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(map(float, row))) + "\n"
                                      for label, row in zip(y, x)))
        sparse = self.predict(["run", "--source", "new.svm"])
        self.write("more.svm", "1 9:1\n")
        self.refused(3, ["run", "--source", "more.svm"], r"index 9: the model has \d features\. Leave the feature out")
        self.same(sparse, "score_2", scores[:, 2])
        named = [7.5, 1, 2]
        self.table("named.csv", ["a", "b", "c", "d", "y"], zip(*x.T, numpy.array(named)[y]))
        self.learn("omd", ["--source", "named.csv", "--loss", "softmax:3", "--clients", "1", "--epochs", "5", "--class-labels", "7.5,1,2"], "named")
        again = self.predict(["named", "--source", "named.csv"])
        self.assertEqual([row["class"] for row in again], [f"{named[int(row['class'])]:g}" for row in rows])
        self.assertEqual([row["score_7.5"] for row in again], [row["score_0"] for row in rows])
        self.write("other.csv", "a,b,c,d,y\n1,2,3,4,7.5\n1,2,3,4,5\n")
        self.complains(self.run_alone(["score", "named", "--source", "other.csv"]), UNREADABLE, "row 3: a? ?label 5 is none of 7.5, 1, 2")

    def test_a_location(self):
        x = self.random.normal(3, 1, (50, 2))
        self.table("train.csv", ["a", "b", "y"], [[*row, 0] for row in x])
        model = self.learn("omd", ["--source", "train.csv", "--loss", "huber", "--model", "location", "--clients", "1"])
        point = blocks(model)["point"][0]
        self.same(self.predict(["run", "--source", "train.csv"]), "prediction", numpy.linalg.norm(x - point, axis=1))

    def test_networks(self):
        x = self.random.random((60, 256)).round(3)
        y = (x[:, :128].sum(axis=1) > x[:, 128:].sum(axis=1)).astype(int)
        self.table("train.csv", [f"p{j}" for j in range(256)] + ["y"], zip(*x.T, y))
        for kind in ["mlp:256-9-2", "cnn:3-4-5"]:
            for command in ["omd", "fedavg"]:
                name = f"{command}-{kind[:3]}"
                model = self.learn(command, ["--source", "train.csv", "--loss", "softmax:2", "--model", kind, "--precision", "double",
                                             "--clients", "1", "--batch", "10"], name)
                scores = network_scores(model, x)
                self.same(self.predict([name, "--source", "train.csv"]), "score_1", scores[:, 1])

    def test_columns_of_one_name_are_taken_in_their_order(self):
        x = self.random.normal(0, 1, (60, 3))
        y = numpy.where(x @ [1, -2, 3] > 0, 1, -1)
        self.table("train.csv", ["a", "a", "b", "y"], zip(*x.T, y))
        model = self.learn("omd", ["--source", "train.csv", "--clients", "1"])
        self.same(self.predict(["run", "--source", "train.csv"]), "score", linear_scores(model, x)[:, 0])
        self.table("turned.csv", ["b", "a", "a"], zip(x[:, 2], x[:, 0], x[:, 1]))
        self.same(self.predict(["run", "--source", "turned.csv"]), "score", linear_scores(model, x)[:, 0])
        self.table("three.csv", ["a", "a", "b", "a"], zip(*x.T, y))
        self.refused(3, ["run", "--source", "three.csv"], "3 columns are called 'a', of which the model takes 2")

    def test_a_feature_that_is_called_as_labels_are(self):
        """Records without labels have the feature, and no label."""
        x = self.random.normal(0, 1, (60, 2))
        self.table("train.csv", ["y", "b", "outcome"], zip(*x.T, numpy.where(x @ [1, -2] > 0, 1, -1)))
        self.table("new.csv", ["y", "b"], zip(*x.T))
        model = self.learn("omd", ["--source", "train.csv", "--clients", "1", "--label", "outcome"])
        for source in ("train.csv", "new.csv"):
            self.same(self.predict(["run", "--source", source]), "score", linear_scores(model, x)[:, 0])

    def test_pictures_described_by_gradients(self):
        x = self.random.random((30, 784)).round(3)
        self.table("train.csv", [f"p{j}" for j in range(784)] + ["y"], zip(*x.T, [0, 1] * 15))
        words = ["--source", "train.csv", "--loss", "softmax:2", "--features", "hog", "--scale", "0.5", "--clients", "1"]
        model = self.learn("omd", words)
        self.assertEqual(attributes(model)["features"], 129)
        self.table("one.csv", [f"p{j}" for j in range(784)], x[:1])
        all_rows, one = self.predict(["run", "--source", "train.csv"]), self.predict(["run", "--source", "one.csv"])
        self.assertEqual(one[0]["score_0"], all_rows[0]["score_0"])
        self.assertNotEqual(all_rows[0]["score_0"], all_rows[1]["score_0"])
        self.learn("omd", [*words, "--start", "run/model.h5"], "further")

    def test_second_order_models_and_inference(self):
        x = self.random.normal(0, 1, (400, 3))
        y = numpy.where(x[:, 0] - x[:, 1] + self.random.normal(0, 0.5, 400) > 0, 1, -1)
        classes = x.argmax(axis=1)
        self.table("two.csv", ["a", "b", "c", "y"], zip(*x.T, y))
        self.table("three.csv", ["a", "b", "c", "y"], zip(*x.T, classes))
        two = self.learn("renewable", ["--source", "two.csv", "--clients", "2", "--batch", "40"], "two")
        self.same(self.predict(["two", "--source", "two.csv"]), "score", linear_scores(two, x)[:, 0])
        three = self.learn("renewable", ["--source", "three.csv", "--clients", "2", "--batch", "40", "--classes", "one-vs-rest:3"],
                           "three")
        rows = self.predict(["three", "--source", "three.csv"])
        scores = linear_scores(three, x)
        self.same(rows, "score_2", scores[:, 2])
        self.assertEqual([int(row["class"]) for row in rows], list(scores.argmax(axis=1)))
        self.assertGreater((scores.argmax(axis=1) == classes).mean(), 0.8)
        infer = self.learn("infer", ["--source", "two.csv", "--clients", "2", "--loss", "logistic"], "infer")
        self.same(self.predict(["infer", "--source", "two.csv"]), "score", linear_scores(infer, x)[:, 0])

    def test_regressions_have_the_spreads_of_their_intervals(self):
        x = self.random.normal(2, 1, (20000, 2))  # enough for a path that has settled
        cost = 3 * x[:, 0] - x[:, 1] + self.random.normal(0, 1, 20000)
        self.table("train.csv", ["a", "b", "cost"], zip(*x.T, cost))
        self.table("centred.csv", ["a", "b", "cost"], zip(*(x - 2).T, cost - 4))
        self.write("constants.csv", "feature,mean,sd\na,2,1\nb,2,1\ncost,4,3\n")
        words = ["--label", "cost", "--loss", "huber:1.345", "--clients", "2"]
        for method, source, more, sd, quantile in (("plug-in", "centred.csv", [], 1, 1.959963984540054),
                                                   ("random-scaling", "train.csv", ["--standardise", "constants.csv"], 3, 6.74733)):
            with self.subTest(method):
                model = self.learn("infer", ["--source", source, *words, *more, "--intervals", method], method)
                with h5py.File(model) as file:
                    spread = file["spread"][()]
                self.assertEqual(attributes(model)["spread_method"], method)
                rows = self.predict([method, "--source", source])
                z = numpy.column_stack([x - 2, numpy.ones(len(x))])
                length = sd * numpy.sqrt(numpy.einsum("ij,jk,ik->i", z, spread, z))
                predicted = numpy.array([float(row["prediction"]) for row in rows])
                high = numpy.array([float(row["high"]) for row in rows])
                numpy.testing.assert_allclose(high - predicted, quantile * length, rtol=1e-5)
                numpy.testing.assert_allclose([float(row["low"]) for row in rows], 2 * predicted - high, rtol=1e-9)
                self.assertEqual("standard_error" in rows[0], method == "plug-in")
                if method == "plug-in":
                    self.same(rows, "standard_error", length)
                    with open(self.folder / method / "coefficients.csv", newline="") as file:
                        errors = [float(row["standard_error"]) for row in csv.DictReader(file)]
                    numpy.testing.assert_allclose(numpy.sqrt(numpy.diag(spread)), errors, rtol=1e-12)
        self.assertEqual([*self.predict(["plug-in", "--source", "train.csv", "--columns", "interval"])[0]],
                         ["record", "standard_error", "low", "high"])
        with h5py.File(self.folder / "plug-in" / "model.h5", "a") as file:
            file.attrs["spread_method"] = "guess"
        self.refused(UNREADABLE, ["plug-in", "--source", "train.csv"], "spread of method 'guess'")
        short = self.learn("infer", ["--source", "train.csv", *words, "--rounds", "150", "--intervals", "plug-in"], "short")
        self.assertNotIn("spread_method", attributes(short))  # its path has not settled
        plain = self.learn("omd", ["--source", "train.csv", *words, "--loss", "squared"], "plain")
        self.assertNotIn("spread_method", attributes(plain))
        self.assertEqual([*self.predict(["plain", "--source", "train.csv"])[0]], ["record", "prediction"])


class Uses(PredictCase):
    def setUp(self):
        super().setUp()
        self.x = self.random.normal(0, 1, (100, 2))
        self.table("train.csv", ["id", "a", "b", "y"], zip(range(100), *self.x.T, numpy.sign(self.x[:, 0])))
        self.words = ["--source", "train.csv", "--id", "id", "--clients", "5", "--topology",
                      str(SOURCE / "topologies" / "unbalanced-5.topo")]

    def test_the_model_is_the_mean_by_mass_and_clients_have_their_own(self):
        model = self.learn("omd", self.words)
        with h5py.File(self.folder / "run" / "run.h5") as file:
            each, mass = file["final_model"][()], file["mass"][-1]
        self.assertGreater(mass.std(), 0.01)
        numpy.testing.assert_allclose(blocks(model)["weights"][0], mass @ each / mass.sum(), rtol=1e-12)
        rows = self.predict(["run", "--source", "train.csv", "--id", "id", "--client", "3", "--columns", "score"])
        self.same(rows, "score", self.x @ each[3])
        self.assertEqual([*rows[7]], ["id", "score"])
        self.assertEqual(rows[7]["id"], "7")

    @fewer
    def test_the_same_bits_on_any_number_of_ranks(self):
        found = {ranks: blocks(self.learn("omd", self.words, f"run-{ranks}", ranks))["weights"].tobytes() for ranks in layouts()}
        self.assertEqual(len(set(found.values())), 1)

    def test_a_run_starts_from_a_model(self):
        model = self.learn("omd", self.words)
        start = blocks(model)["weights"][0]
        result = self.run_command(1, ["omd", *QUIET, *self.words, "--start", str(model), "--rounds", "1", "--step", "1e-9", "--mixing",
                                      "push-sum", "--json", "--output", "again"])
        self.assertEqual(result.code, 0, result)
        numpy.testing.assert_allclose(result.summary()["final_model"], start, atol=1e-8)
        renamed = (self.folder / "train.csv").read_text().replace("id,a,b", "id,b,a")
        self.write("renamed.csv", renamed)
        result = self.run_command(1, ["omd", *QUIET, *self.words, "--source", "renamed.csv", "--start", str(model), "--output", "no"])
        self.assertEqual(result.code, UNREADABLE, result)
        self.assertRegex(result.messages()[0], "called 'a'.*'b'")
        result = self.run_command(1, ["omd", *QUIET, *self.words, "--intercept", "--start", str(model), "--output", "no"])
        self.assertEqual(result.code, UNUSABLE, result)
        self.assertRegex(result.messages()[0], "2 parameters, where this run's model has 3")

    def test_standard_input_and_files(self):
        self.learn("omd", self.words)
        piped = subprocess.run([STARLING, "predict", "run", "--source", "-", "--columns", "class"], input="b,a\n1,2\n-1,-2\n",
                               cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(piped.stdout.splitlines(), ["record,class", "1,1", "2,-1"], piped)
        self.assertEqual(self.run_alone(["predict", "run", "--source", "train.csv", "--output", "p.csv"]).code, 0)
        self.assertEqual(len((self.folder / "p.csv").read_text().splitlines()), 101)
        self.refused(UNUSABLE, ["run", "--source", "train.csv", "--output", "p.csv"], "exists", "--force")
        self.assertEqual(self.run_alone(["predict", "run", "--source", "train.csv", "--output", "p.csv", "--force"]).code, 0)

    def test_pipes_devices_and_links_stay_what_they_are(self):
        self.learn("omd", self.words)
        words = ["predict", "run", "--source", "train.csv", "--force", "--output"]
        expected = self.run_alone(words[:4]).out
        os.mkfifo(self.folder / "pipe")
        with ThreadPoolExecutor() as pool:
            found = pool.submit((self.folder / "pipe").read_text)
            self.assertEqual(self.run_alone([*words, "pipe"]).code, 0)
            self.assertEqual(found.result(PATIENCE), expected)
        self.assertTrue((self.folder / "pipe").is_fifo())
        (self.folder / "null").symlink_to(os.devnull)  # a program that replaces what it is given replaces this link
        (self.folder / "link").symlink_to("p.csv")
        (self.folder / "p.csv").touch()
        for name in "null", "link":
            self.assertEqual(self.run_alone([*words, name]).code, 0)
            self.assertTrue((self.folder / name).is_symlink())
        self.assertEqual((self.folder / "p.csv").read_text(), expected)
        self.assertEqual(self.run_alone([*words, "/dev/stdout"]).out, expected)
        (self.folder / "folder").mkdir()
        self.refused(UNUSABLE, [*words[1:], "folder"], "it is a folder")

    def test_long_tables_keep_their_order(self):
        model = self.learn("omd", self.words)
        x = self.random.normal(0, 1, (30000, 2))
        self.table("long.csv", ["id", "a", "b"], zip((f"r{i}" for i in range(len(x))), *x.T))
        rows = self.predict(["run", "--source", "long.csv", "--id", "id"])
        self.assertEqual([row["id"] for row in rows], [f"r{i}" for i in range(len(x))])
        self.same(rows, "score", linear_scores(model, x)[:, 0])
        self.assertEqual([row["record"] for row in self.predict(["run", "--source", "long.csv"])], [str(i + 1) for i in range(len(x))])

    def test_a_pipe_that_stays_open_has_its_predictions(self):
        self.learn("omd", self.words)
        with subprocess.Popen([STARLING, "predict", "run", "--source", "-", "--columns", "class"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, cwd=self.folder, env=environment(), text=True) as piped:
            watch = threading.Timer(PATIENCE, piped.kill)
            watch.start()
            piped.stdin.write("b,a\n" + "1,2\n" * 256)
            piped.stdin.flush()
            first = [piped.stdout.readline() for _ in range(257)]  # waits for them
            watch.cancel()
            piped.stdin.write("-1,-2\n")
            piped.stdin.close()
            self.assertEqual((first[-1], piped.stdout.read()), ("256,1\n", "257,-1\n"))
        self.assertEqual(piped.returncode, 0)

    def test_a_fault_far_into_a_table_costs_its_row_alone(self):
        self.learn("omd", self.words)
        self.write("bad.csv", "a,b\n" + "1,2\n" * 20000 + "1,high\n" + "1,2\n" * 20000)
        result = self.run_alone(["predict", "run", "--source", "bad.csv", "--output", "p.csv"])
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.err, r"no prediction: bad\.csv: row 20002: column 'b' is 'high': not a number\.")
        lines = (self.folder / "p.csv").read_text().splitlines()
        self.assertEqual((len(lines), lines[20001]), (40002, "20001,,,"))
        self.assertTrue(all(line.count(",") == 3 and not line.endswith(",") for line in lines[:20001] + lines[20002:]))

    def test_rows_that_cannot_be_read_have_no_prediction(self):
        """With their identifiers, where these are known; the others have what they have without them."""
        self.learn("omd", self.words)
        rows = ["p1,1,2", "p2,1,", "p3,red,2", "p4,1,2,3", "p5,3,2"]
        self.write("bad.csv", "\n".join(["id,a,b", *rows]) + "\n")
        self.write("good.csv", "\n".join(["id,a,b", rows[0], rows[4]]) + "\n")
        good = self.succeeded(self.run_alone(["predict", "run", "--source", "good.csv", "--id", "id"])).out.splitlines()
        result = self.run_alone(["predict", "run", "--source", "bad.csv", "--id", "id"])
        self.assertEqual(result.code, 1, result)
        self.assertEqual(result.out.splitlines(), [*good[:2], "p2,,,", "p3,,,", "p4,,,", good[2]])
        for row in (3, 4, 5):
            self.assertIn(f"bad.csv: row {row}: ", result.err)
        self.assertIn("3 of the records could not be read", result.err)
        self.write("worse.csv", "a,b\n1,high\n1,low\n")
        self.write("p.csv", "before")
        self.refused(UNREADABLE, ["run", "--source", "worse.csv", "--output", "p.csv", "--force"], "none of 2 records can be read")
        self.assertEqual((self.folder / "p.csv").read_text(), "before")
        self.assertFalse((self.folder / "p.csv.part").exists())

    def test_columns_that_are_not_taken_are_named(self):
        self.learn("omd", self.words)
        result = self.run_alone(["predict", "run", "--source", "train.csv"])
        self.assertRegex(result.err, "does not take: id")


class Faults(PredictCase):
    def test_faults_are_named_with_their_remedy(self):
        x = self.random.normal(0, 1, (20, 2))
        self.table("train.csv", ["a", "b", "y"], zip(*x.T, numpy.sign(x[:, 0])))
        model = self.learn("omd", ["--source", "train.csv", "--clients", "1"])
        self.write("few.csv", "a,c\n1,2\n")
        self.write("empty.csv", "a,b\n")
        self.write("wide.csv", "1,2,3\n")
        self.write("not.h5", "text")
        (self.folder / "empty").mkdir()
        cut = model.read_bytes()
        (self.folder / "cut.h5").write_bytes(cut[:len(cut) // 2])
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = [1.0]
        for damage, change in {
            "later.h5": lambda file: file.attrs.modify("format", "starling model 9"),
            "shape.h5": lambda file: (file.__delitem__("parameters/weights"), file.__setitem__("parameters/weights", [[1.0]])),
            "loss.h5": lambda file: file.attrs.modify("loss", "nothing"),
            "nan.h5": lambda file: file["parameters/weights"].write_direct(numpy.array([[numpy.nan, 1]])),
            "count.h5": lambda file: file.attrs.modify("features", -3.0),
        }.items():
            (self.folder / damage).write_bytes(cut)
            with h5py.File(self.folder / damage, "a") as file:
                change(file)
        for code, words, *patterns in [
            (UNUSABLE, [], "no model is named"),
            (UNUSABLE, ["run"], "no --source is named"),
            (UNUSABLE, ["nothing.h5", "--source", "train.csv"], "cannot open 'nothing.h5'"),
            (UNUSABLE, ["empty", "--source", "train.csv"], "has no model.h5"),
            (UNUSABLE, ["run", "--source", "train.csv", "--client", "1"], "1 clients"),
            (UNUSABLE, ["run", "--source", "synthetic:drift"], "one file"),
            (UNUSABLE, ["run", "--source", "part-{client}.csv"], "one file"),
            (UNUSABLE, ["run", "--source", "missing.csv"], "missing.csv"),
            (UNUSABLE, ["run", "--source", "train.csv", "--columns", "colour"], "colour"),
            (UNUSABLE, ["run", "--source", "train.csv", "--standardise", "few.csv"], "constants of its own"),
            (UNUSABLE, ["run", "--source", "train.csv", "--label", "a"], "'a'", "feature of the model"),
            (UNREADABLE, ["run", "--source", "few.csv"], "missing: 'b'", "a, c"),
            (UNREADABLE, ["run", "--source", "empty.csv"], "no records"),
            (UNREADABLE, ["run", "--source", "wide.csv"], "3 features", "takes 2", "--drop"),
            (UNREADABLE, ["not.h5", "--source", "train.csv"], "not an HDF5 file"),
            (UNREADABLE, ["cut.h5", "--source", "train.csv"], "cut.h5"),
            (UNREADABLE, ["other.h5", "--source", "train.csv"], "not a model file"),
            (UNREADABLE, ["later.h5", "--source", "train.csv"], "not a model file of this version"),
            (UNREADABLE, ["shape.h5", "--source", "train.csv"], "/parameters/weights"),
            (UNREADABLE, ["loss.h5", "--source", "train.csv"], "loss"),
            (UNREADABLE, ["nan.h5", "--source", "train.csv"], "not finite"),
            (UNREADABLE, ["count.h5", "--source", "train.csv"], "'features'"),
        ]:
            with self.subTest(words=words):
                self.refused(code, words, *patterns)
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.part")), [])


if __name__ == "__main__":
    unittest.main()
