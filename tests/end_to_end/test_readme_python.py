"""The lines of Python that the README gives for reading a run do read one."""

import re
import subprocess
import sys
import unittest

from harness import *


def block():
    """The fenced Python block that follows the first line with "h5py" outside of such blocks."""
    path = SOURCE / "README.md"
    text = path.read_text() if path.exists() else ""
    found = re.search(r"^[^\n]*h5py[^\n]*\n(?:(?!```)[^\n]*\n)*?```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else None


class Readme(TestCase):
    def test_there_is_such_a_block(self):
        self.assertIsNotNone(block(), "README.md has no ```python block after a line that names h5py")

    @needs_h5py
    def test_it_reads_a_run(self):
        self.assertIsNotNone(block())
        self.good(2, ["--clients", "5", "--topology", SOURCE / "topologies" / "unbalanced-5.topo", "--mechanism", "laplace",
                      "--source", "synthetic:drift:informative=1,n=200", "--output", "run"])
        env = {**environment(), "MPLBACKEND": "Agg"}
        done = subprocess.run([sys.executable, "-c", block()], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
