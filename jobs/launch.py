#!/usr/bin/env python3
"""Starts a run, and starts it again from its newest checkpoint when a rank or a host fails. Nobody has to watch.

    jobs/launch.py -- mpirun -n 8 starling omd --config omd.ini --output run
    jobs/launch.py --hosts hosts --mtbf 24 -- mpirun -n 64 starling omd --config omd.ini --output run
    jobs/launch.py --mtbf 24 -- srun -n 64 starling omd --config omd.ini --output run      in `salloc --no-kill`

Hosts: before a restart each host of --hosts FILE (else of the SLURM allocation) is asked for its name. Ranks start on those
that answer, as many for a slot as at first. mpirun may wait for ever for a host that is cut off: when a run has left no trace
for 15 s, its hosts are asked, and if one is gone the ranks are ended. Without a list of hosts the same command starts again.

With --private a host that is gone has the files of its clients. With --lose-clients the run then goes on without these clients, for
good (--lost missing): the others count equally. Otherwise it ends, and says whose folder is missing.

Checkpoints: unless the words say it, --checkpoint-every is 60s, or with --mtbf the interval of Young (1974) and Daly (2006),
sqrt(2 C M). M is the mean time between failures of the whole launch. C is the time to hash, write and sync as many bytes as
the first checkpoint of all ranks has. The first interval is at most 60 s. It changes at once where that saves more than 1 % of the
time, else at the next restart.

Signals: SIGINT, SIGTERM, SIGUSR1 and SIGHUP (but under nohup) stop the run safely, and it is not started again. A second SIGINT
ends it at once.

RUN/launch.json and the last line tell of each attempt and of what was lost. The same command goes on with a run that it has
begun. Exit codes are starling's: 0 done, 2 usage, 3 data, 4 budget, 5 given up, 75 stopped by a signal. Python's own library
is enough.
"""

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from launch_parts import (SHORTEST_INTERVAL, Hosts, RunFolder, UsageError, Words, as_option, best_interval, checkpoint_cost,
                          ended_with_its_parent, overhead)

DONE, USAGE, DATA, BUDGET, FAILURE, STOPPED_SAFELY = 0, 2, 3, 4, 5, 75
FINAL = (DONE, USAGE, DATA, BUDGET)
FIRST_INTERVAL = 60.0
LONGEST_WAIT = 300.0
STARTUP = 10.0  # after which ranks surely have begun: the signal to stop kills those that have not
STOP_AGAIN = 5.0  # mpirun and srun may lose a signal; ranks that stop already ignore another
MOST_LEDGERS = 64
HANGS = 30.0  # mpirun may wait for ever for ranks that are gone
PATIENCE = 5.0  # of mpirun, to end the ranks of hosts that are left
QUIET = 15.0  # without a trace of a round, after which hosts are asked whether they are there


def say(text):
    """A message. One that cannot be written, as into a log on a full disk or to a terminal that is gone, must not end the run."""
    try:
        print("launch: " + text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Stop:
    """Signals to this process: passed on to the launcher as SIGUSR1, by which all ranks stop after one common round."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)

    def __init__(self):
        self.asked = False
        self.interrupts = 0
        self.child = None
        self.sent_at = float("-inf")
        for number in self.SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, self.on_signal)

    def on_signal(self, number, _):
        self.asked = True
        self.interrupts += number == signal.SIGINT
        if self.child and self.interrupts > 1:
            self.child.terminate()  # mpirun and srun then end their ranks

    def ignore(self):
        """Nothing is left to stop. Python would otherwise give signals back their defaults when it ends, and die of one."""
        for number in self.SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def pass_on(self):
        """Once ranks have begun, and from time to time."""
        if time.monotonic() > self.sent_at + STOP_AGAIN:
            self.child.send_signal(signal.SIGUSR1)
            self.sent_at = time.monotonic()


def has_terminal():
    """Whether there is a terminal, whose Ctrl-C would reach the ranks' launcher too, which kills them."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        return True
    except OSError:
        return False


def has_children(pid):
    """Whether a process has children that live; true where the system does not tell."""
    try:
        with open("/proc/{0}/task/{0}/children".format(pid)) as file:
            children = file.read().split()
    except OSError:
        return True
    for child in children:
        try:
            with open("/proc/{}/stat".format(child)) as file:
                if file.read().rpartition(")")[2].split()[0] != "Z":
                    return True
        except OSError:
            pass
    return False


class Scratch:
    """A folder for files of the launcher, which is made when the first file needs it, and removed with this object."""

    def __init__(self):
        self.folder = None

    def path(self):
        self.folder = self.folder or tempfile.TemporaryDirectory(prefix="starling-launch-")
        return self.folder.name


class Launch:
    """A run from its first start to its end; `story` is what launch.json holds."""

    def __init__(self, options, words):
        self.options, self.words = options, Words(words)
        self.run = RunFolder(self.words.output)
        self.hosts = Hosts(self.words, options.hosts)
        self.final = self.words.why_not_restarted()
        if options.lose_clients is not None:
            self.words.check_loss_of_clients()
        self.own_interval = bool(self.words.config) and not self.final and not self.words.has_interval()
        self.mtbf = options.mtbf * 3600 if options.mtbf else None
        self.seconds = max(SHORTEST_INTERVAL, min(FIRST_INTERVAL, self.mtbf or FIRST_INTERVAL)) if self.own_interval else None
        self.cost = None
        self.planned = False
        self.restarts = 0
        self.ranks = self.words.ranks()
        self.scratch = Scratch()
        self.story = {"words": words, "run": self.words.output, "began": utc(time.time()), "attempts": self.earlier_attempts(words)}

    def earlier_attempts(self, words):
        """Those of launch.json, where this run was begun by the same words; by others it is starling's to refuse it."""
        for file in (self.run.path / "launch.json", self.story_beside()):
            try:
                told = json.loads(file.read_text())
                return told["attempts"] if self.words.resumes or told["words"] == words else []
            except (OSError, ValueError, KeyError):
                pass
        return []

    def story_beside(self):
        """The file of the story until the run has begun: starling wants the run's folder empty before."""
        return self.run.path.with_name(self.run.path.name + ".launch.json")

    def command(self):
        interval = as_option(self.seconds) if self.seconds else None
        if self.run.can_be_resumed() and self.story["attempts"]:
            words = self.words.again(self.words.output, interval, self.options.lose_clients if self.hosts.gone() else None)
        else:
            words = self.words.first(interval)
        return self.hosts.words(self.words.launcher(self.ranks), self.scratch) + words

    def commands_to_show(self):
        """The first start and a restart; with --lose-clients the restart is that after a host with clients has gone."""
        again = self.words.again(self.words.output, as_option(self.seconds) if self.seconds else None, self.options.lose_clients)
        return [self.command()] + ([] if self.final else [self.hosts.words(self.words.before, self.scratch) + again])

    def ranks_now(self):
        """Ranks of the next start: fewer where hosts are gone, if the run can go on with them."""
        fixed = self.words.why_as_many_ranks() or not self.run.knows_its_clients()
        return self.words.ranks() if fixed else self.hosts.fitting()

    def play(self, stop):
        """Starts until there is nothing more to start; the exit code."""
        wait = self.options.backoff
        self.await_others(stop)
        while True:
            if self.story["attempts"]:
                self.run.put_aside()
            attempt = self.attempt(stop)
            code = attempt["exit_code"]
            if code == STOPPED_SAFELY and self.planned and not stop.asked:
                self.planned = False
                say("checkpoints every {} from now on (a checkpoint takes {:.3g} s)".format(as_option(self.seconds), self.cost))
                continue
            self.planned = False
            why = self.why_the_end(attempt, stop)
            if why is not None:
                return self.end(why, code, stop)
            gone = self.hosts.ask()
            attempt["hosts_gone"] = self.hosts.gone()
            if self.hosts.lines and not self.hosts.left:
                return self.end("given up: no host answers", FAILURE, stop)
            if self.options.lose_clients is not None:
                self.hosts.leave_out(self.hosts.gone())
            if self.restarts > 0 and not gone and not self.gets_ahead(attempt):
                return self.end("given up: the same round has failed twice (no further than round {})".format(
                    self.story["attempts"][-2]["reached"]), FAILURE, stop)
            self.restarts += 1
            if self.gets_ahead(attempt):
                wait = self.options.backoff
            self.wait(min(wait, LONGEST_WAIT) * random.uniform(0.5, 1.5), attempt, stop)
            wait *= 2
            if stop.asked:
                return self.end("stopped by a signal", STOPPED_SAFELY, stop)

    def await_others(self, stop):
        """Waits for ranks of a launcher that was killed: they end soon after it."""
        end = time.monotonic() + HANGS
        if self.run.is_held():
            say("a process holds '{}': its end is waited for, up to {:.0f} s".format(self.run.path, HANGS))
        while self.run.is_held() and time.monotonic() < end and not stop.asked:
            time.sleep(0.1)

    def why_the_end(self, attempt, stop):
        """Why there is no other attempt; None if there is to be one."""
        code = attempt["exit_code"]
        if code == USAGE and self.run.is_held():
            return "another process plays the run: wait for its end, or end it, and give the same command again"
        if code in FINAL:
            return {DONE: "done"}.get(code, "ended by exit code {}, which no restart mends".format(code))
        if stop.asked or (code == STOPPED_SAFELY and not self.options.through_preemption):
            return "stopped by a signal"
        if self.final:
            return "failed by exit code {}, and a run with {} cannot be resumed".format(code, self.final)
        if self.run.has_released_early():
            return ("given up: failed by exit code {} before its first round, and may have released histograms, which are lost (a new "
                    "start would pay for them again). {}/private/*/ledger says what is charged. To pay again, name another --output"
                    .format(code, self.run.path))
        if self.restarts >= self.options.restarts:
            return "given up: failed by exit code {} after {} restarts".format(code, self.restarts)
        return None

    def gets_ahead(self, attempt):
        """Whether an attempt that failed has come further than the one before."""
        if len(self.story["attempts"]) < 2:
            return True
        before = self.story["attempts"][-2]
        return any(attempt[key] > before.get(key, 0) for key in ("checkpoint", "reached"))  # one of a killed launcher has none

    def attempt(self, stop):
        """Starts ranks and waits for their end; what launch.json says of it."""
        attempts = self.story["attempts"]
        at = self.run.newest_checkpoint()[0]
        self.ranks = self.ranks_now()
        attempt = {"words": self.command(), "began": utc(time.time()), "ranks": self.ranks, "from_round": at,
                   "rounds_replayed": max(0, attempts[-1].get("reached", 0) - at) if attempts else 0}
        began = time.monotonic()
        fresh = not self.run.has_begun()
        attempts.append(attempt)
        if fresh and self.run.path.parent.is_dir():
            self.write(self.story_beside())
        try:
            stop.child = subprocess.Popen(attempt["words"], start_new_session=has_terminal(),
                                          preexec_fn=ended_with_its_parent())
        except OSError as error:
            self.forget_story_beside()
            raise UsageError("cannot start '{}': {}. Is it installed, and on PATH?".format(attempt["words"][0], error.strerror))
        try:
            self.watch(stop, fresh)
        finally:
            if stop.child.poll() is None:  # this script has failed, and nobody would watch them
                stop.child.terminate()
                stop.child.wait()
        code = stop.child.returncode
        attempt.update(seconds=round(time.monotonic() - began, 3), exit_code=128 - code if code < 0 else code,
                       checkpoint=self.run.newest_checkpoint()[0])
        attempt["reached"] = max(attempt["checkpoint"], self.run.last_recorded())
        if attempt["exit_code"] == DONE and not self.run.is_finished():
            attempt["exit_code"] = FAILURE
            say("{} reports success, but has not started the ranks (see its messages above)".format(attempt["words"][0]))
        stop.child, stop.sent_at = None, float("-inf")
        self.tell()
        return attempt

    def watch(self, stop, fresh):
        """Waits for the end of the ranks, of a `fresh` run or of one that goes on; tells of them meanwhile, and measures the first
        checkpoint."""
        told = had_children = False
        began = alive_at = moved_at = time.monotonic()
        traces = self.run.traces()
        while True:
            try:
                stop.child.wait(0.1)
                return
            except subprocess.TimeoutExpired:
                pass
            has_begun = self.run.has_begun() if fresh else self.run.is_recording()
            if (stop.asked or self.planned) and (has_begun or time.monotonic() > began + STARTUP):
                stop.pass_on()
            if not told and self.run.has_begun():
                self.tell()
                told = True
            if self.own_interval and self.mtbf and not self.cost and told:
                self.choose_interval(stop)
            if self.words.kind == "mpirun":
                if has_children(stop.child.pid):
                    alive_at, had_children = time.monotonic(), True
                elif had_children and time.monotonic() > alive_at + HANGS:
                    say("all ranks are gone, and mpirun waits for them: it is ended")
                    stop.child.kill()
            if self.hosts.can_be_asked_meanwhile():
                if self.run.traces() != traces:
                    traces, moved_at = self.run.traces(), time.monotonic()
                elif time.monotonic() > moved_at + QUIET:
                    self.end_without_hosts(stop)
                    moved_at = time.monotonic()

    def end_without_hosts(self, stop):
        """Ends ranks that wait for a host which is gone: mpirun would wait with them."""
        if not self.hosts.ask():
            return
        say("{} do not answer: the ranks are ended".format(", ".join(self.hosts.gone())))
        stop.child.terminate()
        try:
            stop.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            stop.child.kill()

    def choose_interval(self, stop):
        """Once there is a checkpoint of all ranks, and where it saves enough to stop for it."""
        round_now, files = self.run.newest_checkpoint()
        if not round_now:
            return
        try:
            self.cost = checkpoint_cost(self.run.path, sum(file.stat().st_size for file in files))
        except FileNotFoundError:
            return  # older checkpoints are taken away meanwhile
        except OSError as error:
            say("cannot measure what a checkpoint costs in {}: {}. The interval stays {}".format(
                self.run.path, error.strerror, as_option(self.seconds)))
            self.mtbf = None
            return
        before, self.seconds = self.seconds, best_interval(self.cost, self.mtbf)
        self.story["interval"] = {"cost": self.cost, "mtbf": self.mtbf, "seconds": self.seconds}
        saved = overhead(before, self.cost, self.mtbf) - overhead(self.seconds, self.cost, self.mtbf)
        if saved > 0.01 and not stop.asked:
            self.planned = True

    def wait(self, seconds, attempt, stop):
        say("exit code {} at round {}; restart {} of {} from round {} in {:.1f} s{}{}".format(
            attempt["exit_code"], attempt["reached"], self.restarts, self.options.restarts, attempt["checkpoint"], seconds,
            self.hosts_in_words(), self.ranks_in_words(self.ranks, self.ranks_now())))
        end = time.monotonic() + seconds
        while time.monotonic() < end and not stop.asked:
            time.sleep(min(0.1, max(0.0, end - time.monotonic())))

    def hosts_in_words(self):
        gone = self.hosts.gone()
        return " on {} of {} hosts (gone: {})".format(len(self.hosts.left), len(self.hosts.lines), ", ".join(gone)) if gone else ""

    @staticmethod
    def ranks_in_words(before, now):
        return ", {} ranks after {}".format(now, before) if now != before else ""

    def end(self, why, code, stop):
        """Tells how it ended; the exit code. Ranks that the signal ended before they could answer have lost nothing."""
        if code not in FINAL and code != STOPPED_SAFELY:
            code = STOPPED_SAFELY if stop.asked and code != FAILURE else FAILURE
        attempts = self.story["attempts"]
        self.story.update(ended=utc(time.time()), outcome=why, exit_code=code, restarts=self.restarts,
                          rounds_replayed=sum(each["rounds_replayed"] for each in attempts), hosts_gone=self.hosts.gone(),
                          privacy=self.charged())
        self.tell()
        self.forget_story_beside()
        privacy = self.story["privacy"]
        say("{}; {} restarts, at least {} rounds replayed, hosts gone: {}{}{}".format(
            why, self.story["restarts"], self.story["rounds_replayed"], ", ".join(self.hosts.gone()) or "none",
            self.ranks_in_words(self.words.ranks(), self.ranks),
            ", {} releases charged ({} made)".format(privacy["charged"], privacy["released"]) if privacy else ""))
        return code

    def charged(self):
        """Releases of all clients that the run's own ledgers have charged, and that were made; None without such ledgers, with
        so many that reading them takes long, or where another host has some."""
        sums = {"charged": 0, "released": 0}
        folders = self.run.private_folders()
        ledgers = [folder / "ledger" for folder in folders if (folder / "ledger").exists()]
        if len(ledgers) > MOST_LEDGERS or not all(folder.is_dir() for folder in folders):
            return None
        for ledger in ledgers:
            done = subprocess.run([self.words.program, "privacy", "ledger", str(ledger), "--json"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
            if done.returncode != 0:
                return None
            for run in json.loads(done.stdout)["runs"]:
                for client in run["clients"]:
                    count = 1 + (client.get("through") or client["client"]) - client["client"]
                    for key in sums:
                        sums[key] += count * (client[key] or 0)
        return sums if ledgers else None

    def tell(self):
        """Writes launch.json, once the run has begun."""
        if self.run.has_begun() and self.write(self.run.path / "launch.json"):
            self.forget_story_beside()

    def write(self, file):
        """Writes the story to the file; whether that was possible."""
        new = file.with_name(file.name + ".part")
        try:
            new.write_text(json.dumps(self.story, indent=1) + "\n")
            new.replace(file)
            return True
        except OSError as error:
            say("cannot write {}: {}".format(file, error.strerror))
            return False

    def forget_story_beside(self):
        try:
            self.story_beside().unlink()
        except OSError:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--restarts", type=int, default=10, metavar="N", help="most restarts after failures (%(default)s)")
    parser.add_argument("--mtbf", type=float, metavar="HOURS", help="mean time between failures of the whole launch: a host's "
                        "divided by the number of hosts")
    parser.add_argument("--hosts", metavar="FILE", help="host file of mpirun: a host a line, `name slots=8`")
    parser.add_argument("--backoff", type=float, default=2.0, metavar="SECONDS", help="wait before a restart; twice as "
                        "long after each attempt that came no further, up to 300 s, times 0.5 to 1.5 at random (%(default)s)")
    parser.add_argument("--through-preemption", action="store_true", help="go on, too, after ranks were stopped by a signal that "
                        "this script was not sent (a host that is taken back)")
    parser.add_argument("--lose-clients", nargs="?", const="", metavar="FAMILY", help="where a host with private folders is gone, go on "
                        "without its clients for good; those that are left get a graph of the family, as exponential, if one is named")
    parser.add_argument("--dry-run", action="store_true", help="print the commands of the first start and of a restart")
    parser.add_argument("words", nargs="+", help="-- and the words that start the run")
    options = parser.parse_args()
    os.environ.setdefault("OMPI_MCA_orte_execute_quiet", "1")  # what failed is told here, and by the ranks
    if options.mtbf is not None and options.mtbf <= 0 or options.restarts < 0 or options.backoff < 0:
        parser.error("--mtbf must be positive, --restarts and --backoff not negative")
    try:
        launch = Launch(options, options.words)
        if options.dry_run:
            for words in launch.commands_to_show():
                print(" ".join(map(shlex.quote, words)))
            return DONE
        stop = Stop()
        code = launch.play(stop)
        stop.ignore()
        return code
    except UsageError as error:
        say(str(error))
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
