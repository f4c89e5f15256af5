"""`pip install ./python` puts a package that works into an environment, without network."""

import os
import shutil
import subprocess
import sys
import unittest

from case import *


@needs("pip")
@needs("setuptools")
@needs("wheel")
class Pip(PythonCase):
    def done(self, words, **more):
        done = subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=harness.PATIENCE,
                              env={name: value for name, value in {**harness.environment(), **more}.items() if name != "PYTHONPATH"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_install(self):
        # pip builds where the package lies, so that is a copy.
        tree = self.folder / "tree"
        shutil.copytree(SOURCE / "python", tree / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        (tree / "CMakeLists.txt").symlink_to(SOURCE / "CMakeLists.txt")
        self.done([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", "venv"])
        own = self.folder / "venv" / "bin" / "python"
        self.done([own, "-m", "pip", "install", "--no-build-isolation", "--no-index", tree / "python"],
                  STARLING_BUILD=os.environ["STARLING_BUILD"])
        shutil.rmtree(tree)
        text = ("import starling\n"
                "run = starling.omd(source='synthetic:drift:n=40', mechanism='laplace', epsilon=1, clients=2, topology='complete',\n"
                "                   tuning='off', output='run', progress='off')\n"
                "print(starling.__file__, starling.__version__, run.models.shape, sep='\\n')\n")
        file, version, shape = self.done([own, "-B", "-c", text]).splitlines()[-3:]
        self.assertTrue(file.startswith(str(self.folder / "venv")), file)
        self.assertEqual((version, shape), (starling.__version__, "(2, 5)"))
        folder = self.folder / "venv" / "lib"
        self.assertEqual([path.name for path in sorted(folder.rglob("py.typed"))], ["py.typed"])
        self.assertEqual(len([*folder.rglob("__init__.pyi")]), 1)
        self.done([own, "-m", "pip", "uninstall", "-y", "starling"])
        self.assertEqual([*folder.rglob("starling")], [])


if __name__ == "__main__":
    unittest.main()
