"""Blocks of the pages that follow a line `<!-- run -->` run, and print the lines of the block that follows `<!-- prints -->`.
Blocks after a line `<!-- run slow -->` run with --long alone.

The blocks of a page run one after the other, in a folder of the page's own with links to topologies/, jobs/ and examples/.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html import unescape
from urllib.parse import unquote

from harness import *

DOCS = SOURCE / "docs"
PAGES = [SOURCE / "README.md", *sorted(DOCS.rglob("*.md"))]
MARKED = re.compile(r"^<!-- (run|run slow|prints) -->\n```(\w*)\n(.*?)^```", re.M | re.S)
PATIENCE_OF_A_BLOCK = 120


def blocks(page):
    """(mark, language, text) of the marked blocks of a page, in their order."""
    return MARKED.findall(page.read_text())


class Pages(TestCase):
    def setUp(self):
        super().setUp()
        programs = self.folder / "bin"
        programs.mkdir()
        for name, program in (("starling", STARLING), ("mpirun", MPIRUN)):
            (programs / name).symlink_to(shutil.which(program))
        self.place = self.folder / "place"
        self.place.mkdir()
        for name in ("topologies", "jobs", "examples"):
            (self.place / name).symlink_to(SOURCE / name)
        self.environment = environment()
        self.environment.update(PATH=f"{programs}:{self.environment['PATH']}", MPLBACKEND="Agg", PYTHONDONTWRITEBYTECODE="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")

    def run_block(self, language, text):
        """What the block prints; None if it is Python that needs h5py, which is not installed."""
        if language == "python" and "import h5py" in text and importlib.util.find_spec("h5py") is None:
            return None
        command = [sys.executable, "-c", text] if language == "python" else ["bash", "-euo", "pipefail", "-c", text]
        done = subprocess.run(command, cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_OF_A_BLOCK)
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}")
        return done.stdout

    def check_page(self, page):
        printed = ""
        for mark, language, text in blocks(page):
            if mark == "run" or (mark == "run slow" and SLOW):
                printed = self.run_block(language, text)
            elif mark == "run slow":
                printed = None
            elif printed is not None:
                lines = [line.rstrip() for line in printed.splitlines()]
                for line in text.splitlines():
                    self.assertIn(line.rstrip(), lines, printed)


def test_of(page):
    def test(self):
        self.check_page(page)

    return fewer(test) if any(mark == "run slow" for mark, _, _ in blocks(page)) else test


RUN = [page for page in PAGES if blocks(page)]
for path in RUN:
    name = re.sub(r"\W+", "_", str(path.relative_to(SOURCE).with_suffix(""))).lower()
    setattr(Pages, f"test_{name}", test_of(path))


class Contents(unittest.TestCase):
    """What readers find pages by."""

    def test_pages_with_blocks_that_run_are_many(self):
        self.assertGreater(len(RUN), 10)

    def test_every_mark_has_a_block(self):
        for page in PAGES:
            self.assertEqual(len(re.findall(r"^<!-- (?:run|run slow|prints) -->$", page.read_text(), re.M)), len(blocks(page)), page)

    def test_the_readme_is_short(self):
        self.assertLessEqual(len((SOURCE / "README.md").read_text().splitlines()), 150)

    def test_every_task_page_says_how_long_it_takes(self):
        without = [page.name for page in sorted((DOCS / "how-to").glob("*.md")) if not re.search(r"\bTime: ", page.read_text())]
        self.assertEqual(without, [])

    def test_the_contents_page_and_the_site_list_every_page(self):
        contents, site = (DOCS / "README.md").read_text(), (SOURCE / "mkdocs.yml").read_text()
        for folder in ("", "how-to", "methods", "reference"):
            for page in sorted((DOCS / folder).glob("*.md")):
                name = page.relative_to(DOCS).as_posix()
                self.assertIn(f" {name}\n", site, "mkdocs.yml")
                if folder in ("", "how-to") and name != "README.md":
                    self.assertIn(f"]({name})", contents, "docs/README.md")


@unittest.skipUnless(shutil.which("mkdocs"), "mkdocs is not installed")
class Site(unittest.TestCase):
    def test_it_builds_and_its_links_lead_somewhere(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        done = subprocess.run(["mkdocs", "build", "--strict", "--site-dir", folder.name], cwd=SOURCE, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE_OF_A_BLOCK)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        pages = {path.resolve(): path.read_text() for path in pathlib.Path(folder.name).rglob("*.html") if path.name != "404.html"}
        anchors = {path: {unescape(name) for name in re.findall(r'id="([^"]*)"', text)} for path, text in pages.items()}
        astray, seen = [], 0
        for path, text in pages.items():
            for link in re.findall(r'href="(?!https?:|#")([^"]+)"', text):
                name, _, anchor = unquote(unescape(link)).partition("#")
                target = (path.parent / name).resolve() if name else path
                seen += 1
                if not target.exists() or (anchor and anchor not in anchors.get(target, ())):
                    astray.append(f"{path.name}: {link}")
        self.assertGreater(seen, 1000)
        self.assertEqual(astray, [])


if __name__ == "__main__":
    unittest.main()
