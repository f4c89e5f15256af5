#!/usr/bin/env python3
"""The stream of chapters 3 and 4, whose constraint binds, and the best model in hindsight that keeps it.

    jobs/budget.py FILE RECORDS

A record is (a, y): a lies in a public box of width 0.4 about (0.9, 0.7, 0.5, 0.3, 0.1), and y is near a.w + 0.2. The loss
is (a.x - y)^2/2 over the simplex and the constraint a.x <= 0.5 on average; y is some 0.9, so that every model would like
more than it may have. The dissertation prints no data for these chapters: this is a stream on which its bounds can fail.
"""

import random
import sys

import experiment

CENTRES, WIDTH, PLANTED, BOUND = (0.9, 0.7, 0.5, 0.3, 0.1), 0.4, (0.4, 0.3, 0.2, 0.1, 0), 0.5
CLIENTS, D = 3, 5


def records(count, seed=1):
    """Rows a_1, ..., a_5, y, rounded as the file has them. A longer stream begins as a shorter one does."""
    numbers = random.Random(seed)
    for _ in range(count):
        a = [round(centre + WIDTH * (numbers.random() - 0.5), 5) for centre in CENTRES]
        y = sum(w * value for w, value in zip(PLANTED, a)) + 0.2 + numbers.gauss(0, 0.1)
        yield [*a, round(y, 5)]


def write(path, rows):
    with open(path, "w") as file:
        file.writelines(",".join(f"{value:.5f}" for value in row) + "\n" for row in rows)


class Sums:
    """What the sum of losses at any x, and of constraints, is made of: moments of the records seen so far."""

    def __init__(self):
        self.n, self.yy = 0, 0.0
        self.aa = [[0.0] * D for _ in range(D)]
        self.ay, self.a = [0.0] * D, [0.0] * D

    def add(self, row):
        y = row[D]
        self.n += 1
        self.yy += y * y
        for i in range(D):
            value = row[i]
            self.a[i] += value
            self.ay[i] += value * y
            line = self.aa[i]
            for j in range(i, D):
                line[j] += value * row[j]

    def loss(self, x):
        quadratic = sum((1 if i == j else 2) * x[i] * x[j] * self.aa[i][j] for i in range(D) for j in range(i, D))
        return quadratic / 2 - sum(g * v for g, v in zip(self.ay, x)) + self.yy / 2

    def gradient(self, x, multiplier):
        """Of the mean loss + multiplier (mean constraint)."""
        return [(sum(self.aa[min(i, j)][max(i, j)] * x[j] for j in range(D)) - self.ay[i] + multiplier * self.a[i]) / self.n
                for i in range(D)]

    def constraint(self, x):
        """Mean of a.x, less its bound."""
        return sum(value * v for value, v in zip(self.a, x)) / self.n - BOUND

    def best(self):
        """argmin of the losses over the simplex with the constraints' sum at most 0, by bisection on the multiplier and
        projected gradient steps (the largest curvature is below 2); the point returned keeps the constraint."""
        def minimiser(multiplier):
            x = [1 / D] * D
            for _ in range(2000):
                x = projected([v - 0.5 * g for v, g in zip(x, self.gradient(x, multiplier))])
            return x

        if self.constraint(minimiser(0)) <= 0:
            return minimiser(0)
        low, high = 0.0, 4.0
        for _ in range(25):
            middle = (low + high) / 2
            low, high = (middle, high) if self.constraint(minimiser(middle)) > 0 else (low, middle)
        return minimiser(high)


def projected(v):
    """The point of the simplex that is closest to v."""
    total, shift = 0.0, 0.0
    for k, value in enumerate(sorted(v, reverse=True), 1):
        total += value
        if value > (total - 1) / k:
            shift = (total - 1) / k
    return [max(value - shift, 0.0) for value in v]


class Stream:
    """The records in a file, with what they sum to after each of some horizons (in rounds of one record per client)."""

    def __init__(self, path, horizons):
        self.path = path
        rows = list(records(CLIENTS * max(horizons)))
        write(path, rows)
        self.sums, self.comparators = {}, {}
        for horizon in horizons:
            sums = Sums()
            for row in rows[:CLIENTS * horizon]:
                sums.add(row)
            self.sums[horizon], self.comparators[horizon] = sums, sums.best()
        self.rows = rows

    def regret(self, summary):
        """Of all clients together over the run, against the best model that keeps the sum of constraints at 0."""
        horizon = summary["rounds"]
        return CLIENTS * horizon * summary["loss"]["mean"] - self.sums[horizon].loss(self.comparators[horizon])

    def comparator_losses(self, horizon, rounds):
        """Loss of the horizon's comparator summed up to each of the rounds (ascending)."""
        x, total, done, found = self.comparators[horizon], 0.0, 0, []
        for t in rounds:
            for row in self.rows[CLIENTS * done:CLIENTS * t]:
                total += (sum(value * v for value, v in zip(row, x)) - row[D]) ** 2 / 2
            done = t
            found.append(total)
        return found


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        experiment.fail("two arguments are needed, FILE and RECORDS")
    write(sys.argv[1], records(int(sys.argv[2])))
