"""The tables of tables.py, in their own units, and what the noise of a price allows on each.

They come with scikit-learn and with packages of R: kernlab, MASS, mlbench, modeldata, survival, AER and carData. Lines with gaps are
left out, and a text becomes a column of 0 and 1 for each of its values but the first.
"""

import csv
import io
import math
import random
import shutil
import subprocess

import numpy as np

HELD_OUT = 5  # one record in so many is tested on
CLIENTS = 5
PASSES = 32
DRAWS = 2000  # of the noise in a constant
CLIP = 5  # deviations, of private learning
FITTING = 2000  # steps
STEPS = [2.0 ** k for k in range(-9, 6)]


class Missing(Exception):
    """The package that a table needs and that is not there."""


def of_sklearn(loader):
    def made():
        try:
            from sklearn import datasets
        except ImportError:
            raise Missing("scikit-learn (python3-sklearn)") from None
        found = getattr(datasets, f"load_{loader}")()
        if loader == "diabetes":  # the loader's own scaling is not that of the table
            found = datasets.load_diabetes(scaled=False)
        return np.asarray(found.data, float), list(found.target)
    return made


def of_r(package, table, label, without=(), change="d", numbers_only=False):
    """The column `label`, or the expression, of a table of R. `change` is an expression of the table d."""
    def made():
        if not shutil.which("Rscript"):
            raise Missing("Rscript (r-base-core)")
        drop = ", ".join(f'"{each}"' for each in without)
        script = f"""data(list="{table}", package="{package}"); d <- as.data.frame({table}); d <- {change}
            y <- with(d, {label}); d <- d[, setdiff(names(d), c({drop})), drop=FALSE]
            if ({str(numbers_only).upper()}) d <- d[, sapply(d, is.numeric), drop=FALSE]
            d <- droplevels(data.frame(d)); keep <- complete.cases(d) & !is.na(y); d <- droplevels(d[keep, , drop=FALSE])
            d <- d[, sapply(d, function(v) is.numeric(v) || length(unique(v)) > 1), drop=FALSE]
            x <- model.matrix(~ ., d)[, -1, drop=FALSE]
            write.csv(cbind(y=as.character(y[keep]), as.data.frame(x)), stdout(), row.names=FALSE)"""
        done = subprocess.run(["Rscript", "--vanilla", "-e", script], capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"R package {package} with {table} (r-cran-{package.lower()})")
        rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
        return np.array([[float(v) for v in row[1:]] for row in rows]), [row[0] for row in rows]
    return made


# name: (title, kind, table). Kinds: two classes, many classes, numbers.
TABLES = {
    "spam": ("spam", "two", of_r("kernlab", "spam", "type", ["type"])),
    "cancer": ("breast cancer", "two", of_sklearn("breast_cancer")),
    "pima": ("pima", "two", of_r("mlbench", "PimaIndiansDiabetes", "diabetes", ["diabetes"])),
    "churn": ("churn", "two", of_r("modeldata", "wa_churn", "churn", ["churn"])),
    "credit": ("credit status", "two", of_r("modeldata", "credit_data", "Status", ["Status"])),
    "cells": ("cells", "two", of_r("modeldata", "cells", "class", ["class", "case"])),
    "letters": ("letters, A to M or not", "two", of_r("mlbench", "LetterRecognition", "lettr %in% LETTERS[1:13]", ["lettr"])),
    "attrition": ("attrition", "two", of_r("modeldata", "attrition", "Attrition", ["Attrition"])),
    "hmda": ("mortgages denied", "two", of_r("AER", "HMDA", "deny", ["deny"])),
    "mroz": ("women at work", "two", of_r("carData", "Mroz", "lfp", ["lfp"])),
    "flchain": ("light chains, death", "two", of_r("survival", "flchain", "death", ["death", "futime", "chapter"])),
    "ionosphere": ("ionosphere", "two", of_r("mlbench", "Ionosphere", "Class", ["Class"])),
    "visits": ("visits to a doctor", "two", of_r("AER", "DoctorVisits", "visits > 0", ["visits"])),
    "satellite": ("satellite, 6 classes", "many", of_r("mlbench", "Satellite", "classes", ["classes"])),
    "vehicle": ("vehicles, 4 classes", "many", of_r("mlbench", "Vehicle", "Class", ["Class"])),
    "digits": ("digits, 10 classes", "many", of_sklearn("digits")),
    "wine": ("wine, 3 classes", "many", of_sklearn("wine")),
    "iris": ("iris, 3 classes", "many", of_sklearn("iris")),
    "ames": ("ames, log price", "numbers", of_r("modeldata", "ames", "log10(Sale_Price)", ["Sale_Price"], numbers_only=True)),
    "boston": ("boston", "numbers", of_r("MASS", "Boston", "medv", ["medv"])),
    "diabetes": ("diabetes", "numbers", of_sklearn("diabetes")),
    "chicago": ("chicago, riders", "numbers", of_r("modeldata", "Chicago", "ridership", change="d[, 1:21]", without=["ridership"])),
    "slid": ("slid, wages", "numbers", of_r("carData", "SLID", "wages", ["wages"])),
    "concrete": ("concrete", "numbers", of_r("modeldata", "concrete", "compressive_strength", ["compressive_strength"])),
    "diamonds": ("diamonds, log price", "numbers", of_r("ggplot2", "diamonds", "log(price)", ["price"], numbers_only=True)),
    "houses": ("houses", "numbers", of_r("AER", "HousePrices", "price", ["price"])),
}


class Table:
    """A table with its records in an order of its own, and one in HELD_OUT of them held out."""

    def __init__(self, name):
        self.name, (self.title, self.kind, made) = name, TABLES[name]
        rows, labels = made()
        order = list(range(len(labels)))
        random.Random(f"tables {name}").shuffle(order)
        rows, labels = rows[order], [labels[i] for i in order]
        if self.kind == "numbers":
            values = np.array(labels, float)
        else:
            classes = sorted(set(labels))
            values = np.array([classes.index(each) for each in labels], float)
            if self.kind == "two":
                values = 2 * values - 1
        self.classes = len(set(values)) if self.kind == "many" else 1
        test = np.arange(len(values)) % HELD_OUT == 0
        self.rows, self.labels, self.test_rows, self.test_labels = rows[~test], values[~test], rows[test], values[test]

    @property
    def answer(self):
        """The class that most records have."""
        values, counts = np.unique(self.labels, return_counts=True)
        return values[np.argmax(counts)]

    @property
    def constant(self):
        """What the best constant answer has: accuracy, or the share of variance explained, in percent."""
        return 0.0 if self.kind == "numbers" else 100 * float(np.mean(self.test_labels == self.answer))

    def score(self, scores):
        """Of predictions on the held-out records, in percent: accuracy, or the share of variance explained."""
        if self.kind == "numbers":
            return 100 * (1 - float(np.mean((self.test_labels - scores) ** 2) / np.var(self.test_labels)))
        if self.kind == "two":
            return 100 * float(np.mean((scores.ravel() > 0) == (self.test_labels > 0)))
        return 100 * float(np.mean(np.argmax(scores, axis=1) == self.test_labels))

    def write(self, folder):
        """The CSV files of the two parts. Features are x0, x1, ..., the label is y."""
        paths = []
        for part, rows, labels in (("train", self.rows, self.labels), ("test", self.test_rows, self.test_labels)):
            paths.append(folder / f"{self.name}-{part}.csv")
            with open(paths[-1], "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow([*(f"x{j}" for j in range(rows.shape[1])), "y"])
                writer.writerows([*(f"{v:.10g}" for v in row), f"{label:.10g}"] for row, label in zip(rows, labels))
        return paths

    def words(self):
        """Words of the model."""
        if self.kind == "many":
            return ["--loss", f"softmax:{self.classes}"]
        return ["--loss", "squared"] if self.kind == "numbers" else []


def slope_of_labels(scores, labels):
    """The slope of a logistic regression of labels -1 and 1 on scores: 1 where probabilities are what they should be, less where they
    are too extreme. Not a number where all scores are alike."""
    scores = np.asarray(scores, float)
    if scores.std() < 1e-6:
        return math.nan
    columns, model = np.stack([np.ones_like(scores), (scores - scores.mean()) / scores.std()]), np.zeros(2)
    for _ in range(50):
        odds = 1 / (1 + np.exp(-np.clip(model @ columns, -40, 40)))
        step = np.linalg.solve((columns * odds * (1 - odds)) @ columns.T + 1e-9 * np.eye(2), columns @ ((labels > 0) - odds))
        model += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    return float(model[1] / scores.std())


def standardised(train, test, clip):
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation == 0] = 1
    return [np.hstack([np.clip((part - mean) / deviation, -clip, clip), np.ones((len(part), 1))]) for part in (train, test)]


def slopes(kind, scores, labels):
    """Derivatives of the loss by the scores."""
    if kind == "numbers":
        return scores - labels[:, None]
    if kind == "two":
        return -labels[:, None] / (1 + np.exp(np.clip(labels[:, None] * scores, -50, 50)))
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    odds[np.arange(len(labels)), labels.astype(int)] -= 1
    return odds


def fitted(table):
    """What a linear model has that is fitted to all standardised records without noise, in percent: least squares, or logistic
    regression as scikit-learn does it by default."""
    train, test = standardised(table.rows, table.test_rows, math.inf)
    if table.kind == "numbers":
        return table.score(test @ np.linalg.lstsq(train, table.labels, rcond=None)[0])
    model = before = np.zeros((train.shape[1], table.classes))
    ridge = np.ones((train.shape[1], 1)) / len(train)
    ridge[-1] = 0  # the constant
    step = 2 / np.linalg.eigvalsh(train.T @ train / len(train))[-1]
    for t in range(FITTING):  # accelerated descent
        ahead = model + t / (t + 3) * (model - before)
        gradient = train.T @ slopes(table.kind, train @ ahead, table.labels) / len(train) + ridge * ahead
        before, model = model, ahead - step * gradient
    return table.score(test @ model)


def constant_allowed(table, mu, seed):
    """What the noise of the price allows a constant answer alone, in percent, a mean over DRAWS: counts of classes, or the mean of labels
    that are clipped to one deviation of an exact mean, with each client's own noise."""
    noise = np.random.default_rng(seed).standard_normal((DRAWS, max(table.classes, 2))) * math.sqrt(CLIENTS) / mu
    if table.kind == "numbers":
        centre, unit = table.labels.mean(), table.labels.std()
        return float(np.mean([table.score(centre + 2 * unit / len(table.labels) * each) for each in noise[:, 0]]))
    values, counts = np.unique(table.labels, return_counts=True)
    answers = values[np.argmax(counts + math.sqrt(2) * noise, axis=1)]
    return 100 * float(np.mean([np.mean(table.test_labels == value) * np.mean(answers == value) for value in values]) * len(values))


def allowed(table, mu, seed):
    """What the noise of the price allows: descent on the whole data, each client with its own noise, constants exact, and the step and the
    clip chosen on the test set, which no user could do. Best of all steps, in percent. mu: of a record in all; None: no noise."""
    train, test = standardised(table.rows, table.test_rows, CLIP)
    labels, unit = table.labels, 1.0
    if table.kind == "numbers":
        centre, unit = labels.mean(), labels.std()
        labels = (labels - centre) / unit
    lengths = np.linalg.norm(train, axis=1)
    typical, random_numbers = math.sqrt(train.shape[1]), np.random.default_rng(seed)
    passes = PASSES if mu else 300
    best = -math.inf
    for clip in (typical / 2, typical):
        noise = np.zeros((passes, train.shape[1], table.classes))
        if mu:
            deviation = 2 * clip * math.sqrt(passes) / mu * math.sqrt(CLIENTS) / len(train)
            noise = deviation * random_numbers.standard_normal(noise.shape)
        for step in STEPS:
            model = np.zeros((train.shape[1], table.classes))
            for t in range(passes):
                slope = slopes(table.kind, train @ model, labels)
                norms = np.linalg.norm(slope, axis=1) * lengths
                factor = np.minimum(1, clip / np.maximum(norms, 1e-12)) if mu else np.ones(len(norms))
                gradient = train.T @ (slope * factor[:, None]) / len(train) + noise[t]
                model -= step * (1 - t / passes if mu else 1) * gradient
                if not np.all(np.isfinite(model)) or np.abs(model).max() > 1e6:
                    break
            else:
                scores = test @ model
                best = max(best, table.score(scores.ravel() * unit + centre if table.kind == "numbers" else scores))
    return best
