"""Tables as programs write them: each is read as pandas, SciPy or NetworkX reads it, or refused by the name of its layout with an
option or a command after which it is. One table of layouts."""

import gzip
import json
import re
import shlex
import unittest

from harness import *

try:
    import pandas
    import scipy.io
    import scipy.io.arff
except ImportError:
    pandas = None
try:
    import networkx
except ImportError:
    networkx = None

DATA_FAULT, USAGE = 3, 2
ROWS = [[1.5, 2, 1], [0.25, 1000, 0], [-3, 4, 1]]
X = "\n".join(",".join(map(str, row)) for row in ROWS) + "\n"
PLAIN = "a,b,y\n" + X


def by(delimiter, text=PLAIN):
    return text.replace(",", delimiter)


def commas(text=PLAIN):
    """With decimal commas between semicolons."""
    return text.replace(",", ";").replace(".", ",")


def csv(path, **options):
    return pandas.read_csv(path, **options)


def named(frame):
    return frame.set_axis(["a", "b", "y"], axis=1)


def plain_frame(_):
    return named(pandas.DataFrame(ROWS))


# Name of the file; text; options; the data frame of pandas, in which the label is the last column; part of a note, or nothing.
READ = [
    ("plain.csv", PLAIN, [], csv, ""),
    ("semicolons.csv", by(";"), [], lambda p: csv(p, sep=";"), ""),
    ("tabs.tsv", by("\t"), [], lambda p: csv(p, sep="\t"), ""),
    ("spaces.txt", by("  "), [], lambda p: csv(p, sep=r"\s+"), ""),
    ("bars.txt", by("|"), ["--delimiter", "|"], lambda p: csv(p, sep="|"), ""),
    ("windows.csv", "\ufeff" + PLAIN.replace("\n", "\r\n"), [], csv, ""),
    ("packed.csv.gz", gzip.compress(PLAIN.encode()), [], csv, ""),
    ("blank-lines.csv", "\n" + PLAIN.replace("\n", "\n\n"), [], csv, ""),
    ("no-names.csv", X, ["--header", "no"], lambda p: csv(p, header=None), ""),
    ("blanks.csv", by(" , "), [], lambda p: csv(p, skipinitialspace=True).rename(columns=str.strip), ""),
    ("quotes.csv", "\n".join(",".join(f'"{field}"' for field in line.split(",")) for line in PLAIN.splitlines()) + "\n", [], csv, ""),
    ("quoted-names.csv", '"dose, mg","5"" pipe",y\n' + X, [], csv, ""),
    ("decimal-commas.csv", commas(), ["--decimal", "comma"], lambda p: csv(p, sep=";", decimal=","), ""),
    ("exponents.csv", "a,b,y\n1e-400,+2.5E3,1\n-1e-400,1e308,0\n", [], csv, ""),
    ("excel.csv", "sep=;\n" + by(";"), [], lambda p: csv(p, sep=";", skiprows=1), "';' stands between the columns"),
    ("excel-quoted.csv", '"sep=,"\n' + PLAIN, [], lambda p: csv(p, skiprows=1), "stands between the columns"),
    ("excel-tab.csv", "sep=\t\n" + by("\t"), [], lambda p: csv(p, sep="\t", skiprows=1), "a tab stands between the columns"),
    ("comments.csv", "# made by hand\n# in 2024, at home\n" + PLAIN, [], lambda p: csv(p, comment="#"), "rows 1 to 2 are taken as comments"),
    ("savetxt.csv", "# a,b,y\n" + X, [], lambda p: csv(p, comment="#", names=["a", "b", "y"]), "names of the columns stand in a comment, in row 1"),
    ("savetxt.txt", "# a b y\n" + X.replace(",", " "), [], lambda p: csv(p, sep=" ", comment="#", names=["a", "b", "y"]), "stand in a comment"),
    ("bed.tsv", "# from a device\n#a\tb\ty\n" + X.replace(",", "\t"), [], lambda p: csv(p, sep="\t", comment="#", names=["a", "b", "y"]), "in row 2"),
    ("row-names.txt", '"a" "b" "y"\n' + "".join(f'"{k + 1}" {row[0]} {row[1]} {row[2]}\n' for k, row in enumerate(ROWS)), [],
     lambda p: csv(p, sep=" "), "the first holds row names"),
    ("row-texts.csv", "a,b,y\n" + "".join(f"Merc {k},{row[0]},{row[1]},{row[2]}\n" for k, row in enumerate(ROWS)), [], csv, "row names"),
    ("data-frame.csv", ",a,b,y\n" + "".join(f"{k},{line}\n" for k, line in enumerate(X.splitlines())), ["--drop", "0"],
     lambda p: csv(p, index_col=0), ""),
    ("commas-in-names.tsv", "dose (mg, kg, l)\tb, c, d\ty\n" + X.replace(",", "\t"), [], lambda p: csv(p, sep="\t"), ""),
    ("comma-in-name.csv", '"town, state",b,c,y\n' + "Ulm,1,2,1\nBonn,2,1,0\n", ["--drop", '"town, state"'],
     lambda p: csv(p).drop(columns="town, state"), ""),
    ("libsvm.txt", "1 1:1.5 2:2\n0 1:.25 2:1000\n1 1:-3 2:4\n", [], plain_frame, ""),
    ("libsvm.csv", "# written by hand\n1 qid:1 1:1.5 2:2\n0 qid:1 1:.25 2:1000\n1 qid:2 1:-3 2:4\n", [], plain_frame, ""),
]


def mended(name, reading=csv, **options):
    return lambda folder: reading(folder / name, **options)


# Name of the file; text; options; parts of the message; the data frame of pandas in a folder, after what the message asks for.
REFUSED = [
    ("bars.csv", by("|"), [], ["'|' stands between the columns"], mended("bars.csv", sep="|")),
    ("decimal-commas.csv", commas(X), [], ["numbers with commas stand between delimiters: ';'", "unless the commas stand before thousands"], mended("decimal-commas.csv", sep=";", decimal=",", header=None)),
    ("decimal-comma-names.csv", commas(), [], ["a decimal comma"], mended("decimal-comma-names.csv", sep=";", decimal=",")),
    ("last.csv", PLAIN.replace("\n", ",\n"), [], ["every line ends with ','", "last column is empty"],
     lambda folder: csv(folder / "last.csv").drop(columns="Unnamed: 3")),
    ("last-of-rows.csv", "a,b,y\n" + X.replace("\n", ",\n"), [], ["the rows end with ','"], mended("last-of-rows.csv", index_col=False)),
    ("title.csv", "Weights of 2024\n" + PLAIN, [], ["a line without columns stands above the table, which begins in row 2"],
     mended("title.csv", skiprows=1)),
    ("titles.csv", "Weights\n\n" + by(";"), [], ["a line without columns stands above the table, which begins in row 3"],
     mended("titles.csv", sep=";", skiprows=2)),
    ("units.csv", "a,b,y\nmg,kg,\n" + X, [], ["row 2 has no number", "units"], mended("units.csv", skiprows=[1])),
    ("whole-lines.csv", "".join(f'"{line}"\n' for line in PLAIN.splitlines()), [], ["each line stands in quotes as a whole"],
     lambda folder: plain_frame(folder)),
    ("lines.jsonl", '{"a": 1.5, "b": 2, "y": 1}\n{"a": 0.25, "b": 1000, "y": 0}\n{"a": -3, "b": 4, "y": 1}\n', [], ["it is JSON"],
     lambda folder: pandas.read_json(folder / "lines.jsonl", lines=True)),
    ("array.txt", '[\n{"a": 1.5, "b": 2, "y": 1},\n{"a": 0.25, "b": 1000, "y": 0}\n]\n', [], ["it is JSON"],
     lambda folder: pandas.read_json(folder / "array.txt")),
    ("weka.csv", "% by hand\n@RELATION t\n@ATTRIBUTE a NUMERIC\n@ATTRIBUTE b NUMERIC\n@ATTRIBUTE y NUMERIC\n@DATA\n" + X, [], ["it is an ARFF file"],
     lambda folder: pandas.DataFrame(scipy.io.arff.loadarff(folder / "weka.csv")[0])),
    ("matrix.txt", "%%MatrixMarket matrix coordinate real general\n2 3 4\n1 1 1.5\n1 3 1\n2 2 7\n2 3 0\n", [], ["it is a MatrixMarket file"],
     lambda folder: named(pandas.DataFrame(scipy.io.mmread(folder / "matrix.txt").toarray()))),
]

# Name; text; parts of the message: nothing but the owner's hand can mend it.
BY_HAND = [
    ("names.csv", '"height\n(cm)",b,y\n' + X, ["row 1: a name in quotes goes over the end of the line", "Take the line break out"]),
    ("names-apart.csv", "a,b\n" + "".join(f"{line},{line}\n" for line in X.splitlines()), ["row of names has 2 fields, and all 3 rows below it have 6"]),
    ("two-names.csv", "# town,sex,y\nUlm,m,yes\nBonn,f,no\n", ["rows 1 and 2 may each name the columns", "Take the # away"]),
    ("pointer.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", ["a pointer of Git LFS", "git lfs pull"]),
    ("page.csv", "<!DOCTYPE html>\n<html><body>not found</body></html>\n", ["a page of the web"]),
    ("comment-below.csv", PLAIN + "# the end\n", ["row 5: 1 fields: 3 expected", "comments after # stand above the first record alone"]),
]


@unittest.skipIf(pandas is None or numpy is None, "pandas or SciPy is not installed")
class TableLayouts(TestCase):
    def write_bytes(self, name, content):
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def converted(self, name, options=()):
        self.succeeded(self.run_alone(["data", "convert", name, *options, "--output", "o.csv", "--force"]))
        return pandas.read_csv(self.folder / "o.csv", float_precision="round_trip")

    def same(self, found, expected):
        """Equal to the last bit; names too, unless starling has made its own."""
        numpy.testing.assert_array_equal(found.to_numpy(float), expected.to_numpy(float))
        if not found.columns[0].startswith("x0") and not found.columns[0].startswith("x1"):
            self.assertEqual(list(found.columns), [str(each) for each in expected.columns])

    def test_layouts_that_are_read(self):
        for name, content, options, reading, note in READ:
            with self.subTest(name):
                self.write_bytes(name, content)
                expected = reading(self.folder / name)
                self.same(self.converted(name, options), expected)
                if not note:
                    continue
                for words in (["data", "describe", name], ["data", "profile", name, "--output", f"{name}-drafts"]):
                    self.assertIn(note, self.succeeded(self.run_alone([*words, *options])).out)

    def mend(self, message, name):
        """Does what a message asks for: the file and the options with which it is to be read."""
        if found := re.search(r"(?:sed|tail|python3) .*?(?= FILE > NEW|$)", message):
            if found[0].startswith("python3"):
                command = shlex.split(found[0])
                subprocess.run([sys.executable, *command[1:]], cwd=self.folder, check=True, timeout=60)
                return re.search(r"to_csv\('(.*?)'", message)[1], []
            with open(self.folder / f"new-{name}", "w") as new:
                subprocess.run([*shlex.split(found[0]), name], cwd=self.folder, check=True, stdout=new, timeout=30)
            return f"new-{name}", []
        found = re.search(r"[Gg]ive (--[a-z]+ (?:'.'|\w+))", message)
        return name, shlex.split(found[1])

    def test_layouts_that_are_named(self):
        for name, content, options, expected, reading in REFUSED:
            with self.subTest(name):
                self.write_bytes(name, content)
                result = self.run_alone(["data", "describe", name, *options])
                self.assertEqual((result.code, len(result.messages())), (DATA_FAULT, 1), result)
                message = result.messages()[0]
                for text in [f"{name}: ", *expected]:
                    self.assertIn(text, message)
                for word in ("Complete the row", "faulty records"):
                    self.assertNotIn(word, message.replace("decimal-comma-names", "") if "a decimal comma" not in message else "")
                mended_name, more = self.mend(message, name)
                self.same(self.converted(mended_name, more), reading(self.folder))

    def test_layouts_that_their_owner_mends(self):
        for name, content, expected in BY_HAND:
            self.write_bytes(name, content)
            for words in (["data", "describe", name], ["data", "profile", name, "--output", "drafts"],
                          ["omd", "--source", name, "--mechanism", "none", "--progress", "off"], ["init", "--source", name, "--output", "new"]):
                with self.subTest(name, words=words[:2]):
                    result = self.run_alone(words)
                    self.assertEqual((result.code, len(result.messages())), (DATA_FAULT, 1), result)
                    for text in [f"{name}: ", *expected]:
                        self.assertIn(text, result.messages()[0])

    def test_every_reader_of_text_names_them(self):
        """Profile, init and runs say what describe says."""
        for name, content, options, expected, _ in REFUSED:
            if name.startswith("decimal-comma"):
                continue  # profile reads the commas, and init offers the option
            self.write_bytes(name, content)
            for words in (["data", "profile", name, "--output", "drafts"], ["init", "--source", name, "--output", "new"]):
                with self.subTest(name, words=words[:2]):
                    result = self.run_alone([*words, *options])
                    self.assertEqual(result.code, DATA_FAULT, result)
                    self.assertIn(expected[0], result.messages()[0])

    def test_pipes(self):
        """What the first line and comments tell is told of a pipe, too."""
        for name, content, options, _, _ in READ:
            if not name.startswith(("plain", "excel", "comments", "savetxt", "blank-lines", "windows")):
                continue
            with self.subTest(name):
                self.write_bytes(name, content)
                columns = []
                for source in (name, "-"):
                    with open(self.folder / name) as text:
                        done = subprocess.run([STARLING, "data", "describe", source, "--json", *options], cwd=self.folder, env=environment(),
                                              stdin=text, capture_output=True, text=True, timeout=30)
                    self.assertEqual(done.returncode, 0, done)
                    columns.append(json.loads(done.stdout)["columns"])
                self.assertEqual(columns[0], columns[1])

    def test_profile_says_who_reads_what_is_no_table(self):
        self.write("t.txt", "1 1:2\n0 2:1\n")
        result = self.run_alone(["data", "profile", "t.txt", "--output", "d"])
        self.assertEqual(result.code, DATA_FAULT, result)
        self.assertIn("t.txt: it is no table of text, whose columns could be drafted. starling data describe reads it.", result.messages()[0])

    def test_row_names_are_no_feature_of_a_run(self):
        self.write("t.csv", "a,b,y\n" + "".join(f"person {k},{k % 3},{k % 5},{k % 2}\n" for k in range(20)))
        names = self.run_alone(["omd", "--source", "t.csv", "--mechanism", "none", "--progress", "off", "--output", "run", "--json"])
        self.assertEqual(len(self.succeeded(names).summary()["final_model"]), 2)
        table = self.succeeded(self.run_alone(["predict", "run", "--source", "t.csv", "--id", "0"])).out
        self.assertIn("person 19", table)


class ListsOfNames(TestCase):
    """A name with a comma stands in quotes, on the command line, in files and in what init writes."""

    TABLE = '"town, state",a,"b, c",y\n' + "".join(f"Ulm{k},{k},{k % 7},{k % 2}\n" for k in range(60))

    def setUp(self):
        super().setUp()
        self.write("t.csv", self.TABLE)

    def features(self, *words):
        result = self.succeeded(self.run_alone(["omd", *words, "--mechanism", "none", "--progress", "off", "--json"]))
        return len(result.summary()["final_model"])

    def test_names_with_commas(self):
        self.assertEqual(self.features("--source", "t.csv", "--drop", '"town, state"'), 2)
        self.assertEqual(self.features("--source", "t.csv", "--drop", '"town, state", "b, c"'), 1)
        self.write("run.ini", 'source = t.csv\nintercept = no\ndrop = "town, state","b, c"\n')
        self.assertEqual(self.features("--config", "run.ini"), 1)
        result = self.run_alone(["data", "describe", "t.csv", "--drop", "town, state"])
        self.assertEqual(result.code, USAGE, result)
        message = result.messages()[0]
        self.assertIn("a name with a comma stands in quotes", message)
        words = shlex.split(re.search("Give (--drop .*)", message)[1].rstrip("."))
        self.succeeded(self.run_alone(["data", "describe", "t.csv", *words]))
        for text in ('"town, state', '"town, state",'):
            self.assertEqual(self.run_alone(["data", "describe", "t.csv", "--drop", text]).code, USAGE)

    def test_arrays_of_toml(self):
        self.write("run.toml", 'source = "t.csv"\nintercept = false\ndrop = ["town, state", "b, c"]\n')
        result = self.run_alone(["omd", "--config", "run.toml", "--mechanism", "none", "--progress", "off", "--json"])
        if "toml++" in result.err:
            self.skipTest("built without toml++")
        self.assertEqual(len(self.succeeded(result).summary()["final_model"]), 1)

    def test_columns_of_parties(self):
        words = ["--source", "t.csv", "--drop", '"town, state"', "--mechanism", "none", "--progress", "off", "--clients", "2"]
        self.succeeded(self.run_alone(["vertical", *words, "--columns", 'a/"b, c"', "--output", "v"]))

    def test_what_init_writes(self):
        init = ["init", "--source", "t.csv", "--clients", "1", "--total-epsilon", "none"]
        asks = self.run_alone([*init, "--output", "asks"])
        line = 'drop = "town, state"'
        self.assertIn(line, asks.out)
        self.succeeded(self.run_alone([*init, "--output", "new", "--drop", '"town, state"']))
        self.assertIn(line, (self.folder / "new" / "run.ini").read_text())
        self.succeeded(self.run_alone(["omd", "--config", "new/run.ini", "--progress", "off", "--output", "run"]))


class Lists(TestCase):
    """Lists of edges and tables of charges as other programs write them."""

    def check_refused(self, name, text, *parts):
        self.write(name, text)
        result = self.run_alone(["topology", "check", name])
        self.assertNotEqual(result.code, 0, result)
        for part in parts:
            self.assertIn(part, result.err)
        return result.err

    def run_shell(self, command, name):
        with open(self.folder / f"new-{name}", "w") as new:
            subprocess.run([*shlex.split(command), name], cwd=self.folder, check=True, stdout=new, timeout=30)
        return f"new-{name}"

    def test_lists_that_count_from_1(self):
        for name, text in (("ring.edges", "# 1 based\n1 2\n2 3\n3 1\n"), ("ring.txt", "1,2,0.5\n2,3,0.5\n3,1,0.5\n1,1,0.5\n2,2,0.5\n3,3,0.5\n"),
                           ("ring.edgelist", "1 2 {}\n2 3 {}\n3 1 {}\n")):
            with self.subTest(name):
                message = self.check_refused(name, text, "clients count from 0, and this list from 1, up to 3")
                new = self.run_shell(re.search("(awk .*) FILE > NEW", message)[1], name)
                found = json.loads(self.succeeded(self.run_alone(["topology", "check", new, "--json"])).out)
                self.assertEqual((found["clients"], found["edges"]), (3, 3))

    def test_other_lists(self):
        self.check_refused("one-way.edges", "0 1\n1 2\n0 2\n", "every edge goes one way, and none back", "G.to_directed()")
        self.check_refused("gap.edges", "0 2\n2 0\n", "client 1 has no edge to another", "without gaps")
        self.check_refused("names.txt", "source,target,weight\n0,1,1\n1,0,1\n", "a row of names", "Begin a row of names with #")
        self.check_refused("cities.edges", "Ulm Bonn\nBonn Ulm\n", "convert_node_labels_to_integers")
        self.check_refused("graph.edges", '{"nodes": [], "links": []}\n', "it is JSON, and no topology file", "write_edgelist")
        self.check_refused("graph.topo", "<?xml version='1.0'?>\n<graphml/>\n", "it is XML", "write_edgelist")
        self.check_refused("sums.edges", "0 0 0.5\n0 1 0.4\n1 0 0.5\n1 1 0.5\n", "leave all weights out")

    @unittest.skipIf(networkx is None or numpy is None, "NetworkX is not installed")
    def test_what_networkx_writes(self):
        graph = networkx.cycle_graph(4)
        networkx.write_edgelist(graph, self.folder / "one-way.edges", data=False)
        self.assertIn("none back", self.run_alone(["topology", "check", "one-way.edges"]).err)
        directed = graph.to_directed()
        for edge in directed.edges:
            directed.edges[edge]["weight"] = numpy.float32(0.25)
        for node in directed:
            directed.add_edge(node, node, weight=numpy.float32(0.5))
        networkx.write_edgelist(directed, self.folder / "both.edges")
        text = (self.folder / "both.edges").read_text()
        for kind in ("np.float32", "np.float64", "np.longdouble"):  # as NumPy 2 shows numbers
            self.write("numpy.edges", re.sub(r": ([0-9.]+)", rf": {kind}(\1)", text))
            for name in ("both.edges", "numpy.edges"):
                found = json.loads(self.succeeded(self.run_alone(["topology", "check", name, "--json"])).out)
                self.assertEqual((found["clients"], found["edges"], found["sender_sums"]), (4, 8, {"min": 1, "max": 1}))

    def test_groups_with_quotes(self):
        plain = "mechanism,epsilon,releases\nlaplace,0.5,3\npure,1,2\n"
        self.write("plain.csv", plain)
        self.write("quoted.csv", re.sub("([^,\n]+)", r'"\1"', plain))
        found = [self.succeeded(self.run_alone(["privacy", "spend", "--groups", name, "--delta", "1e-6"])).out for name in ("plain.csv", "quoted.csv")]
        self.assertEqual(found[0], found[1].replace("quoted.csv", "plain.csv"))


if __name__ == "__main__":
    unittest.main()
