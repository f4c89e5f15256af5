#!/usr/bin/env python3
"""How many records a second `starling infer` steps over without noise, beside the same recursion in NumPy, on one core.

    cmake --preset release && cmake --build --preset release --target starling
    python3 tests/benchmark/inference.py build/release/starling [--records 2000000] [--repetitions 5] [--core N]

One client, squared loss, theta of dimension 4 (three features and an intercept), a record per step, random scaling along the
path: theta -= step i^-0.51 (x'theta - y) x, the running mean, and the sums of V. Contestants:
  starling      a run on a file of binary numbers (HDF5) that it keeps in memory, less a run of two steps on the same file:
                start and the first reading of the file are left out
  NumPy loop    one replication, one record at a time, with arrays of 4: how such a recursion is written first
  vectorised    1000 replications side by side: each operation is on an array of 1000 x 4, so that a call's cost is shared
Repetitions of all contestants alternate; figures are medians, and a ratio is the median of the ratios within each turn.
Times are the processor's, without what a contestant waits for while others use the core. Asked for: 10^7 record-steps per
second by starling.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

D = 4
GOAL = 1e7
ALPHA = 0.51


class Recursion:
    """The recursion and the sums of random scaling, for one replication or for many side by side (leading axis)."""

    def __init__(self, shape):
        self.theta, self.s, self.bs = numpy.zeros(shape), numpy.zeros(shape), numpy.zeros(shape)
        self.u, self.i = numpy.zeros((*shape, D)), 0

    def step_one(self, x, y):
        self.i += 1
        self.theta -= self.i ** -ALPHA * (x @ self.theta - y) * x
        self.s += self.theta
        self.u += numpy.outer(self.s, self.s)
        self.bs += self.i * self.s

    def step_all(self, x, y):
        self.i += 1
        residual = numpy.einsum("rd,rd->r", x, self.theta) - y
        self.theta -= (self.i ** -ALPHA * residual)[:, None] * x
        self.s += self.theta
        self.u += self.s[:, :, None] * self.s[:, None, :]
        self.bs += self.i * self.s


def records(random, shape):
    x = numpy.ones((*shape, D))
    x[..., :-1] = random.normal(size=(*shape, D - 1))
    return x, x.sum(axis=-1) + 0.5 * random.normal(size=shape)


class Loop:
    def __init__(self, count):
        self.x, self.y = records(numpy.random.default_rng(1), (count,))

    def rate(self):
        path = Recursion((D,))
        start = time.process_time()
        for x, y in zip(self.x, self.y):
            path.step_one(x, y)
        return len(self.y) / (time.process_time() - start)


class Vectorised:
    """Records are drawn beforehand, as for the others."""

    def __init__(self, replications, steps):
        self.x, self.y = records(numpy.random.default_rng(1), (steps, replications))

    def rate(self):
        path = Recursion((self.x.shape[1], D))
        start = time.process_time()
        for x, y in zip(self.x, self.y):
            path.step_all(x, y)
        return self.y.size / (time.process_time() - start)


class Starling:
    def __init__(self, program, folder, count):
        self.program, self.folder, self.count = str(program), Path(folder), count
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.source = self.folder / "records.h5"
        self.call("data", "make", f"linear:p={D - 1},n={count}", "--output", self.source)
        self.turn, self.whole = 0, []

    def call(self, *words):
        """Runs it; returns the processor's time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.program, *map(str, words)], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"starling {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def seconds(self, steps):
        self.turn += 1
        return self.call("infer", "--source", self.source, "--clients", 1, "--intercept", "--loss", "squared",
                         "--mechanism", "none", "--memory", 1000, "--metrics", "local", "--rounds", steps,
                         "--record-every", self.count, "--progress", "off", "--output", self.folder / f"run-{self.turn}")

    def rate(self):
        whole = self.seconds(self.count)
        self.whole.append(self.count / whole)
        return self.count / (whole - self.seconds(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("starling", type=Path, help="the program, of a release build")
    parser.add_argument("--records", type=int, default=2_000_000, help="of starling's run (2000000)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})  # children inherit it
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="inference-") as folder:
        starling = Starling(options.starling.resolve(), folder, options.records)
        contestants = {"starling": starling, "NumPy loop": Loop(max(100, options.records // 40)),
                       "NumPy, 1000 side by side": Vectorised(1000, max(10, options.records // 4000))}
        rates = {name: [] for name in contestants}
        for turn in range(-1, options.repetitions):
            for name, contestant in contestants.items():
                rate = contestant.rate()
                if turn >= 0:  # the first turn warms up
                    rates[name].append(rate)
        print(f"NumPy {numpy.__version__}, core {options.core}, {options.repetitions} alternating repetitions, "
              f"{options.records} records")
        print(f"{'million record-steps a second':32}{'median':>8}{'least':>8}{'ratio':>8}")
        ours = numpy.array(rates["starling"])
        for name, values in rates.items():
            ratio = numpy.median(ours / numpy.array(values))
            print(f"{name:32}{numpy.median(values) / 1e6:8.3f}{min(values) / 1e6:8.3f}{ratio:8.2f}")
        whole = starling.whole[1:]
        print(f"{'starling, whole process':32}{numpy.median(whole) / 1e6:8.3f}{min(whole) / 1e6:8.3f}")
        print(f"starling: asked for {GOAL / 1e6:g}, {'met' if numpy.median(ours) >= GOAL else 'NOT MET'}")


if __name__ == "__main__":
    main()
