#!/usr/bin/env python3
"""Handwritten digits (MNIST) over ten clients with three of thirty label-sorted shards each, on the graph of the dissertation's
section 5.5, with shares of 0.2.

honest: what a record pays in all is epsilon = 0.1, 0.5, 1 or 8 at delta = 1e-5. Gaussian noise on each client's gradients,
softmax on histograms of gradients (--features hog, a public transform of each image by itself), eight exchanges a round,
models averaged over the second half of the rounds. Each round takes all of a client's records; how many rounds (passes over
the data), step and clip are those of HONEST below, and what one round may cost is asked of `starling privacy calibrate`.
Beside each accuracy on the 10,000 test images, averaged over the ten clients and over seeds, which decide both on the shards
and on the noise, stands a prototype's, and that of federated averaging (`starling fedavg`, one local step a round) with the same
settings, shards and prices: an aggregator that sees every client's released model, where omd's clients have four neighbours.

claimed: what that section prints, in our reading of it, and NOT the privacy that it claims. Its convolutional network, batches of
m = 128 and 150 rounds of one step. The section does not say where its noise is added, nor for what sensitivity. We read noise on
the model with the sensitivity 2 step clip / n, n being the client's 6,000 records: with the m of a batch in place of n the noise
leaves nothing to learn from at these epsilons. One record moves the mean of a batch by 2 clip / m.
Laplace noise needs a bound in L1, in which a gradient of 582,026 numbers is some 300 times as long as in L2. So gradients are
clipped in L2, and the noise is Gaussian of the same deviation, sqrt(2) 2 clip / (n epsilon) on the mean of a batch, which is that
of a release at mu = n epsilon / (sqrt(2) m). What a record truly pays stands beside epsilon. Step and clip are in
jobs/mnist-cnn.ini and STEP below. A run takes minutes, so this table is only made where --tables asks for it. The pictures
fig5.1 and fig5.2 are accuracies by rounds, of the models of a round before they are averaged over rounds, with bands of one
standard deviation of a run. Each point scores ten networks on all test images, which takes as long as some twenty rounds.

untuned: the same data, graph and prices in all, without any setting: jobs/mnist-untuned.ini, whose batches, clips and steps
are those of --tuning auto, for the models of UNTUNED. Noise is secret, so each call has other figures.

--tune asks whether HONEST would better have half or twice as many passes, half or twice the step or clip, on another split:
50,000 training images to learn from, and the other 10,000 to choose by. The test images are not looked at. Choosing looks,
without noise, at training images that are records of the table too: the privacy that it states is that of runs whose settings
are given. Of claimed it tries half and twice the step, on the same split, with 2,000 of the images that are held out.

Writes honest.csv, claimed.csv with fig5.1, fig5.2 and figures.csv (jobs/papers/mnist.csv), and untuned.csv or, with --tune,
honest-tune.csv and claimed-tune.csv.
"""

import argparse
import gzip
import math
import pathlib
import statistics
import sys
import tempfile

import experiment
from experiment import mean, with_error

DELTA = 1e-5
IMAGES = {"train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
          "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")}
HELD_OUT = 6  # one image in so many
# Epsilon in all: passes over the data, step, clip, and the prototype's accuracy.
HONEST = {0.1: (12, 5, 1.6, 83.6), 0.5: (40, 8, 1.6, 93.2), 1: (120, 6, 2, 94.8), 8: (200, 10, 4, 95.0)}
# What --tune tries: factors of passes, step and clip.
AROUND = ((1, 1, 1), (0.5, 1, 1), (2, 1, 1), (1, 0.5, 1), (1, 2, 1), (1, 1, 0.5), (1, 1, 2))
TOLERANCE = 0.5
# Models that learn with nothing tuned, by name: features and --model.
UNTUNED = {"softmax": ("hog", "linear"), "mlp": ("hog", "mlp:129-64-10"), "pixels-mlp": ("raw", "mlp:784-128-10"),
           "pixels-cnn": ("raw", "cnn:4-8-32")}
FIGURES = {0.1: "fig5.1", 0.5: "fig5.2"}  # of the dissertation, by its epsilon
# The dissertation's epsilon: what it prints of each command, in percent.
CLAIMED = {0.1: {"omd": 93.28, "fedavg": 91.47}, 0.5: {"omd": 94.01, "fedavg": 92.59}}
RECORDS, BATCH = 6000, 128  # n and m: of a client, and of a round
STEP, STEPS = 16, (8, 16, 32)  # of the table, and what --tune tries
FEW = 2000  # images held out that ten networks can be scored on in little time


class Mnist:
    """The four files in `folder`, and runs on them."""

    def __init__(self, starling, scratch, folder, options):
        self.starling, self.folder, self.options = starling, folder, options
        self.runs = {command: experiment.Runs(starling, scratch, command, "--json") for command in ("omd", "fedavg")}
        self.scratch = self.runs["omd"].scratch

    def pair(self, name):
        return ",".join(str(self.folder / file) for file in IMAGES[name])

    def price(self, epsilon, passes):
        """Mu of one release such that `passes` of them cost a record no more than epsilon at DELTA."""
        return experiment.privacy(self.starling, "calibrate", epsilon=epsilon, delta=DELTA, releases=passes)["mu"]

    def curve(self, command, name):
        """Rounds and accuracies in percent of a run, as it recorded them."""
        history = self.runs[command].history(name)
        return [(int(t), 100 * value) for t, value in zip(history["rounds"], history["test_accuracy"]) if value is not None]

    def run(self, name, command, preset, own):
        """Accuracy in percent on the test set and what a record pays, of jobs/PRESET.ini with settings of its `own`."""
        words = [f"--{key}={value}" for key, value in {**settings(command, preset), **own}.items()]
        summary = self.runs[command].run(name, words)
        return 100 * summary["metrics"]["test_accuracy"], summary["privacy"]["record_epsilon"]

    def run_honest(self, name, command, source, test, epsilon, passes, step, clip, seed):
        """Accuracy of a run that costs a record no more than epsilon."""
        accuracy, paid = self.run(name, command, "mnist-hog", {
            "source": source, "test": test, "epochs": passes, "step": step, "clip": clip, "mu": self.price(epsilon, passes),
            "seed": seed})
        if not 0.99 * epsilon < paid <= epsilon:
            raise RuntimeError(f"a record pays epsilon = {paid}, not {epsilon} (the price is that of one release a pass)")
        return accuracy

    def run_claimed(self, name, command, source, test, epsilon, step, seed):
        """Accuracy, what a record pays of a run that the dissertation calls epsilon, and accuracies by rounds."""
        rounds = self.options.rounds
        return *self.run(name, command, "mnist-cnn", {
            "source": source, "test": test, "rounds": rounds, "record-every": max(1, rounds // self.options.points), "step": step,
            "mu": RECORDS * epsilon / (math.sqrt(2) * BATCH), "seed": seed}), self.curve(command, name)

    def run_untuned(self, name, source, test, epsilon, features, model, seed):
        return self.run(name, "omd", "mnist-untuned", {"source": source, "test": test, "total-epsilon": epsilon, "delta": DELTA,
                                                       "features": features, "model": model, "seed": seed})

    def all(self, run, cases):
        """What `run` gives, by key, for cases {key: arguments of run, but for the name}."""
        jobs = [lambda k=k, words=words: run(f"run-{k}", *words) for k, words in enumerate(cases.values())]
        return dict(zip(cases, experiment.in_parallel(self.options.workers, jobs)))


def settings(command, preset):
    """Those of jobs/PRESET.ini; an aggregator has no graph."""
    lines = (experiment.PROJECT / "jobs" / f"{preset}.ini").read_text().splitlines()
    found = dict(line.split(" = ", 1) for line in lines if line and not line.startswith("#"))
    if "topology" in found:
        found["topology"] = str((experiment.PROJECT / "jobs" / found["topology"]).resolve())
    return {key: value for key, value in found.items() if command == "omd" or key not in ("topology", "gossip-steps")}


def verdict(ours, prototype):
    if ours < prototype - TOLERANCE:
        return "falls short"
    return "better" if ours > prototype + TOLERANCE else f"within {TOLERANCE}"


def longest_first(epsilons):
    """So that what is left for the end is short."""
    return sorted(epsilons, key=lambda epsilon: -HONEST[epsilon][0])


def honest(mnist, folder):
    seeds = range(1, mnist.options.seeds + 1)
    found = mnist.all(mnist.run_honest, {(command, epsilon, seed): (command, mnist.pair("train"), mnist.pair("test"), epsilon,
                                                  *HONEST[epsilon][:3], seed)
                       for epsilon in longest_first(mnist.options.epsilons) for command in mnist.runs for seed in seeds})
    print(f"\nRecord-level epsilon in all, delta = {DELTA:g}; accuracy in %, mean and standard error of {len(seeds)} seeds")
    print("epsilon  passes   step  clip   ours             (least to most)   prototype  verdict        fedavg")
    rows = []
    for epsilon in mnist.options.epsilons:
        passes, step, clip, prototype = HONEST[epsilon]
        accuracies, averaged = ([found[command, epsilon, seed] for seed in seeds] for command in ("omd", "fedavg"))
        said = verdict(mean(accuracies), prototype)
        print(f"{epsilon:<7g}  {passes:6}  {step:5g}  {clip:4g}   {with_error(accuracies, '.2f'):<15}  ({min(accuracies):.2f} to "
              f"{max(accuracies):.2f})   {prototype:9.1f}  {said:<13}  {with_error(averaged, '.2f')}")
        rows.append([epsilon, DELTA, passes, step, clip, mean(accuracies), min(accuracies), max(accuracies), prototype, said,
                     mean(averaged), min(averaged), max(averaged)])
    experiment.write_csv(folder / "honest.csv", ["epsilon", "delta", "passes", "step", "clip", "accuracy", "least", "most",
                                                 "prototype", "verdict", "fedavg", "fedavg_least", "fedavg_most"], rows)


def split(files, scratch, most=math.inf):
    """The training set cut in two, as pairs of files: to learn from, and of the last sixth of the records at most so many."""
    names = {"learn": [], "held-out": []}
    for file in files:
        content = gzip.decompress(file.read_bytes())
        rank = content[3]
        head, values = content[4:4 + 4 * rank], content[4 + 4 * rank:]
        records = int.from_bytes(head[:4], "big")
        width = len(values) // records
        learn = records - records // HELD_OUT
        end = min(records, learn + most)
        for part, own in (("learn", values[:learn * width]), ("held-out", values[learn * width:end * width])):
            path = pathlib.Path(scratch) / f"{part}-{file.name.removesuffix('.gz')}"
            path.write_bytes(content[:4] + (len(own) // width).to_bytes(4, "big") + head[4:] + own)
            names[part].append(str(path))
    return ",".join(names["learn"]), ",".join(names["held-out"])


def tune_honest(mnist, folder):
    learn, held_out = split([mnist.folder / file for file in IMAGES["train"]], mnist.scratch)
    seeds = range(1, mnist.options.seeds + 1)
    grids = {epsilon: [(max(1, round(passes * a)), step * b, clip * c) for a, b, c in AROUND]
             for epsilon in mnist.options.epsilons for passes, step, clip, _ in [HONEST[epsilon]]}
    found = mnist.all(mnist.run_honest, {(epsilon, setting, seed): ("omd", learn, held_out, epsilon, *setting, seed)
                       for epsilon in longest_first(grids) for setting in grids[epsilon]
                       for seed in seeds})
    rows = []
    for epsilon, grid in grids.items():
        accuracies = {setting: mean([found[epsilon, setting, seed] for seed in seeds]) for setting in grid}
        best, own = max(accuracies, key=accuracies.get), HONEST[epsilon][:3]
        print(f"epsilon {epsilon:g}: best of {len(grid)} are {best[0]} passes, step {best[1]:g}, clip {best[2]:g} with "
              f"{accuracies[best]:.2f} % of images held out; the table's {own[0]}, {own[1]:g}, {own[2]:g} have "
              f"{accuracies[own]:.2f} %")
        rows += [[epsilon, *setting, accuracy, int(setting == best)] for setting, accuracy in accuracies.items()]
    experiment.write_csv(folder / "honest-tune.csv", ["epsilon", "passes", "step", "clip", "accuracy", "best"], rows)


def claimed_epsilons(mnist):
    return [epsilon for epsilon in mnist.options.epsilons if epsilon in CLAIMED]


def draw_rounds(folder, epsilon, curves):
    """Accuracy by rounds of each command, over its seeds."""
    shown = {}
    for command, of_seeds in curves.items():
        values = [[accuracy for _, accuracy in points] for points in zip(*of_seeds)]
        shown[command] = ([points[0][0] for points in zip(*of_seeds)], list(map(mean, values)), list(map(statistics.pstdev, values)))
    figure = FIGURES[epsilon]
    experiment.draw_curves(folder, figure, (f"{figure}: accuracy by rounds, claimed epsilon {epsilon:g}", "round", "%"), shown)


def claimed(mnist, folder):
    seeds, wanted = range(1, mnist.options.seeds + 1), claimed_epsilons(mnist)
    found = mnist.all(mnist.run_claimed, {
        (command, epsilon, seed): (command, mnist.pair("train"), mnist.pair("test"), epsilon, STEP, seed)
        for command in mnist.runs for epsilon in wanted for seed in seeds})
    print(f"\nNOT the privacy that is claimed: noise as if batches of {BATCH} had {RECORDS} records; accuracy in %, mean and "
          f"standard error of {len(seeds)} seed{'s' if len(seeds) > 1 else ''}")
    print(f"claimed epsilon  a record pays (delta = {DELTA:g})  run     ours             dissertation")
    rows, figures = [], []
    for epsilon in wanted:
        curves = {}
        for command in mnist.runs:
            accuracies, paid, curves[command] = zip(*(found[command, epsilon, seed] for seed in seeds))
            printed = CLAIMED[epsilon][command]
            print(f"{epsilon:<15g}  {max(paid):<29.4g}  {command:<6}  {with_error(accuracies, '.2f'):<15}  {printed:.2f}")
            rows.append([epsilon, command, DELTA, max(paid), mnist.options.rounds, STEP, mean(accuracies), min(accuracies),
                         max(accuracies), printed])
            figures.append([f"claimed {epsilon:g}, {command}", f"{mean(accuracies):.3f}", f"{experiment.error_of_mean(accuracies):.2g}", len(seeds)])
        figures.append([f"claimed {epsilon:g}, a record pays", f"{max(paid):.4g}", 0, len(seeds)])
        draw_rounds(folder, epsilon, curves)
    experiment.write_csv(folder / "claimed.csv", ["epsilon", "command", "delta", "record_epsilon", "rounds", "step", "accuracy",
                                                  "least", "most", "dissertation"], rows)
    experiment.write_figures(folder, figures)


def tune_claimed(mnist, folder):
    learn, held_out = split([mnist.folder / file for file in IMAGES["train"]], mnist.scratch, FEW)
    seeds = range(1, mnist.options.seeds + 1)
    found = mnist.all(mnist.run_claimed, {(command, epsilon, step, seed): (command, learn, held_out, epsilon, step, seed)
                                          for command in mnist.runs for epsilon in claimed_epsilons(mnist) for step in STEPS
                                          for seed in seeds})
    rows = []
    for epsilon in claimed_epsilons(mnist):
        for command in mnist.runs:
            accuracies = {step: mean([found[command, epsilon, step, seed][0] for seed in seeds]) for step in STEPS}
            best = max(accuracies, key=accuracies.get)
            print(f"{command} at what is called epsilon {epsilon:g}: best of {len(STEPS)} is step {best:g} with "
                  f"{accuracies[best]:.2f} % of images held out; the table's {STEP:g} has {accuracies[STEP]:.2f} %")
            rows += [[epsilon, command, step, accuracy, int(step == best)] for step, accuracy in accuracies.items()]
    experiment.write_csv(folder / "claimed-tune.csv", ["epsilon", "command", "step", "accuracy", "best"], rows)


def untuned(mnist, folder):
    seeds = range(1, mnist.options.seeds + 1)
    found = mnist.all(mnist.run_untuned, {(name, epsilon, seed): (mnist.pair("train"), mnist.pair("test"), epsilon, *UNTUNED[name],
                                                                  seed)
                                          for name in mnist.options.models for epsilon in mnist.options.epsilons for seed in seeds})
    print(f"\nNothing tuned; epsilon in all, delta = {DELTA:g}; accuracy in %, mean and standard error of {len(seeds)} "
          f"seed{'s' if len(seeds) > 1 else ''}")
    print("model          features  epsilon   accuracy         (least to most)")
    rows = []
    for name in mnist.options.models:
        for epsilon in mnist.options.epsilons:
            accuracies = [found[name, epsilon, seed][0] for seed in seeds]
            features, model = UNTUNED[name]
            print(f"{model:<14} {features:<8}  {epsilon:<7g}   {with_error(accuracies, '.2f'):<15}  ({min(accuracies):.2f} to "
                  f"{max(accuracies):.2f})")
            rows.append([name, features, model, epsilon, DELTA, mean(accuracies), min(accuracies), max(accuracies)])
    experiment.write_csv(folder / "untuned.csv", ["name", "features", "model", "epsilon", "delta", "accuracy", "least", "most"], rows)


def nothing_to_tune(mnist, folder):
    raise RuntimeError("--tune with the untuned table: it has no settings. Name another table.")


# What is measured, and how its settings are chosen.
SECTIONS = {"honest": (honest, tune_honest), "claimed": (claimed, tune_claimed), "untuned": (untuned, nothing_to_tune)}


def epsilons(text):
    wanted = [float(word) for word in text.split(",")]
    unknown = [f"{epsilon:g}" for epsilon in wanted if epsilon not in HONEST]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} (known: {', '.join(f'{epsilon:g}' for epsilon in HONEST)})")
    return wanted


def main():
    parser = experiment.arguments(__doc__, "results-mnist")
    parser.set_defaults(workers=experiment.os.cpu_count() or 1)
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data" / "mnist"),
                        help="where the four files of MNIST are (../shared/data/mnist beside the project)")
    parser.add_argument("--tables", metavar="WHICH", type=experiment.names_of(SECTIONS), default=["honest"],
                        help=f"sections, separated by commas, of {','.join(SECTIONS)} (honest)")
    parser.add_argument("--epsilons", metavar="E", type=epsilons, default=list(HONEST),
                        help=f"rows of the tables, separated by commas ({','.join(f'{epsilon:g}' for epsilon in HONEST)}; "
                             f"of claimed only {' and '.join(f'{epsilon:g}' for epsilon in CLAIMED)})")
    parser.add_argument("--models", metavar="NAME", type=experiment.names_of(UNTUNED), default=list(UNTUNED),
                        help=f"rows of the untuned table, separated by commas ({','.join(UNTUNED)})")
    parser.add_argument("--rounds", metavar="N", type=experiment.positive, default=150,
                        help="of a run of the claimed table (150)")
    parser.add_argument("--seeds", metavar="N", type=experiment.positive, default=3, help="runs per row (3)")
    parser.add_argument("--points", metavar="N", type=experiment.positive, default=5, help="of the curves by rounds (5)")
    parser.add_argument("--tune", action="store_true", help="choose settings on images held out of the training set instead")
    options = parser.parse_args()
    data = pathlib.Path(options.data).resolve()
    for name in (*IMAGES["train"], *IMAGES["test"]):
        if not (data / name).exists():
            experiment.fail(f"there is no {data / name}: the data set MNIST is not part of the project. Say where it is: --data FOLDER.")
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="mnist-") as scratch:
        for name in options.tables:
            measure, tune = SECTIONS[name]
            (tune if options.tune else measure)(Mnist(starling, scratch, data, options), folder)
    print(f"\nTables: {folder}")


if __name__ == "__main__":
    sys.exit(main())
