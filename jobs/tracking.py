#!/usr/bin/env python3
"""Dynamic regret against a target that moves by a known length per round.

Eight clients with offsets that add up to zero follow a target on the unit sphere over graphs that connect within three
rounds, and sit out between a twentieth and half of the rounds. For each path length per round and both losses,
|x - z|^2 / 2 and |x - z|, it tries constant steps and prints the least dynamic regret per client and round: the cost of
each client's model to all clients, less what the best point of the round would have cost them. (The cost to itself
alone is also kept: where offsets stay, a client does better by leaning to its own, which is no merit of the network.)"""

import functools
import math
import tempfile

import experiment

CLIENTS = 8
PATHS = (0, 0.001, 0.01, 0.1)
CLAIMED = {"squared": (0.054, 0.058, 0.16, 0.82), "absolute": (0.045, 0.046, 0.12, 0.40)}
DROPOUT = ".05,.1,.15,.2,.25,.3,.4,.5"
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


def measure(runs, workers, rounds, paths=PATHS, losses=tuple(CLAIMED), steps=STEPS, spread=0.5, period=0, dropout=DROPOUT):
    """Regret per client and round, of each client's model to all clients and of each to itself alone, by
    (loss, path, step)."""
    graph_file = runs.scratch / "tracking.topo"
    graph_file.write_text(graph())
    spec = f"tracking:spread={spread},period={period}"
    # A client alone has no offset, and offsets stay.
    targets = {path: records(runs.starling, runs.scratch, f"{spec},path={path}", 1, rounds) for path in paths}
    first = targets[paths[0]][0]
    offsets = [[a - b for a, b in zip(record, first)]
               for record in records(runs.starling, runs.scratch, f"{spec},path={paths[0]}", CLIENTS, 1)]
    best = {loss: cost(loss, BEST[loss](offsets), offsets) for loss in losses}

    def regret(loss, path, step):
        name = f"tracking-{loss}-{path}-{step}"
        words = ["--source", f"synthetic:{spec},path={path}", "--model", "location", "--loss", loss, "--metrics", "shared",
                 "--mechanism", "none", "--clients", CLIENTS, "--topology", graph_file, "--rounds", rounds, "--step", step,
                 "--step-power", 0, "--record-every", 1, "--dropout", dropout]
        own = runs.run(name, words)["loss"]["mean"] - best[loss]
        times, models = runs.models(name) or experiment.fail("neither h5py nor h5dump is there to read models with")
        experiment.shutil.rmtree(runs.scratch / name)
        # What is recorded after round t is played in the round after it, whose target is number t from 0.
        played = [(x, targets[path][t]) for t, row in zip(times, models) if t < rounds for x in row]
        costs = [cost(loss, [a - b for a, b in zip(x, target)], offsets) for x, target in played]
        return experiment.mean(costs) - best[loss], own

    cases = [(loss, path, step) for loss in losses for path in paths for step in steps]
    return dict(zip(cases, experiment.in_parallel(workers, [functools.partial(regret, *case) for case in cases])))


def least(found, loss, path):
    """The least regret over steps, and its step."""
    return min((values[0], step) for (which, length, step), values in found.items() if (which, length) == (loss, path))


def write(found, path):
    experiment.write_csv(path, ["loss", "path", "step", "regret", "own"],
                         [[*case, *values] for case, values in found.items()])


def main():
    parser = experiment.arguments(__doc__, "experiment-tracking")
    parser.add_argument("--rounds", type=experiment.positive, default=6000)
    parser.add_argument("--spread", type=float, default=0.5, help="about the length of a client's offset (0.5)")
    parser.add_argument("--period", type=int, default=0, help="rounds after which the target turns; 0: never (0)")
    parser.add_argument("--dropout", default=DROPOUT,
                        help="share of rounds that each client sits out (.05 to .5); 0: none")
    options = parser.parse_args()
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory() as scratch:
        runs = experiment.Runs(experiment.find_starling(options.starling), scratch)
        found = measure(runs, options.workers, options.rounds, spread=options.spread, period=options.period,
                        dropout=options.dropout)
    write(found, folder / "regret.csv")
    for loss, claims in CLAIMED.items():
        values = []
        for path, claim in zip(PATHS, claims):
            value, step = least(found, loss, path)
            values.append(value)
            print(f"{loss:9} path {path:<6} regret per client-round {value:8.5f} (step {step}); not above {claim}: "
                  f"{'yes' if value <= claim else 'NO'}")
        slope, error = experiment.fitted_exponent(PATHS[1:], values[1:])
        print(f"{loss:9} exponent in the path length {slope:.2f} +- {error:.2f} (between .45 and .7: "
              f"{'yes' if 0.45 <= slope <= 0.7 else 'NO'})")
    print(f"all runs: {folder / 'regret.csv'}")


if __name__ == "__main__":
    main()
