"""The tables of scales.py, in their own units or scaled already."""

import csv
import math
import random
import shutil
import subprocess

from learning_sets import HELD_OUT, SETS, UNITS, Missing, number, opened

# Means and deviations that take credit back to New Taiwan dollars, years and codes (these come out whole), and public ranges.
CREDIT = [(-0.2911, 1.149988), (51223.33, 73635.861), (49179.08, 71173.769), (47013.15, 69349.387), (43262.95, 64332.856),
          (40311.4, 60797.156), (38871.76, 59554.108), (5663.58, 16563.28), (5921.16, 23040.87), (5225.68, 17606.961),
          (4826.08, 15666.16), (4799.39, 15278.306), (5215.5, 17777.466), (167484.32, 129747.662), (1.603733, 0.489129),
          (1.853133, 0.790349), (1.551867, 0.52197), (35.4855, 9.217904), (-0.0167, 1.123802), (-0.133767, 1.197186),
          (-0.1662, 1.196868), (-0.220667, 1.169139), (-0.2662, 1.133187)]
CREDIT_RANGES = [(-2, 8), *[(0, 200_000)] * 6, *[(0, 20_000)] * 6, (0, 500_000), (1, 2), (0, 6), (0, 3), (20, 80), *[(-2, 8)] * 5]
FAIR = {"rate_marriage": (1, 5), "age": (17, 45), "yrs_married": (0, 25), "children": (0, 6), "religious": (1, 4),
        "educ": (8, 20), "occupation": (1, 6), "occupation_husb": (1, 6)}
RANDHIE = {"lncoins": (0, 5), "idp": (0, 1), "lpi": (0, 8), "fmde": (0, 9), "physlm": (0, 1), "disea": (0, 60), "hlthg": (0, 1),
           "hlthf": (0, 1), "hlthp": (0, 1)}
VISITS = [(0, 12), *[(0, 1)] * 5, (0, 2), (0, 1), (0, 1), (0, 1), (0, 5), (0, 14)]


def a9a(place):
    """a9a with its zeros written out: records of pairs cannot be standardised."""
    lines = [[line.split() for line in opened(place.file(f"a9a/{name}.gz"))] for name in ("a9a", "a9a.t")]
    there = [{int(pair.split(":")[0]) for pair in words[1:]} for part in lines for words in part]
    return place.split("a9a", [int(words[0]) for part in lines for words in part],
                       [[int(k in here) for k in range(1, 124)] for here in there], lambda i: i >= len(lines[0]))


def credit(place):
    """Credit default in its own units."""
    words = SETS["credit"][1](place).words
    train, test = ([[float(v) for v in row] for row in table(words[words.index(option) + 1])] for option in ("--source", "--test"))
    # The deviations divide by 29,999 records, those of the file by 30,000.
    rows = [[round(m + s * v * math.sqrt(29_999 / 30_000)) for v, (m, s) in zip(row[1:], CREDIT)] for row in train + test]
    return place.split("credit-units", [row[0] for row in train + test], rows, lambda i: i >= len(train))


def of_statsmodels(name, label, features):
    """Whether `label` is above 0, from a table that comes with statsmodels."""
    def made(place):
        path = place.tables / name / f"{name}.csv"
        if not path.exists():
            raise Missing(path)
        with open(path, newline="") as file:
            lines = list(csv.DictReader(file))
        random.Random(f"scales {name}").shuffle(lines)
        return place.split(name, [1 if number(line[label], path) > 0 else -1 for line in lines],
                           [[number(line[key], path) for key in features] for line in lines], lambda i: i % HELD_OUT == 0)
    return made


def of_r(package, name, label, features, above=None):
    """Whether `label` is above a number (None: above its median), from a table of an R package. Lines with gaps are left out."""
    def made(place):
        wanted = [label, *features]
        script = f"d <- {package}::{name}[, c({', '.join(map(repr, wanted))})]; write.csv(na.omit(d), stdout(), row.names=FALSE)"
        if not shutil.which("Rscript"):
            raise Missing("Rscript")
        done = subprocess.run(["Rscript", "--vanilla", "-e", script], capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"R package {package}")
        rows = [list(map(float, line)) for line in csv.reader(done.stdout.splitlines()[1:])]
        random.Random(f"scales {name}").shuffle(rows)
        limit = sorted(row[0] for row in rows)[len(rows) // 2] if above is None else above
        return place.split(name, [1 if row[0] > limit else -1 for row in rows], [row[1:] for row in rows], lambda i: i % HELD_OUT == 0)
    return made


# Name: (title, how it is made, option of public constants, their values).
CASES = {
    "a9a": ("a9a, 123 binary features", a9a, None, None),
    "credit": ("credit, standardised", SETS["credit"][1], None, None),
    "isotropic-20": ("isotropic, 20 features", SETS["isotropic-20"][1], None, None),
    "demand": ("demand, standardised", SETS["demand"][1], None, None),
    "visits": ("visits, 4,152 records", SETS["visits"][1], "--ranges", VISITS),
    "credit-units": ("credit in its own units", credit, "--ranges", CREDIT_RANGES),
    "fair": ("fair, 5,092 records", of_statsmodels("fair", "affairs", FAIR), "--ranges", list(FAIR.values())),
    "randhie": ("randhie, 16,152 records", of_statsmodels("randhie", "mdvis", RANDHIE), "--ranges", list(RANDHIE.values())),
    "elec2": ("elec2, progressive", SETS["elec2"][1], "--standardise", [(4, 2), *[(0.5, 0.3)] * 5]),
    "diamonds": ("diamonds, 43,152 records", of_r("ggplot2", "diamonds", "price", ["carat", "depth", "table", "x", "y", "z"]), None, None),
    "flchain": ("flchain, 6,299 records", of_r("survival", "flchain", "death",
                ["age", "kappa", "lambda", "flc.grp", "sample.yr", "mgus"], above=0), None, None),
    "txhousing": ("txhousing", of_r("ggplot2", "txhousing", "listings", ["year", "month", "sales", "volume", "median"]), None, None),
    "units": ("deviations 1/30 to 30, made", SETS["units"][1], "--standardise", [(0, unit) for unit in UNITS]),
}


def table(path):
    """Rows of a CSV file, without its line of names."""
    with open(path, newline="") as file:
        return list(csv.reader(file))[1:]


def columns(data):
    """The training records, feature by feature."""
    source = str(data.words[data.words.index("--source") + 1]).split(",")[0]
    if source.endswith(".csv"):
        return [list(map(float, column)) for column in list(zip(*table(source)))[1:]]
    return [list(map(float, column)) for k, column in enumerate(zip(*map(str.split, opened(source)))) if k not in (0, 3)]  # elec2


def exact(column, centred):
    """(mean, deviation) or (0, root mean square) of a column."""
    centre = math.fsum(column) / len(column) if centred else 0
    return centre, math.sqrt(math.fsum((v - centre) ** 2 for v in column) / len(column)) or 1
