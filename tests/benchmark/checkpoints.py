#!/usr/bin/env python3
"""What checkpoints cost: `starling omd` with a checkpoint every 1,000 rounds against the same run without.

    python3 tests/benchmark/checkpoints.py BUILD/starling [--dimension 10000] [--rounds 4000] [--every 1000] [--turns 7]

Two ranks, one client each, batch 32, logistic loss, Laplace noise. Runs alternate; the figure is the median of the ratios
of the seconds that the rounds took (time.wall of the summary: all of the rounds, with what observers and checkpoints
take), less one. Asked for: at most 2 % at d = 10,000.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GOAL = 0.02


def seconds(starling, folder, name, rounds, more):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", "2", starling, "omd", "--tuning", "off", "--source", str(folder / "records.h5"), "--epochs", "1000000",
         "--batch", "32", "--mechanism", "laplace", "--epsilon", "1", "--noise-key", "seed", "--rounds", str(rounds),
         "--output", str(folder / name), "--progress", "off", "--json", *more],
        env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["time"]["wall"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("starling")
    parser.add_argument("--dimension", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--folder", help="where runs are written; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        import h5py
        import numpy
        random = numpy.random.default_rng(1)
        with h5py.File(folder / "records.h5", "w") as file:
            file["x"] = random.normal(size=(256, options.dimension - 1))
            file["y"] = numpy.sign(random.normal(size=256))
        ratios = []
        for turn in range(options.turns):
            walls = {}
            for kind in ("with", "without") if turn % 2 else ("without", "with"):
                more = ["--checkpoint-every", str(options.every)] if kind == "with" else []
                walls[kind] = seconds(options.starling, folder, f"{kind}-{turn}", options.rounds, more)
            ratios.append(walls["with"] / walls["without"] - 1)
            print(f"turn {turn + 1}: {walls['without']:.3f} s without, {walls['with']:.3f} s with, {100 * ratios[-1]:+.2f} %")
    median = statistics.median(ratios)
    print(f"median {100 * median:+.2f} % at d = {options.dimension}, a checkpoint each {options.every} rounds "
          f"(asked for: at most {100 * GOAL:.0f} %)")


if __name__ == "__main__":
    main()
