#!/usr/bin/env python3
"""What sealed messages cost between two hosts, which are network namespaces joined by one link.

    python3 tests/benchmark/seals.py BUILD [--turns 7] [--dimensions 5 100 10000] [--rate 10gbit]

BUILD has `starling`. Two ranks, one on each host, average their models: a message each way and round, and no learning. Runs with open and
with sealed messages take turns. Prints, for each number of entries, the medians and the least of a round's microseconds, their ratios, and the median of the ratios of
runs that follow each other. --rate gives the link the speed of a network (as tc writes it); without it the link is a copy in memory. On a machine with other work look at the least. Needs root.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "hosts"))
import hosts

MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
BYTES = 400_000_000  # of a run, at most


def prepare(starling, folder, dimension):
    for client in range(2):
        if not (folder / f"{client}.key").exists():
            subprocess.run([starling, "keys", "make", str(client)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / "members").write_text("".join((folder / f"{client}.pub").read_text() for client in range(2)))
    rows = [",".join(f"{random.random():.6f}" for _ in range(dimension)) for _ in range(2)]
    (folder / "start.csv").write_text("\n".join(rows) + "\n")


def round_of(words, starling, folder, dimension, seal):
    """Microseconds."""
    rounds = min(20_000, BYTES // (8 * dimension) // 4)
    shutil.rmtree(folder / "run", ignore_errors=True)
    done = subprocess.run(
        [*words, starling, "omd", "--clients", "2", "--loss", "none", "--start", "start.csv", "--rounds", str(rounds), "--record-every", "1000000",
         "--identity", "{client}.key", "--members", "members", "--seal", seal, "--progress", "off", "--json", "--output", "run"],
        cwd=folder, env=MPI, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"a run ended with {done.returncode}: {done.stderr}")
    summary = json.loads(done.stdout)
    expected = {"on": "between hosts", "off": "off"}[seal]
    if summary["members"]["sealed"] != expected:
        sys.exit(f"messages were sealed {summary['members']['sealed']}, and not {expected}: see that both hosts have their own name")
    return summary["time"]["wall"] / rounds * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[5, 100, 10_000])
    parser.add_argument("--rate", help="speed of the link in each direction")
    options = parser.parse_args()
    if why := hosts.missing():
        sys.exit(f"no hosts: {why}")
    starling = (options.build / "starling").resolve()
    folder = Path(tempfile.mkdtemp(prefix="seals-"))
    print(f"microseconds of a round: medians, and the least, of {options.turns} runs in turns")
    print(f"{'entries':>8} {'open':>9} {'sealed':>9} {'ratio':>6} {'least':>9} {'sealed':>9} {'ratio':>6} {'pairs':>6}")
    with hosts.Hosts() as pair:
        if options.rate:
            pair.slow(options.rate)
        words = pair.launch(shutil.which("mpirun"), 1)
        for dimension in options.dimensions:
            prepare(starling, folder, dimension)
            found = {"off": [], "on": []}
            for _ in range(options.turns):
                for seal, times in found.items():
                    times.append(round_of(words, starling, folder, dimension, seal))
            figures = []
            for figure in (statistics.median, min):
                plain, sealed = (figure(times) for times in found.values())
                figures.append(f"{plain:9.1f} {sealed:9.1f} {sealed / plain:6.2f}")
            pairs = statistics.median(sealed / plain for plain, sealed in zip(*found.values()))
            print(f"{dimension:8} {' '.join(figures)} {pairs:6.2f}", flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
