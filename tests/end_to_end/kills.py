"""Runs that are killed at random moments, resumed, killed again, and must end as if nothing had happened.

    python3 kills.py [--kills N] [--seed S] [CASE ...]     prints a table; exit code 1 if anything differs

A case is a command with its options. It is run once without a kill; then again and again, each process killed after a
random time: one rank by SIGKILL (mpirun then ends the others), all ranks at once, or a rank by itself between writing a
checkpoint (or a ledger's head) and giving it its name, right after, when others have not yet written theirs, or in the
midst of a record or of the results. Whatever the killed process left is resumed, until the run has come to its end.
Results must be the same to the bit, ledgers valid, and nothing charged that an uninterrupted run does not charge. Where
keys are drawn, no two runs are the same: what the first kill left is copied, and the copy resumed without a kill.
"""

import argparse
import dataclasses
import hashlib
import random
import sys

from harness import *

NOISY = ["--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed", "--metrics", "shared"]
OWNED = ["--mechanism", "laplace", "--epsilon", "2", "--noise-key", "key-{client}", "--ledger", "ledger-{client}"]
# Files that grow.
PACE = ["--checkpoint-every", "100", "--record-every", "25", "--progress", "off"]
SLOW = ["--source", "synthetic:logistic:p=60", "--loss", "logistic", "--batch", "32"]

CASES = {
    "omd": (3, ["omd", "--clients", "6", *SLOW, *NOISY, *PACE, "--rounds", "3000"]),
    "omd, changing graph": (2, ["omd", "--topology", "one-peer.topo", "--clients", "8", *SLOW, *NOISY, *PACE,
                                "--dropout", "0.2", "--link-loss", "0.05", "--link-loss-model", "unacknowledged",
                                "--average", "tail", "--rounds", "2000"]),
    "omd, constraints": (2, ["omd", "--clients", "4", "--source", "records.csv", "--epochs", "40", *NOISY, *PACE,
                             "--constraint", "data:column=0,max=0.1+energy:cost=1,budget=0.7", "--regret", "static",
                             "--rounds", "4000"]),
    "fedavg": (3, ["fedavg", "--clients", "4", *SLOW, *NOISY, *PACE, "--local-steps", "3", "--client-weights", "equal", "--average", "all",
                   "--rounds", "1500"]),
    "renewable": (2, ["renewable", "--clients", "3", "--source", "records.csv", "--loss", "dwd:1", "--l2", "0.1",
                      "--batch", "2", "--epochs", "60", *PACE, "--mechanism", "none", "--rounds", "4000"]),
    "renewable, private": (2, ["renewable", "--variant", "private", "--trust", "masked", "--clients", "3", "--source",
                               "records.csv", "--loss", "logistic", "--l2", "0.1", "--batch", "2", "--epochs", "60",
                               "--mechanism", "gaussian", "--mu", "1", "--noise-key", "seed", "--metrics", "shared",
                               *PACE, "--rounds", "4000"]),
    "infer": (2, ["infer", "--clients", "3", "--source", "synthetic:linear:p=3,n=20000", "--loss", "huber:1.345", *NOISY[4:],
                  "--mechanism", "gaussian", "--mu", "1", "--intervals", "random-scaling,batch-means:8", *PACE,
                  "--rounds", "4000"]),
    "infer over a graph": (2, ["infer", "--topology", "ring.topo", "--clients", "4", "--source", "synthetic:logistic:p=3,n=10000",
                               "--loss", "logistic", *NOISY[4:], "--mechanism", "gaussian", "--mu", "1", *PACE,
                               "--rounds", "5000"]),
    "vertical": (3, ["vertical", "--clients", "3", "--source", "synthetic:spectrum:train=10,test=5,samples=8",
                     "--feature-net", "d-7-3", "--head", "d-4-d", "--quantiser", "scalar:4", "--optimizer", "adam",
                     "--mechanism", "none", "--checkpoint-every", "50", "--progress", "off", "--rounds", "1500"]),
    "omd, no noise": (2, ["omd", "--clients", "3", *SLOW, "--mechanism", "none", *PACE, "--rounds", "3000"]),
    "omd, owners' ledgers": (2, ["omd", "--clients", "4", *SLOW, *OWNED, *PACE, "--rounds", "3000"]),
    "omd, budget": (2, ["omd", "--clients", "4", *SLOW, *OWNED, *PACE, "--budget", "100000", "--rounds", "3000"]),
    "omd, secret keys": (3, ["omd", "--clients", "3", *SLOW, "--mechanism", "laplace", "--epsilon", "2", *PACE,
                             "--rounds", "3000"]),
    "omd, by the clock": (3, ["omd", "--clients", "5", *SLOW, *NOISY, *PACE[2:], "--checkpoint-every", "0.1s",
                              "--rounds", "3000"]),
    "omd, idle ranks": (4, ["omd", "--clients", "2", *SLOW, *NOISY, *PACE, "--rounds", "3000"]),
    "omd, prices fall": (2, ["omd", "--clients", "4", *SLOW, "--mechanism", "laplace", "--epsilon",
                             "schedule:from=2,to=0.5", "--noise-key", "seed", "--metrics", "shared", *PACE, "--rounds",
                             "3000"]),
}
# Where a rank can end by itself, and how often it may have come there before.
FAULTS = {"rename": 40, "renamed": 40, "checkpoint": 20, "before write .h5": 60, "before rename .csv": 3, "before rename .svg": 6,
          "after rename /summary.json": 2, "after rename /model.h5": 1}
OF_RESULTS = list(FAULTS)[4:]
# A fault is one rank's.
FAULT_SCRIPT = NOTE_SCRIPT.replace("exec", '[ "$OMPI_COMM_WORLD_RANK" = "$FAULT_RANK" ] || unset LD_PRELOAD\nexec')
# What says how long something took, or where and how it was started.
UNLIKE = ("time", "command_line", "notes", "output")


@dataclasses.dataclass
class Tally:
    runs: int = 0
    kills: int = 0
    resumed: int = 0
    from_start: int = 0
    not_begun: int = 0
    differences: list = dataclasses.field(default_factory=list)


class Trial(TestCase):
    """One case, killed so many times."""

    def runTest(self):
        """None of its own."""

    def prepare(self):
        self.write("ring.topo", "generate directed-ring clients=4\n")
        self.write("one-peer.topo", "generate one-peer-exponential clients=8\n")
        for client in range(4):
            self.write_key(f"key-{client}", hashlib.sha256(f"client {client}".encode()).hexdigest())
        self.write("records.csv", "\n".join(csv_rows(400)) + "\n")

    def results(self, output):
        """All that must not differ, by name."""
        run = self.folder / output
        found = {"history.csv": (run / "history.csv").read_text()}
        found["config.ini"] = "".join(sorted(line for line in (run / "config.ini").read_text().splitlines(True)
                                             if not line.startswith("output =")))
        summary = json.loads((run / "summary.json").read_text())
        for name in UNLIKE:
            summary.pop(name, None)
        # Ranks agree on more before a run that goes on; ids are drawn, and mask keys by each process; a ledger's hashes have the
        # time in them.
        summary["traffic"].pop("evaluation_bytes")
        privacy = summary["privacy"] or {}
        run_id = privacy.pop("run_id", "no id")
        privacy.pop("mask_keys", None)
        (privacy.get("ledger") or {}).pop("heads", None)
        found["summary.json"] = json.dumps(bits(summary), sort_keys=True).replace(run_id, "")
        for name in ("convergence.csv", "regret.csv", "violation.csv"):
            if (run / name).exists():
                found[name] = (run / name).read_text()
        for path in sorted((run / "private").glob("*/*.csv")):
            found[str(path.relative_to(run))] = path.read_text()
        for path in sorted((run / "private").glob("*/ledger")):
            found[str(path.relative_to(run))] = self.charges(path)
        for path in sorted(self.folder.glob("ledger-?")):
            found[path.name] = self.charges(path)
        if h5py:
            for path in sorted((run / "clients").glob("*.h5")):
                with h5py.File(path) as file:
                    for name in file:
                        found[f"{path.name}/{name}"] = file[name][()].tobytes()
        return found

    def charges(self, ledger):
        """What a ledger says was spent, after it was verified."""
        done = self.run_alone(["privacy", "ledger", ledger, "--json"])
        if done.code != 0:
            return f"not valid: {done.err}"
        return json.dumps(json.loads(done.out)["losses"], sort_keys=True)

    def killed(self, ranks, words, randomness, seconds, tally):
        """Starts the program and kills it; returns its result if it came to its end before."""
        fault = randomness.choice(list(FAULTS)) if randomness.random() < 0.35 else None
        os.environ["FAULT_RANK"] = "0" if fault in OF_RESULTS else str(randomness.randrange(ranks))
        with interrupted(fault and f"{fault}:{randomness.randrange(FAULTS[fault])}"):
            job = self._start([(ranks, words, [])], FAULT_SCRIPT)
        pids = job.pids(ranks)
        end = time.monotonic() + (PATIENCE if fault in OF_RESULTS else randomness.uniform(0, seconds))
        while time.monotonic() < end and job.process.poll() is None:
            time.sleep(0.002)
        if job.process.poll() is None:
            victims = pids if randomness.random() < 0.3 else [randomness.choice(pids)]
            for pid in victims:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if self.ended(job, pids):
            result = job.finish()
            if result.code == 0:
                return result
        tally.kills += 1
        return None

    @staticmethod
    def ended(job, pids):
        """Whether mpirun has come to its end. It may wait for ever for a rank that was killed while they met; then it is
        ended, but no rank may be left."""
        try:
            job.process.wait(30)
            return True
        except subprocess.TimeoutExpired:
            left = [pid for pid in pids if os.path.exists(f"/proc/{pid}") and
                    open(f"/proc/{pid}/stat", encoding="ascii").read().rpartition(")")[2].split()[0] != "Z"]
            job.end()
            if left:
                raise AssertionError(f"ranks {left} did not end\n{job.finish()}") from None
            return False

    def play(self, ranks, words, randomness, seconds, tally, most_kills):
        """One run to its end, killed on its way."""
        for path in [self.folder / "run", *self.folder.glob("ledger-*")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        begun = False
        while True:
            words_now = [words[0], "--resume", "run"] if begun else [*words, "--output", "run"]
            if tally.kills < most_kills:
                result = self.killed(ranks, words_now, randomness, seconds, tally)
            else:
                result = self.to_its_end(ranks, words_now)
            if result is not None:
                break
            run = self.folder / "run"
            begun = (run / "config.ini").exists()
            if not (run / "run-id").exists():
                tally.not_begun += 1
                if not begun:
                    shutil.rmtree(run, ignore_errors=True)
                continue
            some = list((run / "private").glob("*/checkpoint-*"))
            tally.resumed += 1 if some else 0
            tally.from_start += 0 if some else 1
            if self.draws_keys(words) and not self.twin:
                self.twin = self.without_another_kill(ranks, words[0])
        tally.runs += 1

    def without_another_kill(self, ranks, command):
        """Results of a copy of the run, which is resumed to its end. Owners' ledgers are as they were afterwards."""
        ledgers = {path: path.read_bytes() for path in self.folder.glob("ledger-*")}
        shutil.copytree(self.folder / "run", self.folder / "whole")
        self.to_its_end(ranks, [command, "--resume", "whole"])
        results = self.results("whole")
        shutil.rmtree(self.folder / "whole")
        for path, content in ledgers.items():
            path.write_bytes(content)
        return results

    def to_its_end(self, ranks, words):
        result = self._start([(ranks, words, [])], None).finish()
        if result.code != 0:
            raise AssertionError(f"not resumed: {result}")
        return result

    @staticmethod
    def draws_keys(words):
        """Whether the noise of a run is no other run's: the key or the run's id is drawn."""
        return "seed" not in words and "none" not in words

    def case(self, name, kills, seed):
        """Kills the case so many times; returns what came of it."""
        self.setUp()
        try:
            self.prepare()
            ranks, words = CASES[name]
            began = time.monotonic()
            first = self._start([(ranks, [*words, "--output", "whole"], [])], None).finish()
            seconds = time.monotonic() - began
            if first.code != 0:
                raise AssertionError(f"{name}: {first}")
            whole = self.results("whole")
            tally = Tally()
            randomness = random.Random(f"{seed} {name}")
            if self.draws_keys(words):
                shutil.rmtree(self.folder / "whole")
            while tally.kills < kills:
                self.twin = None
                self.play(ranks, words, randomness, seconds, tally, kills)
                if self.draws_keys(words):
                    whole = self.twin  # none if the run came to its end without a kill
                    if not whole:
                        continue
                run = self.results("run")
                for key in sorted(whole.keys() | run.keys()):
                    if whole.get(key) != run.get(key):
                        tally.differences.append(key)
                if tally.differences:
                    self.show(whole, run, tally.differences[0])
                    break
            return tally
        finally:
            self.doCleanups()

    @staticmethod
    def show(whole, run, key):
        """The first place where two results differ."""
        a, b = whole.get(key), run.get(key)
        if not isinstance(a, str) or not isinstance(b, str):
            print(f"{key}: {type(a)} {len(a or '')}, {type(b)} {len(b or '')}", file=sys.stderr)
            return
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        print(f"{key} at {at}:\n whole   …{a[max(0, at - 150):at + 150]}\n resumed …{b[max(0, at - 150):at + 150]}",
              file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=500, help="in all, shared evenly by the cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    each = -(-options.kills // len(options.cases))
    print(f"| {'case':28} | kills | before the run began | resumed from the start | from a checkpoint | runs to the end | different |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    bad = False
    for name in options.cases:
        tally = Trial().case(name, each, options.seed)
        print(f"| {name:28} | {tally.kills} | {tally.not_begun} | {tally.from_start} | {tally.resumed} | {tally.runs} | "
              f"{len(tally.differences)} |", flush=True)
        bad = bad or bool(tally.differences)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
