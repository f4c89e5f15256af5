"""Tables: a pandas.DataFrame where there is pandas, else a dictionary of arrays, by the names of the columns."""

import csv

import numpy as np


def as_table(columns, records=None):
    """The table; its rows are called as those of the pandas.DataFrame of records that they tell of, or (X, y) with one."""
    try:
        import pandas
    except ImportError:
        return columns
    table = pandas.DataFrame(columns)
    x = records[0] if isinstance(records, tuple) and records else records
    return table.set_index(x.index) if isinstance(x, pandas.DataFrame) and len(x) == len(table) else table


def column_of(texts):
    """Numbers where all texts are numbers, with NaN for empty ones; else texts. Keys that doubles would change are texts."""
    try:
        numbers = np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, dtype=object)
    whole = {texts[i] for i in np.flatnonzero(numbers == np.floor(numbers))}
    rounded = any(text.lstrip("-").isdigit() and str(int(float(text))) != text for text in whole)
    return np.array(texts, dtype=object) if rounded else numbers


def columns_of(file, choose=list):
    """{name: column} of an open CSV file with a line of names, for the names that `choose` takes of their list."""
    names, *rows = csv.reader(file)
    chosen = choose(names)
    return {name: column_of([row[i] for row in rows]) for i, name in enumerate(names) if name in chosen}


def read_columns(path, choose=list):
    """The same of the file of a path."""
    with open(path, newline="", encoding="utf-8") as file:
        return columns_of(file, choose)
