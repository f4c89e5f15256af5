#!/usr/bin/env python3
"""What models in few bits save and cost: bytes and held-out accuracy of private runs by --message-precision.

  jobs/precision.py                             # a9a and digits, omd and fedavg, ten runs each: some three minutes
  jobs/precision.py --only a9a --runs 100 --precisions double,bits:8        # a minute: the lines of a9a in jobs/papers/precision.csv
  jobs/precision.py --only digits --methods omd --runs 100 --precisions double,bits:8   # three: its other lines

Nothing is tuned: a run is `starling omd` over the exponential graph, or `starling fedavg`, with --total-epsilon 1. Noise comes from
the seed and from what is released, so that precisions have noise of their own. The gain over the first precision is of runs with the same
seed: the same deal of records. Data: a9a/a9a.gz and the files of MNIST in mnist/ in the folder --data (../shared/data beside the project). Writes
figures.csv and precision.md (a table).
"""

import pathlib
import sys
import tempfile

import experiment
from experiment import error_of_mean, mean, with_error

PRECISIONS = ("double", "float32", "float16", "bits:8", "bits:6", "bits:4")


def a9a(options):
    folder = pathlib.Path(options.data).resolve() / "a9a"
    return ["--source", folder / "a9a.gz", "--test", folder / "a9a.t.gz", "--format", "svmlight", "--dimension", 123]


def digits(options):
    folder = pathlib.Path(options.data).resolve() / "mnist"
    of = {name: f"{folder}/{name}-images-idx3-ubyte.gz,{folder}/{name}-labels-idx1-ubyte.gz" for name in ("train", "t10k")}
    return ["--source", of["train"], "--test", of["t10k"], "--scale", "1/255", "--features", "hog", "--loss", "softmax:10"]


SETS = {"a9a": a9a, "digits": digits}
METHODS = ("omd", "fedavg")


def measure(starling, place, words, method, options):
    """By precision, (bytes, accuracy in %) of each run."""
    runs = experiment.Runs(starling, place, command=method, summary="--json")

    def run(precision, seed):
        summary = runs.run(f"{method}-{precision}-{seed}", [*words, "--message-precision", precision, "--seed", seed])
        return summary["traffic"]["bytes"], 100 * summary["metrics"]["test"]["accuracy"]

    cases = [(precision, seed) for precision in options.precisions for seed in range(1, options.runs + 1)]
    found = experiment.in_parallel(options.workers, [lambda case=case: run(*case) for case in cases])
    return {precision: [each for (mine, _), each in zip(cases, found) if mine == precision] for precision in options.precisions}


def main():
    parser = experiment.arguments(__doc__, "results-precision")
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data"),
                        help="where the data sets of others are (../shared/data beside the project)")
    parser.add_argument("--only", metavar="LIST", type=experiment.names_of(SETS), default=list(SETS), help="data sets, separated by commas")
    parser.add_argument("--methods", metavar="LIST", type=experiment.names_of(METHODS), default=list(METHODS), help="omd and fedavg, separated by commas")
    parser.add_argument("--precisions", metavar="LIST", type=lambda text: text.split(","), default=list(PRECISIONS),
                        help=f"separated by commas, the first to compare with ({','.join(PRECISIONS)})")
    parser.add_argument("--clients", metavar="N", type=experiment.positive, default=16, help="(16)")
    parser.add_argument("--runs", metavar="N", type=experiment.positive, default=10, help="of each case (10)")
    options = parser.parse_args()
    starling, folder = experiment.find_starling(options.starling), experiment.output_folder(options.output)
    rows, figures = [], []
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="precision-") as scratch:
            place = pathlib.Path(scratch)
            graph = place / "graph.topo"
            experiment.subprocess.run([starling, "topology", "make", "exponential", "--clients", str(options.clients), "--output", str(graph)],
                                      check=True, capture_output=True)
            words = [*SETS[name](options), "--clients", options.clients, "--mechanism", "gaussian", "--total-epsilon", 1, "--noise-key", "seed"]
            for method in options.methods:
                own = ["--topology", graph] if method == "omd" else []
                found = measure(starling, place, [*words, *own], method, options)
                first = found[options.precisions[0]]
                for precision, each in found.items():
                    case = f"{name}, {method}, {precision}"
                    own_figures = {"accuracy": [score for _, score in each], "fewer bytes": [first[0][0] / each[0][0]],
                                   "gain": [score - whole for (_, score), (_, whole) in zip(each, first)]}
                    figures += [[f"{case}, {what}", f"{mean(values):.3f}", f"{error_of_mean(values):.3f}", len(values)]
                                for what, values in own_figures.items()]
                    rows.append([name, method, precision, f"{own_figures['fewer bytes'][0]:.1f}",
                                 *(with_error(own_figures[what], ".2f").replace("+-", "±") for what in ("accuracy", "gain"))])
    header = ["data", "method", "precision", "fewer bytes", "accuracy in %", "gain in points"]
    experiment.write_figures(folder, figures)
    text = "\n".join("| " + " | ".join(each) + " |" for each in [header, ["---"] * len(header), *rows])
    (folder / "precision.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
