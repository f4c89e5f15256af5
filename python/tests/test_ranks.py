"""Scripts under mpirun: the same bits for any number of ranks, errors on all of them, signals, and mpi4py beside."""

import pathlib
import signal
import subprocess
import sys
import time
import unittest

from case import *

HEAD = f"""
import sys
sys.path.append({str(pathlib.Path(__file__).resolve().parent)!r})
import numpy as np
import own
import starling
from case import records_of
x, y = records_of()
OPTIONS = dict(clients=4, topology="ring", partition="iid", mechanism="gaussian", epsilon=1, delta=1e-5, tuning="off", seed=3, noise_key="seed",
               progress="off")
"""
ENDLESS = HEAD + """
try:
    run = starling.omd(source="synthetic:drift:n=1000000", clients=2, topology="complete", mechanism="laplace", epsilon=1, tuning="off",
                       progress="off", output="run", seed=1)
except KeyboardInterrupt as stopped:
    print("stopped", type(stopped).__name__, stopped.path)
    again = starling.privacy.spend(mechanism="laplace", epsilon=1, releases=2)
    print("rounds", starling.load(stopped.path).summary["rounds"] > 0, again["releases"])
"""


class Ranks(PythonCase):
    def test_layouts(self):
        for ranks in (1, 2, 4):
            self.script(ranks, HEAD + f"""
run = starling.omd(records=(x, y), **OPTIONS, output="built-in-{ranks}")
assert run.models.shape == (4, 4) and run.summary["ranks"] == starling.ranks() == {ranks}
mine = starling.omd(model=own.Logistic(), records=(x, y), **OPTIONS, output="own-{ranks}")
assert np.allclose(mine.models, run.models, rtol=0, atol=1e-12), starling.rank()
assert len(mine.predict(x)) == len(x)
""")
        np.savetxt("records.csv", np.column_stack(records_of()), fmt="%r", delimiter=",")
        starling.topology.make("ring", clients=4, output="ring.topo")
        self.good(2, ["--source", "records.csv", "--clients", "4", "--topology", "ring.topo", "--partition", "iid", "--mechanism", "gaussian",
                      "--epsilon", "1", "--delta", "1e-5", "--seed", "3", "--noise-key", "seed", "--output", "program"])
        for ranks in (1, 2, 4):
            same_runs(self, starling.load(f"built-in-{ranks}"), starling.load("program"))
            same_runs(self, starling.load(f"own-{ranks}"), starling.load("own-1"))

    def test_all_ranks_start_from_the_same_values(self):
        self.script(2, HEAD + """
class Apart(own.Logistic):
    identity = "apart"
    def start(self, seed):
        return np.full(4, float(starling.rank()))
for command in (starling.omd, starling.fedavg):
    options = {name: value for name, value in OPTIONS.items() if command is starling.omd or name not in ("topology", "tuning")}
    try:
        command(model=Apart(), records=(x, y), **options)
    except starling.Error as error:
        with open(f"{command.__name__}-{starling.rank()}", "w") as file:
            file.write(f"{type(error).__name__} {error}")
""")
        for command in ("omd", "fedavg"):
            first, second = ((self.folder / f"{command}-{rank}").read_text() for rank in (0, 1))
            self.assertIn("UsageError the start of the own model of rank 1 differs from that of rank 0", first)
            self.assertIn("PeerError", second)

    def test_own_models_of_all_ranks_say_the_same(self):
        self.script(2, HEAD + '''
del OPTIONS["tuning"], OPTIONS["epsilon"]
later = starling.rank()
class Dimension(own.Logistic):
    def dimension(self, features):
        return features + later
class Slope(own.Logistic):
    slope = 0.5 if later else None
class Classifies(own.Logistic):
    classifies = bool(later)
class Predict(starling.Model):
    gradients = own.Logistic.gradients
    if later: predict = own.Logistic.predict
class Code(own.Logistic):
    def __init__(self): self.rank = later
for kind, what in ((Dimension, "dimension"), (Slope, "slope"), (Classifies, "member `classifies`"), (Predict, "function `predict`"),
                   (Code, "code")):
    for command in (starling.omd, starling.fedavg):
        options = {name: value for name, value in OPTIONS.items() if command is starling.omd or name != "topology"}
        try:
            command(model=kind(), records=(x, y), total_epsilon=4, **options)
            sys.exit(f"{what}: no error")
        except starling.UsageError as error:
            assert not later and str(error).startswith(f"the {what} of the own model of rank 1 differs from that of rank 0"), error
        except starling.PeerError:
            assert later
''')

    @needs("mpi4py")
    def test_no_run_follows_the_end_of_mpi(self):
        for before in ("", "starling.ranks()"):
            self.script(1, HEAD + f"""
from mpi4py import MPI
{before}
MPI.Finalize()
try:
    starling.omd(records=(x, y), **OPTIONS)
except starling.FailureError as error:
    assert "MPI has been ended" in str(error), error
    sys.exit()
sys.exit("no error")
""")

    def test_each_rank_has_its_own_records(self):
        self.script(2, HEAD + """
rank = starling.rank()
parts = [(x[k::4], y[k::4]) if k // 2 == rank else None for k in range(4)]
del OPTIONS["partition"], OPTIONS["clients"]
starling.omd(records=parts, **OPTIONS, output="own")
starling.omd(records=[(x[k::4], y[k::4]) for k in range(4)], **OPTIONS, output="all")
""")
        same_runs(self, starling.load("own"), starling.load("all"))

    def test_errors_of_one_rank(self):
        done = self.script(4, HEAD + """
class Wrong(own.Logistic):
    identity = "wrong"
    def gradients(self, point, x, y):
        if starling._module.rank() == 2: raise OverflowError("secret")
        return super().gradients(point, x, y)
open_ones = {name: value for name, value in OPTIONS.items() if name not in ("mechanism", "epsilon", "delta", "noise_key", "clip")}
try:
    starling.omd(model=Wrong(), records=(x, y), mechanism="none", **open_ones, output="run")
except OverflowError as error:
    print(f"own {starling.rank()}\\n", end="", flush=True)
except starling.PeerError as error:
    assert "secret" not in str(error) and error.code == 3
    print(f"peer {starling.rank()}\\n", end="", flush=True)
try:
    starling.omd(records=(x, y), **{**OPTIONS, "topology": "nonsense"})
except starling.UsageError as error:
    print(f"usage {starling.rank()}\\n", end="", flush=True)
except starling.PeerError as error:
    print(f"usage {starling.rank()}\\n", end="", flush=True)
""")
        self.assertEqual(sorted(done.stdout.split("\n")[:-1]), ["own 2", "peer 0", "peer 1", "peer 3", *(f"usage {k}" for k in range(4))],
                         done.stderr)

    def test_errors_of_one_rank_before_its_command_begins(self):
        done = self.script(3, HEAD + '''
def fails(name, call):
    try:
        call()
    except Exception as error:
        print(f"{name} {starling.rank()} {type(error).__name__} {error}\\n", end="", flush=True)
here = starling.rank() == 1
class Told(own.Logistic):
    def identity(self):
        if here: raise OverflowError("secret")
        return "told"
texts = x.astype(object)
texts[3, 0] = "secret"
fails("text", lambda: starling.omd(records=(texts if here else x, y), **OPTIONS))
fails("empty", lambda: starling.omd(records=(x[:, :0] if here else x, y), **OPTIONS))
fails("test", lambda: starling.fedavg(records=(x, y), test=(x, y[1:] if here else y), clients=4, mechanism="none"))
fails("identity", lambda: starling.omd(model=Told(), records=(x, y), **OPTIONS))
fails("keyword", lambda: starling.omd(records=(x, y), **OPTIONS, **({"nonsense": 1} if here else {})))
fails("all", lambda: starling.omd(records=(x, y), nonsense=1, **OPTIONS))
starling.omd(records=(x, y), **OPTIONS, output="run")
''')
        lines = sorted(done.stdout.split("\n")[:-1])
        self.assertEqual(len(lines), 18, lines)
        for name, kind in (("text", "DataError"), ("empty", "UsageError"), ("test", "DataError"), ("identity", "OverflowError"),
                           ("keyword", "UsageError")):
            peer, own, other = (line for line in lines if line.startswith(name))
            self.assertTrue(own.startswith(f"{name} 1 {kind}"), own)
            for line, rank in ((peer, 0), (other, 2)):
                self.assertTrue(line.startswith(f"{name} {rank} PeerError"), line)
                self.assertNotIn("secret", line)
        for rank in range(3):
            self.assertIn(f"all {rank} UsageError starling.omd has no keyword 'nonsense'.", done.stdout)
        self.assertTrue(starling.load("run").summary)

    def test_an_uncaught_error_of_one_rank_ends_all(self):
        began = time.monotonic()
        done = self.script(2, HEAD + "starling.rank()\nif starling.rank() == 1: raise ValueError('alone')\n"
                                     "starling.omd(records=(x, y), **OPTIONS)\n", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ValueError: alone", done.stderr)
        self.assertLess(time.monotonic() - began, 30)

    def test_parties_predict_together(self):
        x, y = records_of()
        for name, columns in (("a", [0, 1]), ("b", [2, 3])):
            lines = [",".join(["id", *(f"{name}{k}" for k in columns), *["y"] * (name == "a")])]
            for i in range(len(x)):
                lines.append(",".join([str(i), *(repr(float(x[i, k])) for k in columns), *[str(int(y[i] > 0))] * (name == "a")]))
            self.write(f"{name}.csv", "\n".join(lines) + "\n")
        done = self.script(3, HEAD + """
run = starling.vertical(parties=["a.csv", "b.csv"], id="id", label="y", mechanism="none", seed=1, output="run", progress="off")
table = starling.predict(run, parties=["a.csv", "b.csv"], id="id")
again = starling.omd(records=(x, y), **OPTIONS, output="again")  # MPI goes on
if starling.rank() == 0: print(list(table)[0], len(table["id"]), again.models.shape)
else: assert table is None
""")
        self.assertEqual(done.stdout, "id 240 (4, 4)\n")

    @needs("mpi4py")
    def test_mpi4py_before_and_after(self):
        run = 'assert starling.omd(records=(x, y), **OPTIONS, output="{}").models.shape == (4, 4)\n'
        check = "from mpi4py import MPI\nassert MPI.COMM_WORLD.allreduce(1) == 2\n"
        self.script(2, check + HEAD + run.format("a") + run.format("b") + check)
        self.script(2, HEAD + run.format("c") + check + run.format("d"))
        same_runs(self, starling.load("a"), starling.load("d"))


class Signals(PythonCase):
    def stop(self, number, ranks=1):
        path = self.write("script.py", ENDLESS)
        command = [sys.executable, "-B", path]
        if ranks > 1:
            command = [harness.MPIRUN, "--oversubscribe", "-n", str(ranks), *command]
        job = subprocess.Popen(command, cwd=self.folder, env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        self.addCleanup(job.kill)
        harness.wait_until(lambda: (self.folder / "run" / "history.csv").exists(), "the run has begun")
        time.sleep(0.2)
        job.send_signal(number)
        out, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, err)
        return out

    def test_a_signal_stops_the_run_safely(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            out = self.stop(number)
            self.assertEqual(out.split("\n")[0], "stopped Stopped run")
            self.assertEqual(out.split("\n")[1], "rounds True 2")
            (self.folder / "run").rename(self.folder / f"run-{number}")

    def test_handlers_of_python_are_back_afterwards(self):
        done = self.script(1, HEAD + """
import os, signal
starling.omd(records=(x, y), **OPTIONS, output="run")
starling.score("run", records=(x, y))
try:
    os.kill(os.getpid(), signal.SIGINT)
    import time
    time.sleep(5)
except KeyboardInterrupt as error:
    print(type(error).__name__)
""")
        self.assertEqual(done.stdout, "KeyboardInterrupt\n")


if __name__ == "__main__":
    unittest.main()
