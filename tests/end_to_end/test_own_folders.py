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
        return self.succeeded(self.play(words, hosts))

    def refused(self, words, hosts, *texts):
        for host in hosts:
            (self.folder / "disks" / host).mkdir(parents=True, exist_ok=True)
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
        self.assertEqual(self.charged("disks/*/run/*/ledger"), self.charged("whole/private/*/ledger"))

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
        self.refused(resume, ["b", "a"], f"the private folder of rank 0 is not on b: it was last '{here}/0' on a. Start that rank "
                     f"there, or copy the folder to '{here}/0'")
        self.refused(resume, ["a"], "the private folder of rank 1 is not on any of these hosts: it was last", "on b. Start a rank there",
                     f"copy the folder to '{here}/1'")
        # A copy of the same age is as good; of two others the newer is named.
        shutil.copytree(b / "1", a / "1")
        self.assertNotEqual(self.play(resume, ["a", "b"], "checkpoint:1").code, 0)
        self.refused(resume, ["a", "b"], "the private folder of rank 1 is there twice, and of different age",
                     rf"'{here}/1' on b (checkpoint of round", "bytes of ledger) is newer, "
                     f"'{here}/1' on a (checkpoint of round", "Remove the older one")
        shutil.rmtree(a / "1")
        # All folders are on one host: any number of ranks goes on there.
        shutil.move(b / "1", a / "1")
        self.refused(resume, ["a", "b", "b"], "rank 1 is on b, which has no private folder of the run")
        self.played(resume, ["a"])
        self.assertEqual(sorted(path.name for path in a.iterdir()), ["0.1"])
        self.same_as_whole()

    def test_folders_of_an_earlier_state(self):
        """Restored from before the folders were made anew for other ranks, they are there, and none of the run's."""
        self.begun_on("a", "b")
        self.keep()
        self.assertNotEqual(self.play(["omd", "--resume", "run"], ["a", "b", "b"], "checkpoint:1").code, 0)
        shutil.rmtree(self.folder / "disks")
        shutil.copytree(self.folder / "kept/disks", self.folder / "disks")
        here = f"{self.folder}/disk/run"
        earlier = f"is of an earlier state of the run, before its private folders were made anew for other ranks or clients"
        self.refused(["omd", "--resume", "run"], ["a", "b", "b"], "the private folder of rank 0 is not on a: it was last",
                     f"'{here}/0' on a (checkpoint of round", earlier)
        self.refused(["omd", "--resume", "run"], ["a", "b"], "the private folder of rank 0 is not on any of these hosts: it was last",
                     f"'{here}/0' on a (checkpoint of round", earlier)

    LOST = ["--lost", "missing", "--rewire", "exponential"]
    JOIN = ["--join", "2"]

    def begun_on(self, *hosts):
        """A run that stopped on these hosts."""
        self.assertNotEqual(self.play([*OWN, "--output", "run"], hosts, "checkpoint:2").code, 0)

    def keep(self):
        for name in ("run", "disks"):
            shutil.copytree(self.folder / name, self.folder / "kept" / name)

    def restore(self):
        for name in ("run", "disks"):
            shutil.rmtree(self.folder / name)
            shutil.copytree(self.folder / "kept" / name, self.folder / name)

    def results_inside(self, *change):
        """Results of the same run if it had been begun without --private."""
        inside = self.folder / "inside"
        shutil.copytree(self.folder / "run", inside)
        for folder in self.folder.glob("disks/*/run/*"):
            shutil.copytree(folder, inside / "private" / folder.name)
        (inside / "private-folders").unlink()
        lines = (inside / "config.ini").read_text().splitlines(keepends=True)
        (inside / "config.ini").write_text("".join(line for line in lines if not line.startswith("private = ")))
        self.good(1, ["--resume", "inside", *change])
        found = self.results("inside", "inside/private/*/ledger")
        shutil.rmtree(inside)
        return found

    def results(self, run="run", ledgers="disks/*/run/*/ledger"):
        """What depends neither on hosts nor on ranks."""
        summary = self.summary_in(run)
        found = {name: bits(summary.get(name)) for name in ("final_model", "mass", "losses", "lost", "joined", "resumed", "rounds")}
        found["history"] = (self.folder / run / "history.csv").read_text()
        found["charges"] = self.charged(ledgers)
        found["models"] = repr(self.record(run)["model"].tolist())
        return found

    def whose(self, host):
        """Clients whose releases are in ledgers of a host, by folder."""
        found = {}
        for path in sorted(self.disk(host).glob("*/ledger")):
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            ranges = [(row["client"], row.get("through", row["client"])) for row in rows if row["kind"] == "reserve"]
            found[path.parent.name] = sorted({client for first, last in ranges for client in range(first, last + 1)})
        return found

    def test_clients_that_join_move_nobody_to_another_host(self):
        """They are with the clients of the last host, or on a host of their own; results are those of a run in its own folder."""
        self.begun_on("a", "b")
        self.keep()
        inside = self.results_inside(*self.JOIN)
        self.refused(["omd", "--resume", "run", *self.JOIN], ["b", "a"],
                     "no rank from those on a on sees the private folder of clients 2 to 3")
        self.refused(["omd", "--resume", "run", *self.JOIN], ["a", "c", "b"], "rank 1 is on c, which has no private folder of the run")
        self.played(["omd", "--resume", "run", *self.JOIN], ["a", "b"])
        self.assertEqual(self.results(), inside)
        self.assertEqual([self.whose("a"), self.whose("b")], [{"0.1": [0, 1]}, {"1.1": [2, 3, 4, 5]}])
        self.restore()
        # On a host of their own; it stops once more, and goes on with other ranks.
        self.assertNotEqual(self.play(["omd", "--resume", "run", *self.JOIN], ["a", "b", "c"], "checkpoint:3").code, 0)
        self.assertIn("first-clients 0 2 4\n", (self.folder / "run/run-id").read_text())
        self.refused(["omd", "--resume", "run"], ["a", "b"], "the private folder of rank 2 is not on any of these hosts: it was last")
        self.played(["omd", "--resume", "run"], ["a", "b", "b", "c", "c"])
        self.assertEqual(self.results(), inside)
        self.assertEqual([self.whose(host) for host in "abc"], [{"0.2": [0, 1]}, {"1.2": [2], "2.2": [3]}, {"3.2": [4], "4.2": [5]}])

    def test_a_host_that_is_lost_with_its_disk(self):
        """The run goes on where the folders that are left are, to the bits of a run that loses the same clients in its own folder."""
        self.begun_on("a", "b", "c")
        shutil.rmtree(self.folder / "disks/b")
        self.keep()
        inside = self.results_inside(*self.LOST)
        self.refused(["omd", "--resume", "run"], ["a", "a", "c"], "the private folder of rank 1 is not on a")
        resume = ["omd", "--resume", "run", *self.LOST]
        self.refused(resume, ["a", "d", "c"], "rank 1 is on d, which has no private folder of the run")
        self.played(resume, ["a", "c"])
        self.assertEqual(self.results(), inside)
        self.assertEqual(self.summary_in("run")["lost"][0]["clients"], [2])
        self.assertEqual([sorted(path.name for path in self.disk(host).iterdir()) for host in "ac"], [["0.1"], ["1.1"]])
        # As many ranks as before, as a launcher starts them; and all folders on one host.
        self.restore()
        self.assertNotEqual(self.play(resume, ["a", "c", "c"], "checkpoint:2").code, 0)
        self.played(resume, ["a", "c", "c"])
        self.assertEqual(self.results(), inside)
        self.restore()
        shutil.move(self.disk("c") / "2", self.disk("a") / "2")
        self.played(resume, ["a"])
        self.assertEqual(self.results(), inside)

    @slow
    def test_a_crash_amid_the_move_is_harmless(self):
        """Before it counts the folders are as they were; behind it those before do not count, even on a host that was away."""
        self.begun_on("a", "b")
        self.keep()
        inside = self.results_inside(*self.JOIN)
        for fault in (*(f"rename:{k}" for k in range(10)), "before rename /run-id:0", "after rename /run-id:0"):
            self.restore()
            self.assertNotEqual(self.play(["omd", "--resume", "run", *self.JOIN], ["a", "b", "c"], fault).code, 0)
            are_in = "joined-after" in (self.folder / "run/run-id").read_text()
            self.played(["omd", "--resume", "run", *([] if are_in else self.JOIN)], ["a", "b", "c"])
            self.assertEqual(self.results(), inside, fault)
            self.assertEqual([self.whose(host) for host in "abc"], [{"0.1": [0, 1]}, {"1.1": [2, 3]}, {"2.1": [4, 5]}], fault)
        # A host comes back with its disk as it was before its clients were lost: these folders are none of the run's.
        self.restore()
        shutil.move(self.folder / "disks/b", self.folder / "b")
        self.assertNotEqual(self.play(["omd", "--resume", "run", *self.LOST], ["a"], "checkpoint:2").code, 0)
        shutil.move(self.folder / "b", self.folder / "disks/b")
        self.refused(["omd", "--resume", "run"], ["b"], "the private folder of rank 0 is not on b")

    @slow
    def test_keys_stay_where_they_are(self):
        words = [word for word in OWN if word not in ("--noise-key", "seed")]
        self.assertNotEqual(self.play([*words, "--output", "run"], ["a", "b"], "checkpoint:2").code, 0)

        def keys(host):
            return {path.name: path.read_bytes() for path in self.disk(host).glob("*/key-*")}

        before = [keys("a"), keys("b")]
        self.assertEqual([sorted(each) for each in before], [["key-0", "key-1"], ["key-2", "key-3"]])
        self.played(["omd", "--resume", "run", *self.JOIN], ["a", "b", "c"])
        self.assertEqual([keys("a"), keys("b")], before)
        self.assertEqual(sorted(keys("c")), ["key-4", "key-5"])

    @slow
    def test_other_ranks_on_hosts_that_each_have_folders(self):
        """Another number of ranks, where each host has folders of its own."""
        for hosts in (["a", "b"], ["a", "a", "b", "c", "c"]):
            with self.subTest(hosts):
                for name in ("run", "disks", "whole"):
                    shutil.rmtree(self.folder / name, ignore_errors=True)
                self.begun_on("a", "b", "c")
                if "c" not in hosts:
                    shutil.move(self.disk("c") / "2", self.disk("b") / "2")
                self.played(["omd", "--resume", "run"], hosts)
                self.same_as_whole()

    def charged(self, ledgers):
        return self.losses_in(self.folder.glob(ledgers))

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
