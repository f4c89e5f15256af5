#!/usr/bin/env python3
"""What a round costs beside bare MPI, loops by hand, and mpi4py with NumPy; what mixing costs beside Eigen; what it costs to be
watched, to share CPUs with other ranks, and to start.

    cmake --preset release && cmake --build --preset release --target exchange whole_round block_mixing observers startup starling
    python3 tests/benchmark/rounds.py build/release [--turns 5] [--only PART]     (python3-mpi4py for one peer)

In each turn every program runs once; within a program the contestants take turns in blocks of rounds. A figure is the median
over turns of the median over blocks; a ratio is the median of the ratios within each turn. `p10` is the same for the tenth of
the blocks that were quickest: on a machine with other work it tells more. Times are of the slowest rank.
"""
import argparse
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                   OPENBLAS_NUM_THREADS="1")
# Seconds of Bluefog's neighbor_allreduce over those of bare MPI, by dimension, as its users have it by default: measured
# elsewhere, once, on a ring of two ranks. The column says what they would imply here.
BLUEFOG = {5: 1260, 100: 549, 10000: 33}
EXCHANGE_BARS = {5: 1.5, 100: 1.25, 10000: 1.15, 100000: 1.15}
ROUND_BARS = {5: 1.25, 1000: 1.10}
WINDOW_BAR = 2
NUMPY_BARS = {(2, 5): 20, (2, 1000): 2.2, (3, 1000): 3}
BLOCKS_BAR = 0.555
WATCHED_BAR = 0.03
CROWDED_BAR = 100
STARTUP_BAR = 1.2


def run(ranks, *words, launcher=("--oversubscribe",)):
    """Its output."""
    command = ["mpirun", *map(str, launcher), "-n", str(ranks), *map(str, words)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def rows(text):
    """By (ranks, graph, dimension), the rest as numbers."""
    table = {}
    for row in csv.DictReader(io.StringIO(text)):
        key = (int(row.pop("ranks")), row.pop("graph"), int(row.pop("dimension")))
        table[key] = {name: float(value) for name, value in row.items()}
    return table


def verdict(ratio, bar, at_most=True):
    if bar is None:
        return ""
    return f"{'' if (ratio <= bar) == at_most else 'NOT '}met ({'≤' if at_most else '≥'} {bar})"


def heading(title, *columns):
    """A column that begins with < is of text."""
    print(f"\n## {title}\n\n| {' | '.join(column.lstrip('<') for column in columns)} |")
    print(f"| {' | '.join('---' if column.startswith('<') else '---:' for column in columns)} |")


def line(*cells):
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


class Turns:
    """The rows of one case, one for each turn."""

    def __init__(self, results, key, peers=()):
        self.rows = [result[key] for result in results]
        self.peers = peers

    def median(self, figure):
        return statistics.median(map(figure, self.rows))

    def best(self, suffix=""):
        """The best peer's."""
        return self.median(lambda row: min(row[peer + suffix] for peer in self.peers))

    def ratio(self, suffix="", ours="starling"):
        return self.median(lambda row: row[ours + suffix] / min(row[peer + suffix] for peer in self.peers))


def exchange(build, turns):
    heading("Exchange and mixing by messages beside the best loop by hand over bare MPI (µs a round)", "ranks", "<graph", "d", "starling",
            "by hand", "ratio", "p10 ratio", "bare call", "<bar", "Bluefog / starling")
    cases = []
    for ranks in (2, 4, 8):
        results = [rows(run(ranks, build / "tests/benchmark/exchange", 21)) for _ in range(turns)]
        for key in results[0]:
            case = Turns(results, key, ("isend", "persistent", "collective"))
            cases.append((*key, case))
            d, ours, call = key[2], case.median(lambda row: row["starling"]), case.best("_call")
            bluefog = f"{BLUEFOG[d] * call / ours:.0f}" if d in BLUEFOG and key[:2] == (2, "ring") else ""
            line(*key, f"{ours:.2f}", f"{case.best():.2f}", f"{case.ratio():.2f}", f"{case.ratio('_p10'):.2f}", f"{call:.2f}",
                 verdict(case.ratio(), EXCHANGE_BARS[d]), bluefog)
    windows(cases)


def windows(cases):
    """`cases`: (ranks, graph, dimension, turns)."""
    heading("Exchange and mixing through windows (all ranks on this host), µs a round", "ranks", "<graph", "degree", "d", "windows",
            "messages", "by hand", "by hand / windows", "p10", "bare call / windows", "<bar")
    for ranks, graph, d, case in cases:
        degree = {"ring": min(2, ranks - 1), "exponential": ranks.bit_length() - 1, "complete": ranks - 1}.get(graph, 1)
        ratio = 1 / case.ratio(ours="windows")
        line(ranks, graph, degree, d, f"{case.median(lambda row: row['windows']):.2f}",
             f"{case.median(lambda row: row['starling']):.2f}", f"{case.best():.2f}", f"{ratio:.2f}",
             f"{1 / case.ratio('_p10', ours='windows'):.2f}", f"{case.best('_call') / case.median(lambda row: row['windows']):.2f}",
             verdict(ratio, WINDOW_BAR, at_most=False) if degree >= 3 and d >= 10000 else "")


def whole_round(build, turns):
    heading("A whole private round on a directed ring (µs)", "ranks", "d", "starling", "by hand", "ratio", "p10 ratio", "<bar",
            "NumPy", "NumPy / starling", "<bar")
    numpy_is_here = subprocess.run([sys.executable, "-c", "import mpi4py, numpy"], capture_output=True).returncode == 0
    for ranks in (2, 3):
        results = []
        for _ in range(turns):
            result = rows(run(ranks, build / "tests/benchmark/whole_round", 21))
            peer = rows(run(ranks, sys.executable, HERE / "numpy_round.py", 21)) if numpy_is_here else {}
            for key, row in peer.items():
                result[key].update(row)
            results.append(result)
        for key in results[0]:
            case = Turns(results, key, ("isend", "persistent"))
            d = key[2]
            of_numpy = ["", "", ""]
            if numpy_is_here:
                times = case.median(lambda row: row["numpy"] / row["starling"])
                of_numpy = [f"{case.median(lambda row: row['numpy']):.1f}", f"{times:.1f}",
                            verdict(times, NUMPY_BARS.get((ranks, d)), at_most=False)]
            line(ranks, d, f"{case.median(lambda row: row['starling']):.2f}", f"{case.best():.2f}", f"{case.ratio():.2f}",
                 f"{case.ratio('_p10'):.2f}", verdict(case.ratio(), ROUND_BARS.get(d)), *of_numpy)
    if not numpy_is_here:
        print("\nmpi4py is not here: that peer is left out (Debian: python3-mpi4py)")


def blocks(build, turns):
    heading("Mixing 100,000 clients of 50 numbers on a random graph of degree 8, exchange included, beside Eigen's sparse product "
            "alone (ms)", "ranks", "starling", "GB/s gathered", "Eigen", "ratio", "p10 ratio", "<bar", "Eigen on huge pages", "ratio")
    gathered = 100000 * 8 * 50 * 8
    for ranks in (1, 2):
        case = Turns([rows(run(ranks, build / "tests/benchmark/block_mixing")) for _ in range(turns)], (ranks, "random-regular", 50))
        ours, eigen, on_huge_pages = (case.median(lambda row: row[name]) for name in ("starling", "eigen", "eigen_huge"))
        ratio = case.median(lambda row: row["starling"] / row["eigen"])
        line(ranks, f"{ours / 1e3:.1f}", f"{gathered / ours / 1e3:.1f}", f"{eigen / 1e3:.1f}", f"{ratio:.2f}",
             f"{case.median(lambda row: row['starling_p10'] / row['eigen_p10']):.2f}", verdict(ratio, BLOCKS_BAR),
             f"{on_huge_pages / 1e3:.1f}", f"{case.median(lambda row: row['starling'] / row['eigen_huge']):.2f}")


def observers(build, turns):
    heading("A private round with a ledger, models recorded every 100th round, and progress (µs)", "ranks", "d", "alone",
            "watched", "cost", "p10 cost", "<bar")
    results = []
    for turn in range(turns):
        with tempfile.TemporaryDirectory() as folder:
            results.append(rows(run(2, build / "tests/benchmark/observers", folder, 11)))
    for key in results[0]:
        case = Turns(results, key)
        cost, quick = (case.median(lambda row: row["watched" + suffix] / row["alone" + suffix] - 1) for suffix in ("", "_p10"))
        line(key[0], key[2], f"{case.median(lambda row: row['alone']):.2f}", f"{case.median(lambda row: row['watched']):.2f}",
             f"{100 * cost:+.1f} %", f"{100 * quick:+.1f} %", verdict(cost, WATCHED_BAR))


def crowded(build, turns):
    heading("A private round of more ranks than CPUs, whose host file promises a slot for each (µs)", "ranks", "CPUs", "d",
            "starling", "p10", "by hand", "<bar")
    ranks = 2 * len(os.sched_getaffinity(0))
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts:
        hosts.write(f"localhost slots={ranks}\n")
        hosts.flush()
        results = [rows(run(ranks, build / "tests/benchmark/whole_round", 21, "directed-ring", 100,
                            launcher=("--hostfile", hosts.name))) for _ in range(turns)]
    for key in results[0]:
        case = Turns(results, key, ("isend", "persistent"))
        ours = case.median(lambda row: row["starling"])
        line(ranks, ranks // 2, key[2], f"{ours:.1f}", f"{case.median(lambda row: row['starling_p10']):.1f}",
             f"{case.best():.1f}", verdict(ours, CROWDED_BAR))


def seconds_until(ranks, begins, *words):
    """Until a line of its stderr begins so, and until it has ended."""
    start = time.monotonic()
    program = subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(ranks), *map(str, words)], env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until_line = next((time.monotonic() - start for text in program.stderr if text.startswith(begins)), None)
    program.communicate()
    if program.returncode != 0 or until_line is None:
        sys.exit(f"{' '.join(map(str, words))} ended with {program.returncode}, or without the line '{begins}'")
    return until_line, time.monotonic() - start


def startup(build, turns):
    heading("From mpirun to the line of the first rounds (ms), beside an MPI program that does nothing else", "ranks",
            "empty, until MPI has started", "empty, until it has ended", "starling", "ratio to the former", "to the latter", "<bar")
    for ranks in (2, 8):
        started, ended, ours = [], [], []
        for _ in range(2 * turns):
            one, other = seconds_until(ranks, "started", build / "tests/benchmark/startup")
            started.append(one)
            ended.append(other)
            with tempfile.TemporaryDirectory() as folder:
                ours.append(seconds_until(ranks, "round", build / "starling", "omd", "--tuning", "off", "--source", "synthetic:logistic",
                                          "--mechanism", "laplace", "--epsilon", 1, "--rounds", 1000, "--progress", "on",
                                          "--output", f"{folder}/run")[0])
        ratio = lambda empty: statistics.median(one / other for one, other in zip(ours, empty))
        line(ranks, *(f"{1000 * statistics.median(times):.0f}" for times in (started, ended, ours)), f"{ratio(started):.2f}",
             f"{ratio(ended):.2f}", verdict(ratio(ended), STARTUP_BAR if ranks == 8 else None))


PARTS = {"exchange": exchange, "round": whole_round, "blocks": blocks, "observers": observers, "crowded": crowded,
         "startup": startup}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder of a release build")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.build.resolve(), options.turns)


main()
