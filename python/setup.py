"""For `pip install --no-build-isolation ./python`: builds the native module by CMake, from the tree that this folder is in.

The variable STARLING_BUILD names a build folder that is there already. Without it everything is compiled, which takes minutes.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TREE = pathlib.Path(__file__).resolve().parent.parent


class ByCMake(build_ext):
    def build_extension(self, extension):
        build = pathlib.Path(os.environ.get("STARLING_BUILD", self.build_temp)).resolve()
        if not (build / "CMakeCache.txt").exists():
            build.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cmake", "-S", TREE, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DSTARLING_PYTHON=ON",
                            "-DSTARLING_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "starling_python", "--parallel", str(os.cpu_count())], check=True)
        folder = pathlib.Path(self.get_ext_fullpath(extension.name)).parent
        folder.mkdir(parents=True, exist_ok=True)
        for file in [*(build / "python" / "starling").glob("_starling*.so"), build / "python" / "starling" / "__init__.pyi"]:
            shutil.copy(file, folder)


setup(
    name="starling",
    version=re.search(r"project\(starling VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1],
    description="Decentralized, differentially private online learning on MPI",
    packages=["starling"],
    package_data={"starling": ["py.typed", "__init__.pyi"]},
    ext_modules=[Extension("starling._starling", [])],
    cmdclass={"build_ext": ByCMake},
    python_requires=">=3.8",
    install_requires=["numpy"],
)
