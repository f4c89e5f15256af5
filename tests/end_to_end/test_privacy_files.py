"""What leaves a client: keys and the metrics of private records stay in private/, for their owner alone."""

import hashlib
import stat
import struct
import unittest

from harness import *

LAPLACE = ["--mechanism", "laplace", "--epsilon", "2", "--clients", "4", "--batch", "2"]


class PrivacyCase(TestCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", "\n".join(csv_rows(400)) + "\n")

    def run_private(self, *words, output="run"):
        return self.good(2, ["--source", "data.csv", *LAPLACE, *words, "--json", "--json-models", "--output", output])

    def outside(self, output="run"):
        """Contents of all files of the run directory that others may read."""
        root = self.folder / output
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*")
                if path.is_file() and "private" not in path.relative_to(root).parts}

    def private(self, pattern, output="run"):
        return sorted((self.folder / output / "private").glob(f"*/{pattern}"))


class Files(PrivacyCase):
    def test_modes_whatever_the_umask(self):
        before = os.umask(0)
        try:
            self.run_private()
        finally:
            os.umask(before)
        folders = list((self.folder / "run" / "private").iterdir())
        self.assertEqual(sorted(folder.name for folder in folders), ["0", "1"])
        for folder in folders:
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700, folder)
            for path in folder.iterdir():
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
        self.assertEqual([path.name for path in self.private("key-*")], [f"key-{u}" for u in range(4)])

    def check_no_key(self, keys, result, output="run"):
        """keys: hexadecimal digits. They must be found nowhere but in private/."""
        places = {**self.outside(output), "stdout": result.out.encode(), "stderr": result.err.encode()}
        self.assertIn("summary.json", places)
        self.assertIn("run.h5", places)
        for key in keys:
            self.assertRegex(key, "^[0-9a-f]{64}$")
            half = len(key) // 2
            for needle in (key[:half], key[half:]):  # half of a key would be too much already
                for spelled in (needle.encode(), needle.upper().encode(), bytes.fromhex(needle)):
                    for name, content in places.items():
                        self.assertNotIn(spelled, content, f"key material in {name}")

    def test_random_keys_are_in_private_only(self):
        result = self.run_private()
        keys = [path.read_text().strip() for path in self.private("key-*")]
        self.assertEqual(len(set(keys)), 4)
        self.check_no_key(keys, result)
        self.run_private(output="again")
        self.assertFalse(set(keys) & {path.read_text().strip() for path in self.private("key-*", "again")})

    def test_keys_from_files_are_copied_nowhere(self):
        keys = [f"{u + 1:x}" * 8 + "0123456789abcdef" * 3 + "fedcba98" for u in range(4)]
        for u, key in enumerate(keys):
            self.write_key(f"keys/{u}.key", key)
        result = self.run_private("--noise-key", "keys/{client}.key")
        self.check_no_key(keys, result)
        self.assertEqual(self.private("key-*"), [])
        self.assertEqual(result.summary()["privacy"]["noise_key"], "file")


    def test_keys_that_others_may_read_are_refused(self):
        for u in range(4):
            self.write_key(f"keys/{u}.key", hashlib.sha256(f"client {u}".encode()).hexdigest())
        os.chmod(self.folder / "keys/3.key", 0o640)
        result = self.run_ranks(2, ["--source", "data.csv", *LAPLACE, "--noise-key", "keys/{client}.key", "--output", "run"])
        self.assertEqual((result.code, len(result.messages())), (2, 1), result)
        for text in ("keys/3.key", "chmod 600", "mode 0640"):
            self.assertIn(text, result.messages()[0])
        self.assertFalse((self.folder / "run").exists())


class Metrics(PrivacyCase):
    def test_metrics_of_private_records_are_withheld(self):
        result = self.run_private()
        summary = result.summary()
        self.assertIsNone(summary["loss"]["mean"])
        self.assertIsNone(summary["loss"]["last"])
        self.assertIsNone(summary["accuracy"])
        self.assertLessEqual({"loss.mean", "loss.last", "accuracy"}, set(summary["withheld"]))
        for name in summary["withheld"]:
            value = summary
            for key in name.split("."):
                self.assertIn(key, value, f"{name} is withheld, so it is null rather than missing")
                value = value[key]
            self.assertIsNone(value, name)
        self.assertTrue(summary["privacy"]["private"])
        self.assertEqual(summary["privacy"]["shared_metrics"], [])
        self.assertIn("No metric computed from private records was shared", summary["privacy"]["statement"])
        progress = [line for line in result.err.splitlines() if line.startswith("round ")]
        self.assertTrue(progress)
        for line in progress:
            self.assertNotIn("loss", line)
            self.assertNotIn("accuracy", line)
            self.assertIn("consensus", line)
            self.assertIn("eps", line)

    def test_the_owners_figures_are_found_nowhere_else(self):
        result = self.run_private()
        losses = set()
        for path in self.private("metrics.csv"):
            rows = [line.split(",") for line in path.read_text().splitlines() if line[:1].isdigit()]
            self.assertGreater(len(rows), 10)
            losses |= {row[3] for row in rows[2:] if int(row[0]) > 1}  # the first loss, ln 2, is that of the public start
        self.assertGreater(len(losses), 20)
        places = {**self.outside(), "stdout": result.out.encode(), "stderr": result.err.encode()}
        for loss in losses:
            for spelled in (loss.encode(), f"{float(loss):.10g}".encode(), struct.pack("<d", float(loss))):
                for name, content in places.items():
                    self.assertNotIn(spelled, content, f"a private loss in {name}")

    @needs_h5py
    def test_the_run_file_holds_no_loss(self):
        self.run_private()
        for name in ("run.h5", "clients/0.h5", "clients/1.h5"):
            with h5py.File(self.folder / "run" / name) as file:
                names = []
                file.visit(names.append)
                self.assertIn("final_model", names)
                self.assertFalse([name for name in names if "loss" in name or "accuracy" in name])

    @needs_h5py
    def test_shared_metrics_are_shown_and_declared(self):
        result = self.run_private("--metrics", "shared")
        summary = result.summary()
        self.assertGreater(summary["loss"]["mean"], 0)
        self.assertGreater(summary["accuracy"], 0.3)
        self.assertEqual(summary["withheld"], [])
        self.assertRegex(result.err, r"(?m)^round .*loss ")
        named = summary["privacy"]["shared_metrics"]
        for text in ("sums over the run of each client's progressive losses", "from report to report", "single clients"):
            self.assertEqual(sum(text in each for each in named), 1, named)
        for each in named:
            self.assertIn(each, summary["privacy"]["statement"])
        self.assertIn("Shared without noise", summary["privacy"]["statement"])
        self.assertIn("loss", self.record("run"))

    def test_a_public_test_set_shows_an_accuracy(self):
        self.write("test.csv", "\n".join(csv_rows(100, seed=9)) + "\n")
        summary = self.run_private("--test", "test.csv").summary()
        self.assertIsNone(summary["loss"]["mean"])
        self.assertGreater(summary["accuracy"], 0.3)
        self.assertEqual(summary["accuracy"], summary["metrics"]["test_accuracy"])
        self.assertNotIn("accuracy", summary["withheld"])

    def test_the_table_says_what_is_withheld(self):
        result = self.good(1, ["--source", "data.csv", *LAPLACE, "--output", "run", "--progress", "off"])
        self.assertRegex(result.out, r"(?m)^  loss +withheld")
        self.assertRegex(result.out, r"(?m)^  accuracy +withheld")


class Keys(PrivacyCase):
    def test_seeded_noise_is_reproducible_and_called_not_private(self):
        first = self.run_private("--noise-key", "seed").summary()
        again = self.run_private("--noise-key", "seed", output="again").summary()
        other = self.run_private("--noise-key", "seed", "--seed", "2", output="other").summary()
        self.assertEqual(bits(first["models"]), bits(again["models"]))
        self.assertNotEqual(bits(first["models"]), bits(other["models"]))
        self.assertFalse(first["privacy"]["private"])
        self.assertIn("NOT private", first["privacy"]["statement"])
        self.assertIsNotNone(first["loss"]["mean"])

    def test_secret_noise_is_not(self):
        first = self.run_private().summary()
        again = self.run_private(output="again").summary()
        self.assertNotEqual(bits(first["models"]), bits(again["models"]))
        self.assertNotIn("NOT private", first["privacy"]["statement"])

    def test_no_mechanism_is_called_not_private(self):
        words = ["--source", "data.csv", "--mechanism", "none", "--clients", "4", "--json", "--output", "run"]
        summary = self.good(1, words).summary()
        self.assertIn("NOT private", summary["privacy"]["statement"])
        self.assertIsNone(summary["privacy"]["epsilon"])  # unbounded
        self.assertFalse(summary["privacy"]["private"])


if __name__ == "__main__":
    unittest.main()
