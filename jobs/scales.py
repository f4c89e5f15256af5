#!/usr/bin/env python3
"""What released means and deviations of features are worth: test accuracy with and without --feature-share.

  jobs/scales.py                                   # all sets, some 600 short runs, a quarter of an hour and more
  jobs/scales.py --only elec2,fair --epsilons 1    # two sets at one epsilon
  jobs/scales.py --hidden 16 --variants as-is,released --only credit-units,flchain    # networks
  jobs/scales.py --variants chosen,without         # what an intercept is worth
  jobs/scales.py --only units --quick              # whether everything runs

Runs are those of `starling omd` with nothing tuned, 16 passes (elec2: one) and Gaussian noise; epsilon is what a record pays in
all, at delta = 1e-5. Figures as in learning.py: accuracy, or of demand the share of variance explained. The variants:

  as-is     the table as it is: --feature-share 0
  rms       features divided by their exact root mean square: an upper bound, not private
  sd        features less their exact mean, divided by their exact deviation: likewise
  released  what starling does: a mean and a deviation from released histograms, where records are many enough
  public    --ranges or --standardise with constants that need no look at the data
  chosen    as released, with the intercept left to the rule of --tuning; the others have --intercept. Where it is named
  without   as released, with --intercept no. Where it is named

The data of others are looked for as in learning.py (--data), two tables of statsmodels in --tables, and those of R's packages
survival and ggplot2 by Rscript. What is missing is named, and the other sets are run. Writes scales.csv and scales.md (a table). The last lines are about what runs said they would lose, as in
learning.py.
"""

import pathlib
import sys
import tempfile

import experiment
import learning
from learning_sets import Missing, Place
from scales_parts import CASES, columns, exact

DELTA = 1e-5
INTERCEPTS = {"chosen": [], "without": ["--intercept", "no"]}  # in place of --intercept
VARIANTS = ("as-is", "rms", "sd", "released", "public", *INTERCEPTS)


class Study:
    def __init__(self, starling, place, options):
        self.starling, self.place, self.options = starling, place, options
        self.learning = learning.Learning(starling, place.scratch, options)

    @staticmethod
    def releases(variant):
        return variant == "released" or variant in INTERCEPTS

    def scaling(self, name, variant, features, label):
        """Words that scale the features."""
        option, values = CASES[name][2:]
        if variant == "as-is":
            return ["--feature-share", 0]
        if self.releases(variant):
            return ["--feature-share", self.options.share]
        if variant == "public" and option == "--ranges":
            path = self.place.scratch / f"{label}.csv"
            experiment.write_csv(path, ["feature", "low", "high"], ([k, *both] for k, both in enumerate(values)))
            return ["--ranges", path]
        if variant != "public":
            values = [exact(column, variant == "sd") for column in features]
        return self.place.constants(label, values)

    def model(self, data, variant, features):
        """Words of the set, with a network in place of a linear model if --hidden says so."""
        words = [word for word in data.words if word != "--intercept"]
        if self.options.hidden is None:
            return [*words, *INTERCEPTS[variant]] if variant in INTERCEPTS else data.words
        return [*words, *([] if "--loss" in words else ["--loss", "logistic"]), "--model", f"mlp:{features}-{self.options.hidden}-1"]

    def run(self, name, data, variant, features, epsilon, seed):
        label = f"{name}-{variant}-{epsilon}-{seed}"
        words = [*self.model(data, variant, len(features)), *self.scaling(name, variant, features, label), *(["--epochs", 1] if data.progressive else []),
                 "--mechanism", "gaussian", "--delta", DELTA, "--total-epsilon", epsilon, "--seed", seed]
        return self.learning.accuracy("omd", f"run-{label}", words, data)[0]

    def set(self, name):
        """Lines of scales.csv of a set."""
        data = CASES[name][1](self.place)
        data.name = name
        features = columns(data)
        cases = [(variant, epsilon) for variant in self.options.variants if variant != "public" or CASES[name][2]
                 for epsilon in self.options.epsilons]
        seeds = range(1, self.options.runs + 1)
        found = iter(experiment.in_parallel(self.options.workers, [
            lambda case=case, seed=seed: self.run(name, data, case[0], features, case[1], seed) for case in cases for seed in seeds]))
        for variant, epsilon in cases:
            values = [next(found) for _ in seeds]
            yield {"data": name, "variant": variant, "epsilon": epsilon, "runs": len(values), "mean": experiment.mean(values),
                   "least": min(values), "share": self.options.share if self.releases(variant) else 0,
                   "larger_class": data.larger_class}


def markdown(lines, variants):
    """A table of means: a row for each set and epsilon, a column for each variant."""
    yield "| data | ε | " + " | ".join(variants) + " |"
    yield "| --- " * (2 + len(variants)) + "|"
    found = {(line["data"], line["epsilon"], line["variant"]): line for line in lines}
    larger = {line["data"]: line["larger_class"] for line in lines}
    for name, epsilon in dict.fromkeys((line["data"], line["epsilon"]) for line in lines):
        cells = [learning.figure(found[key]["mean"]) if (key := (name, epsilon, variant)) in found else "" for variant in variants]
        title = f"{CASES[name][0]} ({larger[name]:.1f})" if epsilon == lines[0]["epsilon"] else ""
        yield f"| {title} | {epsilon:g} | " + " | ".join(cells) + " |"


def main():
    parser = experiment.arguments(__doc__, "results-scales")
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data"),
                        help="where the data sets of others are (../shared/data beside the project)")
    parser.add_argument("--tables", metavar="FOLDER", default="/usr/lib/python3/dist-packages/statsmodels/datasets",
                        help="data sets of statsmodels (those of Debian's package python3-statsmodels)")
    parser.add_argument("--only", metavar="SETS", type=experiment.names_of(CASES), default=list(CASES), help="separated by commas")
    parser.add_argument("--variants", type=experiment.names_of(VARIANTS), default=[each for each in VARIANTS if each not in INTERCEPTS],
                        help="separated by commas")
    parser.add_argument("--runs", metavar="N", type=experiment.positive, default=3, help="of each case (3)")
    parser.add_argument("--epsilons", metavar="LIST", type=lambda text: [float(each) for each in text.split(",")],
                        default=[0.3, 1, 3, 8], help="separated by commas (0.3,1,3,8)")
    parser.add_argument("--share", metavar="S", type=float, default=0.1, help="of the release in mu^2 (0.1)")
    parser.add_argument("--hidden", metavar="N", type=experiment.positive, help="networks with so many hidden units in place of linear models")
    parser.add_argument("--quick", action="store_true", help="small sets, one run, epsilon 1 alone: figures mean nothing")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.epsilons = 1, [1]
    starling, folder, lines = experiment.find_starling(options.starling), experiment.output_folder(options.output), []
    with tempfile.TemporaryDirectory(prefix="scales-") as scratch:
        place = Place(pathlib.Path(options.data).resolve(), pathlib.Path(scratch), starling, options.quick)
        place.tables = pathlib.Path(options.tables)
        study = Study(starling, place, options)
        for name in options.only:
            try:
                lines += study.set(name)
            except Missing as missing:
                experiment.say(f"left out: {name}, since there is no {missing} (--data and --tables name the folders; see --help)")
                continue
            experiment.say(f"{name}: done")
            experiment.write_csv(folder / "scales.csv", lines[0], (line.values() for line in lines))
            (folder / "scales.md").write_text("\n".join(markdown(lines, options.variants)) + "\n")
    if not lines:
        experiment.fail("nothing to run: no file of these sets is there")
    print("\n".join([(folder / "scales.md").read_text(), *study.learning.outlooks(lines).lines()]))


if __name__ == "__main__":
    sys.exit(main())
