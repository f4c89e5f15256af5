#!/usr/bin/env python3
"""Draws figures 3 to 9 of "Online federated learning framework for classification" (renewable estimation of the
distance-weighted discriminant), and judges what its text says of them.

The paper prints curves and no numbers, and does not say at which values of a parameter it measured: the values on the
axes are ours. Everything else is the paper's: 20 clients, 50 features, mu = 0.2, sigma = 1, 100 batches, q = 1,
epsilon = 0.8, delta = 1e-5, four positive records to a negative one but in figures 3 and 4, and a balanced test set.
Batches of 20 records per client, lambda = 0.1 and the four methods are those of renewable.py.

  fig3   batches b            fig6   features p         fig8   lambda, and q
  fig4   clients M            fig7   ratio of classes   fig9   epsilon, and delta
  fig5   mu

Times are of whole runs, records drawn on the way included, while others run beside them. 20 runs per point take seven
minutes on two cores; the paper has 100. Bands are one standard deviation of a run to either side, as a single run has it.

OffNP is the minimum that R's package kerndwd finds, whose penalty is lambda |slopes|^2 with no half and no intercept: its
lambda is twice that of the others, which have (lambda / 2) |theta|^2 on all coefficients.

Equal arguments give equal figures, but for times. Writes points.csv, claims.csv, and for each figure the pictures
FIGURE-accuracy and FIGURE-time.
"""

import shutil
import statistics
import sys
import tempfile

import experiment
from experiment import FAILS, HOLDS, mean
from renewable import BATCH, VARIANTS, simulation_arguments

METHODS = tuple(VARIANTS)  # OffNP, OffWP, OnWP, OnWDP
USUAL = {"b": 100, "M": 20, "mu": 0.2, "p": 50, "ratio": 4, "lambda": 0.1, "q": 1, "epsilon": 0.8, "delta": 1e-5}
BALANCED = {"ratio": 1}
# By figure: what differs from USUAL, and the axes with their values.
FIGURES = {
    "fig3": (BALANCED, {"b": (25, 50, 100, 200, 400)}),
    "fig4": (BALANCED, {"M": (5, 10, 20, 40, 80)}),
    "fig5": ({}, {"mu": (0.1, 0.15, 0.2, 0.25, 0.3)}),
    "fig6": ({}, {"p": (10, 20, 50, 100, 150)}),
    "fig7": ({}, {"ratio": (1, 2, 4, 6, 8)}),
    "fig8": ({}, {"lambda": (0.01, 0.03, 0.1, 0.3, 1), "q": (0.01, 0.1, 1, 10, 100)}),
    "fig9": ({}, {"epsilon": (0.1, 0.2, 0.4, 0.8, 1.6), "delta": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)}),
}
LOGARITHMIC = {"b", "M", "p", "lambda", "q", "epsilon", "delta"}


class Point:
    """One method at one value of an axis."""

    def __init__(self, figure, axis, value, method):
        self.figure, self.axis, self.value, self.method = figure, axis, value, method
        self.setting = {**USUAL, **FIGURES[figure][0], axis: value}
        self.accuracies, self.seconds = [], []

    def command(self, seed, options):
        s = self.setting
        features = f"synthetic:two-gaussians:p={s['p']},mu={s['mu']},sigma=1"
        batches = min(s["b"], options.batches or s["b"])
        words = ["--config", "jobs/renewable-table1.ini", "--clients", s["M"], "--loss", f"dwd:{s['q']}", "--l2", s["lambda"],
                 "--source", f"{features},ratio={s['ratio']}/1,n={BATCH * batches}",
                 "--test", f"{features},ratio=1/1,n={options.test_records}", "--seed", seed, *VARIANTS[self.method]]
        if self.method == "OnWDP":
            words += ["--epsilon", s["epsilon"], "--delta", s["delta"]]
        if self.method == "OffNP":
            words += ["--l2", 2 * s["lambda"]]  # the package's penalty is twice as heavy
        return words

    def work(self):
        passes = 15 if self.method == "OffNP" else 1
        return self.setting["M"] * self.setting["b"] * self.setting["p"] ** 2 * passes

    def accuracy(self):
        return mean(self.accuracies)

    def spread(self):
        """Standard deviation of one run."""
        return statistics.pstdev(self.accuracies)

    def row(self):
        return [self.figure, self.axis, self.value, self.method, len(self.accuracies), f"{self.accuracy():.2f}",
                f"{experiment.error_of_mean(self.accuracies):.2f}", f"{mean(self.seconds):.3f}"]


HEADER = ["figure", "axis", "value", "method", "runs", "accuracy", "error", "seconds"]


def seeds(options):
    return range(1, options.replications + 1)


def measure(runs, options):
    points = [Point(figure, axis, value, method) for figure in options.figures for axis, values in FIGURES[figure][1].items()
              for value in values for method in METHODS]
    # Axes share the usual point, and what has no noise does not change along those of fig9: equal commands run once.
    tasks = {tuple(map(str, point.command(seed, options))): point.work() for point in points for seed in seeds(options)}

    def run(words, name):
        summary = runs.run(name, words)
        shutil.rmtree(runs.scratch / name)
        return 100 * summary["metrics"]["test_accuracy"], summary["time"]["wall"]

    order = sorted(tasks, key=lambda words: -tasks[words])  # long runs first: no core idles at the end
    found = dict(zip(order, experiment.in_parallel(options.workers, [lambda words=words, name=f"run-{i}": run(words, name)
                                                                     for i, words in enumerate(order)])))
    for point in points:
        for seed in seeds(options):
            accuracy, seconds = found[tuple(map(str, point.command(seed, options)))]
            point.accuracies.append(accuracy)
            point.seconds.append(seconds)
    return points


class Curves:
    """Accuracies and times of one axis of a figure, by method, in the order of the axis."""

    def __init__(self, points, figure, axis):
        mine = [point for point in points if (point.figure, point.axis) == (figure, axis)]
        self.values = FIGURES[figure][1][axis]
        self.accuracy = {m: [point.accuracy() for point in mine if point.method == m] for m in METHODS}
        self.bands = {m: [point.spread() for point in mine if point.method == m] for m in METHODS}
        self.seconds = {m: [mean(point.seconds) for point in mine if point.method == m] for m in METHODS}

    def spread(self, method):
        return max(self.accuracy[method]) - min(self.accuracy[method])

    def gaps(self, method, other):
        return [a - b for a, b in zip(self.accuracy[method], self.accuracy[other])]


def growth(curves, method):
    return curves.seconds[method][-1] / curves.seconds[method][0]


def alike(curves):
    """Greatest difference between methods at one point."""
    return max(max(column) - min(column) for column in zip(*curves.accuracy.values()))


def claims_of(figure, curves):
    """What the text says of the figure: (claim, ours, whether it holds)."""
    first = next(iter(curves.values()))
    if figure in ("fig3", "fig4"):
        yield "all four methods are about equally right (balanced)", f"within {alike(first):.1f} points", alike(first) <= 1.5
        off, on = growth(first, "OffNP"), growth(first, "OnWP")
        yield "time grows faster for OffNP than for OnWP", f"{off:.1f} and {on:.1f} times", off > on
    if figure in ("fig5", "fig6", "fig7"):
        least = min(min(first.gaps(m, "OffNP")) for m in ("OnWP", "OnWDP"))
        yield "OnWP and OnWDP are right more often than OffNP", f"by {least:+.1f} points or more", least > -0.3
        least = min(first.gaps("OffWP", "OffNP"))
        yield "so is OffWP", f"by {least:+.1f} points or more", least > -0.3
    if figure == "fig7":
        gaps = first.gaps("OnWP", "OffNP")
        yield "the gap widens as classes get more unequal", f"from {gaps[0]:.1f} to {gaps[-1]:.1f} points", gaps[-1] > gaps[0] + 1
    if figure == "fig8":
        for axis, each in curves.items():
            most = max(each.spread("OnWP"), each.spread("OnWDP"))
            yield f"OnWP and OnWDP do not depend on {axis}", f"range {most:.1f} points", most <= 1
    if figure == "fig9":
        of_epsilon = dict(zip(curves["epsilon"].values, curves["epsilon"].accuracy["OnWDP"]))
        usual = of_epsilon[USUAL["epsilon"]]
        yield "OnWDP: little change for epsilon above 0.4", f"{usual - of_epsilon[0.4]:+.1f} points", usual - of_epsilon[0.4] <= 2
        yield "OnWDP: a noticeable decrease towards epsilon = 0.2", f"{of_epsilon[0.2] - usual:+.1f} points", of_epsilon[0.2] < usual - 1
        most = curves["delta"].spread("OnWDP")
        yield "OnWDP does not depend on delta", f"range {most:.1f} points", most <= 1


def show(figure, curves):
    for axis, each in curves.items():
        print(f"\n{figure}: accuracy in % (seconds)")
        print(f"{axis:>8} " + " ".join(f"{method:>14}" for method in METHODS))
        for k, value in enumerate(each.values):
            cells = [f"{each.accuracy[m][k]:6.2f} ({each.seconds[m][k]:.2f})" for m in METHODS]
            print(f"{value:>8} " + " ".join(f"{cell:>14}" for cell in cells))


def draw(folder, figure, curves):
    for axis, each in curves.items():
        name = figure if len(curves) == 1 else f"{figure}-{axis}"
        log = ["set logscale x"] if axis in LOGARITHMIC else []
        experiment.draw_curves(folder, f"{name}-accuracy", (f"{name}: accuracy", axis, "%"),
                               {m: (each.values, each.accuracy[m], each.bands[m]) for m in METHODS}, log)
        experiment.draw_curves(folder, f"{name}-time", (f"{name}: time of a run", axis, "seconds"),
                               {m: (each.values, each.seconds[m]) for m in METHODS}, [*log, "set logscale y"])


def main():
    parser = simulation_arguments(__doc__, "results-renewable-figures", replications=20, of="point")
    parser.add_argument("--figures", metavar="WHICH", type=experiment.names_of(FIGURES), default=list(FIGURES),
                        help=f"figures, separated by commas ({','.join(FIGURES)})")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="renewable-") as scratch:
        points = measure(experiment.Runs(starling, scratch, "renewable"), options)
    rows = []
    for figure in options.figures:
        curves = {axis: Curves(points, figure, axis) for axis in FIGURES[figure][1]}
        show(figure, curves)
        draw(folder, figure, curves)
        for claim, ours, holds in claims_of(figure, curves):
            rows.append([figure, claim, ours, HOLDS if holds else FAILS])
            print(f"  {claim}: {ours}: {rows[-1][-1]}")
    experiment.write_csv(folder / "points.csv", HEADER, [point.row() for point in points])
    experiment.write_csv(folder / "claims.csv", ["figure", "claim", "ours", "verdict"], rows)
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
