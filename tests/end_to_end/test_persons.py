"""`--unit person`: what a person's records are to `starling omd`."""

import math
import re
import unittest

from person_case import *

PAGE = SOURCE / "docs" / "how-to" / "keep-a-patients-records-together.md"
ONE = ["omd", "--source", "data.csv", "--loss", "logistic"]


class Persons(PersonCase):
    def summary(self, lines, words, ranks=1, output="run"):
        self.write("data.csv", "\n".join(lines) + "\n")
        return self.finished([*words, "--noise-key", "seed", "--output", output, "--json-models", "--progress", "off"], ranks)

    def test_one_record_each_is_unit_record(self):
        lines = [f"{row}" for row in persons(size=1)]
        for more in ([], ["--model", "mlp:3-4-1"], ["--model", "location", "--loss", "squared"]):
            words = [*ONE, *GAUSSIAN, "--batch", 4, "--clients", 2, *more]
            by_person = self.summary(lines, [*words, *PERSON], output=f"person{len(more)}")
            by_record = self.summary(lines, [*words, "--drop", "who"], output=f"record{len(more)}")
            self.assertEqual(bits(by_person["models"]), bits(by_record["models"]))
            self.check_same_price(by_person, by_record, "record_epsilon", "client_epsilon", "one_per_batch_epsilon")

    def test_federated_averaging(self):
        words = ["fedavg", "--source", "data.csv", "--loss", "logistic", *GAUSSIAN, "--batch", 2, "--clients", 2, "--local-steps", 2]
        by_person = self.summary(persons(), [*words, *PERSON], output="person")
        by_record = self.summary(persons(), [*words, "--drop", "who"], output="record")
        self.assertEqual(bits(by_person["models"]), bits(by_record["models"]))
        several = self.summary(persons(size=4), [*words, *PERSON], output="several")
        self.assertEqual(several["privacy"]["releases"], self.places / 4)
        self.assertEqual(several["privacy"]["epsilon"], by_person["privacy"]["epsilon"])

    @fewer
    def test_layouts(self):
        words = [*ONE, *GAUSSIAN, *PERSON, "--batch", 2, "--epochs", 2, "--partition", "iid"]
        runs = [self.summary(persons(size=9), [*words, *(["--clients", 7] if ranks < 7 else [])], ranks, f"on-{ranks}") for ranks in layouts()]
        for run in runs[1:]:
            self.assertEqual(bits(run["models"]), bits(runs[0]["models"]))
        self.assertEqual(runs[0]["rounds"], 2)

    def test_summary_ledger_and_statement(self):
        self.write("data.csv", "\n".join(persons(size=3)) + "\n")
        words = [*ONE, *GAUSSIAN, *PERSON, "--batch", 3, "--json", "--ledger", "ledger"]
        summary = self.finished([*words, "--output", "first"])
        privacy = summary["privacy"]
        self.assertEqual(summary["rounds"], 4)
        self.assertEqual(privacy["unit"], "person")
        self.assertEqual(privacy["record_epsilon"], privacy["epsilon"])
        self.assertEqual(privacy["ledger"]["person_epsilon"], privacy["epsilon"])
        for part in ("one person of one client", "at most 3 person(s)", "at several clients", "Each person's gradient"):
            self.assertIn(part, privacy["statement"])
        self.assertIn('"unit":"person"', (self.folder / "ledger").read_text())
        # A run that counts records may have used all of the client's for one person.
        again = self.finished([*ONE, *GAUSSIAN, "--drop", "who", "--batch", 3, "--json", "--ledger", "ledger", "--output", "second"])
        last = self.finished([*words, "--output", "third"])["privacy"]["ledger"]
        self.assertGreater(last["person_epsilon"], again["privacy"]["ledger"]["record_epsilon"])
        self.succeeded(self.run_alone(["privacy", "ledger", "ledger"]))

    def test_text_speaks_of_persons(self):
        """What is dealt, averaged and weighed is called one thing, from the rule's reasons to the statement."""
        self.write("data.csv", "\n".join(persons(size=3)) + "\n")
        cases = {"tuned": [*ONE, *GAUSSIAN, "--tuning", "auto", "--clients", 2], "laplace": [*ONE, *LAPLACE, "--batch", 3],
                 "correlated": [*ONE, *GAUSSIAN, "--batch", 2, "--noise-correlation", "blt:2"],
                 "independent": [*ONE, *GAUSSIAN, "--batch", 2, "--noise-correlation", "none"],
                 "fedavg": ["fedavg", *ONE[1:], *GAUSSIAN, "--batch", 2, "--client-weights", "equal"]}
        for name, words in cases.items():
            with self.subTest(name):
                done = self.run_alone([*words, *PERSON, "--output", name])
                self.assertEqual(done.code, 0, done)
                text = done.out + done.err + (self.folder / name / "privacy.txt").read_text()
                text = re.sub(r"\s+", " ", text)
                for wrong in ("record(s)", "records of the client", "typical record", "every record counts", "number of records:",
                              "has a record in every batch"):
                    self.assertNotIn(wrong, text)
                self.assertIn("the mean over", text)
                self.assertRegex(text, r"persons count as if one client had all of them|whatever its number of persons")

    def test_shared_persons(self):
        """A patient of several hospitals loses at each; the statement says how much in all."""
        for client in range(4):
            self.write(f"site-{client}.csv", "\n".join(persons(size=2)) + "\n")
        words = ["--source", "site-{client}.csv", "--loss", "logistic", "--clients", 4, "--batch", 3, *PERSON, "--persons-shared", "--json"]
        for command, price, of_all in (("omd", GAUSSIAN, lambda one: 2 * one["mu"]), ("fedavg", [*LAPLACE, "--delta", 0], lambda one: 4 * one["epsilon"])):
            privacy = self.finished([command, *words, *price, "--output", command])["privacy"]
            self.assertIn("at all 4 clients", privacy["statement"])
            self.assertIn("at all 4 together", privacy["in_short"][1])
            if command == "fedavg":
                self.assertEqual(privacy["all_clients_epsilon"], of_all(privacy))
            else:  # as much as one client's releases at twice the price
                twice = self.finished(["omd", *words[:-2], "--json", "--mechanism", "gaussian", "--mu", of_all(privacy), "--output", "twice"])["privacy"]
                self.assertAlmostEqual(privacy["all_clients_epsilon"], twice["epsilon"], places=6)
                self.assertNotIn("all_clients_epsilon", twice)
                self.assertIn("these losses add", twice["statement"])

    def test_audit(self):
        self.write("data.csv", "\n".join(persons(size=5)) + "\n")
        audited = self.succeeded(self.run_command(1, [*ONE, *GAUSSIAN, *PERSON, "--clients", 3, "--epochs", 10, "--audit", "--json"]))
        privacy = audited.summary()["privacy"]
        self.assertEqual(privacy["audit"]["canaries"], self.places * 10)
        self.assertIn("the first person of each batch", privacy["statement"])

    def test_bad_input(self):
        self.write("data.csv", "\n".join(persons()) + "\n")
        self.check_refused((
                ([*ONE, *GAUSSIAN, "--unit", "person"], "--person"),
                ([*ONE, *GAUSSIAN, "--person", "who"], "unit"),
                ([*ONE, *GAUSSIAN, "--person-gradient", "sum"], "unit"),
                ([*ONE, *GAUSSIAN, *PERSON, "--persons-shared"], "one client"),
                ([*ONE, *GAUSSIAN, "--persons-shared"], "unit"),
                ([*ONE, *GAUSSIAN, "--unit", "person", "--person", "nobody"], "no column 'nobody'"),
                ([*ONE, *GAUSSIAN, *PERSON, "--partition", "dirichlet:1"], "labels"),
                ([*ONE, *GAUSSIAN, *PERSON, "--regret", "static", "--metrics", "shared"], "regret"),
                ([*ONE, *GAUSSIAN, *PERSON, "--constraint", "data:column=a,max=1"], "constraint"),
                ([*ONE, "--mechanism", "dissertation", *PERSON], "whole gradients"),
                (["omd", "--source", "synthetic:drift:n=9", *GAUSSIAN, *PERSON], "column of persons"),
                (["renewable", "--source", "data.csv", *GAUSSIAN, "--unit", "person"], "person"),
                (["infer", "--source", "data.csv", *GAUSSIAN, "--unit", "person"], "person")))

    def test_how_many_records_a_person_has_shows_nowhere(self):
        shared = [*ONE, *PERSON, "--clients", 3, "--batch", 2, "--ignore", 7]
        cases = {"linear": [*shared, *LAPLACE], "dealt": [*shared, *GAUSSIAN, "--partition", "iid", "--epochs", 2],
                 "network": [*shared, *GAUSSIAN, "--model", "mlp:3-4-1"], "sum": [*shared, *LAPLACE, "--person-gradient", "sum"],
                 "tuned": [*shared, *GAUSSIAN, "--tuning", "auto"], "column": [*shared, *GAUSSIAN, "--partition", "column:who"],
                 "fedavg": ["fedavg", *shared[1:], *GAUSSIAN]}
        for name, words in cases.items():
            self.check_hidden(name, words, {**self.ANOTHER, **self.IGNORED}, 2 if name == "dealt" else 1)

    def test_thirteen_records_cost_no_more_than_the_price(self):
        """The integers of releases move by at most the sensitivity, and by nearly as much at the extremes of the clip."""
        pair = {"one": ["1e6,0,0,1"], "thirteen": ["1e6,0,0,-1"] * 13}
        for model in ([], ["--model", "mlp:3-4-1"]):
            name = f"moved{len(model)}"
            for side, rows in pair.items():
                seen = self.run_with(f"{name}-{side}", [*ONE, *PERSON, *GAUSSIAN, "--tuning", "off", "--batch", self.places, *model], persons(rows, 3))
                self.assertEqual(seen["exit code"], b"0", seen["stderr"][-2000:])
            losses = []
            for (place, scale, q), (_, _, other) in zip(self.releases(f"{name}-one"), self.releases(f"{name}-thirteen")):
                losses.append(math.sqrt(sum((a - b) ** 2 for a, b in zip(q, other))) / scale)
            self.assertEqual(len(losses), 1)
            self.assertLessEqual(losses[0], 1 + 1e-12)
            self.assertGreater(losses[0], 0.999 if not model else 0.1)

    def test_the_example_of_the_page(self):
        text = PAGE.read_text()
        table = re.search(r"```csv\n(.*?)```", text, re.DOTALL).group(1)
        self.write("visits.csv", table)
        command = re.search(r"```sh\n(?:mpirun -n \d+ )?starling (omd.*?)\n```", text, re.DOTALL).group(1).replace("\\\n", " ").split()
        summary = self.finished([*command, "--json"])
        self.assertEqual(summary["privacy"]["unit"], "person")
        self.assertEqual(summary["privacy"]["releases"], len({line.split(",")[0] for line in table.splitlines()[1:]}))


if __name__ == "__main__":
    unittest.main()
