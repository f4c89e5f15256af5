"""Models in few bits: fewer bytes, the same price, sums that lose nothing, and runs that go on after a kill."""

import unittest

from harness import *
import kills

NOISY = ["--source", "synthetic:logistic:n=200,p=40", "--clients", "8", "--mechanism", "gaussian", "--epsilon", "2", "--noise-key", "seed", "--batch", "10"]
METHODS = {"omd": ["--topology", SOURCE / "topologies" / "ring-8.topo"], "fedavg": [],
           "infer": ["--topology", SOURCE / "topologies" / "ring-8.topo", "--intervals", "none"]}


# Control variates are state, too.
KEPT = {"fedavg": ["--local-steps", "2", "--local-update", "scaffold"]}


class Precision(TestCase):
    def play(self, method, precision, *words):
        output = f"{method}-{precision}-{len(words)}".replace(":", "-")
        words = [method, *NOISY, *METHODS[method], "--message-precision", precision, "--output", output, "--json", *words]
        return self.succeeded(self.run_alone(words)).summary()

    def test_bytes_fall_and_the_price_stays(self):
        for method in METHODS:
            exact, short = (self.play(method, precision) for precision in ("double", "bits:8"))
            d = exact["dimension"]
            # A range of two floats, a byte for each number, and the mass or weight.
            own = -(-(8 + 8 + d) // 8) * 8 if method != "fedavg" else 8 + 8 + d
            full = 8 * (d + 1) if method != "fedavg" else None
            if full:
                self.assertEqual(exact["traffic"]["bytes"], full * exact["traffic"]["messages"])
            self.assertEqual(short["traffic"]["bytes"], own * short["traffic"]["messages"])
            self.assertEqual(short["traffic"]["messages"], exact["traffic"]["messages"])
            self.assertGreater(exact["traffic"]["bytes"] / short["traffic"]["bytes"], 5)
            # Rounding comes after the noise: what is released, and what it costs, is the same.
            for key in ("epsilon", "mu", "releases"):
                self.assertEqual(short["privacy"].get(key), exact["privacy"].get(key), (method, key))

    def test_sums_lose_nothing(self):
        """Averaging alone, in few bits: the mean of all clients stays, and they agree up to the floor."""
        self.write("starts.csv", "\n".join(f"{k},{k * k / 10},1" for k in range(8)) + "\n")
        words = ["omd", "--loss", "none", "--start", "starts.csv", "--rounds", "200", "--clients", "8", *METHODS["omd"], "--json-models", "--output", "mean"]
        summary = self.succeeded(self.run_alone([*words, "--message-precision", "bits:6"])).summary()
        models = summary["models"]
        for column, expected in enumerate((3.5, 1.75, 1)):
            self.assertAlmostEqual(sum(model[column] for model in models) / 8, expected, delta=1e-12)
            self.assertLess(max(abs(model[column] - expected) for model in models), 3 * (4.9 - 0) / 63)

    def test_a_killed_run_goes_on_with_what_rounding_has_kept(self):
        for method in ("omd", "fedavg"):
            words = [method, *NOISY, *METHODS[method], *KEPT.get(method, []), "--message-precision", "bits:3", "--checkpoint-every", "5", "--progress", "off"]
            self.succeeded(self.run_command(2, [*words, "--output", f"{method}-whole"]))
            with interrupted("after rename /private/1/checkpoint-:1"):
                self.assertNotEqual(self.run_command(2, [*words, "--output", f"{method}-cut"]).code, 0)
            self.succeeded(self.run_command(2, [method, "--resume", f"{method}-cut"]))
            found = []
            for output in (f"{method}-whole", f"{method}-cut"):
                trial = kills.Trial()
                trial.folder = self.folder
                found.append(trial.results(output))
            for name in found[0]:
                self.assertEqual(found[1][name], found[0][name], (method, name))

    def test_what_cannot_be_rounded_is_refused_with_the_reason(self):
        short = ["omd", *NOISY, *METHODS["omd"], "--message-precision", "bits:8"]
        for words, reason in ((["--async"], "late messages are added up"),
                              (["--mixing", "plain"], "no sum in which what rounding takes"),
                              (["--domain", "ball:3"], "would leave its domain"),
                              (["--mirror", "entropic"], "would leave its domain"),
                              (["--link-loss", "0.1", "--link-loss-model", "unacknowledged"], "a sum that grows needs more bits"),
                              (["--message-precision", "bits:40"], "bits=40: a number takes 1 to 16")):
            kept = short[:-2] if "--message-precision" in words else short
            self.complains(self.run_alone([*kept, *words]), 2, reason)
        self.complains(self.run_alone(["infer", *NOISY, "--message-precision", "bits:8"]), 2, "--message-precision.*--topology")


if __name__ == "__main__":
    unittest.main()
