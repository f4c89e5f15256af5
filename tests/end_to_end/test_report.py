"""starling report: finished, running, killed and private runs, comparisons, tables for other programs, bad directories."""

import csv
import io
import json
import math
import random
import signal
import statistics
import unittest

from harness import *

draw_pictures()

DRIFT = ["--source", "synthetic:drift:informative=1,n=150", "--mechanism", "laplace", "--epsilon", "4"]
ENDLESS = ["--source", "synthetic:drift:informative=1", "--rounds", "1e9", "--mechanism", "laplace", "--epsilon", "4"]
COLUMNS = ["rounds", "loss", "accuracy", "test_loss", "test_accuracy", "consensus_error", "mass", "in_flight", "present"]
PICTURES = ["loss.svg", "loss.png", "convergence.svg", "convergence.png", "components.svg", "components.png"]
USAGE, DATA, STOPPED_SAFELY = 2, 3, 75

needs_gnuplot = unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")


class ReportCase(TestCase):
    def report(self, *words, code=0, cwd=None):
        result = self.run_alone(["report", *words], cwd)
        self.assertEqual(result.code, code, result)
        return result

    def refused(self, code, *words):
        """One line that says what is wrong, nothing else, and nothing written."""
        before = tree(self.folder)
        result = self.report(*words, code=code)
        self.assertEqual(result.out, "", result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertTrue(result.err.startswith("starling: "), result)
        self.assertEqual(tree(self.folder), before)
        return result.err

    def history(self, run):
        rows = list(csv.reader(io.StringIO(self.report(run, "--csv").out)))
        self.assertEqual(rows[0], COLUMNS)
        return [dict(zip(COLUMNS, (float(cell) if cell else None for cell in row), strict=True)) for row in rows[1:]]

    def check_pictures(self, folder, names=PICTURES):
        for name in names:
            content = (self.folder / folder / name).read_bytes()
            if name.endswith(".png"):
                self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n", name)
                self.assertIn(b"IEND", content[-16:], name)
            else:
                self.assertIn(b"</svg>", content, name)
        self.assertEqual(list((self.folder / folder).glob(".pictures*")), [])


class FinishedRun(ReportCase):
    def test_the_table_is_that_of_the_end(self):
        shown = self.good(2, [*DRIFT, "--clients", "5", "--output", "run"]).out.lstrip("\n")
        result = self.report("run")
        self.assertTrue(result.out.startswith(shown), result)
        curve = result.out[len(shown):].split("Pictures")[0].strip().splitlines()
        self.assertEqual(curve[0].split(), ["round", "loss", "accuracy", "consensus", "error", "mass"])
        self.assertEqual((curve[1].split()[0], curve[-1].split()[0]), ("0", "150"))
        self.assertLessEqual(len(curve), 14)

    @needs_gnuplot
    def test_pictures(self):
        self.write("t.csv", "\n".join(csv_rows(50, dimension=5)) + "\n")
        self.good(1, [*DRIFT, "--clients", "5", "--test", "t.csv", "--output", "run"])
        for name in PICTURES:
            (self.folder / "run" / name).unlink(missing_ok=True)
        result = self.report("run")
        self.assertEqual(result.err, "")
        self.check_pictures("run")
        drawn = (self.folder / "run" / "loss.svg").read_text()
        for text in ("loss per record", "accuracy in %", "consensus error", "mean so far", "on the test set"):
            self.assertIn(text, drawn)
        before = tree(self.folder / "run")
        self.report("run", "--output", "a/b")
        self.check_pictures("a/b")
        self.report("run", "--pictures", "off")
        self.assertEqual(tree(self.folder / "run"), before)

    def test_csv_is_the_history(self):
        summary = self.summary_of(2, DRIFT, "run")
        result = self.report("run", "--csv", "history")
        self.assertEqual(result.err, "")
        self.assertEqual(result.out, (self.folder / "run" / "history.csv").read_text())
        history = self.history("run")
        self.assertEqual((history[0]["rounds"], history[-1]["rounds"]), (0, 150))
        self.assertTrue(all(line["mass"] == 2 for line in history))
        for line in history[1:]:
            self.assertTrue(math.isfinite(line["loss"]) and 0 <= line["accuracy"] <= 1)
            self.assertIsNone(line["test_loss"])
        spans = [(b["rounds"] - a["rounds"], b["loss"]) for a, b in zip(history, history[1:])]
        self.assertAlmostEqual(sum(rounds * loss for rounds, loss in spans) / 150, summary["loss"]["mean"], places=8)

    @needs_h5py
    def test_csv_of_the_models(self):
        self.good(1, [*DRIFT, "--clients", "3", "--record-every", "50", "--output", "run"])
        before = tree(self.folder / "run")
        rows = list(csv.reader(io.StringIO(self.report("run", "--csv", "models").out)))
        self.assertEqual(rows[0], ["round", "client", "coordinate", "value"])
        model = self.record("run")["model"]
        self.assertEqual(model.shape, (4, 3, 5))
        expected = [[50 * r, u, j, model[r, u, j]] for r in range(4) for u in range(3) for j in range(5)]
        self.assertEqual([[int(r), int(u), int(j), float(x)] for r, u, j, x in rows[1:]], expected)
        self.assertEqual(tree(self.folder / "run"), before)

    def test_json_is_the_summary(self):
        printed = self.good(2, [*DRIFT, "--json", "--output", "run"]).out
        self.assertEqual(self.report("run", "--json").out, printed)

    def test_a_stopped_run_is_a_finished_one(self):
        job = self.start(2, [*ENDLESS, "--output", "run"])
        pids = job.pids(2)
        wait_until(lambda: (self.folder / "run" / "history.csv").exists(), "the run has begun")
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
        result = job.finish(20)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
        self.assertTrue(self.report("run").out.startswith(result.out.lstrip("\n")))
        if shutil.which("gnuplot"):
            self.check_pictures("run", PICTURES[:2])  # others may have nothing to show

    def test_a_run_that_only_averages(self):
        self.write("start.csv", "1,2\n3,4\n5,6\n")
        shown = self.good(1, ["--loss", "none", "--clients", "3", "--start", "start.csv", "--rounds", "60", "--output", "run"]).out
        result = self.report("run")
        self.assertTrue(result.out.startswith(shown.lstrip("\n")), result)
        self.assertNotIn("loss", result.out.split("Command")[0])

    def test_without_gnuplot(self):
        self.good(1, [*DRIFT, "--output", "run"])
        done = subprocess.run([STARLING, "report", "run"], cwd=self.folder, env={**environment(), "PATH": "/nowhere"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("150 of 150 rounds", done.stdout)
        self.assertRegex(done.stderr, "^note: no pictures: gnuplot is not installed: .*\n$")

    def test_under_mpirun_one_process_speaks(self):
        self.good(1, [*DRIFT, "--output", "run"])
        alone = self.report("run", "--pictures", "off")
        result = self.run_command(3, ["report", "run", "--pictures", "off"])
        self.assertEqual((result.code, result.out, result.err), (0, alone.out, ""))

    def test_wherever_it_is_moved(self):
        self.good(1, [*DRIFT, "--output", "run"])
        (self.folder / "run").rename(self.folder / "it's a run")
        self.assertIn("150 of 150 rounds", self.report("it's a run/").out)
        self.assertIn("150 of 150 rounds", self.report(".", cwd=self.folder / "it's a run").out)


class UnfinishedRun(ReportCase):
    def started(self, *more):
        """A run with something in its history, and the process ids of its ranks."""
        job = self.start(2, [*ENDLESS, *more, "--output", "run"], waited_for=False)
        pids = job.pids(2)
        file = self.folder / "run" / "history.csv"
        wait_until(lambda: file.exists() and len(file.read_text().splitlines()) > 20, "there is some history")
        return job, pids

    def test_while_it_runs_and_after_it_was_killed(self):
        job, pids = self.started()
        result = self.report("run")
        self.assertRegex(result.out, r"state +running: round \d+ of 1000000000 at the last record, which was [\d.]+ s ago")
        for word in ("2 clients on 2 ranks", "progressive", "consensus error", "epsilon 4 per release", "rounds/s"):
            self.assertIn(word, result.out)
        if shutil.which("gnuplot"):
            self.check_pictures("run", PICTURES[:2])  # others may have nothing to show yet
        first = self.history("run")
        wait_until(lambda: len(self.history("run")) > len(first), "the history grows")
        self.assertEqual(self.history("run")[: len(first)], first)
        known = json.loads(self.report("run", "--json").out)
        self.assertEqual((known["state"], known["clients"], known["rounds_planned"]), ("running", 2, 10**9))
        self.assertGreater(known["rounds"], 0)
        self.assertLess(known["loss"]["mean"], 10)
        self.assertIsNone(known["privacy"]["epsilon"])
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        job.finish(20)
        result = self.report("run")
        self.assertRegex(result.out, r"state +not finished: round \d+ of 1000000000.* has not written for [\d.]+ s")
        self.assertEqual(json.loads(self.report("run", "--json").out)["state"], "silent")
        with open(self.folder / "run" / "history.csv", "a") as file:
            file.write("999999999,0.1")  # what a full disk or a dead machine leaves
        self.assertEqual(self.report("run", "--csv").out.splitlines(),
                         (self.folder / "run" / "history.csv").read_text().splitlines()[:-1])

    def test_reports_do_not_disturb_it(self):
        """Many reports in a row; then a signal ends the run in order, with one summary and the whole record."""
        job = self.start(2, [*ENDLESS, "--record-every", "500", "--output", "run"])
        pids = job.pids(2)
        wait_until(lambda: (self.folder / "run" / "history.csv").exists(), "the run has begun")
        for _ in range(12):
            self.assertIn("running", self.report("run", "--pictures", "off").out)
            self.report("run", "--csv", "models")
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
        result = job.finish(20)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
        self.assertEqual(result.messages(), [])
        summary = json.loads(self.report("run", "--json").out)
        self.assertEqual(self.history("run")[-1]["rounds"], summary["rounds"])

    def test_the_history_grows_at_its_own_pace(self):
        """Lines come together: the file changes no more often than each 0.2 s."""
        job, pids = self.started()
        file = self.folder / "run" / "history.csv"
        changes = set()
        began = time.monotonic()
        while time.monotonic() - began < 2:
            changes.add(file.stat().st_mtime_ns)
            time.sleep(0.01)
        self.assertLessEqual(len(changes), 12)
        ordered = sorted(changes)
        self.assertTrue(all(later - earlier > 0.19e9 for earlier, later in zip(ordered, ordered[1:])), ordered)

    def test_before_anything_is_recorded(self):
        self.write("run/config.ini", "rounds = 5\n")
        result = self.report("run")
        self.assertIn("starting", result.out)
        self.assertEqual(json.loads(self.report("run", "--json").out)["state"], "starting")


class PrivateRun(ReportCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", "\n".join(csv_rows(400)) + "\n")
        self.words = ["--source", "data.csv", "--mechanism", "laplace", "--epsilon", "2", "--clients", "4"]

    def test_withheld_figures_are_nowhere(self):
        self.good(2, [*self.words, "--output", "run"])
        self.good(1, [*DRIFT, "--output", "other"])
        secrets = set()
        for path in (self.folder / "run" / "private").glob("*/metrics.csv"):
            for line in path.read_text().splitlines()[2:]:
                secrets.add(line.split(",")[3][:11])  # nine digits: seven can meet a released number by chance
        secrets -= {"0.693147180"}  # of the start, which everybody knows
        self.assertGreater(len(secrets), 50)
        table = self.report("run")
        self.assertRegex(table.out, r"loss +withheld")
        self.assertRegex(table.out, r"accuracy +withheld")
        side_by_side = self.report("run", "other", "--output", "pictures")
        self.assertRegex(side_by_side.out, r"loss, mean +withheld +\d+\.\d+")
        self.assertRegex(side_by_side.out, r"accuracy +withheld +\d+")
        history = self.report("run", "--csv")
        for line in history.out.splitlines()[1:]:
            self.assertEqual(line.split(",")[1:5], [""] * 4)
        places = {"table": table.out + table.err, "comparison": side_by_side.out, "csv": history.out,
                  "json": self.report("run", "--json").out}
        for folder in ("run", "pictures"):
            for path in (self.folder / folder).glob("*"):
                if path.suffix in (".svg", ".gp", ".csv", ".json"):
                    places[f"{folder}/{path.name}"] = path.read_text()
        for name, text in places.items():
            self.assertNotRegex(text.lower(), r"\bnan\b", name)
            for secret in secrets:
                self.assertNotIn(secret, text, name)

    def test_withheld_while_it_runs(self):
        job = self.start(2, [*self.words, "--epochs", "1000000", "--output", "run"])
        pids = job.pids(2)
        file = self.folder / "run" / "history.csv"
        wait_until(lambda: file.exists() and len(file.read_text().splitlines()) > 5, "there is some history")
        result = self.report("run")
        self.assertRegex(result.out, r"loss +withheld")
        known = json.loads(self.report("run", "--json").out)
        self.assertEqual(known["withheld"], ["loss.mean", "loss.last", "metrics.progressive_accuracy", "accuracy"])
        self.assertIsNone(known["loss"]["mean"])
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
        job.finish(20)


class Comparison(ReportCase):
    def test_two_runs(self):
        self.good(1, [*DRIFT, "--output", "one"])
        self.good(1, [*DRIFT[:-1], "1", "--step", "1/2", "--output", "two"])
        result = self.report("one", "two", "--output", "both")
        lines = [line.split() for line in result.out.splitlines()]
        self.assertEqual(lines[0], ["one", "two"])
        self.assertIn(["epsilon", "4", "1"], lines)
        self.assertIn(["step", "1", "1/2"], lines)
        self.assertIn(["epsilon", "per", "release", "4", "1"], lines)
        self.assertIn(["rounds", "150", "150"], lines)
        self.assertFalse(any(line[:1] == ["mechanism"] for line in lines))  # it does not differ
        for name in ("one", "two"):
            mean = self.summary_in(name)["loss"]["mean"]
            self.assertIn(f"{mean:.6f}", result.out)
        if shutil.which("gnuplot"):
            self.check_pictures("both", ["compare.svg", "compare.png"])
            drawn = (self.folder / "both" / "compare.svg").read_text()
            for name in ("one", "two"):
                self.assertIn(f"<title>{name}</title>", drawn)
            self.assertIn("loss, progressive", drawn)

    def test_a_folder_of_runs(self):
        for epsilon in (2, 5):
            self.good(1, [*[word for word in DRIFT if word not in ("--epsilon", "4")], "--total-epsilon", epsilon, "--output", f"all/e{epsilon}"])
        tables = [self.report(*runs, "--by", key, "--metric", "rounds", "--pictures", "off").out
                  for runs in (["all"], ["all/e2", "all/e5"]) for key in ("total-epsilon", "total_epsilon")]
        self.assertEqual(tables, [tables[0]] * 4)
        self.assertRegex(tables[0], r"(?m)^ +n +total-epsilon +rounds\n +e2 +1 +2 .*\n +e5 +1 +5 ")
        self.assertIn("no run has such an option", self.refused(USAGE, "all", "--by", "topolgy"))
        if shutil.which("gnuplot"):
            self.report("all", "--by", "total-epsilon", "--metric", "rounds", "--picture-format", "svg")
            self.assertTrue((self.folder / "all" / "compare.svg").exists())

    def test_ranks_of_classes_and_tuning(self):
        draw = random.Random(4)
        rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(300)]
        self.write("d.csv", "a,b,y\n" + "".join(f"{a:.4f},{b:.4f},{int(a + draw.gauss(0, 1) > 0)}\n" for a, b in rows))
        for tuning in ("auto", "off"):
            self.good(1, ["--source", "d.csv", "--test", "d.csv", "--loss", "logistic", "--mechanism", "none", "--tuning", tuning, "--output", tuning])
        lines = [line.split() for line in self.report("auto", "off", "--pictures", "off").out.splitlines()]
        self.assertIn(["tuning", "auto", "off"], lines)
        tests = [self.summary_in(name)["metrics"]["test"] for name in ("auto", "off")]
        self.assertIn(["AUC", *(f"{test['auc']:.4f}" for test in tests)], lines)
        self.assertIn(["log-loss", *(f"{test['log_loss']:.6f}" for test in tests)], lines)

    def test_equal_names_and_many_runs(self):
        for batch, name in enumerate(("a/run", "b/run", "c"), 1):
            self.good(1, [*DRIFT, "--batch", batch, "--output", name])
        head = self.report("a/run", "b/run", "c", "--pictures", "off").out.splitlines()[0]
        self.assertEqual(head.split(), ["a/run", "b/run", "c"])

    def test_seeds_are_one_line(self):
        losses = [self.summary_of(1, [*DRIFT, "--seed", seed], f"run-{seed}")["loss"]["mean"] for seed in (1, 2, 3)]
        self.good(1, [*DRIFT[:-1], "1", "--output", "other"])
        words = ["run-1", "run-2", "run-3", "other", "--by", "mechanism.epsilon", "--metric", "loss"]
        rows = list(csv.reader(io.StringIO(self.report(*words, "--format", "csv").out)))
        self.assertEqual(rows[0], ["run", "n", "mechanism.epsilon", "loss.mean", "loss.mean sd", "loss.mean n"])
        self.assertEqual((rows[1][:3], rows[2][:3]), (["run-1", "3", "4"], ["other", "1", "1"]))
        self.assertAlmostEqual(float(rows[1][3]), statistics.mean(losses), places=12)
        self.assertAlmostEqual(float(rows[1][4]), statistics.stdev(losses), places=12)
        self.assertEqual(rows[2][4:], ["", "1"])
        if shutil.which("gnuplot"):
            self.report(*words, "--picture-format", "svg,pdf", "--output", "drawn")
            self.assertEqual((self.folder / "drawn/compare.pdf").read_bytes()[:5], b"%PDF-")
            self.assertIn("mechanism.epsilon", (self.folder / "drawn/compare.svg").read_text())
            self.assertIn("with vectors", (self.folder / "drawn/compare.gp").read_text())


class BadInput(ReportCase):
    def setUp(self):
        super().setUp()
        self.good(1, [*DRIFT, "--output", "run"])
        self.file = self.folder / "run" / "summary.json"

    def test_what_is_no_run(self):
        self.assertIn("no such directory", self.refused(USAGE, "none"))
        (self.folder / "empty").mkdir()
        self.assertIn("neither config.ini nor summary.json", self.refused(USAGE, "empty"))
        self.assertIn("it is a file", self.refused(USAGE, "run/config.ini"))
        self.assertIn("no such directory", self.refused(USAGE, "run", "none"))

    def test_words(self):
        for words in ([], ["run", "run"], ["run", "--csv", "--json"], ["run", "--csv=colours"], ["run", "--pictures=x"],
                      ["run", "--nonsense"], ["run", "--by", "seed"], ["run", "--format", "csv"],
                      ["run", "--picture-format", "gif"], ["run", "--json", "--output", "x"]):
            with self.subTest(words=words):
                self.refused(USAGE, *words)

    def test_a_damaged_summary(self):
        text = self.file.read_text()
        for damaged in ("", "[]", "null", text[: len(text) // 2], text.replace('"clients": 1', '"clients": "one"'),
                        text.replace('"mean":', '"mean": [],"m":'), text + "}", "\0" * 100):
            with self.subTest(damaged=damaged[:40]):
                self.file.write_text(damaged)
                for words in ([], ["--json"], ["--csv"]):
                    self.assertIn("summary.json", self.refused(DATA, "run", *words))

    def test_missing_and_damaged_files(self):
        for name, named in (("run.h5", "run.h5"), ("clients/0.h5", "clients"), ("history.csv", "history.csv")):
            path = self.folder / "run" / name
            content = path.read_bytes()
            for damaged in (None, b"x" * 64 + b"\n", content[: len(content) // 3]):
                if name == "history.csv" and damaged and damaged in content:
                    continue  # one that is cut is read up to there
                with self.subTest(name=name, size=damaged and len(damaged)):
                    path.unlink(missing_ok=True)
                    if damaged is not None:
                        path.write_bytes(damaged)
                    self.assertIn(named, self.refused(DATA, "run", "--csv", "models"))
            path.write_bytes(content)
        self.report("run", "--csv", "models")


if __name__ == "__main__":
    unittest.main()
