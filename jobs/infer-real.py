#!/usr/bin/env python3
"""Private regressions with confidence intervals beside offline ones that see all records: premiums of health insurance, as
in Table 3 of "LDP-SGD", and incomes (a9a) by logistic regression.

Insurance: 800,000 records of the generator synthetic:insurance, which has the encoding and ranges of the paper's Table 2;
one client, mu = 1, Huber's loss, standardised by the population's means and deviations. Offline is least squares of the
same records. Mean squared errors are of 200,000 other records. Intervals are those of random scaling; a second run has plug-in
ones, whose curvatures take a share of the price.

Incomes: four columns of a9a and an intercept, one client, mu = 1 and 2, ten records per step. The columns are standardised
by round public rates (half married, ...), not by the private records. Offline is the maximum of the likelihood. Noise is
drawn several times, and how many of all intervals hold the offline coefficient is counted: less than 95 %, since 32,561
records are few for local privacy, and a path of 3,257 steps is short for intervals that are drawn from it. Nor are they
enough to estimate the curvature's bias, so that --bias remove makes it worse here. All 123 columns are out of reach: noise
of deviation 2.83 / sqrt(32561) in each coordinate's mean is more than what most of them have to say.

Rides: fares by six columns, 50,000 records of the generator synthetic:rides, which has the columns that the paper describes in section
6.1 and makes distance and time alone count; mu = 1, steps i^-0.501. --rides FILE is your own table of these columns and the fare, in this
order, joined and standardised as the paper says; the paper's data may not be copied.

Writes insurance.csv, insurance-plug-in.csv, income.csv, rides.csv, and the pictures insurance (estimates with their bands along the way), income and rides.
"""

import csv
import gzip
import pathlib
import shutil
import sys
import tempfile

import experiment
from experiment import mean, with_error

INSURANCE = ("age", "gender", "bmi", "children", "smoker", "medical_history", "family_medical_history", "exercise_frequency",
             "occupation", "coverage_level")
PAPER = {"offline": (0.0627, 0.1131, 0.1044, 0.0774, 0.5659, 0.4052, 0.4051, 0.1389, 0.1516, 0.4625),
         "private": (0.0679, 0.1298, 0.0664, 0.0828, 0.5483, 0.4009, 0.4264, 0.1409, 0.1767, 0.4634)}
PAPER_ERROR = {"offline": 0.0607, "private": 0.0722}
# Name, number in a9a, public rate and its rounded deviation.
INCOME = (("married", 40, 0.5, 0.5), ("education_top", 39, 0.25, 0.43), ("capital_gain", 75, 0.1, 0.3),
          ("age_lowest", 1, 0.2, 0.4))
INCOME_STEPS = ["--tuning", "off", "--batch", 10, "--step", 5, "--step-offset", 100, "--burn-in", 300]
FILES = ("a9a.gz", "a9a.t.gz")


def keep_picture(runs, name, folder, title):
    """The run's picture of intervals as TITLE.svg and TITLE.gp, where gnuplot is there."""
    made = runs.scratch / name
    text = (made / "intervals.gp").read_text()
    (folder / f"{title}.gp").write_text(text)
    if (made / "intervals.svg").exists():
        shutil.copy(made / "intervals.svg", folder / f"{title}.svg")
    else:
        experiment.say(f"no picture {title}.svg: gnuplot is not installed")


def insurance(runs, options, folder):
    source = f"synthetic:insurance:n={options.records}"
    common = ["--source", source, "--clients", 1, "--test", f"synthetic:insurance:n={max(1, options.records // 4)}"]
    private = runs.run("insurance-private", ["--config", "jobs/infer-insurance.ini", *common])
    offline_runs = experiment.Runs(runs.starling, runs.scratch, "renewable")
    offline = offline_runs.run("insurance-offline", [*common, "--variant", "offline", "--loss", "squared", "--mechanism", "none",
                                                     "--batch", min(10_000, options.records)])
    keep_picture(runs, "insurance-private", folder, "insurance")
    rows = []
    for k, interval in enumerate(private["intervals"]):
        known = k < len(INSURANCE)
        rows.append([interval["name"], offline["final_model"][k], interval["estimate"], interval["low"], interval["high"],
                     int(interval["low"] <= offline["final_model"][k] <= interval["high"]),
                     PAPER["offline"][k] if known else "", PAPER["private"][k] if known else ""])
    print(f"\nInsurance, {private['rounds']} records, mu = 1")
    print("coefficient               offline  private  95 % interval       holds offline  paper: offline  private")
    for name, least, ours, low, high, holds, paper_offline, paper_private in rows:
        print(f"{name:<24} {least:8.4f} {ours:8.4f}  {low:8.4f} {high:8.4f}   {'yes' if holds else 'no':<13}  {paper_offline:<14}  "
              f"{paper_private}".rstrip())
    # The loss is Huber's, half the square: errors beyond its bend of 1.345 are some six deviations of the noise.
    errors = {"offline": 2 * offline["metrics"]["test_loss"], "private": 2 * private["metrics"]["test_loss"]}
    print("Mean squared error on other records: " + ", ".join(
        f"{name} {error:.4f} (paper: {PAPER_ERROR[name]})" for name, error in errors.items()))
    experiment.write_csv(folder / "insurance.csv", ["name", "offline", "private", "low", "high", "holds_offline", "paper_offline",
                                                    "paper_private"],
                         rows + [["mean_squared_error", f"{errors['offline']:.6g}", f"{errors['private']:.6g}", "", "", "",
                                  PAPER_ERROR["offline"], PAPER_ERROR["private"]]])


def insurance_by_plug_in(runs, options, folder):
    """Fig. 5 by the paper's other method."""
    found = runs.run("insurance-plug-in", ["--config", "jobs/infer-insurance.ini", "--source", f"synthetic:insurance:n={options.records}",
                                           "--intervals", "plug-in", "--trust", "local", "--plug-in-path", "--record-every", 2000])
    keep_picture(runs, "insurance-plug-in", folder, "insurance-plug-in")
    slopes = [i for i in found["intervals"] if i["name"] != "intercept"]
    zero = [i["name"] for i in slopes if i["low"] is None or i["low"] <= 0 <= i["high"]]  # none: the curvature is not known
    print(f"By plug-in: {sum(i['estimate'] > 0 for i in slopes)} of {len(slopes)} slopes are positive; the intervals of "
          f"{len(zero)} contain 0{': ' + ', '.join(zero) if zero else ''}")
    experiment.write_csv(folder / "insurance-plug-in.csv", ["name", "estimate", "low", "high"],
                         [[i["name"], i["estimate"], i["low"], i["high"]] for i in found["intervals"]])


def rides(runs, options, folder):
    """Which intervals contain 0: the paper's are those of all columns but distance and time_cost."""
    source = options.rides or "synthetic:rides:n=50000"
    found = runs.run("rides", ["--source", source, "--clients", 1, "--loss", "huber:1.345", "--mechanism", "gaussian", "--mu", 1, "--step", 1,
                               "--step-power", 0.501, "--step-offset", 1000, "--batch", 1, "--tuning", "off", "--noise-key", "seed",
                               "--intervals", "random-scaling,plug-in", "--trust", "local", "--plug-in-path", "--record-every", 500])
    keep_picture(runs, "rides", folder, "rides")
    rows = [[i["method"], i["name"], i["estimate"], i["low"], i["high"], int(i["low"] <= 0 <= i["high"])] for i in found["intervals"]]
    print(f"\nRides, {found['rounds']} records, mu = 1")
    for method, name, estimate, low, high, zero in rows:
        print(f"{method:<15} {name:<12} {estimate:8.4f}  {low:8.4f} {high:8.4f}   {'contains 0' if zero else ''}".rstrip())
    experiment.write_csv(folder / "rides.csv", ["method", "name", "estimate", "low", "high", "contains_0"], rows)


def write_columns(data, scratch):
    """Four columns of a9a as text with names, and the public constants; returns their paths: train, test, constants."""
    for name in FILES:
        with gzip.open(data / name, "rt") as rows, open(scratch / f"{name[:-3]}.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow([column for column, *_ in INCOME] + ["y"])
            for row in rows:
                label, *entries = row.split()
                present = {int(entry.split(":")[0]) for entry in entries}
                table.writerow([int(number in present) for _, number, *_ in INCOME] + [int(label == "+1")])
    experiment.write_csv(scratch / "constants.csv", ["feature", "mean", "sd"],
                         [[name, rate, deviation] for name, _, rate, deviation in INCOME])
    return [scratch / name for name in ("a9a.csv", "a9a.t.csv", "constants.csv")]


def income(runs, options, folder, data):
    train, test, constants = write_columns(data, runs.scratch)
    common = ["--source", train, "--test", test, "--standardise", constants, "--clients", 1]
    offline_runs = experiment.Runs(runs.starling, runs.scratch, "renewable")
    offline = offline_runs.run("income-offline", [*common, "--variant", "offline", "--loss", "logistic", "--mechanism", "none",
                                                  "--batch", 10_000])
    truth, best = offline["final_model"], 100 * offline["metrics"]["test_accuracy"]
    words = [*common, "--intercept", "--loss", "logistic", "--mechanism", "gaussian", "--noise-key", "seed", *INCOME_STEPS]
    cases = [(mu, seed) for mu in (1, 2) for seed in range(1, options.seeds + 1)]
    done = experiment.in_parallel(options.workers, [
        lambda mu=mu, seed=seed: runs.run(f"income-{mu}-{seed}", [*words, "--mu", mu, "--seed", seed]) for mu, seed in cases])
    found = dict(zip(cases, done))
    rows = []
    print(f"\nIncomes (a9a), logistic regression: offline and private, mean and standard error over {options.seeds} draws of noise")
    for k, name in enumerate([*(column for column, *_ in INCOME), "intercept"]):
        line = f"{name:<15} offline {truth[k]:8.4f}"
        for mu in (1, 2):
            intervals = [found[mu, seed]["intervals"][k] for seed in range(1, options.seeds + 1)]
            line += f"   mu {mu}: {with_error([interval['estimate'] for interval in intervals])}"
            rows += [[name, truth[k], mu, seed, i["estimate"], i["low"], i["high"], int(i["low"] <= truth[k] <= i["high"])]
                     for seed, i in enumerate(intervals, 1)]
        print(line)
    print(f"accuracy        offline {best:.2f} %")
    for mu in (1, 2):
        accuracies = [100 * found[mu, seed]["metrics"]["test_accuracy"] for seed in range(1, options.seeds + 1)]
        holds = mean([row[-1] for row in rows if row[2] == mu])
        print(f"mu = {mu}: accuracy {mean(accuracies):.2f} % (from {min(accuracies):.2f} to {max(accuracies):.2f}); "
              f"{100 * holds:.0f} % of 95 % intervals hold the offline coefficient")
    keep_picture(runs, "income-2-1", folder, "income")
    experiment.write_csv(folder / "income.csv", ["name", "offline", "mu", "seed", "estimate", "low", "high", "holds_offline"], rows)


def main():
    parser = experiment.arguments(__doc__, "results-infer-real")
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data" / "a9a"),
                        help=f"where {' and '.join(FILES)} are (../shared/data/a9a beside the project)")
    parser.add_argument("--rides", metavar="FILE", help="your table of rides, standardised; default: the generator")
    parser.add_argument("--records", metavar="N", type=experiment.positive, default=800_000, help="of insurance (800000)")
    parser.add_argument("--seeds", metavar="N", type=experiment.positive, default=8, help="draws of noise for incomes (8)")
    options = parser.parse_args()
    data = pathlib.Path(options.data).resolve()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="infer-real-") as scratch:
        runs = experiment.Runs(starling, scratch, "infer")
        insurance(runs, options, folder)
        insurance_by_plug_in(runs, options, folder)
        rides(runs, options, folder)
        missing = next((name for name in FILES if not (data / name).exists()), None)
        if missing:
            print(f"\nIncomes are left out: there is no {data / missing} (the data set a9a is not part of the project); say --data "
                  f"FOLDER")
        else:
            income(runs, options, folder, data)
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
