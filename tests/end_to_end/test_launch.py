"""jobs/launch.py: runs that fail are started again, and end as if nothing had happened; and what it does not start again."""

import argparse
import fcntl
import pathlib
import resource
import tempfile
import unittest

import kills
import launch
import launch_parts
import test_other_ranks as other_ranks
from harness import *

STOPPED_SAFELY, USAGE, DATA_ERROR = 75, 2, 3
ROUNDS = 2000
SLOW = ["--source", "synthetic:logistic:p=100", "--loss", "logistic", "--batch", "64"]
WORDS = ["--tuning", "off", *SLOW, "--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed", "--progress", "off", "--rounds",
         str(ROUNDS)]
USUAL = [*WORDS, "--checkpoint-every", "100"]

# Stands in for a launcher on several hosts: those that the file `dead` names do not answer, and fail ranks that are put there.
FAKE_MPIRUN = """#!/bin/bash
dead() {{ grep -qx -- "$1" "{folder}/dead" 2>/dev/null; }}
printf '%s\\n' "$*" >>"{folder}/called"
if [[ ${{*: -1}} == hostname ]]; then dead "$2" && exit 1; echo "$2"; exit; fi
words=(--oversubscribe)
while [[ $1 == -* ]]; do
  case $1 in
    --hostfile) while read -r host _; do if dead "$host"; then echo "$host is down" >&2; exit 1; fi; done <"$2"; shift 2 ;;
    -n) words+=(-n "$2"); shift 2 ;;
    *) shift ;;
  esac
done
exec {mpirun} "${{words[@]}}" "$@"
"""
FAKE_SRUN = """#!/bin/bash
dead() {{ grep -qx -- "$1" "{folder}/dead" 2>/dev/null; }}
printf '%s\\n' "$*" >>"{folder}/called"
if [[ ${{*: -1}} == hostname ]]; then dead "$2" && exit 1; echo "$2"; exit; fi
hosts=n1,n2,n3
while [[ $1 == -* ]]; do
  case $1 in
    --nodelist) hosts=$2; shift 2 ;;
    --nodes) shift 2 ;;
    -n) tasks=$2; shift 2 ;;
    *) shift ;;
  esac
done
for host in ${{hosts//,/ }}; do if dead "$host"; then echo "$host is down" >&2; exit 1; fi; done
exec {mpirun} --oversubscribe -n "$tasks" "$@"
"""
FAKE_SCONTROL = "#!/bin/sh\nprintf 'n1\\nn2\\nn3\\n'\n"


def is_running(pid):
    try:
        return bool(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


class LaunchCase(TestCase):
    whole = None

    def start(self, options, words, launcher=(MPIRUN, "--oversubscribe", "-n", "2"), script=NOTE_SCRIPT):
        """`launch.py OPTIONS -- LAUNCHER starling omd WORDS --output run`, running; ranks note their process ids."""
        log, wrapper = self._wrapper(script) if launcher else (None, [])
        job = Job([sys.executable, "-B", str(SOURCE / "jobs/launch.py"), "--backoff", "0.05", *options, "--", *launcher, *wrapper,
                   STARLING, "omd", *words, "--output", "run"], self.folder, log)
        self.addCleanup(job.close)
        return job

    def same_again(self, job):
        """The same command as the job's, running."""
        again = Job([sys.executable, "-B", str(SOURCE / "jobs/launch.py"), "--", *self.story()["words"]], self.folder, job.log)
        self.addCleanup(again.close)
        return again

    def finished(self, job, code=0):
        result = job.finish()
        self.assertEqual(result.code, code, result)
        return result

    def newest(self):
        return launch_parts.RunFolder(self.folder / "run").newest_checkpoint()[0]

    def kill(self, job, after=0, ranks=2):
        """Kills the last rank once all ranks hold a checkpoint that is newer; the round of the newest then."""
        wait_until(lambda: self.newest() > after or job.process.poll() is not None, "there is a newer checkpoint")
        pids = job.pids(ranks)
        for path in job.log.glob("pid.*"):
            path.unlink()
        os.kill(pids[-1], signal.SIGKILL)
        return self.newest()

    def story(self):
        return json.loads((self.folder / "run/launch.json").read_text())

    def tool(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(folder=self.folder, mpirun=shutil.which(MPIRUN)))
        path.chmod(0o755)
        return str(path)

    def with_environment(self, **variables):
        for name, value in variables.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(lambda n=name, b=before: os.environ.pop(n) if b is None else os.environ.__setitem__(n, b))

    def as_usual(self, on_other_ranks=False):
        """The run has the bits and the ledgers of one that nothing has happened to."""
        if LaunchCase.whole is None:
            self.succeeded(self._start([(2, ["omd", *USUAL, "--output", "whole"], [])], None).finish())
            LaunchCase.whole = {trial: self.results(trial, "whole") for trial in (kills.Trial, other_ranks.Trial)}
        trial = other_ranks.Trial if on_other_ranks else kills.Trial
        ours, whole = self.results(trial, "run"), LaunchCase.whole[trial]
        self.assertIn("ledgers" if on_other_ranks else "private/0/ledger", ours)
        self.assertEqual(ours.keys(), whole.keys())
        self.assertEqual([name for name in ours if ours[name] != whole[name]], [])

    def results(self, trial, output):
        case = trial()
        case.folder = self.folder
        return case.results(output)


class Restarts(LaunchCase):
    def check_killed(self, times):
        job = self.start([], USUAL)
        at = 0
        for _ in range(times):
            at = self.kill(job, at)
        result = self.finished(job)
        self.assertEqual(len(re.findall(r"(?m)^launch: .*; restart \d of 10 from round \d+ in", result.err)), times, result)
        self.as_usual()
        story = self.story()
        self.assertEqual([each["exit_code"] for each in story["attempts"]], [137] * times + [0])
        self.assertEqual((story["restarts"], story["outcome"], story["exit_code"]), (times, "done", 0))
        for before, attempt in zip(story["attempts"], story["attempts"][1:]):
            self.assertEqual(attempt["from_round"], before["checkpoint"])
            self.assertGreater(attempt["from_round"], before["from_round"])
            self.assertEqual(attempt["rounds_replayed"], max(0, before["reached"] - before["checkpoint"]))
        self.assertEqual(story["rounds_replayed"], sum(each["rounds_replayed"] for each in story["attempts"]))
        # Two clients; what was played twice is charged once.
        self.assertEqual(story["privacy"], {"charged": 2 * ROUNDS, "released": 2 * ROUNDS})

    @slow
    def test_a_rank_that_is_killed_once(self):
        self.check_killed(1)

    def test_a_rank_that_is_killed_twice(self):
        self.check_killed(2)

    def test_a_run_that_ends_between_its_histograms_and_its_first_round(self):
        once = (f'[ -e {self.folder}/dead ] || [ "$OMPI_COMM_WORLD_RANK" != 0 ] || {{ : > {self.folder}/dead; '
                f'export LD_PRELOAD={os.environ["STARLING_INTERRUPTION"]} INTERRUPTION="after rename /config.ini 1 signal 9"; }}\n')
        self.write("data.csv", "\n".join(["a,b,c,y", *csv_rows(200)]) + "\n")
        words = ["--source", "data.csv", "--partition", "iid", "--mechanism", "gaussian", "--mu", "1", "--tuning", "auto", "--feature-share", "0",
                 "--progress", "off"]
        result = self.finished(self.start([], words, script=NOTE_SCRIPT.replace("echo $$", once + "echo $$", 1)), 5)
        self.assertIn("given up: failed by exit code 137 before its first round, and may have released histograms", result.err)
        self.assertIn("run/private/*/ledger says what is charged. To pay again, name another --output", result.err)
        self.assertEqual((self.folder / "run/private/0/ledger").read_text().count('"kind":"open"'), 1)
        self.assertEqual(list(self.folder.glob("run.unbegun-*")), [])

    def test_the_same_round_twice_is_given_up(self):
        """Rank 1 may write no file of more than 5 MB, and ends each time in the round, some after the 300th, that needs more."""
        limit = '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || { ulimit -c 0; ulimit -f 10000; }\n'
        words = last_given([*USUAL, "--source", "synthetic:logistic:p=2000", "--batch", "1", "--record-every", "1"])
        result = self.finished(self.start([], words, script=NOTE_SCRIPT.replace("echo $$", limit + "echo $$", 1)), FAILURE)
        self.assertRegex(result.err, "given up: the same round has failed twice .no further than round 3..")
        *_, before, last = self.story()["attempts"]
        self.assertEqual((before["checkpoint"], last["checkpoint"], last["from_round"]), (300, 300, 300))
        self.assertLessEqual(last["reached"], before["reached"])
        self.assertLess(self.story()["restarts"], 10)

    def test_ranks_that_cannot_begin_again(self):
        """A host that answers, and whose ranks die at once."""
        poison = f'[ "$OMPI_COMM_WORLD_RANK" != 1 ] || [ ! -e {self.folder}/dead ] || kill -9 $$\n'
        job = self.start([], USUAL, script=NOTE_SCRIPT.replace("echo $$", poison + "echo $$", 1))
        wait_until(self.newest, "there is a checkpoint")
        self.write("dead", "")
        self.kill(job)
        self.assertIn("given up: the same round has failed twice", self.finished(job, FAILURE).err)
        self.assertEqual((len(self.story()["attempts"]), self.story()["restarts"]), (2, 1))

    @slow
    def test_restarts_are_counted(self):
        job = self.start(["--restarts", "0"], USUAL)
        self.kill(job)
        self.assertIn("after 0 restarts", self.finished(job, FAILURE).err)

    def test_what_no_restart_mends(self):
        for words, code in ((["--step", "minus"], USAGE), (["--source", "bad.csv"], DATA_ERROR)):
            with self.subTest(words):
                self.write("bad.csv", "1,2,1\n1,two,1\n")
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                result = self.finished(self.start([], last_given([*WORDS, *words]), launcher=()), code)
                self.assertEqual(len(result.messages()), 1, result)
                self.assertNotIn("; restart ", result.err)

    def test_what_cannot_be_resumed_is_not_begun_again(self):
        job = self.start([], last_given([*WORDS, "--async", "--rounds", "1e9"]))
        wait_until(lambda: (self.folder / "run/history.csv").exists(), "it records")
        os.kill(job.pids(2)[1], signal.SIGKILL)
        result = self.finished(job, FAILURE)
        self.assertIn("a run with --async cannot be resumed", result.err)
        self.assertEqual(len(self.story()["attempts"]), 1)


class Signals(LaunchCase):
    def test_a_signal_stops_and_the_same_command_goes_on(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job = self.start([], USUAL)
                wait_until(self.newest, "there is a checkpoint")
                job.process.send_signal(number)
                result = self.finished(job, STOPPED_SAFELY)
                self.assertIn("launch: stopped by a signal", result.err)
                summary = self.summary_in("run")
                self.assertIn("stopped by a signal", " ".join(summary["notes"]))
        self.finished(self.same_again(job))
        self.as_usual()
        self.assertEqual([each["exit_code"] for each in self.story()["attempts"]], [STOPPED_SAFELY, 0])

    def test_signals_that_come_while_it_ends(self):
        """Batch scripts warn again until the launcher is gone. Once there is nothing left to stop, that changes no exit code."""
        for _ in range(4):
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            job = self.start([], [*WORDS[:-1], "10"], launcher=())
            wait_until((self.folder / "run/launch.json").exists, "the run has begun")
            while job.process.poll() is None:
                job.process.send_signal(signal.SIGUSR1)
                time.sleep(0.0005)
            self.assertIn(job.process.returncode, (0, STOPPED_SAFELY))

    def test_ranks_end_with_a_launcher_that_is_killed(self):
        words = [*USUAL[:-4], "--rounds", "1e9", "--checkpoint-every", "100"]
        job = self.start([], words)
        wait_until(lambda: self.newest() > 0 or job.process.poll() is not None, "there is a checkpoint")
        wait_until((self.folder / "run/launch.json").exists, "the launcher has written its words")
        pids = job.pids(2)
        job.process.kill()
        wait_until(lambda: not any(map(is_running, pids)), "the ranks have ended")
        job.finish()
        before = self.newest()
        again = self.same_again(job)
        wait_until(lambda: self.newest() > before or again.process.poll() is not None, "the run goes on")
        again.process.send_signal(signal.SIGTERM)
        self.finished(again, STOPPED_SAFELY)

    def test_a_launcher_that_is_killed_before_it_has_seen_the_run_begin(self):
        job = self.start([], [*USUAL[:-4], "--rounds", "1e9", "--checkpoint-every", "100"])
        pids = job.pids(2)
        job.process.send_signal(signal.SIGSTOP)
        wait_until((self.folder / "run/run-id").exists, "the run has begun")
        job.process.kill()
        wait_until(lambda: not any(map(is_running, pids)), "the ranks have ended")
        job.finish()
        self.assertFalse((self.folder / "run/launch.json").exists())
        before = self.newest()
        again = Job([sys.executable, "-B", str(SOURCE / "jobs/launch.py"), "--", *job.process.args[job.process.args.index("--") + 1:]], self.folder, job.log)
        self.addCleanup(again.close)
        wait_until(lambda: self.newest() > before or again.process.poll() is not None, "the run goes on")
        again.process.send_signal(signal.SIGTERM)
        self.finished(again, STOPPED_SAFELY)
        self.assertEqual(len(self.story()["attempts"]), 2)
        self.assertFalse((self.folder / "run.launch.json").exists())

    def test_a_signal_after_a_restart_is_passed_on_at_once(self):
        """Ranks are known to have begun, so that nobody waits for as long as they might take."""
        words = [*USUAL[:-4], "--rounds", "1e9", "--checkpoint-every", "100"]
        run = "import sys, launch; launch.STARTUP = 1e9; sys.exit(launch.main())"
        log, wrapper = self._wrapper(NOTE_SCRIPT)
        with_path = ["env", f"PYTHONPATH={SOURCE / 'jobs'}", sys.executable, "-B", "-c", run]
        job = Job([*with_path, "--backoff", "0.05", "--", MPIRUN, "--oversubscribe", "-n", "2", *wrapper, STARLING, "omd", *words,
                   "--output", "run"], self.folder, log)
        self.addCleanup(job.close)
        at = self.kill(job)
        wait_until(lambda: self.newest() > at or job.process.poll() is not None, "the run goes on")
        job.process.send_signal(signal.SIGTERM)
        self.finished(job, STOPPED_SAFELY)

    def test_a_terminal_that_goes_away_with_the_log(self):
        """SIGHUP stops the run safely, and so it ends although no message can be written."""
        job = Job(["bash", "-c", 'exec "$@" 2>/dev/full', "bash", sys.executable, "-B", str(SOURCE / "jobs/launch.py"), "--backoff", "0.05", "--",
                   STARLING, "omd", *last_given([*USUAL, "--rounds", "1e9"]), "--output", "run"], self.folder, None)
        self.addCleanup(job.close)
        wait_until(lambda: self.newest() or job.process.poll() is not None, "there is a checkpoint")
        job.process.send_signal(signal.SIGHUP)
        self.finished(job, STOPPED_SAFELY)
        self.assertEqual([each["exit_code"] for each in self.story()["attempts"]], [STOPPED_SAFELY])

    def started_while_held(self):
        """(the same command as that of a run which this process holds, the run's open folder)."""
        first = self.start([], [*WORDS[:-1], "50"])
        self.finished(first)
        folder = os.open(self.folder / "run", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        return self.same_again(first), folder

    def test_a_run_that_another_process_plays_is_waited_for(self):
        job, folder = self.started_while_held()
        time.sleep(1)
        self.assertIsNone(job.process.poll())
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.assertIn("launch: a process holds 'run': its end is waited for, up to 30 s\n", self.finished(job).err)

    @slow
    def test_a_run_that_another_process_plays_for_long(self):
        result = self.finished(self.started_while_held()[0], USAGE)
        self.assertIn("launch: another process plays the run: wait for its end, or end it, and give the same command again;", result.err)
        self.assertNotIn("which no restart mends", result.err)

    def test_a_signal_before_a_restart(self):
        job = self.start(["--backoff", "60"], USUAL)
        self.kill(job)
        told = self.folder / "run/launch.json"
        wait_until(lambda: told.exists() and "checkpoint" in self.story()["attempts"][-1], "the attempt is over")
        job.process.send_signal(signal.SIGTERM)
        self.finished(job, STOPPED_SAFELY)
        self.assertEqual(len(self.story()["attempts"]), 1)

    @slow
    def test_ranks_that_others_stop(self):
        """A host that is taken back tells its ranks. That ends the launch, or does not, as is asked for."""
        for options, code in (([], STOPPED_SAFELY), (["--through-preemption"], 0)):
            with self.subTest(options):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job = self.start(options, USUAL)
                wait_until(self.newest, "there is a checkpoint")
                os.kill(job.pids(2)[1], signal.SIGTERM)
                self.finished(job, code)
        self.as_usual()


class Hosts(LaunchCase):
    def check_dead(self, options, launcher, more, dead, ranks):
        """Kills a rank and its host, twice; those that are left go on with so many ranks, and one that is back is used again."""
        job = self.start(options, USUAL, launcher)
        at = self.kill_with_host(job, dead[0], 0, ranks[0])
        self.kill_with_host(job, dead[1], at, ranks[1])
        result = self.finished(job)
        story = self.story()
        self.assertEqual([each.get("hosts_gone") for each in story["attempts"]], [[dead[0]], [dead[1]], None])
        self.assertEqual(story["hosts_gone"], [dead[1]])
        self.assertEqual([each["ranks"] for each in story["attempts"]], list(ranks))
        for attempt in story["attempts"][1:]:
            for word in more:
                self.assertIn(word, attempt["words"])
            self.assertEqual(attempt["words"][attempt["words"].index("-n") + 1], str(attempt["ranks"]))
        self.as_usual(ranks[-1] != 2)
        return result

    def kill_with_host(self, job, host, after, ranks):
        wait_until(lambda: self.newest() > after, "there is a newer checkpoint")
        self.write("dead", host + "\n")
        return self.kill(job, after, ranks)

    @slow
    def test_fewer_hosts_have_fewer_ranks(self):
        self.write("hosts", "# two\nn1 slots=1\n\nn2 slots=1\n")
        result = self.check_dead(["--hosts", "hosts"], [self.tool("mpirun", FAKE_MPIRUN), "-n", "2"], ["--hostfile", "--oversubscribe"],
                                 ["n2", "n1"], [2, 1, 1])
        self.assertIn("on 1 of 2 hosts (gone: n2), 1 ranks after 2\n", result.err)
        self.assertRegex(result.err, r"launch: done; 2 restarts, .*hosts gone: n1, 1 ranks after 2, 4000 releases charged")

    def test_a_host_is_lost_with_its_folders(self):
        """The others go on without its clients, and it has no part in the run when it is back."""
        self.write("hosts", "n1 slots=1\nn2 slots=1\n")
        mpirun = [self.tool("mpirun", FAKE_MPIRUN), "-n", "2"]
        job = self.start(["--hosts", "hosts", "--lose-clients", "exponential"], [*USUAL, "--clients", "4", "--private", "own"], mpirun)
        wait_until(lambda: self.newest() > 0, "there is a checkpoint")
        self.write("dead", "n2\n")
        pids = job.pids(2)
        (self.folder / "own/1").rename(self.folder / "disk-of-n2")
        with contextlib.suppress(ProcessLookupError):  # it may have missed its folder
            os.kill(pids[1], signal.SIGKILL)
        (job.log / "pid.1").unlink()
        at = self.newest()
        wait_until(lambda: len(self.story()["attempts"]) == 2, "it goes on")
        self.write("dead", "")
        self.kill(job, at, 1)
        result = self.finished(job)
        story = self.story()
        self.assertEqual([each["ranks"] for each in story["attempts"]], [2, 1, 1])
        self.assertEqual([each.get("hosts_gone") for each in story["attempts"]], [["n2"], ["n2"], None])
        for attempt in story["attempts"][1:]:
            self.assertEqual(attempt["words"][-4:], ["--lost", "missing", "--rewire", "exponential"])
        self.assertRegex(result.err, r"launch: done; 2 restarts, .*hosts gone: n2, 1 ranks after 2")
        summary = self.summary_in("run")
        self.assertEqual(summary["mass"], 2)
        self.assertEqual([each["clients"] for each in summary["lost"]], [[2, 3]])

    def test_clients_that_cannot_be_lost(self):
        for command, words, said in (("omd", USUAL, "without --private"), ("infer", ["--private", "own"], "only omd can")):
            done = subprocess.run([sys.executable, "-B", str(SOURCE / "jobs/launch.py"), "--lose-clients", "--", MPIRUN, "-n", "2", STARLING,
                                   command, *words, "--output", "run"], cwd=self.folder, env=environment(), capture_output=True, text=True)
            self.assertEqual((done.returncode, said in done.stderr), (USAGE, True), done.stderr)

    @slow
    def test_srun_with_a_host_that_is_dead(self):
        self.tool("scontrol", FAKE_SCONTROL)
        self.with_environment(SLURM_JOB_NODELIST="n[1-3]", PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        result = self.check_dead([], [self.tool("srun", FAKE_SRUN), "-n", "2"], ["--nodelist", "--overcommit"], ["n2", "n3"], [2, 2, 2])
        self.assertIn("on 2 of 3 hosts (gone: n2)", result.err)
        self.assertIn("on 2 of 3 hosts (gone: n3)", result.err)

    def test_ranks_of_hosts(self):
        """As many for a slot as at first; of hosts alike without slots."""
        self.with_environment(SLURM_NTASKS="9")
        for launcher, lines, left, ranks, words in (
                (["mpirun", "-np", "8", "--mca", "a", "b"], {"n1": "n1 slots=4", "n2": "n2 slots=4"}, ["n2"], 4,
                 ["mpirun", "-np", "4", "--mca", "a", "b"]),
                (["mpirun", "--np", "5"], {"n1": "n1", "n2": "n2"}, ["n1"], 3, ["mpirun", "--np", "3"]),
                (["mpirun", "-n", "6"], {"n1": "n1 slots=4", "n2": "n2 slots=2"}, ["n1"], 4, ["mpirun", "-n", "4"]),
                (["srun", "-n8"], {"n1": "n1", "n2": "n2"}, ["n1"], 4, ["srun", "-n4"]),
                (["srun", "--ntasks=8"], {"n1": "n1", "n2": "n2"}, ["n1"], 4, ["srun", "--ntasks=4"]),
                (["srun", "--mpi=pmix"], {"n1": "n1", "n2": "n2", "n3": "n3"}, ["n1", "n3"], 6, ["srun", "-n", "6", "--mpi=pmix"])):
            with self.subTest(launcher):
                given = launch_parts.Words([*launcher, STARLING, "omd", *USUAL, "--output", "run"])
                hosts = launch_parts.Hosts(given, None)
                hosts.lines, hosts.left = lines, left
                self.assertEqual(hosts.fitting(), ranks)
                self.assertEqual(given.launcher(hosts.fitting()), words)

    @slow
    def test_parties_keep_their_ranks(self):
        given = launch_parts.Words([MPIRUN, "-n", "2", STARLING, "vertical", "--output", "run"])
        self.assertEqual(given.why_as_many_ranks(), "its ranks are parties")

    @slow
    def test_no_host_is_left(self):
        self.write("hosts", "n1\n")
        job = self.start(["--hosts", "hosts"], USUAL, [self.tool("mpirun", FAKE_MPIRUN), "-n", "2"])
        self.kill_with_host(job, "n1", 0, 2)
        self.assertIn("given up: no host answers", self.finished(job, FAILURE).err)

    def test_a_host_that_says_nothing_is_gone_in_time(self):
        launcher = self.tool("mpirun", "#!/bin/sh\n[ $2 = n1 ] || sleep 100\n")
        self.write("hosts", "n1\nn2\n")
        words = launch_parts.Words([launcher, "-n", "2", STARLING, "omd", *USUAL, "--output", "run"])
        hosts = launch_parts.Hosts(words, str(self.folder / "hosts"))
        patience, launch_parts.PROBE_SECONDS = launch_parts.PROBE_SECONDS, 1
        try:
            self.assertTrue(hosts.ask())
        finally:
            launch_parts.PROBE_SECONDS = patience
        self.assertEqual((hosts.left, hosts.gone()), (["n1"], ["n2"]))

    def test_words_that_would_undo_the_choice(self):
        self.write("hosts", "n1\n")
        result = self.finished(self.start(["--hosts", "nowhere"], USUAL), USAGE)
        self.assertIn("--hosts 'nowhere'", result.err)
        result = self.finished(self.start([], ["--resume", "run", "--join", "2"]), USAGE)
        self.assertIn("a restart would let clients join once more", result.err)
        for launcher, text in (((MPIRUN, "--host", "n1", "-n", "2"), "--host among the words"), ((MPIRUN,), "mpirun without -n")):
            result = self.finished(self.start(["--hosts", "hosts"], USUAL, launcher), USAGE)
            self.assertIn(text, result.err)


class Intervals(LaunchCase):
    def test_the_interval_is_the_best(self):
        for cost, mtbf in ((0.1, 3600), (20, 86400)):
            best = launch_parts.best_interval(cost, mtbf)
            least = launch_parts.overhead(best, cost, mtbf)
            for factor in (0.9, 1.1):
                self.assertLess(least, launch_parts.overhead(factor * best, cost, mtbf))

    @slow
    def test_a_cost_that_is_measured_changes_the_interval(self):
        """The run stops once, safely, since the first interval is far too long."""
        job = self.start(["--mtbf", str(0.5 / 3600)], last_given([*WORDS, "--rounds", "6000"]))
        self.finished(job)
        story = self.story()
        interval = story["interval"]
        self.assertEqual(interval["mtbf"], 0.5)
        self.assertEqual(interval["seconds"], max(0.1, (2 * interval["cost"] * 0.5) ** 0.5))
        attempts = story["attempts"]
        every = [each["words"][each["words"].index("--checkpoint-every") + 1] for each in attempts]
        self.assertEqual(every[0], "0.50s")
        self.assertEqual((len(attempts), story["restarts"]), (2, 0), story)
        self.assertEqual((attempts[0]["exit_code"], every[1]), (STOPPED_SAFELY, launch_parts.as_option(interval["seconds"])))
        self.assertIn(f"checkpoint-every = {every[1]}", (self.folder / "run/config.ini").read_text())

    def test_a_cost_that_cannot_be_measured_leaves_no_file(self):
        """Above all on a disk that the measurement has filled."""
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))
            with self.assertRaises(OSError):
                launch_parts.checkpoint_cost(self.folder, 100000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, handler)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertGreater(launch_parts.checkpoint_cost(self.folder, 100000), 0)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing_is_left_in_the_folder_for_temporary_files(self):
        """Of a launcher that was killed: it makes a folder there when it has a host file to write."""
        before = set(os.listdir(tempfile.gettempdir()))
        alive = launch.Launch(argparse.Namespace(hosts=None, mtbf=None, lose_clients=None), [STARLING, "omd", "--output", "run"])
        self.assertEqual([name for name in set(os.listdir(tempfile.gettempdir())) - before if name.startswith("starling-launch-")], [], alive)

    def test_dry_run(self):
        result = self.finished(self.start(["--dry-run"], WORDS))
        first, again = result.out.splitlines()
        self.assertIn("omd --checkpoint-every 60s --tuning off", first)
        self.assertTrue(again.endswith("omd --resume run --checkpoint-every 60s --progress off"), again)
        result = self.finished(self.start(["--dry-run"], USUAL))
        self.assertNotIn("60s", result.out)
        self.assertFalse((self.folder / "run").exists())
        self.write("hosts", "n1 slots=1\nn2 slots=1\n")
        result = self.finished(self.start(["--dry-run", "--hosts", "hosts", "--lose-clients", "ring"], [*USUAL, "--private", "own"]))
        first, again = result.out.splitlines()
        for line in (first, again):
            self.assertIn(" --hostfile hosts ", line)
        self.assertIn(" --resume run --", again)
        self.assertTrue(again.endswith(" --lost missing --rewire ring"), again)

    def test_a_wrong_file_is_said_as_the_program_says_it(self):
        self.write("run.ini", "output = run\nepsilon = x1\n")
        job = Job([sys.executable, "-B", str(SOURCE / "jobs/launch.py"), "--", STARLING, "omd", "--config", "run.ini"], self.folder, None)
        self.addCleanup(job.close)
        self.assertIn("run.ini:2: epsilon: ", self.finished(job, USAGE).err)


if __name__ == "__main__":
    unittest.main()
