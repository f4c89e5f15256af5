#!/usr/bin/env python3
"""What renewable estimation costs: whether time per batch grows with the number of batches, what a whole online run takes
beside one offline fit of the same records, and how memory goes with the number of features.

(a) Runs of up to --batches batches (10^5), 20 records and 20 features each, in tenths: what a tenth more takes is the
difference of two runs, medians of --repetitions; the last tenth beside the first (1: no growth).
(b) The three sizes of the paper's Table 1 (p = 50, M = 10; b = 100, 1000, 2000) and `offline` on the same records. The
paper has 0.10 to 0.11 s for its online variant, in which the data are not counted, and 2.31, 27.01, 53.01 s for kerndwd's
fit (R). Ours are whole runs, records drawn on the way included: what drawing takes is in both.
(c) Peak resident memory at p = 100 and 500 for 10 and 100 batches, against a model's O(p^2): of one client, with the run of
p = 2 subtracted, which is the program itself.

Run it on an idle machine, one thing at a time (--workers is ignored). Writes cost.csv and the picture batches.
"""

import json
import os
import subprocess
import sys
import tempfile

import experiment

PAPER = {100: (2.31, 0.10), 1000: (27.01, 0.10), 2000: (53.01, 0.11)}  # kerndwd's seconds, OnWP's seconds
LEARN = ["--loss", "dwd:1", "--l2", 0.1, "--penalty", "full", "--start", "zero", "--mechanism", "none", "--noise-key", "seed"]


def source(p, records):
    return ["--source", f"synthetic:two-gaussians:p={p},mu=0.2,n={records}"]


class Measured:
    """One run: its summary and its peak memory in bytes."""

    def __init__(self, starling, folder, words):
        command = [starling, "renewable", *map(str, words), "--output", str(folder), "--json", "--progress", "off"]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, cwd=experiment.PROJECT, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                errors.seek(0)
                experiment.fail(f"'{' '.join(command)}' ended with {process.returncode}:\n{errors.read()}")
            out.seek(0)
            self.summary = json.load(out)
        self.memory = usage.ru_maxrss * 1024

    @property
    def wall(self):
        return self.summary["time"]["wall"]


def median(values):
    return sorted(values)[len(values) // 2]


def growth(starling, scratch, folder, options):
    batches = options.batches
    lengths = [batches // 100, *(batches * k // 10 for k in range(1, 11))]
    words = ["--clients", 1, *source(20, 20 * batches), "--batch", 20, *LEARN, "--record-every", batches]
    taken = {length: [] for length in lengths}
    for repetition in range(options.repetitions):
        for length in lengths:
            run = Measured(starling, f"{scratch}/growth-{length}-{repetition}", [*words, "--rounds", length])
            taken[length].append(run.wall)
    spans = [(b, 1e6 * (median(taken[b]) - median(taken[a])) / (b - a)) for a, b in zip(lengths, lengths[1:])]
    first, last = spans[0][1], spans[-1][1]
    print(f"(a) {batches} batches in {median(taken[batches]):.2f} s; time per batch: first tenth {first:.1f} us, last tenth "
          f"{last:.1f} us, ratio {last / first:.2f}")
    experiment.draw_curves(folder, "batches", ("Time per batch (20 records, p = 20)", "batches", "microseconds"),
                           {"a tenth more": tuple(zip(*spans))}, ["set yrange [0:*]"])
    return [["time per batch, last tenth / first tenth", f"b = {batches}", f"{last / first:.3f}", ""],
            ["microseconds per batch, last tenth", f"b = {batches}", f"{last:.2f}", ""]]


def fits(starling, scratch, options):
    rows = []
    print("(b) p = 50, M = 10, 20 records per client and batch; seconds")
    print("| b     | online | offline | ratio | paper: OnWP | kerndwd | ratio |")
    print("|-------|--------|---------|-------|-------------|---------|-------|")
    for batches, (kerndwd, online) in PAPER.items():
        batches = min(batches, options.batches)
        words = ["--clients", 10, *source(50, 20 * batches), "--batch", 20, "--loss", "dwd:1", "--l2", 0.1, "--mechanism", "none"]
        taken = {}
        for variant, more in {"online": ["--variant", "online", "--penalty", "full", "--start", "zero"],
                              "offline": ["--variant", "offline", "--penalty", "slopes"]}.items():
            taken[variant] = median([Measured(starling, f"{scratch}/{variant}-{kerndwd}-{k}", [*words, *more]).wall
                                     for k in range(options.repetitions)])
        ratio = taken["offline"] / taken["online"]
        print(f"| {batches:<5} | {taken['online']:<6.3f} | {taken['offline']:<7.3f} | {ratio:<5.2f} | {online:<11.2f} "
              f"| {kerndwd:<7.2f} | {kerndwd / online:<5.0f} |")
        rows += [[f"seconds, {variant}", f"b = {batches}", f"{seconds:.4f}", online if variant == "online" else kerndwd]
                 for variant, seconds in taken.items()]
    print("Both of ours see every record: the honest ratio of a whole stream to one fit is a small number. The paper's is of an R "
          "package that iterates to\nconvergence against one pass of another program.")
    return rows


def memory(starling, scratch, options):
    rows = []
    base = Measured(starling, f"{scratch}/memory", ["--clients", 1, *source(2, 200), "--batch", 20, *LEARN]).memory
    print("(c) peak memory beyond the program's own, in megabytes; 8 p^2 bytes are one square matrix")
    for p in (100, 500):
        for batches in (10, 100):
            words = ["--clients", 1, *source(p, 20 * batches), "--batch", 20, *LEARN]
            used = Measured(starling, f"{scratch}/memory-{p}-{batches}", words).memory - base
            print(f"    p = {p}, b = {batches}: {used / 1e6:.2f} MB, {used / (8 * p * p):.1f} square matrices")
            rows.append(["bytes beyond the program's own", f"p = {p}, b = {batches}", used, ""])
    return rows


def main():
    parser = experiment.arguments(__doc__, "results-renewable-cost")
    parser.add_argument("--batches", metavar="B", type=experiment.positive, default=100_000, help="of the long run (100000)")
    parser.add_argument("--repetitions", metavar="N", type=experiment.positive, default=3,
                        help="of each run of (a) and (b); the median is shown (3)")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="renewable-cost-") as scratch:
        rows = [*growth(starling, scratch, folder, options), *fits(starling, scratch, options),
                *memory(starling, scratch, options)]
    experiment.write_csv(folder / "cost.csv", ["figure", "case", "ours", "paper"], rows)
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    sys.exit(main())
