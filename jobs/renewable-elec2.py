#!/usr/bin/env python3
"""Electricity prices (elec2) in order, as a drifting stream of one client: progressive accuracy of renewable estimation
with rho = 1, which never forgets, and with rho = 0.9, 0.99 and 0.999, by which the gathered curvature J is multiplied
with every batch; dwd:1 and logistic loss.

A batch is a day (48 half-hours): prices have a daily cycle, so that nearly every batch has both labels, and one batch
determines the seven coefficients. With rho per batch J then remembers some 1/(1 - rho) days. lambda = 0.001 keeps the
safe start from running away, and is small beside a day's curvature. A model is scored on each day before it learns from
it. Beside it stand the share of the larger class and the rule that nothing changes, which predicts the label before.

Writes elec2.csv (the table) and the picture progressive (progressive accuracy over time, .csv and .svg).
"""

import sys
import tempfile

import experiment
from elec2 import DATA, LABELS, arguments, data_folder, read_labels

BATCH = 48
MEMORIES = ("1", "0.999", "0.99", "0.9")
LOSSES = ("dwd:1", "logistic")


def rules(labels):
    """Accuracies in percent of what needs no model."""
    down = sum(label == 1 for label in labels) / len(labels)
    same = sum(a == b for a, b in zip(labels, labels[1:])) / len(labels)
    return {"the larger class": 100 * max(down, 1 - down), "no change (label before)": 100 * same}


def run_case(runs, source, loss, rho, rounds):
    name = f"{loss.replace(':', '')}-{rho}"
    summary = runs.run(name, [
        "--clients", 1, "--source", source, "--drop", "0,3", "--batch", BATCH, "--loss", loss, "--l2", 0.001, "--penalty", "full",
        "--start", "safe", "--forget", rho, "--mechanism", "none", "--record-every", 5, *(["--rounds", rounds] if rounds else [])])
    history = runs.history(name)
    return 100 * summary["metrics"]["progressive_accuracy"], history["rounds"], history["accuracy"]


def measure(runs, source, options):
    cases = [(loss, rho) for loss in LOSSES for rho in MEMORIES]
    done = experiment.in_parallel(options.workers, [
        lambda case=case: run_case(runs, source, *case, options.rounds) for case in cases])
    return dict(zip(cases, done))


def show(found, simple):
    print("| loss     | rho   | remembers        | progressive accuracy |")
    print("|----------|-------|------------------|----------------------|")
    for (loss, rho), (accuracy, _, _) in found.items():
        memory = "everything" if rho == "1" else f"some {1 / (1 - float(rho)):.0f} days"
        print(f"| {loss:<8} | {rho:<5} | {memory:<16} | {accuracy:>18.2f} % |")
    for name, accuracy in simple.items():
        print(f"| {name:<35} | {accuracy:>18.2f} % |")
    print()
    for loss in LOSSES:
        best = max(MEMORIES[1:], key=lambda rho: found[loss, rho][0])
        gain = found[loss, best][0] - found[loss, "1"][0]
        print(f"{loss}: the best of the forgetting runs is rho = {best}, {gain:+.2f} points beside rho = 1.")


def main():
    parser = arguments(__doc__, "results-renewable-elec2")
    parser.add_argument("--rounds", metavar="N", type=experiment.positive, help="days; default: all 944")
    options = parser.parse_args()
    data = data_folder(options)
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    labels = read_labels(data)
    simple = rules(labels[:options.rounds * BATCH] if options.rounds else labels)
    with tempfile.TemporaryDirectory(prefix="renewable-elec2-") as scratch:
        found = measure(experiment.Runs(starling, scratch, "renewable"), f"{data / DATA},{data / LABELS}", options)
    show(found, simple)
    experiment.write_csv(folder / "elec2.csv", ["loss", "rho", "progressive_accuracy"],
                         [[*case, f"{values[0]:.4f}"] for case, values in found.items()]
                         + [[name, "", f"{accuracy:.4f}"] for name, accuracy in simple.items()])
    experiment.draw_curves(folder, "progressive", ("elec2 in order: progressive accuracy", "day", "accuracy in %"),
                           {f"{loss}, rho = {rho}": (rounds, [100 * value for value in accuracies])
                            for (loss, rho), (_, rounds, accuracies) in found.items()},
                           ["set yrange [55:80]"])
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
