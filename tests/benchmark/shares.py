#!/usr/bin/env python3
"""What a round of vertical learning on shares costs: rounds a second, and bytes a record and round, beside the ring kernels.

    python3 tests/benchmark/shares.py BUILD [--turns 3]

BUILD has `starling` and `tests/benchmark/ring_rate`. Two parties with 25 columns each, logistic loss, Gaussian noise. The rate is that of
the rounds alone: of a long run less a short one, the least time of each. Bytes are those that clients send, on one rank or on three.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
COLUMNS = 25


def write_tables(folder, records):
    draw = random.Random(1)
    for k in range(2):
        lines = [",".join((["y"] if k == 0 else []) + [f"c{k}{j}" for j in range(COLUMNS)])]
        for _ in range(records):
            x = [f"{draw.gauss(0, 1):.4f}" for _ in range(COLUMNS)]
            lines.append(",".join(([str(draw.randrange(2))] if k == 0 else []) + x))
        (folder / f"{k}.csv").write_text("\n".join(lines) + "\n", encoding="ascii")


def run(starling, folder, ranks, rounds):
    words = ["mpirun", "--oversubscribe", "-n", str(ranks), starling, "vertical", "--protocol", "shares", "--clients", "2", "--parties",
             "0.csv,1.csv", "--label", "y", "--loss", "logistic", "--mechanism", "gaussian", "--mu", "1", "--rounds", str(rounds),
             "--progress", "off", "--json", "--output", "run"]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for k in range(2):
            (Path(place) / f"{k}.csv").symlink_to(folder / f"{k}.csv")
        done = subprocess.run(words, cwd=place, env=MPI, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    choice = parser.parse_args()
    starling = str((choice.build / "starling").resolve())
    for records, short, long in ((1000, 64, 1064), (100_000, 8, 24)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_tables(folder, records)
            for ranks in (1, 3):
                found = {rounds: [run(starling, folder, ranks, rounds) for _ in range(choice.turns)] for rounds in (short, long)}
                wall = {rounds: min(each["time"]["wall"] for each in runs) for rounds, runs in found.items()}
                sent = {rounds: runs[0]["traffic"]["bytes"] for rounds, runs in found.items()}
                edges = {tuple(edge[:2]): (edge[3] - before[3]) / (long - short) / records for edge, before in
                         zip(found[long][0]["traffic"]["edges"], found[short][0]["traffic"]["edges"])}
                print(f"{records} records x {2 * COLUMNS} columns, {ranks} rank(s): {(long - short) / (wall[long] - wall[short]):.0f} rounds a "
                      f"second; {(sent[long] - sent[short]) / (long - short) / records:.1f} bytes a record and round "
                      f"(dealer to the last party {edges[0, 2]:.1f}, party to party {edges[1, 2]:.1f} and {edges[2, 1]:.1f}); "
                      f"a run of 64 rounds {wall[short] + (64 - short) * (wall[long] - wall[short]) / (long - short):.1f} s", flush=True)
    print(subprocess.run([choice.build / "tests/benchmark/ring_rate"], capture_output=True, text=True, check=True).stdout, end="")


if __name__ == "__main__":
    main()
