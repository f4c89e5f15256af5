"""Options that messages name: the command that prints a message takes them, and they are no further fault."""

import itertools
import re
import shlex
import unittest

from harness import *

SOURCES = SOURCE / "src"
USAGE = 2

# What follows an option that a message names without a value.
VALUES = {"dates": "2024-01-01", "encode": "e.csv", "drop": "b", "missing": "zero", "missing-values": "red,blue", "label": "z", "id": "b", "format": "csv"}

# Name of the file; text; columns are a, b and y, the label.
FAULTS = [
    ("text.csv", "a,b,y\n1,red,1\n2,blue,0\n"),
    ("label.csv", "a,b,z,y\n1,2,3,yes\n2,1,3,no\n"),
    ("missing.csv", "a,b,y\n1,,1\n2,1,0\n"),
    ("missing-label.csv", "a,b,y\n1,2,\n2,1,0\n"),
    ("nan.csv", "a,b,y\n1,nan,1\n2,1,0\n"),
    ("large.csv", "a,b,y\n1,1e400,1\n2,1,0\n"),
    ("date.csv", "a,b,y\n1,2024-03-01,1\n2,2024-03-02,0\n"),
    ("comma.csv", "a;b;y\n1;1,5;1\n2;2,5;0\n"),
    ("thousands.csv", 'a,b,y\n1,"1,234",1\n2,"5,678",0\n'),
    ("either.csv", "a;b;y\n1;1,234;1\n2;2,345;0\n"),
    ("bars.csv", "a|b|y\n1|2|1\n2|1|0\n"),
    ("last.csv", "a,b,y,\n1,2,1,\n2,1,0,\n"),
    ("two-labels.svm", "1,2 1:1 2:2\n0 1:2 2:1\n"),
    ("text.svm", "1 1:x 2:2\n0 1:2 2:1\n"),
    ("label.svm", "yes 1:1 2:2\nno 1:2 2:1\n"),
    ("missing.svm", "1 1:nan 2:2\n0 1:2 2:1\n"),
]


def commands(sparse):
    """Words of commands that read records, each before its source. Other commands that learn read as these do."""
    open_run = ["--mechanism", "none", "--progress", "off"]
    model = "sparse-run" if sparse else "run"
    return (["data", "describe"], ["data", "convert", "--output", "o.csv", "--force"], ["omd", *open_run, "--source"],
            ["infer", *open_run, "--source"], ["init", "--output", "new", "--force", "--total-epsilon", "none", "--source"],
            ["predict", model, "--source"], ["score", model, "--source"])


def remedies_of(message):
    """Words of the command line for each option that a message names."""
    for option, value in re.findall(r"--([a-z][a-z-]+)(?: ('[^']*'|(?:comma|svmlight|zero|no|[0-9]+)\b))?", message):
        yield [f"--{option}", *(shlex.split(value) if value else [VALUES[option]])]


class Remedies(TestCase):
    def setUp(self):
        super().setUp()
        self.write("good.csv", "a,b,y\n1,2,1\n2,1,0\n")
        self.write("good.svm", "1 1:1 2:2\n0 1:2 2:1\n")
        self.write("e.csv", "column,category,value\nb,red,1\nb,blue,2\n")
        self.write("label-e.csv", "column,category,value\ny,yes,1\ny,no,0\n")
        for source, run in (("good.csv", "run"), ("good.svm", "sparse-run")):
            self.succeeded(self.run_alone(["omd", "--source", source, "--mechanism", "none", "--progress", "off", "--output", run]))

    def test_each_command_takes_what_it_names(self):
        tried = 0
        for name, text in FAULTS:
            sparse = name.endswith(".svm")
            self.write(name, self.repeated(text, sparse))
            for words in commands(sparse):
                asked = [*words, name]
                result = self.run_alone(asked)
                message = " ".join(result.messages())
                for remedy in remedies_of(message):
                    if "label" in name and remedy[0] == "--encode":
                        remedy[1] = "label-e.csv"
                    with self.subTest(name, command=words[:2], remedy=remedy):
                        tried += 1
                        self.check_taken(asked, remedy, message)
        self.assertGreater(tried, 40)

    @staticmethod
    def repeated(text, sparse):
        """With as many records as intervals need."""
        names, *rows = [""] * sparse + text.splitlines(keepends=True)
        return names + "".join(rows) * 60

    def check_taken(self, asked, remedy, before):
        """The command takes the option, and says something else than before."""
        result = self.run_alone([*asked, *remedy])
        told = " ".join(result.messages())
        self.assertNotEqual(result.code, USAGE, f"{before}\n{told}")
        self.assertNotEqual(told.replace(" ".join(remedy), ""), before, "the fault is still there")

    def test_models_have_their_own_constants(self):
        """Whoever applies a model is told of no option of reading that the model has taken over."""
        for name, text in FAULTS:
            if name.endswith(".svm"):
                continue
            self.write(name, text)
            for command in ("predict", "score"):
                message = " ".join(self.run_alone([command, "run", "--source", name]).messages())
                for option in ("--encode", "--missing"):
                    self.assertNotRegex(message, option + r"(?![\w-])", (command, name))

    def test_names_in_numpy_files(self):
        if numpy is None:
            self.skipTest("NumPy is not installed")
        numpy.savez(self.folder / "t.npz", X=numpy.ones((2, 2)), y=numpy.ones(2), features=numpy.array(["a", "b"], dtype=">U1"))
        result = self.run_alone(["data", "describe", "t.npz"])
        self.assertIn("names as array.astype('U')", result.messages()[0])

    def test_weights_of_foreign_graphs(self):
        self.write("t.edges", "0 0 0.5\n0 1 0.4\n1 0 0.5\n1 1 0.5\n")
        self.write("t.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0.5\n2 1 0.4\n1 2 0.5\n2 2 0.5\n")
        for name in ("t.edges", "t.mtx"):
            message = self.run_alone(["topology", "check", name]).err
            self.assertIn("leave all weights out: then each client shares equally", message)
            self.assertNotIn("weights sender", message)
        self.write("t.edges", "0 1\n1 0\n")
        self.write("t.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n")
        for name in ("t.edges", "t.mtx"):
            self.succeeded(self.run_alone(["topology", "check", name]))


class Mentions(TestCase):
    """Literals of the source text: each option in them is one of some command, or of these other programs."""

    FOREIGN = {"array", "bind-to", "cpu-bind", "cpus-per-task", "job-name", "mca", "mpi", "ntasks", "open-mode", "oversubscribe", "requeue",
               "signal"}

    def options_of(self, command):
        text = self.run_alone([*command, "--help=all"]).out
        return set(re.findall(r"(?m)^ +--([a-z][a-z0-9-]*)", text))

    def test_every_option_in_a_literal_is_one(self):
        names = ["omd", "infer", "renewable", "fedavg", "vertical", "predict", "score", "report", "sweep", "init", "doctor"]
        commands = [[name] for name in names]
        for group, parts in (("data", ("describe", "profile", "convert", "make")), ("topology", ("make", "check", "draw")),
                             ("privacy", ("spend", "calibrate", "audit", "ledger"))):
            commands += [[group, part] for part in parts]
        options = {" ".join(command): self.options_of(command) for command in commands}
        known = set().union(*options.values(), self.FOREIGN, {"help", "version"})
        self.assertGreater(len(known), 100)
        unknown = {}
        for path in sorted(itertools.chain(SOURCES.rglob("*.cpp"), SOURCES.rglob("*.hpp"))):
            text = path.read_text()
            text = re.sub(r"(?m)^\s*//.*$", "", text)
            for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
                for option in re.findall(r"(?<![\w-])--([a-z][a-z-]*[a-z])", literal):
                    if option not in known:
                        unknown.setdefault(option, str(path.relative_to(SOURCES)))
        self.assertEqual(unknown, {})


if __name__ == "__main__":
    unittest.main()
