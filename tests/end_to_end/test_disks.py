"""Disks that turn read-only or vanish under a run: a clear error with the file and the reason, the last good checkpoint
intact, and a run that goes on when the disk is back. (A full one: test_resume.py.)

Mounts are made in a name space of this process and its children alone, and are gone with it."""

import ctypes
import errno
import functools
import unittest

from harness import *
import kills

# Some 100 µs a round, so that what is done to the disk finds a run at work.
WORDS = ["--source", "synthetic:logistic:p=100", "--loss", "logistic", "--batch", "64", "--mechanism", "laplace", "--epsilon",
         "2", "--noise-key", "seed", "--progress", "off", "--rounds", "9000", "--checkpoint-every", "200"]


@functools.cache
def why_no_mounts():
    """Gives this process mounts of its own; why that cannot be, or nothing."""
    new_mounts = 0x00020000  # CLONE_NEWNS
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(new_mounts) != 0:
        return errno.errorcode.get(ctypes.get_errno(), "?")
    done = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip()


def results_of(folder, run):
    trial = kills.Trial()
    trial.folder = folder
    return trial.results(run)


class Disks(TestCase):
    whole = None

    def of_undisturbed_run(self):
        """Its results; it is played once for all tests."""
        if Disks.whole is None:
            self.good(2, [*WORDS, "--output", "whole"])
            Disks.whole = results_of(self.folder, "whole")
        return Disks.whole

    def mount(self, *words):
        done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"mount {' '.join(map(str, words))}: {done.stderr.strip()}")

    def unmount(self, place):
        subprocess.run(["umount", "--lazy", place], check=True)

    def needs_mounts(self):
        if why_no_mounts():
            self.skipTest(f"mounts of one's own are not permitted here: {why_no_mounts()}")

    def make_disk(self):
        """A file system in `disk`, and a second way to it that outlives the first; the latter."""
        self.needs_mounts()
        disk, spare = self.folder / "disk", self.folder / "spare"
        for place in (disk, spare):
            place.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=64m", "starling-test", disk)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], capture_output=True)
        self.mount("--bind", disk, spare)
        self.addCleanup(subprocess.run, ["umount", "--lazy", spare], capture_output=True)
        return spare

    def checkpoints(self, run, rank):
        return sorted(int(path.name[11:]) for path in (run / f"private/{rank}").glob("checkpoint-*[0-9]"))

    def under_way(self, run):
        """A run of two ranks that has written checkpoints."""
        job = self.start(2, [*WORDS, "--output", run])
        wait_until(lambda: len(self.checkpoints(self.folder / run, 1)) > 1 or job.process.poll() is not None, "checkpoints")
        self.assertIsNone(job.process.poll())
        return job

    def check_failed(self, result, run, reason):
        """Both ranks have ended with one message that names a file of the run and the reason."""
        self.assertEqual(result.codes, [FAILURE] * 2, result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertRegex(result.messages()[0], rf"'([^']*/)?{run}/[^']*'.*({reason})")
        self.assertFalse((self.folder / run / "summary.json").exists())

    def check_goes_on(self, run):
        result = self.good(2, ["--resume", run])
        self.assertRegex(result.err, r"the run goes on after round [1-9]")
        first, second = results_of(self.folder, run), self.of_undisturbed_run()
        self.assertEqual(first.keys(), second.keys())
        for name in first:
            self.assertEqual(first[name], second[name], name)

    def test_read_only_in_mid_run(self):
        """As when a kernel finds errors: what is open can still be written, and nothing else can."""
        self.make_disk()
        job = self.under_way("disk/run")
        run = self.folder / "disk/run"
        self.mount("--bind", run, run)
        self.mount("-o", "remount,bind,ro", run)
        self.check_failed(job.finish(), "disk/run", "Read-only file system")
        before = tree(run)
        result = self.run_noted(2, ["--resume", "disk/run"])
        self.check_failed(result, "disk/run", "Read-only file system")
        self.assertEqual(tree(run), before)
        self.unmount(run)
        self.check_goes_on("disk/run")

    def test_read_only_from_the_start(self):
        self.make_disk()
        self.mount("-o", "remount,ro", self.folder / "disk")
        result = self.run_noted(2, [*WORDS, "--output", "disk/run"])
        self.assertEqual(result.codes, [FAILURE] * 2, result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("'disk/run': Read-only file system", result.messages()[0])

    def test_a_disk_that_vanishes_and_comes_back(self):
        spare = self.make_disk()
        job = self.under_way("disk/run")
        self.unmount(self.folder / "disk")
        self.check_failed(job.finish(), "disk/run", "No such file or directory")
        result = self.run_noted(2, ["--resume", "disk/run"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("--resume 'disk/run': no such directory", result.messages()[0])
        self.assertGreater(len(self.checkpoints(spare / "run", 0)), 0)
        self.mount("--bind", spare, self.folder / "disk")
        self.check_goes_on("disk/run")

    def test_a_folder_that_is_moved_away_and_back(self):
        job = self.under_way("run")
        (self.folder / "run").rename(self.folder / "elsewhere")
        self.check_failed(job.finish(), "run", "No such file or directory")
        self.assertFalse((self.folder / "run").exists())
        (self.folder / "elsewhere").rename(self.folder / "run")
        self.check_goes_on("run")

    def test_a_folder_that_is_removed(self):
        job = self.under_way("run")
        (self.folder / "run").rename(self.folder / "rubbish")  # at once: else ranks write into it while it is removed
        shutil.rmtree(self.folder / "rubbish")
        self.check_failed(job.finish(), "run", "No such file or directory")
        self.assertFalse((self.folder / "run").exists())
        result = self.run_noted(2, ["--resume", "run"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertFalse((self.folder / "run").exists())

    def test_one_ranks_part_that_is_removed(self):
        """The other rank's is whole; both end, and the run is not begun anew over what is left."""
        job = self.under_way("run")
        (self.folder / "run/private/1").rename(self.folder / "rubbish")  # at once: else it may write while that is removed
        self.check_failed(job.finish(), "run", "No such file or directory")
        self.assertGreater(len(self.checkpoints(self.folder / "run", 0)), 0)
        result = self.run_noted(2, ["--resume", "run"])
        self.assertEqual(result.codes, [2, 2], result)
        self.assertIn("'run/private/1' is gone", result.messages()[0])


if __name__ == "__main__":
    unittest.main()
