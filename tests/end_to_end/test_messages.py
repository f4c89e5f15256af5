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
        result = self.run_alone(words)
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
        self.binary("w.ini", b"\xef\xbb\xbfstep = 2\r\nbatch = 4\r\n")
        self.binary("w.topo", b"\xef\xbb\xbfclients 1\r\n")
        models = []
        for words in (["--source", "plain.csv", "--step", "2", "--batch", "4"],
                      ["--source", "windows.csv", "--config", "w.ini", "--topology", "w.topo"]):
            result = self.run_alone([*RUN, *words, "--json", *self.output()])
            self.assertEqual(result.code, DONE, result)
            models.append(result.summary()["final_model"])
        self.assertEqual(models[0], models[1])


if __name__ == "__main__":
    unittest.main()
