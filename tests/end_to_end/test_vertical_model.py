"""Vertical learning keeps its model: in one file where all may have the networks, else each party its part. The program applies it as
NumPy does from the file alone, in one process or with all parties together."""

import csv
import os
import random
import shutil
import stat
import unittest

from harness import *

UNUSABLE, UNREADABLE = 2, 3
REFUSING = (1, 3) if SLOW else (1,)  # test_damaged_and_missing_parts has several ranks by default
needs_tables = unittest.skipUnless((DATA / "vfl_fate").exists(), "the tables of two parties are not beside the project")
NONE = ["--mechanism", "none"]
PARTIES = ["--parties", "guest.csv,host.csv", "--id", "id"]
NETWORKS = ["--feature-net", "d-5-3", "--head", "d-4-d", "--batch", 8, "--step", 0.2]
TEST = ["--test", "guest-test.csv,host-test.csv"]
NEW = ["--parties", "guest-test.csv,host-test.csv", "--id", "id"]


def texts(values):
    return [each.decode() for each in values]


class Part:
    """A network of a model file with its preparation, in NumPy."""

    def __init__(self, group):
        self.layers = texts(group["layers"][()])
        self.parameters = {}
        group["parameters"].visititems(
            lambda name, each: self.parameters.update({name: each[()]}) if hasattr(each, "shape") else None)
        self.bound = group.attrs.get("embedding_bound", numpy.inf)
        self.places = group["place"][()].astype(int) if "place" in group else None
        preparation = group["preparation"]
        self.columns = texts(preparation["column"][()]) if "column" in preparation else None
        self.codes = {}
        for each in preparation.get("categories", {}).values():
            column = each.attrs["column"]
            self.codes[column.decode() if isinstance(column, bytes) else column] = dict(zip(texts(each["text"][()]), each["value"][()]))
        self.mean, self.sd = ((preparation["mean"][()], preparation["sd"][()]) if "mean" in preparation else (0, 1))
        self.label = (preparation.attrs.get("label_mean", 0), preparation.attrs.get("label_sd", 1))

    def prepared(self, table):
        """Of a table {column: values}."""
        columns = [[self.codes[name][value] for value in table[name]] if name in self.codes else table[name] for name in self.columns]
        return (numpy.array(columns, float).T - self.mean) / self.sd

    def outputs(self, x):
        number = 0
        for layer in self.layers:
            if layer == "relu":
                x = numpy.maximum(x, 0)
            else:
                number += 1
                x = x @ self.parameters[f"{number}-dense/weights"] + self.parameters[f"{number}-dense/bias"][0]
        return x * numpy.minimum(1, self.bound / numpy.maximum(numpy.linalg.norm(x, axis=1), 1e-300))[:, None]


class Model:
    """A model file in NumPy."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.head = Part(file)
            self.parties = [Part(file[f"party/{k + 1}"]) for k in range(int(file.attrs["parties"]))]
            self.attributes = {key: value.decode() if isinstance(value, bytes) else value for key, value in file.attrs.items()}
            self.names = texts(file["feature"][()])

    def scores(self, table):
        return self.head.outputs(numpy.hstack([part.outputs(part.prepared(table)) for part in self.parties]))


class ModelCase(TestCase):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(3)

    def records(self, count, first=0):
        """A table of columns for guest (age, sex) and host (b, c), and a label of all."""
        table = {"id": [f"r{first + i}" for i in range(count)], "age": [round(self.draw.gauss(0, 1), 4) for _ in range(count)],
                 "sex": [self.draw.choice("mf") for _ in range(count)],
                 "b": [round(self.draw.gauss(0, 1), 4) for _ in range(count)], "c": [round(self.draw.gauss(0, 1), 4) for _ in range(count)]}
        table["y"] = [age + (sex == "m") + b - c + self.draw.gauss(0, 0.3)
                      for age, sex, b, c in zip(*(table[name] for name in ("age", "sex", "b", "c")))]
        table["ill"] = [int(y > 0.5) for y in table["y"]]
        table["state"] = ["yes" if y > 0.5 else "no" for y in table["y"]]
        return table

    def table(self, name, table, columns, shuffled=False):
        rows = list(zip(*(table[column] for column in columns)))
        if shuffled:
            self.draw.shuffle(rows)
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])

    def write_files(self, label="ill"):
        """Files of two parties and of all columns, to learn from and to test with; host has its records in another order."""
        self.train, self.test = self.records(96), self.records(40, first=1000)
        for table, end in ((self.train, ""), (self.test, "-test")):
            self.table(f"guest{end}.csv", table, ["id", label, "age", "sex"])
            self.table(f"host{end}.csv", table, ["id", "b", "c"], shuffled=True)
            self.table(f"all{end}.csv", table, ["c", "age", label, "id", "b"])
        self.write("standardise-2.csv", "feature,mean,sd\nb,0.5,2\nc,-0.5,0.5\n")

    def learn(self, words, output="run", ranks=3):
        return self.succeeded(self.run_command(ranks, ["vertical", "--progress", "off", *words, "--output", output, "--json"]))

    def apply(self, command, words, ranks=1):
        result = self.succeeded(self.run_command(ranks, [command, *words]))
        return result.out

    def predict(self, words, ranks=1):
        return list(csv.DictReader(self.apply("predict", words, ranks).splitlines()))

    def score(self, words, ranks=1):
        return json.loads(self.apply("score", [*words, "--json"], ranks))["metrics"]

    def refused(self, code, command, words, *patterns, ranks=1):
        result = self.run_command(ranks, [command, *words])
        self.complains(result, code, *patterns)

    def same(self, rows, column, expected):
        numpy.testing.assert_allclose([float(row[column]) for row in rows], expected, rtol=1e-12, atol=1e-12)

    def files(self, output):
        return sorted(str(path.relative_to(self.folder / output)) for path in (self.folder / output).rglob("*.h5"))


@needs_h5py
class Files(ModelCase):
    """NumPy computes the same scores from the model file alone."""

    CLASSES = [*PARTIES, *NETWORKS, "--loss", "softmax", "--precision", "double", "--networks", "shared"]

    def test_classes_of_text_and_constants_of_each_party(self):
        self.write_files("state")
        self.write("standardise-1.csv", "feature,mean,sd\nage,0.25,2\nsex,0.25,2\n")
        self.write("encode-1.csv", "column,category,value\nsex,m,1\nsex,f,-1\nstate,yes,1\nstate,no,0\n")
        self.write("encode-2.csv", "column,category,value\nb,high,1\n")
        words = [*self.CLASSES, "--label", "state", *NONE, *TEST, "--encode", "encode-{client}.csv", "--standardise",
                 "standardise-{client}.csv"]
        self.table("host.csv", {**self.train, "b": ["high"] * 96}, ["id", "b", "c"])
        self.table("host-test.csv", {**self.test, "b": ["high"] * 40}, ["id", "b", "c"])
        run = self.learn(words).summary()
        model = Model(self.folder / "run" / "model.h5")
        self.assertEqual((model.attributes["kind"], model.attributes["loss"], model.names), ("vertical", "softmax:2", ["age", "sex", "b", "c"]))
        scores = model.scores({**self.test, "b": ["high"] * 40})
        rows = self.predict(["run", *NEW])
        self.assertEqual([*rows[0]], ["id", "score_no", "score_yes", "probability_no", "probability_yes", "class"])
        self.assertEqual([row["id"] for row in rows], self.test["id"])
        self.same(rows, "score_yes", scores[:, 1])
        self.same(rows, "probability_yes", 1 / (1 + numpy.exp(scores[:, 0] - scores[:, 1])))
        self.assertEqual([row["class"] for row in rows], ["yes" if b > a else "no" for a, b in scores])
        self.table("new.csv", {**self.test, "b": ["high"] * 40, "town": ["here"] * 40}, ["town", "c", "b", "sex", "id", "age", "state"])
        self.assertEqual(self.predict(["run", "--source", "new.csv", "--id", "id"]), rows)
        for found in (self.score(["run", *NEW]), self.score(["run", "--source", "new.csv", "--id", "id"]), self.score(["run", *NEW], 3)):
            self.assertEqual(found, run["metrics"]["test"])
        self.assertGreater(found["auc"], 0.5)

    def test_a_regression_in_own_units(self):
        self.write_files("y")
        words = [*PARTIES, *NETWORKS, "--precision", "double", "--networks", "shared", "--epochs", 20, "--step", 0.05, *NONE, *TEST,
                 "--standardise", "standardise-{client}.csv", "--drop", "sex"]
        self.write("standardise-1.csv", "feature,mean,sd\nage,0.25,2\ny,1,3\n")
        run = self.learn(words).summary()
        model = Model(self.folder / "run" / "model.h5")
        self.assertEqual(model.attributes["loss"], "squared")
        self.assertEqual(model.head.label, (1, 3))
        expected = 1 + 3 * model.scores(self.test)[:, 0]
        self.same(self.predict(["run", *NEW]), "prediction", expected)
        self.same(self.predict(["run", "--source", "all-test.csv", "--id", "id"]), "prediction", expected)
        found = self.score(["run", *NEW], 3)
        self.assertEqual(found, run["metrics"]["test"])
        self.assertAlmostEqual(found["rmse"], numpy.sqrt(((expected - self.test["y"]) ** 2).mean()), delta=1e-9)
        self.assertGreater(found["r2"], 0.5)
        self.assertEqual(self.score(["run", "--source", "all-test.csv", "--id", "id"]), found)

    def test_one_table_and_columns_by_place(self):
        self.write_files()
        rows = {}
        for end, table in (("", self.train), ("-test", self.test)):
            rows[end] = numpy.column_stack([table["c"], table["b"], table["age"], numpy.random.default_rng(2).normal(0, 1, len(table["c"])),
                                            table["ill"]]).astype(float)
            numpy.savetxt(self.folder / f"plain{end}.csv", rows[end], fmt="%r", delimiter=",")
        run = self.learn(["--source", "plain.csv", "--columns", "2,0/1", *NETWORKS, "--precision", "double", *NONE,
                          "--networks", "shared", "--test", "plain-test.csv", "--positive", "1"]).summary()
        model = Model(self.folder / "run" / "model.h5")
        self.assertEqual([list(part.places) for part in model.parties], [[2, 0], [1]])
        self.assertEqual(model.attributes["features"], 4)  # one is nobody's
        x = rows["-test"]
        scores = model.head.outputs(numpy.hstack([part.outputs(x[:, part.places]) for part in model.parties]))
        self.same(self.predict(["run", "--source", "plain-test.csv", "--label", 4]), "score", scores[:, 0])
        self.assertEqual(self.score(["run", "--source", "plain-test.csv"]), run["metrics"]["test"])

    def test_under_noise_all_may_have_the_networks(self):
        self.write_files()
        self.learn([*self.CLASSES[:-2], "--label", "ill", "--drop", "sex", "--mechanism", "gaussian", "--mu", "2",
                    "--embedding-clip", "0.4", "--step", "0.02"])
        self.assertIn("model.h5", self.files("run"))
        self.assertEqual([name for name in self.files("run") if "part" in name], [])
        model = Model(self.folder / "run" / "model.h5")
        for part in model.parties:
            self.assertTrue(0.39 < part.bound <= 0.4, part.bound)
        lengths = [numpy.linalg.norm(part.outputs(part.prepared(self.test)), axis=1) for part in model.parties]
        self.assertTrue(all((0.399 < each).any() and (each <= part.bound * (1 + 1e-12)).all() for part, each in zip(model.parties, lengths)))
        self.same(self.predict(["run", *NEW]), "score_1", model.scores(self.test)[:, 1])
        with h5py.File(self.folder / "run" / "model.h5") as file:
            self.assertIn("epsilon", str(file["origin"].attrs["privacy"]))

    @fewer
    def test_the_same_bits_on_any_number_of_ranks(self):
        self.write_files()
        found = set()
        for ranks in layouts((1, 2, 5, 3)):
            self.learn([*self.CLASSES, *NONE, "--label", "ill", "--drop", "sex", "--clients", 2], f"run-{ranks}", ranks)
            model = Model(self.folder / f"run-{ranks}" / "model.h5")
            found.add(model.scores(self.test).tobytes())
            found.add(numpy.array([[float(row["score_0"]), float(row["score_1"])] for row in self.predict([f"run-{ranks}", *NEW], ranks)]
                                  ).tobytes() if ranks > 1 else next(iter(found)))
        self.assertLessEqual(len(found), 2)  # of NumPy and of the program


@needs_h5py
class Parts(ModelCase):
    """Without noise a party's network is its own, unless it is declared otherwise."""

    WORDS = [*PARTIES, *NETWORKS, *NONE, "--label", "ill", "--loss", "softmax", "--drop", "sex"]

    def setUp(self):
        super().setUp()
        self.write_files()

    def part(self, client, output="run", rank=None):
        return self.folder / output / "private" / str(client if rank is None else rank) / f"model-part-{client}.h5"

    @fewer
    def test_each_party_has_its_own_and_they_predict_together(self):
        run = self.learn([*self.WORDS, *TEST]).summary()
        self.assertEqual(self.files("run"), ["clients/0.h5", *(f"private/{k}/model-part-{k}.h5" for k in range(3)), "run.h5"])
        for client in range(3):
            self.assertEqual(stat.S_IMODE(os.stat(self.part(client)).st_mode), 0o600)
        self.learn([*self.WORDS, *TEST, "--networks", "shared"], "shared")
        expected = self.predict(["shared", *NEW])
        shutil.copytree(self.folder / "run", self.folder / "moved")
        for client in range(3):
            shutil.copy(self.part(client), self.folder / f"part-{client}.h5")
        for where in ("run", "part-{client}.h5", "shared", "shared/model.h5"):
            for ranks in layouts((1, 2, 3)) if SLOW or where == "run" else (1,):
                self.assertEqual(self.predict([where, *NEW], ranks), expected, f"{where} on {ranks}")
                self.assertEqual(self.score([where, *NEW], ranks), run["metrics"]["test"], f"{where} on {ranks}")
        # One process that may read all parts applies them to one table, too.
        self.assertEqual(self.predict(["run", "--source", "all-test.csv", "--id", "id"]), expected)

    def test_labels_and_order_of_a_file_of_their_own(self):
        self.learn(self.WORDS)
        expected = self.score(["run", *NEW])
        self.table("labels.csv", self.test, ["id", "ill"])
        self.table("guest-test.csv", self.test, ["id", "age", "sex"], shuffled=True)
        words = ["run", *NEW, "--label-source", "labels.csv"]
        self.assertEqual(self.score(words, 3), expected)
        self.table("ids.csv", self.test, ["id"])
        rows = self.predict(["run", *NEW, "--label-source", "ids.csv"])
        self.assertEqual([row["id"] for row in rows], self.test["id"])
        rows = self.predict(["run", *NEW], 3)  # in the order of the guest's file
        with open(self.folder / "guest-test.csv") as file:
            self.assertEqual([row["id"] for row in rows], [row["id"] for row in csv.DictReader(file)])

    def test_records_by_their_place(self):
        self.learn(self.WORDS)
        expected = self.predict(["run", *NEW])
        for name, columns in (("guest-test.csv", ["age"]), ("host-test.csv", ["c", "b"])):
            self.table(name, self.test, columns)
        result = self.succeeded(self.run_command(3, ["predict", "run", *NEW[:2]]))
        self.assertIn("no --id", result.err)
        rows = list(csv.DictReader(result.out.splitlines()))
        self.assertEqual([row["record"] for row in rows], [str(i + 1) for i in range(40)])
        self.assertEqual([row["score_1"] for row in rows], [row["score_1"] for row in expected])

    def test_a_run_starts_from_a_model(self):
        """Its first predictions are those of the model, whatever the number of ranks and the place of the parts."""
        self.learn([*self.WORDS, "--epochs", 4])
        self.learn([*self.WORDS, "--epochs", 4, "--networks", "shared"], "shared")
        words = [*self.WORDS, "--parties", "guest-test.csv,host-test.csv", "--batch", 40]
        fresh = self.learn([*words, "--clients", 2], "fresh", 1).summary()["loss"]["mean"]
        expected = self.score(["run", *NEW])["log_loss"]
        self.assertGreater(fresh, 1.1 * expected)
        final = set()
        for i, (where, ranks) in enumerate((("run", 1), ("run", 3), ("shared", 3), ("shared/model.h5", 1))):
            summary = self.learn([*words, "--clients", 2, "--start", where], f"again-{i}", ranks).summary()
            self.assertAlmostEqual(summary["loss"]["mean"], expected, places=12)
            final.add(str(bits(summary["final_model"])))
        self.assertEqual(len(final), 1)
        central = self.learn([*words, "--clients", 2, "--start", "run", "--baseline", "central"], "central", 1).summary()
        self.assertEqual({str(bits(central["final_model"]))}, final)
        # What came from parts of the parties' own stays with them, though it goes on under noise.
        noisy = [*words[:-4], "--parties", "guest-test.csv,host-test.csv", "--batch", 40, "--mechanism", "gaussian", "--mu", "1", "--clients", 2]
        for where, networks in (("run", "local"), ("shared", "shared")):
            result = self.learn([*noisy, "--start", where], f"noisy-{where}", 1)
            self.assertEqual("model.h5" in self.files(f"noisy-{where}"), networks == "shared")
            self.assertEqual("privacy figures of this run do not cover" in result.err, networks == "local")

    @fewer
    def test_what_does_not_fit_the_start(self):
        self.learn(self.WORDS)
        words = [*self.WORDS, "--progress", "off", "--output", "no", "--start"]
        cases = [(UNUSABLE, ["run", "--head", "d-5-d"], "the head has .*dense 4.*, where this run has .*dense 5"),
                 (UNUSABLE, ["run", "--feature-net", "d-6-3"], "party 1 has .*dense 5.*dense 6"),
                 (UNREADABLE, ["run", "--parties", "guest.csv,other.csv"], "'b'.*'e'"),
                 (UNUSABLE, ["nowhere"], "'nowhere': there is no such file"),
                 (UNREADABLE, ["run/run.h5"], "not a model file"),
                 (UNREADABLE, ["run/private/1/model-part-1.h5"], "it is the part of party 1, where that of the head is needed")]
        self.learn([*self.WORDS, "--seed", 2], "other")
        for client in range(3):
            shutil.copy(self.part(client, "other" if client == 2 else "run"), self.folder / f"part-{client}.h5")
        cases.append((UNREADABLE, ["part-{client}.h5"], "parts of the runs .* Give the parts of one run"))
        self.table("other.csv", {**self.train, "e": self.train["b"]}, ["id", "e", "c"])
        for code, more, pattern in cases:
            for ranks in REFUSING:
                self.refused(code, "vertical", [*words, *more, "--clients", 2], pattern, ranks=ranks)
                self.assertFalse((self.folder / "no").exists())

    @fewer
    def test_damaged_and_missing_parts(self):
        self.learn(self.WORDS)
        self.learn([*self.WORDS, "--seed", 2], "other")
        for client in range(3):
            shutil.copy(self.part(client), self.folder / f"part-{client}.h5")
        words = ["part-{client}.h5", *NEW]
        for ranks in REFUSING:
            self.refused(UNUSABLE, "predict", ["run", *NEW, "--parties", "guest-test.csv"], "1 files for a model of 2 parties", ranks=ranks)
        self.refused(UNUSABLE, "predict", ["part-1.h5", "--source", "all-test.csv"], "it is one part of a vertical model")
        shutil.copy(self.part(1, "other"), self.folder / "part-1.h5")
        for ranks in (1, 3) if SLOW else (3,):
            self.refused(UNREADABLE, "predict", words, "Give the parts of one run", ranks=ranks)
        self.refused(UNREADABLE, "predict", ["part-{client}.h5", "--source", "all-test.csv"], "Give the parts of one run")
        shutil.copy(self.part(2), self.folder / "part-1.h5")
        for ranks in REFUSING:
            self.refused(UNREADABLE, "predict", words, "part-1.h5: it is the part of party 2, where that of party 1 is needed", ranks=ranks)
        content = self.part(1).read_bytes()
        (self.folder / "part-1.h5").write_bytes(content[:len(content) // 2])
        for ranks in REFUSING:
            self.refused(UNREADABLE, "predict", words, "part-1.h5", ranks=ranks)
        (self.folder / "part-1.h5").write_bytes(content)
        with h5py.File(self.folder / "part-1.h5", "a") as file:
            del file["parameters/1-dense/bias"]
        for ranks in REFUSING:
            self.refused(UNREADABLE, "predict", words, "part-1.h5: no dataset /parameters/1-dense/bias", ranks=ranks)
        (self.folder / "part-1.h5").unlink()
        for ranks in REFUSING:
            self.refused(UNUSABLE, "predict", words, "part-1.h5': there is no such file, where the part of party 1 should be", ranks=ranks)
        self.part(2).unlink()
        for ranks in REFUSING:
            self.refused(UNUSABLE, "score", ["run", *NEW], "model-part-2.h5 of party 2", ranks=ranks)

    @fewer
    def test_files_that_do_not_fit(self):
        self.learn(self.WORDS)
        self.table("few.csv", self.test, ["id", "c"])
        for ranks in REFUSING:
            self.refused(UNREADABLE, "predict", ["run", *NEW, "--parties", "guest-test.csv,few.csv"],
                         "few.csv: columns that the model takes from party 2 are missing: 'b'", ranks=ranks)
            self.refused(UNREADABLE, "predict", ["run", *NEW, "--parties", "host-test.csv,guest-test.csv"],
                         "columns that the model takes from party [12] are missing: .* in the order of the run", ranks=ranks)
        self.table("short.csv", {name: values[:-1] for name, values in self.test.items()}, ["id", "b", "c"])
        self.table("strange.csv", {**self.test, "id": [*self.test["id"][:-1], "stranger"]}, ["id", "b", "c"])
        for ranks in REFUSING:
            self.refused(UNREADABLE, "predict", ["run", *NEW, "--parties", "guest-test.csv,short.csv"], "40", "39", ranks=ranks)
            self.refused(UNREADABLE, "score", ["run", *NEW, "--parties", "guest-test.csv,strange.csv"], "strange.csv: the id of record 40",
                         ranks=ranks)
        self.table("unlabelled.csv", self.test, ["id", "age"])
        for ranks in REFUSING:
            self.refused(UNUSABLE, "score", ["run", *NEW, "--parties", "unlabelled.csv,host-test.csv"], "unlabelled.csv: no column 'ill'",
                         ranks=ranks)
            self.assertEqual(len(self.predict(["run", *NEW, "--parties", "unlabelled.csv,host-test.csv"], ranks)), 40)
        self.table("half.csv", self.test, ["id", "age", "b"])
        self.refused(UNREADABLE, "predict", ["run", "--source", "half.csv", "--id", "id"], "missing: 'c'")

    def test_options_that_do_not_go_together(self):
        self.learn([*self.WORDS, "--networks", "shared"])
        self.refused(UNUSABLE, "predict", ["run", "--source", "all-test.csv", "--client", 1], "--client 1 of a model of `vertical`")
        self.refused(UNUSABLE, "predict", ["run", *NEW, "--source", "all-test.csv"], "--parties with --source|--source")
        self.refused(UNUSABLE, "predict", ["run", "--source", "all-test.csv", "--label-source", "guest.csv"], "--label-source")
        self.refused(UNUSABLE, "score", ["run", *NEW, "--by", "b"], "--by")
        self.refused(UNUSABLE, "vertical", [*self.WORDS, "--baseline", "central", "--networks", "local", "--clients", 2], "--networks")
        self.table("same.csv", {**self.train, "age": self.train["c"]}, ["id", "age", "b"])
        self.learn([*self.WORDS, "--parties", "guest.csv,same.csv", "--networks", "shared"], "same")
        self.refused(UNUSABLE, "predict", ["same", "--source", "all-test.csv", "--id", "id"], "party 2 and a party before it have a column 'age'")

    def test_no_model_of_a_spectrum_and_of_central_learning(self):
        self.learn(["--source", "synthetic:spectrum:train=4,test=2,samples=4", "--clients", 2, "--rounds", 3, *NONE], "spectrum", 1)
        self.learn([*self.WORDS, "--baseline", "central", "--clients", 2], "central")
        for name in ("spectrum", "central"):
            self.assertEqual([file for file in self.files(name) if "model" in file], [])
            self.assertIn("networks/0.h5", self.files(name))
            self.refused(UNUSABLE, "predict", [name, "--source", "all-test.csv"], "it has no model.h5")


@needs_h5py
@needs_tables
class CreditDefault(ModelCase):
    """The whole way on real tables of two parties: every fifth line is held out."""

    @slow
    def test_from_records_to_the_same_figures(self):
        for who in ("guest", "host"):
            with gzip.open(DATA / "vfl_fate" / f"default_credit_hetero_{who}.csv.gz", "rt") as file:
                names, *lines = file.read().splitlines()
            for end, chosen in (("", [line for i, line in enumerate(lines) if i % 5 != 3]), ("-test", lines[3::5])):
                self.write(f"{who}{end}.csv", "\n".join([names, *chosen]) + "\n")
        words = [*PARTIES, *TEST, "--label", "y", "--batch", 20, "--feature-net", "d-32-8", "--head", "d-8-2", "--loss", "softmax",
                 "--step", 0.2, *NONE]
        run = self.learn(words).summary()["metrics"]["test"]
        self.assertEqual(run["records"], 6000)
        self.assertGreater(run["auc"], 0.77)
        for ranks in (1, 3):
            self.assertEqual(self.score(["run", *NEW], ranks), run)
        shared = self.learn([*words, "--networks", "shared", "--precision", "double"], "shared").summary()["metrics"]["test"]
        self.assertEqual(self.score(["shared", *NEW]), shared)
        model = Model(self.folder / "shared" / "model.h5")
        tables = []
        for who in ("guest", "host"):
            with open(self.folder / f"{who}-test.csv") as file:
                tables.append({row["id"]: row for row in csv.DictReader(file)})
        ids = list(tables[0])
        embeddings = []
        for part, table in zip(model.parties, tables):
            embeddings.append(part.outputs(part.prepared({name: [float(table[i][name]) for i in ids] for name in part.columns})))
        scores = model.head.outputs(numpy.hstack(embeddings))
        rows = self.predict(["shared", *NEW], 3)
        self.assertEqual([row["id"] for row in rows], ids)
        for k in (0, 1):
            self.same(rows, f"score_{k}", scores[:, k])
        again = self.learn([*words, "--start", "shared", "--rounds", 1], "again").summary()
        self.assertLess(again["loss"]["mean"], 0.69)


if __name__ == "__main__":
    unittest.main()
