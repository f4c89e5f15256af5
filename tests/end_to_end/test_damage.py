"""Run directories of which a file is damaged: --resume refuses it in one message, or ends with the bits of a run that nothing
has happened to. It never crashes, and never goes on as another run. (Bytes of single files: tests/fuzz.)"""

import random
import unittest

from harness import *
import kills

REFUSED = (2, 3, 5)
WORDS = ["--source", "synthetic:drift", "--clients", "2", "--noise-key", "seed", "--progress", "off"]
NOISY = ["--mechanism", "laplace", "--epsilon", "2"]
PLAIN = ["--mechanism", "none"]
# Only ever appended to, and read by nobody but the owner: like any result, it is not looked through again.
APPENDED = "metrics.csv"
# Those without which, or with others, the run would be another; the checkpoint has a number in its name.
DECISIVE = ("config.ini", "run-id", "private/0/journal", "private/0/reports", "private/0/ledger.head", "private/0/ledger",
            "private/0/checkpoint")


def turned(content, randomness):
    """One bit."""
    content = bytearray(content)
    content[randomness.randrange(len(content))] ^= 1 << randomness.randrange(8)
    return bytes(content)


def cut(content, randomness):
    return content[:randomness.randrange(len(content))]


def blank(content, randomness):
    """A piece that a disk has not written."""
    at = randomness.randrange(len(content))
    return content[:at] + bytes(len(content[at:at + 40])) + content[at + 40:]


DAMAGES = (turned, cut, blank)


@needs_h5py
class Damage(TestCase):
    def results(self, run):
        trial = kills.Trial()
        trial.folder = self.folder
        return {name: what for name, what in trial.results(run).items() if not name.endswith(APPENDED)}

    def prepare(self, protection):
        """A run of 200 rounds whose last checkpoint is there, and what 400 uninterrupted rounds come to."""
        words = ["omd", *WORDS, *protection, "--checkpoint-every", "100"]
        for rounds, output in (("400", "whole"), ("200", "run")):
            self.assertEqual(self.run_alone([*words, "--rounds", rounds, "--output", output]).code, 0)
        self.whole = self.results("whole")

    def resume(self, run):
        return self.run_alone(["omd", "--resume", run, "--rounds", "400"])

    def check(self, name, damage, randomness):
        """Damages a file of a copy of the run, and resumes that; whether it was refused."""
        shutil.rmtree(self.folder / "trial", ignore_errors=True)
        shutil.copytree(self.folder / "run", self.folder / "trial")
        path = self.folder / "trial" / name
        before = path.read_bytes()
        after = damage(before, randomness)
        if after == before:
            return False
        path.write_bytes(after)
        result = self.resume("trial")
        self.assertIn(result.code, (0, *REFUSED), result)
        if result.code == 0:
            ended = self.results("trial")
            # A line that runs into that of --output, which says nothing to a run that is resumed, may have been --progress.
            same = {**self.whole, name: ended[name]} if name == "config.ini" else self.whole
            self.assertEqual(ended, same, result)
            return False
        self.assertEqual(len(result.messages()), 1, result)
        if name != "config.ini":  # lines that are lost from it are options that were not given
            self.assertIn("trial", result.messages()[0])
        return True

    def check_files(self, protection, seed):
        self.prepare(protection)
        randomness = random.Random(seed)
        refused = {}
        for path in sorted((self.folder / "run").rglob("*")):
            name = str(path.relative_to(self.folder / "run"))
            if not path.is_file() or path.stat().st_size == 0:
                continue
            for damage in DAMAGES * (3 if name == "run-id" else 1):  # it is short, and some of its bytes say little
                with self.subTest(name, damage=damage.__name__):
                    refused[name] = self.check(name, damage, randomness) + refused.get(name, 0)
        for start in DECISIVE:
            tried = [count for name, count in refused.items() if name.startswith(start)]
            if tried:
                self.assertGreater(sum(tried), 0, start)

    def test_with_noise_and_ledgers(self):
        self.check_files(NOISY, 1)

    def test_without_ledgers(self):
        self.check_files(PLAIN, 2)

    def test_a_configuration_that_reads_well_and_is_another(self):
        """The ledger knows what determined the run, with noise or without."""
        for protection in (NOISY, PLAIN):
            with self.subTest(protection):
                self.prepare(protection)
                for before, after in (("step = 1\n", "step = 3\n"), ("batch = 1\n", "batch = 2\n")):
                    text = (self.folder / "run/config.ini").read_text()
                    self.assertIn(before, text)
                    (self.folder / "run/config.ini").write_text(text.replace(before, after))
                    result = self.resume("run")
                    self.assertEqual((result.code, len(result.messages())), (2, 1), result)
                    self.assertIn("would not be the same", result.messages()[0])
                    (self.folder / "run/config.ini").write_text(text)
                self.assertEqual(self.resume("run").code, 0)
                self.assertEqual(self.results("run"), self.whole)
                for name in ("run", "whole"):
                    shutil.rmtree(self.folder / name)

    def test_nothing_is_refused_that_is_whole(self):
        self.prepare(NOISY)
        self.assertEqual(self.resume("run").code, 0)
        self.assertEqual(self.results("run"), self.whole)


if __name__ == "__main__":
    unittest.main()
