"""jobs/scale.py with few clients and rounds: it runs to its end, and what it writes fits together."""

import contextlib
import io
import math
import re
import sys

from experiment_case import Experiment
from harness import *

sys.path.insert(0, str(SOURCE / "jobs"))
import scale  # noqa: E402

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
        self.assertRegex(printed, r"ring +noise +too few points +too few points +too few points\n")  # none from 100 clients on
        self.expect_pictures("scale")
        self.expect_all_points_drawn(lines, costs)

    def expect_all_points_drawn(self, lines, costs):
        """Every curve of the script has its points, those of a negative regret too."""
        script = (self.folder / "out" / "scale.gp").read_text()
        blocks = {name: [tuple(map(float, row.split())) for row in rows.splitlines()]
                  for name, rows in re.findall(r"^\$(\w+) << END\n(.*?)^END$", script, re.S | re.M)}
        self.assertEqual(set(re.findall(r"\$(\w+) with linespoints", script)), set(blocks))
        for g, graph in enumerate(scale.GRAPHS):
            for k, noise in enumerate(scale.NOISES):
                mine = [line for line in lines if (line["graph"], line["noise"]) == (graph, noise)]
                for column, name in ((4, "error"), (5, "consensus"), (6, "regret")):
                    self.expect_points(blocks[f"c{g}{k}{column}"], [(line["clients"], line[name]) for line in mine])
        self.assertTrue(any(float(line["regret"]) < 0 for line in lines), "or the next lines have nothing to show")
        self.assertIn("regret per client and round, no noise'", script)
        for title in re.findall(r"^set title 'regret.*\n(?:.*\n)*?plot", script, re.M):
            self.assertIn("unset logscale y", title)
        by_n = [line for line in costs[:2]]
        self.expect_points(blocks["byn"], [(line["clients"], line["seconds"]) for line in by_n])
        self.expect_points(blocks["byd"], [(line["dimension"], line["seconds"]) for line in costs[2:]])

    def expect_points(self, drawn, expected):
        self.assertEqual(len(drawn), len(expected))
        for point, other in zip(drawn, expected):
            for value, text in zip(point, other):
                self.assertTrue(math.isclose(value, float(text), rel_tol=1e-8), (point, other))


class Exponents(TestCase):
    def test_they_are_those_of_known_numbers(self):
        n = [10, 32, 100, 316, 1000]
        (slope, error), points, not_positive = scale.exponent(n, [3 * x ** -0.5 for x in n], least=100)
        self.assertAlmostEqual(slope, -0.5)
        self.assertAlmostEqual(error, 0)
        self.assertEqual((points, not_positive), (3, 0))
        # 1, 2 and 8 at 1, 2 and 4: logarithms to the base 2 are 0, 1, 3 at 0, 1, 2, so that the slope is 3/2, residuals
        # are 1/6, -1/3, 1/6 and its error is sqrt((1/6) / 1 / 2).
        (slope, error), *_ = scale.exponent([1, 2, 4], [1, 2, 8])
        self.assertAlmostEqual(slope, 1.5)
        self.assertAlmostEqual(error, math.sqrt(1 / 12))

    def test_what_cannot_be_fitted_is_counted(self):
        self.assertEqual(scale.exponent([1, 2, 4, 8], [-5, 1, 0, -1], least=2), (None, 3, 2))
        self.assertEqual(scale.shown((None, 3, 2)), "2 of 3 <= 0")
        self.assertEqual(scale.exponent([1, 200], [1, 2], least=100), (None, 1, 0))
        self.assertEqual(scale.shown((None, 1, 0)), "too few points")

    def test_all_are_printed(self):
        sizes = [10, 100, 1000]
        powers = {"ring": 0.25, "exponential": -0.5, "random regular, degree 4": -0.25, "one-peer exponential": 0.5}
        lines = [[graph, noise, n, 200, n ** powers[graph], n ** -1.0, -1.0 if noise == "no noise" else n ** 2.0, 0.5, 9]
                 for graph in scale.GRAPHS for noise in scale.NOISES for n in sizes]
        by_n = [[n, 10, 20, 1e-6 * n, 1e-6 * n, 0.0] for n in sizes]
        by_d = [[1000, d, 20, 1e-6 * d ** 1.5, 1e-6 * d, 1e-9 * d ** 2.0] for d in scale.DIMENSIONS]
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            scale.print_exponents(lines, by_n, by_d)
        for graph, power in powers.items():
            fits = rf"{power:.2f} \+- 0\.00 +-1\.00 \+- 0\.00 +"
            self.assertRegex(text.getvalue(), rf"{graph} +noise +{fits}2\.00 \+- 0\.00\n")
            self.assertRegex(text.getvalue(), rf"{graph} +no noise +{fits}2 of 2 <= 0\n")
        self.assertRegex(text.getvalue(), r"a round +n\^\(1\.00 \+- 0\.00\) +d\^\(1\.50 \+- 0\.00\)")
        self.assertRegex(text.getvalue(), r"mixing +n\^\(2 of 2 <= 0\) +d\^\(2\.00 \+- 0\.00\)")


if __name__ == "__main__":
    unittest.main()
