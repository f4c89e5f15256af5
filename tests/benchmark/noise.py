#!/usr/bin/env python3
"""How fast noise is drawn, beside NumPy, in one run on one core.

    cmake --preset release && cmake --build --preset release --target laplace_rate gaussian_rate
    python3 tests/benchmark/noise.py build/release/tests/benchmark [--repetitions 41] [--core N]

Repetitions of all contestants alternate, so that whatever else the machine does meets them alike; a ratio is the median
of the ratios within each turn. NumPy makes a new array for each call, and starling adds to one that exists: so arrays of
10^4 draws (a release) are measured as well as arrays of 10^6. Times are the processor's, without what a contestant waits
for while others use the core. starling's draws are exact and made from ChaCha20; NumPy's
are floating-point draws from PCG64, and protect nothing.
"""
import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy

DRAWS = 2_000_000  # in each repetition
COUNTS = (10_000, 1_000_000)


class Program:
    """A program built from rate.hpp, waiting for its turns."""

    def __init__(self, path):
        self.process = subprocess.Popen([path, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, count):
        self.process.stdin.write(f"{count} {DRAWS // count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class NumPy:
    def __init__(self, name):
        self.draw = getattr(numpy.random.default_rng(1), name)

    def seconds(self, count):
        start = time.process_time()
        for _ in range(DRAWS // count):
            self.draw(size=count)
        return time.process_time() - start

    def close(self):
        pass


# What is measured, against what, and the ratio that is asked for.
PAIRS = {"laplace": ("laplace", 1.0), "gaussian": ("normal", 0.7)}


def contestants(folder):
    found = {}
    for name, (rival, _) in PAIRS.items():
        program = folder / f"{name}_rate"
        if program.exists():
            found[f"starling {name}"] = Program(program)
            found[f"NumPy {rival}"] = NumPy(rival)
    if not found:
        sys.exit(f"no *_rate program in {folder} (build them and name the folder)")
    return found


def measure(found, count, repetitions):
    rates = {name: [] for name in found}
    for turn in range(-2, repetitions):
        for name, contestant in found.items():
            rate = DRAWS / contestant.seconds(count) / 1e6
            if turn >= 0:  # the first turns warm up
                rates[name].append(rate)
    return {name: numpy.array(values) for name, values in rates.items()}


def report(rates, count):
    print(f"\narrays of {count} draws: million draws per second")
    print(f"{'':22}{'median':>8}{'10 %':>8}")
    for name, values in rates.items():
        print(f"{name:22}{numpy.median(values):8.1f}{numpy.quantile(values, 0.1):8.1f}")
    for name, (rival, bar) in PAIRS.items():
        if f"starling {name}" in rates:
            ratios = rates[f"starling {name}"] / rates[f"NumPy {rival}"]
            ratio = numpy.median(ratios)
            print(f"{name}: {ratio:.2f} times NumPy's {rival} (10 %: {numpy.quantile(ratios, 0.1):.2f}; asked for: {bar}, "
                  f"{'met' if ratio >= bar else 'NOT MET'})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the *_rate programs are")
    parser.add_argument("--repetitions", type=int, default=41)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})  # children inherit it
    found = contestants(options.folder)
    print(f"NumPy {numpy.__version__}, core {options.core}, {options.repetitions} alternating repetitions of {DRAWS} draws")
    for count in COUNTS:
        report(measure(found, count, options.repetitions), count)
    for contestant in found.values():
        contestant.close()


if __name__ == "__main__":
    main()
