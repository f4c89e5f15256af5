#!/usr/bin/env python3
"""How often intervals of log hazard ratios hold the truth, on persons with survival times that are drawn anew in each run.

  jobs/survival.py                       # 200 runs of 20,000 persons, five minutes
  jobs/survival.py --runs 20 --persons 4000

Three features have the log hazard ratios 0.5, -0.4 and 0.3, the baseline hazard is 1/5, and persons are censored at times from 1 to 8. `starling data
convert` makes records of the intervals that end at 1, 2, 3 and 5. `renewable` has intervals by its information, `infer` by random scaling; nobody is
protected. Prints coverage in percent with its standard error, mean length, and the bias and deviation of estimates.
"""

import argparse
import csv
import math
import pathlib
import random
import subprocess
import tempfile

import experiment

TRUE = {"a": 0.5, "b": -0.4, "c": 0.3}
METHODS = {"renewable": ["renewable"],
           "infer": ["infer", "--intervals", "random-scaling", "--warmup-share", 0.1, "--step", 16]}


def write_persons(path, persons, seed):
    draw = random.Random(seed)
    rows = []
    for _ in range(persons):
        x = [draw.gauss(0, 1), draw.choice([-1, 1]), draw.gauss(0, 1)]
        time = 5 * draw.expovariate(1) / math.exp(sum(b * value for b, value in zip(TRUE.values(), x)))
        end = draw.uniform(1, 8)
        rows.append([*x, min(time, end), int(time <= end)])
    experiment.write_csv(path, [*TRUE, "time", "event"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starling", metavar="PATH", help="the program; default: a build of this project")
    parser.add_argument("--runs", type=experiment.positive, default=200)
    parser.add_argument("--persons", type=experiment.positive, default=20_000)
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    found = {method: [] for method in METHODS}  # (whether it holds, length, error)
    unsettled = {method: 0 for method in METHODS}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "ends.txt").write_text("1,2,3,5\n")
        for seed in range(options.runs):
            write_persons(scratch / "persons.csv", options.persons, seed)
            subprocess.run([starling, "data", "convert", scratch / "persons.csv", "--survival", "time,event", "--intervals", scratch / "ends.txt",
                            "--output", scratch / "records.csv", "--force"], check=True, capture_output=True)
            for method, words in METHODS.items():
                run = scratch / f"{method}-{seed}"
                done = subprocess.run([starling, *map(str, words), "--clients", "4", "--partition", "iid", "--source", scratch / "records.csv", "--drop",
                                       "person", "--loss", "hazard", "--mechanism", "none", "--progress", "off", "--output", run],
                                      check=True, capture_output=True, text=True)
                unsettled[method] += "not settled" in done.stdout
                with open(run / "coefficients.csv") as file:
                    for row in csv.DictReader(file):
                        if row["name"] in TRUE:
                            low, high, true = float(row["low"]), float(row["high"]), TRUE[row["name"]]
                            found[method].append((low <= true <= high, high - low, float(row["estimate"]) - true))
    print(f"{options.runs} runs of {options.persons} persons, 95 % intervals of {len(TRUE)} log hazard ratios")
    for method, all_found in found.items():
        holds, lengths, errors = zip(*all_found)
        n = len(holds)
        share = sum(holds) / n
        bias = sum(errors) / n
        deviation = math.sqrt(sum((each - bias) ** 2 for each in errors) / n)
        print(f"  {method:<10} coverage {100 * share:.1f} % ({100 * math.sqrt(share * (1 - share) / n):.1f}), mean length {sum(lengths) / n:.4f}, "
              f"bias {bias:.4f}, deviation {deviation:.4f}; {unsettled[method]} runs had not settled")


if __name__ == "__main__":
    main()
