"""`starling infer --warmup-share` and `--tuning auto`: settings that are told and repeat, the same bits on any number of ranks and
after a kill, intervals that hold the truth where features are correlated, and what does not go with it."""

import unittest

from harness import *
from harness import bits

GAUSSIAN = ["--mechanism", "gaussian", "--mu", "2", "--noise-key", "seed"]


class WarmUp(TestCase):
    def setUp(self):
        super().setUp()
        source = "synthetic:linear:p=3,n=4000,correlation=0.9"
        self.words = ["infer", "--source", source, "--clients", "4", "--estimator", "path", *GAUSSIAN]

    def summary_of(self, ranks, words, output):
        result = self.succeeded(self.run_command(ranks, [*words, "--output", output, "--json-models"]))
        return result.summary()

    def test_chooses_from_public_numbers_and_repeats(self):
        result = self.succeeded(self.run_command(1, [*self.words, "--tuning", "auto", "--output", "first", "--json-models"]))
        first = result.summary()
        values = {each["option"]: each["value"] for each in first["tuning"]["chosen"]}
        self.assertEqual(set(values), {"batch", "warmup-share", "step", "step-offset", "noise-correlation"})
        self.assertEqual((values["batch"], values["warmup-share"], values["step-offset"]), ("3", "0.1", "0"))
        self.assertEqual(first["rounds"], 1334)
        for option, value in values.items():
            self.assertIn(f"tuning: {option} {value}: ", result.err)
        again = self.summary_of(1, ["infer", "--config", str(self.folder / "first" / "config.ini")], "again")
        self.assertEqual(bits(again["models"]), bits(first["models"]))
        self.assertNotIn("tuning", again)
        self.assertEqual(again["privacy"]["mu"], 2)
        given = self.summary_of(1, [*self.words, "--tuning", "auto", "--batch", "2", "--step", "0.5"], "given")
        self.assertEqual({each["option"] for each in given["tuning"]["chosen"]}, {"warmup-share", "step-offset", "noise-correlation"})

    def test_a_long_batch_has_all_its_digits(self):
        """One that is rounded up leaves fewer rounds than --rounds asks for: of 3,000 rounds of 10,006 records the run had 2,999."""
        words = ["infer", "--source", "synthetic:linear:p=1,n=2027400", "--clients", "1", *GAUSSIAN, "--rounds", "150", "--intervals", "none",
                 "--tuning", "auto"]
        chosen = self.summary_of(1, words, "run")["tuning"]["chosen"]
        self.assertEqual([each["value"] for each in chosen if each["option"] == "batch"], ["13516"])

    @fewer
    def test_same_bits_on_any_number_of_ranks(self):
        ring = self.write("t.topo", topology(4, [(1, [(0, 1), (1, 2), (2, 3), (3, 0)])]))
        chain = ["--noise-correlation", "blt:2"]
        cases = {"chain": chain, "chain-ring": ["--topology", ring, *chain]}
        if SLOW:
            cases.update({"root": [], "ring": ["--topology", ring]})
        for name, more in cases.items():
            with self.subTest(name):
                runs = [self.summary_of(ranks, [*self.words, "--warmup-share", "0.1", *more], f"{name}-{ranks}") for ranks in layouts((1, 4, 2))]
                for run in runs[1:]:
                    self.assertEqual(bits(run["models"]), bits(runs[0]["models"]))
                    self.assertEqual(run["privacy"]["mu"], 2)

    @needs_h5py
    def test_the_model_of_the_warm_up_is_the_start(self):
        ring = self.write("t.topo", topology(4, [(1, [(0, 1), (1, 2), (2, 3), (3, 0)])]))
        for name, more in (("root", []), ("ring", ["--topology", ring])):
            with self.subTest(name):
                self.summary_of(1, [*self.words, "--warmup-share", "0.1", "--rounds", "300", "--record-every", "10", *more], name)
                with h5py.File(self.folder / name / "run.h5") as file:
                    rounds, models = file["rounds"][()], file["model"][()]
                for model in models[rounds <= 30]:
                    self.assertEqual(model.tolist(), models[0].tolist())
                self.assertNotEqual(models[rounds == 40].tolist(), models[0].tolist())

    def test_a_source_without_end(self):
        result = self.run_command(1, [*self.words[:2], "synthetic:linear", *self.words[3:], "--tuning", "auto", "--rounds", 300, "--json"])
        self.assertEqual(result.code, 0, result)
        values = {each["option"]: each["value"] for each in result.summary()["tuning"]["chosen"]}
        self.assertEqual((values["batch"], values["step-offset"], result.summary()["rounds"]), ("1", "0", 300))

    def test_noise_allows_shorter_steps_where_the_loss_bends_to_one_side(self):
        steps = {}
        for mu in (0.5, 1, 1000):
            result = self.run_command(1, ["infer", "--source", "synthetic:logistic:p=3,n=20000", "--loss", "logistic", "--mechanism",
                                          "gaussian", "--mu", mu, "--estimator", "path", "--tuning", "auto", "--output", f"mu-{mu}", "--json"])
            self.assertEqual(result.code, 0, result)
            steps[mu] = {each["option"]: (float(each["value"]), each["reason"]) for each in result.summary()["tuning"]["chosen"]
                         if each["option"] == "step"}["step"]
        self.assertAlmostEqual(steps[1][0], 2 * steps[0.5][0], delta=0.01)
        self.assertIn("bends to one side", steps[1][1])
        self.assertIn("200 effective steps", steps[1000][1])

    def test_correlated_noise_makes_intervals_shorter_that_still_hold(self):
        """Of 80 replications with fixed seeds. Were the four coefficients of each one and the same, one choice of seeds in 300 would
        show less than 88 % for 95."""
        cells = {}
        for how in ("none", "blt:2"):
            result = self.run_command(1, ["infer", "--source", "synthetic:linear:p=3,n=5000", "--clients", "1", *GAUSSIAN[:2], "--mu", "1",
                                          "--noise-key", "seed", "--tuning", "auto", "--noise-correlation", how, "--replications", "80",
                                          "--record-every", "5000", "--output", f"study-{how[:4]}", "--json"])
            self.assertEqual(result.code, 0, result)
            cells[how] = result.summary()["study"][-1]
            self.assertGreater(cells[how]["coverage"], 0.88, cells)
        self.assertLess(cells["blt:2"]["length"], cells["none"]["length"] / 2, cells)

    def test_a_stopped_run_goes_on_with_its_coordinates(self):
        words = [*self.words, "--tuning", "auto", "--batch", "1"]
        whole = self.summary_of(1, words, "whole")
        with interrupted("checkpoint:0"):
            self.run_command(1, [*words, "--output", "cut", "--checkpoint-every", "1500"])
        self.assertEqual(checkpoints_in(self.folder / "cut" / "private" / "0"), [1500])
        resumed = self.succeeded(self.run_command(1, ["infer", "--resume", "cut", "--json-models"]))
        self.assertEqual(bits(resumed.summary()["models"]), bits(whole["models"]))
        self.assertEqual(resumed.summary()["tuning"]["chosen"], whole["tuning"]["chosen"])
        self.assertEqual(resumed.summary()["privacy"]["mu"], 2)

    def test_intervals_hold_the_truth_at_a_price_that_hid_it(self):
        """40 replications of four intervals: 95 % with a standard error below 2.5 points, where the defaults cover about 75 %."""
        source = "synthetic:linear:p=3,n=20000,correlation=0.97"
        words = ["infer", "--source", source, "--clients", "1", "--mechanism", "gaussian", "--mu", "1", "--noise-key", "seed",
                 "--estimator", "path", "--replications", "40"]
        found = {}
        for tuning in ("auto", "off"):
            result = self.run_command(1, [*words, "--tuning", tuning, "--output", tuning, "--json"])
            found[tuning] = result.summary()["study"][-1]
        self.assertGreaterEqual(found["auto"]["coverage"], 0.87)
        self.assertLessEqual(found["auto"]["not_settled"], 8)
        self.assertLess(found["auto"]["length"], found["off"]["length"])
        self.assertGreaterEqual(found["off"]["not_settled"], 36)

    def test_a_study_names_hidden_features_once(self):
        result = self.succeeded(self.run_command(1, ["infer", "--source", "synthetic:linear:p=3,n=3000,correlation=0.999", "--clients", "1",
                                                     "--mechanism", "gaussian", "--mu", "1", "--noise-key", "seed",
                                                     "--tuning", "auto", "--estimator", "path", "--replications", "3", "--output", "study", "--json"]))
        notes = result.summary()["notes"]
        self.assertEqual(sum("vary by less than noise" in note for note in notes), 1, notes)

    def test_refuses_what_does_not_go_with_it(self):
        for more, text in ((["--intervals", "plug-in"], "plug-in"), (["--bias", "remove"], "bias"), (["--start", "x.csv"], "start"),
                           (["--epochs", "2", "--intervals", "none"], "used again")):
            result = self.run_command(1, [*self.words, "--warmup-share", "0.1", *more, "--output", "no"])
            self.assertEqual(result.code, 2, result)
            self.assertIn(text, result.err)
        result = self.succeeded(self.run_command(1, [*self.words, "--tuning", "auto", "--bias", "remove", "--output", "none"]))
        self.assertIn("tuning: warmup-share 0: ", result.err)


if __name__ == "__main__":
    unittest.main()
