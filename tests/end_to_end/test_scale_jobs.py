"""jobs/scale.py with few clients and rounds: it runs to its end, and what it writes fits together."""

import math
import re

from experiment_case import Experiment
from harness import *

GRAPHS = {"ring", "exponential", "random regular, degree 4", "one-peer exponential"}


class Scale(Experiment):
    def test_it_gives_curves_costs_and_a_picture(self):
        printed = self.run_script("scale.py", "--most", 32, "--rounds", 40, "--workers", 2)
        lines = self.rows("scale.csv")
        self.assertEqual({(line["graph"], line["noise"], int(line["clients"])) for line in lines},
                         {(graph, noise, n) for graph in GRAPHS for noise in ("noise", "no noise") for n in (10, 32)})
        found = {(line["graph"], line["noise"], int(line["clients"])): line for line in lines}
        for key, line in found.items():
            self.assertTrue(0 < float(line["error"]) < math.sqrt(2), key)
            self.assertTrue(0 < float(line["consensus"]) < 1, key)
            self.assertTrue(0 <= float(line["contraction"]) < 1, key)
        # What is known of the graphs: a ring's contraction, and who agrees better under noise.
        ring = found["ring", "noise", 32]
        self.assertAlmostEqual(float(ring["contraction"]), (1 + 2 * math.cos(2 * math.pi / 32)) / 3, places=9)
        self.assertEqual(float(found["one-peer exponential", "noise", 32]["contraction"]), 0)
        for noise in ("noise", "no noise"):
            self.assertGreater(float(found["ring", noise, 32]["consensus"]), float(found["exponential", noise, 32]["consensus"]))
        # Noise spreads models of any graph many times as far as the records do.
        for graph in GRAPHS:
            self.assertGreater(float(found[graph, "noise", 32]["consensus"]),
                               2 * float(found[graph, "no noise", 32]["consensus"]))
        costs = self.rows("cost.csv")
        self.assertGreaterEqual({int(line["dimension"]) for line in costs}, {10, 100, 1000})
        for line in costs:
            self.assertGreater(float(line["seconds"]), float(line["learning"]) + float(line["mixing"]) - 1e-12)
        self.assertRegex(printed, re.compile(r"a round +n\^\(.*\) +d\^\(", re.S))
        self.expect_pictures("scale")


if __name__ == "__main__":
    unittest.main()
