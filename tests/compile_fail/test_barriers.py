#!/usr/bin/env python3
"""What must not compile does not, and for the right reason; what must not be included is not to be found.

Each file of this folder compiles as it is, and has a line that must not compile where STARLING_MUST_FAIL is defined. The line
"// Expected: regex" says what the compiler has to complain of. All files are compiled as one translation unit, once as they are
and once with STARLING_MUST_FAIL: their headers are read twice, and not twice for each file. An error belongs to the file whose
name stands in it or in the notes on where a template is instantiated.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
FLAGS = pathlib.Path(os.environ["STARLING_FLAGS"])  # the folder that has MODULE.flags of each module
CASES = sorted(HERE.glob("*.cpp"))
# Reason: (module, a header that its files cannot include, a header that they can).
OUT_OF_SIGHT = {
    "models neither add noise nor open secrets": ("model", '"starling/privacy/mechanism.hpp"', '"starling/model/model.hpp"'),
    "privacy cannot send anything": ("privacy", '"starling/net/world.hpp"', '"starling/privacy/mechanism.hpp"'),
    "protocols communicate through the doors of net alone": ("protocol", "<mpi.h>", '"starling/net/neighbours/neighbours.hpp"'),
    "who uses run files does not see HDF5": ("report", "<hdf5.h>", '"starling/report/run_file.hpp"'),
}


def errors_of(module, text, *options):
    """What the compiler says of `text` in a file that sees what `module` sees."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(text)
        source.flush()
        command = [os.environ["STARLING_COMPILER"], "-std=c++20", "-fsyntax-only", f"@{FLAGS / module}.flags", *options]
        done = subprocess.run([*command, source.name], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def errors_by_case(text):
    """{case: its errors, each with the notes after it}. Of an error in a header, GCC names the case in a line before it, Clang in one
    after it."""
    found = {case.stem: "" for case in CASES}
    before, *parts = re.split(r"^(?=.*error: )", text, flags=re.MULTILINE)
    for part in parts:
        error, _, notes = part.partition("\n")
        places = (error, *re.findall(r"^.*required from here", before, re.MULTILINE)[-1:], notes)
        name = next((match[1] for place in places if (match := re.search(r"/(\w+)\.cpp:\d+", place))), None)
        if name in found:
            found[name] += part
        before = part
    return found


class Barriers(unittest.TestCase):
    def test_what_must_not_compile_does_not(self):
        includes = sorted({line for case in CASES for line in case.read_text().splitlines() if line.startswith("#include")})
        text = "\n".join([*includes, *(f'namespace {case.stem} {{\n#include "{case}"\n}}' for case in CASES), ""])
        self.assertIsNone(errors_of("report", text), "as they are, the files do not compile, so that a failure proves nothing")
        found = errors_by_case(errors_of("report", text, "-DSTARLING_MUST_FAIL") or "")
        for case in CASES:
            with self.subTest(case.stem):
                (expected,) = re.findall(r"^// Expected: (.*)$", case.read_text(), re.MULTILINE)
                self.assertTrue(found[case.stem], "compiles with STARLING_MUST_FAIL: a barrier is down")
                self.assertRegex(found[case.stem], expected)

    def test_what_is_out_of_sight_is_not_found(self):
        for why, (module, hidden, seen) in OUT_OF_SIGHT.items():
            with self.subTest(why):
                self.assertIsNone(errors_of(module, f"#if __has_include({hidden}) || !__has_include({seen})\n#error\n#endif\n"))


if __name__ == "__main__":
    unittest.main()
