"""Losses of logarithms of means, poisson and gamma: maximum likelihood without noise, bounds, rate ratios, deviance, refusals."""

import csv
import gzip
import io
import math

import numpy as np

from harness import *

NAMES = ["a", "b"]
TRUE = np.array([0.5, -0.3, 0.4])


def newton(x, gradient_and_weight, steps=40):
    """The minimum of a convex loss of scores x theta, given each record's slope and curvature as functions of the score."""
    theta = np.zeros(x.shape[1])
    for _ in range(steps):
        slope, curvature = gradient_and_weight(x @ theta)
        theta = theta - np.clip(np.linalg.solve(x.T @ (curvature[:, None] * x), x.T @ slope), -1, 1)
    return theta


def poisson_fit(x, y):
    return newton(x, lambda s: (np.exp(s) - y, np.exp(s)))


def gamma_fit(x, y):
    return newton(x, lambda s: (1 - y * np.exp(-s), y * np.exp(-s)))


def deviance(kind, y, mean):
    if kind == "gamma":
        return 2 * np.mean(y / mean - 1 - np.log(y / mean))
    return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1) / mean), 0) - (y - mean))


class Counts(TestCase):
    CLIENTS = 3

    def setUp(self):
        super().setUp()
        draw = np.random.default_rng(11)
        self.x = np.round(draw.normal([1, 0], [2, 1], (3000, 2)), 3)
        self.full = np.column_stack([self.x, np.ones(len(self.x))])
        mean = np.exp(self.full @ TRUE * [0.4])
        self.y = {"poisson": draw.poisson(mean).astype(float), "gamma": np.round(draw.gamma(3, mean / 3) + 1e-3, 4)}
        for k in range(self.CLIENTS):
            with open(self.folder / f"site-{k}.csv", "w") as file:
                lines = csv.writer(file)
                lines.writerow([*NAMES, "poisson", "gamma"])
                lines.writerows([*row, count, amount] for row, count, amount in
                                zip(self.x[k::self.CLIENTS], self.y["poisson"][k::self.CLIENTS], self.y["gamma"][k::self.CLIENTS]))
        self.fits = {"poisson": poisson_fit(self.full, self.y["poisson"]), "gamma": gamma_fit(self.full, self.y["gamma"])}

    def words(self, command, kind, *more, loss=None):
        other = "gamma" if kind == "poisson" else "poisson"
        return [command, "--clients", self.CLIENTS, "--source", "site-{client}.csv", "--label", kind, "--drop", other, "--loss", loss or kind,
                "--progress", "off", *more]

    def learn(self, *args, output="run", **kwargs):
        return self.succeeded(self.run_alone([*self.words(*args, **kwargs), "--output", output]))

    def table(self, run="run"):
        done = self.succeeded(self.run_alone(["report", run, "--coefficients", "csv"]))
        return {row["name"]: row for row in csv.DictReader(io.StringIO(done.out))}

    def coefficients(self, run="run"):
        return np.array([float(row["estimate"]) for name, row in self.table(run).items() if name != "dispersion"])

    def test_exact_minimum_and_errors(self):
        """renewable offline is maximum likelihood; its stream ends within a part of a standard error, with robust errors of counts."""
        for kind in ("poisson", "gamma"):
            self.learn("renewable", kind, "--mechanism", "none", "--variant", "offline", "--l2", 0, output=f"{kind}-all")
            np.testing.assert_allclose(self.coefficients(f"{kind}-all"), self.fits[kind], atol=1e-6)
            self.learn("renewable", kind, "--mechanism", "none", "--batch", 50, output=f"{kind}-stream")
            table = self.table(f"{kind}-stream")
            mean = np.exp(self.full @ self.fits[kind])
            weight = mean if kind == "poisson" else np.ones(len(mean))
            scale = 1 if kind == "poisson" else deviance(kind, self.y[kind], mean) * len(mean) / (len(mean) - 3)
            inverse = np.linalg.inv(self.full.T @ (weight[:, None] * self.full))
            errors = np.sqrt(scale * np.diag(inverse))
            if kind == "poisson":
                slopes = self.full * (mean - self.y[kind])[:, None]
                errors = np.sqrt(np.diag(inverse @ slopes.T @ slopes @ inverse))
            for name, fit, error in zip(table, self.fits[kind], errors):
                self.assertAlmostEqual(float(table[name]["estimate"]), fit, delta=0.5 * error)
                self.assertAlmostEqual(float(table[name]["standard_error"]), error, delta=0.06 * error)
            self.assertIs("dispersion" in table, kind == "gamma")
            if kind == "gamma":
                self.assertAlmostEqual(float(table["dispersion"]["estimate"]), scale, delta=0.02 * scale)
                unknown = self.table("gamma-all")["dispersion"]
                self.assertEqual((unknown["estimate"], unknown["reason"]), ("", "a stream of starling renewable without noise estimates the dispersion"))
            self.assertAlmostEqual(float(table["a"]["ratio_high"]), math.exp(float(table["a"]["high"])), delta=1e-9)
            text = self.succeeded(self.run_alone(["report", f"{kind}-stream", "--coefficients"])).out
            self.assertIn("rate ratio", text)

    def test_intervals_of_counts_that_vary_more_than_poisson_s(self):
        """Ten intervals of each of 12 streams hold the truth at least 103 times: correct ones fail with probability below 2e-4,
        and those of the information matrix, at three to four times its variance, hold it some 80 times."""
        held = 0
        for seed in range(12):
            draw = np.random.default_rng(seed)
            x = np.round(draw.normal(size=(2000, 10)), 3)
            counts = draw.poisson(np.exp(0.7 + 0.1 * x.sum(axis=1)) * draw.gamma(1, 1, len(x)))
            lines = [",".join([*(f"x{j}" for j in range(10)), "y"]), *(",".join(map(str, [*row, n])) for row, n in zip(x, counts))]
            self.write("stream.csv", "\n".join(lines) + "\n")
            self.succeeded(self.run_alone(["renewable", "--clients", 1, "--source", "stream.csv", "--loss", "poisson:1000", "--mechanism", "none",
                                           "--progress", "off", "--output", f"run-{seed}"]))
            rows = self.summary_in(f"run-{seed}")["intervals"][:10]
            held += sum(each["low"] <= 0.1 <= each["high"] for each in rows)
        self.assertGreaterEqual(held, 103)

    def test_rule_without_noise(self):
        """Untuned runs end near the maximum-likelihood deviance, from labels as they are; predictions are means."""
        for command, kind in (("omd", "poisson"), ("fedavg", "poisson"), ("omd", "gamma")):
            done = self.learn(command, kind, "--mechanism", "none", "--test", "site-0.csv", "--tuning", "auto", output=f"{command}-{kind}")
            self.assertNotIn("label=", done.err)
            best = deviance(kind, self.y[kind], np.exp(self.full @ self.fits[kind]))
            ours = deviance(kind, self.y[kind], np.exp(self.full @ self.coefficients(f"{command}-{kind}")))
            self.assertLess(ours, best * 1.005)
        with open(self.folder / "omd-poisson" / "summary.json") as file:
            metrics = json.load(file)["metrics"]["test"]
        part, x = self.y["poisson"][0::self.CLIENTS], self.full[0::self.CLIENTS]
        mean = np.exp(x @ self.coefficients("omd-poisson"))
        self.assertAlmostEqual(metrics["deviance"], deviance("poisson", part, mean), delta=1e-9)
        self.assertAlmostEqual(metrics["null_deviance"], deviance("poisson", part, part.mean()), delta=1e-9)
        self.assertAlmostEqual(metrics["rmse"], math.sqrt(np.mean((part - mean) ** 2)), delta=1e-9)
        predicted = self.succeeded(self.run_alone(["predict", "omd-poisson", "--source", "site-0.csv"])).out
        rows = [float(row["prediction"]) for row in csv.DictReader(io.StringIO(predicted))]
        np.testing.assert_allclose(rows, mean, rtol=1e-9)
        score = json.loads(self.succeeded(self.run_alone(["score", "omd-poisson", "--source", "site-0.csv", "--label", "poisson", "--json"])).out)
        self.assertAlmostEqual(score["metrics"]["deviance"], metrics["deviance"], delta=1e-9)

    def test_private_runs(self):
        """Untuned private runs learn; a count of 10^6 moves them no more than the bound does."""
        rule = ["--mechanism", "gaussian", "--total-epsilon", 3, "--delta", 1e-5, "--noise-key", "seed", "--tuning", "auto"]
        for kind in ("poisson", "gamma"):
            self.learn("omd", kind, *rule, output=kind, loss="poisson:20" if kind == "poisson" else None)
            none = deviance(kind, self.y[kind], self.y[kind].mean())
            ours = deviance(kind, self.y[kind], np.exp(self.full @ self.coefficients(kind)))
            self.assertLess(ours, 0.85 * none)
        text = (self.folder / "site-1.csv").read_text().splitlines()
        for name, count in (("large", 10**6), ("bound", 20)):
            (self.folder / "site-1.csv").write_text("\n".join([*text, f"0.5,0.5,{count},1"]) + "\n")
            self.learn("omd", "poisson", *rule, output=name, loss="poisson:20")
        np.testing.assert_array_equal(self.coefficients("large"), self.coefficients("bound"))

    def test_intervals(self):
        """infer without noise has the estimate within its interval, and predictions with intervals of means."""
        self.succeeded(self.run_alone(["infer", "--clients", 4, "--source", "synthetic:counts:n=6000", "--loss", "poisson", "--mechanism", "none",
                                       "--intervals", "plug-in", "--step", 2, "--progress", "off", "--output", "run"]))
        table = self.table()
        for name, true in zip(table, (0.3, 0.3, 0.3, 0)):
            self.assertLess(abs(float(table[name]["estimate"]) - true), 4 * float(table[name]["standard_error"]))
        self.succeeded(self.run_alone(["data", "make", "counts", "--clients", 1, "--records", 50, "--output", "new.csv"]))
        predicted = self.succeeded(self.run_alone(["predict", "run", "--source", "new.csv"])).out
        for row in csv.DictReader(io.StringIO(predicted)):
            low, middle, high = (float(row[name]) for name in ("low", "prediction", "high"))
            self.assertLess(low, middle)
            self.assertAlmostEqual(middle * middle, low * high, delta=1e-9 * middle * middle)

    def test_layouts(self):
        """The same models on any ranks, under noise."""
        for kind in ("poisson", "gamma"):
            words = self.words("omd", kind, "--mechanism", "gaussian", "--epsilon", 1, "--delta", 1e-5, "--noise-key", "seed", "--batch", 100, "--clip", 1, "--step", 0.1,
                               "--json-models")
            models = [self.succeeded(self.run_command(ranks, [*words, "--output", f"{kind}-{ranks}"])).summary()["models"] for ranks in layouts((1, 3, 2))]
            for other in models[1:]:
                self.assertEqual(models[0], other)
        words = [word for word in words if word != "--json-models"]
        with interrupted("checkpoint:0"):
            self.run_command(2, [*words, "--checkpoint-every", 3, "--output", "killed"])
        self.assertTrue(checkpoints_in(self.folder / "killed/private/1"))
        self.succeeded(self.run_command(2, ["omd", "--resume", "killed"]))
        self.assertEqual(self.summary_in("killed")["final_model"], self.summary_in("gamma-1")["final_model"])

    def test_refusals(self):
        refused = lambda code, pattern, *args, **kwargs: self.complains(self.run_alone(self.words(*args, **kwargs)), code, pattern)
        refused(3, "numbers above 0", "omd", "poisson", "--mechanism", "none", loss="gamma")
        private = ["--mechanism", "gaussian", "--epsilon", 1, "--delta", 1e-5]
        refused(2, "steps with noise", "infer", "poisson", *private)
        refused(2, "public curvature", "renewable", "poisson", "--variant", "private", *private)
        refused(2, "a distance is neither", "omd", "poisson", "--mechanism", "none", "--model", "location")
        refused(2, "lies between 1 and", "omd", "poisson", "--mechanism", "none", loss="poisson:0.5")
        self.write("site-2.csv", "a,b,poisson,gamma\n1,1,101,1\n")
        refused(3, "numbers from 0 to 100.*poisson:1000", "omd", "poisson", "--mechanism", "none")
        self.write("site-2.csv", "a,b,poisson,gamma\n1,1,-1,1\n")
        refused(3, "numbers from 0 on", "omd", "poisson", "--mechanism", "none", loss="poisson:5")

    def test_visits_to_a_doctor(self):
        """The published maximum-likelihood fit of 5,190 records (Cameron, Trivedi, Milne and Piggott 1988)."""
        tables = [DATA / "vfl_fate" / f"dvisits_hetero_{side}.csv.gz" for side in ("guest", "host")]
        if not all(table.exists() for table in tables):
            self.skipTest(f"no {tables[0]}")
        guest, host = ([*csv.reader(gzip.open(table, "rt"))] for table in tables)
        others = {row[0]: row[1:] for row in host[1:]}
        names = guest[0][2:] + host[0][1:]
        rows = [row[2:] + others[row[0]] + [row[1]] for row in guest[1:]]
        self.write("visits.csv", "\n".join(",".join(row) for row in [[*names, "visits"], *rows]) + "\n")
        table = np.array(rows, float)
        fit = poisson_fit(np.column_stack([table[:, :-1], np.ones(len(table))]), table[:, -1])
        self.assertAlmostEqual(fit[names.index("actdays")], 0.1268, delta=1e-4)
        words = ["--clients", 5, "--partition", "iid", "--source", "visits.csv", "--label", "visits", "--loss", "poisson", "--mechanism", "none",
                 "--progress", "off"]
        self.succeeded(self.run_alone(["renewable", *words, "--variant", "offline", "--l2", 0, "--output", "exact"]))
        np.testing.assert_allclose(self.coefficients("exact"), fit, atol=1e-6)
        self.succeeded(self.run_alone(["omd", *words, "--tuning", "auto", "--output", "untuned"]))
        scores = np.column_stack([table[:, :-1], np.ones(len(table))]) @ self.coefficients("untuned")
        self.assertLess(deviance("poisson", table[:, -1], np.exp(scores)), 0.8438 * 1.001)


if __name__ == "__main__":
    unittest.main()
