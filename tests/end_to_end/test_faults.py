"""Planted faults: the right exit code on every rank within ten seconds, one message that says what is wrong, nothing lost
that existed before and nothing begun. One table; each of its rows is a test."""

import dataclasses
import io
import struct
import typing
import unittest

from harness import *

SECONDS = 10
LEARN = ["--mechanism", "laplace"]
DRIFT = ["--source", "synthetic:drift:n=50", *LEARN]
MIX = ["--loss", "none", "--rounds", "3"]
USAGE, DATA_FAULT, FAILURE = 2, 3, 5
AT_LEAST = 122  # planted faults: none is dropped unnoticed


@dataclasses.dataclass
class Fault:
    """What two ranks are told, or what `parts` of a job are: (ranks, words, folder to run in)."""

    name: str
    code: int
    words: list
    expected: list  # texts of the message
    files: dict = dataclasses.field(default_factory=dict)  # name to text or bytes, or to a function that makes them
    parts: list = dataclasses.field(default_factory=list)
    before: list = dataclasses.field(default_factory=list)  # words of a good run that goes before
    never: str = ""  # text, in lower case, that nobody may see
    needs: typing.Any = True
    together: bool = False  # it takes two ranks to show; others show in one process too, and on two ranks with --long


def usage(name, words, expected, files=None, **more):
    return Fault(name, USAGE, words, expected, files or {}, **more)


def data(name, words, expected, files=None, **more):
    return Fault(name, DATA_FAULT, ["--source", *words, *LEARN], expected, files or {}, **more)


def lines_with(number, line):
    """Good rows but for one, from 1."""
    lines = csv_rows(40)
    lines[number - 1] = line
    return "\n".join(lines) + "\n"


def hdf5(**datasets):
    """The bytes of an HDF5 file."""

    def make():
        content = io.BytesIO()
        with h5py.File(content, "w") as file:
            for name, values in datasets.items():
                file[name] = values
        return content.getvalue()

    return make


def idx(*sizes, type=8, format="B", values=None):
    """The bytes of an IDX file; zeros unless values are given."""
    count = 1
    for size in sizes:
        count *= size
    head = bytes([0, 0, type, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
    return head + struct.pack(f">{count}{format}", *(values or [0] * count))


def numbers(rows, columns):
    return [[(i + j) % 7 / 7 for j in range(columns)] for i in range(rows)]


RING = topology(3, [], everywhere=[(0, 1), (1, 2), (2, 0)])
PAIR = topology(2, [], everywhere=[(0, 1), (1, 0)])
LABELS = [1, -1] * 10
NAN_AT_7 = numbers(20, 3)
NAN_AT_7[6] = [0.5, float("nan"), 0.5]

# The ten of the first issue, in its order.
FIRST = [
    usage("an unknown key in a file", ["--config", "c.ini"], ["c.ini:4", "speling", "unknown"],
          {"c.ini": "# my options\nseed = 4\n\n  speling = 3\nmechanism = laplace\n"}),
    usage("weights that do not sum to one", [*DRIFT, "--topology", "g.topo"], ["client 1", "0.75"],
          {"g.topo": topology(2, [], "explicit", [(0, 0, 0.5), (0, 1, 0.5), (1, 1, 0.5), (1, 0, 0.25)])}, together=True),
    usage("a graph that never connects", [*DRIFT, "--topology", "g.topo", "--clients", "4"], ["never connects", "g.topo"],
          {"g.topo": topology(4, [(1, [(0, 1), (2, 3)]), (1, [(1, 0), (3, 2)])])}),
    usage("an edge out of range", [*DRIFT, "--topology", "g.topo"], ["g.topo:3", "2"],
          {"g.topo": "clients 2\nedge 0 1\nedge 1 2\n"}),
    data("nan in row 17", ["bad.csv"], ["bad.csv", "row 17", "not finite"], {"bad.csv": lines_with(17, "0.1,nan,0.3,1")}),
    data("a label outside the set", ["bad.csv"], ["bad.csv", "row 9", "a label is outside the set", "logistic", "--positive", "--loss"],
         {"bad.csv": lines_with(9, "0.1,0.2,0.3,3")}),
    data("a ragged row", ["bad.csv"], ["bad.csv", "row 26", "5 fields", "4 expected"],
         {"bad.csv": lines_with(26, "0.1,0.2,0.3,0.4,1")}),
    data("a truncated gzip file", ["bad.csv.gz"], ["bad.csv.gz", "truncated"],
         {"bad.csv.gz": gzip.compress("\n".join(csv_rows(2000)).encode())[:-9000]}),
    usage("a different configuration on one rank", [], ["configuration", "rank 1", "rank 0"],
          parts=[(1, [*DRIFT, "--seed", seed], ".") for seed in (1, 2, 1)]),
    usage("a missing file on one rank", [], ["mine.csv", "No such file"],
         {"here/mine.csv": lines_with(1, "1,2,3,1"), "there/other.csv": ""},
         parts=[(1, ["--source", "mine.csv", *LEARN], place) for place in ("here", "there", "here")]),
]

OPTIONS = [
    usage("no mechanism", ["--source", "data.csv"], ["--mechanism", "none, laplace, gaussian, dissertation"]),
    usage("an unknown option", [*DRIFT, "--epsilo", "1"], ["--epsilo", "--help"]),
    usage("a place that a message would fill for ever", ["--%canonical_option%", "3"], ["%canonical_option%"]),
    usage("the same in a file", ["--config", "run.ini"], ["run.ini", "%invalid_line%"], {"run.ini": "a line: %invalid_line%\n"}),
    usage("an option without value", [*DRIFT, "--output", "out", "--seed"], ["seed", "--help"]),
    usage("a word without dashes", [*DRIFT, "fast"], ["options only"]),
    usage("a word for a number", [*DRIFT, "--step", "fast"], ["--step", "fast", "not a number"]),
    usage("a fraction of a count", [*DRIFT, "--batch", "1.5"], ["--batch", "1.5", "whole"]),
    usage("noise without a price", ["--config", "c.ini"], ["--mechanism laplace without a price", "--total-epsilon"],
          {"c.ini": "source = synthetic:drift:n=20\nmechanism = laplace\n"}),
    usage("out of range", [*DRIFT, "--epsilon", "0"], ["--epsilon", "out of range"]),
    usage("a price of nothing", ["--source", "data.csv", "--total-epsilon", "1"], ["without --mechanism laplace or gaussian: a total is shared out among releases"]),
    usage("mu of nothing", ["--source", "data.csv", "--mu", "1"], ["--mu 1 has no meaning without --mechanism"]),
    usage("mu for laplace", [*DRIFT, "--mu", "1"], ["--mu", "laplace", "gaussian"]),
    usage("epsilon and mu", ["--mechanism", "gaussian", "--mu", "1", "--epsilon", "1", "--rounds", "5"], ["--epsilon", "--mu"]),
    usage("a mu that cannot be drawn", ["--mechanism", "gaussian", "--mu", "1e-6", "--rounds", "5"], ["mu=1e-06"]),
    usage("no delta for gaussian", ["--mechanism", "gaussian", "--delta", "0", "--rounds", "5"], ["--delta 0"]),
    usage("a schedule without an end", [*DRIFT, "--epsilon", "schedule:from=1"], ["to"]),
    usage("a schedule of another shape", [*DRIFT, "--epsilon", "schedule:from=1,to=2,shape=bent"], ["bent", "linear"]),
    usage("a schedule that is not there", [*DRIFT, "--epsilon", "schedule:none.csv"], ["none.csv"]),
    usage("a schedule that goes back", [*DRIFT, "--epsilon", "schedule:e.csv"], ["e.csv:3", "ascend"],
          {"e.csv": "0,1\n5,1\n4,1\n"}),
    usage("a schedule for the dissertation", ["--mechanism", "dissertation", "--epsilon", "schedule:from=1,to=2", "--rounds", "9"],
          ["one epsilon"]),
    usage("prices that leave out a client", [*DRIFT, "--epsilon", "clients:e.csv"], ["e.csv", "client 1"], {"e.csv": "0,1\n"}, together=True),
    usage("a budget without noise", ["--mechanism", "none", "--rounds", "5", "--budget", "1"], ["--budget"]),
    usage("a budget that changes", [*DRIFT, "--budget", "schedule:from=1,to=2"], ["--budget", "changes"]),
    usage("one ledger for two ranks", [*DRIFT, "--ledger", "ledger"], ["--ledger", "{client}"], together=True),
    usage("a ledger with public noise", [*DRIFT, "--noise-key", "seed", "--ledger", "l-{client}"], ["--ledger", "seed"]),
    Fault("a ledger that is none", DATA_FAULT, [*DRIFT, "--ledger", "l-{client}"], ["not a ledger", "line 1"], {"l-0": "hello\n", "l-1": "hello\n"}),
    usage("an audit of a few rounds", [*DRIFT, "--rounds", "5", "--audit"], ["--audit", "32 canaries"]),
    usage("an audit of the dissertation's claim", ["--mechanism", "dissertation", "--rounds", "50", "--audit"], ["--audit"]),
    usage("an audit of nothing", ["--mechanism", "none", "--rounds", "50", "--audit"], ["--audit"]),
    usage("not a number at all", [*DRIFT, "--epsilon", "nan"], ["--epsilon", "nan"]),
    usage("an unknown word", [*DRIFT, "--mixing", "shaken"], ["--mixing", "shaken", "push-sum, plain"]),
    usage("a word for a number in a file", [*DRIFT, "--config", "c.ini"], ["c.ini:2", "epsilon", "lots"],
          {"c.ini": "seed = 3\nepsilon = lots\n"}),
    usage("a key twice", [*DRIFT, "--config", "c.ini"], ["c.ini:3", "seed", "twice"],
          {"c.ini": "seed = 3\n# once more\nseed = 4\n"}),
    usage("a section", [*DRIFT, "--config", "c.ini"], ["c.ini:3", "omd.epsilon", "unknown"],
          {"c.ini": "seed = 3\n[omd]\nepsilon = 1\n"}),
    usage("a file in a file", [*DRIFT, "--config", "c.ini"], ["c.ini:2", "config", "unknown"],
          {"c.ini": "seed = 3\nconfig = c.ini\n"}),
    usage("a key with control characters", [*DRIFT, "--config", "c.ini"], ["c.ini:1: see?[2Jd", "unknown"],
          {"c.ini": "see\x1b[2Jd = 3\n"}),
    usage("a key without value", [*DRIFT, "--config", "c.ini"], ["c.ini:2: delimiter", "no value"],
          {"c.ini": "seed = 3\ndelimiter =\n"}),
    usage("clients said twice", [*DRIFT, "--clients", "2", "--clients-per-rank", "1"], ["exclude"]),
]

PARTS = [
    usage("an unknown loss", [*DRIFT, "--loss", "cauchy:1"], ["cauchy", "logistic", "squared", "huber", "softmax"]),
    usage("an unknown mechanism", ["--mechanism", "gauss"], ["gauss", "none", "laplace", "dissertation"]),
    usage("an unknown domain", [*DRIFT, "--domain", "cube"], ["cube", "free", "ball", "l1ball"]),
    usage("an unknown key of a spec", [*DRIFT, "--domain", "ball:size=1"], ["size", "ball:size=1", "radius"]),
    usage("a word for a number in a spec", [*DRIFT, "--domain", "ball:wide"], ["wide", "not a number"]),
    usage("a value of a spec", [*DRIFT, "--domain", "box:2,1"], ["box:2,1", "below"]),
    usage("a missing parameter", [*DRIFT, "--domain", "ball"], ["ball", "radius"]),
    usage("an unknown generator", ["--source", "synthetic:drizzle", *LEARN], ["drizzle", "drift"]),
    usage("an impossible partition", ["--source", "data.csv", *LEARN, "--partition", "dirichlet:0"], ["dirichlet:0"]),
    usage("entropic off the simplex", [*DRIFT, "--mirror", "entropic", "--domain", "ball:1"], ["entropic", "simplex"]),
    usage("entropic-signed off its ball", [*DRIFT, "--mirror", "entropic-signed"], ["entropic-signed", "l1ball"]),
    usage("an unknown format", ["--source", "data.csv", *LEARN, "--format", "parquet"],
          ["--format", "parquet", "csv:", "svmlight:", "hdf5:", "idx:"]),
]

GRAPHS = [
    usage("more clients than ranks", [*DRIFT, "--topology", "g.topo"], ["3 clients on 2 ranks", "--clients 3"],
          {"g.topo": RING}, together=True),
    usage("another number of clients", [*DRIFT, "--topology", "g.topo", "--clients", "4"], ["4 clients", "3"],
          {"g.topo": RING}),
    usage("no such topology", [*DRIFT, "--topology", "nowhere.topo"], ["nowhere.topo", "No such file"]),
    usage("a graph that goes one way only", [*DRIFT, "--topology", "g.topo"], ["never connects"],
          {"g.topo": topology(2, [], "explicit", [(0, 0, 1), (0, 1, "1/2"), (1, 1, "1/2")])}, together=True),
    usage("receiver sums under push-sum", [*DRIFT, "--topology", "g.topo"], ["client 0", "1.5"],
          {"g.topo": topology(2, [], "explicit", [(0, 0, 1), (0, 1, "1/2"), (1, 1, "1/2"), (1, 0, 0.1)])}, together=True),
    usage("a matrix that is cut off", [*DRIFT, "--topology", "g.mtx"], ["g.mtx", "2 entries", "line 2 announces 4"],
          {"g.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0.5\n2 1 0.5\n"}),
    usage("an edge list of names", [*DRIFT, "--topology", "g.edges"], ["g.edges:1", "'anna' and 'bert' are no numbers of clients"],
          {"g.edges": "anna bert 0.5\n"}),
    usage("another topology on one rank", [], ["topology", "rank 1"],
          {"here/g.topo": PAIR, "there/g.topo": topology(2, [(1, [(0, 1), (1, 0)]), (1, [])])},
          parts=[(1, [*DRIFT, "--topology", "g.topo"], place) for place in ("here", "there")]),
]

STARTS = [
    usage("rounds beyond the data", [*DRIFT, "--rounds", "51"], ["51", "50", "--epochs"]),
    usage("rows of the start", [*MIX, "--start", "start.csv"], ["start.csv", "3 rows", "2"], {"start.csv": "1\n2\n3\n"}, together=True),
    usage("a ragged start", [*MIX, "--start", "start.csv"], ["start.csv:2"], {"start.csv": "1,2\n2\n"}),
    usage("numbers in a row of the start", [*DRIFT, "--clients", "3", "--start", "start.csv"],
          ["start.csv", "1 numbers", "5"], {"start.csv": "1\n2\n3\n"}),
    usage("nothing to mix", MIX, ["--start FILE"]),
    usage("no end of mixing", ["--loss", "none", "--start", "start.csv"], ["--rounds"], {"start.csv": "1\n2\n"}),
    usage("no such start", [*DRIFT, "--start", "nowhere.csv"], ["nowhere.csv"]),
    usage("a mechanism for nothing", [*MIX, "--start", "start.csv", "--mechanism", "laplace"], ["--mechanism"],
          {"start.csv": "1\n2\n3\n"}),
]

KEY = "8f1c0b5e7a93d246e1f08b7c55a2946d3bd8107fe4c96a21f05d7b38c2916ea4"
KEYS = [
    usage("one key file for all", [*DRIFT, "--noise-key", "key-0"], ["{client}", "key-0"], {"key-0": "1f" * 32 + "\n"},
          never="1f1f1f"),
    usage("equal keys", [*DRIFT, "--noise-key", "key-{client}"], ["client 1", "same noise key"],
          {"key-0": KEY + "\n", "key-1": KEY.upper() + "\n"}, never=KEY[:6], together=True),
    usage("keys that can be guessed", [*DRIFT, "--noise-key", "key-{client}"], ["key-0", "can be guessed", "openssl rand"],
          {"key-0": "1f" * 32 + "\n", "key-1": KEY + "\n"}, never="1f1f1f"),
    usage("not a key", [*DRIFT, "--noise-key", "key-{client}"], ["key-0", "64 hexadecimal"],
          {"key-0": "1f" * 31 + "\n", "key-1": "2f" * 32 + "\n"}, never="1f1f1f"),
    usage("no such key", [*DRIFT, "--noise-key", "none-{client}"], ["none-0"]),
]

OUTPUT = [
    usage("a directory that is not empty", [*DRIFT, "--output", "kept"], ["kept", "not empty", "Name another or empty it"]),
    usage("a file in the way", [*DRIFT, "--output", "data.csv"], ["data.csv", "not a directory"]),
    Fault("a place that cannot be made", FAILURE, [*DRIFT, "--output", "data.csv/run"], ["data.csv/run"]),
    usage("a second run into the same directory", [*DRIFT, "--output", "run"], ["run", "not empty", "go on with the run in it by --resume run"],
          before=[*DRIFT, "--output", "run", "--progress", "off"]),
]

TEXT = [
    usage("no such source", ["--source", "nowhere.csv", *LEARN], ["nowhere.csv", "No such file"]),
    data("an empty file", ["empty.csv"], ["empty.csv"], {"empty.csv": ""}),
    data("a word among numbers", ["text.csv"], ["text.csv", "row 3", "a text"],
         {"text.csv": "a,b,y\n0.1,0.2,1\n0.1,red,1\n"}),
    data("a label in SVMlight", ["label.svm"], ["label.svm", "row 3", "a label is outside the set"],
         {"label.svm": "1 1:0.5\n-1 2:0.5\n2 1:1\n"}),
    data("index 0", ["zero.svm"], ["zero.svm", "row 1", "an index below 1"], {"zero.svm": "1 0:0.5\n"}),
    data("an index beyond --dimension", ["x.svm", "--dimension", "1"], ["row 2", "an index is too large", "--dimension is 1"],
         {"x.svm": "1 1:0.5\n-1 2:0.5\n"}),
    data("a label that softmax does not know", ["data.csv", "--loss", "softmax:3"], ["data.csv", "row 1: a label is outside", "softmax:3"]),
    data("a test set of another width", ["data.csv", "--test", "wide.csv"], ["wide.csv", "4 features", "3"],
         {"wide.csv": "0.1,0.2,0.3,0.4,1\n0.1,0.2,0.3,0.4,-1\n"}),
    usage("other data on one rank", [], ["content of d.csv", "rank 1"],
          {"here/d.csv": "\n".join(csv_rows(40)), "there/d.csv": "\n".join(csv_rows(20))},
          parts=[(1, ["--source", "d.csv", *LEARN], place) for place in ("here", "there")]),
    usage("other data on one rank, found by number", [], ["content of d.h5", "rank 1"],
          {"here/d.h5": hdf5(x=numbers(40, 3), y=numbers(40, 1)), "there/d.h5": hdf5(x=numbers(20, 3), y=numbers(20, 1))},
          parts=[(1, ["--source", "d.h5", "--loss", "squared", *LEARN], place) for place in ("here", "there")], needs=h5py),
    usage("another partition on one rank", [], ["content of d.csv", "rank 1"],
          {"here/d.csv": "\n".join(csv_rows(2)), "there/d.csv": "\n".join(csv_rows(2)),
           "here/p.csv": "record,client\n0,0\n1,1\n", "there/p.csv": "record,client\n0,1\n1,0\n"},
          parts=[(1, ["--source", "d.csv", "--partition", "file:p.csv", *LEARN], place) for place in ("here", "there")]),
    usage("a partition that would replace the source", ["--source", "data.csv", "--save-partition", "data.csv", *LEARN],
          ["data.csv", "exists"]),
    usage("a partition of a generator", [*DRIFT, "--partition", "iid"], ["--partition iid", "synthetic:drift"]),
    usage("a factor for a generator", [*DRIFT, "--scale", "0.5"], ["--scale", "synthetic:drift"]),
    usage("a saved partition of a generator", [*DRIFT, "--save-partition", "p.csv"], ["--save-partition"]),
    data("a file without a column of the first client", ["part-{client}.csv"], ["features that the first client has are missing", "'b'", "'c'"],
         {"part-0.csv": "a,b,y\n1,2,1\n", "part-1.csv": "a,c,y\n1,2,1\n"}, together=True),
    data("a test set with other columns", ["d.csv", "--test", "t.csv"], ["t.csv", "columns that the run takes are missing", "'b'"],
         {"d.csv": "a,b,y\n1,2,1\n3,4,1\n", "t.csv": "a,c,y\n1,2,1\n"}),
    data("words that are no records", ["kept/precious.txt"], ["precious.txt"]),
    data("content that tells no format", ["noise.bin"], ["noise.bin", "--format"], {"noise.bin": bytes(range(1, 200))}),
]

COLUMNS = [
    usage("a column to drop that is not there", ["--source", "d.csv", "--drop", "a,colour", *LEARN],
          ["d.csv", "colour", "--drop"], {"d.csv": "a,b,y\n1,2,1\n"}),
    usage("a label that is dropped", ["--source", "d.csv", "--label", "a", "--drop", "a", *LEARN],
          ["column 'a'", "--label", "--drop"], {"d.csv": "a,b,y\n1,2,1\n"}),
    usage("a label column that is not there", ["--source", "d.csv", "--label", "7", *LEARN], ["d.csv", "--label", "7"],
          {"d.csv": "a,b,y\n1,2,1\n"}),
    usage("a delimiter that no file of options can hold", ["--source", "data.csv", "--delimiter", " ", *LEARN],
          ["--delimiter", "space"]),
    usage("a delimiter of two characters", ["--source", "data.csv", "--delimiter", "::", *LEARN], ["::", "delimiter"]),
    usage("a word for a positive label", ["--source", "data.csv", "--positive", "1,many", *LEARN],
          ["--positive", "many", "not a number"]),
    usage("an empty place in a list", ["--source", "data.csv", "--ignore", "1,,2", *LEARN], ["--ignore", "1,,2"]),
]

BINARY = [
    data("text that is called HDF5", ["d.h5"], ["d.h5", "not an HDF5 file"], {"d.h5": "a,b,y\n1,2,1\n"}),
    data("HDF5 without labels", ["d.h5"], ["d.h5", "/y", "/x, /z"], {"d.h5": hdf5(x=numbers(20, 3), z=LABELS)}, needs=h5py),
    data("HDF5 of two lengths", ["d.h5"], ["d.h5", "20 rows of /x", "19 of /y"],
         {"d.h5": hdf5(x=numbers(20, 3), y=LABELS[1:])}, needs=h5py),
    data("nan in HDF5", ["d.h5"], ["d.h5", "record 7", "column 1", "/x", "not finite"], {"d.h5": hdf5(x=NAN_AT_7, y=LABELS)},
         needs=h5py),
    data("text in HDF5", ["d.h5"], ["d.h5", "/y", "text"], {"d.h5": hdf5(x=numbers(2, 3), y=["yes", "no"])}, needs=h5py),
    data("HDF5 that is cut off", ["d.h5"], ["d.h5", "damaged or truncated"],
         {"d.h5": lambda: hdf5(x=numbers(200, 30), y=LABELS * 10)()[:-3000]}, needs=h5py),
    data("IDX that is cut off", ["d.idx3,l.idx1"], ["d.idx3", "truncated"],
         {"d.idx3": idx(20, 2, 2)[:-1], "l.idx1": idx(20)}),
    data("gzipped IDX that is cut off", ["d.idx3.gz,l.idx1"], ["d.idx3.gz", "record 20"],
         {"d.idx3.gz": gzip.compress(idx(20, 2, 2)[:-1]), "l.idx1": idx(20, values=[0, 1] * 10)}),
    data("IDX without its labels", ["d.idx3"], ["d.idx3", "FEATURES,LABELS"], {"d.idx3": idx(20, 2, 2)}),
    data("nan in IDX", ["d.idx2,l.idx1"], ["d.idx2", "record 2", "not finite"],
         {"d.idx2": idx(2, 1, type=13, format="f", values=[1, float("nan")]), "l.idx1": idx(2)}),
]

# Sources of several files.
SEVERAL = [
    data("a pair of two lengths", ["d.idx3,l.idx1"], ["d.idx3,l.idx1", "20", "19"],
         {"d.idx3": idx(20, 2, 2), "l.idx1": idx(19)}),
    data("a pair of two lengths, as text", ["x.csv,y.csv"], ["x.csv,y.csv", "3", "2"],
         {"x.csv": "1,2\n3,4\n5,6\n", "y.csv": "1\n-1\n"}),
    usage("a pair whose second is missing", ["--source", "data.csv,nowhere.csv", *LEARN], ["nowhere.csv", "No such file"]),
    data("a pair with labels of several columns", ["data.csv,wide.csv"], ["wide.csv", "4"], {"wide.csv": "1,2,3,4\n" * 40}),
]

FAULTS = [*FIRST, *OPTIONS, *PARTS, *GRAPHS, *STARTS, *KEYS, *OUTPUT, *TEXT, *COLUMNS, *BINARY, *SEVERAL]


class Planted(TestCase):
    """Has a test for each row of the table."""

    def setUp(self):
        super().setUp()
        self.write("kept/precious.txt", "years of work\n")
        self.write("data.csv", "\n".join(csv_rows(40)) + "\n")

    def existing(self):
        return {name: what for name, what in tree(self.folder).items() if not name.startswith("log-")}

    def plant(self, files):
        for name, content in files.items():
            made = content() if callable(content) else content
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made if isinstance(made, bytes) else made.encode())
            if name.startswith("key-"):
                path.chmod(0o600)  # a case that others may read is test_privacy_files'

    def parts_of(self, fault):
        """For the harness; all that is written goes to one place that is not there before."""
        parts = []
        for ranks, words, place in fault.parts or [(2, fault.words, ".")]:
            output = [] if "--output" in words else ["--output", self.folder / "out"]
            parts.append((ranks, [*words, *output], ["-wdir", self.folder / place]))
        return parts

    def check(self, fault):
        self.plant(fault.files)
        if fault.before:
            self.good(2, fault.before)
        before = self.existing()
        parts = self.parts_of(fault)
        if fault.parts or fault.together or SLOW:
            result = self.run_parts(parts)
            self.assertEqual(result.codes, [fault.code] * sum(part[0] for part in parts), result)
        else:
            result = self.run_alone(["omd", *parts[0][1]])
            self.assertEqual(result.code, fault.code, result)
        self.assertLess(result.seconds, SECONDS, result)
        self.assertEqual(len(result.messages()), 1, result)
        for text in fault.expected:
            self.assertIn(text, result.messages()[0])
        self.assertEqual(result.out, "")
        if fault.never:
            self.assertNotIn(fault.never, result.err.lower())
        self.assertEqual(self.existing(), before)


def add_tests():
    for number, fault in enumerate(FAULTS, 1):
        def test(self, fault=fault):
            if not fault.needs:
                self.skipTest("h5py is not installed")
            self.check(fault)

        test.__doc__ = fault.name
        setattr(Planted, f"test_{number:03}_" + re.sub(r"[^a-z0-9]+", "_", fault.name.lower()), test if fault.parts or fault.together else fewer(test))


add_tests()


class Table(unittest.TestCase):
    def test_holds_all_planted_faults(self):
        self.assertGreaterEqual(len(FAULTS), AT_LEAST)
        self.assertEqual(len({fault.name for fault in FAULTS}), len(FAULTS))
        self.assertEqual({fault.code for fault in FAULTS}, {USAGE, DATA_FAULT, FAILURE})
        tests = [name for name in dir(Planted) if name.startswith("test_")]
        self.assertEqual(len(tests), len(FAULTS))
        for fault in FAULTS:
            self.assertTrue(fault.expected and (fault.words or fault.parts), fault.name)


class Beside(TestCase):
    """What is near to a fault."""

    def test_what_a_user_sees_from_mpirun(self):
        self.write("text.csv", "a,b,y\n0.1,red,1\n")
        for words, code in ((["--config", "nowhere.ini"], USAGE), (["--source", "nowhere.csv", *LEARN], USAGE),
                            (["--source", "text.csv", *LEARN], DATA_FAULT)):
            result = self.run_as_a_user(3, ["omd", *words])
            self.assertEqual((result.code, len(result.messages())), (code, 1), result)

    def test_an_empty_directory_is_fine(self):
        (self.folder / "empty").mkdir()
        self.good(2, [*DRIFT, "--output", "empty"])

    def test_a_file_of_options_with_byte_order_mark(self):
        (self.folder / "c.ini").write_bytes(b"\xef\xbb\xbfmechanism = laplace\r\nepsilon = 1\r\nsource = synthetic:drift:n=50\r\n")
        self.good(2, ["--config", "c.ini", "--output", "out"])

    def test_a_value_that_ends_the_run(self):
        """Models that grow without bound are found out in a round, on all ranks at once, from the models alone."""
        self.write("huge.csv", "1e9,1e9,1\n" * 40)
        result = self.run_noted(2, ["--source", "huge.csv", "--loss", "squared", "--mechanism", "none", "--step", "1e9",
                                    "--output", "out"])
        self.assertEqual(result.codes, [DATA_FAULT] * 2, result)
        self.assertLess(result.seconds, SECONDS)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("not finite", result.messages()[0])


if __name__ == "__main__":
    unittest.main()
