"""Sources and how they reach the clients: one file dealt out, a file per client, pipes; memory, averages, real sets."""

import json
import os
import subprocess
import threading
import unittest

from harness import *

QUIET = ["--progress", "off", "--mechanism", "none"]


def needs(name):
    return unittest.skipUnless((DATA / name).exists(), f"the data set {name} is not beside the project")


class OneFileOrMany(TestCase):
    """The same clients get the same records, however they reach them: the same models, bit for bit."""

    def setUp(self):
        super().setUp()
        self.rows = csv_rows(90)
        self.write("all.csv", "\n".join(self.rows) + "\n")

    def models(self, words, ranks=3):
        self.runs = getattr(self, "runs", 0) + 1
        return bits(self.summary_of(ranks, [*QUIET, *words], f"run{self.runs}")["models"])

    def test_a_file_per_client_is_the_contiguous_partition(self):
        for k in range(3):
            self.write(f"part-{k + 1}.csv", "\n".join(self.rows[30 * k: 30 * k + 30]) + "\n")
        expected = self.models(["--source", "all.csv"])
        own = ["--source", "part-{client:1}.csv"]
        self.assertEqual(self.models(own), expected)
        self.assertEqual(self.models([*own, "--memory", "0"]), expected)
        self.assertEqual(self.models([*own, "--clients", "3"], ranks=2), expected)

    def test_a_saved_partition_deals_the_same_again(self):
        dealt = ["--source", "all.csv", "--partition", "dirichlet:0.4", "--seed", "6"]
        expected = self.models([*dealt, "--save-partition", "dealt.csv"])
        lines = (self.folder / "dealt.csv").read_text().splitlines()
        self.assertEqual((lines[0], len(lines)), ("record,client", 91))
        self.assertEqual(self.models(["--source", "all.csv", "--partition", "file:dealt.csv", "--seed", "6"]), expected)

    def test_memory_changes_nothing(self):
        for partition in ("contiguous", "iid", "shards:2", "round-robin"):
            words = ["--source", "all.csv", "--partition", partition, "--batch", "4", "--epochs", "2"]
            self.assertEqual(self.models([*words, "--memory", "0"]), self.models(words), partition)

    def test_sparse_files_of_different_width_agree_on_the_widest(self):
        self.write("s-0.svm", "1 1:1\n-1 2:1\n")
        self.write("s-1.svm", "1 1:1 5:2\n-1 2:1\n")
        words = ["--source", "s-{client}.svm", *QUIET, "--loss", "squared"]
        self.assertEqual(self.summary_of(2, words, "sparse")["dimension"], 5)

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
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertGreater(summary["rounds"], 3)
        self.assertLess(summary["rounds"], 200)

    def test_a_stream_that_ends_early_mixes_on(self):
        self.feed(0, csv_rows(10))
        self.feed(1, csv_rows(30, seed=2))
        summary = self.summary_of(2, [*self.WORDS, "--rounds", "40"], "run")
        self.assertEqual(summary["rounds"], 40)
        self.assertEqual(summary["privacy"]["participations"], 1)

    def test_standard_input_for_one_client(self):
        rows = csv_rows(25)
        words = [STARLING, "omd", "--source", "-", *QUIET, "--rounds", "25", "--json", "--output", "run"]
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
        result = self.run_noted(2, ["--source", "-", *QUIET, "--rounds", "3", "--output", "out"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("feed-{client}", result.messages()[0])

    def test_a_fault_in_a_pipe_ends_all_and_keeps_what_was(self):
        rows = csv_rows(30)
        rows[20] = "0.1,oops,0.3,1"
        self.feed(0, rows)
        self.feed(1, csv_rows(30, seed=2))
        result = self.run_noted(2, [*self.WORDS, "--rounds", "30", "--output", "out"])
        self.assertEqual(result.codes, [3, 3], result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("row 21", result.messages()[0])
        self.assertTrue((self.folder / "out" / "run.h5").exists())


class Memory(TestCase):
    """More data than memory: what a rank holds does not grow with them."""

    def peak(self, words):
        """Runs one process with all clients; returns its summary and its largest resident memory in bytes."""
        with open(self.folder / "out.json", "w+") as out:
            process = subprocess.Popen([STARLING, "omd", *words, *QUIET, "--json"], cwd=self.folder,
                                       env=environment(), stdout=out, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            out.seek(0)
            return json.load(out), usage.ru_maxrss * 1024

    @needs_h5py
    def test_eight_gigabytes_of_hdf5(self):
        records, features = 1_000_000, 1000
        with h5py.File(self.folder / "big.h5", "w") as file:
            plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plan.set_layout(h5py.h5d.CONTIGUOUS)
            plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)  # a hole on disk: eight gigabytes to read, none to store
            h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((records, features)), plan)
            file["y"] = numpy.where(numpy.arange(records) % 2, 1.0, -1.0)
        path = self.folder / "big.h5"
        self.assertGreater(path.stat().st_size, 8e9)
        if path.stat().st_blocks * 512 > 1e9:
            self.skipTest("this file system does not store holes")
        summary, peak = self.peak(["--source", "big.h5", "--clients", "4", "--batch", "1000", "--output", "run"])
        self.assertEqual(summary["rounds"], 250)
        self.assertLess(peak, 300e6)

    def test_text_that_does_not_fit(self):
        block = "\n".join(csv_rows(10_000, dimension=20)) + "\n"
        with gzip.open(self.folder / "big.csv.gz", "wt", compresslevel=1) as file:
            for _ in range(60):
                file.write(block)
        for partition in ("contiguous", "round-robin"):
            words = ["--source", "big.csv.gz", "--clients", "2", "--batch", "1000", "--partition", partition,
                     "--memory", "8", "--output", f"run-{partition}"]
            summary, peak = self.peak(words)
            self.assertEqual(summary["rounds"], 300)
            # 600,000 records of 20 numbers are 96 MB in memory and 116 MB as text.
            self.assertLess(peak, 75e6, partition)


class RealSets(TestCase):
    """The real sets are one line each."""

    def run_set(self, clients, words):
        return self.summary_of(2, ["--clients", str(clients), *QUIET, *words], "run")

    @needs_a9a
    def test_a9a(self):
        folder = DATA / "a9a"
        summary = self.run_set(3, ["--source", folder / "a9a.gz", "--test", folder / "a9a.t.gz", "--domain", "ball:10"])
        self.assertEqual((summary["dimension"], summary["rounds"]), (123, -(-32561 // 3)))
        self.assertGreater(summary["accuracy"], 0.83)

    @needs("elec2")
    def test_elec2(self):
        folder = DATA / "elec2"
        summary = self.run_set(5, ["--source", f"{folder}/elec2_data.dat.gz,{folder}/elec2_label.dat.gz", "--drop", "0,3",
                                   "--partition", "round-robin", "--intercept", "--step", "5", "--step-power", "0"])
        self.assertEqual((summary["dimension"], summary["rounds"]), (7, -(-45312 // 5)))
        self.assertGreater(summary["accuracy"], 0.68)  # progressive; the larger class has 57.5 %

    @needs("mnist")
    def test_mnist(self):
        folder = DATA / "mnist"
        images, labels = "images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"
        summary = self.run_set(10, [
            "--source", f"{folder}/train-{images},{folder}/train-{labels}",
            "--test", f"{folder}/t10k-{images},{folder}/t10k-{labels}", "--scale", "1/255", "--loss", "softmax:10",
            "--intercept", "--partition", "shards:3", "--topology", SOURCE / "topologies/exponential-10.topo",
            "--batch", "10", "--epochs", "2", "--step", "4", "--average", "tail"])
        self.assertEqual((summary["dimension"], summary["rounds"]), (7850, 1200))
        self.assertGreaterEqual(summary["accuracy"], 0.91)

    @needs("har_chest_uci287")
    def test_har_fifteen_people_are_fifteen_clients(self):
        folder = DATA / "har_chest_uci287"
        summary = self.run_set(15, [
            "--source", f"{folder}/{{client:1}}.csv.gz", "--drop", "0", "--positive", "2,4,5,6", "--ignore", "0",
            "--scale", "1/2000", "--intercept", "--batch", "64"])
        self.assertEqual(summary["dimension"], 4)
        self.assertEqual(summary["clients"], 15)
        self.assertGreater(summary["accuracy"], 0.55)

    @needs("vfl_fate")
    def test_vfl_fate(self):
        folder = DATA / "vfl_fate"
        sets = {"breast": ("logistic", 10, "id", "y"), "default_credit": ("logistic", 13, "id", "y"),
                "vehicle_scale": ("softmax:4", 9, "id", "y"), "motor": ("squared", 4, "idx", "motor_speed"),
                "dvisits": ("squared", 3, "id", "doctorco")}
        for name, (loss, features, ids, label) in sets.items():
            with self.subTest(name):
                summary = self.summary_of(2, [
                    *QUIET, "--source", folder / f"{name}_hetero_guest.csv.gz", "--id", ids, "--label", label, "--loss", loss,
                    "--domain", "ball:10", "--step", "0.3"], name)
                self.assertEqual(summary["dimension"], features * (4 if name == "vehicle_scale" else 1))


class Averages(TestCase):
    @needs_h5py
    def test_means_of_the_recorded_models(self):
        words = ["--source", "synthetic:drift:informative=1,n=101", *QUIET, "--record-every", "1"]
        for what, first in (("all", 1), ("tail", 51)):
            summary = self.summary_of(3, [*words, "--average", what], what)
            record = self.record(what)
            mean = record["model"][first:].mean(axis=0)
            numpy.testing.assert_allclose(numpy.array(summary["models"]), mean, rtol=1e-12, atol=1e-14)
            numpy.testing.assert_array_equal(record["final_model"], numpy.array(summary["models"]))
            self.assertEqual(summary["average"], what)
        last = self.summary_of(3, words, "none")
        numpy.testing.assert_array_equal(self.record("none")["model"][-1], numpy.array(last["models"]))

    def test_averages_do_not_depend_on_the_layout(self):
        words = ["--source", "synthetic:drift:informative=1,n=60", *QUIET, "--average", "tail", "--clients", "4"]
        expected = bits(self.summary_of(1, words, "one")["models"])
        for ranks in (2, 4):
            self.assertEqual(bits(self.summary_of(ranks, words, f"on{ranks}")["models"]), expected)


if __name__ == "__main__":
    unittest.main()
