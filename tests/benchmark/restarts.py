#!/usr/bin/env python3
"""What a restart by jobs/launch.py costs: a rank is killed, mpirun ends the others, and the run starts again.

    python3 tests/benchmark/restarts.py BUILD [--ranks 2 8] [--kills 7] [--folder DIR]

BUILD has `starling`. Prints the medians of the seconds from the kill until mpirun has ended, and from there until all ranks hold the
next checkpoint, 200 rounds on.
"""
import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "jobs"))
import launch_parts

MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
ROUNDS_OF_CHECKPOINT = 200


def wait_until(condition, launcher):
    began = time.monotonic()
    while not condition():
        if launcher.poll() is not None:
            sys.exit("the launcher has ended: run what it starts by hand")
        if time.monotonic() - began > 120:
            sys.exit("waited two minutes in vain")
        time.sleep(0.005)
    return time.monotonic()


def ranks_of(starling):
    """Process ids of the program."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "exe") == str(starling):
                found.append(int(path.name))
        except OSError:
            continue
    return sorted(found)


def restart(starling, folder, ranks):
    """Seconds until the others have ended, and until the next checkpoint."""
    run = launch_parts.RunFolder(folder / "run")
    launcher = subprocess.Popen(
        [sys.executable, SOURCE / "jobs/launch.py", "--backoff", "0", "--", "mpirun", "--oversubscribe", "-n", str(ranks), starling, "omd",
         "--source", "synthetic:logistic:p=100", "--batch", "64", "--rounds", "1000000", "--checkpoint-every",
         str(ROUNDS_OF_CHECKPOINT), "--mechanism", "none", "--progress", "off", "--output", folder / "run"],
        env=MPI, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: run.newest_checkpoint()[0] >= 2 * ROUNDS_OF_CHECKPOINT, launcher)
    before = ranks_of(starling)
    began = time.monotonic()
    os.kill(before[-1], signal.SIGKILL)
    ended = wait_until(lambda: not set(before) & set(ranks_of(starling)), launcher)
    kept = run.newest_checkpoint()[0]
    again = wait_until(lambda: run.newest_checkpoint()[0] > kept, launcher)
    launcher.send_signal(signal.SIGTERM)
    launcher.wait()
    return ended - began, again - ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--kills", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    choice = parser.parse_args()
    starling = (choice.build / "starling").resolve()
    for ranks in choice.ranks:
        costs = []
        for _ in range(choice.kills):
            with tempfile.TemporaryDirectory(dir=choice.folder) as folder:
                costs.append(restart(starling, Path(folder), ranks))
        ended, again = (statistics.median(column) for column in zip(*costs))
        print(f"{ranks} ranks, {choice.kills} kills: {ended:.2f} s until mpirun has ended the others, {again:.2f} s from there to the next "
              "checkpoint of all ranks", flush=True)


if __name__ == "__main__":
    main()
