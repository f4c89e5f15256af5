"""One short run of each command under valgrind: no invalid access, no decision by what was never set, and nothing lost
that was allocated. What MPI does so by itself is in mpi.supp. Builds for x86-64-v3 run under it; valgrind knows no AVX-512,
which the preset `native` may use."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end_to_end"))

from harness import *  # noqa: E402, F403

FOUND = 99  # exit code if there is something
FAULTY = os.environ.get("STARLING_FAULTY", "valgrind_faulty")
PATIENCE = 300
NOISY = ["--mechanism", "gaussian", "--epsilon", "1", "--delta", "1e-5"]
GAUSSIANS = ["--source", "synthetic:two-gaussians:p=5,mu=0.2,sigma=1,ratio=1/1,n=400", "--clients", "2", *NOISY]


@unittest.skipUnless(shutil.which("valgrind"), "no valgrind (jobs/setup.sh --tests installs it)")
class Commands(TestCase):
    def valgrind(self):
        return ["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
                "--num-callers=30", f"--error-exitcode={FOUND}", f"--log-file={self.folder}/valgrind.%p",
                f"--suppressions={SOURCE}/tests/valgrind/mpi.supp"]

    def found(self):
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("valgrind.*")))

    def run_under_valgrind(self, command):
        return subprocess.run([*map(str, command)], cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)

    def clean(self, ranks, *words):
        launcher = [MPIRUN, "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        done = self.run_under_valgrind([*launcher, *self.valgrind(), STARLING, *words])
        found = self.found()
        self.assertEqual((done.returncode, found), (0, ""), f"{done.stdout}\n{done.stderr}\n{found}")
        return done

    def test_what_is_to_be_found_is_found(self):
        for what, said in (("leak", "definitely lost"), ("read", "Invalid read of size 4"), ("branch", "uninitialised")):
            done = self.run_under_valgrind([*self.valgrind(), FAULTY, what])
            self.assertEqual(done.returncode, FOUND, done.stderr)
            self.assertIn(said, self.found())
        self.assertEqual(self.run_under_valgrind([*self.valgrind(), FAULTY, "nothing"]).returncode, 0)

    def test_omd_and_what_is_made_of_its_run(self):
        """With noise, checkpoints, a network of several clients on a rank; gone on with, reported and looked up."""
        words = ["--source", "synthetic:drift", "--clients", "3", "--mechanism", "laplace", "--epsilon", "1", "--tuning", "off",
                 "--output", "run", "--checkpoint-every", "5"]
        self.clean(2, "omd", *words, "--rounds", "20")
        self.clean(2, "omd", "--resume", "run", "--rounds", "30")
        self.clean(1, "report", "run")
        self.clean(1, "privacy", "ledger", "run/private/0/ledger")

    def test_fedavg(self):
        self.clean(2, "fedavg", *GAUSSIANS, "--batch", "20", "--local-steps", "3", "--rounds", "5", "--output", "run")

    def test_renewable(self):
        self.clean(2, "renewable", *GAUSSIANS, "--batch", "20", "--variant", "private", "--rounds", "5", "--output", "run")

    def test_infer(self):
        self.clean(2, "infer", "--source", "synthetic:linear:p=3,sd=0.5,n=200", "--clients", "2", "--loss", "huber:1.345",
                   "--mechanism", "gaussian", "--mu", "1", "--intervals", "random-scaling", "--output", "run")

    def test_vertical(self):
        self.clean(2, "vertical", "--source", "synthetic:spectrum", "--clients", "2", "--rounds", "2", "--quantiser", "scalar:4",
                   "--mechanism", "none", "--feature-net", "d-8-4", "--head", "d-4-d", "--output", "run")

    def test_doctor(self):
        done = self.clean(2, "doctor", "--seconds", "1", "--json")
        self.assertEqual(len(json.loads(done.stdout)["ranks"]), 2)

    def test_topology_data_and_privacy(self):
        self.write("data.csv", "\n".join(csv_rows(60)) + "\n")
        self.write("g.topo", topology(4, [(1, [(0, 1), (1, 2)]), (2, [(2, 3), (3, 0)])]))
        self.clean(1, "topology", "check", "g.topo")
        self.clean(1, "data", "describe", "data.csv")
        self.clean(1, "privacy", "calibrate", "--mechanism", "gaussian", "--epsilon", "1", "--delta", "1e-5")


if __name__ == "__main__":
    unittest.main()
