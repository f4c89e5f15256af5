"""Personal models (--personal): files of their owners alone, the same for any ranks, that predict and score as any model does."""

import csv
import gzip
import math
import random
import stat
import subprocess
import sys
import threading
import unittest

from harness import *

USAGE = 2
CLIENTS = 4


class Personal(TestCase):
    """Clients 0 to 2 have labels by the first feature, client 3 by its opposite."""

    def setUp(self):
        super().setUp()
        for client in range(CLIENTS):
            self.write(f"site-{client}.csv", self.table(client, 120 if client else 20))
            self.write(f"held-out-{client}.csv", self.table(client + 100, 400))

    def table(self, seed, count):
        draw = random.Random(seed)
        sign = -1 if seed % 100 == 3 else 1
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(count)]
        return "a,b,y\n" + "".join(f"{a:.4f},{b:.4f},{int(sign * a + draw.gauss(0, 0.5) > 0)}\n" for a, b in rows)

    def play(self, command, *words, ranks=1, output=None):
        output = output or f"{command}-{ranks}"
        self.succeeded(self.run_command(ranks, [command, "--source", "site-{client}.csv", "--clients", CLIENTS, "--personal", "--mechanism",
                                                "gaussian", "--mu", 4, "--noise-key", "seed", "--progress", "off", "--output", output, *words]))
        return self.folder / output

    def tables(self, run):
        rows = [row for table in sorted(run.glob("private/*/personal.csv")) for row in csv.DictReader(table.open())]
        return {int(row["client"]): row for row in rows}

    def model(self, run, client):
        return next(run.glob(f"private/*/personal/{client}.h5"))

    def test_each_client_has_the_model_that_is_best_for_it(self):
        for command, words in (("omd", []), ("fedavg", []), ("renewable", ["--variant", "private", "--loss", "logistic"]),
                               ("omd", ["--model", "mlp:2-4-1", "--batch", 8, "--epochs", 4])):
            with self.subTest(command, words=words):
                run = self.play(command, *words, output=f"{command}-{len(words)}")
                rows = self.tables(run)
                self.assertEqual(sorted(rows), list(range(CLIENTS)))
                self.assertEqual([int(rows[u]["records"]) for u in rows], [20, 120, 120, 120])
                odd = rows[3]
                self.assertGreater(float(odd["personal_accuracy"]), float(odd["joint_accuracy"]) + 0.3, odd)
                for client in range(CLIENTS):
                    self.assertEqual(stat.S_IMODE(self.model(run, client).stat().st_mode), 0o600)
                words = ["score", self.model(run, 3), "--source", "held-out-3.csv", "--json"]
                own = json.loads(self.succeeded(self.run_alone(words, cwd=self.folder)).out)
                joint = json.loads(self.succeeded(self.run_alone(["score", run / "model.h5", *words[2:]], cwd=self.folder)).out)
                self.assertGreater(own["metrics"]["accuracy"], max(joint["metrics"]["accuracy"] + 0.3, 0.75))

    def test_the_same_on_any_ranks(self):
        runs = [self.play("omd", ranks=ranks) for ranks in (1, 3)]
        self.assertEqual(*(self.tables(run) for run in runs))
        for client in range(CLIENTS):
            one, other = (self.parameters(self.model(run, client)) for run in runs)
            self.assertEqual(one, other)
            self.assertTrue(all(math.isfinite(number) for number in one))

    def parameters(self, model):
        words = ["predict", model, "--source", "held-out-1.csv", "--output", "-"]
        return [float(cell) for line in self.succeeded(self.run_alone(words, cwd=self.folder)).out.split("\n")[1:] if line
                for cell in line.split(",")]

    def test_statement_and_file_say_what_they_are(self):
        run = self.play("omd")
        self.assertIn("Personal models are fitted to a client's records without noise", (run / "privacy.txt").read_text())
        self.assertIn("Never publish it", self.model(run, 0).read_bytes().decode("latin-1"))

    def test_who_cannot_have_one(self):
        usual = ["omd", "--source", "site-{client}.csv", "--clients", CLIENTS, "--mechanism", "none", "--personal", "--output", "run"]
        for words, says in ((["--domain", "ball:1"], "--personal"), (["--loss", "none", "--start", "s.csv", "--rounds", 3], "--personal")):
            result = self.run_alone([*usual, *words], cwd=self.folder)
            self.assertEqual(result.code, USAGE, result.err)
            self.assertIn(says, result.err)
        os.mkfifo(self.folder / "feed")
        threading.Thread(target=lambda: (self.folder / "feed").write_text("a,b,y\n" + "1,2,1\n" * 20), daemon=True).start()
        piped = self.run_alone(["omd", "--source", "feed", "--mechanism", "none", "--personal", "--rounds", 3, "--output", "piped"], cwd=self.folder)
        self.assertEqual(piped.code, USAGE, piped.err)
        self.assertIn("its records come once", piped.err)
        self.assertFalse((self.folder / "piped").exists())


class Joining(TestCase):
    def test_the_job_compares_alone_joint_and_personal(self):
        draw = random.Random(1)
        (self.folder / "a9a").mkdir()
        with gzip.open(self.folder / "a9a" / "a9a.gz", "wt") as file:
            for _ in range(240):
                on = sorted(draw.sample(range(1, 124), 8))
                file.write(f"{1 if min(on) < 12 else -1} " + " ".join(f"{k}:1" for k in on) + "\n")
        words = [SOURCE / "jobs" / "joining.py", "--starling", STARLING, "--data", self.folder, "--clients", 4, "--epsilons", "1,3", "--runs", 1, "--output",
                 self.folder / "out"]
        done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader((self.folder / "out" / "figures.csv").open()))
        self.assertEqual([(row["clients"], row["trust"], row["epsilon"]) for row in rows],
                         [("4", trust, epsilon) for trust in ("local", "pairs") for epsilon in ("1.0", "3.0")])
        for row in rows:
            self.assertTrue(all(30 <= float(row[figure]) <= 100 for figure in ("alone", "joint", "personal")), row)
        self.assertEqual((self.folder / "out" / "joining.md").read_text().count("\n"), 4)


if __name__ == "__main__":
    unittest.main()
