"""Records in memory, as the native module takes them."""

import os
import re

import numpy as np

from ._errors import DataError

NAME, TEST = "records", "test"
DIGITS = {np.dtype(np.float16): 11, np.dtype(np.float32): 24}  # binary ones of a number; others are read as they are, or are doubles
LARGEST = 2 ** 53  # beyond, doubles skip whole numbers
FORMS = "Records are a pair (X, y), a DataFrame, or a list with one of these for each client."


def array_of(values):
    """The values as an array. What pandas knows as missing, and what a mask of NumPy hides, is NaN."""
    if hasattr(values, "iloc"):
        array = values.to_numpy()
        return values.to_numpy(dtype=float, na_value=np.nan) if array.dtype == object else array
    if isinstance(values, np.ma.MaskedArray):
        return values.astype(float).filled(np.nan)
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


def as_doubles(values, dimensions, what):
    """The values as float64: themselves where they are, a copy where they are not."""
    if isinstance(values, (str, bytes, os.PathLike)):
        raise DataError(f"{what}: it is a text, and must be an array. A file is named by source=.")
    if isinstance(values, dict):
        raise DataError(f"{what}: it is a dict, and must be an array. {FORMS}")
    if hasattr(values, "toarray"):
        raise DataError(f"{what}: a sparse matrix is not read. Give {what}.toarray(), or a file.")
    try:
        array = array_of(values)
        if array.dtype.kind in "cmM":
            kinds = {"c": "complex numbers", "m": "durations", "M": "dates"}
            raise DataError(f"{what}: {kinds[array.dtype.kind]}. Every value must be a real number. Make numbers of them.")
        kept = (np.float64, np.int64, np.uint64)[:3 if dimensions == 2 else 1]
        usable = array.dtype in kept and array.flags.aligned and all(stride % 8 == 0 for stride in array.strides)
        array = array if usable else np.array(array, dtype=float, order="C")
    except (TypeError, ValueError) as error:  # whose text, and whose traceback, have values of records
        if isinstance(values, tuple):
            raise DataError(f"{what}: it is a tuple, and must be an array. {FORMS}", shown=f"{what}: {error}") from None
        raise DataError(f"{what}: could not convert all values to numbers. Every value must be a number. "
                        "numpy.unique(…, return_inverse=True) makes numbers of texts. A DataFrame with texts has "
                        "columns to encode= or drop=.", shown=f"{what}: {error}") from None
    if array.ndim != dimensions:
        raise DataError(f"{what} has {array.ndim} dimensions, and must have {dimensions}.{remedy(values, array, dimensions)}")
    return array


def remedy(values, array, dimensions):
    """What makes an array of the wrong number of dimensions one of the right number, where that is likely."""
    if dimensions == 1 and array.ndim == 2 and array.shape[1] == 1:
        return " Give the column alone: y.iloc[:, 0]." if hasattr(values, "iloc") else " Give y.ravel()."
    if dimensions == 2 and array.ndim == 1:
        return " One feature is X.reshape(-1, 1), one record X.reshape(1, -1)."
    return ""


def require_one_order(x, y, what):
    """Two objects of pandas whose rows have the same index in another order are no records: labels would be those of others."""
    if not (hasattr(x, "iloc") and hasattr(y, "iloc")) or x.index.equals(y.index):
        return
    if len(x) == len(y) and set(x.index) == set(y.index):
        raise DataError(f"{what}: the rows of X and of y have the same index in another order. Give y.loc[X.index], or arrays.")


def without_breaks(column):
    """The column with a blank for line breaks in its texts: a row of a table is one line."""
    if column.dtype.kind in "biufmM":
        return column
    return column.astype(object).map(lambda value: re.sub(r"[\r\n]+", " ", value) if isinstance(value, str) else value)


class TextTable:
    """A pandas.DataFrame as a table of text: a CSV file in memory, which nobody else can open and which ends with the object."""

    def __init__(self, frame, labels=None):
        self.columns_beside = [] if labels is None else ["y"]
        frame = frame if labels is None else frame.assign(y=labels)
        texts = [column for column, kind in enumerate(frame.dtypes) if kind.kind not in "biufmM"]
        if any(frame.iloc[:, column].astype(str).str.contains(r"[\r\n]").any() for column in texts):
            frame = frame.apply(without_breaks)
        bools = {name: "Int64" for name, kind in frame.dtypes.items() if kind.name in ("bool", "boolean")}
        self._file = os.fdopen(os.memfd_create("records"), "w", encoding="utf-8", newline="")
        (frame.astype(bools) if bools else frame).to_csv(self._file, index=False)
        self._file.flush()

    @property
    def path(self):
        return f"/proc/self/fd/{self._file.fileno()}"

    def __del__(self):
        if hasattr(self, "_file"):  # else the file could not be made
            self._file.close()


def is_text(column):
    """Whether a column of a pandas.DataFrame holds texts, or dates, which are texts in a table."""
    kind = column.dtype.kind
    return kind in "mM" or kind not in "biuf" and any(isinstance(value, str) for value in column)


def is_beyond_doubles(column):
    """Whether a column has whole numbers, such as ids, that an array of doubles would round."""
    return column.dtype.kind in "iu" and bool(((column >= LARGEST) | (column <= -LARGEST)).any())


def needs_text(x):
    """Whether a pandas.DataFrame is offered as a table of text."""
    if not hasattr(x, "to_csv") or not hasattr(x, "columns"):
        return False
    columns = [x.iloc[:, column] for column in range(x.shape[1])]
    alike = len(set(x.dtypes)) == 1 and x.dtypes.iloc[0] in (np.int64, np.uint64)
    return any(is_text(column) or not alike and is_beyond_doubles(column) for column in columns)


def digits_of(x):
    """Binary digits of the numbers that each column was made of; [] where all are those of doubles or of whole numbers."""
    kinds = list(x.dtypes) if hasattr(x, "columns") else [np.asarray(x).dtype] * np.shape(x)[1]
    digits = [DIGITS.get(kind, 53) for kind in kinds]
    return digits if min(digits, default=53) < 53 else []


def text_table(x, y, what):
    if y is not None and len(x) != len(y):
        raise DataError(f"{what}: {len(x)} rows of X and {len(y)} labels. Each record has one label.")
    if y is not None and any(str(name).lower() in ("y", "label") for name in x.columns):
        raise DataError(f"{what}: X has texts, and a column y or label beside the labels y. Give one DataFrame with all columns, and label=.")
    return TextTable(x, y)


def table_of(records, what, encode=False):
    """What is offered for an array, a DataFrame or a pair (X, y): (features, labels or None, names of columns, digits of their
    numbers), or a TextTable for a DataFrame with texts, or whose columns are to be encoded."""
    x, y = records if isinstance(records, tuple) and len(records) == 2 else (records, None)
    require_one_order(x, y, what)
    if needs_text(x) or encode and hasattr(x, "to_csv"):
        return text_table(x, None if y is None else as_doubles(y, 1, f"{what}: y"), what)
    names = [str(name) for name in x.columns] if hasattr(x, "columns") else []
    given = x
    x = as_doubles(x, 2, f"{what}: X")
    if y is not None:
        y = as_doubles(y, 1, f"{what}: y")
        if len(x) != len(y):
            raise DataError(f"{what}: {len(x)} rows of X and {len(y)} labels. Each record has one label.")
    return x, y, names, digits_of(given)


def offered_records(records, encode=False):
    """({name: table}, the source, number of clients or None) of what the keyword `records` has: records of all clients, or a
    list with those of each client. An entry is None for a client of another rank."""
    if not isinstance(records, list):
        return {NAME: table_of(records, "records", encode)}, f"memory:{NAME}", None
    tables = {f"{NAME}-{client}": table_of(each, f"records[{client}]", encode) for client, each in enumerate(records)
              if each is not None}
    return tables, f"memory:{NAME}-{{client}}", len(records)
