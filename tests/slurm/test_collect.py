"""jobs/collect.py: what its table has, of runs that differ, have stopped, have no end, or are none."""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COLLECT = pathlib.Path(__file__).parents[2] / "jobs/collect.py"


class Collect(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="starling-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def make(self, name, settings, summary=None):
        run = self.folder / name
        run.mkdir()
        lines = [f"{key} = {value}" for key, value in settings]
        (run / "config.ini").write_text("\n".join(["# made by starling", *lines, f"output = {name}"]) + "\n")
        if summary is not None:
            (run / "summary.json").write_text(json.dumps({"command": "omd", "notes": [], **summary}))

    def collect(self, *words):
        done = subprocess.run([sys.executable, "-B", COLLECT, *words], cwd=self.folder, capture_output=True, text=True)
        return done, list(csv.DictReader(io.StringIO(done.stdout)))

    def test_settings_that_differ_and_all_figures(self):
        self.make("a", [("epsilon", "0.5"), ("batch", "8"), ("seed", "1")],
                  {"rounds": 10, "loss": {"mean": 0.25, "last": None}, "privacy": {"statement": "long"}, "final_model": [1, 2]})
        self.make("b", [("epsilon", "2"), ("batch", "8"), ("clip", "3")],
                  {"rounds": 10, "loss": {"mean": 0.1}, "aggregated": True})
        done, rows = self.collect("b", "a")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(rows[0]), ["run", "state", "epsilon", "clip", "seed", "rounds", "loss.mean", "aggregated"])
        self.assertEqual([list(row.values()) for row in rows],
                         [["b", "finished", "2", "3", "", "10", "0.1", "True"],
                          ["a", "finished", "0.5", "", "1", "10", "0.25", ""]])

    def test_rounds_are_those_that_were_done(self):
        note = "stopped by a signal after 7 of 10 rounds"
        self.make("stopped", [("rounds", "10")], {"rounds": 7, "notes": [note]})
        self.make("unfinished", [("rounds", "10")])
        self.make("finished", [("rounds", "10")], {"rounds": 10, "notes": ["small batches"]})
        done, rows = self.collect("finished", "stopped", "unfinished")
        self.assertEqual([(row["state"], row["rounds"]) for row in rows],
                         [("finished", "10"), ("stopped", "7"), ("unfinished", "10")])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "collect.py: 2 of 3 runs have not finished: stopped, unfinished\n")

    def test_numbers_keep_their_bits(self):
        value = 0.1 + 0.2
        self.make("a", [], {"loss": {"mean": value}})
        _, rows = self.collect("a")
        self.assertEqual(float(rows[0]["loss.mean"]), value)

    def test_columns_and_output(self):
        self.make("a", [("epsilon", "1"), ("graph", "x,y.topo")], {"loss": {"mean": 0.5}})
        done, _ = self.collect("a", "--columns", "loss.mean,graph", "--output", "table.csv")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual((self.folder / "table.csv").read_text(), 'run,state,loss.mean,graph\na,finished,0.5,"x,y.topo"\n')

    def test_what_scripts_put_aside_is_no_run(self):
        for name in ("run-omd-7_1", "run-omd-7_1.unbegun-1700000000", "run-omd-7_2", "run-omd-7_2.incomplete-1700000000"):
            self.make(name, [("epsilon", "1")], {"rounds": 3} if "." not in name else None)
        done, rows = self.collect(*sorted(path.name for path in self.folder.glob("run-omd-7_*")))
        self.assertEqual([row["run"] for row in rows], ["run-omd-7_1", "run-omd-7_2"])
        self.assertEqual((done.returncode, done.stderr), (0, "collect.py: left out what job scripts have put aside: 2\n"))

    def test_errors(self):
        self.make("a", [("epsilon", "1")], {"loss": {"mean": 0.5}})
        self.make("damaged", [])
        (self.folder / "damaged/summary.json").write_text('{"command": "om')
        self.make("foreign", [])
        (self.folder / "foreign/summary.json").write_text("[1]")
        for words, problem in [(["a", "nothing"], "nothing: no run directory"),
                               (["damaged"], "damaged: Unterminated string"),
                               (["foreign"], "foreign/summary.json: no summary of a run"),
                               (["a", "--columns", "losses"], r"no run has 'losses' \(known: epsilon, loss.mean\)")]:
            with self.subTest(words):
                done, rows = self.collect(*words)
                self.assertEqual((done.returncode, rows), (3, []), done.stderr)
                self.assertRegex(done.stderr, "^collect.py: " + problem)


if __name__ == "__main__":
    unittest.main()
