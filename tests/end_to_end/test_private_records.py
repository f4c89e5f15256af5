"""Nothing that others see depends on a record but through a release: records out of range, values in messages, and
records that are left out."""

import csv
import gzip
import random
import re
import shutil
import stat
import threading
import unittest

from harness import *

SECRET = "John-Smith-HIV+"


def one_hot(count, labels, width=None):
    """Record i has the one feature i, so that nothing but record i moves parameter i."""
    return [",".join(["1" if j == i else "0" for j in range(width or count)] + [str(labels[i])]) for i in range(count)]


class OutOfRange(TestCase):
    """A record of 1e200 is a legal record: it adds nothing, and its owner alone learns of it."""

    def setUp(self):
        super().setUp()
        rows = csv_rows(240, seed=3)
        self.write("whole.csv", "\n".join(rows) + "\n")
        fields = rows[7].split(",")
        self.write("huge.csv", "\n".join([*rows[:7], ",".join(["1e200", *fields[1:]]), *rows[8:]]) + "\n")

    def owners_counts(self, output, ranks):
        total = 0
        for rank in range(ranks):
            path = self.folder / output / "private" / str(rank) / "metrics.csv"
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
            total += sum(int(row["out_of_range"]) for row in csv.DictReader(lines))
        return total

    def test_it_ends_no_run(self):
        # With the same noise: notes name what was released, as parameters that have no interval.
        noise = ["--noise-key", "seed", "--metrics", "local"]
        laplace = ["--mechanism", "laplace", "--epsilon", "1", *noise]
        gaussian = ["--mechanism", "gaussian", "--mu", "1", *noise]
        commands = [
            ("omd", 2, [*laplace, "--clients", "3"]),
            ("omd", 1, [*laplace, "--unit", "component"]),
            ("omd", 1, [*gaussian, "--loss", "hinge", "--model", "mlp:3-4-1"]),
            ("omd", 1, [*gaussian, "--loss", "squared", "--model", "location"]),
            ("omd", 1, [*gaussian, "--constraint", "data:column=0,max=1"]),
            ("fedavg", 1, gaussian),
            ("infer", 1, [*gaussian, "--loss", "logistic", "--intervals", "plug-in", "--intercept", "no"]),
            ("renewable", 1, [*gaussian, "--variant", "private", "--trust", "central", "--clients", "2"]),
        ]
        for number, (command, ranks, words) in enumerate(commands):
            told = {}
            for data in ("whole", "huge"):
                with self.subTest(command, words=words, data=data):
                    output = f"{data}-{number}"
                    result = self.run_command(ranks, [command, "--source", f"{data}.csv", "--batch", "2", "--progress",
                                                      "off", "--output", output, "--json", *words])
                    self.assertEqual(result.code, 0, result)
                    self.assertNotIn("e+200", result.err + result.out)
                    # Numbers in notes are made of what was released.
                    notes = [re.sub("[-+0-9.e, ]+", "", note) for note in result.summary()["notes"]]
                    told[data] = (result.err.replace(output, ""), result.summary()["rounds"], notes)
                    clamped = "component" in words  # each component is, whatever its size
                    self.assertEqual(self.owners_counts(output, ranks) > 0, data == "huge" and not clamped)
            self.assertEqual(told["whole"], told["huge"], words)

    def test_the_count_survives_a_resumption(self):
        words = ["--source", "huge.csv", "--mechanism", "laplace", "--epsilon", "1", "--progress", "off"]
        result = self.succeeded(self.run_command(1, ["omd", *words, "--rounds", "12", "--checkpoint-every", "6", "--output", "run"]))
        self.assertEqual(self.owners_counts("run", 1), 1)
        self.succeeded(self.run_command(1, ["omd", "--resume", "run", "--rounds", "24"]))
        self.assertEqual(self.owners_counts("run", 1), 1)

    def test_parties_of_vertical_learning_count_theirs(self):
        words = ["vertical", "--clients", "2", "--columns", "0/1,2", "--loss", "logistic", "--labels", "head",
                 "--mechanism", "gaussian", "--mu", "1", "--progress", "off", "--batch", "4"]
        for data in ("whole", "huge"):
            self.succeeded(self.run_command(1, [*words, "--source", f"{data}.csv", "--output", data]))
        counts = {data: (self.folder / data / "private/0/out-of-range.csv").read_text() for data in ("whole", "huge")}
        self.assertIn("1,0\n2,0\n", counts["whole"])
        self.assertRegex(counts["huge"], r"\n1,[1-9]\d*\n2,0\n")

    def test_where_metrics_are_shared_a_note_says_so(self):
        result = self.run_command(1, ["omd", "--source", "huge.csv", "--loss", "squared", "--mechanism", "none",
                                      "--output", "run", "--json", "--progress", "off"])
        self.assertEqual(result.code, 0, result)
        self.assertTrue(any("out of range" in note for note in result.summary()["notes"]), result)


class AfterARelease(TestCase):
    """Records of extreme values are legal, and end no run after something was released. Each row of docs/verification.md,
    "What can end a run after the first release", whose cause is a value, is tried here."""

    EXTREMES = {40: {"a": "1e305"}, 41: {"b": "-1.7e308"}, 142: {"a": "1.7e308", "b": "1.7e308"}, 243: {"a": "5e-324", "b": "1e-320"},
                344: {"y": "1.7e308"}, 345: {"y": "-1e305"}}

    def table(self, name, classes=True, town=False):
        """Features of sizes 1e-6 and 10, and label or target of them."""
        draw = random.Random(3)
        header = [*(["who", "town"] if town else []), "a", "b", "y"]
        lines = [",".join(header)]
        for i in range(600):
            label = draw.choice([-1, 1])
            row = {"who": str(i // 2), "town": "uvw"[i % 3], "a": f"{1e-6 * draw.gauss(0.5 * label, 1):.5g}",
                   "b": f"{10 * draw.gauss(label, 1):.5g}", "y": str(label) if classes else f"{label + draw.gauss(0, 1):.4f}"}
            row |= {key: value for key, value in self.EXTREMES.get(i, {}).items() if key != "y" or not classes}
            lines.append(",".join(row[key] for key in header))
        return self.write(name, "\n".join(lines) + "\n")

    def setUp(self):
        super().setUp()
        self.table("classes.csv")
        self.table("numbers.csv", classes=False)
        self.table("towns.csv", town=True)
        self.write("constants.csv", "feature,mean,sd\na,0,1e-6\nb,0,10\n")
        self.write("ranges.csv", "feature,low,high\na,-3e-6,3e-6\nb,-30,30\n")
        self.write("codes.csv", "column,category,value\ntown,u,0\ntown,v,1\ntown,w,2\n")

    GAUSSIAN = ["--mechanism", "gaussian", "--mu", "8"]
    RULE = ["--tuning", "auto", "--clients", "2"]
    TOWNS = ["--source", "towns.csv", "--encode", "onehot:codes.csv"]

    def played(self, words, output):
        result = self.run_alone([*words, "--progress", "off", "--output", output])
        self.assertEqual(result.code, 0, result)
        self.assertNotRegex(result.err + result.out, r"row \d|e\+30")
        return result

    def test_it_ends_no_run(self):
        classes, numbers = ["--source", "classes.csv"], ["--source", "numbers.csv", "--loss", "squared"]
        cases = {
            "features": ["omd", *classes, *self.RULE, *self.GAUSSIAN],
            "fedavg": ["fedavg", *classes, *self.RULE, *self.GAUSSIAN],
            "labels": ["omd", *numbers, *self.RULE, *self.GAUSSIAN],
            "laplace": ["omd", *classes, *self.RULE, "--mechanism", "laplace", "--epsilon", "8"],
            "network": ["omd", *classes, "--model", "mlp:2-3-1", *self.RULE, *self.GAUSSIAN],
            "read again": ["omd", *classes, *self.RULE, *self.GAUSSIAN, "--memory", "0"],
            "constants": ["omd", *numbers, *self.RULE, *self.GAUSSIAN, "--standardise", "constants.csv"],
            "ranges": ["fedavg", *classes, *self.RULE, *self.GAUSSIAN, "--ranges", "ranges.csv"],
            "categories": ["omd", *self.TOWNS, "--drop", "who", *self.RULE, *self.GAUSSIAN],
            "persons": ["omd", *self.TOWNS, "--unit", "person", "--person", "who", *self.RULE, *self.GAUSSIAN],
            "second release": ["omd", *classes, *self.GAUSSIAN, "--constraint", "data:column=0,max=1"],
            "moments": ["infer", *classes, "--loss", "logistic", *self.RULE, *self.GAUSSIAN, "--warmup-share", "0.2"],
            "curvatures": ["infer", *numbers, "--loss", "expectile:tau=.5", *self.GAUSSIAN, "--intervals", "plug-in"],
            "batches": ["renewable", *classes, *self.GAUSSIAN, "--variant", "private", "--batch", "50"],
            "parties": ["vertical", *classes, *self.GAUSSIAN, "--columns", "a/b", "--clients", "2", "--loss", "logistic", "--labels",
                        "head", "--batch", "50"],
        }
        for name, words in cases.items():
            with self.subTest(name):
                result = self.played(words, name)
                if name in ("features", "fedavg", "labels", "network", "read again", "categories", "persons"):
                    self.assertIn("tuning: standardise values:", result.err)
                if name == "features":  # with the constants that it has released, it may begin again
                    self.played(["omd", "--config", self.folder / name / "config.ini"], "again")


class HeldOut(TestCase):
    """Records to learn from are not those of --test, whose metrics are exact."""

    PRICE = ["--mechanism", "gaussian", "--mu", "1", "--progress", "off", "--batch", "5"]
    VERTICAL = ["vertical", "--columns", "0/1,2", "--clients", "2", "--loss", "logistic", *PRICE]

    def setUp(self):
        super().setUp()
        self.rows = csv_rows(60, seed=4)
        for name, rows in (("data.csv", self.rows), ("0.csv", self.rows[:30]), ("1.csv", self.rows[30:])):
            self.write(name, "\n".join(rows) + "\n")
        shutil.copy(self.folder / "data.csv", self.folder / "copy.csv")
        os.symlink("1.csv", self.folder / "link.csv")

    def test_a_file_to_learn_from_is_refused(self):
        commands = [["omd", "--clients", "2", *self.PRICE], ["fedavg", *self.PRICE], ["infer", "--loss", "logistic", *self.PRICE],
                    ["renewable", "--variant", "private", *self.PRICE], self.VERTICAL]
        cases = [(words, "data.csv", "copy.csv", 1) for words in commands]
        cases += [(commands[0], "data.csv", "data.csv", 1), (commands[0], "{client}.csv", "link.csv", 2)]
        for words, source, test, ranks in cases:
            with self.subTest(words[0], source=source, test=test):
                result = self.run_command(ranks, [*words, "--source", source, "--test", test, "--output", "run"])
                self.complains(result, 2, rf"--test '[^']*{test}': these are records to learn from", "leave it out")
                self.assertFalse((self.folder / "run").exists())

    def test_it_is_refused_for_each_party(self):
        for name, columns in (("guest", (3, 0)), ("host", (1, 2))):
            rows = [[f"r{i}", *(row.split(",")[j] for j in columns)] for i, row in enumerate(self.rows)]
            header = ["id", *("y" if j == 3 else f"x{j}" for j in columns)]
            others = [[*row[:-1], "0.5"] for row in rows[:40]]
            for file, part in ((name, rows[:40]), (f"{name}-other", others), (f"{name}-test", rows[40:]), (f"{name}-both", rows[30:50])):
                self.write(f"{file}.csv", "\n".join(map(",".join, [header, *part])) + "\n")
        words = ["vertical", "--parties", "guest.csv,host.csv", "--clients", "2", "--id", "id", "--loss", "logistic", *self.PRICE]
        result = self.run_command(1, [*words, "--test", "guest-other.csv,host.csv", "--output", "refused"])
        self.complains(result, 2, "--test '[^']*host.csv': these are records to learn from")
        told = self.told([*words, "--test", "guest-both.csv,host-both.csv"], "run")
        self.assertRegex(told, r"^client 0: of 20 records of --test these are among its own, counted from 1: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n$")
        self.assertEqual(self.told([*words, "--test", "guest-test.csv,host-test.csv"], "other"), "")

    def test_where_nobody_is_protected_it_may_be_either(self):
        for words in (["--mechanism", "none"], [*self.PRICE, "--noise-key", "seed"]):
            result = self.run_command(1, ["omd", "--source", "data.csv", "--test", "data.csv", *words, "--output", words[1]])
            self.assertEqual(result.code, 0, result)
            self.assertFalse((self.folder / words[1] / "private/0/in-test.txt").exists())

    def told(self, words, output, ranks=1):
        """What the owners of the records are told, of all ranks."""
        result = self.run_command(ranks, [*words, "--output", output])
        self.assertEqual(result.code, 0, result)
        self.assertNotIn("these are among", result.err + result.out)
        files = [self.folder / output / "private" / str(rank) / "in-test.txt" for rank in range(ranks)]
        self.assertEqual([stat.S_IMODE(file.stat().st_mode) for file in files], [0o600] * ranks)
        shown = [path for path in (self.folder / output).rglob("*") if path.is_file() and path not in files]
        self.assertEqual([path for path in shown if b"these are among" in path.read_bytes()], [])
        return "".join(file.read_text() for file in files)

    def test_owners_are_told_of_single_records(self):
        others = csv_rows(9, seed=8)
        test = [others[0], self.rows[3], *others[1:], self.rows[40], self.rows[45]]
        for name in ("test.csv", "test.csv.gz"):
            with (gzip.open if name.endswith("gz") else open)(self.folder / name, "wt") as file:
                file.write("\n".join(test) + "\n")
        expected = ("client 0: of 12 records of --test these are among its own, counted from 1: 2\n"
                    "client 1: of 12 records of --test these are among its own, counted from 1: 11, 12\n")
        words = ["omd", "--source", "{client}.csv", "--clients", "2", *self.PRICE]
        self.assertEqual(self.told([*words, "--test", "test.csv.gz"], "files", 2), expected)
        self.assertEqual(self.told([*words, "--test", "test.csv", "--memory", "0", "--metrics", "shared"], "memory"), expected)
        columns = self.told([*self.VERTICAL, "--source", "data.csv", "--test", "test.csv"], "columns")
        self.assertEqual(re.findall(r"client (\d): .*: ([\d, ]+)\n", columns), [("1", "2, 11, 12"), ("2", "2, 11, 12")])


class Values(TestCase):
    """What stands in a private file is shown on its owner's terminal, and nowhere else."""

    def test_messages_of_runs_show_no_cell(self):
        rows = ["a,b,y", "1,2,1", f"{SECRET},2,-1", "2,1,1"]
        svm = ["1 1:2", f"-1 {SECRET}", "1 2:1"]
        files = {"cell.csv": rows, "label.csv": ["a,b,y", "1,2,1", "2,1,371", "1,1,-1"], "x.svm": svm,
                 "value.svm": ["1 1:2", "-1 371:zz", "1 2:1"],
                 "codes.csv": ["a,b,y", "1,no,1", f"2,{SECRET},-1", "1,yes,1"]}
        for name, lines in files.items():
            self.write(name, "\n".join(lines) + "\n")
        self.write("table", "column,category,value\nb,no,0\nb,yes,1\n")
        learn = ["--mechanism", "laplace", "--epsilon", "1"]
        price = ["--mechanism", "gaussian", "--mu", "1"]
        for command, file, words, place in [
                ("omd", "cell.csv", learn, "cell.csv: row 3: column 'a'"),
                ("omd", "label.csv", learn, "label.csv: row 3: a label is outside the set of the logistic loss"),
                ("omd", "x.svm", learn, "x.svm: row 2: "),
                ("omd", "value.svm", learn, "value.svm: row 2: "),
                ("omd", "codes.csv", [*learn, "--encode", "table"], "codes.csv: row 3: column 'b'"),
                ("fedavg", "cell.csv", price, "cell.csv: row 3"),
                ("infer", "label.csv", [*price, "--loss", "logistic"], "label.csv: row 3"),
                ("renewable", "label.csv", ["--mechanism", "none"], "label.csv: row 3"),
                ("vertical", "cell.csv", [*price, "--columns", "0/1", "--clients", "2", "--loss", "logistic"],
                 "cell.csv: row 3")]:
            with self.subTest(command, file=file):
                result = self.run_command(1, [command, "--source", file, *words, "--output", "run"])
                self.assertEqual(result.code, 3, result)
                self.assertIn(place, result.err)
                for shown in (SECRET, "371", "zz"):
                    self.assertNotIn(shown, result.err + result.out)
        shown = self.run_alone(["data", "describe", "cell.csv"])
        self.assertEqual(shown.code, 3, shown)
        self.assertIn(f"column 'a' is '{SECRET}'", shown.err)

    def test_a_row_of_a_pipe_that_cannot_be_read_is_told_to_the_owner_alone(self):
        labels = [1 if i % 2 else -1 for i in range(12)]
        rows = one_hot(12, labels)
        bad = list(rows)
        bad[5] = SECRET + bad[5][1:]
        bad[8] = bad[8] + ",1"
        said = {}
        for name, lines in (("whole", rows), ("bad", bad)):
            os.mkfifo(self.folder / f"{name}-pipe")
            text = "\n".join(lines) + "\n"
            path = self.folder / f"{name}-pipe"
            writer = threading.Thread(target=lambda: path.write_text(text), daemon=True)
            writer.start()
            result = self.run_command(1, ["omd", "--source", f"{name}-pipe", "--format", "csv", "--header", "no",
                                          "--rounds", "6", "--batch", "2", "--mechanism", "none", "--output", name,
                                          "--json-models", "--progress", "off"])
            writer.join()
            self.assertEqual(result.code, 0, result)
            self.assertNotIn(SECRET, result.err + result.out)
            said[name] = result.summary()
        self.assertEqual(said["whole"]["rounds"], said["bad"]["rounds"])
        for i, (a, b) in enumerate(zip(said["whole"]["final_model"], said["bad"]["final_model"], strict=True)):
            self.assertEqual(0.0 if i in (5, 8) else a, b, i)
        left_out = self.folder / "bad" / "private" / "0" / "left-out.txt"
        self.assertEqual(stat.S_IMODE(left_out.stat().st_mode), 0o600)
        self.assertIn(f"'{SECRET}", left_out.read_text())
        self.assertEqual(len(left_out.read_text().splitlines()), 2)


class LeftOut(TestCase):
    """A record of --ignore keeps its place. Each parameter is one record's, and says in which round it was used."""

    COUNT = 24

    def files(self):
        labels = [(-1, 1)[i % 2] for i in range(self.COUNT)]
        self.write("a.csv", "\n".join(one_hot(self.COUNT, labels)) + "\n")
        labels[5] = 7
        self.write("b.csv", "\n".join(one_hot(self.COUNT, labels)) + "\n")

    def model(self, command, ranks, file, words, output):
        result = self.run_command(ranks, [command, "--source", file, "--header", "no", "--ignore", "7", "--batch", "2",
                                          "--mechanism", "none", "--json-models", "--progress", "off",
                                          "--output", output, *words])
        self.assertEqual(result.code, 0, result)
        return result.summary()

    def check(self, with_it, without):
        self.assertEqual(with_it["rounds"], without["rounds"])
        models = list(zip(with_it["final_model"], without["final_model"], strict=True))
        self.assertEqual([i for i, (a, b) in enumerate(models) if a != b], [5])
        self.assertEqual(models[5][1], 0)
        self.assertTrue(all(a != 0 for a, _ in models))

    @fewer
    def test_one_label_moves_no_other_record(self):
        self.files()
        for number, (command, words) in enumerate([
                ("omd", ["--clients", "4"]), ("omd", ["--clients", "4", "--epochs", "2", "--memory", "0"]),
                ("fedavg", ["--clients", "4"]), ("infer", ["--loss", "logistic", "--clients", "4", "--intercept", "no", "--intervals", "none"])]):
            seen = []
            for ranks in layouts((1, 4, 2)):
                with self.subTest(command, words=words, ranks=ranks):
                    pair = [self.model(command, ranks, f"{name}.csv", words, f"{name}-{number}-{ranks}") for name in "ab"]
                    self.check(*pair)
                    seen.append([one["final_model"] for one in pair])
            self.assertEqual(seen, [seen[0]] * len(seen))

    def test_a_pipe_gives_what_the_file_gives(self):
        self.files()
        of_file = self.model("omd", 1, "b.csv", [], "file")
        path = self.folder / "pipe"
        os.mkfifo(path)
        text = (self.folder / "b.csv").read_text()
        writer = threading.Thread(target=lambda: path.write_text(text), daemon=True)
        writer.start()
        of_pipe = self.model("omd", 1, "pipe", ["--format", "csv", "--rounds", str(of_file["rounds"])], "piped")
        writer.join()
        self.assertEqual(of_file["final_model"], of_pipe["final_model"])

    def test_rounds_do_not_depend_on_labels(self):
        self.write("a.csv", "\n".join(f"{i % 3},{i % 5},{(-1, 1)[i % 2]}" for i in range(24)) + "\n")
        self.write("b.csv", "\n".join(f"{i % 3},{i % 5},{(-1, 7)[i % 2]}" for i in range(24)) + "\n")
        for command, words in [
                ("renewable", ["--mechanism", "gaussian", "--mu", "1", "--variant", "private", "--clients", "2"]),
                ("vertical", ["--clients", "2", "--columns", "0/1", "--loss", "logistic", "--labels", "head", "--mechanism",
                              "gaussian", "--mu", "1"])]:
            rounds = []
            for name in "ab":
                result = self.run_command(1, [command, "--source", f"{name}.csv", "--ignore", "7", "--batch", "2", "--header",
                                              "no", "--progress", "off", "--json", "--output", f"{command}-{name}", *words])
                self.assertEqual(result.code, 0, result)
                rounds.append(result.summary()["rounds"])
            self.assertEqual(rounds[0], rounds[1], command)

    def test_a_deal_by_labels_is_declared(self):
        self.write("a.csv", "\n".join(f"{i % 3},{i % 5},{(-1, 1)[i % 2]}" for i in range(24)) + "\n")
        for partition, by in (("contiguous", None), ("dirichlet:0.5", "their labels"), ("column:0", "column '0'")):
            result = self.run_command(1, ["omd", "--source", "a.csv", "--header", "no", "--clients", "2", "--partition",
                                          partition, "--mechanism", "laplace", "--epsilon", "1", "--json", "--progress", "off",
                                          "--output", partition.split(":")[0]])
            self.assertEqual(result.code, 0, result)
            privacy = result.summary()["privacy"]
            self.assertEqual(privacy["dealt_by"], by)
            self.assertEqual("were dealt to clients by" in privacy["statement"], by is not None)
            head = (self.folder / partition.split(":")[0] / "privacy.txt").read_text().split("\n\n")[0]
            dealt = re.findall(r"\(they were dealt by (.*?)\)", " ".join(head.split()))
            self.assertEqual(dealt, [by] if by is not None else [], head)


if __name__ == "__main__":
    unittest.main()
