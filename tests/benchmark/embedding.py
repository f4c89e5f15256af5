#!/usr/bin/env python3
"""What a model of a user's own costs: rounds of a plug-in against rounds of the built-in logistic loss.

    python3 tests/benchmark/embedding.py BUILD [--features 100] [--batch 32] [--rounds 4000] [--turns 7]

BUILD has `starling`. Both learn from the same records on one rank that hosts four clients, in turn; the plug-in is logistic
regression in C, with the loops that one writes without much thought. Asked for: at most 1.2 times a round of the built-in loss.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_ess_singleton_isolated="1")

LOGISTIC = r"""
#include <math.h>
#include <starling/plugin.h>
static size_t dimension(void *self, size_t features) { (void)self; return features; }
static int gradients(void *self, const double *point, const starling_batch *batch, double *losses, double *rows) {
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) {
    const double *x = batch->x + i * batch->stride;
    double score = 0;
    for (size_t j = 0; j < batch->features; ++j) score += point[j] * x[j];
    const double margin = batch->y[i] * score;
    losses[i] = margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
    const double slope = -batch->y[i] / (1 + exp(margin));
    for (size_t j = 0; j < batch->features; ++j) rows[i * batch->features + j] = slope * x[j];
  }
  return 0;
}
STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out) {
  (void)options;
  if (abi != STARLING_PLUGIN_ABI) return 1;
  out->dimension = dimension;
  out->gradients = gradients;
  return 0;
}
"""


def call(words, folder):
    done = subprocess.run([*map(str, words)], cwd=folder, env=MPI, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def write_table(path, rows, features):
    draw = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(rows):
            x = [draw.gauss(0, 1) for _ in range(features)]
            file.write(",".join(f"{value:.6g}" for value in x) + f",{1 if x[0] > 0 else -1}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--turns", type=int, default=7)
    choice = parser.parse_args()
    starling = choice.build.resolve() / "starling"
    clients = 4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        records = 8 * choice.batch * clients
        write_table(folder / "data.csv", records, choice.features)
        (folder / "mine.c").write_text(LOGISTIC, encoding="ascii")
        call(["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-I", SOURCE / "include", "mine.c", "-o", "libmine.so", "-lm"], folder)
        for protection in (["--mechanism", "none"], ["--mechanism", "gaussian", "--epsilon", 1, "--clip", 1]):
            ratios = []
            for turn in range(choice.turns):
                seconds = {}
                for kind, model in (("built-in", ["--loss", "logistic"]), ("own", ["--model", "plugin:./libmine.so"])):
                    words = [starling, "omd", "--tuning", "off", "--source", "data.csv", "--header", "no", "--clients", clients, "--batch",
                             choice.batch, "--epochs", choice.rounds // 8 + 1, "--rounds", choice.rounds, *protection, *model, "--json",
                             "--progress", "off", "--output", f"{kind}-{protection[1]}-{turn}"]
                    seconds[kind] = json.loads(call(words, folder))["time"]["wall"]
                ratios.append(seconds["own"] / seconds["built-in"])
            print(f"{choice.features} features, batch {choice.batch}, {protection[1]}: a round of the plug-in takes "
                  f"{statistics.median(ratios):.2f} times that of the built-in loss ({min(ratios):.2f} to {max(ratios):.2f} in "
                  f"{choice.turns} turns)")


if __name__ == "__main__":
    main()
