"""Runs whose clients change: some are lost, others join. Least squares on few records, whose optimum is known."""

from harness import *

CLIENTS = 5
FEATURES = 3
RECORDS = 8
# On two ranks clients 0 to 2 and 3 to 4 are together, on three 0 to 1, 2 to 3, and 4.
TRIANGLES = "clients 5\nweights sender\n" + "".join(
    f"edge {u} {v}\n" for u, v in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)])
NOISELESS = ["omd", "--source", "site-{client}.csv", "--clients", str(CLIENTS), "--loss", "squared", "--batch",
             str(RECORDS), "--epochs", "8000", "--mechanism", "none", "--metrics", "shared", "--step", "3", "--step-power", "0.7",
             "--checkpoint-every", "200", "--progress", "off", "--output", "run"]
PRIVATE = ["omd", "--source", "site-{client}.csv", "--clients", str(CLIENTS), "--loss", "squared", "--batch", "2",
           "--epochs", "20", "--mechanism", "laplace", "--epsilon", "1", "--noise-key", "seed", "--ledger-block", "3", "--metrics",
           "shared", "--checkpoint-every", "4", "--progress", "off", "--output", "run"]
# Passes of four rounds, over which noise is correlated.
CORRELATED = [*PRIVATE[:PRIVATE.index("--mechanism")], "--mechanism", "gaussian", "--mu", "1", "--noise-correlation", "blt:2",
              *PRIVATE[PRIVATE.index("--noise-key"):]]
# The same with noise between pairs of clients.
SHARED = [*CORRELATED, "--trust", "pairs"]


def records(client):
    """Rows x1, x2, x3, y that no line fits, other ones for each client."""
    state = 7 * client + 3
    rows = []
    for _ in range(RECORDS):
        numbers = []
        for _ in range(FEATURES + 1):
            state = (1103515245 * state + 12345) % 2**31
            numbers.append(state / 2**30 - 1)
        rows.append([*numbers[:FEATURES], numbers[-1] + client])
    return rows


def solve(matrix, right):
    """By Gauss and Jordan."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [row[-1] for row in rows]


def optimum(clients):
    """The least squares over these clients' records."""
    all_rows = [row for client in clients for row in records(client)]
    matrix = [[sum(row[i] * row[j] for row in all_rows) for j in range(FEATURES)] for i in range(FEATURES)]
    return solve(matrix, [sum(row[i] * row[-1] for row in all_rows) for i in range(FEATURES)])


class ChangingClients(TestCase):
    CHANGE = []  # words of the start with which clients change
    LAYOUTS = ()  # numbers of ranks that must give the same bits

    def prepare(self):
        for client in range(CLIENTS):
            rows = [",".join(f"{value:.17g}" for value in row) for row in records(client)]
            self.write(f"site-{client}.csv", "\n".join(["x1,x2,x3,y", *rows]) + "\n")
        self.write("triangles.topo", TRIANGLES)
        self.write("chords.topo", f"generate exponential clients={CLIENTS}\n")

    def play(self, words, ranks, fault=None):
        with interrupted(fault):
            return self._start([(ranks, words, [])], None).finish()

    def begin(self, words, ranks=2, fault="checkpoint:3"):
        """A run that ended amid its rounds."""
        self.prepare()
        result = self.play(words, ranks, fault)
        self.assertNotEqual(result.code, 0, result)

    def keep(self, name):
        shutil.copytree(self.folder / "run", self.folder / name)

    def again(self, name):
        shutil.rmtree(self.folder / "run")
        shutil.copytree(self.folder / name, self.folder / "run")

    def remove(self, rank):
        """The rank's folder, whose name ends with .N once clients have moved."""
        private = self.folder / "run/private"
        for folder in [private / str(rank), *private.glob(f"{rank}.*")]:
            shutil.rmtree(folder, ignore_errors=True)

    def before_the_change(self):
        """Between the run that ended and the start with which clients change."""

    def give_the_same_bits(self, *commands):
        for words in commands:
            self.begin([*words, "--topology", "chords.topo"], 3)
            self.before_the_change()
            self.keep("kept")
            found = {}
            for ranks in self.LAYOUTS:
                self.again("kept")
                self.good_resume(*self.CHANGE, ranks=ranks)
                found[ranks] = self.results()
            # Interrupted once more, after the switch, and on other ranks each time.
            self.again("kept")
            self.resume(*self.CHANGE, ranks=self.LAYOUTS[1], fault="checkpoint:2")
            self.resume(ranks=3, fault="checkpoint:1")
            self.good_resume(ranks=1)
            found["interrupted"] = self.results()
            for name, results in found.items():
                self.assertEqual(results, found[1], name)
            for folder in ("run", "kept"):
                shutil.rmtree(self.folder / folder)

    def resume(self, *words, ranks=1, fault=None):
        return self.play(["omd", "--resume", "run", *map(str, words)], ranks, fault)

    def say_that_clients_have_changed(self, *change):
        """A signal right behind the step that counts."""
        with interrupted("after rename /run-id:0", signal.SIGTERM):
            result = self.resume(*change)
        self.assertEqual(result.code, 75, result)
        self.assertIn("Its clients have changed already: starling omd --resume run goes on with them, without " + change[0], result.err)
        self.assertIn("-after", (self.folder / "run/run-id").read_text())
        self.good_resume()

    def good_resume(self, *words, ranks=1):
        return self.succeeded(self.resume(*words, ranks=ranks))

    def summary(self):
        return self.summary_in("run")

    def last_line(self):
        header, *lines = [line.split(",") for line in (self.folder / "run/history.csv").read_text().splitlines()
                          if not line.startswith("#")]
        return dict(zip(header, lines[-1]))

    def results(self):
        """What may not depend on the ranks."""
        summary = self.summary()
        for name in ("time", "command_line", "notes", "output", "ranks", "performance"):
            summary.pop(name, None)
        for name in ("rank_messages", "rank_bytes", "evaluation_bytes"):
            summary["traffic"].pop(name)
        ((summary["privacy"] or {}).get("ledger") or {}).pop("heads", None)
        return {"summary": bits(summary), "history": (self.folder / "run/history.csv").read_text(),
                "charges": self.charges(),
                "models": repr(self.record("run")["model"].tolist()) if h5py else None}

    def refuse_without_a_trace(self, cases):
        """Cases are words of a start that goes on, its exit code, and a part of its message."""
        for words, code, text in cases:
            with self.subTest(words):
                before = tree(self.folder / "run")
                result = self.resume(*words)
                self.assertEqual(result.code, code, result)
                self.assertIn(text, result.err)
                self.assertEqual(tree(self.folder / "run"), before)

    def charges(self):
        return self.losses_in((self.folder / "run/private").glob("*/ledger"))

    def check_optimum(self, clients):
        """The clients' own optimum is far from that of all that the run began with, and is reached."""
        summary = self.summary()
        best = optimum(clients)
        distance = max(abs(x - y) for x, y in zip(summary["final_model"], best))
        self.assertLess(distance, 1e-3, (summary["final_model"], best))
        self.assertGreater(max(abs(x - y) for x, y in zip(optimum(range(CLIENTS)), best)), 0.1)  # else it shows nothing
        line = self.last_line()
        self.assertAlmostEqual(float(line["mass"]) + float(line["in_flight"]), len(clients), 8)  # ten digits each
        self.assertAlmostEqual(summary["mass"] + summary["mass_in_flight"], len(clients), 9)
