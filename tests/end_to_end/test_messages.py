"""What users see of a command that meets a fault of theirs, or says nothing: messages, exit codes, notes. Everything here is one
process without mpirun."""

import itertools
import unittest

from harness import *

DONE, USAGE, DATA_FAULT = 0, 2, 3
RUN = ["omd", "--mechanism", "none", "--progress", "off"]


class MessageCase(TestCase):
    def setUp(self):
        super().setUp()
        self.write("d.csv", "a,b,y\n" + "\n".join(csv_rows(20, 2)) + "\n")
        self.write("t.topo", "clients 1\n")
        self.outputs = itertools.count()

    def refused(self, code, expected, words):
        """One message, with these texts; nothing is made."""
        before = sorted(self.folder.iterdir())
        result = self.run_alone(words, as_they_are=True)
        self.assertEqual((result.code, len(result.messages())), (code, 1), f"{words}\n{result}")
        for text in expected:
            self.assertIn(text, result.messages()[0])
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def output(self):
        return ["--output", f"run-{next(self.outputs)}"]


class MissingFiles(MessageCase):
    """Whatever option names a file that is not there: exit code 2, and the name."""

    def test_every_option_that_names_a_file(self):
        learn = [*RUN, "--source", "d.csv"]
        noisy = ["omd", "--progress", "off", "--source", "d.csv", "--mechanism", "laplace"]
        for words in (
            [*RUN, "--source", "none.csv"],
            [*RUN, "--source", "none.csv.gz"],
            [*RUN, "--source", "none.svm"],
            [*RUN, "--source", "none.h5"],
            [*RUN, "--source", "d.csv,none.csv"],
            [*RUN, "--source", "none-{client}.csv"],
            [*learn, "--topology", "none.topo"],
            [*learn, "--topology", "none.mtx"],
            [*learn, "--config", "none.ini"],
            [*learn, "--test", "none.csv"],
            [*learn, "--test", "none.h5"],
            [*learn, "--start", "none.csv"],
            [*learn, "--standardise", "none.csv"],
            [*learn, "--encode", "none.csv"],
            [*learn, "--partition", "file:none"],
            [*learn, "--leave", "none.csv"],
            [*learn, "--dropout", "clients:none.csv"],
            [*learn, "--dropout", "0.1", "--dropout-model", "none.csv"],
            [*learn, "--constraint", "linear:none.csv"],
            [*noisy, "--epsilon", "schedule:none.csv"],
            [*noisy, "--epsilon", "clients:none.csv"],
            [*noisy, "--epsilon", "1", "--noise-key", "none-{client}"],
            ["omd", "--resume", "none"],
            ["renewable", "--source", "d.csv", "--mechanism", "none", "--start", "none.csv"],
            ["infer", "--source", "d.csv", "--mechanism", "none", "--standardise", "none.csv"],
            ["fedavg", "--source", "none.csv", "--mechanism", "none"],
            ["report", "none"],
            ["privacy", "ledger", "none"],
            ["privacy", "spend", "--groups", "none"],
            ["topology", "check", "none.topo"],
            ["topology", "draw", "none.topo"],
            ["data", "describe", "none.csv"],
            ["data", "convert", "none.csv", "--output", "x.h5"],
            ["doctor", "--topology", "none.topo"],
        ):
            with self.subTest(" ".join(words)):
                self.refused(USAGE, ["none"], words)

    @fewer
    def test_every_option_that_names_a_file_refuses_what_may_have_no_end(self):
        """A pipe with a name may have no writer, and a device gives bytes for ever: either would be waited for."""
        os.mkfifo(self.folder / "pipe")
        learn = [*RUN, "--source", "d.csv"]
        noisy = ["omd", "--progress", "off", "--source", "d.csv", "--mechanism", "laplace"]
        for place in ("pipe", "/dev/zero") if SLOW else ("pipe",):
            for words in (
                [*learn, "--topology", place],
                [*learn, "--config", place],
                [*learn, "--test", place],
                [*learn, "--start", place],
                [*learn, "--standardise", place],
                [*learn, "--ranges", place],
                [*learn, "--encode", place],
                [*learn, "--missing", f"constant:{place}"],
                [*learn, "--partition", f"file:{place}"],
                [*learn, "--leave", place],
                [*learn, "--dropout", f"clients:{place}"],
                [*learn, "--dropout", "0.1", "--dropout-model", place],
                [*learn, "--constraint", f"linear:{place}"],
                [*noisy, "--epsilon", f"schedule:{place}"],
                [*noisy, "--epsilon", f"clients:{place}"],
                [*noisy, "--epsilon", "1", "--ledger", place],
                ["renewable", "--source", "d.csv", "--variant", "private", "--mechanism", "gaussian", "--epsilon", "1",
                 "--curvature-model", f"file:{place}"],
                ["predict", place, "--source", "d.csv"],
                ["privacy", "ledger", place],
                ["privacy", "spend", "--groups", place],
                ["topology", "check", place],
                ["topology", "draw", place],
                ["sweep", place, "--output", "all"],
            ):
                with self.subTest(" ".join(words)):
                    before = sorted(self.folder.iterdir())
                    result = self.run_alone(words)
                    self.assertIn(result.code, (USAGE, DATA_FAULT), result)
                    self.assertEqual(len(result.messages()), 1, result)
                    self.assertIn(place, result.messages()[0])
                    self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_files_of_a_run_that_may_have_no_end(self):
        self.assertEqual(self.run_alone([*RUN, "--source", "d.csv", "--output", "run"]).code, 0)
        os.mkfifo(self.folder / "pipe")
        for name in ("history.csv", "summary.json", "run.h5", "model.h5"):
            for place in ("../pipe", "/dev/zero"):
                with self.subTest(f"{name} {place}"):
                    (self.folder / "run" / name).rename(self.folder / "kept")
                    (self.folder / "run" / name).symlink_to(place)
                    words = ["predict", "run", "--source", "d.csv"] if name == "model.h5" else ["report", "run"]
                    result = self.run_alone(words)
                    self.assertIn(result.code, (USAGE, DATA_FAULT), result)
                    self.assertIn(name, result.messages()[0])
                    (self.folder / "kept").rename(self.folder / "run" / name)

    def test_text_from_standard_input_and_from_a_pipe_of_the_shell(self):
        topology = "clients 3\nedge 0 1\nedge 1 2\nedge 2 0\n"
        self.write("ring.topo", topology)
        asked = [STARLING, "topology", "check"]
        of_file = subprocess.run([*asked, "ring.topo"], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=30)
        self.assertEqual(of_file.returncode, 0, of_file)
        for shell in ('"$0" topology check <(sleep 0.2; cat ring.topo)', 'cat ring.topo | "$0" topology check /dev/stdin',
                      '"$0" topology check /dev/stdin <ring.topo'):
            with self.subTest(shell):
                done = subprocess.run(["bash", "-c", shell, STARLING], cwd=self.folder, env=environment(), capture_output=True, text=True,
                                      timeout=30)
                self.assertEqual((done.returncode, done.stdout.splitlines()[1:]), (0, of_file.stdout.splitlines()[1:]), done)

    def test_a_run_to_resume(self):
        self.refused(USAGE, ["--resume 'none'", "no such directory"], ["omd", "--resume", "none"])
        (self.folder / "empty").mkdir()
        self.refused(USAGE, ["--resume 'empty'", "config.ini"], ["omd", "--resume", "empty"])


class Encodings(MessageCase):
    """Text is UTF-8 in lines that end in \\n or \\r\\n; anything else is refused with its place and the remedy."""

    def binary(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def test_other_encodings_are_named(self):
        text = "größe,b,y\n1,2,1\n2,1,-1\n"
        for name, content, code, expected in (
            ("latin.csv", text.encode("latin1"), DATA_FAULT, ["latin.csv: row 1: byte 3 is not UTF-8", "iconv -f LATIN1"]),
            ("latin2.csv", b"n,b,y\n1,2,1\nJos\xe9,1,-1\n", DATA_FAULT, ["latin2.csv: row 3: byte 4 is not UTF-8"]),
            ("utf16.csv", text.encode("utf-16"), DATA_FAULT, ["utf16.csv: row 1: byte 1 is part of UTF-16", "iconv -f UTF-16"]),
            ("nameless", text.encode("utf-16"), DATA_FAULT, ["nameless: row 1: byte 1 is part of UTF-16"]),
            ("mac.csv", b"a,b,y\r1,2,1\r2,1,-1\r", DATA_FAULT, ["mac.csv: row 1: byte 6 is a carriage return", "tr '\\r' '\\n'"]),
        ):
            with self.subTest(name):
                self.refused(code, expected, [*RUN, "--source", self.binary(name, content), "--label", "y"])
        for option, content in (("--config", b"# caf\xe9\n"), ("--topology", b"clients 1 # caf\xe9\n"),
                                ("--start", b"# caf\xe9\n0,0\n"), ("--leave", b"# caf\xe9\n0,1\n")):
            with self.subTest(option):
                self.refused(USAGE, ["x.file:1: byte ", "is not UTF-8"],
                             [*RUN, "--source", "d.csv", option, self.binary("x.file", content)])
        for option, content in (("--encode", b"column,category,value\nn,Jos\xe9,1\n"),
                                ("--standardise", b"feature,mean,sd\ncaf\xe9,0,1\n")):
            with self.subTest(option):
                self.refused(DATA_FAULT, ["x.file: row 2: byte ", "is not UTF-8"],
                             [*RUN, "--source", "d.csv", option, self.binary("x.file", content)])

    def test_marks_and_windows_line_ends_change_nothing(self):
        plain = "größe,b,y\n" + "\n".join(csv_rows(20, 2)) + "\n"
        windows = b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode()
        self.binary("plain.csv", plain.encode())
        self.binary("windows.csv", windows)
        self.binary("w.ini", b"\xef\xbb\xbfstep = 2\r\nbatch = 4\r\ntuning = off\r\n")
        self.binary("w.topo", b"\xef\xbb\xbfclients 1\r\n")
        models = []
        for words in (["--source", "plain.csv", "--step", "2", "--batch", "4"],
                      ["--source", "windows.csv", "--config", "w.ini", "--topology", "w.topo"]):
            result = self.run_alone([*RUN, *words, "--json", *self.output()])
            self.assertEqual(result.code, DONE, result)
            models.append(result.summary()["final_model"])
        self.assertEqual(models[0], models[1])


class Words(MessageCase):
    """What is typed."""

    def test_no_command(self):
        result = self.run_alone([])
        self.assertEqual(result.code, USAGE)
        self.assertNotIn("?", result.err)
        self.assertRegex(result.err, r"\n  starling omd +online mirror descent")
        self.assertEqual(result.messages()[-1], "starling: no command is given: the text above lists them. Name one.")

    def test_what_report_takes(self):
        self.assertEqual(self.run_alone([*RUN, "--source", "d.csv", "--output", "run"]).code, DONE)
        self.refused(USAGE, ["'run', 'foo'", "--csv takes history or models"], ["report", "run", "--csv", "foo"])
        self.refused(USAGE, ["no run is named"], ["report", "--json"])
        twice = self.refused(USAGE, ["'run' is named twice", "Name it once"], ["report", "run", "run"])
        self.assertNotIn("--csv", self.run_alone(["report", "run", "run"]).err)
        self.refused(USAGE, ["'run' is named twice", "--csv takes history or models"], ["report", "run", "--csv", "run"])

    def test_contradictions(self):
        learn = ["omd", "--source", "d.csv", "--progress", "off"]
        for price in ("epsilon", "mu"):
            self.refused(USAGE, [f"--{price} with --mechanism none"], [*learn, "--mechanism", "none", f"--{price}", "0.1"])
        self.write("none.ini", "mechanism = none\nepsilon = 0.1\n")
        self.refused(USAGE, ["--epsilon with --mechanism none"], [*learn, "--config", "none.ini"])
        self.refused(USAGE, ["--step is given twice, as '1' and as '2'"],
                     [*learn, "--mechanism", "none", "--step", "1", "--step=2"])
        self.write("noise.ini", "mechanism = laplace\nepsilon = 4\nstep = 1\n")
        for words in (["--step", "2", "--step", "2"], ["--config", "noise.ini", "--step", "2"]):  # one value, one winner
            result = self.run_alone([*learn, "--mechanism", "none", *words, "--print-config"], as_they_are=True)
            self.assertEqual(result.code, DONE, result)
            self.assertIn("\nstep = 2\n", result.out)
            self.assertNotIn("epsilon", result.out)

    def test_texts_for_labels_lead_to_their_numbers(self):
        self.complains(self.run_alone(["omd", "--source", "a.csv", "--mechanism", "none", "--positive", "yes"]), 2, "--encode onehot:FILE")
        self.complains(self.run_alone(["omd", "--source", "a.csv", "--mechanism", "none", "--positive", "1,"]), 2, "empty place")

    def test_values_of_options_are_in_the_help(self):
        help = self.run_alone(["omd", "--help=all"]).out
        self.assertRegex(" ".join(help.split()), r"--budget-unit WHOSE loss that --budget limits: client \(.*?record \(")


class Configurations(MessageCase):
    """Relative names in a file for --config begin from its folder; what runs write can be read from anywhere."""

    def setUp(self):
        super().setUp()
        rows = "\n".join(csv_rows(20, 2)) + "\n"
        for u in range(2):
            self.write(f"data/part-{u}.csv", "a,b,y\n" + rows)
        self.write("data/mean.csv", "feature,mean,sd\na,0,1\nb,0,2\n")
        self.write("data/graphs/g.topo", "clients 2\nedge 0 1\nedge 1 0\n")
        self.write("data/price.csv", "0,1\n5,2\n")
        self.write("data/away.csv", "5,1\n")
        self.write("data/start.csv", "0,0\n0,0\n")
        self.write("data/jobs/run.ini", "source = ../part-{client}.csv\ntopology = ../graphs/g.topo\nstandardise = ../mean.csv\n"
                   "test = ../part-0.csv\nstart = ../start.csv\nepsilon = schedule:../price.csv\ndropout-model = ../away.csv\n"
                   "mechanism = laplace\nnoise-key = seed\nclients = 2\nprogress = off\n")

    def model(self, words, cwd=None):
        result = self.run_alone(["omd", *words, "--json"], cwd)
        self.assertEqual(result.code, DONE, result)
        return result.summary()["final_model"]

    def test_names_begin_from_the_file(self):
        expected = self.model(["--config", "data/jobs/run.ini", "--output", "a"])
        self.assertEqual(self.model(["--config", "jobs/run.ini", "--output", "b"], self.folder / "data"), expected)
        self.assertEqual(self.model(["--config", self.folder / "data/jobs/run.ini", "--output", self.folder / "c"], "/"), expected)
        again = self.model(["--config", "a/config.ini", "--output", "d"])  # as a run has written it
        self.assertEqual(again, expected)
        printed = self.run_alone(["omd", "--config", "run.ini", "--print-config"], self.folder / "data/jobs").out
        self.write("elsewhere/printed.ini", printed)
        self.assertEqual(self.model(["--config", "elsewhere/printed.ini", "--output", "e"]), expected)
        self.assertEqual(self.run_alone(["omd", "--config", "elsewhere/printed.ini", "--print-config"]).out, printed)
        result = self.run_alone(["omd", "--resume", self.folder / "a"], "/")
        self.assertEqual(result.code, DONE, result)

    def test_words_are_no_names(self):
        self.write("data/w.ini", "source = synthetic:drift\nstart = zero\nnoise-key = seed\nmechanism = laplace\n"
                   "epsilon = schedule:from=1,to=2\npartition = iid\ndropout-model = markov:length=20\nconstraint = box:0,1\n")
        printed = self.run_alone(["omd", "--config", "data/w.ini", "--print-config"]).out
        for line in ("start = zero", "noise-key = seed", "epsilon = schedule:from=1,to=2",
                     "partition = iid", "dropout-model = markov:length=20", "constraint = box:0,1"):
            self.assertIn(f"{line}\n", printed)


class Notes(MessageCase):
    """What ends as it was asked for and is hardly what was meant says so."""

    def table(self, words):
        result = self.run_alone(["omd", "--progress", "off", *words, *self.output()])
        self.assertEqual(result.code, DONE, result)
        return result.out, result.err

    def test_clients_without_records(self):
        table, err = self.table(["--source", "d.csv", "--mechanism", "none", "--clients", "30"])
        for text in (table, err):
            self.assertIn("10 of 30 clients have no record", text)
        self.assertNotIn("have no record", self.table(["--source", "d.csv", "--mechanism", "none", "--clients", "4"])[0])

    def test_one_round(self):
        for batch, expected in ((40, True), (10, False)):
            table, _ = self.table(["--source", "d.csv", "--mechanism", "none", "--batch", batch])
            self.assertEqual("the run has one round" in table, expected, table)

    def test_runs_that_diverge(self):
        self.write("big.csv", "a,y\n" + "\n".join(f"{1000 + k},{k % 7 + 1}" for k in range(60)) + "\n")
        squared = ["--source", "big.csv", "--loss", "squared"]
        table, _ = self.table([*squared, "--mechanism", "none", "--step", "1", "--rounds", "8"])
        self.assertIn("worse than one that does not move", table)
        table, _ = self.table([*squared, "--mechanism", "none", "--step", "1e-7"])
        self.assertNotIn("does not move", table)
        # Losses of private records are withheld, and so is what would follow from them; models are released.
        table, _ = self.table([*squared, "--mechanism", "laplace", "--epsilon", "0.001", "--step", "1e5"])
        self.assertIn("grown to a norm of", table)
        self.assertNotIn("does not move", table)

    def test_budgets_that_end_learning(self):
        words = ["--source", "d.csv", "--mechanism", "laplace", "--epsilon", "1", "--clients", "2"]
        out, err = self.table([*words, "--budget", "2", "--progress", "on"])
        self.assertIn("learning will stop after round 2 of 10", err.splitlines()[0] + err)
        self.assertLess(err.index("learning will stop"), err.index("round        10/10"))
        self.assertRegex(err, r"round +10/10  budget spent, no learning")
        self.assertIn("budget                spent: learning ended after round 2 of 10, at 2 of 2 clients", out)
        self.assertIn("learning will stop after round 2 of 10", out)
        out, err = self.table([*words, "--budget", "20", "--progress", "on"])
        self.assertRegex(err, r"round +10/10  ")
        self.assertNotIn("budget spent", err)
        self.assertNotIn("learning will stop", out + err)
        self.assertNotIn("learning ended", out)
        # What earlier runs have spent counts: 10 of 13 are gone.
        ledger = ["--ledger", "ledger-{client}", "--budget", "13", "--clients", "1"]
        alone = ["--source", "d.csv", "--mechanism", "laplace", "--epsilon", "1"]
        self.table([*alone, *ledger, "--rounds", "10"])
        out, err = self.table([*alone, *ledger, "--seed", "2"])
        self.assertIn("learning will stop after round 3 of 20", err)


if __name__ == "__main__":
    unittest.main()
