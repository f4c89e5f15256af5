"""Runs that are interrupted again and again, and go on with another number of ranks each time, end with the same bits.

    python3 test_other_ranks.py --kills N [--seed S]     prints a table; exit code 1 if anything differs
"""

import argparse
import hashlib
import random
import sys

from harness import *

# Small runs with everything that has state. All keys are of the seed, so that two runs are the same.
ALL = ["--metrics", "shared", "--progress", "off"]
CASES = {
    "omd": ["omd", "--source", "synthetic:drift:informative=1", "--topology", "one-peer.topo", "--clients", "8", "--mechanism",
            "gaussian", "--epsilon", "1", "--delta", "1e-5", "--dropout", "0.2", "--link-loss", "0.1", "--link-loss-model",
            "unacknowledged", "--average", "all", "--record-every", "3", "--noise-correlation", "blt:2"],
    "omd, constraints": ["omd", "--source", "records.csv", "--clients", "6", "--epochs", "9", "--mechanism", "laplace", "--epsilon",
                         "2", "--constraint", "data:column=0,max=0.1+energy:cost=1,budget=0.7", "--regret", "static"],
    "omd, files": ["omd", "--source", "site-{client}.csv", "--clients", "5", "--epochs", "9", "--mechanism", "laplace",
                   "--epsilon", "2", "--budget", "1000"],
    "fedavg": ["fedavg", "--source", "synthetic:logistic:p=3", "--loss", "logistic", "--clients", "5", "--mechanism",
               "gaussian", "--epsilon", "2", "--delta", "1e-5", "--local-steps", "3", "--client-weights", "equal", "--average", "all",
               "--noise-correlation", "blt:2"],
    "renewable": ["renewable", "--source", "records.csv", "--loss", "dwd:1", "--l2", "0.1", "--clients", "3", "--batch", "2",
                  "--epochs", "9", "--mechanism", "none"],
    "renewable, local": ["renewable", "--source", "records.csv", "--variant", "private", "--clients", "5", "--batch", "2", "--epochs",
                         "9", "--mechanism", "gaussian", "--mu", "0.5", "--noise-correlation", "blt:2"],
    "renewable, central": ["renewable", "--source", "synthetic:two-gaussians:p=3", "--variant", "private", "--trust", "central",
                           "--clients", "3", "--batch", "2", "--mechanism", "gaussian", "--mu", "0.5", "--noise-correlation", "blt:2"],
    "infer": ["infer", "--source", "synthetic:linear:p=3,n=2000", "--loss", "huber:1.345", "--clients", "4", "--mechanism",
              "gaussian", "--mu", "1", "--intervals", "random-scaling,batch-means:4", "--rounds", "125"],
    "infer, graph": ["infer", "--source", "synthetic:logistic:p=3,n=2000", "--loss", "logistic", "--topology", "ring.topo",
                     "--clients", "4", "--mechanism", "gaussian", "--mu", "1", "--rounds", "125"],
}
ROUNDS = 48
KILLED = (137, -9)  # exit codes of mpirun and of a program after SIGKILL
# Facts of the ranks and hosts that a run was on, and of time.
OF_LAYOUT = {"summary": ("time", "command_line", "notes", "output", "ranks", "performance"),
             "traffic": ("rank_messages", "rank_bytes", "evaluation_bytes")}


class Trial(TestCase):
    def runTest(self):
        """None of its own."""

    def prepare(self):
        self.write("one-peer.topo", "generate one-peer-exponential clients=8\n")
        self.write("ring.topo", "generate directed-ring clients=4\n")
        self.write("records.csv", "\n".join(csv_rows(400)) + "\n")
        for client in range(5):
            self.write(f"site-{client}.csv", "\n".join(csv_rows(60 + client, seed=client + 1)) + "\n")

    def play(self, words, ranks, fault=None):
        """Starts as many ranks, of which one ends by itself after that many checkpoints."""
        with interrupted(fault):
            return self._start([(ranks, words, [])], None).finish()

    def results(self, output):
        """All results, without what says on which ranks they came about."""
        run = self.folder / output
        summary = json.loads((run / "summary.json").read_text())
        run_id = (summary["privacy"] or {}).pop("run_id", "no id")
        for name in OF_LAYOUT["summary"]:
            summary.pop(name, None)
        for name in OF_LAYOUT["traffic"]:
            summary["traffic"].pop(name)
        ((summary["privacy"] or {}).get("ledger") or {}).pop("heads", None)
        found = {"summary.json": json.dumps(bits(summary), sort_keys=True).replace(run_id, "")}
        for name in ("history.csv", "convergence.csv", "regret.csv"):
            if (run / name).exists():
                found[name] = (run / name).read_text()
        for name in ("metrics.csv", "violation.csv"):
            rows = [line for path in (run / "private").glob(f"*/{name}") for line in path.read_text().splitlines()]
            found[name] = sorted(row for row in rows if not row.startswith(("#", "round")))
        found["ledgers"] = sorted(self.losses_in([*(run / "private").glob("*/ledger"), *self.folder.glob("ledger-?")]).items())
        if h5py:
            with h5py.File(run / "run.h5") as file:
                file.visititems(lambda name, item: found.update({name: repr(item[()].tolist())})
                                if isinstance(item, h5py.Dataset) else None)
        return found

    def clear(self, output):
        """Removes a run and the owners' ledgers."""
        shutil.rmtree(self.folder / output, ignore_errors=True)
        for path in self.folder.glob("ledger-*"):
            path.unlink()

    @staticmethod
    def first_words(words, output):
        keys = [] if "--noise-key" in words or "none" in words else ["--noise-key", "seed"]
        rounds = [] if "--rounds" in words else ["--rounds", str(ROUNDS)]
        return [*words, *keys, *ALL, *rounds, "--checkpoint-every", "4", "--output", output]

    def whole(self, words):
        self.clear("whole")
        self.succeeded(self.play(self.first_words(words, "whole"), 1))
        return self.results("whole")

    def interrupted(self, words, starts):
        """Plays a run by these (ranks, fault), and what is left then by another number of ranks than the last."""
        self.clear("run")
        words_now = self.first_words(words, "run")
        self.interruptions = 0
        for ranks, fault in starts:
            result = self.play(words_now, ranks, fault)
            if result.code == 0:
                break
            self.assertIn(result.code, KILLED, result)
            self.interruptions += 1
            if (self.folder / "run/run-id").exists():
                words_now = [words[0], "--resume", "run"]
            else:
                shutil.rmtree(self.folder / "run", ignore_errors=True)
        if result.code != 0:
            result = self.play(words_now, starts[-1][0] % 3 + 1)
        self.assertEqual(result.code, 0, result)
        return self.results("run")

    def compare(self, whole, run):
        self.assertEqual(whole.keys(), run.keys())
        self.assertEqual([name for name in whole if whole[name] != run[name]], [])


class OtherRanks(Trial):
    def go_on(self, name, starts):
        self.prepare()
        words = CASES[name]
        whole = self.whole(words)
        self.compare(whole, self.interrupted(words, starts))

    def test_clients_go_where_ranks_are(self):
        self.go_on("omd", [(3, "checkpoint:2"), (1, "checkpoint:3"), (4, "checkpoint:2"), (2, None)])

    def test_noise_of_clients_and_of_rank_0_goes_on_where_they_are(self):
        for name in ("renewable, local", "renewable, central"):
            self.go_on(name, [(2, "checkpoint:2"), (1, "checkpoint:3"), (3, None)])

    def test_an_aggregators_path_goes_on_where_rank_0_is(self):
        self.go_on("infer", [(2, "checkpoint:3"), (1, "checkpoint:2"), (3, None)])

    def test_a_crash_amid_the_move_loses_nothing(self):
        self.go_on("omd, files", [(2, "checkpoint:2"), *((1, f"rename:{k}") for k in (0, 1, 2, 3)), (3, "rename:5"), (1, None)])

    def test_secret_keys_go_along(self):
        self.prepare()
        words = ["omd", "--source", "records.csv", "--clients", "3", "--mechanism", "laplace", "--epsilon", "2", *ALL, "--rounds", "40",
                 "--checkpoint-every", "4", "--output", "run"]
        self.play(words, 2, "checkpoint:3")
        shutil.copytree(self.folder / "run", self.folder / "whole")
        self.assertEqual(self.play(["omd", "--resume", "whole"], 2).code, 0)
        self.play(["omd", "--resume", "run"], 1, "checkpoint:1")
        self.assertEqual(sorted(path.name for path in (self.folder / "run/private/0.1").glob("key-*")), ["key-0", "key-1", "key-2"])
        self.assertEqual(self.play(["omd", "--resume", "run"], 3).code, 0)
        self.compare(self.results("whole"), self.results("run"))

    @slow
    def test_ledgers_of_owners_stay_where_they_are(self):
        self.prepare()
        for client in range(3):
            self.write_key(f"key-{client}", hashlib.sha256(f"client {client}".encode()).hexdigest())
        words = ["omd", "--source", "site-{client}.csv", "--clients", "3", "--mechanism", "laplace", "--epsilon", "2", *ALL, "--rounds",
                 "40", "--checkpoint-every", "4", "--noise-key", "key-{client}", "--ledger", "ledger-{client}", "--output", "run"]
        self.play(words, 2, "checkpoint:3")
        shutil.copytree(self.folder / "run", self.folder / "whole")
        ledgers = {path: path.read_bytes() for path in self.folder.glob("ledger-*")}
        self.assertEqual(self.play(["omd", "--resume", "whole"], 2).code, 0)
        whole = self.results("whole")
        for path, content in ledgers.items():
            path.write_bytes(content)
        self.play(["omd", "--resume", "run"], 1, "checkpoint:1")
        self.assertEqual(self.play(["omd", "--resume", "run"], 3).code, 0)
        self.compare(whole, self.results("run"))

    @slow
    def test_every_command_with_clients(self):
        for name in CASES:
            with self.subTest(name):
                self.go_on(name, [(2, "checkpoint:3"), (1, "checkpoint:2"), (3, None)])

    @slow
    def test_parties_stay_where_they_are(self):
        self.play(["vertical", "--clients", "3", "--source", "synthetic:spectrum:train=10,test=5,samples=8", "--mechanism", "none",
                   "--rounds", "40", "--checkpoint-every", "4", "--output", "run"], 2, "checkpoint:2")
        result = self.run_alone(["vertical", "--resume", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("the run had 2 ranks, and these are 1: ranks are parties", result.err)

    def test_what_is_missing_or_damaged_is_said(self):
        self.prepare()
        self.play(self.first_words(CASES["omd"], "run"), 2, "checkpoint:3")
        kept = self.folder / "kept"
        (self.folder / "run").rename(kept)
        newest = max((kept / "private/1").glob("checkpoint-*"), key=lambda path: int(path.name[11:]))

        def refused(code, text):
            before = tree(self.folder / "run/private")
            result = self.run_alone(["omd", "--resume", "run"])
            self.assertEqual(result.code, code, result)
            self.assertIn(text, result.err)
            after = tree(self.folder / "run/private")
            self.assertEqual(before, {name: what for name, what in after.items() if "0.1" not in name})
            shutil.rmtree(self.folder / "run")
            shutil.copytree(kept, self.folder / "run")

        shutil.copytree(kept, self.folder / "run")
        shutil.rmtree(self.folder / "run/private/1")
        result = self.run_alone(["omd", "--resume", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("private/1' is gone", result.err)
        shutil.rmtree(self.folder / "run")
        shutil.copytree(kept, self.folder / "run")
        for path in (self.folder / "run/private/1").glob("checkpoint-*"):
            path.write_bytes(path.read_bytes()[:-1])
        refused(3, "no checkpoint is whole on all ranks")
        ledger = self.folder / "run/private/1/ledger"
        ledger.write_bytes(ledger.read_bytes().replace(b'"first":0', b'"first":1', 1))
        refused(3, "private/1/ledger', line 3")
        # A checkpoint of another rank's clients stands twice: under its own number and under this one.
        shutil.copy(max((kept / "private/0").glob("checkpoint-*"), key=lambda path: int(path.name[11:])),
                    self.folder / "run/private/1" / newest.name)
        result = self.succeeded(self.run_alone(["omd", "--resume", "run"]))
        self.assertIn("it was moved here", result.err)
        (self.folder / "run/run-id").write_text("\n".join((kept / "run-id").read_text().splitlines()[:2]) + "\n")
        result = self.run_alone(["omd", "--resume", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("an earlier version wrote it", result.err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, required=True, help="in all, shared evenly by the cases")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    each = -(-options.kills // len(CASES))
    print("| case | interruptions | runs | different |\n| --- | ---: | ---: | ---: |")
    bad = False
    for name, words in CASES.items():
        randomness = random.Random(f"{options.seed} {name}")
        trial = Trial()
        trial.setUp()
        trial.prepare()
        whole = trial.whole(words)
        interruptions = runs = different = 0
        while interruptions < each:
            # Each rank ends by itself, so that nothing depends on time: after a checkpoint, or in the midst of writing.
            starts = [(randomness.randint(1, 3), f"{randomness.choice(['checkpoint', 'rename', 'renamed', 'record'])}:"
                                                 f"{randomness.randrange(12)}") for _ in range(8)]
            run = trial.interrupted(words, starts)
            runs += 1
            interruptions += trial.interruptions
            different += sum(whole[key] != run.get(key) for key in whole)
        print(f"| {name} | {interruptions} | {runs} | {different} |", flush=True)
        bad = bad or different > 0
        trial.doCleanups()
    return 1 if bad else 0


if __name__ == "__main__":
    if "--kills" in sys.argv:
        sys.exit(main())
    unittest.main()
