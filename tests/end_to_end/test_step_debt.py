"""Clients of small mass: their steps are repaid under any step rule, or the run says who counted for how much; clients whose
mass stays small are named."""

import unittest

from harness import *

draw_pictures()

# Masses tend to 1.9 and 0.1, and both clients have the same model after every round.
PAIR = """clients 2
weights explicit
edge 0 0 0.95
edge 0 1 0.05
edge 1 0 0.95
edge 1 1 0.05
"""
SMALL = ["--topology", SOURCE / "topologies" / "b3-5.topo", "--clients", 5, "--dropout", "0,.9,0,.9,0", "--link-loss", 0.3,
         "--link-loss-model", "unacknowledged"]


class Pair(TestCase):
    """Two clients whose records are all 0 and all 10: 5 is right."""

    def setUp(self):
        super().setUp()
        self.write("pair.topo", PAIR)
        for client, value in enumerate((0, 10)):
            self.write(f"p{client}.csv", "x,y\n" + f"{value},0\n" * 600)

    def words(self, *more, step=0.05, power=0):
        return ["--topology", "pair.topo", "--clients", 2, "--model", "location", "--label", "y", "--loss", "squared", "--mechanism",
                "none", "--source", "p{client}.csv", "--start", "zero", "--step", step, "--step-power", power, *more]

    def found(self, ranks, output, *more, **steps):
        summary = self.summary_of(ranks, self.words(*more, **steps), output)
        return summary["final_model"][0], summary

    def test_constant_steps(self):
        model, summary = self.found(2, "chosen")
        self.assertAlmostEqual(model, 5, delta=1e-3)
        self.assertEqual((summary["step_cap"], summary["effective_weight"], summary["notes"]), (12.5, [1, 1], []))
        self.assertEqual(self.found(1, "alone")[0], model)
        self.assertIn("step-cap = auto\n", (self.folder / "chosen" / "config.ini").read_text())

    def test_a_large_offset(self):
        model, summary = self.found(1, "offset", "--step-offset", 1000, step=2, power=0.51)
        self.assertAlmostEqual(model, 5, delta=1e-3)
        self.assertEqual(summary["step_debt"], 0)

    def test_a_cap_that_is_too_small_is_told(self):
        model, summary = self.found(2, "capped", "--step-cap", 1)
        self.assertAlmostEqual(model, 10 * 0.1 / 1.1, delta=1e-3)
        self.assertEqual(summary["effective_weight"][0], 1)
        self.assertAlmostEqual(summary["effective_weight"][1], (1 + 599 * 0.1) / 600, delta=1e-9)
        self.assertAlmostEqual(summary["step_debt_share"], (1 - (1 + 599 * 0.1) / 600) / 2, delta=1e-9)
        self.assertAlmostEqual(summary["step_debt"], 599 * 0.9, delta=1e-6)
        self.assertEqual(summary["low_effective_weights"]["clients"], [1])
        note, = summary["notes"]
        self.assertIn("client 1 counted for 0.101", note)
        self.assertIn("--step-cap", note)
        report = self.run_alone(["report", "capped"], cwd=self.folder)
        self.assertIn("effective weight      client 1 counted for 0.101", report.out)

    def test_a_run_goes_on_under_its_own_cap_only(self):
        words = self.words("--rounds", 40, "--checkpoint-every", 10, "--output", "run", power=0.5)
        self.good(1, words)
        result = self.run_ranks(1, ["--resume", "run", "--rounds", 60])
        self.assertNotEqual(result.code, 0, result)
        self.assertIn("step cap", result.err)


class SmallMasses(TestCase):
    @fewer
    def test_clients_without_mass_are_named(self):
        self.write("start.csv", "".join(f"{u}\n" for u in range(5)))
        words = [*SMALL, "--loss", "none", "--rounds", 1000, "--start", "start.csv"]
        found = [self.summary_of(ranks, words, f"on-{ranks}") for ranks in layouts((1, 4, 2))]
        client, = found[0]["small_masses"]["clients"]
        self.assertEqual(client["client"], 4)
        self.assertGreater(client["share_of_rounds"], 0.4)
        self.assertLess(client["least"], 1e-12)
        self.assertEqual(found[0]["least_mass"], client)
        note, = (note for note in found[0]["notes"] if note.startswith("small masses"))
        self.assertIn("client 4 in ", note)
        for other in found[1:]:
            self.assertEqual(other["small_masses"], found[0]["small_masses"])
        self.assertIn("small masses          client 4 in ", self.run_alone(["report", "on-1"], cwd=self.folder).out)

    def test_nobody_is_named_where_masses_are_usual(self):
        self.write("start.csv", "".join(f"{u}\n" for u in range(5)))
        words = [*SMALL[:4], "--dropout", 0.2, "--loss", "none", "--rounds", 300, "--start", "start.csv"]
        found = self.summary_of(1, words, "usual")
        self.assertEqual((found["small_masses"]["count"], found["small_masses"]["clients"], found["notes"]), (0, [], []))


class Inference(TestCase):
    """Eight clients whose intercepts lie between -2 and 4, on a digraph whose masses differ tenfold; the offset of the steps is
    1000, as it is under privacy by default."""

    def study(self, *more):
        words = ["infer", "--topology", SOURCE / "topologies" / "unbalanced-8.topo", "--clients", 8, "--source",
                 "synthetic:linear:apart=3", "--rounds", 4000, "--mechanism", "gaussian", "--mu", 1, "--noise-key", "seed",
                 "--replications", 24, "--progress", "off", "--json", "--output", f"study-{len(more)}", *more]
        result = self.succeeded(self.run_alone(words, cwd=self.folder))
        cell, = result.summary()["study"]
        return cell

    @slow
    def test_intervals_cover_where_clients_differ(self):
        """24 replications of eight clients and four coefficients; a replication's intervals move together, so that their mean
        coverage has a standard error of some 2.5 points: three of them are allowed. Where clients count unequally no interval
        of the intercept covers, and these are a quarter."""
        self.assertGreater(self.study()["coverage"], 0.87)
        self.assertLess(self.study("--step-cap", 1)["coverage"], 0.8)


if __name__ == "__main__":
    unittest.main()
