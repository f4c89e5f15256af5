"""--scale-share: histograms of norms that clients release before the first round, what they cost, and where that stands."""

import math
import random
import unittest

from histogram_case import *

RECORDS = 3000  # of each
SHARE = 0.01


def table(scale, clients=CLIENTS):
    """Records whose norms are about 1.5 times the scale."""
    draw = random.Random(5)
    lines = ["a,b,c,y"]
    for _ in range(clients * RECORDS):
        label = draw.choice([-1, 1])
        row = [scale * draw.gauss(0.5 * label, 1), scale * draw.gauss(0, 1), scale * draw.gauss(0, 1)]
        lines.append(",".join(f"{value:.5f}" for value in row) + f",{label}")
    return "\n".join(lines) + "\n"


def norms_of(result):
    return [line for line in result.err.splitlines() if line.startswith("tuning: norm ")]


class Norms(HistogramCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", table(10))
        self.words = ["--source", "data.csv", "--clients", CLIENTS, "--tuning", "auto", "--feature-share", 0, "--score-share", 0]
        self.mu = [*self.words, "--mechanism", "gaussian", "--mu", 0.3]

    def ledger(self, path, code=0):
        result = self.run_alone(["privacy", "ledger", path, "--json"])
        self.assertEqual(result.code, code, result)
        return json.loads(result.out)

    def test_the_norm_is_that_of_a_typical_record(self):
        """In octaves: records of other scales have other norms, and the clip follows."""
        for scale, least in ((0.01, 2**-6), (10, 16), (3000, 4096)):
            self.write("data.csv", table(scale))
            result = self.good(1, [*self.mu, "--intercept", "no", "--output", f"run-{least}"])
            config = self.config(f"run-{least}")
            self.assertIn(float(config["norm"]), [float(f"{least * 2**k:.4g}") for k in (-1, 0, 1)], scale)
            self.assertAlmostEqual(float(config["clip"]), float(config["norm"]), delta=1e-3 * float(config["clip"]))  # there is little noise
            self.assertEqual((config["tuning"], config["scale-share"]), ("off", "0.01"))
            self.assertEqual(len(norms_of(result)), 1, result.err)

    @fewer
    def test_the_same_bits_on_all_layouts(self):
        self.check_layouts(self.mu, "norm", layouts((1, 4, 2)))

    def test_a_record_pays_its_price_in_all(self):
        privacy = self.summary_of(1, [*self.mu, "--noise-correlation", "none", "--delta", 1e-6], "run")["privacy"]
        gradient, histogram = math.sqrt(1 - SHARE) * 0.3, math.sqrt(SHARE) * 0.3
        rounds = privacy["releases"]
        self.assertLessEqual(privacy["mu"], 0.3)
        self.assertAlmostEqual(privacy["mu"], 0.3, delta=1e-13)
        self.assertAlmostEqual(privacy["mu_per_release"], gradient, delta=1e-12)
        self.assertAlmostEqual(privacy["norms"]["mu"], histogram, delta=1e-12)
        batch = int(self.config("run")["batch"])
        self.assertEqual(rounds, math.ceil(RECORDS / batch))
        whole = math.hypot(math.sqrt(rounds) * batch * gradient, RECORDS * histogram)
        self.assertAlmostEqual(privacy["client_mu"], whole, delta=1e-9 * whole)
        self.write("groups.csv", f"mechanism,releases,mu\ngaussian,1,{gradient!r}\ngaussian,1,{histogram!r}\n")
        spent = self.run_alone(["privacy", "spend", "--groups", "groups.csv", "--delta", 1e-6, "--json"])
        self.assertAlmostEqual(privacy["record_epsilon"], json.loads(spent.out)["epsilon"], delta=1e-9)
        self.write("each.csv", f"mechanism,releases,mu\ngaussian,{rounds},{gradient!r}\ngaussian,1,{rounds * histogram!r}\n")
        each = self.run_alone(["privacy", "spend", "--groups", "each.csv", "--delta", 1e-6, "--json"])
        self.assertAlmostEqual(privacy["one_per_batch_epsilon"] / json.loads(each.out)["epsilon"], 1, delta=1e-9)
        self.assertIn("released once a histogram of the norms of all its records", privacy["statement"])
        found = self.ledger("run/private/0/ledger")
        for losses in found["losses"]:
            self.assertAlmostEqual(losses["record"]["mu"], 0.3, delta=1e-9)
            self.assertAlmostEqual(losses["client_total"]["mu"] / whole, 1, delta=1e-9)

    def test_several_passes_share_a_total(self):
        for name, words, total in (("mu", [*self.mu, "--epochs", 4], 0.3 * 2),
                                   ("epsilon", [*self.words, "--mechanism", "laplace", "--epsilon", 0.5, "--epochs", 3], 1.5)):
            privacy = self.summary_of(1, words, name)["privacy"]
            paid = privacy["mu" if name == "mu" else "epsilon"]
            self.assertLessEqual(paid, total)
            self.assertAlmostEqual(paid, total, delta=1e-9)
            self.assertAlmostEqual(privacy["norms"][name], 0.1 * total, delta=1e-9)
            self.assertAlmostEqual(self.ledger(f"{name}/private/0/ledger")["losses"][0]["record"]["epsilon"],
                                   privacy["record_epsilon"], delta=1e-9)

    def test_a_total_is_spent_however_many_passes_come(self):
        words = [*self.words, "--mechanism", "gaussian", "--total-epsilon", 2, "--epochs", 3, "--batch", 30]
        privacy = self.summary_of(1, [*words, "--rounds", 150], "run")["privacy"]
        self.assertEqual(privacy["participations"], 2)
        self.assertLessEqual(privacy["epsilon"], 2)
        self.assertGreaterEqual(privacy["epsilon"], 2 * (1 - 1e-6))
        self.assertAlmostEqual(privacy["norms"]["mu"] / privacy["mu"], 0.1, delta=1e-9)
        self.assertAlmostEqual(self.ledger("run/private/0/ledger")["losses"][0]["record"]["mu"], privacy["mu"], delta=1e-9)

    def test_pure_losses_add_up(self):
        """Under laplace a tenth of epsilon, by two histograms."""
        privacy = self.summary_of(1, [*self.words, "--mechanism", "laplace", "--epsilon", 1], "run")["privacy"]
        self.assertLessEqual(privacy["epsilon"], 1)
        self.assertAlmostEqual(privacy["epsilon"], 1, delta=1e-9)
        self.assertEqual(privacy["delta"], 0)
        self.assertAlmostEqual(privacy["norms"]["epsilon"], 0.1, delta=1e-9)
        self.assertAlmostEqual(privacy["epsilon_per_release"], 0.9, delta=1e-9)
        self.assertEqual(len(self.config("run")["norm"].split(",")), 2)
        batch = int(self.config("run")["batch"])
        self.assertAlmostEqual(privacy["client_epsilon"], privacy["releases"] * batch * 0.9 + RECORDS * 0.1, delta=1e-6)

    def test_prices_by_client(self):
        self.write("mu.csv", "0,0.5\n1,1\n2,1\n3,2\n")
        words = [*self.words, "--mechanism", "gaussian", "--mu", "clients:mu.csv", "--noise-correlation", "none"]
        privacy = self.summary_of(1, words, "run")["privacy"]
        self.assertAlmostEqual(privacy["mu"], 2, delta=1e-12)
        rows = [json.loads(line) for line in (self.folder / "run/private/0/ledger").read_text().splitlines()]
        charged = [(row["client"], row.get("through", row["client"]), row["charges"]) for row in rows
                   if row["kind"] == "reserve" and row["run"].endswith(":norms")]
        self.assertEqual([row[:2] for row in charged], [(0, 0), (1, 2), (3, 3)])
        for (_, _, charges), mu in zip(charged, (0.5, 1, 2)):
            self.assertEqual([charge["count"] for charge in charges], [1])
            self.assertAlmostEqual(charges[0]["mu"], 0.1 * mu, delta=1e-12)
        for losses, mu in zip(self.ledger("run/private/0/ledger")["losses"], (0.5, 1, 2)):
            self.assertAlmostEqual(losses["record"]["mu"], mu, delta=1e-9)

    def test_the_ledger_has_it_before_it_is_made(self):
        """And before the run that uses it."""
        self.good(1, [*self.mu, "--output", "run", "--ledger", "ledger"])
        rows = [json.loads(line) for line in (self.folder / "ledger").read_text().splitlines()]
        kinds = [(row["kind"], row["run"].endswith(":norms")) for row in rows if "run" in row]
        self.assertEqual(kinds[:4], [("open", True), ("reserve", True), ("end", True), ("open", False)])
        self.assertEqual((rows[1]["mechanism"], rows[1]["batch_units"]), ("gaussian", RECORDS))
        statement = self.summary_in("run")["privacy"]
        self.assertEqual(statement["ledger"]["earlier_runs"], 0)
        self.assertAlmostEqual(statement["ledger"]["record_epsilon"], statement["record_epsilon"], delta=1e-9)

    def test_a_command_that_is_repeated_with_its_keys_takes_it_up(self):
        words = [*self.mu, *self.keys(), "--ledger", "ledger"]
        first = self.good(1, [*words, "--output", "run-1"])
        again = self.good(1, [*words, "--output", "run-2"])
        self.assertEqual(norms_of(first), norms_of(again))
        losses = self.ledger("ledger")["losses"][0]["record"]
        self.assertAlmostEqual(losses["mu"], 0.3 * math.sqrt(1 + 1 - SHARE), delta=1e-9)
        other = self.good(1, [*self.words, "--mechanism", "gaussian", "--mu", 0.2, *words[len(self.mu):], "--output", "run-3"])
        self.assertEqual(len(norms_of(other)), 1)
        losses = self.ledger("ledger")["losses"][0]["record"]
        self.assertAlmostEqual(losses["mu"], math.sqrt(0.09 * (2 - SHARE) + 0.04), delta=1e-9)

    def test_a_configuration_has_its_result(self):
        """A run with the configuration of another has its norm and its prices, releases no norms, and counts that the other did."""
        first = self.summary_of(1, [*self.mu, "--noise-key", "seed"], "run")
        again = self.run_alone(["omd", "--config", "run/config.ini", "--tuning", "off", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(norms_of(again), [])
        for key in ("mu", "client_mu", "mu_per_release", "norms"):
            self.assertEqual(again.summary()["privacy"][key], first["privacy"][key])
        rows = [json.loads(line) for line in (self.folder / "again/private/0/ledger").read_text().splitlines()]
        self.assertFalse([row for row in rows if row.get("run", "").endswith(":norms")])

    def test_a_configuration_holds_at_its_price_alone(self):
        """At another one the run would count the release at what it would have cost, and not at what it has."""
        self.good(1, [*self.mu, "--output", "run"])
        self.assertEqual(self.config("run")["histogram-price"], "mu:norms=0.03,unit=record")
        for words in (["--mu", 0.1], ["--mu", 0.3, "--epochs", 2], ["--mu", 0.3, "--scale-share", 0]):
            result = self.run_alone(["omd", "--config", "run/config.ini", *words, "--output", "again"], as_they_are=True)
            self.assertEqual(result.code, 2, result)
            self.assertRegex(result.messages()[0], "--histogram-price .*have cost")
            self.assertFalse((self.folder / "again").exists())
        tuned = self.run_alone(["omd", "--config", "run/config.ini", "--tuning", "auto", "--output", "again"], as_they_are=True)
        self.assertEqual(tuned.code, 2, tuned)
        self.assertRegex(tuned.messages()[0], "--histogram-price without --tuning off")

    def test_a_resumed_run_does_not_release_again(self):
        words = [*self.words, "--mechanism", "gaussian", "--mu", 0.3,
                 "--batch", 15, "--epochs", 2, "--noise-correlation", "none", "--checkpoint-every", 100, "--progress", "off"]
        self.good(2, [*words, "--noise-key", "seed", "--output", "whole"])
        with interrupted("checkpoint:0"):
            self.run_ranks(2, [*words, "--noise-key", "seed", "--output", "run"])
        self.assertTrue(checkpoints_in(self.folder / "run/private/1"))
        result = self.run_ranks(2, ["--resume", "run"])
        self.assertEqual((result.code, norms_of(result)), (0, []), result)
        whole, resumed = [self.summary_in(name) for name in ("whole", "run")]
        for key in ("mu", "client_mu", "norms", "one_per_batch_epsilon"):
            self.assertEqual(whole["privacy"][key], resumed["privacy"][key], key)
        self.assertEqual(whole["final_model"], resumed["final_model"])
        rows = [json.loads(line) for line in (self.folder / "run/private/0/ledger").read_text().splitlines()]
        self.assertEqual(sum(row["kind"] == "open" and row["run"].endswith(":norms") for row in rows), 1)

    def test_a_run_that_is_killed_before_them_begins_and_pays_once(self):
        """The budget allows no second charge. All that the rule was to choose is chosen."""
        for command in ("omd", "fedavg"):
            ledger, run = command + "-ledger", command + "-run"
            with interrupted(f"after write /{ledger}:0"):
                self.run_command(1, [command, "--source", "data.csv", "--clients", CLIENTS, "--mechanism", "gaussian", "--total-epsilon", 1,
                                     "--budget", 1, "--budget-unit", "record", "--ledger", ledger, "--tuning", "auto", "--output", run,
                                     "--save-partition", command + ".csv"])
            self.assertTrue((self.folder / f"{command}.csv").exists())
            self.assertNotIn("open", (self.folder / ledger).read_text())
            again = self.run_command(1, [command, "--resume", run])
            self.assertEqual((again.code, len(norms_of(again))), (0, 1), again)
            self.assertIn("tuning: epochs ", again.err)
            self.assertAlmostEqual(self.ledger(ledger)["losses"][0]["record"]["epsilon"], 1, delta=1e-5)

    def test_a_run_that_is_killed_after_them_does_not_begin_again(self):
        words = [*self.mu, "--ledger", "ledger", "--output", "run"]
        with interrupted("after write /ledger:3"):
            self.run_ranks(1, words)
        self.assertIn('"kind":"open"', (self.folder / "ledger").read_text())
        again = self.run_ranks(1, ["--resume", "run"])
        self.assertEqual(again.code, 2, again)
        self.assertIn("has no run to resume", again.err)
        self.assertIn("the same command with --config run/config.ini --output OTHER", again.err)
        self.assertEqual(len(norms_of(self.good(1, ["--config", "run/config.ini", "--output", "other"]))), 1)

    def test_a_run_that_is_killed_once_it_is_tuned_begins_elsewhere_without_another_release(self):
        words = [*self.mu, "--ledger", "ledger", "--output", "run"]
        with interrupted("before rename /run-id:0"):
            self.run_ranks(1, words)
        again = self.run_ranks(1, ["--resume", "run"])
        self.assertEqual(again.code, 2, again)
        self.assertIn("the same command with --config run/config.ini --output OTHER. It does not release again what stands there", again.err)
        self.good(1, ["--config", "run/config.ini", "--output", "other"])
        rows = [json.loads(line) for line in (self.folder / "ledger").read_text().splitlines()]
        self.assertEqual(sum(row["kind"] == "open" and row["run"].endswith(":norms") for row in rows), 1)
        self.assertEqual(self.config("other")["norm"], self.config("run")["norm"])

    def test_a_release_that_is_taken_up_is_charged_to_all(self):
        """A power loss between two rows of the last client's ledger: it has the release, and not its charge."""
        words = [*self.mu, *self.keys(), "--ledger", "ledger-{client}"]
        self.good(1, [*words, "--output", "whole"])
        whole = [self.ledger(f"ledger-{u}")["losses"][0]["record"]["mu"] for u in (0, CLIENTS - 1)]
        for u in range(CLIENTS):
            for name in (f"ledger-{u}", f"ledger-{u}.head"):
                (self.folder / name).unlink()
        with interrupted(f"after rename ledger-{CLIENTS - 1}.head:2"):
            self.run_ranks(1, [*words, "--output", "killed"])
        kinds = [[json.loads(line)["kind"] for line in (self.folder / f"ledger-{u}").read_text().splitlines()] for u in (0, CLIENTS - 1)]
        self.assertEqual(kinds, [["ledger", "open", "reserve"], ["ledger", "open"]])
        self.good(1, [*words, "--output", "again"])
        self.assertEqual([self.ledger(f"ledger-{u}")["losses"][0]["record"]["mu"] for u in (0, CLIENTS - 1)], whole)

    def test_a_budget_counts_it_and_may_forbid_it(self):
        enough = self.good(1, [*self.mu, "--budget", 1.5, "--budget-unit", "record", "--ledger", "one", "--output", "run-1"])
        self.assertEqual(len(norms_of(enough)), 1)
        self.assertRegex(enough.err, "--budget 1.5 for a record: releases in the ledger, with those of this run so far, have spent "
                                     "epsilon = 0.[0-9]+, so that the rest of the run may come to")
        # Two such runs come to mu = 0.42, epsilon = 1.66: under a budget of 1.64 there is no round that norms would be for.
        words = [*self.mu, "--budget-unit", "record", "--ledger", "one"]
        refused = self.run_ranks(1, [*words, "--budget", 1.64, "--output", "run-2"])
        self.assertEqual((refused.code, norms_of(refused)), (4, []), refused)
        self.assertAlmostEqual(self.ledger("one")["losses"][0]["record"]["mu"], 0.3, delta=1e-4)
        self.good(1, [*words, "--budget", 1.67, "--output", "run-3"])
        self.assertLessEqual(self.ledger("one")["losses"][0]["record"]["epsilon"], 1.67)
        for_clients = self.good(1, [*self.mu, "--budget", 5, "--ledger", "two", "--output", "run-4", "--batch", 1,
                                    "--noise-correlation", "none"])
        self.assertEqual(norms_of(for_clients), [])
        self.assertIn("the --budget does not allow it", for_clients.err)
        config = self.config("run-4")
        self.assertEqual(config["scale-share"], "0")
        self.assertNotIn("norm", config)

    def test_nothing_is_released_where_nothing_depends_on_it(self):
        for name, words in {"said": ["--norm", 3], "none": ["--scale-share", 0], "settled": ["--clip", 1, "--step", 0.1],
                            "off": ["--tuning", "off"]}.items():
            result = self.good(1, [*self.mu, *words, "--output", name])
            self.assertEqual(norms_of(result), [], name)
            summary = self.summary_in(name)
            self.assertIsNone(summary["privacy"]["norms"])
            self.assertEqual(summary["privacy"]["mu_per_release"], 0.3)
        stream = ["--source", "synthetic:logistic:p=3", "--loss", "logistic", "--clients", 2, "--rounds", 50]
        result = self.good(1, [*stream, "--tuning", "auto", "--mechanism", "gaussian", "--mu", 0.3, "--output", "stream"])
        self.assertEqual(norms_of(result), [])

    def test_too_few_records_stand_out_of_no_noise(self):
        self.write("data.csv", "\n".join(["a,b,c,y", *csv_rows(80)]) + "\n")
        result = self.good(1, [*self.mu, "--output", "run"])
        self.assertIn("tuning: norm unknown", result.err)
        config = self.config("run")
        self.assertEqual((config["scale-share"], config["clip"], config.get("norm")), ("0.01", "1.5", None))
        summary = self.summary_in("run")
        self.assertAlmostEqual(summary["privacy"]["mu"], 0.3, delta=1e-12)

    def test_nothing_is_released_for_a_run_that_cannot_begin(self):
        for words in (["--start", "nofile"], ["--test", "nofile"]):
            result = self.run_ranks(1, [*self.mu, *words, "--output", "run"])
            self.assertEqual((result.code, norms_of(result)), (2, []), result)
            self.assertFalse((self.folder / "run").exists())

    def test_a_run_that_no_budget_allows_leaves_nothing(self):
        refused = self.run_ranks(2, [*self.mu, "--budget", 0.01, "--output", "run"])
        self.assertEqual((refused.code, norms_of(refused)), (4, []), refused)
        self.assertFalse((self.folder / "run").exists())
        self.good(2, [*self.mu, "--output", "run"])

    def test_usage(self):
        for words, text in ((["--mechanism", "none", "--scale-share", 0.1], "--scale-share without --mechanism laplace or gaussian: norms are exact"),
                            (["--mechanism", "none", "--tuning", "off", "--histogram-price", "mu:norms=1"], "--histogram-price without --mechanism laplace or"),
                            (["--scale-share", 0.6], "scale-share"), (["--scale-share", -1], "scale-share"),
                            (["--tuning", "off", "--scale-share", 0.01, "--mechanism", "gaussian", "--unit", "component"], "records"),
                            (["--tuning", "off", "--scale-share", 0.01, "--mu", "schedule:from=0.1,to=0.2"], "scale-share"),
                            (["--tuning", "off", "--scale-share", 0.01], "without --histogram-price")):
            result = self.run_ranks(1, [*self.mu, *words, "--output", "run"])
            self.assertEqual(result.code, 2, result)
            self.assertRegex(result.messages()[0], text)


if __name__ == "__main__":
    unittest.main()
