"""Runs of more clients than are recorded one by one: what they leave, whoever hosts whom, and who can read it."""

import json
import shutil
import unittest

from harness import *

CLIENTS = 2100
ROUNDS = 4
MANY = ["--clients", str(CLIENTS), "--topology", "many.topo", "--source", "synthetic:drift:d=3,informative=0", "--rounds", str(ROUNDS),
        "--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed", "--record-every", "1", "--progress", "off"]
FIGURES = ["mass", "presence", "distance", "loss", "accuracy"]
NUMBERS = ["count", "mean", "least", "lower", "median", "upper", "most"]


class ManyClients(TestCase):
    def setUp(self):
        super().setUp()
        self.succeeded(self.run_alone(["topology", "make", "exponential", "--clients", CLIENTS, "--output", "many.topo"]))

    def play(self, ranks, *words, output="run"):
        result = self.good(ranks, [*MANY, *words, "--output", output])
        return self.summary_in(output), result

    def open(self, output="run"):
        return h5py.File(self.folder / output / "run.h5")

    @needs_h5py
    def test_the_usual_run_has_some_clients_and_the_spread_of_all(self):
        summary, result = self.play(2)
        self.assertIn("--record-clients", result.err)
        self.assertTrue(any("figures of clients" in note for note in summary["notes"]), summary["notes"])
        self.play(1, "--record-clients", "all", output="all")
        with self.open() as some, self.open("all") as all_of_them:
            who = some["recorded_clients"][()]
            self.assertEqual(who.tolist(), [210 * i for i in range(10)])
            for name in ("model", "mass", "presence", "loss", "accuracy"):
                self.assertEqual(some[name].shape[:2], (ROUNDS + 1, 10), name)
                numpy.testing.assert_array_equal(some[name][()], all_of_them[name][()][:, who], name)
            numpy.testing.assert_array_equal(some["final_model"][()], all_of_them["final_model"][()])
            spread = some["spread"]
            self.assertEqual(spread.shape, (ROUNDS + 1, 2, len(FIGURES), len(NUMBERS)))
            for name, words in (("figures", FIGURES), ("numbers", NUMBERS)):
                text = spread.attrs[name]
                self.assertEqual(text.decode() if isinstance(text, bytes) else text, ", ".join(words))
            models = all_of_them["model"][()]
            for rank, block in enumerate((slice(0, 1050), slice(1050, 2100))):
                means = models[:, block].mean(axis=1, keepdims=True)
                expected = {name: all_of_them[name][()][:, block] for name in ("mass", "presence", "loss", "accuracy")}
                expected["distance"] = numpy.linalg.norm(models[:, block] - means, axis=2)
                for number, name in enumerate(FIGURES):
                    for record in range(ROUNDS + 1):
                        values = expected[name][record]
                        values = values[~numpy.isnan(values)]
                        found = spread[record, rank, number]
                        self.assertEqual(found[0], len(values), (name, record))
                        if len(values):
                            wanted = [values.mean(), *numpy.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
                            numpy.testing.assert_allclose(found[1:], wanted, rtol=1e-9, atol=1e-12, err_msg=f"{name} {record}")
            self.assertNotIn("spread", all_of_them)

    @needs_h5py
    def test_traffic_is_counted_by_edge_for_the_recorded_clients(self):
        summary, _ = self.play(2, "--record-clients", "sample:3")
        whole, _ = self.play(2, "--record-clients", "all", output="all")
        for key in ("messages", "bytes"):
            self.assertEqual(summary["traffic"][key], whole["traffic"][key])
        with self.open() as run, self.open("all") as all_of_them:
            rows, every = run["traffic"][()].tolist(), all_of_them["traffic"][()].tolist()
        wanted = [row for row in every if row[0] in (0, 700, 1400)]
        self.assertEqual([row for row in rows if row[0] >= 0], wanted)
        others = [row for row in rows if row[0] < 0]
        self.assertEqual(sum(row[2] for row in others), sum(row[2] for row in every) - sum(row[2] for row in wanted))

    def test_none_leaves_no_model_and_the_report_reads_what_there_is(self):
        summary, _ = self.play(2, "--record-clients", "none")
        shown = self.succeeded(self.run_alone(["report", "run"]))
        self.assertEqual(len(summary["final_model"]), 3)
        files = sum(path.stat().st_size for path in (self.folder / "run" / "clients").iterdir())
        self.assertLess(files, 100_000)  # 2,100 models of 3 numbers would be 50,000 bytes more than what numbers of clients take
        (self.folder / "run" / "summary.json").unlink()
        shown = self.succeeded(self.run_alone(["report", "run", "--json"]))
        self.assertEqual(json.loads(shown.out)["clients"], CLIENTS)

    def test_the_report_reads_the_usual_run(self):
        self.play(2)
        for words in ([], ["--csv"], ["--csv", "models"], ["--json"]):
            self.succeeded(self.run_alone(["report", "run", *words]))

    def test_private_metrics_are_few_and_their_owners(self):
        rows = "\n".join(f"{(7 * i) % 11 / 11},{(5 * i) % 13 / 13},{i % 2}" for i in range(2 * CLIENTS))
        self.write("data.csv", f"a,b,y\n{rows}\n")
        words = [*MANY, "--source", "data.csv", "--rounds", "2", "--output", "run"]
        self.good(2, words)
        for rank in range(2):
            path = self.folder / "run" / "private" / str(rank) / "metrics.csv"
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            lines = path.read_text().splitlines()
            kinds = [line.split(",")[1] for line in lines if line.startswith("1,")]
            self.assertEqual(kinds, [str(210 * i) for i in range(5 * rank, 5 * rank + 5)]
                             + ["clients", "mean", "least", "lower", "median", "upper", "most"])
            self.assertIn("1,clients,1050,,,0", lines)

    def test_the_keys_of_very_many_are_in_one_file(self):
        words = [word if word != "seed" else "random" for word in MANY]
        self.good(1, [*words, "--output", "run", "--checkpoint-every", "2"])
        folder = self.folder / "run" / "private" / "0"
        self.assertEqual(list(folder.glob("key-*")), [])
        keys = folder / "keys"
        self.assertEqual(keys.stat().st_mode & 0o777, 0o600)
        lines = keys.read_text().splitlines()
        self.assertEqual((len(lines), len(set(lines))), (CLIENTS, CLIENTS))
        shutil.copytree(self.folder / "run", self.folder / "again")
        self.good(1, ["--resume", "again", "--rounds", str(ROUNDS + 2)])
        self.good(1, ["--resume", "run", "--rounds", str(ROUNDS + 2)])
        models = [self.summary_in(name)["final_model"] for name in ("run", "again")]
        self.assertEqual(bits(models[0]), bits(models[1]))
        for damage in (lambda text: text[:-65], lambda text: text + text[:65], lambda text: "x" + text[1:],
                       lambda text: text[:64] + " " + text[65:]):
            content = keys.read_text()
            keys.write_text(damage(content))
            result = self.run_ranks(1, ["--resume", "run", "--rounds", str(ROUNDS + 4)])
            self.assertEqual(result.code, 3, result)
            self.assertIn("private/0/keys'", result.err)
            self.assertNotIn(lines[5], result.err)
            keys.write_text(content)

    def test_a_run_that_was_stopped_goes_on_to_the_same_files(self):
        self.play(2, "--checkpoint-every", "1", output="whole")
        self.good(2, [*MANY, "--rounds", "2", "--checkpoint-every", "1", "--output", "run"])
        self.good(2, ["--resume", "run", "--rounds", str(ROUNDS)])
        if h5py is None:
            return
        with self.open() as run, self.open("whole") as whole:
            for name in ("rounds", "model", "mass", "presence", "loss", "spread", "final_model", "traffic"):
                numpy.testing.assert_array_equal(run[name][()], whole[name][()], name)

    def test_the_option_says_whom(self):
        for text in ("0", "sample:0", "few", "sample:x"):
            result = self.run_ranks(1, [*MANY, "--record-clients", text, "--output", "run"])
            self.assertEqual(result.code, 2, result)
            self.assertIn("record-clients", result.err)


if __name__ == "__main__":
    unittest.main()
