"""What the end-to-end tests share: starting the program under mpirun, and reading what it leaves.

CMake passes three environment variables: STARLING (the program), STARLING_SOURCE_DIR and STARLING_MPIRUN.
"""

import atexit
import contextlib
import gzip
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import numpy
except ImportError:
    h5py = None
    numpy = None

STARLING = os.environ.get("STARLING", "starling")
MPIRUN = os.environ.get("STARLING_MPIRUN", "mpirun")
SOURCE = pathlib.Path(os.environ.get("STARLING_SOURCE_DIR", pathlib.Path(__file__).parents[2])).resolve()
sys.path.append(str(SOURCE / "jobs"))
from experiment import last_given  # of the words that tests share and those of each its own

DATA = SOURCE / ".." / "shared" / "data"
SLOW = bool(os.environ.get("STARLING_SLOW"))  # what tests/run.sh --long adds to the default tests
LAYOUTS = (1, 2, 4, 7)
PATIENCE = 90
FAILURE = 5

needs_h5py = unittest.skipIf(h5py is None, "h5py is not installed")
needs_a9a = unittest.skipUnless((DATA / "a9a" / "a9a.gz").exists(), "the data set a9a is not beside the project")


def fewer(test):
    """Of a test that has fewer cases by default than with --long, which runs it again with all of them (SLOW)."""
    test.slow = True
    return test


def slow(test):
    """Of a test that takes long beside what it finds, and runs with --long alone."""
    return unittest.skipUnless(SLOW, "slow: run by tests/run.sh --long")(fewer(test))


def layouts(ranks=(1, 7, 4, 2)):
    """Counts of ranks that must give the same bits. By default the first and the last: a process without others, and ranks with
    several clients each. By default test_layouts.py has all of LAYOUTS, and the tests of modules all but 4."""
    return ranks if SLOW else (ranks[0], ranks[-1])

# Notes each rank's process id and exit code. It always ends with 0, so that mpirun has no reason to step in and what is
# seen is the program's own behaviour.
RANK_SCRIPT = """#!/bin/sh
log=$1
shift
sh -c 'echo $$ > "$0"; exec "$@"' "$log/pid.$OMPI_COMM_WORLD_RANK" "$@"
echo $? > "$log/code.$OMPI_COMM_WORLD_RANK"
"""

# The same without a parent that waits: the program takes the place of the script, as when mpirun starts it directly.
NOTE_SCRIPT = """#!/bin/sh
echo $$ > "$1/pid.$OMPI_COMM_WORLD_RANK"
shift
exec "$@"
"""


_sessions = []  # folders of Open MPI, one for each program that was started
_without = pathlib.Path(tempfile.mkdtemp(prefix="without-"))  # programs that seem not to be installed
(_without / "gnuplot").write_text("#!/bin/sh\nexit 127\n")
(_without / "gnuplot").chmod(0o755)
_pictures = False


@atexit.register
def _remove_sessions():
    for folder in (*_sessions, _without):
        shutil.rmtree(folder, ignore_errors=True)


def draw_pictures():
    """Of a file of tests that looks at pictures. Elsewhere runs find no gnuplot, which takes a third of a short run."""
    global _pictures
    _pictures = True


def environment():
    """Of one program that a test starts. Open MPI looks for fast networks and what else is on the PCI bus, and gives a program
    without mpirun a daemon of its own; all of that takes longer than most runs. Programs without a daemon make and remove the
    same folder: each gets a place of its own, or one of twenty that start together finds its folder gone."""
    _sessions.append(tempfile.mkdtemp(prefix="mpi-"))
    result = {"OMPI_MCA_mtl": "^psm,psm2,ofi", "OMPI_MCA_ess_singleton_isolated": "1", "HWLOC_COMPONENTS": "-pci,-linuxio",
              "HWLOC_PLUGINS_PATH": "/nonexistent", **os.environ}
    if not _pictures:
        result["PATH"] = f"{_without}:{result['PATH']}"
    result.update(
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_btl_vader_single_copy_mechanism="none",
        OMPI_MCA_orte_tmpdir_base=_sessions[-1],
        ASAN_OPTIONS="detect_leaks=0",
    )
    return result


class Result:
    """How a run ended; `codes` are those of the ranks, where they were noted."""

    def __init__(self, code, out, err, seconds, codes=None):
        self.code, self.out, self.err, self.seconds, self.codes = code, out, err, seconds, codes

    def messages(self):
        return [line for line in self.err.splitlines() if line.startswith("starling:")]

    def summary(self):
        return json.loads(self.out)

    def __str__(self):
        return f"exit code {self.code}, ranks {self.codes}, {self.seconds:.1f} s\n{self.out}\n{self.err}"


class Job:
    """A program under mpirun that is still running."""

    def __init__(self, command, cwd, log):
        self.log = log
        self._out = tempfile.TemporaryFile("w+")
        self._err = tempfile.TemporaryFile("w+")
        self._began = time.monotonic()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err,
            start_new_session=True,
        )

    def pids(self, ranks):
        """Process ids of the ranks, as soon as all are known."""
        paths = [self.log / f"pid.{rank}" for rank in range(ranks)]
        wait_until(lambda: all(path.exists() and path.read_text().endswith("\n") for path in paths), "the ranks have started")
        return [int(path.read_text()) for path in paths]

    def finish(self, patience=PATIENCE):
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(f"did not end within {patience} s\n{self._text(self._err)}") from None
        seconds = time.monotonic() - self._began
        codes = None
        if self.log is not None:
            found = {int(path.suffix[1:]): int(path.read_text() or -1) for path in self.log.glob("code.*")}
            codes = [found[rank] for rank in sorted(found)]
        return Result(code, self._text(self._out), self._text(self._err), seconds, codes)

    def end(self):
        """Ends a job that should have ended by itself; mpirun takes its ranks with it."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def close(self):
        self.end()
        self._out.close()
        self._err.close()

    @staticmethod
    def _text(file):
        file.seek(0)
        return file.read()


@contextlib.contextmanager
def preloaded(point, action):
    """Programs that are started meanwhile are interrupted at a point, `NAME:N` after so many passes: `rename` and `renamed`, right
    before and after a file is given its name, `checkpoint`, after a checkpoint is there, or `before|after rename|write PATTERN`
    (interruption.cpp). None is nowhere."""
    if point is None:
        yield
        return
    name, _, passes = point.rpartition(":")
    place = {"rename": "before rename /", "renamed": "after rename /", "checkpoint": "after rename /checkpoint-"}.get(name, name)
    os.environ.update(LD_PRELOAD=os.environ["STARLING_INTERRUPTION"], INTERRUPTION=f"{place} {passes} {action}")
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"], os.environ["INTERRUPTION"]


def interrupted(point, by=signal.SIGKILL):
    """Programs get a signal at this point; by SIGKILL they end as by a power loss."""
    return preloaded(point, f"signal {int(by)}")


def slowed(point, milliseconds):
    """Programs sleep at this point and whenever they come to it again."""
    return preloaded(point, f"sleep {milliseconds}")


def wait_until(condition, what, patience=30):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"waited {patience} s in vain until {what}")


_seconds = {}  # of each test that ran: by the clock, and of processors


def _processor_seconds():
    """Of all programs that have ended, and of the test itself."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)))


@atexit.register
def _print_dearest():
    dearest = sorted(_seconds, key=lambda name: _seconds[name][1], reverse=True)[:5]
    if dearest:
        told = ", ".join("{} {:.1f} s, {:.1f} s".format(name, *_seconds[name]) for name in dearest)
        print("the tests that took most of the processors (by the clock, and of processors):", told, file=sys.stderr)
        print(f"{len(_sessions)} programs took {_processor_seconds():.1f} s of processors", file=sys.stderr)


class TestCase(unittest.TestCase):
    """A test in a folder of its own, which is gone afterwards."""

    maxDiff = 2000

    def run(self, result=None):
        if SLOW and not any(hasattr(of, "slow") for of in (type(self), getattr(self, self._testMethodName))):
            return result  # the default tests have it
        began = time.monotonic(), _processor_seconds()
        ended = super().run(result)
        now = time.monotonic(), _processor_seconds()
        _seconds[self.id().removeprefix("__main__.")] = [b - a for a, b in zip(began, now)]
        return ended

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="starling-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._logs = 0

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def write_key(self, name, digits):
        """A noise key, for its owner's eyes alone."""
        path = self.write(name, digits + "\n")
        os.chmod(path, 0o600)
        return path

    def _wrapper(self, script):
        self._logs += 1
        log = self.folder / f"log-{self._logs}"
        log.mkdir()
        path = log / "rank.sh"
        path.write_text(script)
        path.chmod(0o755)
        return log, [str(path), str(log)]

    def silence(self, job, ranks, silent):
        """Stops the process of one of the job's ranks, which was started with RANK_SCRIPT and a watchdog of two seconds, until
        the others have ended: in time, each by the exit code of a failure, and with one message that names it."""
        pids = job.pids(ranks)
        codes = [job.log / f"code.{rank}" for rank in range(ranks) if rank != silent]
        os.kill(pids[silent], signal.SIGSTOP)
        try:
            wait_until(lambda: all(code.exists() for code in codes), "the others have ended", 12)  # MPI may take 5 s to end
        finally:
            os.kill(pids[silent], signal.SIGCONT)
        result = job.finish(30)
        self.assertEqual([int(code.read_text()) for code in codes], [FAILURE] * len(codes), result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertRegex(result.messages()[0], rf"round \d+.*\brank {silent}\b.* for [0-9.]+ s", result)

    def succeeded(self, result):
        """What a program has left that has ended without an error."""
        self.assertEqual(result.code, 0, result)
        return result

    def message_of(self, result, code):
        """The only message of a program that has ended with this code."""
        self.assertEqual(result.code, code, result)
        self.assertEqual(len(result.messages()), 1, result)
        return result.messages()[0]

    def complains(self, result, code, *patterns):
        """The program has ended with this code and one message, in which all patterns are found."""
        message = self.message_of(result, code)
        for pattern in patterns:
            self.assertRegex(message, pattern)

    def check_gone(self, pids):
        wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids), "all ranks are gone", 10)

    def _start(self, parts, script):
        """parts: (ranks, words after the program, further words for mpirun) for each part of the job. Without mpirun where there
        is nothing but one rank: it takes longer to start than most runs."""
        log, wrapper = self._wrapper(script) if script else (None, [])
        command = [MPIRUN, "--oversubscribe"]
        for i, (ranks, words, more) in enumerate(parts):
            command += [":"] if i > 0 else []
            command += ["-n", str(ranks), *more, *wrapper, STARLING, *last_given(completed(words))]
        if script is None and len(parts) == 1 and parts[0][0] == 1:
            command = command[command.index(STARLING):]
        job = Job(command, self.folder, log)
        self.addCleanup(job.close)
        return job

    def start(self, ranks, words, waited_for=True):
        """`starling omd WORDS`, running, with the ranks' process ids noted."""
        return self._start([(ranks, ["omd", *words], [])], RANK_SCRIPT if waited_for else NOTE_SCRIPT)

    def run_noted(self, ranks, words):
        """Runs `starling omd WORDS` and notes every rank's own exit code."""
        return self.run_parts([(ranks, words, [])])

    def run_parts(self, parts):
        """The same with different words, or further words for mpirun, for some ranks."""
        return self._start([(ranks, ["omd", *words], more) for ranks, words, more in parts], RANK_SCRIPT).finish()

    def run_ranks(self, ranks, words):
        """Runs `starling omd WORDS`."""
        return self.run_command(ranks, ["omd", *words])

    def run_command(self, ranks, words, more=()):
        """Runs `starling WORDS`, with further words for mpirun. All ranks end by one exit code: where it tells of a failure, mpirun is not shown it, since it
        would take its time to end ranks that end by themselves."""
        if ranks == 1:
            return self.run_as_a_user(1, words)
        result = self._start([(ranks, words, list(more))], RANK_SCRIPT).finish()
        if result.code == 0:
            self.assertEqual(result.codes, [result.codes[0]] * ranks, result)
            result.code = result.codes[0]
        return result

    def run_as_a_user(self, ranks, words):
        """The same, with mpirun's exit code."""
        return self._start([(ranks, words, [])], None).finish()

    def run_alone(self, words, cwd=None, as_they_are=False):
        """Runs `starling WORDS` without mpirun. Of an option that stands there twice the last counts, unless words are taken as they
        are."""
        words = map(str, words) if as_they_are else last_given(completed(words))
        return self.run_program([STARLING, *words], cwd)

    def run_program(self, command, cwd=None):
        """Runs any command line."""
        began = time.monotonic()
        done = subprocess.run([*map(str, command)], cwd=cwd or self.folder, env=environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - began)

    def losses_in(self, ledgers):
        """Losses of each client, after its ledger was verified."""
        found = {}
        for path in ledgers:
            done = self.run_alone(["privacy", "ledger", path, "--json"])
            self.assertEqual(done.code, 0, done)
            for losses in json.loads(done.out)["losses"]:
                first, through = losses.pop("client"), losses.pop("through", None)
                for client in range(first, (first if through is None else through) + 1):
                    self.assertNotIn(client, found, "two ledgers have this client")
                    found[client] = losses
        return found

    def good(self, ranks, words):
        """Runs the job, expects success and returns the result."""
        result = self.run_ranks(ranks, words)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.messages(), [], result)
        return result

    def summary_of(self, ranks, words, output):
        """Runs the job with --json into `output` (in the test's folder) and returns the object."""
        result = self.good(ranks, [*words, "--output", output, "--json-models", "--progress", "off"])
        return result.summary()

    def summary_in(self, output):
        """The summary that a run has left in `output` (in the test's folder)."""
        return json.loads((self.folder / output / "summary.json").read_text())

    def record(self, output):
        """All data sets of a run, as bytes and shapes hidden in numpy arrays."""
        arrays = {}
        with h5py.File(self.folder / output / "run.h5") as file:
            for name in ("rounds", "model", "mass", "final_model", "loss", "accuracy"):
                if name in file:
                    arrays[name] = file[name][()]
        return arrays


class MethodCase(TestCase):
    """Runs of the method `command`."""
    command = None

    def play(self, words, ranks=1):
        return self.run_command(ranks, [self.command, "--progress", "off", *words])

    def summary(self, words, output, ranks=1):
        """Of a run into `output` that has nothing to complain of."""
        result = self.play([*words, "--output", output, "--json"], ranks)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.messages(), [], result)
        return result.summary()

    def fails(self, code, words, *patterns, ranks=1):
        """The run ends with this code and one message, in which all patterns are found."""
        shutil.rmtree(self.folder / "refused", ignore_errors=True)  # of a case before
        result = self.play([*words, "--output", "refused"], ranks)
        self.complains(result, code, *patterns)
        return result

    def refused(self, code, words, *patterns, ranks=1):
        """The same, and nothing is left."""
        result = self.fails(code, words, *patterns, ranks=ranks)
        self.assertFalse((self.folder / "refused").exists(), "something was written")
        return result


def completed(words):
    """Words of a run with what a test says nothing of. Without --tuning the defaults that --help gives: what a rule chooses from a
    few records would hide what the test is about. Without a price of noise an epsilon of 1. Configurations say it themselves."""
    words = [str(word) for word in words]
    if words[:1] not in (["omd"], ["fedavg"], ["renewable"], ["infer"], ["vertical"]):
        return words
    if not {"--config", "--resume", "--help"}.isdisjoint(words):
        return words
    with_noise = "--mechanism" in words[:-1] and words[words.index("--mechanism") + 1] != "none"
    if with_noise and {"--epsilon", "--mu", "--total-epsilon"}.isdisjoint(word.split("=")[0] for word in words):
        words[1:1] = ["--epsilon", "1"]
    ruled = words[0] in ("omd", "fedavg", "infer") or (words[0] == "renewable" and "private" in words)
    return [words[0], "--tuning", "off", *words[1:]] if ruled and "--tuning" not in words else words


def bits(value):
    """Numbers, lists and objects with every float spelled to the last bit."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, list):
        return [bits(entry) for entry in value]
    if isinstance(value, dict):
        return {key: bits(entry) for key, entry in value.items()}
    return value


def configuration(folder):
    """The options of a run's config.ini."""
    lines = (pathlib.Path(folder) / "config.ini").read_text().splitlines()
    return dict(line.split(" = ", 1) for line in lines if " = " in line)


def checkpoints_in(folder):
    """Rounds, rising."""
    return sorted(int(path.name[11:]) for path in folder.glob("checkpoint-*") if path.name[11:].isdigit())


def tree(folder):
    """Names, modes and contents of everything below a folder."""
    folder = pathlib.Path(folder)
    found = {}
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (oct(path.stat().st_mode), path.stat().st_mtime_ns, content)
    return found


def topology(clients, phases, weights="sender", everywhere=()):
    """Text of a topology file; `phases` are (rounds, edges)."""
    lines = [f"clients {clients}", f"weights {weights}"]
    lines += ["edge " + " ".join(map(str, edge)) for edge in everywhere]
    for rounds, edges in phases:
        lines.append(f"phase {rounds}")
        lines += ["edge " + " ".join(map(str, edge)) for edge in edges]
    return "\n".join(lines) + "\n"


def csv_rows(count, dimension=3, seed=1):
    """A small separable data set: lines `x1,…,xd,label`, labels -1 and 1; the same for equal arguments."""
    state = seed
    lines = []
    for _ in range(count):
        row = []
        for _ in range(dimension):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            row.append(state / 2**63 - 1)
        lines.append(",".join(f"{x:.6f}" for x in row) + ("," + ("1" if row[0] + 0.3 * row[1] > 0 else "-1")))
    return lines


__all__ = [name for name in globals() if not name.startswith("_")]
