"""The model of a run on new records, by the command predict."""

import os
import tempfile

import numpy as np

from ._call import Offer, run_words
from ._model import name_of
from ._records import NAME, table_of
from ._tables import as_table, read_columns


def predictions(words, offer, choose):
    """{column: array} of the columns that are chosen of the table that `starling predict` writes."""
    with tempfile.TemporaryDirectory(prefix="starling-") as folder:
        path = os.path.join(folder, "predictions.csv")
        run_words(["predict", *words, f"--output={path}", "--progress=off"], offer)
        return read_columns(path, choose)


def columns_for(what, names):
    """The columns of a table of predictions that a word names."""
    if what == "table":
        return names[1:]
    if what is None:
        return names[-1:]
    found = [name for name in names if name == what or name.startswith(what + "_")]
    if not found:
        raise ValueError(f"predict: there is no column '{what}'. The columns are: {', '.join(names[1:])}.")
    return found


def apply_model(path, x, what=None, client=None, own=None):
    """Predictions by the model of a run; `own` is its code where it is an own model: an object, or plugin:FILE."""
    words = [os.fspath(path), f"--source=memory:{NAME}"]
    plugin = isinstance(own, str)
    if own is not None:
        words.append(f"--model={own}" if plugin else f"--model=own:{name_of(own)}")
    if client is not None:
        words.append(f"--client={client}")
    offer = Offer({NAME: table_of(x, "predict")}, None if plugin else own)
    found = predictions(words, offer, lambda names: columns_for(what, names))
    if what == "table":
        return as_table(found, x)
    return np.column_stack([*found.values()]) if len(found) > 1 else [*found.values()][0]
