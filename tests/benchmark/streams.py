#!/usr/bin/env python3
"""More data than memory: what the ranks of a private run of `starling omd` hold while they go through a file once.

    python3 tests/benchmark/streams.py build/release/starling --gigabytes 1,2,8 [--format csv] [-- more options of starling omd]

Makes a file of so many gigabytes for each run (and removes it), of records of --dimension numbers. Asked for: at most 300 MB in all
ranks together, however large it is.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from memory import MEGABYTE, allow_root, split_words, time_and_peaks

GOAL = 300e6
BYTES_OF_A_NUMBER = {"h5": 8, "csv": 20}  # about as many in text


def measure(options, gigabytes, folder):
    """(size of the file in bytes, seconds, peak bytes of each rank)"""
    source = folder / f"records.{options.format}"
    records = int(gigabytes * 1e9 / (BYTES_OF_A_NUMBER[options.format] * (options.dimension + 1) * options.clients))
    subprocess.run([options.starling, "data", "make", f"drift:d={options.dimension},informative=1", "--clients", str(options.clients),
                    "--records", str(records), "--output", source, "--progress", "off"], check=True, stdout=subprocess.DEVNULL)
    size = source.stat().st_size
    try:
        seconds, peaks = time_and_peaks(options, [
            "--source", source.name, "--clients", str(options.clients), "--batch", str(options.batch), "--mechanism", "laplace",
            "--epsilon", "1", "--seed", "1", "--output", f"run-{gigabytes:g}", "--progress", "off", *options.words], folder)
    finally:
        source.unlink()
    return size, seconds, peaks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("starling", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--gigabytes", type=lambda text: [float(each) for each in text.split(",")], default=[1.0, 2.0])
    parser.add_argument("--format", choices=BYTES_OF_A_NUMBER, default="h5")
    parser.add_argument("--dimension", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--folder", help="where files are written; default: a temporary folder")
    parser.add_argument("--mpirun", default="mpirun")
    words, more = split_words(sys.argv[1:])
    options = parser.parse_args(words)
    options.words = more
    allow_root()
    worst = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        for gigabytes in options.gigabytes:
            size, seconds, peaks = measure(options, gigabytes, pathlib.Path(name))
            worst = max(worst, sum(peaks))
            print(f"{size / 1e9:.2f} GB of {options.format}, {options.clients} clients on {options.ranks} ranks, batch {options.batch}: "
                  f"{seconds:.1f} s, peak memory {sum(peaks) / MEGABYTE:.0f} MB on all ranks, {max(peaks) / MEGABYTE:.0f} MB on one",
                  flush=True)
    return 0 if worst <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
