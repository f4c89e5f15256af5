"""Estimators of scikit-learn that learn by runs of `starling.omd`.

    model = PrivateLogisticRegression(epsilon=1, clients=5).fit(X, y)
    model.predict_proba(X_new), model.coef_, model.privacy_

Every `fit` is a run in which a record pays `epsilon`. A search over 4 settings with 5 folds has 21 of them. `partial_fit` goes on
from the model with the next records of a stream: a record pays in the call that has it, and `spent_` says what all calls come to.
"""

from __future__ import annotations

import csv
import io
import math
import multiprocessing
import numbers
import os
import re
import tempfile
import threading
import warnings
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError as error:
    raise ImportError(f"starling.sklearn needs scikit-learn, which cannot be loaded: {error}. Install it: pip install scikit-learn, "
                      "or apt-get install python3-sklearn.") from error
try:
    from sklearn.utils.validation import validate_data
    FINITE = "ensure_all_finite"
except ImportError:  # before version 1.6
    FINITE = "force_all_finite"

    def validate_data(estimator, *arrays, **choices):
        return estimator._validate_data(*arrays, **choices)

import starling

from ._apply import apply_model
from ._errors import UsageError
from ._records import require_one_order
from ._tables import columns_of

__all__ = ["PrivacyWarning", "PrivateClassifier", "PrivateLogisticRegression", "PrivateRegressor"]

FRESH = "two fits on the same records differ: noise is secret, and drawn anew"
FEW = "30 records are too few at epsilon = 1: every record gets the same class"
#: Checks of sklearn.utils.estimator_checks that an estimator with noise fails, and why: {estimator: {check: reason}}.
DEVIATIONS = {"PrivateRegressor": dict.fromkeys(("check_fit_idempotent", "check_regressor_data_not_an_array", "check_regressors_int",
                                                 "check_supervised_y_2d"), FRESH)}
DEVIATIONS["PrivateClassifier"] = DEVIATIONS["PrivateLogisticRegression"] = {
    **dict.fromkeys(("check_classifier_data_not_an_array", "check_fit_idempotent", "check_supervised_y_2d"), FRESH),
    "check_classifiers_classes": FEW}


LOST_BY_FEW = 20  # points that noise may cost a first call, from which on it often hides the units of some columns
NO_UNITS = "features: nothing shows their units"  # in the note on columns that stay as they are
GUESSED = "the constants of labels are a guess"
OWN_LABELS = "nothing shows whether the model is better than a constant answer"  # of numbers in units of their own
ONE_SIZE = "all values of some features are of one size"  # in the note on columns whose deviations histograms have not shown
#: Options that fix what a model's numbers mean: a run that goes on from a model keeps those of its first run.
UNITS = ("standardise", "norm", "label-size")
#: Keywords of starling.omd that `options` may not have, and what says the same.
PARAMETERS = {**dict.fromkeys(("mechanism", "epsilon", "total_epsilon", "mu"), "epsilon"), "delta": "delta",
              **dict.fromkeys(("clients", "clients_per_rank"), "clients"), "seed": "random_state", "output": "output",
              "progress": "progress", **dict.fromkeys(("records", "source"), "fit(X, y)")}
MISSING = ("With fit, options={'missing': 'zero'} puts the mean in place of a missing value, and 'indicator' also adds a feature that "
           "says so.")


class PrivacyWarning(UserWarning):
    """Records may pay more than one fit says."""


ONE = threading.Lock()  # commands of starling wait for each other


class Fits:
    """The number of private fits of this process."""

    count = 0

    @classmethod
    def add(cls):
        """Counts a fit, and warns where it may be one of several on the same records."""
        cls.count += 1
        if cls.count > 1 or multiprocessing.parent_process() is not None:
            warnings.warn("each private fit pays by itself: a record that several fits learn from pays for each of them. GridSearchCV "
                          "and cross_val_score fit once for each setting and fold, and a search once more at the end. Choose "
                          "settings on public records, or give each fit a part of epsilon.", PrivacyWarning, stacklevel=4)


def is_frame(x):
    return hasattr(x, "iloc") and hasattr(x, "columns")


def are_numbers(texts):
    """Whether there are texts, and all are numbers, with decimal points or commas."""
    try:
        return bool([float(text.replace(",", ".")) for text in texts])
    except ValueError:
        return False


def declared_categories(x):
    """{place: categories} of the columns of a pandas.DataFrame with the type category. Raises ValueError for texts and dates."""
    found, faults = {}, []
    for place, (name, kind) in enumerate(x.dtypes.items() if is_frame(x) else ()):
        if hasattr(kind, "categories"):
            found[place] = list(kind.categories)
        elif kind.kind in "mM" or kind.name.startswith("period"):
            faults.append(f"column '{name}' has dates or durations: they are no numbers. Give days since a public day: "
                          f"(X['{name}'] - pandas.Timestamp('2000-01-01')).dt.days.")
        elif kind.kind not in "biufc" and are_numbers(texts := [value for value in x.iloc[:, place] if isinstance(value, str)]):
            point = ".str.replace(',', '.')" if any("," in value for value in texts) else ""
            faults.append(f"column '{name}' has numbers as texts. Give numbers: X['{name}']{point}.astype(float).")
        elif kind.kind not in "biufc" and texts:
            faults.append(f"column '{name}' has texts: the texts that occur in records are not public. Give it the categories "
                          f"that may occur: X['{name}'].astype(pandas.CategoricalDtype([…])). Or leave it out.")
    if faults:
        raise ValueError("\n".join(faults))
    for name in x.columns if found else ():
        if str(name).lower() in ("y", "label"):
            raise ValueError(f"column '{name}': beside columns with the type category it would be taken for the labels. Rename it.")
    return found


def with_codes(x, categories):
    """The DataFrame with the numbers of the categories in their columns. Raises ValueError for a value that is no category."""
    x = x.copy(deep=False)
    for place, known in categories.items():
        column = x.iloc[:, place].astype(object)
        codes = column.map({each: code for code, each in enumerate(known)}).astype(float)
        strange = int((codes.isna() & column.notna()).sum())
        if strange:
            raise ValueError(f"column '{x.columns[place]}': {strange} values are none of the categories that fit has seen: "
                             f"{', '.join(map(str, known))}.")
        x.isetitem(place, codes)
    return x


def chosen_of(path):
    """{option: value} of a configuration file."""
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(" = ", 1) for line in file if " = " in line)


def together(paid):
    """`spent_` of calls whose losses are (mu or None, epsilon, delta)."""
    if any(epsilon is None for _, epsilon, _ in paid):
        return {"calls": len(paid), "epsilon": None, "epsilon_in_all": None, "delta": None}
    once, delta = max(epsilon for _, epsilon, _ in paid), max(delta for _, _, delta in paid)
    if all(mu is not None for mu, _, _ in paid):
        mu = math.hypot(*(mu for mu, _, _ in paid))
        epsilon = starling.privacy.spend(mechanism="gaussian", mu=mu, delta=delta)["epsilon"]
    else:
        epsilon, delta = sum(epsilon for _, epsilon, _ in paid), sum(delta for _, _, delta in paid)
    return {"calls": len(paid), "epsilon": once, "epsilon_in_all": epsilon, "delta": delta}


def text_of_category(value):
    return re.sub(r"[\r\n]+", " ", str(value))


class PrivateEstimator(BaseEstimator):
    """What the estimators share: checks of their input, the run, and the model that it leaves.

    After `fit` an estimator has `n_features_in_`, `feature_names_in_` of a DataFrame, `summary_` (summary.json as a
    dictionary), `privacy_` (the privacy statement), `model_` (the bytes of model.h5) and `spent_`: the number of `calls` that the
    model has learned by, `epsilon` of a record that one of them has had, and `epsilon_in_all` of a record that all have had, at
    `delta`. Of runs without noise both are None.
    """

    def __init__(self, epsilon=1.0, *, delta=1e-5, clients=None, random_state=None, output=None, progress="off", options=None):
        self.epsilon = epsilon
        self.delta = delta
        self.clients = clients
        self.random_state = random_state
        self.output = output
        self.progress = progress
        self.options = options

    def _is_private(self):
        return self.epsilon is not None and not (isinstance(self.epsilon, float) and math.isinf(self.epsilon))

    def _check_parameters(self, learning):
        """Raises ValueError for parameters out of range, and for `options` that say what a parameter or the estimator says."""
        for name in self.options or {}:
            if name in PARAMETERS or name in learning:
                raise ValueError(f"options={{'{name}': …}}: {PARAMETERS.get(name, 'the estimator')} says that. Leave it out of options.")
        for name, value, kind, right, meaning in (
                ("epsilon", self.epsilon if self._is_private() else 1, numbers.Real, lambda e: 0 < e <= 1e6,
                 "a number above 0, at most 1e6, or None for no noise"),
                ("delta", self.delta, numbers.Real, lambda delta: 0 <= delta <= 0.999999, "a number from 0 to 0.999999"),
                ("clients", 1 if self.clients is None else self.clients, numbers.Integral, lambda count: count >= 1,
                 "a whole number of 1 or more")):
            if isinstance(value, bool) or not isinstance(value, kind) or not right(value):
                raise ValueError(f"{name}={value!r}: it must be {meaning}.")

    def _takes_missing(self):
        return (self.options or {}).get("missing", "refuse") != "refuse"

    def _more_tags(self):  # before version 1.6 of scikit-learn
        noisy = self._is_private()
        return {"non_deterministic": noisy, "poor_score": noisy, "allow_nan": self._takes_missing(),
                "_xfail_checks": DEVIATIONS.get(type(self).__name__, False) if noisy else False}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self._is_private()
        tags.input_tags.allow_nan = self._takes_missing()
        for each in (tags.classifier_tags, tags.regressor_tags):
            if each is not None:
                each.poor_score = self._is_private()
        return tags

    def fit(self, X, y, owners=None):
        """Learns from records X (m, features) with labels y (m,). `owners` (m,) names the client of each record."""
        return self._learn(X, y, owners)

    def _validated(self, x, *y, **choices):
        """X as numbers, in which categories have their codes, and y. Raises ValueError."""
        choices[FINITE] = "allow-nan" if self._takes_missing() else True
        if self._categories and not is_frame(x):
            raise ValueError("columns had categories in fit. Give a DataFrame with the same columns.")
        if self._categories and [*map(str, x.columns)] == self._columns:  # else scikit-learn says what is wrong
            x = with_codes(x, self._categories)
        try:
            return validate_data(self, x, *y, dtype=np.float64, **choices)
        except ValueError as error:
            if not str(error).startswith("Input X contains NaN"):
                raise
            raise ValueError(f"Input X contains NaN. {MISSING}") from None

    def _offered(self, x):
        """Validated X as starling takes it: a DataFrame where columns have names or categories."""
        if not hasattr(self, "feature_names_in_") and not self._categories:
            return x
        import pandas
        frame = pandas.DataFrame(x, columns=self._columns)
        for place, known in self._categories.items():
            texts = np.array([*map(text_of_category, known), None], dtype=object)
            codes = frame.iloc[:, place]
            frame.isetitem(place, texts[codes.fillna(len(known)).astype(int)])
        return frame

    def _write_categories(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["column", "category", "value"])
            for place, known in self._categories.items():
                table.writerows([self._columns[place], text_of_category(each), code] for code, each in enumerate(known))

    def _feature_count(self):
        """Number of the features that the columns become."""
        widths = [len(self._categories.get(place, [None])) for place in range(self.n_features_in_)]
        return sum(widths) + len(widths) * ((self.options or {}).get("missing") == "indicator")

    def _options(self):
        """Keywords of starling.omd, but for records and output."""
        noise = {"mechanism": "none"}
        if self._is_private():
            noise = {"mechanism": "gaussian", "total_epsilon": self.epsilon, "delta": self.delta}
            if self.delta == 0:
                noise = {"mechanism": "laplace", "total_epsilon": self.epsilon}
        seed = self.random_state
        if seed is not None and not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31 - 1)
        return {**noise, "seed": seed, "progress": self.progress, "intercept": True, "partition": "iid"}

    def _records(self, x, y, owners):
        """Keywords of starling.omd that say whose records are which."""
        if owners is None:
            return {"records": (x, y), "clients": 1 if self.clients is None else self.clients}
        names, places = np.unique(column_or_1d(owners), return_inverse=True)
        if len(places) != len(y):
            raise ValueError(f"owners has {len(places)} entries for {len(y)} records. Each record has one owner.")
        if self.clients not in (None, len(names)):
            raise ValueError(f"clients={self.clients}: owners has {len(names)} names, which are the clients. Leave clients out.")
        rows = [np.flatnonzero(places == client) for client in range(len(names))]
        of = x.iloc.__getitem__ if is_frame(x) else x.__getitem__
        return {"records": [(of(each), y[each]) for each in rows], "partition": None}

    def _learn(self, x, y, owners, going_on=False, **names):
        """Runs starling.omd, from the model on if the estimator has one and is `going_on`, and keeps what the run leaves."""
        if starling.ranks() > 1:
            raise UsageError("an estimator learns in one process, and mpirun has started several. Call starling.omd.")
        begins = going_on and not hasattr(self, "model_")
        going_on = going_on and not begins
        x, y = self._checked(x, y, going_on, **names)
        y, learning = self._task(y)
        with tempfile.TemporaryDirectory(prefix="starling-") as folder:
            self._check_parameters({**learning, **({"encode": 1} if self._categories else {})})
            if self._categories:
                codes = os.path.join(folder, "categories.csv")
                self._write_categories(codes)
                learning["encode"] = f"onehot:{codes}"
            if self._is_private() and not going_on:
                Fits.add()
            output = os.path.join(folder, "run") if self.output is None else self.output
            options = dict(self.options or {})
            if going_on and self.output is not None:
                output = f"{output}-{self.spent_['calls'] + 1}"
            if going_on and self._goes_on:
                learning["start"] = os.path.join(folder, "start.h5")
                with open(learning["start"], "wb") as file:
                    file.write(self.model_)
                if isinstance(self, LinearEstimator):  # means of networks are none
                    learning["start_records"] = self._learned_from
                options = {name: value for name, value in options.items() if name != "ranges"} | self._units
            keywords = {**self._options(), **self._records(self._offered(x), y, owners), **learning, "output": output, **options}
            with ONE:
                run = starling.omd(**keywords)
                self._keep(run)
                self._learned_from = len(y) + (self._learned_from if "start" in learning else 0)
                self._account(run, self._paid if going_on else [])
        if not going_on and any(NO_UNITS in note for note in self.summary_["notes"]):
            warnings.warn("nothing shows the units of the features, which are taken as they are: where these are not about 0 with deviation 1, noise "
                          "can hide all that they tell. Public limits of the features say them: options={'ranges': FILE}.", ConvergenceWarning,
                          stacklevel=3)
        if not going_on and any(GUESSED in note for note in self.summary_["notes"]):
            warnings.warn("nothing shows how large the labels are, so that predictions may be far from all of them. Records are too few for this epsilon, or "
                          "labels are below 1e-6: summary_['notes'] says which.", ConvergenceWarning, stacklevel=3)
        if not going_on and any(OWN_LABELS in note for note in self.summary_["notes"]):
            warnings.warn("features and labels are taken as they are, and noise grows with the size of labels: predictions may be far from all of them. "
                          "Gaussian noise (delta above 0) standardises both.", ConvergenceWarning, stacklevel=3)
        if begins:
            self._warn_of_units()
        return self

    def _warn_of_units(self):
        """Warns after the first call of a stream whose noise may have hidden the units that all later calls keep."""
        if not self._goes_on or "standardise" not in self._units:
            return
        lost = self.summary_.get("tuning", {}).get("most_lost")
        if lost and lost > LOST_BY_FEW:
            warnings.warn(f"the first call has so few records for this epsilon that it may lose {lost:.0f} points by noise, and all calls keep the units "
                          "of the columns that it has found: a column that noise has hidden stays lost. Begin with more records, or give public "
                          "limits of the features: options={'ranges': FILE}.", ConvergenceWarning, stacklevel=4)
        for note in self.summary_["notes"]:
            if ONE_SIZE in note:
                warnings.warn(f"the first call has not found the units of some columns, and all calls keep what it has: {note}. Or begin with more "
                              "records.", ConvergenceWarning, stacklevel=4)

    def _keep(self, run):
        """Keeps the results of the run, whose folder may be deleted."""
        self.summary_ = run.summary
        self.privacy_ = run.privacy
        with open(run.file("model.h5"), "rb") as file:
            self.model_ = file.read()

    def _account(self, run, paid):
        """Adds the loss of the run to those of the calls before, and keeps the units in which the model learns."""
        loss = run.summary["privacy"]
        self._paid = [*paid, (loss["mu"], loss["epsilon"], loss["delta"])]
        self.spent_ = together(self._paid)
        if len(self._paid) > 1 and self._is_private():
            self.privacy_ += ("This model has learned by {calls} calls. A record that one call has had pays at most epsilon = {epsilon:.6g}, one that all "
                              "have had epsilon = {epsilon_in_all:.6g}, both at delta = {delta:g}.\n".format(**self.spent_))
        config = chosen_of(run.file("config.ini"))
        units = config.get("standardise", "").removeprefix("values:").split(",")
        self._goes_on = not all(each == "drop" for each in units if not each.startswith("label="))  # else it has learned from nothing
        self._units = {name.replace("-", "_"): config[name] for name in UNITS if name in config}

    def _fit(self, x, y, going_on, **choices):
        """Validated X and y; what the first call learns of the columns is kept."""
        require_one_order(x, y, "fit")
        if not going_on:
            self._categories = declared_categories(x)
            self._columns = [str(name) for name in x.columns] if is_frame(x) else None
        return self._validated(x, y, reset=not going_on, **choices)

    def _applied(self, x, what):
        """A column of the table of predictions, or several."""
        check_is_fitted(self)
        x = self._offered(self._validated(x, reset=False))
        with tempfile.TemporaryDirectory(prefix="starling-") as folder:
            path = os.path.join(folder, "model.h5")
            with open(path, "wb") as file:
                file.write(self.model_)
            with ONE:
                return apply_model(path, x, what)


class LinearEstimator(PrivateEstimator):
    """An estimator of a linear model: it has `coef_`, `intercept_` and `coef_names_` too, in the units of the records, and
    `coef_noise_`, the standard deviation of the noise that the run has added to each coefficient.

    They hold for features within the bounds at which the run has clipped them: `predict` clips those beyond.
    """

    def _keep(self, run):
        super()._keep(run)
        table = columns_of(io.StringIO(starling.report(run, coefficients="csv")))
        features, classes = self._feature_count(), len(getattr(self, "classes_", ()))
        scores = classes if classes > 2 else 1
        estimates, noise = (np.nan_to_num(table[name]).reshape(scores, -1) for name in ("estimate", "noise_added"))  # 0 if dropped
        intercept = estimates[:, features] if estimates.shape[1] > features else np.zeros(scores)
        self.coef_, self.intercept_, self.coef_noise_ = estimates[:, :features], intercept, noise[:, :features]
        self.coef_names_ = [name.removesuffix(", score 0") if scores > 1 else name for name in table["name"][:features]]
        if not self.coef_.any():
            warnings.warn("no feature was learned from, so every record gets the same answer: records are too few for this epsilon. "
                          "Ranges of the features that are public knowledge cost nothing: options={'ranges': FILE}. "
                          "summary_['notes'] says more.", ConvergenceWarning, stacklevel=4)
        if not is_classifier(self):
            self.coef_, self.intercept_, self.coef_noise_ = self.coef_[0], float(intercept[0]), self.coef_noise_[0]


class ClassLabels(ClassifierMixin):
    """Labels of any kind, and probabilities. `classes_` has the labels in their order."""

    def partial_fit(self, X, y, classes=None, owners=None):
        """Goes on from the model with the next records of a stream. `classes` are all labels that may occur: the first call needs
        them, unless the parameter of this name has them. The others are those of `fit`."""
        return self._learn(X, y, owners, going_on=True, classes=classes, all_named=True)

    def _checked(self, x, y, going_on, classes=None, all_named=False):
        """Validated X, and y as the numbers of the classes. Raises ValueError."""
        if classes is None:
            classes = self.classes_ if going_on else self.classes
        if all_named and classes is None:
            raise ValueError("classes=None: the first call of partial_fit must name all labels that may occur. Give classes=.")
        if str(getattr(y, "dtype", "")) == "boolean":  # nullable: scikit-learn makes numbers of it
            if y.isna().any():
                raise ValueError("y: some labels are missing. Remove these records.")
            y = y.astype(bool)
        x, y = self._fit(x, y, going_on)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        known = np.unique(y if classes is None else classes)
        if going_on and not np.array_equal(known, self.classes_):
            raise ValueError(f"classes: they are not those of the first call: {', '.join(map(str, self.classes_))}. Leave classes out.")
        unknown = int((~np.isin(y, known)).sum())
        if unknown:
            raise ValueError(f"classes: {unknown} labels are none of {', '.join(map(str, known))}. Name all classes.")
        if len(known) < 2:
            raise ValueError("y has one class, and a classifier needs two or more classes. Give classes= if there are others.")
        self.classes_ = known
        return x, np.searchsorted(known, y)

    def predict(self, X):
        """The class of each record: (m,)."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        """Probabilities of the classes of each record: (m, classes)."""
        found = self._applied(X, "probability")
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def predict_log_proba(self, X):
        """Their logarithms: (m, classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class PrivateLogisticRegression(ClassLabels, LinearEstimator):
    """Logistic regression of two classes or more, by online mirror descent under differential privacy.

    epsilon: what a record pays in one fit; None for no noise, which protects nothing. delta: 0 is Laplace noise. clients:
    number of clients, over which records are dealt at random (default 1). classes: labels that may occur, which are public
    (default: those of y). random_state: seed of what is public; noise is secret always. output: folder that keeps the run and its
    ledger; by default both are deleted. progress: "auto" shows the run and its notes. options: further keywords of
    `starling.omd`.
    """

    def __init__(self, epsilon=1.0, *, delta=1e-5, clients=None, classes=None, random_state=None, output=None, progress="off",
                 options=None):
        super().__init__(epsilon, delta=delta, clients=clients, random_state=random_state, output=output, progress=progress,
                         options=options)
        self.classes = classes

    def _task(self, y):
        if len(self.classes_) == 2:
            return 2.0 * y - 1, {"loss": "logistic"}
        return y.astype(float), {"loss": f"softmax:classes={len(self.classes_)}"}

    def decision_function(self, X):
        """Scores: (m,) of two classes, above 0 for the second one; else (m, classes)."""
        return self._applied(X, "score")


class PrivateClassifier(ClassLabels, PrivateEstimator):
    """A network with dense layers and ReLU that tells classes apart, learned under differential privacy.

    hidden_layer_sizes: numbers of units of the layers between features and classes. The others are those of
    PrivateLogisticRegression.
    """

    def __init__(self, hidden_layer_sizes=(32,), epsilon=1.0, *, delta=1e-5, clients=None, classes=None, random_state=None,
                 output=None, progress="off", options=None):
        super().__init__(epsilon, delta=delta, clients=clients, random_state=random_state, output=output, progress=progress,
                         options=options)
        self.hidden_layer_sizes = hidden_layer_sizes
        self.classes = classes

    def _task(self, y):
        sizes = [self._feature_count(), *np.atleast_1d(self.hidden_layer_sizes), len(self.classes_)]
        return y.astype(float), {"loss": f"softmax:classes={len(self.classes_)}", "intercept": None,
                                 "model": f"mlp:{'-'.join(map(str, sizes))}"}


class PrivateRegressor(RegressorMixin, LinearEstimator):
    """Linear regression by online mirror descent under differential privacy.

    loss: of `starling.omd`, such as "squared" or "huber". The others are those of PrivateLogisticRegression.
    """

    def __init__(self, epsilon=1.0, *, loss="squared", delta=1e-5, clients=None, random_state=None, output=None, progress="off",
                 options=None):
        super().__init__(epsilon, delta=delta, clients=clients, random_state=random_state, output=output, progress=progress,
                         options=options)
        self.loss = loss

    def partial_fit(self, X, y, owners=None):
        """Goes on from the model with the next records of a stream. The arguments are those of `fit`."""
        return self._learn(X, y, owners, going_on=True)

    def _checked(self, x, y, going_on):
        """Validated X, and y as numbers. Raises ValueError."""
        return self._fit(x, y, going_on, y_numeric=True)

    def _task(self, y):
        return y.astype(float), {"loss": self.loss}

    def predict(self, X):
        """The expected label of each record: (m,)."""
        return self._applied(X, "prediction")
