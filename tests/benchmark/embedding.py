#!/usr/bin/env python3
"""What a model of a user's own costs: rounds of a plug-in against rounds of the built-in logistic loss.

    python3 tests/benchmark/embedding.py BUILD [--features 100] [--batch 32] [--rounds 4000] [--turns 7]

BUILD has `starling`. All learn from the same records on one rank that hosts four clients, in turn. Two plug-ins are logistic regression
in C: `simple` has one loop over records, as one writes it without much thought; `apart` has exponentials and logarithms in a loop of
their own, where the compiler computes several at once, as the built-in loss does. The gradients function of each is timed alone too:
what it takes is the plug-in's own, and no program around it can save it. Asked for without noise:
at most 1.2 times a round of the built-in loss. Under noise each record has a call of its own.
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

HEAD = r"""
#include <math.h>
#include <starling/plugin.h>
static size_t dimension(void *self, size_t features) { (void)self; return features; }
"""
SIMPLE = r"""
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
"""
APART = r"""
static int gradients(void *self, const double *point, const starling_batch *batch, double *losses, double *rows) {
  (void)self;
  const size_t d = batch->features;
  for (size_t i = 0; i < batch->rows; ++i) {
    double score = 0;
    for (size_t j = 0; j < d; ++j) score += point[j] * batch->x[i * batch->stride + j];
    losses[i] = batch->y[i] * score;
  }
  for (size_t i = 0; i < batch->rows; ++i) {
    const double margin = losses[i], small = exp(-fabs(margin));
    losses[i] = log1p(small) + fmax(-margin, 0);
    rows[i * d] = -batch->y[i] * (margin > 0 ? small : 1) / (1 + small);
  }
  for (size_t i = 0; i < batch->rows; ++i) {
    const double slope = rows[i * d];
    for (size_t j = 0; j < d; ++j) rows[i * d + j] = slope * batch->x[i * batch->stride + j];
  }
  return 0;
}
"""
TAIL = r"""
STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out) {
  (void)options;
  if (abi != STARLING_PLUGIN_ABI) return 1;
  out->dimension = dimension;
  out->gradients = gradients;
  return 0;
}
"""
# Seconds of one call of the gradients function, over batches of as many records as the runs have.
ALONE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <starling/plugin.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
int main(int count, char **words) {
  const size_t d = strtoul(words[1], NULL, 10), batch = strtoul(words[2], NULL, 10), batches = 32;
  const unsigned long calls = count == 4 ? strtoul(words[3], NULL, 10) : 0;
  double *x = malloc(batches * batch * d * sizeof *x), *y = malloc(batches * batch * sizeof *y), *point = malloc(d * sizeof *point);
  double *losses = malloc(batch * sizeof *losses), *rows = malloc(batch * d * sizeof *rows);
  starling_model model = {0};
  if (starling_plugin(STARLING_PLUGIN_ABI, "", &model) != 0) return 1;
  for (size_t i = 0; i < batches * batch * d; ++i) x[i] = rand() / (0.5 * RAND_MAX) - 1;
  for (size_t i = 0; i < batches * batch; ++i) y[i] = rand() % 2 ? 1 : -1;
  for (size_t j = 0; j < d; ++j) point[j] = 0.1;
  const double began = now();
  for (unsigned long call = 0; call < calls; ++call) {
    const size_t first = call % batches * batch;
    const starling_batch records = {batch, d, x + first * d, d, y + first};
    if (model.gradients(model.self, point, &records, losses, rows) != 0) return 1;
  }
  printf("%.9g\n", (now() - began) / calls);
  return 0;
}
"""
PLUGINS = {"simple": SIMPLE, "apart": APART}
CLIENTS = 4
FLAGS = ["-O3", "-march=native", "-ffast-math", "-I", SOURCE / "include"]


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


def build_plugin(folder, kind, code):
    """Makes lib{kind}.so, and the program alone-{kind} that times its gradients function."""
    (folder / f"{kind}.c").write_text(HEAD + code + TAIL, encoding="ascii")
    (folder / "alone.c").write_text(ALONE, encoding="ascii")
    call(["cc", *FLAGS, "-shared", "-fPIC", f"{kind}.c", "-o", f"lib{kind}.so", "-lm"], folder)
    call(["cc", *FLAGS, "-fPIC", "alone.c", f"{kind}.c", "-o", f"alone-{kind}", "-lm"], folder)


def one_turn(starling, folder, choice, protection, turn):
    """Seconds of a client's round with each model, and of each plug-in's function alone."""
    seconds, alone = {}, {}
    models = {"built-in": ["--loss", "logistic"], **{kind: ["--model", f"plugin:./lib{kind}.so"] for kind in PLUGINS}}
    for kind, model in models.items():
        words = [starling, "omd", "--tuning", "off", "--source", "data.csv", "--header", "no", "--clients", CLIENTS, "--batch",
                 choice.batch, "--epochs", choice.rounds // 8 + 1, "--rounds", choice.rounds, *protection, *model, "--json",
                 "--progress", "off", "--output", f"{kind}-{protection[1]}-{turn}"]
        seconds[kind] = json.loads(call(words, folder))["time"]["wall"] / choice.rounds / CLIENTS
    for kind in PLUGINS:
        alone[kind] = float(call([f"./alone-{kind}", choice.features, choice.batch, CLIENTS * choice.rounds], folder))
    return seconds, alone


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--turns", type=int, default=7)
    choice = parser.parse_args()
    starling = choice.build.resolve() / "starling"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "data.csv", 8 * choice.batch * CLIENTS, choice.features)
        for kind, code in PLUGINS.items():
            build_plugin(folder, kind, code)
        for protection in (["--mechanism", "none"], ["--mechanism", "gaussian", "--epsilon", 1, "--clip", 1]):
            turns = [one_turn(starling, folder, choice, protection, turn) for turn in range(choice.turns)]
            for kind in PLUGINS:
                ratios = [seconds[kind] / seconds["built-in"] for seconds, _ in turns]
                own = [alone[kind] / seconds["built-in"] for seconds, alone in turns]
                print(f"{choice.features} features, batch {choice.batch}, {protection[1]}: a round of the plug-in `{kind}` takes "
                      f"{statistics.median(ratios):.2f} times that of the built-in loss ({min(ratios):.2f} to {max(ratios):.2f} in "
                      f"{choice.turns} turns), its own function {statistics.median(own):.2f}", flush=True)


if __name__ == "__main__":
    main()
