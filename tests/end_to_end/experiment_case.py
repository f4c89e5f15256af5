"""What tests of the scripts in jobs/ share."""

import csv
import shutil
import subprocess
import sys

from harness import SOURCE, STARLING, TestCase, draw_pictures, environment

draw_pictures()


class Experiment(TestCase):
    def run_script(self, name, *words):
        """Runs jobs/NAME into the folder `out` of the test; returns what it prints."""
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / name, "--starling", STARLING,
                               "--output", self.folder / "out", *map(str, words)],
                              cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def rows(self, name):
        with open(self.folder / "out" / name, newline="") as file:
            return list(csv.DictReader(file))

    def expect_pictures(self, *names):
        for name in names:
            self.assertTrue((self.folder / "out" / f"{name}.gp").exists(), name)
            if shutil.which("gnuplot"):
                picture = (self.folder / "out" / f"{name}.svg").read_text()
                self.assertTrue(picture.rstrip().endswith("</svg>"), name)
                self.assertIn("<path", picture)

    def expect_missing_data(self, script):
        done = subprocess.run([sys.executable, "-B", SOURCE / "jobs" / script, "--starling", STARLING, "--data", self.folder],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--data", done.stderr)
