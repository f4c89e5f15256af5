#!/usr/bin/env python3
"""Dynamic regret against a target that moves by a known length per round.

Eight clients with offsets that add up to zero follow a target on the unit sphere over graphs that connect within three
rounds, and sit out between a twentieth and half of the rounds. For each path length per round and both losses,
|x - z|^2 / 2 and |x - z|, it tries constant steps and prints the least dynamic regret per client and round: the cost of
each client's model to all clients, less what the best point of the round would have cost them. (The cost to itself
alone is also kept: where offsets stay, a client does better by leaning to its own, which is no merit of the network.)"""

import functools
import math
import sys
import tempfile

import experiment

CLIENTS = 8
PATHS = (0, 0.001, 0.01, 0.1)
CLAIMED = {"squared": (0.054, 0.058, 0.16, 0.82), "absolute": (0.045, 0.046, 0.12, 0.40)}
STEPS = (0.003, 0.005, 0.01, 0.014, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7)


def graph():
    """Client u sends to u + 1 and u + 3 in every third round."""
    lines = [f"clients {CLIENTS}", "weights sender"]
    for phase in range(3):
        lines.append("phase 1")
        lines += [f"edge {u} {(u + hop) % CLIENTS}" for u in range(phase, CLIENTS, 3) for hop in (1, 3)]
    return "\n".join(lines) + "\n"


def records(program, scratch, spec, clients, rounds):
    """What the clients get, client by client."""
    file = scratch / f"records-{spec.replace(':', '-')}-{clients}.csv"
    experiment.subprocess.run([program, "data", "make", spec, "--clients", str(clients), "--records", str(rounds),
                               "--output", str(file)], check=True, capture_output=True)
    rows = file.read_text().splitlines()[1:]
    file.unlink()
    return [[float(entry) for entry in row.split(",")[:-1]] for row in rows]


def median(points):
    """Weiszfeld's iteration."""
    x = [experiment.mean(entries) for entries in zip(*points)]
    for _ in range(10_000):
        weights = [1 / math.dist(x, point) for point in points]
        x = [math.fsum(w * e for w, e in zip(weights, entries)) / math.fsum(weights) for entries in zip(*points)]
    return x


COST = {"squared": lambda a, b: math.dist(a, b) ** 2 / 2, "absolute": math.dist}
BEST = {"squared": lambda points: [0.0] * len(points[0]), "absolute": median}


def cost(loss, x, points):
    return experiment.mean([COST[loss](x, point) for point in points])


def main():
    parser = experiment.arguments(__doc__, "experiment-tracking")
    parser.add_argument("--rounds", type=experiment.positive, default=6000)
    parser.add_argument("--spread", type=float, default=0.5, help="about the length of a client's offset (0.5)")
    parser.add_argument("--period", type=int, default=0, help="rounds after which the target turns; 0: never (0)")
    parser.add_argument("--dropout", default=".05,.1,.15,.2,.25,.3,.4,.5",
                        help="share of rounds that each client sits out (.05 to .5); 0: none")
    options = parser.parse_args()
    program = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = experiment.pathlib.Path(scratch)
        (scratch / "graph.topo").write_text(graph())
        runs = experiment.Runs(program, scratch)
        spec = f"tracking:spread={options.spread},period={options.period}"
        # A client alone has no offset, and offsets stay.
        targets = {path: records(program, scratch, f"{spec},path={path}", 1, options.rounds) for path in PATHS}
        offsets = [[a - b for a, b in zip(record, targets[0][0])]
                   for record in records(program, scratch, f"{spec},path=0", CLIENTS, 1)]
        best = {loss: cost(loss, BEST[loss](offsets), offsets) for loss in CLAIMED}

        def regret(loss, path, step):
            name = f"{loss}-{path}-{step}"
            words = ["--source", f"synthetic:{spec},path={path}", "--model", "location", "--loss", loss, "--metrics",
                     "shared", "--mechanism", "none", "--clients", CLIENTS, "--topology", scratch / "graph.topo",
                     "--rounds", options.rounds, "--step", step, "--step-power", 0, "--record-every", 1,
                     "--dropout", options.dropout]
            own = runs.run(name, words)["loss"]["mean"] - best[loss]
            rounds, models = runs.models(name)
            experiment.shutil.rmtree(scratch / name)
            # What is recorded after round t is played in the round after it, whose target is number t from 0.
            played = [(x, targets[path][t]) for t, row in zip(rounds, models) if t < options.rounds for x in row]
            costs = [cost(loss, [a - b for a, b in zip(x, target)], offsets) for x, target in played]
            return experiment.mean(costs) - best[loss], own

        cases = [(loss, path, step) for loss in CLAIMED for path in PATHS for step in STEPS]
        found = dict(zip(cases, experiment.in_parallel(
            options.workers, [functools.partial(regret, *case) for case in cases])))
    experiment.write_csv(folder / "regret.csv", ["loss", "path", "step", "regret", "own"],
                         [[*case, *values] for case, values in found.items()])
    for loss, claims in CLAIMED.items():
        least = []
        for path, claim in zip(PATHS, claims):
            value, step = min((found[loss, path, step][0], step) for step in STEPS)
            least.append(value)
            print(f"{loss:9} path {path:<6} regret per client-round {value:8.5f} (step {step}); not above {claim}: "
                  f"{'yes' if value <= claim else 'NO'}")
        slope, error = fitted_exponent(PATHS[1:], least[1:])
        print(f"{loss:9} exponent in the path length {slope:.2f} +- {error:.2f} (between .45 and .7: "
              f"{'yes' if 0.45 <= slope <= 0.7 else 'NO'})")
    print(f"all runs: {folder / 'regret.csv'}")


def fitted_exponent(x, y):
    """Slope of log y against log x by least squares, with its standard error."""
    u = [math.log(value) for value in x]
    v = [math.log(value) for value in y]
    spread = math.fsum((a - experiment.mean(u)) ** 2 for a in u)
    slope = math.fsum((a - experiment.mean(u)) * b for a, b in zip(u, v)) / spread
    rest = [b - experiment.mean(v) - slope * (a - experiment.mean(u)) for a, b in zip(u, v)]
    return slope, math.sqrt(math.fsum(e * e for e in rest) / (len(u) - 2) / spread)


if __name__ == "__main__":
    sys.exit(main())
