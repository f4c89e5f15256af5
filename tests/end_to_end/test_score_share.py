"""--score-share: sums over scores and labels that clients release after the last round, and the factor of models that they show."""

import csv
import json
import math
import random
import unittest

from histogram_case import *

TRUTH = (1.2, -0.8, 0.5)
SIZES = (1800, 600, 1)  # of clients, the last of which has no record
SHARE = 0.2


def rows(count, seed, favoured=0.0):
    """Records whose labels have the odds of TRUTH; by `favoured` clients get more of one class."""
    draw = random.Random(seed)
    while count > 0:
        x = [draw.gauss(0, 1) for _ in TRUTH]
        odds = sum(a * b for a, b in zip(TRUTH, x))
        label = 1 if draw.random() < 1 / (1 + math.exp(-odds)) else -1
        if draw.random() < favoured and label < 0:
            continue
        count -= 1
        yield ",".join(f"{value:.5f}" for value in x) + f",{label}"


class ScoreShare(HistogramCase):
    def setUp(self):
        super().setUp()
        dealt = [(client, row) for client, size in enumerate(SIZES) for row in rows(size, client, 0.3 * client)]
        self.write("data.csv", "\n".join(["a,b,c,y", *(row for _, row in dealt)]) + "\n")
        self.write("deal.csv", "record,client\n" + "".join(f"{record},{client}\n" for record, (client, _) in enumerate(dealt)))
        self.write("test.csv", "\n".join(["a,b,c,y", *rows(3000, 99)]) + "\n")
        for name, lines in (("start.csv", CLIENTS), ("start-of-all.csv", 1)):  # scores are twice what they should be
            self.write(name, (",".join(str(2 * value) for value in TRUTH) + "\n") * lines)
        self.sources = ["--source", "data.csv", "--partition", "file:path=deal.csv", "--clients", CLIENTS, "--mechanism", "gaussian"]
        self.words = [*self.sources, "--mu", 0.5, "--batch", 100, "--noise-key", "seed"]
        self.still = [*self.words, "--start", "start.csv", "--step", 1e-12, "--test", "test.csv"]

    def ledger_rows(self, path):
        return [json.loads(line) for line in (self.folder / path).read_text().splitlines()]

    def of_scores(self, path):
        return [row for row in self.ledger_rows(path) if row.get("run", "").endswith(":scores")]

    def test_models_are_multiplied_so_that_probabilities_are_right(self):
        before = self.summary_of(1, self.still, "before")
        after = self.summary_of(1, [*self.still, "--score-share", SHARE], "after")
        scaled = after["scaled_scores"]
        self.assertAlmostEqual(scaled["factor"], 0.5, delta=0.1)
        self.assertLess(scaled["error"], 0.2)
        self.assertNotIn("scaled_scores", before)
        for was, now in zip(before["final_model"], after["final_model"]):
            self.assertAlmostEqual(now, scaled["factor"] * was, delta=1e-9)
        old, new = before["metrics"]["test"], after["metrics"]["test"]
        self.assertLess(new["log_loss"], old["log_loss"] - 0.03)
        for same in ("accuracy", "auc", "confusion"):
            self.assertEqual(old[same], new[same])
        for name, summary in (("before", before), ("after", after)):  # what is predicted is what was measured
            scored = self.run_alone(["score", name, "--source", "test.csv", "--json"])
            self.assertAlmostEqual(json.loads(scored.out)["metrics"]["log_loss"], summary["metrics"]["test"]["log_loss"], delta=1e-9)
        self.assertTrue([note for note in after["notes"] if "multiplied by" in note], after["notes"])
        self.assertFalse([note for note in after["notes"] if "further from 1" in note], after["notes"])
        self.assertIn("After the last round each client releases once two sums", (self.folder / "after/privacy.txt").read_text())

    def test_a_run_whose_scores_are_made_right_is_no_worse_than_its_start(self):
        """Its last rounds are: scores are some times what they should be."""
        self.write("start.csv", (",".join("0" for _ in TRUTH) + "\n") * CLIENTS)
        words = [*self.words, "--mu", 20, "--start", "start.csv", "--test", "test.csv", "--step", 80, "--step-power", 0, "--score-share", SHARE]
        summary = self.summary_of(1, words, "long")
        self.assertLess(summary["metrics"]["test_loss"], math.log(2))
        self.assertFalse([note for note in summary["notes"] if "the start models" in note], summary["notes"])

    def test_a_factor_beyond_its_bounds_has_a_note(self):
        for size, bound, text in ((0.05, None, "too near one half"), (0.13, 4, "too near one half"), (20, 0.25, "too near 0 and 1")):
            with self.subTest(size=size):
                self.write("start.csv", (",".join(str(size * value) for value in TRUTH) + "\n") * CLIENTS)
                summary = self.summary_of(1, [*(20 if word == 0.5 else word for word in self.still), "--score-share", SHARE], f"run-{size}")
                if bound:
                    self.assertAlmostEqual(summary["scaled_scores"]["factor"], bound, delta=1e-9)
                [note] = [each for each in summary["notes"] if "further from 1" in each]
                self.assertIn(text, note)

    def test_so_are_those_of_averages_over_rank_0(self):
        words = [*self.still, "--start", "start-of-all.csv", "--score-share", SHARE, "--local-steps", 3, "--output", "run", "--json", "--progress", "off"]
        summary = self.succeeded(self.run_command(2, ["fedavg", *words])).summary()
        self.assertAlmostEqual(summary["scaled_scores"]["factor"], 0.5, delta=0.1)
        for value, truth in zip(summary["final_model"], TRUTH):
            self.assertAlmostEqual(value, 2 * truth * summary["scaled_scores"]["factor"], delta=1e-9)

    @fewer
    def test_the_same_bits_on_all_layouts(self):
        self.check_layouts([*self.sources, "--total-epsilon", 3, "--tuning", "auto"], "score-share", layouts((1, 4, 2)))
        self.assertGreater(float(self.config("run-1")["score-share"]), 0)

    def test_the_rule_keeps_a_share_where_sums_tell_something(self):
        words = [*self.sources, "--tuning", "auto", "--noise-key", "seed"]
        many = self.summary_of(1, [*words, "--total-epsilon", 3], "many")
        self.assertEqual([each["value"] for each in many["tuning"]["chosen"] if each["option"] == "score-share"], [self.config("many")["score-share"]])
        self.assertIn("scaled_scores", many)
        self.assertLessEqual(many["privacy"]["epsilon"], 3)
        few = self.summary_of(1, [*words, "--total-epsilon", 0.1], "few")
        self.assertNotIn("scaled_scores", few)
        self.assertIsNone(few["privacy"]["scores"])
        again = self.run_alone(["omd", "--config", "many/config.ini", "--output", "again", "--json"], as_they_are=True).summary()
        self.assertEqual(bits(again["final_model"]), bits(many["final_model"]))
        self.assertEqual(again["scaled_scores"], many["scaled_scores"])

    def test_a_record_pays_its_price_in_all(self):
        privacy = self.summary_of(1, [*self.words, "--score-share", SHARE, "--noise-correlation", "none"], "run")["privacy"]
        self.assertLessEqual(privacy["mu"], 0.5)
        self.assertAlmostEqual(privacy["mu"], 0.5, delta=1e-12)
        self.assertAlmostEqual(privacy["scores"]["mu"], math.sqrt(SHARE) * 0.5, delta=1e-12)
        self.assertAlmostEqual(privacy["mu_per_release"], math.sqrt(1 - SHARE) * 0.5, delta=1e-12)
        rows = self.of_scores("run/private/0/ledger")
        self.assertEqual([row["kind"] for row in rows], ["open", "reserve", "end", "end"])
        self.assertEqual((rows[1]["client"], rows[1]["through"]), (0, 2), "who has no records releases none")
        kinds = [(row["kind"], row["run"].endswith(":scores")) for row in self.ledger_rows("run/private/0/ledger") if "run" in row]
        self.assertEqual(kinds[4], ("open", False), "before the run")
        found = json.loads(self.run_alone(["privacy", "ledger", "run/private/0/ledger", "--json"]).out)
        self.assertAlmostEqual(found["losses"][0]["record"]["mu"], 0.5, delta=1e-9)
        self.assertAlmostEqual(found["losses"][0]["client_total"]["mu"] / privacy["client_mu"], 1, delta=1e-9)

    def test_a_run_that_was_killed_releases_the_same(self):
        words = [*self.words, "--score-share", SHARE, "--checkpoint-every", 3, "--step", 0.3]
        whole = self.summary_of(2, words, "whole")
        for fault in ("checkpoint:1", "after rename /notes.json:1", "before rename /summary.json:0"):
            with self.subTest(fault=fault):
                with interrupted(fault):
                    self.run_ranks(2, [*words, "--output", "run"])
                self.assertFalse((self.folder / "run/summary.json").exists())
                again = self.run_ranks(2, ["--resume", "run"])
                self.assertEqual(again.code, 0, again)
                resumed = self.summary_in("run")
                self.assertEqual(bits(resumed["final_model"]), bits(whole["final_model"]))
                self.assertEqual(resumed["scaled_scores"], whole["scaled_scores"])
                self.assertEqual(resumed["privacy"]["mu"], whole["privacy"]["mu"])
                self.assertEqual([row["kind"] for row in self.of_scores("run/private/0/ledger")].count("reserve"), 1)
                shutil.rmtree(self.folder / "run")

    def test_clients_that_are_lost_before_release_nothing_and_afterwards_nobody_does(self):
        words = [*self.words, "--score-share", SHARE, "--checkpoint-every", 3, "--step", 0.3, "--output", "run"]
        for fault, released in (("checkpoint:1", True), ("after rename /notes.json:1", False)):
            with self.subTest(fault=fault):
                with interrupted(fault):
                    self.run_ranks(1, words)
                again = self.run_ranks(1, ["--resume", "run", "--lost", "1"])
                self.assertEqual(again.code, 0, again)
                summary = self.summary_in("run")
                self.assertEqual("scaled_scores" in summary, released)
                self.assertEqual(any("may have been released before" in note for note in summary["notes"]), not released)
                shutil.rmtree(self.folder / "run")

    def test_no_budget_is_exceeded(self):
        words = [*self.words[:-2], *self.keys(), "--noise-correlation", "none", "--score-share", SHARE]
        alone = self.summary_of(1, words, "alone")["privacy"]
        words += ["--budget-unit", "record", "--ledger", "ledger"]
        enough = self.summary_of(1, [*words, "--budget", alone["epsilon"] * (1 + 1e-9)], "enough")
        self.assertIn("scaled_scores", enough)
        little = self.summary_of(1, [*words[:-1], "ledger-of-little", "--budget", 0.99 * alone["epsilon"]], "little")
        self.assertTrue([note for note in little["notes"] if "no budget allows sums of them" in note], little["notes"])
        self.assertIsNone(little["privacy"]["scores"])
        self.assertNotIn("After the last round each client", (self.folder / "little/privacy.txt").read_text())
        for name, budget in (("none", alone["epsilon"] * (1 + 1e-9)), ("other", 1.01 * alone["epsilon"])):
            result = self.run_ranks(1, [*words, "--budget", budget, "--output", name])
            self.assertEqual(result.code, 4, result)
        self.assertEqual([row["kind"] for row in self.of_scores("ledger")].count("reserve"), 1)

    def test_a_run_that_is_refused_has_paid_for_no_sums(self):
        self.write("budgets.csv", "0,3\n1,0.3\n2,3\n3,3\n")
        words = [*self.sources, *self.keys(), "--total-epsilon", 2, "--batch", 100, "--score-share", SHARE, "--budget-unit", "record"]
        refused = self.run_ranks(2, [*words, "--ledger", "ledger-{client}", "--budget", "clients:budgets.csv", "--output", "refused"])
        self.complains(refused, 4, "is more than is left", "0.3")
        for client in range(CLIENTS):
            self.assertEqual([row for row in self.ledger_rows(f"ledger-{client}") if row["kind"] == "reserve"], [], client)
        self.assertIn("scaled_scores", self.summary_of(2, [*words, "--ledger", "ledger-{client}", "--budget", 2], "whole"))

    def test_persons_count_once(self):
        lines = ["who,a,b,c,y"] + [f"{i % 400},{row}" for i, row in enumerate(rows(1200, 7))]
        self.write("persons.csv", "\n".join(lines) + "\n")
        words = ["--source", "persons.csv", "--clients", CLIENTS, "--partition", "column:name=who", "--unit", "person", "--person", "who", "--mechanism", "gaussian",
                 "--mu", 1, "--batch", 20, "--noise-key", "seed", "--start", "start.csv", "--step", 1e-12, "--score-share", 0.5]
        summary = self.summary_of(1, words, "run")
        self.assertAlmostEqual(summary["scaled_scores"]["factor"], 0.5, delta=0.2)
        self.assertLessEqual(summary["privacy"]["mu"], 1)
        self.assertLessEqual(self.of_scores("run/private/0/ledger")[0]["batch_units"], 400)

    def test_runs_that_cannot_say_why(self):
        asked = ["--score-share", SHARE]
        for words, reason in ((["--domain", "ball:3"], "domain"), (["--loss", "hinge"], "logistic"), (["--unit", "component"], "components"),
                              (["--constraint", "budget:max=1"], "constraints"), (["--mu", "schedule:from=0.1,to=0.2"], "one price"),
                              (["--deadline", 1], "not in step")):
            result = self.run_ranks(1, [*self.words, *words, *asked, "--output", "refused"])
            self.complains(result, 2, "--score-share", reason)
        laplace = [*self.sources[:-1], "laplace", "--epsilon", 1, *asked]
        self.complains(self.run_ranks(1, [*laplace, "--output", "refused"]), 2, "--score-share")
        self.good(1, [*self.words, *asked, "--checkpoint-every", 5, "--output", "run"])
        self.complains(self.run_ranks(1, ["--resume", "run", "--rounds", 40]), 2, "scores are measured once")


if __name__ == "__main__":
    unittest.main()
