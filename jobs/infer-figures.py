#!/usr/bin/env python3
"""Figures 1 to 3 of "LDP-SGD" (local differential privacy, online confidence intervals), and what its text says of them.

Sections:
  fig1  logistic regression with three slopes, all coefficients 1: estimates with Mallows weights (`starling infer`) and with
        clipped gradients (`starling omd --average all`), 50 replications. The paper names neither n, nor mu, nor the clip:
        here 12,500, 50,000 and 200,000 records, mu = 4 and a clip of 1: a bias that more records do not take away is one
  fig2  one run of linear regression, three slopes, mu = 1, 200,000 records: the intervals along the way, by three methods,
        batch means among them by overlapping batches (those of a fixed number come with the last step alone)
  fig3  how often intervals cover against the level they state, 90 to 99 %: five slopes, 200,000 records, mu = 1 and 2, plug-in
        and random scaling, 200 replications

Noise is that of the design which the paper states (infer.py has its own reading, whose noise is too small). Equal arguments
give equal figures. Some minutes on two cores.

Writes claims.csv, estimates.csv (fig1), coverage.csv (fig3), fig2.csv, and the pictures fig1, fig1-boxes, fig2 and fig3.
"""

import csv
import shutil
import sys
import tempfile

import experiment
from experiment import FAILS, HOLDS, deviation, mean

LEVELS = [round(0.9 + k / 100, 2) for k in range(10)]
RECORDS_OF_FIG1 = (12_500, 50_000, 200_000)
NAMES = ("x1", "x2", "x3", "intercept")


def options_of(words):
    return [str(word) for word in words]


def draw_boxes(folder, rows, sizes, kinds):
    """The picture fig1-boxes: a panel for each coefficient, and in it a box of its estimates for each method and number of records."""
    lines = ["set terminal svg size 1000,640 dynamic noenhanced background '#ffffff'", "set output 'fig1-boxes.svg'", "set style fill solid 0.3",
             "set style boxplot nooutliers", "unset key", "set grid ytics", "set xtics rotate by -30 font ',9'",
             "set multiplot layout 2,2 title 'Estimates of coefficients of 1: medians, quartiles, and 1.5 times their distance'"]
    boxes = [(kind, size) for size in sizes for kind in kinds]
    tics = ", ".join(f"'{kind.split()[0]}, {size}' {k}" for k, (kind, size) in enumerate(boxes))
    for name in NAMES:
        plots = []
        for k, (kind, size) in enumerate(boxes):
            block = f"${name}{k}"
            lines += [f"{block} << END", *(str(value) for of, n, coefficient, _, value in rows
                                           if (of, n, coefficient) == (kind, size, name)), "END"]
            plots.append(f"{block} using ({k}):1 with boxplot lc {1 + list(kinds).index(kind)}")
        lines += [f"set title '{name}'", f"set xtics ({tics})", f"set xrange [-0.6:{len(boxes) - 0.4}]",
                  "plot " + ", ".join([*plots, "1 lc 'black' dt 2"])]
    experiment.draw(folder, "fig1-boxes", "\n".join([*lines, "unset multiplot"]) + "\n")


def fig1(measured):
    """Bias of estimates, by method and coefficient."""
    options = measured.options
    sizes = [options.steps or size for size in RECORDS_OF_FIG1[:1 if options.steps else None]]
    common = ["--clients", 1, "--loss", "logistic", "--mechanism", "gaussian", "--mu",
              4, "--step", 1, "--step-power", 0.51, "--step-offset", 1000, "--noise-key", "seed", "--batch", 1]
    kinds = {"Mallows weights": (measured.infer, [*common, "--tuning", "off", "--bias", "keep", "--intervals", "none"]),
             "clipped gradients": (measured.omd, [*common, "--intercept", "--clip", 1, "--tuning", "off", "--average", "all",
                                                  "--noise-correlation", "none"])}
    count = options.replications or 50
    tasks = [(kind, size, seed) for size in sizes for kind in kinds for seed in range(1, count + 1)]

    def run(kind, size, seed):
        runs, words = kinds[kind]
        name = f"fig1-{kind.split()[0]}-{size}-{seed}"
        model = runs.run(name, options_of([*words, "--source", f"synthetic:logistic:p=3,n={size}", "--seed", seed]))["final_model"]
        shutil.rmtree(runs.scratch / name)
        return model

    found = experiment.in_parallel(options.workers, [lambda task=task: run(*task) for task in tasks])
    rows, worst = [], {}
    for size in sizes:
        for kind in kinds:
            models = [(seed, model) for (of, n, seed), model in zip(tasks, found) if (of, n) == (kind, size)]
            of_names = [[model[j] for _, model in models] for j in range(len(NAMES))]
            biases = [mean(values) - 1 for values in of_names]
            worst[kind, size] = max(map(abs, biases))
            print(f"\nfig1, {size} records, {kind}: " + ", ".join(
                f"{name} {bias:+.4f} (sd {deviation(values):.4f})" for name, bias, values in zip(NAMES, biases, of_names)))
            rows += [[kind, size, name, seed, model[j]] for seed, model in models for j, name in enumerate(NAMES)]
    experiment.write_csv(measured.folder / "estimates.csv", ["method", "records", "coefficient", "seed", "estimate"], rows)
    curves = {kind: (sizes, [worst[kind, size] for size in sizes]) for kind in kinds}
    draw_boxes(measured.folder, rows, sizes, kinds)
    experiment.draw_curves(measured.folder, "fig1", ("Largest bias of a coefficient", "records", "bias"), curves, ["set logscale xy"])
    a, b = ([worst[kind, size] for size in sizes] for kind in kinds)
    yield ("clipped gradients are biased, Mallows weights are not",
           "largest bias " + ", ".join(f"{y:.3f} against {x:.3f} at {size}" for x, y, size in zip(a, b, sizes)),
           b[-1] > 3 * a[-1] and b[-1] > 0.5 * b[0])


def fig2(measured):
    steps = measured.options.steps or 200_000
    words = ["--config", "jobs/infer-table1.ini", "--source", f"synthetic:linear:p=3,sd=0.5,n={steps}", "--intervals",
             "random-scaling,plug-in,overlapping-batches", "--trust", "local", "--plug-in-path", "--replications", 0, "--record-every",
             max(1, steps // 100)]
    measured.infer.run("fig2", options_of(words))
    folder = measured.infer.scratch / "fig2"
    shutil.copy(folder / "intervals.csv", measured.folder / "fig2.csv")
    if (folder / "intervals.svg").exists():
        shutil.copy(folder / "intervals.svg", measured.folder / "fig2.svg")
    widths = {}
    with open(folder / "intervals.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["low"]:
                widths.setdefault((row["method"], int(row["steps"])), []).append(float(row["high"]) - float(row["low"]))
    of = {method: sorted((n, mean(w)) for (m, n), w in widths.items() if m == method) for method, _ in widths}
    for method, points in of.items():
        print(f"fig2, {method}: mean width " + ", ".join(f"{w:.3f} at {n}" for n, w in points[:: max(1, len(points) // 5)]))
    plug_in, scaling = of["plug-in"], of["random-scaling"]
    first = plug_in[len(plug_in) // 10]
    yield ("intervals get shorter as n grows", f"plug-in {first[1]:.3f} at {first[0]}, {plug_in[-1][1]:.3f} at {plug_in[-1][0]}",
           plug_in[-1][1] < first[1])
    ratio = scaling[-1][1] / plug_in[-1][1]
    yield "random scaling is wider than plug-in", f"{ratio:.2f} times at the end of this run", ratio > 1
    along = {n: w for n, w in of["overlapping-batches"]}
    shared = {n: along[n] / w for n, w in plug_in if n in along}
    ratio = along[plug_in[-1][0]] / plug_in[-1][1]
    yield ("plug-in and batch means are about equally wide",
           f"batch means {ratio:.2f} times plug-in at the end, {min(shared.values()):.2f} to {max(shared.values()):.2f} times along the way",
           0.7 < ratio < 1.4)


def fig3(measured):
    options = measured.options
    steps = options.steps or 200_000
    count = options.replications or 200
    parts = min(options.workers, max(1, count // 2))
    tasks = [(mu, 1 + count * k // parts, count * (k + 1) // parts - count * k // parts) for mu in (1, 2) for k in range(parts)]

    def run(mu, seed, replications):
        words = ["--config", "jobs/infer-table1.ini", "--source", f"synthetic:linear:p=5,sd=0.5,n={steps}", "--mu", mu, "--intervals",
                 "random-scaling,plug-in", "--levels", ",".join(map(str, LEVELS)), "--replications", replications, "--record-every",
                 steps, "--seed", seed]
        name = f"fig3-{mu}-{seed}"
        study = measured.infer.run(name, options_of(words))["study"]
        shutil.rmtree(measured.infer.scratch / name)
        return study

    found = experiment.in_parallel(options.workers, [lambda task=task: run(*task) for task in tasks])
    rows, curves = [], {"nominal": (LEVELS, LEVELS)}
    for mu in (1, 2):
        for method in ("plug-in", "random-scaling"):
            covered = []
            for level in LEVELS:
                cells = [(cell["coverage"], task[2]) for task, study in zip(tasks, found) for cell in study
                         if task[0] == mu and cell["method"] == method and abs(cell["level"] - level) < 1e-9 and cell["coverage"] is not None]
                covered.append(sum(c * n for c, n in cells) / sum(n for _, n in cells))
                rows.append([mu, method, level, covered[-1]])
            curves[f"{method}, mu {mu}"] = (LEVELS, covered)
            print(f"fig3, mu {mu}, {method}: " + ", ".join(f"{100 * l:.0f} %: {100 * c:.1f}" for l, c in zip(LEVELS, covered)))
    experiment.write_csv(measured.folder / "coverage.csv", ["mu", "method", "level", "coverage"], rows)
    experiment.draw_curves(measured.folder, "fig3", ("How often intervals cover", "level", "coverage"), curves)
    error = 100 * (0.05 * 0.95 / (count * 6)) ** 0.5
    for mu in (1, 2):
        gap = {m: 100 * mean([c - l for l, c in zip(LEVELS, curves[f"{m}, mu {mu}"][1])]) for m in ("plug-in", "random-scaling")}
        yield (f"random scaling covers as it says or more, mu = {mu}", f"{gap['random-scaling']:+.1f} points on average",
               gap["random-scaling"] > -1 - 3 * error)
        yield f"plug-in covers less than random scaling, mu = {mu}", f"{gap['plug-in']:+.1f} points", gap["plug-in"] <= gap["random-scaling"] + 3 * error


SECTIONS = {"fig1": fig1, "fig2": fig2, "fig3": fig3}


class Measured:
    def __init__(self, options, starling, scratch, folder):
        self.options, self.folder = options, folder
        self.infer = experiment.Runs(starling, scratch, "infer", "--json")
        self.omd = experiment.Runs(starling, scratch, "omd")


def main():
    parser = experiment.arguments(__doc__, "results-infer-figures")
    parser.add_argument("--figures", metavar="WHICH", type=experiment.names_of(SECTIONS), default=list(SECTIONS),
                        help=f"figures, separated by commas ({','.join(SECTIONS)})")
    parser.add_argument("--replications", metavar="N", type=experiment.positive, help="runs of a figure (50 and 200)")
    parser.add_argument("--steps", metavar="T", type=experiment.positive,
                        help="records: whether everything runs, with figures that mean nothing")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    rows = []
    with tempfile.TemporaryDirectory(prefix="infer-") as scratch:
        measured = Measured(options, starling, scratch, folder)
        for name in options.figures:
            for claim, ours, holds in SECTIONS[name](measured):
                rows.append([name, claim, ours, HOLDS if holds else FAILS])
                print(f"  {claim}: {ours}: {rows[-1][-1]}", flush=True)
    experiment.write_csv(folder / "claims.csv", ["figure", "claim", "ours", "verdict"], rows)
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
