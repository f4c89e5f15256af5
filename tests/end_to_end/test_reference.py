"""docs/reference names every option, key, file, data set, attribute and exit code that the program has."""

import re
import subprocess
import sys

from harness import *

REFERENCE = SOURCE / "docs" / "reference"
SEED = "--noise-key seed --seed 5"
NONE = f"--mechanism none {SEED}"
GAUSSIAN = f"--mechanism gaussian --mu 1 {SEED}"
DRIFT = "--source synthetic:drift:informative=1,n=40"
LINEAR = "--source synthetic:linear:p=2 --loss huber:1.345"
CLASSES = "--source synthetic:two-gaussians:p=3,n=60 --batch 20 --loss dwd"

# name: words; each run is of one rank, and leaves its directory under the name.
RUNS = {
    "omd": f"omd {DRIFT} --clients 3 --mechanism laplace --epsilon 1 --budget 9 --dropout 0.3 --json-models --checkpoint-every 20",
    "omd-component": f"omd {DRIFT} --clients 2 --mechanism laplace --unit component --epsilon 1 --noise-key random",
    "omd-audit": f"omd {DRIFT} --clients 2 --mechanism laplace --epsilon 1 --audit --noise-key random --tuning off",
    "omd-tuned": f"omd {DRIFT} --clients 2 --mechanism gaussian --epsilon 1 --test synthetic:drift:informative=1,n=40",
    "omd-regret": f"omd {DRIFT} --clients 3 --domain ball:3 --regret both {NONE} --test synthetic:drift:informative=1,n=40",
    "omd-constraints": f"omd {LINEAR} --rounds 40 --clients 3 --domain ball:2 --constraint box:low=-0.5,high=0.5 "
                       f"--regret static {NONE}",
    "omd-private-constraint": f"omd {LINEAR} --rounds 20 --clients 3 --domain ball:2 --constraint data:column=1,max=0.1 {GAUSSIAN}",
    "omd-async": f"omd {DRIFT} --clients 3 --async {NONE}",
    "omd-many": f"omd --source synthetic:drift --rounds 2 --clients 2001 {NONE}",
    "omd-none-recorded": f"omd {DRIFT} --clients 3 --record-clients none {NONE}",
    "renewable": f"renewable {CLASSES} --clients 3 --standard-errors model {NONE} --test synthetic:two-gaussians:p=3,n=60",
    "renewable-offline": f"renewable {CLASSES} --clients 3 --variant offline {NONE}",
    "renewable-masked": f"renewable {CLASSES} --clients 3 --variant private --trust masked {GAUSSIAN} --l2 0.1",
    "renewable-paper": f"renewable {CLASSES} --clients 3 --variant private-paper --mechanism gaussian --epsilon 0.8 {SEED} --l2 0.1",
    "infer": f"infer {LINEAR} --rounds 120 --clients 3 --joint {GAUSSIAN}",
    "infer-ring": f"infer {LINEAR} --rounds 120 --clients 3 --topology {SOURCE}/topologies/unbalanced-3.topo {GAUSSIAN}",
    "infer-study": f"infer {LINEAR} --rounds 120 --clients 2 --replications 2 {GAUSSIAN}",
    "vertical": f"vertical --source synthetic:spectrum:receivers=2 --rounds 5 --clients 2 {NONE}",
    "fedavg": f"fedavg {DRIFT} --clients 3 {GAUSSIAN}",
}


def codes_of(page):
    """Everything between backquotes outside of blocks, one by one where a comma parts it."""
    text = re.sub(r"```.*?```", "", (REFERENCE / page).read_text(), flags=re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def paths_of(value, at=""):
    """Paths of an object's keys; of a list of objects NAME[]."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from paths_of(each, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for each in value:
            yield from paths_of(each, f"{at}[]")
    else:
        yield at


def is_documented(path, codes):
    """A key that may be null or empty is named itself, or as the beginning of others."""
    return path in codes or any(code.startswith((f"{path}.", f"{path}[]")) for code in codes)


class Reference(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runs = pathlib.Path(tempfile.mkdtemp(prefix="starling-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.runs, ignore_errors=True)
        for name, words in RUNS.items():
            done = subprocess.run([STARLING, *last_given(words.split()), "--output", name, "--progress", "off"], cwd=cls.runs,
                                  env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode not in (0, 1):
                raise AssertionError(f"{name}: exit code {done.returncode}\n{done.stderr}")

    def test_options_page_is_what_the_help_texts_say(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools" / "reference.py", STARLING, "--check"], env=environment(),
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_option_of_every_command_is_there(self):
        page = (REFERENCE / "options.md").read_text()
        commands = re.findall(r"^  starling ([a-z]+) ", self.run_alone(["--help"]).out, re.M)
        self.assertGreater(len(commands), 8)
        for command in commands:
            for option in set(re.findall(r"^  (--[a-z][a-z0-9-]*)", self.run_alone([command, "--help=all"]).out, re.M)):
                self.assertRegex(page, rf"\| `{option}` \|[^\n]*\| [^|]*\b{command}\b", command)

    def test_every_option_is_used_somewhere(self):
        """A page, a job or an example shows what it is for, beside the table of all options."""
        options = set(re.findall(r"^\| `(--[a-z0-9-]+)` \|", (REFERENCE / "options.md").read_text(), re.M))
        self.assertGreater(len(options), 150)
        files = [SOURCE / "README.md", *(file for folder in ("docs", "jobs", "examples") for file in (SOURCE / folder).rglob("*")
                                         if file.suffix in (".md", ".py", ".sh", ".sbatch", ".ini", ".ipynb"))]
        words = set()
        for file in files:
            if file != REFERENCE / "options.md":
                words |= set(re.findall(r"--[a-z0-9-]+", file.read_text()))
        # A file of a run has it, and the program writes that file.
        self.assertEqual(sorted(options - words), ["--histogram-price"])

    def test_every_key_of_summary_json_is_there(self):
        codes, seen = codes_of("summary.md"), set()
        for name in RUNS:
            seen |= set(paths_of(json.loads((self.runs / name / "summary.json").read_text())))
        self.assertGreater(len(seen), 150)
        self.assertEqual(sorted(path for path in seen if not is_documented(path, codes)), [])

    def test_every_documented_key_is_one_that_the_program_writes(self):
        page = (REFERENCE / "summary.md").read_text()
        keys = {key for line in re.findall(r"^\| `([\w.\[\]-]+)` \|", page, re.M) for key in re.findall(r"[\w-]+", line)}
        sources = "\n".join(path.read_text() for folder in ("report", "app/report", "output")
                            for path in (SOURCE / "src" / folder).rglob("*.cpp"))
        built = {"record_epsilon", "record_delta", "coverage_error", "length_error", "bias_error"}  # of a name and an ending
        self.assertEqual(sorted(key for key in keys - built if f'"{key}"' not in sources), [])

    @needs_h5py
    def test_every_data_set_and_attribute_is_there(self):
        codes, seen = codes_of("run-h5.md"), set()

        def visit(name, item):
            seen.add("/K" if name.isdigit() else f"/{name}")
            seen.update(item.attrs)

        for path in self.runs.rglob("*.h5"):
            if path.name == "model.h5":
                continue
            with h5py.File(path) as file:
                seen.update(file.attrs)
                for name in file:
                    visit(name, file[name])
        self.assertGreater(len(seen), 30)
        self.assertEqual(sorted(seen - codes), [])

    @needs_h5py
    def test_every_entry_of_a_model_file_is_there(self):
        codes, seen = codes_of("model-h5.md"), set()

        def visit(name, item):
            seen.update(item.attrs)
            if isinstance(item, h5py.Dataset):
                seen.add(name.split("/")[-1] if name.startswith("preparation/") else f"/{re.sub('[0-9]+-[a-z]+', 'N-LAYER', name)}")

        for path in self.runs.rglob("model.h5"):
            with h5py.File(path) as file:
                seen.update(file.attrs)
                file.visititems(visit)
        self.assertGreater(len(seen), 20)
        self.assertEqual(sorted(seen - codes), [])

    def test_every_file_of_a_run_is_there(self):
        codes, seen = codes_of("run-directory.md"), set()
        for name in RUNS:
            for path in (self.runs / name).rglob("*"):
                if path.is_file():
                    name_of_file = str(path.relative_to(self.runs / name))
                    name_of_file = re.sub(r"^(private|clients|networks)/\d+", r"\1/R", name_of_file)
                    seen.add(re.sub(r"checkpoint-\d+", "checkpoint-T", re.sub(r"key-\d+", "key-K", name_of_file)))
        self.assertGreater(len(seen), 20)
        self.assertEqual(sorted(seen - codes), [])

    def test_every_member_of_a_ledger_is_there(self):
        codes, seen = codes_of("ledger.md"), set()
        for path in self.runs.rglob("ledger"):
            for line in path.read_text().splitlines():
                row = json.loads(line)
                seen |= set(row)
                for charge in [*row.get("passes", []), *row.get("charges", [])]:
                    seen |= {*charge, charge["kind"]}
        self.assertGreater(len(seen), 20)
        self.assertEqual(sorted(seen - codes), [])

    def test_every_key_that_other_commands_print_is_there(self):
        ledger = next(self.runs.rglob("ledger"))
        records = self.write("records.csv", "id,a,y\n1,2,1\n2,3,-1\n")
        codes = codes_of("json-output.md")
        for words in (["privacy", "spend", "--mechanism", "gaussian", "--mu", "0.5", "--releases", "4"],
                      ["privacy", "calibrate", "--mechanism", "gaussian", "--epsilon", "1", "--releases", "4"],
                      ["privacy", "calibrate", "--mechanism", "laplace", "--epsilon", "1", "--releases", "4"],
                      ["privacy", "ledger", str(ledger)],
                      ["privacy", "audit", "--mechanism", "gaussian", "--samples", "2000"],
                      ["privacy", "audit", "--mechanism", "gaussian", "--protocol", "omd", "--run", "--samples", "100"],
                      ["doctor", "--seconds", "1", "--dimension", "1"],
                      ["data", "describe", records, "--id", "id"]):
            result = self.run_alone([*words, "--json"])
            self.assertIn(result.code, (0, 1), result)
            seen = set(paths_of(json.loads(result.out)))
            self.assertEqual(sorted(path for path in seen if not is_documented(path, codes)), [], words)

    @needs_h5py
    def test_every_key_that_score_prints_is_there(self):
        """Metrics have the keys of metrics.test in a summary."""
        records = self.write("records.csv", "x0,x1,x2,y\n" + "".join(f"{i % 3},{i % 2},1,{i % 2}\n" for i in range(30)))
        codes = codes_of("json-output.md") | {code.replace("metrics.test.", "metrics.") for code in codes_of("summary.md")}
        codes |= {code.replace("metrics.", "groups[].metrics.", 1) for code in codes if code.startswith("metrics.")}
        for loss in ("logistic", "squared"):
            words = ["omd", "--source", records, "--clients", "1", "--loss", loss, *NONE.split(), "--output", loss, "--progress", "off"]
            self.assertEqual(self.run_alone(words).code, 0)
            result = self.succeeded(self.run_alone(["score", loss, "--source", records, "--by", "x0", "--json"]))
            seen = set(paths_of(json.loads(result.out)))
            self.assertGreater(len(seen), 10)
            self.assertEqual(sorted(path for path in seen if not is_documented(path, codes)), [], loss)

    def test_every_key_of_a_checked_topology_is_there(self):
        result = self.run_alone(["topology", "check", SOURCE / "topologies" / "b3-5.topo", "--json"])
        codes = codes_of("topology-files.md")
        self.assertEqual([key for key in json.loads(result.out) if key not in codes], [])

    def test_the_topology_of_the_page_is_one(self):
        page = (REFERENCE / "topology-files.md").read_text()
        name = self.write("page.topo", re.search(r"```\n(clients.*?)```", page, re.DOTALL)[1])
        self.assertEqual(self.run_alone(["topology", "check", name]).code, 0)

    def test_the_configuration_of_the_page_is_one(self):
        page = (REFERENCE / "config.md").read_text()
        name = self.write("page.ini", re.search(r"```\n(.*?)```", page, re.DOTALL)[1])
        result = self.succeeded(self.run_alone(["omd", "--config", name, "--print-config"]))
        self.assertIn("rounds = 1000", result.out)

    def test_exit_codes_are_those_of_the_program(self):
        enumeration = re.search(r"enum class ExitCode[^{]*\{(.*?)\};", (SOURCE / "src/core/check.hpp").read_text(), re.DOTALL)[1]
        page = (REFERENCE / "exit-codes.md").read_text()
        self.assertEqual(re.findall(r"^\| (\d+) \|", page, re.M), re.findall(r"= (\d+)", enumeration))


if __name__ == "__main__":
    unittest.main()
