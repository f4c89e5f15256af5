#!/usr/bin/env python3
"""What noise between pairs of clients costs: rounds of `starling omd` under --trust pairs against rounds under --trust local.

    python3 tests/benchmark/pairs.py BUILD/starling [--turns 5]

Single records and little mixing (a directed ring), so that rounds are releases. Runs alternate. A figure is the median of the ratios of the seconds of
rounds (time.wall of the summary). Asked for: 1 + degree/4 at most. Each pair has an end in both halves of the clients: on one rank its noise is drawn
once, on two at both ends.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CLIENTS, ROUNDS, DEGREES = 34, 400, (4, 8, 16)


def write_graph(folder, name, edges):
    (folder / f"{name}.topo").write_text(f"clients {CLIENTS}\nweights sender\n" + "".join(f"edge {u} {v}\n" for u, v in edges))


def write_graphs(folder):
    half = CLIENTS // 2
    write_graph(folder, "ring", [(u, (u + 1) % CLIENTS) for u in range(CLIENTS)])
    for degree in DEGREES:
        write_graph(folder, degree, [(u, half + (u + k) % half) for u in range(half) for k in range(degree)])


def seconds(starling, ranks, folder, dimension, trust):
    words = ["--trust", "pairs", "--pairs", str(folder / f"{trust}.topo")] if trust else []
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(ranks), starling, "omd", "--tuning", "off", "--source", f"synthetic:logistic:p={dimension},n={ROUNDS}",
         "--clients", str(CLIENTS), "--topology", str(folder / "ring.topo"), "--mechanism", "gaussian", "--mu", "1", "--noise-key",
         "seed", "--noise-correlation", "none", "--batch", "1", "--epochs", "1", "--progress", "off", "--json", *words,
         "--output", tempfile.mkdtemp(dir=folder)],
        env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["time"]["wall"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("starling")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=1, choices=(1, 2), help="1: both ends of a pair in one process; 2: in two")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pairs-") as name:
        folder = Path(name)
        write_graphs(folder)
        for dimension in (124, 4000):
            for degree in DEGREES:
                ratios = []
                for turn in range(options.turns):
                    order = (0, degree) if turn % 2 else (degree, 0)
                    taken = {trust: seconds(options.starling, options.ranks, folder, dimension, trust) for trust in order}
                    ratios.append(taken[degree] / taken[0])
                print(f"d = {dimension}, {degree} partners, {options.ranks} process(es): {statistics.median(ratios):.2f} times (asked for: {1 + degree / 4:g})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
