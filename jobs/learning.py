#!/usr/bin/env python3
"""Private learning with nothing tuned: accuracy against epsilon of the rule of `--tuning auto`, beside the figures that were
expected of it, with defaults of 0.1.0, and on data sets that the rule was not made on.

  jobs/learning.py                                      # all sets, some 1,700 short runs, ten minutes and more
  jobs/learning.py --only a9a --runs 1                  # one set; --only a9a,rare or --only variant names as rule,passes
  jobs/learning.py --only isotropic-20 --quick          # whether everything runs

Epsilon is what a record pays in all, at delta = 1e-5 (laplace: delta = 0). Noise is secret, so each call has other figures.
Each run has a --seed of its own, which deals the records. Accuracy is that of the clients' models on a public test set; of
elec2 it is that of predictions before labels are used. Of sets whose labels are numbers the figure is the share of the labels'
variance that the mean model explains, in percent, beside 0 of a constant; without noise then means mu = 1000. The variants:

  0.1.0        --tuning off: the defaults of version 0.1.0, Gaussian noise
  independent  the rule with --noise-correlation none
  rule         the rule, one pass: no option but data, --mechanism gaussian, --epsilon and --delta (without noise --epochs 1)
  passes       the same with --total-epsilon, which takes 16 passes (without noise --epochs 16)
  pairs        the rule with --total-epsilon (elec2: one pass) and --trust pairs: clients hide each other
  alone        no noise and no other client: what each client fits to four fifths of its own records has on the others
               (personal.csv of --personal), in the mean over clients. Records are dealt evenly, so that others are like the test set's
  laplace      the rule with --mechanism laplace
  opt-outs     the rule with --dropout 0.2
  pairs-opt-outs  pairs with --dropout 0.2
  norm         the rule with --norm: the median norm of the training records, as if that were public
  passes-norm  16 passes with that --norm
  laplace-norm laplace with that --norm, in both its norms

and of federated averaging (starling fedavg, no graph), which are run where --only names them, or all of them by `averaging`:

  jobs/learning.py --only averaging --runs 3 --epsilons 0.3,1,8

  average          the rule, one pass
  average-passes   the rule, sixteen passes
  average-off      --tuning off: the defaults without the rule
  average-by-hand  the best of six settings (batch and step), chosen on the test set
  average-8        the rule with --local-steps 8
  average-64       the rule with --local-steps 64

Data sets of others are looked for in the folder --data (../shared/data beside the project): a9a/a9a.gz, a9a/a9a.t.gz,
elec2/elec2_data.dat.gz, elec2/elec2_label.dat.gz, and vfl_fate/ with the tables default_credit and dvisits. What is missing is
named, and the other sets are run. The last lines say how many runs told before they began what they would lose at most, and how many lost
no more, beside the best mean of their set. Writes learning.csv, learning.md (a table) and learning.svg (four of the sets).
"""

import itertools
import pathlib
import shutil
import sys
import tempfile

import experiment
from experiment import mean
from learning_sets import SETS, Missing, Place

DELTA = 1e-5
PASSES = 16
EPSILONS = (0.1, 0.3, 1, 3, 8, None)  # None: without noise
QUICK = (1, None)

# (set, variant): {epsilon: (mean, least)} of the simulation that the rule comes from; a least of None was not noted.
EXPECTED = {
    ("a9a", "0.1.0"): {0.1: (48.8, 34.8), 0.3: (58.3, 48.2), 1: (68.4, 63.3), 3: (74.8, 73.7), 8: (79.9, 79.2),
                       None: (84.0, None)},
    ("a9a", "independent"): {0.1: (79.6, 77.4), 0.3: (82.2, 81.8), 1: (82.9, 82.5), 3: (84.0, 83.5), 8: (84.3, 84.1),
                             None: (85.2, None)},
    ("a9a", "rule"): {0.1: (79.8, 76.6), 0.3: (82.6, 81.6), 1: (84.2, 83.8), 3: (84.8, 84.6), 8: (85.0, 84.7),
                      None: (85.0, None)},
    ("a9a", "passes"): {0.1: (81.7, 79.9), 0.3: (83.7, 83.1), 1: (84.7, 84.5), 3: (85.0, 84.7), 8: (85.1, 84.7),
                        None: (85.1, None)},
    ("a9a", "laplace"): {0.1: (77.1, 75.4), 0.3: (81.1, 79.7), 1: (82.7, 82.0), 3: (83.6, 83.4), 8: (84.1, 83.9),
                         None: (85.1, None)},
}
OTHERS = {  # means: 16 passes (elec2: one) at 0.1, 0.3, 1, 8 and without noise, then 0.1.0 at 1
    "credit": ("passes", 80.0, 81.0, 81.2, 81.2, 81.2, 60.3),
    "isotropic-20": ("passes", 81.8, 82.6, 82.7, 82.8, 82.8, 60.1),
    "isotropic-100": ("passes", 68.7, 79.7, 82.7, 83.2, 83.1, 51.0),
    "a9a-64": ("passes", 77.4, 80.7, 83.4, 85.0, 85.2, 71.4),
    "elec2": ("rule", 55.2, 57.6, 60.5, 65.5, 68.2, 53.5),
}
for _name, (_variant, *_means, _default) in OTHERS.items():
    EXPECTED[_name, _variant] = {e: (value, None) for e, value in zip((0.1, 0.3, 1, 8, None), _means)}
    EXPECTED[_name, "0.1.0"] = {1: (_default, None)}
# The simulation knew the norm of the records. Its figures stand beside the variants that find the norm out, and beside those
# with --norm.
for (_name, _variant), _figures in list(EXPECTED.items()):
    if _variant in ("passes", "laplace", "rule"):
        EXPECTED.setdefault((_name, {"rule": "norm"}.get(_variant, f"{_variant}-norm")), _figures)

REGRESSIONS = ("linear-20", "linear-100", "huber", "demand", "visits-count")
BOUNDED = ("simplex-20", "simplex-100", "simplex-euclidean", "a9a-ball", "a9a-signed")
OF_NUMBERS = ["0.1.0", "rule", "passes", "laplace"]
ONE_PASS, ALL = ["0.1.0", "rule", "norm"], ["0.1.0", "rule", "passes", "norm", "passes-norm"]
AVERAGING = ["average", "average-passes", "average-8", "average-64", "average-off", "average-by-hand"]
GRID = [["--batch", batch, "--step", step] for batch, step in itertools.product((64, 512), (1, 4, 16))]
JOINED = ["pairs", "alone"]
VARIANTS = {"a9a": ["0.1.0", "independent", "rule", "passes", "laplace", "opt-outs", "norm", "passes-norm", "laplace-norm", *AVERAGING],
            "isotropic-100": [*ALL, *AVERAGING], "credit": [*ALL, *AVERAGING],
            "a9a-64": ["0.1.0", "rule", "passes", "pairs-opt-outs"], "a9a-16": ["rule", "passes"], "elec2": ONE_PASS, "elec2-scaled": ONE_PASS,
            "units-known": ["0.1.0", "rule", "passes"], "shell": ["0.1.0", "rule", "passes"],
            **{name: OF_NUMBERS for name in REGRESSIONS}, **{name: ["0.1.0", "rule", "passes"] for name in BOUNDED}}
TITLES = {"0.1.0": "defaults of 0.1.0", "independent": "the rule, independent noise", "rule": "the rule, one pass",
          "passes": f"the rule, {PASSES} passes", "pairs": "noise between pairs", "alone": "alone, on own records",
          "laplace": "the rule, Laplace (pure)", "opt-outs": "the rule, opt-outs of 0.2", "pairs-opt-outs": "noise between pairs, opt-outs of 0.2",
          "norm": "the rule with --norm", "passes-norm": f"{PASSES} passes with --norm", "laplace-norm": "Laplace with --norm",
          "average": "averaging by the rule, one pass", "average-passes": f"averaging by the rule, {PASSES} passes",
          "average-off": "averaging, --tuning off", "average-by-hand": "averaging, the best of six settings",
          "average-8": "averaging by the rule, 8 local steps", "average-64": "averaging by the rule, 64 local steps"}
HAVE_NO_NOISELESS_RUN = ("independent", "pairs", "pairs-opt-outs", "laplace", "laplace-norm", "average-by-hand")  # the rule's own is the same
UNTUNED = ("0.1.0", "average-off", "average-by-hand")
DRAWN = ("0.1.0", "rule", "passes")
PANELS = ("a9a", "isotropic-100", "credit", "elec2-scaled")


def variants_of(name):
    joined = [] if name in BOUNDED else JOINED[:1] if name in REGRESSIONS else JOINED
    return VARIANTS.get(name, ALL) + joined


def has_passes(variant, data):
    return variant.startswith(("passes", "average-passes", "alone")) or variant.startswith("pairs") and not data.progressive


def price(variant, data, epsilon):
    if epsilon is None and data.explains:  # nothing clips without a mechanism, and the squared loss wants its records clipped
        return ["--mechanism", "gaussian", "--delta", DELTA, "--mu", 1000]
    if epsilon is None:
        return ["--mechanism", "none", "--tuning", "off" if variant in UNTUNED else "auto"]
    if variant.startswith("laplace"):
        return ["--mechanism", "laplace", "--epsilon", epsilon]
    option = "--total-epsilon" if has_passes(variant, data) else "--epsilon"
    return ["--mechanism", "gaussian", "--delta", DELTA, option, epsilon, *(["--tuning", "off"] if variant in UNTUNED else [])]


def words_of(variant, data, epsilon):
    words = ["--epochs", PASSES if has_passes(variant, data) else 1] if epsilon is None else []
    if variant == "independent":
        words += ["--noise-correlation", "none"]
    words += {"pairs": ["--trust", "pairs"], "alone": ["--personal", "--partition", "iid"]}.get(variant.split("-")[0], [])
    if variant.endswith("opt-outs"):
        words += ["--dropout", 0.2]
    if variant.endswith("norm"):
        words += ["--norm", f"{data.norm:.4g}" + (f",{data.norm_l1:.4g}" if variant.startswith("laplace") else "")]
    if variant in ("average-8", "average-64"):
        words += ["--local-steps", variant.split("-")[1]]
    return words


def without_graph(words):
    """Words of a set for a command whose clients have none."""
    at = words.index("--topology")
    return words[:at] + words[at + 2:]


class Learning:
    def __init__(self, starling, scratch, options):
        self.options, self.told = options, []
        self.runs = {command: experiment.Runs(starling, scratch, command, "--json") for command in ("omd", "fedavg")}

    def accuracy(self, command, label, words, data):
        """(accuracy in percent, epsilon that a record paid; None without noise). What a run said it would lose is kept in `told`."""
        runs = self.runs[command]
        summary = runs.run(label, words)
        alone = experiment.of_owners(runs.scratch / label)["alone"] if "--personal" in words else None
        shutil.rmtree(runs.scratch / label)
        metrics, paid = summary["metrics"], summary["privacy"] or {}
        if alone is not None:
            return alone, None
        figure = 100 * (metrics["test"]["r2"] if data.explains else metrics["progressive_accuracy" if data.progressive else "test_accuracy"])
        if "tuning" in summary and paid.get("mechanism") != "none":
            self.told.append((data, figure, summary["tuning"]["most_lost"]))
        return figure, paid.get("epsilon")

    def outlooks(self, lines):
        """What runs said that they would lose, beside the best mean that their set has in these lines."""
        outlooks = experiment.Outlooks()
        for data, figure, most in self.told:
            best = max(line["mean"] for line in lines if line["data"] == data.name)
            outlooks.add((data.name, data.explains), best - figure, most)
        return outlooks

    def measure(self, name, data, variant, epsilon):
        """A line of learning.csv."""
        averages = variant in AVERAGING
        base = [*(without_graph(data.words) if averages else data.words), *words_of(variant, data, epsilon),
                *price(variant, data, epsilon), *(data.noiseless if epsilon is None and variant not in UNTUNED else [])]
        settings = GRID if variant == "average-by-hand" else [[]]
        jobs = [lambda k=k, seed=seed: self.accuracy("fedavg" if averages else "omd", f"{name}-{variant}-{epsilon}-{k}-{seed}",
                                                     [*base, *settings[k], "--seed", seed], data)
                for k in range(len(settings)) for seed in range(1, self.options.runs + 1)]
        every = experiment.in_parallel(self.options.workers, jobs)
        found = max((every[k:k + self.options.runs] for k in range(0, len(every), self.options.runs)),
                    key=lambda runs: mean([accuracy for accuracy, _ in runs]))
        accuracies = [accuracy for accuracy, _ in found]
        paid = max((paid for _, paid in found if paid is not None), default=None)
        centre, least = (None, None) if self.options.quick else EXPECTED.get((name, variant), {}).get(epsilon, (None, None))
        return {"data": name, "variant": variant, "epsilon": epsilon, "epsilon_paid": paid, "runs": len(found),
                "mean": mean(accuracies), "least": min(accuracies), "expected_mean": centre, "expected_least": least,
                "larger_class": data.larger_class, "norm": data.norm}

    def set(self, name, data, variants, epsilons):
        for variant in variants:
            for epsilon in epsilons:
                noiseless = variant not in HAVE_NO_NOISELESS_RUN and not (data.explains and variant in UNTUNED)
                if noiseless if epsilon is None else variant != "alone":
                    yield self.measure(name, data, variant, epsilon)


def shown(epsilon):
    return "none" if epsilon is None else f"{epsilon:g}"


def figure(value):
    return f"{value:.1f}" if value > -1000 else "< -1000"  # models that explain nothing may be wrong by any amount


def cell(line):
    if line is None:
        return ""
    text = figure(line["mean"]) + (f"/{figure(line['least'])}" if line["runs"] > 1 else "")
    if line["expected_mean"] is None:
        return text
    least = line["expected_least"]
    return f"{text} ({line['expected_mean']:.1f}" + ("" if least is None else f"/{least:.1f}") + ")"


def table(lines, epsilons):
    """The lines of a Markdown table: mean and least, and in brackets what was expected."""
    yield "| data | variant | " + " | ".join(shown(e) for e in epsilons) + " |"
    yield "| --- " * (2 + len(epsilons)) + "|"
    found = {(line["data"], line["variant"], line["epsilon"]): line for line in lines}
    for name in dict.fromkeys(line["data"] for line in lines):
        mine = [line for line in lines if line["data"] == name]
        larger, norm = mine[0]["larger_class"], mine[0]["norm"]
        beside = "" if name in REGRESSIONS else f"larger class {larger:.1f}, "
        title = f"{SETS[name][0]} ({beside}norm {norm:.3g})"
        for k, variant in enumerate(dict.fromkeys(line["variant"] for line in mine)):
            cells = [cell(found.get((name, variant, epsilon))) for epsilon in epsilons]
            yield f"| {title if k == 0 else ''} | {TITLES[variant]} | " + " | ".join(cells) + " |"


def disappointments(lines):
    """What disappoints: means below the expected ones, and below the larger class."""
    for line in lines:
        if line["variant"] in UNTUNED:
            continue
        where = f"{line['data']}, {TITLES[line['variant']]}, epsilon {shown(line['epsilon'])}: {line['mean']:.1f}"
        if line["expected_mean"] is not None and line["mean"] < line["expected_mean"] - 0.5:
            yield f"{where}, {line['expected_mean'] - line['mean']:.1f} below what was expected"
        if line["mean"] <= line["larger_class"]:
            yield f"{where}, no better than {'a constant' if line['data'] in REGRESSIONS else 'the larger class'} ({line['larger_class']:.1f})"


def panel(lines, name):
    """gnuplot's lines for the picture of one set; "" where it has no noisy run."""
    mine = [line for line in lines if line["data"] == name]
    blocks, plots = [], []
    for k, variant in enumerate(DRAWN):
        points = [line for line in mine if line["variant"] == variant and line["epsilon"] is not None]
        if not points:
            continue
        block = f"${name.replace('-', '_')}_{k}"
        blocks.append("\n".join([f"{block} << END", *(f"{p['epsilon']} {p['mean']:.2f} {p['least']:.2f}" for p in points), "END"]))
        plots.append(f"{block} with linespoints pt 7 ps 0.4 lw 2 lc {k + 1} title '{TITLES[variant]}'")
    if not plots:
        return ""
    noiseless = [line["mean"] for line in mine if line["epsilon"] is None and line["variant"] not in UNTUNED]
    if noiseless:
        plots.append(f"{max(noiseless):.2f} with lines dt 2 lc 'black' title 'no noise'")
    plots.append(f"{mine[0]['larger_class']:.2f} with lines dt 3 lc 'black' title 'larger class'")
    return "\n".join([*blocks, f"set title '{SETS[name][0]}'", "plot " + ", \\\n     ".join(plots)])


def draw(folder, lines):
    names = list(dict.fromkeys(line["data"] for line in lines))
    first = [name for name in PANELS if name in names]
    chosen = (first + [name for name in names if name not in first])[:4]
    panels = [text for text in (panel(lines, name) for name in chosen) if text]
    if not panels:
        return
    # Curves have the same colours in all panels: the first has the key.
    script = ["set terminal svg size 1000,720 dynamic noenhanced background '#ffffff'", "set output 'learning.svg'",
              "set multiplot layout 2,2", "set logscale x", "set xlabel 'epsilon, of a record in all'",
              "set ylabel 'accuracy in %'", "set xrange [0.08:10]", "set key bottom right", panels[0],
              "unset key", *panels[1:], "unset multiplot"]
    experiment.draw(folder, "learning", "\n".join(script) + "\n")


def chosen(asked):
    """(sets, variants) of --only: words of both kinds, in any order; none of a kind is all of it, without averaging."""
    words = [each for word in asked.split(",") if word for each in (AVERAGING if word == "averaging" else [word])]
    unknown = [word for word in words if word not in SETS and word not in TITLES]
    if unknown:
        experiment.fail(f"--only {', '.join(unknown)}: unknown (sets: {', '.join(SETS)}; variants: {', '.join(TITLES)})")
    variants = [word for word in TITLES if word in words] or [word for word in TITLES if word not in AVERAGING]
    having = [name for name in SETS if any(variant in variants for variant in variants_of(name))]
    return [word for word in SETS if word in words] or having, variants


def made(names, place):
    """{name: DataSet} of those whose files are there; the others are named."""
    for name in names:
        try:
            data = SETS[name][1](place)
            data.name = name
            yield name, data
        except Missing as missing:
            experiment.say(f"left out: {name}, since there is no {missing} (--data names the folder; see --help)")


def write(folder, lines):
    experiment.write_csv(folder / "learning.csv", lines[0], (line.values() for line in lines))


def collect(options, folder, names, variants, starling, scratch):
    epsilons = QUICK if options.quick else options.epsilons or EPSILONS
    learning, lines = Learning(starling, scratch, options), []
    for name, data in made(names, Place(pathlib.Path(options.data).resolve(), pathlib.Path(scratch), starling, options.quick)):
        for line in learning.set(name, data, [v for v in variants_of(name) if v in variants], epsilons):
            experiment.say(f"{name}, {line['variant']}, epsilon {shown(line['epsilon'])}: {cell(line)}")
            lines.append(line)
            write(folder, lines)
    return lines, epsilons, learning.outlooks(lines)


def main():
    parser = experiment.arguments(__doc__, "results-learning")
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data"),
                        help="where the data sets of others are (../shared/data beside the project)")
    parser.add_argument("--only", metavar="WORDS", default="", help="sets and variants to run, separated by commas")
    parser.add_argument("--runs", metavar="N", type=experiment.positive, default=5, help="of each case (5)")
    parser.add_argument("--epsilons", metavar="LIST", type=lambda text: [None if each == "none" else float(each) for each in text.split(",")],
                        help="of the columns, separated by commas, in place of 0.1,0.3,1,3,8,none")
    parser.add_argument("--quick", action="store_true", help="small sets, one run, epsilon 1 alone: figures mean nothing")
    options = parser.parse_args()
    options.runs = 1 if options.quick else options.runs
    names, variants = chosen(options.only)
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="learning-") as scratch:
        lines, epsilons, outlooks = collect(options, folder, names, variants, starling, scratch)
    if not lines:
        experiment.fail("nothing to run: no file of these sets is there, or none of them has these variants")
    text = "\n".join(table(lines, epsilons))
    (folder / "learning.md").write_text(text + "\n")
    draw(folder, lines)
    print(f"Accuracy in %, mean/least of {options.runs}; (mean/least that were expected)\n\n{text}\n")
    if not options.quick:
        print("\n".join([*disappointments(lines), *outlooks.lines()]))
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
