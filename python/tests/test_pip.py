"""`pip install ./python` puts a package that works into an environment, without network and without compiling anything twice."""

import os
import pathlib
import subprocess
import sys
import unittest

from case import *


@needs("pip")
class Pip(PythonCase):
    def setUp(self):
        super().setUp()
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", "venv"], check=True)
        self.own = self.folder / "venv" / "bin" / "python"
        self.environment = {name: value for name, value in harness.environment().items() if name != "PYTHONPATH"}
        self.environment.update(PWD=str(self.folder), PYTHONDONTWRITEBYTECODE="1")

    def done(self, words, code=0, **more):
        done = subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=harness.PATIENCE,
                              env={**self.environment, **more})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def install(self, build, code=0):
        return self.done([self.own, "-m", "pip", "install", "--no-index", "-v", SOURCE / "python"], code, STARLING_BUILD=build)

    def test_install(self):
        (self.folder / "here").symlink_to(os.environ["STARLING_BUILD"])
        module = next(pathlib.Path(os.environ["STARLING_BUILD"], "python", "starling").glob("_starling*.so"))
        before = module.stat().st_mtime_ns
        self.assertNotIn("Building C", self.install("here"))  # as from where the user stands
        self.assertEqual(module.stat().st_mtime_ns, before)
        text = ("import starling\n"
                "run = starling.omd(source='synthetic:drift:n=40', mechanism='laplace', epsilon=1, clients=2, topology='complete',\n"
                "                   tuning='off', output='run', progress='off')\n"
                "print(starling.__file__, starling.__version__, run.models.shape, sep='\\n')\n")
        file, version, shape = self.done([self.own, "-c", text]).splitlines()[-3:]
        self.assertTrue(file.startswith(str(self.folder / "venv")), file)
        self.assertEqual((version, shape), (starling.__version__, "(2, 5)"))
        installed = {path.name for path in pathlib.Path(file).parent.iterdir()}
        self.assertLessEqual({"py.typed", "__init__.pyi", "sklearn.py", module.name}, installed)
        self.assertIn("numpy", self.done([self.own, "-m", "pip", "show", "starling"]))
        self.done([self.own, "-m", "pip", "uninstall", "-y", "starling"])
        self.assertEqual([*(self.folder / "venv").rglob("starling*")], [])

    def test_a_build_that_is_not_there(self):
        found = self.install("nowhere", code=1)
        self.assertRegex(found, rf"STARLING_BUILD=nowhere: no folder of that name has a build, neither in {self.folder} nor in {SOURCE}\.")

    def test_a_build_for_another_python(self):
        text = "import sys; sys.path.insert(0, sys.argv[1]); import pip_backend as backend; backend.MODULE = 'of-another.so'; backend.package()"
        found = self.done([self.own, "-c", text, SOURCE / "python"], code=1, STARLING_BUILD=os.environ["STARLING_BUILD"])
        self.assertRegex(found, "is for another Python: it has no of-another.so. Configure it with -DPython_EXECUTABLE=")


if __name__ == "__main__":
    unittest.main()
