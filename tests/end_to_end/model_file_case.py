"""What tests of `starling predict` and `starling score` share: tables, runs that leave a model file, and its predictions."""

import csv

from harness import *

UNUSABLE, UNREADABLE = 2, 3
QUIET = ["--progress", "off", "--mechanism", "none"]


@needs_h5py
class ModelFileCase(TestCase):
    """Tests of the command `command`, with random numbers from `seed`."""
    command = None
    seed = 7

    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(self.seed)

    def table(self, name, columns, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
        return name

    def run_quietly(self, command, words, output="run", ranks=1):
        """A run without noise."""
        return self.succeeded(self.run_command(ranks, [command, *QUIET, *words, "--output", output]))

    def predict(self, words):
        result = self.succeeded(self.run_alone(["predict", *words]))
        return list(csv.DictReader(result.out.splitlines()))

    def refused(self, code, words, *patterns):
        self.complains(self.run_alone([self.command, *words]), code, *patterns)


__all__ = [name for name in globals() if not name.startswith("_")]
