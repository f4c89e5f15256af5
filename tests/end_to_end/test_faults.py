"""Planted faults: the right exit code on every rank within ten seconds, one message that says what is wrong, nothing lost
that existed before and nothing begun."""

import unittest

from harness import *

SECONDS = 10
LEARN = ["--mechanism", "laplace"]
DRIFT = ["--source", "synthetic:drift:n=50", *LEARN]
USAGE, DATA_FAULT, FAILURE = 2, 3, 5


class FaultCase(TestCase):
    def setUp(self):
        super().setUp()
        self.write("kept/precious.txt", "years of work\n")
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")

    def existing(self):
        return {name: what for name, what in tree(self.folder).items() if not name.startswith("log-")}

    def check_fault(self, parts, code, expected):
        """Runs and checks; `parts` is a list of words for two ranks, or the parts of a job."""
        if not isinstance(parts[0], tuple):
            parts = [(2, parts, [])]
        out = str(self.folder / "out")
        if not any("--output" in words for _, words, _ in parts):
            parts = [(ranks, [*words, "--output", out], more) for ranks, words, more in parts]
        before = self.existing()
        result = self.run_parts(parts)
        ranks = sum(part[0] for part in parts)
        self.assertEqual(result.codes, [code] * ranks, result)
        self.assertLess(result.seconds, SECONDS, result)
        self.assertEqual(len(result.messages()), 1, result)
        for text in expected:
            self.assertIn(str(text), result.messages()[0])
        self.assertEqual(result.out, "")
        self.assertEqual(self.existing(), before)
        return result


class TenPlanted(FaultCase):
    """The ten of the issue, in its order."""

    def test_unknown_key(self):
        self.write("c.ini", "# my options\nseed = 4\n\n  speling = 3\nmechanism = laplace\n")
        self.check_fault(["--config", "c.ini"], USAGE, ["c.ini:4", "speling", "unknown"])

    def test_weights_that_do_not_sum_to_one(self):
        edges = [(0, 0, 0.5), (0, 1, 0.5), (1, 1, 0.5), (1, 0, 0.25)]
        self.write("g.topo", topology(2, [], "explicit", edges))
        self.check_fault([*DRIFT, "--topology", "g.topo"], USAGE, ["client 1", "0.75"])

    def test_a_graph_that_never_connects(self):
        self.write("g.topo", topology(4, [(1, [(0, 1), (2, 3)]), (1, [(1, 0), (3, 2)])]))
        self.check_fault([*DRIFT, "--topology", "g.topo", "--clients", "4"], USAGE, ["never connects", "g.topo"])

    def test_an_edge_out_of_range(self):
        self.write("g.topo", "clients 2\nedge 0 1\nedge 1 2\n")
        self.check_fault([*DRIFT, "--topology", "g.topo"], USAGE, ["g.topo:3", "2"])

    def test_nan_in_row_17(self):
        lines = csv_rows(40)
        lines[16] = "0.1,nan,0.3,1"
        self.write("bad.csv", "\n".join(lines) + "\n")
        self.check_fault(["--source", "bad.csv", *LEARN], DATA_FAULT, ["bad.csv", "row 17", "nan"])

    def test_a_label_outside_the_set(self):
        lines = csv_rows(40)
        lines[8] = "0.1,0.2,0.3,3"
        self.write("bad.csv", "\n".join(lines) + "\n")
        self.check_fault(["--source", "bad.csv", *LEARN], DATA_FAULT, ["bad.csv", "row 9", "label 3", "logistic"])

    def test_a_ragged_row(self):
        lines = csv_rows(40)
        lines[25] = "0.1,0.2,0.3,0.4,1"
        self.write("bad.csv", "\n".join(lines) + "\n")
        self.check_fault(["--source", "bad.csv", *LEARN], DATA_FAULT, ["bad.csv", "row 26", "5 fields", "4 expected"])

    def test_a_truncated_gzip_file(self):
        whole = gzip.compress("\n".join(csv_rows(2000)).encode())
        (self.folder / "bad.csv.gz").write_bytes(whole[: len(whole) * 2 // 3])
        self.check_fault(["--source", "bad.csv.gz", *LEARN], DATA_FAULT, ["bad.csv.gz", "truncated"])

    def test_a_different_configuration_on_one_rank(self):
        parts = [(1, [*DRIFT, "--seed", seed], []) for seed in (1, 2, 1)]
        self.check_fault(parts, USAGE, ["configuration", "rank 1", "rank 0"])

    def test_a_missing_file_on_one_rank(self):
        self.write("here/mine.csv", (self.folder / "data.csv").read_text())
        (self.folder / "there").mkdir()
        words = ["--source", "mine.csv", *LEARN]
        parts = [(1, words, ["-wdir", self.folder / place]) for place in ("here", "there", "here")]
        self.check_fault(parts, DATA_FAULT, ["mine.csv", "No such file"])

    def test_what_a_user_sees_from_mpirun(self):
        result = self.run_ranks(3, ["--config", "nowhere.ini"])
        self.assertEqual((result.code, len(result.messages())), (USAGE, 1), result)
        result = self.run_ranks(3, ["--source", "nowhere.csv", *LEARN])
        self.assertEqual((result.code, len(result.messages())), (DATA_FAULT, 1), result)


class Usage(FaultCase):
    def test_options(self):
        self.write("c.ini", "seed = 3\nepsilon = lots\n")
        self.write("twice.ini", "seed = 3\n# once more\nseed = 4\n")
        self.write("nested.ini", "seed = 3\nconfig = c.ini\n")
        self.write("section.ini", "seed = 3\n[omd]\nepsilon = 1\n")
        cases = {
            "no mechanism": (["--source", "data.csv"], ["--mechanism", "none, laplace, dissertation"]),
            "unknown option": ([*DRIFT, "--epsilo", "1"], ["--epsilo", "--help"]),
            "no value": ([*DRIFT, "--output", "out", "--seed"], ["seed", "--help"]),
            "a word without dashes": ([*DRIFT, "fast"], ["options only"]),
            "a word for a number": ([*DRIFT, "--step", "fast"], ["--step", "fast", "not a number"]),
            "a fraction of a count": ([*DRIFT, "--batch", "1.5"], ["--batch", "1.5", "whole"]),
            "out of range": ([*DRIFT, "--epsilon", "0"], ["--epsilon", "out of range"]),
            "not a number at all": ([*DRIFT, "--epsilon", "nan"], ["--epsilon", "nan"]),
            "unknown word": ([*DRIFT, "--mixing", "shaken"], ["--mixing", "shaken", "push-sum, plain"]),
            "number in a file": ([*DRIFT, "--config", "c.ini"], ["c.ini:2", "epsilon", "lots"]),
            "a key twice": ([*DRIFT, "--config", "twice.ini"], ["twice.ini:3", "seed", "twice"]),
            "a section": ([*DRIFT, "--config", "section.ini"], ["section.ini:3", "omd.epsilon", "unknown"]),
            "a file in a file": ([*DRIFT, "--config", "nested.ini"], ["nested.ini:2", "config", "unknown"]),
            "clients twice": ([*DRIFT, "--clients", "2", "--clients-per-rank", "1"], ["exclude"]),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                self.check_fault(words, USAGE, expected)

    def test_parts_and_what_is_known(self):
        cases = {
            "loss": ([*DRIFT, "--loss", "poisson:1"], ["poisson", "logistic", "squared", "huber", "softmax"]),
            "mechanism": (["--mechanism", "gauss"], ["gauss", "none", "laplace", "dissertation"]),
            "domain": ([*DRIFT, "--domain", "cube"], ["cube", "free", "ball", "l1ball"]),
            "key of a spec": ([*DRIFT, "--domain", "ball:size=1"], ["size", "ball:size=1", "radius"]),
            "number in a spec": ([*DRIFT, "--domain", "ball:wide"], ["wide", "not a number"]),
            "value of a spec": ([*DRIFT, "--domain", "box:2,1"], ["box:2,1", "below"]),
            "missing parameter": ([*DRIFT, "--domain", "ball"], ["ball", "radius"]),
            "generator": (["--source", "synthetic:drizzle", *LEARN], ["drizzle", "drift"]),
            "partition": (["--source", "data.csv", *LEARN, "--partition", "dirichlet:0"], ["dirichlet:0"]),
            "entropic off the simplex": ([*DRIFT, "--mirror", "entropic", "--domain", "ball:1"], ["entropic", "simplex"]),
            "signed off its ball": ([*DRIFT, "--mirror", "entropic-signed"], ["entropic-signed", "l1ball"]),
            "format": (["--source", "data.csv", *LEARN, "--format", "parquet"], ["parquet", "csv", "svmlight", "hdf5", "idx"]),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                self.check_fault(words, USAGE, expected)

    def test_graphs_and_clients(self):
        self.write("three.topo", topology(3, [], everywhere=[(0, 1), (1, 2), (2, 0)]))
        self.write("receiver.topo", topology(2, [], "explicit", [(0, 0, 1), (0, 1, "1/2"), (1, 1, "1/2")]))
        self.write("uneven.topo", topology(2, [], "explicit", [(0, 0, 1), (0, 1, "1/2"), (1, 1, "1/2"), (1, 0, 0.1)]))
        cases = {
            "more clients than ranks": ([*DRIFT, "--topology", "three.topo"], ["3 clients on 2 ranks", "--clients 3"]),
            "another number": ([*DRIFT, "--topology", "three.topo", "--clients", "4"], ["4 clients", "3"]),
            "no such file": ([*DRIFT, "--topology", "nowhere.topo"], ["nowhere.topo", "No such file"]),
            "one way only": ([*DRIFT, "--topology", "receiver.topo"], ["never connects"]),
            "receiver sums under push-sum": ([*DRIFT, "--topology", "uneven.topo"], ["client 0", "1.5"]),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                self.check_fault(words, USAGE, expected)

    def test_starts_and_rounds(self):
        self.write("start.csv", "1\n2\n3\n")
        self.write("ragged.csv", "1,2\n2\n")
        mix = ["--loss", "none", "--rounds", "3"]
        cases = {
            "rounds beyond the data": ([*DRIFT, "--rounds", "51"], ["51", "50", "--epochs"]),
            "rows": ([*mix, "--start", "start.csv"], ["start.csv", "3 rows", "2"]),
            "ragged": ([*mix, "--start", "ragged.csv"], ["ragged.csv:2"]),
            "numbers a row": ([*DRIFT, "--clients", "3", "--start", "start.csv"], ["start.csv", "1 numbers", "5"]),
            "no start": (mix, ["--start FILE"]),
            "no rounds": (["--loss", "none", "--start", "start.csv"], ["--rounds"]),
            "no such start": ([*DRIFT, "--start", "nowhere.csv"], ["nowhere.csv"]),
            "a mechanism for nothing": ([*mix, "--start", "start.csv", "--mechanism", "laplace"], ["--mechanism"]),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                self.check_fault(words, USAGE, expected)

    def test_noise_keys(self):
        self.write("key-0", "1f" * 32 + "\n")
        self.write("key-1", "1F" * 32 + "\n")
        self.write("short-0", "1f" * 31 + "\n")
        self.write("short-1", "2f" * 32 + "\n")
        cases = {
            "one file for all": ([*DRIFT, "--noise-key", "key-0"], ["{client}", "key-0"]),
            "equal keys": ([*DRIFT, "--noise-key", "key-{client}"], ["client 1", "same noise key"]),
            "not a key": ([*DRIFT, "--noise-key", "short-{client}"], ["short-0", "64 hexadecimal"]),
            "no such key": ([*DRIFT, "--noise-key", "none-{client}"], ["none-0"]),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                result = self.check_fault(words, USAGE, expected)
                self.assertNotIn("1f1f1f", (result.out + result.err).lower())

    def test_other_files_on_one_rank(self):
        """Same names, other contents."""
        self.write("here/g.topo", topology(2, [], everywhere=[(0, 1), (1, 0)]))
        self.write("there/g.topo", topology(2, [(1, [(0, 1), (1, 0)]), (1, [])]))
        self.write("here/d.csv", "\n".join(csv_rows(40)))
        self.write("there/d.csv", "\n".join(csv_rows(20)))
        for words, expected in (([*DRIFT, "--topology", "g.topo"], ["topology", "rank 1"]),
                                (["--source", "d.csv", *LEARN], ["data", "rank 1"])):
            with self.subTest(words):
                parts = [(1, words, ["-wdir", self.folder / place]) for place in ("here", "there")]
                self.check_fault(parts, USAGE, expected)


class Output(FaultCase):
    def test_a_directory_that_is_not_empty(self):
        self.check_fault([*DRIFT, "--output", "kept"], USAGE, ["kept", "not empty"])

    def test_a_file_in_the_way(self):
        self.check_fault([*DRIFT, "--output", "data.csv"], USAGE, ["data.csv", "not a directory"])

    def test_a_place_that_cannot_be_made(self):
        self.check_fault([*DRIFT, "--output", "data.csv/run"], FAILURE, ["data.csv/run"])

    def test_a_second_run_into_the_same_directory(self):
        self.good(2, [*DRIFT, "--output", "run", "--progress", "off"])
        self.check_fault([*DRIFT, "--output", "run"], USAGE, ["run", "not empty"])

    def test_an_empty_directory_is_fine(self):
        (self.folder / "empty").mkdir()
        self.good(2, [*DRIFT, "--output", "empty"])


class Data(FaultCase):
    def test_data(self):
        self.write("empty.csv", "")
        self.write("label.svm", "1 1:0.5\n-1 2:0.5\n2 1:1\n")
        self.write("zero.svm", "1 0:0.5\n")
        self.write("wide.csv", "0.1,0.2,0.3,0.4,1\n0.1,0.2,0.3,0.4,-1\n")
        self.write("text.csv", "a,b,y\n0.1,0.2,1\n0.1,red,1\n")
        self.write("noise.csv.gz", "this is not gzip data at all\n")
        cases = {
            "no such file": (["--source", "nowhere.csv"], ["nowhere.csv", "No such file"]),
            "empty": (["--source", "empty.csv"], ["empty.csv"]),
            "a word": (["--source", "text.csv"], ["text.csv", "row 3", "red"]),
            "label in SVMlight": (["--source", "label.svm"], ["label.svm", "row 3", "label 2"]),
            "index 0": (["--source", "zero.svm"], ["zero.svm", "row 1", "index 0"]),
            "index beyond --dimension": (["--source", "label.svm", "--dimension", "1"], ["row 2", "index 2"]),
            "softmax": (["--source", "data.csv", "--loss", "softmax:3"], ["data.csv", "label -1", "softmax:3"]),
            "test set": (["--source", "data.csv", "--test", "wide.csv"], ["wide.csv", "4 features", "3"]),
        }
        for name, (words, expected) in cases.items():
            with self.subTest(name):
                self.check_fault([*words, *LEARN], DATA_FAULT, expected)

    def test_a_value_that_ends_the_run(self):
        """Models that grow without bound are found out in a round, on all ranks at once."""
        self.write("huge.csv", "1e200,1e200,1e200\n" * 40)
        result = self.run_noted(2, ["--source", "huge.csv", "--loss", "squared", "--mechanism", "none", "--output", "out"])
        self.assertEqual(result.codes, [DATA_FAULT] * 2, result)
        self.assertLess(result.seconds, SECONDS)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("not finite", result.messages()[0])


if __name__ == "__main__":
    unittest.main()
