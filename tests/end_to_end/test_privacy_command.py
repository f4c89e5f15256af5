"""starling privacy spend and calibrate: figures, keys, exit codes, and that what one gives the other takes."""

import itertools
import json
import math
import unittest

from harness import *

SPEND_KEYS = {"epsilon", "mu", "renyi", "method", "delta", "releases", "pure"}
LAPLACE_KEYS = {"mechanism", "scale", "epsilon_per_release", "sensitivity", "releases", "epsilon", "delta", "method"}
GAUSSIAN_KEYS = {"mechanism", "sigma", "mu", "total_mu", "sensitivity", "releases", "epsilon", "delta", "method"}
USAGE = 2


class PrivacyCase(TestCase):
    def privacy(self, *words):
        return self.run_alone(["privacy", *words])

    def object(self, keys, *words):
        result = self.privacy(*words, "--json")
        self.assertEqual((result.code, result.err), (0, ""), result)
        self.assertEqual(result.out.count("\n"), 1)
        found = json.loads(result.out)
        self.assertEqual(set(found), keys)
        return found

    def spend(self, *words):
        return self.object(SPEND_KEYS, "spend", *words)

    def refused(self, words, expected):
        result = self.privacy(*words)
        self.assertEqual((result.code, result.out, len(result.messages())), (USAGE, "", 1), result)
        for text in expected:
            self.assertIn(text, result.messages()[0])


class Spend(PrivacyCase):
    def test_figures_of_the_field(self):
        for words, epsilon, tolerance, method in (
            ("--mechanism laplace --epsilon 0.1 --releases 50 --delta 1e-5", 2.7966, 0.012, "pld"),
            ("--mechanism laplace --epsilon 0.1 --releases 50 --delta 1e-6", 3.1207, 0.012, "pld"),
            ("--mechanism laplace --scale 4 --sensitivity 2 --releases 100 --delta 1e-6", 30.4837, 0.02, "pld"),
            ("--mechanism gaussian --sigma 5 --releases 50", 6.57297007, 1e-6, "gdp"),
            ("--mechanism gaussian --sigma 10 --sensitivity 2 --releases 50", 6.57297007, 1e-6, "gdp"),
            ("--mechanism gaussian --mu 0.2 --releases 50", 6.57297007, 1e-6, "gdp"),
            ("--mechanism gaussian --epsilon 1 --delta 1e-5", 1, 1e-9, "gdp"),
            ("--mechanism laplace --epsilon 0.25 --releases 4 --delta 0", 1, 0, "pure"),
            ("--mechanism pure --epsilon 0.5 --releases 2 --delta 0", 1, 0, "pure"),
            ("--mechanism approximate --epsilon 0.5 --release-delta 1e-6 --delta 1e-6", 0.5, 0, "pure"),
        ):
            with self.subTest(words):
                found = self.spend(*words.split())
                self.assertAlmostEqual(found["epsilon"], epsilon, delta=tolerance)
                self.assertEqual(found["method"], method)

    def test_all_keys(self):
        found = self.spend("--mechanism", "laplace", "--epsilon", 0.1, "--releases", 50)
        self.assertEqual((found["mu"], found["delta"], found["releases"]), (None, 1e-5, 50))
        self.assertAlmostEqual(found["pure"], 5, delta=1e-12)
        self.assertLess(found["epsilon"], found["renyi"])
        self.assertLess(found["renyi"], found["pure"])
        found = self.spend("--mechanism", "gaussian", "--mu", 0.5, "--releases", 4)
        self.assertAlmostEqual(found["mu"], 1, delta=1e-12)
        self.assertIsNone(found["pure"])

    def test_what_is_unbounded_is_null(self):
        self.assertIsNone(self.spend("--mechanism", "none")["epsilon"])
        self.assertIsNone(self.spend("--mechanism", "gaussian", "--mu", 1, "--delta", 0)["epsilon"])
        self.assertIn("unbounded", self.privacy("spend", "--mechanism", "none").out)

    def test_the_dissertation_s_mechanism_loses_its_delta_each_time(self):
        words = ["--mechanism", "dissertation", "--epsilon", 0.1, "--rounds", 50, "--releases", 50]
        p = 50 ** -math.log(50)
        delta = p * (1 + math.exp(0.1)) / 2  # 2.376e-7 a round
        self.assertIsNone(self.spend(*words, "--delta", 49 * delta)["epsilon"])
        self.assertLessEqual(self.spend(*words, "--delta", 50.001 * delta)["epsilon"], 5.0001)

    @slow
    def test_schedules(self):
        line = self.spend("--mechanism", "laplace", "--epsilon", "schedule:from=0.1,to=0.3", "--releases", 3, "--delta", 0)
        self.assertAlmostEqual(line["epsilon"], 0.6, delta=1e-12)
        self.write("s.csv", "round,value\n0,0.1\n2,0.3\n")
        steps = self.spend("--mechanism", "laplace", "--epsilon", "schedule:s.csv", "--releases", 5, "--delta", 0)
        self.assertAlmostEqual(steps["epsilon"], 0.1 * 2 + 0.3 * 3, delta=1e-12)
        mus = self.spend("--mechanism", "gaussian", "--mu", "schedule:from=3,to=4", "--releases", 2)
        self.assertAlmostEqual(mus["mu"], 5, delta=1e-12)
        many = self.spend("--mechanism", "laplace", "--epsilon", "schedule:from=0.01,to=0.1,shape=sqrt", "--releases", 20000)
        self.assertLessEqual(many["epsilon"], many["renyi"])

    def test_groups_from_a_file(self):
        self.write("g.csv", "# two kinds\nmechanism, epsilon, mu, sigma, sensitivity, releases\n"
                            "laplace, 0.1, , , , 50\n\ngaussian, , 0.2, , , 100  # half of it\ngaussian, , , 10, 2, 100\n")
        found = self.spend("--groups", "g.csv")
        self.assertEqual((found["releases"], found["method"], found["mu"]), (250, "pld", None))
        gaussian = self.spend("--mechanism", "gaussian", "--mu", 0.2, "--releases", 200)["epsilon"]
        self.assertGreater(found["epsilon"], gaussian)
        self.assertLess(found["epsilon"], found["renyi"])
        self.write("h.csv", "releases,mechanism,epsilon\n20,laplace,0.1\n30,laplace,0.1\n")
        together = self.spend("--mechanism", "laplace", "--epsilon", 0.1, "--releases", 50)
        self.assertEqual(self.spend("--groups", "h.csv"), together)

    def test_every_mechanism_and_every_term_says_what_it_lacks(self):
        for words, expected in (
            ("", ["--mechanism", "--groups"]),
            ("--mechanism doughnut", ["doughnut", "none, laplace, gaussian, dissertation", ", pure, approximate"]),
            ("--mechanism laplace", ["epsilon, scale"]),
            ("--mechanism laplace --epsilon 1 --scale 2", ["several", "epsilon, scale"]),
            ("--mechanism laplace --mu 1", ["mu of a release has no meaning under laplace"]),
            ("--mechanism laplace --epsilon 1 --sensitivity 2", ["sensitivity without scale"]),
            ("--mechanism laplace --scale 0", ["scale=0"]),
            ("--mechanism laplace --epsilon -1", ["--epsilon", "-1"]),
            ("--mechanism laplace --epsilon nan", ["--epsilon", "nan"]),
            ("--mechanism laplace --epsilon one", ["--epsilon", "one"]),
            ("--mechanism laplace --epsilon schedule:nowhere.csv", ["nowhere.csv"]),
            ("--mechanism laplace --epsilon 1 --releases 0", ["--releases"]),
            ("--mechanism laplace --epsilon 1 --releases 1.5", ["--releases"]),
            ("--mechanism laplace --epsilon 1 --delta 1", ["--delta"]),
            ("--mechanism laplace --epsilon 1 --delta -1", ["--delta"]),
            ("--mechanism gaussian --mu 1 --epsilon 1", ["--epsilon and --mu"]),
            ("--mechanism gaussian --epsilon 1 --delta 0", ["no finite epsilon"]),
            ("--mechanism gaussian --mu 1 --release-delta 0.1", ["--release-delta"]),
            ("--mechanism dissertation --epsilon 1", ["rounds"]),
            ("--mechanism approximate --epsilon 1", ["delta"]),
            ("--mechanism none --epsilon 1", ["epsilon of a release has no meaning under none"]),
            ("--groups g.csv --mechanism laplace", ["--groups and --mechanism exclude each other"]),
            ("--groups nowhere.csv", ["nowhere.csv"]),
            ("--mechanism laplace --epsilom 1", ["epsilom"]),
            ("laplace", ["privacy spend"]),
        ):
            with self.subTest(words):
                self.refused(["spend", *words.split()], expected)

    def test_files_that_are_none(self):
        for name, text, expected in (
            ("empty", "", ["g.csv", "no releases"]),
            ("a header alone", "mechanism,releases,epsilon\n", ["g.csv", "no releases"]),
            ("no releases", "mechanism,epsilon\nlaplace,1\n", ["g.csv:1", "releases"]),
            ("an unknown column", "mechanism,releases,eps\nlaplace,1,1\n", ["g.csv:1", "eps"]),
            ("a column twice", "mechanism,releases,mu,mu\n", ["g.csv:1", "twice"]),
            ("too few cells", "mechanism,releases,epsilon\n\nlaplace,1\n", ["g.csv:3", "2 cells"]),
            ("no number", "mechanism,releases,epsilon\nlaplace,1,0.1\nlaplace,1,x\n", ["g.csv:3", "epsilon", "x"]),
            ("a negative count", "mechanism,releases,epsilon\nlaplace,-1,0.1\n", ["g.csv:2", "-1"]),
            ("half a release", "mechanism,releases,epsilon\nlaplace,0.5,0.1\n", ["g.csv:2", "releases"]),
            ("a missing loss", "mechanism,releases,epsilon\nlaplace,1,\n", ["g.csv:2", "epsilon, scale"]),
            ("a negative loss", "mechanism,releases,epsilon\npure,1,-1\n", ["g.csv:2", "-1"]),
            ("an unknown mechanism", "mechanism,releases\nfudge,1\n", ["g.csv:2", "fudge"]),
        ):
            with self.subTest(name):
                self.write("g.csv", text)
                self.refused(["spend", "--groups", "g.csv"], expected)


class Calibrate(PrivacyCase):
    def calibrate(self, *words):
        keys = GAUSSIAN_KEYS if "gaussian" in words else LAPLACE_KEYS
        return self.object(keys, "calibrate", *words)

    def test_figures_of_the_field(self):
        for words, key, value, tolerance in (
            ("--mechanism laplace --epsilon 1 --delta 1e-4 --releases 20", "scale", 13.6, 0.1),
            ("--mechanism laplace --epsilon 1 --delta 1e-4 --releases 500", "scale", 71.0, 0.1),
            ("--mechanism laplace --epsilon 1 --delta 0 --releases 20 --sensitivity 3", "scale", 60, 1e-6),
            (f"--mechanism gaussian --epsilon {math.log(3)} --delta 1e-5", "sigma", 3.42466240, 1e-6),
            (f"--mechanism gaussian --epsilon {math.log(4)} --delta 2e-5 --sensitivity 3", "sigma", 7.98491162, 1e-6),
            ("--mechanism gaussian --mu 1 --releases 100", "sigma", 10, 1e-6),
        ):
            with self.subTest(words):
                self.assertAlmostEqual(self.calibrate(*words.split())[key], value, delta=tolerance)

    @slow
    def test_given_back_to_spend_it_stays_within(self):
        for mechanism, epsilon, delta, releases in itertools.product(
            ("laplace", "gaussian"), (0.3, 2), ("1e-5", "1e-9"), (1, 30, 1000)
        ):
            with self.subTest(mechanism=mechanism, epsilon=epsilon, delta=delta, releases=releases):
                limit = ["--delta", delta, "--releases", releases]
                found = self.calibrate("--mechanism", mechanism, "--epsilon", epsilon, "--sensitivity", 0.7, *limit)
                noise, share = ("sigma", "mu") if mechanism == "gaussian" else ("scale", "epsilon_per_release")
                by_noise = self.spend("--mechanism", mechanism, f"--{noise}", repr(found[noise]), "--sensitivity", 0.7, *limit)
                option = "--mu" if mechanism == "gaussian" else "--epsilon"
                by_share = self.spend("--mechanism", mechanism, option, repr(found[share]), *limit)
                self.assertLessEqual(by_noise["epsilon"], epsilon)
                self.assertEqual(by_share["epsilon"], by_noise["epsilon"])
                self.assertEqual(found["epsilon"], by_noise["epsilon"])
                less = found[noise] * (1 - 1e-4)
                too_little = self.spend("--mechanism", mechanism, f"--{noise}", repr(less), "--sensitivity", 0.7, *limit)
                self.assertGreater(too_little["epsilon"], epsilon)

    def test_the_text_holds_the_same_numbers(self):
        words = ["--mechanism", "laplace", "--epsilon", 1, "--releases", 10]
        found = self.calibrate(*words)
        result = self.privacy("calibrate", *words)
        self.assertEqual((result.code, result.err), (0, ""))
        lines = dict(line.split(maxsplit=1) for line in result.out.splitlines()[:2])
        self.assertEqual(float(lines["scale"]), found["scale"])
        self.assertEqual(float(lines["epsilon_per_release"]), found["epsilon_per_release"])

    def test_usage(self):
        for words, expected in (
            ("", ["--mechanism"]),
            ("--mechanism dissertation --epsilon 1", ["dissertation", "laplace, gaussian"]),
            ("--mechanism laplace", ["neither"]),
            ("--mechanism gaussian --epsilon 1 --mu 1", ["exclude each other"]),
            ("--mechanism laplace --mu 1", ["--mu under laplace"]),
            ("--mechanism gaussian --epsilon 1 --delta 0", ["--delta 0"]),
            ("--mechanism laplace --epsilon 0", ["--epsilon", "0"]),
            ("--mechanism laplace --epsilon 1 --releases 0", ["--releases"]),
            ("--mechanism laplace --epsilon 1 --sensitivity 0", ["--sensitivity"]),
            ("--mechanism laplace --epsilon 1 --scale 1", ["scale"]),
        ):
            with self.subTest(words):
                self.refused(["calibrate", *words.split()], expected)


class Dispatch(PrivacyCase):
    def test_usage(self):
        self.refused([], ["spend", "calibrate"])
        self.refused(["spent"], ["spent", "spend", "calibrate"])


if __name__ == "__main__":
    unittest.main()
