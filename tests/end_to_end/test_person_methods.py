"""`--unit person` in `starling infer`, `renewable` and `vertical`: a person's part is the mean over the person's records."""

import functools
import math
import unittest

from person_case import *

PLACES = 96  # of persons; intervals for three coefficients take 90 steps
BATCHES = ["--source", "data.csv", "--intercept", "no", "--loss", "logistic"]
SUMS = ["--source", "data.csv", "--variant", "private", "--l2", 0.1, "--batch", 4]
METHODS = {
    "infer": ["infer", "--tuning", "off", *BATCHES],
    "infer-plug-in": ["infer", "--tuning", "off", *BATCHES, "--intervals", "plug-in"],
    "infer-central": ["infer", "--tuning", "off", *BATCHES, "--intervals", "plug-in", "--trust", "central"],
    "infer-bias": ["infer", "--tuning", "off", *BATCHES, "--bias", "remove"],
    "renewable": ["renewable", "--tuning", "off", *SUMS],
    "renewable-curvature": ["renewable", "--tuning", "off", *SUMS, "--curvature-model", "released:0.5"],
    "renewable-central": ["renewable", "--tuning", "off", *SUMS, "--trust", "central", "--curvature-model", "released:0.5"],
    "renewable-masked": ["renewable", "--tuning", "off", *SUMS, "--trust", "masked"],
}


def method(name, clients=1):
    return [*METHODS[name], *GAUSSIAN, "--clients", clients]


# Of all releases of a person together, in multiples of the price of its step.
WHOLE_PRICE = {"infer-plug-in": math.sqrt(3), "infer-central": math.sqrt(3)}


persons = functools.partial(persons, places=PLACES)


class PersonMethods(PersonCase):
    places = PLACES

    def ran(self, words, ranks=1, lines=None, output="run"):
        self.write("data.csv", "\n".join(lines or persons(size=3)) + "\n")
        return self.finished([*words, "--noise-key", "seed", "--output", output, "--json-models", "--progress", "off"], ranks)

    def test_one_record_each_is_unit_record(self):
        for name in METHODS:
            with self.subTest(method=name):
                by_person = self.ran([*method(name), *PERSON], lines=persons(), output=f"{name}-person")
                by_record = self.ran([*method(name), "--drop", "who"], lines=persons(), output=f"{name}-record")
                self.assertEqual(bits(by_person["models"]), bits(by_record["models"]))
                self.assertEqual(by_person.get("intervals"), by_record.get("intervals"))
                self.check_same_price(by_person, by_record, "record_epsilon", "client_epsilon")

    def test_a_person_of_many_records_costs_what_a_record_costs(self):
        for name in METHODS:
            with self.subTest(method=name):
                several = self.ran([*method(name), *PERSON], output=f"{name}-several")
                single = self.ran([*method(name), *PERSON], lines=persons(), output=f"{name}-single")
                self.assertEqual(several["rounds"], single["rounds"])
                self.assertEqual(several["privacy"]["epsilon"], single["privacy"]["epsilon"])
                self.assertNotEqual(bits(several["models"]), bits(single["models"]))
                self.assertTrue(any("persons count alike" in note for note in several["notes"]))

    @fewer
    def test_layouts(self):
        for name in ("infer-plug-in", "renewable-curvature", "renewable-masked"):
            with self.subTest(method=name):
                lines = persons(size=3, places=4 * PLACES)
                runs = [self.ran([*method(name, clients=4), *PERSON], ranks, lines, f"{name}-{ranks}") for ranks in layouts((1, 4, 2))]
                for run in runs[1:]:
                    self.assertEqual(bits(run["models"]), bits(runs[0]["models"]))

    def test_summary_ledger_and_statement(self):
        for name in ("infer-plug-in", "renewable-masked"):
            self.write("data.csv", "\n".join(persons(size=3)) + "\n")
            words = [*method(name), *PERSON, "--json", "--ledger", f"{name}.ledger", "--output", name]
            privacy = self.run_command(1, words).summary()["privacy"]
            self.assertEqual(privacy["unit"], "person")
            self.assertEqual(privacy["record_epsilon"], privacy["epsilon"])
            self.assertEqual(privacy["ledger"]["person_epsilon"], privacy["epsilon"])
            for part in ("one person of one client", "person(s)", "at several clients", "Each person's gradient"):
                self.assertIn(part, privacy["statement"])
            self.assertNotIn("each record's", privacy["statement"])
            self.assertIn('"unit":"person"', (self.folder / f"{name}.ledger").read_text())

    def test_total_epsilon(self):
        for name in ("infer-plug-in", "renewable"):
            total = ["--mechanism", "gaussian", "--total-epsilon", 1.5, "--delta", 1e-5, "--clients", 1]
            summary = self.ran([*METHODS[name], *total, *PERSON], output=name)
            self.assertAlmostEqual(summary["privacy"]["epsilon"], 1.5, places=6)

    def test_how_many_records_a_person_has_shows_nowhere(self):
        for name in METHODS:
            self.check_hidden(name.replace("-", ""), [*method(name), *PERSON, "--ignore", 7], {**self.ANOTHER, **self.IGNORED},
                              2 if "central" in name and "infer" in name else 1)

    def test_thirteen_records_cost_no_more_than_the_price(self):
        """What all integers of a run move by, in standard deviations of their noise, is at most the price. It is nearly as much
        where gradients alone are released and records are as far apart as they can be."""
        pairs = {"infer": {"one": ["1.4142,0,0,50"], "thirteen": ["1.4142,0,0,-50"] * 13},
                 "renewable": {"one": ["1e6,0,0,1"], "thirteen": ["1e6,0,0,-1"] * 13}}
        for name in METHODS:
            place = "moved" + name.replace("-", "")
            command = name.split("-")[0]
            for side, rows in pairs[command].items():
                words = ["huber:1.345" if word == "logistic" else word for word in method(name)]
                seen = self.run_with(f"{place}-{side}", [*words, *PERSON], persons(rows, 3))
                self.assertEqual(seen["exit code"], b"0", seen["stderr"][-2000:])
            squares = 0
            for (where, scale, q), (at, _, other) in zip(self.releases(f"{place}-one"), self.releases(f"{place}-thirteen")):
                self.assertEqual(where, at)
                squares += sum((a - b) ** 2 for a, b in zip(q, other)) / scale**2
            price = WHOLE_PRICE.get(name, 1)
            with self.subTest(method=name, loss=math.sqrt(squares), price=price):
                self.assertLessEqual(math.sqrt(squares), price * (1 + 1e-9))
                self.assertGreater(math.sqrt(squares), 0.99 if name == "infer" else 0.5)

    def test_bad_input(self):
        self.write("data.csv", "\n".join(persons()) + "\n")
        infer = method("infer")
        self.check_refused((
                ([*infer, "--unit", "person"], "--person"),
                ([*infer, "--person", "who"], "unit"),
                ([*infer, *PERSON, "--person-gradient", "sum"], "person-gradient"),
                ([*infer, "--unit", "component"], "component"),
                (["infer", "--source", "synthetic:linear:n=900", *GAUSSIAN, *PERSON], "column of persons"),
                (["renewable", "--source", "data.csv", "--mechanism", "none", *PERSON], "--variant private"),
                (["renewable", "--source", "data.csv", "--variant", "private-paper", "--mechanism", "gaussian", *PERSON], "--variant private"),
                ([*method("renewable"), "--unit", "component"], "component")))


class Parties(PersonCase):
    """`starling vertical`: a person has R rows in a round, with records or without."""

    places = PLACES
    ROWS = 13
    HEAD = [*VERTICAL, "--labels", "head"]

    def by_person(self, rows=ROWS):
        return [*PERSON, "--person-rows", rows]

    def ran(self, words, output, ranks=1):
        return self.finished([*words, "--noise-key", "seed", "--output", output, "--json", "--progress", "off"], ranks)

    def outcome(self, summary):
        return bits([summary["final_model"], summary["metrics"], summary["loss"], summary["rounds"]])

    def test_one_record_each_is_unit_record(self):
        self.write("data.csv", "\n".join(persons()) + "\n")
        by_person = self.ran([*self.HEAD, *self.by_person(1)], "person")
        by_record = self.ran([*self.HEAD, "--drop", "who"], "record")
        self.assertEqual(self.outcome(by_person), self.outcome(by_record))
        self.check_same_price(by_person, by_record)

    def test_summary_and_statement(self):
        self.write("data.csv", "\n".join(persons(size=3)) + "\n")
        several = self.ran([*self.HEAD, *self.by_person()], "several")
        self.assertEqual(several["rounds"], PLACES // 4)
        privacy = several["privacy"]
        self.assertEqual((privacy["unit"], privacy["record_epsilon"]), ("person", privacy["epsilon"]))
        for part in ("one person of one client", "4 person(s)", "of which 13 take part", "which records are of one person"):
            self.assertIn(part, privacy["statement"])
        self.assertTrue(any("persons count alike" in note for note in several["notes"]))

    @fewer
    def test_layouts_and_files_of_parties(self):
        """The same from one table and from a file of each party, of which the first alone says whose records they are."""
        rows = persons(size=3)
        self.write("data.csv", "\n".join(rows) + "\n")
        fields = [line.split(",") for line in rows]
        for k in range(3):
            lines = [",".join([*(["id", "who"] if k == 0 else ["id"]), "abc"[k], *(["y"] if k == 0 else [])])]
            order = range(1, len(fields)) if k == 0 else reversed(range(1, len(fields)))
            lines += [",".join([f"r{i}", *([fields[i][0]] if k == 0 else []), fields[i][1 + k], *([fields[i][4]] if k == 0 else [])])
                      for i in order]
            self.write(f"party-{k}.csv", "\n".join(lines) + "\n")
        for labels in ("all", "head"):
            words = [*VERTICAL, "--labels", labels, *self.by_person(2)]
            found = [self.ran(words, f"{labels}-{ranks}", ranks) for ranks in layouts((1, 4, 2))]
            apart = [word for word in words if word not in ("--source", "data.csv", "--columns", "0/1/2")]
            files = ["--parties", "party-0.csv,party-1.csv,party-2.csv", "--id", "id", "--metrics", "shared"]
            found.append(self.ran([*apart, *files], f"{labels}-files", 4))
            for each in found[1:]:
                self.assertEqual(bits(each["final_model"]), bits(found[0]["final_model"]))

    def test_how_many_records_a_person_has_shows_nowhere(self):
        fifteen = {"fifteen": [f"{i},-9,{i * i},-1" for i in range(15)]}
        self.check_hidden("parties", [*self.HEAD, *self.by_person()], {**self.ANOTHER, **fifteen})

    def test_thirteen_records_cost_no_more_than_the_price(self):
        """Of each holder's two releases in a round."""
        for side, rows in {"one": ["1e6,1e6,1e6,1"], "thirteen": ["-1e6,-1e6,-1e6,-1"] * 13}.items():
            seen = self.run_with(f"moved-{side}", [*self.HEAD, *self.by_person()], persons(rows, 3))
            self.assertEqual(seen["exit code"], b"0", seen["stderr"][-2000:])
        squares = {}
        for (where, scale, q), (at, _, other) in zip(self.releases("moved-one"), self.releases("moved-thirteen")):
            self.assertEqual(where, at)
            squares[where[2]] = squares.get(where[2], 0) + sum((a - b) ** 2 for a, b in zip(q, other)) / scale**2
        self.assertEqual(len(squares), 4)
        for client, square in squares.items():
            with self.subTest(client=client, loss=math.sqrt(square)):
                self.assertLessEqual(square, 2 * (1 + 1e-9))
        self.assertGreater(max(squares.values()), 0.1)

    def test_bad_input(self):
        self.write("data.csv", "\n".join(persons()) + "\n")
        self.write("gap.csv", "who,a,b,c,y\np1,1,2,3,1\n,1,2,3,-1\n")
        self.check_refused((
                ([*VERTICAL, *PERSON], "--person-rows"),
                ([*VERTICAL, "--person-rows", 2], "unit"),
                ([*VERTICAL, "--baseline", "central", *self.by_person()], "central"),
                (["vertical", "--clients", 3, *GAUSSIAN, *self.by_person()], "spectrum")))
        self.check_refused([([*VERTICAL, "--source", "gap.csv", "--batch", 1, *self.by_person()], "row 3")], 3)


if __name__ == "__main__":
    unittest.main()
