"""Records from memory give the bits of the program on files; results are read from the run directory."""

import os
import pathlib
import subprocess
import traceback
import unittest
import warnings

from case import *

WORDS = ["--clients", "3", "--topology", "ring.topo", "--partition", "iid", "--mechanism", "gaussian", "--epsilon", "1", "--delta", "1e-5",
         "--tuning", "off", "--seed", "3", "--noise-key", "seed", "--progress", "off"]
OPTIONS = dict(clients=3, topology="ring", partition="iid", mechanism="gaussian", epsilon=1, delta=1e-5, tuning="off", seed=3, noise_key="seed",
               progress="off")


def write_csv(path, x, y, names=None):
    with open(path, "w") as file:
        file.write(",".join([*(names or [f"x{i}" for i in range(x.shape[1])]), "y"]) + "\n")
        for row, label in zip(x, y):
            file.write(",".join(repr(float(value)) for value in [*row, label]) + "\n")


class Records(PythonCase):
    def setUp(self):
        super().setUp()
        self.x, self.y = records_of()
        starling.topology.make("ring", clients=3, output="ring.topo")

    def program(self, output, *words):
        """The run of the program on the same records."""
        write_csv("records.csv", self.x, self.y)
        self.good(1, ["--source", "records.csv", *WORDS, *words, "--output", output])
        return starling.load(output)

    def test_the_bits_are_those_of_the_program(self):
        program = self.program("program")
        same_runs(self, starling.omd(records=(self.x, self.y), **OPTIONS, output="python"), program)

    def test_arrays_of_any_strides_and_types(self):
        program = self.program("program")
        wide = np.zeros((2 * len(self.x), 8))
        wide[::2, ::2] = self.x
        views = {"strided": wide[::2, ::2], "fortran": np.asfortranarray(self.x), "backwards": self.x[::-1].copy()[::-1],
                 "big-endian": self.x.astype(">f8"), "list": self.x.tolist()}
        for name, view in views.items():
            labels = np.repeat(self.y, 2)[::2] if name == "strided" else self.y.astype(int)
            same_runs(self, starling.omd(records=(view, labels), **OPTIONS, output=name), program)
        single = starling.omd(records=(self.x.astype("f4"), self.y), **OPTIONS, output="single")
        again = starling.omd(records=(self.x.astype("f4").astype(float), self.y), **OPTIONS, output="again")
        same_runs(self, single, again)

    def test_a_process_alone_looks_for_no_network(self):
        """Programs that it starts later may need one."""
        before = subprocess.run(["env"], stdout=subprocess.PIPE, text=True, check=True).stdout
        starling.omd(records=(self.x, self.y), **OPTIONS, output="alone")
        self.assertNotIn("mca_btl_tcp", pathlib.Path("/proc/self/maps").read_text())
        after = subprocess.run(["env"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for setting in ("OMPI_MCA_btl", "OMPI_MCA_pml"):
            self.assertEqual(setting in before, setting in after, setting)

    def test_float64_is_not_copied(self):
        from starling._records import as_doubles
        for array in (self.x, self.x[::2], self.x.T, self.x[:, ::-1]):
            self.assertTrue(np.shares_memory(as_doubles(array, 2, "x"), array))
        self.assertFalse(np.shares_memory(as_doubles(self.x.astype("f4"), 2, "x"), self.x))

    @needs("pandas")
    def test_texts_with_line_breaks(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=list("abcd")).assign(note=["rain,\nthen none\r\n"] + [None] * (len(self.x) - 1), y=self.y)
        frame["note"] = frame["note"].astype("category")
        run = starling.omd(records=frame, drop="note", **OPTIONS, output="broken")
        same_runs(self, run, starling.omd(records=(self.x, self.y), **OPTIONS, output="none"))
        self.assertEqual(len(run.predict(frame)), len(frame))
        table = starling.predict(run, records=frame.head(2), id="note")
        self.assertEqual(table["note"][0], "rain, then none")

    @needs("pandas")
    def test_ids_keep_all_digits(self):
        """Of arrays of whole numbers, and of frames that have other numbers too; doubles and floats that may have rounded are refused."""
        import pandas
        ids = [2 ** 53 + 1, 2 ** 53, 10 ** 16, 2 ** 63 - 1]
        frame = pandas.DataFrame(self.x[:4].round(), columns=list("abcd")).assign(id=ids)
        whole = frame.astype(np.int64)
        run = starling.omd(records=frame.assign(y=[1, -1, 1, -1]), id="id", clients=1, mechanism="none", progress="off", output="keys")
        unsigned = whole.to_numpy(np.uint64) % 2 ** 63
        for records in (frame, whole, frame.assign(a=frame["a"].astype("f4"))):
            self.assertEqual([str(key) for key in starling.predict(run, records=records, id="id")["id"]], [str(key) for key in ids])
        shuffled = starling.omd(records=(whole.to_numpy(), [1, -1, 1, -1]), id="4", clients=1, mechanism="none", progress="off", output="array")
        for records in (whole.to_numpy(), unsigned):
            self.assertEqual([str(key) for key in starling.predict(shuffled, records=records, id="4")["4"]], [str(key) for key in ids])
        for rounded in (frame.astype(float), frame.astype("f4")):
            with self.assertRaisesRegex(starling.DataError, "two keys may have become one"):
                starling.predict(run, records=rounded, id="id")

    def test_labels_0_and_1_are_predicted_where_they_are_declared(self):
        labels = (self.y + 1) / 2
        options = dict(clients=3, topology="ring.topo", mechanism="none", epochs=5, progress="off")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = starling.omd(records=(self.x, self.y), **options, output="plain")
            declared = starling.omd(records=(self.x, labels), **options, class_labels=(0, 1), output="declared")
            classes = plain.predict(self.x)
            starling.predict(plain, records=self.x)
            self.assertEqual(set(classes), {-1, 1})  # no warning: these are the labels
            np.testing.assert_array_equal(declared.predict(self.x), (classes + 1) / 2)
            np.testing.assert_array_equal(starling.load("declared").predict(self.x), (classes + 1) / 2)
        self.assertGreater((declared.predict(self.x) == labels).mean(), 0.7)
        silent = starling.omd(records=(self.x, labels), **options, output="silent")
        for predicted in (lambda: silent.predict(self.x), lambda: starling.load("plain").predict(self.x),
                          lambda: starling.predict("silent", records=self.x)["class"]):
            with self.assertWarnsRegex(UserWarning, r"-1 the label 0 or -1.*class_labels=\(0, 1\)"):
                np.testing.assert_array_equal(predicted(), classes)
        with self.assertRaisesRegex(starling.DataError, r"none of 0, 1 \(--class-labels\)"):
            starling.omd(records=(self.x, self.y), **options, class_labels=[0, 1], output="wrong")

    def test_a_list_says_how_many_clients_there_are(self):
        """A smaller number would leave out the records of clients without a word."""
        parts = [(self.x[k::3], self.y[k::3]) for k in range(3)]
        run = starling.omd(records=parts, clients=None, mechanism="none", progress="off", output="none")
        self.assertEqual(run.summary["clients"], 3)
        self.assertEqual(starling.omd(records=parts, clients=3, mechanism="none", progress="off", output="three").summary["clients"], 3)
        for clients in (1, 2, 4):
            with self.assertRaisesRegex(starling.UsageError, f"a list for 3 clients, and clients={clients}"):
                starling.omd(records=parts, clients=clients, mechanism="none", output="no")

    def test_what_is_no_array_is_told_with_the_remedy(self):
        for records, remedy in [((self.x, self.y[:, None]), r"y has 2 dimensions, and must have 1. Give y.ravel\(\)"),
                                ((self.x[:, 0], self.y), r"X has 1 dimensions, and must have 2. One feature is X.reshape\(-1, 1\)"),
                                ({"X": self.x, "y": self.y}, r"it is a dict.*Records are a pair \(X, y\)"),
                                (((self.x, self.y), (self.x, self.y)), "it is a tuple.*or a list with one of these for each client"),
                                ("records.csv", "it is a text.*source=")]:
            with self.assertRaisesRegex(starling.DataError, remedy):
                starling.omd(records=records, mechanism="none", output="no")

    def test_records_of_each_client(self):
        parts = [(self.x[k::3], self.y[k::3]) for k in range(3)]
        for k, part in enumerate(parts):
            write_csv(f"part-{k}.csv", *part)
        words = [word for word in WORDS if word not in ("--partition", "iid")]
        self.good(1, ["--source", "part-{client}.csv", *words, "--output", "program"])
        options = {name: value for name, value in OPTIONS.items() if name not in ("partition", "clients")}
        same_runs(self, starling.omd(records=parts, **options, output="python"), starling.load("program"))

    def test_what_is_no_array_of_records(self):
        for records, message in [((self.x, self.y[:-1]), "240 rows of X and 239 labels"), ((self.y, self.y), "1 dimensions"),
                                 ((self.x, ["ill"] * 240), "could not convert"), ((self.x * 1j, self.y), "complex numbers")]:
            with self.assertRaisesRegex(starling.DataError, message):
                starling.omd(records=records, **OPTIONS)
        self.x[7, 2] = np.nan
        with self.assertRaisesRegex(starling.DataError, "memory:records: record 8: column 2") as caught:
            starling.omd(records=(self.x, self.y), **OPTIONS)
        self.assertIn("nan", caught.exception.shown)
        with self.assertRaisesRegex(starling.UsageError, "records and source"):
            starling.omd(records=(self.x, self.y), source="a.csv", **OPTIONS)
        for kind, word in (("M8[s]", "dates"), ("m8[s]", "durations")):
            with self.assertRaisesRegex(starling.DataError, word):
                starling.omd(records=(np.zeros((240, 4), kind), self.y), **OPTIONS)

    def test_errors_have_no_values_of_records(self):
        try:
            starling.omd(records=(self.x, ["93 years"] * 240), **OPTIONS)
            self.fail("no error")
        except starling.DataError as error:
            self.assertNotIn("93", "".join(traceback.format_exception(type(error), error, error.__traceback__)[-1:]) + str(error))
            self.assertTrue(error.__suppress_context__)
            self.assertIn("93 years", error.shown)

    def test_what_a_mask_hides_is_missing(self):
        masked = np.ma.masked_array(self.x, mask=self.x > 0.9)
        with self.assertRaisesRegex(starling.DataError, "not finite"):
            starling.omd(records=(masked, self.y), **OPTIONS)
        same_runs(self, starling.omd(records=(masked, self.y), missing="zero", **OPTIONS, output="masked"),
                  starling.omd(records=(masked.filled(np.nan), self.y), missing="zero", **OPTIONS, output="nan"))

    @needs("pandas")
    def test_missing_values_of_pandas(self):
        import pandas
        frame = pandas.DataFrame({"a": self.x[:, 0], "b": pandas.array([None, *range(239)], dtype="Int64"), "y": self.y})
        gaps = frame.astype({"b": float})
        with self.assertRaisesRegex(starling.DataError, "record 1: column 1"):
            starling.omd(records=frame, **OPTIONS)
        same_runs(self, starling.omd(records=frame, missing="zero", **OPTIONS, output="integers"),
                  starling.omd(records=gaps, missing="zero", **OPTIONS, output="numbers"))

    @needs("pandas")
    def test_dates_are_dropped_or_refused(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=list("abcd")).assign(y=self.y)
        dated = frame.assign(day=pandas.date_range("2020-01-01", periods=240))
        same_runs(self, starling.omd(records=dated, drop="day", **OPTIONS, output="dropped"),
                  starling.omd(records=frame, **OPTIONS, output="without"))
        with self.assertRaisesRegex(starling.DataError, "column 'day' is a date"):
            starling.omd(records=dated, **OPTIONS)
        with self.assertRaisesRegex(starling.DataError, "1 dimensions"):
            starling.omd(records=frame["a"], **OPTIONS)

    @needs("pandas")
    def test_labels_in_another_order_are_refused(self):
        import pandas
        frame, labels = pandas.DataFrame(self.x), pandas.Series(self.y)
        with self.assertRaisesRegex(starling.DataError, "the same index in another order"):
            starling.omd(records=(frame, labels[::-1]), **OPTIONS)
        starling.omd(records=(frame, labels.set_axis(labels.index + 1)), **OPTIONS)

    @needs("pandas")
    def test_frames_have_names(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=["age", "dose", "size", "score"]).assign(ill=self.y, nobody=0.0)
        run = starling.omd(records=frame, label="ill", drop="nobody", **OPTIONS, output="frame")
        same_runs(self, run, self.program("program"))
        turned = frame[["score", "size", "dose", "age"]]
        scores = [starling.score(run, records=records)["metrics"]["accuracy"] for records in (frame, (turned, self.y))]
        self.assertEqual(*scores)
        np.testing.assert_array_equal(run.predict(turned), run.predict(frame.drop(columns="nobody")))
        with self.assertRaises(starling.DataError):
            run.predict(turned.drop(columns="age"))

    @needs("pandas")
    def test_frames_of_clients_are_matched_by_name(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=["age", "dose", "size", "score"]).assign(ill=self.y)
        parts, words = [frame[:120], frame[120:]], dict(label="ill", mechanism="none", progress="off")
        run = starling.omd(records=parts, output="same", **words)
        others = {"turned": [parts[0], parts[1][["score", "ill", "dose", "age", "size"]]], "more": [parts[0], parts[1].assign(town="Ulm")],
                  "pairs": [(each[[*others, "age"]], each.ill) for each, others in zip(parts, (["dose", "size", "score"], ["score", "size", "dose"]))]}
        for name, records in others.items():
            with self.subTest(name):
                more = {"drop": "town"} if name == "more" else {}
                other = starling.omd(records=records, test=records[1], output=name, **{**words, **({"label": None} if name == "pairs" else more)})
                np.testing.assert_allclose(np.sort(other.model), np.sort(run.model), rtol=1e-12) if name == "pairs" else same_runs(self, other, run)
        with self.assertRaisesRegex(starling.DataError, "memory:records-1: features that the first client has are missing: 'dose'; only there: 'dosis'"):
            starling.omd(records=[parts[0], parts[1].rename(columns={"dose": "dosis"})], output="wrong", **words)

    @needs("pandas")
    def test_frames_with_texts_are_read_as_tables(self):
        import pandas
        towns = np.array(["Bonn", "Ulm, old", None], dtype=object)[np.arange(240) % 3]
        frame = pandas.DataFrame(self.x, columns=["age", "dose", "size", "score"]).assign(
            town=towns, patient=[f"p{i // 2}" for i in range(240)], male=self.x[:, 0] > 0, ill=np.where(self.y > 0, "yes", "no"))
        frame.astype({"male": int}).to_csv("frame.csv", index=False)
        self.write("codes.csv", "column,category,value\ntown,Bonn,1\ntown,\"Ulm, old\",2\nill,yes,1\nill,no,-1\n")
        cases = {"dropped": dict(label="age", drop=["town", "patient", "ill"], loss="squared"),
                 "id": dict(label="male", id="patient", drop=["town", "ill"], loss="squared"),
                 "person": dict(label="age", drop=["town", "ill"], unit="person", person="patient", loss="squared"),
                 "encoded": dict(label="ill", drop="patient", encode="codes.csv", missing="zero"),
                 "one-hot": dict(label="ill", drop="patient", encode="onehot:codes.csv", missing="zero")}
        for name, options in cases.items():
            with self.subTest(name):
                words = [f"--{key}={','.join(value) if isinstance(value, list) else value}" for key, value in options.items()]
                self.good(1, ["--source", "frame.csv", *WORDS, *words, "--output", f"program-{name}"])
                run = starling.omd(records=frame, **OPTIONS, **options, output=name)
                same_runs(self, run, starling.load(f"program-{name}"))
                self.assertEqual(self.run_alone(["predict", name, "--source", "frame.csv", "--output", f"{name}.csv"]).code, 0)
                np.testing.assert_array_equal(run.predict(frame), pandas.read_csv(f"{name}.csv", float_precision="round_trip").iloc[:, -1])
        self.write("towns.csv", "column,category,value\ntown,Bonn,1\ntown,\"Ulm, old\",2\n")
        pair = starling.omd(records=(frame.drop(columns=["ill", "patient"]), self.y), encode="towns.csv", missing="zero", **OPTIONS, output="pair")
        np.testing.assert_array_equal(pair.models, starling.load("encoded").models)
        coded = frame.drop(columns=["ill", "patient"])
        self.assertEqual(starling.score(pair, records=(coded, self.y))["metrics"]["accuracy"], np.mean(pair.predict(coded) == self.y))
        encoded = starling.load("encoded")  # whose label is called ill
        self.assertEqual(starling.score(encoded, records=(coded, self.y))["metrics"]["accuracy"],
                         starling.score(encoded, records=frame)["metrics"]["accuracy"])
        part = dict(records=frame, **cases["encoded"], checkpoint_every=10)
        starling.omd(**part, **OPTIONS, rounds=30, output="part")
        again = starling.omd(resume="part", records=frame, rounds=pair.summary["rounds"])
        np.testing.assert_array_equal(again.models, pair.models)
        with self.assertRaisesRegex(starling.DataError, "memory:records: row 2: column 'town'"):
            starling.omd(records=frame, label="age", loss="squared", **OPTIONS)

    @needs("pandas")
    def test_the_label_of_a_frame_has_its_default(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=["a", "b", "c", "d"])
        program = self.program("program")
        same_runs(self, starling.omd(records=frame.assign(e=self.y), **OPTIONS, output="last"), program)
        frame.insert(1, "Y", self.y)
        same_runs(self, starling.omd(records=frame, **OPTIONS, output="named"), program)
        with self.assertRaisesRegex(starling.DataError, "there are no labels"):
            starling.omd(records=self.x, **OPTIONS)

    def test_resume_with_records_in_memory(self):
        whole = starling.omd(records=(self.x, self.y), **OPTIONS, output="whole")
        starling.omd(records=(self.x, self.y), **OPTIONS, rounds=30, output="part", checkpoint_every=10)
        again = starling.omd(resume="part", records=(self.x, self.y), rounds=whole.summary["rounds"])
        np.testing.assert_array_equal(again.models, whole.models)
        with self.assertRaises(starling.Error):
            starling.omd(resume="part", records=(self.x + 1e-9, self.y), rounds=whole.summary["rounds"] + 1)


class ChangedRuns(PythonCase):
    def test_the_model_is_that_of_the_clients_that_are_left(self):
        starling.omd(source="synthetic:drift:n=20", clients=3, topology="complete", mechanism="none", rounds=10, seed=1,
                     checkpoint_every=5, progress="off", output="run")
        run = starling.omd(resume="run", lost="1", rounds=20)
        np.testing.assert_allclose(run.model, run.summary["final_model"])
        with self.assertRaisesRegex(starling.UsageError, "it was lost after round"):
            run.predict(np.zeros((1, len(run.model))), client=1)


class Runs(PythonCase):
    def setUp(self):
        super().setUp()
        x, y = records_of()
        self.x, self.y = x, y
        self.run_ = starling.omd(records=(x[:200], y[:200]), test=(x[200:], y[200:]), **OPTIONS, output="run")

    def test_members(self):
        run = self.run_
        self.assertEqual(run.code, 0)
        self.assertEqual(run.summary["dimension"], 4)
        self.assertEqual(run.models.shape, (3, 4))
        np.testing.assert_allclose(run.model, run.summary["final_model"])
        self.assertIn("epsilon", run.privacy)
        self.assertEqual(list(run.history)[:2], ["rounds", "loss"])
        self.assertTrue(np.isfinite(np.asarray(run.history["test_loss"])).any())
        self.assertEqual(run.read("model").shape[1:], (3, 4))
        with self.assertRaisesRegex(starling.DataError, "no data set nothing"):
            run.read("nothing")

    def test_a_run_that_has_not_ended_has_no_final_models(self):
        os.remove(self.run_.file("summary.json"))
        for name in ("models", "model", "summary"):
            with self.assertRaisesRegex(starling.DataError, "the run has not ended"):
                getattr(starling.load("run"), name)
        self.assertEqual(starling.load("run").read("model").shape[1:], (3, 4))

    @needs("h5py")
    def test_the_native_reader_agrees_with_h5py(self):
        import h5py
        with h5py.File(self.run_.file("run.h5")) as file:
            arrays = {name: file[name][()] for name in ("final_model", "rounds", "mass", "traffic")}
        for name, array in arrays.items():
            found = starling._module.read_dataset(self.run_.file("run.h5"), name)
            np.testing.assert_array_equal(found, array)
            self.assertEqual(found.dtype.kind, array.dtype.kind)
        self.assertIsNone(starling._module.read_dataset(self.run_.file("run.h5"), "nothing"))

    @needs("h5py")
    def test_the_model_is_that_of_the_model_file(self):
        import h5py
        run = starling.omd(records=(self.x, self.y), **OPTIONS, output="file")
        with h5py.File(run.file("model.h5")) as file:
            np.testing.assert_allclose(run.model, file["parameters/weights"][0], rtol=1e-13)

    def test_predictions(self):
        run = self.run_
        classes = run.predict(self.x[200:])
        right = np.mean(classes == self.y[200:])
        self.assertAlmostEqual(right, run.summary["metrics"]["test"]["accuracy"])
        np.testing.assert_allclose(run.predict(self.x[:9], what="score"), self.x[:9] @ run.model, rtol=1e-12)
        np.testing.assert_allclose(run.predict(self.x[:9], what="score", client=2), self.x[:9] @ run.models[2], rtol=1e-12)
        self.assertEqual(list(run.predict(self.x[:9], what="table")), ["score", "probability_1", "class"])
        table = starling.predict(run, records=self.x[:9])
        np.testing.assert_array_equal(np.asarray(table["class"]), run.predict(self.x[:9]))
        scored = starling.score(run, records=(self.x[200:], self.y[200:]))
        self.assertAlmostEqual(scored["metrics"]["accuracy"], right)
        with self.assertRaisesRegex(ValueError, "no column 'odds'"):
            run.predict(self.x[:9], what="odds")

    @needs("pandas")
    def test_predictions_keep_the_index(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=[*"abcd"], index=[f"p{i}" for i in range(len(self.x))])
        run = starling.omd(records=(frame, self.y), **OPTIONS, output="frame")
        self.assertEqual(list(run.predict(frame[5:8], what="table").index), ["p5", "p6", "p7"])
        for records in (frame[5:8], frame[5:8].assign(y=1)):
            self.assertEqual(list(starling.predict(run, records=records).index), ["p5", "p6", "p7"])
        self.assertEqual(list(starling.predict(run, records=self.x[5:8]).index), [0, 1, 2])

    def test_plots(self):
        try:
            import matplotlib.axes
        except ImportError:
            return self.skipTest("matplotlib is not installed")
        axes = self.run_.plot("loss")
        self.assertIsInstance(axes, matplotlib.axes.Axes)
        self.assertEqual([line.get_label() for line in axes.get_lines()], ["loss", "test loss"])
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("rounds", "loss"))
        with self.assertRaisesRegex(starling.UsageError, "no figure 'nothing'"):
            self.run_.plot("nothing")
        withheld = starling.omd(records=records_of(), mechanism="laplace", epsilon=1, tuning="off", progress="off", output="withheld")
        with self.assertRaisesRegex(starling.UsageError, "plot: no loss is known.*test=.*consensus_error"):
            withheld.plot()
        self.assertEqual(withheld.plot("consensus_error").get_ylabel(), "consensus error")

    def test_other_commands_that_learn(self):
        for name, more in [("fedavg", dict(step=0.5)), ("renewable", dict(variant="private")), ("infer", dict(topology="ring", intervals="none"))]:
            options = {each: OPTIONS[each] for each in ("clients", "partition", "mechanism", "epsilon", "delta", "seed", "progress")}
            run = getattr(starling, name)(records=(self.x, self.y), **options, **more, output=name)
            self.assertEqual(run.summary["command"], name)
            self.assertEqual(run.model.shape, (run.summary["dimension"],))

    def test_the_directory_of_a_run_without_output(self):
        run = starling.omd(source="synthetic:drift:n=20", clients=1, topology="complete", mechanism="laplace", epsilon=1, tuning="off",
                           progress="off")
        self.assertRegex(run.path, rf"^{self.folder}/run-omd-\d{{8}}-\d{{6}}$")


if __name__ == "__main__":
    unittest.main()
