"""--trust pairs before the first round: noise that clients share in histograms, of which only the sum is used."""

import hashlib
import math
import random
import unittest

from histogram_case import *
from test_pairs import exposure

SIZES = (300, 150, 0, 100, 50)
RATIO = 5


def chosen(result):
    return [line for line in result.err.splitlines() if line.startswith("tuning: ")]


class PairsBeforeRounds(HistogramCase):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        lines = ["age,income,score,flow,flag,y"]
        for _ in range(sum(SIZES)):
            z = draw.gauss(0, 1)
            label = int(z + draw.gauss(0, 0.5) > 0)
            lines.append(f"{50 + 12 * draw.gauss(0, 1):.0f},{3e4 * 2.7 ** draw.gauss(0, 0.5):.0f},{0.01 * draw.gauss(0, 1) + 0.02 * z:.4f},"
                         f"{1e-3 * 2.7 ** draw.gauss(0, 1.5):.6f},{int(draw.random() < 0.3)},{label}")
        self.write("data.csv", "\n".join(lines) + "\n")
        owners = [client for client, size in enumerate(SIZES) for _ in range(size)]
        self.write("deal.csv", "record,client\n" + "".join(f"{i},{u}\n" for i, u in enumerate(owners)))
        self.write_key("key-4", hashlib.sha256(b"key 4").hexdigest())
        self.words = ["--source", "data.csv", "--clients", len(SIZES), "--partition", "file:deal.csv", "--mechanism", "gaussian", "--delta", 1e-5,
                      "--tuning", "auto", "--progress", "off"]
        self.seeded = [*self.words, "--total-epsilon", 1, "--trust", "pairs", "--noise-key", "seed"]

    def rows(self, path):
        return [json.loads(line) for line in (self.folder / path).read_text().splitlines()]

    def releases(self, path):
        """By the end of the run's id in a ledger: what is said of it, and the mu of a record."""
        rows = self.rows(path)
        kinds = {row["run"]: row["run"].rpartition(":")[2] for row in rows if row["kind"] == "open" and ":" in row["run"]}
        said = {kinds[row["run"]]: row["parameters"] for row in rows if row["kind"] == "open" and row["run"] in kinds}
        paid = {kinds[row["run"]]: row for row in rows if row["kind"] == "reserve" and row["run"] in kinds}
        return {kind: (dict(word.split("=", 1) for word in text.split() if "=" in word), paid[kind]) for kind, text in said.items()}

    def kept(self, output):
        return sum(each != "drop" and not each.startswith("label=") for each in self.config(output)["standardise"][len("values:"):].split(","))

    def run_of(self, trust, epsilon, seed):
        output = f"{trust}-{epsilon}-{seed}"
        self.good(1, [*self.words, "--total-epsilon", epsilon, "--trust", trust, "--noise-key", "seed", "--seed", seed, "--output", output])
        return output

    def test_more_features_are_found_for_a_smaller_share(self):
        """One client has no records: if its pairs did not cancel, noise would be ten times as large, and nothing found."""
        kept = {trust: [self.kept(self.run_of(trust, 0.2, seed)) for seed in (1, 2, 3)] for trust in ("local", "pairs")}
        self.assertEqual(kept["local"], [0, 0, 0])  # nothing is released: the noise would hide all
        self.assertGreaterEqual(sum(kept["pairs"]), 5)  # about 8
        shares = [float(self.config(self.run_of(trust, 0.7, 1))["feature-share"]) for trust in ("local", "pairs")]
        self.assertLess(shares[1], 0.6 * shares[0])

    def test_its_price_is_that_of_the_exposure_and_is_counted(self):
        privacy = self.summary_of(1, self.seeded, "run")["privacy"]
        pairs = [(u, v) for u in range(5) for v in range(u + 1, 5)]
        before = exposure(5, pairs, RATIO, 1)
        rounding = 5 * 4 * 4 + len(pairs) / RATIO**2
        releases = self.releases("run/private/0/ledger")
        self.assertIn("features", releases)
        for kind, (words, row) in releases.items():
            self.assertEqual((words["trust"], words["collusion"], float(words["ratio"]), int(words["pairs"])), ("pairs", "1", RATIO, len(pairs)))
            self.assertAlmostEqual(float(words["exposure"]), before, delta=1e-9)
            of_column = (math.sqrt(2 * before) + math.sqrt(2 * rounding) / 2**21) / float(words["price"].split("..")[0])
            columns = (float(words["own-deviation"]) / of_column) ** 2
            if kind.startswith("within"):  # those that may fill little of their ranges
                self.assertIn(round(columns), range(1, 6))
                self.assertAlmostEqual(columns, round(columns), delta=1e-5)
            else:  # five features and the classes, whose histogram has a weight of 1
                self.assertAlmostEqual(columns, {"norms": 1, "features": 6}[kind], delta=1e-5)
            self.assertNotEqual(row["client"], 2)
        of_histograms = sum(privacy[kind]["mu"]**2 for kind in ("features", "norms") if privacy[kind])
        of_rounds = privacy["mu"]**2 - of_histograms
        rounds = privacy["pairs"]["exposure"]
        self.assertAlmostEqual(privacy["pairs"]["all_others"]["mu"], math.sqrt(of_histograms / before + of_rounds / rounds), delta=1e-6)
        nobody = [exposure(5, pairs, ratio, 0) for ratio in (RATIO, privacy["pairs"]["ratio"])]
        self.assertAlmostEqual(privacy["pairs"]["outsiders"]["mu"],
                               math.sqrt(of_histograms * nobody[0] / before + of_rounds * nobody[1] / rounds), delta=1e-6)
        statement = (self.folder / "run/privacy.txt").read_text()
        self.assertIn("with noise of its own and of its pairs", " ".join(statement.split()))
        self.assertTrue((self.folder / "run/private/0/pair-keys-of-features").read_text().startswith("# public keys of the pairs"))

    def test_noise_of_the_sum_is_that_of_the_clients_own(self):
        """All values are the middles of their ranges: released means are noise alone. Client 2 has no records."""
        width, count = 400, sum(SIZES)
        self.write("data.csv", ",".join([*(f"x{j}" for j in range(width)), "y"]) + "\n" + "".join("0," * width + f"{i % 2}\n" for i in range(count)))
        self.write("ranges.csv", "feature,low,high\n" + "".join(f"x{j},-1,1\n" for j in range(width)))
        for ranks in (1, 4):
            self.good(ranks, [*self.seeded, "--ranges", "ranges.csv", "--output", f"run-{ranks}"])
        self.assertEqual(*(self.config(f"run-{ranks}")["standardise"] for ranks in (1, 4)))
        means = [float(each.split("/")[0]) for each in self.config("run-1")["standardise"][len("values:"):].split(",")]
        words, _ = self.releases("run-1/private/0/ledger")["features"]
        moved = 0.6 * math.sqrt(width) * math.sqrt(4 + 1 / 4)  # by features and by one class of two
        noise = moved * math.sqrt(len(SIZES)) * float(words["own-deviation"]) / count
        kept = (1 / 9) / (1 / 9 + noise**2)  # towards the middle, by what the noise says
        found = math.sqrt(sum(x * x for x in means) / width)
        self.assertLess(abs(found / (kept * noise) - 1), 4 / math.sqrt(2 * width), (found, kept * noise))

    def test_a_client_without_records_is_no_unequal_one(self):
        """It releases zeros, for which it is credited steps."""
        summary = self.summary_of(2, self.seeded, "run")
        self.assertEqual(summary["effective_weight"], [1, 1, None, 1, 1])
        self.assertEqual([note for note in summary["notes"] if "unequally" in note], [])

    def test_the_same_bits_on_all_layouts(self):
        self.check_layouts(self.seeded[:-2], "standardise", (1, 2, 4, 5))

    def test_a_seed_repeats_a_run_wherever_its_records_are(self):
        """With secret keys pairs draw new noise."""
        (self.folder / "copy").mkdir()
        self.write("copy/data.csv", (self.folder / "data.csv").read_text())
        found = {}
        for keys in ("seed", "files"):
            words = [*self.seeded[:-2], *(["--noise-key", "seed"] if keys == "seed" else self.keys())]
            for source in ("data.csv", "copy/data.csv"):
                output = f"{keys}-{source.count('/')}"
                summary = self.summary_of(1, [*words, "--source", source], output)
                found[output] = bits(summary["final_model"]), self.config(output)["standardise"]
        self.assertEqual(found["seed-0"], found["seed-1"])
        self.assertNotEqual(found["files-0"][1], found["files-1"][1])

    def test_a_release_is_taken_up_after_a_kill(self):
        words = [*self.words, "--total-epsilon", 1, "--trust", "pairs", *self.keys(), "--ledger", "ledger-{client}"]
        with interrupted("checkpoint:0"):
            self.run_ranks(2, [*words, "--output", "killed"])
        self.good(1, [*words, "--output", "again"])
        self.good(2, [*words, "--output", "last"])
        for option in ("standardise", "start"):
            self.assertEqual(*(self.config(output)[option] for output in ("again", "last")))
        opened = [row["run"].rpartition(":")[2] for row in self.rows("ledger-0") if row["kind"] == "open" and ":" in row["run"]]
        self.assertEqual(sorted(opened), sorted(set(opened)))  # each was released once
        self.assertIn("features", opened)

    def test_a_configuration_counts_it_for_the_same_pairs_alone(self):
        first = self.summary_of(1, self.seeded, "run")
        again = ["omd", "--config", "run/config.ini", "--output", "again", "--json"]
        for more in (["--trust", "local"], ["--collusion", 2]):
            with self.subTest(more):
                refused = self.run_alone([*again, *more], as_they_are=True)
                self.assertEqual(refused.code, 2, refused)
                self.assertRegex(refused.messages()[0], "--histogram-price .*have cost")
        same = self.run_alone(again, as_they_are=True).summary()
        self.assertEqual((same["final_model"], same["privacy"]["mu"]), (first["final_model"], first["privacy"]["mu"]))
        self.assertEqual(same["privacy"]["pairs"]["all_others"], first["privacy"]["pairs"]["all_others"])

    def test_every_command_shares_it(self):
        self.write("deal.csv", "record,client\n" + "".join(f"{i},{i % 5}\n" for i in range(sum(SIZES))))
        words = [*self.seeded, "--total-epsilon", 6]
        for command, more in (("fedavg", []), ("infer", ["--loss", "logistic", "--estimator", "newton"]),
                              ("renewable", ["--variant", "private", "--loss", "logistic"])):
            with self.subTest(command):
                self.succeeded(self.run_command(2, [command, *last_given([*words, *more]), "--output", command]))
                words_of, _ = self.releases(f"{command}/private/0/ledger")["features"]
                self.assertEqual(words_of["trust"], "pairs")


if __name__ == "__main__":
    unittest.main()
