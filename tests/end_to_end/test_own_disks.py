"""A run over hosts that share no disk: the run directory is there for rank 0's host alone (--private on each host's own disk).
Hosts are as in test_own_folders. Host a has the folder `results`; the others see an empty one of their own in its place."""

import signal
import unittest

import test_own_folders as own_folders
from harness import *

draw_pictures()

USAGE = 2
STOPPED = 75
COMMON = ["--mechanism", "laplace", "--epsilon", "2", "--metrics", "shared", "--noise-key", "seed", "--progress", "off",
          "--checkpoint-every", "50", "--private", "disk/run"]
OMD = ["omd", "--source", "synthetic:drift:informative=1", "--clients", "4", "--tuning", "off", "--rounds", "400", "--record-every", "7",
       "--record-clients", "all", *COMMON]
CASES = {
    "fedavg": ["fedavg", "--source", "synthetic:logistic:p=3", "--loss", "logistic", "--clients", "5", "--rounds", "100",
               "--local-steps", "3", "--client-weights", "equal", *COMMON],
    "renewable": ["renewable", "--source", "records.csv", "--loss", "dwd:1", "--l2", "0.1", "--clients", "3", "--batch", "2",
                  "--progress", "off", "--mechanism", "none", "--noise-key", "seed", "--private", "disk/run"],
    "infer over a graph": ["infer", "--source", "synthetic:logistic:p=3,n=2000", "--loss", "logistic", "--topology", "ring.topo",
                           "--clients", "4", "--mechanism", "gaussian", "--mu", "1", "--rounds", "125", "--noise-key", "seed",
                           "--progress", "off", "--private", "disk/run"],
    "omd without waiting": [*OMD[:OMD.index("--checkpoint-every")], "--private", "disk/run", "--deadline", "0.05"],
    "many clients": [*OMD, "--clients", "2500", "--record-clients", "sample:20", "--rounds", "60"],
    "ranks without clients": [*OMD, "--clients", "2"],
    "vertical": ["vertical", "--source", "records.csv", "--columns", "0/1,2", "--networks", "shared", "--mechanism", "none",
                 "--noise-key", "seed", "--progress", "off", "--rounds", "20", "--private", "disk/run"],
}

# Each rank sees a host name and a disk of its own, and but for host a a folder `results` of its own.
ON_HOST = """#!/bin/sh
shift
hosts="HOSTS"
left=$OMPI_COMM_WORLD_RANK
for host in $hosts; do [ $left -gt 0 ] || break; left=$((left - 1)); done
mkdir -p disk "disks/$host" results
exec unshare --uts --mount sh -c 'hostname "$0"; mount --bind "disks/$0" disk; APART; exec "$@"' "$host" "$@"
"""
SHARED = "true"
APART = '[ "$0" = a ] || mount -t tmpfs none results'


@unittest.skipUnless(own_folders.can_name_hosts(), "not root, or no namespaces (hosts need them)")
@needs_h5py
class OwnDisks(TestCase):
    def play(self, words, hosts=("a", "b"), apart=True, point=None, by=signal.SIGKILL):
        """A rank on each of the hosts; one may get a signal at a point."""
        script = ON_HOST.replace("HOSTS", " ".join(hosts)).replace("APART", APART if apart else SHARED)
        with interrupted(point, by):
            return self._start([(len(hosts), words, [])], script).finish()

    def played(self, words, *more, **how):
        return self.succeeded(self.play(words, *more, **how))

    def shared(self, words, hosts=("a", "b")):
        """The same run where all hosts see one disk: its results."""
        self.played([*words, "--output", "results/whole"], hosts, apart=False)
        shutil.rmtree(self.folder / "disks")
        return self.results("whole")

    def results(self, run):
        """All files of a run, but for what says when it was played, and where its private folders are."""
        found = {}
        folder = self.folder / "results" / run
        for path in sorted(folder.rglob("*")):
            if path.is_dir():
                continue
            name = str(path.relative_to(folder))
            if path.suffix == ".h5":
                found[name] = self.content(path)
            elif name == "summary.json":
                summary = json.loads(path.read_text())
                for key in ("time", "performance", "run_directory", "output", "command_line", "notes"):
                    summary.pop(key, None)
                for key in ("path", "heads"):  # names and hashes of files that are not here
                    summary["privacy"]["ledger"].pop(key, None)
                found[name] = bits(summary)
            elif name == "private-folders":
                found[name] = path.read_text().splitlines()[1:]
            elif name == "config.ini":
                found[name] = sorted(line for line in path.read_text().splitlines() if not line.startswith("output = "))
            else:
                found[name] = path.read_bytes().replace(str(folder).encode(), b"RUN").replace(f"results/{run}".encode(), b"RUN")
        return found

    @staticmethod
    def content(path):
        """Every data set and every attribute that does not tell when."""
        found = {}
        with h5py.File(path) as file:
            def visit(name, item):
                if isinstance(item, h5py.Dataset):
                    found[name] = (item.shape, item[()].tobytes() if item.dtype.kind in "if" else repr(item[()]))
                for key, value in item.attrs.items():
                    if key not in ("started", "command_line", "configuration_digest", "run_id", "run", "finished"):
                        found[f"{name}@{key}"] = repr(value)
            visit("/", file)
            file.visititems(visit)
        return found

    def compare(self, ours, theirs):
        self.assertEqual(ours.keys(), theirs.keys())
        different = [name for name in ours if ours[name] != theirs[name]]
        if different:
            name = different[0]
            self.assertEqual(ours[name], theirs[name], different)

    def nothing_is_left(self, hosts=("a", "b")):
        """Off rank 0's host nothing released is left in private folders, and all in them is the owner's."""
        for host in hosts[1:]:
            self.assertEqual(list((self.folder / "disks" / host).glob("run/*/released")), [])

    def test_the_same_files_as_with_a_shared_disk(self):
        whole = self.shared([*OMD, "--json"])
        self.assertIn("clients/1.h5", whole)
        result = self.played([*OMD, "--json", "--output", "results/run"])
        self.compare(self.results("run"), whole)
        self.nothing_is_left()
        summary = self.summary_in("results/run")
        self.assertEqual(result.summary()["clients"], summary["clients"])
        report = self.run_alone(["report", "results/run"])
        self.assertEqual((report.code, report.err), (0, ""), report)

    def test_killed_and_stopped_and_taken_up(self):
        whole = self.shared(OMD)
        # A kill in mid-run: what rank 1 has recorded is on its host alone.
        self.assertNotEqual(self.play([*OMD, "--output", "results/run"], point="checkpoint:2").code, 0)
        run = self.folder / "results/run"
        self.assertTrue((run / "clients/0.h5").exists())
        self.assertFalse((run / "clients/1.h5").exists())
        self.assertTrue((self.folder / "disks/b/run/1/released/clients/1.h5").exists())
        report = self.succeeded(self.run_alone(["report", "results/run", "--output", "pictures"]))
        self.assertIn("of 400", report.out)
        # Rank 0 dies while rank 1's file arrives.
        resume = ["omd", "--resume", "results/run"]
        self.assertNotEqual(self.play(resume, point="before rename /clients/1.h5:0").code, 0)
        self.assertFalse((run / "clients/1.h5").exists())
        self.played(resume)
        ours = self.results("run")
        for each in (ours, whole):
            each["summary.json"]["traffic"].pop("evaluation_bytes")  # of the last start
        self.compare(ours, whole)
        self.nothing_is_left()
        self.assertIn("has played all its rounds", self.played(resume).err)

    def test_a_signal(self):
        result = self.play([*OMD, "--rounds", "100000", "--output", "results/run"], point="after rename /run/1/checkpoint-:1",
                           by=signal.SIGTERM)
        self.assertEqual(result.code, STOPPED, result)
        self.nothing_is_left()
        with h5py.File(self.folder / "results/run/run.h5") as file:
            rounds = file["rounds"][()].tolist()
            self.assertEqual(file["model"].shape[0], len(rounds))
            self.assertTrue(file["final_model"][()].all())
        rows = max(int(path.name[11:]) for path in (self.folder / "disks/b/run/1").glob("checkpoint-*"))
        self.assertEqual(rounds[-1], rows)
        self.assertEqual(self.run_alone(["report", "results/run"]).code, 0)
        self.played(["omd", "--resume", "results/run", "--rounds", str(rows + 100)])
        self.nothing_is_left()
        ours = self.content(self.folder / "results/run/run.h5")
        self.played([*OMD, "--rounds", str(rows + 100), "--output", "results/whole", "--private", "disk/whole"], apart=False)
        theirs = self.content(self.folder / "results/whole/run.h5")
        self.assertEqual({name: ours[name] for name in theirs if "@" not in name},
                         {name: value for name, value in theirs.items() if "@" not in name})

    def test_what_a_host_must_see(self):
        # Without --private: all or nothing, before anything is done.
        without = [word for word in OMD if word not in ("--private", "disk/run")]
        result = self.play([*without, "--output", "results/run"])
        self.assertEqual(result.code, USAGE, result)
        self.assertEqual(len(result.messages()), 1, result)
        for text in ("starling: rank 1 on b: the run directory 'results/run' of rank 0 on a is not seen from here", "--private DIR"):
            self.assertIn(text, result.err)
        self.assertEqual(list((self.folder / "results").rglob("*/*")), [])
        self.played([*OMD, "--rounds", "20", "--output", "results/run"])
        # A source of rank 1's that is on host a alone.
        for client in range(4):
            self.write(f"results/site-{client}.csv", "\n".join(csv_rows(60, seed=client + 1)) + "\n")
        result = self.play([*OMD, "--source", "results/site-{client}.csv", "--private", "disk/other", "--output", "results/other"])
        self.assertEqual(result.code, USAGE, result)
        self.assertRegex(result.err, r"starling: rank 1 on b: .*'?results/site-2.csv")

    @slow
    def test_a_run_that_never_began(self):
        whole = self.shared(OMD)
        self.assertNotEqual(self.play([*OMD, "--output", "results/run"], point="renamed:2").code, 0)
        self.assertTrue((self.folder / "results/run/private-folders").exists())
        self.assertFalse((self.folder / "results/run/run-id").exists())
        self.assertIn("it begins now", self.played(["omd", "--resume", "results/run"]).err)
        self.compare(self.results("run"), whole)

    @slow
    def test_all_commands(self):
        self.write("ring.topo", "generate directed-ring clients=4\n")
        self.write("records.csv", "\n".join(csv_rows(400)) + "\n")
        for name, words in CASES.items():
            with self.subTest(name):
                for folder in ("disks", "results"):
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
                hosts = ("a", "b", "c")
                whole = self.shared(words, hosts)
                self.played([*words, "--output", "results/run"], hosts)
                ours = self.results("run")
                if name == "omd without waiting":  # no two runs are alike
                    self.assertEqual(ours.keys(), whole.keys())
                else:
                    self.compare(ours, whole)
                self.nothing_is_left(hosts)


if __name__ == "__main__":
    unittest.main()
