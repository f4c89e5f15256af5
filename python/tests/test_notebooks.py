"""The example notebooks run from top to bottom, and a notebook's interrupt stops a run safely."""

import importlib.util
import json
import os
import re
import sys
import unittest

from case import *

NOTEBOOKS = sorted((SOURCE / "examples" / "python").glob("*.ipynb"))
ENDLESS = """
import starling
starling.omd(source="synthetic:drift:n=1000000", clients=2, topology="complete", mechanism="laplace", epsilon=1, tuning="off", progress="off",
             output="run", seed=1)
"""


@needs("nbclient")
@needs("ipykernel")
class Notebooks(PythonCase):
    def setUp(self):
        super().setUp()
        kernel = self.folder / "jupyter" / "kernels" / "this"
        kernel.mkdir(parents=True)
        command = [sys.executable, "-B", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "this", "language": "python"}))
        os.environ["JUPYTER_PATH"] = str(self.folder / "jupyter")
        self.addCleanup(os.environ.pop, "JUPYTER_PATH")
        # Kernels draw into the notebook unless a variable says otherwise.
        self.environment = {name: value for name, value in harness.environment().items() if name != "MPLBACKEND"}

    def test_each_runs(self):
        import nbclient
        import nbformat
        self.assertNotEqual(NOTEBOOKS, [])
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                book = nbformat.read(path, as_version=4)
                nbclient.NotebookClient(book, timeout=harness.PATIENCE, kernel_name="this").execute(cwd=str(self.folder), env=self.environment)
                outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
                texts = "".join(output.get("text", "") for output in outputs)
                kinds = {kind for output in outputs for kind in output.get("data", {})}
                self.assertGreater(float(re.search(r"accuracy (\S+)", texts)[1]), 0.8)
                self.assertRegex(texts, r"coefficients \[ *[01]\.\d? +-[12]\.")
                self.assertIn("epsilon = 1 ", texts)
                if importlib.util.find_spec("pandas"):
                    self.assertIn("text/html", kinds)
                if importlib.util.find_spec("matplotlib"):
                    self.assertIn("image/png", kinds)
                self.assertFalse(any(cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells), "kept without outputs")

    def test_an_interrupt_stops_a_run_safely(self):
        import jupyter_client
        manager, client = jupyter_client.manager.start_new_kernel(kernel_name="this", cwd=str(self.folder), env=self.environment)
        self.addCleanup(manager.shutdown_kernel, now=True)
        self.addCleanup(client.stop_channels)
        asked = client.execute(ENDLESS)
        harness.wait_until(lambda: (self.folder / "run" / "history.csv").exists(), "the run has begun")
        manager.interrupt_kernel()
        reply = {"parent_header": {}}
        while reply["parent_header"].get("msg_id") != asked:
            reply = client.get_shell_msg(timeout=harness.PATIENCE)
        self.assertEqual((reply["content"]["status"], reply["content"]["ename"]), ("error", "Stopped"))
        self.assertGreater(starling.load("run").summary["rounds"], 0)


if __name__ == "__main__":
    unittest.main()
