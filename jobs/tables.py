#!/usr/bin/env python3
"""Private learning on small real tables in their own units, with nothing tuned, beside what the noise allows.

  jobs/tables.py                                  # all tables, some 250 short runs and their brackets, a quarter of an hour
  jobs/tables.py --only spam,ames --epsilons 1    # two tables at one epsilon
  jobs/tables.py --feature-share 0                # features as they are
  jobs/tables.py --score-share 0                  # probabilities as they are
  jobs/tables.py --trust pairs                    # clients hide each other
  jobs/tables.py --ranges                         # public ranges: those of each column, rounded outwards to 1, 2 or 5 times a power of 10
  jobs/tables.py --exact                          # exact constants, which cost nothing: what those of the runs above have cost
  jobs/tables.py --epsilons none                  # without noise alone
  jobs/tables.py --epsilons none --hidden 32      # networks in place of linear models
  jobs/tables.py --only iris --quick              # whether everything runs

Runs are those of `starling omd` over five clients that are dealt the records at random: no option but data, --mechanism gaussian,
--total-epsilon and --delta 1e-5, or --mechanism none, and the loss of labels that are not two classes. The figure is accuracy on held-out records, or the share of the
labels' variance that the mean model explains, in percent. The tables come with scikit-learn and with packages of R (tables_parts.py). What is
missing is named, and the other tables are run. The standard error of a cell is that of its runs, and for classes also of the held-out records
that the model and the constant answer differently.

The slope of labels on scores, for tables of two classes, is that of a logistic regression on the held-out records: 1 where probabilities of the
mean model are what they should be, less where they are too extreme.

In brackets, of runs without noise: a linear model that is fitted to all standardised records, as scikit-learn does it by default. Of
others: descent on the whole data with each client's own noise (of --trust pairs: with that of one client), by exact constants, with the step and the clip chosen on the test
records. Nobody could run it on private data. It shows what noise allows.

Writes tables.csv and tables.md. The last lines say how many runs told before they began what they would lose at most, beside a linear model
that is fitted to all records without noise, and how many lost no more: of all tables, and of every other one by name; then which cells are worse
than the constant, and which are not as near their bracket as they are to be. With constants that are released, a cell counts where records times
mu are at least 40 times the root of features: elsewhere runs are to say beforehand that --ranges would show constants. Ends with 1 if these are
fewer than 95 in 100, or if more than two fifths of the runs said that it cannot be foretold.
"""

import math
import pathlib
import shutil
import sys
import tempfile

import experiment
from experiment import mean

DELTA = 1e-5
# The most by which a cell is to be below its bracket, of two kinds of labels: accuracy, and R² in percent.
POINTS = {"ranges": {1: (4, 8), 3: (2, 4)}, "released": {1: (6, 10), 3: (3, 5)}, "pairs": {1: (4, 8), 3: (2, 4)}}
ENOUGH = 40  # records times mu, over the root of features, from which constants can be paid for


def rounded(low, high):
    """A range around low ... high as a data dictionary has it."""
    if low == high:
        return low - 1, high + 1
    def up(value):
        if value <= 0:
            return 0.0
        power = 10.0 ** math.floor(math.log10(value))
        return next(k * power for k in (1, 2, 5, 10) if k * power >= value * (1 - 1e-12))
    low = -up(-low) if low < 0 else 0.0 if low < high / 2 else low - low % (up(high - low) / 10)
    high = up(high) if low <= 0 else low + up(high - low)
    return low, high if high > low else 0.0


def price_of(options, epsilon):
    """Words of a run at this price; None is no noise, which has nothing to share."""
    words = ["--mechanism", "gaussian", "--delta", DELTA, "--total-epsilon", epsilon] if epsilon else ["--mechanism", "none"]
    words += ["--trust", options.trust] if epsilon and options.trust else []
    for option, share in (("--feature-share", options.feature_share), ("--score-share", options.score_share)):
        words += [option, share] if share == 0 or (share and epsilon) else []
    return words


class Study:
    def __init__(self, starling, scratch, options):
        self.starling, self.scratch, self.options, self.outlooks = starling, scratch, options, experiment.Outlooks()
        self.runs = experiment.Runs(starling, scratch, "omd", "--json")
        from tables_parts import CLIENTS
        # Pairs leave, where nobody colludes, the noise of one client in the sum over all.
        pooled = math.sqrt(CLIENTS) if options.trust == "pairs" else 1
        self.mu = {e: experiment.privacy(starling, "calibrate", epsilon=e, delta=DELTA)["mu"] for e in options.epsilons}
        self.prices = {e: pooled * mu for e, mu in self.mu.items()}

    def ranges(self, table):
        path = self.scratch / f"{table.name}-ranges.csv"
        columns = [*table.rows.T, *([table.labels] if table.kind == "numbers" else [])]
        names = [*(f"x{j}" for j in range(table.rows.shape[1])), "y"]
        experiment.write_csv(path, ["feature", "low", "high"],
                             ([name, *rounded(float(c.min()), float(c.max()))] for name, c in zip(names, columns)))
        return ["--ranges", path]

    @staticmethod
    def exact(table):
        from tables_parts import CLIP
        columns = [*table.rows.T, *([table.labels] if table.kind == "numbers" else [])]
        constants = [f"{c.mean():.6g}/{c.std() or 1:.6g}" for c in columns]
        if table.kind == "numbers":
            constants[-1] = f"label={constants[-1]}"
        return ["--standardise", "values:" + ",".join(f"{each}/{CLIP}" if "=" not in each else each for each in constants)]

    def words(self, table):
        words = ["--clients", 5, "--partition", "iid", *table.words()]
        if self.options.hidden:
            scores = 1 if table.kind == "two" else table.classes
            words += ["--model", f"mlp:{table.rows.shape[1]}-{self.options.hidden}-{scores}"]
        return words + (self.ranges(table) if self.options.ranges else self.exact(table) if self.options.exact else [])

    def run(self, table, words, epsilon, seed):
        """(the figure in percent, the signal to noise that the run told, what it expected to lose at most, or None, the slope of labels on
        scores where there are two classes, the part of the held-out records that the constant does not answer so, the log-loss of classes,
        whether it named --ranges as what would show constants); None is no noise."""
        from tables_parts import slope_of_labels
        label = f"{table.name}-{epsilon}-{seed}"
        summary = self.runs.run(label, [*words, *price_of(self.options, epsilon), "--seed", seed])
        slope = None
        if table.kind == "two":
            slope = slope_of_labels(self.runs.scores(label, self.scratch / f"{table.name}-test.csv"), table.test_labels)
        shutil.rmtree(self.scratch / label)
        metrics, tuning = summary["metrics"], summary["tuning"]
        figure = 100 * (metrics["test"]["r2"] if table.kind == "numbers" else metrics["test_accuracy"])
        alike = 1 if table.kind == "numbers" else next(
            each["predicted"] for each in metrics["test"]["classes"] if each["class"] == table.answer) / len(table.test_labels)
        warned = any("--ranges" in note for note in summary["notes"])
        return figure, tuning["signal_to_noise"], tuning["most_lost"], slope, 1 - alike, metrics["test"].get("log_loss"), warned

    def table(self, table):
        """Lines of tables.csv of a table."""
        from tables_parts import allowed, constant_allowed, fitted
        train, test = table.write(self.scratch)
        words = ["--source", train, "--test", test, *self.words(table)]
        cases = [(epsilon, seed) for epsilon in [None, *self.options.epsilons] for seed in self.options.seeds]
        found = iter(experiment.in_parallel(self.options.workers, [lambda case=case: self.run(table, words, *case) for case in cases]))
        without = fitted(table)
        plain = mean([next(found)[0] for _ in self.options.seeds])
        known = {"table": table.name, "kind": table.kind, "records": len(table.labels), "held_out": len(table.test_labels), "features": table.rows.shape[1],
                 "constant": table.constant, "fitted": without, "plain": plain}
        if not self.options.epsilons:
            yield known
        for epsilon in self.options.epsilons:
            runs = [next(found) for _ in range(self.options.runs)]
            figures = [figure for figure, *_ in runs]
            for figure, _, most, *_ in runs:
                self.outlooks.add((table.name, table.kind == "numbers"), without - figure, most)
            bracket = mean([allowed(table, self.prices[epsilon], seed) for seed in self.options.seeds])
            signal = len(table.labels) * self.mu[epsilon] / math.sqrt(table.rows.shape[1])
            yield {**known, "epsilon": epsilon, "enough": signal >= ENOUGH, "warned": sum(run[6] for run in runs), "runs": len(runs), "mean": mean(figures), "least": min(figures), "allowed": bracket,
                   "constant_allowed": constant_allowed(table, self.prices[epsilon], self.options.seed),
                   "standard_error": math.hypot(experiment.error_of_mean(figures),
                                                100 * math.sqrt(mean([run[4] for run in runs]) / len(table.test_labels))),
                   "signal_to_noise": mean([run[1] for run in runs]),
                   "promised": mean(promised) if (promised := [run[2] for run in runs if run[2] is not None]) else "",
                   "slope": mean([run[3] for run in runs]) if table.kind == "two" else "",
                   "log_loss": mean([run[5] for run in runs]) if table.kind == "two" else ""}


def shown(value):
    return f"{value:.0f}" if value > -1000 else "< -1000"


def markdown(lines, epsilons, titles):
    yield "| table (records, features; constant) | no noise |" + "".join(f" ε = {e:g} |" for e in epsilons)
    yield "| --- " * (2 + len(epsilons)) + "|"
    for name in dict.fromkeys(line["table"] for line in lines):
        mine = {line.get("epsilon"): line for line in lines if line["table"] == name}
        any_line = next(iter(mine.values()))
        kind = ", R²" if any_line["kind"] == "numbers" else ""
        cells = [f" {shown(mine[e]['mean'])} [{shown(mine[e]['allowed'])}] |" if e in mine else " |" for e in epsilons]
        yield (f"| {titles[name]}{kind} ({any_line['records']:,}, {any_line['features']}; {shown(any_line['constant'])}) | "
               f"{any_line['plain']:.1f} [{any_line['fitted']:.1f}] |" + "".join(cells))


def slopes_of(lines, epsilons, titles):
    """The same of slopes of labels on scores."""
    yield "| slope of labels on scores | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " |"
    yield "| --- " * (1 + len(epsilons)) + "|"
    for name in dict.fromkeys(line["table"] for line in lines if line["slope"] != ""):
        mine = {line["epsilon"]: line["slope"] for line in lines if line["table"] == name}
        yield f"| {titles[name]} | " + " | ".join(f"{mine[e]:.2f}" if e in mine else "" for e in epsilons) + " |"


def verdicts(lines, outlooks, constants):
    behind = {line["table"]: line for line in lines if line["plain"] < line["fitted"] - 0.5}
    far = [f"{name} {line['plain'] - line['fitted']:.1f} (of {line['held_out']:,} held-out records)" for name, line in behind.items()]
    yield f"without noise more than half a point below the fit, of {len({line['table'] for line in lines})} tables: {', '.join(far) or 'none'}"
    if not outlooks.runs:
        return
    yield from outlooks.lines()
    groups = sorted({group for group, *_ in outlooks.runs})
    for half, which in enumerate(("first", "second")):
        runs, told, held = outlooks.of(groups[half::2])
        yield f"every other table by name, from the {which}: {runs} runs, {told} said it, {held} lost no more ({experiment.share(held, told)})"
    slopes = [line["slope"] for line in lines if line["slope"] != "" and line["epsilon"] >= 1]
    good = sum(0.85 <= slope <= 1.15 for slope in slopes)
    yield f"slope of labels on scores, which is to be 1, at epsilon 1 and more, of {len(slopes)} cells: {good} are within 0.85 to 1.15"
    if losses := [line["log_loss"] for line in lines if line["slope"] != "" and line["epsilon"] >= 1]:
        yield f"mean log-loss of these cells: {mean(losses):.4f}"
    yield from below_the_constant(lines)
    yield from beside_the_bracket(lines, constants)


def beside_the_bracket(lines, constants):
    """Which of the cells that are to be near their bracket are not; what runs of the others said first, unless ranges were given."""
    others = [line for line in lines if constants != "ranges" and not line["enough"]]
    for epsilon, points in POINTS[constants].items():
        mine = [line for line in lines if line["epsilon"] == epsilon and line not in others]
        if not mine:
            continue
        missed = [f"{line['table']} {shown(line['mean'])} [{shown(line['allowed'])}]" for line in mine
                  if line["mean"] < line["allowed"] - points[line["kind"] == "numbers"]]
        yield (f"to be within {points[0]} points of the bracket, or {points[1]} of explained variance, at epsilon {epsilon}, of {len(mine)} cells: "
               f"{len(mine) - len(missed)} are{'. Not ' if missed else ''}{', '.join(missed)}")
    if others:
        yield (f"cells whose constants cannot be paid for: {len(others)}, of whose {sum(line['runs'] for line in others)} runs "
               f"{sum(line['warned'] for line in others)} named --ranges before they began")


def below_the_constant(lines):
    """Which cells are worse than the constant, and of which noise in a constant alone is not the reason."""
    below = [line for line in lines if line["mean"] < line["constant"] - 1]
    named = [f"{line['table']} at {line['epsilon']:g} by {line['constant'] - line['mean']:.1f} ± {line['standard_error']:.1f} "
             f"({line['constant'] - line['constant_allowed']:.1f})" for line in below]
    yield ("more than a point below the constant, each with its standard error, and with what noise costs a constant alone in brackets, "
           f"of {len(lines)} cells: {', '.join(named) or 'none'}")
    beyond = [f"{line['table']} at {line['epsilon']:g}" for line in below
              if line["mean"] < min(line["constant"], line["constant_allowed"]) - 1 - 2 * line["standard_error"]]
    yield f"of these by more than that, a point and two standard errors: {', '.join(beyond) or 'none'}"


def main():
    try:
        from tables_parts import TABLES, Missing, Table
    except ImportError as missing:
        experiment.fail(f"there is no module {missing.name} for this Python (package python3-{missing.name})")
    parser = experiment.arguments(__doc__, "results-tables")
    parser.add_argument("--only", metavar="TABLES", type=experiment.names_of(TABLES), default=list(TABLES), help="separated by commas")
    parser.add_argument("--runs", metavar="N", type=experiment.positive, default=3, help="of each case (3)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of the first run of a case, by which records are dealt (1)")
    parser.add_argument("--epsilons", metavar="LIST", type=lambda text: [] if text == "none" else [float(each) for each in text.split(",")],
                        default=[0.3, 1, 3], help="separated by commas (0.3,1,3), or none: without noise alone")
    parser.add_argument("--feature-share", metavar="S", type=float, help="of the runs; default: what the rule chooses")
    parser.add_argument("--score-share", metavar="S", type=float, help="of the runs; default: what the rule chooses")
    parser.add_argument("--hidden", metavar="N", type=experiment.positive, help="networks with so many hidden units in place of linear models")
    parser.add_argument("--trust", choices=["local", "pairs"], help="of the runs")
    constants = parser.add_mutually_exclusive_group()
    constants.add_argument("--ranges", action="store_true", help="with public ranges")
    constants.add_argument("--exact", action="store_true", help="with exact means and deviations as public constants")
    parser.add_argument("--quick", action="store_true", help="one run, epsilon 1 alone")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.epsilons = 1, [1]
    options.seeds = range(options.seed, options.seed + options.runs)
    known = "ranges" if options.ranges or options.exact else "pairs" if options.trust == "pairs" else "released"
    starling, folder, lines = experiment.find_starling(options.starling), experiment.output_folder(options.output), []
    with tempfile.TemporaryDirectory(prefix="tables-") as scratch:
        study = Study(starling, pathlib.Path(scratch), options)
        for name in options.only:
            try:
                lines += study.table(Table(name))
            except Missing as missing:
                experiment.say(f"left out: {name}, since there is no {missing}")
                continue
            experiment.say(f"{name}: done")
            experiment.write_csv(folder / "tables.csv", lines[0], (line.values() for line in lines))
            titles = {key: title for key, (title, *_) in TABLES.items()}
            slopes = [*slopes_of(lines, options.epsilons, titles), ""] if options.epsilons else []
            text = "\n".join([*markdown(lines, options.epsilons, titles), "", *slopes, *verdicts(lines, study.outlooks, known)]) + "\n"
            (folder / "tables.md").write_text(text)
    if not lines:
        experiment.fail("nothing to run: no table is there")
    print((folder / "tables.md").read_text())
    return 0 if options.quick or not options.epsilons or study.outlooks.suffice() else 1


if __name__ == "__main__":
    sys.exit(main())
