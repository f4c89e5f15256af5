"""What the clients count for in the model of a run: clients of unequal size, clients that leave, and budgets that end early."""

import unittest

from harness import *

SIZES = (1000, 400, 300, 200, 100)
GRAPH = ["--topology", SOURCE / "topologies" / "unbalanced-5.topo"]
FALLING = ["--tuning", "off", "--step-decay", "linear", "--step", 0.5, "--batch", 4, "--loss", "squared", "--mechanism", "none"]


class Sizes(TestCase):
    """Records without information but for the label, which is 1 of one client's records and 0 of all others': the intercept is what
    this client counts for."""

    def setUp(self):
        super().setUp()
        for one in range(5):
            for client, size in enumerate(SIZES):
                rows = "".join(f"{(-1) ** i},{int(client == one)}\n" for i in range(size))
                self.write(f"{one}-{client}.csv", "a,y\n" + rows)

    def weights(self, command, *words, ranks=1, clients=range(5)):
        found = []
        for one in clients:
            output = f"{command}-{len(list(self.folder.iterdir()))}"
            summary = self.succeeded(self.run_command(ranks, [command, "--clients", 5, "--source", f"{one}-{{client}}.csv", "--progress", "off", "--json",
                                                              "--output", output, *words])).summary()
            found.append(summary["final_model"][-1])
        return found, summary, output

    def near(self, found, expected, delta):
        for client, (ours, right) in enumerate(zip(found, expected)):
            self.assertAlmostEqual(ours, right, delta=delta, msg=f"client {client} of {found}")

    def test_every_record_counts_alike(self):
        shares = [size / sum(SIZES) for size in SIZES]
        found, summary, _ = self.weights("omd", *GRAPH, "--intercept", *FALLING)
        self.near(found, shares, 0.01)
        self.assertEqual((summary["client_weights"], summary["rounds"], summary["effective_weight"]), ("records", 250, [1] * 5))
        self.near(self.weights("fedavg", "--intercept", *FALLING)[0], shares, 0.01)
        self.near(self.weights("infer", "--loss", "squared", "--mechanism", "none", "--batch", 4, "--start", "zero")[0], shares, 0.02)

    def test_every_record_counts_alike_with_noise_between_pairs(self):
        pairs = ["--tuning", "off", "--step-decay", "linear", "--step", 0.5, "--batch", 4, "--loss", "squared", "--clip", 4,
                 "--mechanism", "gaussian", "--mu", 100, "--trust", "pairs"]
        found, _, _ = self.weights("omd", *GRAPH, "--intercept", *pairs)
        self.near(found, [size / sum(SIZES) for size in SIZES], 0.03)

    def test_every_client_counts_alike_on_request(self):
        infer = ["--loss", "squared", "--mechanism", "none", "--batch", 4, "--start", "zero", "--intervals", "random-scaling"]
        for command, words in (("omd", [*GRAPH, "--intercept", *FALLING]), ("fedavg", ["--intercept", *FALLING]),
                               ("infer", infer), ("infer", [*infer, *GRAPH])):
            found, summary, output = self.weights(command, *words, "--client-weights", "equal")
            self.near(found, [0.2] * 5, 0.02 if command != "infer" else 0.03)
            self.assertEqual(summary["client_weights"], "equal")
            self.assertIn("client weights        every client counts alike", self.run_alone(["report", output], cwd=self.folder).out)

    def test_the_statement_says_what_counts_alike(self):
        for weights, says in (("records", "The model is made so that every record counts alike, whoever has it. "),
                              ("equal", "The model is made so that every client counts alike, whatever its number of records: what a client "
                                        "releases is multiplied by a public factor, and its noise with it. ")):
            for command in ("omd", "fedavg", "infer"):
                with self.subTest(command, weights=weights):
                    _, summary, _ = self.weights(command, "--mechanism", "gaussian", "--mu", 1, "--loss", "huber:1", "--client-weights", weights,
                                                 clients=[0])
                    self.assertIn(says, summary["privacy"]["statement"])

    @fewer
    def test_intervals_hold_the_mean_of_equal_clients(self):
        """Under noise, which is ten times as large for the client with a tenth of the records."""
        words = ["infer", "--clients", 5, "--source", "4-{client}.csv", "--mechanism", "gaussian", "--mu", 8, "--batch", 4, "--noise-key", "seed",
                 "--client-weights", "equal", "--progress", "off", "--json"]
        held = []
        for seed in range(40 if SLOW else 5):
            summary = self.succeeded(self.run_alone([*words, "--seed", seed, "--output", f"run-{seed}"])).summary()
            interval = next(each for each in summary["intervals"] if each["name"] == "intercept")
            held.append(interval["low"] <= 0.2 <= interval["high"])
            self.assertLess(interval["high"] - interval["low"], 0.6)
        self.assertGreaterEqual(sum(held), 0.8 * len(held))

    def test_what_counts_records_is_refused_for_equal_clients(self):
        for words in (["--intervals", "plug-in"], ["--bias", "remove"]):
            result = self.run_alone(["infer", "--mechanism", "gaussian", "--client-weights", "equal", *words])
            self.complains(result, 2, "--client-weights equal", "every record alike")

    @fewer
    def test_the_same_on_any_number_of_ranks(self):
        for more in ([], ["--client-weights", "equal"]):
            noisy = [*GRAPH, "--intercept", *FALLING[:-1], "gaussian", "--epsilon", 5, "--noise-key", "seed", "--epochs", 2, *more]
            models = [self.weights("omd", *noisy, ranks=ranks, clients=[4])[0] for ranks in layouts((1, 5, 2))]
            for other in models[1:]:
                self.assertEqual(other, models[0])


class Leaving(TestCase):
    def test_a_client_that_leaves_is_out_of_the_model(self):
        """Four clients whose labels are 1, and one with labels of 0 that leaves after a tenth of the rounds."""
        for client in range(5):
            self.write(f"{client}.csv", "a,y\n" + "".join(f"{(-1) ** i},{int(client != 3)}\n" for i in range(400)))
        self.write("test.csv", "a,y\n" + "1,1\n" * 10)
        self.write("leave.csv", "client,round\n3,40\n")
        words = ["--topology", SOURCE / "topologies" / "complete-5.topo", "--clients", 5, "--source", "{client}.csv", "--test", "test.csv", "--intercept", "--tuning", "off", "--loss", "squared", "--mechanism",
                 "none", "--step", 0.1, "--step-decay", "linear", "--leave", "leave.csv"]
        found = [self.summary_of(ranks, words, f"on-{ranks}") for ranks in (1, 2)]
        self.assertAlmostEqual(found[0]["final_model"][-1], 1, delta=0.02)
        self.assertLess(found[0]["metrics"]["test_loss"], 0.001)
        self.assertLess(found[0]["consensus_error"], 1e-3)
        self.assertAlmostEqual(found[0]["mass"], 5, delta=1e-9)
        self.assertEqual(found[0]["final_model"], found[1]["final_model"])
        self.assertLess(found[0]["effective_weight"][3], 0.3)
        self.assertEqual(found[0]["low_effective_weights"]["clients"], [3])
        self.assertIn("client 3 counted for", "".join(found[0]["notes"]))


class Budgets(TestCase):
    def test_what_is_done_before_a_budget_ends_fades(self):
        """Client 0 has spent its budget after a tenth of the rounds, and the others go on: under steps that fall along a line next to nothing
        of what it did is left, where a count of its steps would say a fifth."""
        for client in range(5):
            self.write(f"{client}.csv", "a,y\n" + "".join(f"{(-1) ** i},{int(client == 0)}\n" for i in range(2000)))
        self.write("budgets.csv", "client,value\n0,1000\n" + "".join(f"{client},1000000\n" for client in range(1, 5)))
        words = [*GRAPH, "--clients", 5, "--source", "{client}.csv", "--intercept", "--tuning", "off", "--loss", "squared", "--mechanism", "gaussian",
                 "--noise-correlation", "none", "--mu", 1, "--delta", 1e-5, "--noise-key", "seed", "--budget", "clients:budgets.csv", "--budget-unit", "client",
                 "--batch", 8, "--step", 0.3, "--step-decay", "linear", "--clip", 2, "--epochs", 2]
        summary = self.summary_of(1, words, "spent")
        self.assertLess(summary["effective_weight"][0], 0.1)
        self.assertEqual(summary["effective_weight"][1:], [1] * 4)


if __name__ == "__main__":
    unittest.main()
