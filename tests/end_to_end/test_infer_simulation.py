"""Random runs of `starling infer` without noise against the formulas of docs/methods/inference.md in NumPy, to 1e-9.

Clients have unequal numbers of records. Runs differ in loss, batch, steps, burn-in, warm-up and start; half of them are over
graphs that change, with unequal masses. Compared are estimates, intervals of all methods, and the joint test.
"""

import math
import statistics
import unittest

from harness import *

if numpy is not None:
    import numpy as np

CASES = 16
BATCHES, LEVEL = 4, 0.9
SCALED = 5.3227  # critical value of random scaling at this level
NORMAL = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
LOSSES = {"squared": (), "huber": (1.345,), "expectile": (0.7, 1.0), "logistic": ()}


def slopes(loss, s, y):
    """The first two derivatives of the losses of scores s."""
    if loss == "logistic":
        odds = 1 / (1 + np.exp(-s))
        return odds - y, odds * (1 - odds)
    if loss == "squared":
        return s - y, np.ones_like(s)
    *tau, c = LOSSES[loss]
    weight = abs(tau[0] - (y < s)) if tau else np.ones_like(s)
    return weight * np.clip(s - y, -c, c), weight * (abs(s - y) <= c)


def directions(loss, x, y, theta):
    """Psi of each record, and the sum of the derivatives."""
    slope, curvature = slopes(loss, x @ theta, y)
    weight = np.ones(len(x)) if loss == "squared" else np.minimum(1, 2 / np.maximum((x**2).sum(axis=1), 1e-300))
    return (weight * slope)[:, None] * x, (x.T * weight * curvature) @ x


class Case:
    def __init__(self, number):
        rng = np.random.default_rng(number)
        self.over_graph = number % 2 == 1
        self.loss = list(LOSSES)[number // 2 % 4]
        self.clients, self.p = int(rng.integers(2 if self.over_graph else 1, 5)), int(rng.integers(1, 4))
        self.d = self.p + 1
        self.batch, self.burn_in = int(rng.choice([1, 2, 5])), int(rng.choice([0, 7]))
        self.step, self.power, self.offset = 0.12 if self.loss == "squared" else 0.8, 0.6, float(rng.choice([0, 20]))
        self.warm_up = float(rng.choice([0, 0.1]))
        self.start = np.zeros(self.d) if self.warm_up else rng.normal(size=self.d).round(2)
        least = 60 * self.d * self.batch
        self.records = [self.drawn(rng, n) for n in [*rng.integers(least // 3, 3 * least, self.clients - 1), 3 * least + 1]]
        self.steps = max(-(-len(y) // self.batch) for _, y in self.records)
        self.cap, self.gossip = 3.0, int(rng.choice([1, 2]))
        ring = [(u, (u + 1) % self.clients) for u in range(self.clients)]
        others = [(u, int(v)) for u, v in enumerate(rng.integers(0, self.clients, self.clients)) if u != v]
        self.phases = [(2, ring), (1, others)]

    def drawn(self, rng, n):
        x = rng.normal(size=(n, self.p)) @ (np.eye(self.p) + 0.4) + 0.3
        s = 1 + x.sum(axis=1)
        return x, (rng.random(n) < 1 / (1 + np.exp(-s))).astype(float) if self.loss == "logistic" else s + rng.normal(0, 0.5, n)

    def words(self, test):
        for client, (x, y) in enumerate(self.records):
            rows = [",".join(map(repr, row)) for row in np.column_stack([x, y]).tolist()]
            test.write(f"{client}.csv", "\n".join([",".join([f"f{j}" for j in range(self.p)] + ["y"]), *rows]) + "\n")
        loss = ":".join([self.loss, ",".join(map(str, LOSSES[self.loss]))]) if LOSSES[self.loss] else self.loss
        methods = f"random-scaling,batch-means:{BATCHES}" + ("" if self.over_graph or self.warm_up else ",plug-in")
        words = ["infer", "--source", "{client}.csv", "--clients", self.clients, "--mechanism", "none", "--loss", loss, "--batch", self.batch,
                 "--step", self.step, "--step-power", self.power, "--step-offset", self.offset, "--burn-in", self.burn_in,
                 "--levels", LEVEL, "--intervals", methods, "--joint"]
        if self.warm_up:
            words += ["--warmup-share", self.warm_up]
        else:
            words += ["--start", test.write("start.csv", ",".join(map(str, self.start)) + "\n")]
        if self.over_graph:
            path = test.write("graph.topo", topology(self.clients, self.phases))
            words += ["--topology", path, "--step-cap", self.cap, "--gossip-steps", self.gossip]
        return words


class Simulation:
    """The paths of a case: of the aggregator, or of each client."""

    def __init__(self, case):
        self.case = case
        self.first = max(1, math.floor(case.warm_up * case.steps + 0.5)) if case.warm_up else 0
        self.burn_in = self.first + case.burn_in
        self.theta0, self.to_model, self.from_model = case.start, np.eye(case.d), np.eye(case.d)
        self.records = [(np.column_stack([x, np.ones(len(x))]), y) for x, y in case.records]
        if case.warm_up:
            self.warm_up()
        (self.over_graph if case.over_graph else self.with_aggregator)()

    def warm_up(self):
        """Coordinates x~ = W (x - m) of the mean weighted moments of z = (x, 1, y), or of (x, 1) with classes."""
        p, classes = self.case.p, self.case.loss == "logistic"
        moments = 0
        for x, y in self.records:
            count = self.first * len(y) // self.case.steps
            z = x[:count] if classes else np.column_stack([x, y])[:count]
            moments = moments + (z.T * np.minimum(1, 2 * z.shape[1] / (z**2).sum(axis=1))) @ z
        moments = moments / moments[p, p]
        mean = moments[p, :p]
        values, vectors = np.linalg.eigh(moments[:p, :p] - np.outer(mean, mean))
        w = (vectors / np.sqrt(values)).T
        self.records = [(np.column_stack([(x[:, :p] - mean) @ w.T, x[:, p]]), y) for x, y in self.records]
        self.to_model[:p, :p], self.to_model[p, :p] = np.linalg.inv(w).T, mean
        self.from_model[:p, :p], self.from_model[p, :p] = w.T, -mean @ w.T
        if not classes:
            start = w.T @ w @ (moments[:p, p + 1] - mean * moments[p, p + 1])
            self.theta0 = np.append(start, moments[p, p + 1] - start @ mean)

    def play(self, client, t, theta):
        """Mean direction, curvatures and squares of a client's batch, of which the batch size is the divisor."""
        m, steps, n = self.case.batch, self.case.steps, len(self.records[client][1])
        x, y = (part[t * n // steps:(t + 1) * n // steps] for part in self.records[client])
        psi, curvatures = directions(self.case.loss, x, y, self.to_model @ theta)
        return self.from_model @ psi.sum(axis=0) / m, curvatures / m, psi.T @ psi / m

    def eta(self, t):
        return self.case.step / (t + 1 + self.case.offset) ** self.case.power

    def with_aggregator(self):
        theta, path, self.inverse, d = self.theta0, [], [], self.case.d
        self.curvature, self.squares, self.sums = 0, 0, np.zeros((self.case.clients, d + 1))
        for t in range(self.first, self.case.steps):
            plays = {u: self.play(u, t, theta) for u in range(self.case.clients)}
            theta = theta - self.eta(t) * sum(play[0] for play in plays.values()) / len(plays)
            if t < self.burn_in:
                continue
            path.append(theta)
            self.inverse.append(1 / len(plays))
            for u, (direction, curvature, squares) in plays.items():
                self.curvature, self.squares = self.curvature + curvature, self.squares + squares
                self.sums[u] += np.append(direction, 1)
        self.paths = [(np.array(path), np.ones(len(path)))]

    def over_graph(self):
        case, n = self.case, self.case.clients
        theta, mass, debt = np.tile(self.theta0, (n, 1)), np.ones(n), np.zeros(n)
        schedule = [edges for rounds, edges in case.phases for _ in range(rounds)]
        paths = [[] for _ in range(n)]
        for t in range(self.first, case.steps):
            plays = [self.play(u, t, theta[u]) for u in range(n)]
            for u in range(n):
                debt[u] += self.eta(t)
                use = min(debt[u], case.cap * self.eta(0) * mass[u])
                debt[u] -= use
                theta[u] = theta[u] - use / mass[u] * plays[u][0]
            for exchange in range(t * case.gossip, (t + 1) * case.gossip):
                a = np.eye(n)
                for sender, receiver in schedule[exchange % len(schedule)]:
                    a[receiver, sender] = 1
                a /= a.sum(axis=0)
                theta, mass = a @ (mass[:, None] * theta) / (a @ mass)[:, None], a @ mass
            for u in range(n if t >= self.burn_in else 0):
                paths[u].append((theta[u].copy(), mass[u]))
        self.paths = [(np.array([model for model, _ in path]), np.array([mass for _, mass in path])) for path in paths]

    @staticmethod
    def mean(path, mass):
        return mass @ path / mass.sum()

    def scaling(self, path, mass):
        sums = np.cumsum(mass[:, None] * (path - self.mean(path, mass)), axis=0)
        return sums.T @ sums / mass.sum() ** 2

    def random_scaling(self, path, mass):
        return SCALED * np.sqrt(np.diag(self.scaling(path, mass)) / len(path))

    def joint(self, path, mass):
        p = self.case.p
        return len(path) * self.mean(path, mass)[:p] @ np.linalg.solve(self.scaling(path, mass)[:p, :p], self.mean(path, mass)[:p])

    def batch_means(self, path, mass):
        ends = [math.floor(((k + 1) / (BATCHES + 1)) ** (1 / (1 - self.case.power)) * len(path) + 0.5) for k in range(BATCHES + 1)]
        parts = [slice(*ends[k:k + 2]) for k in range(BATCHES)]
        kept = self.mean(path[ends[0]:], mass[ends[0]:])
        between = sum(mass[part].sum() * (self.mean(path[part], mass[part]) - kept) ** 2 for part in parts)
        return NORMAL * np.sqrt(between / BATCHES / mass.sum())

    def plug_in(self):
        """What clients' optima differ by is taken out of the squares."""
        sums, counts, m = self.sums[:, :-1], self.sums[:, -1], self.case.batch
        releases, others, squares = counts.sum(), len(counts) - 1, self.squares / counts.sum()
        between = (sums.T / counts) @ sums - np.outer(sums.sum(axis=0), sums.sum(axis=0)) / releases
        between = (between - others * squares / m) / (releases - others / m) if others else 0
        inverse = np.linalg.inv(self.curvature / releases)
        covariance = inverse @ (np.mean(self.inverse) * (squares - between) / m) @ inverse
        return NORMAL * np.sqrt(np.diag(covariance) / len(self.inverse))


@unittest.skipIf(numpy is None, "numpy is not installed")
class RandomRuns(TestCase):
    def check(self, intervals, method, estimate, half):
        own = [each for each in intervals if each["method"] == method]
        np.testing.assert_allclose([each["estimate"] for each in own], estimate, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose([(each["high"] - each["low"]) / 2 for each in own], half, rtol=1e-5)  # of the critical value

    def compare(self, case, summary):
        simulation = Simulation(case)
        whole = case.steps - simulation.burn_in
        for client, (path, mass) in enumerate(simulation.paths):
            intervals = [each for each in summary["intervals"] if each.get("client", 0) == client]
            if len(path) < 30 * case.d:
                self.assertEqual({each["low"] for each in intervals}, {None})
                continue
            estimate = simulation.mean(path, mass)
            self.check(intervals, "random-scaling", estimate, simulation.random_scaling(path, mass))
            if len(path) == whole:
                self.check(intervals, "batch-means", estimate, simulation.batch_means(path, mass))
            if any(each["method"] == "plug-in" for each in intervals):
                self.check(intervals, "plug-in", estimate, simulation.plug_in())
        if "joint" in summary:
            self.assertAlmostEqual(summary["joint"]["statistic"] / simulation.joint(*simulation.paths[0]), 1, delta=1e-7)
        self.assertEqual(summary["interval_records"], sum(len(y) for _, y in case.records))

    def test_formulas(self):
        methods = set()
        for number in range(CASES):
            case = Case(number)
            with self.subTest(number, loss=case.loss, over_graph=case.over_graph):
                result = self.succeeded(self.run_command(1, [*case.words(self), "--output", f"run-{number}", "--json"]))
                self.compare(case, result.summary())
                methods |= {each["method"] for each in result.summary()["intervals"]}
        self.assertEqual(methods, {"random-scaling", "batch-means", "plug-in"})


if __name__ == "__main__":
    unittest.main()
