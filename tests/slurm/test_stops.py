"""Jobs that do not run through: time limits, cancelling, `scontrol requeue` and dead ranks; what is resumed ends with the
same bits as what never stopped."""

import contextlib
import unittest

from slurm_case import *

STOPPED_SAFELY = 75
# SLURM looks at time limits twice a minute, and its shortest is a minute: the warning comes 10 to 40 s after the start.
SHORT_LIMIT = ["--time=1", "--signal=B:USR1@20"]
# Settings of the run, which by the script's own words would be chosen by the rule.
WORDS = ["--source", "synthetic:drift:informative=1", "--batch", "8", "--domain", "ball:5", "--step", "1", "--mechanism", "laplace",
         "--tuning", "off", "--epsilon", "1", "--noise-key", "seed", "--record-every", "500"]
ENDLESS = [*WORDS, "--rounds", "1e9"]


def pending(pid, number):
    """A process has got a signal and has not seen it yet."""
    masks = re.findall(r"^S(?:ig|hd)Pnd:\s*([0-9a-f]+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


class Stops(SlurmCase):
    def check_stopped(self, folder, job):
        """The run directory is whole and says that it was stopped."""
        with h5py.File(folder / f"run-omd-{job}" / "run.h5") as file:
            rounds, models = file["rounds"][()], file["model"][()]
        self.assertEqual(len(models), len(rounds))
        self.assertTrue(numpy.isfinite(models).all())
        summary = json.loads((folder / f"run-omd-{job}" / "summary.json").read_text())
        self.assertEqual(summary["rounds"], rounds[-1])
        self.assertEqual(summary["rounds_planned"], 10**9)
        self.assertIn("stopped by a signal", " ".join(summary["notes"]))
        for ours, recorded in zip(summary["final_model"], models[-1].mean(axis=0)):
            self.assertAlmostEqual(ours, recorded, delta=1e-12)

    def test_before_the_time_limit_the_run_stops_safely(self):
        scratch, results = self.folder / "scratch", self.folder / "results"
        job = self.submit("omd", *ENDLESS, options=["--ntasks=2", *SHORT_LIMIT], RESTARTS="0", SCRATCH=str(scratch),
                          RESULTS=str(results))
        ended = self.await_end(job)
        self.assertEqual((ended.state, ended.code, ended.restarts), ("FAILED", STOPPED_SAFELY, 0), ended)
        self.assertIn("not put back", ended.log)
        self.check_stopped(results, job)
        self.assertEqual(tree(results / f"run-omd-{job}"), tree(scratch / f"run-omd-{job}"))

    def test_a_signal_by_the_user_stops_for_good(self):
        job = self.submit("omd", *ENDLESS, options=["--ntasks=2"])
        self.under_way(f"run-omd-{job}")
        self.cluster.run("scancel", "--signal=USR1", job)
        ended = self.await_end(job)
        self.assertEqual((ended.state, ended.code, ended.restarts), ("COMPLETED", 0, 0), ended)
        self.assertIn(f"stopped by a signal, safely; {self.folder}/run-omd-{job} holds", ended.log)
        self.check_stopped(self.folder, job)

    def test_a_cancelled_job_keeps_its_results(self):
        scratch, results = self.folder / "scratch", self.folder / "results"
        job = self.submit("omd", *ENDLESS, options=["--ntasks=2"], SCRATCH=str(scratch), RESULTS=str(results))
        self.under_way(f"scratch/run-omd-{job}")
        self.cluster.run("scancel", job)
        ended = self.await_end(job)
        self.assertEqual((ended.state, ended.restarts), ("CANCELLED", 0), ended)
        wait_until(lambda: (results / f"run-omd-{job}").exists(), "results are back")
        self.check_stopped(results, job)
        # It has ended, and not gone back into the queue.
        self.assertEqual(self.cluster.ask("squeue", "-h", "-o", "%A %T", "-t", "PENDING,RUNNING"), "")

    def test_a_warning_while_ranks_start_is_not_lost(self):
        job = self.submit("omd", *ENDLESS, options=["--ntasks=2"], RESTARTS="0")
        wait_until(lambda: f"{job}.0" in self.cluster.ask("squeue", "-h", "-s", "-o", "%i", "-j", job), "srun has begun")
        self.cluster.run("scancel", "--batch", "--signal=USR1", job)
        ended = self.await_end(job)
        self.assertEqual((ended.state, ended.code), ("FAILED", STOPPED_SAFELY), ended)
        self.check_stopped(self.folder, job)

    def test_what_cannot_be_resumed_is_not_begun_again(self):
        """Rounds without waiting are in no step, so there is nothing to go on with: neither by itself nor by hand."""
        job = self.submit("omd", *ENDLESS, "--async", options=["--ntasks=2"])
        run = self.folder / f"run-omd-{job}"
        self.under_way(run.name)
        self.cluster.run("scancel", "--batch", "--signal=USR1", job)
        ended = self.await_end(job)
        self.assertEqual((ended.state, ended.code, ended.restarts), ("COMPLETED", 0, 0), ended)
        self.assertIn("stopped by a signal, safely", ended.log)
        before = tree(run)
        self.assertEqual(self.cluster.run("scontrol", "requeue", job).returncode, 0)
        wait_until(lambda: self.show(job)["JobState"] not in TERMINAL, "the job is back")
        ended = self.await_end(job)
        self.assertEqual((ended.state, ended.code), ("FAILED", 2), ended)
        self.assertIn(f"{run} is there, and its run is of a kind that cannot be resumed", ended.log)
        self.assertEqual(tree(run), before)


class ResumedCase(SlurmCase):
    """Runs that stopped are compared with one that did not, under mpirun."""

    def rounds_of(self, seconds, ranks):
        """So many rounds as the job at hand does in this time, on this machine."""
        words = [*WORDS, "--rounds", "20000"]
        job = self.submit("omd", *words, options=[f"--ntasks={ranks}"])
        self.finished(job)
        rate = self.summary(f"run-omd-{job}")["time"]["rounds_per_second"]
        return max(20000, int(seconds * rate))

    def check_against_uninterrupted(self, job, words):
        """The job's run has the bits of one by the same words on one rank, which is much faster."""
        done = subprocess.run([STARLING, "omd", "--clients", "5", "--topology", "topologies/unbalanced-5.topo", *last_given(words),
                               "--output", self.folder / "whole"],
                              cwd=SOURCE, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=JOB_PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_same(f"run-omd-{job}", "whole", "run.h5")
        ours, theirs = self.summary(f"run-omd-{job}"), self.summary("whole")
        self.assertEqual(ours["rounds"], ours["rounds_planned"])
        for key in ("rounds", "accuracy", "mass", "final_model", "consensus_error"):
            self.assertEqual(bits(ours[key]), bits(theirs[key]), key)
        self.assertEqual((self.folder / f"run-omd-{job}" / "history.csv").read_text(),
                         (self.folder / "whole" / "history.csv").read_text())


class Resumed(ResumedCase):
    """Resumed = uninterrupted."""

    def test_requeued_in_mid_run(self):
        words = [*WORDS, "--rounds", str(self.rounds_of(5, 2))]
        job = self.submit("omd", *words, options=["--ntasks=2"])
        self.under_way(f"run-omd-{job}")
        done = self.cluster.run("scontrol", "requeue", job)
        self.assertEqual(done.returncode, 0, done.stderr)
        ended = self.finished(job)
        self.assertEqual(ended.restarts, 1, ended)
        self.assertIn(f"goes on with {self.folder}/run-omd-{job}", ended.log)
        self.check_against_uninterrupted(job, words)

    def test_time_limit_checkpoint_requeue_finish(self):
        words = [*WORDS, "--watchdog", "300", "--rounds", str(self.rounds_of(5, 5))]
        scratch, results = self.folder / "scratch", self.folder / "results"
        job = self.submit("omd", *words, options=SHORT_LIMIT, SCRATCH=str(scratch), RESULTS=str(results))
        self.under_way(f"scratch/run-omd-{job}")
        with self.held(range(5)) as ranks:
            wait_until(lambda: all(pending(pid, signal.SIGUSR1) for pid in ranks.values()), "SLURM has warned all ranks", 90)
        ended = self.finished(job)
        self.assertEqual(ended.restarts, 1, ended)
        self.assertIn("stopped by SLURM after", ended.log)
        self.assertIn(f"goes on with {scratch}/run-omd-{job}", ended.log)
        (results / f"run-omd-{job}").rename(self.folder / f"run-omd-{job}")
        self.check_against_uninterrupted(job, words)

    def test_a_finished_job_that_is_started_again_changes_nothing(self):
        words = [*WORDS, "--rounds", "1000"]
        job = self.submit("omd", *words, options=["--ntasks=2"])
        self.finished(job)
        self.assertEqual(self.cluster.run("scontrol", "requeue", job).returncode, 0)
        wait_until(lambda: self.show(job)["JobState"] not in TERMINAL, "the job is back")
        ended = self.finished(job)
        self.assertIn(f"goes on with {self.folder}/run-omd-{job}", ended.log)
        self.check_against_uninterrupted(job, words)

    def test_another_job_goes_on(self):
        words = [*WORDS, "--rounds", str(self.rounds_of(5, 2))]
        stopped = self.submit("omd", *words, options=["--ntasks=2"])
        self.under_way(f"run-omd-{stopped}")
        self.cluster.run("scancel", "--signal=USR1", stopped)
        self.assertEqual(self.await_end(stopped).code, 0)
        other = self.submit("omd", *words, options=["--ntasks=2"], RESUME=f"run-omd-{stopped}")
        self.finished(other)
        self.assertFalse((self.folder / f"run-omd-{other}").exists())
        self.check_against_uninterrupted(stopped, words)

    def test_preempted_by_a_job_of_higher_priority(self):
        words = [*WORDS, "--rounds", str(self.rounds_of(5, 2))]
        job = self.submit("omd", *words, options=["--ntasks=2"])
        self.under_way(f"run-omd-{job}")
        urgent = self.cluster.run("sbatch", "--parsable", "--partition=urgent", f"--ntasks={cluster.CPUS}", "--wrap=sleep 2",
                                  "--output=/dev/null")
        self.assertEqual(urgent.returncode, 0, urgent.stderr)
        ended = self.finished(job)
        self.assertEqual(ended.restarts, 1, ended)
        self.assertIn("goes back into the queue", ended.log)
        self.finished(int(urgent.stdout))
        self.check_against_uninterrupted(job, words)

    def test_scratch_that_is_gone_comes_back_from_where_results_are_kept(self):
        words = [*WORDS, "--rounds", str(self.rounds_of(5, 2))]
        scratch, results = self.folder / "scratch", self.folder / "results"
        job = self.submit("omd", *words, options=["--ntasks=2"], SCRATCH=str(scratch), RESULTS=str(results))
        self.under_way(f"scratch/run-omd-{job}")
        self.cluster.run("scontrol", "requeue", job)
        wait_until(lambda: self.show(job)["JobState"] == "PENDING", "the job waits again", 60)
        shutil.rmtree(scratch)
        self.finished(job)
        (results / f"run-omd-{job}").rename(self.folder / f"run-omd-{job}")
        self.check_against_uninterrupted(job, words)

    def ranks(self):
        """Process ids of all ranks that run on the cluster, by rank."""
        found = {}
        for pid in cluster.processes_of(self.cluster.folder):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/exe").resolve().name == pathlib.Path(STARLING).resolve().name:
                    rank = re.search(rb"\0PMIX_RANK=(\d+)\0", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
                    if rank:
                        found[int(rank[1])] = pid
        return found

    @contextlib.contextmanager
    def held(self, expected):
        """All ranks stand still meanwhile, so that the job outlasts its time on however fast a machine."""
        ranks = self.ranks()
        self.assertEqual(sorted(ranks), list(expected))
        for pid in ranks.values():
            os.kill(pid, signal.SIGSTOP)
        try:
            yield ranks
        finally:
            for pid in ranks.values():
                os.kill(pid, signal.SIGCONT)

    def lose(self, number, *more, **variables):
        """A job of three ranks, the second of which gets a signal in mid-run, after checkpoints: how the job ended. Ranks are
        started again in the same allocation, and end with the bits of a run that nothing has happened to."""
        words = [*WORDS, "--rounds", str(self.rounds_of(5, 3)), *more]
        job = self.submit("omd", *words, "--checkpoint-every", "1s", options=["--ntasks=3"], **variables)
        wait_until(lambda: any((self.folder / f"run-omd-{job}/private/1").glob("checkpoint-*[0-9]")), "a checkpoint is there")
        ranks = self.ranks()
        self.assertEqual(sorted(ranks), [0, 1, 2])
        os.kill(ranks[1], number)
        ended = self.finished(job)
        self.assertEqual((self.ranks(), ended.restarts), ({}, 0), ended)
        self.assertRegex(ended.log, r"launch: exit code \d+ at round \d+; restart 1 of 10 from round [1-9]")
        self.assertRegex(ended.log, r"goes on after round [1-9]")
        self.check_against_uninterrupted(job, words)
        story = json.loads((self.folder / f"run-omd-{job}/launch.json").read_text())
        self.assertEqual((len(story["attempts"]), story["attempts"][1]["exit_code"], story["hosts_gone"]), (2, 0, []))
        return ended, story["attempts"][0]["exit_code"]

    def test_a_rank_that_is_killed(self):
        """SLURM's PMIx notices, and kills the whole step at once, whatever --kill-on-bad-exit says: no rank can name the
        round. What they have written is enough."""
        ended, code = self.lose(signal.SIGKILL)
        self.assertEqual(code, 128 + signal.SIGKILL, ended)
        self.assertRegex(ended.log, r"task 1: Killed")
        self.assertRegex(ended.log, r"STEP \S+ ON \S+ CANCELLED")

    def test_a_rank_that_is_stopped(self):
        """Nobody sees that but the others, which wait: each ends with exit code 5, one naming round and peer. When they are
        gone, SLURM's PMIx ends the rank that cannot end itself."""
        noting = self.folder / "noting"
        noting.write_text(f'#!/bin/bash\n"{pathlib.Path(STARLING).resolve()}" "$@"\ncode=$?\n'
                          f'if [[ -n ${{PMIX_RANK:-}} ]]; then echo $code >>"{self.folder}/code.$PMIX_RANK"; fi\nexit $code\n')
        noting.chmod(0o755)
        ended, _ = self.lose(signal.SIGSTOP, "--watchdog", "3", STARLING=str(noting))
        self.assertEqual([(self.folder / f"code.{rank}").read_text().split()[-2:] for rank in (0, 2)], [["5", "0"]] * 2, ended)
        said = [line for line in ended.log.splitlines() if line.startswith("starling: ")]
        self.assertEqual(len(said), 1, ended)
        self.assertRegex(said[0], r"round [1-9]\d*: waiting for .* rank 1 .*nothing came for 3 s")


class LostNode(ResumedCase):
    NODES = 2

    def test_a_node_that_is_down(self):
        """The controller takes it from the job of two nodes, which stays and ends as if nothing had happened, on the other."""
        words = [*WORDS, "--rounds", "30000"]
        job = self.submit("omd", *words, "--checkpoint-every", "1s", options=["--nodes=2", "--ntasks=4", "--ntasks-per-node=2"])
        wait_until(lambda: any((self.folder / f"run-omd-{job}/private/3").glob("checkpoint-*[0-9]")), "a checkpoint is there", 60)
        down = self.cluster.run("scontrol", "update", "nodename=node-2", "state=down", "reason=test")
        self.assertEqual(down.returncode, 0, down.stderr)
        ended = self.finished(job)
        self.assertEqual(ended.restarts, 0, ended)
        self.assertRegex(ended.log, r"on 1 of 2 hosts \(gone: node-2\), 2 ranks after 4")
        self.assertRegex(ended.log, r"launch: done; 1 restarts, .*hosts gone: node-2, 2 ranks after 4, 150000 releases charged")
        self.check_against_uninterrupted(job, words)


if __name__ == "__main__":
    unittest.main()
