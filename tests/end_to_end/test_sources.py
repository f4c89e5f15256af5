"""Sources and how they reach the clients: one file dealt out, a file per client, pipes; averages."""

import collections
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import threading
import unittest

from harness import *

QUIET = ["--progress", "off", "--mechanism", "none"]


class OneFileOrMany(TestCase):
    """The same clients get the same records, however they reach them: the same models, bit for bit."""

    def setUp(self):
        super().setUp()
        self.rows = csv_rows(90)
        self.write("all.csv", "\n".join(self.rows) + "\n")

    def models(self, words, ranks=1):
        self.runs = getattr(self, "runs", 0) + 1
        return bits(self.summary_of(ranks, [*QUIET, "--clients", "3", *words], f"run{self.runs}")["models"])

    def test_a_file_per_client_is_the_contiguous_partition(self):
        for k in range(3):
            self.write(f"part-{k + 1}.csv", "\n".join(self.rows[30 * k: 30 * k + 30]) + "\n")
        expected = self.models(["--source", "all.csv"])
        own = ["--source", "part-{client:1}.csv"]
        self.assertEqual(self.models(own), expected)
        self.assertEqual(self.models([*own, "--memory", "0"]), expected)
        self.assertEqual(self.models(own, ranks=2), expected)
        self.assertEqual(self.models(own, ranks=3), expected)

    def test_a_saved_partition_deals_the_same_again(self):
        dealt = ["--source", "all.csv", "--partition", "dirichlet:0.4", "--seed", "6"]
        expected = self.models([*dealt, "--save-partition", "dealt.csv"], ranks=2)
        lines = (self.folder / "dealt.csv").read_text().splitlines()
        self.assertEqual((lines[0], len(lines)), ("record,client", 91))
        self.assertEqual(self.models(["--source", "all.csv", "--partition", "file:dealt.csv", "--seed", "6"]), expected)

    @fewer
    def test_memory_changes_nothing(self):
        for partition in ("contiguous", "iid", "shards:2", "round-robin") if SLOW else ("iid", "shards:2"):
            words = ["--source", "all.csv", "--partition", partition, "--batch", "4", "--epochs", "2"]
            self.assertEqual(self.models([*words, "--memory", "0"]), self.models(words), partition)

    def test_names_of_no_features_have_notes(self):
        rows = [f"{i},{i % 7},{i % 2},{i % 3}" for i in range(30)]
        for name, head, expected in (("numbered", ",x,y,z", ["a feature has no name", "--drop 0"]),
                                     ("called", "Index,x,y,z", ["'Index' is called as row numbers are"]),
                                     ("twice", "a,label,Y,z", ["'Y' is called as a label is", "--drop 'Y'"])):
            with self.subTest(name):
                self.write("named.csv", "\n".join([head, *rows]) + "\n")
                notes = " ".join(self.summary_of(1, [*QUIET, "--loss", "squared", "--source", "named.csv"], name)["notes"])
                for part in expected: self.assertIn(part, notes)
        left_out = self.summary_of(1, [*QUIET, "--loss", "squared", "--source", "named.csv", "--drop", "Y"], "left-out")
        self.assertNotIn("is called as", " ".join(left_out["notes"]))

    def test_sparse_files_of_different_width_agree_on_the_widest(self):
        self.write("s-0.svm", "1 1:1\n-1 2:1\n")
        self.write("s-1.svm", "1 1:1 5:2\n-1 2:1\n")
        words = ["--source", "s-{client}.svm", *QUIET, "--loss", "squared"]
        self.assertEqual(self.summary_of(2, words, "sparse")["dimension"], 5)

    def test_a_width_that_comes_from_private_records_is_said(self):
        self.write("s.svm", "1 1:1\n-1 2:1\n1 1:1 5:2\n-1 2:1\n")
        words = ["--source", "s.svm", "--mechanism", "laplace", "--clients", "2"]
        notes = " ".join(self.summary_of(1, words, "found")["notes"])
        self.assertIn("5 features", notes)
        self.assertIn("--dimension", notes)
        fixed = self.summary_of(1, [*words, "--dimension", "8"], "fixed")
        self.assertEqual(fixed["dimension"], 8)
        self.assertNotIn("--dimension", " ".join(fixed["notes"]))

    def test_ranks_that_read_different_contents_are_told(self):
        changed = list(self.rows)
        changed[40] = changed[40].replace("0.", "0.9", 1)
        for place, rows in (("here", self.rows), ("there", changed)):
            self.write(f"{place}/mine.csv", "\n".join(rows) + "\n")
        words = ["--source", "mine.csv", *QUIET, "--output", str(self.folder / "out")]
        parts = [(1, words, ["-wdir", self.folder / place]) for place in ("here", "here", "there")]
        result = self.run_parts(parts)
        self.assertEqual(result.codes, [2] * 3, result)
        self.assertIn("content of mine.csv", result.messages()[0])
        self.assertIn("rank 2", result.messages()[0])


class FilesAreReadOnce(TestCase):
    """Before the first round, and for the digests, the ledger, the constants and the test set together: by strace."""

    def setUp(self):
        super().setUp()
        rng = random.Random(4)  # features in units of their own: a rule finds constants, and records are prepared anew
        rows = []
        for _ in range(12000):
            x = [rng.gauss(0, 1) for _ in range(3)]
            rows.append([5000 + 1600 * x[0], 1e-3 * x[1], x[2], int(x[0] + x[1] + rng.gauss(0, 1) > 0)])
        self.table("all.csv", rows)
        self.table("held-out.csv", rows[6000:])
        for k in range(3):
            self.table(f"own-{k}.csv", rows[4000 * k: 4000 * k + 3900 + k])
        self.table("features.csv", [row[:3] for row in rows])
        self.table("labels.csv", [row[3:] for row in rows])
        (self.folder / "all.csv.gz").write_bytes(gzip.compress((self.folder / "all.csv").read_bytes()))

    def table(self, name, rows):
        names = {4: ["x", "y", "z", "label"], 3: ["x", "y", "z"], 1: ["label"]}[len(rows[0])]
        self.write(name, "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")

    def bytes_read(self, words):
        """Bytes read of each file of the folder, by one process with all clients."""
        self.runs = getattr(self, "runs", 0) + 1
        trace = self.folder / f"trace{self.runs}"
        trace.mkdir()
        done = self.run_program(["strace", "-ff", "-qq", "-s", "200", "-e", "trace=openat,read,pread64", "-o", trace / "t",
                                 STARLING, *words, "--progress", "off", "--output", f"out{self.runs}"])
        self.assertEqual(done.code, 0, done)
        total = collections.Counter()
        for thread in trace.iterdir():
            names = {}
            for line in thread.read_text().splitlines():
                if opened := re.match(r'openat\(.*"([^"]*)".* = (\d+)$', line):
                    names[opened[2]] = opened[1]
                elif got := re.match(r"p?read(?:64)?\((\d+),.* = (\d+)$", line):
                    total[pathlib.Path(names.get(got[1], "")).name] += int(got[2])
        return total

    def test_whatever_the_command_needs_them_for(self):
        peeks = 3 * 65536  # format, head and compression of a file are told from its first bytes
        gaussian = ["--mechanism", "gaussian", "--epsilon", "2", "--label", "label"]
        omd = ["omd", *gaussian, "--tuning", "auto", "--clients", "3"]
        cases = {
            "constants by histograms, a test set": [*omd, "--source", "all.csv", "--test", "held-out.csv"],
            "gzipped, dealt by labels": [*omd, "--source", "all.csv.gz", "--partition", "shards:2"],
            "a file per client": [*omd, "--source", "own-{client}.csv"],
            "a pair": [*[word for word in omd if word not in ("--label", "label")], "--source", "features.csv,labels.csv"],
            "persons": [*omd, "--source", "all.csv", "--unit", "person", "--person", "z"],
            "owners' ledgers": [*omd, "--source", "own-{client}.csv", "--ledger", "ledger-{client}.txt"],
            "fedavg": ["fedavg", *gaussian, "--tuning", "auto", "--clients", "3", "--source", "all.csv"],
            "infer": ["infer", "--mechanism", "gaussian", "--mu", "1", "--label", "label", "--loss", "logistic",
                      "--clients", "3", "--source", "all.csv"],
        }
        for name, words in cases.items():
            with self.subTest(name):
                total = self.bytes_read(words)
                named = " ".join(words).replace("{client}", "0").replace(",", " ").split()
                files = [word for word in named if word.endswith((".csv", ".csv.gz"))]
                self.assertTrue(files)
                for file in files:
                    size = (self.folder / file).stat().st_size
                    self.assertGreaterEqual(total[file], size)
                    self.assertLessEqual(total[file], size + peeks, f"{file} of {size} bytes")

    def test_what_does_not_fit_into_memory_is_read_again(self):
        """So the count can fail."""
        words = ["omd", "--mechanism", "none", "--label", "label", "--source", "all.csv", "--memory", "0"]
        size = (self.folder / "all.csv").stat().st_size
        self.assertGreater(self.bytes_read(words)["all.csv"], 1.9 * size)


class Pipes(TestCase):
    WORDS = ["--source", "feed-{client}", "--format", "csv", *QUIET]

    def feed(self, client, rows, pause=0.0):
        """Writes rows into the client's pipe as they come, from another thread."""
        path = self.folder / f"feed-{client}"
        os.mkfifo(path)

        def write():
            try:
                with open(path, "w") as pipe:
                    for row in rows:
                        pipe.write(row + "\n")
                        if pause:
                            pipe.flush()
                            time.sleep(pause)
            except BrokenPipeError:
                pass  # the reader has ended first

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        return thread

    def test_a_pipe_per_client_learns_what_files_would_teach(self):
        rows = csv_rows(60)
        for k in range(2):
            self.write(f"file-{k}.csv", "\n".join(rows[30 * k: 30 * k + 30]) + "\n")
            self.feed(k, rows[30 * k: 30 * k + 30])
        files = self.summary_of(2, ["--source", "file-{client}.csv", *QUIET], "files")
        pipes = self.summary_of(2, [*self.WORDS, "--rounds", "30"], "pipes")
        self.assertEqual(bits(pipes["models"]), bits(files["models"]))

    def test_records_are_used_as_they_arrive_and_a_signal_ends_the_wait(self):
        self.feed(0, csv_rows(1000), pause=0.05)
        self.feed(1, csv_rows(1000, seed=2), pause=0.05)
        job = self.start(2, [*self.WORDS, "--rounds", "1000", "--output", "run", "--record-every", "1"])
        pids = job.pids(2)
        wait_until(lambda: (self.folder / "run" / "run.h5").exists(), "the run has begun")
        time.sleep(1.5)
        os.kill(pids[0], signal.SIGUSR1)
        result = job.finish()
        self.assertEqual(result.codes, [75, 75], result)
        summary = self.summary_in("run")
        self.assertGreater(summary["rounds"], 3)
        self.assertLess(summary["rounds"], 200)

    def test_half_a_line_at_a_signal_is_no_record(self):
        """What has come of a record is neither learned from nor found faulty; "0.5,0.2,0.1,1" could become 15."""
        for number, tail in enumerate(("0.5,0.2", "0.5,0.2,0.1,1")):
            with self.subTest(tail):
                path = self.folder / f"half-{number}"
                os.mkfifo(path)
                job = self.start(1, ["--source", path, *QUIET, "--rounds", "100", "--output", f"run-{number}",
                                     "--metrics", "local"])
                pipe = os.open(path, os.O_RDWR)  # no wait for a reader
                self.addCleanup(os.close, pipe)
                os.write(pipe, ("\n".join(csv_rows(5)) + "\n" + tail).encode())
                figures = self.folder / f"run-{number}" / "private" / "0" / "metrics.csv"
                wait_until(figures.exists, "the run has begun")
                time.sleep(0.5)
                os.kill(job.pids(1)[0], signal.SIGTERM)
                result = job.finish()
                self.assertEqual(result.codes, [75], result)
                self.assertEqual(len(figures.read_text().splitlines()), 2 + 5)  # after a remark and the names

    def test_a_bad_file_ends_a_rank_that_waits_for_its_pipe(self):
        self.write("mix-0.csv", "1,2,1\n1,oops,1\n")
        os.mkfifo(self.folder / "mix-1.csv")
        silent = os.open(self.folder / "mix-1.csv", os.O_RDWR)  # a writer that says nothing
        self.addCleanup(os.close, silent)
        result = self.run_noted(2, ["--source", "mix-{client}.csv", *QUIET, "--rounds", "3", "--output", "out"])
        self.assertEqual(result.codes, [3, 3], result)
        self.assertLess(result.seconds, 10)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("mix-0.csv: row 2", result.messages()[0])

    def test_what_is_read_twice_is_no_pipe(self):
        self.write("d.csv", "\n".join(csv_rows(5)) + "\n")
        self.write("y.csv", "1\n1\n")
        os.mkfifo(self.folder / "feed.csv")
        for words in (["--source", "d.csv", "--test", "feed.csv"], ["--source", "d.csv", "--test", "-"],
                      ["--source", "feed.csv,y.csv"]):
            with self.subTest(words):
                result = self.run_noted(2, [*words, *QUIET, "--output", "out"])
                self.assertEqual(result.codes, [3, 3], result)
                self.assertIn("not a regular file", result.messages()[0])

    def test_a_stream_that_ends_early_mixes_on(self):
        self.feed(0, csv_rows(10))
        self.feed(1, csv_rows(30, seed=2))
        summary = self.summary_of(2, [*self.WORDS, "--rounds", "40"], "run")
        self.assertEqual(summary["rounds"], 40)
        self.assertEqual(summary["privacy"]["participations"], 1)

    def test_standard_input_for_one_client(self):
        rows = csv_rows(25)
        words = [STARLING, "omd", "--source", "-", "--tuning", "off", *QUIET, "--rounds", "25", "--json", "--output", "run"]
        done = subprocess.run(words, cwd=self.folder, env=environment(), input="\n".join(rows) + "\n",
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.write("same.csv", "\n".join(rows) + "\n")
        same = self.summary_of(1, ["--source", "same.csv", *QUIET], "same")
        self.assertEqual(bits(json.loads(done.stdout)["final_model"]), bits(same["final_model"]))

    def test_what_a_pipe_cannot_do(self):
        self.feed(0, csv_rows(5))
        self.feed(1, csv_rows(5))
        result = self.run_noted(2, [*self.WORDS, "--output", "out"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("--rounds", result.messages()[0])
        result = self.run_noted(2, [*self.WORDS, "--rounds", "9", "--epochs", "3", "--output", "out"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("once", result.messages()[0])
        result = self.run_noted(2, ["--source", "-", *QUIET, "--rounds", "3", "--output", "out"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("feed-{client}", result.messages()[0])

    def test_a_row_of_a_pipe_that_cannot_be_read_is_left_out(self):
        rows = csv_rows(30)
        rows[20] = "0.1,oops,0.3,1"
        self.feed(0, rows)
        self.feed(1, csv_rows(30, seed=2))
        result = self.run_noted(2, [*self.WORDS, "--rounds", "30", "--output", "out"])
        self.assertEqual(result.codes, [0, 0], result)
        self.assertNotIn("oops", result.out + result.err)
        self.assertIn("row 21: column 1 (from 0) is 'oops'", (self.folder / "out/private/0/left-out.txt").read_text())
        self.assertFalse((self.folder / "out/private/1/left-out.txt").exists())


class Averages(TestCase):
    @needs_h5py
    def test_means_of_the_recorded_models(self):
        words = ["--source", "synthetic:drift:informative=1,n=101", *QUIET, "--clients", "3", "--record-every", "1"]
        for what, first in (("all", 1), ("tail", 51)):
            summary = self.summary_of(1, [*words, "--average", what], what)
            record = self.record(what)
            mean = record["model"][first:].mean(axis=0)
            numpy.testing.assert_allclose(numpy.array(summary["models"]), mean, rtol=1e-12, atol=1e-14)
            numpy.testing.assert_array_equal(record["final_model"], numpy.array(summary["models"]))
            self.assertEqual(summary["average"], what)
        last = self.summary_of(1, words, "none")
        numpy.testing.assert_array_equal(self.record("none")["model"][-1], numpy.array(last["models"]))

    @fewer
    def test_averages_do_not_depend_on_the_layout(self):
        words = ["--source", "synthetic:drift:informative=1,n=60", *QUIET, "--average", "tail", "--clients", "4"]
        expected = bits(self.summary_of(1, words, "one")["models"])
        for ranks in layouts((1, 4, 2))[1:]:
            self.assertEqual(bits(self.summary_of(ranks, words, f"on{ranks}")["models"]), expected)


if __name__ == "__main__":
    unittest.main()
