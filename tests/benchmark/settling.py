#!/usr/bin/env python3
"""Bounds by which `starling infer` tells a path that has settled: the table in src/inference/settling.cpp, by simulation.

    python3 tests/benchmark/settling.py [--paths 1000] [--steps 1023,1500,2047,20000] [--coefficients 1,2,4,8,16,32,64]

A path of descent on a quadratic, with normal noise and steps i^-0.51, makes 100 effective steps in each of d directions:
all is well. Printed are, for each d and number of steps, the quantiles that 2.5 % of such paths exceed: of the effective
steps of the slowest direction as they are estimated (2.5 %), and of the drift (97.5 %). The table has the worst of each
over the numbers of steps, rounded. A minute or two; needs NumPy and SciPy. The bounds of 128 and 256
coefficients are those of `--paths 200 --steps 4100,8000,20000 --coefficients 128,256`, which takes an hour.
"""
import argparse

import numpy
import scipy.linalg

ALPHA = 0.51
EFFECTIVE = 100
LEAST_LENGTH = 4


def most_blocks(d):
    return max(512, 8 * 2 ** int(numpy.ceil(numpy.log2(d))))


def ratio_of_adjacent(b):
    forgotten = -numpy.expm1(-b)
    variance = 1 - forgotten / b
    return (variance - forgotten**2 / (2 * b)) / variance


RELAXATIONS = numpy.logspace(-4, numpy.log10(50), 4000)
RATIOS = ratio_of_adjacent(RELAXATIONS)


def block_means(steps, d, paths, random):
    """Blocks x paths x d."""
    lengths = numpy.arange(1, steps + 1) ** -ALPHA
    pull = EFFECTIVE / lengths.sum()
    length = LEAST_LENGTH
    while steps // length >= most_blocks(d):
        length *= 2
    theta, means = numpy.zeros((paths, d)), numpy.zeros((steps // length, paths, d))
    for i in range(len(means) * length):
        theta = theta - lengths[i] * (pull * theta + random.standard_normal(theta.shape))
        means[i // length] += theta / length
    return means


def effective_steps(means):
    late = means[len(means) // 4:]
    centred, steps = late - late.mean(axis=0), numpy.diff(late, axis=0)
    ratio = scipy.linalg.eigh(steps.T @ steps / (2 * len(steps)), centred.T @ centred / len(late), eigvals_only=True)[0]
    return numpy.interp(ratio, RATIOS, RELAXATIONS) * len(means)


def drift(means):
    quarter, length = len(means) // 4, max(1, len(means) // 32)
    late = means[quarter:]
    late = late[:len(late) // length * length].reshape(-1, length, means.shape[1]).mean(axis=1)
    variances = length * (numpy.diff(late, axis=0) ** 2).mean(axis=0) / 2
    difference = means[-quarter:].mean(axis=0) - means[quarter:2 * quarter].mean(axis=0)
    return (abs(difference) / numpy.sqrt(2 * variances / quarter)).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", type=int, default=1000)
    parser.add_argument("--steps", default="1023,1500,2047,20000")
    parser.add_argument("--coefficients", default="1,2,4,8,16,32,64")
    options = parser.parse_args()
    random = numpy.random.default_rng(5)
    print("   d   steps  effective steps   drift")
    for d in map(int, options.coefficients.split(",")):
        for steps in map(int, options.steps.split(",")):
            if steps < 16 * d:
                continue
            means = block_means(steps, d, options.paths, random)
            each = [means[:, path] for path in range(options.paths)]
            least = numpy.quantile([effective_steps(one) for one in each], 0.025)
            most = numpy.quantile([drift(one) for one in each], 0.975)
            print(f"{d:4} {steps:7} {least:16.1f} {most:7.2f}", flush=True)


if __name__ == "__main__":
    main()
