#!/usr/bin/env python3
"""What a round costs beside bare MPI, loops by hand, and mpi4py with NumPy; and what mixing costs beside Eigen.

    cmake --preset release && cmake --build --preset release --target exchange whole_round block_mixing
    python3 tests/benchmark/rounds.py build/release [--turns 5] [--only exchange|round|blocks]     (python3-mpi4py for one peer)

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
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                   OPENBLAS_NUM_THREADS="1")
# Seconds of Bluefog's neighbor_allreduce over those of bare MPI, by dimension, as its users have it by default: measured
# elsewhere, once, on a ring of two ranks. The column says what they would imply here.
BLUEFOG = {5: 1260, 100: 549, 10000: 33}
EXCHANGE_BARS = {5: 1.5, 100: 1.25, 10000: 1.15, 100000: 1.15}
ROUND_BARS = {5: 1.25, 1000: 1.10}
NUMPY_BARS = {(2, 5): 20, (2, 1000): 2.2, (3, 1000): 3}


def run(ranks, *words):
    command = ["mpirun", "--oversubscribe", "-n", str(ranks), *map(str, words)]
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


def over_turns(turns, key, figure):
    return statistics.median(figure(turn[key]) for turn in turns)


def verdict(ratio, bar, at_most=True):
    if bar is None:
        return ""
    return f"{'' if (ratio <= bar) == at_most else 'NOT '}met ({'≤' if at_most else '≥'} {bar})"


def exchange(build, turns):
    programs = build / "tests/benchmark/exchange"
    print("\n## Exchange and mixing beside the best loop by hand over bare MPI (µs a round)\n")
    print("| ranks | graph | d | starling | by hand | ratio | p10 ratio | bare call | bar | Bluefog / starling |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    calls = ("isend", "persistent", "collective")
    best = lambda row, suffix: min(row[call + suffix] for call in calls)
    for ranks in (2, 4, 8):
        results = [rows(run(ranks, programs, 21)) for _ in range(turns)]
        for key in results[0]:
            d = key[2]
            ours = over_turns(results, key, lambda row: row["starling"])
            hand = over_turns(results, key, lambda row: best(row, ""))
            ratio = over_turns(results, key, lambda row: row["starling"] / best(row, ""))
            quick = over_turns(results, key, lambda row: row["starling_p10"] / best(row, "_p10"))
            call = over_turns(results, key, lambda row: best(row, "_call"))
            bluefog = f"{BLUEFOG[d] * call / ours:.0f}" if d in BLUEFOG and key[1] == "ring" and ranks == 2 else ""
            print(f"| {key[0]} | {key[1]} | {d} | {ours:.2f} | {hand:.2f} | {ratio:.2f} | {quick:.2f} | {call:.2f} | "
                  f"{verdict(ratio, EXCHANGE_BARS[d])} | {bluefog} |", flush=True)


def whole_round(build, turns):
    print("\n## A whole private round on a directed ring (µs)\n")
    print("| ranks | d | starling | by hand | ratio | p10 ratio | bar | NumPy | NumPy / starling | bar |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |")
    numpy_is_here = subprocess.run([sys.executable, "-c", "import mpi4py, numpy"], capture_output=True).returncode == 0
    best = lambda row, suffix: min(row["isend" + suffix], row["persistent" + suffix])
    for ranks in (2, 3):
        results = []
        for _ in range(turns):
            result = rows(run(ranks, build / "tests/benchmark/whole_round", 21))
            peer = rows(run(ranks, sys.executable, HERE / "numpy_round.py", 21)) if numpy_is_here else {}
            for key, row in peer.items():
                result[key].update(row)
            results.append(result)
        for key in results[0]:
            d = key[2]
            ours = over_turns(results, key, lambda row: row["starling"])
            hand = over_turns(results, key, lambda row: best(row, ""))
            ratio = over_turns(results, key, lambda row: row["starling"] / best(row, ""))
            quick = over_turns(results, key, lambda row: row["starling_p10"] / best(row, "_p10"))
            line = f"| {key[0]} | {d} | {ours:.2f} | {hand:.2f} | {ratio:.2f} | {quick:.2f} | {verdict(ratio, ROUND_BARS.get(d))} |"
            if numpy_is_here:
                times = over_turns(results, key, lambda row: row["numpy"] / row["starling"])
                peer = over_turns(results, key, lambda row: row["numpy"])
                line += f" {peer:.1f} | {times:.1f} | {verdict(times, NUMPY_BARS.get((ranks, d)), at_most=False)} |"
            print(line, flush=True)
    if not numpy_is_here:
        print("\nmpi4py is not here: that peer is left out (Debian: python3-mpi4py)")


def blocks(build, turns):
    print("\n## Mixing 100,000 clients of 50 numbers on a random graph of degree 8, beside Eigen's sparse product\n")
    for ranks in (1, 2):
        for _ in range(turns):
            # Eigen's vectors come from malloc: with this they too are on huge pages, where the system lends them.
            print(run(ranks, "env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", build / "tests/benchmark/block_mixing"), end="",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder of a release build")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", choices=("exchange", "round", "blocks"))
    options = parser.parse_args()
    parts = {"exchange": exchange, "round": whole_round, "blocks": blocks}
    for name, part in parts.items():
        if options.only in (None, name):
            part(options.build.resolve(), options.turns)


main()
