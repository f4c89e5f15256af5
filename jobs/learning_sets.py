"""The data sets of learning.py: files that are named or found, and records that are made here with fixed seeds.

Each set knows the words of `starling omd` that read it, the training records (for the norm of a typical one, which a user
would have to know) and the labels on which accuracy is counted (for the share of the larger class).
"""

import csv
import gzip
import math
import random
import subprocess
from statistics import median

import experiment

FIVE = ["--clients", 5, "--topology", "topologies/unbalanced-5.topo"]
SKEWED = ["--partition", "dirichlet:alpha=0.5"]
HELD_OUT = 5  # of tables without a test set of their own: one record in so many


class Missing(Exception):
    """The file that a set needs and that is not there."""


class DataSet:
    def __init__(self, words, rows, scored, progressive=False, noiseless=()):
        self.words, self.progressive, self.noiseless = words, progressive, list(noiseless)
        constant = 1 if "--intercept" in words else 0
        self.explains = "--loss" in words  # labels are numbers: what counts is the share of their variance that is explained
        self.larger_class = 0 if self.explains else self.share_of_larger(scored)
        self.norm = median(math.sqrt(constant + math.fsum(v * v for v in row)) for row in rows)
        self.norm_l1 = median(constant + math.fsum(map(abs, row)) for row in rows)

    @staticmethod
    def share_of_larger(scored):
        classes = [label > 0 for label in scored]
        return 100 * max(sum(classes), len(classes) - sum(classes)) / len(classes)


class Place:
    """Where files are read and written: `data` has those of others, `scratch` those that are made."""

    def __init__(self, data, scratch, starling, quick):
        self.data, self.scratch, self.starling, self.quick = data, scratch, starling, quick

    def file(self, name):
        path = self.data / name
        if not path.exists():
            raise Missing(path)
        return path

    def size(self, records):
        return min(records, 2000) if self.quick else records

    def exponential(self, clients):
        """The exponential graph over so many clients."""
        path = self.scratch / f"exponential-{clients}.topo"
        subprocess.run([self.starling, "topology", "make", "exponential", "--clients", str(clients), "--output", str(path)],
                       check=True, capture_output=True)
        return ["--clients", clients, "--topology", path]

    def table(self, name, labels, rows):
        """A CSV file of records with the label in the column y."""
        path = self.scratch / f"{name}.csv"
        experiment.write_csv(path, ["y", *(f"x{k}" for k in range(len(rows[0])))],
                             ([label, *(f"{v:.5g}" for v in row)] for label, row in zip(labels, rows)))
        return path

    def constants(self, name, values):
        """Words that standardise features by public constants, a (mean, deviation) for each."""
        path = self.scratch / f"{name}-constants.csv"
        experiment.write_csv(path, ["feature", "mean", "sd"], ([k, *both] for k, both in enumerate(values)))
        return ["--standardise", path]

    def split(self, name, labels, rows, test, more=("--intercept",), seen=lambda row: row, noiseless=()):
        """A set of the records, of which those at the places `test` are held out; `more`: further words, and what models
        then see of a row; `noiseless`: words where there is no noise."""
        held = [i for i in range(len(rows)) if test(i)]
        kept = [i for i in range(len(rows)) if not test(i)]
        parts = [([labels[i] for i in part], [rows[i] for i in part]) for part in (kept, held)]
        train, held_out = (self.table(f"{name}-{what}", *part) for what, part in zip(("train", "test"), parts))
        dealt = ["--partition", "iid"] if "--loss" in more else [*SKEWED, "--positive", 1]
        return DataSet([*FIVE, *dealt, "--source", train, "--test", held_out, "--label", "y",
                        *more], [seen(row) for row in parts[0][1]], parts[1][0], noiseless=noiseless)


def opened(path):
    try:
        with gzip.open(path, "rt") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as error:
        experiment.fail(f"{path} cannot be read: {error}")


def number(text, path):
    try:
        return float(text)
    except ValueError:
        return experiment.fail(f"{path} has '{text}' where a number should stand")


def a9a(place, graph=None, more=()):
    train, test = place.file("a9a/a9a.gz"), place.file("a9a/a9a.t.gz")
    rows = [[number(pair.split(":")[-1], train) for pair in line.split()[1:]] for line in opened(train)]
    scored = [number(line.split()[0], test) for line in opened(test)]
    return DataSet([*(graph or FIVE), *SKEWED, "--source", train, "--test", test, "--format", "svmlight", "--dimension", 123,
                    "--intercept", *more], rows, scored)


def a9a_in(*words):
    return lambda place: a9a(place, more=words)


def a9a_over(clients):
    return lambda place: a9a(place, place.exponential(clients))


def standardised(row, constants):
    return [(v - centre) / deviation for v, (centre, deviation) in zip(row, constants)]


def elec2(place, constants=None):
    data, labels = place.file("elec2/elec2_data.dat.gz"), place.file("elec2/elec2_label.dat.gz")
    rows = [[number(v, data) for k, v in enumerate(line.split()) if k not in (0, 3)] for line in opened(data)]
    words = []
    if constants:
        words, rows = place.constants("elec2", constants), [standardised(row, constants) for row in rows]
    # A drifting stream is to be tracked: some 3,000 rounds, of single records where there is no noise to average, and the
    # accuracy of predictions before labels are used.
    return DataSet([*FIVE, "--partition", "round-robin", "--source", f"{data},{labels}", "--drop", "0,3", "--intercept",
                    *words, "--batch", 3, "--metrics", "shared"], rows, [number(line, labels) for line in opened(labels)], True,
                   ["--batch", 1])


def elec2_standardised(place):
    """Constants that need no look at the data: a day of the week, and five numbers between 0 and 1."""
    return elec2(place, [(4, 2), *[(0.5, 0.3)] * 5])


def columns(path):
    """{id: the other numbers of its row} of a CSV file with a line of names."""
    lines = csv.reader(opened(path))
    next(lines, None)
    return {row[0]: [number(v, path) for v in row[1:]] for row in lines}


def of_two_parties(name, label, more=("--intercept",)):
    """Two tables with an id each, joined; the first has the label in its first column."""
    def made(place):
        guest, host = (columns(place.file(f"vfl_fate/{name}_hetero_{party}.csv.gz")) for party in ("guest", "host"))
        ids = [key for key in guest if key in host]
        return place.split(name, [label(guest[key][0]) for key in ids], [guest[key][1:] + host[key] for key in ids],
                           lambda i: i % HELD_OUT == 0, more)
    return made


def direction(draw, d, length):
    values = [draw.gauss(0, 1) for _ in range(d)]
    scale = length / math.hypot(*values)
    return [scale * v for v in values]


def logistic(name, d, length, feature, records=32_500, factors=None, known=False, more=("--intercept",)):
    """Labels with odds exp(w x) of features that `feature` draws; w has a random direction. Files have the features times
    `factors`; these are `known` if the run takes them off again as public constants."""
    def made(place):
        draw = random.Random(f"learning {name}")
        w = direction(draw, d, length)
        count, held = place.size(records), place.size(10_000)
        labels, rows = [], []
        for _ in range(count + held):
            row = [feature(draw) for _ in range(d)]
            score = math.fsum(a * b for a, b in zip(w, row))
            labels.append(1 if draw.random() * (1 + math.exp(-score)) < 1 else -1)
            rows.append([a * b for a, b in zip(row, factors)] if factors else row)
        if not known:
            return place.split(name, labels, rows, lambda i: i >= count, more)
        constants = [(0, factor) for factor in factors]
        return place.split(name, labels, rows, lambda i: i >= count, [*more, *place.constants(name, constants)],
                           lambda row: standardised(row, constants))
    return made


def normal(draw):
    return draw.gauss(0, 1)


def heavy_tailed(draw):
    """Student's t with 3 degrees of freedom."""
    return draw.gauss(0, 1) / math.sqrt(draw.gammavariate(1.5, 2) / 3)


# Units of twenty features whose deviations go from 1/30 to 30.
UNITS = [30 ** (2 * k / 19 - 1) for k in range(20)]


def rare(place, d=20, share=0.05, apart=3):
    """One positive in twenty: normal records about a centre that is `apart` deviations from that of the others."""
    draw = random.Random("learning rare")
    centre = direction(draw, d, apart)
    count, held = place.size(32_500), place.size(10_000)
    labels = [1 if draw.random() < share else -1 for _ in range(count + held)]
    rows = [[draw.gauss(c if label > 0 else 0, 1) for c in centre] for label in labels]
    return place.split("rare", labels, rows, lambda i: i >= count)


def shell(place, d=10):
    """Whether a normal record is farther from the origin than half of them, which no line tells: for a network. Without noise
    it has no rule, and settings by hand."""
    draw = random.Random("learning shell")
    count, held = place.size(32_500), place.size(10_000)
    rows = [[draw.gauss(0, 1) for _ in range(d)] for _ in range(count + held)]
    squares = [math.fsum(v * v for v in row) for row in rows]
    middle = median(squares)
    labels = [1 if square > middle else -1 for square in squares]
    return place.split("shell", labels, rows, lambda i: i >= count, more=("--model", f"mlp:{d}-32-1"),
                       noiseless=("--epochs", 16, "--batch", 25, "--step", 0.5, "--step-decay", "linear"))


def sparse(name, d, more):
    """Labels with odds exp(w x) of normal features; w has 2.5, 1.5 and 1 in three places, else 0: a simplex of mass 5 has it."""
    def made(place):
        draw = random.Random(f"learning {name}")
        count, held = place.size(32_500), place.size(10_000)
        rows = [[draw.gauss(0, 1) for _ in range(d)] for _ in range(count + held)]
        scores = [2.5 * row[0] + 1.5 * row[1] + row[2] for row in rows]
        labels = [1 if draw.random() * (1 + math.exp(-score)) < 1 else -1 for score in scores]
        return place.split(name, labels, rows, lambda i: i >= count, more)
    return made


def regression(name, d, feature, loss="squared", size=1.0):
    """Labels w x + e of features that `feature` draws, times `size`; |w| = 1 in a random direction, e standard normal."""
    def made(place):
        draw = random.Random(f"learning {name}")
        w = direction(draw, d, 1)
        count, held = place.size(32_500), place.size(10_000)
        rows = [[feature(draw) for _ in range(d)] for _ in range(count + held)]
        labels = [f"{size * (math.fsum(a * b for a, b in zip(w, row)) + draw.gauss(0, 1)):.5g}" for row in rows]
        return place.split(name, labels, rows, lambda i: i >= count, ["--intercept", "--loss", loss])
    return made


def demand(place):
    """Demand for electricity in one state from the day, the time, the other state's price and demand, and the exchange
    of both, all standardised by the constants of elec2_standardised."""
    data = place.file("elec2/elec2_data.dat.gz")
    table = [[number(v, data) for v in line.split()] for line in opened(data)]
    rows = [[(row[1] - 4) / 2, *((row[k] - 0.5) / 0.3 for k in (2, 5, 6, 7))] for row in table]
    return place.split("demand", [f"{(row[4] - 0.5) / 0.3:.5g}" for row in table], rows, lambda i: i % HELD_OUT == 0,
                       ["--intercept", "--loss", "squared"])


# Name: (title, how it is made).
SETS = {
    "a9a": ("a9a, 5 clients", a9a),
    "a9a-16": ("a9a, 16 clients, exponential graph", a9a_over(16)),
    "a9a-64": ("a9a, 64 clients, exponential graph", a9a_over(64)),
    "isotropic-20": ("isotropic logistic, 20 features", logistic("isotropic-20", 20, 2.9, normal)),
    "isotropic-100": ("isotropic logistic, 100 features", logistic("isotropic-100", 100, 2.9, normal)),
    "credit": ("credit default, 23 features", of_two_parties("default_credit", lambda y: 1 if y > 0 else -1)),
    "elec2": ("elec2, progressive", elec2),
    "elec2-scaled": ("elec2, standardised by public constants", elec2_standardised),
    "visits": ("visits to a doctor, 5,190 records", of_two_parties("dvisits", lambda y: 1 if y > 0 else -1)),
    "heavy-tails": ("heavy tails, 30 features", logistic("heavy-tails", 30, 2, heavy_tailed)),
    "rare": ("one positive in twenty, 20 features", rare),
    "units": ("features in unequal units, 20 features", logistic("units", 20, 2.9, normal, factors=UNITS)),
    "units-known": ("the same, standardised by public constants", logistic("units", 20, 2.9, normal, factors=UNITS, known=True)),
    "short": ("short records, 20 features of 1/100", logistic("short", 20, 2.9, normal, factors=[0.01] * 20, more=())),
    "shell": ("a shell, 10 features, by a network of 385 numbers", shell),
    "simplex-20": ("three of 20 features matter, entropic on a simplex",
                   sparse("simplex-20", 20, ["--mirror", "entropic", "--domain", "simplex:5"])),
    "simplex-100": ("three of 100 features matter, entropic on a simplex",
                    sparse("simplex-100", 100, ["--mirror", "entropic", "--domain", "simplex:5"])),
    "simplex-euclidean": ("three of 20 features matter, Euclidean on a simplex",
                          sparse("simplex-euclidean", 20, ["--domain", "simplex:5"])),
    "a9a-ball": ("a9a in a ball of radius 10", a9a_in("--domain", "ball:10")),
    "a9a-signed": ("a9a, entropic-signed in an L1 ball of radius 10",
                   a9a_in("--mirror", "entropic-signed", "--domain", "l1ball:10")),
    "linear-20": ("linear regression, 20 features", regression("linear-20", 20, normal)),
    "linear-100": ("linear regression, 100 features", regression("linear-100", 100, normal)),
    "huber": ("heavy tails, labels times 30, huber loss", regression("huber", 20, heavy_tailed, "huber", 30)),
    "demand": ("demand for electricity, 5 features", demand),
    "visits-count": ("number of visits to a doctor, 5,190 records",
                     of_two_parties("dvisits", lambda y: y, ["--intercept", "--loss", "squared"])),
}
