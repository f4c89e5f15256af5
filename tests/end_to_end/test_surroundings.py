"""What a run finds where it starts: streams that cannot be written, limits, a terminal that goes away, odd folders."""

import unittest

from harness import *

STOPPED_SAFELY, USAGE = 75, 2
LEARN = ["omd", "--source", "synthetic:drift:informative=1", "--clients", "2", "--mechanism", "laplace", "--epsilon", "1", "--noise-key", "seed",
         "--tuning", "off"]
SHORT = [*LEARN, "--rounds", "200", "--checkpoint-every", "20", "--output", "run"]


class Surroundings(TestCase):
    def in_shell(self, command, words, **more):
        """The exit code and standard error of starling as a shell command in which "$@" stands for the program and its words."""
        done = subprocess.run(["bash", "-c", command, "bash", STARLING, *words], cwd=more.pop("cwd", self.folder), env=environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **more)
        return done.returncode, done.stderr.decode(errors="replace")

    def rounds_played(self):
        return self.summary_in("run")["rounds"]

    def broken_pipe(self):
        """The end of a pipe for writing, whose other end is closed."""
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        return writing

    def test_messages_that_cannot_be_written_end_no_run(self):
        """As where the log lies on a full disk, or `tee` was killed."""
        pipe = self.broken_pipe()
        for stream in ("2>/dev/full", "2>&-", f"2>&{pipe}"):
            with self.subTest(stream):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                code, _ = self.in_shell(f'exec "$@" {stream}', [*SHORT, "--progress", "on"], pass_fds=[pipe])
                self.assertEqual((code, self.rounds_played()), (0, 200))
                text = [str(path) for path in (self.folder / "run").rglob("*") if path.is_file() and b"rounds/s" in path.read_bytes()]
                self.assertEqual(text, [])  # messages went into no file that was opened in place of the stream
        code, _ = self.in_shell('exec "$@" 2>/dev/full', ["omd", "--rounds", "x"])
        self.assertEqual(code, USAGE)

    def test_results_that_cannot_be_printed(self):
        """The run directory has them. A reader that leaves early, as `head`, is no fault."""
        pipe = self.broken_pipe()
        for stream, expected, said in ((">/dev/full", FAILURE, "No space left"), (">&-", FAILURE, "Bad file descriptor"),
                                       (f">&{pipe}", -signal.SIGPIPE, "")):
            with self.subTest(stream):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                code, err = self.in_shell(f'exec "$@" {stream}', [*SHORT, "--progress", "off"], pass_fds=[pipe])
                self.assertEqual((code, self.rounds_played()), (expected, 200), err)
                self.assertIn(said, err)

    def test_a_limit_on_the_sizes_of_files(self):
        """Is a full disk: it is said, and the run goes on where there is room."""
        code, err = self.in_shell('ulimit -f 16; exec "$@"', [*SHORT, "--progress", "off", "--record-every", "1"])
        self.assertEqual(code, FAILURE, err)
        self.assertRegex(err, "^starling: .*(File too large|disk is full)")
        code, err = self.in_shell('exec "$@"', ["omd", "--resume", "run", "--progress", "off"])
        self.assertEqual((code, self.rounds_played()), (0, 200), err)
        history = (self.folder / "run/history.csv").read_bytes()
        shutil.rmtree(self.folder / "run")
        self.assertEqual(self.in_shell('exec "$@"', [*SHORT, "--progress", "off", "--record-every", "1"])[0], 0)
        self.assertEqual((self.folder / "run/history.csv").read_bytes(), history)

    def test_a_limit_on_memory(self):
        code, err = self.in_shell('ulimit -v 1000000; exec "$@"', ["omd", "--source", "synthetic:logistic:p=100000", "--clients", "5000", "--mechanism",
                                                                  "none", "--tuning", "off", "--rounds", "2", "--output", "run"])
        self.assertEqual(code, FAILURE, err)
        self.assertRegex(err, r"(?m)^starling: out of memory: .*Raise the limit")

    def test_folders_of_another_owner(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be two users")
        self.folder.chmod(0o711)
        (self.folder / "theirs").mkdir(0o700)
        if subprocess.run(["setpriv", "--reuid", "12345", "test", "-x", self.folder]).returncode != 0:
            self.skipTest("another user sees nothing of the folder for temporary files")
        code, err = self.in_shell('exec "$@"', [*SHORT, "--progress", "off"])
        self.assertEqual(code, 0, err)
        (self.folder / "run").chmod(0o777)
        another = 'mkdir -p -m 777 s; export OMPI_MCA_orte_tmpdir_base=$PWD/s; exec setpriv --reuid 12345 --regid 12345 --clear-groups "$@"'
        for words, said in (([*SHORT, "--output", "theirs"], "'theirs'"), (["omd", "--resume", "run", "--rounds", "300"], "'run/private/0'")):
            code, err = self.in_shell(another, last_given([*words, "--progress", "off"]))
            self.assertEqual(code, FAILURE, err)
            self.assertIn(f"{said}: Permission denied. Check its owner and permissions", err)

    def hung_up(self, command):
        """Exit code and rounds of a run of 1,500 rounds, which gets SIGHUP when it has played some."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        words = [*LEARN, "--source", "synthetic:logistic:p=100", "--batch", "64", "--rounds", "1500", "--output", "run", "--progress", "off"]
        process = subprocess.Popen(["bash", "-c", command, "bash", STARLING, *last_given(words)], cwd=self.folder, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_until(lambda: (self.folder / "run/history.csv").exists() or process.poll() is not None, "it plays")
        process.send_signal(signal.SIGHUP)
        return process.wait(PATIENCE), self.rounds_played()

    def test_a_terminal_that_goes_away(self):
        """Stops the run as the other signals do; under nohup the run goes on."""
        code, rounds = self.hung_up('exec "$@"')
        self.assertEqual(code, STOPPED_SAFELY)
        self.assertLess(rounds, 1500)
        self.assertTrue(checkpoints_in(self.folder / "run/private/0"))
        self.assertEqual(self.hung_up('exec nohup "$@"'), (0, 1500))

    def test_nohup_holds_for_passes_over_files(self):
        process = subprocess.Popen(["nohup", STARLING, "data", "make", "two-gaussians", "--records", "50000", "--output", "data.csv"],
                                   cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_until(lambda: list(self.folder.glob("*data.csv*")) or process.poll() is not None, "it writes")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_folders_whose_name_no_configuration_can_hold(self):
        """Such a run could not be resumed: it does not begin."""
        (self.folder / "data.csv").write_text("\n".join(csv_rows(20)) + "\n")
        for name in (b"a#b", b"a\nb", b"a\xffb"):
            with self.subTest(name):
                folder = os.path.join(os.fsencode(self.folder), name)
                os.mkdir(folder)
                shutil.copy(os.fsencode(self.folder / "data.csv"), folder)
                code, err = self.in_shell('exec "$@"', ["omd", "--source", "data.csv", "--mechanism", "none", "--output", "run"], cwd=folder)
                self.assertEqual(code, USAGE, err)
                self.assertIn("could not stand in config.ini. Name it, and the folder where it is, otherwise.", err)
                self.assertEqual(os.listdir(folder), [b"data.csv"])
                code, err = self.in_shell('exec "$@"', ["omd", "--source", "data.csv", "--output", b"x\xff"])
                self.assertEqual(code, USAGE, err)


if __name__ == "__main__":
    unittest.main()
