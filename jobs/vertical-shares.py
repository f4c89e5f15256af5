#!/usr/bin/env python3
"""Two real parties on shares, beside embeddings and beside a server that all trust: the figures of docs/methods/shares.md.

  jobs/vertical-shares.py --data FOLDER                        # credit default at epsilon .3, 1, 3 and without noise: three minutes
  jobs/vertical-shares.py --data FOLDER --sets breast,vehicle,motor --prices 1,3,10,none
  jobs/vertical-shares.py --data FOLDER --runs 1 --records 3000 --methods shares

FOLDER has NAME_hetero_guest.csv.gz and NAME_hetero_host.csv.gz of the sets (FATE's examples/data). Records whose id's SHA-256 is divisible
by five are held out; --records keeps so many of the others, the first ones. Each run has noise of its own. The methods are
  shares      starling vertical --protocol shares
  central     the same rule on the joined table in doubles, standardised, with one Gaussian noise in each sum: needs numpy
  embeddings  starling vertical --protocol embeddings, networks d-32-8, one pass
  omd         starling omd on the joined table, in the hands of one who is trusted
  alone       the same on the columns of the party with the labels alone
Prints the figure that is held out, the AUC, accuracy or R2, and what the runs on shares foretold, and writes shares.csv. Where shares and
central both run without noise, it prints how far their coefficients are apart at most (needs h5py).
"""

import argparse
import gzip
import hashlib
import json
import math
import pathlib
import subprocess
import tempfile

import experiment

ROUNDS, BALL, DEGREE, MOMENTUM, LARGEST_LABEL = 64, 3, 7, 0.8, 3  # of the rule
PARTIES = ("guest", "host")


class Table:
    """A set of FATE: names of its columns, its loss, and the figure that counts."""

    def __init__(self, name, loss, figure, id="id", label="y", classes=2):
        self.name, self.loss, self.figure, self.id, self.label, self.classes = name, loss, figure, id, label, classes

    def split(self, folder, scratch, party, records):
        header, *rows = gzip.open(folder / f"{self.name}_hetero_{party}.csv.gz", "rt").read().splitlines()
        place = header.split(",").index(self.id)
        of_id = {row: int(hashlib.sha256(row.split(",")[place].encode()).hexdigest(), 16) % 5 == 0 for row in rows}
        learned = [row for row in rows if not of_id[row]]
        for kind, lines in (("train", learned[:records or None]), ("test", [row for row in rows if of_id[row]])):
            (scratch / f"{party}-{kind}.csv").write_text("\n".join([header, *lines]) + "\n")

    def joined(self, scratch, kind):
        """Columns of each party in the order of ids, and the labels."""
        rows, labels = [], {}
        for party in PARTIES:
            header, *lines = [line.split(",") for line in (scratch / f"{party}-{kind}.csv").read_text().splitlines()]
            places = [j for j, name in enumerate(header) if name not in (self.id, self.label)]
            rows.append({line[header.index(self.id)]: [float(line[j]) for j in places] for line in lines})
            if self.label in header:
                labels = {line[header.index(self.id)]: float(line[header.index(self.label)]) for line in lines}
        order = sorted(labels)
        return [[of_party[key] for key in order] for of_party in rows], [labels[key] for key in order]


TABLES = {"credit": Table("default_credit", "logistic", "auc"),
          "breast": Table("breast", "logistic", "auc"),
          "vehicle": Table("vehicle_scale", "softmax:4", "accuracy", classes=4),
          "motor": Table("motor", "squared", "r2", id="idx", label="motor_speed", classes=1)}


class Bench:
    def __init__(self, starling, table, scratch):
        self.starling, self.table, self.scratch = starling, table, scratch
        self.coefficients = self.of_central = None

    def vertical_run(self, price, *words):
        return self.starling_run(price, "vertical", "--clients", "2", "--parties", "guest-train.csv,host-train.csv", "--test",
                                 "guest-test.csv,host-test.csv", "--id", self.table.id, "--label", self.table.label, *words)

    def starling_run(self, price, *words):
        noise = ["none"] if price == "none" else ["gaussian", "--total-epsilon", price, "--delta", "1e-5"]
        with tempfile.TemporaryDirectory(dir=self.scratch) as run:
            done = subprocess.run([self.starling, *words, "--mechanism", *noise, "--progress", "off", "--json", "--output", f"{run}/run"],
                                  cwd=self.scratch, capture_output=True, text=True)
            if "shares" in words and price == "none" and done.returncode == 0:
                self.keep_model(f"{run}/run/model.h5")
        if "a network is not finite" in done.stderr:
            return None
        if done.returncode != 0:
            experiment.fail(done.stderr.strip())
        return json.loads(done.stdout)

    def shares(self, price):
        summary = self.vertical_run(price, "--protocol", "shares", "--loss", self.table.loss, "--networks", "shared")
        outlook = [note for note in summary["notes"] if note.startswith("outlook: ")]
        return summary["metrics"]["test"][self.table.figure], outlook[0] if outlook else ""

    def omd(self, price):
        return self.one_table(price, len(PARTIES))

    def alone(self, price):
        return self.one_table(price, 1)

    def one_table(self, price, parties):
        """Of the first parties, the guest having the labels. Labels stand last."""
        for kind in ("train", "test"):
            rows, labels = self.table.joined(self.scratch, kind)
            lines = [",".join(str(value) for of_party in rows[:parties] for value in of_party[i]) + f",{label:g}" for i, label in enumerate(labels)]
            (self.scratch / f"{parties}-{kind}.csv").write_text("\n".join(lines) + "\n")
        summary = self.starling_run(price, "omd", "--clients", "1", "--source", f"{parties}-train.csv", "--test", f"{parties}-test.csv",
                                    "--loss", self.table.loss)
        return summary["metrics"]["test"][self.table.figure], ""

    def keep_model(self, path):
        try:
            import h5py
        except ImportError:
            return
        with h5py.File(path) as file:
            layers = [file[f"party/{k}/parameters/1-dense"] for k in (1, 2)]
            self.coefficients = [(layer["weights"][()], layer["bias"][()]) for layer in layers]

    def distance(self):
        """The largest difference of coefficients of shares and central, without noise; none where one of them is not there."""
        if self.coefficients is None or self.of_central is None:
            return None
        (first, intercept), (second, _) = self.coefficients
        own = [[*first.reshape(-1, first.shape[-1]), intercept], second]
        return max(abs(a - b).max() for mine, other in zip(own, self.of_central) for a, b in zip(mine, other))

    def embeddings(self, price):
        loss = "mse" if self.table.classes == 1 else "softmax"
        summary = self.vertical_run(price, "--protocol", "embeddings", "--loss", loss, "--feature-net", "d-32-8", "--head",
                                    f"d-8-{self.table.classes}", "--batch", "20", "--step", "0.2" if self.table.classes > 1 else "0.03")
        return (math.nan, "noise drives the networks out of bounds") if summary is None else (summary["metrics"]["test"][self.table.figure], "")

    def central(self, price):
        """The rule of docs/methods/shares.md in one place: rows clipped party by party, the slope's polynomial, one noise."""
        import numpy

        rows, y = self.table.joined(self.scratch, "train")
        rows, y = [numpy.array(x) for x in rows], numpy.array(y)
        units = [(x.mean(axis=0), x.std(axis=0) + (x.std(axis=0) == 0)) for x in rows]
        rows = [(x - mean) / deviation for x, (mean, deviation) in zip(rows, units)]
        classes = self.table.classes if self.table.classes > 2 else 1
        centre, size = (y.mean(), y.std()) if self.table.classes == 1 else (0, 1)
        y = (y - centre) / size
        mean = (classes - 1) / classes if classes > 1 else 1
        bounds = [math.sqrt((x.shape[1] + 1) / 2) for x in rows]
        whole = math.hypot(*bounds)
        balls = [BALL * mean * max(bound / whole, 1 / math.sqrt(len(bounds))) for bound in bounds]
        scale = sum(bound * ball for bound, ball in zip(bounds, balls)) + (LARGEST_LABEL if self.table.classes == 1 else 0)

        def slope(u):
            return u * scale if self.table.classes == 1 else 1 / (1 + max(classes - 1, 1) * numpy.exp(-u * scale / mean))

        degree = 1 if self.table.classes == 1 else DEGREE
        polynomial = numpy.polynomial.Chebyshev.interpolate(slope, degree)
        grid = polynomial(numpy.linspace(-1, 1, 65537))
        most = max(abs(grid).max(), 0 if self.table.classes == 1 else abs(grid - 1).max())
        if classes > 1:
            most = math.hypot(math.sqrt(classes - 1) * abs(grid).max(), abs(grid - 1).max())
        steepest = abs(numpy.diff(grid)).max() * 32768
        step = scale / (steepest * whole * whole)
        targets = numpy.eye(classes)[y.astype(int)] if classes > 1 else y[:, None]
        noise = 0 if price == "none" else 2 * most * whole * math.sqrt(ROUNDS) / experiment.privacy(
            self.starling, "calibrate", releases=1, epsilon=price, delta="1e-5")["mu"]
        clipped = [self.clipped(numpy, x, bound, k == 0) for k, (x, bound) in enumerate(zip(rows, bounds))]
        draw = numpy.random.default_rng()
        w = [numpy.zeros((x.shape[1], classes)) for x in clipped]
        v, total = [numpy.zeros_like(each) for each in w], [numpy.zeros_like(each) for each in w]
        for t in range(ROUNDS):
            score = sum(x @ each for x, each in zip(clipped, w))
            s = polynomial((score - numpy.clip(targets, -LARGEST_LABEL, LARGEST_LABEL)) / scale) if self.table.classes == 1 else \
                polynomial(score / scale) - targets
            for k, x in enumerate(clipped):
                v[k] = MOMENTUM * v[k] + (x.T @ s + noise * draw.normal(size=w[k].shape)) / len(y)
                w[k] = w[k] - step * v[k]
                ball = balls[k]
                if classes > 1:
                    w[k] -= w[k].mean(axis=1, keepdims=True)
                    ball *= math.sqrt(classes / (classes - 1))
                w[k] *= min(1, ball / max(numpy.linalg.norm(w[k]), 1e-300))
                if t >= ROUNDS // 2:
                    total[k] += w[k]
        if price == "none":
            self.of_central = [each / (ROUNDS - ROUNDS // 2) for each in total]
        rows, y = self.table.joined(self.scratch, "test")
        rows = [(numpy.array(x) - mean) / deviation for x, (mean, deviation) in zip(rows, units)]
        score = sum(self.clipped(numpy, x, bound, k == 0) @ of_party
                    for k, (x, bound, of_party) in enumerate(zip(rows, bounds, total))) / (ROUNDS - ROUNDS // 2)
        return self.figure_of(numpy, centre + size * score, numpy.array(y)), ""

    @staticmethod
    def clipped(numpy, x, bound, has_one):
        length = numpy.sqrt((x * x).sum(axis=1) + 1)
        x = numpy.column_stack([x, numpy.ones(len(x))]) if has_one else x
        return x * numpy.minimum(1, bound / length)[:, None]

    def figure_of(self, numpy, score, y):
        if self.table.figure == "accuracy":
            return float((score.argmax(axis=1) == y).mean())
        if self.table.figure == "r2":
            return float(1 - ((score[:, 0] - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())
        order = score[:, 0].argsort(kind="stable")
        ranks = numpy.empty(len(y))
        ranks[order] = numpy.arange(1, len(y) + 1)
        positive = y > 0
        return float((ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / (positive.sum() * (~positive).sum()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starling", help="the program; default: that of the build, else of the path")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the tables")
    parser.add_argument("--sets", type=experiment.names_of(TABLES), default=["credit"], help="of " + ", ".join(TABLES) + " [credit]")
    parser.add_argument("--methods", type=experiment.names_of(("shares", "central", "embeddings", "omd", "alone")), default=["shares", "central", "embeddings"],
                        help="of shares, central, embeddings, omd, alone [the first three]")
    parser.add_argument("--prices", default=".3,1,3,none", help="epsilons in all, or none [.3,1,3,none]")
    parser.add_argument("--runs", type=experiment.positive, default=3, help="runs at each price [3]")
    parser.add_argument("--records", type=experiment.positive, help="records to learn from; default: all")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder for shares.csv [.]")
    chosen = parser.parse_args()
    starling = experiment.find_starling(chosen.starling)
    starling = str(pathlib.Path(starling).resolve()) if "/" in str(starling) else starling
    lines = []
    for name in chosen.sets:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(starling, TABLES[name], pathlib.Path(folder))
            for party in PARTIES:
                bench.table.split(chosen.data, bench.scratch, party, chosen.records)
            for price in chosen.prices.split(","):
                for method in chosen.methods:
                    found = [getattr(bench, method)(price) for _ in range(chosen.runs)]
                    print(f"{name:>8} {method:>10} epsilon {price:>4}: {bench.table.figure} "
                          f"{' '.join(f'{figure:.4f}' for figure, _ in found)}  {found[0][1]}", flush=True)
                    lines += [(name, method, price, number, figure) for number, (figure, _) in enumerate(found, 1)]
            if (distance := bench.distance()) is not None:
                print(f"{name:>8} coefficients without noise: shares and central are {distance:.2g} apart at most", flush=True)
    chosen.output.mkdir(parents=True, exist_ok=True)
    experiment.write_csv(chosen.output / "shares.csv", ("set", "method", "epsilon", "run", "figure"), lines)


if __name__ == "__main__":
    main()
