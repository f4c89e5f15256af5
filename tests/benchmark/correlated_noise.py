#!/usr/bin/env python3
"""What correlated noise costs: rounds of `starling omd` under it against rounds under independent noise.

    python3 tests/benchmark/correlated_noise.py BUILD/starling [--turns 7] [--folder DIR]

One client, batch 32, logistic loss, Gaussian noise, settings by hand. Runs alternate. The figures are medians of the ratios of the
seconds that the rounds took (time.wall of the summary), and of the difference of the seconds of a whole start (one round). Asked
for: a round at most 1.15 times as long at d = 10,000 and 1.3 times at d = 10; at most 1 s more to start.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {10: (200_000, 1.3), 10_000: (2_000, 1.15)}


def run(starling, folder, source, kind, rounds, turn):
    """Seconds of the rounds, and of the whole process."""
    began = time.monotonic()
    done = subprocess.run(
        [starling, "omd", "--tuning", "off", "--source", source, "--epochs", "1000000", "--batch", "32", "--mechanism", "gaussian",
         "--epsilon", "1", "--noise-key", "seed", "--rounds", str(rounds), "--noise-correlation", kind,
         "--output", str(folder / f"{kind}-{rounds}-{turn}".replace(":", "-")), "--progress", "off", "--json"],
        env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"), capture_output=True, text=True,
        check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["time"]["wall"], time.monotonic() - began


def median_of(turns, measure):
    """measure(kind, turn) for both kinds of noise in each turn, the first kind first in every second one."""
    pairs = []
    for turn in range(turns):
        kinds = ("none", "blt:2") if turn % 2 else ("blt:2", "none")
        seen = {kind: measure(kind, turn) for kind in kinds}
        pairs.append((seen["blt:2"], seen["none"]))
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("starling")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--folder", help="where runs are written; default: a temporary folder")
    options = parser.parse_args()
    import h5py
    import numpy
    missed = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        for dimension, (rounds, goal) in CASES.items():
            random = numpy.random.default_rng(1)
            source = str(folder / f"records-{dimension}.h5")
            with h5py.File(source, "w") as file:
                file["x"] = random.normal(size=(256, dimension))
                file["y"] = numpy.sign(random.normal(size=256))
            pairs = median_of(options.turns, lambda kind, turn: run(options.starling, folder, source, kind, rounds, turn)[0])
            ratio = statistics.median(correlated / independent for correlated, independent in pairs)
            print(f"d = {dimension}: {ratio:.3f} times a round of independent noise (at most {goal})")
            missed += ratio > goal
        starts = median_of(options.turns, lambda kind, turn: run(options.starling, folder, source, kind, 1, 100 + turn)[1])
        more = statistics.median(correlated - independent for correlated, independent in starts)
        print(f"start: {more:+.3f} s (at most 1)")
        missed += more > 1
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
