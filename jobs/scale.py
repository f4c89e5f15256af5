#!/usr/bin/env python3
"""How many clients, which graph: error, consensus and regret against the number of clients, and what rounds cost.

  jobs/scale.py --most 1000 --output scale              # some minutes
  jobs/scale.py --most 100000 --workers 1 --output scale   # long, and 2·10^7 records in memory

Clients, 10, 32, 100, ... of them, look for the mean of all their records' points, of which each sees its own alone, half a
unit off (jobs/scale.ini), on a ring, an exponential graph, a random regular one and one-peer exponential, with exact Laplace
noise (epsilon = 4 for each record) and without any.
scale.csv has a line for each run:

  error      distance of a client's model (its mean over the last half of the rounds) to the one that is best in hindsight
             for all records: root of the mean square over clients
  consensus  distance of a client's model to the mean of all: root of the mean square over clients, and over the reported
             rounds of the last half
  regret     static regret per client and round, against the best single model for all records: negative where models between
             a client's own target and the common one fit its records better, as mixing slowly makes them; it does not rank graphs
  contraction, rounds_to_1e-3   of the graph (starling topology check)

cost.csv has the seconds of a round against n and d, on one process, and scale.svg shows all of it. Exponents, fitted by least
squares to logarithms from 100 clients on, are printed; where a value is not positive none is, and it is said how many are not."""

import json
import math
import shutil
import subprocess
import tempfile

import experiment

GRAPHS = {"ring": "ring", "exponential": "exponential", "random regular, degree 4": "random-regular degree=4",
          "one-peer exponential": "one-peer-exponential"}
NOISES = {"noise": [], "no noise": ["--mechanism", "none"]}  # else as jobs/scale.ini has it
COST_GRAPH = "random-regular degree=8"
DIMENSIONS = (10, 30, 100, 300, 1000)
FITTED_FROM = 100


def sizes(most, least=10):
    """10, 32, 100, 316, 1000, ... up to `most`; even numbers, so that every degree fits."""
    found = []
    while (n := 2 * round(least * 10 ** (len(found) / 2) / 2)) <= most:
        found.append(n)
    return found


def root_mean_square(values):
    values = list(values)
    return math.sqrt(math.fsum(value * value for value in values) / len(values))


class Scale:
    def __init__(self, options, scratch):
        self.options, self.runs = options, experiment.Runs(experiment.find_starling(options.starling), scratch)
        self.scratch = self.runs.scratch

    def topology(self, words, clients):
        path = self.scratch / f"{words.replace(' ', '-').replace('=', '-')}-{clients}.topo"
        family, *parameters = words.split()
        path.write_text(" ".join(["generate", family, f"clients={clients}", *parameters]) + "\n")
        return path

    def rate(self, words, clients):
        """(contraction, rounds to 1e-3) of a graph; None where they are not known."""
        done = subprocess.run([self.runs.starling, "topology", "check", str(self.topology(words, clients)), "--json"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        check = json.loads(done.stdout)
        return check["contraction"], check["rounds_to_1e-3"]

    def learn(self, graph, noise, clients):
        """A line of scale.csv."""
        rounds = self.options.rounds
        name = f"{graph}-{noise}-{clients}".replace(" ", "-").replace(",", "")
        summary = self.runs.run(name, ["--config", "jobs/scale.ini", "--topology", self.topology(GRAPHS[graph], clients),
                                       "--clients", clients, "--rounds", rounds, *NOISES[noise]])
        history = self.runs.history(name)
        late = [error for done, error in zip(history["rounds"], history["consensus_error"]) if 2 * done >= rounds]
        best = summary["regret"]["comparator"]
        error = root_mean_square(math.dist(model, best) for model in summary["models"])
        shutil.rmtree(self.scratch / name)
        contraction, steps = self.rate(GRAPHS[graph], clients)
        return [graph, noise, clients, rounds, error, math.sqrt(experiment.mean(late)),
                summary["regret"]["static_per_client_round"], contraction, steps]

    def cost(self, clients, dimension):
        """A line of cost.csv: (n, d, seconds of a round, of learning, of mixing), rounds that read and write nothing."""
        rounds = max(20, min(2000, 40_000_000 // (clients * (dimension + 30))))
        rounds = min(rounds, 20 * self.options.rounds)
        name = f"cost-{clients}-{dimension}"
        summary = self.runs.run(name, ["--topology", self.topology(COST_GRAPH, clients), "--clients", clients, "--source",
                                       f"synthetic:drift:d={dimension}", "--mirror", "entropic", "--step", "0.1",
                                       "--mechanism", "laplace", "--epsilon", 1, "--tuning", "off", "--noise-key", "seed",
                                       "--rounds", rounds, "--record-clients", 1, "--record-every", 10 ** 6, "--metrics", "local"])
        shutil.rmtree(self.scratch / name)
        shares = summary["time"]["shares"]
        seconds = summary["time"]["wall"] / rounds
        return [clients, dimension, rounds, seconds, shares["learning"] * seconds, shares["mixing"] * seconds]

    def costs(self):
        """Against n at d = 10, then against d; one run at a time, since they are timed."""
        most = min(self.options.most, 100_000)
        at = min(1000, most)
        by_n = [self.cost(n, DIMENSIONS[0]) for n in sizes(most)]
        by_d = [self.cost(at, d) for d in DIMENSIONS if at * d <= 10 ** 7]
        return by_n, by_d


def exponent(x, y, least=0):
    """(slope of log y against log x and its standard error, of how many points, how many of these are not positive), from
    x = `least` on; no slope where any is not positive, since the others would not stand for it, or there is one alone."""
    points = [(a, b) for a, b in zip(x, y) if a >= least]
    not_positive = sum(b <= 0 for _, b in points)
    fit = None if not_positive or len(points) < 2 else experiment.fitted_exponent(*zip(*points))
    return fit, len(points), not_positive


def shown(found):
    fit, points, not_positive = found
    if not_positive:
        return f"{not_positive} of {points} <= 0"
    return "too few points" if fit is None else f"{fit[0]:.2f} +- {fit[1]:.2f}"


def print_exponents(lines, by_n, by_d):
    print("fitted exponents of n (error, consensus and regret ~ n^a)\n")
    print(f"{'graph':<28}{'':<10}{'error':>16}{'consensus':>16}{'regret':>16}")
    for graph in GRAPHS:
        for noise in NOISES:
            mine = [line for line in lines if line[:2] == [graph, noise]]
            fits = [exponent([line[2] for line in mine], [line[k] for line in mine], FITTED_FROM) for k in (4, 5, 6)]
            print(f"{graph:<28}{noise:<10}" + "".join(f"{shown(fit):>16}" for fit in fits))
    print("\nfitted exponents of a round's cost")
    for what, column in (("a round", 3), ("learning", 4), ("mixing", 5)):
        of_n = exponent([line[0] for line in by_n], [line[column] for line in by_n], FITTED_FROM)
        of_d = exponent([line[1] for line in by_d], [line[column] for line in by_d], 30)
        print(f"  {what:<10} n^({shown(of_n)})   d^({shown(of_d)})")


# ---- the picture -----------------------------------------------------------------------------------------------------


def positive(what, points):
    """Points that logarithmic axes can show; says how many they cannot."""
    kept = [(x, y) for x, y in points if y > 0]
    if len(kept) < len(points):
        experiment.say(f"not in the picture: {len(points) - len(kept)} of {len(points)} points of {what}, which are not positive")
    return kept


def data_block(name, points):
    return [f"${name} << END", *(f"{x:.9g} {y:.9g}" for x, y in points), "END"]


def picture(lines, by_n, by_d):
    """A script: error, consensus and regret in columns, with noise above and without below; costs last."""
    script = ["set terminal svg size 1500,820 dynamic enhanced background '#ffffff' font ',11'", "set output 'scale.svg'",
              "set format x '10^{%T}'", "set logscale x", "set key samplen 1 spacing 0.9"]
    names = {4: "distance to the optimum", 5: "consensus error", 6: "regret per client and round"}
    for g, graph in enumerate(GRAPHS):
        for k, noise in enumerate(NOISES):
            for column, name in names.items():
                points = [(line[2], line[column]) for line in lines if line[:2] == [graph, noise]]
                script += data_block(f"c{g}{k}{column}",
                                     points if column == 6 else positive(f"{name}, {graph}, {noise}", points))
    for part, column in (("", 3), ("learning", 4), ("mixing", 5)):
        for letter, axis, costs in (("n", 0, by_n), ("d", 1, by_d)):
            points = [(line[axis], line[column]) for line in costs]
            script += data_block(f"{part or 'by'}{letter}", positive(f"seconds of {part or 'a round'}", points))
    script.append("set multiplot layout 2,4")
    lengths = "set logscale y; set format y '10^{%T}'"
    for k, noise in enumerate(NOISES):
        for column, name in names.items():
            script += [f"set title '{name}, {noise}'", "set xlabel 'clients'", "set key top right" if column == 4 else "unset key",
                       lengths if column < 6 else "unset logscale y; set format y '%g'; set xzeroaxis"]
            script.append("plot " + ", ".join(f"$c{g}{k}{column} with linespoints pt 7 ps 0.4 lw 1.5 title '{graph}'"
                                              for g, graph in enumerate(GRAPHS)))
        axis, letter = (("clients, d = 10", "n"), ("numbers in a model", "d"))[k]
        script += ["set title 'seconds a round, one process'", f"set xlabel '{axis}'", "set key top left", lengths,
                   f"plot $by{letter} with linespoints pt 7 ps 0.4 lw 1.5 title 'a round', "
                   f"$learning{letter} with linespoints pt 7 ps 0.4 title 'learning', "
                   f"$mixing{letter} with linespoints pt 7 ps 0.4 title 'mixing'"]
    return "\n".join([*script, "unset multiplot"]) + "\n"


def main():
    parser = experiment.arguments(__doc__, "scale")
    parser.add_argument("--most", type=experiment.positive, default=1000, metavar="N", help="most clients (1000)")
    parser.add_argument("--rounds", type=experiment.positive, default=200, help="of each run (200)")
    options = parser.parse_args()
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="scale-") as scratch:
        scale = Scale(options, scratch)
        cases = [(graph, noise, n) for n in sizes(options.most) for graph in GRAPHS for noise in NOISES]
        experiment.say(f"{len(cases)} runs ...")
        lines = experiment.in_parallel(options.workers, [lambda case=case: scale.learn(*case) for case in cases])
        experiment.say("costs of rounds ...")
        by_n, by_d = scale.costs()
    experiment.write_csv(folder / "scale.csv", ["graph", "noise", "clients", "rounds", "error", "consensus", "regret",
                                                "contraction", "rounds_to_1e-3"], lines)
    experiment.write_csv(folder / "cost.csv", ["clients", "dimension", "rounds", "seconds", "learning", "mixing"],
                         by_n + by_d)
    experiment.draw(folder, "scale", picture(lines, by_n, by_d))
    print_exponents(lines, by_n, by_d)
    print(f"\nTables and the picture: {folder}")


if __name__ == "__main__":
    main()
