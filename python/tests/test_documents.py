"""The Python of the pages on Python and scikit-learn runs, and so do the examples."""

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


    @needs("sklearn")
    @needs("pandas")
    def test_the_page_on_scikit_learn(self):
        block = re.search(r"^```python\n(.*?)^```", (PAGE.parent / "learn-with-scikit-learn.md").read_text(), re.S | re.M)[1]
        done = self.script(1, block)
        self.assertGreater(float(done.stdout.split("\n")[0]), 0.8, done.stdout)
        self.assertIn("mean radius", done.stdout)


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

    @needs("statsmodels")
    @needs("pandas")
    def test_intervals_agree_with_those_of_statsmodels(self):
        """On the records of the example. Without noise they are as wide but for a sixth, and their centres differ by less than
        the half width. With noise 95 % of them hold the estimate of all records: of 24 at least 20."""
        records, rest = (EXAMPLES / "intervals.py").read_text().split("run = starling.infer(")
        self.assertIn("statsmodels.Logit(ill, X.assign(intercept=1.0)).fit(disp=0)", rest)
        done = self.script(1, records + """
exact = statsmodels.Logit(ill, X.assign(intercept=1.0)).fit(disp=0)
def intervals(seed, **more):
    run = starling.infer(records=(X, ill), loss="logistic", clients=4, partition="iid", seed=seed, progress="off",
                         output=f"run-{seed}-{len(more)}", **more)
    return run.table("coefficients").set_index("name").loc[exact.params.index]
open_ones, widths = intervals(1, mechanism="none", intervals="plug-in"), exact.conf_int()[1] - exact.conf_int()[0]
assert (abs(open_ones.estimate - exact.params) < widths / 2).all(), (open_ones, exact.params)
assert abs((open_ones.high - open_ones.low) / widths - 1).max() < 1 / 6, (open_ones, widths)
found = [intervals(seed, mechanism="gaussian", mu=1, noise_key="seed") for seed in range(1, 7)]
mean_widths = sum(each.high - each.low for each in found) / len(found)
print((mean_widths / widths).round(2).tolist(), file=sys.stderr)
assert (mean_widths > 0.9 * widths).all(), (mean_widths, widths)
print(sum(int(((each.low <= exact.params) & (exact.params <= each.high)).sum()) for each in found))
""", name="agree.py")
        self.assertGreaterEqual(int(done.stdout), 20, done.stdout)

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
