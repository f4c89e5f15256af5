"""starling topology check, make and draw: answers, exit codes, and that one understands the other."""

import json
import math
import re
import shutil
import unittest

from harness import *

draw_pictures()

KEYS = {"clients", "phases", "sampled_rounds", "edges", "sender_sums", "receiver_sums", "strongly_connected", "joint_window", "perron", "bias",
        "contraction", "spectral_gap", "contraction_tolerance", "rounds_to_1e-3", "digest"}
FAMILIES = ["ring", "directed-ring", "path", "star", "complete", "torus", "grid", "hypercube", "barbell", "exponential",
            "one-peer-exponential", "erdos-renyi", "random-regular", "small-world", "random-matching", "b-connected"]
ENDLESS = ["random-matching", "one-peer-exponential", "b-connected", "erdos-renyi", "random-regular"]
UNUSABLE, USAGE = 1, 2


class TopologyCase(TestCase):
    def topology(self, *words):
        return self.run_alone(["topology", *words])

    def check_json(self, name):
        result = self.topology("check", name, "--json")
        analysis = json.loads(result.out)
        self.assertEqual(set(analysis), KEYS)
        return result.code, analysis


class Check(TopologyCase):
    def test_every_file_that_comes_along(self):
        files = sorted((SOURCE / "topologies").glob("*.topo"))
        self.assertGreaterEqual(len(files), 8)
        readme = (SOURCE / "topologies" / "README.md").read_text()
        for path in files:
            with self.subTest(path.name):
                code, analysis = self.check_json(path)
                self.assertEqual(code, 0)
                self.assertEqual(len(analysis["perron"]), analysis["clients"])
                self.assertIsNotNone(analysis["joint_window"])
                self.assertIn(f"`{path.name}` | {analysis['clients']} ", readme)

    def test_an_unbalanced_digraph(self):
        self.write("g.topo", topology(3, [], everywhere=[(0, 1), (0, 2), (1, 2), (2, 0)]))
        code, found = self.check_json("g.topo")
        self.assertEqual(code, 0)
        self.assertEqual((found["clients"], found["phases"], found["edges"], found["joint_window"]), (3, 1, 4, 1))
        self.assertEqual(found["strongly_connected"], [True])
        for limit, expected in zip(found["perron"], (1 / 3, 2 / 9, 4 / 9)):
            self.assertAlmostEqual(limit, expected, delta=1e-9)
        self.assertAlmostEqual(found["bias"], 1 / 3, delta=1e-9)
        self.assertAlmostEqual(found["sender_sums"]["min"], 1, delta=1e-12)
        self.assertAlmostEqual(found["receiver_sums"]["max"], 4 / 3, delta=1e-12)

    def test_the_digest_is_that_of_the_graph_and_not_of_its_spelling(self):
        self.write("a.topo", "clients 3\nedge 0 1\nedge 1 2\nedge 2 0\n")
        self.write("b.topo", "# the same\nclients 3\nweights sender\n\nedge 2 0 # back\nedge 0 1\nedge 1 2\n")
        self.write("c.topo", "clients 3\nedge 0 2\nedge 2 1\nedge 1 0\n")
        digests = [self.check_json(f"{name}.topo")[1]["digest"] for name in "abc"]
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_the_table(self):
        result = self.topology("check", SOURCE / "topologies" / "jointly-connected-4.topo")
        self.assertEqual((result.code, result.err), (0, ""))
        for text in ("clients", "in 0 of 2 phases", "joint window", "push-sum", "yes", "plain", "only with a warning"):
            self.assertIn(text, result.out)

    def test_exit_code_1_for_what_no_mixing_can_use(self):
        cases = {
            "never connects": topology(4, [], everywhere=[(0, 1), (1, 0), (2, 3), (3, 2)]),
            "one way only": topology(2, [], everywhere=[(0, 1)]),
            "values change places for ever": topology(2, [], "explicit", [(0, 1, 1), (1, 0, 1)]),
            "no sum is one": topology(2, [], "explicit", [(0, 0, 0.5), (0, 1, 0.4), (1, 1, 0.3), (1, 0, 0.3)]),
        }
        for name, text in cases.items():
            with self.subTest(name):
                self.write("g.topo", text)
                result = self.topology("check", "g.topo")
                self.assertEqual(result.code, UNUSABLE, result)
                self.assertIn("g.topo", result.err)
                self.assertEqual(self.check_json("g.topo")[0], UNUSABLE)

    def test_exit_code_2_for_what_is_no_topology(self):
        cases = {
            "no clients": ("edge 0 1\n", ["g.topo"]),
            "an edge out of range": ("clients 2\nedge 0 1\nedge 0 5\n", ["g.topo:3", "5"]),
            "a word for a number": ("clients two\n", ["g.topo:1", "two"]),
            "unknown statement": ("clients 2\nlink 0 1\n", ["g.topo:2", "link"]),
            "edge twice": ("clients 2\nedge 0 1\nedge 1 0\nedge 0 1\n", ["g.topo:4", "twice"]),
            "negative weight": ("clients 2\nweights explicit\nedge 0 0 1.5\nedge 0 1 -0.5\nedge 1 1 1\n", ["-0.5"]),
            "unknown family": ("generate doughnut clients=4\n", ["g.topo:1", "doughnut", "ring"]),
        }
        for name, (text, expected) in cases.items():
            with self.subTest(name):
                self.write("g.topo", text)
                self.check_usage(["check", "g.topo"], expected)

    def check_usage(self, words, expected):
        result = self.topology(*words)
        self.assertEqual((result.code, result.out, len(result.messages())), (USAGE, "", 1), result)
        for text in expected:
            self.assertIn(text, result.messages()[0])

    def test_usage(self):
        for words, expected in (
            ([], ["check, make, draw"]),
            (["paint"], ["paint", "check, make, draw"]),
            (["check"], ["topology check FILE"]),
            (["check", "nowhere.topo"], ["nowhere.topo", "No such file"]),
            (["check", "a.topo", "b.topo"], ["topology check takes one FILE"]),
            (["make", "doughnut", "--clients", "4"], ["doughnut", *FAMILIES]),
            (["make", "ring"], ["--clients"]),
            (["make", "ring", "--clients", "0"], ["--clients", "0 is out of range"]),
            (["make", "erdos-renyi", "p=2", "--clients", "4"], ["p=2"]),
            (["make", "erdos-renyi", "q=2", "--clients", "4"], ["q"]),
            (["make", "ring", "rounds=endless", "--clients", "4"], ["endless", *ENDLESS]),
            (["make", "erdos-renyi", "rounds=endless", "--clients", "4", "--weights", "receiver"], ["receiver", "sender"]),
            (["draw"], ["topology draw FILE"]),
        ):
            with self.subTest(words):
                self.check_usage(words, expected)


class Make(TopologyCase):
    def test_check_reads_what_make_writes(self):
        for family in FAMILIES:
            for rule in ("sender", "receiver"):
                with self.subTest(family=family, weights=rule):
                    name = f"{family}-{rule}.topo"
                    clients = 8 if family == "hypercube" else 9
                    made = self.topology("make", family, "--clients", clients, "--weights", rule, "--output", name)
                    self.assertEqual((made.code, made.out, made.err), (0, "", ""))
                    code, analysis = self.check_json(name)
                    self.assertEqual((code, analysis["clients"]), (0, clients))
                    sums = analysis[f"{rule}_sums"]
                    self.assertAlmostEqual(sums["min"], 1, delta=1e-9)
                    self.assertAlmostEqual(sums["max"], 1, delta=1e-9)

    def test_standard_output_seeds_and_metropolis(self):
        words = ["make", "erdos-renyi", "p=0.5", "seed=4", "--clients", 8, "--weights", "metropolis"]
        first = self.topology(*words)
        self.assertEqual((first.code, first.err), (0, ""))
        self.assertEqual(first.out, self.topology(*words).out)
        self.assertNotEqual(first.out, self.topology(*[word if word != "seed=4" else "seed=5" for word in words]).out)
        self.write("g.topo", first.out)
        _, analysis = self.check_json("g.topo")
        self.assertAlmostEqual(analysis["bias"], 0, delta=1e-9)

    def test_a_line_generate_is_the_same_graph(self):
        self.write("line.topo", "generate erdos-renyi clients=8 p=0.5 seed=4\n")
        self.write("made.topo", self.topology("make", "erdos-renyi:p=0.5,seed=4", "--clients", 8).out)
        self.assertEqual(self.check_json("line.topo")[1]["digest"], self.check_json("made.topo")[1]["digest"])

    def test_graphs_that_never_repeat(self):
        for family in ENDLESS:
            with self.subTest(family):
                made = self.topology("make", family, "rounds=endless", "--clients", 9, "--output", "g.topo")
                self.assertEqual((made.code, made.out, made.err), (0, "", ""))
                self.assertIn(f"generate {family} clients=9 ", (self.folder / "g.topo").read_text())
                code, analysis = self.check_json("g.topo")
                self.assertEqual((code, analysis["clients"]), (0, 9))
                self.assertIsNotNone(analysis["joint_window"])
                self.assertEqual(analysis["sampled_rounds"], None if family == "one-peer-exponential" else 64)
                self.assertEqual(analysis["phases"], 4 if family == "one-peer-exponential" else 64)
                table = self.topology("check", "g.topo")
                self.assertEqual("another each round" in table.out, family != "one-peer-exponential")

    def test_endless_b_connected_keeps_its_window(self):
        for window in (1, 3, 10):
            words = ["make", "b-connected", f"window={window}", "extra=0", "rounds=endless", "--clients", 40]
            self.write("g.topo", self.topology(*words).out)
            self.assertLessEqual(self.check_json("g.topo")[1]["joint_window"], window)

    def test_ten_thousand_clients_that_never_repeat(self):
        self.write("g.topo", "generate random-matching clients=10000 rounds=endless\n")
        code, analysis = self.check_json("g.topo")
        self.assertEqual((code, analysis["sampled_rounds"]), (0, 20))
        self.assertEqual(analysis["bias"], 0)

    def test_rounds_that_do_not_connect_say_nothing_of_all(self):
        self.write("g.topo", "generate erdos-renyi clients=9 p=0.0001 rounds=endless\n")
        code, analysis = self.check_json("g.topo")
        self.assertEqual((code, analysis["joint_window"]), (0, None))
        self.write("g.topo", "generate erdos-renyi clients=9 p=0 rounds=endless\n")
        self.assertEqual(self.check_json("g.topo")[0], UNUSABLE)

    def test_files_of_others_are_the_same_graph(self):
        self.write("f.topo", "clients 2\nweights explicit\nedge 0 0 0.5\nedge 0 1 0.5\nedge 1 0 1\n")
        self.write("f.mtx", "%%MatrixMarket matrix coordinate real general\n%\n2 2 3\n1 1 0.5\n2 1 0.5\n1 2 1\n")
        self.write("f.edges", "0 0 0.5\n0 1 0.5\n1 0 1.0\n")
        digests = {self.check_json(name)[1]["digest"] for name in ("f.topo", "f.mtx", "f.edges")}
        self.assertEqual(len(digests), 1)

    def test_omd_takes_what_make_writes(self):
        self.topology("make", "star", "--clients", 3, "--output", "star.topo")
        words = ["--topology", "star.topo", "--source", "synthetic:drift:n=20", "--mechanism", "laplace", "--output", "run"]
        self.good(3, words)


class Draw(TopologyCase):
    def setUp(self):
        super().setUp()
        self.write("g.topo", topology(3, [(1, [(0, 1)]), (2, [(1, 2), (2, 0)])]))

    def test_dot(self):
        result = self.topology("draw", "g.topo")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertRegex(result.out, r"^\s*(strict )?digraph ")
        self.assertIn("->", result.out)
        self.assertEqual(result.out.count("{"), result.out.count("}"))
        self.assertEqual(self.topology("draw", "g.topo", "--output", "g.dot").code, 0)
        self.assertEqual((self.folder / "g.dot").read_text(), result.out)

    def test_the_first_rounds_of_a_graph_that_never_repeats(self):
        self.write("endless.topo", "generate random-matching clients=6 rounds=endless\n")
        out = self.topology("draw", "endless.topo").out
        self.assertEqual(out.count("subgraph"), 6)
        self.assertIn('label="round 5"', out)
        self.assertNotIn("of every", out)
        self.assertIn('label="round 0 of every 3"', self.topology("draw", "g.topo").out)

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_picture(self):
        result = self.topology("draw", "g.topo", "--output", "g.svg")
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))
        self.assertIn("<svg", (self.folder / "g.svg").read_text())

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_a_ring_looks_like_a_ring(self):
        self.write("ring.topo", "generate ring clients=160\n")
        self.assertEqual(self.topology("draw", "ring.topo", "--output", "ring.svg").code, 0)
        text = (self.folder / "ring.svg").read_text()
        places = [(float(x), float(y)) for x, y in re.findall(r'<ellipse [^>]*cx="([-0-9.]+)" cy="([-0-9.]+)"', text)]
        self.assertEqual(len(places), 160)
        middle = [sum(place[k] for place in places) / 160 for k in (0, 1)]
        distances = [math.dist(place, middle) for place in places]
        self.assertLess(max(distances) - min(distances), 0.01 * max(distances))
        self.assertEqual(text.count('class="edge"'), 160)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_many_clients_are_a_matrix(self):
        self.write("ring.topo", "generate ring clients=1000\n")
        for form, begin in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
            result = self.topology("draw", "ring.topo", "--output", f"ring.{form}")
            self.assertEqual((result.code, result.out, result.err), (0, "", ""), form)
            self.assertTrue((self.folder / f"ring.{form}").read_bytes().startswith(begin), form)
        text = (self.folder / "ring.svg").read_text()
        self.assertIn("receiver", text)
        # A band of cells along the diagonal: of 200 cells in a row each has itself and two neighbours.
        self.assertEqual(len(re.findall(r"<polygon fill", text)) // 600, 1)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"g.topo", "ring.topo", "ring.svg", "ring.png", "ring.pdf"})

    def test_a_kind_of_picture_that_is_not_known(self):
        result = self.topology("draw", "g.topo", "--output", "g.gif")
        self.assertEqual((result.code, len(result.messages())), (USAGE, 1))
        self.assertFalse((self.folder / "g.gif").exists())


if __name__ == "__main__":
    unittest.main()
