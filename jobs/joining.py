#!/usr/bin/env python3
"""Is joining worth it? Accuracy of clients that stay alone, of the joint model under local noise and under noise between pairs, and
of personal models, over few and many clients.

  jobs/joining.py                               # 5, 64 and 1,000 clients of a9a, twenty minutes and more
  jobs/joining.py --clients 64 --runs 1         # one row, two minutes
  jobs/joining.py --partition dirichlet:0.5     # clients whose labels differ

Nothing is tuned: a run is `starling omd --total-epsilon E --personal`, with --trust local or pairs, over the exponential graph. Each
client judges by a fifth of its own records, which a model fitted for that purpose has not seen (private/<rank>/personal.csv); the
figures are means over clients, and over runs with noise of their own. Alone means no noise and no other client, with the penalty that
the client's other records choose. Data: a9a/a9a.gz in the folder --data (../shared/data beside the project). Writes figures.csv,
joining.md (a table) and joining.svg with its points in joining.csv.
"""

import pathlib
import sys
import tempfile

import experiment
from experiment import mean

EPSILONS = (0.1, 0.3, 1, 3)
TRUSTS = ("local", "pairs")


def words_of(place, clients, options, trust, epsilon, seed):
    graph = place / f"{clients}.topo"
    return ["--source", pathlib.Path(options.data).resolve() / "a9a" / "a9a.gz", "--format", "svmlight", "--dimension", 123, "--clients", clients,
            "--topology", graph, "--partition", options.partition, "--seed", seed, "--mechanism", "gaussian", "--trust", trust,
            "--total-epsilon", epsilon, "--delta", 1e-5, "--personal"]


def measure(runs, place, clients, options, trust, epsilon):
    """Means over runs."""
    found = []
    for seed in range(1, options.runs + 1):
        name = f"{clients}-{trust}-{epsilon}-{seed}"
        runs.run(name, words_of(place, clients, options, trust, epsilon, seed))
        found.append(experiment.of_owners(pathlib.Path(runs.scratch) / name))
    return {figure: mean([each[figure] for each in found]) for figure in experiment.OWN_FIGURES}


def table(found, options):
    yield "| clients | epsilon | alone | joint, local | joint, pairs | personal, local | personal, pairs |"
    yield "| --- " * 7 + "|"
    for clients in options.clients:
        for epsilon in options.epsilons:
            local, pairs = (found[clients, trust, epsilon] for trust in TRUSTS)
            cells = [local["alone"], local["joint"], pairs["joint"], local["personal"], pairs["personal"]]
            yield f"| {clients} | {epsilon:g} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |"


def draw(folder, found, options):
    curves = {}
    for clients in options.clients:
        series = {f"{clients} clients, alone": [found[clients, "local", e]["alone"] for e in options.epsilons]}
        for trust in TRUSTS:
            series[f"{clients} clients, joint, {trust}"] = [found[clients, trust, e]["joint"] for e in options.epsilons]
        series[f"{clients} clients, personal"] = [found[clients, "pairs", e]["personal"] for e in options.epsilons]
        curves.update({title: (options.epsilons, values) for title, values in series.items()})
    experiment.draw_curves(folder, "joining", ["a9a: is joining worth it?", "epsilon, of a record in all", "accuracy in %"], curves, ["set logscale x"])


def main():
    parser = experiment.arguments(__doc__, "results-joining")
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data"),
                        help="where the data sets of others are (../shared/data beside the project)")
    parser.add_argument("--clients", metavar="LIST", type=lambda text: [int(each) for each in text.split(",")], default=[5, 64, 1000],
                        help="numbers of clients, separated by commas (5,64,1000)")
    parser.add_argument("--epsilons", metavar="LIST", type=lambda text: [float(each) for each in text.split(",")], default=list(EPSILONS),
                        help="separated by commas (0.1,0.3,1,3)")
    parser.add_argument("--partition", metavar="HOW", default="iid", help="as starling omd has it (iid)")
    parser.add_argument("--runs", metavar="N", type=experiment.positive, default=3, help="of each case (3)")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="joining-") as scratch:
        runs, place, found = experiment.Runs(starling, scratch, summary="--json"), pathlib.Path(scratch), {}
        for clients in options.clients:
            experiment.subprocess.run([starling, "topology", "make", "exponential", "--clients", str(clients), "--output", str(place / f"{clients}.topo")],
                                      check=True, capture_output=True)
        cases = [(clients, trust, epsilon) for clients in options.clients for trust in TRUSTS for epsilon in options.epsilons]
        done = experiment.in_parallel(min(options.workers, experiment.os.cpu_count() or 1),
                                      [lambda case=case: measure(runs, place, case[0], options, case[1], case[2]) for case in cases])
        found = dict(zip(cases, done))
    experiment.write_csv(folder / "figures.csv", ["clients", "trust", "epsilon", *experiment.OWN_FIGURES],
                         ([*case, *(f"{found[case][figure]:.3f}" for figure in experiment.OWN_FIGURES)] for case in cases))
    text = "\n".join(table(found, options))
    (folder / "joining.md").write_text(text + "\n")
    draw(folder, found, options)
    print(f"Accuracy in %, mean over clients and {options.runs} runs\n\n{text}\n\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
