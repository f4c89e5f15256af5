"""The Python of docs/how-to/use-from-python.md runs, and so do the examples."""

import json
import re
import unittest

from case import *

PAGE = SOURCE / "docs" / "how-to" / "use-from-python.md"
EXAMPLES = SOURCE / "examples" / "python"


class Page(PythonCase):
    def test_its_blocks_run_in_their_order(self):
        text = PAGE.read_text()
        before, model = re.search(r"Write `poisson.py`:\n\n```python\n(.*?)^```", text, re.S | re.M).span(1)
        self.write("poisson.py", text[before:model])
        blocks = [match[1] for match in re.finditer(r"^```python\n(.*?)^```", text, re.S | re.M) if match.start(1) != before]
        self.assertGreater(len(blocks), 4)
        done = self.script(1, "\n".join(blocks))
        lines = done.stdout.split("\n")
        self.assertGreater(float(lines[0]), 0.7, done.stdout)

    def test_resume_of_its_model(self):
        text = PAGE.read_text()
        self.assertIn('starling.omd(resume="poisson", model=Poisson(), records=(X, counts))', text)

    def test_names_of_the_page_are_there(self):
        text = PAGE.read_text()
        names = set(re.findall(r"`starling\.([A-Za-z_.]+)[`(]", text))
        self.assertGreater(len(names), 12)
        for name in names:
            found = starling
            for part in name.split("."):
                found = getattr(found, part)
        members = re.findall(r"^\| `(\w+)[`(]", text.split("## Results")[1].split("## ")[0], re.M)
        self.assertLessEqual({"summary", "path", "models"}, set(members))


class Examples(PythonCase):
    def test_each_runs(self):
        examples = sorted(EXAMPLES.glob("*.py"))
        self.assertGreater(len(examples), 4)
        for path in examples:
            with self.subTest(path.name):
                done = self.script(1, path.read_text(), name=path.name)
                self.assertNotEqual(done.stdout, "")
                if done.stdout.startswith("skipped"):
                    print(f"{path.name}: {done.stdout.strip()}")
                    continue
                for line in re.findall(r"^# prints: (.*)$", path.read_text(), re.M):
                    self.assertRegex(done.stdout, line)

    def test_what_mlflow_is_told(self):
        """MLflow itself may be missing: a double of its functions notes the calls."""
        self.write("mlflow.py", """
import contextlib, json, os
def note(*words): print(json.dumps(words))
@contextlib.contextmanager
def start_run(run_name):
    note("run", run_name); yield
def log_params(values): note("params", values)
def set_tag(name, value): note("tag", name, value)
def log_metrics(values, step): note("metrics", values, step)
def log_artifact(path): note("file", os.path.basename(path))
""")
        done = self.script(1, (EXAMPLES / "track_in_mlflow.py").read_text(), name="track_in_mlflow.py")
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        run = starling.load(self.folder / "a-run")
        self.assertEqual(told[0], ["run", "a-run"])
        params = next(words[1] for words in told if words[0] == "params")
        self.assertEqual((params["mechanism"], params["epsilon"], params["clients"]), ("laplace", "1", "4"))
        metrics = {words[2]: words[1] for words in told if words[0] == "metrics"}
        self.assertEqual(list(metrics), list(run.history["rounds"]))
        last = run.history["rounds"].max()
        self.assertEqual(metrics[last]["loss"], list(run.history["loss"])[-1])
        self.assertNotIn("test_loss", metrics[last])
        files = {words[1] for words in told if words[0] == "file"}
        self.assertEqual(files, {"summary.json", "config.ini", "privacy.txt", "history.csv", "model.h5"})


if __name__ == "__main__":
    unittest.main()
