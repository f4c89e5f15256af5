"""Checkpoints and --resume: a run that was stopped or killed ends as if nothing had happened."""

import unittest

from harness import *
import kills

STOPPED_SAFELY = 75
# Some 100 µs a round.
SLOW = ["--source", "synthetic:logistic:p=100", "--loss", "logistic", "--batch", "64"]
WORDS = [*SLOW, "--mechanism", "laplace", "--epsilon", "2", "--noise-key", "seed", "--progress", "off"]


class Resume(TestCase):
    # What most tests play, and what it leaves where nothing happens to it: played once for all of them.
    USUAL = [*WORDS, "--rounds", "1200", "--checkpoint-every", "200"]
    usual_results = None

    def read(self, name):
        return (self.folder / name).read_text()

    def checkpoints(self, rank=0, run="run"):
        return checkpoints_in(self.folder / run / "private" / str(rank))

    def stopped(self, ranks, words, output="run", number=signal.SIGUSR1, written=1):
        """A run that a signal to its last rank has stopped after it had written a checkpoint, or several."""
        with interrupted(f"after rename /private/{ranks - 1}/checkpoint-:{written - 1}", number):
            result = self.run_noted(ranks, [*words, "--output", output])
        self.assertEqual(result.codes, [STOPPED_SAFELY] * ranks, result)
        return result

    def results(self, output):
        trial = kills.Trial()
        trial.folder = self.folder
        return trial.results(output)

    def same(self, first, second):
        """Both runs left the same, to the bit."""
        self.assertEqual(first.keys(), second.keys())
        for name in first:
            self.assertEqual(first[name], second[name], name)

    def as_usual(self, output):
        """The run has left what the usual words leave."""
        if Resume.usual_results is None:
            self.good(2, [*self.USUAL, "--output", "whole"])
            Resume.usual_results = self.results("whole")
        self.same(Resume.usual_results, self.results(output))

    def refused(self, words, code, *texts):
        result = self.run_ranks(2, words)
        message = self.message_of(result, code)
        for text in texts:
            self.assertIn(text, message)

    def test_a_stopped_run_goes_on_where_it_was(self):
        result = self.stopped(2, self.USUAL)
        self.assertIn("starling omd --resume run goes on from here", result.out)
        stopped_at = json.loads(self.read("run/summary.json"))["rounds"]
        self.assertLess(stopped_at, 1200)
        self.assertEqual(self.checkpoints()[-1], stopped_at)
        again = self.good(2, ["--resume", "run", "--progress", "on"])
        self.assertIn(f"the run goes on after round {stopped_at}", again.err)
        self.assertNotRegex(again.err, r"round +1/")
        self.as_usual("run")
        # Nothing is left to do, and nothing is done.
        before = tree(self.folder / "run")
        finished = self.good(2, ["--resume", "run", "--json"])
        self.assertIn("has played all its rounds", finished.err)
        self.assertEqual(finished.summary()["rounds"], 1200)
        self.assertEqual(tree(self.folder / "run"), before)

    def test_options_may_repeat_what_the_run_has(self):
        """Its config.ini states no share of scores and no dropout."""
        self.stopped(2, self.USUAL)
        for word in ("--score-share", "--dropout"):
            other = self.run_ranks(2, ["--resume", "run", word, "0.1"])
            self.assertIn(f"({word[2:]} = 0, here 0.1)", other.err)
        self.good(2, ["--resume", "run", "--score-share", "0", "--dropout", "0.0"])
        self.as_usual("run")

    def test_a_run_that_goes_on_has_no_statement_until_it_ends(self):
        """The statement of its first part would state less than was released."""
        self.stopped(2, self.USUAL)
        self.assertTrue((self.folder / "run/privacy.txt").exists())
        with interrupted("after rename /private/1/checkpoint-:0", signal.SIGKILL):
            self.run_noted(2, ["--resume", "run"])
        for name in ("summary.json", "privacy.txt"):
            self.assertFalse((self.folder / "run" / name).exists(), name)
        self.good(2, ["--resume", "run"])
        self.as_usual("run")

    @slow
    def test_without_checkpoints_only_a_signal_leaves_one_and_the_end_takes_it_away(self):
        words = [*WORDS, "--rounds", "12000"]
        self.good(2, [*words, "--output", "whole"])
        self.assertEqual(sorted(path.name for path in (self.folder / "whole/private/0").iterdir()),
                         ["ledger", "ledger.head", "metrics.csv"])
        with interrupted("after write /history.csv:5", signal.SIGTERM):
            result = self.run_noted(2, [*words, "--output", "run"])
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
        self.assertEqual(len(self.checkpoints()), 1)
        self.good(2, ["--resume", "run"])
        self.same(self.results("whole"), self.results("run"))
        self.assertEqual(sorted(path.name for path in (self.folder / "run/private/0").iterdir()),
                         ["ledger", "ledger.head", "metrics.csv"])

    def test_checkpoints_come_by_the_clock(self):
        words = [*WORDS, "--rounds", "1e9", "--checkpoint-every", "0.3s"]
        job = self.start(3, [*words, "--clients", "5", "--output", "run"])
        pids = job.pids(3)
        seen = set()

        def several():
            seen.update(self.checkpoints())
            return len(seen) > 4

        wait_until(several, "there are several checkpoints")
        self.assertLessEqual(len(self.checkpoints()), 4, "old ones are taken away")
        os.kill(pids[1], signal.SIGUSR1)
        result = job.finish()
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 3, result)
        ends = [self.checkpoints(rank)[-1] for rank in range(3)]
        self.assertEqual(len(set(ends)), 1, ends)

    @slow
    def test_a_finished_run_may_have_more_rounds(self):
        words = [*WORDS, "--clients", "3", "--average", "all"]
        self.good(2, [*words, "--rounds", "3000", "--output", "whole", "--checkpoint-every", "1000"])
        self.good(2, [*words, "--rounds", "1500", "--output", "run", "--checkpoint-every", "1000"])
        self.assertEqual(self.checkpoints()[-1], 1500)
        self.good(2, ["--resume", "run", "--rounds", "3000"])
        self.same(self.results("whole"), self.results("run"))
        self.refused(["--resume", "run", "--rounds", "2000", "--step", "2"], 2, "step = 1, here 2")
        self.refused(["--resume", "whole", "--rounds", "4000", "--average", "tail"], 2, "average = all, here tail")

    def test_rounds_that_clients_sit_out_count_as_the_ledger_has_them(self):
        words = ["--source", "synthetic:two-gaussians:n=480", "--clients", 4, "--batch", 4, "--mechanism", "gaussian", "--epsilon", 1,
                 "--noise-key", "seed", "--absent", "freeze", "--dropout", 0.3, "--checkpoint-every", 50, "--progress", "off"]
        whole = self.summary_of(1, words, "sitting")["privacy"]
        with interrupted("checkpoint:0"):
            self.run_ranks(1, [*words, "--output", "cut"])
        resumed = self.run_ranks(1, ["--resume", "cut", "--json"]).summary()["privacy"]
        for name, privacy in (("sitting", whole), ("cut", resumed)):
            losses = json.loads(self.run_alone(["privacy", "ledger", f"{name}/private/0/ledger", "--json"]).out)["losses"]
            self.assertEqual(privacy["releases"], max(each["releases"] for each in losses), name)
            self.assertAlmostEqual(privacy["client_epsilon"], max(each["client_total"]["epsilon"] for each in losses), delta=1e-9)
        self.assertEqual(resumed["client_epsilon"], whole["client_epsilon"])

    @slow
    def test_secret_keys_go_on(self):
        words = [*SLOW, "--mechanism", "laplace", "--epsilon", "2", "--rounds", "1200", "--progress", "off",
                 "--checkpoint-every", "200"]
        self.stopped(2, words)
        self.good(2, ["--resume", "run"])
        for rank in range(2):
            done = self.succeeded(self.run_alone(["privacy", "ledger", self.folder / f"run/private/{rank}/ledger", "--json"]))
            losses = json.loads(done.out)["losses"][0]
            self.assertAlmostEqual(losses["client_total"]["epsilon"], 1200 * 64 * 2, delta=1e-6)

    @slow
    def test_a_damaged_checkpoint_is_not_used(self):
        self.stopped(2, self.USUAL)
        newest = self.checkpoints(1)[-1]
        path = self.folder / f"run/private/1/checkpoint-{newest}"
        content = bytearray(path.read_bytes())
        content[-3] ^= 1
        path.write_bytes(bytes(content))
        result = self.good(2, ["--resume", "run"])
        self.assertIn(f"private/1/checkpoint-{newest}': byte", result.err)
        self.assertIn("its digest is another", result.err)
        self.assertNotIn(f"goes on after round {newest}\n", result.err)
        self.as_usual("run")

    def test_no_checkpoint_is_a_beginning(self):
        self.stopped(2, self.USUAL)
        for path in (self.folder / "run/private").glob("*/checkpoint-*"):
            path.unlink()
        result = self.good(2, ["--resume", "run"])
        self.assertIn("the run begins anew", result.err)
        self.as_usual("run")

    def test_another_configuration_is_refused_with_what_differs(self):
        self.write("data.csv", "\n".join(csv_rows(4000)) + "\n")
        words = ["--source", "data.csv", "--epochs", "1000", "--batch", "20", "--mechanism", "laplace", "--epsilon", "2", "--noise-key",
                 "seed", "--checkpoint-every", "1000", "--progress", "off"]
        self.stopped(2, words)
        self.refused(["--resume", "run", "--step", "2", "--epsilon", "1"], 2, "step = 1, here 2", "epsilon = 2, here 1")
        self.refused(["--resume", "run", "--output", "other"], 2, "--resume with --output")
        self.refused(["--resume", "run", "--config", "run/config.ini"], 2, "--resume with --config")
        self.refused(["--resume", "nothing"], 2, "no such directory")
        self.refused(["--resume", "run", "--rounds", "10"], 2, "rounds are not taken back")
        other = self.run_command(1, ["infer", "--resume", "run"])
        self.assertEqual(other.code, 2, other)
        self.assertIn("has no such option. The run is of another command", other.messages()[0])
        self.write("data.csv", "\n".join(csv_rows(4000, seed=2)) + "\n")
        self.refused(["--resume", "run"], 2, "would not be the same")

    @slow
    def test_a_copy_that_is_not_whole_says_what_is_missing(self):
        words = [*SLOW, "--mechanism", "laplace", "--epsilon", "2", "--rounds", "1200", "--progress", "off",
                 "--checkpoint-every", "200"]
        self.stopped(2, words)
        key = self.folder / "run/private/1/key-1"
        content = key.read_text()
        key.unlink()
        self.refused(["--resume", "run"], 3, "private/1/key-1' is not there")
        key.mkdir()
        self.refused(["--resume", "run"], 5, "cannot read noise key file", "private/1/key-1'")
        key.rmdir()
        key.write_text(content)
        (self.folder / "run/private").rename(self.folder / "elsewhere")
        self.refused(["--resume", "run"], 2, "has no folder 'private'")
        (self.folder / "elsewhere").rename(self.folder / "run/private")
        (self.folder / "run/private/1").rename(self.folder / "run/private/1.kept")
        self.refused(["--resume", "run"], 2, "private/1' is gone")
        (self.folder / "run/private/1.kept").rename(self.folder / "run/private/1")
        shutil.rmtree(self.folder / "run/clients")
        (self.folder / "run").rename(self.folder / "moved")
        self.good(2, ["--resume", "moved"])
        self.assertEqual(len(list((self.folder / "moved/clients").glob("*.h5"))), 2)
        self.assertIn("\noutput = moved\n", self.read("moved/config.ini"))

    def test_two_do_not_resume_the_same_run(self):
        self.write("start.csv", "1,2\n3,4\n")
        words = ["--loss", "none", "--start", "start.csv", "--rounds", "1e9", "--progress", "off"]
        job = self.start(2, [*words, "--output", "run"])
        pids = job.pids(2)
        wait_until(lambda: (self.folder / "run/history.csv").exists(), "it records")
        os.kill(pids[0], signal.SIGUSR1)
        self.assertEqual(job.finish().codes, [STOPPED_SAFELY] * 2)
        configuration = self.read("run/config.ini")
        self.assertIn("\nlazy = 0\n", configuration)
        self.write("run/config.ini", configuration.replace("\nlazy = 0\n", "\nlazy = 0.5\n"))  # no ledger knows what it was
        self.refused(["--resume", "run"], 2, "the configuration", "are not those that the run began with")
        self.write("run/config.ini", configuration)
        jobs = [self.start(2, ["--resume", "run"]) for _ in range(2)]
        wait_until(lambda: any(one.process.poll() is not None for one in jobs), "one has ended")
        jobs.sort(key=lambda one: one.process.poll() is None)
        result = jobs[0].finish()
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("goes on: a process holds", result.err)
        wait_until(lambda: len(self.read("run/history.csv").splitlines()) > 2, "the other records")
        os.kill(jobs[1].pids(2)[0], signal.SIGUSR1)
        self.assertEqual(jobs[1].finish().codes, [STOPPED_SAFELY] * 2)

    def test_ranks_of_a_killed_start_are_waited_for(self):
        """A launcher that is killed leaves its ranks for some seconds."""
        for _ in range(10):
            left = self.rank_that_outlives_its_launcher()
            if left:
                break
            shutil.rmtree(self.folder / "run")
        self.assertIsNotNone(left, "each rank has ended with its launcher")
        again = self.start(2, ["--resume", "run"])
        wait_until(lambda: "ranks of an earlier start have not ended" in again._text(again._err), "it is said")
        os.kill(left, signal.SIGKILL)
        result = again.finish()
        self.assertEqual((result.code, result.codes), (0, [0, 0]), result)
        self.as_usual("run")

    def rank_that_outlives_its_launcher(self):
        """The process of a rank that is stopped and holds its folder; none if it has ended with its launcher, whose end lets it go on."""
        with interrupted("after rename /private/1/checkpoint-:0", signal.SIGSTOP):
            job = self.start(2, [*self.USUAL, "--output", "run"], waited_for=False)
        pids = job.pids(2)
        process = pathlib.Path(f"/proc/{pids[1]}")
        has_state = lambda *states: not process.exists() or (process / "stat").read_text().rpartition(")")[2].split()[0] in states
        wait_until(lambda: has_state("T"), "a rank is slow")
        job.process.kill()
        job.process.wait()
        os.kill(pids[0], signal.SIGKILL)
        try:
            os.kill(pids[1], signal.SIGSTOP)
            wait_until(lambda: has_state("T", "Z"), "it is stopped, or has ended")
            files = [os.readlink(each) for each in (process / "fd").iterdir()]
        except (ProcessLookupError, FileNotFoundError):
            return None
        return pids[1] if str(self.folder / "run/private/1") in files else None

    def test_what_cannot_be_played_again_is_said_beforehand(self):
        self.refused([*WORDS, "--rounds", "100", "--async", "--checkpoint-every", "10", "--output", "a"], 2,
                     "--checkpoint-every", "not in step")
        self.refused([*WORDS, "--rounds", "100", "--audit", "--checkpoint-every", "10", "--output", "b"], 2, "coins")

    COMPANIONS = ["reports", "journal", "metrics.csv"]

    @slow
    def test_a_checkpoint_whose_files_are_damaged_is_not_used(self):
        words = [*WORDS, "--rounds", "4000", "--checkpoint-every", "200", "--record-every", "50"]
        self.good(2, [*words, "--output", "whole"])
        whole = self.results("whole")
        self.stopped(2, words, written=2)
        older, *others, newest = self.checkpoints(1)  # far enough apart that all files grow
        for rank in range(2):
            for round in others:
                (self.folder / f"run/private/{rank}/checkpoint-{round}").unlink()
        shutil.copytree(self.folder / "run", self.folder / "kept")
        for name, harm in zip(self.COMPANIONS, ("flipped", "cut", "flipped")):
            path = self.folder / f"run/private/1/{name}"
            before, size = self.needed(older, name), self.needed(newest, name)
            self.assertLess(before, size)
            for damage in (harm, "gone"):
                with self.subTest(name, damage=damage):
                    self.put_back()
                    self.damage(path, damage, (before + size) // 2)
                    if damage == "gone":
                        found = tree(self.folder / "run")
                        self.refused(["--resume", "run"], 3, "no checkpoint is whole", f"private/1/{name}'")
                        self.assertEqual(tree(self.folder / "run"), found)
                        continue
                    result = self.good(2, ["--resume", "run"])
                    self.assertIn(f"private/1/checkpoint-{newest}': 'run/private/1/{name}'", result.err)
                    place = f"its bytes {before} to {size} are not" if damage == "flipped" else \
                        f"ends at byte {(before + size) // 2}, of {size}"
                    self.assertIn(place, result.err)
                    self.assertIn(f"goes on after round {older}\n", result.err)
                    self.same(whole, self.results("run"))

    @slow
    def test_damage_that_no_checkpoint_is_older_than_is_refused(self):
        self.stopped(2, [*WORDS, "--rounds", "1200", "--checkpoint-every", "200", "--record-every", "50"])
        for name in self.COMPANIONS:
            with self.subTest(name):
                path = self.folder / f"run/private/0/{name}"
                content = path.read_bytes()
                self.damage(path, "flipped", 40)
                found = tree(self.folder / "run")
                self.refused(["--resume", "run"], 3, "no checkpoint is whole", f"private/0/{name}' was changed",
                             "bytes 0 to")
                self.assertEqual(tree(self.folder / "run"), found, "nothing is changed before it is refused")
                path.write_bytes(content)
        self.good(2, ["--resume", "run"])

    def needed(self, round, name, rank=1):
        """Bytes of the file that the checkpoint needs."""
        path = self.folder / f"run/private/{rank}/checkpoint-{round}"
        files = json.loads(path.read_bytes().partition(b"\n")[0])["files"]
        return {file: size for file, size, _ in files}[name]

    def damage(self, path, how, at):
        content = bytearray(path.read_bytes())
        if how == "gone":
            return path.unlink()
        if how == "cut":
            del content[at:]
        else:
            content[at] ^= 1
        return path.write_bytes(bytes(content))

    def put_back(self):
        shutil.rmtree(self.folder / "run")
        shutil.copytree(self.folder / "kept", self.folder / "run")

    def test_a_run_that_goes_on_is_left_alone(self):
        job = self.start(1, [*WORDS, "--rounds", "1e9", "--output", "run"])
        (pid,) = job.pids(1)
        wait_until(lambda: (self.folder / "run/history.csv").exists(), "it records")
        result = self.run_ranks(1, ["--resume", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("goes on", result.err)
        os.kill(pid, signal.SIGUSR1)
        self.assertEqual(job.finish().codes, [STOPPED_SAFELY])

    @slow
    def test_a_full_disk_leaves_the_checkpoint_before(self):
        if os.geteuid() != 0:
            self.skipTest("a small file system can be mounted by root alone")
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)])
        job = self.start(2, [*self.USUAL, "--output", "disk/run"])
        wait_until(lambda: self.checkpoints(1, "disk/run") or job.process.poll() is not None, "a checkpoint is there")
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        result = job.finish()
        self.assertEqual(result.codes, [5, 5], result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("No space left", result.err)
        filler.unlink()
        self.good(2, ["--resume", "disk/run"])
        self.as_usual("disk/run")


if __name__ == "__main__":
    unittest.main()
