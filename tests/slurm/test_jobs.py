"""The scripts of jobs/ under a real SLURM: submitted as they stand, finished, the same bits as under mpirun; a sweep."""

import csv
import unittest

from slurm_case import *

SCRIPTS = sorted(SOURCE.glob("jobs/*.sbatch"))
# Words that make the scripts' own runs small, and repeatable by somebody else.
SMALL = {
    "omd": ["--rounds", "300"],
    "renewable": ["--rounds", "20"],
    "infer": ["--rounds", "500"],
    "vertical": ["--rounds", "3", "--feature-net", "d-8-4", "--head", "d-4-d"],
    "fedavg": ["--rounds", "20"],
}


class Scripts(TestCase):
    """What can be said of them without SLURM."""

    def test_there_is_one_for_each_command(self):
        self.assertEqual({path.stem for path in SCRIPTS}, {*COMMANDS, "sweep"})

    def test_bash_can_read_them(self):
        for path in [*SCRIPTS, SOURCE / "jobs/slurm.sh"]:
            with self.subTest(path.name):
                done = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_they_ask_for_a_warning_and_a_restart(self):
        for path in SCRIPTS:
            with self.subTest(path.name):
                lines = path.read_text().splitlines()
                for line in ("#SBATCH --signal=B:USR1@120", "#SBATCH --requeue", "#SBATCH --open-mode=append"):
                    self.assertIn(line, lines)

    def test_outside_of_a_job_they_say_so(self):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        for path in SCRIPTS:
            with self.subTest(path.name):
                done = subprocess.run(["bash", path], cwd=SOURCE, env={**variables, "SLURM_ARRAY_TASK_ID": "1"},
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, "no srun: .* Run bash jobs/quickstart.sh|not a job: .* Run it by sbatch")

    def test_the_sweeps_table_is_of_its_array(self):
        script = (SOURCE / "jobs/sweep.sbatch").read_text()
        with (SOURCE / "jobs/sweep.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertIn(f"#SBATCH --array=1-{len(rows)}\n", script)
        for row in rows:
            self.assertRegex((SOURCE / row["topology"]).read_text(), "clients[ =]8\n", row)
            self.assertGreater(float(row["epsilon"]), 0)


class Jobs(SlurmCase):
    @slow
    def test_every_command_has_the_bits_that_it_has_under_mpirun(self):
        jobs = {command: self.submit(command, *SMALL[command], "--noise-key", "seed") for command in COMMANDS}
        for command, job in jobs.items():
            with self.subTest(command):
                ended = self.finished(job)
                run = f"run-{command}-{job}"
                self.assertEqual(self.summary(run)["ranks"], 5, ended)
                self.assertEqual(self.run_again(5, run, f"again-{command}")["ranks"], 5)
                self.check_same(run, f"again-{command}")

    def test_several_clients_per_task(self):
        words = [*SMALL["omd"], "--noise-key", "seed"]
        job = self.submit("omd", *words, options=["--ntasks=2"])
        other = self.submit("omd", *words, "--seed", "2", options=["--ntasks=2"])
        self.finished(job)
        self.assertEqual((self.summary(f"run-omd-{job}")["ranks"], self.summary(f"run-omd-{job}")["clients"]), (2, 5))
        self.assertEqual(self.run_again(5, f"run-omd-{job}", "again")["ranks"], 5)
        self.check_same(f"run-omd-{job}", "again", "run.h5")
        # The comparison tells runs apart.
        self.finished(other)
        self.assertNotEqual(contents(self.folder / f"run-omd-{other}", "run.h5"), contents(self.folder / "again", "run.h5"))

    def test_scratch_and_kept_results(self):
        scratch, results = self.folder / "scratch", self.folder / "results"
        job = self.submit("omd", *SMALL["omd"], options=["--ntasks=2"], SCRATCH=str(scratch), RESULTS=str(results))
        ended = self.finished(job)
        kept = tree(results / f"run-omd-{job}")
        self.assertEqual(kept, tree(scratch / f"run-omd-{job}"))
        self.assertEqual(kept["private/0"][0][-3:], "700", "what is private stays so")
        self.assertEqual([path.name for path in results.iterdir()], [f"run-omd-{job}"])
        self.assertIn(str(scratch / f"run-omd-{job}"), ended.log)

    def test_sweep_with_one_summary(self):
        table = [(epsilon, name) for epsilon in ("0.5", "8") for name in ("ring-8", "unbalanced-8")]
        rows = "".join(f"{epsilon},topologies/{name}.topo\n" for epsilon, name in table)
        file = self.write("table.csv", "epsilon,topology\n" + rows)
        job = self.submit("sweep", file, "--rounds", "1000", options=["--array=1-5", "--ntasks=2"])
        runs = [f"run-omd-{job}_{line}" for line in range(1, 5)]
        for line in range(1, 5):
            self.finished(f"{job}_{line}")
        self.assertFalse((self.folder / f"run-omd-{job}_5").exists())
        past_the_end = self.await_end(f"{job}_5")
        self.assertEqual((past_the_end.state, past_the_end.code), ("FAILED", 2))
        self.assertIn(f"no line 5 in {file}", past_the_end.log)

        done = self.cluster.run(sys.executable, "-B", SOURCE / "jobs/collect.py", *runs, "--output", "summary.csv",
                                cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with (self.folder / "summary.csv").open() as csv_file:
            collected = list(csv.DictReader(csv_file))
        self.assertEqual([row["run"] for row in collected], runs)
        for (epsilon, name), run, row in zip(table, runs, collected):
            summary = self.summary(run)
            self.assertEqual((row["epsilon"], row["topology"]), (epsilon, str(SOURCE / f"topologies/{name}.topo")))
            self.assertEqual((row["state"], row["rounds"]), ("finished", "1000"))
            self.assertEqual(float(row["privacy.record_epsilon"]), float(epsilon))
            self.assertEqual(float(row["accuracy"]), summary["accuracy"])
            self.assertEqual(summary["traffic"]["edge_count"], {"ring-8": 16, "unbalanced-8": 15}[name])
        # Less noise, better models: the runs are those that the table says.
        self.assertLess(float(collected[0]["accuracy"]), float(collected[2]["accuracy"]))

    def test_errors_reach_the_user(self):
        wrong_option = self.submit("omd", "--step", "minus")
        no_program = self.submit("omd", STARLING=str(self.folder / "nothing"))
        nothing_to_resume = self.submit("omd", RESUME="run-omd-0")
        ended = self.await_end(wrong_option)
        self.assertEqual((ended.state, ended.code), ("FAILED", 2), ended)
        self.assertIn("minus", ended.log)
        ended = self.await_end(no_program)
        self.assertEqual((ended.state, ended.code), ("FAILED", 2), ended)
        self.assertRegex(ended.log, "starling-omd: no '.*/nothing' in .* Build it, or set STARLING")
        ended = self.await_end(nothing_to_resume)
        self.assertEqual((ended.state, ended.code), ("FAILED", 2), ended)
        self.assertIn(f"no 'run-omd-0' in {self.folder}", ended.log)

    def test_ranks_that_do_not_start_are_started_again(self):
        """The folder that a killed step leaves behind keeps PMIx from starting one of the same number; srun returns 0. The next
        step has another number."""
        job = self.submit("omd", *SMALL["omd"], options=["--hold"])
        obstacle = self.cluster.folder / f"tmp/spmix_appdir_0_{job}.0"
        obstacle.mkdir()
        self.addCleanup(obstacle.rmdir)
        self.cluster.run("scontrol", "release", job)
        ended = self.finished(job)
        self.assertIn("launch failed", ended.log)
        self.assertIn("launch: srun reports success, but has not started the ranks", ended.log)
        self.assertIn("launch: exit code 5 at round 0; restart 1 of 10 from round 0", ended.log)


if __name__ == "__main__":
    unittest.main()
