"""What scales.py works with: tables in their own units and tables that are scaled already, and a simulated release of scales."""

import collections
import csv
import math
import random
from statistics import NormalDist

from learning_sets import HELD_OUT, SETS, UNITS, Missing, number, opened

DELTA, CLIENTS, LOWEST, BINS = 1e-5, 5, -20, 40  # bins [2^k, 2^(k+1)), as those of the norm's release
FALSE_BIN = 0.001  # share of releases in which noise alone fills a bin
PART = 8  # nothing is released where a bin needs more than this part of all records to stand out

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


class Features:
    """What is known of a table's features, from its columns: exact constants, and those that a release gives."""

    def __init__(self, columns):
        self.records = len(columns[0])
        self.exact = {how: [exact(column, how == "sd") for column in columns] for how in ("rms", "sd")}
        self.counts = [collections.Counter((1 if v > 0 else -1, min(max(math.frexp(v)[1] - 1, LOWEST), LOWEST + BINS - 1))
                                           if v else (0, 0) for v in column) for column in columns]

    def released(self, how, mu, draw):
        """(mean, deviation) that a release at the price mu gives each feature, (0, 1) where no bin stands out; None: no release."""
        d, signs = len(self.counts), 2 if how == "moments" else 1
        sigma = math.sqrt(CLIENTS * 2 * d) / mu  # of the sum: a replaced record moves two bins of each of d histograms by 1
        least = sigma * NormalDist().inv_cdf(1 - FALSE_BIN / (signs * BINS * d))
        if PART * least > self.records:
            return None
        return [constants_of(how, self.kept(counts, signs, sigma, least, draw), self.records) for counts in self.counts]

    @staticmethod
    def kept(counts, signs, sigma, least, draw):
        """{(sign, k): noisy count} of bins that stand out, (0, 0) that of zeros; without signs all are positive, and zeros have none."""
        bins = {(0, 0): counts[0, 0] + draw.gauss(0, sigma)} if signs == 2 else {}
        for key in ((sign, k) for sign in (1, -1)[:signs] for k in range(LOWEST, LOWEST + BINS)):
            bins[key] = counts[key] + (counts[-1, key[1]] if signs == 1 else 0) + draw.gauss(0, sigma)
        return {key: count for key, count in bins.items() if count >= least}


def constants_of(how, bins, records):
    if not any(sign for sign, _ in bins):
        return 0, 1
    seen, half = 0, sum(bins.values()) / 2
    if how == "median":
        return 0, next(2.0 ** k for (_, k), count in sorted(bins.items()) if (seen := seen + count) >= half)
    centred = how == "moments" and 2 * half >= records / 2
    if how == "moments":  # of the records that are seen; where these are fewer than half, no mean, and zeros do not count
        records = 2 * half - (0 if centred else bins.get((0, 0), 0))
    # Values are taken to lie evenly in their bins.
    square = sum(count * 7 / 3 * 4.0 ** k * abs(sign) for (sign, k), count in bins.items()) / records
    centre = sum(count * sign * 1.5 * 2.0 ** k for (sign, k), count in bins.items()) / records if centred else 0
    return centre, math.sqrt(max(square - centre * centre, square / 100))


def exact(column, centred):
    centre = math.fsum(column) / len(column) if centred else 0
    return centre, math.sqrt(math.fsum((v - centre) ** 2 for v in column) / len(column)) or 1
