"""The unit person: a person's records are clipped together, and protected together, on any number of ranks alike."""

import csv
import json
import unittest

from harness import *

UNUSABLE, UNREADABLE = 2, 3
QUIET = ["--progress", "off", "--noise-key", "seed"]


class PersonCase(TestCase):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(3)

    def table(self, name, persons, x, y):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([["who", *[f"x{j}" for j in range(x.shape[1])], "y"],
                                        *[[who, *row, label] for who, row, label in zip(persons, x.tolist(), y)]])
        return name

    def hospital(self, name="hospital.csv", rows=240, people=70):
        persons = self.random.integers(0, people, rows)
        x = self.random.normal(0, 1, (rows, 3))
        return self.table(name, [f"p{who}" for who in persons], x, numpy.sign(x[:, 0] + self.random.normal(0, 0.5, rows))), persons, x

    def summary(self, command, words, output, ranks=1):
        result = self.run_command(ranks, [command, *QUIET, *words, "--output", output, "--json"])
        self.assertEqual(result.code, 0, result)
        return result.summary()


@needs_h5py
class Persons(PersonCase):
    UNIT = ["--unit", "person", "--person", "who"]

    def test_a_step_is_made_of_clipped_means(self):
        persons = ["a", "b", "a", "c", "a", "b"]
        x = self.random.normal(0, 1, (6, 2))
        y = [1, -1, 1, 1, -1, 1]
        self.table("few.csv", persons, x, y)
        summary = self.summary("omd", ["--source", "few.csv", *self.UNIT, "--clients", "1", "--mechanism", "none", "--batch", "3", "--step",
                                       "1", "--step-power", "0"], "run")
        self.assertEqual(summary["rounds"], 1)
        gradients = numpy.array([-label / 2 * row for row, label in zip(x, y)])
        means = [gradients[[i for i, who in enumerate(persons) if who == person]].mean(axis=0) for person in "abc"]
        numpy.testing.assert_allclose(summary["final_model"], -numpy.mean(means, axis=0), rtol=1e-12)
        sums = self.summary("omd", ["--source", "few.csv", *self.UNIT, "--person-gradient", "sum", "--clients", "1", "--mechanism", "none",
                                    "--batch", "3", "--step", "1", "--step-power", "0"], "sums")
        numpy.testing.assert_allclose(sums["final_model"], -gradients.sum(axis=0) / 3, rtol=1e-12)

    def test_one_record_each_has_the_bits_of_records(self):
        x = self.random.normal(0, 1, (60, 3))
        self.table("one.csv", range(60), x, numpy.sign(x[:, 0]))
        words = ["--source", "one.csv", "--clients", "3", "--topology", str(SOURCE / "topologies" / "unbalanced-5.topo"), "--clients", "5",
                 "--mechanism", "gaussian", "--epsilon", "1", "--batch", "4"]
        by_record = self.summary("omd", [*words, "--id", "who"], "records")
        by_person = self.summary("omd", [*words, *self.UNIT], "persons")
        self.assertEqual(by_record["final_model"], by_person["final_model"])
        self.assertEqual(by_person["privacy"]["unit"], "person")
        self.assertEqual(by_record["privacy"]["epsilon"], by_person["privacy"]["epsilon"])

    def test_equal_bits_on_any_number_of_ranks_and_with_little_memory(self):
        source, _, _ = self.hospital()
        words = ["--source", source, *self.UNIT, "--partition", "iid", "--clients", "5", "--topology",
                 str(SOURCE / "topologies" / "unbalanced-5.topo"), "--mechanism", "laplace", "--epsilon", "1", "--batch", "2"]
        found = {ranks: self.summary("omd", words, f"run-{ranks}", ranks)["final_model"] for ranks in LAYOUTS}
        self.assertEqual(len({tuple(model) for model in found.values()}), 1)
        self.assertEqual(self.summary("omd", [*words, "--memory", "100"], "small")["final_model"], found[1])

    def test_persons_are_counted_and_charged(self):
        source, persons, _ = self.hospital()
        summary = self.summary("omd", ["--source", source, *self.UNIT, "--clients", "1", "--mechanism", "gaussian", "--epsilon", "1",
                                       "--epochs", "4", "--batch", "5", "--ledger", "ledger", "--noise-key", "random"], "run")
        people = len(set(persons))
        self.assertEqual(summary["rounds"], 4 * -(-people // 5))
        privacy = summary["privacy"]
        self.assertEqual([privacy["unit"], privacy["participations"]], ["person", 4])
        self.assertEqual(privacy["epsilon"], privacy["record_epsilon"])
        self.assertIn("one person of one client", privacy["statement"])
        self.assertAlmostEqual(privacy["ledger"]["person_epsilon"], privacy["epsilon"])
        shown = self.run_alone(["privacy", "ledger", "ledger", "--json"])
        losses = json.loads(shown.out)["losses"][0]
        self.assertAlmostEqual(losses["person"]["epsilon"], privacy["epsilon"])
        # A run of unit record charges a person as much as the whole client.
        more = self.summary("omd", ["--source", source, "--id", "who", "--clients", "1", "--mechanism", "gaussian", "--epsilon", "1",
                                    "--batch", "5", "--ledger", "ledger", "--noise-key", "random"], "more")
        losses = json.loads(self.run_alone(["privacy", "ledger", "ledger", "--json"]).out)["losses"][0]
        self.assertGreater(losses["person"]["epsilon"], privacy["epsilon"] + more["privacy"]["epsilon"])
        self.assertLessEqual(losses["person"]["epsilon"], losses["client_total"]["epsilon"])

    def test_a_person_with_many_records_moves_a_release_no_more_than_one_with_one(self):
        x = self.random.normal(0, 5, (30, 2))
        y = numpy.sign(x[:, 0])
        one = [f"p{i}" for i in range(30)]
        self.table("one.csv", one, x, y)
        # The last person has 13 records of its own in place of one.
        extra = self.random.normal(0, 50, (13, 2))
        self.table("many.csv", one[:-1] + ["p29"] * 13, numpy.vstack([x[:-1], extra]), [*y[:-1], *-numpy.sign(extra[:, 0])])
        models = {}
        for name in ("one", "many"):
            models[name] = numpy.array(self.summary("omd", ["--source", f"{name}.csv", *self.UNIT, "--clients", "1", "--mechanism", "gaussian",
                                                            "--epsilon", "1", "--clip", "0.5", "--batch", "30", "--step", "1", "--step-power",
                                                            "0"], name)["final_model"])
        moved = numpy.linalg.norm(models["one"] - models["many"])  # the noise is the same, of a public seed
        self.assertGreater(moved, 0)
        self.assertLessEqual(moved, 2 * 0.5 / 30 * (1 + 1e-9))

    def test_tuned_and_audited(self):
        source, persons, _ = self.hospital(rows=3000, people=900)
        summary = self.summary("omd", ["--source", source, *self.UNIT, "--tuning", "auto", "--clients", "1", "--mechanism", "gaussian",
                                       "--total-epsilon", "2", "--noise-key", "random"], "tuned")
        self.assertLessEqual(summary["privacy"]["epsilon"], 2)
        self.assertGreater(summary["privacy"]["epsilon"], 2 * (1 - 1e-6))
        audited = self.summary("omd", ["--source", source, *self.UNIT, "--clients", "1", "--mechanism", "gaussian", "--epsilon", "1",
                                       "--batch", "3", "--audit"], "audited")
        self.assertEqual(audited["privacy"]["audit"]["verdict"], "not refuted")
        self.assertIn("first person of each batch", audited["privacy"]["statement"])

    def test_federated_averaging_and_networks(self):
        source, persons, _ = self.hospital()
        for words in (["--local-steps", "3"], ["--model", "mlp:3-4-1"]):
            found = [self.summary("fedavg", ["--source", source, *self.UNIT, "--clients", "3", "--batch", "4", "--mechanism", "gaussian",
                                             "--epsilon", "2", *words], f"{words[1]}-{ranks}", ranks) for ranks in (1, 2)]
            self.assertEqual(found[0]["final_model"], found[1]["final_model"])
            self.assertEqual(found[0]["privacy"]["unit"], "person")

    def test_the_test_set_needs_no_persons(self):
        source, _, x = self.hospital()
        with open(self.folder / "test.csv", "w", newline="") as file:
            csv.writer(file).writerows([["x0", "x1", "x2", "y"], *[[*row, 1] for row in x.tolist()]])
        summary = self.summary("omd", ["--source", source, *self.UNIT, "--clients", "1", "--mechanism", "none", "--test", "test.csv"], "run")
        self.assertIsNotNone(summary["accuracy"])


class Faults(PersonCase):
    @needs_h5py
    def test_faults_are_named(self):
        source, _, _ = self.hospital()
        for code, words, *patterns in [
            (UNUSABLE, ["omd", "--source", source, "--unit", "person"], "Name the column of persons by --person"),
            (UNUSABLE, ["omd", "--source", source, "--person", "who"], "--person without --unit person"),
            (UNUSABLE, ["omd", "--source", source, "--unit", "person", "--person", "whom"], "no column 'whom'", "--person"),
            (UNUSABLE, ["omd", "--source", source, "--unit", "person", "--person", "y", "--label", "y"], "--label and by --person"),
            (UNUSABLE, ["omd", "--source", source, "--unit", "person", "--person", "who", "--id", "who"], "--id and by --person"),
            (UNUSABLE, ["omd", "--source", "synthetic:drift", "--rounds", "9", "--unit", "person", "--person", "who"], "generator"),
            (UNUSABLE, ["omd", "--source", source, "--unit", "person", "--person", "who", "--regret", "static"], "regret"),
            (UNUSABLE, ["omd", "--source", source, "--unit", "person", "--person", "who", "--mechanism", "dissertation"], "dissertation"),
            (UNUSABLE, ["infer", "--source", source, "--unit", "person"], "--unit person"),
            (UNUSABLE, ["renewable", "--source", source, "--unit", "person", "--loss", "logistic"], "--unit person"),
        ]:
            with self.subTest(words=words):
                more = [] if "--mechanism" in words else ["--mechanism", "gaussian"]
                result = self.run_command(1, [*words, *more, "--clients", "1", "--progress", "off", "--output", "refused"])
                self.assertEqual(result.code, code, result)
                for pattern in patterns:
                    self.assertRegex(result.messages()[0], pattern)
                self.assertFalse((self.folder / "refused").exists())

    @needs_h5py
    def test_pipes_cannot_be_grouped(self):
        os.mkfifo(self.folder / "pipe.csv")
        result = self.run_command(1, ["omd", "--source", "pipe.csv", "--rounds", "3", "--unit", "person", "--person", "who", "--clients",
                                      "1", "--mechanism", "gaussian", "--progress", "off", "--output", "refused"])
        self.assertEqual(result.code, UNUSABLE, result)
        self.assertRegex(result.messages()[0], "pipe")


if __name__ == "__main__":
    unittest.main()
