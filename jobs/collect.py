#!/usr/bin/env python3
"""One table of many runs: a CSV line for each run directory, with the settings in which the runs differ and their figures.

    python3 jobs/collect.py run-omd-17_* > summary.csv
    python3 jobs/collect.py run-* --columns epsilon,topology,accuracy,privacy.record_epsilon --output summary.csv

Columns: run (the directory), state (finished, stopped, or unfinished where there is no summary), the settings of
config.ini that are not the same in all runs, and each number of summary.json that some run has, as in loss.mean. Of lists
of numbers none is taken: they are per client or per edge and have files of their own. Python's own library is enough.
Exit codes: 0 all runs are finished, 1 some are not, 2 usage, 3 a file that cannot be read.
"""

import argparse
import csv
import json
import pathlib
import re
import sys

# Where a run's results go to says nothing about it, and where runs differ in nothing else it would be the only column.
NO_SETTINGS = ("output",)

# What jobs/slurm.sh has put aside, because it had not begun or had lost files: another directory is the run.
PUT_ASIDE = re.compile(r"\.(unbegun|incomplete)-\d+$")


class DataError(Exception):
    """What is read is not what a run writes."""


def settings(path):
    """The lines `key = value` of a config.ini; several values of one key are joined by spaces."""
    found = {}
    for line in path.read_text().splitlines():
        key, separator, value = (part.strip() for part in line.partition("="))
        if separator and not key.startswith("#") and key not in NO_SETTINGS:
            found[key] = f"{found[key]} {value}" if key in found else value
    return found


def figures(summary, prefix=""):
    """Numbers and truth values of an object and of those within it, by names like privacy.epsilon."""
    found = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            found.update(figures(value, f"{prefix}{key}."))
        elif isinstance(value, (bool, int, float)):
            found[prefix + key] = value
    return found


def read_run(folder):
    """(state, settings, figures) of a run directory."""
    try:
        summary_file, config_file = folder / "summary.json", folder / "config.ini"
        if not folder.is_dir():
            raise DataError(f"{folder}: no run directory")
        config = settings(config_file) if config_file.exists() else {}
        if not summary_file.exists():
            return "unfinished", config, {}
        summary = json.loads(summary_file.read_text())
        if not isinstance(summary, dict) or "command" not in summary:
            raise DataError(f"{summary_file}: no summary of a run")
    except (OSError, ValueError) as error:
        raise DataError(f"{folder}: {error}") from None
    stopped = any("stopped by a signal" in note for note in summary.get("notes", []))
    return "stopped" if stopped else "finished", config, figures(summary)


def names(tables):
    """All keys, in the order in which they come first."""
    return list(dict.fromkeys(key for table in tables for key in table))


def differing(configs):
    """Settings that are not the same in all runs; one that a run lacks counts as different."""
    return [key for key in names(configs) if len({config.get(key) for config in configs}) > 1]


def tabulate(folders, columns=None):
    """The table as a list of lines, the first of them its heading."""
    runs = [read_run(folder) for folder in folders]
    configs = [config for _, config, _ in runs]
    numbers = names(found for _, _, found in runs)
    if columns is None:
        columns = [key for key in differing(configs) if key not in numbers] + numbers
    known = {*names(configs), *numbers}
    for column in columns:
        if column not in known:
            raise DataError(f"no run has '{column}' (known: {', '.join(sorted(known))})")
    rows = [["run", "state", *columns]]
    for folder, (state, config, found) in zip(folders, runs):
        # Both may have `rounds`: those that were wanted, and those that were done.
        everything = {**config, **found}
        rows.append([str(folder), state, *(everything.get(column, "") for column in columns)])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path, metavar="DIR", help="run directories")
    parser.add_argument("--columns", type=lambda text: text.split(","), help="these settings and figures, in this order")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="default: standard output")
    arguments = parser.parse_args()
    runs = [run for run in arguments.runs if not PUT_ASIDE.search(run.name)]
    if len(runs) < len(arguments.runs):
        print(f"collect.py: left out what job scripts have put aside: {len(arguments.runs) - len(runs)}", file=sys.stderr)
    try:
        rows = tabulate(runs, arguments.columns)
        with (arguments.output.open("w", newline="") if arguments.output else sys.stdout) as out:
            csv.writer(out, lineterminator="\n").writerows(rows)
    except (DataError, OSError) as error:
        print(f"collect.py: {error}", file=sys.stderr)
        return 3
    waiting = [row[0] for row in rows[1:] if row[1] != "finished"]
    if waiting:
        print(f"collect.py: {len(waiting)} of {len(rows) - 1} runs have not finished: {', '.join(waiting)}", file=sys.stderr)
    return 1 if waiting else 0


if __name__ == "__main__":
    sys.exit(main())
