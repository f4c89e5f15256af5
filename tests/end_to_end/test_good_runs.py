"""Runs that succeed: what is printed, what is left behind, and how clients may live on ranks."""

import json
import math
import re
import shlex
import subprocess
import unittest

from harness import *

draw_pictures()

DRIFT = ["--source", "synthetic:drift:informative=1,n=150", "--mechanism", "laplace", "--epsilon", "4"]
SUMMARY = """command clients rounds dimension loss accuracy metrics consensus_error mass regret privacy traffic time final_model
    withheld""".split()
PRIVACY = """mechanism noise_key unit epsilon_per_release epsilon delta mu participations client_epsilon statement""".split()


class DefaultRun(TestCase):
    def check_summary(self, summary, clients, rounds):
        self.assertLessEqual(set(SUMMARY), set(summary))
        self.assertLessEqual(set(PRIVACY), set(summary["privacy"]))
        self.assertLessEqual({"mean", "last"}, set(summary["loss"]))
        self.assertLessEqual({"messages", "bytes", "edges", "evaluation_bytes"}, set(summary["traffic"]))
        self.assertLessEqual({"wall", "rounds_per_second", "shares"}, set(summary["time"]))
        self.assertEqual((summary["command"], summary["clients"], summary["rounds"]), ("omd", clients, rounds))
        self.assertEqual(len(summary["final_model"]), summary["dimension"])
        self.assertTrue(all(math.isfinite(x) for x in summary["final_model"]))
        self.assertAlmostEqual(summary["mass"], clients, delta=1e-9)
        traffic = summary["traffic"]
        self.assertEqual(traffic["messages"], sum(edge[2] for edge in traffic["edges"]))
        self.assertEqual(traffic["bytes"], sum(edge[3] for edge in traffic["edges"]))

    def test_json_is_the_one_object_on_stdout_and_equals_the_file(self):
        result = self.good(4, [*DRIFT, "--json", "--output", "run"])
        summary = result.summary()  # raises unless stdout is exactly one JSON value
        self.assertEqual(summary, self.summary_in("run"))
        self.check_summary(summary, 4, 150)
        self.assertNotIn("models", summary)
        self.assertEqual(summary["withheld"], [])  # synthetic data are public
        privacy = summary["privacy"]
        self.assertEqual((privacy["mechanism"], privacy["noise_key"], privacy["unit"]), ("laplace", "random", "record"))
        self.assertEqual((privacy["epsilon_per_release"], privacy["epsilon"]), (4, 4))
        self.assertEqual((privacy["participations"], privacy["client_epsilon"]), (1, 600))
        self.assertEqual([edge[:3] for edge in summary["traffic"]["edges"]], sorted([u, (u + k) % 4, 150] for u in range(4) for k in (1, 2)))
        self.assertRegex(result.err, r"(?m)^round +150/150 ")  # the last state, however short the run
        files = {str(path.relative_to(self.folder / "run")) for path in (self.folder / "run").rglob("*") if path.is_file()}
        expected = {"config.ini", "summary.json", "run.h5", *(f"clients/{r}.h5" for r in range(4))}
        self.assertLessEqual(expected, files)

    def test_table_without_json(self):
        result = self.good(3, [*DRIFT, "--output", "run", "--verbose"])
        for word in ("3 clients on 3 ranks", "150 of 150 rounds", "loss", "accuracy", "consensus error", "mass",
                     "epsilon per record", "messages", "per edge", "0 -> 1", "rounds/s", "Who is protected: ", "How much: epsilon = 4", "From whom: ", "Not covered: ", "Results    run", "Files      summary.json, model.h5, privacy.txt, history.csv",
                     "synthetic:drift:informative=1,n=150"):
            self.assertIn(word, result.out)
        command = re.search(r"^Command +(.*)$", result.out, re.MULTILINE)
        self.assertIsNotNone(command, result.out)
        words = ["again" if word == "run" else word for word in shlex.split(command[1])]
        pasted = subprocess.run(words, cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=PATIENCE)
        self.assertEqual(pasted.returncode, 0, pasted.stderr)
        self.assertIn("3 clients on 3 ranks", pasted.stdout)
        self.assertIn("Results    again", pasted.stdout)

    def test_progress_off_leaves_stderr_empty(self):
        self.assertEqual(self.good(2, [*DRIFT, "--progress", "off", "--output", "run"]).err, "")

    def test_default_output_directory(self):
        self.good(1, [*DRIFT, "--progress", "off"])
        found = [path.name for path in self.folder.glob("run-omd-*")]
        self.assertEqual(len(found), 1)
        self.assertTrue((self.folder / found[0] / "summary.json").exists())

    @needs_h5py
    def test_run_file(self):
        summary = self.summary_of(3, [*DRIFT, "--seed", "3"], "run")
        with h5py.File(self.folder / "run" / "run.h5") as file:
            rounds = file["rounds"][()]
            self.assertEqual((rounds[0], rounds[-1]), (0, 150))
            self.assertTrue((numpy.diff(rounds) > 0).all())
            self.assertEqual(file["model"].shape, (len(rounds), 3, 5))
            self.assertTrue(numpy.isfinite(file["model"][()]).all())
            self.assertEqual(file["final_model"][()].tolist(), summary["models"])
            self.assertEqual(file["model"][-1].tolist(), summary["models"])
            self.assertEqual(file["mass"].shape, (len(rounds), 3))
            self.assertEqual(file["loss"].shape, (len(rounds), 3))
            self.assertEqual(file["traffic"][()].tolist(), summary["traffic"]["edges"])
            self.assertEqual(file["privacy"].attrs["epsilon_per_release"], 4)
            for name in ("command_line", "topology_digest", "configuration_digest"):
                self.assertIn(name, file.attrs)

    @needs_h5py
    def test_record_every_and_record_clients(self):
        self.good(1, [*DRIFT, "--clients", "4", "--record-every", "50", "--record-clients", "3", "--output", "run"])
        with h5py.File(self.folder / "run" / "run.h5") as file:
            self.assertEqual(file["rounds"][()].tolist(), [0, 50, 100, 150])
            self.assertEqual(file["recorded_clients"][()].tolist(), [0, 1, 2])
            self.assertEqual(file["model"].shape, (4, 3, 5))
            self.assertEqual(file["final_model"].shape, (4, 5))


class Stream(TestCase):
    def test_regression_has_losses_and_no_accuracies(self):
        result = self.good(1, ["--mechanism", "none", "--loss", "huber", "--source", "synthetic:drift:n=40", "--output", "out"])
        self.assertNotIn("accuracy", result.err)
        self.assertIn("loss", result.err)
        self.assertIsNone(self.summary_in("out")["accuracy"])
        if h5py is not None:
            self.assertEqual({"loss", "accuracy"} & set(self.record("out")), {"loss"})

    def test_rounds_epochs_and_participations(self):
        """23 records on two clients (12 and 11) in batches of 5: three rounds an epoch, the last of them short."""
        self.write("data.csv", "x,y\n" + "".join(f"0.{i:02},{i % 2}\n" for i in range(23)))
        words = ["--source", "data.csv", "--clients", "2", "--batch", "5", "--mechanism", "laplace", "--epsilon", "1/2", "--json"]
        summary = self.good(1, [*words, "--epochs", "4", "--output", "all"]).summary()
        privacy = summary["privacy"]
        self.assertEqual((summary["rounds"], summary["dimension"]), (12, 1))
        self.assertEqual((privacy["participations"], privacy["releases"]), (4, 12))
        self.assertEqual((privacy["epsilon"], privacy["client_epsilon"]), (2, 30))  # for all five records of a batch
        summary = self.good(1, [*words, "--epochs", "4", "--rounds", "4", "--output", "some"]).summary()
        self.assertEqual((summary["rounds"], summary["privacy"]["participations"]), (4, 2))

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    @fewer
    def test_pictures_even_of_equal_models(self):
        for ranks in layouts((1, 3, 2)):
            with self.subTest(ranks=ranks):
                result = self.good(ranks, [*DRIFT, "--json", "--output", f"run-{ranks}"])
                self.assertNotIn("no pictures", " ".join(result.summary()["notes"]))
                self.assertIn("</svg>", (self.folder / f"run-{ranks}" / "loss.svg").read_text())


class Configuration(TestCase):
    WORDS = [*DRIFT, "--noise-key", "seed", "--seed", "11", "--clients", "3", "--domain", "ball:2", "--step", "1/2"]

    def test_the_file_of_a_run_repeats_it_bit_for_bit(self):
        first = self.summary_of(2, self.WORDS, "first")
        again = self.good(1, ["--config", "first/config.ini", "--output", "again"]).summary()
        self.assertEqual(bits(again["models"]), bits(first["models"]))
        self.assertEqual(bits(again["loss"]), bits(first["loss"]))

    def test_print_config_fed_back_prints_the_same(self):
        """Of every kind of option: numbers, words, lists, specs, switches and files."""
        self.write("cap.csv", "1,0,0,0,0,0.3\n")
        constraint = ["omd", "--mechanism", "none", "--domain", "ball:2", "--constraint", "linear:cap.csv", "--dual"]
        for words, lines in (
            (["omd", *self.WORDS, "--json", "--intercept", "--output", "o"],
             ["domain = ball:2", "step = 1/2", "step-power = 0.5", "json = true", "mixing = push-sum"]),
            (["omd", *self.WORDS, "--dropout", ".1,.6,.3", "--dropout-model", "markov:length=4", "--link-loss", "0.1"], ["dropout = .1,.6,.3"]),
            ([*constraint, "queue", "--caution", "3"], ["caution = 3"]),
            ([*constraint, "saddle", "--dual-max", "4"], ["dual-max = 4"]),
            (["fedavg", *DRIFT, "--local-steps", "7"], ["local-steps = 7"]),
            (["vertical", "--source", "synthetic:spectrum", "--clients", "4", "--mechanism", "none", "--quantiser", "scalar:4", "--bits",
              "sublinear:2", "--baseline", "lazy:7"], ["baseline = lazy:7", "bits = sublinear:2"]),
            (["doctor", "--dimension", "7"], ["dimension = 7"]),
            (["privacy", "audit", "--mechanism", "laplace", "--epsilon", "2"], ["epsilon = 2"]),
        ):
            with self.subTest(words):
                printed = self.run_alone([*words, "--print-config"])
                self.assertEqual((printed.code, printed.err), (0, ""))
                self.assertLessEqual(set(lines), set(printed.out.splitlines()))
                self.write("config.ini", printed.out)
                command = words[:2] if words[0] == "privacy" else words[:1]
                again = self.run_alone([*command, "--config", "config.ini", "--print-config"])
                self.assertEqual((again.code, again.out), (0, printed.out))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["cap.csv", "config.ini"])

    def test_comments_and_the_command_line_over_the_file(self):
        self.write("c.ini", "# a comment\n\nseed = 5\n  epsilon = 3   # per release\n")
        printed = self.run_alone(["omd", "--config", "c.ini", "--seed", "7", "--print-config"]).out.splitlines()
        self.assertIn("seed = 7", printed)
        self.assertIn("epsilon = 3", printed)


class Layouts(TestCase):
    def clients_of(self, ranks, *words):
        result = self.good(ranks, [*DRIFT, *words, "--json", "--output", "run"])
        summary = result.summary()
        self.assertAlmostEqual(summary["mass"], summary["clients"], delta=1e-9)
        return summary["clients"], summary["ranks"], result.err

    def test_more_clients_than_ranks(self):
        self.assertEqual(self.clients_of(2, "--clients", "5")[:2], (5, 2))

    def test_clients_per_rank(self):
        self.assertEqual(self.clients_of(2, "--clients-per-rank", "3")[:2], (6, 2))

    def test_idle_ranks_with_a_note(self):
        clients, ranks, err = self.clients_of(7, "--topology", SOURCE / "topologies" / "unbalanced-5.topo")
        self.assertEqual((clients, ranks), (5, 7))
        self.assertIn("2 ranks host no client", err)

    def test_one_client_on_one_rank_of_mpirun(self):
        result = self.run_noted(1, [*DRIFT, "--json", "--output", "run"])
        self.assertEqual(result.codes, [0], result)
        self.assertEqual((result.summary()["clients"], result.summary()["ranks"]), (1, 1))

    def test_without_mpirun(self):
        """With all that MPI then starts by itself."""
        usual = {name: value for name, value in environment().items() if name != "OMPI_MCA_ess_singleton_isolated"}
        done = subprocess.run([STARLING, "omd", *DRIFT, "--json", "--output", "run"], cwd=self.folder, env=usual,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["ranks"], 1)


class Texts(TestCase):
    def test_texts_appear_once_under_mpirun(self):
        for words, mark in ((["omd", "--help"], "starling omd:"), (["--version"], "starling "), (["--help"], "starling:")):
            with self.subTest(words=words):
                result = self.run_command(2, words)
                self.assertEqual((result.code, result.err), (0, ""))
                alone = self.run_alone(words)
                self.assertEqual((alone.code, result.out), (0, alone.out))
                self.assertTrue(alone.out.startswith(mark), alone.out)

    def test_version_names_the_libraries(self):
        text = self.run_alone(["--version"]).out
        for name in ("starling", "MPI", "HDF5", "toml++"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
