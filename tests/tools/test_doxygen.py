"""Doxygen reads the comments of all headers without a warning (docs/Doxyfile)."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def warnings_of(headers):
    """What Doxygen says of the headers below folders; of the pages themselves only XML without listings is made."""
    with tempfile.TemporaryDirectory() as folder:
        settings = (SOURCE / "docs" / "Doxyfile").read_text() + "\n".join(
            [f"INPUT = {headers}", f"OUTPUT_DIRECTORY = {folder}", "GENERATE_HTML = NO", "GENERATE_XML = YES", "XML_PROGRAMLISTING = NO"])
        done = subprocess.run(["doxygen", "-"], input=settings, cwd=SOURCE, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed (jobs/setup.sh --tests does on Debian and Ubuntu)")
class Doxygen(unittest.TestCase):
    def test_headers_have_no_warning(self):
        code, text = warnings_of(f"{SOURCE / 'include' / 'starling'} {SOURCE / 'src'}")
        self.assertEqual((code, text), (0, ""))

    def test_a_comment_that_names_no_parameter_of_its_function_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.hpp").write_text("/// \\file\n/// A sum.\n\n/// Adds.\n/// \\param third is none\nint add(int a, int b);\n")
            code, text = warnings_of(folder)
        self.assertNotEqual(code, 0)
        self.assertIn("third", text)


if __name__ == "__main__":
    unittest.main()
