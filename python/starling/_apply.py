"""The model of a run on new records, by the command predict."""

import os
import tempfile

import numpy as np

from ._call import Offer, run_words
from ._model import name_of
from ._records import NAME, table_of
from ._tables import as_table, read_columns


def predictions(words, offer):
    """{column: array} of the table that `starling predict` writes."""
    with tempfile.TemporaryDirectory(prefix="starling-") as folder:
        path = os.path.join(folder, "predictions.csv")
        run_words(["predict", *words, f"--output={path}", "--progress=off"], offer)
        return read_columns(path)


def chosen(table, what, x):
    """The columns of a table of predictions for the records x that a word names."""
    if what == "table":
        return as_table({name: table[name] for name in list(table)[1:]}, x)
    if what is None:
        return table[list(table)[-1]]
    found = [values for name, values in table.items() if name == what or name.startswith(what + "_")]
    if not found:
        raise ValueError(f"predict: there is no column '{what}'. The columns are: {', '.join(list(table)[1:])}.")
    return found[0] if len(found) == 1 else np.column_stack(found)


def apply_model(path, x, what=None, client=None, own=None):
    """Predictions by the model of a run; `own` is its code where it is an own model: an object, or plugin:FILE."""
    words = [os.fspath(path), f"--source=memory:{NAME}"]
    plugin = isinstance(own, str)
    if own is not None:
        words.append(f"--model={own}" if plugin else f"--model=own:{name_of(own)}")
    if client is not None:
        words.append(f"--client={client}")
    return chosen(predictions(words, Offer({NAME: table_of(x, "predict")}, None if plugin else own)), what, x)
