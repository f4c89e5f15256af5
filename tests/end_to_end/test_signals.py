"""Signals and a killed rank: what has been recorded stays readable, and the exit code says that the state is safe."""

import contextlib
import signal
import time
import unittest

from harness import *

STOPPED_SAFELY = 75
WORDS = ["--source", "synthetic:drift:informative=1", "--rounds", "1e9", "--mechanism", "laplace", "--epsilon", "4",
         "--record-every", "500", "--output", "run"]


@needs_h5py
class Signals(TestCase):
    def recorded(self, name="run.h5"):
        """Rounds on record; empty while there are none."""
        try:
            with h5py.File(self.folder / "run" / name) as file:
                return file["rounds"][()].tolist()
        except (OSError, KeyError, RuntimeError):
            return []

    def started(self, ranks, *more, waited_for=True):
        """A run that has recorded something, the process ids of its ranks, and what is on record."""
        job = self.start(ranks, [*WORDS, *more], waited_for)
        pids = job.pids(ranks)
        wait_until(lambda: len(self.recorded()) >= 3, "something is on record")
        return job, pids, self.recorded()

    def send(self, pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # it has stopped already
                os.kill(pid, number)

    def check_record(self, before, clients):
        """Everything that was on record still is; returns the rounds."""
        with h5py.File(self.folder / "run" / "run.h5") as file:
            rounds = file["rounds"][()]
            models = file["model"][()]
        self.assertEqual(rounds[: len(before)].tolist(), before)
        self.assertTrue((numpy.diff(rounds) > 0).all())
        self.assertEqual(models.shape[1:], (clients, 5))
        self.assertGreaterEqual(len(models), len(rounds))
        self.assertTrue(numpy.isfinite(models).all())
        return rounds, models

    def check_stopped(self, job, before, clients):
        """The run has ended by itself, in order: summary and records agree."""
        result = job.finish(20)
        self.assertEqual(result.messages(), [], result)
        rounds, models = self.check_record(before, clients)
        self.assertEqual(len(models), len(rounds))
        summary = self.summary_in("run")
        self.assertEqual(summary["rounds"], rounds[-1])
        self.assertEqual(summary["rounds_planned"], 10**9)
        self.assertAlmostEqual(summary["mass"], clients, delta=1e-9)
        for ours, recorded in zip(summary["final_model"], models[-1].mean(axis=0)):
            self.assertAlmostEqual(ours, recorded, delta=1e-12)
        self.assertIn("stopped by a signal", " ".join(summary["notes"]))
        return result

    def test_signals_to_all_ranks(self):
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job, pids, before = self.started(2, "--clients", "3")
                began = time.monotonic()
                self.send(pids, number)
                result = self.check_stopped(job, before, 3)
                self.assertEqual(result.codes, [STOPPED_SAFELY] * 2, result)
                self.assertLess(time.monotonic() - began, 5)

    def test_a_signal_to_one_rank_stops_all_at_one_round(self):
        job, pids, before = self.started(4)
        self.send(pids[2:3], signal.SIGUSR1)
        result = self.check_stopped(job, before, 4)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 4, result)

    def test_a_signal_to_a_rank_without_clients(self):
        job, pids, before = self.started(3, "--clients", "2")
        self.send(pids[2:], signal.SIGUSR1)
        result = self.check_stopped(job, before, 2)
        self.assertEqual(result.codes, [STOPPED_SAFELY] * 3, result)

    def test_usr1_to_mpirun_is_forwarded(self):
        job, _, before = self.started(2, waited_for=False)
        job.process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.check_stopped(job, before, 2).code, STOPPED_SAFELY)

    @fewer
    def test_mpirun_kills_but_the_record_stays(self):
        for number in (signal.SIGINT, signal.SIGTERM) if SLOW else (signal.SIGTERM,):  # mpirun waits for five seconds
            with self.subTest(number.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job, pids, before = self.started(2, waited_for=False)
                job.process.send_signal(number)
                result = job.finish(20)
                self.assertNotEqual(result.code, 0)
                self.assertEqual(result.messages(), [], result)
                self.check_record(before, 2)
                self.check_gone(pids)

    def test_a_killed_rank_ends_the_others(self):
        job, pids, before = self.started(3, waited_for=False)
        os.kill(pids[1], signal.SIGKILL)
        result = job.finish(20)
        self.assertNotEqual(result.code, 0)
        self.check_record(before, 3)
        self.check_gone(pids)

    def test_a_silent_rank_ends_the_others(self):
        """A stopped process says nothing and closes nothing; the watchdog names it."""
        job, _, before = self.started(3, "--watchdog", "2")
        self.silence(job, 3, 1)
        self.check_record(before, 3)

    def test_who_is_stopping_is_left_to_it(self):
        """Launchers send signals several times. Ctrl-C twice ends what hangs."""
        for number in (signal.SIGUSR1, signal.SIGTERM):
            with self.subTest(number.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job, pids, before = self.started(2)
                for _ in range(20):
                    self.send(pids, number)
                    time.sleep(0.01)
                self.assertEqual(self.check_stopped(job, before, 2).codes, [STOPPED_SAFELY] * 2)

    def test_a_second_interrupt_ends_at_once(self):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        job, pids, before = self.started(2)
        os.kill(pids[1], signal.SIGSTOP)  # so that the first cannot be answered
        try:
            os.kill(pids[0], signal.SIGINT)
            time.sleep(0.3)
            self.assertFalse((job.log / "code.0").exists(), "it waits for the other")
            os.kill(pids[0], signal.SIGINT)
            wait_until(lambda: (job.log / "code.0").exists(), "it has ended", 5)
        finally:
            os.kill(pids[1], signal.SIGKILL)
        self.assertEqual((job.log / "code.0").read_text().strip(), str(128 + signal.SIGINT))
        job.end()
        self.check_record(before, 2)

    def test_reading_during_the_run_does_not_disturb_it(self):
        job, pids, before = self.started(2)
        wait_until(lambda: len(self.recorded("clients/1.h5")) >= 3, "the other rank has written its file")
        with h5py.File(self.folder / "run" / "run.h5") as file, h5py.File(self.folder / "run/clients/1.h5") as part:
            self.assertGreaterEqual(len(file["rounds"]), 3)
            self.assertGreaterEqual(len(part["rounds"]), 3)
            time.sleep(1.2)  # longer than between two flushes
        wait_until(lambda: len(self.recorded()) > len(before), "the record grows")
        self.send(pids, signal.SIGUSR1)
        self.assertEqual(self.check_stopped(job, before, 2).codes, [STOPPED_SAFELY] * 2)


class Endings(TestCase):
    """What is left can go on, or begin."""

    @slow
    def test_a_silent_rank_ends_the_others_of_every_protocol(self):
        """And the run goes on from its last checkpoint when all ranks are well."""
        self.write("records.csv", "\n".join(csv_rows(300)) + "\n")
        noise = ["--mechanism", "gaussian", "--mu", "1", "--noise-key", "seed"]
        slow = ["--source", "synthetic:logistic:p=100", "--loss", "logistic", "--batch", "64", *noise]
        for silent, words in (
                (1, ["omd", *slow]),
                (0, ["fedavg", "--client-weights", "equal", *slow]),
                (1, ["renewable", "--source", "records.csv", "--loss", "logistic", "--l2", "0.1", "--batch", "2", "--epochs",
                     "80", "--variant", "private", "--trust", "masked", *noise]),
                (0, ["vertical", "--clients", "3", "--source", "synthetic:spectrum:train=10,test=5,samples=8",
                     "--feature-net", "d-7-3", "--head", "d-4-d", "--quantiser", "scalar:4", "--mechanism", "none"])):
            with self.subTest(words[0], silent=silent):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.one_is_silent(silent, [*words, "--rounds", "4000", "--checkpoint-every", "50"])

    def one_is_silent(self, silent, words):
        job = self._start([(3, [*words, "--watchdog", "2", "--progress", "off", "--output", "run"], [])], RANK_SCRIPT)
        private = self.folder / "run/private"
        wait_until(lambda: all(list(private.glob(f"{rank}/checkpoint-*")) for rank in range(3)) or
                   job.process.poll() is not None, "all have checkpoints")
        self.silence(job, 3, silent)
        again = self.succeeded(self.run_command(3, [words[0], "--resume", "run", "--progress", "off"]))
        self.assertRegex(again.err, r"the run goes on after round [1-9]")
        self.assertEqual(self.summary_in("run")["rounds"], 4000)

    def test_a_signal_before_the_first_round(self):
        """While a pipe is waited for, and while records are read: nothing is released, and the run can begin later."""
        os.mkfifo(self.folder / "feed")
        words = ["--source", "feed", "--format", "csv", "--mechanism", "laplace", "--rounds", "30", "--output", "run"]
        job = self.start(1, words)
        (pid,) = job.pids(1)
        time.sleep(1)
        self.assertFalse((self.folder / "run").exists())
        os.kill(pid, signal.SIGTERM)
        result = job.finish(10)
        self.assertEqual(result.codes, [STOPPED_SAFELY], result)
        self.assertIn("stopped by a signal before the first round: nothing has been released.", result.err)
        self.assertFalse((self.folder / "run").exists())

    def test_a_signal_before_a_run_goes_on(self):
        """The message does not deny earlier releases, whether the signal comes in a wait for a pipe or after records are read."""
        self.write("data.csv", "\n".join(csv_rows(200)) + "\n")
        os.mkfifo(self.folder / "feed")
        for source, words in (("data.csv", []), ("feed", ["--format", "csv"])):
            with self.subTest(source):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                begun = [*words, "--mechanism", "laplace", "--rounds", "30", "--checkpoint-every", "10", "--output", "run"]
                with interrupted("after rename /checkpoint-10:0"):
                    job = self.start(1, ["--source", source, *begun])
                if source == "feed":
                    (self.folder / "feed").write_text("\n".join(csv_rows(200)) + "\n")
                job.finish(20)
                if source == "feed":
                    job = self.start(1, ["--resume", "run"])
                    (pid,) = job.pids(1)
                    time.sleep(1)
                    os.kill(pid, signal.SIGTERM)
                else:
                    with interrupted("after rename /0/ledger.head:0", signal.SIGTERM):
                        job = self.start(1, ["--resume", "run"])
                result = job.finish(10)
                self.assertEqual(result.codes, [STOPPED_SAFELY], result)
                self.assertIn("stopped by a signal before the run went on: this start has released nothing, and what the run released before", result.err)

    def test_a_run_that_never_began_can_begin_in_its_directory(self):
        self.write("data.csv", "\n".join(csv_rows(200)) + "\n")
        words = ["--source", "data.csv", "--mechanism", "laplace", "--noise-key", "seed", "--progress", "off", "--metrics", "shared"]
        self.good(2, [*words, "--output", "whole"])
        with interrupted("before rename /run-id:0"):
            self.run_ranks(2, [*words, "--output", "run"])
        self.assertTrue((self.folder / "run/config.ini").exists())
        self.assertFalse((self.folder / "run/run-id").exists())
        result = self.good(2, ["--resume", "run"])
        self.assertIn("never came to its first round: it begins now", result.err)
        self.assertEqual((self.folder / "run/history.csv").read_text(), (self.folder / "whole/history.csv").read_text())
        (self.folder / "run/run-id").unlink()  # what has been played is not begun anew
        result = self.run_ranks(2, ["--resume", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("has no run to resume", result.err)



if __name__ == "__main__":
    unittest.main()
