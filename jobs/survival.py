#!/usr/bin/env python3
"""How often intervals of log hazard ratios hold the truth, on persons with survival times that are drawn anew in each run.

  jobs/survival.py                       # 200 runs of 20,000 persons, five minutes
  jobs/survival.py --runs 20 --persons 4000
  jobs/survival.py --methods renewable   # alone
  jobs/survival.py --real                # hazard ratios on tables of R's package survival beside coxph, some seconds

Three features have the log hazard ratios 0.5, -0.4 and 0.3, the baseline hazard is 1/5, and persons are censored at times from 1 to 8. `starling data
convert` makes records of the intervals that end at 1, 2, 3 and 5. `renewable` has intervals by its information, `infer` by random scaling; nobody is
protected. Prints coverage in percent with its standard error, mean length, and the bias (above 0: away
from 0) and deviation of estimates.

--real needs Rscript and R's package survival (Debian: r-base-core, r-cran-survival). Ends with 1 if a hazard ratio by `renewable` is more than
10 % from that of coxph.
"""

import argparse
import csv
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import experiment

TRUE = {"a": 0.5, "b": -0.4, "c": 0.3}
METHODS = {"renewable": ["renewable"],
           "infer": ["infer", "--intervals", "random-scaling", "--warmup-share", 0.1, "--step", 16]}


# name: (features of R's table, its time, its event, ends of intervals)
TABLES = {
    "lung": ("data.frame(age=lung$age, female=lung$sex - 1, ecog=lung$ph.ecog, time=lung$time, event=lung$status - 1)",
             [90, 180, 270, 360, 450, 600, 800]),
    "colon": ("with(colon[colon$etype == 2, ], data.frame(lev5fu=as.integer(rx == 'Lev+5FU'), node4, extent, age, time, event=status))",
              [180, 360, 540, 720, 900, 1080, 1440, 1800, 2400, 3300]),
    "flchain": ("data.frame(age=flchain$age, male=as.integer(flchain$sex == 'M'), creatinine=flchain$creatinine, kappa=flchain$kappa, "
                "time=flchain$futime, event=flchain$death)", [365 * year for year in range(1, 14)]),
}


def convert(starling, scratch, persons, ends):
    (scratch / "ends.txt").write_text(",".join(map(str, ends)) + "\n")
    subprocess.run([starling, "data", "convert", persons, "--survival", "time,event", "--intervals", scratch / "ends.txt", "--output",
                    scratch / "records.csv", "--force"], check=True, capture_output=True)


def learn(starling, scratch, run, *words):
    """The lines of coefficients.csv and what the run printed."""
    done = subprocess.run([starling, *map(str, words), "--clients", "4", "--partition", "iid", "--source", scratch / "records.csv", "--drop", "person",
                           "--loss", "hazard", "--mechanism", "none", "--progress", "off", "--output", run], check=True, capture_output=True, text=True)
    shown = subprocess.run([starling, "report", run, "--coefficients", "csv"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(shown.splitlines())), done.stdout


def compare(starling):
    """Hazard ratios on real tables; the largest distance from coxph's."""
    if not shutil.which("Rscript"):
        experiment.fail("no Rscript. Install r-base-core and r-cran-survival.")
    worst = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name, (table, ends) in TABLES.items():
            path = scratch / f"{name}.csv"
            script = f"""library(survival); d <- {table}; d <- d[complete.cases(d), ]; write.csv(d, "{path}", row.names=FALSE)
                         b <- coef(coxph(Surv(time, event) ~ ., d)); cat(paste(names(b), b, sep=","), sep="\\n")"""
            done = subprocess.run(["Rscript", "--vanilla", "-e", script], capture_output=True, text=True)
            if done.returncode != 0:
                experiment.fail(f"R has no package survival, or not {name}. Install r-cran-survival.")
            cox = {row[0]: math.exp(float(row[1])) for row in csv.reader(done.stdout.splitlines())}
            convert(starling, scratch, path, ends)
            rows, _ = learn(starling, scratch, scratch / name, "renewable", "--variant", "offline", "--l2", 0)
            ours = {row["name"]: float(row["ratio"]) for row in rows if row["name"] in cox}
            for feature, ratio in cox.items():
                apart = ours[feature] / ratio - 1
                worst = max(worst, abs(apart))
                print(f"  {name:<8} {feature:<11} coxph {ratio:6.3f}   renewable {ours[feature]:6.3f}   {100 * apart:+5.1f} %")
    return worst


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
    parser.add_argument("--methods", type=experiment.names_of(METHODS), default=list(METHODS), help="separated by commas")
    parser.add_argument("--real", action="store_true", help="compare with coxph on tables of R")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    if options.real:
        sys.exit(1 if compare(starling) > 0.1 else 0)
    found = {method: [] for method in options.methods}  # (whether it holds, length, error)
    unsettled = {method: 0 for method in options.methods}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for seed in range(options.runs):
            write_persons(scratch / "persons.csv", options.persons, seed)
            convert(starling, scratch, scratch / "persons.csv", [1, 2, 3, 5])
            for method in options.methods:
                rows, shown = learn(starling, scratch, scratch / f"{method}-{seed}", *METHODS[method])
                unsettled[method] += "not settled" in shown
                for row in rows:
                    if row["name"] in TRUE:
                        low, high, true = float(row["low"]), float(row["high"]), TRUE[row["name"]]
                        found[method].append((low <= true <= high, high - low, (float(row["estimate"]) - true) * math.copysign(1, true)))
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
