"""The C++ library as others use it: installed, found by CMake and pkg-config, and linked to programs that know nothing else."""

import re
import shutil
import subprocess
import unittest

from harness import *

BUILD = pathlib.Path(os.environ.get("STARLING_BUILD", pathlib.Path(STARLING).parent))
PAGE = SOURCE / "docs" / "how-to" / "use-the-library.md"
# The library of a build with sanitizers wants their runtime in the program.
SANITIZE = os.environ.get("STARLING_SANITIZE", "")


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="starling-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        cls.done(["cmake", "--install", BUILD, "--prefix", cls.prefix])

    @classmethod
    def done(cls, words, code=0):
        done = subprocess.run([*map(str, words)], cwd=cls.folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def build(self, source, build):
        flags = [f"-DCMAKE_CXX_FLAGS=-fsanitize={SANITIZE}"] if SANITIZE else []
        self.done(["cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", *flags])
        self.done(["cmake", "--build", build])
        return self.folder / build

    def test_only_the_faces_are_installed(self):
        headers = sorted(str(path.relative_to(self.prefix / "include")) for path in (self.prefix / "include").rglob("*.h*"))
        self.assertEqual(headers, ["starling/plugin.h", "starling/starling.hpp"])
        library = next(path for path in self.prefix.rglob("libstarling.so"))
        symbols = [line.split()[-1] for line in self.done(["nm", "-D", "--defined-only", library]).splitlines()]
        foreign = [name for name in symbols if name.startswith("_Z") and "8starling" in name and "8starling2v1" not in name]
        self.assertEqual(foreign, [])
        self.assertTrue(any("8starling2v17Session3run" in name for name in symbols))

    def test_the_example_of_the_page(self):
        page = PAGE.read_text()
        project = self.folder / "page"
        project.mkdir()
        for language, name in (("cmake", "CMakeLists.txt"), ("cpp", "mine.cpp")):
            (project / name).write_text(re.search(rf"```{language}\n(.*?)```", page, re.DOTALL).group(1))
        built = self.build(project, "page-build")
        accuracy = float(self.done([built / "mine"]).split()[-1])
        self.assertGreater(accuracy, 0.85)

    def test_a_model_of_its_own_on_all_layouts(self):
        built = self.build(SOURCE / "examples" / "library", "median")
        told = [self.done([*([] if ranks == 1 else [MPIRUN, "--oversubscribe", "-n", ranks]), built / "median", f"run-{ranks}"])
                for ranks in (1, 2, 4)]
        self.assertEqual(told[1:], [told[0]] * 2)
        numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", told[0].split(" at ")[0])]
        for found, truth in zip(numbers, (2, -1, 0.5)):
            self.assertAlmostEqual(found, truth, delta=0.2)
        self.assertIn("epsilon 1.00", told[0])
        message = self.refused([built / "median", "run-1"], 2)
        self.assertIn("is not empty", message)

    def refused(self, words, code):
        done = subprocess.run([*map(str, words)], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done)
        return done.stderr

    @unittest.skipIf(SANITIZE, "a program without sanitizers cannot load a library with them")
    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_pkg_config(self):
        (self.folder / "version.cpp").write_text(
            '#include <cstdio>\n#include <starling/starling.hpp>\nint main() { std::puts(starling::version().c_str()); }\n')
        settings = next(path.parent for path in self.prefix.rglob("starling.pc"))
        os.environ["PKG_CONFIG_PATH"] = str(settings)
        flags = self.done(["pkg-config", "--cflags", "--libs", "starling"]).split()
        self.done(["c++", "-std=c++17", "version.cpp", *flags, f"-Wl,-rpath,{settings.parent}", "-o", "version"])
        self.assertTrue(self.done(["./version"]).startswith("0."))


if __name__ == "__main__":
    unittest.main()
