#!/usr/bin/env python3
"""How often intervals of renewable estimation under noise hold the truth: proposition 2 of "Online federated learning framework for
classification", for the private variants (`--standard-errors sandwich`).

Streams of two normal classes, 2:1, four features, four clients with 100 batches of 50 records, lambda = 0.1 C^2 on all
coefficients. `private` has mu = 1 for a record, C = 2 and 0.3 of the price for curvature, with noise of rank 0 (central) or of
each client (local). `private-paper` has epsilon = 0.8 and delta = 1e-5 for a release, as the paper's tables. The truth is the
minimum of the penalised objective over 400,000 records that are drawn here (rows scaled to C where the program scales them), which
is known ten times better than a run knows it.

With --orders: `online` logistic regression without noise of 4,000 records with three features, one client, of which few are ones, and which come in some
order: the distance of its estimate from maximum likelihood over all records, in standard errors of that (largest of the coefficients, median and most
over runs), coverage of intervals of the truth and of the worst coefficient in runs without a verdict, and the share of runs with a verdict, in %.

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


ORDERS = {"random": lambda draw, labels: np.arange(labels.size),
          "200 zeros first": lambda draw, labels: np.argsort((labels == 1) | (np.cumsum(labels == 0) > 200), kind="stable"),
          "second half sorted": lambda draw, labels: np.r_[:labels.size // 2, labels.size // 2 + np.argsort(labels[labels.size // 2:], kind="stable")],
          "ones more often late": lambda draw, labels: np.argsort(labels + 2 * draw.random(labels.size)),
          "sorted": lambda draw, labels: np.argsort(labels, kind="stable")}
VERDICTS = ("the intervals may be off", "has not settled", "can be separated", "predicted worse")


def likeliest(rows, labels):
    """Maximum likelihood and its standard errors."""
    theta = np.zeros(rows.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-rows @ theta))
        information = (rows.T * (p * (1 - p))) @ rows
        step = np.linalg.solve(information, rows.T @ (labels - p))
        theta += step * min(1, 3 / np.linalg.norm(step))
    return theta, np.sqrt(np.diag(np.linalg.inv(information)))


def run_in_order(runs, order, intercept, batch, seed):
    """Distance from maximum likelihood, which intervals hold, and whether there is a verdict; None without intervals."""
    draw = np.random.default_rng(seed)
    truth = np.array([1, -0.5, 0.5, intercept])
    rows = np.c_[draw.standard_normal((4000, 3)), np.ones(4000)]
    labels = (draw.random(4000) < 1 / (1 + np.exp(-rows @ truth))).astype(int)
    chosen = ORDERS[order](draw, labels)
    best, errors = likeliest(rows, labels)
    name = f"{order}-{intercept}-{batch}-{seed}".replace(" ", "-")
    np.savetxt(runs.scratch / f"{name}.csv", np.c_[rows[chosen, :3], labels[chosen]], delimiter=",", fmt="%.9g", header="a,b,c,y", comments="")
    summary = runs.run(name, ["--source", runs.scratch / f"{name}.csv", "--clients", 1, "--label", "y", "--loss", "logistic", "--batch", batch,
                              "--mechanism", "none", "--seed", seed])
    shutil.rmtree(runs.scratch / name)
    (runs.scratch / f"{name}.csv").unlink()
    told = any(verdict in note for note in summary["notes"] for verdict in VERDICTS)
    intervals = summary["intervals"]
    off = max(abs(each["estimate"] - value) / error for each, value, error in zip(intervals, best, errors)) if intervals else None
    return off, [each["low"] <= value <= each["high"] for each, value in zip(intervals, truth)], told or not intervals


def show_orders(runs, options):
    print(f"| {'order':20} | intercept | batch | off, median | most | cover | worst | verdict |")
    for order in ORDERS:
        for intercept in (0, -2, -4, -5):
            for batch in (50, 200):
                found = experiment.in_parallel(options.workers, [lambda seed=seed: run_in_order(runs, order, intercept, batch, seed)
                                                                 for seed in range(1, options.replications + 1)])
                away = [off for off, _, _ in found if off is not None]
                held = [held for _, held, told in found if not told]
                covers = f"{100 * np.mean(held):5.1f} | {100 * np.mean(held, 0).min():5.0f}" if len(held) > 9 else "      |      "
                print(f"| {order:20} | {intercept:9} | {batch:5} | {np.median(away):11.2f} | {max(away):4.1f} | {covers} | {100 * (1 - len(held) / len(found)):7.0f} |",
                      flush=True)


def main():
    parser = experiment.arguments(__doc__, "results-renewable-intervals")
    parser.add_argument("--replications", metavar="N", type=experiment.positive, default=200, help="runs per cell (200)")
    parser.add_argument("--batches", metavar="B", type=experiment.positive,
                        help="at most this many batches: whether everything runs, with figures that mean nothing")
    parser.add_argument("--orders", action="store_true", help="online, of few ones and of records in some order")
    options = parser.parse_args()
    starling, folder = experiment.find_starling(options.starling), experiment.output_folder(options.output)
    rows, missed = [], 0
    with tempfile.TemporaryDirectory(prefix="renewable-intervals-") as scratch:
        runs = experiment.Runs(starling, scratch, "renewable", "--json")
        if options.orders:
            return show_orders(runs, options)
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
