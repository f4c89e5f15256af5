"""Tables as they come: ranges, missing values, categories as features, drafts of public tables, and NumPy's files."""

import csv
import gzip
import json
import os
import re
import unittest
from pathlib import Path

from harness import *

USAGE, DATA_FAULT = 2, 3
OPEN = ["--mechanism", "none", "--progress", "off"]
RANGES, MISSING, ONE_HOT = ["--ranges", "c.csv"], ["--missing", "constant:c.csv"], ["--encode", "onehot:c.csv"]
LOW, VALUE, CATEGORY = "feature,low,high", "feature,value", "column,category,value"

# Rows of a table a,b,y; rows of c.csv; options; exit code; parts of the message for the owner.
FAULTS = [
    # --ranges
    (["1,2,0"], [LOW, "a,0,1"], RANGES, DATA_FAULT, ["c.csv: no constants for feature 'b'", "Add them"]),
    (["1,2,0"], [LOW, "a,0,1", "b,0,1", "z,0,1"], RANGES, DATA_FAULT, ["c.csv: row 4", "no feature 'z'", "Remove the line"]),
    (["1,2,0"], [LOW, "*,0,1"], RANGES, DATA_FAULT, ["c.csv: row 2", "no feature '*'"]),
    (["1,2,0"], [LOW, "a,0,1", "b,0,1", "a,0,2"], RANGES, DATA_FAULT, ["c.csv: row 4", "'a' stands there twice"]),
    (["1,2,0"], [LOW, "a,0,1", "b,1,1"], RANGES, DATA_FAULT, ["c.csv: row 3", "low=1 and high=1", "low must be below high"]),
    (["1,2,0"], [LOW, "a,5,1", "b,0,1"], RANGES, DATA_FAULT, ["c.csv: row 2", "low=5 and high=1", "Correct them"]),
    (["1,2,0"], [LOW, "a,zero,1", "b,0,1"], RANGES, DATA_FAULT, ["c.csv: row 2", "'zero'", "not a number"]),
    (["1,2,0"], [LOW, "a,0,", "b,0,1"], RANGES, DATA_FAULT, ["c.csv: row 2", "column 'high' is empty"]),
    (["1,2,0"], [LOW, "a,0,inf", "b,0,1"], RANGES, DATA_FAULT, ["c.csv: row 2", "not finite"]),
    (["1,2,0"], ["feature,mean,sd", "a,0,1", "b,0,1"], RANGES, DATA_FAULT, ["feature, low and high", "Correct the first line"]),
    (["1,2,0"], [LOW, "a,0,1", "b,0,1", "y,1,0"], RANGES, DATA_FAULT, ["c.csv: row 4", "low=1 and high=0"]),
    (["1,2,0"], [LOW, "a,0,1", "b,0,1", "y,0,1"], [*RANGES, "--positive", "1"], USAGE, ["--ranges c.csv", "--positive"]),
    (["1,2,0"], [LOW, "a,0,1", "b,0,1"], [*RANGES, "--standardise", "c.csv"], USAGE, ["--ranges", "--standardise", "Give one"]),
    (["1,2,0"], [LOW, "a,0,1", "b,0,1"], [*RANGES, "--scale", "2"], USAGE, ["--scale 2 and --ranges", "Leave --scale out"]),
    (["1,2,0"], [], ["--ranges", "nowhere.csv"], USAGE, ["nowhere.csv"]),
    # --missing
    (["1,,0"], [], [], DATA_FAULT, ["t.csv: row 2: column 'b' is empty", "let --missing fill in features"]),
    (["nan,2,0"], [], [], DATA_FAULT, ["column 'a' is 'nan'", "let --missing fill in features"]),
    (["inf,2,0"], [], ["--missing", "zero"], DATA_FAULT, ["column 'a' is 'inf': not finite"]),
    (["1,2,"], [], ["--missing", "zero"], DATA_FAULT, ["row 2: column 'y' is empty", "Fill it in or remove the row"]),
    (["1,2,NA"], [], ["--missing", "indicator"], DATA_FAULT, ["column 'y' is 'NA'"]),
    (["1,2,nan"], [VALUE, "a,1", "b,1"], MISSING, DATA_FAULT, ["column 'y' is 'nan'"]),
    (["1,2,0"], [], ["--missing", "mean"], USAGE, ["--missing: 'mean' does not say", "refuse, zero, indicator or constant:FILE"]),
    (["1,2,0"], [], ["--missing", "constant:"], USAGE, ["--missing: 'constant:'", "constant:FILE"]),
    (["1,2,0"], [], ["--missing", "constant:nowhere.csv"], USAGE, ["nowhere.csv"]),
    (["1,2,0"], [VALUE, "a,1"], MISSING, DATA_FAULT, ["c.csv: no constants for feature 'b'"]),
    (["1,2,0"], [VALUE, "a,1", "b,1", "y,1"], MISSING, DATA_FAULT, ["c.csv: row 4", "a missing label is always refused"]),
    (["1,2,0"], [VALUE, "a,1", "b,x"], MISSING, DATA_FAULT, ["c.csv: row 3", "not a number"]),
    (["1,2,0"], [VALUE, "a,1", "1,1", "b,1"], MISSING, DATA_FAULT, ["c.csv: row 4", "'b' stands there twice"]),
    (["1,2,0"], ["column,value", "a,1"], MISSING, DATA_FAULT, ["its columns are not feature and value"]),
    (["1,2,0"], [], ["--missing", "zero", "--features", "hog"], USAGE, ["--missing", "--features hog"]),
    # --encode onehot:
    (["1,red,0", "1,blue,0"], [CATEGORY, "b,red,1"], ONE_HOT, DATA_FAULT, ["t.csv: row 3", "'blue'", "a category never seen", "'red'"]),
    (["1,,0"], [CATEGORY, "b,red,1", "b,*,2"], ONE_HOT, DATA_FAULT, ["row 2: column 'b' is ''", "a missing value, and no category"]),
    (["1,red,0"], [CATEGORY, "b,red,1", "b,red,2"], ONE_HOT, DATA_FAULT, ["c.csv: row 3", "'red'", "stands there twice"]),
    (["1,red,0"], [CATEGORY, "z,red,1"], ONE_HOT, DATA_FAULT, ["c.csv: row 2", "no column 'z'"]),
    (["1,red,0"], [CATEGORY, "b,red,x"], ONE_HOT, DATA_FAULT, ["c.csv: row 2", "not a number"]),
    (["1,red,0"], ["column,category", "b,red"], ONE_HOT, DATA_FAULT, ["column, category and value"]),
    (["1,red,0"], [], ["--encode", "onehot:"], USAGE, ["--encode: 'onehot:' names no file", "Give onehot:FILE"]),
    (["1,red,0"], [CATEGORY, "b,red,1"], [*ONE_HOT, "--features", "hog"], USAGE, ["--encode onehot:", "--features hog"]),
    (["1,red,0"], [CATEGORY, "b,red,1"], [*ONE_HOT, "--ranges", "both.csv"], DATA_FAULT, ["both.csv: row 3", "'b'", "--encode onehot:"]),
]


class Faults(TestCase):
    def test_each_fault_has_its_place_and_its_remedy(self):
        self.write("both.csv", f"{LOW}\na,0,1\nb,0,1\n")
        for rows, constants, options, code, expected in FAULTS:
            with self.subTest(rows=rows, constants=constants, options=options):
                self.write("t.csv", "\n".join(["a,b,y", *rows]) + "\n")
                self.write("c.csv", "\n".join(constants) + "\n")
                result = self.run_alone(["data", "describe", "t.csv", *options])
                self.assertEqual((result.code, len(result.messages())), (code, 1), result)
                for text in expected:
                    self.assertIn(text, result.messages()[0])

    def test_features_with_one_name_are_told_apart_by_their_numbers(self):
        self.write("t.csv", "a,a,y\n1,2,0\n")
        for lines, code, expected in ((["a,0,1"], DATA_FAULT, "no constants for feature 1 (of several called 'a': give its number)"),
                                      (["a,0,1", "a,0,2"], DATA_FAULT, "several features are called 'a', and the name means the first"),
                                      (["a,0,1", "1,0,2"], 0, "")):
            with self.subTest(lines=lines):
                self.write("c.csv", "\n".join([LOW, *lines]) + "\n")
                result = self.run_alone(["data", "describe", "t.csv", *RANGES])
                self.assertEqual(result.code, code, result)
                self.assertIn(expected, result.err)

    def test_up_to_twenty_features_without_a_range_are_named(self):
        for count, last in ((20, "'f19'"), (21, "'f19' and 1 more"), (50, "'f19' and 30 more")):
            self.write("t.csv", ",".join(f"f{j}" for j in range(count)) + ",y\n" + "1," * count + "0\n")
            self.write("c.csv", LOW + "\n")
            message = self.run_alone(["data", "describe", "t.csv", *RANGES]).messages()[0]
            self.assertRegex(message, f"for feature 'f0', .*{last}: every feature needs a line")

    def test_commands_refuse_what_they_cannot_apply(self):
        self.write("t.csv", "a,b,y\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(9)))
        self.write("c.csv", f"{LOW}\na,0,9\nb,0,81\n")
        self.write("one.csv", f"{CATEGORY}\nb,1,1\nb,*,0\n")
        self.write("s.svm", "1 1:2\n0 2:1\n")
        for words, code, expected in [
            (["infer", "--source", "t.csv", "--missing", "indicator", *OPEN], USAGE, ["--missing indicator", "infer"]),
            (["infer", "--source", "t.csv", "--encode", "onehot:one.csv", *OPEN], USAGE, ["--encode onehot:", "Give --encode reference:FILE"]),
            (["omd", "--source", "s.svm", "--missing", "zero", *OPEN], USAGE, ["sparse", "Leave --missing out"]),
            (["omd", "--source", "s.svm", *RANGES, *OPEN], USAGE, ["--ranges with sparse records"]),
            (["omd", "--source", "synthetic:drift", *RANGES, "--rounds", "2", *OPEN], USAGE, ["--ranges", "generator"]),
            (["omd", "--source", "synthetic:drift", "--missing", "zero", "--rounds", "2", *OPEN], USAGE, ["--missing", "generator"]),
            (["omd", "--source", "t.csv", "--test", "synthetic:linear:d=2,n=5", *RANGES, *OPEN], USAGE, ["--ranges with the test set"]),
        ]:
            with self.subTest(words=words):
                result = self.run_alone(words)
                self.assertEqual(result.code, code, result)
                for text in expected:
                    self.assertIn(text, result.messages()[-1])


PEOPLE = "age,sex,town,ill\n30,m,Ulm,yes\n,f,Bonn,no\n40,,Rome,yes\n90,m,Ulm,no\n"
CODES = f"{CATEGORY}\nsex,m,0\nsex,f,1\ntown,Ulm,0\ntown,*,2\nill,yes,1\nill,no,0\n"


class Preparation(TestCase):
    def setUp(self):
        super().setUp()
        self.write("t.csv", PEOPLE)
        self.write("codes.csv", CODES)
        self.write("r.csv", f"{LOW}\nage,20,60\n")
        self.write("m.csv", f"{VALUE}\nage,50\n")
        self.words = ["--label", "ill", "--encode", "onehot:codes.csv", "--ranges", "r.csv"]

    def converted(self, *words):
        self.succeeded(self.run_alone(["data", "convert", "t.csv", *words, "--output", "o.csv", "--force"]))
        return list(csv.reader((self.folder / "o.csv").read_text().splitlines()))

    def test_columns_become_features(self):
        names, *rows = self.converted(*self.words, "--missing", "indicator")
        self.assertEqual(names, ["age", "age.missing", "sex=f", "sex=m", "sex.missing", "town=*", "town=Ulm", "town.missing", "y"])
        self.assertEqual(rows, [["-0.5", "0", "0", "1", "0", "0", "1", "0", "1"], ["0", "1", "1", "0", "0", "1", "0", "0", "0"],
                                ["0", "0", "0", "0", "1", "1", "0", "0", "1"], ["1", "0", "0", "1", "0", "0", "1", "0", "0"]])
        names, *rows = self.converted(*self.words, "--missing", "zero")
        self.assertEqual(names, ["age", "sex=f", "sex=m", "town=*", "town=Ulm", "y"])
        self.assertEqual(rows[1:3], [["0", "1", "0", "1", "0", "0"], ["0", "0", "0", "1", "0", "1"]])
        self.write("ill.csv", f"{CATEGORY}\nill,yes,1\nill,no,0\n")
        rows = self.converted("--label", "ill", "--drop", "sex,town", "--encode", "ill.csv", "--missing", "constant:m.csv",
                              "--ranges", "r.csv")
        self.assertEqual(rows, [["age", "y"], ["-0.5", "1"], ["0.5", "0"], ["0", "1"], ["1", "0"]])

    @needs_h5py
    def test_the_model_applies_them_to_other_records(self):
        for rule in ("indicator", "zero"):
            output = f"run-{rule}"
            result = self.run_alone(["omd", "--source", "t.csv", *self.words, "--missing", rule, "--clients", "1", "--intercept", *OPEN,
                                     "--output", output])
            self.assertEqual(result.code, 0, result)
            names, *rows = self.converted(*self.words, "--missing", rule)
            x = numpy.array([[float(value) for value in row[:-1]] for row in rows])
            with h5py.File(self.folder / output / "model.h5") as file:
                self.assertEqual([each.decode() for each in file["feature"][()]], names[:-1])
                scores = x @ file["parameters/weights"][0] + file["parameters/intercept"][0, 0]
            rows = list(csv.reader(PEOPLE.splitlines()))
            self.write("new.csv", "".join(f"{town},{age},{sex}\n" for age, sex, town, _ in rows))  # no label, another order
            for source in ("t.csv", "new.csv"):
                result = self.succeeded(self.run_alone(["predict", output, "--source", source]))
                found = [float(row["score"]) for row in csv.DictReader(result.out.splitlines())]
                numpy.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
        result = self.run_alone(["predict", "run-zero", "--source", "t.csv", "--missing", "zero"])
        self.assertEqual((result.code, "the model says" in result.messages()[0]), (USAGE, True))
        result = self.run_alone(["predict", "run-zero", "--source", "t.csv", "--ranges", "r.csv"])
        self.assertEqual((result.code, "--ranges: the model has the constants" in result.messages()[0]), (USAGE, True))

    @needs_h5py
    def test_a_regression_in_a_range_predicts_in_its_own_units(self):
        random = numpy.random.default_rng(1)
        a = random.uniform(0, 10, 200)
        self.write("t.csv", "a,cost\n" + "".join(f"{each},{50 + 20 * each}\n" for each in a) + ",150\n")
        self.write("r.csv", f"{LOW}\na,0,10\ncost,50,250\n")
        self.write("m.csv", f"{VALUE}\na,5\n")
        result = self.run_alone(["omd", "--source", "t.csv", "--label", "cost", "--loss", "squared", "--intercept", "--clients", "1",
                                 "--ranges", "r.csv", "--missing", "constant:m.csv", "--epochs", "40", "--step", "0.3", *OPEN,
                                 "--output", "run"])
        self.assertEqual(result.code, 0, result)
        self.write("new.csv", "a\n0\n10\nNA\n50\n")
        found = [float(row["prediction"]) for row in csv.DictReader(self.run_alone(["predict", "run", "--source", "new.csv"]).out.splitlines())]
        numpy.testing.assert_allclose(found, [50, 250, 150, 250], atol=3)

    @needs_h5py
    def test_intervals_of_a_range_are_in_the_units_of_the_table_too(self):
        random = numpy.random.default_rng(2)
        a, b = random.uniform(0, 10, 4000), random.uniform(-1, 3, 4000)
        y = 5 + 2 * a - 3 * b + random.normal(0, 0.5, 4000)
        self.write("t.csv", "a,b,y\n" + "".join(f"{each[0]},{each[1]},{each[2]}\n" for each in zip(a, b, y)))
        self.write("r.csv", f"{LOW}\na,0,10\nb,-1,3\n")
        result = self.succeeded(self.run_alone(["infer", "--source", "t.csv", "--ranges", "r.csv", *OPEN, "--output", "run", "--json"]))
        found = {each["name"]: each["estimate"] for each in json.loads(result.out)["own_units"]}
        for name, truth in (("a", 2), ("b", -3), ("intercept", 5)):
            self.assertAlmostEqual(found[name], truth, delta=0.15)

    def test_the_example_of_the_page(self):
        page = (SOURCE / "docs/how-to/prepare-a-table.md").read_text()
        example = re.search(r"\$ cat people.csv\n.*?```", page, re.S).group()
        for name, text in re.findall(r"\$ cat (\S+)\n(.*?)(?=\$ )", example, re.S):
            self.write(name, text)
        self.succeeded(self.run_alone(re.search(r"\$ starling (.*)\n", example).group(1).split()))
        self.assertEqual((self.folder / "prepared.csv").read_text().splitlines()[2].split(",")[1:5], ["1", "1", "0", "0"])

    def test_a_configuration_finds_the_files_from_its_folder(self):
        (self.folder / "there").mkdir()
        for name in ("codes.csv", "m.csv", "r.csv", "t.csv"):
            (self.folder / name).rename(self.folder / "there" / name)
        self.write("there/a.ini", "encode = onehot:codes.csv\nmissing = constant:m.csv\nranges = r.csv\nlabel = ill\n")
        shown = self.run_alone(["data", "describe", "there/t.csv", "--config", "there/a.ini", "--print-config"]).out
        for line in ("encode = onehot:{}/codes.csv", "missing = constant:{}/m.csv", "ranges = {}/r.csv"):
            self.assertIn(line.format(self.folder / "there"), shown)

    def test_each_party_of_a_split_has_constants_of_its_own(self):
        self.write("p1.csv", "id,a\n" + "".join(f"{i},{'' if i == 3 else i}\n" for i in range(12)))
        self.write("p2.csv", "id,b,y\n" + "".join(f"{i},{i % 5},{i % 2}\n" for i in range(12)))
        for party, column in ((1, "a"), (2, "b")):
            self.write(f"r{party}.csv", f"{LOW}\n{column},0,{10 * party}\n")
            self.write(f"m{party}.csv", f"{VALUE}\n{column},{party}\n")
        words = ["vertical", "--source", "p{client}.csv", "--clients", "2", "--id", "id", "--label-source", "p2.csv", "--ranges",
                 "r{client}.csv", "--missing", "constant:m{client}.csv", "--batch", "4", *OPEN, "--output", "run"]
        result = self.succeeded(self.run_alone(words))
        self.write("m1.csv", f"{VALUE}\nb,1\n")
        result = self.run_alone([*words[:-1], "again"])
        self.assertEqual((result.code, "m1.csv: row 2" in result.messages()[-1]), (DATA_FAULT, True), result)


    @needs_h5py
    def test_the_model_of_a_split_table_has_all_constants(self):
        """One table dealt to parties: its model applied to the table predicts as it does for the prepared table."""
        random = numpy.random.default_rng(3)
        rows = [[*each, int(each[0] > each[1])] for each in random.uniform(-2, 12, (40, 3)).round(2)]
        rows[4][1] = ""
        self.write("t.csv", "a,b,c,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        self.write("r.csv", f"{LOW}\na,0,10\nb,2,8\nc,-1,1\n")
        self.write("m.csv", f"{VALUE}\na,1\nb,3\nc,0\n")
        prepared = ["--ranges", "r.csv", "--missing", "constant:m.csv"]
        self.assertEqual(self.run_alone(["data", "convert", "t.csv", *prepared, "--output", "p.csv"]).code, 0)
        found = []
        for output, words in (("raw", ["--source", "t.csv", *prepared]), ("ready", ["--source", "p.csv"])):
            result = self.run_alone(["vertical", *words, "--columns", "0,2/1", "--clients", "2", "--networks", "shared", "--epochs", "3",
                                     *OPEN, "--output", output])
            self.assertEqual(result.code, 0, result)
            result = self.succeeded(self.run_alone(["predict", output, "--source", words[1]]))
            found.append(result.out)
        self.assertEqual(found[0], found[1])


class Profiles(TestCase):
    def profile(self, *words):
        return self.run_alone(["data", "profile", *words])

    def rows(self, name):
        return list(csv.reader((self.folder / name).read_text().splitlines()))

    def test_what_columns_hold(self):
        random = __import__("random").Random(1)
        ages = [random.randrange(18, 95) for _ in range(400)]
        towns = [random.choice(["Ulm", "Bonn", "New, York"]) for _ in ages]
        lines = [f'{i},{age if i % 50 else ""},"{town}",{i % 2},name{i}' for i, (age, town) in enumerate(zip(ages, towns))]
        self.write("t.csv", "id,age,town,ill,name\n" + "\n".join(lines) + "\n")
        result = self.succeeded(self.profile("t.csv", "--label", "ill", "--id", "id", "--output", "drafts"))
        known = sorted(age for i, age in enumerate(ages) if i % 50)
        quartiles = [known[0], *(known[k] + (known[k + 1] - known[k]) * f for k, f in ((97, 0.75), (195, 0.5), (293, 0.25))), known[-1]]
        self.assertRegex(result.out, "(?m)^  age +number +8 +{} +{}$".format(len(set(known)), " +".join(f"{q:.6g}" for q in quartiles)))
        self.assertRegex(result.out, r"(?m)^  town +text +0 +3$")
        self.assertRegex(result.out, r"(?m)^  id +number \(not used\)")
        self.assertRegex(result.out, r"(?m)^  ill +number \(label\) +0 +2 ")
        self.assertIn("note: column 'name' has too many texts for categories", result.out)
        self.assertIn("a release\nwithout noise", result.out)
        self.assertEqual(self.rows("drafts/encode.csv"), [CATEGORY.split(","), *(["town", town, str(k)] for k, town in
                                                                                 enumerate(sorted(set(towns)))) ])
        low, high = (float(value) for value in self.rows("drafts/ranges.csv")[1][1:])
        self.assertTrue(low <= known[0] and high >= known[-1])
        mean, sd = (float(value) for value in self.rows("drafts/standardise.csv")[1][1:])
        self.assertAlmostEqual(mean, sum(known) / len(known), delta=1e-3)
        self.assertAlmostEqual(sd, (sum((age - mean) ** 2 for age in known) / len(known)) ** 0.5, delta=1e-3)
        self.assertEqual(float(self.rows("drafts/missing.csv")[1][1]), quartiles[2])

    def test_persons_dates_and_commas(self):
        """No draft tells of persons or days; decimal commas are read; texts among numbers are named."""
        rows = [f"P{k % 100:03};{k % 28 + 1:02}.01.2024;{k % 40},5;{'k.A.' if k % 60 == 7 else k % 9};{'Ulm' if k % 3 else 'Bonn'};{k % 2}" for k in range(240)]
        os.chmod(self.write("t.csv", "patient;admitted;crp;size;town;ill\n" + "\n".join(rows) + "\n"), 0o644)
        for words in ((), ("--person", "patient")):
            result = self.succeeded(self.profile("t.csv", "--label", "ill", *words, "--output", "d", "--force"))
            self.assertEqual([row[0] for row in self.rows("d/encode.csv")[1:]], ["town", "town"])
            self.assertIn("note: numbers have decimal commas, and are read so: runs need --decimal comma", result.out)
            self.assertIn("note: column 'admitted' has dates", result.out)
            self.assertIn("note: column 'size' has numbers and a few texts: if they mean missing values, add --missing-values k.A.", result.out)
            self.assertEqual("name it by --id or --person" in result.out, not words)
            self.assertIn("crp", [row[0] for row in self.rows("d/ranges.csv")])
            for draft in (self.folder / "d").iterdir():
                self.assertEqual(draft.stat().st_mode & 0o777, 0o600, draft)

    def test_drafts_prepare_the_table(self):
        self.write("t.csv", "a;town;y\n" + "1,5;Ulm;1\n;Bonn;0\n7;Ulm;1\n" * 5)
        self.assertEqual(self.profile("t.csv", "--decimal", "comma", "--output", "d").code, 0)
        common = ["--decimal", "comma", "--encode", "onehot:d/encode.csv", *OPEN]
        for output, words in (("r", ["--ranges", "d/ranges.csv", "--missing", "constant:d/missing.csv"]),
                              ("s", ["--standardise", "d/standardise.csv", "--missing", "indicator"])):
            self.succeeded(self.run_alone(["omd", "--source", "t.csv", *common, *words, "--output", output]))

    def test_yes_is_the_class_that_models_predict(self):
        self.write("t.csv", "a,again\n" + "1,ja\n2,nein\n" * 9)
        self.assertEqual(self.profile("t.csv", "--output", "d").code, 0)
        self.assertEqual(self.rows("d/encode.csv")[1:], [["again", "nein", "0"], ["again", "ja", "1"]])
        result = self.profile("site-{client}.csv", "--output", "e")
        self.assertEqual(result.code, 2)
        self.assertIn("drafts are of one. Name the file, as in site-0.csv", result.err)

    def test_models_know_that_decimals_may_stand_behind_commas(self):
        """predict and score need not be told again, whichever way the other file is written."""
        commas = "a;b;y\n" + "".join(f"{k % 7},5;{k % 3};{k % 2}\n" for k in range(60))
        for name, text in (("c.csv", commas), ("p.csv", commas.replace(",", ".").replace(";", ",")), ("whole.csv", "a;b\n1;2\n")):
            self.write(name, text)
        self.succeeded(self.run_alone(["omd", "--source", "c.csv", "--decimal", "comma", *OPEN, "--output", "r"]))
        self.assertIn("decimal = comma", (self.folder / "r/config.ini").read_text())
        seen = [self.succeeded(self.run_alone(["predict", "r", "--source", name])).out for name in ("c.csv", "p.csv")]
        self.assertEqual(seen[0], seen[1])
        self.succeeded(self.run_alone(["score", "r", "--source", "c.csv"]))
        self.succeeded(self.run_alone(["predict", "r", "--source", "whole.csv"]))
        self.succeeded(self.run_alone(["omd", "--source", "p.csv", *OPEN, "--output", "s"]))
        self.assertIn("--decimal comma", self.run_alone(["predict", "s", "--source", "c.csv"]).err)

    def test_columns_far_from_zero(self):
        """Their means differ from those of the records by a hundredth of a deviation at most, and their ranges are hardly wider."""
        columns = {"seconds": [1_700_000_000 + 37 * i % 1009 for i in range(200)], "weight": [123456789 + i % 7 / 4 for i in range(200)],
                   "below": [-1e9 - i % 13 for i in range(200)], "same": [1e9] * 200}
        lines = [",".join(map(repr, row)) + f",{i % 2}" for i, row in enumerate(zip(*columns.values()))]
        self.write("t.csv", ",".join(columns) + ",y\n" + "\n".join(lines) + "\n")
        self.assertEqual(self.profile("t.csv", "--output", "d").code, 0)
        found = {name: {row[0]: [float(word) for word in row[1:]] for row in self.rows(f"d/{name}.csv")[1:]}
                 for name in ("ranges", "standardise", "missing")}
        for name, values in columns.items():
            mean, middle = sum(values) / 200, sorted(values)[99:101]
            deviation = (sum((x - mean) ** 2 for x in values) / 200) ** 0.5 or 1
            low, high = found["ranges"][name]
            self.assertTrue(low <= min(values) and max(values) <= high, name)
            self.assertLess(high - low, 1.3 * (max(values) - min(values)) + 3, name)
            self.assertAlmostEqual(found["standardise"][name][0], mean, delta=deviation / 100, msg=name)
            self.assertAlmostEqual(found["missing"][name][0], sum(middle) / 2, delta=deviation / 100, msg=name)
        for name in ("ranges", "standardise"):
            self.succeeded(self.run_alone(["omd", "--source", "t.csv", f"--{name}", f"d/{name}.csv", *OPEN, "--output", name]))

    def test_the_label_of_a_regression_and_columns_without_names(self):
        self.write("t.csv", "".join(f"{i % 3},{i % 7 - 3},{i * 1.5}\n" for i in range(60)))
        self.assertEqual(self.profile("t.csv", "--output", "d").code, 0)
        self.assertEqual([row[0] for row in self.rows("d/ranges.csv")], ["feature", "0", "1", "label"])
        self.assertEqual([row[0] for row in self.rows("d/missing.csv")], ["feature", "0", "1"])
        self.assertFalse((self.folder / "d/encode.csv").exists())
        self.succeeded(self.run_alone(["omd", "--source", "t.csv", "--ranges", "d/ranges.csv", "--loss", "squared", *OPEN]))

    def test_distinct_values_and_quartiles_stay_within_bounds(self):
        with gzip.open(self.folder / "t.csv.gz", "wt") as file:
            file.write("a,t,y\n" + "".join(f"{i},text{i % 1500},{i % 2}\n" for i in range(30_000)))
        result = self.succeeded(self.profile("t.csv.gz", "--output", "d"))
        self.assertRegex(result.out, r"(?m)^  a +number +0 +over 1000 +0 ")
        self.assertRegex(result.out, r"(?m)^  t +text +0 +over 1000$")
        self.assertIn("a random sample", result.out)
        median = float(re.search(r"(?m)^  a +number +\S+ +over 1000 +\S+ +\S+ +(\S+)", result.out).group(1))
        self.assertLess(abs(median - 15_000), 1_000)

    def test_refusals(self):
        self.write("t.csv", "a,b,y\n1,2,0\n1,2\n")
        self.write("good.csv", "a,b,y\n1,2,0\n")
        self.write("empty.csv", "a,b,y\n")
        self.write("file", "")
        self.assertEqual(self.profile("good.csv", "--output", "there").code, 0)
        for words, code, text in [
            (["good.csv"], USAGE, "--output is missing"),
            (["--output", "d"], USAGE, "no source is named"),
            (["nowhere.csv", "--output", "d"], USAGE, "nowhere.csv"),
            (["t.csv", "--output", "d"], DATA_FAULT, "t.csv: row 3: 2 fields"),
            (["empty.csv", "--output", "d"], DATA_FAULT, "no records"),
            (["good.csv", "--output", "file"], USAGE, "cannot be made a folder"),
            (["good.csv", "--output", "there"], USAGE, "add --force"),
            (["good.csv", "--output", "d", "--label", "z"], USAGE, "no column 'z'"),
            (["-", "--output", "d"], DATA_FAULT, "not a regular file"),
        ]:
            result = self.profile(*words)
            self.assertEqual((result.code, len(result.messages())), (code, 1), (words, result))
            self.assertIn(text, result.messages()[0])
        self.assertEqual(self.profile("good.csv", "--output", "there", "--force").code, 0)


@needs_h5py
class NumPy(TestCase):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(1)
        self.x = random.normal(0, 1, (3000, 3))
        self.y = (self.x[:, 0] > 0).astype(float)
        self.all = numpy.column_stack([self.x, self.y])

    def path(self, name):
        return str(self.folder / name)

    def converted(self, *words):
        self.succeeded(self.run_alone(["data", "convert", *words, "--output", "o.h5", "--force"]))
        with h5py.File(self.folder / "o.h5") as file:
            names = [each.decode() if isinstance(each, bytes) else each for each in file["x"].attrs.get("names", [])]
            return file["x"][()], file["y"][()], names

    def test_arrays_read_to_the_bit(self):
        numpy.save(self.path("c.npy"), self.all)
        numpy.save(self.path("f.npy"), numpy.asfortranarray(self.all))
        numpy.save(self.path("x.npy"), self.x)
        numpy.save(self.path("y.npy"), self.y.astype(bool))
        numpy.savez(self.path("s.npz"), X=self.x, y=self.y.astype("i4"), features=numpy.array(["a", "b", "größe"]))
        numpy.savez_compressed(self.path("d.npz"), X=numpy.asfortranarray(self.x), y=self.y[:, None], features=numpy.array([b"a", b"b", b"c"]))
        numpy.savez(self.path("only.npz"), X=self.all[:, ::-1], features=numpy.array(["l", "c", "b", "a"]))
        (self.folder / "c.npy.gz").write_bytes(gzip.compress((self.folder / "c.npy").read_bytes()))
        (self.folder / "unnamed").write_bytes((self.folder / "s.npz").read_bytes())
        for words, names in [(["c.npy"], []), (["f.npy"], []), (["c.npy.gz"], []), (["x.npy,y.npy"], []), (["s.npz"], ["a", "b", "größe"]),
                             (["d.npz"], ["a", "b", "c"]), (["unnamed"], ["a", "b", "größe"]), (["c.npy", "--label", "3"], [])]:
            with self.subTest(words=words):
                x, y, found = self.converted(*words)
                self.assertTrue((x == self.x).all() and (y.ravel() == self.y).all())
                self.assertEqual(found, names)
        x, y, names = self.converted("only.npz", "--label", "l")
        self.assertTrue((x == self.x[:, ::-1]).all() and (y.ravel() == self.y).all())

    def test_every_type(self):
        for kind in ("f4", "f8", "i4", "i8", "u1", "bool"):
            values = (numpy.abs(self.all) * 3).astype(kind)
            numpy.save(self.path("t.npy"), values)
            x, y, _ = self.converted("t.npy")
            self.assertTrue((numpy.column_stack([x, y]) == values.astype(float)).all(), kind)

    def test_missing_values_are_nan(self):
        self.x[7, 1] = numpy.nan
        numpy.savez(self.path("s.npz"), X=self.x, y=self.y)
        x, _, _ = self.converted("s.npz", "--missing", "indicator")
        self.assertEqual((x.shape, x[7, 2], x[7, 3], x[:, 1::2].sum()), ((3000, 6), 0, 1, 1))

    def test_clients_learn_from_them_as_from_text(self):
        numpy.savetxt(self.path("t.csv"), self.all, delimiter=",", fmt="%r", header="a,b,c,y", comments="")
        numpy.savez(self.path("t.npz"), X=self.x, y=self.y, features=numpy.array(["a", "b", "c"]))
        models = []
        for source in ("t.csv", "t.npz"):
            self.succeeded(self.run_command(3, ["omd", "--source", source, "--partition", "iid", *OPEN, "--output", source + ".run"]))
            with h5py.File(self.folder / (source + ".run") / "model.h5") as file:
                models.append(file["parameters/weights"][()].tobytes())
        self.assertEqual(models[0], models[1])

    def test_faults(self):
        save, savez = numpy.save, numpy.savez
        nan = self.x.copy()
        nan[5, 1] = numpy.nan
        whole = self.path("c.npy")
        save(whole, self.all)
        savez(self.path("s.npz"), X=self.x, y=self.y)
        numpy.savez_compressed(self.path("d.npz"), X=self.x, y=self.y)
        content, stored, packed = ((self.folder / name).read_bytes() for name in ("c.npy", "s.npz", "d.npz"))
        flipped = bytearray(packed)
        flipped[len(packed) // 3] ^= 1
        for name, write, expected in [
            ("big.npy", lambda path: save(path, self.x.astype(">f8")), ["type '>f8'", "astype('float64')"]),
            ("complex.npy", lambda path: save(path, self.x.astype("c16")), ["type '<c16'"]),
            ("struct.npy", lambda path: save(path, numpy.zeros(3, dtype=[("a", "f8")])), ["an array of structures"]),
            ("text.npy", lambda path: save(path, numpy.array([["a", "b"]])), ["an array of texts"]),
            ("cube.npy", lambda path: save(path, self.x[:, :, None]), ["3 dimensions"]),
            ("line.npy", lambda path: save(path, self.y), ["one column", "FEATURES,LABELS"]),
            ("empty.npy", lambda path: save(path, numpy.zeros((0, 3))), ["no records"]),
            ("narrow.npy", lambda path: save(path, numpy.zeros((3, 0))), ["0 columns"]),
            ("cut.npy", lambda path: Path(path).write_bytes(content[:-5]), ["truncated or damaged"]),
            ("long.npy", lambda path: Path(path).write_bytes(content + b"1"), ["truncated or damaged"]),
            ("head.npy", lambda path: Path(path).write_bytes(content[:40]), ["it ends inside its header"]),
            ("version.npy", lambda path: Path(path).write_bytes(content[:6] + b"\x09" + content[7:]), ["version 9"]),
            ("damaged.npy", lambda path: Path(path).write_bytes(content.replace(b"shape", b"shapf")), ["no NumPy header"]),
            ("nan.npz", lambda path: savez(path, X=nan, y=self.y), ["record 6", "column 1 (from 0) of X is nan", "--missing"]),
            ("nox.npz", lambda path: savez(path, a=self.x), ["no array X", "a.npy", "numpy.savez(FILE, X="]),
            ("noy.npz", lambda path: savez(path, X=self.x), ["no array y"]),
            ("short.npz", lambda path: savez(path, X=self.x, y=self.y[:5]), ["3000 records of X and 5"]),
            ("names.npz", lambda path: savez(path, X=self.x, y=self.y, features=numpy.array(["a"])), ["features must be 3 texts"]),
            ("numbers.npz", lambda path: savez(path, X=self.x, y=self.y, features=numpy.zeros(3)), ["features must be 3 texts"]),
            ("cut.npz", lambda path: Path(path).write_bytes(stored[:-300]), ["no zip archive, or damaged"]),
            ("flipped.npz", lambda path: Path(path).write_bytes(flipped), ["X.npy: it is damaged"]),
        ]:
            with self.subTest(name=name):
                write(self.path(name))
                result = self.run_alone(["data", "describe", name])
                self.assertEqual((result.code, len(result.messages())), (DATA_FAULT, 1), result)
                for text in [name, *expected]:
                    self.assertIn(text, result.messages()[0])
        for words, text in [(["c.npy", "--delimiter", "tab"], "--delimiter"), (["c.npy", "--label", "9"], "no column '9'"),
                            (["s.npz", "--encode", "c.csv"], "--encode"), (["nowhere.npy"], "nowhere.npy")]:
            result = self.run_alone(["data", "describe", *words])
            self.assertEqual((result.code, text in result.messages()[0]), (USAGE, True), result)


if __name__ == "__main__":
    unittest.main()
