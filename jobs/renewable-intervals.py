#!/usr/bin/env python3
"""How often intervals of renewable estimation under noise hold the truth: proposition 2 of "Online federated learning framework for
classification", for the private variants (`--standard-errors sandwich`).

Streams of two normal classes, 2:1, four features, four clients with 100 batches of 50 records, lambda = 0.1 C^2 on all
coefficients. `private` has mu = 1 for a record, C = 2 and 0.3 of the price for curvature, with noise of rank 0 (central) or of
each client (local). `private-paper` has epsilon = 0.8 and delta = 1e-5 for a release, as the paper's tables. The truth is the
minimum of the penalised objective over 400,000 records that are drawn here (rows scaled to C where the program scales them), which
is known ten times better than a run knows it.

A cell holds if coverage, over all coefficients and runs, is within three standard errors of the level. The error is that between runs,
and no less than of independent intervals.

Some minutes on two cores. Equal arguments give equal figures: noise comes from --seed. Writes figures.csv
(jobs/papers/renewable-intervals.csv).
"""

import shutil
import sys
import tempfile

import experiment

try:
    import numpy as np
except ImportError:
    experiment.fail("there is no module numpy for this Python (package python3-numpy)")

FEATURES, SHIFT, RATIO, CLIENTS, BATCH, BATCHES, BOUND, LEVEL = 4, 0.3, 2, 4, 50, 100, 2, 0.95
PRIVATE = ["--variant", "private", "--curvature-model", "released:0.3", "--mu", 1, "--clip", BOUND]
VARIANTS = {"private, central": (BOUND, [*PRIVATE, "--trust", "central"]), "private, local": (BOUND, [*PRIVATE, "--trust", "local"]),
            "private-paper": (None, ["--variant", "private-paper", "--epsilon", 0.8, "--delta", 1e-5, "--l2", 0.1])}
LOSSES = ("dwd:1", "logistic")


def slopes(loss, u):
    """First and second derivative of a loss by its margin."""
    if loss == "logistic":
        return -1 / (1 + np.exp(u)), 1 / (2 + np.exp(u) + np.exp(-u))
    above = np.maximum(u, 0.5)
    return np.where(u <= 0.5, -1.0, -(0.5 / above) ** 2), np.where(u <= 0.5, 0.0, 0.5 / above ** 3)


def truth(loss, bound):
    """The penalised minimum, features first."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400_000) % (RATIO + 1) < RATIO, 1.0, -1.0)
    rows = np.ones((y.size, FEATURES + 1))
    rows[:, :FEATURES] = rng.standard_normal((y.size, FEATURES)) + SHIFT * y[:, None]
    weight = 0.1
    if bound:
        rows *= np.minimum(1, bound / np.linalg.norm(rows, axis=1))[:, None]
        weight *= bound ** 2
    # Descent by a bound of the curvature until Newton's steps are safe.
    theta, most = np.zeros(FEATURES + 1), {"logistic": 0.25, "dwd:1": 4}[loss] * rows.T @ rows / y.size
    for step in range(400):
        first, second = slopes(loss, y * (rows @ theta))
        gradient = rows.T @ (y * first) / y.size + weight * theta
        if np.linalg.norm(gradient) < 1e-6:
            return theta
        curvature = (rows.T * second) @ rows / y.size if step > 200 else most
        theta = theta - np.linalg.solve(curvature + weight * np.eye(theta.size), gradient)
    return theta


def measure(runs, options):
    """(variant, loss): (coverage of each run, mean half-width)."""
    batches = min(BATCHES, options.batches or BATCHES)

    def run(task):
        variant, loss, seed = task
        name = f"{variant}-{loss}-{seed}".replace(" ", "").replace(",", "-").replace(":", "")
        source = f"synthetic:two-gaussians:p={FEATURES},mu={SHIFT},ratio={RATIO}/1,n={BATCH * batches}"
        summary = runs.run(name, ["--source", source, "--clients", CLIENTS, "--batch", BATCH, "--mechanism", "gaussian",
                                  *VARIANTS[variant][1], "--loss", loss, "--standard-errors", "sandwich", "--level", LEVEL,
                                  "--noise-key", "seed", "--seed", seed])
        shutil.rmtree(runs.scratch / name)
        return [(interval["low"], interval["high"]) for interval in summary["intervals"]]

    tasks = [(variant, loss, seed) for variant in VARIANTS for loss in LOSSES for seed in range(1, options.replications + 1)]
    found = dict(zip(tasks, experiment.in_parallel(options.workers, [lambda task=task: run(task) for task in tasks])))
    for variant, (bound, _) in VARIANTS.items():
        for loss in LOSSES:
            right = truth(loss, bound)
            of_runs = [found[variant, loss, seed] for seed in range(1, options.replications + 1)]
            yield variant, loss, [100 * experiment.mean([low <= value <= high for (low, high), value in zip(intervals, right)])
                                  for intervals in of_runs], experiment.mean([(high - low) / 2 for run in of_runs for low, high in run])


def main():
    parser = experiment.arguments(__doc__, "results-renewable-intervals")
    parser.add_argument("--replications", metavar="N", type=experiment.positive, default=200, help="runs per cell (200)")
    parser.add_argument("--batches", metavar="B", type=experiment.positive,
                        help="at most this many batches: whether everything runs, with figures that mean nothing")
    options = parser.parse_args()
    starling, folder = experiment.find_starling(options.starling), experiment.output_folder(options.output)
    rows, missed = [], 0
    with tempfile.TemporaryDirectory(prefix="renewable-intervals-") as scratch:
        runs = experiment.Runs(starling, scratch, "renewable", "--json")
        print(f"| {'variant':16} | {'loss':8} | coverage, % | half-width | verdict")
        for variant, loss, coverage, width in measure(runs, options):
            independent = 100 * (LEVEL * (1 - LEVEL) / (len(coverage) * (FEATURES + 1))) ** 0.5
            error = max(experiment.error_of_mean(coverage) if len(coverage) > 1 else 0, independent)
            holds = abs(experiment.mean(coverage) - 100 * LEVEL) <= 3 * error
            missed += not holds and not options.batches
            verdict = experiment.HOLDS if holds else experiment.FAILS
            print(f"| {variant:16} | {loss:8} | {experiment.with_error(coverage):11} | {width:10.4f} | {verdict}")
            rows.append([f"{variant}, {loss}", f"{experiment.mean(coverage):.2f}", f"{error:.2f}", len(coverage)])
    experiment.write_figures(folder, rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
