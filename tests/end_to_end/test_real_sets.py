"""The real data sets beside the project, one line each, and more data than memory."""

import json
import os
import subprocess
import unittest

from harness import *

QUIET = ["--progress", "off", "--mechanism", "none"]


def needs(name):
    return unittest.skipUnless((DATA / name).exists(), f"the data set {name} is not beside the project")


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
        """The figures of docs/how-to/classify-pictures.md: ten clients that know few of the classes, without noise and with."""
        folder = DATA / "mnist"
        images, labels = "images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"
        preset = ["--config", SOURCE / "jobs/mnist.ini", "--topology", SOURCE / "topologies/exponential-10.topo",
                  "--source", f"{folder}/train-{images},{folder}/train-{labels}",
                  "--test", f"{folder}/t10k-{images},{folder}/t10k-{labels}", "--progress", "off"]
        summary = self.summary_of(2, preset, "plain")
        self.assertEqual((summary["dimension"], summary["rounds"]), (7850, 1200))
        self.assertGreaterEqual(summary["accuracy"], 0.91)
        noisy = self.summary_of(2, [*preset, "--mechanism", "laplace", "--epsilon", "8", "--clip", "40", "--batch", "300",
                                    "--epochs", "1"], "noisy")
        self.assertEqual(noisy["rounds"], 20)
        self.assertGreater(noisy["accuracy"], 0.70)
        self.assertLess(noisy["accuracy"], 0.78)  # if it were more, the page would promise too little

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


if __name__ == "__main__":
    unittest.main()
