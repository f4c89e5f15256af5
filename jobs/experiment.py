"""What the experiments of jobs/ share: running starling, many runs at a time, tables, and pictures by gnuplot.

Python's standard library only. Recorded models are read with h5py where it is installed, else with HDF5's h5dump.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
from statistics import median

PROJECT = pathlib.Path(__file__).resolve().parent.parent


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    say(f"{pathlib.Path(sys.argv[0]).name}: {text}")
    sys.exit(1)


def find_starling(asked):
    """The program: --starling, else a build of this project, else the one on the path."""
    if asked:
        found = shutil.which(asked)
        return found or fail(f"there is no program '{asked}'. Name another: --starling PATH.")
    builds = [PROJECT / "build" / name / "starling" for name in ("release", "native", "quickstart", "dev")]
    found = next((str(build) for build in builds if build.exists()), shutil.which("starling"))
    return found or fail("no starling found under build/ and on the path. Build it, or name it: --starling PATH.")


def privacy(starling, action, **options):
    """What `starling privacy calibrate` or `spend` says of Gaussian noise."""
    words = [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run([starling, "privacy", action, "--mechanism", "gaussian", "--json", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} (must be at least 1)")
    return number


def names_of(known):
    """What parses names separated by commas, each of which must be known."""
    def parse(text):
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)} (known: {', '.join(known)})")
        return names
    return parse


def arguments(description, output):
    """The options that all experiments have; the caller adds its own and parses."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starling", metavar="PATH", help="the program; default: this project's build, else the path")
    parser.add_argument("--output", metavar="DIR", default=output, help=f"folder for tables and pictures ({output})")
    parser.add_argument("--workers", type=positive, default=4 * (os.cpu_count() or 1),
                        help="runs at a time (four per core, since short runs mostly wait for MPI to start)")
    return parser


def output_folder(path):
    folder = pathlib.Path(path).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def last_given(words):
    """The words as texts, where an option that stands there twice has its last value alone: starling refuses two."""
    groups = []
    for word in map(str, words):
        if word.startswith("--") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    last = {group[0].split("=")[0]: k for k, group in enumerate(groups)}
    return [word for k, group in enumerate(groups) for word in group
            if not group[0].startswith("--") or last[group[0].split("=")[0]] == k]


class Runs:
    """Runs `starling omd`, or another command, from the project's folder, so that the paths in jobs/*.ini hold."""

    def __init__(self, starling, scratch, command="omd", summary="--json-models"):
        self.starling, self.command, self.summary = str(pathlib.Path(starling).resolve()), command, summary
        self.scratch = pathlib.Path(scratch)
        # One process hosts all clients: Open MPI need not look for fast networks, which takes .2 s. Root, which containers
        # like, needs its permission.
        self.environment = {"OMPI_MCA_mtl": "^psm,psm2,ofi", "HWLOC_COMPONENTS": "-pci,-linuxio", **os.environ,
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run(self, name, words):
        """One run into a folder `name`; returns its summary."""
        folder = self.scratch / name
        command = [self.starling, self.command, *last_given(words), "--output", str(folder), "--progress", "off",
                   self.summary]
        # Open MPI's runs make and remove one folder below /tmp for all of a user's jobs, and runs that start together
        # trip over each other there: each gets a place of its own, with a short name since sockets lie in it.
        with tempfile.TemporaryDirectory(prefix="mpi-") as session:
            done = subprocess.run(command, cwd=PROJECT, env=dict(self.environment, OMPI_MCA_orte_tmpdir_base=session),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"'{' '.join(command)}' ended with {done.returncode}:\n{done.stderr.strip()}")
        return json.loads(done.stdout)

    def scores(self, name, source):
        """Scores of the model of a run on the records of a file."""
        done = subprocess.run([self.starling, "predict", str(self.scratch / name), "--source", str(source)],
                              capture_output=True, text=True, check=True)
        return [float(line["score"]) for line in csv.DictReader(done.stdout.splitlines())]

    def models(self, name):
        """(rounds, models): the model of every client at every recorded round, models[record][client][coordinate];
        None where neither h5py nor h5dump is there. For runs of one process."""
        file = self.scratch / name / "clients" / "0.h5"
        try:
            import h5py

            with h5py.File(file) as run:
                return run["rounds"][:].tolist(), run["model"][:].tolist()
        except ImportError:
            if not shutil.which("h5dump"):
                return None
        rounds = [int(value) for value in self._dump(file, "/rounds")]
        flat = self._dump(file, "/model")
        clients = len(self._dump(file, "/clients"))
        d = len(flat) // (len(rounds) * clients)
        rows = [flat[i:i + d] for i in range(0, len(flat), d)]
        return rounds, [rows[i:i + clients] for i in range(0, len(rows), clients)]

    @staticmethod
    def _dump(file, name):
        """All numbers of a data set."""
        done = subprocess.run(["h5dump", "-d", name, "-y", "-w", "1", "-m", "%.17g", str(file)], check=True,
                              capture_output=True, text=True)
        body = done.stdout.split("DATA {", 1)[1].split("}", 1)[0]
        return [float(word) for word in body.replace(",", " ").split()]


    def history(self, name):
        """Columns of the run's history.csv by name, without the row before the first round; None where a cell is empty."""
        with open(self.scratch / name / "history.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if int(row["rounds"]) > 0]
        return {key: [float(row[key]) if row[key] else None for row in rows] for key in rows[0]}


def in_parallel(workers, jobs):
    """The results of functions without arguments, in their order; the first that fails ends the experiment."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            return [future.result() for future in futures]
        except RuntimeError as error:
            for future in futures:
                future.cancel()
            fail(error)


def mean(values):
    return math.fsum(values) / len(values)


OWN_FIGURES = ("alone", "joint", "personal")


def of_owners(folder):
    """Accuracies in %, means over the clients of a run with --personal of what they have on records of their own that they held out."""
    rows = [row for table in pathlib.Path(folder).glob("private/*/personal.csv") for row in csv.DictReader(table.open()) if row["alone_accuracy"]]
    return {figure: 100 * mean([float(row[f"{figure}_accuracy"]) for row in rows]) for figure in OWN_FIGURES}


def deviation(values):
    """Standard deviation of the values; 0 for a single one."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def error_of_mean(values):
    return deviation(values) / math.sqrt(len(values))


class Outlooks:
    """What runs said before they began that they would lose at most (tuning.most_lost), beside what they lost."""

    HOLDS, TOLD = 0.95, 3 / 5  # of the promises; of the runs that make one

    def __init__(self):
        self.runs = []

    def add(self, group, lost, promised):
        """A run of a group; `promised` is None where it said that the loss cannot be foretold."""
        self.runs.append((group, lost, promised))

    def of(self, groups):
        """(runs, those that promised, those that kept their promise) of these groups."""
        mine = [(lost, promised) for group, lost, promised in self.runs if group in groups]
        told = [(lost, promised) for lost, promised in mine if promised is not None]
        return len(mine), len(told), sum(lost <= promised for lost, promised in told)

    def lines(self):
        runs, told, held = self.of({group for group, *_ in self.runs})
        yield f"of {runs} runs {told} said what they would lose at most ({share(told, runs)}), and {held} lost no more ({share(held, told)})"
        for numbers, points in ((False, "points"), (True, "points of explained variance")):
            mine = [(lost, promised) for group, lost, promised in self.runs if promised is not None and group[1] == numbers]
            if mine:
                yield (f"median of what they said: {median([promised for _, promised in mine]):.1f} {points}; "
                       f"of what they lost: {median([lost for lost, _ in mine]):.1f}")
        broken = [group[0] for group, lost, promised in self.runs if promised is not None and lost > promised]
        yield "lost more: " + (", ".join(f"{name} ({broken.count(name)})" for name in dict.fromkeys(broken)) or "none")

    def suffice(self):
        runs, told, held = self.of({group for group, *_ in self.runs})
        return held >= self.HOLDS * told and told >= self.TOLD * runs


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def fitted_exponent(x, y):
    """Slope of log y against log x by least squares, with its standard error (0 for two points)."""
    u = [math.log(value) for value in x]
    v = [math.log(value) for value in y]
    spread = math.fsum((a - mean(u)) ** 2 for a in u)
    slope = math.fsum((a - mean(u)) * b for a, b in zip(u, v)) / spread
    rest = [b - mean(v) - slope * (a - mean(u)) for a, b in zip(u, v)]
    return slope, math.sqrt(math.fsum(e * e for e in rest) / (len(u) - 2) / spread) if len(u) > 2 else 0.0


def with_error(values, form=".3g"):
    """Mean and standard error of repetitions, as text."""
    text = format(mean(values), form)
    return f"{text} +- {error_of_mean(values):.1g}" if len(values) > 1 else text


HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be judged"


class Claims:
    """What is claimed, what is measured, and what to think of it. Chapters are named by a digit."""

    HEADER = ["chapter", "claim", "ours", "verdict", "reason"]
    WIDTHS = (3, 38, 38, 13, 56)

    def __init__(self):
        self.rows = []

    def add(self, chapter, claim, ours, verdict, reason):
        """`verdict`: HOLDS, FAILS or OPEN, or whether it holds; `reason`: one sentence."""
        if isinstance(verdict, bool):
            verdict = HOLDS if verdict else FAILS
        self.rows.append([str(chapter), claim, ours, verdict, reason])

    def show(self):
        rule = "-+-".join("-" * width for width in self.WIDTHS)
        for row in [["ch.", *self.HEADER[1:]], *self.rows]:
            cells = [textwrap.wrap(cell, width) for cell, width in zip(row, self.WIDTHS)]
            for k in range(max(map(len, cells))):
                line = [(cell[k] if k < len(cell) else "").ljust(width) for cell, width in zip(cells, self.WIDTHS)]
                print(" | ".join(line).rstrip())
            print(rule)

    def counts(self):
        return ", ".join(f"{verdict}: {sum(row[3] == verdict for row in self.rows)}" for verdict in (HOLDS, FAILS, OPEN))

    def write(self, path):
        write_csv(path, self.HEADER, self.rows)


class Setting:
    """What the measurements of a chapter work with: runs, how many at a time, whether only to look if all works, and the
    folder for tables and pictures."""

    def __init__(self, runs, workers, quick, folder):
        self.runs, self.workers, self.quick, self.folder = runs, workers, quick, folder

    def all(self, cases):
        """Summaries by name of the runs {name: words}."""
        done = in_parallel(self.workers, [lambda name=name, words=words: self.runs.run(name, words)
                                          for name, words in cases.items()])
        return dict(zip(cases, done))


def judge_chapter(description, output, judge):
    """The whole of a chapter's script: judge(claims, setting) measures, and what it finds is shown and written."""
    judge_chapters(description, output, {"": judge})


def judge_chapters(description, output, judges):
    """The same for several chapters, each with a folder of its own name below the output's."""
    parser = arguments(description, output)
    parser.add_argument("--quick", action="store_true",
                        help="few rounds: whether everything runs, with figures and verdicts that mean nothing")
    options = parser.parse_args()
    starling = find_starling(options.starling)
    folder = output_folder(options.output)
    claims = Claims()
    for name, judge in judges.items():
        say(f"{name or 'measuring'} ...")
        with tempfile.TemporaryDirectory(prefix=f"{output}-") as scratch:
            judge(claims, Setting(Runs(starling, scratch), options.workers, options.quick, output_folder(folder / name)))
    claims.rows.sort(key=lambda row: row[0])
    if options.quick:
        print("--quick: too few rounds for the figures and verdicts to mean anything\n")
    claims.show()
    claims.write(folder / "figures.csv")
    print(f"\n{claims.counts()}\nTables and pictures: {folder}")


def draw_curves(folder, name, labels, curves, more=()):
    """A picture NAME.svg of curves {title: (x, y) or (x, y, half-widths of a band)}, with its points in NAME.csv. `labels`:
    title, x and y; `more`: further lines of gnuplot, such as logarithmic axes."""
    write_csv(folder / f"{name}.csv", ["curve", *labels[1:], *(["band"] if any(len(c) > 2 for c in curves.values()) else [])],
              ([title, *point] for title, points in curves.items() for point in zip(*points)))
    lines = ["set terminal svg size 860,520 dynamic noenhanced background '#ffffff'", f"set output '{name}.svg'",
             f"set title \"{labels[0]}\"", f"set xlabel '{labels[1]}'", f"set ylabel '{labels[2]}'",
             "set key outside right", *more]
    plots = []
    for k, (title, points) in enumerate(curves.items()):
        lines += [f"$c{k} << END", *(" ".join(f"{value:.9g}" for value in point) for point in zip(*points)), "END"]
        if len(points) > 2:
            plots.append(f"$c{k} using 1:($2-$3):($2+$3) with filledcurves fs transparent solid 0.2 lc {k + 1} notitle")
        plots.append(f"$c{k} using 1:2 with linespoints pt 7 ps 0.4 lw 1.5 lc {k + 1} title \"{title}\"")
    lines.append("plot " + ", \\\n     ".join(plots))
    draw(folder, name, "\n".join(lines) + "\n")


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)


def write_figures(folder, rows):
    """figures.csv, by which pages quote figures as `.62 ± .08<!--TABLE: FIGURE-->`, with the lines (figure, mean, error, runs)."""
    write_csv(folder / "figures.csv", ["figure", "mean", "error", "runs"], rows)


# The look of the pictures of `starling report`: colours that colour-blind people tell apart, nothing darker than the curves.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#888888"]
LOOK = "".join(f"set linetype {k} lc rgb '{colour}'\n" for k, colour in enumerate(COLOURS, 1)) + (
    "set linetype cycle 8\nset grid lt 1 lw 1 lc rgb '#e4e9ed'\nset border 3 lw 1 lc rgb '#5a6875'\n"
    "set tics nomirror out scale 0.6\n")


def draw(folder, name, script):
    """Runs gnuplot on a script that is kept as NAME.gp and writes NAME.svg. Returns whether there is a picture."""
    path = folder / f"{name}.gp"
    path.write_text(LOOK + script)
    if not shutil.which("gnuplot"):
        say(f"no picture {name}.svg: gnuplot is not installed (later: cd {folder} && gnuplot {name}.gp)")
        return False
    done = subprocess.run(["gnuplot", path.name], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        say(f"no picture {name}.svg: {done.stderr.strip()}")
        return False
    return True
