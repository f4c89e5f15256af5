"""Tables with planted faults, and decimal commas."""

import json
import random
import re
import shutil
import unittest

from harness import SOURCE, TestCase

USAGE, DATA_FAULT = 2, 3
COMMA = ("--decimal", "comma")
FILL, DATE, ENCODE = "Fill it in or remove the row", "--dates with a public day", "--encode or --drop it"
GIVE_COMMA, FINITE, POINT = "Give --decimal comma", "Correct or remove the row", "Leave --decimal out"

# Second row of a table a;b;y, options, parts of the message for the owner.
FAULTS = [
    (";2;1", (), ["row 3: column 'a' is empty: a missing value", FILL]),
    ("1;?;1", (), ["row 3: column 'b' is '?': a missing value", FILL]),
    ("1;NA;1", (), ["'NA': a missing value", FILL]),
    ("1;N/A;1", (), ["'N/A': a missing value", FILL]),
    ("1;null;1", (), ["'null': a missing value", FILL]),
    ("1;2;", (), ["column 'y' is empty: a missing value", FILL]),
    ("nan;2;1", (), ["column 'a' is 'nan': not finite", FINITE]),
    ("1;inf;1", (), ["column 'b' is 'inf': not finite", FINITE]),
    ("1;1e999;1", (), ["'1e999': beyond the range", "Rescale the data"]),
    ("1;2024-03-01;1", (), ["column 'b' is '2024-03-01': a date", DATE, "--drop"]),
    ("1;1.3.2024;1", (), ["'1.3.2024': a date", DATE]),
    ("1;3/1/24;1", (), ["'3/1/24': a date", DATE]),
    ("1;2024-03-01T12:00:00Z;1", (), ["a date", DATE]),
    ("1;2024-03-01 12:00;1", (), ["a date", DATE]),
    ("3,14;2;1", (), ["column 'a' is '3,14': a decimal comma", GIVE_COMMA]),
    ("-3,14;2;1", (), ["'-3,14': a decimal comma", GIVE_COMMA]),
    ("1;red;1", (), ["column 'b' is 'red': not a number", ENCODE]),
    ("1;1.234.567;1", (), ["'1.234.567': not a number", ENCODE]),
    ("1;2-3;1", (), ["'2-3': not a number", ENCODE]),
    ("1;3,1,4;1", (), ["'3,1,4': not a number", ENCODE]),
    ("1;2", (), ["row 3: 2 fields: 3 expected", "Complete the row or remove it"]),
    ("1;2;3;4", (), ["row 3: 4 fields: 3 expected", "Complete the row or remove it"]),
    ("1.234;2;1", COMMA, ["column 'a' is '1.234': a number with a point", POINT]),
    ("1.234,5;2;1", COMMA, ["'1.234,5': not a number", ENCODE]),
    ("1;2024-03-01;1", COMMA, ["'2024-03-01': a date", DATE]),
]


class Tables(TestCase):
    def table(self, *rows):
        self.write("t.csv", "\n".join(["a;b;y", *rows]) + "\n")

    def refusal(self, code, *words):
        result = self.run_alone(list(words))
        self.assertEqual((result.code, len(result.messages())), (code, 1), result)
        return result.messages()[0]

    def test_dates_are_days_since_a_public_day(self):
        """Sites write them in different ways; the model knows the day, and `init` proposes one."""
        import datetime
        def site(name, form):
            days = [datetime.date(2024, 1, 1) + datetime.timedelta(7 * k) for k in range(60)]
            self.write(name, "admitted,y\n" + "".join(f"{form(day)},{1 if day.month > 6 or day.year > 2024 else 0}\n" for day in days))
        site("site-0.csv", datetime.date.isoformat)
        site("site-1.csv", lambda day: f"{day.day}.{day.month}.{day.year} 08:30")
        self.write("numbers.csv", "admitted,y\n" + "".join(f"{7 * k},0\n" for k in range(60)))
        words = ["omd", "--clients", 2, "--source", "site-{client}.csv", "--mechanism", "none", "--dates", "2024-01-01", "--progress", "off", "--output", "run"]
        self.succeeded(self.run_alone(words, as_they_are=True))
        told = [self.succeeded(self.run_alone(["predict", "run", "--source", name])).out for name in ("site-0.csv", "site-1.csv", "numbers.csv")]
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[0], told[2])
        self.assertIn("dates = 2020-01-01", self.run_alone(["init", "site-{client}.csv", "--total-epsilon", 1, "--output", "i.ini"]).out)
        self.assertIn("--dates DAY", self.run_alone(["data", "profile", "site-0.csv", "--label", "y", "--output", "drafts"]).out)

    def test_each_fault_has_its_place_and_its_remedy(self):
        for row, options, expected in FAULTS:
            with self.subTest(row=row, options=options):
                self.table("1;2;0", row, "2;1;1")
                message = self.refusal(DATA_FAULT, "data", "describe", "t.csv", *options)
                for text in ["t.csv: row 3: ", *expected]:
                    self.assertIn(text, message)
                self.assertNotIn("faulty records", message)

    def test_all_faults_are_told_at_once(self):
        self.table(";2;1", "1;red;1", "1;2;1", "1;2024-03-01;1")
        for words in (["data", "describe", "t.csv"], ["omd", "--source", "t.csv", "--mechanism", "none"]):
            message = self.refusal(DATA_FAULT, *words)
            self.assertEqual(re.findall(r"\((\d)\) t\.csv: row (\d)", message), [("1", "2"), ("2", "3"), ("3", "5")])
            self.assertIn("3 faulty records: ", message)
            self.assertEqual("'red'" in message, words[0] == "data", "only the owner may see values")

    def test_reading_stops_at_twenty_faults(self):
        for faults, end in ((19, False), (20, True), (500, True)):
            self.table("1;2;1", *[";2;1"] * faults)
            message = self.refusal(DATA_FAULT, "data", "describe", "t.csv")
            self.assertIn(f"{min(faults, 20)} faulty records: ", message)
            self.assertEqual(message.count("a missing value"), 1)
            self.assertIn(f"; also rows 4 to {min(faults, 20) + 2}", message)
            self.assertNotIn("(2)", message)
            self.assertEqual(message.endswith("reading stopped here."), end)

    def test_a_quoted_text_over_two_lines(self):
        self.write("t.csv", 'a,note,y\n1,"it rained,\nthen not",1\n2,"dry",0\n')
        told = "t.csv: row 2: a text in quotes goes over the end of the line: a row is one line. Take the line break out"
        self.assertIn(told, self.refusal(DATA_FAULT, "data", "describe", "t.csv", "--drop", "note"))
        self.write("t.csv", 'a,note,y\n1,"it rained\nall day",1\n2,"dry",0\n')
        self.assertIn(told, self.refusal(DATA_FAULT, "omd", "--source", "t.csv", "--mechanism", "none"))
        self.write("t.csv", 'a,note,y\n1,5" pipe,1\n')
        self.assertNotIn("quotes", self.refusal(DATA_FAULT, "omd", "--source", "t.csv", "--mechanism", "none"))

    def test_rows_with_one_fault_are_listed_behind_it(self):
        self.table(";2;1", "1;red;1", ";2;1", ";3;1", "1;2;1", ";4;1", "1;blue;1")
        message = self.refusal(DATA_FAULT, "omd", "--source", "t.csv", "--mechanism", "none")
        self.assertRegex(message, r"6 faulty records: \(1\) t\.csv: row 2: column 'a' is missing.*; also rows 4 to 5, row 7; "
                                  r"\(2\) t\.csv: row 3: column 'b' is a text.*; also row 8\.$")

    def test_own_marks_of_missing_values(self):
        """Texts and numbers; in quotes, in columns of categories, and in all ways of writing the number."""
        self.write("t.csv", 'a;town;b;y\n1;Ulm;-999;1\nunbekannt;Bonn;2;0\n"k.A.";k.A.;-999.0;1\n;Rome;-9;0\n')
        self.write("codes.csv", "column,category,value\ntown,Ulm,0\ntown,*,1\n")
        words = ["data", "convert", "t.csv", "--missing-values", ",unbekannt,k.A.,-999", "--encode", "onehot:codes.csv"]
        result = self.run_alone([*words, "--missing", "zero", "--output", "o.csv"])
        self.assertEqual(result.code, 0, result)
        self.assertEqual((self.folder / "o.csv").read_text().splitlines(),
                         ["a,town=*,town=Ulm,b,y", "1,0,1,0,1", "0,1,0,2,0", "0,0,0,0,1", "0,1,0,-9,0"])
        self.write("codes.csv", "column,category,value\ntown,,0\ntown,Ulm,1\ntown,*,2\n")  # the empty text takes all marks
        self.succeeded(self.run_alone([*words, "--missing", "zero", "--output", "e.csv"]))
        self.assertEqual((self.folder / "e.csv").read_text().splitlines(),
                         ["a,town=,town=*,town=Ulm,b,y", "1,0,0,1,0,1", "0,0,1,0,2,0", "0,1,0,0,0,1", "0,0,1,0,-9,0"])
        message = self.refusal(DATA_FAULT, *words, "--output", "p.csv")
        self.assertIn("row 2: column 'b' is '-999': a missing value", message)
        self.refusal(USAGE, "data", "convert", "t.csv", "--missing-values", "a,,b", "--output", "q.csv")

    def test_who_applies_a_model_may_name_marks(self):
        self.table("1;2;1", "2;1;0", "3;2;1")
        self.succeeded(self.run_alone(["omd", "--source", "t.csv", "--mechanism", "none", "--missing", "zero", "--output", "run"]))
        self.table("1;2;1", "k.A.;1;0")
        self.assertIn("name it by --missing-values", self.refusal(DATA_FAULT, "score", "run", "--source", "t.csv"))
        self.assertIn("name it by --missing-values", self.run_alone(["predict", "run", "--source", "t.csv", "--output", "p.csv"]).err)
        self.succeeded(self.run_alone(["score", "run", "--source", "t.csv", "--missing-values", "k.A."]))

    def test_a_model_knows_the_marks_of_its_records(self):
        self.table("1;2;1", "k.A.;1;0", "3;-999;1", "2;4;0")
        self.succeeded(self.run_alone(["omd", "--source", "t.csv", "--mechanism", "none", "--missing", "zero", "--missing-values", "k.A.,-999",
                                       "--output", "run"]))
        for marks, code in (((), 0), (("--missing-values", "k.A.,-999"), 0), (("--missing-values", "other"), 1)):
            done = self.run_alone(["predict", "run", "--source", "t.csv", *marks, "--output", f"p-{len(marks)}-{code}.csv"])
            self.assertEqual(done.code, code, done)
        self.assertEqual((self.folder / "p-0-0.csv").read_text(), (self.folder / "p-2-0.csv").read_text())
        self.succeeded(self.run_alone(["score", "run", "--source", "t.csv"]))

    def test_what_drop_cannot_leave_out(self):
        self.table("1;2;1", "2;1;0", "3;2;1")
        result = self.succeeded(self.run_alone(["data", "describe", "t.csv", "--missing", "indicator"]))
        self.assertRegex(result.out, r"2 constant features a\.missing, b\.missing: nothing can be learned from them\n")
        self.table("1;2;1", "2;2;0")
        self.assertIn("(--drop leaves columns out)", self.succeeded(self.run_alone(["data", "describe", "t.csv"])).out)

    def test_all_columns_of_text_are_named_at_once(self):
        self.write("t.csv", "who,day,age,town,ill\nA,2024-03-01,30,Ulm,yes\nB,2024-03-02,41,Bonn,no\n")
        message = self.refusal(DATA_FAULT, "omd", "--source", "t.csv", "--mechanism", "none")
        self.assertIn("row 2: column 'who' is a text: not a number. --encode or --drop it, or name it by --missing-values where it means a missing value; no number either: column 'day', column 'town', "
                      "column 'ill'; also row 3", message)
        message = self.refusal(DATA_FAULT, "data", "describe", "t.csv", "--id", "who", "--drop", "day")
        self.assertIn("column 'town' is 'Ulm': not a number. --encode or --drop it, or name it by --missing-values where it means a missing value; no number either: column 'ill'", message)
        self.assertIn("(2) t.csv: row 3: column 'town' is 'Bonn': not a number. --encode or --drop it", message)
        self.assertEqual(message.count("no number either"), 1)
        self.write("wide.csv", ",".join(f"c{k}" for k in range(40)) + "\n" + ",".join(["red"] * 39) + ",1\n")
        message = self.refusal(DATA_FAULT, "data", "describe", "wide.csv")
        self.assertIn("column 'c20' and 18 more. Several columns hold texts: each needs a decision. `starling init wide.csv` lists them", message)
        self.assertNotIn("starling init", self.refusal(DATA_FAULT, "omd", "--source", "wide.csv", "--mechanism", "none"))

    def test_reading_stops_at_a_long_message(self):
        self.table("1;2;1", *[f"{'x' * k};2;1" for k in range(1, 100)])
        message = self.refusal(DATA_FAULT, "data", "describe", "t.csv")
        self.assertTrue(message.endswith("reading stopped here."), message)
        self.assertLess(len(message), 2000)
        self.assertGreater(message.count("; ("), 5)

    def test_faults_of_a_pair_keep_records_and_labels_together(self):
        self.write("x.csv", "a,b\n1,2\n,2\n3,4\n5,6\n")
        self.write("y.csv", "1\n7\n7\n-1\n")  # record 2 has no features, and the label of record 3 is no class
        message = self.refusal(DATA_FAULT, "omd", "--source", "x.csv,y.csv", "--mechanism", "none")
        self.assertIn("2 faulty records: (1) x.csv: row 3: column 'a' is missing", message)
        self.assertIn("(2) x.csv,y.csv: record 3: ", message)
        self.write("y.csv", "1\nred\n1\n?\n")
        message = self.refusal(DATA_FAULT, "data", "describe", "x.csv,y.csv")
        self.assertRegex(message, r"2 faulty records: \(1\) y\.csv: row 2: .*\(2\) y\.csv: row 4: ")

    def test_decimal_commas_are_the_same_numbers(self):
        self.write("p.csv", "a;b;y\n1.5;-2;1\n+0.25;1e3;-1\n")
        self.write("c.csv", "a;b;y\n1,5;-2;1\n+0,25;1e3;-1\n")
        self.write("none.csv", "1,5 -2 1\n0,25 1e3 -1\n")
        figures = []
        for words in (["p.csv"], ["c.csv", *COMMA], ["none.csv", *COMMA]):
            result = self.succeeded(self.run_alone(["data", "describe", *words, "--json"]))
            figures.append([(c["min"], c["max"], c["mean"]) for c in json.loads(result.out)["columns"]])
        self.assertEqual(figures, [figures[0]] * 3)
        for name in ("p", "c"):  # each file as it is written
            result = self.succeeded(self.run_alone(["data", "describe", f"{name}.csv", "--decimal", "auto", "--json"]))
            self.assertEqual([(c["min"], c["max"], c["mean"]) for c in json.loads(result.out)["columns"]], figures[0])
        self.write("both.csv", "a;b;y\n1,5;2.5;1\n2,5;3.5;1\n")  # decides nothing
        self.assertIn("'1,5': a decimal comma", self.refusal(DATA_FAULT, "data", "describe", "both.csv", "--decimal", "auto"))
        for client, name in enumerate(("p", "c", "p")):
            shutil.copy(self.folder / f"{name}.csv", self.folder / f"one-{client}.csv")
            shutil.copy(self.folder / "p.csv", self.folder / f"points-{client}.csv")
        models = [self.run_alone(["omd", "--source", f"{name}-{{client}}.csv", "--clients", "3", "--mechanism", "none", "--output", name, "--json",
                                  *words]).summary()["final_model"] for name, words in (("one", ("--decimal", "auto")), ("points", ()))]
        self.assertEqual(*models)
        self.assertEqual(figures[0], [(0.25, 1.5, 0.875), (-2, 1000, 499)])

    def test_a_comma_is_not_both(self):
        self.table("1;2;1")
        message = self.refusal(USAGE, "data", "describe", "t.csv", *COMMA, "--delimiter", "comma")
        self.assertIn("a comma cannot be both", message)
        self.write("a.svm", "1 1:2\n")
        message = self.refusal(USAGE, "data", "describe", "a.svm", *COMMA)
        self.assertIn("--decimal: the file is not delimited text.", message)

    def test_the_example_of_the_page(self):
        page = (SOURCE / "docs/how-to/prepare-a-table.md").read_text()
        table, command = re.search(r"\$ cat heights.csv\n(.*?)\$ starling (.*?)\n", page, re.S).groups()
        self.write("heights.csv", table)
        result = self.succeeded(self.run_alone([*command.split(), "--json"]))
        self.assertEqual([c["max"] for c in json.loads(result.out)["columns"]], [41, 1.75])


class Sites(TestCase):
    """Sites whose files have the same columns in other orders, and others beside them."""

    WORDS = ("omd", "--label", "ill", "--mechanism", "none", "--clients", 3, "--test", "test.csv", "--intercept", "--progress", "off")

    def setUp(self):
        super().setUp()
        draw = random.Random(4)
        self.people = [{"age": draw.gauss(0, 1), "dose": draw.gauss(0, 1), "ill": draw.choice((-1, 1)), "note": k, "town": draw.choice(("Ulm", "Bonn"))}
                       for k in range(120)]
        self.write("codes.csv", "column,category,value\ntown,Ulm,0\ntown,Bonn,1\n")
        for prefix, orders in (("same", ["age,dose,town,ill"] * 4),
                               ("mixed", ["age,dose,town,ill", "ill,town,dose,age", "note,dose,ill,age,town", "town,ill,age,dose"])):
            for client, columns in enumerate(orders):
                part = self.people[client * 30:client * 30 + 30]
                name = f"{prefix}-{client}.csv" if client < 3 else f"{prefix}-test.csv"
                self.write(name, "\n".join([columns, *(",".join(str(row[c]) for c in columns.split(",")) for row in part)]) + "\n")

    def learn(self, prefix, ranks=1, *words):
        words = [*self.WORDS, *words, "--source", prefix + "-{client}.csv", "--output", f"{prefix}-{ranks}"]
        return self.run_command(ranks, [f"{prefix}-test.csv" if word == "test.csv" else word for word in words])

    def test_features_are_matched_by_name(self):
        for words in ((), ("--encode", "onehot:codes.csv")):
            words = words or ("--encode", "codes.csv")
            with self.subTest(words):
                summaries = []
                for prefix, ranks in (("same", 1), ("mixed", 1), ("mixed", 3)):
                    result = self.learn(prefix, ranks, *words)
                    self.assertEqual(result.code, 0, result)
                    said = "note: mixed-2.csv: columns that the first client does not have are left out: 'note'"
                    self.assertEqual(result.err.count(said), int(prefix == "mixed"), result.err)
                    summaries.append(json.loads((self.folder / f"{prefix}-{ranks}" / "summary.json").read_text()))
                    shutil.rmtree(self.folder / f"{prefix}-{ranks}")
                for key in ("final_model", "metrics"):
                    self.assertEqual(summaries[1][key], summaries[0][key])
                    self.assertEqual(summaries[2][key], summaries[0][key])

    def test_a_column_that_some_sites_have_is_dropped(self):
        models = []
        for ranks, drop in ((1, ()), (1, ("--drop", "note")), (3, ("--drop", "note"))):
            result = self.learn("mixed", ranks, "--encode", "codes.csv", *drop)
            self.assertEqual((result.code, "left out: 'note'" in result.err), (0, not drop), result)
            models.append(json.loads((self.folder / f"mixed-{ranks}" / "summary.json").read_text())["final_model"])
            shutil.rmtree(self.folder / f"mixed-{ranks}")
        self.assertEqual(models, [models[0]] * 3)
        for ranks in (1, 3):  # a column that nobody has
            result = self.learn("mixed", ranks, "--encode", "codes.csv", "--drop", "note,nota")
            self.assertEqual(result.code, USAGE, result)
            self.assertIn("mixed-0.csv: no column 'nota'", result.err)

    def test_missing_features_are_named_beside_others(self):
        text = (self.folder / "mixed-1.csv").read_text().replace("dose", "dosis")
        self.write("mixed-1.csv", text)
        for ranks in (1, 3):
            result = self.learn("mixed", ranks, "--encode", "codes.csv")
            self.assertEqual(result.code, DATA_FAULT, result)
            self.assertIn("mixed-1.csv: features that the first client has are missing: 'dose'; only there: 'dosis'", result.err)

    def test_init_matches_them(self):
        result = self.run_alone(["init", "mixed-{client}.csv", "--total-epsilon", "none", "--label", "ill", "--encode", "codes.csv"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("label: column 'ill': -1, 1", result.out)
        words = ["init", "mixed-{client}.csv", "--total-epsilon", "none", "--label", "ill", "--encode", "codes.csv", "--output"]
        self.succeeded(self.run_alone([*words, "dropped", "--drop", "note"]))
        self.assertIn("mixed-0.csv: no column 'nota'", self.run_alone([*words, "wrong", "--drop", "nota"]).err)


if __name__ == "__main__":
    unittest.main()
