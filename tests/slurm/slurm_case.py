"""What the tests under SLURM share: one throw-away cluster per class, submitting as a user would, and comparing results."""

import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end_to_end"))

import cluster  # noqa: E402
from harness import *  # noqa: E402, F403

REASON = cluster.missing()
JOB_PATIENCE = 120
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE", "BOOT_FAIL")
COMMANDS = ("omd", "renewable", "infer", "vertical", "fedavg")

needs_cluster = unittest.skipIf(REASON is not None, f"no SLURM cluster: {REASON}")


class Ended:
    """How a job ended, as `scontrol show job` tells it, and what it printed."""

    def __init__(self, state, code, restarts, log):
        self.state, self.code, self.restarts, self.log = state, code, restarts, log

    def __str__(self):
        return f"{self.state}, exit code {self.code}, {self.restarts} restarts\n{self.log}"


@needs_cluster
@needs_h5py
class SlurmCase(TestCase):
    NODES = 1

    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster(cls.NODES)
        # The node claims more CPUs than the machine may have: ranks that wait must give theirs away.
        cls.cluster.environment.update(environment(), OMPI_MCA_mpi_yield_when_idle="1",
                                       SLURM_CONF=cls.cluster.environment["SLURM_CONF"])
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def submit(self, script, *words, options=(), **variables):
        """`sbatch jobs/SCRIPT WORDS` from the project's folder, with results and logs in the test's; the job's number."""
        variables = {"STARLING": str(pathlib.Path(STARLING).resolve()), "RESULTS": str(self.folder),
                     "SCRATCH": str(self.folder), **variables}
        done = self.cluster.run("sbatch", "--parsable", f"--output={self.folder}/%j.log", *options, f"jobs/{script}.sbatch",
                                *words, cwd=SOURCE, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(done.stdout.split(";")[0])

    def show(self, job):
        """What the controller knows of a job, or of a task of an array: key to value."""
        text = self.cluster.ask("scontrol", "show", "job", "-o", job)
        return dict(re.findall(r"(\S+?)=(\S*)", text))

    def log(self, job):
        path = self.folder / f"{self.show(job).get('JobId', job)}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def await_end(self, job, patience=JOB_PATIENCE):
        """Waits until a job has ended for good and its script too."""
        def ended():
            return self.show(job).get("JobState") in TERMINAL
        try:
            wait_until(ended, f"job {job} has ended", patience)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.show(job)}\n{self.log(job)}\n{self.cluster.logs()}") from None
        shown = self.show(job)
        return Ended(shown["JobState"], int(shown["ExitCode"].split(":")[0]), int(shown["Restarts"]), self.log(job))

    def finished(self, job, patience=JOB_PATIENCE):
        ended = self.await_end(job, patience)
        self.assertEqual((ended.state, ended.code), ("COMPLETED", 0), ended)
        return ended

    def recorded(self, run):
        """How many rounds a running job has put on record."""
        try:
            with h5py.File(self.folder / run / "run.h5") as file:
                return len(file["rounds"])
        except (OSError, KeyError, RuntimeError):
            return 0

    def under_way(self, run, more_than=3):
        wait_until(lambda: self.recorded(run) > more_than, f"{run} has recorded something", 60)

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def run_again(self, ranks, run, output):
        """What the job did, under mpirun on so many ranks; the summary."""
        words = shlex.split(self.summary(run)["command_line"])
        words = words[words.index(self.summary(run)["command"]):]
        words = last_given([*words, "--output", self.folder / output])
        done = subprocess.run([MPIRUN, "--oversubscribe", "-n", str(ranks), STARLING, *words], cwd=SOURCE,
                              env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.summary(output)

    def check_same(self, one, other, files="**/*.h5"):
        """All that the two runs have recorded is the same, bit for bit."""
        ours, theirs = contents(self.folder / one, files), contents(self.folder / other, files)
        self.assertGreater(len(ours), 3)
        self.assertEqual(ours.keys(), theirs.keys())
        self.assertEqual([name for name in ours if ours[name] != theirs[name]], [])


def contents(run, files="**/*.h5"):
    """Data sets of a run directory: (shape, type, bytes) by file and name. Files of single ranks depend on the layout."""
    found = {}
    for path in sorted(run.glob(files)):
        def keep(name, item, file=path.relative_to(run)):
            if isinstance(item, h5py.Dataset):
                content = item[()]  # texts are objects, told by what they say
                found[f"{file}:{name}"] = item.shape, item.dtype.str, content.tolist() if content.dtype == object else content.tobytes()
        with h5py.File(path) as file:
            file.visititems(keep)
    return found


__all__ = [name for name in globals() if not name.startswith("_")]
