"""`starling data convert`, `make` and `describe`."""

import csv
import gzip
import hashlib
import json
import os
import re
import resource
import signal
import stat
import subprocess
import unittest

from harness import DATA, STARLING, TestCase, bits, environment, h5py, needs_a9a, needs_h5py, numpy, wait_until

USAGE, DATA_ERROR, FAILURE, STOPPED = 2, 3, 5, 75


class DataCase(TestCase):
    def data(self, *words):
        return self.run_alone(["data", *words])

    def fine(self, *words):
        result = self.data(*words)
        self.assertEqual((result.code, result.err), (0, ""), result)
        return result.out

    def refused(self, code, expected, *words):
        result = self.data(*words)
        self.assertEqual((result.code, result.out, len(result.messages())), (code, "", 1), result)
        for text in expected:
            self.assertIn(text, result.messages()[0])

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def figures(self, *words):
        return json.loads(self.fine("describe", *words, "--json"))


class Convert(DataCase):
    @needs_h5py
    def test_csv_to_hdf5(self):
        self.write("a.csv", "a,b,y\n0.1,2,1\n-3,1e-300,0\n")
        self.assertEqual(self.fine("convert", "a.csv", "--output", "a.h5"), "a.h5: 2 records, 2 features\n")
        with h5py.File(self.folder / "a.h5") as file:
            self.assertEqual((file["x"].dtype, file["y"].dtype), ("float64", "float64"))
            self.assertEqual(file["x"][()].tolist(), [[0.1, 2], [-3, 1e-300]])
            self.assertEqual(file["y"][()].tolist(), [1, 0])
            self.assertEqual(file.attrs["source"], "a.csv")
            self.assertIn("data convert a.csv --output a.h5", file.attrs["command"])
        self.fine("convert", "a.csv", "--output", "f.hdf5", "--precision", "float")
        with h5py.File(self.folder / "f.hdf5") as file:
            self.assertEqual((file["x"].dtype, file["y"].dtype), ("float32", "float64"))
            self.assertEqual(file["x"][0].tolist(), [float(numpy.float32(0.1)), 2])
        self.assertEqual(self.names(), ["a.csv", "a.h5", "f.hdf5"])

    def test_what_a_run_reads_is_the_same(self):
        self.write("a.csv", "\n".join(f"{i / 7!r},{(i % 5) / 3!r},{2 * (i % 2) - 1}" for i in range(40)) + "\n")
        found = []
        for name in ("a.csv", "b.csv", "b.csv.gz", "b.svm", "c.csv"):
            if name != "a.csv":
                self.fine("convert", "a.csv" if name[0] == "b" else "b.svm", "--output", name)
            words = ["--source", name, "--clients", 2, "--mechanism", "none"]
            summary = self.summary_of(1, words, "run-" + name)
            found.append(bits([summary["final_model"], summary["models"], summary["loss"]]))
        self.assertEqual(found[1:], found[:1] * 4)

    @needs_a9a
    @needs_h5py
    def test_a9a(self):
        # 123 features: those of the largest index, found in a pass of its own; the labels' sum is from the file itself
        self.fine("convert", DATA / "a9a" / "a9a.gz", "--format", "svmlight", "--output", "a9a.h5")
        with gzip.open(DATA / "a9a" / "a9a.gz", "rt") as text:
            lines = [line.split() for line in text]
        with h5py.File(self.folder / "a9a.h5") as file:
            self.assertEqual(file["x"].shape, (32561, 123))
            self.assertEqual(file["y"][()].sum(), sum(float(line[0]) for line in lines))
            self.assertLess(file["x"].chunks[0], 2000)
            for i in (0, 1, 17000, 32560):
                expected = numpy.zeros(123)
                expected[[int(entry.split(":")[0]) - 1 for entry in lines[i][1:]]] = 1
                self.assertEqual(file["x"][i].tolist(), expected.tolist())

    def test_a_file_for_each_client(self):
        for u in range(3):
            self.write(f"p/in-{u + 1}.csv", "".join(f"{u},{i},{i % 2}\n" for i in range(u + 2)))
        self.fine("convert", "p/in-{client:1}.csv", "--clients", 3, "--output", "out-{client}.csv")
        for u in range(3):
            self.assertEqual(len((self.folder / f"out-{u}.csv").read_text().splitlines()), u + 3)
        self.fine("convert", "p/in-{client:1}.csv", "--clients", 3, "--output", "all.csv")
        rows = [row for u in range(3) for row in (self.folder / f"out-{u}.csv").read_text().splitlines()[1:]]
        self.assertEqual((self.folder / "all.csv").read_text().splitlines()[1:], rows)

    def test_sparse_files_of_clients_get_one_width(self):
        self.write("0.svm", "1 2:1\n")
        self.write("1.svm", "-1 5:1\n")
        self.fine("convert", "{client}.svm", "--clients", 2, "--output", "{client}.csv")
        self.assertEqual((self.folder / "0.csv").read_text(), "x0,x1,x2,x3,x4,y\n0,1,0,0,0,1\n")
        self.assertEqual((self.folder / "1.csv").read_text(), "x0,x1,x2,x3,x4,y\n0,0,0,0,1,-1\n")

    def test_zeros_at_the_end_are_told(self):
        self.write("a.csv", "1,0,1\n2,0,0\n")
        self.assertIn("--dimension 2", self.fine("convert", "a.csv", "--output", "a.svm"))
        self.fine("convert", "a.svm", "--dimension", 2, "--output", "b.csv")
        self.assertEqual((self.folder / "b.csv").read_text(), "x0,x1,y\n1,0,1\n2,0,0\n")

    def test_nothing_is_lost(self):
        self.write("a.csv", "1,1\n2,0\n")
        self.write("b.csv", "precious")
        os.symlink("a.csv", self.folder / "alias.csv")
        self.refused(USAGE, ["b.csv", "exists", "--force"], "convert", "a.csv", "--output", "b.csv")
        for name in ("a.csv", "alias.csv"):
            self.refused(USAGE, [name, "source itself"], "convert", "a.csv", "--output", name, "--force")
        self.assertEqual((self.folder / "b.csv").read_text(), "precious")
        self.fine("convert", "a.csv", "--output", "b.csv", "--force")
        self.assertEqual((self.folder / "b.csv").read_text(), "x0,y\n1,1\n2,0\n")

    def test_an_id_is_not_written(self):
        self.write("a.csv", "who,a,y\n1,1,1\n2,2,0\n")
        self.assertIn("note: column 'who' (--id) is not written", self.fine("convert", "a.csv", "--id", "who", "--output", "b.csv"))
        self.assertNotIn("note", self.fine("convert", "a.csv", "--output", "c.csv"))

    def test_a_private_file_stays_private(self):
        os.chmod(self.write("a.csv", "1,1\n2,0\n"), 0o600)
        for name in ("b.csv", "b.h5"):
            self.fine("convert", "a.csv", "--output", name)
            self.assertEqual(stat.S_IMODE((self.folder / name).stat().st_mode), 0o600)

    def test_bad_input_leaves_nothing(self):
        self.write("good-0.csv", "1,1\n2,0\n")
        self.write("good-1.csv", "1,1\nnan,0\n")
        self.write("wide-0.csv", "1,1\n")
        self.write("wide-1.csv", "1,2,1\n")
        self.write("empty.csv", "")
        self.write("head.csv", "a,y\n")
        before = self.names()
        for output in ("o.h5", "o.csv", "o.svm.gz"):
            with self.subTest(output):
                self.refused(DATA_ERROR, ["good-1.csv: row 2", "nan"], "convert", "good-1.csv", "--output", output)
                self.refused(DATA_ERROR, ["head.csv", "no records"], "convert", "head.csv", "--output", output)
                self.refused(DATA_ERROR, ["empty.csv"], "convert", "empty.csv", "--output", output)
                self.refused(USAGE, ["nowhere.csv"], "convert", "nowhere.csv", "--output", output)
        self.refused(DATA_ERROR, ["good-1.csv: row 2"], "convert", "good-{client}.csv", "--clients", 2, "--output",
                     "o-{client}.h5")
        self.refused(DATA_ERROR, ["wide-1.csv", "2 features", "wide-0.csv has 1"], "convert", "wide-{client}.csv",
                     "--clients", 2, "--output", "o-{client}.h5")
        self.refused(FAILURE, ["nowhere/o.h5", "No such file"], "convert", "good-0.csv", "--output", "nowhere/o.h5")
        self.assertEqual(self.names(), before)

    def test_a_full_disk(self):
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

        self.write("a.csv", "".join(f"{i / 7!r},{i % 2}\n" for i in range(200_000)))
        for output in ("b.h5", "b.csv", "b.csv.gz"):
            with self.subTest(output):
                done = subprocess.run([STARLING, "data", "convert", "a.csv", "--output", output], cwd=self.folder,
                                      env=environment(), capture_output=True, text=True, timeout=60,
                                      preexec_fn=small_disk)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("starling:")), (FAILURE, "", 1), done)
                self.assertIn("disk", done.stderr)
                self.assertEqual(self.names(), ["a.csv"])

    def test_zeros_that_do_not_fit_on_the_disk(self):
        self.write("a.svm", "1 2000000000:1\n" * 10_000)
        self.refused(FAILURE, ["a.h5", "GB", ".svm"], "convert", "a.svm", "--output", "a.h5")
        self.assertEqual(self.names(), ["a.svm"])

    def test_usage(self):
        self.write("a.csv", "1,1\n2,0\n")
        for words, expected in (
            (["convert"], ["no source"]),
            (["convert", "a.csv"], ["--output"]),
            (["convert", "a.csv", "--output", "a.txt"], ["a.txt", ".h5", ".csv", ".svm"]),
            (["convert", "a.csv", "b.csv", "--output", "a.h5"], ["one SOURCE"]),
            (["convert", "a.csv", "--output", "a-{client}.h5"], ["{client}", "--clients"]),
            (["convert", "a.csv", "--output", "a.h5", "--clients", "2"], ["--clients 2", "a.csv"]),
            (["convert", "a-{client}.csv", "--output", "a.h5"], ["--clients"]),
            (["convert", "a.csv", "--output", "a.h5", "--precision", "half"], ["half", "double, float"]),
            (["convert", "a.csv", "--output", "a.h5", "--label", "z"], ["a.csv", "z"]),
            (["convert", "a.csv", "--output", ".", "--force"], ["."]),
            (["make", "drift", "--output", "a.h5"], ["no end", "--records"]),
            (["make", "drift:n=5", "--records", "6", "--output", "a.h5"], ["--records 6"]),
            (["make", "rift", "--records", "6", "--output", "a.h5"], ["rift", "drift"]),
            (["make", "--records", "6", "--output", "a.h5"], ["no source"]),
            (["describe"], ["no source"]),
            (["describe", "synthetic:drift"], ["no end"]),
            (["describe", "a.csv", "--output", "b"], ["--output"]),
            (["paint"], ["paint", "convert, make, describe"]),
            ([], ["convert, make, describe"]),
        ):
            with self.subTest(words):
                self.refused(USAGE, expected, *words)
        self.assertEqual(self.names(), ["a.csv"])

    def test_a_configuration(self):
        self.write("a.csv", "1,1\n2,0\n")
        self.write("c.ini", self.fine("convert", "a.csv", "--output", "b.csv", "--scale", "1/2", "--print-config"))
        self.fine("convert", "--config", "c.ini")
        self.assertEqual(self.names(), ["a.csv", "b.csv", "c.ini"])

    def test_one_process_works_under_mpirun(self):
        self.write("a.csv", "1,1\n2,0\n")
        result = self.run_command(2, ["data", "convert", "a.csv", "--output", "a.h5"])
        self.assertEqual((result.code, result.out), (0, "a.h5: 2 records, 1 features\n"), result)
        result = self.run_as_a_user(2, ["data", "convert", "nowhere.csv", "--output", "b.h5"])
        self.assertEqual((result.code, len(result.messages())), (USAGE, 1), result)


class Windows(DataCase):
    def test_windows_of_each_client(self):
        # Of client 0: two windows of +1, one with an ignored record, one of several labels, one incomplete.
        labels = ([4, 4, 5, 4, 4, 0, 4, 1, 4], [1, 1, 1, 1])
        for u, column in enumerate(labels):
            text = "".join(f"{i},{10 * i},{i % 2},{y}\n" for i, y in enumerate(column))
            with gzip.open(self.folder / f"p-{u + 1}.csv.gz", "wt") as file:
                file.write(text)
        out = self.fine("convert", "p-{client:1}.csv.gz", "--clients", 2, "--drop", "0", "--label", 3, "--positive",
                        "4,5", "--ignore", 0, "--window", 2, "--output", "w-{client}.csv")
        self.assertEqual(out, "w-{client}.csv: 4 records, 4 features, 2 files\n"
                              "windows of 2 records: 4 written; dropped: 1 of several labels, 1 with an ignored one, "
                              "1 incomplete at the end\n"
                              "note: windows dropped for their labels leave no place behind: where a record stands in the file "
                              "depends on the labels of others, which no privacy figure of a run on the file covers\n")
        head = "x0_mean,x0_sd,x1_mean,x1_sd,y\n"
        self.assertEqual((self.folder / "w-0.csv").read_text(), head + "5,5,0.5,0.5,1\n25,5,0.5,0.5,1\n")
        self.assertEqual((self.folder / "w-1.csv").read_text(), head + "5,5,0.5,0.5,-1\n25,5,0.5,0.5,-1\n")
        self.assertNotIn("overlap", out)
        lines = self.fine("convert", "p-2.csv.gz", "--drop", 0, "--window", 3, "--window-step", 1, "--output",
                          "one.csv").splitlines()
        self.assertEqual(lines[0], "one.csv: 2 records, 4 features")
        self.assertIn("windows overlap: a record is in up to 3 of them", lines[2])
        self.assertIn("in up to 2 of them", self.fine("convert", "p-2.csv.gz", "--drop", 0, "--window", 3, "--window-step", 2,
                                                      "--output", "two.csv"))

    def test_usage(self):
        self.write("a.csv", "x,y\n1,1\n2,2\n")
        for words, code, expected in (
            (["--window", 1], USAGE, ["window"]),
            (["--window", 2, "--window-step", 3], USAGE, ["--window-step 3", "1 to 2"]),
            (["--window-step", 2], USAGE, ["--window-step", "--window"]),
            (["--window", 2], DATA_ERROR, ["a.csv", "no whole window"]),
            (["--window", 2, "--positive", 1, "--ignore", 1], USAGE, ["label 1"]),
        ):
            with self.subTest(words):
                self.refused(code, expected, "convert", "a.csv", "--output", "b.csv", *words)
        self.assertEqual(self.names(), ["a.csv"])

    @unittest.skipUnless(numpy and (DATA / "har_chest_uci287").exists(), "no accelerometer data beside the project")
    def test_seconds_of_the_accelerometer(self):
        self.fine("convert", DATA / "har_chest_uci287" / "{client:1}.csv.gz", "--clients", 2, "--drop", 0, "--positive",
                  "2,4,5,6", "--ignore", 0, "--window", 52, "--output", "w-{client}.csv")
        with gzip.open(DATA / "har_chest_uci287" / "2.csv.gz", "rt") as file:
            rows = numpy.array([line.strip().split(",") for line in file], float)
        windows = rows[:len(rows) // 52 * 52].reshape(-1, 52, 5)
        motion = numpy.isin(windows[:, :, 4], (2, 4, 5, 6))
        kept = (motion.all(1) | ~motion.any(1)) & (windows[:, :, 4] != 0).all(1)
        self.assertGreater(kept.sum(), 1000)
        channels = windows[kept][:, :, 1:4]
        expected = numpy.stack([channels.mean(1), channels.std(1)], axis=2).reshape(-1, 6)
        found = numpy.loadtxt(self.folder / "w-1.csv", delimiter=",", skiprows=1)
        numpy.testing.assert_allclose(found[:, :6], expected, rtol=1e-12, atol=1e-9)
        self.assertEqual(found[:, 6].tolist(), numpy.where(motion[kept][:, 0], 1, -1).tolist())


class Standardise(DataCase):
    def test_a_run_sees_what_a_converted_file_holds(self):
        self.write("a.csv", "u,v,y\n" + "".join(f"{i % 7},{1000 + i * i % 13},{i % 2}\n" for i in range(60)))
        self.write("c.csv", "feature,mean,sd\nv,1006,4\nu,3,2\n")
        self.fine("convert", "a.csv", "--standardise", "c.csv", "--output", "b.csv")
        rows = (self.folder / "b.csv").read_text().splitlines()
        self.assertEqual(rows[:3], ["u,v,y", "-1.5,-1.5,0", "-1,-1.25,1"])
        found = []
        for source, test, more in (("a.csv", "a.csv", ["--standardise", "c.csv"]), ("b.csv", "b.csv", [])):
            words = ["--source", source, "--test", test, "--clients", 2, "--mechanism", "none", *more]
            summary = self.summary_of(2, words, "run-" + source)
            found.append(bits([summary["final_model"], summary["loss"], summary["metrics"]]))
        self.assertEqual(found[0], found[1])

    def test_refusals(self):
        self.write("a.csv", "u,v,y\n1,2,1\n3,4,0\n")
        self.write("c.csv", "feature,mean,sd\nu,0,1\n")
        self.refused(DATA_ERROR, ["c.csv", "'v'"], "convert", "a.csv", "--standardise", "c.csv", "--output", "b.csv")
        self.refused(USAGE, ["--standardise", "synthetic"], "describe", "synthetic:drift:n=5", "--standardise", "c.csv")


class Encode(DataCase):
    def test_texts_become_numbers(self):
        self.write("a.csv", "u,smoker,y\n1,no,low\n2,yes,high\n")
        self.write("c.csv", "column,category,value\nsmoker,no,0\nsmoker,yes,1\ny,low,-1\ny,high,1\n")
        self.fine("convert", "a.csv", "--encode", "c.csv", "--output", "b.csv")
        self.assertEqual((self.folder / "b.csv").read_text().splitlines(), ["u,smoker,y", "1,0,-1", "2,1,1"])

    def test_refusals(self):
        self.write("a.csv", "u,smoker,y\n1,no,0\n2,perhaps,1\n")
        self.write("c.csv", "column,category,value\nsmoker,no,0\nsmoker,yes,1\n")
        self.write("a.svm", "1 1:2\n")
        self.refused(DATA_ERROR, ["a.csv: row 3", "'perhaps'", "never seen", "c.csv"], "convert", "a.csv", "--encode",
                     "c.csv", "--output", "b.csv")
        self.refused(USAGE, ["--encode", "not delimited text"], "describe", "a.svm", "--encode", "c.csv")
        self.refused(USAGE, ["--encode", "synthetic"], "describe", "synthetic:drift:n=5", "--encode", "c.csv")


class Generators(DataCase):
    def test_names_stand_in_files(self):
        self.fine("make", "insurance:standardised=0", "--records", 20, "--output", "i.csv")
        rows = (self.folder / "i.csv").read_text().splitlines()
        self.assertEqual(len(rows), 21)
        self.assertTrue(rows[0].startswith("age,gender,bmi,children,smoker,"), rows[0])
        for row in rows[1:]:
            self.assertTrue(18 <= float(row.split(",")[0]) <= 65, row)


class Pipes(DataCase):
    def test_a_pipe_is_read_once(self):
        text = "1,1\n" * 3 + "2,0\n"
        for words, check in (
            (["convert", "-", "--format", "csv", "--output", "a.csv"], lambda out: self.assertIn("4 records", out)),
            (["describe", "-", "--format", "csv", "--json"],
             lambda out: self.assertEqual((json.loads(out)["records"], json.loads(out)["replayable"]), (4, False))),
        ):
            with self.subTest(words):
                done = subprocess.run([STARLING, "data", *words], input=text, cwd=self.folder, env=environment(),
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                check(done.stdout)
        self.assertEqual((self.folder / "a.csv").read_text(), "x0,y\n1,1\n1,1\n1,1\n2,0\n")

    def test_a_sparse_pipe_must_say_its_width(self):
        words = ["data", "convert", "-", "--format", "svmlight", "--output", "a.csv"]
        for more, code in (([], USAGE), (["--dimension", "3"], 0)):
            done = subprocess.run([STARLING, *words, *more], input="1 2:5\n", cwd=self.folder, env=environment(),
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)
            if code != 0:
                self.assertIn("--dimension", done.stderr)
        self.assertEqual((self.folder / "a.csv").read_text(), "x0,x1,x2,y\n0,5,0,1\n")

    def begin(self, output):
        """A conversion that has read something and waits for more."""
        process = subprocess.Popen([STARLING, "data", "convert", "-", "--format", "csv", "--output", output],
                                   cwd=self.folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        process.stdin.write("1,2,3\n" * 100_000)
        process.stdin.flush()
        wait_until(lambda: any(name.startswith(output + ".part-") for name in self.names()), "the file is begun")
        return process

    def test_a_signal_leaves_nothing(self):
        for output in ("a.h5", "a.csv.gz"):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(output=output, signal=number):
                    process = self.begin(output)
                    process.send_signal(number)
                    process.wait(timeout=30)  # while its standard input stays open and silent
                    out, err = process.communicate(timeout=30)
                    self.assertEqual((process.returncode, out), (STOPPED, ""), err)
                    self.assertIn("stopped by a signal", err)
                    self.assertEqual(self.names(), [])

    def test_a_kill_leaves_nothing_under_the_name(self):
        process = self.begin("a.h5")
        process.kill()
        process.communicate(timeout=30)
        self.assertFalse((self.folder / "a.h5").exists())


class Progress(DataCase):
    def test_lines_when_asked_for(self):
        self.write("a.csv", "1,1\n" * 1000)
        result = self.data("convert", "a.csv", "--output", "a.h5", "--progress", "on")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"^writing a.h5: 1000 records, 0.0 MB, \d+ MB/s\n$")
        result = self.data("describe", "a.csv", "--progress", "on", "--json")
        self.assertRegex(result.err, r"^reading a.csv: 1000 records\n$")
        self.assertEqual(json.loads(result.out)["records"], 1000)


class Make(DataCase):
    def test_a_run_on_the_file_is_the_run_on_the_source(self):
        spec = "drift:informative=1,d=6"
        for batch in (1, 3):
            words = ["--clients", 3, "--batch", batch, "--seed", 9]
            self.fine("make", spec, "--records", 21, "--output", f"made-{batch}.csv", *words)
            for mechanism in (["--mechanism", "none"], ["--mechanism", "laplace", "--noise-key", "seed"]):
                more = [*words, *mechanism, "--topology", "ring.topo", "--metrics", "shared"]
                self.write("ring.topo", "clients 3\nedge 0 1\nedge 1 2\nedge 2 0\nedge 0 2\n")
                name = f"{batch}-{mechanism[1]}"
                found = [self.summary_of(1, ["--source", source, *more], f"{name}-{k}")
                         for k, source in enumerate((f"synthetic:{spec},n=21", f"made-{batch}.csv"))]
                for key in ("rounds", "final_model", "models", "loss", "accuracy", "consensus_error"):
                    self.assertEqual(bits(found[0][key]), bits(found[1][key]), key)

    def test_a_file_for_each_client(self):
        self.fine("make", "drift", "--records", 5, "--clients", 3, "--output", "{client:1}.csv", "--seed", 4)
        self.fine("make", "synthetic:drift:n=5", "--clients", 3, "--output", "all.csv", "--seed", 4)
        rows = [row for u in (1, 2, 3) for row in (self.folder / f"{u}.csv").read_text().splitlines()[1:]]
        self.assertEqual((self.folder / "all.csv").read_text().splitlines()[1:], rows)
        self.assertEqual(len(set(rows)), 15)

    @needs_h5py
    def test_hdf5_holds_the_same_bits(self):
        self.fine("make", "drift", "--records", 50, "--output", "a.csv")
        self.fine("make", "drift", "--records", 50, "--output", "a.h5")
        with open(self.folder / "a.csv") as text, h5py.File(self.folder / "a.h5") as file:
            rows = [[float(entry) for entry in row] for row in list(csv.reader(text))[1:]]
            self.assertEqual(numpy.column_stack((file["x"][()], file["y"][()])).tolist(), rows)
            self.assertEqual(file.attrs["source"], "synthetic:drift")


class Describe(DataCase):
    def test_figures(self):
        path = self.write("a.csv", "a,b,c,y\n1,0,5,1\n-2,0,5,0\n3,0,5,1\n")
        found = self.figures("a.csv")
        self.assertEqual((found["source"], found["records"], found["features"]), ("a.csv", 3, 3))
        self.assertEqual((found["sparse"], found["replayable"], found["clients"]), (False, True, None))
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(found["files"], [{"name": "a.csv", "sha256": digest}])
        self.assertEqual(found["labels"]["counts"], [[0, 1], [1, 2]])
        self.assertEqual(found["losses"], ["logistic", "dwd", "hinge", "softmax:2"])
        self.assertEqual(found["constant"], [1, 2])
        self.assertAlmostEqual(found["density"], 6 / 9)
        first = found["columns"][0]
        self.assertEqual((first["min"], first["max"], first["distinct"]), (-2, 3, 3))
        self.assertAlmostEqual(first["mean"], 2 / 3)
        self.assertAlmostEqual(first["sd"], (sum((v - 2 / 3) ** 2 for v in (1, -2, 3)) / 3) ** 0.5)
        self.assertEqual((found["row_l1"]["min"], found["row_l1"]["max"]), (6, 8))
        self.assertAlmostEqual(found["row_l1"]["median"], 7, delta=0.07)
        self.assertAlmostEqual(found["row_l2"]["max"], 34 ** 0.5)
        self.assertIsNone(found["repeated_ids"])
        self.assertEqual(len(found["notes"]), 1)

    def test_norms_whose_squares_are_no_doubles(self):
        self.write("a.csv", "3e200,4e200,1\n0,0,0\n-3e-200,4e-200,1\n")
        found = self.figures("a.csv")["row_l2"]
        self.assertAlmostEqual(found["max"] / 5e200, 1, delta=1e-12)
        self.assertAlmostEqual(found["median"] / 5e-200, 1, delta=0.01)
        self.assertEqual(found["min"], 0)

    def test_the_digest_of_a_long_file(self):
        text = "1,0.25,1\n" * 400_000
        self.write("a.csv", text)
        self.assertEqual(self.figures("a.csv")["files"][0]["sha256"], hashlib.sha256(text.encode()).hexdigest())

    @needs_a9a
    def test_a9a(self):
        found = self.figures(DATA / "a9a" / "a9a.gz", "--format", "svmlight")
        self.assertEqual((found["records"], found["features"], found["sparse"]), (32561, 123, True))
        self.assertEqual(found["labels"]["counts"], [[-1, 24720], [1, 7841]])
        self.assertEqual((found["row_l1"]["max"], found["constant"]), (14, []))
        self.assertAlmostEqual(found["row_l2"]["max"], 14 ** 0.5)
        text = self.fine("describe", DATA / "a9a" / "a9a.gz", "--format", "svmlight")
        for expected in ("32561", "123, sparse", "-1 (24720", "1 (7841", "logistic, dwd, hinge", "123 of two values"):
            self.assertIn(expected, text)

    def test_notes(self):
        notes = {
            "constant": ("1,7,1\n2,7,0\n", ["1 constant feature 1"]),
            "huge": ("255,1\n0,0\n", ["255", "--scale 1/255"]),
            "uneven": ("0.001,1,1\n0.002,9,0\n", ["feature 1 varies 8000 times", "--scale"]),
            "labels": ("1,3.5\n2,2.5\n3,2\n", ["no classification loss", "squared"]),
            "one label": ("1,1\n2,1\n", ["all labels are the same"]),
            "second label": ("x,label,y\n0.5,1,1\n0.7,0,0\n", ["feature 'y' is called as a label is", "--drop 'y', or --label 'y'"]),
            "row numbers": ("ID,x,y\n7,1,1\n3,0,0\n", ["feature 'ID' is called as row numbers are", "--drop 'ID'"]),
            "row numbers of a data frame": (",x,y\n0,1,1\n1,0,0\n", ["a feature has no name", "--drop 0"]),
            "counter": ("".join(f"{i / 30},{i},{i % 2}\n" for i in range(30)), ["feature 1 is a whole number"]),
        }
        for name, (text, expected) in notes.items():
            with self.subTest(name):
                self.write("a.csv", text)
                found = self.figures("a.csv")["notes"]
                self.assertTrue(any(all(part in note for part in expected) for note in found), found)
                self.assertIn("note: " + found[0], self.fine("describe", "a.csv"))
        self.write("a.csv", "0.5,1,1\n1,0,0\n0,1,1\n")
        self.assertEqual(self.figures("a.csv")["notes"], [])
        self.write("a.csv", "0.001,1,1\n0.05,2,0\n0.002,1.5,1\n")  # 20 times is nothing to speak of
        self.assertEqual(self.figures("a.csv")["notes"], [])

    def test_labels(self):
        for labels, losses in (
            (range(10), ["softmax:10"]),
            (range(1, 27), ["softmax:27"]),
            ((-1, 1), ["logistic", "dwd", "hinge"]),
            ((1, 2), ["softmax:3"]),
            ((0, 500), []),
            ((0.5, 1), []),
        ):
            with self.subTest(labels):
                self.write("a.csv", "".join(f"0.{i},{label}\n" for i, label in enumerate(labels)))
                self.assertEqual(self.figures("a.csv")["losses"], losses)
                named = any("with --class-labels" in note for note in self.figures("a.csv")["notes"])
                self.assertEqual(named, labels == range(1, 27) or len(labels) == 2 and set(labels) != {-1, 1})

    def test_a_mean_has_the_digits_that_the_deviation_needs(self):
        self.write("a.csv", "a,b,c,y\n100000000.03,0.1,5,-1\n99999999.97,0.2,5,1\n")
        rows = {line.split()[0]: line.split()[1:5] for line in self.fine("describe", "a.csv").splitlines()
                if re.match(r"    [abc] ", line)}
        self.assertEqual(rows["a"], ["99999999.97", "100000000", "100000000.03", "0.03"])
        self.assertEqual(rows["b"], ["0.1", "0.15", "0.2", "0.05"])
        self.assertEqual(rows["c"], ["5", "5", "5", "0"])
        self.write("a.csv", "-123456789012.25,3.5\n-123456789012.75,3.25\n")
        self.assertIn(" -123456789012.75   -123456789012.5  -123456789012.25              0.25 ", self.fine("describe", "a.csv"))

    def test_many_features_are_summed_up(self):
        self.write("a.csv", "".join(",".join(str((i * j) % 3) for j in range(60)) + f",{i % 2}\n" for i in range(9)))
        text = self.fine("describe", "a.csv")
        self.assertIn("20 constant, 0 of two values, 40 others", text)
        self.assertIn("20 constant features 0, 3, 6,", text)
        self.assertEqual(len(self.figures("a.csv")["columns"]), 60)

    def test_files_of_clients_and_generators(self):
        self.fine("make", "drift", "--records", 5, "--clients", 3, "--output", "{client}.csv", "--seed", 4)
        files = self.figures("{client}.csv", "--clients", 3)
        self.assertEqual((files["records"], files["records_per_client"], len(files["files"])), (15, [5, 5, 5], 3))
        made = self.figures("synthetic:drift:n=5", "--clients", 3, "--seed", 4)
        for key in ("records", "labels", "columns", "row_l1", "row_l2"):
            self.assertEqual(bits(made[key]) if key != "columns" else [bits(c["mean"]) for c in made[key]],
                             bits(files[key]) if key != "columns" else [bits(c["mean"]) for c in files[key]])

    def test_bad_input(self):
        self.write("a.csv", "1,1\n,0\n")
        self.write("b.csv", "a,y\n")
        self.refused(DATA_ERROR, ["a.csv: row 2", "missing"], "describe", "a.csv")
        self.refused(DATA_ERROR, ["b.csv", "no records"], "describe", "b.csv", "--json")
        self.refused(USAGE, ["nowhere.csv"], "describe", "nowhere.csv")


if __name__ == "__main__":
    unittest.main()
