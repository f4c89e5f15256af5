"""The experiments on online vertical learning run to their end with few rounds, and say what they found."""

import csv
import gzip
import sys
import unittest

try:
    import numpy
except ImportError:
    numpy = None

from experiment_case import Experiment
from harness import *

FIGURES = [f"fig{number}" for number in (*range(5, 13), 14)]
needs_tables = unittest.skipUnless((DATA / "vfl_fate").exists(), "the tables of two parties are not beside the project")


class Files(Experiment):
    def run_file(self, name, *words):
        result = self.run_alone(["vertical", "--config", f"jobs/{name}.ini", "--output", self.folder / name, "--json", "--progress",
                                 "off", *words], cwd=SOURCE)
        self.assertEqual(result.code, 0, result)
        return result.summary()

    def test_the_papers_setting(self):
        summary = self.run_file("vertical", "--rounds", 5)
        self.assertEqual((summary["clients"], summary["rounds"], summary["dimension"]), (4, 5, 538))
        self.assertEqual(summary["traffic"]["uplink_bits_per_round"], 40960)
        self.assertEqual(summary["traffic"]["downlink_bits_per_round"], 40960 + 538 * 32)

    @needs_tables
    def test_credit_default(self):
        """Two parties by the settings as they stand: 30,000 records, an AUC far above that of the guest's columns."""
        summary = self.run_file("vertical-credit")
        self.assertEqual((summary["clients"], summary["rounds"]), (2, 1500))
        self.assertGreater(summary["metrics"]["auc"], 0.72)

    @needs_tables
    def test_credit_default_on_shares(self):
        done = self.run_program([sys.executable, "-B", str(SOURCE / "jobs" / "vertical-shares.py"), "--starling", STARLING, "--data",
                                 str(DATA / "vfl_fate"), "--runs", "1", "--methods", "shares,central" if numpy else "shares", "--output", str(self.folder)])
        self.assertEqual(done.code, 0, done)
        with open(self.folder / "shares.csv") as file:
            found = {(row["method"], row["epsilon"]): float(row["figure"]) for row in csv.DictReader(file)}
        for price, least in ((".3", 0.72), ("1", 0.728), ("3", 0.73), ("none", 0.73)):
            self.assertGreater(found["shares", price], least, price)
        if numpy:  # one noise moves the AUC by .003 at epsilon .3
            for price in ("1", "3", "none"):  # columns that are clipped at five deviations of their bulk have a little more
                self.assertGreater(found["shares", price], found["central", price] - 0.003)
            self.assertAlmostEqual(found["shares", "none"], found["central", "none"], delta=0.0002)
            if "h5py" in sys.modules:
                self.assertLess(float(re.search(r"central are ([0-9.e-]+) apart", done.out).group(1)), 1e-5)
        self.assertIn("outlook: ", done.out)

    @needs_tables
    def test_credit_default_held_out(self):
        """As docs/vertical.md says: every fifth record is held out, and the parties predict it together."""
        def split(party):
            with gzip.open(DATA / "vfl_fate" / f"default_credit_hetero_{party}.csv.gz", "rt") as file:
                header, *rows = file.read().splitlines()
            place = header.split(",").index("id")
            for name, held_out in (("train", False), ("test", True)):
                lines = [row for row in rows if (int(row.split(",")[place]) % 5 == 0) == held_out]
                self.write(f"{party}-{name}.csv", "\n".join([header, *lines]) + "\n")

        for party in ("guest", "host"):
            split(party)
        found = {}
        for parties in (["guest", "host"], ["guest"]):
            files = [",".join(str(self.folder / f"{party}-{name}.csv") for party in parties) for name in ("train", "test")]
            summary = self.run_file("vertical-credit", "--parties", files[0], "--test", files[1], "--clients", len(parties), "--output",
                                    self.folder / "-".join(parties))
            found[len(parties)] = summary["metrics"]["test"]
            self.assertEqual(found[len(parties)]["records"], 6000)
        self.assertAlmostEqual(found[2]["auc"], 0.778, delta=0.01)
        self.assertAlmostEqual(found[1]["auc"], 0.681, delta=0.01)
        self.assertAlmostEqual(found[2]["auc_standard_error"], 0.008, delta=0.001)
        self.assertGreater(found[2]["accuracy"], found[1]["accuracy"])


class Sections(Experiment):
    def test_table(self):
        """Few rounds: bits must come out all the same, and central learning to the last bit."""
        printed = self.run_script("vertical.py", "--tables", "table", "--rounds", 6, "--seeds", 2)
        rows = {(row["run"], row["what"]): row for row in self.rows("table.csv")}
        for run, up in (("b = 32", "40960"), ("scalar b = 4", "5376"), ("scalar b = 2", "2816"), ("hexagonal b = 2", "2816"),
                        ("central", "261120")):
            self.assertEqual(rows[run, "bits up a round"]["ours"], up)
            self.assertEqual(rows[run, "bits up a round"]["verdict"], "holds")
            self.assertEqual(rows[run, "bits down a round"]["verdict"], "holds")
        same = [row for row in self.rows("orderings.csv") if "to the last bit" in row["what"]]
        self.assertEqual([(row["ours"], row["verdict"]) for row in same], [("yes", "holds")])
        self.assertIn("orderings", printed)

    def test_figures(self):
        self.run_script("vertical.py", "--tables", "figures", "--rounds", 10, "--seeds", 1)
        self.expect_pictures(*FIGURES)
        curves = {row["curve"] for row in self.rows("fig7.csv")}
        self.assertEqual(curves, {"E = 1", "E = 2", "E = 3", "E = 4"})

    def test_schedule(self):
        self.run_script("vertical.py", "--tables", "schedule", "--rounds", 8, "--seeds", 1)
        rows = self.rows("schedule.csv")
        self.assertEqual({row["rounds"] for row in rows}, {"8", "16"})
        fixed, growing = ([row for row in rows if row["bits"] == name and row["rounds"] == "16"][0]
                          for name in ("1 bit", "1 + log2(t)/2 bits"))
        self.assertLess(float(fixed["uplink_bits"]), float(growing["uplink_bits"]))

    @needs_tables
    def test_tables(self):
        self.run_script("vertical.py", "--tables", "tables", "--rounds", 20, "--seeds", 1)
        rows = {(row["table"], row["run"]): row for row in self.rows("tables.csv")}
        self.assertEqual(len(rows), 8)
        for table in ("credit default", "breast cancer"):
            self.assertEqual(rows[table, "central"]["auc"], rows[table, "two parties"]["auc"])
            self.assertLess(float(rows[table, "4 bits"]["bits_up_a_round"]), float(rows[table, "two parties"]["bits_up_a_round"]))

    def test_tables_that_are_not_there(self):
        printed = self.run_script("vertical.py", "--tables", "tables", "--data", self.folder)
        self.assertIn("--data", printed)
        self.assertIn("left out", printed)

    def test_a_bar_that_is_missed(self):
        """It is named, and the exit code says so: here a program that counts a bit too many."""
        fake = self.write("starling", f"""#!/bin/sh
"{STARLING}" "$@" || exit
while [ $# -gt 0 ]; do [ "$1" = --output ] && out=$2; shift; done
sed -i 's/,40960,/,40961,/' "$out/rounds.csv"
""")
        os.chmod(fake, 0o755)
        self.check_missed(fake)

    def check_missed(self, fake):
        import subprocess
        import sys

        program = "import sys; sys.path.insert(0, sys.argv.pop(1)); import vertical; vertical.ROUNDS = 6; sys.exit(vertical.main())"
        done = subprocess.run([sys.executable, "-B", "-c", program, SOURCE / "jobs", "--starling", fake, "--tables", "table", "--seeds",
                               "1", "--output", self.folder / "out"], capture_output=True, text=True, env=environment())
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("missed: b = 32, bits up", done.stderr)
        self.assertNotIn("missed: scalar b = 4, bits up", done.stderr)


if __name__ == "__main__":
    unittest.main()
