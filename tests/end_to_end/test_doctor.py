"""`starling doctor`: what it says of a launch, and its exit codes."""

import os
import re
import shutil
import subprocess

from harness import *

CHECKS = ["starling", "MPI", "threads", "ranks", "CPUs", "binding", "memory", "/dev/shm", "free space", "HDF5", "sharing", "entropy",
          "clocks", "edges", "exchange"]
BAD = 1
USAGE = 2


def separates():
    """Whether a process may have host names and mounts of its own here."""
    tried = ["unshare", "--uts", "--mount", "sh", "-c", "hostname alpha && mount -t tmpfs none /mnt"]
    return shutil.which("unshare") is not None and subprocess.run(tried, capture_output=True).returncode == 0


class Doctor(TestCase):
    def doctor(self, ranks, *words, more=()):
        return self.run_command(ranks, ["doctor", *words], more)

    def examined(self, result):
        """The JSON object, and {check: verdict}."""
        found = json.loads(result.out)
        self.assertEqual([check["name"] for check in found["checks"]], CHECKS)
        verdicts = {check["name"]: check["verdict"] for check in found["checks"]}
        worst = next(word for word in ("bad", "look", "ok") if word in verdicts.values())
        self.assertEqual(found["verdict"], worst)
        self.assertEqual(result.code, BAD if worst == "bad" else 0, result)
        for check in found["checks"]:
            if check["verdict"] != "ok":
                self.assertNotEqual(check["advice"], "", check)
        return found, verdicts

    def leaves_nothing(self):
        self.assertEqual([path.name for path in self.folder.rglob("*doctor*")], [])

    def test_alone(self):
        """Without mpirun there is one rank, and nothing between ranks to be timed."""
        result = self.run_alone(["doctor", "--json"])
        self.assertEqual(result.err, "")
        found, verdicts = self.examined(result)
        self.assertEqual(len(found["ranks"]), 1)
        self.assertEqual(found["ranks"][0]["threads"], "single")
        self.assertEqual((found["clients"], found["edges"]), (1, []))
        for name in ("starling", "MPI", "ranks", "CPUs", "binding", "HDF5", "sharing", "entropy", "clocks", "edges"):
            self.assertEqual(verdicts[name], "ok", found)
        self.assertEqual(found["ranks"][0]["cpus"], sorted(os.sched_getaffinity(0)))
        self.assertLessEqual(found["ranks"][0]["free_space"], shutil.disk_usage(self.folder).total)
        self.leaves_nothing()

    def test_table(self):
        result = self.doctor(2)
        lines = result.out.splitlines()
        names = [line[:12].rstrip() for line in lines if re.match(r".{12}(ok|look|bad) ", line)]
        self.assertEqual(names, CHECKS)
        self.assertIn("slowest edges, one way", lines)
        self.assertEqual(len(re.findall(r"us  rank \d on \S+ to rank \d on ", result.out)), 2)
        self.assertRegex(lines[-1], r"^(nothing stands in the way of a run|\d bad, \d+ to look at)$")
        self.assertEqual(result.code, BAD if re.search(r"[1-9] bad", lines[-1]) else 0, result)
        self.leaves_nothing()

    def test_more_ranks_than_cores_and_every_edge_between_ranks(self):
        """Ten clients on four ranks: an edge is timed if it joins two ranks, in messages of as many vectors as go there."""
        edges = sorted({(u, (u * u + 3) % 10) for u in range(10)} | {(u, (u + 1) % 10) for u in range(10)})
        edges = [(u, v) for u, v in edges if u != v]
        self.write("g.topo", topology(10, [], everywhere=edges))
        found, verdicts = self.examined(self.doctor(4, "--topology", "g.topo", "--clients", 10, "--json"))
        senders = {}
        for u, v in edges:
            pair = u * 4 // 10, v * 4 // 10
            if pair[0] != pair[1]:
                senders.setdefault(pair, set()).add(u)
        self.assertEqual([(edge["from"], edge["to"], edge["vectors"]) for edge in found["edges"]],
                         [(*pair, len(who)) for pair, who in sorted(senders.items())])
        for seconds in [edge["seconds"] for edge in found["edges"]] + found["exchange"]:
            self.assertGreater(seconds, 0)
        if os.cpu_count() < 4:
            self.assertEqual(verdicts["CPUs"], "look")
            self.assertTrue(all(rank["yields"] for rank in found["ranks"]))

    def test_phases_and_graphs_that_never_repeat(self):
        self.write("phases.topo", topology(3, [(1, [(0, 1)]), (1_000_000_000, [(1, 2)]), (1, [(2, 0)])]))
        found, _ = self.examined(self.doctor(3, "--topology", "phases.topo", "--json"))
        self.assertEqual([(edge["from"], edge["to"]) for edge in found["edges"]], [(0, 1), (1, 2), (2, 0)])
        self.write("endless.topo", "generate random-matching clients=4 rounds=endless\n")
        found, _ = self.examined(self.doctor(3, "--topology", "endless.topo", "--clients", 4, "--json"))
        self.assertEqual(len(found["edges"]), 6)

    def test_idle_ranks(self):
        found, verdicts = self.examined(self.doctor(4, "--clients", 3, "--json"))
        self.assertEqual(verdicts["ranks"], "look")
        idle = [rank for rank, seconds in enumerate(found["exchange"]) if seconds is None]
        self.assertEqual(idle, [r for r in range(4) if r not in {u * 4 // 3 for u in range(3)}])
        self.assertEqual(len(found["edges"]), 6)

    def test_directory(self):
        """The directory itself, or the one that it will be made in."""
        (self.folder / "runs").mkdir()
        for output in ("runs", "runs/next"):
            found, verdicts = self.examined(self.run_alone(["doctor", "--json", "--output", output]))
            self.assertEqual(pathlib.Path(self.folder / found["directory"]).resolve(), (self.folder / "runs").resolve())
            self.assertEqual(verdicts["HDF5"], "ok")
        result = self.doctor(2, "--json", "--output", "nowhere/next")
        found, verdicts = self.examined(result)
        self.assertEqual((result.code, verdicts["HDF5"], verdicts["free space"], verdicts["sharing"]), (BAD, "bad", "look", "look"))
        self.assertIn("there is no directory", result.out)
        self.leaves_nothing()

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_directory_that_takes_nothing(self):
        (self.folder / "runs").mkdir(mode=0o500)
        found, verdicts = self.examined(self.run_alone(["doctor", "--json", "--output", "runs"]))
        self.assertEqual(verdicts["HDF5"], "bad")
        self.assertIn("cannot be written to: Permission denied", json.dumps(found))

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1 and shutil.which("taskset"), "needs two CPUs and taskset")
    def test_ranks_bound_to_one_core_while_others_are_free(self):
        cpu = min(os.sched_getaffinity(0))
        command = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", "2", "taskset", "-c", str(cpu), STARLING, "doctor",
                   "--json", "--seconds", "1"]
        found, verdicts = self.examined(self.run_program(command))
        self.assertEqual(verdicts["binding"], "bad")
        self.assertIn("2 ranks", next(check["value"] for check in found["checks"] if check["name"] == "binding"))
        self.assertEqual([rank["cpus"] for rank in found["ranks"]], [[cpu], [cpu]])

    @unittest.skipIf(os.cpu_count() > 4, "would need as many ranks as there are CPUs, and one")
    def test_ranks_that_outnumber_cores_and_do_not_yield(self):
        more = ["-x", "OMPI_MCA_mpi_yield_when_idle=0"]
        found, verdicts = self.examined(self.doctor(os.cpu_count() + 1, "--json", "--seconds", "1", more=more))
        self.assertEqual(verdicts["CPUs"], "bad")
        self.assertFalse(any(rank["yields"] for rank in found["ranks"]))

    @slow
    def test_another_build_on_one_rank(self):
        """A program that differs by a byte at its end."""
        copy = self.folder / "other"
        shutil.copy(STARLING, copy)
        with open(copy, "ab") as file:
            file.write(b"\0")
        command = [MPIRUN, "--oversubscribe", "-n", "1", STARLING, "doctor", "--json", ":", "-n", "1", str(copy), "doctor",
                   "--json"]
        found, verdicts = self.examined(self.run_program(command))
        self.assertEqual(verdicts["starling"], "bad")
        self.assertIn("rank 1 on ", next(check["value"] for check in found["checks"] if check["name"] == "starling"))

    def test_ranks_that_do_not_know_each_other(self):
        """As srun starts them without PMIx: the launcher says four, MPI says one."""
        command = ["env", "SLURM_STEP_NUM_TASKS=4", STARLING, "doctor", "--json"]
        found, verdicts = self.examined(self.run_program(command))
        self.assertEqual(verdicts["ranks"], "bad")
        self.assertIn("--mpi=pmix", json.dumps(found))

    def on_two_hosts(self, mount):
        """Two ranks whose host has another name for each, and the second of which sees another directory `runs`."""
        (self.folder / "runs").mkdir(exist_ok=True)
        parts = []
        for name, more in (("alpha", "true"), ("beta", mount)):
            script = f'hostname {name} && {more} && exec "$0" doctor --json --output runs'
            parts.append(["-n", "1", "unshare", "--uts", "--mount", "sh", "-c", script, STARLING])
        command = [MPIRUN, "--oversubscribe", *parts[0], ":", *parts[1]]
        found, verdicts = self.examined(self.run_program(command))
        self.assertEqual([rank["host"] for rank in found["ranks"]], ["alpha", "beta"])
        return {check["name"]: check for check in found["checks"]}, verdicts

    @slow
    @unittest.skipUnless(separates(), "needs the right to separate host names and mounts")
    def test_hosts_are_named_and_share_a_directory_or_do_not(self):
        checks, verdicts = self.on_two_hosts("true")
        self.assertEqual(checks["ranks"]["value"], "2 on 2 hosts (1 to 1 on each)")
        self.assertRegex(checks["edges"]["value"], r"rank (0 on alpha to rank 1 on beta|1 on beta to rank 0 on alpha)\)$")
        self.assertEqual((verdicts["sharing"], verdicts["HDF5"]), ("ok", "ok"))
        self.assertIn("all hosts see the same", checks["sharing"]["value"])
        checks, verdicts = self.on_two_hosts("mount -t tmpfs -o size=4m none runs")
        self.assertEqual((verdicts["sharing"], verdicts["HDF5"], verdicts["free space"]), ("bad", "ok", "bad"))
        self.assertEqual(checks["sharing"]["value"], "not on rank 1 on beta")
        self.assertIn("a directory of its own", checks["sharing"]["advice"])
        self.assertIn("as rank 1 on beta sees it", checks["free space"]["value"])
        checks, verdicts = self.on_two_hosts("mount -t tmpfs -o ro none runs")
        self.assertEqual((verdicts["sharing"], verdicts["HDF5"]), ("bad", "bad"))
        self.assertIn("Read-only file system", checks["HDF5"]["advice"])

    def test_time_that_is_up_leaves_edges_out(self):
        self.write("g.topo", "generate complete clients=16\n")
        words = ["--topology", "g.topo", "--clients", 16, "--dimension", 800_000, "--json"]
        result = self.doctor(4, *words)
        self.assertRegex(result.err, r"(?m)^timing edges: \d+ of 12$")
        self.assertTrue(all(edge["seconds"] > 0 for edge in self.examined(result)[0]["edges"]))
        result = self.doctor(4, *words, "--seconds", "0.01")
        found, verdicts = self.examined(result)
        times = [edge["seconds"] for edge in found["edges"]]
        self.assertEqual(len(times), 12)
        timed = sum(seconds is not None for seconds in times)
        self.assertGreaterEqual(timed, 1)
        if timed < 12:
            self.assertIn(f"12 between ranks ({timed} of them timed)", result.out)
        self.assertLess(result.seconds, 30)

    def test_models_that_no_host_can_hold(self):
        result = self.doctor(2, "--clients", 1000, "--dimension", 100_000_000)
        self.assertEqual((result.code, len(result.messages())), (USAGE, 1), result)
        self.assertIn("models of 100000001 numbers take at least", result.messages()[0])
        self.assertIn("Make --dimension smaller", result.messages()[0])
        self.leaves_nothing()

    def test_usage(self):
        for words, said in (
            (["--topology", "nowhere.topo"], "nowhere.topo"),
            (["--clients", "3", "--clients-per-rank", "1"], "exclude each other"),
            (["--clients", "0"], "--clients"),
            (["--frequency", "1"], "frequency"),
        ):
            result = self.doctor(2, *words)
            self.assertEqual((result.code, len(result.messages())), (USAGE, 1), result)
            self.assertIn(said, result.messages()[0])
        self.write("apart.topo", topology(4, [], everywhere=[(0, 1), (1, 0), (2, 3), (3, 2)]))
        result = self.doctor(2, "--topology", "apart.topo", "--clients", 4)
        self.assertEqual(result.code, USAGE)
        self.assertIn("the topology never connects", result.messages()[0])
        self.write("five.topo", topology(5, [], everywhere=[(u, (u + 1) % 5) for u in range(5)]))
        result = self.doctor(2, "--topology", "five.topo")
        self.assertIn("5 clients on 2 ranks", result.messages()[0])
        result = self.doctor(2, "--topology", "five.topo", "--clients", 4)
        self.assertIn("the topology has 5", result.messages()[0])


if __name__ == "__main__":
    unittest.main()
