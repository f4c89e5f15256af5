"""Random runs of `starling renewable`, `fedavg` and `vertical` without noise against reference simulations, to 1e-9 of models' size.

Clients have unequal numbers of records, and batches do not divide them. Compared are models after each round, the mean loss, and
standard errors; of `vertical` the networks of all parties and the loss of each round.
"""

import csv
import unittest

from harness import *

if numpy is not None:
    import aggregator_simulation as simulation

RENEWABLE_CASES = 16
CASES = 8
NONE = ["--mechanism", "none"]
TOLERANCE = 1e-9


def words_of(settings):
    return [word for option, value in settings.items() for word in (f"--{option}", value)]


@needs_h5py
class AggregatorCase(MethodCase):
    def write_clients(self, generator, loss, features):
        """Files of unequal length, and their records."""
        clients = []
        for u, count in enumerate(generator.integers(1, 120, generator.integers(1, 5)) + 20 * (generator.random() < 0.5)):
            x = generator.standard_normal((count, features))
            y = x @ numpy.arange(1, features + 1) / features + generator.standard_normal(count)
            y = numpy.where(y > 0.2, 1.0, -1.0) if loss.classifies else y
            clients.append((x, y))
            self.write(f"{u}.csv", "".join(",".join(map(repr, map(float, [*row, label]))) + "\n" for row, label in zip(x, y)))
        return clients

    def check_course(self, output, summary, simulated):
        expected = numpy.array(simulated.models)
        path = self.record(output)["model"][:, 0]
        numpy.testing.assert_allclose(path, expected, rtol=0, atol=TOLERANCE * max(1, numpy.abs(expected).max()))
        self.assertAlmostEqual(summary["loss"]["mean"], simulated.mean_loss(), delta=TOLERANCE * max(1, simulated.mean_loss()))


class Renewable(AggregatorCase):
    command = "renewable"

    def case(self, number):
        generator = numpy.random.default_rng(number)
        q = float(generator.choice([0.3, 1, 7]))
        discriminant = (f"dwd:{q}", simulation.Discriminant(q))
        name, loss = [("logistic", simulation.Logistic()), ("squared", simulation.Squared()), discriminant, discriminant][number % 4]
        clients = self.write_clients(generator, loss, int(generator.integers(1, 5)))
        settings = {"batch": int(generator.integers(4, 40)), "l2": float(generator.choice([0.01, 0.1, 1])),
                    "penalty": str(generator.choice(["full", "slopes"])), "forget": float(generator.choice([1, 1, 0.9])),
                    "epochs": int(generator.choice([1, 1, 2]))}
        safe = bool(generator.random() < 0.5)
        first = numpy.concatenate([y[:settings["batch"]] for _, y in clients])
        if loss.classifies and len(set(first)) == 1:  # no minimum without a penalty on the intercept
            settings["penalty"] = "full"
        words = [*words_of(settings), "--start", "safe" if safe else "zero", "--loss", name, "--clients", len(clients),
                 "--source", "{client}.csv"]
        errors = settings["forget"] == 1 and settings["epochs"] == 1
        if errors and loss.classifies:
            words += ["--standard-errors", "sandwich"]
        return words, (clients, loss), {**settings, "safe": safe}, errors

    def test_runs(self):
        searches = 0
        for number in range(RENEWABLE_CASES):
            words, given, settings, errors = self.case(number)
            with self.subTest(number=number, words=words):
                simulated = simulation.Renewable(*given, **settings).run()
                summary = self.summary([*words, *NONE, "--record-every", 1], f"run-{number}", 1 + number % 2)
                self.check_course(f"run-{number}", summary, simulated)
                searches += simulated.searches
                if errors and summary["intervals"]:
                    expected = simulated.standard_errors("sandwich" if given[1].classifies else "model")
                    found = [each["standard_error"] for each in summary["intervals"]]
                    numpy.testing.assert_allclose(found, expected, rtol=1e-6)
        self.assertGreater(searches, 0)


class FedAvg(AggregatorCase):
    command = "fedavg"

    def test_runs(self):
        for number in range(CASES):
            generator = numpy.random.default_rng(number)
            name, loss = [("logistic", simulation.Logistic()), ("squared", simulation.Squared())][number % 2]
            clients = self.write_clients(generator, loss, 3)
            linear = bool(generator.random() < 0.4)
            settings = {"batch": int(generator.integers(1, 20)), "local-steps": int(generator.choice([1, 2, 7])), "step": 0.1,
                        "l2": float(generator.choice([0, 0.1])), "client-weights": str(generator.choice(["records", "equal"])),
                        "epochs": int(generator.choice([1, 2]))}
            words = [*words_of(settings), *(["--step-decay", "linear"] if linear else ["--step-power", 0.25])]
            simulated = simulation.FedAvg(clients, loss, settings["batch"], settings["local-steps"], 0.1, 0.25, settings["l2"],
                                          weights=settings["client-weights"], epochs=settings["epochs"], linear=linear).run()
            with self.subTest(number=number, words=words):
                summary = self.summary([*words, "--loss", name, "--clients", len(clients), "--source", "{client}.csv", *NONE,
                                        "--record-every", 1], f"run-{number}", 1 + number % 2)
                self.check_course(f"run-{number}", summary, simulated)


class Vertical(AggregatorCase):
    command = "vertical"

    def networks(self, output, layers):
        """The head, and the parties' networks."""
        found = []
        for client, sizes in enumerate(layers):
            paths = list((self.folder / output / "private").glob(f"*/model-part-{client}.h5"))
            self.assertEqual(len(paths), 1)
            with h5py.File(paths[0]) as file:
                parts = sorted(file["parameters"].items(), key=lambda each: int(each[0].split("-")[0]))
                found.append([(part["weights"][()], part["bias"][()].ravel()) for _, part in parts])
        return found

    def run_case(self, number):
        generator = numpy.random.default_rng(number)
        widths = [int(width) for width in generator.integers(1, 4, (1, 2, 3, 7)[number % 4])]
        count = int(generator.integers(8, 70))
        columns = [generator.standard_normal((count, width)) for width in widths]
        name, loss = [("logistic", simulation.Logistic()), ("mse", simulation.Squared())][number // 2 % 2]
        labels = numpy.hstack(columns).sum(axis=1)
        labels = numpy.where(labels > 0, 1.0, -1.0) if loss.classifies else labels
        table = numpy.column_stack([*columns, labels])
        self.write("table.csv", "".join(",".join(map(repr, map(float, row))) + "\n" for row in table))
        ends = numpy.cumsum([0, *widths])
        of_labels = ["all", "all", "head"][number % 3]
        local_steps = 1 if of_labels == "head" else int(generator.choice([1, 3]))
        batch = int(generator.integers(1, 9))
        rounds = -(-count // batch)
        words = ["--source", "table.csv", "--columns", "/".join(f"{a}-{b - 1}" for a, b in zip(ends, ends[1:])), "--loss", name,
                 "--precision", "double", "--feature-net", "d-4-2", "--head", "d-3-1", "--batch", batch, "--local-steps", local_steps,
                 "--labels", of_labels, "--step", 0.2, "--clients", len(widths), *NONE]
        bits, head_bits = None, None
        if number % 4 > 1:
            bits = [min(16, 2 + int(numpy.ceil(numpy.log2(t) / 2))) for t in range(1, rounds + 1)]
            words += ["--quantiser", "scalar:2", "--bits", "sublinear:2"]
        if of_labels == "all" and number % 2:
            head_bits = 5
            words += ["--quantise-head", 5]
        layers = [[2 * len(widths), 3, 1]] + [[width, 4, 2] for width in widths]
        self.summary([*words, "--baseline", "lazy:0"], f"start-{number}")
        start = self.networks(f"start-{number}", layers)
        self.summary(words, f"run-{number}", 1 + number % 3)
        with open(self.folder / f"run-{number}" / "rounds.csv", newline="") as file:
            losses = [float(row["loss"]) for row in csv.DictReader(file)]
        simulated = simulation.Vertical(columns, labels, start, loss, batch, local_steps, 0.2, of_labels, bits, head_bits).run()
        numpy.testing.assert_allclose(losses, simulated.losses, rtol=1e-8, atol=1e-9)
        for found, expected in zip(self.networks(f"run-{number}", layers), simulated.networks):
            for one, other in zip(found, expected):
                for a, b in zip(one, other):
                    numpy.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE * max(1, numpy.abs(b).max()))

    def test_runs(self):
        for number in range(CASES):
            with self.subTest(number=number):
                self.run_case(number)


if __name__ == "__main__":
    unittest.main()
