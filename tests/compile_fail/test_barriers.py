#!/usr/bin/env python3
"""What must not compile does not, and for the right reason; what must not be included is not to be found.

barriers.cpp is compiled as it is, and with STARLING_MUST_FAIL. An error belongs to the case whose lines stand in it or in the notes on
where a template is instantiated.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
FLAGS = pathlib.Path(os.environ["STARLING_FLAGS"])  # the folder that has MODULE.flags of each module
# Reason: (module, a header that its files cannot include, a header that they can).
OUT_OF_SIGHT = {
    "models neither add noise nor open secrets": ("model", '"privacy/mechanism.hpp"', '"model/model.hpp"'),
    "privacy cannot send anything": ("privacy", '"net/world.hpp"', '"privacy/mechanism.hpp"'),
    "protocols communicate through the doors of net alone": ("protocol", "<mpi.h>", '"net/neighbours/neighbours.hpp"'),
    "who uses run files does not see HDF5": ("report", "<hdf5.h>", '"report/summary.hpp"'),
}


def errors_of(module, text, *options):
    """What the compiler says of `text` in a file that sees what `module` sees."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(text)
        source.flush()
        command = [os.environ["STARLING_COMPILER"], "-std=c++20", "-fsyntax-only", f"@{FLAGS / module}.flags", *options]
        done = subprocess.run([*command, source.name], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def cases(text):
    """{case: (its first line, what the compiler has to complain of)}, in their order."""
    found = re.finditer(r"^// (\w+): .*\n// Expected: (.*)$", text, re.MULTILINE)
    return {match[1]: (text.count("\n", 0, match.start()) + 1, match[2]) for match in found}


def errors_by_case(text, first_lines):
    """{case: its errors, each with the notes after it}. Of an error in a header, GCC names the case in a line before it, Clang in one
    after it."""
    found = dict.fromkeys(first_lines, "")
    before, *parts = re.split(r"^(?=.*error: )", text, flags=re.MULTILINE)
    for part in parts:
        error, _, notes = part.partition("\n")
        places = (error, *re.findall(r"^.*required from here", before, re.MULTILINE)[-1:], notes)
        line = next((int(match[1]) for place in places if (match := re.search(r"/barriers\.cpp:(\d+)", place))), 0)
        name = next((name for name, first in reversed(first_lines.items()) if first <= line), None)
        if name:
            found[name] += part
        before = part
    return found


class Barriers(unittest.TestCase):
    def test_what_must_not_compile_does_not(self):
        path = HERE / "barriers.cpp"
        text = path.read_text()
        self.assertEqual(text.count("// Expected: "), len(cases(text)))
        include = f'#include "{path}"\n'
        self.assertIsNone(errors_of("report", include), "the file does not compile as it is, so that a failure proves nothing")
        found = errors_by_case(errors_of("report", include, "-DSTARLING_MUST_FAIL") or "", {name: line for name, (line, _) in cases(text).items()})
        for name, (_, expected) in cases(text).items():
            with self.subTest(name):
                self.assertTrue(found[name], "compiles with STARLING_MUST_FAIL: a barrier is down")
                self.assertRegex(found[name], expected)

    def test_what_is_out_of_sight_is_not_found(self):
        for why, (module, hidden, seen) in OUT_OF_SIGHT.items():
            with self.subTest(why):
                self.assertIsNone(errors_of(module, f"#if __has_include({hidden}) || !__has_include({seen})\n#error\n#endif\n"))


if __name__ == "__main__":
    unittest.main()
