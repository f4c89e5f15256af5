"""Functions and keywords are the commands and options of the program; errors, results that need no run, and stubs."""

import ast
import inspect
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest

from case import *
from starling._words import python_name, words_of


def leaves(commands, above=()):
    for command in commands:
        path = (*above, command["name"])
        if command["commands"]:
            yield from leaves(command["commands"], path)
        else:
            yield path, command


ALL = dict(leaves(starling._module.declarations()))


class Surroundings(PythonCase):
    SCRIPT = """
import ctypes, locale, sys
import numpy as np
import starling
sys.path.append({tests!r})
from case import records_of
records = records_of()
{change}
starling.omd(records=records, clients=4, partition="iid", mechanism="gaussian", total_epsilon=0.5, delta=1e-5, seed=3, noise_key="seed",
             progress="off", output={output!r})
{after}
"""

    def same_run(self, change, after):
        """A run after such a change of the process is that without, to the last bit and at the same price."""
        for output, lines in (("plain", ("", "")), ("changed", (change, after))):
            self.script(1, self.SCRIPT.format(tests=str(pathlib.Path(__file__).resolve().parent), output=output, change=lines[0], after=lines[1]))
        plain, changed = starling.load("plain"), starling.load("changed")
        same_runs(self, plain, changed)
        self.assertEqual(plain.summary["privacy"]["epsilon"], changed.summary["privacy"]["epsilon"])
        self.assertEqual(plain.privacy, changed.privacy)

    def test_a_locale_with_commas(self):
        made = self.folder / "locales" / "de_DE.UTF-8"
        made.parent.mkdir()
        try:
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(made)], capture_output=True)
        except FileNotFoundError:
            pass
        if not made.exists():
            self.skipTest("localedef makes no locale here (package locales)")
        os.environ["LOCPATH"] = str(made.parent)
        self.addCleanup(os.environ.pop, "LOCPATH")
        self.same_run('locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")', 'assert locale.localeconv()["decimal_point"] == ","')

    @unittest.skipUnless(platform.machine() == "x86_64", "the number of the rounding mode is that of x86-64")
    def test_another_rounding(self):
        upward = 'ctypes.CDLL("libm.so.6").{}etround({})'
        self.same_run(upward.format("fes", 0x800), f'assert {upward.format("feg", "")} == 0x800')


class Functions(PythonCase):
    def test_every_command_is_a_function_with_its_options(self):
        self.assertGreater(len(ALL), 15)
        for path, command in ALL.items():
            function = starling
            for name in path:
                function = getattr(function, name)
            keywords = inspect.signature(function).parameters
            for option in command["options"]:
                if option["name"] == "help":
                    continue
                self.assertIn(python_name(option), keywords, path)
                self.assertIn(python_name(option) + ":", function.__doc__, path)

    def test_the_declarations_are_those_of_the_program(self):
        for path, command in ALL.items():
            text = self.run_alone([*path, "--help=all"], as_they_are=True).out
            for option in command["options"]:
                shown = option["argument"] if option["positional"] else f"--{option['name']}"
                self.assertIn(shown, text, path)

    def test_words(self):
        omd = ALL[("omd",)]
        words = words_of(omd, "starling.omd", (), {"step_power": 0.5, "rounds": np.int64(3), "audit": True, "json": False,
                                                   "source": pathlib.Path("a b.csv"), "drop": ["p", "q"], "seed": None})
        self.assertEqual(words, ["--step-power=0.5", "--rounds=3", "--audit", "--source=a b.csv", "--drop=p,q"])
        self.assertEqual(words_of(omd, "starling.omd", (), {"step": 0.1 + 0.2}), ["--step=0.30000000000000004"])

    def test_unknown_keywords_have_a_suggestion(self):
        with self.assertRaisesRegex(starling.UsageError, "no keyword 'step_powr'. Did you mean step_power"):
            starling.omd(step_powr=1)
        for name, meant in {"lr": "step", "learning_rate": "step", "batch_size": "batch", "target": "label", "out": "output",
                            "async": "async_", "data": r"records \(in memory\), or source \(files\)",
                            "X": "records"}.items():
            with self.assertRaisesRegex(starling.UsageError, f"no keyword '{name}'. Did you mean {meant}"):
                starling.omd(**{name: 1})
        with self.assertRaisesRegex(starling.UsageError, "takes keywords only. Give records="):
            starling.omd(np.zeros((3, 2)))
        with self.assertRaisesRegex(starling.UsageError, r"help\(starling.omd\)"):
            starling.omd(zzzzz=1)
        with self.assertRaisesRegex(starling.UsageError, "audit='yes': it is True or False"):
            starling.omd(audit="yes")
        with self.assertRaisesRegex(starling.UsageError, "a set cannot be the value"):
            starling.omd(step={1})
        for source in (np.zeros((3, 2)), (np.zeros((3, 2)), np.ones(3))):
            with self.assertRaisesRegex(starling.UsageError, r"ndarray cannot be the value.*records=: \(X, y\)"):
                starling.omd(source=source)

    @unittest.skipIf(shutil.which("mypy") is None, "mypy is not installed")
    def test_a_program_with_types_is_checked_strictly(self):
        """As where the package is installed: mypy then checks the program alone, against the types of the package."""
        site = self.folder / "environment/lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "environment"], check=True, timeout=harness.PATIENCE)
        shutil.copytree(pathlib.Path(starling.__file__).parent, site / "starling")
        program = """
from typing import Any

import starling


class Mine(starling.Model):
    classifies = True

    def gradients(self, point: Any, x: Any, y: Any) -> tuple[Any, Any]:
        return x @ point, x


def learn(x: Any, y: Any) -> float:
    run = starling.omd(records=(x, y), clients=3, topology="ring", mechanism="none", class_labels=(0, 1), output="run")
    right = (run.predict(x, client=1) == y).mean()
    again = starling.load("run", model=Mine())
    graph = starling.Topology.from_edges([(0, 1), (1, 0)], 2)
    starling.fedavg(records=(x, y), clients=2, mechanism="none")
    print(again.summary["accuracy"], again.models.shape, again.file("model.h5"), graph.matrix(), run.privacy, starling.identity(Mine()))
    try:
        starling.topology.check(graph.file())
    except starling.DataError as error:
        print(error.code, error.path)
    return float(right)
"""
        self.write("program.py", program)
        command = ["mypy", "--strict", "--python-executable", "environment/bin/python"]
        done = subprocess.run([*command, "program.py"], capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.write("program.py", program.replace("client=1", 'client="one"').replace("Topology.from_edges(", "Topology.from_edge("))
        done = subprocess.run([*command, "program.py"], capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assertEqual(len([line for line in done.stdout.splitlines() if " error: " in line]), 2, done.stdout)

    def test_stubs_are_python_and_have_every_command(self):
        stub = pathlib.Path(starling.__file__).with_name("__init__.pyi").read_text()
        tree = ast.parse(stub)
        names = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertLessEqual({path[0] for path in ALL}, names)
        omd = next(node for node in tree.body if getattr(node, "name", "") == "omd")
        self.assertLessEqual({"records", "step_power", "total_epsilon"}, {each.arg for each in omd.args.kwonlyargs})

    def test_the_package_reads_runs_without_its_native_module(self):
        starling.omd(source="synthetic:drift:n=40", mechanism="laplace", epsilon=1, clients=2, topology="complete", tuning="off",
                     output="run", progress="off")
        (self.folder / "copy" / "starling").mkdir(parents=True)
        for file in pathlib.Path(starling.__file__).parent.glob("*.py"):
            (self.folder / "copy" / "starling" / file.name).write_text(file.read_text())
        text = ("import starling\nprint(starling.load('run').models.shape)\n"
                "try: starling.omd()\nexcept ImportError as error: print('no', 'native module' in str(error))\n")
        done = subprocess.run([sys.executable, "-B", "-c", text], env={**harness.environment(), "PYTHONPATH": "copy"},
                              capture_output=True, text=True)
        self.assertEqual(done.stdout.split("\n")[-2], "no True", done.stdout + done.stderr)


class Installed(PythonCase):
    def test_an_installed_copy_works_alone(self):
        prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", os.environ["STARLING_BUILD"], "--prefix", str(prefix), "--component", "python"], check=True,
                       capture_output=True)
        packages = [path.parent for path in prefix.rglob("starling") if path.is_dir()]
        self.assertEqual(len(packages), 1)
        for name in ("py.typed", "__init__.pyi", "__init__.py"):
            self.assertTrue((packages[0] / "starling" / name).is_file() and not (packages[0] / "starling" / name).is_symlink())
        done = subprocess.run([sys.executable, "-B", "-c", "import starling; print(starling.__file__, starling.__version__)"],
                              env={**harness.environment(), "PYTHONPATH": str(packages[0])}, capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith(str(prefix)), done.stdout)


class Results(PythonCase):
    def test_privacy(self):
        words = ["privacy", "spend", "--mechanism", "gaussian", "--sigma", "4", "--sensitivity", "1", "--releases", "100", "--delta",
                 "1e-5", "--json"]
        spent = starling.privacy.spend(mechanism="gaussian", sigma=4, sensitivity=1, releases=100, delta=1e-5)
        self.assertEqual(spent, json.loads(self.run_alone(words).out))
        calibrated = starling.privacy.calibrate(mechanism="gaussian", sensitivity=1, releases=10, epsilon=1, delta=1e-5)
        self.assertGreater(calibrated["sigma"], 0)

    def test_errors_have_the_class_and_code_of_the_program(self):
        with self.assertRaisesRegex(starling.UsageError, "unknown topology family 'nonsense'") as caught:
            starling.omd(topology="nonsense", clients=3, source="synthetic:drift", mechanism="laplace", epsilon=1)
        self.assertEqual((caught.exception.code, caught.exception.path), (2, None))
        self.write("bad.csv", "a,b,y\n1,2,1\n3,x,1\n")
        with self.assertRaises(starling.DataError) as caught:
            starling.omd(source="bad.csv", mechanism="laplace", epsilon=1, clients=1, topology="complete")
        self.assertEqual(caught.exception.code, 3)
        with self.assertRaises(starling.DataError):
            starling.load("nowhere")
        self.assertTrue(issubclass(starling.BudgetError, starling.Error))

    def test_a_spent_budget(self):
        words = dict(records=(np.zeros((20, 2)), np.ones(20)), clients=1, topology="complete", mechanism="laplace", tuning="off",
                     ledger="ledger", noise_key="random", progress="off")
        with self.assertRaises(starling.BudgetError) as caught:
            starling.omd(**words, epsilon=1, budget=0.5)
        self.assertEqual(caught.exception.code, 4)

    def test_a_text_where_there_is_no_json(self):
        starling.topology.make("ring", clients=4, output="ring.topo")
        self.assertTrue((self.folder / "ring.topo").exists())
        self.assertEqual(starling.topology.check("ring.topo")["clients"], 4)
        self.assertIn("source = synthetic:drift", starling.omd(source="synthetic:drift", print_config=True))

    def test_reports(self):
        options = dict(source="synthetic:drift:n=20", clients=2, mechanism="laplace", epsilon=1, tuning="off", progress="off")
        runs = [starling.omd(**options, seed=seed, output=f"run-{seed}") for seed in (1, 2)]
        self.assertIn("2 clients on 1 ranks", starling.report(runs[0], pictures="off"))
        self.assertEqual(starling.report(runs[0], json=True), runs[0].summary)
        self.assertEqual(starling.report(runs[0], csv="history").split("\n")[0].split(",")[0], "rounds")
        models = starling.report(runs[0], csv="models").split("\n")
        self.assertEqual(len(models), 2 + runs[0].read("model").size)
        self.assertIn("run-1(n=2)", starling.report(*runs, pictures="off"))

    def test_sweeps_start_the_program(self):
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        self.write("sweep.ini", "[sweep]\ncommand = omd\nlauncher = env\n[options]\nsource = synthetic:drift:n=20\nmechanism = laplace\nepsilon = 1\n"
                                "tuning = off\nclients = 1\nseed = 1..2\n")
        os.environ["PATH"] = "/nowhere"
        with self.assertRaisesRegex(starling.UsageError, "no program starling on the PATH"):
            starling.sweep("sweep.ini", output="sweep")


if __name__ == "__main__":
    unittest.main()
