"""--private: what belongs to the owners of records lies on each host's own disk. Hosts are names that ranks see (UTS
namespaces). Their disks are folders `disks/HOST`, which each of them sees as `disk` (mount namespaces)."""

import os
import stat
import unittest

import test_other_ranks as other_ranks
from harness import *

USAGE = 2
WORDS = ["omd", "--source", "synthetic:drift:informative=1", "--clients", "4", "--mechanism", "laplace", "--epsilon", "2", "--metrics",
         "shared", "--noise-key", "seed", "--tuning", "off", "--progress", "off", "--rounds", "400", "--checkpoint-every", "50"]
OWN = [*WORDS, "--private", "disk/run"]

# Each rank sees a host name of its own.
ON_HOST = """#!/bin/sh
shift
hosts="HOSTS"
set -- $OMPI_COMM_WORLD_RANK "$@"
rank=$1
shift
for host in $hosts; do [ $rank -gt 0 ] || break; rank=$((rank - 1)); done
mkdir -p disk "disks/$host"
exec unshare --uts --mount sh -c 'hostname "$0"; mount --bind "disks/$0" disk; exec "$@"' "$host" "$@"
"""


def can_name_hosts():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--uts", "--mount", "hostname", "trial"], capture_output=True).returncode == 0


@unittest.skipUnless(can_name_hosts(), "not root, or no namespaces (hosts need them)")
@needs_h5py
class OwnFolders(TestCase):
    def play(self, words, hosts, fault=None):
        """A rank on each of the hosts; one may end by itself after so many checkpoints."""
        with interrupted(fault):
            return self._start([(len(hosts), words, [])], ON_HOST.replace("HOSTS", " ".join(hosts))).finish()

    def played(self, words, hosts):
        result = self.play(words, hosts)
        self.assertEqual(result.code, 0, result)
        return result

    def refused(self, words, hosts, *texts):
        before = self.state()
        result = self.play(words, hosts)
        self.assertEqual(result.code, USAGE, result)
        for text in texts:
            self.assertIn(text, result.err)
        self.assertEqual(self.state(), before)

    def state(self):
        return {name: tree(self.folder / name) for name in ("run", "other", "disks", "x")}

    def begun(self):
        """A run that stops after some checkpoints, on hosts a and b; the same one that never stopped is `whole`."""
        self.assertNotEqual(self.play([*OWN, "--output", "run"], ["a", "b"], "checkpoint:2").code, 0)
        self.assertEqual(sorted(path.name for path in self.disk("a").iterdir()), ["0"])
        self.assertEqual(sorted(path.name for path in self.disk("b").iterdir()), ["1"])

    def disk(self, host):
        return self.folder / "disks" / host / "run"

    def same_as_whole(self):
        self.good(1, [*WORDS[1:], "--output", "whole"])
        trial = other_ranks.Trial()
        trial.folder = self.folder
        whole, ours = trial.results("whole"), trial.results("run")
        for name in ("ledgers", "metrics.csv"):
            self.assertFalse(ours.pop(name))  # none in the run directory
            self.assertTrue(whole.pop(name))
        for of_run in (whole, ours):
            summary = json.loads(of_run["summary.json"])
            summary["privacy"]["ledger"].pop("path")
            of_run["summary.json"] = summary
        trial.compare(whole, ours)
        charged = trial.charges(self.folder.glob("disks/*/run/*/ledger"))
        self.assertEqual(charged, trial.charges(self.folder.glob("whole/private/*/ledger")))

    def test_what_is_private_is_on_its_host_and_goes_on_there(self):
        self.begun()
        self.assertFalse((self.folder / "run/private").exists())
        for host, rank in (("a", 0), ("b", 1)):
            folder = self.disk(host) / str(rank)
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
            names = {path.name for path in folder.iterdir()}
            self.assertLessEqual({"ledger", "journal", "metrics.csv", "of-run"}, names)
            for path in folder.iterdir():
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
        token, *lines = (self.folder / "run/private-folders").read_text().splitlines()
        self.assertEqual(lines, [f"{rank} {host} {self.folder}/disk/run/{rank}" for host, rank in (("a", 0), ("b", 1))])
        self.refused(["privacy", "ledger", "run"], ["a"], f"Name one of them: '{self.folder}/disk/run/0/ledger'")
        self.played(["omd", "--resume", "run"], ["a", "b"])
        self.assertEqual(token, (self.folder / "run/private-folders").read_text().split("\n")[0])
        self.assertIn("disk/run/<rank>/ledger", (self.folder / "run/summary.json").read_text())
        self.same_as_whole()

    def test_folders_that_are_elsewhere_or_twice(self):
        self.begun()
        resume = ["omd", "--resume", "run"]
        a, b = self.disk("a"), self.disk("b")
        here = f"{self.folder}/disk/run"
        self.refused(resume, ["b", "a"], f"the private folder of rank 0 is not on b (it was last '{here}/0' on a). Start that rank "
                     f"there, or copy the folder to '{here}/0'")
        self.refused(resume, ["a"], "the run had 2 ranks, and the private folder of rank 1 is not on a", f"copy the folder to '{here}/1'")
        # A copy of the same age is as good; of two others the newer is named.
        shutil.copytree(b / "1", a / "1")
        self.assertNotEqual(self.play(resume, ["a", "b"], "checkpoint:1").code, 0)
        self.refused(resume, ["a", "b"], "the private folder of rank 1 is there twice, and of different age",
                     rf"'{here}/1' on b (checkpoint of round", "bytes of ledger) is newer, "
                     f"'{here}/1' on a (checkpoint of round", "Remove the older one")
        shutil.rmtree(a / "1")
        # All folders are on one host: any number of ranks goes on there.
        shutil.move(b / "1", a / "1")
        self.refused(resume, ["a", "b", "b"], "private folder of rank 0 is not on b")
        self.played(resume, ["a"])
        self.assertEqual(sorted(path.name for path in a.iterdir()), ["0"])
        self.same_as_whole()

    def test_a_host_that_is_lost_with_its_disk(self):
        """The run goes on where all folders that are left are, to the bits of a run that loses the same clients in its own folder."""
        lost = ["--lost", "missing", "--rewire", "exponential"]
        self.begun()
        with interrupted("checkpoint:2"):
            self.assertNotEqual(self.run_as_a_user(2, [*WORDS, "--output", "inside"]).code, 0)
        shutil.rmtree(self.folder / "disks/b")
        shutil.rmtree(self.folder / "inside/private/1")
        self.refused(["omd", "--resume", "run"], ["a"], "the private folder of rank 1 is not on a")
        result = self.play(["omd", "--resume", "run", *lost], ["a", "b"])
        self.assertEqual(result.code, USAGE, result)
        self.assertIn("start all ranks on one host that has all of them", result.err)
        self.played(["omd", "--resume", "run", *lost], ["a"])
        self.good(1, ["--resume", "inside", *lost])
        ours, theirs = [json.loads((self.folder / name / "summary.json").read_text()) for name in ("run", "inside")]
        self.assertEqual(ours["lost"], theirs["lost"])
        self.assertEqual(bits(ours["final_model"]), bits(theirs["final_model"]))
        self.assertAlmostEqual(ours["mass"], 2, 9)
        self.assertEqual(self.charged("disks/*/run/*/ledger"), self.charged("inside/private/*/ledger"))

    def charged(self, ledgers):
        trial = other_ranks.Trial()
        trial.folder = self.folder
        return trial.charges(self.folder.glob(ledgers))

    @slow
    def test_a_folder_of_another_run(self):
        self.played([*OWN, "--output", "run"], ["a", "b"])
        for words, text in (([*OWN, "--output", "other"], "is not an empty folder"),
                            ([*WORDS, "--private", "x/{client}", "--output", "other"], "only {host} can stand in braces"),
                            ([*WORDS, "--private", "run/config.ini", "--output", "other"], "is not an empty folder")):
            self.refused(words, ["a", "b"], text)
        # A folder in this place with another token is none of the run's.
        self.play([*WORDS, "--private", "disk/{host}-2", "--output", "other"], ["a", "b"], "checkpoint:2")
        folder = self.folder / "disks/b/b-2/1"
        shutil.rmtree(folder)
        shutil.copytree(self.disk("b") / "1", folder)
        self.refused(["omd", "--resume", "other"], ["a", "b"], "the private folder of rank 1 is not on b")


if __name__ == "__main__":
    unittest.main()
