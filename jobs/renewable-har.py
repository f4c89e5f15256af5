#!/usr/bin/env python3
"""Motion or rest from a chest accelerometer (UCI 287): fifteen people as fifteen clients, with the six metrics of Table 4
of "Online federated learning framework for classification" for q = 0.01, 1, 100 and all variants.

Motion is activities 2, 4, 5 and 6, rest 1, 3 and 7; unlabelled records are left out. (a) the raw channels; (b) windows of
a second: mean and standard deviation of each axis, made by `starling data convert --window 52`. Features are standardised
by public constants: (x - mean)/sd with means 2000, 2400, 2000 and sd 100 for the channels and for their means per second,
mean 20 and sd 30 for their deviations (jobs/renewable-har-raw.csv, jobs/renewable-har-windows.csv). For each seed a fifth
of everybody's records is put into the test set, which is public by declaration, and the rest comes in random order.
lambda = 0.1 on intercept and slopes, start at zero, as in the paper's other tables; C2 = 1 for private-paper, clip 1 for
`private`, with noise of clients (local) or of rank 0 (central) that is independent or correlated over the batches; epsilon = 0.1,
delta = 1e-7 per record.

The paper's figures are of other data (HARTH: two sensors of six channels in all, 22 people) and stand beside ours for
orientation only. With --harth FOLDER the script reads your own copy of HARTH in place of the chest sensor: the files S006.csv and
so on of the UCI repository (data set 779), columns back_x to thigh_z and label at 50 Hz, other columns left out. Windows are of 50
samples. Motion is walking, running, shuffling, stairs and cycling (labels 1 to 5, 13 and 14), rest is sitting and lying (7 and 8);
standing (6) and cyclists at rest (130, 140) are left out, by which motion has the share that the printed metrics imply.
Constants are those of published statistics of the data set (jobs/renewable-har-harth.csv).

Writes har.csv (the table), runs.csv, and the pictures bars-raw and bars-windows (like the paper's Fig. 10).
"""

import csv
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import experiment
from experiment import error_of_mean, mean

CHEST = ["--drop", 0, "--positive", "2,4,5,6", "--ignore", 0]
HARTH = ["--label", "label", "--positive", "1,2,3,4,5,13,14", "--ignore", "6,130,140"]
HARTH_COLUMNS = [f"{sensor}_{axis}" for sensor in ("back", "thigh") for axis in "xyz"] + ["label"]
# Each kind of records: the options of `data convert` that make them, and the records of a client's batch.
KINDS = {"raw": (CHEST, 1000), "windows": ([*CHEST, "--window", 52], 20), "harth": ([*HARTH, "--window", 50], 20)}
STRENGTHS = ("0.01", "1", "100")
PRICE = ["--mechanism", "gaussian", "--epsilon", 0.1, "--delta", 1e-7]
VARIANTS = {
    "offline": ["--variant", "offline"],
    "offline-one-step": ["--variant", "offline-one-step"],
    "online": ["--variant", "online"],
    "private-paper": ["--variant", "private-paper", *PRICE, "--c2", 1, "--cp", 0, "--rho", 0],
    **{f"{trust}, {name}": ["--variant", "private", "--trust", trust, "--noise-correlation", how, "--clip", 1, *PRICE]
       for trust in ("central", "local") for name, how in (("independent", "none"), ("correlated", "blt:2"))},
}
METRICS = ("accuracy", "precision", "recall", "f1", "specificity")
PAPER_NAMES = {"offline": "OffNP", "offline-one-step": "OffWP", "online": "OnWP", "private-paper": "OnWDP"}
PAPER = {  # by method and q: the five metrics in percent, and seconds
    ("OffNP", "1"): (90.8, 92.9, 84.4, 88.4, 95.2, 12.16), ("OffNP", "0.01"): (91.3, 93.1, 85.4, 89.1, 95.5, 14.80),
    ("OffNP", "100"): (89.0, 92.9, 79.7, 85.8, 95.7, 25.43), ("OffWP", "1"): (91.9, 92.9, 87.4, 90.0, 95.2, 4.05),
    ("OffWP", "0.01"): (93.7, 95.9, 88.4, 92.2, 97.3, 3.90), ("OffWP", "100"): (91.6, 92.9, 86.7, 89.8, 95.6, 5.14),
    ("OnWP", "1"): (91.9, 92.9, 87.3, 89.9, 95.1, 0.22), ("OnWP", "0.01"): (93.7, 95.8, 88.4, 92.0, 97.3, 0.20),
    ("OnWP", "100"): (91.6, 92.7, 86.6, 89.6, 95.6, 0.21), ("OnWDP", "1"): (91.8, 92.9, 87.2, 89.8, 95.0, 0.30),
    ("OnWDP", "0.01"): (92.9, 94.0, 88.5, 91.3, 96.0, 0.28), ("OnWDP", "100"): (91.5, 92.5, 86.5, 86.6, 95.5, 0.29),
}


def copy_harth(data, folder):
    """The columns that all files have, as 0.csv and so on: some files have numbers of rows besides. Returns how many there are."""
    files = sorted(data.glob("S[0-9][0-9][0-9].csv"))
    for k, path in enumerate(files):
        with open(path, newline="") as source, open(folder / f"raw-{k}.csv", "w", newline="") as copy:
            rows = csv.reader(source)
            header = next(rows)
            missing = [name for name in HARTH_COLUMNS if name not in header]
            if missing:
                experiment.fail(f"{path}: there is no column {missing[0]}: HARTH's files have {', '.join(HARTH_COLUMNS)}. Give those files.")
            take = [header.index(name) for name in HARTH_COLUMNS]
            csv.writer(copy).writerows([HARTH_COLUMNS, *([row[i] for i in take] for row in rows)])
    return len(files)


def convert(starling, data, kind, folder):
    """Everybody's labelled records, as lines of one CSV file each; returns the header and the lines by person."""
    if kind == "harth":
        number, source = copy_harth(data, folder), folder / "raw-{client}.csv"
    else:
        number, source = len(list(data.glob("*.csv.gz"))), data / "{client:1}.csv.gz"
    words = [starling, "data", "convert", source, "--clients", number, *KINDS[kind][0], "--output", folder / "{client}.csv",
             "--progress", "off"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        experiment.fail(f"'starling data convert' ended with {done.returncode}:\n{done.stderr.strip()}")
    people = [(folder / f"{i}.csv").read_text().splitlines() for i in range(number)]
    return people[0][0], [lines[1:] for lines in people]


def split(header, people, seed, folder):
    """A fifth of everybody's records, at random, for the test; the others in random order, a file for each client."""
    folder.mkdir()
    generator = random.Random(seed)
    with open(folder / "test.csv", "w") as test:
        test.write(header + "\n")
        for person, lines in enumerate(people):
            lines = generator.sample(lines, len(lines))
            fifth = len(lines) // 5
            test.writelines(line + "\n" for line in lines[:fifth])
            with open(folder / f"{person}.csv", "w") as train:
                train.write(header + "\n")
                train.writelines(line + "\n" for line in lines[fifth:])


def figures(runs, name, kind, folder, q, variant, seed):
    summary = runs.run(name, [
        "--clients", len(list(folder.glob("[0-9]*.csv"))), "--source", folder / "{client}.csv", "--test", folder / "test.csv", "--standardise",
        experiment.PROJECT / "jobs" / f"renewable-har-{kind}.csv", "--batch", KINDS[kind][1], "--loss", f"dwd:{q}", "--l2", 0.1,
        "--penalty", "full", "--start", "zero", "--mechanism", "none", "--noise-key", "seed", *VARIANTS[variant], "--seed", seed])
    shutil.rmtree(runs.scratch / name)
    percent = [summary["metrics"][metric] for metric in METRICS]
    return [None if value is None else 100 * value for value in percent] + [summary["time"]["wall"]]


def measure(runs, starling, data, options):
    """{(kind, q, variant): figures of each seed}."""
    found = {}
    for kind in options.kinds:
        experiment.say(f"{kind} ...")
        made = runs.scratch / kind
        made.mkdir()
        header, people = convert(starling, data, kind, made)
        if options.records:
            people = [lines[::max(1, len(lines) // options.records)] for lines in people]
        seeds = range(1, (min(options.seeds, 2) if kind == "raw" else options.seeds) + 1)
        for seed in seeds:
            folder = runs.scratch / f"{kind}-{seed}"
            split(header, people, seed, folder)
            cases = [(kind, q, variant) for q in STRENGTHS for variant in VARIANTS]
            jobs = [lambda case=case, i=i: figures(runs, f"run-{i}", kind, folder, case[1], case[2], seed)
                    for i, case in enumerate(cases)]
            for case, values in zip(cases, experiment.in_parallel(options.workers, jobs)):
                found.setdefault(case, []).append(values)
            shutil.rmtree(folder)
    return found


def average(runs, k):
    """Mean and its error over seeds; None where nothing defines a metric, as the precision of who predicts no motion."""
    values = [run[k] for run in runs if run[k] is not None]
    return (mean(values), error_of_mean(values)) if values else (None, None)


def table(found):
    rows = []
    for (kind, q, variant), runs in found.items():
        cells = [average(runs, k)[0] for k in range(len(METRICS) + 1)]
        paper = PAPER.get((PAPER_NAMES.get(variant), q), ()) if kind != "raw" else ()
        rows.append([kind, q, variant, *("" if cell is None else f"{cell:.4g}" for cell in cells),
                     average(runs, 0)[1], PAPER_NAMES.get(variant, "") if paper else "", *(paper or [""] * 6)])
    return rows


HEADER = ["kind", "q", "variant", *METRICS, "seconds", "error_of_accuracy", "paper_method",
          *(f"paper_{metric}" for metric in METRICS), "paper_seconds"]


def show(rows):
    print("| kind    | q    | variant              | acc.  | prec. | recall| F1    | spec. | s     | beside: the paper on HARTH")
    print("|---------|------|----------------------|-------|-------|-------|-------|-------|-------|---------------------------")
    for row in rows:
        kind, q, variant, *cells = row[:9]
        beside = "" if not row[10] else f"{row[10]} " + " ".join(f"{value:g}" for value in row[11:])
        print(f"| {kind:<7} | {q:<4} | {variant:<20} | " + " | ".join(f"{cell or '-':<5}" for cell in cells) + f" | {beside}")


def remarks(found):
    if not any(case[0] == "raw" for case in found):
        return
    share = mean([average(runs, 4)[0] for case, runs in found.items() if case[0] == "raw"])
    print(f"\nRaw channels: mean specificity {share:.1f} %. Single values of acceleration say how somebody stands, not whether he "
          "moves: the best linear rule is 'always rest'.\nPrecision and F1 are '-' where nobody is predicted to move.")


def picture(folder, kind, found):
    """A panel per metric and one for the time, a group of bars per variant, a bar per q."""
    name = f"bars-{kind}"
    lines = ["set terminal svg size 1200,640 dynamic noenhanced background '#ffffff'", f"set output '{name}.svg'",
             "set style data histogram", "set style histogram clustered gap 1", "set style fill solid 0.8", "set grid ytics",
             "set xtics rotate by -35 font ',9'", "set key above samplen 1 font ',9'", f"set multiplot layout 2,3 title 'Motion or rest, {kind}: by variant and q'"]
    lines.append("$d << END")
    for variant in VARIANTS:
        cells = [average(found[kind, q, variant], k)[0] for k in range(6) for q in STRENGTHS]
        lines.append(f'"{variant}" ' + " ".join("NaN" if cell is None else f"{cell:.6g}" for cell in cells))
    lines.append("END")
    for k, title in enumerate([*(f"{metric} in %" for metric in METRICS), "seconds of the whole run"]):
        lines += [f"set title '{title}'", "set yrange [0:100]" if k < 5 else "set yrange [0:*]",
                  "plot " + ", ".join(f"$d using {2 + 3 * k + i}:xtic(1) title 'q = {q}'" for i, q in enumerate(STRENGTHS))]
    lines.append("unset multiplot")
    experiment.draw(folder, name, "\n".join(lines) + "\n")


def main():
    parser = experiment.arguments(__doc__, "results-renewable-har")
    parser.add_argument("--data", metavar="FOLDER", help="where 1.csv.gz to 15.csv.gz are (../shared/data/har_chest_uci287)",
                        default=str(experiment.PROJECT / ".." / "shared" / "data" / "har_chest_uci287"))
    parser.add_argument("--kinds", metavar="WHICH", type=lambda text: text.split(","), default=["raw", "windows"],
                        help="raw, windows or both (raw,windows)")
    parser.add_argument("--harth", metavar="FOLDER", help="your copy of HARTH: S006.csv and so on, in place of --data")
    parser.add_argument("--seeds", metavar="N", type=experiment.positive, default=10,
                        help="random splits of the windows (10; at most 2 of the raw channels)")
    parser.add_argument("--records", metavar="N", type=experiment.positive,
                        help="keep about N records of everybody: whether everything runs")
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"--kinds: there is no {unknown[0]} (known: {', '.join(KINDS)})")
    data = pathlib.Path(options.harth or options.data).resolve()
    if options.harth:
        options.kinds = ["harth"]
        if not list(data.glob("S[0-9][0-9][0-9].csv")):
            experiment.fail(f"there is no S006.csv or the like in {data}: get HARTH from the UCI repository (779). Say where it is: --harth FOLDER.")
    elif not (data / "1.csv.gz").exists():
        experiment.fail(f"there is no {data / '1.csv.gz'}: the data set is not part of the project. Say where it is: --data FOLDER.")
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="renewable-har-") as scratch:
        found = measure(experiment.Runs(starling, scratch, "renewable"), starling, data, options)
    rows = table(found)
    show(rows)
    remarks(found)
    experiment.write_csv(folder / "har.csv", HEADER, rows)
    experiment.write_csv(folder / "runs.csv", ["kind", "q", "variant", *METRICS, "seconds"],
                         ([*case, *values] for case, runs in found.items() for values in runs))
    for kind in options.kinds:
        picture(folder, kind, found)
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
