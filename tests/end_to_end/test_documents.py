"""What the documents name is there: links, paths, source files, tests, and the modules that a build needs."""

import fnmatch
import re
import unittest

from harness import SOURCE

PAGES = [SOURCE / "README.md", SOURCE / "CHANGELOG.md", *sorted((SOURCE / "docs").rglob("*.md")),
         SOURCE / "topologies" / "README.md", SOURCE / "tests" / "fuzz" / "README.md"]
OF_THE_TREE = ("cmake", "docs", "include", "jobs", "src", "tests", "tools", "topologies")
ROOMS = [path.name for path in sorted((SOURCE / "tests").iterdir()) if path.is_dir()]


def files():
    found = []
    for top in OF_THE_TREE:
        found += [str(path.relative_to(SOURCE)) for path in (SOURCE / top).rglob("*")]
    return found


class Documents(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.files = files()

    def ends_a_path(self, name):
        """`files/text.hpp` and `text.hpp` name include/starling/files/text.hpp."""
        return any(fnmatch.fnmatchcase(path, f"*/{name}") for path in self.files)

    def is_test(self, name):
        room, test = name.split("/", 1)
        likely = (f"tests/{room}/{test}_test.cpp", f"tests/{room}/test_{test}.py", f"tests/{room}/{test}.cpp")
        return any(path in self.files for path in likely) or any(
            name in path.read_text() for path in (SOURCE / "tests").rglob("CMakeLists.txt"))

    def missing(self, pattern, is_there):
        """Names that a page has and the tree does not."""
        absent, seen = [], 0
        for page in PAGES:
            for name in sorted(set(re.findall(pattern, page.read_text()))):
                seen += 1
                if not is_there(page, name):
                    absent.append(f"{page.relative_to(SOURCE)}: {name}")
        self.assertGreater(seen, 10, "the pattern finds what it looks for")
        return absent

    def test_links_lead_somewhere(self):
        def is_there(page, name):
            return name.startswith(("https://", "http://")) or (page.parent / name).exists()

        self.assertEqual(self.missing(r"\]\(([^)#\s]+)", is_there), [])

    def test_paths_of_the_tree_exist(self):
        tops = "|".join(OF_THE_TREE)

        def is_there(page, name):
            name = name.rstrip(".")
            whole = fnmatch.filter(self.files, name.rstrip("/")) or fnmatch.filter(self.files, f"{name}.cpp")
            return bool(whole) or (page.parent / name).exists() or self.is_test(name) or name.endswith("/TARGET")

        self.assertEqual(self.missing(rf"(?<![\w./-])((?:{tops})/[\w./*-]+\w/?)(?![\w<{{])", is_there), [])

    def test_source_files_that_are_named_exist(self):
        pattern = r"(?<![\w./*<>{}-])([\w./-]*\w\.(?:cpp|hpp|inc|py|sh|sbatch|topo|cmake|ini))\b"
        of_users = {"config.ini", "DIR/config.ini", "run/config.ini", "my.topo"}  # what runs write, and users' own
        absent = self.missing(pattern, lambda page, name: name in of_users or name in self.files or
                              self.ends_a_path(name) or (page.parent / name).exists())
        self.assertEqual(absent, [])

    def test_tests_that_are_named_exist(self):
        page = SOURCE / "docs" / "verification.md"
        names = sorted(set(re.findall(rf"`((?:{'|'.join(ROOMS)})/[a-z0-9_]+)`", page.read_text())))
        self.assertGreater(len(names), 50)
        self.assertEqual([name for name in names if not self.is_test(name)], [])

    def test_modules_of_a_cluster_are_those_that_a_build_needs(self):
        called = {"mpi": "openmpi", "eigen3": "eigen", "random123_include_dir": "random123", "mpfr_include_dir": "mpfr",
                  "spectra_include_dir": "spectra"}
        needed = {"gcc", "cmake", "ninja"}
        for name in re.findall(r"^find_(?:package|path)\((\w+)[^)]*REQUIRED", (SOURCE / "CMakeLists.txt").read_text(), re.M):
            needed.add(called.get(name.lower(), name.lower()))
        for name in ("docs/cluster.md", "jobs/setup.sh"):
            lines = re.findall(r"^ *module load (gcc .*)$", (SOURCE / name).read_text(), re.M)
            self.assertEqual([set(line.split()) for line in lines], [needed], name)


if __name__ == "__main__":
    unittest.main()
