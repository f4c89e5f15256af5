#!/usr/bin/env python3
"""What `starling predict` costs beside reading: records a second against the table's reader alone, and the memory that it takes.

    python3 tests/benchmark/predict.py BUILD [--rows 10000000] [--features 10] [--turns 5] [--folder DIR]

BUILD has `starling` and `tests/benchmark/read_rate`. Both read the same CSV file, in turn. Asked for: predictions at 80 % or more of
the reading speed, in memory that does not grow with the rows.
"""
import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def write_table(path, rows, features):
    """Rows repeat after the first ten thousand, so that the table is made quickly."""
    draw = random.Random(1)
    lines = []
    for _ in range(min(rows, 10_000)):
        x = [draw.gauss(0, 1) for _ in range(features)]
        lines.append(",".join(f"{value:.6g}" for value in x) + f",{int(x[0] > 0)}\n")
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join(f"x{j}" for j in range(features)) + ",y\n")
        block = "".join(lines)
        for _ in range(rows // len(lines)):
            file.write(block)
        file.writelines(lines[:rows % len(lines)])


def call(words):
    done = subprocess.run(words, env=MPI, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    choice = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=choice.folder) as name:
        folder = Path(name)
        write_table(folder / "small.csv", 1000, choice.features)
        write_table(folder / "big.csv", choice.rows, choice.features)
        starling = str(choice.build / "starling")
        call([starling, "omd", "--source", str(folder / "small.csv"), "--clients", "1", "--mechanism", "none", "--progress", "off",
              "--output", str(folder / "run")])
        ratios = []
        for _ in range(choice.turns):
            alone = float(call([str(choice.build / "tests/benchmark/read_rate"), str(folder / "big.csv")]).split()[0])
            began = time.monotonic()
            call([starling, "predict", str(folder / "run"), "--source", str(folder / "big.csv"), "--output",
                  str(folder / "predictions.csv"), "--progress", "off"])
            ratios.append(alone / (time.monotonic() - began))
            (folder / "predictions.csv").unlink()  # to replace it would take up to a seventh of the time
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{choice.rows} rows of {choice.features} features, {choice.turns} turns: predictions at {statistics.median(ratios):.0%} of "
          f"the reading speed ({min(ratios):.0%} to {max(ratios):.0%}); at most {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
