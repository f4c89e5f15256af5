"""A run, by what its directory holds."""

from __future__ import annotations

import functools
import glob
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ._apply import apply_model
from ._classes import tell_of_classes
from ._errors import DataError, UsageError
from ._model import require_object
from ._native import native
from ._tables import as_table, read_columns

if TYPE_CHECKING:
    import numpy.typing as npt


def read_dataset(path, name):
    """The data set of an HDF5 file, by h5py, or else by the native module; None if there is none."""
    try:
        import h5py
    except ImportError:
        return native().read_dataset(path, name)
    with h5py.File(path, "r") as file:
        return file[name][()] if name in file else None


class Run:
    """A run: its results, which are read from its directory when they are asked for.

    `path` is the directory. `code` is the exit code of the command: 1 where an audit has refuted the claim. `named_labels` says
    that the labels of its records are known to be -1 and 1.
    """

    def __init__(self, path: str | os.PathLike[str], model: Any = None, code: int = 0, named_labels: bool = False) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.code = code
        self._own = model
        self.named_labels = named_labels
        if not os.path.isdir(self.path):
            raise DataError(f"'{self.path}' is no folder. Name the directory of a run.")

    def __repr__(self):
        return f"<starling.Run {self.path}>"

    def file(self, name: str) -> str:
        """The path of a file of the run."""
        return os.path.join(self.path, name)

    def _text(self, name):
        try:
            with open(self.file(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            raise DataError(f"'{self.path}' has no {name}: the run has not ended, or is of a kind without one.") from None

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The results: summary.json, as a dictionary."""
        return json.loads(self._text("summary.json"))

    @property
    def privacy(self) -> str:
        """The privacy statement."""
        return self._text("privacy.txt")

    def table(self, name: str) -> Any:
        """A table of the run, NAME.csv: history, coefficients, regret, …. A pandas.DataFrame where there is pandas, else a
        dictionary of arrays."""
        self._text(f"{name}.csv")
        return as_table(read_columns(self.file(f"{name}.csv")))

    @functools.cached_property
    def history(self) -> Any:
        """The figures of the recorded rounds: history.csv."""
        return self.table("history")

    def read(self, name: str) -> npt.NDArray[Any]:
        """A data set of run.h5, as an array: model (records × recorded clients × d), mass, loss, …."""
        found = read_dataset(self.file("run.h5"), name) if os.path.exists(self.file("run.h5")) else None
        if found is None:
            raise DataError(f"'{self.path}' has no data set {name}: it was not recorded, or is withheld.")
        return found

    @functools.cached_property
    def models(self) -> npt.NDArray[Any]:
        """The final models: clients × d."""
        self._text("summary.json")  # until a run ends its file has zeros
        return self.read("final_model")

    @functools.cached_property
    def model(self) -> npt.NDArray[Any]:
        """The mean of the final models, weighted by their push-sum masses: the model of model.h5, as one vector."""
        if not os.path.exists(self.file("run.h5")) or read_dataset(self.file("run.h5"), "final_model") is None:
            return np.array(self.summary["final_model"], dtype=float)
        masses = read_dataset(self.file("run.h5"), "mass")
        if masses is None or len(masses) == 0 or masses.shape[1] != len(self.models):
            return self.models[~np.isnan(self.models).all(axis=1)].mean(axis=0)
        here = masses[-1] > 0  # lost clients have no model
        return masses[-1][here] @ self.models[here] / masses[-1][here].sum()

    def predict(self, x: Any, what: str | None = None, client: int | None = None) -> Any:
        """Predictions for records x (m, features): classes, or numbers of a regression. Two classes are the labels that
        `class_labels` of the command has named, else -1 and 1, with a warning unless these are known to be the labels.

        `what` names other columns of `starling predict`: "score", "probability", or "table" for all of them. `client` is the
        client whose model is applied, in place of the mean of all. An own model must be the one that has learned.
        """
        if not os.path.exists(self.file("model.h5")):
            raise UsageError("predict: the run has no model.h5: it has not ended, or its result is no model of records.")
        found = apply_model(self.path, x, what, client, self._own)
        if what is None and self._own is None and not self.named_labels:
            tell_of_classes(self.path, found, read_dataset)
        return found

    def personal_model(self, client: int) -> str:
        """The path of a client's personal model, for `starling.predict` and `starling.score`: of a run with `personal=True`, and only
        for the account that owns the client's records."""
        name = os.path.join("personal", f"{client}.h5")
        found = [path for path in glob.glob(os.path.join(glob.escape(self.file("private")), "*", name)) if os.access(path, os.R_OK)]
        if not found:
            raise DataError(f"'{self.path}' has no personal model of client {client} that this account may read: the run was made without "
                            "--personal, or the client's private folder is elsewhere.")
        return max(found, key=os.path.getmtime)

    def plot(self, name: str = "loss", ax: Any = None) -> Any:
        """Draws a figure of the history over the rounds, and with it the same on the test set. Returns the matplotlib axes.
        Without matplotlib, and for the pictures of the run (components, convergence, …), returns the path of NAME.svg."""
        history = read_columns(self.file("history.csv")) if os.path.exists(self.file("history.csv")) else {}
        drawn = [column for column in (name, f"test_{name}") if np.isfinite(history.get(column, np.array([]))).any()]
        try:
            from matplotlib import pyplot
        except ImportError:
            return self._picture(name)
        if not drawn and name in history:
            known = ", ".join(column for column in list(history)[1:] if np.isfinite(history[column]).any())
            raise UsageError(f"plot: no {name} is known: it is withheld, or was not measured. A public test set (test=) has figures "
                             f"that anybody may see. Known columns: {known}.")
        if not drawn:
            return self._picture(name)
        if ax is None:
            ax = pyplot.subplots()[1]
        for column in drawn:
            known = np.isfinite(history[column])
            ax.plot(history["rounds"][known], history[column][known], label=column.replace("_", " "))
        ax.set_xlabel("rounds")
        ax.set_ylabel(name.replace("_", " "))
        ax.legend()
        return ax

    def _picture(self, name):
        if os.path.exists(self.file(f"{name}.svg")):
            return self.file(f"{name}.svg")
        there = sorted(file[:-4] for file in os.listdir(self.path) if file.endswith(".svg"))
        raise UsageError(f"plot: no figure '{name}': it is unknown or withheld. Columns of run.history can be drawn, and: "
                         f"{', '.join(there) or 'no picture'}.")


def load(path: str | os.PathLike[str], model: Any = None) -> Run:
    """The run of a directory, as `starling.omd` returns it. `model` is its own model, which predicts: an object, or
    plugin:FILE. Needs no MPI."""
    require_object(model)
    return Run(path, model)
