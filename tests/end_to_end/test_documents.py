"""What the documents name is there: links, anchors, paths, source files, options, tests, and the modules that a build needs.

Nothing in the repository cites what is outside of it.
"""

import csv
import fnmatch
import os
import re
import shutil
import subprocess
import unittest

from harness import SOURCE

PAGES = [SOURCE / "README.md", SOURCE / "CHANGELOG.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md")),
         SOURCE / "topologies" / "README.md", SOURCE / "jobs" / "README.md", SOURCE / "jobs" / "papers" / "README.md", SOURCE / "packaging" / "README.md", SOURCE / "tests" / "fuzz" / "README.md"]
OF_THE_TREE = ("cmake", "docs", "examples", "include", "jobs", "packaging", "src", "tests", "tools", "topologies")
MODULES = [path.name for path in sorted((SOURCE / "tests").iterdir()) if path.is_dir()]
# Options of other programs that pages name: those of rsync, SLURM, Open MPI, CMake, mkdocs, pip, conda, Docker,
# Apptainer and the test programs.
OF_OTHERS = set("""--bind --break-system-packages --env --exclude --file --install --map-by --me --mem --prefix --prtemca --rm --shm-size --site-dir --strict --use-local
                --user""".split())
# What is outside of the repository: numbered methods, a folder of designs, a folder beside the clone.
OUTSIDE = re.compile(r"\bmethod [1-8]\b|\bdesign/|\.\./shared")


def files():
    found = []
    for top in OF_THE_TREE:
        found += [str(path.relative_to(SOURCE)) for path in (SOURCE / top).rglob("*")]
    return found


def anchors_of(page):
    """Anchors that GitHub gives the headings of a page."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def options_by_command():
    """{command: its options}, from the generated page, which a test compares with the program."""
    found = {}
    for option, commands in re.findall(r"^\| `(--[a-z0-9-]+)` \|(?:(?:\\\||[^|])*\|){2} ([^|]*) \|",
                                       (SOURCE / "docs" / "reference" / "options.md").read_text(), re.M):
        for command in commands.split(", "):
            found.setdefault(command, set()).add(option)
    return found


def options_of_scripts():
    scripts = [path for folder in ("examples", "jobs", "packaging", "tools", "tests/benchmark", "tests/fuzz") for path in (SOURCE / folder).rglob("*")
               if path.suffix in (".py", ".sh", ".sbatch")]
    scripts += [SOURCE / "tests" / "run.sh", *(SOURCE / "tests" / "end_to_end" / name for name in ("kills.py", "chaos.py"))]
    return {option for path in scripts for option in re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]+)", path.read_text())}


def commands_of(page):
    """Command lines of the blocks of a page: joined where a backslash ends a line, without comments."""
    for block in re.findall(r"```(?:sh|bash|console)?\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            yield re.sub(r"(^|\s)#.*", "", line).strip()


class Documents(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.files = files()

    def ends_a_path(self, name):
        """`files/text.hpp` and `text.hpp` name src/files/text.hpp."""
        return any(fnmatch.fnmatchcase(path, f"*/{name}") for path in self.files)

    def is_test(self, name):
        module, test = name.split("/", 1)
        likely = (f"tests/{module}/{test}_test.cpp", f"tests/{module}/test_{test}.py", f"tests/{module}/{test}.cpp")
        return any(path in self.files for path in likely) or any(
            name in path.read_text() for path in (SOURCE / "tests").rglob("CMakeLists.txt"))

    def missing(self, pattern, is_there, in_code=True):
        """Names that a page has and the tree does not. Pages of docs/how-to have code that is to be written: of them only prose
        is read, without files that headings, lists and diffs call new."""
        absent, seen = [], 0
        for page in PAGES:
            text = page.read_text()
            new = set()
            if page.parent.name == "how-to":
                new = set(re.findall(r"^(?:#.*|.*\b(?:[Ww]rite|[Tt]he new file) )`([\w./-]+)`|^\+\+\+ b/(\S+)", text, re.M))
                new = {name for pair in new for name in pair}
            if page.parent.name == "how-to" or not in_code:
                text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.M)
            for name in sorted(set(re.findall(pattern, text))):
                seen += 1
                if name not in new and not is_there(page, name):
                    absent.append(f"{page.relative_to(SOURCE)}: {name if isinstance(name, str) else '#'.join(name)}")
        self.assertGreater(seen, 10, "the pattern finds what it looks for")
        return absent

    def test_links_lead_somewhere(self):
        def is_there(page, name):
            return name.startswith(("https://", "http://")) or (page.parent / name).exists()

        self.assertEqual(self.missing(r"\]\(([^)#\s]+)", is_there, in_code=False), [])

    def test_anchors_are_headings(self):
        def is_there(page, link):
            name, anchor = link
            target = page.parent / name if name else page
            return name.startswith("http") or target.suffix != ".md" or anchor in anchors_of(target)

        self.assertEqual(self.missing(r"\]\(([^)#\s]*)#([^)\s]+)\)", is_there, in_code=False), [])

    def test_options_that_are_named_exist(self):
        known = set().union(*options_by_command().values()) | options_of_scripts() | OF_OTHERS
        self.assertGreater(len(known), 150)
        absent = self.missing(r"(?<![\w\-/<!])(--[a-z][a-z0-9-]*[a-z0-9])(?![\w-])", lambda page, name: name in known)
        self.assertEqual(absent, [])

    def test_commands_have_the_options_that_pages_give_them(self):
        commands, wrong, seen = options_by_command(), [], 0
        for page in PAGES:
            for line in commands_of(page):
                found = re.match(r"(?:mpirun [^|;]*?|srun [^|;]*?)?(?:\S*/)?starling ((?:(?:topology|privacy|data) )?[a-z]+)(?= |$)(.*)", line)
                if not found or found[1] not in commands:
                    continue
                seen += 1
                wrong += [f"{page.relative_to(SOURCE)}: {line}: {option}"
                          for option in re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*)", found[2].split(" | ")[0])
                          if option not in commands[found[1]]]
        self.assertGreater(seen, 30)
        self.assertEqual(wrong, [])

    def test_nothing_outside_of_the_repository_is_cited(self):
        files = [path for path in self.files if re.search(r"\.(?:cpp|hpp|inc|py|sh|sbatch|ini|md|txt|cmake|csv|topo)$", path)]
        found = []
        for path in [*files, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt"]:
            if path == "tests/end_to_end/test_documents.py":
                continue
            for number, line in enumerate((SOURCE / path).read_text(errors="replace").splitlines(), 1):
                cited = OUTSIDE.search(line)
                if cited and not (path.startswith(("tests/", "jobs/")) and cited[0] == "../shared"):  # data sets, where there are some
                    found.append(f"{path}:{number}: {cited[0]}")
        self.assertEqual(found, [])

    def test_diffs_of_how_to_pages_fit_the_files_that_they_edit(self):
        """The lines that a diff keeps or removes stand in its file, in the same order. The line `--- a/` names the file, else the text
        before the diff names it last."""
        wrong, seen = [], 0
        for page in sorted((SOURCE / "docs" / "how-to").glob("*.md")):
            before = ""
            for text, diff in re.findall(r"(.*?)^```diff\n(.*?)^```", page.read_text(), re.DOTALL | re.M):
                before += text
                file, lines = re.findall(r"`((?:src|tests)/[\w./-]+\.\w+)`", before)[-1:], []
                for line in diff.splitlines():
                    if line.startswith("--- "):
                        file = re.findall(r"^--- a/(\S+)", line)
                        lines = (SOURCE / file[0]).read_text().splitlines() if file else []
                    elif line[:1] in (" ", "-"):
                        seen += 1
                        lines = lines or (SOURCE / file[0]).read_text().splitlines()
                        if line[1:] in lines:
                            lines = lines[lines.index(line[1:]) + 1:] or [""]
                        else:
                            wrong.append(f"{page.name}: {file[0]} lacks: {line[1:]}")
        self.assertGreater(seen, 20)
        self.assertEqual(wrong, [])

    def test_diffs_of_how_to_pages_only_add_lines(self):
        """A diff that removes a line of a list fits no longer once somebody has added another member to the list."""
        removed = [f"{page.name}: {line}" for page in sorted((SOURCE / "docs" / "how-to").glob("add-*.md"))
                   for diff in re.findall(r"^```diff\n(.*?)^```", page.read_text(), re.DOTALL | re.M)
                   for line in diff.splitlines() if line.startswith("-") and not line.startswith("--- ")]
        self.assertEqual(removed, [])

    def test_tools_that_pages_call_by_their_path_may_be_executed(self):
        called = {name for page in PAGES for name in re.findall(r"(?:^|`)(tools/\w+\.py) ", page.read_text(), re.M)}
        self.assertGreater(len(called), 1)
        self.assertEqual([name for name in sorted(called) if not os.access(SOURCE / name, os.X_OK)], [])

    @unittest.skipUnless(shutil.which("clang-format"), "needs clang-format")
    def test_new_files_of_how_to_pages_are_formatted(self):
        seen = 0
        for page in sorted((SOURCE / "docs" / "how-to").glob("*.md")):
            for path, added in re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+\.[ch]pp)\n((?:(?:@@|\+(?!\+\+)).*\n)+)", page.read_text(), re.M):
                seen += 1
                text = "".join(line[1:] for line in added.splitlines(True) if line.startswith("+"))
                formatted = subprocess.run(["clang-format", f"--assume-filename={path}"], input=text, cwd=SOURCE, capture_output=True, text=True)
                self.assertEqual(formatted.stdout, text, page.name)
        self.assertGreater(seen, 1)

    def test_paths_of_the_tree_exist(self):
        tops = "|".join(OF_THE_TREE)

        def is_there(page, name):
            name = name.rstrip(".")
            whole = fnmatch.filter(self.files, name.rstrip("/")) or fnmatch.filter(self.files, f"{name}.cpp")
            placeholder = re.search(r"/[A-Z]+(?:/|$)", name)
            return bool(whole) or (page.parent / name).exists() or self.is_test(name) or bool(placeholder)

        self.assertEqual(self.missing(rf"(?<![\w./-])((?:{tops})/[\w./*-]+\w/?)(?![\w<{{])", is_there), [])

    def test_source_files_that_are_named_exist(self):
        pattern = r"(?<![\w./*<>{}-])([\w./-]*\w\.(?:cpp|hpp|inc|py|sh|sbatch|topo|cmake|ini))\b"
        of_users = {"config.ini", "DIR/config.ini", "run/config.ini", "my.topo",  # what runs write, and users' own
                    "changing.topo", "eight.topo", "mine.cpp", "run.ini", "graph.topo", "run.sbatch"}
        absent = self.missing(pattern, lambda page, name: name in of_users or name in self.files or
                              self.ends_a_path(name) or (page.parent / name).exists())
        self.assertEqual(absent, [])

    def test_internals_list_every_folder_of_the_sources(self):
        page = (SOURCE / "docs" / "internals.md").read_text()
        table = re.search(r"^\| folder \|.*\n\|.*\n((?:\|.*\n)+)", page, re.M)[1]
        named = {name for row in table.splitlines() for name in re.findall(r"`([a-z0-9_/]+)`", row.split("|")[1])}
        folders = {str(path.parent.relative_to(SOURCE / "src")) for path in (SOURCE / "src").rglob("*.cpp")}
        self.assertEqual(sorted(named ^ folders), [])

    def test_the_walk_of_a_record_names_functions_where_they_are(self):
        """Each hop is defined, or declared as virtual, in the file of its row; there are 25 at most."""
        page = (SOURCE / "docs" / "internals.md").read_text()
        walk = page.split("## The walk of a record")[1].split("\n## ")[0]
        hops = re.findall(r"^\| `(?:(\w+)::)?(\w+)` \| .* \| (src/\S+) \|$", walk, re.M)
        self.assertTrue(15 <= len(hops) <= 25, len(hops))
        absent = []
        for of_class, name, file in hops:
            text = (SOURCE / file).read_text()
            here = re.search(rf"\b{of_class}(?:<\w+>)?::{name}\(" if of_class and file.endswith(".cpp") else rf"\b{name}\(", text)
            if here is None:
                absent.append(f"{of_class}::{name} in {file}")
        self.assertEqual(absent, [])

    def test_the_number_of_ready_topologies(self):
        words = {word: number for number, word in enumerate("twenty twenty-one twenty-two twenty-three twenty-four twenty-five".split(), 20)}
        page = (SOURCE / "docs" / "how-to" / "use-your-own-graph.md").read_text()
        told = re.search(r"\[topologies/\]\([^)]*\) has ([a-z-]+)", page)
        self.assertEqual(words[told[1]], len(list((SOURCE / "topologies").glob("*.topo"))))

    def test_tests_that_are_named_exist(self):
        page = SOURCE / "docs" / "verification.md"
        names = sorted(set(re.findall(rf"`((?:{'|'.join(MODULES)})/[a-z0-9_]+)`", page.read_text())))
        self.assertGreater(len(names), 50)
        self.assertEqual([name for name in names if not self.is_test(name)], [])

    def test_figures_that_pages_quote_are_those_of_the_jobs(self):
        """`.62 ± .08<!--vertical: b = 32, MSE 40 to 60-->` is of that line of jobs/papers/vertical.csv, with the digits that are given."""
        quoted, wrong = {}, []
        for page in PAGES:
            for mean, error, table, figure in re.findall(r"(-?[\d,]*\.?\d+)(?: ± ([\d.]+))?<!--([\w-]+): (.*?)-->", page.read_text()):
                with open(SOURCE / "jobs" / "papers" / f"{table}.csv", newline="") as file:
                    rows = {row["figure"]: row for row in csv.DictReader(file)}
                self.assertIn(figure, rows, page)
                for text, known in ((mean, rows[figure]["mean"]), (error, rows[figure]["error"])):
                    digits = len(text.partition(".")[2])
                    # Half a unit of the last digit, and as much again where the table itself is rounded.
                    if text and abs(float(text.replace(",", "")) - float(known)) > 0.5001 * 10 ** -digits:
                        wrong.append(f"{page.relative_to(SOURCE)}: {text} for {figure}: {known}")
                quoted.setdefault((table, figure), set()).add(page)
        self.assertEqual(wrong, [])
        self.assertGreater(sum(len(pages) > 1 for pages in quoted.values()), 5, "figures that stand in several pages")
        tables = {path.stem for path in (SOURCE / "jobs" / "papers").glob("*.csv")}
        self.assertEqual({table for table, _ in quoted}, tables)

    def test_each_job_of_the_papers_has_a_small_version_in_the_tests(self):
        page = (SOURCE / "jobs" / "papers" / "README.md").read_text()
        tests = "".join(path.read_text() for path in (SOURCE / "tests" / "end_to_end").glob("test_*.py"))
        scripts = set(re.findall(r"`jobs/([\w-]+\.py)", page))
        self.assertGreater(len(scripts), 12)
        run = {*re.findall(r'"([\w-]+\.py)"', tests), *(f"dissertation-ch{chapter}.py" for chapter in range(2, 6))}  # by dissertation.py
        self.assertEqual(sorted(scripts - run), [])

    def test_each_row_of_the_papers_has_a_verdict(self):
        page = (SOURCE / "jobs" / "papers" / "README.md").read_text()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.sub("<!--.*?-->", "", page).splitlines() if line.startswith("|")]
        verdicts = [row[-1] for row in rows if len(row) == 6 and row[0] != "table or figure" and not row[0].startswith("---")]
        self.assertGreater(len(verdicts), 40)
        self.assertEqual([verdict for verdict in verdicts if not re.match("holds|in part|no[:, ]|no$|nothing to run", verdict)], [])

    def test_the_citation_has_the_version_of_the_program(self):
        version = re.search(r"project\(starling VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(re.findall(r"^version: (.*)$", (SOURCE / "CITATION.cff").read_text(), re.M), [version])

    def test_modules_of_a_cluster_are_those_that_a_build_needs(self):
        called = {"mpi": "openmpi", "eigen3": "eigen", "random123_include_dir": "random123", "mpfr_include_dir": "mpfr", "sodium_include_dir": "libsodium",
                  "spectra_include_dir": "spectra"}
        needed = {"gcc", "cmake", "ninja"}
        for name in re.findall(r"^find_(?:package|path)\((\w+)[^)]*REQUIRED", (SOURCE / "CMakeLists.txt").read_text(), re.M):
            needed.add(called.get(name.lower(), name.lower()))
        for name in ("docs/cluster.md", "jobs/setup.sh"):
            lines = re.findall(r"^ *module load (gcc .*)$", (SOURCE / name).read_text(), re.M)
            self.assertEqual([set(line.split()) for line in lines], [needed], name)


if __name__ == "__main__":
    unittest.main()
