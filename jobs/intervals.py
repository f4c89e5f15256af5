#!/usr/bin/env python3
"""How often 95 % intervals of `starling infer` hold the truth, and how often the run says that its path has not settled, with
default settings, where features are correlated: condition numbers 1, 10, 100 and 1000 of their covariance, 3 and 20 features,
mu = 0.5, 1, 2 and without noise. Linear regression, random scaling, one client, or eight on an unbalanced digraph whose
clients differ (--graph). With --tuning auto settings are chosen from public numbers: batch, steps and a warm-up.

A cell is right if intervals cover 92 % or more, or if 90 % of its runs or more are flagged as not settled. Both shares have a
standard error: 1.5 and 2 points at 100 replications.

With --designs, five clients and all settings left open (Newton's rounds), linear and logistic regression, of records that are as
tables have them: few, with a rare flag, heavy tails, rare classes, correlated features. Intervals that are not flagged are to
cover 93 to 97 %, those of the worst coefficient 90 % or more, and at most 15 % of runs are to be flagged; length is beside that
without noise.

With --raw, five clients and tables in units of their own: columns of sizes 1e-3 to 1e4, all but one far from 0, a flag, and, in half
of the cells, a flag of which 2 % are 1. Clients release constants of columns first. Intervals are those in own units.

Writes intervals.csv. Half a minute for 10,000 records and 50 replications on a core; --designs takes half an hour at 200, and six minutes a price (--prices).
"""

import csv
import math
import random
import sys
import tempfile

import experiment

CONDITIONS = (1, 10, 100, 1000)
FEATURES = (3, 20)
PRICES = ("0.5", "1", "2", "none")
COVERAGE, FLAGGED = 0.92, 0.9
HEADER = ["features", "condition", "mu", "steps", "clients", "replications", "coverage", "coverage_error", "length", "not_settled",
          "verdict"]


def eigenvalues_below(correlation, size, value):
    """Number of eigenvalues below `value` of the matrix with entries correlation^|j-k|, by the signs of its tridiagonal
    inverse, which is 1 + c^2 on the diagonal, 1 at its ends and -c beside it, over 1 - c^2: its eigenvalues above 1/value count."""
    scale = 1 - correlation**2
    below, pivot = 0, 1.0
    for k in range(size):
        diagonal = (1 if k in (0, size - 1) else 1 + correlation**2) / scale - 1 / value
        pivot = diagonal - ((correlation / scale) ** 2 / pivot if k else 0)
        pivot = pivot or 1e-300
        below += pivot > 0
    return below


def eigenvalue(correlation, size, number):
    """The eigenvalue with so many below it."""
    low, high = 1e-9, float(size) + 1
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if eigenvalues_below(correlation, size, middle) <= number else (low, middle)
    return low


def correlation_with(condition, size):
    """The correlation of neighbouring features that gives their covariance this condition number."""
    low, high = 0.0, 0.99999
    for _ in range(60):
        middle = (low + high) / 2
        reached = eigenvalue(middle, size, size - 1) / eigenvalue(middle, size, 0)
        low, high = (middle, high) if reached < condition else (low, middle)
    return low


FEW, MANY, RARE = "p=3,n=160", "p=10,n=4000", "p=5,n=4000,flag=0.06,correlation=0.9"
DESIGNS = {
    "linear": ["p=3,n=2000", "p=3,n=2000,correlation=0.82", "p=3,n=2000,correlation=0.98", MANY, "p=20,n=4000,correlation=0.52",
               "p=3,n=2000,freedom=3", "p=3,n=2000,flag=0.06", RARE, FEW],
    "logistic": ["p=3,n=1000", "p=3,n=4000", MANY, "p=20,n=4000,slope=0.3", "p=3,n=4000,freedom=3", "p=3,n=4000,flag=0.06", RARE,
                 "p=3,n=4000,intercept=-3", "p=3,n=500"],
}
DESIGN_PRICES = ("1", "2", "4", "8", "none")


def measure_designs(runs, options):
    """Rows (loss, design, mu, study, worst coefficient's coverage)."""
    settings = [(loss, design, mu) for loss, designs in DESIGNS.items() for design in designs for mu in options.prices]

    def run(k, loss, design, mu):
        words = ["--clients", 5, "--source", f"synthetic:{loss}:{design}", "--replications", options.replications]
        words += ["--loss", "logistic"] if loss == "logistic" else []
        words += ["--mechanism", "none"] if mu == "none" else ["--mechanism", "gaussian", "--mu", mu, "--noise-key", "seed"]
        summary = runs.run(f"run-{k}", words)
        cell = summary["study"][-1]
        covered = [each["coverage"] for each in cell["coefficients"] if each["coverage"] is not None]
        experiment.say(f"{k + 1} of {len(settings)}")
        return cell, min(covered, default=None)

    found = experiment.in_parallel(options.workers, [lambda k=k, s=s: run(k, *s) for k, s in enumerate(settings)])
    return [(*setting, *each) for setting, each in zip(settings, found)]


def verdict_of_design(cell, worst):
    if cell["not_settled"] > 0.15 * cell["replications"] or cell["coverage"] is None:
        return "flagged"
    error = 2 * (cell["coverage_error"] or 0)
    return experiment.HOLDS if 0.93 - error <= cell["coverage"] <= 0.97 + error and worst >= 0.9 - 0.03 else experiment.FAILS


def show_designs(rows):
    exact = {(loss, design): cell["length"] for loss, design, mu, cell, _ in rows if mu == "none"}
    prices = list(dict.fromkeys(mu for _, _, mu, *_ in rows))
    print("design                                         " + "".join(f"{'no noise' if mu == 'none' else 'mu = ' + mu:>24}" for mu in prices))
    print("                                               " + "".join(f"{'cover worst flag length':>24}" for _ in prices))
    for loss, design in dict.fromkeys((loss, design) for loss, design, *_ in rows):
        line = f"{loss + ' ' + design:47}"
        for a, b, _, cell, worst in rows:
            if (a, b) != (loss, design):
                continue
            flagged = 100 * cell["not_settled"] / cell["replications"]
            figures = "-" if cell["coverage"] is None else f"{100 * cell['coverage']:.1f} {100 * worst:.0f}"
            length = "-" if cell["length"] is None or (loss, design) not in exact else f"{cell['length'] / exact[loss, design]:.1f}"
            line += f"{figures + f' {flagged:.0f} {length}' + ('!' if verdict_of_design(cell, worst) == experiment.FAILS else ''):>24}"
        print(line)
    verdicts = [verdict_of_design(cell, worst) for *_, cell, worst in rows]
    print(f"{verdicts.count(experiment.HOLDS)} of {len(rows)} cells hold, {verdicts.count('flagged')} have more than 15 % of their runs flagged; the others are marked !")


RAW = {"rate": (5e-3, 1e-3, 1), "score": (0, 1, -0.5), "price": (900, 40, 0.8), "income": (5e4, 2e4, 0.6), "year": (1990, 10, 0.6)}
RAW_RECORDS, RAW_PRICES = (1500, 5000, 20000), ("1", "2", "8")


def write_raw(path, loss, records, rare, seed):
    """Labels are told by scores of a deviation near 2. Returns the true coefficients."""
    draw = random.Random(seed)
    flags = [(0.3, 0.7), *([(0.02, -1)] if rare else [])]
    spread = 300 if loss == "linear" else 1
    with open(path, "w") as file:
        file.write(",".join([*RAW, *[f"flag{k}" for k in range(len(flags))], "y"]) + "\n")
        for _ in range(records):
            plain = [draw.gauss(0, 1) for _ in RAW]
            ones = [draw.random() < share for share, _ in flags]
            score = sum(slope * z for (_, _, slope), z in zip(RAW.values(), plain)) + sum(one * effect for one, (_, effect) in zip(ones, flags))
            label = 2000 + spread * (score + draw.gauss(0, 1)) if loss == "linear" else int(draw.random() < 1 / (1 + math.exp(-score)))
            file.write(",".join(f"{mean + sd * z:.9g}" for (mean, sd, _), z in zip(RAW.values(), plain)))
            file.write("".join(f",{one:d}" for one in ones) + f",{label:.9g}\n")
    slopes = [spread * slope / sd for _, sd, slope in RAW.values()]
    intercept = (2000 if loss == "linear" else 0) - sum(slope * mean for slope, (mean, _, _) in zip(slopes, RAW.values()))
    return [*slopes, *[spread * effect for _, effect in flags], intercept]


def measure_raw(runs, folder, options):
    """Prints a row for each cell: coverage of all intervals and of the worst coefficient, and the shares of intervals and runs without."""
    print("table                       mu  cover  worst  without interval  not settled")
    for loss, records, rare in [(loss, n, rare) for loss in DESIGNS for n in RAW_RECORDS for rare in (False, True)]:
        for mu in RAW_PRICES:
            def run(seed, loss=loss, records=records, rare=rare, mu=mu):
                name = f"{loss}-{records}-{rare:d}-{mu}-{seed}"
                truth = write_raw(f"{folder}/{name}.csv", loss, records, rare, seed)
                summary = runs.run(name, ["--clients", 5, "--partition", "iid", "--source", f"{folder}/{name}.csv", "--mechanism", "gaussian",
                                          "--mu", mu, "--seed", seed, "--noise-key", "seed", *(["--loss", "logistic"] if loss == "logistic" else [])])
                held = [None if each["low"] is None else each["low"] <= true <= each["high"]
                        for each, true in zip(summary.get("own_units", summary["intervals"]), truth)]
                return held, summary["settled"]

            found = experiment.in_parallel(options.workers, [lambda seed=seed: run(seed) for seed in range(1, options.replications + 1)])
            columns = [[each for each in column if each is not None] for column in zip(*[held for held, _ in found])]
            every = [each for column in columns for each in column]
            worst = min((sum(column) / len(column) for column in columns if len(column) > 9), default=math.nan)
            without = 1 - len(every) / (len(columns) * len(found))
            print(f"{loss:8} {records:6}{', rare flag' if rare else '':11} {mu:>3} {100 * sum(every) / max(len(every), 1):6.1f} {100 * worst:6.0f} {100 * without:17.0f}"
                  f" {100 * sum(not settled for _, settled in found) / len(found):12.0f}", flush=True)


def words_of(features, condition, mu, options):
    correlation = correlation_with(condition, features) if condition > 1 else 0
    source = f"synthetic:linear:p={features},n={options.steps},correlation={correlation:.5f}"
    words = ["--replications", options.replications, "--record-every", options.steps]
    words += ["--tuning", options.tuning, *(["--estimator", "path"] if options.path else [])]
    words += ["--mechanism", "none"] if mu == "none" else ["--mechanism", "gaussian", "--mu", mu, "--noise-key", "seed"]
    if options.graph:
        source += ",apart=1"
        words += ["--clients", 8, "--topology", "topologies/unbalanced-8.topo"]
    return ["--source", source, *words]


def verdict_of(cell):
    flagged = cell["not_settled"] / cell["replications"]
    return experiment.HOLDS if cell["coverage"] >= COVERAGE or flagged >= FLAGGED else experiment.FAILS


def measure(runs, options):
    settings = [(features, condition, mu) for features in FEATURES for condition in CONDITIONS for mu in PRICES]

    def run(k, setting):
        cell = runs.run(f"run-{k}", words_of(*setting, options))["study"][-1]
        experiment.say(f"{k + 1} of {len(settings)}")
        return cell

    return settings, experiment.in_parallel(options.workers, [lambda k=k, s=s: run(k, s) for k, s in enumerate(settings)])


def show(settings, cells):
    print(f"{cells[0]['replications']} replications: coverage in % / not settled in %")
    print("features  condition  " + "".join(f"{'no noise' if mu == 'none' else 'mu = ' + mu:>14}" for mu in PRICES))
    texts = {setting: f"{100 * cell['coverage']:.1f} / {100 * cell['not_settled'] / cell['replications']:.0f}"
             + (" " if verdict_of(cell) == experiment.HOLDS else "!") for setting, cell in zip(settings, cells)}
    for features in FEATURES:
        for condition in CONDITIONS:
            print(f"{features:8}  {condition:9}  " + "".join(f"{texts[features, condition, mu]:>14}" for mu in PRICES))
    right = sum(verdict_of(cell) == experiment.HOLDS for cell in cells)
    print(f"{right} of {len(cells)} cells cover {100 * COVERAGE:.0f} % or are flagged in {100 * FLAGGED:.0f} % of their runs"
          + ("." if right == len(cells) else "; the others are marked !"))


def main():
    parser = experiment.arguments(__doc__, "results-intervals")
    parser.set_defaults(workers=experiment.os.cpu_count() or 1)
    parser.add_argument("--steps", metavar="T", type=experiment.positive, default=10_000, help="records of a client, of which each makes a step without --tuning auto (10000)")
    parser.add_argument("--replications", metavar="N", type=experiment.positive, default=100, help="of each cell (100)")
    parser.add_argument("--tuning", choices=("off", "auto"), default="off", help="of starling infer (off)")
    parser.add_argument("--path", action="store_true", help="--estimator path, with --tuning auto too")
    parser.add_argument("--designs", action="store_true", help="five clients, as tables have records, by defaults")
    parser.add_argument("--prices", metavar="MU", type=experiment.names_of(DESIGN_PRICES), default=list(DESIGN_PRICES),
                        help=f"with --designs: some of {','.join(DESIGN_PRICES)}, separated by commas; lengths are beside `none`")
    parser.add_argument("--raw", action="store_true", help="five clients and tables in units of their own, by defaults")
    parser.add_argument("--graph", action="store_true", help="eight clients that differ, without an aggregator")
    options = parser.parse_args()
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="intervals-") as scratch:
        runs = experiment.Runs(experiment.find_starling(options.starling), scratch, "infer", "--json")
        if options.raw:
            measure_raw(runs, scratch, options)
            return
        if options.designs:
            rows = measure_designs(runs, options)
            show_designs(rows)
            experiment.write_csv(folder / "designs.csv", ["loss", "design", "mu", "replications", "coverage", "worst", "not_settled", "length"],
                                 [[*row[:3], row[3]["replications"], row[3]["coverage"], row[4], row[3]["not_settled"], row[3]["length"]] for row in rows])
            return
        settings, cells = measure(runs, options)
    show(settings, cells)
    clients = 8 if options.graph else 1
    with open(folder / "intervals.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for setting, cell in zip(settings, cells):
            table.writerow([*setting, cell["steps"], clients, cell["replications"], cell["coverage"], cell["coverage_error"],
                            cell["length"], cell["not_settled"], verdict_of(cell)])
    print(f"Table: {folder}")


if __name__ == "__main__":
    sys.exit(main())
