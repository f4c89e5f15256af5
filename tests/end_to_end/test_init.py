"""`starling init`: answers by options and on a terminal; the run that it writes runs; configurations in TOML."""

import json
import re
import shlex
import shutil
import subprocess
import unittest

from harness import *
from terminal import Terminal

DECISION = 1
USAGE = 2


class InitCase(TestCase):
    def setUp(self):
        super().setUp()
        for client in range(3):
            self.write(f"site-{client}.csv", "a,b,c,ill\n" + "\n".join(csv_rows(80, seed=client + 1)) + "\n")

    def init(self, words, code=0):
        result = self.run_alone(["init", *words], as_they_are=True)
        self.assertEqual(result.code, code, result)
        return result

    def start(self, text):
        """Runs the command that init has printed last; returns the summary."""
        words = shlex.split(text.rstrip().splitlines()[-1])
        if words[0] == "mpirun":
            words = [MPIRUN, "--oversubscribe", *words[1:]]
        done = subprocess.run([*words, "--json"], cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)


class Options(InitCase):
    def test_the_written_run_runs(self):
        result = self.init(["site-{client}.csv", "--total-epsilon", "2", "--topology", "ring"])
        self.assertNotIn("?", result.out, "nothing is asked")
        self.assertIn("found 240 records in 3 files; label: column 'ill', found by its name or place: -1, 1", result.out)
        summary = self.start(result.out)
        self.assertEqual((summary["clients"], summary["privacy"]["unit"]), (3, "record"))
        self.assertLessEqual(summary["privacy"]["epsilon"], 2)
        self.assertGreater(summary["privacy"]["epsilon"], 1.9)
        self.assertEqual(summary["traffic"]["edge_count"], 6, "a ring, both ways")
        self.assertEqual(summary["dimension"], 4, "an intercept")
        again = self.run_alone(["omd", "--config", "run.ini", "--print-config"])
        self.assertRegex(again.out, r"(?m)^topology = .*/graph\.topo$")

    def test_nothing_is_overwritten_without_being_told(self):
        words = ["site-{client}.csv", "--total-epsilon", "1"]
        self.init(words)
        before = tree(self.folder)
        result = self.init(["site-{client}.csv", "--total-epsilon", "2"], USAGE)
        self.assertIn("it has a run.ini, which would be lost", result.err)
        self.assertEqual(tree(self.folder), before)
        self.init(["site-{client}.csv", "--total-epsilon", "2", "--force"])
        self.assertIn("\ntotal-epsilon = 2\n", (self.folder / "run.ini").read_text())

    def test_a_folder_elsewhere(self):
        """Names in run.ini hold from there."""
        result = self.init(["site-{client}.csv", "--total-epsilon", "none", "--output", "plans/first", "--drop", "c"])
        text = (self.folder / "plans/first/run.ini").read_text()
        self.assertIn(f"source = {self.folder}/site-{{client}}.csv\n", text)
        self.assertIn("\ndrop = c\n", text)
        self.assertIn("\nmechanism = none\n", text)
        self.assertEqual(self.start(result.out)["dimension"], 3)
        self.assertTrue((self.folder / "plans/first/run/model.h5").exists())

    def test_predictions_are_given_by_the_labels_of_the_records(self):
        for labels, loss in (((0, 1), "logistic"), ((1, 2), "logistic"), ((123456.5, 30), "logistic"), ((1, 2, 3), "softmax:3")):
            labels = sorted(labels)
            self.write("t.csv", "a,ill\n" + "".join(f"{k % 9},{labels[k % 9 * len(labels) // 9]}\n" for k in range(90)))
            result = self.init(["t.csv", "--total-epsilon", "none", "--clients", "1", "--force"])
            text = ",".join(map(str, labels))
            self.assertIn(f"\nloss = {loss}\n", (self.folder / "run.ini").read_text())
            self.assertIn(f"\nclass-labels = {text}\n", (self.folder / "run.ini").read_text())
            self.assertEqual(f"classes to --loss {loss} with --class-labels {text}" in result.out, labels != [0, 1])
            self.start(result.out)
            found = self.run_alone(["predict", "run", "--source", "t.csv"])
            self.assertEqual({line.split(",")[-1] for line in found.out.splitlines()[1:]}, set(text.split(",")), found)
            shutil.rmtree(self.folder / "run")
        self.init(["t.csv", "--total-epsilon", "none", "--clients", "1", "--force", "--loss", "squared"])
        self.assertNotIn("class-labels", (self.folder / "run.ini").read_text())
        self.init(["site-0.csv", "--total-epsilon", "none", "--clients", "1", "--positive", "1", "--force"])
        self.assertNotIn("class-labels", (self.folder / "run.ini").read_text())

    def test_one_file_is_dealt(self):
        result = self.init(["site-0.csv", "--total-epsilon", "1", "--clients", "5", "--topology", "star"])
        self.assertEqual(self.start(result.out)["clients"], 5)

    def test_a_graph_of_ones_own(self):
        self.write("own.topo", topology(3, [(1, [(0, 1), (1, 2), (2, 0)])]))
        result = self.init(["site-{client}.csv", "--total-epsilon", "1", "--topology", "own.topo"])
        self.assertFalse((self.folder / "graph.topo").exists())
        self.assertEqual(self.start(result.out)["traffic"]["edge_count"], 3)
        self.write("four.topo", topology(4, [(1, [(0, 1), (1, 2), (2, 3), (3, 0)])]))
        refused = self.init(["site-{client}.csv", "--total-epsilon", "1", "--topology", "four.topo", "--force"], USAGE)
        self.assertIn("'four.topo' is a graph of 4 clients, and there are 3", refused.err)

    def test_persons(self):
        rows = [f"{line},{number % 20}" for number, line in enumerate(csv_rows(80))]
        self.write("visits.csv", "a,b,c,y,patient\n" + "\n".join(rows) + "\n")
        words = ["visits.csv", "--unit", "person", "--person", "patient", "--clients", "2", "--total-epsilon", "1"]
        result = self.init(words)
        summary = self.start(result.out)
        self.assertEqual((summary["privacy"]["unit"], summary["dimension"]), ("person", 4))
        self.assertNotIn("counted per record", result.out + result.err)
        self.write("visits.csv", "a,b,c,y,patient\n0,0,0,1,NA\n" + "\n".join(rows) + "\n")
        self.assertIn("missing-person = drop", self.init([*words, "--output", "asked"], 1).out)
        dropped = self.init([*words, "--output", "dropped", "--missing-person", "drop"])
        self.assertEqual(self.start(dropped.out)["privacy"]["unit"], "person")

    def test_what_a_person_has_is_in_no_setting(self):
        """The number of persons is public, and how many records they have is not. The file tells of records: it is its owner's."""
        def configured(records, text=""):
            rows = [f"{line}{text},{number % 20}" for number, line in enumerate(csv_rows(records))]
            self.write("visits.csv", f"a,b,c,y{',town' if text else ''},patient\n" + "\n".join(rows) + "\n")
            self.write("run.ini", "before\n")
            os.chmod(self.folder / "run.ini", 0o644)
            self.init(["visits.csv", "--unit", "person", "--person", "patient", "--total-epsilon", "1", "--force"], 1 if text else 0)
            self.assertEqual((self.folder / "run.ini").stat().st_mode & 0o777, 0o600)
            return (self.folder / "run.ini").read_text()

        few = configured(40)
        self.assertIn("\ndelta = 1e-05\n", few)
        self.assertEqual(configured(12000), few)
        self.assertIn("\ndelta = 1e-05\n", configured(12000, ",Bern"))

    def test_what_is_wrong(self):
        for words, code, parts in (
            ([], USAGE, ["no records are named"]),
            (["none.csv", "--total-epsilon", "1"], USAGE, ["'none.csv': there is no such file"]),
            (["none-{client}.csv", "--total-epsilon", "1"], USAGE, ["'none-0.csv': there is no such file"]),
            (["synthetic:drift", "--total-epsilon", "1"], USAGE, ["is a generator"]),
            (["site-0.csv"], USAGE, ["--total-epsilon is missing"]),
            (["site-0.csv", "--total-epsilon", "-1"], USAGE, ["--total-epsilon", "-1"]),
            (["site-0.csv", "--total-epsilon", "1", "--unit", "person"], USAGE, ["--person"]),
            (["site-0.csv", "--total-epsilon", "1", "--unit", "person", "--person", "nobody"], USAGE, ["nobody"]),
            (["site-0.csv", "--total-epsilon", "1", "--topology", "rink"], USAGE, ["rink", "ring"]),
            (["site-0.csv", "--total-epsilon", "1", "--where", "moon"], USAGE, ["--where", "here, slurm"]),
        ):
            with self.subTest(words=words):
                result = self.init(words, code)
                for part in parts:
                    self.assertIn(part, result.messages()[0])
                self.assertFalse((self.folder / "run.ini").exists())


class Decisions(InitCase):
    """What the owner must decide is said plainly, and each choice that is offered is one."""

    CASES = (
        ("texts", "age,town,y\n30,Bonn,1\n40,Ulm,0\n50,Bonn,1\n", [r"column 'town' holds 2 different texts"], ["--drop", "town"]),
        ("names", "name,age,y\n" + "".join(f"n{k},{k % 50},{k % 2}\n" for k in range(60)),
         ["column 'name' holds many different texts", "id = name"], ["--id", "name"]),
        ("missing", "age,size,y\n30,1,1\n,2,0\n50,,1\n", ["values are missing in some records: 'age' in 1, 'size' in 1", "missing = indicator"],
         ["--missing", "indicator"]),
        ("marks", "age,size,y\n30,1,1\n35,2,1\nunknown,2,0\n50,k.A.,1\n60,3,0\n",
         ["numbers and a few texts stand in 'age', 'size'", "missing-values = k.A.,unknown", "missing = indicator"],
         ["--missing-values", ",k.A.,unknown", "--missing", "zero"]),
        ("commas", "town;size;y\nUlm;1,5;1\nUlm;2,5;0\nBonn;;1\n", ["numbers have decimal commas", "decimal = comma", "'size' in 1", "column 'town' holds 2"],
         ["--decimal", "comma", "--missing", "zero", "--drop", "town"]),
        ("quantity", "a,b\n" + "".join(f"{k},{k * 1.5 + 0.25}\n" for k in range(60)), [r"the label .* is no class", "loss = squared"], ["--loss", "squared"]),
        ("counts", "a,days\n" + "".join(f"{k},{k * k % 31}\n" for k in range(99)), [r"the label .* may be a class, a quantity or a count", "loss = poisson:BOUND"],
         ["--loss", "poisson:40"]),
        ("counts with gaps", "a,days\n" + "".join(f"{k},{k % 9 + 4 * (k % 9 == 8)}\n" for k in range(99)), ["may be a class, a quantity or a count"],
         ["--loss", "poisson:40"]),
        ("constant", "a,y\n1,1\n2,1\n3,1\n", ["all labels are the same"], None),
        ("label", "a,y\n1,yes\n2,no\n3,yes\n", ["column 'y' is the label and holds text", "encode = onehot:FILE"], None),
    )

    def test_each(self):
        for name, text, parts, answer in self.CASES:
            with self.subTest(name):
                self.write(f"{name}.csv", text)
                words = [f"{name}.csv", "--total-epsilon", "none", "--clients", "1", "--output", name]
                result = self.init(words, DECISION)
                self.assertIn("First decide", result.out)
                for part in parts:
                    self.assertRegex(result.out, part)
                    self.assertRegex((self.folder / name / "run.ini").read_text(), part)
                self.assertIn("# DECIDE: ", (self.folder / name / "run.ini").read_text())
                if answer is not None:
                    decided = self.init([*words, *answer, "--force"])
                    self.assertNotIn("First decide", decided.out)
                    self.start(decided.out)

    def test_names_of_several_files_are_one_pattern(self):
        for name in ("north.csv", "south.csv"):
            self.write(name, "a,y\n1,0\n2,1\n")
        self.assertIn("are one SOURCE with {client} in its name", self.init(["north.csv", "south.csv"], 2).err)

    def test_files_of_several_clients_share_their_decisions(self):
        for client in range(3):
            rows = [f"{client}{k // 2},{'Ulm' if k % 3 else 'Bonn'},{'' if k == 9 and client else k},{k % 2}" for k in range(60)]
            self.write(f"site-{client}.csv", "\n".join(["who,town,age,y", *rows]) + "\n")
        self.write("site-2.csv", (self.folder / "site-2.csv").read_text().replace("Ulm", "Rome"))
        text = self.init(["site-{client}.csv", "--total-epsilon", "none", "--output", "shared"], DECISION).out
        self.assertEqual(text.count("  * "), 2, text)
        self.assertRegex(text, r"site-0\.csv: column 'town' holds 2 different texts\. .*\. 2 more files have the same problem\.")
        self.assertRegex(text, r"site-1\.csv: values are missing in some records: 'age' in 1\. .*\. 1 more file has the same problem\.")
        self.write("visits.csv", "who,y\n" + "".join(f"p{k // 2},{k % 2}\n" for k in range(60)))
        text = self.init(["visits.csv", "--clients", "1", "--total-epsilon", "none", "--output", "visits"], DECISION).out
        self.assertIn("      id = who\n", text)


    def test_decimal_commas_in_some_files(self):
        for client, (text, delimiter) in enumerate((("1.5", ","), ("1,5", ";"), ("1.5", ","))):
            self.write(f"site-{client}.csv", "\n".join(delimiter.join(row) for row in (["a", "y"], *([text, str(k % 2)] for k in range(20)))) + "\n")
        words = ["site-{client}.csv", "--total-epsilon", "none", "--output", "some"]
        text = self.init(words, DECISION).out
        self.assertIn("  * site-1.csv: numbers have decimal commas, as in 1 of 3 files. Read each file as it is written.\n      decimal = auto\n", text)
        self.start(self.init([*words, "--decimal", "auto", "--force"]).out)


class OnATerminal(InitCase):
    def test_five_questions(self):
        terminal = Terminal([STARLING, "init"], self.folder)
        for question, answers in (("1 of 5", ["none.csv", "site-{client}.csv"]), ("2 of 5", [""]), ("3 of 5", ["much", "2"]),
                                  ("4 of 5", ["rink", "star"]), ("5 of 5", ["slurm"])):
            for answer in answers:
                terminal.wait_for(question)
                terminal.type(answer)
        self.assertEqual(terminal.finish(), 0, terminal.text)
        for words in ("'none.csv': there is no such file", "'much'", "'rink'", "found 240 records in 3 files"):
            self.assertIn(words, terminal.text)
        text = (self.folder / "run.ini").read_text()
        for line in ("source = site-{client}.csv", "unit = record", "total-epsilon = 2", "topology = graph.topo"):
            self.assertIn(f"\n{line}\n", text)
        self.assertIn("sbatch run.sbatch", terminal.text)
        self.assertIn("#SBATCH --ntasks=3\n", (self.folder / "run.sbatch").read_text())

    def test_what_options_say_is_not_asked(self):
        terminal = Terminal([STARLING, "init", "site-0.csv", "--unit", "record", "--total-epsilon", "1", "--where", "here"],
                            self.folder)
        terminal.wait_for("4 of 5")
        terminal.type("ring 6")
        self.assertEqual(terminal.finish(), 0, terminal.text)
        for number in (1, 2, 3, 5):
            self.assertNotIn(f"{number} of 5", terminal.text)
        self.assertIn("\nclients = 6\n", (self.folder / "run.ini").read_text())

    def test_ending_the_input_writes_nothing(self):
        terminal = Terminal([STARLING, "init", "site-0.csv"], self.folder)
        terminal.wait_for("2 of 5")
        terminal.type("\x04")
        terminal.finish()
        self.assertNotEqual(terminal.process.returncode, 0, terminal.text)
        self.assertFalse((self.folder / "run.ini").exists())


class Batch(InitCase):
    def test_the_script_runs_and_goes_on(self):
        """With a stand-in for srun: the second start of the job resumes its run, as after a requeue."""
        self.init(["site-{client}.csv", "--total-epsilon", "1", "--where", "slurm"])
        script = self.folder / "run.sbatch"
        self.assertEqual(subprocess.run(["bash", "-n", script]).returncode, 0)
        tools = self.folder / "tools"
        tools.mkdir()
        words = self.folder / "words"
        (tools / "srun").write_text(f'#!/bin/sh\necho "$@" >> "{words}"\nshift 2\nexec "{MPIRUN}" --oversubscribe -n 3 "$@"\n')
        (tools / "srun").chmod(0o755)
        start = dict(PATH=f"{tools}:{os.environ['PATH']}")

        def job(number, code=0, fault=None):
            with interrupted(fault):
                done = subprocess.run(["bash", str(script)], cwd="/", env={**environment(), **start, "SLURM_JOB_ID": str(number)},
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode == 0, code == 0, done)
            return done

        (self.folder / "run-7").mkdir()
        (self.folder / "run-7/run-is-beginning").touch()  # killed while it was made
        for _ in range(2):
            job(7)
        first, second = words.read_text().splitlines()
        self.assertTrue(first.startswith("--mpi=pmix --kill-on-bad-exit=0 "), first)
        self.assertTrue(first.endswith(" omd --config run.ini --output run-7"), first)
        self.assertTrue(second.endswith(" omd --resume run-7"), second)
        self.assertTrue((self.folder / "run-7" / "model.h5").exists())
        self.assertEqual(len(list(self.folder.glob("run-7.unbegun-*"))), 1)
        # Killed before its histograms, a run begins in its directory; after them nothing is paid again unasked.
        job(8, 137, "after rename /config.ini:0")
        self.assertIn("it begins now", job(8).stderr)
        job(9, 137, "after write /private/0/ledger:3")
        before = tree(self.folder / "run-9")
        again = job(9, USAGE)
        self.assertEqual(again.returncode, USAGE)
        self.assertIn("run-9 cannot go on: it may have released histograms before its first round", again.stderr)
        self.assertIn("run-9/private/*/ledger says what is charged. To pay again, submit a new job.", again.stderr)
        self.assertEqual(tree(self.folder / "run-9"), before)
        self.assertEqual(len(words.read_text().splitlines()), 5)
        self.assertEqual(list(self.folder.glob("run-9.unbegun-*")), [])


HAS_TOML = "none" not in re.search(r"toml\+\+ +(.*)", subprocess.run([STARLING, "--version"], env=environment(), text=True,
                                                                     capture_output=True).stdout)[1]


@unittest.skipUnless(HAS_TOML, "starling was built without toml++")
class Toml(InitCase):
    def test_it_says_the_same_as_ini(self):
        self.write("run.ini", "source = site-{client}.csv\nclients = 3\nintercept = true\ndrop = a,b\nmechanism = laplace\n"
                              "epsilon = 0.5\nbatch = 4\nlabel = ill\n")
        self.write("run.toml", "source = 'site-{client}.csv' # one each\nclients = 3\nintercept = true\ndrop = ['a', 'b']\n"
                               "mechanism = 'laplace'\nepsilon = 5e-1\nbatch = 4\nlabel = \"ill\"\n")
        expected = self.succeeded(self.run_alone(["omd", "--config", "run.ini", "--print-config"]))
        self.assertEqual(self.run_alone(["omd", "--config", "run.toml", "--print-config"]).out, expected.out)
        changed = self.run_alone(["omd", "--config", "run.toml", "--batch", "8", "--print-config"]).out
        self.assertEqual(changed, expected.out.replace("batch = 4\n", "batch = 8\n"), "the command line wins")

    def test_errors_name_the_line(self):
        for text, part in (("step = 1\nsauce = 'a'\n", "run.toml:2: sauce: unknown key"),
                           ("step = 1\nbatch = 'many'\n", "run.toml:2: batch: "),
                           ("step = 1\nbatch = -1\n", "run.toml:2: batch: "),
                           ("step = 1\nloss = logistic\n", "run.toml:2: "),
                           ("step = 1\nbatch = %value%\n", "%value%"),
                           ("[omd]\nstep = 1\n", "run.toml:1: omd: a table")):
            with self.subTest(text):
                self.write("run.toml", text)
                result = self.run_alone(["omd", "--config", "run.toml"])
                self.assertEqual((result.code, len(result.messages())), (USAGE, 1), result)
                self.assertIn(part, result.messages()[0])


if __name__ == "__main__":
    unittest.main()
