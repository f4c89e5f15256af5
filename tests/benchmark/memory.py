#!/usr/bin/env python3
"""What very many clients take: seconds, memory and disk of private runs of `starling omd`.

Two runs, of a hundredth of the clients and of all: the difference in peak memory is what a client takes, models included, in every process.

    python3 tests/benchmark/memory.py build/release/starling --clients 100000 --dimension 50 [-- more options of starling omd]
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

MEGABYTE = 1 << 20


def share_of_memory(process):
    """Bytes that are its own, and its share of those that it has together with others; 0 of one that has ended. What it reads in files
    (its program, libraries) is not counted: a process takes more of that once the others that share it have ended."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    except OSError:
        return 0


def play_rank(words):
    """In place of the program: runs it and says how much memory it has had at most, as it is seen a hundred times a second. (The
    kernel's own peak counts what two ranks read in one another's memory twice.)"""
    program = subprocess.Popen(words)
    peak = 0
    while program.poll() is None:
        peak = max(peak, share_of_memory(program.pid))
        time.sleep(0.01)
    with open(f"peak-{os.environ.get('OMPI_COMM_WORLD_RANK', '0')}", "w") as file:
        file.write(str(peak))
    return program.returncode


def time_and_peaks(options, words, folder):
    """(seconds, peak bytes of each rank) of `starling omd` with these words"""
    began = time.monotonic()
    subprocess.run([options.mpirun, "--oversubscribe", "-n", str(options.ranks), sys.executable, str(pathlib.Path(__file__).resolve()),
                    "--rank", options.starling, "omd", "--tuning", "off", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    return seconds, [int((folder / f"peak-{rank}").read_text()) for rank in range(options.ranks)]


def split_words(words):
    """(those of this program, those after --: more options of starling omd)"""
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1:]


def allow_root():
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def measure(options, clients, folder):
    """(seconds, peak bytes of each rank, bytes on disk by the name of a file or folder)"""
    folder.mkdir()
    topology = []
    if options.topology != "ring":
        subprocess.run([options.starling, "topology", "make", options.topology, "--clients", str(clients), "--output", "graph.topo"],
                       cwd=folder, check=True)
        topology = ["--topology", "graph.topo"]
    words = [*topology, "--clients", str(clients), "--source", f"synthetic:drift:d={options.dimension}", "--mechanism", "laplace",
             "--epsilon", "1", "--rounds", str(options.rounds), "--seed", "1", "--output", "run", "--progress", "off", *options.words]
    seconds, peaks = time_and_peaks(options, words, folder)
    disk = {}
    for path in (folder / "run").rglob("*"):
        if path.is_file():
            name = path.relative_to(folder / "run").parts
            key = name[0] if name[0] != "private" else f"private/*/{name[-1].split('-')[0]}"
            disk[key] = disk.get(key, 0) + path.stat().st_size
    return seconds, peaks, disk


def main():
    if sys.argv[1:2] == ["--rank"]:
        return play_rank(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("starling", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--clients", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--topology", default="random-regular:degree=8", help="a family, or ring")
    parser.add_argument("--mpirun", default="mpirun")
    words, more = split_words(sys.argv[1:])
    options = parser.parse_args(words)
    options.words = more
    allow_root()
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        few = max(options.clients // 100, 10 * options.ranks)
        _, base, _ = measure(options, few, folder / "few")
        seconds, peaks, disk = measure(options, options.clients, folder / "many")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    each = (sum(peaks) - sum(base)) / (options.clients - few)
    print(f"{options.clients} clients of {options.dimension} numbers, {options.rounds} rounds on {options.ranks} ranks: {seconds:.1f} s")
    print(f"peak memory {sum(peaks) / MEGABYTE:.0f} MB on all ranks, {max(peaks) / MEGABYTE:.0f} MB on one; "
          f"a client more takes {each:.0f} bytes, of which a model has {8 * options.dimension}")
    print(f"disk {sum(disk.values()) / MEGABYTE:.1f} MB:")
    for name, size in sorted(disk.items(), key=lambda item: -item[1]):
        print(f"  {size / MEGABYTE:10.2f} MB  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
