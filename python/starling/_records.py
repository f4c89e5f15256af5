"""Records in memory, as the native module takes them."""

import numpy as np

from ._errors import DataError

NAME, TEST = "records", "test"


def as_doubles(values, dimensions, what):
    """The values as float64: themselves where they are, a copy where they are not."""
    if hasattr(values, "toarray"):
        raise DataError(f"{what}: a sparse matrix is not read. Give {what}.toarray(), or a file.")
    try:
        array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        usable = array.dtype == np.float64 and array.flags.aligned and all(stride % 8 == 0 for stride in array.strides)
        if np.iscomplexobj(array):
            raise TypeError("complex numbers")
        array = array if usable else np.array(array, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: {str(error).rstrip('.')}. Every value must be a number. numpy.unique(…, return_inverse=True) makes numbers of "
                        "texts.") from error
    if array.ndim != dimensions:
        raise DataError(f"{what} has {array.ndim} dimensions, and must have {dimensions}.")
    return array


def table_of(records, what):
    """(features, labels or None, names of columns) of an array, a DataFrame or a pair (X, y)."""
    x, y = records if isinstance(records, tuple) and len(records) == 2 else (records, None)
    names = [str(name) for name in x.columns] if hasattr(x, "columns") else []
    x = as_doubles(x, 2, f"{what}: X")
    if y is not None:
        y = as_doubles(y, 1, f"{what}: y")
        if len(x) != len(y):
            raise DataError(f"{what}: {len(x)} rows of X and {len(y)} labels. Each record has one label.")
    return x, y, names


def offered_records(records):
    """({name: table}, the source, number of clients or None) of what the keyword `records` has: records of all clients, or a
    list with those of each client. An entry is None for a client of another rank."""
    if not isinstance(records, list):
        return {NAME: table_of(records, "records")}, f"memory:{NAME}", None
    tables = {f"{NAME}-{client}": table_of(each, f"records[{client}]") for client, each in enumerate(records)
              if each is not None}
    return tables, f"memory:{NAME}-{{client}}", len(records)
