"""What jobs/slurm.sh does around a run: stops, copies, resumes, and disks that fail it. `srun` and `scontrol` are stand-ins
that note what they are told; the program is the real one, on one rank. Under a real SLURM: test_jobs.py, test_stops.py."""

import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end_to_end"))

from harness import *  # noqa: E402, F403

JOB = "7"
STOPPED_SAFELY = 75
# Settings of the run, which by the script's own words would be chosen by the rule.
WORDS = ["--source", "synthetic:drift:informative=1", "--batch", "8", "--domain", "ball:5", "--step", "1", "--mechanism", "laplace",
         "--tuning", "off", "--epsilon", "1", "--noise-key", "seed", "--progress", "off"]
ENDLESS = [*WORDS, "--rounds", "1e9"]

# Takes the place of the program, as its process does where it is the only task.
SRUN = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
printf '%s\\n' "$*" >>"$NOTES/srun"
echo $$ >"$NOTES/pid"
exec "$@"
"""
# Ranks that count warnings, and take a while to end.
COUNTING_SRUN = """#!/bin/bash
trap 'echo USR1 >>"$NOTES/signals"' USR1
mkdir -p "$SCRATCH/run-omd-7"
echo begun >"$SCRATCH/run-omd-7/run-id"
echo $$ >"$NOTES/pid"
end=$((SECONDS + 3))
while ((SECONDS < end)); do sleep 0.1; done
exit 75
"""
SCONTROL = """#!/bin/bash
printf '%s\\n' "$*" >>"$NOTES/scontrol"
if [[ $1 == show ]]; then echo "JobId=7 $SHOWN"; fi
"""
FAILING_CP = """#!/bin/bash
echo "cp: error writing '${@: -1}/run.h5': Disk quota exceeded" >&2
mkdir -p -- "${@: -1}"
exit 1
"""


class Around(TestCase):
    def setUp(self):
        super().setUp()
        self.notes = self.folder / "notes"
        self.notes.mkdir()
        self.tool("srun", SRUN)
        self.tool("scontrol", SCONTROL)
        self.scratch, self.results = self.folder / "scratch", self.folder / "results"

    def tool(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def start(self, words, script="omd", place=SOURCE, **variables):
        outside = {name: value for name, value in environment().items() if not name.startswith("SLURM_")}
        variables = {"SLURM_JOB_ID": JOB, "STARLING": str(pathlib.Path(STARLING).resolve()),
                     "RESULTS": str(self.results), "SCRATCH": str(self.scratch), "NOTES": str(self.notes),
                     "SHOWN": "StartTime=2030-01-01T00:00:00 PreemptTime=None",
                     "PATH": f"{self.folder}/bin:{os.environ['PATH']}", **variables}
        file = SOURCE / f"jobs/{script}.sbatch" if place == SOURCE else place / f"{script}.sbatch"
        job = subprocess.Popen(["bash", file, *map(str, words)], cwd=place,
                               env={**outside, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        """With the program, should a test have failed while it ran."""
        try:
            os.killpg(job.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        job.communicate()

    @staticmethod
    def finish(job):
        out, err = job.communicate(timeout=PATIENCE)
        return Result(job.returncode, out, err, 0)

    def run_job(self, words, code=0, **variables):
        result = self.finish(self.start(words, **variables))
        self.assertEqual(result.code, code, result)
        return result

    def under_way(self, name=f"run-omd-{JOB}"):
        history = self.scratch / name / "history.csv"
        wait_until(lambda: history.exists() and history.stat().st_size > 500, f"{name} has recorded something")

    def stopped(self, words, code=STOPPED_SAFELY, **variables):
        """A job that was warned of its time limit, as SLURM does."""
        job = self.start(words, **variables)
        self.under_way()
        os.kill(job.pid, signal.SIGUSR1)
        result = self.finish(job)
        self.assertEqual(result.code, code, result)
        return result

    def told(self, name):
        path = self.notes / name
        return path.read_text().splitlines() if path.exists() else []

    def requeued(self):
        return f"requeue {JOB}" in self.told("scontrol")

    def setting(self, key, name=f"run-omd-{JOB}"):
        return re.search(rf"^{key} = (.*)$", (self.scratch / name / "config.ini").read_text(), re.MULTILINE)[1]

    def summary(self, folder):
        return json.loads((folder / "summary.json").read_text())

    def same_as_whole(self, folder, words):
        """The run has the bits of one that nothing has happened to."""
        self.run_job(words, SLURM_JOB_ID="1")
        whole = self.scratch / "run-omd-1"
        self.assertEqual((folder / "history.csv").read_text(), (whole / "history.csv").read_text())
        for key in ("rounds", "accuracy", "mass", "final_model", "consensus_error"):
            self.assertEqual(bits(self.summary(folder)[key]), bits(self.summary(whole)[key]), key)

    @slow
    def test_how_often_checkpoints_come(self):
        few = [*WORDS, "--rounds", "50"]
        self.write("own.ini", "deadline = 5\n")
        rows = "\n".join(csv_rows(2000)) + "\n"
        feeders = []
        for client in range(5):
            pipe = self.folder / f"feed-{client}"
            os.mkfifo(pipe)
            feeders.append(threading.Thread(target=pipe.write_text, args=[rows], daemon=True))
            feeders[-1].start()
        for job, (words, every) in enumerate([
                ([], "60s"), (["--checkpoint-every", "90s"], "90s"), (["--checkpoint-every=9"], "9"),
                (["--async"], "0"), (["--deadline", "5"], "0"), (["--config", self.folder / "own.ini"], "0"),
                (["--audit"], "0"), (["--source", self.folder / "feed-{client}"], "0")], 20):
            with self.subTest(words):
                self.run_job([*few, *words], SLURM_JOB_ID=str(job))
                self.assertEqual(self.setting("checkpoint-every", f"run-omd-{job}"), every)
        for feeder in feeders:
            feeder.join(PATIENCE)

    def test_a_price_replaces_the_scripts_own_and_no_mechanism_takes_it_away(self):
        for job, words in enumerate((["--total-epsilon", "2"], ["--seed", "1", "--mechanism=none"]), start=20):
            with self.subTest(words):
                self.run_job(["--rounds", "20", *words], SLURM_JOB_ID=str(job))
                self.assertNotRegex((self.scratch / f"run-omd-{job}/config.ini").read_text(), r"(?m)^epsilon = ")

    def test_a_copy_of_a_script_finds_what_it_needs_where_starling_is_installed(self):
        share = self.folder / "share/starling"
        share.mkdir(parents=True)
        for name in ("jobs", "topologies"):
            (share / name).symlink_to(SOURCE / name)
        (self.folder / "bin/starling").symlink_to(pathlib.Path(STARLING).resolve())
        (self.folder / "mine/here").mkdir(parents=True)
        shutil.copy(SOURCE / "jobs/omd.sbatch", self.folder / "mine/here/omd.sbatch")
        result = self.run_job(["--progress", "off"], place=self.folder / "mine/here", STARLING="")
        self.assertIn("epsilon = 1 ", result.out)
        self.assertIn("/share/starling/jobs/../topologies/unbalanced-5.topo", result.out)
        (self.folder / "bin/starling").unlink()
        alone = self.run_job([], 2, place=self.folder / "mine/here", STARLING="")
        self.assertIn("no slurm.sh in jobs/", alone.err)
        shutil.copy(SOURCE / "jobs/slurm.sh", self.folder / "mine/here/slurm.sh")
        half = self.run_job([], 2, place=self.folder / "mine/here")
        self.assertIn("no defaults.sh beside ./slurm.sh", half.err)
        self.assertIn("Copy the whole folder", half.err)

    def task(self, **variables):
        """Starts the first task of a job array by `starling sweep --slurm`."""
        outside = {name: value for name, value in environment().items() if not name.startswith("SLURM_")}
        return subprocess.Popen(["bash", self.folder / "array.sbatch"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                env={**outside, "NOTES": str(self.notes), "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                                     "SLURM_JOB_ID": JOB, "SLURM_ARRAY_TASK_ID": "1", **variables})

    def test_a_task_of_a_sweep_goes_back_into_the_queue_and_pays_nothing_twice(self):
        self.tool("ranks", '#!/bin/bash\nshift 2\necho $$ >"$NOTES/pid"\nexec "$@"\n')
        for kind, told, goes_on in (("", "script", True), ("", "ranks", False), ("async = true\n", "script", False)):
            with self.subTest(kind, told=told):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                (self.notes / "scontrol").unlink(missing_ok=True)
                self.write("s.ini", "[sweep]\ncommand = omd\nlauncher = ranks\n[options]\nsource = synthetic:drift\nclients = 2\n"
                                    f"tuning = off\nmechanism = none\nrounds = 1000000000\nseed = 1 | 2\n{kind}")
                self.succeeded(self.run_alone(["sweep", "s.ini", "--output", "out", "--slurm", "array.sbatch"]))
                job = self.task()
                self.addCleanup(self.end, job)
                history = self.folder / "out/seed-1/history.csv"
                wait_until(lambda: history.exists() and history.stat().st_size > 500, "the run has recorded something")
                os.kill(job.pid if told == "script" else int((self.notes / "pid").read_text()), signal.SIGUSR1)
                result = self.finish(job)
                self.assertEqual((result.code, self.requeued()), (STOPPED_SAFELY, True) if goes_on else (0, False), result)
                if not kind:
                    continue
                before = tree(self.folder / "out")
                again = self.finish(self.task(SLURM_RESTART_COUNT="1"))
                self.assertEqual(again.code, 2, again)
                self.assertIn("a new start would pay for its releases again", again.err)
                self.assertEqual(tree(self.folder / "out"), before)

    def test_a_wrong_option_is_the_ranks_to_refuse(self):
        result = self.run_job(["--step", "minus"], 2)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertEqual(list(self.results.iterdir()), [])

    def test_options_after_the_script_when_a_run_goes_on(self):
        self.run_job([*WORDS, "--rounds", "300"])
        result = self.run_job(["--rounds", "500", "--epsilon", "3", "--checkpoint-every=50", "--json"], SLURM_JOB_ID="8",
                              RESUME=f"run-omd-{JOB}/")
        self.assertIn("not used: --epsilon 3: a run that goes on", result.err)
        self.assertEqual(json.loads(result.out)["rounds"], 500)
        self.assertEqual((self.setting("checkpoint-every"), self.setting("epsilon")), ("50", "1"))
        self.assertEqual(tree(self.results / f"run-omd-{JOB}"), tree(self.scratch / f"run-omd-{JOB}"))
        self.assertEqual(sorted(path.name for path in self.results.iterdir()), [f"run-omd-{JOB}"])
        self.same_as_whole(self.results / f"run-omd-{JOB}", [*WORDS, "--rounds", "500"])

    def test_without_options_the_scripts_own_rounds_are_not_the_runs(self):
        self.run_job([*WORDS, "--rounds", "300"])
        result = self.run_job([], SLURM_JOB_ID="8", RESUME=f"run-omd-{JOB}")
        self.assertIn("has played all its rounds", result.err)
        self.assertEqual(self.summary(self.results / f"run-omd-{JOB}")["rounds"], 300)

    def test_a_copy_that_fails_is_said_and_the_job_goes_back(self):
        self.tool("cp", FAILING_CP)
        result = self.stopped(ENDLESS)
        self.assertIn("Disk quota exceeded", result.err)
        self.assertIn(f"cannot copy {self.scratch}/run-omd-{JOB} to {self.results}", result.err)
        self.assertIn("goes back into the queue", result.err)
        self.assertTrue(self.requeued())
        self.assertEqual(list(self.results.iterdir()), [])
        self.assertTrue((self.scratch / f"run-omd-{JOB}/summary.json").exists())

    def test_a_copy_that_fails_is_no_success(self):
        self.run_job([*WORDS, "--rounds", "300"])
        before = tree(self.results / f"run-omd-{JOB}")
        self.tool("cp", FAILING_CP)
        self.run_job(["--rounds", "400"], 5, SLURM_RESTART_COUNT="1")
        self.assertEqual(tree(self.results / f"run-omd-{JOB}"), before)
        self.assertEqual(self.summary(self.scratch / f"run-omd-{JOB}")["rounds"], 400)
        self.assertFalse(self.requeued())

    def test_a_second_warning_is_not_passed_on(self):
        self.tool("srun", COUNTING_SRUN)
        job = self.start(ENDLESS)
        wait_until((self.notes / "pid").exists, "srun runs")
        for _ in range(3):
            os.kill(job.pid, signal.SIGUSR1)
            time.sleep(0.3)
        self.assertEqual(self.finish(job).code, STOPPED_SAFELY)
        self.assertEqual(self.told("signals"), ["USR1"])

    def stopped_by_others(self, shown, code):
        """SLURM tells the ranks alone, and shows this of the job."""
        job = self.start(ENDLESS, SHOWN=shown)
        self.under_way()
        os.kill(int((self.notes / "pid").read_text()), signal.SIGTERM)
        result = self.finish(job)
        self.assertEqual(result.code, code, result)
        return result

    def test_preempted_now(self):
        self.stopped_by_others("PreemptEligibleTime=2030-01-01T00:00:05 PreemptTime=2030-01-01T00:01:00 "
                               "StartTime=2030-01-01T00:00:05 EndTime=Unknown", STOPPED_SAFELY)
        self.assertTrue(self.requeued())

    def test_preempted_in_an_earlier_life_and_stopped_by_the_user_now(self):
        result = self.stopped_by_others("PreemptEligibleTime=2030-01-01T00:00:05 PreemptTime=2030-01-01T00:01:00 "
                                        "StartTime=2030-01-01T00:02:30 EndTime=Unknown", 0)
        self.assertFalse(self.requeued())
        self.assertIn("stopped by a signal, safely", result.err)

    @slow
    def test_scratch_that_has_lost_files(self):
        for lost in (["run-id"], ["private/*/checkpoint-*"], ["clients/0.h5", "private/0/journal"], ["summary.json"]):
            with self.subTest(lost):
                self.stopped(ENDLESS)
                work = self.scratch / f"run-omd-{JOB}"
                stopped_at = self.summary(work)["rounds"]
                for path in [path for pattern in lost for path in work.glob(pattern)]:
                    path.unlink()
                more = str(stopped_at + 100)
                result = self.run_job(["--rounds", more], SLURM_RESTART_COUNT="1")
                self.assertIn(f"{work} has lost files", result.err)
                self.assertIn(f"goes on after round {stopped_at}", result.err)
                self.assertEqual(len(list(self.scratch.glob("*.incomplete-*"))), 1)
                self.same_as_whole(self.results / f"run-omd-{JOB}", [*WORDS, "--rounds", more])
                shutil.rmtree(self.scratch)
                shutil.rmtree(self.results)

    def test_scratch_that_is_further_than_the_copy(self):
        """A node dies after the run has gone on: nothing was brought back, and nothing is missing."""
        self.stopped(ENDLESS)
        stopped_at = self.summary(self.results / f"run-omd-{JOB}")["rounds"]
        private = self.scratch / f"run-omd-{JOB}/private/0"

        def newest():
            return max((int(path.name[11:]) for path in private.glob("checkpoint-*[0-9]")), default=0)

        job = self.start(["--checkpoint-every", "50"], SLURM_RESTART_COUNT="1")
        wait_until(lambda: newest() > stopped_at + 200, "there are newer checkpoints")
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate()
        at = newest()
        (self.results / f"run-omd-{JOB}/loss-again.svg").write_text("a picture that somebody has drawn beside the copy")
        self.assertEqual(self.summary(self.results / f"run-omd-{JOB}")["rounds"], stopped_at)
        result = self.run_job(["--rounds", str(at + 300)], SLURM_RESTART_COUNT="2")
        self.assertNotIn("has lost files", result.err)
        self.assertGreater(int(re.search(r"goes on after round (\d+)", result.err)[1]), stopped_at)
        self.assertEqual(list(self.scratch.glob("*.incomplete-*")), [])
        self.same_as_whole(self.results / f"run-omd-{JOB}", [*WORDS, "--rounds", str(at + 300)])

    def test_what_cannot_be_resumed_is_not_begun_again(self):
        result = self.stopped([*ENDLESS, "--async"], 0)
        self.assertFalse(self.requeued())
        self.assertIn("stopped by a signal, safely", result.err)
        before = tree(self.scratch / f"run-omd-{JOB}"), tree(self.results / f"run-omd-{JOB}")
        result = self.run_job([*ENDLESS, "--async"], 2, SLURM_RESTART_COUNT="1")
        self.assertIn(f"{self.scratch}/run-omd-{JOB} is there, and its run is of a kind that cannot be resumed", result.err)
        self.assertEqual((tree(self.scratch / f"run-omd-{JOB}"), tree(self.results / f"run-omd-{JOB}")), before)

    def test_what_has_released_histograms_is_not_begun_again(self):
        """Nor is anything paid twice where nothing was released: such a run begins in its directory."""
        words = ["--mechanism", "gaussian", "--total-epsilon", "1", "--tuning", "auto", "--rounds", "10", "--progress", "off", "--source",
                 self.write("data.csv", "\n".join(csv_rows(500)) + "\n"), "--clients", "5", "--partition", "iid"]
        run = self.scratch / f"run-omd-{JOB}"
        with interrupted("before rename /run-id:0"):
            self.run_job(words, 5)
        self.assertFalse((run / "run-id").exists())
        before = tree(run)
        again = self.run_job(words, 2, SLURM_RESTART_COUNT="1")
        self.assertIn(f"{run} cannot go on: it may have released histograms before its first round", again.err)
        self.assertEqual(tree(run), before)
        self.assertEqual(list(self.scratch.glob("*.unbegun-*")), [])
        for kind in ([], ["--async"]):
            with self.subTest(kind):
                shutil.rmtree(run)
                shutil.rmtree(self.results)
                (run / "private/0").mkdir(parents=True)
                more = [*WORDS, "--rounds", "20", *kind]
                self.run_job(more, SLURM_JOB_ID="1")
                (run / "config.ini").write_text((self.scratch / "run-omd-1/config.ini").read_text().replace("run-omd-1", run.name))
                (run / "run-is-beginning").touch()
                self.assertIn("it begins now", self.run_job(more, SLURM_RESTART_COUNT="1").err)
                shutil.rmtree(self.scratch / "run-omd-1")


if __name__ == "__main__":
    unittest.main()
