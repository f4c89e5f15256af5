"""What jobs/launch.py looks at: the command line, the hosts, the run directory, and what a checkpoint costs there."""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import pathlib
import re
import signal
import struct
import subprocess
import time

COMMANDS = ("omd", "fedavg", "renewable", "infer", "vertical")
SHORTEST_INTERVAL = 0.1
PROBE_BYTES = 64 << 20
PROBE_SECONDS = 30.0
RANKS_OF = {"mpirun": ("-n", "-np", "--n", "--np", "-c"), "srun": ("-n", "--ntasks")}
HOSTS_OF = {"mpirun": ("-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile"),
            "srun": ("-N", "--nodes", "-w", "--nodelist", "-x", "--exclude")}
# Options of the first start that count on a restart; whether each has a value.
TAKEN_ALONG = {"--json": False, "--json-models": False, "--verbose": False, "--progress": True, "--watchdog": True,
               "--ledger-block": True}


PR_SET_PDEATHSIG = 1


def ended_with_its_parent():
    """What a child does before it runs its program, so that it gets SIGTERM when this process dies, even by SIGKILL; None where
    the system cannot do that."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if not prctl:
        return None
    parent = os.getpid()

    def in_child():
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)

    return in_child


class UsageError(Exception):
    """What the user has to mend."""


class RunFolder:
    """What a run directory tells of the run's progress."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def has_begun(self):
        """Whether the first round may have been played; runs that cannot be resumed have no run-id."""
        return (self.path / "run-id").exists() or (self.path / "history.csv").exists()

    def knows_its_clients(self):
        """Whether it can go on with other ranks: the number of clients then no longer follows from that of ranks."""
        return (self.path / "run-id").exists()

    def traces(self):
        """What changes while rounds are played: newest checkpoint, length of history.csv."""
        history = self.path / "history.csv"
        try:
            length = history.stat().st_size
        except OSError:
            length = 0
        return self.newest_checkpoint()[0], length

    def is_held(self):
        """Whether a process plays the run."""
        try:
            folder = os.open(str(self.path), os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        except OSError:  # the disk has no locks
            return False
        finally:
            os.close(folder)

    def is_recording(self):
        """Whether a process has begun to record rounds: it then holds a lock on history.csv. Takes no lock."""
        form = "hhqqi4x"  # struct flock of 64-bit Linux
        try:
            with open(str(self.path / "history.csv"), "rb") as file:
                lock = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(form, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        except OSError:
            return False
        return struct.unpack(form, lock)[0] != fcntl.F_UNLCK

    def is_finished(self):
        if (self.path / "run-id").exists():
            return (self.path / "run-id").read_text().split()[-1:] == ["finished"]
        return (self.path / "summary.json").exists()

    def is_beginning(self):
        return (self.path / "run-is-beginning").exists()

    def has_released_early(self):
        """Whether histograms may have been released, for a first round that never came. They are lost with the process."""
        return (self.path / "config.ini").exists() and not self.is_beginning() and not self.has_begun()

    def can_be_resumed(self):
        """Whether --resume has something to go on with, or to begin."""
        return (self.path / "config.ini").exists() and not self.has_released_early()

    def put_aside(self):
        """Moves away a folder that was being made for a run when it ended: starling wants an empty one."""
        if self.is_beginning() and not self.can_be_resumed() and not self.has_begun():
            self.path.rename("{}.unbegun-{}".format(self.path, int(time.time())))

    def moves(self):
        """How names of private folders end: .N once clients have moved to others N times."""
        try:
            moved = re.search(r"^moved (\d+)$", (self.path / "run-id").read_text(), re.MULTILINE)
        except OSError:
            moved = None
        return "." + moved.group(1) if moved else ""

    def private_folders(self):
        """Those of all ranks. Where hosts have their own, this host may not see all."""
        try:
            lines = (self.path / "private-folders").read_text().splitlines()[1:]
        except OSError:
            return sorted(path for path in self.path.glob("private/*") if path.suffix == self.moves())
        return [pathlib.Path(line.split(" ", 2)[2]) for line in lines]

    def newest_checkpoint(self):
        """(round, its files) of the newest checkpoint that all ranks hold, whose folders are seen; (0, []) if there is none.
        Idle ranks hold none."""
        of_ranks = []
        for folder in self.private_folders():
            found = {int(file.name[11:]): file for file in folder.glob("checkpoint-*") if file.name[11:].isdigit()}
            of_ranks += [found] if found or (folder / "reports").exists() else []
        common = set.intersection(*map(set, of_ranks)) if of_ranks else ()
        newest = max(common, default=0)
        return newest, [found[newest] for found in of_ranks] if newest else []

    def last_recorded(self):
        """Last round of history.csv; 0 without any. A torn last line does not count."""
        try:
            with open(str(self.path / "history.csv"), "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return 0
        first = lines[-1].split(b",")[0] if lines else b""
        return int(first) if first.isdigit() else 0


def checkpoint_cost(folder, size):
    """Seconds to hash, write and sync so many bytes in the folder: measured for at most PROBE_BYTES, and scaled."""
    probed = max(1, min(size, PROBE_BYTES))
    content = os.urandom(probed)
    probe = folder / "launch.probe"
    began = time.monotonic()
    hashlib.sha256(content).digest()
    try:
        with open(str(probe), "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        seconds = time.monotonic() - began
    finally:  # on a disk that it has filled above all
        with contextlib.suppress(OSError):
            probe.unlink()
    return seconds * max(size, 1) / probed


def overhead(interval, cost, mtbf):
    """Share of the time that checkpoints and replays take, to first order."""
    return cost / interval + interval / (2 * mtbf)


def best_interval(cost, mtbf):
    """Young's and Daly's, which makes `overhead` least."""
    return max(SHORTEST_INTERVAL, (2 * cost * mtbf) ** 0.5)


def as_option(seconds):
    return "{:.0f}s".format(seconds) if seconds >= 10 else "{:.2f}s".format(seconds)


class Words:
    """The command line of a launch: launcher and its options, program, command and its options."""

    def __init__(self, words):
        places = [i for i, word in enumerate(words) if word in COMMANDS and i > 0]
        if not places or ":" in words:
            raise UsageError("words after --: one launch of `starling COMMAND` is wanted (COMMAND one of " + ", ".join(COMMANDS) +
                             "). Write -- mpirun -n 8 starling omd ... --output run.")
        at = places[0]
        self.before, self.program, self.command, self.options = words[:at - 1], words[at - 1], words[at], words[at + 1:]
        name = os.path.basename(self.before[0]) if self.before else ""
        self.kind = {"mpirun": "mpirun", "mpiexec": "mpirun", "srun": "srun"}.get(name)
        self.config = self.effective()
        self.resumes = self.value_of("--resume")
        if self.value_of("--join"):
            raise UsageError("--join: a restart would let clients join once more. Start the run with it once, without launch.py.")
        self.output = self.resumes or self.value_of("--output") or self.config.get("output")
        if not self.output and self.fault:
            raise UsageError(self.fault)
        if not self.output:
            raise UsageError("no --output among the words (a restart needs the run directory). Add --output DIR.")

    def value_of(self, option):
        for i, word in enumerate(self.options):
            if word.startswith(option + "="):
                return word[len(option) + 1:]
            if word == option and i + 1 < len(self.options):
                return self.options[i + 1]
        return None

    def effective(self):
        """Options with their values, those of files too; empty where they are wrong (`fault` says how), which the ranks then say."""
        try:
            done = subprocess.run([self.program, self.command] + self.options + ["--print-config"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        except OSError as error:
            raise UsageError("cannot start '{}': {}. Name the program by its path.".format(self.program, error.strerror))
        self.fault = "" if done.returncode == 0 else done.stderr.strip()
        lines = done.stdout.splitlines() if done.returncode == 0 else []
        return dict(line.split(" = ", 1) for line in lines if " = " in line)

    def why_not_restarted(self):
        """Why nobody could go on with such a run; empty if one can."""
        config = self.config
        for key in ("async", "audit"):
            if config.get(key) == "true":
                return "--" + key
        if config.get("deadline"):
            return "--deadline"
        if config.get("variant", "").startswith("offline"):
            return "--variant " + config["variant"]
        if config.get("replications", "0") != "0":
            return "--replications"
        for key in ("source", "start"):
            if any(map(is_pipe, config.get(key, "").split(","))):
                return "--{} that can be read only once".format(key)
        return ""

    def why_as_many_ranks(self):
        """Why a restart must have as many ranks as before; empty if it need not."""
        return "its ranks are parties" if self.command == "vertical" else ""

    def check_loss_of_clients(self):
        """For --lose-clients."""
        if self.command != "omd":
            raise UsageError("--lose-clients: {} cannot go on without some of its clients, only omd can. Leave it out.".format(self.command))
        if self.config and not self.config.get("private"):
            raise UsageError("--lose-clients: without --private no client is lost with a host, for its files are in the run directory. "
                             "Leave it out.")

    def place_of_ranks(self):
        """(index, what stands before the number) of the launcher's word with the number of ranks; None if there is none."""
        for i, word in enumerate(self.before):
            name, equals, _ = word.partition("=")
            if self.kind and name in RANKS_OF[self.kind]:
                return (i, name + "=") if equals else (i + 1, "") if i + 1 < len(self.before) else None
            if self.kind == "srun" and re.match(r"-n\d+$", word):
                return i, "-n"
        return None

    def ranks(self):
        """How many ranks the words ask for; None if they do not say it in a number."""
        place = self.place_of_ranks()
        number = self.before[place[0]][len(place[1]):] if place else os.environ.get("SLURM_NTASKS", "") if self.kind == "srun" else ""
        return int(number) if number.isdigit() and int(number) > 0 else None

    def launcher(self, ranks):
        """Launcher and its options, for so many ranks."""
        place = self.place_of_ranks()
        if ranks is None or ranks == self.ranks():
            return self.before
        if not place:
            return self.before[:1] + ["-n", str(ranks)] + self.before[1:]
        return self.before[:place[0]] + [place[1] + str(ranks)] + self.before[place[0] + 1:]

    def has_interval(self):
        return self.config.get("checkpoint-every", "0") != "0"

    def first(self, interval):
        more = ["--checkpoint-every", interval] if interval else []
        return [self.program, self.command] + more + self.options

    def again(self, run, interval, family_without=None):
        """Words that go on with the run. With a family (empty: the graph stays) clients whose private folders are gone are lost."""
        lost = [] if family_without is None or self.value_of("--lost") else ["--lost", "missing"]
        if lost and family_without:
            lost += ["--rewire", family_without]
        if self.resumes:
            return self.first(interval) + lost
        taken, i = [], 0
        while i < len(self.options):
            name = self.options[i].split("=")[0]
            count = 2 if TAKEN_ALONG.get(name) and "=" not in self.options[i] else 1
            taken += self.options[i:i + count] if name in TAKEN_ALONG else []
            i += count
        more = ["--checkpoint-every", interval] if interval else []
        return [self.program, self.command, "--resume", run] + more + taken + lost


def is_pipe(name):
    """Whether a file of records can be read only once; {client} stands for anything."""
    folder, pattern = os.path.split(name.split("{client", 1)[0] + "*" if "{client" in name else name)
    paths = pathlib.Path(folder or ".").glob(pattern) if "{client" in name and pattern else [pathlib.Path(name)]
    return name == "-" or any(path.is_fifo() for path in paths)


def read_lines(file):
    try:
        return pathlib.Path(file).read_text().splitlines()
    except OSError as error:
        raise UsageError("--hosts '{}': {}. Name a file with a host on each line.".format(file, error.strerror))


class Hosts:
    """Hosts of the launch, and which of them answer. `lines` are those of a host file by name of the host."""

    def __init__(self, words, file):
        self.kind, self.launcher = words.kind, words.before[:1]
        self.ranks = words.ranks()
        self.file = file
        self.lines = {}
        if file:
            for line in read_lines(file):
                if line.split("#")[0].split():
                    self.lines[line.split()[0]] = line
        elif words.kind and os.environ.get("SLURM_JOB_NODELIST"):
            shown = subprocess.run(["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]], check=True,
                                   stdout=subprocess.PIPE, universal_newlines=True)
            self.lines = {name: name for name in shown.stdout.split()}
        self.left = self.started_on = list(self.lines)
        self.left_out = set()  # hosts whose clients are lost: they would have no part in the run
        self.check(words)

    def check(self, words):
        if not self.lines:
            if self.file:
                raise UsageError("--hosts: the file names no host. Write one a line.")
            return
        if not words.kind:
            raise UsageError("--hosts: only mpirun and srun start ranks on other hosts. Put one of them first.")
        for word in words.before:
            if word.split("=")[0] in HOSTS_OF[words.kind]:
                raise UsageError("{} among the words: hosts are chosen anew at each start. Leave it out, and give --hosts FILE or "
                                 "an allocation.".format(word))
        if words.kind == "mpirun" and not self.ranks:
            raise UsageError("mpirun without -n: nobody could tell how many ranks each host has. Add -n RANKS.")

    def gone(self):
        return [host for host in self.lines if host not in self.left]

    def leave_out(self, hosts):
        """For good, even if they answer later."""
        self.left_out.update(hosts)

    def fitting(self):
        """Ranks for the hosts that are left: as many for a slot as at first, and at least one."""
        slots = {host: int(match.group(1)) if match else 1
                 for host, match in ((host, re.search(r"\bslots=(\d+)", line)) for host, line in self.lines.items())}
        every = sum(slots.values())
        return max(1, -(-self.ranks * sum(slots[host] for host in self.left) // every)) if self.ranks and every else self.ranks

    def can_be_asked_meanwhile(self):
        """Whether hosts answer while ranks run: in an allocation of SLURM another step may have to wait for their end."""
        return bool(self.file) and self.kind == "mpirun" and "SLURM_JOB_ID" not in os.environ

    def ask(self):
        """Finds out who is left; whether somebody has gone since ranks were started last, which is asked until it is known."""
        if not self.lost():
            self.probe()
        return self.lost()

    def lost(self):
        return any(host not in self.left for host in self.started_on)

    def probe(self):
        probes = {}
        for host in self.lines:
            if host in self.left_out:
                continue
            where = ["--host", host, "-n", "1"] if self.kind == "mpirun" else ["-w", host, "-N", "1", "-n", "1"]
            probes[host] = subprocess.Popen(self.launcher + where + ["hostname"], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + PROBE_SECONDS
        for probe in probes.values():
            try:
                probe.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(probe.pid, signal.SIGKILL)
                probe.wait()
        self.left = [host for host, probe in probes.items() if probe.returncode == 0]

    def words(self, before, scratch):
        """Launcher and options that start ranks on the hosts that are left; a file of these goes to the scratch folder."""
        self.started_on = self.left
        if not self.lines or not (self.file or self.gone()):
            return before
        if self.kind == "srun":
            return before[:1] + ["--nodelist", ",".join(self.left), "--nodes", str(len(self.left)), "--overcommit"] + before[1:]
        if self.file and not self.gone():
            return before[:1] + ["--hostfile", self.file] + before[1:]
        file = pathlib.Path(scratch.path()) / "hosts"
        file.write_text("".join(self.lines[host] + "\n" for host in self.left))
        return before[:1] + ["--hostfile", str(file)] + (["--oversubscribe"] if self.gone() else []) + before[1:]
