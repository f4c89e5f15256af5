#!/usr/bin/env python3
"""Electricity prices (elec2) in order, as a drifting stream over five clients (jobs/elec2.ini): progressive accuracy with
push-sum and with plain mixing, for steps c/t^p with p = 0, 1/2 and 1, without noise and with Laplace noise.

c is chosen for each p, with and without noise, as the value of a grid that has the best progressive accuracy on the
first tenth of the stream under push-sum (with noise: the mean over its seeds); the figures are of the whole stream.
Beside them stand the share of the larger class, which nobody knows beforehand, and the rule that nothing changes, which
predicts the label before: everybody's, or the client's own.

Writes elec2.csv (the table), elec2-steps.csv (the search for c), accuracy.csv and accuracy.svg (accuracy over time).
"""

import csv
import gzip
import pathlib
import shutil
import sys
import tempfile

import experiment
from experiment import mean

CLIENTS = 5
POWERS = (0, 0.5, 1)
GRID = (0.3, 1, 3, 10, 30, 100, 300)
MIXINGS = ("push-sum", "plain")
WINDOWS = 50
DATA, LABELS = "elec2_data.dat.gz", "elec2_label.dat.gz"


def arguments(description, output):
    parser = experiment.arguments(description, output)
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data" / "elec2"),
                        help=f"where {DATA} and {LABELS} are (../shared/data/elec2 beside the project)")
    return parser


def data_folder(options):
    data = pathlib.Path(options.data).resolve()
    for name in (DATA, LABELS):
        if not (data / name).exists():
            experiment.fail(f"there is no {data / name}: the data set elec2 is not part of the project. Say where it is: --data FOLDER.")
    return data


def read_labels(folder):
    with gzip.open(folder / LABELS, "rt") as file:
        return [int(float(line)) for line in file if line.strip()]


def unchanged(labels, lag):
    """Which labels equal the one `lag` before; the first `lag` are guessed wrong."""
    return [i >= lag and labels[i] == labels[i - lag] for i in range(len(labels))]


def share(hits):
    return 100 * sum(hits) / len(hits)


def receiver_topology(scratch):
    """The same graph with weights that plain mixing is meant for: what each client receives sums to one."""
    text = (experiment.PROJECT / "topologies" / "unbalanced-5.topo").read_text()
    changed = text.replace("\nweights sender\n", "\nweights receiver\n")
    if changed == text:
        experiment.fail("topologies/unbalanced-5.topo is not as expected: it has no line 'weights sender'")
    path = pathlib.Path(scratch) / "unbalanced-5-receiver.topo"
    path.write_text(changed)
    return path


class Elec2:
    def __init__(self, runs, folder, options, records):
        self.runs, self.options = runs, options
        self.rounds = -(-records // CLIENTS)
        self.window = -(-self.rounds // WINDOWS)
        self.source = ["--config", "jobs/elec2.ini", "--source", f"{folder / DATA},{folder / LABELS}"]
        self.plain = ["--mixing", "plain", "--topology", receiver_topology(runs.scratch)]
        self.noises = {"none": ["--mechanism", "none"],
                       f"laplace, epsilon {options.epsilon:g}": ["--mechanism", "laplace", "--epsilon", options.epsilon]}

    def seeds(self, noise):
        return (1,) if noise == "none" else range(1, self.options.seeds + 1)

    def accuracy(self, name, words):
        """Progressive accuracy in percent, overall and by window."""
        summary = self.runs.run(name, [*self.source, *words, "--record-every", self.window])
        with open(self.runs.scratch / name / "private" / "0" / "metrics.csv") as file:
            rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))]
        shutil.rmtree(self.runs.scratch / name)
        windows = {}
        for row in rows:
            right, of = windows.get(int(row["round"]), (0, 0))
            records = int(row["records"])
            windows[int(row["round"])] = (right + records * float(row["accuracy"]), of + records)
        return (100 * summary["metrics"]["progressive_accuracy"],
                {done: 100 * right / of for done, (right, of) in sorted(windows.items())})

    def several(self, cases):
        """The results of cases (key, words), by key."""
        jobs = [lambda i=i, words=words: self.accuracy(f"run-{i}", words) for i, (_, words) in enumerate(cases)]
        return dict(zip((key for key, _ in cases), experiment.in_parallel(self.options.workers, jobs)))

    def search(self):
        """The best c by (noise, power), and the whole search as rows."""
        tenth = self.rounds // 10
        cases = [((noise, power, c, seed), [*words, "--step-power", power, "--step", c, "--seed", seed,
                                            "--rounds", tenth])
                 for noise, words in self.noises.items() for power in POWERS for c in GRID
                 for seed in self.seeds(noise)]
        found = self.several(cases)
        rows, best = [], {}
        for noise in self.noises:
            for power in POWERS:
                accuracies = {c: mean([found[noise, power, c, seed][0] for seed in self.seeds(noise)]) for c in GRID}
                best[noise, power] = max(GRID, key=accuracies.get)
                rows += [[noise, power, c, accuracies[c], c == best[noise, power]] for c in GRID]
        return best, rows

    def compare(self, best):
        cases = [((noise, mixing, power, seed),
                  [*words, *(self.plain if mixing == "plain" else []), "--step-power", power,
                   "--step", best[noise, power], "--seed", seed])
                 for noise, words in self.noises.items() for mixing in MIXINGS for power in POWERS
                 for seed in self.seeds(noise)]
        return self.several(cases)


def table_rows(elec2, best, results):
    for noise in elec2.noises:
        for mixing in MIXINGS:
            for power in POWERS:
                figures = [results[noise, mixing, power, seed][0] for seed in elec2.seeds(noise)]
                yield [noise, mixing, power, best[noise, power], mean(figures), min(figures), max(figures)]


def show(rows, rules):
    print(f"{'noise':<22}{'mixing':<11}{'p':>4}{'c':>7}   progressive accuracy")
    for noise, mixing, power, c, centre, low, high in rows:
        spread = f"  ({low:.2f} to {high:.2f})" if high > low else ""
        print(f"{noise:<22}{mixing:<11}{power:>4g}{c:>7g}   {centre:.2f} %{spread}")
    for name, figure in rules.items():
        print(f"{name:<44}   {figure:.2f} %")


def remarks(rows, rules):
    """What the table says, in a few sentences."""
    figures = {(noise, mixing, power): centre for noise, mixing, power, _, centre, _, _ in rows}
    apart = {noise: max(abs(figures[noise, "push-sum", power] - figures[noise, "plain", power]) for power in POWERS)
             for noise, _, _ in figures}
    spread = max(high - low for *_, low, high in rows)
    print("\nPush-sum and plain mixing are at most " + ", ".join(f"{gap:.2f} points ({noise})" for noise, gap in apart.items())
          + f" apart,\nwhere noisy runs that differ in their seeds alone are up to {spread:.2f} apart: records are dealt in "
          "turn, all clients see the\nsame distribution, and so it does not matter much how often each counts.")
    best = max(figures.values())
    nothing, larger = rules["no change, everybody's last label"], rules["the larger class"]
    print(f"The best run has {best:.2f} %, {best - larger:.2f} points above the larger class and {nothing - best:.2f} "
          "below the rule that nothing changes,\nwhich no model of these columns sees: labels come in runs.")


def write_windows(folder, elec2, results, hits):
    """Accuracy by window: rounds done, a column per curve, and the rule that nothing changes."""
    curves = [(noise, power) for noise in elec2.noises for power in POWERS]
    rounds = sorted(results["none", "push-sum", POWERS[0], 1][1])
    rows = []
    for begin, done in zip([0, *rounds], rounds):
        of_rule = hits[begin * CLIENTS:done * CLIENTS]
        rows.append([done * CLIENTS, *(mean([results[noise, "push-sum", power, seed][1][done]
                                             for seed in elec2.seeds(noise)]) for noise, power in curves),
                     share(of_rule)])
    titles = [f"{'no noise' if noise == 'none' else noise}, p = {power:g}" for noise, power in curves]
    experiment.write_csv(folder / "accuracy.csv", ["records", *titles, "no change"], rows)
    return titles


def picture_script(titles, larger):
    styles = [f"lw 2 lc {i % 3 + 1}" + (" dt 2" if i >= 3 else "") for i in range(len(titles))]
    curves = [f"'accuracy.csv' skip 1 using 1:{i + 2} with lines {style} title '{title}'"
              for i, (title, style) in enumerate(zip(titles, styles))]
    curves.append(f"'accuracy.csv' skip 1 using 1:{len(titles) + 2} with lines lw 1 lc 'black' title 'no change'")
    curves.append(f"{larger:.17g} with lines lw 1 dt 3 lc 'black' title 'larger class'")
    return "\n".join(["set terminal svg size 1000,560 dynamic background '#ffffff'", "set output 'accuracy.svg'",
                      "set datafile separator ','",
                      "set title 'elec2 in order, five clients, push-sum, steps c/t^p: progressive accuracy by window'",
                      "set xlabel 'records'", "set ylabel 'accuracy in %'", "set key outside right", "set xtics 10000",
                      "plot " + ", \\\n     ".join(curves)]) + "\n"


def main():
    parser = arguments(__doc__, "results-elec2")
    parser.add_argument("--epsilon", type=float, default=8, help="privacy loss per record of the noisy runs (8)")
    parser.add_argument("--seeds", metavar="N", type=experiment.positive, default=3, help="noisy runs per case (3)")
    options = parser.parse_args()
    data = data_folder(options)
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)

    labels = read_labels(data)
    everybody, own = unchanged(labels, 1), unchanged(labels, CLIENTS)
    rules = {"the larger class": share([label == 1 for label in labels]),
             "no change, everybody's last label": share(everybody),
             "no change, the client's own last label": share(own)}
    rules["the larger class"] = max(rules["the larger class"], 100 - rules["the larger class"])
    with tempfile.TemporaryDirectory(prefix="elec2-") as scratch:
        elec2 = Elec2(experiment.Runs(starling, scratch), data, options, len(labels))
        best, search = elec2.search()
        results = elec2.compare(best)
    rows = list(table_rows(elec2, best, results))
    show(rows, rules)
    remarks(rows, rules)
    titles = write_windows(folder, elec2, results, everybody)
    experiment.draw(folder, "accuracy", picture_script(titles, rules["the larger class"]))
    experiment.write_csv(folder / "elec2.csv", ["noise", "mixing", "power", "c", "accuracy", "least", "most"],
                         rows + [[name, "", "", "", figure, "", ""] for name, figure in rules.items()])
    experiment.write_csv(folder / "elec2-steps.csv", ["noise", "power", "c", "accuracy_on_first_tenth", "chosen"], search)
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
