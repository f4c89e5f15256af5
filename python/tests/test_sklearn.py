"""Estimators of scikit-learn: its own checks, data frames, labels, coefficients, pipelines and searches."""

import importlib.util
import math
import os
import pickle
import subprocess
import sys
import unittest
import unittest.mock
import warnings

from case import *

if importlib.util.find_spec("sklearn") is None:
    print("skipped: scikit-learn is not installed")
    sys.exit(0)

from joblib import parallel_backend
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from starling.sklearn import (DEVIATIONS, FEW, Fits, PrivacyWarning, PrivateClassifier, PrivateLogisticRegression, PrivateRegressor,
                              chosen_of)

SEEDED = {"noise_key": "seed"}  # the same noise again: for tests alone


def three(**more):
    return [PrivateLogisticRegression(**more), PrivateRegressor(**more), PrivateClassifier((8,), **more)]


def failed_checks(estimator, often=1):
    """The names of scikit-learn's checks that an estimator fails at least once in so many attempts."""
    found, table = set(), DEVIATIONS[type(estimator).__name__]
    with unittest.mock.patch.dict(DEVIATIONS, {type(estimator).__name__: {}}):  # else scikit-learn leaves these checks out
        for each, check in check_estimator(estimator, generate_only=True):
            name = getattr(check, "func", check).__name__
            for _ in range(often if name in table else 1):
                try:
                    check(each)
                except unittest.SkipTest:
                    break
                except Exception:
                    found.add(name)
                    break
    return found


class Checks(PythonCase):
    def setUp(self):
        super().setUp()
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")

    @harness.fewer
    def test_the_checks_of_scikit_learn(self):
        """With the same noise in each fit, all hold but the one for which records are too few."""
        for estimator in three(options=SEEDED)[:None if harness.SLOW else 1]:
            with self.subTest(estimator):
                self.assertEqual(failed_checks(estimator),
                                 {check for check, reason in DEVIATIONS[type(estimator).__name__].items() if reason == FEW})

    @harness.slow
    def test_without_noise_all_checks_hold(self):
        for estimator in three(epsilon=None):
            with self.subTest(estimator):
                self.assertEqual(failed_checks(estimator), set())

    @harness.slow
    def test_the_deviations_are_those_of_the_table(self):
        for estimator in three():
            with self.subTest(estimator):
                self.assertEqual(failed_checks(estimator, often=40), set(DEVIATIONS[type(estimator).__name__]))

    def test_check_estimator_passes(self):
        check_estimator(PrivateRegressor(options=SEEDED))


def messy(count=900, seed=1):
    """(DataFrame with columns of many types, labels that are texts)."""
    import pandas
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame({"age": rng.normal(60, 10, count), "site": pandas.Categorical(rng.choice(["north, old", "south", "west"], count)),
                              "smokes": rng.random(count) < 0.4, "grade": pandas.Categorical(rng.integers(1, 4, count)),
                              "visits": pandas.array(rng.integers(0, 9, count), dtype="Int64")}, index=np.arange(count)[::-1] + 7)
    score = (frame.age - 60) / 10 + 2 * frame.smokes - 1.5 * (frame.site == "south") + rng.logistic(size=count) * 0.3
    return frame, np.where(score > 0.3, "ill", "well")


class Use(PythonCase):
    def setUp(self):
        super().setUp()
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", PrivacyWarning)
        self.x, self.y = records_of(600)

    def test_it_is_a_run_of_omd(self):
        model = PrivateLogisticRegression(2, clients=3, random_state=4, output="run", options={**SEEDED, "topology": "ring"}).fit(self.x, self.y)
        run = starling.omd(records=(self.x, self.y), clients=3, topology="ring", mechanism="gaussian", total_epsilon=2, delta=1e-5, seed=4,
                           intercept=True, partition="iid", noise_key="seed", progress="off", output="other")
        same_runs(self, starling.load("run"), run)
        np.testing.assert_array_equal(model.predict(self.x), run.predict(self.x))
        self.assertEqual((model.privacy_.split("run '")[0], model.summary_["clients"]), (run.privacy.split("run '")[0], 3))
        laplace = PrivateLogisticRegression(2, delta=0).fit(self.x, self.y).summary_["privacy"]
        self.assertEqual((laplace["mechanism"], laplace["delta"]), ("laplace", 0))
        self.assertEqual(PrivateLogisticRegression(None).fit(self.x, self.y).summary_["privacy"]["mechanism"], "none")
        self.assertEqual(sorted(os.listdir()), ["cache", "other", "run"])  # nothing is left of the others

    def test_options_do_not_overrule_parameters(self):
        for name, value, said in (("total_epsilon", 9, "epsilon"), ("epsilon", 9, "epsilon"), ("mu", 9, "epsilon"), ("mechanism", "none", "epsilon"),
                                  ("delta", 0.1, "delta"), ("clients", 2, "clients"), ("clients_per_rank", 2, "clients"), ("seed", 1, "random_state"),
                                  ("output", "run", "output"), ("progress", "on", "progress"), ("source", "data.csv", "fit"),
                                  ("loss", "squared", "the estimator")):
            with self.assertRaisesRegex(ValueError, f"'{name}'.*: {said}.* says that. Leave it out"):
                PrivateLogisticRegression(options={name: value}).fit(self.x, self.y)
        self.assertEqual(PrivateRegressor(9, options={"intercept": False}).fit(self.x, self.y).summary_["dimension"], 4)
        for name, value in (("epsilon", 0), ("epsilon", "1"), ("epsilon", True), ("epsilon", math.nan), ("delta", 1), ("clients", 0), ("clients", 1.5)):
            with self.assertRaisesRegex(ValueError, f"^{name}={value!r}: it must be a"):
                PrivateLogisticRegression(**{name: value}).fit(self.x, self.y)
        self.assertFalse(os.path.exists("run"))

    def test_coefficients_are_in_units_of_the_records(self):
        x = self.x * [100, 1, 0.01, 1] + [500, 0, 1, -3]
        for model, y in ((PrivateLogisticRegression(4), self.y), (PrivateRegressor(4), 1000 + 50 * self.x[:, 0]),
                         (PrivateLogisticRegression(4), np.array(["a", "b", "c"])[np.digitize(self.x[:, 0], [-0.3, 0.3])]),
                         (PrivateLogisticRegression(None, options={"scale": "1/100"}), self.y)):
            model.fit(x, y)
            scores = model.predict(x) if isinstance(model, PrivateRegressor) else model.decision_function(x)
            np.testing.assert_allclose(np.squeeze(x @ model.coef_.T + model.intercept_), scores, rtol=1e-9, atol=1e-9)
            self.assertEqual(model.coef_names_, ["x0", "x1", "x2", "x3"])
            self.assertEqual(np.shape(model.coef_noise_), np.shape(model.coef_))
            self.assertTrue((np.asarray(model.coef_noise_) > 0).all() == (model.epsilon is not None), model.coef_noise_)
        self.assertEqual(np.shape(model.coef_), (1, 4))
        self.assertGreater(PrivateRegressor(8).fit(x, 1000 + 50 * self.x[:, 0]).score(x, 1000 + 50 * self.x[:, 0]), 0.5)

    @needs("pandas")
    def test_data_frames(self):
        frame, labels = messy()
        model = PrivateLogisticRegression(8, options=SEEDED).fit(frame, labels)
        self.assertEqual(list(model.classes_), ["ill", "well"])
        self.assertEqual(list(model.feature_names_in_), list(frame.columns))
        self.assertEqual((model.n_features_in_, model.coef_.shape), (5, (1, 9)))
        self.assertEqual(model.coef_names_, ["age", "site=north, old", "site=south", "site=west", "smokes", "grade=1", "grade=2", "grade=3", "visits"])
        self.assertGreater(model.score(frame, labels), 0.8)
        import pandas
        wide = pandas.get_dummies(frame.astype({"visits": float}))
        np.testing.assert_allclose(wide.to_numpy(float) @ model.coef_[0, [0, 4, 8, 1, 2, 3, 5, 6, 7]] + model.intercept_[0],
                                   model.decision_function(frame), rtol=1e-9)
        texts = frame.assign(site=frame.site.astype(object)).iloc[:5]  # as from a file
        np.testing.assert_array_equal(model.predict_proba(texts), model.predict_proba(frame)[:5])
        network = PrivateClassifier(4, 8, options={**SEEDED, "epochs": 1}).fit(frame, labels)
        self.assertEqual(set(network.predict(frame)) - {"ill", "well"}, set())
        wrong = {"site' has texts.*CategoricalDtype": frame.assign(site=frame.site.astype(object)),
                 "age' has numbers as texts.*'\\]\\.astype": frame.assign(age=frame.age.astype(str)),
                 "age' has numbers as texts.*replace": frame.assign(age=frame.age.astype(str).str.replace(".", ",")),
                 "age' has dates.*dt.days": frame.assign(age=pandas.Timestamp("2020-01-01")),
                 "grade' has dates": frame.assign(grade=pandas.Period("2020")), "column 'Label': .*Rename it": frame.rename(columns={"age": "Label"}),
                 "contains NaN": frame.assign(age=frame.age.where(frame.age > 50)), "contain NaN|contains NaN": frame.assign(site=frame.site.where(frame.smokes))}
        for message, each in wrong.items():
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                model.fit(each, labels)
        with self.assertRaisesRegex(ValueError, "(?s)'age' has dates.*'site' has texts|'site' has texts.*'age' has dates"):
            model.fit(frame.assign(age=pandas.Timestamp("2020-01-01"), site=frame.site.astype(object)), labels)
        with self.assertRaisesRegex(ValueError, "'site': 900 values are none of the categories.*north, old, south, west"):
            model.predict(frame.assign(site="east"))
        with self.assertRaisesRegex(ValueError, "feature names"):
            model.predict(frame[list(frame.columns[::-1])])
        with self.assertRaisesRegex(starling.DataError, "the same index in another order"):
            model.fit(frame, pandas.Series(labels, index=frame.index[::-1]))

    @needs("pandas")
    def test_missing_values(self):
        frame, labels = messy()
        frame = frame.assign(age=frame.age.where(frame.age > 50))
        for rule, width in (("zero", 9), ("indicator", 14)):
            model = PrivateLogisticRegression(8, options={**SEEDED, "missing": rule}).fit(frame, labels)
            self.assertEqual((model.coef_.shape, len(model.coef_names_)), ((1, width), width))
            self.assertGreater(model.score(frame, labels), 0.6)
            self.assertGreater(PrivateClassifier((4,), 8, options={**SEEDED, "missing": rule}).fit(frame, labels).score(frame, labels), 0.3)
        with self.assertRaisesRegex(ValueError, "NaN.*options={'missing': 'zero'}"):
            PrivateLogisticRegression().fit(np.where(self.x > 0.9, np.nan, self.x), self.y)

    @needs("pandas")
    def test_without_noise_it_is_as_good_as_scikit_learn(self):
        x, y = load_breast_cancer(return_X_y=True)
        theirs = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), x, y, cv=3).mean()
        self.assertGreater(cross_val_score(PrivateLogisticRegression(None), x, y, cv=3).mean(), theirs - 0.01)
        frame, labels = messy(300)
        self.assertGreater(PrivateClassifier((8,), None).fit(frame, labels).score(frame, labels), 0.9)

    def test_a_constant_answer_warns(self):
        with self.assertWarnsRegex(ConvergenceWarning, "every record gets the same answer: records are too few"):
            model = PrivateLogisticRegression(0.01, options=SEEDED).fit(self.x[:40] * 50, self.y[:40])
        self.assertEqual((model.coef_.tolist(), model.coef_noise_.tolist()), ([[0] * 4], [[0] * 4]))
        np.testing.assert_allclose(model.decision_function(self.x), model.intercept_[0], rtol=1e-12)

    def test_labels(self):
        for y, message in ((np.ones(600), "one class"), (self.x[:, 0], "Unknown label type"), (np.array(["b", None] * 300, dtype=object), ".")):
            with self.assertRaisesRegex((ValueError, TypeError), message):
                PrivateLogisticRegression().fit(self.x, y)
        named = PrivateLogisticRegression(classes=["no", "perhaps", "yes"]).fit(self.x, np.where(self.y > 0, "yes", "no"))
        self.assertEqual(named.predict_proba(self.x).shape, (600, 3))
        np.testing.assert_allclose(named.predict_proba(self.x).sum(axis=1), 1)
        with self.assertRaisesRegex(ValueError, "classes: .* labels are none of no, perhaps"):
            PrivateLogisticRegression(classes=["no", "perhaps"]).fit(self.x, np.where(self.y > 0, "yes", "no"))

    def test_logarithms_of_probabilities(self):
        model = PrivateLogisticRegression(classes=[0, 1, 2]).fit(self.x, self.y > 0)
        np.testing.assert_array_equal(model.predict_log_proba(self.x), np.log(model.predict_proba(self.x)))

    @needs("pandas")
    def test_nullable_labels(self):
        """Booleans stay booleans, and missing ones are named."""
        import pandas
        y = pandas.Series(self.y > 0)
        for each in (PrivateLogisticRegression(), PrivateClassifier((4,))):
            for kind in ("boolean", bool):
                model = each.fit(self.x, y.astype(kind))
                self.assertEqual((model.classes_.tolist(), model.predict(self.x).dtype), ([False, True], bool))
            with self.assertRaisesRegex(ValueError, "some labels are missing"):
                each.fit(self.x, y.astype("boolean").where(y.index > 3))

    @needs("pandas")
    def test_a_column_that_is_called_as_labels_are(self):
        import pandas
        frame = pandas.DataFrame(self.x, columns=[*"yabcdefgh"][:self.x.shape[1]])
        model = PrivateLogisticRegression().fit(frame, self.y)
        self.assertEqual(model.predict(frame).shape, (600,))

    def test_owners(self):
        owners = np.array(["b", "a", "c"])[np.arange(600) % 3]
        model = PrivateLogisticRegression(output="run", options=SEEDED).fit(self.x, self.y, owners=owners)
        parts = [(self.x[i::3], self.y[i::3]) for i in (1, 0, 2)]
        same_runs(self, starling.load("run"), starling.omd(records=parts, mechanism="gaussian", total_epsilon=1, delta=1e-5, intercept=True,
                                                          noise_key="seed", progress="off"))
        self.assertEqual(model.summary_["clients"], 3)
        with self.assertRaisesRegex(ValueError, "owners has 3 entries for 600 records"):
            model.fit(self.x, self.y, owners=owners[:3])
        with self.assertRaisesRegex(ValueError, "clients=5: owners has 3 names"):
            model.set_params(clients=5).fit(self.x, self.y, owners=owners)

    def test_pickled_and_cloned(self):
        for model in three(random_state=np.random.RandomState(1)):
            model.fit(self.x, self.y)
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(self.x), model.predict(self.x))
            self.assertFalse(hasattr(clone(model), "model_"))

    def test_calls_of_a_stream(self):
        """Each goes on from the model. A record of one call pays once; one of all calls pays what their losses add up to, as in a ledger."""
        loss = starling.privacy.spend(mechanism="gaussian", epsilon=4, delta=1e-5, releases=3)["epsilon"]
        for name, model in zip("abc", three(epsilon=4)):
            model.set_params(output=name, options={"ledger": "ledger"} if name == "a" else SEEDED)
            for call in range(3):
                first = {"classes": [1, -1]} if name != "b" and call == 0 else {}
                with warnings.catch_warnings(), unittest.mock.patch.object(Fits, "count", 0):
                    warnings.simplefilter("error")
                    warnings.simplefilter("ignore", ConvergenceWarning)  # a third of the records is few
                    self.assertIs(model.partial_fit(self.x[call::3], self.y[call::3], **first), model)
            self.assertEqual((model.spent_["calls"], model.spent_["delta"]), (3, 1e-5))
            self.assertAlmostEqual(model.spent_["epsilon"], 4, places=9)
            self.assertAlmostEqual(model.spent_["epsilon_in_all"], loss, places=6)
            self.assertRegex(model.privacy_, r"learned by 3 calls\. .* at most epsilon = 4, one .* all have had epsilon = 7\.6")
        self.assertAlmostEqual(starling.load("a-3").summary["privacy"]["ledger"]["record_epsilon"], loss, places=6)
        kept = {key: value for key, value in chosen_of("b/config.ini").items() if key in ("norm", "standardise", "label-size")}
        self.assertIn("norm", kept)
        again = starling.omd(records=(self.x[1::3], self.y[1::3]), start="b/model.h5", start_records=200, mechanism="gaussian", total_epsilon=4, delta=1e-5, intercept=True,
                             partition="iid", loss="squared", clients=1, progress="off", output="again", **SEEDED,
                             **{key.replace("-", "_"): value for key, value in kept.items()})
        np.testing.assert_array_equal(again.model, starling.load("b-2").model)

    def test_a_stream_is_learned_from(self):
        """Five calls tell more than their first one, with noise or without; fit begins anew."""
        x, y = load_breast_cancer(return_X_y=True)
        order = np.random.default_rng(1).permutation(len(y))
        x, y = x[order], y[order]
        for model in (PrivateLogisticRegression(8, options=SEEDED), PrivateLogisticRegression(None)):
            scores = [model.partial_fit(x[call:450:5], y[call:450:5], classes=[0, 1]).score(x[450:], y[450:]) for call in range(5)]
            self.assertGreater(scores[-1], 0.9, scores)
            self.assertGreaterEqual(scores[-1], scores[0], scores)
            self.assertEqual(model.fit(x, y).spent_["calls"], 1)
        self.assertEqual(model.spent_, {"calls": 1, "epsilon": None, "epsilon_in_all": None, "delta": None})
        with self.assertWarns(ConvergenceWarning):
            few = PrivateLogisticRegression(0.5, options=SEEDED).partial_fit(x[:60], y[:60], classes=[0, 1])
        self.assertFalse(few.coef_.any())  # so the next call looks at the features anew
        self.assertTrue(few.set_params(epsilon=8).partial_fit(x, y).coef_.any())
        self.assertGreater(few.spent_["epsilon_in_all"], few.spent_["epsilon"])

    def test_few_records_in_the_first_call_of_a_stream_are_warned_of(self):
        """All calls keep the units that it has found under noise."""
        draw = np.random.default_rng(1)
        x = draw.normal(size=(2600, 5))
        y = x @ [3, -2, 1, 0.5, 0] + 0.3 * draw.normal(size=2600)
        with self.assertWarnsRegex(ConvergenceWarning, "all calls keep the units .* Begin with more records"):
            few = PrivateRegressor(8, options=SEEDED).partial_fit(x[:60], y[:60])
        for model, records in ((few, 60), (PrivateRegressor(8, options=SEEDED), 1600), (PrivateRegressor(None), 60)):
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                model.partial_fit(x[:records], y[:records])

    def test_columns_whose_units_the_first_call_of_a_stream_has_not_found_are_warned_of(self):
        """Histograms show a column far from 0 with a tiny deviation in one bin: it counts for little in all calls."""
        draw = np.random.default_rng(1)
        z = draw.normal(size=(3000, 5))
        y = z @ [3, -2, 1, 0.5, 0] + 0.3 * draw.normal(size=3000)
        model = PrivateRegressor(8, options=SEEDED)
        with self.assertWarnsRegex(ConvergenceWarning, r"not found the units of some columns, and all calls keep what it has: .* of one size, .*\(2\).*--ranges.* begin with more records"):
            model.partial_fit(z * [1, 1, 1e-5, 1, 1] + [0, 0, 50, 0, 0], y)
        self.assertLess(model.score(z * [1, 1, 1e-5, 1, 1] + [0, 0, 50, 0, 0], y), 0.95)

    def test_units_that_nothing_shows_are_warned_of(self):
        """Laplace noise releases none. Beside an intercept tiny features were taken for standardised ones, and nothing was learned."""
        draw = np.random.default_rng(1)
        x = draw.normal(size=(600, 3))
        y = np.where(x[:, 0] - x[:, 1] > 0, 1, -1)
        with self.assertWarnsRegex(ConvergenceWarning, "nothing shows the units of the features"):
            PrivateLogisticRegression(4, delta=0, options=SEEDED).fit(x * [1000, 1, 0.01], y)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            self.assertGreater(PrivateLogisticRegression(1.5, options=SEEDED).fit(x * 0.001, y).score(x * 0.001, y), 0.8)

    def test_labels_that_nothing_shows_are_warned_of(self):
        draw = np.random.default_rng(1)
        x = draw.normal(size=(300, 3))
        y = x @ [3, -2, 1] + draw.normal(size=300)
        for epsilon, delta, labels, what in ((1, 0, 100 + y, "noise grows with the size of labels"), (4, 1e-5, 1e-9 * y, "how large the labels are"),
                                             (0.02, 1e-5, 200 + y, "how large the labels are")):
            with self.subTest(what), self.assertWarnsRegex(ConvergenceWarning, what):
                PrivateRegressor(epsilon, delta=delta, options={} if delta == 0 else SEEDED).fit(x, labels)
        for loss in ("squared", "huber", "absolute"):
            with self.subTest(loss), warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                self.assertGreater(PrivateRegressor(8, loss=loss, options=SEEDED).fit(x, 200 + y).score(x, 200 + y), 0.7)

    def test_a_stream_goes_on_where_features_keep_their_units(self):
        whole = PrivateLogisticRegression(None, options={"tuning": "off", "step": 0.1}).partial_fit(self.x, self.y, classes=[-1, 1])
        first = whole.coef_.copy()
        self.assertGreater(np.abs(whole.partial_fit(self.x, self.y).coef_).sum(), np.abs(first).sum() * 1.1)

    def test_all_calls_of_a_stream_count(self):
        """Twelve calls of 60 records are worth nearly one of 720: the last one alone is worth less."""
        draw = np.random.default_rng(1)
        x = draw.normal(size=(6000, 10))
        true = draw.normal(size=10)
        y = np.where(x @ true + 2 * draw.normal(size=6000) > 0, 1, -1)
        model = PrivateLogisticRegression(None)
        for call in range(12):
            model.partial_fit(x[call * 60:call * 60 + 60], y[call * 60:call * 60 + 60], classes=[-1, 1])
        whole, last = (PrivateLogisticRegression(None).fit(x[rows], y[rows]).score(x[720:], y[720:]) for rows in (slice(720), slice(660, 720)))
        self.assertGreater(model.score(x[720:], y[720:]), whole - 0.01)
        self.assertGreater(whole, last + 0.02)

    def test_what_calls_of_a_stream_refuse(self):
        model = PrivateLogisticRegression(options=SEEDED)
        with self.assertRaisesRegex(ValueError, "classes=None: the first call of partial_fit must name all labels"):
            model.partial_fit(self.x, self.y)
        model.partial_fit(self.x, self.y, classes=[-1, 1])
        for x, y, classes, message in ((self.x, self.y, [1, 2], "not those of the first call: -1, 1\\."), (self.x, self.y + 1, None, "labels are none of"),
                                       (self.x[:, :2], self.y, None, "4 features")):
            with self.assertRaisesRegex(ValueError, message):
                model.partial_fit(x, y, classes=classes)
        self.assertEqual(model.partial_fit(self.x, np.ones(600)).spent_["calls"], 2)  # a call may have one class

    @needs("pandas")
    def test_a_stream_of_data_frames(self):
        frame, labels = messy()
        model = PrivateLogisticRegression(8, classes=["ill", "well"], options=SEEDED)
        for call in range(3):
            model.partial_fit(frame.iloc[call::3].astype({"site": object} if call else {}), labels[call::3])
        self.assertEqual((model.coef_.shape, model.spent_["calls"]), ((1, 9), 3))
        self.assertGreater(model.score(frame, labels), 0.8)

    def test_pipelines_and_searches(self):
        x, y = load_breast_cancer(return_X_y=True)
        train, test, labels, known = train_test_split(x, y, random_state=0)
        pipeline = make_pipeline(FunctionTransformer(np.log1p), PrivateLogisticRegression(4, options=SEEDED))
        self.assertGreater(pipeline.fit(train, labels).score(test, known), 0.85)
        self.assertEqual(len(cross_val_score(pipeline, train, labels, cv=3, error_score="raise")), 3)
        search = GridSearchCV(pipeline, {"privatelogisticregression__clients": [1, 4]}, cv=2, error_score="raise")
        with unittest.mock.patch.object(Fits, "count", 0), warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always", PrivacyWarning)
            pipeline.fit(train, labels)
            self.assertEqual([each.message for each in shown], [])
            search.fit(train, labels)
            self.assertEqual(Fits.count, 6)
        self.assertEqual({each.category for each in shown}, {PrivacyWarning})
        with parallel_backend("threading"):  # runs wait for each other
            self.assertEqual(len(cross_val_score(pipeline, train, labels, cv=3, n_jobs=3, error_score="raise")), 3)
        self.assertRegex(str(shown[0].message), "each private fit pays by itself.*GridSearchCV")
        with unittest.mock.patch.object(Fits, "count", 9), warnings.catch_warnings():
            warnings.simplefilter("error")
            PrivateLogisticRegression(None).fit(self.x, self.y)  # nobody pays

    @harness.slow
    def test_searches_of_many_processes_warn(self):
        done = self.script(1, "from sklearn.model_selection import GridSearchCV\nfrom sklearn.datasets import load_iris\n"
                              "from starling.sklearn import PrivateLogisticRegression\n"
                              "GridSearchCV(PrivateLogisticRegression(), {'clients': [1]}, cv=2, n_jobs=2, refit=False, error_score='raise')"
                              ".fit(*load_iris(return_X_y=True))\n")
        self.assertIn("each private fit pays by itself", done.stderr)

    def test_nothing_is_printed(self):
        text = ("import numpy, starling\nfrom starling.sklearn import PrivateLogisticRegression\n"
                "x = numpy.random.default_rng(1).normal(500, 20, size=(900, 3)); y = x[:, 0] > 500\n"
                "PrivateLogisticRegression(8, clients=3, progress={0!r}).fit(x, y).predict(x)\n"
                "starling.omd(records=(x, y), clients=3, mechanism='none', progress={0!r}, output='run-{0}').predict(x, 'score')\n")
        done = self.script(1, text.format("off"), name="off.py")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertIn("note: ", self.script(1, text.format("on"), name="on.py").stderr)

    def test_without_scikit_learn(self):
        done = self.script(1, "import sys\nsys.modules['sklearn'] = None\nimport starling\nprint(starling.__version__)\n"
                              "try: import starling.sklearn\nexcept ImportError as error: print(error)\n")
        self.assertRegex(done.stdout, r"(?s)\d\..*starling.sklearn needs scikit-learn.*pip install scikit-learn")

    @harness.slow
    def test_under_mpirun(self):
        done = self.script(2, "import starling\nfrom starling.sklearn import PrivateRegressor\n"
                              "try: PrivateRegressor().fit([[1.0], [2.0]] * 9, [1.0, 2.0] * 9)\nexcept starling.UsageError as error: print(error)\n")
        self.assertIn("an estimator learns in one process", done.stdout)


if __name__ == "__main__":
    unittest.main()
