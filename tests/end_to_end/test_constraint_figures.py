"""The figures of docs/methods/constraints.md, "Regret and violation", at T = 10^5: signs and exponents."""

import functools
import math
import random
import unittest

from harness import *

ALL = "data:column=0-4,max=0.5"
LINEAR = ["--loss", "squared", "--domain", "simplex", "--constraint", ALL]


@functools.lru_cache
def records(count, seed=1):
    """Lines a_1,…,a_5,y with a in a box of width 0.4 and y some 0.9, where a·x would be with no constraint at 0.5."""
    rng = random.Random(seed)
    lines = []
    for _ in range(count):
        a = [centre + rng.uniform(-0.2, 0.2) for centre in (0.9, 0.7, 0.5, 0.3, 0.1)]
        y = sum(share * value for share, value in zip((0.4, 0.3, 0.2, 0.1, 0), a)) + 0.2 + rng.gauss(0, 0.1)
        lines.append(",".join(f"{value:.5f}" for value in [*a, y]))
    return lines


def projected(v):
    """The point of the simplex next to v."""
    total, kept = 0.0, 0.0
    for k, value in enumerate(sorted(v, reverse=True), 1):
        total += value
        if value - (total - 1) / k > 0:
            kept = (total - 1) / k
    return [max(value - kept, 0.0) for value in v]


class Quadratic:
    """Σ (a·x − y)²/2 over records, and the mean of a: for the comparator of the long-term constraint."""

    def __init__(self, count):
        rows = [[float(field) for field in line.split(",")] for line in records(count)]
        self.n = len(rows)
        self.h = [[sum(r[i] * r[j] for r in rows) / self.n for j in range(5)] for i in range(5)]
        self.g = [sum(r[i] * r[5] for r in rows) / self.n for i in range(5)]
        self.yy = sum(r[5] ** 2 for r in rows) / self.n
        self.a = [sum(r[i] for r in rows) / self.n for i in range(5)]
        self.comparator = self.comparator_loss(0.5)

    def best(self, multiplier):
        x = [0.2] * 5
        for _ in range(1500):
            step = [sum(h * value for h, value in zip(row, x)) - g + multiplier * a
                    for row, g, a in zip(self.h, self.g, self.a)]
            x = projected([value - 0.5 * s for value, s in zip(x, step)])  # the largest curvature is below 2
        return x

    def comparator_loss(self, bound):
        """min Σ f over the simplex with mean a·x at most the bound."""
        low, high = 0.0, 2.0
        for _ in range(25):
            middle = (low + high) / 2
            x = self.best(middle)
            low, high = (middle, high) if sum(a * v for a, v in zip(self.a, x)) > bound else (low, middle)
        x = self.best(high)
        quadratic = sum(x[i] * self.h[i][j] * x[j] for i in range(5) for j in range(5))
        return self.n * (quadratic / 2 - sum(g * v for g, v in zip(self.g, x)) + self.yy / 2)


@functools.lru_cache
def comparator_loss(count):
    return Quadratic(count).comparator


class Budgeted(TestCase):
    """Three clients on the stream whose constraint c = a·x − 0.5 binds; a is private, in a box of width 0.4."""

    ROUNDS = 100_000

    def play(self, *words, rounds=ROUNDS):
        if not (self.folder / f"{rounds}.csv").exists():
            self.write(f"{rounds}.csv", "\n".join(records(3 * rounds)) + "\n")
        self.runs = getattr(self, "runs", 0) + 1
        return self.summary_of(1, ["--clients", "3", "--source", f"{rounds}.csv", *LINEAR, "--metrics", "shared", *words],
                               f"run-{self.runs}")

    def regret(self, summary, rounds=ROUNDS):
        return summary["loss"]["mean"] * 3 * rounds - comparator_loss(3 * rounds)

class Figures(Budgeted):
    def test_saddle_points_grow_as_the_square_root(self):
        # 489 and 25 per client with exponents 0.52 and 0.40, regret at most 0.
        for gamma, violation, exponent in (("2", 489, 0.52), ("0.1", 25, 0.40)):
            with self.subTest(gamma=gamma):
                summary = self.play("--mechanism", "none", "--dual-regularisation", gamma)
                (constraint,) = summary["constraints"]
                self.assertAlmostEqual(constraint["violation"] / 3, violation, delta=0.15 * violation)
                self.assertAlmostEqual(constraint["violation_exponent"], exponent, delta=0.1)
                self.assertLess(self.regret(summary), 0)
                self.assertAlmostEqual(constraint["dual_final"]["mean"], 0.41, delta=0.05)
                self.assertGreaterEqual(constraint["dual_final"]["max"], constraint["dual_final"]["mean"])

    def test_virtual_queues_grow_with_their_caution(self):
        # Q settles at V' times the multiplier, and Σ c with it: the exponent is one over horizons T, as V' is a power of
        # T. 0.43 for V' = √T, 0.71 for V' = T^0.75.
        for power, exponent in ((0.5, 0.43), (0.75, 0.71)):
            with self.subTest(power=power):
                violations = []
                for rounds in (10_000, 100_000):
                    more = ["--caution", rounds**power] if power != 0.5 else []
                    summary = self.play("--mechanism", "none", "--dual", "queue", *more, rounds=rounds)
                    (constraint,) = summary["constraints"]
                    violations.append(constraint["violation"])
                    self.assertLess(self.regret(summary, rounds), 0)
                    # Q is Σ c once it has left 0 for good.
                    self.assertAlmostEqual(constraint["dual_final"]["mean"], constraint["violation"] / 3,
                                           delta=0.05 * constraint["dual_final"]["mean"])
                self.assertAlmostEqual(math.log10(violations[1] / violations[0]), exponent, delta=0.1)

    def test_noise_that_two_releases_share(self):
        # Variant B at n ε = 10: with γ = 2 the violation stays above zero, with γ = 0.1 it comes down to zero within
        # noise, at a regret. Noise keys are fixed, so that this is one draw.
        def noisy(gamma):
            summary = self.play("--mechanism", "laplace", "--epsilon", "10", "--constraint-clip", "3.5", "--noise-key",
                                "seed", "--dual-regularisation", gamma)
            return summary["constraints"][0]["violation"] / 3, self.regret(summary) / 3

        strong, weak = noisy("2"), noisy("0.1")
        self.assertGreater(strong[0], 100)
        self.assertLess(weak[0], strong[0] - 100)
        self.assertGreater(weak[1], 0)
        self.assertLess(strong[1], weak[1])


if __name__ == "__main__":
    unittest.main()
