"""Long-term constraints: what runs write of them, budgets of energy, what two releases a round cost, and refusals."""

import csv
import hashlib
import math
import signal
import unittest

from harness import *
from test_constraint_figures import ALL, Budgeted, records

draw_pictures()


class Written(Budgeted):
    def test_regret_is_against_models_that_keep_the_constraint(self):
        rounds = 5000
        summary = self.play("--mechanism", "none", "--dual-regularisation", "2", "--regret", "static",
                            "--benchmark-window", "250", rounds=rounds)
        whole, windows = summary["regret"]["constrained"]
        self.assertEqual((whole["window"], windows["window"]), (None, 250))
        self.assertTrue(whole["certificate"]["reached"] and windows["certificate"]["reached"], summary["regret"])
        self.assertAlmostEqual(whole["static"], self.regret(summary, rounds), delta=0.05)
        self.assertAlmostEqual(whole["static_per_client_round"], whole["static"] / (3 * rounds), places=12)
        # Whoever keeps it in every window keeps it over all of them, and no constraint leaves the best model of all.
        self.assertLess(windows["static"], whole["static"])
        self.assertLess(whole["static"], summary["regret"]["static"])
        # The window that counts has a mean of 0.5, and no window of 250 rounds that follow one another a larger one.
        rows = [[float(field) for field in line.split(",")] for line in records(3 * rounds)]
        x = windows["comparator"]
        sums = [sum(sum(a * v for a, v in zip(rows[u * rounds + t], x)) for u in range(3)) for t in range(rounds)]
        means = [sum(sums[first:first + 250]) / 750 for first in range(rounds - 249)]
        self.assertAlmostEqual(max(means), 0.5, places=6)

    def test_what_is_written(self):
        summary = self.play("--mechanism", "none", rounds=200)
        folder = self.folder / "run-1"
        with open(folder / "violation.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["round"] for row in rows[:3]], ["0", "1", "2"])
        self.assertEqual({row["constraint"] for row in rows}, {ALL})
        self.assertAlmostEqual(float(rows[-1]["violation"]), summary["constraints"][0]["violation"], delta=1e-6)
        self.assertAlmostEqual(float(rows[-1]["dual_mean"]), summary["constraints"][0]["dual_final"]["mean"], delta=1e-6)
        self.assertIn("violation.svg", (folder / "violation.gp").read_text())
        table = self.run_alone(["report", folder]).out
        self.assertIn(f"violation             {ALL}: ", table)


class Public(TestCase):
    DRIFT = ["--source", "synthetic:drift:informative=1", "--clients", "3"]

    @fewer
    def test_shared_duals(self):
        """All clients have the same multipliers, on any number of ranks; a lone client has its own."""
        self.write("cap.csv", "1,0,0,0,0,0.3\n0,1,0,0,0,2\n")
        words = ["--domain", "simplex", "--rounds", "2000", "--mechanism", "none", "--constraint", "linear:cap.csv"]
        shared = [*self.DRIFT, *words, "--dual-scope", "shared"]
        runs = [self.summary_of(ranks, shared, f"shared-{ranks}") for ranks in layouts((1, 3, 2))]
        for run in runs:
            self.assertEqual(bits([run["final_model"], run["constraints"]]), bits([runs[0]["final_model"], runs[0]["constraints"]]))
        self.assertAlmostEqual(runs[0]["final_model"][0], 0.3, delta=0.02)
        binding = runs[0]["constraints"][0]["dual_final"]
        self.assertGreater(binding["mean"], 0)
        self.assertAlmostEqual(binding["mean"], binding["max"], places=12)
        self.assertTrue(any("as a server would" in note for note in runs[0]["notes"]))
        self.write("ring.topo", "generate directed-ring clients=3\n")
        own = self.summary_of(1, [*self.DRIFT, *words, "--topology", str(self.folder / "ring.topo")], "own")["constraints"][0]["dual_final"]
        self.assertGreater(own["max"] - own["mean"], 1e-6)
        alone = [self.summary_of(1, ["--source", "synthetic:drift:informative=1", "--clients", "1", *words, "--dual-scope", scope],
                                 scope) for scope in ("client", "shared")]
        self.assertEqual(bits(alone[0]["final_model"]), bits(alone[1]["final_model"]))
        self.assertIn("--dual", self.run_ranks(1, [*shared, "--dual", "queue", "--output", "no"]).err)
        self.assertIn("--dual-scope", self.run_ranks(4, [*shared, "--output", "no"]).err)

    def test_duals_hold_a_cap(self):
        self.write("cap.csv", "1,0,0,0,0,0.3\n0,1,0,0,0,2\n")
        for words in (["--mirror", "entropic"], ["--domain", "simplex"], ["--domain", "simplex", "--dual", "queue"]):
            with self.subTest(words=words):
                summary = self.summary_of(1, [*self.DRIFT, *words, "--rounds", "2000", "--mechanism", "none",
                                              "--constraint", "linear:cap.csv"], "run-" + "".join(words)[2:])
                self.assertAlmostEqual(summary["final_model"][0], 0.3, delta=0.02)
                binding, idle = summary["constraints"]
                self.assertEqual((binding["name"], binding["private"]), ("linear:cap.csv:1", False))
                self.assertGreater(binding["dual_final"]["mean"], 0)
                self.assertEqual(idle["dual_final"], {"mean": 0, "max": 0})
                self.assertLess(idle["violation"], -2000)
                self.assertIsNone(idle["violation_exponent"])

    def test_a_public_constraint_costs_nothing(self):
        self.write("cap.csv", "1,0,0,0,0,0.3\n")
        words = [*self.DRIFT, "--mirror", "entropic", "--rounds", "50", "--mechanism", "laplace", "--epsilon", "1",
                 "--noise-key", "seed"]
        free = self.summary_of(1, words, "free")["privacy"]
        bound = self.summary_of(1, [*words, "--constraint", "linear:cap.csv+box:0,0.6"], "bound")["privacy"]
        for key in ("epsilon", "client_epsilon", "releases", "epsilon_per_release"):
            self.assertEqual(bound[key], free[key])

    @fewer
    def test_every_layout_has_the_same_bits(self):
        self.write("cap.csv", "1,0,0,0,0,0.3\n")
        words = ["--source", "synthetic:drift:informative=1", "--clients", "7", "--rounds", "60", "--mirror", "entropic",
                 "--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed",
                 "--constraint", "linear:cap.csv+data:column=0-1,max=0.1+energy:budget=0.4", "--regret", "static",
                 "--benchmark-window", "20"]
        for more in ([], ["--private-constraint", "composite"]):
            runs = [self.summary_of(ranks, [*words, *more], f"on-{ranks}-{len(more)}") for ranks in layouts()]
            for run in runs[1:]:
                for key in ("models", "constraints", "mass", "regret"):
                    self.assertEqual(bits(run[key]), bits(runs[0][key]), key)
                self.assertEqual(run["traffic"]["edges"], runs[0]["traffic"]["edges"])


class Energy(TestCase):
    CHANGING = topology(5, [(2, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 0)]), (1, [(0, 4), (4, 1), (1, 2), (2, 0)])])

    def spent(self, summary, clients, cost, byte_cost):
        spent = [0.0] * clients
        for sender, _, messages, sent in summary["traffic"]["edges"]:
            spent[sender] += cost * messages + byte_cost * sent
        return spent

    @fewer
    def test_clients_send_what_they_can_afford(self):
        self.write("changing.topo", self.CHANGING)
        self.write("complete.topo", topology(5, [(1, [(u, v) for u in range(5) for v in range(5) if u != v])]))
        self.write("starts.csv", "".join(f"{u},{5 - u}\n" for u in range(5)))
        rounds, most_degree = 400, 4
        for graph in ("changing", "complete"):
            words = ["--loss", "none", "--start", "starts.csv", "--rounds", rounds, "--clients", "5", "--topology",
                     f"{graph}.topo", "--constraint", "energy:cost=0.5,byte_cost=0.25,budget=3"]
            cost = 0.5 + 0.25 * 24  # two numbers and a mass
            runs = [self.summary_of(ranks, words, f"{graph}-{ranks}") for ranks in layouts((1, 4, 2))]
            spent = self.spent(runs[0], 5, 0.5, 0.25)
            for u in range(5):
                self.assertLessEqual(spent[u], 3 * rounds + most_degree * cost)
                self.assertGreater(spent[u], 0.3 * 3 * rounds)
            (constraint,) = runs[0]["constraints"]
            self.assertFalse(constraint["private"])
            self.assertAlmostEqual(constraint["violation"], sum(spent) - 5 * 3 * rounds, places=6)
            self.assertAlmostEqual(runs[0]["mass"], 5, places=9)
            for model in runs[0]["models"]:  # silent rounds make nobody disagree in the end
                self.assertAlmostEqual(model[0], 2, places=6)
            for run in runs[1:]:
                self.assertEqual(bits(run["models"]), bits(runs[0]["models"]))
                self.assertEqual(run["traffic"]["edges"], runs[0]["traffic"]["edges"])


class TwoReleases(TestCase):
    """What a constraint on data costs: the second release of each round."""

    LEDGER = ["--noise-key", "key-{client}", "--ledger", "ledger-{client}"]
    PRIVATE = ["--source", "data.csv", "--clients", "2", "--constraint", "data:column=0,max=0.1"]

    def setUp(self):
        super().setUp()
        self.write("data.csv", "\n".join(csv_rows(400)) + "\n")
        for u in range(2):
            self.write_key(f"key-{u}", hashlib.sha256(f"client {u}".encode()).hexdigest())

    def spend(self, *words):
        return json.loads(self.run_alone(["privacy", "spend", *words, "--json"]).out)

    def losses(self, client):
        found = self.succeeded(self.run_alone(["privacy", "ledger", f"ledger-{client}", "--json"]))
        return json.loads(found.out)

    def test_a_record_pays_for_both(self):
        for how in ("separate", "composite"):
            words = [*self.PRIVATE, "--private-constraint", how]
            privacy = self.summary_of(1, [*words, "--mechanism", "laplace", "--epsilon", "1"], f"l-{how}")["privacy"]
            self.assertEqual(privacy["epsilon"], self.spend("--mechanism", "laplace", "--epsilon", "0.5", "--releases", "2",
                                                            "--delta", "0")["epsilon"])
            self.assertEqual(privacy["epsilon"], 1)
            self.assertIn("two parts", privacy["statement"])
            summary = self.summary_of(1, [*words, "--mechanism", "gaussian", "--mu", "0.5", "--privacy-split", "0.36"],
                                      f"g-{how}")
            # μ² is split: 0.4² + 0.3² = 0.5².
            self.write("groups.csv", "")
            self.assertAlmostEqual(summary["privacy"]["mu"], math.hypot(0.4, 0.3), places=12)
            both = self.spend("--mechanism", "gaussian", "--mu", str(0.5 / math.sqrt(2)), "--releases", "2", "--delta", "1e-5")
            self.assertAlmostEqual(summary["privacy"]["epsilon"], both["epsilon"], places=6)

    def test_ledger_and_budget_count_rounds_with_both(self):
        summary = self.summary_of(1, [*self.PRIVATE, *self.LEDGER, "--mechanism", "laplace", "--epsilon", "0.5", "--budget",
                                      "30"], "run")
        privacy = summary["privacy"]
        self.assertEqual((privacy["client_epsilon"], privacy["releases"]), (30, 60))
        self.assertEqual(privacy["budget"]["stopped_clients"], 2)
        for u in range(2):
            found = self.losses(u)
            self.assertEqual(found["losses"][0]["client_total"]["epsilon"], 30)
            self.assertEqual(found["losses"][0]["record"]["epsilon"], 0.5)

    def test_a_killed_run_is_taken_up_again_at_no_cost(self):
        words = [*self.PRIVATE, *self.LEDGER, "--mechanism", "laplace", "--epsilon", "0.5", "--epochs", "100",
                 "--rounds", "20000", "--progress", "off"]
        job = self.start(1, [*words, "--output", "killed"], waited_for=False)
        (pid,) = job.pids(1)
        ledger = self.folder / "ledger-0"
        wait_until(lambda: ledger.exists() and '"last":254' in ledger.read_text(), "it has released for a while")
        os.kill(pid, signal.SIGKILL)
        job.finish()
        result = self.good(1, [*words, "--output", "again", "--json", "--json-models"])
        self.assertIn("taken up again", result.err)
        self.assertEqual(self.losses(0)["losses"][0]["client_total"]["epsilon"], 10000)
        fresh = [w.replace("ledger-{client}", "other-{client}") for w in words]
        # Another run has another id, and so other noise; the one that was taken up gives what it would have given.
        other = self.good(1, [*fresh, "--output", "fresh", "--json", "--json-models"]).summary()
        self.assertNotEqual(bits(other["models"]), bits(result.summary()["models"]))
        self.assertEqual(other["privacy"]["client_epsilon"], 10000)

    def test_violations_of_private_records_are_withheld(self):
        result = self.good(1, [*self.PRIVATE, "--mechanism", "laplace", "--epsilon", "1", "--output", "run", "--json"])
        summary = result.summary()
        (constraint,) = summary["constraints"]
        self.assertTrue(constraint["private"])
        self.assertIsNone(constraint["violation"])
        self.assertIsNotNone(constraint["dual_final"]["mean"])
        self.assertIn("constraints[data:column=0,max=0.1].violation", summary["withheld"])
        with open(self.folder / "run" / "violation.csv") as file:
            self.assertEqual({row["violation"] for row in csv.DictReader(file)}, {""})
        owners = self.folder / "run" / "private" / "0" / "violation.csv"
        self.assertEqual(owners.stat().st_mode & 0o777, 0o600)
        last = owners.read_text().splitlines()[-1]
        self.assertTrue(last.startswith('200,1,"data:column=0,max=0.1",'), last)
        value = last.rpartition(",")[2]
        for path in (self.folder / "run").glob("*.*"):
            self.assertNotIn(value.encode(), path.read_bytes(), path)
        shared = self.summary_of(1, [*self.PRIVATE, "--mechanism", "laplace", "--epsilon", "1", "--metrics", "shared"],
                                 "shared")
        self.assertIsNotNone(shared["constraints"][0]["violation"])
        self.assertTrue(any(text.startswith("violations of constraints on data") for text in shared["privacy"]["shared_metrics"]))


class Refusals(TestCase):
    def test_options_that_do_not_fit(self):
        self.write("cap.csv", "1,0,0,0,0,0.3\n")
        drift = ["--mechanism", "none", "--rounds", "5"]
        cap = [*drift, "--constraint", "linear:cap.csv"]
        data = ["--rounds", "5", "--constraint", "data:column=0,max=0.1"]
        for words, text in (([*drift, "--dual", "queue"], "--dual without --constraint"),
                            ([*cap, "--benchmark-window", "2"], "--benchmark-window without"),
                            ([*cap, "--caution", "2"], "--caution without --dual queue"),
                            ([*cap, "--dual", "queue", "--dual-step", "2"], "--dual-step with --dual queue"),
                            ([*cap, "--dual", "queue", "--step", "2"], "--step with --dual queue"),
                            ([*drift, "--constraint", "linear:nowhere.csv"], "cannot read"),
                            ([*drift, "--constraint", "speed:1"], "unknown constraint 'speed'"),
                            ([*drift, "--constraint", "energy:budget=1", "--mixing", "plain"], "energy with --mixing plain"),
                            ([*data, "--mechanism", "dissertation"], "two releases a round"),
                            ([*data, "--mechanism", "laplace", "--unit", "component"], "unit component"),
                            ([*data, "--mechanism", "none", "--privacy-split", "1"], "privacy-split")):
            with self.subTest(words=words):
                result = self.run_ranks(1, [*words, "--output", "run"])
                self.assertEqual(result.code, 2, result)
                self.assertEqual(len(result.messages()), 1, result)
                self.assertIn(text, result.err)


if __name__ == "__main__":
    unittest.main()
