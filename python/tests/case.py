"""What the tests of the Python package share. Those that need a package which is missing say so and are skipped."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "end_to_end"))
import harness

if importlib.util.find_spec("numpy") is None:
    print("skipped: NumPy is not installed, which the package needs")
    sys.exit(0)

import numpy as np

import starling

SOURCE = harness.SOURCE


def needs(package):
    return unittest.skipIf(importlib.util.find_spec(package) is None, f"{package} is not installed")


def records_of(count=240, features=4, seed=1):
    """Records in the unit ball and labels of two classes, -1 and 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, features))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.where(x[:, 0] - x[:, 1] > 0, 1.0, -1.0)


class PythonCase(harness.TestCase):
    """A test in a folder of its own, which is the current one."""

    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")

    def script(self, ranks, text, name="script.py", code=0):
        """Runs a script of Python on so many ranks, and returns what it has printed."""
        path = self.write(name, text)
        command = [sys.executable, "-B", path]
        if ranks > 1:
            command = [harness.MPIRUN, "--oversubscribe", "-n", str(ranks), *command]
        done = subprocess.run(command, cwd=self.folder, env=harness.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=harness.PATIENCE)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


def same_runs(test, one, other):
    """Two runs have the same models, losses and masses, to the last bit."""
    for name in ("final_model", "model", "mass", "loss", "rounds"):
        np.testing.assert_array_equal(one.read(name), other.read(name), name)
    test.assertEqual(one.summary["final_model"], other.summary["final_model"])
