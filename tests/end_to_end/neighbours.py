"""Neighbours: pairs of data sets that differ in one record, and runs of them in which releases hold noise and no data.

The program is noise_alone.cpp: production code whose releases lose their integers before noise is added, under keys and clocks
that are the same in every run. CMake names it in STARLING_NOISE_ALONE.
"""

import difflib
import os
import re
import subprocess

from harness import *

NOISE_ALONE = os.environ.get("STARLING_NOISE_ALONE", "")
CLIENTS = 3
RECORDS = 96  # of each client; intervals for three coefficients take 90 steps
CHANGED = RECORDS + 5  # a record in the middle of client 1's

# Hashes of ledger entries, which hold keyed digests of the data: nobody can test a guess of a record without the owner's key.
OF_DATA = re.compile(rb'("heads": \[\s*(?:"[0-9a-f]{64}",?\s*)*\])')


def table(label="{:+d}"):
    """Lines of three features and a label of two classes."""
    lines = [line.rsplit(",", 1) for line in csv_rows(CLIENTS * RECORDS)]
    return ["a,b,c,y"] + [f"{row},{label.format(int(y))}" for row, y in lines]


def with_record(lines, text, keeps_label=False, record=CHANGED):
    if keeps_label:
        text = text.rsplit(",", 1)[0] + "," + lines[record + 1].rsplit(",", 1)[1]
    return [text if i == record + 1 else line for i, line in enumerate(lines)]


PERSON = ["--unit", "person", "--person", "who"]


def persons(records_of_5=("0.3,0.2,0.1,1",), size=1, places=12):
    """Lines of so many persons, whose records lie among each other; person p5 has these."""
    lines = ["who,a,b,c,y"]
    for i, row in enumerate(csv_rows(places * size)):
        person = i % places
        if person != 5:
            lines.append(f"p{person},{row}")
        elif i == 5:
            lines += [f"p5,{text}" for text in records_of_5]
    return lines


# Files that everybody may know.
BESIDE = {
    "graph.topo": "clients 3\nweights sender\nedge 0 1\nedge 1 2\nedge 2 0\nedge 0 2\n",
    "categories.csv": "column,category,value\ncolour,red,1\ncolour,green,2\ncolour,blue,3\n",
    "constants.csv": "feature,mean,sd\na,0.1,0.6\nb,0,0.7\nc,0,0.7\n",
    "start.csv": "1,0,0\n" * CLIENTS,
    "ranges.csv": "feature,low,high\na,-1,1\nb,-2,2\nc,-2,2\n",
    "public.csv": "\n".join(["a,b,c,y", *csv_rows(10, seed=9)]) + "\n",
}

# Labels are known to all there: a record differs in its features alone.
KNOWN_LABELS = ("vertical",)

# What becomes of the record. Each is a legal record: its owner's file passes every check.
CHANGES = {
    "another": "-0.9,0.4,0.7,-1",
    "outlier": "1e200,-1e200,1e200,1",
    "overflow": "1e308,1e308,-1e308,-1",
    "zeros": "0,0,0,1",
}

FILE = ["--source", "data.csv", "--clients", CLIENTS, "--batch", 4]
LAPLACE = ["--mechanism", "laplace", "--epsilon", 1]
GAUSSIAN = ["--mechanism", "gaussian", "--mu", 1]
PRIVATE = ["renewable", "--tuning", "off", *FILE, "--variant", "private", *GAUSSIAN, "--l2", 0.1]
INFER = ["infer", "--tuning", "off", *FILE[:4], "--intercept", "no", *GAUSSIAN, "--loss", "logistic"]  # a record a step
VERTICAL = ["vertical", "--source", "data.csv", "--columns", "0/1/2", "--clients", 3, "--batch", 4, "--feature-net", "d-4-2", "--head", "d-4-1",
            "--loss", "logistic", "--step", 0.1, *GAUSSIAN]

# Command lines by what they show.
CASES = {
    "omd-laplace": ["omd", *FILE, *LAPLACE],
    "omd-network": ["omd", *FILE, *GAUSSIAN, "--model", "mlp:3-4-1", "--topology", "graph.topo"],
    "omd-absent": ["omd", *FILE, *LAPLACE, "--dropout", 0.3, "--absent", "freeze", "--link-loss", 0.2, "--domain", "ball:3",
                   "--average", "tail", "--l2", 0.1, "--intercept"],
    "omd-separate": ["omd", *FILE, *GAUSSIAN, "--constraint", "data:column=a,max=0.2"],
    "omd-composite": ["omd", *FILE, *LAPLACE, "--constraint", "data:column=a,max=0.2", "--private-constraint", "composite"],
    "omd-dealt": ["omd", *FILE, *LAPLACE, "--partition", "iid", "--standardise", "constants.csv", "--test", "public.csv"],
    "omd-norm": ["omd", *FILE, *GAUSSIAN, "--tuning", "auto"],
    "omd-feature": ["omd", *FILE, *GAUSSIAN, "--tuning", "auto", "--feature-share", 0.4],
    "omd-score": ["omd", *FILE, *GAUSSIAN, "--score-share", 0.4],
    "omd-two-ranks": ["omd", *FILE, *GAUSSIAN],
    "omd-personal": ["omd", *FILE, *GAUSSIAN, "--personal"],
    "omd-budget": ["omd", *FILE, *LAPLACE, "--epochs", 2, "--budget", 20, "--ledger", "private/ledger"],
    "omd-audit": ["omd", "--source", "data.csv", "--clients", CLIENTS, *GAUSSIAN, "--audit"],
    "fedavg": ["fedavg", *FILE, *GAUSSIAN, "--local-steps", 2],
    "fedavg-norm": ["fedavg", *FILE, *GAUSSIAN, "--tuning", "auto", "--client-weights", "equal"],
    "fedavg-feature": ["fedavg", *FILE, *GAUSSIAN, "--tuning", "auto", "--client-weights", "equal", "--feature-share", 0.4],
    "infer": [*INFER],
    "infer-topology": [*INFER, "--topology", "graph.topo"],
    "infer-plug-in": [*INFER, "--intervals", "plug-in"],
    "infer-central": [*INFER, "--intervals", "plug-in", "--trust", "central"],
    "infer-warm-up": ["infer", "--tuning", "off", *FILE[:4], "--intercept", "no", *GAUSSIAN[:3], 30, "--warmup-share", 0.05],
    "infer-newton": ["infer", *FILE[:4], *GAUSSIAN[:3], 30, "--loss", "logistic", "--estimator", "newton", "--joint"],
    "infer-newton-equal": ["infer", *FILE[:4], *GAUSSIAN, "--estimator", "newton", "--client-weights", "equal"],
    "infer-constants": ["infer", *FILE[:4], *GAUSSIAN[:3], 30, "--tuning", "auto", "--feature-share", 0.4],
    "infer-bias": [*INFER, "--bias", "remove"],
    "renewable-constants": ["renewable", *FILE, "--variant", "private", *GAUSSIAN[:3], 30, "--loss", "logistic", "--tuning", "auto", "--feature-share", 0.4],
    "renewable-local": [*PRIVATE, "--trust", "local"],
    "renewable-curvature": [*PRIVATE, "--trust", "local", "--curvature-model", "released:0.5"],
    "renewable-central": [*PRIVATE, "--trust", "central", "--curvature-model", "released:0.5"],
    "renewable-masked": [*PRIVATE, "--trust", "masked"],
    "vertical": [*VERTICAL, "--local-steps", 2],
    "vertical-head": [*VERTICAL, "--labels", "head"],
    "vertical-shares": ["vertical", "--protocol", "shares", *VERTICAL[1:7], "--loss", "logistic", "--rounds", 6, *GAUSSIAN],
}


class NeighbourTest(TestCase):
    def run_with(self, name, words, lines, ranks=1, bare=None, piped=False):
        """Exit code, output and every file outside private/ of a run. Releases by the path `bare` lack noise. `piped` lines are
        standard input too. Runs whose names
        differ in what follows the last hyphen take place in the same folder, since what a run writes depends on where it is; so they
        come one after the other. Their folders have their names afterwards."""
        folder = self.folder / "at" / name.rpartition("-")[0]
        folder.mkdir(parents=True)
        (folder / "private").mkdir()
        for file, text in {**BESIDE, "data.csv": "\n".join(lines) + "\n"}.items():
            (folder / file).write_text(text)
        # How far other ranks are when a line of progress is printed is chance.
        command = [NOISE_ALONE, *map(str, words), "--output", "run", "--json", "--progress", "off" if ranks > 1 else "on"]
        if ranks > 1:
            command = [MPIRUN, "--oversubscribe", "-n", str(ranks), *command]
        surroundings = {**environment(), "STARLING_NOTED_RELEASES": "private/releases", "STARLING_BARE_PATH": bare or ""}
        with open(folder / "data.csv" if piped else os.devnull, "rb") as given:
            done = subprocess.run(command, cwd=folder, env=surroundings, stdin=given, capture_output=True, timeout=PATIENCE)
        seen = {"exit code": b"%d" % done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder)
            if "private" not in place.parts and str(place) != "data.csv" and path.is_file():
                seen[str(place)] = path.read_bytes()
        folder.rename(self.folder / name)
        return {place: OF_DATA.sub(b'"heads": []', content) for place, content in seen.items()}

    def difference(self, seen, other):
        """What differs, in a few lines; nothing if nothing does."""
        for place in [*seen, *other]:
            if seen.get(place) != other.get(place):
                mine, yours = (each.get(place, b"(no such file)").decode(errors="replace").splitlines() for each in (seen, other))
                return "\n".join([place, *list(difflib.unified_diff(mine, yours, lineterm="", n=0))[:20]])
        return ""

    def rounds_moved(self, name, other):
        """Rounds with a release that differs between two runs; the places of releases must not. Histograms and sums of
        scores, which hold every record once, come before the rounds and after them."""
        mine, yours = ({place: q for place, _, q in self.releases(each)} for each in (name, other))
        self.assertEqual(set(mine), set(yours))
        return {int(place[3]) for place in mine if mine[place] != yours[place] and not place[0].endswith(("-norm", "-feature", "-score"))}

    def releases(self, name):
        """(path, mechanism, client, round, index, block), scale and integers of each release of a run, before noise was added."""
        noted = []
        for line in (self.folder / name / "private" / "releases").read_text().splitlines():
            words = line.split()
            noted.append((tuple(words[:6]), float(words[6]), [int(q) for q in words[7:]]))
        return noted
