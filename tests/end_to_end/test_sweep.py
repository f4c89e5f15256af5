"""starling sweep: all combinations once, killed and stopped in the middle, failures, bad files, what the runs cost together."""

import math
import re
import signal
import unittest

from harness import *

USAGE, STOPPED_SAFELY = 2, 75
HEAD = """[sweep]
command = omd
ranks = 2
launcher = {launcher}
[options]
tuning = off
"""


def gaussian_delta(epsilon, mu):
    """The delta of this epsilon under Gaussian noise of a price mu."""
    def below(z):
        return math.erfc(-z / math.sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


class SweepCase(TestCase):
    def spec(self, options, name="s.ini"):
        mechanism = "" if "mechanism" in options else "mechanism = none\n"
        head = HEAD.replace("tuning = off\n", "") if "tuning" in options else HEAD
        return self.write(name, head.format(launcher=MPIRUN) + options + mechanism)

    def sweep(self, *words, code=0, spec="s.ini"):
        result = self.run_alone(["sweep", spec, "--output", "out", *words])
        self.assertEqual(result.code, code, result)
        return result

    def start_sweep(self, *words):
        process = subprocess.Popen([STARLING, "sweep", "s.ini", "--output", "out", *words], cwd=self.folder,
                                   env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def summary(self, name):
        return self.summary_in(f"out/{name}")


class Runs(SweepCase):
    def test_all_combinations_once(self):
        self.spec("source = synthetic:drift:n=60\nstep = 1 | 1/2\nseed = 1..2\n")
        planned = self.sweep("--dry-run").out.splitlines()
        self.assertEqual(len(planned), 4)
        self.assertFalse((self.folder / "out").exists())
        first = self.sweep("--parallel", "2", "--metric", "loss")
        names = [f"step-{step}_seed-{seed}" for step in ("1", "1-2") for seed in (1, 2)]
        for name in names:
            self.assertEqual((self.summary(name)["rounds"], self.summary(name)["ranks"]), (60, 2))
            self.assertIn(f"{name}: finished in", first.err)
        lines = [line.split() for line in first.out.splitlines()]
        self.assertEqual([line[:3] for line in lines[1:]], [[names[0], "2", "1"], [names[2], "2", "1/2"]])
        before = tree(self.folder / "out")
        again = self.sweep("--metric", "loss")
        self.assertEqual((again.out, again.err), (first.out, ""))
        self.assertEqual(tree(self.folder / "out"), before)
        self.assertEqual(self.sweep("--dry-run").out, "")

    def test_one_run_of_the_list(self):
        self.spec("source = synthetic:drift:n=20\nseed = 1..3\n")
        self.sweep("--only", "2")
        self.assertEqual(self.summary("seed-2")["rounds"], 20)
        self.assertFalse((self.folder / "out/seed-1").exists())
        self.assertIn("stands for 3 runs", self.sweep("--only", "4", code=USAGE).err)

    def test_under_mpirun(self):
        self.spec("source = synthetic:drift:n=20\nseed = 1\n")
        self.succeeded(self.run_command(1, ["sweep", "s.ini", "--output", "out"]))
        self.assertEqual(self.summary("run")["ranks"], 2)

    def test_failures_are_named_and_the_others_go_on(self):
        self.write("good.csv", "\n".join(csv_rows(40)) + "\n")
        self.spec("source = none.csv | good.csv\nmechanism = none\n")
        result = self.sweep(code=FAILURE)
        self.assertRegex(result.err, r"(?m)^failed: source-none \(exit code \d+\): .*none\.csv")
        self.assertEqual(self.summary("source-good")["rounds"], 20)


class Interruptions(SweepCase):
    OPTIONS = "source = synthetic:drift\nrounds = 300\ncheckpoint-every = 10\nnoise-key = seed\nseed = 1..2\n"

    def begun(self, name):
        """A sweep whose runs take their time, once this one has a checkpoint."""
        with slowed("checkpoint:0", 40):
            process = self.start_sweep()
        wait_until(lambda: any((self.folder / "out" / name).glob("private/0/checkpoint-*")), f"{name} has a checkpoint")
        return process

    def check_the_rest(self, first_end):
        again = self.sweep("--metric", "loss")
        self.assertNotIn("seed-1: begins", again.err)
        self.assertIn(first_end, again.err)
        for seed in (1, 2):
            self.assertEqual(self.summary(f"seed-{seed}")["rounds"], 300)
        return again

    def test_killed_in_the_middle(self):
        self.spec(self.OPTIONS)
        self.sweep("--only", "1")
        finished = tree(self.folder / "out/seed-1")
        process = self.begun("seed-2")
        process.kill()
        process.wait()
        self.check_the_rest("seed-2: goes on")
        self.assertEqual(tree(self.folder / "out/seed-1"), finished)

    def test_stopped_by_a_signal(self):
        self.spec(self.OPTIONS)
        for number, name in ((signal.SIGHUP, "seed-1"), (signal.SIGINT, "seed-1"), (signal.SIGTERM, "seed-2")):
            if number == signal.SIGINT:
                shutil.rmtree(self.folder / "out")
            process = self.begun(name)
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), STOPPED_SAFELY)
            self.assertRegex(process.stderr.read(), rf"(?s){name}: stopped after .*starling: stopped: \d runs")
        self.check_the_rest(": goes on")


class Prices(SweepCase):
    def test_of_ledgers_of_their_own_and_of_one(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        options = "source = data.csv\nmechanism = laplace\nepsilon = 1 | 2\nseed = 1..2\n"
        self.spec(options)
        self.assertRegex(self.sweep().out, r"(?m)^Price +\S*data.csv: a record has paid epsilon 6; .*4 runs together")
        self.spec(options + "ledger = book-{client}\n", "shared.ini")
        result = self.succeeded(self.run_alone(["sweep", "shared.ini", "--output", "shared"]))
        self.assertRegex(result.out, r"(?m)^Price +\S*book-{client}: a record has paid epsilon 6; ")

    def test_runs_that_share_a_ledger_go_one_after_the_other(self):
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")
        self.spec("source = data.csv\nmechanism = laplace\nepsilon = 1 | 2\nledger = book-{client}\n")
        self.assertRegex(self.sweep("--parallel", "2", code=USAGE).err, "^starling: --parallel 2: several runs have the ledger .*book-{client}")
        self.assertFalse((self.folder / "out").exists())
        self.sweep("--slurm", "array.sbatch")
        self.assertIn("#SBATCH --array=1-2%1\n", (self.folder / "array.sbatch").read_text())

    def test_of_what_a_run_released_before_it_was_killed(self):
        self.write("data.csv", "\n".join(csv_rows(200)) + "\n")
        self.spec("source = data.csv\nclients = 2\nmechanism = gaussian\nmu = 1\ntuning = auto\nscale-share = 0.04\nfeature-share = 0\nscore-share = 0\n"
                  "seed = 1..2\n")
        with interrupted("after rename /config.ini:1"):
            self.sweep(code=FAILURE)
        self.assertFalse((self.folder / "out/seed-1/run-id").exists())
        result = self.sweep()
        self.assertIn("begins anew", result.err)
        self.assertEqual(len(list((self.folder / "out").rglob("ledger"))), 8)  # of two ranks, two runs and what is left of two
        epsilon, delta = re.search(r"(?m)^Price .* a record has paid epsilon (\S+) at delta (\S+);", result.out).groups()
        self.assertAlmostEqual(gaussian_delta(float(epsilon), math.sqrt(2 * (1 + 0.04))) / float(delta), 1, delta=1e-3)


class Groups(SweepCase):
    def test_what_private_records_have_chosen_parts_no_seeds(self):
        self.write("data.csv", "\n".join(f"{1000 * float(row.split(',')[0]):.3f},{row.split(',', 1)[1]}" for row in csv_rows(600)) + "\n")
        self.spec("source = data.csv\nclients = 2\nmechanism = gaussian\nmu = 0.4\ntuning = auto\nnoise-key = seed\nseed = 1..2\n")
        table = self.sweep("--metric", "mass").out
        constants = [re.search(r"(?m)^standardise = .*", (self.folder / f"out/seed-{seed}/config.ini").read_text())[0] for seed in (1, 2)]
        self.assertNotEqual(*constants, "what is released is to differ by its noise")
        self.assertEqual([line.split() for line in table.splitlines()[:2]], [["n", "mass"], ["seed-1", "2", "2"]])


class BadSpecs(SweepCase):
    def test_nothing_runs(self):
        good = "source = synthetic:drift:n=20\n"
        self.write("base.ini", "openmetrics = x.prom\n")
        for options, why in (("seed = 1 | x\n", "seed"), ("epsilom = 1\n", "s.ini:8: unknown key 'epsilom'"),
                             ("step = 1 | -2\n", "run step--2"), ("seed = 2..1\n", "is empty"), ("seed = 1 |\n", "empty value"),
                             ("output = x\n", "set by the sweep"), ("config = base.ini\n", "--openmetrics: all runs would have"),
                             ("private = x\n", "--private: all runs would have"), ("tensorboard = x\n", "--tensorboard: all runs would have"),
                             ("save-partition = x\n", "--save-partition: all runs would have"), ("mechanism = laplace | magic\nepsilon = 1\n", "mechanism-magic")):
            with self.subTest(options):
                self.spec(good + options)
                result = self.sweep(code=USAGE)
                self.assertIn(why, result.err)
                self.assertEqual((result.out, len(result.err.splitlines())), ("", 1))
                self.assertFalse((self.folder / "out").exists())

    def test_what_a_run_would_lack_is_told_before_any_runs(self):
        for mechanism, why in (("", "no --mechanism is chosen"), ("mechanism = none | laplace\n", "run mechanism-laplace: .*--total-epsilon")):
            with self.subTest(mechanism):
                self.write("s.ini", HEAD.format(launcher=MPIRUN) + "source = synthetic:drift:n=20\n" + mechanism)
                self.assertRegex(self.sweep(code=USAGE).err, why)
                self.assertFalse((self.folder / "out").exists())
        self.spec("source = synthetic:drift:n=20\n")
        for metric, near in (("los", "loss"), ("metrics.test.acuracy", "metrics.test.accuracy"), ("loss,balanced acuracy", "balanced accuracy")):
            with self.subTest(metric):
                self.assertIn(f" {near}", self.sweep("--metric", metric, code=USAGE).err)
                self.assertFalse((self.folder / "out").exists())

    def test_topologies_are_files(self):
        self.spec("clients = 16\nsource = synthetic:drift:n=20\nmechanism = none\ntopology = ring | exponential\n")
        error = self.sweep(code=USAGE).err
        self.assertRegex(error, r"--topology '\S*/ring': there is no such file\. Make one: starling topology make ring --clients 16 --output ring\.topo\.")
        self.assertEqual((len(error.splitlines()), (self.folder / "out").exists()), (1, False))

    def test_another_sweep_in_the_folder(self):
        self.spec("source = synthetic:drift:n=20\nseed = 1..2\n")
        self.sweep()
        self.spec("source = synthetic:drift:n=30\nseed = 1..2\n")
        before = tree(self.folder / "out")
        self.assertIn("holds a run with other options", self.sweep(code=USAGE).err)
        self.assertEqual(tree(self.folder / "out"), before)
        (self.folder / "taken/seed-1").mkdir(parents=True)
        (self.folder / "taken/seed-1/x").write_text("x")
        result = self.run_alone(["sweep", "s.ini", "--output", "taken"])
        self.assertEqual(result.code, USAGE, result)
        self.assertIn("is not of this sweep", result.err)


class Examples(SweepCase):
    def test_that_of_the_page(self):
        page = (SOURCE / "docs/how-to/compare-runs.md").read_text()
        text = page.split("```ini\n")[1].split("```")[0]
        self.write("sweep.ini", text.replace("[options]", f"launcher = {MPIRUN}\n[options]"))
        result = self.sweep("--parallel", "2", spec="sweep.ini")
        runs = sorted(str(path.relative_to(self.folder)) for path in (self.folder / "out").iterdir() if path.is_dir())
        self.assertEqual((len(runs), runs[0]), (8, "out/epsilon-1_step-1-2_seed-1"), result)
        table = self.run_alone(["report", *runs, "--by", "epsilon,step", "--metric", "accuracy,loss", "--pictures", "off"])
        self.assertEqual(len(table.out.splitlines()), 5, table)
        self.assertRegex(table.out, r"\d %( ± \d+\.\d\d %)? +\d+\.\d+ ± ")

    def test_the_jobs_example(self):
        result = self.run_alone(["sweep", str(SOURCE / "jobs/sweep.ini"), "--output", "out", "--dry-run"])
        self.assertEqual((result.code, len(result.out.splitlines())), (0, 9), result)

    def test_the_array(self):
        self.succeeded(self.run_alone(["sweep", str(SOURCE / "jobs/sweep.ini"), "--output", "out", "--slurm", "array.sbatch"]))
        script = (self.folder / "array.sbatch").read_text()
        self.assertIn("#SBATCH --array=1-9\n", script)
        self.assertEqual(subprocess.run(["bash", "-n", self.folder / "array.sbatch"]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
