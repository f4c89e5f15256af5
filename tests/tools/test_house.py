"""tools/house.py: this tree breaks no rule, and in a small tree everything is counted."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "house.py"
LONG_BODY = "  step();\n" * 49


def run(tool, *options):
    return subprocess.run([sys.executable, "-B", tool, *options], capture_output=True, text=True, check=False)


class ThisTree(unittest.TestCase):
    def test_no_folder_is_crowded_or_includes_one_that_includes_it(self):
        result = run(TOOL, "--check")
        self.assertEqual((result.returncode, result.stdout), (0, ""))


class SmallTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        self.tool = shutil.copy(TOOL, self.root / "tools")
        self.write("README.md", "# Title\nFour words are here. Then there are five more.\n")
        self.write("src/low/a.cpp", '#include "low/a.hpp"\n')
        self.write("src/low/a.hpp", "void step();\n")
        self.write("src/high/b.cpp", '#include "low/a.hpp"\n\nvoid twice();\n\nvoid work(int n) {\n' + LONG_BODY + "}\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def figures(self):
        return json.loads(run(self.tool, "--json").stdout)

    def test_dependencies_that_point_one_way_are_no_circle(self):
        self.assertEqual(run(self.tool, "--check").returncode, 0)
        self.assertEqual(self.figures()["circles"], [])

    def test_a_circle_is_found_through_a_third_folder_and_named(self):
        self.write("src/low/c.cpp", '#include "middle/m.hpp"\n')
        self.write("src/middle/m.hpp", '#include "high/b.hpp"\n')
        self.write("src/high/b.hpp", "\n")
        result = run(self.tool, "--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("high, low, middle", result.stdout)
        self.assertIn("src/low/c.cpp -> middle/m.hpp", result.stdout)

    def test_a_folder_of_more_than_20_files_is_named_unless_each_is_a_case(self):
        for number in range(21):
            self.write(f"src/low/more{number}.cpp", "\n")
            self.write(f"tests/fuzz/more{number}.cpp", "\n")
        result = run(self.tool, "--check")
        self.assertEqual((result.returncode, result.stdout), (1, "src/low has 23 files, more than 20\n"))

    def test_a_name_that_two_files_of_a_module_have_to_themselves_is_named(self):
        own = "namespace {{\n\nstruct {} {{}};\nconstexpr std::size_t {} = 1;\nusing Json = int;\n\n}}  // namespace\n"
        self.write("src/low/x.cpp", own.format("Part", "most"))
        self.write("src/low/deep/y.cpp", own.format("Other", "most"))
        self.write("src/high/z.cpp", own.format("Part", "most"))
        result = run(self.tool, "--check")
        self.assertEqual((result.returncode, result.stdout), (
            1, "several files of low, which may be one translation unit, have most in anonymous namespaces: "
               "src/low/deep/y.cpp, src/low/x.cpp\n"))

    def test_a_type_that_two_files_define_in_one_namespace_is_named(self):
        text = "namespace low {{\n{}\nstruct Part {{}};\n{}\nstruct Known;\nstruct Known::Own {{}};\n}}  // namespace low\n"
        self.write("src/low/part.hpp", text.format("", "class Whole {};\nusing Number = int;"))
        self.write("src/low/x.cpp", text.format("namespace {", "}  // namespace\nusing Whole = int;"))
        self.write("src/low/y.cpp", "namespace high {\nusing Number = int;\n}  // namespace high\n")
        result = run(self.tool, "--check")
        self.assertEqual((result.returncode, result.stdout), (
            1, "several files define low::Whole: src/low/part.hpp, src/low/x.cpp\n"))

    def test_a_message_that_does_not_say_problem_why_and_what_to_do_is_named(self):
        self.write("src/low/x.cpp", 'void read() {\n  check(good, "{}: no records: the file is empty. Check it.", path);\n'
                   '  check<DataError>(good, "{}: no records (the file "\n                   "is empty) check the path", path);\n'
                   '  throw UsageError("n=0 (it is a count)");\n  add("n", "records of a client (at least one)");\n'
                   '  check(good, "column {} (from 0) has a date: it is no number. Leave columns out (--drop, --id).", j);\n}\n')
        result = run(self.tool, "--check")
        self.assertEqual((result.returncode, result.stdout.splitlines()), (1, [
            'not "problem: why. What to do.": src/low/x.cpp:4: {}: no records (the file is empty) check the path',
            'not "problem: why. What to do.": src/low/x.cpp:5: n=0 (it is a count)']))

    def test_places_to_touch_are_files_that_exist_and_that_a_diff_edits(self):
        self.write("tests/low/a_test.cpp", "\n")
        self.write("docs/how-to/add-a-part.md", "Write `src/low/new.cpp`:\n```cpp\nint x;\n```\n## List it: `src/low/a.cpp`\n"
                   "```diff\n+int y;\n```\n```diff\n--- a/tests/low/a_test.cpp\n+++ b/tests/low/a_test.cpp\n"
                   "--- /dev/null\n+++ b/src/low/new.cpp\n```\n")
        self.write("docs/how-to/add-nothing.md", "```diff\n--- /dev/null\n+++ b/src/low/a.cpp\n```\n")
        self.assertEqual(self.figures()["places_to_touch"],
                         {"add-a-part": ["src/low/a.cpp", "tests/low/a_test.cpp"], "add-nothing": []})

    def test_virtual_functions_are_counted_with_inherited_ones(self):
        self.write("src/low/base.hpp", "class Base {\n public:\n  virtual ~Base() = default;\n  virtual void a() = 0;\n"
                   "  [[nodiscard]] virtual int b() const { return 1; }\n};\n")
        self.write("src/high/derived.hpp", "class Derived final : public Base {\n  virtual void c();\n  void a() override;\n};\n")
        self.assertEqual(self.figures()["virtual_functions"], {"Base": 2, "Derived": 3})

    def test_a_class_of_more_than_12_virtual_functions_is_named(self):
        self.write("src/low/base.hpp", "class Base {\n public:\n" + "".join(f"  virtual void f{i}();\n" for i in range(12)) + "};\n")
        self.assertEqual(run(self.tool, "--check").returncode, 0)
        self.write("src/high/derived.hpp", "class Derived final : public Base {\n  virtual void c();\n};\n")
        result = run(self.tool, "--check")
        self.assertEqual((result.returncode, result.stdout), (1, "Derived has 13 virtual functions, more than 12\n"))

    def test_headers_of_a_method_are_counted_through_others(self):
        self.write("src/low/deep.hpp", "\n")
        self.write("src/low/a.hpp", '#include "deep.hpp"\n')
        self.write("src/methods/x/x.cpp", '#include <vector>\n#include "low/a.hpp"\n')
        self.assertEqual(self.figures()["headers_of_methods"], {"src/methods/x/x.cpp": 2})

    def test_files_lines_functions_and_sentences_are_counted(self):
        figures = self.figures()
        self.assertEqual(figures["files_per_folder"]["src"], {"high": 1, "low": 2})
        self.assertEqual(figures["lines_per_module"]["high"], {"src": 55, "tests": 0})
        self.assertEqual(figures["long_functions"], [[51, "src/high/b.cpp:5"]])
        self.assertEqual(figures["words_per_sentence"]["README.md"], [2, 4.5])


if __name__ == "__main__":
    unittest.main()
